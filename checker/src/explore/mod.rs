//! Exploration: from stored states to new ones. One filter of the pipeline per file.

pub mod abstraction;
pub mod bounds;
pub mod digest;
pub mod entry;
pub mod expander;
mod interval;
pub mod keys;
pub mod parallel;
pub mod passed_waiting;
pub mod receivers;
pub mod search;
pub mod steps;
pub mod storage;
pub mod timed;
pub mod watch;
