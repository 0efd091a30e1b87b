//! Decides where lines begin and how far they are indented.

use super::line::{Context, write};
use super::{FormatOptions, Word};
use crate::token::TokenKind as K;

/// Formats an item with its comments.
pub(super) fn item(words: &[Word<'_>], options: FormatOptions) -> String {
    let mut printer = Printer {
        words,
        out: String::new(),
        options,
        at: 0,
    };
    printer.comments(0, false);
    printer.blank_line();
    match printer.kind() {
        Some(K::Process) => printer.process(),
        Some(K::Progress | K::Gantt) => printer.lines_in_braces(),
        Some(K::BeforeUpdate | K::AfterUpdate) => printer.rest_of_line(0),
        _ => printer.declaration(0),
    }
    printer.comments(0, true);
    printer.out
}

const PLAIN: Context = Context {
    header: false,
    sync: false,
    label: false,
};
const HEADER: Context = Context {
    header: true,
    ..PLAIN
};

struct Printer<'a> {
    words: &'a [Word<'a>],
    out: String,
    options: FormatOptions,
    at: usize,
}

impl<'a> Printer<'a> {
    fn kind(&self) -> Option<K> {
        self.words.get(self.at).map(|w| w.kind)
    }

    fn line(&mut self, range: std::ops::Range<usize>, level: usize, context: Context) {
        if !range.is_empty() {
            write(
                &mut self.out,
                &self.words[range],
                level,
                context,
                self.options,
            );
        }
    }

    /// Writes the comments that are on separate lines; with `all`, every comment that follows.
    fn comments(&mut self, level: usize, all: bool) {
        while self.kind().is_some_and(K::is_comment) {
            let fresh = self.at == 0 || self.words[self.at].breaks > 0;
            if !all && !fresh {
                break;
            }
            self.blank_line();
            self.line(self.at..self.at + 1, level, PLAIN);
            self.at += 1;
        }
    }

    /// Keeps one of the author's blank lines before the next word, except at the start of a block.
    fn blank_line(&mut self) {
        let wanted = self.words.get(self.at).is_some_and(|w| w.breaks > 1);
        if wanted
            && self.at > 0
            && !self.out.is_empty()
            && !self.out.ends_with("{\n")
            && !self.out.ends_with("\n\n")
        {
            self.out.push('\n');
        }
    }

    /// The index after the comments that trail the word before `index` on its line.
    fn after_trailing(&self, mut index: usize) -> usize {
        while self
            .words
            .get(index)
            .is_some_and(|w| w.kind.is_comment() && w.breaks == 0)
        {
            index += 1;
        }
        index
    }

    /// The index after the first word at bracket depth 0 for which `stop` holds; brackets are
    /// counted from `from`.
    fn find(&self, from: usize, stop: impl Fn(K) -> bool) -> usize {
        let mut depth = 0i32;
        for (i, word) in self.words.iter().enumerate().skip(from) {
            match word.kind {
                kind if depth == 0 && stop(kind) => return i + 1,
                K::LParen | K::LBracket | K::LBrace => depth += 1,
                K::RParen | K::RBracket | K::RBrace => depth -= 1,
                _ => {}
            }
        }
        self.words.len()
    }

    fn rest_of_line(&mut self, level: usize) {
        let end = self.words.len();
        self.line(self.at..end, level, PLAIN);
        self.at = end;
    }

    /// Writes a declaration: a function with a block, a struct, or anything up to its `;`.
    fn declaration(&mut self, level: usize) {
        if self.kind().is_none() {
            return;
        }
        let end = self.find(self.at, |k| k == K::Semi);
        let open = self.words[self.at..end]
            .iter()
            .position(|w| w.kind == K::LBrace)
            .map(|i| self.at + i);
        let Some(open) = open else {
            let end = self.after_trailing(end);
            let header = self.words[self.at..end].iter().any(|w| w.kind == K::LParen);
            self.line(self.at..end, level, Context { header, ..PLAIN });
            self.at = end;
            return;
        };
        let before = self.words[self.at..open]
            .iter()
            .rev()
            .find(|w| !w.kind.is_comment())
            .map(|w| w.kind);
        match before {
            Some(K::RParen) => {
                self.header(open, level);
                self.block(level);
            }
            Some(K::Struct) => self.structure(open, level),
            _ => {
                let end = self.after_trailing(end);
                self.line(self.at..end, level, PLAIN);
                self.at = end;
            }
        }
    }

    /// Writes everything up to and including the `{` at `open`.
    fn header(&mut self, open: usize, level: usize) {
        self.line(self.at..open + 1, level, HEADER);
        self.at = open + 1;
    }

