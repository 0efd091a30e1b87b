//! Random networks, and an explorer of their regions that shares no code with the engine it judges.
//!
//! A [`model::TestModel`] is made by chance, written as text by [`text`], and explored by [`regions::explore`] over its own
//! semantics. The unit tests of the checker compare verdicts with what the graph of regions says, and switch seeded
//! bugs on to see that the comparison notices them.

#![allow(missing_docs)] // The parts of a model have the names that the language reference explains.

mod attempts;
mod faults;
pub mod features;
pub mod model;
pub mod queries;
pub mod regions;
mod text;

pub use attempts::{Attempt, Verdict};
