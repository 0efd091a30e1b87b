//! The requests of `docs/protocol.md`: what panels, test views and status lines ask for.

use super::Server;
use crate::cache;
use crate::log;
use crate::rule_pages;
use crate::trace_document;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types as lsp;

/// The version of these requests.
pub(crate) const PROTOCOL: u32 = 2;

/// Asks for the text of a document that only the server has.
#[derive(Deserialize)]
pub(crate) struct OfContent {
    uri: String,
}

impl Server {
    /// `zonelens/documentText`: the text as the server has it, so that a client can see that both
    /// agree.
    pub(crate) async fn document_text(
        &self,
        params: lsp::TextDocumentIdentifier,
    ) -> Result<serde_json::Value> {
        let snapshot = self.snapshot(&params.uri)?;
        let text = snapshot.rope.to_string();
        Ok(serde_json::json!({ "version": snapshot.version, "text": text }))
    }

    /// `zonelens/serverStatus`: what the server is doing.
    pub(crate) async fn server_status(&self, _: Value) -> Result<Value> {
        let shared = &self.shared;
        let runs: Vec<Value> = shared
            .runs
            .active()
            .await
            .into_iter()
            .map(|a| {
                let state = if a.progress.is_some() {
                    "running"
                } else {
                    "queued"
                };
                json!({
                    "run": a.run, "uri": a.uri, "query": a.query, "state": state,
                    "progress": a.progress,
                })
            })
            .collect();
        let trace = shared.trace().map(|t| {
            json!({
                "uri": t.uri, "query": t.query, "step": t.step, "steps": t.trace.steps.len(),
                "stale": shared.trace_is_stale(), "simulation": t.simulated,
            })
        });
        Ok(json!({
            "version": shared.version,
            "protocol": PROTOCOL,
            "pid": std::process::id(),
            "log": log::path(),
            "cache": cache::base_directory(),
            "configuration": shared.configuration.files(),
            "documents": shared.store.all().len(),
            "runs": runs,
            "trace": trace,
        }))
    }

    /// `workspace/textDocumentContent`: the text of a trace, or the page of a rule.
    pub(crate) async fn document_content(&self, params: OfContent) -> Result<Value> {
        let page = rule_pages::content(&params.uri).map(str::to_owned);
        let text = page.or_else(|| trace_document::content(&self.shared, &params.uri));
        let text = text.ok_or_else(|| {
            Error::invalid_params("no trace is open under this name, and no rule has it")
        })?;
        Ok(json!({ "text": text }))
    }
}
