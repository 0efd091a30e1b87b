//! Edges into a location whose invariant is false when they arrive: they can never be taken.

use crate::check::has_side_effect;
use crate::diag::Diag;
use crate::hir::{Edge, End, Expr, ExprKind, Template};
use crate::symbol::{Home, Loc, SymKind, Symbol};
use crate::symmetry::bounds_of;
use crate::types::Type;
use zonelens_syntax::ast::{AssignOp, BinaryOp as B};

/// A comparison such as `variable < bound`.
struct Bounded<'a> {
    variable: &'a Symbol,
    /// Whether the bound is an upper bound; `None` for an equation.
    upper: Option<bool>,
    strict: bool,
    /// The smallest and largest value that the bound can have.
    bound: (i64, i64),
    clock: bool,
}

/// An interval of values; the lower end may be excluded.
struct Values {
    least: i64,
    most: i64,
    above_least: bool,
}

/// Checks the edges of a template.
pub(super) fn check(t: &Template, out: &mut Vec<Diag>) {
    for edge in &t.edges {
        let End::Location(to) = edge.target else {
            continue;
        };
        let Some(location) = t.locations.get(to as usize) else {
            continue;
        };
        let mut parts = Vec::new();
        location
            .invariant
            .iter()
            .for_each(|i| conjuncts(i, &mut parts));
        let broken = parts.iter().find_map(|part| {
            let bounded = bounded(part)?;
            let (values, why) = on_entry(edge, &bounded)?;
            fails(&bounded, &values).then_some((part, bounded.variable, values, why))
        });
        if let Some((part, variable, values, why)) = broken {
            let name = &variable.name;
            let arrives = match (values.least == values.most, values.above_least) {
                (true, _) => format!("{name} = {}", values.least),
                (false, true) => format!("{name} > {}", values.least),
                (false, false) => format!("{name} >= {}", values.least),
            };
            let message = format!(
                "this edge can never be taken: it enters `{}` with {arrives} ({why}), where the invariant does not allow that",
                location.symbol.name
            );
            let at = |span| Loc {
                item: t.loc.item,
                span,
            };
            out.push(
                Diag::new("lint/invariant-on-entry", message, at(edge.span))
                    .related(at(part.span), "this part of the invariant is false then"),
            );
        }
    }
}

fn conjuncts<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &e.kind {
        ExprKind::Binary(B::And, a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        _ => out.push(e),
    }
}

/// Reads a comparison of a variable with an expression of known range.
fn bounded(e: &Expr) -> Option<Bounded<'_>> {
    let ExprKind::Binary(op, a, b) = &e.kind else {
        return None;
    };
    let is_variable =
        |e: &Expr| matches!(e.kind, ExprKind::Var(_)) && matches!(e.ty, Type::Clock | Type::Int(_));
    // A clock is compared with a number; either may come first.
    let turned = matches!(b.ty, Type::Clock) || !is_variable(a);
    let (variable, bound) = if turned { (b, a) } else { (a, b) };
    let (ExprKind::Var(s), true) = (&variable.kind, is_variable(variable)) else {
        return None;
    };
    if !bound.ty.is_integral() || has_side_effect(bound) {
        return None;
    }
    let (upper, strict) = match op {
        B::Le => (Some(!turned), false),
        B::Lt => (Some(!turned), true),
        B::Ge => (Some(turned), false),
        B::Gt => (Some(turned), true),
        B::Eq => (None, false),
        _ => return None,
    };
    Some(Bounded {
        variable: s,
        upper,
        strict,
        bound: bounds_of(bound),
        clock: matches!(variable.ty, Type::Clock),
    })
}

/// The possible values of the variable when the edge arrives, and why. `None` if another writer may
/// change it meanwhile.
fn on_entry(edge: &Edge, of: &Bounded<'_>) -> Option<(Values, &'static str)> {
    let SymKind::Var(var) = &of.variable.kind else {
        return None;
    };
    let shared = var.home != Home::Template;
    if var.constant || (shared && edge.sync.is_some()) {
        return None;
    }
    let mut assigned = None;
    for update in &edge.updates {
        match &update.kind {
            ExprKind::Assign(op, target, value)
                if !has_side_effect(value) && !has_side_effect(target) =>
            {
                let own = target.root().is_some_and(|s| s.id == of.variable.id);
                let plain = *op == AssignOp::Set
                    && matches!(target.kind, ExprKind::Var(_))
                    && value.ty.is_integral();
                if own {
                    assigned = Some(plain.then(|| bounds_of(value))?);
                }
            }
            ExprKind::IncDec { .. } if !mentions(update, of.variable) => {}
            // A function call or conditional target may write anything.
            _ if has_side_effect(update) => return None,
            _ => {}
        }
    }
    if let Some((least, most)) = assigned {
        let values = Values {
            least,
            most,
            above_least: false,
        };
        return Some((values, "the edge sets it"));
    }
    // Without an assignment only the guard restricts the values, and time cannot decrease a clock.
    if !of.clock {
        return None;
    }
    let mut parts = Vec::new();
    edge.guard.iter().for_each(|g| conjuncts(g, &mut parts));
    let lower = parts
        .into_iter()
        .filter_map(bounded)
        .filter(|g| g.variable.id == of.variable.id && g.upper != Some(true));
    let strongest = lower.max_by_key(|g| (g.bound.0, g.strict))?;
    let values = Values {
        least: strongest.bound.0,
        most: i64::MAX,
        above_least: strongest.strict,
    };
    Some((values, "its guard says so and it is not reset"))
}

fn mentions(e: &Expr, s: &Symbol) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Var(v) if v.id == s.id));
    found
}

/// Whether a condition is false for all these values, for every value of its bound.
fn fails(of: &Bounded<'_>, v: &Values) -> bool {
    let (low, high) = of.bound;
    let above = v.least > high || (v.least == high && (of.strict || v.above_least));
    let below = v.most < low || (v.most == low && of.strict);
    match of.upper {
        Some(true) => above,
        Some(false) => below,
        None => v.least > high || (v.least == high && v.above_least) || v.most < low,
    }
}
