//! `lint/meta-carried`: a `meta` variable whose value is carried from one step to the next.
//!
//! UPPAAL does not compare `meta` variables: of two states that differ only in them it keeps one,
//! so the value that a later step reads depends on the search order. A variable that every step
//! writes before it reads is scratch space, and not reported.
//!
//! Reports only variables that are certainly read first: a possible earlier write, on any path, to
//! any part, or by any sender that the edge may synchronise with, suppresses the report.

use crate::check::{Body, Checked};
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Block, Decl, Edge, Expr, ExprKind, Function, Init, Stmt, StmtKind, Template};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::symmetry::may_be_same;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use zonelens_syntax::ast::Direction;

type Items = [(ItemId, Arc<Checked>)];
type Bodies<'a> = FxHashMap<u32, &'a Arc<Function>>;

/// Reports `meta` variables that carry a value over.
pub(super) fn check(items: &Items, out: &mut Vec<Diag>) {
    let all = items.iter().flat_map(|(_, c)| declared(c));
    let is_meta = |d: &&Decl| {
        let plain =
            |v: &crate::symbol::VarSym| v.meta && !v.ty.contains(&|t| t.any_set().is_some());
        matches!(&d.symbol.kind, SymKind::Var(v) if plain(v))
    };
    let meta: FxHashSet<SymId> = all.filter(is_meta).map(|d| d.symbol.id).collect();
    if meta.is_empty() {
        return;
    }
    // A variable that is never written is a constant; one passed to a template by reference is not
    // analysed.
    let written = written(items);
    let given = given(items);
    let meta = meta
        .into_iter()
        .filter(|id| written.contains(id) && !given.contains(id));
    let step = Step {
        meta: meta.collect(),
        bodies: bodies(items),
    };
    step.check(items, out);
}

fn declared(c: &Checked) -> impl Iterator<Item = &Decl> {
    let locals = match &c.body {
        Body::Template(t) => t.decls.as_slice(),
        _ => &[],
    };
    c.decls.iter().chain(locals)
}

fn bodies(items: &Items) -> Bodies<'_> {
    let functions = items.iter().flat_map(|(_, c)| &c.functions);
    let numbered = functions.filter_map(|f| match &f.symbol.kind {
        SymKind::Function(sig) => Some((sig.body, f)),
        _ => None,
    });
    numbered.collect()
}

/// Variables passed to templates as arguments.
fn given(items: &Items) -> FxHashSet<SymId> {
    let mut out = FxHashSet::default();
    for (_, c) in items {
        if let Body::Instance(i) = &c.body {
            out.extend(i.args.iter().filter_map(|a| a.root()).map(|s| s.id));
        }
    }
    out
}

/// Variables that are assigned to, or passed by reference.
pub(crate) fn written(items: &Items) -> FxHashSet<SymId> {
    let mut out = given(items);
    let mut note = |e: &Expr| match &e.kind {
        ExprKind::Assign(_, target, _) => out.extend(roots(target)),
        ExprKind::IncDec { expr, .. } => out.extend(roots(expr)),
        ExprKind::Call(f, args) => {
            if let SymKind::Function(sig) = &f.kind {
                for (p, a) in sig.params.iter().zip(args) {
                    if p.reference && p.written {
                        out.extend(roots(a));
                    }
                }
            }
        }
        _ => {}
    };
    let mut every = |e: &Expr| e.walk(&mut note);
    for (_, c) in items {
        c.functions.iter().for_each(|f| block(&f.body, &mut every));
        match &c.body {
            Body::Template(t) => t.edges.iter().flat_map(|e| &e.updates).for_each(&mut every),
            Body::BeforeUpdate(list) | Body::AfterUpdate(list) => list.iter().for_each(&mut every),
            _ => {}
        }
    }
    out
}

/// The root variables of a target such as `c ? a : b`, `a[i]` or `a.f`.
fn roots(e: &Expr) -> Vec<SymId> {
    match &e.kind {
        ExprKind::Cond(_, a, b) => [roots(a), roots(b)].concat(),
        _ => e.root().map(|s| s.id).into_iter().collect(),
    }
}

/// Calls `every` on the expressions of a block.
fn block(b: &Block, every: &mut dyn FnMut(&Expr)) {
    b.decls
        .iter()
        .filter_map(|d| d.init.as_ref())
        .for_each(|i| init(i, every));
    b.stmts.iter().for_each(|s| stmt(s, every));
}

