//! What is known about a query, for its hover: verdict, cost, reductions and what stood in their way.

use crate::code_lens::{self, grouped};
use crate::runs::View;
use zonelens_analysis::report::QueryReport;
use zonelens_analysis::{report_text, trace_text};

/// Markdown about a query.
pub fn tell(view: &View) -> String {
    let title = code_lens::title(view).0;
    match view {
        View::Done { report, .. } => format!("{title}\n\n{}", facts(report)),
        _ => title,
    }
}

fn facts(report: &QueryReport) -> String {
    let s = &report.statistics;
    let mut lines = vec![format!(
        "{} states stored, {} explored, {} transitions, {:.1} MB",
        grouped(s.stored),
        grouped(s.explored),
        grouped(s.transitions),
        s.peak_memory_bytes as f64 / 1e6
    )];
    lines.extend(report_text::values(report));
    for set in &report.symmetry.scalarsets {
        let found = if set.detected { ", detected" } else { "" };
        lines.push(format!(
            "symmetry over `{}` ({}{found}): states equal up to renaming them are explored once",
            set.name,
            set.group()
        ));
    }
    if !report.symmetry.canonical {
        lines.push("some of them were still counted more than once".to_owned());
    }
    for set in &report.symmetry.excluded {
        lines.push(format!(
            "not reduced over `{}`: `{}` is broken at line {}, column {}",
            set.name, set.rule, set.line, set.column
        ));
    }
    if report.symmetry.scalarsets.is_empty() && report.symmetry.excluded.is_empty() {
        lines.push("no symmetry was used".to_owned());
    }
    if report.symmetrised {
        lines.push("the query was made symmetric over the elements it names".to_owned());
    }
    if !report.reductions.is_empty() {
        lines.push(format!(
            "other reductions: {}",
            report.reductions.join(", ")
        ));
    }
    if let Some(constants) = report.constants_text() {
        lines.push(format!(
            "constants given from outside the file: {constants}"
        ));
    }
    if let Some(reason) = &report.reason {
        lines.push(reason.clone());
    }
    lines.extend(report.least_time.as_ref().map(report_text::least_time));
    if let Some(trace) = &report.trace {
        lines.push(format!("trace of {}", trace_text::summary(trace)));
    }
    lines.iter().map(|l| format!("- {l}\n")).collect()
}
