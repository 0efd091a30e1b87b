//! Runs that keep a condition: as real steps, shortened and replayed.

use crate::bounds::Bounds;
use crate::graph::expander::Expander;
use crate::graph::throughout::{Throughout, endings};
use crate::symmetry::{Chosen, Passed, Permutation, Route};
use crate::witness::by_position;
use crate::witness::traces::Timed;
use crate::witness::traces::Tracer;
use crate::witness::{Conditions, Lasso, PathStep, shorten_lasso};
use crate::zone::Zone;
use zonelens_analysis::network::QueryKind;
use zonelens_analysis::report::{Trace, TraceKind};
use zonelens_interpreter::{Claim, End, Ending, Failure, Kept, check};
use zonelens_syntax::ast::PathKind;

/// At least this many rounds of a cycle are tried, however long they are.
const LEAST_ROUNDS: usize = 4;

/// The work for more rounds, in bounds of matrices.
const MOST_WORK: usize = 2_000_000;

/// The search that found a run which keeps a condition: its graph and the start of the run.
pub(crate) struct LiveRun<'r> {
    /// The graph that produced the successors.
    pub graph: &'r Chosen<'r>,
    /// The path to where the run starts; `None` if it is the initial state.
    pub stem: Option<Route>,
    /// The condition that holds where the run starts.
    pub start: Option<Throughout<'r>>,
    pub condition: Throughout<'r>,
    pub bounds: &'r Bounds,
}

impl Tracer<'_> {
    /// The real steps before the condition must hold, the steps from then on (`None` if the cycle
    /// is too long to be shown), and where among the latter the cycle starts.
    #[allow(clippy::type_complexity)]
    pub(crate) fn live_steps(
        &self,
        run: &LiveRun<'_>,
        path: Vec<Passed>,
        cycle: Option<(usize, Option<Permutation>)>,
    ) -> Result<(Vec<PathStep>, Option<Vec<PathStep>>, Option<usize>), Failure> {
        let Some(representative) = run.graph.representative() else {
            let stem = match &run.stem {
                Some(route) => self.real_steps(run.graph, route, None)?,
                None => Vec::new(),
            };
            let steps = by_position(path.iter().filter_map(|p| p.step).collect());
            return Ok((stem, Some(steps), cycle.map(|(start, _)| start)));
        };
        let mut back = self.unpermute(representative);
        let stem = match &run.stem {
            Some(Route::Moved(path)) => self.undo(&mut back, representative, path)?,
            _ => Vec::new(),
        };
        Ok(match cycle {
            None => (
                stem,
                Some(self.undo(&mut back, representative, &path)?),
                None,
            ),
            Some((start, closing)) => {
                let Some(closing) = closing else {
                    return Err(Failure("nothing moved the states of this cycle".into()));
                };
                match self.undo_cycle(&mut back, representative, &path, start, &closing)? {
                    Some(lasso) => (stem, Some(lasso.leaves), Some(lasso.start)),
                    None => (stem, None, None),
                }
            }
        })
    }

    /// The run, scheduled and checked; `None` if its cycle repeats too late for this to be seen.
    pub(crate) fn live_trace(
        &self,
        stem: Vec<PathStep>,
        steps: Vec<PathStep>,
        cycle: Option<usize>,
        run: &LiveRun<'_>,
    ) -> Result<Option<Trace>, Failure> {
        let pivot = stem.len();
        let mut leaves = stem;
        leaves.push(PathStep::Pivot);
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

    /// The run with one round of its cycle, taken from a run with enough rounds for the interpreter
    /// to see that they can be repeated for ever. The steps of the cycle can be taken for ever from
    /// some of the states that they lead to, so there are runs with any number of rounds. There are
    /// finitely many regions, so with enough rounds two of them begin in the same region.
    fn lasso_trace(&self, lasso: &Lasso, run: &LiveRun<'_>) -> Result<Option<Trace>, Failure> {
        let cycle = &lasso.leaves[lasso.start..];
        let work = MOST_WORK / (self.program.dim() * self.program.dim()).max(100);
        let most = (work / cycle.len().max(1)).max(LEAST_ROUNDS);
        let mut unrolled = lasso.leaves.clone();
        let mut rounds = 1;
        while rounds <= most {
            let timed = self.live_conditions(run, false, |c| self.timed(&unrolled, c))?;
            // The pivot is not a step.
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

    /// Whether the run satisfies the claim of the query up to its end.
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

    /// Passes on the conditions of a run: at its pivot, from there on, and at its end if it ends
    /// without a step.
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
                    // The whole run must keep the condition, and it begins at time 0.
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
