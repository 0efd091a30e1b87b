//! Moments at which things happen, and the least ones that satisfy difference constraints between
//! them. The value of a clock is the time since it was last set, plus the value it was set to, so
//! a bound of a clock, or of the difference of two, is such a constraint; the least solution is a
//! longest path. Used for the delays of traces and of walks.

use crate::program::{ClockOp, Constraint};
use crate::zone::bound;
use zonelens_interpreter::Limit;

/// A constraint between two moments:
/// `moments[from] + (weight, strict) <= moments[to]`
pub(crate) struct Edge {
    pub from: usize,
    pub to: usize,
    pub weight: i64,
    pub strict: i64,
}

impl Edge {
    /// `from` is not after `to`.
    pub(crate) fn order(from: usize, to: usize) -> Edge {
        let (weight, strict) = (0, 0);
        Edge {
            from,
            to,
            weight,
            strict,
        }
    }
}

/// The last assignment to a clock: its moment and its value.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    pub moment: usize,
    pub value: i64,
}

impl Set {
    /// A clock that was set to `value` at a moment, in parts of one time unit.
    pub(crate) fn at(moment: usize, value: i32, unit: i64) -> Set {
        let value = i64::from(value) * unit;
        Set { moment, value }
    }

    /// What an assignment at a moment makes of the clocks.
    pub(crate) fn apply(clocks: &mut [Set], op: ClockOp, moment: usize, unit: i64) {
        match op {
            ClockOp::Set(x, v) => clocks[x as usize] = Set::at(moment, v, unit),
            ClockOp::Copy(x, y) => clocks[x as usize] = clocks[y as usize],
        }
    }
}

/// `x_i - x_j ~ b` at a moment `t`: with `x = t - s_x + v_x` it is a difference of two moments.
pub(crate) fn constraint_edge(c: Constraint, t: usize, clocks: &[Set]) -> Option<Edge> {
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
pub(crate) fn longest_paths(
    count: usize,
    edges: &[Edge],
    limit: &Limit<'_>,
) -> Option<Vec<(i64, i64)>> {
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
    use std::sync::atomic::AtomicBool;

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
        let limit = Limit::new(&cancelled, None);
        let moments = longest_paths(count, &chain(count), &limit).expect("no contradiction");
        assert!(moments.iter().enumerate().all(|(k, m)| *m == (k as i64, 0)));
        cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(longest_paths(count, &chain(count), &limit), None);
    }
}
