//! Stored states: one table keyed by the discrete part, with a union of zones per entry.
//!
//! `put` compares a new zone with those of its entry in both directions in one pass: it is dropped
//! if a stored one covers it, and the stored ones that it covers are removed, waiting ones
//! included. When a state is covered, its node stays as a record for traces; its zone is removed,
//! unless paths are built from states.

use crate::bounds::abstraction::{Abstraction, relation_of_views, view_up_to_lu};
use crate::mutation::{Mutation, is_on};
use crate::store::digest::Digester;
use crate::store::entry::{Entry, Sought};
use crate::store::folds::{FoldedStore, PreparedFolded};
use crate::store::keys::{Keys, Packer};
use crate::store::packing::{Packing, make_room};
use crate::store::prepared::Prepared;
use crate::store::zones::{ZoneId, ZoneStore};
use crate::zone::{Bound, Folded, Layout, Relation, Shape, Zone};
use std::sync::Arc;

/// The number of nodes after which [`Table::gives_up_simulation`] decides; small in tests, where
/// most state spaces are.
const TRIAL: usize = if cfg!(test) { 24 } else { 2_000 };

/// No node or entry.
pub(crate) const NIL: u32 = u32::MAX;

/// The origin of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The node whose successor it is; [`NIL`] for the initial state.
    pub parent: u32,
    /// The index of the step among those of the parent.
    pub step: u32,
    /// The number of steps from the initial state.
    pub depth: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: u32,
    zone: ZoneId,
    parent: u32,
    step: u32,
    /// Four times the depth plus the status.
    depth_and_status: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Passed,
    Covered,
}

impl Node {
    fn status(&self) -> Status {
        match self.depth_and_status & 3 {
            0 => Status::Waiting,
            1 => Status::Passed,
            _ => Status::Covered,
        }
    }

    fn set_status(&mut self, status: Status) {
        self.depth_and_status = self.depth_and_status & !3 | status as u32;
    }

    fn depth(&self) -> u32 {
        self.depth_and_status >> 2
    }
}

/// How a new zone and a stored one are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covering {
    /// By inclusion.
    Inclusion,
    /// By equality: only equal states are dropped. Tests count the states of a quotient with it.
    #[cfg(test)]
    Equality,
    /// Each entry has one zone, the convex hull of all.
    Hull,
}

/// A state that is about to be stored, in the forms that are looked up and compared. It is computed
/// without access to a table.
#[derive(Debug)]
pub(crate) struct Incoming {
    packer: Packer,
    /// The zone, if the table stores whole zones.
    prepared: Prepared,
    /// The zone, if the table stores folded zones.
    folded: PreparedFolded,
    folds: bool,
    digester: Digester,
    sought: Sought,
    /// See [`Abstraction::frees_inactive`].
    frees_inactive: bool,
    /// Whether zones are compared up to `a≼LU`, and the matrix that is compared then.
    alu: bool,
    view: Vec<Bound>,
}

/// The zones of a table: all of them whole, or all of them folded.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one per table.
enum Zones {
    Whole(ZoneStore),
    Folded(FoldedStore),
}

impl Zones {
    fn bytes(&self) -> usize {
        match self {
            Zones::Whole(zones) => zones.bytes(),
            Zones::Folded(zones) => zones.bytes(),
        }
    }

    #[inline]
    fn put(&mut self, new: &Incoming) -> ZoneId {
        match self {
            Zones::Whole(zones) => zones.put(&new.prepared),
            Zones::Folded(zones) => zones.put(&new.folded),
        }
    }

    #[inline]
    fn relation(&mut self, new: &Incoming, id: ZoneId) -> Relation {
        match self {
            Zones::Whole(zones) => zones.relation(&new.prepared, id),
            Zones::Folded(zones) => zones.relation(&new.folded, id),
        }
    }

    fn release(&mut self, id: ZoneId) {
        match self {
            Zones::Whole(zones) => zones.release(id),
            Zones::Folded(zones) => zones.release(id),
        }
    }

    #[inline]
    fn get(&self, id: ZoneId, out: &mut Zone) {
        match self {
            Zones::Whole(zones) => zones.get(id, out),
            Zones::Folded(zones) => {
                let mut folded = Folded::empty();
                zones.get(id, &mut folded);
                zones.layout().unfold(&folded, out);
            }
        }
    }
}

/// A zone as a table returns it.
#[derive(Debug)]
pub(crate) struct Taken {
    zone: Zone,
    folded: Option<(Folded, Arc<Layout>)>,
}

