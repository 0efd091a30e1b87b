//! What the server asks the client for once it was greeted.

use crate::from_proto::ClientCapabilities;
use crate::rule_pages;
use crate::trace_document;
use serde_json::json;
use tower_lsp_server::ls_types as lsp;
use zonelens_project::project;

/// What to register, as far as the client can.
pub(crate) fn wanted(capabilities: ClientCapabilities) -> Vec<lsp::Registration> {
    let mut out = Vec::new();
    if capabilities.watches_files {
        let watchers = json!([
            { "globPattern": "**/*.{xta,ta,xml,q}" },
            { "globPattern": format!("**/{}", project::FILE_NAME) },
        ]);
        out.push(registration(
            "workspace/didChangeWatchedFiles",
            json!({ "watchers": watchers }),
        ));
    }
    if capabilities.document_content {
        out.push(registration(
            "workspace/textDocumentContent",
            json!({ "schemes": [trace_document::SCHEME, rule_pages::SCHEME] }),
        ));
    }
    out
}

fn registration(method: &str, options: serde_json::Value) -> lsp::Registration {
    lsp::Registration {
        id: format!("zonelens/{method}"),
        method: method.to_owned(),
        register_options: Some(options),
    }
}
