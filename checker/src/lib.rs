//! Verification of a network: zones, exploration, queries, traces, statistics.
//!
//! Owns verdicts. It must never know about text: positions are opaque spans that come with the
//! network.

#[cfg(test)]
extern crate self as zonelens_checker;

mod bounds;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
mod every;
mod graph;
mod mutation;
#[cfg(test)]
#[path = "../tests/oracle/mod.rs"]
mod oracle;
mod program;
mod search;
mod store;
mod strategy;
mod symmetry;
mod walk;
mod witness;
mod zone;

pub use every::verify_every;
pub use strategy::{Certificate, coverage, verify, verify_and_certify};
pub use walk::Walks;

use std::sync::atomic::AtomicBool;
use zonelens_analysis::report;

/// Lets the caller watch and stop a run.
pub struct Control<'a> {
    /// Set to true to stop the run; it ends within milliseconds.
    pub cancelled: &'a AtomicBool,
    /// Called at most ten times a second.
    pub progress: &'a (dyn Fn(&report::Progress) + Sync),
}
