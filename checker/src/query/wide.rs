//! A small graph that covers all runs inside a condition, for proofs that none goes on for ever.
//!
//! A node is a discrete state with the exact zone of the clocks that are kept together; of the other clocks it has the
//! hull of all zones met with it. Hulls add points and so runs, never take one away: if the graph has no state where a
//! run could end or wait for ever, and no infinite path that real time allows (`progress.rs`), no run stays inside.

use super::liveness::Liveness;
use super::progress::{Arc, is_bounded, no_infinite_run};
use crate::explore::coupling::Coupling;
use crate::explore::watch::{Counts, Stop, Watch};
use crate::program::Fault;
use crate::zone::{Bound, Federation, Zone};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// After so many joins a node also forgets how the other clocks stand to each other.
const MOST_JOINS: u32 = 4;

/// Why the graph could not be finished.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfinished {
    /// Stopped by the watch.
    Stopped(Stop),
    /// A state failed; it may not be a real one.
    Fault(Fault),
}

impl From<Fault> for Unfinished {
    fn from(fault: Fault) -> Unfinished {
        Unfinished::Fault(fault)
    }
}

/// The graph.
pub struct Wide<'p> {
    live: Liveness<'p>,
    coupling: Coupling,
    near: Vec<usize>,
    index: FxHashMap<Box<[i32]>, u32>,
    /// The discrete state of each node.
    pub states: Vec<Vec<i32>>,
    /// The zone of each node.
    pub zones: Vec<Zone>,
    joins: Vec<u32>,
    waiting: Vec<bool>,
    queue: VecDeque<u32>,
    arcs: Vec<Vec<Arc>>,
    explored: u64,
    transitions: u64,
    bytes: u64,
}

impl<'p> Wide<'p> {
    /// An empty graph of what `live` searches; clocks kept together stay exact.
    pub fn new(live: Liveness<'p>, coupling: Coupling) -> Wide<'p> {
        Wide {
            live,
            near: coupling.together(),
            coupling,
            index: FxHashMap::default(),
            states: Vec::new(),
            zones: Vec::new(),
            joins: Vec::new(),
            waiting: Vec::new(),
            queue: VecDeque::new(),
            arcs: Vec::new(),
            explored: 0,
            transitions: 0,
            bytes: 0,
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        Counts {
            stored: self.states.len() as u64,
            explored: self.explored,
            transitions: self.transitions,
            waiting: self.queue.len() as u64,
            bytes: self.bytes,
        }
    }

    /// Adds where runs start: zones of a state that satisfy its invariant, before any delay.
    pub fn start(&mut self, state: &[i32], entries: Federation) -> Result<(), Fault> {
        let mut state = state.to_vec();
        for (_, state, zone) in self.live.settle(0, &mut state, entries)? {
            self.put(state, &zone);
        }
        Ok(())
    }

    /// Explores everything that can be reached.
    pub fn grow(&mut self, watch: &mut Watch<'_>) -> Result<(), Unfinished> {
        while let Some(node) = self.queue.pop_front() {
            if let Some(stop) = watch.check(|| self.counts()) {
                return Err(Unfinished::Stopped(stop));
            }
            self.waiting[node as usize] = false;
            self.explored += 1;
            self.expand(node)?;
        }
        Ok(())
    }

    fn expand(&mut self, node: u32) -> Result<(), Fault> {
        let mut state = self.states[node as usize].clone();
        let zone = self.zones[node as usize].clone();
        let mut arcs = Vec::new();
        for mut arrival in self.live.arrivals(&mut state, &zone)? {
            let entries = std::mem::take(&mut arrival.entries);
            for (_, next, zone) in self.live.settle(0, &mut arrival.state, entries)? {
                self.transitions += 1;
                let to = self.put(next, &zone);
                arcs.push(Arc::new(node, to, &arrival.pieces, &arrival.ops));
            }
        }
        let bytes = |arcs: &[Arc]| arcs.iter().map(Arc::bytes).sum::<usize>() as u64;
        let before = std::mem::replace(&mut self.arcs[node as usize], arcs);
        self.bytes += bytes(&self.arcs[node as usize]);
        self.bytes -= bytes(&before);
        Ok(())
    }

    /// The node of a state, widened to hold the zone.
    fn put(&mut self, state: Vec<i32>, zone: &Zone) -> u32 {
        let mut key: Vec<Bound> = state.clone();
        for &i in &self.near {
            key.extend(self.near.iter().map(|&j| zone.at(i, j)));
        }
        let key = key.into_boxed_slice();
        if let Some(&node) = self.index.get(&key) {
            self.join(node, zone);
            return node;
        }
        let node = self.states.len() as u32;
        self.bytes += (key.len() * 4 + state.len() * 4 + zone.raw().len() * 4 + 160) as u64;
        self.index.insert(key, node);
        self.states.push(state);
        self.zones.push(zone.clone());
        self.joins.push(0);
        self.arcs.push(Vec::new());
        self.waiting.push(true);
        self.queue.push_back(node);
        node
    }

    fn join(&mut self, node: u32, zone: &Zone) {
        let n = node as usize;
        if self.zones[n].includes(zone) {
            return;
        }
        self.zones[n].hull(zone);
        self.joins[n] += 1;
        if self.joins[n] > MOST_JOINS {
            self.coupling.loosen(&mut self.zones[n]);
        }
        if !std::mem::replace(&mut self.waiting[n], true) {
            self.queue.push_back(node);
        }
    }

    /// Shows that no run of the finished graph goes on for ever or ends inside the condition. Where that fails, the clocks
    /// are given (from 0) that take part in it.
    pub fn excludes_runs(
        &mut self,
        watch: &mut Watch<'_>,
    ) -> Result<Result<(), Vec<usize>>, Unfinished> {
        for node in 0..self.states.len() {
            if let Some(stop) = watch.check(|| self.counts()) {
                return Err(Unfinished::Stopped(stop));
            }
            let mut state = self.states[node].clone();
            let zone = &self.zones[node];
            if self.live.ends_here(&mut state, zone)? {
                let bounded = (0..zone.dim() - 1).filter(|&x| is_bounded(zone, x));
                return Ok(Err(bounded.collect()));
            }
        }
        let arcs = self.arcs.iter().flatten().collect();
        no_infinite_run(&self.zones, arcs, || watch.is_over()).map_err(Unfinished::Stopped)
    }
}
