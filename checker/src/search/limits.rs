//! Limits, cancellation and progress of a run.

use crate::Control;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zonelens_analysis::report::{Options, Progress, Reason, Statistics};
use zonelens_interpreter::{Limit, Over};

/// Why a run ended before its search did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// The limit on stored states was reached.
    States,
    /// The caller cancelled the run.
    Cancelled,
    /// A clock bound exceeds the range of the arithmetic.
    Overflow,
    /// The turn of one of several searches is over; the search can continue later.
    Turn,
}

impl Stop {
    /// The reason for a report without a verdict.
    pub(crate) fn reason(self) -> Reason {
        let reached = |what: &str| format!("the {what} was reached before the search ended");
        match self {
            Stop::Timeout => Reason::Timeout(reached("time limit")),
            Stop::Memory => Reason::Memory(reached("memory limit")),
            Stop::States => Reason::States(reached("limit on stored states")),
            // Turns end inside a run; if one ended the whole run, the run would have no result.
            Stop::Cancelled | Stop::Turn => Reason::Cancelled("stopped before the search ended".into()),
            Stop::Overflow => Reason::Unsupported(
                "a clock bound grew beyond 2^27; scale the model's constants down or bound the clock".into(),
            ),
        }
    }

    /// The reason for a report with a verdict but without its trace.
    pub(crate) fn without_trace(self) -> Reason {
        let text =
            |what| format!("the verdict is valid, but the {what} before its trace was built");
        match self {
            Stop::Cancelled => Reason::Cancelled(text("run was stopped")),
            _ => Reason::Timeout(text("time limit was reached")),
        }
    }
}

impl From<Over> for Stop {
    fn from(over: Over) -> Stop {
        match over {
            Over::Cancelled => Stop::Cancelled,
            Over::Timeout => Stop::Timeout,
        }
    }
}

/// The counts of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// States in the table.
    pub stored: u64,
    /// States taken from the waiting list.
    pub explored: u64,
    /// Successors computed.
    pub transitions: u64,
    /// States waiting.
    pub waiting: u64,
    /// Bytes in use.
    pub bytes: u64,
}

/// The progress of a run that consists of several searches. The displayed counts never decrease,
/// although a secondary search has explored less than the main one and uses less memory than the
/// whole run.
pub(crate) struct Steady<'a> {
    show: &'a (dyn Fn(&Progress) + Sync),
    shown: Mutex<Progress>,
}

impl<'a> Steady<'a> {
    /// Creates the progress before the first search.
    pub(crate) fn new(show: &'a (dyn Fn(&Progress) + Sync)) -> Steady<'a> {
        Steady {
            show,
            shown: Mutex::new(Progress::default()),
        }
    }

    /// Shows the progress of one of the searches as the state of the whole run.
    pub(crate) fn show(&self, now: &Progress) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let leads = now.explored >= shown.explored;
        *shown = Progress {
            stored: now.stored.max(shown.stored),
            explored: now.explored.max(shown.explored),
            waiting: if leads { now.waiting } else { shown.waiting },
            seconds: now.seconds.max(shown.seconds),
            ..now.clone()
        };
        (self.show)(&shown);
    }
}

/// Checks the limits of a run and reports its progress.
pub(crate) struct Watch<'a> {
    control: &'a Control<'a>,
    start: Instant,
    deadline: Option<Instant>,
    memory: u64,
    states: u64,
    last_report: Instant,
    last_explored: u64,
    /// The number of checks since the last report: the states that one thread explores in any
    /// search.
    checked: u64,
    /// The same since the run began.
    pub all_checked: u64,
    peak: u64,
    /// The counts of earlier searches of the same run.
    pub before: Counts,
    ticks: u32,
    /// The number of calls of [`Watch::check`] before the turn is over.
    turn: Option<u64>,
    /// The memory of other searches of the run.
    pub reserved: u64,
}

/// The minimum interval between two progress reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Limits are checked only once per this many steps of one state.
const STEPS_BETWEEN: usize = 64;

