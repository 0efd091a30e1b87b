//! A line of a file with a part of it underlined, cut to what fits on a screen.

use super::Checked;
use crate::output::Palette;
use std::fmt;
use unicode_width::UnicodeWidthChar;
use zonelens_syntax::span::Span;

/// Characters of a line that are shown before the place.
const BEFORE: usize = 80;
/// Characters of a line that are shown from the place on.
const AFTER: usize = 80;
/// Columns of a tab.
const TAB: usize = 4;

/// A place in a file.
pub(super) struct Place<'a> {
    file: &'a Checked,
    span: std::ops::Range<usize>,
    line: u32,
    column: u32,
}

impl<'a> Place<'a> {
    /// The place of a span; one that leaves the text ends with it.
    pub(super) fn of(file: &'a Checked, span: Span) -> Place<'a> {
        let fit = |offset: u32| {
            let mut at = (offset as usize).min(file.text.len());
            while !file.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = fit(span.start);
        let at = file.lines.line_col(&file.text, start as u32);
        Place {
            file,
            span: start..fit(span.end).max(start),
            line: at.line,
            column: at.column,
        }
    }

    /// Its 1-based line.
    pub(super) fn line(&self) -> u32 {
        self.line
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.name, self.line, self.column)
    }
}

/// Writes the line of a place with its number in a margin of `width`, and the mark below it.
pub(super) fn write(
    out: &mut String,
    place: &Place<'_>,
    width: usize,
    palette: Palette,
    paint: impl Fn(&str) -> String,
) {
    let shown = window(&place.file.text, &place.span);
    let bar = palette.faint("│");
    let number = palette.faint(&format!("{:>1$} ", place.line, width - 1));
    let line = format!("{}{}{}", shown.before, paint(&shown.marked), shown.after);
    out.push_str(&format!("{number}{bar} {}\n", line.trim_end()));
    let margin = " ".repeat(width);
    let mark = "^".repeat(columns(&shown.marked).max(1));
    let indent = " ".repeat(columns(&shown.before));
    out.push_str(&format!("{margin}{bar} {indent}{}\n", paint(&mark)));
    let text = &place.file.text[place.span.clone()];
    let further = text.trim_end().matches('\n').count() as u32;
    if further > 0 {
        let last = place.line + further;
        out.push_str(&format!("{margin}{bar} … to line {last}\n"));
    }
}

/// A part of a line around the text that is marked.
struct Window {
    before: String,
    marked: String,
    after: String,
}

fn window(text: &str, span: &std::ops::Range<usize>) -> Window {
    let newline = |c: char| c == '\n' || c == '\r';
    let head = &text[..span.start];
    let head = &head[head.rfind(newline).map_or(0, |i| i + 1)..];
    let tail = &text[span.start..];
    let tail = &tail[..tail.find(newline).unwrap_or(tail.len())];
    let (marked, rest) = tail.split_at(span.len().min(tail.len()));
    // What stands before a place matters more when the line is long: it is what the place belongs to.
    let from = head.char_indices().rev().nth(BEFORE).map(|(i, _)| i);
    let before = match from {
        Some(i) => format!("…{}", visible(head[i..].chars().skip(1))),
        None => visible(head.chars()),
    };
    let cut = |part: &str, most: usize| -> (String, usize) {
        match part.char_indices().nth(most) {
            Some((at, _)) => (format!("{}…", visible(part[..at].chars())), most),
            None => (visible(part.chars()), part.chars().count()),
        }
    };
    let (marked, taken) = cut(marked, AFTER);
    let after = match marked.ends_with('…') && taken == AFTER {
        true => String::new(),
        false => cut(rest, AFTER - taken.min(AFTER)).0,
    };
    Window {
        before,
        marked,
        after,
    }
}

/// Text without what would move the cursor.
fn visible(chars: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for c in chars {
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', TAB)),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, span: std::ops::Range<usize>) -> (String, String, String) {
        let w = window(text, &span);
        (w.before, w.marked, w.after)
    }

    #[test]
    fn short_lines_are_whole() {
        let (before, marked, after) = parts("int a;\n\tbool é, b;\r\nint c;", 13..15);
        assert_eq!((&*before, &*marked, &*after), ("    bool ", "é", ", b;"));
        assert_eq!(parts("ab\ncd", 1..4).1, "b");
        assert_eq!(parts("", 0..0), Default::default());
        assert_eq!(columns("日本"), 4);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(100_000), "b".repeat(100_000));
        let (before, marked, after) = parts(&text, 100_000..100_004);
        assert!(before.starts_with("…aaa") && before.chars().count() <= BEFORE + 1);
        assert_eq!(marked, "HERE");
        assert!(after.ends_with("bbb…") && after.chars().count() <= AFTER + 1);
        let (_, marked, after) = parts(&text, 10..150_000);
        assert_eq!((marked.chars().count(), after.len()), (AFTER + 1, 0));
    }
}
