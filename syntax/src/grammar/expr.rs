//! Expressions: operators are read as a flat list and arranged by precedence afterwards.

use super::{Label, P, Tok, ident, to_span, tok, tok_span};
use crate::ast::{AssignOp, BinaryOp, Expr, ExprKind, Ident, QuantifierKind, TypeExpr, UnaryOp};
use crate::span::Span;
use crate::token::TokenKind as K;
use chumsky::prelude::*;

/// An infix operator of the flat list.
enum Infix {
    Binary(BinaryOp),
    Assign(AssignOp),
    /// `? e :`
    Cond(Box<Expr>),
}

/// How tightly an infix operator binds; larger is tighter.
fn level(op: &Infix) -> u8 {
    use BinaryOp::*;
    match op {
        Infix::Assign(_) => 1,
        Infix::Cond(_) => 2,
        Infix::Binary(b) => match b {
            Or | Xor | Imply => 3,
            And => 4,
            BitOr => 5,
            BitXor => 6,
            BitAnd => 7,
            Eq | Ne => 8,
            Lt | Le | Ge | Gt => 9,
            Min | Max => 10,
            Shl | Shr => 11,
            Add | Sub => 12,
            Mul | Div | Mod => 13,
            Pow => 14,
        },
    }
}

enum Postfix {
    Index(Expr),
    Call(Vec<Expr>),
    Field(Ident),
    Prime,
    IncDec(bool, Span),
}

enum Prefix {
    Unary(UnaryOp, Span),
    IncDec(bool, Span),
}

pub(super) fn expr<'s>(expr: P<'s, Expr>, ty: P<'s, TypeExpr>) -> P<'s, Expr> {
    let operand = operand(expr.clone(), ty);
    let binary = chumsky::primitive::select(|t: Tok<'s>, _| {
        binary_op(t.kind)
            .map(Infix::Binary)
            .or_else(|| assign_op(t.kind).map(Infix::Assign))
    })
    .labelled(Label::Operator);
    let cond = tok(K::Question)
        .ignore_then(expr)
        .then_ignore(tok(K::Colon))
        .map(|e| Infix::Cond(Box::new(e)));
    // A name is never valid after an operand, so this one must be an operator.
    let spelled = any::<super::In<'s>, super::Ex>()
        .filter(|t: &Tok<'s>| t.kind == K::Ident && capital_operator(t.text).is_some())
        .validate(|t, e, emitter| {
            let (op, text, message) =
                capital_operator(t.text).unwrap_or((BinaryOp::And, "and", AND));
            let meant = super::Meant::Text(text);
            emitter.emit(super::ParseError::meant(e.span(), meant, message));
            Infix::Binary(op)
        });
    let infix = choice((binary, cond, spelled)).map_with(|op, e| (op, to_span(e.span())));
    let tail = infix.then(operand.clone()).repeated().collect::<Vec<_>>();
    operand
        .then(tail)
        .map(|(first, tail)| arrange(first, tail))
        .boxed()
}

