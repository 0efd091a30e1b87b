//! A small graph that covers all runs inside a condition, for proofs that no run continues for
//! ever.
//!
//! A node is a discrete state with the exact zone of the clocks that are kept together; for the
//! other clocks it has the hull of all zones met with it. Hulls only add points, and so runs. If
//! the graph has no state where a run could end or wait for ever, and no infinite path that is
//! possible in real time (`progress.rs`), then no run stays inside the condition.

use crate::bounds::coupling::Coupling;
use crate::graph::Plain;
use crate::program::{ClockOp, Fault};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::liveness::{Arrival, Liveness};
use crate::search::progress::{Arc, Suspect, is_bounded, no_infinite_run};
use crate::zone::{Federation, Zone};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// After this many joins, a node also drops the differences between the other clocks.
const MOST_JOINS: u32 = 4;

/// Why the graph could not be finished.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unfinished {
    /// The watch stopped it.
    Stopped(Stop),
    /// A fault in a state that may be unreachable.
    Fault(Fault),
}

impl From<Fault> for Unfinished {
    fn from(fault: Fault) -> Unfinished {
        Unfinished::Fault(fault)
    }
}

/// Which zones share a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Zones that are equal on the clocks kept together.
    Equal,
    /// Zones that, on these clocks, are inside the zone of the node when they are met, with the
    /// same clocks set since the start. This makes the graph smaller, but adds cycles that shrink
    /// from round to round and so need not exist. Zones at the start of runs are wide; a clock that
    /// was set since then is known more precisely, and zones where it was not set must not absorb
    /// those where it was.
    Inside,
}

/// The graph.
pub(crate) struct Wide<'p> {
    live: Liveness<'p, Plain<'p>>,
    coupling: Coupling,
    sharing: Sharing,
    near: Vec<usize>,
    index: FxHashMap<Box<[i32]>, u32>,
    key: Vec<i32>,
    /// The discrete states by number, with the nodes of each if zones are compared by inclusion.
    discrete: Vec<(Box<[i32]>, Vec<u32>)>,
    /// The nodes by discrete state and bounds of near clocks, if zones must be equal.
    equal: FxHashMap<Box<[i32]>, u32>,
    nodes: Vec<Node>,
    /// The zone of each node.
    pub zones: Vec<Zone>,
    queue: VecDeque<u32>,
    arcs: Vec<Vec<Arc>>,
    explored: u64,
    transitions: u64,
    bytes: u64,
}

struct Node {
    /// The number of its discrete state.
    state: u32,
    /// The near clocks that were not set since the start, if that matters.
    unset: u64,
    joins: u32,
    waiting: bool,
}

