//! Exploration: from stored states to new ones. One filter of the pipeline per file.

pub mod digest;
pub mod entry;
mod frontier;
pub mod keys;
pub mod parallel;
pub mod passed_waiting;
pub mod prepared;
pub mod search;
pub mod storage;
pub mod table;
pub mod watch;
pub mod zones;
