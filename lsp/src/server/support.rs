//! What several handlers share.

use super::{Server, content_modified};
use crate::announce;
use crate::log;
use crate::runs::Which;
use crate::shared::Shared;
use crate::to_proto::{self, Place};
use crate::uri;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types as lsp;
use zonelens_ide::call_hierarchy::Call;
use zonelens_ide::names::{self, Names};
use zonelens_ide::{Snapshot, Workspace};
use zonelens_ide::{formatting, semantic_tokens};
use zonelens_syntax::format::FormatOptions;

/// The tokens that were given out last, with their number.
type Before = Option<(u64, Arc<Vec<u32>>)>;

impl Server {
    pub(crate) fn snapshot(&self, uri: &lsp::Uri) -> Result<Arc<Snapshot>> {
        self.shared.store.get(uri.as_str()).ok_or_else(|| {
            Error::invalid_params(format!("the document {} is not open", uri.as_str()))
        })
    }

    /// Runs `work`, which is about `document`, on another thread; a panic there is an error answer
    /// here.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        document: &str,
        work: impl FnOnce(&Arc<Shared>) -> T + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        let done = self.shared.pool.run(document, move || work(&shared)).await;
        match done {
            Some(done) => Ok(done),
            None => {
                self.tell_crash().await;
                Err(Error::internal_error())
            }
        }
    }

    pub(super) fn fetcher(&self) -> Fetcher {
        Fetcher(Arc::clone(&self.shared))
    }

    /// The user presses cancel on a progress; the protocol crate leaves this notification to us.
    pub(crate) async fn progress_cancelled(&self, params: lsp::WorkDoneProgressCancelParams) {
        if let Some(run) = announce::run_of(&params.token) {
            self.shared.runs.cancel(Which::Run(run)).await;
        }
    }

    /// What the guard of the input makes of a request under `$/`.
    pub(crate) async fn unknown_request(&self) -> Result<()> {
        Err(Error::method_not_found())
    }

    /// What the guard of the input makes of a message that cannot be read.
    pub(crate) async fn malformed(&self) -> Result<()> {
        Err(Error::parse_error())
    }

    /// Runs a feature on the current version of a document.
    pub(super) async fn feature<T: Send + 'static>(
        &self,
        uri: &lsp::Uri,
        work: impl FnOnce(Place<'_>, &Arc<Shared>) -> T + Send + 'static,
    ) -> Result<T> {
        let snapshot = self.snapshot(uri)?;
        let encoding = self.shared.encoding();
        let held = Arc::clone(&snapshot);
        let answer = self
            .compute(uri.as_str(), move |shared| {
                let place = Place {
                    snapshot: &held,
                    encoding,
                };
                work(place, shared)
            })
            .await?;
        self.still_current(&snapshot)?;
        Ok(answer)
    }

    /// An answer about a text that the client shows no more would be put at the wrong places.
    pub(super) fn still_current(&self, snapshot: &Arc<Snapshot>) -> Result<()> {
        match self.shared.store.is_current(snapshot) {
            true => Ok(()),
            false => Err(content_modified()),
        }
    }

    /// Runs a feature at a position of a document.
    pub(super) async fn at<T: Send + 'static>(
        &self,
        at: lsp::TextDocumentPositionParams,
        work: impl FnOnce(Place<'_>, &Arc<Shared>, u32) -> T + Send + 'static,
    ) -> Result<T> {
        self.feature(&at.text_document.uri, move |place, shared| {
            let offset = place.offset(at.position);
            work(place, shared, offset)
        })
        .await
    }

    pub(super) async fn goto(
        &self,
        at: lsp::TextDocumentPositionParams,
        find: fn(&dyn Workspace, &Arc<Snapshot>, u32) -> Option<names::Target>,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        self.at(at, move |place, shared, offset| {
            let target = find(&shared.store, place.snapshot, offset)?;
            let location = to_proto::location(&target, place.encoding)?;
            Some(lsp::GotoDefinitionResponse::Scalar(location))
        })
        .await
    }

    /// Gives the log's place, and opens it in editors that have no command of their own for it.
    pub(super) fn show_log(&self) -> lsp::LSPAny {
        let Some(path) = log::path() else {
            return lsp::LSPAny::Null;
        };
        let capabilities = self.shared.capabilities();
        let uri = uri::from_path(&path).and_then(|uri| to_proto::uri(&uri));
        if let Some(uri) = uri.filter(|_| capabilities.show_document && !capabilities.extensions) {
            let client = self.shared.client.clone();
            tokio::spawn(async move {
                let params = lsp::ShowDocumentParams {
                    uri,
                    external: Some(false),
                    take_focus: Some(true),
                    selection: None,
                };
                let _ = client.show_document(params).await;
            });
        }
        serde_json::json!({ "path": path })
    }

    /// Says where the report of a crash is.
    pub(super) async fn tell_crash(&self) {
        if let Some(report) = log::take_crash() {
            let message = format!(
                "Zonelens hit an internal error and recovered. A report without any of your text is in {}.",
                report.display()
            );
            let kind = lsp::MessageType::ERROR;
            self.shared.client.show_message(kind, message).await;
        }
    }

    pub(super) async fn format(
        &self,
        uri: &lsp::Uri,
        options: lsp::FormattingOptions,
        range: Option<lsp::Range>,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        let width = self.shared.settings_for(uri.as_str()).format_width;
        let indent = options.tab_size.clamp(1, 16) as usize;
        self.feature(uri, move |place, _| {
            let options = FormatOptions { width, indent };
            let range = range.map(|r| place.span(r));
            let edits = formatting::format_document(place.snapshot, options, range)?;
            Some(edits.iter().map(|e| place.edit(e)).collect())
        })
        .await
    }

    /// The other ends of calls of what stands at an item's name, with the places of the calls.
    pub(super) async fn calls(
        &self,
        item: lsp::CallHierarchyItem,
        find: fn(&Names, u32) -> Vec<Call>,
    ) -> Result<Vec<(lsp::CallHierarchyItem, Vec<lsp::Range>)>> {
        let at = item.selection_range.start;
        self.feature(&item.uri, move |place, shared| {
            let names = Names::of(&shared.store, place.snapshot);
            let convert = |call: &Call| {
                let other = to_proto::caller(&call.other, place.encoding)?;
                let places = call.places.iter().map(|span| place.range(*span));
                Some((other, places.collect()))
            };
            let calls = find(&names, place.offset(at));
            calls.iter().filter_map(convert).collect()
        })
        .await
    }

    /// All tokens of a document under a new number, and what was given out before.
    pub(super) async fn tokens(&self, uri: &lsp::Uri) -> Result<(TokenNumbers, Before)> {
        let (numbers, data) = self
            .feature(uri, |place, shared| {
                let names = Names::of(&shared.store, place.snapshot);
                let tokens = semantic_tokens::tokens(&names, None);
                let numbers = Arc::new(to_proto::token_numbers(place, &tokens));
                let data = serde_json::to_vec(&*numbers).unwrap_or_default();
                (numbers, data)
            })
            .await?;
        let mut session = self.shared.session();
        let before = session.tokens.remove(uri.as_str());
        let id = before.as_ref().map_or(1, |(id, _)| id + 1);
        let kept = (id, Arc::clone(&numbers));
        session.tokens.insert(uri.as_str().to_owned(), kept);
        Ok((TokenNumbers { id, numbers, data }, before))
    }
}

/// The tokens of a document, five numbers for each.
pub(super) struct TokenNumbers {
    /// The number of this answer.
    pub id: u64,
    /// The numbers.
    pub numbers: Arc<Vec<u32>>,
    /// The numbers as JSON.
    data: Vec<u8>,
}

impl TokenNumbers {
    /// The answer to a request for all tokens.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let head = format!("{{\"resultId\":\"{}\",\"data\":", self.id);
        [head.as_bytes(), &self.data, b"}"].concat()
    }
}

/// Asks the client for its settings, where it can be asked.
pub(super) struct Fetcher(pub(super) Arc<Shared>);

impl Fetcher {
    pub(super) async fn fetch(&self) {
        if !self.0.capabilities().configuration {
            return;
        }
        let item = lsp::ConfigurationItem {
            scope_uri: None,
            section: Some("zonelens".to_owned()),
        };
        let answer = self.0.client.configuration(vec![item]).await;
        let settings = answer.ok().and_then(|list| list.into_iter().next());
        if let Some(settings) = settings.filter(|s| s.is_object()) {
            self.0.configuration.set_editor(settings);
            self.0.settings_changed();
        }
    }
}
