//! Positions as editors count them, to and from byte offsets.

use ropey::Rope;
use zonelens_ide::lines::LineTable;
use zonelens_syntax::span::Span;

/// What a column counts, as agreed with the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: what every client knows.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// A 0-based line and column in the agreed encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    /// 0-based line.
    pub line: u32,
    /// 0-based column.
    pub column: u32,
}

/// The byte offset of `point`. Lines past the end are the end, columns past the end of a line are
/// its end, and a column inside a character is the start of that character.
pub(crate) fn offset(rope: &Rope, point: Point, encoding: Encoding) -> u32 {
    let line = point.line as usize;
    if line >= rope.len_lines() {
        return rope.len_bytes() as u32;
    }
    let start = rope.line_to_byte(line);
    let content = rope.line(line);
    let mut length = content.len_chars();
    while length > 0 && matches!(content.char(length - 1), '\n' | '\r') {
        length -= 1;
    }
    let column = point.column as usize;
    let chars = match encoding {
        Encoding::Utf32 => column.min(length),
        Encoding::Utf16 => {
            let units = content.char_to_utf16_cu(length);
            content.utf16_cu_to_char(column.min(units)).min(length)
        }
        Encoding::Utf8 => {
            let bytes = content.char_to_byte(length);
            content.byte_to_char(column.min(bytes)).min(length)
        }
    };
    (start + content.char_to_byte(chars)) as u32
}

/// The position of a byte; offsets past the end are the end, inside a character its start.
pub(crate) fn point(rope: &Rope, offset: u32, encoding: Encoding) -> Point {
    let offset = (offset as usize).min(rope.len_bytes());
    let char_index = rope.byte_to_char(offset);
    let line = rope.char_to_line(char_index);
    let line_start = rope.line_to_char(line);
    let column = match encoding {
        Encoding::Utf32 => char_index - line_start,
        Encoding::Utf16 => rope.char_to_utf16_cu(char_index) - rope.char_to_utf16_cu(line_start),
        Encoding::Utf8 => rope.char_to_byte(char_index) - rope.char_to_byte(line_start),
    };
    Point {
        line: line as u32,
        column: column as u32,
    }
}

/// As [`point`], by the table of the rope's lines.
pub(crate) fn point_by(table: &LineTable, rope: &Rope, offset: u32, encoding: Encoding) -> Point {
    match table.ascii_position(offset) {
        Some((line, column)) => Point { line, column },
        None => point(rope, offset, encoding),
    }
}

/// The span between two positions, in order even if the client mixed them up.
pub(crate) fn span(rope: &Rope, start: Point, end: Point, encoding: Encoding) -> Span {
    let (a, b) = (offset(rope, start, encoding), offset(rope, end, encoding));
    Span::new(a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé𝄞b\r\nx\rlast";

    #[test]
    fn every_character_goes_there_and_back_in_every_encoding() {
        let rope = Rope::from_str(TEXT);
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (at, c) in TEXT.char_indices() {
                if matches!(c, '\r' | '\n') {
                    continue;
                }
                let there = point(&rope, at as u32, encoding);
                assert_eq!(
                    offset(&rope, there, encoding),
                    at as u32,
                    "{encoding:?} {at}"
                );
            }
        }
    }

    #[test]
    fn a_table_says_what_the_rope_says() {
        for text in [
            TEXT,
            "",
            "\n",
            "a\r\nb\n\nc\r",
            "int é;\nint a;\n",
            "𝄞\n\n𝄞",
        ] {
            let rope = Rope::from_str(text);
            let table = LineTable::new(text);
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                for at in 0..text.len() as u32 + 3 {
                    let (a, b) = (
                        point_by(&table, &rope, at, encoding),
                        point(&rope, at, encoding),
                    );
                    assert_eq!(a, b, "{text:?} {at} {encoding:?}");
                }
            }
        }
    }

    #[test]
    fn columns_count_what_was_agreed() {
        let rope = Rope::from_str(TEXT);
        let b = TEXT.find('b').unwrap_or(0) as u32;
        assert_eq!(point(&rope, b, Encoding::Utf8).column, 7);
        assert_eq!(point(&rope, b, Encoding::Utf16).column, 4);
        assert_eq!(point(&rope, b, Encoding::Utf32).column, 3);
        let last = TEXT.find("last").unwrap_or(0) as u32;
        assert_eq!(
            point(&rope, last, Encoding::Utf16),
            Point { line: 2, column: 0 }
        );
    }

    #[test]
    fn wild_positions_are_clamped() {
        let rope = Rope::from_str(TEXT);
        let at = |line, column| offset(&rope, Point { line, column }, Encoding::Utf16);
        assert_eq!(at(0, 999), TEXT.find('\r').unwrap_or(0) as u32);
        assert_eq!(at(999, 0), TEXT.len() as u32);
        assert_eq!(
            at(0, 3),
            TEXT.find('𝄞').unwrap_or(0) as u32,
            "half a surrogate pair"
        );
        assert_eq!(point(&rope, 9999, Encoding::Utf16).line, 2);
        assert_eq!(
            offset(&Rope::new(), Point { line: 0, column: 5 }, Encoding::Utf8),
            0
        );
    }
}
