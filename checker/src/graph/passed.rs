//! What a search hands over of the path to a state.

use crate::zone::Zone;

/// A state on a path, and how the path goes on.
pub struct Passed<M> {
    /// Its discrete part.
    pub state: Vec<i32>,
    /// Its zone.
    pub zone: Zone,
    /// How it was moved; `None` if states are stored as they are.
    pub moved_by: Option<M>,
    /// Position among its steps of the one taken; none at the end.
    pub step: Option<u32>,
}

/// The path to a state, as the search that found it knows it.
pub enum Route<M> {
    /// Positions of the steps among those of each state: states were stored as they are.
    Steps(Vec<u32>),
    /// The states on the way: they were moved.
    Moved(Vec<Passed<M>>),
}
