//! Verification of a network: zones, exploration, queries, traces, statistics.
//!
//! Owns verdicts. It must never know about text: positions are opaque spans that come with the network.

mod rng;
pub mod zone;
