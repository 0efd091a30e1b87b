//! The operations between two stored states: steps, guards, updates, invariants, delay.

use crate::graph::steps::{NamedStep, Part, Step, Steps};
use crate::graph::timed;
use crate::mutation::{Mutation, is_on};
use crate::program::{
    ClockOp, Code, Conjunction, Fault, FaultKind, Formula, Machine, Program, before_ops, constrain,
    pass_time,
};
use crate::zone::{Federation, Zone, subtract, subtract_all};
use zonelens_analysis::network::LocationKind;

/// Whether time may pass in a discrete state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Delay {
    /// Time may pass as far as invariants allow.
    Free,
    /// A location is urgent or committed, or an urgent synchronisation is enabled.
    Stopped,
    /// Time may pass until one of these urgent synchronisations (their clock guards) is enabled.
    Until(Vec<Conjunction>),
}

/// Computes successors, with its own scratch space.
#[derive(Clone, Debug)]
pub(crate) struct Expander<'p> {
    /// The compiled model.
    pub program: &'p Program,
    /// Evaluates expressions.
    pub machine: Machine,
    /// The steps of the state that was last passed to [`Expander::find_steps`].
    pub steps: Steps,
    /// Whether a step that fails counts as possible, without raising its fault. On the way to a
    /// state that was found, zones are not split like those of the search, so steps may be enabled
    /// in them that did not occur before.
    pub lenient: bool,
    urgent: Steps,
    constraints: Conjunction,
    stopped: Vec<bool>,
    /// Zones and lists of zones that were returned for reuse, so that computing a successor does
    /// not allocate.
    spare: Vec<Zone>,
    spare_lists: Vec<Federation>,
}

/// An error of the model at the end of a run.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    /// The fault.
    pub fault: Fault,
    /// The part of the zone where it occurs.
    pub pieces: Federation,
    /// The step; `None` if a guard fails.
    pub step: Option<NamedStep>,
}

/// The most zones, and the most lists, that are kept for reuse.
const SPARE: usize = 32;

type Try<T> = Result<T, Fault>;

