//! A zone as it is stored and compared: the clocks that it constrains, then their bounds in as few
//! bits as possible.

use crate::store::zones;
use crate::zone::bound::{INF, LE_ZERO};
use crate::zone::{Bound, Relation, Zone};
use smallvec::SmallVec;

/// The number of bits of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Short,
    /// 32 bits.
    Wide,
}

const SHORT_INF: i16 = i16::MAX;
const BYTE_INF: i8 = i8::MAX;

/// The bits of the first word of a record that count references.
pub(crate) const REFERENCES: u64 = (1 << WIDE_BIT) - 1;
const WIDE_BIT: u32 = 23;

/// The number of constrained clocks according to a header.
#[inline]
pub(crate) fn clocks_of(header: &[u64]) -> usize {
    let rest: u32 = header[1..].iter().map(|w| w.count_ones()).sum();
    ((header[0] >> (WIDE_BIT + 1)).count_ones() + rest) as usize
}

/// The lanes of words, as signed numbers.
macro_rules! lanes {
    ($words:expr, $bytes:expr, $type:ty) => {{
        const EACH: usize = 8 / $bytes;
        let mut lanes = [0 as $type; 4 * EACH];
        for (k, word) in $words.iter().enumerate() {
            for lane in 0..EACH {
                lanes[k * EACH + lane] = (*word >> (8 * $bytes * lane)) as $type;
            }
        }
        lanes
    }};
}

impl Form {
    /// The form for bounds up to a constant. Extrapolated zones have no larger ones.
    pub(crate) fn for_constants(greatest: i32) -> Form {
        let largest = 2 * i64::from(greatest.max(0)) + 1;
        if largest < i64::from(BYTE_INF) {
            Form::Byte
        } else if largest < i64::from(SHORT_INF) {
            Form::Short
        } else {
            Form::Wide
        }
    }

    fn limit(self) -> u32 {
        match self {
            Form::Byte => BYTE_INF as u32,
            Form::Short => SHORT_INF as u32,
            Form::Wide => INF as u32,
        }
    }

    fn per_word(self) -> usize {
        match self {
            Form::Byte => 8,
            Form::Short => 4,
            Form::Wide => 2,
        }
    }

    /// The number of words for `bounds` bounds.
    #[inline]
    pub(crate) fn words(self, bounds: usize) -> usize {
        bounds.div_ceil(self.per_word())
    }

    #[inline]
    fn pack(self, bounds: &[Bound], out: &mut Vec<u64>) {
        match self {
            Form::Byte => {
                // Many bytes at once, because narrowing vectorises only along a slice. They fit,
                // and "no bound" saturates.
                for chunk in bounds.chunks(64) {
                    let mut bytes = [0u8; 64];
                    for (byte, b) in bytes.iter_mut().zip(chunk) {
                        *byte = (*b).clamp(i8::MIN.into(), i8::MAX.into()) as u8;
                    }
                    let words = bytes.as_chunks().0.iter().take(self.words(chunk.len()));
                    out.extend(words.map(|word| u64::from_le_bytes(*word)));
                }
            }
            Form::Short => pack(bounds, out, |lanes: &[Bound; 4]| {
                let [a, b, c, d] = lanes.map(|b| u64::from(b.min(SHORT_INF.into()) as u16));
                a | b << 16 | c << 32 | d << 48
            }),
            Form::Wide => pack(bounds, out, |lanes: &[Bound; 2]| {
                u64::from(lanes[0] as u32) | u64::from(lanes[1] as u32) << 32
            }),
        }
    }

