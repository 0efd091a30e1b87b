//! Positions and the text around them, as `annotate-snippets` draws it.
//!
//! The crate visits every character of the text it gets, so it gets only the lines of the position
//! and, of a long line, only the part near it. It then cannot know the column, so positions are
//! written by [`Place::origin`].

use super::Checked;
use crate::output;
use annotate_snippets::{Annotation, AnnotationKind, Origin, Snippet};
use std::fmt;
use std::ops::Range;
use zonelens_syntax::span::Span;

/// The number of columns without a terminal.
const USUAL_WIDTH: usize = 140;
/// The narrowest and the widest terminal that excerpts are made for.
const WIDTHS: (usize, usize) = (40, 200);
/// The number of characters of a line that are passed on before a position, after it, and at either
/// end of a long one. It is larger than the number of columns of the widest terminal, so that the
/// crate marks the cut. A position that was shortened must still be so long that the crate leaves
/// out its middle: it does so above twice the width.
const NEAR: usize = 250;
/// A position of several lines with more bytes than this is marked only on its first line.
const LARGEST: usize = 20_000;

/// The number of columns to draw in, for a terminal of this width.
pub(super) fn width(terminal: Option<usize>) -> usize {
    terminal.unwrap_or(USUAL_WIDTH).clamp(WIDTHS.0, WIDTHS.1)
}

/// A position in a file.
pub(super) struct Place<'a> {
    file: &'a Checked,
    span: Range<usize>,
    line: u32,
    column: u32,
}

impl<'a> Place<'a> {
    /// The position of a span; a span beyond the text ends with the text.
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

    /// `file:line:column`
    pub(super) fn origin(&self) -> Origin<'a> {
        Origin::path(output::one_line(&self.file.name))
            .line(self.line as usize)
            .char_column(self.column as usize)
    }

    /// The marked text, for a terminal with this number of columns.
    pub(super) fn snippet(&self, width: usize) -> Snippet<'a, Annotation<'a>> {
        let excerpt = self.excerpt(width);
        let mark = AnnotationKind::Primary.span(excerpt.marked);
        let label = excerpt.last.map(|line| format!("… to line {line}"));
        Snippet::source(excerpt.text)
            .line_start(self.line as usize)
            .annotation(mark.label(label))
    }

    fn excerpt(&self, width: usize) -> Excerpt {
        let text = &self.file.text;
        // Blanks at the end of a position are not worth a separate line.
        let end = self.span.start + text[self.span.clone()].trim_end().len();
        let last = self.file.lines.line(end as u32);
        let lines = || (self.line..=last).map(|line| self.line_of(line));
        if last > self.line
            && end - self.span.start <= LARGEST
            && lines().all(|line| line.len() + 10 <= width)
        {
            return whole(text, self.span.start..end, lines());
        }
        let line = self.line_of(self.line);
        // The last character of a line may be followed by a line break, which is not part of any
        // line.
        let start = self.span.start.min(line.end);
        let end = self.span.end.clamp(start, line.end);
        let mut excerpt = cut(
            &text[line.start..start],
            &text[start..end],
            &text[end..line.end],
        );
        excerpt.last = (last > self.line).then_some(last);
        excerpt
    }

    /// The range of a line (counted from 1), without its line break.
    fn line_of(&self, line: u32) -> Range<usize> {
        let (text, lines) = (&self.file.text, &self.file.lines);
        let start = lines
            .line_start(line - 1)
            .map_or(text.len(), |s| s as usize);
        let end = lines.line_start(line).map_or(text.len(), |s| s as usize);
        start..start + text[start..end].trim_end_matches(['\r', '\n']).len()
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = output::one_line(&self.file.name);
        write!(f, "{name}:{}:{}", self.line, self.column)
    }
}

/// A part of a text.
#[derive(Debug, PartialEq)]
struct Excerpt {
    text: String,
    marked: Range<usize>,
    /// The last line of the position, if not all of its lines are included.
    last: Option<u32>,
}

/// All of these lines, with uniform line breaks.
fn whole(text: &str, span: Range<usize>, lines: impl Iterator<Item = Range<usize>>) -> Excerpt {
    let mut out = String::new();
    let mut marked = None;
    let mut end = 0;
    for (i, line) in lines.enumerate() {
        if i > 0 {
            out.push('\n');
        }
        for (at, c) in text[line.clone()].char_indices() {
            if line.start + at >= span.start {
                marked.get_or_insert(out.len());
            }
            out.push(visible(c));
            if line.start + at < span.end {
                end = out.len();
            }
        }
    }
    let start = marked.unwrap_or(end).min(end);
    Excerpt {
        text: out,
        marked: start..end,
        last: None,
    }
}

