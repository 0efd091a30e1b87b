//! Stored zones, each kept once and only as long as a state needs it (Behrmann, David, Larsen, Yi:
//! *Unification & sharing in timed automata verification*, 2003).
//!
//! A record contains the bounds between the clocks that the zone constrains, without the diagonal,
//! in 8 or 16 bits if the constants of the model allow it. A clock that is not tested before it is
//! set is free and takes no space. Which clocks are free mostly follows from the locations, so the
//! zones of one discrete state can be compared word by word.

use crate::store::packing::{hash_words, hash_words_from, make_room};
use crate::store::prepared::{Form, Prepared, REFERENCES, clocks_of};
use crate::zone::bound::{INF, LE_ZERO};
use crate::zone::{Relation, Zone};
use hashbrown::HashTable;

/// The handle of a stored zone: the position of its record.
pub(crate) type ZoneId = u32;

/// No record.
const NONE: u32 = u32::MAX;

/// Zones of one dimension, each stored once.
#[derive(Clone, Debug)]
pub(crate) struct ZoneStore {
    dim: usize,
    /// The form of zones whose bounds fit.
    form: Form,
    header: usize,
    words: Vec<u64>,
    /// The first free record of each length; the first word of a free record is the position of the
    /// next one.
    free: Vec<u32>,
    table: HashTable<ZoneId>,
}

impl ZoneStore {
    /// Creates a store for zones of this dimension whose constants rarely exceed `greatest`.
    pub(crate) fn new(dim: usize, greatest: i32) -> ZoneStore {
        ZoneStore {
            dim,
            form: Form::for_constants(greatest),
            header: Prepared::header_words(dim),
            words: Vec::new(),
            free: Vec::new(),
            table: HashTable::new(),
        }
    }

    /// A buffer for zones to be stored here.
    pub(crate) fn prepared(&self) -> Prepared {
        Prepared::new(self.dim, self.form)
    }

    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * 8 + self.table.allocation_size() + self.free.capacity() * 4
    }

    fn form_at(&self, id: ZoneId) -> Form {
        match Prepared::is_wide_header(self.words[id as usize]) {
            true => Form::Wide,
            false => self.form,
        }
    }

    /// The number of words of a record.
    fn len_at(&self, id: ZoneId) -> usize {
        let header = &self.words[id as usize..id as usize + self.header];
        let clocks = clocks_of(header);
        self.header + self.form_at(id).words(clocks * (clocks + 1))
    }

    /// Stores a zone and returns its handle, which counts as one reference.
    pub(crate) fn put(&mut self, zone: &Prepared) -> ZoneId {
        let record = zone.record();
        let hash = hash_words(record);
        if let Some(&id) = self.table.find(hash, |id| self.is_at(record, *id)) {
            let word = &mut self.words[id as usize];
            // A zone with too many references to count is never removed.
            *word += u64::from(*word & REFERENCES != REFERENCES);
            return id;
        }
        let id = self.append(record);
        self.words[id as usize] += 1;
        let mut table = std::mem::take(&mut self.table);
        table.insert_unique(hash, id, |id| self.hash_at(*id));
        self.table = table;
        id
    }

    #[inline]
    fn is_at(&self, record: &[u64], id: ZoneId) -> bool {
        let stored = self.words.get(id as usize..id as usize + record.len());
        stored.is_some_and(|s| s[0] & !REFERENCES == record[0] && s[1..] == record[1..])
    }

    /// The hash of a record, without its references.
    fn hash_at(&self, id: ZoneId) -> u64 {
        let record = &self.words[id as usize..id as usize + self.len_at(id)];
        hash_words_from(record[0] & !REFERENCES, &record[1..])
    }

    fn append(&mut self, record: &[u64]) -> ZoneId {
        let head = self.free.get_mut(record.len()).filter(|h| **h != NONE);
        if let Some(head) = head {
            let at = *head as usize;
            *head = self.words[at] as u32;
            self.words[at..at + record.len()].copy_from_slice(record);
            return at as ZoneId;
        }
        make_room(&mut self.words, record.len());
        let at = self.words.len();
        // This many words are 32 gigabytes.
        assert!(at < NONE as usize, "the zone store is full");
        self.words.extend_from_slice(record);
        at as ZoneId
    }

    /// Releases one reference; the space of a zone without references is reused.
    pub(crate) fn release(&mut self, id: ZoneId) {
        let first = self.words[id as usize];
        match first & REFERENCES {
            REFERENCES => return,
            1 => {}
            _ => {
                self.words[id as usize] -= 1;
                return;
            }
        }
        let (start, len, hash) = (id as usize, self.len_at(id), self.hash_at(id));
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == id) {
            entry.remove();
        }
        if self.free.len() <= len {
            self.free.resize(len + 1, NONE);
        }
        self.words[start] = u64::from(self.free[len]);
        self.free[len] = id;
    }

    /// The relation between a prepared zone and a stored one.
    #[inline]
    pub(crate) fn relation(&self, zone: &Prepared, id: ZoneId) -> Relation {
        let start = id as usize;
        let record = zone.record();
        let same_clocks = self.words[start] & !REFERENCES == record[0]
            && self.words[start + 1..start + self.header] == record[1..self.header];
        if !same_clocks {
            return self.relation_by_bounds(zone, id);
        }
        let stored = &self.words[start + self.header..start + record.len()];
        self.form_at(id).compare(&record[self.header..], stored)
    }

    /// Compares bound by bound: for zones with different free clocks, or with bounds that do not
    /// fit the form.
    #[cold]
    fn relation_by_bounds(&self, zone: &Prepared, id: ZoneId) -> Relation {
        let mut stored = Zone::universe(self.dim);
        self.get(id, &mut stored);
        let mut own = Zone::universe(self.dim);
        zone.restore(&mut own);
        own.relation(&stored)
    }

    /// Restores a zone.
    #[inline]
    pub(crate) fn get(&self, id: ZoneId, out: &mut Zone) {
        if out.dim() != self.dim {
            *out = Zone::universe(self.dim);
        }
        let record = &self.words[id as usize..id as usize + self.len_at(id)];
        restore(self.form_at(id), self.header, record, out);
    }
}

