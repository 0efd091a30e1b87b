//! From the protocol's types to the server's own.

use crate::document::Change;
use crate::position::{Encoding, Point};
use tower_lsp_server::ls_types as lsp;

/// A position.
pub fn point(position: lsp::Position) -> Point {
    Point {
        line: position.line,
        column: position.character,
    }
}

/// Changes of a document, in order.
pub fn changes(events: Vec<lsp::TextDocumentContentChangeEvent>) -> Vec<Change> {
    events
        .into_iter()
        .map(|event| match event.range {
            Some(range) => Change::Range(point(range.start), point(range.end), event.text),
            None => Change::Full(event.text),
        })
        .collect()
}

/// The best encoding the client offers: bytes need no counting.
pub fn encoding(capabilities: &lsp::ClientCapabilities) -> Encoding {
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
pub struct Abilities {
    /// It shows progress that the server starts.
    pub progress: bool,
    /// It fetches lenses again when asked to.
    pub lens_refresh: bool,
    /// It fetches inlay hints again when asked to.
    pub hint_refresh: bool,
    /// It wants `zonelens/status` notifications.
    pub status: bool,
}

impl Abilities {
    /// Reads them.
    pub fn read(params: &lsp::InitializeParams) -> Abilities {
        let c = &params.capabilities;
        let workspace = c.workspace.as_ref();
        Abilities {
            progress: c
                .window
                .as_ref()
                .and_then(|w| w.work_done_progress)
                .unwrap_or(false),
            lens_refresh: workspace
                .and_then(|w| w.code_lens.as_ref())
                .and_then(|l| l.refresh_support)
                .unwrap_or(false),
            hint_refresh: workspace
                .and_then(|w| w.inlay_hint.as_ref())
                .and_then(|l| l.refresh_support)
                .unwrap_or(false),
            status: params
                .initialization_options
                .as_ref()
                .and_then(|o| o.get("statusNotifications"))
                .and_then(serde_json::Value::as_bool)
                .unwrap_or(false),
        }
    }
}
