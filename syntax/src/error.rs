//! Syntax errors: values with a code, a place and a sentence.

use crate::span::Span;

/// Something that is not in the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// `syntax/…`, or `query/…` inside a query.
    pub code: &'static str,
    /// What is wrong and what to write instead, in the user's words.
    pub message: String,
    /// Where, relative to the enclosing placed node.
    pub span: Span,
}

impl SyntaxError {
    /// A new error.
    pub fn new(code: &'static str, message: impl Into<String>, span: Span) -> SyntaxError {
        SyntaxError {
            code,
            message: message.into(),
            span,
        }
    }
}
