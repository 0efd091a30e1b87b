//! `sym/initial` and `sym/non-canonical`: hints about sound models that lose part of the reduction.

use super::assigned::held_set;
use super::effects::Summaries;
use super::{Facts, FamilyView, Findings, Root, Slot};
use crate::check::{Body, Checked, Env};
use crate::consteval::Evaluator;
use crate::diag::Diag;
use crate::diagnostic::Severity;
use crate::hir::{Decl, ExprKind, Template};
use crate::symbol::{ItemId, Loc, SymKind, Symbol};
use crate::types::{ScalarSet, Type};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Reports where the initial state tells elements apart, once per set.
pub(super) fn initial(items: &[(ItemId, Arc<Checked>)], out: &mut Findings) {
    let mut initial = FxHashSet::default();
    for (_, c) in items {
        for d in &c.decls {
            if let Some(set) = d.symbol.value_type().and_then(held_set)
                && !has_error(c, d, &out.diags)
                && initial.insert(set.id)
            {
                let message = format!(
                    "`{}` starts at the first element of `{}`, so the initial state tells that element apart. Queries that treat all elements alike are not affected",
                    d.symbol.name, set.name
                );
                out.diags
                    .push(Diag::new("sym/initial", message, d.symbol.loc));
            }
        }
    }
}

/// The same for sets in `scalarset` notation, whose elements are integers.
pub(super) fn initial_integers(
    env: &Env,
    items: &[(ItemId, Arc<Checked>)],
    facts: &Facts,
    out: &mut Findings,
) {
    for e in facts.elements.iter().filter(|e| !e.detected) {
        let slots = facts.slots_of(e);
        let inside = |v: &i32| (0..e.size as i32).contains(v);
        let all = items
            .iter()
            .flat_map(|(_, c)| declared(c).map(move |d| (c, d)));
        for (c, d) in all {
            if has_error(c, d, &out.diags) {
                continue;
            }
            let root = Root::Symbol(d.symbol.id);
            let Some(values) = start_values(env, d) else {
                continue;
            };
            let holds = slots.contains(&Slot::Leaf(root.clone(), Vec::new()));
            let over = slots.contains(&Slot::Dim(root, Vec::new(), 0));
            let differ = values.windows(2).any(|w| w[0] != w[1]);
            let why = if holds && values.iter().any(inside) {
                "starts at one element"
            } else if over && differ {
                "starts with values that differ by element"
            } else {
                continue;
            };
            let message = format!(
                "`{}` {why} of `{}`, so the initial state tells elements apart. Queries that treat all elements alike are not affected",
                d.symbol.name, e.set.name
            );
            out.diags
                .push(Diag::new("sym/initial", message, d.symbol.loc));
            break;
        }
    }
}

/// Whether an error was reported between the name of a variable and the next one. The hint is then
/// left out: the error says more.
fn has_error(c: &Checked, d: &Decl, found: &[Diag]) -> bool {
    let (item, from) = (d.symbol.loc.item, d.symbol.loc.span.start);
    let starts = declared(c).map(|d| d.symbol.loc.span.start);
    let next = starts.filter(|s| *s > from).min();
    let between = |at: u32| at >= from && next.is_none_or(|next| at < next);
    let mut all = c.diags.iter().chain(found);
    all.any(|e| e.severity() == Severity::Error && e.loc.item == item && between(e.loc.span.start))
}

/// The variables that an item declares, globally or in its template.
fn declared(c: &Checked) -> impl Iterator<Item = &Decl> {
    let locals = match &c.body {
        Body::Template(t) => t.decls.as_slice(),
        _ => &[],
    };
    c.decls.iter().chain(locals)
}

/// The initial values of an integer variable or an array of integers, if they are known.
fn start_values(env: &Env, d: &Decl) -> Option<Vec<i32>> {
    let SymKind::Var(v) = &d.symbol.kind else {
        return None;
    };
    let plain = match &v.ty {
        Type::Array(a) => matches!(a.element, Type::Int(_) | Type::Bool),
        ty => matches!(ty, Type::Int(_)),
    };
    if v.constant || !plain {
        return None;
    }
    match &d.init {
        Some(init) => Evaluator::new(&env.bodies, &|_| None)
            .init(init, &v.ty)
            .ok(),
        None => Some(vec![0]),
    }
}

