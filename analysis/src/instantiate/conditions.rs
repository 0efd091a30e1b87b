//! Conditions over clocks. Negations are pushed inwards, so that clock atoms occur only below `&&`,
//! `||` and quantifiers.

use super::expr::{binary, not};
use super::{Foreign, Lowered, Scope, as_constant, constant};
use crate::hir::{Expr, ExprKind};
use crate::network::{self, BinaryOp, ClockRef, CompareOp};
use crate::types::Type;
use zonelens_syntax::ast::{self, UnaryOp};
use zonelens_syntax::span::Span;

/// Σ plus − Σ minus + constant
#[derive(Default)]
struct Linear {
    plus: Vec<ClockRef>,
    minus: Vec<ClockRef>,
    constant: Option<network::Expr>,
}

fn compare(op: ast::BinaryOp) -> Option<CompareOp> {
    Some(match op {
        ast::BinaryOp::Lt => CompareOp::Lt,
        ast::BinaryOp::Le => CompareOp::Le,
        ast::BinaryOp::Ge => CompareOp::Ge,
        ast::BinaryOp::Gt => CompareOp::Gt,
        ast::BinaryOp::Eq => CompareOp::Eq,
        ast::BinaryOp::Ne => CompareOp::Ne,
        _ => return None,
    })
}

fn negate(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    }
}

fn flip(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Ge => CompareOp::Le,
        CompareOp::Gt => CompareOp::Lt,
        same => same,
    }
}

/// `a - b` of optional terms, folded where known.
fn minus(a: Option<network::Expr>, b: Option<network::Expr>, span: Span) -> network::Expr {
    match (a, b) {
        (None, None) => constant(0, span),
        (Some(a), None) => a,
        (None, Some(b)) => match as_constant(&b).and_then(i32::checked_neg) {
            Some(v) => constant(v, span),
            None => network::Expr {
                kind: network::ExprKind::Unary(network::UnaryOp::Neg, Box::new(b)),
                span,
            },
        },
        (Some(a), Some(b)) => fold(BinaryOp::Sub, a, b, span),
    }
}

fn fold(op: BinaryOp, a: network::Expr, b: network::Expr, span: Span) -> network::Expr {
    let value = match (as_constant(&a), as_constant(&b), op) {
        (Some(x), Some(y), BinaryOp::Add) => x.checked_add(y),
        (Some(x), Some(y), BinaryOp::Sub) => x.checked_sub(y),
        _ => None,
    };
    match value {
        Some(v) => constant(v, span),
        None => binary(op, a, b, span),
    }
}

