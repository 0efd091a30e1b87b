//! Tokens coloured by what they mean.

use super::names::Names;
use zonelens_analysis::ide::DefKind;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::lexer::{self, Mode};
use zonelens_syntax::span::Span;
use zonelens_syntax::token::TokenKind;

/// Token types in the order of the legend.
pub const TYPES: [&str; 11] = [
    "keyword",
    "number",
    "type",
    "class",
    "function",
    "parameter",
    "variable",
    "property",
    "enumMember",
    "event",
    "namespace",
];

/// Modifiers in the order of the legend.
pub const MODIFIERS: [&str; 3] = ["declaration", "readonly", "modification"];

/// A coloured token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where; never over the end of a line.
    pub span: Span,
    /// Index into [`TYPES`].
    pub kind: u32,
    /// Bits by [`MODIFIERS`].
    pub modifiers: u32,
}

/// The tokens that touch `range`, in order of the text.
pub fn tokens(names: &Names, range: Option<Span>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    for occurrence in &names.index.occurrences {
        let Some(definition) = names.index.definition(occurrence.def) else {
            continue;
        };
        let readonly = matches!(definition.kind, DefKind::Constant | DefKind::Bound);
        let modifiers = u32::from(occurrence.declares)
            | u32::from(readonly) << 1
            | u32::from(occurrence.writes) << 2;
        out.push(Token {
            span: occurrence.span,
            kind: type_of(definition.kind),
            modifiers,
        });
    }
    let mode = match names.snapshot.kind {
        FileKind::Xta => Some(Mode::Model),
        FileKind::Query => Some(Mode::Query),
        // Inside XML the client's grammar knows where the language starts.
        FileKind::Xml => None,
    };
    if let Some(mode) = mode {
        for token in lexer::lex(&names.snapshot.file().text, mode) {
            let kind = match token.kind {
                TokenKind::Nat | TokenKind::Float => index_of("number"),
                kind if kind.is_keyword() => index_of("keyword"),
                _ => continue,
            };
            out.push(Token {
                span: Span::new(token.start, token.end),
                kind,
                modifiers: 0,
            });
        }
    }
    if let Some(range) = range {
        out.retain(|t| t.span.start < range.end && range.start < t.span.end);
    }
    out.sort_by_key(|t| (t.span.start, t.span.end));
    out.dedup_by(|b, a| b.span.start < a.span.end);
    out
}

fn index_of(name: &str) -> u32 {
    TYPES.iter().position(|t| *t == name).unwrap_or(0) as u32
}

fn type_of(kind: DefKind) -> u32 {
    index_of(match kind {
        DefKind::Constant | DefKind::Variable | DefKind::Clock | DefKind::Bound => "variable",
        DefKind::Channel => "event",
        DefKind::Type => "type",
        DefKind::Field => "property",
        DefKind::Function => "function",
        DefKind::Template => "class",
        DefKind::Process => "namespace",
        DefKind::Parameter => "parameter",
        DefKind::Location | DefKind::Branchpoint => "enumMember",
    })
}
