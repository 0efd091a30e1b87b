//! The features of the language server, one per module, over byte ranges and plain structs.
//!
//! Knows neither the protocol nor the disk: documents are [`Snapshot`]s, and a [`Workspace`] says
//! which documents belong together.

pub mod call_hierarchy;
pub mod code_action;
pub mod completion;
pub mod diagnostics;
pub mod document_link;
pub mod document_symbol;
pub mod folding_range;
pub mod formatting;
pub mod gesture;
pub mod hover;
pub mod inlay_hint;
pub mod lines;
pub mod names;
pub mod refactor;
pub mod rename;
pub mod selection_range;
pub mod semantic_tokens;
pub mod signature_help;
pub mod snapshot;
pub mod trace;
pub mod workspace;
pub mod workspace_symbol;

pub use snapshot::Snapshot;
pub use workspace::Workspace;

#[cfg(test)]
mod tests;
