//! The path to a state, as a search returns it.

use crate::zone::Zone;

/// A state on a path, and the step that the path takes from it.
pub(crate) struct Passed<M> {
    /// Its discrete part.
    pub state: Vec<i32>,
    /// Its zone.
    pub zone: Zone,
    /// The permutation that was applied to it; `None` if states are stored unchanged.
    pub moved_by: Option<M>,
    /// The index of the step taken, among the steps of the state; `None` at the end.
    pub step: Option<u32>,
}

/// The path to a state, as the search that found it knows it.
pub(crate) enum Route<M> {
    /// The index of each step among the steps of its state: states were stored unchanged.
    Steps(Vec<u32>),
    /// The states on the path: permutations were applied to them.
    Moved(Vec<Passed<M>>),
}
