//! Digests of zones, which tell most zones of an entry apart without comparing them.
//!
//! A digest contains sums of groups of bounds in lanes of 16 bits. If a zone is inside another,
//! none of its bounds, and so none of its sums, exceeds those of the other. If each of two digests
//! has a smaller lane, neither zone contains the other. Lanes are compared four at a time inside
//! one word: their top bit is free and catches the borrow.

use crate::zone::{Bound, Zone};

/// The number of lanes of a digest.
pub(crate) const LANES: usize = 16;
const TOP: u64 = 0x8000_8000_8000_8000;

/// Sums of groups of bounds, none of them negative.
pub(crate) type Digest = [i16; LANES];

/// A digest folded to half its lanes and packed into words, for entries with few zones. It uses
/// half words, so that a slot of an entry has no gaps.
pub(crate) type Folded = [u32; LANES / 4];

/// Computes the digests of zones of one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digester {
    /// Bounds are cut off at this value on either side: larger ones are rarely finite.
    reach: Bound,
    /// The greatest number of bounds in a lane.
    count: i64,
    shift: u32,
}

impl Digester {
    /// Creates a digester for zones of this dimension whose constants rarely exceed `greatest`.
    pub(crate) fn new(dim: usize, greatest: i32) -> Digester {
        let reach = 2 * greatest.clamp(1, 1 << 24) + 2;
        let count = (dim * dim).div_ceil(LANES) as i64;
        let span = (2 * count * i64::from(reach)) as u64;
        Digester {
            reach,
            count,
            shift: (64 - span.leading_zeros()).saturating_sub(15),
        }
    }

    /// The digest of a zone.
    #[inline]
    pub(crate) fn digest(&self, zone: &Zone) -> Digest {
        self.digest_of(zone.raw())
    }

    /// The digest of a matrix that is compared entry by entry.
    #[inline]
    pub(crate) fn digest_of(&self, bounds: &[Bound]) -> Digest {
        let least = self.count * i64::from(self.reach);
        if self.shift == 0 {
            // Twice the largest sum fits 15 bits, so bounds and sums fit 16: twice as many fit in a
            // vector.
            let (mut sums, reach) = ([0i16; LANES], self.reach as i16);
            add_up(&mut sums, bounds, |b| {
                let short = b.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
                short.clamp(-reach, reach)
            });
            return sums.map(|sum| sum + least as i16);
        }
        let mut sums = [0i64; LANES];
        add_up(&mut sums, bounds, |b| {
            i64::from(b.clamp(-self.reach, self.reach))
        });
        sums.map(|sum| (((sum + least) as u64) >> self.shift) as i16)
    }
}

#[inline(always)]
fn add_up<B: Copy, S: Copy + std::ops::AddAssign>(
    sums: &mut [S; LANES],
    bounds: &[B],
    value: impl Fn(B) -> S,
) {
    let chunks = bounds.chunks_exact(LANES);
    for (sum, b) in sums.iter_mut().zip(chunks.remainder()) {
        *sum += value(*b);
    }
    for chunk in chunks {
        for (sum, b) in sums.iter_mut().zip(chunk) {
            *sum += value(*b);
        }
    }
}

/// The lanes of `a` that are below those of `b`, as their top bits.
#[inline(always)]
fn below(a: u64, b: u64) -> u64 {
    !((a | TOP) - b) & TOP
}

/// Folds a digest: lanes at distance eight are replaced by their mean, which preserves the order.
#[inline]
pub(crate) fn fold(digest: &Digest) -> Folded {
    let mut folded = Folded::default();
    for k in 0..LANES / 2 {
        let mean = (digest[k] as u32 + digest[k + LANES / 2] as u32) / 2;
        folded[k / 2] |= mean << (16 * (k % 2));
    }
    folded
}

