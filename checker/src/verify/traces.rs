//! Traces: scheduled, replayed, described.

use super::Run;
use crate::interpreter::{ConcreteStep, Evaluator, Failure, Replayed, replay};
use crate::trace::{Condition, Conditions, Leave, Path, follow, schedule, shorten_path};
use crate::zone::Zone;
use zonelens_analysis::network::Expr;
use zonelens_analysis::report::{Trace, TraceKind, TraceOption};

impl Run<'_> {
    /// A run along a path that ends in the given part of its last state. `check` is what the last concrete state must
    /// say of the query's condition.
    pub(super) fn path_trace(
        &self,
        leaves: &[Leave],
        at_end: Condition<'_>,
        check: Option<(&Expr, bool)>,
    ) -> Result<Trace, Failure> {
        let mut whenever = |_: &mut [i32], _: &Zone| Ok(None);
        let mut always = |_: &mut [i32], _: &Zone| Ok(None);
        // What was asked to be shortest or fastest is so already.
        let shorter = match self.options.trace {
            TraceOption::Some => {
                let conditions = Conditions {
                    at_pivot: &mut whenever,
                    along: &mut always,
                    at_end,
                };
                shorten_path(self.program, leaves, conditions).ok()
            }
            _ => None,
        };
        let conditions = Conditions {
            at_pivot: &mut whenever,
            along: &mut always,
            at_end,
        };
        let replayed = self.replayed(shorter.as_deref().unwrap_or(leaves), conditions)?;
        if let (Some((expr, wanted)), Some(last)) = (check, replayed.states.last()) {
            let mut last = last.clone();
            let value = Evaluator::new(self.network, &mut last, self.query.frame).eval(expr)?;
            if (value != 0) != wanted {
                return Err(Failure("the last state does not have the property".into()));
            }
        }
        Ok(Trace {
            kind: TraceKind::Path,
            cycle_start: None,
            steps: replayed.steps,
        })
    }

    /// Schedules and replays a path.
    pub(super) fn replayed(
        &self,
        leaves: &[Leave],
        conditions: Conditions<'_>,
    ) -> Result<Replayed, Failure> {
        let path = follow(self.program, leaves, conditions)
            .map_err(|fault| Failure(fault.kind.to_string()))?
            .ok_or(Failure("no run follows the path".into()))?;
        let timed = schedule(&path, &self.program.initial_clocks)
            .ok_or(Failure("the path has no schedule".into()))?;
        let run = self.concrete_run(&path, &timed.delays);
        replay(self.network, timed.unit, &run, &|span| {
            (self.position)(span)
        })
    }

    fn concrete_run(&self, path: &Path, delays: &[i64]) -> Vec<(i64, Option<ConcreteStep>)> {
        let mut run = Vec::new();
        let mut waited = 0;
        for (stay, delay) in path.stays.iter().zip(delays) {
            waited += delay;
            if let Some((taken, _)) = &stay.step {
                let edges = taken.edges.iter().map(|(edge, values)| {
                    let edge = &self.program.edges[*edge as usize];
                    (edge.process, edge.index, values.clone())
                });
                let step = ConcreteStep {
                    channel: taken.channel,
                    edges: edges.collect(),
                };
                run.push((waited, Some(step)));
                waited = 0;
            }
        }
        if waited > 0 {
            run.push((waited, None));
        }
        run
    }
}
