//! Syntax errors: values with a code, a place and a sentence.

use crate::span::{Span, TextEdit};

/// A way to repair an error of syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What it does, as a menu entry.
    pub title: String,
    /// The edits, applied together; their spans are relative to what the span of the error is relative to.
    pub edits: Vec<TextEdit>,
    /// Whether it may be made without asking: only this can have been meant.
    pub safe: bool,
}

/// Something that is not in the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// `syntax/…`, or `query/…` inside a query.
    pub code: &'static str,
    /// What is wrong and what to write instead, in the user's words.
    pub message: String,
    /// Where, relative to the enclosing placed node.
    pub span: Span,
    /// Ways to repair it.
    pub repairs: Vec<Repair>,
}

impl SyntaxError {
    /// A new error.
    pub fn new(code: &'static str, message: impl Into<String>, span: Span) -> SyntaxError {
        SyntaxError {
            code,
            message: message.into(),
            span,
            repairs: Vec::new(),
        }
    }

    /// With a repair that puts `text` in place of `span`.
    #[must_use]
    pub fn repair(
        mut self,
        title: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> SyntaxError {
        let text = text.into();
        self.repairs.push(Repair {
            title: title.into(),
            edits: vec![TextEdit { span, text }],
            safe: false,
        });
        self
    }

    /// The last repair may be made without asking.
    #[must_use]
    pub fn safe(mut self) -> SyntaxError {
        if let Some(last) = self.repairs.last_mut() {
            last.safe = true;
        }
        self
    }

    /// The same error with every span changed by `place`.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(Span) -> Span) -> SyntaxError {
        self.span = place(self.span);
        for edit in self.repairs.iter_mut().flat_map(|r| &mut r.edits) {
            edit.span = place(edit.span);
        }
        self
    }
}
