//! Shared storage: discrete states packed into words, zones hash-consed without their diagonal and in 16 bits where
//! their bounds fit (Behrmann, David, Larsen, Yi: *Unification & sharing in timed automata verification*, 2003).

use crate::zone::bound::{INF, LE_ZERO};
use crate::zone::{Bound, Relation, Zone};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Where each number of a discrete state sits in its packed words.
#[derive(Clone, Debug)]
pub struct Packing {
    fields: Vec<Field>,
    /// Words per state.
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
    /// A packing for numbers of these ranges.
    pub fn new(ranges: impl Iterator<Item = (i32, i32)>) -> Packing {
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
    pub fn pack(&self, state: &[i32], out: &mut Vec<u64>) {
        out.clear();
        out.resize(self.words, 0);
        for (field, &value) in self.fields.iter().zip(state) {
            let bits = (i64::from(value) - i64::from(field.lo)) as u64 & field.mask;
            out[field.word as usize] |= bits << field.shift;
        }
    }

    /// Packs a state into words that hold another one of the same length: only words with a change are written.
    pub fn repack(&self, last: &[i32], state: &[i32], out: &mut [u64]) {
        // Compared in runs, as most of a large state stays as it is.
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
    pub fn unpack(&self, words: &[u64], out: &mut Vec<i32>) {
        out.clear();
        out.extend(self.fields.iter().map(|field| {
            let bits = (words[field.word as usize] >> field.shift) & field.mask;
            (bits as i64 + i64::from(field.lo)) as i32
        }));
    }
}

/// Makes room for so many more items by quarters, not by doubling: what is reserved and not used is memory too, and
/// large blocks grow in place.
#[inline]
pub fn make_room<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        items.reserve_exact(more.max(items.len() / 4).max(16));
    }
}

/// A hash of packed words.
#[inline]
pub fn hash_words(words: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for w in words {
        hasher.write_u64(*w);
    }
    let h = hasher.finish();
    h ^ (h >> 32)
}

/// Handle of a stored zone. The top bit says that it is kept in 32 bits.
pub type ZoneId = u32;

const WIDE: u32 = 1 << 31;
const NARROW_INF: i16 = i16::MAX;

/// A zone prepared for storing and comparing.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    narrow: Vec<i16>,
    wide: Vec<Bound>,
    is_wide: bool,
}

impl Prepared {
    /// Prepares a zone, reusing the buffers.
    #[inline]
    pub fn load(&mut self, zone: &Zone) {
        let dim = zone.dim();
        self.narrow.clear();
        self.wide.clear();
        let mut fits = true;
        for row in OffDiagonal::of(zone) {
            self.narrow.extend(row.iter().map(|&b| {
                fits &= b == INF || b.unsigned_abs() < NARROW_INF as u32;
                b.min(Bound::from(NARROW_INF)) as i16
            }));
        }
        debug_assert_eq!(self.narrow.len(), dim * (dim - 1));
        self.is_wide = !fits;
        if !fits {
            OffDiagonal::of(zone).for_each(|row| self.wide.extend_from_slice(row));
        }
    }

    /// The bounds without the diagonal, if 16 bits hold them; `i16::MAX` is "no bound".
    #[inline]
    pub fn narrow(&self) -> Option<&[i16]> {
        (!self.is_wide).then_some(&self.narrow)
    }

    /// The bounds without the diagonal, if they need 32 bits.
    #[inline]
    pub fn wide(&self) -> &[Bound] {
        &self.wide
    }

    /// The bound at a position of the matrix without diagonal.
    #[inline]
    fn at(&self, index: usize) -> Bound {
        if self.is_wide {
            self.wide[index]
        } else {
            widen(self.narrow[index])
        }
    }

    /// The bound of `x_i - x_j` in a zone of this dimension.
    pub fn bound(&self, dim: usize, i: usize, j: usize) -> Bound {
        if i == j {
            LE_ZERO
        } else {
            self.at(i * (dim - 1) + j - usize::from(j > i))
        }
    }
}