    /// The bounds in some words; the last word may contain a few more without meaning.
    #[inline]
    pub(crate) fn unpack(self, words: &[u64]) -> Vec<Bound> {
        let mut out = vec![0; words.len() * self.per_word()];
        match self {
            Form::Byte => {
                for (bounds, word) in out.chunks_exact_mut(8).zip(words) {
                    for (b, lane) in bounds.iter_mut().zip(word.to_le_bytes()) {
                        let lane = lane as i8;
                        *b = if lane == BYTE_INF { INF } else { lane.into() };
                    }
                }
            }
            Form::Short => {
                for (bounds, word) in out.chunks_exact_mut(4).zip(words) {
                    for (k, b) in bounds.iter_mut().enumerate() {
                        let lane = (*word >> (16 * k)) as i16;
                        *b = if lane == SHORT_INF { INF } else { lane.into() };
                    }
                }
            }
            Form::Wide => {
                for (bounds, word) in out.chunks_exact_mut(2).zip(words) {
                    bounds[0] = *word as Bound;
                    bounds[1] = (*word >> 32) as Bound;
                }
            }
        }
        out
    }

    /// Inclusion of bounds in both directions, four words at a time so that the lanes are compared
    /// in parallel.
    #[inline]
    pub(crate) fn compare(self, a: &[u64], b: &[u64]) -> Relation {
        match self {
            Form::Byte => compare(a, b, |w| lanes!(w, 1, i8)),
            Form::Short => compare(a, b, |w| lanes!(w, 2, i16)),
            Form::Wide => compare(a, b, |w| lanes!(w, 4, i32)),
        }
    }
}

#[inline(always)]
fn pack<const N: usize>(bounds: &[Bound], out: &mut Vec<u64>, word: impl Fn(&[Bound; N]) -> u64) {
    let (chunks, rest) = bounds.as_chunks::<N>();
    out.extend(chunks.iter().map(&word));
    if !rest.is_empty() {
        let mut last = [0; N];
        last[..rest.len()].copy_from_slice(rest);
        out.push(word(&last));
    }
}

#[inline(always)]
fn compare<T: PartialOrd + Copy, const N: usize>(
    a: &[u64],
    b: &[u64],
    lanes: impl Fn(&[u64; 4]) -> [T; N],
) -> Relation {
    let (mut some_less, mut some_more) = (false, false);
    let mut step = |x: &[u64; 4], y: &[u64; 4]| {
        let (x, y) = (lanes(x), lanes(y));
        let (mut less, mut more) = (false, false);
        for k in 0..N {
            less |= x[k] < y[k];
            more |= x[k] > y[k];
        }
        some_less |= less;
        some_more |= more;
        some_less && some_more
    };
    let (chunks, rest) = a.as_chunks::<4>();
    let (others, other_rest) = b.as_chunks::<4>();
    for (x, y) in chunks.iter().zip(others) {
        if step(x, y) {
            return Relation::Different;
        }
    }
    if !rest.is_empty() {
        let (mut x, mut y) = ([0; 4], [0; 4]);
        x[..rest.len()].copy_from_slice(rest);
        y[..rest.len()].copy_from_slice(other_rest);
        step(&x, &y);
    }
    match (some_less, some_more) {
        (false, false) => Relation::Equal,
        (true, false) => Relation::Subset,
        (false, true) => Relation::Superset,
        (true, true) => Relation::Different,
    }
}

/// A zone prepared for storing and comparing.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    dim: usize,
    /// The usual form, for zones that fit it, and the form of this zone.
    usual: Form,
    form: Form,
    /// Header and bounds as they are stored.
    record: Vec<u64>,
    bounds: Vec<Bound>,
    /// Per clock, 0 if it is free.
    told: Vec<i32>,
}

impl Prepared {
    /// Creates a buffer for zones of a dimension; zones that fit it have the form `usual`.
    pub(crate) fn new(dim: usize, usual: Form) -> Prepared {
        Prepared {
            dim,
            usual,
            form: usual,
            record: vec![0; Prepared::header_words(dim)],
            bounds: Vec::new(),
            told: vec![0; dim],
        }
    }

    /// Prepares the buffer for zones of another dimension.
    pub(crate) fn resize(&mut self, dim: usize) {
        self.dim = dim;
        self.told.resize(dim, 0);
    }

