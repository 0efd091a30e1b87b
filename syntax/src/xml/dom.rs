//! Elements with byte positions, built from `quick-xml` events.
//!
//! Reading never stops at an error: open elements are closed, the error is reported, and everything
//! before it stays usable. Entities defined by the document are not expanded and nothing is ever
//! fetched; only the five predefined entities and character references are supported.

use crate::error::SyntaxError;
use crate::span::Span;
use crate::text_map::{Segment, TextMap};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use smol_str::SmolStr;

/// An element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub tag: SmolStr,
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// From the `<` of the start tag to the `>` of the end tag.
    pub span: Span,
    /// The range between the tags.
    pub content: Span,
    pub children: Vec<Element>,
    pub text: Vec<TextPart>,
    /// XML comments: the number of children before each, and the range between `<!--` and `-->`.
    pub notes: Vec<(usize, Span)>,
}

/// A piece of the character data of an element.
#[derive(Clone, Debug)]
pub(crate) enum TextPart {
    /// Text as in the file: plain text, or the content of a CDATA section.
    Verbatim(Span),
    /// An entity or character reference.
    Reference(Span, char),
}

/// Decoded character data and its origin.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub text: String,
    pub map: TextMap,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&SmolStr> {
        self.attributes
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v)
    }

    pub(crate) fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.tag == tag)
    }

    /// The character data, with entities and CDATA sections resolved.
    pub(crate) fn decode(&self, raw: &str) -> Decoded {
        if let [TextPart::Verbatim(span)] = self.text[..] {
            return Decoded {
                text: raw[span.range()].to_owned(),
                map: TextMap::Shift(span.start),
            };
        }
        let mut text = String::new();
        let mut pieces = Vec::new();
        let mut raw_end = self.content.start;
        for part in &self.text {
            let (span, verbatim) = match part {
                TextPart::Verbatim(span) => (*span, true),
                TextPart::Reference(span, _) => (*span, false),
            };
            pieces.push(Segment {
                decoded: text.len() as u32,
                raw: span.start,
                verbatim,
            });
            raw_end = span.end;
            match part {
                TextPart::Verbatim(span) => text.push_str(&raw[span.range()]),
                TextPart::Reference(_, c) => text.push(*c),
            }
        }
        Decoded {
            text,
            map: TextMap::Pieces { pieces, raw_end },
        }
    }

    /// The decoded text without surrounding blanks, and its span.
    pub(crate) fn trimmed(&self, raw: &str) -> (SmolStr, Span) {
        let decoded = self.decode(raw);
        let trimmed = decoded.text.trim();
        let start = (decoded.text.len() - decoded.text.trim_start().len()) as u32;
        let end = start + trimmed.len() as u32;
        let at = decoded.map.start(start);
        (trimmed.into(), Span::new(at, decoded.map.end(end).max(at)))
    }
}

/// A document: the text before the root element, the root, and the errors.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub root: Option<Element>,
    pub errors: Vec<SyntaxError>,
}

/// More deeply nested elements are rejected; UPPAAL needs six levels.
const MAX_DEPTH: usize = 64;
/// Reading stops after this many errors.
const MAX_ERRORS: usize = 50;

pub(crate) fn read(text: &str) -> Document {
    read_inside(text, 0)
}

/// Reads text that is inside `outer` elements.
pub(crate) fn read_inside(text: &str, outer: usize) -> Document {
    // The reader drops a byte order mark and counts from the byte after it.
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let (shown, stray) = super::stray::hide(&text[mark..]);
    let mut reader = Reader::from_str(&shown);
    let mark = mark as u32;
    let config = reader.config_mut();
    config.check_end_names = true;
    config.allow_dangling_amp = true;
    let mut doc = Document::default();
    for at in stray {
        character(&mut doc, "<", "&lt;", at + mark);
    }
    let mut open: Vec<Element> = Vec::new();
    loop {
        let start = reader.buffer_position() as u32 + mark;
        let event = reader.read_event();
        let end = reader.buffer_position() as u32 + mark;
        let span = Span::new(start, end.max(start));
        match event {
            Ok(Event::Start(tag)) => {
                if open.len() + outer >= MAX_DEPTH {
                    fault(&mut doc, "elements are nested too deeply", span);
                    break;
                }
                open.push(element(&tag, span, &mut doc));
            }
            Ok(Event::Empty(tag)) => {
                let element = element(&tag, span, &mut doc);
                close(&mut doc, &mut open, element);
            }
            Ok(Event::End(_)) => {
                if let Some(mut element) = open.pop() {
                    element.content.end = span.start;
                    element.span.end = span.end;
                    close(&mut doc, &mut open, element);
                }
            }
            Ok(Event::Text(t)) => {
                for at in super::stray::ampersands(&text[span.range()]) {
                    let at = span.start + at as u32;
                    if !widen(&mut doc, at) {
                        character(&mut doc, "&", "&amp;", at);
                    }
                }
                if let Some(element) = open.last_mut() {
                    element.text.push(TextPart::Verbatim(span));
                } else if !t.trim().is_empty()
                    && doc.errors.is_empty()
                    && text[span.range()] != *"\u{feff}"
                {
                    fault(&mut doc, "text outside the root element", span);
                }
            }
            Ok(Event::CData(_)) => {
                if let Some(element) = open.last_mut() {
                    element
                        .text
                        .push(TextPart::Verbatim(Span::new(span.start + 9, span.end - 3)));
                }
            }
            Ok(Event::GeneralRef(_)) => reference(&mut doc, open.last_mut(), text, span),
            Ok(Event::Comment(_)) => {
                if let Some(element) = open.last_mut() {
                    let start = span.start + 4;
                    let inside = Span::new(start, span.end.saturating_sub(3).max(start));
                    element.notes.push((element.children.len(), inside));
                }
            }
            Ok(Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Eof) => break,
            Err(error) => {
                let at = (reader.error_position() as u32 + mark).min(text.len() as u32);
                let stuck = span.is_empty();
                fault(
                    &mut doc,
                    &describe(&error),
                    Span::new(at, (at + 1).min(text.len() as u32)),
                );
                if stuck
                    || matches!(error, quick_xml::Error::Syntax(_))
                    || doc.errors.len() > MAX_ERRORS
                {
                    break;
                }
            }
        }
    }
    while let Some(mut element) = open.pop() {
        if doc.errors.is_empty() {
            let tag = Span::new(element.span.start, element.content.start);
            fault(&mut doc, &format!("<{}> is never closed", element.tag), tag);
        }
        element.content.end = text.len() as u32;
        element.span.end = text.len() as u32;
        close(&mut doc, &mut open, element);
    }
    doc
}

