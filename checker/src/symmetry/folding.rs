//! Representatives of states whose zone is known on a few clocks of each group of elements, without
//! any work on single elements or on the whole matrix.
//!
//! A successor is fixed by the permutations inside its groups (`quotient.rs`), so the elements of a
//! group have the same colour, and the sums over rows and columns that refine colours are sums over
//! groups, each with its size. The colours, their refinement and the order are those of
//! `representative.rs`, computed for one element of each group; representatives are therefore the
//! same. Groups of one colour are checked to be interchangeable, as single elements are there; then
//! they form one class of the representative, and two of its elements are kept
//! (`zone/folded.rs`). Swaps inside a group fix the state, and so do swaps of two elements of
//! groups that were checked: together they generate all permutations of the class.
//!
//! Where cells relate elements to each other, or ties are not interchangeable, or the elements of a
//! set do not have the same data in the same order, the caller takes the way over the whole matrix.

use super::colours::{HELD, held, mix};
use super::index::Index;
use super::matrix::scramble;
use super::permutation::Permutation;
use super::quotient::Quotient;
use super::stabiliser;
use super::tables::Tables;
use crate::bounds::Bounds;
use crate::program::{Alike, Program};
use crate::zone::bound::{Bound, LE_ZERO};
use crate::zone::folded::Spot;
use crate::zone::{Folded, Layout};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The facts about a model that folding needs.
#[derive(Clone, Debug)]
pub(crate) struct Folding {
    /// Which clocks belong to the element at each position.
    pub layout: Arc<Layout>,
    /// The node at each position.
    pub order: Vec<u32>,
    /// The position of each node.
    pub position: Vec<u32>,
    /// The positions of elements that permutations may exchange.
    blocks: Vec<Range<u32>>,
    /// For each block and each number or location that its elements have, where it is in the state,
    /// element by element.
    columns: Vec<Vec<Vec<u32>>>,
    /// The numbers and locations of each node, with their labels.
    alone: Vec<Vec<(u32, u64)>>,
    /// The cells that belong to no element and hold one: position, set, label.
    held: Vec<(u32, u32, u64)>,
    /// The processes that do not belong to exactly one element.
    pub common_processes: Vec<u32>,
    /// Whether representatives can be computed from groups.
    by_groups: bool,
    /// Whether the bounds of clocks can be computed from those of a few elements.
    pub uniform_bounds: bool,
}

