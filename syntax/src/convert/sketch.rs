//! The facts about a template of an `.xta` file that a layout needs: its texts, and the places that
//! `//@ xml` lines give. A function from a [`Sketch`] to [`Places`] decides where the rest goes.

use super::node::{Content, Node};
use super::template::{Drawn, Template, collect_template};
use crate::SourceFile;
use crate::ast::{FileKind, Graphics, GraphicsChild, ItemKind};
use smol_str::SmolStr;

/// A point of a drawing; `y` grows downwards.
pub type Point = (i32, i32);

/// A template before it is laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// The locations, in source order.
    pub locations: Vec<SketchNode>,
    /// The branchpoints, in source order.
    pub branchpoints: Vec<SketchNode>,
    /// The edges, in source order.
    pub edges: Vec<SketchEdge>,
}

/// A location or branchpoint before it is laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SketchNode {
    /// Its name.
    pub name: SmolStr,
    /// Whether the template starts there.
    pub initial: bool,
    /// The kinds (as in XML) and texts of its labels.
    pub labels: Vec<(&'static str, String)>,
    /// The data of its `//@ xml` line.
    pub graphics: Option<Graphics>,
}

/// An edge before it is laid out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SketchEdge {
    /// The name of the source location.
    pub source: SmolStr,
    /// The name of the target location.
    pub target: SmolStr,
    /// The kinds (as in XML) and texts of its labels.
    pub labels: Vec<(&'static str, String)>,
    /// The data of its `//@ xml` line.
    pub graphics: Option<Graphics>,
}

/// Where the parts of a template are drawn, in the order of its [`Sketch`]. The place of a label is
/// its upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// The locations.
    pub locations: Vec<NodePlaces>,
    /// The branchpoints.
    pub branchpoints: Vec<Point>,
    /// The edges.
    pub edges: Vec<EdgePlaces>,
}

/// Where a location is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePlaces {
    /// Its centre.
    pub at: Point,
    /// The place of its name.
    pub name: Point,
    /// The places of its labels.
    pub labels: Vec<Point>,
}

/// Where an edge is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgePlaces {
    /// The points it passes through.
    pub nails: Vec<Point>,
    /// The places of its labels.
    pub labels: Vec<Point>,
}

/// The templates of an `.xta` file, in order; `None` for a template whose `//@ xml` lines cannot be
/// read.
pub fn sketches(file: &SourceFile) -> Vec<Option<Sketch>> {
    if file.kind != FileKind::Xta {
        return Vec::new();
    }
    let processes = file
        .items
        .iter()
        .filter(|i| matches!(i.node.kind, ItemKind::Process(_)));
    processes
        .map(|item| {
            let template = collect_template(&file.text, item, None, Vec::new()).ok()?;
            Some(sketch(&template))
        })
        .collect()
}

/// The sketch of a template that is about to be written.
pub(super) fn sketch(template: &Template) -> Sketch {
    let initial = |name: &SmolStr| template.inits.iter().any(|(_, init, _)| init == name);
    let locations = template.locations.iter().map(|l| SketchNode {
        name: l.name.clone(),
        initial: initial(&l.name),
        labels: l.labels.clone(),
        graphics: graphics(&l.drawn),
    });
    let branchpoints = template
        .branchpoints
        .iter()
        .map(|(drawn, name)| SketchNode {
            name: name.clone(),
            graphics: graphics(drawn),
            ..SketchNode::default()
        });
    let edges = template.edges.iter().map(|e| SketchEdge {
        source: e.source.clone(),
        target: e.target.clone(),
        labels: e.labels.clone(),
        graphics: graphics(&e.drawn),
    });
    Sketch {
        locations: locations.collect(),
        branchpoints: branchpoints.collect(),
        edges: edges.collect(),
    }
}

fn graphics(drawn: &Drawn) -> Option<Graphics> {
    let node = drawn.fragment.as_ref()?;
    let child = |content: &Content| match content {
        Content::Node(child) => Some(GraphicsChild {
            tag: child.tag.clone(),
            attributes: child.attributes.clone(),
            text: text(child),
        }),
        _ => None,
    };
    Some(Graphics {
        attributes: node.attributes.clone(),
        children: node.content.iter().filter_map(child).collect(),
    })
}

fn text(node: &Node) -> Option<SmolStr> {
    Some(node.text())
        .filter(|t| !t.is_empty())
        .map(SmolStr::from)
}
