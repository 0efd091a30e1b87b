//! Finds the items of a text, and the members of a process, using only brackets, `;` and a few
//! keywords.
//!
//! The end of an item is a function of the text from its start up to its *reach*, the furthest byte
//! that was inspected. That makes incremental parsing exact: an edit beyond the reach of an item
//! cannot change it, and once splitting reaches an old boundary after the edit, everything after it
//! is unchanged.
//!
//! A missing bracket must not swallow the file. `process` and `system` always start an item, other
//! declaration keywords do outside brackets, and a function that is never closed ends where the
//! layout suggests that the next declaration begins.

mod members;

pub(crate) use members::process_pieces;

use crate::lexer::{Mode, Token, Tokens};
use crate::token::TokenKind as K;

/// Number of bytes after a token that the lexer may have inspected to find its end (`-u->` is the
/// longest case).
const LOOKAHEAD: u32 = 4;

/// The tokens of one item, including comments, and the bytes it covers.
#[derive(Debug)]
pub(crate) struct Piece {
    /// One past its last byte; the next item starts here.
    pub end: u32,
    /// One past the furthest byte that could change where it ends or what its tokens are.
    pub reach: u32,
    /// Its tokens.
    pub tokens: Vec<Token>,
}

/// Splits off the item that starts at `from`. `None` at the end of the text.
pub(crate) fn next_item(text: &str, from: u32) -> Option<Piece> {
    if from as usize >= text.len() {
        return None;
    }
    let mut scan = Scan::new(text, from);
    let end = scan.find_end();
    Some(scan.finish(end))
}

/// How the scan of an item ended.
enum End {
    /// At its own terminator, which is the last token.
    Terminated,
    /// Before the token at this index, which starts something else.
    Before(usize),
    /// At the end of the text.
    Text,
}