impl Folding {
    /// Collects the facts; `None` if some elements that may be exchanged have different clocks.
    pub(crate) fn new(
        program: &Program,
        bounds: &Bounds,
        tables: &Tables,
        index: &Index,
    ) -> Option<Folding> {
        let (mut order, mut blocks) = (Vec::new(), Vec::new());
        for (set, data) in tables.sets.iter().enumerate() {
            let mut in_block = vec![false; data.size];
            for block in &data.blocks {
                let start = order.len() as u32;
                order.extend(block.iter().map(|e| index.node(set, *e) as u32));
                block.iter().for_each(|e| in_block[*e as usize] = true);
                blocks.push(start..order.len() as u32);
            }
            for e in (0..data.size).filter(|e| !in_block[*e]) {
                blocks.push(order.len() as u32..order.len() as u32 + 1);
                order.push(index.node(set, e as u16) as u32);
            }
        }
        let mut position = vec![0; order.len()];
        for (p, node) in order.iter().enumerate() {
            position[*node as usize] = p as u32;
        }
        let clocks = order.iter().map(|n| index.own[*n as usize].alone.clone());
        let clocks: Vec<Vec<u32>> = clocks.collect();
        let own = |x: &usize| *x == 0 || index.clocks[*x - 1].nodes.is_empty();
        let labels = |p: u32| -> Vec<u64> {
            let own = clocks[p as usize].iter();
            own.map(|x| index.clocks[*x as usize - 1].label).collect()
        };
        let alike = |block: &Range<u32>| block.clone().all(|p| labels(p) == labels(block.start));
        if !blocks.iter().all(alike) {
            return None;
        }
        let mut kinds = vec![1; program.dim()];
        kinds[0] = 0;
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        for x in clocks.iter().flatten() {
            let fresh = numbers.len() as u32;
            let number = numbers.entry(index.clocks[*x as usize - 1].label);
            // Few kinds are enough to tell zones apart.
            kinds[*x as usize] = 2 + *number.or_insert(fresh) % 6;
        }
        let mut alone = vec![Vec::new(); order.len()];
        let mut holders = Vec::new();
        for tuple in &index.unary {
            match (tuple.holds, &tuple.nodes[..]) {
                (None, [node]) => alone[*node as usize].push((tuple.at, tuple.label)),
                (Some(set), []) => holders.push((tuple.at, set, tuple.label)),
                _ => {}
            }
        }
        let data = |p: u32| &alone[order[p as usize] as usize];
        let alike = |block: &Range<u32>| {
            let labels = |p| data(p).iter().map(|(_, label)| *label);
            block.clone().all(|p| labels(p).eq(labels(block.start)))
        };
        let by_groups = index.relational.is_empty() && blocks.iter().all(alike);
        let columns = blocks.iter().map(|block| {
            let slots = (0..data(block.start).len()).filter(|_| by_groups);
            let column = |k: usize| block.clone().map(|p| data(p)[k].0).collect();
            slots.map(column).collect()
        });
        let processes = tables.processes.iter().enumerate();
        let common = processes.filter(|(_, coordinates)| coordinates.len() != 1);
        let layout = Layout {
            dim: program.dim(),
            common: (0..program.dim()).filter(own).map(|x| x as u32).collect(),
            clocks,
            kinds,
        };
        Some(Folding {
            columns: columns.collect(),
            common_processes: common.map(|(p, _)| p as u32).collect(),
            uniform_bounds: has_uniform_bounds(
                program,
                bounds,
                (tables, index),
                &layout,
                (&blocks, &position),
            ),
            layout: Arc::new(layout),
            order,
            position,
            blocks,
            alone,
            held: holders,
            by_groups,
        })
    }

    /// For each set and element, the first element of its class.
    pub(crate) fn leaders(&self, index: &Index, starts: &[u32], out: &mut Vec<Vec<u16>>) {
        let ends = index.first.iter().skip(1).copied();
        let ends = ends.chain([self.order.len() as u32]);
        out.resize(index.first.len(), Vec::new());
        for ((first, end), out) in index.first.iter().zip(ends).zip(&mut *out) {
            out.resize((end - first) as usize, 0);
        }
        let set_of = |node: u32| index.first.partition_point(|first| *first <= node) - 1;
        for (k, start) in starts.iter().enumerate() {
            let end = starts
                .get(k + 1)
                .copied()
                .unwrap_or(self.order.len() as u32);
            let leader = self.order[*start as usize];
            let set = set_of(leader);
            let first = index.first[set];
            for node in &self.order[*start as usize..end as usize] {
                out[set][(node - first) as usize] = (leader - first) as u16;
            }
        }
    }

    /// The classes of a state, given as leaders by set and element.
    pub(crate) fn starts(&self, index: &Index, leaders: &[Vec<u16>], out: &mut Vec<u32>) {
        out.clear();
        let mut last = None;
        for (p, node) in self.order.iter().enumerate() {
            let set = index.first.partition_point(|first| first <= node) - 1;
            let leader = leaders[set][(node - index.first[set]) as usize];
            if last != Some((set, leader)) {
                out.push(p as u32);
            }
            last = Some((set, leader));
        }
    }
}

