//! What each gesture means, on the tree: the specification that the edits are compared with.

use super::tree::{Item, Tree};
use zonelens_syntax::convert::{EdgePlaces, NodePlaces, Places, Sketch};
use zonelens_syntax::gesture::{Element, End, Gesture, LabelKind, NodeKind};

/// A layout that shows by its numbers what it is for.
pub(crate) fn numbered(sketch: &Sketch) -> Places {
    let at = |i: usize, j: usize| (i as i32 * 100, j as i32);
    let location = |i: usize| NodePlaces {
        at: at(i, 7),
        name: at(i, 1),
        labels: vec![at(i, 2), at(i, 3)],
    };
    let edge = |i: usize| EdgePlaces {
        nails: vec![at(i, 4); i % 3],
        labels: (0..5).map(|j| at(i, 10 + j)).collect(),
    };
    Places {
        locations: (0..sketch.locations.len()).map(location).collect(),
        branchpoints: (0..sketch.branchpoints.len()).map(|i| at(i, 8)).collect(),
        edges: (0..sketch.edges.len()).map(edge).collect(),
    }
}

/// The model after a gesture; `None` if it cannot be done.
pub(crate) fn after(model: &Tree, template: &str, gesture: &Gesture) -> Option<Tree> {
    let mut out = model.clone();
    let id = next_id(model);
    if let Gesture::AddTemplate { name } = gesture {
        let taken = model
            .children()
            .any(|t| t.tag == "template" && title(t) == *name);
        if taken || !is_identifier(name) {
            return None;
        }
        let mut label = Tree::new("name");
        label.set_text(name);
        let fresh = Tree::new("template")
            .containing(label)
            .containing(Tree::new("location").with("id", &id).at((0, 0)))
            .containing(Tree::new("init").with("ref", &id));
        put(
            &mut out,
            vec![fresh],
            &["imports", "declaration", "template"],
        );
        return Some(out);
    }
    if let Gesture::RenameTemplate { name } = gesture
        && (model
            .children()
            .any(|t| t.tag == "template" && title(t) == *name)
            || !is_identifier(name))
    {
        return None;
    }
    let mut called = out.items.iter_mut().filter_map(|item| match item {
        Item::Child(t) if t.tag == "template" && title(t) == template => Some(t),
        _ => None,
    });
    let target = called.next()?;
    if called.next().is_some() {
        return None;
    }
    within(target, gesture, &id)?;
    Some(out)
}

/// The order in a template.
const MEMBERS: [&str; 7] = [
    "name",
    "parameter",
    "declaration",
    "location",
    "branchpoint",
    "init",
    "transition",
];
const OF_EDGE: [LabelKind; 5] = [
    LabelKind::Select,
    LabelKind::Guard,
    LabelKind::Sync,
    LabelKind::Update,
    LabelKind::Weight,
];

