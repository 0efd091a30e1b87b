//! When work on concrete states must end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Why work had to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The caller asked for it.
    Cancelled,
    /// The deadline passed.
    Timeout,
}

/// A deadline and a flag that the caller may set. It can be asked at any moment and counts nothing.
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

    /// Why the work must end now, or `None` while it may go on.
    pub fn is_over(&self) -> Option<Over> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Over::Cancelled);
        }
        let late = self.deadline.is_some_and(|d| Instant::now() >= d);
        late.then_some(Over::Timeout)
    }
}
