//! Gestures of the picture as edits of the text.
//!
//! A gesture names a template and its elements as [the picture](crate::convert::Sketch) does: nodes
//! by name, edges by number. The answer replaces only what the gesture changes; all other bytes
//! stay, so attribute order, line ends, indentation, entities and comments survive. What a gesture
//! cannot do is refused with a reason.

mod nearby;
mod patch;
mod sketch;
mod template;
mod texts;
mod xml;

pub use texts::{LabelText, TemplateTexts, texts};

use crate::SourceFile;
use crate::ast::FileKind;
use crate::convert::{Places, Point, Sketch, is_name};
use crate::span::TextEdit;
use crate::xml::dom;
use serde::{Deserialize, Serialize};

/// What the user does in the picture, also as requests write it: an object whose `kind` is the
/// variant. Coordinates are those of the file; the place of a text is its upper left corner.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Gesture {
    /// Moves nodes with their names and labels.
    Move {
        /// Names of locations and branchpoints.
        nodes: Vec<String>,
        /// How far.
        by: Point,
    },
    /// Puts a name or label somewhere else.
    MoveLabel {
        /// Whose label.
        of: Element,
        /// Which label.
        label: LabelKind,
        /// Where to.
        to: Point,
    },
    /// Puts a nail of an edge somewhere else.
    MoveNail {
        /// The number of the edge.
        edge: u32,
        /// The number of the nail, from 0.
        nail: usize,
        /// Where to.
        to: Point,
    },
    /// Adds a nail to an edge.
    AddNail {
        /// The number of the edge.
        edge: u32,
        /// The number that the nail gets.
        nail: usize,
        /// Where.
        at: Point,
    },
    /// Removes a nail from an edge.
    RemoveNail {
        /// The number of the edge.
        edge: u32,
        /// The number of the nail, from 0.
        nail: usize,
    },
    /// Adds a location; the first one of a template becomes its initial one.
    AddLocation {
        /// Where.
        at: Point,
        /// Its name, if it gets one.
        #[serde(default)]
        name: Option<String>,
    },
    /// Adds a branchpoint.
    AddBranchpoint {
        /// Where.
        at: Point,
    },
    /// Adds an edge.
    AddEdge {
        /// The node it leaves.
        source: String,
        /// The node it enters.
        target: String,
        /// The points it passes through.
        #[serde(default)]
        nails: Vec<Point>,
    },
    /// Deletes elements, and the edges and the `<init>` that refer to deleted nodes.
    Delete {
        /// What to delete.
        elements: Vec<Element>,
    },
    /// Drags an end of an edge to another node.
    Reconnect {
        /// The number of the edge.
        edge: u32,
        /// Which end.
        end: End,
        /// The node it is dragged to.
        node: String,
    },
    /// Makes a location the initial one.
    Initial {
        /// The name of the location.
        node: String,
    },
    /// Makes a location normal, urgent or committed.
    SetKind {
        /// The name of the location.
        node: String,
        /// What it becomes.
        to: NodeKind,
    },
    /// Sets the text of a name, label or comment; an empty text removes it.
    Label {
        /// Whose label.
        of: Element,
        /// Which label.
        label: LabelKind,
        /// The new text.
        text: String,
        /// Where a label that is new goes; beside its element if not given.
        #[serde(default)]
        at: Option<Point>,
    },
    /// Adds a template with this name and one initial location.
    AddTemplate {
        /// Its name.
        name: String,
    },
    /// Renames the template. The uses of the name are for whoever knows what names mean.
    RenameTemplate {
        /// The new name.
        name: String,
    },
    /// Sets the parameters of a template; an empty text removes them.
    Parameters {
        /// The list, without parentheses.
        text: String,
    },
    /// Writes a place for everything that has none in the file.
    WriteLayout,
}

/// An element of a template, as the picture names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Element {
    /// A location or branchpoint by its name; one without a name is called `_` and its id.
    Node(String),
    /// An edge by its number in the template, from 0.
    Edge(u32),
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum End {
    Source,
    Target,
}

/// The kinds of locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum NodeKind {
    Normal,
    Urgent,
    Committed,
}

/// The texts of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LabelKind {
    Name,
    Invariant,
    Rate,
    Select,
    Guard,
    Sync,
    Update,
    #[serde(rename = "probability", alias = "weight")]
    Weight,
    Comment,
}

impl LabelKind {
    /// All of them.
    pub const ALL: [LabelKind; 9] = [
        LabelKind::Name,
        LabelKind::Invariant,
        LabelKind::Rate,
        LabelKind::Select,
        LabelKind::Guard,
        LabelKind::Sync,
        LabelKind::Update,
        LabelKind::Weight,
        LabelKind::Comment,
    ];

