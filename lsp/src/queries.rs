//! The queries of a document as the server works with them.

use crate::document::Snapshot;
use crate::meaning::{self, Meaning};
use crate::runs::{Ask, Site};
use crate::settings::Settings;
use std::sync::Arc;
use zonelens_analysis::report::Verdict;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// A query in a document.
#[derive(Clone, Debug)]
pub struct QuerySite {
    /// The formula's place.
    pub span: Span,
    /// 1-based line.
    pub line: u32,
    /// The formula.
    pub text: String,
    /// What the author expects, and where that is said.
    pub expected: Option<(Verdict, Span)>,
    /// What answers must belong to.
    pub meaning: Meaning,
}

impl QuerySite {
    /// For asking after its state.
    pub fn site(&self) -> Site {
        Site {
            text: self.text.clone(),
            meaning: self.meaning,
        }
    }

    /// For running it.
    pub fn ask(&self, uri: &str, model: &Snapshot, settings: &Settings) -> Ask {
        Ask {
            uri: uri.to_owned(),
            text: self.text.clone(),
            line: self.line,
            expected: self.expected.map(|(verdict, _)| verdict),
            meaning: self.meaning,
            model: Arc::clone(&model.file().text),
            kind: match model.kind {
                FileKind::Xml => "xml",
                _ => "xta",
            },
            options: settings.options.clone(),
        }
    }
}

/// All queries of `snapshot`, asked of `model`.
pub fn sites(
    snapshot: &Snapshot,
    model: &Snapshot,
    settings: &Settings,
    tool: &str,
) -> Vec<QuerySite> {
    let of = |q: &zonelens_syntax::source::QueryRef<'_>| {
        let span = q.query.span.shift(q.base);
        let offset = (span.start as usize).min(snapshot.rope.len_bytes());
        let expected = q.query.expectation.map(|e| {
            let verdict = if e.satisfied {
                Verdict::Satisfied
            } else {
                Verdict::Violated
            };
            (verdict, e.span.shift(q.base))
        });
        QuerySite {
            span,
            line: snapshot.rope.byte_to_line(offset) as u32 + 1,
            text: q.query.text.to_string(),
            expected,
            meaning: meaning::of_query(model, *q, &settings.options, tool),
        }
    };
    snapshot.queries().iter().map(of).collect()
}
