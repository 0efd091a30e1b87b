//! `E<>` and `A[]`.

use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::graph::goal::Goal;
use crate::program::{Fault, Formula};
use crate::search::limits::Watch;
use crate::search::nearness::Nearness;
use crate::search::parallel::{self, End};
use crate::search::sequential::{Outcome, Search, Settings};
use crate::store::passed_waiting::{Covering, NIL};
use crate::symmetry::Permutation;
use crate::witness::{Condition, Leave};
use zonelens_analysis::network::Expr;
use zonelens_analysis::report::{TraceOption, Verdict};
use zonelens_interpreter::Failure;

/// What is looked for, and what it means.
pub(crate) struct Sought<'q> {
    pub expr: &'q Expr,
    pub formula: &'q Formula,
    /// The value that the formula shall have.
    pub wanted: bool,
    found: Verdict,
    pub absent: Verdict,
}

impl Run<'_> {
    /// Looks for a state where the condition is `wanted`: `E<> φ` with true, `A[] φ` with false.
    pub(crate) fn reachable(&self, expr: &Expr, wanted: bool, watch: &mut Watch<'_>) -> Answer {
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
        let mut bounds = self.bounds_to_reach(&formula)?;
        let settings = self.settings(&bounds, !has_deadlock);
        if self.program.has_rates && has_deadlock {
            let reason = "unsupported: deadlock in a model that stops clocks";
            return Err(Answer::because(Verdict::Unknown, reason));
        }
        let (found, absent) = match wanted {
            true => (Verdict::Satisfied, Verdict::Violated),
            false => (Verdict::Violated, Verdict::Satisfied),
        };
        let sought = Sought {
            expr,
            formula: &formula,
            wanted,
            found,
            absent,
        };
        let (representative, named) = self.representative_and_named(&settings, &mut bounds);
        let settings = Run::without_alu(settings, representative.is_some());
        let mut search = Search::new(self.program, &bounds, settings);
        search.representative = representative;
        search.audit = self.audit([&formula]).map(|a| a.naming(named.clone()));
        let parallel =
            self.options.threads > 1 && search.representative.is_none() && !settings.shortest;
        let proven = match has_deadlock && named.is_empty() && self.may_take_turns(&settings) {
            true => self.proven_by_lu(&sought, &settings, &bounds, watch),
            false => None,
        };
        let mut answer = if let Some((answer, representative)) = proven {
            search.representative = representative;
            answer
        } else if parallel {
            self.search_in_parallel(&sought, &bounds, settings, watch)
        } else if self.may_take_turns(&settings) {
            self.search_in_turns(&sought, &mut search, &named, &settings, &bounds, watch)
        } else {
            self.search_alone(&sought, &mut search, &named, &settings, watch)
        };
        answer.symmetrised = !named.is_empty();
        if self.options.trace == TraceOption::Fastest {
            answer = self.hurry(answer, &sought, &settings, watch);
        }
        answer.symmetry = Some(self.symmetry_of(&search));
        Ok(answer)
    }

    pub(crate) fn goal<'g>(&'g self, sought: &Sought<'g>) -> Goal<'g> {
        Goal::new(
            self.program,
            sought.formula,
            self.query.frame,
            sought.wanted,
        )
    }

    /// How far states are from what is looked for.
    pub(crate) fn nearness<'g>(&'g self, sought: &Sought<'g>) -> Nearness<'g> {
        Nearness::new(
            self.program,
            sought.formula,
            self.query.frame,
            sought.wanted,
        )
    }

    fn search_alone(
        &self,
        sought: &Sought<'_>,
        search: &mut Search<'_>,
        named: &[(usize, u16)],
        settings: &Settings,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let (outcome, image) = self.explore_orbits(sought, search, named, watch);
        watch.add(search.counts());
        self.searched(outcome, sought, search, image.as_ref(), settings)
    }

    /// What the end of a search says; `image` maps the state found to where the query holds as written.
    pub(crate) fn searched(
        &self,
        outcome: Outcome,
        sought: &Sought<'_>,
        search: &Search<'_>,
        image: Option<&Permutation>,
        settings: &Settings,
    ) -> Answer {
        match outcome {
            Outcome::Exhausted => Answer::verdict(sought.absent),
            Outcome::Stopped(stop) => Answer::stopped(stop),
            Outcome::Asymmetric(message) => Answer::internal(message),
            Outcome::Fault(fault, node) => self.fault(fault, search, node),
            Outcome::QueryFault(fault, _) => self.query_fault(fault, settings.covering),
            Outcome::Found(node) => {
                let steps = self.real_steps(search, node, None, image);
                self.found(steps, sought, settings)
            }
        }
    }

    /// The report of an error in the query's expressions.
    fn query_fault(&self, fault: Fault, covering: Covering) -> Answer {
        let error = self.query_error(fault);
        match self.approximate(covering) {
            Some(why) => doubtful(why, error),
            None => error,
        }
    }

    fn search_in_parallel(
        &self,
        sought: &Sought<'_>,
        bounds: &Bounds,
        settings: Settings,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let visitor = || self.goal(sought);
        match parallel::search(
            self.program,
            bounds,
            settings,
            self.options.threads,
            &visitor,
            watch,
        ) {
            None => Answer::verdict(sought.absent),
            Some(End::Stopped(stop)) => Answer::stopped(stop),
            Some(End::Fault(fault, steps)) => {
                self.fault_after(fault, Ok(by_position(steps)), settings.covering)
            }
            Some(End::QueryFault(fault)) => self.query_fault(fault, settings.covering),
            Some(End::Found(steps)) => self.found(Ok(by_position(steps)), sought, &settings),
        }
    }

    /// Why states that are found may not be reachable, if so.
    fn approximate(&self, covering: Covering) -> Option<&'static str> {
        if self.program.has_rates {
            Some("clocks are stopped")
        } else if covering == Covering::Hull {
            Some("convex hulls are used")
        } else {
            None
        }
    }

    /// The answer when a state was found after these steps.
    pub(crate) fn found(
        &self,
        leaves: Result<Vec<Leave>, Failure>,
        sought: &Sought<'_>,
        settings: &Settings,
    ) -> Answer {
        if let Some(why) = self.approximate(settings.covering) {
            return Answer::because(
                Verdict::Unknown,
                format!(
                    "approximate: {why}, so a state found may not be reachable; only its absence is conclusive"
                ),
            );
        }
        if !self.wants_trace() {
            return Answer::verdict(sought.found);
        }
        let mut goal = self.goal(sought).lenient();
        let at_end: Condition<'_> = &mut |state, zone| goal.part(state, zone).map(Some);
        let check = Some((sought.expr, sought.wanted, sought.formula.has_deadlock()));
        let trace = leaves.and_then(|leaves| self.path_trace(&leaves, at_end, check));
        match trace {
            Ok(trace) => Answer {
                trace: Some(Box::new(trace)),
                ..Answer::verdict(sought.found)
            },
            Err(failure) => self.untraced(sought.found, &failure),
        }
    }

    /// The report of a model error that a search met in a node, or on a step from there.
    pub(crate) fn fault(&self, fault: Fault, search: &Search<'_>, node: u32) -> Answer {
        let covering = search.states.covering();
        if node == NIL || !self.needs_run(&fault, covering) {
            return self.model_error(fault, None);
        }
        self.fault_after(fault, self.real_steps(search, node, None, None), covering)
    }

    /// Whether a run to an error is asked for, or must show that it is real.
    fn needs_run(&self, fault: &Fault, covering: Covering) -> bool {
        let doubtful = self.approximate(covering).is_some();
        doubtful || self.wants_trace() && !fault.kind.is_ours()
    }

    /// The report of a model error after these steps, or on a step that follows them. States found by approximation may
    /// have no run; anywhere else the interpreter must meet the error, too.
    pub(crate) fn fault_after(
        &self,
        fault: Fault,
        leaves: Result<Vec<Leave>, Failure>,
        covering: Covering,
    ) -> Answer {
        if !self.needs_run(&fault, covering) {
            return self.model_error(fault, None);
        }
        let run = leaves.and_then(|leaves| self.error_trace(&leaves, &fault));
        match (run, self.approximate(covering)) {
            (Ok((trace, fault)), _) => self.model_error(fault, Some(trace)),
            (Err(_), Some(why)) => doubtful(why, self.model_error(fault, None)),
            (Err(_), None) if self.limit.is_over().is_some() => self.model_error(fault, None),
            (Err(failure), None) => {
                let error = self.model_error(fault, None).reason.unwrap_or_default();
                Answer::internal(format!("no run leads to \"{error}\" ({})", failure.0))
            }
        }
    }
}

/// An error in a state that may not be reachable.
fn doubtful(why: &str, error: Answer) -> Answer {
    if error.verdict != Verdict::Error {
        return error;
    }
    let error = error.reason.unwrap_or_default();
    Answer::because(
        Verdict::Unknown,
        format!("approximate: {why}, so a state with this error may not be reachable: {error}"),
    )
}

/// Steps by their positions, as runs without symmetry keep them.
pub(crate) fn by_position(steps: Vec<u32>) -> Vec<Leave> {
    steps.into_iter().map(Leave::Step).collect()
}
