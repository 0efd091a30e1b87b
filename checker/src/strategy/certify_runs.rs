//! Certificates of the answer that no run keeps a condition.
//!
//! The states of a liveness search are recorded in the order in which they were finished: what a
//! state leads to is covered by states that were finished before it, so no path is infinite. In a
//! graph of wide zones, the arcs say which node covers a successor, and `search/progress.rs` gives
//! the proof as a tree. In both cases every step is computed again, without abstraction, and the
//! points at which the condition is not kept are left out.

use super::Run;
use super::certify::{Certificate, Nodes, Stored, key};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::graph::expander::Delay;
use crate::graph::throughout::Throughout;
use crate::graph::{Plain, Successors};
use crate::mutation::{Mutation, is_on};
use crate::program::{Fault, constrain};
use crate::search::liveness::Liveness;
use crate::search::progress::{self, Arc};
use crate::search::wide::Wide;
use crate::zone::{Federation, Zone, subtract_all};
use std::collections::BTreeMap;
use zonelens_certificate::{Action, Header, Key, Shape, Target, Writer};

/// States in the order in which a search finished them.
pub(super) struct Finished(pub Vec<(Vec<i32>, Zone)>);

impl Nodes for Finished {
    fn kept(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(0..self.0.len() as u32)
    }

    fn get(&self, node: u32, state: &mut Vec<i32>, zone: &mut Zone) {
        let (own, points) = &self.0[node as usize];
        state.clone_from(own);
        zone.clone_from(points);
    }
}

impl Nodes for Wide<'_> {
    fn kept(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(0..self.len() as u32)
    }

    fn get(&self, node: u32, state: &mut Vec<i32>, zone: &mut Zone) {
        state.clear();
        state.extend_from_slice(Wide::state(self, node as usize));
        zone.clone_from(&self.zones[node as usize]);
    }
}

/// The states of the runs that keep a condition, as a search left them.
pub(super) struct Proof<'s> {
    /// The condition.
    pub condition: Throughout<'s>,
    /// The bounds of the search.
    pub bounds: &'s Bounds,
    /// The states.
    pub states: &'s dyn Nodes,
    /// Whether a node may cover a successor of another.
    pub leads: &'s dyn Fn(u32, u32) -> bool,
    /// All reachable states, and the condition of those where the runs start; `None` if they start
    /// at the initial state.
    pub start: Option<(&'s dyn Nodes, Throughout<'s>)>,
}

impl Run<'_> {
    /// Writes the certificate of a proof, if one is wanted.
    pub(super) fn certify_runs(&self, proof: &Proof<'_>) {
        if let Some(header) = self.wanted_header() {
            self.leave_certificate(written(self, header, proof));
        }
    }
}

fn words(fault: Fault) -> String {
    fault.kind.to_string()
}

fn written(run: &Run<'_>, header: &Header, proof: &Proof<'_>) -> Result<Certificate, String> {
    let mut live = Stored::new(run, proof.states)?;
    let (states, zones) = live.counts();
    let program = run.program;
    // Without abstraction, its delays and steps are exact.
    let graph = Plain::new(program, proof.bounds, Abstraction::None);
    let condition = proof.condition;
    let mut exact = Liveness::new(program, proof.bounds, condition, Abstraction::None, graph);
    let (mut writer, counts) = match proof.start {
        None => {
            let mut writer = Writer::new(header, Shape::new(run.network, states, zones));
            writer.action(&Action::default());
            live.write_states(&mut writer);
            let entry = vec![Zone::point(&program.initial_clocks)];
            let target = starts(&mut live, &mut exact, &program.initial, entry)?;
            writer.start(target.as_ref());
            (writer, (states, zones))
        }
        Some((all, start)) => {
            let mut all = Stored::new(run, all)?;
            let counts = all.counts();
            let mut writer = Writer::new(header, Shape::new(run.network, counts.0, counts.1));
            writer.action(&Action::default());
            all.write_states(&mut writer);
            all.write_records(&mut writer)?;
            writer.counts(states, zones);
            live.write_states(&mut writer);
            let (mut state, mut zone) = (Vec::new(), Zone::universe(program.dim()));
            for node in all.nodes.iter().flatten() {
                all.states.get(*node, &mut state, &mut zone);
                let expander = exact.graph.expander();
                let points = start.part(expander, vec![zone.clone()], true, &mut state);
                let points = condition.part(expander, points.map_err(words)?, true, &mut state);
                let points = points.map_err(words)?;
                let target = starts(&mut live, &mut exact, &state, points)?;
                writer.start(target.as_ref());
                all.within_limits()?;
            }
            (writer, (states + counts.0, zones + counts.1))
        }
    };
    let mut graph = Graph {
        exact,
        first_zone: Vec::new(),
        zones: Vec::new(),
        arcs: Vec::new(),
    };
    graph.records(run, &mut live, proof, &mut writer)?;
    let tree = progress::proof(&graph.zones, &graph.arcs, || live.within_limits().err())?;
    let tree = tree.ok_or("internal: the infinite paths of the proof are not excluded")?;
    writer.tree(&tree);
    Ok(Certificate {
        kind: header.kind,
        bytes: writer.bytes,
        states: counts.0,
        zones: counts.1,
        symmetry: false,
        searched_again: false,
    })
}