    /// The number of words before the bounds of a record: references, whether it is wide, and a bit
    /// for every clock that is not free.
    pub(crate) fn header_words(dim: usize) -> usize {
        (WIDE_BIT as usize + dim).div_ceil(64)
    }

    /// Whether a record with this first word is wide.
    #[inline]
    pub(crate) fn is_wide_header(first: u64) -> bool {
        first >> WIDE_BIT & 1 == 1
    }

    /// Whether a record constrains a clock.
    #[inline]
    pub(crate) fn is_bound(record: &[u64], clock: usize) -> bool {
        let bit = WIDE_BIT as usize + clock;
        record[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Prepares a zone.
    pub(crate) fn load(&mut self, zone: &Zone) {
        self.find_free(zone.raw());
        self.pack(zone.raw());
    }

    /// Prepares an abstracted zone in which the clocks without a bound in `l` and `u` are free, so
    /// that they need not be detected.
    #[inline]
    pub(crate) fn load_active(&mut self, zone: &Zone, l: &[i32], u: &[i32]) {
        for (told, (l, u)) in self.told.iter_mut().zip(l.iter().zip(u)) {
            *told = i32::from((*l >= 0) | (*u >= 0));
        }
        #[cfg(debug_assertions)]
        {
            let supposed = self.told.clone();
            self.find_free(zone.raw());
            let mut clocks = supposed.iter().zip(&self.told).skip(1);
            debug_assert!(clocks.all(|(supposed, told)| *supposed != 0 || *told == 0));
            self.told = supposed;
        }
        self.pack(zone.raw());
    }

    #[inline]
    fn pack(&mut self, m: &[Bound]) {
        let dim = self.dim;
        self.record.clear();
        self.record.resize(Prepared::header_words(dim), 0);
        let mut bound: SmallVec<[u32; 32]> = SmallVec::new();
        bound.push(0);
        for x in 1..dim {
            if self.told[x] != 0 {
                bound.push(x as u32);
                let bit = WIDE_BIT as usize + x;
                self.record[bit / 64] |= 1 << (bit % 64);
            }
        }
        self.bounds.clear();
        if bound.len() == dim {
            // The number of bounds between two entries of the diagonal equals the number of rows of
            // the matrix.
            for run in m[1..].chunks_exact(dim + 1) {
                self.bounds.extend_from_slice(&run[..dim]);
            }
        } else {
            let others = bound.len() - 1;
            self.bounds.resize(bound.len() * others, 0);
            let packed = self.bounds.chunks_exact_mut(others.max(1));
            for ((k, &i), packed) in bound.iter().enumerate().zip(packed) {
                let row = &m[i as usize * dim..(i as usize + 1) * dim];
                let (before, after) = packed.split_at_mut(k);
                for (b, j) in before.iter_mut().zip(&bound) {
                    *b = row[*j as usize];
                }
                for (b, j) in after.iter_mut().zip(&bound[k + 1..]) {
                    *b = row[*j as usize];
                }
            }
        }
        let limit = self.usual.limit();
        let fits = |b: &Bound| (*b == INF) | (b.unsigned_abs() < limit);
        let all = self.bounds.iter().fold(true, |all, b| all & fits(b));
        self.form = if all { self.usual } else { Form::Wide };
        self.record[0] |= u64::from(self.form == Form::Wide) << WIDE_BIT;
        self.form.pack(&self.bounds, &mut self.record);
    }

    /// Finds the clocks that a zone constrains only to be non-negative: their row has no bound, and
    /// their column equals that of zero. All columns are processed at once, because testing one
    /// after the other costs more than the rest of [`Prepared::load`].
    #[inline]
    fn find_free(&mut self, m: &[Bound]) {
        let dim = self.dim;
        let told = &mut self.told[..dim];
        let mut rows = m.chunks_exact(dim);
        let Some(zero) = rows.next() else { return };
        let mut some = false;
        for (x, (told, low)) in told.iter_mut().zip(zero).enumerate() {
            *told = (*low ^ LE_ZERO) | (m[x * dim] ^ INF);
            some |= *told == 0;
        }
        if !some {
            return;
        }
        for (j, row) in (1..dim).zip(rows) {
            let (own, upper) = (told[j], row[0]);
            for (told, b) in told.iter_mut().zip(row) {
                *told |= b ^ upper;
            }
            // There is nothing to compare on the diagonal; the rest of the row has no bounds, or
            // the clock is not free.
            let bounded: i32 = row.iter().map(|b| i32::from(*b != INF)).sum();
            told[j] = own | (bounded - 1);
        }
    }

    /// Header and bounds as they are stored, without references.
    #[inline]
    pub(crate) fn record(&self) -> &[u64] {
        &self.record
    }

    /// The zone.
    pub(crate) fn restore(&self, out: &mut Zone) {
        zones::restore(
            self.form,
            Prepared::header_words(self.dim),
            &self.record,
            out,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::zones::{ZoneId, ZoneStore};
    use crate::zone::bound::{le, lt};
    use zonelens_interpreter::Rng;

    fn random_zone(rng: &mut Rng, dim: usize, greatest: i32) -> Zone {
        let mut zone = Zone::universe(dim);
        for _ in 0..rng.below(2 * dim) {
            let (i, j) = (rng.below(dim), rng.below(dim));
            let c = rng.range(-greatest, greatest);
            let b = if rng.chance(50) { lt(c) } else { le(c) };
            if i != j && zone.satisfiable(i, j, b) {
                zone.and(i, j, b);
            }
        }
        for x in 1..dim {
            if rng.chance(30) {
                zone.free(x);
            }
        }
        zone
    }

    #[test]
    fn zones_come_back_and_compare_as_they_are() {
        let mut rng = Rng::new(17);
        let mut related = 0;
        for round in 0..300 {
            let dim = [1, 2, 3, 5, 8, 42, 90][round % 7];
            let greatest = [3, 60, 5_000, 200_000][rng.below(4)];
            let mut store = ZoneStore::new(dim, [3, 61, 70, 6_000, 300_000][rng.below(5)]);
            let mut prepared = store.prepared();
            let mut kept: Vec<(ZoneId, Zone)> = Vec::new();
            let count = if dim > 20 { 12 } else { 60 };
            for _ in 0..count {
                if rng.chance(25) && !kept.is_empty() {
                    let (id, _) = kept.swap_remove(rng.below(kept.len()));
                    store.release(id);
                }
                let mut zone = random_zone(&mut rng, dim, greatest);
                if let Some((_, other)) = kept.last().filter(|_| rng.chance(40)) {
                    zone.hull(other);
                }
                prepared.load(&zone);
                let mut back = Zone::universe(dim);
                prepared.restore(&mut back);
                assert_eq!(back, zone);
                for (id, other) in &kept {
                    let relation = zone.relation(other);
                    assert_eq!(
                        store.relation(&prepared, *id),
                        relation,
                        "{zone:?} {other:?}"
                    );
                    related += usize::from(relation != Relation::Different);
                }
                let id = store.put(&prepared);
                let same = kept.iter().find(|(_, other)| *other == zone);
                assert!(same.is_none_or(|(other, _)| *other == id));
                kept.push((id, zone));
                for (id, zone) in &kept {
                    store.get(*id, &mut back);
                    assert_eq!(back, *zone);
                }
            }
        }
        assert!(related > 10_000, "{related}");
    }

    #[test]
    fn space_of_zones_that_are_gone_is_used_again() {
        let mut rng = Rng::new(4);
        let mut store = ZoneStore::new(9, 20);
        let mut prepared = store.prepared();
        let mut last = None;
        for round in 0..20_000 {
            prepared.load(&random_zone(&mut rng, 9, 20));
            let id = store.put(&prepared);
            if let Some(last) = last.replace(id) {
                store.release(last);
            }
            assert!(store.bytes() < 40_000, "{} in round {round}", store.bytes());
        }
    }
}
