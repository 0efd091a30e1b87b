//! The flow of integer identifiers: which variables, array dimensions and parameters hold elements
//! of one set.
//!
//! Assignment, comparison by equality, argument passing and indexing keep a value an identifier,
//! and join the slots they connect. Any other use is recorded as one that identifiers do not allow.
//! This computes `used_α` for the `scalarset` notation, and detects sets in models that number
//! their processes by plain integers.

use super::cache;
use super::counting::{Counters, counters};
use super::slots::{Root, Slot, Slots, Use};
use crate::check::{Body, Checked, Env};
use crate::consteval::assign_op;
use crate::hir::{Expr, ExprKind, Function, Instance, PriorityElem, Template};
use crate::symbol::{ItemId, Loc, SymKind, Symbol};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, BinaryOp, QuantifierKind, UnaryOp};
use zonelens_syntax::span::Span;

/// The value of an integer expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Val {
    /// The value of a slot.
    Slot(usize),
    /// A literal or a known constant.
    Const(i32),
    /// A computed value.
    Other,
}

/// Follows identifiers through a model.
pub(super) struct Flow<'a> {
    env: &'a Env,
    item: ItemId,
    /// The slots and the uses recorded for them.
    pub slots: Slots,
    /// The body whose result a `return` sets.
    pub(super) ret: Option<u32>,
    /// The counters of that body.
    pub(super) counters: Counters,
    /// The functions followed so far, by body.
    pub(super) followed: FxHashSet<u32>,
    /// Functions that were called before they were followed.
    pending: Vec<u32>,
}