fn init(i: &Init, every: &mut dyn FnMut(&Expr)) {
    match i {
        Init::Expr(e) => every(e),
        Init::List(items, _) => items.iter().for_each(|i| init(i, every)),
    }
}

/// Calls `every` on the expressions of a statement, in the order of their first evaluation.
fn stmt(s: &Stmt, every: &mut dyn FnMut(&Expr)) {
    match &s.kind {
        StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => {}
        StmtKind::Block(b) => block(b, every),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) | StmtKind::Assert(e) => every(e),
        StmtKind::For(a, c, step, body) => {
            every(a);
            every(c);
            stmt(body, every);
            every(step);
        }
        StmtKind::Iterate(_, body) => stmt(body, every),
        StmtKind::While(c, body) => {
            every(c);
            stmt(body, every);
        }
        StmtKind::DoWhile(body, c) => {
            stmt(body, every);
            every(c);
        }
        StmtKind::If(c, a, b) => {
            every(c);
            stmt(a, every);
            b.iter().for_each(|b| stmt(b, every));
        }
        StmtKind::Switch(e, cases) => {
            every(e);
            cases.iter().flat_map(|c| &c.1).for_each(|s| stmt(s, every));
        }
    }
}

/// The data that the analysis of every step needs.
struct Step<'a> {
    meta: FxHashSet<SymId>,
    bodies: Bodies<'a>,
}

impl Step<'_> {
    fn check(&self, items: &Items, out: &mut Vec<Diag>) {
        let templates: Vec<&Arc<Template>> = items
            .iter()
            .filter_map(|(_, c)| match &c.body {
                Body::Template(t) => Some(t),
                _ => None,
            })
            .collect();
        let mut first = Walk::new(self);
        for (_, c) in items {
            if let Body::BeforeUpdate(list) = &c.body {
                first.quiet(|w| list.iter().for_each(|e| w.expr(e)));
            }
        }
        let mut found = Found::default();
        let mut sent: Vec<(Arc<Symbol>, FxHashSet<SymId>)> = Vec::new();
        for receive in [false, true] {
            for t in &templates {
                for e in t.edges.iter().filter(|e| receives(e) == receive) {
                    let mut walk = Walk::new(self);
                    walk.item = t.loc.item;
                    e.guard.iter().for_each(|g| walk.expr(g));
                    walk.written.extend(&first.written);
                    let channel = e.sync.as_ref().and_then(|s| s.channel.root());
                    if let (true, Some(c)) = (receive, channel) {
                        let heard = sent.iter().filter(|(s, _)| may_be_same(s, c));
                        heard.for_each(|(_, w)| walk.written.extend(w));
                    }
                    e.updates.iter().for_each(|u| walk.expr(u));
                    if let (false, Some(c)) = (receive, channel) {
                        sent.push((c.clone(), walk.written));
                    }
                    found.add(walk.early);
                }
            }
        }
        found.report(out);
    }
}

fn receives(e: &Edge) -> bool {
    let direction = e.sync.as_ref().map(|s| s.direction);
    direction == Some(Direction::Receive)
}

/// The first place where each variable is read before it is written.
#[derive(Default)]
struct Found(Vec<(Arc<Symbol>, Loc)>);

impl Found {
    fn add(&mut self, early: Vec<(Arc<Symbol>, Loc)>) {
        for (s, loc) in early {
            if !self.0.iter().any(|(known, _)| known.id == s.id) {
                self.0.push((s, loc));
            }
        }
    }

    fn report(self, out: &mut Vec<Diag>) {
        for (s, loc) in self.0 {
            let message = format!(
                "`{}` is read here before this step has written it, so it still has a value of an earlier step; UPPAAL does not compare `meta` variables, and its answer may depend on the search order. Zonelens keeps the variable as part of the state",
                s.name
            );
            out.push(
                Diag::new("lint/meta-carried", message, loc)
                    .related(s.loc, "declared here")
                    .repair(
                        format!("Make `{}` ordinary state", s.name),
                        vec![Change::Prefix(s.loc, "meta")],
                    ),
            );
        }
    }
}

