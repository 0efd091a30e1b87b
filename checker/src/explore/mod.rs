//! Exploration: from stored states to new ones. One filter of the pipeline per file.

pub mod abstraction;
pub mod bounds;
mod digest;
pub mod expander;
mod interval;
pub mod parallel;
pub mod passed_waiting;
pub mod search;
pub mod steps;
pub mod storage;
pub mod timed;
pub mod watch;
