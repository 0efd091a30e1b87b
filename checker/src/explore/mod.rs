//! Exploration: from stored states to new ones. One filter of the pipeline per file.

pub mod abstraction;
pub mod bounds;
pub mod coupling;
pub mod digest;
pub mod entry;
mod frontier;
mod interval;
pub mod keys;
pub mod parallel;
pub mod passed_waiting;
pub mod prepared;
mod query_bounds;
pub mod search;
pub mod storage;
pub mod table;
pub mod watch;
pub mod zones;
