//! Whether a graph of states has infinite paths that are possible in real time.
//!
//! In a strongly connected part where some clock is never set and always bounded, the total time of
//! a run is bounded. A run that infinitely often takes arcs that set a clock `y` to zero, and
//! infinitely often arcs that are taken only at `y ≥ 1`, with no other assignment of `y` in the
//! part, would take infinitely many time units. So every infinite run in the part eventually avoids
//! one of both kinds of arcs, and always avoids arcs that are of both kinds. Removing these arcs
//! and repeating this for the parts that are still strongly connected, until none is left, shows
//! that no run stays for ever.

use crate::mutation::{Mutation, is_on};
use crate::program::ClockOp;
use crate::zone::bound::{INF, value};
use crate::zone::{Federation, Zone};
use smallvec::{SmallVec, smallvec};
use zonelens_certificate::{Tree, TreePart};

/// How often each arc may be visited, on average: a proof that takes longer is unlikely to succeed.
const MOST_LOOKS: usize = 40;

/// A set of clocks, counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Clocks(SmallVec<[u64; 1]>);

impl Clocks {
    fn none(clocks: usize) -> Clocks {
        Clocks(smallvec![0; clocks.div_ceil(64)])
    }

    fn of(clocks: usize, is: impl Fn(usize) -> bool) -> Clocks {
        let mut set = Clocks::none(clocks);
        (0..clocks)
            .filter(|&x| is(x))
            .for_each(|x| set.put(x, true));
        set
    }

    fn put(&mut self, clock: usize, inside: bool) {
        let bit = 1 << (clock % 64);
        match inside {
            true => self.0[clock / 64] |= bit,
            false => self.0[clock / 64] &= !bit,
        }
    }

    fn has(&self, clock: usize) -> bool {
        self.0[clock / 64] >> (clock % 64) & 1 == 1
    }

    fn add(&mut self, other: &Clocks) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn keep(&mut self, other: &Clocks) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    fn drop_all(&mut self, other: &Clocks) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len() * 64).filter(|&x| self.has(x))
    }
}

/// An arc from one node to another.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    /// The source node.
    pub from: u32,
    /// The target node.
    pub to: u32,
    /// The clocks that it sets to zero.
    zeroed: Clocks,
    /// The clocks that it sets to other values.
    otherwise: Clocks,
    /// The clocks that are at least 1 when it is taken.
    late: Clocks,
}

impl Arc {
    /// Creates an arc that is taken in `pieces` and applies `ops` to the clocks.
    pub(crate) fn new(from: u32, to: u32, pieces: &Federation, ops: &[ClockOp]) -> Arc {
        let clocks = pieces.first().map_or(0, |zone| zone.dim() - 1);
        let (mut zeroed, mut otherwise) = (Clocks::none(clocks), Clocks::none(clocks));
        for op in ops {
            let (x, to_zero) = match *op {
                ClockOp::Set(x, value) => (x as usize, value == 0),
                ClockOp::Copy(x, _) => (x as usize, false),
            };
            zeroed.put(x, to_zero);
            otherwise.put(x, !to_zero);
        }
        let is_late = |zone: &Zone, x: usize| -value(zone.at(0, x + 1)) >= 1;
        let late =
            |x: usize| is_on(Mutation::StepsTakeTime) || pieces.iter().all(|zone| is_late(zone, x));
        Arc {
            from,
            to,
            zeroed,
            otherwise,
            late: Clocks::of(clocks, late),
        }
    }

    /// Its memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let spilt = [&self.zeroed, &self.otherwise, &self.late];
        let spilt = spilt.iter().filter(|set| set.0.spilled());
        std::mem::size_of::<Arc>() + spilt.map(|set| set.0.len() * 8).sum::<usize>()
    }

    fn clocks(&self) -> usize {
        self.late.0.len() * 64
    }
}

/// A part of the graph that may have an infinite run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suspect {
    /// The nodes where a run might continue for ever, or end; some occur more than once.
    pub nodes: Vec<u32>,
    /// The clocks (counted from 0) that are set or bounded in it.
    pub clocks: Vec<usize>,
}

