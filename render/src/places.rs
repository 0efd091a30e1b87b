//! Coordinates for elements of an XML file that have none, as UPPAAL and [`crate::diagram`] draw
//! them.
//!
//! There, locations are circles with their texts outside. A template without any coordinates gets
//! the same layered layout as a diagram; no label covers another label or a location, and no line
//! crosses a label. If some elements have coordinates, they keep them, and the rest is put where
//! there is room.
//!
//! Text is measured as 7.3 per character and 17 per line. UPPAAL's font is narrower; the font of
//! the diagrams is as wide and lower. Distances that are sufficient by this measure are therefore
//! sufficient in both.

mod beside;
mod straighten;

use crate::diagram::arrange::MAX_LAYERED;
use crate::diagram::read;
use crate::drawing::Point;
use crate::layered::{self, Link, Placed, Size};
use crate::text::{self, CHAR};
use zonelens_syntax::convert::{self, EdgePlaces, NodePlaces, Places, Sketch, SketchNode};

/// Height of a line of text.
const LINE: f64 = 17.0;
/// Diameter of a location; a branchpoint is smaller.
const CIRCLE: f64 = 34.0;
/// Distance between a location and the texts next to it, and between a line and its labels.
const GAP: f64 = 6.0;
/// How far a loop extends from its location, and the distance between its ends.
const EAR: f64 = 24.0;
const EAR_HEIGHT: f64 = 20.0;
/// The number of characters that a tab in a label counts for.
const TAB: usize = 8;

/// Computes coordinates for all parts of a template. Parts with coordinates in the sketch keep
/// them.
pub fn places(sketch: &Sketch) -> Places {
    let nodes: Vec<&SketchNode> = sketch
        .locations
        .iter()
        .chain(&sketch.branchpoints)
        .collect();
    let edges = edges(sketch, &nodes);
    let template = Template {
        sketch,
        nodes,
        edges,
    };
    let placed = template
        .nodes
        .iter()
        .any(|n| read::place(n.graphics.as_ref()).is_some());
    if placed {
        beside::beside(&template)
    } else if template.nodes.len() + template.edges.len() > MAX_LAYERED {
        in_cells(&template)
    } else {
        layers(&template)
    }
}

/// A sketch whose edges are resolved to node indices.
struct Template<'a> {
    sketch: &'a Sketch,
    /// Locations, then branchpoints.
    nodes: Vec<&'a SketchNode>,
    /// Source and target of each edge; `None` if there is no such location.
    edges: Vec<Option<(usize, usize)>>,
}

fn edges(sketch: &Sketch, nodes: &[&SketchNode]) -> Vec<Option<(usize, usize)>> {
    let find = |name: &str| nodes.iter().position(|n| n.name == name);
    let ends = |e: &convert::SketchEdge| Some((find(&e.source)?, find(&e.target)?));
    sketch.edges.iter().map(ends).collect()
}

/// The size of a label that fits both its written form and its one-line form in a diagram.
fn extent(text: &str) -> Size {
    let wide = |line: &str| -> usize {
        let columns = line.chars().map(|c| if c == '\t' { TAB } else { 1 });
        columns.sum()
    };
    let lines = text.lines().count().max(1);
    let longest = text.lines().map(wide).max().unwrap_or(0);
    let shown = text::label(text).chars().count();
    Size {
        width: longest.max(shown) as f64 * CHAR,
        height: lines as f64 * LINE,
    }
}

/// Texts stacked vertically.
struct Block {
    size: Size,
    /// The top of each text relative to the top of the block.
    tops: Vec<f64>,
}

fn block<'a>(texts: impl IntoIterator<Item = &'a str>) -> Block {
    let mut out = Block {
        size: Size {
            width: 0.0,
            height: 0.0,
        },
        tops: Vec::new(),
    };
    for text in texts {
        let size = extent(text);
        out.tops.push(out.size.height);
        out.size.width = out.size.width.max(size.width);
        out.size.height += size.height;
    }
    out
}