fn within(template: &mut Tree, gesture: &Gesture, id: &str) -> Option<()> {
    match gesture {
        Gesture::Move { nodes, by } => {
            let mut nodes = nodes.clone();
            nodes.sort();
            nodes.dedup();
            for name in nodes {
                let at = only(template, &name)?;
                let node = child(template, at);
                (node.tag != "x" && has_place(node)).then_some(())?;
                shift(node, *by)?;
                for item in &mut node.items {
                    if let Item::Child(c) = item
                        && (c.tag == "name" || c.tag == "label")
                        && has_place(c)
                    {
                        shift(c, *by)?;
                    }
                }
            }
        }
        Gesture::MoveLabel { of, label, to } => {
            let at = owner(template, of, *label)?;
            let own = child(template, at);
            let i = shown(own, *label)?;
            place(child(own, i), *to);
        }
        Gesture::MoveNail { edge, nail, to } => {
            let i = *edges(template).get(*edge as usize)?;
            let own = child(template, i);
            let at = *tagged(own, "nail").get(*nail)?;
            place(child(own, at), *to);
        }
        Gesture::AddNail { edge, nail, at } => {
            let i = *edges(template).get(*edge as usize)?;
            let own = child(template, i);
            let nails = tagged(own, "nail");
            let fresh = Tree::new("nail").at(*at);
            match nails.get(*nail) {
                Some(next) => own.items.insert(*next, Item::Child(fresh)),
                None if *nail == nails.len() => {
                    put(own, vec![fresh], &["source", "target", "label", "nail"]);
                }
                None => return None,
            }
        }
        Gesture::RemoveNail { edge, nail } => {
            let i = *edges(template).get(*edge as usize)?;
            let own = child(template, i);
            let at = *tagged(own, "nail").get(*nail)?;
            own.items.remove(at);
        }
        Gesture::AddLocation { at, name } => {
            let mut fresh = Tree::new("location").with("id", id).at(*at);
            if let Some(name) = name {
                (is_identifier(name) && !nodes(template).iter().any(|n| n.1 == *name))
                    .then_some(())?;
                let mut label = Tree::new("name").at((at.0 - 10, at.1 - 34));
                label.set_text(name);
                fresh = fresh.containing(label);
            }
            let mut all = vec![fresh];
            if nodes(template).is_empty() && tagged(template, "init").is_empty() {
                all.push(Tree::new("init").with("ref", id));
            }
            put(template, all, &MEMBERS[..4]);
        }
        Gesture::AddBranchpoint { at } => {
            let fresh = Tree::new("branchpoint").with("id", id).at(*at);
            put(template, vec![fresh], &MEMBERS[..5]);
        }
        Gesture::AddEdge {
            source,
            target,
            nails,
        } => {
            let from = end(template, source)?;
            let to = end(template, target)?;
            let mut fresh = Tree::new("transition")
                .containing(Tree::new("source").with("ref", from))
                .containing(Tree::new("target").with("ref", to));
            let mut nails = nails.clone();
            let at = only(template, source)?;
            let own = child(template, at);
            if source == target
                && nails.is_empty()
                && let (Some(x), Some(y)) = (number(own, "x"), number(own, "y"))
                && x.abs().max(y.abs()) < 1e6
            {
                let (x, y) = (x as i32, y as i32);
                nails = vec![(x - 17, y - 51), (x + 17, y - 51)];
            }
            for nail in nails {
                fresh = fresh.containing(Tree::new("nail").at(nail));
            }
            put(template, vec![fresh], &with_edges());
        }
        Gesture::Delete { elements } => delete(template, elements)?,
        Gesture::Reconnect { edge, end: e, node } => {
            let id = end(template, node)?;
            let i = *edges(template).get(*edge as usize)?;
            let own = child(template, i);
            let tag = match e {
                End::Source => "source",
                End::Target => "target",
            };
            let at = *tagged(own, tag).first()?;
            child(own, at).set("ref", id);
        }
        Gesture::Initial { node } => {
            let at = only(template, node)?;
            (child(template, at).tag == "location").then_some(())?;
            let id = end(template, node)?;
            let inits = tagged(template, "init");
            for at in inits.iter().skip(1).rev() {
                template.items.remove(*at);
            }
            match inits.first() {
                Some(at) => child(template, *at).set("ref", id),
                None => put(
                    template,
                    vec![Tree::new("init").with("ref", id)],
                    &MEMBERS[..6],
                ),
            }
        }
        Gesture::SetKind { node, to } => {
            let at = only(template, node)?;
            let own = child(template, at);
            (own.tag == "location").then_some(())?;
            let tag = match to {
                NodeKind::Normal => "",
                NodeKind::Urgent => "urgent",
                NodeKind::Committed => "committed",
            };
            let marks: Vec<usize> = (0..own.items.len())
                .filter(|i| match &own.items[*i] {
                    Item::Child(c) => c.tag == "urgent" || c.tag == "committed",
                    _ => false,
                })
                .collect();
            let same = marks.iter().find(|i| child(own, **i).tag == tag).copied();
            let kept = same.or(marks.first().copied().filter(|_| !tag.is_empty()));
            if let Some(kept) = kept.filter(|_| same.is_none()) {
                own.items[kept] = Item::Child(Tree::new(tag));
            }
            for at in marks.iter().rev().filter(|i| Some(**i) != kept) {
                own.items.remove(*at);
            }
            if kept.is_none() && !tag.is_empty() {
                put(
                    own,
                    vec![Tree::new(tag)],
                    &["name", "label", "urgent", "committed"],
                );
            }
        }
        Gesture::Label {
            of,
            label,
            text,
            at,
        } => set_label(template, of, *label, text, *at)?,
        Gesture::Parameters { text } => {
            let found = tagged(template, "parameter").last().copied();
            match found {
                Some(at) if text.trim().is_empty() => {
                    template.items.remove(at);
                }
                Some(at) => write(child(template, at), text)?,
                None if text.trim().is_empty() => {}
                None => {
                    let mut fresh = Tree::new("parameter");
                    fresh.set_text(text);
                    put(template, vec![fresh], &MEMBERS[..2]);
                }
            }
        }
        Gesture::RenameTemplate { name } => match tagged(template, "name").last() {
            Some(at) => rename(child(template, *at), name)?,
            None => {
                let mut fresh = Tree::new("name");
                fresh.set_text(name);
                put(template, vec![fresh], &["name"]);
            }
        },
        Gesture::WriteLayout => lay_out(template),
        Gesture::AddTemplate { .. } => return None,
    }
    Some(())
}

