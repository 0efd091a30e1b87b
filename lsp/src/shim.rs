//! Stands in for the analysis and checker entry points until they are merged.
#![allow(missing_docs, clippy::unused_self)]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::diagnostic::Diagnostic;
use zonelens_analysis::network::{self, Network, Position};
use zonelens_analysis::report::{Options, Progress, QueryReport, Verdict};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::Query;
use zonelens_syntax::span::Span;

pub struct Model {
    diagnostics: Vec<Diagnostic>,
}

impl Model {
    pub fn new(file: &SourceFile, _constants: &BTreeMap<String, i64>) -> Model {
        let diagnostics = file
            .errors()
            .into_iter()
            .map(|e| Diagnostic::error(e.code, e.message, e.span))
            .collect();
        Model { diagnostics }
    }
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
    pub fn blocks_verification(&self) -> bool {
        !self.diagnostics.is_empty()
    }
    pub fn network(&self) -> Result<Network, Vec<Diagnostic>> {
        Ok(Network::default())
    }
    pub fn check_query(&self, _query: &Query, _base: u32) -> Vec<Diagnostic> {
        Vec::new()
    }
    pub fn resolve_query(
        &self,
        _network: &Network,
        _query: &Query,
        _base: u32,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}

pub fn explain(_code: &str) -> Option<&'static str> {
    None
}

pub struct Control<'a> {
    pub cancelled: &'a AtomicBool,
    pub progress: &'a (dyn Fn(&Progress) + Sync),
}

pub fn verify(
    _network: &Network,
    query: &network::Query,
    _options: &Options,
    _position: &(dyn Fn(Span) -> Position + Sync),
    _control: &Control<'_>,
) -> QueryReport {
    QueryReport::without_run(
        &query.text,
        0,
        Verdict::Unknown,
        "unsupported: shim".to_owned(),
    )
}
