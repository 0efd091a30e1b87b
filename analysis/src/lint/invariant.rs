//! Parts of invariants that never restrict anything, because time and data stay within them anyway.

use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Expr, ExprKind, Template};
use crate::symbol::{Loc, SymId};
use crate::symmetry::bounds_of;
use crate::types::Type;
use zonelens_syntax::ast::BinaryOp as B;
use zonelens_syntax::span::Span;

/// An upper bound of a clock in a conjunction: the clock, the bound, whether it is strict.
struct Upper {
    clock: SymId,
    bound: i64,
    strict: bool,
    span: Span,
}

/// Checks the invariants of a template.
pub(super) fn check(t: &Template, out: &mut Vec<Diag>) {
    for invariant in t.locations.iter().filter_map(|l| l.invariant.as_ref()) {
        let mut parts = Vec::new();
        conjuncts(invariant, None, &mut parts);
        let uppers: Vec<Upper> = parts.iter().filter_map(|(p, _)| upper(p)).collect();
        for (part, without) in &parts {
            let why = match upper(part) {
                Some(u) => implied(&u, &uppers),
                None => always(part),
            };
            if let Some(why) = why {
                let item = t.loc.item;
                let message = format!("this part of the invariant never binds: {why}");
                let span = part.span;
                let mut diag = Diag::new("lint/never-binding", message, Loc { item, span });
                if let Some(span) = without {
                    let loc = Loc { item, span: *span };
                    let change = Change::Replace(loc, String::new());
                    diag = diag.repair("Remove it", vec![change]).safe();
                }
                out.push(diag);
            }
        }
    }
}

/// The parts of a conjunction, each with the span to delete in order to remove it.
fn conjuncts<'a>(e: &'a Expr, cut: Option<Span>, out: &mut Vec<(&'a Expr, Option<Span>)>) {
    match &e.kind {
        ExprKind::Binary(B::And, a, b) => {
            conjuncts(a, Some(Span::new(a.span.start, b.span.start)), out);
            conjuncts(b, Some(Span::new(a.span.end, b.span.end)), out);
        }
        _ => out.push((e, cut)),
    }
}

fn upper(e: &Expr) -> Option<Upper> {
    let ExprKind::Binary(op, a, b) = &e.kind else {
        return None;
    };
    let (clock, bound, strict) = match op {
        B::Le | B::Lt => (a, b, *op == B::Lt),
        B::Ge | B::Gt => (b, a, *op == B::Gt),
        _ => return None,
    };
    let (ExprKind::Var(s), Type::Clock) = (&clock.kind, &clock.ty) else {
        return None;
    };
    let (lo, hi) = bounds_of(bound);
    (lo == hi && bound.ty.is_integral()).then_some(Upper {
        clock: s.id,
        bound: lo,
        strict,
        span: e.span,
    })
}

/// Whether another bound of the same clock is tighter, or equally tight and earlier.
fn implied(u: &Upper, all: &[Upper]) -> Option<&'static str> {
    let tighter = |o: &&Upper| {
        let key = |x: &Upper| (x.bound, !x.strict);
        o.clock == u.clock && (key(o) < key(u) || (key(o) == key(u) && o.span.start < u.span.start))
    };
    all.iter()
        .find(tighter)
        .map(|_| "another bound of the same clock is reached first")
}

/// Why a condition always holds. Conditions on constants alone are not reported: they may depend on
/// configuration.
fn always(e: &Expr) -> Option<&'static str> {
    let ExprKind::Binary(op, a, b) = &e.kind else {
        return matches!(e.kind, ExprKind::Bool(true)).then_some("it is always true");
    };
    let (low, high, strict) = match op {
        B::Le | B::Lt => (a, b, *op == B::Lt),
        B::Ge | B::Gt => (b, a, *op == B::Gt),
        _ => return None,
    };
    if matches!(high.ty, Type::Clock) && low.ty.is_integral() {
        let (_, most) = bounds_of(low);
        let below = most < 0 || (most == 0 && !strict);
        return below.then_some("clocks are never negative");
    }
    if !low.ty.is_integral() || !high.ty.is_integral() {
        return None;
    }
    let ((la, lb), (ha, hb)) = (bounds_of(low), bounds_of(high));
    let constant = la == lb && ha == hb;
    let holds = lb < ha || (lb == ha && !strict);
    (holds && !constant).then_some("the range of the variable is within it")
}
