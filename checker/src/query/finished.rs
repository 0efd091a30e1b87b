//! What a liveness search knows of the states it has met: those on its stack, and those that no witness starts from.

use crate::explore::digest::Digester;
use crate::explore::entry::{Entry, Sought};
use crate::explore::keys::Keys;
use crate::explore::storage::{Packing, Prepared, ZoneId, ZoneStore};
use crate::mutation::{Mutation, is_on};
use crate::zone::{Relation, Zone};

/// States met, each discrete state and each zone kept once.
pub struct Known {
    keys: Keys,
    zones: ZoneStore,
    digester: Digester,
    prepared: Prepared,
    entries: Vec<State>,
    slots: i64,
    block_bytes: usize,
}

/// The zones met with one discrete state.
#[derive(Default)]
struct State {
    finished: Entry,
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
            keys: Keys::new(packing),
            zones: ZoneStore::new(dim, true),
            digester: Digester::new(dim, greatest),
            prepared: Prepared::default(),
            entries: Vec::new(),
            slots: 0,
            block_bytes: 0,
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        let entries = self.entries.capacity() * std::mem::size_of::<State>();
        let slots = self.slots.max(0) as usize * Entry::BYTES_PER_ZONE;
        (self.zones.bytes() + self.keys.bytes() + entries + slots + self.block_bytes) as u64
    }

    fn entry(&mut self, state: &[i32]) -> usize {
        let entry = self.keys.insert(state) as usize;
        if entry == self.entries.len() {
            self.entries.push(State::default());
        }
        entry
    }

    /// Looks a state up; the zone of one that is not finished is kept.
    pub fn meet(&mut self, state: &[i32], zone: &Zone) -> Met {
        let entry = self.entry(state);
        self.prepared.load(zone);
        let sought = Sought::new(self.digester.digest(&self.prepared));
        let (zones, prepared) = (&mut self.zones, &self.prepared);
        let entry = &self.entries[entry];
        let inside = |relation| matches!(relation, Relation::Equal | Relation::Subset);
        let mut at = 0;
        while let Some(candidate) = entry.finished.candidate(at, &sought) {
            let other = entry.finished.node(candidate);
            if other.is_some_and(|id| inside(zones.relation(prepared, id))) {
                return Met::Finished;
            }
            at = candidate + 1;
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
        let entry = self.entry(state);
        self.entries[entry].on_stack.push(zone);
    }

    /// A state leaves the stack: no witness starts from it, nor from what it covers.
    pub fn finish(&mut self, state: &[i32], zone: &Zone, id: ZoneId) {
        let entry = self.entry(state);
        self.prepared.load(zone);
        let sought = Sought::new(self.digester.digest(&self.prepared));
        let (zones, prepared, digester) = (&self.zones, &self.prepared, &self.digester);
        let State { finished, on_stack } = &mut self.entries[entry];
        if let Some(at) = on_stack.iter().rposition(|other| *other == id) {
            on_stack.swap_remove(at);
        }
        let mut at = 0;
        while let Some(candidate) = finished.candidate(at, &sought) {
            let relation = finished
                .node(candidate)
                .map(|id| zones.relation(prepared, id));
            if matches!(relation, Some(Relation::Equal | Relation::Superset)) {
                finished.swap_remove(candidate);
                self.slots -= 1;
                at = candidate;
            } else {
                at = candidate + 1;
            }
        }
        let before = finished.block_bytes();
        finished.push(&sought, id, |id| {
            let mut prepared = Prepared::default();
            zones.copy_out(id, &mut prepared);
            digester.digest(&prepared)
        });
        self.slots += 1;
        self.block_bytes += finished.block_bytes() - before;
    }
}
