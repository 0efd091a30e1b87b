//! Calls, and the bodies of functions.

use super::{Alike, Frames};
use crate::eval::Eval;
use zonelens_analysis::network::{Arg, Base, Call, ExprKind, Stmt};

impl Alike<'_, '_> {
    pub(super) fn call(&mut self, a: &Call, b: &Call, f: &mut Frames) -> Eval<()> {
        let (own, other) = (
            &self.network.functions[a.function],
            &self.network.functions[b.function],
        );
        let signatures = (
            self.types.signature(a.function),
            self.types.signature(b.function),
        );
        let (Some(types), Some(others)) = signatures else {
            return self.asymmetric("a function changes");
        };
        let sets = |nodes: &[(u32, u32)]| -> Vec<(u32, Option<usize>)> {
            let typed = nodes
                .iter()
                .map(|(slot, node)| (*slot, self.types.set(*node)));
            typed.collect()
        };
        let params = sets(&types.params);
        let results: Vec<Option<usize>> =
            types.results.iter().map(|n| self.types.set(*n)).collect();
        let same_results = (others.results.iter())
            .map(|n| self.types.set(*n))
            .eq(results.iter().copied());
        let same = params == sets(&others.params)
            && same_results
            && own.params == other.params
            && (own.frame, own.result_len) == (other.frame, other.result_len)
            && own.result_ranges == other.result_ranges
            && a.args.len() == b.args.len();
        let mut ranges = own.result_ranges.iter().zip(&results);
        let results_closed = ranges.all(|(range, set)| self.closed(*set, *range));
        let ranges = own
            .params
            .iter()
            .filter_map(|p| p.ranges.as_ref())
            .flatten();
        let mut ranges = ranges.zip(&params);
        if !same || !results_closed || !ranges.all(|(range, (_, set))| self.closed(*set, *range)) {
            return self.asymmetric("a function changes");
        }
        for ((x, y), param) in a.args.iter().zip(&b.args).zip(&own.params) {
            let set = params.iter().find(|(slot, _)| *slot == param.slot);
            match (x, y) {
                (Arg::Value(x), Arg::Value(y)) => {
                    self.expr(x, y, set.and_then(|(_, set)| *set), f)?;
                }
                (Arg::Block(x, l), Arg::Block(y, m)) if l == m => {
                    let given = self.block(x, y, *l, f)?;
                    let own = params.iter().filter(|(slot, _)| *slot >= param.slot);
                    let own = own.take(*l as usize).enumerate();
                    self.same_order(&given, &own.map(|(k, (_, set))| (k, *set)).collect())?;
                }
                _ => return self.asymmetric("an argument changes"),
            }
        }
        if !self.done.insert((a.function, b.function)) {
            return Ok(());
        }
        let mut frames = Frames {
            a: types.params.iter().copied().collect(),
            b: others.params.iter().copied().collect(),
            results,
        };
        self.stmts(&own.body, &other.body, &mut frames)
    }

    fn stmts(&mut self, a: &[Stmt], b: &[Stmt], f: &mut Frames) -> Eval<()> {
        if a.len() != b.len() {
            return self.asymmetric("a statement disappears");
        }
        let before = (f.a.clone(), f.b.clone());
        for (k, (own, other)) in a.iter().zip(b).enumerate() {
            self.stmt((own, a.get(k + 1)), other, f)?;
        }
        (f.a, f.b) = before;
        Ok(())
    }

    fn stmt(&mut self, (a, next): (&Stmt, Option<&Stmt>), b: &Stmt, f: &mut Frames) -> Eval<()> {
        match (a, b) {
            (Stmt::Expr(x), Stmt::Expr(y)) => self.effect(x, y, f),
            (
                Stmt::Init { slot, values },
                Stmt::Init {
                    slot: other,
                    values: images,
                },
            ) if values.len() == images.len() => {
                let sets = self.bind((a, *slot), (b, *other), values.len(), f)?;
                let mut both = values.iter().zip(images).zip(sets);
                let alike = both.all(|((v, w), set)| self.tr(set, *v) == *w);
                match alike || values.len() == 1 && next.is_some_and(|next| sets_slot(next, *slot))
                {
                    true => Ok(()),
                    false => self.asymmetric("the initial value of a local variable changes"),
                }
            }
            (
                Stmt::If { cond, then, other },
                Stmt::If {
                    cond: image,
                    then: first,
                    other: second,
                },
            ) => {
                self.expr(cond, image, None, f)?;
                self.stmts(then, first, f)?;
                self.stmts(other, second, f)
            }
            (
                Stmt::While {
                    cond, body, step, ..
                },
                Stmt::While {
                    cond: image,
                    body: first,
                    step: second,
                    ..
                },
            ) => {
                self.expr(cond, image, None, f)?;
                self.stmts(body, first, f)?;
                self.stmts(step, second, f)
            }
            (
                Stmt::DoWhile { body, cond, .. },
                Stmt::DoWhile {
                    body: first,
                    cond: image,
                    ..
                },
            ) => {
                self.stmts(body, first, f)?;
                self.expr(cond, image, None, f)
            }
            (
                Stmt::Iterate {
                    slot, range, body, ..
                },
                Stmt::Iterate {
                    slot: other,
                    range: image,
                    body: first,
                    ..
                },
            ) => {
                let before = (f.a.clone(), f.b.clone());
                let sets = self.bind((a, *slot), (b, *other), 1, f)?;
                self.ranges(range, image, sets.first().copied().flatten())?;
                self.stmts(body, first, f)?;
                (f.a, f.b) = before;
                Ok(())
            }
            (Stmt::Return(None), Stmt::Return(None))
            | (Stmt::Break, Stmt::Break)
            | (Stmt::Continue, Stmt::Continue) => Ok(()),
            (Stmt::Return(Some(x)), Stmt::Return(Some(y))) => {
                let set = f.results.first().copied().flatten();
                self.expr(x, y, set, f)
            }
            (Stmt::ReturnBlock(x, l), Stmt::ReturnBlock(y, m)) if l == m => {
                let given = self.block(x, y, *l, f)?;
                let own = f.results.iter().copied().enumerate().collect();
                self.same_order(&given, &own)
            }
            (Stmt::Assert(x), Stmt::Assert(y)) => self.expr(x, y, None, f),
            _ => self.asymmetric("a statement changes"),
        }
    }
}

/// Whether a statement does nothing but set a slot to a value that does not depend on it.
fn sets_slot(stmt: &Stmt, slot: u32) -> bool {
    let Stmt::Expr(expr) = stmt else {
        return false;
    };
    let ExprKind::Assign {
        place,
        op: None,
        value,
        old_value: false,
    } = &expr.kind
    else {
        return false;
    };
    place.base == Base::Slot(slot)
        && place.steps.is_empty()
        && !crate::symmetry::effects::reads_slot(value, slot)
}
