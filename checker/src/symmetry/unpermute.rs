//! From a path through representatives back to a run of the model.
//!
//! With `θ_k` the representatives, `π_k` the permutation that made `θ_k` and `ρ_k = π_k ∘ ρ_{k-1}`, the real state is
//! `ρ_k⁻¹(θ_k)`, and the step taken there is the image of the stored one.

use super::permutation::Permutation;
use super::tables::Tables;
use crate::explore::expander::Expander;
use crate::explore::steps::{Step, Steps};
use crate::program::{Fault, Program};

/// A step by process, edge and select values.
type Named = Vec<(u32, u32, Vec<i32>)>;

/// The positions of the real steps. `path` holds for each state the representative's discrete part, the permutation that
/// made it and the step taken from it (none in the last). `None` if a step has no image, which symmetry excludes.
pub fn unpermute(
    program: &Program,
    tables: &Tables,
    path: &[(Vec<i32>, Permutation, Option<u32>)],
) -> Result<Option<Vec<u32>>, Fault> {
    let mut expander = Expander::new(program);
    let mut real = program.initial.clone();
    let mut rho = Permutation::identity(tables.sets.iter().map(|s| s.size));
    let mut steps = Vec::new();
    for (k, (representative, pi, step)) in path.iter().enumerate() {
        rho = pi.after(&rho);
        let Some(index) = step else { break };
        let back = rho.inverse();
        let mut representative = representative.clone();
        expander
            .steps
            .find(program, &mut expander.machine, &mut representative)?;
        let stored = named(
            program,
            &expander.steps,
            expander.steps.get(*index as usize),
        );
        let wanted = sorted(stored.into_iter().map(|(p, e, values)| {
            let process = Tables::image(p as usize, &tables.processes[p as usize], &back) as u32;
            let sets = select_sets(program, tables, p, e);
            let values = values
                .iter()
                .zip(sets)
                .map(|(v, set)| tables.value(set, *v, &back))
                .collect();
            (process, e, values)
        }));
        expander
            .steps
            .find(program, &mut expander.machine, &mut real)?;
        let found = (0..expander.steps.len()).find(|k| {
            sorted(named(program, &expander.steps, expander.steps.get(*k)).into_iter()) == wanted
        });
        let Some(found) = found else { return Ok(None) };
        steps.push(found as u32);
        // The step from the last state may be one that fails; nobody asks where it leads.
        if k + 1 < path.len() {
            let taken = expander.steps.get(found).clone();
            let mut next = Vec::new();
            expander.fire(&taken, &real, &mut next)?;
            real = next;
        }
    }
    Ok(Some(steps))
}

fn named(program: &Program, steps: &Steps, step: &Step) -> Named {
    let parts = steps.parts(step).iter();
    parts
        .map(|part| {
            let edge = &program.edges[part.edge as usize];
            (
                edge.process,
                edge.index,
                steps.values(program, *part).to_vec(),
            )
        })
        .collect()
}

/// The sender stays first; receivers run in process order.
fn sorted(parts: impl Iterator<Item = (u32, u32, Vec<i32>)>) -> Named {
    let mut parts: Named = parts.collect();
    if parts.len() > 1 {
        parts[1..].sort();
    }
    parts
}

fn select_sets(program: &Program, tables: &Tables, process: u32, index: u32) -> Vec<Option<usize>> {
    let edge = program
        .edges
        .iter()
        .position(|e| e.process == process && e.index == index);
    edge.map(|e| tables.selects[e].clone()).unwrap_or_default()
}
