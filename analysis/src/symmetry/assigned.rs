//! `sym/default` and `sym/meta`: element values that are read before they are assigned.
//!
//! A local scalar starts at element 0, which singles that element out; a `meta` variable read
//! before the step writes it carries a value over from an earlier step. One walk that tracks
//! definite assignments finds both.

use super::Findings;
use crate::check::{Body, Checked, Env};
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Block, Decl, Edge, Expr, ExprKind, Function, Init, Stmt, StmtKind, Template};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::types::{ScalarSet, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, Direction};
use zonelens_syntax::span::Span;

/// A part of a variable that is definitely assigned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Part {
    /// The whole variable.
    Whole(SymId),
    /// The array entry at a loop variable.
    At(SymId, SymId),
    /// A field of a struct.
    Field(SymId, u32),
}

/// What is definitely assigned, or `None` where control never arrives.
type State = Option<FxHashSet<Part>>;

/// A call: the function, what is assigned before it, and the variables bound to its reference
/// parameters.
type Call = (u32, Option<Vec<Part>>, Vec<(SymId, SymId)>);

/// What is assigned on both paths. A variable assigned as a whole on one path and in parts on the
/// other counts as assigned in those parts. If they are all its parts, `Walk::insert` has recorded
/// the whole already.
fn meet(a: State, b: State) -> State {
    match (a, b) {
        (Some(a), Some(b)) => {
            let both = a
                .iter()
                .chain(&b)
                .filter(|p| covers(&a, p) && covers(&b, p));
            Some(both.copied().collect())
        }
        (a, b) => a.or(b),
    }
}

/// Whether a part is assigned, by itself or as part of the whole.
fn covers(state: &FxHashSet<Part>, part: &Part) -> bool {
    let (Part::Whole(id) | Part::At(id, _) | Part::Field(id, _)) = part;
    state.contains(part) || state.contains(&Part::Whole(*id))
}

/// The first scalarset whose elements a value of this type holds.
pub(super) fn held_set(ty: &Type) -> Option<Arc<ScalarSet>> {
    match ty {
        Type::Scalar(set) => Some(set.clone()),
        Type::Array(a) => held_set(&a.element),
        Type::Struct(s) => s.fields.iter().find_map(|(_, t)| held_set(t)),
        _ => None,
    }
}

/// The first scalarset that a type mentions, as value or index.
fn any_set(ty: &Type) -> Option<Arc<ScalarSet>> {
    match ty {
        Type::Array(a) => a.index.any_set().cloned().or_else(|| any_set(&a.element)),
        other => held_set(other).or_else(|| other.any_set().cloned()),
    }
}

struct Walk<'a> {
    env: &'a Env,
    item: ItemId,
    state: State,
    /// Variables whose reads are checked.
    tracked: FxHashSet<SymId>,
    /// Enclosing loop variables, for array entries.
    loops: Vec<Arc<Symbol>>,
    /// Reads before any assignment.
    early: Vec<(Arc<Symbol>, Loc)>,
    depth: u32,
    /// Whether integers are checked like elements.
    ints: bool,
    /// The variables bound to reference parameters.
    refs: FxHashMap<SymId, Arc<Symbol>>,
    /// Calls already followed, with what is assigned after them: following a chain of calls each
    /// time would double the work at every level.
    followed: FxHashMap<Call, State>,
}

