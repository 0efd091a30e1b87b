//! Tests of names, types, lints, symmetry and networks. They are one binary, because each binary
//! would link the whole crate again.

mod corpus;
mod diagnostics;
mod first_hour;
mod fixes;
mod hostile;
mod incremental;
mod mistakes;
mod mutation;
mod nearest;
mod network;
mod rules;
mod seeds;
mod symmetry;
