//! Declarations, parameters, instantiations and system lines.

use super::stmt::block;
use super::types::{declarator, dims, implicit_int, legacy_constant};
use super::{Ex, In, P, Tok, ident, keyword, semi, to_span, tok, tok_span};
use crate::ast::{
    ChanPriority, Expr, Function, GanttEntry, GanttLine, Ident, Instantiation, ItemKind, Param,
    Params, PriorityElem, Progress, SystemLine, TypeBase, TypeExpr, Typedef, VarDecl,
};
use crate::span::Span;
use crate::token::TokenKind as K;
use chumsky::prelude::*;

const DECLARATION: &str = "this declaration";

/// Parsers of whole declarations, including the final `;`.
pub(crate) struct DeclParsers<'s> {
    pub var: P<'s, VarDecl>,
    pub typedef: P<'s, Typedef>,
    pub scalarset: P<'s, ItemKind>,
    pub function: P<'s, Function>,
    pub instantiation: P<'s, ItemKind>,
    pub chan_priority: P<'s, ItemKind>,
    pub system: P<'s, ItemKind>,
    pub progress: P<'s, ItemKind>,
    pub gantt: P<'s, ItemKind>,
    pub updates: P<'s, Vec<Expr>>,
    /// `( … )`
    pub params: P<'s, Params>,
    /// The text of an XML `<parameter>`.
    pub bare_params: P<'s, Params>,
}

impl<'s> DeclParsers<'s> {
    pub(crate) fn new(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> DeclParsers<'s> {
        let bare_params = bare_params(expr, ty);
        let params = bare_params
            .clone()
            .delimited_by(tok(K::LParen), tok(K::RParen))
            .map_with(|params, e| Params {
                span: to_span(e.span()),
                ..params
            })
            .boxed();
        let function = ty
            .clone()
            .then(ident())
            .then(params.clone())
            .then(block(expr, ty))
            .map(|(((ty, name), params), body)| Function {
                ty,
                name,
                params,
                body,
            })
            .boxed();
        let updates = expr
            .clone()
            .separated_by(tok(K::Comma))
            .allow_trailing()
            .collect::<Vec<_>>()
            .then_ignore(tok(K::Semi).or_not())
            .delimited_by(tok(K::LBrace), tok(K::RBrace))
            .boxed();
        DeclParsers {
            var: var(expr, ty),
            typedef: typedef(expr, ty),
            scalarset: scalarset(expr),
            function,
            instantiation: instantiation(expr, ty, params.clone()),
            chan_priority: chan_priority(expr),
            system: system(),
            progress: progress(expr),
            gantt: gantt(expr, ty),
            updates: any().ignore_then(updates).boxed(),
            params,
            bare_params,
        }
    }
}

fn var<'s>(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> P<'s, VarDecl> {
    let names = declarator(expr.clone(), ty.clone(), true)
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    let constants = legacy_constant(expr.clone(), ty.clone())
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    ty.clone()
        .then(names)
        .then_ignore(semi(DECLARATION))
        .or(implicit_int()
            .then(constants)
            .then_ignore(semi(DECLARATION)))
        .map(|(ty, names)| VarDecl { ty, names })
        .boxed()
}

fn typedef<'s>(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> P<'s, Typedef> {
    let names = declarator(expr.clone(), ty.clone(), false)
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    tok(K::Typedef)
        .ignore_then(ty.clone())
        .then(names)
        .then_ignore(semi("this type definition"))
        .map(|(ty, names)| Typedef { ty, names })
        .boxed()
}

fn scalarset<'s>(expr: &P<'s, Expr>) -> P<'s, ItemKind> {
    tok(K::Scalarset)
        .ignore_then(ident())
        .then(
            expr.clone()
                .delimited_by(tok(K::LBracket), tok(K::RBracket)),
        )
        .then_ignore(semi(DECLARATION))
        .map(|(name, size)| ItemKind::ScalarsetDecl { name, size })
        .boxed()
}

