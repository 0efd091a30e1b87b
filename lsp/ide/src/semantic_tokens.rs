//! Tokens coloured by what they mean.

use crate::names::{Names, by_id};
use crate::snapshot::Snapshot;
use zonelens_analysis::ide::DefKind;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::lexer::{Mode, Tokens};
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
    let mut named = named(names).peekable();
    let mut words = words(&names.snapshot).peekable();
    let mut out: Vec<Token> = Vec::new();
    // Both lists are in order of the text. Where two tokens overlap, the first one counts.
    loop {
        let token = match (named.peek(), words.peek()) {
            (Some(a), Some(b)) if place(a) <= place(b) => named.next(),
            (Some(_), None) => named.next(),
            _ => words.next(),
        };
        let Some(token) = token else { break };
        let wanted = range.is_none_or(|r| token.span.start < r.end && r.start < token.span.end);
        let free = out
            .last()
            .is_none_or(|last| last.span.end <= token.span.start);
        if wanted && free {
            out.push(token);
        }
    }
    out
}

fn place(token: &Token) -> (u32, u32) {
    (token.span.start, token.span.end)
}

/// Uses of names.
fn named(names: &Names) -> impl Iterator<Item = Token> {
    names.index.occurrences.iter().filter_map(|occurrence| {
        let definition = names.index.definition(occurrence.def)?;
        // A whole tag is no name.
        if by_id(&names.snapshot, occurrence.span) {
            return None;
        }
        let readonly = matches!(definition.kind, DefKind::Constant | DefKind::Bound);
        let modifiers = u32::from(occurrence.declares)
            | u32::from(readonly) << 1
            | u32::from(occurrence.writes) << 2;
        Some(Token {
            span: occurrence.span,
            kind: type_of(definition.kind) as u32,
            modifiers,
        })
    })
}

/// Keywords and numbers. The texts of XML are read one by one: what one of them leaves open, such
/// as a comment, ends with it.
fn words(snapshot: &Snapshot) -> impl Iterator<Item = Token> {
    let text = snapshot.masked();
    let pieces: Vec<(Span, Mode)> = match snapshot.kind {
        FileKind::Xta => vec![(snapshot.full_span(), Mode::Model)],
        FileKind::Query => vec![(snapshot.full_span(), Mode::Query)],
        FileKind::Xml => {
            let mode = |name: &str| match name {
                "formula" => Mode::Query,
                _ => Mode::Model,
            };
            let texts = snapshot.texts().iter();
            texts.map(|tag| (tag.content, mode(&tag.name))).collect()
        }
    };
    pieces.into_iter().flat_map(move |(span, mode)| {
        let piece = text.get(span.range()).unwrap_or("");
        Tokens::new(piece, 0, mode).filter_map(move |token| {
            let kind = match token.kind {
                TokenKind::Nat | TokenKind::Float => Colour::Number,
                TokenKind::Deadlock => Colour::Keyword,
                kind if kind.is_keyword() => Colour::Keyword,
                _ => return None,
            };
            Some(Token {
                span: Span::new(token.start, token.end).shift(span.start),
                kind: kind as u32,
                modifiers: 0,
            })
        })
    })
}

/// The places of types in [`TYPES`].
#[derive(Clone, Copy, Debug)]
enum Colour {
    Keyword,
    Number,
    Type,
    Class,
    Function,
    Parameter,
    Variable,
    Property,
    EnumMember,
    Event,
    Namespace,
}

fn type_of(kind: DefKind) -> Colour {
    match kind {
        DefKind::Constant | DefKind::Variable | DefKind::Clock | DefKind::Bound => Colour::Variable,
        DefKind::Channel => Colour::Event,
        DefKind::Type => Colour::Type,
        DefKind::Field => Colour::Property,
        DefKind::Function => Colour::Function,
        DefKind::Template => Colour::Class,
        DefKind::Process => Colour::Namespace,
        DefKind::Parameter => Colour::Parameter,
        DefKind::Location | DefKind::Branchpoint => Colour::EnumMember,
    }
}

/// The edit that makes one list of numbers out of another: start, how many go, what comes.
pub fn difference(old: &[u32], new: &[u32]) -> Option<(usize, usize, Vec<u32>)> {
    if old == new {
        return None;
    }
    let pairs = old.iter().zip(new);
    let start = pairs.take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = tail.take_while(|(a, b)| a == b).count();
    // Whole tokens, as clients read them in fives.
    let start = start - start % 5;
    let tail = tail - tail % 5;
    let come = new[start..new.len() - tail].to_vec();
    Some((start, old.len() - tail - start, come))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_places_in_the_legend() {
        for kind in [
            Colour::Keyword,
            Colour::Number,
            Colour::Type,
            Colour::Class,
            Colour::Function,
        ]
        .into_iter()
        .chain([Colour::Parameter, Colour::Variable, Colour::Property])
        .chain([Colour::EnumMember, Colour::Event, Colour::Namespace])
        {
            let name = format!("{kind:?}");
            assert_eq!(TYPES[kind as usize].to_lowercase(), name.to_lowercase());
        }
    }

    #[test]
    fn a_difference_makes_the_new_out_of_the_old() {
        let token = |n: u32| [n, 1, 1, 1, 1];
        let list = |ns: &[u32]| -> Vec<u32> { ns.iter().flat_map(|n| token(*n)).collect() };
        for (old, new) in [
            (list(&[]), list(&[1])),
            (list(&[1, 2, 3]), list(&[1, 3])),
            (list(&[1, 1, 1]), list(&[1, 1])),
            (list(&[1, 2]), list(&[2, 1])),
            (list(&[4]), list(&[])),
        ] {
            let (start, gone, come) = difference(&old, &new).expect("they differ");
            let mut made = old.clone();
            made.splice(start..start + gone, come);
            assert_eq!(made, new);
        }
        assert_eq!(difference(&[1], &[1]), None);
    }
}
