//! The obligation that no run has infinitely many steps, shown by a tree in the file.
//!
//! The nodes of a graph are the zones of the set L. A step of a zone has an arc to each zone that
//! the file names for it. A run with infinitely many steps that keeps the condition has, from step
//! to step, its points in zones along an infinite path of arcs: the point where it takes a step
//! lies in a zone, what it reaches after the step lies in the zones that are named.
//!
//! A *tree* proves that no run follows an infinite path over given arcs between given nodes. It
//! gives each node a number that never rises along an arc. On an infinite path, the numbers become
//! constant, and the path stays in the nodes of one number: its *part*. A part without arcs inside
//! has no infinite path. For any other part the tree names
//!
//! - a clock `z` that no arc of the part sets and that is bounded above in each of its nodes. At
//!   every step of a run that stays in the part, `z` is at most the greatest of these bounds; it
//!   grows with time, so only finitely much time passes in the part.
//! - *Either* clocks `y`, and one tree. No arc of the part sets one of these clocks to anything but
//!   0. An arc that sets `y` to 0 and is taken at `y ≥ 1` only cannot be taken infinitely often:
//!   between two times that it is taken, `y` was set to 0 and is now at least 1, so at least one
//!   unit of time has passed. So a run ends up without these arcs, and the tree is about the
//!   others. *Or* one clock `y`, with the same condition, and two trees. A run that infinitely
//!   often sets `y` to 0 and infinitely often takes an arc at `y ≥ 1` only would take infinitely
//!   many units of time. So it ends up without the arcs of one of these kinds; one tree is about
//!   the arcs that do not set `y`, the other about those that are not taken at `y ≥ 1` only.

use crate::check::{Check, Limits, Obligation, Rejection};
use crate::format::Bytes;
use crate::zone::{ClockOp, INFINITE, Zone, at_most};

/// A set of clocks.
type Clocks = Vec<u64>;

fn has(clocks: &[u64], clock: usize) -> bool {
    clocks[clock / 64] >> (clock % 64) & 1 == 1
}

fn put(clocks: &mut [u64], clock: usize, inside: bool) {
    let bit = 1 << (clock % 64);
    match inside {
        true => clocks[clock / 64] |= bit,
        false => clocks[clock / 64] &= !bit,
    }
}

/// The graph.
pub(crate) struct Arcs {
    nodes: usize,
    clocks: usize,
    words: usize,
    /// For each node, the clocks with an upper bound.
    bounded: Vec<u64>,
    ends: Vec<(usize, usize)>,
    /// For each arc, the clocks that it sets to 0, those that it sets to other values, and those
    /// that are at least 1 when it is taken.
    zeroed: Vec<u64>,
    otherwise: Vec<u64>,
    late: Vec<u64>,
}

/// What is still to be proved: that no run follows an infinite path over some arcs between some
/// nodes.
struct Open {
    nodes: Vec<usize>,
    arcs: Vec<usize>,
}

fn wrong<T>(message: impl Into<String>) -> Check<T> {
    Err(Rejection::new(Obligation::NoInfinitePath, message))
}

impl Arcs {
    /// A graph without arcs.
    pub(crate) fn new(clocks: usize, nodes: usize) -> Arcs {
        let words = clocks.div_ceil(64);
        Arcs {
            nodes,
            clocks,
            words,
            bounded: vec![0; nodes * words],
            ends: Vec::new(),
            zeroed: Vec::new(),
            otherwise: Vec::new(),
            late: Vec::new(),
        }
    }

    /// `Err` if the graph takes too much memory.
    pub(crate) fn within(&self, limits: &Limits<'_>) -> Check<()> {
        let each = 16 + 3 * self.words * 8;
        let bytes = self.ends.len() * each + self.bounded.len() * 8;
        match bytes as u64 > limits.memory {
            true => Err(Rejection::new(
                Obligation::Finished,
                "the memory limit was reached while its steps were read",
            )),
            false => Ok(()),
        }
    }