/// The runs of bounds between the diagonal's entries: a matrix is `n - 1` times a diagonal entry and `n` bounds, then
/// the last diagonal entry.
struct OffDiagonal<'z> {
    rest: &'z [Bound],
    dim: usize,
}

impl<'z> OffDiagonal<'z> {
    fn of(zone: &'z Zone) -> OffDiagonal<'z> {
        OffDiagonal {
            rest: zone.raw(),
            dim: zone.dim(),
        }
    }
}

impl<'z> Iterator for OffDiagonal<'z> {
    type Item = &'z [Bound];

    #[inline]
    fn next(&mut self) -> Option<&'z [Bound]> {
        let run = self.rest.get(1..1 + self.dim)?;
        self.rest = &self.rest[1 + self.dim..];
        Some(run)
    }
}

#[inline(always)]
fn widen(b: i16) -> Bound {
    if b == NARROW_INF { INF } else { Bound::from(b) }
}

/// Zones of one dimension, each stored once.
#[derive(Clone, Debug, Default)]
pub struct ZoneStore {
    dim: usize,
    size: usize,
    narrow: Vec<i16>,
    wide: Vec<Bound>,
    table: Vec<u32>,
    used: usize,
    shared: bool,
}

impl ZoneStore {
    /// A store for zones of this dimension; without sharing every zone is kept anew.
    pub fn new(dim: usize, shared: bool) -> ZoneStore {
        ZoneStore {
            dim,
            size: dim * (dim - 1),
            shared,
            table: vec![u32::MAX; 64],
            ..ZoneStore::default()
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.narrow.capacity() * 2 + self.wide.capacity() * 4 + self.table.capacity() * 4
    }

    fn narrow_at(&self, id: ZoneId) -> &[i16] {
        let start = id as usize * self.size;
        &self.narrow[start..start + self.size]
    }

    fn wide_at(&self, id: ZoneId) -> &[Bound] {
        let start = (id & !WIDE) as usize * self.size;
        &self.wide[start..start + self.size]
    }

    /// Stores a zone and gives its handle.
    pub fn put(&mut self, zone: &Prepared) -> ZoneId {
        if self.size == 0 {
            return 0;
        }
        if !self.shared {
            return self.append(zone);
        }
        if self.used * 4 >= self.table.len() * 3 {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut at = hash_prepared(zone) as usize & mask;
        loop {
            let id = self.table[at];
            if id == u32::MAX {
                let id = self.append(zone);
                self.table[at] = id;
                self.used += 1;
                return id;
            }
            let same = match (id & WIDE != 0, zone.is_wide) {
                (false, false) => self.narrow_at(id) == zone.narrow,
                (true, true) => self.wide_at(id) == zone.wide,
                _ => false,
            };
            if same {
                return id;
            }
            at = (at + 1) & mask;
        }
    }

    fn append(&mut self, zone: &Prepared) -> ZoneId {
        if zone.is_wide {
            make_room(&mut self.wide, self.size);
            self.wide.extend_from_slice(&zone.wide);
            ((self.wide.len() / self.size - 1) as u32) | WIDE
        } else {
            make_room(&mut self.narrow, self.size);
            self.narrow.extend_from_slice(&zone.narrow);
            (self.narrow.len() / self.size - 1) as u32
        }
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.table);
        self.table = vec![u32::MAX; old.len() * 2];
        let mask = self.table.len() - 1;
        let mut prepared = Prepared::default();
        for id in old.into_iter().filter(|id| *id != u32::MAX) {
            self.copy_out(id, &mut prepared);
            let mut at = hash_prepared(&prepared) as usize & mask;
            while self.table[at] != u32::MAX {
                at = (at + 1) & mask;
            }
            self.table[at] = id;
        }
    }

    /// Restores a zone as it was prepared for storing.
    pub fn copy_out(&self, id: ZoneId, out: &mut Prepared) {
        out.narrow.clear();
        out.wide.clear();
        out.is_wide = id & WIDE != 0;
        if out.is_wide {
            out.wide.extend_from_slice(self.wide_at(id));
        } else {
            out.narrow.extend_from_slice(self.narrow_at(id));
        }
    }

    /// How a prepared zone relates to a stored one.
    #[inline]
    pub fn relation(&self, zone: &Prepared, id: ZoneId) -> Relation {
        if self.size == 0 {
            return Relation::Equal;
        }
        match (zone.is_wide, id & WIDE != 0) {
            (false, false) => compare(&zone.narrow, self.narrow_at(id)),
            (true, true) => compare(&zone.wide, self.wide_at(id)),
            (true, false) => {
                let other: Vec<Bound> = self.narrow_at(id).iter().map(|b| widen(*b)).collect();
                compare(&zone.wide, &other)
            }
            (false, true) => {
                let own: Vec<Bound> = zone.narrow.iter().map(|b| widen(*b)).collect();
                compare(&own, self.wide_at(id))
            }
        }
    }

    /// The bound of `x_i - x_j` in a stored zone.
    #[inline]
    pub fn bound(&self, id: ZoneId, i: usize, j: usize) -> Bound {
        if i == j {
            return LE_ZERO;
        }
        let index = i * (self.dim - 1) + j - usize::from(j > i);
        if id & WIDE != 0 {
            self.wide_at(id)[index]
        } else {
            widen(self.narrow_at(id)[index])
        }
    }

    /// Restores a zone.
    #[inline]
    pub fn get(&self, id: ZoneId, out: &mut Zone) {
        let dim = self.dim;
        if out.dim() != dim {
            *out = Zone::universe(dim);
        }
        let m = out.raw_mut();
        m[0] = LE_ZERO;
        if self.size == 0 {
            return;
        }
        let rows = m[1..].chunks_exact_mut(dim + 1);
        if id & WIDE != 0 {
            for (row, stored) in rows.zip(self.wide_at(id).chunks_exact(dim)) {
                row[..dim].copy_from_slice(stored);
                row[dim] = LE_ZERO;
            }
        } else {
            for (row, stored) in rows.zip(self.narrow_at(id).chunks_exact(dim)) {
                for (b, stored) in row.iter_mut().zip(stored) {
                    *b = widen(*stored);
                }
                row[dim] = LE_ZERO;
            }
        }
    }
}

fn hash_prepared(zone: &Prepared) -> u64 {
    let mut hasher = FxHasher::default();
    if zone.is_wide {
        zone.wide.iter().for_each(|b| hasher.write_i32(*b));
    } else {
        let mut chunks = zone.narrow.chunks_exact(4);
        for c in &mut chunks {
            let word = u64::from(c[0] as u16)
                | u64::from(c[1] as u16) << 16
                | u64::from(c[2] as u16) << 32
                | u64::from(c[3] as u16) << 48;
            hasher.write_u64(word);
        }
        chunks.remainder().iter().for_each(|b| hasher.write_i16(*b));
    }
    let h = hasher.finish();
    h ^ (h >> 32)
}

/// Inclusion in both directions, in pieces that vectorise.
#[inline]
fn compare<T: PartialOrd + Copy>(a: &[T], b: &[T]) -> Relation {
    let (mut some_less, mut some_more) = (false, false);
    for (x, y) in a.chunks(32).zip(b.chunks(32)) {
        let (mut less, mut more) = (false, false);
        for (p, q) in x.iter().zip(y) {
            less |= p < q;
            more |= p > q;
        }
        some_less |= less;
        some_more |= more;
        if some_less && some_more {
            return Relation::Different;
        }
    }
    match (some_less, some_more) {
        (false, false) => Relation::Equal,
        (true, false) => Relation::Subset,
        (false, true) => Relation::Superset,
        (true, true) => Relation::Different,
    }
}
