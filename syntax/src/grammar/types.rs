//! Types and declarators.

use super::{Ex, In, Label, P, Tok, ident, semi, to_span, tok};
use crate::ast::{Declarator, Dim, Expr, Field, Init, Prefix, TypeBase, TypeExpr};
use crate::token::TokenKind as K;
use chumsky::prelude::*;

/// `urgent`, `const` … with their spans.
fn prefixes<'s>() -> impl Parser<'s, In<'s>, Vec<(Prefix, crate::span::Span)>, Ex> + Clone {
    select! {
        Tok { kind: K::Urgent, .. } => Prefix::Urgent,
        Tok { kind: K::Broadcast, .. } => Prefix::Broadcast,
        Tok { kind: K::Const, .. } => Prefix::Const,
        Tok { kind: K::Meta, .. } => Prefix::Meta,
        Tok { kind: K::Hybrid, .. } => Prefix::Hybrid,
    }
    .map_with(|p, e| (p, to_span(e.span())))
    .repeated()
    .collect()
}

pub(super) fn type_expr<'s>(expr: P<'s, Expr>, ty: P<'s, TypeExpr>) -> P<'s, TypeExpr> {
    let range = expr
        .clone()
        .then_ignore(tok(K::Comma))
        .then(expr.clone())
        .delimited_by(tok(K::LBracket), tok(K::RBracket))
        .map(Box::new);
    let size = expr
        .clone()
        .delimited_by(tok(K::LBracket), tok(K::RBracket))
        .map(Box::new);
    let names = declarator(expr, ty.clone(), false)
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    let fields = ty
        .then(names)
        .then_ignore(semi("this field"))
        .map(|(ty, names)| Field { ty, names })
        .repeated()
        .collect::<Vec<_>>()
        .delimited_by(tok(K::LBrace), tok(K::RBrace));
    let base = choice((
        tok(K::Int).ignore_then(range.or_not()).map(TypeBase::Int),
        ident().map(TypeBase::Named),
        tok(K::Bool).to(TypeBase::Bool),
        tok(K::Clock).to(TypeBase::Clock),
        tok(K::Chan).to(TypeBase::Chan),
        tok(K::Double).to(TypeBase::Double),
        tok(K::Void).to(TypeBase::Void),
        tok(K::Scalar)
            .ignore_then(size.clone())
            .map(TypeBase::Scalar),
        tok(K::Scalarset)
            .ignore_then(size.or_not())
            .map(|s| match s {
                Some(size) => TypeBase::Scalarset(size),
                None => TypeBase::ScalarsetParam,
            }),
        tok(K::Struct).ignore_then(fields).map(TypeBase::Struct),
    ))
    .labelled(Label::Type);
    prefixes()
        .then(base)
        .map_with(|(prefixes, base), e| TypeExpr {
            prefixes,
            base,
            span: to_span(e.span()),
        })
        .boxed()
}

/// Only prefixes, for the 3.x forms `const N 5;` and `const N` in parameters.
pub(super) fn implicit_int<'s>() -> P<'s, TypeExpr> {
    prefixes()
        .filter(|p| p.iter().any(|(p, _)| *p == Prefix::Const))
        .map_with(|prefixes, e| TypeExpr {
            prefixes,
            base: TypeBase::ImplicitInt,
            span: to_span(e.span()),
        })
        .boxed()
}

/// Array dimensions.
pub(super) fn dims<'s>(expr: P<'s, Expr>, ty: P<'s, TypeExpr>) -> P<'s, Vec<Dim>> {
    let starts_type = select! {
        Tok { kind: K::Int | K::Scalar | K::Scalarset | K::Bool | K::Const, .. } => (),
    };
    let inner = starts_type
        .rewind()
        .ignore_then(ty)
        .map(Dim::Type)
        .or(expr.map(Dim::Expr));
    inner
        .delimited_by(tok(K::LBracket), tok(K::RBracket))
        .repeated()
        .collect()
        .boxed()
}

/// A name with dimensions and, if `init`, an initialiser.
pub(super) fn declarator<'s>(
    expr: P<'s, Expr>,
    ty: P<'s, TypeExpr>,
    init: bool,
) -> P<'s, Declarator> {
    let head = ident().then(dims(expr.clone(), ty));
    let build = |name: crate::ast::Ident, dims, init, span| Declarator {
        name,
        dims,
        init,
        span,
    };
    if init {
        head.then(tok(K::Assign).ignore_then(initialiser(expr)).or_not())
            .map_with(move |((name, dims), init), e| build(name, dims, init, to_span(e.span())))
            .boxed()
    } else {
        head.map_with(move |(name, dims), e| build(name, dims, None, to_span(e.span())))
            .boxed()
    }
}

/// `N 5` and `N = 5` after a bare `const`.
pub(super) fn legacy_constant<'s>(expr: P<'s, Expr>, ty: P<'s, TypeExpr>) -> P<'s, Declarator> {
    ident()
        .then(dims(expr.clone(), ty))
        .then_ignore(tok(K::Assign).or_not())
        .then(initialiser(expr))
        .map_with(|((name, dims), init), e| Declarator {
            name,
            dims,
            init: Some(init),
            span: to_span(e.span()),
        })
        .boxed()
}

/// An expression or a list in braces.
pub(super) fn initialiser<'s>(expr: P<'s, Expr>) -> P<'s, Init> {
    recursive(|init| {
        let label = ident().then_ignore(tok(K::Colon)).or_not();
        let list = label
            .then(init)
            .separated_by(tok(K::Comma))
            .at_least(1)
            .collect::<Vec<_>>()
            .delimited_by(tok(K::LBrace), tok(K::RBrace))
            .map_with(|items, e| Init::List {
                items,
                span: to_span(e.span()),
            });
        list.or(expr.map(Init::Expr))
    })
    .boxed()
}
