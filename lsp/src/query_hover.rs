//! What is known about a query, for its hover: verdict, cost, reductions and what stood in their
//! way.

use crate::code_lens;
use crate::runs::View;
use zonelens_analysis::report::QueryReport;
use zonelens_analysis::{report_text, trace_text};

/// Markdown about a query.
pub(crate) fn tell(view: &View) -> String {
    let title = code_lens::title(view).0;
    match view {
        View::Done { report, .. } => format!("{title}\n\n{}", facts(report)),
        _ => title,
    }
}

fn facts(report: &QueryReport) -> String {
    let mut lines: Vec<String> = report_text::statistics(report).into_iter().collect();
    lines.extend(report_text::values(report));
    lines.extend(report_text::reductions(report, None));
    if let Some(constants) = report.constants_text() {
        lines.push(format!("with constants: {constants}"));
    }
    if let Some(reason) = &report.reason {
        lines.push(reason.to_string());
    }
    lines.extend(report.least_time.as_ref().map(report_text::least_time));
    if let Some(trace) = &report.trace {
        lines.push(format!("trace of {}", trace_text::summary(trace)));
    }
    lines.iter().map(|l| format!("- {l}\n")).collect()
}
