//! The strategies for `E<>` and `A[]`: searches for a state.

use super::portfolio::{Kind, Question, Strategy, TurnResult};
use super::reachable::Target;
use super::{Answer, Run, Search};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::program::Fault;
use crate::search::limits::{Stop, Watch};
use crate::search::sequential::{Outcome, Settings};
use crate::store::passed_waiting::Covering;
use crate::strategy::loose::Ladder;
use crate::symmetry::Representative;
use zonelens_analysis::report::{SearchOrder, Switch, Verdict};

/// Zones per discrete state from which on wider zones may help.
const MANY_ZONES: u64 = 2;

/// How often a random search starts anew in one turn. What it looks for is found early or, for this
/// seed, hardly ever.
const RESTARTS: u64 = 4;

/// Whether a state is reachable.
pub(super) struct States<'q> {
    pub run: &'q Run<'q>,
    pub target: &'q Target<'q>,
    pub settings: Settings,
    pub bounds: &'q Bounds,
    pub representative: Option<Representative>,
    /// Elements that the query names and the search moves all the same.
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
            Some(Switch::Guided) => return None,
        })
    }
}

impl States<'_> {
    fn is_parallel(&self) -> bool {
        self.run.options.threads > 1 && !self.settings.shortest
    }

    /// How to search under LU bounds, if regions are what is exact.
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
    /// hulls join again.
    pub(super) fn hulls(&self, settings: &Settings, bounds: &Bounds) -> Option<Settings> {
        (bounds.diagonals.is_empty() && self.program.dim() > 1).then_some(Settings {
            covering: Covering::Hull,
            ..*settings
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
            run.search(question.bounds, question.settings, representative, audit)
        });
        // A query that names elements is asked of whole orbits; where it holds as written is found
        // too.
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
        if let Some(search) = &self.search {
            let judge = answer.judged(watch);
            answer.symmetry = Some(self.question.run.symmetry_of(search, judge));
        }
        answer
    }

    fn bytes(&self) -> u64 {
        let search = self.search.as_ref();
        search.map_or(0, |search| search.counts().bytes)
    }

    fn has_many_zones(&self) -> bool {
        let states = self.search.as_ref().map(|search| &search.states);
        states.is_some_and(|states| states.stored() >= MANY_ZONES * states.discrete())
    }
}

/// The search that was asked for, by several threads. It takes no turns but goes on to its end.
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

/// Looks for a state with `deadlock` under LU bounds. A deadlock found there proves nothing,
/// because a state that can do more may hide it or be added; but abstraction only adds points, so
/// if it has none the model has none. Regions must be told apart otherwise, and there can be
/// exponentially more of them.
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
        let representative = run.representative(&self.settings);
        let search = run.search(bounds, self.settings, representative, None);
        let search = self.search.insert(search);
        if search.explore(&mut run.goal(target), watch) != Outcome::Exhausted {
            return TurnResult::Useless;
        }
        TurnResult::Decided(Box::new(Answer {
            symmetry: Some(run.symmetry_of(search, Some(watch.limit()))),
            ..Answer::verdict(target.absent)
        }))
    }

    fn count(&self, watch: &mut Watch<'_>) {
        watch.add(self.search.as_ref().map(Search::counts).unwrap_or_default());
    }
}

/// A search beside the exact one: elsewhere first, or over wider zones. The latter do not keep the
/// order of clocks that representatives are made by, so they go without symmetry of clocks.
struct Beside<'s> {
    question: &'s States<'s>,
    settings: Settings,
    look: Look,
    search: Option<Search<'s>>,
}

/// Where a search beside the exact one looks, and what becomes of it if it did not decide.
enum Look {
    /// Goes on where it was, until it fails.
    Depth,
    /// The same, nearest states first.
    Nearest,
    /// The same; what it finds is no proof.
    Hulls,
    /// Starts anew with another seed.
    Random,
    /// Takes the next rung once it has found something. The ladder is made in the first turn.
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
                // Chance may miss the error next time.
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
    /// Goes on until the turn is over, and prepares the next one.
    fn explore(&mut self, watch: &mut Watch<'_>) -> TurnResult {
        let States { run, target, .. } = *self.question;
        if self.search.is_none() {
            self.search = self.started();
        }
        let Some(search) = &mut self.search else {
            return TurnResult::Useless;
        };
        let outcome = search.explore(&mut run.goal(target), watch);
        let anew = match (&self.look, &outcome) {
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
            // The exact search meets limits on its own, in its own order. An error among wider
            // zones proves nothing.
            (Look::Depth | Look::Nearest | Look::Hulls, _) => return TurnResult::Useless,
            (_, Outcome::Stopped(stop)) if *stop != Stop::Turn => return TurnResult::Useless,
            (Look::Random | Look::Loose(_), _) => true,
        };
        if anew && !self.begin_anew() {
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

    /// A new search; none if the ladder has ended.
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
        let mut search = run.search(bounds, self.settings, representative, None);
        if matches!(self.look, Look::Nearest) {
            search.best_first(run.nearness(target));
        }
        Some(search)
    }

    /// Prepares another search where another one may help: with the next seed, on the next rung.
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
