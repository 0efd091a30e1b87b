//! Successors on a subset of the clocks: a few of each class of interchangeable clocks are enough.

use crate::graph::expander::{Delay, Expander};
use crate::program::{ClockOp, Conjunction, Fault, constrain, pass_time};
use crate::zone::Zone;

/// The position of a clock that the small matrix does not contain.
pub(crate) const DROPPED: u32 = u32::MAX;

/// Drops the constraints of clocks that are left out and renumbers the others to positions in the
/// small matrix.
fn keep(constraints: &mut Conjunction, place: &[u32]) {
    constraints.retain_mut(|c| {
        (c.i, c.j) = (place[c.i as usize], place[c.j as usize]);
        c.i != DROPPED && c.j != DROPPED
    });
}

impl Expander<'_> {
    /// Computes the delayed successor of `(state, zone)` by one step. `zone` contains the clocks
    /// that have a `place` (by matrix index; [`DROPPED`] for clocks left out). Returns
    /// `Some(false)` if the step is not possible, and `None` if these clocks are not enough to
    /// decide. If `visit` is given, only the invariants and locations of these processes are
    /// evaluated, because those of the others follow.
    pub(crate) fn successor_among(
        &mut self,
        index: usize,
        state: &mut [i32],
        (zone, place): (&mut Zone, &[u32]),
        next: &mut Vec<i32>,
        visit: Option<&[u32]>,
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
        let possible = match visit {
            Some(few) => {
                let few = few.iter().map(|p| *p as usize);
                self.invariants_of(few, next, &mut constraints)?
            }
            None => self.invariant_constraints(next, &mut constraints)?,
        };
        if !possible {
            return Ok(Some(false));
        }
        keep(&mut constraints, place);
        if !constrain(zone, &constraints) {
            return Ok(Some(false));
        }
        let delay = match visit {
            Some(few) => self.delay_among(few.iter().map(|p| *p as usize), next)?,
            None => self.delay_of(next)?,
        };
        match delay {
            Delay::Stopped => {}
            Delay::Free => pass_time(zone, &constraints),
            Delay::Until(_) => return Ok(None),
        }
        Ok(Some(true))
    }
}
