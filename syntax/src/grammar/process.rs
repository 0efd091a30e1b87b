//! Parts of processes: headers, locations, edges and their labels.

use super::decl::DeclParsers;
use super::expr::{channel, comma_expr};
use super::{
    Ex, In, Meant, P, ParseError, Tok, TokSpan, ident, keyword, misspelt, semi, to_span, tok,
};
use crate::ast::{Branchpoint, Direction, Edge, Expr, Ident, Location, Params, Sync, TypeExpr};
use crate::token::TokenKind as K;
use chumsky::prelude::*;

pub(crate) struct ProcessParsers<'s> {
    /// `process P(…)`
    pub header: P<'s, (Ident, Option<Params>)>,
    /// `state a { … }, b;`
    pub states: P<'s, Vec<Location>>,
    /// `branchpoint a, b;`
    pub branchpoints: P<'s, Vec<Branchpoint>>,
    /// `commit a, b;` and `urgent a, b;`
    pub names: P<'s, Vec<Ident>>,
    /// `init a;`
    pub init: P<'s, Ident>,
    /// `trans`? edge (`,` | `;`)
    pub edge: P<'s, Edge>,
    /// Texts of XML labels; a text with comments only yields `None` or an empty list.
    pub rate: P<'s, Option<(Expr, Option<Expr>)>>,
    pub select: P<'s, Vec<(Ident, TypeExpr)>>,
    pub sync: P<'s, Option<Sync>>,
    pub assign: P<'s, Vec<Expr>>,
}

impl<'s> ProcessParsers<'s> {
    pub(crate) fn new(
        expr: &P<'s, Expr>,
        ty: &P<'s, TypeExpr>,
        decl: &DeclParsers<'s>,
    ) -> ProcessParsers<'s> {
        let rate = expr
            .clone()
            .then(tok(K::Colon).ignore_then(expr.clone()).or_not())
            .boxed();
        let select = select(ty);
        let sync = sync(expr);
        let assign = assign(expr);
        let names = ident()
            .separated_by(tok(K::Comma))
            .at_least(1)
            .collect::<Vec<_>>();
        ProcessParsers {
            header: keyword(K::Process, &["template"])
                .ignore_then(ident())
                .then(decl.params.clone().or_not())
                .boxed(),
            states: states(expr, rate.clone()),
            branchpoints: any()
                .ignore_then(names.clone())
                .then_ignore(semi("the branchpoints"))
                .map(|names| {
                    names
                        .into_iter()
                        .map(|name| Branchpoint {
                            span: name.span,
                            name,
                            graphics: None,
                        })
                        .collect()
                })
                .boxed(),
            names: any()
                .ignore_then(names)
                .then_ignore(semi("these locations"))
                .boxed(),
            init: any()
                .ignore_then(ident())
                .then_ignore(semi("the initial location"))
                .boxed(),
            edge: edge(expr, select.clone(), sync.clone(), assign.clone()),
            rate: rate.or_not().boxed(),
            select: select.or_not().map(Option::unwrap_or_default).boxed(),
            sync: sync.or_not().boxed(),
            assign,
        }
    }
}

fn select<'s>(ty: &P<'s, TypeExpr>) -> P<'s, Vec<(Ident, TypeExpr)>> {
    ident()
        .then_ignore(tok(K::Colon))
        .then(ty.clone())
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect()
        .boxed()
}

