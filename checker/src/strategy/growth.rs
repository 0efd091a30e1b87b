//! Decides whether a clock grows without bound: because a state lets time pass for ever, which an
//! exact zone shows, or because of a cycle.
//!
//! To measure a clock, its bound is raised until the result does not change any more. This never
//! happens if a cycle that does not set the clock lets time pass. Such a cycle is recognised on the
//! path to a state beyond the bound. Let it lead from a zone `Z` back to the same discrete state
//! and a zone `Z'`, let every point of `Z` have the clock above all its constants, and let neither
//! the cycle nor the rest of the path set or copy the clock. Then no guard, invariant or priority
//! depends on the clock any more: whatever can be done from a point can be done, with the same
//! delays, from that point with the clock increased. If moreover `Z'` without the clock contains
//! `Z` without it, and allows the clock to be greater by at least one relative to every other
//! clock, then every point of `Z` is reached again with the clock greater by one, and by induction
//! with arbitrarily great values; the same holds for the rest of the path up to the state that was
//! measured.
//!
//! `Z` is the zone that the path reaches, restricted to points where the other clocks that the
//! cycle does not set are above their constants too: other points are not reached again. Zones are
//! abstracted, but the measured clock is kept exactly; the points that abstraction adds are
//! simulated, with equal delays, by points with the same value of the clock.

use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstractor;
use crate::graph::expander::Expander;
use crate::graph::goal::Goal;
use crate::program::{ClockCode, ClockOp, Fault, Formula};
use crate::search::sequential::Settings;
use crate::strategy::Run;
use crate::strategy::Search;
use crate::witness::{PathStep, position};
use crate::zone::Zone;
use crate::zone::bound::{INF, add, le, lt};

/// The measured clock is kept exactly up to this value.
const FAR: i32 = 1 << 24;

/// The most cycles to try.
const MOST_CYCLES: usize = 64;

/// A state on the path.
struct Passed {
    state: Vec<i32>,
    zone: Zone,
    /// The clocks that the step from this state sets.
    sets: Vec<usize>,
}

/// Follows the steps of a path with abstracted zones.
struct PathCursor<'p> {
    expander: Expander<'p>,
    abstractor: Abstractor,
    bounds: Bounds,
    /// The measured clock, as a matrix index.
    clock: usize,
}

