//! Findings before they get their absolute places: relative to items, so that an item that only moves keeps them.

use crate::diagnostic::{Diagnostic, Fix, Related, Severity};
use crate::fix::{Change, Page};
use crate::symbol::Loc;

/// A finding with places relative to items.
#[derive(Clone, Debug, PartialEq)]
pub struct Diag {
    /// `area/name`
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub loc: Loc,
    /// Other places that matter.
    pub related: Vec<(Loc, String)>,
    /// Repairs.
    pub fixes: Vec<Repair>,
}

/// A repair with places relative to items.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// What it does, as a menu entry.
    pub title: String,
    /// What changes.
    pub changes: Vec<Change>,
    /// See [`Fix::safe`].
    pub safe: bool,
}

impl Diag {
    /// A finding; its code decides how severe it is.
    pub fn new(code: &'static str, message: impl Into<String>, loc: Loc) -> Diag {
        Diag {
            code,
            message: message.into(),
            loc,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// How severe the code is.
    pub fn severity(&self) -> Severity {
        crate::rules::severity(self.code)
    }

    /// With another place that matters.
    pub fn related(mut self, loc: Loc, message: impl Into<String>) -> Diag {
        if loc != Loc::NOWHERE {
            self.related.push((loc, message.into()));
        }
        self
    }

    /// With a repair that puts `text` at `loc`.
    pub fn fix(self, title: impl Into<String>, loc: Loc, text: impl Into<String>) -> Diag {
        self.repair(title, vec![Change::Replace(loc, text.into())])
    }

    /// With a repair.
    pub fn repair(mut self, title: impl Into<String>, changes: Vec<Change>) -> Diag {
        self.fixes.push(Repair {
            title: title.into(),
            changes,
            safe: false,
        });
        self
    }

    /// The last repair may be made without asking (see [`Fix::safe`]).
    pub fn safe(mut self) -> Diag {
        if let Some(last) = self.fixes.last_mut() {
            last.safe = true;
        }
        self
    }

    /// With absolute places.
    pub fn place(&self, page: &Page<'_>) -> Diagnostic {
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
