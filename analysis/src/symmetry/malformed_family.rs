//! The exception for (α, n)-malformed edges (Hendriks' thesis, section 3.3.2, restriction 3): a
//! number may index a dimension over α if there is one edge per element, and the edges differ in
//! that number only.

use super::slots::Use;
use crate::check::{Body, Checked};
use crate::fix::Change;
use crate::hir::{Edge, End, Expr, ExprKind};
use crate::symbol::{ItemId, Loc, SymKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use std::sync::Arc;
use zonelens_syntax::span::Span;

/// The largest set for which missing edges are written out.
const MOST_COPIES: i32 = 64;

type Key = (ItemId, (End, End), String);

impl std::hash::Hash for End {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            End::Location(l) => (0, l).hash(state),
            End::Branchpoint(b) => (1, b).hash(state),
        }
    }
}

/// The spans of numbers that belong to complete families of edges over a set of `size` elements.
pub(super) fn complete(
    items: &[(ItemId, Arc<Checked>)],
    uses: &[(usize, Use, Loc)],
    size: i32,
) -> FxHashSet<(ItemId, Span)> {
    let mut families: FxHashMap<Key, FxHashMap<i32, Vec<Span>>> = FxHashMap::default();
    for (item, c) in items {
        let Body::Template(t) = &c.body else {
            continue;
        };
        for e in &t.edges {
            let Some((n, spans)) = numbers(e, *item, uses) else {
                continue;
            };
            let key = (*item, (e.source, e.target), fingerprint(e, &spans));
            families
                .entry(key)
                .or_default()
                .entry(n)
                .or_default()
                .extend(spans);
        }
    }
    let mut out = FxHashSet::default();
    for ((item, ..), members) in families {
        if (0..size).all(|n| members.contains_key(&n)) {
            out.extend(members.into_values().flatten().map(|span| (item, span)));
        }
    }
    out
}

/// Copies of the edge around `loc`, one for each element for which there is no such edge yet.
/// `None` if the edge has several different numbers.
pub(super) fn missing(
    items: &[(ItemId, Arc<Checked>)],
    uses: &[(usize, Use, Loc)],
    size: i32,
    loc: Loc,
) -> Option<Vec<Change>> {
    let (item, checked) = items.iter().find(|(item, _)| *item == loc.item)?;
    let Body::Template(t) = &checked.body else {
        return None;
    };
    let edge = t.edges.iter().find(|e| within(loc.span, e.span))?;
    let (n, spans) = numbers(edge, *item, uses)?;
    let like = fingerprint(edge, &spans);
    let mut present = vec![n];
    for e in &t.edges {
        if let Some((m, holes)) = numbers(e, *item, uses)
            && (e.source, e.target) == (edge.source, edge.target)
            && fingerprint(e, &holes) == like
        {
            present.push(m);
        }
    }
    let whole = Loc {
        item: *item,
        span: edge.span,
    };
    let copy = |m: i32| spans.iter().map(|s| (*s, m.to_string())).collect();
    let missing = (0..size.min(MOST_COPIES)).filter(|m| !present.contains(m));
    let copies: Vec<_> = missing.map(copy).collect();
    (size <= MOST_COPIES && !copies.is_empty()).then(|| vec![Change::Copy(whole, copies)])
}

/// The number on an edge that indexes the set, with all its spans. `None` if there is none, or more
/// than one.
fn numbers(e: &Edge, item: ItemId, uses: &[(usize, Use, Loc)]) -> Option<(i32, Vec<Span>)> {
    let holes: Vec<(i32, Span)> = uses
        .iter()
        .filter(|(_, _, loc)| loc.item == item && within(loc.span, e.span))
        .filter_map(|(_, how, loc)| match how {
            Use::Index(n) => Some((*n, loc.span)),
            _ => None,
        })
        .collect();
    let (n, _) = holes.first().copied()?;
    holes
        .iter()
        .all(|(m, _)| *m == n)
        .then(|| (n, holes.into_iter().map(|h| h.1).collect()))
}

fn within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The labels of an edge without the given numbers, as text.
fn fingerprint(e: &Edge, holes: &[Span]) -> String {
    let mut out = String::new();
    for s in &e.selects {
        if let Some(ty) = s.value_type() {
            let _ = write!(out, "{}:{ty};", s.name);
        }
    }
    for (mark, x) in e
        .guard
        .iter()
        .map(|g| ("g", g))
        .chain(e.updates.iter().map(|u| ("u", u)))
    {
        out.push_str(mark);
        print(x, holes, &mut out);
    }
    if let Some(s) = &e.sync {
        let _ = write!(out, "{:?}", s.direction);
        print(&s.channel, holes, &mut out);
    }
    out
}

fn print(e: &Expr, holes: &[Span], out: &mut String) {
    let _ = match &e.kind {
        ExprKind::Int(_) if holes.contains(&e.span) => write!(out, "#"),
        ExprKind::Int(v) => write!(out, "{v}"),
        ExprKind::Bool(b) => write!(out, "{b}"),
        // Bound variables of different edges are different symbols with the same name.
        ExprKind::Var(s) if matches!(s.kind, SymKind::Bound(_)) => write!(out, "{}", s.name),
        ExprKind::Var(s) => write!(out, "v{}", s.id),
        ExprKind::Unary(op, _) => write!(out, "{op:?}"),
        ExprKind::Binary(op, ..) => write!(out, "{op:?}"),
        ExprKind::Assign(op, ..) => write!(out, "={op:?}"),
        ExprKind::IncDec {
            increment, prefix, ..
        } => write!(out, "inc{increment}{prefix}"),
        ExprKind::Field(_, n) => write!(out, ".{n}"),
        ExprKind::Call(f, _) => write!(out, "call{}", f.id),
        ExprKind::Quantifier { kind, var, .. } => write!(out, "{kind:?}{}", var.name),
        other => write!(out, "{:?}", std::mem::discriminant(other)),
    };
    out.push('(');
    e.children(&mut |c| print(c, holes, out));
    out.push(')');
}
