//! The zones stored for one discrete state.

use crate::store::digest::{
    BLOCK, Block, Digest, Folded, GROUP, Range, apart, fold, last_in_blocks,
};
use crate::store::packing::make_room;
use smallvec::SmallVec;

/// An entry with at least this many zones keeps its digests in blocks.
const MANY: usize = 2 * BLOCK;

/// A zone of an entry, by its node.
#[derive(Clone, Copy, Debug)]
struct Slot {
    folded: Folded,
    node: u32,
}

/// The zones of one discrete state.
#[derive(Clone, Debug)]
pub(crate) struct Entry(Zones);

/// Most entries have one zone, but some have thousands.
#[derive(Clone, Debug)]
enum Zones {
    Few(SmallVec<[Slot; 1]>),
    Many(Box<Many>),
}

#[derive(Clone, Debug)]
struct Many {
    nodes: Vec<u32>,
    blocks: Vec<Block>,
    /// The ranges of the digests of groups of blocks. Removed zones may still be included.
    groups: Vec<Range>,
}

/// The digest of a zone that is searched for, in both forms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sought {
    digest: Digest,
    folded: Folded,
}

impl Sought {
    /// Creates both forms of a digest.
    pub(crate) fn new(digest: Digest) -> Sought {
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
    /// The number of bytes outside the entry itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Zones::Few(slots) if slots.spilled() => slots.capacity() * std::mem::size_of::<Slot>(),
            Zones::Few(_) => 0,
            Zones::Many(many) => {
                std::mem::size_of::<Many>()
                    + many.nodes.capacity() * 4
                    + many.blocks.capacity() * std::mem::size_of::<Block>()
                    + many.groups.capacity() * std::mem::size_of::<Range>()
            }
        }
    }

    /// Number of zones.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Zones::Few(slots) => slots.len(),
            Zones::Many(many) => many.nodes.len(),
        }
    }

    /// The node of the zone at this index.
    #[inline]
    pub(crate) fn node(&self, at: usize) -> Option<u32> {
        match &self.0 {
            Zones::Few(slots) => slots.get(at).map(|slot| slot.node),
            Zones::Many(many) => many.nodes.get(at).copied(),
        }
    }

    /// The last zone before `end` that may contain the zone searched for or lie in it. The search
    /// starts at the end, because zones that were met at about the same time are similar, so a
    /// covering zone is found sooner.
    #[inline]
    pub(crate) fn candidate(&self, end: usize, sought: &Sought) -> Option<usize> {
        match &self.0 {
            Zones::Few(slots) => {
                let mut before = slots.get(..end)?.iter();
                before.rposition(|slot| !apart(&sought.folded, &slot.folded))
            }
            Zones::Many(many) => last_in_blocks(&many.blocks, &many.groups, end, &sought.digest),
        }
    }

    /// Adds a zone. `digest_of` returns the digests of earlier zones by their nodes.
    pub(crate) fn push(
        &mut self,
        sought: &Sought,
        node: u32,
        digest_of: impl FnMut(u32) -> Digest,
    ) {
        let folded = sought.folded;
        match &mut self.0 {
            Zones::Many(many) => {
                many.put(many.nodes.len(), &sought.digest);
                make_room(&mut many.nodes, 1);
                many.nodes.push(node);
            }
            Zones::Few(slots) if slots.len() + 1 == MANY => {
                let nodes: Vec<u32> = slots.iter().map(|slot| slot.node).collect();
                let digests: Vec<Digest> = nodes.iter().copied().map(digest_of).collect();
                let mut many = Box::new(Many {
                    nodes,
                    blocks: Vec::with_capacity(MANY / BLOCK + 1),
                    groups: Vec::with_capacity(1),
                });
                for (k, digest) in digests.iter().chain([&sought.digest]).enumerate() {
                    many.put(k, digest);
                }
                many.nodes.push(node);
                self.0 = Zones::Many(many);
            }
            Zones::Few(slots) => slots.push(Slot { folded, node }),
        }
    }

    /// Removes a zone; the last one takes its place.
    pub(crate) fn swap_remove(&mut self, at: usize) {
        match &mut self.0 {
            Zones::Few(slots) => {
                slots.swap_remove(at);
            }
            Zones::Many(many) => {
                let last = many.nodes.len() - 1;
                let digest = many.blocks[last / BLOCK].get(last % BLOCK);
                many.put(at, &digest);
                many.blocks.truncate(last.div_ceil(BLOCK));
                many.groups.truncate(last.div_ceil(BLOCK * GROUP));
                many.nodes.swap_remove(at);
            }
        }
    }
}

impl Many {
    /// Stores a digest at an index, which may be the first free one.
    fn put(&mut self, at: usize, digest: &Digest) {
        match self.blocks.get_mut(at / BLOCK) {
            Some(block) => block.set(at % BLOCK, digest),
            None => {
                make_room(&mut self.blocks, 1);
                self.blocks.push(Block::new(digest));
            }
        }
        match self.groups.get_mut(at / (BLOCK * GROUP)) {
            Some(range) => range.add(digest),
            None => {
                make_room(&mut self.groups, 1);
                self.groups.push(Range::new(digest));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonelens_interpreter::Rng;

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
            let mut at = plain.len();
            for (k, (node, other)) in plain.iter().enumerate().rev() {
                assert_eq!(entry.node(k), Some(*node));
                let pairs = || sought.iter().zip(other);
                if pairs().all(|(a, b)| a <= b) || pairs().all(|(a, b)| a >= b) {
                    // It may return others first, but must not skip this one.
                    while at > k {
                        at = entry.candidate(at, &Sought::new(sought)).unwrap_or(0);
                    }
                    assert_eq!(entry.candidate(k + 1, &Sought::new(sought)), Some(k));
                    assert_eq!(at, k);
                }
            }
        }
        assert!(all.len() > 3_000);
    }
}
