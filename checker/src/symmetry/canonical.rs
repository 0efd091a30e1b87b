//! Whether a search stored one state per orbit.
//!
//! `θ(π(q)) = θ(q)` is not enough for that: `Z ⊆ Z'` does not imply `θ(Z) ⊆ θ(Z')`, so a zone may
//! be stored although an image of it lies in another one. If the discrete state alone decides the
//! order of elements, all zones of one discrete state have the same order, and inclusion is
//! detected. If clocks decide, the stored zones are compared under every permutation of the
//! elements that the discrete state does not tell apart, within a budget; if the budget is not
//! enough, the result is false.
//!
//! This check runs after the search, so it must be cheap: zones are loaded for one discrete state
//! at a time, only if there are several, and never more of them than the budget allows to compare.

use super::permutation::Permutation;
use super::representative::Representative;
use crate::program::Alike;
use crate::zone::{Relation, Zone};
use zonelens_interpreter::Limit;

/// The most images that are compared in total, for zones with few clocks.
const MOST_IMAGES: usize = 100_000;
/// The most matrix entries that are compared in total, which bounds the time for zones with many
/// clocks.
const MOST_ENTRIES: usize = 200_000_000;
/// The most bytes of zones that are loaded at once.
const MOST_BYTES: usize = 8 << 20;

/// Whether no stored state has an image in another one. `shared` yields the nodes of each discrete
/// state that has several zones, `load` returns the state and zone of a node.
pub(crate) fn one_per_orbit(
    representative: &Representative,
    dim: usize,
    mut shared: impl Iterator<Item = Vec<u32>>,
    load: impl Fn(u32) -> (Vec<i32>, Zone),
    limit: Limit<'_>,
) -> bool {
    if !representative.clocks_decided || representative.broken_ties > 0 {
        return representative.broken_ties == 0;
    }
    let entries = (dim * dim).max(1);
    let mut budget = MOST_IMAGES.min(MOST_ENTRIES / entries);
    let most_zones = MOST_BYTES / (entries * std::mem::size_of::<i32>());
    shared.all(|nodes| {
        // Each zone has at least one image, itself, which is compared with all others.
        let pairs = nodes.len().saturating_mul(nodes.len() - 1);
        if pairs > budget || nodes.len() > most_zones || limit.is_over().is_some() {
            return false;
        }
        let (states, zones): (Vec<_>, Vec<_>) = nodes.into_iter().map(&load).unzip();
        let state = states.into_iter().next().unwrap_or_default();
        apart(representative, &state, &zones, &mut budget, limit)
    })
}

/// Whether no zone has an image inside another one; false if the budget is used up.
fn apart(
    representative: &Representative,
    state: &[i32],
    zones: &[Zone],
    budget: &mut usize,
    limit: Limit<'_>,
) -> bool {
    let coarse = coarse(representative, state);
    for (k, zone) in zones.iter().enumerate() {
        if limit.is_over().is_some() {
            return false;
        }
        let fine = representative.classes(state, zone);
        let mut images = Images {
            representative,
            coarse: &coarse,
            fine,
            found: Vec::new(),
            budget,
        };
        let sizes = representative.tables().sets.iter().map(|s| s.size);
        if !images.all(&mut Permutation::identity(sizes), 0, 0) {
            return false;
        }
        for permutation in images.found {
            let (moved, image) = representative.tables().apply(&permutation, state, zone);
            if moved != state {
                continue;
            }
            let others = zones.iter().enumerate().filter(|(j, _)| *j != k);
            let inside =
                |other: &Zone| matches!(image.relation(other), Relation::Equal | Relation::Subset);
            for (_, other) in others {
                if *budget == 0 || inside(other) {
                    return false;
                }
                *budget -= 1;
            }
        }
    }
    true
}

/// Classes such that every permutation that fixes the discrete state permutes elements only inside
/// them.
fn coarse(representative: &Representative, state: &[i32]) -> Vec<Vec<u16>> {
    if !representative.has_relations() {
        let mut alike = Alike::default();
        representative.discrete_classes(state, &mut alike);
        return alike.classes.into_iter().map(|c| c.2).collect();
    }
    // Elements that cells relate may be exchangeable together although not one by one.
    let sets = representative.tables().sets.iter();
    let blocks = sets.map(|set| {
        let mut class: Vec<u16> = (0..set.size as u16).collect();
        for block in &set.blocks {
            block.iter().for_each(|e| class[*e as usize] = block[0]);
        }
        class
    });
    blocks.collect()
}

/// The permutations of elements inside the classes of the discrete state that result in different
/// zones.
struct Images<'a> {
    representative: &'a Representative,
    /// The class in the discrete state, by set and element.
    coarse: &'a [Vec<u16>],
    /// The class in the state with its zone, by set and element.
    fine: Vec<Vec<u16>>,
    found: Vec<Permutation>,
    budget: &'a mut usize,
}

impl Images<'_> {
    /// Chooses the element for each position from `place` of `set` on; returns false if there are
    /// too many choices.
    fn all(&mut self, so_far: &mut Permutation, set: usize, place: usize) -> bool {
        let Some(data) = self.representative.tables().sets.get(set) else {
            if self.found.len() >= *self.budget {
                return false;
            }
            self.found.push(so_far.clone());
            return true;
        };
        if place == data.size {
            return self.all(so_far, set + 1, 0);
        }
        // Swaps elements so that each element of a class is at this position once, up to those that
        // the zone does not tell apart.
        let mut met: Vec<u16> = Vec::new();
        let class = self.coarse[set][place];
        for at in place..data.size {
            let element = so_far.0[set].iter().position(|e| *e as usize == at);
            let Some(element) = element else { return false };
            let fine = self.fine[set][element];
            if self.coarse[set][at] != class || met.contains(&fine) {
                continue;
            }
            met.push(fine);
            let there = so_far.0[set].iter().position(|e| *e as usize == place);
            let Some(there) = there else { return false };
            so_far.0[set].swap(element, there);
            let enough = self.all(so_far, set, place + 1);
            so_far.0[set].swap(element, there);
            if !enough {
                return false;
            }
        }
        true
    }
}
