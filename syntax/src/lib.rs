//! Text to tokens to items to a typed tree, with errors and exact positions; XML and query front ends; formatter.
//!
//! Owns what is written. It must never know what a name means, open a file, or print.

pub mod ast;
pub mod error;
pub mod source;
pub mod span;

pub use source::SourceFile;
