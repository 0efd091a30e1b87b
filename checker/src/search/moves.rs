//! The permutations that were applied to the states of a table before they were stored.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The permutation of each node; equal ones are kept once.
pub(super) struct Moves<M> {
    of_node: Vec<u32>,
    index: FxHashMap<M, u32>,
    all: Vec<M>,
}

impl<M> Default for Moves<M> {
    fn default() -> Moves<M> {
        Moves {
            of_node: Vec::new(),
            index: FxHashMap::default(),
            all: Vec::new(),
        }
    }
}

impl<M: Clone + Eq + Hash> Moves<M> {
    /// Records the permutation of a node. Nodes arrive in the order of their ids. A known node
    /// keeps its permutation: a growing hull keeps that of the state it began with.
    pub(super) fn note(&mut self, node: u32, moved_by: Option<M>) {
        let Some(moved_by) = moved_by.filter(|_| node as usize == self.of_node.len()) else {
            return;
        };
        let all = &mut self.all;
        let id = *self.index.entry(moved_by).or_insert_with_key(|m| {
            all.push(m.clone());
            all.len() as u32 - 1
        });
        self.of_node.push(id);
    }

    /// The permutation that was applied to a node, if any.
    pub(super) fn of(&self, node: u32) -> Option<M> {
        let id = self.of_node.get(node as usize)?;
        self.all.get(*id as usize).cloned()
    }
}