impl Taken {
    /// A buffer for zones of a dimension, or folded ones.
    pub(crate) fn new(dim: usize, layout: Option<Arc<Layout>>) -> Taken {
        Taken {
            zone: Zone::universe(if layout.is_some() { 1 } else { dim }),
            folded: layout.map(|layout| (Folded::empty(), layout)),
        }
    }

    /// The zone.
    #[inline]
    pub(crate) fn shape(&self) -> Shape<'_> {
        match &self.folded {
            Some((folded, layout)) => Shape::Folded(folded, layout),
            None => Shape::Whole(&self.zone),
        }
    }
}

impl Incoming {
    /// Loads a state; `l` and `u` are the bounds of its discrete part.
    #[inline]
    pub(crate) fn load(&mut self, state: &[i32], zone: Shape<'_>, l: &[i32], u: &[i32]) {
        self.packer.pack(state);
        match zone {
            Shape::Folded(folded, _) if self.folds => self.folded.load(folded),
            Shape::Whole(zone) if self.folds => self.folded.load_whole(zone),
            zone => return self.load_zone(&zone.whole(), l, u),
        }
        self.sought = Sought::new(self.folded.digest());
    }

    #[inline]
    fn load_zone(&mut self, zone: &Zone, l: &[i32], u: &[i32]) {
        if self.frees_inactive {
            self.prepared.load_active(zone, l, u);
        } else {
            self.prepared.load(zone);
        }
        self.sought = Sought::new(if self.alu {
            view_up_to_lu(zone, l, u, &mut self.view);
            self.digester.digest_of(&self.view)
        } else {
            self.digester.digest(zone)
        });
    }

    /// A hash of the discrete part.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        self.packer.hash()
    }
}

/// Stored states.
#[derive(Debug)]
pub(crate) struct Table {
    keys: Keys,
    zones: Zones,
    entries: Vec<Entry>,
    /// The bytes that entries use outside of `entries`.
    entry_bytes: usize,
    nodes: Vec<Node>,
    waiting: u64,
    stored: u64,
    alu: bool,
    /// How often `a≼LU` covered a state that inclusion would have kept.
    simulated: u64,
    frees_inactive: bool,
    covering: Covering,
    keep_shallow: bool,
    keep_covered: bool,
    digester: Digester,
    scratch: Zone,
    view: Vec<Bound>,
}

impl Table {
    /// Creates an empty table for zones of a dimension whose constants rarely exceed `greatest`.
    pub(crate) fn new(
        packing: Packing,
        dim: usize,
        greatest: i32,
        abstraction: Abstraction,
        covering: Covering,
    ) -> Table {
        Table {
            keys: Keys::new(packing),
            zones: Zones::Whole(ZoneStore::new(dim, greatest)),
            entries: Vec::new(),
            entry_bytes: 0,
            nodes: Vec::new(),
            waiting: 0,
            stored: 0,
            alu: abstraction == Abstraction::Alu,
            simulated: 0,
            frees_inactive: abstraction.frees_inactive(),
            covering,
            keep_shallow: false,
            keep_covered: false,
            digester: Digester::new(dim, greatest),
            scratch: Zone::universe(dim),
            view: Vec::new(),
        }
    }

    /// Stores folded zones. Must be called while the table is empty.
    pub(crate) fn fold(&mut self, layout: Arc<Layout>, greatest: i32) {
        self.zones = Zones::Folded(FoldedStore::new(layout, greatest));
    }

    /// A buffer for states to be stored in this table, or in one with the same settings.
    pub(crate) fn incoming(&self) -> Incoming {
        let (prepared, folded, folds) = match &self.zones {
            Zones::Whole(zones) => (zones.prepared(), PreparedFolded::default(), false),
            Zones::Folded(zones) => (ZoneStore::new(1, 0).prepared(), zones.prepared(), true),
        };
        Incoming {
            packer: self.keys.packer(),
            prepared,
            folded,
            folds,
            digester: self.digester,
            sought: Sought::default(),
            frees_inactive: self.frees_inactive,
            alu: self.alu,
            view: Vec::new(),
        }
    }

    /// Keeps waiting states that a deeper one covers, so that breadth-first search finds shortest
    /// paths.
    pub(crate) fn keep_shallow(&mut self) {
        self.keep_shallow = true;
    }

    /// Keeps the zones of covered states, because paths are built from them.
    pub(crate) fn keep_covered(&mut self) {
        self.keep_covered = true;
    }

