//! Coordinates for templates of which some parts have coordinates: those stay, the others are put
//! where there is room.

use super::{Block, CIRCLE, EAR, EAR_HEIGHT, GAP, LINE, Template, block, extent, whole};
use crate::diagram::read;
use crate::drawing::Point;
use crate::layered::Size;
use zonelens_syntax::ast::Graphics;
use zonelens_syntax::convert::{self, EdgePlaces, NodePlaces, Places};

/// The number of rings around the best position that are tried before a label goes below
/// everything.
const RINGS: usize = 40;

/// An occupied rectangle.
#[derive(Clone, Copy)]
struct Box {
    left: f64,
    top: f64,
    size: Size,
}

impl Box {
    fn circle((x, y): Point) -> Box {
        Box {
            left: x - CIRCLE / 2.0,
            top: y - CIRCLE / 2.0,
            size: Size {
                width: CIRCLE,
                height: CIRCLE,
            },
        }
    }

    fn meets(&self, other: &Box) -> bool {
        self.left < other.left + other.size.width
            && other.left < self.left + self.size.width
            && self.top < other.top + other.size.height
            && other.top < self.top + self.size.height
    }
}

/// The occupied rectangles.
#[derive(Default)]
struct Room {
    boxes: Vec<Box>,
}

impl Room {
    fn take(&mut self, (left, top): Point, size: Size) {
        self.boxes.push(Box { left, top, size });
    }

    fn bottom(&self) -> f64 {
        let bottoms = self.boxes.iter().map(|b| b.top + b.size.height);
        bottoms.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Finds the free position nearest to `wanted` and marks it as occupied.
    fn find(&mut self, wanted: Point, size: Size) -> Point {
        let free = |at: &Point| {
            let margin = Box {
                left: at.0 - 2.0,
                top: at.1 - 1.0,
                size: Size {
                    width: size.width + 4.0,
                    height: size.height + 2.0,
                },
            };
            !self.boxes.iter().any(|b| b.meets(&margin))
        };
        let around = (0..RINGS).flat_map(|ring| {
            let (x, y) = (ring as f64 * 14.0, ring as f64 * LINE / 2.0);
            [
                (0.0, y),
                (0.0, -y),
                (x, 0.0),
                (-x, 0.0),
                (x, y),
                (-x, y),
                (x, -y),
                (-x, -y),
            ]
        });
        let mut tried = around.map(|(dx, dy)| (wanted.0 + dx, wanted.1 + dy));
        let at = tried.find(free).unwrap_or((wanted.0, self.bottom() + LINE));
        self.take(at, size);
        at
    }
}

/// Computes coordinates for a template that has some.
pub(super) fn beside(template: &Template) -> Places {
    let mut room = Room::default();
    let at = centres(template, &mut room);
    keep_labels(template, &mut room);
    let nodes: Vec<NodePlaces> = (0..template.nodes.len())
        .map(|i| node(template, i, at[i], &mut room))
        .collect();
    let edges = edges(template, &at, &mut room);
    let count = template.sketch.locations.len();
    Places {
        locations: nodes[..count].to_vec(),
        branchpoints: at[count..].iter().copied().map(whole).collect(),
        edges,
    }
}

/// The given centres; the other nodes are put in a row below.
fn centres(template: &Template, room: &mut Room) -> Vec<Point> {
    let given = |i: usize| read::place(template.nodes[i].graphics.as_ref());
    let all: Vec<Option<Point>> = (0..template.nodes.len()).map(given).collect();
    for place in all.iter().flatten() {
        room.boxes.push(Box::circle(*place));
    }
    let left = all
        .iter()
        .flatten()
        .map(|p| p.0)
        .fold(f64::INFINITY, f64::min);
    let mut x = left;
    let y = room.bottom() + 2.0 * CIRCLE + 2.0 * LINE;
    let mut out = Vec::new();
    for (i, place) in all.into_iter().enumerate() {
        out.push(place.unwrap_or_else(|| {
            let here = (x, y);
            room.boxes.push(Box::circle(here));
            x += 3.0 * CIRCLE + template.texts(i).size.width;
            here
        }));
    }
    out
}

/// Marks the space of texts that have coordinates as occupied.
fn keep_labels(template: &Template, room: &mut Room) {
    for (i, node) in template.nodes.iter().enumerate() {
        if let Some(at) = name_place(node.graphics.as_ref()).filter(|_| template.is_location(i)) {
            room.take(at, extent(&node.name));
        }
        for (kind, text) in &node.labels {
            if let Some(at) = label_place(node.graphics.as_ref(), kind) {
                room.take(at, extent(text));
            }
        }
    }
    for edge in &template.sketch.edges {
        for (kind, text) in &edge.labels {
            if let Some(at) = label_place(edge.graphics.as_ref(), kind) {
                room.take(at, extent(text));
            }
        }
    }
}

fn name_place(graphics: Option<&Graphics>) -> Option<Point> {
    read::child_place(graphics, "name", None)
}

fn label_place(graphics: Option<&Graphics>, kind: &str) -> Option<Point> {
    read::child_place(graphics, "label", Some(kind))
}

fn node(template: &Template, i: usize, (x, y): Point, room: &mut Room) -> NodePlaces {
    let node = template.nodes[i];
    let mut out = NodePlaces {
        at: whole((x, y)),
        ..NodePlaces::default()
    };
    if !template.is_location(i) {
        return out;
    }
    let wanted = |row: f64| (x + CIRCLE / 2.0 + GAP, y - LINE / 2.0 + row * LINE);
    // A location that has a `//@ xml` line without a name is drawn without one.
    if node.graphics.is_none() {
        out.name = whole(room.find(wanted(0.0), extent(&node.name)));
    }
    for (row, (kind, text)) in node.labels.iter().enumerate() {
        let place = label_place(node.graphics.as_ref(), kind)
            .unwrap_or_else(|| room.find(wanted(row as f64 + 1.0), extent(text)));
        out.labels.push(whole(place));
    }
    out
}

fn edges(template: &Template, at: &[Point], room: &mut Room) -> Vec<EdgePlaces> {
    let mut drawn: Vec<(usize, usize)> = Vec::new();
    let mut out = Vec::new();
    for (edge, ends) in template.sketch.edges.iter().zip(&template.edges) {
        let Some((source, target)) = *ends else {
            out.push(EdgePlaces::default());
            continue;
        };
        let (from, to) = (at[source], at[target]);
        let own: Vec<Point> = edge.graphics.as_ref().map_or_else(Vec::new, |g| {
            let nails = g.children.iter().filter(|c| c.tag == "nail");
            nails.filter_map(|c| read::point(&c.attributes)).collect()
        });
        let pair = (source.min(target), source.max(target));
        let nth = drawn.iter().filter(|p| **p == pair).count();
        drawn.push(pair);
        let nails = match edge.graphics {
            Some(_) => own,
            None => nails(from, to, nth),
        };
        let start = match nails.as_slice() {
            [] => (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1)),
            all => all[all.len() / 2],
        };
        let labels = labels(&edge.labels, edge.graphics.as_ref(), start, room);
        out.push(EdgePlaces {
            nails: nails.into_iter().map(whole).collect(),
            labels,
        });
    }
    out
}

