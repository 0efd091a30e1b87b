//! The exact conditions along a path: what must hold when each state is entered and left.

use crate::graph::expander::{Delay, Expander};
use crate::graph::steps::NamedStep;
use crate::graph::timed;
use crate::program::{ClockOp, Constraint, EdgeId, Fault, FaultKind, Program, constrain};
use crate::zone::{Federation, INF, Zone, subtract_all};
use zonelens_interpreter::Limit;

/// A step as replay and display need it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Move {
    /// The channel of a synchronisation.
    pub channel: Option<u32>,
    /// The edges with the values of their select variables, sender first.
    pub edges: Vec<(EdgeId, Vec<i32>)>,
}

/// What the path requires of a state: the stay in it, and the step that ends the stay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stay {
    /// Whether time may pass.
    pub delay: bool,
    /// Constraints that hold when the state is entered.
    pub entry: Vec<Constraint>,
    /// Constraints that hold when the state is left.
    pub exit: Vec<Constraint>,
    /// The step and its clock operations; `None` at the end of the path.
    pub step: Option<(Move, Vec<ClockOp>)>,
}

/// A path with its conditions.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// One per state.
    pub stays: Vec<Stay>,
}

/// The part of a state that a run must stay in: disjoint convex parts for each discrete state and
/// zone; `None` for all of it.
pub(crate) type Condition<'a> =
    &'a mut dyn FnMut(&mut [i32], &Zone) -> Result<Option<Federation>, Fault>;

/// One way to pass through a state; there are several if something is not convex.
struct Way {
    /// The index of the way through the state before.
    parent: usize,
    entry: Zone,
    exit: Zone,
    split: bool,
    /// An urgent synchronisation is enabled when the state is entered: no time may pass.
    at_once: bool,
}

/// What happens at the end of a stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// The step at this position of the state's step list.
    Step(u32),
    /// The step with these edges.
    Named(NamedStep),
    /// No step: from here on the condition `along` must hold (and `at_pivot` at this moment).
    Pivot,
}

/// The conditions of a path.
pub(crate) struct Conditions<'a> {
    /// The limit after which the work stops.
    pub limit: Limit<'a>,
    /// The condition at the pivot.
    pub at_pivot: Condition<'a>,
    /// The condition everywhere from the pivot on.
    pub along: Condition<'a>,
    /// The condition at the end.
    pub at_end: Condition<'a>,
}

/// Follows a path from the initial state with exact zones. `None` if no run takes the path, which
/// cannot happen with an exact abstraction.
pub(crate) fn follow(
    program: &Program,
    leaves: &[PathStep],
    mut conditions: Conditions<'_>,
) -> Result<Option<Path>, Fault> {
    let mut follower = Follower::new(program);
    let mut levels: Vec<Vec<Way>> = Vec::new();
    let mut stays = Vec::new();
    for k in 0..=leaves.len() {
        let (ways, stay) = follower.pass(leaves.get(k), &mut conditions)?;
        if ways.is_empty() {
            return Ok(None);
        }
        levels.push(ways);
        stays.push(stay);
    }
    choose(&levels, &mut stays);
    Ok(Some(Path { stays }))
}

/// A position on a path: the discrete state, and the zones in which it is entered.
pub(crate) struct Follower<'p> {
    expander: Expander<'p>,
    pub state: Vec<i32>,
    /// Each zone with the way through the state before that leads to it.
    pub entries: Vec<(usize, Zone)>,
    /// Whether the pivot was passed, so that the condition must hold.
    pub pivoted: bool,
}