/// Whether exchanging elements of a block exchanges the bounds of clocks, in every location.
fn has_uniform_bounds(
    program: &Program,
    bounds: &Bounds,
    (tables, index): (&Tables, &Index),
    layout: &Layout,
    (blocks, position): (&[Range<u32>], &[u32]),
) -> bool {
    let element_clocks = |p: u32| layout.clocks[p as usize].iter();
    let everywhere = blocks.iter().all(|block| {
        let own = |p: u32| element_clocks(p).map(|x| bounds.everywhere_of(*x as usize));
        block.clone().all(|p| own(p).eq(own(block.start)))
    });
    if !everywhere {
        return false;
    }
    let mut place = vec![None; program.dim()];
    for (b, block) in blocks.iter().enumerate() {
        for p in block.clone() {
            for (k, x) in element_clocks(p).enumerate() {
                place[*x as usize] = Some((b, p, k));
            }
        }
    }
    // The bounds that a location adds, without the names of elements: those of the element of the
    // process by number, and those of others if all others have the same.
    type Form = (
        Vec<(u32, i32, i32)>,
        Vec<(usize, i32, i32)>,
        Vec<(usize, usize, i32, i32)>,
    );
    let form = |process: usize, location: usize| -> Option<Form> {
        let own = match &tables.processes[process][..] {
            [] => None,
            [c] => Some(position[index.node(c.set, c.element)]),
            _ => return None,
        };
        let (mut common, mut mine) = (Vec::new(), Vec::new());
        let mut others: FxHashMap<(usize, usize, i32, i32), usize> = FxHashMap::default();
        for &(x, l, u) in bounds.of_location(process, location) {
            match place[x as usize + 1] {
                None => common.push((x, l, u)),
                Some((_, p, k)) if Some(p) == own => mine.push((k, l, u)),
                Some((b, _, k)) => *others.entry((b, k, l, u)).or_default() += 1,
            }
        }
        for ((b, ..), count) in &others {
            let own = usize::from(own.is_some_and(|p| blocks[*b].contains(&p)));
            if *count != blocks[*b].len() - own {
                return None;
            }
        }
        let mut others: Vec<_> = others.into_keys().collect();
        common.sort_unstable();
        mine.sort_unstable();
        others.sort_unstable();
        Some((common, mine, others))
    };
    // Processes that belong to no element are always evaluated, but must treat elements alike.
    let mut seen: FxHashMap<(u64, usize, usize), Form> = FxHashMap::default();
    for process in 0..program.processes() {
        let coordinates = &tables.processes[process];
        let kind = super::tables::position(process, coordinates);
        let block = coordinates.first().map_or(usize::MAX, |c| {
            let p = position[index.node(c.set, c.element)];
            blocks.partition_point(|b| b.end <= p)
        });
        for location in 0..program.locations[process].len() {
            let Some(form) = form(process, location) else {
                return false;
            };
            match seen.get(&(kind, block, location)) {
                Some(known) if *known != form => return false,
                Some(_) => {}
                None => drop(seen.insert((kind, block, location), form)),
            }
        }
    }
    true
}

/// The buffers of the computation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The groups that have elements.
    some: Vec<u32>,
    /// By group.
    colour: Vec<u64>,
    next: Vec<u64>,
    words: Vec<u64>,
    word_starts: Vec<u32>,
    weights: Vec<u32>,
    block: Vec<u32>,
    class: Vec<u32>,
    cursor: Vec<u32>,
    spots: Vec<Spot>,
    sorted: Vec<u64>,
    tied: Vec<u32>,
    before: Vec<i32>,
    /// Whether clocks decided the order of elements.
    pub clocks_decided: bool,
}

