//! `sym/broadcast-order`: receivers of a broadcast run in process order, and swapping elements
//! changes that order within a family.

use super::commute::conflict;
use super::effects::{Access, Action, Collector, Sel, Summaries};
use super::{FamilyView, Findings};
use crate::diag::Diag;
use crate::hir::{Edge, ExprKind};
use crate::symbol::{Home, Loc, SymId, SymKind, Symbol};
use crate::types::{ScalarSet, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use zonelens_syntax::ast::Direction;

/// Checks the receivers of one family.
pub(super) fn family(view: &FamilyView<'_>, summaries: &mut Summaries<'_>, out: &mut Findings) {
    if !view.template.edges.iter().any(|e| receives(e).is_some()) {
        return;
    }
    for (param, set) in view.elements(summaries) {
        let mut channels: FxHashMap<SymId, Vec<&Edge>> = FxHashMap::default();
        let mut order = Vec::new();
        for e in &view.template.edges {
            let Some(root) = receives(e) else {
                continue;
            };
            // A reference parameter may stand for a channel that another edge names.
            let root = view.argument(root).map_or(root.id, |(root, _)| root.id);
            let list = channels.entry(root).or_default();
            if list.is_empty() {
                order.push(root);
            }
            list.push(e);
        }
        // No two processes receive `c[id]!` by `c[id]?`, but one may by `c[x]?`.
        channels.retain(|_, edges| !edges.iter().all(|e| own_channel(e, param.id)));
        for id in order {
            if let Some(edges) = channels.get(&id) {
                receivers(view, &param, &set, edges, summaries, out);
            }
        }
    }
}

fn receives(e: &Edge) -> Option<&Arc<Symbol>> {
    let sync = e.sync.as_ref()?;
    let broadcast = matches!(sync.channel.ty, Type::Chan(c) if c.broadcast);
    if !broadcast || sync.direction != Direction::Receive {
        return None;
    }
    sync.channel.root()
}

/// Whether an edge receives `c[id]?`: no two processes of the family do so at the same time.
fn own_channel(e: &Edge, param: SymId) -> bool {
    let mut at = match &e.sync {
        Some(s) => &s.channel,
        None => return false,
    };
    while let ExprKind::Index(base, index) = &at.kind {
        if matches!(&index.kind, ExprKind::Var(s) if s.id == param) {
            return true;
        }
        at = base;
    }
    false
}

fn receivers(
    view: &FamilyView<'_>,
    param: &Arc<Symbol>,
    set: &Arc<ScalarSet>,
    edges: &[&Edge],
    summaries: &mut Summaries<'_>,
    out: &mut Findings,
) {
    let item = view.template.loc.item;
    let mut accesses: Vec<Access> = Vec::new();
    for e in edges {
        let mut c = Collector::new(summaries, item);
        for u in &e.updates {
            c.effect(u);
        }
        let selects: Vec<SymId> = e.selects.iter().map(|s| s.id).collect();
        for mut a in c.out.accesses {
            // The variable bound to a reference parameter may depend on the element, or be shared.
            if let Some((root, path)) = view.argument(&a.root) {
                a.path = path.into_iter().chain(a.path).collect();
                a.root = root;
            }
            // A selected value is not tied to the process.
            if let Action::Write(Some(super::effects::Value::Symbol(s))) = &a.action
                && selects.contains(&s.id)
            {
                a.action = Action::Write(None);
            }
            accesses.push(a);
        }
    }
    accesses.retain(|a| !is_process_local(&a.root));
    // Other parameters of the family that denote the same element.
    let aliases = view.same_element(param);
    for a in &mut accesses {
        for s in &mut a.path {
            if matches!(s, Sel::Var(id) if aliases.contains(id)) {
                *s = Sel::Var(param.id);
            }
        }
    }
    let global = |s: &Symbol| matches!(&s.kind, SymKind::Var(v) if v.home == Home::Global || v.value.is_some());
    let Some(found) = conflict(&accesses, param.id, &global) else {
        return;
    };
    let Some(first) = edges.first() else {
        return;
    };
    let span = first.sync.as_ref().map_or(first.span, |s| s.span);
    let name = &found.write.root.name;
    let message = format!(
        "receivers of this broadcast run in the order of the elements of `{}`, and their updates do not commute: all of them change `{name}`, so the order matters",
        set.name
    );
    let mut diag = Diag::new("sym/broadcast-order", message, Loc { item, span })
        .related(found.write.loc, format!("`{name}` is changed here"));
    if found.other.loc != found.write.loc {
        diag = diag.related(
            found.other.loc,
            format!("`{name}` is used here by another receiver"),
        );
    }
    out.broken(set, diag);
}

fn is_process_local(s: &Symbol) -> bool {
    matches!(&s.kind, SymKind::Var(v) if v.home == Home::Template)
}
