//! `sym/query`: how much a query reduces the number of interchangeable elements, by the same
//! analysis that verification uses.

use super::Model;
use crate::check::CheckedKind;
use crate::diagnostic::{Diagnostic, Severity};
use crate::network::MOST_NAMED;
use zonelens_syntax::ast::PathKind;
use zonelens_syntax::span::Span;

impl Model {
    /// Returns one diagnostic for each set of which the query leaves fewer elements
    /// interchangeable. Sets that are excluded from reduction anyway are skipped, and elements that
    /// the model itself tells apart do not count.
    pub(super) fn elements_told_apart(&self, kind: &CheckedKind, span: Span) -> Vec<Diagnostic> {
        let facts = &self.findings.facts;
        let named = facts.named(&self.env, kind);
        let asked_of_orbits = matches!(
            kind,
            CheckedKind::Path(PathKind::Always | PathKind::Possibly, _)
        );
        let mut out = Vec::new();
        for e in &facts.elements {
            let excluded = self.findings.broken.iter().any(|b| b.0 == e.set.id);
            let why = named.all.get(&e.set.id);
            let apart = |k: &u32| why.is_some() || named.elements.contains(&(e.set.id, *k));
            let shared = || e.blocks.iter().filter(|b| b.len() > 1);
            let lost = shared().flatten().filter(|k| apart(k)).count();
            if excluded || lost == 0 {
                continue;
            }
            let left = shared().map(|b| b.iter().filter(|k| !apart(k)).count());
            let left = match left.max().unwrap_or(0) {
                0 | 1 => "none of its elements are interchangeable".to_owned(),
                n => format!("{n} of its {} elements are interchangeable", e.size),
            };
            let because = why.map_or(String::new(), |why| format!(" ({why})"));
            let name = &e.set.name;
            // If only a few elements are named and the initial state does not tell them apart,
            // verification asks the query under every renaming of them.
            let message = match asked_of_orbits && lost <= MOST_NAMED {
                true => format!(
                    "this query tells elements of `{name}` apart{because}: it is evaluated under every renaming of them if the initial state is the same for all elements; otherwise {left} for it"
                ),
                false => format!(
                    "this query tells elements of `{name}` apart{because}, so {left} for it; use a quantifier if the query is meant for any of them"
                ),
            };
            let diagnostic = Diagnostic::new("sym/query", message, span);
            // A detected set is a bonus: losing part of it is not a mistake to correct.
            out.push(match e.detected {
                true => diagnostic.varied(Severity::Hint),
                false => diagnostic,
            });
        }
        out
    }
}
