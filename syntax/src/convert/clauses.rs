//! The exact texts of labels inside `.xta`, and how to write them so that reading returns them
//! unchanged.

use crate::lexer::{Mode, Token, Tokens, lex};
use crate::token::TokenKind as K;
use std::ops::Range;

/// Whether `text` contains anything but blanks and comments.
pub(crate) fn has_tokens(text: &str) -> bool {
    Tokens::new(text, 0, Mode::Model).any(|t| !t.kind.is_comment())
}

/// Whether `name` is a valid `.xta` name.
pub(crate) fn is_name(name: &str) -> bool {
    matches!(lex(name, Mode::Model)[..], [t] if t.kind == K::Ident && t.end as usize == name.len())
}

/// The text required between `text` and its terminator: a line break after a line comment, and
/// after a line break at the end of `text`, so that [`inside`] can tell the two apart.
pub(crate) fn terminator_gap(text: &str) -> &'static str {
    let open_comment = lex(text, Mode::Model)
        .last()
        .is_some_and(|t| t.kind == K::LineComment && t.end as usize == text.len());
    if open_comment || text.ends_with('\n') {
        "\n"
    } else {
        ""
    }
}

/// The text of a clause without the gap that the writer added; if not `exact`, without any blanks
/// around it.
pub(crate) fn inside(text: &str, exact: bool) -> &str {
    if !exact {
        return text.trim();
    }
    let text = text.strip_prefix(' ').unwrap_or(text);
    text.strip_suffix('\n').unwrap_or(text)
}

/// Like [`inside`], for the last text before a `}`, which is preceded by a blank or a line break.
pub(crate) fn inside_braces(text: &str, exact: bool) -> &str {
    if !exact {
        return text.trim();
    }
    let text = text.strip_prefix(' ').unwrap_or(text);
    text.strip_suffix([' ', '\n']).unwrap_or(text)
}

/// The invariant and the rate between the braces of a location, as ranges of `text`.
pub(crate) fn location_texts(text: &str) -> Option<(Range<usize>, Option<Range<usize>>)> {
    let tokens = lex(text, Mode::Model);
    let open = tokens.iter().find(|t| t.kind == K::LBrace)?.end as usize;
    let close = tokens.iter().rfind(|t| t.kind == K::RBrace)?.start as usize;
    let mut depth = 0i32;
    for t in &tokens {
        depth += step(t);
        if depth == 1 && t.kind == K::Semi {
            let (before, after) = (t.start as usize, t.end as usize);
            return Some((open..before, Some(after..close)));
        }
    }
    Some((open..close, None))
}

/// The labels between the braces of an edge: the kind of the XML label, and its text as a range of
/// `text`.
pub(crate) fn edge_texts(text: &str) -> Vec<(&'static str, Range<usize>)> {
    let mut out = Vec::new();
    let mut depth = 0i32;
    let mut open: Option<(&'static str, usize)> = None;
    for t in lex(text, Mode::Model) {
        depth += step(&t);
        if depth != 1 {
            continue;
        }
        match (open, t.kind) {
            (Some((kind, start)), K::Semi) => {
                out.push((kind, start..t.start as usize));
                open = None;
            }
            (None, kind) => open = label_kind(kind).map(|k| (k, t.end as usize)),
            _ => {}
        }
    }
    out
}

fn step(token: &Token) -> i32 {
    match token.kind {
        K::LBrace | K::LParen | K::LBracket => 1,
        K::RBrace | K::RParen | K::RBracket => -1,
        _ => 0,
    }
}

/// The labels of edges: kind in XML and keyword in `.xta`, in the order that `.xta` requires.
pub(crate) const EDGE_CLAUSES: [(&str, &str); 5] = [
    ("select", "select"),
    ("guard", "guard"),
    ("synchronisation", "sync"),
    ("assignment", "assign"),
    ("probability", "probability"),
];

fn label_kind(kind: K) -> Option<&'static str> {
    Some(match kind {
        K::Select => "select",
        K::Guard => "guard",
        K::Sync => "synchronisation",
        K::AssignKw => "assignment",
        K::Probability => "probability",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_back_unchanged() {
        for text in ["x > 1", " x", "x // c", "x\n", "x // c\n", "\nx\n\n", "x "] {
            let clause = format!(" {text}{}", terminator_gap(text));
            assert_eq!(inside(&clause, true), text, "{clause:?}");
            let gap = match terminator_gap(text) {
                "" => " ",
                gap => gap,
            };
            assert_eq!(inside_braces(&format!(" {text}{gap}"), true), text);
        }
    }

    #[test]
    fn labels_of_an_edge() {
        let text = " { select i : int[0,3]; guard f(a, {1;2}) /* ; */ && b; assign ; }";
        let got: Vec<_> = edge_texts(text)
            .into_iter()
            .map(|(k, r)| (k, text[r].trim()))
            .collect();
        assert_eq!(
            got,
            [
                ("select", "i : int[0,3]"),
                ("guard", "f(a, {1;2}) /* ; */ && b"),
                ("assignment", "")
            ]
        );
    }
}
