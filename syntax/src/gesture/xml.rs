//! The gestures on XML.

use super::nearby::{LINE, above, below};
use super::patch::{Fresh, Patch};
use super::sketch;
use super::template::{
    IN_EDGE, IN_LOCATION, IN_MODEL, IN_TEMPLATE, Node, Template, label_of, labels_of,
    template_name, templates,
};
use super::{
    Change, Element, End, FAR, Gesture, LabelKind, NO_PLACE, NodeKind, also_deleted, model,
    name_is_valid, one_kind_of_line_break,
};
use crate::convert::{Places, Point, Sketch};
use crate::xml::dom;
use std::collections::BTreeSet;

pub(super) fn change(
    raw: &str,
    template: &str,
    gesture: &Gesture,
    layout: &dyn Fn(&Sketch) -> Places,
) -> Result<Change, String> {
    let root = model(raw)?;
    let mut patch = Patch::new(raw);
    let mut out = Change::default();
    if let Gesture::AddTemplate { name } = gesture {
        add_template(&root, name, &mut patch)?;
    } else {
        let template = Template::find(raw, &root, template)?;
        Gestures {
            raw,
            root: &root,
            template: &template,
            patch: &mut patch,
            out: &mut out,
        }
        .change(gesture, layout)?;
    }
    out.edits = patch.edits;
    Ok(out)
}

/// `<init>` follows locations and branchpoints.
const INIT: u8 = 5;

fn add_template(root: &dom::Element, name: &str, patch: &mut Patch<'_>) -> Result<(), String> {
    template_name_is_free(patch.raw, root, name)?;
    let id = fresh_id(root);
    let template = Fresh::new("template")
        .child(Fresh::new("name").text(patch.text(name)))
        .child(Fresh::new("location").with("id", &id).at((0, 0)))
        .child(Fresh::empty("init").with("ref", &id));
    patch.insert(root, root, &[template], IN_MODEL, 2);
    Ok(())
}

fn template_name_is_free(raw: &str, root: &dom::Element, name: &str) -> Result<(), String> {
    name_is_valid(name)?;
    match templates(root).any(|t| template_name(raw, t) == name) {
        true => Err(format!("there is a template `{name}` already")),
        false => Ok(()),
    }
}

/// An id that no element of the file has.
fn fresh_id(root: &dom::Element) -> String {
    fn add(element: &dom::Element, ids: &mut BTreeSet<u64>) {
        let id = element.attribute("id").and_then(|id| id.strip_prefix("id"));
        ids.extend(id.and_then(|n| n.parse::<u64>().ok()));
        element.children.iter().for_each(|child| add(child, ids));
    }
    let mut ids = BTreeSet::new();
    add(root, &mut ids);
    // After the greatest one, as UPPAAL does; numbers at the end of their range are skipped.
    let next = ids.last().map_or(Some(0), |last| last.checked_add(1));
    let next = next.or_else(|| (0..).find(|n| !ids.contains(n)));
    format!("id{}", next.unwrap_or_default())
}

/// A coordinate as a whole number, for placing things next to it.
fn whole(element: &dom::Element) -> Option<Point> {
    let number = |name: &str| {
        let value: f64 = element.attribute(name)?.trim().parse().ok()?;
        (value.abs() <= f64::from(FAR)).then_some(value as i32)
    };
    Some((number("x")?, number("y")?))
}

struct Gestures<'a, 't> {
    raw: &'a str,
    root: &'a dom::Element,
    template: &'t Template<'a>,
    patch: &'t mut Patch<'a>,
    out: &'t mut Change,
}

