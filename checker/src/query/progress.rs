//! Whether a graph of states has infinite paths that real time allows.
//!
//! In a strongly connected part where some clock is never set and nowhere exceeds a bound, a run has only so much time.
//! If it went infinitely often over arcs that set a clock `y` to zero and over arcs that are taken at `y ≥ 1` only, with
//! no other assignment of `y` in the part, it would take infinitely many whole units. So every infinite run there in the
//! end avoids one of both kinds of arcs, and an arc that is of both kinds altogether. Taking these arcs away and looking
//! at what is still strongly connected, until nothing is, shows that no run stays for ever.

use crate::program::ClockOp;
use crate::zone::bound::{INF, value};
use crate::zone::{Federation, Zone};

/// How often every arc may be looked at, on average: what is not shown by then hardly will be.
const MOST_LOOKS: usize = 40;

/// What an arc does to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Kept,
    ToZero,
    Otherwise,
}

/// A way from one node to another.
#[derive(Clone, Debug)]
pub struct Arc {
    /// Where it starts.
    pub from: u32,
    /// Where it leads.
    pub to: u32,
    /// Per clock.
    sets: Box<[Set]>,
    /// Per clock: whether it is at least 1 when the arc is taken.
    late: Box<[bool]>,
}

impl Arc {
    /// An arc that is taken in `pieces` and does `ops` to the clocks.
    pub fn new(from: u32, to: u32, pieces: &Federation, ops: &[ClockOp]) -> Arc {
        let clocks = pieces.first().map_or(0, |zone| zone.dim() - 1);
        let mut sets = vec![Set::Kept; clocks];
        for op in ops {
            match *op {
                ClockOp::Set(x, 0) => sets[x as usize] = Set::ToZero,
                ClockOp::Set(x, _) | ClockOp::Copy(x, _) => sets[x as usize] = Set::Otherwise,
            }
        }
        let late = |x: usize| pieces.iter().all(|zone| -value(zone.at(0, x + 1)) >= 1);
        Arc {
            from,
            to,
            sets: sets.into(),
            late: (0..clocks).map(late).collect(),
        }
    }

    /// Its memory.
    pub fn bytes(&self) -> usize {
        std::mem::size_of::<Arc>() + self.sets.len() * 2
    }
}

/// Shows that no infinite path over the arcs is a run; `zones` holds what is possible at each node. Where that fails, the
/// clocks are given (from 0) that are set or bounded in a part where a run might go on. `is_over` is asked now and then for
/// a reason to stop.
pub fn no_infinite_run<S>(
    zones: &[Zone],
    arcs: Vec<&Arc>,
    is_over: impl Fn() -> Option<S>,
) -> Result<Result<(), Vec<usize>>, S> {
    let mut looks = arcs.len().saturating_mul(MOST_LOOKS);
    let mut parts = vec![arcs];
    while let Some(arcs) = parts.pop() {
        // Finding the parts looks at every node, too.
        let cost = arcs.len().max(zones.len());
        let Some(left) = looks.checked_sub(cost) else {
            return Ok(Err(involved(zones, &arcs)));
        };
        looks = left;
        for part in strongly_connected(zones.len(), arcs) {
            if let Some(stop) = is_over() {
                return Err(stop);
            }
            let clocks = part.first().map_or(0, |arc| arc.sets.len());
            let short = (0..clocks).any(|x| {
                part.iter()
                    .all(|arc| arc.sets[x] == Set::Kept && is_bounded(&zones[arc.from as usize], x))
            });
            if !short {
                return Ok(Err(involved(zones, &part)));
            }
            let timed: Vec<usize> = (0..clocks)
                .filter(|&y| part.iter().all(|arc| arc.sets[y] != Set::Otherwise))
                .collect();
            let resets = |arc: &Arc, y: usize| arc.sets[y] == Set::ToZero;
            let both = |arc: &Arc| timed.iter().any(|&y| resets(arc, y) && arc.late[y]);
            let rest: Vec<&Arc> = part.iter().copied().filter(|arc| !both(arc)).collect();
            if rest.len() < part.len() {
                parts.push(rest);
                continue;
            }
            let case = timed.iter().find(|&&y| {
                part.iter().any(|arc| resets(arc, y)) && part.iter().any(|arc| arc.late[y])
            });
            let Some(&y) = case else {
                return Ok(Err(involved(zones, &part)));
            };
            let without = |is: &dyn Fn(&Arc) -> bool| -> Vec<&Arc> {
                part.iter().copied().filter(|arc| !is(arc)).collect()
            };
            parts.push(without(&|arc| resets(arc, y)));
            parts.push(without(&|arc| arc.late[y]));
        }
    }
    Ok(Ok(()))
}

