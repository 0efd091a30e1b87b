//! The strategies for `E<>` and `A[]`: searches for a state.

use super::portfolio::{Kind, Question, Strategy, TurnResult};
use super::reachable::Target;
use super::{Answer, Run, Search};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::program::Fault;
use crate::search::limits::{Stop, Watch};
use crate::search::parallel::End;
use crate::search::sequential::{Outcome, Settings};
use crate::store::passed_waiting::Covering;
use crate::strategy::loose::Ladder;
use crate::symmetry::Representative;
use zonelens_analysis::report::{SearchOrder, Switch, Verdict};

/// How often a random search restarts in one turn. A seed finds the goal early or hardly ever.
const RESTARTS: u64 = 4;

/// The question whether a state is reachable.
pub(super) struct States<'q> {
    pub run: &'q Run<'q>,
    pub target: &'q Target<'q>,
    pub settings: Settings,
    pub bounds: &'q Bounds,
    pub representative: Option<Representative>,
    /// Elements that the query names and the search permutes nevertheless.
    pub named: &'q [(usize, u16)],
}

impl<'s> Question<'s> for States<'s> {
    fn kind(&self) -> Kind {
        Kind::Reach
    }

    fn verdicts(&self) -> (Verdict, Verdict) {
        (self.target.found, self.target.absent)
    }

    fn start(&'s self, strategy: Option<Switch>) -> Option<Box<dyn Strategy + 's>> {
        let order = |order| Settings {
            order,
            ..self.settings
        };
        let beside = |settings, look| Beside {
            question: self,
            settings,
            look,
            search: None,
        };
        Some(match strategy {
            None if self.is_parallel() => Box::new(InParallel { question: self }),
            None => Box::new(Exact {
                question: self,
                search: None,
            }),
            Some(Switch::LuBounds) if self.is_parallel() => Box::new(UnderLuInParallel {
                question: self,
                settings: self.under_lu()?,
            }),
            Some(Switch::LuBounds) => Box::new(UnderLu {
                question: self,
                settings: self.under_lu()?,
                search: None,
            }),
            Some(Switch::BestFirst) => Box::new(beside(self.settings, Look::Nearest)),
            Some(Switch::RandomDepthFirst) => {
                Box::new(beside(order(SearchOrder::Random), Look::Random))
            }
            Some(Switch::DepthFirst) => Box::new(beside(order(SearchOrder::Dfs), Look::Depth)),
            Some(Switch::Hulls) => Box::new(beside(
                self.run.hulls(&self.settings, self.bounds)?,
                Look::Hulls,
            )),
            Some(Switch::LooseClocks) => Box::new(beside(self.settings, Look::Loose(None))),
            Some(Switch::Guided | Switch::Simulation) => return None,
        })
    }
}

impl States<'_> {
    fn is_parallel(&self) -> bool {
        self.run.options.threads > 1 && !self.settings.shortest
    }

    /// How to search under LU bounds, if only regions are exact.
    fn under_lu(&self) -> Option<Settings> {
        let regions = self.settings.abstraction == Abstraction::ExtraM
            && self.target.formula.has_deadlock()
            && self.named.is_empty()
            && self.bounds.diagonals.is_empty();
        regions.then_some(Settings {
            abstraction: Abstraction::ExtraLu,
            ..self.settings
        })
    }
}

impl Run<'_> {
    /// How to search over hulls, if that makes sense: a difference of clocks splits zones that
    /// hulls would join again.
    pub(super) fn hulls(&self, settings: &Settings, bounds: &Bounds) -> Option<Settings> {
        (bounds.diagonals.is_empty() && self.program.dim() > 1).then_some(Settings {
            covering: Covering::Hull,
            ..Run::without_alu(*settings, true)
        })
    }
}

/// The search that was asked for, by one thread.
struct Exact<'s> {
    question: &'s States<'s>,
    search: Option<Search<'s>>,
}