impl Block {
    /// The position of each text if the block is at `at`.
    fn at(&self, at: Point) -> Vec<convert::Point> {
        let place = |top: &f64| whole((at.0, at.1 + top));
        self.tops.iter().map(place).collect()
    }
}

/// Rounds to the whole numbers that XML uses.
fn whole((x, y): Point) -> convert::Point {
    (x.round() as i32, y.round() as i32)
}

impl Template<'_> {
    fn is_location(&self, node: usize) -> bool {
        node < self.sketch.locations.len()
    }

    /// The name and labels of a location, as one block.
    fn texts(&self, node: usize) -> Block {
        let own = self.nodes[node];
        let labels = own.labels.iter().map(|(_, text)| text.as_str());
        let name = self.is_location(node).then_some(own.name.as_str());
        block(name.into_iter().chain(labels))
    }

    fn labels(&self, edge: usize) -> Block {
        let labels = &self.sketch.edges[edge].labels;
        block(labels.iter().map(|(_, text)| text.as_str()))
    }

    /// The loops of a node.
    fn loops(&self, node: usize) -> Vec<usize> {
        let own = |i: &usize| self.edges[*i] == Some((node, node));
        (0..self.edges.len()).filter(own).collect()
    }

    /// Splits the positions of all nodes into those of locations and branchpoints.
    fn collect(&self, at: &[Point], edges: Vec<EdgePlaces>) -> Places {
        let location = |i: usize| {
            let texts = self.texts(i);
            let (x, y) = at[i];
            let corner = (x + CIRCLE / 2.0 + GAP, y - texts.size.height / 2.0);
            let mut places = texts.at(corner).into_iter();
            NodePlaces {
                at: whole(at[i]),
                name: places.next().unwrap_or_default(),
                labels: places.collect(),
            }
        };
        let count = self.sketch.locations.len();
        Places {
            locations: (0..count).map(location).collect(),
            branchpoints: at[count..].iter().copied().map(whole).collect(),
            edges,
        }
    }
}

/// The space that a node needs to the left of its centre, for loops, and to the right, for texts.
struct Footprint {
    left: f64,
    right: f64,
    height: f64,
    loops: Vec<(usize, Block)>,
}

/// The height of a loop including its labels.
fn loop_height(labels: &Block) -> f64 {
    labels.size.height.max(EAR_HEIGHT) + GAP
}

fn footprint(template: &Template, node: usize) -> Footprint {
    let texts = template.texts(node).size;
    let loops: Vec<(usize, Block)> = template
        .loops(node)
        .into_iter()
        .map(|e| (e, template.labels(e)))
        .collect();
    let wide = loops.iter().map(|(_, b)| b.size.width).fold(0.0, f64::max);
    let left = match loops.is_empty() {
        true => 0.0,
        false => EAR + GAP + wide,
    };
    let high: f64 = loops.iter().map(|(_, b)| loop_height(b)).sum();
    Footprint {
        left: CIRCLE / 2.0 + left,
        right: CIRCLE / 2.0 + GAP + texts.width,
        height: CIRCLE.max(texts.height).max(high),
        loops,
    }
}

// Layers.

