//! Lints on the graph of a template: locations and cycles.

use crate::diag::Diag;
use crate::hir::{Edge, End, Expr, ExprKind, Template};
use crate::symbol::{Loc, SymId, Symbol};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, BinaryOp};

/// Reports unreachable locations and cycles without time; returns the locations that cannot be
/// left.
pub(super) fn check(t: &Template, out: &mut Vec<Diag>) -> Vec<Arc<Symbol>> {
    let reached = reachable(t);
    let next = neighbours(t, true);
    let mut dead_ends = Vec::new();
    for (k, l) in t.locations.iter().enumerate() {
        if !reached.contains(&k) && t.init.is_some() {
            let message = format!("no path of edges leads to `{}`", l.symbol.name);
            out.push(Diag::new(
                "lint/unreachable-location",
                message,
                l.symbol.loc,
            ));
        } else if !t.edges.is_empty() && next.get(k).is_some_and(Vec::is_empty) {
            dead_ends.push(l.symbol.clone());
        }
    }
    zeno(t, out);
    dead_ends
}

/// The number of a node of the graph: locations come first, then branchpoints.
fn node(t: &Template, end: End) -> usize {
    match end {
        End::Location(l) => l as usize,
        End::Branchpoint(b) => t.locations.len() + b as usize,
    }
}

/// The successors of every node, or the predecessors.
fn neighbours(t: &Template, forward: bool) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); t.locations.len() + t.branchpoints.len()];
    for e in &t.edges {
        let (from, to) = if forward {
            (e.source, e.target)
        } else {
            (e.target, e.source)
        };
        if let Some(list) = out.get_mut(node(t, from)) {
            list.push(node(t, to));
        }
    }
    out
}

/// Appends the nodes in the order in which a depth-first search leaves them.
fn search(next: &[Vec<usize>], start: usize, seen: &mut [bool], order: &mut Vec<usize>) {
    if seen.get(start).copied().unwrap_or(true) {
        return;
    }
    seen[start] = true;
    let mut stack = vec![(start, 0)];
    while let Some((at, k)) = stack.pop() {
        match next.get(at).and_then(|list| list.get(k)) {
            Some(&to) => {
                stack.push((at, k + 1));
                if !seen.get(to).copied().unwrap_or(true) {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => order.push(at),
        }
    }
}

fn reachable(t: &Template) -> FxHashSet<usize> {
    let next = neighbours(t, true);
    let (mut seen, mut order) = (vec![false; next.len()], Vec::new());
    if let Some(init) = t.init {
        search(&next, init as usize, &mut seen, &mut order);
    }
    order.into_iter().collect()
}

/// Collects the clocks that a guard requires to be at least 1.
fn lower_bounds(e: &Expr, out: &mut FxHashSet<SymId>) {
    use BinaryOp as B;
    match &e.kind {
        ExprKind::Binary(B::And, a, b) => {
            lower_bounds(a, out);
            lower_bounds(b, out);
        }
        ExprKind::Binary(op @ (B::Ge | B::Gt | B::Eq), a, b) => {
            if let (Type::Clock, Some(s)) = (&a.ty, a.root()) {
                // Bounds that are not literals are assumed to be positive.
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

/// A strongly connected component can run without time if none of its clocks is both reset and
/// bounded from below. Synchronisation may slow it down, so only components without any are
/// reported.
fn zeno(t: &Template, out: &mut Vec<Diag>) {
    let part = components(t);
    let count = part.iter().max().map_or(0, |m| m + 1);
    let mut edges: Vec<Vec<&Edge>> = vec![Vec::new(); count];
    for e in &t.edges {
        let (from, to) = (part.get(node(t, e.source)), part.get(node(t, e.target)));
        if let (Some(a), Some(b)) = (from, to)
            && a == b
        {
            edges[*a].push(e);
        }
    }
    for list in edges.iter().filter(|l| !l.is_empty()) {
        // Other paths through the component do not slow down a loop at one location.
        let mut reported = FxHashSet::default();
        let idle = list
            .iter()
            .filter(|e| is_idle_loop(e) && reported.insert(node(t, e.source)));
        out.extend(idle.map(|e| idle_loop(t, e)));
        if list.iter().any(|e| e.sync.is_some() || is_idle_loop(e)) {
            continue;
        }
        let (mut low, mut reset) = (FxHashSet::default(), FxHashSet::default());
        for e in list {
            e.guard.iter().for_each(|g| lower_bounds(g, &mut low));
            resets(e, &mut reset);
        }
        if low.is_disjoint(&reset) && list.iter().all(|e| e.guard.is_none() || low.is_empty()) {
            let loc = Loc {
                item: t.loc.item,
                span: list.first().map_or(t.loc.span, |e| e.span),
            };
            let message = "this cycle can be taken again and again without time passing; require some clock that it resets to reach at least 1";
            out.push(Diag::new("lint/zeno", message, loc));
        }
    }
}

/// Whether an edge leads from a location to itself and nothing ever prevents it: it has no guard
/// and no synchronisation, and it only resets clocks to 0, which no upper bound forbids.
fn is_idle_loop(e: &Edge) -> bool {
    let zeroed = |u: &Expr| match &u.kind {
        ExprKind::Assign(AssignOp::Set, target, value) => {
            matches!(target.ty, Type::Clock) && matches!(value.kind, ExprKind::Int(0))
        }
        _ => false,
    };
    let same = match (e.source, e.target) {
        (End::Location(a), End::Location(b)) => a == b,
        _ => false,
    };
    same && e.guard.is_none() && e.sync.is_none() && e.updates.iter().all(zeroed)
}

fn idle_loop(t: &Template, e: &Edge) -> Diag {
    let source = match e.source {
        End::Location(l) => t.locations.get(l as usize),
        End::Branchpoint(_) => None,
    };
    let loc = Loc {
        item: t.loc.item,
        span: e.span,
    };
    let stops_time = source.is_some_and(|l| l.committed || l.urgent);
    let (code, message) = match stops_time {
        true => (
            "lint/endless-loop",
            "this loop can be taken infinitely often without time passing, and time cannot pass in its location: remove it, or give it a guard",
        ),
        false => (
            "lint/zeno",
            "this loop can be taken infinitely often without time passing; give it a guard such as `x >= 1` on a clock that it resets",
        ),
    };
    Diag::new(code, message, loc)
}

/// The strongly connected component of every node (Kosaraju).
fn components(t: &Template) -> Vec<usize> {
    let (forward, backward) = (neighbours(t, true), neighbours(t, false));
    let n = forward.len();
    let (mut seen, mut order) = (vec![false; n], Vec::new());
    (0..n).for_each(|k| search(&forward, k, &mut seen, &mut order));
    let (mut seen, mut part) = (vec![false; n], vec![0; n]);
    let mut count = 0;
    for &k in order.iter().rev() {
        let mut members = Vec::new();
        search(&backward, k, &mut seen, &mut members);
        if !members.is_empty() {
            members.into_iter().for_each(|m| part[m] = count);
            count += 1;
        }
    }
    part
}
