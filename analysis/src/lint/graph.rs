//! Locations and cycles of a template.

use crate::diag::Diag;
use crate::hir::{Edge, End, Expr, ExprKind, Template};
use crate::symbol::{Loc, SymId, Symbol};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::BinaryOp;

/// Unreachable locations and cycles without time; returns the locations that cannot be left.
pub fn check(t: &Template, out: &mut Vec<Diag>) -> Vec<Arc<Symbol>> {
    let reached = reachable(t);
    let mut dead_ends = Vec::new();
    for (k, l) in t.locations.iter().enumerate() {
        let end = End::Location(k as u32);
        if !reached.contains(&k) && t.init.is_some() {
            let message = format!("no path of edges leads to `{}`", l.symbol.name);
            out.push(Diag::new(
                "lint/unreachable-location",
                message,
                l.symbol.loc,
            ));
        } else if !t.edges.is_empty() && !t.edges.iter().any(|e| e.source == end) {
            dead_ends.push(l.symbol.clone());
        }
    }
    zeno(t, out);
    dead_ends
}

/// Numbers of the nodes of the graph: locations, then branchpoints.
fn node(t: &Template, end: End) -> usize {
    match end {
        End::Location(l) => l as usize,
        End::Branchpoint(b) => t.locations.len() + b as usize,
    }
}

fn reachable(t: &Template) -> FxHashSet<usize> {
    let mut seen: FxHashSet<usize> = t.init.iter().map(|&i| i as usize).collect();
    let mut waiting: Vec<usize> = seen.iter().copied().collect();
    while let Some(at) = waiting.pop() {
        for e in t.edges.iter().filter(|e| node(t, e.source) == at) {
            let next = node(t, e.target);
            if seen.insert(next) {
                waiting.push(next);
            }
        }
    }
    seen
}

/// A clock that an edge requires to be at least 1.
fn lower_bounds(e: &Expr, out: &mut FxHashSet<SymId>) {
    use BinaryOp as B;
    match &e.kind {
        ExprKind::Binary(B::And, a, b) => {
            lower_bounds(a, out);
            lower_bounds(b, out);
        }
        ExprKind::Binary(op @ (B::Ge | B::Gt | B::Eq), a, b) => {
            if let (Type::Clock, Some(s)) = (&a.ty, a.root()) {
                // Bounds that are no literals are taken to be positive.
                let zero = matches!(b.kind, ExprKind::Int(0)) && *op != B::Gt;
                if !zero {
                    out.insert(s.id);
                }
            }
        }
        ExprKind::Binary(op @ (B::Le | B::Lt), a, b) => {
            if let (Type::Clock, Some(s)) = (&b.ty, b.root()) {
                let zero = matches!(a.kind, ExprKind::Int(0)) && *op == B::Le;
                if !zero {
                    out.insert(s.id);
                }
            }
        }
        _ => {}
    }
}

fn resets(e: &Edge, out: &mut FxHashSet<SymId>) {
    for u in &e.updates {
        u.walk(&mut |u| {
            if let ExprKind::Assign(_, target, _) = &u.kind
                && matches!(target.ty, Type::Clock)
                && let Some(s) = target.root()
            {
                out.insert(s.id);
            }
        });
    }
}

/// A strongly connected part none of whose clocks is both reset and bounded from below can run without time.
/// Synchronisation may slow it down, so only parts without any are told.
fn zeno(t: &Template, out: &mut Vec<Diag>) {
    let n = t.locations.len() + t.branchpoints.len();
    let mut told = FxHashSet::default();
    for start in 0..t.locations.len() {
        let component = component(t, start, n);
        let Some(first) = component.iter().min().copied() else {
            continue;
        };
        if !told.insert(first) {
            continue;
        }
        let inside = |e: &&Edge| {
            component.contains(&node(t, e.source)) && component.contains(&node(t, e.target))
        };
        let edges: Vec<&Edge> = t.edges.iter().filter(inside).collect();
        if edges.is_empty() || edges.iter().any(|e| e.sync.is_some()) {
            continue;
        }
        let (mut low, mut reset) = (FxHashSet::default(), FxHashSet::default());
        for e in &edges {
            e.guard.iter().for_each(|g| lower_bounds(g, &mut low));
            resets(e, &mut reset);
        }
        if low.is_disjoint(&reset) && edges.iter().all(|e| e.guard.is_none() || low.is_empty()) {
            let loc = Loc {
                item: t.loc.item,
                span: edges.first().map_or(t.loc.span, |e| e.span),
            };
            let message = "this cycle can be taken again and again without time passing; require some clock that it resets to reach at least 1";
            out.push(Diag::new("lint/zeno", message, loc));
        }
    }
}

/// Nodes on cycles through `start`, by reaching forwards and backwards.
fn component(t: &Template, start: usize, n: usize) -> FxHashSet<usize> {
    let sweep = |forward: bool| {
        let mut seen = vec![false; n];
        let mut waiting = vec![start];
        while let Some(at) = waiting.pop() {
            for e in &t.edges {
                let (from, to) = if forward {
                    (e.source, e.target)
                } else {
                    (e.target, e.source)
                };
                let next = node(t, to);
                if node(t, from) == at && !seen.get(next).copied().unwrap_or(true) {
                    seen[next] = true;
                    waiting.push(next);
                }
            }
        }
        seen
    };
    let (forward, backward) = (sweep(true), sweep(false));
    (0..n).filter(|&k| forward[k] && backward[k]).collect()
}
