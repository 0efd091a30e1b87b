//! XML elements to be written, and their one-line form in `//@ xml` comments.

use crate::xml::dom::{self, Element};
use smol_str::SmolStr;

/// Attributes in order, decoded.
pub(crate) type Attributes = Vec<(SmolStr, SmolStr)>;

/// An element.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Node {
    pub tag: SmolStr,
    pub attributes: Attributes,
    pub content: Vec<Content>,
}

/// A piece of the content of an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Character data, decoded.
    Text(String),
    /// A child.
    Node(Node),
    /// XML text, copied unchanged.
    Raw(String),
    /// The content of a comment, unchanged.
    Comment(String),
}

impl Node {
    /// An element without attributes or content.
    pub(super) fn new(tag: &str) -> Node {
        Node {
            tag: tag.into(),
            ..Node::default()
        }
    }

    /// An element that contains only `text`.
    pub(super) fn with_text(tag: &str, text: impl Into<String>) -> Node {
        let mut node = Node::new(tag);
        node.set_text(text.into());
        node
    }

    /// The tag, attributes and comments of `element`, nothing else.
    pub(super) fn shell(raw: &str, element: &Element) -> Node {
        Node {
            tag: element.tag.clone(),
            attributes: element.attributes.clone(),
            content: notes(raw, element, None),
        }
    }

    /// All of `element`, with its decoded text.
    pub(super) fn copy(raw: &str, element: &Element) -> Node {
        let mut node = Node {
            tag: element.tag.clone(),
            attributes: element.attributes.clone(),
            content: Vec::new(),
        };
        let text = element.decode(raw).text;
        // In other elements, text is layout or a mistake that readers ignore.
        if !text.is_empty() && holds_text(&element.tag) {
            node.content.push(Content::Text(text));
        }
        for (i, child) in element.children.iter().enumerate() {
            node.content.extend(notes(raw, element, Some(i)));
            node.content.push(Content::Node(Node::copy(raw, child)));
        }
        let at_end = Some(element.children.len());
        node.content.extend(notes(raw, element, at_end));
        node
    }

    /// `self` with one more attribute.
    pub(super) fn with(mut self, name: &str, value: impl std::fmt::Display) -> Node {
        self.set(name, value);
        self
    }

    /// Replaces an attribute or adds it.
    pub(super) fn set(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = SmolStr::from(value.to_string());
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name.into(), value)),
        }
    }

    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Adds a child.
    pub(super) fn push(&mut self, child: Node) {
        self.content.push(Content::Node(child));
    }

    /// The children.
    pub(super) fn children(&self) -> impl Iterator<Item = &Node> {
        self.content.iter().filter_map(|c| match c {
            Content::Node(node) => Some(node),
            _ => None,
        })
    }

    /// The first child with this tag.
    pub(super) fn child(&self, tag: &str) -> Option<&Node> {
        self.children().find(|c| c.tag == tag)
    }

    /// The element's own text.
    pub(super) fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|c| match c {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Replaces the element's own text.
    pub(super) fn set_text(&mut self, text: String) {
        self.content.retain(|c| !matches!(c, Content::Text(_)));
        if !text.is_empty() {
            self.content.push(Content::Text(text));
        }
    }

    /// The whole element, without line breaks added by the writer.
    pub(super) fn compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// Writes the element; `indent` is the number of tabs before it, `None` to add no white space.
    pub(super) fn write(&self, out: &mut String, indent: Option<usize>) {
        margin(out, indent);
        out.push('<');
        out.push_str(&self.tag);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape_attribute(out, value);
            out.push('"');
        }
        if self.content.is_empty() {
            // Readers that skip empty elements must still see these.
            out.push_str(&if indent.is_some() && holds_text(&self.tag) {
                format!("></{}>", self.tag)
            } else {
                "/>".to_owned()
            });
        } else {
            out.push('>');
            self.write_content(out, indent);
            out.push_str(&format!("</{}>", self.tag));
        }
        if indent.is_some() {
            out.push('\n');
        }
    }

    fn write_content(&self, out: &mut String, indent: Option<usize>) {
        let has_text = self.content.iter().any(|c| matches!(c, Content::Text(_)));
        // White space next to text would become part of it.
        let inner = if has_text || holds_text(&self.tag) {
            None
        } else {
            indent.map(|n| n + 1)
        };
        if inner.is_some() {
            out.push('\n');
        }
        for content in &self.content {
            match content {
                Content::Text(text) => escape_text(out, text),
                Content::Node(node) => node.write(out, inner),
                Content::Raw(raw) => {
                    margin(out, inner);
                    out.push_str(raw);
                    finish(out, inner);
                }
                Content::Comment(text) => {
                    margin(out, inner);
                    out.push_str(&format!("<!--{text}-->"));
                    finish(out, inner);
                }
            }
        }
        if inner.is_some() {
            margin(out, indent);
        }
    }
}

