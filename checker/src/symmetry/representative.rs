//! Representatives: elements are sorted by colours that do not depend on their names, then one
//! permutation is applied.
//!
//! Elements with the same colour are checked to be interchangeable; if they are, any order results
//! in the same state. If they are not, refinement continues, and where it ends, each element in
//! turn is singled out and refined again, and the least of the resulting states is taken
//! (individualisation and refinement, as in McKay's *Practical graph isomorphism*, 1981). The
//! result is canonical as long as the budget lasts; after that, the first element is singled out by
//! name, which is sound but not canonical, and counted.
//!
//! If zones of one discrete state are joined to hulls, the discrete state alone decides the order,
//! because the clocks of one zone say nothing about the hull that contains it. This is sound for
//! the same reason: the hull over representatives contains a point of the orbit of every reachable
//! state.

use super::colours::{Arrangement, Colours, mix};
use super::folding::{Folding, Groups};
use super::index::Index;
use super::matrix::Matrix;
use super::permutation::Permutation;
use super::quotient::Quotient;
use super::stabiliser;
use super::tables::Tables;
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstractor;
use crate::program::{Alike, Program};
use crate::zone::{Folded, Zone};

/// Computes representatives.
#[derive(Clone, Debug)]
pub(crate) struct Representative {
    tables: Tables,
    index: Index,
    /// How often a tie was broken by name.
    pub broken_ties: u64,
    /// Whether clocks decided the order of elements that the discrete state does not tell apart.
    pub clocks_decided: bool,
    /// Whether clocks are used for the order of elements.
    by_clocks: bool,
    colours: Colours,
    arrangement: Arrangement,
    scratch: Scratch,
    groups: Groups,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    state: Vec<i32>,
    zone: Vec<i32>,
    sources: Vec<u32>,
}

/// How many times a state may be refined before ties are broken by name.
const BUDGET: u32 = 256;

/// The least image found so far.
struct Least {
    budget: u32,
    cut: bool,
    found: Option<(Vec<i32>, Zone, Permutation)>,
}

impl Representative {
    /// Creates it for these tables.
    pub(crate) fn new(tables: Tables) -> Representative {
        Representative {
            index: Index::new(&tables),
            tables,
            broken_ties: 0,
            clocks_decided: false,
            by_clocks: true,
            colours: Colours::default(),
            arrangement: Arrangement::default(),
            scratch: Scratch::default(),
            groups: Groups::default(),
        }
    }

    /// Orders elements by the discrete state alone.
    pub(crate) fn without_clocks(self) -> Representative {
        Representative {
            by_clocks: false,
            ..self
        }
    }

    /// The permutation that sorts elements by the discrete state; elements that it does not tell
    /// apart keep their order.
    fn discrete_order(&mut self, state: &[i32]) -> Permutation {
        let mut colours = std::mem::take(&mut self.colours);
        colours.start(&self.index, &self.tables, state);
        self.arrangement.load_discrete(&colours.of);
        let mut count = 0;
        while colours.count() > count {
            count = colours.count();
            colours.relate_only(&self.index, &self.tables, state);
        }
        let permutation = self.sorted(&colours.of);
        self.broken_ties += u64::from(self.has_ties(&colours.of));
        self.colours = colours;
        permutation
    }

    /// Whether two elements of a class have the same colour.
    fn has_ties(&self, colours: &[u64]) -> bool {
        let blocks = self.tables.sets.iter().enumerate();
        let mut blocks = blocks.flat_map(|(set, data)| data.blocks.iter().map(move |b| (set, b)));
        blocks.any(|(set, block)| {
            let colours = block.iter().map(|e| colours[self.index.node(set, *e)]);
            let mut sorted: Vec<u64> = colours.collect();
            sorted.sort_unstable();
            sorted.windows(2).any(|w| w[0] == w[1])
        })
    }

    /// The tables.
    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The tables by node.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// For each set and element of a representative, the least element that was checked to be
    /// interchangeable with it.
    pub(crate) fn classes(&self, state: &[i32], zone: &Zone) -> Vec<Vec<u16>> {
        stabiliser::classes(&self.tables, &self.index, state, zone)
    }

    /// The same for the discrete part alone.
    pub(crate) fn discrete_classes(&self, state: &[i32], alike: &mut Alike) {
        stabiliser::discrete_classes(&self.tables, &self.index, state, alike);
    }

    /// Replaces a state by its representative; returns the permutation that was applied.
    pub(crate) fn reduce(&mut self, state: &mut [i32], zone: &mut Zone) -> Permutation {
        if !self.by_clocks {
            let permutation = self.discrete_order(state);
            self.apply(&permutation, state, zone);
            return permutation;
        }
        let mut colours = std::mem::take(&mut self.colours);
        colours.start(&self.index, &self.tables, state);
        self.arrangement.load(&self.index, &colours.of, zone);
        let permutation = match self.settle(&mut colours, state, zone) {
            None => self.sorted_and_noted(&colours.of),
            Some(tied) => {
                let mut least = Least {
                    budget: BUDGET,
                    cut: false,
                    found: None,
                };
                self.single_out(&colours, &tied, state, zone, &mut least);
                self.broken_ties += u64::from(least.cut);
                self.clocks_decided = true;
                match least.found {
                    Some((_, _, permutation)) => permutation,
                    None => self.sorted(&colours.of),
                }
            }
        };
        self.colours = colours;
        if !permutation.is_identity() {
            self.apply(&permutation, state, zone);
        }
        permutation
    }

