//! The fastest trace.
//!
//! A clock `t` that nothing sets measures time. The runs to the goal along one sequence of steps
//! form a union of zones, in which the least value of `t` is a whole number that is either reached
//! or only approached; so the least over all sequences is a whole number too. It is found by asking
//! whether a state with the condition and `t <= c`, or `t < c`, is reachable, for smaller and
//! smaller *limits*. Limits are ordered, `t < 1`, `t <= 1`, `t < 2`, and each allows whatever the
//! one before it allows. When some limit is possible and the one below it is not, the least time is
//! known: for `t <= c` it is `c`; for `t < c + 1`, where `t <= c` is not possible, it is more than
//! `c` and comes arbitrarily close to `c`.
//!
//! Each question is a separate search over the model with the added clock. The bounds of that clock
//! include the limit, so any abstraction that is exact for the query is exact for the question. The
//! run that is found is scheduled within its limit. At first, each run that is found sets the next
//! limit; if runs get faster only in small steps, the range of open limits is halved instead.

use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::graph::Plain;
use crate::graph::goal::Goal;
use crate::program::{AtomCode, ClockCode, Code, Formula, Program};
use crate::search::limits::Watch;
use crate::search::sequential::Search;
use crate::search::sequential::{Outcome, Settings};
use crate::strategy::reachable::Target;
use crate::witness::Condition;
use crate::witness::by_position;
use zonelens_analysis::network::CompareOp;
use zonelens_analysis::report::{LeastTime, Trace};
use zonelens_interpreter::Failure;

/// The number of searches in which the run found sets the limit, before the range is halved.
const BY_RUNS: usize = 8;

/// A limit for the time: `2 c` means `t <= c`, and `2 c + 1` means `t < c + 1`. Time is never
/// negative, so -1 is not possible.
type Limit = i64;

/// The result of a search under a limit.
enum Asked {
    Possible(Trace),
    Impossible,
    /// A limit of the run or an error ended the search: nothing is known.
    Open,
}

impl Run<'_> {
    /// Replaces the trace of an answer by one that takes the least time, and reports that time. If
    /// a limit of the run is reached, the best trace so far stays and no least time is reported.
    pub(crate) fn minimise_time(
        &self,
        mut answer: Answer,
        target: &Target<'_>,
        settings: &Settings,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let Some(mut possible) = answer.trace.as_deref().and_then(limit_of) else {
            return answer;
        };
        watch.set_turn(None);
        let mut impossible: Limit = -1;
        let mut rounds = 0;
        while impossible + 1 < possible {
            let limit = match rounds < BY_RUNS {
                true => possible - 1,
                false => impossible + (possible - impossible) / 2,
            };
            rounds += 1;
            match self.within(limit, target, settings, watch) {
                Ok(Asked::Possible(trace)) => {
                    // The schedule keeps the limit, so this is progress. Without this check, a run
                    // that breaks the limit would make the loop endless.
                    let Some(better) = limit_of(&trace).filter(|better| *better <= limit) else {
                        return Answer::internal("a run takes more time than its limit");
                    };
                    possible = better;
                    answer.trace = Some(Box::new(trace));
                }
                Ok(Asked::Impossible) => impossible = limit,
                Ok(Asked::Open) => return answer,
                Err(failure) => {
                    return Answer::internal(format!("the trace does not replay ({})", failure.0));
                }
            }
        }
        answer.least_time = Some(LeastTime {
            infimum: possible / 2,
            reached: possible % 2 == 0,
        });
        answer
    }

    /// Searches for a run whose time keeps a limit.
    fn within(
        &self,
        limit: Limit,
        target: &Target<'_>,
        settings: &Settings,
        watch: &mut Watch<'_>,
    ) -> Result<Asked, Failure> {
        let Ok(whole) = i32::try_from((limit + 1) / 2) else {
            return Ok(Asked::Open);
        };
        let op = match limit % 2 {
            0 => CompareOp::Le,
            _ => CompareOp::Lt,
        };
        let mut timed: Program = self.program.clone();
        timed.clocks += 1;
        timed.initial_clocks.push(0);
        let condition = match target.wanted {
            true => target.formula.clone(),
            false => Formula::Not(Box::new(target.formula.clone())),
        };
        let soon = Formula::Atom(Box::new(AtomCode {
            left: ClockCode {
                base: (timed.clocks - 1) as u32,
                by_ref: false,
                steps: Vec::new(),
            },
            right: None,
            op,
            bound: Code::Const(whole),
            span: target.expr.span,
        }));
        let formula = Formula::And(vec![condition, soon]);
        let bounds = Bounds::new(&timed, &[&formula]);
        let mut settings = *settings;
        if settings.abstraction == Abstraction::None {
            // The clock that measures time grows for ever, so exact zones would never end.
            settings.abstraction = Abstraction::ExtraM;
        }
        let mut goal = Goal::new(&timed, &formula, self.query.frame, true);
        let graph = Plain::new(&timed, &bounds, settings.abstraction);
        let mut search = Search::new(&timed, &bounds, settings, graph);
        let node = match search.run(&mut goal, watch) {
            Outcome::Found(node) => node,
            Outcome::Exhausted => return Ok(Asked::Impossible),
            _ => return Ok(Asked::Open),
        };
        let leaves = by_position(search.states.path(node));
        let mut goal = goal.lenient();
        let at_end: Condition<'_> = &mut |state, zone| goal.part(state, zone).map(Some);
        let check = Some((target.expr, target.wanted, target.formula.has_deadlock()));
        let run = Run {
            program: &timed,
            ..*self
        };
        let trace = run.tracer().path_trace(&leaves, at_end, check)?;
        Ok(Asked::Possible(trace))
    }
}

/// The least limit that a trace satisfies.
fn limit_of(trace: &Trace) -> Option<Limit> {
    let (mut total, mut unit) = (0i128, 1i128);
    for step in &trace.steps {
        let (numerator, denominator) = step.delay.split_once('/').unwrap_or((&step.delay, "1"));
        let (n, d): (i128, i128) = (numerator.parse().ok()?, denominator.parse().ok()?);
        total = total * d + n * unit;
        unit *= d;
        let common = gcd(total, unit).max(1);
        (total, unit) = (total / common, unit / common);
    }
    let whole = i64::try_from(total / unit).ok()?;
    Some(2 * whole + i64::from(total % unit != 0))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
