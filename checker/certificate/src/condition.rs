//! Conditions over clocks: the parts of a zone in which an expression has its values.

use crate::eval::{Eval, Evaluator, Failure, fail, operate};
use crate::zone::{
    Bound, Constraint, LARGEST, TooManyPieces, Union, Zone, at_most, below, subtract,
};
use zonelens_analysis::network::{BinaryOp, ClockRef, CompareOp, Expr, ExprKind, UnaryOp};
use zonelens_syntax::ast::QuantifierKind;

/// The most parts that one condition may split a zone into.
const MOST_PARTS: usize = 20_000;

impl From<TooManyPieces> for Failure {
    fn from(_: TooManyPieces) -> Failure {
        Failure {
            message: "the condition splits the clock values into too many parts to check".into(),
            span: None,
        }
    }
}

/// Whether clocks, or `deadlock`, can decide the value of an expression.
pub(crate) fn has_clocks(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Clock { .. } | ExprKind::Rate { .. } | ExprKind::Deadlock => true,
        ExprKind::Unary(_, a) => has_clocks(a),
        ExprKind::Binary(_, a, b) => has_clocks(a) || has_clocks(b),
        ExprKind::Cond(c, a, b) => has_clocks(c) || has_clocks(a) || has_clocks(b),
        ExprKind::Quantifier { body, .. } => has_clocks(body),
        _ => false,
    }
}

/// Whether an expression asks for `deadlock`.
pub(crate) fn has_deadlock(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Deadlock => true,
        ExprKind::Unary(_, a) => has_deadlock(a),
        ExprKind::Binary(_, a, b) => has_deadlock(a) || has_deadlock(b),
        ExprKind::Cond(c, a, b) => has_deadlock(c) || has_deadlock(a) || has_deadlock(b),
        ExprKind::Quantifier { body, .. } => has_deadlock(body),
        _ => false,
    }
}

/// A condition whose conjuncts are separated: those without clocks are decided by the discrete
/// state alone and are evaluated first.
pub(crate) struct Conjuncts<'n> {
    pub integers: Vec<&'n Expr>,
    pub clocks: Vec<&'n Expr>,
}

impl<'n> Conjuncts<'n> {
    pub(crate) fn of(condition: Option<&'n Expr>) -> Conjuncts<'n> {
        fn add<'n>(expr: &'n Expr, out: &mut Conjuncts<'n>) {
            match &expr.kind {
                ExprKind::Binary(BinaryOp::And, a, b) => {
                    add(a, out);
                    add(b, out);
                }
                _ if has_clocks(expr) => out.clocks.push(expr),
                _ => out.integers.push(expr),
            }
        }
        let mut out = Conjuncts {
            integers: Vec::new(),
            clocks: Vec::new(),
        };
        condition.into_iter().for_each(|c| add(c, &mut out));
        out
    }
}

/// A zone in disjoint parts, each with the value of an expression in it.
pub(crate) type Parts = Vec<(i32, Zone)>;

