//! The distance of a discrete state from a condition: the order of best-first search.
//!
//! The distance is the *branch distance* of search-based testing (Tracey, Clark, Mander, McDermid:
//! *An automated framework for structural test-data generation*, 1998): how much numbers would have
//! to change for a comparison to hold, summed over conjunctions, minimised over alternatives. For a
//! location it is the number of edges that lead to it. Clocks do not count. A heuristic is enough,
//! because the order of a search never changes its answer.

use crate::graph::Classes;
use crate::program::{Alike, Code, Formula, Machine, ProcessCode, Program, QuantifierCode};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use zonelens_analysis::network::BinaryOp;
use zonelens_syntax::ast::QuantifierKind;

/// A distance larger than any that can be counted.
const FAR: u32 = 1 << 20;

/// Measures the distance of states.
pub(crate) struct Nearness<'p> {
    program: &'p Program,
    machine: Machine,
    formula: &'p Formula,
    frame: u32,
    wanted: bool,
    /// By process and location: the number of edges from each location of the process to that one.
    ways: FxHashMap<(u32, u32), Vec<u32>>,
}

impl<'p> Nearness<'p> {
    /// Measures how far states are from the formula being `wanted`.
    pub(crate) fn new(
        program: &'p Program,
        formula: &'p Formula,
        frame: u32,
        wanted: bool,
    ) -> Nearness<'p> {
        Nearness {
            program,
            machine: Machine::default(),
            formula,
            frame,
            wanted,
            ways: FxHashMap::default(),
        }
    }

    /// The distance of a state. Where the least distance of some elements counts, one of each of
    /// its classes is enough.
    pub(crate) fn distance(&mut self, state: &mut [i32], classes: Option<&dyn Classes>) -> u32 {
        if let Some(classes) = classes {
            let alike = self.machine.alike.get_or_insert_default();
            classes.discrete_classes(state, alike);
        }
        self.machine.frame(self.frame, &[]);
        self.of_formula(self.formula, self.wanted, state).min(FAR)
    }

    fn of_formula(&mut self, formula: &Formula, wanted: bool, state: &mut [i32]) -> u32 {
        match formula {
            Formula::Int(code) => self.of_code(code, wanted, state),
            Formula::Not(part) => self.of_formula(part, !wanted, state),
            Formula::And(parts) | Formula::Or(parts) => {
                let all = matches!(formula, Formula::And(_)) == wanted;
                let parts = parts
                    .iter()
                    .map(|part| self.of_formula(part, wanted, state));
                join(all, parts)
            }
            Formula::Quantified {
                all,
                slot,
                lo,
                len,
                body,
                ..
            } => join(
                *all == wanted,
                (0..*len).map(|k| {
                    self.machine.set_slot(*slot, lo + k as i32);
                    self.of_formula(body, wanted, state)
                }),
            ),
            Formula::Atom(_) | Formula::Rate(..) | Formula::Deadlock => 0,
        }
    }

    fn of_code(&mut self, code: &Code, wanted: bool, state: &mut [i32]) -> u32 {
        match code {
            Code::Not(part) => self.of_code(part, !wanted, state),
            Code::And(sides) | Code::Or(sides) => {
                let all = matches!(code, Code::And(_)) == wanted;
                let left = self.of_code(&sides.0, wanted, state);
                join(
                    all,
                    [left, self.of_code(&sides.1, wanted, state)].into_iter(),
                )
            }
            Code::CellConst(op, cell, c) => gap(*op, wanted, state[*cell as usize], *c),
            Code::Compare(op, sides) => {
                let left = self.machine.eval(self.program, &sides.0, state);
                let right = self.machine.eval(self.program, &sides.1, state);
                match (left, right) {
                    (Ok(left), Ok(right)) => gap(*op, wanted, left, right),
                    // A side that cannot be evaluated here: the distance is unknown.
                    _ => FAR,
                }
            }
            Code::Quantifier(q) if q.kind != QuantifierKind::Sum => {
                self.of_quantifier(q, wanted, state)
            }
            Code::At(process, location) if wanted => self.of_location(process, *location, state),
            _ => match self.machine.is_true(self.program, code, state) {
                Ok(value) => u32::from(value != wanted),
                Err(_) => FAR,
            },
        }
    }

    fn of_quantifier(&mut self, q: &QuantifierCode, wanted: bool, state: &mut [i32]) -> u32 {
        let all = (q.kind == QuantifierKind::Forall) == wanted;
        if let (Some(alike), Some(set), false) = (&self.machine.alike, q.scalarset, all)
            && let Some(elements) = alike.representatives(set, q.lo, q.len)
        {
            let each = elements.into_iter().map(|k| {
                self.machine.set_slot(q.slot, q.lo + k as i32);
                self.bind(|alike| alike.bind(set, k));
                let distance = self.of_code(&q.body, wanted, state);
                self.bind(Alike::release);
                distance
            });
            return join(false, each);
        }
        join(
            all,
            (0..q.len).map(|k| {
                self.machine.set_slot(q.slot, q.lo + k as i32);
                self.of_code(&q.body, wanted, state)
            }),
        )
    }

    fn bind(&mut self, change: impl FnOnce(&mut Alike)) {
        if let Some(alike) = &mut self.machine.alike {
            change(alike);
        }
    }

    fn of_location(&mut self, process: &ProcessCode, location: u32, state: &mut [i32]) -> u32 {
        let Ok(offset) = self.machine.offset(self.program, &process.steps, state) else {
            return FAR;
        };
        let p = process.base + offset as u32;
        let at = state[self.program.cells.len() + p as usize];
        let program = self.program;
        let ways = self.ways.entry((p, location));
        let ways = ways.or_insert_with(|| ways_to(program, p, location));
        ways[at as usize]
    }
}

/// The least number of edges from each location of a process to the given one.
fn ways_to(program: &Program, process: u32, location: u32) -> Vec<u32> {
    let count = program.locations[process as usize].len();
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); count];
    for edge in program.edges.iter().filter(|e| e.process == process) {
        sources[edge.target as usize].push(edge.source);
    }
    let mut ways = vec![FAR; count];
    ways[location as usize] = 0;
    let mut open = VecDeque::from([location]);
    while let Some(at) = open.pop_front() {
        let further = ways[at as usize] + 1;
        for &source in &sources[at as usize] {
            if ways[source as usize] == FAR {
                ways[source as usize] = further;
                open.push_back(source);
            }
        }
    }
    ways
}

/// The distance from a conjunction (the sum) or a disjunction (the minimum).
fn join(all: bool, distances: impl Iterator<Item = u32>) -> u32 {
    match all {
        true => distances.fold(0, |sum: u32, d| sum.saturating_add(d).min(FAR)),
        false => distances.min().unwrap_or(FAR),
    }
}

/// How much one side would have to change.
fn gap(op: BinaryOp, wanted: bool, a: i32, b: i32) -> u32 {
    let difference = i64::from(a) - i64::from(b);
    let gap = match (op, wanted) {
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => difference.abs(),
        (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => i64::from(difference == 0),
        (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => difference + 1,
        (BinaryOp::Le, true) | (BinaryOp::Gt, false) => difference,
        (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => -difference,
        (BinaryOp::Gt, true) | (BinaryOp::Le, false) => 1 - difference,
        _ => 0,
    };
    gap.clamp(0, FAR.into()) as u32
}
