//! Where lines start, for many positions of one text.

use zonelens_syntax::span::Span;

/// Where lines start. Looking each position up in the rope costs a microsecond, which adds up for a
/// hundred thousand tokens.
pub struct LineTable {
    starts: Vec<u32>,
    /// Whether a line is ASCII, so that a column is the same number in every encoding.
    ascii: Vec<bool>,
    len: u32,
}

/// Lines that are examined one by one before a search.
const NEAR: usize = 16;

impl LineTable {
    /// The table of a text. Lines end as in the protocol: with a line feed, a carriage return, or
    /// both.
    pub fn new(text: &str) -> LineTable {
        let bytes = text.as_bytes();
        let mut table = LineTable {
            starts: vec![0],
            ascii: Vec::new(),
            len: bytes.len() as u32,
        };
        let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let mut start = 0;
        while let Some(end) = bytes[start..].iter().position(ends) {
            let end = start + end;
            let both = bytes[end..].starts_with(b"\r\n");
            table.ascii.push(bytes[start..end].is_ascii());
            start = end + 1 + usize::from(both);
            table.starts.push(start as u32);
        }
        table.ascii.push(bytes[start..].is_ascii());
        table
    }

    /// The 0-based line of a byte; offsets past the end are on the last line.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|s| *s <= offset).max(1) as u32 - 1
    }

    /// The 0-based line and column of a byte of the text, if its line is ASCII.
    pub fn ascii_position(&self, offset: u32) -> Option<(u32, u32)> {
        let line = self.line(offset);
        let known = self.ascii.get(line as usize) == Some(&true) && offset <= self.len;
        known.then(|| Some((line, offset - self.starts.get(line as usize)?)))?
    }

    /// As [`LineTable::ascii_position`], quick for a byte that is on `line` or soon after it.
    pub fn ascii_position_from(&self, line: u32, offset: u32) -> Option<(u32, u32)> {
        let begins = self.starts.get(line as usize)?;
        if *begins > offset {
            return self.ascii_position(offset);
        }
        // Far away it is searched for: a template may have thousands of lines.
        let near = self.starts.get(line as usize + 1..)?;
        let near = near.iter().take(NEAR).take_while(|start| **start <= offset);
        let steps = near.count();
        if steps == NEAR {
            return self.ascii_position(offset);
        }
        let found = line as usize + steps;
        let known = *self.ascii.get(found)? && offset <= self.len;
        known.then(|| Some((found as u32, offset - self.starts.get(found)?)))?
    }

    /// The line of a byte that is not before `line`: quick when bytes are looked up in their order.
    pub fn line_from(&self, line: u32, offset: u32) -> u32 {
        let later = self.starts.get(line as usize + 1..).unwrap_or_default();
        line + later.iter().take_while(|start| **start <= offset).count() as u32
    }

    /// The column and the length of a span on `line`, if that line is ASCII and the span ends on
    /// it.
    pub fn ascii_columns(&self, line: u32, span: Span) -> Option<(u32, u32)> {
        let line = line as usize;
        let inside = match self.starts.get(line + 1) {
            Some(next) => span.end < *next,
            None => span.end <= self.len,
        };
        let start = self
            .starts
            .get(line)
            .filter(|_| inside && self.ascii[line])?;
        Some((span.start.checked_sub(*start)?, span.len()))
    }
}