/// Shows that no infinite path over the arcs is a run; `zones` contains the possible valuations of
/// each node. If that fails, returns the parts where a run might continue for ever, with the clocks
/// that are set or bounded in one of them. `is_over` is called occasionally for a reason to stop.
pub(crate) fn no_infinite_run<S>(
    zones: &[Zone],
    arcs: Vec<&Arc>,
    is_over: impl Fn() -> Option<S>,
) -> Result<Result<(), Suspect>, S> {
    let mut looks = arcs.len().saturating_mul(MOST_LOOKS);
    let mut numbers = vec![NEW; zones.len()];
    let mut parts = vec![arcs];
    let mut suspects: Option<Suspect> = None;
    while let Some(arcs) = parts.pop() {
        let Some(left) = looks.checked_sub(arcs.len()) else {
            return Ok(Err(suspects.unwrap_or_else(|| suspect(zones, &arcs))));
        };
        looks = left;
        for part in strongly_connected(&mut numbers, arcs) {
            if let Some(stop) = is_over() {
                return Err(stop);
            }
            match without_slow_arcs(zones, &part) {
                Some(rule) => parts.extend(rule.rest),
                None => match &mut suspects {
                    // The first one decides which clocks matter; the others are further places to
                    // search.
                    Some(suspects) => suspects.nodes.extend(part.iter().map(|arc| arc.from)),
                    None => suspects = Some(suspect(zones, &part)),
                },
            }
        }
    }
    Ok(suspects.map_or(Ok(()), Err))
}

/// Why every infinite run inside a strongly connected part eventually stays in a smaller set of
/// arcs.
struct Rule<'a> {
    /// A clock that is bounded in the part and never set.
    short: usize,
    /// The clocks whose arcs are left out.
    clocks: Vec<usize>,
    /// Whether there are two sets: without the arcs that set the one clock, and without those that
    /// are taken only if it is at least 1. Otherwise the arcs that do both are left out.
    both: bool,
    /// The sets of arcs.
    rest: Vec<Vec<&'a Arc>>,
}

/// Sets of arcs, each smaller than the part, such that every infinite run inside a strongly
/// connected part eventually stays in one of them. `None` if there are none.
fn without_slow_arcs<'a>(zones: &[Zone], part: &[&'a Arc]) -> Option<Rule<'a>> {
    let clocks = part.first()?.clocks();
    let mut short = Clocks::of(clocks, |_| true);
    let mut otherwise = Clocks::none(clocks);
    let (mut zeroed, mut late) = (otherwise.clone(), otherwise.clone());
    for arc in part {
        short.keep(&bounded(&zones[arc.from as usize]));
        otherwise.add(&arc.otherwise);
        zeroed.add(&arc.zeroed);
        late.add(&arc.late);
    }
    short.drop_all(&otherwise);
    short.drop_all(&zeroed);
    let short = short.iter().next()?;
    let mut slow = Clocks::none(clocks);
    for arc in part {
        let mut both = arc.zeroed.clone();
        both.keep(&arc.late);
        both.drop_all(&otherwise);
        slow.add(&both);
    }
    let takes_a_unit = |arc: &&Arc| {
        let mut both = arc.zeroed.clone();
        both.keep(&arc.late);
        both.keep(&slow);
        !both.is_empty()
    };
    let without = |is: &dyn Fn(&&Arc) -> bool| -> Vec<&'a Arc> {
        part.iter().copied().filter(|arc| !is(arc)).collect()
    };
    if !slow.is_empty() {
        return Some(Rule {
            short,
            clocks: slow.iter().collect(),
            both: false,
            rest: vec![without(&takes_a_unit)],
        });
    }
    zeroed.keep(&late);
    zeroed.drop_all(&otherwise);
    let y = zeroed.iter().next()?;
    Some(Rule {
        short,
        clocks: vec![y],
        both: true,
        rest: vec![
            without(&|arc| arc.zeroed.has(y)),
            without(&|arc| arc.late.has(y)),
        ],
    })
}

/// How deep a proof may be.
const DEEPEST: usize = 200;

/// The proof of [`no_infinite_run`] as a tree, for a certificate; `None` if there is none.
pub(crate) fn proof<S>(
    zones: &[Zone],
    arcs: &[Arc],
    is_over: impl Fn() -> Option<S>,
) -> Result<Option<Tree>, S> {
    let nodes: Vec<u32> = (0..zones.len() as u32).collect();
    let mut proof = Proof {
        zones,
        numbers: vec![NEW; zones.len()],
        looks: arcs.len().saturating_mul(MOST_LOOKS),
        is_over,
    };
    proof.tree(&nodes, arcs.iter().collect(), 0)
}

struct Proof<'z, F> {
    zones: &'z [Zone],
    /// The place of each node among those of the present tree.
    numbers: Vec<u32>,
    looks: usize,
    is_over: F,
}