    /// `struct {`, its fields, `} names;`
    fn structure(&mut self, open: usize, level: usize) {
        self.line(self.at..open + 1, level, PLAIN);
        self.at = open + 1;
        self.trailing();
        while self.kind().is_some_and(|k| k != K::RBrace) {
            self.comments(level + 1, false);
            if self.kind().is_none_or(|k| k == K::RBrace) {
                break;
            }
            self.blank_line();
            self.declaration(level + 1);
        }
        let end = self.find(self.at + 1, |k| k == K::Semi);
        let end = self.after_trailing(end);
        self.line(self.at..end, level, PLAIN);
        self.at = end;
    }

    /// Puts comments after an opening brace back on its line.
    fn trailing(&mut self) {
        let end = self.after_trailing(self.at);
        for word in &self.words[self.at..end] {
            self.out.truncate(self.out.trim_end_matches('\n').len());
            self.out.push(' ');
            self.out.push_str(word.text);
            self.out.push('\n');
        }
        self.at = end;
    }

    /// Writes statements up to and including `}`; the `{` is already written.
    fn block(&mut self, level: usize) {
        self.trailing();
        loop {
            self.comments(level + 1, false);
            match self.kind() {
                None => return,
                Some(K::RBrace) => break,
                Some(_) => {
                    self.blank_line();
                    self.statement(level + 1);
                }
            }
        }
        self.close(level);
    }

    /// Writes `}` and the comments after it on a separate line.
    fn close(&mut self, level: usize) {
        let end = self.after_trailing(self.at + 1);
        self.line(self.at..end, level, PLAIN);
        self.at = end;
    }

    fn statement(&mut self, level: usize) {
        match self.kind() {
            Some(K::LBrace) => {
                self.header(self.at, level);
                self.block(level);
            }
            Some(K::If | K::While | K::For) => self.headed(level),
            Some(K::Else | K::Do) => {
                let end = self.at + 1;
                self.body(end, level);
            }
            Some(K::Ident)
                if matches!(self.words[self.at].text, "case")
                    || self.words[self.at].text == "switch" =>
            {
                self.switch_part(level);
            }
            Some(K::Default) => self.switch_part(level),
            _ => self.declaration(level),
        }
    }

    /// `switch (e) { … }`, `case e:` and `default:`
    fn switch_part(&mut self, level: usize) {
        if self.words[self.at].text == "switch" {
            let end = self.find(self.at, |k| k == K::LBrace);
            self.header(end - 1, level);
            self.block(level);
            return;
        }
        let end = self.find(self.at, |k| k == K::Colon);
        let end = self.after_trailing(end);
        self.line(
            self.at..end,
            level.saturating_sub(1),
            Context {
                label: true,
                ..PLAIN
            },
        );
        self.at = end;
    }

    /// `if (c)`, `while (c)`, `for (…)` and the statement after them.
    fn headed(&mut self, level: usize) {
        let end = self.find(self.at, |k| k == K::RParen || k == K::LParen);
        // `find` stopped after the opening parenthesis: continue to the matching one.
        let close = self.find(end, |k| k == K::RParen);
        self.body(close, level);
    }

    /// Writes the words up to `end`, then the statement they control: a block goes on the same
    /// line, anything else on the same line or, if the author broke the line there, on the next.
    fn body(&mut self, end: usize, level: usize) {
        let next = (end..self.words.len()).find(|&i| !self.words[i].kind.is_comment());
        let Some(next) = next else {
            self.line(self.at..self.words.len(), level, PLAIN);
            self.at = self.words.len();
            return;
        };
        let kind = self.words[next].kind;
        let chained = self.words[self.at].kind == K::Else && kind == K::If;
        if kind == K::LBrace {
            self.line(self.at..next + 1, level, PLAIN);
            self.at = next + 1;
            self.block(level);
        } else if chained && next == end {
            let open = self.find(next, |k| k == K::LParen);
            let close = self.find(open, |k| k == K::RParen);
            self.body(close, level);
            return self.join_else(level);
        } else if next > end || self.words[next].breaks > 0 || governs(kind) {
            let end = self.after_trailing(end);
            self.line(self.at..end, level, PLAIN);
            self.at = end;
            self.comments(level + 1, true);
            self.statement(level + 1);
        } else {
            let stop = self.find(next, |k| k == K::Semi);
            let stop = self.after_trailing(stop);
            self.line(self.at..stop, level, PLAIN);
            self.at = stop;
        }
        self.join_else(level);
    }

    /// After the block of a controlling statement: puts `} else` and `} while (c);` on the line of
    /// the brace.
    fn join_else(&mut self, level: usize) {
        let follows = matches!(self.kind(), Some(K::Else));
        if follows && self.out.ends_with("}\n") {
            self.out.truncate(self.out.len() - 1);
            let mark = self.out.len();
            self.statement(level);
            let rest = self.out.split_off(mark);
            self.out.push(' ');
            self.out.push_str(rest.trim_start());
        }
    }

    /// `process P(…) { … }`
    fn process(&mut self) {
        let open = self.find(self.at, |k| k == K::LBrace);
        self.header(open - 1, 0);
        self.trailing();
        loop {
            self.comments(1, false);
            match self.kind() {
                None => return,
                Some(K::RBrace) => break,
                Some(K::Trans) => {
                    self.blank_line();
                    self.transitions();
                }
                Some(_) => {
                    self.blank_line();
                    self.declaration_or_section();
                }
            }
        }
        self.close(0);
    }

