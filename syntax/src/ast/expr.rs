//! Expressions.

// The names of the variants explain their fields.
#![allow(missing_docs)]

use super::{Ident, TypeExpr};
use crate::span::Span;
use smol_str::SmolStr;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The form of the expression and its parts.
    pub kind: ExprKind,
    /// The range, including the expression's own parentheses.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Text that could not be parsed; an error was reported.
    Error,
    /// A natural number. Literals above `i32::MAX` keep their value (saturated at `i64::MAX`);
    /// analysis rejects them.
    Int(i64),
    /// A floating-point literal, as written.
    Float(SmolStr),
    /// A string literal without its quotes.
    Str(SmolStr),
    /// `true` or `false`.
    Bool(bool),
    /// A plain name.
    Name(Ident),
    /// `( e )`
    Paren(Box<Expr>),
    /// `!e`, `not e`, `-e`, `+e`
    Unary {
        op: UnaryOp,
        op_span: Span,
        expr: Box<Expr>,
    },
    /// `a op b`
    Binary {
        op: BinaryOp,
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `a = b`, `a := b`, `a += b` …
    Assign {
        op: AssignOp,
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `++e`, `e++`, `--e`, `e--`
    IncDec {
        increment: bool,
        prefix: bool,
        op_span: Span,
        expr: Box<Expr>,
    },
    /// `c ? a : b`
    Cond {
        cond: Box<Expr>,
        then: Box<Expr>,
        other: Box<Expr>,
    },
    /// `a[i]`
    Index { base: Box<Expr>, index: Box<Expr> },
    /// `a.f`; also `P.l` and `P(i).l` in queries, and `P.location`
    Field { base: Box<Expr>, name: Ident },
    /// `f(args)`; also `P(args)` in queries
    Call { callee: Box<Expr>, args: Vec<Expr> },
    /// `x'`: the rate of a clock.
    Rate(Box<Expr>),
    /// `forall (i : T) e`, `exists …`, `sum …`
    Quantifier {
        kind: QuantifierKind,
        kind_span: Span,
        var: Ident,
        ty: Box<TypeExpr>,
        body: Box<Expr>,
    },
    /// `deadlock` (queries only).
    Deadlock,
    /// `a, b`: a conjunction in guards and invariants of the 3.x syntax, a sequence in the
    /// condition of a statement.
    Comma(Vec<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Not,
    Minus,
    Plus,
}

/// Infix operators. `imply` has its own variant; its meaning is `not a or b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Pow,
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    Shl,
    Shr,
    Min,
    Max,
    Lt,
    Le,
    Ge,
    Gt,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
    Xor,
    Imply,
}

/// Assignment operators; `=` and `:=` are both `Set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    Set,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// Quantifiers over a range or a scalarset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantifierKind {
    Forall,
    Exists,
    Sum,
}
