//! Formatting of whole documents.

use crate::document::Snapshot;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};
use zonelens_syntax::span::{Span, TextEdit};

/// The edits that format a document: none when it is formatted, `None` when it cannot be. Text with syntax errors and
/// XML stay as they are.
pub fn format_document(snapshot: &Snapshot) -> Option<Vec<TextEdit>> {
    let file = snapshot.file();
    if file.kind == FileKind::Xml || !file.errors().is_empty() {
        return None;
    }
    let new = format(file, FormatOptions::default());
    Some(difference(&file.text, &new))
}

/// One edit of what lies between the common start and the common end, so that cursors elsewhere stay.
fn difference(old: &str, new: &str) -> Vec<TextEdit> {
    if old == new {
        return Vec::new();
    }
    let mut start = old
        .bytes()
        .zip(new.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let rest = (old.len() - start).min(new.len() - start);
    let mut tail = old
        .bytes()
        .rev()
        .zip(new.bytes().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
        tail -= 1;
    }
    vec![TextEdit {
        span: Span::new(start as u32, (old.len() - tail) as u32),
        text: new[start..new.len() - tail].to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edit_is_small_and_right() {
        for (old, new) in [
            ("", "a"),
            ("aéb", "aèb"),
            ("aaa", "aa"),
            ("ab", "ab"),
            ("x  y", "x y"),
        ] {
            let mut text = old.to_owned();
            for edit in difference(old, new) {
                text.replace_range(edit.span.range(), &edit.text);
            }
            assert_eq!(text, new);
        }
        assert_eq!(difference("int  a;", "int a;")[0].span.len(), 1);
    }
}