/// `NOT x`. A name before a parenthesis may be a function.
fn capital_not<'s>() -> P<'s, Prefix> {
    let begins = any::<super::In<'s>, super::Ex>()
        .filter(|t: &Tok<'s>| matches!(t.kind, K::Ident | K::True | K::False | K::Nat))
        .rewind();
    any::<super::In<'s>, super::Ex>()
        .filter(|t: &Tok<'s>| t.kind == K::Ident && super::operator_word(t.text) == Some(K::Not))
        .map_with(|_, e| e.span())
        .then_ignore(begins)
        .validate(|span, _, emitter| {
            let meant = super::Meant::Text("not");
            let message = "operators are written in lower case: write `not` or `!`";
            emitter.emit(super::ParseError::meant(span, meant, message));
            Prefix::Unary(UnaryOp::Not, to_span(span))
        })
        .boxed()
}

fn operand<'s>(expr: P<'s, Expr>, ty: P<'s, TypeExpr>) -> P<'s, Expr> {
    let atom = atom(expr.clone(), ty);
    let args = expr.clone().separated_by(tok(K::Comma)).collect::<Vec<_>>();
    let postfix = choice((
        expr.clone()
            .delimited_by(tok(K::LBracket), tok(K::RBracket))
            .map(Postfix::Index),
        args.delimited_by(tok(K::LParen), tok(K::RParen))
            .map(Postfix::Call),
        tok(K::Dot).ignore_then(ident()).map(Postfix::Field),
        tok(K::Prime).map(|_| Postfix::Prime),
        tok_span(K::PlusPlus).map(|s| Postfix::IncDec(true, s)),
        tok_span(K::MinusMinus).map(|s| Postfix::IncDec(false, s)),
    ))
    .labelled(Label::Operator);
    let postfixed = atom.foldl_with(postfix.repeated(), |base, post, e| {
        postfixed(base, post, e.span().end)
    });
    // A single primitive, because it is tried before every operand.
    let sign = chumsky::primitive::select(|t: Tok<'s>, _| {
        let sign: fn(Span) -> Prefix = match t.kind {
            K::Bang | K::Not => |s| Prefix::Unary(UnaryOp::Not, s),
            K::Minus => |s| Prefix::Unary(UnaryOp::Minus, s),
            K::Plus => |s| Prefix::Unary(UnaryOp::Plus, s),
            K::PlusPlus => |s| Prefix::IncDec(true, s),
            K::MinusMinus => |s| Prefix::IncDec(false, s),
            _ => return None,
        };
        Some(sign)
    })
    .map_with(|sign, e| sign(to_span(e.span())));
    let prefix = sign.or(capital_not()).labelled(Label::Expression);
    prefix
        .repeated()
        .collect::<Vec<_>>()
        .then(postfixed)
        .map(|(prefixes, expr)| {
            prefixes.into_iter().rev().fold(expr, |expr, prefix| {
                let end = expr.span.end;
                let expr = Box::new(expr);
                let (kind, start) = match prefix {
                    Prefix::Unary(op, s) => (
                        ExprKind::Unary {
                            op,
                            op_span: s,
                            expr,
                        },
                        s.start,
                    ),
                    Prefix::IncDec(increment, s) => (
                        ExprKind::IncDec {
                            increment,
                            prefix: true,
                            op_span: s,
                            expr,
                        },
                        s.start,
                    ),
                };
                Expr {
                    kind,
                    span: Span::new(start, end),
                }
            })
        })
        .boxed()
}

fn atom<'s>(expr: P<'s, Expr>, ty: P<'s, TypeExpr>) -> P<'s, Expr> {
    let literal = select! {
        Tok { kind: K::Nat, text, .. } => ExprKind::Int(text.parse().unwrap_or(i64::MAX)),
        Tok { kind: K::Float, text, .. } => ExprKind::Float(text.into()),
        Tok { kind: K::Str, text, .. } => ExprKind::Str(text.trim_matches('"').into()),
        Tok { kind: K::True, .. } => ExprKind::Bool(true),
        Tok { kind: K::False, .. } => ExprKind::Bool(false),
        Tok { kind: K::Deadlock, .. } => ExprKind::Deadlock,
    };
    let name = ident().map(ExprKind::Name);
    let paren = expr
        .clone()
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .map(|e| ExprKind::Paren(Box::new(e)));
    let spawn_args = expr.clone().separated_by(tok(K::Comma)).collect::<Vec<_>>();
    let quantifier_kind = select! {
        Tok { kind: K::Forall, .. } => QuantifierKind::Forall,
        Tok { kind: K::Exists, .. } => QuantifierKind::Exists,
        Tok { kind: K::Sum, .. } => QuantifierKind::Sum,
    }
    .map_with(|k, e| (k, to_span(e.span())));
    let binder = ident()
        .then_ignore(tok(K::Colon))
        .then(ty)
        .delimited_by(tok(K::LParen), tok(K::RParen));
    let quantifier =
        quantifier_kind
            .then(binder)
            .then(expr)
            .map(
                |(((kind, kind_span), (var, ty)), body)| ExprKind::Quantifier {
                    kind,
                    kind_span,
                    var,
                    ty: Box::new(ty),
                    body: Box::new(body),
                },
            );
    // `spawn T(args)` of dynamic templates: parsed as `spawn(T(args))`; analysis reports it as
    // unsupported.
    let args = spawn_args.delimited_by(tok(K::LParen), tok(K::RParen));
    let spawned = ident().then(args).map_with(|(name, args), e| {
        let callee = Box::new(Expr {
            span: name.span,
            kind: ExprKind::Name(name),
        });
        Expr {
            kind: ExprKind::Call { callee, args },
            span: to_span(e.span()),
        }
    });
    let spawn = super::word("spawn")
        .then(spawned)
        .map(|(span, call)| ExprKind::Call {
            callee: Box::new(Expr {
                kind: ExprKind::Name(Ident {
                    name: "spawn".into(),
                    span,
                }),
                span,
            }),
            args: vec![call],
        });
    choice((spawn, name, literal, paren, quantifier))
        .map_with(|kind, e| Expr {
            kind,
            span: to_span(e.span()),
        })
        .labelled(Label::Expression)
        .boxed()
}

/// Applies a postfix that ends at `end` to `base`.
fn postfixed(base: Expr, post: Postfix, end: u32) -> Expr {
    let span = Span::new(base.span.start, end);
    let base = Box::new(base);
    let kind = match post {
        Postfix::Index(index) => ExprKind::Index {
            base,
            index: Box::new(index),
        },
        Postfix::Call(args) => ExprKind::Call { callee: base, args },
        Postfix::Field(name) => ExprKind::Field { base, name },
        Postfix::Prime => ExprKind::Rate(base),
        Postfix::IncDec(increment, op_span) => ExprKind::IncDec {
            increment,
            prefix: false,
            op_span,
            expr: base,
        },
    };
    Expr { kind, span }
}

/// A channel: only names, indices and fields, so that the `?` after it is not parsed as a
/// conditional operator.
pub(super) fn channel<'s>(expr: P<'s, Expr>) -> P<'s, Expr> {
    let name = ident()
        .map(ExprKind::Name)
        .or(expr
            .clone()
            .delimited_by(tok(K::LParen), tok(K::RParen))
            .map(|e| ExprKind::Paren(Box::new(e))))
        .map_with(|kind, e| Expr {
            kind,
            span: to_span(e.span()),
        });
    let args = expr.clone().separated_by(tok(K::Comma)).collect::<Vec<_>>();
    let postfix = choice((
        expr.delimited_by(tok(K::LBracket), tok(K::RBracket))
            .map(Postfix::Index),
        args.delimited_by(tok(K::LParen), tok(K::RParen))
            .map(Postfix::Call),
        tok(K::Dot).ignore_then(ident()).map(Postfix::Field),
    ));
    name.foldl_with(postfix.repeated(), |base, post, e| {
        postfixed(base, post, e.span().end)
    })
    .boxed()
}

