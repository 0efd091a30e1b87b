//! Lints: constructs that are legal, but almost certainly unintended.

mod entry;
mod graph;
mod invariant;
pub(crate) mod label_kind;
mod meta;
pub(crate) mod usage;

use crate::check::{Body, Checked};
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Decl, Expr, ExprKind, Template};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use usage::{Usage, Uses};

/// The findings and uses of one item.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemLint {
    usage: Vec<(SymId, Uses)>,
    diags: Vec<Diag>,
    /// Locations that cannot be left.
    dead_ends: Vec<Arc<Symbol>>,
}

impl ItemLint {
    fn new(c: &Checked) -> ItemLint {
        let mut out = ItemLint {
            usage: Usage::of_item(c),
            ..ItemLint::default()
        };
        if let Body::Template(t) = &c.body {
            selects(t, &mut out.diags);
            guards(t, &mut out.diags);
            invariant::check(t, &mut out.diags);
            entry::check(t, &mut out.diags);
            out.dead_ends = graph::check(t, &mut out.diags);
        }
        out
    }
}

pub(crate) use meta::written;

/// Checks a model. `queries` are the expressions of its queries. Without any (they may be in a
/// separate file), symbols that only queries could use are not reported.
pub(crate) fn check(items: &[(ItemId, Arc<Checked>)], queries: &[Expr]) -> Vec<Diag> {
    let mut out = Vec::new();
    let lints: Vec<&ItemLint> = items
        .iter()
        .map(|(_, c)| c.lint.get_or_init(|| ItemLint::new(c)))
        .collect();
    let mut usage = Usage::default();
    for l in &lints {
        usage.add(&l.usage);
    }
    let mut named: FxHashSet<SymId> = FxHashSet::default();
    for q in queries {
        usage.add(&Usage::of_query(q));
        q.walk(&mut |e| {
            if let ExprKind::Member { member, .. } = &e.kind {
                named.insert(member.id);
            }
        });
    }
    meta::check(items, &mut out);
    let asked = !queries.is_empty();
    // Updates that run around every step may change what an edge sets.
    let around = items
        .iter()
        .any(|(_, c)| matches!(c.body, Body::BeforeUpdate(_) | Body::AfterUpdate(_)));
    for ((_, c), l) in items.iter().zip(lints) {
        let diags = l.diags.iter();
        out.extend(
            diags
                .filter(|d| !(around && d.code == "lint/invariant-on-entry"))
                .cloned(),
        );
        let locals = match &c.body {
            Body::Template(t) => t.decls.as_slice(),
            _ => &[],
        };
        for d in c.decls.iter().chain(locals) {
            variable(d, &usage, asked, &mut out);
        }
        for s in l
            .dead_ends
            .iter()
            .filter(|s| asked && !named.contains(&s.id))
        {
            let message = format!("`{}` cannot be left, and no query mentions it", s.name);
            out.push(Diag::new("lint/dead-end", message, s.loc));
        }
    }
    out
}

fn variable(d: &Decl, usage: &Usage, asked: bool, out: &mut Vec<Diag>) {
    let s = &d.symbol;
    let SymKind::Var(v) = &s.kind else {
        return;
    };
    let uses = usage.of(s.id);
    let (code, message) = match v.ty.innermost() {
        Type::Chan(c) => {
            let lonely = match (uses.sent, uses.received) {
                (true, false) if !c.broadcast => "sent on, but never received on",
                (false, true) => "received on, but never sent on",
                _ => return,
            };
            (
                "lint/channel-partner",
                format!("`{}` is {lonely}, so these edges are never taken", s.name),
            )
        }
        Type::Clock if !uses.read && asked => (
            "lint/clock-never-read",
            format!("the clock `{}` is never compared with anything", s.name),
        ),
        Type::Clock if uses.read && !uses.written => (
            "lint/clock-never-reset",
            format!(
                "the clock `{}` is never reset: it measures the time since the start",
                s.name
            ),
        ),
        Type::Int(_) | Type::Bool | Type::Scalar(_) if uses.written && !uses.read && asked => (
            "lint/never-read",
            format!(
                "`{}` is written and never read, not even by a query",
                s.name
            ),
        ),
        _ => return,
    };
    out.push(Diag::new(code, message, s.loc));
}

fn selects(t: &Template, out: &mut Vec<Diag>) {
    for e in t.edges.iter().filter(|e| !e.selects.is_empty()) {
        let mut used: FxHashSet<SymId> = FxHashSet::default();
        let sync = e.sync.iter().map(|s| &s.channel);
        for x in e.guard.iter().chain(&e.updates).chain(sync) {
            x.walk(&mut |x| {
                if let ExprKind::Var(s) = &x.kind {
                    used.insert(s.id);
                }
            });
        }
        for (k, s) in e.selects.iter().enumerate() {
            if used.contains(&s.id) {
                continue;
            }
            let message = format!(
                "`{}` is not used on this edge, so every value makes the same copy of it",
                s.name
            );
            let diag = Diag::new("lint/unused-select", message, s.loc);
            let change = match &e.selects[..] {
                [_] => Change::Clause(e.select_loc(t.loc.item, 0), "select", ";"),
                _ => Change::Entry(e.select_loc(t.loc.item, k)),
            };
            let diag = diag.repair("Remove it", vec![change]);
            // Over an empty range there is no edge at all, so the `select` matters.
            out.push(match has_values(s) {
                true => diag.safe(),
                false => diag,
            });
        }
    }
}

/// Whether a bound variable certainly has a value.
fn has_values(s: &Symbol) -> bool {
    match s.value_type() {
        Some(Type::Bool) => true,
        Some(Type::Int(int)) => int
            .lo
            .known()
            .zip(int.hi.known())
            .is_some_and(|(lo, hi)| lo <= hi),
        Some(Type::Scalar(set)) => set.size.known().is_some_and(|n| n > 0),
        _ => false,
    }
}

fn guards(t: &Template, out: &mut Vec<Diag>) {
    for e in &t.edges {
        if let Some(g) = &e.guard
            && always_false(g)
        {
            let loc = Loc {
                item: t.loc.item,
                span: g.span,
            };
            out.push(Diag::new(
                "lint/false-guard",
                "this guard is always false, so the edge is never taken",
                loc,
            ));
        }
    }
}

fn always_false(e: &Expr) -> bool {
    use zonelens_syntax::ast::BinaryOp as B;
    match &e.kind {
        ExprKind::Bool(false) | ExprKind::Int(0) => true,
        ExprKind::Binary(B::And, a, b) => always_false(a) || always_false(b),
        ExprKind::Binary(B::Or, a, b) => always_false(a) && always_false(b),
        ExprKind::Binary(op, a, b) => match (&a.kind, &b.kind) {
            (ExprKind::Int(x), ExprKind::Int(y)) => {
                crate::consteval::apply(*op, *x, *y, e.span) == Ok(0)
            }
            _ => false,
        },
        _ => false,
    }
}
