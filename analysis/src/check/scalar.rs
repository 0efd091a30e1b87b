//! Misuse of scalars: reports a `sym/…` code instead of a plain type error.

use super::Checker;
use crate::diag::Diag;
use crate::hir::Expr;
use crate::types::{ScalarSet, Type};
use std::sync::Arc;
use zonelens_syntax::ast::{BinaryOp, UnaryOp};
use zonelens_syntax::span::Span;

impl Checker<'_> {
    fn sym(&mut self, code: &'static str, set: &ScalarSet, message: String, span: Span) {
        let diag = self.sym_diag(code, set, message, span);
        self.report(diag);
    }

    fn sym_diag(&self, code: &'static str, set: &ScalarSet, message: String, span: Span) -> Diag {
        Diag::new(code, message, self.here(span))
            .related(set.loc, format!("`{}` is declared here", set.name))
    }

    /// Like `sym`, and offers the elements of `set` that are in scope as replacements for `value`.
    fn sym_value(
        &mut self,
        code: &'static str,
        set: &ScalarSet,
        message: String,
        (span, value): (Span, Span),
    ) {
        let diag = self.sym_diag(code, set, message, span);
        let diag = self.offer_elements(diag, set, value);
        self.report(diag);
    }

    /// Reports arithmetic on a scalar. Where an element is expected, `offer_operand` adds the fix.
    pub(crate) fn scalar_arithmetic(&mut self, set: &Arc<ScalarSet>, whole: Span) {
        let message = format!(
            "elements of the scalarset `{}` have no arithmetic: they are interchangeable, so no result could mean the same after renaming them",
            set.name
        );
        self.sym("sym/arithmetic", set, message, whole);
    }

    /// Reports a scalar where a number is needed.
    pub(crate) fn scalar_as_number(&mut self, set: &Arc<ScalarSet>, span: Span) {
        self.sym(
            "sym/literal",
            set,
            format!("an element of the scalarset `{}` is not a number", set.name),
            span,
        );
    }

    /// Reports a mismatch between an expected and a given type if one of them is a scalar. Returns
    /// true if it did, or if the types fit after all because the expression is about one state of a
    /// trace. `value` is the span of the given expression.
    pub(crate) fn scalar_meets(
        &mut self,
        want: &Type,
        have: &Type,
        span: Span,
        value: Span,
    ) -> bool {
        match (want, have) {
            (Type::Scalar(_), t) | (t, Type::Scalar(_)) if self.in_state && t.is_number() => true,
            (Type::Scalar(a), Type::Scalar(b)) if a != b => {
                self.sym_value(
                    "sym/mixed",
                    a,
                    format!(
                        "`{}` and `{}` are different scalarsets: their elements have nothing in common, even if the sizes are equal",
                        a.name, b.name
                    ),
                    (span, value),
                );
                true
            }
            (Type::Clock, Type::Scalar(set)) | (Type::Scalar(set), Type::Clock) => {
                self.sym(
                    "sym/clock",
                    set,
                    format!(
                        "a clock cannot be compared with an element of the scalarset `{}`",
                        set.name
                    ),
                    span,
                );
                true
            }
            (Type::Scalar(set), t) if t.is_number() => {
                self.sym_value(
                    "sym/literal",
                    set,
                    format!(
                        "a number cannot be used as an element of the scalarset `{}`: that would single one element out",
                        set.name
                    ),
                    (span, value),
                );
                true
            }
            (t, Type::Scalar(set)) if t.is_number() => {
                self.scalar_as_number(set, span);
                true
            }
            _ => false,
        }
    }

    /// Reports a binary operator that is not defined for scalars. Returns whether one operand is a
    /// scalar.
    pub(crate) fn scalar_operands(
        &mut self,
        op: BinaryOp,
        a: &Expr,
        b: &Expr,
        whole: Span,
    ) -> bool {
        let (set, operand) = match (a.ty.scalar(), b.ty.scalar()) {
            (Some(set), _) => (set.clone(), a),
            (None, Some(set)) => (set.clone(), b),
            _ => return false,
        };
        if matches!(a.ty, Type::Clock | Type::Diff) || matches!(b.ty, Type::Clock | Type::Diff) {
            return self.scalar_meets(&Type::Clock, &Type::Scalar(set), whole, whole);
        }
        use BinaryOp as B;
        match op {
            B::Pow | B::Mul | B::Div | B::Mod | B::Add | B::Sub | B::Shl | B::Shr | B::BitAnd
            | B::BitXor | B::BitOr => self.scalar_arithmetic(&set, whole),
            B::Min | B::Max | B::Lt | B::Le | B::Ge | B::Gt => {
                let message = format!(
                    "elements of the scalarset `{}` have no order; compare them with == and != only",
                    set.name
                );
                let mut diag = self.sym_diag("sym/order", &set, message, whole);
                if a.ty == b.ty && !matches!(op, B::Min | B::Max) {
                    for op in ["==", "!="] {
                        diag = diag
                            .repair(format!("Compare with `{op}`"), vec![self.operator(a, b, op)]);
                    }
                }
                self.report(diag);
            }
            B::Eq | B::Ne if a.ty.scalar().is_some() => {
                self.scalar_meets(&a.ty, &b.ty, whole, b.span);
            }
            B::Eq | B::Ne => {
                self.scalar_meets(&b.ty, &a.ty, whole, a.span);
            }
            B::And | B::Or | B::Xor | B::Imply => self.sym(
                "type/operand",
                &set,
                format!("an element of the scalarset `{}` is not a truth value; compare it with another element", set.name),
                operand.span,
            ),
        }
        true
    }

    /// Reports a unary operator on a scalar. Returns whether it did.
    pub(crate) fn scalar_operand(&mut self, op: UnaryOp, e: &Expr, whole: Span) -> bool {
        let Some(set) = e.ty.scalar().cloned() else {
            return false;
        };
        match op {
            UnaryOp::Not => self.sym(
                "type/operand",
                &set,
                format!(
                    "an element of the scalarset `{}` is not a truth value",
                    set.name
                ),
                whole,
            ),
            UnaryOp::Minus | UnaryOp::Plus => {
                self.scalar_arithmetic(&set, whole);
            }
        }
        true
    }

    /// Checks an index against the index type of a dimension.
    pub(crate) fn index_value(&mut self, want: &Type, index: &Expr) {
        match (want, &index.ty) {
            (Type::Error, _) | (_, Type::Error) => self.offer_operand(want, index),
            (Type::Scalar(a), Type::Scalar(b)) if a == b => {}
            (Type::Scalar(_), t) if self.in_state && t.is_integral() => {}
            (Type::Scalar(a), Type::Scalar(b)) => {
                let message = format!(
                    "this dimension is indexed by the scalarset `{}`, not by `{}`",
                    a.name, b.name
                );
                self.sym_value("sym/index-other", a, message, (index.span, index.span));
            }
            (Type::Scalar(a), t) if t.is_number() => {
                let message = format!(
                    "this dimension is indexed by elements of the scalarset `{}`; a number would single one of them out",
                    a.name
                );
                self.sym_value("sym/index-int", a, message, (index.span, index.span));
            }
            (Type::Int(_), Type::Scalar(b)) => {
                let message = format!(
                    "an ordinary dimension cannot be indexed by an element of the scalarset `{}`; declare the dimension as `[{}]`",
                    b.name, b.name
                );
                self.sym("sym/index-scalar", b, message, index.span);
            }
            (Type::Int(_), t) if t.is_integral() => {}
            (_, t) => {
                let message = format!("an index must be an integer, this is {t}");
                self.error_at("type/index", message, index.span);
            }
        }
    }

    /// Reports a scalar used as a condition: guard, `if`, quantifier body. Returns whether it did.
    pub(crate) fn scalar_as_condition(&mut self, e: &Expr) -> bool {
        let Some(set) = e.ty.scalar().cloned() else {
            return false;
        };
        self.sym(
            "type/condition",
            &set,
            format!("an element of the scalarset `{}` is not a condition; compare it with another element", set.name),
            e.span,
        );
        true
    }
}
