//! Changes on request that need no analysis: a number becomes a constant.

use crate::names::Names;
use crate::snapshot::Snapshot;
use zonelens_analysis::ide::DefKind;
use zonelens_syntax::ast::{FileKind, Item, ItemKind, Placed, Prefix, Section};
use zonelens_syntax::lexer::{self, Mode};
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_syntax::token::TokenKind;

/// A change, as a menu entry with its edits.
pub struct Change {
    /// As a menu entry.
    pub title: String,
    /// The edits.
    pub edits: Vec<TextEdit>,
}

/// Makes a constant of the number at `span`.
pub fn extract_constant(names: &Names, span: Span) -> Option<Change> {
    let snapshot = &names.snapshot;
    if snapshot.kind == FileKind::Query {
        return None;
    }
    let number = number_at(snapshot, span)?;
    let text = snapshot.file().slice(number).to_owned();
    let item = item_at(snapshot, number.start)?;
    if item.node.section == Section::Queries || matches!(item.node.kind, ItemKind::Query(_)) {
        return None;
    }
    // A number of a constant's own declaration already has a name.
    if let ItemKind::Var(decl) = &item.node.kind
        && decl.ty.has(Prefix::Const)
    {
        return None;
    }
    let name = fresh(names, &format!("C{text}"));
    let declaration = declaration_before(snapshot, item, &format!("const int {name} = {text};"))?;
    Some(Change {
        title: format!("Extract {text} into a constant"),
        edits: vec![
            declaration,
            TextEdit {
                span: number,
                text: name,
            },
        ],
    })
}

/// A declaration on a line of its own before `item`; for a template of XML, at the end of the
/// global declarations.
fn declaration_before(snapshot: &Snapshot, item: &Placed<Item>, text: &str) -> Option<TextEdit> {
    let file = snapshot.file();
    if snapshot.kind == FileKind::Xml && matches!(item.node.kind, ItemKind::Process(_)) {
        let last = file
            .items
            .iter()
            .filter(|i| i.node.section == Section::Global)
            .rfind(|i| !matches!(i.node.kind, ItemKind::Process(_) | ItemKind::Empty));
        let (at, text) = match last {
            Some(last) => {
                let end = last.node.span.shift(last.offset).end;
                (end, format!("{}{text}", snapshot.line_break()))
            }
            None => {
                let (at, before, after) = file.declaration_place()?;
                (at, format!("{before}{text}{after}"))
            }
        };
        return Some(TextEdit {
            span: Span::new(at, at),
            text,
        });
    }
    let start = item.node.span.shift(item.offset).start;
    let line = snapshot.rope.byte_to_line(start as usize);
    let line_start = snapshot.rope.line_to_byte(line) as u32;
    // Something else may stand before it on its line.
    let alone = file.slice(Span::new(line_start, start)).trim().is_empty();
    let (at, text) = match alone {
        true => (line_start, format!("{text}{}", snapshot.line_break())),
        false => (start, format!("{text} ")),
    };
    Some(TextEdit {
        span: Span::new(at, at),
        text,
    })
}

fn item_at(snapshot: &Snapshot, offset: u32) -> Option<&Placed<Item>> {
    let items = snapshot.file().items.iter();
    items
        .filter(|i| !matches!(i.node.kind, ItemKind::Empty))
        .find(|i| i.node.span.shift(i.offset).touches(offset))
}

/// The number that `span` touches.
fn number_at(snapshot: &Snapshot, span: Span) -> Option<Span> {
    let text = snapshot.masked();
    let line = snapshot
        .rope
        .byte_to_line((span.start as usize).min(text.len()));
    let start = snapshot.rope.line_to_byte(line);
    let end = snapshot.rope.line_to_byte(line + 1).min(text.len());
    let tokens = lexer::lex(text.get(start..end)?, Mode::Model);
    tokens.iter().find_map(|t| {
        let found = Span::new(t.start + start as u32, t.end + start as u32);
        let touches = found.start <= span.start && span.end <= found.end;
        (t.kind == TokenKind::Nat && touches).then_some(found)
    })
}

/// A name that nothing has yet.
fn fresh(names: &Names, wanted: &str) -> String {
    let taken = |name: &str| {
        let mut all = names.index.definitions.iter();
        all.any(|d| d.name == name && d.kind != DefKind::Field)
    };
    if !taken(wanted) {
        return wanted.to_owned();
    }
    let numbered = (2..).map(|n| format!("{wanted}_{n}"));
    numbered
        .take(10_000)
        .find(|n| !taken(n))
        .unwrap_or_else(|| wanted.to_owned())
}
