//! Formatting of documents and of ranges.
//!
//! The formatter moves white space only, so old and new text are the same but for the gaps between
//! their characters: each gap that differs is one edit, and cursors elsewhere stay where they are.

use crate::snapshot::Snapshot;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};
use zonelens_syntax::span::{Span, TextEdit};

/// The edits that format a document, or the part of it that touches `range`: none when it is
/// formatted, `None` when it cannot be. Text with syntax errors and XML stay as they are.
pub fn format_document(
    snapshot: &Snapshot,
    options: FormatOptions,
    range: Option<Span>,
) -> Option<Vec<TextEdit>> {
    let file = snapshot.file();
    if file.kind == FileKind::Xml || !file.errors().is_empty() {
        return None;
    }
    let mut edits = gaps(&file.text, &format(file, options))?;
    if let Some(range) = range {
        edits.retain(|e| e.span.start <= range.end && range.start <= e.span.end);
    }
    Some(edits)
}

/// One edit per gap of white space that differs; `None` if more than white space does.
fn gaps(old: &str, new: &str) -> Option<Vec<TextEdit>> {
    let mut out = Vec::new();
    let (mut at, mut to) = (0, 0);
    loop {
        let gap = |text: &str, from: usize| {
            let rest = &text[from..];
            rest.len() - rest.trim_start().len()
        };
        let (before, after) = (gap(old, at), gap(new, to));
        if old[at..at + before] != new[to..to + after] {
            out.push(TextEdit {
                span: Span::new(at as u32, (at + before) as u32),
                text: new[to..to + after].to_owned(),
            });
        }
        (at, to) = (at + before, to + after);
        match (old[at..].chars().next(), new[to..].chars().next()) {
            (None, None) => return Some(out),
            (Some(a), Some(b)) if a == b => {
                at += a.len_utf8();
                to += b.len_utf8();
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_is_an_edit() {
        for (old, new) in [
            ("", ""),
            ("aéb", "a éb\n"),
            ("a  b", "a b"),
            ("x ;y", "x; y"),
            ("  a", "a"),
        ] {
            let mut text = old.to_owned();
            let edits = gaps(old, new).expect("only blanks differ");
            for edit in edits.iter().rev() {
                text.replace_range(edit.span.range(), &edit.text);
            }
            assert_eq!(text, new);
        }
        assert_eq!(gaps("a", "b"), None);
    }
}
