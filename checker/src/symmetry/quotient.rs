//! Successors on a few clocks of each class.
//!
//! Swaps of elements of one class fix a state, and a step preserves the swaps of elements that it
//! does not tell apart: elements that take part in it in the same way, or not at all, form
//! *groups*, and the successor is fixed by every permutation inside groups. Its matrix then follows
//! from the rows of a few elements of each group, and these rows can be computed without the
//! others:
//!
//! Everything a step does to a zone (guards, resets, invariants, delay, abstraction) changes single
//! entries, in the same way for entries that permutations exchange, and restores canonical form. A
//! new shortest path between two clocks that are kept need not contain the same clock of two
//! elements of a group, except at its ends: the part between the two cannot be negative, because
//! its image under their swap leads back, so it can be cut out and the rest moved along the swap.
//! With `c` clocks per element, a path then contains at most `c` elements of a group besides those
//! of its ends, and a permutation that fixes the ends moves these to elements that are kept, if
//! `c + 2` of each group are. The same holds for emptiness: guards and invariants bound single
//! clocks, so a negative cycle passes through the constant zero and contains two elements.

use super::folding::Folding;
use super::index::Index;
use super::matrix::{Matrix, rank, scramble};
use super::permutation::Permutation;
use super::stabiliser::{self, Swap};
use super::tables::{Tables, position};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstractor;
use crate::graph::among::DROPPED;
use crate::graph::expander::Expander;
use crate::graph::steps::Steps;
use crate::program::{Fault, Program};
use crate::zone::bound::Bound;
use crate::zone::folded::Spot;
use crate::zone::{Folded, Zone};
use smallvec::SmallVec;

/// The groups of a step, and the zone on the clocks that are kept.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    /// The number of elements of a group that are kept, by set.
    enough: Vec<u32>,
    /// The node of the clock and its index among the clocks of the node, by matrix index.
    owner: Vec<Option<(u32, u32)>>,
    /// The clocks of each node, by matrix index.
    clocks: Vec<Vec<u32>>,
    /// The group of each node.
    group: Vec<u32>,
    /// The first two nodes of each group.
    firsts: Vec<[u32; 2]>,
    /// For steps from folded zones: the number of elements of each group, those that are kept, and
    /// the position of the first clock of the first of them.
    sizes: Vec<u32>,
    members: Vec<SmallVec<[u32; 4]>>,
    bases: Vec<u32>,
    /// The number of clocks without an element, which are kept first.
    commons: usize,
    /// The processes whose invariants, locations and bounds decide for all.
    visit: Vec<u32>,
    /// The position in the small matrix, by matrix index.
    place: Vec<u32>,
    /// By matrix index, the position of the clock itself or of one that represents it: never a
    /// clock of the leader of its group.
    stands: Vec<u32>,
    /// The clocks that are kept, by position; 0 is the first.
    kept: Vec<u32>,
    /// The zone on the kept clocks.
    pub zone: Zone,
    abstractor: Abstractor,
    /// For clocks of leaders and clocks without an element, by matrix index: row and column in full
    /// length.
    rows: Vec<Bound>,
    columns: Vec<Bound>,
    /// The start of the row of a clock, by matrix index.
    starts: Vec<u32>,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    raw: Vec<u32>,
    label: Vec<u32>,
    refined: Vec<Refined>,
    targets: Vec<usize>,
    touched: Vec<u32>,
    spots: Vec<Spot>,
}

/// A group and the way in which some of its elements take part.
#[derive(Clone, Debug)]
struct Refined {
    from: u32,
    process: u64,
    edge: u32,
    values: Vec<i32>,
    to: u32,
}

