//! Diagnostics with positions relative to items, so that an item that only moves keeps them.

use crate::diagnostic::{Diagnostic, Fix, Related, Severity};
use crate::fix::{Change, Page};
use crate::symbol::Loc;

/// A diagnostic with locations relative to items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diag {
    /// The code, `area/name`.
    pub code: &'static str,
    /// The message for the user.
    pub message: String,
    /// The primary location.
    pub loc: Loc,
    /// Related locations, each with a message.
    pub related: Vec<(Loc, String)>,
    /// Fixes to offer.
    pub fixes: Vec<Repair>,
}

/// A fix with locations relative to items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repair {
    /// The title shown in the editor's menu.
    pub title: String,
    /// The changes to make.
    pub changes: Vec<Change>,
    /// See [`Fix::safe`].
    pub safe: bool,
}

impl Diag {
    /// Creates a diagnostic; its code determines the severity.
    pub(crate) fn new(code: &'static str, message: impl Into<String>, loc: Loc) -> Diag {
        Diag {
            code,
            message: message.into(),
            loc,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// The default severity of the code.
    pub(crate) fn severity(&self) -> Severity {
        crate::rules::severity(self.code)
    }

    /// Adds a related location.
    pub(crate) fn related(mut self, loc: Loc, message: impl Into<String>) -> Diag {
        if loc != Loc::NOWHERE {
            self.related.push((loc, message.into()));
        }
        self
    }

    /// Adds a fix that replaces the text at `loc` by `text`.
    pub(crate) fn fix(self, title: impl Into<String>, loc: Loc, text: impl Into<String>) -> Diag {
        self.repair(title, vec![Change::Replace(loc, text.into())])
    }

    /// Adds a fix made of several changes.
    pub(crate) fn repair(mut self, title: impl Into<String>, changes: Vec<Change>) -> Diag {
        self.fixes.push(Repair {
            title: title.into(),
            changes,
            safe: false,
        });
        self
    }

    /// Marks the last fix as one that may be applied without asking (see [`Fix::safe`]).
    pub(crate) fn safe(mut self) -> Diag {
        if let Some(last) = self.fixes.last_mut() {
            last.safe = true;
        }
        self
    }

    /// Converts to absolute positions.
    pub(crate) fn place(&self, page: &Page<'_>) -> Diagnostic {
        let span = |loc: &Loc| loc.span.shift((page.offset)(loc.item).unwrap_or(0));
        let fixes = self.fixes.iter().filter_map(|repair| {
            Some(Fix {
                title: repair.title.clone(),
                edits: page.edits(&repair.changes)?,
                safe: repair.safe,
            })
        });
        let related = self.related.iter().map(|(loc, message)| Related {
            span: span(loc),
            message: message.clone(),
        });
        let mut out = Diagnostic::new(self.code, self.message.clone(), span(&self.loc));
        out.related = related.collect();
        out.fixes = fixes.collect();
        out
    }
}
