//! The `chumsky` grammar over the tokens of one item.
//!
//! Items are small and parsed independently ([`crate::split`] finds them), so the grammar itself
//! recovers only inside functions and edges. Tokens carry their text; tokens are equal if their
//! kinds are. Errors are a bit set of expected tokens, so that failing alternatives need no
//! allocation (the crate's rich errors made parsing several times slower).
//!
//! Operators are read as a flat list and arranged by precedence afterwards ([`expr`]): long chains
//! need no recursion.

pub(crate) mod decl;
mod expr;
mod process;
pub(crate) mod query;
mod stmt;
mod types;

use crate::ast::{Expr, Ident, TypeExpr};
use crate::error::SyntaxError;
use crate::span::Span;
use crate::token::TokenKind;
use chumsky::error::{Error, LabelError};
use chumsky::input::{Input as _, MappedInput};
use chumsky::prelude::*;
use chumsky::util::MaybeRef;
use chumsky::{Boxed, DefaultExpected};

/// A token as the grammar sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tok<'s> {
    pub kind: TokenKind,
    pub text: &'s str,
    /// Whether it is the first token of its line.
    pub fresh: bool,
}

impl PartialEq for Tok<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

pub(crate) type TokSpan = SimpleSpan<u32>;
pub(crate) type Spanned<'s> = (Tok<'s>, TokSpan);
pub(crate) type In<'s> = MappedInput<'s, Tok<'s>, TokSpan, &'s [Spanned<'s>]>;
pub(crate) type Ex = extra::Err<ParseError>;
pub(crate) type P<'s, T> = Boxed<'s, 's, In<'s>, T, Ex>;

/// What a parser expected, other than single tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Label {
    Expression,
    Operator,
    Statement,
    Type,
    Name,
    End,
}

impl Label {
    fn describe(self) -> &'static str {
        match self {
            Label::Expression => "an expression",
            Label::Operator => "an operator",
            Label::Statement => "a statement",
            Label::Type => "a type",
            Label::Name => "a name",
            Label::End => "the end of the text",
        }
    }
    const ALL: [Label; 6] = [
        Label::Expression,
        Label::Operator,
        Label::Statement,
        Label::Type,
        Label::Name,
        Label::End,
    ];
}

/// A grammar error: where it is, what was found, what was expected.
#[derive(Clone, Debug)]
pub(crate) struct ParseError {
    span: TokSpan,
    found: Option<TokenKind>,
    tokens: u128,
    labels: u8,
    message: Option<&'static str>,
    /// A code that replaces the default code of the text.
    code: Option<&'static str>,
    /// The probable intention, if known.
    meant: Option<Meant>,
}

/// What the author probably intended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meant {
    /// A `;` at the end of the span, after the named construct.
    Semicolon(&'static str),
    /// This keyword.
    Word(&'static str),
    /// This text; the message explains why.
    Text(&'static str),
}

impl ParseError {
    pub(crate) fn custom(span: TokSpan, message: &'static str) -> ParseError {
        ParseError {
            span,
            found: None,
            tokens: 0,
            labels: 0,
            message: Some(message),
            code: None,
            meant: None,
        }
    }

    /// An error at a position where the intention is known.
    pub(crate) fn meant(span: TokSpan, meant: Meant, message: &'static str) -> ParseError {
        ParseError {
            meant: Some(meant),
            ..ParseError::custom(span, message)
        }
    }

    /// An error with a code other than that of syntax errors.
    pub(crate) fn coded(span: TokSpan, code: &'static str, message: &'static str) -> ParseError {
        ParseError {
            code: Some(code),
            ..ParseError::custom(span, message)
        }
    }

    /// Converts to an error with a message for the user.
    pub(crate) fn into_syntax_error(self, code: &'static str) -> SyntaxError {
        let span = Span::new(self.span.start, self.span.end.max(self.span.start));
        match (self.meant, self.message) {
            (Some(Meant::Semicolon(what)), _) => return missing_semicolon(what, span.end),
            (Some(Meant::Word(word)), _) => {
                let message = format!("this is not a keyword; did you mean `{word}`?");
                return SyntaxError::new(code, message, span).repair(
                    format!("Change to `{word}`"),
                    span,
                    word,
                );
            }
            (Some(Meant::Text(text)), Some(message)) => {
                return SyntaxError::new(code, message, span)
                    .repair(format!("Write `{text}`"), span, text)
                    .safe();
            }
            _ => {}
        }
        if let Some(message) = self.message {
            return SyntaxError::new(self.code.unwrap_or(code), message, span);
        }
        let found = match self.found {
            Some(kind) => format!("unexpected {}", kind.describe()),
            None => "the text ends too early".to_owned(),
        };
        let mut expected: Vec<String> = Label::ALL
            .iter()
            .filter(|l| self.labels & (1 << **l as u8) != 0)
            .map(|l| l.describe().to_owned())
            .collect();
        expected.extend(TokenKinds(self.tokens).map(TokenKind::describe));
        let message = match expected.split_last() {
            None => found,
            Some((only, [])) => format!("{found}; expected {only}"),
            Some(_) if expected.len() > 8 => found,
            Some((last, rest)) => format!("{found}; expected {} or {last}", rest.join(", ")),
        };
        SyntaxError::new(code, message, span)
    }
}

/// The error for a missing `;` after `what`, which ends at `end`.
pub(crate) fn missing_semicolon(what: &str, end: u32) -> SyntaxError {
    missing(";", what, end)
}

/// The error for a missing `mark` after `what`, which ends at `end`.
pub(crate) fn missing(mark: &str, what: &str, end: u32) -> SyntaxError {
    let at = Span::new(end, end);
    SyntaxError::new(
        "syntax/missing-semicolon",
        format!("missing `{mark}` after {what}"),
        at,
    )
    .repair(format!("Insert `{mark}`"), at, mark)
    .safe()
}

/// The kinds in a bit set.
struct TokenKinds(u128);

impl Iterator for TokenKinds {
    type Item = TokenKind;

    fn next(&mut self) -> Option<TokenKind> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        TokenKind::ALL.get(bit as usize).copied()
    }
}

impl<'s> Error<'s, In<'s>> for ParseError {
    fn merge(mut self, other: Self) -> Self {
        self.tokens |= other.tokens;
        self.labels |= other.labels;
        self.message = self.message.or(other.message);
        self
    }
}

