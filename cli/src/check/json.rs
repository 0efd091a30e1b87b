//! One line of JSON per diagnostic: a contract that scripts rely on.

use super::Checked;
use crate::output::Stream;
use serde::Serialize;
use zonelens_syntax::span::Span;

#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    start: Position,
    end: Position,
    related: Vec<RelatedEntry<'a>>,
    fixes: Vec<FixEntry<'a>>,
}

#[derive(Serialize)]
struct RelatedEntry<'a> {
    file: &'a str,
    start: Position,
    end: Position,
    message: &'a str,
}

#[derive(Serialize)]
struct FixEntry<'a> {
    title: &'a str,
    edits: Vec<EditEntry<'a>>,
    /// Whether `--fix` applies it.
    safe: bool,
}

#[derive(Serialize)]
struct EditEntry<'a> {
    start: Position,
    end: Position,
    text: &'a str,
}

/// A position, counted from 1; columns are Unicode scalar values.
#[derive(Serialize)]
pub(super) struct Position {
    pub line: u32,
    pub column: u32,
}

/// Both ends of a span.
pub(super) fn ends(file: &Checked, span: Span) -> (Position, Position) {
    let at = |offset| {
        let p = file.lines.line_col(&file.text, offset);
        Position {
            line: p.line,
            column: p.column,
        }
    };
    (at(span.start), at(span.end))
}

pub(super) fn write(files: &[Checked], stream: Stream) {
    for file in files {
        for d in &file.diagnostics {
            let (start, end) = ends(file, d.span);
            let related = d.related.iter().map(|r| {
                let (start, end) = ends(file, r.span);
                RelatedEntry {
                    file: &file.name,
                    start,
                    end,
                    message: &r.message,
                }
            });
            let fixes = d.fixes.iter().map(|f| {
                let edits = f.edits.iter().map(|e| {
                    let (start, end) = ends(file, e.span);
                    EditEntry {
                        start,
                        end,
                        text: &e.text,
                    }
                });
                FixEntry {
                    title: &f.title,
                    edits: edits.collect(),
                    safe: f.safe,
                }
            });
            let entry = Entry {
                file: &file.name,
                code: d.code,
                severity: d.severity.name(),
                message: &d.message,
                start,
                end,
                related: related.collect(),
                fixes: fixes.collect(),
            };
            if let Ok(line) = serde_json::to_string(&entry) {
                stream.say(&line);
            }
        }
    }
}
