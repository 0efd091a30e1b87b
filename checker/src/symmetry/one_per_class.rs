//! One successor per class: steps that a permutation fixing the state maps to each other lead to equivalent states.
//!
//! Classes hold elements whose swaps were checked to fix the state, so every permutation inside classes does. Two steps
//! are images of each other if they take the same edges and name elements of the same classes with the same pattern of
//! equality: that is the orbit of a tuple under a product of symmetric groups.

use super::tables::{Tables, position};
use crate::explore::steps::Steps;
use crate::program::Program;
use rustc_hash::FxHashSet;

/// Remembers which kinds of steps a state has taken.
#[derive(Clone, Debug, Default)]
pub struct OnePerClass {
    seen: FxHashSet<Vec<u64>>,
}

impl OnePerClass {
    /// Forgets everything, for the next state.
    pub fn clear(&mut self) {
        self.seen.clear();
    }

    /// Whether no equivalent step came before.
    pub fn is_first(
        &mut self,
        program: &Program,
        tables: &Tables,
        classes: &[Vec<u16>],
        steps: &Steps,
        index: usize,
    ) -> bool {
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
        // Receivers that stay out are told by those that take part.
        self.seen.insert(key)
    }
}
