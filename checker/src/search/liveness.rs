//! `E[] φ` from given zones, by depth-first search in the zone graph restricted to φ.
//!
//! A state is a discrete state with a zone that is closed under delay inside one convex piece of
//! `invariant ∧ φ`, under `Extra_M`, which preserves regions and so infinite runs (inclusion does
//! not: subsumption closes cycles that do not exist). A witness is one of: a cycle, closed only by
//! equality; a point from which time may pass for ever inside φ; a point from which no step can be
//! reached and φ holds until time stops. Inclusion prunes only against states whose search finished
//! without a witness.
//!
//! With symmetry, the states are representatives. A cycle of representatives is a real infinite
//! run: going around it once permutes the state where it began, and permutations have finite order.

use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::graph::expander::{Delay, Expander};
use crate::graph::throughout::{Throughout, may_wait, stuck};
use crate::graph::timed;
use crate::graph::{Broken, Passed, Successors};
use crate::program::{ClockOp, Fault, FaultKind, Program, constrain};
use crate::search::finished::{Known, Met};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::sequential::packing;
use crate::search::wide::Guide;
use crate::store::zones::ZoneId;
use crate::zone::{Federation, Shape, Zone};
use std::cmp::Reverse;
use std::rc::Rc;

/// The result of the search.
pub(crate) enum Live<M> {
    /// No run stays in φ.
    None,
    /// The states on the path to a point where the run can stay for ever, or end.
    Stays(Vec<Passed<M>>),
    /// The states, the index of the state to which the last one leads back, and the permutation
    /// that was applied to the state met there.
    Cycle(Vec<Passed<M>>, usize, Option<M>),
    /// The watch stopped the search.
    Stopped(Stop),
    /// A fault of the model or query in the last of these states, or on a step from it.
    Fault(Fault, Vec<Passed<M>>),
}

struct Frame<M> {
    state: Vec<i32>,
    zone: Zone,
    id: ZoneId,
    /// The step that leads here.
    step: u32,
    /// The permutation that was applied to it.
    moved_by: Option<M>,
    successors: Vec<(u32, Vec<i32>, Zone)>,
    /// The memory of the frame with all its successors.
    bytes: u64,
}

/// The target of one step, before any delay.
pub(crate) struct Arrival {
    /// The index of the step among those of the state.
    pub step: u32,
    /// The discrete state after it.
    pub state: Vec<i32>,
    /// The zones after it.
    pub entries: Federation,
    /// The zones in which the step is taken.
    pub pieces: Federation,
    /// The operations of the step on clocks.
    pub ops: Vec<ClockOp>,
}

/// The search; finished states are shared between calls.
pub(crate) struct Liveness<'p, S> {
    /// Computes steps and representatives.
    pub graph: S,
    program: &'p Program,
    bounds: &'p Bounds,
    /// The condition that the runs keep.
    pub condition: Throughout<'p>,
    abstractor: Abstractor,
    known: Known,
    counts: Counts,
    stack_bytes: u64,
    /// Where to search first. States that the guide does not know are skipped, so that only a
    /// witness counts as a result.
    pub guide: Option<Rc<Guide>>,
    /// The finished states in the order in which they were finished, if they are wanted: each state
    /// leads only to states that are covered by earlier ones.
    pub finished: Option<Vec<(Vec<i32>, Zone)>>,
    finished_bytes: u64,
}

type Try<T> = Result<T, Fault>;

/// The most successors of one state: all of them are in memory at once.
const MOST_ARRIVALS: usize = 1 << 20;

