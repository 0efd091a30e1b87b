//! Writes the elements of an XML model as `.xta` text.

use super::PROLOG;
use super::clauses::{EDGE_CLAUSES, has_tokens, is_name, terminator_gap};
use super::node::{Content, Node, one_line, shown_comments, shown_name};
use super::xta_query::write_queries;
use crate::error::SyntaxError;
use crate::span::Span;
use crate::xml::dom::{self, Element};
use smol_str::SmolStr;
use std::collections::HashSet;

/// Writes a model that was read without errors.
pub(crate) fn write(raw: &str) -> Result<String, Vec<SyntaxError>> {
    let document = dom::read(raw);
    let Some(root) = document.root else {
        return Err(document.errors);
    };
    let mut writer = Writer {
        raw,
        out: String::new(),
        errors: Vec::new(),
    };
    let prolog = raw[..root.span.start as usize]
        .trim_start_matches('\u{feff}')
        .trim();
    if !prolog.is_empty() && prolog != PROLOG {
        writer.pragma("", &one_line(prolog));
    }
    if !root.attributes.is_empty() {
        writer.fragment("", &Node::shell("", &bare(&root)));
    }
    writer.children(&root);
    let epilog = raw[root.span.end as usize..].trim();
    if !epilog.is_empty() {
        writer.pragma("", &one_line(epilog));
    }
    if writer.errors.is_empty() {
        Ok(writer.out)
    } else {
        Err(writer.errors)
    }
}

/// The element itself, without its comments.
fn bare(element: &Element) -> Element {
    Element {
        children: Vec::new(),
        text: Vec::new(),
        notes: Vec::new(),
        ..element.clone()
    }
}

const MARGIN: &str = "    ";
const DEEP: &str = "        ";

struct Writer<'a> {
    raw: &'a str,
    out: String,
    errors: Vec<SyntaxError>,
}

/// The names of the parts of a template, and whether they are all different.
struct Names {
    by_id: Vec<(SmolStr, SmolStr)>,
    unique: bool,
}

