//! Conditions that hold along a whole run, and the points where such a run may end.

use super::deadlock::{dead, leads_into};
use super::expander::{Delay, Expander};
use super::timed;
use crate::mutation::{Mutation, is_on};
use crate::program::{Fault, Formula, constrain};
use crate::zone::{Federation, Zone, subtract_all};

/// A formula that must keep a value along a run.
#[derive(Clone, Copy)]
pub(crate) struct Throughout<'p> {
    /// The formula.
    pub formula: &'p Formula,
    /// The value that it must keep.
    pub wanted: bool,
    /// The number of slots it needs.
    pub frame: u32,
}

impl Throughout<'_> {
    /// The part of zones where the formula has the wanted value (or the other one).
    pub(crate) fn part(
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

/// The points of a zone where a run can stay for ever, or end, with the condition true to the end.
/// The zone must satisfy the condition and be closed under the delays that it allows.
pub(crate) fn endings(
    expander: &mut Expander<'_>,
    condition: &Throughout<'_>,
    state: &mut [i32],
    zone: &Zone,
) -> Result<Federation, Fault> {
    let delay = expander.delay_of(state)?;
    let mut parts = match zone.unbounded() {
        true => waiting(&delay, zone),
        false => Vec::new(),
    };
    match stuck(expander, condition, state, zone, &delay) {
        Ok(stuck) => parts.extend(stuck),
        // Where a guard fails, no point is known to be stuck; waiting needs no step.
        Err(fault) if expander.lenient && !fault.kind.is_ours() => {}
        Err(fault) => return Err(fault),
    }
    Ok(parts)
}

/// The points of a zone from which no step can be reached and the condition holds until time stops.
pub(crate) fn stuck(
    expander: &mut Expander<'_>,
    condition: &Throughout<'_>,
    state: &mut [i32],
    zone: &Zone,
    delay: &Delay,
) -> Result<Federation, Fault> {
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
    Ok(subtract_all(stuck, &leads_into(spoilt, delay, &room)?))
}

/// Whether time may pass for ever from some point of a zone that no invariant bounds. A hull may
/// contain points where an urgent synchronisation stops time next to others where none is ever
/// enabled.
pub(crate) fn may_wait(delay: &Delay, zone: &Zone) -> bool {
    !waiting(delay, zone).is_empty()
}

/// The points from which time may pass for ever, in a zone that no invariant bounds.
fn waiting(delay: &Delay, zone: &Zone) -> Federation {
    match delay {
        _ if is_on(Mutation::NoWaiting) => Vec::new(),
        Delay::Stopped => Vec::new(),
        Delay::Free => vec![zone.clone()],
        Delay::Until(urgent) => {
            let mut stops = timed::stops(zone, urgent);
            stops.iter_mut().for_each(Zone::down);
            subtract_all(vec![zone.clone()], &stops)
        }
    }
}
