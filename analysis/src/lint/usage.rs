//! How each symbol is used: read, written, sent or received on.

use crate::check::{Body, Checked};
use crate::hir::{Block, Expr, ExprKind, Init, Stmt, StmtKind, Template};
use crate::symbol::{SymId, SymKind};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use zonelens_syntax::ast::Direction;

/// How a variable is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Its value is read.
    pub read: bool,
    /// It is assigned to.
    pub written: bool,
    /// It is sent on.
    pub sent: bool,
    /// It is received on.
    pub received: bool,
}

impl Uses {
    const ALL: Uses = Uses {
        read: true,
        written: true,
        sent: true,
        received: true,
    };

    fn add(&mut self, other: Uses) {
        self.read |= other.read;
        self.written |= other.written;
        self.sent |= other.sent;
        self.received |= other.received;
    }
}

/// Uses by symbol. Symbol numbers are dense, and every keystroke adds up the uses of the whole
/// model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage(Vec<Uses>);

impl Usage {
    /// The uses inside one item.
    pub(crate) fn of_item(c: &Checked) -> Vec<(SymId, Uses)> {
        let mut out = ItemUsage::default();
        out.item(c);
        out.0.into_iter().collect()
    }

    /// The symbols that are assigned to inside a template.
    pub(crate) fn written_in(t: &Template) -> FxHashSet<SymId> {
        let mut out = ItemUsage::default();
        out.template(t);
        t.functions.iter().for_each(|f| out.block(&f.body));
        let written = out.0.into_iter().filter(|(_, uses)| uses.written);
        written.map(|(id, _)| id).collect()
    }

    /// The uses inside the expression of a query.
    pub(crate) fn of_query(e: &Expr) -> Vec<(SymId, Uses)> {
        let mut out = ItemUsage::default();
        out.value(e);
        out.0.into_iter().collect()
    }

    /// Adds the uses of an item or a query.
    pub(crate) fn add(&mut self, uses: &[(SymId, Uses)]) {
        for (id, u) in uses {
            let at = *id as usize;
            if self.0.len() <= at {
                self.0.resize(at + 1, Uses::default());
            }
            self.0[at].add(*u);
        }
    }

    /// The uses of a symbol.
    pub(crate) fn of(&self, id: SymId) -> Uses {
        self.0.get(id as usize).copied().unwrap_or_default()
    }
}

/// Uses inside one item.
#[derive(Default)]
struct ItemUsage(FxHashMap<SymId, Uses>);

impl ItemUsage {
    fn note(&mut self, id: SymId, uses: Uses) {
        self.0.entry(id).or_default().add(uses);
    }

    fn item(&mut self, c: &Checked) {
        c.decls
            .iter()
            .filter_map(|d| d.init.as_ref())
            .for_each(|i| self.init(i));
        c.functions.iter().for_each(|f| self.block(&f.body));
        match &c.body {
            Body::Template(t) => self.template(t),
            // A template may use a reference argument in any way.
            Body::Instance(i) => i.args.iter().for_each(|a| self.anything(a)),
            Body::BeforeUpdate(list) | Body::AfterUpdate(list) => {
                list.iter().for_each(|e| self.effect(e))
            }
            _ => {}
        }
    }

    /// The uses inside a template, except in its functions.
    fn template(&mut self, t: &Template) {
        t.decls
            .iter()
            .filter_map(|d| d.init.as_ref())
            .for_each(|i| self.init(i));
        t.locations
            .iter()
            .filter_map(|l| l.invariant.as_ref())
            .for_each(|e| self.value(e));
        for e in &t.edges {
            e.guard.iter().for_each(|g| self.value(g));
            e.updates.iter().for_each(|u| self.effect(u));
            if let Some(s) = &e.sync {
                self.channel(&s.channel, s.direction);
            }
        }
    }

    /// Visits an expression whose value is used.
    fn value(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(s) => self.note(
                s.id,
                Uses {
                    read: true,
                    ..Uses::default()
                },
            ),
            ExprKind::Member { member, args, .. } => {
                args.iter().for_each(|a| self.value(a));
                self.note(
                    member.id,
                    Uses {
                        read: true,
                        ..Uses::default()
                    },
                );
            }
            ExprKind::Assign(_, target, value) => {
                self.value(value);
                self.value(target);
                self.target(target);
            }
            ExprKind::IncDec { expr, .. } => {
                self.value(expr);
                self.target(expr);
            }
            ExprKind::Call(f, args) => {
                let SymKind::Function(sig) = &f.kind else {
                    return;
                };
                for (p, a) in sig.params.iter().zip(args) {
                    if p.reference {
                        self.anything(a);
                    } else {
                        self.value(a);
                    }
                }
            }
            _ => e.children(&mut |c| self.value(c)),
        }
    }

    /// Visits an expression whose value is not used.
    fn effect(&mut self, e: &Expr) {
        match &e.kind {
            // A counter that is only incremented is not read.
            ExprKind::Assign(_, target, value) => {
                self.value(value);
                self.target(target);
            }
            ExprKind::IncDec { expr, .. } => self.target(expr),
            ExprKind::Comma(list) => list.iter().for_each(|e| self.effect(e)),
            _ => self.value(e),
        }
    }

    fn target(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(s) => self.note(
                s.id,
                Uses {
                    written: true,
                    ..Uses::default()
                },
            ),
            ExprKind::Index(base, index) => {
                self.value(index);
                self.target(base);
            }
            ExprKind::Field(base, _) => self.target(base),
            _ => e.children(&mut |c| self.value(c)),
        }
    }

    fn anything(&mut self, e: &Expr) {
        e.walk(&mut |e| {
            if let ExprKind::Var(s) = &e.kind {
                self.note(s.id, Uses::ALL);
            }
        });
    }

    fn channel(&mut self, e: &Expr, direction: Direction) {
        let mut at = e;
        while let ExprKind::Index(base, index) = &at.kind {
            self.value(index);
            at = base;
        }
        if let ExprKind::Var(s) = &at.kind
            && matches!(s.value_type().map(Type::innermost), Some(Type::Chan(_)))
        {
            let uses = match direction {
                Direction::Send => Uses {
                    sent: true,
                    ..Uses::default()
                },
                Direction::Receive => Uses {
                    received: true,
                    ..Uses::default()
                },
                Direction::Csp => Uses::ALL,
            };
            self.note(s.id, uses);
        }
    }

    fn init(&mut self, i: &Init) {
        match i {
            Init::Expr(e) => self.value(e),
            Init::List(items, _) => items.iter().for_each(|i| self.init(i)),
        }
    }

    fn block(&mut self, b: &Block) {
        b.decls
            .iter()
            .filter_map(|d| d.init.as_ref())
            .for_each(|i| self.init(i));
        b.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => {}
            StmtKind::Block(b) => self.block(b),
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Return(Some(e)) | StmtKind::Assert(e) => self.value(e),
            StmtKind::For(a, b, c, body) => {
                self.effect(a);
                self.value(b);
                self.effect(c);
                self.stmt(body);
            }
            StmtKind::Iterate(_, body) => self.stmt(body),
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                self.value(c);
                self.stmt(body);
            }
            StmtKind::If(c, a, b) => {
                self.value(c);
                self.stmt(a);
                b.iter().for_each(|b| self.stmt(b));
            }
            StmtKind::Switch(e, cases) => {
                self.value(e);
                cases.iter().flat_map(|c| &c.1).for_each(|s| self.stmt(s));
            }
        }
    }
}