/// Parameters without parentheses. A name without a type has the type of its group (3.x syntax).
fn bare_params<'s>(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> P<'s, Params> {
    struct Raw {
        ty: Option<TypeExpr>,
        reference: bool,
        name: Ident,
        dims: Vec<crate::ast::Dim>,
        span: Span,
        legacy: bool,
    }
    let tail = tok(K::Amp)
        .or_not()
        .then(ident())
        .then(dims(expr.clone(), ty.clone()));
    let typed = ty.clone().map(Some).then(tail.clone());
    let constant = implicit_int().map(Some).then(tail.clone());
    let continued = tail.map(|t| (None, t));
    let param = choice((typed, constant, continued)).map_with(|(ty, ((amp, name), dims)), e| {
        let legacy = ty
            .as_ref()
            .is_none_or(|t: &TypeExpr| matches!(t.base, TypeBase::ImplicitInt));
        Raw {
            ty,
            reference: amp.is_some(),
            name,
            dims,
            span: to_span(e.span()),
            legacy,
        }
    });
    let separator = tok(K::Comma).to(false).or(tok(K::Semi).to(true));
    let rest = separator
        .clone()
        .then(param.clone())
        .repeated()
        .collect::<Vec<_>>();
    param
        .then(rest)
        .then(separator.or_not())
        .or_not()
        .validate(|found, e, emitter| {
            let mut params = Params {
                span: to_span(e.span()),
                ..Params::default()
            };
            let Some(((first, rest), trailing)) = found else {
                return params;
            };
            if trailing == Some(false) {
                let at = e.span().end;
                emitter.emit(super::ParseError::custom(
                    (at - 1..at).into(),
                    "a parameter is missing after this comma",
                ));
            }
            params.legacy = trailing == Some(true);
            let mut group: Option<TypeExpr> = None;
            for (semi, raw) in std::iter::once((false, first)).chain(rest) {
                params.legacy |= semi || raw.legacy;
                let ty = raw.ty.or_else(|| group.clone()).unwrap_or(TypeExpr {
                    prefixes: Vec::new(),
                    base: TypeBase::Error,
                    span: raw.name.span,
                });
                if matches!(ty.base, TypeBase::Error) {
                    let span = raw.name.span;
                    emitter.emit(super::ParseError::custom(
                        (span.start..span.end).into(),
                        "a parameter needs a type and a name, as in `const int n`",
                    ));
                }
                group = Some(ty.clone());
                let Raw {
                    reference,
                    name,
                    dims,
                    span,
                    ..
                } = raw;
                params.list.push(Param {
                    ty,
                    reference,
                    name,
                    dims,
                    span,
                });
            }
            params
        })
        .boxed()
}

fn instantiation<'s>(
    expr: &P<'s, Expr>,
    ty: &P<'s, TypeExpr>,
    params: P<'s, Params>,
) -> P<'s, ItemKind> {
    let args = expr
        .clone()
        .separated_by(tok(K::Comma))
        .collect::<Vec<_>>()
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .map_with(|args, e| (args, to_span(e.span())));
    let binder = tok(K::Forall)
        .ignore_then(ident())
        .then_ignore(super::word("in"))
        .then(ty.clone())
        .then_ignore(tok(K::Colon));
    ident()
        .then(params.or_not())
        .then_ignore(tok(K::Assign))
        .then(binder.repeated().collect::<Vec<_>>())
        .then(ident())
        .then(args)
        .then_ignore(semi("this instantiation"))
        .map(
            |((((name, params), binders), template), (args, args_span))| {
                ItemKind::Instantiation(Instantiation {
                    name,
                    params,
                    binders,
                    template,
                    args,
                    args_span,
                })
            },
        )
        .boxed()
}

/// Parses a list with `,` between elements and `<` between levels.
fn levels<'s, T: 's>(elem: impl Parser<'s, In<'s>, T, Ex> + Clone + 's) -> P<'s, Vec<Vec<T>>> {
    elem.separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>()
        .separated_by(tok(K::Lt))
        .at_least(1)
        .collect::<Vec<_>>()
        .boxed()
}

fn chan_priority<'s>(expr: &P<'s, Expr>) -> P<'s, ItemKind> {
    let channel = super::expr::channel(expr.clone()).map(PriorityElem::Channel);
    let elem = tok_span(K::Default).map(PriorityElem::Default).or(channel);
    tok(K::Chan)
        .ignore_then(tok(K::Priority))
        .ignore_then(levels(elem))
        .then_ignore(semi("the channel priorities"))
        .map(|levels| ItemKind::ChanPriority(ChanPriority { levels }))
        .boxed()
}

fn system<'s>() -> P<'s, ItemKind> {
    keyword(K::System, &[])
        .ignore_then(levels(ident()))
        .then_ignore(semi("the system line"))
        .map(|levels| ItemKind::System(SystemLine { levels }))
        .boxed()
}

fn progress<'s>(expr: &P<'s, Expr>) -> P<'s, ItemKind> {
    let measure = expr
        .clone()
        .then(tok(K::Colon).ignore_then(expr.clone()).or_not())
        .then_ignore(semi("this measure"))
        .map(|(first, second)| match second {
            Some(measure) => (Some(first), measure),
            None => (None, first),
        });
    tok(K::Progress)
        .ignore_then(
            measure
                .repeated()
                .collect::<Vec<_>>()
                .delimited_by(tok(K::LBrace), tok(K::RBrace)),
        )
        .map(|measures| ItemKind::Progress(Progress { measures }))
        .boxed()
}

