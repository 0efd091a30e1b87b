//! Bounds of integer expressions, from declared ranges and from the values that are stored.

use crate::check::{Body, Checked};
use crate::hir::{Decl, Expr, ExprKind, Init, Part};
use crate::symbol::{Home, SymId, SymKind};
use crate::types::Type;
use rustc_hash::FxHashMap;
use zonelens_syntax::ast::{AssignOp, BinaryOp};

/// Ranges of the values stored in variables, for those variables that only simple assignments
/// change: locals of templates, then globals.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(FxHashMap<SymId, (i64, i64)>, FxHashMap<SymId, (i64, i64)>);

/// How an item changes the values of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// Declares it with initial value 0; true for globals.
    Start(bool),
    /// Stores values within these bounds.
    Store(i64, i64),
    /// Changes it in a way that is not analysed.
    Anything,
}

impl Ranges {
    /// Merges the changes of all items.
    pub(super) fn merge<'a>(all: impl Iterator<Item = &'a [(SymId, Change)]> + Clone) -> Ranges {
        let (mut out, mut globals) = (FxHashMap::default(), FxHashMap::default());
        for (id, change) in all.clone().flatten() {
            match change {
                Change::Start(true) => globals.insert(*id, (0, 0)),
                Change::Start(false) => out.insert(*id, (0, 0)),
                _ => None,
            };
        }
        for (id, change) in all.flatten() {
            match change {
                Change::Start(_) => {}
                Change::Anything => {
                    out.remove(id);
                    globals.remove(id);
                }
                Change::Store(lo, hi) => {
                    if let Some(range) = out.get_mut(id).or_else(|| globals.get_mut(id)) {
                        *range = (range.0.min(*lo), range.1.max(*hi));
                    }
                }
            }
        }
        Ranges(out, globals)
    }

    /// Whether the ranges of globals are equal; locals matter only to their own template.
    pub(super) fn same_globals(&self, other: &Ranges) -> bool {
        self.1 == other.1
    }

    fn get(&self, id: SymId) -> Option<&(i64, i64)> {
        self.0.get(&id).or_else(|| self.1.get(&id))
    }
}

/// Records the values that an item stores in variables.
#[derive(Default)]
pub(super) struct Recorder(pub Vec<(SymId, Change)>);

impl Recorder {
    /// Records every assignment of an item.
    pub(super) fn item(&mut self, c: &Checked) {
        c.decls.iter().for_each(|d| self.start(d));
        for f in &c.functions {
            f.body.parts(&mut |p| self.part(p));
        }
        match &c.body {
            Body::Template(t) => {
                t.decls.iter().for_each(|d| self.start(d));
                t.edges
                    .iter()
                    .flat_map(|e| e.updates.iter().chain(&e.guard))
                    .for_each(|e| self.expr(e));
            }
            Body::BeforeUpdate(list) | Body::AfterUpdate(list) => {
                list.iter().for_each(|e| self.expr(e));
            }
            Body::Instance(i) => i.args.iter().for_each(|e| self.give_up(e)),
            _ => {}
        }
    }

    fn start(&mut self, d: &Decl) {
        if let SymKind::Var(v) = &d.symbol.kind
            && !v.constant
            && v.home != Home::Function
            && matches!(v.ty.innermost(), Type::Int(_))
        {
            self.0
                .push((d.symbol.id, Change::Start(v.home == Home::Global)));
            if let Some(init) = &d.init {
                self.init(d.symbol.id, init);
            }
        }
    }

    fn init(&mut self, id: SymId, init: &Init) {
        match init {
            Init::Expr(e) => self.store(id, declared(e)),
            Init::List(items, _) => items.iter().for_each(|i| self.init(id, i)),
        }
    }

    fn store(&mut self, id: SymId, (lo, hi): (i64, i64)) {
        self.0.push((id, Change::Store(lo, hi)));
    }

    fn give_up(&mut self, e: &Expr) {
        if let Some(root) = e.root() {
            self.0.push((root.id, Change::Anything));
        }
    }

    fn expr(&mut self, e: &Expr) {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Assign(AssignOp::Set, target, value) if matches!(target.ty, Type::Int(_)) => {
                if let Some(root) = target.root() {
                    self.store(root.id, declared(value));
                }
            }
            ExprKind::Assign(_, target, _) => self.give_up(target),
            ExprKind::IncDec { expr, .. } => self.give_up(expr),
            ExprKind::Call(f, args) => {
                if let SymKind::Function(sig) = &f.kind {
                    for (_, a) in sig.params.iter().zip(args).filter(|(p, _)| p.reference) {
                        self.give_up(a);
                    }
                }
            }
            _ => {}
        });
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(e) => self.expr(e),
            Part::Decl(d) => d.init.iter().for_each(|i| i.exprs(&mut |e| self.expr(e))),
            Part::Stmt(s) => s.parts(&mut |p| self.part(p)),
        }
    }
}