impl<'a> Gestures<'a, '_> {
    fn change(
        &mut self,
        gesture: &Gesture,
        layout: &dyn Fn(&Sketch) -> Places,
    ) -> Result<(), String> {
        let template = self.template;
        match gesture {
            Gesture::Move { nodes, by } => self.move_nodes(nodes, *by),
            Gesture::MoveLabel { of, label, to } => {
                let owner = template.owner(of, *label)?;
                let found = label_of(self.raw, owner, *label);
                let found = found.ok_or_else(|| format!("there is no {} here", label.name()))?;
                self.patch.set_place(found, *to);
                Ok(())
            }
            Gesture::MoveNail { edge, nail, to } => {
                let nail = self.nail(*edge, *nail)?;
                self.patch.set_place(nail, *to);
                Ok(())
            }
            Gesture::AddNail { edge, nail, at } => self.add_nail(*edge, *nail, *at),
            Gesture::RemoveNail { edge, nail } => {
                let nail = self.nail(*edge, *nail)?;
                self.patch.remove(nail);
                Ok(())
            }
            Gesture::AddLocation { at, name } => self.add_location(*at, name.as_deref()),
            Gesture::AddBranchpoint { at } => {
                let id = fresh_id(self.root);
                self.out.added = Some(Element::Node(format!("_{id}")));
                let fresh = Fresh::new("branchpoint").with("id", id).at(*at);
                self.insert(fresh, 4);
                Ok(())
            }
            Gesture::AddEdge {
                source,
                target,
                nails,
            } => self.add_edge(source, target, nails),
            Gesture::Delete { elements } => self.delete(elements),
            Gesture::Reconnect { edge, end, node } => {
                let id = template.end(node)?.id;
                let edge = template.edge(*edge)?;
                let tag = match end {
                    End::Source => "source",
                    End::Target => "target",
                };
                if let Some(end) = edge.child(tag) {
                    self.patch.set(end, &[("ref", id.to_owned())]);
                }
                Ok(())
            }
            Gesture::Initial { node } => self.initial(node),
            Gesture::SetKind { node, to } => self.kind(node, *to),
            Gesture::Label {
                of,
                label,
                text,
                at,
            } => self.label(of, *label, text, *at),
            Gesture::RenameTemplate { name } => self.rename_template(name),
            Gesture::Parameters { text } => self.parameters(text),
            Gesture::WriteLayout => {
                let places = layout(&sketch::sketch(self.raw, template));
                sketch::write(self.raw, template, &places, self.patch);
                Ok(())
            }
            Gesture::AddTemplate { .. } => Ok(()),
        }
    }

    /// Adds a child of the template.
    fn insert(&mut self, fresh: Fresh, rank: u8) {
        let template = self.template;
        self.patch.insert(
            template.element,
            template.parent,
            &[fresh],
            IN_TEMPLATE,
            rank,
        );
    }

    fn move_nodes(&mut self, nodes: &[String], by: Point) -> Result<(), String> {
        let nodes: BTreeSet<&String> = nodes.iter().collect();
        for name in nodes {
            let node = self.template.node(name)?;
            if !sketch::placed(node.element) {
                return Err(format!("`{name}` {NO_PLACE}"));
            }
            self.patch.shift(node.element, by)?;
            let texts = |c: &&dom::Element| c.tag == "name" || c.tag == "label";
            for text in node.element.children.iter().filter(texts) {
                if sketch::placed(text) {
                    self.patch.shift(text, by)?;
                }
            }
        }
        Ok(())
    }

    fn nails(&self, edge: u32) -> Result<Vec<&'a dom::Element>, String> {
        let edge = self.template.edge(edge)?;
        let nails = edge.children.iter().filter(|c| c.tag == "nail");
        Ok(nails.collect())
    }

    fn nail(&self, edge: u32, nail: usize) -> Result<&'a dom::Element, String> {
        let nails = self.nails(edge)?;
        let found = nails.get(nail).copied();
        found.ok_or_else(|| format!("this edge has no nail {nail}"))
    }

    fn add_nail(&mut self, edge: u32, nail: usize, at: Point) -> Result<(), String> {
        let nails = self.nails(edge)?;
        let element = self.template.edge(edge)?;
        let fresh = [Fresh::empty("nail").at(at)];
        if nail > nails.len() {
            return Err(format!("this edge has only {} nails", nails.len()));
        }
        match nails.get(nail) {
            Some(next) => self.patch.beside(next, "", &fresh, true),
            None => {
                let parent = self.template.element;
                self.patch.insert(element, parent, &fresh, IN_EDGE, 3);
            }
        }
        Ok(())
    }

    fn add_location(&mut self, at: Point, name: Option<&str>) -> Result<(), String> {
        let id = fresh_id(self.root);
        let mut fresh = Fresh::new("location").with("id", &id).at(at);
        if let Some(name) = name {
            self.free_name(name)?;
            let place = above(at);
            fresh = fresh.child(Fresh::new("name").at(place).text(self.patch.text(name)));
        }
        let named = name.map_or_else(|| format!("_{id}"), str::to_owned);
        self.out.added = Some(Element::Node(named));
        let template = self.template;
        let first = template.nodes.is_empty() && template.element.child("init").is_none();
        let mut all = vec![fresh];
        if first {
            all.push(Fresh::empty("init").with("ref", &id));
        }
        let (element, parent) = (template.element, template.parent);
        self.patch.insert(element, parent, &all, IN_TEMPLATE, 3);
        Ok(())
    }

    /// Refuses names that are none, or that another node of the template has.
    fn free_name(&self, name: &str) -> Result<(), String> {
        name_is_valid(name)?;
        match self.template.nodes.iter().any(|n| n.name == name) {
            true => Err(format!("there is a location `{name}` already")),
            false => Ok(()),
        }
    }

    fn add_edge(&mut self, source: &str, target: &str, nails: &[Point]) -> Result<(), String> {
        let from = self.template.end(source)?;
        let to = self.template.end(target)?;
        let mut fresh = Fresh::new("transition")
            .child(Fresh::empty("source").with("ref", from.id))
            .child(Fresh::empty("target").with("ref", to.id));
        let looped = match whole(from.element) {
            // Without nails UPPAAL draws a loop as a point.
            Some((x, y)) if source == target && nails.is_empty() => {
                vec![(x - LINE, y - 3 * LINE), (x + LINE, y - 3 * LINE)]
            }
            _ => Vec::new(),
        };
        for nail in nails.iter().chain(&looped) {
            fresh = fresh.child(Fresh::empty("nail").at(*nail));
        }
        let edges = self.template.edges.len() as u32;
        self.out.added = Some(Element::Edge(edges));
        self.insert(fresh, 6);
        Ok(())
    }

    fn delete(&mut self, elements: &[Element]) -> Result<(), String> {
        let template = self.template;
        let mut gone: Vec<&dom::Element> = Vec::new();
        let mut nodes: Vec<&Node<'_>> = Vec::new();
        for element in elements {
            match element {
                Element::Node(name) => nodes.push(template.node(name)?),
                Element::Edge(number) => gone.push(template.edge(*number)?),
            }
        }
        gone.extend(nodes.iter().map(|n| n.element));
        let stays = |n: &&Node<'_>| !nodes.iter().any(|gone| gone.element.span == n.element.span);
        let kept: Vec<&str> = template.nodes.iter().filter(stays).map(|n| n.id).collect();
        let lost = |c: &dom::Element| {
            let id = c.attribute("ref").map_or("", |id| id.as_str());
            nodes.iter().any(|n| n.id == id) && !kept.contains(&id)
        };
        let mut init = false;
        let mut hanging = 0;
        for child in &template.element.children {
            let hangs = match child.tag.as_str() {
                "init" => lost(child),
                "transition" | "edge" => {
                    let mut ends = child.children.iter();
                    ends.any(|c| (c.tag == "source" || c.tag == "target") && lost(c))
                }
                _ => false,
            };
            if hangs && !gone.iter().any(|g| g.span == child.span) {
                init |= child.tag == "init";
                hanging += usize::from(child.tag != "init");
                gone.push(child);
            }
        }
        let all: BTreeSet<(u32, u32)> = gone.iter().map(|e| (e.span.start, e.span.end)).collect();
        for child in &template.element.children {
            if all.contains(&(child.span.start, child.span.end)) {
                self.patch.remove(child);
            }
        }
        self.out.note = also_deleted(hanging, init);
        Ok(())
    }

    fn initial(&mut self, node: &str) -> Result<(), String> {
        self.template.location(node)?;
        let id = self.template.end(node)?.id;
        let children = self.template.element.children.iter();
        let mut inits = children.filter(|c| c.tag == "init");
        match inits.next() {
            Some(init) => self.patch.set(init, &[("ref", id.to_owned())]),
            None => self.insert(Fresh::empty("init").with("ref", id), INIT),
        }
        for further in inits {
            self.patch.remove(further);
        }
        Ok(())
    }

    fn kind(&mut self, node: &str, kind: NodeKind) -> Result<(), String> {
        let element = self.template.location(node)?.element;
        let wanted = match kind {
            NodeKind::Normal => None,
            NodeKind::Urgent => Some("urgent"),
            NodeKind::Committed => Some("committed"),
        };
        let marks = || {
            let children = element.children.iter();
            children.filter(|c| c.tag == "urgent" || c.tag == "committed")
        };
        if let Some(kept) = marks().find(|c| Some(c.tag.as_str()) == wanted) {
            marks()
                .filter(|c| c.span != kept.span)
                .for_each(|c| self.patch.remove(c));
            return Ok(());
        }
        match (marks().next(), wanted) {
            (Some(mark), Some(tag)) => self.patch.replace(mark.span, format!("<{tag}/>")),
            (None, Some(tag)) => {
                let fresh = match tag {
                    "urgent" => Fresh::empty("urgent"),
                    _ => Fresh::empty("committed"),
                };
                let parent = self.template.element;
                self.patch.insert(element, parent, &[fresh], IN_LOCATION, 2);
            }
            (Some(mark), None) => self.patch.remove(mark),
            (None, None) => {}
        }
        marks().skip(1).for_each(|c| self.patch.remove(c));
        Ok(())
    }

    fn label(
        &mut self,
        of: &Element,
        label: LabelKind,
        text: &str,
        at: Option<Point>,
    ) -> Result<(), String> {
        let text = one_kind_of_line_break(text)?;
        let owner = self.template.owner(of, label)?;
        if text.trim().is_empty() {
            labels_of(owner, label).for_each(|l| self.patch.remove(l));
            return Ok(());
        }
        let found = label_of(self.raw, owner, label);
        if label == LabelKind::Name {
            let text = text.trim();
            if let Element::Node(old) = of
                && found.is_some()
                && old == text
            {
                return Ok(());
            }
            self.free_name(text)?;
            return self.set_name(owner, found, text, at);
        }
        if let Some(found) = found {
            if found.decode(self.raw).text.replace("\r\n", "\n") == text {
                return Ok(());
            }
            return self.patch.set_text(found, &text);
        }
        let Some(kind) = label.xml() else {
            return Ok(());
        };
        let place = at.or_else(|| self.place_of_new(owner));
        let mut fresh = Fresh::new("label").with("kind", kind);
        if let Some(place) = place {
            fresh = fresh.at(place);
        }
        let fresh = [fresh.text(self.patch.text(&text))];
        let parent = self.template.element;
        let (rank, own) = match owner.tag.as_str() {
            "location" => (IN_LOCATION, 1),
            _ => (IN_EDGE, 2),
        };
        self.patch.insert(owner, parent, &fresh, rank, own);
        Ok(())
    }

    fn set_name(
        &mut self,
        owner: &dom::Element,
        found: Option<&dom::Element>,
        text: &str,
        at: Option<Point>,
    ) -> Result<(), String> {
        if let Some(found) = found {
            return self.replace_name(found, text);
        }
        let place = at.or_else(|| Some(above(whole(owner)?)));
        let mut fresh = Fresh::new("name");
        if let Some(place) = place {
            fresh = fresh.at(place);
        }
        let fresh = [fresh.text(self.patch.text(text))];
        let parent = self.template.element;
        self.patch.insert(owner, parent, &fresh, IN_LOCATION, 0);
        Ok(())
    }

    /// Where a new label goes: below the lowest label of its element, else beside the location or
    /// at the middle of the edge.
    fn place_of_new(&self, owner: &dom::Element) -> Option<Point> {
        let labels = owner.children.iter().filter(|c| c.tag == "label");
        let lowest = labels.filter_map(|label| {
            let (x, y) = whole(label)?;
            let lines = label.decode(self.raw).text.lines().count().clamp(1, 1_000);
            Some((x, y + LINE * lines as i32))
        });
        if let Some(place) = lowest.max_by_key(|(_, y)| *y) {
            return Some(place);
        }
        if owner.tag == "location" {
            return Some(below(whole(owner)?));
        }
        let nails: Vec<Point> = owner
            .children
            .iter()
            .filter(|c| c.tag == "nail")
            .filter_map(whole)
            .collect();
        if let Some(nail) = nails.get(nails.len() / 2) {
            return Some((nail.0 + 4, nail.1 + 4));
        }
        let end = |tag: &str| whole(self.template.referred(owner, tag)?.element);
        let (from, to) = (end("source")?, end("target")?);
        Some((from.0.midpoint(to.0) + 4, from.1.midpoint(to.1) + 4))
    }

    fn rename_template(&mut self, name: &str) -> Result<(), String> {
        template_name_is_free(self.raw, self.root, name)?;
        let children = &self.template.element.children;
        match children.iter().rfind(|c| c.tag == "name") {
            Some(found) => self.replace_name(found, name)?,
            None => self.insert(Fresh::new("name").text(self.patch.text(name)), 0),
        }
        Ok(())
    }

    /// Replaces a name; white space around it stays.
    fn replace_name(&mut self, found: &dom::Element, name: &str) -> Result<(), String> {
        let inside = &self.raw[found.content.range()];
        let (old, span) = found.trimmed(self.raw);
        if old.is_empty() || inside.contains(['<', '&']) {
            return self.patch.set_text(found, name);
        }
        self.patch.replace(span, name);
        Ok(())
    }

    fn parameters(&mut self, text: &str) -> Result<(), String> {
        let text = one_kind_of_line_break(text)?;
        let children = &self.template.element.children;
        let found = children.iter().rfind(|c| c.tag == "parameter");
        match found {
            Some(found) if text.trim().is_empty() => self.patch.remove(found),
            Some(found) if found.decode(self.raw).text.replace("\r\n", "\n") == text => {}
            Some(found) => self.patch.set_text(found, &text)?,
            None if text.trim().is_empty() => {}
            None => {
                let fresh = Fresh::new("parameter").text(self.patch.text(&text));
                self.insert(fresh, 1);
            }
        }
        Ok(())
    }
}
