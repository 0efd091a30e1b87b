//! Queries: path formulas, leads-to, bounds, and the families that are recognised but not answered.
//!
//! The head of a formula determines its family; only the symbolic ones are parsed further.

use super::expr::comma_expr;
use super::{P, Spanned, tok};
use crate::ast::{BoundsKind, Expr, PathKind, QueryFamily};
use crate::token::TokenKind as K;
use chumsky::prelude::*;

pub(crate) struct QueryParsers<'s> {
    /// The state formula after `A[]` and the like.
    pub state: P<'s, Expr>,
    /// `p --> q`
    pub leads_to: P<'s, (Expr, Expr)>,
    /// The rest after `sup`, `inf`, `bounds`.
    pub bounds: P<'s, (Option<Expr>, Vec<Expr>)>,
}

impl<'s> QueryParsers<'s> {
    pub(crate) fn new(expr: &P<'s, Expr>) -> QueryParsers<'s> {
        let condition = comma_expr(expr.clone())
            .delimited_by(tok(K::LBrace), tok(K::RBrace))
            .or_not();
        QueryParsers {
            state: expr.clone(),
            leads_to: expr
                .clone()
                .then_ignore(tok(K::LeadsTo))
                .then(expr.clone())
                .boxed(),
            bounds: condition
                .then_ignore(tok(K::Colon))
                .then(
                    expr.clone()
                        .separated_by(tok(K::Comma))
                        .at_least(1)
                        .collect::<Vec<_>>(),
                )
                .boxed(),
        }
    }
}

/// The form of a query, recognised from its first tokens, and where the rest begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// No formula.
    Nothing,
    /// A path formula; its state formula starts at this token.
    Path(PathKind, usize),
    /// `sup` and the like; the rest starts at this token.
    Bounds(BoundsKind, usize),
    /// Not recognised: must be `p --> q`.
    LeadsTo,
    /// A family that is not answered.
    Unsupported(QueryFamily),
}

/// Determines the form of a query from its first tokens.
pub(crate) fn head(tokens: &[Spanned<'_>]) -> Head {
    let kind = |i: usize| tokens.get(i).map(|(t, _)| t.kind);
    let text = |i: usize| tokens.get(i).map_or("", |(t, _)| t.text);
    if tokens.is_empty() {
        return Head::Nothing;
    }
    if let Some(family) = family(tokens) {
        return Head::Unsupported(family);
    }
    if kind(0) == Some(K::Ident) {
        let path = match (text(0), kind(1), kind(2)) {
            ("A", Some(K::LBracket), Some(K::RBracket)) => Some(PathKind::Always),
            ("E", Some(K::LBracket), Some(K::RBracket)) => Some(PathKind::PotentiallyAlways),
            ("A", Some(K::Lt), Some(K::Gt)) => Some(PathKind::Eventually),
            ("E", Some(K::Lt), Some(K::Gt)) => Some(PathKind::Possibly),
            _ => None,
        };
        if let Some(path) = path {
            return Head::Path(path, 3);
        }
        let bounds = match text(0) {
            "sup" => Some(BoundsKind::Sup),
            "inf" => Some(BoundsKind::Inf),
            "bounds" => Some(BoundsKind::Bounds),
            _ => None,
        };
        if let (Some(bounds), Some(K::LBrace | K::Colon)) = (bounds, kind(1)) {
            return Head::Bounds(bounds, 1);
        }
    }
    Head::LeadsTo
}

/// The family of a query for another engine, recognised by its first words or by `under S` at its
/// end.
fn family(tokens: &[Spanned<'_>]) -> Option<QueryFamily> {
    let kind = |i: usize| tokens.get(i).map(|(t, _)| t.kind);
    let text = |i: usize| tokens.get(i).map_or("", |(t, _)| t.text);
    let followed = |kinds: &[K]| kind(1).is_some_and(|k| kinds.contains(&k));
    if kind(0) == Some(K::LBrace) {
        return Some(QueryFamily::Game);
    }
    match text(0) {
        "Pr" if followed(&[K::LBracket, K::LParen]) => return Some(QueryFamily::Statistical),
        "simulate" | "simulation" if followed(&[K::LBracket, K::Nat, K::LBrace]) => {
            return Some(QueryFamily::Statistical);
        }
        "E" if kind(1) == Some(K::LBracket) && kind(2) != Some(K::RBracket) => {
            return Some(QueryFamily::Statistical);
        }
        "A" if kind(1) == Some(K::LBracket) && kind(2) != Some(K::RBracket) => {
            return Some(QueryFamily::Game);
        }
        "strategy" if followed(&[K::Ident]) => return Some(QueryFamily::Strategy),
        "saveStrategy" | "loadStrategy" if followed(&[K::LParen, K::LBrace]) => {
            return Some(QueryFamily::Strategy);
        }
        "minE" | "maxE" | "minPr" | "maxPr" if followed(&[K::LParen, K::LBracket]) => {
            return Some(QueryFamily::Learning);
        }
        "refinement" | "consistency" | "specification" | "implementation" | "determinism"
        | "sat"
            if followed(&[K::Colon]) =>
        {
            return Some(QueryFamily::Ecdar);
        }
        word if word.starts_with("control")
            && followed(&[K::Colon, K::Star, K::LParen, K::LBracket]) =>
        {
            return Some(QueryFamily::Game);
        }
        "E" | "A" if text(1) == "control" => return Some(QueryFamily::Game),
        _ => {}
    }
    let n = tokens.len();
    (n >= 4 && text(n - 2) == "under" && kind(n - 1) == Some(K::Ident))
        .then_some(QueryFamily::Strategy)
}
