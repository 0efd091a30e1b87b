//! Templates as graphs: with the coordinates of the file if it has them, else in a layered layout.

pub(crate) mod arrange;
pub(crate) mod read;

use serde::Serialize;
use zonelens_analysis::network::Network;
use zonelens_syntax::SourceFile;
use zonelens_syntax::span::Span;

/// All templates of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagram {
    /// The templates, in source order.
    pub templates: Vec<Template>,
    /// The processes, in order of the system line; empty if the model has errors.
    pub processes: Vec<Process>,
}

/// A position in the text of the model: 0-based, columns in the unit of who asks for the diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub character: u32,
}

/// A part of the text of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Where it begins.
    pub start: Position,
    /// Where it ends, exclusive.
    pub end: Position,
}

/// A process of the system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Process {
    /// The name of the process, such as `Fischer(1)`.
    pub name: String,
    /// The name of its template.
    pub template: String,
}

/// A template with its layout.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// The parameters as written.
    pub parameters: String,
    /// The 0-based line of its name.
    pub line: u32,
    /// The whole template in the text.
    pub range: Range,
    /// Its name in the text.
    #[serde(rename = "selectionRange")]
    pub selection_range: Range,
    /// What was added to the coordinates of the file; `None` if they do not place every node.
    pub offset: Option<Offset>,
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// Locations and branchpoints.
    pub nodes: Vec<Node>,
    /// Edges.
    pub edges: Vec<Edge>,
}

/// How far a picture is from the coordinates of the file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Offset {
    pub x: f64,
    pub y: f64,
}

/// A location or a branchpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// What it is called in edits and traces: its name, unique in the template.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether the author gave it no name.
    pub anonymous: bool,
    /// The kind of the node.
    pub kind: NodeKind,
    /// Whether the template starts there.
    pub initial: bool,
    /// The 0-based line of its declaration.
    pub line: u32,
    /// Its declaration in the text.
    pub range: Range,
    /// The colour that the file gives it.
    pub color: Option<String>,
    /// The comment that the file gives it.
    pub comment: Option<String>,
    /// The horizontal position of the centre.
    pub x: f64,
    /// The vertical position of the centre.
    pub y: f64,
    /// Width of its outline.
    pub width: f64,
    /// Height of its outline.
    pub height: f64,
    /// The name, invariant and rate.
    pub labels: Vec<Label>,
}

/// The kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum NodeKind {
    Normal,
    Urgent,
    Committed,
    Branchpoint,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// Its number among the edges of the template's text, from 0, those with errors included.
    pub id: u32,
    /// The index of the source node.
    pub source: usize,
    /// The index of the target node.
    pub target: usize,
    /// The 0-based line where it starts in the text.
    pub line: u32,
    /// The edge in the text.
    pub range: Range,
    /// The colour that the file gives it.
    pub color: Option<String>,
    /// The comment that the file gives it.
    pub comment: Option<String>,
    /// `false` for uncontrollable edges of games, which are drawn dashed.
    pub controllable: bool,
    /// The points of the file that the line passes through, moved as the picture is.
    pub nails: Vec<(f64, f64)>,
    /// The line of the edge, as SVG path data.
    pub path: String,
    /// The arrowhead, as points of a polygon.
    pub arrow: String,
    /// Selection, guard, synchronisation, update and probability.
    pub labels: Vec<Label>,
}

/// A text in the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    /// One of `name`, `invariant`, `rate`, `select`, `guard`, `sync`, `update`, `probability`.
    pub kind: &'static str,
    /// The text, on one line.
    pub text: String,
    /// What it shows, in the text of the model.
    pub range: Range,
    /// The horizontal anchor of its baseline.
    pub x: f64,
    /// The vertical position of its baseline.
    pub y: f64,
    /// Its upper left corner, where the file gives one; in the coordinates of the file.
    pub place: Option<(f64, f64)>,
    /// Whether the text is centred at `x`; otherwise it starts there.
    pub centred: bool,
}

/// Lays out all templates of `file`. `range` tells where bytes of the file are in the units of the
/// caller.
pub fn diagram(
    file: &SourceFile,
    network: Option<&Network>,
    range: &dyn Fn(Span) -> Range,
) -> Diagram {
    let templates = read::templates(file, range)
        .into_iter()
        .map(arrange::arrange)
        .collect();
    let processes = network.map_or_else(Vec::new, |network| {
        let of = |p: &zonelens_analysis::network::Process| Process {
            name: p.name.to_string(),
            template: network
                .families
                .get(p.family as usize)
                .map_or_else(String::new, |f| f.template.to_string()),
        };
        network.processes.iter().map(of).collect()
    });
    Diagram {
        templates,
        processes,
    }
}

#[cfg(test)]
mod tests;
