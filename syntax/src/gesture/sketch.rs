//! A template of XML as layouts see it, and the edits that write their places.

use super::LabelKind;
use super::patch::{Fresh, Patch};
use super::template::{IN_EDGE, Template, label_of};
use crate::ast::{Graphics, GraphicsChild};
use crate::convert::{Places, Point, Sketch, SketchEdge, SketchNode};
use crate::xml::dom::Element;

/// The labels of locations and edges that layouts place, with their kinds in XML.
const OF_NODE: [LabelKind; 2] = [LabelKind::Invariant, LabelKind::Rate];
const OF_EDGE: [LabelKind; 5] = [
    LabelKind::Select,
    LabelKind::Guard,
    LabelKind::Sync,
    LabelKind::Update,
    LabelKind::Weight,
];

/// What a layout needs to know of a template.
pub(super) fn sketch(raw: &str, template: &Template<'_>) -> Sketch {
    let init = template.element.child("init");
    let init = init.and_then(|i| i.attribute("ref"));
    let mut out = Sketch::default();
    for node in &template.nodes {
        let sketched = SketchNode {
            name: node.name.clone(),
            initial: init.is_some_and(|id| id == node.id),
            labels: labels(raw, node.element, &OF_NODE),
            graphics: placed(node.element).then(|| graphics(node.element)),
        };
        match node.is_location() {
            true => out.locations.push(sketched),
            false => out.branchpoints.push(sketched),
        }
    }
    for edge in &template.edges {
        let name = |tag: &str| {
            let node = template.referred(edge, tag);
            node.map(|n| n.name.clone()).unwrap_or_default()
        };
        out.edges.push(SketchEdge {
            source: name("source"),
            target: name("target"),
            labels: labels(raw, edge, &OF_EDGE),
            graphics: drawn(edge).then(|| graphics(edge)),
        });
    }
    out
}

/// Writes the places of what has none in the file. Edges with nails or placed labels keep their
/// line.
pub(super) fn write(raw: &str, template: &Template<'_>, places: &Places, patch: &mut Patch<'_>) {
    let mut locations = places.locations.iter();
    let mut branchpoints = places.branchpoints.iter();
    for node in &template.nodes {
        if !node.is_location() {
            if let Some(at) = branchpoints.next().filter(|_| !placed(node.element)) {
                patch.set_place(node.element, *at);
            }
            continue;
        }
        let Some(own) = locations.next() else {
            continue;
        };
        if !placed(node.element) {
            patch.set_place(node.element, own.at);
        }
        if let Some(name) = label_of(raw, node.element, LabelKind::Name).filter(|n| !placed(n)) {
            patch.set_place(name, own.name);
        }
        write_labels(raw, node.element, &OF_NODE, &own.labels, patch);
    }
    for (edge, own) in template.edges.iter().zip(&places.edges) {
        if !drawn(edge) && !own.nails.is_empty() {
            let nail = |at: &Point| Fresh::empty("nail").at(*at);
            let nails: Vec<Fresh> = own.nails.iter().map(nail).collect();
            patch.insert(edge, template.element, &nails, IN_EDGE, 3);
        }
        write_labels(raw, edge, &OF_EDGE, &own.labels, patch);
    }
}

fn write_labels(
    raw: &str,
    owner: &Element,
    kinds: &[LabelKind],
    places: &[Point],
    patch: &mut Patch<'_>,
) {
    let present = kinds.iter().filter_map(|kind| label_of(raw, owner, *kind));
    for (label, at) in present.zip(places) {
        if !placed(label) {
            patch.set_place(label, *at);
        }
    }
}

fn labels(raw: &str, owner: &Element, kinds: &[LabelKind]) -> Vec<(&'static str, String)> {
    let text = |kind: &LabelKind| {
        let label = label_of(raw, owner, *kind)?;
        Some((kind.xml()?, label.decode(raw).text))
    };
    kinds.iter().filter_map(text).collect()
}

/// Whether the file gives an edge a line or a place for one of its labels.
fn drawn(edge: &Element) -> bool {
    let mut children = edge.children.iter();
    children.any(|c| c.tag == "nail" || c.tag == "label" && placed(c))
}

/// Whether the file gives an element both coordinates.
pub(super) fn placed(element: &Element) -> bool {
    let number = |name: &str| {
        let value = element.attribute(name);
        value.is_some_and(|v| v.trim().parse::<f64>().is_ok_and(f64::is_finite))
    };
    number("x") && number("y")
}

fn graphics(element: &Element) -> Graphics {
    let children = element.children.iter().map(|c| GraphicsChild {
        tag: c.tag.clone(),
        attributes: c.attributes.clone(),
        text: None,
    });
    Graphics {
        attributes: element.attributes.clone(),
        children: children.collect(),
    }
}