impl<'a> Watch<'a> {
    /// Starts the clock.
    pub(crate) fn new(options: &Options, control: &'a Control<'a>) -> Watch<'a> {
        let start = Instant::now();
        let limit = options.timeout.filter(|t| t.is_finite() && *t >= 0.0);
        Watch {
            control,
            start,
            deadline: limit.and_then(|t| start.checked_add(Duration::try_from_secs_f64(t).ok()?)),
            memory: options.memory.unwrap_or(u64::MAX),
            states: options.states.unwrap_or(u64::MAX),
            last_report: start,
            last_explored: 0,
            checked: 0,
            all_checked: 0,
            peak: 0,
            before: Counts::default(),
            ticks: 0,
            turn: None,
            reserved: 0,
        }
    }

    /// Another watch over the same run, for a search inside a search.
    pub(crate) fn twin(&self) -> Watch<'a> {
        Watch {
            before: Counts::default(),
            all_checked: 0,
            peak: 0,
            ticks: 0,
            ..*self
        }
    }

    /// Ends the search after this many states with [`Stop::Turn`]; `None` removes the limit.
    pub(crate) fn set_turn(&mut self, states: Option<u64>) {
        self.turn = states;
    }

    /// Whether a limit is reached, checked immediately: for computations with long steps.
    pub(crate) fn is_over(&self) -> Option<Stop> {
        self.limit().is_over().map(Stop::from)
    }

    /// The time limit and the cancellation flag, for computations after the search.
    pub(crate) fn limit(&self) -> Limit<'a> {
        Limit::new(self.control.cancelled, self.deadline)
    }

    /// Returns a reason to stop, if there is one. Called once per explored state, and occasionally
    /// inside long computations.
    #[inline]
    pub(crate) fn check(&mut self, counts: impl FnOnce() -> Counts) -> Option<Stop> {
        if self.control.cancelled.load(Ordering::Relaxed) {
            return Some(Stop::Cancelled);
        }
        if let Some(left) = &mut self.turn {
            if *left == 0 {
                return Some(Stop::Turn);
            }
            *left -= 1;
        }
        self.checked += 1;
        self.all_checked += 1;
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks % 16 != 1 {
            return None;
        }
        let mut counts = counts();
        counts.bytes += self.reserved;
        self.peak = self.peak.max(counts.bytes);
        if counts.bytes > self.memory {
            return Some(Stop::Memory);
        }
        if counts.stored > self.states {
            return Some(Stop::States);
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|d| now >= d) {
            return Some(Stop::Timeout);
        }
        if now.duration_since(self.last_report) >= REPORT_INTERVAL {
            self.report(now, counts);
        }
        None
    }

    /// Like `check`, between the many steps of one state: a turn does not end there, and only one
    /// in [`STEPS_BETWEEN`] calls checks the limits.
    #[inline]
    pub(crate) fn check_amid(
        &mut self,
        step: usize,
        counts: impl FnOnce() -> Counts,
    ) -> Option<Stop> {
        if step % STEPS_BETWEEN != STEPS_BETWEEN - 1 {
            return None;
        }
        let turn = self.turn.take();
        let stop = self.check(counts);
        self.checked = self.checked.saturating_sub(1);
        self.all_checked = self.all_checked.saturating_sub(1);
        self.turn = turn;
        stop
    }

    fn report(&mut self, now: Instant, counts: Counts) {
        let seconds = now.duration_since(self.last_report).as_secs_f64();
        let explored = self.before.explored + counts.explored;
        // The speed of a secondary search follows only from its checks; that of several threads
        // only from the difference of the counts.
        let ahead = explored.saturating_sub(self.last_explored);
        let speed = ahead.max(self.checked) as f64 / seconds;
        (self.control.progress)(&Progress {
            stored: counts.stored,
            explored,
            waiting: counts.waiting,
            states_per_second: speed as u64,
            memory_bytes: counts.bytes,
            seconds: now.duration_since(self.start).as_secs_f64(),
        });
        self.last_report = now;
        self.last_explored = explored.max(self.last_explored);
        self.checked = 0;
    }

    /// Adds the counts of a search of the run that has ended.
    pub(crate) fn add(&mut self, counts: Counts) {
        self.peak = self.peak.max(counts.bytes);
        self.before.stored = counts.stored;
        self.before.explored += counts.explored;
        self.before.transitions += counts.transitions;
    }

    /// The statistics of the run so far.
    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            stored: self.before.stored,
            explored: self.before.explored,
            transitions: self.before.transitions,
            seconds: self.start.elapsed().as_secs_f64(),
            peak_memory_bytes: self.peak,
            explored_by_all: self.all_checked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of a run in which three searches take turns, as once observed: 163,672, then
    /// 8,296, then 716.
    #[test]
    fn what_is_shown_never_falls() {
        let shown = Mutex::new(Vec::new());
        let show = |p: &Progress| shown.lock().expect("not poisoned").push(p.clone());
        let steady = Steady::new(&show);
        for (stored, explored, waiting) in [
            (163_672, 90_000, 70_000),
            (8_296, 5_000, 3_000),
            (716, 716, 1),
            (170_000, 95_000, 9),
        ] {
            steady.show(&Progress {
                stored,
                explored,
                waiting,
                ..Progress::default()
            });
        }
        let shown = shown.into_inner().expect("not poisoned");
        let stored: Vec<u64> = shown.iter().map(|p| p.stored).collect();
        assert_eq!(stored, [163_672, 163_672, 163_672, 170_000]);
        let waiting: Vec<u64> = shown.iter().map(|p| p.waiting).collect();
        assert_eq!(waiting, [70_000, 70_000, 70_000, 9]);
    }
}
