//! From a path through representatives back to a run of the model.
//!
//! With `θ_k` the representatives, `π_k` the permutation that made `θ_k` and `ρ_k = π_k ∘ ρ_{k-1}`,
//! the real state is `ρ_k⁻¹(θ_k)`, and the step taken there is the image of the stored one.

use crate::graph::expander::Expander;
use crate::graph::steps::NamedStep;
use crate::program::{Fault, Program};
use crate::symmetry::{OnePerClass, Passed, Permutation, Representative, Tables};

/// Undoes permutations along a path.
pub(crate) struct Unpermute<'p> {
    program: &'p Program,
    expander: Expander<'p>,
    one_per_class: Option<OnePerClass>,
    first_edge: Vec<u32>,
    rho: Permutation,
    /// A permutation that is applied to the whole run in the end.
    then: Option<Permutation>,
}

impl<'p> Unpermute<'p> {
    /// Starts at the beginning of a path whose steps were found with or without classes.
    pub(crate) fn new(program: &'p Program, tables: &Tables, one_per_class: bool) -> Unpermute<'p> {
        let mut first_edge = vec![0; program.processes()];
        for (id, edge) in program.edges.iter().enumerate() {
            first_edge[edge.process as usize] = id as u32 - edge.index;
        }
        Unpermute {
            program,
            first_edge,
            expander: Expander::new(program),
            one_per_class: one_per_class.then(|| OnePerClass::new(tables)),
            then: None,
            rho: Permutation::identity(tables.sets.iter().map(|s| s.size)),
        }
    }

    /// Maps the whole run by a permutation, which must fix the initial state.
    pub(crate) fn then(mut self, permutation: Permutation) -> Unpermute<'p> {
        self.then = Some(permutation);
        self
    }

    /// Continues from a representative that was reached by another permutation: a cycle closes
    /// there.
    pub(crate) fn close(&mut self, permutation: &Permutation) {
        self.rho = permutation.after(&self.rho);
    }

    /// The permutation from the real state to the current representative.
    pub(crate) fn so_far(&self) -> &Permutation {
        &self.rho
    }

    /// The real step from a representative, if the path continues.
    pub(crate) fn pass(
        &mut self,
        representative: &Representative,
        passed: &Passed,
    ) -> Result<Option<NamedStep>, Fault> {
        if let Some(permutation) = &passed.moved_by {
            self.rho = permutation.after(&self.rho);
        }
        self.step(representative, passed)
    }

    /// The real step from the current representative.
    pub(crate) fn step(
        &mut self,
        representative: &Representative,
        passed: &Passed,
    ) -> Result<Option<NamedStep>, Fault> {
        let Some(index) = passed.step else {
            return Ok(None);
        };
        let mut state = passed.state.clone();
        let steps = &mut self.expander.steps;
        // This must be the same list of steps that the search used.
        if let Some(one) = &mut self.one_per_class {
            one.begin(self.program, representative, &state, &passed.zone, steps);
        }
        steps.find(self.program, &mut self.expander.machine, &mut state)?;
        let stored = steps.named(self.program, index as usize);
        Ok(Some(self.image(representative.tables(), stored)))
    }

    /// A step of the representative as a step of the real state.
    fn image(&self, tables: &Tables, step: NamedStep) -> NamedStep {
        let mut back = self.rho.inverse();
        if let Some(then) = &self.then {
            back = then.after(&back);
        }
        let edges = &self.program.edges;
        let mut real: NamedStep = step
            .into_iter()
            .map(|(id, values)| {
                let edge = &edges[id as usize];
                let p = edge.process as usize;
                let process = Tables::image(p, &tables.processes[p], &back);
                // Edges of a process have consecutive numbers, and the edges of its images are in
                // the same order.
                let moved = self.first_edge[process] + edge.index;
                let values = values.iter().zip(&tables.selects[id as usize]);
                let values = values.map(|(v, set)| tables.value(*set, *v, &back));
                (moved, values.collect())
            })
            .collect();
        if let Some((_, receivers)) = real.split_first_mut() {
            // The sender stays first; receivers run in process order.
            receivers.sort_by_key(|(edge, _)| edges[*edge as usize].process);
        }
        real
    }
}
