//! The unified passed and waiting list: one table keyed by the discrete part, a union of zones per entry.
//!
//! `put` compares a new zone with those of its entry in both directions in one pass: it is dropped if a stored one covers
//! it, and stored ones it covers are removed, waiting ones included. The waiting queue holds references only. A node
//! stays as trace record when its state is covered.

use super::abstraction::{Abstraction, included_up_to_lu};
use super::digest::Digester;
use super::entry::{Entry, Sought};
use super::keys::Keys;
use super::storage::{Packing, Prepared, ZoneId, ZoneStore, make_room};
use crate::mutation::{Mutation, is_on};
use crate::rng::Rng;
use crate::zone::{Relation, Zone};
use std::collections::VecDeque;
use zonelens_analysis::report::SearchOrder;

/// No node, no entry.
pub const NIL: u32 = u32::MAX;

/// Where a state came from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The node it is a successor of; [`NIL`] for the initial state.
    pub parent: u32,
    /// Position of the step among the parent's steps.
    pub step: u32,
    /// Number of steps from the initial state.
    pub depth: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: u32,
    zone: ZoneId,
    parent: u32,
    step: u32,
    depth: u32,
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Passed,
    Covered,
}

/// How a new zone and a stored one are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covering {
    /// By inclusion.
    Inclusion,
    /// By equality: nothing but an equal state is dropped.
    Equality,
    /// One zone per entry, the convex hull of all.
    Hull,
}

/// Stored and waiting states.
#[derive(Debug)]
pub struct PassedWaiting {
    keys: Keys,
    zones: ZoneStore,
    entries: Vec<Entry>,
    block_bytes: usize,
    nodes: Vec<Node>,
    queue: Queue,
    waiting: u64,
    stored: u64,
    alu: bool,
    covering: Covering,
    keep_shallow: bool,
    prepared: Prepared,
    digester: Digester,
    hull: Zone,
}

#[derive(Debug)]
enum Queue {
    First(VecDeque<u32>),
    Last(Vec<u32>),
    Random(Vec<u32>, Rng),
}

impl PassedWaiting {
    /// An empty list for zones of a dimension whose constants seldom exceed `greatest`.
    pub fn new(
        packing: Packing,
        dim: usize,
        greatest: i32,
        abstraction: Abstraction,
        covering: Covering,
        order: SearchOrder,
        seed: u64,
    ) -> PassedWaiting {
        PassedWaiting {
            keys: Keys::new(packing),
            zones: ZoneStore::new(dim, true),
            entries: Vec::new(),
            block_bytes: 0,
            nodes: Vec::new(),
            queue: match order {
                SearchOrder::Bfs => Queue::First(VecDeque::new()),
                SearchOrder::Dfs => Queue::Last(Vec::new()),
                SearchOrder::Random => Queue::Random(Vec::new(), Rng::new(seed)),
            },
            waiting: 0,
            stored: 0,
            alu: abstraction == Abstraction::Alu,
            covering,
            keep_shallow: false,
            prepared: Prepared::default(),
            digester: Digester::new(dim, greatest),
            hull: Zone::universe(dim),
        }
    }

    /// Keeps waiting states that a deeper one covers, so that breadth first search finds shortest paths.
    pub fn keep_shallow(&mut self) {
        self.keep_shallow = true;
    }

    /// States in the table.
    pub fn stored(&self) -> u64 {
        self.stored
    }

