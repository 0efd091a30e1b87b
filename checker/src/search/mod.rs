//! Searches through the graph of states: one thread, several threads, runs that keep a condition, proofs over wide zones,
//! and the limits they all obey.

pub mod finished;
mod frontier;
pub mod limits;
pub mod liveness;
mod moves;
pub mod nearness;
pub mod parallel;
pub mod progress;
pub mod sequential;
pub mod wide;
