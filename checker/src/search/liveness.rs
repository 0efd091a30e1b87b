//! `E[] φ` from given zones, by depth first search in the zone graph restricted to φ.
//!
//! A state is a discrete state with a zone that is closed under delay inside one convex piece of `invariant ∧ φ`, under
//! `Extra_M`, which keeps regions and with them infinite runs (inclusion does not: subsumption closes cycles that do
//! not exist). Witnesses: a cycle, closed only by equality; a point from which time may pass for ever inside φ; a point
//! from which no step can be reached and φ holds until time stops. Inclusion prunes only against states whose search
//! finished without a witness.
//!
//! With symmetry the states are representatives. A cycle of representatives is a real infinite run: going around it once
//! permutes the state where it began, and permutations have finite order.

use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::graph::deadlock::{dead, leads_into};
use crate::graph::expander::{Delay, Expander};
use crate::graph::timed;
use crate::program::{ClockOp, Fault, FaultKind, Formula, Program, constrain};
use crate::search::finished::{Known, Met};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::sequential::packing;
use crate::search::wide::Guide;
use crate::store::zones::ZoneId;
use crate::symmetry::{OnePerClass, Passed, Permutation, Representative};
use crate::zone::{Federation, Zone, subtract_all};
use std::cmp::Reverse;
use std::rc::Rc;
use zonelens_syntax::span::Span;

/// What the search ended with.
pub enum Live {
    /// No run stays in φ.
    None,
    /// The states on the way to a point where the run can stay for ever, or end.
    Stays(Vec<Passed>),
    /// The states, the position among them to which the last one leads back, and the permutation met there.
    Cycle(Vec<Passed>, usize, Permutation),
    /// Stopped by the watch.
    Stopped(Stop),
    /// The model or query failed in the last of these states, or on a step from there.
    Fault(Fault, Vec<Passed>),
}

/// A formula that must keep a value.
#[derive(Clone, Copy)]
pub struct Throughout<'p> {
    /// The formula.
    pub formula: &'p Formula,
    /// The value.
    pub wanted: bool,
    /// Slots it needs.
    pub frame: u32,
}

impl Throughout<'_> {
    /// The part of zones where the value is the wanted one (or the other one).
    pub fn part(
        &self,
        expander: &mut Expander<'_>,
        zones: Federation,
        wanted: bool,
        state: &mut [i32],
    ) -> Result<Federation, Fault> {
        expander.machine.frame(self.frame, &[]);
        let program = expander.program;
        expander
            .machine
            .restrict(
                program,
                self.formula,
                self.wanted == wanted,
                zones,
                state,
                &[],
            )
            .map_err(Fault::of_query)
    }
}

struct Frame {
    state: Vec<i32>,
    zone: Zone,
    id: ZoneId,
    /// The step that led here.
    step: u32,
    /// The permutation that made it a representative.
    permutation: Permutation,
    successors: Vec<(u32, Vec<i32>, Zone)>,
    /// Memory it takes with all its successors.
    bytes: u64,
}

/// Where one step leads, before any delay.
pub struct Arrival {
    /// The step's position among those of the state.
    pub step: u32,
    /// The discrete state after it.
    pub state: Vec<i32>,
    /// The zones after it.
    pub entries: Federation,
    /// The zones in which it is taken.
    pub pieces: Federation,
    /// What it does to clocks.
    pub ops: Vec<ClockOp>,
}

/// The search; finished states are shared between calls.
pub struct Liveness<'p> {
    expander: Expander<'p>,
    program: &'p Program,
    bounds: &'p Bounds,
    /// What the runs keep.
    pub condition: Throughout<'p>,
    abstractor: Abstractor,
    known: Known,
    counts: Counts,
    stack_bytes: u64,
    /// Replaces states by representatives of their orbits.
    pub representative: Option<Representative>,
    /// Takes one step per class; none under audit.
    pub one_per_class: Option<OnePerClass>,
    /// Where to look first; what it does not know is passed over, so that only what is found counts.
    pub guide: Option<Rc<Guide>>,
}

type Try<T> = Result<T, Fault>;