/// One expression, or several separated by commas: [`ExprKind::Comma`].
pub(super) fn comma_expr<'s>(expr: P<'s, Expr>) -> P<'s, Expr> {
    expr.separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>()
        .map_with(|mut list, e| match list.pop() {
            Some(only) if list.is_empty() => only,
            last => {
                list.extend(last);
                Expr {
                    kind: ExprKind::Comma(list),
                    span: to_span(e.span()),
                }
            }
        })
        .boxed()
}

const AND: &str = "operators are written in lower case: write `and` or `&&`";

/// The operator that a word stands for, how it is written, and the message to report.
fn capital_operator(text: &str) -> Option<(BinaryOp, &'static str, &'static str)> {
    Some(match super::operator_word(text)? {
        K::And => (BinaryOp::And, "and", AND),
        K::Or => (
            BinaryOp::Or,
            "or",
            "operators are written in lower case: write `or` or `||`",
        ),
        K::Xor => (
            BinaryOp::Xor,
            "xor",
            "operators are written in lower case: write `xor`",
        ),
        K::Imply => (
            BinaryOp::Imply,
            "imply",
            "the operator of implication is `imply`",
        ),
        _ => return None,
    })
}

fn binary_op(kind: K) -> Option<BinaryOp> {
    Some(match kind {
        K::StarStar => BinaryOp::Pow,
        K::Star => BinaryOp::Mul,
        K::Slash => BinaryOp::Div,
        K::Percent => BinaryOp::Mod,
        K::Plus => BinaryOp::Add,
        K::Minus => BinaryOp::Sub,
        K::Shl => BinaryOp::Shl,
        K::Shr => BinaryOp::Shr,
        K::MinOp => BinaryOp::Min,
        K::MaxOp => BinaryOp::Max,
        K::Lt => BinaryOp::Lt,
        K::Le | K::LegacyLe => BinaryOp::Le,
        K::Ge | K::LegacyGe => BinaryOp::Ge,
        K::Gt => BinaryOp::Gt,
        K::EqEq => BinaryOp::Eq,
        K::NotEq => BinaryOp::Ne,
        K::Amp => BinaryOp::BitAnd,
        K::Caret => BinaryOp::BitXor,
        K::Pipe => BinaryOp::BitOr,
        K::AndAnd | K::And => BinaryOp::And,
        K::OrOr | K::Or => BinaryOp::Or,
        K::Xor => BinaryOp::Xor,
        K::Imply => BinaryOp::Imply,
        _ => return None,
    })
}