impl<'p> Follower<'p> {
    pub(super) fn new(program: &'p Program) -> Follower<'p> {
        let mut expander = Expander::new(program);
        expander.lenient = true;
        Follower {
            expander,
            state: program.initial.clone(),
            entries: vec![(0, Zone::point(&program.initial_clocks))],
            pivoted: false,
        }
    }

    /// Passes through a state and leaves it, or ends there; no ways if that is impossible.
    fn pass(
        &mut self,
        leaving: Option<&PathStep>,
        conditions: &mut Conditions<'_>,
    ) -> Result<(Vec<Way>, Stay), Fault> {
        if conditions.limit.is_over().is_some() {
            return Err(FaultKind::Interrupted.nowhere());
        }
        let (expander, state) = (&mut self.expander, &mut self.state);
        let mut invariant = Vec::new();
        if !expander.invariant_constraints(state, &mut invariant)? {
            self.entries.clear();
            return Ok((Vec::new(), Stay::default()));
        }
        let delay = expander.delay_of(state)?;
        let mut ways = Vec::new();
        for (parent, mut entry) in self.entries.drain(..) {
            if constrain(&mut entry, &invariant) {
                let parts = if self.pivoted {
                    (conditions.along)(state, &room(&entry, &invariant))?
                } else {
                    None
                };
                ways.extend(ways_through(parent, entry, &invariant, &delay, parts));
            }
        }
        let mut stay = Stay {
            delay: delay != Delay::Stopped,
            entry: invariant.clone(),
            exit: invariant,
            step: None,
        };
        let mut next = Vec::new();
        ways = match leaving {
            None => end(ways, state, conditions.at_end)?,
            Some(PathStep::Pivot) => {
                self.pivoted = true;
                end(ways, state, conditions.at_pivot)?
            }
            Some(step) => match position(expander, state, step)? {
                Some(index) => leave(expander, index, state, ways, &mut stay, &mut next)?,
                None => Vec::new(),
            },
        };
        let ways = widest(ways);
        for (index, way) in ways.iter().enumerate() {
            let mut zone = way.exit.clone();
            if let Some((_, ops)) = &stay.step {
                Expander::apply_ops(&mut zone, ops);
            }
            self.entries.push((index, zone));
        }
        if stay.step.is_some() && !ways.is_empty() {
            *state = next;
        }
        Ok((ways, stay))
    }

    /// Whether a run can end here.
    pub(super) fn ends(&mut self, conditions: &mut Conditions<'_>) -> Result<bool, Fault> {
        Ok(!self.pass(None, conditions)?.0.is_empty())
    }

    /// Takes these steps one after the other; false if no run does.
    pub(super) fn take(
        &mut self,
        leaves: &[PathStep],
        conditions: &mut Conditions<'_>,
    ) -> Result<bool, Fault> {
        for leave in leaves {
            self.pass(Some(leave), conditions)?;
            if self.entries.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The ways without those that end inside another one: what can follow depends only on the exit.
/// Without this, the number of ways through pieces of a condition that is not convex would double
/// from state to state.
fn widest(ways: Vec<Way>) -> Vec<Way> {
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        if !kept.iter().any(|other| other.exit.includes(&way.exit)) {
            kept.retain(|other| !way.exit.includes(&other.exit));
            kept.push(way);
        }
    }
    kept
}

/// Finds a step; returns its position among the steps found.
pub(crate) fn position(
    expander: &mut Expander<'_>,
    state: &mut [i32],
    step: &PathStep,
) -> Result<Option<usize>, Fault> {
    let (program, machine) = (expander.program, &mut expander.machine);
    match step {
        PathStep::Named(step) => {
            let found = expander.steps.find_named(program, machine, state, step)?;
            if found.is_some() && !program.has_priorities {
                expander.steps.find_doubtful(program, machine, state)?;
            }
            Ok(found)
        }
        PathStep::Step(index) => {
            expander.steps.find(program, machine, state)?;
            let index = *index as usize;
            Ok((index < expander.steps.len()).then_some(index))
        }
        PathStep::Pivot => Ok(None),
    }
}

/// All points that delays from `entry` can reach under the invariant.
fn room(entry: &Zone, invariant: &[Constraint]) -> Zone {
    let mut room = entry.clone();
    room.up();
    constrain(&mut room, invariant);
    room
}

/// The ways to let time pass from an entry zone. Pieces are followed from each piece where the stay
/// starts: along one line of time a piece is an interval, so every pair of entry and exit on that
/// line is connected.
fn ways_through(
    parent: usize,
    entry: Zone,
    invariant: &[Constraint],
    delay: &Delay,
    parts: Option<Federation>,
) -> Vec<Way> {
    let split = parts.is_some() || matches!(delay, Delay::Until(_));
    let starts = match &parts {
        Some(parts) => crate::program::intersect_all(std::slice::from_ref(&entry), parts),
        None => vec![entry],
    };
    let mut ways = Vec::new();
    for start in starts {
        let exits: Vec<Zone> = match (delay, &parts) {
            (Delay::Stopped, _) => vec![start.clone()],
            (Delay::Free, None) => vec![room(&start, invariant)],
            (Delay::Free, Some(parts)) => timed::reach_within(&start, parts)
                .into_iter()
                .flatten()
                .collect(),
            (Delay::Until(urgent), _) => {
                let whole = room(&start, invariant);
                let stops = timed::stops(&whole, urgent);
                let whole = [whole];
                let pieces = parts.as_deref().unwrap_or(&whole);
                for piece in subtract_all(vec![start.clone()], &stops) {
                    let exits = timed::reach_until(&piece, pieces, &stops);
                    ways.extend(exits.into_iter().map(|exit| Way {
                        parent,
                        entry: piece.clone(),
                        exit,
                        split,
                        at_once: false,
                    }));
                }
                for piece in crate::program::intersect_all(std::slice::from_ref(&start), &stops) {
                    ways.push(Way {
                        parent,
                        entry: piece.clone(),
                        exit: piece,
                        split,
                        at_once: true,
                    });
                }
                Vec::new()
            }
        };
        ways.extend(exits.into_iter().map(|exit| Way {
            parent,
            entry: start.clone(),
            exit,
            split,
            at_once: false,
        }));
    }
    ways
}

/// The ways that satisfy the condition at the end.
fn end(ways: Vec<Way>, state: &mut [i32], at_end: Condition<'_>) -> Result<Vec<Way>, Fault> {
    let mut result = Vec::new();
    for way in ways {
        match at_end(state, &way.exit)? {
            None => result.push(way),
            Some(parts) => {
                for exit in parts {
                    result.push(Way {
                        parent: way.parent,
                        entry: way.entry.clone(),
                        exit,
                        split: true,
                        at_once: way.at_once,
                    });
                }
            }
        }
    }
    Ok(result)
}

/// The ways from which the step can be taken.
fn leave(
    expander: &mut Expander<'_>,
    index: usize,
    state: &mut [i32],
    ways: Vec<Way>,
    stay: &mut Stay,
    next: &mut Vec<i32>,
) -> Result<Vec<Way>, Fault> {
    if index >= expander.steps.len() {
        return Ok(Vec::new());
    }
    let step = expander.steps.get(index).clone();
    let mut guard = Vec::new();
    if !expander.guard_constraints(&step, state, &mut guard)? {
        return Ok(Vec::new());
    }
    stay.exit.extend(guard);
    let mut result = Vec::new();
    for way in ways {
        let mut pieces = expander.enabled(&step, state, &way.exit)?;
        let mut split = way.split || !expander.steps.blocked(&step).is_empty();
        if !expander.steps.doubtful.is_empty() {
            // If another guard fails at a point, the model fails there: a run to the goal must
            // avoid such points.
            split = true;
            pieces = expander.without_doubtful(pieces, state);
        }
        if expander.program.has_priorities {
            split = true;
            pieces = expander.without_higher(index, pieces, state, next)?;
        }
        for exit in pieces {
            result.push(Way {
                parent: way.parent,
                entry: way.entry.clone(),
                exit,
                split,
                at_once: way.at_once,
            });
        }
    }
    if result.is_empty() {
        return Ok(result);
    }
    expander.fire(&step, state, next)?;
    let edges = expander
        .steps
        .parts(&step)
        .iter()
        .map(|part| {
            (
                part.edge,
                expander.steps.values(expander.program, *part).to_vec(),
            )
        })
        .collect();
    let taken = Move {
        channel: step.channel,
        edges,
    };
    stay.step = Some((taken, expander.machine.clock_ops.clone()));
    Ok(result)
}

/// Selects one chain of ways, starting at the end, and adds its pieces to the conditions of the
/// stays.
fn choose(levels: &[Vec<Way>], stays: &mut [Stay]) {
    let mut at = 0;
    for (ways, stay) in levels.iter().zip(stays).rev() {
        let way = &ways[at];
        stay.delay &= !way.at_once;
        if way.split {
            stay.entry.extend(bounds_of(&way.entry));
            stay.exit.extend(bounds_of(&way.exit));
        }
        at = way.parent;
    }
}

fn bounds_of(zone: &Zone) -> Vec<Constraint> {
    let mut result = Vec::new();
    for i in 0..zone.dim() {
        for j in 0..zone.dim() {
            let b = zone.at(i, j);
            if i != j && b != INF {
                result.push(Constraint {
                    i: i as u32,
                    j: j as u32,
                    b,
                });
            }
        }
    }
    result
}

/// Steps by their positions, as searches without symmetry store them.
pub(crate) fn by_position(steps: Vec<u32>) -> Vec<PathStep> {
    steps.into_iter().map(PathStep::Step).collect()
}
