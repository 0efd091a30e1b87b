//! Lines between shapes: where they leave a node, how they bend, and their arrowheads.

/// A point of the picture.
pub(crate) type Point = (f64, f64);

/// The outline of a node: a rectangle whose short sides are half circles; a circle if width and
/// height are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// Its centre.
    pub centre: Point,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

impl Outline {
    fn holds(&self, (x, y): Point) -> bool {
        let radius = self.height.min(self.width) / 2.0;
        let reach_x = (self.width / 2.0 - radius).max(0.0);
        let reach_y = (self.height / 2.0 - radius).max(0.0);
        let dx = ((x - self.centre.0).abs() - reach_x).max(0.0);
        let dy = ((y - self.centre.1).abs() - reach_y).max(0.0);
        dx.hypot(dy) < radius
    }

    /// Where the line from the centre to `to` crosses the outline; the centre if `to` is inside.
    pub(crate) fn border_towards(&self, to: Point) -> Point {
        if self.holds(to) {
            return self.centre;
        }
        let at = |t: f64| {
            let (x, y) = self.centre;
            (x + (to.0 - x) * t, y + (to.1 - y) * t)
        };
        let (mut inside, mut outside) = (0.0, 1.0);
        for _ in 0..24 {
            let middle = f64::midpoint(inside, outside);
            if self.holds(at(middle)) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        at(outside)
    }
}

/// A number formatted for SVG; one decimal is finer than a screen resolves.
pub(crate) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Avoids "-0".
    format!("{}", rounded + 0.0)
}

fn pair((x, y): Point) -> String {
    format!("{} {}", number(x), number(y))
}

/// A line through `points` with sharp corners, as UPPAAL draws nails.
pub(crate) fn straight(points: &[Point]) -> String {
    let mut out = String::new();
    for (i, point) in points.iter().enumerate() {
        out.push_str(if i == 0 { "M" } else { " L" });
        out.push_str(&pair(*point));
    }
    out
}

/// A curve through `points` that is vertical at each of them, so that it never bends back between
/// layers.
pub(crate) fn flowing(points: &[Point]) -> String {
    let Some(first) = points.first() else {
        return String::new();
    };
    let mut out = format!("M{}", pair(*first));
    for window in points.windows(2) {
        let [a, b] = window else { continue };
        let middle = f64::midpoint(a.1, b.1);
        out.push_str(&format!(
            " C{}, {}, {}",
            pair((a.0, middle)),
            pair((b.0, middle)),
            pair(*b)
        ));
    }
    out
}

/// A loop at the right of a node, with the given `height`.
pub(crate) fn ear(at: Point, height: f64) -> String {
    let (x, y) = at;
    let half = height / 2.0;
    format!(
        "M{} C{}, {}, {}",
        pair((x, y - half)),
        pair((x + 40.0, y - half - 12.0)),
        pair((x + 40.0, y + half + 12.0)),
        pair((x, y + half))
    )
}

/// The arrowhead at `tip` for a line that comes from `from`, as the points of a polygon.
pub(crate) fn arrowhead(tip: Point, from: Point) -> String {
    let (dx, dy) = (tip.0 - from.0, tip.1 - from.1);
    let length = dx.hypot(dy).max(1e-6);
    let (ux, uy) = (dx / length, dy / length);
    let back = (tip.0 - 10.0 * ux, tip.1 - 10.0 * uy);
    let left = (back.0 - 4.0 * uy, back.1 + 4.0 * ux);
    let right = (back.0 + 4.0 * uy, back.1 - 4.0 * ux);
    let point = |(x, y): Point| format!("{},{}", number(x), number(y));
    format!("{} {} {}", point(tip), point(left), point(right))
}

/// The points of path data or of a polygon, as written by this module.
pub(crate) fn points(path: &str) -> Vec<Point> {
    let numbers: Vec<f64> = path
        .split(|c: char| !(c.is_ascii_digit() || c == '-' || c == '.'))
        .filter_map(|n| n.parse().ok())
        .collect();
    numbers
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

/// The same path or polygon, moved by `by`.
pub(crate) fn moved(path: &str, by: Point) -> String {
    let mut out = String::with_capacity(path.len());
    let mut digits = String::new();
    let mut horizontal = true;
    // The added blank ends the last number.
    for c in path.chars().chain(std::iter::once(' ')) {
        if c.is_ascii_digit() || c == '-' || c == '.' {
            digits.push(c);
            continue;
        }
        if let Ok(value) = digits.parse::<f64>() {
            out.push_str(&number(value + if horizontal { by.0 } else { by.1 }));
            horizontal = !horizontal;
        }
        digits.clear();
        out.push(c);
    }
    out.pop();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_outline() {
        let pill = Outline {
            centre: (0.0, 0.0),
            width: 60.0,
            height: 20.0,
        };
        let close = |a: Point, b: Point| (a.0 - b.0).hypot(a.1 - b.1) < 0.01;
        assert!(close(pill.border_towards((100.0, 0.0)), (30.0, 0.0)));
        assert!(close(pill.border_towards((0.0, -100.0)), (0.0, -10.0)));
        assert!(close(pill.border_towards((1.0, 1.0)), (0.0, 0.0)));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1.0 / 3.0), "0.3");
        assert_eq!(number(-0.01), "0");
        assert_eq!(moved("M0 1 L2.5 -3", (1.0, 2.0)), "M1 3 L3.5 -1");
        assert_eq!(points("M0 1 L2.5 -3"), [(0.0, 1.0), (2.5, -3.0)]);
        assert_eq!(straight(&[(0.0, 1.0), (2.5, 3.0)]), "M0 1 L2.5 3");
    }
}