fn layers(template: &Template) -> Places {
    let prints: Vec<Footprint> = (0..template.nodes.len())
        .map(|i| footprint(template, i))
        .collect();
    let sizes: Vec<Size> = prints
        .iter()
        .map(|p| Size {
            width: p.left + p.right,
            height: p.height,
        })
        .collect();
    let between: Vec<(usize, (usize, usize), Block)> = template
        .edges
        .iter()
        .enumerate()
        .filter_map(|(i, ends)| Some((i, (*ends)?)))
        .filter(|(_, (source, target))| source != target)
        .map(|(i, ends)| (i, ends, template.labels(i)))
        .collect();
    let links: Vec<Link> = between
        .iter()
        .map(|(_, (source, target), labels)| Link {
            source: *source,
            target: *target,
            label: Size {
                width: labels.size.width + 2.0 * GAP,
                height: labels.size.height,
            },
        })
        .collect();
    let root = template.nodes.iter().position(|n| n.initial).unwrap_or(0);
    let placed = layered::place(&sizes, &links, root);
    let at: Vec<Point> = placed
        .nodes
        .iter()
        .zip(&prints)
        .map(|((x, y), p)| (x + (p.left - p.right) / 2.0, *y))
        .collect();
    let ports = ports(&links, &placed, &at);
    let mut routes: Vec<Route> = (0..links.len())
        .map(|i| routed(&placed, i, &links[i], &at, ports[i]))
        .collect();
    if links.len() <= MAX_STRAIGHTENED {
        let texts = |i: usize| template.texts(i).size;
        let nodes = at.iter().enumerate().map(|(i, at)| (*at, texts(i)));
        let taken = straighten::taken(nodes, &prints, &routes, &between);
        for (route, link) in routes.iter_mut().zip(&links) {
            straighten::straighten(route, link, &taken);
        }
    }
    let mut edges = vec![EdgePlaces::default(); template.edges.len()];
    for (route, (edge, _, labels)) in routes.iter().zip(&between) {
        edges[*edge] = EdgePlaces {
            nails: needed(&route.points).into_iter().map(whole).collect(),
            labels: labels.at((route.label.0, route.label.1 - labels.size.height / 2.0)),
        };
    }
    for (node, print) in prints.iter().enumerate() {
        ears(at[node], print, &mut edges);
    }
    template.collect(&at, edges)
}

/// With more edges, removing corners takes too long.
const MAX_STRAIGHTENED: usize = 200;

/// The line of an edge.
struct Route {
    /// The points from the centre of the source to the centre of the target.
    points: Vec<Point>,
    /// The indices of the points at the upper and the lower end of its labels.
    beside: std::ops::RangeInclusive<usize>,
    /// The middle of the left side of its labels.
    label: Point,
}

/// Places the loops to the left of a location, stacked vertically, with their labels further left.
fn ears((x, y): Point, print: &Footprint, edges: &mut [EdgePlaces]) {
    let high: f64 = print.loops.iter().map(|(_, b)| loop_height(b)).sum();
    let mut top = y - high / 2.0;
    for (edge, labels) in &print.loops {
        let height = loop_height(labels);
        let middle = top + height / 2.0;
        top += height;
        let far = x - CIRCLE / 2.0 - EAR;
        let corner = (
            far - GAP - labels.size.width,
            middle - labels.size.height / 2.0,
        );
        edges[*edge] = EdgePlaces {
            nails: vec![
                whole((far, middle - EAR_HEIGHT / 2.0)),
                whole((far, middle + EAR_HEIGHT / 2.0)),
            ],
            labels: labels.at(corner),
        };
    }
}

/// The horizontal offsets at which each link leaves its source and enters its target, in the order
/// of the other ends.
fn ports(links: &[Link], placed: &Placed, at: &[Point]) -> Vec<(f64, f64)> {
    let mut ends: Vec<(usize, bool, f64, usize, bool)> = Vec::new();
    for (i, (link, route)) in links.iter().zip(&placed.links).enumerate() {
        for (node, near, start) in [
            (link.source, route.bends.first(), true),
            (link.target, route.bends.last(), false),
        ] {
            let (x, y) = near.map_or(at[node], |(at, _)| *at);
            ends.push((node, y > at[node].1, x, i, start));
        }
    }
    ends.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    let mut out = vec![(0.0, 0.0); links.len()];
    for group in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let step = (CIRCLE / (group.len() as f64 + 1.0)).min(12.0);
        for (nth, (_, _, _, link, start)) in group.iter().enumerate() {
            let off = (nth as f64 - (group.len() as f64 - 1.0) / 2.0) * step;
            match start {
                true => out[*link].0 = off,
                false => out[*link].1 = off,
            }
        }
    }
    out
}

/// The distance from a layer at which a line turns towards a location in it: an arrowhead needs
/// some room.
const TURN: f64 = 9.0;

