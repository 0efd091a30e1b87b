//! The fastest trace: a clock that nothing sets measures time, and the search is repeated for less and less of it.

use super::reachable::{Sought, by_position};
use super::{Answer, Run};
use crate::explore::bounds::Bounds;
use crate::explore::search::{Outcome, Search, Settings};
use crate::explore::watch::Watch;
use crate::program::{AtomCode, ClockCode, Code, Formula, Program};
use crate::query::reach::Goal;
use zonelens_analysis::network::CompareOp;
use zonelens_analysis::report::{Trace, Verdict};
use zonelens_syntax::span::Span;

impl Run<'_> {
    /// Replaces the trace of an answer by one that takes the least time. A limit reached on the way leaves the best so
    /// far.
    pub(super) fn hurry(
        &self,
        mut answer: Answer,
        sought: &Sought<'_>,
        settings: &Settings,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let mut timed: Program = self.program.clone();
        timed.clocks += 1;
        timed.initial_clocks.push(0);
        let clock = (timed.clocks - 1) as u32;
        while let Some((op, limit)) = answer.trace.as_deref().and_then(less_than) {
            let condition = match sought.wanted {
                true => sought.formula.clone(),
                false => Formula::Not(Box::new(sought.formula.clone())),
            };
            let soon = Formula::Atom(Box::new(AtomCode {
                left: ClockCode {
                    base: clock,
                    by_ref: false,
                    steps: Vec::new(),
                },
                right: None,
                op,
                bound: Code::Const(limit),
                span: Span::default(),
            }));
            let goal_formula = Formula::And(vec![condition, soon]);
            let bounds = Bounds::new(&timed, &[&goal_formula]);
            let mut goal = Goal::new(&timed, &goal_formula, self.query.frame, true);
            let mut search = Search::new(&timed, &bounds, *settings);
            let Outcome::Found(node) = search.run(&mut goal, watch) else {
                break;
            };
            let better = self.found(Ok(by_position(search.states.path(node))), sought, settings);
            if better.verdict == Verdict::Error {
                return better;
            }
            // The schedule is the earliest of its path, so each round gains; a path that does not ends the loop.
            if better.trace.as_deref().and_then(less_than) == Some((op, limit)) {
                break;
            }
            answer.trace = better.trace;
        }
        answer
    }
}

/// The condition on time that beats a trace: `< t`, or `<= c` if it takes a little more than `c` because of strict
/// bounds. `None` if it takes no time.
fn less_than(trace: &Trace) -> Option<(CompareOp, i32)> {
    let (mut total, mut unit) = (0i128, 1i128);
    for step in &trace.steps {
        let (numerator, denominator) = step.delay.split_once('/').unwrap_or((&step.delay, "1"));
        let (n, d): (i128, i128) = (numerator.parse().ok()?, denominator.parse().ok()?);
        total = total * d + n * unit;
        unit *= d;
        let common = gcd(total, unit).max(1);
        (total, unit) = (total / common, unit / common);
    }
    let whole = i32::try_from(total / unit).ok()?;
    match (total % unit, whole) {
        (0, 0) => None,
        (0, _) => Some((CompareOp::Lt, whole)),
        _ => Some((CompareOp::Le, whole)),
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
