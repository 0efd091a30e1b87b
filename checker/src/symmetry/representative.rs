//! Representatives: elements are sorted by keys that do not depend on their names, then one permutation is applied.
//!
//! The key of an element starts from what is said of it alone (locations, cells, membership in variables, bounds of its
//! clocks) and is refined by how it relates to others (differences of clocks, cells over two elements, cells of one that
//! hold the other) until no class splits further. Elements that still tie are checked to be interchangeable; where
//! they are not, one is singled out and refinement goes on, which is sound but may depend on names.

use super::permutation::Permutation;
use super::tables::{Coordinate, Tables, position};
use crate::zone::bound::LE_ZERO;
use crate::zone::{Bound, Zone};

/// Rank and bounds of each clock of an element.
type ClockKey = Vec<(usize, Bound, Bound)>;

/// Finds representatives.
#[derive(Clone, Debug)]
pub struct Representative {
    tables: Tables,
    /// How often a tie had to be broken by name.
    pub broken_ties: u64,
}

fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 32)
}

impl Representative {
    /// For these tables.
    pub fn new(tables: Tables) -> Representative {
        Representative {
            tables,
            broken_ties: 0,
        }
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Replaces a state by its representative; gives the permutation that was applied.
    pub fn reduce(&mut self, state: &mut Vec<i32>, zone: &mut Zone) -> Permutation {
        let mut total = Permutation::identity(self.tables.sets.iter().map(|s| s.size));
        for set in 0..self.tables.sets.len() {
            let mut permutation = Permutation::identity(self.tables.sets.iter().map(|s| s.size));
            permutation.0[set] = self.order(set, state, zone);
            if !permutation.is_identity() {
                (*state, *zone) = self.tables.apply(&permutation, state, zone);
                total = permutation.after(&total);
            }
        }
        total
    }

    /// The images of the elements of a set: each block in the order of its keys.
    fn order(&mut self, set: usize, state: &[i32], zone: &Zone) -> Vec<u16> {
        let mut keys = self.own_keys(set, state, zone);
        let relations = self.relations(set, state, zone);
        let blocks = self.tables.sets[set].blocks.clone();
        // An element outside its block's permutations is its own class.
        for (e, key) in keys.iter_mut().enumerate() {
            let block = blocks.iter().position(|b| b.contains(&(e as u16)));
            *key = mix(*key, block.map_or(1000 + e as u64, |b| b as u64));
        }
        loop {
            refine(&mut keys, &relations);
            let Some(class) = self.unresolved(set, &keys, &blocks, state, zone) else {
                break;
            };
            // Not interchangeable, and nothing tells them apart: single one out.
            self.broken_ties += 1;
            keys[class as usize] = mix(keys[class as usize], 0x51);
        }
        // The order itself: what clocks say in an order that means something, because inclusion between zones of one
        // orbit is only seen when their elements are arranged alike.
        let (discrete, clocks) = self.sort_keys(set, state, zone);
        let mut images: Vec<u16> = (0..keys.len() as u16).collect();
        for block in &blocks {
            let mut sorted = block.clone();
            sorted.sort_by(|a, b| {
                let key = |e: u16| (discrete[e as usize], &clocks[e as usize], keys[e as usize]);
                key(*a).cmp(&key(*b))
            });
            for (place, element) in block.iter().zip(&sorted) {
                images[*element as usize] = *place;
            }
        }
        images
    }

    /// An element of a class of ties that are not all interchangeable.
    fn unresolved(
        &self,
        set: usize,
        keys: &[u64],
        blocks: &[Vec<u16>],
        state: &[i32],
        zone: &Zone,
    ) -> Option<u16> {
        for block in blocks {
            for (k, first) in block.iter().enumerate() {
                if block[..k]
                    .iter()
                    .any(|e| keys[*e as usize] == keys[*first as usize])
                {
                    continue;
                }
                let others = block[k + 1..]
                    .iter()
                    .filter(|e| keys[**e as usize] == keys[*first as usize]);
                for other in others {
                    if !self.interchangeable(set, *first, *other, state, zone) {
                        return Some(*first);
                    }
                }
            }
        }
        None
    }

    /// Whether swapping two elements leaves the state as it is.
    fn interchangeable(&self, set: usize, a: u16, b: u16, state: &[i32], zone: &Zone) -> bool {
        let tables = &self.tables;
        let moved = |coordinates: &[Coordinate], at: usize| {
            let mut to = at as i64;
            for c in coordinates.iter().filter(|c| c.set == set) {
                let image = if c.element == a {
                    b
                } else if c.element == b {
                    a
                } else {
                    continue;
                };
                to += c.stride * (i64::from(image) - i64::from(c.element));
            }
            to as usize
        };
        let first = tables.sets[set].first;
        let (va, vb) = (i32::from(a) + first, i32::from(b) + first);
        let value = |cell: usize| match state[cell] {
            v if tables.holds[cell] != Some(set) => v,
            v if v == va => vb,
            v if v == vb => va,
            v => v,
        };
        let cells = tables.cells.len();
        let same_cells = tables
            .cells
            .iter()
            .enumerate()
            .all(|(c, at)| state[moved(at, c)] == value(c));
        let mut processes = tables.processes.iter().enumerate();
        if !same_cells || !processes.all(|(p, at)| state[cells + moved(at, p)] == state[cells + p])
        {
            return false;
        }
        let target = |y: usize| {
            if y == 0 {
                0
            } else {
                moved(&tables.clocks[y - 1], y - 1) + 1
            }
        };
        (1..zone.dim()).all(|x| {
            let to = target(x);
            to == x
                || (0..zone.dim()).all(|y| {
                    let other = target(y);
                    zone.at(to, other) == zone.at(x, y) && zone.at(other, to) == zone.at(y, x)
                })
        })
    }

    /// For each set and element the least element it is interchangeable with: their swaps fix the state.
    pub fn classes(&self, state: &[i32], zone: &Zone) -> Vec<Vec<u16>> {
        let sets = self.tables.sets.iter().enumerate();
        sets.map(|(set, data)| {
            let keys = self.own_keys(set, state, zone);
            let mut class: Vec<u16> = (0..data.size as u16).collect();
            for block in &data.blocks {
                for (k, e) in block.iter().enumerate() {
                    let leader = block[..k].iter().find(|l| {
                        class[**l as usize] == **l
                            && keys[**l as usize] == keys[*e as usize]
                            && self.interchangeable(set, **l, *e, state, zone)
                    });
                    if let Some(leader) = leader {
                        class[*e as usize] = *leader;
                    }
                }
            }
            class
        })
        .collect()
    }

    /// For each element the key of its discrete part, and of its clocks in turn: rank among all clocks, bounds.
    fn sort_keys(&self, set: usize, state: &[i32], zone: &Zone) -> (Vec<u64>, Vec<ClockKey>) {
        let tables = &self.tables;
        let mut clocks = vec![Vec::new(); tables.sets[set].size];
        for (x, coordinates) in tables.clocks.iter().enumerate() {
            for own in coordinates.iter().filter(|k| k.set == set) {
                let rank = (1..zone.dim())
                    .filter(|y| zone.at(x + 1, *y) <= LE_ZERO)
                    .count();
                clocks[own.element as usize].push((rank, zone.at(0, x + 1), zone.at(x + 1, 0)));
            }
        }
        (self.discrete_keys(set, state), clocks)
    }

    /// Keys from what is said of each element alone.
    fn own_keys(&self, set: usize, state: &[i32], zone: &Zone) -> Vec<u64> {
        let tables = &self.tables;
        let mut keys = self.discrete_keys(set, state);
        for (x, coordinates) in tables.clocks.iter().enumerate() {
            for own in coordinates.iter().filter(|k| k.set == set) {
                let mut told = mix(zone.at(x + 1, 0) as u64, zone.at(0, x + 1) as u64);
                let global = tables
                    .clocks
                    .iter()
                    .enumerate()
                    .filter(|(_, other)| other.is_empty());
                for (y, _) in global {
                    told = mix(
                        told,
                        mix(zone.at(x + 1, y + 1) as u64, zone.at(y + 1, x + 1) as u64),
                    );
                }
                let key = &mut keys[own.element as usize];
                *key = key.wrapping_add(mix(position(x, coordinates) ^ 0x2_0000_0000, told));
            }
        }
        keys
    }

    /// Keys from locations and cells.
    fn discrete_keys(&self, set: usize, state: &[i32]) -> Vec<u64> {
        let tables = &self.tables;
        let cells = tables.cells.len();
        let mut keys = vec![0u64; tables.sets[set].size];
        let first = tables.sets[set].first;
        for (c, coordinates) in tables.cells.iter().enumerate() {
            let value = state[c];
            for own in coordinates.iter().filter(|k| k.set == set) {
                let told = match tables.holds[c] {
                    None => value as u64,
                    Some(s) if s == set => u64::from(value - first == i32::from(own.element)),
                    Some(_) => 0,
                };
                let key = &mut keys[own.element as usize];
                *key = key.wrapping_add(mix(position(c, coordinates), told));
            }
            // A variable of nobody (or of another set) that holds an element marks it.
            if tables.holds[c] == Some(set)
                && !coordinates.iter().any(|k| k.set == set)
                && let Ok(e) = usize::try_from(value - first)
                && let Some(key) = keys.get_mut(e)
            {
                *key = key.wrapping_add(mix(position(c, coordinates), 0x77));
            }
        }
        for (p, coordinates) in tables.processes.iter().enumerate() {
            for own in coordinates.iter().filter(|k| k.set == set) {
                let key = &mut keys[own.element as usize];
                let at = position(p, coordinates) ^ 0x1_0000_0000;
                *key = key.wrapping_add(mix(at, state[cells + p] as u64));
            }
        }
        keys
    }

    /// What relates each element to each other: `result[i * n + j]`.
    fn relations(&self, set: usize, state: &[i32], zone: &Zone) -> Vec<u64> {
        let tables = &self.tables;
        let n = tables.sets[set].size;
        let first = tables.sets[set].first;
        let mut relations = vec![0u64; n * n];
        let clocks: Vec<(usize, u16, u64)> = tables
            .clocks
            .iter()
            .enumerate()
            .flat_map(|(x, cs)| {
                let own = cs.iter().filter(|k| k.set == set);
                own.map(move |k| (x + 1, k.element, position(x, cs)))
            })
            .collect();
        for &(x, i, px) in &clocks {
            for &(y, j, py) in &clocks {
                if i != j {
                    let told = mix(mix(px, py), zone.at(x, y) as u64);
                    let relation = &mut relations[i as usize * n + j as usize];
                    *relation = relation.wrapping_add(told);
                }
            }
        }
        for (c, coordinates) in tables.cells.iter().enumerate() {
            let own: Vec<u16> = coordinates
                .iter()
                .filter(|k| k.set == set)
                .map(|k| k.element)
                .collect();
            let at = position(c, coordinates);
            for (k, i) in own.iter().enumerate() {
                for (l, j) in own.iter().enumerate().filter(|(_, j)| *j != i) {
                    let told = mix(
                        mix(at, (k * 8 + l) as u64),
                        if tables.holds[c].is_none() {
                            state[c] as u64
                        } else {
                            0
                        },
                    );
                    let relation = &mut relations[*i as usize * n + *j as usize];
                    *relation = relation.wrapping_add(told);
                }
                if tables.holds[c] == Some(set)
                    && let Ok(j) = usize::try_from(state[c] - first)
                    && j < n
                {
                    let relation = &mut relations[*i as usize * n + j];
                    *relation = relation.wrapping_add(mix(at, 0x99 + k as u64));
                }
            }
        }
        for (p, coordinates) in tables.processes.iter().enumerate() {
            let own: Vec<u16> = coordinates
                .iter()
                .filter(|k| k.set == set)
                .map(|k| k.element)
                .collect();
            for (k, i) in own.iter().enumerate() {
                for (l, j) in own.iter().enumerate().filter(|(_, j)| *j != i) {
                    let at = position(p, coordinates) ^ 0x3_0000_0000;
                    let told = mix(
                        mix(at, (k * 8 + l) as u64),
                        state[tables.cells.len() + p] as u64,
                    );
                    let relation = &mut relations[*i as usize * n + *j as usize];
                    *relation = relation.wrapping_add(told);
                }
            }
        }
        relations
    }
}

/// Refines keys by relations until the number of classes no longer grows.
fn refine(keys: &mut Vec<u64>, relations: &[u64]) {
    let n = keys.len();
    let count = |keys: &[u64]| {
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len()
    };
    let mut classes = count(keys);
    while classes < n {
        let mut next = keys.clone();
        for i in 0..n {
            let mut told = 0u64;
            for j in 0..n {
                if i != j {
                    told = told.wrapping_add(mix(
                        mix(keys[j], relations[i * n + j]),
                        relations[j * n + i],
                    ));
                }
            }
            next[i] = mix(keys[i], told);
        }
        let finer = count(&next);
        if finer <= classes {
            break;
        }
        *keys = next;
        classes = finer;
    }
}