impl<'a> Walk<'a> {
    fn new(env: &'a Env, item: ItemId) -> Walk<'a> {
        Walk {
            env,
            item,
            state: Some(FxHashSet::default()),
            tracked: FxHashSet::default(),
            loops: Vec::new(),
            early: Vec::new(),
            depth: 0,
            ints: false,
            refs: FxHashMap::default(),
            followed: FxHashMap::default(),
        }
    }

    /// Whether a value of this type contains anything that is checked.
    fn holds(&self, ty: &Type) -> bool {
        held_set(ty).is_some() || self.ints && ty.contains(&|t| matches!(t, Type::Int(_)))
    }

    fn actual(&self, s: &Arc<Symbol>) -> Arc<Symbol> {
        self.refs.get(&s.id).cloned().unwrap_or_else(|| s.clone())
    }

    fn part(&self, e: &Expr) -> Option<(Arc<Symbol>, Part)> {
        match &e.kind {
            ExprKind::Var(s) => {
                let s = self.actual(s);
                let part = Part::Whole(s.id);
                Some((s, part))
            }
            ExprKind::Index(base, index) => {
                let (ExprKind::Var(s), ExprKind::Var(i)) = (&base.kind, &index.kind) else {
                    return None;
                };
                let s = self.actual(s);
                let part = Part::At(s.id, i.id);
                Some((s, part))
            }
            ExprKind::Field(base, n) => {
                let ExprKind::Var(s) = &base.kind else {
                    return None;
                };
                let s = self.actual(s);
                let part = Part::Field(s.id, *n);
                Some((s, part))
            }
            _ => None,
        }
    }

    fn has(&self, part: &Part) -> bool {
        self.state.as_ref().is_none_or(|s| covers(s, part))
    }

    /// Records a part as assigned, and the whole if no other part needs a check.
    fn insert(&mut self, part: Part, ty: &Type) {
        let whole = match (part, ty) {
            (Part::Field(id, _), Type::Struct(s)) => {
                let rest = s.fields.iter().enumerate().all(|(n, (_, t))| {
                    let field = Part::Field(id, n as u32);
                    field == part || !self.holds(t) || self.has(&field)
                });
                rest.then_some(Part::Whole(id))
            }
            _ => None,
        };
        if let Some(state) = &mut self.state {
            state.insert(part);
            state.extend(whole);
        }
    }

    fn read(&mut self, e: &Expr) {
        let root = match e.root() {
            Some(r) => self.actual(r),
            None => return,
        };
        if !self.tracked.contains(&root.id) {
            return;
        }
        let part = self.part(e).map_or(Part::Whole(root.id), |p| p.1);
        // A field without elements starts at 0, which no renaming of elements changes.
        let harmless = matches!(part, Part::Field(..)) && !self.holds(&e.ty);
        if !harmless && !self.has(&part) {
            let loc = Loc {
                item: self.item,
                span: e.span,
            };
            self.early.push((root.clone(), loc));
            // Report each variable once.
            if let Some(s) = &mut self.state {
                s.insert(Part::Whole(root.id));
            }
        }
    }

    fn write(&mut self, target: &Expr) {
        // The index changes, so entries recorded under it are different ones from now on.
        if let (Some(root), Some(state)) = (target.root(), &mut self.state) {
            state.retain(|p| !matches!(p, Part::At(_, i) if *i == root.id));
        }
        if let Some((root, part)) = self.part(target)
            && self.tracked.contains(&root.id)
        {
            self.insert(part, root.value_type().unwrap_or(&Type::Error));
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(_) => self.read(e),
            ExprKind::Index(..) | ExprKind::Field(..) => {
                self.indices(e);
                self.read(e);
            }
            ExprKind::Assign(op, target, value) => {
                self.expr(value);
                self.indices(target);
                if *op != AssignOp::Set {
                    self.read(target);
                }
                self.write(target);
            }
            ExprKind::Cond(c, a, b) => {
                self.expr(c);
                let before = self.state.clone();
                self.expr(a);
                let then = std::mem::replace(&mut self.state, before);
                self.expr(b);
                self.state = meet(then, self.state.take());
            }
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                // The right side may be skipped, so its assignments do not count.
                let after = self.state.clone();
                self.expr(b);
                self.state = meet(after, self.state.take());
            }
            ExprKind::Call(f, args) => self.call(f, args),
            _ => e.children(&mut |c| self.expr(c)),
        }
    }

