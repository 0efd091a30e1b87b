//! How the states of a table were moved before they were stored.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The move of each node; equal moves are kept once.
pub struct Moves<M> {
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
    /// Notes how a node was moved. Nodes come in the order of their numbers; one that is known keeps its move: a hull that
    /// grows keeps that of the state that it began with.
    pub fn note(&mut self, node: u32, moved_by: Option<M>) {
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

    /// How a node was moved, if it was.
    pub fn of(&self, node: u32) -> Option<M> {
        let id = self.of_node.get(node as usize)?;
        self.all.get(*id as usize).cloned()
    }
}
