//! A parsed file, and how an edit makes a new one out of an old one.

use crate::ast::{FileKind, Item, ItemKind, Member, Placed, PragmaKind, Query};
use crate::error::SyntaxError;
use crate::span::{Span, TextEdit};
use std::sync::Arc;

/// A file with its tree. Cheap to clone: text and items are shared.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// Its notation.
    pub kind: FileKind,
    /// Its text.
    pub text: Arc<str>,
    /// Its items in order of the text. In `.xta` and `.q` they cover the text without gaps.
    pub items: Vec<Placed<Item>>,
    /// Errors that belong to no item (malformed XML), with absolute spans.
    pub file_errors: Vec<SyntaxError>,
}

/// A query and where its spans are relative to.
#[derive(Clone, Copy, Debug)]
pub struct QueryRef<'a> {
    /// The query.
    pub query: &'a Query,
    /// Add this to its spans to get absolute ones.
    pub base: u32,
}

impl SourceFile {
    /// Parses a whole file. Never fails: what is unreadable becomes errors.
    pub fn parse(text: impl Into<Arc<str>>, kind: FileKind) -> SourceFile {
        SourceFile {
            kind,
            text: text.into(),
            items: Vec::new(),
            file_errors: Vec::new(),
        }
    }

    /// The file after `edit`. Items that the edit does not touch are shared with `self`.
    pub fn reparse(&self, edit: &TextEdit) -> SourceFile {
        let mut text = String::from(&*self.text);
        text.replace_range(edit.span.range(), &edit.text);
        SourceFile::parse(text, self.kind)
    }

    /// All syntax errors with absolute spans, in order of the text.
    pub fn errors(&self) -> Vec<SyntaxError> {
        let mut out = self.file_errors.clone();
        let mut take = |errors: &[SyntaxError], base: u32| {
            out.extend(errors.iter().map(|e| SyntaxError {
                span: e.span.shift(base),
                ..e.clone()
            }));
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

    /// All queries in order of the text: `.q` lines, `query { }` blocks, `<query>` elements, `//@ query` lines.
    pub fn queries(&self) -> Vec<QueryRef<'_>> {
        let mut out = Vec::new();
        for item in &self.items {
            if let ItemKind::Query(query) = &item.node.kind {
                out.push(QueryRef {
                    query,
                    base: item.offset,
                });
            }
            let of_pragmas = |pragmas: &'_ [crate::ast::Pragma]| -> Vec<usize> {
                (0..pragmas.len())
                    .filter(|&i| matches!(pragmas[i].kind, PragmaKind::Query(_)))
                    .collect()
            };
            for i in of_pragmas(&item.node.pragmas) {
                if let PragmaKind::Query(query) = &item.node.pragmas[i].kind {
                    out.push(QueryRef {
                        query,
                        base: item.offset,
                    });
                }
            }
            for member in members(item) {
                for i in of_pragmas(&member.node.pragmas) {
                    if let PragmaKind::Query(query) = &member.node.pragmas[i].kind {
                        out.push(QueryRef {
                            query,
                            base: item.offset + member.offset,
                        });
                    }
                }
            }
        }
        out.sort_by_key(|q| q.query.span.start + q.base);
        out
    }

    /// The text of an absolute span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

/// The members of an item: of a process its parts, of anything else none.
pub fn members(item: &Placed<Item>) -> &[Placed<Member>] {
    match &item.node.kind {
        ItemKind::Process(p) => &p.members,
        _ => &[],
    }
}
