//! Whether a search kept one state per orbit.
//!
//! `θ(π(q)) = θ(q)` is not enough for that: `Z ⊆ Z'` does not give `θ(Z) ⊆ θ(Z')`, so a zone may be kept although an image
//! of it lies in another one. Where the discrete state alone decides how elements are arranged, zones of one discrete
//! state are arranged alike and inclusion is seen. Where clocks decide, the stored zones are compared under every
//! exchange of the elements that the discrete state does not tell apart, as far as the budget goes; beyond it nothing is
//! claimed.
//!
//! The judgement is an afterthought of the run, so it must cost little: zones are loaded for one discrete state at a
//! time, only where there are several, and never more of them than the budget lets us compare.

use super::permutation::Permutation;
use super::representative::Representative;
use crate::program::Alike;
use crate::zone::{Relation, Zone};
use zonelens_interpreter::Limit;

/// Images that are compared altogether, in zones of few clocks.
const MOST_IMAGES: usize = 100_000;
/// Matrix entries that are compared altogether, which bounds the time for zones of many clocks.
const MOST_ENTRIES: usize = 200_000_000;
/// Bytes of zones that are loaded at once.
const MOST_BYTES: usize = 8 << 20;

/// Whether no stored state has an image in another one. `shared` gives the nodes of each discrete state that has several
/// zones, `load` the state and zone of a node.
pub fn one_per_orbit(
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

/// Whether no zone has an image inside another one; false if the budget ends.
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
