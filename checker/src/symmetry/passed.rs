//! What a search hands over of a path through representatives.

use super::permutation::Permutation;
use crate::zone::Zone;

/// A representative on a path, and how the path goes on.
pub struct Passed {
    /// Its discrete part.
    pub state: Vec<i32>,
    /// Its zone.
    pub zone: Zone,
    /// The permutation that made it.
    pub permutation: Permutation,
    /// Position among its steps of the one taken; none at the end.
    pub step: Option<u32>,
}
