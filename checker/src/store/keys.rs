//! The discrete states of a search, numbered in the order in which they are met.
//!
//! A state is packed into words. A long sequence of words is cut into chunks, and each different
//! chunk is kept once. The numbers of its chunks represent the state; if there are many, they are
//! cut into chunks again (the tree compression of Blom, Lisser, van de Pol, Weber: *A database
//! approach to distributed state space generation*, 2007). A step changes few chunks, and the
//! unchanged ones are neither packed nor looked up again.

use crate::store::packing::{Packing, hash_words, make_room};
use hashbrown::HashTable;

/// The number of words in a chunk, and the most words of a key.
const CHUNK: usize = 8;
const NONE: u32 = u32::MAX;

/// Numbered discrete states.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    packing: Packing,
    levels: Vec<Level>,
    keys: Set,
    buffer: Vec<u64>,
}

/// Packs discrete states, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Packer {
    packing: Packing,
    /// Whether states are large enough to detect what a step left unchanged.
    large: bool,
    /// The state that `packed` represents, if states are large.
    last: Vec<i32>,
    packed: Vec<u64>,
    hash: u64,
}

impl Packer {
    /// Packs a state.
    #[inline]
    pub(crate) fn pack(&mut self, state: &[i32]) {
        if self.large && self.last.len() == state.len() {
            self.packing.repack(&self.last, state, &mut self.packed);
        } else {
            self.packing.pack(state, &mut self.packed);
        }
        if self.large {
            self.last.clear();
            self.last.extend_from_slice(state);
        }
        self.hash = hash_words(&self.packed);
    }

    /// A hash of the state.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

/// Sequences of words of one length, each kept once and numbered.
#[derive(Clone, Debug)]
struct Set {
    width: usize,
    words: Vec<u64>,
    table: HashTable<u32>,
    count: u32,
}

/// Chunks of one level, and the numbers of those last looked up.
#[derive(Clone, Debug)]
struct Level {
    set: Set,
    last: Vec<u64>,
    ids: Vec<u32>,
}

impl Set {
    fn new(width: usize) -> Set {
        Set {
            width,
            words: Vec::new(),
            table: HashTable::new(),
            count: 0,
        }
    }

    fn bytes(&self) -> usize {
        self.words.capacity() * 8 + self.table.allocation_size()
    }

    fn get(&self, id: u32) -> &[u64] {
        let start = id as usize * self.width;
        &self.words[start..start + self.width]
    }

    fn insert(&mut self, words: &[u64]) -> u32 {
        self.insert_hashed(words, hash_words(words))
    }

    #[inline]
    fn insert_hashed(&mut self, words: &[u64], hash: u64) -> u32 {
        let (stored, width) = (&self.words, self.width);
        let get = |id: u32| &stored[id as usize * width..(id as usize + 1) * width];
        if let Some(id) = self.table.find(hash, |id| get(*id) == words) {
            return *id;
        }
        self.table
            .insert_unique(hash, self.count, |id| hash_words(get(*id)));
        make_room(&mut self.words, words.len());
        self.words.extend_from_slice(words);
        self.count += 1;
        self.count - 1
    }
}

impl Level {
    fn new(words: usize) -> Level {
        Level {
            set: Set::new(CHUNK),
            last: vec![0; words.next_multiple_of(CHUNK)],
            ids: vec![NONE; words.div_ceil(CHUNK)],
        }
    }

    /// Replaces words by the numbers of their chunks, two per word.
    fn reduce(&mut self, words: &mut Vec<u64>) {
        words.resize(self.last.len(), 0);
        let chunks = words
            .chunks_exact(CHUNK)
            .zip(self.last.chunks_exact_mut(CHUNK));
        for ((chunk, last), id) in chunks.zip(&mut self.ids) {
            if *id == NONE || chunk != last {
                *id = self.set.insert(chunk);
                last.copy_from_slice(chunk);
            }
        }
        words.clear();
        words.extend(self.ids.chunks(2).map(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            u64::from(pair[0]) | u64::from(high) << 32
        }));
    }

