//! Where to draw what has no place yet: locations on a grid, labels beside them, edges bent apart.

/// A point of the drawing.
pub(crate) type Point = (i32, i32);

/// Distances fit UPPAAL's own raster.
const STEP_X: i32 = 204;
pub(crate) const STEP_Y: i32 = 136;
/// The height of a line of text.
pub(crate) const LINE: i32 = 17;

/// The place of the `index`th of `count` locations.
pub(crate) fn grid(index: usize, count: usize) -> Point {
    let columns = (1..).find(|c| c * c >= count).unwrap_or(1);
    let (row, column) = ((index / columns) as i32, (index % columns) as i32);
    (column.saturating_mul(STEP_X), row.saturating_mul(STEP_Y))
}

/// Nails of the `nth` edge between two points (0 for the first): loops and parallel edges must not coincide.
pub(crate) fn nails(from: Point, to: Point, nth: usize) -> Vec<Point> {
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
    // Across the longer direction.
    if to.0.abs_diff(from.0) >= to.1.abs_diff(from.1) {
        vec![(x, y.saturating_add(off))]
    } else {
        vec![(x.saturating_add(off), y)]
    }
}

/// Where the labels of an edge begin.
pub(crate) fn label_place(from: Point, to: Point, nails: &[Point]) -> Point {
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
