//! What the tests of several crates share: models read from text, generators of models, an explorer
//! of regions, the corpus, reproducible random numbers.
//!
//! It depends on `syntax` and `analysis` only. The engine is what the tests judge, so nothing here may use it.

mod corpus;
mod loaded;
pub mod oracle;
pub mod random;
mod rng;

pub use corpus::{corpus, corpus_files, skip};
pub use loaded::{Loaded, load, xta};
pub use rng::Rng;
