//! What a liveness search knows of the states it has met: those on its stack, and those that no witness starts from.

use crate::explore::digest::{Digest, Digester, possible};
use crate::explore::storage::{Packing, Prepared, ZoneId, ZoneStore};
use crate::mutation::{Mutation, is_on};
use crate::zone::{Relation, Zone};
use rustc_hash::FxHashMap;

/// States met, each discrete state and each zone kept once.
pub struct Known {
    packing: Packing,
    zones: ZoneStore,
    digester: Digester,
    prepared: Prepared,
    key: Vec<u64>,
    entries: FxHashMap<Box<[u64]>, Entry>,
    slots: u64,
}

#[derive(Default)]
struct Entry {
    finished: Vec<(Digest, ZoneId)>,
    on_stack: Vec<ZoneId>,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A finished state covers it.
    Finished,
    /// It is on the stack.
    OnStack(ZoneId),
    /// Not met before.
    New(ZoneId),
}

impl Known {
    /// Nothing met yet.
    pub fn new(packing: Packing, dim: usize, greatest: i32) -> Known {
        Known {
            packing,
            zones: ZoneStore::new(dim, true),
            digester: Digester::new(dim, greatest),
            prepared: Prepared::default(),
            key: Vec::new(),
            entries: FxHashMap::default(),
            slots: 0,
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        let entry = self.packing.words * 8 + std::mem::size_of::<(Box<[u64]>, Entry)>();
        let slots = self.slots as usize * std::mem::size_of::<(Digest, ZoneId)>();
        (self.zones.bytes() + self.entries.len() * entry + slots) as u64
    }

    fn load(&mut self, state: &[i32], zone: &Zone) {
        self.packing.pack(state, &mut self.key);
        self.prepared.load(zone);
    }

    /// Looks a state up; the zone of one that is not finished is kept.
    pub fn meet(&mut self, state: &[i32], zone: &Zone) -> Met {
        self.load(state, zone);
        let digest = self.digester.digest(&self.prepared);
        if !self.entries.contains_key(&self.key[..]) {
            self.entries
                .insert(self.key.as_slice().into(), Entry::default());
        }
        let (zones, prepared) = (&mut self.zones, &self.prepared);
        let Some(entry) = self.entries.get(&self.key[..]) else {
            return Met::New(zones.put(prepared));
        };
        let inside = |relation| matches!(relation, Relation::Equal | Relation::Subset);
        let covers = |(other, id): &(Digest, ZoneId)| {
            inside(possible(&digest, other)) && inside(zones.relation(prepared, *id))
        };
        if entry.finished.iter().any(covers) {
            return Met::Finished;
        }
        if is_on(Mutation::CycleByInclusion) {
            let mut stack = entry.on_stack.iter();
            if let Some(around) = stack.find(|id| inside(zones.relation(prepared, **id))) {
                return Met::OnStack(*around);
            }
        }
        let id = zones.put(prepared);
        match entry.on_stack.contains(&id) {
            true => Met::OnStack(id),
            false => Met::New(id),
        }
    }

    /// A state that [`Known::meet`] met goes on the stack.
    pub fn enter(&mut self, state: &[i32], zone: ZoneId) {
        self.packing.pack(state, &mut self.key);
        if let Some(entry) = self.entries.get_mut(&self.key[..]) {
            entry.on_stack.push(zone);
        }
    }

    /// A state leaves the stack: no witness starts from it, nor from what it covers.
    pub fn finish(&mut self, state: &[i32], zone: &Zone, id: ZoneId) {
        self.load(state, zone);
        let digest = self.digester.digest(&self.prepared);
        let (zones, prepared) = (&self.zones, &self.prepared);
        let Some(entry) = self.entries.get_mut(&self.key[..]) else {
            return;
        };
        if let Some(at) = entry.on_stack.iter().rposition(|other| *other == id) {
            entry.on_stack.swap_remove(at);
        }
        let around = |relation| matches!(relation, Relation::Equal | Relation::Superset);
        let before = entry.finished.len() as u64;
        entry.finished.retain(|(other, id)| {
            !(around(possible(&digest, other)) && around(zones.relation(prepared, *id)))
        });
        entry.finished.push((digest, id));
        self.slots = self.slots + entry.finished.len() as u64 - before;
    }
}
