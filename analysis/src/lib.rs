//! Names, types, constants, instantiation and symmetry facts of a model, and every diagnostic.
//!
//! This crate defines the meaning of the text: it turns the syntax tree into a checked model and a
//! [`network`] for the checker. It must not depend on zones, the language server protocol or files
//! on disk.

mod allow;
mod builtin;
mod check;
pub mod config;
mod consteval;
pub mod coverage;
mod diag;
pub mod diagnostic;
pub mod every;
mod fix;
mod hir;
pub mod ide;
mod instantiate;
mod legacy;
mod lint;
pub mod meaning;
mod model;
pub mod network;
mod pragma;
pub mod query_file;
mod reason;
mod refactor;
pub mod report;
pub mod report_text;
mod rules;
pub mod simulation;
mod strings;
mod switch;
mod symbol;
mod symmetry;
pub mod trace_text;
mod types;
pub mod vacuous;

pub use config::Severities;
pub use diagnostic::{Diagnostic, Severity};
pub use model::{FamilyOutline, Model, Outline};
pub use rules::{codes, codes_with, explain, severity, title};
#[doc(hidden)]
pub use symmetry::Judge;