impl Strategy for Exact<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let States { run, target, .. } = *self.question;
        let search = self.search.get_or_insert_with(|| {
            let question = self.question;
            let audit = run.audit([target.formula]);
            let audit = audit.map(|audit| audit.naming(question.named.to_vec()));
            let representative = question.representative.clone();
            run.search_for_goal(question.bounds, question.settings, representative, audit)
        });
        // A query that names elements is evaluated for whole orbits; the image where it holds as
        // written is found too.
        let mut asked = run.asked(target, search.graph.representative(), self.question.named);
        match search.explore(&mut asked, watch) {
            Outcome::Stopped(Stop::Turn) => TurnResult::GoesOn,
            Outcome::Stopped(stop) => TurnResult::Stopped(stop),
            outcome => {
                let image = asked.found();
                let settings = &self.question.settings;
                let answer = run.searched(outcome, target, search, image.as_ref(), settings);
                TurnResult::Decided(Box::new(answer))
            }
        }
    }

    fn count(&self, watch: &mut Watch<'_>) {
        watch.add(self.search.as_ref().map(Search::counts).unwrap_or_default());
    }

    fn conclude(&self, mut answer: Answer, watch: &Watch<'_>) -> Answer {
        let States {
            run,
            representative,
            ..
        } = self.question;
        if let Some(search) = &self.search {
            let judge = answer.judged(watch);
            answer.symmetry = Some(run.symmetry_of(search, judge));
        } else if answer.symmetry.is_none() {
            // Another search took its place until one decided; that one claims nothing.
            let mut report = run.symmetry_report(representative.as_ref());
            report.canonical = representative.is_none();
            answer.symmetry = Some(Box::new(report));
        }
        answer
    }

    fn bytes(&self) -> u64 {
        let search = self.search.as_ref();
        search.map_or(0, |search| search.counts().bytes)
    }

    fn zones_per_state(&self) -> u64 {
        self.search.as_ref().map_or(0, zones_per_state)
    }
}

fn zones_per_state(search: &Search<'_>) -> u64 {
    search.states.stored() / search.states.discrete().max(1)
}

/// The search that was asked for, by several threads. It takes no turns but runs to its end.
struct InParallel<'s> {
    question: &'s States<'s>,
}

impl Strategy for InParallel<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        watch.set_turn(None);
        let answer = self.question.run.search_in_parallel(self.question, watch);
        TurnResult::Decided(Box::new(answer))
    }
}

/// Searches for a state with `deadlock` under LU bounds. A deadlock that is found there proves
/// nothing: a state that can do more may hide a deadlock, and abstraction may add one. But
/// abstraction only adds points, so if it has no deadlock, the model has none. An exact search must
/// distinguish regions, and there can be exponentially more of them.
struct UnderLu<'s> {
    question: &'s States<'s>,
    settings: Settings,
    search: Option<Search<'s>>,
}

impl Strategy for UnderLu<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let States {
            run,
            target,
            bounds,
            ..
        } = *self.question;
        let search = self.search.get_or_insert_with(|| {
            let representative = run.representative(&self.settings);
            run.search_for_goal(bounds, self.settings, representative, None)
        });
        match search.explore(&mut run.goal(target), watch) {
            Outcome::Exhausted => {}
            Outcome::Stopped(Stop::Turn) => return TurnResult::GoesOn,
            // The exact search needs at least as much time and memory.
            Outcome::Stopped(
                stop @ (Stop::Timeout | Stop::Cancelled | Stop::Memory | Stop::States),
            ) => {
                return TurnResult::Stopped(stop);
            }
            _ => return TurnResult::Useless,
        }
        run.certify(search, &self.settings);
        TurnResult::Decided(Box::new(Answer {
            symmetry: Some(run.symmetry_of(search, Some(watch.limit()))),
            ..Answer::verdict(target.absent)
        }))
    }

    fn count(&self, watch: &mut Watch<'_>) {
        watch.add(self.search.as_ref().map(Search::counts).unwrap_or_default());
    }

    fn bytes(&self) -> u64 {
        let search = self.search.as_ref();
        search.map_or(0, |search| search.counts().bytes)
    }

    fn zones_per_state(&self) -> u64 {
        self.search.as_ref().map_or(0, zones_per_state)
    }
}

/// The same by several threads, to its end.
struct UnderLuInParallel<'s> {
    question: &'s States<'s>,
    settings: Settings,
}

impl Strategy for UnderLuInParallel<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let States { run, target, .. } = *self.question;
        watch.set_turn(None);
        let (end, kept) = run.explore_in_parallel(self.question, self.settings, watch);
        match end {
            End::Exhausted => {
                let load = |node| kept.state(node);
                let judge = Some(watch.limit());
                TurnResult::Decided(Box::new(Answer {
                    symmetry: Some(run.symmetry_over(&kept.graph, kept.shared(), load, judge)),
                    ..Answer::verdict(target.absent)
                }))
            }
            End::Stopped(
                stop @ (Stop::Timeout | Stop::Cancelled | Stop::Memory | Stop::States),
            ) => TurnResult::Stopped(stop),
            _ => TurnResult::Useless,
        }
    }
}

