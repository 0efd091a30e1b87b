//! Digests of zones: what tells most zones of an entry apart without looking at them.
//!
//! A digest holds sums of groups of bounds in lanes of 16 bits. If a zone is inside another, none of its bounds, and so
//! none of its sums, exceeds the other's; two digests that each have a smaller lane belong to zones of which neither
//! holds the other. The lanes are compared four at a time inside one word: their top bit is free and catches the borrow.

use super::storage::Prepared;
use crate::zone::bound::INF;
use crate::zone::{Bound, Relation};

const WORDS: usize = 4;
const LANES: usize = 4 * WORDS;
const TOP: u64 = 0x8000_8000_8000_8000;

/// Sums of groups of bounds.
pub type Digest = [u64; WORDS];

/// How digests of zones of one dimension are made.
#[derive(Clone, Copy, Debug)]
pub struct Digester {
    /// Bounds count no further than this on either side: what lies beyond is rarely finite.
    reach: Bound,
    /// Greatest number of bounds in a lane.
    count: i64,
    shift: u32,
}

impl Digester {
    /// For zones of this dimension whose constants seldom exceed `greatest`.
    pub fn new(dim: usize, greatest: i32) -> Digester {
        let reach = 2 * greatest.clamp(1, 1 << 24) + 2;
        let count = (dim * (dim - 1)).div_ceil(LANES) as i64;
        let span = (2 * count * i64::from(reach)) as u64;
        Digester {
            reach,
            count,
            shift: (64 - span.leading_zeros()).saturating_sub(15),
        }
    }

    /// The digest of a zone.
    #[inline]
    pub fn digest(&self, zone: &Prepared) -> Digest {
        let mut sums = [0i64; LANES];
        match zone.narrow() {
            Some(bounds) if self.reach < Bound::from(i16::MAX) => {
                let mut short = [0i32; LANES];
                let reach = self.reach as i16;
                add_up(&mut short, bounds, |b| i32::from(b.clamp(-reach, reach)));
                sums = short.map(i64::from);
            }
            Some(bounds) => add_up(&mut sums, bounds, |b| {
                let b = if b == i16::MAX { INF } else { Bound::from(b) };
                i64::from(b.clamp(-self.reach, self.reach))
            }),
            None => add_up(&mut sums, zone.wide(), |b| {
                i64::from(b.clamp(-self.reach, self.reach))
            }),
        }
        let least = self.count * i64::from(self.reach);
        let mut digest = [0; WORDS];
        for (k, sum) in sums.iter().enumerate() {
            digest[k / 4] |= (((sum + least) as u64) >> self.shift) << (16 * (k % 4));
        }
        digest
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

/// Lanes of `a` below those of `b`, as their top bits.
#[inline(always)]
fn below(a: u64, b: u64) -> u64 {
    !((a | TOP) - b) & TOP
}

/// What the digests leave possible of how the first zone relates to the second.
#[inline(always)]
pub fn possible(a: &Digest, b: &Digest) -> Relation {
    let (mut less, mut more) = (0, 0);
    for half in 0..2 {
        for k in 0..WORDS / 2 {
            let (a, b) = (a[half * WORDS / 2 + k], b[half * WORDS / 2 + k]);
            less |= below(a, b);
            more |= below(b, a);
        }
        if less != 0 && more != 0 {
            return Relation::Different;
        }
    }
    match (less, more) {
        (0, 0) => Relation::Equal,
        (_, 0) => Relation::Subset,
        _ => Relation::Superset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::zone::Zone;
    use crate::zone::bound::{le, lt};

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
            // Some constants are far beyond what the digester expects.
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
            let (mut p, mut q) = (Prepared::default(), Prepared::default());
            p.load(&small);
            q.load(&big);
            let found = possible(&digester.digest(&p), &digester.digest(&q));
            assert!(matches!(found, Relation::Equal | Relation::Subset));
            let found = possible(&digester.digest(&q), &digester.digest(&p));
            assert!(matches!(found, Relation::Equal | Relation::Superset));
            included += usize::from(small != big);
        }
        assert!(included > 5_000, "{included}");
    }

    #[test]
    fn digests_separate_most_zones() {
        let mut rng = Rng::new(5);
        let digester = Digester::new(9, 10);
        let zones: Vec<Zone> = (0..200).map(|_| random_zone(&mut rng, 9, 10)).collect();
        let digests: Vec<Digest> = zones
            .iter()
            .map(|zone| {
                let mut p = Prepared::default();
                p.load(zone);
                digester.digest(&p)
            })
            .collect();
        let (mut apart, mut found) = (0, 0);
        for (i, a) in zones.iter().enumerate() {
            for (j, b) in zones.iter().enumerate() {
                if a.relation(b) == Relation::Different {
                    apart += 1;
                    found += usize::from(possible(&digests[i], &digests[j]) == Relation::Different);
                }
            }
        }
        assert!(found * 100 > apart * 95, "{found} of {apart}");
    }
}
