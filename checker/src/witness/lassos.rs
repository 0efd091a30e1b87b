//! Runs that keep a condition: as real steps, shortened, replayed.

use crate::bounds::Bounds;
use crate::graph::expander::Expander;
use crate::program::Fault;
use crate::search::liveness::{Live, Throughout, endings};
use crate::search::sequential::Search;
use crate::store::passed_waiting::Covering;
use crate::strategy::reachable::by_position;
use crate::strategy::{Answer, Run};
use crate::symmetry::{Passed, Permutation, Representative};
use crate::witness::traces::Timed;
use crate::witness::{Conditions, Lasso, Leave, shorten_lasso};
use crate::zone::Zone;
use zonelens_analysis::network::QueryKind;
use zonelens_analysis::report::{Trace, TraceKind, Verdict};
use zonelens_interpreter::{Claim, End, Ending, Failure, Kept, check};
use zonelens_syntax::ast::PathKind;

/// So many rounds of a cycle are looked at, however long they are.
const LEAST_ROUNDS: usize = 4;

/// Work for more of them, in bounds of matrices.
const MOST_WORK: usize = 2_000_000;

/// What a run that keeps a condition was found with.
pub(crate) struct LiveRun<'r> {
    pub representative: Option<&'r Representative>,
    /// The search and the node from which it starts; none at the initial state.
    pub stem: Option<(&'r Search<'r>, u32)>,
    /// What holds where it starts.
    pub start: Option<Throughout<'r>>,
    pub condition: Throughout<'r>,
    pub bounds: &'r Bounds,
}

/// Why a run that was found is not shown.
const TOO_LATE: &str = "states: the verdict stands, but its run repeats only after more steps than can be checked one by \
     one, so none is shown";

impl Run<'_> {
    /// The verdict of a liveness search.
    pub(crate) fn live_answer(
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
            Some(steps) => self.live_trace(stem, steps, start, &run),
            None => Ok(None),
        });
        match trace {
            Ok(Some(trace)) => Answer {
                trace: Some(Box::new(trace)),
                ..Answer::verdict(found)
            },
            Ok(None) => Answer::because(found, TOO_LATE),
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

    /// The run, scheduled and checked; none if its cycle comes back too late for that to be seen.
    fn live_trace(
        &self,
        stem: Vec<Leave>,
        steps: Vec<Leave>,
        cycle: Option<usize>,
        run: &LiveRun<'_>,
    ) -> Result<Option<Trace>, Failure> {
        let pivot = stem.len();
        let mut leaves = stem;
        leaves.push(Leave::Pivot);
        leaves.extend(steps);
        let Some(start) = cycle else {
            let timed = self.live_conditions(run, true, |c| self.timed(&leaves, c))?;
            self.claimed(&timed, End::Stays)?;
            return Ok(Some(Trace {
                kind: TraceKind::Path,
                cycle_start: None,
                steps: self.replay(timed.unit, &timed.run)?.steps,
            }));
        };
        let start = pivot + 1 + start;
        let lasso = Lasso { leaves, start };
        let shorter = self.live_conditions(run, false, |conditions| {
            shorten_lasso(self.program, run.bounds, lasso.clone(), conditions)
        });
        if let Ok(shorter) = shorter
            && let Ok(Some(trace)) = self.lasso_trace(&shorter, run)
        {
            return Ok(Some(trace));
        }
        self.lasso_trace(&lasso, run)
    }

    /// The run with one round of its cycle, taken from a run with so many rounds that the interpreter sees that they can
    /// go on for ever. The steps of the cycle can be taken for ever from some of the states that they lead to, so there
    /// are runs with any number of rounds; and there are finitely many regions, so that two rounds begin in the same one
    /// if there are enough of them.
    fn lasso_trace(&self, lasso: &Lasso, run: &LiveRun<'_>) -> Result<Option<Trace>, Failure> {
        let cycle = &lasso.leaves[lasso.start..];
        let work = MOST_WORK / (self.program.dim() * self.program.dim()).max(100);
        let most = (work / cycle.len().max(1)).max(LEAST_ROUNDS);
        let mut unrolled = lasso.leaves.clone();
        let mut rounds = 1;
        while rounds <= most {
            let timed = self.live_conditions(run, false, |c| self.timed(&unrolled, c))?;
            // The pivot is no step.
            let (start, length) = (lasso.start - 1, cycle.len());
            let end = End::Repeats { start, length };
            if self.claimed(&timed, end)? == Ending::Repeats {
                let shown = &timed.run[..start + length];
                return Ok(Some(Trace {
                    kind: TraceKind::Lasso,
                    cycle_start: Some(start),
                    steps: self.replay(timed.unit, shown)?.steps,
                }));
            }
            for _ in 0..rounds {
                unrolled.extend_from_slice(cycle);
            }
            rounds *= 2;
        }
        Ok(None)
    }

    /// Whether the run keeps what the query says, to its end.
    fn claimed(&self, timed: &Timed, end: End) -> Result<Ending, Failure> {
        let frame = self.query.frame;
        let kept = |expr, wanted| Kept {
            expr,
            wanted,
            frame,
        };
        let (start, kept) = match &self.query.kind {
            QueryKind::Path(kind, e) => (None, kept(e, *kind == PathKind::PotentiallyAlways)),
            QueryKind::LeadsTo(p, q) => (Some(kept(p, true)), kept(q, false)),
            QueryKind::Bounds { .. } => return Err(Failure("the query has no runs".into())),
        };
        let claim = Claim {
            pivot: timed.pivot,
            start,
            kept,
            end,
        };
        check(self.network, timed.unit, &timed.run, &claim, &self.limit)
    }

    /// Hands over what must hold along a run: at its pivot, from there on, and at its end if it ends without a step.
    fn live_conditions<R>(
        &self,
        run: &LiveRun<'_>,
        ends: bool,
        over: impl FnOnce(Conditions<'_>) -> R,
    ) -> R {
        let (mut pivot, mut expander) = (Expander::new(self.program), Expander::new(self.program));
        let mut last = Expander::new(self.program);
        last.lenient = true;
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
            at_end: &mut |state, zone| match ends {
                true => endings(&mut last, &run.condition, state, zone).map(Some),
                false => Ok(None),
            },
        })
    }
}