    /// States not yet explored.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let queue = match &self.queue {
            Queue::First(q) => q.capacity(),
            Queue::Last(q) | Queue::Random(q, _) => q.capacity(),
        };
        self.zones.bytes()
            + self.keys.bytes()
            + self.entries.capacity() * std::mem::size_of::<Entry>()
            + self.block_bytes
            + self.stored as usize * Entry::BYTES_PER_ZONE
            + queue * 4
            + self.nodes.capacity() * std::mem::size_of::<Node>()
    }

    /// Stores a state unless it is covered; gives its node. `l` and `u` are the bounds of its discrete part.
    pub fn put(
        &mut self,
        state: &[i32],
        zone: &Zone,
        origin: Origin,
        l: &[i32],
        u: &[i32],
    ) -> Option<u32> {
        let entry = self.keys.insert(state);
        if entry as usize == self.entries.len() {
            make_room(&mut self.entries, 1);
            self.entries.push(Entry::default());
        }
        self.prepared.load(zone);
        if self.covering == Covering::Hull {
            self.join(entry, zone);
        }
        let sought = Sought::new(self.digester.digest(&self.prepared));
        if self.covered(entry, &sought, origin, l, u) {
            return None;
        }
        let id = self.nodes.len() as u32;
        make_room(&mut self.nodes, 1);
        self.nodes.push(Node {
            entry,
            zone: self.zones.put(&self.prepared),
            parent: origin.parent,
            step: origin.step,
            depth: origin.depth,
            status: Status::Waiting,
        });
        self.remember(entry, &sought, id);
        self.stored += 1;
        self.waiting += 1;
        match &mut self.queue {
            Queue::First(q) => q.push_back(id),
            Queue::Last(q) | Queue::Random(q, _) => q.push(id),
        }
        Some(id)
    }

    /// Adds a zone to an entry.
    fn remember(&mut self, entry: u32, sought: &Sought, id: u32) {
        let (nodes, zones, digester) = (&self.nodes, &self.zones, &self.digester);
        let entry = &mut self.entries[entry as usize];
        let before = entry.block_bytes();
        entry.push(sought, id, |node| {
            let mut prepared = Prepared::default();
            zones.copy_out(nodes[node as usize].zone, &mut prepared);
            digester.digest(&prepared)
        });
        self.block_bytes += entry.block_bytes() - before;
    }

    /// Replaces the prepared zone by its hull with the one stored in the entry.
    fn join(&mut self, entry: u32, zone: &Zone) {
        if let Some(node) = self.entries[entry as usize].node(0) {
            let mut hull = std::mem::replace(&mut self.hull, Zone::universe(1));
            self.zones.get(self.nodes[node as usize].zone, &mut hull);
            hull.hull(zone);
            self.prepared.load(&hull);
            self.hull = hull;
        }
    }

    /// Whether a stored zone covers the prepared one; removes what the prepared one covers.
    fn covered(
        &mut self,
        entry: u32,
        sought: &Sought,
        origin: Origin,
        l: &[i32],
        u: &[i32],
    ) -> bool {
        let dim = l.len();
        let mut stored = std::mem::take(&mut self.entries[entry as usize]);
        let mut at = 0;
        let mut covered = false;
        loop {
            if !self.alu {
                match stored.candidate(at, sought) {
                    Some(candidate) => at = candidate,
                    None => break,
                }
            }
            let Some(id) = stored.node(at) else { break };
            let node = self.nodes[id as usize];
            let mut relation = self.zones.relation(&self.prepared, node.zone);
            if self.covering == Covering::Equality && relation != Relation::Equal {
                relation = Relation::Different;
            }
            let (zones, prepared) = (&self.zones, &self.prepared);
            let simulated = || {
                included_up_to_lu(
                    |i, j| prepared.bound(dim, i, j),
                    |i, j| zones.bound(node.zone, i, j),
                    l,
                    u,
                )
            };
            match relation {
                Relation::Equal | Relation::Subset => covered = true,
                Relation::Superset if is_on(Mutation::CoveredBySmaller) => covered = true,
                _ if self.alu && simulated() => covered = true,
                Relation::Superset if !(self.keep_shallow && node.depth < origin.depth) => {
                    if node.status == Status::Waiting {
                        self.waiting -= 1;
                    }
                    self.nodes[id as usize].status = Status::Covered;
                    self.stored -= 1;
                    stored.swap_remove(at);
                    continue;
                }
                _ => at += 1,
            }
            if covered {
                break;
            }
        }
        self.entries[entry as usize] = stored;
        covered
    }

    /// Takes a waiting state.
    pub fn take(&mut self) -> Option<u32> {
        loop {
            let id = match &mut self.queue {
                Queue::First(q) => q.pop_front()?,
                Queue::Last(q) => q.pop()?,
                Queue::Random(q, rng) => {
                    // Random depth first: one of the youngest.
                    let young = q.len().min(8);
                    let pick = q.len().checked_sub(1 + rng.below(young))?;
                    q.swap_remove(pick)
                }
            };
            let node = &mut self.nodes[id as usize];
            if node.status == Status::Waiting {
                node.status = Status::Passed;
                self.waiting -= 1;
                return Some(id);
            }
        }
    }

    /// Restores the state of a node.
    pub fn get(&self, id: u32, state: &mut Vec<i32>, zone: &mut Zone) {
        let node = &self.nodes[id as usize];
        self.keys.get(node.entry, state);
        self.zones.get(node.zone, zone);
    }

    /// The nodes whose states are in the table.
    pub fn kept(&self) -> impl Iterator<Item = u32> {
        let kept = |(_, node): &(usize, &Node)| node.status != Status::Covered;
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(kept).map(|(id, _)| id as u32)
    }

    /// Where a node came from.
    pub fn origin(&self, id: u32) -> Origin {
        let node = &self.nodes[id as usize];
        Origin {
            parent: node.parent,
            step: node.step,
            depth: node.depth,
        }
    }

    /// The steps that lead to a node, from the initial state on.
    pub fn path(&self, id: u32) -> Vec<u32> {
        let mut steps = Vec::new();
        let mut at = id;
        while self.nodes[at as usize].parent != NIL {
            steps.push(self.nodes[at as usize].step);
            at = self.nodes[at as usize].parent;
        }
        steps.reverse();
        steps
    }
}
