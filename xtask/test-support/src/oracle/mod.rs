//! Random networks, and an explorer of their regions that shares no code with the engine that it
//! checks.
//!
//! A [`model::TestModel`] is generated at random, written as text by [`text`], and explored by
//! [`regions::explore`] according to a separate implementation of the semantics. The unit tests of
//! the checker compare verdicts with the region graph, and switch seeded bugs on to see that the
//! comparison notices them.

#![allow(missing_docs)] // The parts of a model have the names that the language reference explains.

mod attempts;
mod faults;
pub mod features;
pub mod model;
pub mod queries;
pub mod regions;
pub mod seen;
mod text;

pub use attempts::{Attempt, Verdict};