/// A walk through one step, in evaluation order.
struct Walk<'a> {
    step: &'a Step<'a>,
    item: ItemId,
    /// Variables that may have been written so far.
    written: FxHashSet<SymId>,
    early: Vec<(Arc<Symbol>, Loc)>,
    /// The variables that reference parameters are bound to.
    refs: FxHashMap<SymId, Arc<Symbol>>,
    /// The number of enclosing calls.
    depth: u32,
    /// The number of calls so far. It is limited because chains of calls could double at each
    /// level.
    calls: u32,
}

/// The maximum number of calls followed in one step.
const MOST_CALLS: u32 = 2_000;

impl<'a> Walk<'a> {
    fn new(step: &'a Step<'a>) -> Walk<'a> {
        Walk {
            step,
            item: 0,
            written: FxHashSet::default(),
            early: Vec::new(),
            refs: FxHashMap::default(),
            depth: 0,
            calls: 0,
        }
    }

    /// Walks without reporting reads.
    fn quiet(&mut self, act: impl FnOnce(&mut Self)) {
        let before = self.early.len();
        act(self);
        self.early.truncate(before);
    }

    fn actual(&self, s: &Arc<Symbol>) -> Arc<Symbol> {
        self.refs.get(&s.id).cloned().unwrap_or_else(|| s.clone())
    }

    fn read(&mut self, s: &Arc<Symbol>, e: &Expr) {
        let s = self.actual(s);
        if self.step.meta.contains(&s.id) && !self.written.contains(&s.id) {
            let loc = Loc {
                item: self.item,
                span: e.span,
            };
            self.early.push((s, loc));
        }
    }

    fn write(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Cond(_, a, b) => {
                self.write(a);
                self.write(b);
            }
            _ => {
                if let Some(s) = target.root() {
                    let s = self.actual(s);
                    self.written.insert(s.id);
                }
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(s) => self.read(s, e),
            ExprKind::Assign(_, target, value) => {
                self.own(target, |w| w.expr(value));
                self.indices(target);
                self.write(target);
            }
            // A counter reads itself, which does not count; other reads of it are found where they
            // occur.
            ExprKind::IncDec { expr, .. } => {
                self.indices(expr);
                self.write(expr);
            }
            ExprKind::Call(f, args) => self.call(f, args),
            _ => e.children(&mut |c| self.expr(c)),
        }
    }

    /// Walks the value of an assignment, which may read the variable that is assigned to.
    fn own(&mut self, target: &Expr, act: impl FnOnce(&mut Self)) {
        let own: Vec<SymId> = roots(target)
            .into_iter()
            .filter(|id| !self.written.contains(id))
            .collect();
        let before = self.early.len();
        act(self);
        let mut k = 0;
        self.early.retain(|(s, _)| {
            k += 1;
            k <= before || !own.contains(&s.id)
        });
    }

    fn indices(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Index(base, index) => {
                self.indices(base);
                self.expr(index);
            }
            ExprKind::Field(base, _) => self.indices(base),
            ExprKind::Cond(c, a, b) => {
                self.expr(c);
                self.indices(a);
                self.indices(b);
            }
            _ => {}
        }
    }

    fn call(&mut self, f: &Symbol, args: &[Expr]) {
        let SymKind::Function(sig) = &f.kind else {
            return;
        };
        for (p, a) in sig.params.iter().zip(args) {
            match p.reference {
                true => self.indices(a),
                false => self.expr(a),
            }
        }
        self.calls += 1;
        let Some(body) = self.step.bodies.get(&sig.body).copied() else {
            return;
        };
        if self.depth > 40 || self.calls > MOST_CALLS {
            // The call is not followed, so it may write anything.
            self.written.extend(&self.step.meta);
            return;
        }
        let mut refs = FxHashMap::default();
        for (p, a) in body.params.iter().zip(args) {
            if let (Some(s), SymKind::Param(x)) = (a.root(), &p.kind)
                && x.reference
            {
                refs.insert(p.id, self.actual(s));
            }
        }
        let refs = std::mem::replace(&mut self.refs, refs);
        let item = std::mem::replace(&mut self.item, body.loc.item);
        self.depth += 1;
        block(&body.body, &mut |e| self.expr(e));
        self.depth -= 1;
        self.item = item;
        self.refs = refs;
    }
}