    /// A quotient for a search with these bounds, if it applies.
    pub(crate) fn quotient(
        &self,
        program: &Program,
        bounds: &Bounds,
        abstractor: &Abstractor,
    ) -> Option<Quotient> {
        Quotient::new(program, bounds, abstractor, &self.tables, &self.index)
    }

    /// How zones are folded in a search with these bounds, if the order of elements may depend on
    /// clocks.
    pub(crate) fn folding(&self, program: &Program, bounds: &Bounds) -> Option<Folding> {
        let folding = || Folding::new(program, bounds, &self.tables, &self.index);
        self.by_clocks.then(folding).flatten()
    }

    /// Writes the representative of a state whose zone is known by groups; returns false, and
    /// changes nothing, if that needs the whole matrix.
    pub(crate) fn reduce_folded(
        &mut self,
        folding: &Folding,
        state: &mut [i32],
        quotient: &Quotient,
        zone: &mut Folded,
        moved_by: Option<&mut Permutation>,
    ) -> bool {
        let facts = (&self.tables, &self.index);
        let groups = &mut self.groups;
        let done = groups.represent(folding, facts, quotient, state, zone, moved_by);
        self.clocks_decided |= groups.clocks_decided;
        done
    }

    /// Writes the whole zone of a quotient.
    pub(crate) fn write_out(&self, quotient: &mut Quotient, zone: &mut Zone) {
        let sizes = self.tables.sets.iter().map(|s| s.size);
        quotient.spread();
        quotient.write(&self.tables, &Permutation::identity(sizes), zone);
    }

    /// Writes the representative of a state whose zone is known as a quotient; returns the
    /// permutation that was applied.
    pub(crate) fn reduce_quotient(
        &mut self,
        state: &mut [i32],
        quotient: &mut Quotient,
        zone: &mut Zone,
    ) -> Permutation {
        if !self.by_clocks {
            let permutation = self.discrete_order(state);
            quotient.spread();
            quotient.write(&self.tables, &permutation, zone);
            self.move_state(&permutation, state);
            return permutation;
        }
        let mut colours = std::mem::take(&mut self.colours);
        quotient.spread();
        colours.start(&self.index, &self.tables, state);
        self.arrangement.load(&self.index, &colours.of, quotient);
        let settled = self.settle(&mut colours, state, quotient).is_none();
        let permutation = self.sorted_and_noted(&colours.of);
        self.colours = colours;
        if settled {
            quotient.write(&self.tables, &permutation, zone);
            self.move_state(&permutation, state);
            permutation
        } else {
            // Once an element of a group is singled out, the elements of the group are no longer
            // interchangeable.
            self.write_out(quotient, zone);
            self.reduce(state, zone)
        }
    }

    /// Refines until ties are interchangeable. If nothing more tells them apart, returns a class of
    /// ties that is not interchangeable: one element for each of its interchangeable parts.
    fn settle(&self, colours: &mut Colours, state: &[i32], zone: &impl Matrix) -> Option<Vec<u32>> {
        let mut count = 0;
        loop {
            colours.refine(&self.index, &self.tables, state, zone);
            let tied = self.unresolved(&colours.of, state, zone)?;
            let finer = colours.count();
            if finer <= count {
                return Some(tied);
            }
            count = finer;
        }
    }

    /// Singles out each element of a class of ties in turn and keeps the least resulting state.
    fn single_out(
        &self,
        colours: &Colours,
        tied: &[u32],
        state: &[i32],
        zone: &Zone,
        least: &mut Least,
    ) {
        for node in tied {
            if least.budget == 0 {
                least.cut = true;
                if least.found.is_some() {
                    return;
                }
            }
            least.budget = least.budget.saturating_sub(1);
            let mut next = colours.clone();
            let colour = &mut next.of[*node as usize];
            *colour = mix(*colour, 0x51);
            match self.settle(&mut next, state, zone) {
                Some(tied) => self.single_out(&next, &tied, state, zone, least),
                None => {
                    let permutation = self.sorted(&next.of);
                    let (moved, image) = self.tables.apply(&permutation, state, zone);
                    let better = least
                        .found
                        .as_ref()
                        .is_none_or(|(s, z, _)| (&moved, image.raw()) < (s, z.raw()));
                    if better {
                        least.found = Some((moved, image, permutation));
                    }
                }
            }
        }
    }

    /// Whether cells relate elements to each other.
    pub(super) fn has_relations(&self) -> bool {
        !self.index.relational.is_empty()
    }

