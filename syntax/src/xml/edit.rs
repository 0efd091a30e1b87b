//! Reparsing after an edit inside one element: that element is read again, the rest is only moved.
//!
//! The result of reading XML from a position on depends on the text from there and on the open
//! elements. If the edited element, read alone, is one well-formed element from its first byte to
//! its last, then everything after it is read as before, so the rest of the file is unchanged. In
//! all other cases the file is read from the start.

use super::dom;
use super::plan::plan_part;
use super::read::{is_whole, items, old_items, parse};
use crate::ast::{FileKind, Item, ItemKind, Placed, Section};
use crate::source::{SourceFile, system_line_errors};
use crate::span::Span;
use std::ops::Range;
use std::sync::Arc;

/// The file after `edit` was replaced by `inserted` bytes; `text` is the new text.
pub(crate) fn reparse(old: &SourceFile, edit: Span, inserted: u32, text: Arc<str>) -> SourceFile {
    let inside = within(old, edit, inserted, &text);
    inside.unwrap_or_else(|| parse(text, Some(old)))
}

/// An element that corresponds to separate items.
struct Part {
    span: Span,
    items: Range<usize>,
    /// The number of enclosing elements.
    outer: usize,
}

fn within(old: &SourceFile, edit: Span, inserted: u32, text: &Arc<str>) -> Option<SourceFile> {
    // Errors of the file concern all of it.
    if !old.file_errors.is_empty() {
        return None;
    }
    let part = part_around(old, edit)?;
    let moved = |offset: u32| offset - edit.len() + inserted;
    let span = Span::new(part.span.start, moved(part.span.end));
    let raw = text.get(span.range())?;
    let document = dom::read_inside(raw, part.outer);
    let root = document.root.filter(|_| document.errors.is_empty())?;
    if root.span != Span::new(0, span.len()) || root.tag != tag(old.slice(part.span)) {
        return None;
    }
    let mut plan = plan_part(raw, &root);
    if !plan.errors.is_empty() {
        return None;
    }
    // Most declarations of an edited element are unchanged.
    let known = old_items(old, &old.items[part.items.clone()]);
    let mut new = items(raw, std::mem::take(&mut plan), &known);
    new.iter_mut().for_each(|item| item.offset += span.start);
    let mut all = Vec::with_capacity(old.items.len() + new.len());
    all.extend_from_slice(&old.items[..part.items.start]);
    all.append(&mut new);
    all.extend(old.items[part.items.end..].iter().map(|item| Placed {
        offset: moved(item.offset),
        ..item.clone()
    }));
    // Only a reading of all elements knows where a missing system line belongs.
    if !system_line_errors(&all, Span::START).is_empty() {
        return None;
    }
    let sections = old.sections.iter().map(|(section, kind)| {
        let start = match section.start > part.span.start {
            true => moved(section.start),
            false => section.start,
        };
        let end = match section.end >= part.span.end {
            true => moved(section.end),
            false => section.end,
        };
        (Span::new(start, end), *kind)
    });
    Some(SourceFile {
        kind: FileKind::Xml,
        sections: sections.collect(),
        file_errors: Vec::new(),
        reach: all.iter().map(|item| item.len).collect(),
        items: all,
        text: Arc::clone(text),
    })
}

/// The element that `edit` lies strictly inside of, so that the first byte of its start tag and the
/// last byte of its end tag are unchanged.
fn part_around(old: &SourceFile, edit: Span) -> Option<Part> {
    let holds = |span: Span| span.start < edit.start && edit.end < span.end;
    if let Some((span, _)) = old.sections.iter().find(|(span, _)| holds(*span)) {
        let first = old.items.partition_point(|i| i.offset < span.start);
        let after = old.items.partition_point(|i| i.offset < span.end);
        return Some(Part {
            span: *span,
            items: first..after,
            outer: 1,
        });
    }
    let after = old.items.partition_point(|i| i.offset < edit.start);
    let at = after.checked_sub(1)?;
    let item = &old.items[at];
    let whole = holds(item.span()) && is_whole(&item.node);
    whole.then(|| Part {
        span: item.span(),
        items: at..after,
        outer: outer(&item.node),
    })
}

/// `<query>` is inside `<queries>`, everything else inside `<nta>`.
fn outer(item: &Item) -> usize {
    match item.kind {
        ItemKind::Query(_) if item.section == Section::Queries => 2,
        _ => 1,
    }
}

/// The name in the start tag at the beginning of `raw`.
fn tag(raw: &str) -> &str {
    let name = raw.get(1..).unwrap_or("");
    let end = name.find(|c: char| c.is_whitespace() || c == '>' || c == '/');
    &name[..end.unwrap_or(name.len())]
}
