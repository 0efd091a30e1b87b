//! `E[]`, `A<>` and `-->`.

use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::graph::Visitor;
use crate::graph::expander::Expander;
use crate::graph::throughout::Throughout;
use crate::program::{Fault, Formula};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::liveness::{Live, Liveness};
use crate::search::sequential::{Outcome, Settings};
use crate::search::wide::Guide;
use crate::strategy::Search;
use crate::strategy::loose::{BY_LOOSE_CLOCKS, NoRun, Tried};
use crate::strategy::turns::{BY_HULLS, BY_LU};
use crate::symmetry::{Chosen, Permutation, Representative};
use crate::witness::lassos::LiveRun;
use crate::zone::Zone;
use std::rc::Rc;
use zonelens_analysis::network::Expr;
use zonelens_analysis::report::{AuditReport, SearchOrder, Verdict};

/// What the result says when a run was found where a graph of wide zones could not exclude it.
const BY_GUIDE: &str = "guided search";

/// How many guided searches follow each attempt to prove that there is no run, and their share of its turn.
const GUIDED: u64 = 4;
const GUIDED_SHARE: u64 = 32;

/// Looks for nothing.
struct Nothing;

impl Visitor for Nothing {
    fn visit(&mut self, _: &mut [i32], _: &Zone, _: u32) -> Result<bool, Fault> {
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
        let settings = self.settings(&bounds, false);
        if !self.may_take_turns(&settings) {
            let answer = self.stays_exactly(condition, verdicts, &bounds, None, watch);
            return Ok(answer.unwrap_or_else(Answer::stopped));
        }
        let mut no_run = NoRun::new(self, &bounds, None, condition);
        let mut turn = self.first_turn();
        loop {
            watch.set_turn((no_run.goes_on() || no_run.guide().is_some()).then_some(turn));
            watch.reserved = no_run.bytes();
            match self.stays_exactly(condition, verdicts, &bounds, None, watch) {
                Err(Stop::Turn) => {}
                Err(stop) => return Ok(Answer::stopped(stop)),
                Ok(answer) => return Ok(answer),
            }
            let search = |guided, watch: &mut Watch<'_>| {
                self.stays_exactly(condition, verdicts, &bounds, Some(guided), watch)
            };
            if let Some(answer) = self.settle(&mut no_run, turn, verdicts, watch, search) {
                return Ok(answer);
            }
            turn *= 4;
        }
    }

    /// Looks for a run that keeps the condition from the initial state on.
    fn stays_exactly(
        &self,
        condition: Throughout<'_>,
        verdicts: (Verdict, Verdict),
        bounds: &Bounds,
        guided: Option<Guided>,
        watch: &mut Watch<'_>,
    ) -> Result<Answer, Stop> {
        let mut liveness = liveness(self, bounds, condition, self.region_abstraction());
        liveness.guide = guided.map(|guided| guided.guide);
        let entry = vec![Zone::point(&self.program.initial_clocks)];
        let live = liveness.search(&self.program.initial, entry, watch);
        watch.add(liveness.counts());
        if let Live::Stopped(stop) = live {
            return Err(stop);
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

    /// Audits every reachable state: a search for runs only looks at some.
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

    /// Proves over graphs of wide zones that there is no run, or finds one where they cannot exclude it.
    fn settle(
        &self,
        no_run: &mut NoRun<'_>,
        turn: u64,
        (found, absent): (Verdict, Verdict),
        watch: &mut Watch<'_>,
        search: impl Fn(Guided, &mut Watch<'_>) -> Result<Answer, Stop>,
    ) -> Option<Answer> {
        for kind in NoRun::KINDS {
            loop {
                let decided = match no_run.tries(kind, turn, watch) {
                    Tried::Proven => Some(Answer {
                        decided_by: Some(BY_LOOSE_CLOCKS),
                        ..Answer::verdict(absent)
                    }),
                    Tried::Failed => self.guided(no_run, turn, found, watch, &search),
                    Tried::Nothing => break,
                };
                if decided.is_some() {
                    return decided;
                }
            }
        }
        // Where no graph is left to try, the last one's suspicion is looked into for longer and longer.
        match no_run.goes_on() {
            true => None,
            false => self.guided(no_run, turn, found, watch, &search),
        }
    }

    /// Looks for the run that a graph of wide zones could not exclude, several times. Only what is found counts.
    fn guided(
        &self,
        no_run: &NoRun<'_>,
        turn: u64,
        found: Verdict,
        watch: &mut Watch<'_>,
        search: impl Fn(Guided, &mut Watch<'_>) -> Result<Answer, Stop>,
    ) -> Option<Answer> {
        let guide = no_run.guide()?;
        watch.reserved = no_run.bytes();
        for attempt in 0..GUIDED {
            watch.set_turn(Some((turn / GUIDED_SHARE).max(1)));
            let guided = Guided {
                guide: Rc::clone(&guide),
                seed: self.options.seed.wrapping_add(attempt),
            };
            match search(guided, watch) {
                Ok(answer) if answer.verdict == found => {
                    return Some(Answer {
                        decided_by: Some(BY_GUIDE),
                        ..answer
                    });
                }
                // Everything the guide knows was looked at.
                Ok(_) => break,
                Err(Stop::Turn) => {}
                Err(_) => break,
            }
        }
        watch.reserved = 0;
        None
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
        let settings = self.settings(&bounds, false);
        if !self.may_take_turns(&settings) {
            let answer = self.leads_exactly(start, condition, &bounds, None, watch);
            return Ok(answer.unwrap_or_else(Answer::stopped));
        }
        let mut no_run = NoRun::new(self, &bounds, Some(start), condition);
        // Graphs of wide zones go on from turn to turn, the other searches start anew: so they get a fourth.
        let mut turn = (self.first_turn() / 4).max(1);
        // Small models are searched as was asked for.
        let (mut first, mut lu_may_prove) = (true, bounds.diagonals.is_empty());
        loop {
            watch.set_turn(Some(turn));
            watch.reserved = no_run.bytes();
            let answer = match lu_may_prove && !first {
                true => self.leads_under_lu(start, condition, &bounds, watch),
                false => self
                    .leads_exactly(start, condition, &bounds, None, watch)
                    .map(Some),
            };
            match answer {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {
                    lu_may_prove = false;
                    continue;
                }
                Err(Stop::Turn) => {}
                Err(stop) => return Ok(Answer::stopped(stop)),
            }
            let wide = turn * 4;
            let search = |guided, watch: &mut Watch<'_>| {
                self.leads_exactly(start, condition, &bounds, Some(guided), watch)
            };
            let verdicts = (Verdict::Violated, Verdict::Satisfied);
            if let Some(answer) = self.settle(&mut no_run, wide, verdicts, watch, search) {
                return Ok(answer);
            }
            watch.set_turn(Some(turn));
            watch.reserved = no_run.bytes();
            if self.leads_from_hulls(start, condition, &bounds, watch) {
                return Ok(Answer {
                    decided_by: Some(BY_HULLS),
                    ..Answer::verdict(Verdict::Satisfied)
                });
            }
            turn *= 4;
            first = false;
        }
    }

    /// The same under LU bounds, for states and for runs. That only adds points, and with them runs: if none avoids q there,
    /// none does. `None` if one does, which proves nothing: where it ends, a real one may go on.
    fn leads_under_lu(
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
            decided_by: Some(BY_LU),
            symmetry: Some(Box::new(
                self.symmetry_report(search.graph.representative()),
            )),
            ..Answer::verdict(Verdict::Satisfied)
        };
        Ok((outcome == Outcome::Exhausted).then(proven))
    }

    /// Looks for a run that avoids q from every reachable point with p.
    fn leads_exactly(
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

    /// Searches all states, and from those with p for a run that avoids q.
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
        // Both searches look at the same limits, each through its own watch.
        let mut outer = watch.twin();
        let mut starts = Starts::new(self, start, avoiding, watch);
        let outcome = search.run(&mut starts, &mut outer);
        let (live, counts) = starts.end();
        let stopped = match (&outcome, &live) {
            (Outcome::Stopped(stop), _) | (_, Some(Live::Stopped(stop))) => Some(*stop),
            _ => None,
        };
        watch.add(search.counts());
        watch.before.explored += counts.explored;
        watch.before.transitions += counts.transitions;
        stopped.map_or(Ok((search, outcome, live)), Err)
    }

    /// Whether no run avoids q from any point with p in the hulls of the reachable zones: then none does from a reachable
    /// point either. The runs themselves are searched under LU bounds, which only adds to them.
    fn leads_from_hulls(
        &self,
        start: Throughout<'_>,
        condition: Throughout<'_>,
        bounds: &Bounds,
        watch: &mut Watch<'_>,
    ) -> bool {
        let settings = self.settings(bounds, false);
        let Some(settings) = self.hulls(&settings, bounds) else {
            return false;
        };
        let mut search = self.search(bounds, settings, None, None);
        if search.run(&mut Everything, watch) != Outcome::Exhausted {
            return false;
        }
        let avoiding = liveness(self, bounds, condition, Abstraction::ExtraLu);
        let mut starts = Starts::new(self, start, avoiding, watch);
        let (mut state, mut zone) = (Vec::new(), Zone::universe(self.program.dim()));
        let avoided = search.states.kept().any(|node| {
            search.states.get(node, &mut state, &mut zone);
            starts.visit(&mut state, &zone, node) != Ok(false)
        });
        let (_, counts) = starts.end();
        watch.add(counts);
        !avoided
    }
}

/// Looks for nothing, so that everything is explored.
struct Everything;

impl Visitor for Everything {
    fn visit(&mut self, _: &mut [i32], _: &Zone, _: u32) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// How to look for a run that could not be excluded.
struct Guided {
    guide: Rc<Guide>,
    /// For the way to where it starts.
    seed: u64,
}

/// A search for runs that keep a condition, reduced as the options say.
fn liveness<'p>(
    run: &Run<'p>,
    bounds: &'p Bounds,
    condition: Throughout<'p>,
    abstraction: Abstraction,
) -> Liveness<'p, Chosen<'p>> {
    let representative = run.tables().map(Representative::new);
    let graph = match run.options.audit_symmetry {
        false => Chosen::new((run.program, bounds), abstraction, representative, None),
        // The states are audited one by one beside this search.
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

    /// What ended the search, and the counts of all searches.
    fn end(self) -> (Option<Live<Permutation>>, Counts) {
        (self.live, self.liveness.counts())
    }
}

impl Visitor for Starts<'_, '_, '_> {
    fn visit(&mut self, state: &mut [i32], zone: &Zone, _node: u32) -> Result<bool, Fault> {
        let with_p = self
            .p
            .part(&mut self.expander, vec![zone.clone()], true, state)?;
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
