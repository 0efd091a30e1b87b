//! What requests ask for, one feature per file. Answers speak of documents and byte spans, not of the protocol.

pub mod call_hierarchy;
pub mod code_action;
pub mod completion;
pub mod diagram;
pub mod document_link;
pub mod document_symbol;
pub mod folding_range;
pub mod formatting;
pub mod hover;
pub mod inlay_hint;
pub mod names;
pub mod refactor;
pub mod rename;
pub mod selection_range;
pub mod semantic_tokens;
pub mod signature_help;
pub mod trace;
pub mod workspace_symbol;
