//! Computes the positions of all nodes, edges and labels of a template.

use super::read::{RawEdge, RawLabel, RawNode, RawTemplate};
use super::{Edge, Label, Node, NodeKind, Offset, Template};
use crate::drawing::{self, Outline, Point};
use crate::layered::{self, Link, Size};
use crate::text::{self, CHAR, LINE};

/// Space around the picture.
const MARGIN: f64 = 16.0;
/// Diameter of a location with coordinates in the file, and of a branchpoint.
const CIRCLE: f64 = 30.0;
const POINT: f64 = 10.0;
/// Height of the outline of a location without an invariant.
const PILL: f64 = 30.0;
/// How far a loop extends from its location, and its height.
const EAR: f64 = 34.0;
const EAR_HEIGHT: f64 = 12.0;
/// With more edges, a layered layout takes too long: a grid is used instead.
pub(crate) const MAX_LAYERED: usize = 1_500;
const GRID: f64 = 160.0;

/// Lays out a template.
pub(crate) fn arrange(raw: RawTemplate) -> Template {
    let placed = !raw.nodes.is_empty() && raw.nodes.iter().all(|n| n.place.is_some());
    let (nodes, edges) = if placed {
        as_drawn(&raw)
    } else if raw.edges.len() + raw.nodes.len() > MAX_LAYERED {
        on_a_grid(&raw)
    } else {
        automatic(&raw)
    };
    finish(raw, placed, nodes, edges)
}

/// Builds a node from its position, size and labels.
fn node(raw: &RawNode, at: Point, size: Size, labels: Vec<Label>) -> Node {
    Node {
        id: raw.name.clone(),
        name: raw.name.clone(),
        anonymous: raw.anonymous,
        kind: raw.kind,
        initial: raw.initial,
        line: raw.range.start.line,
        range: raw.range,
        color: raw.said.color.clone(),
        comment: raw.said.comment.clone(),
        x: at.0,
        y: at.1,
        width: size.width,
        height: size.height,
        labels,
    }
}

fn edge(raw: &RawEdge, path: String, arrow: String, labels: Vec<Label>) -> Edge {
    Edge {
        id: raw.id,
        source: raw.source,
        target: raw.target,
        line: raw.range.start.line,
        range: raw.range,
        color: raw.said.color.clone(),
        comment: raw.said.comment.clone(),
        controllable: raw.controllable,
        nails: raw.nails.clone(),
        path,
        arrow,
        labels,
    }
}

fn label(raw: &RawLabel, (x, y): Point, centred: bool) -> Label {
    Label {
        kind: raw.kind,
        text: raw.text.clone(),
        range: raw.range,
        x,
        y,
        place: raw.place,
        centred,
    }
}

fn outline(node: &Node) -> Outline {
    Outline {
        centre: (node.x, node.y),
        width: node.width,
        height: node.height,
    }
}

// The layout with the coordinates of the file.

/// The layout with the coordinates of the file.
fn as_drawn(raw: &RawTemplate) -> (Vec<Node>, Vec<Edge>) {
    let nodes: Vec<Node> = raw
        .nodes
        .iter()
        .map(|n| {
            let at = n.place.unwrap_or_default();
            let side = if n.kind == NodeKind::Branchpoint {
                POINT
            } else {
                CIRCLE
            };
            let size = Size {
                width: side,
                height: side,
            };
            let mut below = at.1 + CIRCLE / 2.0;
            let place = |l: &RawLabel| {
                // UPPAAL gives upper left corners, but labels here are placed by their baselines.
                let free = if l.kind == "name" {
                    (at.0 - 10.0, at.1 - CIRCLE / 2.0 - LINE - 2.0)
                } else {
                    below += LINE;
                    (at.0 - 10.0, below - LINE)
                };
                let (x, y) = l.place.unwrap_or(free);
                label(l, (x, y + LINE - 3.0), false)
            };
            let labels = n.labels.iter().map(place).collect();
            node(n, at, size, labels)
        })
        .collect();
    let edges = raw.edges.iter().map(|e| drawn_edge(e, &nodes)).collect();
    (nodes, edges)
}

