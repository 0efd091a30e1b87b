//! The variables and array entries that code reads and writes: the basis of every commutation
//! check.
//!
//! Each function is summarised once; at a call the arguments replace the parameters in the summary.

use super::counting::{Counters, counter_of, counters};
use super::interval::{Ranges, interval};
use super::values::{
    accumulation, closed, extreme, fits, known_value, root_path, same_place, selector, values_of,
};
use crate::consteval::{Bodies, assign_op};
use crate::hir::{Block, Expr, ExprKind, Function, Init, Stmt, StmtKind};
use crate::symbol::{Loc, SymId, SymKind, Symbol};
use crate::types::{ScalarSet, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, BinaryOp};

/// One selector of `a[i].f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sel {
    /// An index that is exactly this variable, parameter or bound variable.
    Var(SymId),
    /// Any other index.
    Any,
    /// A field.
    Field(u32),
}

/// A value that is the same whenever it is computed, as far as can be seen locally.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A literal.
    Literal(i32),
    /// The value of a symbol.
    Symbol(Arc<Symbol>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Literal(a), Value::Literal(b)) => a == b,
            (Value::Symbol(a), Value::Symbol(b)) => a.id == b.id,
            _ => false,
        }
    }
}

/// Operations that may be applied in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accumulation {
    /// The value only grows.
    Grow,
    /// The value only shrinks.
    Shrink,
    /// `&&`, `&`
    And,
    /// `||`, `|`
    Or,
    /// `^`
    Xor,
    /// `<?`
    Min,
    /// `>?`
    Max,
}

/// What an access does to a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// Reads it.
    Read,
    /// Assigns a value, if that is known.
    Write(Option<Value>),
    /// Combines it with a value, without using its own value otherwise.
    Accumulate(Accumulation),
}

/// One access to a variable.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The variable.
    pub root: Arc<Symbol>,
    /// The selectors that lead to the accessed part.
    pub path: Vec<Sel>,
    /// What happens.
    pub action: Action,
    /// Where the access is.
    pub loc: Loc,
}

/// All accesses of a piece of code to variables other than its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    /// The accesses, in the order of the text.
    pub accesses: Vec<Access>,
    /// Whether the code can fail at run time.
    pub may_fail: bool,
}

/// Summaries of functions, computed on demand.
pub(super) struct Summaries<'a> {
    bodies: &'a Bodies,
    ranges: &'a Ranges,
    /// Bound variables and parameters over sets of integers.
    pub sets: FxHashMap<SymId, Arc<ScalarSet>>,
    /// The counters of the functions that were examined.
    pub counters: Counters,
    known: FxHashMap<SymId, Arc<Effects>>,
}

impl<'a> Summaries<'a> {
    /// Creates empty summaries for the functions in `bodies`.
    pub(super) fn new(bodies: &'a Bodies, ranges: &'a Ranges) -> Summaries<'a> {
        Summaries {
            bodies,
            ranges,
            sets: FxHashMap::default(),
            counters: Counters::default(),
            known: FxHashMap::default(),
        }
    }

    /// The set that a bound variable or parameter ranges over.
    pub(super) fn set_of(&self, s: &Symbol) -> Option<Arc<ScalarSet>> {
        let typed = s
            .value_type()
            .and_then(Type::any_set)
            .filter(|s| !s.parameter);
        typed.or_else(|| self.sets.get(&s.id)).cloned()
    }

    /// The function with this id.
    pub(super) fn body(&self, id: SymId) -> Option<Arc<Function>> {
        self.bodies.get(&id).cloned()
    }

    /// The effects of a function in terms of its parameters.
    pub(super) fn of(&mut self, f: &Symbol) -> Arc<Effects> {
        let SymKind::Function(sig) = &f.kind else {
            return Arc::default();
        };
        if let Some(e) = self.known.get(&sig.body) {
            return e.clone();
        }
        let Some(function) = self.bodies.get(&sig.body).cloned() else {
            return Arc::default();
        };
        let effects = Arc::new(self.summarise(&function));
        self.known.insert(sig.body, effects.clone());
        effects
    }

    fn summarise(&mut self, f: &Function) -> Effects {
        self.counters.extend(counters(f));
        let mut c = Collector::new(self, f.loc.item);
        c.result = Some(f.ret.clone());
        c.block(&f.body);
        let mut effects = c.out;
        // A value parameter that is assigned to no longer holds its argument.
        let mut changed: FxHashSet<SymId> = FxHashSet::default();
        for a in &effects.accesses {
            if !matches!(a.action, Action::Read) && is_value_param(&a.root) {
                changed.insert(a.root.id);
            }
        }
        effects.accesses.retain(|a| !is_value_param(&a.root));
        for a in &mut effects.accesses {
            for s in &mut a.path {
                if matches!(s, Sel::Var(id) if changed.contains(id)) {
                    *s = Sel::Any;
                }
            }
            if let Action::Write(Some(Value::Symbol(s))) = &a.action
                && changed.contains(&s.id)
            {
                a.action = Action::Write(None);
            }
        }
        // Keep each access once: a chain of calls would double the list at every level.
        let mut accesses: Vec<Access> = Vec::new();
        for a in effects.accesses {
            let same =
                |b: &Access| b.root.id == a.root.id && b.path == a.path && b.action == a.action;
            if !accesses.iter().any(same) {
                accesses.push(a);
            }
        }
        Effects {
            accesses,
            may_fail: effects.may_fail,
        }
    }
}

