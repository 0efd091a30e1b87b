//! `deadlock`: the part of a zone from which no delay leads to a step.

use crate::explore::expander::{Delay, Expander};
use crate::explore::timed;
use crate::program::{Fault, FaultKind, constrain};
use crate::zone::{Federation, Zone, is_too_large, subtract_all};
use zonelens_syntax::span::Span;

/// The points of `zone` from which no step is possible, now or after any allowed delay. Exact: every way out is taken away
/// by subtraction, strict bounds included. `zone` must be a zone of the discrete state.
pub fn dead(
    expander: &mut Expander<'_>,
    state: &mut [i32],
    zone: &Zone,
) -> Result<Federation, Fault> {
    let delay = expander.delay_of(state)?;
    let mut invariant = Vec::new();
    if !expander.invariant_constraints(state, &mut invariant)? {
        return Ok(vec![zone.clone()]);
    }
    // An abstraction may have added points where nobody can be.
    let mut inside = zone.clone();
    if !constrain(&mut inside, &invariant) {
        return Ok(Vec::new());
    }
    let mut room = inside.clone();
    if delay != Delay::Stopped {
        room.up();
        constrain(&mut room, &invariant);
    }
    let mut rest = vec![inside];
    // Receivers of a broadcast can combine in many ways, and one way out is enough.
    if !expander.program.has_priorities {
        expander.steps.first_only = true;
        let found = ways_out(expander, state, &room, &delay, &mut rest);
        expander.steps.first_only = false;
        found?;
    }
    if !rest.is_empty() {
        ways_out(expander, state, &room, &delay, &mut rest)?;
    }
    Ok(rest)
}

/// Takes away from `rest` what has a step now or, if time may pass, later.
fn ways_out(
    expander: &mut Expander<'_>,
    state: &mut [i32],
    room: &Zone,
    delay: &Delay,
    rest: &mut Federation,
) -> Result<(), Fault> {
    expander.find_steps(state, room)?;
    let mut next = Vec::new();
    for index in 0..expander.steps.len() {
        let step = expander.steps.get(index).clone();
        let out = expander.possible(&step, state, room, &mut next)?;
        for hole in leads_into(out, delay, room) {
            *rest = subtract_all(std::mem::take(rest), [&hole]);
            if is_too_large(rest) {
                return Err(FaultKind::TooManyParts.at(Span::default()));
            }
        }
        if rest.is_empty() {
            break;
        }
    }
    Ok(())
}

/// The points of a room from which an allowed delay leads into one of the zones.
pub fn leads_into(mut zones: Federation, delay: &Delay, room: &Zone) -> Federation {
    match delay {
        Delay::Stopped => zones,
        Delay::Free => {
            zones.iter_mut().for_each(Zone::down);
            zones
        }
        Delay::Until(urgent) => timed::time_before(&zones, &timed::stops(room, urgent)),
    }
}