/// Whether the folded digests show that neither zone contains the other.
#[inline(always)]
pub(crate) fn apart(a: &Folded, b: &Folded) -> bool {
    let (mut less, mut more) = (0, 0);
    for (a, b) in a.chunks_exact(2).zip(b.chunks_exact(2)) {
        let word = |halves: &[u32]| u64::from(halves[0]) | u64::from(halves[1]) << 32;
        less |= below(word(a), word(b));
        more |= below(word(b), word(a));
    }
    (less != 0) & (more != 0)
}

/// The number of zones in a block.
pub(crate) const BLOCK: usize = 8;

/// The digests of eight zones next to each other: the same lane of four zones shares a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block([[u64; BLOCK / 4]; LANES]);

/// One value in all lanes of a word.
const fn spread(value: i16) -> u64 {
    value as u64 * 0x0001_0001_0001_0001
}

impl Block {
    /// Creates a block with one digest at all positions.
    pub(crate) fn new(digest: &Digest) -> Block {
        Block(digest.map(|lane| [spread(lane); BLOCK / 4]))
    }

    /// Stores a digest at a position.
    pub(crate) fn set(&mut self, place: usize, digest: &Digest) {
        let shift = 16 * (place % 4);
        for (lane, value) in self.0.iter_mut().zip(digest) {
            let word = &mut lane[place / 4];
            *word = *word & !(0xffff << shift) | (*value as u64) << shift;
        }
    }

    /// The digest at a position.
    pub(crate) fn get(&self, place: usize) -> Digest {
        self.0
            .map(|lane| (lane[place / 4] >> (16 * (place % 4))) as u16 as i16)
    }
}

/// The number of blocks in a group.
pub(crate) const GROUP: usize = 8;

/// The least and greatest digests of a group of blocks, four lanes to a word. Zones that were met
/// at about the same time are similar, so most groups are skipped as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    least: [u64; LANES / 4],
    most: [u64; LANES / 4],
}

/// A digest with four lanes to a word.
fn packed(digest: &Digest) -> [u64; LANES / 4] {
    std::array::from_fn(|w| (0..4).fold(0, |word, k| word | (digest[4 * w + k] as u64) << (16 * k)))
}

/// Whether no lane of `a` is below that of `b`.
#[inline(always)]
fn reaches(a: &[u64; LANES / 4], b: &[u64; LANES / 4]) -> bool {
    a.iter().zip(b).fold(0, |any, (a, b)| any | below(*a, *b)) == 0
}

impl Range {
    /// Creates the range of one digest.
    pub(crate) fn new(digest: &Digest) -> Range {
        let both = packed(digest);
        Range {
            least: both,
            most: both,
        }
    }

    /// Extends the range by a digest.
    pub(crate) fn add(&mut self, digest: &Digest) {
        for (w, word) in packed(digest).into_iter().enumerate() {
            // All bits of the lanes where the first is below the second.
            let lanes = |a: u64, b: u64| (below(a, b) >> 15) * 0xffff;
            let less = lanes(word, self.least[w]);
            self.least[w] = self.least[w] & !less | word & less;
            let more = lanes(self.most[w], word);
            self.most[w] = self.most[w] & !more | word & more;
        }
    }
}

