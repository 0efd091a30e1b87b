//! From a path of the zone graph to a run of the model: the steps with their select values, delays
//! that make every guard and invariant hold, and the replay that proves it.

pub(crate) mod lassos;
mod path;
mod real;
mod schedule;
mod shorten;
pub(crate) mod traces;
mod unpermute;

pub(crate) use path::{Condition, Conditions, Path, PathStep, by_position, follow, position};
pub(crate) use schedule::schedule;
pub(crate) use shorten::{Lasso, shorten_lasso, shorten_path};
