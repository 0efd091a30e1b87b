//! What runs found out about the queries of a document, as diagnostics.

use crate::open_trace::OpenTrace;
use crate::queries::QuerySite;
use crate::runs::Known;
use std::sync::Arc;
use zonelens_analysis::diagnostic::{Diagnostic, Related, Severity};
use zonelens_analysis::report::{ExcludedScalarset, QueryReport, Reason, Trace, Verdict};
use zonelens_analysis::report_text::verdict;
use zonelens_analysis::trace_text;
use zonelens_ide::Snapshot;
use zonelens_ide::names::Target;
use zonelens_ide::trace::{edge_places, edges_of};
use zonelens_project::settings::Settings;
use zonelens_syntax::span::Span;

/// The verdict is not what the author expects.
const EXPECTATION: &str = "query/expectation";
/// A scalarset was left out of the reduction.
const NOT_REDUCED: &str = "query/not-reduced";
/// The run ended without an answer for a reason in the model or the query.
const UNANSWERED: &str = "query/unanswered";
/// The query is satisfied and says nothing.
const VACUOUS: &str = "query/vacuous";
/// The open trace.
const TRACE: &str = "query/trace";
/// The number of edges of a trace that are reported as related places.
const MAX_PATH: usize = 100;

/// A diagnostic with places in other documents.
pub(crate) struct Finding {
    /// What is wrong, and places in its own document.
    pub diagnostic: Diagnostic,
    /// Places elsewhere, and what is there.
    pub elsewhere: Vec<(Target, String)>,
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Finding {
        Finding {
            diagnostic,
            elsewhere: Vec::new(),
        }
    }
}

/// What answers say about queries. Of those whose text means something else by now only an unmet
/// expectation is left, and it says so.
pub(crate) fn of_answers(
    model: &Arc<Snapshot>,
    sites: &[QuerySite],
    answers: &[Known],
) -> Vec<Finding> {
    let mut out = Vec::new();
    for site in sites {
        let Some(known) = answers.iter().find(|k| k.meaning == site.meaning) else {
            let mut of_query = answers.iter().filter(|k| k.query == site.text);
            out.extend(of_query.find_map(|k| unmet(model, site, &k.report).map(stale)));
            continue;
        };
        let report = &known.report;
        let excluded = report.symmetry.excluded.iter();
        out.extend(excluded.map(|set| not_reduced(model, site, set)));
        out.extend(unmet(model, site, report));
        out.extend(unanswered(site, report));
        out.extend(vacuous(site, report));
    }
    out
}

/// The verdict is not the expected one; the trace is reported if there is one.
fn unmet(model: &Arc<Snapshot>, site: &QuerySite, report: &QueryReport) -> Option<Finding> {
    let (expected, at) = site.expected?;
    let decided = matches!(report.verdict, Verdict::Satisfied | Verdict::Violated);
    if !decided || expected == report.verdict {
        return None;
    }
    let (verdict, expected) = (verdict(report.verdict), verdict(expected));
    let message = format!("This query is {verdict}, but it is expected to be {expected}.");
    let mut diagnostic = Diagnostic::new(EXPECTATION, message, site.span);
    diagnostic.related.push(Related {
        span: at,
        message: "expected here".to_owned(),
    });
    let trace = report.trace.as_ref();
    Some(Finding {
        diagnostic,
        elsewhere: trace.map(|t| path(model, t)).unwrap_or_default(),
    })
}

/// What was found out about another text: no error of this one, and its path may lead nowhere here.
fn stale(finding: Finding) -> Finding {
    let mut diagnostic = finding.diagnostic.varied(Severity::Info);
    diagnostic.message = format!("Stale: {}", diagnostic.message);
    diagnostic.into()
}

/// The run met an error of the model, or something that is not supported. Limits are shown only on
/// the lens.
fn unanswered(site: &QuerySite, report: &QueryReport) -> Option<Finding> {
    let reason = report.reason.as_ref()?;
    // What is recognised but not verified is not reported as an error.
    let no_error = match (report.verdict, reason) {
        (Verdict::Error, _) => false,
        (Verdict::Unknown, Reason::Unsupported(_) | Reason::Approximate(_)) => true,
        _ => return None,
    };
    let message = format!("This query has no answer: {}", reason.sentence());
    let diagnostic = Diagnostic::new(UNANSWERED, message, site.span);
    Some(match no_error {
        true => diagnostic.varied(Severity::Info).into(),
        false => diagnostic.into(),
    })
}

