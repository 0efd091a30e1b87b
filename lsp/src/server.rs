//! The protocol's face: what messages change, and which feature answers which request.
//!
//! Notification handlers change the documents before their first await, in the order of the
//! messages. Requests work on snapshots on other threads; one that an edit overtakes answers
//! `ContentModified`.

mod editing;
mod panels;
mod support;
mod verification;

pub(crate) use panels::PROTOCOL;

use crate::capabilities::capabilities;
use crate::commands::{self, Argument};
use crate::coverage;
use crate::folders;
use crate::from_proto::{self, ClientCapabilities};
use crate::input::ClientHints;
use crate::large_answer::LargeAnswers;
use crate::leave::Leave;
use crate::outline;
use crate::rule_pages;
use crate::runs::Which;
use crate::shared::Shared;
use crate::simulation;
use crate::to_proto;
use crate::traces;
use crate::typing;
use crate::uri;
use std::path::PathBuf;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;
use tower_lsp_server::{Client, LanguageServer};
use zonelens_analysis::trace_text;
use zonelens_ide::Snapshot;
use zonelens_ide::{
    call_hierarchy, code_action, completion, document_link, document_symbol, folding_range, hover,
    inlay_hint, names, rename, selection_range, semantic_tokens, signature_help, workspace_symbol,
};
use zonelens_project::project;
use zonelens_syntax::ast::FileKind;

/// The server.
pub(crate) struct Server {
    pub(crate) shared: Arc<Shared>,
    /// What the client says and the protocol crate leaves out.
    hints: Arc<ClientHints>,
    leave: Arc<Leave>,
    /// What goes past the protocol crate to the output.
    answers: Arc<LargeAnswers>,
}

