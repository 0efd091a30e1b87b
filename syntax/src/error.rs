//! Syntax errors: a code, a position, a message and possible repairs.

use crate::span::{Span, TextEdit};

/// A possible repair of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// A description of the repair, shown as a menu entry.
    pub title: String,
    /// The edits, applied together. Their spans are relative to the same node as the span of the
    /// error.
    pub edits: Vec<TextEdit>,
    /// Whether it may be applied without asking, because no other meaning is possible.
    pub safe: bool,
}

/// A violation of the syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// `syntax/…`, or `query/…` inside a query.
    pub code: &'static str,
    /// What is wrong and what to write instead, in the user's terms.
    pub message: String,
    /// Where the error is, relative to the enclosing placed node.
    pub span: Span,
    /// Possible repairs.
    pub repairs: Vec<Repair>,
}

impl SyntaxError {
    /// Creates an error without repairs.
    pub fn new(code: &'static str, message: impl Into<String>, span: Span) -> SyntaxError {
        SyntaxError {
            code,
            message: message.into(),
            span,
            repairs: Vec::new(),
        }
    }

    /// Adds a repair that replaces `span` by `text`.
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

    /// Marks the last repair as one that may be applied without asking.
    #[must_use]
    pub fn safe(mut self) -> SyntaxError {
        if let Some(last) = self.repairs.last_mut() {
            last.safe = true;
        }
        self
    }

    /// The same error with every span mapped by `place`.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(Span) -> Span) -> SyntaxError {
        self.span = place(self.span);
        for edit in self.repairs.iter_mut().flat_map(|r| &mut r.edits) {
            edit.span = place(edit.span);
        }
        self
    }
}
