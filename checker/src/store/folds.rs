//! Stored zones of a run whose states have classes of interchangeable elements: the classes, and
//! the bounds between the clocks of two elements of each (`zone/folded.rs`).
//!
//! Matrices of each dimension are in a store of their own, so states whose classes differ only in
//! size share a matrix; sequences of classes are kept once as well.

use crate::store::digest::{Digest, LANES};
use crate::store::packing::make_room;
use crate::store::prepared::Prepared;
use crate::store::sequences::Sequences;
use crate::store::zones::{ZoneId, ZoneStore};
use crate::zone::folded::Spot;
use crate::zone::{Bound, Folded, Layout, Relation, Zone};
use std::sync::Arc;

/// Folded zones by number.
#[derive(Clone, Debug)]
pub(crate) struct FoldedStore {
    layout: Arc<Layout>,
    digester: FoldedDigester,
    greatest: i32,
    /// The store of each dimension, if it has zones.
    stores: Vec<Option<Box<ZoneStore>>>,
    classes: Sequences<u32>,
    records: Vec<Record>,
    free: Vec<u32>,
    scratch: Folded,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    classes: u32,
    dim: u32,
    zone: ZoneId,
}

/// A folded zone prepared for storing and comparing.
#[derive(Debug)]
pub(crate) struct PreparedFolded {
    folded: Folded,
    prepared: Prepared,
    digester: FoldedDigester,
}

impl Default for PreparedFolded {
    fn default() -> PreparedFolded {
        FoldedStore::new(Arc::default(), 0).prepared()
    }
}

impl PreparedFolded {
    /// Prepares a zone.
    pub(crate) fn load(&mut self, folded: &Folded) {
        self.folded.starts.clone_from(&folded.starts);
        self.folded.zone.assign(&folded.zone);
        self.prepared.resize(folded.zone.dim());
        self.prepared.load(&folded.zone);
    }

    /// Prepares a zone without classes: each element is alone.
    pub(crate) fn load_whole(&mut self, zone: &Zone) {
        let layout = &self.digester.layout;
        let starts: Vec<u32> = (0..layout.clocks.len() as u32).collect();
        layout.fold(zone, &starts, &mut self.folded);
        self.prepared.resize(self.folded.zone.dim());
        self.prepared.load(&self.folded.zone);
    }

    /// The digest of the zone loaded.
    pub(crate) fn digest(&self) -> Digest {
        self.digester.digest(&self.folded)
    }
}

impl FoldedStore {
    /// Creates a store for zones whose constants rarely exceed `greatest`.
    pub(crate) fn new(layout: Arc<Layout>, greatest: i32) -> FoldedStore {
        FoldedStore {
            digester: FoldedDigester::new(layout.clone(), greatest),
            layout,
            greatest,
            stores: Vec::new(),
            classes: Sequences::default(),
            records: Vec::new(),
            free: Vec::new(),
            scratch: Folded::empty(),
        }
    }

