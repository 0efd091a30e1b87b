//! Exploration: from stored states to new ones. One filter of the pipeline per file.

mod frontier;
pub mod parallel;
pub mod search;
pub mod watch;
