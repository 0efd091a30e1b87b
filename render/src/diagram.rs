//! Templates as graphs: coordinates from the file where it has them, a layered layout otherwise.

pub(crate) mod arrange;
pub(crate) mod read;

use serde::Serialize;
use zonelens_analysis::network::Network;
use zonelens_syntax::SourceFile;

/// All templates of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagram {
    /// The templates, in order of the text.
    pub templates: Vec<Template>,
    /// The processes, in order of the system line; empty if the model has errors.
    pub processes: Vec<Process>,
}

/// A process of the system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Process {
    /// `Fischer(1)`
    pub name: String,
    /// The template it comes from.
    pub template: String,
}

/// A template, drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// Its parameters as written.
    pub parameters: String,
    /// 0-based line of its name.
    pub line: u32,
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// Locations and branchpoints.
    pub nodes: Vec<Node>,
    /// Edges.
    pub edges: Vec<Edge>,
}

/// A location or a branchpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// Whether the template starts there.
    pub initial: bool,
    /// 0-based line of its declaration.
    pub line: u32,
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Width of its outline.
    pub width: f64,
    /// Height of its outline.
    pub height: f64,
    /// Name, invariant and rate.
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
    /// Index of the node it leaves.
    pub source: usize,
    /// Index of the node it enters.
    pub target: usize,
    /// 0-based line it starts on.
    pub line: u32,
    /// `false` for dashed edges of games.
    pub controllable: bool,
    /// The line, as SVG path data.
    pub path: String,
    /// The arrowhead, as points of a polygon.
    pub arrow: String,
    /// Select, guard, synchronisation, update.
    pub labels: Vec<Label>,
}

/// A text in the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    /// What it is: `name`, `invariant`, `rate`, `select`, `guard`, `sync`, `update`, `probability`.
    pub kind: &'static str,
    /// The text, on one line.
    pub text: String,
    /// Where its baseline is anchored.
    pub x: f64,
    /// Where its baseline is anchored.
    pub y: f64,
    /// Whether it is centred at `x` or starts there.
    pub centred: bool,
}

/// Draws all templates of `file`. `line` gives the 0-based line of a byte of the file.
pub fn diagram(file: &SourceFile, network: Option<&Network>, line: &dyn Fn(u32) -> u32) -> Diagram {
    let templates = read::templates(file, line)
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
