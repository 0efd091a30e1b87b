//! `E<>` and `A[]`.

use super::{Answer, Run};
use crate::explore::passed_waiting::{Covering, NIL};
use crate::explore::search::{Outcome, Search};
use crate::explore::watch::Watch;
use crate::query::reach::Goal;
use crate::trace::{Condition, Leave};
use zonelens_analysis::network::Expr;
use zonelens_analysis::report::Verdict;

impl Run<'_> {
    /// Looks for a state where the condition is `wanted`: `E<> φ` with true, `A[] φ` with false.
    pub(super) fn reachable(&self, expr: &Expr, wanted: bool, watch: &mut Watch<'_>) -> Answer {
        match self.try_reachable(expr, wanted, watch) {
            Ok(answer) | Err(answer) => answer,
        }
    }

    fn try_reachable(
        &self,
        expr: &Expr,
        wanted: bool,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, Answer> {
        let formula = self.formula(expr)?;
        let has_deadlock = formula.has_deadlock();
        let bounds = self.bounds(&[&formula])?;
        let settings = self.settings(&bounds, !has_deadlock);
        let (found, absent) = match wanted {
            true => (Verdict::Satisfied, Verdict::Violated),
            false => (Verdict::Violated, Verdict::Satisfied),
        };
        if self.program.has_rates && has_deadlock {
            return Err(Answer::because(
                Verdict::Unknown,
                "unsupported: deadlock in a model that stops clocks",
            ));
        }
        let mut goal = Goal::new(self.program, &formula, self.query.frame, wanted);
        let mut search = Search::new(self.program, &bounds, settings);
        search.representative = self.representative(&settings);
        search.audit = self.audit();
        let outcome = search.run(&mut goal, watch);
        let mut answer = match outcome {
            Outcome::Exhausted => Answer::verdict(absent),
            Outcome::Stopped(stop) => Answer::stopped(stop),
            Outcome::Asymmetric(message) => Answer::internal(message),
            Outcome::Fault(fault, node, step) => self.fault(fault, &search, node, step),
            Outcome::QueryFault(fault, _) => self.query_error(fault),
            Outcome::Found(_) if self.program.has_rates || settings.covering == Covering::Hull => {
                let why = if self.program.has_rates {
                    "clocks are stopped"
                } else {
                    "convex hulls are used"
                };
                Answer::because(
                    Verdict::Unknown,
                    format!(
                        "approximate: {why}, so a state found may not be reachable; only its absence is conclusive"
                    ),
                )
            }
            Outcome::Found(_) if !self.wants_trace() => Answer::verdict(found),
            Outcome::Found(node) => {
                let at_end: Condition<'_> = &mut |state, zone| goal.part(state, zone).map(Some);
                let check = (!has_deadlock).then_some((expr, wanted));
                let trace = self.real_steps(&search, node, None).and_then(|steps| {
                    let leaves: Vec<Leave> = steps.into_iter().map(Leave::Step).collect();
                    self.path_trace(&leaves, at_end, check)
                });
                match trace {
                    Ok(trace) => Answer {
                        trace: Some(Box::new(trace)),
                        ..Answer::verdict(found)
                    },
                    Err(failure) => {
                        Answer::internal(format!("the trace does not replay ({})", failure.0))
                    }
                }
            }
        };
        answer.symmetry = Some(Box::new(
            self.symmetry_report(search.representative.as_ref()),
        ));
        Ok(answer)
    }

    /// The report of a model error found by a search.
    pub(super) fn fault(
        &self,
        fault: crate::program::Fault,
        search: &Search<'_>,
        node: u32,
        step: Option<u32>,
    ) -> Answer {
        if node == NIL || !self.wants_trace() {
            return self.model_error(fault, Ok(None));
        }
        let Ok(mut steps) = self.real_steps(search, node, step) else {
            return self.model_error(fault, Ok(None));
        };
        let step = step.and_then(|_| steps.pop());
        let leaves: Vec<Leave> = steps.into_iter().map(Leave::Step).collect();
        let mut expander = crate::explore::expander::Expander::new(self.program);
        let trace = self.path_trace(
            &leaves,
            &mut |state, zone| {
                let Some(step) = step else { return Ok(None) };
                expander
                    .steps
                    .find(self.program, &mut expander.machine, state)?;
                if step as usize >= expander.steps.len() {
                    return Ok(None);
                }
                let step = expander.steps.get(step as usize).clone();
                expander.enabled(&step, state, zone).map(Some)
            },
            None,
        );
        self.model_error(fault, trace.map(Some))
    }
}
