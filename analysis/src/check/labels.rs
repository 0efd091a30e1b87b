//! Labels: which expressions are allowed in guards, invariants, updates and conditions.

use super::Checker;
use super::operators::describe;
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind};
use crate::symbol::SymKind;
use crate::types::{CondClass, Type};
use zonelens_syntax::ast::{self, AssignOp, BinaryOp};

/// Whether evaluating the expression changes the state, or any variable that is not local to a
/// called function.
pub(crate) fn has_side_effect(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= match &e.kind {
            ExprKind::Assign(..) | ExprKind::IncDec { .. } => true,
            ExprKind::Call(f, _) | ExprKind::MemberCall { function: f, .. } => match &f.kind {
                SymKind::Function(sig) => {
                    sig.writes || sig.params.iter().any(|p| p.reference && p.written)
                }
                _ => false,
            },
            _ => false,
        }
    });
    found
}

/// Calls `found` for both sides of every clock equation in a conjunction.
fn clock_equations(e: &Expr, found: &mut dyn FnMut(&Expr, &Expr)) {
    match &e.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            clock_equations(a, found);
            clock_equations(b, found);
        }
        ExprKind::Binary(BinaryOp::Eq, a, b) if matches!(e.ty, Type::Cond(_)) => found(a, b),
        _ => {}
    }
}

