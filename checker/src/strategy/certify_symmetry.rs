//! Certificates under symmetry: the action in the words of the checker, and the permutation after
//! which each successor is covered.
//!
//! The search stored one representative per orbit and took one step per class; every step is
//! computed again here. The permutation of a successor is that of its representative, computed as
//! in the search: from its abstracted zone. Nothing depends on its choice: if the stored zones do
//! not cover the image, there is no certificate under symmetry, and the query is searched again
//! without. The checker decides for itself whether the action is a symmetry; what it cannot show is
//! searched again, too.

use super::Run;
use crate::graph::Plain;
use crate::symmetry::{Permutation, Representative, Tables};
use crate::zone::Zone;
use zonelens_analysis::network::{Network, ScalarsetId, Shape};
use zonelens_certificate::{Action, Coordinate, Coordinates, Elements};

/// Finds the permutations of successors.
pub(super) struct Mover<'s> {
    plain: Plain<'s>,
    representative: Representative,
}

impl<'s> Mover<'s> {
    pub(super) fn new(plain: Plain<'s>, representative: Representative) -> Mover<'s> {
        Mover {
            plain,
            representative,
        }
    }

    /// The action, with the elements that the query names although they are permuted.
    pub(super) fn action(&self, run: &Run<'_>) -> Action {
        action(run, self.representative.tables())
    }

    /// The permutations that map the parts of a state to representatives, without repetition.
    pub(super) fn permutations(
        &mut self,
        state: &[i32],
        pieces: &[Zone],
    ) -> Result<Vec<Permutation>, String> {
        let mut own = state.to_vec();
        let abstracted = self.plain.abstracted(&mut own, &mut pieces.to_vec());
        abstracted.map_err(|_| "a clock bound exceeds the range of the arithmetic")?;
        let mut found = Vec::new();
        for mut zone in std::mem::take(&mut self.plain.pieces) {
            let permutation = self.representative.reduce(&mut state.to_vec(), &mut zone);
            if !found.contains(&permutation) {
                found.push(permutation);
            }
        }
        Ok(found)
    }

    /// The image of the parts of a state.
    pub(super) fn image(
        &self,
        by: &Permutation,
        state: &[i32],
        pieces: &[Zone],
    ) -> (Vec<i32>, Vec<Zone>) {
        let tables = self.representative.tables();
        let images = pieces.iter().map(|zone| tables.apply(by, state, zone));
        let (states, zones): (Vec<Vec<i32>>, Vec<Zone>) = images.unzip();
        (states.into_iter().next().unwrap_or_default(), zones)
    }
}

/// A permutation in the words of the checker.
pub(super) fn images(by: &Permutation) -> zonelens_certificate::Permutation {
    let of = |images: &Vec<u16>| images.iter().map(|e| u32::from(*e)).collect();
    by.0.iter().map(of).collect()
}

fn action(run: &Run<'_>, tables: &Tables) -> Action {
    let sets = tables.sets.iter().map(|set| Elements {
        first: set.first,
        size: set.size as u32,
        blocks: (set.blocks.iter())
            .map(|block| block.iter().map(|e| u32::from(*e)).collect())
            .collect(),
    });
    let named = run.query.named_elements.iter().filter_map(|(id, element)| {
        let set = tables.sets.iter().position(|set| set.id == *id)?;
        let mut blocks = tables.sets[set].blocks.iter().flatten();
        let moved = blocks.any(|e| u32::from(*e) == *element);
        moved.then_some((set, *element))
    });
    let coordinates = |table: &[Vec<crate::symmetry::Coordinate>]| -> Coordinates {
        let one = |c: &crate::symmetry::Coordinate| Coordinate {
            set: c.set,
            element: u32::from(c.element),
            stride: c.stride,
        };
        table
            .iter()
            .map(|own| own.iter().map(one).collect())
            .collect()
    };
    let mut named: Vec<(usize, u32)> = named.collect();
    named.sort_unstable();
    named.dedup();
    Action {
        sets: sets.collect(),
        named,
        holds: tables.holds.clone(),
        cells: coordinates(&tables.cells),
        clocks: coordinates(&tables.clocks),
        channels: channels(run.network, tables),
        processes: coordinates(&tables.processes),
    }
}

/// The coordinates of channels in arrays.
fn channels(network: &Network, tables: &Tables) -> Coordinates {
    let mut all = vec![Vec::new(); network.channels.len()];
    for variable in &network.variables {
        let mut at = variable.first_channel.index();
        collect(&variable.shape, tables, &mut Vec::new(), &mut at, &mut all);
    }
    all
}

fn collect(
    shape: &Shape,
    tables: &Tables,
    own: &mut Vec<Coordinate>,
    at: &mut usize,
    all: &mut Coordinates,
) {
    match shape {
        Shape::Int { .. } | Shape::Clock => {}
        Shape::Channel => {
            if let Some(place) = all.get_mut(*at) {
                place.clone_from(own);
            }
            *at += 1;
        }
        Shape::Array { index, element } => {
            let of = |id: ScalarsetId| tables.sets.iter().position(|set| set.id == id);
            let set = index.scalarset.and_then(of);
            let (_, _, channels) = element.counts();
            for k in 0..index.len {
                if let Some(set) = set {
                    own.push(Coordinate {
                        set,
                        element: k,
                        stride: i64::from(channels),
                    });
                }
                collect(element, tables, own, at, all);
                if set.is_some() {
                    own.pop();
                }
            }
        }
        Shape::Struct(fields) => {
            for (_, field) in fields {
                collect(field, tables, own, at, all);
            }
        }
    }
}