fn assign_op(kind: K) -> Option<AssignOp> {
    Some(match kind {
        K::Assign => AssignOp::Set,
        K::AddAssign => AssignOp::Add,
        K::SubAssign => AssignOp::Sub,
        K::MulAssign => AssignOp::Mul,
        K::DivAssign => AssignOp::Div,
        K::ModAssign => AssignOp::Mod,
        K::AndAssign => AssignOp::And,
        K::OrAssign => AssignOp::Or,
        K::XorAssign => AssignOp::Xor,
        K::ShlAssign => AssignOp::Shl,
        K::ShrAssign => AssignOp::Shr,
        _ => return None,
    })
}

/// Arranges a flat list of operands and operators by precedence: assignments and conditionals
/// associate to the right, all others to the left. It uses a stack of pending operators, so long
/// chains need no recursion.
fn arrange(first: Expr, tail: Vec<((Infix, Span), Expr)>) -> Expr {
    let mut operands = vec![first];
    let mut pending: Vec<(Infix, Span)> = Vec::new();
    for ((op, span), operand) in tail {
        let right = matches!(op, Infix::Assign(_) | Infix::Cond(_));
        while let Some((top, _)) = pending.last() {
            let binds = level(top) > level(&op) || (level(top) == level(&op) && !right);
            if !binds {
                break;
            }
            reduce(&mut operands, &mut pending);
        }
        pending.push((op, span));
        operands.push(operand);
    }
    while !pending.is_empty() {
        reduce(&mut operands, &mut pending);
    }
    operands.pop().unwrap_or(Expr {
        kind: ExprKind::Error,
        span: Span::START,
    })
}

/// Combines the last two operands with the last pending operator.
fn reduce(operands: &mut Vec<Expr>, pending: &mut Vec<(Infix, Span)>) {
    let (Some((op, op_span)), Some(rhs), Some(lhs)) =
        (pending.pop(), operands.pop(), operands.pop())
    else {
        return;
    };
    let span = lhs.span.cover(rhs.span);
    let (lhs, rhs) = (Box::new(lhs), Box::new(rhs));
    let kind = match op {
        Infix::Binary(op) => ExprKind::Binary {
            op,
            op_span,
            lhs,
            rhs,
        },
        Infix::Assign(op) => ExprKind::Assign {
            op,
            op_span,
            lhs,
            rhs,
        },
        Infix::Cond(then) => ExprKind::Cond {
            cond: lhs,
            then,
            other: rhs,
        },
    };
    operands.push(Expr { kind, span });
}