/// Most successors of one state: all of them are held at once.
const MOST_ARRIVALS: usize = 1 << 20;

impl<'p> Liveness<'p> {
    /// A search for runs that keep the condition.
    pub fn new(
        program: &'p Program,
        bounds: &'p Bounds,
        condition: Throughout<'p>,
        abstraction: Abstraction,
    ) -> Liveness<'p> {
        Liveness {
            expander: Expander::new(program),
            program,
            bounds,
            condition,
            abstractor: Abstractor::new(abstraction, program.dim()),
            known: Known::new(packing(program), program.dim(), bounds.greatest_of_all()),
            counts: Counts::default(),
            stack_bytes: 0,
            representative: None,
            one_per_class: None,
            guide: None,
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        Counts {
            bytes: self.known.bytes() + self.stack_bytes,
            ..self.counts
        }
    }

    /// Searches from zones of a state that satisfy its invariant, before any delay.
    pub fn search(&mut self, state: &[i32], entries: Federation, watch: &mut Watch<'_>) -> Live {
        let mut stack: Vec<Frame> = Vec::new();
        let mut owned = state.to_vec();
        let starts = match self.settle(0, &mut owned, entries) {
            Ok(starts) => self.guided(starts),
            Err(fault) => return Live::Fault(fault, Vec::new()),
        };
        for (step, state, zone) in starts {
            if let Some(end) = self.search_from(step, state, zone, &mut stack, watch) {
                return end;
            }
        }
        Live::None
    }

    fn search_from(
        &mut self,
        step: u32,
        state: Vec<i32>,
        zone: Zone,
        stack: &mut Vec<Frame>,
        watch: &mut Watch<'_>,
    ) -> Option<Live> {
        if let Some(end) = self.enter(step, state, zone, stack) {
            return Some(end);
        }
        while let Some(frame) = stack.last_mut() {
            if let Some(stop) = watch.check(|| self.counts()) {
                return Some(Live::Stopped(stop));
            }
            match frame.successors.pop() {
                Some((step, state, zone)) => {
                    if let Some(end) = self.enter(step, state, zone, stack) {
                        return Some(end);
                    }
                }
                None => {
                    let Some(frame) = stack.pop() else { break };
                    self.known.finish(&frame.state, &frame.zone, frame.id);
                    self.stack_bytes -= frame.bytes;
                }
            }
        }
        None
    }

