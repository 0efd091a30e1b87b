//! Short sequences of numbers, each kept once and numbered.

use crate::store::packing::make_room;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Numbered sequences.
#[derive(Clone, Debug)]
pub(crate) struct Sequences<T> {
    /// All sequences, one after the other, and where each ends.
    items: Vec<T>,
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl<T> Default for Sequences<T> {
    fn default() -> Sequences<T> {
        Sequences {
            items: Vec::new(),
            ends: Vec::new(),
            table: HashTable::new(),
        }
    }
}

fn hash<T: Hash>(items: &[T]) -> u64 {
    let mut hasher = FxHasher::default();
    items.hash(&mut hasher);
    let h = hasher.finish();
    h ^ (h >> 32)
}

fn sequence<'a, T>(items: &'a [T], ends: &[u32], id: u32) -> &'a [T] {
    let start = match id {
        0 => 0,
        id => ends[id as usize - 1],
    };
    &items[start as usize..ends[id as usize] as usize]
}

impl<T: Copy + Eq + Hash> Sequences<T> {
    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.items.capacity() * std::mem::size_of::<T>()
            + self.ends.capacity() * 4
            + self.table.allocation_size()
    }

    /// The sequence with a number.
    pub(crate) fn get(&self, id: u32) -> &[T] {
        sequence(&self.items, &self.ends, id)
    }

    /// The number of a sequence; a new one gets the next free number.
    pub(crate) fn insert(&mut self, new: &[T]) -> u32 {
        let (items, ends) = (&self.items, &self.ends);
        let hash_of = hash(new);
        let known = |id: &u32| sequence(items, ends, *id) == new;
        if let Some(id) = self.table.find(hash_of, known) {
            return *id;
        }
        let id = ends.len() as u32;
        self.table
            .insert_unique(hash_of, id, |id| hash(sequence(items, ends, *id)));
        make_room(&mut self.items, new.len());
        self.items.extend_from_slice(new);
        // This many numbers are several gigabytes.
        assert!(self.items.len() < u32::MAX as usize, "too many sequences");
        make_room(&mut self.ends, 1);
        self.ends.push(self.items.len() as u32);
        id
    }
}
