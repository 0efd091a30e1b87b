//! From text to tokens, items and a typed tree, with errors and exact positions; XML and query
//! front ends; formatter.
//!
//! This crate represents what is written. It must never know what a name means, open a file, or
//! print.

pub mod ast;
mod build;
mod chunk;
pub mod convert;
pub mod debug;
pub mod error;
pub mod format;
#[doc(hidden)]
pub mod fuzzing;
pub mod gesture;
mod grammar;
pub mod lexer;
mod query_file;
pub mod similar;
pub mod source;
pub mod span;
mod split;
mod text_map;
pub mod token;
pub mod xml;
mod xta;

pub use source::{SourceFile, parse_expression, parse_query};
