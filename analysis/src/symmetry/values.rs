//! Static facts about places and values: which entry an index selects, whether updates commute,
//! whether a value fits a type.

use super::effects::{Accumulation, Sel, Value};
use super::interval::{Ranges, interval};
use crate::check::has_side_effect;
use crate::hir::{Expr, ExprKind, Stmt, StmtKind};
use crate::symbol::Symbol;
use crate::types::Type;
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, BinaryOp};

pub(super) fn root_path(e: &Expr, path: &mut Vec<Sel>) -> Option<Arc<Symbol>> {
    match &e.kind {
        ExprKind::Var(s) => Some(s.clone()),
        ExprKind::Index(base, index) => {
            let root = root_path(base, path)?;
            path.push(selector(index));
            Some(root)
        }
        ExprKind::Field(base, n) => {
            let root = root_path(base, path)?;
            path.push(Sel::Field(*n));
            Some(root)
        }
        _ => None,
    }
}

pub(super) fn selector(index: &Expr) -> Sel {
    match &index.kind {
        ExprKind::Var(s) => Sel::Var(s.id),
        _ => Sel::Any,
    }
}

pub(super) fn known_value(e: &Expr) -> Option<Value> {
    match &e.kind {
        ExprKind::Int(v) => Some(Value::Literal(*v)),
        ExprKind::Bool(b) => Some(Value::Literal(i32::from(*b))),
        ExprKind::Var(s) => Some(Value::Symbol(s.clone())),
        _ => None,
    }
}

pub(super) fn same_place(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Var(x), ExprKind::Var(y)) => x.id == y.id,
        (ExprKind::Index(x, i), ExprKind::Index(y, j)) => same_place(x, y) && same_place(i, j),
        (ExprKind::Field(x, n), ExprKind::Field(y, m)) => n == m && same_place(x, y),
        (ExprKind::Int(x), ExprKind::Int(y)) => x == y,
        _ => false,
    }
}

/// The kind of accumulation of `target op= value`, if such updates commute.
pub(super) fn accumulation(
    op: BinaryOp,
    value: &Expr,
    target: &Type,
    ranges: &Ranges,
) -> Option<Accumulation> {
    let (lo, hi) = interval(value, ranges);
    // Bit operations commute, but an intermediate value may leave the range.
    let bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
    if bits && !closed(value, target, ranges) {
        return None;
    }
    Some(match op {
        BinaryOp::Add if lo >= 0 => Accumulation::Grow,
        BinaryOp::Add if hi <= 0 => Accumulation::Shrink,
        BinaryOp::Sub if lo >= 0 => Accumulation::Shrink,
        BinaryOp::Sub if hi <= 0 => Accumulation::Grow,
        BinaryOp::And | BinaryOp::BitAnd => Accumulation::And,
        BinaryOp::Or | BinaryOp::BitOr => Accumulation::Or,
        BinaryOp::BitXor | BinaryOp::Xor => Accumulation::Xor,
        BinaryOp::Min => Accumulation::Min,
        BinaryOp::Max => Accumulation::Max,
        _ => return None,
    })
}

/// The operator, target and value of `if (value > target) target = value;`, written in any of its
/// forms. The value is evaluated once or twice, so it must not change anything, and it must not
/// contain the target.
pub(super) fn extreme<'a>(
    condition: &'a Expr,
    then: &'a Stmt,
) -> Option<(BinaryOp, &'a Expr, &'a Expr)> {
    let statement = match &then.kind {
        StmtKind::Block(b) if b.decls.is_empty() => match b.stmts.as_slice() {
            [one] => one,
            _ => return None,
        },
        _ => then,
    };
    let StmtKind::Expr(Expr {
        kind: ExprKind::Assign(AssignOp::Set, target, value),
        ..
    }) = &statement.kind
    else {
        return None;
    };
    let ExprKind::Binary(op, a, b) = &condition.kind else {
        return None;
    };
    let greater = match op {
        BinaryOp::Gt | BinaryOp::Ge => true,
        BinaryOp::Lt | BinaryOp::Le => false,
        _ => return None,
    };
    let value_first = same_place(a, value) && same_place(b, target);
    let target_first = same_place(a, target) && same_place(b, value);
    if !matches!((&target.ty, &value.ty), (Type::Int(_), Type::Int(_)))
        || !(value_first || target_first)
        || target.root().map(|s| s.id) == value.root().map(|s| s.id)
        || has_side_effect(condition)
    {
        return None;
    }
    let op = match greater == value_first {
        true => BinaryOp::Max,
        false => BinaryOp::Min,
    };
    Some((op, target, value))
}

/// Whether `ty` contains all numbers of some bit width, and `e` is one of them: bit operations then
/// stay in the range.
pub(super) fn closed(e: &Expr, ty: &Type, ranges: &Ranges) -> bool {
    match ty {
        Type::Bool => true,
        Type::Int(int) => match (int.lo.known(), int.hi.known()) {
            (Some(lo), Some(hi)) => {
                let top = i64::from(hi) + 1;
                let whole = top > 0 && top & (top - 1) == 0 && (lo == 0 || i64::from(lo) == -top);
                whole && fits(e, ty, ranges)
            }
            _ => false,
        },
        _ => false,
    }
}

/// The number of values of a loop variable.
pub(super) fn values_of(var: &Symbol) -> u64 {
    let count = match var.value_type() {
        Some(Type::Scalar(set)) => set.size.known().map(i64::from),
        Some(Type::Int(int)) => int
            .lo
            .known()
            .zip(int.hi.known())
            .map(|(lo, hi)| i64::from(hi) - i64::from(lo) + 1),
        _ => None,
    };
    count.map_or(u64::MAX, |n| u64::try_from(n).unwrap_or(0))
}

/// Whether every value of `e` lies in the integer type `ty`.
pub(super) fn fits(e: &Expr, ty: &Type, ranges: &Ranges) -> bool {
    match (ty, &e.ty) {
        (Type::Int(int), _) => match (int.lo.known(), int.hi.known()) {
            (Some(lo), Some(hi)) => {
                let (a, b) = interval(e, ranges);
                i64::from(lo) <= a && b <= i64::from(hi)
            }
            _ => false,
        },
        _ => true,
    }
}
