//! Removes unnecessary corners: those for which the straight line past them touches no text and no
//! location.

use super::{Block, CIRCLE, EAR, Footprint, GAP, LINE, Route};
use crate::drawing::Point;
use crate::layered::{Link, Size};

/// The minimum distance between a line and other parts of the drawing.
const DISTANCE: f64 = 4.0;

/// The areas that lines must avoid.
pub(super) struct Taken {
    /// The rectangles of texts, and those of locations with their indices.
    boxes: Vec<(Rectangle, Option<usize>)>,
}

struct Rectangle {
    low: Point,
    high: Point,
}

impl Rectangle {
    fn new((x, y): Point, size: Size) -> Rectangle {
        Rectangle {
            low: (x - DISTANCE, y - DISTANCE),
            high: (x + size.width + DISTANCE, y + size.height + DISTANCE),
        }
    }

    /// Whether the segment from `a` to `b` intersects the rectangle.
    fn cut_by(&self, a: Point, b: Point) -> bool {
        let mut inside = (0.0_f64, 1.0_f64);
        for (from, to, low, high) in [
            (a.0, b.0, self.low.0, self.high.0),
            (a.1, b.1, self.low.1, self.high.1),
        ] {
            let by = to - from;
            if by.abs() < 1e-9 {
                if from <= low || from >= high {
                    return false;
                }
                continue;
            }
            let (enter, leave) = ((low - from) / by, (high - from) / by);
            inside.0 = inside.0.max(enter.min(leave));
            inside.1 = inside.1.min(enter.max(leave));
        }
        inside.0 < inside.1
    }
}

/// Collects everything drawn except lines: locations with their texts and loops, and labels of
/// edges.
pub(super) fn taken(
    nodes: impl Iterator<Item = (Point, Size)>,
    prints: &[Footprint],
    routes: &[Route],
    between: &[(usize, (usize, usize), Block)],
) -> Taken {
    let mut boxes = Vec::new();
    for (i, (((x, y), texts), print)) in nodes.zip(prints).enumerate() {
        let circle = Size {
            width: CIRCLE,
            height: CIRCLE,
        };
        let half = CIRCLE / 2.0;
        boxes.push((Rectangle::new((x - half, y - half), circle), Some(i)));
        let corner = (x + half + GAP, y - texts.height / 2.0);
        boxes.push((Rectangle::new(corner, texts), None));
        let left = print.left - half;
        if left > 0.0 {
            // The loops and their labels, from the tips of the loops on.
            let size = Size {
                width: left - EAR / 2.0,
                height: print.height.max(LINE),
            };
            let corner = (x - print.left, y - size.height / 2.0);
            boxes.push((Rectangle::new(corner, size), None));
        }
    }
    for (route, (_, _, labels)) in routes.iter().zip(between) {
        let (x, y) = route.label;
        // A line may run as close to a label as the label's own line does.
        let corner = (x + DISTANCE, y - labels.size.height / 2.0);
        let size = Size {
            width: labels.size.width - DISTANCE,
            height: labels.size.height,
        };
        if size.width > 0.0 {
            boxes.push((Rectangle::new(corner, size), None));
        }
    }
    Taken { boxes }
}

/// Removes corners, except those next to the labels.
pub(super) fn straighten(route: &mut Route, link: &Link, taken: &Taken) {
    let last = route.points.len().saturating_sub(1);
    let free = |a: Point, b: Point| {
        let own = |node: &Option<usize>| *node == Some(link.source) || *node == Some(link.target);
        let mut others = taken.boxes.iter().filter(|(_, node)| !own(node));
        !others.any(|(r, _)| r.cut_by(a, b))
    };
    let mut kept = vec![0];
    let mut here = 0;
    while here < last {
        // Corners next to the labels are kept.
        let stop = match (here < *route.beside.start(), here < *route.beside.end()) {
            (true, _) => *route.beside.start(),
            (_, true) => *route.beside.end(),
            _ => last,
        };
        let reach = (here + 2..=stop).rev();
        let mut shortcuts = reach.filter(|to| free(route.points[here], route.points[*to]));
        here = shortcuts.next().unwrap_or(here + 1);
        kept.push(here);
    }
    route.points = kept.into_iter().map(|i| route.points[i]).collect();
}
