//! Repairs: what diagnostics offer, and silencing one where it stands.

use crate::diagnostics;
use crate::document::Snapshot;
use zonelens_analysis::diagnostic::Diagnostic;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{Span, TextEdit};

/// A repair of a diagnostic.
pub struct Action {
    /// As a menu entry.
    pub title: String,
    /// What it repairs.
    pub diagnostic: Diagnostic,
    /// The edits.
    pub edits: Vec<TextEdit>,
    /// Whether it is the one to take without thinking.
    pub preferred: bool,
}

/// The repairs of diagnostics that touch `span`.
pub fn actions(snapshot: &Snapshot, model: Option<&Snapshot>, span: Span) -> Vec<Action> {
    let mut out = Vec::new();
    for diagnostic in diagnostics::of_text(snapshot, model) {
        let touches = diagnostic.span.start <= span.end && span.start <= diagnostic.span.end;
        if !touches {
            continue;
        }
        for (i, fix) in diagnostic.fixes.iter().enumerate() {
            out.push(Action {
                title: fix.title.clone(),
                diagnostic: diagnostic.clone(),
                edits: fix.edits.clone(),
                preferred: i == 0,
            });
        }
        if let Some(edit) = allow(snapshot, &diagnostic) {
            out.push(Action {
                title: format!("Allow {} here", diagnostic.code),
                edits: vec![edit],
                diagnostic,
                preferred: false,
            });
        }
    }
    out
}

/// `//@ allow CODE` on the line before; only for lints, as errors have consequences that a comment does not undo.
fn allow(snapshot: &Snapshot, diagnostic: &Diagnostic) -> Option<TextEdit> {
    if snapshot.kind != FileKind::Xta || !diagnostic.code.starts_with("lint/") {
        return None;
    }
    let offset = (diagnostic.span.start as usize).min(snapshot.rope.len_bytes());
    let line = snapshot.rope.byte_to_line(offset);
    let start = snapshot.rope.line_to_byte(line) as u32;
    let text = snapshot.rope.line(line).to_string();
    let indent: String = text
        .chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .collect();
    Some(TextEdit {
        span: Span::new(start, start),
        text: format!("{indent}//@ allow {} \n", diagnostic.code),
    })
}
