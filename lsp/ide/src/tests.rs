//! Features tested on small texts: `$0` marks the cursor, `$0…$0` a selection.
//!
//! A fixture is one text, or several that begin with `//- name`: `m.xta` and `m.q` belong together.
//! Without a name the text is `m.xta`, or `m.xml` if it begins with `<`. Answers are compared with
//! expectations beside the test; `UPDATE_EXPECT=1 cargo test -p zonelens-ide` writes them again.

mod call_hierarchy;
mod code_action;
mod completion;
mod diagnostics;
mod document_link;
mod document_symbol;
mod extract_constant;
mod folding_range;
mod formatting;
mod highlight;
mod hover;
mod inlay_hint;
mod navigation;
mod rename;
mod selection_range;
mod semantic_tokens;
mod signature_help;
mod workspace_symbol;
mod xml;

use crate::names::Target;
use crate::{Snapshot, Workspace};
use std::sync::Arc;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// Documents of a test, with the place that its mark shows.
struct Fixture {
    documents: Vec<Arc<Snapshot>>,
    /// The document with the mark, or the first.
    at: Arc<Snapshot>,
    /// The marked place; a cursor is empty.
    span: Span,
}

impl Fixture {
    fn new(text: &str) -> Fixture {
        let mut files: Vec<(String, String)> = Vec::new();
        if text.starts_with("//- ") {
            for part in text.split("//- ").skip(1) {
                let (name, body) = part.split_once('\n').expect("a name on its line");
                files.push((name.trim().to_owned(), body.to_owned()));
            }
        } else {
            let xml = text.trim_start().starts_with('<');
            let name = if xml { "m.xml" } else { "m.xta" };
            files.push((name.to_owned(), text.to_owned()));
        }
        let mut marked = None;
        let mut documents = Vec::new();
        for (name, body) in files {
            let parts: Vec<&str> = body.split("$0").collect();
            let start = parts[0].len() as u32;
            let span = match parts.len() {
                1 => None,
                2 => Some(Span::new(start, start)),
                3 => Some(Span::new(start, start + parts[1].len() as u32)),
                _ => panic!("one cursor or one selection"),
            };
            let snapshot = Snapshot::open(
                format!("file:///{name}"),
                FileKind::from_path(&name),
                1,
                &parts.concat(),
                Arc::default(),
            );
            let snapshot = Arc::new(snapshot);
            if let Some(span) = span {
                marked = Some((Arc::clone(&snapshot), span));
            }
            documents.push(snapshot);
        }
        let first = || (Arc::clone(&documents[0]), documents[0].full_span());
        let (at, span) = marked.unwrap_or_else(first);
        Fixture {
            documents,
            at,
            span,
        }
    }

    fn offset(&self) -> u32 {
        self.span.start
    }

    fn names(&self) -> crate::names::Names {
        crate::names::Names::of(self, &self.at)
    }

    /// The text of the marked document.
    fn text(&self) -> String {
        self.at.rope.to_string()
    }

    fn named(&self, extensions: &[&str]) -> Option<Arc<Snapshot>> {
        let of = |e: &&str| self.documents.iter().find(|d| d.uri.ends_with(*e)).cloned();
        extensions.iter().find_map(of)
    }
}

impl Workspace for Fixture {
    fn model_of(&self, snapshot: &Arc<Snapshot>) -> Option<Arc<Snapshot>> {
        match snapshot.kind {
            FileKind::Query => self.named(&[".xta", ".xml"]),
            _ => Some(Arc::clone(snapshot)),
        }
    }

    fn query_file_of(&self, _: &Snapshot) -> Option<Arc<Snapshot>> {
        self.named(&[".q"])
    }

    fn neighbour(&self, _: &Snapshot, name: &str) -> Option<String> {
        self.named(&[&format!("/{name}")]).map(|d| d.uri.clone())
    }

    fn file_name(&self, uri: &str) -> String {
        uri.rsplit('/').next().unwrap_or(uri).to_owned()
    }
}

/// The lines of a text that hold spans, each with `^^^` below the span and a note behind it.
fn annotated(snapshot: &Snapshot, notes: &[(Span, String)]) -> String {
    let text = snapshot.rope.to_string();
    let mut sorted = notes.to_vec();
    sorted.sort_by_key(|(span, _)| (span.start, span.end));
    let mut out = String::new();
    let mut last = None;
    for (span, note) in sorted {
        let start = span.start as usize;
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        if last != Some(line_start) {
            out.push_str(text[line_start..line_end].trim_end_matches('\r'));
            out.push('\n');
            last = Some(line_start);
        }
        let indent = text[line_start..start].chars().count();
        let end = (span.end as usize).min(line_end);
        let width = text[start..end].chars().count().max(1);
        let line = format!("{}{} {note}", " ".repeat(indent), "^".repeat(width));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Places in several documents, by document.
fn places(fixture: &Fixture, targets: &[Target]) -> String {
    let mut out = String::new();
    for document in &fixture.documents {
        let here = targets.iter().filter(|t| t.snapshot.uri == document.uri);
        let notes: Vec<(Span, String)> = here.map(|t| (t.span, String::new())).collect();
        if notes.is_empty() {
            continue;
        }
        if fixture.documents.len() > 1 {
            let name = fixture.file_name(&document.uri);
            out.push_str(&format!("//- {name}\n"));
        }
        out.push_str(&annotated(document, &notes));
    }
    out
}

/// A text after edits, which do not overlap.
fn edited(text: &str, edits: &[zonelens_syntax::span::TextEdit]) -> String {
    let mut sorted = edits.to_vec();
    sorted.sort_by_key(|e| e.span.start);
    let mut out = text.to_owned();
    for edit in sorted.iter().rev() {
        out.replace_range(edit.span.range(), &edit.text);
    }
    out
}
