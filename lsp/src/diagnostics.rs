//! What is wrong in a document: the model's diagnostics, and what runs found out about its queries.

use crate::document::Snapshot;
use crate::meaning::Meaning;
use crate::queries::QuerySite;
use crate::runs::word;
use crate::settings::Settings;
use std::sync::Arc;
use zonelens_analysis::diagnostic::{Diagnostic, Related, Severity};
use zonelens_analysis::report::{ExcludedScalarset, QueryReport, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// The verdict is not what the author expects.
const EXPECTATION: &str = "query/expectation";
/// A scalarset was left out of the reduction.
const NOT_REDUCED: &str = "query/not-reduced";
/// No model stands beside a query file.
const NO_MODEL: &str = "query/no-model";

/// Everything the text itself says. `model` is the document itself, or the model beside a query file.
pub fn of_text(snapshot: &Snapshot, model: Option<&Snapshot>) -> Vec<Diagnostic> {
    if snapshot.kind != FileKind::Query {
        return snapshot.model().diagnostics().to_vec();
    }
    let mut out: Vec<Diagnostic> = snapshot
        .file()
        .errors()
        .into_iter()
        .map(|e| Diagnostic::error(e.code, e.message, e.span))
        .collect();
    match model {
        Some(model) => {
            for q in snapshot.queries() {
                if q.query.errors.is_empty() {
                    out.extend(model.model().check_query(q.query, q.base));
                }
            }
        }
        None => {
            if let Some(first) = snapshot.queries().first() {
                out.push(Diagnostic::new(
                    NO_MODEL,
                    Severity::Info,
                    "There is no model beside this file. Queries are asked of the `.xta` or `.xml` file of the same name.",
                    first.query.span.shift(first.base),
                ));
            }
        }
    }
    out
}

/// What answers say about queries whose text still means what was asked: expectations that are not met, and
/// errors met during the run.
pub fn of_answers(sites: &[QuerySite], answers: &[(Meaning, Arc<QueryReport>)]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for site in sites {
        let Some((_, report)) = answers.iter().find(|(m, _)| *m == site.meaning) else {
            continue;
        };
        out.extend(of_symmetry(site, report));
        match (report.verdict, site.expected) {
            (Verdict::Satisfied | Verdict::Violated, Some((expected, at)))
                if expected != report.verdict =>
            {
                let message = format!(
                    "This query is {}, but it is expected to be {}.",
                    word(report.verdict),
                    word(expected)
                );
                let mut diagnostic = Diagnostic::error(EXPECTATION, message, site.span);
                diagnostic.related.push(Related {
                    span: at,
                    message: "expected here".to_owned(),
                });
                out.push(diagnostic);
            }
            _ => {}
        }
    }
    out
}

/// Scalarsets that the run could not use, told on the query: why the state space is larger than it could be.
fn of_symmetry(site: &QuerySite, report: &QueryReport) -> Vec<Diagnostic> {
    let told = |set: &ExcludedScalarset| {
        let message = format!(
            "States were not reduced over `{}`: it breaks {} at line {}, column {} of the model.",
            set.name, set.rule, set.line, set.column
        );
        Diagnostic::new(NOT_REDUCED, Severity::Hint, message, site.span)
    };
    report.symmetry.excluded.iter().map(told).collect()
}

/// Applies the user's severities; what is switched off goes.
pub fn with_severities(list: Vec<Diagnostic>, settings: &Settings) -> Vec<Diagnostic> {
    let mut list = settings.severities.apply(list);
    list.sort_by_key(|d| (d.span.start, d.span.end));
    list
}

/// Whether `span` lies in `snapshot`'s text; diagnostics elsewhere would land at its end.
pub fn inside(snapshot: &Snapshot, span: Span) -> bool {
    span.end <= snapshot.full_span().end
}
