//! Several searches for one question, taking turns.
//!
//! Breadth first search is the default and answers most questions. Where it has not after a hundred thousand states,
//! others get a share of the time:
//!
//! - best first search by how far a state is from the condition (`search/nearness.rs`), depth first search, and random
//!   depth first search started anew again and again, which find deep states early;
//! - a search over convex hulls, which holds one zone per discrete state, and searches over zones that keep fewer
//!   differences of clocks (`loose.rs`). Both only add points, so a state that they do not reach is not reachable; that
//!   settles many safety questions with a few thousand states where the exact zones are a million. What they do reach
//!   proves nothing. They join when discrete states have several zones: there is nothing to widen otherwise.
//!
//! A search that looks elsewhere may run into an evaluation error deep in the model. Exploring everything would meet it
//! too, so nothing but a state found before can still decide: the others get some more rounds, then the error is the answer.
//!
//! Turns are counted in states, so the same run gives the same answer.

use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::program::Fault;
use crate::search::limits::{Stop, Watch};
use crate::search::sequential::{Outcome, Settings};
use crate::store::passed_waiting::Covering;
use crate::strategy::Search;
use crate::strategy::loose::{BY_LOOSE_CLOCKS, Ladder};
use crate::strategy::reachable::Sought;
use crate::symmetry::Permutation;
use zonelens_analysis::report::{AbstractionOption, SearchOrder, TraceOption};

/// States of the first turn; each round doubles it, for searches that look elsewhere first it grows by half: what they
/// have not found in a large space they hardly will, and the main search needs the time. Most models are smaller, and their counts are those of the search
/// that was asked for.
const FIRST_TURN: u64 = 100_000;

/// Zones per discrete state from which on wider zones may help. Below, they would have as many states as the exact ones.
const MANY_ZONES: u64 = 2;

/// How often a random search starts anew in one turn. What it looks for is found early or, for this seed, hardly ever.
const RESTARTS: u64 = 4;

/// Rounds that are left to find what is looked for once a search beside the main one has met an error of the model.
const ROUNDS_AFTER_ERROR: u32 = 1;

/// What the result says when hulls decided.
pub(crate) const BY_HULLS: &str = "convex-hull proof";
/// What the result says when a depth first search decided.
const BY_DEPTH: &str = "depth-first search";
/// What the result says when a best first search decided.
const BY_NEARNESS: &str = "best-first search";
/// What the result says when a random search decided.
const BY_CHANCE: &str = "random depth-first search";

/// What the result says when a search under LU bounds showed that there is no deadlock or run of some kind.
pub(crate) const BY_LU: &str = "proof under LU bounds";

/// A search beside the main one.
struct Helper<'p> {
    search: Search<'p>,
    settings: Settings,
    kind: Kind,
    name: &'static str,
    /// States per turn, as a fraction of the main search's. A hull costs less than a zone among thousands.
    share: (u64, u64),
}

/// What becomes of a helper that did not decide.
enum Kind {
    /// Goes on where it was, until it fails.
    Depth,
    /// The same, nearest states first.
    Nearest,
    /// The same; what it finds is no proof.
    Hulls,
    /// Starts anew with another seed.
    Random,
    /// Takes the next rung once it has found something.
    Loose(Ladder),
}

/// What a helper's turn came to.
enum Helped {
    GoesOn,
    Decided(Outcome),
    /// It met an error of the model on the way; whether it can begin anew.
    Failed(Box<Answer>, bool),
    /// It never will.
    Useless,
}