fn drawn_edge(raw: &RawEdge, nodes: &[Node]) -> Edge {
    let (source, target) = (&nodes[raw.source], &nodes[raw.target]);
    let (from, to) = ((source.x, source.y), (target.x, target.y));
    if raw.source == raw.target && raw.nails.is_empty() {
        let at = (source.x + source.width / 2.0, source.y);
        let labels = stacked(&raw.labels, (at.0 + EAR, at.1), false);
        return ear(raw, at, labels);
    }
    let mut points = vec![from];
    points.extend(&raw.nails);
    points.push(to);
    let last = points.len() - 1;
    points[0] = outline(source).border_towards(points[1]);
    points[last] = outline(target).border_towards(points[last - 1]);
    let middle = match raw.nails.as_slice() {
        [] => (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1)),
        nails => nails[nails.len() / 2],
    };
    let mut free = middle.1;
    let labels = raw
        .labels
        .iter()
        .map(|l| match l.place {
            Some((x, y)) => label(l, (x, y + LINE - 3.0), false),
            None => {
                free += LINE;
                label(l, (middle.0 + 6.0, free - 3.0), false)
            }
        })
        .collect();
    let arrow = drawing::arrowhead(points[last], points[last - 1]);
    edge(raw, drawing::straight(&points), arrow, labels)
}

fn ear(raw: &RawEdge, at: Point, labels: Vec<Label>) -> Edge {
    let tip = (at.0, at.1 + EAR_HEIGHT / 2.0);
    let arrow = drawing::arrowhead(tip, (tip.0 + 30.0, tip.1 + 9.0));
    edge(raw, drawing::ear(at, EAR_HEIGHT), arrow, labels)
}

/// Stacks labels vertically, with the middle of the block at the height of `at`.
fn stacked(labels: &[RawLabel], at: Point, centred: bool) -> Vec<Label> {
    let top = at.1 - labels.len() as f64 * LINE / 2.0;
    let place = |(i, l): (usize, &RawLabel)| {
        let y = top + (i as f64 + 1.0) * LINE - 4.0;
        label(l, (at.0, y), centred)
    };
    labels.iter().enumerate().map(place).collect()
}

// The automatic layout.

fn on_a_grid(raw: &RawTemplate) -> (Vec<Node>, Vec<Edge>) {
    let columns = (raw.nodes.len() as f64).sqrt().ceil().max(1.0) as usize;
    let place = |i: usize| ((i % columns) as f64 * GRID, (i / columns) as f64 * GRID);
    let nodes: Vec<Node> = raw
        .nodes
        .iter()
        .enumerate()
        .map(|(i, n)| pill(n, place(i)))
        .collect();
    let edges = raw.edges.iter().map(|e| drawn_edge(e, &nodes)).collect();
    (nodes, edges)
}

fn pill_size(raw: &RawNode) -> Size {
    if raw.kind == NodeKind::Branchpoint {
        return Size {
            width: POINT,
            height: POINT,
        };
    }
    let texts: Vec<String> = raw.labels.iter().map(|l| l.text.clone()).collect();
    let height = PILL + LINE * (texts.len().max(1) as f64 - 1.0);
    Size {
        width: (text::width(&texts) + 26.0).max(height),
        height,
    }
}

/// A location with its texts inside.
fn pill(raw: &RawNode, at: Point) -> Node {
    // The name is on top, the other labels below.
    let named = raw.labels.iter().filter(|l| l.kind == "name");
    let others = raw.labels.iter().filter(|l| l.kind != "name");
    let ordered: Vec<&RawLabel> = named.chain(others).collect();
    let top = at.1 - ordered.len() as f64 * LINE / 2.0;
    let labels = ordered
        .iter()
        .enumerate()
        .map(|(i, l)| label(l, (at.0, top + (i as f64 + 1.0) * LINE - 4.0), true))
        .collect();
    node(raw, at, pill_size(raw), labels)
}

fn block(labels: &[RawLabel]) -> Size {
    let texts: Vec<String> = labels.iter().map(|l| l.text.clone()).collect();
    Size {
        width: text::width(&texts).max(CHAR),
        height: text::height(&texts),
    }
}

