//! The protocol's face: what messages change, and which feature answers which request.
//!
//! Notification handlers change the documents before their first await, in the order of the messages. Requests work on
//! snapshots on other threads; one that an edit overtakes answers `ContentModified`.

use crate::announce;
use crate::capabilities::capabilities;
use crate::code_lens;
use crate::commands::{self, Argument};
use crate::document::Snapshot;
use crate::from_proto::{self, Abilities};
use crate::position::Encoding;
use crate::publish;
use crate::queries::{self, QuerySite};
use crate::runs::{Runs, Which};
use crate::settings::Settings;
use crate::status;
use crate::store::Store;
use crate::to_proto::{self, Place};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;
use tower_lsp_server::{Client, LanguageServer};

/// What all parts of a running server share.
pub struct Shared {
    /// The way to the editor.
    pub client: Client,
    /// Open documents.
    pub store: Store,
    /// Verification runs.
    pub runs: Runs,
    /// Version and commit.
    pub version: String,
    session: Mutex<Session>,
    publisher: mpsc::UnboundedSender<String>,
}

#[derive(Default)]
struct Session {
    encoding: Encoding,
    abilities: Abilities,
    settings: Arc<Settings>,
    /// The queries of each document when its text last parsed well: lenses must not vanish while one types.
    good_queries: HashMap<String, Vec<QuerySite>>,
}

impl Shared {
    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What columns count.
    pub fn encoding(&self) -> Encoding {
        self.session().encoding
    }

    /// What the client can do.
    pub fn abilities(&self) -> Abilities {
        self.session().abilities
    }

    /// The user's settings.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.session().settings)
    }

    /// Has the diagnostics of a document computed and published again.
    pub fn publish_soon(&self, uri: &str) {
        let _ = self.publisher.send(uri.to_owned());
    }

    /// The queries of a document with what they are asked of; the last good ones while the text is broken.
    /// Parses and analyses: for threads that may take long.
    pub fn query_sites(&self, snapshot: &Arc<Snapshot>) -> Option<(Arc<Snapshot>, Vec<QuerySite>)> {
        let model = self.store.model_of(snapshot)?;
        let settings = self.settings();
        let sites = queries::sites(snapshot, &model, &settings, &self.version);
        let broken = !snapshot.file().errors().is_empty();
        let mut session = self.session();
        let good = session.good_queries.get(&snapshot.uri);
        if let Some(good) = good.filter(|good| broken && good.len() > sites.len()) {
            return Some((model, good.clone()));
        }
        session
            .good_queries
            .insert(snapshot.uri.clone(), sites.clone());
        Some((model, sites))
    }

    fn set_settings(&self, value: &serde_json::Value) {
        let settings = Arc::new(Settings::from_json(value));
        self.session().settings = Arc::clone(&settings);
        self.runs.settings(settings);
    }
}

/// The server.
pub struct Server {
    shared: Arc<Shared>,
}

