//! The flow of identifiers through statements and initialisers.

use super::counting::counter_of;
use super::flow::Flow;
use super::slots::{Root, Use};
use crate::hir::{Block, Expr, ExprKind, Init, Stmt, StmtKind};
use crate::symbol::{SymKind, Symbol};
use std::sync::Arc;

impl Flow<'_> {
    pub(super) fn block(&mut self, b: &Block) {
        for d in &b.decls {
            if let Some(range) = self.counters.get(&d.symbol.id) {
                // Its initial value is a constant that nothing reads.
                self.slots.declare_counter(&d.symbol, *range);
                continue;
            }
            self.declared(&d.symbol);
            self.bounds(&d.symbol);
            if let Some(init) = &d.init {
                self.init(&d.symbol, init);
            }
        }
        b.stmts.iter().for_each(|s| self.stmt(s));
    }

    pub(super) fn init(&mut self, s: &Arc<Symbol>, init: &Init) {
        match init {
            Init::Expr(e) if e.ty.is_composite() => self.join_composite(&Root::Symbol(s.id), e),
            Init::Expr(e) => {
                let v = self.val(e);
                let slot = self.slots.leaf(&Root::Symbol(s.id), &[]);
                self.meet(slot, v, e.span, false);
            }
            // Values in a braced list are not followed one by one: an identifier among them gets an
            // unsupported use, and the variable counts as holding computed values.
            Init::List(items, span) => {
                let at = *span;
                if let Some(ty) = s.value_type().cloned() {
                    let root = Root::Symbol(s.id);
                    for slot in self.slots.all_of(&root, &ty) {
                        self.slots.used(slot, Use::Computed, self.loc(at));
                    }
                    // Known constants are compared entry by entry where they are used.
                    let known =
                        matches!(&s.kind, SymKind::Var(v) if v.constant && v.value.is_some());
                    if !known && !uniform(init, &mut None) {
                        for slot in self.slots.all_at(&(root, Vec::new(), 0), &ty) {
                            self.slots.used(slot, Use::Entries, self.loc(at));
                        }
                    }
                }
                items.iter().for_each(|i| self.listed(i));
            }
        }
    }

    fn listed(&mut self, init: &Init) {
        match init {
            Init::Expr(e) if e.ty.is_composite() => {
                if let Some(root) = self.composite_root(e) {
                    self.unknown_at(&root, e);
                }
            }
            Init::Expr(e) => {
                let v = self.val(e);
                self.used(v, Use::Computed, e.span);
            }
            Init::List(items, _) => items.iter().for_each(|i| self.listed(i)),
        }
    }

    /// Whether a loop with this beginning counts through a range.
    fn counts(&self, init: &Expr) -> bool {
        counter_of(init).is_some_and(|s| self.counters.contains_key(&s.id))
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => {}
            StmtKind::Block(b) => self.block(b),
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Assert(e) => self.truth(e),
            StmtKind::For(a, _, _, body) if self.counts(a) => self.stmt(body),
            StmtKind::For(a, c, step, body) => {
                self.effect(a);
                self.truth(c);
                self.effect(step);
                self.stmt(body);
            }
            StmtKind::Iterate(var, body) => {
                self.declared(var);
                self.bounds(var);
                self.stmt(body);
            }
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                self.truth(c);
                self.stmt(body);
            }
            StmtKind::If(c, a, b) => {
                self.truth(c);
                self.stmt(a);
                b.iter().for_each(|b| self.stmt(b));
            }
            StmtKind::Return(Some(e)) => self.result(e),
            StmtKind::Switch(e, cases) => {
                let v = self.val(e);
                self.used(v, Use::Computed, e.span);
                cases.iter().flat_map(|c| &c.1).for_each(|s| self.stmt(s));
            }
        }
    }

    fn result(&mut self, e: &Expr) {
        let Some(body) = self.ret else {
            return;
        };
        if e.ty.is_composite() {
            return self.join_composite(&Root::Result(body), e);
        }
        let v = self.val(e);
        let slot = self.slots.leaf(&Root::Result(body), &[]);
        self.meet(slot, v, e.span, false);
    }
}

/// Whether all entries are the same number.
fn uniform(init: &Init, seen: &mut Option<i32>) -> bool {
    match init {
        Init::Expr(e) => match e.kind {
            ExprKind::Int(v) => *seen.get_or_insert(v) == v,
            ExprKind::Bool(b) => *seen.get_or_insert(i32::from(b)) == i32::from(b),
            _ => false,
        },
        Init::List(items, _) => items.iter().all(|i| uniform(i, seen)),
    }
}
