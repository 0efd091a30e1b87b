//! The zones stored for one discrete state.

use super::digest::{BLOCK, Block, Digest, Folded, apart, fold, next_in_blocks};
use super::storage::make_room;
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
#[derive(Clone, Debug)]
pub struct Entry(Zones);

/// Most entries have one zone, and some have thousands.
#[derive(Clone, Debug)]
enum Zones {
    Few(SmallVec<[Slot; 1]>),
    Many(Box<Many>),
}

#[derive(Clone, Debug)]
struct Many {
    nodes: Vec<u32>,
    blocks: Vec<Block>,
}

/// The digest of a zone in both forms.
#[derive(Clone, Copy, Debug, Default)]
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

impl Default for Entry {
    fn default() -> Entry {
        Entry(Zones::Few(SmallVec::new()))
    }
}

impl Entry {
    /// Bytes beside the entry itself.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Zones::Few(slots) if slots.spilled() => slots.capacity() * std::mem::size_of::<Slot>(),
            Zones::Few(_) => 0,
            Zones::Many(many) => {
                std::mem::size_of::<Many>()
                    + many.nodes.capacity() * 4
                    + many.blocks.capacity() * std::mem::size_of::<Block>()
            }
        }
    }

    /// Number of zones.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        match &self.0 {
            Zones::Few(slots) => slots.len(),
            Zones::Many(many) => many.nodes.len(),
        }
    }

    /// The node of a zone.
    #[inline]
    pub fn node(&self, at: usize) -> Option<u32> {
        match &self.0 {
            Zones::Few(slots) => slots.get(at).map(|slot| slot.node),
            Zones::Many(many) => many.nodes.get(at).copied(),
        }
    }

    /// The first zone from `at` on that the one sought may hold or be held by.
    #[inline]
    pub fn candidate(&self, at: usize, sought: &Sought) -> Option<usize> {
        match &self.0 {
            Zones::Few(slots) => {
                let mut rest = slots.get(at..)?.iter();
                let skipped = rest.position(|slot| !apart(&sought.folded, &slot.folded))?;
                Some(at + skipped)
            }
            Zones::Many(many) => {
                next_in_blocks(&many.blocks, at, &sought.digest).filter(|&k| k < many.nodes.len())
            }
        }
    }

    /// Adds a zone. `digest_of` gives the digests of zones added before, by their nodes.
    pub fn push(&mut self, sought: &Sought, node: u32, digest_of: impl FnMut(u32) -> Digest) {
        let folded = sought.folded;
        match &mut self.0 {
            Zones::Many(many) => {
                put(&mut many.blocks, many.nodes.len(), &sought.digest);
                make_room(&mut many.nodes, 1);
                many.nodes.push(node);
            }
            Zones::Few(slots) if slots.len() + 1 == MANY => {
                let mut nodes: Vec<u32> = slots.iter().map(|slot| slot.node).collect();
                let mut blocks = Vec::with_capacity(MANY / BLOCK + 1);
                let before = nodes.iter().copied().map(digest_of);
                for (k, digest) in before.chain([sought.digest]).enumerate() {
                    put(&mut blocks, k, &digest);
                }
                nodes.push(node);
                self.0 = Zones::Many(Box::new(Many { nodes, blocks }));
            }
            Zones::Few(slots) => slots.push(Slot { folded, node }),
        }
    }

    /// Removes a zone; the last one takes its place.
    pub fn swap_remove(&mut self, at: usize) {
        match &mut self.0 {
            Zones::Few(slots) => {
                slots.swap_remove(at);
            }
            Zones::Many(many) => {
                let last = many.nodes.len() - 1;
                let digest = many.blocks[last / BLOCK].get(last % BLOCK);
                put(&mut many.blocks, at, &digest);
                many.blocks.truncate(last.div_ceil(BLOCK));
                many.nodes.swap_remove(at);
            }
        }
    }
}

fn put(blocks: &mut Vec<Block>, at: usize, digest: &Digest) {
    match blocks.get_mut(at / BLOCK) {
        Some(block) => block.set(at % BLOCK, digest),
        None => {
            make_room(blocks, 1);
            blocks.push(Block::new(digest));
        }
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