impl<'s> LabelError<'s, In<'s>, DefaultExpected<'s, Tok<'s>>> for ParseError {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'s, Tok<'s>>>>(
        expected: E,
        found: Option<MaybeRef<'s, Tok<'s>>>,
        span: TokSpan,
    ) -> Self {
        let (mut tokens, mut labels) = (0, 0);
        for e in expected {
            match e {
                DefaultExpected::Token(t) => tokens |= 1u128 << t.kind as u8,
                DefaultExpected::EndOfInput => labels |= 1 << Label::End as u8,
                _ => {}
            }
        }
        ParseError {
            span,
            found: found.map(|t| t.kind),
            tokens,
            labels,
            message: None,
            code: None,
            meant: None,
        }
    }
}

impl<'s> LabelError<'s, In<'s>, Label> for ParseError {
    fn expected_found<E: IntoIterator<Item = Label>>(
        expected: E,
        found: Option<MaybeRef<'s, Tok<'s>>>,
        span: TokSpan,
    ) -> Self {
        let labels = expected.into_iter().fold(0, |set, l| set | 1 << l as u8);
        ParseError {
            span,
            found: found.map(|t| t.kind),
            tokens: 0,
            labels,
            message: None,
            code: None,
            meant: None,
        }
    }

    fn label_with(&mut self, label: Label) {
        self.tokens = 0;
        self.labels = 1 << label as u8;
    }
}

/// All parsers, built once per file.
pub(crate) struct Grammar<'s> {
    pub comma_expr: P<'s, Option<Expr>>,
    pub decl: decl::DeclParsers<'s>,
    pub process: process::ProcessParsers<'s>,
    pub query: query::QueryParsers<'s>,
}

impl<'s> Grammar<'s> {
    pub(crate) fn new() -> Grammar<'s> {
        // Inside `recursive`, parsers refer to themselves weakly. With `Recursive::declare` they
        // would own themselves, and each parsed file would leak a grammar.
        let types = |expr: P<'s, Expr>| -> P<'s, TypeExpr> {
            recursive(|ty| types::type_expr(expr, ty.boxed())).boxed()
        };
        let expr: P<'s, Expr> = recursive(|expr| {
            let expr = expr.boxed();
            expr::expr(expr.clone(), types(expr))
        })
        .boxed();
        let ty = types(expr.clone());
        let decl = decl::DeclParsers::new(&expr, &ty);
        let comma_expr = expr::comma_expr(expr.clone());
        let process = process::ProcessParsers::new(&expr, &ty, &decl);
        let query = query::QueryParsers::new(&expr);
        Grammar {
            comma_expr: comma_expr.or_not().boxed(),
            decl,
            process,
            query,
        }
    }
}

/// Runs `parser` over all of `tokens`; `end` is the end of the text, used for errors there.
pub(crate) fn run<'s, T>(
    parser: &P<'s, T>,
    tokens: &'s [Spanned<'s>],
    end: u32,
    code: &'static str,
    errors: &mut Vec<SyntaxError>,
) -> Option<T> {
    let (value, found) = parser
        .parse(tokens.split_token_span((end..end).into()))
        .into_output_errors();
    errors.extend(found.into_iter().map(|e| e.into_syntax_error(code)));
    value
}

