//! From text to a network and its queries.

use std::collections::BTreeMap;
use zonelens_analysis::Model;
use zonelens_analysis::network::{Network, Position, Query};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::{SourceFile, parse_query};
use zonelens_syntax::span::{LineIndex, Span};

/// A model read from text.
pub struct Loaded {
    /// The checked model.
    pub model: Model,
    /// The network of the model.
    pub network: Network,
    lines: LineIndex,
    text: String,
}

/// Reads a model; the error says what is wrong with it.
pub fn load(text: &str, kind: FileKind, constants: &[(&str, i64)]) -> Result<Loaded, String> {
    let file = SourceFile::parse(text, kind);
    let constants: BTreeMap<String, i64> =
        constants.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let model = Model::new(&file, &constants);
    if model.blocks_verification() {
        return Err(format!("{:?}", model.diagnostics()));
    }
    let network = model.network().map_err(|d| format!("{d:?}"))?;
    Ok(Loaded {
        model,
        network,
        lines: LineIndex::new(text),
        text: text.to_owned(),
    })
}

/// Reads an `.xta` model that must be correct.
pub fn xta(text: &str) -> Loaded {
    load(text, FileKind::Xta, &[]).unwrap_or_else(|e| panic!("{e}"))
}

impl Loaded {
    /// Resolves a formula; the error says what is wrong with it.
    pub fn query(&self, formula: &str) -> Result<Query, String> {
        let parsed = parse_query(formula);
        self.model
            .resolve_query(&self.network, &parsed, 0)
            .map_err(|d| format!("{d:?}"))
    }

    /// Line and column of a place in the text.
    pub fn position(&self, span: Span) -> Position {
        let offset = span.start.min(self.text.len() as u32);
        let at = self.lines.line_col(&self.text, offset);
        Position {
            line: at.line,
            column: at.column,
        }
    }
}