impl<'p> Expander<'p> {
    /// Creates an expander for a program.
    pub(crate) fn new(program: &'p Program) -> Expander<'p> {
        Expander {
            program,
            machine: Machine::default(),
            steps: Steps::default(),
            lenient: false,
            urgent: Steps::default(),
            constraints: Vec::new(),
            stopped: vec![false; program.dim()],
            spare: Vec::new(),
            spare_lists: Vec::new(),
        }
    }

    /// Returns zones that are no longer needed.
    #[inline]
    pub(crate) fn recycle(&mut self, zones: &mut Federation) {
        self.spare.append(zones);
        // Zones that were split return more zones than were taken.
        self.spare.truncate(SPARE);
    }

    /// Returns a list that is no longer needed.
    #[inline]
    pub(crate) fn recycle_list(&mut self, mut zones: Federation) {
        self.recycle(&mut zones);
        self.spare_lists.push(zones);
        self.spare_lists.truncate(SPARE);
    }

    #[inline]
    fn copy_of(&mut self, zone: &Zone) -> Zone {
        match self.spare.pop() {
            Some(mut copy) => {
                copy.assign(zone);
                copy
            }
            None => zone.clone(),
        }
    }

    /// Finds the steps of a state whose integer guards hold; `zone` decides whether faults next to
    /// clock guards count.
    pub(crate) fn find_steps(&mut self, state: &mut [i32], zone: &Zone) -> Try<()> {
        self.find_steps_in(state, std::slice::from_ref(zone))
            .map(drop)
    }

    /// Like `find_steps`, for a union of zones. If faults are not raised, returns the parts in
    /// which they occur.
    pub(crate) fn find_steps_in(&mut self, state: &mut [i32], zones: &[Zone]) -> Try<Federation> {
        self.steps.find(self.program, &mut self.machine, state)?;
        let mut unclear = Vec::new();
        for index in 0..self.steps.doubtful.len() {
            let (fault, part) = self.steps.doubtful[index];
            for zone in zones {
                let Some(cut) = self.doubted(part, state, zone) else {
                    continue;
                };
                if !self.lenient {
                    return Err(fault);
                }
                unclear.push(cut);
            }
        }
        Ok(unclear)
    }

    /// Removes from `zones` the points where a guard of the last found steps fails: no run can
    /// continue from there.
    pub(crate) fn without_doubtful(
        &mut self,
        mut zones: Federation,
        state: &mut [i32],
    ) -> Federation {
        for index in 0..self.steps.doubtful.len() {
            let (_, part) = self.steps.doubtful[index];
            let holes = zones
                .iter()
                .filter_map(|zone| self.doubted(part, state, zone));
            let holes: Vec<Zone> = holes.collect();
            zones = subtract_all(zones, &holes);
        }
        zones
    }

    /// The part of a zone where the clocks allow an edge whose guard or channel failed: no other
    /// part of the guard is false there.
    fn doubted(&mut self, part: Part, state: &mut [i32], zone: &Zone) -> Option<Zone> {
        let mut constraints = Vec::new();
        let guard = self.program.edges[part.edge as usize].guard.as_ref();
        let possible = guard.is_none_or(|guard| {
            self.steps.enter(self.program, &mut self.machine, part);
            self.machine
                .constraints_without_failing(self.program, guard, state, &mut constraints)
        });
        let mut cut = zone.clone();
        (possible && constrain(&mut cut, &constraints)).then_some(cut)
    }

    fn part_constraints(
        &mut self,
        part: Part,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Try<bool> {
        match &self.program.edges[part.edge as usize].guard {
            Some(guard) if guard.has_clocks() => {
                self.steps.enter(self.program, &mut self.machine, part);
                self.machine
                    .clock_constraints(self.program, guard, state, out)
            }
            _ => Ok(true),
        }
    }

    /// Collects the clock constraints of the guards of a step; returns false if they cannot hold.
    pub(crate) fn guard_constraints(
        &mut self,
        step: &Step,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Try<bool> {
        for index in 0..self.steps.parts(step).len() {
            let part = self.steps.parts(step)[index];
            if !self.part_constraints(part, state, out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The part of `zone` where the guards of a step hold and every broadcast receiver that can
    /// receive takes part.
    pub(crate) fn enabled(
        &mut self,
        step: &Step,
        state: &mut [i32],
        zone: &Zone,
    ) -> Try<Federation> {
        let mut constraints = std::mem::take(&mut self.constraints);
        constraints.clear();
        let possible = self.guard_constraints(step, state, &mut constraints);
        let possible = possible?
            && constraints
                .iter()
                .all(|c| zone.satisfiable(c.i as usize, c.j as usize, c.b));
        let mut result = self.spare_lists.pop().unwrap_or_default();
        if possible {
            let mut cut = self.copy_of(zone);
            if constrain(&mut cut, &constraints) {
                result.push(cut);
            } else {
                self.spare.push(cut);
            }
        }
        self.constraints = constraints;
        for index in 0..self.steps.blocked(step).len() {
            if result.is_empty() {
                break;
            }
            let part = self.steps.blocked(step)[index];
            let mut hole = Zone::universe(zone.dim());
            let mut guard = Vec::new();
            if self.part_constraints(part, state, &mut guard)? && constrain(&mut hole, &guard) {
                result = result.iter().flat_map(|z| subtract(z, &hole)).collect();
            }
        }
        Ok(result)
    }

    /// The part of `zone` where the step is possible: its guards hold, and the target invariants
    /// hold after the updates.
    pub(crate) fn possible(
        &mut self,
        step: &Step,
        state: &mut [i32],
        zone: &Zone,
        next: &mut Vec<i32>,
    ) -> Try<Federation> {
        let enabled = self.enabled(step, state, zone)?;
        if enabled.is_empty() {
            return Ok(enabled);
        }
        let mut invariant = Vec::new();
        let fired = self
            .fire(step, state, next)
            .and_then(|()| self.invariant_constraints(next, &mut invariant));
        match fired {
            Ok(true) => {}
            Ok(false) => return Ok(Vec::new()),
            Err(fault)
                if self.lenient && !fault.kind.is_ours() && !is_on(Mutation::FaultsOnTheWay) =>
            {
                return Ok(enabled);
            }
            Err(fault) => return Err(fault),
        }
        let ops = self.machine.clock_ops.clone();
        let mut before = Vec::new();
        for constraint in invariant {
            match before_ops(constraint, &ops) {
                None => return Ok(Vec::new()),
                Some(constraint) => before.extend(constraint),
            }
        }
        Ok(enabled
            .into_iter()
            .filter_map(|mut z| constrain(&mut z, &before).then_some(z))
            .collect())
    }

    /// Removes from `zones` the points where a step of higher priority than `index` is possible.
    ///
    /// Steps of the highest priority come first, and each one is considered only where none of the
    /// previous ones is possible. A step that is itself blocked is never taken, so its updates must
    /// not be evaluated: a fault in them is not an error of the model.
    pub(crate) fn without_higher(
        &mut self,
        index: usize,
        mut zones: Federation,
        state: &mut [i32],
        next: &mut Vec<i32>,
    ) -> Try<Federation> {
        let priority = self.steps.get(index).priority;
        for other in self.steps.above(priority) {
            if zones.is_empty() {
                break;
            }
            let step = self.steps.get(other).clone();
            let mut holes = Vec::new();
            for zone in &zones {
                holes.extend(self.possible(&step, state, zone, next)?);
            }
            zones = subtract_all(zones, &holes);
        }
        Ok(zones)
    }

    /// The part of a zone where a step or a guard fails with a similar fault; `None` if there is
    /// none.
    pub(crate) fn failing(
        &mut self,
        fault: &Fault,
        state: &mut [i32],
        zone: &Zone,
    ) -> Try<Option<Failing>> {
        if let Err(fault) = self.steps.find(self.program, &mut self.machine, state) {
            // Guards without clocks fail in the whole zone.
            return Ok(Some(Failing {
                fault,
                pieces: vec![zone.clone()],
                step: None,
            }));
        }
        for index in 0..self.steps.doubtful.len() {
            let (met, part) = self.steps.doubtful[index];
            if met.is_like(fault)
                && let Some(cut) = self.doubted(part, state, zone)
            {
                return Ok(Some(Failing {
                    fault: met,
                    pieces: vec![cut],
                    step: None,
                }));
            }
        }
        self.lenient = true;
        let mut next = Vec::new();
        for index in 0..self.steps.len() {
            let step = self.steps.get(index).clone();
            let mut pieces = self.enabled(&step, state, zone)?;
            if self.program.has_priorities {
                pieces = self.without_higher(index, pieces, state, &mut next)?;
            }
            if pieces.is_empty() {
                continue;
            }
            let taken = self
                .fire(&step, state, &mut next)
                .and_then(|()| self.invariant_constraints(&mut next, &mut Vec::new()))
                .and_then(|_| self.delay_of(&mut next));
            if let Err(met) = taken
                && met.is_like(fault)
            {
                return Ok(Some(Failing {
                    fault: met,
                    pieces,
                    step: Some(self.steps.named(self.program, index)),
                }));
            }
        }
        Ok(None)
    }

    /// Runs the updates of a step: `next` becomes the state after it, `machine.clock_ops` the
    /// operations on clocks.
    pub(crate) fn fire(&mut self, step: &Step, state: &[i32], next: &mut Vec<i32>) -> Try<()> {
        let program = self.program;
        next.clear();
        next.extend_from_slice(state);
        self.machine.clock_ops.clear();
        self.around(&program.before_update, next)?;
        if is_on(Mutation::AfterComesFirst) {
            self.around(&program.after_update, next)?;
        }
        for index in 0..self.steps.parts(step).len() {
            let parts = self.steps.parts(step);
            let part = if is_on(Mutation::ReceiversFirst) {
                parts[parts.len() - 1 - index]
            } else {
                parts[index]
            };
            let edge = &program.edges[part.edge as usize];
            if !edge.updates.is_empty() {
                self.steps.enter(program, &mut self.machine, part);
                for code in &edge.updates {
                    self.machine.eval(program, code, next)?;
                }
            }
        }
        for part in self.steps.parts(step) {
            let edge = &program.edges[part.edge as usize];
            next[program.cells.len() + edge.process as usize] = edge.target as i32;
        }
        if !is_on(Mutation::AfterComesFirst) {
            self.around(&program.after_update, next)?;
        }
        Ok(())
    }

    /// Runs `before_update` or `after_update`.
    #[inline]
    fn around(&mut self, updates: &[Code], next: &mut [i32]) -> Try<()> {
        if !updates.is_empty() {
            self.machine.frame(self.program.update_frame, &[]);
            for code in updates {
                self.machine.eval(self.program, code, next)?;
            }
        }
        Ok(())
    }

    /// Collects the clock constraints of all invariants of a state; returns false if an integer
    /// part is false.
    pub(crate) fn invariant_constraints(
        &mut self,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Try<bool> {
        self.invariants_of(0..self.program.processes(), state, out)
    }

    /// The same for the invariants of some processes.
    #[inline]
    pub(crate) fn invariants_of(
        &mut self,
        processes: impl Iterator<Item = usize>,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Try<bool> {
        let program = self.program;
        for p in processes {
            if let Some(invariant) = &program.location(state, p).invariant {
                self.machine.frame(invariant.frame, &[]);
                if !self.machine.ints_hold(program, invariant, state)?
                    || !self
                        .machine
                        .clock_constraints(program, invariant, state, out)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Applies clock operations to a zone.
    pub(crate) fn apply_ops(zone: &mut Zone, ops: &[ClockOp]) {
        for op in ops {
            match *op {
                ClockOp::Set(x, v) => zone.set(x as usize + 1, i64::from(v)),
                ClockOp::Copy(x, y) => zone.copy(x as usize + 1, y as usize + 1),
            }
        }
    }

    /// Whether time may pass in a state.
    pub(crate) fn delay_of(&mut self, state: &mut [i32]) -> Try<Delay> {
        self.delay_among(0..self.program.processes(), state)
    }

    /// The same if the locations of these processes decide for all.
    pub(crate) fn delay_among(
        &mut self,
        mut processes: impl Iterator<Item = usize>,
        state: &mut [i32],
    ) -> Try<Delay> {
        let program = self.program;
        if processes.any(|p| program.location(state, p).kind != LocationKind::Normal) {
            return Ok(Delay::Stopped);
        }
        if !program.has_urgent_channels || is_on(Mutation::UrgencyIgnored) {
            return Ok(Delay::Free);
        }
        self.urgent.find_urgent(program, &mut self.machine, state)?;
        let mut until = Vec::new();
        for index in 0..self.urgent.len() {
            let step = self.urgent.get(index).clone();
            let mut guards = Vec::new();
            let mut possible = true;
            for part in self.urgent.parts(&step) {
                if let Some(guard) = &program.edges[part.edge as usize].guard
                    && guard.has_clocks()
                    // A receiver of a broadcast need not take part: the sender alone makes it
                    // urgent.
                    && (program.edges[part.edge as usize].sync.as_ref().is_some_and(|s| s.sends)
                        || !step.channel.is_some_and(|c| program.channels[c as usize].broadcast))
                {
                    self.urgent.enter(program, &mut self.machine, *part);
                    possible &=
                        self.machine
                            .clock_constraints(program, guard, state, &mut guards)?;
                }
            }
            if possible && guards.is_empty() {
                return Ok(Delay::Stopped);
            }
            if possible {
                until.push(guards);
            }
        }
        Ok(if until.is_empty() {
            Delay::Free
        } else {
            Delay::Until(until)
        })
    }

    /// Lets time pass from the last of `zones`, whose points satisfy the invariant, as far as the
    /// state allows.
    fn delay(
        &mut self,
        state: &mut [i32],
        zones: &mut Federation,
        invariant: &[crate::program::Constraint],
    ) -> Try<()> {
        let delay = self.delay_of(state)?;
        let Some(zone) = zones.last_mut() else {
            return Ok(());
        };
        match delay {
            Delay::Stopped => {}
            Delay::Free => {
                if self.program.has_rates && self.stopped_clocks(state)? {
                    zone.up_with_stopped(&self.stopped);
                    constrain(zone, invariant);
                } else if is_on(Mutation::EndlessDelay) {
                    zone.up();
                } else {
                    pass_time(zone, invariant);
                }
            }
            Delay::Until(urgent) => {
                if self.program.has_rates {
                    return Err(FaultKind::UrgentClockGuard.nowhere());
                }
                if let Some(zone) = zones.pop() {
                    zones.extend(timed::delay_until(zone, invariant, &urgent));
                }
            }
        }
        Ok(())
    }

    /// Marks the clocks that invariants stop; returns whether there are any.
    fn stopped_clocks(&mut self, state: &mut [i32]) -> Try<bool> {
        let program = self.program;
        self.stopped.fill(false);
        let mut some = false;
        for p in 0..program.processes() {
            if let Some(invariant) = &program.location(state, p).invariant {
                self.machine.frame(invariant.frame, &[]);
                let mut rates = Vec::new();
                self.rates(&invariant.whole, state, &mut rates)?;
                for (clock, rate, span) in rates {
                    match rate {
                        0 => {
                            self.stopped[clock as usize + 1] = true;
                            some = true;
                        }
                        1 => {}
                        _ => return Err(FaultKind::Rate(rate).at(span)),
                    }
                }
            }
        }
        Ok(some)
    }

    fn rates(
        &mut self,
        formula: &Formula,
        state: &mut [i32],
        out: &mut Vec<(u32, i32, zonelens_syntax::span::Span)>,
    ) -> Try<()> {
        match formula {
            Formula::Rate(parts, span) => {
                let clock = self.machine.clock(self.program, &parts.0, state)?;
                let rate = self.machine.eval(self.program, &parts.1, state)?;
                out.push((clock, rate, *span));
            }
            Formula::And(parts) => {
                for part in parts {
                    self.rates(part, state, out)?;
                }
            }
            Formula::Quantified {
                slot,
                lo,
                len,
                body,
                ..
            } => {
                for k in 0..*len {
                    self.machine.set_slot(*slot, lo + k as i32);
                    self.rates(body, state, out)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// All zones that one step leads to from `(state, zone)`, after delay; `next` becomes the
    /// discrete state after it.
    pub(crate) fn successors(
        &mut self,
        index: usize,
        state: &mut [i32],
        zone: &Zone,
        next: &mut Vec<i32>,
    ) -> Try<Federation> {
        let step = self.steps.get(index).clone();
        let mut pieces = self.enabled(&step, state, zone)?;
        if self.program.has_priorities {
            pieces = self.without_higher(index, pieces, state, next)?;
        }
        if pieces.is_empty() {
            return Ok(pieces);
        }
        self.fire(&step, state, next)?;
        let ops = std::mem::take(&mut self.machine.clock_ops);
        pieces
            .iter_mut()
            .for_each(|piece| Expander::apply_ops(piece, &ops));
        self.machine.clock_ops = ops;
        self.arrive(next, pieces)
    }

    /// Applies the invariant of a state to zones that enter it, then lets time pass.
    pub(crate) fn arrive(&mut self, state: &mut [i32], mut pieces: Federation) -> Try<Federation> {
        let mut invariant = std::mem::take(&mut self.constraints);
        invariant.clear();
        let mut result = self.spare_lists.pop().unwrap_or_default();
        if self.invariant_constraints(state, &mut invariant)? {
            for mut piece in pieces.drain(..) {
                if constrain(&mut piece, &invariant) || is_on(Mutation::MissedInvariant) {
                    result.push(piece);
                    self.delay(state, &mut result, &invariant)?;
                } else {
                    self.spare.push(piece);
                }
            }
        }
        self.recycle_list(pieces);
        self.constraints = invariant;
        Ok(result)
    }

    /// The initial state and its zones.
    pub(crate) fn initial(&mut self) -> Try<(Vec<i32>, Federation)> {
        let mut state = self.program.initial.clone();
        let zones = self.arrive(&mut state, vec![Zone::point(&self.program.initial_clocks)])?;
        Ok((state, zones))
    }
}