/// Labels without coordinates stay together.
fn labels(
    all: &[(&'static str, String)],
    graphics: Option<&Graphics>,
    start: Point,
    room: &mut Room,
) -> Vec<convert::Point> {
    let given: Vec<Option<Point>> = all
        .iter()
        .map(|(kind, _)| label_place(graphics, kind))
        .collect();
    let free = all.iter().zip(&given).filter(|(_, place)| place.is_none());
    let together: Block = block(free.map(|((_, text), _)| text.as_str()));
    let corner = match together.tops.is_empty() {
        true => start,
        false => room.find((start.0 + GAP, start.1 - LINE / 2.0), together.size),
    };
    let mut fresh = together.at(corner).into_iter();
    given
        .into_iter()
        .map(|place| match place {
            Some(place) => whole(place),
            None => fresh.next().unwrap_or_default(),
        })
        .collect()
}

/// The nails of the `nth` edge between two positions: loops and parallel edges must not coincide.
fn nails(from: Point, to: Point, nth: usize) -> Vec<Point> {
    let off = nth as f64 * 2.0 * LINE;
    if from == to {
        let far = from.0 - CIRCLE / 2.0 - EAR - off;
        return vec![
            (far, from.1 - EAR_HEIGHT / 2.0),
            (far, from.1 + EAR_HEIGHT / 2.0),
        ];
    }
    if nth == 0 {
        return Vec::new();
    }
    let (x, y) = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
    // The nail is displaced at right angles to the longer direction.
    if (to.0 - from.0).abs() >= (to.1 - from.1).abs() {
        vec![(x, y + off)]
    } else {
        vec![(x + off, y)]
    }
}
