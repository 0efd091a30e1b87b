//! `<` and `&` that were intended as characters.
//!
//! An element that contains model text cannot contain other elements, so a `<` there that begins
//! neither its end tag nor a UPPAAL element is a character that should have been written `&lt;`. It
//! is reported, and hidden from the XML reader by a character of the same length, so that
//! everything around it is still read.

use super::TEXTUAL;
use std::borrow::Cow;

/// The replacement for a hidden `<`; it is not allowed in XML, so it cannot occur otherwise.
const HIDDEN: u8 = 1;

/// Elements of model files; a `<` before such a name does begin an element.
const ELEMENTS: [&str; 27] = [
    "nta",
    "imports",
    "declaration",
    "template",
    "name",
    "parameter",
    "location",
    "label",
    "committed",
    "urgent",
    "init",
    "transition",
    "edge",
    "source",
    "target",
    "nail",
    "branchpoint",
    "system",
    "instantiation",
    "queries",
    "query",
    "formula",
    "comment",
    "result",
    "expect",
    "option",
    "lsc",
];

/// The text with stray `<` hidden, and their positions.
pub(super) fn hide(text: &str) -> (Cow<'_, str>, Vec<u32>) {
    let found = find(text);
    if found.is_empty() {
        return (Cow::Borrowed(text), found);
    }
    let mut bytes = text.as_bytes().to_vec();
    for at in &found {
        bytes[*at as usize] = HIDDEN;
    }
    // Only ASCII characters were replaced.
    let hidden = String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned());
    (Cow::Owned(hidden), found)
}

fn find(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut inside: Option<&str> = None;
    let mut at = 0;
    while let Some(next) = text[at..].find('<') {
        let here = at + next;
        let rest = &text[here..];
        let skip = |end: &str| rest.find(end).map_or(rest.len(), |i| i + end.len());
        at = here
            + if rest.starts_with("<!--") {
                skip("-->")
            } else if rest.starts_with("<![CDATA[") {
                skip("]]>")
            } else if rest.starts_with("<?") {
                skip("?>")
            } else if let Some(tag) = inside {
                if closes(rest, tag) || begins_element(rest) {
                    inside = None;
                    // A start tag is processed again, outside the element.
                    usize::from(!begins_start(rest))
                } else {
                    found.push(here as u32);
                    1
                }
            } else {
                let (end, empty) = tag_end(rest);
                inside = name(&rest[1..]).filter(|n| TEXTUAL.contains(n) && !empty);
                end
            };
    }
    found
}

/// The name at the start of `text`.
fn name(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
        .unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Whether `rest` begins with the end tag of `tag`.
fn closes(rest: &str, tag: &str) -> bool {
    rest.strip_prefix("</").and_then(name) == Some(tag)
}

/// Whether `rest` begins with a tag of a known element.
fn begins_element(rest: &str) -> bool {
    let Some(end) = rest.strip_prefix("</") else {
        return begins_start(rest);
    };
    let known = name(end).filter(|n| ELEMENTS.contains(n));
    known.is_some_and(|n| end[n.len()..].trim_start().starts_with('>'))
}

/// Whether `rest` begins with a start tag of a known element, with an attribute or the end of the
/// tag after the name.
fn begins_start(rest: &str) -> bool {
    let Some(found) = name(&rest[1..]).filter(|n| ELEMENTS.contains(n)) else {
        return false;
    };
    let after_name = rest[1 + found.len()..].trim_start();
    if after_name.starts_with('>') || after_name.starts_with("/>") {
        return true;
    }
    let attribute = name(after_name).map(|n| after_name[n.len()..].trim_start());
    attribute.is_some_and(|a| a.starts_with("=\"") || a.starts_with("='"))
}

/// Where a tag ends, and whether it is self-closing.
fn tag_end(rest: &str) -> (usize, bool) {
    let mut quote = None;
    let mut before = b'<';
    for (i, b) in rest.bytes().enumerate().skip(1) {
        match (quote, b) {
            (Some(q), _) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'>') => return (i + 1, before == b'/'),
            // The tag never ends; the reader reports it.
            (None, b'<') => return (i, false),
            _ => {}
        }
        before = b;
    }
    (rest.len(), false)
}

/// The positions of each `&` in `text` that begins no reference.
pub(super) fn ampersands(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices('&')
        .map(|(at, _)| at)
        .filter(|at| !is_reference(&text[at + 1..]))
}

fn is_reference(rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
    end.is_some_and(|end| end > 0 && rest[end..].starts_with(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_distinguished_from_tags() {
        let strays = |text: &str| -> Vec<String> {
            let around = find(text).into_iter().map(|i| i as usize);
            around
                .map(|i| text[i..].chars().take(4).collect())
                .collect()
        };
        let model = "<nta><declaration>int a = b<c;\nbool d = 1 < 2 &amp;&amp; e<name;</declaration>\
            <label kind=\"guard\">x<=3 <!-- < --></label><name x='<'>P</name><system>system P;</system></nta>";
        assert_eq!(strays(model), ["<c;\n", "< 2 ", "<nam", "<=3 "]);
        // A tag whose end is missing is not a sequence of characters.
        assert!(strays("<declaration>int a;<template><name>P</name></template>").is_empty());
        assert!(strays("<label kind=\"guard\">x<label kind=\"guard\">y</label>").is_empty());
        assert!(
            strays("<declaration/><![CDATA[ < ]]><declaration><![CDATA[a<b]]></declaration>")
                .is_empty()
        );
        let (hidden, found) = hide("<label>a < b</label>");
        assert_eq!((hidden.len(), found), (20, vec![9]));
        assert_eq!(
            ampersands("a && b &lt; &#38; &x").collect::<Vec<_>>(),
            [2, 3, 18]
        );
    }
}
