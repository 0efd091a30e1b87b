//! Searches of the state graph: by one thread, by several threads, for runs that keep a condition,
//! for proofs over wide zones, and the limits of all of them.

pub(crate) mod finished;
mod frontier;
pub(crate) mod limits;
pub(crate) mod liveness;
mod moves;
pub(crate) mod nearness;
pub(crate) mod parallel;
pub(crate) mod progress;
pub(crate) mod sequential;
pub(crate) mod wide;
