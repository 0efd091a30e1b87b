//! Zones: convex sets of clock valuations as difference bound matrices, and unions of them.

pub mod bound;
mod dbm;
mod federation;
#[cfg(test)]
mod tests;

pub use bound::{Bound, INF};
pub use dbm::{Relation, Zone};
pub use federation::{Federation, drop_included, is_too_large, subtract, subtract_all};
