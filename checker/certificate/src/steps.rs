//! The steps of a discrete state, enumerated from the network's own text, and where they lead.

use crate::condition::Conjuncts;
use crate::eval::{Eval, Evaluator, Failure, State, fail};
use crate::symmetry::Searches;
use crate::zone::{ClockOp, Union, Zone, before, convex, subtract};
use zonelens_analysis::network::{
    Channel, ChannelId, ChannelRef, Edge, Expr, ExprKind, Location, LocationKind, Network, Select,
};
use zonelens_syntax::ast::Direction;

/// The most parts of steps of one state.
const MOST_PARTS: usize = 1 << 20;

/// An edge with the values of its select variables: process, edge, values.
pub type Part = (u32, u32, Vec<i32>);

/// A step: its edges, the sender (or the internal edge) first, then receivers in process order.
pub type Key = Vec<Part>;

/// The network with the conjuncts of its conditions separated.
pub(crate) struct Model<'n> {
    pub network: &'n Network,
    /// For each process, the guards of its edges.
    guards: Vec<Vec<Conjuncts<'n>>>,
    /// For each process, the invariants of its locations.
    invariants: Vec<Vec<Conjuncts<'n>>>,
    has_urgent: bool,
    /// The loops whose rounds must all be evaluated; `None` without symmetry.
    pub searches: Option<Searches>,
}

/// An edge that the discrete state allows.
struct Candidate {
    part: Part,
    channel: Option<ChannelId>,
}

/// A step that the discrete state allows.
pub(crate) struct Step {
    pub key: Key,
    /// Receivers of a broadcast whose clock guards would make them take part: the step exists only
    /// where none of these guards holds.
    silent: Vec<Part>,
    priority: (i32, i32),
}

/// The discrete part of the target of a step, which does not depend on clocks.
pub(crate) struct Arrival {
    pub state: State,
    pub ops: Vec<ClockOp>,
    /// The values that the invariants allow; `None` if there are none.
    pub invariant: Option<Zone>,
    /// Whether time may pass.
    pub waits: bool,
}

/// A discrete state with its steps.
pub(crate) struct Expanded<'m, 'n> {
    model: &'m Model<'n>,
    pub state: State,
    /// Sorted by their keys.
    pub steps: Vec<Step>,
    arrivals: Vec<Option<Eval<Arrival>>>,
    /// Guards that fail, which counts where the clock part of the guard holds.
    doubtful: Vec<(Part, Failure)>,
    /// Edges that steps may begin with, if the clock part of their guard may fail.
    guarded: Vec<Part>,
}

impl<'n> Model<'n> {
    /// Prepares a network; `Err` names a feature that certificates do not cover.
    pub(crate) fn new(network: &'n Network) -> Eval<Model<'n>> {
        let model = Model {
            network,
            guards: (network.processes.iter())
                .map(|p| p.edges.iter().map(|e| Conjuncts::of(e.guard.as_ref())))
                .map(Iterator::collect)
                .collect(),
            invariants: (network.processes.iter())
                .map(|p| (p.locations.iter()).map(|l| Conjuncts::of(l.invariant.as_ref())))
                .map(Iterator::collect)
                .collect(),
            has_urgent: network.channels.iter().any(|c| c.urgent),
            searches: None,
        };
        match crate::coverage::refusal(network) {
            Some(refusal) => Err(refusal),
            None => Ok(model),
        }
    }

    /// An evaluator over a state.
    pub(crate) fn evaluator<'s>(&'s self, state: &'s mut State) -> Evaluator<'s> {
        let mut evaluator = Evaluator::new(self.network, state);
        evaluator.searches = self.searches.as_ref();
        evaluator
    }

    fn edge(&self, part: &Part) -> &'n Edge {
        &self.network.processes[part.0 as usize].edges[part.1 as usize]
    }