/// The last position before `end`, in consecutive blocks, at which the digest does not rule out an
/// inclusion. `groups` has a range for every [`GROUP`] of blocks.
#[inline(never)]
pub(crate) fn last_in_blocks(
    blocks: &[Block],
    groups: &[Range],
    end: usize,
    digest: &Digest,
) -> Option<usize> {
    let values = digest.map(spread);
    let whole = packed(digest);
    let mut end = end;
    let mut open_group = usize::MAX;
    while end > 0 {
        let b = (end - 1) / BLOCK;
        let g = b / GROUP;
        if g != open_group {
            let Range { least, most } = &groups[g];
            if !reaches(most, &whole) && !reaches(&whole, least) {
                end = g * GROUP * BLOCK;
                continue;
            }
            open_group = g;
        }
        let block = &blocks[b];
        // Top bits: whether no lane so far is below, and whether none is above.
        let (mut not_below, mut not_above) = ([TOP; BLOCK / 4], [TOP; BLOCK / 4]);
        let mut open = 0;
        for half in 0..2 {
            let lanes = half * LANES / 2..(half + 1) * LANES / 2;
            for (lane, &value) in block.0[lanes.clone()].iter().zip(&values[lanes]) {
                for w in 0..BLOCK / 4 {
                    not_below[w] &= (lane[w] | TOP) - value;
                    not_above[w] &= (value | TOP) - lane[w];
                }
            }
            open = not_below[0] | not_above[0] | not_below[1] | not_above[1];
            if open == 0 {
                break;
            }
        }
        if open != 0 {
            let is_open =
                |k: &usize| (not_below[k / 4] | not_above[k / 4]) >> (16 * (k % 4) + 15) & 1 == 1;
            if let Some(k) = (0..end - b * BLOCK).rev().find(is_open) {
                return Some(b * BLOCK + k);
            }
        }
        end = b * BLOCK;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::Relation;
    use crate::zone::bound::{le, lt};
    use zonelens_interpreter::Rng;

    fn random_zone(rng: &mut Rng, dim: usize, greatest: i32) -> Zone {
        let mut zone = Zone::universe(dim);
        for _ in 0..dim * 2 {
            let (i, j) = (rng.below(dim), rng.below(dim));
            let c = rng.below(2 * greatest as usize) as i32 - greatest;
            let b = if rng.below(2) == 0 { lt(c) } else { le(c) };
            if i != j && zone.satisfiable(i, j, b) {
                zone.and(i, j, b);
            }
        }
        zone
    }

    #[test]
    fn digests_never_separate_zones_that_include_each_other() {
        let mut rng = Rng::new(11);
        let mut included = 0;
        for round in 0..20_000 {
            let dim = 2 + round % 9;
            // Some constants are much larger than the digester expects.
            let greatest = [3, 40, 5_000, 200_000][round % 4];
            let expected = [3, 10, 5_000, 300][rng.below(4)];
            let big = random_zone(&mut rng, dim, greatest);
            let mut small = big.clone();
            let (i, j) = (rng.below(dim), rng.below(dim));
            let b = lt(rng.below(greatest as usize) as i32);
            if i != j && small.satisfiable(i, j, b) {
                small.and(i, j, b);
            }
            let digester = Digester::new(dim, expected);
            let (p, q) = (digester.digest(&small), digester.digest(&big));
            assert!(!apart(&fold(&p), &fold(&q)) && !apart(&fold(&q), &fold(&p)));
            let mut block = Block::new(&q);
            block.set(3, &p);
            assert_eq!(block.get(3), p);
            let mut range = [Range::new(&q)];
            range[0].add(&p);
            for digest in [p, q] {
                assert_eq!(last_in_blocks(&[block], &range, 1, &digest), Some(0));
                assert_eq!(last_in_blocks(&[block], &range, 4, &digest), Some(3));
            }
            included += usize::from(small != big);
        }
        assert!(included > 5_000, "{included}");
    }

    #[test]
    fn digests_separate_most_zones() {
        let mut rng = Rng::new(5);
        let digester = Digester::new(9, 10);
        let zones: Vec<Zone> = (0..200).map(|_| random_zone(&mut rng, 9, 10)).collect();
        let digests: Vec<Digest> = zones.iter().map(|zone| digester.digest(zone)).collect();
        let (mut different, mut found) = (0, 0);
        for (i, a) in zones.iter().enumerate() {
            for (j, b) in zones.iter().enumerate() {
                if a.relation(b) == Relation::Different {
                    different += 1;
                    let block = Block::new(&digests[j]);
                    let candidate =
                        last_in_blocks(&[block], &[Range::new(&digests[j])], 1, &digests[i])
                            .is_some();
                    found += usize::from(!candidate);
                    assert!(!candidate || !apart(&fold(&digests[i]), &fold(&digests[j])));
                }
            }
        }
        assert!(found * 100 > different * 95, "{found} of {different}");
    }
}
