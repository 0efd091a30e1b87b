//! The language server through the real binary, over its standard input and output.

mod bench;
mod capabilities;
mod client;
mod documents;
mod features;
mod hostile;
mod lenses;
mod lifecycle;
mod more_features;
mod panels;
mod protocol;
mod replays;
mod robustness;
mod runs;
mod settings;
mod simulation;
mod soak;
mod staleness;
mod traces;
mod versions;
mod workers;
mod xml;