    fn location(&self, state: &State, process: usize) -> &'n Location {
        &self.network.processes[process].locations[state.locations[process] as usize]
    }

    fn is_committed(&self, state: &State, process: usize) -> bool {
        self.location(state, process).kind == LocationKind::Committed
    }

    /// The initial state, and what is reached from its point.
    pub(crate) fn initial(&self) -> Eval<(Arrival, Option<Zone>)> {
        let (arrival, point) = self.initial_point()?;
        let zone = arrival.enter(point);
        Ok((arrival, zone))
    }

    /// The initial state and its point.
    pub(crate) fn initial_point(&self) -> Eval<(Arrival, Zone)> {
        let state = State {
            locations: self.network.processes.iter().map(|p| p.initial).collect(),
            cells: self.network.cells.iter().map(|c| Some(c.init)).collect(),
        };
        let clocks = self.network.clocks.iter().enumerate();
        let point = clocks.fold(Zone::universe(self.network.clocks.len()), |zone, (x, c)| {
            zone.assign(ClockOp::Set(x, i64::from(c.init)))
        });
        Ok((self.arrive(state, Vec::new())?, point))
    }

    /// What the invariants allow in a state, and whether time may pass there.
    fn arrive(&self, mut state: State, ops: Vec<ClockOp>) -> Eval<Arrival> {
        let invariant = self.invariant(&mut state)?;
        let waits = invariant.is_some() && self.may_wait(&mut state)?;
        Ok(Arrival {
            state,
            ops,
            invariant,
            waits,
        })
    }

    fn invariant(&self, state: &mut State) -> Eval<Option<Zone>> {
        if self.searches.is_some() {
            self.invariants_succeed(state)?;
        }
        let mut inside = Zone::universe(self.network.clocks.len());
        for (process, invariants) in self.invariants.iter().enumerate() {
            let location = self.location(state, process);
            let conjuncts = &invariants[state.locations[process] as usize];
            let mut evaluator = self.evaluator(state);
            evaluator.enter(location.frame, std::iter::empty());
            if !all(&mut evaluator, &conjuncts.integers)? {
                return Ok(None);
            }
            if conjuncts.clocks.is_empty() {
                continue;
            }
            let (holds, _) = evaluator.divide(&conjuncts.clocks, vec![inside])?;
            if holds.is_empty() {
                return Ok(None);
            }
            inside = match convex(&holds)? {
                Some(zone) => zone,
                None => {
                    return Err(Failure {
                        message: "certificates do not cover an invariant that is not convex".into(),
                        span: Some(location.span),
                    });
                }
            };
        }
        Ok(Some(inside))
    }

    /// Under symmetry, an invariant that is false does not hide the failure of another.
    fn invariants_succeed(&self, state: &mut State) -> Eval<()> {
        for (process, invariants) in self.invariants.iter().enumerate() {
            let location = self.location(state, process);
            let conjuncts = &invariants[state.locations[process] as usize];
            let mut evaluator = self.evaluator(state);
            evaluator.enter(location.frame, std::iter::empty());
            if all(&mut evaluator, &conjuncts.integers)? && !conjuncts.clocks.is_empty() {
                let whole = Zone::universe(self.network.clocks.len());
                evaluator.divide(&conjuncts.clocks, vec![whole])?;
            }
        }
        Ok(())
    }

    /// Whether time may pass: no location is urgent or committed, and no synchronisation over an
    /// urgent channel is enabled. Edges on urgent channels have no clock guards.
    fn may_wait(&self, state: &mut State) -> Eval<bool> {
        for process in 0..self.network.processes.len() {
            if self.location(state, process).kind != LocationKind::Normal {
                return Ok(false);
            }
        }
        if !self.has_urgent {
            return Ok(true);
        }
        let urgent = |c: ChannelId| self.network.channels[c].urgent;
        let mut doubtful = Vec::new();
        let senders = self.candidates(state, &mut doubtful, |_, edge| {
            direction(edge) == Some(Direction::Send) && channels(edge).any(urgent)
        })?;
        for sender in &senders {
            let Some(channel) = sender.channel.filter(|c| urgent(*c)) else {
                continue;
            };
            if self.network.channels[channel].broadcast {
                return Ok(false);
            }
            let partners = self.candidates(state, &mut doubtful, |process, edge| {
                process != sender.part.0 as usize && listens(edge, channel)
            })?;
            if partners.iter().any(|p| p.channel == Some(channel)) {
                return Ok(false);
            }
        }
        match doubtful.into_iter().next() {
            Some((_, failure)) => Err(failure),
            None => Ok(true),
        }
    }

    /// The selected edges from the current locations whose integer conjuncts hold, with all values
    /// of their select variables. A guard with clocks whose integers fail goes to `doubtful`.
    fn candidates(
        &self,
        state: &mut State,
        doubtful: &mut Vec<(Part, Failure)>,
        selected: impl Fn(usize, &Edge) -> bool,
    ) -> Eval<Vec<Candidate>> {
        let mut found = Vec::new();
        for (p, process) in self.network.processes.iter().enumerate() {
            for (e, edge) in process.edges.iter().enumerate() {
                if edge.source != state.locations[p] || !selected(p, edge) {
                    continue;
                }
                let guard = &self.guards[p][e];
                let mut values = Vec::new();
                let mut more = first_values(&edge.selects, &mut values);
                while more {
                    let part = (p as u32, e as u32, values.clone());
                    let mut evaluator = self.enter(state, &part);
                    let enabled = all(&mut evaluator, &guard.integers).and_then(|holds| {
                        let sync = edge.sync.as_ref().filter(|_| holds);
                        let channel = sync.map(|sync| evaluator.channel(&sync.channel));
                        Ok((holds, channel.transpose()?))
                    });
                    match enabled {
                        Ok((true, channel)) => found.push(Candidate { part, channel }),
                        Ok((false, _)) => {}
                        Err(failure) if guard.clocks.is_empty() => return Err(failure),
                        Err(failure) => doubtful.push((part, failure)),
                    }
                    if found.len() > MOST_PARTS {
                        return fail("a state has too many steps to check");
                    }
                    more = next_values(&edge.selects, &mut values);
                }
            }
        }
        Ok(found)
    }

    /// An evaluator with the select values of a part in its frame.
    fn enter<'s>(&'s self, state: &'s mut State, part: &Part) -> Evaluator<'s> {
        let edge = self.edge(part);
        let mut evaluator = self.evaluator(state);
        let slots = edge.selects.iter().map(|s| s.slot);
        evaluator.enter(edge.frame, slots.zip(part.2.iter().copied()));
        evaluator
    }

    /// The points where the clock guard of a part holds, and the points where it does not.
    fn divide(&self, state: &mut State, part: &Part, zones: Union) -> Eval<(Union, Union)> {
        let guard = &self.guards[part.0 as usize][part.1 as usize];
        match guard.clocks.is_empty() {
            true => Ok((zones, Vec::new())),
            false => self.enter(state, part).divide(&guard.clocks, zones),
        }
    }

    /// Whether the clock part of a guard is more than comparisons of clocks with constants.
    fn clock_guard_may_fail(&self, part: &Part) -> bool {
        let simple = |condition: &&Expr| match &condition.kind {
            ExprKind::Clock {
                left, right, bound, ..
            } => {
                matches!(bound.kind, ExprKind::Const(_))
                    && left.steps.is_empty()
                    && right.as_ref().is_none_or(|r| r.steps.is_empty())
            }
            _ => false,
        };
        let guard = &self.guards[part.0 as usize][part.1 as usize];
        !guard.clocks.iter().all(simple)
    }

    fn has_clock_guard(&self, part: &Part) -> bool {
        let guard = &self.guards[part.0 as usize][part.1 as usize];
        !guard.clocks.is_empty()
    }

    /// The state after the updates of a step.
    fn fire(&self, state: &State, key: &Key) -> Eval<Arrival> {
        let mut next = state.clone();
        let mut ops = self.hook(&mut next, &self.network.before_update)?;
        for part in key {
            let mut evaluator = self.enter(&mut next, part);
            for update in &self.edge(part).updates {
                evaluator.eval(update)?;
            }
            ops.append(&mut evaluator.ops);
        }
        for part in key {
            next.locations[part.0 as usize] = self.edge(part).target;
        }
        ops.extend(self.hook(&mut next, &self.network.after_update)?);
        self.arrive(next, ops)
    }

    fn hook(&self, state: &mut State, updates: &[Expr]) -> Eval<Vec<ClockOp>> {
        let mut evaluator = self.evaluator(state);
        evaluator.enter(self.network.update_frame, std::iter::empty());
        for update in updates {
            evaluator.eval(update)?;
        }
        Ok(evaluator.ops)
    }

    /// The steps that the discrete state allows.
    pub(crate) fn expand<'m>(&'m self, mut state: State) -> Eval<Expanded<'m, 'n>> {
        let processes = self.network.processes.len();
        let committed: Vec<bool> = (0..processes)
            .map(|p| self.is_committed(&state, p))
            .collect();
        let some_committed = committed.contains(&true);
        // A process outside committed locations can only send to one that leaves such a location.
        let some_receive = (0..processes).any(|p| {
            let edges = self.network.processes[p].edges.iter();
            committed[p]
                && edges
                    .filter(|e| e.source == state.locations[p])
                    .any(|e| direction(e) == Some(Direction::Receive))
        });
        let mut doubtful = Vec::new();
        let starters = self.candidates(&mut state, &mut doubtful, |p, edge| {
            let free = !some_committed || committed[p];
            match direction(edge) {
                None => free,
                Some(Direction::Send) => free || some_receive,
                Some(_) => false,
            }
        })?;
        let guarded = starters.iter().map(|s| &s.part);
        let guarded = guarded.filter(|part| self.clock_guard_may_fail(part));
        let guarded = guarded.cloned().collect();
        let mut steps = Vec::new();
        for starter in &starters {
            let sender = starter.part.0 as usize;
            let Some(channel) = starter.channel else {
                steps.push(self.step(vec![starter.part.clone()], Vec::new(), None));
                continue;
            };
            let broadcast = self.network.channels[channel].broadcast;
            let free = !some_committed || committed[sender];
            let mut receivers = self.candidates(&mut state, &mut doubtful, |p, edge| {
                p != sender && listens(edge, channel) && (broadcast || free || committed[p])
            })?;
            receivers.retain(|r| r.channel == Some(channel));
            if !broadcast {
                steps.extend(receivers.into_iter().map(|r| {
                    self.step(
                        vec![starter.part.clone(), r.part],
                        Vec::new(),
                        Some(channel),
                    )
                }));
                continue;
            }
            for (key, silent) in self.combinations(&starter.part, &receivers)? {
                let leaves = key.iter().any(|part| committed[part.0 as usize]);
                if free || leaves {
                    steps.push(self.step(key, silent, Some(channel)));
                }
            }
            if steps.len() > MOST_PARTS {
                return fail("a state has too many steps to check");
            }
        }
        steps.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Expanded {
            model: self,
            state,
            arrivals: steps.iter().map(|_| None).collect(),
            steps,
            doubtful,
            guarded,
        })
    }

    /// All ways in which receivers can take part in a broadcast: one edge of each process that can
    /// receive. A process all of whose receiving edges have clock guards may also stay out, where
    /// none of these guards holds.
    fn combinations(&self, sender: &Part, receivers: &[Candidate]) -> Eval<Vec<(Key, Vec<Part>)>> {
        let mut all = vec![(vec![sender.clone()], Vec::new())];
        for own in receivers.chunk_by(|a, b| a.part.0 == b.part.0) {
            let mut longer = Vec::new();
            for (key, silent) in all {
                for receiver in own {
                    let mut key: Key = key.clone();
                    key.push(receiver.part.clone());
                    longer.push((key, silent.clone()));
                }
                if own.iter().all(|r| self.has_clock_guard(&r.part)) {
                    let mut silent: Vec<Part> = silent;
                    silent.extend(own.iter().map(|r| r.part.clone()));
                    longer.push((key, silent));
                }
                if longer.len() > MOST_PARTS {
                    return fail("a broadcast has too many combinations of receivers to check");
                }
            }
            all = longer;
        }
        Ok(all)
    }

    fn step(&self, key: Key, silent: Vec<Part>, channel: Option<ChannelId>) -> Step {
        let of = |part: &Part| self.network.processes[part.0 as usize].priority;
        let channel = channel.map_or(Channel::DEFAULT_PRIORITY, |c| {
            self.network.channels[c].priority
        });
        let process = key.iter().map(of).max().unwrap_or(0);
        Step {
            key,
            silent,
            priority: (channel, process),
        }
    }
}

