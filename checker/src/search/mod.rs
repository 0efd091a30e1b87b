//! Searches of the state graph: by one thread, by several threads, for runs that keep a condition,
//! for proofs over wide zones, and the limits of all of them.

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
