//! `deadlock`: the part of a zone from which no delay leads to a step.
//!
//! Steps are considered only where runs can be and where priorities do not block them, as in the
//! search itself: an update that fails elsewhere is not an error of the model. Where a step is
//! blocked, another one is possible, so leaving it out does not change which points have a way out.

use crate::graph::expander::{Delay, Expander};
use crate::graph::timed;
use crate::program::{Fault, FaultKind, constrain};
use crate::zone::{Federation, Zone, is_too_large, subtract_all};

/// The points of `zone` from which no step is possible, now or after any allowed delay. Exact:
/// every way out is subtracted, strict bounds included. `zone` must be a zone of the discrete
/// state.
pub(crate) fn dead(
    expander: &mut Expander<'_>,
    state: &mut [i32],
    zone: &Zone,
) -> Result<Federation, Fault> {
    let delay = expander.delay_of(state)?;
    let mut invariant = Vec::new();
    if !expander.invariant_constraints(state, &mut invariant)? {
        return Ok(vec![zone.clone()]);
    }
    // An abstraction may have added points that violate the invariant.
    let mut inside = zone.clone();
    if !constrain(&mut inside, &invariant) {
        return Ok(Vec::new());
    }
    let mut room = inside.clone();
    if delay != Delay::Stopped {
        room.up();
        constrain(&mut room, &invariant);
    }
    let reached = match &delay {
        Delay::Stopped | Delay::Free => vec![room.clone()],
        // Time cannot pass beyond an urgent synchronisation.
        Delay::Until(urgent) => timed::delay_until(inside.clone(), &invariant, urgent),
    };
    let room = Room {
        whole: room,
        reached,
        delay,
    };
    let mut rest = vec![inside];
    // The receivers of a broadcast can combine in many ways, and one way out is enough.
    if !expander.program.has_priorities {
        expander.steps.first_only = true;
        let found = ways_out(expander, state, &room, &mut rest);
        expander.steps.first_only = false;
        found?;
    }
    if !rest.is_empty() {
        ways_out(expander, state, &room, &mut rest)?;
    }
    Ok(rest)
}

/// The points that can be reached from the zone by delay.
struct Room {
    /// All points that the invariant allows.
    whole: Zone,
    /// The points that delays reach.
    reached: Federation,
    delay: Delay,
}

impl Room {
    /// Removes from `rest` the points that lead into `out`, now or, if time may pass, later.
    fn leave(&self, out: Federation, rest: &mut Federation) -> Result<(), Fault> {
        for hole in leads_into(out, &self.delay, &self.whole)? {
            *rest = subtract_all(std::mem::take(rest), [&hole]);
            within_limits(rest)?;
        }
        Ok(())
    }
}

fn within_limits(zones: &Federation) -> Result<(), Fault> {
    match is_too_large(zones) {
        true => Err(FaultKind::TooManyParts.nowhere()),
        false => Ok(()),
    }
}

/// Removes from `rest` the points that have a step now or, if time may pass, later.
fn ways_out(
    expander: &mut Expander<'_>,
    state: &mut [i32],
    room: &Room,
    rest: &mut Federation,
) -> Result<(), Fault> {
    let unclear = expander.find_steps_in(state, &room.reached)?;
    room.leave(unclear, rest)?;
    let mut next = Vec::new();
    // The points where no step of higher priority is possible, and the points that steps of this
    // priority remove from them.
    let (mut free, mut taken) = (room.reached.clone(), Vec::new());
    let mut level = None;
    for index in expander.steps.by_priority(expander.program) {
        if rest.is_empty() {
            break;
        }
        let step = expander.steps.get(index).clone();
        if level.replace(step.priority) != Some(step.priority) {
            free = subtract_all(free, &std::mem::take(&mut taken));
            within_limits(&free)?;
        }
        let mut out = Vec::new();
        for zone in &free {
            out.extend(expander.possible(&step, state, zone, &mut next)?);
        }
        if expander.program.has_priorities {
            taken.extend_from_slice(&out);
        }
        room.leave(out, rest)?;
    }
    Ok(())
}

/// The points of `room` from which an allowed delay leads into one of the zones.
pub(crate) fn leads_into(
    mut zones: Federation,
    delay: &Delay,
    room: &Zone,
) -> Result<Federation, Fault> {
    match delay {
        Delay::Stopped => Ok(zones),
        Delay::Free => {
            zones.iter_mut().for_each(Zone::down);
            Ok(zones)
        }
        Delay::Until(urgent) => timed::time_before(&zones, &timed::stops(room, urgent)),
    }
}