fn element(tag: &BytesStart<'_>, span: Span, doc: &mut Document) -> Element {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        match attribute {
            Ok(a) => {
                let value = match quick_xml::escape::unescape(&a.value) {
                    Ok(value) => SmolStr::new(value),
                    Err(_) => {
                        fault(doc, "an unknown entity in an attribute", span);
                        SmolStr::new(&a.value)
                    }
                };
                attributes.push((SmolStr::new(a.key.as_ref()), value));
            }
            Err(error) => fault(doc, &format!("a malformed attribute: {error}"), span),
        }
    }
    let content = Span::new(span.end, span.end);
    Element {
        tag: tag.name().as_ref().into(),
        attributes,
        span,
        content,
        children: Vec::new(),
        text: Vec::new(),
        notes: Vec::new(),
    }
}

/// Adds a finished element to its parent.
fn close(doc: &mut Document, open: &mut [Element], element: Element) {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None if doc.root.is_none() => doc.root = Some(element),
        None => fault(doc, "a second root element", element.span),
    }
}

fn reference(doc: &mut Document, parent: Option<&mut Element>, text: &str, span: Span) {
    let name = text[span.range()]
        .trim_start_matches('&')
        .trim_end_matches(';');
    let c = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => name
            .strip_prefix('#')
            .and_then(|n| match n.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
                None => n.parse().ok().and_then(char::from_u32),
            }),
    };
    match (c, parent) {
        (Some(c), Some(element)) => element.text.push(TextPart::Reference(span, c)),
        (Some(_), None) => fault(doc, "text outside the root element", span),
        (None, _) => {
            let message = format!(
                "`&{name};` is not one of XML's entities; entities of the document's own are not expanded"
            );
            fault(doc, &message, span);
        }
    }
}

/// Turns the last error, about a `&` before `at`, into one about `&&`.
fn widen(doc: &mut Document, at: u32) -> bool {
    let about = |e: &SyntaxError| {
        let edits = e.repairs.iter().flat_map(|r| &r.edits);
        e.span == Span::new(at.saturating_sub(1), at)
            && edits.last().is_some_and(|edit| edit.text == "&amp;")
    };
    let Some(last) = doc.errors.pop_if(|e| about(e)) else {
        return false;
    };
    let span = Span::new(last.span.start, at + 1);
    let message = "a `&&` in the text of an XML file is written `&amp;&amp;`, or `and`";
    let error = SyntaxError::new("syntax/xml", message, span);
    let error = error.repair("Write `&amp;&amp;`", span, "&amp;&amp;");
    doc.errors.push(error.safe());
    true
}

/// Reports a character that is special in XML.
fn character(doc: &mut Document, written: &str, escaped: &str, at: u32) {
    if doc.errors.len() <= MAX_ERRORS {
        let span = Span::new(at, at + 1);
        let message = format!("a `{written}` in the text of an XML file is written `{escaped}`");
        let error = SyntaxError::new("syntax/xml", message, span);
        let error = error.repair(format!("Write `{escaped}`"), span, escaped);
        doc.errors.push(error.safe());
    }
}

fn fault(doc: &mut Document, message: &str, span: Span) {
    if doc.errors.len() <= MAX_ERRORS {
        doc.errors.push(SyntaxError::new(
            "syntax/xml",
            format!("malformed XML: {message}"),
            span,
        ));
    }
}

fn describe(error: &quick_xml::Error) -> String {
    match error {
        quick_xml::Error::IllFormed(e) => e.to_string(),
        quick_xml::Error::Syntax(e) => e.to_string(),
        other => other.to_string(),
    }
}
