//! A `<template>` with its elements under the names that the picture uses, which are those that the
//! reader gives them (`xml/plan.rs`).

use super::patch::{Rank, STRANGER};
use super::{Element, LabelKind};
use crate::xml::dom;
use smol_str::SmolStr;

/// A template.
pub(super) struct Template<'a> {
    pub element: &'a dom::Element,
    /// The root element.
    pub parent: &'a dom::Element,
    /// Locations and branchpoints.
    pub nodes: Vec<Node<'a>>,
    /// Transitions with both ends, in order of their numbers.
    pub edges: Vec<&'a dom::Element>,
}

/// A location or a branchpoint.
pub(super) struct Node<'a> {
    pub name: SmolStr,
    pub id: &'a str,
    pub element: &'a dom::Element,
}

impl Node<'_> {
    pub(super) fn is_location(&self) -> bool {
        self.element.tag == "location"
    }
}

impl<'a> Template<'a> {
    /// The template of this name.
    pub(super) fn find(
        raw: &str,
        root: &'a dom::Element,
        name: &str,
    ) -> Result<Template<'a>, String> {
        let mut found = templates(root).filter(|t| template_name(raw, t) == name);
        let element = found
            .next()
            .ok_or_else(|| format!("there is no template `{name}`"))?;
        if found.next().is_some() {
            return Err(format!(
                "several templates are called `{name}`: rename them in the text first"
            ));
        }
        let tagged = |tags: &'static [&'static str]| {
            let children = element.children.iter();
            children.filter(move |c| tags.contains(&c.tag.as_str()))
        };
        let nodes = tagged(&["location", "branchpoint"]).map(|node| Node {
            name: node_name(raw, node),
            id: node.attribute("id").map_or("", SmolStr::as_str),
            element: node,
        });
        let edges = tagged(&["transition", "edge"])
            .filter(|e| e.child("source").is_some() && e.child("target").is_some());
        Ok(Template {
            element,
            parent: root,
            nodes: nodes.collect(),
            edges: edges.collect(),
        })
    }

    /// The node of this name.
    pub(super) fn node(&self, name: &str) -> Result<&Node<'a>, String> {
        let mut found = self.nodes.iter().filter(|n| n.name == name);
        let node = found
            .next()
            .ok_or_else(|| format!("there is no location `{name}`"))?;
        match found.next() {
            None => Ok(node),
            Some(_) => Err(format!(
                "several locations are called `{name}`: rename them in the text first"
            )),
        }
    }

    /// A node that edges can refer to.
    pub(super) fn end(&self, name: &str) -> Result<&Node<'a>, String> {
        let node = self.node(name)?;
        if node.id.is_empty() {
            return Err(format!(
                "`{name}` has no attribute `id`, so no edge can refer to it"
            ));
        }
        match self.nodes.iter().filter(|n| n.id == node.id).count() {
            1 => Ok(node),
            _ => Err(format!(
                "several locations have the id `{}`: correct this in the text first",
                node.id
            )),
        }
    }

    /// The location of this name.
    pub(super) fn location(&self, name: &str) -> Result<&Node<'a>, String> {
        let node = self.node(name)?;
        match node.is_location() {
            true => Ok(node),
            false => Err(format!("`{name}` is a branchpoint, not a location")),
        }
    }

    /// The edge of this number.
    pub(super) fn edge(&self, number: u32) -> Result<&'a dom::Element, String> {
        let found = self.edges.get(number as usize).copied();
        found.ok_or_else(|| format!("there is no edge {number} in this template"))
    }

    /// The element of a label.
    pub(super) fn owner(&self, of: &Element, label: LabelKind) -> Result<&'a dom::Element, String> {
        let (locations, edges) = label.belongs();
        let none = |what: &str| Err(format!("{what} has no {}", label.name()));
        match of {
            Element::Node(name) => {
                let node = self.node(name)?;
                match node.is_location() {
                    true if locations => Ok(node.element),
                    true => none("a location"),
                    false => none("a branchpoint"),
                }
            }
            Element::Edge(number) if edges => self.edge(*number),
            Element::Edge(_) => none("an edge"),
        }
    }

    /// The element that an edge of this template refers to with its child `tag`.
    pub(super) fn referred(&self, edge: &dom::Element, tag: &str) -> Option<&Node<'a>> {
        let id = edge.child(tag)?.attribute("ref")?;
        self.nodes.iter().find(|n| n.id == id)
    }
}

/// The templates of a file.
pub(super) fn templates(root: &dom::Element) -> impl Iterator<Item = &dom::Element> {
    root.children.iter().filter(|c| c.tag == "template")
}

/// The name of a template.
pub(super) fn template_name(raw: &str, template: &dom::Element) -> SmolStr {
    let name = template.children.iter().rfind(|c| c.tag == "name");
    name.map(|n| n.trimmed(raw).0).unwrap_or_default()
}

fn node_name(raw: &str, node: &dom::Element) -> SmolStr {
    let id = node.attribute("id").map_or("", SmolStr::as_str);
    let names = node.children.iter().filter(|c| c.tag == "name");
    // Branchpoints have no name of their own.
    let names = names.filter(|_| node.tag == "location");
    let given = names.map(|n| n.trimmed(raw).0).rfind(|n| !n.is_empty());
    given.unwrap_or_else(|| format!("_{id}").into())
}

/// The element of a label: of several with the same kind, the one that counts.
pub(super) fn label_of<'a>(
    raw: &str,
    owner: &'a dom::Element,
    label: LabelKind,
) -> Option<&'a dom::Element> {
    let mut all = labels_of(owner, label);
    match label {
        LabelKind::Name => {
            let all: Vec<_> = all.collect();
            let named = all.iter().rfind(|n| !n.trimmed(raw).0.is_empty());
            named.or(all.last()).copied()
        }
        // The picture shows the first comment.
        LabelKind::Comment => all.next(),
        _ => all.last(),
    }
}

/// All elements of a label.
pub(super) fn labels_of(
    owner: &dom::Element,
    label: LabelKind,
) -> impl Iterator<Item = &dom::Element> {
    owner.children.iter().filter(move |c| match label.xml() {
        None => c.tag == "name",
        Some(kind) => c.tag == "label" && c.attribute("kind").is_some_and(|k| k == kind),
    })
}

/// The order of the children of `<nta>`.
pub(super) const IN_MODEL: Rank = |e| rank(&["imports", "declaration", "template"], e);
/// The order of the children of a template.
pub(super) const IN_TEMPLATE: Rank = |e| match e.tag.as_str() {
    "edge" => 6,
    _ => rank(
        &[
            "name",
            "parameter",
            "declaration",
            "location",
            "branchpoint",
            "init",
            "transition",
        ],
        e,
    ),
};
/// The order of the children of a location.
pub(super) const IN_LOCATION: Rank = |e| match e.tag.as_str() {
    "committed" => 2,
    _ => rank(&["name", "label", "urgent"], e),
};
/// The order of the children of a transition.
pub(super) const IN_EDGE: Rank = |e| rank(&["source", "target", "label", "nail"], e);

fn rank(order: &[&str], element: &dom::Element) -> u8 {
    let at = order.iter().position(|tag| *tag == element.tag);
    at.map_or(STRANGER, |at| at as u8)
}
