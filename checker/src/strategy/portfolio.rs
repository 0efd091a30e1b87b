//! The portfolio: the strategies, what each of them proves, and when it has its turn. Read this
//! file first; `scheduler.rs` is the loop that follows the tables.
//!
//! The exact search is the one that was asked for, and answers most questions within its first
//! turn. If it does not, the other strategies take turns with it:
//!
//! - best first search by the distance of a state from the condition (`search/nearness.rs`), depth
//!   first search, and random depth first search, which restarts again and again. They find deep
//!   states early. In a large space, what they have not found early they seldom find later, so
//!   their turns grow more slowly;
//! - a search over convex hulls, which keeps one zone per discrete state, and searches over zones
//!   that keep fewer differences of clocks (`loose.rs`). Both only add points, so a state that they
//!   do not reach is not reachable; this decides many safety questions with a few thousand states
//!   where there are a million exact zones. The states that they do reach prove nothing. Where only
//!   regions are exact, for `deadlock` and for runs, LU bounds add points as well;
//! - searches for the run that a graph of loose clocks could not exclude. Only a run that is found
//!   counts.

use super::Answer;
use crate::search::limits::{Stop, Watch};
use crate::store::passed_waiting::Covering;
use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, Switch, TraceOption, Verdict,
};

use Growth::{Double, Half, Quadruple};
use Joins::{AtOnce, OnHint, SecondRound, WhenManyZones};
use Kind::{LeadsTo, Reach, Stays};
use Proves::{Absence, Both, Presence};
use Switch::{BestFirst, DepthFirst, Guided, Hulls, LooseClocks, LuBounds, RandomDepthFirst};

/// The states of the first turn. Most models are smaller, and their counts are those of the search
/// that was asked for.
const FIRST_TURN: u64 = 100_000;

/// The strategies other than the exact search.
#[rustfmt::skip]
pub(crate) const STRATEGIES: [Row; 7] = [
    // name            what the result says          proves
    row(LuBounds,         "proof under LU bounds",     Absence),
    row(BestFirst,        "best-first search",         Both),
    row(RandomDepthFirst, "random depth-first search", Both),
    row(DepthFirst,       "depth-first search",        Both),
    row(Hulls,            "convex-hull proof",         Absence),
    row(LooseClocks,      "loose-clocks proof",        Absence),
    row(Guided,           "guided search",             Presence),
];

/// The exact search: its result always decides, and it cannot be left out.
const EXACT: Option<Switch> = None;

/// Which strategy has a turn for which query, in the order of a round. Shares are fractions of the
/// turn of the exact search, and its own share is a fraction of the first turn. For runs the exact
/// search starts from scratch each time, so its turns grow faster; graphs of loose clocks continue
/// where they were.
#[rustfmt::skip]
pub(crate) const TURNS: [Turn; 15] = [
    // query    strategy                 share   growth     joins
    turn(Reach,   Some(LuBounds),         (1, 1), Double,    AtOnce),
    turn(Reach,   EXACT,                  (1, 1), Double,    AtOnce),
    turn(Reach,   Some(BestFirst),        (1, 4), Half,      AtOnce),
    turn(Reach,   Some(RandomDepthFirst), (1, 4), Half,      AtOnce),
    turn(Reach,   Some(DepthFirst),       (1, 4), Half,      AtOnce),
    turn(Reach,   Some(Hulls),            (2, 1), Double,    WhenManyZones),
    turn(Reach,   Some(LooseClocks),      (1, 2), Double,    WhenManyZones),

    turn(Stays,   EXACT,                  (1, 1), Quadruple, AtOnce),
    turn(Stays,   Some(LooseClocks),      (1, 1), Quadruple, AtOnce),
    turn(Stays,   Some(Guided),           (1, 8), Quadruple, OnHint),

    turn(LeadsTo, Some(LuBounds),         (1, 1), Quadruple, SecondRound),
    turn(LeadsTo, EXACT,                  (1, 4), Quadruple, AtOnce),
    turn(LeadsTo, Some(LooseClocks),      (4, 1), Quadruple, AtOnce),
    turn(LeadsTo, Some(Guided),           (1, 2), Quadruple, OnHint),
    turn(LeadsTo, Some(Hulls),            (1, 1), Quadruple, AtOnce),
];

/// A strategy: its name on the command line, the text of the result when it decided, and what its
/// result proves.
pub(crate) struct Row {
    pub switch: Switch,
    pub words: &'static str,
    pub proves: Proves,
}

/// What the result of a strategy proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proves {
    /// That the goal exists, by a state or run that is real.
    Presence,
    /// That the goal does not exist.
    Absence,
    /// Both of these.
    Both,
}

/// The place of a strategy in the rounds for one kind of query.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub kind: Kind,
    /// The strategy; `None` is the exact search.
    pub strategy: Option<Switch>,
    /// States per turn, as a fraction.
    pub share: (u64, u64),
    pub growth: Growth,
    pub joins: Joins,
}