    /// Puts a state on the stack unless it is finished; a witness ends the search.
    fn enter(
        &mut self,
        step: u32,
        mut state: Vec<i32>,
        mut zone: Zone,
        stack: &mut Vec<Frame>,
    ) -> Option<Live> {
        self.counts.transitions += 1;
        if zone.overflowed() {
            return Some(Live::Stopped(Stop::Overflow));
        }
        let permutation = match &mut self.representative {
            Some(representative) => representative.reduce(&mut state, &mut zone),
            None => Permutation(Vec::new()),
        };
        let id = match self.known.meet(&state, &zone) {
            Met::Finished => return None,
            Met::New(id) => id,
            Met::OnStack(id) => {
                let start = stack
                    .iter()
                    .position(|f| f.id == id && f.state == state)
                    .unwrap_or(0);
                let path = passed(std::mem::take(stack), Some(step));
                return Some(Live::Cycle(path, start, permutation));
            }
        };
        self.known.enter(&state, id);
        self.counts.stored += 1;
        self.counts.explored += 1;
        let ends = self.ends_here(&mut state, &zone);
        let successors = match ends {
            Ok(false) => self.successors(&mut state, &zone),
            Ok(true) => Ok(Vec::new()),
            Err(fault) => Err(fault),
        };
        let (successors, fault) = match successors {
            Ok(successors) => (successors, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        let one = zone.raw().len() * 4 + state.len() * 4 + 96;
        let bytes = ((1 + successors.len()) * one) as u64;
        self.stack_bytes += bytes;
        stack.push(Frame {
            state,
            zone,
            id,
            step,
            permutation,
            successors,
            bytes,
        });
        let mut path = || passed(std::mem::take(stack), None);
        match fault {
            Some(fault) => Some(Live::Fault(fault, path())),
            None => (ends == Ok(true)).then(|| Live::Stays(path())),
        }
    }

    /// Whether a run can stay here for ever, or end here, with the condition true to its end.
    pub fn ends_here(&mut self, state: &mut [i32], zone: &Zone) -> Try<bool> {
        let delay = self.expander.delay_of(state)?;
        if zone.unbounded() && may_wait(&delay, zone) {
            return Ok(true);
        }
        let stuck = stuck(&mut self.expander, &self.condition, state, zone, &delay)?;
        Ok(!stuck.is_empty())
    }

    fn successors(&mut self, state: &mut [i32], zone: &Zone) -> Try<Vec<(u32, Vec<i32>, Zone)>> {
        let mut result = Vec::new();
        for mut arrival in self.arrivals(state, zone)?.into_iter().rev() {
            result.extend(self.settle(arrival.step, &mut arrival.state, arrival.entries)?);
        }
        Ok(self.guided(result))
    }

    /// The states that the guide knows, the nearest last, which is taken first.
    fn guided(&self, mut states: Vec<(u32, Vec<i32>, Zone)>) -> Vec<(u32, Vec<i32>, Zone)> {
        if let Some(guide) = &self.guide {
            let distance = |next: &(u32, Vec<i32>, Zone)| guide.distance(&next.1);
            states.retain(|next| distance(next).is_some());
            states.sort_by_key(|next| Reverse(distance(next)));
        }
        states
    }

    /// Where the steps of a state lead.
    pub fn arrivals(&mut self, state: &mut [i32], zone: &Zone) -> Try<Vec<Arrival>> {
        let mut next = Vec::new();
        if let (Some(one), Some(r)) = (&mut self.one_per_class, &self.representative) {
            one.begin(self.program, r, state, zone, &mut self.expander.steps);
        }
        let found = self.expander.find_steps(state, zone);
        self.expander.steps.interchange = None;
        found?;
        let mut arrivals = Vec::new();
        for index in 0..self.expander.steps.len() {
            if let (Some(one), Some(r)) = (&mut self.one_per_class, &self.representative)
                && !one.is_first(self.program, r.tables(), &self.expander.steps, index)
            {
                continue;
            }
            let step = self.expander.steps.get(index).clone();
            let mut pieces = self.expander.enabled(&step, state, zone)?;
            if self.program.has_priorities {
                pieces = self
                    .expander
                    .without_higher(index, pieces, state, &mut next)?;
            }
            if pieces.is_empty() {
                continue;
            }
            self.expander.fire(&step, state, &mut next)?;
            let ops = self.expander.machine.clock_ops.clone();
            let mut invariant = Vec::new();
            if !self
                .expander
                .invariant_constraints(&mut next, &mut invariant)?
            {
                continue;
            }
            let entries: Federation = pieces
                .iter()
                .filter_map(|piece| {
                    let mut z = piece.clone();
                    Expander::apply_ops(&mut z, &ops);
                    constrain(&mut z, &invariant).then_some(z)
                })
                .collect();
            if arrivals.len() == MOST_ARRIVALS {
                return Err(FaultKind::TooManySteps.at(Span::default()));
            }
            if !entries.is_empty() {
                arrivals.push(Arrival {
                    step: index as u32,
                    state: next.clone(),
                    entries,
                    pieces,
                    ops,
                });
            }
        }
        Ok(arrivals)
    }

    /// From zones that enter a state to the abstracted zones, closed under delay inside the condition.
    pub fn settle(
        &mut self,
        step: u32,
        state: &mut [i32],
        entries: Federation,
    ) -> Try<Vec<(u32, Vec<i32>, Zone)>> {
        let mut result = Vec::new();
        let mut invariant = Vec::new();
        if !self.expander.invariant_constraints(state, &mut invariant)? {
            return Ok(result);
        }
        let delay = self.expander.delay_of(state)?;
        let mut settled = Vec::new();
        for mut entry in entries {
            if !constrain(&mut entry, &invariant) {
                continue;
            }
            match &delay {
                Delay::Stopped => {
                    settled.extend(self.condition.part(
                        &mut self.expander,
                        vec![entry],
                        true,
                        state,
                    )?);
                }
                Delay::Free | Delay::Until(_) => {
                    let mut room = entry.clone();
                    room.up();
                    constrain(&mut room, &invariant);
                    let stops = match &delay {
                        Delay::Until(urgent) => timed::stops(&room, urgent),
                        _ => Vec::new(),
                    };
                    let pieces =
                        self.condition
                            .part(&mut self.expander, vec![room], true, state)?;
                    settled.extend(timed::reach_until(&entry, &pieces, &stops));
                }
            }
        }
        self.abstractor.at_state(self.program, self.bounds, state);
        let mut zones = Vec::new();
        for zone in settled {
            self.abstractor.apply(self.bounds, zone, &mut zones);
        }
        if self.abstractor.kind == Abstraction::ExtraLu {
            // It forgets upper bounds above L, and would let time pass beyond the invariant.
            zones.retain_mut(|zone| constrain(zone, &invariant));
        }
        result.extend(zones.into_iter().map(|zone| (step, state.to_vec(), zone)));
        Ok(result)
    }
}

/// The points of a zone where a run can stay for ever, or end, with the condition true to its end. The zone must lie in
/// the condition and be closed under the delays that it allows.
pub fn endings(
    expander: &mut Expander<'_>,
    condition: &Throughout<'_>,
    state: &mut [i32],
    zone: &Zone,
) -> Try<Federation> {
    let delay = expander.delay_of(state)?;
    let mut parts = match zone.unbounded() {
        true => waiting(&delay, zone),
        false => Vec::new(),
    };
    match stuck(expander, condition, state, zone, &delay) {
        Ok(stuck) => parts.extend(stuck),
        // Where a guard fails, nothing is known to be stuck; waiting needs no step.
        Err(fault) if expander.lenient && !fault.kind.is_ours() => {}
        Err(fault) => return Err(fault),
    }
    Ok(parts)
}

/// The points of a zone from which no step can be reached and the condition holds until time stops.
fn stuck(
    expander: &mut Expander<'_>,
    condition: &Throughout<'_>,
    state: &mut [i32],
    zone: &Zone,
    delay: &Delay,
) -> Try<Federation> {
    let stuck = dead(expander, state, zone)?;
    if stuck.is_empty() || *delay == Delay::Stopped {
        return Ok(stuck);
    }
    let mut room = zone.clone();
    let mut invariant = Vec::new();
    expander.invariant_constraints(state, &mut invariant)?;
    room.up();
    constrain(&mut room, &invariant);
    let outside = vec![room.clone()];
    let spoilt = condition.part(expander, outside, false, state)?;
    Ok(subtract_all(stuck, &leads_into(spoilt, delay, &room)))
}

/// Whether time may pass for ever from some point of a zone that no invariant bounds. A hull may hold points where an
/// urgent synchronisation stops time beside others that never meet one.
pub fn may_wait(delay: &Delay, zone: &Zone) -> bool {
    !waiting(delay, zone).is_empty()
}

/// The points of a zone that no invariant bounds from which time may pass for ever.
fn waiting(delay: &Delay, zone: &Zone) -> Federation {
    match delay {
        Delay::Stopped => Vec::new(),
        Delay::Free => vec![zone.clone()],
        Delay::Until(urgent) => {
            let mut stops = timed::stops(zone, urgent);
            stops.iter_mut().for_each(Zone::down);
            subtract_all(vec![zone.clone()], &stops)
        }
    }
}

/// The frames of a stack as a path; `last` is the step taken from the top.
fn passed(stack: Vec<Frame>, last: Option<u32>) -> Vec<Passed> {
    let mut next: Vec<Option<u32>> = stack.iter().skip(1).map(|f| Some(f.step)).collect();
    next.push(last);
    let frames = stack.into_iter().zip(next);
    frames
        .map(|(frame, step)| Passed {
            state: frame.state,
            zone: frame.zone,
            permutation: frame.permutation,
            step,
        })
        .collect()
}