/// The loops of a node, with the size of each.
fn loops(raw: &RawTemplate, node: usize) -> Vec<(usize, Size)> {
    let own = |(_, e): &(usize, &RawEdge)| e.source == node && e.target == node;
    let size = |(i, e): (usize, &RawEdge)| {
        let block = block(&e.labels);
        let height = block.height.max(EAR_HEIGHT + 20.0) + 4.0;
        (
            i,
            Size {
                width: block.width + EAR + 6.0,
                height,
            },
        )
    };
    raw.edges.iter().enumerate().filter(own).map(size).collect()
}

fn automatic(raw: &RawTemplate) -> (Vec<Node>, Vec<Edge>) {
    let sizes: Vec<Size> = (0..raw.nodes.len())
        .map(|i| {
            let own = pill_size(&raw.nodes[i]);
            let loops = loops(raw, i);
            let wide = loops.iter().map(|(_, s)| s.width).fold(0.0, f64::max);
            let high: f64 = loops.iter().map(|(_, s)| s.height).sum();
            Size {
                width: own.width + 2.0 * wide,
                height: own.height.max(high),
            }
        })
        .collect();
    let between: Vec<usize> = (0..raw.edges.len())
        .filter(|i| raw.edges[*i].source != raw.edges[*i].target)
        .collect();
    let links: Vec<Link> = between
        .iter()
        .map(|i| Link {
            source: raw.edges[*i].source,
            target: raw.edges[*i].target,
            label: block(&raw.edges[*i].labels),
        })
        .collect();
    let root = raw.nodes.iter().position(|n| n.initial).unwrap_or(0);
    let placed = layered::place(&sizes, &links, root);
    let nodes: Vec<Node> = raw
        .nodes
        .iter()
        .zip(&placed.nodes)
        .map(|(n, at)| pill(n, *at))
        .collect();
    let mut edges: Vec<Option<Edge>> = raw.edges.iter().map(|_| None).collect();
    for (i, drawn) in between
        .iter()
        .zip(flowing_edges(raw, &nodes, &between, &placed))
    {
        edges[*i] = Some(drawn);
    }
    for (i, node) in nodes.iter().enumerate() {
        for (edge, drawn) in ears(raw, node, &loops(raw, i)) {
            edges[edge] = Some(drawn);
        }
    }
    (nodes, edges.into_iter().flatten().collect())
}

fn ears(raw: &RawTemplate, node: &Node, loops: &[(usize, Size)]) -> Vec<(usize, Edge)> {
    let high: f64 = loops.iter().map(|(_, s)| s.height).sum();
    let mut y = node.y - high / 2.0;
    let mut out = Vec::new();
    for (i, size) in loops {
        let middle = y + size.height / 2.0;
        y += size.height;
        // Outer loops start at the height of the outline, not beyond it.
        let reach = (node.height / 2.0 - EAR_HEIGHT).max(0.0);
        let at = (
            node.x + node.width / 2.0 - 2.0,
            middle.clamp(node.y - reach, node.y + reach),
        );
        let labels = stacked(&raw.edges[*i].labels, (at.0 + EAR + 2.0, middle), false);
        out.push((*i, ear(&raw.edges[*i], at, labels)));
    }
    out
}

/// Edges between layers, each with its own points of departure and arrival.
fn flowing_edges(
    raw: &RawTemplate,
    nodes: &[Node],
    between: &[usize],
    placed: &layered::Placed,
) -> Vec<Edge> {
    let ports = ports(raw, nodes, between, placed);
    between
        .iter()
        .zip(&placed.links)
        .zip(ports)
        .map(|((i, route), (start, end))| {
            let raw = &raw.edges[*i];
            let mut points = vec![start];
            points.extend(route.bends.iter().map(|(at, _)| *at));
            points.push(end);
            let before = points[points.len() - 2];
            let from = match route.bends.is_empty() {
                true => (end.0, start.1),
                false => (end.0, f64::midpoint(before.1, end.1)),
            };
            let labels = stacked(&raw.labels, route.label_at().unwrap_or(start), true);
            edge(
                raw,
                drawing::flowing(&points),
                drawing::arrowhead(end, from),
                labels,
            )
        })
        .collect()
}