fn set_label(
    template: &mut Tree,
    of: &Element,
    label: LabelKind,
    text: &str,
    at: Option<(i32, i32)>,
) -> Option<()> {
    let i = owner(template, of, label)?;
    if text.trim().is_empty() {
        let own = child(template, i);
        let all = labelled(own, label);
        all.iter().rev().for_each(|at| {
            own.items.remove(*at);
        });
        return Some(());
    }
    let edge = match of {
        Element::Edge(_) => Some(i),
        Element::Node(_) => None,
    };
    let below = edge.map_or(Some((-10, 17)), |_| None);
    let middle = edge.and_then(|i| middle(template, i));
    let names: Vec<String> = nodes(template).into_iter().map(|n| n.1).collect();
    let own = child(template, i);
    let found = shown(own, label);
    if label == LabelKind::Name {
        let text = text.trim();
        if found.is_some() && matches!(of, Element::Node(old) if old == text) {
            return Some(());
        }
        (is_identifier(text) && !names.iter().any(|n| n == text)).then_some(())?;
        match found {
            Some(at) => rename(child(own, at), text)?,
            None => {
                let place = at.or_else(|| {
                    let (x, y) = point(own)?;
                    Some((x - 10, y - 34))
                });
                put(own, vec![written("name", None, place, text)], &["name"]);
            }
        }
        return Some(());
    }
    if let Some(at) = found {
        return write(child(own, at), text);
    }
    let lowest = own.children().filter(|c| c.tag == "label").filter_map(|l| {
        let (x, y) = point(l)?;
        Some((x, y + 17 * l.text().lines().count().clamp(1, 1000) as i32))
    });
    // Of several that are equally low, the last.
    let lowest = lowest.reduce(|a, b| if b.1 >= a.1 { b } else { a });
    let beside = match below {
        Some((dx, dy)) => point(own).map(|(x, y)| (x + dx, y + dy)),
        None => middle,
    };
    let place = at.or(lowest).or(beside);
    let order: &[&str] = match edge {
        Some(_) => &["source", "target", "label"],
        None => &["name", "label"],
    };
    let kind = kind_of(label)?;
    put(own, vec![written("label", Some(kind), place, text)], order);
    Some(())
}

fn written(tag: &str, kind: Option<&str>, place: Option<(i32, i32)>, text: &str) -> Tree {
    let mut out = Tree::new(tag);
    if let Some(kind) = kind {
        out.set("kind", kind);
    }
    if let Some(place) = place {
        out = out.at(place);
    }
    out.set_text(text);
    out
}

/// Where the first label of an edge goes.
fn middle(template: &mut Tree, edge: usize) -> Option<(i32, i32)> {
    let own = child(template, edge).clone();
    let nails: Vec<_> = own
        .children()
        .filter(|c| c.tag == "nail")
        .filter_map(point)
        .collect();
    if !nails.is_empty() {
        let (x, y) = nails[nails.len() / 2];
        return Some((x + 4, y + 4));
    }
    let mut ends = ["source", "target"].map(|tag| {
        let id = own.children().find(|c| c.tag == tag)?.get("ref")?;
        let (i, _) = nodes(template)
            .into_iter()
            .find(|(i, _)| matches!(&template.items[*i], Item::Child(c) if c.get("id").unwrap_or("") == id))?;
        point(child(template, i))
    });
    let (from, to) = (ends[0].take()?, ends[1].take()?);
    let half = |a: i32, b: i32| a.midpoint(b) + 4;
    Some((half(from.0, to.0), half(from.1, to.1)))
}

fn delete(template: &mut Tree, elements: &[Element]) -> Option<()> {
    let mut gone = Vec::new();
    for element in elements {
        gone.push(match element {
            Element::Node(name) => only(template, name)?,
            Element::Edge(i) => *edges(template).get(*i as usize)?,
        });
    }
    let all = nodes(template);
    let id = |i: usize| match &template.items[i] {
        Item::Child(c) => c.get("id").unwrap_or("").to_owned(),
        _ => String::new(),
    };
    let (lost, kept): (Vec<_>, Vec<_>) = all.iter().partition(|(i, _)| gone.contains(i));
    let dead = |c: &Tree| {
        let to = c.get("ref").unwrap_or("");
        lost.iter().any(|(i, _)| id(*i) == to) && !kept.iter().any(|(i, _)| id(*i) == to)
    };
    let mut at = 0;
    let keep: Vec<bool> = (0..template.items.len())
        .map(|i| match &template.items[i] {
            _ if gone.contains(&i) => false,
            Item::Child(c) if c.tag == "init" => !dead(c),
            Item::Child(c) if c.tag == "transition" || c.tag == "edge" => !c
                .children()
                .any(|e| (e.tag == "source" || e.tag == "target") && dead(e)),
            _ => true,
        })
        .collect();
    template.items.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    Some(())
}