impl Writer<'_> {
    fn pragma(&mut self, margin: &str, rest: &str) {
        self.out.push_str(margin);
        self.out.push_str("//@ xml ");
        self.out.push_str(rest);
        self.out.push('\n');
    }

    fn fragment(&mut self, margin: &str, node: &Node) {
        self.pragma(margin, &one_line(&node.compact()));
    }

    fn children(&mut self, root: &Element) {
        for (i, child) in root.children.iter().enumerate() {
            if child.tag == "template" {
                self.template(child, root, i);
                continue;
            }
            self.notes(root, i, "", false);
            match child.tag.as_str() {
                "declaration" | "instantiation" | "system" => self.section("", child),
                "queries" => write_queries(&mut self.out, self.raw, child),
                _ => self.pragma("", &one_line(&self.raw[child.span.range()])),
            }
        }
        self.notes(root, root.children.len(), "", false);
    }

    /// Writes a marker and the text, which ends one line break before whatever comes next.
    fn section(&mut self, margin: &str, element: &Element) {
        self.fragment(margin, &Node::shell(self.raw, element));
        self.out.push_str(&element.decode(self.raw).text);
        self.out.push('\n');
    }

    /// Writes the comments before child `index`: those that Zonelens wrote as `.xta` comments if
    /// `shown`, all others unchanged.
    fn notes(&mut self, element: &Element, index: usize, margin: &str, shown: bool) {
        let spans: Vec<Span> = element
            .notes
            .iter()
            .filter(|(at, _)| *at == index)
            .map(|(_, span)| *span)
            .collect();
        for span in spans {
            let inside = &self.raw[span.range()];
            match shown_comments(inside).filter(|_| shown) {
                Some(comments) => {
                    self.out.push_str(margin);
                    self.out.push_str(&comments);
                    self.out.push('\n');
                }
                None => self.pragma(margin, &one_line(&format!("<!--{inside}-->"))),
            }
        }
    }

    fn template(&mut self, element: &Element, root: &Element, index: usize) {
        let mut node = Node::shell("", &bare(element));
        let mut heading = 0;
        for (i, child) in element.children.iter().enumerate() {
            match child.tag.as_str() {
                "name" => node.push(self.name_node(child)),
                "parameter" => node.push(Node::shell(self.raw, child)),
                _ => continue,
            }
            heading = i + 1;
        }
        self.fragment("", &node);
        self.notes(root, index, "", true);
        for i in 0..heading {
            self.notes(element, i, "", true);
        }
        let (name, span) = element
            .child("name")
            .map(|n| n.trimmed(self.raw))
            .unwrap_or_default();
        self.check_name("template", &name, span);
        let parameter = element
            .children
            .iter()
            .rfind(|c| c.tag == "parameter")
            .map(|p| p.decode(self.raw).text)
            .unwrap_or_default();
        let gap = terminator_gap(&parameter);
        self.out
            .push_str(&format!("process {name}({parameter}{gap}) {{\n"));
        self.body(element, heading);
        self.out.push_str("}\n\n");
    }

    /// Writes the members in the order that `.xta` requires.
    fn body(&mut self, element: &Element, heading: usize) {
        let names = self.names(element);
        let all: Vec<(usize, &Element)> =
            element.children.iter().enumerate().skip(heading).collect();
        let tagged = |tags: &[&str]| -> Vec<(usize, &Element)> {
            let mut found = all.clone();
            found.retain(|(_, c)| tags.contains(&c.tag.as_str()));
            found
        };
        for (i, child) in tagged(&["declaration"]) {
            self.notes(element, i, MARGIN, false);
            self.section(MARGIN, child);
        }
        let locations = tagged(&["location"]);
        self.list("state", element, &locations, |w, l| w.location(l, &names));
        self.list("branchpoint", element, &tagged(&["branchpoint"]), |w, b| {
            w.branchpoint(b)
        });
        self.flags("commit", "committed", &locations);
        self.flags("urgent", "urgent", &locations);
        for (i, child) in tagged(&["init"]) {
            self.notes(element, i, MARGIN, true);
            self.init(child, &names);
        }
        let edges = tagged(&["transition", "edge"]);
        self.list("trans", element, &edges, |w, e| w.edge(e, &names));
        self.notes(element, element.children.len(), MARGIN, true);
    }

    fn names(&self, template: &Element) -> Names {
        let mut by_id = Vec::new();
        let mut seen = HashSet::new();
        let mut unique = true;
        for child in &template.children {
            if child.tag != "location" && child.tag != "branchpoint" {
                continue;
            }
            let (name, _) = self.location_name(child);
            unique &= seen.insert(name.clone());
            by_id.push((child.attribute("id").cloned().unwrap_or_default(), name));
        }
        Names { by_id, unique }
    }

    /// The name of a location, and whether the file gives it.
    fn location_name(&self, element: &Element) -> (SmolStr, bool) {
        if element.tag == "branchpoint" {
            let mut notes = element.notes.iter();
            let given = notes.find_map(|(_, span)| shown_name(&self.raw[span.range()]));
            if let Some(name) = given {
                return (name.into(), true);
            }
        }
        let names = element.children.iter().filter(|c| c.tag == "name");
        let given = names
            .map(|n| n.trimmed(self.raw).0)
            .rfind(|n| !n.is_empty());
        match given {
            Some(name) => (name, true),
            None => {
                let id = element.attribute("id").map_or("", SmolStr::as_str);
                (format!("_{id}").into(), false)
            }
        }
    }

    /// Writes `keyword a, b;`, one member per line, each after the lines that belong to it.
    fn list(
        &mut self,
        keyword: &str,
        parent: &Element,
        list: &[(usize, &Element)],
        mut write: impl FnMut(&mut Self, &Element),
    ) {
        let Some((last, _)) = list.last() else {
            return;
        };
        self.out.push_str(&format!("{MARGIN}{keyword}\n"));
        for (i, child) in list {
            self.notes(parent, *i, DEEP, true);
            write(self, child);
            self.out.push_str(if i == last { ";\n" } else { ",\n" });
        }
    }

    fn flags(&mut self, keyword: &str, tag: &str, locations: &[(usize, &Element)]) {
        let mut names: Vec<SmolStr> = Vec::new();
        for (_, location) in locations.iter().filter(|(_, l)| l.child(tag).is_some()) {
            let (name, _) = self.location_name(location);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if !names.is_empty() {
            self.out
                .push_str(&format!("{MARGIN}{keyword} {};\n", names.join(", ")));
        }
    }

    /// `<name>` without its text, unless the text has white space around it or looks like a
    /// generated name.
    fn name_node(&self, element: &Element) -> Node {
        let text = element.decode(self.raw).text;
        if text.trim() == text && !text.starts_with('_') {
            Node::shell(self.raw, element)
        } else {
            Node::copy(self.raw, element)
        }
    }

    fn location(&mut self, element: &Element, names: &Names) {
        let (name, own) = self.location_name(element);
        let span = match element.child("name").filter(|_| own) {
            Some(given) => given.trimmed(self.raw).1,
            None => element.span,
        };
        self.check_name("location", &name, span);
        let mut node = self.shell_of(element);
        let written = |kind: &str| last_label(element, kind);
        let mut texts = [String::new(), String::new()];
        for child in &element.children {
            let kind = child.attribute("kind").map_or("", SmolStr::as_str);
            let slot = match (child.tag.as_str(), kind) {
                ("name", _) => {
                    node.push(self.name_node(child));
                    continue;
                }
                ("committed" | "urgent", _) => {
                    if !names.unique {
                        node.push(Node::copy(self.raw, child));
                    }
                    continue;
                }
                ("label", "invariant") => Some(0),
                ("label", "exponentialrate") => Some(1),
                _ => None,
            };
            let text = child.decode(self.raw).text;
            match slot {
                Some(slot) if written(kind) == Some(child.span) && in_model(&text) => {
                    texts[slot] = text;
                    node.push(Node::shell(self.raw, child));
                }
                _ => node.push(Node::copy(self.raw, child)),
            }
        }
        self.fragment(DEEP, &node);
        self.out.push_str(DEEP);
        self.out.push_str(&name);
        self.out.push_str(&braces(&texts));
    }

    fn branchpoint(&mut self, element: &Element) {
        let (name, _) = self.location_name(element);
        self.check_name("branchpoint", &name, element.span);
        self.fragment(DEEP, &Node::copy(self.raw, element));
        self.out.push_str(&format!("{DEEP}{name}"));
    }

    fn init(&mut self, element: &Element, names: &Names) {
        if !names.unique || element.attributes.len() > 1 || !element.notes.is_empty() {
            self.fragment(MARGIN, &Node::shell(self.raw, element));
        }
        let name = self.referred(element, names);
        self.out.push_str(&format!("{MARGIN}init {name};\n"));
    }

    /// The name that `ref` refers to, as the reader resolves it.
    fn referred(&mut self, element: &Element, names: &Names) -> SmolStr {
        let id = element.attribute("ref").cloned().unwrap_or_default();
        let found = names.by_id.iter().find(|(i, _)| *i == id);
        found.map_or(id, |(_, name)| name.clone())
    }

    fn edge(&mut self, element: &Element, names: &Names) {
        let mut node = self.shell_of(element);
        let mut texts: [Option<String>; 5] = Default::default();
        for child in &element.children {
            let kind = child.attribute("kind").map_or("", SmolStr::as_str);
            let slot = match child.tag.as_str() {
                "source" | "target" => {
                    if !names.unique || child.attributes.len() > 1 {
                        node.push(Node::shell(self.raw, child));
                    }
                    continue;
                }
                "label" => EDGE_CLAUSES.iter().position(|(k, _)| *k == kind),
                _ => None,
            };
            let text = child.decode(self.raw).text;
            match slot {
                Some(slot) if last_label(element, kind) == Some(child.span) && in_model(&text) => {
                    texts[slot] = Some(text).filter(|t| has_tokens(t));
                    node.push(Node::shell(self.raw, child));
                }
                _ => node.push(Node::copy(self.raw, child)),
            }
        }
        self.fragment(DEEP, &node);
        let end = |tag: &str| element.child(tag).map(bare);
        let [source, target] = [end("source"), end("target")]
            .map(|e| e.map(|e| self.referred(&e, names)).unwrap_or_default());
        let controllable = element
            .attribute("controllable")
            .is_none_or(|v| v != "false");
        let arrow = if controllable { "->" } else { "-u->" };
        self.out
            .push_str(&format!("{DEEP}{source} {arrow} {target} {{"));
        for ((_, keyword), text) in EDGE_CLAUSES.iter().zip(&texts) {
            if let Some(text) = text {
                let gap = terminator_gap(text);
                self.out.push_str(&format!(" {keyword} {text}{gap};"));
            }
        }
        self.out.push_str(" }");
    }

    /// The attributes and comments of an element.
    fn shell_of(&self, element: &Element) -> Node {
        let mut node = Node::shell(self.raw, element);
        // Their mark means a comment of an `.xta` file, so they would not come back as part of this
        // element.
        node.content
            .retain(|c| !matches!(c, Content::Comment(text) if shown_comments(text).is_some()));
        node
    }

    fn check_name(&mut self, what: &str, name: &str, span: Span) {
        if !is_name(name) {
            let message = format!(
                "this {what} is called `{name}`, which `.xta` does not allow: a name consists of letters, digits and `_`, does not begin with a digit, and is not a keyword; rename it first"
            );
            self.errors
                .push(SyntaxError::new("syntax/convert", message, span));
        }
    }
}

/// The label of this kind that readers use: the last one.
fn last_label(element: &Element, kind: &str) -> Option<Span> {
    let of_kind = |c: &&Element| c.tag == "label" && c.attribute("kind").is_some_and(|k| k == kind);
    element.children.iter().rfind(of_kind).map(|l| l.span)
}

/// Whether a label is written as `.xta`. A label with comments only stays in the fragment, because
/// `.xta` allows no empty label.
fn in_model(text: &str) -> bool {
    text.is_empty() || has_tokens(text)
}

/// `{ invariant; rate }`
fn braces([invariant, rate]: &[String; 2]) -> String {
    let blank = |text: &str| match terminator_gap(text) {
        "" => " ",
        gap => gap,
    };
    match (has_tokens(invariant), has_tokens(rate)) {
        (false, false) => String::new(),
        (true, false) => format!(" {{ {invariant}{}}}", blank(invariant)),
        (_, true) => {
            let gap = terminator_gap(invariant);
            format!(" {{ {invariant}{gap}; {rate}{}}}", blank(rate))
        }
    }
}
