//! Token lists ready for the grammar: one per item, member, label or query.
//!
//! All tokens of a parse are in one store, created before the grammar, because parsers borrow their
//! input for as long as they live.

use crate::ast::Comment;
use crate::error::SyntaxError;
use crate::grammar::{Spanned, Tok};
use crate::lexer::{Mode, Token, Tokens};
use crate::span::Span;
use crate::text_map::TextMap;
use crate::token::TokenKind as K;
use std::ops::Range;

/// A text to read tokens from: the file itself or the decoded text of an XML element.
#[derive(Clone, Copy)]
pub(crate) struct Region<'t> {
    pub text: &'t str,
    pub map: &'t TextMap,
}

/// The tokens of one piece of text, and what is not a token.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub tokens: Range<usize>,
    /// From the first to the last token.
    pub span: Span,
    /// Where the text ends: the position of errors at its end.
    pub end: u32,
    pub comments: Vec<Comment>,
    pub pragmas: Vec<RawPragma>,
    pub errors: Vec<SyntaxError>,
}

/// A `//@` line: its keyword, and the tokens of the formula after `query`.
#[derive(Debug)]
pub(crate) struct RawPragma {
    pub span: Span,
    pub word: String,
    pub rest: String,
    pub rest_span: Span,
    pub query: Option<Chunk>,
}

/// All tokens of a parse.
#[derive(Default)]
pub(crate) struct Store<'t> {
    pub tokens: Vec<Spanned<'t>>,
}

impl<'t> Store<'t> {
    /// Adds the tokens of a piece of `region`, with spans relative to the raw offset `base`. `end`
    /// is the decoded offset where the piece ends.
    pub(crate) fn chunk(
        &mut self,
        region: Region<'t>,
        tokens: &[Token],
        base: u32,
        end: u32,
    ) -> Chunk {
        let first = self.tokens.len();
        let mut chunk = Chunk {
            end: region.map.end(end).saturating_sub(base),
            ..Chunk::default()
        };
        let mut pragmas = Vec::new();
        // Whether a line break lies between the last token that is not a comment and this one.
        let mut fresh = false;
        let mut last_end = tokens.first().map_or(0, |t| t.start);
        for token in tokens {
            let gap = region.text.get(last_end as usize..token.start as usize);
            fresh |= gap.is_some_and(|gap| gap.contains(['\n', '\r']));
            last_end = token.end;
            let text = &region.text[token.start as usize..token.end as usize];
            let start = region.map.start(token.start) - base;
            let span = Span::new(start, (region.map.end(token.end) - base).max(start));
            match token.kind {
                K::LineComment | K::BlockComment => {
                    if text.starts_with("//@") {
                        pragmas.push((*token, span));
                    }
                    chunk.comments.push(Comment {
                        text: text.trim_end().into(),
                        span,
                    });
                }
                K::UnclosedComment => {
                    let open = Span::new(span.start, span.start + 2);
                    chunk.errors.push(SyntaxError::new(
                        "syntax/unclosed-comment",
                        "this comment never ends: close it with `*/`",
                        open,
                    ));
                    chunk.comments.push(Comment {
                        text: text.into(),
                        span,
                    });
                }
                K::Unknown => push_unknown(&mut chunk.errors, text, span),
                kind => {
                    let tok = Tok { kind, text, fresh };
                    self.tokens.push((tok, (span.start..span.end).into()));
                    fresh = false;
                }
            }
        }
        chunk.tokens = first..self.tokens.len();
        if let [(_, first), ..] = &self.tokens[chunk.tokens.clone()] {
            let last = self.tokens[chunk.tokens.end - 1].1;
            chunk.span = Span::new(first.start, last.end);
        }
        for (token, span) in pragmas {
            let pragma = self.pragma(region, token, span, base);
            chunk.pragmas.push(pragma);
        }
        chunk
    }

    /// Like [`Store::chunk`], for a declaration: a first word that is certainly a misspelt keyword
    /// is read as that keyword.
    pub(crate) fn declaration(
        &mut self,
        region: Region<'t>,
        tokens: &[Token],
        base: u32,
        end: u32,
    ) -> Chunk {
        let mut chunk = self.chunk(region, tokens, base, end);
        if let Some(keyword) = meant_prefix(&self.tokens[chunk.tokens.clone()]) {
            let (token, span) = &mut self.tokens[chunk.tokens.start];
            token.kind = keyword;
            let span = crate::grammar::to_span(*span);
            let word = keyword.text();
            let message = format!("this is not a keyword; did you mean `{word}`?");
            let error = SyntaxError::new("syntax/unexpected", message, span);
            chunk
                .errors
                .push(error.repair(format!("Change to `{word}`"), span, word));
        }
        chunk
    }

    fn pragma(&mut self, region: Region<'t>, token: Token, span: Span, base: u32) -> RawPragma {
        let text = &region.text[token.start as usize + 3..token.end as usize];
        let trimmed = text.trim_start();
        let word_len = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
        let (word, rest) = trimmed.split_at(word_len);
        let rest = rest.trim();
        let rest_start = token.start + 3 + offset_in(text, rest);
        let rest_end = rest_start + rest.len() as u32;
        let rest_span = Span::new(
            region.map.start(rest_start) - base,
            region.map.end(rest_end) - base,
        );
        let query = (word == "query").then(|| {
            let tokens: Vec<Token> =
                Tokens::new(&region.text[..rest_end as usize], rest_start, Mode::Query).collect();
            self.chunk(region, &tokens, base, rest_end)
        });
        RawPragma {
            span,
            word: word.to_owned(),
            rest: rest.to_owned(),
            rest_span,
            query,
        }
    }

