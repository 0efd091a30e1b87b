//! The permutations that were applied to the states of a table before they were stored.

use crate::graph::Compact;
use crate::store::packing::make_room;
use crate::store::sequences::Sequences;
use std::marker::PhantomData;

/// The permutation of each node; equal ones are kept once, in few words.
pub(super) struct Moves<M> {
    of_node: Vec<u32>,
    all: Sequences<u16>,
    packed: Vec<u16>,
    kind: PhantomData<M>,
}

impl<M> Default for Moves<M> {
    fn default() -> Moves<M> {
        Moves {
            of_node: Vec::new(),
            all: Sequences::default(),
            packed: Vec::new(),
            kind: PhantomData,
        }
    }
}

impl<M: Compact> Moves<M> {
    /// Records the permutation of a node. Nodes arrive in the order of their ids. A known node
    /// keeps its permutation: a growing hull keeps that of the state it began with.
    pub(super) fn note(&mut self, node: u32, moved_by: Option<M>) {
        let Some(moved_by) = moved_by.filter(|_| node as usize == self.of_node.len()) else {
            return;
        };
        self.packed.clear();
        moved_by.pack(&mut self.packed);
        make_room(&mut self.of_node, 1);
        self.of_node.push(self.all.insert(&self.packed));
    }

    /// The permutation that was applied to a node, if any.
    pub(super) fn of(&self, node: u32) -> Option<M> {
        let id = self.of_node.get(node as usize)?;
        Some(M::unpack(self.all.get(*id)))
    }
}

impl<M> Moves<M> {
    /// The number of bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.of_node.capacity() * 4 + self.all.bytes()
    }
}
