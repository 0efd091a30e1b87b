//! Links between a model and its query file: from the `system` line to the queries, from the first
//! line of queries to the model, and from names of neighbouring files in comments.

use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use std::sync::Arc;
use zonelens_syntax::ast::{FileKind, ItemKind};
use zonelens_syntax::span::Span;

/// A link.
pub struct Link {
    /// What is clicked.
    pub span: Span,
    /// The document it leads to.
    pub target: String,
    /// Shown when the pointer rests on it.
    pub tooltip: String,
}

/// Names longer than this are none.
const MAX_NAME: usize = 120;

/// The links of a document. Looks for files: not for the thread that reads messages.
pub fn links(workspace: &dyn Workspace, snapshot: &Arc<Snapshot>) -> Vec<Link> {
    let mut out = Vec::new();
    let (other, word) = match snapshot.kind {
        FileKind::Query => (workspace.model_of(snapshot), "model"),
        _ => (workspace.query_file_of(snapshot), "queries"),
    };
    if let (Some(other), Some(span)) = (other, anchor(snapshot)) {
        out.push(Link {
            span,
            tooltip: format!("Open the {word} {}", workspace.file_name(&other.uri)),
            target: other.uri.clone(),
        });
    }
    neighbours(workspace, snapshot, &mut out);
    out
}

/// `system` in a model, the first words in a query file.
fn anchor(snapshot: &Snapshot) -> Option<Span> {
    let file = snapshot.file();
    if snapshot.kind == FileKind::Query {
        let text = &file.text;
        let start = text.len() - text.trim_start().len();
        let line = text[start..].lines().next()?.trim_end();
        return Some(Span::new(start as u32, (start + line.len()) as u32))
            .filter(|s| !s.is_empty());
    }
    let item = file
        .items
        .iter()
        .find(|i| matches!(i.node.kind, ItemKind::System(_)))?;
    let start = item.node.span.start + item.offset;
    let word = file.slice(Span::new(start, start + "system".len() as u32));
    (word == "system").then(|| Span::new(start, start + word.len() as u32))
}

/// Names of files beside this one.
fn neighbours(workspace: &dyn Workspace, snapshot: &Snapshot, out: &mut Vec<Link>) {
    let text = &snapshot.file().text;
    for extension in [".xta", ".xml", ".q", ".ta"] {
        for (at, _) in text.match_indices(extension) {
            let end = at + extension.len();
            let part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                continue;
            }
            let start = text[..at].trim_end_matches(part).len();
            let name = &text[start..end];
            if start == at || name.len() > MAX_NAME || name.starts_with('.') {
                continue;
            }
            let span = Span::new(start as u32, end as u32);
            // The first line of queries is a link already.
            if out.iter().any(|l| l.span.touches(span.start)) {
                continue;
            }
            let target = workspace.neighbour(snapshot, name);
            if let Some(target) = target.filter(|uri| *uri != snapshot.uri) {
                out.push(Link {
                    span,
                    target,
                    tooltip: format!("Open {name}"),
                });
            }
        }
    }
}
