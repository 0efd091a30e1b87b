//! `zonelens.edit`: a gesture of the picture, answered with the edit that does it.

use super::{Server, content_modified};
use crate::to_proto;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types as lsp;
use zonelens_ide::{Snapshot, gesture};
use zonelens_render::places::places;
use zonelens_syntax::gesture::Gesture;

/// The argument of the command.
#[derive(Deserialize)]
struct Asked {
    /// The document.
    uri: lsp::Uri,
    /// Its version in which the user saw the picture.
    version: i32,
    /// The template; without meaning where one is added.
    #[serde(default)]
    template: String,
    /// What the user did.
    gesture: Gesture,
}

impl Server {
    /// Answers with the edit; nothing is applied here.
    pub(super) async fn edit(&self, arguments: Vec<Value>) -> Result<Option<lsp::LSPAny>> {
        let argument = arguments.into_iter().next().unwrap_or_default();
        let asked: Asked = serde_json::from_value(argument).map_err(|error| {
            Error::invalid_params(format!("the gesture cannot be read: {error}"))
        })?;
        let snapshot = self.snapshot(&asked.uri)?;
        if snapshot.version != asked.version {
            return Err(content_modified());
        }
        let uri = asked.uri.clone();
        let done = self.feature(&uri, move |place, shared| {
            let Asked {
                template, gesture, ..
            } = &asked;
            if place.snapshot.version != asked.version {
                return Ok(None);
            }
            let store = &shared.store;
            let edited = gesture::edit(store, place.snapshot, template, gesture, &places)?;
            let versioned = shared.capabilities().document_changes;
            let version = |s: &Arc<Snapshot>| store.is_current(s).then_some(s.version);
            let versions = versioned.then_some(&version as _);
            let edit = to_proto::workspace_edit(&edited.documents, place.encoding, versions);
            Ok(Some(json!({
                "edit": edit, "title": edited.title, "added": edited.added, "note": edited.note,
            })))
        });
        let done: std::result::Result<Option<Value>, String> = done.await?;
        let answer = done.map_err(Error::invalid_params)?;
        answer.map(Some).ok_or_else(content_modified)
    }
}