fn is_value_param(s: &Symbol) -> bool {
    matches!(&s.kind, SymKind::Param(p) if !p.reference && p.of == crate::symbol::ParamOf::Function)
}

/// Collects the effects of code. Variables declared inside it are its own and are not reported.
pub(super) struct Collector<'s, 'a> {
    summaries: &'s mut Summaries<'a>,
    item: u32,
    own: FxHashMap<SymId, Own>,
    /// Upper bounds on the iterations of the enclosing loops, outermost first.
    loops: Vec<u64>,
    /// The type of the result, if the code is a whole function.
    result: Option<Type>,
    /// The effects found so far.
    pub out: Effects,
}

/// The values of a variable that the code declares: what is stored in it, and how far counting can
/// move it from there.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// The number of loops around its declaration.
    depth: usize,
    /// Least and greatest value stored.
    stored: (i64, i64),
    /// The most that is added and subtracted in total.
    counted: (i64, i64),
}

impl<'s, 'a> Collector<'s, 'a> {
    /// A collector for code of `item`.
    pub(super) fn new(summaries: &'s mut Summaries<'a>, item: u32) -> Collector<'s, 'a> {
        Collector {
            summaries,
            item,
            own: FxHashMap::default(),
            loops: Vec::new(),
            result: None,
            out: Effects::default(),
        }
    }

    fn push(&mut self, root: &Arc<Symbol>, path: Vec<Sel>, action: Action, e: &Expr) {
        let constant = match &root.kind {
            SymKind::Var(v) => v.constant,
            SymKind::Bound(_) => true,
            _ => false,
        };
        if constant || self.own.contains_key(&root.id) {
            return;
        }
        let loc = Loc {
            item: self.item,
            span: e.span,
        };
        self.out.accesses.push(Access {
            root: root.clone(),
            path,
            action,
            loc,
        });
    }

    /// Whether a variable is declared in the code, as a variable of a loop or quantifier in it is.
    pub(super) fn declares(&self, s: &Symbol) -> bool {
        self.own.contains_key(&s.id)
    }

    /// The counters of the functions examined so far.
    pub(super) fn counters(&self) -> &Counters {
        &self.summaries.counters
    }

    /// Collects a block with its own variables.
    pub(super) fn block(&mut self, b: &Block) {
        for d in &b.decls {
            let own = Own {
                depth: self.loops.len(),
                ..Own::default()
            };
            self.own.insert(d.symbol.id, own);
            if let Some(init) = &d.init {
                self.init(init);
                match init {
                    Init::Expr(e) if e.ty.is_composite() => {
                        self.out.may_fail |= d.symbol.value_type() != Some(&e.ty);
                    }
                    Init::Expr(e) => self.stored(d.symbol.id, interval(e, self.summaries.ranges)),
                    Init::List(..) => self.out.may_fail |= !self.listed_fit(init, &d.symbol),
                }
            }
        }
        for s in &b.stmts {
            self.stmt(s);
        }
        for d in &b.decls {
            let Some(Type::Int(int)) = d.symbol.value_type() else {
                continue;
            };
            let own = self.own.get(&d.symbol.id).copied().unwrap_or_default();
            let least = own.stored.0.saturating_sub(own.counted.1);
            let most = own.stored.1.saturating_add(own.counted.0);
            let stays = match (int.lo.known(), int.hi.known()) {
                (Some(lo), Some(hi)) => i64::from(lo) <= least && most <= i64::from(hi),
                _ => false,
            };
            let touched = own.stored != (0, 0) || own.counted != (0, 0);
            self.out.may_fail |= touched && !stays;
        }
    }