impl Arrival {
    /// The points reached by entering the state at a zone and letting time pass.
    pub(crate) fn enter(&self, zone: Zone) -> Option<Zone> {
        let invariant = self.invariant.as_ref()?;
        let zone = zone.intersect(invariant)?;
        match self.waits {
            true => zone.up().intersect(invariant),
            false => Some(zone),
        }
    }

    /// The points after the assignments of the step.
    pub(crate) fn moved(&self, zone: Zone) -> Zone {
        let ops = self.ops.iter();
        ops.fold(zone, |zone, op| zone.assign(*op))
    }

    /// The points of a zone from which the assignments of the step lead into the invariants.
    fn survivors(&self, zone: Zone) -> Option<Zone> {
        let invariant = self.invariant.as_ref()?;
        let mut constraints = invariant.constraints();
        constraints.try_fold(zone, |zone, c| zone.and(before(c, &self.ops)))
    }
}

impl Expanded<'_, '_> {
    /// Whether a guard fails at a point of the zone.
    pub(crate) fn failing_guard(&mut self, zone: &Zone) -> Eval<()> {
        for (part, failure) in &self.doubtful {
            let (holds, _) = self
                .model
                .divide(&mut self.state, part, vec![zone.clone()])?;
            if !holds.is_empty() {
                return Err(failure.clone());
            }
        }
        for part in &self.guarded {
            self.model
                .divide(&mut self.state, part, vec![zone.clone()])?;
        }
        Ok(())
    }

