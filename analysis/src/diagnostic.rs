//! Diagnostics: what is wrong, where, why it matters, what to write instead.

use zonelens_syntax::error::SyntaxError;
use zonelens_syntax::span::{Span, TextEdit};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}

impl Severity {
    /// As in the JSON contract and in `zonelens.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        }
    }
}

/// A finding. Spans are absolute byte ranges in the file it was found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `area/name`, stable.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// One or two sentences in the user's words.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// Ways to repair it.
    pub fixes: Vec<Fix>,
}

/// Another place that matters to a diagnostic, in the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What is there.
    pub message: String,
}

/// A repair: edits of the same file, applied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a menu entry.
    pub title: String,
    /// The edits; their spans do not overlap.
    pub edits: Vec<TextEdit>,
    /// Whether it may be made without asking: the model means the same afterwards, or what stood there had no meaning and
    /// only this can have been meant.
    pub safe: bool,
}

impl Diagnostic {
    /// An error of syntax, with its repairs; `base` is added to its spans.
    pub fn syntax(error: &SyntaxError, base: u32) -> Diagnostic {
        let repairs = error.repairs.iter().map(|r| Fix {
            title: r.title.clone(),
            edits: r
                .edits
                .iter()
                .map(|e| TextEdit {
                    span: e.span.shift(base),
                    text: e.text.clone(),
                })
                .collect(),
            safe: r.safe,
        });
        Diagnostic {
            fixes: repairs.collect(),
            ..Diagnostic::new(error.code, error.message.clone(), error.span.shift(base))
        }
    }

    /// A diagnostic as severe as the table of rules says, without related places or fixes.
    pub fn new(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            code,
            severity: crate::rules::severity(code),
            message: message.into(),
            span,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// The same finding with another severity than its code usually has: a reason in the situation, not in the code. The
    /// only way to differ from the table, besides the settings of a workspace.
    pub fn varied(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }
}

/// More of one file is not shown.
pub const MAX_SHOWN: usize = 1000;

/// The findings of a file that are shown: all, or the worst [`MAX_SHOWN`] in their order and one that says how many
/// more there are. `of` gives the diagnostic of a finding.
pub fn shown<T: From<Diagnostic>>(list: Vec<T>, of: impl Fn(&T) -> &Diagnostic) -> Vec<T> {
    let Some((kept, closing)) = worst(list.iter().map(&of)) else {
        return list;
    };
    let numbered = list.into_iter().enumerate();
    let kept = numbered.filter(|(i, _)| kept.binary_search(i).is_ok());
    let mut out: Vec<T> = kept.map(|(_, t)| t).collect();
    out.push(closing.into());
    out
}

/// As [`shown`], of a list that is not copied first: there may be a million of them.
pub fn shown_of(list: &[Diagnostic]) -> Vec<Diagnostic> {
    let Some((kept, closing)) = worst(list.iter()) else {
        return list.to_vec();
    };
    let mut out: Vec<Diagnostic> = kept.iter().map(|i| list[*i].clone()).collect();
    out.push(closing);
    out
}

/// The numbers of the worst [`MAX_SHOWN`] in their order, and what is said of the others; `None` if there are none.
fn worst<'a>(list: impl Iterator<Item = &'a Diagnostic>) -> Option<(Vec<usize>, Diagnostic)> {
    let mut order: Vec<(Severity, usize, Span)> = list
        .enumerate()
        .map(|(i, d)| (d.severity, i, d.span))
        .collect();
    let more = order.len().checked_sub(MAX_SHOWN).filter(|n| *n > 0)?;
    order.sort_unstable_by_key(|(severity, i, _)| (*severity, *i));
    let (kept, left_out) = order.split_at(MAX_SHOWN);
    let errors = left_out.iter().filter(|(s, ..)| *s == Severity::Error);
    let message = format!(
        "and {more} more in this file, {} of them errors",
        errors.count()
    );
    let at = left_out
        .first()
        .map_or(Span::new(0, 0), |(_, _, span)| *span);
    let mut kept: Vec<usize> = kept.iter().map(|(_, i, _)| *i).collect();
    kept.sort_unstable();
    Some((kept, Diagnostic::new("lint/more", message, at)))
}