    fn indices(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Index(base, index) => {
                self.indices(base);
                self.expr(index);
            }
            ExprKind::Field(base, _) => self.indices(base),
            _ => {}
        }
    }

    fn call(&mut self, f: &Symbol, args: &[Expr]) {
        let SymKind::Function(sig) = &f.kind else {
            return;
        };
        for (p, a) in sig.params.iter().zip(args) {
            if p.reference {
                self.indices(a);
            } else {
                self.expr(a);
            }
        }
        let Some(body) = self.env.bodies.get(&sig.body).cloned() else {
            return;
        };
        if self.depth > 40 {
            return;
        }
        let mut refs = FxHashMap::default();
        for (p, a) in body.params.iter().zip(args) {
            if let (ExprKind::Var(s), SymKind::Param(x)) = (&a.kind, &p.kind)
                && x.reference
            {
                refs.insert(p.id, self.actual(s));
            }
        }
        let key = self.key(sig.body, &refs);
        if let Some(after) = self.followed.get(&key) {
            self.state = after.clone();
            return;
        }
        let refs = std::mem::replace(&mut self.refs, refs);
        let item = std::mem::replace(&mut self.item, body.loc.item);
        let loops = std::mem::take(&mut self.loops);
        let tracked = self.tracked.clone();
        self.depth += 1;
        let mut exits = None;
        self.block(&body.body, &mut exits);
        self.state = meet(exits, self.state.take());
        self.depth -= 1;
        self.tracked = tracked;
        self.loops = loops;
        self.item = item;
        self.refs = refs;
        self.followed.insert(key, self.state.clone());
    }

    fn key(&self, body: u32, refs: &FxHashMap<SymId, Arc<Symbol>>) -> Call {
        let state = self.state.as_ref().map(|s| {
            let mut parts: Vec<Part> = s.iter().copied().collect();
            parts.sort_unstable();
            parts
        });
        let tracked = refs.iter().filter(|(_, s)| self.tracked.contains(&s.id));
        let mut refs: Vec<(SymId, SymId)> = tracked.map(|(p, s)| (*p, s.id)).collect();
        refs.sort_unstable();
        (body, state, refs)
    }

    fn block(&mut self, b: &Block, exits: &mut State) {
        for d in &b.decls {
            self.decl(d);
        }
        for s in &b.stmts {
            self.stmt(s, exits);
        }
    }

    fn decl(&mut self, d: &Decl) {
        if let Some(init) = &d.init {
            self.init(init);
        } else if self.depth == 0 && d.symbol.value_type().is_some_and(|t| self.holds(t)) {
            self.tracked.insert(d.symbol.id);
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List(items, _) => items.iter().for_each(|i| self.init(i)),
        }
    }

    fn stmt(&mut self, s: &Stmt, exits: &mut State) {
        match &s.kind {
            StmtKind::Empty => {}
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Block(b) => self.block(b, exits),
            StmtKind::Expr(e) | StmtKind::Assert(e) => self.expr(e),
            StmtKind::For(a, c, step, body) => {
                self.expr(a);
                self.expr(c);
                let before = self.state.clone();
                self.stmt(body, exits);
                self.expr(step);
                self.state = meet(before, self.state.take());
            }
            StmtKind::While(c, body) => {
                self.expr(c);
                let before = self.state.clone();
                self.stmt(body, exits);
                self.state = meet(before, self.state.take());
            }
            StmtKind::DoWhile(body, c) => {
                self.stmt(body, exits);
                self.expr(c);
            }
            StmtKind::Iterate(var, body) => self.iterate(var, body, exits),
            StmtKind::If(c, a, b) => {
                self.expr(c);
                let before = self.state.clone();
                self.stmt(a, exits);
                let then = std::mem::replace(&mut self.state, before);
                if let Some(b) = b {
                    self.stmt(b, exits);
                }
                self.state = meet(then, self.state.take());
            }
            StmtKind::Return(e) => {
                if let Some(e) = e {
                    self.expr(e);
                }
                *exits = meet(exits.take(), self.state.take());
            }
            StmtKind::Switch(e, cases) => {
                self.expr(e);
                let before = self.state.clone();
                for (_, stmts) in cases {
                    self.state = before.clone();
                    stmts.iter().for_each(|s| self.stmt(s, exits));
                }
                self.state = before;
            }
        }
    }

    /// A loop over all indices that assigns each entry assigns the whole array.
    fn iterate(&mut self, var: &Arc<Symbol>, body: &Stmt, exits: &mut State) {
        let before = self.state.clone();
        self.loops.push(var.clone());
        self.stmt(body, exits);
        self.loops.pop();
        let leaves = contains_break(body);
        if let Some(state) = &mut self.state {
            let entries: Vec<SymId> = state
                .iter()
                .filter_map(|p| match p {
                    Part::At(array, i) if *i == var.id => Some(*array),
                    _ => None,
                })
                .collect();
            if !leaves {
                state.extend(entries.into_iter().map(Part::Whole));
            }
        }
        if leaves {
            self.state = meet(before, self.state.take());
        }
    }
}

fn contains_break(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(b) => b.stmts.iter().any(contains_break),
        StmtKind::If(_, a, b) => contains_break(a) || b.as_ref().is_some_and(|b| contains_break(b)),
        StmtKind::Switch(_, cases) => cases.iter().flat_map(|c| &c.1).any(contains_break),
        _ => false,
    }
}

/// Checks the local variables and the result of a function.
pub(super) fn function(f: &Function, env: &Env, out: &mut Findings) {
    let mut walk = Walk::new(env, f.loc.item);
    let mut exits = None;
    walk.block(&f.body, &mut exits);
    for (s, loc) in std::mem::take(&mut walk.early) {
        if let Some(set) = s.value_type().and_then(held_set) {
            let message = format!(
                "`{}` is read before it is assigned; it would be the first element of `{}`, which singles that element out",
                s.name, set.name
            );
            let mut diag = Diag::new("sym/default", message, loc).related(s.loc, "declared here");
            // A parameter that is an element of the set can serve as the initial value.
            if let (Some(p), Some(Type::Scalar(_))) = (given(f, &set), s.value_type()) {
                let end = Span::new(s.loc.span.end, s.loc.span.end);
                let at = Loc { span: end, ..s.loc };
                diag = diag.fix(
                    format!("Start `{}` at `{}`", s.name, p.name),
                    at,
                    format!(" = {}", p.name),
                );
            }
            out.broken(&set, diag);
        }
    }
    if let Some(set) = held_set(&f.ret)
        && walk.state.is_some()
    {
        let message = format!(
            "`{}` can end without `return`; its result would be the first element of `{}`, which singles that element out",
            f.symbol.name, set.name
        );
        out.broken(&set, Diag::new("sym/default", message, f.loc));
    }
}