    /// The target of a step; its updates are evaluated once.
    pub(crate) fn arrival(&mut self, index: usize) -> Eval<&Arrival> {
        let (model, state, key) = (self.model, &self.state, &self.steps[index].key);
        let arrival = self.arrivals[index].get_or_insert_with(|| model.fire(state, key));
        arrival.as_ref().map_err(Failure::clone)
    }

    /// The part of a zone where the guards of a step hold and nobody else has to receive.
    fn enabled(&mut self, index: usize, zones: Union) -> Eval<Union> {
        let step = &self.steps[index];
        let mut inside = zones;
        for part in &step.key {
            inside = self.model.divide(&mut self.state, part, inside)?.0;
        }
        for part in &step.silent {
            inside = self.model.divide(&mut self.state, part, inside)?.1;
        }
        Ok(inside)
    }

    /// The part of a zone where a step exists, if priorities are left aside.
    fn possible(&mut self, index: usize, zones: Union) -> Eval<Union> {
        let enabled = self.enabled(index, zones)?;
        if enabled.is_empty() {
            return Ok(enabled);
        }
        let arrival = self.arrival(index)?;
        let survivors = enabled.into_iter().filter_map(|z| arrival.survivors(z));
        Ok(survivors.collect())
    }

    /// The points where no step of higher priority exists. Steps of the highest priority come
    /// first, and each counts only where the others before it do not exist: what is blocked is
    /// never evaluated.
    fn unblocked(&mut self, index: usize, mut zones: Union) -> Eval<Union> {
        let priority = self.steps[index].priority;
        let mut above: Vec<usize> = (0..self.steps.len())
            .filter(|k| self.steps[*k].priority > priority)
            .collect();
        above.sort_by_key(|k| std::cmp::Reverse(self.steps[*k].priority));
        for other in above {
            for hole in self.possible(other, zones.clone())? {
                zones = subtract(zones, &hole)?;
            }
        }
        Ok(zones)
    }