/// Routes a link through the layers: vertical within each layer, where labels and locations are,
/// and slanting only between two layers, where nothing else is.
fn routed(placed: &Placed, index: usize, link: &Link, at: &[Point], ports: (f64, f64)) -> Route {
    let route = &placed.links[index];
    let down = at[link.source].1 < at[link.target].1;
    let edge_of = |row: usize, far: bool| {
        let (top, bottom) = placed.rows[row];
        if far == down { bottom } else { top }
    };
    let turn = if down { TURN } else { -TURN };
    let (source, target) = (link.source, link.target);
    let mut points = vec![
        at[source],
        (
            at[source].0 + ports.0,
            edge_of(placed.layers[source], true) + turn,
        ),
    ];
    let mut beside = 0..=0;
    let mut label = at[source];
    for (i, ((x, y), row)) in route.bends.iter().enumerate() {
        let mut x = *x;
        if i == route.label {
            // The line runs to the left of its labels.
            x += 2.0 - link.label.width / 2.0;
            label = (x + GAP, *y);
            beside = points.len()..=points.len() + 1;
        }
        points.push((x, edge_of(*row, false)));
        points.push((x, edge_of(*row, true)));
    }
    points.push((
        at[target].0 + ports.1,
        edge_of(placed.layers[target], false) - turn,
    ));
    points.push(at[target]);
    Route {
        points,
        beside,
        label,
    }
}

/// The inner points of a line, without those on a straight line between their neighbours.
fn needed(points: &[Point]) -> Vec<Point> {
    let Some((first, rest)) = points.split_first() else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut last = *first;
    for pair in rest.windows(2) {
        let [here, next] = pair else { continue };
        let (dx, dy) = (next.0 - last.0, next.1 - last.1);
        let length = dx.hypot(dy).max(1e-6);
        let away = ((here.0 - last.0) * dy - (here.1 - last.1) * dx).abs() / length;
        if away > 1.0 {
            out.push(*here);
            last = *here;
        }
    }
    out
}

// Cells.

/// The layout of a template that is too large for layers: every location is in a separate cell,
/// with the labels of its outgoing edges below it.
fn in_cells(template: &Template) -> Places {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); template.nodes.len()];
    for (i, ends) in template.edges.iter().enumerate() {
        if let Some((source, _)) = ends {
            leaving[*source].push(i);
        }
    }
    let texts: Vec<Size> = (0..template.nodes.len())
        .map(|i| template.texts(i).size)
        .collect();
    let blocks: Vec<Block> = (0..template.edges.len())
        .map(|i| template.labels(i))
        .collect();
    let cell = |i: usize| {
        let below = leaving[i].iter().map(|e| blocks[*e].size);
        let wide = below.clone().map(|s| s.width).fold(0.0, f64::max);
        let high: f64 = below.map(|s| s.height + GAP).sum();
        let own = CIRCLE + GAP + texts[i].width;
        (own.max(wide), CIRCLE.max(texts[i].height) + GAP + high)
    };
    let cells: Vec<(f64, f64)> = (0..template.nodes.len()).map(cell).collect();
    let columns = (cells.len() as f64).sqrt().ceil().max(1.0) as usize;
    let width = cells.iter().map(|c| c.0).fold(0.0, f64::max) + 2.0 * CIRCLE;
    let mut at = Vec::new();
    let mut edges = vec![EdgePlaces::default(); template.edges.len()];
    let mut top = 0.0;
    for (row, part) in cells.chunks(columns).enumerate() {
        for column in 0..part.len() {
            let i = row * columns + column;
            let left = column as f64 * width;
            let high = CIRCLE.max(texts[i].height);
            at.push((left + CIRCLE / 2.0, top + high / 2.0));
            let mut y = top + high + GAP;
            for edge in &leaving[i] {
                edges[*edge].labels = blocks[*edge].at((left, y));
                y += blocks[*edge].size.height + GAP;
            }
        }
        top += part.iter().map(|c| c.1).fold(0.0, f64::max) + 2.0 * CIRCLE;
    }
    template.collect(&at, edges)
}

#[cfg(test)]
mod tests;
