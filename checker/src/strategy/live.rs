//! The queries `E[]`, `A<>` and `-->`.

use super::certify::Nodes;
use super::certify_runs::{Finished, Proof};
use super::live_turns::Runs;
use super::scheduler::take_turns;
use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::graph::expander::Expander;
use crate::graph::throughout::Throughout;
use crate::graph::{Successors, Visitor};
use crate::program::{Fault, Formula};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::liveness::{Live, Liveness};
use crate::search::sequential::{Outcome, Settings};
use crate::search::wide::Guide;
use crate::strategy::Search;
use crate::symmetry::{Chosen, Permutation, Representative};
use crate::witness::lassos::LiveRun;
use crate::zone::{Lazy, Zone};
use std::cell::RefCell;
use std::rc::Rc;
use zonelens_analysis::network::Expr;
use zonelens_analysis::report::{AuditReport, SearchOrder, Verdict};

/// A goal that no state meets, so that everything is explored.
struct Nothing;

impl Visitor for Nothing {
    fn visit(&mut self, _: &mut [i32], _: &Lazy<'_>, _: u32) -> Result<bool, Fault> {
        Ok(false)
    }
}

impl Run<'_> {
    /// `E[] φ` (wanted true), and `A<> φ` as its negation for ¬φ (wanted false).
    pub(crate) fn stays(&self, expr: &Expr, wanted: bool, watch: &mut Watch<'_>) -> Answer {
        match self.try_stays(expr, wanted, watch) {
            Ok(answer) | Err(answer) => answer,
        }
    }

    fn try_stays(
        &self,
        expr: &Expr,
        wanted: bool,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, Answer> {
        let formula = self.formula(expr)?;
        self.refuse_what_liveness_cannot(&formula)?;
        let bounds = self.bounds(&[&formula])?;
        let condition = Throughout {
            formula: &formula,
            wanted,
            frame: self.query.frame,
        };
        let verdicts = match wanted {
            true => (Verdict::Satisfied, Verdict::Violated),
            false => (Verdict::Violated, Verdict::Satisfied),
        };
        let question = Runs {
            run: self,
            start: None,
            condition,
            verdicts,
            bounds: &bounds,
            hint: RefCell::default(),
        };
        let alone = !self.may_take_turns(&self.settings(&bounds, false));
        Ok(take_turns(&question, self.options, alone, watch))
    }

    /// Searches for a run that keeps the condition from the initial state on.
    pub(super) fn stays_exactly(
        &self,
        condition: Throughout<'_>,
        verdicts: (Verdict, Verdict),
        bounds: &Bounds,
        guided: Option<Guided>,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, Stop> {
        let mut liveness = liveness(self, bounds, condition, self.region_abstraction());
        self.record(&mut liveness);
        liveness.guide = guided.map(|guided| guided.guide);
        let entry = vec![Zone::point(&self.program.initial_clocks)];
        let live = liveness.search(&self.program.initial, entry, watch);
        watch.add(liveness.counts());
        if let Live::Stopped(stop) = live {
            return Err(stop);
        }
        if matches!(live, Live::None) && liveness.guide.is_none() {
            self.certify_finished(&mut liveness, bounds, None);
        }
        let run = LiveRun {
            graph: &liveness.graph,
            stem: None,
            start: None,
            condition,
            bounds,
        };
        let mut answer = self.live_answer(live, run, verdicts);
        let mut symmetry = self.symmetry_report(liveness.graph.representative());
        if self.options.audit_symmetry {
            match self.audit_reachable(condition.formula, bounds, watch)? {
                Ok(done) => symmetry.audit = Some(done),
                Err(message) => answer = Answer::internal(message),
            }
        }
        answer.symmetry = Some(Box::new(symmetry));
        Ok(answer)
    }

    /// Audits every reachable state, because a search for runs explores only some of them.
    fn audit_reachable(
        &self,
        formula: &Formula,
        bounds: &Bounds,
        watch: &mut Watch<'_>,
    ) -> Result<Result<AuditReport, String>, Stop> {
        let settings = self.settings(bounds, false);
        let representative = self.representative(&settings);
        let mut search = self.search(bounds, settings, representative, self.audit([formula]));
        let outcome = search.explore(&mut Nothing, watch);
        let done = search.graph.audit().map(|a| a.done().clone());
        match outcome {
            Outcome::Stopped(stop) => Err(stop),
            Outcome::Asymmetric(message) => Ok(Err(message)),
            _ => Ok(Ok(done.unwrap_or_default())),
        }
    }

    fn refuse_what_liveness_cannot(&self, formula: &Formula) -> Result<(), Answer> {
        if formula.has_deadlock() {
            let message = "deadlock can only be asked for with E<> and A[]";
            return Err(Answer::unsupported(message));
        }
        if self.program.has_rates {
            return Err(Answer::unsupported("liveness in a model that stops clocks"));
        }
        Ok(())
    }

    /// `p --> q`: from every reachable point with p and not q, no run may avoid q.
    pub(crate) fn leads_to(&self, p: &Expr, q: &Expr, watch: &mut Watch<'_>) -> Answer {
        match self.try_leads_to(p, q, watch) {
            Ok(answer) | Err(answer) => answer,
        }
    }

    fn try_leads_to(&self, p: &Expr, q: &Expr, watch: &mut Watch<'_>) -> Result<Answer, Answer> {
        let (p, q) = (self.formula(p)?, self.formula(q)?);
        self.refuse_what_liveness_cannot(&p)?;
        self.refuse_what_liveness_cannot(&q)?;
        let bounds = self.bounds(&[&p, &q])?;
        let condition = Throughout {
            formula: &q,
            wanted: false,
            frame: self.query.frame,
        };
        let start = Throughout {
            formula: &p,
            wanted: true,
            frame: self.query.frame,
        };
        let question = Runs {
            run: self,
            start: Some(start),
            condition,
            verdicts: (Verdict::Violated, Verdict::Satisfied),
            bounds: &bounds,
            hint: RefCell::default(),
        };
        let alone = !self.may_take_turns(&self.settings(&bounds, false));
        Ok(take_turns(&question, self.options, alone, watch))
    }

    /// The same under LU bounds, for states and for runs. These only add points, and with them
    /// runs: if no run avoids q there, no real run does. `None` if one does, which proves nothing:
    /// where it ends, a real run may continue.
    pub(super) fn leads_under_lu(
        &self,
        start: Throughout<'_>,
        condition: Throughout<'_>,
        bounds: &Bounds,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Answer>, Stop> {
        let settings = Settings {
            abstraction: Abstraction::ExtraLu,
            ..self.settings(bounds, false)
        };
        let avoiding = liveness(self, bounds, condition, Abstraction::ExtraLu);
        let (search, outcome, _) = self.starting(
            start,
            (avoiding, condition.formula),
            settings,
            bounds,
            watch,
        )?;
        let proven = || Answer {
            symmetry: Some(Box::new(
                self.symmetry_report(search.graph.representative()),
            )),
            ..Answer::verdict(Verdict::Satisfied)
        };
        Ok((outcome == Outcome::Exhausted).then(proven))
    }

    /// Searches for a run that avoids q from every reachable point with p.
    pub(super) fn leads_exactly(
        &self,
        start: Throughout<'_>,
        condition: Throughout<'_>,
        bounds: &Bounds,
        guided: Option<Guided>,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, Stop> {
        let mut settings = self.settings(bounds, false);
        let mut avoiding = liveness(self, bounds, condition, self.region_abstraction());
        if let Some(Guided { guide, seed }) = guided {
            avoiding.guide = Some(guide);
            (settings.order, settings.seed) = (SearchOrder::Random, seed);
        }
        let (search, outcome, live) = self.starting(
            start,
            (avoiding, condition.formula),
            settings,
            bounds,
            watch,
        )?;
        let mut answer = match (outcome, live) {
            (Outcome::Found(node), Some(live)) => {
                let run = LiveRun {
                    graph: &search.graph,
                    stem: Some(search.route(node)),
                    start: Some(start),
                    condition,
                    bounds,
                };
                self.live_answer(live, run, (Verdict::Violated, Verdict::Satisfied))
            }
            (Outcome::Fault(fault, node), _) => self.fault(fault, &search, node),
            (Outcome::QueryFault(fault, _), _) => self.query_error(fault),
            (Outcome::Asymmetric(message), _) => Answer::internal(message),
            _ => Answer::verdict(Verdict::Satisfied),
        };
        answer.symmetry = Some(self.symmetry_of(&search, answer.judged(watch)));
        Ok(answer)
    }

    /// Searches all states and, from those with p, searches for a run that avoids q.
    fn starting<'s>(
        &'s self,
        start: Throughout<'s>,
        (avoiding, avoided): (Liveness<'s, Chosen<'s>>, &'s Formula),
        settings: Settings,
        bounds: &'s Bounds,
        watch: &mut Watch<'_>,
    ) -> Result<(Search<'s>, Outcome, Option<Live<Permutation>>), Stop> {
        let representative = self.representative(&settings);
        let audit = self.audit([start.formula, avoided]);
        let mut search = self.search(bounds, settings, representative, audit);
        // Both searches check the same limits, each through its own watch.
        let mut outer = watch.twin();
        let mut avoiding = avoiding;
        self.record(&mut avoiding);
        let guided = avoiding.guide.is_some();
        let mut starts = Starts::new(self, start, avoiding, watch);
        let outcome = search.run(&mut starts, &mut outer);
        if outcome == Outcome::Exhausted && !guided && !search.graph.moves() {
            let all = (&search.states as &dyn Nodes, starts.p);
            self.certify_finished(&mut starts.liveness, bounds, Some(all));
        }
        let (live, counts) = starts.end();
        watch.all_checked += outer.all_checked;
        let stopped = match (&outcome, &live) {
            (Outcome::Stopped(stop), _) | (_, Some(Live::Stopped(stop))) => Some(*stop),
            _ => None,
        };
        watch.add(search.counts());
        watch.before.explored += counts.explored;
        watch.before.transitions += counts.transitions;
        stopped.map_or(Ok((search, outcome, live)), Err)
    }

    /// Whether no run avoids q from any point with p in the hulls of the reachable zones: then none
    /// does from a reachable point either. The runs themselves are searched under LU bounds, which
    /// only add runs.
    pub(super) fn leads_from_hulls(
        &self,
        start: Throughout<'_>,
        condition: Throughout<'_>,
        bounds: &Bounds,
        settings: Settings,
        watch: &mut Watch<'_>,
    ) -> bool {
        let mut search = self.search(bounds, settings, None, None);
        if search.run(&mut Nothing, watch) != Outcome::Exhausted {
            return false;
        }
        let mut avoiding = liveness(self, bounds, condition, Abstraction::ExtraLu);
        self.record(&mut avoiding);
        let mut starts = Starts::new(self, start, avoiding, watch);
        let (mut state, mut zone) = (Vec::new(), Zone::universe(self.program.dim()));
        let avoided = search.states.kept().any(|node| {
            search.states.get(node, &mut state, &mut zone);
            starts.visit(&mut state, &Lazy::from(&zone), node) != Ok(false)
        });
        if !avoided {
            let all = (&search.states as &dyn Nodes, starts.p);
            self.certify_finished(&mut starts.liveness, bounds, Some(all));
        }
        let (_, counts) = starts.end();
        watch.add(counts);
        !avoided
    }

    /// Records the states of a search if a certificate needs them.
    fn record<'p>(&self, liveness: &mut Liveness<'p, Chosen<'p>>) {
        if self.wants_certificate() && !liveness.graph.moves() {
            liveness.finished = Some(Vec::new());
        }
    }

    /// Writes the certificate of a search that found no run, if its states were recorded.
    fn certify_finished<'p>(
        &self,
        liveness: &mut Liveness<'p, Chosen<'p>>,
        bounds: &Bounds,
        start: Option<(&dyn Nodes, Throughout<'_>)>,
    ) {
        let Some(finished) = liveness.finished.take() else {
            return;
        };
        self.certify_runs(&Proof {
            condition: liveness.condition,
            bounds,
            states: &Finished(finished),
            leads: &|from, to| to < from,
            start,
        });
    }
}

/// How to search for a run that could not be excluded.
pub(super) struct Guided {
    pub guide: Rc<Guide>,
    /// The seed for the path to where the run starts.
    pub seed: u64,
}

/// A search for runs that keep a condition, with the reductions that the options select.
fn liveness<'p>(
    run: &Run<'p>,
    bounds: &'p Bounds,
    condition: Throughout<'p>,
    abstraction: Abstraction,
) -> Liveness<'p, Chosen<'p>> {
    let representative = run.tables().map(Representative::new);
    let graph = match run.options.audit_symmetry {
        false => Chosen::new((run.program, bounds), abstraction, representative, None),
        // The states are audited one by one in a separate search.
        true => Chosen::every_step((run.program, bounds), abstraction, representative),
    };
    Liveness::new(run.program, bounds, condition, abstraction, graph)
}

/// Starts a liveness search from every reachable point with p and not q.
struct Starts<'p, 'w, 'c> {
    expander: Expander<'p>,
    p: Throughout<'p>,
    liveness: Liveness<'p, Chosen<'p>>,
    watch: &'w mut Watch<'c>,
    live: Option<Live<Permutation>>,
}

impl<'p, 'w, 'c> Starts<'p, 'w, 'c> {
    /// `liveness` searches for runs that avoid q.
    fn new(
        run: &Run<'p>,
        p: Throughout<'p>,
        liveness: Liveness<'p, Chosen<'p>>,
        watch: &'w mut Watch<'c>,
    ) -> Starts<'p, 'w, 'c> {
        Starts {
            expander: Expander::new(run.program),
            p,
            liveness,
            watch,
            live: None,
        }
    }

    /// The result that ended the search, and the counts of all searches.
    fn end(self) -> (Option<Live<Permutation>>, Counts) {
        (self.live, self.liveness.counts())
    }
}

impl Visitor for Starts<'_, '_, '_> {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, _node: u32) -> Result<bool, Fault> {
        let with_p = self
            .p
            .part(&mut self.expander, vec![Zone::clone(zone)], true, state)?;
        let not_q = self.liveness.condition;
        let starts = not_q.part(&mut self.expander, with_p, true, state)?;
        if starts.is_empty() {
            return Ok(false);
        }
        match self.liveness.search(state, starts, self.watch) {
            Live::None => Ok(false),
            live => {
                self.live = Some(live);
                Ok(true)
            }
        }
    }
}
