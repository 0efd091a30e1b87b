//! Diagnostics with the text they are about.

use super::Checked;
use super::excerpt::{self, Place};
use crate::output::{self, Palette, Stream};
use std::fmt::Write;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};

/// More than this many of one file are counted, not shown.
const SHOWN: usize = 100;

/// Writes what was found in all files, down to `least`, and how much it is. `fixed` is how many were repaired.
pub(super) fn write(files: &[Checked], least: Severity, fixed: Option<usize>, stream: Stream) {
    let palette = Palette::of(stream);
    let (mut errors, mut warnings, mut hidden) = (0, 0, 0);
    for file in files {
        for d in &file.diagnostics {
            errors += usize::from(d.severity == Severity::Error);
            warnings += usize::from(d.severity == Severity::Warning);
            hidden += usize::from(d.severity > least);
        }
        let shown = || file.diagnostics.iter().filter(|d| d.severity <= least);
        for d in shown().take(SHOWN) {
            stream.say(report(file, d, palette).trim_end());
        }
        let more = shown().count().saturating_sub(SHOWN);
        if more > 0 {
            stream.say(&format!("… and {more} more in {}", file.name));
        }
    }
    let mut line = format!(
        "{} checked: {}, {}",
        count(files.len(), "file"),
        count(errors, "error"),
        count(warnings, "warning")
    );
    if hidden > 0 {
        let _ = write!(line, " ({hidden} not shown)");
    }
    if let Some(fixed) = fixed {
        let _ = write!(line, "; {} fixed", count(fixed, "problem"));
    }
    stream.say(&line);
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn report(file: &Checked, d: &Diagnostic, palette: Palette) -> String {
    let (word, paint): (&str, fn(Palette, &str) -> String) = match d.severity {
        Severity::Error => ("Error", Palette::bad),
        Severity::Warning => ("Warning", Palette::doubtful),
        Severity::Info => ("Info", Palette::note),
        Severity::Hint => ("Hint", Palette::note),
    };
    let message = output::one_line(&d.message);
    let at = Place::of(file, d.span);
    if file.foreign {
        // Of a file that is something else nothing but this matters.
        return format!(
            "{at}: {}: {message} [{}]",
            paint(palette, &word.to_lowercase()),
            d.code
        );
    }
    let heading = paint(palette, &format!("[{}] {word}:", d.code));
    let mut out = format!("{heading} {message}\n");
    let related: Vec<Place<'_>> = d.related.iter().map(|r| Place::of(file, r.span)).collect();
    let widest = related.iter().map(Place::line).chain([at.line()]).max();
    let width = widest.unwrap_or(1).to_string().len() + 2;
    let edge = |mark: &str| format!("{}{}", " ".repeat(width), palette.faint(mark));
    let _ = writeln!(
        out,
        "{}{}",
        edge("╭─["),
        format_args!(" {at} {}", palette.faint("]"))
    );
    let _ = writeln!(out, "{}", edge("│"));
    excerpt::write(&mut out, &at, width, palette, |text| paint(palette, text));
    if !related.is_empty() {
        let _ = writeln!(out, "{}\n{} Related:", edge("│"), edge("│"));
    }
    for (place, related) in related.iter().zip(&d.related) {
        let message = output::one_line(&related.message);
        let _ = writeln!(out, "{}   {place}: {message}", edge("│"));
        excerpt::write(&mut out, place, width, palette, |text| palette.note(text));
    }
    if !d.fixes.is_empty() {
        let _ = writeln!(out, "{}", edge("│"));
    }
    for fix in &d.fixes {
        let _ = writeln!(out, "{} Help: {}", edge("│"), output::one_line(&fix.title));
    }
    let _ = writeln!(out, "{}", palette.faint(&format!("{}╯", "─".repeat(width))));
    out
}