/// A query that is satisfied for a reason that its author hardly meant.
fn vacuous(site: &QuerySite, report: &QueryReport) -> Option<Finding> {
    let hint = report.vacuous.as_ref()?;
    let message = format!("This query is satisfied, but {}.", hint.message);
    Some(Diagnostic::new(VACUOUS, message, site.span).into())
}

/// A scalarset that the run could not use: why the state space is larger than it could be.
fn not_reduced(model: &Arc<Snapshot>, site: &QuerySite, set: &ExcludedScalarset) -> Finding {
    let message = format!(
        "States were not reduced over `{}`: it breaks {} at line {}, column {} of the model.",
        set.name, set.rule, set.line, set.column
    );
    let line = set.line.saturating_sub(1) as usize;
    let place = (line < model.rope.len_lines()).then(|| {
        let start = model.rope.line_to_char(line);
        let column = set.column.saturating_sub(1) as usize;
        let at = (start + column).min(model.rope.len_chars());
        let offset = model.rope.char_to_byte(at) as u32;
        let target = Target {
            snapshot: Arc::clone(model),
            span: Span::new(offset, offset),
        };
        (target, format!("{} is broken here", set.rule))
    });
    Finding {
        diagnostic: Diagnostic::new(NOT_REDUCED, message, site.span),
        elsewhere: place.into_iter().collect(),
    }
}

/// The open trace at its query: the current step, and the way of all steps. `model` must mean what
/// it was found in.
pub(crate) fn of_trace(
    model: &Arc<Snapshot>,
    sites: &[QuerySite],
    open: &OpenTrace,
) -> Option<Finding> {
    let fits = |s: &&QuerySite| s.text == open.query && s.meaning == open.meaning;
    let site = sites.iter().find(fits)?;
    let steps = trace_text::steps(&open.trace);
    let step = steps.get(open.step)?;
    let last = open.trace.steps.len().saturating_sub(1);
    let message = format!(
        "Trace, step {} of {last}, t = {}: {}",
        open.step, step.time, step.action
    );
    Some(Finding {
        diagnostic: Diagnostic::new(TRACE, message, site.span),
        elsewhere: path(model, &open.trace),
    })
}

/// The edges of a trace in order, at their places.
fn path(model: &Arc<Snapshot>, trace: &Trace) -> Vec<(Target, String)> {
    let steps = trace_text::steps(trace);
    let mut out = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let places = edge_places(model, trace, number);
        for (edge, place) in edges_of(trace, number).iter().zip(places) {
            let Some(span) = place.mark else { continue };
            let target = Target {
                snapshot: Arc::clone(model),
                span: Span::new(span.start, span.start),
            };
            let text = format!(
                "step {number}, t = {}: {} goes from {} to {}",
                step.time, edge.process, edge.from, edge.to
            );
            out.push((target, text));
            if out.len() == MAX_PATH {
                return out;
            }
        }
    }
    out
}

/// Applies the user's severities; what is switched off goes.
pub(crate) fn with_severities(list: Vec<Finding>, settings: &Settings) -> Vec<Finding> {
    let judged = |f: Finding| {
        let kept = settings.severities.apply(vec![f.diagnostic]).pop()?;
        Some(Finding {
            diagnostic: kept,
            elsewhere: f.elsewhere,
        })
    };
    let mut list: Vec<Finding> = list.into_iter().filter_map(judged).collect();
    list.sort_by_key(|f| (f.diagnostic.span.start, f.diagnostic.span.end));
    list
}

/// Whether `span` lies in `snapshot`'s text; diagnostics elsewhere would land at its end.
pub(crate) fn inside(snapshot: &Snapshot, span: Span) -> bool {
    span.end <= snapshot.full_span().end
}