fn lay_out(template: &mut Tree) {
    let (mut location, mut branchpoint) = (0, 0);
    for (i, _) in nodes(template) {
        let own = child(template, i);
        if own.tag == "branchpoint" {
            if !has_place(own) {
                place(own, (branchpoint * 100, 8));
            }
            branchpoint += 1;
            continue;
        }
        let x = location * 100;
        location += 1;
        if !has_place(own) {
            place(own, (x, 7));
        }
        if let Some(at) = shown(own, LabelKind::Name).filter(|at| !has_place(child(own, *at))) {
            place(child(own, at), (x, 1));
        }
        for (j, at) in [LabelKind::Invariant, LabelKind::Rate]
            .into_iter()
            .filter_map(|kind| shown(own, kind))
            .collect::<Vec<_>>()
            .into_iter()
            .enumerate()
        {
            if !has_place(child(own, at)) {
                place(child(own, at), (x, 2 + j as i32));
            }
        }
    }
    for (number, i) in edges(template).into_iter().enumerate() {
        let own = child(template, i);
        let drawn = own
            .children()
            .any(|c| c.tag == "nail" || c.tag == "label" && has_place(c));
        let x = number as i32 * 100;
        let present: Vec<usize> = OF_EDGE
            .iter()
            .filter_map(|kind| shown(own, *kind))
            .collect();
        for (j, at) in present.into_iter().enumerate() {
            if !has_place(child(own, at)) {
                place(child(own, at), (x, 10 + j as i32));
            }
        }
        let nails = vec![Tree::new("nail").at((x, 4)); number % 3];
        if !drawn && !nails.is_empty() {
            put(own, nails, &["source", "target", "label", "nail"]);
        }
    }
}

/// Inserts after the last child with one of these tags, else before the first child.
fn put(parent: &mut Tree, fresh: Vec<Tree>, before: &[&str]) {
    let is = |item: &Item| matches!(item, Item::Child(c) if before.contains(&c.tag.as_str()));
    let last = parent.items.iter().rposition(is);
    let first = parent
        .items
        .iter()
        .position(|i| matches!(i, Item::Child(_)));
    let at = last.map(|i| i + 1).or(first).unwrap_or(0);
    let fresh = fresh.into_iter().map(Item::Child);
    parent.items.splice(at..at, fresh);
}

fn with_edges() -> Vec<&'static str> {
    MEMBERS.iter().copied().chain(["edge"]).collect()
}

fn child(parent: &mut Tree, at: usize) -> &mut Tree {
    match &mut parent.items[at] {
        Item::Child(child) => child,
        other => panic!("{other:?} is no element"),
    }
}

fn tagged(parent: &Tree, tag: &str) -> Vec<usize> {
    let is = |i: &usize| matches!(&parent.items[*i], Item::Child(c) if c.tag == tag);
    (0..parent.items.len()).filter(is).collect()
}

pub(crate) fn title(template: &Tree) -> String {
    let name = template.children().rfind(|c| c.tag == "name");
    name.map_or_else(String::new, |n| n.text().trim().to_owned())
}

/// Locations and branchpoints: their numbers among the items, and their names.
pub(crate) fn nodes(template: &Tree) -> Vec<(usize, String)> {
    let name = |(i, item): (usize, &Item)| match item {
        Item::Child(c) if c.tag == "location" || c.tag == "branchpoint" => {
            let names = c
                .children()
                .filter(|n| n.tag == "name" && c.tag == "location");
            let given = names
                .map(|n| n.text().trim().to_owned())
                .rfind(|n| !n.is_empty());
            let id = c.get("id").unwrap_or("");
            Some((i, given.unwrap_or_else(|| format!("_{id}"))))
        }
        _ => None,
    };
    template.items.iter().enumerate().filter_map(name).collect()
}

/// The transitions with both ends, by their numbers among the items.
pub(crate) fn edges(template: &Tree) -> Vec<usize> {
    let whole = |i: &usize| match &template.items[*i] {
        Item::Child(c) if c.tag == "transition" || c.tag == "edge" => ["source", "target"]
            .iter()
            .all(|t| !tagged(c, t).is_empty()),
        _ => false,
    };
    (0..template.items.len()).filter(whole).collect()
}

