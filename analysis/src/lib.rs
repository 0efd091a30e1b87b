//! Names, types, constants, instantiation and symmetry facts of a model, and every diagnostic.
//!
//! Owns the meaning of the text: it turns the syntax tree into a checked model and a [`network`] for the checker. It
//! must never know about zones, the language server protocol or files on disk.

pub mod diagnostic;
pub mod meaning;
pub mod network;
pub mod report;
pub mod trace_text;
