//! Successors on some of the clocks: of clocks that are alike a few are enough.

use crate::graph::expander::{Delay, Expander};
use crate::program::{ClockOp, Conjunction, Fault, constrain, pass_time};
use crate::zone::Zone;

/// The place of a clock that the small matrix leaves out.
pub const DROPPED: u32 = u32::MAX;

/// Constraints of clocks that are left out are dropped, the others speak of places in the small matrix.
fn keep(constraints: &mut Conjunction, place: &[u32]) {
    constraints.retain_mut(|c| {
        (c.i, c.j) = (place[c.i as usize], place[c.j as usize]);
        c.i != DROPPED && c.j != DROPPED
    });
}

impl Expander<'_> {
    /// What one step leads to from `(state, zone)`, delayed, `zone` being over those clocks that have a `place` (by matrix
    /// index, [`DROPPED`] for clocks left out). `Some(false)` if the step is not possible, `None` if some of the clocks do
    /// not tell.
    pub fn successor_among(
        &mut self,
        index: usize,
        state: &mut [i32],
        zone: &mut Zone,
        next: &mut Vec<i32>,
        place: &[u32],
    ) -> Result<Option<bool>, Fault> {
        let step = self.steps.get(index).clone();
        let mut constraints = Vec::new();
        if !self.guard_constraints(&step, state, &mut constraints)? {
            return Ok(Some(false));
        }
        keep(&mut constraints, place);
        if !constrain(zone, &constraints) {
            return Ok(Some(false));
        }
        self.fire(&step, state, next)?;
        for op in &self.machine.clock_ops {
            match *op {
                ClockOp::Copy(..) => return Ok(None),
                ClockOp::Set(x, v) => {
                    let x = place[x as usize + 1];
                    if x != DROPPED {
                        zone.set(x as usize, i64::from(v));
                    }
                }
            }
        }
        constraints.clear();
        if !self.invariant_constraints(next, &mut constraints)? {
            return Ok(Some(false));
        }
        keep(&mut constraints, place);
        if !constrain(zone, &constraints) {
            return Ok(Some(false));
        }
        match self.delay_of(next)? {
            Delay::Stopped => {}
            Delay::Free => pass_time(zone, &constraints),
            Delay::Until(_) => return Ok(None),
        }
        Ok(Some(true))
    }
}
