//! The outline of a document as the protocol writes it.
//!
//! A system of thousands of templates has a hundred thousand entries, so they are written as they
//! are walked through: without a value for each of them, and with lines looked up in their order.

use crate::to_proto::{Place, symbol_number};
use zonelens_ide::document_symbol::Symbol;
use zonelens_ide::lines::LineTable;
use zonelens_syntax::span::Span;

/// The answer to `textDocument/documentSymbol`.
pub(crate) fn to_json(place: Place<'_>, symbols: &[Symbol<'_>]) -> Vec<u8> {
    let mut writer = Writer {
        place,
        lines: place.snapshot.lines(),
        // An entry takes about so much.
        out: Vec::with_capacity(symbols.len() * 300),
    };
    writer.list(symbols, 0);
    writer.out
}

struct Writer<'a> {
    place: Place<'a>,
    lines: &'a LineTable,
    out: Vec<u8>,
}

impl Writer<'_> {
    /// Entries in order of the text, which do not start before `line`.
    fn list(&mut self, symbols: &[Symbol<'_>], mut line: u32) {
        self.out.push(b'[');
        for (k, symbol) in symbols.iter().enumerate() {
            if k > 0 {
                self.out.push(b',');
            }
            line = self.symbol(symbol, line);
        }
        self.out.push(b']');
    }

    /// An entry that probably does not start before `line`; gives the line that it starts on.
    fn symbol(&mut self, symbol: &Symbol<'_>, line: u32) -> u32 {
        self.put("{\"name\":");
        self.text(symbol.name);
        self.put(",\"detail\":");
        self.text(symbol.detail);
        self.put(",\"kind\":");
        self.number(symbol_number(symbol.kind));
        self.put(",\"range\":");
        let start = self.range(symbol.full, line);
        self.put(",\"selectionRange\":");
        self.range(symbol.name_span, start);
        if !symbol.children.is_empty() {
            self.put(",\"children\":");
            self.list(&symbol.children, start);
        }
        self.out.push(b'}');
        start
    }

    fn range(&mut self, span: Span, line: u32) -> u32 {
        self.put("{\"start\":");
        let start = self.position(span.start, line);
        self.put(",\"end\":");
        self.position(span.end, start);
        self.out.push(b'}');
        start
    }

    fn position(&mut self, offset: u32, line: u32) -> u32 {
        let (line, character) = match self.lines.ascii_position_from(line, offset) {
            Some(found) => found,
            None => {
                let at = self.place.position(offset);
                (at.line, at.character)
            }
        };
        self.put("{\"line\":");
        self.number(line);
        self.put(",\"character\":");
        self.number(character);
        self.out.push(b'}');
        line
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, mut number: u32) {
        let mut digits = [0; 10];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.out.extend_from_slice(&digits[first..]);
    }

    fn text(&mut self, text: &str) {
        let plain = |b: u8| b >= 0x20 && b != b'"' && b != b'\\';
        if text.bytes().all(plain) {
            self.out.push(b'"');
            self.put(text);
            self.out.push(b'"');
        } else if serde_json::to_writer(&mut self.out, text).is_err() {
            // Writing into memory cannot fail; an empty name is still an answer.
            self.put("\"\"");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Encoding;
    use serde_json::{Value, json};
    use std::sync::Arc;
    use zonelens_ide::Snapshot;
    use zonelens_syntax::ast::FileKind;

    #[test]
    fn entries_are_written_as_the_protocol_wants_them() {
        let text = "é\nint a;\n\"x\\\ny\"𝄞b\nend";
        let snapshot = Arc::new(Snapshot::open(
            "file:///m.xta".into(),
            FileKind::Xta,
            1,
            text,
            Arc::default(),
        ));
        let place = Place {
            snapshot: &snapshot,
            encoding: Encoding::Utf16,
        };
        let symbol = |part: &'static str, children| {
            let at = text.find(part).expect("there") as u32;
            let span = Span::new(at, at + part.len() as u32);
            Symbol {
                name: part,
                detail: "say \"é\"\n",
                kind: None,
                full: span,
                name_span: span,
                children,
            }
        };
        // Also an entry that starts before the one that comes first.
        let list = [
            symbol("\"x\\\ny\"𝄞b", vec![symbol("y", Vec::new())]),
            symbol("int a;", Vec::new()),
            symbol("end", Vec::new()),
        ];
        let read: Value = serde_json::from_slice(&to_json(place, &list)).expect("JSON");
        let expected = |symbol: &Symbol<'_>| {
            let range = json!(place.range(symbol.full));
            json!({
                "name": symbol.name, "detail": symbol.detail, "kind": symbol_number(None),
                "range": range, "selectionRange": range,
            })
        };
        let mut wanted: Vec<Value> = list.iter().map(expected).collect();
        wanted[0]["children"] = json!([expected(&list[0].children[0])]);
        assert_eq!(read, json!(wanted));
        for number in [0, 9, 10, 4_294_967_295] {
            let mut writer = Writer {
                place,
                lines: snapshot.lines(),
                out: Vec::new(),
            };
            writer.number(number);
            assert_eq!(writer.out, number.to_string().as_bytes());
        }
    }
}
