//! Functions that all stores of states share: packing of discrete states, growth of buffers, hashes
//! of words.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// The position of each number of a discrete state in its packed words.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    fields: Vec<Field>,
    /// The number of words per state.
    pub words: usize,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    mask: u64,
    lo: i32,
}

impl Packing {
    /// Creates a packing for numbers of these ranges.
    pub(crate) fn new(ranges: impl Iterator<Item = (i32, i32)>) -> Packing {
        let (mut word, mut used) = (0u32, 0u32);
        let mut fields = Vec::new();
        for (lo, hi) in ranges {
            let span = (i64::from(hi) - i64::from(lo)).max(0) as u64;
            let bits = 64 - span.leading_zeros();
            if used + bits > 64 {
                word += 1;
                used = 0;
            }
            let mask = if bits == 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            };
            fields.push(Field {
                word,
                shift: used % 64,
                mask,
                lo,
            });
            used += bits;
        }
        Packing {
            fields,
            words: word as usize + 1,
        }
    }

    /// Packs a state.
    #[inline]
    pub(crate) fn pack(&self, state: &[i32], out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        for (field, &value) in self.fields.iter().zip(state) {
            let bits = (i64::from(value) - i64::from(field.lo)) as u64 & field.mask;
            out[field.word as usize] |= bits << field.shift;
        }
    }

    /// Packs a state over the words of another one with the same length: only words that change are
    /// written.
    pub(crate) fn repack(&self, last: &[i32], state: &[i32], out: &mut [u64]) {
        // Compared in runs, because most of a large state is unchanged.
        const RUN: usize = 32;
        let runs = last.chunks(RUN).zip(state.chunks(RUN));
        for ((last, state), fields) in runs.zip(self.fields.chunks(RUN)) {
            if last == state {
                continue;
            }
            for (field, value) in fields.iter().zip(state) {
                let word = &mut out[field.word as usize];
                let bits = (i64::from(*value) - i64::from(field.lo)) as u64 & field.mask;
                *word = *word & !(field.mask << field.shift) | bits << field.shift;
            }
        }
    }

    /// Unpacks a state.
    #[inline]
    pub(crate) fn unpack(&self, words: &[u64], out: &mut Vec<i32>) {
        out.clear();
        out.extend(self.fields.iter().map(|field| {
            let bits = (words[field.word as usize] >> field.shift) & field.mask;
            (bits as i64 + i64::from(field.lo)) as i32
        }));
    }
}

/// Reserves space for `more` items, growing by a quarter rather than doubling: reserved space that
/// is not used is memory too, and large blocks grow in place.
#[inline]
pub(crate) fn make_room<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        items.reserve_exact(more.max(items.len() / 4).max(16));
    }
}

/// A hash of packed words.
#[inline]
pub(crate) fn hash_words(words: &[u64]) -> u64 {
    match words.split_first() {
        Some((first, rest)) => hash_words_from(*first, rest),
        None => 0,
    }
}

/// A hash of packed words, with the first one given separately.
#[inline]
pub(crate) fn hash_words_from(first: u64, rest: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(first);
    for w in rest {
        hasher.write_u64(*w);
    }
    let h = hasher.finish();
    h ^ (h >> 32)
}
