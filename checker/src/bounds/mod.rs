//! Static analysis of the constants that clocks are compared with, and the abstractions of zones
//! based on it.

pub mod abstraction;
mod constants;
pub mod coupling;
mod interval;
mod query_bounds;

pub use constants::{Bounds, Diagonal, clocks_of};