impl<'a> Flow<'a> {
    /// Follows a whole model.
    pub(super) fn new(env: &'a Env, items: &[(ItemId, Arc<Checked>)]) -> Flow<'a> {
        let mut flow = Flow::query(env, Slots::default(), FxHashSet::default());
        let called = called(env, items);
        for (item, c) in items {
            flow.item = *item;
            for d in &c.decls {
                flow.declared(&d.symbol);
            }
            for f in &c.functions {
                if matches!(&f.symbol.kind, SymKind::Function(sig) if called.contains(&sig.body)) {
                    flow.function(f);
                }
            }
            match &c.body {
                Body::Template(t) => flow.template(t),
                Body::Instance(i) => flow.instance(i),
                Body::BeforeUpdate(list) | Body::AfterUpdate(list) => {
                    list.iter().for_each(|e| flow.effect(e));
                }
                Body::ChanPriority(levels) => {
                    for e in levels.iter().flatten() {
                        if let PriorityElem::Channel(e) = e {
                            let before = flow.slots.uses.len();
                            flow.path(e);
                            flow.slots.as_priorities(before);
                        }
                    }
                }
                _ => {}
            }
        }
        flow.rest();
        flow
    }

    /// Prepares to follow queries, starting from the slots of the model and the functions that were
    /// followed for them.
    pub(super) fn query(env: &'a Env, slots: Slots, followed: FxHashSet<u32>) -> Flow<'a> {
        Flow {
            env,
            item: 0,
            slots,
            ret: None,
            counters: Counters::default(),
            followed,
            pending: Vec::new(),
        }
    }

    /// Follows the functions that were called and not followed yet: those that only a query calls,
    /// or only the range of a type.
    pub(super) fn rest(&mut self) {
        let (env, item) = (self.env, self.item);
        while let Some(body) = self.pending.pop() {
            if let Some(f) = env.bodies.get(&body) {
                self.item = f.loc.item;
                self.function(f);
            }
        }
        self.item = item;
    }

    pub(super) fn loc(&self, span: Span) -> Loc {
        Loc {
            item: self.item,
            span,
        }
    }

    pub(super) fn declared(&mut self, s: &Arc<Symbol>) {
        if let Some(ty) = s.value_type() {
            self.slots.declare(&Root::Symbol(s.id), s, ty);
        }
    }

    fn function(&mut self, f: &Function) {
        let SymKind::Function(sig) = &f.symbol.kind else {
            return;
        };
        if !self.followed.insert(sig.body) {
            return;
        }
        self.counters = counters(f);
        for p in &f.params {
            self.declared(p);
        }
        self.slots
            .declare(&Root::Result(sig.body), &f.symbol, &f.ret);
        self.ret = Some(sig.body);
        self.block(&f.body);
        self.ret = None;
        self.counters = Counters::default();
        let (early, ends) = super::assigned::unassigned(f, self.env);
        for (s, loc) in early {
            if let Some(ty) = s.value_type().cloned() {
                self.start_values(&Root::Symbol(s.id), &ty, loc);
            }
        }
        if ends {
            self.start_values(&Root::Result(sig.body), &f.ret, f.loc);
        }
    }

    /// Records the default values: an unassigned variable holds 0, or the end of its range that is
    /// closest to 0.
    fn start_values(&mut self, root: &Root, ty: &Type, loc: Loc) {
        let mut values = vec![0];
        if let Type::Int(int) = ty.innermost() {
            values.extend(int.lo.known().filter(|lo| *lo > 0));
            values.extend(int.hi.known().filter(|hi| *hi < 0));
        }
        for slot in self.slots.all_of(root, ty) {
            for v in &values {
                self.slots.used(slot, Use::Default(*v), loc);
            }
        }
    }

    fn template(&mut self, t: &Template) {
        for s in t.params.iter().chain(t.decls.iter().map(|d| &d.symbol)) {
            self.declared(s);
            self.bounds(s);
        }
        for l in t.locations.iter().filter_map(|l| l.invariant.as_ref()) {
            self.truth(l);
        }
        for d in &t.decls {
            // Initial values of variables are part of the initial state; values of constants are
            // part of the behaviour.
            if let (Some(init), SymKind::Var(v)) = (&d.init, &d.symbol.kind)
                && v.constant
                && v.value.is_none()
            {
                self.init(&d.symbol, init);
            }
        }
        for e in &t.edges {
            for s in &e.selects {
                self.declared(s);
                self.bounds(s);
            }
            if let Some(g) = &e.guard {
                self.truth(g);
            }
            if let Some(s) = &e.sync {
                self.path(&s.channel);
            }
            e.updates.iter().for_each(|u| self.effect(u));
        }
    }

    /// Records arithmetic on parameters that a size or range depends on.
    pub(super) fn bounds(&mut self, s: &Symbol) {
        let mut found = Vec::new();
        if let Some(ty) = s.value_type() {
            bound_exprs(ty, &mut found);
        }
        for e in found {
            let v = self.val(&e);
            self.used(v, Use::Arithmetic, e.span);
        }
    }

    fn instance(&mut self, i: &Instance) {
        for p in &i.params {
            self.declared(p);
        }
        let params = match &i.template.kind {
            SymKind::Template(sig) => self.env.templates.get(&sig.body).map(|t| t.params.clone()),
            SymKind::Instance(sig) => self.env.instances.get(&sig.body).map(|t| t.params.clone()),
            _ => None,
        };
        for (p, a) in params.unwrap_or_default().iter().zip(&i.args) {
            if a.ty.is_composite() || matches!(a.ty, Type::Clock | Type::Chan(_)) {
                self.join_composite(&Root::Symbol(p.id), a);
                continue;
            }
            if !matches!(a.ty, Type::Int(_)) {
                continue;
            }
            let slot = self.slots.leaf(&Root::Symbol(p.id), &[]);
            match self.val(a) {
                Val::Const(_) => self.slots.used(slot, Use::Partial, self.loc(a.span)),
                other => self.meet(slot, other, a.span, false),
            }
        }
    }

    // Expressions.

    pub(super) fn used(&mut self, v: Val, how: Use, span: Span) {
        if let Val::Slot(s) = v {
            self.slots.used(s, how, self.loc(span));
        }
    }

    /// Connects a slot with a value in an assignment, comparison, argument or index.
    pub(super) fn meet(&mut self, slot: usize, v: Val, span: Span, index: bool) {
        let loc = self.loc(span);
        match v {
            Val::Slot(other) => self.slots.join(slot, other),
            Val::Const(n) if index => self.slots.used(slot, Use::Index(n), loc),
            Val::Const(n) => self.slots.used(slot, Use::Literal(n), loc),
            Val::Other => self.slots.used(slot, Use::Computed, loc),
        }
    }

    /// Follows an expression whose value is not used.
    pub(super) fn effect(&mut self, e: &Expr) {
        if let ExprKind::Comma(list) = &e.kind {
            list.iter().for_each(|e| self.effect(e));
        } else {
            self.val(e);
        }
    }

    /// Follows a condition; an integer there is compared with 0.
    pub(super) fn truth(&mut self, e: &Expr) {
        let v = self.val(e);
        if matches!(e.ty, Type::Int(_)) {
            self.used(v, Use::Literal(0), e.span);
        }
    }

    /// Follows an integer that `sup`, `inf` or `bounds` measures.
    pub(super) fn measured(&mut self, e: &Expr) {
        let v = self.val(e);
        self.used(v, Use::Order, e.span);
    }

    /// Follows an expression and returns its integer value.
    pub(super) fn val(&mut self, e: &Expr) -> Val {
        match &e.kind {
            ExprKind::Int(v) => Val::Const(*v),
            ExprKind::Bool(b) => Val::Const(i32::from(*b)),
            ExprKind::Cost => Val::Other,
            ExprKind::Var(s) => match &s.kind {
                SymKind::Var(v) if v.constant && matches!(v.ty, Type::Int(_)) => {
                    match v.value.as_deref() {
                        Some([one]) => Val::Const(*one),
                        _ => self.leaf(e),
                    }
                }
                _ => self.leaf(e),
            },
            ExprKind::Index(..) | ExprKind::Field(..) | ExprKind::Member { .. } => self.leaf(e),
            ExprKind::Unary(UnaryOp::Not, a) => {
                self.truth(a);
                Val::Other
            }
            ExprKind::Unary(op, a) => match (self.val(a), op) {
                (Val::Const(v), UnaryOp::Minus) => v.checked_neg().map_or(Val::Other, Val::Const),
                (Val::Const(v), _) => Val::Const(v),
                (v, _) => {
                    self.used(v, Use::Arithmetic, e.span);
                    Val::Other
                }
            },
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e),
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value, e),
            ExprKind::IncDec { expr, .. } => {
                let v = self.val(expr);
                self.used(v, Use::Arithmetic, e.span);
                Val::Other
            }
            ExprKind::Cond(c, a, b) => {
                self.truth(c);
                self.choice(a, b, e)
            }
            ExprKind::Call(f, args) => self.call(f, args),
            ExprKind::MemberCall {
                family,
                args,
                function,
                call,
            } => {
                self.family_args(family, args);
                self.call(function, call)
            }
            ExprKind::Builtin(_, args) => {
                for a in args {
                    let v = self.val(a);
                    self.used(v, Use::Arithmetic, e.span);
                }
                Val::Other
            }
            ExprKind::Quantifier { kind, var, body } => {
                self.declared(var);
                self.bounds(var);
                if *kind == QuantifierKind::Sum {
                    let v = self.val(body);
                    self.used(v, Use::Arithmetic, body.span);
                } else {
                    self.truth(body);
                }
                Val::Other
            }
            ExprKind::Process(family, args) | ExprKind::LocationOf(family, args) => {
                self.family_args(family, args);
                Val::Other
            }
            ExprKind::Comma(list) => {
                let mut last = Val::Other;
                for e in list {
                    last = self.val(e);
                }
                last
            }
            ExprKind::Rate(_)
            | ExprKind::Deadlock
            | ExprKind::Error
            | ExprKind::Double(_)
            | ExprKind::Str(_) => Val::Other,
        }
    }