/// Reports relations between elements, and clock values other than 0, inside one item.
pub(super) fn item(c: &Checked, out: &mut Findings) {
    c.decls.iter().for_each(|d| relations(&d.symbol, out));
    if let Body::Template(t) = &c.body {
        t.decls.iter().for_each(|d| relations(&d.symbol, out));
        resets(t, out);
    }
}

/// Reports arrays that relate elements to each other.
fn relations(s: &Symbol, out: &mut Findings) {
    let SymKind::Var(v) = &s.kind else {
        return;
    };
    let (mut dims, mut at) = (Vec::new(), &v.ty);
    while let Type::Array(a) = at {
        if let Some(set) = a.index.any_set() {
            dims.push(set.clone());
        }
        at = &a.element;
    }
    let Some(first) = dims.first() else {
        return;
    };
    let why = if dims.len() > 1 {
        format!("`{}` relates elements of two scalar dimensions", s.name)
    } else if held_set(at).is_some() {
        format!("`{}` maps elements of `{}` to elements", s.name, first.name)
    } else {
        return;
    };
    hint(&why, s.loc, out);
}

fn hint(why: &str, loc: Loc, out: &mut Findings) {
    let message = format!(
        "{why}; equivalent states may keep different representatives, which costs states, not soundness"
    );
    out.diags.push(Diag::new("sym/non-canonical", message, loc));
}

/// Reports clocks set to something other than 0: they break the order that representatives are
/// sorted by.
fn resets(t: &Template, out: &mut Findings) {
    for u in t.edges.iter().flat_map(|e| &e.updates) {
        u.walk(&mut |e| {
            if let ExprKind::Assign(_, target, value) = &e.kind
                && matches!(target.ty, Type::Clock)
                && !matches!(value.kind, ExprKind::Int(0))
            {
                let loc = Loc {
                    item: t.loc.item,
                    span: e.span,
                };
                hint("a clock is set to something other than 0", loc, out);
            }
        });
    }
}

/// Reports sets that each process of a symmetric family has for itself.
fn local_sets(view: &FamilyView<'_>, out: &mut Findings) {
    let mut seen = FxHashSet::default();
    for d in &view.template.decls {
        let Some(ty) = d.symbol.value_type() else {
            continue;
        };
        if let Some(set) = local_set(ty)
            && seen.insert(set.id)
        {
            let message = format!(
                "each process of `{}` has its own scalarset `{}`, and the processes are interchangeable themselves; the elements of `{}` are told apart. Declare it outside the template if all processes can share it",
                view.symbol.name, set.name, set.name
            );
            out.diags.push(Diag::new("sym/local", message, set.loc));
        }
    }
}

/// A scalarset declared in the template that a type mentions.
fn local_set(ty: &Type) -> Option<Arc<ScalarSet>> {
    match ty {
        Type::Array(a) => local_set(&a.index).or_else(|| local_set(&a.element)),
        Type::Struct(s) => s.fields.iter().find_map(|(_, t)| local_set(t)),
        other => other.scalar().filter(|s| s.local).cloned(),
    }
}

/// Reports families over two sets, and elements stored in local variables.
pub(super) fn family(view: &FamilyView<'_>, summaries: &Summaries<'_>, out: &mut Findings) {
    let elements = view.elements(summaries);
    if elements.len() > 1 {
        let why = format!(
            "processes of `{}` belong to two elements at once",
            view.symbol.name
        );
        hint(&why, view.symbol.loc, out);
    }
    if elements.is_empty() {
        return;
    }
    local_sets(view, out);
    for d in &view.template.decls {
        if matches!(&d.symbol.kind, SymKind::Var(v) if held_set(&v.ty).is_some()) {
            let why = format!(
                "`{}` lets one element of the family point at another",
                d.symbol.name
            );
            hint(&why, d.symbol.loc, out);
        }
    }
}
