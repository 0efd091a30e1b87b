//! The protocol's face: what messages change, and which feature answers which request.
//!
//! Notification handlers change the documents before their first await, in the order of the messages. Requests work on
//! snapshots on other threads; one that an edit overtakes answers `ContentModified`.

use crate::announce;
use crate::capabilities::capabilities;
use crate::code_lens;
use crate::commands::{self, Argument};
use crate::document::Snapshot;
use crate::features::{
    code_action, completion, document_symbol, folding_range, formatting, hover, names, rename,
    selection_range, semantic_tokens, signature_help, workspace_symbol,
};
use crate::from_proto::{self, Abilities};
use crate::queries::QuerySite;
use crate::runs::Which;
use crate::shared::Shared;
use crate::status;
use crate::store::Store;
use crate::to_proto::{self, Place};
use crate::traces;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;
use tower_lsp_server::{Client, LanguageServer};
use zonelens_syntax::span::Span;

/// The server.
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

impl Server {
    /// A server that has not been greeted yet. Must be called inside a runtime.
    pub fn new(client: Client, worker: std::path::PathBuf, version: String) -> Server {
        Server {
            shared: Shared::start(client, worker, version),
        }
    }

    pub(crate) fn snapshot(&self, uri: &lsp::Uri) -> Result<Arc<Snapshot>> {
        self.shared.store.get(uri.as_str()).ok_or_else(|| {
            Error::invalid_params(format!("the document {} is not open", uri.as_str()))
        })
    }

    /// Runs `work` on another thread; a panic there is an error answer here.
    pub(crate) async fn compute<T: Send + 'static>(
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

    /// Runs a feature at a position of a document.
    async fn at<T: Send + 'static>(
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

    async fn goto(
        &self,
        at: lsp::TextDocumentPositionParams,
        find: fn(&Store, &Arc<Snapshot>, u32) -> Option<names::Target>,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        self.at(at, move |place, shared, offset| {
            let target = find(&shared.store, place.snapshot, offset)?;
            let location = to_proto::location(&target, place.encoding)?;
            Some(lsp::GotoDefinitionResponse::Scalar(location))
        })
        .await
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
        self.shared.forget(uri.as_str());
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
                let mut lenses = code_lens::lenses(uri.as_str(), &sites, &views);
                // The network is there already: the meaning of the queries needed it.
                let templates = snapshot
                    .network()
                    .map(|(n, _)| code_lens::over_templates(n));
                lenses.extend(templates.unwrap_or_default());
                lenses
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

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let at = params.text_document_position_params;
        self.goto(at, names::definition).await
    }

    async fn goto_type_definition(
        &self,
        params: lsp::request::GotoTypeDefinitionParams,
    ) -> Result<Option<lsp::request::GotoTypeDefinitionResponse>> {
        let at = params.text_document_position_params;
        self.goto(at, names::type_definition).await
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        let with_declaration = params.context.include_declaration;
        self.at(
            params.text_document_position,
            move |place, shared, offset| {
                let found =
                    names::references(&shared.store, place.snapshot, offset, with_declaration);
                let convert = |target| to_proto::location(target, place.encoding);
                Some(found.iter().filter_map(convert).collect())
            },
        )
        .await
    }

    async fn document_highlight(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        let at = params.text_document_position_params;
        self.at(at, |place, shared, offset| {
            let found = names::highlights(&shared.store, place.snapshot, offset);
            let convert = |(span, writes)| lsp::DocumentHighlight {
                range: place.range(span),
                kind: Some(match writes {
                    true => lsp::DocumentHighlightKind::WRITE,
                    false => lsp::DocumentHighlightKind::READ,
                }),
            };
            Some(found.into_iter().map(convert).collect())
        })
        .await
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let at = params.text_document_position_params;
        self.at(at, |place, shared, offset| {
            let (span, value) = hover::hover(&shared.store, place.snapshot, offset)?;
            Some(lsp::Hover {
                contents: lsp::HoverContents::Markup(lsp::MarkupContent {
                    kind: lsp::MarkupKind::Markdown,
                    value,
                }),
                range: Some(place.range(span)),
            })
        })
        .await
    }