impl Checker<'_> {
    /// Whether evaluating the expression changes anything.
    pub(crate) fn effect_of(&self, e: &Expr) -> bool {
        has_side_effect(e)
    }

    /// Checks a guard. In the 3.x syntax, `,` separates conjuncts.
    pub(crate) fn guard(&mut self, e: &ast::Expr) -> Expr {
        let ast = e;
        let e = self.conjunction(e);
        self.offer_declaration(ast, &Type::Bool);
        self.condition_class(&e, CondClass::Guard, "type/guard", "a guard");
        self.no_side_effect(&e, "a guard");
        self.note_unsupported(&e);
        e
    }

    /// Checks an invariant.
    pub(crate) fn invariant(&mut self, e: &ast::Expr) -> Expr {
        let e = self.conjunction(e);
        self.condition_class(&e, CondClass::Invariant, "type/invariant", "an invariant");
        self.no_side_effect(&e, "an invariant");
        self.note_unsupported(&e);
        e
    }

    /// Reports, once per label, what verification does not support.
    fn note_unsupported(&mut self, e: &Expr) {
        let (mut double, mut rate) = (None, None);
        e.walk(&mut |e| match &e.kind {
            ExprKind::Binary(_, a, b)
                if (matches!(a.ty, Type::Rate) || matches!(b.ty, Type::Rate))
                    && !e.mentions_cost() =>
            {
                let other = if matches!(a.ty, Type::Rate) { b } else { a };
                if !matches!(other.kind, ExprKind::Int(0 | 1)) && !other.ty.is_integral() {
                    rate = Some(e.span);
                }
            }
            _ if matches!(e.ty, Type::Double) && double.is_none() => double = Some(e.span),
            _ => {}
        });
        if let Some(span) = rate {
            let message = "rates other than 0 and 1 are not part of symbolic verification";
            self.error_at("unsupported/rate", message, span);
        } else if let Some(span) = double {
            let message = "floating-point values are not part of symbolic verification";
            self.error_at("unsupported/double", message, span);
        }
    }

    /// Checks a condition where `,` means "and", as in the 3.x syntax.
    pub(crate) fn conjunction(&mut self, e: &ast::Expr) -> Expr {
        let ast::ExprKind::Comma(list) = &e.kind else {
            return self.expr(e);
        };
        let mut parts = list
            .iter()
            .map(|e| self.expr(e))
            .collect::<Vec<_>>()
            .into_iter();
        let span = self.span(e.span);
        let Some(mut all) = parts.next() else {
            return Expr::error(span);
        };
        for next in parts {
            let ty = match (&all.ty, &next.ty) {
                (Type::Error, _) | (_, Type::Error) => Type::Error,
                (Type::Cond(a), Type::Cond(b)) => Type::Cond(*a.max(b)),
                (Type::Cond(a), t) | (t, Type::Cond(a)) if t.is_integral() => Type::Cond(*a),
                (a, b) if a.is_integral() && b.is_integral() => Type::Bool,
                _ => {
                    let wrong = if all.ty.is_integral() { &next } else { &all };
                    let message = format!("a condition is needed, this is {}", describe(&wrong.ty));
                    let span = wrong.span;
                    self.error_at("type/guard", message, span);
                    Type::Error
                }
            };
            all = Expr {
                kind: ExprKind::Binary(BinaryOp::And, Box::new(all), Box::new(next)),
                ty,
                span,
            };
        }
        all
    }

    fn condition_class(&mut self, e: &Expr, most: CondClass, code: &'static str, what: &str) {
        match &e.ty {
            Type::Error => {}
            t if t.is_integral() => {}
            Type::Cond(c) if *c <= most => {}
            Type::Cond(c) => {
                let why = match (most, c) {
                    (CondClass::Invariant, CondClass::Guard) => {
                        "it compares a clock with ==, which time cannot keep true"
                    }
                    _ => {
                        "it needs a disjunction or negation of clock conditions; split it over several edges or locations"
                    }
                };
                let mut diag = Diag::new(
                    code,
                    format!("this cannot be {what}: {why}"),
                    self.here(e.span),
                );
                if (most, *c) == (CondClass::Invariant, CondClass::Guard) {
                    let mut equations = Vec::new();
                    clock_equations(e, &mut |a, b| equations.push(self.operator(a, b, "<=")));
                    diag = diag.repair("Use `<=`", equations);
                }
                self.report(diag);
            }
            _ => {
                if !self.scalar_as_condition(e) {
                    let message = format!(
                        "{} cannot be {what}; a condition is needed",
                        describe(&e.ty)
                    );
                    self.error_at(code, message, e.span);
                }
            }
        }
    }

    /// Checks the condition of a statement or assertion: an integer or boolean.
    pub(crate) fn statement_condition(&mut self, e: &Expr) {
        let e = match &e.kind {
            ExprKind::Comma(list) => list.last().unwrap_or(e),
            _ => e,
        };
        if e.ty.is_integral() || self.scalar_as_condition(e) {
            return;
        }
        let message = format!("a condition is needed, this is {}", describe(&e.ty));
        self.error_at("type/condition", message, e.span);
    }

    /// Reports side effects where none are allowed.
    pub(crate) fn no_side_effect(&mut self, e: &Expr, what: &str) {
        if !self.effect_of(e) {
            return;
        }
        let mut at = e.span;
        let mut function = None;
        let mut compare = Vec::new();
        e.walk(&mut |e| match &e.kind {
            ExprKind::Assign(AssignOp::Set, a, b) => {
                at = e.span;
                compare.push(self.operator(a, b, "=="));
            }
            ExprKind::Assign(..) | ExprKind::IncDec { .. } => at = e.span,
            ExprKind::Call(f, _) if has_side_effect(e) => {
                at = e.span;
                function = Some(f.clone());
            }
            _ => {}
        });
        let message = match &function {
            Some(f) => format!("{what} must not change anything, but `{}` does", f.name),
            None => format!("{what} must not change anything; for comparison write =="),
        };
        let mut diag = Diag::new("type/side-effect", message, self.here(at));
        if let Some(f) = function {
            diag = diag.related(f.loc, "declared here");
        } else if !compare.is_empty() {
            diag = diag.repair("Compare with `==`", compare).safe();
        }
        self.report(diag);
    }

    /// Checks a list of updates.
    pub(crate) fn updates(&mut self, list: &[ast::Expr]) -> Vec<Expr> {
        let mut out = Vec::new();
        for e in list {
            let e = self.expr(e);
            self.update(&e);
            out.push(e);
        }
        out
    }

    fn update(&mut self, e: &Expr) {
        if e.ty.is_error() {
            return;
        }
        if let ExprKind::Comma(list) = &e.kind {
            for e in list {
                self.update(e);
            }
            return;
        }
        if let ExprKind::Assign(_, target, _) = &e.kind
            && !matches!(target.ty, Type::Double)
        {
            self.note_unsupported(e);
        }
        let acts = match &e.kind {
            ExprKind::Assign(..) | ExprKind::IncDec { .. } | ExprKind::Call(..) => true,
            ExprKind::Cond(_, a, b) => self.effect_of(a) || self.effect_of(b),
            _ => self.effect_of(e),
        };
        if !acts {
            let diag = Diag::new(
                "lint/no-effect",
                "this update changes nothing; to assign write `=`",
                self.here(e.span),
            );
            let diag = self.offer_assignment(diag, e);
            self.report(diag);
        }
    }
}
