//! From stored paths to runs of the model as written: permutations are undone along paths and
//! around cycles.

use crate::program::Fault;
use crate::symmetry::{Chosen, Route};
use crate::symmetry::{Passed, Permutation, Representative};
use crate::witness::traces::Tracer;
use crate::witness::unpermute::Unpermute;
use crate::witness::{PathStep, by_position};
use zonelens_interpreter::Failure;

/// A run that repeats its end for ever.
pub(crate) struct Lasso {
    /// All steps, with one round of the cycle.
    pub leaves: Vec<PathStep>,
    /// The index of the first step of the cycle.
    pub start: usize,
}

/// A cycle may have to be unrolled once for every element before it closes; if it has more steps
/// than this, no trace is shown.
const LONGEST_LASSO: usize = 20_000;

fn failed(fault: Fault) -> Failure {
    Failure(fault.kind.to_string())
}

impl<'a> Tracer<'a> {
    /// The steps of a route in the model as written (or to an image of its last state).
    pub(crate) fn real_steps(
        &self,
        graph: &Chosen<'_>,
        route: &Route,
        image: Option<&Permutation>,
    ) -> Result<Vec<PathStep>, Failure> {
        let path = match route {
            Route::Steps(steps) => return Ok(by_position(steps.clone())),
            Route::Moved(path) => path,
        };
        let Some(representative) = graph.representative() else {
            return Err(Failure("nothing moved the states of this path".into()));
        };
        let mut back = self.unpermute(representative);
        let leaves = self.undo(&mut back, representative, path)?;
        let Some(image) = image else {
            return Ok(leaves);
        };
        // The condition holds in an image of the last state: the whole run is mapped so that it
        // ends there.
        let then = image.after(back.so_far());
        let mut back = self.unpermute(representative).then(then);
        self.undo(&mut back, representative, path)
    }

    /// Undoes permutations, starting at the initial state.
    pub(crate) fn unpermute(&self, representative: &Representative) -> Unpermute<'a> {
        let one_per_class = !self.options.audit_symmetry;
        Unpermute::new(self.program, representative.tables(), one_per_class)
    }

    /// The real steps along a path of representatives.
    pub(crate) fn undo(
        &self,
        back: &mut Unpermute<'_>,
        representative: &Representative,
        path: &[Passed],
    ) -> Result<Vec<PathStep>, Failure> {
        let mut leaves = Vec::new();
        for passed in path {
            if self.limit.is_over().is_some() {
                return Err(Failure("the run was stopped".into()));
            }
            let step = back.pass(representative, passed).map_err(failed)?;
            leaves.extend(step.map(PathStep::Named));
        }
        Ok(leaves)
    }

    /// The real cycle: repeats the cycle of representatives until the composed permutations fix the
    /// state where it began. Permutations have finite order, so it closes; `None` if that takes too
    /// many steps to be shown.
    pub(crate) fn undo_cycle(
        &self,
        back: &mut Unpermute<'_>,
        representative: &Representative,
        path: &[Passed],
        start: usize,
        closing: &Permutation,
    ) -> Result<Option<Lasso>, Failure> {
        let mut leaves = self.undo(back, representative, &path[..start])?;
        let Some((first, rest)) = path[start..].split_first() else {
            return Ok(None);
        };
        let begin = leaves.len();
        let step = back.pass(representative, first).map_err(failed)?;
        leaves.extend(step.map(PathStep::Named));
        let base = back.so_far().inverse();
        loop {
            leaves.extend(self.undo(back, representative, rest)?);
            back.close(closing);
            let around = back.so_far().after(&base);
            let (state, zone) = representative
                .tables()
                .apply(&around, &first.state, &first.zone);
            if state == first.state && zone == first.zone {
                return Ok(Some(Lasso {
                    leaves,
                    start: begin,
                }));
            }
            if leaves.len() > LONGEST_LASSO {
                return Ok(None);
            }
            let step = back.step(representative, first).map_err(failed)?;
            leaves.extend(step.map(PathStep::Named));
        }
    }
}
