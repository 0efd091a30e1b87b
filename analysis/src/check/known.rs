//! Constant numbers outside the range of the array they index or of the parameter they are passed
//! for, found during type checking.

use super::Checker;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{ParamSig, SymKind, Symbol};
use crate::types::Type;
use zonelens_syntax::ast::BinaryOp;

impl Checker<'_> {
    /// The value of an expression over literals and constants. Calls are skipped: their results
    /// depend on function bodies.
    fn known_value(&mut self, e: &Expr) -> Option<i32> {
        if let ExprKind::Int(v) = e.kind {
            return Some(v);
        }
        let mut parts = MOST_PARTS;
        match !e.ty.is_error() && is_known(e, &mut parts) {
            true => self.evaluate(e).ok(),
            false => None,
        }
    }

    /// Checks the right side of `a op b`, which `a` may keep from being evaluated.
    pub(super) fn right_side<T>(
        &mut self,
        op: BinaryOp,
        a: &Expr,
        check: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let decides = match op {
            BinaryOp::And | BinaryOp::Imply => Some(false),
            BinaryOp::Or => Some(true),
            _ => None,
        };
        let skipped = decides.is_some_and(|by| {
            let value = self.known_value(a);
            value.is_some_and(|v| (v != 0) == by)
        });
        self.maybe_unreached(skipped, check)
    }

    /// Checks both branches of `c ? a : b`, one of which may never be evaluated.
    pub(super) fn branches<T>(
        &mut self,
        c: &Expr,
        then: impl FnOnce(&mut Self) -> T,
        other: impl FnOnce(&mut Self) -> T,
    ) -> (T, T) {
        let value = self.known_value(c);
        let then = self.maybe_unreached(value == Some(0), then);
        let other = self.maybe_unreached(value.is_some_and(|v| v != 0), other);
        (then, other)
    }

    /// Runs `check` with `unreached` set if the part it checks is never evaluated.
    pub(super) fn maybe_unreached<T>(
        &mut self,
        unreached: bool,
        check: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.unreached;
        self.unreached |= unreached;
        let out = check(self);
        self.unreached = before;
        out
    }

    /// Reports a constant index outside its array. In the model this is an error only if a run gets
    /// there, and sizes may be configured; in a query it is always an error.
    pub(super) fn known_index(&mut self, want: &Type, index: &Expr) {
        let Some((lo, hi)) = known_ends(want).filter(|_| !self.unreached) else {
            return;
        };
        let literal = matches!(index.kind, ExprKind::Int(_));
        let Some(v) = self.known_value(index).filter(|_| literal || self.in_query) else {
            return;
        };
        if (lo..=hi).contains(&v) {
            return;
        }
        let message = match lo > hi {
            true => {
                format!("there is no entry {v}: the array is empty, its indices are [{lo},{hi}]")
            }
            false => {
                format!("the index {v} lies outside the array, whose indices go from {lo} to {hi}")
            }
        };
        let code = match self.in_query {
            true => "query/range",
            false => "lint/index",
        };
        self.error_at(code, message, index.span);
    }

    /// Reports a constant argument of a function outside the range of its parameter.
    pub(super) fn known_argument(&mut self, p: &ParamSig, a: &Expr) {
        let ends = known_ends(&p.ty).filter(|_| !p.reference && !self.unreached);
        let Some((lo, hi)) = ends.filter(|(lo, hi)| lo <= hi) else {
            return;
        };
        if let Some(v) = self.known_value(a)
            && !(lo..=hi).contains(&v)
        {
            let message = format!(
                "{v} is passed for the parameter `{}`, whose range is [{lo},{hi}]; evaluating this call would be an error",
                p.name
            );
            let code = match self.in_query {
                true => "query/range",
                false => "lint/argument",
            };
            self.error_at(code, message, a.span);
        }
    }

    /// Reports a constant argument of a template outside the range of its parameter. A plain `int`
    /// parameter accepts any number, as a constant does.
    pub(super) fn known_process_argument(&mut self, p: &ParamSig, a: &Expr) {
        if p.reference || p.ty == Type::default_int() {
            return;
        }
        if let Some((lo, hi)) = known_ends(&p.ty)
            && let Some(v) = self.known_value(a)
            && !(lo..=hi).contains(&v)
        {
            let message = match lo > hi {
                true => format!(
                    "the range [{lo},{hi}] of the parameter `{}` is empty, so no argument fits",
                    p.name
                ),
                false => format!(
                    "the argument {v} lies outside the range [{lo},{hi}] of the parameter `{}`",
                    p.name
                ),
            };
            self.error_at("system/argument", message, a.span);
        }
    }

    /// Reports `P(3)` in a query if there is no such process.
    pub(super) fn known_process(&mut self, family: &Symbol, p: &ParamSig, a: &Expr) {
        let set = p.ty.any_set().and_then(|s| s.size.known());
        let truth = matches!(p.ty, Type::Bool).then_some((0, 1));
        let Some((lo, hi)) = known_ends(&p.ty).or(set.map(|n| (0, n - 1))).or(truth) else {
            return;
        };
        if self.unreached {
            return;
        }
        if let Some(v) = self.known_value(a)
            && !(lo..=hi).contains(&v)
        {
            let there = match lo > hi {
                true => format!(
                    "`{}` has no processes because the range [{lo},{hi}] of `{}` is empty",
                    family.name, p.name
                ),
                false if lo == hi => format!(
                    "the parameter `{}` of `{}` is always {lo}",
                    p.name, family.name
                ),
                false => format!(
                    "the parameter `{}` of `{}` goes from {lo} to {hi}",
                    p.name, family.name
                ),
            };
            let message = format!("there is no process for {v}: {there}");
            self.error_at("query/range", message, a.span);
        }
    }
}

/// The most parts of an expression that are examined. Longer ones are rarely constant, and a chain
/// of conditions would be walked once for each of its parts.
const MOST_PARTS: u32 = 64;

/// Whether an expression consists of literals and constants. Visits right sides first: the left one
/// is usually longer.
fn is_known(e: &Expr, parts: &mut u32) -> bool {
    let Some(rest) = parts.checked_sub(1) else {
        return false;
    };
    *parts = rest;
    match &e.kind {
        ExprKind::Var(s) => matches!(&s.kind, SymKind::Var(v) if v.value.is_some()),
        ExprKind::Int(_) | ExprKind::Bool(_) => true,
        ExprKind::Unary(_, a) | ExprKind::Field(a, _) => is_known(a, parts),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
            is_known(b, parts) && is_known(a, parts)
        }
        ExprKind::Cond(c, a, b) => [b, a, c].into_iter().all(|e| is_known(e, parts)),
        _ => false,
    }
}

/// The ends of a range of integers, if they are known. A `bool` accepts any number.
fn known_ends(ty: &Type) -> Option<(i32, i32)> {
    match ty {
        Type::Int(int) if int.set.as_ref().is_none_or(|s| !s.parameter) => {
            int.lo.known().zip(int.hi.known())
        }
        _ => None,
    }
}