impl<S, F: Fn() -> Option<S>> Proof<'_, F> {
    /// The tree about arcs between some nodes, which are in ascending order.
    fn tree(&mut self, nodes: &[u32], arcs: Vec<&Arc>, depth: usize) -> Result<Option<Tree>, S> {
        if let Some(stop) = (self.is_over)() {
            return Err(stop);
        }
        match self.looks.checked_sub(arcs.len()) {
            Some(left) if depth < DEEPEST => self.looks = left,
            _ => return Ok(None),
        }
        for (place, node) in (0..).zip(nodes) {
            self.numbers[*node as usize] = place;
        }
        let number = |node: u32| self.numbers[node as usize] as usize;
        let (first, targets) = targets(nodes.len(), &arcs, number);
        // A component gets its number after all that it leads to.
        let component = components(&first, &targets);
        let of = |node: u32| component[number(node)];
        let mut inside = arcs;
        inside.retain(|arc| of(arc.from) == of(arc.to));
        inside.sort_by_key(|arc| of(arc.from));
        let parts: Vec<(u32, Vec<u32>, Vec<&Arc>)> = inside
            .chunk_by(|a, b| of(a.from) == of(b.from))
            .map(|part| {
                let members = nodes.iter().copied();
                let own = of(part[0].from);
                let members = members.filter(|node| of(*node) == own).collect();
                (own, members, part.to_vec())
            })
            .collect();
        let mut tree = Tree {
            numbers: component,
            parts: Vec::new(),
        };
        for (number, nodes, part) in parts {
            let Some(rule) = without_slow_arcs(self.zones, &part) else {
                return Ok(None);
            };
            let mut subtrees = Vec::new();
            for arcs in rule.rest {
                match self.tree(&nodes, arcs, depth + 1)? {
                    Some(subtree) => subtrees.push(subtree),
                    None => return Ok(None),
                }
            }
            tree.parts.push(TreePart {
                number,
                short: rule.short as u64,
                clocks: rule.clocks.iter().map(|y| *y as u64).collect(),
                both: rule.both,
                subtrees,
            });
        }
        Ok(Some(tree))
    }
}

/// A part that could not be excluded, with the clocks that are set or bounded in it.
fn suspect(zones: &[Zone], part: &[&Arc]) -> Suspect {
    let mut clocks = Clocks::none(part.first().map_or(0, |arc| arc.clocks()));
    for arc in part {
        clocks.add(&arc.zeroed);
        clocks.add(&arc.otherwise);
        clocks.add(&bounded(&zones[arc.from as usize]));
    }
    Suspect {
        nodes: part.iter().map(|arc| arc.from).collect(),
        clocks: clocks.iter().collect(),
    }
}

/// The clocks that have an upper bound in a zone.
fn bounded(zone: &Zone) -> Clocks {
    Clocks::of(zone.dim() - 1, |x| is_bounded(zone, x))
}

/// Whether a clock (counted from 0) has an upper bound in a zone.
pub(crate) fn is_bounded(zone: &Zone, clock: usize) -> bool {
    zone.at(clock + 1, 0) != INF
}

/// A node without a number.
const NEW: u32 = u32::MAX;

/// The arcs inside each strongly connected part. `numbers` has an entry for every node of the
/// graph, initially [`NEW`]: the cost of a small part of a large graph depends only on its arcs.
fn strongly_connected<'a>(numbers: &mut [u32], arcs: Vec<&'a Arc>) -> Vec<Vec<&'a Arc>> {
    let mut nodes = 0;
    for node in arcs.iter().flat_map(|arc| [arc.from, arc.to]) {
        let number = &mut numbers[node as usize];
        if *number == NEW {
            *number = nodes;
            nodes += 1;
        }
    }
    let number = |node: u32| numbers[node as usize] as usize;
    let (first, targets) = targets(nodes as usize, &arcs, number);
    let component = components(&first, &targets);
    let of = |arc: &Arc| component[number(arc.from)];
    let is_inside = |arc: &&Arc| of(arc) == component[number(arc.to)];
    let mut inside: Vec<&Arc> = arcs.iter().copied().filter(is_inside).collect();
    inside.sort_by_key(|arc| of(arc));
    let parts = inside
        .chunk_by(|a, b| of(a) == of(b))
        .map(<[&Arc]>::to_vec)
        .collect();
    for node in arcs.iter().flat_map(|arc| [arc.from, arc.to]) {
        numbers[node as usize] = NEW;
    }
    parts
}

/// The targets of the arcs of node `n` are `targets[first[n]..first[n + 1]]`.
fn targets(nodes: usize, arcs: &[&Arc], number: impl Fn(u32) -> usize) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; nodes + 1];
    arcs.iter().for_each(|arc| first[number(arc.from) + 1] += 1);
    for n in 0..nodes {
        first[n + 1] += first[n];
    }
    let mut fill = first.clone();
    let mut targets = vec![0u32; arcs.len()];
    for arc in arcs {
        let at = &mut fill[number(arc.from)];
        targets[*at as usize] = number(arc.to) as u32;
        *at += 1;
    }
    (first, targets)
}

/// The component of each node (Tarjan, without recursion); the arcs of node `n` are
/// `targets[first[n]..first[n + 1]]`.
fn components(first: &[u32], targets: &[u32]) -> Vec<u32> {
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

    /// Zones over two clocks; the first one is at most 10 everywhere.
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
