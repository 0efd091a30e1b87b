//! What the server offers.

use crate::commands;
use crate::from_proto::ClientCapabilities;
use crate::position::Encoding;
use crate::server::PROTOCOL;
use tower_lsp_server::ls_types as lsp;
use zonelens_ide::semantic_tokens::{MODIFIERS, TYPES};

/// The capabilities for a client that counts columns by `encoding`.
pub(crate) fn capabilities(
    encoding: Encoding,
    client: ClientCapabilities,
) -> lsp::ServerCapabilities {
    lsp::ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
            Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
            Encoding::Utf32 => lsp::PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
                save: Some(lsp::TextDocumentSyncSaveOptions::Supported(true)),
                ..lsp::TextDocumentSyncOptions::default()
            },
        )),
        code_lens_provider: Some(lsp::CodeLensOptions {
            resolve_provider: Some(false),
        }),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: commands::ALL.map(str::to_owned).to_vec(),
            ..lsp::ExecuteCommandOptions::default()
        }),
        definition_provider: Some(lsp::OneOf::Left(true)),
        implementation_provider: Some(lsp::ImplementationProviderCapability::Simple(true)),
        call_hierarchy_provider: Some(lsp::CallHierarchyServerCapability::Simple(true)),
        document_link_provider: Some(lsp::DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        }),
        document_range_formatting_provider: Some(lsp::OneOf::Left(true)),
        diagnostic_provider: client.pulls.then(|| {
            lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
                identifier: Some("zonelens".to_owned()),
                inter_file_dependencies: true,
                // `zonelens check` looks at whole folders; here that would only repeat it at every
                // keystroke.
                workspace_diagnostics: false,
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            })
        }),
        type_definition_provider: Some(lsp::TypeDefinitionProviderCapability::Simple(true)),
        references_provider: Some(lsp::OneOf::Left(true)),
        document_highlight_provider: Some(lsp::OneOf::Left(true)),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        document_symbol_provider: Some(lsp::OneOf::Left(true)),
        folding_range_provider: Some(lsp::FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(lsp::SelectionRangeProviderCapability::Simple(true)),
        document_formatting_provider: Some(lsp::OneOf::Left(true)),
        rename_provider: Some(lsp::OneOf::Right(lsp::RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        })),
        code_action_provider: Some(lsp::CodeActionProviderCapability::Options(
            lsp::CodeActionOptions {
                code_action_kinds: Some(vec![
                    lsp::CodeActionKind::QUICKFIX,
                    lsp::CodeActionKind::REFACTOR_EXTRACT,
                    lsp::CodeActionKind::REFACTOR_REWRITE,
                ]),
                ..lsp::CodeActionOptions::default()
            },
        )),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: Some(vec![".".to_owned()]),
            ..lsp::CompletionOptions::default()
        }),
        workspace_symbol_provider: Some(lsp::OneOf::Left(true)),
        signature_help_provider: Some(lsp::SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..lsp::SignatureHelpOptions::default()
        }),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        experimental: Some(serde_json::json!({ "zonelens": { "protocol": PROTOCOL } })),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(lsp::OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        semantic_tokens_provider: Some(semantic_tokens()),
        ..lsp::ServerCapabilities::default()
    }
}

fn semantic_tokens() -> lsp::SemanticTokensServerCapabilities {
    lsp::SemanticTokensServerCapabilities::SemanticTokensOptions(lsp::SemanticTokensOptions {
        legend: lsp::SemanticTokensLegend {
            token_types: TYPES.map(lsp::SemanticTokenType::new).to_vec(),
            token_modifiers: MODIFIERS.map(lsp::SemanticTokenModifier::new).to_vec(),
        },
        range: Some(true),
        full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
        ..lsp::SemanticTokensOptions::default()
    })
}
