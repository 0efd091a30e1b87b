//! The texts that can be edited in the picture, as they are written: the drawing shows them on one
//! line, cut, and leaves out what cannot be read.

use super::sketch::placed;
use super::template::{Template, label_of, template_name, templates};
use super::{Element, LabelKind, model};
use crate::SourceFile;
use crate::ast::FileKind;
use crate::span::Span;
use crate::xml::dom;

/// The texts of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateTexts {
    /// The name of the template.
    pub template: String,
    /// Its parameters, without parentheses.
    pub parameters: String,
    /// The labels that are not empty; of several of a kind, the one that gestures change.
    pub labels: Vec<LabelText>,
}

/// A label as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelText {
    /// Whose label.
    pub of: Element,
    /// Which label.
    pub label: LabelKind,
    /// Its text, with all line breaks and without entities.
    pub text: String,
    /// Where it stands in the file, with its entities.
    pub span: Span,
    /// Its upper left corner, where the file gives one.
    pub place: Option<(f64, f64)>,
}

/// The texts of all templates that gestures can change, or why no gesture is possible.
pub fn texts(file: &SourceFile) -> Result<Vec<TemplateTexts>, String> {
    match file.kind {
        FileKind::Xml => {}
        FileKind::Xta => return Err(super::NOT_XTA.to_owned()),
        FileKind::Query => return Err(super::NO_PICTURE.to_owned()),
    }
    let raw = &file.text;
    let root = model(raw)?;
    let read = |element| {
        let name = template_name(raw, element);
        // Gestures refuse templates of the same name, so they have no texts either.
        let template = Template::find(raw, &root, &name).ok()?;
        let parameters = element.children.iter().rfind(|c| c.tag == "parameter");
        Some(TemplateTexts {
            template: name.to_string(),
            parameters: parameters.map_or_else(String::new, |p| plain(raw, p)),
            labels: labels(raw, &template),
        })
    };
    Ok(templates(&root).filter_map(read).collect())
}

fn labels(raw: &str, template: &Template<'_>) -> Vec<LabelText> {
    let mut out = Vec::new();
    let mut add = |of: Element, owner: &dom::Element, belongs: fn((bool, bool)) -> bool| {
        for label in LabelKind::ALL.into_iter().filter(|l| belongs(l.belongs())) {
            let Some(found) = label_of(raw, owner, label) else {
                continue;
            };
            let text = plain(raw, found);
            if !text.trim().is_empty() {
                out.push(LabelText {
                    of: of.clone(),
                    label,
                    text,
                    span: found.content,
                    place: place(found),
                });
            }
        }
    };
    for node in template.nodes.iter().filter(|n| n.is_location()) {
        add(Element::Node(node.name.to_string()), node.element, |b| b.0);
    }
    for (number, edge) in template.edges.iter().enumerate() {
        add(Element::Edge(number as u32), edge, |b| b.1);
    }
    out
}

fn plain(raw: &str, element: &dom::Element) -> String {
    element.decode(raw).text.replace("\r\n", "\n")
}

fn place(element: &dom::Element) -> Option<(f64, f64)> {
    let number = |name: &str| element.attribute(name)?.trim().parse::<f64>().ok();
    placed(element).then(|| Some((number("x")?, number("y")?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_file() {
        let text = "<nta><template><name>P</name><parameter>int a,\r\nint b</parameter>\
             <location id=\"id0\"><name x=\"1\" y=\"2\">idle</name>\
             <label kind=\"invariant\">x &lt;= 3\r\n&amp;&amp; y</label></location>\
             <location id=\"id1\"><label kind=\"comments\"> </label></location>\
             <transition><source ref=\"id0\"/><target ref=\"id1\"/>\
             <label kind=\"guard\">x &lt;</label></transition></template></nta>";
        let all = texts(&SourceFile::parse(text, FileKind::Xml)).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].parameters, "int a,\nint b");
        let shown = |l: &LabelText| {
            let place = l
                .place
                .map_or(String::new(), |(x, y)| format!(" at {x},{y}"));
            format!("{:?} {} {:?}{place}", l.of, l.label.name(), l.text)
        };
        let labels: Vec<String> = all[0].labels.iter().map(shown).collect();
        assert_eq!(
            labels,
            [
                "Node(\"idle\") name \"idle\" at 1,2",
                "Node(\"idle\") invariant \"x <= 3\\n&& y\"",
                "Edge(0) guard \"x <\"",
            ]
        );
        assert_eq!(&text[all[0].labels[2].span.range()], "x &lt;");
    }

    #[test]
    fn what_cannot_be_edited_says_why() {
        let why = |text: &str, kind| texts(&SourceFile::parse(text, kind)).unwrap_err();
        assert!(why("<nta><template>", FileKind::Xml).starts_with("correct the XML"));
        assert!(why("<project/>", FileKind::Xml).contains("not a model"));
        assert!(why("process P() {}", FileKind::Xta).contains(".xta"));
        assert!(why("A[] true", FileKind::Query).contains("no picture"));
    }
}