/// The zones that cover the runs which start at points of a state; `None` if none starts there.
fn starts<'p>(
    live: &mut Stored<'_>,
    exact: &mut Liveness<'p, Plain<'p>>,
    state: &[i32],
    points: Federation,
) -> Result<Option<Target>, String> {
    let mut state = state.to_vec();
    let settled = exact.settle(0, &mut state, points).map_err(words)?;
    if settled.is_empty() {
        return Ok(None);
    }
    let pieces: Federation = settled.into_iter().map(|(_, _, zone)| zone).collect();
    live.cover(&state, &pieces, &|_| true).map(Some)
}

/// The graph of the certificate: its nodes are zones in the order of the file.
struct Graph<'p> {
    exact: Liveness<'p, Plain<'p>>,
    /// For each discrete state, the number of its first zone.
    first_zone: Vec<usize>,
    zones: Vec<Zone>,
    arcs: Vec<Arc>,
}

/// What one step does from a zone.
struct Taken {
    state: Vec<i32>,
    after: Federation,
    from: Federation,
    ops: Vec<crate::program::ClockOp>,
}

impl Graph<'_> {
    fn records(
        &mut self,
        run: &Run<'_>,
        live: &mut Stored<'_>,
        proof: &Proof<'_>,
        writer: &mut Writer,
    ) -> Result<(), String> {
        let mut zone = Zone::universe(run.program.dim());
        let mut state = Vec::new();
        for nodes in &live.nodes {
            self.first_zone.push(self.zones.len());
            for node in nodes {
                live.states.get(*node, &mut state, &mut zone);
                self.zones.push(zone.clone());
            }
        }
        for number in 0..live.nodes.len() {
            live.within_limits()?;
            live.within_memory(writer)?;
            for at in 0..live.nodes[number].len() {
                let node = live.nodes[number][at];
                live.states.get(node, &mut state, &mut zone);
                let steps = self.steps(&mut state, &zone)?;
                let mut entries: Vec<(Key, Target)> = Vec::new();
                for (key, taken) in steps {
                    let may = |other: u32| (proof.leads)(node, other);
                    let target = live.cover(&taken.state, &taken.after, &may)?;
                    let first = self.first_zone[target.state as usize];
                    for zone in &target.zones {
                        let from = (self.first_zone[number] + at) as u32;
                        let to = (first + *zone as usize) as u32;
                        self.arcs.push(Arc::new(from, to, &taken.from, &taken.ops));
                    }
                    entries.push((key, target));
                }
                writer.record(run.network, &entries);
            }
        }
        Ok(())
    }

    /// The steps of a zone from the points that keep the condition, sorted by their keys.
    fn steps(&mut self, state: &mut [i32], zone: &Zone) -> Result<BTreeMap<Key, Taken>, String> {
        let mut steps: BTreeMap<Key, Taken> = BTreeMap::new();
        let mut invariant = Vec::new();
        let mut inside = zone.clone();
        let expander = self.exact.graph.expander();
        let holds = expander.invariant_constraints(state, &mut invariant);
        if !holds.map_err(words)? || !constrain(&mut inside, &invariant) {
            return Ok(steps);
        }
        let condition = self.exact.condition;
        let expander = self.exact.graph.expander();
        let pieces = condition.part(expander, vec![inside.clone()], true, state);
        let pieces = pieces.map_err(words)?;
        self.leaves(state, &inside, &pieces)?;
        for piece in &pieces {
            let arrivals = self.exact.arrivals(state, piece).map_err(words)?;
            let expander = self.exact.graph.expander();
            let keys: Vec<Key> = arrivals
                .iter()
                .map(|arrival| key(expander.program, expander, arrival.step as usize))
                .collect();
            for (key, mut arrival) in keys.into_iter().zip(arrivals) {
                let entries = std::mem::take(&mut arrival.entries);
                let settled = self.exact.settle(0, &mut arrival.state, entries);
                let settled = settled.map_err(words)?;
                if settled.is_empty() {
                    continue;
                }
                let taken = steps.entry(key).or_insert_with(|| Taken {
                    state: arrival.state,
                    after: Vec::new(),
                    from: Vec::new(),
                    ops: arrival.ops,
                });
                taken
                    .after
                    .extend(settled.into_iter().map(|(_, _, zone)| zone));
                taken.from.extend(arrival.pieces);
            }
        }
        Ok(steps)
    }

    /// Wide zones may contain points of which the search did not ask whether time can pass for ever
    /// from there.
    fn leaves(
        &mut self,
        state: &mut [i32],
        inside: &Zone,
        kept: &Federation,
    ) -> Result<(), String> {
        let condition = self.exact.condition;
        let expander = self.exact.graph.expander();
        if expander.delay_of(state).map_err(words)? != Delay::Free {
            return Ok(());
        }
        let (mut room, mut invariant) = (inside.clone(), Vec::new());
        room.up();
        expander
            .invariant_constraints(state, &mut invariant)
            .map_err(words)?;
        constrain(&mut room, &invariant);
        if !room.unbounded() || is_on(Mutation::NoWaiting) {
            return Ok(());
        }
        let left = condition.part(expander, vec![room], false, state);
        let mut left = left.map_err(words)?;
        left.iter_mut().for_each(Zone::down);
        match subtract_all(kept.clone(), &left).is_empty() {
            true => Ok(()),
            false => Err("wide zones contain points from which time may pass for ever".into()),
        }
    }
}
