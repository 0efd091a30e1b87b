//! Where texts go that nobody placed.

use crate::convert::Point;

/// The height of a line of text in UPPAAL.
pub(super) const LINE: i32 = 17;

/// The place of a name above a location.
pub(super) fn above((x, y): Point) -> Point {
    (x - 10, y - 2 * LINE)
}

/// The place of the first label below a location.
pub(super) fn below((x, y): Point) -> Point {
    (x - 10, y + LINE)
}
