//! Formats `.q` files: one formula per line, comments unchanged.

use super::line::{Context, space};
use super::words_in;
use crate::ast::{ItemKind, QueryKind};
use crate::lexer::Mode;
use crate::source::SourceFile;
use crate::token::TokenKind as K;

/// Formats formulas with single blanks; malformed formulas and those for other engines stay
/// unchanged.
pub(super) fn format(file: &SourceFile) -> String {
    let mut out = String::new();
    for item in &file.items {
        let text = file.slice(item.span());
        let verbatim = match &item.node.kind {
            ItemKind::Query(q) => {
                !q.errors.is_empty()
                    || matches!(q.kind, QueryKind::Unsupported(_) | QueryKind::Error)
            }
            _ => !item.node.errors.is_empty(),
        };
        let mut words = words_in(text, Mode::Query);
        // A backslash at the end would continue with the following line.
        while words.pop_if(|word| word.text.trim_end() == "\\").is_some() {}
        let Some(first) = words.first() else { continue };
        if first.breaks > 1 && !out.is_empty() {
            out.push('\n');
        }
        if verbatim {
            out.push_str(text.trim());
            out.push('\n');
            continue;
        }
        let formula: Vec<_> = words
            .iter()
            .copied()
            .filter(|w| !w.kind.is_comment())
            .collect();
        let mut seen = 0;
        for (i, word) in words.iter().enumerate() {
            let comment = word.kind.is_comment();
            if comment && (i == 0 || word.breaks > 0) {
                if i > 0 {
                    newline(&mut out);
                    if word.breaks > 1 {
                        out.push('\n');
                    }
                }
                out.push_str(word.text);
                continue;
            }
            let fresh = i == 0 || (words[i - 1].kind.is_comment() && word.breaks > 0);
            if fresh && i > 0 {
                newline(&mut out);
                if word.breaks > 1 {
                    out.push('\n');
                }
            } else if i > 0
                && (comment || formula_space(&formula, seen) || words[i - 1].kind.is_comment())
            {
                out.push(' ');
            }
            // A backslash that does not continue a line is a word that includes the blanks after
            // it.
            out.push_str(word.text.trim_end());
            seen += usize::from(!comment);
        }
        newline(&mut out);
    }
    out
}

fn newline(out: &mut String) {
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Whether a blank precedes the `i`-th word of a formula; `A[]` and `E<>` are kept together.
fn formula_space(words: &[super::Word<'_>], i: usize) -> bool {
    let path = matches!(words.first(), Some(w) if w.kind == K::Ident && (w.text == "A" || w.text == "E"))
        && matches!(words.get(1).map(|w| w.kind), Some(K::LBracket | K::Lt))
        && matches!(words.get(2).map(|w| w.kind), Some(K::RBracket | K::Gt));
    match i {
        0 => false,
        1 | 2 if path => false,
        3 if path => true,
        1 if words[1].kind == K::LBrace => false,
        _ if words[i].kind == K::Colon => false,
        _ if path => {
            // The text after the path quantifier is spaced separately.
            space(&words[3..], i - 3, Context::default())
        }
        _ => space(words, i, Context::default()),
    }
}
