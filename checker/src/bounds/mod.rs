//! Static analysis of the constants that clocks are compared with, and the abstractions of zones
//! based on it.

pub(crate) mod abstraction;
mod constants;
pub(crate) mod coupling;
mod interval;
mod query_bounds;

pub(crate) use constants::{Bounds, Diagonal, clocks_of};
