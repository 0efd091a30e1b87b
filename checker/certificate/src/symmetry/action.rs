//! The action that a certificate names: which positions belong to which elements, and what a
//! permutation of elements does to a state.
//!
//! A cell, clock, channel or process has *coordinates*: a set, an element, and the distance to the
//! same thing of the next element. Its image under a permutation is a sum over its coordinates.
//! [`Action::check`] shows that each swap of neighbours maps a position to one with the same
//! coordinates, except for the elements, which are swapped. Images under products of swaps are
//! therefore images of images: permutations within the blocks act as a group.

use crate::eval::State;
use crate::zone::Zone;
use zonelens_analysis::network::{Cell, Id, Network};

/// The images of the elements of each set; empty if nothing is moved.
pub type Permutation = Vec<Vec<u32>>;

/// A set of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The value of element 0 in cells.
    pub first: i32,
    /// The number of elements.
    pub size: u32,
    /// The blocks within which elements may be permuted.
    pub blocks: Vec<Vec<u32>>,
}

/// One of the elements that a position belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The number of the set.
    pub set: usize,
    /// The element.
    pub element: u32,
    /// The distance to the same position of the next element.
    pub stride: i64,
}

/// The elements that each position belongs to.
pub type Coordinates = Vec<Vec<Coordinate>>;

/// How permutations of elements act on states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// The sets of elements; none if there is no symmetry.
    pub sets: Vec<Elements>,
    /// The elements that the query names and that are permuted nevertheless, with their sets.
    pub named: Vec<(usize, u32)>,
    /// For each cell, the set whose elements it holds.
    pub holds: Vec<Option<usize>>,
    /// The coordinates of cells.
    pub cells: Coordinates,
    /// The coordinates of clocks.
    pub clocks: Coordinates,
    /// The coordinates of channels.
    pub channels: Coordinates,
    /// The coordinates of processes.
    pub processes: Coordinates,
}

/// The exchange of two neighbours of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swap {
    pub set: usize,
    pub pair: (u32, u32),
}

impl Swap {
    fn element(self, set: usize, element: u32) -> u32 {
        match self.pair {
            (a, b) if set == self.set && element == a => b,
            (a, b) if set == self.set && element == b => a,
            _ => element,
        }
    }
}

fn image(at: usize, coordinates: &[Coordinate], of: impl Fn(usize, u32) -> u32) -> Option<usize> {
    let mut to = at as i64;
    for c in coordinates {
        let distance = i64::from(of(c.set, c.element)) - i64::from(c.element);
        to = to.checked_add(c.stride.checked_mul(distance)?)?;
    }
    usize::try_from(to).ok()
}

impl Action {
    /// Whether nothing is permuted.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// All swaps of neighbours within blocks.
    pub(crate) fn swaps(&self) -> Vec<Swap> {
        let mut swaps = Vec::new();
        for (set, elements) in self.sets.iter().enumerate() {
            let pairs = elements.blocks.iter().flat_map(|b| b.windows(2));
            swaps.extend(pairs.map(|pair| Swap {
                set,
                pair: (pair[0], pair[1]),
            }));
        }
        swaps
    }

    /// Swaps that fix all named elements and generate all permutations that do.
    pub(crate) fn swaps_of_others(&self) -> Vec<Swap> {
        let mut others = self.clone();
        for (set, elements) in others.sets.iter_mut().enumerate() {
            for block in &mut elements.blocks {
                block.retain(|e| !self.named.contains(&(set, *e)));
            }
        }
        others.swaps()
    }

    /// Whether the tables fit the network, and swaps map positions to positions of the same
    /// coordinates and ranges.
    pub(crate) fn check(&self, network: &Network) -> Result<(), String> {
        let tables = [
            ("cells", &self.cells, network.cells.len()),
            ("clocks", &self.clocks, network.clocks.len()),
            ("channels", &self.channels, network.channels.len()),
            ("processes", &self.processes, network.processes.len()),
        ];
        for (name, table, count) in tables {
            if table.len() != count {
                return Err(format!("the action is not one of its {name}"));
            }
            let fits = |c: &Coordinate| {
                (self.sets.get(c.set)).is_some_and(|set| c.element < set.size)
                    && c.stride != 0
                    && c.stride.unsigned_abs() <= 1 << 32
            };
            if !table.iter().flatten().all(fits) {
                return Err(format!("an element of one of the {name} does not exist"));
            }
            for swap in self.swaps() {
                let of = |set, element| swap.element(set, element);
                for (at, own) in table.iter().enumerate() {
                    let swapped = own.iter().map(|c| Coordinate {
                        element: of(c.set, c.element),
                        ..*c
                    });
                    let to = image(at, own, of).and_then(|to| table.get(to));
                    if !to.is_some_and(|to| swapped.eq(to.iter().copied())) {
                        return Err(format!("it is no permutation of the {name}"));
                    }
                }
            }
        }
        let sets = self.sets.len();
        if self.holds.len() != network.cells.len()
            || self.holds.iter().flatten().any(|set| *set >= sets)
        {
            return Err("the action is not one of its cells".into());
        }
        for swap in self.swaps() {
            for (at, own) in self.cells.iter().enumerate() {
                let to = image(at, own, |s, e| swap.element(s, e)).unwrap_or(at);
                let range = |cell: &Cell| (cell.lo, cell.hi);
                let (from, into) = (&network.cells[Id::at(at)], &network.cells[Id::at(to)]);
                if range(from) != range(into) || self.holds[at] != self.holds[to] {
                    return Err("it maps a variable to one of another type".into());
                }
                if !self.is_closed(swap, self.holds[at], range(from)) {
                    return Err("a variable can hold some elements of a block only".into());
                }
            }
        }
        Ok(())
    }

