//! Zones: convex sets of clock valuations as difference bound matrices, and unions of them.

pub(crate) mod bound;
mod dbm;
mod federation;
pub(crate) mod folded;
#[cfg(test)]
mod tests;

pub(crate) use bound::{Bound, INF};
pub(crate) use dbm::{Relation, Zone};
pub(crate) use federation::{Federation, drop_included, is_too_large, subtract, subtract_all};
pub(crate) use folded::{Folded, Layout, Lazy, Shape};
