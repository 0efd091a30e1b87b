//! Numbers that are known while typing and lie outside what they index or are passed for.

use super::Checker;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{ParamSig, SymKind, Symbol};
use crate::types::Type;
use zonelens_syntax::ast::BinaryOp;

impl Checker<'_> {
    /// The value of an expression over literals and constants. Calls are left alone: their results depend on bodies.
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

    /// Checks the right side of `a op b` as a part that may never be evaluated.
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

    /// Checks the two sides of `c ? a : b`, one of which may never be evaluated.
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

    /// Checks something that is not evaluated if `unreached`.
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

    /// An index that surely lies outside its array. In the model it is an error only where a run comes, and sizes may be a
    /// matter of configuration; a query is asked as it stands.
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

    /// An argument of a function that surely lies outside its parameter's range.
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

    /// An argument of a template that lies outside its parameter's range. A plain `int` holds any number there, as for
    /// constants.
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

    /// `P(3)` in a query where there is no such process.
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
                    "`{}` has no processes, the range [{lo},{hi}] of `{}` is empty",
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
            let message = format!("there is no process with {v} here: {there}");
            self.error_at("query/range", message, a.span);
        }
    }
}

/// Parts that are looked at: what is longer is not written to be known at a glance, and chains of conditions would be
/// walked once for each of their parts.
const MOST_PARTS: u32 = 64;

/// Whether an expression consists of literals and constants. Right sides come first: the left one is the longer.
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

/// The ends of a range of integers, where they are known. Any number is a truth value.
fn known_ends(ty: &Type) -> Option<(i32, i32)> {
    match ty {
        Type::Int(int) if int.set.as_ref().is_none_or(|s| !s.parameter) => {
            int.lo.known().zip(int.hi.known())
        }
        _ => None,
    }
}
