//! Edits of the raw text of XML elements: attributes, texts, insertion, removal.

use super::{FAR, TOO_FAR};
use crate::span::{Span, TextEdit};
use crate::xml::dom::Element;
use std::fmt::Write;

/// The edits of a gesture, collected over the text they are for.
pub(super) struct Patch<'a> {
    pub raw: &'a str,
    pub edits: Vec<TextEdit>,
    /// How lines end in the file.
    line_break: &'static str,
}

/// An element to insert. The writer puts children on lines of their own where their parent is.
pub(super) struct Fresh {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Fresh>,
    text: Option<String>,
    /// Whether it is written `<tag/>` without content.
    empty: bool,
}

impl Fresh {
    /// An element with a start and an end tag.
    pub(super) fn new(tag: &'static str) -> Fresh {
        Fresh {
            tag,
            attributes: Vec::new(),
            children: Vec::new(),
            text: None,
            empty: false,
        }
    }

    /// An element that never has content.
    pub(super) fn empty(tag: &'static str) -> Fresh {
        Fresh {
            empty: true,
            ..Fresh::new(tag)
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Fresh {
        self.attributes.push((name, value.to_string()));
        self
    }

    pub(super) fn at(self, (x, y): (i32, i32)) -> Fresh {
        self.with("x", x).with("y", y)
    }

    pub(super) fn child(mut self, child: Fresh) -> Fresh {
        self.children.push(child);
        self
    }

    /// Sets the text, already written as XML.
    pub(super) fn text(mut self, text: String) -> Fresh {
        self.text = Some(text);
        self
    }

    fn write(&self, out: &mut String, lead: &str, unit: &str) {
        let _ = write!(out, "<{}", self.tag);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", attribute(value));
        }
        if self.empty {
            out.push_str("/>");
            return;
        }
        out.push('>');
        out.push_str(self.text.as_deref().unwrap_or(""));
        let inner = match lead.is_empty() {
            true => String::new(),
            false => format!("{lead}{unit}"),
        };
        for child in &self.children {
            out.push_str(&inner);
            child.write(out, &inner, unit);
        }
        if !self.children.is_empty() {
            out.push_str(lead);
        }
        let _ = write!(out, "</{}>", self.tag);
    }
}

/// A value between double quotes.
fn attribute(value: &str) -> String {
    crate::xml::escape(value).replace('"', "&quot;")
}

/// Where children go: among those of smaller and greater rank.
pub(super) type Rank = fn(&Element) -> u8;
/// The rank of elements that do not belong there.
pub(super) const STRANGER: u8 = u8::MAX;

impl<'a> Patch<'a> {
    pub(super) fn new(raw: &'a str) -> Patch<'a> {
        let first = raw.find('\n').unwrap_or(0);
        Patch {
            raw,
            edits: Vec::new(),
            line_break: match raw[..first].ends_with('\r') {
                true => "\r\n",
                false => "\n",
            },
        }
    }

    pub(super) fn replace(&mut self, span: Span, text: impl Into<String>) {
        let text = text.into();
        if self.raw.get(span.range()) != Some(&*text) {
            self.edits.push(TextEdit { span, text });
        }
    }

    /// Sets attributes of an element; those that are missing are added after the others.
    pub(super) fn set(&mut self, element: &Element, values: &[(&str, String)]) {
        let (found, end) = attributes(self.raw, element);
        let mut added = String::new();
        for (name, value) in values {
            let value = attribute(value);
            match found.iter().find(|(n, _)| n == name) {
                Some((_, span)) => self.replace(*span, value),
                None => {
                    let _ = write!(added, " {name}=\"{value}\"");
                }
            }
        }
        if !added.is_empty() {
            self.replace(Span::new(end, end), added);
        }
    }

    pub(super) fn set_place(&mut self, element: &Element, (x, y): (i32, i32)) {
        self.set(element, &[("x", x.to_string()), ("y", y.to_string())]);
    }

    /// Removes an element, with its lines if nothing else is on them.
    pub(super) fn remove(&mut self, element: &Element) {
        let Span { start, end } = element.span;
        let before = &self.raw[..start as usize];
        let line = before.trim_end_matches([' ', '\t']).len();
        let after = &self.raw[end as usize..];
        let rest = after.trim_start_matches([' ', '\t']);
        let broken = ["\r\n", "\n"].into_iter().find(|b| rest.starts_with(b));
        let span = match broken {
            Some(broken) if before[..line].ends_with('\n') => {
                let gone = after.len() - rest.len() + broken.len();
                Span::new(line as u32, end + gone as u32)
            }
            _ => element.span,
        };
        self.replace(span, "");
    }

    /// The white space before an element from its last line break on; empty within a line.
    fn lead(&self, element: &Element) -> &'a str {
        let before = &self.raw[..element.span.start as usize];
        let blank = before.trim_end_matches([' ', '\t']);
        let broken = ["\r\n", "\n"].into_iter().find(|b| blank.ends_with(b));
        broken.map_or("", |b| &before[blank.len() - b.len()..])
    }

    /// By how much children are indented.
    fn unit(&self, parent: &Element) -> &'a str {
        let child = parent.children.first().map_or("", |c| self.lead(c));
        let deeper = child.strip_prefix(self.lead(parent));
        // A parent within a line has no indentation to compare with.
        let deeper = deeper.map(|d| d.trim_start_matches(['\r', '\n']));
        deeper.filter(|d| !d.is_empty()).unwrap_or("\t")
    }

