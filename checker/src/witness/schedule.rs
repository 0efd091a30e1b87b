//! The times of the steps of a path: the earliest ones that satisfy all its conditions.
//!
//! The unknowns are the moments at which the steps happen. The value of a clock is the time since
//! it was last set, plus the value that it was set to. So every condition of the path is a
//! difference constraint between two moments, and the least solution is a longest path. A strict
//! bound adds an infinitesimal; in the end all infinitesimals become one fraction that is small
//! enough.

use crate::program::{ClockOp, Constraint};
use crate::witness::path::Path;
use crate::zone::bound;
use zonelens_interpreter::Limit;

/// The delays of a path, in units of `1 / unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Number of parts of one time unit.
    pub unit: i64,
    /// The time spent in each state of the path.
    pub delays: Vec<i64>,
}

/// `moments[from] + (weight, strict) <= moments[to]`
struct Edge {
    from: usize,
    to: usize,
    weight: i64,
    strict: i64,
}

/// The last assignment to a clock: its moment and its value.
#[derive(Clone, Copy)]
struct Set {
    moment: usize,
    value: i64,
}

/// The earliest schedule; `None` if the conditions contradict each other or the time limit is
/// reached.
///
/// Moment 0 is the start; moment `k + 1` is the end of stay `k`, which is the moment of its step.
pub fn schedule(path: &Path, initial_clocks: &[i32], limit: &Limit<'_>) -> Option<Schedule> {
    let mut edges = Vec::new();
    let mut clocks: Vec<Set> = initial_clocks
        .iter()
        .map(|v| Set {
            moment: 0,
            value: i64::from(*v),
        })
        .collect();
    for (k, stay) in path.stays.iter().enumerate() {
        let (start, end) = (k, k + 1);
        edges.push(Edge {
            from: start,
            to: end,
            weight: 0,
            strict: 0,
        });
        if !stay.delay {
            edges.push(Edge {
                from: end,
                to: start,
                weight: 0,
                strict: 0,
            });
        }
        for c in &stay.entry {
            edges.push(constraint_edge(*c, start, &clocks)?);
        }
        for c in &stay.exit {
            edges.push(constraint_edge(*c, end, &clocks)?);
        }
        if let Some((_, ops)) = &stay.step {
            for op in ops {
                match *op {
                    ClockOp::Set(x, v) => {
                        clocks[x as usize] = Set {
                            moment: end,
                            value: i64::from(v),
                        }
                    }
                    ClockOp::Copy(x, y) => clocks[x as usize] = clocks[y as usize],
                }
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

/// `x_i - x_j ~ b` at a moment `t`: with `x = t - s_x + v_x` it is a difference of two moments.
fn constraint_edge(c: Constraint, t: usize, clocks: &[Set]) -> Option<Edge> {
    let b = i64::from(bound::value(c.b));
    let strict = i64::from(bound::is_strict(c.b));
    let clock = |index: u32| clocks.get(index as usize - 1).copied();
    // Each case is `lesser - greater ~ weight`, that is `greater >= lesser - weight`.
    let (lesser, greater, weight) = match (c.i, c.j) {
        // -(t - s + v) ~ b
        (0, j) => {
            let y = clock(j)?;
            (y.moment, t, b + y.value)
        }
        (i, 0) => {
            let x = clock(i)?;
            (t, x.moment, b - x.value)
        }
        // (t - s_x + v_x) - (t - s_y + v_y) = s_y - s_x + v_x - v_y ~ b
        (i, j) => {
            let (x, y) = (clock(i)?, clock(j)?);
            (y.moment, x.moment, b - x.value + y.value)
        }
    };
    Some(Edge {
        from: lesser,
        to: greater,
        weight: -weight,
        strict,
    })
}

/// The least solution with moment 0 at time 0 (value, infinitesimals); `None` on a contradiction or
/// if the time limit is reached.
///
/// Conditions refer back over the steps since a clock was set, and upper bounds move earlier
/// moments. If all rounds went in the order of the path, such a change would move back only one
/// step per round. So rounds alternate between forward and backward. A change that goes all the way
/// in one direction takes one round, and moments that did not change cost almost nothing.
fn longest_paths(count: usize, edges: &[Edge], limit: &Limit<'_>) -> Option<Vec<(i64, i64)>> {
    // The edges grouped by their start.
    let mut first = vec![0usize; count + 1];
    edges.iter().for_each(|e| first[e.from + 1] += 1);
    for k in 0..count {
        first[k + 1] += first[k];
    }
    let mut order = vec![0u32; edges.len()];
    let mut next = first.clone();
    for (k, e) in edges.iter().enumerate() {
        order[next[e.from]] = k as u32;
        next[e.from] += 1;
    }
    let mut moments = vec![(0i64, 0i64); count];
    let mut moved = vec![true; count];
    let mut left = count;
    for round in 0..=2 * count {
        if left == 0 {
            return Some(moments);
        }
        if limit.is_over().is_some() {
            return None;
        }
        for k in 0..count {
            let at = if round % 2 == 0 { k } else { count - 1 - k };
            if !std::mem::replace(&mut moved[at], false) {
                continue;
            }
            left -= 1;
            let (value, strict) = moments[at];
            for e in order[first[at]..first[at + 1]]
                .iter()
                .map(|k| &edges[*k as usize])
            {
                let bound = (value + e.weight, strict + e.strict);
                if moments[e.to] < bound {
                    if e.to == 0 {
                        return None;
                    }
                    moments[e.to] = bound;
                    left += usize::from(!std::mem::replace(&mut moved[e.to], true));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::search::limits::Watch;
    use std::sync::atomic::AtomicBool;
    use zonelens_analysis::report::Options;

    /// Each moment is at most one unit after the one before, and the last one is late.
    fn chain(count: usize) -> Vec<Edge> {
        let edge = |from, to, weight| Edge {
            from,
            to,
            weight,
            strict: 0,
        };
        let mut edges = Vec::new();
        for k in 1..count {
            edges.push(edge(k - 1, k, 0));
            edges.push(edge(k, k - 1, -1));
        }
        edges.push(edge(0, count - 1, count as i64 - 1));
        edges
    }

    #[test]
    fn what_comes_from_the_end_takes_one_round() {
        // With forward rounds only, there would be as many rounds as moments: 10^12 edge visits.
        let (count, cancelled) = (500_000, AtomicBool::new(false));
        let control = Control {
            cancelled: &cancelled,
            progress: &|_| {},
        };
        let limit = Watch::new(&Options::default(), &control).limit();
        let moments = longest_paths(count, &chain(count), &limit).expect("no contradiction");
        assert!(moments.iter().enumerate().all(|(k, m)| *m == (k as i64, 0)));
        cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(longest_paths(count, &chain(count), &limit), None);
    }
}
