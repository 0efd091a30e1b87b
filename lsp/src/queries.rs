//! The queries of a document as the server works with them.

use crate::meaning::{self, Meaning, TextMeanings};
use crate::runs::{Ask, Site};
use std::sync::Arc;
use zonelens_analysis::report::{Options, Verdict};
use zonelens_ide::Snapshot;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// A query in a document.
#[derive(Clone, Debug)]
pub(crate) struct QuerySite {
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
    /// What answers of a large model are also kept under, so that they are found again without
    /// instantiating it.
    pub text_meaning: Option<Meaning>,
}

/// What queries are told apart by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What they mean, which takes the network.
    Meaning,
    /// The text of the model: enough while nothing was asked of it.
    Text,
}

impl QuerySite {
    /// For asking after its state.
    pub(crate) fn site(&self) -> Site {
        Site {
            text: self.text.clone(),
            meaning: self.meaning,
        }
    }

    /// For running it.
    pub(crate) fn ask(&self, uri: &str, model: &Snapshot, options: Options) -> Ask {
        Ask {
            uri: uri.to_owned(),
            text: self.text.clone(),
            line: self.line,
            expected: self.expected.map(|(verdict, _)| verdict),
            meaning: self.meaning,
            text_meaning: self.text_meaning,
            model: Arc::clone(&model.file().text),
            kind: match model.kind {
                FileKind::Xml => "xml",
                _ => "xta",
            },
            options,
            typed: false,
        }
    }
}

/// All queries of `snapshot`, asked of `model`.
pub(crate) fn sites(
    snapshot: &Snapshot,
    model: &Snapshot,
    options: &Options,
    tool: &str,
    depth: Depth,
) -> Vec<QuerySite> {
    let by_text = || TextMeanings::new(model, options, tool);
    let text = (depth == Depth::Text || model.is_large()).then(by_text);
    let of = |q: &zonelens_syntax::source::QueryRef<'_>| {
        let span = q.query.span.shift(q.base);
        let expected = q.query.expectation.map(|e| {
            let verdict = if e.satisfied {
                Verdict::Satisfied
            } else {
                Verdict::Violated
            };
            (verdict, e.span.shift(q.base))
        });
        let text_meaning = text.as_ref().map(|t| t.of(&q.query.text));
        QuerySite {
            span,
            line: line_of(snapshot, span),
            text: q.query.text.to_string(),
            expected,
            meaning: match (depth, text_meaning) {
                (Depth::Text, Some(meaning)) => meaning,
                _ => meaning::of_query(model, *q, options, tool),
            },
            text_meaning,
        }
    };
    snapshot.queries().iter().map(of).collect()
}

/// Adds queries that errors of the text hide, where they stand. With errors around them they mean
/// no more than the text does, so that no verdict of theirs is fresh.
pub(crate) fn add_hidden(
    sites: &mut Vec<QuerySite>,
    hidden: Vec<QuerySite>,
    snapshot: &Snapshot,
    meaning: impl Fn(&str) -> Meaning,
) {
    sites.extend(hidden.into_iter().map(|site| QuerySite {
        line: line_of(snapshot, site.span),
        meaning: meaning(&site.text),
        ..site
    }));
    sites.sort_by_key(|site| site.span.start);
}

fn line_of(snapshot: &Snapshot, span: Span) -> u32 {
    let offset = (span.start as usize).min(snapshot.rope.len_bytes());
    snapshot.rope.byte_to_line(offset) as u32 + 1
}
