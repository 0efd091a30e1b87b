//! Templates as graphs, for a diagram: locations, edges, labels, and where they are drawn if the text says so.

use crate::snapshot::Snapshot;
use smol_str::SmolStr;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{
    Edge, Expr, FileKind, Graphics, Ident, Item, ItemKind, Location, MemberKind, Placed,
    PragmaKind, Process,
};
use zonelens_syntax::convert;
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// A point of a drawing.
pub type Point = (i64, i64);

/// A template.
pub struct Template {
    /// Its name.
    pub name: String,
    /// Its parameters as written, without parentheses.
    pub parameters: String,
    /// All of it.
    pub span: Span,
    /// Its name's place.
    pub name_span: Span,
    /// Locations in order of the text.
    pub locations: Vec<Node>,
    /// Branchpoints in order of the text.
    pub branchpoints: Vec<Node>,
    /// Edges in order of the text.
    pub edges: Vec<Arrow>,
}

/// A location or branchpoint.
#[derive(Default)]
pub struct Node {
    /// Its name, unique in the template.
    pub name: String,
    /// The author gave no name.
    pub anonymous: bool,
    /// It is the initial one.
    pub initial: bool,
    /// Urgent.
    pub urgent: bool,
    /// Committed.
    pub committed: bool,
    /// Its invariant as written.
    pub invariant: Option<String>,
    /// Its exponential rate as written.
    pub rate: Option<String>,
    /// Where it stands in the text.
    pub span: Span,
    /// How it is drawn.
    pub drawing: Drawing,
}