/// A search other than the exact one: in another order, or over wider zones. Wider zones do not
/// keep the order of clocks that decides the representatives, so they are searched without symmetry
/// of clocks.
struct Beside<'s> {
    question: &'s States<'s>,
    settings: Settings,
    look: Look,
    search: Option<Search<'s>>,
}

/// What such a search explores, and how it continues if it did not decide.
enum Look {
    /// Continues where it was, until it fails.
    Depth,
    /// The same, nearest states first.
    Nearest,
    /// The same; a state that it finds is no proof.
    Hulls,
    /// Restarts with another seed.
    Random,
    /// Takes the next rung once it has found something. The ladder is built in the first turn.
    Loose(Option<Ladder>),
}

impl Strategy for Beside<'_> {
    fn run_turn(&mut self, states: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        if !matches!(self.look, Look::Random) {
            return self.explore(watch);
        }
        let mut ended = TurnResult::GoesOn;
        for _ in 0..RESTARTS {
            watch.set_turn(states.map(|states| (states / RESTARTS).max(1)));
            match self.explore(watch) {
                TurnResult::GoesOn => {}
                // With another seed, the search may miss the error.
                failed @ TurnResult::Failed(_, true) => ended = failed,
                end => return end,
            }
        }
        ended
    }

    fn count(&self, watch: &mut Watch<'_>) {
        watch.add(self.search.as_ref().map(Search::counts).unwrap_or_default());
    }
}

impl<'s> Beside<'s> {
    /// Continues until the turn is over, and prepares the next one.
    fn explore(&mut self, watch: &mut Watch<'_>) -> TurnResult {
        let States { run, target, .. } = *self.question;
        if self.search.is_none() {
            self.search = self.started();
        }
        let Some(search) = &mut self.search else {
            return TurnResult::Useless;
        };
        let outcome = search.explore(&mut run.goal(target), watch);
        let restarts = match (&self.look, &outcome) {
            (_, Outcome::Exhausted) => return self.decided(outcome),
            (Look::Depth | Look::Nearest | Look::Random, Outcome::Found(_)) => {
                return self.decided(outcome);
            }
            (
                Look::Depth | Look::Nearest | Look::Hulls | Look::Loose(_),
                Outcome::Stopped(Stop::Turn),
            ) => false,
            (
                Look::Depth | Look::Nearest | Look::Random,
                Outcome::Fault(Fault { kind, .. }, ..) | Outcome::QueryFault(Fault { kind, .. }, _),
            ) if !kind.is_ours() => {
                let answer = run.searched(outcome, target, search, None, &self.settings);
                return TurnResult::Failed(Box::new(answer), self.begin_anew());
            }
            // The exact search reaches limits itself, in its own order. An error in wider zones
            // proves nothing.
            (Look::Depth | Look::Nearest | Look::Hulls, _) => return TurnResult::Useless,
            (_, Outcome::Stopped(stop)) if *stop != Stop::Turn => return TurnResult::Useless,
            (Look::Random | Look::Loose(_), _) => true,
        };
        if restarts && !self.begin_anew() {
            return TurnResult::Useless;
        }
        TurnResult::GoesOn
    }

    fn decided(&self, outcome: Outcome) -> TurnResult {
        let States { run, target, .. } = *self.question;
        match &self.search {
            Some(search) => TurnResult::Decided(Box::new(run.searched(
                outcome,
                target,
                search,
                None,
                &self.settings,
            ))),
            None => TurnResult::Useless,
        }
    }

    /// A new search; `None` if the ladder has ended.
    fn started(&mut self) -> Option<Search<'s>> {
        let States {
            run,
            target,
            bounds,
            ..
        } = *self.question;
        if let Look::Loose(ladder) = &mut self.look {
            let ladder = ladder.get_or_insert_with(|| Ladder::new(run, target.formula, bounds));
            return Some(run.loose_search(ladder.rung()?, &self.settings, bounds));
        }
        let representative = run.representative(&self.settings);
        let mut search = run.search_for_goal(bounds, self.settings, representative, None);
        if matches!(self.look, Look::Nearest) {
            search.best_first(run.nearness(target));
        }
        Some(search)
    }

    /// Prepares another search if it may help: with the next seed, or on the next rung.
    fn begin_anew(&mut self) -> bool {
        match &mut self.look {
            Look::Random => self.settings.seed = self.settings.seed.wrapping_add(1),
            Look::Loose(ladder) => ladder.iter_mut().for_each(Ladder::climb),
            Look::Depth | Look::Nearest | Look::Hulls => return false,
        }
        match self.started() {
            Some(search) => {
                self.search = Some(search);
                true
            }
            None => false,
        }
    }
}
