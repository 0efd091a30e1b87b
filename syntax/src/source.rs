//! A parsed file, and its incremental reparsing after an edit.

use crate::ast::{
    Expr, FileKind, Item, ItemKind, Member, Placed, Pragma, PragmaKind, Query, Section,
};
use crate::build::Builder;
use crate::chunk::Store;
use crate::error::SyntaxError;
use crate::span::{Span, TextEdit};
use crate::text_map::TextMap;
use crate::{query_file, xml, xta};
use std::sync::Arc;

/// A file and its tree. Cheap to clone: text and items are shared.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// Its notation.
    pub kind: FileKind,
    /// Its text.
    pub text: Arc<str>,
    /// The items in source order. In `.xta` and `.q` they cover the text without gaps.
    pub items: Vec<Placed<Item>>,
    /// Errors that belong to no item (malformed XML), with absolute spans.
    pub file_errors: Vec<SyntaxError>,
    /// For each item, the number of bytes from its start that it depends on.
    pub(crate) reach: Vec<u32>,
    /// In XML, the elements that are split into items.
    pub(crate) sections: Vec<(Span, Section)>,
}

/// A query and the offset that its spans are relative to.
#[derive(Clone, Copy, Debug)]
pub struct QueryRef<'a> {
    /// The query.
    pub query: &'a Query,
    /// Add this to its spans to get absolute ones.
    pub base: u32,
}

/// Larger files are rejected: spans have 32 bits, and no real model is that large.
pub const MAX_FILE: usize = 256 << 20;

impl SourceFile {
    /// Parses a whole file. Never fails: unreadable text is reported as errors.
    pub fn parse(text: impl Into<Arc<str>>, kind: FileKind) -> SourceFile {
        let text: Arc<str> = text.into();
        if text.len() > MAX_FILE {
            let message = format!(
                "this file is {} MB large; the limit is {} MB",
                text.len() >> 20,
                MAX_FILE >> 20
            );
            let file_errors = vec![SyntaxError::new("syntax/size", message, Span::START)];
            return SourceFile {
                kind,
                text: "".into(),
                items: Vec::new(),
                file_errors,
                reach: Vec::new(),
                sections: Vec::new(),
            };
        }
        match kind {
            FileKind::Xta => xta::parse(text),
            FileKind::Query => query_file::parse(text),
            FileKind::Xml => xml::parse(text, None),
        }
    }

    /// The file after `edit`. Items that the edit does not affect are shared with `self`. An edit
    /// outside the text or inside a character is clamped.
    pub fn reparse(&self, edit: &TextEdit) -> SourceFile {
        let span = self.clamp(edit.span);
        let mut text = String::with_capacity(self.text.len() + edit.text.len());
        text.push_str(&self.text[..span.start as usize]);
        text.push_str(&edit.text);
        text.push_str(&self.text[span.end as usize..]);
        if text.len() > MAX_FILE {
            return SourceFile::parse(text, self.kind);
        }
        match self.kind {
            FileKind::Xta => xta::reparse(self, span, edit.text.len() as u32, text.into()),
            FileKind::Query => query_file::parse(text.into()),
            FileKind::Xml => xml::reparse(self, span, edit.text.len() as u32, text.into()),
        }
    }

    fn clamp(&self, span: Span) -> Span {
        let fit = |offset: u32| {
            let mut at = (offset as usize).min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at as u32
        };
        let start = fit(span.start);
        Span::new(start, fit(span.end).max(start))
    }

    /// All syntax errors with absolute spans, in source order.
    pub fn errors(&self) -> Vec<SyntaxError> {
        let mut out = self.file_errors.clone();
        let mut take = |errors: &[SyntaxError], base: u32| {
            out.extend(
                errors
                    .iter()
                    .map(|e| e.clone().placed(|span| span.shift(base))),
            );
        };
        for item in &self.items {
            take(&item.node.errors, item.offset);
            for member in members(item) {
                take(&member.node.errors, item.offset + member.offset);
            }
        }
        for q in self.queries() {
            take(&q.query.errors, q.base);
        }
        out.sort_by_key(|e| (e.span.start, e.span.end));
        out
    }