impl Quotient {
    /// Creates a quotient for searches where it applies: every clock belongs to at most one
    /// element, and zones are constrained only by bounds of single clocks.
    pub(crate) fn new(
        program: &Program,
        bounds: &Bounds,
        abstractor: &Abstractor,
        tables: &Tables,
        index: &Index,
    ) -> Option<Quotient> {
        let timed_urgency = program.edges.iter().any(|e| {
            let timed = e.guard.as_ref().is_some_and(|g| g.has_clocks());
            e.may_be_urgent && timed
        });
        if !bounds.diagonals.is_empty()
            || program.has_priorities
            || program.has_rates
            || timed_urgency
            || index.clocks.iter().any(|c| c.nodes.len() > 1)
            || index.clocks.len() + 1 != program.dim()
        {
            return None;
        }
        let sizes = index.first.iter().zip(&tables.sets);
        let enough = sizes.map(|(first, set)| {
            let nodes = *first as usize..*first as usize + set.size;
            let clocks = nodes.map(|n| index.own[n].alone.len() as u32).max();
            clocks.unwrap_or(0) + 2
        });
        let mut owner = vec![None; program.dim()];
        for (node, own) in index.own.iter().enumerate() {
            for (k, x) in own.alone.iter().enumerate() {
                owner[*x as usize] = Some((node as u32, k as u32));
            }
        }
        Some(Quotient {
            enough: enough.collect(),
            owner,
            clocks: index.own.iter().map(|own| own.alone.clone()).collect(),
            group: Vec::new(),
            firsts: Vec::new(),
            sizes: Vec::new(),
            members: Vec::new(),
            bases: Vec::new(),
            commons: 0,
            visit: Vec::new(),
            place: Vec::new(),
            stands: Vec::new(),
            kept: Vec::new(),
            zone: Zone::universe(1),
            abstractor: abstractor.clone(),
            rows: Vec::new(),
            columns: Vec::new(),
            starts: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// Prepares a step from a state with these classes; returns false if no clock can be left out
    /// or the step is not simple.
    pub(crate) fn begin(
        &mut self,
        program: &Program,
        (tables, index): (&Tables, &Index),
        classes: &[Vec<u16>],
        (steps, step): (&Steps, usize),
        zone: &Zone,
    ) -> bool {
        // Zones are split around guards of receivers that stay out, and the pieces are not
        // symmetric.
        if !steps.blocked(steps.get(step)).is_empty() {
            return false;
        }
        self.gather(program, (tables, index), classes, (steps, step));
        self.keep(tables);
        if self.kept.len() == zone.dim() {
            return false;
        }
        let dim = self.kept.len();
        if self.zone.dim() != dim {
            self.zone = Zone::universe(dim);
        }
        // Rows and columns of a canonical matrix form a canonical matrix.
        let small = self.zone.raw_mut().chunks_exact_mut(dim);
        for (row, x) in small.zip(&self.kept) {
            let whole = &zone.raw()[*x as usize * zone.dim()..];
            for (bound, y) in row.iter_mut().zip(&self.kept) {
                *bound = whole[*y as usize];
            }
        }
        true
    }

    /// Groups elements of a class that take part in the step in the same way.
    fn gather(
        &mut self,
        program: &Program,
        (tables, index): (&Tables, &Index),
        classes: &[Vec<u16>],
        (steps, step): (&Steps, usize),
    ) {
        let Scratch {
            raw,
            label,
            refined,
            ..
        } = &mut self.scratch;
        raw.clear();
        for (first, classes) in index.first.iter().zip(classes) {
            raw.extend(classes.iter().map(|leader| first + u32::from(*leader)));
        }
        let mut fresh = raw.len() as u32;
        refined.clear();
        let step = steps.get(step);
        let broadcast = step
            .channel
            .is_some_and(|c| program.channels[c as usize].broadcast);
        for (k, part) in steps.parts(step).iter().enumerate() {
            let edge = &program.edges[part.edge as usize];
            let p = edge.process as usize;
            let values = steps.values(program, *part);
            let sets = &tables.selects[part.edge as usize];
            let chosen = values.iter().zip(sets).filter_map(|(value, set)| {
                let set = (*set)?;
                Some(index.node(set, (value - tables.sets[set].first) as u16))
            });
            let mut own = tables.processes[p]
                .iter()
                .map(|c| index.node(c.set, c.element));
            let named = chosen.clone().next().is_some();
            if k > 0
                && broadcast
                && !named
                && let (Some(node), None) = (own.next(), own.next())
            {
                let kind = position(p, &tables.processes[p]);
                let same = refined.iter().find(|r| {
                    (r.from, r.process, r.edge) == (raw[node], kind, edge.index)
                        && r.values == values
                });
                raw[node] = match same {
                    Some(r) => r.to,
                    None => {
                        refined.push(Refined {
                            from: raw[node],
                            process: kind,
                            edge: edge.index,
                            values: values.to_vec(),
                            to: fresh,
                        });
                        fresh += 1;
                        fresh - 1
                    }
                };
                continue;
            }
            let own = tables.processes[p]
                .iter()
                .map(|c| index.node(c.set, c.element));
            for node in own.chain(chosen) {
                raw[node] = fresh;
                fresh += 1;
            }
        }
        label.clear();
        label.resize(fresh as usize, DROPPED);
        self.group.clear();
        self.firsts.clear();
        for (node, raw) in raw.iter().enumerate() {
            let label = &mut label[*raw as usize];
            if *label == DROPPED {
                *label = self.firsts.len() as u32;
                self.firsts.push([node as u32; 2]);
            } else if let [first, second] = &mut self.firsts[*label as usize]
                && first == second
            {
                *second = node as u32;
            }
            self.group.push(*label);
        }
    }

    /// Chooses the clocks to keep, and which ones represent the others.
    fn keep(&mut self, tables: &Tables) {
        let counts = &mut self.scratch.label;
        counts.clear();
        counts.resize(self.firsts.len(), 0);
        // By node, how many nodes of its group came before.
        let before = &mut self.scratch.raw;
        for (node, before) in before.iter_mut().enumerate() {
            let count = &mut counts[self.group[node] as usize];
            *before = *count;
            *count += 1;
        }
        let mut enough = Vec::with_capacity(before.len());
        for (set, most) in tables.sets.iter().zip(&self.enough) {
            enough.resize(enough.len() + set.size, *most);
        }
        self.place.clear();
        self.kept.clear();
        for (x, owner) in self.owner.iter().enumerate() {
            let stays = owner.is_none_or(|(n, _)| before[n as usize] < enough[n as usize]);
            let place = if stays {
                self.kept.push(x as u32);
                self.kept.len() as u32 - 1
            } else {
                DROPPED
            };
            self.place.push(place);
        }
    }

    /// Computes the successor; `None` if it must be computed on all clocks, `Some(false)` if there
    /// is none.
    pub(crate) fn successor(
        &mut self,
        expander: &mut Expander<'_>,
        step: usize,
        state: &mut [i32],
        next: &mut Vec<i32>,
        folded: bool,
    ) -> Result<Option<bool>, Fault> {
        let visit = folded.then_some(&self.visit[..]);
        expander.successor_among(step, state, (&mut self.zone, &self.place), next, visit)
    }

    /// Abstracts the zone with the bounds of its state; returns false if the bounds differ within a
    /// group.
    pub(crate) fn abstracted(&mut self, whole: &Abstractor) -> bool {
        let same = (0..self.owner.len()).all(|x| {
            let like = self.like(x);
            (whole.l[x], whole.u[x]) == (whole.l[like], whole.u[like])
        });
        if same {
            self.abstractor.take_over(whole, &self.kept);
            self.abstractor.apply_whole(&mut self.zone);
        }
        same
    }

    /// Abstracts the zone with bounds that are known to be the same within groups; only processes
    /// of elements that are kept, and those of no element, are evaluated.
    pub(crate) fn abstracted_by_few(&mut self, program: &Program, bounds: &Bounds, state: &[i32]) {
        let Abstractor { l, u, .. } = &mut self.abstractor;
        bounds.of_some(
            program,
            state,
            &self.visit,
            (&self.kept, &self.place),
            (l, u),
        );
        self.abstractor.apply_whole(&mut self.zone);
    }

    /// Prepares a step from a folded zone; returns false if the step is not simple.
    pub(crate) fn begin_folded(
        &mut self,
        program: &Program,
        (tables, index): (&Tables, &Index),
        (folding, folded): (&Folding, &Folded),
        (steps, step): (&Steps, usize),
    ) -> bool {
        if !steps.blocked(steps.get(step)).is_empty() {
            return false;
        }
        self.group_folded(program, (tables, index), (folding, folded), (steps, step));
        self.keep_folded(index, (folding, folded));
        true
    }

    /// Groups elements of a class that take part in the step in the same way, and chooses those to
    /// keep.
    fn group_folded(
        &mut self,
        program: &Program,
        (tables, index): (&Tables, &Index),
        (folding, folded): (&Folding, &Folded),
        (steps, step): (&Steps, usize),
    ) {
        self.group.resize(folding.order.len(), 0);
        self.sizes.clear();
        let ends = folded.starts.iter().skip(1).copied();
        let ends = ends.chain([folding.order.len() as u32]);
        for (class, (start, end)) in folded.starts.iter().zip(ends).enumerate() {
            for node in &folding.order[*start as usize..end as usize] {
                self.group[*node as usize] = class as u32;
            }
            self.sizes.push(end - start);
        }
        let classes = self.sizes.len();
        self.scratch.touched.clear();
        let (group, sizes, touched) = (&mut self.group, &mut self.sizes, &mut self.scratch.touched);
        // Moves a node to a group, or to a new one.
        let mut regroup = |group: &mut [u32], node: usize, to: Option<u32>| {
            let to = to.unwrap_or_else(|| {
                sizes.push(0);
                sizes.len() as u32 - 1
            });
            sizes[group[node] as usize] -= 1;
            sizes[to as usize] += 1;
            touched.push(node as u32);
            group[node] = to;
            to
        };
        let refined = &mut self.scratch.refined;
        refined.clear();
        let step = steps.get(step);
        let broadcast = step
            .channel
            .is_some_and(|c| program.channels[c as usize].broadcast);
        for (k, part) in steps.parts(step).iter().enumerate() {
            let edge = &program.edges[part.edge as usize];
            let p = edge.process as usize;
            let values = steps.values(program, *part);
            let sets = &tables.selects[part.edge as usize];
            let chosen = values.iter().zip(sets).filter_map(|(value, set)| {
                let set = (*set)?;
                Some(index.node(set, (value - tables.sets[set].first) as u16))
            });
            let own = &tables.processes[p];
            if k > 0
                && broadcast
                && chosen.clone().next().is_none()
                && let [own] = &own[..]
            {
                // Receivers that take the same edge are a group.
                let node = index.node(own.set, own.element);
                let kind = position(p, &tables.processes[p]);
                let from = group[node];
                let same = refined.iter().find(|r| {
                    (r.from, r.process, r.edge) == (from, kind, edge.index) && r.values == values
                });
                let known = same.map(|r| r.to);
                let to = regroup(group, node, known);
                if known.is_none() {
                    refined.push(Refined {
                        from,
                        process: kind,
                        edge: edge.index,
                        values: values.to_vec(),
                        to,
                    });
                }
                continue;
            }
            let own = own.iter().map(|c| index.node(c.set, c.element));
            for node in own.chain(chosen) {
                regroup(group, node, None);
            }
        }
        self.members
            .resize(self.sizes.len().max(self.members.len()), SmallVec::new());
        self.members.iter_mut().for_each(SmallVec::clear);
        let enough = |node: u32| {
            let set = index.first.partition_point(|first| *first <= node) - 1;
            self.enough[set] as usize
        };
        for (class, start) in folded.starts.iter().enumerate() {
            let mut nodes = folding.order[*start as usize..].iter();
            let most = (self.sizes[class] as usize).min(enough(folding.order[*start as usize]));
            while self.members[class].len() < most
                && let Some(node) = nodes.next()
            {
                if self.group[*node as usize] == class as u32 {
                    self.members[class].push(*node);
                }
            }
        }
        for node in &self.scratch.touched {
            let group = self.group[*node as usize] as usize;
            let members = &mut self.members[group];
            if group >= classes && members.len() < enough(*node) && !members.contains(node) {
                members.push(*node);
            }
        }
        self.firsts.clear();
        self.firsts
            .extend(self.members.iter().take(self.sizes.len()).map(|members| {
                let first = members.first().copied().unwrap_or_default();
                [first, members.get(1).copied().unwrap_or(first)]
            }));
    }

    /// Copies the bounds between the clocks that are kept.
    fn keep_folded(&mut self, index: &Index, (folding, folded): (&Folding, &Folded)) {
        let layout = &folding.layout;
        self.place.clear();
        self.place.resize(layout.dim, DROPPED);
        self.kept.clear();
        self.kept.extend_from_slice(&layout.common);
        self.commons = self.kept.len();
        self.visit.clear();
        self.visit.extend_from_slice(&folding.common_processes);
        self.bases.clear();
        // By class, the position of its first clock in the folded zone.
        let starts = &folded.starts;
        let mut base = self.commons;
        let bases: SmallVec<[(u32, u32); 32]> = starts
            .iter()
            .enumerate()
            .map(|(class, start)| {
                let end = starts.get(class + 1).copied();
                let size = end.unwrap_or(folding.order.len() as u32) - start;
                let own = layout.clocks[*start as usize].len();
                let first = base;
                base += own * size.min(2) as usize;
                (first as u32, if size > 1 { own as u32 } else { 0 })
            })
            .collect();
        let spots = &mut self.scratch.spots;
        spots.clear();
        spots.extend((0..self.commons).map(Spot::alone));
        for members in &self.members[..self.sizes.len()] {
            self.bases.push(self.kept.len() as u32);
            for node in members {
                let at = folding.position[*node as usize];
                let class = starts.partition_point(|start| *start <= at) - 1;
                let (base, second) = bases[class];
                for (k, x) in layout.clocks[at as usize].iter().enumerate() {
                    self.kept.push(*x);
                    spots.push(Spot {
                        class: class as u32,
                        element: at,
                        first: base + k as u32,
                        second: base + second + k as u32,
                    });
                }
                let own = &index.own[*node as usize].processes;
                self.visit.extend_from_slice(own);
            }
        }
        self.visit.sort_unstable();
        self.visit.dedup();
        for (k, x) in self.kept.iter().enumerate() {
            self.place[*x as usize] = k as u32;
        }
        let dim = self.kept.len();
        if self.zone.dim() != dim {
            self.zone = Zone::universe(dim);
        }
        let rows = self.zone.raw_mut().chunks_exact_mut(dim);
        for (row, x) in rows.zip(&*spots) {
            for (bound, y) in row.iter_mut().zip(&*spots) {
                *bound = x.to(y, &folded.zone);
            }
        }
    }

    /// The number of groups; some may have no elements.
    pub(super) fn groups(&self) -> usize {
        self.sizes.len()
    }

    /// The first element of a group.
    pub(super) fn leader_of(&self, group: usize) -> Option<usize> {
        self.members[group].first().map(|node| *node as usize)
    }

    /// The group of a node.
    pub(super) fn group_of(&self, node: usize) -> usize {
        self.group[node] as usize
    }

    /// The number of elements of a group.
    pub(super) fn size(&self, group: usize) -> u32 {
        self.sizes[group]
    }

    /// The number of clocks of each element of a group.
    pub(super) fn clocks_of(&self, group: usize) -> usize {
        self.leader_of(group)
            .map_or(0, |node| self.clocks[node].len())
    }

    /// The position of a clock of the leader.
    pub(super) fn place_of(&self, group: usize, k: usize) -> usize {
        self.bases[group] as usize + k
    }

    /// The bounds of a clock of the leader alone.
    pub(super) fn single(&self, group: usize, k: usize) -> (Bound, Bound) {
        let x = self.place_of(group, k);
        (self.zone.at(0, x), self.zone.at(x, 0))
    }

    /// Calls `f` for each clock that is kept, by position, with its group.
    pub(super) fn for_each_clock(&self, mut f: impl FnMut(Option<usize>, u32)) {
        self.kept[..self.commons].iter().for_each(|x| f(None, *x));
        for (group, members) in self.members[..self.sizes.len()].iter().enumerate() {
            let clocks = members.iter().flat_map(|node| &self.clocks[*node as usize]);
            clocks.for_each(|x| f(Some(group), *x));
        }
    }

    /// The clocks whose bounds with a clock of the leader represent all: how many each stands for,
    /// and its position.
    fn others(&self, group: usize, mut f: impl FnMut(u32, usize)) {
        (0..self.commons).for_each(|at| f(1, at));
        for (other, size) in self.sizes.iter().enumerate() {
            let (base, own) = (self.bases[other] as usize, self.clocks_of(other));
            for at in base..base + own {
                if other != group {
                    f(*size, at);
                    continue;
                }
                f(1, at);
                if *size > 1 {
                    f(size - 1, at + own);
                }
            }
        }
    }

    /// Calls `f` for the bounds of a row of the leader of a group: how often each occurs, the
    /// position of the other clock, and the bound.
    pub(super) fn row(&self, group: usize, k: usize, mut f: impl FnMut(u32, usize, Bound)) {
        let x = self.place_of(group, k);
        self.others(group, |count, y| f(count, y, self.zone.at(x, y)));
    }

    /// The same for a column.
    pub(super) fn column(&self, group: usize, k: usize, mut f: impl FnMut(u32, usize, Bound)) {
        let x = self.place_of(group, k);
        self.others(group, |count, y| f(count, y, self.zone.at(y, x)));
    }

    /// Whether swapping the leaders of two groups fixes the zone.
    pub(super) fn same_times(&self, one: usize, other: usize) -> bool {
        let (own, zone) = (self.clocks_of(one), &self.zone);
        let (a, b) = (self.bases[one] as usize, self.bases[other] as usize);
        if own != self.clocks_of(other) {
            return false;
        }
        let both = |x: usize, y: usize, u: usize, v: usize| {
            zone.at(x, y) == zone.at(u, v) && zone.at(y, x) == zone.at(v, u)
        };
        (0..own).all(|k| {
            let (x, y) = (a + k, b + k);
            let moved = (0..own).all(|j| {
                // Between the two, and with the other elements of their groups.
                both(x, a + j, y, b + j)
                    && both(x, b + j, y, a + j)
                    && (self.sizes[one] < 2 || both(x, a + own + j, y, a + j))
                    && (self.sizes[other] < 2 || both(x, b + j, y, b + own + j))
            });
            let rest = |group: usize, _: u32| group != one && group != other;
            moved
                && (0..self.commons).all(|c| both(x, c, y, c))
                && (self.sizes.iter().enumerate())
                    .filter(|(group, size)| rest(*group, **size))
                    .all(|(group, _)| {
                        let base = self.bases[group] as usize;
                        (base..base + self.clocks_of(group)).all(|z| both(x, z, y, z))
                    })
        })
    }

    /// Adds the clocks of one of the first two elements of a group.
    pub(super) fn spots(&self, group: usize, which: usize, out: &mut Vec<Spot>) {
        let (base, own) = (self.bases[group], self.clocks_of(group) as u32);
        let second = if self.sizes[group] > 1 { own } else { 0 };
        out.extend((0..own).map(|k| Spot {
            class: group as u32,
            element: self.members[group][which],
            first: base + k,
            second: base + second + k,
        }));
    }

    /// Expands the rows and columns of leaders.
    pub(crate) fn spread(&mut self) {
        self.stands.clear();
        for (place, owner) in self.place.iter().zip(&self.owner) {
            self.stands.push(match owner {
                Some((node, k)) if *place == DROPPED => {
                    let [_, second] = self.firsts[self.group[*node as usize] as usize];
                    let twin = self.clocks[second as usize][*k as usize];
                    self.place[twin as usize]
                }
                _ => *place,
            });
        }
        let (dim, raw) = (self.zone.dim(), self.zone.raw());
        self.rows.clear();
        self.columns.clear();
        self.starts.clear();
        for (x, owner) in self.owner.iter().enumerate() {
            if let Some((node, _)) = owner
                && self.firsts[self.group[*node as usize] as usize][0] != *node
            {
                self.starts.push(DROPPED);
                continue;
            }
            self.starts.push(self.rows.len() as u32);
            let own = self.place[x] as usize;
            let row = &raw[own * dim..(own + 1) * dim];
            let stands = self.stands.iter();
            self.rows.extend(stands.clone().map(|y| row[*y as usize]));
            self.columns
                .extend(stands.map(|y| raw[*y as usize * dim + own]));
        }
    }

    fn whole_row(&self, x: usize) -> &[Bound] {
        let start = self.starts[x] as usize;
        &self.rows[start..start + self.starts.len()]
    }

    fn whole_column(&self, x: usize) -> &[Bound] {
        let start = self.starts[x] as usize;
        &self.columns[start..start + self.starts.len()]
    }

    fn leader(&self, node: u32) -> u32 {
        self.firsts[self.group[node as usize] as usize][0]
    }

    /// The corresponding clock of the leader.
    fn like(&self, x: usize) -> usize {
        match self.owner[x] {
            Some((node, k)) => self.clocks[self.leader(node) as usize][k as usize] as usize,
            None => x,
        }
    }

    /// Calls `ask` for each clock of a leader and copies the results to all clocks.
    fn for_each<T: Copy + Default>(&self, out: &mut Vec<T>, ask: impl Fn(usize) -> T) {
        out.clear();
        let answers = self.starts.iter().enumerate();
        out.extend(answers.map(|(x, start)| match *start {
            DROPPED => T::default(),
            _ => ask(x),
        }));
        for x in 0..out.len() {
            out[x] = out[self.like(x)];
        }
    }

    /// Writes the whole zone, with a permutation applied.
    pub(crate) fn write(&mut self, tables: &Tables, permutation: &Permutation, out: &mut Zone) {
        let dim = self.starts.len();
        if out.dim() != dim {
            *out = Zone::universe(dim);
        }
        let mut targets = std::mem::take(&mut self.scratch.targets);
        targets.clear();
        targets.push(0);
        for (x, coordinates) in tables.clocks.iter().enumerate() {
            targets.push(Tables::image(x, coordinates, permutation) + 1);
        }
        let raw = out.raw_mut();
        for x in (0..dim).filter(|x| self.starts[*x] != DROPPED) {
            let row = &mut raw[targets[x] * dim..][..dim];
            for (bound, y) in self.whole_row(x).iter().zip(&targets) {
                row[*y] = *bound;
            }
        }
        // The rows of the others are copies of those of their leaders, except for bounds between an
        // element and itself.
        for x in (0..dim).filter(|x| self.starts[*x] == DROPPED) {
            let Some((node, _)) = self.owner[x] else {
                continue;
            };
            let like = self.like(x);
            let from = targets[like] * dim;
            raw.copy_within(from..from + dim, targets[x] * dim);
            let [first, second] = self.firsts[self.group[node as usize] as usize];
            let clocks = |n: u32| self.clocks[n as usize].iter().map(|x| *x as usize);
            let (bounds, row) = (self.whole_row(like), &mut raw[targets[x] * dim..][..dim]);
            for ((own, leaders), seconds) in clocks(node).zip(clocks(first)).zip(clocks(second)) {
                row[targets[own]] = bounds[leaders];
                row[targets[leaders]] = bounds[seconds];
            }
        }
        self.scratch.targets = targets;
    }
}

impl Matrix for Quotient {
    fn dim(&self) -> usize {
        self.starts.len()
    }

    fn single(&self, i: usize, j: usize) -> Bound {
        let dim = self.zone.dim();
        self.zone.raw()[self.stands[i] as usize * dim + self.stands[j] as usize]
    }

    fn sums(&self, weights: &[u32], rows: &mut Vec<u64>, columns: &mut Vec<u32>) {
        let sum = |bounds: &[Bound]| {
            let scrambled = bounds.iter().zip(weights).map(|(b, w)| scramble(*b, *w));
            scrambled.fold(0u32, u32::wrapping_add)
        };
        self.for_each(rows, |x| u64::from(sum(self.whole_row(x))));
        self.for_each(columns, |x| sum(self.whole_column(x)));
    }

    fn ranks(&self, ranks: &mut Vec<u32>) {
        self.for_each(ranks, |x| rank(self.whole_row(x)));
    }

    fn interchangeable(&self, tables: &Tables, index: &Index, swap: Swap, state: &[i32]) -> bool {
        let (set, a, b) = swap;
        let nodes = [index.node(set, a), index.node(set, b)];
        let [one, other] = nodes.map(|n| self.group[n]);
        if one == other {
            return true;
        }
        if !stabiliser::same_data(tables, index, swap, state) {
            return false;
        }
        // Permutations inside groups map the two elements to the leaders, so it is enough to swap
        // these.
        let [one, other] = nodes.map(|n| &self.clocks[self.leader(n as u32) as usize]);
        one.iter().zip(other).all(|(x, y)| {
            let (x, y) = (*x as usize, *y as usize);
            let same = |p: &[Bound], q: &[Bound]| {
                let differ: usize = p.iter().zip(q).map(|(p, q)| usize::from(p != q)).sum();
                // Bounds between clocks of the two elements are exchanged as well.
                let own = || {
                    one.iter()
                        .zip(other)
                        .map(|(u, v)| (*u as usize, *v as usize))
                };
                let moving: usize = own()
                    .map(|(u, v)| usize::from(p[u] != q[u]) + usize::from(p[v] != q[v]))
                    .sum();
                differ == moving && own().all(|(u, v)| p[u] == q[v] && p[v] == q[u])
            };
            same(self.whole_row(x), self.whole_row(y))
                && same(self.whole_column(x), self.whole_column(y))
        })
    }
}
