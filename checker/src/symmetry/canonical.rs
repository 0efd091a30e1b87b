//! Whether a search kept one state per orbit.
//!
//! `θ(π(q)) = θ(q)` is not enough for that: `Z ⊆ Z'` does not give `θ(Z) ⊆ θ(Z')`, so a zone may be kept although an image
//! of it lies in another one. Where the discrete state alone decides how elements are arranged, zones of one discrete
//! state are arranged alike and inclusion is seen. Where clocks decide, the stored zones are compared under every
//! exchange of the elements that the discrete state does not tell apart, as far as the budget goes; beyond it nothing is
//! claimed.

use super::permutation::Permutation;
use super::representative::Representative;
use crate::program::Alike;
use crate::zone::{Relation, Zone};
use rustc_hash::FxHashMap;

/// Images that are compared altogether.
const BUDGET: usize = 100_000;
/// States that are looked at.
const MOST_STATES: u64 = 200_000;

/// Whether no stored state has an image in another one.
pub fn one_per_orbit(
    representative: &Representative,
    stored: u64,
    states: impl Iterator<Item = (Vec<i32>, Zone)>,
) -> bool {
    if representative.broken_ties > 0 {
        return false;
    }
    if !representative.clocks_decided {
        return true;
    }
    if stored > MOST_STATES {
        return false;
    }
    let mut budget = BUDGET;
    let mut by_state: FxHashMap<Vec<i32>, Vec<Zone>> = FxHashMap::default();
    for (state, zone) in states {
        by_state.entry(state).or_default().push(zone);
    }
    by_state
        .into_iter()
        .all(|(state, zones)| zones.len() < 2 || apart(representative, &state, &zones, &mut budget))
}

/// Whether no zone has an image inside another one; false if the budget ends.
fn apart(
    representative: &Representative,
    state: &[i32],
    zones: &[Zone],
    budget: &mut usize,
) -> bool {
    let coarse = coarse(representative, state);
    for (k, zone) in zones.iter().enumerate() {
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

/// Classes such that every permutation that fixes the discrete state exchanges elements inside them.
fn coarse(representative: &Representative, state: &[i32]) -> Vec<Vec<u16>> {
    if !representative.has_relations() {
        let mut alike = Alike::default();
        representative.discrete_classes(state, &mut alike);
        return alike.classes.into_iter().map(|c| c.2).collect();
    }
    // Elements that cells relate may be exchanged together though not one by one.
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

/// The ways to exchange elements inside the classes of the discrete state that give different zones.
struct Images<'a> {
    representative: &'a Representative,
    /// By set and element, the class in the discrete state.
    coarse: &'a [Vec<u16>],
    /// The class in the state with its zone.
    fine: Vec<Vec<u16>>,
    found: Vec<Permutation>,
    budget: &'a mut usize,
}

impl Images<'_> {
    /// Chooses what comes to each place from `place` of `set` on; false if there are too many ways.
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
        // Swaps elements so that each of a class comes to this place once, up to those that the zone does not tell
        // apart.
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