    /// When a stored state covers another.
    pub(crate) fn covering(&self) -> Covering {
        self.covering
    }

    /// The number of discrete states in the table.
    pub(crate) fn discrete(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The number of states in the table.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    /// The number of states that are not yet explored.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.zones.bytes()
            + self.keys.bytes()
            + self.entries.capacity() * std::mem::size_of::<Entry>()
            + self.entry_bytes
            + self.nodes.capacity() * std::mem::size_of::<Node>()
    }

    /// Stores a state unless it is covered; returns its node. `zone` is the zone that was loaded,
    /// `l` and `u` are the bounds of the discrete part.
    pub(crate) fn put(
        &mut self,
        new: &mut Incoming,
        zone: Shape<'_>,
        origin: Origin,
        l: &[i32],
        u: &[i32],
    ) -> Option<u32> {
        let entry = self.keys.insert(&new.packer);
        if entry as usize == self.entries.len() {
            make_room(&mut self.entries, 1);
            self.entries.push(Entry::default());
        }
        if self.covering == Covering::Hull
            && let Shape::Whole(zone) = zone
        {
            self.join(entry, zone, new, l, u);
        }
        if self.covered(entry, new, origin, (l, u)) {
            return None;
        }
        let id = self.nodes.len() as u32;
        make_room(&mut self.nodes, 1);
        self.nodes.push(Node {
            entry,
            zone: self.zones.put(new),
            parent: origin.parent,
            step: origin.step,
            depth_and_status: origin.depth << 2 | Status::Waiting as u32,
        });
        self.remember(entry, new, id, (l, u));
        self.stored += 1;
        self.waiting += 1;
        Some(id)
    }

    /// The hull that covers the last state, if zones are joined. A zone inside a hull need not lie
    /// in any earlier zone, so code that examines states must examine it too.
    pub(crate) fn joined(&mut self, new: &Incoming) -> Option<u32> {
        if self.covering != Covering::Hull {
            return None;
        }
        let entry = self.keys.insert(&new.packer);
        self.entries.get(entry as usize)?.node(0)
    }

    /// Adds a zone to an entry.
    fn remember(&mut self, entry: u32, new: &Incoming, id: u32, (l, u): (&[i32], &[i32])) {
        let (nodes, zones, digester) = (&self.nodes, &self.zones, &self.digester);
        let (scratch, view, alu) = (&mut self.scratch, &mut self.view, self.alu);
        let entry = &mut self.entries[entry as usize];
        let before = entry.heap_bytes();
        entry.push(&new.sought, id, |node| {
            let zone = nodes[node as usize].zone;
            match zones {
                Zones::Whole(zones) => {
                    zones.get(zone, scratch);
                    if !alu {
                        return digester.digest(scratch);
                    }
                    view_up_to_lu(scratch, l, u, view);
                    digester.digest_of(view)
                }
                Zones::Folded(zones) => zones.digest(zone),
            }
        });
        self.entry_bytes = self.entry_bytes + entry.heap_bytes() - before;
    }

    /// Replaces the new zone by its hull with the one stored in the entry.
    fn join(&mut self, entry: u32, zone: &Zone, new: &mut Incoming, l: &[i32], u: &[i32]) {
        if let Some(node) = self.entries[entry as usize].node(0) {
            self.zones
                .get(self.nodes[node as usize].zone, &mut self.scratch);
            self.scratch.hull(zone);
            new.load_zone(&self.scratch, l, u);
        }
    }

    /// Whether a stored zone covers the new one; removes the zones that the new one covers.
    fn covered(
        &mut self,
        entry: u32,
        new: &Incoming,
        origin: Origin,
        bounds: (&[i32], &[i32]),
    ) -> bool {
        let mut stored = std::mem::take(&mut self.entries[entry as usize]);
        let mut end = stored.len();
        let mut covered = false;
        while end > 0 {
            let Some(at) = stored.candidate(end, &new.sought) else {
                break;
            };
            let Some(id) = stored.node(at) else { break };
            end = at;
            let node = self.nodes[id as usize];
            let relation = self.zones.relation(new, node.zone);
            #[cfg(test)]
            let relation = match (self.covering, relation) {
                (Covering::Equality, Relation::Subset | Relation::Superset) => Relation::Different,
                (_, relation) => relation,
            };
            match relation {
                Relation::Equal | Relation::Subset => covered = true,
                Relation::Superset if is_on(Mutation::CoveredBySmaller) => covered = true,
                _ => match self.up_to_lu(relation, new, node.zone, bounds) {
                    Relation::Equal | Relation::Subset => covered = true,
                    Relation::Superset if !(self.keep_shallow && node.depth() < origin.depth) => {
                        self.remove(id);
                        // The last zone, which was already compared, takes its place.
                        stored.swap_remove(at);
                    }
                    _ => {}
                },
            }
            if covered {
                break;
            }
        }
        self.entries[entry as usize] = stored;
        covered
    }