/// The clocks that are set or bounded in a part.
fn involved(zones: &[Zone], part: &[&Arc]) -> Vec<usize> {
    let clocks = part.first().map_or(0, |arc| arc.sets.len());
    let takes_part = |x: &usize| {
        let is =
            |arc: &&Arc| arc.sets[*x] != Set::Kept || is_bounded(&zones[arc.from as usize], *x);
        part.iter().any(is)
    };
    (0..clocks).filter(takes_part).collect()
}

/// Whether a clock (from 0) has an upper bound in a zone.
pub fn is_bounded(zone: &Zone, clock: usize) -> bool {
    zone.at(clock + 1, 0) != INF
}

/// The arcs inside each strongly connected part (Tarjan, without recursion).
fn strongly_connected(nodes: usize, arcs: Vec<&Arc>) -> Vec<Vec<&Arc>> {
    let mut first = vec![0u32; nodes + 1];
    arcs.iter()
        .for_each(|arc| first[arc.from as usize + 1] += 1);
    for n in 0..nodes {
        first[n + 1] += first[n];
    }
    let mut fill = first.clone();
    let mut targets = vec![0u32; arcs.len()];
    for arc in &arcs {
        let at = &mut fill[arc.from as usize];
        targets[*at as usize] = arc.to;
        *at += 1;
    }
    let component = components(&first, &targets);
    let mut inside: Vec<&Arc> = arcs
        .into_iter()
        .filter(|arc| component[arc.from as usize] == component[arc.to as usize])
        .collect();
    inside.sort_by_key(|arc| component[arc.from as usize]);
    let same = |a: &&Arc, b: &&Arc| component[a.from as usize] == component[b.from as usize];
    inside.chunk_by(same).map(<[&Arc]>::to_vec).collect()
}

/// The component of each node; the arcs of node `n` are `targets[first[n]..first[n + 1]]`.
fn components(first: &[u32], targets: &[u32]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let nodes = first.len() - 1;
    let (mut number, mut low) = (vec![NEW; nodes], vec![0u32; nodes]);
    let mut component = vec![NEW; nodes];
    let (mut open, mut path): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let (mut next, mut found) = (0, 0);
    for root in 0..nodes as u32 {
        if number[root as usize] != NEW {
            continue;
        }
        path.push((root, first[root as usize]));
        while let Some((node, at)) = path.last_mut() {
            let n = *node as usize;
            if number[n] == NEW {
                (number[n], low[n]) = (next, next);
                next += 1;
                open.push(*node);
            }
            if *at < first[n + 1] {
                let to = targets[*at as usize] as usize;
                *at += 1;
                if number[to] == NEW {
                    path.push((to as u32, first[to]));
                } else if component[to] == NEW {
                    low[n] = low[n].min(number[to]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                let p = *parent as usize;
                low[p] = low[p].min(low[n]);
            }
            if low[n] == number[n] {
                while let Some(member) = open.pop() {
                    component[member as usize] = found;
                    if member as usize == n {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::bound::le;

    /// Two clocks; the first is at most 10 everywhere.
    fn zones(nodes: usize) -> Vec<Zone> {
        let mut zone = Zone::universe(3);
        zone.and(1, 0, le(10));
        vec![zone; nodes]
    }

    fn arc(from: u32, to: u32, low: i32, ops: &[ClockOp]) -> Arc {
        let mut zone = Zone::universe(3);
        zone.and(0, 2, le(-low));
        Arc::new(from, to, &vec![zone], ops)
    }

    fn excludes(nodes: usize, arcs: &[Arc]) -> bool {
        let never = || None::<()>;
        no_infinite_run(&zones(nodes), arcs.iter().collect(), never) == Ok(Ok(()))
    }

    #[test]
    fn what_takes_a_unit_each_time_ends() {
        let reset = [ClockOp::Set(1, 0)];
        assert!(excludes(1, &[arc(0, 0, 5, &reset)]));
        assert!(excludes(2, &[arc(0, 1, 5, &[]), arc(1, 0, 0, &reset)]));
        assert!(
            excludes(3, &[arc(0, 1, 0, &[]), arc(1, 2, 0, &[])]),
            "no cycle"
        );
    }

    #[test]
    fn what_takes_no_time_may_go_on() {
        let reset = [ClockOp::Set(1, 0)];
        assert!(!excludes(1, &[arc(0, 0, 0, &reset)]));
        assert!(
            !excludes(1, &[arc(0, 0, 5, &[])]),
            "late once, then for ever"
        );
        assert!(!excludes(1, &[arc(0, 0, 5, &[ClockOp::Set(1, 5)])]));
        let both = [arc(0, 0, 5, &reset), arc(0, 1, 0, &[]), arc(1, 0, 0, &[])];
        assert!(!excludes(2, &both), "around the slow arc");
        let set = [ClockOp::Set(0, 0), ClockOp::Set(1, 0)];
        assert!(
            !excludes(1, &[arc(0, 0, 5, &set)]),
            "nothing limits the time"
        );
    }
}
