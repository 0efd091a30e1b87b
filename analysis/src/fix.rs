//! Fixes before they become text edits. Like diagnostics, they are relative to items. They are
//! turned into edits only when positions are known, because some depend on the surrounding text.

use crate::symbol::{ItemId, Loc};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_syntax::xml;

/// One change of a fix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// Replaces the text.
    Replace(Loc, String),
    /// Inserts text at a position. Only for `.xta`: XML has elements for such things.
    Insert(Loc, String),
    /// Inserts an element, as written, at a position. Only for XML.
    Element(Loc, String),
    /// Removes a prefix such as `const` from the declaration of the name at this location.
    Prefix(Loc, &'static str),
    /// Removes the text, together with the word before it and the mark after it if they are there.
    Clause(Loc, &'static str, &'static str),
    /// Removes an entry of a list, together with its comma.
    Entry(Loc),
    /// Inserts copies of the text after it, separated by commas; each copy has parts replaced.
    Copy(Loc, Vec<Vec<(Span, String)>>),
    /// Changes the index type of one dimension of the array named at this location.
    Dimension(Loc, usize, String),
    /// Inserts a declaration before the item.
    Declare(ItemId, String),
}

/// The text that changes apply to. If it is empty, changes that depend on the surrounding text are
/// left out.
pub(crate) struct Page<'a> {
    /// The text of the file.
    pub text: &'a str,
    /// The format of the file.
    pub kind: FileKind,
    /// The offsets of items.
    pub offset: &'a dyn Fn(ItemId) -> Option<u32>,
    /// The offset of the first word of an item.
    pub first_word: &'a dyn Fn(ItemId) -> Option<u32>,
    /// Where an XML file takes a new global declaration, and what to write around it.
    pub declarations: Option<(u32, &'static str, &'static str)>,
}

impl Page<'_> {
    /// The edits of a fix, or `None` if it cannot be applied to this text.
    pub(crate) fn edits(&self, changes: &[Change]) -> Option<Vec<TextEdit>> {
        let edit = |c| self.edit(c).filter(|edit| self.is_whole(edit.span));
        changes.iter().map(edit).collect()
    }

    /// Whether replacing a span leaves no half of a CDATA section.
    fn is_whole(&self, span: Span) -> bool {
        let old = self.text.get(span.range()).unwrap_or("");
        self.kind != FileKind::Xml || !old.contains("<![CDATA[") && !old.contains("]]>")
    }

    fn span(&self, loc: &Loc) -> Option<Span> {
        Some(loc.span.shift((self.offset)(loc.item)?))
    }

    fn escaped(&self, text: &str, at: u32) -> String {
        match self.kind {
            FileKind::Xml => xml::written(self.text, text, at).into_owned(),
            _ => text.to_owned(),
        }
    }

    fn edit(&self, change: &Change) -> Option<TextEdit> {
        let plain = self.kind != FileKind::Xml;
        match change {
            Change::Replace(loc, text) => {
                let span = self.span(loc)?;
                let text = self.escaped(text, span.start);
                Some(TextEdit { span, text })
            }
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
            Change::Copy(loc, copies) => self.copy(loc, copies),
            Change::Dimension(loc, k, text) => self.dimension(self.span(loc)?, *k, text),
            Change::Declare(item, text) => {
                let (at, before, after) = match plain {
                    true => ((self.first_word)(*item)?, "", "\n"),
                    false => self.declarations?,
                };
                Some(TextEdit {
                    span: Span::new(at, at),
                    text: format!("{before}{}{after}", self.escaped(text, at)),
                })
            }
        }
    }

    fn prefix(&self, loc: &Loc, word: &str) -> Option<TextEdit> {
        let name = self.span(loc)?;
        let before = self.text.get(..name.start as usize)?;
        let start = before.rfind([';', '{', '}', '>', '(']).map_or(0, |i| i + 1);
        let declaration = before.get(start..)?;
        // The word could be part of a comment.
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

    /// Copies of an edge: in `.xta` with commas between them; in XML as elements of their own,
    /// without the id, which is that of the original.
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
            let comma = match self.kind {
                FileKind::Xml => {
                    text = without_id(&text);
                    ""
                }
                _ => ",",
            };
            out.push_str(&format!("{comma}\n{indent}{text}"));
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
                    text: self.escaped(text, open as u32),
                });
            }
            at = close + 1;
        }
        None
    }
}

/// An element without the attribute `id` of its start tag.
fn without_id(element: &str) -> String {
    let tag = element.find('>').unwrap_or(element.len());
    let Some(start) = element[..tag].find(" id=\"") else {
        return element.to_owned();
    };
    let value = start + " id=\"".len();
    match element[value..tag].find('"') {
        Some(end) => format!("{}{}", &element[..start], &element[value + end + 1..]),
        None => element.to_owned(),
    }
}