    /// All queries in source order: `.q` lines, `query { }` blocks, `<query>` elements, `//@ query`
    /// lines.
    pub fn queries(&self) -> Vec<QueryRef<'_>> {
        let mut out = Vec::new();
        for item in &self.items {
            if let ItemKind::Query(query) = &item.node.kind {
                out.push(QueryRef {
                    query,
                    base: item.offset,
                });
            }
            out.extend(pragma_queries(&item.node.pragmas, item.offset));
            for member in members(item) {
                out.extend(pragma_queries(
                    &member.node.pragmas,
                    item.offset + member.offset,
                ));
            }
        }
        out.sort_by_key(|q| q.query.span.start + q.base);
        out
    }

    /// The text of an absolute span as the parser reads it: inside XML, entities and CDATA marks
    /// are resolved.
    pub fn plain(&self, span: Span) -> std::borrow::Cow<'_, str> {
        let raw = self.slice(span);
        match self.kind {
            FileKind::Xml => xml::plain(raw),
            FileKind::Xta | FileKind::Query => raw.into(),
        }
    }

    /// The text, for inspecting the surroundings of a position: in XML everything but model text is
    /// blank. Offsets are those of the file.
    pub fn masked(&self) -> std::borrow::Cow<'_, str> {
        match self.kind {
            FileKind::Xml => xml::masked(&self.text).into(),
            FileKind::Xta | FileKind::Query => (&*self.text).into(),
        }
    }

    /// The elements of an XML file with their places, in order of their start tags; empty for other
    /// files. Reads the file again.
    pub fn elements(&self) -> Vec<xml::Tag> {
        match self.kind {
            FileKind::Xml => xml::elements(&self.text),
            FileKind::Xta | FileKind::Query => Vec::new(),
        }
    }

    /// `text` of the language as it is written at `offset`: escaped inside XML, but not in a CDATA
    /// section.
    pub fn written<'t>(&self, text: &'t str, offset: u32) -> std::borrow::Cow<'t, str> {
        match self.kind {
            FileKind::Xml => xml::written(&self.text, text, offset),
            FileKind::Xta | FileKind::Query => text.into(),
        }
    }

    /// Where an XML file takes a new global declaration, before all others: the offset, and what to
    /// write before and after it.
    pub fn declaration_place(&self) -> Option<(u32, &'static str, &'static str)> {
        let global = |(span, section): &&(Span, Section)| {
            *section == Section::Global && !self.slice(*span).ends_with("/>")
        };
        let after_tag = |start: u32| {
            let rest = self.text.get(start as usize..)?;
            Some(start + rest.find('>')? as u32 + 1)
        };
        if let Some((span, _)) = self.sections.iter().find(global) {
            return Some((after_tag(span.start)?, "", "\n"));
        }
        let root = self.text.find("<nta")? as u32;
        Some((after_tag(root)?, "\n<declaration>", "</declaration>"))
    }

    /// The end of the text of the last `<system>` of an XML file.
    pub fn system_end(&self) -> Option<u32> {
        let system = |(_, section): &&(Span, Section)| *section == Section::System;
        let (span, _) = self.sections.iter().rfind(system)?;
        let end = self.slice(*span).rfind("</")?;
        Some(span.start + end as u32)
    }

    /// The text of an absolute span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

/// Parses a single formula, for example from the command line. Spans are offsets in `text`.
pub fn parse_query(text: &str) -> Query {
    let map = TextMap::Shift(0);
    let mut store = Store::default();
    let chunk = query_file::formula(&mut store, text, &map);
    Builder::new(&store).query(chunk)
}

/// Parses a state formula without a path quantifier, for example one asked of a step of a trace.
/// Spans are offsets in `text`.
pub fn parse_expression(text: &str) -> Result<Expr, Vec<SyntaxError>> {
    let map = TextMap::Shift(0);
    let mut store = Store::default();
    let chunk = query_file::formula(&mut store, text, &map);
    Builder::new(&store).expression(chunk)
}

fn pragma_queries(pragmas: &[Pragma], base: u32) -> impl Iterator<Item = QueryRef<'_>> {
    pragmas.iter().filter_map(move |p| match &p.kind {
        PragmaKind::Query(query) => Some(QueryRef { query, base }),
        _ => None,
    })
}

/// The members of a process; empty for any other item.
pub fn members(item: &Placed<Item>) -> &[Placed<Member>] {
    match &item.node.kind {
        ItemKind::Process(p) => &p.members,
        _ => &[],
    }
}

/// Errors that only the whole file shows: a model has one system line, and only a few items may
/// follow it. `end` is where a missing one belongs.
pub(crate) fn system_line_errors(items: &[Placed<Item>], end: Span) -> Vec<SyntaxError> {
    let Some(line) = items.iter().position(is_system_line) else {
        let message = "there is no system line; write one that lists the processes to run, such as `system P;`";
        return vec![SyntaxError::new("syntax/no-system", message, end)];
    };
    let misplaced = |i: &&Placed<Item>| {
        use ItemKind::*;
        !matches!(
            i.node.kind,
            Empty | Error(_) | Progress(_) | Gantt(_) | Query(_) | Unsupported(_)
        ) && i.node.section != Section::Queries
    };
    let message =
        "only `progress`, `gantt` and `query` may follow the system line: move this before it";
    let late = items[line + 1..].iter().find(misplaced);
    late.map(|i| SyntaxError::new("syntax/after-system", message, i.node.span.shift(i.offset)))
        .into_iter()
        .collect()
}

/// Whether an item is the system line, or was intended to be.
fn is_system_line(item: &Placed<Item>) -> bool {
    match &item.node.kind {
        ItemKind::System(_) => true,
        ItemKind::Error(_) => item.node.errors.iter().any(|e| e.code == "syntax/system"),
        _ => false,
    }
}

/// The section of all items in a plain text file.
pub(crate) const PLAIN_SECTION: Section = Section::Global;