fn margin(out: &mut String, indent: Option<usize>) {
    for _ in 0..indent.unwrap_or(0) {
        out.push('\t');
    }
}

fn finish(out: &mut String, indent: Option<usize>) {
    if indent.is_some() {
        out.push('\n');
    }
}

/// Elements of a model whose content is text.
fn holds_text(tag: &str) -> bool {
    matches!(
        tag,
        "declaration"
            | "system"
            | "instantiation"
            | "name"
            | "parameter"
            | "label"
            | "formula"
            | "comment"
    )
}

/// The comments of an element: those before child `at`, or all.
fn notes(raw: &str, element: &Element, at: Option<usize>) -> Vec<Content> {
    let notes = element.notes.iter();
    notes
        .filter(|(index, _)| at.is_none_or(|at| at == *index))
        .map(|(_, span)| Content::Comment(raw[span.range()].to_owned()))
        .collect()
}

fn escape_text(out: &mut String, text: &str) {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML readers turn a carriage return into a line feed, which is harmless only before
            // one.
            '\r' if rest.peek() != Some(&'\n') => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
}

fn escape_attribute(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Readers turn unescaped line breaks and tabs into blanks.
            '\n' => out.push_str("&#x0A;"),
            '\r' => out.push_str("&#x0D;"),
            '\t' => out.push_str("&#x09;"),
            c => out.push(c),
        }
    }
}

/// Puts XML on one line: line breaks become `&#10;` and `&#13;`. References that are already
/// spelled this way are respelled first, so that [`many_lines`] restores the same XML.
pub(crate) fn one_line(xml: &str) -> String {
    xml.replace("&#10;", "&#x0A;")
        .replace("&#13;", "&#x0D;")
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
}

/// Undoes [`one_line`].
pub(crate) fn many_lines(line: &str) -> String {
    line.replace("&#10;", "\n").replace("&#13;", "\r")
}

/// Reads the fragment of a `//@ xml` line. With `raw_children`, its children are kept as written,
/// except formulas.
pub(crate) fn read_fragment(line: &str, raw_children: bool) -> Result<Node, String> {
    let raw = many_lines(line);
    let document = dom::read(&raw);
    if let Some(error) = document.errors.into_iter().next() {
        return Err(error.message);
    }
    let Some(root) = document.root else {
        return Err("there is no element".to_owned());
    };
    if !raw_children {
        return Ok(Node::copy(&raw, &root));
    }
    let mut node = Node {
        tag: root.tag.clone(),
        attributes: root.attributes.clone(),
        content: Vec::new(),
    };
    for (i, child) in root.children.iter().enumerate() {
        node.content.extend(notes(&raw, &root, Some(i)));
        node.content.push(match child.tag.as_str() {
            "formula" => Content::Node(Node::copy(&raw, child)),
            _ => Content::Raw(raw[child.span.range()].to_owned()),
        });
    }
    node.content
        .extend(notes(&raw, &root, Some(root.children.len())));
    Ok(node)
}

/// The prefix of an XML comment that contains comments of an `.xta` file.
const XTA_MARK: &str = "@ xta ";

/// Encodes comments of a textual model as the content of an XML comment, which must not contain
/// `--`.
pub(crate) fn hide_comments(comments: &str) -> String {
    let mut inside = comments.replace('&', "&amp;").replace("--", "-&#45;");
    if inside.ends_with('-') {
        inside.pop();
        inside.push_str("&#45;");
    }
    format!("{XTA_MARK}{inside}")
}

/// Undoes [`hide_comments`]; `None` for any other XML comment.
pub(crate) fn shown_comments(inside: &str) -> Option<String> {
    let text = inside.strip_prefix(XTA_MARK)?;
    Some(text.replace("&#45;", "-").replace("&amp;", "&"))
}

/// The prefix of an XML comment that contains the name of a branchpoint.
const NAME_MARK: &str = "@ name ";

/// Encodes a name as the content of an XML comment.
pub(crate) fn hide_name(name: &str) -> String {
    format!("{NAME_MARK}{name}")
}

/// Undoes [`hide_name`].
pub(crate) fn shown_name(inside: &str) -> Option<&str> {
    inside.strip_prefix(NAME_MARK)
}