/// What a query asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `E<>` and `A[]`: states.
    Reach,
    /// `E[]` and `A<>`: runs from the initial state.
    Stays,
    /// `-->`: runs from every state with a condition.
    LeadsTo,
}

/// How turns grow from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Each turn is half as long again as the one before.
    Half,
    Double,
    Quadruple,
}

/// When a strategy has its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// In the first round.
    AtOnce,
    /// In the second round, and from then on in place of the exact search until it fails: small
    /// models are searched in the way that was asked for.
    SecondRound,
    /// Once discrete states have several zones: before that, there would be as many wider zones as
    /// exact ones.
    WhenManyZones,
    /// At once, when the strategy before it leaves a hint.
    OnHint,
}

const fn row(switch: Switch, words: &'static str, proves: Proves) -> Row {
    Row {
        switch,
        words,
        proves,
    }
}

const fn turn(
    kind: Kind,
    strategy: Option<Switch>,
    share: (u64, u64),
    growth: Growth,
    joins: Joins,
) -> Turn {
    Turn {
        kind,
        strategy,
        share,
        growth,
        joins,
    }
}

impl Growth {
    /// The length of the turn that follows a turn of `states` states.
    pub fn next(self, states: u64) -> u64 {
        match self {
            Growth::Half => states.saturating_add((states / 2).max(1)),
            Growth::Double => states.saturating_mul(2),
            Growth::Quadruple => states.saturating_mul(4),
        }
    }
}

/// One of the searches or proofs that take turns.
pub(crate) trait Strategy {
    /// Explores up to `states` states, which the watch counts; without a limit if `None`.
    fn run_turn(&mut self, states: Option<u64>, watch: &mut Watch<'_>) -> TurnResult;

    /// Adds the states that it explored to the counts of the run, if no turn did; called for the
    /// strategy that ends the run.
    fn count(&self, _: &mut Watch<'_>) {}

    /// Completes the answer of the run, whichever strategy gave it; called for the exact search.
    fn conclude(&self, answer: Answer, _: &Watch<'_>) -> Answer {
        answer
    }

    /// The bytes that are kept between turns; they count during the turns of others.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether discrete states have several zones; called for the exact search.
    fn has_many_zones(&self) -> bool {
        false
    }
}

/// The result of a turn.
pub(crate) enum TurnResult {
    /// No result yet.
    GoesOn,
    /// No result yet, but the strategy that follows hints has something to search before this turn
    /// continues.
    Hint,
    /// The answer.
    Decided(Box<Answer>),
    /// An error of the model ended the turn; the flag says whether the strategy can restart.
    Failed(Box<Answer>, bool),
    /// It will never decide.
    Useless,
    /// A limit of the run was reached, and the run ends.
    Stopped(Stop),
}

/// A question with the strategies that can answer it.
pub(crate) trait Question<'s> {
    /// The kind of the query.
    fn kind(&self) -> Kind;

    /// The verdict if the goal exists, and the verdict if it does not.
    fn verdicts(&self) -> (Verdict, Verdict);

    /// Prepares a strategy of the table, or the exact search for `None`. Returns nothing if the
    /// strategy cannot help here. Large data is built in its first turn, which may never come.
    fn start(&'s self, strategy: Option<Switch>) -> Option<Box<dyn Strategy + 's>>;
}

/// Whether other strategies may take turns: not if the caller asked for a particular search.
pub(crate) fn may_take_turns(options: &Options, order: SearchOrder, covering: Covering) -> bool {
    order == SearchOrder::Bfs
        && covering == Covering::Inclusion
        && options.abstraction == AbstractionOption::Auto
        && matches!(options.trace, TraceOption::None | TraceOption::Some)
        && !options.audit_symmetry
}

/// The number of states of the first turn.
pub(crate) fn first_turn(options: &Options) -> u64 {
    options.first_turn.unwrap_or(FIRST_TURN)
}

/// The text of the result when a strategy decided.
pub(crate) fn words(strategy: Switch) -> Option<&'static str> {
    let row = STRATEGIES.iter().find(|row| row.switch == strategy)?;
    Some(row.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A switch without a row would be accepted everywhere and do nothing.
    #[test]
    fn the_tables_fit_together() {
        assert_eq!(STRATEGIES.map(|row| row.switch), Switch::ALL);
        for switch in Switch::ALL {
            let mut turns = TURNS.iter();
            assert!(turns.any(|turn| turn.strategy == Some(switch)), "{switch}");
        }
        for kind in [Reach, Stays, LeadsTo] {
            let rows: Vec<&Turn> = TURNS.iter().filter(|turn| turn.kind == kind).collect();
            let exact = rows.iter().filter(|turn| turn.strategy == EXACT).count();
            assert_eq!(exact, 1, "{kind:?}");
            for pair in rows.windows(2) {
                let follows = pair[1].joins == OnHint;
                assert_eq!(
                    follows,
                    pair[0].strategy == Some(LooseClocks) && kind != Reach
                );
            }
            assert_ne!(rows[0].joins, OnHint, "{kind:?}");
        }
    }
}