    /// A local declaration, or a section such as `state …;`, whose braces contain invariants.
    fn declaration_or_section(&mut self) {
        if self.kind() == Some(K::State) {
            let end = self.find(self.at, |k| k == K::Semi);
            let end = self.after_trailing(end);
            let kept = self.words[self.at..end].iter().any(|w| w.kind.is_comment());
            if kept {
                self.listed_states(end);
            } else {
                self.unbroken(end, 1);
            }
        } else {
            self.declaration(1);
        }
    }

    /// Writes a line whose braces do not keep the author's line breaks.
    fn unbroken(&mut self, end: usize, level: usize) {
        let words: Vec<Word<'_>> = self.words[self.at..end]
            .iter()
            .map(|w| Word { breaks: 0, ..*w })
            .collect();
        write(&mut self.out, &words, level, PLAIN, self.options);
        self.at = end;
    }

    /// Writes a `state` list with comments: one location per line.
    fn listed_states(&mut self, end: usize) {
        self.line(self.at..self.at + 1, 1, PLAIN);
        self.at += 1;
        self.trailing();
        while self.at < end {
            self.comments(2, false);
            if self.at >= end {
                break;
            }
            let stop = self.find(self.at, |k| matches!(k, K::Comma | K::Semi));
            let stop = self.after_trailing(stop).min(end).max(self.at + 1);
            self.line(self.at..stop, 2, PLAIN);
            self.at = stop;
        }
    }

    /// Writes `trans` and its edges, each on its own line.
    fn transitions(&mut self) {
        self.line(self.at..self.at + 1, 1, PLAIN);
        self.at += 1;
        self.trailing();
        loop {
            self.comments(2, false);
            if self.kind().is_none_or(|k| k == K::RBrace) {
                return;
            }
            self.blank_line();
            let end = self.find(self.at, |k| matches!(k, K::Comma | K::Semi));
            let last = self.words[end - 1].kind == K::Semi;
            self.edge(end);
            if last {
                return;
            }
        }
    }

    /// Writes an edge: on one line if the author did so and it fits, else one label per line.
    fn edge(&mut self, end: usize) {
        let trailing = self.after_trailing(end);
        let words = &self.words[self.at..end];
        let open = words.iter().position(|w| w.kind == K::LBrace);
        let Some(open) = open else {
            self.line(self.at..trailing, 2, PLAIN);
            self.at = trailing;
            return;
        };
        let broken = words
            .get(open + 1)
            .is_some_and(|w| w.breaks > 0 && w.kind != K::RBrace);
        let comments = words
            .iter()
            .any(|w| w.kind == K::LineComment || (w.kind.is_comment() && w.breaks > 0));
        let single: Vec<Word<'_>> = self.words[self.at..trailing]
            .iter()
            .map(|w| Word { breaks: 0, ..*w })
            .collect();
        let mut text = String::new();
        let unlimited = FormatOptions {
            width: usize::MAX / 2,
            ..self.options
        };
        write(
            &mut text,
            &single,
            2,
            Context {
                sync: true,
                ..PLAIN
            },
            unlimited,
        );
        if !broken && !comments && text.trim_end().chars().count() <= self.options.width {
            self.out.push_str(&text);
            self.at = trailing;
            return;
        }
        let open = self.at + open;
        self.line(self.at..open + 1, 2, PLAIN);
        self.at = open + 1;
        self.trailing();
        loop {
            self.comments(3, false);
            if self.at >= end || self.kind() == Some(K::RBrace) {
                break;
            }
            let stop = self.find(self.at, |k| k == K::Semi).min(end);
            let stop = self.after_trailing(stop);
            let context = Context {
                sync: self.kind() == Some(K::Sync),
                ..PLAIN
            };
            self.line(self.at..stop, 3, context);
            self.at = stop;
        }
        self.line(self.at..trailing, 2, PLAIN);
        self.at = trailing;
    }

    /// `progress { … }` and `gantt { … }`: one entry per line.
    fn lines_in_braces(&mut self) {
        let open = self.find(self.at, |k| k == K::LBrace);
        self.header(open - 1, 0);
        self.trailing();
        while self.kind().is_some_and(|k| k != K::RBrace) {
            self.comments(1, false);
            if self.kind().is_none_or(|k| k == K::RBrace) {
                break;
            }
            let end = self.find(self.at, |k| k == K::Semi);
            let end = self.after_trailing(end);
            self.line(self.at..end, 1, PLAIN);
            self.at = end;
        }
        if self.kind().is_some() {
            self.close(0);
        }
    }
}

/// Whether this keyword begins a statement that controls another one.
fn governs(kind: K) -> bool {
    matches!(kind, K::If | K::While | K::For | K::Do)
}
