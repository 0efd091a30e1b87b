//! Until analysis and checker are merged.
pub use zonelens_lsp::shim::*;
