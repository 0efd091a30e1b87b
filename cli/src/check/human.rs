//! Diagnostics with the text they are about.

use super::Checked;
use crate::output;
use ariadne::{Color, Config, IndexType, Label, Report, ReportKind, Source};
use std::io::IsTerminal;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};

/// More than this many of one file are counted, not shown.
const SHOWN: usize = 100;

pub(super) fn write(files: &[Checked]) {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let color = std::io::stdout().is_terminal() && !no_color;
    let (mut errors, mut warnings) = (0, 0);
    for file in files {
        for d in &file.diagnostics {
            errors += usize::from(d.severity == Severity::Error);
            warnings += usize::from(d.severity == Severity::Warning);
        }
        let source = Source::from(file.text.as_str());
        for d in file.diagnostics.iter().take(SHOWN) {
            let mut out = Vec::new();
            let report = report(file, d, color);
            if report
                .write((file.name.as_str(), source.clone()), &mut out)
                .is_ok()
            {
                output::say(String::from_utf8_lossy(&out).trim_end());
            }
        }
        let more = file.diagnostics.len().saturating_sub(SHOWN);
        if more > 0 {
            output::say(&format!("… and {more} more in {}", file.name));
        }
    }
    output::say(&format!(
        "{} checked: {}, {}",
        count(files.len(), "file"),
        count(errors, "error"),
        count(warnings, "warning")
    ));
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn report<'a>(
    file: &'a Checked,
    d: &Diagnostic,
    color: bool,
) -> Report<'a, (&'a str, std::ops::Range<usize>)> {
    let (kind, paint) = match d.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
        Severity::Info => (ReportKind::Custom("Info", Color::Blue), Color::Blue),
        Severity::Hint => (ReportKind::Custom("Hint", Color::Cyan), Color::Cyan),
    };
    let name = file.name.as_str();
    let fit = |span: zonelens_syntax::span::Span| {
        let end = (span.end as usize).min(file.text.len());
        (span.start as usize).min(end)..end
    };
    let config = Config::default()
        .with_index_type(IndexType::Byte)
        .with_color(color);
    let mut report = Report::build(kind, (name, fit(d.span)))
        .with_config(config)
        .with_code(d.code)
        .with_message(&d.message)
        .with_label(
            Label::new((name, fit(d.span)))
                .with_color(paint)
                .with_message("here"),
        );
    for related in &d.related {
        let label = Label::new((name, fit(related.span))).with_color(Color::Blue);
        report = report.with_label(label.with_message(&related.message));
    }
    for fix in &d.fixes {
        report = report.with_help(&fix.title);
    }
    report.finish()
}
