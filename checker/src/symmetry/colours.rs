//! Colours of elements: numbers that do not depend on names, refined until elements that differ
//! have different colours.
//!
//! The first colours are computed from the data of each element alone (locations, cells, variables
//! that hold it). A round of refinement adds the relations of an element to others: cells over
//! several elements, cells of one that hold another, and the bounds between clocks, each with the
//! colours of the others. Colours are hashes, so two elements that differ may have the same one;
//! [`super::stabiliser`] checks exactly.

use super::index::{Index, Tuple};
use super::matrix::Matrix;
use super::tables::Tables;

/// The colours of all nodes, with the buffers to refine them.
#[derive(Clone, Debug, Default)]
pub(super) struct Colours {
    /// The colours by node.
    pub of: Vec<u64>,
    next: Vec<u64>,
    sorted: Vec<u64>,
    weights: Vec<u32>,
    columns: Vec<u32>,
}

pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 32)
}

/// Marks an element that is held by a variable that belongs to no element.
pub(super) const HELD: u64 = 0x77;

impl Colours {
    /// Computes the first colours, from locations and cells that concern one element each.
    pub(super) fn start(&mut self, index: &Index, tables: &Tables, state: &[i32]) {
        self.of.clear();
        self.of.extend_from_slice(&index.block);
        for tuple in &index.unary {
            let value = state[tuple.at as usize];
            match (tuple.holds, &tuple.nodes[..]) {
                (None, [node]) => {
                    let colour = &mut self.of[*node as usize];
                    *colour = colour.wrapping_add(mix(tuple.label, value as u64));
                }
                (Some(set), []) => {
                    if let Some(node) = held(index, tables, set, value) {
                        let colour = &mut self.of[node];
                        *colour = colour.wrapping_add(mix(tuple.label, HELD));
                    }
                }
                _ => {}
            }
        }
        if !index.relational.is_empty() {
            self.relate(index, tables, state);
        }
    }

    /// Performs one round over everything that relates elements.
    pub(super) fn refine(
        &mut self,
        index: &Index,
        tables: &Tables,
        state: &[i32],
        zone: &impl Matrix,
    ) {
        self.time(index, zone);
        self.relate_only(index, tables, state);
    }

    /// Performs one round without clocks.
    pub(super) fn relate_only(&mut self, index: &Index, tables: &Tables, state: &[i32]) {
        if !index.relational.is_empty() {
            self.relate(index, tables, state);
        }
    }

    /// The number of different colours.
    pub(super) fn count(&mut self) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.of);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.sorted.len()
    }

    /// Performs a round over cells and locations of several elements.
    fn relate(&mut self, index: &Index, tables: &Tables, state: &[i32]) {
        self.next.clear();
        self.next.resize(self.of.len(), 0);
        for tuple in &index.relational {
            let value = state[tuple.at as usize];
            let (told, target) = match tuple.holds {
                None => (value as u64, None),
                // A value outside the set is the same for all elements.
                Some(set) => match held(index, tables, set, value) {
                    Some(node) => (0, Some(node)),
                    None => (value as u64 | 1 << 40, None),
                },
            };
            let whole = self.pattern(tuple, target, mix(tuple.label, told));
            let ends = tuple.nodes.iter().map(|n| *n as usize).chain(target);
            for (place, node) in ends.enumerate() {
                self.next[node] = self.next[node].wrapping_add(mix(whole, place as u64));
            }
        }
        for (colour, told) in self.of.iter_mut().zip(&self.next) {
            *colour = mix(*colour, *told);
        }
    }

    /// A tuple without names: its label, the colours of its nodes, and which of them are equal.
    fn pattern(&self, tuple: &Tuple, target: Option<usize>, label: u64) -> u64 {
        let mut whole = label;
        let ends = || tuple.nodes.iter().map(|n| *n as usize).chain(target);
        for (place, node) in ends().enumerate() {
            let same = ends().position(|n| n == node).unwrap_or(place);
            whole = mix(whole, self.of[node].wrapping_add(same as u64));
        }
        whole
    }

    /// Performs a round over the bounds between clocks.
    fn time(&mut self, index: &Index, zone: &impl Matrix) {
        if zone.dim() < 2 {
            return;
        }
        self.weights.clear();
        self.weights.push(0x5bd1_e995);
        for clock in &index.clocks {
            let weight = if clock.nodes.is_empty() {
                mix(clock.label, 1)
            } else {
                self.pattern(clock, None, clock.label)
            };
            self.weights.push((weight ^ weight >> 32) as u32);
        }
        zone.sums(&self.weights, &mut self.next, &mut self.columns);
        for clock in &index.clocks {
            let x = clock.at as usize;
            let told = self.next[x] << 32 | u64::from(self.columns[x]);
            let whole = mix(told, u64::from(self.weights[x]));
            for (place, node) in clock.nodes.iter().enumerate() {
                let colour = &mut self.of[*node as usize];
                *colour = colour.wrapping_add(mix(whole, place as u64));
            }
        }
    }
}

/// The node that a cell holds.
pub(super) fn held(index: &Index, tables: &Tables, set: u32, value: i32) -> Option<usize> {
    let data = &tables.sets[set as usize];
    let element = usize::try_from(value.checked_sub(data.first)?).ok()?;
    (element < data.size).then(|| index.first[set as usize] as usize + element)
}

/// The order of elements: first a discrete colour; then clock data in a meaningful order (rank
/// among all clocks, bounds), because inclusion between zones of one orbit is detected only if
/// their elements are in the same order; then the final colour.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrangement {
    words: Vec<u64>,
    starts: Vec<u32>,
    ranks: Vec<u32>,
}

impl Arrangement {
    /// Computes the order from the first colours of a state and its zone.
    pub(super) fn load(&mut self, index: &Index, first: &[u64], zone: &impl Matrix) {
        zone.ranks(&mut self.ranks);
        self.words.clear();
        self.starts.clear();
        for (own, colour) in index.own.iter().zip(first) {
            self.starts.push(self.words.len() as u32);
            self.words.push(*colour);
            for x in &own.alone {
                let x = *x as usize;
                let ordered = |b: i32| u64::from(b as u32 ^ 0x8000_0000);
                self.words
                    .push(u64::from(self.ranks[x]) << 32 | ordered(zone.single(0, x)));
                self.words.push(ordered(zone.single(x, 0)));
            }
        }
        self.starts.push(self.words.len() as u32);
    }

    /// Computes the order from the first colours alone.
    pub(super) fn load_discrete(&mut self, first: &[u64]) {
        self.words.clear();
        self.words.extend_from_slice(first);
        self.starts.clear();
        self.starts.extend(0..=first.len() as u32);
    }

    /// The words that a node is sorted by.
    pub(super) fn of(&self, node: usize) -> &[u64] {
        &self.words[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}
