//! The default layout for elements without coordinates: locations on a grid, labels next to them,
//! edges bent apart. It does not measure texts; the layout in `render` does.

use super::sketch::{EdgePlaces, NodePlaces, Places, Point, Sketch, SketchNode};
use crate::ast::Graphics;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The distances fit UPPAAL's grid.
const STEP_X: i32 = 204;
const STEP_Y: i32 = 136;
/// The height of a line of text.
const LINE: i32 = 17;

/// Computes places for all elements of a template.
pub(crate) fn on_a_grid(sketch: &Sketch) -> Places {
    let nodes = || sketch.locations.iter().chain(&sketch.branchpoints);
    let count = nodes().count();
    let origin = origin(nodes());
    let mut fresh = 0;
    let mut at: Vec<Point> = Vec::new();
    for node in nodes() {
        at.push(given(node).unwrap_or_else(|| {
            let (x, y) = grid(fresh, count);
            fresh += 1;
            (origin.0.saturating_add(x), origin.1.saturating_add(y))
        }));
    }
    let (locations, branchpoints) = at.split_at(sketch.locations.len());
    let named = |name: &SmolStr| {
        let found = nodes().position(|n| n.name == *name);
        found.and_then(|i| at.get(i)).copied().unwrap_or_default()
    };
    let mut pairs: FxHashMap<(SmolStr, SmolStr), usize> = FxHashMap::default();
    let edges = sketch.edges.iter().map(|edge| {
        let (a, b) = (edge.source.clone(), edge.target.clone());
        let (from, to) = (named(&a), named(&b));
        let mut nth = 0;
        if edge.graphics.is_none() {
            let seen = pairs.entry(if a <= b { (a, b) } else { (b, a) });
            let seen = seen.or_default();
            nth = *seen;
            *seen += 1;
        }
        let nails = nails(from, to, nth);
        let (x, y) = label_place(from, to, &nails);
        let label = |i: usize| (x.saturating_add(8), y.saturating_add(i as i32 * LINE));
        EdgePlaces {
            labels: (0..edge.labels.len()).map(label).collect(),
            nails,
        }
    });
    Places {
        edges: edges.collect(),
        locations: locations
            .iter()
            .zip(&sketch.locations)
            .map(|(at, node)| beside(*at, node.labels.len()))
            .collect(),
        branchpoints: branchpoints.to_vec(),
    }
}

/// Puts the name above and the labels below.
fn beside(at: Point, labels: usize) -> NodePlaces {
    let x = at.0.saturating_sub(10);
    let label = |i: usize| (x, at.1.saturating_add((i as i32 + 1) * LINE));
    NodePlaces {
        at,
        name: (x, at.1.saturating_sub(2 * LINE)),
        labels: (0..labels).map(label).collect(),
    }
}

/// The place given by a `//@ xml` line.
fn given(node: &SketchNode) -> Option<Point> {
    let number = |graphics: &Graphics, name: &str| {
        let found = graphics.attributes.iter().find(|(n, _)| n == name);
        found.and_then(|(_, value)| value.trim().parse::<i32>().ok())
    };
    let graphics = node.graphics.as_ref()?;
    Some((number(graphics, "x")?, number(graphics, "y")?))
}

/// A point below everything that has a place already.
fn origin<'a>(nodes: impl Iterator<Item = &'a SketchNode>) -> Point {
    let mut out: Option<Point> = None;
    for (x, y) in nodes.filter_map(given) {
        let y = y.saturating_add(STEP_Y);
        out = Some(out.map_or((x, y), |o| (o.0.min(x), o.1.max(y))));
    }
    out.unwrap_or_default()
}

/// The place of the `index`th of `count` locations.
fn grid(index: usize, count: usize) -> Point {
    let columns = (1..).find(|c| c * c >= count).unwrap_or(1);
    let (row, column) = ((index / columns) as i32, (index % columns) as i32);
    (column.saturating_mul(STEP_X), row.saturating_mul(STEP_Y))
}

/// The nails of the `nth` edge between two points, counted from 0. Loops and parallel edges must
/// not coincide.
fn nails(from: Point, to: Point, nth: usize) -> Vec<Point> {
    let off = (nth as i32).saturating_mul(2 * LINE);
    if from == to {
        let (x, y) = from;
        let reach = off.saturating_add(3 * LINE);
        let above = y.saturating_sub(reach);
        return vec![
            (x.saturating_sub(reach / 2), above),
            (x.saturating_add(reach / 2), above),
        ];
    }
    if nth == 0 {
        return Vec::new();
    }
    let (x, y) = middle(from, to);
    // The nail is displaced at right angles to the longer direction.
    if to.0.abs_diff(from.0) >= to.1.abs_diff(from.1) {
        vec![(x, y.saturating_add(off))]
    } else {
        vec![(x.saturating_add(off), y)]
    }
}

/// The position of the first label of an edge.
fn label_place(from: Point, to: Point, nails: &[Point]) -> Point {
    match nails {
        [] => middle(from, to),
        [one] => *one,
        [first, second, ..] => middle(*first, *second),
    }
}

fn middle(a: Point, b: Point) -> Point {
    (
        a.0.saturating_add(b.0.saturating_sub(a.0) / 2),
        a.1.saturating_add(b.1.saturating_sub(a.1) / 2),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_differ() {
        let places: Vec<_> = (0..10).map(|i| grid(i, 10)).collect();
        for (i, a) in places.iter().enumerate() {
            assert!(!places[..i].contains(a), "{places:?}");
        }
        assert_ne!(nails((0, 0), (0, 0), 0), nails((0, 0), (0, 0), 1));
        assert_ne!(nails((0, 0), (204, 0), 1), nails((0, 0), (204, 0), 0));
    }
}
