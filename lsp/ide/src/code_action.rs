//! Changes that are offered: repairs of diagnostics, silencing one where it stands, refactorings.

use crate::diagnostics;
use crate::names::Names;
use crate::refactor;
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use std::sync::Arc;
use zonelens_analysis::diagnostic::Diagnostic;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_syntax::xml::Tag;

/// What kind of change it is, as the protocol names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Repairs a diagnostic.
    QuickFix,
    /// Gives something a name.
    Extract,
    /// Writes the same in another way.
    Rewrite,
}

/// A change that is offered.
pub struct Action {
    /// As a menu entry.
    pub title: String,
    /// What it is.
    pub kind: Kind,
    /// What it repairs.
    pub diagnostic: Option<Diagnostic>,
    /// The edits.
    pub edits: Vec<TextEdit>,
    /// Whether it is the one to take without thinking.
    pub preferred: bool,
}

/// The changes that are offered for `span`: repairs of diagnostics that touch it, and what can be
/// done beyond. `asked` are the places of diagnostics that the client names, as Neovim does with
/// all of the cursor's line.
pub fn actions(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    span: Span,
    asked: &[Span],
) -> Vec<Action> {
    let model = workspace.model_of(snapshot);
    let mut out = Vec::new();
    for diagnostic in diagnostics::of_text(snapshot, model.as_deref(), true) {
        let touches = diagnostic.span.start <= span.end && span.start <= diagnostic.span.end;
        if touches || asked.contains(&diagnostic.span) {
            repairs(snapshot, diagnostic, &mut out);
        }
    }
    if snapshot.kind != FileKind::Query {
        let tried = snapshot.model().refactorings(snapshot.file(), span);
        out.extend(tried.into_iter().map(|fix| Action {
            title: fix.title,
            kind: Kind::Rewrite,
            diagnostic: None,
            edits: fix.edits,
            preferred: false,
        }));
        let extracted = refactor::extract_constant(&Names::of(workspace, snapshot), span);
        out.extend(extracted.map(|change| Action {
            title: change.title,
            kind: Kind::Extract,
            diagnostic: None,
            edits: change.edits,
            preferred: false,
        }));
    }
    out
}

fn repairs(snapshot: &Snapshot, diagnostic: Diagnostic, out: &mut Vec<Action>) {
    // A client may take the preferred one without asking, so a safe one goes before the others.
    let best = diagnostic.fixes.iter().position(|f| f.safe).unwrap_or(0);
    for (i, fix) in diagnostic.fixes.iter().enumerate() {
        out.push(Action {
            title: fix.title.clone(),
            kind: Kind::QuickFix,
            diagnostic: Some(diagnostic.clone()),
            edits: fix.edits.clone(),
            preferred: i == best,
        });
    }
    if let Some(edit) = allow(snapshot, &diagnostic) {
        out.push(Action {
            title: format!("Allow {} here", diagnostic.code),
            kind: Kind::QuickFix,
            edits: vec![edit],
            diagnostic: Some(diagnostic),
            preferred: false,
        });
    }
}

/// `//@ allow CODE` on the line before; only for lints, as errors have consequences that a comment
/// does not undo. In XML comments are written in declarations.
fn allow(snapshot: &Snapshot, diagnostic: &Diagnostic) -> Option<TextEdit> {
    if snapshot.kind == FileKind::Query || !diagnostic.code.starts_with("lint/") {
        return None;
    }
    let offset = (diagnostic.span.start as usize).min(snapshot.rope.len_bytes());
    let line = snapshot.rope.byte_to_line(offset);
    let mut start = snapshot.rope.line_to_byte(line) as u32;
    let text = snapshot.rope.line(line).to_string();
    let indent = text.chars().take_while(|c| matches!(c, ' ' | '\t'));
    let mut indent: String = indent.collect();
    if snapshot.kind == FileKind::Xml {
        let of_declarations =
            |tag: &&Tag| ["declaration", "system", "instantiation"].contains(&tag.name.as_str());
        let text = snapshot.text_at(offset as u32).filter(of_declarations)?;
        // On the line of the tag, the comment comes right behind the tag.
        if start < text.content.start {
            start = text.content.start;
            indent.clear();
        }
        if snapshot.file().slice(Span::new(start, start + 9)) == "<![CDATA[" {
            start += 9;
        }
    }
    Some(TextEdit {
        span: Span::new(start, start),
        text: format!(
            "{indent}//@ allow {} {}",
            diagnostic.code,
            snapshot.line_break()
        ),
    })
}
