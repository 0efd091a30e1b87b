//! Ever larger selections: word, expression, statement or label, edge, item, file; in XML also the
//! text of elements and the elements.

use crate::snapshot::Snapshot;
use zonelens_syntax::ast::parts_around;
use zonelens_syntax::span::Span;

/// Nested spans around `offset`, innermost first.
pub fn spans(snapshot: &Snapshot, offset: u32) -> Vec<Span> {
    let file = snapshot.file();
    let text = snapshot.masked();
    let at = (offset as usize).min(text.len());
    let mut out = parts_around(file, offset);
    out.push(snapshot.full_span());
    for tag in file.elements() {
        if tag.span.touches(offset) {
            out.extend(Some(tag.content).filter(|_| tag.model_text));
            out.push(tag.span);
        }
    }
    if let Some(limit) = snapshot.text_span(offset) {
        out.push(word(text, at));
        let inside = |span: &&Span| limit.start <= span.start && span.end <= limit.end;
        let item = file.items.iter().map(|i| i.node.span.shift(i.offset));
        let item = item
            .filter(|span| span.touches(offset))
            .find(|span| inside(&span));
        out.extend(brackets(text, at, item.unwrap_or(limit)));
    }
    out.retain(|span| span.touches(offset));
    out.sort_by_key(|span| (span.len(), span.start));
    let mut nested: Vec<Span> = Vec::new();
    for span in out {
        let grows = nested
            .last()
            .is_none_or(|last| span.start <= last.start && span.end >= last.end && span != *last);
        if grows {
            nested.push(span);
        }
    }
    nested
}

fn word(text: &str, at: usize) -> Span {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = text[..floor(text, at)].rfind(|c| !part(c)).map_or(0, |i| {
        i + text[i..].chars().next().map_or(1, char::len_utf8)
    });
    let from = floor(text, at);
    let end = text[from..]
        .find(|c| !part(c))
        .map_or(text.len(), |i| from + i);
    Span::new(start as u32, end as u32)
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What stands between the brackets around `at`, then with them, outwards up to `limit`.
fn brackets(text: &str, at: usize, limit: Span) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let (mut left, mut right) = (floor(text, at), floor(text, at));
    while let Some(open) = unmatched(bytes, left, limit.start as usize, false) {
        let Some(close) = unmatched(bytes, right, limit.end as usize, true) else {
            break;
        };
        out.push(Span::new(open as u32 + 1, close as u32));
        out.push(Span::new(open as u32, close as u32 + 1));
        (left, right) = (open, close + 1);
    }
    out
}

fn unmatched(bytes: &[u8], from: usize, limit: usize, forward: bool) -> Option<usize> {
    let mut depth = 0;
    let limit = limit.min(bytes.len());
    let mut step = |i: usize| -> bool {
        let opens = matches!(bytes[i], b'(' | b'[' | b'{');
        let closes = matches!(bytes[i], b')' | b']' | b'}');
        let (deeper, back) = if forward {
            (opens, closes)
        } else {
            (closes, opens)
        };
        if back && depth == 0 {
            return true;
        }
        depth += i32::from(deeper) - i32::from(back);
        false
    };
    if forward {
        (from..limit).find(|&i| step(i))
    } else {
        (limit..from).rev().find(|&i| step(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zonelens_syntax::ast::FileKind;

    #[test]
    fn selections_grow() {
        let text = "int a = f(b + (cc));\nint d;";
        let snapshot = Snapshot::open(
            "file:///m.xta".into(),
            FileKind::Xta,
            1,
            text,
            Arc::default(),
        );
        let found: Vec<&str> = spans(&snapshot, 15)
            .iter()
            .map(|s| &text[s.range()])
            .collect();
        assert_eq!(
            found,
            [
                "cc",
                "(cc)",
                "b + (cc)",
                "(b + (cc))",
                "f(b + (cc))",
                "a = f(b + (cc))",
                "int a = f(b + (cc));",
                text
            ]
        );
    }
}
