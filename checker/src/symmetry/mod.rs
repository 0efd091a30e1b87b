//! Symmetry reduction over scalarsets (Hendriks, Behrmann, Larsen, Niebert, Vaandrager: *Adding
//! symmetry reduction to UPPAAL*, FORMATS 2003): states are replaced by representatives of their
//! orbits.
//!
//! It is sound for every choice of representative, because only permutations that the analysis
//! found to be automorphisms are applied. It is canonical if elements with equal keys are checked
//! to be interchangeable.

mod audit;
#[cfg(test)]
mod breaking;
#[cfg(test)]
mod breaking_tests;
mod canonical;
mod colours;
#[cfg(test)]
mod copies_tests;
#[cfg(test)]
mod corpus_tests;
mod folding;
#[cfg(test)]
mod folding_tests;
mod index;
mod matrix;
#[cfg(test)]
mod named;
mod one_per_class;
mod permutation;
mod quotient;
#[cfg(test)]
mod quotient_tests;
mod reduced;
mod representative;
mod stabiliser;
mod symmetrise;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thread_tests;

pub(crate) use audit::Audit;
pub(crate) use canonical::one_per_orbit;
pub(crate) use one_per_class::OnePerClass;
/// A representative on a path.
pub(crate) type Passed = crate::graph::Passed<Permutation>;
/// The path to a state, through representatives if the search was reduced.
pub(crate) type Route = crate::graph::Route<Permutation>;
pub(crate) use permutation::Permutation;
pub(crate) use reduced::Chosen;
pub(crate) use representative::Representative;
pub(crate) use symmetrise::{MOST_NAMED, Symmetrised, is_invariant};
pub(crate) use tables::{Coordinate, Tables};