    fn stored(&mut self, id: SymId, (lo, hi): (i64, i64)) {
        if let Some(own) = self.own.get_mut(&id) {
            own.stored = (own.stored.0.min(lo), own.stored.1.max(hi));
        }
    }

    /// `if (value > target) target = value;`: the same as `target = target >? value;`.
    fn assign_extreme(&mut self, op: BinaryOp, target: &Expr, value: &Expr) {
        self.value(value);
        let ranges = self.summaries.ranges;
        if let Some(how) = accumulation(op, value, &target.ty, ranges) {
            self.place(target, Action::Accumulate(how));
        }
        self.combined(op, target, value);
        if let ExprKind::Var(s) = &target.kind {
            self.stored(s.id, interval(value, self.summaries.ranges));
        }
    }

    /// Records that up to `up` is added to a variable and up to `down` subtracted, in every
    /// iteration of the loops inside its scope. Variables that are not the code's own may leave
    /// their range.
    fn counted(&mut self, target: &Expr, up: i64, down: i64) {
        let ExprKind::Var(s) = &target.kind else {
            return self.range_may_fail(target);
        };
        let Some(own) = self.own.get_mut(&s.id) else {
            return self.range_may_fail(target);
        };
        let inside = self.loops.iter().skip(own.depth);
        let times = inside.fold(1u64, |n, k| n.saturating_mul(*k));
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        own.counted.0 = own
            .counted
            .0
            .saturating_add(up.max(0).saturating_mul(times));
        own.counted.1 = own
            .counted
            .1
            .saturating_add(down.max(0).saturating_mul(times));
    }

    /// Collects a loop body that runs at most `times` times.
    fn looped(&mut self, times: u64, body: &Stmt) {
        self.loops.push(times);
        self.stmt(body);
        self.loops.pop();
    }

