//! Findings before they get their absolute places: relative to items, so that an item that only moves keeps them.

use crate::diagnostic::{Diagnostic, Fix, Related, Severity};
use crate::symbol::{ItemId, Loc};
use rustc_hash::FxHashMap;
use zonelens_syntax::span::TextEdit;

/// A finding with places relative to items.
#[derive(Clone, Debug, PartialEq)]
pub struct Diag {
    /// `area/name`
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub loc: Loc,
    /// Other places that matter.
    pub related: Vec<(Loc, String)>,
    /// Repairs.
    pub fixes: Vec<(String, Vec<(Loc, String)>)>,
}

impl Diag {
    /// A finding with the code's own severity.
    pub fn new(code: &'static str, message: impl Into<String>, loc: Loc) -> Diag {
        Diag {
            code,
            severity: crate::rules::severity(code),
            message: message.into(),
            loc,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// With another place that matters.
    pub fn related(mut self, loc: Loc, message: impl Into<String>) -> Diag {
        if loc != Loc::NOWHERE {
            self.related.push((loc, message.into()));
        }
        self
    }

    /// With a repair of one edit.
    pub fn fix(mut self, title: impl Into<String>, loc: Loc, text: impl Into<String>) -> Diag {
        self.fixes.push((title.into(), vec![(loc, text.into())]));
        self
    }

    /// With absolute places.
    pub fn place(&self, offsets: &FxHashMap<ItemId, u32>) -> Diagnostic {
        self.place_with(&|item| offsets.get(&item).copied())
    }

    /// With absolute places, given where items start.
    pub fn place_with(&self, offset: &dyn Fn(ItemId) -> Option<u32>) -> Diagnostic {
        let span = |loc: &Loc| loc.span.shift(offset(loc.item).unwrap_or(0));
        let edit = |(loc, text): &(Loc, String)| TextEdit {
            span: span(loc),
            text: text.clone(),
        };
        Diagnostic {
            code: self.code,
            severity: self.severity,
            message: self.message.clone(),
            span: span(&self.loc),
            related: self
                .related
                .iter()
                .map(|(loc, message)| Related {
                    span: span(loc),
                    message: message.clone(),
                })
                .collect(),
            fixes: self
                .fixes
                .iter()
                .map(|(title, edits)| Fix {
                    title: title.clone(),
                    edits: edits.iter().map(edit).collect(),
                })
                .collect(),
        }
    }
}
