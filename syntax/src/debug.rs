//! The tree as text without positions, to compare files that differ in layout only.

use crate::SourceFile;
use std::fmt::Debug;

/// All items of a file, one a line, without spans. Comments, names, drawings and queries are in it.
pub fn ast_debug(file: &SourceFile) -> String {
    let mut out = String::new();
    for item in &file.items {
        out.push_str(&without_spans(&item.node));
        out.push('\n');
    }
    out
}

/// The `Debug` form of a node without spans (`@start..end`).
pub fn without_spans(node: &impl Debug) -> String {
    let text = format!("{node:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('@') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let length = span_length(&behind[1..]);
        if length == 0 {
            out.push('@');
        }
        rest = &behind[1 + length..];
    }
    out.push_str(rest);
    out
}

/// The length of `start..end` at the beginning of `text`, or 0.
fn span_length(text: &str) -> usize {
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let start = digits(text);
    let Some(behind) = text[start..].strip_prefix("..") else {
        return 0;
    };
    match (start, digits(behind)) {
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
