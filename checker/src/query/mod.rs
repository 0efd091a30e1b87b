//! What queries ask of the state space.

pub mod deadlock;
pub mod extremes;
pub mod liveness;
pub mod reach;