    /// The relation between a new zone and a stored one up to `a≼LU`, if that is the covering
    /// relation; `plain` is their relation without it.
    fn up_to_lu(
        &mut self,
        plain: Relation,
        new: &Incoming,
        other: ZoneId,
        (l, u): (&[i32], &[i32]),
    ) -> Relation {
        if !self.alu {
            return plain;
        }
        self.zones.get(other, &mut self.scratch);
        view_up_to_lu(&self.scratch, l, u, &mut self.view);
        let relation = relation_of_views(&new.view, &self.view);
        if plain == Relation::Different && relation != plain {
            self.simulated += 1;
        }
        relation
    }

    /// Whether zones are compared up to `a≼LU`.
    #[cfg(test)]
    pub(crate) fn simulates(&self) -> bool {
        self.alu
    }

    /// Compares zones by inclusion from now on if `a≼LU` covered nothing among the first states: in
    /// many models it covers no more than inclusion does, and costs time. States that were covered
    /// before stay so; what they can do, a stored state can. True if the way to compare changed.
    pub(crate) fn gives_up_simulation(&mut self) -> bool {
        if !self.alu || self.simulated > 0 || self.nodes.len() != TRIAL {
            return false;
        }
        self.alu = false;
        let (nodes, zones, digester) = (&self.nodes, &self.zones, &self.digester);
        let scratch = &mut self.scratch;
        let mut digest_of = |node: u32| {
            zones.get(nodes[node as usize].zone, scratch);
            digester.digest(scratch)
        };
        for entry in &mut self.entries {
            let old = std::mem::take(entry);
            for node in (0..old.len()).filter_map(|at| old.node(at)) {
                entry.push(&Sought::new(digest_of(node)), node, &mut digest_of);
            }
        }
        self.entry_bytes = self.entries.iter().map(Entry::heap_bytes).sum();
        true
    }

    /// Removes a covered state; only its origin is kept.
    fn remove(&mut self, id: u32) {
        let node = &mut self.nodes[id as usize];
        if node.status() == Status::Waiting {
            self.waiting -= 1;
        }
        node.set_status(Status::Covered);
        self.stored -= 1;
        if !self.keep_covered {
            self.zones.release(node.zone);
        }
    }

    /// Marks a waiting state as passed; returns false if it no longer waits.
    #[inline]
    pub(crate) fn pass(&mut self, id: u32) -> bool {
        let node = &mut self.nodes[id as usize];
        let waits = node.status() == Status::Waiting;
        if waits {
            node.set_status(Status::Passed);
            self.waiting -= 1;
        }
        waits
    }

    /// Restores the state of a node that is not covered.
    pub(crate) fn get(&self, id: u32, state: &mut Vec<i32>, zone: &mut Zone) {
        let node = &self.nodes[id as usize];
        self.keys.get(node.entry, state);
        self.zones.get(node.zone, zone);
    }

    /// The same, without unfolding the zone.
    pub(crate) fn take(&self, id: u32, state: &mut Vec<i32>, out: &mut Taken) {
        let node = &self.nodes[id as usize];
        self.keys.get(node.entry, state);
        match (&self.zones, &mut out.folded) {
            (Zones::Folded(zones), Some((folded, _))) => zones.get(node.zone, folded),
            (zones, _) => zones.get(node.zone, &mut out.zone),
        }
    }

    /// The nodes whose states are in the table.
    pub(crate) fn kept(&self) -> impl Iterator<Item = u32> {
        let kept = |(_, node): &(usize, &Node)| node.status() != Status::Covered;
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(kept).map(|(id, _)| id as u32)
    }

    /// The nodes of each discrete state that has several zones.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Vec<u32>> {
        let several = self.entries.iter().filter(|entry| entry.len() > 1);
        several.map(|entry| (0..entry.len()).filter_map(|at| entry.node(at)).collect())
    }

    /// The origin of a node.
    #[inline]
    pub(crate) fn origin(&self, id: u32) -> Origin {
        let node = &self.nodes[id as usize];
        Origin {
            parent: node.parent,
            step: node.step,
            depth: node.depth(),
        }
    }
}
