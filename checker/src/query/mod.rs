//! What queries ask of the state space.

pub mod extremes;
mod finished;
pub mod liveness;
pub mod nearness;
pub mod progress;
pub mod wide;
