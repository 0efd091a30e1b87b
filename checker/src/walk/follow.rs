//! The zones along a walk, computed forward.

use super::Named;
use crate::graph::expander::{Delay, Expander};
use crate::program::{ClockOp, Conjunction, Fault, FaultKind, Program, constrain};
use crate::zone::{Federation, Zone};
use rustc_hash::FxHashMap;
use zonelens_interpreter::Limit;

/// The most convex pieces of the set of one state.
const MOST_PIECES: usize = 4096;
/// The most combinations of receivers of one broadcast to explore.
const FEW_WAYS: usize = 1024;

/// A state of the walk.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// The discrete state.
    pub state: Vec<i32>,
    /// The points that can be reached in it, delays included.
    pub zones: Federation,
    /// Its invariant.
    pub invariant: Conjunction,
    /// How time passes in it.
    pub delay: Delay,
    /// The transition by which it is left.
    pub left: Option<Left>,
}

/// A transition out of a state of the walk.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// The transition.
    pub step: Named,
    /// The points at which the transition is taken.
    pub exits: Federation,
    /// The clock operations of the transition.
    pub ops: Vec<ClockOp>,
}

impl Level {
    /// The number of bounds that are stored here.
    pub(super) fn bounds(&self) -> usize {
        let exits = self.left.as_ref().map_or(&[][..], |left| &left.exits);
        let zones = self.zones.iter().chain(exits);
        zones.map(|z| z.dim() * z.dim()).sum::<usize>() + self.state.len()
    }
}

fn expander(program: &Program) -> Expander<'_> {
    let mut expander = Expander::new(program);
    // Points where a guard fails are left out: no run continues there, and they are not shown.
    expander.lenient = true;
    expander
}

/// The initial state.
pub(super) fn initial(program: &Program) -> Result<Level, Fault> {
    let point = Zone::point(&program.initial_clocks);
    let entered = enter(program, program.initial.clone(), vec![point])?;
    entered.ok_or_else(|| FaultKind::NotConvex.nowhere())
}

/// A state that is entered at these points; `None` if its invariant excludes all of them.
fn enter(
    program: &Program,
    mut state: Vec<i32>,
    entries: Federation,
) -> Result<Option<Level>, Fault> {
    let mut expander = expander(program);
    let mut invariant = Vec::new();
    if !expander.invariant_constraints(&mut state, &mut invariant)? {
        return Ok(None);
    }
    let delay = expander.delay_of(&mut state)?;
    let zones = widest(expander.arrive(&mut state, entries)?)?;
    Ok((!zones.is_empty()).then_some(Level {
        state,
        zones,
        invariant,
        delay,
        left: None,
    }))
}

/// Leaves a state by a transition; `None` if no point of the state allows it.
pub(super) fn pass(
    program: &Program,
    level: &mut Level,
    step: &Named,
    limit: Limit<'_>,
) -> Result<Option<Level>, Fault> {
    if limit.is_over().is_some() {
        return Err(FaultKind::Interrupted.nowhere());
    }
    let mut expander = expander(program);
    let (machine, state) = (&mut expander.machine, &mut level.state);
    let found = expander.steps.find_named(program, machine, state, step)?;
    let Some(index) = found else {
        return Ok(None);
    };
    if !program.has_priorities {
        expander.steps.find_doubtful(program, machine, state)?;
    }
    let mut next = Vec::new();
    let exits = exits(&mut expander, index, level, &mut next)?;
    if exits.is_empty() {
        return Ok(None);
    }
    let taken = expander.steps.get(index).clone();
    expander.fire(&taken, &level.state, &mut next)?;
    let ops = expander.machine.clock_ops.clone();
    let mut entries = exits.clone();
    entries
        .iter_mut()
        .for_each(|zone| Expander::apply_ops(zone, &ops));
    level.left = Some(Left {
        step: step.clone(),
        exits,
        ops,
    });
    enter(program, next, entries)
}

/// The points of a state at which one of the steps found can be taken, wherever it leads.
fn exits(
    expander: &mut Expander<'_>,
    index: usize,
    level: &mut Level,
    next: &mut Vec<i32>,
) -> Result<Federation, Fault> {
    let step = expander.steps.get(index).clone();
    let mut exits = Vec::new();
    for zone in &level.zones {
        let mut pieces = expander.enabled(&step, &mut level.state, zone)?;
        if !expander.steps.doubtful.is_empty() {
            pieces = expander.without_doubtful(pieces, &mut level.state);
        }
        if expander.program.has_priorities {
            pieces = expander.without_higher(index, pieces, &mut level.state, next)?;
        }
        exits.extend(pieces);
    }
    widest(exits)
}

/// The transitions that some point of a state allows, and the number of those that were not
/// examined.
pub(super) fn transitions(
    program: &Program,
    level: &Level,
    limit: Limit<'_>,
) -> Result<(Vec<Named>, usize), Fault> {
    let mut level = level.clone();
    let mut expander = expander(program);
    let (machine, state) = (&mut expander.machine, &mut level.state);
    expander.steps.find(program, machine, state)?;
    let all: Vec<Named> = (0..expander.steps.len())
        .map(|k| expander.steps.named(program, k))
        .collect();
    let mut ways: FxHashMap<_, usize> = FxHashMap::default();
    for step in &all {
        *ways.entry(step.first()).or_default() += 1;
    }
    let (mut found, mut left_out) = (Vec::new(), 0);
    let mut next = Vec::new();
    for (index, step) in all.iter().enumerate() {
        if ways.get(&step.first()).is_some_and(|n| *n > FEW_WAYS) {
            left_out += 1;
            continue;
        }
        if limit.is_over().is_some() {
            left_out += all.len() - index;
            break;
        }
        let mut pieces = exits(&mut expander, index, &mut level, &mut next)?;
        let taken = expander.steps.get(index).clone();
        let mut invariant = Vec::new();
        let fired = expander
            .fire(&taken, &level.state, &mut next)
            .and_then(|()| expander.invariant_constraints(&mut next, &mut invariant));
        // A step whose evaluation fails cannot be taken.
        if fired != Ok(true) {
            continue;
        }
        let ops = expander.machine.clock_ops.clone();
        let mut some_left = |zone: &mut Zone| {
            Expander::apply_ops(zone, &ops);
            constrain(zone, &invariant)
        };
        if pieces.iter_mut().any(&mut some_left) {
            found.push(step.clone());
        }
    }
    Ok((found, left_out))
}

/// Removes zones that are included in others.
fn widest(zones: Federation) -> Result<Federation, Fault> {
    let mut kept: Federation = Vec::new();
    for zone in zones.into_iter().filter(|z| !z.is_empty()) {
        if zone.overflowed() || kept.len() > MOST_PIECES {
            return Err(FaultKind::TooManyParts.nowhere());
        }
        if !kept.iter().any(|other| other.includes(&zone)) {
            kept.retain(|other| !zone.includes(other));
            kept.push(zone);
        }
    }
    Ok(kept)
}
