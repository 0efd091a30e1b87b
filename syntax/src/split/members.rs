//! The members of a process: declarations, sections, edges.

use super::{
    Brackets, continues, declares, ends_declaration, starts_declaration, starts_line, trails,
};
use crate::lexer::Token;
use crate::token::TokenKind as K;
use std::ops::Range;

/// The parts of `process … { … }`, as ranges of its tokens.
#[derive(Debug)]
pub(crate) struct ProcessPieces {
    /// Tokens before the opening brace.
    pub header: Range<usize>,
    /// Whether the opening brace is present.
    pub open: bool,
    /// Whether the closing brace is present.
    pub closed: bool,
    /// The members in order.
    pub members: Vec<MemberPiece>,
    /// Tokens of the closing brace and of comments after it.
    pub tail: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct MemberPiece {
    pub start: u32,
    pub end: u32,
    pub tokens: Range<usize>,
    pub edge: bool,
    /// Whether this is an edge that no comma joins to the previous one.
    pub stray: bool,
    /// Whether the text after it looks like an edge.
    pub another: bool,
}

/// Splits the tokens of a process.
pub(crate) fn process_pieces(text: &str, tokens: &[Token]) -> ProcessPieces {
    let Some(open) = tokens.iter().position(|t| t.kind == K::LBrace) else {
        let all = 0..tokens.len();
        return ProcessPieces {
            header: all.clone(),
            open: false,
            closed: false,
            members: Vec::new(),
            tail: all.end..all.end,
        };
    };
    let last = tokens
        .iter()
        .rposition(|t| !t.kind.is_comment())
        .unwrap_or(open);
    let closed = last > open && tokens[last].kind == K::RBrace && closes(&tokens[open..=last]);
    let body_end = if closed { last } else { tokens.len() };
    let mut split = Members {
        text,
        tokens,
        members: Vec::new(),
        start: tokens[open].end,
        first: open + 1,
        seen: None,
        brackets: Brackets::default(),
        edges: false,
        stray: false,
        function: false,
        declared: false,
    };
    let mut index = open + 1;
    while index < body_end {
        index = split.step(index, body_end);
    }
    let end = if closed {
        tokens[last].start
    } else {
        tokens[tokens.len() - 1].end
    };
    split.cut(body_end, end);
    ProcessPieces {
        header: 0..open,
        open: true,
        closed,
        members: split.members,
        tail: body_end..tokens.len(),
    }
}

/// Whether the first brace of `tokens` is closed by the last one.
fn closes(tokens: &[Token]) -> bool {
    let mut brackets = Brackets::default();
    for t in tokens {
        brackets.step(t.kind);
    }
    brackets.is_empty()
}

struct Members<'a> {
    text: &'a str,
    tokens: &'a [Token],
    members: Vec<MemberPiece>,
    start: u32,
    first: usize,
    /// The last token of the current member that is not a comment.
    seen: Option<usize>,
    brackets: Brackets,
    edges: bool,
    /// Whether the current edge follows a `;`.
    stray: bool,
    function: bool,
    /// Whether the member has declared a name.
    declared: bool,
}

