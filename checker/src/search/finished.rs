//! The states that a liveness search has met: those on its stack, and those from which no witness
//! starts.

use crate::mutation::{Mutation, is_on};
use crate::store::digest::Digester;
use crate::store::entry::{Entry, Sought};
use crate::store::keys::Keys;
use crate::store::keys::Packer;
use crate::store::packing::Packing;
use crate::store::prepared::Prepared;
use crate::store::zones::{ZoneId, ZoneStore};
use crate::zone::{Relation, Zone};

/// The states met so far; each discrete state and each zone is kept once.
pub(crate) struct Known {
    keys: Keys,
    packer: Packer,
    zones: ZoneStore,
    digester: Digester,
    prepared: Prepared,
    entries: Vec<State>,
    /// The bytes that entries use outside of `entries`.
    entry_bytes: usize,
}

/// The zones met with one discrete state.
#[derive(Default)]
struct State {
    finished: Entry,
    on_stack: Vec<ZoneId>,
}

/// The result of looking up a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// A finished state covers it.
    Finished,
    /// It is on the stack.
    OnStack(ZoneId),
    /// It was not met before.
    New(ZoneId),
}

impl Known {
    /// Creates an empty collection.
    pub(crate) fn new(packing: Packing, dim: usize, greatest: i32) -> Known {
        let keys = Keys::new(packing);
        let zones = ZoneStore::new(dim, greatest);
        Known {
            packer: keys.packer(),
            keys,
            digester: Digester::new(dim, greatest),
            prepared: zones.prepared(),
            zones,
            entries: Vec::new(),
            entry_bytes: 0,
        }
    }

    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        let entries = self.entries.capacity() * std::mem::size_of::<State>();
        (self.zones.bytes() + self.keys.bytes() + entries + self.entry_bytes) as u64
    }

    fn entry(&mut self, state: &[i32]) -> usize {
        self.packer.pack(state);
        let entry = self.keys.insert(&self.packer) as usize;
        if entry == self.entries.len() {
            self.entries.push(State::default());
        }
        entry
    }

    /// Looks a state up. If it is not finished, its zone is kept.
    pub(crate) fn meet(&mut self, state: &[i32], zone: &Zone) -> Met {
        let entry = self.entry(state);
        self.prepared.load(zone);
        let sought = Sought::new(self.digester.digest(zone));
        let (zones, prepared) = (&mut self.zones, &self.prepared);
        let entry = &self.entries[entry];
        let inside = |relation| matches!(relation, Relation::Equal | Relation::Subset);
        let mut end = entry.finished.len();
        while let Some(candidate) = entry.finished.candidate(end, &sought) {
            let other = entry.finished.node(candidate);
            if other.is_some_and(|id| inside(zones.relation(prepared, id))) {
                return Met::Finished;
            }
            end = candidate;
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

    /// Puts a state that [`Known::meet`] returned on the stack.
    pub(crate) fn enter(&mut self, state: &[i32], zone: ZoneId) {
        let entry = self.entry(state);
        self.entries[entry].on_stack.push(zone);
    }

    /// Removes a state from the stack: no witness starts from it, nor from the states it covers.
    pub(crate) fn finish(&mut self, state: &[i32], zone: &Zone, id: ZoneId) {
        let entry = self.entry(state);
        self.prepared.load(zone);
        let sought = Sought::new(self.digester.digest(zone));
        let (zones, prepared, digester) = (&self.zones, &self.prepared, &self.digester);
        let State { finished, on_stack } = &mut self.entries[entry];
        if let Some(at) = on_stack.iter().rposition(|other| *other == id) {
            on_stack.swap_remove(at);
        }
        let mut end = finished.len();
        while let Some(candidate) = finished.candidate(end, &sought) {
            let relation = finished
                .node(candidate)
                .map(|id| zones.relation(prepared, id));
            if matches!(relation, Some(Relation::Equal | Relation::Superset)) {
                // The last zone, which was already compared, takes its place.
                finished.swap_remove(candidate);
            }
            end = candidate;
        }
        let before = finished.heap_bytes();
        finished.push(&sought, id, |id| {
            let mut zone = zone.clone();
            zones.get(id, &mut zone);
            digester.digest(&zone)
        });
        self.entry_bytes = self.entry_bytes + finished.heap_bytes() - before;
    }
}