impl Scope<'_> {
    /// Lowers a condition, or its negation.
    pub(crate) fn condition(&mut self, e: &Expr, negated: bool) -> Lowered<network::Expr> {
        let span = self.span(e.span);
        if matches!(e.kind, ExprKind::Deadlock) {
            let deadlock = network::Expr {
                kind: network::ExprKind::Deadlock,
                span,
            };
            return Ok(if negated {
                not(deadlock, span)
            } else {
                deadlock
            });
        }
        if !matches!(e.ty, Type::Cond(_)) {
            let plain = self.int(e)?;
            return Ok(if negated { not(plain, span) } else { plain });
        }
        match &e.kind {
            ExprKind::Unary(UnaryOp::Not, a) => self.condition(a, !negated),
            ExprKind::Binary(op, a, b) => self.binary_condition(*op, a, b, negated, e),
            ExprKind::Cond(c, a, b) => {
                let (yes, no) = (self.condition(c, false)?, self.condition(c, true)?);
                let (a, b) = (self.condition(a, negated)?, self.condition(b, negated)?);
                Ok(binary(
                    BinaryOp::Or,
                    binary(BinaryOp::And, yes, a, span),
                    binary(BinaryOp::And, no, b, span),
                    span,
                ))
            }
            ExprKind::Quantifier { kind, var, body } => {
                self.quantifier(*kind, var, body, span, negated)
            }
            ExprKind::Comma(list) => {
                let mut all: Option<network::Expr> = None;
                for part in list {
                    let part = self.condition(part, negated)?;
                    let op = if negated { BinaryOp::Or } else { BinaryOp::And };
                    all = Some(match all {
                        None => part,
                        Some(a) => binary(op, a, part, span),
                    });
                }
                all.ok_or(Foreign::Broken)
            }
            _ => Err(Foreign::Broken),
        }
    }

    fn binary_condition(
        &mut self,
        op: ast::BinaryOp,
        a: &Expr,
        b: &Expr,
        negated: bool,
        e: &Expr,
    ) -> Lowered<network::Expr> {
        use ast::BinaryOp as B;
        let span = self.span(e.span);
        let join = |and: bool, x, y| {
            let op = if and != negated {
                BinaryOp::And
            } else {
                BinaryOp::Or
            };
            binary(op, x, y, span)
        };
        match op {
            B::And => {
                let (x, y) = (self.condition(a, negated)?, self.condition(b, negated)?);
                Ok(join(true, x, y))
            }
            B::Or => {
                let (x, y) = (self.condition(a, negated)?, self.condition(b, negated)?);
                Ok(join(false, x, y))
            }
            B::Imply => {
                let (x, y) = (self.condition(a, !negated)?, self.condition(b, negated)?);
                Ok(join(false, x, y))
            }
            _ if self.is_atom(a, b) => self.atom(op, a, b, negated, e),
            B::Xor | B::Ne | B::Eq => {
                // Equal: both or neither.
                let same = (op == B::Eq) != negated;
                let (p, q) = (self.condition(a, false)?, self.condition(b, !same)?);
                let (r, s) = (self.condition(a, true)?, self.condition(b, same)?);
                Ok(binary(
                    BinaryOp::Or,
                    binary(BinaryOp::And, p, q, span),
                    binary(BinaryOp::And, r, s, span),
                    span,
                ))
            }
            _ => Err(Foreign::Broken),
        }
    }

    fn is_atom(&self, a: &Expr, b: &Expr) -> bool {
        let clocky = |t: &Type| matches!(t, Type::Clock | Type::Diff | Type::Rate);
        clocky(&a.ty) || clocky(&b.ty)
    }

    fn atom(
        &mut self,
        op: ast::BinaryOp,
        a: &Expr,
        b: &Expr,
        negated: bool,
        e: &Expr,
    ) -> Lowered<network::Expr> {
        let span = self.span(e.span);
        let (rate, other) = match (&a.kind, &b.kind) {
            (ExprKind::Rate(x), _) => (Some(x), b),
            (_, ExprKind::Rate(x)) => (Some(x), a),
            _ => (None, b),
        };
        if let Some(x) = rate {
            if matches!(x.kind, ExprKind::Cost) {
                return Err(self.cost(e));
            }
            if negated || !other.ty.is_integral() {
                return Err(self.foreign(
                    "unsupported/rate",
                    "rates other than 0 and 1 are not part of symbolic verification",
                    e,
                ));
            }
            let clock = self.locate(x)?.clock();
            let rate = self.int(other)?;
            return Ok(network::Expr {
                kind: network::ExprKind::Rate {
                    clock,
                    rate: Box::new(rate),
                },
                span,
            });
        }
        let mut op = compare(op).ok_or(Foreign::Broken)?;
        if negated {
            op = negate(op);
        }
        let (l, r) = (self.linear(a)?, self.linear(b)?);
        let mut plus = l.plus;
        plus.extend(r.minus);
        let mut less = l.minus;
        less.extend(r.plus);
        let (left, right, op, bound) = match (plus.len(), less.len()) {
            (1, 0 | 1) => (
                plus.pop(),
                less.pop(),
                op,
                minus(r.constant, l.constant, span),
            ),
            (0, 1) => (
                less.pop(),
                None,
                flip(op),
                minus(l.constant, r.constant, span),
            ),
            _ => {
                return Err(self.foreign(
                    "unsupported/clock-sum",
                    "more than two clocks are compared here",
                    e,
                ));
            }
        };
        Ok(network::Expr {
            kind: network::ExprKind::Clock {
                left: left.ok_or(Foreign::Broken)?,
                right,
                op,
                bound: Box::new(bound),
            },
            span,
        })
    }

    fn linear(&mut self, e: &Expr) -> Lowered<Linear> {
        let span = self.span(e.span);
        match (&e.ty, &e.kind) {
            (
                Type::Clock,
                ExprKind::Var(_)
                | ExprKind::Index(..)
                | ExprKind::Field(..)
                | ExprKind::Member { .. },
            ) => Ok(Linear {
                plus: vec![self.locate(e)?.clock()],
                ..Linear::default()
            }),
            (
                Type::Clock | Type::Diff,
                ExprKind::Binary(op @ (ast::BinaryOp::Add | ast::BinaryOp::Sub), a, b),
            ) => {
                let (mut l, r) = (self.linear(a)?, self.linear(b)?);
                if *op == ast::BinaryOp::Add {
                    l.plus.extend(r.plus);
                    l.minus.extend(r.minus);
                    l.constant = match (l.constant, r.constant) {
                        (Some(x), Some(y)) => Some(fold(BinaryOp::Add, x, y, span)),
                        (x, y) => x.or(y),
                    };
                } else {
                    l.plus.extend(r.minus);
                    l.minus.extend(r.plus);
                    if r.constant.is_some() {
                        l.constant = Some(minus(l.constant, r.constant, span));
                    }
                }
                Ok(l)
            }
            (t, _) if t.is_integral() => Ok(Linear {
                constant: Some(self.int(e)?),
                ..Linear::default()
            }),
            (Type::Clock | Type::Diff, _) => Err(self.foreign(
                "unsupported/clock-choice",
                "a clock chosen by a condition is not supported",
                e,
            )),
            (Type::Double, _) => Err(self.double(e)),
            _ => Err(self.clock_value(e)),
        }
    }

    /// Lowers `x = e` and `x = y` for a clock `x`.
    pub(crate) fn set_clock(
        &mut self,
        target: &Expr,
        value: &Expr,
        span: Span,
    ) -> Lowered<network::Expr> {
        let clock = self.locate(target)?.clock();
        let kind = if matches!(value.ty, Type::Clock) {
            match self.linear(value)? {
                Linear {
                    mut plus,
                    constant: None,
                    ..
                } if plus.len() == 1 => network::ExprKind::CopyClock {
                    target: clock,
                    source: plus.pop().ok_or(Foreign::Broken)?,
                },
                _ => {
                    return Err(self.foreign(
                        "unsupported/clock-shift",
                        "a clock set to another clock plus a number is not supported",
                        value,
                    ));
                }
            }
        } else if matches!(value.ty, Type::Double) {
            return Err(self.double(value));
        } else {
            network::ExprKind::SetClock {
                clock,
                value: Box::new(self.int(value)?),
            }
        };
        Ok(network::Expr { kind, span })
    }

    /// Lowers an expression that `sup` or `inf` measures.
    pub(crate) fn measured(&mut self, e: &Expr) -> Lowered<network::BoundsExpr> {
        if e.ty.is_integral() {
            return Ok(network::BoundsExpr::Int(self.int(e)?));
        }
        let mut linear = self.linear(e)?;
        match (
            linear.plus.pop(),
            linear.plus.is_empty(),
            linear.minus.len(),
            &linear.constant,
        ) {
            (Some(left), true, 0 | 1, None) => Ok(network::BoundsExpr::Clock {
                left,
                right: linear.minus.pop(),
            }),
            _ => Err(self.foreign(
                "unsupported/clock-sum",
                "only a clock or a difference of two clocks can be measured",
                e,
            )),
        }
    }
}