    /// What users call it, and requests.
    pub fn name(self) -> &'static str {
        match self {
            LabelKind::Name => "name",
            LabelKind::Invariant => "invariant",
            LabelKind::Rate => "rate",
            LabelKind::Select => "select",
            LabelKind::Guard => "guard",
            LabelKind::Sync => "sync",
            LabelKind::Update => "update",
            LabelKind::Weight => "weight",
            LabelKind::Comment => "comment",
        }
    }

    /// The attribute `kind` of its `<label>`; `None` for a name, which is an element of its own.
    fn xml(self) -> Option<&'static str> {
        Some(match self {
            LabelKind::Name => return None,
            LabelKind::Invariant => "invariant",
            LabelKind::Rate => "exponentialrate",
            LabelKind::Select => "select",
            LabelKind::Guard => "guard",
            LabelKind::Sync => "synchronisation",
            LabelKind::Update => "assignment",
            LabelKind::Weight => "probability",
            LabelKind::Comment => "comments",
        })
    }

    /// Whether locations have it (first), and edges (second).
    fn belongs(self) -> (bool, bool) {
        match self {
            LabelKind::Name | LabelKind::Invariant | LabelKind::Rate => (true, false),
            LabelKind::Comment => (true, true),
            _ => (false, true),
        }
    }
}

/// What a gesture changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The edits, in order; they do not overlap.
    pub edits: Vec<TextEdit>,
    /// The element that was added, as the picture will name it.
    pub added: Option<Element>,
    /// What else happened, in a sentence for the user.
    pub note: Option<String>,
}

/// A gesture as edits of `file`, or why it cannot be done. `layout` chooses the places that
/// [`Gesture::WriteLayout`] writes.
pub fn change(
    file: &SourceFile,
    template: &str,
    gesture: &Gesture,
    layout: &dyn Fn(&Sketch) -> Places,
) -> Result<Change, String> {
    in_range(gesture)?;
    let mut change = match file.kind {
        FileKind::Xml => xml::change(&file.text, template, gesture, layout)?,
        FileKind::Xta => return Err(NOT_XTA.to_owned()),
        FileKind::Query => return Err(NO_PICTURE.to_owned()),
    };
    change.edits.sort_by_key(|e| (e.span.start, e.span.end));
    Ok(change)
}

/// The greatest coordinate; what is further away is not drawn.
const FAR: i32 = 999_999;
/// The greatest number of nails of one edge that a gesture draws.
const MAX_NAILS: usize = 1_000;

fn in_range(gesture: &Gesture) -> Result<(), String> {
    let points: &[Point] = match gesture {
        Gesture::Move { by, .. } => &[*by],
        Gesture::MoveLabel { to, .. } | Gesture::MoveNail { to, .. } => &[*to],
        Gesture::AddNail { at, .. }
        | Gesture::AddLocation { at, .. }
        | Gesture::AddBranchpoint { at }
        | Gesture::Label { at: Some(at), .. } => &[*at],
        Gesture::AddEdge { nails, .. } => nails,
        _ => &[],
    };
    if points.len() > MAX_NAILS {
        return Err(format!("an edge has at most {MAX_NAILS} nails"));
    }
    let far = |(x, y): &Point| x.unsigned_abs() > FAR as u32 || y.unsigned_abs() > FAR as u32;
    match points.iter().any(far) {
        true => Err(TOO_FAR.to_owned()),
        false => Ok(()),
    }
}

const NOT_XTA: &str = "pictures of `.xta` files cannot be edited yet";
const NO_PICTURE: &str = "a query file has no picture";
const TOO_FAR: &str = "that is too far away: coordinates have at most six digits";
const NO_PLACE: &str = "has no position in the file; write the layout to the file first";

/// The root of an XML model, or why gestures refuse the text.
fn model(raw: &str) -> Result<dom::Element, String> {
    let document = dom::read(raw);
    if let Some(error) = document.errors.first() {
        return Err(format!(
            "correct the XML of this file first: {}",
            error.message
        ));
    }
    let root = document.root.filter(|root| root.tag == "nta");
    root.ok_or_else(|| "this file is not a model: it has no <nta> element".to_owned())
}

fn name_is_valid(name: &str) -> Result<(), String> {
    match is_name(name) {
        true => Ok(()),
        false => Err(format!(
            "`{name}` is not a name: names are letters, digits and underscores, do not start with a digit, and are not keywords"
        )),
    }
}

/// What deleting took with it, in a sentence.
fn also_deleted(edges: usize, init: bool) -> Option<String> {
    let edges = match edges {
        0 => None,
        1 => Some("the edge at it was deleted too".to_owned()),
        n => Some(format!("{n} edges were deleted too")),
    };
    let init = init.then(|| {
        "the template has no initial location now: choose one before verifying".to_owned()
    });
    let notes: Vec<String> = edges.into_iter().chain(init).collect();
    Some(notes.join("; ")).filter(|n| !n.is_empty())
}

/// The text with plain line feeds; characters that XML does not allow are refused.
fn one_kind_of_line_break(text: &str) -> Result<String, String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let odd =
        |c: char| c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{fffe}' | '\u{ffff}');
    match text.chars().find(|c| odd(*c)) {
        None => Ok(text),
        Some(c) => Err(format!(
            "the text contains the control character U+{:04X}, which does not belong in a model",
            c as u32
        )),
    }
}
