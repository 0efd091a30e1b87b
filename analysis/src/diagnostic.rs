//! Diagnostics: what is wrong, where, why it matters, and what to write instead.

use zonelens_syntax::error::SyntaxError;
use zonelens_syntax::span::{Span, TextEdit};

/// The severity of a diagnostic, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}

impl Severity {
    /// The name used in JSON output and in `zonelens.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        }
    }
}

/// A diagnostic. Spans are absolute byte ranges in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, `area/name`. Codes are stable.
    pub code: &'static str,
    /// The severity, after configuration.
    pub severity: Severity,
    /// One or two sentences in the user's words.
    pub message: String,
    /// The primary span.
    pub span: Span,
    /// Related places in the same file.
    pub related: Vec<Related>,
    /// Fixes to offer.
    pub fixes: Vec<Fix>,
}

/// A related place of a diagnostic, in the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The span of the place.
    pub span: Span,
    /// What the place has to do with the diagnostic.
    pub message: String,
}

/// A fix: edits of the same file, to be applied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The title shown in the editor's menu.
    pub title: String,
    /// The edits. Their spans do not overlap.
    pub edits: Vec<TextEdit>,
    /// Whether it may be applied without asking: the model keeps its meaning, or the old text had
    /// none and this is the only plausible one.
    pub safe: bool,
}

impl Diagnostic {
    /// A syntax error with its fixes; `base` is added to its spans.
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

    /// Creates a diagnostic with the default severity of its code, without related places or fixes.
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

    /// Changes the severity for a reason that lies in the situation, not in the code. Apart from
    /// the settings of a workspace, this is the only way to deviate from the table of rules.
    pub fn varied(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }
}

/// The most diagnostics shown per file.
pub const MAX_SHOWN: usize = 1000;

/// The diagnostics of a file to show: all of them, or the worst [`MAX_SHOWN`] in text order and one
/// more that gives the number of the others. `of` returns the diagnostic of an entry.
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

/// Like [`shown`], without copying the list first: it may have a million entries.
pub fn shown_of(list: &[Diagnostic]) -> Vec<Diagnostic> {
    let Some((kept, closing)) = worst(list.iter()) else {
        return list.to_vec();
    };
    let mut out: Vec<Diagnostic> = kept.iter().map(|i| list[*i].clone()).collect();
    out.push(closing);
    out
}

/// The indices of the worst [`MAX_SHOWN`] diagnostics in text order, and a diagnostic that counts
/// the others. `None` if all are shown.
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
