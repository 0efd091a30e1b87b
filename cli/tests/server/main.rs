//! The language server through the real binary, over its standard input and output.

mod client;
mod documents;
mod features;
mod lifecycle;
mod panels;
mod rng;
mod runs;
mod soak;
mod staleness;
mod traces;
mod workers;
mod xml;
