//! Diagnostics: what is wrong, where, why it matters, what to write instead.

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
}

impl Diagnostic {
    /// An error without related places or fixes.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message, span)
    }

    /// A diagnostic without related places or fixes.
    pub fn new(
        code: &'static str,
        severity: Severity,
        message: impl Into<String>,
        span: Span,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            span,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }
}
