//! One logical line: the blanks between its words, and where to break it if it is too long.

use super::{FormatOptions, Word};
use crate::token::TokenKind as K;

/// The syntactic context that decides about the blanks between words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// `&` marks a reference: the header of a function or process.
    pub header: bool,
    /// `!` and `?` end a synchronisation.
    pub sync: bool,
    /// `case x:` and `default:`
    pub label: bool,
}

/// Writes a logical line at `level`, including its line break.
pub(super) fn write(
    out: &mut String,
    words: &[Word<'_>],
    level: usize,
    context: Context,
    options: FormatOptions,
) {
    let indent = " ".repeat(level * options.indent);
    let continuation = " ".repeat((level + 2) * options.indent);
    let mut column = 0;
    let mut braces = 0usize;
    for (i, word) in words.iter().enumerate() {
        let before = i.checked_sub(1).map(|b| words[b]);
        if word.kind == K::RBrace {
            braces = braces.saturating_sub(1);
        }
        // Inside braces (initialisers), the author's line breaks are kept; a comment on its own
        // line stays on its own line.
        let kept = before.is_some()
            && word.breaks > 0
            && (braces > 0 || word.kind == K::RBrace && kept_open(words, i));
        let own_line = before.is_some() && word.kind.is_comment() && word.breaks > 0;
        let forced = before.is_some_and(|b| {
            b.kind == K::LineComment || (b.kind.is_comment() && b.breaks > 0 && word.breaks > 0)
        });
        let spaced = before.is_some() && space(words, i, context);
        let width = word.text.chars().count() + usize::from(spaced);
        if before.is_none() {
            out.push_str(&indent);
            column = indent.len();
        } else if kept
            || own_line
            || forced
            || (breakable(words, i) && column + chunk_width(words, i, context) > options.width)
        {
            out.push('\n');
            let at = if kept || braces > 0 {
                indent.len() + braces * options.indent
            } else {
                continuation.len()
            };
            out.push_str(&" ".repeat(at));
            column = at;
        } else if spaced {
            out.push(' ');
        }
        out.push_str(word.text);
        column += width;
        if let Some(newline) = word.text.rfind('\n') {
            column = word.text.len() - newline;
        }
        if word.kind == K::LBrace {
            braces += 1;
        }
    }
    out.push('\n');
}

/// Whether the author put a line break after the brace that the one at `close` closes.
fn kept_open(words: &[Word<'_>], close: usize) -> bool {
    let mut depth = 0;
    for i in (0..close).rev() {
        match words[i].kind {
            K::RBrace => depth += 1,
            K::LBrace if depth == 0 => return words.get(i + 1).is_some_and(|w| w.breaks > 0),
            K::LBrace => depth -= 1,
            _ => {}
        }
    }
    false
}

/// The width of the words from `start` up to the next place where the line may break.
fn chunk_width(words: &[Word<'_>], start: usize, context: Context) -> usize {
    let mut width = 0;
    for i in start..words.len() {
        if i > start && breakable(words, i) {
            break;
        }
        width += words[i].text.chars().count() + usize::from(space(words, i, context));
    }
    width
}

/// Whether a line may break before the word at `i`.
fn breakable(words: &[Word<'_>], i: usize) -> bool {
    let Some(before) = i.checked_sub(1).map(|b| words[b].kind) else {
        return false;
    };
    before == K::Comma
        || matches!(
            words[i].kind,
            K::AndAnd | K::OrOr | K::And | K::Or | K::Imply | K::Xor | K::LeadsTo
        )
        || (words[i].kind == K::Question && spaced_question(words, i))
}

/// Whether a `?` is a conditional operator rather than the end of a synchronisation.
fn spaced_question(words: &[Word<'_>], i: usize) -> bool {
    !matches!(words.get(i + 1).map(|w| w.kind), None | Some(K::Semi))
}

/// Whether a token of this kind ends an operand, so that a following operator is binary.
fn ends_operand(kind: K) -> bool {
    use K::*;
    matches!(
        kind,
        Ident | Nat | Float | Str | RParen | RBracket | Prime | True | False | Deadlock
    )
}

/// The last word before `i` that is not a comment.
fn word_before(words: &[Word<'_>], i: usize) -> Option<(usize, K)> {
    (0..i)
        .rev()
        .map(|j| (j, words[j].kind))
        .find(|(_, k)| !k.is_comment())
}

/// Whether the word at `i` is a prefix operator.
fn is_prefix(words: &[Word<'_>], i: usize, context: Context) -> bool {
    let operand_before =
        word_before(words, i).is_some_and(|(j, k)| ends_operand(k) || is_postfix(words, j));
    match words[i].kind {
        K::Bang => !is_postfix(words, i) || !context.sync,
        K::Minus | K::Plus => !operand_before,
        K::PlusPlus | K::MinusMinus => !operand_before,
        K::Amp => context.header,
        _ => false,
    }
}

/// Whether the word at `i` is a postfix operator.
fn is_postfix(words: &[Word<'_>], i: usize) -> bool {
    match words[i].kind {
        K::PlusPlus | K::MinusMinus => word_before(words, i).is_some_and(|(_, k)| ends_operand(k)),
        K::Bang | K::Question => {
            let last = matches!(words.get(i + 1).map(|w| w.kind), None | Some(K::Semi));
            last && word_before(words, i).is_some_and(|(_, k)| ends_operand(k))
        }
        K::Prime => true,
        _ => false,
    }
}

/// The innermost bracket that is open at the word at `i`.
fn innermost(words: &[Word<'_>], i: usize) -> Option<K> {
    let mut depth = 0;
    for word in words[..i].iter().rev() {
        match word.kind {
            K::RParen | K::RBracket | K::RBrace => depth += 1,
            K::LParen | K::LBracket | K::LBrace if depth == 0 => return Some(word.kind),
            K::LParen | K::LBracket | K::LBrace => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a blank precedes the word at `i`.
pub(super) fn space(words: &[Word<'_>], i: usize, context: Context) -> bool {
    use K::*;
    let Some(before) = i.checked_sub(1) else {
        return false;
    };
    let (a, b) = (words[before].kind, words[i].kind);
    if a.is_comment() || b.is_comment() {
        return true;
    }
    if is_prefix(words, before, context) {
        return false;
    }
    match (a, b) {
        (_, Comma | Semi | RParen | RBracket | Dot | Prime) | (LParen | LBracket | Dot, _) => false,
        (_, PlusPlus | MinusMinus | Bang | Question) if is_postfix(words, i) => false,
        (_, Colon) => !context.label,
        // `int[0,3]`
        (Comma, _) => innermost(words, before) != Some(LBracket),
        (_, LBracket) => !matches!(
            a,
            Ident | RBracket | RParen | Int | Scalar | Scalarset | Prime
        ),
        (_, LParen) => !matches!(a, Ident | RParen | RBracket),
        _ => true,
    }
}
