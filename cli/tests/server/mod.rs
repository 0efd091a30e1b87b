//! The language server through the real binary, over its standard input and output.

mod bench;
mod capabilities;
mod client;
mod coverage;
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
mod rules;
mod runs;
mod settings;
mod simulation;
mod simulation_story;
mod soak;
mod staleness;
mod traces;
mod typing;
mod versions;
mod workers;
mod xml;
