//! The zones stored for one discrete state.

use super::digest::{BLOCK, Block, Digest, Folded, apart, fold, next_in_blocks};
use smallvec::SmallVec;

/// From this number of zones on, an entry keeps its digests in blocks.
const MANY: usize = 2 * BLOCK;

/// A zone of an entry, by its node.
#[derive(Clone, Copy, Debug)]
struct Slot {
    folded: Folded,
    node: u32,
}

/// The zones of one discrete state.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    slots: SmallVec<[Slot; 1]>,
    /// Boxed once more, as most entries have none.
    #[allow(clippy::box_collection)]
    blocks: Option<Box<Vec<Block>>>,
}

/// The digest of a zone in both forms.
#[derive(Clone, Copy, Debug)]
pub struct Sought {
    digest: Digest,
    folded: Folded,
}

impl Sought {
    /// For a zone with this digest.
    pub fn new(digest: Digest) -> Sought {
        Sought {
            digest,
            folded: fold(&digest),
        }
    }
}

impl Entry {
    /// Bytes that a zone of an entry takes, the entry itself left out.
    pub const BYTES_PER_ZONE: usize = std::mem::size_of::<Slot>();

    /// Bytes of the blocks.
    pub fn block_bytes(&self) -> usize {
        let blocks = self.blocks.as_ref();
        blocks.map_or(0, |b| b.capacity() * std::mem::size_of::<Block>())
    }

    /// Number of zones.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The node of a zone.
    pub fn node(&self, at: usize) -> Option<u32> {
        self.slots.get(at).map(|slot| slot.node)
    }

    /// The first zone from `at` on that the one sought may hold or be held by.
    #[inline]
    pub fn candidate(&self, at: usize, sought: &Sought) -> Option<usize> {
        if let Some(blocks) = &self.blocks {
            return next_in_blocks(blocks, at, &sought.digest).filter(|&k| k < self.slots.len());
        }
        let mut rest = self.slots.get(at..)?.iter();
        let skipped = rest.position(|slot| !apart(&sought.folded, &slot.folded))?;
        Some(at + skipped)
    }

    /// Adds a zone. `digest_of` gives the digests of zones added before, by their nodes.
    pub fn push(&mut self, sought: &Sought, node: u32, digest_of: impl FnMut(u32) -> Digest) {
        let folded = sought.folded;
        if let Some(blocks) = &mut self.blocks {
            put(blocks, self.slots.len(), &sought.digest);
        } else if self.slots.len() + 1 == MANY {
            let mut blocks = Vec::with_capacity(MANY / BLOCK + 1);
            let before = self.slots.iter().map(|slot| slot.node).map(digest_of);
            for (k, digest) in before.chain([sought.digest]).enumerate() {
                put(&mut blocks, k, &digest);
            }
            self.blocks = Some(Box::new(blocks));
        }
        self.slots.push(Slot { folded, node });
    }

    /// Removes a zone; the last one takes its place.
    pub fn swap_remove(&mut self, at: usize) {
        let last = self.slots.len() - 1;
        if let Some(blocks) = &mut self.blocks {
            let digest = blocks[last / BLOCK].get(last % BLOCK);
            put(blocks, at, &digest);
            blocks.truncate(last.div_ceil(BLOCK));
        }
        self.slots.swap_remove(at);
    }
}

fn put(blocks: &mut Vec<Block>, at: usize, digest: &Digest) {
    match blocks.get_mut(at / BLOCK) {
        Some(block) => block.set(at % BLOCK, digest),
        None => blocks.push(Block::new(digest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn digest(rng: &mut Rng) -> Digest {
        std::array::from_fn(|_| rng.range(0, 6) as i16)
    }

    #[test]
    fn candidates_are_those_that_a_plain_list_gives() {
        let mut rng = Rng::new(9);
        let mut entry = Entry::default();
        let mut plain: Vec<(u32, Digest)> = Vec::new();
        let mut all: Vec<Digest> = Vec::new();
        for _ in 0..6_000 {
            if rng.below(100) < 45 && !plain.is_empty() {
                let at = rng.below(plain.len());
                plain.swap_remove(at);
                entry.swap_remove(at);
            } else {
                let new = digest(&mut rng);
                plain.push((all.len() as u32, new));
                entry.push(&Sought::new(new), all.len() as u32, |n| all[n as usize]);
                all.push(new);
            }
            assert_eq!(entry.len(), plain.len());
            let sought = digest(&mut rng);
            let mut at = 0;
            for (k, (node, other)) in plain.iter().enumerate() {
                assert_eq!(entry.node(k), Some(*node));
                let pairs = || sought.iter().zip(other);
                if pairs().all(|(a, b)| a <= b) || pairs().all(|(a, b)| a >= b) {
                    // Whatever else it finds, it must not pass over this one.
                    while at < k {
                        at = entry
                            .candidate(at, &Sought::new(sought))
                            .unwrap_or(usize::MAX);
                        at = at.saturating_add(usize::from(at < k));
                    }
                    assert_eq!(entry.candidate(k, &Sought::new(sought)), Some(k));
                    assert_eq!(at, k);
                }
            }
        }
        assert!(all.len() > 3_000);
    }
}
