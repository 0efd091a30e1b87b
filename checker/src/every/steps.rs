//! The steps of a configuration with some of the elements, and the delays after them.
//!
//! Whatever depends on elements outside may happen and forbids nothing: see the head of
//! `closure.rs`.

use super::condition::{Certain, Conjunction, Reading};
use super::eval::{Choices, ClockOp, Eval, Evaluator, Halt, broken};
use super::state::{OTHER, State};
use crate::mutation::{Mutation, is_on};
use crate::zone::Zone;
use std::collections::BTreeSet;
use zonelens_analysis::every::{
    Footprint, Layout, channels, committed_receivers, of_edge, receivers,
};
use zonelens_analysis::network::{ChannelId, Edge, Expr, LocationKind, Network, Sync};
use zonelens_syntax::ast::Direction;

/// The most combinations of values of the `select` variables of an edge.
const MOST_SELECTED: usize = 1 << 14;

/// The most ways in which the receivers of a broadcast may react.
const MOST_WAYS: usize = 1 << 12;

/// What is known of a network before any step.
pub(crate) struct Rules<'a> {
    pub network: &'a Network,
    pub layout: &'a Layout,
    /// What each edge of each process touches.
    footprints: Vec<Vec<Footprint>>,
    /// Channels that an element may receive on, and may receive on in a committed location.
    receivers: BTreeSet<u32>,
    committed_receivers: BTreeSet<u32>,
    has_urgent: bool,
    /// The index of each clock in zones, counted from 1.
    clock_at: Vec<usize>,
}

