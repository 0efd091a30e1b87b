//! Collects from the tree what to draw: texts as written, coordinates where the file has them.

use super::{NodeKind, Range};
use crate::drawing::Point;
use crate::text;
use smol_str::SmolStr;
use std::vec::IntoIter;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{
    self, Direction, Graphics, Ident, ItemKind, Location, MemberKind, Placed, Process,
};
use zonelens_syntax::convert::{self, Sketch};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// A template before layout.
pub(crate) struct RawTemplate {
    pub name: String,
    pub parameters: String,
    pub range: Range,
    pub selection_range: Range,
    pub nodes: Vec<RawNode>,
    pub edges: Vec<RawEdge>,
}

/// A node before layout.
pub(crate) struct RawNode {
    pub name: String,
    pub kind: NodeKind,
    pub initial: bool,
    pub anonymous: bool,
    pub range: Range,
    pub said: Said,
    pub place: Option<Point>,
    pub labels: Vec<RawLabel>,
}

/// An edge before layout.
pub(crate) struct RawEdge {
    pub id: u32,
    pub source: usize,
    pub target: usize,
    pub range: Range,
    pub said: Said,
    pub controllable: bool,
    pub nails: Vec<Point>,
    pub labels: Vec<RawLabel>,
}

/// A text, and its position in the file if given.
pub(crate) struct RawLabel {
    pub kind: &'static str,
    pub text: String,
    pub range: Range,
    pub place: Option<Point>,
}

/// What the file says of an element beside its coordinates.
#[derive(Default)]
pub(crate) struct Said {
    pub color: Option<String>,
    pub comment: Option<String>,
}

/// The templates of a file.
pub(crate) fn templates(file: &SourceFile, range: &dyn Fn(Span) -> Range) -> Vec<RawTemplate> {
    // In `.xta` the coordinates are in `//@ xml` lines.
    let mut sketches = convert::sketches(file).into_iter();
    let read = |item: &Placed<ast::Item>| match &item.node.kind {
        ItemKind::Process(process) => {
            let sketch = sketches.next().flatten().unwrap_or_default();
            Some(Reader::new(file, item, process, range).template(sketch))
        }
        _ => None,
    };
    file.items.iter().filter_map(read).collect()
}

struct Reader<'a> {
    file: &'a SourceFile,
    item: &'a Placed<ast::Item>,
    process: &'a Process,
    range: &'a dyn Fn(Span) -> Range,
    next_edge: u32,
    out: RawTemplate,
    /// The data of `//@ xml` lines for locations, branchpoints and edges, in source order.
    locations: IntoIter<Option<Graphics>>,
    branchpoints: IntoIter<Option<Graphics>>,
    edges: IntoIter<Option<Graphics>>,
}