struct Scan<'a> {
    text: &'a str,
    from: u32,
    lexer: Tokens<'a>,
    tokens: Vec<Token>,
    reach: u32,
    brackets: Brackets,
    /// The indices of the first and the last token that are not comments.
    first: Option<usize>,
    last: Option<usize>,
    braced: bool,
    /// Whether the item has declared something, so that a further name outside brackets begins
    /// another item.
    declared: bool,
    /// The end of the line that was last searched for, so that a line of unknown characters is
    /// scanned only once.
    line_end: u32,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, from: u32) -> Scan<'a> {
        Scan {
            text,
            from,
            lexer: Tokens::new(text, from, Mode::Model),
            tokens: Vec::new(),
            reach: from,
            brackets: Brackets::default(),
            first: None,
            last: None,
            braced: false,
            declared: false,
            line_end: 0,
        }
    }

    /// Returns the next token and moves the reach past it.
    fn pull(&mut self) -> Option<Token> {
        let token = self.lexer.next();
        self.reach = match token {
            // One byte beyond the text, because appending there changes the item.
            None => self.text.len() as u32 + 1,
            // For an unclosed string or a line continuation, the lexer inspects the rest of the
            // line.
            Some(t) if t.kind == K::Unknown => {
                if t.end > self.line_end {
                    self.line_end = line_end(self.text, t.end);
                }
                self.reach.max(self.line_end + 2)
            }
            Some(t) => self.reach.max(t.end + LOOKAHEAD),
        };
        token
    }

    fn kind(&self, index: Option<usize>) -> Option<K> {
        index.map(|i| self.tokens[i].kind)
    }

    fn find_end(&mut self) -> End {
        while let Some(token) = self.pull() {
            let index = self.tokens.len();
            self.tokens.push(token);
            if token.kind.is_comment() {
                continue;
            }
            if self.first.is_some() && self.starts_other(token) {
                return self.unterminated(End::Before(index));
            }
            let ended = self.step(token);
            self.first.get_or_insert(index);
            self.last = Some(index);
            if ended {
                return End::Terminated;
            }
        }
        self.unterminated(End::Text)
    }

    /// Whether `token` cannot belong to the current item.
    fn starts_other(&self, token: Token) -> bool {
        if matches!(token.kind, K::Process | K::System) {
            return true;
        }
        if !self.brackets.is_empty() {
            return false;
        }
        match token.kind {
            K::Typedef | K::Progress | K::Gantt | K::BeforeUpdate | K::AfterUpdate | K::Dynamic => {
                true
            }
            kind if starts_declaration(kind) => {
                // A type after something that can end a declaration: a `;` is missing.
                self.complete() && (self.declared || starts_line(self.text, self.from, token.start))
            }
            // The same holds for a name on a new line if the declaration already has one.
            K::Ident => {
                self.declared
                    && self.complete()
                    && starts_line(self.text, self.from, token.start)
                    && !continues(self.word(token))
            }
            _ => false,
        }
    }

    fn word(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Whether the item could end after the last token.
    fn complete(&self) -> bool {
        let Some(last) = self.last.map(|i| self.tokens[i]) else {
            return false;
        };
        ends_declaration(last.kind)
            && !(last.kind == K::Ident && continues(self.word(last)))
            && self.kind(self.first) != Some(K::Process)
    }

    /// Updates the open brackets; returns whether `token` ends the item.
    fn step(&mut self, token: Token) -> bool {
        let first = self.kind(self.first).unwrap_or(token.kind);
        self.declared |= self.brackets.is_empty() && declares(self.kind(self.last), token.kind);
        match token.kind {
            K::LBrace => {
                if !self.brackets.in_brace() {
                    let block = matches!(
                        first,
                        K::Process | K::Progress | K::Gantt | K::BeforeUpdate | K::AfterUpdate
                    ) || self.kind(self.last) == Some(K::RParen)
                        || !self.brackets.is_empty()
                        || self.is_word_block();
                    self.braced |= block;
                    self.brackets.clear();
                }
                self.brackets.open(b'{');
                false
            }
            K::RBrace => {
                let closed = self.brackets.close_brace();
                !closed || (self.brackets.is_empty() && self.braced)
            }
            K::Semi => self.brackets.semicolon_ends(first == K::Process),
            _ => {
                self.brackets.step(token.kind);
                false
            }
        }
    }

    /// `query { … }` and `IO P { … }` end with their brace. So does `template P { … }`, which must
    /// be intended as a process: two names before a brace have no other meaning.
    fn is_word_block(&self) -> bool {
        let Some(first) = self.first.map(|i| self.tokens[i]) else {
            return false;
        };
        let mut names = self.tokens.iter().filter(|t| !t.kind.is_comment());
        matches!(self.word(first), "query" | "IO")
            || (names.by_ref().take(2).all(|t| t.kind == K::Ident)
                && names.next().is_none_or(|t| t.kind == K::LBrace))
    }

    /// For an item that ended inside a brace: cuts it where the layout suggests the next
    /// declaration.
    fn unterminated(&self, end: End) -> End {
        let (Some(first), true) = (self.first, self.brackets.in_brace()) else {
            return end;
        };
        if self.tokens[first].kind == K::Process {
            return end;
        }
        let home = column(self.text, self.tokens[first].start);
        let Some(open) = self.tokens.iter().position(|t| t.kind == K::LBrace) else {
            return end;
        };
        let significant: Vec<usize> = (open..self.tokens.len())
            .filter(|&i| !self.tokens[i].kind.is_comment())
            .collect();
        for pair in significant.windows(2) {
            let (before, here) = (self.tokens[pair[0]], self.tokens[pair[1]]);
            let fresh = matches!(before.kind, K::Semi | K::RBrace)
                && (starts_declaration(here.kind) || here.kind == K::Typedef)
                && starts_line(self.text, self.from, here.start)
                && column(self.text, here.start) <= home;
            if fresh {
                return End::Before(pair[1]);
            }
        }
        end
    }

    fn finish(mut self, end: End) -> Piece {
        match end {
            End::Text => Piece {
                end: self.text.len() as u32,
                reach: self.reach,
                tokens: self.tokens,
            },
            End::Before(index) => {
                // Comments before the next item belong to it, except those after the last token on
                // its line.
                let mut keep = (0..index)
                    .rev()
                    .find(|&i| !self.tokens[i].kind.is_comment())
                    .map_or(0, |i| i + 1);
                let mut end = keep
                    .checked_sub(1)
                    .map_or(self.from, |i| self.tokens[i].end);
                while keep < index && trails(self.text, end, self.tokens[keep]) {
                    end = self.tokens[keep].end;
                    keep += 1;
                }
                self.tokens.truncate(keep);
                Piece {
                    end,
                    reach: self.reach,
                    tokens: self.tokens,
                }
            }
            End::Terminated => {
                let mut end = self.tokens.last().map_or(self.from, |t| t.end);
                while let Some(token) = self.pull() {
                    if !trails(self.text, end, token) {
                        break;
                    }
                    end = token.end;
                    self.tokens.push(token);
                }
                Piece {
                    end,
                    reach: self.reach,
                    tokens: self.tokens,
                }
            }
        }
    }
}

/// Whether `token` is a comment that belongs to the construct that ends at `end` on the same line.
/// `//@` lines never do.
fn trails(text: &str, end: u32, token: Token) -> bool {
    token.kind.is_comment()
        && !text[end as usize..token.start as usize].contains(['\n', '\r'])
        && !text[token.start as usize..].starts_with("//@")
}

/// The open brackets of an item.
#[derive(Default)]
struct Brackets {
    open: Vec<u8>,
    braces: u32,
}

impl Brackets {
    fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn in_brace(&self) -> bool {
        self.braces > 0
    }

    fn clear(&mut self) {
        self.open.clear();
        self.braces = 0;
    }

    fn open(&mut self, bracket: u8) {
        self.braces += u32::from(bracket == b'{');
        self.open.push(bracket);
    }

    /// Closes brackets up to the innermost `{`, including unclosed ones inside it. `false` if no
    /// `{` is open.
    fn close_brace(&mut self) -> bool {
        while let Some(bracket) = self.open.pop() {
            if bracket == b'{' {
                self.braces -= 1;
                return true;
            }
        }
        false
    }