impl Members<'_> {
    /// Processes the token at `index`; returns the index to continue with.
    fn step(&mut self, index: usize, body_end: usize) -> usize {
        let token = self.tokens[index];
        if token.kind.is_comment() {
            return index + 1;
        }
        if self.brackets.is_empty() && self.seen.is_some() && self.starts_member(index) {
            let mut keep = self.seen.map_or(index, |i| i + 1);
            let mut end = self.tokens[keep - 1].end;
            while keep < index && trails(self.text, end, self.tokens[keep]) {
                end = self.tokens[keep].end;
                keep += 1;
            }
            self.cut(keep, end);
        }
        if self.brackets.is_empty() && self.is_section(index) {
            self.edges = token.kind == K::Trans;
        }
        if self.seen.is_none() && !self.edges {
            self.meant_edge(index);
        }
        if self.brackets.is_empty() && !self.in_section() {
            self.declared |= declares(self.seen.map(|i| self.tokens[i].kind), token.kind);
        }
        let ended = self.ends(index);
        self.seen = Some(index);
        if !ended {
            return index + 1;
        }
        let mut next = index + 1;
        let mut end = token.end;
        while next < body_end && trails(self.text, end, self.tokens[next]) {
            end = self.tokens[next].end;
            next += 1;
        }
        let section_ends = token.kind == K::Semi;
        self.cut(next, end);
        if section_ends {
            self.edges = false;
        }
        next
    }

    /// Recognises an edge outside the list of edges: `tarns A -> B`, or an edge after a `;` that
    /// should be a comma.
    fn meant_edge(&mut self, index: usize) {
        let mut kinds = self.tokens[index..]
            .iter()
            .map(|t| t.kind)
            .filter(|k| !k.is_comment());
        let arrow = |k: Option<K>| matches!(k, Some(K::Arrow | K::UncontrollableArrow));
        let (first, second) = (kinds.next(), kinds.next());
        if first != Some(K::Ident) {
            return;
        }
        self.stray = arrow(second);
        self.edges = self.stray || (second == Some(K::Ident) && arrow(kinds.next()));
    }

    /// Whether the current member is a section such as a list of locations.
    fn in_section(&self) -> bool {
        self.tokens[self.first..]
            .iter()
            .position(|t| !t.kind.is_comment())
            .is_some_and(|i| self.is_section(self.first + i))
    }

    /// Whether the token at `index` begins a section: `urgent` does unless a channel follows.
    fn is_section(&self, index: usize) -> bool {
        match self.tokens[index].kind {
            K::State | K::Branchpoint | K::Commit | K::Init | K::Trans => true,
            K::Urgent => {
                let next = self.tokens[index + 1..]
                    .iter()
                    .find(|t| !t.kind.is_comment());
                !matches!(
                    next.map(|t| t.kind),
                    Some(K::Chan | K::Broadcast | K::Const | K::Meta)
                )
            }
            _ => false,
        }
    }

    fn starts_member(&self, index: usize) -> bool {
        if self.is_section(index) {
            return true;
        }
        let last = self.seen.map(|i| self.tokens[i].kind);
        let kind = self.tokens[index].kind;
        if self.edges {
            // An edge directly after an edge: a comma is missing.
            return last == Some(K::RBrace)
                && matches!(kind, K::Ident | K::Arrow | K::UncontrollableArrow);
        }
        let ends = last.is_some_and(ends_declaration);
        let token = self.tokens[index];
        let line = starts_line(self.text, self.start, token.start);
        let named = kind == K::Ident
            && self.declared
            && line
            && !continues(&self.text[token.start as usize..token.end as usize]);
        (starts_declaration(kind) && ends && (line || self.declared))
            || (named && ends)
            || kind == K::Typedef
    }

    /// Updates the open brackets; returns whether the token at `index` ends the member.
    fn ends(&mut self, index: usize) -> bool {
        let kind = self.tokens[index].kind;
        match kind {
            K::LBrace if !self.brackets.in_brace() => {
                let last = self.seen.map(|i| self.tokens[i].kind);
                self.function =
                    !self.edges && (last == Some(K::RParen) || !self.brackets.is_empty());
                self.brackets.clear();
                self.brackets.open(b'{');
                false
            }
            K::RBrace => {
                self.brackets.close_brace();
                self.brackets.is_empty() && self.function
            }
            K::Semi => self.brackets.semicolon_ends(false),
            K::Comma => self.edges && self.brackets.is_empty(),
            _ => {
                self.brackets.step(kind);
                false
            }
        }
    }

    /// Ends the current member before token `next`, at byte `end`.
    fn cut(&mut self, next: usize, end: u32) {
        if next > self.first || self.seen.is_some() {
            let edge = self.edges && self.seen.is_some();
            let following = self.tokens[next..].iter().find(|t| !t.kind.is_comment());
            self.members.push(MemberPiece {
                start: self.start,
                end,
                tokens: self.first..next,
                edge,
                stray: edge && self.stray,
                another: matches!(
                    following.map(|t| t.kind),
                    Some(K::Ident | K::Arrow | K::UncontrollableArrow)
                ),
            });
            self.start = end;
        }
        self.first = next;
        self.seen = None;
        self.brackets.clear();
        self.function = false;
        self.stray = false;
        self.declared = false;
    }
}
