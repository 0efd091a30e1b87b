//! Runs that keep a condition: as real steps, shortened, replayed.

use super::reachable::by_position;
use super::{Answer, Run};
use crate::explore::bounds::Bounds;
use crate::explore::expander::Expander;
use crate::explore::passed_waiting::Covering;
use crate::explore::search::Search;
use crate::interpreter::Failure;
use crate::program::Fault;
use crate::query::liveness::{Live, Throughout};
use crate::symmetry::{Passed, Permutation, Representative};
use crate::trace::{Conditions, Lasso, Leave, shorten_lasso};
use crate::zone::Zone;
use zonelens_analysis::report::{Trace, TraceKind, Verdict};

/// How often a cycle is replayed, at least and at most.
const UNROLLINGS: (usize, usize) = (3, 50);

/// Steps of replayed cycles that are worth their time.
const UNROLLED_STEPS: usize = 150;

/// What a run that keeps a condition was found with.
pub(super) struct LiveRun<'r> {
    pub representative: Option<&'r Representative>,
    /// The search and the node from which it starts; none at the initial state.
    pub stem: Option<(&'r Search<'r>, u32)>,
    /// What holds where it starts.
    pub start: Option<Throughout<'r>>,
    pub condition: Throughout<'r>,
    pub bounds: &'r Bounds,
}

impl Run<'_> {
    /// The verdict of a liveness search.
    pub(super) fn live_answer(
        &self,
        live: Live,
        run: LiveRun<'_>,
        (found, absent): (Verdict, Verdict),
    ) -> Answer {
        let (path, cycle) = match live {
            Live::None => return Answer::verdict(absent),
            Live::Stopped(stop) => return Answer::stopped(stop),
            Live::Fault(fault, path) => return self.live_fault(fault, path, &run),
            Live::Stays(path) => (path, None),
            Live::Cycle(path, start, closing) => (path, Some((start, closing))),
        };
        if !self.wants_trace() {
            return Answer::verdict(found);
        }
        let trace = self.live_leaves(&run, path, cycle);
        let trace = trace.and_then(|(stem, steps, start)| match steps {
            Some(steps) => self.live_trace(stem, steps, start, &run).map(Some),
            None => Ok(None),
        });
        match trace {
            Ok(trace) => Answer {
                trace: trace.map(Box::new),
                ..Answer::verdict(found)
            },
            Err(failure) => self.untraced(found, &failure),
        }
    }

    /// The report of an error that a search for runs met in the last state of a path, or on a step from there.
    fn live_fault(&self, fault: Fault, path: Vec<Passed>, run: &LiveRun<'_>) -> Answer {
        if fault.of_query {
            return self.query_error(fault);
        }
        if fault.kind.is_ours() || !self.wants_trace() {
            return self.model_error(fault, None);
        }
        let leaves = self.live_leaves(run, path, None);
        let leaves = leaves.map(|(mut stem, steps, _)| {
            stem.extend(steps.into_iter().flatten());
            stem
        });
        self.fault_after(fault, leaves, Covering::Inclusion)
    }

    /// The real steps before the condition must hold and from then on (none if the cycle is too long to be shown), and
    /// where among these the cycle starts.
    #[allow(clippy::type_complexity)]
    fn live_leaves(
        &self,
        run: &LiveRun<'_>,
        path: Vec<Passed>,
        cycle: Option<(usize, Permutation)>,
    ) -> Result<(Vec<Leave>, Option<Vec<Leave>>, Option<usize>), Failure> {
        let Some(representative) = run.representative else {
            let stem = run.stem.map(|(search, node)| search.states.path(node));
            let steps = by_position(path.iter().filter_map(|p| p.step).collect());
            let start = cycle.map(|(start, _)| start);
            return Ok((by_position(stem.unwrap_or_default()), Some(steps), start));
        };
        let mut back = self.unpermute(representative);
        let stem = match run.stem {
            Some((search, node)) => self.undo(&mut back, representative, &search.path(node))?,
            None => Vec::new(),
        };
        Ok(match cycle {
            None => (
                stem,
                Some(self.undo(&mut back, representative, &path)?),
                None,
            ),
            Some((start, closing)) => {
                match self.undo_cycle(&mut back, representative, &path, start, &closing)? {
                    Some(lasso) => (stem, Some(lasso.leaves), Some(lasso.start)),
                    None => (stem, None, None),
                }
            }
        })
    }

    fn live_trace(
        &self,
        stem: Vec<Leave>,
        steps: Vec<Leave>,
        cycle: Option<usize>,
        run: &LiveRun<'_>,
    ) -> Result<Trace, Failure> {
        let pivot = stem.len();
        let mut leaves = stem;
        leaves.push(Leave::Pivot);
        leaves.extend(steps);
        let replay = |leaves: &[Leave]| {
            self.live_conditions(run, |conditions| self.replayed(leaves, conditions))
        };
        let Some(start) = cycle else {
            return Ok(Trace {
                kind: TraceKind::Path,
                cycle_start: None,
                steps: replay(&leaves)?.steps,
            });
        };
        let start = pivot + 1 + start;
        let lasso = Lasso { leaves, start };
        let shorter = self.live_conditions(run, |conditions| {
            shorten_lasso(self.program, run.bounds, lasso.clone(), conditions)
        });
        let lasso = shorter.unwrap_or(lasso);
        // The zone cycle certifies the infinite run; several unrollings show that the steps really repeat.
        let mut unrolled = lasso.leaves.clone();
        let cycle = &lasso.leaves[lasso.start..];
        for _ in 1..(UNROLLED_STEPS / cycle.len().max(1)).clamp(UNROLLINGS.0, UNROLLINGS.1) {
            unrolled.extend_from_slice(cycle);
        }
        replay(&unrolled)?;
        Ok(Trace {
            kind: TraceKind::Lasso,
            // The pivot is no step.
            cycle_start: Some(lasso.start - 1),
            steps: replay(&lasso.leaves)?.steps,
        })
    }

    /// Hands over what must hold along a run: at its pivot, and from there on.
    fn live_conditions<R>(&self, run: &LiveRun<'_>, over: impl FnOnce(Conditions<'_>) -> R) -> R {
        let (mut pivot, mut expander) = (Expander::new(self.program), Expander::new(self.program));
        over(Conditions {
            limit: self.limit,
            at_pivot: &mut |state, zone| match run.start {
                None => {
                    // The whole run must keep the condition: it begins at time 0.
                    let origin = Zone::point(&self.program.initial_clocks);
                    Ok(Some(crate::program::intersect_all(
                        std::slice::from_ref(zone),
                        &[origin],
                    )))
                }
                Some(p) => {
                    let with_p = p.part(&mut pivot, vec![zone.clone()], true, state)?;
                    let part = run.condition.part(&mut pivot, with_p, true, state);
                    part.map(Some)
                }
            },
            along: &mut |state, zone| {
                let zone = vec![zone.clone()];
                run.condition
                    .part(&mut expander, zone, true, state)
                    .map(Some)
            },
            at_end: &mut |_, _| Ok(None),
        })
    }
}