impl Evaluator<'_> {
    /// The points of the zones where all conditions hold, and the points where one does not.
    /// A condition that fails counts only where no other one is false.
    pub(crate) fn divide(&mut self, conditions: &[&Expr], zones: Union) -> Eval<(Union, Union)> {
        let (mut inside, mut outside) = (zones, Vec::new());
        let mut failed = None;
        for condition in conditions {
            let mut still = Vec::new();
            for zone in inside {
                match self.parts(condition, zone.clone(), &[]) {
                    Ok(parts) => {
                        for (value, part) in parts {
                            if value != 0 { &mut still } else { &mut outside }.push(part);
                        }
                    }
                    Err(failure) => {
                        failed.get_or_insert(failure);
                        still.push(zone);
                    }
                }
            }
            inside = still;
        }
        match failed {
            Some(failure) if !inside.is_empty() => Err(failure),
            _ => Ok((inside, outside)),
        }
    }

    /// Splits a zone by the value of an expression; `dead` is the part in which `deadlock` is true.
    /// Evaluation follows the expression from left to right, and what a point does not reach is not
    /// evaluated for it.
    pub(crate) fn parts(&mut self, expr: &Expr, zone: Zone, dead: &[Zone]) -> Eval<Parts> {
        let parts = self.split(expr, zone, dead).map_err(|mut failure| {
            failure.span.get_or_insert(expr.span);
            failure
        })?;
        match parts.len() > MOST_PARTS {
            true => Err(TooManyPieces.into()),
            false => Ok(parts),
        }
    }

    fn split(&mut self, expr: &Expr, zone: Zone, dead: &[Zone]) -> Eval<Parts> {
        if !has_clocks(expr) {
            return Ok(vec![(self.eval(expr)?, zone)]);
        }
        let mut out = Vec::new();
        match &expr.kind {
            ExprKind::Clock {
                left,
                right,
                op,
                bound,
            } => return self.compare(left, right.as_ref(), *op, bound, zone),
            // Rates other than 1 are refused before anything is checked.
            ExprKind::Rate { .. } => out.push((1, zone)),
            ExprKind::Deadlock => {
                let mut alive = vec![zone.clone()];
                for part in dead {
                    out.extend(zone.intersect(part).map(|both| (1, both)));
                    alive = subtract(alive, part)?;
                }
                out.extend(alive.into_iter().map(|part| (0, part)));
            }
            ExprKind::Unary(UnaryOp::Not, a) => {
                let parts = self.parts(a, zone, dead)?.into_iter();
                out.extend(parts.map(|(v, part)| (i32::from(v == 0), part)));
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                for (value, part) in self.parts(a, zone, dead)? {
                    if (value != 0) == (*op == BinaryOp::Or) {
                        out.push((i32::from(value != 0), part));
                        continue;
                    }
                    let parts = self.parts(b, part, dead)?.into_iter();
                    out.extend(parts.map(|(v, part)| (i32::from(v != 0), part)));
                }
            }
            ExprKind::Binary(op, a, b) => {
                for (left, part) in self.parts(a, zone, dead)? {
                    for (right, part) in self.parts(b, part, dead)? {
                        out.push((operate(*op, left, right)?, part));
                    }
                }
            }
            ExprKind::Cond(c, a, b) => {
                for (value, part) in self.parts(c, zone, dead)? {
                    let branch = if value != 0 { a } else { b };
                    out.extend(self.parts(branch, part, dead)?);
                }
            }
            ExprKind::Quantifier {
                kind,
                slot,
                range,
                body,
            } if *kind != QuantifierKind::Sum => {
                let ends_with = *kind == QuantifierKind::Exists;
                if self.searches.is_some() {
                    for k in 0..range.len {
                        self.bind(*slot, range.lo.wrapping_add(k as i32));
                        self.parts(body, zone.clone(), dead)?;
                    }
                }
                let mut open = vec![zone];
                for k in 0..range.len {
                    for zone in std::mem::take(&mut open) {
                        self.bind(*slot, range.lo.wrapping_add(k as i32));
                        for (value, part) in self.parts(body, zone, dead)? {
                            match (value != 0) == ends_with {
                                true => out.push((i32::from(ends_with), part)),
                                false => open.push(part),
                            }
                        }
                    }
                }
                out.extend(open.into_iter().map(|part| (i32::from(!ends_with), part)));
            }
            _ => return fail("certificates do not cover a clock condition of this form"),
        }
        Ok(out)
    }

    fn compare(
        &mut self,
        left: &ClockRef,
        right: Option<&ClockRef>,
        op: CompareOp,
        bound: &Expr,
        zone: Zone,
    ) -> Eval<Parts> {
        let i = self.clock(left)? + 1;
        let j = match right {
            Some(clock) => self.clock(clock)? + 1,
            None => 0,
        };
        let c = i64::from(self.eval(bound)?);
        if c.abs() > LARGEST {
            return fail(format!("a clock is compared with {c}, beyond 2^30"));
        }
        let upper = |bound: Bound| Constraint { i, j, bound };
        let lower = |bound: Bound| Constraint { i: j, j: i, bound };
        // The sets where the comparison has each value, as conjunctions.
        let (less, equal, more) = (
            vec![upper(below(c))],
            vec![upper(at_most(c)), lower(at_most(-c))],
            vec![lower(below(-c))],
        );
        let (not_less, not_more) = (vec![lower(at_most(-c))], vec![upper(at_most(c))]);
        let sets = match op {
            CompareOp::Lt => vec![(1, less), (0, not_less)],
            CompareOp::Ge => vec![(0, less), (1, not_less)],
            CompareOp::Le => vec![(1, not_more), (0, more)],
            CompareOp::Gt => vec![(0, not_more), (1, more)],
            CompareOp::Eq => vec![(0, less), (1, equal), (0, more)],
            CompareOp::Ne => vec![(1, less), (0, equal), (1, more)],
        };
        let mut out = Vec::new();
        for (value, set) in sets {
            let part = set.into_iter().try_fold(zone.clone(), Zone::and);
            out.extend(part.map(|part| (value, part)));
        }
        Ok(out)
    }
}