    /// The layout of its zones.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A buffer for zones to be stored here.
    pub(crate) fn prepared(&self) -> PreparedFolded {
        PreparedFolded {
            folded: Folded::empty(),
            prepared: ZoneStore::new(1, self.greatest).prepared(),
            digester: self.digester.clone(),
        }
    }

    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let stores = self.stores.iter().flatten().map(|store| store.bytes());
        stores.sum::<usize>()
            + self.classes.bytes()
            + self.records.capacity() * std::mem::size_of::<Record>()
            + self.free.capacity() * 4
    }

    /// Stores a zone; returns its number.
    pub(crate) fn put(&mut self, zone: &PreparedFolded) -> u32 {
        let (dim, greatest) = (zone.folded.zone.dim(), self.greatest);
        if self.stores.len() <= dim {
            self.stores.resize(dim + 1, None);
        }
        let store = self.stores[dim].get_or_insert_with(|| Box::new(ZoneStore::new(dim, greatest)));
        let record = Record {
            classes: self.classes.insert(&zone.folded.starts),
            dim: dim as u32,
            zone: store.put(&zone.prepared),
        };
        if let Some(free) = self.free.pop() {
            self.records[free as usize] = record;
            return free;
        }
        make_room(&mut self.records, 1);
        self.records.push(record);
        self.records.len() as u32 - 1
    }

    /// Removes a zone.
    pub(crate) fn release(&mut self, id: u32) {
        let Record { dim, zone, .. } = self.records[id as usize];
        if let Some(store) = &mut self.stores[dim as usize] {
            store.release(zone);
        }
        self.free.push(id);
    }

    /// The relation between a prepared zone and a stored one.
    #[inline]
    pub(crate) fn relation(&mut self, zone: &PreparedFolded, id: u32) -> Relation {
        let record = self.records[id as usize];
        if self.classes.get(record.classes) == zone.folded.starts
            && let Some(store) = &self.stores[record.dim as usize]
        {
            return store.relation(&zone.prepared, record.zone);
        }
        let mut stored = std::mem::replace(&mut self.scratch, Folded::empty());
        self.get(id, &mut stored);
        let relation = self.layout.relation(&zone.folded, &stored);
        self.scratch = stored;
        relation
    }

    /// Restores a zone.
    pub(crate) fn get(&self, id: u32, out: &mut Folded) {
        let record = self.records[id as usize];
        out.starts.clear();
        out.starts
            .extend_from_slice(self.classes.get(record.classes));
        if let Some(store) = &self.stores[record.dim as usize] {
            store.get(record.zone, &mut out.zone);
        }
    }

    /// The digest of a stored zone.
    pub(crate) fn digest(&self, id: u32) -> Digest {
        let mut stored = Folded::empty();
        self.get(id, &mut stored);
        self.digester.digest(&stored)
    }
}

/// Computes digests of folded zones. A lane is a sum of the greatest and least bounds between
/// clocks of some kinds, which do not depend on the classes and do not become greater in a zone
/// that lies inside.
#[derive(Clone, Debug)]
struct FoldedDigester {
    layout: Arc<Layout>,
    kinds: usize,
    reach: Bound,
    shift: u32,
}

impl FoldedDigester {
    fn new(layout: Arc<Layout>, greatest: i32) -> FoldedDigester {
        let kinds = layout.kinds.iter().max().map_or(1, |k| *k as usize + 1);
        let reach = 2 * greatest.clamp(1, 1 << 24) + 2;
        let most = (2 * kinds * kinds * 2).div_ceil(LANES) as i64;
        let span = (2 * most * i64::from(reach)) as u64;
        FoldedDigester {
            layout,
            kinds,
            reach,
            shift: (64 - span.leading_zeros()).saturating_sub(15),
        }
    }

    fn digest(&self, folded: &Folded) -> Digest {
        let (layout, kinds) = (&*self.layout, self.kinds);
        let mut spots: Vec<Spot> = Vec::new();
        layout.spots(&folded.starts, layout.firsts(&folded.starts), &mut spots);
        let own = layout.firsts(&folded.starts);
        let own = own.flat_map(|e| &layout.clocks[e as usize]);
        let clocks = layout.common.iter().chain(own);
        let kind: smallvec::SmallVec<[u32; 32]> =
            clocks.map(|x| layout.kinds[*x as usize]).collect();
        // The least and greatest bound by kinds, between clocks of one element and of two.
        let none = (self.reach + 1, -self.reach - 1);
        let mut range: smallvec::SmallVec<[(Bound, Bound); 64]> =
            smallvec::smallvec![none; 2 * kinds * kinds];
        let rows = folded.zone.raw().chunks_exact(folded.zone.dim());
        for ((row, x), from) in rows.zip(&spots).zip(&kind) {
            for ((bound, y), to) in row.iter().zip(&spots).zip(&kind) {
                let apart = usize::from(x.element != y.element);
                let range = &mut range[(*from as usize * kinds + *to as usize) * 2 + apart];
                let bound = (*bound).clamp(-self.reach, self.reach);
                *range = (range.0.min(bound), range.1.max(bound));
            }
        }
        let mut sums = [0i64; LANES];
        for (k, (least, most)) in range.into_iter().enumerate() {
            if least <= most {
                sums[2 * k % LANES] += i64::from(least + self.reach);
                sums[(2 * k + 1) % LANES] += i64::from(most + self.reach);
            }
        }
        sums.map(|sum| (sum as u64 >> self.shift) as i16)
    }
}