impl Server {
    /// A server that has not been greeted yet. Must be called inside a runtime.
    pub fn new(client: Client, worker: std::path::PathBuf, version: String) -> Server {
        let (runs, events) = Runs::start(worker);
        let (publisher, inbox) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            client,
            store: Store::default(),
            runs,
            version,
            session: Mutex::default(),
            publisher,
        });
        tokio::spawn(announce::serve(Arc::clone(&shared), events));
        tokio::spawn(publish::serve(Arc::clone(&shared), inbox));
        Server { shared }
    }

    fn snapshot(&self, uri: &lsp::Uri) -> Result<Arc<Snapshot>> {
        self.shared.store.get(uri.as_str()).ok_or_else(|| {
            Error::invalid_params(format!("the document {} is not open", uri.as_str()))
        })
    }

    /// Runs `work` on another thread; a panic there is an error answer here.
    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Shared>) -> T + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || work(&shared))
            .await
            .map_err(|_| Error::internal_error())
    }

    /// Runs a feature on the current version of a document.
    async fn feature<T: Send + 'static>(
        &self,
        uri: &lsp::Uri,
        work: impl FnOnce(Place<'_>, &Arc<Shared>) -> T + Send + 'static,
    ) -> Result<T> {
        let snapshot = self.snapshot(uri)?;
        let encoding = self.shared.encoding();
        let held = Arc::clone(&snapshot);
        let answer = self
            .compute(move |shared| {
                let place = Place {
                    snapshot: &held,
                    encoding,
                };
                work(place, shared)
            })
            .await?;
        if self.shared.store.is_current(&snapshot) {
            Ok(answer)
        } else {
            Err(content_modified())
        }
    }

    /// The user presses cancel on a progress; the protocol crate leaves this notification to us.
    pub async fn progress_cancelled(&self, params: lsp::WorkDoneProgressCancelParams) {
        if let Some(run) = announce::run_of(&params.token) {
            self.shared.runs.cancel(Which::Run(run)).await;
        }
    }

    /// What the guard of the input makes of a message that cannot be read.
    pub async fn malformed(&self) -> Result<()> {
        Err(Error::parse_error())
    }

    /// `zonelens/documentText`: the text as the server has it, so that a client can see that both agree.
    pub async fn document_text(
        &self,
        params: lsp::TextDocumentIdentifier,
    ) -> Result<serde_json::Value> {
        let snapshot = self.snapshot(&params.uri)?;
        let text = snapshot.rope.to_string();
        Ok(serde_json::json!({ "version": snapshot.version, "text": text }))
    }

    async fn sites_of(&self, uri: &lsp::Uri) -> Result<Option<(Arc<Snapshot>, Vec<QuerySite>)>> {
        let snapshot = self.snapshot(uri)?;
        self.compute(move |shared| shared.query_sites(&snapshot))
            .await
    }

    async fn verify(&self, argument: &Argument, all: bool) -> Result<Option<lsp::LSPAny>> {
        let uri = required_uri(argument)?;
        let Some((model, mut sites)) = self.sites_of(&uri).await? else {
            let message = "There is no model beside this query file.";
            return Err(Error::invalid_params(message));
        };
        if !all {
            sites = chosen(sites, argument).into_iter().collect();
        }
        if sites.is_empty() {
            return Err(Error::invalid_params("there is no such query"));
        }
        let settings = self.shared.settings();
        let asks = sites
            .iter()
            .map(|site| site.ask(uri.as_str(), &model, &settings))
            .collect();
        let runs = self.shared.runs.verify(asks).await;
        Ok(Some(serde_json::json!({ "runs": runs })))
    }

    async fn cancel(&self, argument: Argument) -> Result<Option<lsp::LSPAny>> {
        let which = match (argument.run, argument.uri, argument.query) {
            (Some(run), _, _) => Which::Run(run),
            (None, Some(uri), Some(query)) => Which::Query(uri, query),
            (None, Some(uri), None) => Which::Document(uri),
            (None, None, _) => Which::All,
        };
        let cancelled = self.shared.runs.cancel(which).await;
        Ok(Some(serde_json::json!({ "cancelled": cancelled })))
    }

    async fn status(&self, argument: &Argument) -> Result<Option<lsp::LSPAny>> {
        let uri = required_uri(argument)?;
        let sites = self
            .sites_of(&uri)
            .await?
            .map(|(_, s)| s)
            .unwrap_or_default();
        let asked = sites.iter().map(QuerySite::site).collect();
        let views = self.shared.runs.views(uri.as_str(), asked).await;
        Ok(Some(status::to_json(&sites, &views)))
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

fn required_uri(argument: &Argument) -> Result<lsp::Uri> {
    argument
        .uri
        .as_deref()
        .and_then(to_proto::uri)
        .ok_or_else(|| Error::invalid_params("the command needs {\"uri\": …}"))
}

fn content_modified() -> Error {
    Error {
        code: ErrorCode::ContentModified,
        message: "the document was edited meanwhile".into(),
        data: None,
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let encoding = from_proto::encoding(&params.capabilities);
        {
            let mut session = self.shared.session();
            session.encoding = encoding;
            session.abilities = Abilities::read(&params);
        }
        if let Some(options) = &params.initialization_options {
            self.shared.set_settings(options);
        }
        Ok(lsp::InitializeResult {
            capabilities: capabilities(encoding),
            server_info: Some(lsp::ServerInfo {
                name: "zonelens".to_owned(),
                version: Some(self.shared.version.clone()),
            }),
            offset_encoding: None,
        })
    }

    async fn shutdown(&self) -> Result<()> {
        self.shared.runs.cancel(Which::All).await;
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let uri = document.uri.as_str();
        self.shared
            .store
            .open(uri, &document.language_id, document.version, &document.text);
        self.shared.publish_soon(uri);
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let uri = params.text_document.uri.as_str();
        let changes = from_proto::changes(params.content_changes);
        let encoding = self.shared.encoding();
        self.shared
            .store
            .change(uri, params.text_document.version, changes, encoding);
        self.shared.publish_soon(uri);
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        if self.shared.settings().verify_on_save {
            let argument = Argument {
                uri: Some(params.text_document.uri.as_str().to_owned()),
                ..Argument::default()
            };
            // Nothing to say when there is no query to run.
            let _ = self.verify(&argument, true).await;
        }
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        self.shared.store.close(uri.as_str());
        self.shared.session().good_queries.remove(uri.as_str());
        self.shared
            .runs
            .cancel(Which::Document(uri.as_str().to_owned()))
            .await;
        // What is closed has no problems, as far as the editor's list goes.
        self.shared.publish_soon(uri.as_str());
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        self.shared.set_settings(&params.settings);
        for snapshot in self.shared.store.all() {
            self.shared.publish_soon(&snapshot.uri);
        }
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        let uri = params.text_document.uri;
        let snapshot = self.snapshot(&uri)?;
        let lenses = match self.sites_of(&uri).await? {
            Some((_, sites)) => {
                let asked = sites.iter().map(QuerySite::site).collect();
                let views = self.shared.runs.views(uri.as_str(), asked).await;
                code_lens::lenses(uri.as_str(), &sites, &views)
            }
            None => {
                let spans: Vec<_> = snapshot
                    .queries()
                    .iter()
                    .map(|q| q.query.span.shift(q.base))
                    .collect();
                code_lens::without_model(&spans)
            }
        };
        let place = Place {
            snapshot: &snapshot,
            encoding: self.shared.encoding(),
        };
        let convert = |lens| to_proto::code_lens(place, lens);
        Ok(Some(lenses.into_iter().map(convert).collect()))
    }

    async fn execute_command(
        &self,
        params: lsp::ExecuteCommandParams,
    ) -> Result<Option<lsp::LSPAny>> {
        let argument = Argument::read(&params.arguments).map_err(Error::invalid_params)?;
        match params.command.as_str() {
            commands::VERIFY => self.verify(&argument, false).await,
            commands::VERIFY_ALL => self.verify(&argument, true).await,
            commands::CANCEL => self.cancel(argument).await,
            commands::STATUS => self.status(&argument).await,
            commands::CLEAR => {
                self.shared.runs.clear();
                Ok(None)
            }
            other => Err(Error::invalid_params(format!("unknown command `{other}`"))),
        }
    }
}