    /// Whether every entry of a list lies in the range of an array of integers.
    fn listed_fit(&self, init: &Init, s: &Symbol) -> bool {
        let ty = s.value_type().map_or(&Type::Error, Type::innermost);
        let mut all = !matches!(ty, Type::Struct(_));
        init.exprs(&mut |e| {
            all &= !e.ty.is_composite() && fits(e, ty, self.summaries.ranges);
        });
        all
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(e) => self.value(e),
            Init::List(items, _) => items.iter().for_each(|i| self.init(i)),
        }
    }

    /// Collects a statement.
    pub(super) fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Block(b) => self.block(b),
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::For(a, c, step, body) => {
                let known = &self.summaries.counters;
                let counter = counter_of(a).and_then(|s| known.get_key_value(&s.id));
                if let Some((&counter, &(first, last))) = counter {
                    self.own.insert(counter, Own::default());
                    let times = i64::from(last) - i64::from(first) + 1;
                    return self.looped(times.unsigned_abs(), body);
                }
                self.out.may_fail = true;
                self.effect(a);
                self.loops.push(u64::MAX);
                self.value(c);
                self.effect(step);
                self.stmt(body);
                self.loops.pop();
            }
            StmtKind::Iterate(var, body) => {
                self.own.insert(var.id, Own::default());
                self.looped(values_of(var), body);
            }
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                // It may have no end, which is an error.
                self.out.may_fail = true;
                self.value(c);
                self.looped(u64::MAX, body);
            }
            StmtKind::If(c, a, b) => {
                if let (Some((op, target, value)), None) = (extreme(c, a), b) {
                    return self.assign_extreme(op, target, value);
                }
                self.value(c);
                self.stmt(a);
                if let Some(b) = b {
                    self.stmt(b);
                }
            }
            StmtKind::Return(e) => {
                if let Some(e) = e {
                    self.value(e);
                    if let Some(result) = &self.result {
                        let result = result.clone();
                        self.out.may_fail |= !self.converts(e, &result);
                    }
                }
            }
            StmtKind::Assert(e) => {
                self.out.may_fail = true;
                self.value(e);
            }
            StmtKind::Switch(e, cases) => {
                self.value(e);
                for (_, stmts) in cases {
                    stmts.iter().for_each(|s| self.stmt(s));
                }
            }
        }
    }

    /// Collects an expression whose value is not used.
    pub(super) fn effect(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Comma(list) => list.iter().for_each(|e| self.effect(e)),
            ExprKind::IncDec {
                increment, expr, ..
            } => {
                let how = if *increment {
                    Accumulation::Grow
                } else {
                    Accumulation::Shrink
                };
                self.place(expr, Action::Accumulate(how));
                self.counted(expr, i64::from(*increment), i64::from(!*increment));
            }
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value),
            ExprKind::Cond(c, a, b) => {
                self.value(c);
                self.effect(a);
                self.effect(b);
            }
            _ => self.value(e),
        }
    }

    fn assign(&mut self, op: AssignOp, target: &Expr, value: &Expr) {
        if let Some(op) = assign_op(op) {
            self.value(value);
            match accumulation(op, value, &target.ty, self.summaries.ranges) {
                Some(how) => self.place(target, Action::Accumulate(how)),
                None => {
                    self.place(target, Action::Read);
                    self.place(target, Action::Write(None));
                }
            }
            self.combined(op, target, value);
            return;
        }
        // n = n + e and the like; for commutative operators also n = e + n
        if let ExprKind::Binary(op, a, b) = &value.kind {
            let commutes = !matches!(op, BinaryOp::Sub);
            let rest = if same_place(a, target) {
                Some(b)
            } else if commutes && same_place(b, target) {
                Some(a)
            } else {
                None
            };
            if let Some(rest) = rest
                && let Some(how) = accumulation(*op, rest, &target.ty, self.summaries.ranges)
            {
                self.value(rest);
                self.place(target, Action::Accumulate(how));
                self.combined(*op, target, rest);
                return;
            }
        }
        self.value(value);
        let known = self.invariant_value(value);
        self.place(target, Action::Write(known));
        self.out.may_fail |= target.ty.is_composite() && target.ty != value.ty;
        match &target.kind {
            ExprKind::Var(s) if self.own.contains_key(&s.id) => {
                self.stored(s.id, interval(value, self.summaries.ranges));
            }
            _ if !fits(value, &target.ty, self.summaries.ranges) => self.range_may_fail(target),
            _ => {}
        }
    }

    /// Records whether `target op= value` can leave the range of the target.
    fn combined(&mut self, op: BinaryOp, target: &Expr, value: &Expr) {
        let (lo, hi) = interval(value, self.summaries.ranges);
        match op {
            BinaryOp::Add => self.counted(target, hi, lo.saturating_neg()),
            BinaryOp::Sub => self.counted(target, lo.saturating_neg(), hi),
            BinaryOp::Min | BinaryOp::Max if fits(value, &target.ty, self.summaries.ranges) => {}
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {}
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
                if closed(value, &target.ty, self.summaries.ranges) => {}
            _ => self.range_may_fail(target),
        }
    }

    /// The value of an expression, if it does not depend on variables of the code itself.
    fn invariant_value(&self, e: &Expr) -> Option<Value> {
        known_value(e).filter(|v| !matches!(v, Value::Symbol(s) if self.own.contains_key(&s.id)))
    }

    /// Records that an assignment to an integer can be out of range, which is a run-time error.
    fn range_may_fail(&mut self, target: &Expr) {
        self.out.may_fail |= matches!(target.ty, Type::Int(_));
    }

    /// Collects an expression whose value is used.
    pub(super) fn value(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Field(..) => {
                self.place(e, Action::Read);
            }
            ExprKind::Assign(op, target, value) => {
                self.value(value);
                if *op != AssignOp::Set {
                    self.place(target, Action::Read);
                }
                self.place(target, Action::Write(None));
                self.range_may_fail(target);
            }
            ExprKind::IncDec {
                increment, expr, ..
            } => {
                self.place(expr, Action::Read);
                self.place(expr, Action::Write(None));
                self.counted(expr, i64::from(*increment), i64::from(!*increment));
            }
            ExprKind::Call(f, args) => self.call(f, args, e),
            ExprKind::Quantifier { var, body, .. } => {
                self.own.insert(var.id, Own::default());
                self.value(body);
            }
            ExprKind::Binary(op, a, b) => {
                self.value(a);
                self.value(b);
                self.out.may_fail |= match op {
                    BinaryOp::Div | BinaryOp::Mod => {
                        let (lo, hi) = interval(b, self.summaries.ranges);
                        lo <= 0 && hi >= 0
                    }
                    BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Pow => true,
                    _ => {
                        let (lo, hi) = interval(e, self.summaries.ranges);
                        lo < i64::from(i32::MIN) || hi > i64::from(i32::MAX)
                    }
                };
            }
            _ => e.children(&mut |c| self.value(c)),
        }
    }

    /// Collects an access to `a[i].f`, and the reads of its indices.
    fn place(&mut self, e: &Expr, action: Action) {
        let mut path = Vec::new();
        match self.path(e, &mut path) {
            Some(root) => self.push(&root, path, action, e),
            None => {
                if let ExprKind::Cond(c, a, b) = &e.kind {
                    self.value(c);
                    self.place(a, action.clone());
                    self.place(b, action);
                } else {
                    e.children(&mut |c| self.value(c));
                }
            }
        }
    }

    /// Whether a value can be passed or returned as this type without leaving a range.
    fn converts(&self, e: &Expr, ty: &Type) -> bool {
        match ty.is_composite() {
            true => e.ty == *ty,
            false => fits(e, ty, self.summaries.ranges),
        }
    }

    /// Whether an index lies in the range of its dimension.
    fn selects(&self, index: &Expr, dimension: &Type) -> bool {
        if let (ExprKind::Var(s), Type::Int(int)) = (&index.kind, dimension)
            && let Some((first, last)) = self.summaries.counters.get(&s.id)
        {
            let range = int.lo.known().zip(int.hi.known());
            return range.is_some_and(|(lo, hi)| lo <= *first && *last <= hi);
        }
        fits(index, dimension, self.summaries.ranges)
    }

    fn path(&mut self, e: &Expr, path: &mut Vec<Sel>) -> Option<Arc<Symbol>> {
        match &e.kind {
            ExprKind::Var(s) => Some(s.clone()),
            ExprKind::Index(base, index) => {
                let root = self.path(base, path)?;
                self.value(index);
                if let Type::Array(a) = &base.ty {
                    self.out.may_fail |= !self.selects(index, &a.index);
                }
                path.push(selector(index));
                Some(root)
            }
            ExprKind::Field(base, n) => {
                let root = self.path(base, path)?;
                path.push(Sel::Field(*n));
                Some(root)
            }
            _ => None,
        }
    }

    fn call(&mut self, f: &Arc<Symbol>, args: &[Expr], e: &Expr) {
        let SymKind::Function(sig) = &f.kind else {
            return;
        };
        let params: Vec<Arc<Symbol>> = match self.summaries.bodies.get(&sig.body) {
            Some(f) => f.params.clone(),
            None => return,
        };
        let summary = self.summaries.of(f);
        self.out.may_fail |= summary.may_fail;
        for (n, (p, a)) in sig.params.iter().zip(args).enumerate() {
            if p.reference {
                // Its indices are evaluated here.
                self.path(a, &mut Vec::new());
                continue;
            }
            self.value(a);
            let ty = params.get(n).and_then(|p| p.value_type());
            self.out.may_fail |= ty.is_none_or(|ty| !self.converts(a, ty));
        }
        let position = |id: SymId| params.iter().position(|p| p.id == id);
        for access in &summary.accesses {
            let mut path = Vec::new();
            let root = match position(access.root.id).and_then(|k| args.get(k)) {
                Some(actual) => match root_path(actual, &mut path) {
                    Some(root) => root,
                    None => continue,
                },
                None => access.root.clone(),
            };
            let actual_of = |id: &SymId| position(*id).and_then(|k| args.get(k));
            for s in &access.path {
                path.push(match s {
                    Sel::Var(id) => actual_of(id).map_or(Sel::Var(*id), selector),
                    other => other.clone(),
                });
            }
            let action = match &access.action {
                Action::Write(Some(Value::Symbol(s))) => match actual_of(&s.id) {
                    Some(actual) => Action::Write(self.invariant_value(actual)),
                    None => access.action.clone(),
                },
                other => other.clone(),
            };
            self.push(&root, path, action, e);
        }
    }
}