/// A parameter of the function that is an element of the set.
fn given<'a>(f: &'a Function, set: &ScalarSet) -> Option<&'a Arc<Symbol>> {
    f.params.iter().find(
        |p| matches!((&p.kind, p.value_type()), (SymKind::Param(_), Some(Type::Scalar(s))) if **s == *set),
    )
}

/// For sets whose elements are integers: local variables read before they are assigned, with the
/// location of the read, and whether the function can end without `return`.
pub(super) fn unassigned(f: &Function, env: &Env) -> (Vec<(Arc<Symbol>, Loc)>, bool) {
    let mut walk = Walk::new(env, f.loc.item);
    walk.ints = true;
    let mut exits = None;
    walk.block(&f.body, &mut exits);
    let ends = walk.state.is_some();
    (walk.early, ends)
}

/// Checks `meta` variables whose types involve scalarsets.
///
/// A variable that is never written is a constant. A receiver may read a variable if every sender
/// it may synchronise with writes it first; a channel parameter may denote any channel.
pub(super) fn meta(env: &Env, items: &[(ItemId, Arc<Checked>)], out: &mut Findings) {
    let declares = |c: &Checked| {
        c.decls.iter().any(
            |d| matches!(&d.symbol.kind, SymKind::Var(v) if v.meta && any_set(&v.ty).is_some()),
        )
    };
    if !items.iter().any(|(_, c)| declares(c)) {
        return;
    }
    let written = crate::lint::written(items);
    let mut tracked = FxHashSet::default();
    for (_, c) in items {
        for d in &c.decls {
            if let SymKind::Var(v) = &d.symbol.kind
                && v.meta
                && any_set(&v.ty).is_some()
                && written.contains(&d.symbol.id)
            {
                tracked.insert(d.symbol.id);
            }
        }
    }
    if tracked.is_empty() {
        return;
    }
    let templates: Vec<&Arc<Template>> = items
        .iter()
        .filter_map(|(_, c)| match &c.body {
            Body::Template(t) => Some(t),
            _ => None,
        })
        .collect();
    let mut early = Vec::new();
    // For each sending edge: its channel, and what is definitely written before its receivers run.
    let mut sent: Vec<(Arc<Symbol>, State)> = Vec::new();
    for receive in [false, true] {
        for t in &templates {
            for e in &t.edges {
                if is_receiver(e) != receive {
                    continue;
                }
                let channel = e.sync.as_ref().and_then(|s| s.channel.root());
                let mut walk = Walk::new(env, t.loc.item);
                walk.tracked = tracked.clone();
                walk.depth = 1;
                if let Some(g) = &e.guard {
                    walk.expr(g);
                }
                if let (true, Some(channel)) = (receive, channel) {
                    let heard = sent.iter().filter(|(c, _)| may_be_same(c, channel));
                    let heard = heard.fold(None, |all, (_, s)| meet(all, s.clone()));
                    walk.state = heard.or(walk.state.take());
                }
                e.updates.iter().for_each(|u| walk.expr(u));
                if let (false, Some(channel)) = (receive, channel) {
                    sent.push((channel.clone(), walk.state.take()));
                }
                early.extend(walk.early);
            }
        }
    }
    report_meta(early, out);
}

/// Whether two channels can be the same. Arguments of channel parameters are not followed.
pub(crate) fn may_be_same(a: &Symbol, b: &Symbol) -> bool {
    let given = |s: &Symbol| matches!(s.kind, SymKind::Param(_));
    a.id == b.id || given(a) || given(b)
}

fn report_meta(early: Vec<(Arc<Symbol>, Loc)>, out: &mut Findings) {
    for (s, loc) in early {
        if let Some(set) = s.value_type().and_then(any_set) {
            let message = format!(
                "the meta variable `{}` is read before this step has written it, so it still has a value of an earlier step; it is kept as part of the state",
                s.name
            );
            let diag = Diag::new("sym/meta", message, loc)
                .related(s.loc, "declared here")
                .repair(
                    format!("Make `{}` ordinary state", s.name),
                    vec![Change::Prefix(s.loc, "meta")],
                );
            out.broken(&set, diag);
        }
    }
}

fn is_receiver(e: &Edge) -> bool {
    e.sync
        .as_ref()
        .is_some_and(|s| s.direction == Direction::Receive)
}