/// Updates separated by `,`. A `;` instead is reported and treated as a `,`; in `.xta` only if an
/// update follows, because it also ends the label.
fn assign<'s>(expr: &P<'s, Expr>) -> P<'s, Vec<Expr>> {
    let list = expr
        .clone()
        .separated_by(tok(K::Comma))
        .at_least(1)
        .collect::<Vec<_>>();
    let begins = any::<In<'s>, Ex>()
        .filter(|t: &Tok<'s>| match t.kind {
            K::Ident => !is_label_word(t.text),
            K::PlusPlus | K::MinusMinus => true,
            _ => false,
        })
        .rewind();
    // Not a fixed token: "expected `;`" would be wrong advice.
    let more = any::<In<'s>, Ex>()
        .filter(|t: &Tok<'s>| t.kind == K::Semi)
        .map_with(|_, e| e.span())
        .then_ignore(begins)
        .then(list.clone())
        .validate(|(span, list), _, emitter| {
            emitter.emit(ParseError::meant(
                span,
                Meant::Text(","),
                "updates are separated by `,`, not by `;`",
            ));
            list
        })
        .repeated()
        .collect::<Vec<_>>();
    list.then(more)
        .map(|(mut list, more)| {
            list.extend(more.into_iter().flatten());
            list
        })
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed()
}

/// Common wrong words for the labels of edges.
const SELECT: &[&str] = &["selection"];
const GUARD: &[&str] = &["when", "guards"];
const SYNC: &[&str] = &["synchronisation", "synchronization", "synchronise"];
const ASSIGN: &[&str] = &["update", "updates", "assignment", "assignments"];

/// Whether a name is probably a misspelt keyword of a label.
fn is_label_word(text: &str) -> bool {
    [
        (K::Select, SELECT),
        (K::Guard, GUARD),
        (K::Sync, SYNC),
        (K::AssignKw, ASSIGN),
        (K::Probability, &[]),
    ]
    .iter()
    .any(|(kind, words)| crate::similar::is_close(text, kind.text()) || words.contains(&text))
}

fn sync<'s>(expr: &P<'s, Expr>) -> P<'s, Sync> {
    let direction = tok(K::Bang)
        .to(Direction::Send)
        .or(tok(K::Question).to(Direction::Receive));
    channel(expr.clone())
        .then(direction.or_not())
        .map_with(|(channel, direction), e| Sync {
            channel,
            direction: direction.unwrap_or(Direction::Csp),
            span: to_span(e.span()),
        })
        .boxed()
}

fn states<'s>(expr: &P<'s, Expr>, rate: P<'s, (Expr, Option<Expr>)>) -> P<'s, Vec<Location>> {
    let inside = comma_expr(expr.clone())
        .or_not()
        .then(tok(K::Semi).ignore_then(rate.or_not()).or_not());
    let braces = inside
        .delimited_by(tok(K::LBrace), tok(K::RBrace))
        .recover_with(via_parser(skip_braces().to((None, None))));
    let location = ident().then(braces.or_not()).map_with(|(name, label), e| {
        let (invariant, rate) = label.unwrap_or((None, None));
        Location {
            name,
            anonymous: false,
            invariant,
            exponential_rate: rate.flatten(),
            committed: false,
            urgent: false,
            graphics: None,
            span: to_span(e.span()),
        }
    });
    keyword(K::State, &[])
        .ignore_then(location.separated_by(tok(K::Comma)).at_least(1).collect())
        .then_ignore(semi("the locations"))
        .boxed()
}

