//! The scheduler: rounds of turns according to the tables of `portfolio.rs`.
//!
//! Turns are counted in states, so the same run gives the same answer.
//!
//! A search in another order may find an evaluation error deep in the model. Exploring everything
//! would find it too, so only a state that is found first can still decide: the other strategies
//! get some more rounds, then the error is the answer.
//!
//! A state that another strategy finds early is held back while the exact search explores a little
//! more: breadth first search may find one with a shorter run.

use super::Answer;
use super::portfolio::{
    self, Joins, MANY_ZONES, Proves, Question, STRATEGIES, Strategy, TURNS, TurnResult,
};
use crate::search::limits::{Stop, Watch};
use zonelens_analysis::report::{Options, Verdict};

/// The rounds that are left to reach the goal after a strategy other than the exact search has
/// found an error of the model.
const ROUNDS_AFTER_ERROR: u32 = 1;

/// A row of the table, and the strategy that has its turns.
struct Seat<'s> {
    row: &'static portfolio::Turn,
    /// The number of states that the share refers to, in this round.
    states: u64,
    /// `None` if the strategy was left out, cannot help, or has given up.
    strategy: Option<Box<dyn Strategy + 's>>,
}

struct Scheduler<'s> {
    seats: Vec<Seat<'s>>,
    verdicts: (Verdict, Verdict),
    round: u32,
    zones_per_state: u64,
    /// The states that the exact search must have explored before a state that another strategy
    /// found is the answer.
    before_found: u64,
    /// Whether the caller chose the length of the first turn.
    generous: bool,
    /// The states of the turns that the exact search has had.
    explored: u64,
    /// An error that one of the strategies found, and the rounds that are left to decide otherwise.
    error: Option<(Answer, u32)>,
}

/// Answers a question by the exact search and, unless it must work `alone`, the other strategies.
pub(crate) fn take_turns<'s>(
    question: &'s dyn Question<'s>,
    options: &Options,
    alone: bool,
    watch: &mut Watch<'_>,
) -> Answer {
    let mut scheduler = Scheduler::new(question, options, alone);
    let answer = loop {
        if let Some(answer) = scheduler.round(watch) {
            break answer;
        }
    };
    watch.set_turn(None);
    watch.reserved = 0;
    let exact = scheduler.seats.iter().find(|seat| seat.is_exact());
    match exact.and_then(|seat| seat.strategy.as_ref()) {
        Some(exact) => exact.conclude(answer, watch),
        None => answer,
    }
}

impl Seat<'_> {
    fn is_exact(&self) -> bool {
        self.row.strategy.is_none()
    }
}

