//! The requests of `docs/protocol.md`: what panels, test views and status lines ask for.

use super::Server;
use crate::cache;
use crate::diagram_data;
use crate::log;
use crate::queries::QuerySite;
use crate::status;
use crate::to_proto::Place;
use crate::trace_data;
use crate::trace_document;
use crate::traces;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types as lsp;

/// The version of these requests.
pub const PROTOCOL: u32 = 1;

/// Asks for something of a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfDocument {
    text_document: lsp::TextDocumentIdentifier,
}

/// Asks for a trace: the open one, or that of a query.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct OfTrace {
    text_document: Option<lsp::TextDocumentIdentifier>,
    query: Option<String>,
}

/// Asks for the text of a document that only the server has.
#[derive(Deserialize)]
pub struct OfContent {
    uri: String,
}

impl Server {
    /// `zonelens/documentText`: the text as the server has it, so that a client can see that both agree.
    pub async fn document_text(
        &self,
        params: lsp::TextDocumentIdentifier,
    ) -> Result<serde_json::Value> {
        let snapshot = self.snapshot(&params.uri)?;
        let text = snapshot.rope.to_string();
        Ok(serde_json::json!({ "version": snapshot.version, "text": text }))
    }

    /// `zonelens/queries`: the queries of a document with their states.
    pub async fn queries(&self, params: OfDocument) -> Result<Value> {
        let uri = params.text_document.uri;
        let snapshot = self.snapshot(&uri)?;
        let (model, sites) = match self.sites_of(&uri).await? {
            Some((model, sites)) => (Some(model.uri.clone()), sites),
            None => (None, Vec::new()),
        };
        let asked = sites.iter().map(QuerySite::site).collect();
        let views = self.shared.runs.views(uri.as_str(), asked).await;
        let place = Place {
            snapshot: &snapshot,
            encoding: self.shared.encoding(),
        };
        let list = status::to_json(place, &sites, &views);
        Ok(json!({ "version": snapshot.version, "model": model, "queries": list }))
    }

    /// `zonelens/trace`: a whole trace with places in the present text.
    pub async fn whole_trace(&self, params: OfTrace) -> Result<Value> {
        let uri = params.text_document.map(|d| d.uri.as_str().to_owned());
        let shared = &self.shared;
        let found = match uri {
            Some(_) => traces::find(shared, uri, params.query, None).await,
            None => traces::current(shared),
        };
        let mut open = found.map_err(Error::invalid_params)?;
        // Asking for the trace that is open must not lose the place in it.
        if let Some(now) = shared.trace().filter(|t| t.meaning == open.meaning) {
            open.step = now.step;
        }
        let model = traces::model_of(shared, &open.uri).await;
        let model = model.map_err(Error::invalid_params)?;
        let document = trace_document::offer(shared, &open).await;
        let encoding = shared.encoding();
        let uri = open.uri.clone();
        self.compute(&uri, move |_| {
            let place = Place {
                snapshot: &model,
                encoding,
            };
            trace_data::whole(&open, place, document)
        })
        .await
    }

    /// `zonelens/diagram`: the templates of a model as graphs.
    pub async fn diagram(&self, params: OfDocument) -> Result<Value> {
        let uri = params.text_document.uri;
        self.snapshot(&uri)?;
        let model = traces::model_of(&self.shared, uri.as_str()).await;
        let model = model.map_err(Error::invalid_params)?;
        let encoding = self.shared.encoding();
        self.compute(uri.as_str(), move |shared| {
            let trace = shared.trace().filter(|t| t.model_uri == model.uri);
            let trace = trace.filter(|t| !traces::is_stale(shared, t));
            let place = Place {
                snapshot: &model,
                encoding,
            };
            diagram_data::to_json(place, trace.as_ref())
        })
        .await
    }

    /// `zonelens/serverStatus`: what the server is doing.
    pub async fn server_status(&self, _: Value) -> Result<Value> {
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
                "stale": shared.trace_is_stale(),
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

    /// `workspace/textDocumentContent`: the text of a trace.
    pub async fn document_content(&self, params: OfContent) -> Result<Value> {
        let text = trace_document::content(&self.shared, &params.uri);
        let text = text.ok_or_else(|| Error::invalid_params("no trace is open under this name"))?;
        Ok(json!({ "text": text }))
    }
}