    /// Restores the words from the numbers of their chunks.
    fn restore(&self, numbers: &[u64], out: &mut Vec<u64>) {
        out.clear();
        for k in 0..self.ids.len() {
            let id = (numbers[k / 2] >> (32 * (k % 2))) as u32;
            out.extend_from_slice(self.set.get(id));
        }
    }
}

impl Keys {
    /// Creates an empty set of states.
    pub(crate) fn new(packing: Packing) -> Keys {
        let mut levels = Vec::new();
        let mut words = packing.words;
        while words > CHUNK {
            levels.push(Level::new(words));
            words = words.div_ceil(CHUNK).div_ceil(2);
        }
        Keys {
            buffer: Vec::new(),
            packing,
            levels,
            keys: Set::new(words),
        }
    }

    /// A packer for the states of this set, or of another one with the same packing.
    pub(crate) fn packer(&self) -> Packer {
        Packer {
            packing: self.packing.clone(),
            large: !self.levels.is_empty(),
            last: Vec::new(),
            packed: Vec::new(),
            hash: 0,
        }
    }

    /// The number of states.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.keys.count as usize
    }

    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let levels = self.levels.iter().map(|level| level.set.bytes());
        self.keys.bytes() + levels.sum::<usize>()
    }

    /// The number of a packed state; a new state gets the next free number.
    #[inline]
    pub(crate) fn insert(&mut self, state: &Packer) -> u32 {
        if self.levels.is_empty() {
            return self.keys.insert_hashed(&state.packed, state.hash);
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&state.packed);
        for level in &mut self.levels {
            level.reduce(&mut self.buffer);
        }
        self.keys.insert(&self.buffer)
    }

    /// Restores a state.
    pub(crate) fn get(&self, number: u32, state: &mut Vec<i32>) {
        let key = self.keys.get(number);
        if self.levels.is_empty() {
            return self.packing.unpack(key, state);
        }
        let (mut words, mut below) = (key.to_vec(), Vec::new());
        for level in self.levels.iter().rev() {
            level.restore(&words, &mut below);
            std::mem::swap(&mut words, &mut below);
        }
        self.packing.unpack(&words, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use zonelens_interpreter::Rng;

    #[test]
    fn states_keep_their_numbers_and_come_back() {
        let mut rng = Rng::new(21);
        for cells in [1, 5, 70, 900, 6_000] {
            let ranges: Vec<(i32, i32)> = (0..cells)
                .map(|_| {
                    let lo = rng.range(-300, 300);
                    (lo, lo + [0, 1, 6, 255, 70_000][rng.below(5)])
                })
                .collect();
            let mut keys = Keys::new(Packing::new(ranges.iter().copied()));
            let mut packer = keys.packer();
            let mut numbers: HashMap<Vec<i32>, u32> = HashMap::new();
            let mut state: Vec<i32> = ranges.iter().map(|r| r.0).collect();
            for _ in 0..400 {
                for _ in 0..rng.below(4) {
                    let at = rng.below(cells);
                    let (lo, hi) = ranges[at];
                    state[at] = rng.range(lo, hi.min(lo + 2));
                }
                let next = numbers.len() as u32;
                let number = *numbers.entry(state.clone()).or_insert(next);
                packer.pack(&state);
                assert_eq!(keys.insert(&packer), number);
            }
            assert_eq!(keys.len(), numbers.len());
            let mut back = Vec::new();
            for (state, number) in &numbers {
                keys.get(*number, &mut back);
                assert_eq!(&back, state);
            }
        }
    }

    #[test]
    fn large_states_that_differ_little_take_little() {
        let cells = 4_000;
        let mut keys = Keys::new(Packing::new((0..cells).map(|_| (0, 255))));
        let (mut state, mut packer) = (vec![0; cells], keys.packer());
        for n in 0..2_000 {
            state[n] = 7;
            packer.pack(&state);
            keys.insert(&packer);
        }
        assert!(
            keys.bytes() / keys.len() < 400,
            "{}",
            keys.bytes() / keys.len()
        );
    }
}
