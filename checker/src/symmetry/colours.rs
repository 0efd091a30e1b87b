//! Colours of elements: numbers that do not depend on names, refined until elements that differ are told apart.
//!
//! The first colours come from what is said of each element alone (locations, cells, variables that hold it). A round of
//! refinement adds how an element relates to others: cells over several elements, cells of one that hold another, and
//! the bounds between clocks, each with the colours of the others. Colours are hashes, so two elements that differ may
//! share one; whoever needs certainty checks [`super::stabiliser`].

use super::index::{Index, Tuple};
use super::matrix::Matrix;
use super::tables::Tables;

/// Colours of all nodes, with the buffers to refine them.
#[derive(Clone, Debug, Default)]
pub struct Colours {
    /// By node.
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

/// Says of an element that a variable of nobody holds it.
const HELD: u64 = 0x77;

impl Colours {
    /// The colours from locations and cells that speak of one element each.
    pub fn start(&mut self, index: &Index, tables: &Tables, state: &[i32]) {
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

    /// One round over everything that relates elements.
    pub fn refine(&mut self, index: &Index, tables: &Tables, state: &[i32], zone: &impl Matrix) {
        self.time(index, zone);
        self.relate_only(index, tables, state);
    }

    /// The same without clocks.
    pub fn relate_only(&mut self, index: &Index, tables: &Tables, state: &[i32]) {
        if !index.relational.is_empty() {
            self.relate(index, tables, state);
        }
    }

    /// Number of different colours.
    pub fn count(&mut self) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.of);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.sorted.len()
    }

    /// A round over cells and locations of several elements.
    fn relate(&mut self, index: &Index, tables: &Tables, state: &[i32]) {
        self.next.clear();
        self.next.resize(self.of.len(), 0);
        for tuple in &index.relational {
            let value = state[tuple.at as usize];
            let (told, target) = match tuple.holds {
                None => (value as u64, None),
                // A value outside the set is the same for everybody.
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

    /// A tuple as seen from outside: its label, the colours of its nodes and which of them are the same.
    fn pattern(&self, tuple: &Tuple, target: Option<usize>, label: u64) -> u64 {
        let mut whole = label;
        let ends = || tuple.nodes.iter().map(|n| *n as usize).chain(target);
        for (place, node) in ends().enumerate() {
            let same = ends().position(|n| n == node).unwrap_or(place);
            whole = mix(whole, self.of[node].wrapping_add(same as u64));
        }
        whole
    }

    /// A round over the bounds between clocks.
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
fn held(index: &Index, tables: &Tables, set: u32, value: i32) -> Option<usize> {
    let data = &tables.sets[set as usize];
    let element = usize::try_from(value.checked_sub(data.first)?).ok()?;
    (element < data.size).then(|| index.first[set as usize] as usize + element)
}

/// The order in which elements are arranged: a discrete colour, then what clocks say in an order that means something
/// (rank among all clocks, bounds), because inclusion between zones of one orbit is only seen when their elements are
/// arranged alike; then the final colour.
#[derive(Clone, Debug, Default)]
pub struct Arrangement {
    words: Vec<u64>,
    starts: Vec<u32>,
    ranks: Vec<u32>,
}

impl Arrangement {
    /// From the first colours of a state and its zone.
    pub fn load(&mut self, index: &Index, first: &[u64], zone: &impl Matrix) {
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

    /// From the first colours alone.
    pub fn load_discrete(&mut self, first: &[u64]) {
        self.words.clear();
        self.words.extend_from_slice(first);
        self.starts.clear();
        self.starts.extend(0..=first.len() as u32);
    }

    /// The words of a node.
    pub fn of(&self, node: usize) -> &[u64] {
        &self.words[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}