impl Server {
    /// A server that has not been greeted yet. Must be called inside a runtime.
    pub(crate) fn new(
        client: Client,
        worker: PathBuf,
        version: String,
        answers: Arc<LargeAnswers>,
        hints: Arc<ClientHints>,
        leave: Arc<Leave>,
    ) -> Server {
        Server {
            shared: Shared::start(client, worker, version),
            answers,
            hints,
            leave,
        }
    }
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
        let client = ClientCapabilities {
            document_content: self.hints.document_content(),
            ..ClientCapabilities::read(&params)
        };
        self.shared.agree(encoding, client);
        if let Some(process) = params.process_id {
            self.leave.with_process(process);
        }
        let configuration = &self.shared.configuration;
        configuration.set_roots(from_proto::roots(&params));
        configuration.set_trusted(client.trusted);
        if let Some(options) = params.initialization_options {
            configuration.set_editor(options);
        }
        Ok(lsp::InitializeResult {
            capabilities: capabilities(encoding, client),
            server_info: Some(lsp::ServerInfo {
                name: "zonelens".to_owned(),
                version: Some(self.shared.version.clone()),
            }),
            offset_encoding: None,
        })
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        // Messages to the client may only follow its greeting.
        self.shared.settings_changed();
        let (shared, server) = (Arc::clone(&self.shared), self.fetcher());
        tokio::spawn(async move {
            let wanted = crate::registrations::wanted(shared.capabilities());
            if !wanted.is_empty() {
                let _ = shared.client.register_capability(wanted).await;
            }
            server.fetch().await;
        });
    }

    async fn shutdown(&self) -> Result<()> {
        self.hints.goodbye();
        self.shared.simulation.close();
        self.shared.runs.cancel(Which::All).await;
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let uri = document.uri.as_str();
        let (language, version) = (&document.language_id, document.version);
        let constants = self.shared.constants_for(uri);
        let store = &self.shared.store;
        store.open(uri, language, version, &document.text, constants);
        self.shared.publish_soon(uri);
        if trace_text::is_xtr(uri) {
            let kind = lsp::MessageType::INFO;
            let name = crate::uri::name(uri);
            let message = format!("{name}: {}.", trace_text::XTR);
            self.shared.client.show_message(kind, message).await;
        }
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let uri = params.text_document.uri.as_str();
        let changes = from_proto::changes(params.content_changes);
        let encoding = self.shared.encoding();
        self.shared
            .store
            .change(uri, params.text_document.version, changes, encoding);
        self.shared.publish_soon(uri);
        typing::edited(&self.shared, uri);
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        let uri = params.text_document.uri.as_str();
        let wanted = self.shared.settings_for(uri).verify_on_save;
        if wanted && !self.shared.capabilities().untrusted {
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
        self.shared.runs.closed(uri.as_str());
        // What is closed has no problems, as far as the editor's list goes.
        self.shared.publish_soon(uri.as_str());
        self.shared.tidy_soon();
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        // Clients that are asked for settings send nothing here, or not all.
        if self.shared.capabilities().configuration {
            self.fetcher().fetch().await;
        } else {
            self.shared.configuration.set_editor(params.settings);
            self.shared.settings_changed();
        }
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let added = from_proto::folder_paths(&params.event.added);
        let removed = from_proto::folder_paths(&params.event.removed);
        self.shared.configuration.change_roots(added, &removed);
        self.shared.settings_changed();
    }

    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        self.shared.store.forget_files();
        let mut paths = params
            .changes
            .iter()
            .filter_map(|c| uri::to_path(c.uri.as_str()));
        if paths.any(|p| p.file_name().is_some_and(|n| n == project::FILE_NAME)) {
            self.shared.configuration.forget();
            self.shared.settings_changed();
        }
        for snapshot in self.shared.store.all() {
            // The diagnostics of a query file depend on its model, which may have changed.
            if snapshot.kind == FileKind::Query {
                self.shared.publish_again(&snapshot.uri);
            }
        }
        self.shared.runs.touch();
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        let lenses = self.lenses(&params.text_document.uri).await;
        lenses.map(Some)
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

    async fn goto_implementation(
        &self,
        params: lsp::request::GotoImplementationParams,
    ) -> Result<Option<lsp::request::GotoImplementationResponse>> {
        let at = params.text_document_position_params;
        self.at(at, |place, shared, offset| {
            let found = names::implementations(&shared.store, place.snapshot, offset);
            let convert = |target| to_proto::location(target, place.encoding);
            let list = found.iter().filter_map(convert).collect();
            Some(lsp::GotoDefinitionResponse::Array(list))
        })
        .await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: lsp::CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
        let at = params.text_document_position_params;
        self.at(at, |place, shared, offset| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let found = call_hierarchy::prepare(&names, offset)?;
            Some(vec![to_proto::caller(&found, place.encoding)?])
        })
        .await
    }

    async fn incoming_calls(
        &self,
        params: lsp::CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
        let calls = self.calls(params.item, call_hierarchy::incoming).await?;
        let convert = |(from, from_ranges)| lsp::CallHierarchyIncomingCall { from, from_ranges };
        Ok(Some(calls.into_iter().map(convert).collect()))
    }

    async fn outgoing_calls(
        &self,
        params: lsp::CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
        let calls = self.calls(params.item, call_hierarchy::outgoing).await?;
        let convert = |(to, from_ranges)| lsp::CallHierarchyOutgoingCall { to, from_ranges };
        Ok(Some(calls.into_iter().map(convert).collect()))
    }

    async fn document_link(
        &self,
        params: lsp::DocumentLinkParams,
    ) -> Result<Option<Vec<lsp::DocumentLink>>> {
        self.feature(&params.text_document.uri, |place, shared| {
            let found = document_link::links(&shared.store, place.snapshot);
            let convert = |link| to_proto::document_link(place, link);
            Some(found.iter().filter_map(convert).collect())
        })
        .await
    }

    async fn diagnostic(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        let uri = params.text_document.uri;
        let report = crate::publish::pull(&self.shared, uri.as_str(), params.previous_result_id);
        report.await.ok_or_else(content_modified)
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
        let named = self.at(at.clone(), |place, shared, offset| {
            let (span, value) = hover::hover(&shared.store, place.snapshot, offset)?;
            Some(to_proto::hover(place, span, value))
        });
        match named.await? {
            Some(hover) => Ok(Some(hover)),
            None => self.hover_query(at).await,
        }
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
                let versioned = shared.capabilities().document_changes;
                rename::rename(&shared.store, place.snapshot, offset, &new).map(|targets| {
                    let version = |s: &Arc<Snapshot>| match shared.store.is_current(s) {
                        true => Some(s.version),
                        false => None,
                    };
                    let versions = versioned.then_some(&version as _);
                    let edits = rename::edits(&targets, &new);
                    Some(to_proto::workspace_edit(&edits, place.encoding, versions))
                })
            },
        )
        .await?
        .map_err(Error::invalid_params)
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        let written = self.feature(&params.text_document.uri, |place, shared| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let symbols = document_symbol::symbols(&names);
            outline::to_json(place, &symbols)
        });
        let written = written.await?;
        Err(self.answers.keep(written))
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
        self.format(&params.text_document.uri, params.options, None)
            .await
    }

    async fn range_formatting(
        &self,
        params: lsp::DocumentRangeFormattingParams,
    ) -> Result<Option<Vec<lsp::TextEdit>>> {
        self.format(
            &params.text_document.uri,
            params.options,
            Some(params.range),
        )
        .await
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let (range, context) = (params.range, params.context);
        let only = context.only;
        self.feature(&params.text_document.uri, move |place, shared| {
            let wanted = |action: &&code_action::Action| {
                let kind = to_proto::action_kind(action.kind);
                let within = |k: &lsp::CodeActionKind| {
                    kind.as_str() == k.as_str()
                        || kind.as_str().starts_with(&format!("{}.", k.as_str()))
                };
                only.as_ref().is_none_or(|only| only.iter().any(within))
            };
            let named = context.diagnostics.iter();
            let asked: Vec<_> = named.map(|d| place.span(d.range)).collect();
            let span = place.span(range);
            let found = code_action::actions(&shared.store, place.snapshot, span, &asked);
            let link = |d: &mut lsp::Diagnostic| shared.rules.link(d);
            let convert = |action| to_proto::code_action(place, action, &link);
            Some(found.iter().filter(wanted).filter_map(convert).collect())
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
            let snapshot = place.snapshot;
            let written = |text: &str| snapshot.file().written(text, offset).into_owned();
            let convert = |proposal| to_proto::completion_item(proposal, &written);
            let items = found.into_iter().map(convert).collect();
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
        self.compute("", move |shared| {
            let roots = shared.configuration.roots();
            let documents = folders::documents(&shared.store, &roots);
            let found = workspace_symbol::find(documents, &params.query);
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
            let span = place.span(range);
            let of_trace = traces::hints_in(shared, place.snapshot);
            let of_trace = of_trace.iter().filter(|h| span.touches(h.offset));
            let mut out: Vec<_> = of_trace
                .map(|h| to_proto::inlay_hint(place, h, None))
                .collect();
            if shared.settings_for(&place.snapshot.uri).inlay_hints {
                let fixed = inlay_hint::hints(place.snapshot, span);
                let kind = Some(lsp::InlayHintKind::TYPE);
                out.extend(fixed.iter().map(|h| to_proto::inlay_hint(place, h, kind)));
            }
            Some(out)
        })
        .await
    }

    async fn semantic_tokens_full(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        let (tokens, _) = self.tokens(&params.text_document.uri).await?;
        Err(self.answers.keep(tokens.to_json()))
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
        let (tokens, before) = self.tokens(&params.text_document.uri).await?;
        let before = before.filter(|(id, _)| id.to_string() == params.previous_result_id);
        let Some((_, old)) = before else {
            return Err(self.answers.keep(tokens.to_json()));
        };
        let edit = semantic_tokens::difference(&old, &tokens.numbers);
        let edit = edit.map(|(start, gone, come)| lsp::SemanticTokensEdit {
            start: start as u32,
            delete_count: gone as u32,
            data: Some(to_proto::tokens_of(&come)),
        });
        let delta = lsp::SemanticTokensDelta {
            result_id: Some(tokens.id.to_string()),
            edits: edit.into_iter().collect(),
        };
        Ok(Some(lsp::SemanticTokensFullDeltaResult::TokensDelta(delta)))
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        let range = params.range;
        self.feature(&params.text_document.uri, move |place, shared| {
            let names = names::Names::of(&shared.store, place.snapshot);
            let tokens = semantic_tokens::tokens(&names, Some(place.span(range)));
            let numbers = to_proto::token_numbers(place, &tokens);
            let data = to_proto::tokens_of(&numbers);
            let result_id = None;
            let tokens = lsp::SemanticTokens { result_id, data };
            Some(lsp::SemanticTokensRangeResult::Tokens(tokens))
        })
        .await
    }

    async fn execute_command(
        &self,
        params: lsp::ExecuteCommandParams,
    ) -> Result<Option<lsp::LSPAny>> {
        if !commands::ALL.contains(&params.command.as_str()) {
            let message = format!("there is no command `{}`", params.command);
            return Err(Error::invalid_params(message));
        }
        if params.command == commands::EDIT {
            return self.edit(params.arguments).await;
        }
        let argument = Argument::read(&params.arguments).map_err(Error::invalid_params)?;
        if argument.uri.as_deref().is_some_and(trace_text::is_xtr) {
            return Err(Error::invalid_params(trace_text::XTR));
        }
        match params.command.as_str() {
            commands::VERIFY => self.verify(&argument, false).await,
            commands::VERIFY_ALL => self.verify(&argument, true).await,
            commands::CANCEL => self.cancel(argument).await,
            commands::STATUS => self.status(&argument).await,
            commands::COVERAGE => {
                let uri = verification::required_uri(&argument)?;
                coverage::command(&self.shared, uri.as_str())
                    .await
                    .map(Some)
                    .map_err(Error::invalid_params)
            }
            commands::CLEAR => {
                self.shared.runs.clear();
                self.shared.coverage.clear();
                Ok(None)
            }
            commands::SHOW_LOG => Ok(Some(self.show_log())),
            commands::EXPLAIN => {
                let page = rule_pages::command(&self.shared, argument).await;
                page.map(Some).map_err(Error::invalid_params)
            }
            command if command.starts_with(simulation::COMMANDS) => {
                simulation::command(&self.shared, command, argument)
                    .await
                    .map(Some)
                    .map_err(Error::invalid_params)
            }
            command => traces::command(&self.shared, command, argument)
                .await
                .map(Some)
                .map_err(Error::invalid_params),
        }
    }
}