    /// The points of zones at which a step is taken: those where its guards hold and no step of
    /// higher priority exists. Invariants of the target are left aside.
    pub(crate) fn taken(&mut self, index: usize, zones: Union) -> Eval<Union> {
        let zones = self.enabled(index, zones)?;
        match self.model.network.has_priorities {
            true => self.unblocked(index, zones),
            false => Ok(zones),
        }
    }

    /// The exact successors of a zone by a step, delayed; empty if there are none.
    pub(crate) fn successors(&mut self, index: usize, zone: &Zone) -> Eval<Union> {
        let zones = self.taken(index, vec![zone.clone()])?;
        if zones.is_empty() {
            return Ok(zones);
        }
        let arrival = self.arrival(index)?;
        let moved = zones.into_iter().map(|zone| arrival.moved(zone));
        Ok(moved.filter_map(|zone| arrival.enter(zone)).collect())
    }

    /// The state that a step leads to.
    pub(crate) fn target(&mut self, index: usize) -> Eval<&State> {
        self.arrival(index).map(|arrival| &arrival.state)
    }

    /// The points of a zone that meet the invariants and from which no step exists, now or after
    /// any delay. A step whose updates fail is no way out. Priorities change nothing: if a step
    /// exists without them, one of the highest priority among those that exist is not blocked.
    pub(crate) fn dead(&mut self, zone: &Zone) -> Eval<Union> {
        let here = self.here()?;
        let Some(inside) = here.invariant.as_ref().and_then(|i| zone.intersect(i)) else {
            return Ok(Vec::new());
        };
        let Some(room) = here.enter(inside.clone()) else {
            return Ok(Vec::new());
        };
        self.without_exit(vec![inside], &room, here.waits)
    }

