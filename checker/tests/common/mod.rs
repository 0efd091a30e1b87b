//! What the tests share: from text to verdicts.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::Model;
use zonelens_analysis::network::{Network, Position, Query};
use zonelens_analysis::report::{Options, QueryReport};
use zonelens_checker::{Control, verify};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::{SourceFile, parse_query};
use zonelens_syntax::span::LineIndex;

/// A model read from text.
pub struct Loaded {
    pub model: Model,
    pub network: Network,
    pub lines: LineIndex,
    pub text: String,
}

/// Reads a model; the message tells what is wrong with it.
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

impl Loaded {
    pub fn query(&self, formula: &str) -> Result<Query, String> {
        let parsed = parse_query(formula);
        self.model
            .resolve_query(&self.network, &parsed, 0)
            .map_err(|d| format!("{d:?}"))
    }

    pub fn verify(&self, formula: &str, options: &Options) -> QueryReport {
        let query = self
            .query(formula)
            .unwrap_or_else(|e| panic!("{formula}: {e}"));
        self.verify_query(&query, options)
    }

    pub fn verify_query(&self, query: &Query, options: &Options) -> QueryReport {
        let position = |span: zonelens_syntax::span::Span| {
            let at = self
                .lines
                .line_col(&self.text, span.start.min(self.text.len() as u32));
            Position {
                line: at.line,
                column: at.column,
            }
        };
        let cancelled = AtomicBool::new(false);
        let control = Control {
            cancelled: &cancelled,
            progress: &|_| {},
        };
        verify(&self.network, query, options, &position, &control)
    }
}

/// Reads an .xta model that must be right.
pub fn xta(text: &str) -> Loaded {
    load(text, FileKind::Xta, &[]).unwrap_or_else(|e| panic!("{e}"))
}