impl<'s> Scheduler<'s> {
    fn new(question: &'s dyn Question<'s>, options: &Options, alone: bool) -> Scheduler<'s> {
        let first = portfolio::first_turn(options, question.kind());
        let rows = || TURNS.iter().filter(|row| row.kind == question.kind());
        let exact = rows().find(|row| row.strategy.is_none());
        let states = exact.map_or(first, |exact| exact.part(first, 0, false));
        let mut seats: Vec<Seat<'s>> = Vec::new();
        for row in rows() {
            let left_out = |switch| alone || options.without.contains(&switch);
            let nobody_hints = || seats.last().is_none_or(|seat| seat.strategy.is_none());
            let absent =
                row.strategy.is_some_and(left_out) || row.joins == Joins::OnHint && nobody_hints();
            let strategy = match absent {
                true => None,
                false => question.start(row.strategy),
            };
            seats.push(Seat {
                row,
                states,
                strategy,
            });
        }
        Scheduler {
            seats,
            verdicts: question.verdicts(),
            round: 0,
            zones_per_state: 0,
            before_found: portfolio::before_found(options, question.kind()),
            generous: options.first_turn.is_some(),
            explored: 0,
            error: None,
        }
    }

    /// Gives every strategy a turn.
    fn round(&mut self, watch: &mut Watch<'_>) -> Option<Answer> {
        let mut exact_had_turn = false;
        for index in 0..self.seats.len() {
            let has_turn = match self.seats[index].row.joins {
                _ if self.seats[index].is_exact() => !exact_had_turn,
                Joins::AtOnce | Joins::InPlaceOfExact => true,
                Joins::SecondRound => self.round > 0,
                Joins::WhenManyZones => self.zones_per_state >= MANY_ZONES,
                // If no strategy is left that gives hints, the last hint is followed in longer and
                // longer turns.
                Joins::OnHint => self.seats[index - 1].strategy.is_none(),
            };
            if !has_turn || self.seats[index].strategy.is_none() {
                continue;
            }
            while let Some(again) = self.turn(index, watch) {
                match again {
                    Again::Answer(answer) => return Some(*answer),
                    Again::AfterHint => {
                        let follower = index + 1;
                        if let Some(Again::Answer(answer)) = self.turn(follower, watch) {
                            return Some(*answer);
                        }
                    }
                }
            }
            let seat = &self.seats[index];
            let goes_on = seat.strategy.is_some();
            let replaces = matches!(seat.row.joins, Joins::SecondRound | Joins::InPlaceOfExact);
            exact_had_turn |= goes_on && replaces;
        }
        for seat in &mut self.seats {
            seat.states = seat.row.growth.next(seat.states);
        }
        self.round += 1;
        None
    }

    /// Gives one strategy its turn; `None` if the round simply continues.
    fn turn(&mut self, index: usize, watch: &mut Watch<'_>) -> Option<Again> {
        let others = |(other, seat): (usize, &Seat<'s>)| match other == index {
            true => None,
            false => seat.strategy.as_ref().map(|strategy| strategy.bytes()),
        };
        watch.reserved = self.seats.iter().enumerate().filter_map(others).sum();
        let is_alone = self.error.is_none() && self.is_last(index);
        let seat = self.seats.get_mut(index)?;
        let states = match (seat.is_exact(), is_alone) {
            (true, true) => None,
            (true, false) => Some(seat.states),
            (false, _) => Some(
                seat.row
                    .part(seat.states, self.zones_per_state, self.generous),
            ),
        };
        watch.set_turn(states);
        let result = seat.strategy.as_mut()?.run_turn(states, watch);
        let zones = seat.strategy.as_ref()?.zones_per_state();
        self.zones_per_state = self.zones_per_state.max(zones);
        match result {
            TurnResult::GoesOn if seat.is_exact() => {
                self.explored = self.explored.saturating_add(seat.states);
                return self.error_is_due(index, watch);
            }
            TurnResult::GoesOn => {}
            TurnResult::Hint => return Some(Again::AfterHint),
            TurnResult::Useless => seat.strategy = None,
            TurnResult::Failed(answer, goes_on) => {
                let answer = seat.signed(*answer);
                self.error.get_or_insert((answer, ROUNDS_AFTER_ERROR));
                if !goes_on {
                    self.seats[index].strategy = None;
                }
            }
            TurnResult::Decided(answer) => {
                let answer = seat.judged(*answer, self.verdicts);
                if answer.verdict == self.verdicts.0
                    && let Some(nearer) = self.nearer(index, watch)
                {
                    return Some(nearer.into());
                }
                self.seats[index].strategy.as_ref()?.count(watch);
                return Some(answer.into());
            }
            TurnResult::Stopped(stop) => {
                seat.strategy.as_ref()?.count(watch);
                let error = self.error.take().filter(|_| stop != Stop::Cancelled);
                let answer = error.map_or_else(|| Answer::stopped(stop), |(answer, _)| answer);
                return Some(answer.into());
            }
        }
        None
    }

    /// What the exact search finds within the states that it may explore after the strategy at
    /// `finder` has found something.
    fn nearer(&mut self, finder: usize, watch: &mut Watch<'_>) -> Option<Answer> {
        let left = self.before_found.saturating_sub(self.explored);
        if left == 0 || self.seats[finder].is_exact() {
            return None;
        }
        let exact = self.seats.iter_mut().find(|seat| seat.is_exact())?;
        let exact = exact.strategy.as_mut()?;
        watch.set_turn(Some(left));
        match exact.run_turn(Some(left), watch) {
            TurnResult::Decided(answer) if answer.verdict == self.verdicts.0 => {
                exact.count(watch);
                Some(*answer)
            }
            _ => None,
        }
    }

    /// Whether no other strategy is left.
    fn is_last(&self, index: usize) -> bool {
        let mut seats = self.seats.iter().enumerate();
        seats.all(|(other, seat)| other == index || seat.strategy.is_none())
    }

    /// The error that was found, if the exact search had its turns and has not decided.
    fn error_is_due(&mut self, exact: usize, watch: &mut Watch<'_>) -> Option<Again> {
        match &mut self.error {
            None => return None,
            Some((_, rounds)) if *rounds > 0 => {
                *rounds -= 1;
                return None;
            }
            Some(_) => {}
        }
        self.seats[exact].strategy.as_ref()?.count(watch);
        self.error.take().map(|(answer, _)| answer.into())
    }
}

/// What follows a turn.
enum Again {
    /// Nothing: the run has its answer.
    Answer(Box<Answer>),
    /// A turn of the strategy that follows the hint, then another turn of the same strategy.
    AfterHint,
}

impl From<Answer> for Again {
    fn from(answer: Answer) -> Again {
        Again::Answer(Box::new(answer))
    }
}

impl Seat<'_> {
    /// The answer with the name of the strategy that gave it.
    fn signed(&self, answer: Answer) -> Answer {
        Answer {
            decided_by: self.row.strategy.and_then(portfolio::words),
            ..answer
        }
    }

    /// The same, if the strategy can prove its verdict.
    fn judged(&self, answer: Answer, (found, absent): (Verdict, Verdict)) -> Answer {
        let mut rows = STRATEGIES.iter();
        let row = rows.find(|row| Some(row.switch) == self.row.strategy);
        let fits = match row.map(|row| row.proves) {
            None | Some(Proves::Both) => true,
            Some(Proves::Presence) => answer.verdict == found,
            Some(Proves::Absence) => answer.verdict == absent,
        };
        match (fits, row) {
            (false, Some(row)) => {
                let (name, verdict) = (row.switch, answer.verdict);
                Answer::internal(format!("`{name}` cannot decide {verdict:?}"))
            }
            _ => self.signed(answer),
        }
    }
}
