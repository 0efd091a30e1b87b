//! The portfolio: the strategies, what each of them proves, and when it has its turn. Read this
//! file first; `scheduler.rs` is the loop that follows the tables.
//!
//! The exact search is the one that was asked for, and answers most questions within its first
//! turn. If it does not, the other strategies take turns with it:
//!
//! - best first search by the distance of a state from the condition (`search/nearness.rs`), depth
//!   first search, and random depth first search, which restarts again and again. They find deep
//!   states early, often after a few hundred states, so they join early;
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

use Growth::{Double, Quadruple};
use Joins::{AtOnce, InPlaceOfExact, OnHint, SecondRound, WhenManyZones};
use Kind::{LeadsTo, Reach, Stays};
use Proves::{Absence, Both, Presence};
use Switch::{BestFirst, DepthFirst, Guided, Hulls, LooseClocks, LuBounds, RandomDepthFirst};

/// The states of the first turn of a search for states. The models that people draw are often
/// smaller, and their counts are those of the search that was asked for.
const FIRST_TURN: u64 = 1000;

/// The same for runs, where the exact search starts from scratch in each turn.
const FIRST_TURN_OF_RUNS: u64 = 100_000;

/// The turn of wider zones is multiplied by half the number of zones per discrete state, up to
/// this: their search explores about as many states as there are discrete ones.
const MOST_TIMES_WIDER: u64 = 16;

/// A state that another strategy found is the answer only after the exact search has explored
/// this many states: what it finds among them is nearer, and its trace shorter.
const STATES_BEFORE_FOUND: u64 = 10_000;

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
/// turn of the exact search, and its own share is a fraction of the first turn. A search for a
/// state that does not exist gives the other strategies a fifth of its own states at most, unless
/// wider zones promise more. For runs the exact search starts from scratch each time, so its turns
/// grow faster; graphs of loose clocks continue where they were.
#[rustfmt::skip]
pub(crate) const TURNS: [Turn; 15] = [
    // query    strategy                 share    growth     joins
    turn(Reach,   Some(LuBounds),         (1, 1),  Double,    InPlaceOfExact),
    turn(Reach,   EXACT,                  (1, 1),  Double,    AtOnce),
    turn(Reach,   Some(BestFirst),        (1, 24), Double,    AtOnce),
    turn(Reach,   Some(RandomDepthFirst), (1, 24), Double,    AtOnce),
    turn(Reach,   Some(DepthFirst),       (1, 24), Double,    AtOnce),
    turn(Reach,   Some(Hulls),            (1, 24), Double,    WhenManyZones),
    turn(Reach,   Some(LooseClocks),      (1, 32), Double,    WhenManyZones),

    turn(Stays,   EXACT,                  (1, 1),  Quadruple, AtOnce),
    turn(Stays,   Some(LooseClocks),      (1, 1),  Quadruple, AtOnce),
    turn(Stays,   Some(Guided),           (1, 8),  Quadruple, OnHint),

    turn(LeadsTo, Some(LuBounds),         (1, 1),  Quadruple, SecondRound),
    turn(LeadsTo, EXACT,                  (1, 4),  Quadruple, AtOnce),
    turn(LeadsTo, Some(LooseClocks),      (4, 1),  Quadruple, AtOnce),
    turn(LeadsTo, Some(Guided),           (1, 2),  Quadruple, OnHint),
    turn(LeadsTo, Some(Hulls),            (1, 1),  Quadruple, AtOnce),
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
    Double,
    Quadruple,
}

/// When a strategy has its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// In the first round.
    AtOnce,
    /// In the first round, in place of the exact search until it fails.
    InPlaceOfExact,
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
    pub(super) fn next(self, states: u64) -> u64 {
        match self {
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

    /// The stored zones per discrete state, rounded down; called for the exact search and what
    /// takes its place.
    fn zones_per_state(&self) -> u64 {
        0
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
pub(crate) fn first_turn(options: &Options, kind: Kind) -> u64 {
    options.first_turn.unwrap_or(match kind {
        Reach => FIRST_TURN,
        Stays | LeadsTo => FIRST_TURN_OF_RUNS,
    })
}

/// The states that the exact search explores before a state that another strategy found is the
/// answer, if the caller did not choose the first turn.
pub(crate) fn before_found(options: &Options, kind: Kind) -> u64 {
    let holds = kind == Reach && options.trace == TraceOption::Some;
    match options.first_turn {
        None if holds => STATES_BEFORE_FOUND,
        _ => 0,
    }
}

/// The number of zones per discrete state from which wider zones may help.
pub(crate) const MANY_ZONES: u64 = 2;

/// What the small shares of a search for states are multiplied by if the caller chose the first
/// turn: tests want every strategy to have turns in models of a few states.
const GENEROUS: u64 = 24;

impl Turn {
    /// The share of a turn of the exact search, at least one state.
    pub(super) fn part(&self, states: u64, zones_per_state: u64, generous: bool) -> u64 {
        let small = self.kind == Reach && self.share.0 < self.share.1;
        let times = match self.joins {
            WhenManyZones if generous => 2 * GENEROUS,
            _ if generous && small => GENEROUS,
            WhenManyZones => (zones_per_state / MANY_ZONES).clamp(1, MOST_TIMES_WIDER),
            _ => 1,
        };
        let (numerator, denominator) = self.share;
        (states.saturating_mul(numerator * times) / denominator).max(1)
    }
}

/// The text of the result when a strategy decided.
pub(crate) fn words(strategy: Switch) -> Option<&'static str> {
    let row = STRATEGIES.iter().find(|row| row.switch == strategy)?;
    Some(row.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search for a state that does not exist must not lose more than this to the others.
    #[test]
    fn the_others_take_a_fifth_at_most() {
        let states = 1_000_000;
        let small = |row: &&Turn| row.kind == Reach && !matches!(row.joins, InPlaceOfExact);
        let rows = TURNS.iter().filter(small);
        let others = rows.filter(|row| row.strategy != EXACT);
        let sum: u64 = others.map(|row| row.part(states, 2, false)).sum();
        assert!(sum <= states / 5, "{sum}");
    }

    /// A switch without a row would be accepted everywhere and do nothing.
    #[test]
    fn the_tables_fit_together() {
        // Simulation is how the searches compare zones, and takes no turns of its own.
        let mut rows: Vec<Switch> = STRATEGIES.iter().map(|row| row.switch).collect();
        rows.push(Switch::Simulation);
        assert_eq!(rows, Switch::ALL);
        for switch in STRATEGIES.map(|row| row.switch) {
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
