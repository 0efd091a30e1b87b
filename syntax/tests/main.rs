//! Tests of reading, writing and formatting texts. They are one binary, because each binary would
//! link the whole crate again.

mod bad_input;
mod common;
mod convert;
mod convert_corpus;
mod corpus;
mod examples;
mod format;
mod fuzz;
mod gestures;
mod grammar;
mod incremental;
mod recovery;
mod round_trip;