/// The start and end of each edge, spread over the top and bottom of the nodes in the order of the
/// other ends.
fn ports(
    raw: &RawTemplate,
    nodes: &[Node],
    between: &[usize],
    placed: &layered::Placed,
) -> Vec<(Point, Point)> {
    let mut ends: Vec<(usize, bool, f64, usize, bool)> = Vec::new();
    for (link, (i, route)) in between.iter().zip(&placed.links).enumerate() {
        let edge = &raw.edges[*i];
        for (node, near, start) in [
            (edge.source, route.bends.first(), true),
            (edge.target, route.bends.last(), false),
        ] {
            let near = near.map_or((0.0, 0.0), |(at, _)| *at);
            ends.push((node, near.1 > nodes[node].y, near.0, link, start));
        }
    }
    ends.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    let mut out = vec![((0.0, 0.0), (0.0, 0.0)); between.len()];
    for group in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        for (i, (node, below, _, link, start)) in group.iter().enumerate() {
            let node = &nodes[*node];
            let step = (node.width / (group.len() as f64 + 1.0)).min(24.0);
            let x = node.x + (i as f64 - (group.len() as f64 - 1.0) / 2.0) * step;
            let far = if *below { 1000.0 } else { -1000.0 };
            let port = side(node, x, far);
            if *start {
                out[*link].0 = port;
            } else {
                out[*link].1 = port;
            }
        }
    }
    out
}

/// Where the vertical line at `x` crosses the outline of the node.
fn side(node: &Node, x: f64, far: f64) -> Point {
    let radius = node.height.min(node.width) / 2.0;
    let straight = node.width / 2.0 - radius;
    let beyond = ((x - node.x).abs() - straight).max(0.0).min(radius);
    let depth = radius - (radius * radius - beyond * beyond).sqrt();
    (x, node.y + (node.height / 2.0 - depth) * far.signum())
}

// Common parts.

/// Moves the drawing to the origin and measures it.
fn finish(raw: RawTemplate, placed: bool, mut nodes: Vec<Node>, mut edges: Vec<Edge>) -> Template {
    let mut low = (f64::INFINITY, f64::INFINITY);
    let mut high = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let mut include = |x: f64, y: f64| {
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    };
    for n in &nodes {
        include(n.x - n.width / 2.0 - 4.0, n.y - n.height / 2.0 - 4.0);
        include(n.x + n.width / 2.0 + 4.0, n.y + n.height / 2.0 + 4.0);
    }
    let labels = nodes.iter().flat_map(|n| &n.labels);
    for l in labels.chain(edges.iter().flat_map(|e| &e.labels)) {
        let width = l.text.chars().count() as f64 * CHAR;
        let left = if l.centred { l.x - width / 2.0 } else { l.x };
        include(left, l.y - LINE);
        include(left + width, l.y + 4.0);
    }
    for e in &edges {
        for (x, y) in drawing::points(&e.path) {
            include(x, y);
        }
    }
    if nodes.is_empty() {
        include(0.0, 0.0);
    }
    let by = (MARGIN - low.0, MARGIN - low.1);
    for n in &mut nodes {
        (n.x, n.y) = (n.x + by.0, n.y + by.1);
    }
    let labels = nodes.iter_mut().flat_map(|n| &mut n.labels);
    for l in labels.chain(edges.iter_mut().flat_map(|e| &mut e.labels)) {
        (l.x, l.y) = (l.x + by.0, l.y + by.1);
    }
    for e in &mut edges {
        let moved = |(x, y): &mut Point| (*x, *y) = (*x + by.0, *y + by.1);
        e.nails.retain(|_| placed);
        e.nails.iter_mut().for_each(moved);
        e.path = drawing::moved(&e.path, by);
        e.arrow = drawing::moved(&e.arrow, by);
    }
    Template {
        name: raw.name,
        parameters: raw.parameters,
        line: raw.selection_range.start.line,
        range: raw.range,
        selection_range: raw.selection_range,
        offset: placed.then_some(Offset { x: by.0, y: by.1 }),
        width: (high.0 - low.0 + 2.0 * MARGIN).ceil(),
        height: (high.1 - low.1 + 2.0 * MARGIN).ceil(),
        nodes,
        edges,
    }
}