impl<'p> Wide<'p> {
    /// Creates an empty graph of the states that `live` searches; the clocks that `coupling` keeps
    /// together stay exact.
    pub(crate) fn new(
        live: Liveness<'p, Plain<'p>>,
        coupling: Coupling,
        sharing: Sharing,
    ) -> Wide<'p> {
        Wide {
            live,
            near: coupling.together(),
            coupling,
            sharing,
            index: FxHashMap::default(),
            key: Vec::new(),
            discrete: Vec::new(),
            equal: FxHashMap::default(),
            nodes: Vec::new(),
            zones: Vec::new(),
            queue: VecDeque::new(),
            arcs: Vec::new(),
            explored: 0,
            transitions: 0,
            bytes: 0,
        }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The discrete state of a node.
    pub(crate) fn state(&self, node: usize) -> &[i32] {
        &self.discrete[self.nodes[node].state as usize].0
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            stored: self.nodes.len() as u64,
            explored: self.explored,
            transitions: self.transitions,
            waiting: self.queue.len() as u64,
            bytes: self.bytes,
        }
    }

    /// Adds the start of runs: zones of a state that satisfy its invariant, before any delay.
    pub(crate) fn start(&mut self, state: &[i32], entries: Federation) -> Result<(), Fault> {
        let mut state = state.to_vec();
        for (_, state, zone) in self.live.settle(0, &mut state, entries)? {
            let unset = match self.sharing {
                Sharing::Equal => 0,
                Sharing::Inside => u64::MAX,
            };
            self.put(&state, &zone, unset);
        }
        Ok(())
    }

    /// Explores all nodes that can be reached.
    pub(crate) fn grow(&mut self, watch: &mut Watch<'_>) -> Result<(), Unfinished> {
        while !self.queue.is_empty() {
            // This comes before the node is taken, so that the graph can continue to grow later.
            if let Some(stop) = watch.check(|| self.counts()) {
                return Err(Unfinished::Stopped(stop));
            }
            let Some(node) = self.queue.pop_front() else {
                break;
            };
            self.nodes[node as usize].waiting = false;
            self.explored += 1;
            self.expand(node)?;
        }
        Ok(())
    }

    /// The targets of the steps of a node, before any delay.
    pub(crate) fn arrivals(&mut self, node: usize) -> Result<Vec<Arrival>, Fault> {
        let mut state = self.state(node).to_vec();
        self.live.arrivals(&mut state, &self.zones[node])
    }

    fn expand(&mut self, node: u32) -> Result<(), Fault> {
        let mut arcs = Vec::new();
        let before = self.nodes[node as usize].unset;
        for mut arrival in self.arrivals(node as usize)? {
            let entries = std::mem::take(&mut arrival.entries);
            let unset = self.unset_after(before, &arrival.ops);
            for (_, next, zone) in self.live.settle(0, &mut arrival.state, entries)? {
                self.transitions += 1;
                let to = self.put(&next, &zone, unset);
                arcs.push(Arc::new(node, to, &arrival.pieces, &arrival.ops));
            }
        }
        let bytes = |arcs: &[Arc]| arcs.iter().map(Arc::bytes).sum::<usize>() as u64;
        let before = std::mem::replace(&mut self.arcs[node as usize], arcs);
        self.bytes += bytes(&self.arcs[node as usize]);
        self.bytes -= bytes(&before);
        Ok(())
    }

    /// The near clocks that are unchanged since the start. Clocks beyond the 64th do not count.
    fn unset_after(&self, mut unset: u64, ops: &[ClockOp]) -> u64 {
        for op in ops {
            let (ClockOp::Set(clock, _) | ClockOp::Copy(clock, _)) = *op;
            let place = self.near.iter().position(|&x| x == clock as usize + 1);
            if let Some(place @ 0..64) = place {
                unset &= !(1 << place);
            }
        }
        unset
    }

    /// The number of a discrete state with the clocks that were not set since the start.
    fn number(&mut self, state: &[i32], unset: u64) -> u32 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.extend_from_slice(state);
        key.extend([unset as i32, (unset >> 32) as i32]);
        let number = match self.index.get(key.as_slice()) {
            Some(&number) => number,
            None => {
                let number = self.discrete.len() as u32;
                self.index.insert(key.as_slice().into(), number);
                self.discrete.push((state.into(), Vec::new()));
                self.bytes += (state.len() * 8 + 112) as u64;
                number
            }
        };
        self.key = key;
        number
    }

    /// The node of a state, widened to contain the zone.
    fn put(&mut self, state: &[i32], zone: &Zone, unset: u64) -> u32 {
        let number = self.number(state, unset);
        let key: Option<Box<[i32]>> = match self.sharing {
            Sharing::Inside => None,
            Sharing::Equal => {
                let rows = self.near.iter();
                let bounds = rows.flat_map(|&i| self.near.iter().map(move |&j| zone.at(i, j)));
                Some(std::iter::once(number as i32).chain(bounds).collect())
            }
        };
        let met = match &key {
            Some(key) => self.equal.get(key).copied(),
            None => self.around(number, zone),
        };
        if let Some(node) = met {
            self.join(node, zone);
            return node;
        }
        let node = self.nodes.len() as u32;
        self.bytes += (zone.raw().len() * 4 + 96) as u64;
        match key {
            Some(key) => {
                self.bytes += (key.len() * 4 + 32) as u64;
                self.equal.insert(key, node);
            }
            None => self.discrete[number as usize].1.push(node),
        }
        self.zones.push(zone.clone());
        self.arcs.push(Vec::new());
        self.nodes.push(Node {
            state: number,
            unset,
            joins: 0,
            waiting: true,
        });
        self.queue.push_back(node);
        node
    }

    /// The newest node of a discrete state whose zone contains the given one on near clocks; the
    /// newest is the most similar.
    fn around(&self, number: u32, zone: &Zone) -> Option<u32> {
        let holds = |node: &&u32| {
            let other = &self.zones[**node as usize];
            let mut rows = self.near.iter();
            rows.all(|&i| self.near.iter().all(|&j| zone.at(i, j) <= other.at(i, j)))
        };
        let nodes = &self.discrete[number as usize].1;
        nodes.iter().rev().find(holds).copied()
    }

    fn join(&mut self, id: u32, zone: &Zone) {
        let (node, joined) = (&mut self.nodes[id as usize], &mut self.zones[id as usize]);
        if joined.includes(zone) {
            return;
        }
        joined.hull(zone);
        node.joins += 1;
        if node.joins > MOST_JOINS {
            self.coupling.loosen(joined);
        }
        if !std::mem::replace(&mut node.waiting, true) {
            self.queue.push_back(id);
        }
    }

    /// Shows that no run of the finished graph continues for ever or ends inside the condition, or
    /// returns where one might.
    pub(crate) fn excludes_runs(
        &mut self,
        watch: &mut Watch<'_>,
    ) -> Result<Result<(), Suspect>, Unfinished> {
        let mut ends: Option<Suspect> = None;
        for node in 0..self.len() {
            if let Some(stop) = watch.check(|| self.counts()) {
                return Err(Unfinished::Stopped(stop));
            }
            let mut state = self.state(node).to_vec();
            let zone = &self.zones[node];
            if self.live.ends_here(&mut state, zone)? {
                let bounded = || {
                    (0..zone.dim() - 1)
                        .filter(|&x| is_bounded(zone, x))
                        .collect()
                };
                let ends = ends.get_or_insert_with(|| Suspect {
                    nodes: Vec::new(),
                    clocks: bounded(),
                });
                ends.nodes.push(node as u32);
            }
        }
        if let Some(ends) = ends {
            return Ok(Err(ends));
        }
        let arcs = self.arcs.iter().flatten().collect();
        no_infinite_run(&self.zones, arcs, || watch.is_over()).map_err(Unfinished::Stopped)
    }

    /// The nodes to which the steps of each node lead.
    pub(crate) fn targets(&self) -> Vec<Vec<u32>> {
        let targets = |arcs: &Vec<Arc>| arcs.iter().map(|arc| arc.to).collect();
        self.arcs.iter().map(targets).collect()
    }

    /// The distance of each discrete state of the finished graph from the given nodes.
    pub(crate) fn guide_to(&self, nodes: &[u32]) -> Guide {
        let mut back = vec![Vec::new(); self.len()];
        for arc in self.arcs.iter().flatten() {
            back[arc.to as usize].push(arc.from);
        }
        let mut distances: FxHashMap<Box<[i32]>, u32> = FxHashMap::default();
        let mut seen = vec![false; self.len()];
        let mut queue = VecDeque::new();
        for &node in nodes {
            if !std::mem::replace(&mut seen[node as usize], true) {
                queue.push_back((node, 0));
            }
        }
        while let Some((node, distance)) = queue.pop_front() {
            // The first one is the nearest.
            let state = self.state(node as usize);
            if !distances.contains_key(state) {
                distances.insert(state.into(), distance);
            }
            for &before in &back[node as usize] {
                if !std::mem::replace(&mut seen[before as usize], true) {
                    queue.push_back((before, distance + 1));
                }
            }
        }
        Guide { distances }
    }
}

/// The number of remaining steps to a place where a run might stay, by discrete state.
pub(crate) struct Guide {
    distances: FxHashMap<Box<[i32]>, u32>,
}

impl Guide {
    /// The number of steps from a discrete state; `None` if no path is known.
    pub(crate) fn distance(&self, state: &[i32]) -> Option<u32> {
        self.distances.get(state).copied()
    }
}
