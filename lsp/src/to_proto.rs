//! From the server's own types to those of the protocol.

use crate::code_lens::Lens;
use crate::document::Snapshot;
use crate::position::{Encoding, Point};
use std::str::FromStr;
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};
use zonelens_syntax::span::{Span, TextEdit};

/// A document with the encoding agreed on: what spans need to become ranges.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The document.
    pub snapshot: &'a Snapshot,
    /// What columns count.
    pub encoding: Encoding,
}

impl Place<'_> {
    /// A position.
    pub fn position(&self, offset: u32) -> lsp::Position {
        let Point { line, column } = self.snapshot.point(offset, self.encoding);
        lsp::Position::new(line, column)
    }

    /// A range.
    pub fn range(&self, span: Span) -> lsp::Range {
        lsp::Range::new(self.position(span.start), self.position(span.end))
    }

    /// A text edit.
    pub fn edit(&self, edit: &TextEdit) -> lsp::TextEdit {
        lsp::TextEdit::new(self.range(edit.span), edit.text.clone())
    }
}

/// A URI; `None` if the text is none (it came from the client, so it is one).
pub fn uri(text: &str) -> Option<lsp::Uri> {
    lsp::Uri::from_str(text).ok()
}

/// A severity.
pub fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::ERROR,
        Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        Severity::Info => lsp::DiagnosticSeverity::INFORMATION,
        Severity::Hint => lsp::DiagnosticSeverity::HINT,
    }
}

/// A diagnostic.
pub fn diagnostic(place: Place<'_>, d: &Diagnostic) -> lsp::Diagnostic {
    let related = uri(&place.snapshot.uri).map(|uri| {
        d.related
            .iter()
            .map(|r| lsp::DiagnosticRelatedInformation {
                location: lsp::Location::new(uri.clone(), place.range(r.span)),
                message: r.message.clone(),
            })
            .collect::<Vec<_>>()
    });
    lsp::Diagnostic {
        range: place.range(d.span),
        severity: Some(severity(d.severity)),
        code: Some(lsp::NumberOrString::String(d.code.to_owned())),
        code_description: None,
        source: Some("zonelens".to_owned()),
        message: d.message.clone(),
        related_information: related.filter(|r| !r.is_empty()),
        tags: None,
        data: None,
    }
}

/// A lens.
pub fn code_lens(place: Place<'_>, lens: Lens) -> lsp::CodeLens {
    let start = place.position(lens.span.start);
    let end = place.position(lens.span.end);
    // A lens must not span lines: some clients drop it.
    let end = if end.line == start.line { end } else { start };
    lsp::CodeLens {
        range: lsp::Range::new(start, end),
        command: Some(lsp::Command {
            title: lens.title,
            command: lens.command.to_owned(),
            arguments: (!lens.command.is_empty()).then(|| vec![lens.argument]),
        }),
        data: None,
    }
}
