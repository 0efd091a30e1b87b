//! Results of the symmetry analysis that are kept from one version of a model to the next.

use super::interval::{Change, Ranges, Recorder};
use crate::check::{Body, Checked};
use crate::diag::Diag;
use crate::hir::{Block, Expr, ExprKind, Function, Init, Stmt, StmtKind};
use crate::symbol::{ItemId, Loc, SymId, SymKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Results by item, each with the address of the checked item. The model that owns the cache keeps
/// those items alive.
#[derive(Debug, Default)]
pub struct Cache {
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
pub struct ItemCache {
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
pub fn key(checked: &Arc<Checked>) -> usize {
    Arc::as_ptr(checked) as usize
}

impl ItemCache {
    /// Collects what depends on this item alone.
    pub fn new(checked: &Checked) -> ItemCache {
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
pub fn callees(e: &Expr, out: &mut FxHashSet<u32>) {
    e.walk(&mut |e| {
        if let ExprKind::Call(f, _) | ExprKind::MemberCall { function: f, .. } = &e.kind
            && let SymKind::Function(sig) = &f.kind
        {
            out.insert(sig.body);
        }
    });
}

/// Collects the bodies that a function calls.
pub fn callees_of(f: &Function, out: &mut FxHashSet<u32>) {
    block(&f.body, out);
}

fn init(i: &Init, out: &mut FxHashSet<u32>) {
    match i {
        Init::Expr(e) => callees(e, out),
        Init::List(items, _) => items.iter().for_each(|i| init(i, out)),
    }
}

fn block(b: &Block, out: &mut FxHashSet<u32>) {
    b.decls
        .iter()
        .filter_map(|d| d.init.as_ref())
        .for_each(|i| init(i, out));
    b.stmts.iter().for_each(|s| stmt(s, out));
}

fn stmt(s: &Stmt, out: &mut FxHashSet<u32>) {
    match &s.kind {
        StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => {}
        StmtKind::Block(b) => block(b, out),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) | StmtKind::Assert(e) => callees(e, out),
        StmtKind::For(a, b, c, body) => {
            [a, b, c].into_iter().for_each(|e| callees(e, out));
            stmt(body, out);
        }
        StmtKind::Iterate(_, body) => stmt(body, out),
        StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
            callees(c, out);
            stmt(body, out);
        }
        StmtKind::If(c, a, b) => {
            callees(c, out);
            stmt(a, out);
            b.iter().for_each(|b| stmt(b, out));
        }
        StmtKind::Switch(e, cases) => {
            callees(e, out);
            cases.iter().flat_map(|c| &c.1).for_each(|s| stmt(s, out));
        }
    }
}