    /// Whether a range contains both elements of a swap or neither.
    pub(crate) fn is_closed(&self, swap: Swap, set: Option<usize>, (lo, hi): (i32, i32)) -> bool {
        let Some(set) = set.filter(|set| *set == swap.set) else {
            return true;
        };
        let first = i64::from(self.sets[set].first);
        let contains = |e: u32| (i64::from(lo)..=i64::from(hi)).contains(&(first + i64::from(e)));
        contains(swap.pair.0) == contains(swap.pair.1)
    }

    /// The image of a value of a set; a value outside the set is fixed.
    fn value_by(&self, set: Option<usize>, value: i32, of: impl Fn(usize, u32) -> u32) -> i32 {
        let Some(set) = set else {
            return value;
        };
        let (first, size) = (i64::from(self.sets[set].first), self.sets[set].size);
        let element = i64::from(value) - first;
        match (0..i64::from(size)).contains(&element) {
            true => (first + i64::from(of(set, element as u32))) as i32,
            false => value,
        }
    }

    /// The image of a value under a swap.
    pub(crate) fn swapped(&self, swap: Swap, set: Option<usize>, value: i32) -> i32 {
        self.value_by(set, value, |s, e| swap.element(s, e))
    }

    /// The image of a position under a swap.
    pub(crate) fn moved(swap: Swap, table: &Coordinates, at: usize) -> Option<usize> {
        image(at, table.get(at)?, |s, e| swap.element(s, e))
    }

    /// The image of a state.
    pub(crate) fn state(&self, by: &Permutation, state: &State) -> State {
        if by.is_empty() {
            return state.clone();
        }
        let of = |set: usize, element: u32| by[set][element as usize];
        let mut moved = state.clone();
        for (at, value) in state.cells.iter().enumerate() {
            if let Some(to) = image(at, &self.cells[at], of) {
                moved.cells[to] = value.map(|v| self.value_by(self.holds[at], v, of));
            }
        }
        for (at, location) in state.locations.iter().enumerate() {
            if let Some(to) = image(at, &self.processes[at], of) {
                moved.locations[to] = *location;
            }
        }
        moved
    }

    /// The image of zones.
    pub(crate) fn zones(&self, by: &Permutation, zones: Vec<Zone>) -> Vec<Zone> {
        if by.is_empty() {
            return zones;
        }
        let of = |set: usize, element: u32| by[set][element as usize];
        let clocks = self.clocks.iter().enumerate();
        let images: Vec<usize> = clocks
            .map(|(at, own)| image(at, own, of).unwrap_or(at))
            .collect();
        zones.iter().map(|zone| zone.renamed(&images)).collect()
    }

    /// Permutations such that a condition that names elements, but is not changed by permutations
    /// that fix them, holds for all images of a state if it holds for its images under these: one
    /// for each assignment of elements to the named ones. `None` if there are more than `most`.
    pub(crate) fn assignments(&self, most: usize) -> Option<Vec<Permutation>> {
        let block_of = |(set, element): (usize, u32)| {
            let blocks = self.sets[set].blocks.iter();
            blocks.into_iter().find(|b| b.contains(&element))
        };
        let moved: Vec<(usize, u32)> = (self.named.iter().copied())
            .filter(|named| block_of(*named).is_some())
            .collect();
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new()];
        for (k, named) in moved.iter().enumerate() {
            let mut longer = Vec::new();
            for choice in chosen {
                for element in block_of(*named).into_iter().flatten() {
                    let taken = (0..k).any(|j| moved[j].0 == named.0 && choice[j] == *element);
                    if !taken {
                        longer.push([choice.as_slice(), &[*element]].concat());
                    }
                }
            }
            if longer.len() > most {
                return None;
            }
            chosen = longer;
        }
        let all = chosen.into_iter().map(|choice| {
            let identity = self.sets.iter().map(|set| (0..set.size).collect());
            let mut by: Permutation = identity.collect();
            for (set, elements) in self.sets.iter().enumerate() {
                for block in &elements.blocks {
                    // The chosen elements go to the named ones, the others to the others in order.
                    let here = moved.iter().zip(&choice);
                    let here = here.filter(|((s, n), _)| *s == set && block.contains(n));
                    let pairs: Vec<(u32, u32)> = here.map(|((_, n), e)| (*e, *n)).collect();
                    let from = block.iter().filter(|e| !pairs.iter().any(|p| p.0 == **e));
                    let to = block.iter().filter(|e| !pairs.iter().any(|p| p.1 == **e));
                    let others = from.zip(to).map(|(from, to)| (*from, *to));
                    for (from, to) in others.chain(pairs.iter().copied()) {
                        by[set][from as usize] = to;
                    }
                }
            }
            by
        });
        Some(all.collect())
    }

    /// Whether a permutation is one of all sets and stays within the blocks.
    pub(crate) fn allows(&self, by: &Permutation) -> bool {
        let allowed = |(elements, images): (&Elements, &Vec<u32>)| {
            let mut met = vec![false; elements.size as usize];
            let block_of = |e: u32| elements.blocks.iter().position(|b| b.contains(&e));
            images.len() == met.len()
                && images.iter().enumerate().all(|(from, to)| {
                    let from = from as u32;
                    let fresh = met.get(*to as usize) == Some(&false);
                    if fresh {
                        met[*to as usize] = true;
                    }
                    fresh
                        && (from == *to || block_of(from).is_some_and(|b| block_of(*to) == Some(b)))
                })
        };
        by.is_empty() || by.len() == self.sets.len() && self.sets.iter().zip(by).all(allowed)
    }
}
