//! Byte ranges, edits and line tables.
//!
//! Spans inside the tree are relative to the nearest enclosing [`Placed`](crate::ast::Placed) node,
//! so that an edit elsewhere in the file moves a node by changing one number.

use std::fmt;

/// A half-open byte range. Its `Debug` form is `@start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The start of the text: where a finding about the whole of it is shown.
    pub const START: Span = Span::new(0, 0);

    /// A span from `start` to `end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest span that contains both.
    pub fn cover(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The span moved right by `base`: converts from node-relative to parent-relative or absolute.
    pub const fn shift(self, base: u32) -> Span {
        Span::new(self.start + base, self.end + base)
    }

    /// Number of bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span is empty.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies inside the span or at either end.
    pub const fn touches(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// The span as a range for slicing text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}..{}", self.start, self.end)
    }
}

/// An edit that replaces the bytes of `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The replaced range, in the text before the edit.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// A 1-based position for messages: columns count Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineCol {
    /// 1-based line.
    pub line: u32,
    /// 1-based column in Unicode scalar values.
    pub column: u32,
}

/// The line starts of a text. `
/// `, `\r
/// ` and a lone `\r` end a line, as in the language server protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Builds the index in one pass over `text`.
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, &b) in bytes.iter().enumerate() {
            let ends = b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
            if ends {
                starts.push(i as u32 + 1);
            }
        }
        LineIndex { starts }
    }

    /// The position of byte `offset` in `text`, which must be the text the index was built from.
    /// Offsets past the end or inside a character are clamped.
    pub fn line_col(&self, text: &str, offset: u32) -> LineCol {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&s| s as usize <= offset) - 1;
        let start = self.starts[line] as usize;
        let column = text[start..offset].chars().count() as u32 + 1;
        LineCol {
            line: line as u32 + 1,
            column,
        }
    }

    /// The 1-based line of byte `offset`; cheaper than [`LineIndex::line_col`].
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&s| s <= offset) as u32
    }

    /// Byte offset of the start of 0-based `line`; `None` past the end.
    pub fn line_start(&self, line: u32) -> Option<u32> {
        self.starts.get(line as usize).copied()
    }

    /// Number of lines, counting the last one even when it is empty.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_lf_crlf_and_cr() {
        let text = "a\nb\r\nc\rdé!";
        let index = LineIndex::new(text);
        assert_eq!(index.lines(), 4);
        let at = |needle: &str| index.line_col(text, text.find(needle).unwrap() as u32);
        assert_eq!(at("b"), LineCol { line: 2, column: 1 });
        assert_eq!(at("c"), LineCol { line: 3, column: 1 });
        assert_eq!(at("!"), LineCol { line: 4, column: 3 });
        assert_eq!(index.line_col(text, 9999), LineCol { line: 4, column: 4 });
    }
}
