//! The portfolio: which strategies there are, what each proves, and when it has its turn. Read this
//! first; `scheduler.rs` is the loop that follows the tables.
//!
//! The exact search is the one that was asked for, and answers most questions within its first
//! turn. Where it does not, the others take turns with it:
//!
//! - best first search by how far a state is from the condition (`search/nearness.rs`), depth first
//!   search, and random depth first search started anew again and again, which find deep states
//!   early. What they have not found in a large space they hardly will, so their turns grow slower;
//! - a search over convex hulls, which holds one zone per discrete state, and searches over zones
//!   that keep fewer differences of clocks (`loose.rs`). Both only add points, so a state that they
//!   do not reach is not reachable; that settles many safety questions with a few thousand states
//!   where the exact zones are a million. What they do reach proves nothing. LU bounds add points
//!   as well where only regions are exact: for `deadlock`, and for runs;
//! - searches for the run that a graph of loose clocks could not exclude. Only what they find
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

/// States of the first turn. Most models are smaller, and their counts are those of the search that
/// was asked for.
const FIRST_TURN: u64 = 100_000;

/// The strategies beside the exact search.
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

/// The exact search: it decides whatever it ends with, and cannot be left out.
const EXACT: Option<Switch> = None;

/// Who has a turn for which query, in the order of a round. Shares are of the exact search's turn,
/// and its own is of the first turn: for runs it begins anew each time, so its turns grow faster;
/// graphs of loose clocks go on where they were.
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

/// A strategy: its name on the command line, what the result says when it decided, and what its end
/// proves.
pub(crate) struct Row {
    pub switch: Switch,
    pub words: &'static str,
    pub proves: Proves,
}

/// What the end of a strategy proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proves {
    /// What is looked for, by a state or run that is real.
    Presence,
    /// That there is none.
    Absence,
    /// Either.
    Both,
}

/// The place of a strategy in the rounds for one kind of query.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub kind: Kind,
    /// `None` is the exact search.
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
    /// By half.
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
    /// models are searched as was asked for.
    SecondRound,
    /// Once discrete states have several zones: below, wider zones would be as many as the exact
    /// ones.
    WhenManyZones,
    /// When the strategy before it left a hint, and at once.
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
    /// The turn that follows one of `states`.
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
    /// Explores up to so many states, which the watch counts, or as many as it takes.
    fn run_turn(&mut self, states: Option<u64>, watch: &mut Watch<'_>) -> TurnResult;

    /// Adds what it explored to the counts of the run, if no turn did; asked of the one that ends
    /// it.
    fn count(&self, _: &mut Watch<'_>) {}

    /// Completes the answer of the run, whoever gave it; asked of the exact search.
    fn conclude(&self, answer: Answer, _: &Watch<'_>) -> Answer {
        answer
    }

    /// Bytes held between turns, which count while others have theirs.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether discrete states have several zones; asked of the exact search.
    fn has_many_zones(&self) -> bool {
        false
    }
}

/// What a turn came to.
pub(crate) enum TurnResult {
    /// Nothing yet.
    GoesOn,
    /// Nothing yet, but the strategy that follows hints has something to look into before this turn
    /// goes on.
    Hint,
    /// The answer.
    Decided(Box<Answer>),
    /// It met an error of the model on the way; whether it can begin anew.
    Failed(Box<Answer>, bool),
    /// It will never decide.
    Useless,
    /// A limit of the run, which ends here.
    Stopped(Stop),
}

/// A question with the strategies that can answer it.
pub(crate) trait Question<'s> {
    /// What is asked about.
    fn kind(&self) -> Kind;

    /// The verdicts if what is looked for is there, and if it is not.
    fn verdicts(&self) -> (Verdict, Verdict);

    /// Prepares a strategy of the table, `None` for the exact search; nothing if it cannot help
    /// here. What is large is made in its first turn, which may never come.
    fn start(&'s self, strategy: Option<Switch>) -> Option<Box<dyn Strategy + 's>>;
}

/// Whether other strategies may help: not if the caller asked for a search in particular.
pub(crate) fn may_take_turns(options: &Options, order: SearchOrder, covering: Covering) -> bool {
    order == SearchOrder::Bfs
        && covering == Covering::Inclusion
        && options.abstraction == AbstractionOption::Auto
        && matches!(options.trace, TraceOption::None | TraceOption::Some)
        && !options.audit_symmetry
}

/// States of the first turn.
pub(crate) fn first_turn(options: &Options) -> u64 {
    options.first_turn.unwrap_or(FIRST_TURN)
}

/// What the result says when a strategy decided.
pub(crate) fn words(strategy: Switch) -> Option<&'static str> {
    let row = STRATEGIES.iter().find(|row| row.switch == strategy)?;
    Some(row.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A switch without a row would be refused nowhere and do nothing.
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
