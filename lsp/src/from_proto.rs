//! From the protocol's types to the server's own.

use crate::document::Change;
use crate::position::{Encoding, Point};
use crate::uri;
use std::path::PathBuf;
use tower_lsp_server::ls_types as lsp;

/// A position.
pub(crate) fn point(position: lsp::Position) -> Point {
    Point {
        line: position.line,
        column: position.character,
    }
}

/// Changes of a document, in order.
pub(crate) fn changes(events: Vec<lsp::TextDocumentContentChangeEvent>) -> Vec<Change> {
    events
        .into_iter()
        .map(|event| match event.range {
            Some(range) => Change::Range(point(range.start), point(range.end), event.text),
            None => Change::Full(event.text),
        })
        .collect()
}

/// The best encoding the client offers: bytes need no counting.
pub(crate) fn encoding(capabilities: &lsp::ClientCapabilities) -> Encoding {
    let offered = capabilities
        .general
        .as_ref()
        .and_then(|g| g.position_encodings.as_deref())
        .unwrap_or(&[]);
    if offered.contains(&lsp::PositionEncodingKind::UTF8) {
        Encoding::Utf8
    } else if offered.contains(&lsp::PositionEncodingKind::UTF16) || offered.is_empty() {
        Encoding::Utf16
    } else if offered.contains(&lsp::PositionEncodingKind::UTF32) {
        Encoding::Utf32
    } else {
        Encoding::Utf16
    }
}

/// What of the client's abilities the server acts on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientCapabilities {
    /// It shows progress that the server starts.
    pub progress: bool,
    /// It fetches lenses again when asked to.
    pub lens_refresh: bool,
    /// It fetches inlay hints again when asked to.
    pub hint_refresh: bool,
    /// It fetches diagnostics itself.
    pub pulls: bool,
    /// It fetches diagnostics again when asked to.
    pub diagnostic_refresh: bool,
    /// It knows `docs/protocol.md`.
    pub extensions: bool,
    /// It opens documents when asked to.
    pub show_document: bool,
    /// It fetches the text of documents from the server.
    pub document_content: bool,
    /// It tells of changed files when asked to.
    pub watches_files: bool,
    /// It takes edits of a version of a document.
    pub document_changes: bool,
    /// It can be asked for settings.
    pub configuration: bool,
    /// The workspace is not trusted: nothing runs by itself.
    pub untrusted: bool,
    /// The client says that the workspace is trusted. Who says nothing does not vouch for its
    /// files.
    pub trusted: bool,
}

impl ClientCapabilities {
    /// Reads them.
    pub(crate) fn read(params: &lsp::InitializeParams) -> ClientCapabilities {
        // As JSON: the types at hand do not know the newest parts of the protocol.
        let capabilities = serde_json::to_value(&params.capabilities).unwrap_or_default();
        let can = |path: &str| {
            let value = capabilities.pointer(path);
            value.and_then(serde_json::Value::as_bool) == Some(true)
        };
        let options = params.initialization_options.as_ref();
        let option = |name: &str| options.and_then(|o| o.get(name)?.as_bool());
        ClientCapabilities {
            progress: can("/window/workDoneProgress"),
            lens_refresh: can("/workspace/codeLens/refreshSupport"),
            hint_refresh: can("/workspace/inlayHint/refreshSupport"),
            pulls: capabilities.pointer("/textDocument/diagnostic").is_some(),
            diagnostic_refresh: can("/workspace/diagnostics/refreshSupport")
                || can("/workspace/diagnostic/refreshSupport"),
            extensions: option("statusNotifications") == Some(true),
            show_document: can("/window/showDocument/support"),
            document_content: false,
            watches_files: can("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            document_changes: can("/workspace/workspaceEdit/documentChanges"),
            configuration: can("/workspace/configuration"),
            untrusted: option("trusted") == Some(false),
            trusted: option("trusted") == Some(true),
        }
    }
}

/// The folders of the workspace.
pub(crate) fn roots(params: &lsp::InitializeParams) -> Vec<PathBuf> {
    match &params.workspace_folders {
        Some(folders) if !folders.is_empty() => folder_paths(folders),
        _ => {
            #[expect(deprecated, reason = "clients without folders still send it")]
            let root = params.root_uri.as_ref();
            let path = root.and_then(|uri| uri::to_path(uri.as_str()));
            path.into_iter().collect()
        }
    }
}

/// The paths of folders that have one.
pub(crate) fn folder_paths(folders: &[lsp::WorkspaceFolder]) -> Vec<PathBuf> {
    let path = |f: &lsp::WorkspaceFolder| uri::to_path(f.uri.as_str());
    folders.iter().filter_map(path).collect()
}
