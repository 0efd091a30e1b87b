//! Shorter runs.
//!
//! **Lassos.** A search closes a cycle when a zone repeats. If a clock is compared with 100 and not
//! reset on the way, zones differ for a hundred rounds of a loop that can already be taken for ever
//! from the first round. So each position where the path returns to the same discrete state is
//! tried, the earliest first: the steps in between are repeated over zones that distinguish
//! regions, starting with the zones that are possible at that position. If some round ends in the
//! same zones as an earlier one, a run repeats these steps for ever.
//!
//! **Detours.** Depth first, random and guided searches reach their goal on long paths. The steps
//! between two visits of the same discrete state are left out if the rest of the path can still be
//! taken.

use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::program::{Fault, Program};
use crate::witness::path::{Conditions, Follower, PathStep};
use crate::zone::{Federation, Zone};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// The work for attempts, in bounds of matrices that are compared; a run is left unchanged if this
/// does not suffice.
const MOST_WORK: usize = 20_000_000;

/// The most rounds of one loop: clocks that grow by one in each round are common, constants beyond
/// this are not.
const MOST_ROUNDS: usize = 2_000;

/// The most zones in one position; a condition that is not convex leads to several.
const MOST_ZONES: usize = 16;

/// The most visits of the same discrete state that are tried for one detour.
const MOST_VISITS: usize = 3;

/// A run that ends in a cycle.
#[derive(Clone, Debug)]
pub(crate) struct Lasso {
    /// The steps, including the pivot.
    pub leaves: Vec<PathStep>,
    /// Where the cycle starts, after the pivot.
    pub start: usize,
}

/// A shorter lasso, if one is found: the cycle is closed as early as possible, then detours are
/// removed.
pub(crate) fn shorten_lasso(
    program: &Program,
    bounds: &Bounds,
    mut lasso: Lasso,
    mut conditions: Conditions<'_>,
) -> Result<Lasso, Fault> {
    let mut rounds = Rounds {
        program,
        bounds,
        abstractor: Abstractor::new(Abstraction::ExtraM, program.dim()),
        left: steps_to_try(program),
    };
    rounds.close_early(&mut lasso, &mut conditions)?;
    rounds.left = steps_to_try(program);
    let (before, cycle) = lasso.leaves.split_at(lasso.start);
    let cycle = cycle.to_vec();
    let kept = without_detours(program, before, &mut conditions, |leaves, conditions| {
        let Some(left) = rounds.left.checked_sub(leaves.len() + cycle.len()) else {
            return Ok(None);
        };
        rounds.left = left;
        let mut follower = Follower::new(program);
        let goes_on = follower.take(leaves, conditions)? && follower.pivoted && {
            let (state, entries) = (follower.state.clone(), follower.entries.clone());
            follower.take(&cycle, conditions)?
                && follower.state == state
                && rounds.repeat(&state, &entries, &cycle, conditions)?
        };
        Ok(Some(goes_on))
    })?;
    let start = kept.len();
    Ok(Lasso {
        leaves: kept.into_iter().chain(cycle).collect(),
        start,
    })
}

/// A path to the same end without detours.
pub(crate) fn shorten_path(
    program: &Program,
    leaves: &[PathStep],
    mut conditions: Conditions<'_>,
) -> Result<Vec<PathStep>, Fault> {
    let mut left = steps_to_try(program);
    without_detours(program, leaves, &mut conditions, |leaves, conditions| {
        let Some(rest) = left.checked_sub(leaves.len() + 1) else {
            return Ok(None);
        };
        left = rest;
        let mut follower = Follower::new(program);
        Ok(Some(
            follower.take(leaves, conditions)? && follower.ends(conditions)?,
        ))
    })
}

fn steps_to_try(program: &Program) -> usize {
    MOST_WORK / (program.dim() * program.dim()).max(100)
}

