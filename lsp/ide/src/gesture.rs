//! Gestures of the picture on a document. A name that is used elsewhere is changed there too, as
//! *Rename* does it.

use crate::rename;
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use std::sync::Arc;
use zonelens_syntax::ast::{ItemKind, MemberKind};
use zonelens_syntax::convert::{Places, Sketch};
use zonelens_syntax::gesture::{self, Element, Gesture, LabelKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::{Span, TextEdit};

/// The edits of a gesture.
pub struct Edited {
    /// The edits of each document, that of the picture first.
    pub documents: Vec<(Arc<Snapshot>, Vec<TextEdit>)>,
    /// The gesture as an entry of the undo menu.
    pub title: String,
    /// The element that was added, as the picture will name it.
    pub added: Option<Element>,
    /// What else happened, in a sentence for the user.
    pub note: Option<String>,
}

/// A gesture as edits, or why it cannot be done.
pub fn edit(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    template: &str,
    gesture: &Gesture,
    layout: &dyn Fn(&Sketch) -> Places,
) -> Result<Edited, String> {
    if snapshot.is_foreign() {
        return Err("this file is not a model".to_owned());
    }
    let change = gesture::change(snapshot.file(), template, gesture, layout)?;
    let mut documents = vec![(Arc::clone(snapshot), change.edits)];
    if let Some((offset, new)) = renamed(snapshot, template, gesture)
        && rename::prepare(workspace, snapshot, offset).is_some()
    {
        let targets = rename::rename(workspace, snapshot, offset, new)?;
        documents = rename::edits(&targets, new);
    }
    Ok(Edited {
        documents,
        title: title(template, gesture),
        added: change.added,
        note: change.note,
    })
}

/// The place of the name that a gesture changes to another one, and that name.
fn renamed<'g>(
    snapshot: &Snapshot,
    template: &str,
    gesture: &'g Gesture,
) -> Option<(u32, &'g str)> {
    let file = snapshot.file();
    let (item, process) = file.items.iter().find_map(|item| match &item.node.kind {
        ItemKind::Process(process) if process.name.name == template => Some((item, process)),
        _ => None,
    })?;
    let changes = |span: Span, old: &str, new: &str| {
        // An empty name, or the same one, is no rename.
        (file.slice(span) == old && !new.is_empty() && new != old).then_some(span.start)
    };
    match gesture {
        Gesture::RenameTemplate { name } => {
            let span = process.name.span.shift(item.offset);
            Some((changes(span, template, name)?, name))
        }
        Gesture::Label {
            of: Element::Node(old),
            label: LabelKind::Name,
            text,
            ..
        } => {
            let new = text.trim();
            let place = members(item).iter().find_map(|member| {
                let MemberKind::States(locations) = &member.node.kind else {
                    return None;
                };
                let named = locations
                    .iter()
                    .find(|l| l.name.name == *old && !l.anonymous)?;
                Some(named.name.span.shift(item.offset + member.offset))
            });
            Some((changes(place?, old, new)?, new))
        }
        _ => None,
    }
}

fn title(template: &str, gesture: &Gesture) -> String {
    let count = |n: usize, one: &str, many: &str| match n {
        1 => one.to_owned(),
        n => format!("{n} {many}"),
    };
    let of = |element: &Element| match element {
        Element::Node(name) => format!("`{name}`"),
        Element::Edge(_) => "an edge".to_owned(),
    };
    match gesture {
        Gesture::Move { nodes, .. } => match nodes.as_slice() {
            [node] => format!("Move `{node}`"),
            nodes => format!("Move {} locations", nodes.len()),
        },
        Gesture::MoveLabel {
            of: whose, label, ..
        } => {
            format!("Move the {} of {}", label.name(), of(whose))
        }
        Gesture::MoveNail { .. } => "Move a nail".to_owned(),
        Gesture::AddNail { .. } => "Add a nail".to_owned(),
        Gesture::RemoveNail { .. } => "Remove a nail".to_owned(),
        Gesture::AddLocation { .. } => "Add a location".to_owned(),
        Gesture::AddBranchpoint { .. } => "Add a branchpoint".to_owned(),
        Gesture::AddEdge { source, target, .. } => {
            format!("Add an edge from `{source}` to `{target}`")
        }
        Gesture::Delete { elements } => {
            format!("Delete {}", count(elements.len(), "an element", "elements"))
        }
        Gesture::Reconnect { node, .. } => format!("Connect an edge to `{node}`"),
        Gesture::Initial { node } => format!("Make `{node}` initial"),
        Gesture::SetKind { node, .. } => format!("Change the kind of `{node}`"),
        Gesture::Label {
            of: whose,
            label,
            text,
            ..
        } => {
            let verb = match text.trim() {
                "" => "Remove",
                _ => "Set",
            };
            format!("{verb} the {} of {}", label.name(), of(whose))
        }
        Gesture::AddTemplate { name } => format!("Add the template `{name}`"),
        Gesture::RenameTemplate { name } => format!("Rename `{template}` to `{name}`"),
        Gesture::Parameters { .. } => format!("Set the parameters of `{template}`"),
        Gesture::WriteLayout => format!("Write the layout of `{template}` to the file"),
    }
}
