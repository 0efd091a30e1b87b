//! The tree as text without positions, to compare files that differ only in layout.

use crate::SourceFile;
use std::fmt::Debug;

/// Prints all items of a file, one per line, without spans. Comments, names, graphics and queries
/// are included.
pub fn ast_debug(file: &SourceFile) -> String {
    let mut out = String::new();
    for item in &file.items {
        out.push_str(&without_spans(&item.node));
        out.push('\n');
    }
    out
}

/// The `Debug` output of a node without spans (`@start..end`).
pub fn without_spans(node: &impl Debug) -> String {
    let text = format!("{node:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('@') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let length = span_length(&tail[1..]);
        if length == 0 {
            out.push('@');
        }
        rest = &tail[1 + length..];
    }
    out.push_str(rest);
    out
}

/// The length of `start..end` at the beginning of `text`, or 0.
fn span_length(text: &str) -> usize {
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let start = digits(text);
    let Some(tail) = text[start..].strip_prefix("..") else {
        return 0;
    };
    match (start, digits(tail)) {
        (0, _) | (_, 0) => 0,
        (start, end) => start + 2 + end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    #[test]
    fn spans_go_other_signs_stay() {
        assert_eq!(without_spans(&Span::new(3, 17)), "");
        assert_eq!(without_spans(&"//@ query a@1..b"), "\"//@ query a@1..b\"");
    }
}
