//! Writes the parts of a model as XML text.

use super::PROLOG;
use super::clauses::{EDGE_CLAUSES, has_tokens};
use super::collect::{Block, Model, Note};
use super::node::{Attributes, Content, Node, hide_comments, hide_name, shown_name};
use super::sketch::{EdgePlaces, NodePlaces, Places, Point, Sketch, sketch};
use super::template::{Template, XmlEdge, XmlLocation, tidy};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;
use std::collections::HashSet;

pub(crate) fn write(
    model: Model,
    layout: &dyn Fn(&Sketch) -> Places,
) -> Result<String, Vec<SyntaxError>> {
    let mut ids = Ids::new(&model);
    let mut errors = Vec::new();
    let mut root = model.root.unwrap_or_else(|| Node::new("nta"));
    for block in model.blocks {
        match block {
            Block::Section(section) => {
                let mut node = section.node;
                node.set_text(if section.exact {
                    section.text
                } else {
                    tidy(&section.text).to_owned()
                });
                root.push(node);
            }
            Block::Raw(raw) => root.content.push(Content::Raw(raw)),
            Block::Queries(mut node, queries) => {
                for query in queries {
                    node.push(query.node());
                }
                root.push(node);
            }
            Block::Template(template) => {
                let places = layout(&sketch(&template));
                let mut drawing = Drawing {
                    ids: &mut ids,
                    places: Vec::new(),
                    errors: &mut errors,
                };
                drawing.template(*template, places, &mut root);
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut out = model.prolog.unwrap_or_else(|| PROLOG.to_owned());
    out.push('\n');
    root.write(&mut out, Some(0));
    Ok(out)
}

/// The generator of unused ids.
struct Ids {
    taken: HashSet<SmolStr>,
    next: u32,
}

impl Ids {
    fn new(model: &Model) -> Ids {
        let mut taken = HashSet::new();
        for block in &model.blocks {
            let Block::Template(template) = block else {
                continue;
            };
            let drawn = template.locations.iter().map(|l| &l.drawn);
            let drawn = drawn.chain(template.branchpoints.iter().map(|(d, _)| d));
            let ids = drawn.filter_map(|d| d.fragment.as_ref()?.get("id").map(SmolStr::new));
            taken.extend(ids);
        }
        Ids { taken, next: 0 }
    }

    fn fresh(&mut self) -> SmolStr {
        loop {
            let id = SmolStr::from(format!("id{}", self.next));
            self.next += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// A location or branchpoint that edges refer to.
struct Place {
    name: SmolStr,
    id: SmolStr,
}

struct Drawing<'a> {
    ids: &'a mut Ids,
    places: Vec<Place>,
    errors: &'a mut Vec<SyntaxError>,
}

impl Drawing<'_> {
    fn template(&mut self, template: Template, places: Places, root: &mut Node) {
        push_notes(root, template.drawn.notes);
        let fragment = template.drawn.fragment;
        let mut node = Node::new("template");
        if let Some(fragment) = &fragment {
            node.attributes = fragment.attributes.clone();
        }
        let shell = |tag: &str| fragment.as_ref().and_then(|f| f.child(tag)).cloned();
        node.push(named(shell("name"), &template.name));
        let parameter = shell("parameter");
        if parameter.is_some() || template.parameter.is_some() {
            let mut parameter = parameter.unwrap_or_else(|| Node::new("parameter"));
            parameter.set_text(template.parameter.unwrap_or_default());
            node.push(parameter);
        }
        for (mut declaration, text) in template.declarations {
            declaration.set_text(text);
            node.push(declaration);
        }
        for (i, location) in template.locations.into_iter().enumerate() {
            let places = places.locations.get(i).cloned().unwrap_or_default();
            self.location(location, &places, &mut node);
        }
        for (i, (drawn, name)) in template.branchpoints.into_iter().enumerate() {
            push_notes(&mut node, drawn.notes);
            let point = drawn.fragment.unwrap_or_else(|| Node::new("branchpoint"));
            let at = places.branchpoints.get(i).copied().unwrap_or_default();
            let mut point = self.placed(point, &name, at);
            name_branchpoint(&mut point, &name);
            node.push(point);
        }
        for (drawn, name, span) in template.inits {
            push_notes(&mut node, drawn.notes);
            let init = drawn.fragment.unwrap_or_else(|| Node::new("init"));
            let init = self.referring(init, &name, span);
            node.push(init);
        }
        for (i, edge) in template.edges.into_iter().enumerate() {
            let places = places.edges.get(i).cloned().unwrap_or_default();
            self.edge(edge, places, &mut node);
        }
        push_notes(&mut node, template.end);
        root.push(node);
    }

    /// Gives an element an id and a place, and records them.
    fn placed(&mut self, mut node: Node, name: &str, (x, y): Point) -> Node {
        // If a `//@ xml` line was copied with its location, both copies have the same id.
        let own = node.get("id").map(SmolStr::new);
        let id = match own.filter(|id| self.places.iter().all(|p| p.id != *id)) {
            Some(id) => id,
            None => {
                let id = self.ids.fresh();
                node.attributes.retain(|(name, _)| name != "id");
                node.attributes.insert(0, ("id".into(), id.clone()));
                if node.get("x").is_none() {
                    node.set("x", x);
                    node.set("y", y);
                }
                id
            }
        };
        self.places.push(Place {
            name: name.into(),
            id,
        });
        node
    }

    fn location(&mut self, location: XmlLocation, places: &NodePlaces, template: &mut Node) {
        push_notes(template, location.drawn.notes);
        let drawn = location.drawn.fragment;
        let fresh = drawn.is_none();
        let node = drawn.unwrap_or_else(|| Node::new("location"));
        let mut node = self.placed(node, &location.name, places.at);
        let made_up = node.get("id").map(|id| format!("_{id}"));
        let shell = node.child("name").cloned();
        let own_name = shell.as_ref().is_some_and(|n| !n.text().trim().is_empty());
        let anonymous = !fresh && !own_name && made_up.as_deref() == Some(&location.name);
        if let (false, Some(place)) = (anonymous, child_mut(&mut node, "name")) {
            *place = named(Some(std::mem::take(place)), &location.name);
        } else if !anonymous {
            let mut name = named(None, &location.name);
            if fresh {
                name.set("x", places.name.0);
                name.set("y", places.name.1);
            }
            node.content.insert(0, Content::Node(name));
        }
        clear_unused_labels(&mut node, &location.labels);
        for (i, kind, text) in missing_labels(&mut node, location.labels) {
            let place = places.labels.get(i).copied().unwrap_or_default();
            node.push(label(kind, text, place));
        }
        for (tag, set) in [
            ("urgent", location.urgent),
            ("committed", location.committed),
        ] {
            if set && node.child(tag).is_none() {
                node.push(Node::new(tag));
            }
        }
        template.push(node);
    }

    /// Makes `node` refer to the place called `name`; a `ref` to such a place is kept.
    fn referring(&mut self, mut node: Node, name: &str, span: Span) -> Node {
        let mut named = self.places.iter().filter(|p| p.name == name);
        let kept = node.get("ref").map(SmolStr::new);
        let Some(first) = named.clone().next() else {
            self.errors.push(SyntaxError::new(
                "syntax/convert",
                format!(
                    "there is no location `{name}` in this process; XML refers to locations by their ids, so declare it in the `state` list first"
                ),
                span,
            ));
            return node;
        };
        if !named.any(|p| Some(&p.id) == kept.as_ref()) {
            node.set("ref", &first.id);
        }
        node
    }

    fn edge(&mut self, edge: XmlEdge, places: EdgePlaces, template: &mut Node) {
        push_notes(template, edge.drawn.notes);
        let fresh = edge.drawn.fragment.is_none();
        let fragment = edge
            .drawn
            .fragment
            .unwrap_or_else(|| Node::new("transition"));
        let end = |tag: &str| {
            fragment
                .child(tag)
                .cloned()
                .unwrap_or_else(|| Node::new(tag))
        };
        let source = self.referring(end("source"), &edge.source, edge.span);
        let target = self.referring(end("target"), &edge.target, edge.span);
        let mut node = fragment;
        node.content
            .retain(|c| !matches!(c, Content::Node(n) if n.tag == "source" || n.tag == "target"));
        control(&mut node.attributes, edge.controllable);
        node.content.insert(0, Content::Node(target));
        node.content.insert(0, Content::Node(source));
        let is_nail = |c: &Content| matches!(c, Content::Node(n) if n.tag == "nail");
        clear_unused_labels(&mut node, &edge.labels);
        for (i, kind, text) in missing_labels(&mut node, edge.labels) {
            let at = node.content.iter().position(is_nail);
            let at = at.unwrap_or(node.content.len());
            let place = places.labels.get(i).copied().unwrap_or_default();
            let label = label(kind, text, place);
            node.content.insert(at, Content::Node(label));
        }
        for (x, y) in places.nails.into_iter().filter(|_| fresh) {
            node.push(Node::new("nail").with("x", x).with("y", y));
        }
        template.push(node);
    }
}

/// In XML a branchpoint has only an id, so its name goes into a comment.
fn name_branchpoint(node: &mut Node, name: &str) {
    let is_name = |c: &Content| matches!(c, Content::Comment(text) if shown_name(text).is_some());
    node.content.retain(|c| !is_name(c));
    if node.get("id").is_none_or(|id| format!("_{id}") != name) {
        node.content.insert(0, Content::Comment(hide_name(name)));
    }
}

/// Sets `controllable` according to the arrow.
fn control(attributes: &mut Attributes, controllable: bool) {
    let at = attributes.iter().position(|(n, _)| n == "controllable");
    match at.and_then(|i| attributes.get_mut(i)) {
        Some((_, value)) if (value == "false") == controllable => {
            *value = if controllable { "true" } else { "false" }.into();
        }
        None if !controllable => attributes.push(("controllable".into(), "false".into())),
        _ => {}
    }
}

fn push_notes(parent: &mut Node, notes: Vec<Note>) {
    let mut comments: Vec<String> = Vec::new();
    for note in notes {
        match note {
            Note::Xta(text) => comments.push(text),
            Note::Xml(inside) => {
                push_comments(parent, &mut comments);
                parent.content.push(Content::Comment(inside));
            }
        }
    }
    push_comments(parent, &mut comments);
}

fn push_comments(parent: &mut Node, comments: &mut Vec<String>) {
    if !comments.is_empty() {
        let inside = hide_comments(&comments.join("\n"));
        parent.content.push(Content::Comment(inside));
        comments.clear();
    }
}

fn child_mut<'a>(node: &'a mut Node, tag: &str) -> Option<&'a mut Node> {
    node.content.iter_mut().find_map(|c| match c {
        Content::Node(child) if child.tag == tag => Some(child),
        _ => None,
    })
}

/// `<name>` with this name; white space that a fragment has around the same name is kept.
fn named(shell: Option<Node>, name: &str) -> Node {
    let mut node = shell.unwrap_or_else(|| Node::new("name"));
    if node.text().trim() != name {
        node.set_text(name.to_owned());
    }
    node
}

fn label(kind: &str, text: String, (x, y): Point) -> Node {
    Node::with_text("label", text)
        .with("kind", kind)
        .with("x", x)
        .with("y", y)
}

/// Puts texts into the labels of a fragment that wait for them; returns the remaining texts with
/// their numbers.
fn missing_labels(
    node: &mut Node,
    labels: Vec<(&'static str, String)>,
) -> Vec<(usize, &'static str, String)> {
    let mut left = Vec::new();
    for (i, (kind, text)) in labels.into_iter().enumerate() {
        let of_kind = |c: &&mut Content| matches!(c, Content::Node(n) if n.tag == "label" && n.get("kind") == Some(kind));
        let found: Vec<&mut Content> = node.content.iter_mut().filter(of_kind).collect();
        let mut nodes: Vec<&mut Node> = found
            .into_iter()
            .filter_map(|c| match c {
                Content::Node(n) => Some(n),
                _ => None,
            })
            .collect();
        let waiting = nodes.iter().position(|n| n.text().is_empty());
        let at = waiting.or(nodes.len().checked_sub(1));
        match at.map(|at| nodes.swap_remove(at)) {
            // A label with comments only, to which the author added a text.
            Some(place) if waiting.is_none() => {
                let joined = format!("{}\n{text}", place.text());
                place.set_text(joined);
            }
            Some(place) => place.set_text(text),
            None => left.push((i, kind, text)),
        }
    }
    left
}

/// Empties a label of a fragment whose own text would count as part of the model: readers use the
/// last label of a kind, and the model has no such label.
fn clear_unused_labels(node: &mut Node, labels: &[(&'static str, String)]) {
    let mut seen: Vec<String> = labels.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    for content in node.content.iter_mut().rev() {
        let Content::Node(label) = content else {
            continue;
        };
        let kind = label.get("kind").unwrap_or("").to_owned();
        if label.tag != "label" || !is_model_label(&kind) || seen.contains(&kind) {
            continue;
        }
        if has_tokens(&label.text()) {
            label.set_text(String::new());
        }
        seen.push(kind);
    }
}

fn is_model_label(kind: &str) -> bool {
    matches!(kind, "invariant" | "exponentialrate") || EDGE_CLAUSES.iter().any(|(k, _)| *k == kind)
}
