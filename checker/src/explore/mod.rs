//! Exploration: from stored states to new ones. One filter of the pipeline per file.

pub mod abstraction;
mod among;
pub mod bounds;
pub mod coupling;
pub mod digest;
pub mod entry;
pub mod expander;
mod frontier;
mod interval;
pub mod keys;
pub mod parallel;
pub mod passed_waiting;
pub mod prepared;
mod query_bounds;
pub mod receivers;
pub mod search;
pub mod steps;
pub mod storage;
pub mod table;
pub mod timed;
pub mod watch;
pub mod zones;
