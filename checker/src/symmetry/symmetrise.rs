//! Queries that name elements, evaluated for whole orbits.
//!
//! If every permutation fixes the initial state, the set of reachable states consists of whole
//! orbits, so `E<> φ` holds iff some reachable representative has an image where φ holds.
//! Permutations that fix the elements named in φ do not change its value, so it is enough to try
//! all assignments of elements to these positions, one element per class, position by position.

use super::permutation::Permutation;
use super::representative::Representative;
use super::stabiliser;
use crate::graph::Visitor;
use crate::program::Fault;
use crate::zone::{Lazy, Zone};

pub(crate) use zonelens_analysis::network::MOST_NAMED;

/// Evaluates a condition on all images of a state.
pub(crate) struct Symmetrised<V> {
    goal: V,
    representative: Representative,
    /// The elements that the condition names, by set.
    named: Vec<(usize, u16)>,
    /// The permutation that maps the state found to one where the condition itself holds.
    pub found: Option<Permutation>,
}

/// Whether every permutation fixes a state.
pub(crate) fn is_invariant(representative: &Representative, state: &[i32], zone: &Zone) -> bool {
    let (tables, index) = (representative.tables(), representative.index());
    tables.sets.iter().enumerate().all(|(set, data)| {
        let mut pairs = data.blocks.iter().flat_map(|b| b.windows(2));
        pairs.all(|p| stabiliser::interchangeable(tables, index, (set, p[0], p[1]), state, zone))
    })
}

impl<V: Visitor> Symmetrised<V> {
    /// Evaluates the condition of `goal`, which names these elements.
    pub(crate) fn new(
        goal: V,
        representative: Representative,
        named: Vec<(usize, u16)>,
    ) -> Symmetrised<V> {
        Symmetrised {
            goal,
            representative,
            named,
            found: None,
        }
    }

    /// Tries every element at the positions from `at` on; `so_far` maps the representative to
    /// `state`.
    fn try_from(
        &mut self,
        at: usize,
        state: &[i32],
        zone: &Zone,
        so_far: &Permutation,
        node: u32,
    ) -> Result<bool, Fault> {
        let Some(&(set, place)) = self.named.get(at) else {
            let found = self
                .goal
                .visit(&mut state.to_vec(), &Lazy::from(zone), node)?;
            if found {
                self.found = Some(so_far.clone());
            }
            return Ok(found);
        };
        let blocks = &self.representative.tables().sets[set].blocks;
        // An element outside all classes is never moved.
        let block = blocks.iter().find(|b| b.contains(&place));
        let candidates = block.cloned().unwrap_or(vec![place]);
        let classes = self.representative.classes(state, zone);
        let mut met = Vec::new();
        for element in candidates {
            let class = classes[set][element as usize];
            if self.named[..at].contains(&(set, element)) || met.contains(&class) {
                continue;
            }
            met.push(class);
            let sizes = self.representative.tables().sets.iter().map(|s| s.size);
            let mut swap = Permutation::identity(sizes);
            swap.0[set].swap(element as usize, place as usize);
            let (moved, image) = self.representative.tables().apply(&swap, state, zone);
            if self.try_from(at + 1, &moved, &image, &swap.after(so_far), node)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<V: Visitor> Visitor for Symmetrised<V> {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, node: u32) -> Result<bool, Fault> {
        let sizes = self.representative.tables().sets.iter().map(|s| s.size);
        let none = Permutation::identity(sizes);
        self.try_from(0, state, zone, &none, node)
    }
}