/// Restores the zone of a record.
pub(super) fn restore(form: Form, header: usize, record: &[u64], out: &mut Zone) {
    let dim = out.dim();
    let clocks = clocks_of(&record[..header]);
    let data = &record[header..];
    let m = out.raw_mut();
    let bounds = form.unpack(data);
    if clocks + 1 == dim {
        m[0] = LE_ZERO;
        let rows = m[1..].chunks_exact_mut(dim + 1);
        for (row, stored) in rows.zip(bounds.chunks_exact(dim)) {
            row[..dim].copy_from_slice(stored);
            row[dim] = LE_ZERO;
        }
        return;
    }
    let (mut bound, mut free) = (Clocks::new(), Clocks::new());
    bound.push(0);
    for x in 1..dim {
        match Prepared::is_bound(record, x) {
            true => bound.push(x as u32),
            false => free.push(x as u32),
        }
    }
    m.fill(INF);
    m[..dim].fill(LE_ZERO);
    let mut rows = bounds.chunks_exact(clocks.max(1));
    for (k, &i) in bound.iter().enumerate() {
        let row = &mut m[i as usize * dim..(i as usize + 1) * dim];
        let (before, after) = rows.next().unwrap_or_default().split_at(k.min(clocks));
        for (j, b) in bound[..k].iter().zip(before) {
            row[*j as usize] = *b;
        }
        for (j, b) in bound[k + 1..].iter().zip(after) {
            row[*j as usize] = *b;
        }
        if i != 0 {
            // The bounds of a free clock relative to others follow from its being at least zero.
            let upper = row[0];
            free.iter().for_each(|x| row[*x as usize] = upper);
        }
    }
    for i in 0..dim {
        m[i * dim + i] = LE_ZERO;
    }
}

/// Indices of clocks.
type Clocks = smallvec::SmallVec<[u32; 32]>;
