//! The queries `E<>` and `A[]`.

use super::scheduler::take_turns;
use super::searches::States;
use super::{Answer, Run};
use crate::graph::Visitor;
use crate::graph::goal::Goal;
use crate::program::{Alike, Fault, Formula};
use crate::search::limits::Watch;
use crate::search::nearness::Nearness;
use crate::search::parallel::{self, End, Kept, Makers};
use crate::search::sequential::{Outcome, Settings};
use crate::store::passed_waiting::{Covering, NIL};
use crate::strategy::Search;
use crate::symmetry::{Chosen, Permutation, Representative, Route, Symmetrised};
use crate::witness::{Condition, PathStep};
use crate::zone::Lazy;
use zonelens_analysis::network::Expr;
use zonelens_analysis::report::{Reason, TraceOption, Verdict};
use zonelens_interpreter::Failure;

/// The goal of a search, and the verdicts that follow from it.
pub(crate) struct Target<'q> {
    pub expr: &'q Expr,
    pub formula: &'q Formula,
    /// The value that the formula must have.
    pub wanted: bool,
    pub found: Verdict,
    pub absent: Verdict,
}

/// The question that is asked about a state.
#[allow(clippy::large_enum_variant)] // There is one per thread.
pub(crate) enum Asked<'g> {
    /// Whether the condition holds in the state.
    AsItIs(Goal<'g>),
    /// Whether the condition holds in some image of the state: it names elements that are permuted.
    OfOrbits(Box<Symmetrised<Goal<'g>>>),
}

impl Asked<'_> {
    /// The permutation that maps the state found last to one where the condition holds as written.
    pub(crate) fn found(self) -> Option<Permutation> {
        match self {
            Asked::AsItIs(_) => None,
            Asked::OfOrbits(orbits) => orbits.found,
        }
    }

    /// The same for the last state of a route that another thread found.
    fn image(mut self, route: &Route) -> Option<Permutation> {
        if let Route::Moved(path) = route
            && let Some(last) = path.last()
        {
            self.visit(&mut last.state.clone(), &Lazy::from(&last.zone), NIL)
                .ok()?;
        }
        self.found()
    }
}

impl Visitor for Asked<'_> {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, node: u32) -> Result<bool, Fault> {
        match self {
            Asked::AsItIs(goal) => goal.visit(state, zone, node),
            Asked::OfOrbits(orbits) => orbits.visit(state, zone, node),
        }
    }

    fn alike(&mut self) -> Option<&mut Alike> {
        match self {
            Asked::AsItIs(goal) => goal.alike(),
            Asked::OfOrbits(orbits) => orbits.alike(),
        }
    }
}