/// An edge that may be taken, with values of its `select` variables.
#[derive(Clone, Debug)]
struct Candidate {
    process: usize,
    edge: usize,
    values: Vec<i64>,
    guards: Vec<Conjunction>,
    certain: bool,
    channel: Option<u32>,
    direction: Option<Direction>,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(network: &'a Network, layout: &'a Layout) -> Rules<'a> {
        let of = |p: usize| {
            let edges = network.processes[p].edges.iter();
            edges.map(|e| footprint(network, layout, p, e)).collect()
        };
        let mut rules = Rules {
            network,
            layout,
            footprints: (0..network.processes.len()).map(of).collect(),
            receivers: receivers(network, layout),
            committed_receivers: committed_receivers(network, layout),
            has_urgent: network.channels.iter().any(|c| c.urgent),
            clock_at: vec![0; network.clocks.len()],
        };
        for (k, c) in layout.fixed_clocks.iter().enumerate() {
            rules.clock_at[*c] = 1 + k;
        }
        for (e, own) in layout.clocks.iter().enumerate() {
            for (k, c) in own.iter().enumerate() {
                rules.clock_at[*c] = 1 + layout.fixed_clocks.len() + e * own.len() + k;
            }
        }
        rules
    }

    /// The number of clocks of the fixed part and of each element.
    pub(crate) fn clocks(&self) -> (usize, usize) {
        let own = self.layout.clocks.first().map_or(0, Vec::len);
        (self.layout.fixed_clocks.len(), own)
    }

    /// The dimension of zones with this many members.
    pub(crate) fn dim(&self, members: usize) -> usize {
        let (fixed, own) = self.clocks();
        1 + fixed + members * own
    }

    fn edge(&self, p: usize, e: usize) -> &'a Edge {
        &self.network.processes[p].edges[e]
    }

    /// What a broadcast touches besides its sender: the names that any receiver uses.
    fn heard(&self, channel: u32) -> Footprint {
        let mut out = Footprint::default();
        for (p, process) in self.network.processes.iter().enumerate() {
            for (e, edge) in process.edges.iter().enumerate() {
                let Some(sync) = &edge.sync else { continue };
                let hears = sync.direction == Direction::Receive;
                if hears && channels(&sync.channel).contains(&channel) {
                    // Receivers outside do not count, and those that receive select no element.
                    let names = Footprint {
                        movers: 0,
                        ..self.footprints[p][e].clone()
                    };
                    out = out.with(&names);
                }
            }
        }
        out
    }

    /// The most elements that any step touches.
    pub(crate) fn most_movers(&self) -> u32 {
        let near = |p: &usize| self.layout.process_owner[*p].is_none_or(|e| e < 2);
        let processes: Vec<usize> = (0..self.network.processes.len()).filter(near).collect();
        let mut most = 0;
        for &p in &processes {
            for (e, edge) in self.network.processes[p].edges.iter().enumerate() {
                let own = &self.footprints[p][e];
                // Its guard may fail where it has no partner.
                most = most.max(own.count());
                let sends = |s: &&Sync| s.direction == Direction::Send;
                let Some(sync) = edge.sync.as_ref().filter(sends) else {
                    continue;
                };
                for c in channels(&sync.channel) {
                    if self.network.channels[ChannelId(c)].broadcast {
                        most = most.max(own.with(&self.heard(c)).count());
                        continue;
                    }
                    for &q in processes.iter().filter(|q| **q != p) {
                        for (f, other) in self.network.processes[q].edges.iter().enumerate() {
                            let Some(to) = &other.sync else { continue };
                            let hears = to.direction == Direction::Receive;
                            if hears && channels(&to.channel).contains(&c) {
                                most = most.max(own.with(&self.footprints[q][f]).count());
                            }
                        }
                    }
                }
            }
        }
        most
    }

    fn kind(&self, state: &State, p: usize) -> LocationKind {
        self.network.processes[p].locations[state.locations[p] as usize].kind
    }

    fn present<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        (0..self.network.processes.len()).filter(|p| state.has_process(self.layout, *p))
    }

    /// The edges that processes may take here.
    fn candidates(&self, state: &State, urgent_only: bool) -> Eval<Vec<Candidate>> {
        let mut out = Vec::new();
        let mut evaluator = Evaluator::new(self.network, self.layout, state.clone());
        for p in self.present(state) {
            for (e, edge) in self.network.processes[p].edges.iter().enumerate() {
                if edge.source != state.locations[p] {
                    continue;
                }
                let urgent = || {
                    let sync = edge.sync.as_ref();
                    sync.is_some_and(|s| {
                        channels(&s.channel).any(|c| self.network.channels[ChannelId(c)].urgent)
                    })
                };
                if urgent_only && !urgent() {
                    continue;
                }
                for values in self.selected(edge, state.members)? {
                    evaluator.enter(edge.frame);
                    for (select, v) in edge.selects.iter().zip(&values) {
                        evaluator.bind(select.slot, *v);
                    }
                    let (guards, mut certain) = evaluator.all_guards(edge.guard.as_ref())?;
                    if guards.is_empty() {
                        continue;
                    }
                    certain &= !values.contains(&OTHER);
                    let channel = match &edge.sync {
                        None => None,
                        Some(sync) => match evaluator.channel(&sync.channel) {
                            Ok(c) => Some(c),
                            Err(Halt::Unseen) => continue,
                            Err(other) => return Err(other),
                        },
                    };
                    out.push(Candidate {
                        process: p,
                        edge: e,
                        values,
                        guards,
                        certain,
                        channel,
                        direction: edge.sync.as_ref().map(|s| s.direction),
                    });
                }
            }
        }
        Ok(out)
    }

    /// The values of the `select` variables of an edge. Over the set, they are members or *other*.
    fn selected(&self, edge: &Edge, members: usize) -> Eval<Vec<Vec<i64>>> {
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        for select in &edge.selects {
            let lo = i64::from(select.range.lo);
            let mut values: Vec<i64> = match select.range.scalarset == Some(self.layout.set) {
                true => (lo..lo + members as i64).collect(),
                false => (lo..lo + i64::from(select.range.len)).collect(),
            };
            if select.range.scalarset == Some(self.layout.set)
                && !is_on(Mutation::EverySelectInside)
            {
                values.push(OTHER);
            }
            if all.len().saturating_mul(values.len()) > MOST_SELECTED {
                return broken("the select variables of an edge have too many values");
            }
            let longer = all.iter().flat_map(|one| {
                values
                    .iter()
                    .map(move |v| one.iter().copied().chain([*v]).collect())
            });
            all = longer.collect();
        }
        Ok(all)
    }

    /// Takes every step that touches at least `least` elements, and lets time pass after it.
    pub(crate) fn successors(
        &self,
        state: &State,
        zone: &Zone,
        least: u32,
        emit: &mut dyn FnMut(State, Zone) -> Eval<()>,
    ) -> Eval<()> {
        let candidates = self.candidates(state, false)?;
        let committed = |p: usize| self.kind(state, p) == LocationKind::Committed;
        let some_committed = self.present(state).any(committed);
        let first = |c: &Candidate| !some_committed || committed(c.process);
        for starter in candidates
            .iter()
            .filter(|c| c.direction != Some(Direction::Receive))
        {
            let own = &self.footprints[starter.process][starter.edge];
            let Some(channel) = starter.channel else {
                if first(starter) && own.count() >= least {
                    self.take(state, zone, &[starter], emit)?;
                }
                continue;
            };
            let hears = |c: &&Candidate| {
                c.direction == Some(Direction::Receive)
                    && c.channel == Some(channel)
                    && c.process != starter.process
            };
            if !self.network.channels[ChannelId(channel)].broadcast {
                for receiver in candidates.iter().filter(hears) {
                    let touched = own.with(&self.footprints[receiver.process][receiver.edge]);
                    if (first(starter) || first(receiver)) && touched.count() >= least {
                        self.take(state, zone, &[starter, receiver], emit)?;
                    }
                }
                continue;
            }
            if own.with(&self.heard(channel)).count() < least {
                continue;
            }
            let outside = self.committed_receivers.contains(&channel)
                && !is_on(Mutation::EveryCommittedBlocks);
            for way in self.reactions(&candidates, starter, channel)? {
                if outside || way.iter().any(|c| first(c)) {
                    self.take(state, zone, &way, emit)?;
                }
            }
        }
        Ok(())
    }

    /// The ways in which receivers react to a broadcast. One that certainly can react must; all
    /// others may.
    fn reactions<'c>(
        &self,
        candidates: &'c [Candidate],
        starter: &'c Candidate,
        channel: u32,
    ) -> Eval<Vec<Vec<&'c Candidate>>> {
        let mut ways = vec![vec![starter]];
        let hears = |c: &&Candidate| {
            c.direction == Some(Direction::Receive)
                && c.channel == Some(channel)
                && c.process != starter.process
        };
        let all: Vec<&Candidate> = candidates.iter().filter(hears).collect();
        for own in all.chunk_by(|a, b| a.process == b.process) {
            let obliged = own.iter().any(|c| c.certain);
            let longer = ways.iter().flat_map(|way| {
                let reacts = own
                    .iter()
                    .map(move |c| way.iter().copied().chain([*c]).collect());
                let stays = (!obliged).then(|| way.clone());
                reacts.chain(stays)
            });
            let longer: Vec<Vec<&Candidate>> = longer.collect();
            if longer.len() > MOST_WAYS {
                return broken("a broadcast has too many receivers to follow");
            }
            ways = longer;
        }
        Ok(ways)
    }

    /// Takes one step.
    fn take(
        &self,
        state: &State,
        zone: &Zone,
        parts: &[&Candidate],
        emit: &mut dyn FnMut(State, Zone) -> Eval<()>,
    ) -> Eval<()> {
        let mut sources = vec![zone.clone()];
        for part in parts {
            let mut next = Vec::new();
            for zone in &sources {
                for guard in &part.guards {
                    let mut zone = zone.clone();
                    if self.constrain(&mut zone, guard) {
                        next.push(zone);
                    }
                }
            }
            sources = next;
        }
        if sources.is_empty() {
            return Ok(());
        }
        let mut choices = Choices::default();
        loop {
            let mut evaluator = Evaluator::new(self.network, self.layout, state.clone());
            evaluator.choices = choices;
            let done = self.update(&mut evaluator, parts);
            match done {
                Ok(()) => {
                    for zone in &sources {
                        self.arrive(&evaluator.state, zone.clone(), &evaluator.ops, emit)?;
                    }
                }
                Err(Halt::Unseen) => {}
                Err(other) => return Err(other),
            }
            choices = evaluator.choices;
            if !choices.next()? {
                return Ok(());
            }
        }
    }

    fn update(&self, evaluator: &mut Evaluator<'_>, parts: &[&Candidate]) -> Eval<()> {
        let hook = |evaluator: &mut Evaluator<'_>, list: &[Expr]| {
            evaluator.enter(self.network.update_frame);
            list.iter().try_for_each(|e| evaluator.eval(e).map(drop))
        };
        hook(evaluator, &self.network.before_update)?;
        for part in parts {
            let edge = self.edge(part.process, part.edge);
            evaluator.enter(edge.frame);
            for (select, v) in edge.selects.iter().zip(&part.values) {
                evaluator.bind(select.slot, *v);
            }
            edge.updates
                .iter()
                .try_for_each(|e| evaluator.eval(e).map(drop))?;
        }
        for part in parts {
            let edge = self.edge(part.process, part.edge);
            evaluator.state.locations[part.process] = edge.target;
        }
        hook(evaluator, &self.network.after_update)
    }

    fn arrive(
        &self,
        state: &State,
        mut zone: Zone,
        ops: &[ClockOp],
        emit: &mut dyn FnMut(State, Zone) -> Eval<()>,
    ) -> Eval<()> {
        for op in ops {
            match *op {
                ClockOp::Set(x, v) => zone.set(self.clock_at[x], v),
                ClockOp::Copy(x, y) => zone.copy(self.clock_at[x], self.clock_at[y]),
            }
        }
        match self.wait(state, zone)? {
            Some(zone) => emit(state.clone(), zone),
            None => Ok(()),
        }
    }

    /// The points that delays reach inside the invariants; `None` if the invariants do not hold.
    pub(crate) fn wait(&self, state: &State, mut zone: Zone) -> Eval<Option<Zone>> {
        let certain = self.invariants(state)?;
        if certain.never || !self.constrain(&mut zone, &certain.atoms) {
            return Ok(None);
        }
        let mut present = self.present(state);
        let held = present.any(|p| self.kind(state, p) != LocationKind::Normal);
        if !held && !self.certainly_urgent(state)? {
            zone.up();
            self.constrain(&mut zone, &certain.atoms);
        }
        match zone.overflowed() {
            true => broken("a clock bound grew beyond 2^27"),
            false => Ok(Some(zone)),
        }
    }

    /// What the invariants of the fixed processes and of the members certainly demand.
    fn invariants(&self, state: &State) -> Eval<Certain> {
        let mut out = Certain::default();
        let mut evaluator = Evaluator::new(self.network, self.layout, state.clone());
        for p in self.present(state) {
            let location = &self.network.processes[p].locations[state.locations[p] as usize];
            if let Some(invariant) = &location.invariant {
                evaluator.enter(location.frame);
                evaluator.invariant(invariant, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Whether an urgent synchronisation is certainly enabled.
    fn certainly_urgent(&self, state: &State) -> Eval<bool> {
        if !self.has_urgent {
            return Ok(false);
        }
        let certain = |c: &&Candidate| c.certain || is_on(Mutation::EveryUrgentOpen);
        let candidates = self.candidates(state, true)?;
        let senders = candidates
            .iter()
            .filter(|c| c.direction == Some(Direction::Send));
        for sender in senders.filter(certain) {
            let Some(c) = sender.channel else { continue };
            let channel = &self.network.channels[ChannelId(c)];
            if !channel.urgent {
                continue;
            }
            let hears = |r: &&Candidate| {
                r.direction == Some(Direction::Receive)
                    && r.channel == Some(c)
                    && r.process != sender.process
            };
            let stops = match channel.broadcast {
                true => !self.receivers.contains(&c),
                false => candidates.iter().filter(certain).any(|r| hears(&r)),
            };
            if stops {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a claim may be violated here: its condition may have the value `want`.
    pub(crate) fn violates(
        &self,
        state: &State,
        zone: &Zone,
        claim: (&Expr, u32),
        want: bool,
    ) -> Eval<bool> {
        let mut evaluator = Evaluator::new(self.network, self.layout, state.clone());
        loop {
            evaluator.enter(claim.1);
            match evaluator.condition(claim.0, want, Reading::Claim) {
                Ok(alternatives) => {
                    for one in alternatives {
                        if self.constrain(&mut zone.clone(), &one) {
                            return Ok(true);
                        }
                    }
                }
                Err(Halt::Unseen) => {}
                Err(other) => return Err(other),
            }
            if !evaluator.choices.next()? {
                return Ok(false);
            }
        }
    }

    /// Adds atoms; false if nothing is left.
    fn constrain(&self, zone: &mut Zone, atoms: &[super::condition::Atom]) -> bool {
        let at = |x: usize| if x == 0 { 0 } else { self.clock_at[x - 1] };
        atoms.iter().all(|(i, j, bound)| {
            let (i, j) = (at(*i), at(*j));
            match i == j {
                true => *bound >= crate::zone::bound::LE_ZERO,
                false => zone.and(i, j, *bound),
            }
        }) && !zone.is_empty()
    }
}

fn footprint(network: &Network, layout: &Layout, p: usize, edge: &Edge) -> Footprint {
    let found = of_edge(network, layout, p, edge);
    if is_on(Mutation::EveryProcessesOnly) {
        return Footprint {
            movers: found.movers,
            ..Footprint::default()
        };
    }
    if is_on(Mutation::EveryWritesForgotten) {
        return Footprint {
            written: BTreeSet::new(),
            ..found
        };
    }
    found
}
