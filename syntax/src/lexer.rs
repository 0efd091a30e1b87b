//! Converts text to tokens, lazily, so that the splitter reads no further than necessary.

use crate::token::TokenKind;
use logos::Logos;

/// A token of some text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind of the token.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Determines which words are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Declarations, labels, system lines.
    Model,
    /// Formulas, where most keywords of models are ordinary names and `deadlock` is not.
    Query,
}

/// The tokens of a text from some offset on, including comments, without white space.
pub struct Tokens<'a> {
    inner: logos::Lexer<'a, TokenKind>,
    base: u32,
    mode: Mode,
    pending: Option<Token>,
}

impl<'a> Tokens<'a> {
    /// Starts at byte `from` of `text`.
    pub fn new(text: &'a str, from: u32, mode: Mode) -> Tokens<'a> {
        let rest = text.get(from as usize..).unwrap_or("");
        Tokens {
            inner: TokenKind::lexer(rest),
            base: from,
            mode,
            pending: None,
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if let Some(token) = self.pending.take() {
            return Some(token);
        }
        let result = self.inner.next()?;
        let span = self.inner.span();
        let (start, end) = (self.base + span.start as u32, self.base + span.end as u32);
        let kind = match result {
            Ok(kind) => kind,
            Err(()) if self.inner.slice().starts_with("/*") => TokenKind::UnclosedComment,
            Err(()) => TokenKind::Unknown,
        };
        let token = |kind, start, end| Token { kind, start, end };
        match (self.mode, kind) {
            (Mode::Model, TokenKind::LeadsTo) => {
                self.pending = Some(token(TokenKind::Gt, end - 1, end));
                Some(token(TokenKind::MinusMinus, start, end - 1))
            }
            (Mode::Model, TokenKind::Hash) => Some(token(TokenKind::Unknown, start, end)),
            (Mode::Query, kind) => Some(token(in_query(kind, self.inner.slice()), start, end)),
            (Mode::Model, kind) => Some(token(kind, start, end)),
        }
    }
}

/// The kind of a token in a formula: only `int`, `scalar`, the logical words and quantifiers remain
/// keywords.
fn in_query(kind: TokenKind, text: &str) -> TokenKind {
    use TokenKind::*;
    match kind {
        Ident if text == "deadlock" => Deadlock,
        And | Or | Not | Imply | True | False | Forall | Exists | Sum | Int | Scalar => kind,
        kind if kind.is_keyword() => Ident,
        kind => kind,
    }
}

/// All tokens of a text.
pub fn lex(text: &str, mode: Mode) -> Vec<Token> {
    Tokens::new(text, 0, mode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, mode: Mode) -> Vec<(TokenKind, String)> {
        lex(text, mode)
            .iter()
            .map(|t| (t.kind, text[t.start as usize..t.end as usize].to_owned()))
            .collect()
    }

    #[test]
    fn operators_are_longest_match() {
        use TokenKind::*;
        let got: Vec<_> = kinds("a-->b x--; y<<=1 <? =< => :=", Mode::Model)
            .into_iter()
            .map(|t| t.0)
            .collect();
        assert_eq!(
            got,
            [
                Ident, MinusMinus, Gt, Ident, Ident, MinusMinus, Semi, Ident, ShlAssign, Nat,
                MinOp, LegacyLe, LegacyGe, Assign
            ]
        );
        assert_eq!(kinds("a-->b", Mode::Query)[1].0, LeadsTo);
    }

    #[test]
    fn queries_reserve_few_words() {
        use TokenKind::*;
        let got: Vec<_> = kinds("bool xor clock int deadlock imply", Mode::Query)
            .into_iter()
            .map(|t| t.0)
            .collect();
        assert_eq!(got, [Ident, Ident, Ident, Int, Deadlock, Imply]);
    }

    #[test]
    fn later_keywords_are_names() {
        for word in [
            "abs", "exit", "location", "query", "string", "import", "int32_t", "pow", "deadlock",
        ] {
            assert_eq!(kinds(word, Mode::Model)[0].0, TokenKind::Ident, "{word}");
        }
    }

    #[test]
    fn every_fixed_text_lexes_to_its_kind() {
        for text in [
            "(",
            "-u->",
            "**",
            "before_update",
            "scalarset",
            ">?",
            "'",
            "sum",
        ] {
            let token = kinds(text, Mode::Model)[0].0;
            assert_eq!(token.text(), text);
        }
    }

    #[test]
    fn oddities_become_tokens() {
        use TokenKind::*;
        assert_eq!(kinds("a /* b", Mode::Model)[1].0, UnclosedComment);
        assert_eq!(
            kinds("\u{feff}a \\\n b § /**/ // c\r\nd", Mode::Model).len(),
            6
        );
        assert_eq!(kinds("x\0y", Mode::Model)[1].0, Unknown);
        assert_eq!(
            kinds("1.5 1e3 .5 2", Mode::Model)
                .iter()
                .map(|t| t.0)
                .collect::<Vec<_>>(),
            [Float, Float, Float, Nat]
        );
    }
}