impl Run<'_> {
    /// Whether `clock`, which exceeds its bound in a node, is unbounded; `bounds` are the bounds of
    /// the model and the query. `false` means that nothing is known.
    pub(crate) fn grows(
        &self,
        clock: &ClockCode,
        condition: Option<&Formula>,
        (search, node): (&Search<'_>, u32),
        bounds: &Bounds,
        settings: &Settings,
    ) -> bool {
        if !bounds.diagonals.is_empty() || self.program.has_rates {
            return false;
        }
        let Ok(leaves) = self
            .tracer()
            .real_steps(&search.graph, &search.route(node), None)
        else {
            return false;
        };
        self.grows_along(clock, condition, &leaves, bounds, settings)
            .unwrap_or(false)
    }

    fn grows_along(
        &self,
        clock: &ClockCode,
        condition: Option<&Formula>,
        leaves: &[PathStep],
        bounds: &Bounds,
        settings: &Settings,
    ) -> Result<bool, Fault> {
        let mut expander = Expander::new(self.program);
        let (mut state, mut zones) = expander.initial()?;
        expander.machine.frame(self.query.frame, &[]);
        let code = clock;
        let clock = expander.machine.clock(self.program, code, &mut state)? as usize;
        let constants: Vec<i32> = (0..self.program.clocks)
            .map(|x| bounds.greatest(x))
            .collect();
        let mut bounds = bounds.clone();
        bounds.raise(clock, FAR);
        let mut cursor = PathCursor {
            expander,
            abstractor: Abstractor::new(settings.abstraction, self.program.dim()),
            bounds,
            clock: clock + 1,
        };
        let Some(zone) = cursor.only(&state, &mut zones) else {
            return Ok(false);
        };
        let Some(mut passed) = cursor.follow(state, zone, leaves)? else {
            return Ok(false);
        };
        let meets = |state: &mut [i32], zone: &Zone| match condition {
            Some(f) => Goal::new(self.program, f, self.query.frame, true).part(state, zone),
            None => Ok(vec![zone.clone()]),
        };
        let last = passed.len() - 1;
        let end = &mut passed[last];
        let machine = &mut cursor.expander.machine;
        machine.frame(self.query.frame, &[]);
        if machine.clock(self.program, code, &mut end.state)? as usize != clock {
            // An index changes on the path: the clock that was followed is not the one that is
            // measured.
            return Ok(false);
        }
        let parts = meets(&mut end.state, &end.zone)?;
        if parts.iter().any(|part| part.at(clock + 1, 0) == INF) {
            return Ok(true);
        }
        // Only the part of the path after the clock was last set counts.
        let first = passed.iter().rposition(|p| p.sets.contains(&clock));
        let first = first.map_or(0, |k| k + 1);
        let cycles = (first..=last).rev().flat_map(|j| {
            let again = (first..j).rev();
            again.map(move |i| (i, j))
        });
        let cycles: Vec<(usize, usize)> = cycles
            .filter(|&(i, j)| passed[i].state == passed[j].state)
            .take(MOST_CYCLES)
            .collect();
        for (i, j) in cycles {
            let mut zone = passed[i].zone.clone();
            let beyond =
                |x: &usize| *x == clock || !passed[i..j].iter().any(|p| p.sets.contains(x));
            let beyond = (0..constants.len()).filter(beyond);
            let possible = |x: usize| zone.and(0, x + 1, lt(-constants[x]));
            if !beyond.into_iter().all(possible) {
                continue;
            }
            let state = &passed[i].state;
            let Some(zone) = cursor.only(state, &mut vec![zone]) else {
                continue;
            };
            let around = cursor.follow(state.clone(), zone.clone(), &leaves[i..j])?;
            let Some(around) = around else { continue };
            if !around
                .last()
                .is_some_and(|end| is_lifted(&zone, &end.zone, clock + 1))
            {
                continue;
            }
            let rest = cursor.follow(state.clone(), zone, &leaves[j..])?;
            if let Some(mut end) = rest.and_then(|mut rest| rest.pop())
                && !meets(&mut end.state, &end.zone)?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl PathCursor<'_> {
    /// The abstracted zone of a state, if there is exactly one: if there are several, it is not
    /// known which of them a path goes through.
    fn only(&mut self, state: &[i32], zones: &mut Vec<Zone>) -> Option<Zone> {
        let mut zone = zones.pop().filter(|_| zones.is_empty())?;
        let most = zone.at(self.clock, 0);
        if most > le(FAR) && most != INF {
            return None;
        }
        let program = self.expander.program;
        self.abstractor.at_state(program, &self.bounds, state);
        self.abstractor.apply_whole(&mut zone);
        // Beyond its bounds, the value of a clock does not matter.
        for x in (1..zone.dim()).filter(|x| *x != self.clock) {
            let most = self.abstractor.l[x].max(self.abstractor.u[x]);
            if most >= 0 && zone.at(0, x) <= lt(-most) {
                zone.free(x);
                zone.and(0, x, lt(-most));
            }
        }
        Some(zone)
    }

    /// The states on the path, including the last one; `None` if the measured clock is copied or a
    /// zone is split.
    fn follow(
        &mut self,
        mut state: Vec<i32>,
        mut zone: Zone,
        leaves: &[PathStep],
    ) -> Result<Option<Vec<Passed>>, Fault> {
        let mut passed = Vec::new();
        for leave in leaves {
            let Some(index) = position(&mut self.expander, &mut state, leave)? else {
                return Ok(None);
            };
            let mut next = Vec::new();
            let mut zones = self
                .expander
                .successors(index, &mut state, &zone, &mut next)?;
            let mut sets = Vec::new();
            for op in &self.expander.machine.clock_ops {
                let (ClockOp::Set(x, _) | ClockOp::Copy(x, _)) = op;
                sets.push(*x as usize);
                if matches!(op, ClockOp::Copy(_, from) if *from as usize + 1 == self.clock) {
                    return Ok(None);
                }
            }
            let Some(after) = self.only(&next, &mut zones) else {
                return Ok(None);
            };
            passed.push(Passed {
                state: std::mem::replace(&mut state, next),
                zone: std::mem::replace(&mut zone, after),
                sets,
            });
        }
        passed.push(Passed {
            state,
            zone,
            sets: Vec::new(),
        });
        Ok(Some(passed))
    }
}

/// Whether `after` contains all of `before` with the clock greater by at least one.
fn is_lifted(before: &Zone, after: &Zone, clock: usize) -> bool {
    let dim = before.dim();
    (0..dim).all(|i| {
        (0..dim).filter(|&j| j != i && j != clock).all(|j| {
            let (b, a) = (before.at(i, j), after.at(i, j));
            if i == clock {
                b != INF && a != INF && a >= add(b, le(1))
            } else {
                a >= b
            }
        })
    })
}