impl<'a> Reader<'a> {
    fn new(
        file: &'a SourceFile,
        item: &'a Placed<ast::Item>,
        process: &'a Process,
        range: &'a dyn Fn(Span) -> Range,
    ) -> Reader<'a> {
        let out = RawTemplate {
            name: process.name.name.to_string(),
            parameters: String::new(),
            range: range(item.node.span.shift(item.offset)),
            selection_range: range(process.name.span.shift(item.offset)),
            nodes: Vec::new(),
            edges: Vec::new(),
        };
        Reader {
            file,
            item,
            process,
            range,
            next_edge: 0,
            out,
            locations: IntoIter::default(),
            branchpoints: IntoIter::default(),
            edges: IntoIter::default(),
        }
    }

    /// The decoded text of a span relative to `base`, on one line.
    fn text(&self, span: Span, base: u32) -> String {
        text::label(&self.file.plain(span.shift(base)))
    }

    fn label(
        &self,
        kind: &'static str,
        text: String,
        span: Span,
        base: u32,
        place: Option<Point>,
    ) -> RawLabel {
        RawLabel {
            kind,
            text,
            range: (self.range)(span.shift(base)),
            place,
        }
    }

    fn template(mut self, sketch: Sketch) -> RawTemplate {
        let of_nodes = |nodes: Vec<convert::SketchNode>| -> Vec<_> {
            nodes.into_iter().map(|n| n.graphics).collect()
        };
        self.locations = of_nodes(sketch.locations).into_iter();
        self.branchpoints = of_nodes(sketch.branchpoints).into_iter();
        let edges: Vec<_> = sketch.edges.into_iter().map(|e| e.graphics).collect();
        self.edges = edges.into_iter();
        if let Some(params) = &self.process.params {
            let written = self.text(params.span, self.item.offset);
            let bare = written.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
            self.out.parameters = bare.unwrap_or(&written).trim().to_owned();
        }
        for member in members(self.item) {
            self.nodes(&member.node.kind, self.item.offset + member.offset);
        }
        for member in members(self.item) {
            self.flags(&member.node.kind);
        }
        let mut source = None;
        for member in members(self.item) {
            if let MemberKind::Edge(edge) = &member.node.kind {
                source = edge.source.clone().or(source);
                self.edge(edge, source.as_ref(), self.item.offset + member.offset);
            }
        }
        self.out
    }

    fn nodes(&mut self, member: &MemberKind, base: u32) {
        match member {
            MemberKind::States(locations) => {
                for location in locations {
                    let own = self.locations.next().flatten();
                    let graphics = location.graphics.as_deref().or(own.as_ref());
                    let node = self.location(location, graphics, base);
                    self.out.nodes.push(node);
                }
            }
            MemberKind::Branchpoints(points) => {
                for point in points {
                    let own = self.branchpoints.next().flatten();
                    let graphics = point.graphics.as_deref().or(own.as_ref());
                    self.out.nodes.push(RawNode {
                        name: point.name.name.to_string(),
                        kind: NodeKind::Branchpoint,
                        initial: false,
                        anonymous: false,
                        range: (self.range)(point.span.shift(base)),
                        said: said(graphics),
                        place: place(graphics),
                        labels: Vec::new(),
                    });
                }
            }
            _ => {}
        }
    }

    fn location(&self, location: &Location, graphics: Option<&Graphics>, base: u32) -> RawNode {
        let mut labels = Vec::new();
        if let Some(invariant) = &location.invariant {
            let (span, at) = (
                invariant.span,
                child_place(graphics, "label", Some("invariant")),
            );
            labels.push(self.label("invariant", self.text(span, base), span, base, at));
        }
        if let Some((rate, other)) = &location.exponential_rate {
            let other = other.as_ref().map(|o| o.span);
            let span = other.map_or(rate.span, |o| rate.span.cover(o));
            let at = child_place(graphics, "label", Some("exponentialrate"));
            labels.push(self.label("rate", self.text(span, base), span, base, at));
        }
        if !location.anonymous {
            let name = &location.name;
            let at = child_place(graphics, "name", None);
            labels.push(self.label("name", text::label(&name.name), name.span, base, at));
        }
        RawNode {
            name: location.name.name.to_string(),
            kind: if location.committed {
                NodeKind::Committed
            } else if location.urgent {
                NodeKind::Urgent
            } else {
                NodeKind::Normal
            },
            initial: false,
            anonymous: location.anonymous,
            range: (self.range)(location.span.shift(base)),
            said: said(graphics),
            place: place(graphics),
            labels,
        }
    }

    fn flags(&mut self, member: &MemberKind) {
        let mut set = |name: &Ident, change: fn(&mut RawNode)| {
            let nodes = self.out.nodes.iter_mut();
            nodes
                .filter(|n| n.name == name.name.as_str())
                .for_each(change);
        };
        match member {
            MemberKind::Commit(names) => {
                names
                    .iter()
                    .for_each(|n| set(n, |node| node.kind = NodeKind::Committed));
            }
            MemberKind::Urgent(names) => {
                names
                    .iter()
                    .for_each(|n| set(n, |node| node.kind = NodeKind::Urgent));
            }
            MemberKind::Init(name) => set(name, |node| node.initial = true),
            _ => {}
        }
    }

    fn edge(&mut self, edge: &ast::Edge, source: Option<&Ident>, base: u32) {
        let own = self.edges.next().flatten();
        let id = self.next_edge;
        self.next_edge += 1;
        let find = |name: &Ident| {
            let mut nodes = self.out.nodes.iter();
            nodes.position(|n| n.name == name.name.as_str())
        };
        let (Some(source), Some(target)) = (source.and_then(find), find(&edge.target)) else {
            return;
        };
        let graphics = edge.graphics.as_deref().or(own.as_ref());
        let nails = graphics.map_or_else(Vec::new, |g| {
            let nails = g.children.iter().filter(|c| c.tag == "nail");
            nails.filter_map(|c| point(&c.attributes)).collect()
        });
        let range = (self.range)(edge.span.shift(base));
        let labels = self.edge_labels(edge, graphics, base);
        self.out.edges.push(RawEdge {
            id,
            source,
            target,
            range,
            said: said(graphics),
            controllable: edge.controllable,
            nails,
            labels,
        });
    }

    fn edge_labels(
        &self,
        edge: &ast::Edge,
        graphics: Option<&Graphics>,
        base: u32,
    ) -> Vec<RawLabel> {
        let mut labels = Vec::new();
        let mut add = |kind: &'static str, xml: &str, text: String, span: Span| {
            let at = child_place(graphics, "label", Some(xml));
            labels.push(self.label(kind, text, span, base, at));
        };
        let cover = |spans: Vec<Span>| spans.into_iter().reduce(Span::cover);
        let selects = edge
            .select
            .iter()
            .flat_map(|(name, ty)| [name.span, ty.span]);
        if let Some(span) = cover(selects.collect()) {
            add("select", "select", self.text(span, base), span);
        }
        if let Some(guard) = &edge.guard {
            add("guard", "guard", self.text(guard.span, base), guard.span);
        }
        if let Some(sync) = &edge.sync {
            let mut text = self.text(sync.channel.span, base);
            text.push_str(match sync.direction {
                Direction::Send => "!",
                Direction::Receive => "?",
                Direction::Csp => "",
            });
            add("sync", "synchronisation", text, sync.span);
        }
        if let Some(span) = cover(edge.assign.iter().map(|e| e.span).collect()) {
            add("update", "assignment", self.text(span, base), span);
        }
        if let Some(weight) = &edge.probability {
            let text = self.text(weight.span, base);
            add("probability", "probability", text, weight.span);
        }
        labels
    }
}

