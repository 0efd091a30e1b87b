//! What a search has met so far.

use super::catalogue::Catalogue;
use crate::graph::expander::Expander;
use crate::graph::{Broken, Successor, Successors, Visitor};
use crate::mutation::{Mutation, is_on};
use crate::program::{Edge, EdgeId, Fault, Guard, Machine, Program};
use crate::symmetry::{Chosen, Permutation};
use crate::zone::{Layout, Lazy, Shape, Zone};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The most combinations of select values for which the guard of an edge is evaluated in one state.
const MOST_SELECTS: u64 = 1 << 12;

/// Successors that note which edges are taken.
///
/// A step counts if it has a successor: its guards hold somewhere in the zone, no step of higher
/// priority is possible there, and the state after it satisfies the invariants.
pub(super) struct Recorded<'p> {
    /// Computes the successors.
    pub chosen: Chosen<'p>,
    /// For each edge of the program, whether it was taken.
    pub taken: Vec<bool>,
}

impl Recorded<'_> {
    fn note(&mut self, step: usize) {
        let steps = &self.chosen.expander().steps;
        let parts = steps.parts(steps.get(step)).iter();
        let most = match is_on(Mutation::ReceiversForgotten) {
            true => 1,
            false => usize::MAX,
        };
        for part in parts.take(most) {
            self.taken[part.edge as usize] = true;
        }
    }
}

impl<'p> Successors<'p> for Recorded<'p> {
    type Move = Permutation;

    fn moves(&self) -> bool {
        self.chosen.moves()
    }

    fn layout(&self) -> Option<Arc<Layout>> {
        self.chosen.layout()
    }

    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        self.chosen.initial(take)
    }

    fn begin(&mut self, state: &mut [i32], zone: Shape<'_>) -> Result<usize, Broken> {
        self.chosen.begin(state, zone)
    }

    fn takes(&mut self, step: usize) -> bool {
        self.chosen.takes(step)
    }

    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: Shape<'_>,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let mut some = is_on(Mutation::FoundIsTaken);
        let flow = self.chosen.step(step, state, zone, &mut |found| {
            some = true;
            take(found)
        })?;
        if some {
            self.note(step);
        }
        Ok(flow)
    }

    fn represent(&mut self, state: &mut [i32], zone: &mut Zone) -> Option<Permutation> {
        self.chosen.represent(state, zone)
    }

    fn confirm(&mut self, state: &[i32], zone: &Zone) -> Option<String> {
        self.chosen.confirm(state, zone)
    }

    fn expander(&mut self) -> &mut Expander<'p> {
        self.chosen.expander()
    }

    fn absorb(&mut self, other: Recorded<'p>) {
        self.chosen.absorb(other.chosen);
        for (own, other) in self.taken.iter_mut().zip(other.taken) {
            *own |= other;
        }
    }
}

/// Notes what is true in the states that a search stores: locations, values, guards.
pub(super) struct States<'p> {
    program: &'p Program,
    catalogue: &'p Catalogue,
    machine: Machine,
    /// For each location as written, whether it was entered.
    pub entered: Vec<bool>,
    /// For each edge as written, whether its guard was true.
    pub guards: Vec<bool>,
    /// For each variable with limits, its least and greatest value.
    pub values: Vec<Option<(i32, i32)>>,
    /// The variables of which a limit is not reached yet.
    open_values: Vec<usize>,
    /// The edges of each process and location whose guards were not true yet.
    open_guards: Vec<Vec<Vec<EdgeId>>>,
}

impl<'p> States<'p> {
    /// Nothing was met yet.
    pub(super) fn new(program: &'p Program, catalogue: &'p Catalogue) -> States<'p> {
        let mut open_guards: Vec<Vec<Vec<EdgeId>>> = program
            .locations
            .iter()
            .map(|locations| vec![Vec::new(); locations.len()])
            .collect();
        for (id, edge) in program.edges.iter().enumerate() {
            open_guards[edge.process as usize][edge.source as usize].push(id as EdgeId);
        }
        States {
            program,
            catalogue,
            machine: Machine::default(),
            entered: vec![false; catalogue.places.len()],
            guards: vec![false; catalogue.written.len()],
            values: vec![None; catalogue.limited.len()],
            open_values: (0..catalogue.limited.len()).collect(),
            open_guards,
        }
    }

    fn measure(&mut self, state: &[i32]) {
        let (values, limited) = (&mut self.values, &self.catalogue.limited);
        self.open_values.retain(|&k| {
            let limited = &limited[k];
            let (mut low, mut high) = values[k].unwrap_or((i32::MAX, i32::MIN));
            for &cell in &limited.cells {
                let value = state[cell as usize];
                (low, high) = (low.min(value), high.max(value));
            }
            values[k] = Some((low, high));
            (low, high) != limited.range
        });
    }

    fn test_guards(&mut self, process: usize, location: usize, state: &mut [i32], zone: &Zone) {
        let mut open = std::mem::take(&mut self.open_guards[process][location]);
        open.retain(|&id| {
            let written = self.catalogue.first_part(id);
            if !self.guards[written] {
                let edge = &self.program.edges[id as usize];
                self.guards[written] = holds(self.program, &mut self.machine, edge, state, zone);
            }
            !self.guards[written]
        });
        self.open_guards[process][location] = open;
    }
}

impl Visitor for States<'_> {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, _node: u32) -> Result<bool, Fault> {
        self.measure(state);
        let cells = self.program.cells.len();
        for process in 0..self.program.processes() {
            let location = state[cells + process] as usize;
            self.entered[self.catalogue.places_of[process][location]] = true;
            if !self.open_guards[process][location].is_empty() {
                self.test_guards(process, location, state, zone);
            }
        }
        Ok(false)
    }
}

/// Whether the guard of an edge is true somewhere in a zone, for some values of its select
/// variables. Where it has no value it is not true. Also if it cannot be decided the answer is yes:
/// nothing is then said about it.
fn holds(
    program: &Program,
    machine: &mut Machine,
    edge: &Edge,
    state: &mut [i32],
    zone: &Zone,
) -> bool {
    let Some(guard) = &edge.guard else {
        return true;
    };
    let sizes = edge.selects.iter().map(|&(_, _, len)| u64::from(len));
    let combinations = sizes.fold(1u64, u64::saturating_mul);
    if combinations > MOST_SELECTS {
        return true;
    }
    (0..combinations).any(|combination| {
        machine.frame(edge.frame, &[]);
        let mut rest = combination;
        for &(slot, low, len) in &edge.selects {
            machine.set_slot(slot, low + (rest % u64::from(len)) as i32);
            rest /= u64::from(len);
        }
        holds_here(program, machine, guard, state, zone)
    })
}

fn holds_here(
    program: &Program,
    machine: &mut Machine,
    guard: &Guard,
    state: &mut [i32],
    zone: &Zone,
) -> bool {
    if is_on(Mutation::GuardWithoutClocks) {
        return machine.ints_hold(program, guard, state).unwrap_or(false);
    }
    let zones = vec![zone.clone()];
    match machine.restrict(program, &guard.whole, true, zones, state, &[]) {
        Ok(part) => !part.is_empty(),
        Err(fault) => fault.kind.is_ours(),
    }
}
