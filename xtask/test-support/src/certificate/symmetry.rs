//! Images of the states of a certificate, and changes to what it says about symmetry.

use super::{Action, File, State, put, put_states, zones};
use crate::Rng;
use zonelens_analysis::network::Network;

/// Exchanges the images of two elements.
fn compose(moved: &mut Vec<(u64, u64)>, a: u64, b: u64) {
    let image = |e: u64| moved.iter().find(|m| m.0 == e).map_or(e, |m| m.1);
    let mut all: std::collections::BTreeMap<u64, u64> = moved.iter().copied().collect();
    let (x, y) = (image(a), image(b));
    all.insert(a, y);
    all.insert(b, x);
    *moved = all.into_iter().filter(|(e, i)| e != i).collect();
}

impl Action {
    /// All permutations within the blocks; `None` if there are more than `most`.
    fn permutations(&self, most: usize) -> Option<Vec<Vec<Vec<u64>>>> {
        let identity: Vec<Vec<u64>> = self.sets.iter().map(|s| (0..s.1).collect()).collect();
        let mut all = vec![identity];
        for (set, (_, _, blocks)) in self.sets.iter().enumerate() {
            for block in blocks {
                for (k, element) in block.iter().enumerate() {
                    // The element comes to the place of one of those before it.
                    let mut longer = Vec::new();
                    for by in &all {
                        for other in &block[..=k] {
                            let mut by = by.clone();
                            by[set].swap(*element as usize, *other as usize);
                            longer.push(by);
                        }
                    }
                    all = longer;
                    if all.len() > most {
                        return None;
                    }
                }
            }
        }
        Some(all)
    }

    fn image(&self, network: &Network, by: &[Vec<u64>], state: &State) -> State {
        let cells = network.cells.len();
        let (clocks, channels) = (network.clocks.len(), network.channels.len());
        let to = |at: usize, first: usize| {
            let own = self.coordinates.get(first + at).into_iter().flatten();
            let moves = own.map(|(set, e, stride)| {
                stride * (by[*set as usize][*e as usize] as i64 - *e as i64)
            });
            (at as i64 + moves.sum::<i64>()) as usize
        };
        let mut image = state.clone();
        for (c, value) in state.cells.iter().enumerate() {
            let set = self.holds.get(c).and_then(|h| (*h as usize).checked_sub(1));
            let value = value.map(|v| match set {
                Some(set) if (0..self.sets[set].1 as i64).contains(&(v - self.sets[set].0)) => {
                    self.sets[set].0 + by[set][(v - self.sets[set].0) as usize] as i64
                }
                _ => v,
            });
            image.cells[to(c, 0)] = value;
        }
        for (p, location) in state.locations.iter().enumerate() {
            image.locations[to(p, cells + clocks + channels)] = *location;
        }
        let clock = |x: usize| if x == 0 { 0 } else { to(x - 1, cells) + 1 };
        for zone in &mut image.zones {
            for (i, j, _) in zone.iter_mut() {
                (*i, *j) = (clock(*i), clock(*j));
            }
            zone.sort_unstable();
        }
        image
    }
}

impl File {
    /// The header and all images of the states under permutations within the blocks, as a
    /// certificate without symmetry whose initial state and records are missing; `None` if there
    /// are more than `most` permutations.
    pub fn expanded(&self, network: &Network, most: usize) -> Option<Vec<u8>> {
        let mut all: Vec<State> = Vec::new();
        for by in self.action.permutations(most)? {
            for state in &self.states {
                let image = self.action.image(network, &by, state);
                let same =
                    |s: &&mut State| s.locations == image.locations && s.cells == image.cells;
                match all.iter_mut().find(same) {
                    Some(known) => {
                        for zone in image.zones {
                            if !known.zones.contains(&zone) {
                                known.zones.push(zone);
                            }
                        }
                    }
                    None => all.push(image),
                }
            }
        }
        let mut out = self.head.clone();
        put(&mut out, all.len() as u64);
        put(&mut out, zones(&all) as u64);
        put(&mut out, 0);
        put_states(&mut out, network, &all);
        Some(out)
    }

    /// Makes one random change to what the certificate says about symmetry, and names it.
    pub fn change_symmetry(&mut self, rng: &mut Rng) -> &'static str {
        if self.action.sets.is_empty() || self.records.is_empty() {
            return "nothing";
        }
        let size = self.action.sets[0].1;
        match rng.below(8) {
            0..3 => {
                let record = rng.below(self.records.len());
                let entries = self.records[record].len();
                if entries == 0 {
                    return "nothing";
                }
                let (_, target) = &mut self.records[record][rng.below(entries)];
                let (a, b) = (
                    rng.below(size as usize) as u64,
                    rng.below(size as usize) as u64,
                );
                compose(&mut target.2[0], a, b);
                "a permutation swapped"
            }
            3 => {
                let blocks = &mut self.action.sets[0].2;
                let Some(block) = blocks.iter_mut().find(|b| !b.is_empty()) else {
                    return "nothing";
                };
                block.pop();
                "a block made smaller"
            }
            4 => {
                let blocks = &mut self.action.sets[0].2;
                let missing = (0..size).find(|e| !blocks.iter().flatten().any(|b| b == e));
                if let (Some(element), Some(block)) = (missing, blocks.first_mut()) {
                    block.push(element);
                    return "a block made larger";
                }
                if blocks.len() < 2 {
                    return "nothing";
                }
                let second = blocks.remove(1);
                blocks[0].extend(second);
                "two blocks made one"
            }
            5 => {
                let Some(holds) = self.action.holds.iter_mut().find(|_| rng.chance(40)) else {
                    return "nothing";
                };
                *holds = 1 - (*holds).min(1);
                "another type of a variable"
            }
            6 => {
                let mut all: Vec<&mut (u64, u64, i64)> =
                    self.action.coordinates.iter_mut().flatten().collect();
                if all.is_empty() {
                    return "nothing";
                }
                let at = rng.below(all.len());
                match rng.below(2) {
                    0 => all[at].1 = rng.below(size as usize) as u64,
                    _ => all[at].2 += i64::from(rng.range(-2, 2)),
                }
                "another element of a position"
            }
            _ => {
                self.action.named.clear();
                "no element named"
            }
        }
    }
}
