//! Entry points for fuzzers: each function takes arbitrary bytes and panics only if the crate
//! breaks a guarantee.
//!
//! Used by `cargo fuzz` (folder `fuzz/`), by `cargo xtask fuzz` and, for a short fixed run, by the
//! tests.

use crate::ast::FileKind;
use crate::format::{FormatOptions, format};
use crate::lexer::{Mode, lex};
use crate::source::SourceFile;
use crate::span::{Span, TextEdit};

/// Checks that tokens are in order, do not overlap, and begin and end on character boundaries.
pub fn lexer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for mode in [Mode::Model, Mode::Query] {
        let mut end = 0;
        for token in lex(&text, mode) {
            assert!(
                token.start >= end && token.end > token.start,
                "tokens overlap"
            );
            assert!(
                text.is_char_boundary(token.start as usize)
                    && text.is_char_boundary(token.end as usize)
            );
            end = token.end;
        }
        assert!(end as usize <= text.len());
    }
}

/// Checks that parsing ends, items cover the text, errors lie inside it, and formatting an
/// error-free file is idempotent.
pub fn parser(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for kind in [FileKind::Xta, FileKind::Query] {
        let file = SourceFile::parse(&*text, kind);
        let mut end = 0;
        for item in &file.items {
            assert_eq!(item.offset, end, "items leave a gap");
            end = item.offset + item.len;
        }
        assert_eq!(end as usize, text.len());
        check_errors(&file);
        if file.errors().is_empty() {
            let once = format(&file, FormatOptions::default());
            let twice = format(
                &SourceFile::parse(once.as_str(), kind),
                FormatOptions::default(),
            );
            assert_eq!(once, twice, "formatting is not idempotent");
        }
    }
}

/// Checks that reading XML ends, errors lie inside the text, and a file converted to `.xta` parses
/// without errors.
pub fn xml(data: &[u8]) {
    let file = SourceFile::parse(&*String::from_utf8_lossy(data), FileKind::Xml);
    check_errors(&file);
    if let Ok(xta) = crate::convert::to_xta(&file) {
        let errors = SourceFile::parse(xta, FileKind::Xta).errors();
        assert!(
            errors.iter().all(|e| !e.code.starts_with("syntax/")),
            "{errors:?}"
        );
    }
}

/// Checks that an edit, taken from the first bytes, yields the same file incrementally and from
/// scratch.
pub fn reparse(data: &[u8]) {
    let Some((&[kind, a, b, len], rest)) = data.split_first_chunk::<4>() else {
        return;
    };
    let kind = [FileKind::Xta, FileKind::Xml, FileKind::Query][kind as usize % 3];
    let text = String::from_utf8_lossy(rest).into_owned();
    let at = |n: u8| text.len() * n as usize / 256;
    let boundary = |mut i: usize| {
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i as u32
    };
    let start = boundary(at(a));
    let end = boundary((start as usize + len as usize % 16).min(text.len())).max(start);
    let from = boundary(at(b));
    let until = boundary((from as usize + len as usize / 8).min(text.len())).max(from);
    let edit = TextEdit {
        span: Span::new(start, end),
        text: text[from as usize..until as usize].to_owned(),
    };
    let edited = SourceFile::parse(text.as_str(), kind).reparse(&edit);
    let full = SourceFile::parse(edited.text.clone(), kind);
    if edited != full {
        let at = edited
            .items
            .iter()
            .zip(&full.items)
            .position(|(a, b)| a != b);
        let show = |f: &SourceFile| at.map(|i| format!("{:?}", f.items[i])).unwrap_or_default();
        panic!(
            "reparse differs from parse\n{edit:?}\n{}\n{}\n{text:?}",
            show(&edited),
            show(&full)
        );
    }
}

fn check_errors(file: &SourceFile) {
    for e in file.errors() {
        assert!(
            e.span.start <= e.span.end && e.span.end as usize <= file.text.len(),
            "{e:?}"
        );
        assert!(!e.message.is_empty() && e.code.contains('/'));
    }
}