    /// The clocks that are bounded in all of the zones.
    fn clocks(&self, zones: &[Zone], is: impl Fn(&Zone, usize) -> bool) -> Clocks {
        let mut clocks = vec![0; self.words];
        for x in 0..self.clocks {
            put(&mut clocks, x, zones.iter().all(|zone| is(zone, x + 1)));
        }
        clocks
    }

    /// The points of a node from which steps are taken.
    pub(crate) fn node(&mut self, node: usize, points: &[Zone]) {
        let bounded = self.clocks(points, |zone, x| zone.at(x, 0) != INFINITE);
        self.bounded[node * self.words..][..self.words].copy_from_slice(&bounded);
    }

    /// A step that is taken at the given points and leads to some nodes.
    pub(crate) fn step(
        &mut self,
        node: usize,
        to: impl Iterator<Item = usize>,
        taken: &[Zone],
        ops: &[ClockOp],
    ) {
        let late = self.clocks(taken, |zone, x| zone.at(0, x) <= at_most(-1));
        let (mut zeroed, mut otherwise) = (vec![0; self.words], vec![0; self.words]);
        for op in ops {
            let (clock, to_zero) = match *op {
                ClockOp::Set(clock, value) => (clock, value == 0),
                ClockOp::Copy(clock, _) => (clock, false),
            };
            put(&mut zeroed, clock, to_zero);
            put(&mut otherwise, clock, !to_zero);
        }
        for to in to {
            self.ends.push((node, to));
            self.zeroed.extend_from_slice(&zeroed);
            self.otherwise.extend_from_slice(&otherwise);
            self.late.extend_from_slice(&late);
        }
    }

