//! Tests of verdicts, traces and limits. All are in one binary, because each binary would link the
//! whole crate again.

mod alu;
mod bad_input;
mod bounds;
mod certificates;
mod certified_symmetry;
mod claims;
mod common;
mod copies;
mod detection_audit;
mod errors;
mod examples;
mod fischer;
mod guards;
mod hulls;
mod language;
mod loops;
mod parameters;
mod progress;
mod quantifiers;
mod query_symmetry;
mod runs;
mod scale;
mod shorter;
mod strings;
mod switch;
mod symmetry;
mod traces;
mod turns;
mod walks;
mod without;
mod witness;
