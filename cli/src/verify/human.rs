//! Results as text for users.

use super::Tally;
use crate::model::passes;
use crate::output::{Palette, one_line, shortened};
use std::fmt::Write;
use std::path::Path;
use zonelens_analysis::report::{QueryReport, TraceKind, Verdict};
use zonelens_analysis::trace_text::Booleans;
use zonelens_analysis::{report_text, trace_text};

/// The most characters of a query that are shown.
const LONGEST_QUERY: usize = 500;

/// Writes reports as text.
pub(super) struct Human {
    palette: Palette,
    /// Whether witnesses of `E<>` are written in full.
    witnesses: bool,
}

/// Facts about the model that the report itself does not contain.
#[derive(Default)]
pub(super) struct About {
    /// The variables whose values are shown as `true` and `false`.
    pub booleans: Booleans,
    /// The overridden constants.
    pub constants: Option<String>,
}

impl Human {
    /// Writes with the colours of `palette`; with `witnesses`, the witness of an `E<>` is written
    /// in full.
    pub(super) fn new(palette: Palette, witnesses: bool) -> Human {
        Human { palette, witnesses }
    }

    /// The line before all reports.
    pub(super) fn heading(&self, model: &Path) -> String {
        self.palette.strong(&model.display().to_string())
    }

    /// Writes one report; `from` is the file of its query, `model` the file that its trace refers
    /// to.
    pub(super) fn report(
        &self,
        report: &QueryReport,
        from: Option<&Path>,
        model: &Path,
        about: &About,
    ) -> String {
        let mut out = String::new();
        let place = match from {
            Some(path) if path == model => format!("line {}", report.line),
            Some(path) => format!("{}:{}", path.display(), report.line),
            None => "-q".to_owned(),
        };
        let _ = writeln!(
            out,
            "\n  {} {}  {}",
            self.mark(report),
            self.palette
                .strong(&shortened(&report.query, LONGEST_QUERY)),
            self.palette.faint(&place)
        );
        let _ = writeln!(out, "    {}", self.verdict_line(report));
        if let Some(line) = report_text::statistics(report) {
            let _ = writeln!(out, "    {}", self.palette.faint(&line));
        }
        if let Some(every) = &report.every {
            let _ = writeln!(out, "    {}", every.text());
        }
        if let Some(line) = report_text::certificate(report) {
            let _ = writeln!(out, "    {line}");
        }
        if let Some(line) = report_text::vacuous(report) {
            let line = self.palette.doubtful(&one_line(&line));
            let _ = writeln!(out, "    {line}");
        }
        for line in report_text::values(report) {
            let _ = writeln!(out, "    {line}");
        }
        let file = model.display().to_string();
        for line in report_text::reductions(report, Some(&file)) {
            let _ = writeln!(out, "    {}", self.palette.faint(&line));
        }
        if let Some(constants) = &about.constants {
            let line = format!("with constants: {constants}");
            let _ = writeln!(out, "    {}", self.palette.faint(&line));
        }
        if let Some(trace) = &report.trace {
            let what = match report.verdict {
                Verdict::Violated => "counterexample",
                Verdict::Error => "run to the error",
                _ => "witness",
            };
            if let Some(least) = &report.least_time {
                let _ = writeln!(out, "    {}", report_text::least_time(least));
            }
            let summary = trace_text::summary(trace);
            if self.folds(report) {
                let line = format!("{what}, {summary} (--witness shows it)");
                let _ = writeln!(out, "    {}", self.palette.faint(&line));
            } else {
                let _ = writeln!(out, "    {what}, {summary}:");
                for line in trace_text::to_text_with(trace, &file, &about.booleans).lines() {
                    let _ = writeln!(out, "      {line}");
                }
                if trace.kind == TraceKind::Path && speaks_of_runs(&report.query) {
                    let _ = writeln!(out, "      … and then the run takes no further transition");
                }
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Whether only the length of the trace is shown: an `E<>` asks whether something can happen,
    /// and rarely how.
    fn folds(&self, report: &QueryReport) -> bool {
        let possible = report.query.trim_start().starts_with("E<>");
        !self.witnesses && possible && report.verdict == Verdict::Satisfied && passes(report)
    }

    fn mark(&self, report: &QueryReport) -> String {
        match report.verdict {
            Verdict::Unknown => self.palette.doubtful("?"),
            _ if passes(report) => self.palette.good("✓"),
            _ => self.palette.bad("✗"),
        }
    }

    fn verdict_line(&self, report: &QueryReport) -> String {
        let word = report_text::verdict(report.verdict);
        let word = match report.verdict {
            Verdict::Unknown => self.palette.doubtful(word),
            _ if passes(report) => self.palette.good(word),
            _ => self.palette.bad(word),
        };
        let mut line = word;
        line.push_str(&report_text::expectation(report));
        if let Some(reason) = &report.reason {
            let _ = write!(line, " ({})", one_line(&reason.to_string()));
        } else {
            let comma = if report.expected.is_some() { "," } else { "" };
            let _ = write!(
                line,
                "{comma} in {}",
                report_text::seconds(report.statistics.seconds)
            );
        }
        line
    }

    /// The line after the reports on this many models.
    pub(super) fn summary(&self, tally: &Tally, models: usize) -> String {
        let Tally {
            passed, unknown, ..
        } = *tally;
        let failed = tally.failed + tally.errors;
        let total = passed + unknown + failed;
        let mut parts = Vec::new();
        if passed > 0 {
            parts.push(self.palette.good(&format!("{passed} passed")));
        }
        if failed > 0 {
            parts.push(self.palette.bad(&format!("{failed} failed")));
        }
        if unknown > 0 {
            parts.push(self.palette.doubtful(&format!("{unknown} unknown")));
        }
        let noun = if total == 1 { "query" } else { "queries" };
        let of = match models {
            0 | 1 => String::new(),
            _ => format!(" in {models} models"),
        };
        format!("\n{total} {noun}{of}: {}", parts.join(", "))
    }
}

/// Whether a trace for this query is a whole run rather than a path to a state.
fn speaks_of_runs(query: &str) -> bool {
    query.starts_with("A<>") || query.starts_with("E[]") || query.contains("-->")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonelens_analysis::report::Reason;

    #[test]
    fn a_report_tells_verdict_place_and_reason() {
        let mut report = QueryReport::without_run(
            "A[] not deadlock",
            4,
            Verdict::Unknown,
            Reason::Timeout("60 s are over".to_owned()),
        );
        report.expected = Some(Verdict::Satisfied);
        report.statistics.stored = 41200;
        report.statistics.explored = 40000;
        let human = Human::new(Palette::plain(), false);
        let model = Path::new("m.xta");
        let text = human.report(&report, Some(model), model, &About::default());
        assert_eq!(
            text.trim(),
            "? A[] not deadlock  line 4\n    \
             unknown, but it should be satisfied (timeout: 60 s are over)\n    \
             41\u{202f}200 states stored, 40\u{202f}000 explored, 0 transitions"
        );
        let mut tally = Tally::default();
        tally.take(&report);
        assert_eq!(human.summary(&tally, 1).trim(), "1 query: 1 unknown");
        let line = human.summary(&tally, 3);
        assert_eq!(line.trim(), "1 query in 3 models: 1 unknown");
    }

    #[test]
    fn an_unmet_expectation_is_not_about_time() {
        let mut report = QueryReport::without_run("E<> p", 1, Verdict::Satisfied, None);
        report.expected = Some(Verdict::Violated);
        report.statistics.seconds = 0.004;
        report.statistics.stored = 1;
        report.statistics.transitions = 1;
        let human = Human::new(Palette::plain(), false);
        let text = human.report(&report, None, Path::new("m.xta"), &About::default());
        assert_eq!(
            text.trim(),
            "✗ E<> p  -q\n    satisfied, but it should be violated, in 4 ms\n    \
             1 state stored, 0 explored, 1 transition"
        );
    }
}