    /// The tokens of a chunk.
    pub(crate) fn slice(&self, chunk: &Chunk) -> &[Spanned<'t>] {
        &self.tokens[chunk.tokens.clone()]
    }
}

/// The keyword that the first word of a declaration is a misspelling of. A name before a type, as
/// in `cosnt int`, can only be a misspelt keyword, and so can the first of three names.
fn meant_prefix(tokens: &[Spanned<'_>]) -> Option<K> {
    let [(first, _), (second, _), (third, _), ..] = tokens else {
        return None;
    };
    let before_type = match second.kind {
        K::Ident => third.kind == K::Ident && !third.fresh,
        kind => (K::Const as u8..=K::Struct as u8).contains(&(kind as u8)),
    };
    if first.kind != K::Ident || !before_type || second.fresh {
        return None;
    }
    let words = [
        K::Typedef,
        K::Const,
        K::Meta,
        K::Hybrid,
        K::Urgent,
        K::Broadcast,
    ];
    let near = crate::similar::closest(first.text, words.iter().map(|k| k.text()))?;
    words.into_iter().find(|k| k.text() == near)
}

/// The offset of `part`, a subslice of `whole`, in `whole`.
fn offset_in(whole: &str, part: &str) -> u32 {
    (part.as_ptr() as usize - whole.as_ptr() as usize) as u32
}

/// Reports a run of characters that start no token as one error.
fn push_unknown(errors: &mut Vec<SyntaxError>, text: &str, span: Span) {
    if let Some(last) = errors
        .last_mut()
        .filter(|e| e.code == "syntax/character" && e.span.end == span.start)
    {
        last.span.end = span.end;
        return;
    }
    let shown: String = text.chars().take(1).flat_map(char::escape_debug).collect();
    let message = match text.chars().next() {
        Some('"') => "this string never ends: close it with `\"` on the same line".to_owned(),
        Some('\0') => "a NUL byte: is this a text file?".to_owned(),
        Some(c) if !c.is_ascii() => format!(
            "`{shown}` is not a character of the language; names consist of ASCII letters, digits and `_`"
        ),
        _ => format!("`{shown}` is not a character of the language"),
    };
    errors.push(SyntaxError::new("syntax/character", message, span));
}

/// The deepest nesting of brackets that is parsed.
const MAX_NESTING: u32 = 500;
/// The greatest height of a tree that results from a chain of operators or statements.
const MAX_HEIGHT: u32 = 2000;

/// Rejects a piece whose tree would be too deep for the stack: too deeply nested brackets, or a
/// very long chain of operators, conditions or `else`. The bound is computed from the tokens before
/// any parser runs.
pub(crate) fn too_deep(tokens: &[Spanned<'_>]) -> Option<SyntaxError> {
    struct Level {
        chain: u32,
        recursive: u32,
        elses: u32,
    }
    let new = || Level {
        chain: 0,
        recursive: 0,
        elses: 0,
    };
    let mut levels = vec![new()];
    let (mut height, mut recursion) = (0u32, 0u32);
    let mut previous = None;
    for (tok, span) in tokens {
        let fresh =
            matches!(previous.replace(tok.kind), Some(K::Semi | K::RBrace)) && tok.kind != K::Else;
        if let (true, Some(level)) = (fresh, levels.last_mut()) {
            // This is a new statement, not another arm of the chain before it.
            recursion -= level.recursive + level.elses;
            height -= level.chain + level.recursive + level.elses;
            *level = new();
        }
        match tok.kind {
            K::LParen | K::LBracket | K::LBrace => {
                levels.push(new());
                recursion += 1;
                height += 1;
            }
            K::RParen | K::RBracket | K::RBrace if levels.len() > 1 => {
                if let Some(level) = levels.pop() {
                    recursion -= level.recursive + level.elses + 1;
                    height -= level.chain + level.recursive + level.elses + 1;
                }
            }
            K::Comma | K::Semi => {
                if let Some(level) = levels.last_mut() {
                    recursion -= level.recursive;
                    height -= level.chain + level.recursive;
                    (level.chain, level.recursive) = (0, 0);
                }
            }
            kind => {
                let Some(level) = levels.last_mut() else {
                    continue;
                };
                if matches!(kind, K::Else) {
                    level.elses += 1;
                } else if matches!(
                    kind,
                    K::Question
                        | K::Forall
                        | K::Exists
                        | K::Sum
                        | K::If
                        | K::While
                        | K::For
                        | K::Do
                ) {
                    level.recursive += 1;
                } else if !matches!(kind, K::Ident | K::Nat | K::True | K::False) {
                    level.chain += 1;
                    height += 1;
                    if height > MAX_HEIGHT {
                        return Some(deep(*span));
                    }
                    continue;
                } else {
                    continue;
                }
                recursion += 1;
                height += 1;
            }
        }
        if recursion > MAX_NESTING || height > MAX_HEIGHT {
            return Some(deep(*span));
        }
    }
    None
}

fn deep(span: crate::grammar::TokSpan) -> SyntaxError {
    SyntaxError::new(
        "syntax/nesting",
        "this is nested too deeply to be read; split it into functions or smaller expressions",
        crate::grammar::to_span(span),
    )
}
