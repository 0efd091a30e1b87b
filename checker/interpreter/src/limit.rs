//! When work on concrete states must end.

use super::eval::{Broken, Eval};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why work had to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The caller asked for it.
    Cancelled,
    /// The deadline passed.
    Timeout,
}

/// A deadline and a flag that the caller may set. It can be queried at any moment and counts
/// nothing.
#[derive(Clone, Copy, Debug)]
pub struct Limit<'a> {
    cancelled: &'a AtomicBool,
    deadline: Option<Instant>,
}

impl<'a> Limit<'a> {
    /// Ends when `cancelled` is set or `deadline` has passed.
    pub fn new(cancelled: &'a AtomicBool, deadline: Option<Instant>) -> Limit<'a> {
        Limit {
            cancelled,
            deadline,
        }
    }

    /// Why the work must end now; `None` if it may continue.
    pub fn is_over(&self) -> Option<Over> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Over::Cancelled);
        }
        let late = self.deadline.is_some_and(|d| Instant::now() >= d);
        late.then_some(Over::Timeout)
    }
}

/// The resources that one request may use.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Expressions and statements that are evaluated, and moments that are examined.
    pub steps: u64,
    /// The nesting depth of expressions, statements and calls.
    pub depth: u32,
    /// The moments within one delay at which urgency is examined.
    pub moments: usize,
    /// Memory for states, for choices of select values and for the variables of functions, as an
    /// estimate.
    pub bytes: usize,
    /// Time from the start of the request.
    pub time: Duration,
}

/// The clock is read once every `STEPS_BETWEEN` steps: reading it costs more than most steps.
const STEPS_BETWEEN: u64 = 64;

/// What is left of an [`Allowance`]. States carry it along, and evaluations over them are charged
/// to it.
#[derive(Debug)]
pub(crate) struct Budget {
    allowance: Allowance,
    deadline: Option<Instant>,
    steps: Cell<u64>,
    bytes: Cell<usize>,
    spent: Cell<bool>,
}

/// A budget that all states of one request share.
#[derive(Clone, Debug)]
pub struct SharedBudget(pub(super) Rc<Budget>);

/// States are equal whatever was spent to reach them.
impl PartialEq for SharedBudget {
    fn eq(&self, _: &SharedBudget) -> bool {
        true
    }
}

impl SharedBudget {
    /// Starts a budget; its time starts now.
    pub fn new(allowance: Allowance) -> SharedBudget {
        SharedBudget(Rc::new(Budget {
            allowance,
            deadline: Instant::now().checked_add(allowance.time),
            steps: Cell::new(0),
            bytes: Cell::new(0),
            spent: Cell::new(false),
        }))
    }

    /// Whether a limit was reached. Results from then on mean nothing.
    pub fn is_spent(&self) -> bool {
        self.0.spent.get()
    }

    /// Charges `count` steps.
    pub(super) fn step(&self, count: u64) -> Eval<()> {
        let budget = &*self.0;
        let before = budget.steps.get();
        let now = before.saturating_add(count);
        budget.steps.set(now);
        if now > budget.allowance.steps {
            return self.over();
        }
        let looks = before / STEPS_BETWEEN != now / STEPS_BETWEEN;
        if looks && budget.deadline.is_some_and(|d| Instant::now() >= d) {
            return self.over();
        }
        if budget.spent.get() {
            return self.over();
        }
        Ok(())
    }

    /// Charges memory that is kept until the request ends.
    pub(super) fn keep(&self, bytes: usize) -> Eval<()> {
        let now = self.0.bytes.get().saturating_add(bytes);
        self.0.bytes.set(now);
        self.hold(0)
    }

    /// Fails if this much more memory would be too much; the memory will be freed soon.
    pub(super) fn hold(&self, bytes: usize) -> Eval<()> {
        match self.0.bytes.get().saturating_add(bytes) > self.0.allowance.bytes {
            true => self.over(),
            false => Ok(()),
        }
    }

    /// Fails if evaluation is nested too deeply.
    pub(super) fn nested(&self, depth: u32) -> Eval<()> {
        match depth > self.0.allowance.depth {
            true => self.over(),
            false => Ok(()),
        }
    }

    /// Fails if one delay has too many moments.
    pub(super) fn moments(&self, count: usize) -> Eval<()> {
        match count > self.0.allowance.moments {
            true => self.over(),
            false => Ok(()),
        }
    }

    fn over<T>(&self) -> Eval<T> {
        self.0.spent.set(true);
        Err(Broken::new("a limit was reached"))
    }
}