fn said(graphics: Option<&Graphics>) -> Said {
    let Some(graphics) = graphics else {
        return Said::default();
    };
    let named = |list: &[(SmolStr, SmolStr)], name: &str| {
        let found = list.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.to_string())
    };
    let is_comment = |c: &&ast::GraphicsChild| {
        c.tag == "label" && named(&c.attributes, "kind").as_deref() == Some("comments")
    };
    let comment = graphics.children.iter().find(is_comment);
    Said {
        color: named(&graphics.attributes, "color"),
        comment: comment.and_then(|c| Some(c.text.as_ref()?.trim().to_owned())),
    }
}

/// The coordinates of an element.
pub(crate) fn place(graphics: Option<&Graphics>) -> Option<Point> {
    point(&graphics?.attributes)
}

/// The coordinates of a child element, by its tag and kind.
pub(crate) fn child_place(
    graphics: Option<&Graphics>,
    tag: &str,
    kind: Option<&str>,
) -> Option<Point> {
    let of_kind = |c: &&ast::GraphicsChild| {
        let named = c.attributes.iter().find(|(name, _)| name == "kind");
        c.tag == tag && (kind.is_none() || named.map(|(_, v)| v.as_str()) == kind)
    };
    point(&graphics?.children.iter().find(of_kind)?.attributes)
}

pub(crate) fn point(attributes: &[(SmolStr, SmolStr)]) -> Option<Point> {
    let coordinate = |name: &str| -> Option<f64> {
        let (_, value) = attributes.iter().find(|(n, _)| n == name)?;
        let value: f64 = value.trim().parse().ok()?;
        // Larger values cannot be drawn, and files are not trusted.
        (value.is_finite() && value.abs() < 1e6).then_some(value)
    };
    Some((coordinate("x")?, coordinate("y")?))
}
