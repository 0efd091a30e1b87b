//! UPPAAL's XML, read into the same tree as `.xta`, with spans in the raw file.

pub(crate) mod dom;
mod edit;
mod elements;
mod plan;
mod read;
mod stray;

pub(crate) use edit::reparse;
pub(crate) use elements::elements;
pub use elements::in_cdata;
pub use elements::{Tag, is_model};
pub(crate) use read::parse;

use std::borrow::Cow;

/// Elements that contain model text: declarations, labels and formulas.
const MODEL_TEXT: [&str; 6] = [
    "declaration",
    "parameter",
    "system",
    "instantiation",
    "label",
    "formula",
];

/// Elements that contain text and no child elements.
const TEXTUAL: [&str; 8] = [
    "declaration",
    "parameter",
    "system",
    "instantiation",
    "label",
    "formula",
    "name",
    "comment",
];

/// Text between tags: `<`, `>` and `&` become references.
pub fn escape(text: &str) -> Cow<'_, str> {
    quick_xml::escape::partial_escape(text)
}

/// `text` of the language as it is written at `offset` of the XML file `file`: not escaped in a
/// CDATA section.
pub fn written<'t>(file: &str, text: &'t str, offset: u32) -> Cow<'t, str> {
    match in_cdata(file, offset) {
        true => text.into(),
        false => escape(text),
    }
}

/// Text outside of CDATA sections with its references resolved; unchanged if one of them cannot be.
pub fn unescape(text: &str) -> Cow<'_, str> {
    quick_xml::escape::unescape(text).unwrap_or(Cow::Borrowed(text))
}

/// A piece of raw text inside an element as the language reads it.
pub(crate) fn plain(raw: &str) -> Cow<'_, str> {
    if !raw.contains(['&', '<', ']']) {
        return raw.into();
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once("<![CDATA[") {
        out.push_str(&unescape(before));
        let (inside, behind) = after.split_once("]]>").unwrap_or((after, ""));
        out.push_str(inside);
        rest = behind;
    }
    // A piece may start inside a CDATA section.
    match rest.split_once("]]>") {
        Some((inside, behind)) => {
            out.push_str(inside);
            out.push_str(&unescape(behind));
        }
        None => out.push_str(&unescape(rest)),
    }
    out.into()
}

/// The text of an XML file with everything blanked that is not model text. Offsets are unchanged,
/// an entity becomes its character and blanks, and a tag ends the line.
pub(crate) fn masked(text: &str) -> String {
    let mut out: Vec<u8> = text
        .bytes()
        .map(|b| match b {
            b'<' | b'\n' => b'\n',
            b'\r' => b'\r',
            _ => b' ',
        })
        .collect();
    if let Some(root) = dom::read(text).root {
        reveal(&root, text, &mut out);
    }
    // Only whole characters were copied over the blanks.
    String::from_utf8(out).unwrap_or_default()
}

fn reveal(element: &dom::Element, text: &str, out: &mut [u8]) {
    if elements::is_model_text(element) {
        for part in &element.text {
            match part {
                dom::TextPart::Verbatim(span) => {
                    if let Some(target) = out.get_mut(span.range()) {
                        target.copy_from_slice(&text.as_bytes()[span.range()]);
                    }
                }
                dom::TextPart::Reference(span, c) => {
                    if let Some(first) = out.get_mut(span.start as usize).filter(|_| c.is_ascii()) {
                        *first = *c as u8;
                    }
                }
            }
        }
    }
    for child in &element.children {
        reveal(child, text, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_model_text_is_blank() {
        let text = "<nta><!-- int --><declaration>int é = 1 &lt; 2;<![CDATA[ a < b]]></declaration>\n<name>if</name></nta>";
        let shown = masked(text);
        assert_eq!(shown.len(), text.len());
        assert_eq!(shown.find("int é"), text.find("int é"));
        assert!(shown.contains("1 <    2") && shown.contains(" a < b"));
        assert!(!shown.contains("if") && !shown.contains("--"));
        assert_eq!(plain("x &lt;= <![CDATA[5 &&]]> y"), "x <= 5 && y");
        assert_eq!(plain("a & b"), "a & b");
    }
}
