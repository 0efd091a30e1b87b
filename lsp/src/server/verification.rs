//! Commands about runs, and the lenses over queries and templates.

use super::Server;
use crate::code_lens;
use crate::commands::Argument;
use crate::document;
use crate::queries::QuerySite;
use crate::query_hover;
use crate::runs::Which;
use crate::status;
use crate::to_proto::{self, Place};
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types as lsp;
use zonelens_ide::Snapshot;

impl Server {
    pub(super) async fn sites_of(
        &self,
        uri: &lsp::Uri,
    ) -> Result<Option<(Arc<Snapshot>, Vec<QuerySite>)>> {
        let snapshot = self.snapshot(uri)?;
        self.compute(uri.as_str(), move |shared| shared.query_sites(&snapshot))
            .await
    }

    pub(super) async fn verify(
        &self,
        argument: &Argument,
        all: bool,
    ) -> Result<Option<lsp::LSPAny>> {
        let uri = required_uri(argument)?;
        if self.shared.store.get(uri.as_str()).is_some() {
            let mut session = self.shared.session();
            session.asked.insert(uri.as_str().to_owned());
        }
        let Some((model, mut sites)) = self.sites_of(&uri).await? else {
            let message = "There is no model next to this query file.";
            return Err(Error::invalid_params(message));
        };
        if !all {
            sites = chosen(sites, argument).into_iter().collect();
        }
        if sites.is_empty() {
            return Err(Error::invalid_params("there is no such query"));
        }
        let settings = self.shared.settings_for(uri.as_str());
        let asks = sites
            .iter()
            .map(|site| site.ask(uri.as_str(), &model, document::options(&model, &settings)))
            .collect();
        let runs = self.shared.runs.verify(asks).await;
        Ok(Some(serde_json::json!({ "runs": runs })))
    }

    pub(super) async fn cancel(&self, argument: Argument) -> Result<Option<lsp::LSPAny>> {
        let explored = match (argument.run, &argument.query) {
            (None, None) => self.shared.coverage.cancel(argument.uri.as_deref()),
            _ => 0,
        };
        let which = match (argument.run, argument.uri, argument.query) {
            (Some(run), _, _) => Which::Run(run),
            (None, Some(uri), Some(query)) => Which::Query(uri, query),
            (None, Some(uri), None) => Which::Document(uri),
            (None, None, _) => Which::All,
        };
        let cancelled = self.shared.runs.cancel(which).await;
        let cancelled = cancelled + explored;
        Ok(Some(serde_json::json!({ "cancelled": cancelled })))
    }

    pub(super) async fn status(&self, argument: &Argument) -> Result<Option<lsp::LSPAny>> {
        let uri = required_uri(argument)?;
        // Taken before any await: places are positions in the text in which they were found.
        let snapshot = self.snapshot(&uri)?;
        let sites = self
            .sites_of(&uri)
            .await?
            .map(|(_, s)| s)
            .unwrap_or_default();
        let asked = sites.iter().map(QuerySite::site).collect();
        let views = self.shared.runs.views(uri.as_str(), asked).await;
        let place = Place {
            snapshot: &snapshot,
            encoding: self.shared.encoding(),
        };
        Ok(Some(status::to_json(place, &sites, &views)))
    }

    /// What is known about the query at a position.
    pub(super) async fn hover_query(
        &self,
        at: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::Hover>> {
        let uri = at.text_document.uri;
        let snapshot = self.snapshot(&uri)?;
        let Some((_, sites)) = self.sites_of(&uri).await? else {
            return Ok(None);
        };
        let place = Place {
            snapshot: &snapshot,
            encoding: self.shared.encoding(),
        };
        let offset = place.offset(at.position);
        let Some(site) = sites.iter().find(|s| s.span.touches(offset)) else {
            return Ok(None);
        };
        let asked = vec![site.site()];
        let views = self.shared.runs.views_of(uri.as_str(), asked).await;
        let told = views.first().map(query_hover::tell);
        self.still_current(&snapshot)?;
        Ok(told.map(|text| to_proto::hover(place, site.span, text)))
    }

    pub(super) async fn lenses(&self, uri: &lsp::Uri) -> Result<Vec<lsp::CodeLens>> {
        let snapshot = self.snapshot(uri)?;
        let lenses = match self.sites_of(uri).await? {
            Some((_, sites)) => {
                let asked = sites.iter().map(QuerySite::site).collect();
                let views = self.shared.runs.views(uri.as_str(), asked).await;
                let mut lenses = code_lens::lenses(uri.as_str(), &sites, &views);
                // Counting processes takes a network, which is large work: not on this thread.
                let held = Arc::clone(&snapshot);
                let templates =
                    self.compute(uri.as_str(), move |shared| shared.template_lenses(&held));
                lenses.extend(templates.await?);
                lenses
            }
            None => {
                let held = Arc::clone(&snapshot);
                let spans = self.compute(uri.as_str(), move |_| {
                    let queries = held.queries();
                    let spans = queries.iter().map(|q| q.query.span.shift(q.base));
                    spans.collect::<Vec<_>>()
                });
                code_lens::without_model(&spans.await?)
            }
        };
        self.still_current(&snapshot)?;
        let place = Place {
            snapshot: &snapshot,
            encoding: self.shared.encoding(),
        };
        let convert = |lens| to_proto::code_lens(place, lens);
        Ok(lenses.into_iter().map(convert).collect())
    }
}

/// The query with the formula, or the one on the line or nearest above it, or the first.
fn chosen(sites: Vec<QuerySite>, argument: &Argument) -> Option<QuerySite> {
    match (&argument.query, argument.line) {
        (Some(text), _) => sites.into_iter().find(|site| site.text == *text),
        (None, Some(line)) => {
            let above = sites.iter().rposition(|site| site.line <= line + 1);
            sites.into_iter().nth(above.unwrap_or(0))
        }
        (None, None) => None,
    }
}

pub(super) fn required_uri(argument: &Argument) -> Result<lsp::Uri> {
    argument
        .uri
        .as_deref()
        .and_then(to_proto::uri)
        .ok_or_else(|| Error::invalid_params("the command needs {\"uri\": …}"))
}