impl Groups {
    /// Writes the representative of a state whose zone is known by groups: its discrete part into
    /// `state`, its zone into `out`, and the permutation into `moved_by` if it is given. Returns
    /// false, and changes nothing, if that needs the whole matrix.
    pub(crate) fn represent(
        &mut self,
        folding: &Folding,
        (tables, index): (&Tables, &Index),
        quotient: &Quotient,
        state: &mut [i32],
        out: &mut Folded,
        moved_by: Option<&mut Permutation>,
    ) -> bool {
        if !folding.by_groups || !self.start(folding, (tables, index), quotient, state) {
            return false;
        }
        let mut count = 0;
        loop {
            self.refine(index, quotient);
            if self.resolved((tables, index), quotient, state) {
                break;
            }
            let finer = self.count();
            if finer <= count {
                return false;
            }
            count = finer;
        }
        self.sort();
        self.classify(folding, quotient, out);
        self.write(folding, (tables, index), quotient, state);
        self.fold(folding, quotient, out);
        if let Some(moved_by) = moved_by {
            self.permute(folding, (tables, index), quotient, moved_by);
        }
        true
    }

    /// Computes the first colours and the words by which groups are sorted.
    fn start(
        &mut self,
        folding: &Folding,
        (tables, index): (&Tables, &Index),
        quotient: &Quotient,
        state: &[i32],
    ) -> bool {
        self.some.clear();
        self.colour.clear();
        self.block.clear();
        for g in 0..quotient.groups() {
            let Some(leader) = quotient.leader_of(g) else {
                self.colour.push(0);
                self.block.push(0);
                continue;
            };
            self.some.push(g as u32);
            let at = folding.position[leader];
            let block = folding.blocks.partition_point(|b| b.end <= at);
            self.block.push(block as u32);
            let data = folding.alone[leader].iter();
            let colours = data.map(|(at, label)| mix(*label, state[*at as usize] as u64));
            let colour = colours.fold(index.block[leader], u64::wrapping_add);
            self.colour.push(colour);
        }
        for (at, set, label) in &folding.held {
            if let Some(node) = held(index, tables, *set, state[*at as usize]) {
                let g = quotient.group_of(node);
                if quotient.size(g) != 1 {
                    return false;
                }
                self.colour[g] = self.colour[g].wrapping_add(mix(*label, HELD));
            }
        }
        self.words.clear();
        self.word_starts.clear();
        for g in 0..quotient.groups() {
            self.word_starts.push(self.words.len() as u32);
            if quotient.leader_of(g).is_none() {
                continue;
            }
            self.words.push(self.colour[g]);
            for k in 0..quotient.clocks_of(g) {
                let mut rank = 0;
                quotient.row(g, k, |count, _, bound| {
                    rank += count * u32::from(bound <= LE_ZERO)
                });
                let ordered = |b: Bound| u64::from(b as u32 ^ 0x8000_0000);
                let (low, high) = quotient.single(g, k);
                self.words.push(u64::from(rank) << 32 | ordered(low));
                self.words.push(ordered(high));
            }
        }
        self.word_starts.push(self.words.len() as u32);
        true
    }

    /// One round over the bounds between clocks.
    fn refine(&mut self, index: &Index, quotient: &Quotient) {
        let clock = |x: u32| &index.clocks[x as usize - 1];
        self.weights.clear();
        quotient.for_each_clock(|g, x| {
            let weight = match g {
                None if x == 0 => 0x5bd1_e995,
                None => mix(clock(x).label, 1),
                Some(g) => mix(clock(x).label, self.colour[g]),
            };
            let folded = if x == 0 {
                weight
            } else {
                weight ^ weight >> 32
            };
            self.weights.push(folded as u32);
        });
        self.next.clear();
        self.next.extend_from_slice(&self.colour);
        for g in &self.some {
            let g = *g as usize;
            for k in 0..quotient.clocks_of(g) {
                let (mut row, mut column) = (0u32, 0u32);
                quotient.row(g, k, |count, at, bound| {
                    let term = scramble(bound, self.weights[at]);
                    row = row.wrapping_add(term.wrapping_mul(count));
                });
                quotient.column(g, k, |count, at, bound| {
                    let term = scramble(bound, self.weights[at]);
                    column = column.wrapping_add(term.wrapping_mul(count));
                });
                let told = u64::from(row) << 32 | u64::from(column);
                let own = quotient.place_of(g, k);
                let whole = mix(told, u64::from(self.weights[own]));
                self.next[g] = self.next[g].wrapping_add(mix(whole, 0));
            }
        }
        std::mem::swap(&mut self.colour, &mut self.next);
    }