    /// The permutation that sorts each class; records whether clocks decided it.
    fn sorted_and_noted(&mut self, colours: &[u64]) -> Permutation {
        let permutation = self.sorted(colours);
        if !self.clocks_decided {
            let first = |node: usize| self.arrangement.of(node).first();
            let differ = |a: usize, b: usize| {
                first(a) == first(b)
                    && (self.arrangement.of(a), colours[a]) != (self.arrangement.of(b), colours[b])
            };
            let sets = self.tables.sets.iter().enumerate();
            let mut blocks = sets.flat_map(|(set, d)| d.blocks.iter().map(move |b| (set, b)));
            self.clocks_decided = blocks.any(|(set, block)| {
                let node = |e: u16| self.index.node(set, e);
                let mut order = block.clone();
                order.sort_by_key(|e| permutation.0[set][*e as usize]);
                order.windows(2).any(|w| differ(node(w[0]), node(w[1])))
            });
        }
        permutation
    }

    /// The permutation that sorts each class.
    fn sorted(&self, colours: &[u64]) -> Permutation {
        let sets = self.tables.sets.iter().enumerate();
        Permutation(
            sets.map(|(set, data)| {
                let mut images: Vec<u16> = (0..data.size as u16).collect();
                for block in &data.blocks {
                    let mut order = block.clone();
                    order.sort_by(|a, b| {
                        let key = |e: u16| {
                            let node = self.index.node(set, e);
                            (self.arrangement.of(node), colours[node])
                        };
                        key(*a).cmp(&key(*b))
                    });
                    for (place, element) in block.iter().zip(&order) {
                        images[*element as usize] = *place;
                    }
                }
                images
            })
            .collect(),
        )
    }

    /// The class of ties with the least colour whose elements are not all interchangeable: one
    /// element for each interchangeable part.
    fn unresolved(&self, colours: &[u64], state: &[i32], zone: &impl Matrix) -> Option<Vec<u32>> {
        let mut found: Option<(u64, Vec<u32>)> = None;
        for (set, data) in self.tables.sets.iter().enumerate() {
            for block in &data.blocks {
                let colour = |e: u16| colours[self.index.node(set, e)];
                let mut order: Vec<u16> = block.clone();
                order.sort_by_key(|e| colour(*e));
                for ties in order.chunk_by(|a, b| colour(*a) == colour(*b)) {
                    let least = found.as_ref().is_none_or(|(c, _)| colour(ties[0]) < *c);
                    if ties.len() > 1 && least {
                        let parts = self.parts(set, ties, state, zone);
                        if parts.len() > 1 {
                            found = Some((colour(ties[0]), parts));
                        }
                    }
                }
            }
        }
        found.map(|(_, parts)| parts)
    }

    /// One node for each part of `ties` whose elements are interchangeable.
    fn parts(&self, set: usize, ties: &[u16], state: &[i32], zone: &impl Matrix) -> Vec<u32> {
        let mut leaders: Vec<u16> = Vec::new();
        for e in ties {
            let known = leaders.iter().any(|l| {
                let swap = (set, *l, *e);
                zone.interchangeable(&self.tables, &self.index, swap, state)
            });
            if !known {
                leaders.push(*e);
            }
        }
        let nodes = leaders.iter().map(|e| self.index.node(set, *e) as u32);
        nodes.collect()
    }

    /// Applies a permutation in place.
    fn apply(&mut self, permutation: &Permutation, state: &mut [i32], zone: &mut Zone) {
        self.move_state(permutation, state);
        self.move_zone(permutation, zone);
    }

    fn move_state(&mut self, permutation: &Permutation, state: &mut [i32]) {
        let (tables, scratch) = (&self.tables, &mut self.scratch);
        let cells = tables.cells.len();
        scratch.state.clear();
        scratch.state.extend_from_slice(state);
        for (c, coordinates) in tables.cells.iter().enumerate() {
            if !coordinates.is_empty() || tables.holds[c].is_some() {
                state[Tables::image(c, coordinates, permutation)] =
                    tables.value(tables.holds[c], scratch.state[c], permutation);
            }
        }
        for (p, coordinates) in tables.processes.iter().enumerate() {
            if !coordinates.is_empty() {
                state[cells + Tables::image(p, coordinates, permutation)] =
                    scratch.state[cells + p];
            }
        }
    }

    fn move_zone(&mut self, permutation: &Permutation, zone: &mut Zone) {
        let (tables, scratch) = (&self.tables, &mut self.scratch);
        let dim = zone.dim();
        scratch.sources.clear();
        scratch.sources.extend(0..dim as u32);
        for (x, coordinates) in tables.clocks.iter().enumerate() {
            let to = Tables::image(x, coordinates, permutation);
            scratch.sources[to + 1] = x as u32 + 1;
        }
        scratch.zone.clear();
        scratch.zone.extend_from_slice(zone.raw());
        let rows = zone.raw_mut().chunks_exact_mut(dim);
        for (row, from) in rows.zip(&scratch.sources) {
            let old = &scratch.zone[*from as usize * dim..(*from as usize + 1) * dim];
            for (bound, y) in row.iter_mut().zip(&scratch.sources) {
                *bound = old[*y as usize];
            }
        }
    }
}
