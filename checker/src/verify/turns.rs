//! Several searches for one question, taking turns.
//!
//! Breadth first search is the default and answers most questions. Where it has not after a hundred thousand states, two
//! others get a share of the time: depth first search, which finds deep states early, and a search over convex hulls,
//! which holds one zone per discrete state. Hulls only add points, so a state that they do not reach is not reachable;
//! that settles many safety questions with a few thousand states where the exact zones are a million. What they do reach
//! proves nothing. Turns are counted in states, so the same run gives the same answer.

use super::reachable::Sought;
use super::{Answer, Run};
use crate::explore::bounds::Bounds;
use crate::explore::passed_waiting::Covering;
use crate::explore::search::{Outcome, Search, Settings};
use crate::explore::watch::{Stop, Watch};
use zonelens_analysis::report::{AbstractionOption, SearchOrder, TraceOption};

/// States of the first turn; each round doubles it. Most models are smaller, and their counts are those of the search
/// that was asked for.
const FIRST_TURN: u64 = 100_000;

/// What the result says when hulls decided.
pub(super) const BY_HULLS: &str = "convex-hull proof";
/// What the result says when a depth first search decided.
const BY_DEPTH: &str = "depth-first search";

/// A search beside the main one.
struct Helper<'p> {
    search: Search<'p>,
    settings: Settings,
    name: &'static str,
    /// States per turn, as a fraction of the main search's. A hull costs less than a zone among thousands.
    share: (u64, u64),
}

impl Run<'_> {
    /// Whether other searches may help: not if the caller asked for one in particular.
    pub(super) fn may_take_turns(&self, settings: &Settings) -> bool {
        settings.order == SearchOrder::Bfs
            && settings.covering == Covering::Inclusion
            && self.options.abstraction == AbstractionOption::Auto
            && matches!(self.options.trace, TraceOption::None | TraceOption::Some)
            && !self.options.audit_symmetry
    }

    /// States of the first turn.
    pub(super) fn first_turn(&self) -> u64 {
        self.options.first_turn.unwrap_or(FIRST_TURN)
    }

    /// How to search over hulls, if that makes sense: a difference of clocks splits zones that hulls join again.
    pub(super) fn hulls(&self, settings: &Settings, bounds: &Bounds) -> Option<Settings> {
        (bounds.diagonals.is_empty() && self.program.dim() > 1).then_some(Settings {
            covering: Covering::Hull,
            ..*settings
        })
    }

    pub(super) fn search_in_turns(
        &self,
        sought: &Sought<'_>,
        main: &mut Search<'_>,
        settings: &Settings,
        bounds: &Bounds,
        watch: &mut Watch<'_>,
    ) -> Answer {
        let mut helpers = None;
        let mut turn = self.first_turn();
        loop {
            watch.set_turn(Some(turn));
            let outcome = main.explore(&mut self.goal(sought), watch);
            if outcome != Outcome::Stopped(Stop::Turn) {
                watch.set_turn(None);
                watch.add(main.counts());
                return self.searched(outcome, sought, main, None, settings);
            }
            let helpers = helpers.get_or_insert_with(|| self.helpers(settings, bounds));
            let mut index = 0;
            while let Some(helper) = helpers.get_mut(index) {
                watch.set_turn(Some(turn * helper.share.0 / helper.share.1));
                watch.reserved = main.counts().bytes;
                let outcome = helper.search.explore(&mut self.goal(sought), watch);
                watch.reserved = 0;
                match self.helped(&outcome, helper) {
                    Some(true) => {
                        watch.set_turn(None);
                        watch.add(helper.search.counts());
                        let answer =
                            self.searched(outcome, sought, &helper.search, None, &helper.settings);
                        return Answer {
                            decided_by: Some(helper.name),
                            ..answer
                        };
                    }
                    Some(false) => drop(helpers.remove(index)),
                    None => index += 1,
                }
            }
            turn *= 2;
        }
    }

    /// The searches beside the main one. Hulls do not keep the order of clocks that representatives are made by, so they
    /// go without symmetry.
    fn helpers<'s>(&'s self, settings: &Settings, bounds: &'s Bounds) -> Vec<Helper<'s>> {
        let depth = Settings {
            order: SearchOrder::Dfs,
            ..*settings
        };
        let hulls = self.hulls(settings, bounds);
        let named = hulls.map(|s| (s, BY_HULLS, (4, 1))).into_iter();
        named
            .chain([(depth, BY_DEPTH, (1, 2))])
            .map(|(settings, name, share)| {
                let mut search = Search::new(self.program, bounds, settings);
                search.representative = self.representative(&settings);
                Helper {
                    search,
                    settings,
                    name,
                    share,
                }
            })
            .collect()
    }

    /// Whether a helper's turn settled the question; `false` if it never will.
    fn helped(&self, outcome: &Outcome, helper: &Helper<'_>) -> Option<bool> {
        let exact = helper.settings.covering != Covering::Hull;
        match outcome {
            Outcome::Stopped(Stop::Turn) => None,
            Outcome::Exhausted => Some(true),
            Outcome::Found(_) => Some(exact),
            // The main search meets limits and faults on its own, in its own order.
            _ => Some(false),
        }
    }
}
