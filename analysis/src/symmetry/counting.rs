//! C loops that only count through a range: `for (i = 0; i < N; i++)`.
//!
//! Such a loop is an iteration like `for (i : int[0, N - 1])` if nothing else depends on the
//! counter. Then it may range over a set, and the order of its rounds is judged like that of any
//! other iteration ([`super::loop_order`]).
//!
//! **Conditions.** The counter is a local integer of the function. The loop sets it to a constant,
//! compares it with a constant and adds one; the body does not change it, and nothing outside such
//! loops uses it. So the rounds see exactly the values of the range in ascending order, as the
//! iteration does, a `break`, `continue` or `return` has the same effect in both, and the value
//! that is left in the counter is never read. The counter's type contains the value after the last
//! round, because otherwise every complete loop would fail. If the loops of one counter have
//! different ranges, none of them is an iteration.

use crate::consteval::apply;
use crate::hir::{Block, Expr, ExprKind, Function, Init, Part, Stmt, StmtKind};
use crate::symbol::{Home, SymId, SymKind, Symbol};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, BinaryOp, UnaryOp};

/// The counters of a function, each with the first and last value that its loops count through.
pub(super) type Counters = FxHashMap<SymId, (i32, i32)>;

/// The variable that the header of a C loop counts with, if it has this form. Only the variables in
/// [`counters`] are used for nothing else.
pub(super) fn counter_of(init: &Expr) -> Option<&Arc<Symbol>> {
    match &init.kind {
        ExprKind::Assign(AssignOp::Set, target, _) => variable(target),
        _ => None,
    }
}

/// The counters of a function.
pub(super) fn counters(f: &Function) -> Counters {
    let mut found = Search::default();
    found.block(&f.body, &[]);
    let Search { ranges, excluded } = found;
    ranges
        .into_iter()
        .filter(|(id, _)| !excluded.contains(id))
        .collect()
}

#[derive(Default)]
struct Search {
    ranges: Counters,
    /// Variables that are used outside their loops, are changed in them, or have two ranges.
    excluded: FxHashSet<SymId>,
}

impl Search {
    fn exclude(&mut self, id: SymId) {
        self.excluded.insert(id);
    }

    fn block(&mut self, b: &Block, inside: &[SymId]) {
        for d in &b.decls {
            match &d.init {
                // The first loop overwrites a constant.
                Some(Init::Expr(e)) if constant(e).is_some() => {}
                Some(init) => {
                    self.exclude(d.symbol.id);
                    init.exprs(&mut |e| self.expr(e, inside));
                }
                None => {}
            }
        }
        b.stmts.iter().for_each(|s| self.stmt(s, inside));
    }

    fn stmt(&mut self, s: &Stmt, inside: &[SymId]) {
        if let StmtKind::For(init, condition, step, body) = &s.kind
            && let Some((counter, range)) = header(init, condition, step)
        {
            let before = *self.ranges.entry(counter.id).or_insert(range);
            if before != range || inside.contains(&counter.id) {
                self.exclude(counter.id);
            }
            let mut inside = inside.to_vec();
            inside.push(counter.id);
            return self.stmt(body, &inside);
        }
        if let StmtKind::Block(b) = &s.kind {
            return self.block(b, inside);
        }
        s.parts(&mut |p| match p {
            Part::Expr(e) => self.expr(e, inside),
            Part::Stmt(s) => self.stmt(s, inside),
            Part::Decl(d) => d
                .init
                .iter()
                .for_each(|i| i.exprs(&mut |e| self.expr(e, inside))),
        });
    }

    /// Excludes what an expression changes, and the counters that it uses outside their loops.
    fn expr(&mut self, e: &Expr, inside: &[SymId]) {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Var(s) if !inside.contains(&s.id) => self.exclude(s.id),
            ExprKind::Assign(_, target, _) | ExprKind::IncDec { expr: target, .. } => {
                self.written(target);
            }
            ExprKind::Call(f, args)
            | ExprKind::MemberCall {
                function: f,
                call: args,
                ..
            } => {
                if let SymKind::Function(sig) = &f.kind {
                    let references = sig.params.iter().zip(args).filter(|(p, _)| p.reference);
                    references.for_each(|(_, a)| self.written(a));
                }
            }
            _ => {}
        });
    }

    /// Excludes every variable that a place may denote.
    fn written(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Cond(_, a, b) => {
                self.written(a);
                self.written(b);
            }
            _ => {
                if let Some(root) = target.root() {
                    self.exclude(root.id);
                }
            }
        }
    }
}

/// The counter of `for (i = first; i < last + 1; i++)`, with its first and last value.
fn header<'a>(
    init: &'a Expr,
    condition: &Expr,
    step: &Expr,
) -> Option<(&'a Arc<Symbol>, (i32, i32))> {
    let ExprKind::Assign(AssignOp::Set, target, value) = &init.kind else {
        return None;
    };
    let counter = variable(target)?;
    let is_counter = |e: &Expr| variable(e).is_some_and(|s| s.id == counter.id);
    let SymKind::Var(var) = &counter.kind else {
        return None;
    };
    let Type::Int(int) = &var.ty else {
        return None;
    };
    if var.home != Home::Function || var.constant || !adds_one(step, &is_counter) {
        return None;
    }
    let ExprKind::Binary(op, a, b) = &condition.kind else {
        return None;
    };
    let (op, bound) = match (is_counter(a), is_counter(b)) {
        (true, false) => (*op, constant(b)?),
        (false, true) => (mirrored(*op)?, constant(a)?),
        _ => return None,
    };
    let first = constant(value)?;
    // The first value that ends the loop.
    let end = match op {
        BinaryOp::Le => bound.checked_add(1)?,
        BinaryOp::Lt => bound,
        BinaryOp::Ne if first < bound => bound,
        _ => return None,
    };
    let (lo, hi) = int.lo.known().zip(int.hi.known())?;
    (first < end && lo <= first && end <= hi).then_some((counter, (first, end - 1)))
}

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Gt => Some(BinaryOp::Lt),
        BinaryOp::Ge => Some(BinaryOp::Le),
        BinaryOp::Ne => Some(BinaryOp::Ne),
        _ => None,
    }
}

fn adds_one(step: &Expr, is_counter: &dyn Fn(&Expr) -> bool) -> bool {
    let one = |e: &Expr| constant(e) == Some(1);
    match &step.kind {
        ExprKind::IncDec {
            increment, expr, ..
        } => *increment && is_counter(expr),
        ExprKind::Assign(AssignOp::Add, target, value) => is_counter(target) && one(value),
        ExprKind::Assign(AssignOp::Set, target, value) => match &value.kind {
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                is_counter(target) && (is_counter(a) && one(b) || one(a) && is_counter(b))
            }
            _ => false,
        },
        _ => false,
    }
}

fn variable(e: &Expr) -> Option<&Arc<Symbol>> {
    match &e.kind {
        ExprKind::Var(s) => Some(s),
        _ => None,
    }
}

/// The value of an expression over constants of the model.
fn constant(e: &Expr) -> Option<i32> {
    match &e.kind {
        ExprKind::Int(v) => Some(*v),
        ExprKind::Var(s) => match &s.kind {
            SymKind::Var(v) if v.constant && matches!(v.ty, Type::Int(_)) => {
                match v.value.as_deref() {
                    Some([one]) => Some(*one),
                    _ => None,
                }
            }
            _ => None,
        },
        ExprKind::Unary(UnaryOp::Minus, a) => constant(a)?.checked_neg(),
        ExprKind::Binary(op, a, b) => apply(*op, constant(a)?, constant(b)?, e.span).ok(),
        _ => None,
    }
}