/// Bounds from declarations only.
fn declared(e: &Expr) -> (i64, i64) {
    interval(e, &Ranges::default())
}

/// Bounds of an integer expression, from declared ranges and `ranges`.
pub(super) fn interval(e: &Expr, ranges: &Ranges) -> (i64, i64) {
    let full = (i64::from(i32::MIN), i64::from(i32::MAX));
    match &e.kind {
        ExprKind::Int(v) => (i64::from(*v), i64::from(*v)),
        ExprKind::Bool(b) => (i64::from(*b), i64::from(*b)),
        ExprKind::Var(s) => {
            if let SymKind::Var(v) = &s.kind
                && let Some(values) = &v.value
                && let [one] = values[..]
            {
                return (i64::from(one), i64::from(one));
            }
            stored_interval(e, ranges, full)
        }
        ExprKind::Index(..) | ExprKind::Field(..) => stored_interval(e, ranges, full),
        ExprKind::Binary(op, a, b) => {
            let ((a, b), (c, d)) = (interval(a, ranges), interval(b, ranges));
            match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul
                    if [a, b, c, d].iter().any(|v| is_beyond(*v)) =>
                {
                    BEYOND
                }
                BinaryOp::Add => hull([a.checked_add(c), b.checked_add(d)]),
                BinaryOp::Sub => hull([a.checked_sub(d), b.checked_sub(c)]),
                BinaryOp::Mul => hull([
                    a.checked_mul(c),
                    a.checked_mul(d),
                    b.checked_mul(c),
                    b.checked_mul(d),
                ]),
                BinaryOp::Min => (a.min(c), b.min(d)),
                BinaryOp::Max => (a.max(c), b.max(d)),
                BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Ge
                | BinaryOp::Gt
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Imply => (0, 1),
                BinaryOp::Mod if c == d && c > 0 => (if a < 0 { 1 - c } else { 0 }, c - 1),
                _ => full,
            }
        }
        ExprKind::Cond(_, x, y) => {
            let ((a, b), (c, d)) = (interval(x, ranges), interval(y, ranges));
            (a.min(c), b.max(d))
        }
        ExprKind::Unary(zonelens_syntax::ast::UnaryOp::Not, _) => (0, 1),
        ExprKind::Unary(zonelens_syntax::ast::UnaryOp::Minus, a) => {
            let (a, b) = interval(a, ranges);
            hull([b.checked_neg(), a.checked_neg()])
        }
        _ => type_interval(&e.ty, full),
    }
}

/// The bounds of an expression whose value may exceed 64 bits, for instance a chain of products.
/// Computing with them yields no bounds either; otherwise a subtraction could bring back a bound
/// that does not hold.
const BEYOND: (i64, i64) = (i64::MIN, i64::MAX);

fn is_beyond(bound: i64) -> bool {
    bound == BEYOND.0 || bound == BEYOND.1
}

/// The least and greatest corner, or `BEYOND` if one of them overflowed.
fn hull<const N: usize>(corners: [Option<i64>; N]) -> (i64, i64) {
    corners
        .into_iter()
        .try_fold((i64::MAX, i64::MIN), |(lo, hi), corner| {
            corner.map(|v| (lo.min(v), hi.max(v)))
        })
        .unwrap_or(BEYOND)
}

/// The values a variable can hold: its declared range, narrowed to the values stored in it.
fn stored_interval(e: &Expr, ranges: &Ranges, full: (i64, i64)) -> (i64, i64) {
    let declared = type_interval(&e.ty, full);
    match e.root().and_then(|r| ranges.get(r.id)) {
        Some(&(lo, hi)) => (declared.0.max(lo), declared.1.min(hi)),
        None => declared,
    }
}

fn type_interval(ty: &Type, full: (i64, i64)) -> (i64, i64) {
    match ty {
        Type::Bool => (0, 1),
        Type::Int(int) => (
            int.lo.known().map_or(full.0, i64::from),
            int.hi.known().map_or(full.1, i64::from),
        ),
        _ => full,
    }
}