/// An edge.
pub struct Arrow {
    /// Where it starts.
    pub source: String,
    /// Where it leads.
    pub target: String,
    /// Whether the controller takes it.
    pub controllable: bool,
    /// Labels as written, by kind.
    pub labels: Vec<(&'static str, String)>,
    /// Where it stands in the text.
    pub span: Span,
    /// How it is drawn.
    pub drawing: Drawing,
}

/// How an element is drawn, as far as the text says.
#[derive(Default)]
pub struct Drawing {
    /// Where.
    pub at: Option<Point>,
    /// In which colour.
    pub color: Option<String>,
    /// Points an edge passes through.
    pub nails: Vec<Point>,
    /// Where labels stand, by kind.
    pub labels: Vec<(String, Point)>,
    /// The author's comment.
    pub comment: Option<String>,
}

/// The templates of a model, in order of the text.
pub fn templates(model: &Snapshot) -> Vec<Template> {
    let file = model.file();
    let drawn = drawn_elsewhere(file);
    let processes = |f: &SourceFile| -> Vec<Template> {
        let one = |item: &Placed<Item>| match &item.node.kind {
            ItemKind::Process(process) => Some(template(f, item, process)),
            _ => None,
        };
        f.items.iter().filter_map(one).collect()
    };
    let mut out = processes(file);
    if let Some(drawn) = drawn {
        for (template, drawn) in out.iter_mut().zip(processes(&drawn)) {
            borrow_drawings(template, drawn);
        }
    }
    out
}

/// `.xta` keeps drawings in `//@ xml` lines, which only the conversion reads.
fn drawn_elsewhere(file: &SourceFile) -> Option<SourceFile> {
    let has_lines = file.kind == FileKind::Xta
        && file.items.iter().any(|item| {
            let inside = members(item).iter().flat_map(|m| &m.node.pragmas);
            let mut all = item.node.pragmas.iter().chain(inside);
            all.any(|p| matches!(p.kind, PragmaKind::Xml(_)))
        });
    if !has_lines {
        return None;
    }
    let xml = convert::to_xml(file).ok()?;
    Some(SourceFile::parse(xml, FileKind::Xml))
}

fn borrow_drawings(template: &mut Template, drawn: Template) {
    if template.name != drawn.name {
        return;
    }
    let nodes = template
        .locations
        .iter_mut()
        .chain(&mut template.branchpoints);
    let drawn_nodes = drawn.locations.into_iter().chain(drawn.branchpoints);
    for (node, drawn) in nodes.zip(drawn_nodes) {
        node.drawing = drawn.drawing;
    }
    for (edge, drawn) in template.edges.iter_mut().zip(drawn.edges) {
        edge.drawing = drawn.drawing;
    }
}

fn template(file: &SourceFile, item: &Placed<Item>, process: &Process) -> Template {
    let parameters = process.params.as_ref().map(|p| p.span.shift(item.offset));
    let parameters = parameters.map_or_else(String::new, |span| one_line(file, span));
    let bare = parameters
        .strip_prefix('(')
        .and_then(|p| p.strip_suffix(')'));
    let mut out = Template {
        name: process.name.name.to_string(),
        parameters: bare.unwrap_or(&parameters).trim().to_owned(),
        span: item.node.span.shift(item.offset),
        name_span: process.name.span.shift(item.offset),
        locations: Vec::new(),
        branchpoints: Vec::new(),
        edges: Vec::new(),
    };
    for member in &process.members {
        let base = item.offset + member.offset;
        add_member(file, &member.node.kind, base, &mut out);
    }
    // `init`, `commit` and `urgent` may come before the locations they name.
    for member in &process.members {
        let named =
            |names: &[Ident], node: &Node| names.iter().any(|n| n.name == node.name.as_str());
        for node in &mut out.locations {
            match &member.node.kind {
                MemberKind::Init(name) => node.initial |= name.name == node.name.as_str(),
                MemberKind::Commit(names) => node.committed |= named(names, node),
                MemberKind::Urgent(names) => node.urgent |= named(names, node),
                _ => {}
            }
        }
    }
    out
}

fn add_member(file: &SourceFile, kind: &MemberKind, base: u32, out: &mut Template) {
    match kind {
        MemberKind::States(states) => {
            let nodes = states.iter().map(|l| location(file, l, base));
            out.locations.extend(nodes);
        }
        MemberKind::Branchpoints(points) => {
            for point in points {
                out.branchpoints.push(Node {
                    name: point.name.name.to_string(),
                    span: point.span.shift(base),
                    drawing: drawing(point.graphics.as_deref()),
                    ..Node::default()
                });
            }
        }
        MemberKind::Edge(e) => {
            let before = out.edges.last().map(|e| e.source.clone());
            out.edges.push(edge(file, e, before, base));
        }
        _ => {}
    }
}

fn location(file: &SourceFile, location: &Location, base: u32) -> Node {
    let text = |e: &Expr| one_line(file, e.span.shift(base));
    let rate = location.exponential_rate.as_ref();
    Node {
        name: location.name.name.to_string(),
        anonymous: location.anonymous,
        initial: false,
        urgent: location.urgent,
        committed: location.committed,
        invariant: location.invariant.as_ref().map(text),
        rate: rate.map(|(rate, scale)| match scale {
            Some(scale) => format!("{} : {}", text(rate), text(scale)),
            None => text(rate),
        }),
        span: location.span.shift(base),
        drawing: drawing(location.graphics.as_deref()),
    }
}

fn edge(file: &SourceFile, edge: &Edge, before: Option<String>, base: u32) -> Arrow {
    let text = |span: Span| one_line(file, span.shift(base));
    let cover = |spans: Vec<Span>| spans.into_iter().reduce(Span::cover);
    let select = cover(
        edge.select
            .iter()
            .map(|(name, ty)| name.span.cover(ty.span))
            .collect(),
    );
    let assign = cover(edge.assign.iter().map(|e| e.span).collect());
    let spans = [
        ("select", select),
        ("guard", edge.guard.as_ref().map(|e| e.span)),
        ("sync", edge.sync.as_ref().map(|s| s.span)),
        ("assign", assign),
        ("probability", edge.probability.as_ref().map(|e| e.span)),
    ];
    let source = edge.source.as_ref().map(|s| s.name.to_string());
    Arrow {
        source: source.or(before).unwrap_or_default(),
        target: edge.target.name.to_string(),
        controllable: edge.controllable,
        labels: spans
            .into_iter()
            .filter_map(|(kind, span)| Some((kind, text(span?))))
            .collect(),
        span: edge.span.shift(base),
        drawing: drawing(edge.graphics.as_deref()),
    }
}

fn drawing(graphics: Option<&Graphics>) -> Drawing {
    let Some(graphics) = graphics else {
        return Drawing::default();
    };
    let get = |list: &[(SmolStr, SmolStr)], name: &str| {
        let found = list.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.to_string())
    };
    let point = |list: &[(SmolStr, SmolStr)]| {
        let number = |name| get(list, name)?.trim().parse::<i64>().ok();
        Some((number("x")?, number("y")?))
    };
    let mut out = Drawing {
        at: point(&graphics.attributes),
        color: get(&graphics.attributes, "color"),
        ..Drawing::default()
    };
    for child in &graphics.children {
        match &*child.tag {
            "nail" => out.nails.extend(point(&child.attributes)),
            "name" => out
                .labels
                .extend(point(&child.attributes).map(|p| ("name".to_owned(), p))),
            "label" => {
                let kind = get(&child.attributes, "kind").unwrap_or_default();
                if kind == "comments" {
                    out.comment = child.text.as_ref().map(|t| t.trim().to_owned());
                }
                let at = point(&child.attributes);
                out.labels.extend(at.map(|p| (short_kind(kind), p)));
            }
            _ => {}
        }
    }
    out
}

/// XML's names of labels as the edges of a diagram have them.
fn short_kind(kind: String) -> String {
    match kind.as_str() {
        "synchronisation" => "sync".to_owned(),
        "assignment" => "assign".to_owned(),
        "exponentialrate" => "rate".to_owned(),
        "comments" => "comment".to_owned(),
        _ => kind,
    }
}

fn one_line(file: &SourceFile, span: Span) -> String {
    let text = file.plain(span);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