    /// Whether a `;` here ends the item: inside `[` it does, inside `(` only where no list can
    /// contain one.
    fn semicolon_ends(&mut self, semicolons_in_parens: bool) -> bool {
        !self.in_brace()
            && (self.is_empty() || !semicolons_in_parens || self.open.last() == Some(&b'['))
    }

    fn step(&mut self, kind: K) {
        match kind {
            K::LParen => self.open(b'('),
            K::LBracket => self.open(b'['),
            K::LBrace => self.open(b'{'),
            K::RParen if self.open.last() == Some(&b'(') => {
                self.open.pop();
            }
            K::RBracket if self.open.last() == Some(&b'[') => {
                self.open.pop();
            }
            K::RBrace => {
                self.close_brace();
            }
            _ => {}
        }
    }
}

/// Tokens that a declaration can end with, apart from its `;`.
fn ends_declaration(kind: K) -> bool {
    use K::*;
    matches!(
        kind,
        Ident | Nat | Float | Str | RBracket | RBrace | RParen | True | False | Default
    )
}

/// Whether `kind` after `last`, outside brackets, is a declared name, or shows that there was one.
fn declares(last: Option<K>, kind: K) -> bool {
    use K::*;
    match kind {
        Ident => matches!(
            last,
            Some(Int | Bool | Clock | Chan | Double | Void | Scalarset | Ident | RBracket | RBrace)
        ),
        Assign | Nat | System | Priority => true,
        _ => false,
    }
}

/// Words that are names to the lexer, but join the text before and after them.
fn continues(word: &str) -> bool {
    word == "in" || crate::grammar::operator_word(word).is_some()
}

/// Keywords that begin a declaration.
fn starts_declaration(kind: K) -> bool {
    use K::*;
    matches!(
        kind,
        Const
            | Meta
            | Hybrid
            | Urgent
            | Broadcast
            | Int
            | Bool
            | Clock
            | Chan
            | Double
            | Void
            | Scalar
            | Scalarset
            | Struct
    )
}

/// Whether there are only blanks between the start of the line (or of the item) and `offset`.
fn starts_line(text: &str, from: u32, offset: u32) -> bool {
    let before = &text[from as usize..offset as usize];
    let blank = before.trim_end_matches([' ', '\t']);
    blank.is_empty() || blank.ends_with(['\n', '\r'])
}

fn column(text: &str, offset: u32) -> usize {
    let before = &text[..offset as usize];
    offset as usize - before.rfind(['\n', '\r']).map_or(0, |i| i + 1)
}

fn line_end(text: &str, from: u32) -> u32 {
    text[from as usize..]
        .find(['\n', '\r'])
        .map_or(text.len() as u32, |i| from + i as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<&str> {
        let mut from = 0;
        let mut out = Vec::new();
        while let Some(piece) = next_item(text, from) {
            assert!(
                piece.end > from || piece.end as usize == text.len(),
                "no progress at {from} in {text:?}"
            );
            out.push(text[from as usize..piece.end as usize].trim());
            from = piece.end;
        }
        out
    }

    #[test]
    fn declarations_end_at_semicolons_functions_at_braces() {
        assert_eq!(
            items(
                "int a[2] = {1,2}; // two\nstruct { int x; } s;\nvoid f(int &a) { for (;;) { } }\nprocess P(int a; chan b) { state S; init S; }\nsystem P;"
            ),
            [
                "int a[2] = {1,2}; // two",
                "struct { int x; } s;",
                "void f(int &a) { for (;;) { } }",
                "process P(int a; chan b) { state S; init S; }",
                "system P;"
            ]
        );
    }

    #[test]
    fn a_forgotten_bracket_does_not_swallow_the_file() {
        assert_eq!(
            items("void f() { if (x) { y = 1; }\nint g() { return 1; }\nsystem P;").len(),
            3
        );
        assert_eq!(
            items("process P() { state S; init S; trans S -> S { ;\nsystem P;").len(),
            2
        );
        assert_eq!(items("int a[3;\nint b;").len(), 2);
        assert_eq!(items("int a\nint b;").len(), 2);
        assert_eq!(items("void f( { x = 1; }\nint b;").len(), 2);
    }

    #[test]
    fn members_of_a_process() {
        let text = "process P() {\n clock x; // c\n int f() { return 1; }\n state A { x <= 5 }, B;\n urgent B; init A;\n trans A -> B { guard x > 1; },\n -> A { }, B -> A { };\n}";
        let piece = next_item(text, 0).unwrap();
        let pieces = process_pieces(text, &piece.tokens);
        let got: Vec<_> = pieces
            .members
            .iter()
            .map(|m| text[m.start as usize..m.end as usize].trim())
            .collect();
        assert_eq!(
            got,
            [
                "clock x; // c",
                "int f() { return 1; }",
                "state A { x <= 5 }, B;",
                "urgent B;",
                "init A;",
                "trans A -> B { guard x > 1; },",
                "-> A { },",
                "B -> A { };"
            ]
        );
        assert!(
            pieces.closed
                && pieces.members[5].edge
                && pieces.members[7].edge
                && !pieces.members[4].edge
        );
    }
}
