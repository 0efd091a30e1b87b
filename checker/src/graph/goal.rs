//! The goal of `E<>` and `A[]`: a reachable state where the condition is true (or false).

use crate::graph::Visitor;
use crate::graph::deadlock::dead;
use crate::graph::expander::Expander;
use crate::program::{Alike, Fault, Formula, Program};
use crate::zone::{Federation, Lazy, Zone};

/// Searches for a state where a formula has the wanted value.
pub(crate) struct Goal<'p> {
    expander: Expander<'p>,
    formula: &'p Formula,
    frame: u32,
    wanted: bool,
    needs_deadlock: bool,
}

impl<'p> Goal<'p> {
    /// A search for states where `formula` is `wanted`.
    pub(crate) fn new(
        program: &'p Program,
        formula: &'p Formula,
        frame: u32,
        wanted: bool,
    ) -> Goal<'p> {
        Goal {
            expander: Expander::new(program),
            formula,
            frame,
            wanted,
            needs_deadlock: formula.has_deadlock(),
        }
    }

    /// Makes this a goal for a state that a search has already found: steps that fail are ways out,
    /// not faults.
    pub(crate) fn lenient(mut self) -> Goal<'p> {
        self.expander.lenient = true;
        self
    }

    /// The part of a zone where the formula has the wanted value.
    pub(crate) fn part(&mut self, state: &mut [i32], zone: &Zone) -> Result<Federation, Fault> {
        let dead = if self.needs_deadlock {
            dead(&mut self.expander, state, zone)?
        } else {
            Vec::new()
        };
        let machine = &mut self.expander.machine;
        machine.frame(self.frame, &[]);
        let program = self.expander.program;
        machine
            .restrict(
                program,
                self.formula,
                self.wanted,
                vec![zone.clone()],
                state,
                &dead,
            )
            .map_err(Fault::of_query)
    }
}

impl Visitor for Goal<'_> {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, _node: u32) -> Result<bool, Fault> {
        if let Formula::Int(code) = self.formula {
            let machine = &mut self.expander.machine;
            machine.frame(self.frame, &[]);
            let value = machine.eval(self.expander.program, code, state);
            machine.alike = None;
            let value = value.map_err(Fault::of_query)?;
            return Ok((value != 0) == self.wanted);
        }
        Ok(!self.part(state, zone)?.is_empty())
    }

    fn alike(&mut self) -> Option<&mut Alike> {
        // If clocks decide, elements differ in more than the discrete state.
        let ints = matches!(self.formula, Formula::Int(_));
        ints.then(|| &mut **self.expander.machine.alike.get_or_insert_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common;
    use crate::program::compile_formula;
    use zonelens_analysis::network::QueryKind;

    /// Evaluating one element per class of the discrete state is enough only if the discrete state
    /// alone decides.
    #[test]
    fn elements_are_left_out_only_where_neither_clocks_nor_deadlock_decide() {
        let model = common::xta(
            "typedef int[0,2] S; bool f[S]; process P(const S i) { clock x; state A, B; init A; \
             trans A -> B { assign f[i] = true; }; } system P;",
        );
        let program = Program::new(&model.network).expect("a program");
        for (query, left_out) in [
            ("E<> exists (i : S) f[i]", true),
            ("E<> exists (i : S) (f[i] && P(i).B)", true),
            ("E<> exists (i : S) P(i).x > 2", false),
            ("E<> exists (i : S) (f[i] && deadlock)", false),
            ("E<> deadlock || exists (i : S) f[i]", false),
        ] {
            let query = model.query(query).expect("a query");
            let QueryKind::Path(_, condition) = &query.kind else {
                panic!("{:?}", query.kind);
            };
            let formula = compile_formula(condition).expect("a formula");
            let mut goal = Goal::new(&program, &formula, query.frame, true);
            assert_eq!(goal.alike().is_some(), left_out, "{}", query.text);
        }
    }
}
