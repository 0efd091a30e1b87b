//! Every message against the protocol's own model.
//!
//! The types of `gen-lsp-types` are generated from the official metamodel, and the server does not
//! use them. A message is right if it can be read as its type, and if nothing of it is lost by
//! that: fields the protocol does not know would be.

use gen_lsp_types::{Notification, Request, lsp_notification, lsp_request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The result of a client's request. Requests of our own are described in `docs/protocol.md` alone.
pub(super) fn check_result(method: &str, value: &Value) {
    match method {
        "textDocument/implementation" => {
            check::<<lsp_request!("textDocument/implementation") as Request>::Result>(method, value)
        }
        "textDocument/typeDefinition" => {
            check::<<lsp_request!("textDocument/typeDefinition") as Request>::Result>(method, value)
        }
        "textDocument/foldingRange" => {
            check::<<lsp_request!("textDocument/foldingRange") as Request>::Result>(method, value)
        }
        "textDocument/definition" => {
            check::<<lsp_request!("textDocument/definition") as Request>::Result>(method, value)
        }
        "textDocument/selectionRange" => {
            check::<<lsp_request!("textDocument/selectionRange") as Request>::Result>(method, value)
        }
        "textDocument/prepareCallHierarchy" => check::<
            <lsp_request!("textDocument/prepareCallHierarchy") as Request>::Result,
        >(method, value),
        "callHierarchy/incomingCalls" => {
            check::<<lsp_request!("callHierarchy/incomingCalls") as Request>::Result>(method, value)
        }
        "callHierarchy/outgoingCalls" => {
            check::<<lsp_request!("callHierarchy/outgoingCalls") as Request>::Result>(method, value)
        }
        "textDocument/semanticTokens/full" => check::<
            <lsp_request!("textDocument/semanticTokens/full") as Request>::Result,
        >(method, value),
        "textDocument/semanticTokens/full/delta" => check::<
            <lsp_request!("textDocument/semanticTokens/full/delta") as Request>::Result,
        >(method, value),
        "textDocument/semanticTokens/range" => check::<
            <lsp_request!("textDocument/semanticTokens/range") as Request>::Result,
        >(method, value),
        "textDocument/inlayHint" => {
            check::<<lsp_request!("textDocument/inlayHint") as Request>::Result>(method, value)
        }
        "textDocument/diagnostic" => {
            check::<<lsp_request!("textDocument/diagnostic") as Request>::Result>(method, value)
        }
        "initialize" => check::<<lsp_request!("initialize") as Request>::Result>(method, value),
        "shutdown" => check::<<lsp_request!("shutdown") as Request>::Result>(method, value),
        "textDocument/completion" => {
            check::<<lsp_request!("textDocument/completion") as Request>::Result>(method, value)
        }
        "textDocument/hover" => {
            check::<<lsp_request!("textDocument/hover") as Request>::Result>(method, value)
        }
        "textDocument/signatureHelp" => {
            check::<<lsp_request!("textDocument/signatureHelp") as Request>::Result>(method, value)
        }
        "textDocument/references" => {
            check::<<lsp_request!("textDocument/references") as Request>::Result>(method, value)
        }
        "textDocument/documentHighlight" => check::<
            <lsp_request!("textDocument/documentHighlight") as Request>::Result,
        >(method, value),
        "textDocument/documentSymbol" => {
            check::<<lsp_request!("textDocument/documentSymbol") as Request>::Result>(method, value)
        }
        "textDocument/codeAction" => {
            check::<<lsp_request!("textDocument/codeAction") as Request>::Result>(method, value)
        }
        "workspace/symbol" => {
            check::<<lsp_request!("workspace/symbol") as Request>::Result>(method, value)
        }
        "textDocument/codeLens" => {
            check::<<lsp_request!("textDocument/codeLens") as Request>::Result>(method, value)
        }
        "textDocument/documentLink" => {
            check::<<lsp_request!("textDocument/documentLink") as Request>::Result>(method, value)
        }
        "textDocument/formatting" => {
            check::<<lsp_request!("textDocument/formatting") as Request>::Result>(method, value)
        }
        "textDocument/rangeFormatting" => check::<
            <lsp_request!("textDocument/rangeFormatting") as Request>::Result,
        >(method, value),
        "textDocument/rename" => {
            check::<<lsp_request!("textDocument/rename") as Request>::Result>(method, value)
        }
        "textDocument/prepareRename" => {
            check::<<lsp_request!("textDocument/prepareRename") as Request>::Result>(method, value)
        }
        "workspace/executeCommand" => {
            check::<<lsp_request!("workspace/executeCommand") as Request>::Result>(method, value)
        }
        "workspace/textDocumentContent" => check::<
            <lsp_request!("workspace/textDocumentContent") as Request>::Result,
        >(method, value),
        other => assert!(is_ours(other), "no type is known for the answer to {other}"),
    }
}

/// The parameters of a server's request.
pub(super) fn check_request(method: &str, value: &Value) {
    match method {
        "window/workDoneProgress/create" => check::<
            <lsp_request!("window/workDoneProgress/create") as Request>::Params,
        >(method, value),
        "workspace/codeLens/refresh" => {
            check::<<lsp_request!("workspace/codeLens/refresh") as Request>::Params>(method, value)
        }
        "workspace/inlayHint/refresh" => {
            check::<<lsp_request!("workspace/inlayHint/refresh") as Request>::Params>(method, value)
        }
        "client/registerCapability" => {
            check::<<lsp_request!("client/registerCapability") as Request>::Params>(method, value)
        }
        "window/showDocument" => {
            check::<<lsp_request!("window/showDocument") as Request>::Params>(method, value)
        }
        "workspace/configuration" => {
            check::<<lsp_request!("workspace/configuration") as Request>::Params>(method, value)
        }
        "workspace/diagnostic/refresh" => check::<
            <lsp_request!("workspace/diagnostic/refresh") as Request>::Params,
        >(method, value),
        other => panic!("no type is known for the request {other}"),
    }
}

/// The parameters of a server's notification.
pub(super) fn check_notification(method: &str, value: &Value) {
    match method {
        "textDocument/publishDiagnostics" => check::<
            <lsp_notification!("textDocument/publishDiagnostics") as Notification>::Params,
        >(method, value),
        "$/progress" => {
            check::<<lsp_notification!("$/progress") as Notification>::Params>(method, value)
        }
        "window/showMessage" => check::<
            <lsp_notification!("window/showMessage") as Notification>::Params,
        >(method, value),
        other => assert!(
            is_ours(other),
            "no type is known for the notification {other}"
        ),
    }
}

fn is_ours(method: &str) -> bool {
    method.starts_with("zonelens/") || method == "textDocument/nonsense"
}

fn check<T: DeserializeOwned + Serialize>(method: &str, value: &Value) {
    let read: T = match serde_json::from_value(value.clone()) {
        Ok(read) => read,
        Err(error) => panic!("{method} breaks the protocol ({error}): {value}"),
    };
    let again = serde_json::to_value(&read).expect("JSON");
    if let Some(path) = lost(value, &again, String::new()) {
        panic!("{method}: the protocol does not know {path} in {value}");
    }
}

/// What of `sent` is not in `kept`; an absent field is as good as null.
fn lost(sent: &Value, kept: &Value, path: String) -> Option<String> {
    match (sent, kept) {
        (Value::Object(a), Value::Object(b)) => a.iter().find_map(|(key, value)| {
            let here = format!("{path}/{key}");
            match b.get(key) {
                Some(other) => lost(value, other, here),
                None => (!value.is_null()).then_some(here),
            }
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(i, (x, y))| lost(x, y, format!("{path}/{i}")))
        }
        (Value::Number(a), Value::Number(b)) => (a.as_f64() != b.as_f64()).then_some(path),
        _ => (sent != kept).then_some(path),
    }
}

#[test]
fn wrong_messages_are_found() {
    let wrong = |method: &str, value: Value| {
        let method = method.to_owned();
        std::panic::catch_unwind(move || check_result(&method, &value)).is_err()
    };
    assert!(wrong(
        "textDocument/hover",
        serde_json::json!({"contents": 7})
    ));
    assert!(wrong(
        "textDocument/hover",
        serde_json::json!({"contents": {"kind": "markdown", "value": ""}, "colour": 1})
    ));
    assert!(wrong(
        "textDocument/codeLens",
        serde_json::json!([{"command": null}])
    ));
    assert!(!wrong("textDocument/codeLens", Value::Null));
}