    /// Inserts elements as children of `parent`: after the last one whose rank is not greater than
    /// that of the first, before all others if there is none.
    pub(super) fn insert(
        &mut self,
        parent: &Element,
        grandparent: &Element,
        fresh: &[Fresh],
        rank: Rank,
        own: u8,
    ) {
        let last = parent.children.iter().rfind(|c| rank(c) <= own);
        if let Some(last) = last {
            let unit = self.unit(parent);
            self.beside(last, unit, fresh, false);
        } else if let Some(first) = parent.children.first() {
            let unit = self.unit(parent);
            self.beside(first, unit, fresh, true);
        } else {
            self.fill(parent, grandparent, fresh);
        }
    }

    /// Inserts elements before or after a sibling.
    pub(super) fn beside(&mut self, next: &Element, unit: &str, fresh: &[Fresh], before: bool) {
        let lead = self.lead(next);
        let mut text = String::new();
        for element in fresh {
            if !before {
                text.push_str(lead);
            }
            element.write(&mut text, lead, unit);
            if before {
                text.push_str(lead);
            }
        }
        let at = match before {
            true => next.span.start,
            false => next.span.end,
        };
        self.replace(Span::new(at, at), text);
    }

    /// Inserts elements into one without children.
    fn fill(&mut self, parent: &Element, grandparent: &Element, fresh: &[Fresh]) {
        let lead = self.lead(parent);
        let unit = self.unit(grandparent);
        let inner = match lead.is_empty() {
            true => String::new(),
            false => format!("{lead}{unit}"),
        };
        let mut text = String::new();
        for element in fresh {
            text.push_str(&inner);
            element.write(&mut text, &inner, unit);
        }
        let tag = &self.raw[parent.span.start as usize..parent.content.start as usize];
        if parent.content.start == parent.span.end && tag.ends_with("/>") {
            let at = parent.span.end - 2;
            let text = format!(">{text}{lead}</{}>", parent.tag);
            self.replace(Span::new(at, parent.span.end), text);
            return;
        }
        if parent.content.is_empty() {
            text.push_str(lead);
        }
        let at = parent.content.start;
        self.replace(Span::new(at, at), text);
    }

    /// Replaces the text of an element without children.
    pub(super) fn set_text(&mut self, element: &Element, text: &str) -> Result<(), String> {
        if !element.children.is_empty() || !element.notes.is_empty() {
            return Err(format!(
                "this <{}> contains other XML: edit it in the text",
                element.tag
            ));
        }
        let inside = &self.raw[element.content.range()];
        let cdata = inside.trim_start().starts_with("<![CDATA[") && !text.contains("]]>");
        let written = match cdata {
            true => format!("<![CDATA[{}]]>", self.broken(text)),
            false => self.text(text),
        };
        let tag = &self.raw[element.span.start as usize..element.content.start as usize];
        if element.content.start == element.span.end && tag.ends_with("/>") {
            let at = element.span.end - 2;
            let text = format!(">{written}</{}>", element.tag);
            self.replace(Span::new(at, element.span.end), text);
        } else {
            self.replace(element.content, written);
        }
        Ok(())
    }

    /// A text as it is written in this file.
    pub(super) fn text(&self, text: &str) -> String {
        self.broken(&crate::xml::escape(text))
    }

    /// Moves an element that has coordinates.
    pub(super) fn shift(&mut self, element: &Element, (dx, dy): (i32, i32)) -> Result<(), String> {
        for (name, by) in [("x", dx), ("y", dy)] {
            if let Some(value) = element.attribute(name).filter(|_| by != 0) {
                let value = moved(value, by)?;
                self.set(element, &[(name, value)]);
            }
        }
        Ok(())
    }

    fn broken(&self, text: &str) -> String {
        text.replace('\n', self.line_break)
    }
}

/// The attributes of an element with the places of their values, and where another one goes.
fn attributes<'a>(raw: &'a str, element: &Element) -> (Vec<(&'a str, Span)>, u32) {
    let start = element.span.start as usize;
    let tag = &raw[start..element.content.start as usize];
    let inner = tag.strip_suffix("/>").or_else(|| tag.strip_suffix('>'));
    let inner = inner.unwrap_or(tag).trim_end();
    let mut out = Vec::new();
    let mut at = 1 + element.tag.len();
    while let Some(equals) = inner.get(at..).and_then(|rest| rest.find('=')) {
        let name = inner[at..at + equals].trim();
        let from = at + equals + 1;
        let Some(quote) = inner[from..].find(['"', '\'']) else {
            break;
        };
        let open = from + quote;
        let Some(length) = inner[open + 1..].find(&inner[open..=open]) else {
            break;
        };
        let value = Span::new(
            (start + open + 1) as u32,
            (start + open + 1 + length) as u32,
        );
        out.push((name, value));
        at = open + length + 2;
    }
    (out, (start + inner.len()) as u32)
}

/// A coordinate moved by `by`, written as the file writes it: whole numbers stay whole.
fn moved(value: &str, by: i32) -> Result<String, String> {
    let value = value.trim();
    if let Ok(whole) = value.parse::<i32>() {
        let sum = whole.checked_add(by).filter(|s| s.abs() <= FAR);
        return sum.map(|s| s.to_string()).ok_or_else(|| TOO_FAR.to_owned());
    }
    let number = value.parse::<f64>().ok().filter(|v| v.is_finite());
    let number = number.ok_or_else(|| format!("`{value}` is not a coordinate"))?;
    let sum = number + f64::from(by);
    match sum.abs() <= f64::from(FAR) {
        true => Ok(sum.to_string()),
        false => Err(TOO_FAR.to_owned()),
    }
}