/// `{ … }` with any balanced content.
fn skip_braces<'s>() -> P<'s, ()> {
    recursive(|skip| {
        let other = any::<In<'s>, Ex>()
            .filter(|t: &Tok<'s>| !matches!(t.kind, K::LBrace | K::RBrace))
            .to(());
        skip.or(other)
            .repeated()
            .delimited_by(tok(K::LBrace), tok(K::RBrace))
            .to(())
    })
    .boxed()
}

/// One label of an edge; a `Broken` label was reported and left out.
#[derive(Clone)]
enum Label {
    Select(Vec<(Ident, TypeExpr)>),
    Guard(Option<Expr>),
    Sync(Option<Sync>),
    Assign(Vec<Expr>),
    Probability(Expr),
    Broken,
}

impl Label {
    /// The position of a label in the fixed order.
    fn rank(&self) -> Option<u8> {
        match self {
            Label::Select(_) => Some(0),
            Label::Guard(_) => Some(1),
            Label::Sync(_) => Some(2),
            Label::Assign(_) => Some(3),
            Label::Probability(_) => Some(4),
            Label::Broken => None,
        }
    }
}

fn edge<'s>(
    expr: &P<'s, Expr>,
    select: P<'s, Vec<(Ident, TypeExpr)>>,
    sync: P<'s, Sync>,
    assign: P<'s, Vec<Expr>>,
) -> P<'s, Edge> {
    // The correct words come first: misspelt ones are tried only if none matches.
    let labels_with = |word: fn(K, &'static [&'static str]) -> P<'s, ()>| {
        choice((
            word(K::Select, SELECT)
                .ignore_then(select.clone())
                .then_ignore(semi("the select"))
                .map(Label::Select),
            word(K::Guard, GUARD)
                .ignore_then(comma_expr(expr.clone()).or_not())
                .then_ignore(semi("the guard"))
                .map(Label::Guard),
            word(K::Sync, SYNC)
                .ignore_then(sync.clone().or_not())
                .then_ignore(semi("the synchronisation"))
                .map(Label::Sync),
            word(K::AssignKw, ASSIGN)
                .ignore_then(assign.clone())
                .then_ignore(semi("the updates"))
                .map(Label::Assign),
            word(K::Probability, &[])
                .ignore_then(expr.clone())
                .then_ignore(semi("the weight"))
                .map(Label::Probability),
        ))
        .boxed()
    };
    let label = labels_with(|kind, _| tok(kind).to(()).boxed()).or(labels_with(|kind, words| {
        misspelt(kind.text(), words).boxed()
    }));
    let skipped = any::<In<'s>, Ex>()
        .filter(|t: &Tok<'s>| !matches!(t.kind, K::Semi | K::RBrace | K::LBrace))
        .repeated()
        .at_least(1)
        .then_ignore(tok(K::Semi).to(()).or(tok(K::RBrace).rewind().to(())))
        .to(Label::Broken);
    let labels = label
        .recover_with(via_parser(skipped))
        .map_with(|label, e| (label, e.span()))
        .repeated()
        .collect::<Vec<(Label, TokSpan)>>()
        .delimited_by(tok(K::LBrace), tok(K::RBrace))
        .recover_with(via_parser(skip_braces().to(Vec::new())));
    let arrow = tok(K::Arrow)
        .to(true)
        .or(tok(K::UncontrollableArrow).to(false));
    let body = ident()
        .or_not()
        .then(arrow)
        .then(ident())
        .then(labels)
        .validate(|(((source, controllable), target), labels), e, emitter| {
            let mut edge = Edge {
                source,
                target,
                controllable,
                select: Vec::new(),
                guard: None,
                sync: None,
                assign: Vec::new(),
                probability: None,
                graphics: None,
                span: to_span(e.span()),
            };
            let mut last = None;
            for (label, span) in labels {
                if let Some(rank) = label.rank() {
                    if last >= Some(rank) {
                        emitter.emit(ParseError::custom(
                            span,
                            "each label may occur once, in this order: select, guard, sync, assign, probability",
                        ));
                    }
                    last = last.max(Some(rank));
                }
                match label {
                    Label::Select(list) => edge.select.extend(list),
                    Label::Guard(guard) => edge.guard = guard,
                    Label::Sync(sync) => edge.sync = sync,
                    Label::Assign(list) => edge.assign.extend(list),
                    Label::Probability(weight) => edge.probability = Some(weight),
                    Label::Broken => {}
                }
            }
            edge
        });
    // `tarns A -> B`: two names before the arrow.
    let name_follows = any::<In<'s>, Ex>()
        .filter(|t: &Tok<'s>| t.kind == K::Ident)
        .rewind();
    let section = tok(K::Trans).to(()).or(super::misspelt(
        K::Trans.text(),
        &["transition", "transitions"],
    )
    .then_ignore(name_follows));
    // Which mark is missing depends on the next member, so the caller reports it.
    section
        .or_not()
        .ignore_then(body)
        .then_ignore(tok(K::Comma).or(tok(K::Semi)).or_not())
        .boxed()
}