fn only(template: &Tree, name: &str) -> Option<usize> {
    let all = nodes(template);
    let mut found = all.iter().filter(|(_, n)| n == name);
    let (i, _) = found.next()?;
    found.next().is_none().then_some(*i)
}

fn end(template: &mut Tree, name: &str) -> Option<String> {
    let i = only(template, name)?;
    let id = child(template, i)
        .get("id")
        .filter(|id| !id.is_empty())?
        .to_owned();
    let mut same = 0;
    for (i, _) in nodes(template) {
        same += usize::from(child(template, i).get("id") == Some(&id));
    }
    (same == 1).then_some(id)
}

fn owner(template: &mut Tree, of: &Element, label: LabelKind) -> Option<usize> {
    use LabelKind::{Comment, Invariant, Name, Rate};
    match of {
        Element::Node(name) => {
            let i = only(template, name)?;
            let fits = matches!(label, Name | Invariant | Rate | Comment);
            (fits && child(template, i).tag == "location").then_some(i)
        }
        Element::Edge(n) => {
            let fits = !matches!(label, Name | Invariant | Rate);
            edges(template).get(*n as usize).copied().filter(|_| fits)
        }
    }
}

fn kind_of(label: LabelKind) -> Option<&'static str> {
    Some(match label {
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

fn labelled(owner: &Tree, label: LabelKind) -> Vec<usize> {
    let fits = |i: &usize| match (&owner.items[*i], kind_of(label)) {
        (Item::Child(c), None) => c.tag == "name",
        (Item::Child(c), kind) => c.tag == "label" && c.get("kind") == kind,
        _ => false,
    };
    (0..owner.items.len()).filter(fits).collect()
}

/// The label that counts.
fn shown(owner: &Tree, label: LabelKind) -> Option<usize> {
    let all = labelled(owner, label);
    let named =
        |i: &usize| matches!(&owner.items[*i], Item::Child(c) if !c.text().trim().is_empty());
    match label {
        LabelKind::Comment => all.first().copied(),
        LabelKind::Name => all.iter().copied().rfind(named).or(all.last().copied()),
        _ => all.last().copied(),
    }
}

/// Replaces a text, which must not stand among comments or elements.
fn write(label: &mut Tree, text: &str) -> Option<()> {
    let plain = label.items.iter().all(|i| matches!(i, Item::Text(_)));
    if label.text() == text {
        return Some(());
    }
    plain.then(|| label.set_text(text))
}

/// Replaces a name, but not the white space around it.
fn rename(label: &mut Tree, name: &str) -> Option<()> {
    let old = label.text();
    let plain = label.items.iter().all(|i| matches!(i, Item::Text(_)));
    let blanks = match old.trim() {
        "" => name.to_owned(),
        trimmed => old.replacen(trimmed, name, 1),
    };
    plain.then(|| label.set_text(&blanks))
}

fn number(own: &Tree, name: &str) -> Option<f64> {
    let value: f64 = own.get(name)?.trim().parse().ok()?;
    value.is_finite().then_some(value)
}

fn has_place(own: &Tree) -> bool {
    number(own, "x").is_some() && number(own, "y").is_some()
}

fn point(own: &Tree) -> Option<(i32, i32)> {
    let (x, y) = (number(own, "x")?, number(own, "y")?);
    (x.abs().max(y.abs()) < 1e6).then_some((x as i32, y as i32))
}

fn place(own: &mut Tree, (x, y): (i32, i32)) {
    own.set("x", x);
    own.set("y", y);
}

fn shift(own: &mut Tree, (dx, dy): (i32, i32)) -> Option<()> {
    for (name, by) in [("x", dx), ("y", dy)] {
        if by == 0 {
            continue;
        }
        let old = own.get(name)?.trim().to_owned();
        let new = match old.parse::<i64>() {
            Ok(whole) => (whole + i64::from(by)).to_string(),
            Err(_) => (old.parse::<f64>().ok()? + f64::from(by)).to_string(),
        };
        (new.parse::<f64>().ok()?.abs() < 1e6).then_some(())?;
        own.set(name, new);
    }
    Some(())
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && name != "int"
}

fn next_id(model: &Tree) -> String {
    fn greatest(tree: &Tree) -> Option<u64> {
        let own = tree
            .get("id")
            .and_then(|id| id.strip_prefix("id")?.parse().ok());
        tree.children().filter_map(greatest).chain(own).max()
    }
    format!("id{}", greatest(model).map_or(0, |n| n + 1))
}