    /// Whether groups of one colour are interchangeable.
    fn resolved(
        &mut self,
        (tables, index): (&Tables, &Index),
        quotient: &Quotient,
        state: &[i32],
    ) -> bool {
        let colour = &self.colour;
        self.tied.clear();
        self.tied.extend_from_slice(&self.some);
        self.tied.sort_unstable_by_key(|g| colour[*g as usize]);
        let mut ties = self
            .tied
            .chunk_by(|a, b| colour[*a as usize] == colour[*b as usize]);
        ties.all(|ties| {
            ties[1..].iter().all(|g| {
                let (one, other) = (ties[0] as usize, *g as usize);
                self.block[one] == self.block[other]
                    && same_data((tables, index), quotient, (one, other), state)
                    && quotient.same_times(one, other)
            })
        })
    }

    /// The number of colours.
    fn count(&mut self) -> usize {
        self.sorted.clear();
        self.sorted
            .extend(self.some.iter().map(|g| self.colour[*g as usize]));
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.sorted.len()
    }

    fn words_of(&self, g: u32) -> &[u64] {
        let g = g as usize;
        &self.words[self.word_starts[g] as usize..self.word_starts[g + 1] as usize]
    }

    fn key(&self, g: u32) -> (u32, &[u64], u64) {
        (
            self.block[g as usize],
            self.words_of(g),
            self.colour[g as usize],
        )
    }

    /// Sorts the groups of each block.
    fn sort(&mut self) {
        let mut some = std::mem::take(&mut self.some);
        some.sort_by(|a, b| self.key(*a).cmp(&self.key(*b)));
        self.clocks_decided |= some.windows(2).any(|pair| {
            let [a, b] = [self.key(pair[0]), self.key(pair[1])];
            a.0 == b.0 && a.1.first() == b.1.first() && a != b
        });
        self.some = some;
    }

    /// Joins groups with the same key to classes: writes where each begins.
    fn classify(&mut self, folding: &Folding, quotient: &Quotient, out: &mut Folded) {
        out.starts.clear();
        self.cursor.clear();
        self.class.clear();
        self.class.resize(quotient.groups(), 0);
        let (mut at, mut last) = (0, None);
        for g in &self.some {
            let same = last.is_some_and(|last| self.key(last) == self.key(*g));
            if !same {
                out.starts.push(at);
                self.cursor.push(at);
            }
            self.class[*g as usize] = self.cursor.len() as u32 - 1;
            at += quotient.size(*g as usize);
            last = Some(*g);
        }
        debug_assert_eq!(at as usize, folding.order.len());
    }

    /// Writes the discrete part of the representative.
    fn write(
        &mut self,
        folding: &Folding,
        (tables, index): (&Tables, &Index),
        quotient: &Quotient,
        state: &mut [i32],
    ) {
        self.before.clear();
        self.before.extend_from_slice(state);
        let mut at = 0;
        for g in &self.some {
            let size = quotient.size(*g as usize);
            let block = self.block[*g as usize] as usize;
            let range = &folding.blocks[block];
            if range.len() > 1
                && let Some(leader) = quotient.leader_of(*g as usize)
            {
                let within = (at - range.start) as usize..(at + size - range.start) as usize;
                let data = folding.alone[leader].iter();
                for ((from, _), column) in data.zip(&folding.columns[block]) {
                    let value = self.before[*from as usize];
                    column[within.clone()]
                        .iter()
                        .for_each(|to| state[*to as usize] = value);
                }
            }
            at += size;
        }
        for (at, set, _) in &folding.held {
            let value = self.before[*at as usize];
            if let Some(node) = held(index, tables, *set, value) {
                // It is alone in its class.
                let class = self.class[quotient.group_of(node)];
                let image = folding.order[self.cursor[class as usize] as usize];
                let set = *set as usize;
                state[*at as usize] = tables.sets[set].first + (image - index.first[set]) as i32;
            }
        }
    }