/// The text near the marked part of a line.
fn cut(before: &str, marked: &str, after: &str) -> Excerpt {
    let head = |part: &str| -> String { part.chars().take(NEAR).map(visible).collect() };
    let tail = |part: &str| -> String {
        let from = part.char_indices().rev().nth(NEAR - 1);
        part[from.map_or(0, |(at, _)| at)..]
            .chars()
            .map(visible)
            .collect()
    };
    let mut text = tail(before);
    let start = text.len();
    match marked.char_indices().nth(2 * NEAR) {
        Some(_) => text.extend([head(marked), "…".to_owned(), tail(marked)]),
        None => text.extend(marked.chars().map(visible)),
    }
    let end = text.len();
    text.push_str(&head(after));
    Excerpt {
        text,
        marked: start..end,
        last: None,
    }
}

/// Replaces control characters that the crate does not replace itself; `U+009B` begins a terminal
/// command.
fn visible(c: char) -> char {
    match c {
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annotate_snippets::{Group, Level, Renderer};
    use zonelens_syntax::span::LineIndex;

    fn file(text: &str) -> Checked {
        Checked {
            name: "m.xta".to_owned(),
            text: text.to_owned(),
            lines: LineIndex::new(text),
            diagnostics: Vec::new(),
            foreign: false,
        }
    }

    fn drawn(file: &Checked, span: Range<usize>, width: usize) -> String {
        let at = Place::of(file, Span::new(span.start as u32, span.end as u32));
        let group = Group::with_level(Level::ERROR).element(at.snippet(width));
        Renderer::plain().term_width(width).render(&[group])
    }

    #[test]
    fn places_over_several_lines() {
        let text = "a {\r\n  b\rc\n}\nd";
        let all = drawn(&file(text), 2..text.len() - 2, 80);
        for part in ["1 |   a {", "2 | |   b", "3 | | c", "4 | | }"] {
            assert!(all.contains(part), "{all}");
        }
        // A line that does not fit: the end of the position is given on the first one.
        let long = format!("a {{\n{}\n}}", "b".repeat(100));
        let first = drawn(&file(&long), 2..long.len(), 80);
        assert!(first.contains("^ … to line 3"), "{first}");
        assert_eq!(first.lines().count(), 3, "{first}");
        // Blanks after a position do not add lines to it.
        let blank = drawn(&file("a\n\n\n"), 0..4, 80);
        assert!(!blank.contains("line") && blank.ends_with(" ^"), "{blank}");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(100_000), "b".repeat(100_000));
        let long = file(&text);
        let at = Place::of(&long, Span::new(100_000, 100_004)).excerpt(80);
        assert_eq!(at.text.len(), 2 * NEAR + 4);
        assert_eq!(&at.text[at.marked], "HERE");
        for width in [WIDTHS.0, 80, WIDTHS.1] {
            let cut = drawn(&long, 100_000..100_004, width);
            assert!(
                cut.contains("1 | ...aaa") && cut.contains("bbb..."),
                "{cut}"
            );
            assert!(cut.lines().all(|l| l.chars().count() <= width), "{cut}");
            // A long position keeps both ends.
            let cut = drawn(&long, 10..150_000, width);
            assert!(
                cut.contains("aaa...bbb") && cut.contains("^^^...^^^"),
                "{cut}"
            );
            // In narrow terminals, the marks that the crate adds for omitted text need additional
            // columns.
            assert!(cut.lines().all(|l| l.chars().count() <= width + 4), "{cut}");
        }
    }

    #[test]
    fn every_span_of_strange_text_can_be_drawn() {
        let parts = [
            "",
            "\t",
            "日e\u{301}",
            "\r",
            "\n",
            "\r\n",
            "\u{9b}\u{1b}",
            "\u{200d}x",
        ];
        for a in parts {
            for b in parts {
                let wide = "日x".repeat(150);
                for text in [format!("{a}{b}{a}x"), format!("{b}{wide}{a}{wide}{b}")] {
                    let file = file(&text);
                    let step = text.len() / 20 + 1;
                    for start in (0..=text.len() + 1).step_by(step) {
                        for end in (start..=text.len() + 1).step_by(step) {
                            let out = drawn(&file, start..end, WIDTHS.0);
                            assert!(out.contains('^'), "{text:?} {start} {end}: {out}");
                            let raw = |c: char| c.is_control() && c != '\n';
                            assert!(!out.contains(raw), "{text:?} {start} {end}: {out:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn widths() {
        assert_eq!((width(None), width(Some(100))), (USUAL_WIDTH, 100));
        assert_eq!((width(Some(0)), width(Some(9999))), WIDTHS);
    }
}
