//! `deadlock`: the part of a zone from which no delay leads to a step.

use crate::explore::expander::{Delay, Expander};
use crate::program::{Fault, FaultKind, constrain};
use crate::zone::{Federation, Zone, subtract_all};

/// The points of `zone` from which no step is possible, now or after any allowed delay. Exact: every way out is taken away
/// by subtraction, strict bounds included. `zone` must be a zone of the discrete state.
pub fn dead(
    expander: &mut Expander<'_>,
    state: &mut [i32],
    zone: &Zone,
) -> Result<Federation, Fault> {
    let delay = expander.delay_of(state)?;
    let room = match delay {
        Delay::Stopped => zone.clone(),
        Delay::Until(_) => return Err(FaultKind::UrgentClockGuard.at(Default::default())),
        Delay::Free => {
            let mut room = zone.clone();
            let mut invariant = Vec::new();
            if !expander.invariant_constraints(state, &mut invariant)? {
                return Ok(vec![room]);
            }
            room.up();
            constrain(&mut room, &invariant);
            room
        }
    };
    let mut rest = vec![zone.clone()];
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
        let mut out = expander.possible(&step, state, room, &mut next)?;
        if *delay == Delay::Free {
            out.iter_mut().for_each(Zone::down);
        }
        *rest = subtract_all(std::mem::take(rest), &out);
        if rest.is_empty() {
            break;
        }
    }
    Ok(())
}