    fn leaf(&mut self, e: &Expr) -> Val {
        let place = self.path(e);
        match (&e.ty, place) {
            (Type::Int(_), Some((root, fields, _))) => Val::Slot(self.slots.leaf(&root, &fields)),
            _ => Val::Other,
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, e: &Expr) -> Val {
        use BinaryOp as B;
        if matches!(op, B::And | B::Or | B::Xor | B::Imply) {
            self.truth(a);
            self.truth(b);
            return Val::Other;
        }
        if matches!(op, B::Eq | B::Ne) && a.ty.is_composite() {
            self.join_both(a, b);
            return Val::Other;
        }
        if let (ExprKind::Process(f, x), ExprKind::Process(g, y)) = (&a.kind, &b.kind) {
            self.family_args(f, x);
            self.family_args(g, y);
            for (x, y) in x.iter().zip(y) {
                self.compare(x, y, e.span);
            }
            return Val::Other;
        }
        let clock = |t: &Type| matches!(t, Type::Clock | Type::Diff | Type::Rate | Type::Double);
        if clock(&a.ty) || clock(&b.ty) {
            let (x, y) = (self.val(a), self.val(b));
            self.used(x, Use::Clock, e.span);
            self.used(y, Use::Clock, e.span);
            return Val::Other;
        }
        if matches!(op, B::Eq | B::Ne) {
            self.compare(a, b, e.span);
            return Val::Other;
        }
        let (x, y) = (self.val(a), self.val(b));
        if let (Val::Const(l), Val::Const(r)) = (x, y) {
            return crate::consteval::apply(op, l, r, e.span).map_or(Val::Other, Val::Const);
        }
        let how = if matches!(op, B::Lt | B::Le | B::Ge | B::Gt | B::Min | B::Max) {
            Use::Order
        } else {
            Use::Arithmetic
        };
        self.used(x, how, e.span);
        self.used(y, how, e.span);
        Val::Other
    }

    fn compare(&mut self, a: &Expr, b: &Expr, span: Span) {
        match (self.val(a), self.val(b)) {
            (Val::Slot(s), v) | (v, Val::Slot(s)) => self.meet(s, v, span, false),
            _ => {}
        }
    }

    fn choice(&mut self, a: &Expr, b: &Expr, e: &Expr) -> Val {
        if e.ty.is_composite() {
            self.join_both(a, b);
            return Val::Other;
        }
        match (self.val(a), self.val(b)) {
            (Val::Slot(s), v) | (v, Val::Slot(s)) => {
                self.meet(s, v, e.span, false);
                Val::Slot(s)
            }
            (Val::Const(x), Val::Const(y)) if x == y => Val::Const(x),
            _ => Val::Other,
        }
    }

    fn assign(&mut self, op: AssignOp, target: &Expr, value: &Expr, e: &Expr) -> Val {
        if target.ty.is_composite() {
            self.join_both(target, value);
            return Val::Other;
        }
        if let ExprKind::Cond(c, a, b) = &target.kind {
            self.truth(c);
            self.assign(op, a, value, e);
            return self.assign(op, b, value, e);
        }
        let v = self.val(value);
        if matches!(target.ty, Type::Clock | Type::Double) {
            self.path(target);
            self.used(v, Use::Clock, e.span);
            return Val::Other;
        }
        let slot = self.val(target);
        if assign_op(op).is_some() {
            self.used(slot, Use::Arithmetic, e.span);
            self.used(v, Use::Arithmetic, e.span);
            return Val::Other;
        }
        if let Val::Slot(s) = slot {
            self.meet(s, v, e.span, false);
        } else if matches!(target.ty, Type::Bool) && matches!(value.ty, Type::Int(_)) {
            self.used(v, Use::Literal(0), e.span);
        }
        slot
    }

    fn call(&mut self, f: &Arc<Symbol>, args: &[Expr]) -> Val {
        let SymKind::Function(sig) = &f.kind else {
            return Val::Other;
        };
        if !self.followed.contains(&sig.body) {
            self.pending.push(sig.body);
        }
        let params = self.env.bodies.get(&sig.body).map(|b| b.params.clone());
        for (p, a) in params.unwrap_or_default().iter().zip(args) {
            self.declared(p);
            let param = p.value_type().cloned().unwrap_or(Type::Error);
            if param.is_composite() || matches!(param, Type::Clock | Type::Chan(_)) {
                self.join_composite(&Root::Symbol(p.id), a);
            } else if matches!(param, Type::Int(_)) {
                let slot = self.slots.leaf(&Root::Symbol(p.id), &[]);
                let v = self.val(a);
                self.meet(slot, v, a.span, false);
            } else {
                self.truth(a);
            }
        }
        match sig.ret {
            Type::Int(_) => Val::Slot(self.slots.leaf(&Root::Result(sig.body), &[])),
            _ => Val::Other,
        }
    }

    fn family_args(&mut self, family: &Symbol, args: &[Expr]) {
        let params = match &family.kind {
            SymKind::Template(sig) => self.env.templates.get(&sig.body).map(|t| t.params.clone()),
            SymKind::Instance(sig) => self.env.instances.get(&sig.body).map(|t| t.params.clone()),
            _ => None,
        };
        for (p, a) in params.unwrap_or_default().iter().zip(args) {
            let slot = self.slots.leaf(&Root::Symbol(p.id), &[]);
            let v = self.val(a);
            self.meet(slot, v, a.span, true);
        }
    }

    /// Root, fields and number of dimensions of a place. Connects indices with the dimensions they
    /// select from.
    fn path(&mut self, e: &Expr) -> Option<(Root, Vec<u32>, u32)> {
        match &e.kind {
            ExprKind::Var(s) => {
                self.declared(s);
                Some((Root::Symbol(s.id), Vec::new(), 0))
            }
            ExprKind::Member {
                family,
                args,
                member,
            } => {
                self.family_args(family, args);
                Some((Root::Symbol(member.id), Vec::new(), 0))
            }
            ExprKind::Call(f, args) => {
                self.call(f, args);
                result_of(f)
            }
            ExprKind::MemberCall {
                family,
                args,
                function,
                call,
            } => {
                self.family_args(family, args);
                self.call(function, call);
                result_of(function)
            }
            ExprKind::Index(base, index) => {
                let v = self.val(index);
                let (root, fields, dims) = self.path(base)?;
                let slot = self.slots.dim(&root, &fields, dims);
                self.meet(slot, v, index.span, true);
                if matches!(v, Val::Slot(_)) {
                    self.slots.used(slot, Use::Indexed, self.loc(index.span));
                }
                Some((root, fields, dims + 1))
            }
            ExprKind::Field(base, n) => {
                let (root, mut fields, dims) = self.path(base)?;
                fields.push(*n);
                Some((root, fields, dims))
            }
            _ => {
                e.children(&mut |c| {
                    self.val(c);
                });
                None
            }
        }
    }

    pub(super) fn composite_root(&mut self, e: &Expr) -> Option<(Root, Vec<u32>, u32)> {
        match &e.kind {
            ExprKind::Cond(c, a, b) => {
                self.truth(c);
                let root = self.composite_root(a)?;
                self.join_at(&root, b);
                Some(root)
            }
            ExprKind::Assign(_, target, value) => {
                let root = self.composite_root(target)?;
                self.join_at(&root, value);
                Some(root)
            }
            _ => self.path(e),
        }
    }

    pub(super) fn join_composite(&mut self, root: &Root, e: &Expr) {
        self.join_at(&(root.clone(), Vec::new(), 0), e);
    }

    fn join_at(&mut self, at: &(Root, Vec<u32>, u32), e: &Expr) {
        match self.composite_root(e) {
            Some(other) => self.slots.join_all(at, &other, &e.ty),
            None => self.unknown_at(at, e),
        }
    }

    /// Connects two whole arrays or structs.
    fn join_both(&mut self, a: &Expr, b: &Expr) {
        match self.composite_root(a) {
            Some(root) => self.join_at(&root, b),
            None => {
                if let Some(root) = self.composite_root(b) {
                    self.unknown_at(&root, b);
                }
            }
        }
    }

    /// A whole array or struct is connected with a value that cannot be followed: nothing in it is
    /// an identifier.
    pub(super) fn unknown_at(&mut self, at: &(Root, Vec<u32>, u32), e: &Expr) {
        let loc = self.loc(e.span);
        for slot in self.slots.all_at(at, &e.ty) {
            self.slots.used(slot, Use::Computed, loc);
        }
    }
}

/// The functions that the labels and initialisers of a model call, directly or through others, by
/// body. Those that only queries call are judged with the query.
fn called(env: &Env, items: &[(ItemId, Arc<Checked>)]) -> FxHashSet<u32> {
    let mut out = FxHashSet::default();
    let mut note = |e: &Expr| cache::callees(e, &mut out);
    for (_, c) in items {
        let decls = match &c.body {
            Body::Template(t) => c.decls.iter().chain(&t.decls),
            _ => c.decls.iter().chain(&[]),
        };
        for init in decls.filter_map(|d| d.init.as_ref()) {
            init.exprs(&mut |e| note(e));
        }
        match &c.body {
            Body::Template(t) => {
                let invariants = t.locations.iter().filter_map(|l| l.invariant.as_ref());
                invariants.for_each(&mut note);
                for e in &t.edges {
                    let channel = e.sync.iter().map(|s| &s.channel);
                    let labels = e.guard.iter().chain(channel).chain(&e.updates);
                    labels.for_each(&mut note);
                }
            }
            Body::BeforeUpdate(list) | Body::AfterUpdate(list) => list.iter().for_each(&mut note),
            _ => {}
        }
    }
    let mut todo: Vec<u32> = out.iter().copied().collect();
    while let Some(body) = todo.pop() {
        let mut more = FxHashSet::default();
        if let Some(f) = env.bodies.get(&body) {
            cache::callees_of(f, &mut more);
        }
        todo.extend(more.into_iter().filter(|b| out.insert(*b)));
    }
    out
}

fn result_of(f: &Symbol) -> Option<(Root, Vec<u32>, u32)> {
    match &f.kind {
        SymKind::Function(sig) => Some((Root::Result(sig.body), Vec::new(), 0)),
        _ => None,
    }
}

fn bound_exprs(ty: &Type, out: &mut Vec<Expr>) {
    use crate::types::Bound;
    let mut bound = |b: &Bound| {
        if let Bound::Expr(e) = b {
            out.push((**e).clone());
        }
    };
    match ty {
        Type::Int(int) => {
            bound(&int.lo);
            bound(&int.hi);
        }
        Type::Scalar(set) => bound(&set.size),
        Type::Array(a) => {
            bound_exprs(&a.index, out);
            bound_exprs(&a.element, out);
        }
        Type::Struct(s) => s.fields.iter().for_each(|(_, t)| bound_exprs(t, out)),
        _ => {}
    }
}

/// The slot of a symbol's own value.
pub(super) fn leaf_slot(s: &Symbol) -> Slot {
    Slot::Leaf(Root::Symbol(s.id), Vec::new())
}
