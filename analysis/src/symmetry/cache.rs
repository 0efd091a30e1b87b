//! Results of the symmetry analysis that are kept from one version of a model to the next.

use super::interval::{Change, Ranges, Recorder};
use crate::check::{Body, Checked};
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind, Function, Part};
use crate::symbol::{ItemId, Loc, SymId, SymKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Results by item, each with the address of the checked item. The model that owns the cache keeps
/// those items alive.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub(super) items: FxHashMap<ItemId, (usize, Arc<ItemCache>)>,
    pub(super) ranges: Arc<Ranges>,
}

impl Cache {
    /// The results of an item, if it did not change.
    pub(super) fn unchanged(&self, item: ItemId, checked: &Arc<Checked>) -> Option<Arc<ItemCache>> {
        let (at, entry) = self.items.get(&item)?;
        (*at == key(checked)).then(|| entry.clone())
    }

    /// Whether all items store the same values as before.
    pub(super) fn same_stores(&self, items: &[(ItemId, Arc<ItemCache>)]) -> bool {
        items.len() == self.items.len()
            && items.iter().all(|(item, entry)| {
                self.items
                    .get(item)
                    .is_some_and(|(_, old)| Arc::ptr_eq(old, entry) || old.stores == entry.stores)
            })
    }
}

/// Results that depend on one item only (the diagnostics also on the functions it calls).
#[derive(Debug, Default)]
pub(super) struct ItemCache {
    /// Values that the item stores.
    pub stores: Vec<(SymId, Change)>,
    /// Ids of the function bodies it calls.
    pub callees: FxHashSet<u32>,
    /// Whether it is a template that is listed on the system line itself.
    pub listed: bool,
    /// Diagnostics inside it.
    pub diags: Vec<Diag>,
    /// Rules broken inside it: id of the set, code, location.
    pub broken: Vec<(u32, &'static str, Loc)>,
}

/// The key of an item: the address of its checked form.
pub(super) fn key(checked: &Arc<Checked>) -> usize {
    Arc::as_ptr(checked) as usize
}

impl ItemCache {
    /// Collects what depends on this item alone.
    pub(super) fn new(checked: &Checked) -> ItemCache {
        let mut recorder = Recorder::default();
        recorder.item(checked);
        let mut called = FxHashSet::default();
        for f in &checked.functions {
            callees_of(f, &mut called);
        }
        match &checked.body {
            Body::Template(t) => {
                let labels = t.locations.iter().filter_map(|l| l.invariant.as_ref());
                let edges = t
                    .edges
                    .iter()
                    .flat_map(|e| e.guard.iter().chain(&e.updates));
                labels.chain(edges).for_each(|e| callees(e, &mut called));
            }
            Body::BeforeUpdate(list) | Body::AfterUpdate(list) => {
                list.iter().for_each(|e| callees(e, &mut called));
            }
            _ => {}
        }
        ItemCache {
            stores: recorder.0,
            callees: called,
            listed: false,
            diags: Vec::new(),
            broken: Vec::new(),
        }
    }
}

/// Collects the bodies that an expression calls.
pub(super) fn callees(e: &Expr, out: &mut FxHashSet<u32>) {
    e.walk(&mut |e| {
        if let ExprKind::Call(f, _) | ExprKind::MemberCall { function: f, .. } = &e.kind
            && let SymKind::Function(sig) = &f.kind
        {
            out.insert(sig.body);
        }
    });
}

/// Collects the bodies that a function calls.
pub(super) fn callees_of(f: &Function, out: &mut FxHashSet<u32>) {
    f.body.parts(&mut |p| calls_in(p, out));
}

fn calls_in(part: Part<'_>, out: &mut FxHashSet<u32>) {
    match part {
        Part::Expr(e) => callees(e, out),
        Part::Decl(d) => d
            .init
            .iter()
            .for_each(|i| i.exprs(&mut |e| callees(e, out))),
        Part::Stmt(s) => s.parts(&mut |p| calls_in(p, out)),
    }
}
