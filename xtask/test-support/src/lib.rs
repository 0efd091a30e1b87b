//! Shared parts of the tests of several crates: models read from text, generators of models, an
//! explorer of regions, the corpus, reproducible random numbers.
//!
//! This crate depends only on `syntax` and `analysis`. The tests check the engine, so nothing here
//! may use it.

#[allow(missing_docs)] // The parts of a file have the names that its page explains.
pub mod certificate;
mod corpus;
mod loaded;
pub mod oracle;
pub mod random;
mod rng;
mod time;

pub use corpus::{corpus, corpus_files, skip};
pub use loaded::{Loaded, load, xta};
pub use rng::Rng;
pub use time::processor_time;