/// A fixed token.
pub(crate) fn tok<'s>(kind: TokenKind) -> impl Parser<'s, In<'s>, Tok<'s>, Ex> + Clone {
    just(fixed(kind))
}

fn fixed<'s>(kind: TokenKind) -> Tok<'s> {
    Tok {
        kind,
        text: "",
        fresh: false,
    }
}

/// The span of a fixed token.
pub(crate) fn tok_span<'s>(kind: TokenKind) -> impl Parser<'s, In<'s>, Span, Ex> + Clone {
    just(fixed(kind)).map_with(|_, e| to_span(e.span()))
}

/// A name.
pub(crate) fn ident<'s>() -> impl Parser<'s, In<'s>, Ident, Ex> + Clone {
    // `just` would return its pattern, which has no text; `select` returns the token itself.
    chumsky::primitive::select(|t: Tok<'s>, _| (t.kind == TokenKind::Ident).then_some(t.text))
        .map_with(|text, e| Ident {
            name: text.into(),
            span: to_span(e.span()),
        })
        .labelled(Label::Name)
}

/// A name with fixed text that is a keyword only in this context.
pub(crate) fn word<'s>(text: &'static str) -> impl Parser<'s, In<'s>, Span, Ex> + Clone {
    any::<In<'s>, Ex>()
        .filter(move |t: &Tok<'s>| t.kind == TokenKind::Ident && t.text == text)
        .map_with(|_, e| to_span(e.span()))
}

pub(crate) fn to_span(span: TokSpan) -> Span {
    Span::new(span.start, span.end.max(span.start))
}

/// A `;` after `what`. If it is missing and the next token can only begin something else, the error
/// is reported and parsing continues.
pub(crate) fn semi<'s>(what: &'static str) -> impl Parser<'s, In<'s>, (), Ex> + Clone {
    let missing = chumsky::primitive::custom::<_, In<'s>, (), Ex>(move |input| {
        let before = input.cursor();
        let next = input.peek();
        let span = input.span_since(&before);
        match next {
            Some(next) if !begins_other(next) => Err(ParseError {
                span: (span.start..span.start).into(),
                found: Some(next.kind),
                tokens: 1 << TokenKind::Semi as u8,
                labels: 0,
                message: None,
                code: None,
                meant: None,
            }),
            _ => {
                // An empty span reaches from the next token back to the end of the last one.
                let end = span.end;
                let at = (end..end).into();
                input.emit(ParseError::meant(at, Meant::Semicolon(what), ""));
                Ok(())
            }
        }
    });
    tok(TokenKind::Semi).to(()).or(missing)
}

/// Whether a token after a complete construct begins another one: a closing brace and most keywords
/// always do, a name only on a new line.
fn begins_other(token: Tok<'_>) -> bool {
    use TokenKind as K;
    match token.kind {
        K::RBrace => true,
        K::Ident | K::PlusPlus | K::MinusMinus => {
            token.fresh && operator_word(token.text).is_none()
        }
        K::Priority | K::Default => false,
        kind => (K::Const as u8..=K::Assert as u8).contains(&(kind as u8)),
    }
}

/// The operator meant by a word that the language does not have, such as `AND` or `implies`.
pub(crate) fn operator_word(text: &str) -> Option<TokenKind> {
    use TokenKind as K;
    Some(match text {
        "AND" | "And" => K::And,
        "OR" | "Or" => K::Or,
        "NOT" | "Not" => K::Not,
        "XOR" | "Xor" => K::Xor,
        "IMPLY" | "Imply" | "IMPLIES" | "implies" => K::Imply,
        _ => return None,
    })
}

/// A keyword, or a name that is probably a misspelling of it or one of `synonyms`. For positions
/// where no name is allowed.
pub(crate) fn keyword<'s>(
    kind: TokenKind,
    synonyms: &'static [&'static str],
) -> impl Parser<'s, In<'s>, (), Ex> + Clone {
    tok(kind).to(()).or(misspelt(kind.text(), synonyms))
}

/// A name that is probably a misspelling of `word` or one of `synonyms`.
pub(crate) fn misspelt<'s>(
    word: &'static str,
    synonyms: &'static [&'static str],
) -> impl Parser<'s, In<'s>, (), Ex> + Clone {
    any::<In<'s>, Ex>()
        .filter(move |t: &Tok<'s>| {
            t.kind == TokenKind::Ident
                && (crate::similar::is_close(t.text, word) || synonyms.contains(&t.text))
        })
        .validate(move |_, e, emitter| {
            emitter.emit(ParseError::meant(e.span(), Meant::Word(word), ""));
        })
}
