//! The times of the steps of a path: the earliest ones that satisfy all its conditions.
//!
//! The unknowns are the moments at which the steps happen. The value of a clock is the time since
//! it was last set, plus the value that it was set to. So every condition of the path is a
//! difference constraint between two moments, and the least solution is a longest path. A strict
//! bound adds an infinitesimal; in the end all infinitesimals become one fraction that is small
//! enough.

use crate::graph::moments::{Edge, Set, constraint_edge, longest_paths};
use crate::witness::path::Path;
use zonelens_interpreter::Limit;

/// The delays of a path, in units of `1 / unit`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// Number of parts of one time unit.
    pub unit: i64,
    /// The time spent in each state of the path.
    pub delays: Vec<i64>,
}

/// The earliest schedule; `None` if the conditions contradict each other or the time limit is
/// reached.
///
/// Moment 0 is the start; moment `k + 1` is the end of stay `k`, which is the moment of its step.
pub(crate) fn schedule(path: &Path, initial_clocks: &[i32], limit: &Limit<'_>) -> Option<Schedule> {
    let mut edges = Vec::new();
    let mut clocks: Vec<Set> = initial_clocks.iter().map(|v| Set::at(0, *v, 1)).collect();
    for (k, stay) in path.stays.iter().enumerate() {
        let (start, end) = (k, k + 1);
        edges.push(Edge::order(start, end));
        if !stay.delay {
            edges.push(Edge::order(end, start));
        }
        for c in &stay.entry {
            edges.push(constraint_edge(*c, start, &clocks)?);
        }
        for c in &stay.exit {
            edges.push(constraint_edge(*c, end, &clocks)?);
        }
        if let Some((_, ops)) = &stay.step {
            for op in ops {
                Set::apply(&mut clocks, *op, end, 1);
            }
        }
    }
    let moments = longest_paths(path.stays.len() + 1, &edges, limit)?;
    // The sum of the infinitesimals of all moments, relative to moment 0, must stay below one time
    // unit.
    let unit = moments.iter().map(|m| m.1).max()? + 1;
    let unit = if unit > 1 { unit.max(2) } else { 1 };
    let at = |k: usize| moments[k].0 * unit + moments[k].1;
    let delays = (0..path.stays.len()).map(|k| at(k + 1) - at(k)).collect();
    Some(Schedule { unit, delays })
}