    /// Writes the zone of the representative.
    fn fold(&mut self, folding: &Folding, quotient: &Quotient, out: &mut Folded) {
        self.spots.clear();
        self.spots
            .extend((0..folding.layout.common.len()).map(Spot::alone));
        let mut rest = &self.some[..];
        while let Some((first, more)) = rest.split_first() {
            let class = self.class[*first as usize];
            let count = more
                .iter()
                .take_while(|g| self.class[**g as usize] == class);
            let count = count.count();
            quotient.spots(*first as usize, 0, &mut self.spots);
            if quotient.size(*first as usize) > 1 {
                quotient.spots(*first as usize, 1, &mut self.spots);
            } else if count > 0 {
                quotient.spots(more[0] as usize, 0, &mut self.spots);
            }
            rest = &more[count..];
        }
        let dim = self.spots.len();
        out.reshape(dim);
        let rows = out.zone.raw_mut().chunks_exact_mut(dim);
        for (row, x) in rows.zip(&self.spots) {
            for (bound, y) in row.iter_mut().zip(&self.spots) {
                *bound = x.to(y, &quotient.zone);
            }
        }
    }

    /// Writes the permutation. Elements of a class are interchangeable, so any order will do.
    fn permute(
        &mut self,
        folding: &Folding,
        (tables, index): (&Tables, &Index),
        quotient: &Quotient,
        out: &mut Permutation,
    ) {
        out.0.resize(tables.sets.len(), Vec::new());
        for (images, set) in out.0.iter_mut().zip(&tables.sets) {
            images.resize(set.size, 0);
        }
        let mut set = 0;
        for node in 0..folding.order.len() {
            while index
                .first
                .get(set + 1)
                .is_some_and(|first| *first as usize <= node)
            {
                set += 1;
            }
            let cursor = &mut self.cursor[self.class[quotient.group_of(node)] as usize];
            let (first, image) = (index.first[set], folding.order[*cursor as usize]);
            *cursor += 1;
            out.0[set][node - first as usize] = (image - first) as u16;
        }
    }
}

/// Whether swapping the leaders of two groups fixes locations and cells.
fn same_data(
    (tables, index): (&Tables, &Index),
    quotient: &Quotient,
    (one, other): (usize, usize),
    state: &[i32],
) -> bool {
    let (Some(a), Some(b)) = (quotient.leader_of(one), quotient.leader_of(other)) else {
        return false;
    };
    let set = index.first.partition_point(|first| *first as usize <= a) - 1;
    let element = |node: usize| (node - index.first[set] as usize) as u16;
    stabiliser::same_data(tables, index, (set, element(a), element(b)), state)
}

/// The classes of a folded state, for conditions.
pub(crate) struct FoldedClasses<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) index: &'a Index,
    pub(crate) folding: &'a Folding,
    pub(crate) starts: &'a [u32],
}

impl crate::graph::Classes for FoldedClasses<'_> {
    /// Classes of the state with its zone are classes of the discrete state, perhaps smaller ones.
    fn discrete_classes(&self, _state: &[i32], alike: &mut Alike) {
        alike.clear();
        let mut leaders: Vec<Vec<u16>> = alike.classes.drain(..).map(|c| c.2).collect();
        self.folding.leaders(self.index, self.starts, &mut leaders);
        let sets = self.tables.sets.iter().zip(leaders);
        let classes = sets.map(|(set, leaders)| (set.id, set.first, leaders));
        alike.classes.extend(classes);
        alike.find_leaders();
    }
}