impl Run<'_> {
    /// Whether other searches may help: not if the caller asked for one in particular.
    pub(crate) fn may_take_turns(&self, settings: &Settings) -> bool {
        settings.order == SearchOrder::Bfs
            && settings.covering == Covering::Inclusion
            && self.options.abstraction == AbstractionOption::Auto
            && matches!(self.options.trace, TraceOption::None | TraceOption::Some)
            && !self.options.audit_symmetry
    }

    /// States of the first turn.
    pub(crate) fn first_turn(&self) -> u64 {
        self.options.first_turn.unwrap_or(FIRST_TURN)
    }

    /// How to search over hulls, if that makes sense: a difference of clocks splits zones that hulls join again.
    pub(crate) fn hulls(&self, settings: &Settings, bounds: &Bounds) -> Option<Settings> {
        (bounds.diagonals.is_empty() && self.program.dim() > 1).then_some(Settings {
            covering: Covering::Hull,
            ..*settings
        })
    }

    /// Looks for a state with `deadlock` under LU bounds first. A deadlock found there proves nothing, because a state that
    /// can do more may hide it or be added; but abstraction only adds points, so if it has none the model has none. Regions
    /// must be told apart otherwise, and there can be exponentially more of them.
    pub(crate) fn proven_by_lu(
        &self,
        sought: &Sought<'_>,
        settings: &Settings,
        bounds: &Bounds,
        watch: &mut Watch<'_>,
    ) -> Option<Answer> {
        if settings.abstraction != Abstraction::ExtraM || !bounds.diagonals.is_empty() {
            return None;
        }
        let wide = Settings {
            abstraction: Abstraction::ExtraLu,
            ..*settings
        };
        let mut search = self.search(bounds, wide, self.representative(&wide), None);
        watch.set_turn(Some(self.first_turn()));
        let outcome = search.explore(&mut self.goal(sought), watch);
        watch.set_turn(None);
        if outcome != Outcome::Exhausted {
            return None;
        }
        watch.add(search.counts());
        Some(Answer {
            decided_by: Some(BY_LU),
            symmetry: Some(self.symmetry_of(&search, Some(watch.limit()))),
            ..Answer::verdict(sought.absent)
        })
    }

    pub(crate) fn search_in_turns<'s>(
        &'s self,
        sought: &Sought<'s>,
        main: &mut Search<'_>,
        named: &[(usize, u16)],
        settings: &Settings,
        bounds: &'s Bounds,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let mut helpers = None;
        let mut widened = false;
        let mut turn = self.first_turn();
        let mut finding = turn;
        let mut error: Option<(Answer, u32)> = None;
        loop {
            watch.set_turn(Some(turn));
            let (outcome, image) = self.explore_orbits(sought, main, named, watch);
            let answer = match (outcome, &mut error) {
                (Outcome::Stopped(Stop::Turn), None) => None,
                (Outcome::Stopped(Stop::Turn), Some((_, rounds))) if *rounds > 0 => {
                    *rounds -= 1;
                    None
                }
                (Outcome::Stopped(stop), Some(_)) if stop != Stop::Cancelled => {
                    error.take().map(|(answer, _)| answer)
                }
                (outcome, _) => {
                    Some(self.searched(outcome, sought, main, image.as_ref(), settings))
                }
            };
            if let Some(answer) = answer {
                watch.set_turn(None);
                watch.add(main.counts());
                return answer;
            }
            let helpers = helpers.get_or_insert_with(|| self.finders(sought, settings, bounds));
            if !widened && main.states.stored() >= MANY_ZONES * main.states.discrete() {
                widened = true;
                helpers.extend(self.wideners(sought, settings, bounds));
            }
            watch.reserved = main.counts().bytes;
            let mut index = 0;
            while let Some(helper) = helpers.get_mut(index) {
                let turn = match helper.kind {
                    Kind::Depth | Kind::Nearest | Kind::Random => finding,
                    Kind::Hulls | Kind::Loose(_) => turn,
                };
                match self.take_turn(sought, helper, turn, bounds, watch) {
                    Helped::GoesOn => index += 1,
                    Helped::Useless => drop(helpers.remove(index)),
                    Helped::Failed(answer, goes_on) => {
                        error.get_or_insert((*answer, ROUNDS_AFTER_ERROR));
                        match goes_on {
                            true => index += 1,
                            false => drop(helpers.remove(index)),
                        }
                    }
                    Helped::Decided(outcome) => {
                        watch.reserved = 0;
                        watch.set_turn(None);
                        watch.add(helper.search.counts());
                        return self.helped(outcome, sought, helper);
                    }
                }
            }
            watch.reserved = 0;
            turn *= 2;
            finding += (finding / 2).max(1);
        }
    }

    /// What the end of a helper's search says.
    fn helped(&self, outcome: Outcome, sought: &Sought<'_>, helper: &Helper<'_>) -> Answer {
        Answer {
            decided_by: Some(helper.name),
            ..self.searched(outcome, sought, &helper.search, None, &helper.settings)
        }
    }

    /// Goes on with the main search; for a query that names elements, it is asked of whole orbits, and where it holds as
    /// written is given too.
    pub(crate) fn explore_orbits(
        &self,
        sought: &Sought<'_>,
        search: &mut Search<'_>,
        named: &[(usize, u16)],
        watch: &mut Watch<'_>,
    ) -> (Outcome, Option<Permutation>) {
        let mut asked = self.asked(sought, search.graph.representative(), named);
        let outcome = search.explore(&mut asked, watch);
        (outcome, asked.found())
    }

    /// The searches beside the main one that look elsewhere first.
    fn finders<'s>(
        &'s self,
        sought: &Sought<'s>,
        settings: &Settings,
        bounds: &'s Bounds,
    ) -> Vec<Helper<'s>> {
        let by = |order| Settings { order, ..*settings };
        let finders = [
            (*settings, Kind::Nearest, BY_NEARNESS),
            (by(SearchOrder::Random), Kind::Random, BY_CHANCE),
            (by(SearchOrder::Dfs), Kind::Depth, BY_DEPTH),
        ];
        let finders = finders.into_iter().filter_map(|(settings, kind, name)| {
            self.helper(sought, settings, kind, name, (1, 4), bounds)
        });
        finders.collect()
    }

    /// The searches over wider zones. These do not keep the order of clocks that representatives are made by, so they go
    /// without symmetry.
    fn wideners<'s>(
        &'s self,
        sought: &Sought<'s>,
        settings: &Settings,
        bounds: &'s Bounds,
    ) -> Vec<Helper<'s>> {
        let hulls = self.hulls(settings, bounds);
        let hulls = hulls
            .and_then(|hulls| self.helper(sought, hulls, Kind::Hulls, BY_HULLS, (2, 1), bounds));
        let ladder = Kind::Loose(Ladder::new(self, sought.formula, bounds));
        let loose = self.helper(sought, *settings, ladder, BY_LOOSE_CLOCKS, (1, 2), bounds);
        hulls.into_iter().chain(loose).collect()
    }

    fn helper<'s>(
        &'s self,
        sought: &Sought<'s>,
        settings: Settings,
        kind: Kind,
        name: &'static str,
        share: (u64, u64),
        bounds: &'s Bounds,
    ) -> Option<Helper<'s>> {
        let search = self.helping(sought, &settings, &kind, bounds)?;
        Some(Helper {
            search,
            settings,
            kind,
            name,
            share,
        })
    }

    /// A new search of a helper; none if its ladder has ended.
    fn helping<'s>(
        &'s self,
        sought: &Sought<'s>,
        settings: &Settings,
        kind: &Kind,
        bounds: &'s Bounds,
    ) -> Option<Search<'s>> {
        match kind {
            Kind::Loose(ladder) => Some(self.loose_search(ladder.rung()?, settings, bounds)),
            Kind::Depth | Kind::Nearest | Kind::Hulls | Kind::Random => {
                let representative = self.representative(settings);
                let mut search = self.search(bounds, *settings, representative, None);
                if matches!(kind, Kind::Nearest) {
                    search.best_first(self.nearness(sought));
                }
                Some(search)
            }
        }
    }

    fn take_turn<'s>(
        &'s self,
        sought: &Sought<'s>,
        helper: &mut Helper<'s>,
        turn: u64,
        bounds: &'s Bounds,
        watch: &mut Watch<'_>,
    ) -> Helped {
        let states = (turn * helper.share.0 / helper.share.1).max(1);
        if !matches!(helper.kind, Kind::Random) {
            return self.help(sought, helper, states, bounds, watch);
        }
        let mut ended = Helped::GoesOn;
        for _ in 0..RESTARTS {
            match self.help(sought, helper, (states / RESTARTS).max(1), bounds, watch) {
                Helped::GoesOn => {}
                // Chance may miss the error next time.
                failed @ Helped::Failed(_, true) => ended = failed,
                end => return end,
            }
        }
        ended
    }

    /// Lets a helper look at so many states, and prepares its next turn.
    fn help<'s>(
        &'s self,
        sought: &Sought<'s>,
        helper: &mut Helper<'s>,
        states: u64,
        bounds: &'s Bounds,
        watch: &mut Watch<'_>,
    ) -> Helped {
        watch.set_turn(Some(states));
        let outcome = helper.search.explore(&mut self.goal(sought), watch);
        let anew = match (&helper.kind, &outcome) {
            (_, Outcome::Exhausted) => return Helped::Decided(outcome),
            (Kind::Depth | Kind::Nearest | Kind::Random, Outcome::Found(_)) => {
                return Helped::Decided(outcome);
            }
            (
                Kind::Depth | Kind::Nearest | Kind::Hulls | Kind::Loose(_),
                Outcome::Stopped(Stop::Turn),
            ) => false,
            (
                Kind::Depth | Kind::Nearest | Kind::Random,
                Outcome::Fault(Fault { kind, .. }, ..) | Outcome::QueryFault(Fault { kind, .. }, _),
            ) if !kind.is_ours() => {
                let answer = Box::new(self.helped(outcome, sought, helper));
                return Helped::Failed(answer, self.begin_anew(sought, helper, bounds));
            }
            // The main search meets limits on its own, in its own order. An error among wider zones proves nothing.
            (Kind::Depth | Kind::Nearest | Kind::Hulls, _) => return Helped::Useless,
            (_, Outcome::Stopped(stop)) if *stop != Stop::Turn => return Helped::Useless,
            (Kind::Random | Kind::Loose(_), _) => true,
        };
        if anew && !self.begin_anew(sought, helper, bounds) {
            return Helped::Useless;
        }
        Helped::GoesOn
    }

    /// Prepares another search where another one may help: with the next seed, on the next rung.
    fn begin_anew<'s>(
        &'s self,
        sought: &Sought<'s>,
        helper: &mut Helper<'s>,
        bounds: &'s Bounds,
    ) -> bool {
        match &mut helper.kind {
            Kind::Random => helper.settings.seed = helper.settings.seed.wrapping_add(1),
            Kind::Loose(ladder) => ladder.climb(),
            Kind::Depth | Kind::Nearest | Kind::Hulls => return false,
        }
        match self.helping(sought, &helper.settings, &helper.kind, bounds) {
            Some(search) => {
                helper.search = search;
                true
            }
            None => false,
        }
    }
}
