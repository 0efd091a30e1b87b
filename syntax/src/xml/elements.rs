//! The elements of an XML file for editors: where they are, and which of them contain model text.

use super::{MODEL_TEXT, dom};
use crate::span::Span;
use smol_str::SmolStr;

/// An element, or a comment of XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The name of the element; `!--` for a comment.
    pub name: SmolStr,
    /// Its attribute `kind`, as labels have it; otherwise empty.
    pub kind: SmolStr,
    /// From the `<` of the start tag to the `>` of the end tag.
    pub span: Span,
    /// The range between the tags.
    pub content: Span,
    /// Whether the language is written inside.
    pub model_text: bool,
}

/// All elements in order of their start tags, the comments of each before its children.
pub(crate) fn elements(text: &str) -> Vec<Tag> {
    let mut out = Vec::new();
    if let Some(root) = dom::read(text).root {
        add(&root, &mut out);
    }
    out.sort_by_key(|tag| tag.span.start);
    out
}

// The reader refuses elements that are nested too deeply.
fn add(element: &dom::Element, out: &mut Vec<Tag>) {
    out.push(Tag {
        name: element.tag.clone(),
        kind: element.attribute("kind").cloned().unwrap_or_default(),
        span: element.span,
        content: element.content,
        model_text: is_model_text(element),
    });
    for (_, inside) in &element.notes {
        out.push(Tag {
            name: "!--".into(),
            kind: SmolStr::default(),
            span: Span::new(inside.start.saturating_sub(4), inside.end + 3),
            content: *inside,
            model_text: false,
        });
    }
    for child in &element.children {
        add(child, out);
    }
}

/// Whether an element contains text of the language.
pub(super) fn is_model_text(element: &dom::Element) -> bool {
    let comment = element.attribute("kind").is_some_and(|k| k == "comments");
    MODEL_TEXT.contains(&&*element.tag) && !comment
}

/// Whether a byte is in a CDATA section, where nothing is escaped.
pub fn in_cdata(text: &str, offset: u32) -> bool {
    let before = text.get(..offset as usize).unwrap_or("");
    let opened = before.rfind("<![CDATA[");
    opened.is_some_and(|at| !before[at..].contains("]]>"))
}

/// As much of a file is read to see whether it is a model.
const HEAD: usize = 4096;

/// Whether an XML file begins like a model: after the declaration, comments and white space comes
/// the document type or the root element of UPPAAL's files. Other XML files belong to others.
pub fn is_model(text: &str) -> bool {
    let end = text.char_indices().nth(HEAD).map_or(text.len(), |(i, _)| i);
    let mut rest = text[..end].trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        let (open, close) = match rest {
            _ if rest.starts_with("<?") => ("<?", "?>"),
            _ if rest.starts_with("<!--") => ("<!--", "-->"),
            _ => break,
        };
        match rest[open.len()..].split_once(close) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    let named = |start: &str| {
        let after = rest.strip_prefix(start);
        let after = after.map(|after| after.trim_start().strip_prefix("nta").unwrap_or("x"));
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    named("<!DOCTYPE") || rest.starts_with("<nta") && named("<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_order_with_their_comments() {
        let text = "<nta><!-- a --><declaration>int x;</declaration><label kind=\"comments\">y</label></nta>";
        let shown: Vec<(String, &str, bool)> = elements(text)
            .iter()
            .map(|t| (t.name.to_string(), &text[t.content.range()], t.model_text))
            .collect();
        let name = |name: &str| name.to_owned();
        assert_eq!(
            shown[1..],
            [
                (name("!--"), " a ", false),
                (name("declaration"), "int x;", true),
                (name("label"), "y", false),
            ]
        );
        assert_eq!(&text[elements(text)[1].span.range()], "<!-- a -->");
    }

    #[test]
    fn a_model_is_known_by_its_head() {
        for model in [
            "<nta>",
            "\u{feff}<?xml version='1.0'?>\r\n<!-- a --> <nta/>",
            "<!DOCTYPE nta PUBLIC '…' 'http://…'>",
            "<?xml version='1.0'?><!DOCTYPE\n nta>",
            "<nta",
        ] {
            assert!(is_model(model), "{model}");
        }
        for other in [
            "",
            "<project/>",
            "<ntab/>",
            "<!DOCTYPE html>",
            "<!-- <nta> -->",
            "<?xml <nta>",
            "<!-- <nta>",
            "text <nta>",
        ] {
            assert!(!is_model(other), "{other}");
        }
        let far = format!("<!--{}--><nta>", " ".repeat(5000));
        assert!(!is_model(&far));
    }
}