    fn of<'a>(&self, sets: &'a [u64], arc: usize) -> &'a [u64] {
        &sets[arc * self.words..][..self.words]
    }

    /// Whether an arc sets a clock to zero.
    fn zeroes(&self, arc: usize, clock: usize) -> bool {
        has(self.of(&self.zeroed, arc), clock)
    }

    /// Whether an arc is taken only if a clock is at least 1.
    fn is_late(&self, arc: usize, clock: usize) -> bool {
        has(self.of(&self.late, arc), clock)
    }

    /// Reads the tree, which must prove that no run follows an infinite path.
    pub(crate) fn no_infinite_path(
        &self,
        stream: &mut impl Bytes,
        limits: &Limits<'_>,
    ) -> Check<()> {
        let all = Open {
            nodes: (0..self.nodes).collect(),
            arcs: (0..self.ends.len()).collect(),
        };
        let mut number = vec![0; all.nodes.len()];
        let mut kept = (all.nodes.len() + all.arcs.len()) as u64;
        let mut open = vec![all];
        while let Some(Open { nodes, arcs }) = open.pop() {
            limits.check()?;
            kept -= (nodes.len() + arcs.len()) as u64;
            for node in &nodes {
                number[*node] = stream.index(nodes.len() as u64, "part")?;
            }
            let mut inside = Vec::new();
            for arc in arcs {
                let (from, to) = self.ends[arc];
                match number[from].cmp(&number[to]) {
                    std::cmp::Ordering::Less => {
                        return wrong(format!(
                            "a number rises from {} to {} along a step from zone {from} to zone \
                             {to}",
                            number[from], number[to]
                        ));
                    }
                    std::cmp::Ordering::Equal => inside.push((number[from], arc)),
                    std::cmp::Ordering::Greater => {}
                }
            }
            // The parts in the order of their numbers, each with its nodes and arcs.
            inside.sort_unstable();
            let mut nodes: Vec<(u64, usize)> = nodes.iter().map(|n| (number[*n], *n)).collect();
            nodes.sort_unstable();
            let mut members = nodes.chunk_by(|a, b| a.0 == b.0);
            let mut next = Vec::new();
            let mut listed = stream.count("parts")?;
            for part in inside.chunk_by(|a, b| a.0 == b.0) {
                if listed == 0 || stream.number()? != part[0].0 {
                    let (from, to) = self.ends[part[0].1];
                    return wrong(format!(
                        "nothing is said about the steps between zones of number {}, as from zone \
                         {from} to zone {to}",
                        part[0].0
                    ));
                }
                listed -= 1;
                let of_part = members.find(|nodes| nodes[0].0 == part[0].0);
                let nodes = of_part
                    .unwrap_or_default()
                    .iter()
                    .map(|(_, n)| *n)
                    .collect();
                let arcs: Vec<usize> = part.iter().map(|(_, arc)| *arc).collect();
                next.extend(self.part(nodes, arcs, stream)?);
            }
            if listed > 0 {
                return wrong("a part without steps inside is listed");
            }
            kept += next
                .iter()
                .map(|o| (o.nodes.len() + o.arcs.len()) as u64)
                .sum::<u64>();
            if kept * 8 > limits.memory {
                let message = "the memory limit was reached while its tree was read";
                return Err(Rejection::new(Obligation::Finished, message));
            }
            open.extend(next.into_iter().rev());
        }
        Ok(())
    }

    /// Reads what the tree says about one part with arcs inside; returns what its subtrees must
    /// prove.
    fn part(
        &self,
        nodes: Vec<usize>,
        arcs: Vec<usize>,
        stream: &mut impl Bytes,
    ) -> Check<Vec<Open>> {
        let clocks = self.clocks as u64;
        let z = stream.index(clocks, "clock")? as usize;
        let set = |arc: usize| {
            has(self.of(&self.otherwise, arc), z) || has(self.of(&self.zeroed, arc), z)
        };
        if arcs.iter().any(|arc| set(*arc)) {
            return wrong(format!("a step of a part sets the clock number {z}"));
        }
        let bounded = |node: &usize| has(&self.bounded[*node * self.words..], z);
        if !arcs.iter().all(|arc| bounded(&self.ends[*arc].0)) {
            return wrong(format!("the clock number {z} is not bounded in a part"));
        }
        let without = |drop: &dyn Fn(usize) -> bool| Open {
            nodes: nodes.clone(),
            arcs: arcs.iter().copied().filter(|arc| !drop(*arc)).collect(),
        };
        let mut ys = Vec::new();
        // No clocks: one clock and two trees follow.
        let count = stream.few(clocks, "clocks")?;
        for _ in 0..count.max(1) {
            let y = stream.index(clocks, "clock")? as usize;
            if arcs
                .iter()
                .any(|arc| has(self.of(&self.otherwise, *arc), y))
            {
                let message = format!("a step of a part sets clock number {y}, not to 0");
                return wrong(message);
            }
            ys.push(y);
        }
        if count == 0 {
            let y = ys[0];
            return Ok(vec![
                without(&|arc| self.zeroes(arc, y)),
                without(&|arc| self.is_late(arc, y)),
            ]);
        }
        let slow = |arc, y: &usize| self.zeroes(arc, *y) && self.is_late(arc, *y);
        Ok(vec![without(&|arc| ys.iter().any(|y| slow(arc, y)))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Slice, Tree, TreePart, Writer};
    use crate::zone::Constraint;

    /// A zone of two clocks: the first is at most 10, the second at least `low`.
    fn zone(low: i64) -> Zone {
        let upper = Constraint {
            i: 1,
            j: 0,
            bound: at_most(10),
        };
        let lower = Constraint {
            i: 0,
            j: 2,
            bound: at_most(-low),
        };
        Zone::of(2, [upper, lower].into_iter()).expect("a zone")
    }

    /// A graph with arcs from one node to another, each taken when the second clock is at least the
    /// given value, and with assignments.
    fn graph(nodes: usize, arcs: &[(usize, usize, i64, &[ClockOp])]) -> Arcs {
        let mut graph = Arcs::new(2, nodes);
        (0..nodes).for_each(|node| graph.node(node, &[zone(0)]));
        for (from, to, low, ops) in arcs {
            graph.step(*from, std::iter::once(*to), &[zone(*low)], ops);
        }
        graph
    }

    fn ranks(numbers: &[u32]) -> Tree {
        Tree {
            numbers: numbers.to_vec(),
            parts: Vec::new(),
        }
    }

    fn part(numbers: &[u32], clocks: &[u64], subtrees: &[Tree]) -> Tree {
        Tree {
            numbers: numbers.to_vec(),
            parts: vec![TreePart {
                number: 0,
                short: 0,
                clocks: clocks.to_vec(),
                both: subtrees.len() == 2,
                subtrees: subtrees.to_vec(),
            }],
        }
    }

    fn proves(graph: &Arcs, tree: &Tree) -> Result<(), String> {
        let mut writer = Writer::default();
        writer.tree(tree);
        let mut bytes = Slice(&writer.bytes);
        let result = graph.no_infinite_path(&mut bytes, &Limits::default());
        result.map_err(|rejection| rejection.message)?;
        assert!(bytes.0.is_empty(), "{tree:?}");
        Ok(())
    }

    #[test]
    fn ranks_fall_on_every_arc() {
        let chain = graph(3, &[(0, 1, 0, &[]), (1, 2, 0, &[])]);
        assert_eq!(proves(&chain, &ranks(&[2, 1, 0])), Ok(()));
        assert!(proves(&chain, &ranks(&[2, 1, 1])).is_err());
        assert!(proves(&chain, &ranks(&[1, 2, 0])).is_err());
        assert!(proves(&chain, &ranks(&[3, 1, 0])).is_err(), "too large");
        let cycle = graph(2, &[(0, 1, 0, &[]), (1, 0, 0, &[])]);
        for numbers in [[0, 0], [0, 1], [1, 0]] {
            assert!(proves(&cycle, &ranks(&numbers)).is_err());
        }
    }

    #[test]
    fn what_takes_a_unit_each_time_is_left_out() {
        let reset = [ClockOp::Set(1, 0)];
        let slow = graph(1, &[(0, 0, 5, &reset)]);
        let tree = part(&[0], &[1], &[ranks(&[0])]);
        assert_eq!(proves(&slow, &tree), Ok(()));
        // At once, once and then for ever, to another value, and without a bound for the time.
        let copied = [ClockOp::Copy(1, 0)];
        let both = [ClockOp::Set(1, 0), ClockOp::Set(0, 0)];
        let ops: [(i64, &[ClockOp]); 5] = [
            (0, &reset),
            (5, &[]),
            (5, &[ClockOp::Set(1, 5)]),
            (5, &copied),
            (5, &both),
        ];
        for (low, ops) in ops {
            let graph = graph(1, &[(0, 0, low, ops)]);
            assert!(proves(&graph, &tree).is_err(), "{low} {ops:?}");
        }
        // The other clock may be set only to zero everywhere in the part.
        let spoilt = graph(1, &[(0, 0, 5, &reset), (0, 0, 5, &[ClockOp::Set(1, 1)])]);
        assert!(proves(&spoilt, &tree).is_err());
    }

    #[test]
    fn setting_and_being_late_take_time_together() {
        let reset = [ClockOp::Set(1, 0)];
        let around = graph(2, &[(0, 1, 5, &[]), (1, 0, 0, &reset)]);
        let subtrees = [ranks(&[1, 0]), ranks(&[0, 1])];
        assert_eq!(proves(&around, &part(&[0, 0], &[1], &subtrees)), Ok(()));
        let one = [ranks(&[1, 0])];
        assert!(proves(&around, &part(&[0, 0], &[1], &one)).is_err());
        let swapped = [ranks(&[0, 1]), ranks(&[1, 0])];
        assert!(proves(&around, &part(&[0, 0], &[1], &swapped)).is_err());
        assert!(proves(&around, &part(&[0, 0], &[0], &subtrees)).is_err());
        // One more way around that takes no time: one subtree has a cycle.
        let fast = graph(2, &[(0, 1, 5, &[]), (1, 0, 0, &reset), (0, 1, 0, &[])]);
        assert!(proves(&fast, &part(&[0, 0], &[1], &subtrees)).is_err());
        // The time is not bounded in a node.
        let mut endless = graph(2, &[(0, 1, 5, &[]), (1, 0, 0, &reset)]);
        endless.node(1, &[Zone::universe(2)]);
        assert!(proves(&endless, &part(&[0, 0], &[1], &subtrees)).is_err());
    }
}
