//! The formatter for `.xta` and `.q`.
//!
//! It only changes white space: the tokens and comments of an item keep their order, so the meaning
//! cannot change and no comment can be lost. Items with syntax errors are left unchanged.
//! Everything that the layout depends on (the length of a line, and a few of the author's line
//! breaks that are kept) survives formatting, so formatting twice changes nothing.

mod line;
mod query;
mod structure;

use crate::ast::{FileKind, Item, ItemKind, Placed};
use crate::lexer::{Mode, Tokens};
use crate::source::{SourceFile, members};
use crate::token::TokenKind as K;

/// Settings of the formatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// Lines that would be longer are broken if possible.
    pub width: usize,
    /// Number of blanks per indentation level.
    pub indent: usize,
}

impl Default for FormatOptions {
    fn default() -> FormatOptions {
        FormatOptions {
            width: 100,
            indent: 4,
        }
    }
}

/// A token or comment with the line breaks before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub kind: K,
    pub text: &'a str,
    /// Number of line breaks between the previous token and this one.
    pub breaks: usize,
}

/// Formats a whole file. XML files are returned unchanged.
pub fn format(file: &SourceFile, options: FormatOptions) -> String {
    let formatted = match file.kind {
        FileKind::Xml => return file.text.to_string(),
        FileKind::Query => query::format(file),
        FileKind::Xta => format_items(file, &file.items, options),
    };
    match ends_lines_with_return(&file.text) {
        true => formatted.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => formatted,
    }
}

/// Whether the first line, and so by custom every line, ends with a carriage return.
fn ends_lines_with_return(text: &str) -> bool {
    let first = text.find('\n');
    first.is_some_and(|end| text[..end].ends_with('\r'))
}

/// Formats consecutive items of an `.xta` file.
pub fn format_items(file: &SourceFile, items: &[Placed<Item>], options: FormatOptions) -> String {
    let mut out = String::new();
    let mut before: Option<bool> = None;
    for item in items {
        let text = file.slice(item.span());
        let words = words(text);
        let Some(first) = words.first() else { continue };
        let big = matches!(item.node.kind, ItemKind::Process(_) | ItemKind::Function(_));
        let blank = first.breaks > 1 || (before.is_some() && (big || before == Some(true)));
        if blank && !out.is_empty() {
            out.push('\n');
        }
        let broken =
            !item.node.errors.is_empty() || members(item).iter().any(|m| !m.node.errors.is_empty());
        if broken {
            out.push_str(text.trim());
            out.push('\n');
        } else {
            out.push_str(&structure::item(&words, options));
        }
        before = Some(big);
    }
    out
}

/// The tokens and comments of a text.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    words_in(text, Mode::Model)
}

pub(crate) fn words_in(text: &str, mode: Mode) -> Vec<Word<'_>> {
    let mut end = 0;
    Tokens::new(text, 0, mode)
        .map(|t| {
            let breaks = line_breaks(&text[end..t.start as usize]);
            end = t.end as usize;
            let text = &text[t.start as usize..t.end as usize];
            let text = if t.kind == K::LineComment {
                text.trim_end()
            } else {
                text
            };
            Word {
                kind: t.kind,
                text,
                breaks,
            }
        })
        .collect()
}

/// Counts the line ends in white space; `\r
/// ` is one.
fn line_breaks(blank: &str) -> usize {
    let bytes = blank.as_bytes();
    (0..bytes.len())
        .filter(|&i| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n')))
        .count()
}