fn gantt<'s>(expr: &P<'s, Expr>, ty: &P<'s, TypeExpr>) -> P<'s, ItemKind> {
    let binders = ident()
        .then_ignore(tok(K::Colon))
        .then(ty.clone())
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(tok(K::LParen), tok(K::RParen))
        .boxed();
    let entry = tok(K::For)
        .ignore_then(binders.clone())
        .or_not()
        .then(expr.clone())
        .then_ignore(tok(K::Arrow))
        .then(expr.clone())
        .map(|((binders, condition), value)| GanttEntry {
            binders: binders.unwrap_or_default(),
            condition,
            value,
        });
    let line = ident()
        .then(binders.or_not())
        .then_ignore(tok(K::Colon))
        .then(
            entry
                .separated_by(tok(K::Comma))
                .at_least(1)
                .collect::<Vec<_>>(),
        )
        .then_ignore(semi("this line of the chart"))
        .map(|((name, binders), entries)| GanttLine {
            name,
            binders: binders.unwrap_or_default(),
            entries,
        });
    tok(K::Gantt)
        .ignore_then(
            line.repeated()
                .collect::<Vec<_>>()
                .delimited_by(tok(K::LBrace), tok(K::RBrace)),
        )
        .map(ItemKind::Gantt)
        .boxed()
}

/// The kind of declaration that the tokens of an item form, guessed from its first tokens; the
/// parser chosen then commits to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Empty,
    Var,
    Typedef,
    Scalarset,
    Function,
    Process,
    Instantiation,
    ChanPriority,
    System,
    Progress,
    Gantt,
    BeforeUpdate,
    AfterUpdate,
    Dynamic,
    Import,
    QueryBlock,
    EcdarInterface,
}

/// Determines the shape of an item from its tokens, comments excluded.
pub(crate) fn shape(tokens: &[(Tok<'_>, super::TokSpan)]) -> Shape {
    let kind = |i: usize| tokens.get(i).map(|(t, _)| t.kind);
    let is_word = |i: usize, text: &str| {
        tokens
            .get(i)
            .is_some_and(|(t, _)| t.kind == K::Ident && t.text == text)
    };
    match kind(0) {
        None => return Shape::Empty,
        Some(K::Semi) if tokens.len() == 1 => return Shape::Empty,
        Some(K::Process) => return Shape::Process,
        Some(K::Typedef) => return Shape::Typedef,
        Some(K::System) => return Shape::System,
        Some(K::Progress) => return Shape::Progress,
        Some(K::Gantt) => return Shape::Gantt,
        Some(K::BeforeUpdate) => return Shape::BeforeUpdate,
        Some(K::AfterUpdate) => return Shape::AfterUpdate,
        Some(K::Dynamic) => return Shape::Dynamic,
        Some(K::Chan) if kind(1) == Some(K::Priority) => return Shape::ChanPriority,
        Some(K::Scalarset) if kind(1) == Some(K::Ident) => return Shape::Scalarset,
        _ => {}
    }
    if is_word(0, "import") && kind(1) == Some(K::Str) {
        return Shape::Import;
    }
    if is_word(0, "query") && kind(1) == Some(K::LBrace) {
        return Shape::QueryBlock;
    }
    if is_word(0, "IO") && kind(1) == Some(K::Ident) {
        return Shape::EcdarInterface;
    }
    if meant_system(tokens) {
        return Shape::System;
    }
    if kind(0) == Some(K::Ident) && kind(1) == Some(K::Assign) {
        return Shape::Instantiation;
    }
    match (first_paren(tokens), kind(0), kind(1)) {
        (Some(close), Some(K::Ident), Some(K::LParen)) if kind(close + 1) != Some(K::LBrace) => {
            Shape::Instantiation
        }
        (Some(_), _, _) => Shape::Function,
        _ => Shape::Var,
    }
}

/// Whether the tokens are a misspelt system line like `sytem P, Q;`. A type may have a similar
/// name: names that begin with the keyword and names with capitals are not taken for it.
fn meant_system(tokens: &[(Tok<'_>, super::TokSpan)]) -> bool {
    let [(first, _), rest @ ..] = tokens else {
        return false;
    };
    let list = rest
        .iter()
        .all(|(t, _)| matches!(t.kind, K::Ident | K::Comma | K::Lt | K::Semi));
    first.kind == K::Ident
        && matches!(rest.first(), Some((t, _)) if t.kind == K::Ident)
        && list
        && !first.text.starts_with(K::System.text())
        && !first.text.contains(|c: char| c.is_ascii_uppercase())
        && crate::similar::is_close(first.text, K::System.text())
}

/// The `)` that closes the first `(` outside brackets and braces that directly follows a name and
/// precedes any `=`: the parameter list of a function or of an instantiation.
fn first_paren(tokens: &[(Tok<'_>, super::TokSpan)]) -> Option<usize> {
    let mut depth = 0u32;
    let mut open = None;
    for (i, (t, _)) in tokens.iter().enumerate() {
        match t.kind {
            K::Assign | K::Semi | K::Comma if depth == 0 => return None,
            K::LParen if depth == 0 && open.is_none() => {
                if i == 0 || tokens[i - 1].0.kind != K::Ident {
                    return None;
                }
                open = Some(i);
                depth += 1;
            }
            K::LParen | K::LBracket | K::LBrace => depth += 1,
            K::RParen | K::RBracket | K::RBrace => {
                depth = depth.saturating_sub(1);
                if depth == 0 && open.is_some() {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    open.map(|_| tokens.len())
}