/// Leaves out the steps between two visits of a discrete state wherever the rest is `possible`,
/// which returns nothing if no time is left. No steps around the pivot are left out.
fn without_detours(
    program: &Program,
    leaves: &[PathStep],
    conditions: &mut Conditions<'_>,
    mut possible: impl FnMut(&[PathStep], &mut Conditions<'_>) -> Result<Option<bool>, Fault>,
) -> Result<Vec<PathStep>, Fault> {
    let mut kept = leaves.to_vec();
    // Trying one detour means following the whole path.
    if leaves.len() > steps_to_try(program) {
        return Ok(kept);
    }
    // By position: the digest of the discrete state, and whether the condition must hold already.
    let mut places = Vec::new();
    let mut follower = Follower::new(program);
    for leave in leaves {
        places.push((FxBuildHasher.hash_one(&follower.state), follower.pivoted));
        if !follower.take(std::slice::from_ref(leave), conditions)? {
            return Ok(kept);
        }
    }
    places.push((FxBuildHasher.hash_one(&follower.state), follower.pivoted));
    let mut at = 0;
    while at < kept.len() {
        let visits = (at + 1..places.len()).rev();
        let visits = visits.filter(|k| places[*k] == places[at]);
        for again in visits.take(MOST_VISITS).collect::<Vec<_>>() {
            let mut shorter = kept[..at].to_vec();
            shorter.extend_from_slice(&kept[again..]);
            match possible(&shorter, conditions)? {
                None => return Ok(kept),
                Some(false) => {}
                Some(true) => {
                    kept = shorter;
                    places.drain(at..again);
                    break;
                }
            }
        }
        at += 1;
    }
    Ok(kept)
}

/// Repeats the steps of loops.
struct Rounds<'p> {
    program: &'p Program,
    bounds: &'p Bounds,
    abstractor: Abstractor,
    /// The number of steps that may still be tried.
    left: usize,
}

impl Rounds<'_> {
    /// Closes the lasso at the first position where steps can be repeated.
    fn close_early(
        &mut self,
        lasso: &mut Lasso,
        conditions: &mut Conditions<'_>,
    ) -> Result<(), Fault> {
        let mut follower = Follower::new(self.program);
        let mut places: FxHashMap<Vec<i32>, Vec<usize>> = FxHashMap::default();
        for end in 0..lasso.leaves.len() {
            if follower.pivoted {
                for &start in places.get(&follower.state).into_iter().flatten().rev() {
                    if self.left == 0 {
                        return Ok(());
                    }
                    let (state, entries) = (&follower.state, &follower.entries);
                    let steps = &lasso.leaves[start..end];
                    if self.repeat(state, entries, steps, conditions)? {
                        lasso.leaves.truncate(end);
                        lasso.start = start;
                        return Ok(());
                    }
                }
                places.entry(follower.state.clone()).or_default().push(end);
            }
            if !follower.take(&lasso.leaves[end..=end], conditions)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether a run can repeat the steps for ever from some point of these zones.
    fn repeat(
        &mut self,
        state: &[i32],
        entries: &[(usize, Zone)],
        steps: &[PathStep],
        conditions: &mut Conditions<'_>,
    ) -> Result<bool, Fault> {
        let mut follower = Follower::new(self.program);
        follower.pivoted = true;
        follower.state = state.to_vec();
        let mut seen: Vec<Federation> = Vec::new();
        let mut zones: Federation = entries.iter().map(|(_, zone)| zone.clone()).collect();
        while seen.len() < MOST_ROUNDS {
            let Some(left) = self.left.checked_sub(steps.len()) else {
                self.left = 0;
                return Ok(false);
            };
            self.left = left;
            let mut wide = Vec::new();
            self.abstractor.at_state(self.program, self.bounds, state);
            for zone in zones {
                self.abstractor.apply(self.bounds, zone, &mut wide);
            }
            if wide.len() > MOST_ZONES {
                return Ok(false);
            }
            if seen.iter().rev().any(|earlier| same(earlier, &wide)) {
                return Ok(true);
            }
            follower.entries = wide.iter().cloned().map(|zone| (0, zone)).collect();
            seen.push(wide);
            if !follower.take(steps, conditions)? || follower.state != state {
                return Ok(false);
            }
            zones = follower.entries.drain(..).map(|(_, zone)| zone).collect();
        }
        Ok(false)
    }
}

/// Whether two lists have the same zones.
fn same(a: &[Zone], b: &[Zone]) -> bool {
    a.len() == b.len() && a.iter().all(|zone| b.contains(zone))
}
