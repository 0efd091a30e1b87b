//! Diagnostics as text, with excerpts.

use super::Checked;
use super::excerpt::{self, Place};
use crate::output::{self, Palette, Stream};
use annotate_snippets::renderer::DEFAULT_INFO_STYLE;
use annotate_snippets::{Group, Level, Padding, Renderer};
use std::fmt::Write;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};

/// The most diagnostics of one file that are shown; the others are only counted.
const SHOWN: usize = 100;

/// Writes the diagnostics of all files, down to `least`, and a summary. `fixed` is the number of
/// problems that were fixed.
pub(super) fn write(files: &[Checked], least: Severity, fixed: Option<usize>, stream: Stream) {
    let view = View::of(stream);
    let (mut errors, mut warnings, mut hidden) = (0, 0, 0);
    for file in files {
        for d in &file.diagnostics {
            errors += usize::from(d.severity == Severity::Error);
            warnings += usize::from(d.severity == Severity::Warning);
            hidden += usize::from(d.severity > least);
        }
        let shown = || file.diagnostics.iter().filter(|d| d.severity <= least);
        for d in shown().take(SHOWN) {
            stream.say(&report(file, d, &view));
            if !file.foreign {
                stream.say("");
            }
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

fn report(file: &Checked, d: &Diagnostic, view: &View) -> String {
    let message = output::one_line(&d.message);
    let at = Place::of(file, d.span);
    let (word, level) = match d.severity {
        Severity::Error => ("error", Level::ERROR),
        Severity::Warning => ("warning", Level::WARNING),
        Severity::Info => ("info", Level::INFO),
        Severity::Hint => ("hint", Level::INFO.with_name("hint")),
    };
    if file.foreign {
        // If a file is not a model, only this diagnostic matters.
        let paint = match d.severity {
            Severity::Error => Palette::bad,
            Severity::Warning => Palette::doubtful,
            Severity::Info | Severity::Hint => Palette::note,
        };
        let word = paint(view.palette, word);
        return format!("{at}: {word}: {message} [{}]", d.code);
    }
    // A group without a title continues the previous one. A title and its position in the same
    // group would be followed by an empty line.
    let title = level.clone().secondary_title(message).id(d.code);
    let place = Group::with_level(level.clone()).element(at.origin());
    let mut excerpt = Group::with_level(level).element(at.snippet(view.width));
    if !d.fixes.is_empty() {
        excerpt = excerpt.element(Padding);
    }
    for fix in &d.fixes {
        excerpt = excerpt.element(Level::HELP.message(output::one_line(&fix.title)));
    }
    let mut groups = vec![Group::with_title(title), place, excerpt];
    for related in &d.related {
        let at = Place::of(file, related.span);
        let title = Level::NOTE.secondary_title(output::one_line(&related.message));
        groups.push(title.element(at.origin()));
        groups.push(Group::with_level(Level::NOTE).element(at.snippet(view.width)));
    }
    view.renderer.render(&groups)
}

/// How reports are drawn.
struct View {
    palette: Palette,
    width: usize,
    renderer: Renderer,
}

impl View {
    fn of(stream: Stream) -> View {
        let palette = Palette::of(stream);
        let width = excerpt::width(stream.columns());
        let renderer = match palette.is_colored() {
            // Green is also the colour of verdicts without problems.
            true => Renderer::styled().note(DEFAULT_INFO_STYLE),
            false => Renderer::plain(),
        };
        View {
            palette,
            width,
            renderer: renderer.term_width(width),
        }
    }
}