    async fn prepare_rename(
        &self,
        params: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        self.at(params, |place, shared, offset| {
            let (span, placeholder) = rename::prepare(&shared.store, place.snapshot, offset)?;
            Some(lsp::PrepareRenameResponse::RangeWithPlaceholder {
                range: place.range(span),
                placeholder,
            })
        })
        .await
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        let new = params.new_name;
        self.at(
            params.text_document_position,
            move |place, shared, offset| {
                rename::rename(&shared.store, place.snapshot, offset, &new)
                    .map(|targets| Some(to_proto::rename(&targets, &new, place.encoding)))
            },
        )
        .await?
        .map_err(Error::invalid_params)
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        self.feature(&params.text_document.uri, |place, shared| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let symbols = document_symbol::symbols(&names);
            let convert = |symbol| to_proto::document_symbol(place, symbol);
            let list = symbols.iter().map(convert).collect();
            Some(lsp::DocumentSymbolResponse::Nested(list))
        })
        .await
    }

    async fn folding_range(
        &self,
        params: lsp::FoldingRangeParams,
    ) -> Result<Option<Vec<lsp::FoldingRange>>> {
        self.feature(&params.text_document.uri, |place, _| {
            let folds = folding_range::folds(place.snapshot);
            Some(folds.iter().map(to_proto::folding_range).collect())
        })
        .await
    }

    async fn selection_range(
        &self,
        params: lsp::SelectionRangeParams,
    ) -> Result<Option<Vec<lsp::SelectionRange>>> {
        let positions = params.positions;
        self.feature(&params.text_document.uri, move |place, _| {
            let at = |position: &lsp::Position| {
                let offset = place.offset(*position);
                let spans = selection_range::spans(place.snapshot, offset);
                to_proto::selection_range(place, &spans)
            };
            positions.iter().map(at).collect()
        })
        .await
    }

    async fn formatting(
        &self,
        params: lsp::DocumentFormattingParams,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        self.feature(&params.text_document.uri, |place, _| {
            let edits = formatting::format_document(place.snapshot)?;
            Some(edits.iter().map(|e| place.edit(e)).collect())
        })
        .await
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let range = params.range;
        self.feature(&params.text_document.uri, move |place, shared| {
            let model = shared.store.model_of(place.snapshot);
            let (start, end) = (place.offset(range.start), place.offset(range.end));
            let span = Span::new(start.min(end), start.max(end));
            let found = code_action::actions(place.snapshot, model.as_deref(), span);
            let convert = |action| to_proto::code_action(place, action);
            Some(found.iter().filter_map(convert).collect())
        })
        .await
    }

    async fn completion(
        &self,
        params: lsp::CompletionParams,
    ) -> Result<Option<lsp::CompletionResponse>> {
        self.at(params.text_document_position, |place, shared, offset| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let found = completion::proposals(&names, offset);
            let items = found.into_iter().map(to_proto::completion_item).collect();
            Some(lsp::CompletionResponse::Array(items))
        })
        .await
    }

    async fn signature_help(
        &self,
        params: lsp::SignatureHelpParams,
    ) -> Result<Option<lsp::SignatureHelp>> {
        let at = params.text_document_position_params;
        self.at(at, |place, shared, offset| {
            let names = names::Names::of(&shared.store, place.snapshot);
            signature_help::signature(&names, offset).map(to_proto::signature_help)
        })
        .await
    }

    async fn symbol(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
        self.compute(move |shared| {
            let found = workspace_symbol::find(&shared.store, &params.query);
            let encoding = shared.encoding();
            let convert = |f| to_proto::workspace_symbol(f, encoding);
            let list = found.iter().filter_map(convert).collect();
            Some(lsp::WorkspaceSymbolResponse::Nested(list))
        })
        .await
    }

    async fn inlay_hint(
        &self,
        params: lsp::InlayHintParams,
    ) -> Result<Option<Vec<lsp::InlayHint>>> {
        let range = params.range;
        self.feature(&params.text_document.uri, move |place, shared| {
            let span = Span::new(place.offset(range.start), place.offset(range.end));
            let found = traces::hints_in(shared, place.snapshot);
            let inside = found.iter().filter(|h| span.touches(h.offset));
            Some(inside.map(|h| to_proto::inlay_hint(place, h)).collect())
        })
        .await
    }

    async fn semantic_tokens_full(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        self.feature(&params.text_document.uri, |place, shared| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let tokens = semantic_tokens::tokens(&names, None);
            let converted = to_proto::semantic_tokens(place, &tokens);
            Some(lsp::SemanticTokensResult::Tokens(converted))
        })
        .await
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        let range = params.range;
        self.feature(&params.text_document.uri, move |place, shared| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let span = Span::new(place.offset(range.start), place.offset(range.end));
            let tokens = semantic_tokens::tokens(&names, Some(span));
            let converted = to_proto::semantic_tokens(place, &tokens);
            Some(lsp::SemanticTokensRangeResult::Tokens(converted))
        })
        .await
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
            command => traces::command(&self.shared, command, argument)
                .await
                .map(Some)
                .map_err(Error::invalid_params),
        }
    }
}
