//! Repairs before they are text: relative to items like the findings they belong to, and written out only when they
//! are placed, because some need the words around them.

use crate::symbol::{ItemId, Loc};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{Span, TextEdit};

/// One change of a repair.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// This text in place of that.
    Replace(Loc, String),
    /// Text that only `.xta` can hold at this place: XML keeps such things in elements.
    Insert(Loc, String),
    /// An element that only XML can hold at this place, written as it stands.
    Element(Loc, String),
    /// The prefix of the declaration of the name at this place goes, `const` for instance.
    Prefix(Loc, &'static str),
    /// The span goes, with the word before it and the mark after it where they stand.
    Clause(Loc, &'static str, &'static str),
    /// An entry of a list goes, with its comma.
    Entry(Loc),
    /// Copies of the text, each with parts of it replaced, after the text and a comma.
    Copy(Loc, Vec<Vec<(Span, String)>>),
    /// Another index type for a dimension of the array whose name stands here.
    Dimension(Loc, usize, String),
    /// A declaration before the item.
    Declare(ItemId, String),
}

/// What changes are written into; without a text, changes that need the words around them are left out.
pub struct Page<'a> {
    /// The text.
    pub text: &'a str,
    /// Its notation.
    pub kind: FileKind,
    /// Where items start.
    pub offset: &'a dyn Fn(ItemId) -> Option<u32>,
    /// Where the first word of an item stands.
    pub first_word: &'a dyn Fn(ItemId) -> Option<u32>,
    /// Where the first global declaration of an XML file stands.
    pub declarations: Option<u32>,
}

impl Page<'_> {
    /// The edits of a repair; `None` if it cannot be made in this text.
    pub fn edits(&self, changes: &[Change]) -> Option<Vec<TextEdit>> {
        changes.iter().map(|c| self.edit(c)).collect()
    }

    fn span(&self, loc: &Loc) -> Option<Span> {
        Some(loc.span.shift((self.offset)(loc.item)?))
    }

    fn escaped(&self, text: &str) -> String {
        match self.kind {
            FileKind::Xml => text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;"),
            _ => text.to_owned(),
        }
    }

    fn edit(&self, change: &Change) -> Option<TextEdit> {
        let plain = self.kind != FileKind::Xml;
        match change {
            Change::Replace(loc, text) => Some(TextEdit {
                span: self.span(loc)?,
                text: self.escaped(text),
            }),
            Change::Insert(loc, text) if plain => Some(TextEdit {
                span: self.span(loc)?,
                text: text.clone(),
            }),
            Change::Insert(..) => None,
            Change::Element(loc, text) if !plain => Some(TextEdit {
                span: self.span(loc)?,
                text: text.clone(),
            }),
            Change::Element(..) => None,
            Change::Prefix(loc, word) => self.prefix(loc, word),
            Change::Clause(loc, lead, tail) => self.clause(self.span(loc)?, lead, tail),
            Change::Entry(loc) => self.entry(self.span(loc)?),
            Change::Copy(loc, copies) if plain => self.copy(loc, copies),
            Change::Copy(..) => None,
            Change::Dimension(loc, k, text) => self.dimension(self.span(loc)?, *k, text),
            Change::Declare(item, text) => {
                let at = match plain {
                    true => (self.first_word)(*item)?,
                    false => self.declarations?,
                };
                Some(TextEdit {
                    span: Span::new(at, at),
                    text: format!("{}\n", self.escaped(text)),
                })
            }
        }
    }

    fn prefix(&self, loc: &Loc, word: &str) -> Option<TextEdit> {
        let name = self.span(loc)?;
        let before = self.text.get(..name.start as usize)?;
        let start = before.rfind([';', '{', '}', '>', '(']).map_or(0, |i| i + 1);
        let declaration = before.get(start..)?;
        // A comment may hold the word as well.
        if declaration.contains("//") || declaration.contains("/*") {
            return None;
        }
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        let (at, _) = declaration.match_indices(word).find(|(i, w)| {
            !declaration[..*i].ends_with(inside) && !declaration[i + w.len()..].starts_with(inside)
        })?;
        let rest = &declaration[at + word.len()..];
        let blanks = rest.len() - rest.trim_start().len();
        let from = (start + at) as u32;
        Some(TextEdit {
            span: Span::new(from, from + (word.len() + blanks) as u32),
            text: String::new(),
        })
    }

    fn clause(&self, span: Span, lead: &str, tail: &str) -> Option<TextEdit> {
        let before = self.text.get(..span.start as usize)?.trim_end();
        let after = self.text.get(span.end as usize..)?;
        let start = match before.strip_suffix(lead) {
            Some(rest) => rest.len(),
            None if self.kind == FileKind::Xml => span.start as usize,
            None => return None,
        };
        let skipped = after.len() - after.trim_start().len();
        let end = match after.trim_start().strip_prefix(tail) {
            Some(rest) => {
                let blanks = rest.len() - rest.trim_start_matches(' ').len();
                span.end as usize + skipped + tail.len() + blanks
            }
            None => span.end as usize,
        };
        Some(TextEdit {
            span: Span::new(start as u32, end as u32),
            text: String::new(),
        })
    }

    fn entry(&self, span: Span) -> Option<TextEdit> {
        let before = self.text.get(..span.start as usize)?.trim_end();
        let after = self.text.get(span.end as usize..)?;
        let span = if before.ends_with(',') {
            Span::new(before.len() as u32 - 1, span.end)
        } else {
            let rest = after.trim_start().strip_prefix(',')?.trim_start();
            Span::new(span.start, (self.text.len() - rest.len()) as u32)
        };
        Some(TextEdit {
            span,
            text: String::new(),
        })
    }

    fn copy(&self, loc: &Loc, copies: &[Vec<(Span, String)>]) -> Option<TextEdit> {
        let span = self.span(loc)?;
        let line = self.text.get(..span.start as usize)?;
        let line = &line[line.rfind('\n').map_or(0, |i| i + 1)..];
        let indent = &line[..line.len() - line.trim_start().len()];
        let mut out = String::new();
        for with in copies {
            let mut text = self.text.get(span.range())?.to_owned();
            let mut with: Vec<_> = with.iter().collect();
            with.sort_by_key(|(s, _)| std::cmp::Reverse(s.start));
            for (part, new) in with {
                let from = part.start.checked_sub(loc.span.start)? as usize;
                let to = part.end.checked_sub(loc.span.start)? as usize;
                text.get(from..to)?;
                text.replace_range(from..to, new);
            }
            out.push_str(&format!(",\n{indent}{text}"));
        }
        Some(TextEdit {
            span: Span::new(span.end, span.end),
            text: out,
        })
    }

    fn dimension(&self, name: Span, k: usize, text: &str) -> Option<TextEdit> {
        let mut at = name.end as usize;
        for step in 0.. {
            let rest = self.text.get(at..)?;
            let open = at + (rest.len() - rest.trim_start().len());
            if !self.text[open..].starts_with('[') {
                return None;
            }
            let mut depth = 0;
            let close = self.text[open..].char_indices().find_map(|(i, c)| {
                depth += i32::from(c == '[') - i32::from(c == ']');
                (depth == 0).then_some(open + i)
            })?;
            if step == k {
                return Some(TextEdit {
                    span: Span::new(open as u32 + 1, close as u32),
                    text: self.escaped(text),
                });
            }
            at = close + 1;
        }
        None
    }
}