impl<'p, S: Successors<'p>> Liveness<'p, S> {
    /// Creates a search for runs that keep the condition.
    pub(crate) fn new(
        program: &'p Program,
        bounds: &'p Bounds,
        condition: Throughout<'p>,
        abstraction: Abstraction,
        graph: S,
    ) -> Liveness<'p, S> {
        Liveness {
            graph,
            program,
            bounds,
            condition,
            abstractor: Abstractor::new(abstraction, program.dim()),
            known: Known::new(packing(program), program.dim(), bounds.greatest_of_all()),
            counts: Counts::default(),
            stack_bytes: 0,
            guide: None,
            finished: None,
            finished_bytes: 0,
        }
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            bytes: self.known.bytes() + self.stack_bytes + self.finished_bytes,
            ..self.counts
        }
    }

    /// Searches from zones of a state that satisfy its invariant, before any delay.
    pub(crate) fn search(
        &mut self,
        state: &[i32],
        entries: Federation,
        watch: &mut Watch<'_>,
    ) -> Live<S::Move> {
        let mut stack: Vec<Frame<S::Move>> = Vec::new();
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
        stack: &mut Vec<Frame<S::Move>>,
        watch: &mut Watch<'_>,
    ) -> Option<Live<S::Move>> {
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
                    if let Some(finished) = &mut self.finished {
                        let bytes = frame.zone.raw().len() * 4 + frame.state.len() * 4 + 96;
                        self.finished_bytes += bytes as u64;
                        finished.push((frame.state, frame.zone));
                    }
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
        stack: &mut Vec<Frame<S::Move>>,
    ) -> Option<Live<S::Move>> {
        self.counts.transitions += 1;
        if zone.overflowed() {
            return Some(Live::Stopped(Stop::Overflow));
        }
        let moved_by = self.graph.represent(&mut state, &mut zone);
        let id = match self.known.meet(&state, &zone) {
            Met::Finished => return None,
            Met::New(id) => id,
            Met::OnStack(id) => {
                let start = stack
                    .iter()
                    .position(|f| f.id == id && f.state == state)
                    .unwrap_or(0);
                let path = passed(std::mem::take(stack), Some(step));
                return Some(Live::Cycle(path, start, moved_by));
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
            moved_by,
            successors,
            bytes,
        });
        let mut path = || passed(std::mem::take(stack), None);
        match fault {
            Some(fault) => Some(Live::Fault(fault, path())),
            None => (ends == Ok(true)).then(|| Live::Stays(path())),
        }
    }

    /// Whether a run can stay here for ever, or end here, with the condition true to the end.
    pub(crate) fn ends_here(&mut self, state: &mut [i32], zone: &Zone) -> Try<bool> {
        let delay = self.graph.expander().delay_of(state)?;
        if zone.unbounded() && may_wait(&delay, zone) {
            return Ok(true);
        }
        let stuck = stuck(self.graph.expander(), &self.condition, state, zone, &delay)?;
        Ok(!stuck.is_empty())
    }

    fn successors(&mut self, state: &mut [i32], zone: &Zone) -> Try<Vec<(u32, Vec<i32>, Zone)>> {
        let mut result = Vec::new();
        for mut arrival in self.arrivals(state, zone)?.into_iter().rev() {
            result.extend(self.settle(arrival.step, &mut arrival.state, arrival.entries)?);
        }
        Ok(self.guided(result))
    }

    /// The states that the guide knows. The nearest is last, because the last one is taken first.
    fn guided(&self, mut states: Vec<(u32, Vec<i32>, Zone)>) -> Vec<(u32, Vec<i32>, Zone)> {
        if let Some(guide) = &self.guide {
            let distance = |next: &(u32, Vec<i32>, Zone)| guide.distance(&next.1);
            states.retain(|next| distance(next).is_some());
            states.sort_by_key(|next| Reverse(distance(next)));
        }
        states
    }

    /// The targets of the steps of a state.
    pub(crate) fn arrivals(&mut self, state: &mut [i32], zone: &Zone) -> Try<Vec<Arrival>> {
        let mut next = Vec::new();
        let steps = match self.graph.begin(state, Shape::Whole(zone)) {
            Ok(steps) => steps,
            Err(Broken::Fault(fault)) => return Err(fault),
            // Nothing has been computed yet; an audit examines the states of this search
            // separately.
            Err(Broken::Overflow | Broken::Asymmetric(_)) => 0,
        };
        let mut arrivals = Vec::new();
        for index in 0..steps {
            if !self.graph.takes(index) {
                continue;
            }
            let expander = self.graph.expander();
            let step = expander.steps.get(index).clone();
            let mut pieces = expander.enabled(&step, state, zone)?;
            if self.program.has_priorities {
                pieces = expander.without_higher(index, pieces, state, &mut next)?;
            }
            if pieces.is_empty() {
                continue;
            }
            expander.fire(&step, state, &mut next)?;
            let ops = expander.machine.clock_ops.clone();
            let mut invariant = Vec::new();
            if !expander.invariant_constraints(&mut next, &mut invariant)? {
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
                return Err(FaultKind::TooManySteps.nowhere());
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

    /// From zones that enter a state to abstracted zones, closed under delay inside the condition.
    pub(crate) fn settle(
        &mut self,
        step: u32,
        state: &mut [i32],
        entries: Federation,
    ) -> Try<Vec<(u32, Vec<i32>, Zone)>> {
        let mut result = Vec::new();
        let mut invariant = Vec::new();
        if !self
            .graph
            .expander()
            .invariant_constraints(state, &mut invariant)?
        {
            return Ok(result);
        }
        let delay = self.graph.expander().delay_of(state)?;
        let mut settled = Vec::new();
        for mut entry in entries {
            if !constrain(&mut entry, &invariant) {
                continue;
            }
            match &delay {
                Delay::Stopped => {
                    settled.extend(self.condition.part(
                        self.graph.expander(),
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
                            .part(self.graph.expander(), vec![room], true, state)?;
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
            // It drops upper bounds above L, and would let time pass beyond the invariant.
            zones.retain_mut(|zone| constrain(zone, &invariant));
        }
        result.extend(zones.into_iter().map(|zone| (step, state.to_vec(), zone)));
        Ok(result)
    }
}

/// The frames of a stack as a path; `last` is the step taken from the top.
fn passed<M>(stack: Vec<Frame<M>>, last: Option<u32>) -> Vec<Passed<M>> {
    let mut next: Vec<Option<u32>> = stack.iter().skip(1).map(|f| Some(f.step)).collect();
    next.push(last);
    let frames = stack.into_iter().zip(next);
    frames
        .map(|(frame, step)| Passed {
            state: frame.state,
            zone: frame.zone,
            moved_by: frame.moved_by,
            step,
        })
        .collect()
}