impl Run<'_> {
    /// Searches for a state where the condition is `wanted`: `E<> φ` with true, `A[] φ` with false.
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
            return Err(Answer::unsupported("deadlock in a model that stops clocks"));
        }
        let (found, absent) = match wanted {
            true => (Verdict::Satisfied, Verdict::Violated),
            false => (Verdict::Violated, Verdict::Satisfied),
        };
        let target = Target {
            expr,
            formula: &formula,
            wanted,
            found,
            absent,
        };
        let (representative, named) = self.representative_and_named(&settings, &mut bounds);
        let settings = Run::without_alu(settings, representative.is_some());
        let settings = self.up_to_simulation(settings, &target, representative.is_some());
        let question = States {
            run: self,
            target: &target,
            settings,
            bounds: &bounds,
            representative,
            named: &named,
        };
        let alone = !self.may_take_turns(&settings);
        let mut answer = take_turns(&question, self.options, alone, watch);
        answer.symmetrised = !named.is_empty();
        if self.options.trace == TraceOption::Fastest {
            answer = self.minimise_time(answer, &target, &settings, watch);
        }
        Ok(answer)
    }

    pub(crate) fn goal<'g>(&'g self, target: &Target<'g>) -> Goal<'g> {
        Goal::new(
            self.program,
            target.formula,
            self.query.frame,
            target.wanted,
        )
    }

    /// How far states are from the goal.
    pub(crate) fn nearness<'g>(&'g self, target: &Target<'g>) -> Nearness<'g> {
        Nearness::new(
            self.program,
            target.formula,
            self.query.frame,
            target.wanted,
        )
    }

    /// The answer from the outcome of a search; `image` maps the state found to one where the query
    /// holds as written.
    pub(crate) fn searched(
        &self,
        outcome: Outcome,
        target: &Target<'_>,
        search: &Search<'_>,
        image: Option<&Permutation>,
        settings: &Settings,
    ) -> Answer {
        match outcome {
            Outcome::Exhausted => {
                self.certify(search, settings);
                Answer::verdict(target.absent)
            }
            Outcome::Stopped(stop) => Answer::stopped(stop),
            Outcome::Asymmetric(message) => Answer::internal(message),
            Outcome::Fault(fault, node) => self.fault(fault, search, node),
            Outcome::QueryFault(fault, _) => self.query_fault(fault, settings.covering),
            Outcome::Found(node) => {
                let steps = self
                    .tracer()
                    .real_steps(&search.graph, &search.route(node), image);
                self.found(steps, target, settings)
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

    /// Explores with several threads under the given settings.
    pub(super) fn explore_in_parallel<'q>(
        &'q self,
        question: &States<'q>,
        settings: Settings,
        watch: &mut Watch<'_>,
    ) -> (End<Permutation>, Kept<Chosen<'q>, Permutation>) {
        let States {
            target,
            bounds,
            named,
            ..
        } = *question;
        let graph = || {
            let audit = self.audit([target.formula]);
            let audit = audit.map(|audit| audit.naming(named.to_vec()));
            let representative = question.representative.clone();
            let model = (self.program, bounds);
            Chosen::new(model, settings.abstraction, representative, audit)
                .whole_zones(self.options.whole_zones)
                .for_paths(self.wants_trace())
        };
        let representative = match named.is_empty() {
            true => None,
            false => graph().representative().cloned(),
        };
        let makers = Makers {
            graph: &graph,
            visitor: &|| self.asked(target, representative.as_ref(), named),
        };
        let model = (self.program, bounds);
        parallel::search(model, settings, self.options.threads, &makers, watch)
    }

    /// Searches with several threads; the answer includes the report on symmetry.
    pub(super) fn search_in_parallel(
        &self,
        question: &States<'_>,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let States {
            target,
            settings,
            named,
            ..
        } = *question;
        let (end, kept) = self.explore_in_parallel(question, settings, watch);
        let mut answer = match end {
            End::Exhausted => Answer::verdict(target.absent),
            End::Stopped(stop) => Answer::stopped(stop),
            End::Asymmetric(message) => Answer::internal(message),
            End::Fault(fault, route) => {
                let steps = self.tracer().real_steps(&kept.graph, &route, None);
                self.fault_after(fault, steps, settings.covering)
            }
            End::QueryFault(fault) => self.query_fault(fault, settings.covering),
            End::Found(route) => {
                let asked = self.asked(target, kept.graph.representative(), named);
                let image = asked.image(&route);
                let steps = self
                    .tracer()
                    .real_steps(&kept.graph, &route, image.as_ref());
                self.found(steps, target, &settings)
            }
        };
        let judge = answer.judged(watch);
        let load = |node| kept.state(node);
        answer.symmetry = Some(self.symmetry_over(&kept.graph, kept.shared(), load, judge));
        answer
    }

    /// The question about states: whether they, or some image of them, meet the goal.
    pub(super) fn asked<'g>(
        &'g self,
        target: &Target<'g>,
        representative: Option<&Representative>,
        named: &[(usize, u16)],
    ) -> Asked<'g> {
        let goal = self.goal(target);
        match representative {
            Some(representative) if !named.is_empty() => Asked::OfOrbits(Box::new(
                Symmetrised::new(goal, representative.clone(), named.to_vec()),
            )),
            _ => Asked::AsItIs(goal),
        }
    }

    /// The reason why states that are found may not be reachable, if there is one.
    fn approximate(&self, covering: Covering) -> Option<&'static str> {
        if self.program.has_rates {
            Some("clocks are stopped")
        } else if covering == Covering::Hull {
            Some("convex hulls are used")
        } else {
            None
        }
    }

    /// The answer if a state was found after these steps.
    pub(crate) fn found(
        &self,
        leaves: Result<Vec<PathStep>, Failure>,
        target: &Target<'_>,
        settings: &Settings,
    ) -> Answer {
        if let Some(why) = self.approximate(settings.covering) {
            let reason = Reason::Approximate(format!(
                "{why}, so a state found may not be reachable; only its absence is conclusive"
            ));
            return Answer::because(Verdict::Unknown, reason);
        }
        if !self.wants_trace() {
            return Answer::verdict(target.found);
        }
        let mut goal = self.goal(target).lenient();
        let at_end: Condition<'_> = &mut |state, zone| goal.part(state, zone).map(Some);
        let check = Some((target.expr, target.wanted, target.formula.has_deadlock()));
        let trace = leaves.and_then(|leaves| self.tracer().path_trace(&leaves, at_end, check));
        match trace {
            Ok(trace) => Answer {
                trace: Some(Box::new(trace)),
                ..Answer::verdict(target.found)
            },
            Err(failure) => self.untraced(target.found, &failure),
        }
    }

    /// The report of a model error that a search found in a node, or on a step from there.
    pub(crate) fn fault(&self, fault: Fault, search: &Search<'_>, node: u32) -> Answer {
        let covering = search.states.covering();
        if node == NIL || !self.needs_run(&fault, covering) {
            return self.model_error(fault, None);
        }
        let steps = self
            .tracer()
            .real_steps(&search.graph, &search.route(node), None);
        self.fault_after(fault, steps, covering)
    }

    /// Whether a run to an error is wanted, or is needed to show that the error is real.
    fn needs_run(&self, fault: &Fault, covering: Covering) -> bool {
        let doubtful = self.approximate(covering).is_some();
        doubtful || self.wants_trace() && !fault.kind.is_ours()
    }

    /// The report of a model error after these steps, or on a step that follows them. States found
    /// by approximation may have no run; in all other cases the interpreter must find the error
    /// too.
    pub(crate) fn fault_after(
        &self,
        fault: Fault,
        leaves: Result<Vec<PathStep>, Failure>,
        covering: Covering,
    ) -> Answer {
        if !self.needs_run(&fault, covering) {
            return self.model_error(fault, None);
        }
        let run = leaves.and_then(|leaves| self.tracer().error_trace(&leaves, &fault));
        match (run, self.approximate(covering)) {
            (Ok((trace, fault)), _) => self.model_error(fault, Some(trace)),
            (Err(_), Some(why)) => doubtful(why, self.model_error(fault, None)),
            (Err(_), None) if self.limit.is_over().is_some() => self.model_error(fault, None),
            (Err(failure), None) => {
                let error = self.model_error(fault, None).reason_text();
                Answer::internal(format!("no run leads to \"{error}\" ({})", failure.0))
            }
        }
    }
}

/// The answer for an error in a state that may not be reachable.
fn doubtful(why: &str, error: Answer) -> Answer {
    if error.verdict != Verdict::Error {
        return error;
    }
    let error = error.reason_text();
    let reason = Reason::Approximate(format!(
        "{why}, so a state with this error may not be reachable: {error}"
    ));
    Answer::because(Verdict::Unknown, reason)
}
