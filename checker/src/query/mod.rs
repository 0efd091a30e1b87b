//! What queries ask of the state space.

pub mod extremes;
