//! One successor per class: steps that a permutation fixing the state maps to each other lead to
//! equivalent states.
//!
//! Classes contain elements whose swaps were checked to fix the state, so every permutation inside
//! classes fixes it. Two steps are images of each other if they take the same edges and name
//! elements of the same classes with the same pattern of equality: this is the orbit of a tuple
//! under a product of symmetric groups. Interchangeable receivers of a broadcast are enumerated as
//! multisets from the start.

use super::folding::Folding;
use super::index::Index;
use super::quotient::Quotient;
use super::representative::Representative;
use super::tables::{Tables, position};
use crate::graph::expander::Expander;
use crate::graph::receivers::Interchange;
use crate::graph::steps::Steps;
use crate::program::{Fault, Program};
use crate::zone::{Folded, Zone};
use rustc_hash::FxHashSet;

/// The kinds of steps that were taken from a state.
#[derive(Clone, Debug)]
pub(crate) struct OnePerClass {
    interchange: Interchange,
    seen: FxHashSet<Vec<u64>>,
    quotient: Option<Quotient>,
}

impl OnePerClass {
    /// Creates it for these tables.
    pub(crate) fn new(tables: &Tables) -> OnePerClass {
        OnePerClass {
            interchange: tables.interchange(),
            seen: FxHashSet::default(),
            quotient: None,
        }
    }

    /// Computes successors on a few clocks of each class where that is possible.
    pub(crate) fn on_few_clocks(self, quotient: Option<Quotient>) -> OnePerClass {
        OnePerClass { quotient, ..self }
    }

    /// Computes the classes of a state. Must be called before its steps are found.
    pub(crate) fn begin(
        &mut self,
        program: &Program,
        representative: &Representative,
        state: &[i32],
        zone: &Zone,
        steps: &mut Steps,
    ) {
        self.seen.clear();
        self.interchange.classes = representative.classes(state, zone);
        // With priorities, all steps are needed.
        steps.interchange = (!program.has_priorities).then(|| self.interchange.clone());
    }

    /// The successor by a step on a few clocks of each class. `None` if it must be computed on all
    /// of them, and `Some(None)` if the step is not possible.
    pub(crate) fn successor(
        &mut self,
        representative: &Representative,
        expander: &mut Expander<'_>,
        step: usize,
        (state, zone): (&mut [i32], &Zone),
        next: &mut Vec<i32>,
    ) -> Result<Option<Option<&mut Quotient>>, Fault> {
        let Some(quotient) = &mut self.quotient else {
            return Ok(None);
        };
        let tables = (representative.tables(), representative.index());
        let classes = &self.interchange.classes;
        let steps = (&expander.steps, step);
        if !quotient.begin(expander.program, tables, classes, steps, zone) {
            return Ok(None);
        }
        let found = quotient.successor(expander, step, state, next, false)?;
        Ok(found.map(|found| found.then_some(quotient)))
    }

    /// The same for a folded state.
    pub(crate) fn begin_folded(
        &mut self,
        program: &Program,
        index: &Index,
        (folding, folded): (&Folding, &Folded),
        steps: &mut Steps,
    ) {
        self.seen.clear();
        folding.leaders(index, &folded.starts, &mut self.interchange.classes);
        // With priorities, all steps are needed.
        steps.interchange = (!program.has_priorities).then(|| self.interchange.clone());
    }

    /// The same for a step of a folded state.
    pub(crate) fn successor_folded(
        &mut self,
        representative: &Representative,
        expander: &mut Expander<'_>,
        step: usize,
        (folding, state, folded): (&Folding, &mut [i32], &Folded),
        next: &mut Vec<i32>,
    ) -> Result<Option<Option<&mut Quotient>>, Fault> {
        let Some(quotient) = &mut self.quotient else {
            return Ok(None);
        };
        let tables = (representative.tables(), representative.index());
        let steps = (&expander.steps, step);
        if !quotient.begin_folded(expander.program, tables, (folding, folded), steps) {
            return Ok(None);
        }
        let found = quotient.successor(expander, step, state, next, true)?;
        Ok(found.map(|found| found.then_some(quotient)))
    }

    /// Whether no equivalent step came before.
    pub(crate) fn is_first(
        &mut self,
        program: &Program,
        tables: &Tables,
        steps: &Steps,
        index: usize,
    ) -> bool {
        let classes = &self.interchange.classes;
        let step = steps.get(index);
        let mut named: Vec<(usize, u16)> = Vec::new();
        let mut key = Vec::new();
        let mut element = |key: &mut Vec<u64>, set: usize, e: u16| {
            let known = named
                .iter()
                .position(|n| *n == (set, e))
                .unwrap_or_else(|| {
                    named.push((set, e));
                    named.len() - 1
                });
            key.push(u64::from(classes[set][e as usize]) << 16 | known as u64);
        };
        for part in steps.parts(step) {
            let edge = &program.edges[part.edge as usize];
            let p = edge.process as usize;
            key.push(position(p, &tables.processes[p]));
            key.push(u64::from(edge.index));
            for c in &tables.processes[p] {
                element(&mut key, c.set, c.element);
            }
            let values = steps.values(program, *part);
            for (value, set) in values.iter().zip(&tables.selects[part.edge as usize]) {
                match set {
                    Some(set) => element(&mut key, *set, (value - tables.sets[*set].first) as u16),
                    None => key.push(*value as u64),
                }
            }
        }
        // The receivers that stay out follow from those that take part.
        self.seen.insert(key)
    }
}
