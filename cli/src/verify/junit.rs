//! Results as JUnit XML, for continuous integration.

use super::Tally;
use crate::model::passes;
use std::fmt::Write;
use std::path::Path;
use zonelens_analysis::report::{QueryReport, Verdict};
use zonelens_analysis::{report_text, trace_text};
use zonelens_syntax::xml;

/// The suites of a document.
#[derive(Default)]
pub(super) struct Suites {
    text: String,
    tally: Tally,
    time: f64,
}

impl Suites {
    /// Adds the suite of a model: one case per query.
    pub(super) fn add(&mut self, model: &Path, reports: &[QueryReport]) {
        let mut tally = Tally::default();
        for report in reports {
            tally.take(report);
            self.tally.take(report);
        }
        let time: f64 = reports.iter().map(|r| r.statistics.seconds).sum();
        self.time += time;
        let name = escape(&model.display().to_string());
        let _ = writeln!(
            self.text,
            "  <testsuite name=\"{name}\" {} skipped=\"{}\" time=\"{time:.3}\">",
            counts(&tally),
            tally.unknown
        );
        for report in reports {
            case(&mut self.text, &name, model, report);
        }
        self.text.push_str("  </testsuite>\n");
    }

    /// The document.
    pub(super) fn document(&self) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"zonelens\" {} time=\"{:.3}\">\n{}</testsuites>\n",
            counts(&self.tally),
            self.time,
            self.text
        )
    }
}

fn counts(tally: &Tally) -> String {
    let tests = tally.passed + tally.failed + tally.errors + tally.unknown;
    format!(
        "tests=\"{tests}\" failures=\"{}\" errors=\"{}\"",
        tally.failed, tally.errors
    )
}

fn case(out: &mut String, class: &str, model: &Path, report: &QueryReport) {
    let query = escape(&report.query);
    let _ = write!(
        out,
        "    <testcase name=\"{query}\" classname=\"{class}\" time=\"{:.3}\"",
        report.statistics.seconds
    );
    let reason = escape(&report.reason_text());
    let body = match report.verdict {
        Verdict::Error => match run_of(report, model) {
            run if run.is_empty() => format!("<error message=\"{reason}\"/>"),
            run => format!("<error message=\"{reason}\">{run}</error>"),
        },
        // This is text and not an attribute, because the schema that Jenkins uses has none here.
        Verdict::Unknown => format!("<skipped>unknown: {reason}</skipped>"),
        _ if passes(report) => {
            out.push_str("/>\n");
            return;
        }
        verdict => {
            let word = report_text::verdict(verdict);
            let expectation = report_text::expectation(report);
            let run = run_of(report, model);
            format!("<failure message=\"{word}{expectation}\">{run}</failure>")
        }
    };
    let _ = writeln!(out, ">\n      {body}\n    </testcase>");
}

/// The trace of a report, as text for XML.
fn run_of(report: &QueryReport, model: &Path) -> String {
    let trace = report.trace.as_ref();
    trace.map_or_else(String::new, |trace| {
        escape(&trace_text::to_text(trace, &model.display().to_string()))
    })
}

/// Escapes text for XML; control characters that XML does not allow are dropped.
fn escape(text: &str) -> String {
    let is_lost = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    xml::escape(&text.replace(is_lost, "")).replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonelens_analysis::report::Reason;

    #[test]
    fn an_error_holds_its_run() {
        let reason = Reason::ModelError("line 2".to_owned());
        let mut report = QueryReport::without_run("A[] x", 1, Verdict::Error, reason);
        let state = zonelens_analysis::report::TraceState {
            locations: [("P".to_owned(), "here".to_owned())].into(),
            variables: Default::default(),
            clocks: Default::default(),
        };
        report.trace = Some(zonelens_analysis::report::Trace {
            kind: zonelens_analysis::report::TraceKind::Path,
            cycle_start: None,
            steps: vec![zonelens_analysis::report::TraceStep {
                delay: "0".into(),
                transition: None,
                state,
            }],
        });
        let mut suites = Suites::default();
        suites.add(Path::new("m.xta"), &[report]);
        let text = suites.document();
        let error = text.split_once("<error message=\"model-error: line 2\">");
        let run = error.and_then(|(_, rest)| rest.split_once("</error>"));
        assert!(
            run.is_some_and(|(run, _)| run.contains("here: P")),
            "{text}"
        );
    }

    #[test]
    fn one_case_per_query_and_true_counts() {
        let make = |query: &str, verdict, reason: &str| {
            QueryReport::without_run(query, 1, verdict, Reason::from(reason.to_owned()))
        };
        let reports = [
            make("A[] x < 3", Verdict::Satisfied, ""),
            make("E<> a && b", Verdict::Violated, ""),
            make("A<> c", Verdict::Unknown, "timeout: over"),
            make("A[] q", Verdict::Error, "query-error: `q`"),
        ];
        let mut suites = Suites::default();
        suites.add(Path::new("m.xta"), &reports);
        suites.add(Path::new("n.xta"), &reports[..1]);
        let text = suites.document();
        assert!(
            text.contains("<testsuites name=\"zonelens\" tests=\"5\" failures=\"1\" errors=\"1\" ")
        );
        assert_eq!(text.matches("<testsuite ").count(), 2);
        assert!(text.contains("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""));
        assert!(text.contains("name=\"A[] x &lt; 3\""));
        assert!(text.contains("<failure message=\"violated\">"));
        assert!(text.contains("<skipped>unknown: timeout: over</skipped>"));
        assert_eq!(text.matches("<testcase").count(), 5);
        assert_eq!(text.matches("</testcase>").count(), 3);
    }
}
