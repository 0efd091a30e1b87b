//! Tokens coloured by what they mean.

use super::names::{Names, by_id};
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
        // A whole tag is no name.
        if by_id(&names.snapshot, occurrence.span) {
            continue;
        }
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
        FileKind::Xta | FileKind::Xml => Mode::Model,
        FileKind::Query => Mode::Query,
    };
    let text = names.snapshot.masked();
    for token in lexer::lex(text, mode) {
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