    /// The points of zones from which no step exists, now or (if time may pass) after a delay in
    /// `room`, which contains all points that the delays of these points may reach.
    pub(crate) fn without_exit(
        &mut self,
        mut rest: Union,
        room: &Zone,
        waits: bool,
    ) -> Eval<Union> {
        for index in 0..self.steps.len() {
            if rest.is_empty() {
                break;
            }
            if self.arrival(index).is_err() {
                continue;
            }
            for exit in self.possible(index, vec![room.clone()])? {
                let exit = if waits { exit.down() } else { exit };
                rest = subtract(rest, &exit)?;
            }
        }
        Ok(rest)
    }

    /// What the invariants allow in this state, and whether time may pass.
    pub(crate) fn here(&self) -> Eval<Arrival> {
        self.model.arrive(self.state.clone(), Vec::new())
    }
}

/// Whether all conditions hold; those after one that does not are not evaluated.
fn all(evaluator: &mut Evaluator<'_>, conditions: &[&Expr]) -> Eval<bool> {
    for condition in conditions {
        if evaluator.eval(condition)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The direction of an edge with a synchronisation.
pub(crate) fn direction(edge: &Edge) -> Option<Direction> {
    edge.sync.as_ref().map(|sync| sync.direction)
}

/// The channels that an edge may synchronise over.
pub(crate) fn channels(edge: &Edge) -> impl Iterator<Item = ChannelId> {
    let reach = |channel: &ChannelRef| {
        let steps = channel.steps.iter();
        let most = steps.map(|s| s.stride * s.range.len.saturating_sub(1));
        channel.base.0..=channel.base.0 + most.sum::<u32>()
    };
    let reach = edge.sync.as_ref().map(|sync| reach(&sync.channel));
    reach.into_iter().flatten().map(ChannelId)
}

/// Whether an edge may receive on a channel.
fn listens(edge: &Edge, channel: ChannelId) -> bool {
    direction(edge) == Some(Direction::Receive) && channels(edge).any(|c| c == channel)
}

/// The least values of select variables; false if one has no values.
fn first_values(selects: &[Select], values: &mut Vec<i32>) -> bool {
    values.extend(selects.iter().map(|s| s.range.lo));
    selects.iter().all(|s| s.range.len > 0)
}

/// The next values, the last variable first; false after the last ones.
fn next_values(selects: &[Select], values: &mut [i32]) -> bool {
    for (value, select) in values.iter_mut().zip(selects).rev() {
        let last = i64::from(select.range.lo) + i64::from(select.range.len) - 1;
        if i64::from(*value) < last {
            *value += 1;
            return true;
        }
        *value = select.range.lo;
    }
    false
}
