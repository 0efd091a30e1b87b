//! Bad input: an error answer or a message, never death.

use crate::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "int é𝄞_n; int n;\nprocess P() { state s; init s; trans s -> s { assign n = 1; }; }\nsystem P;\n";

fn alive(client: &mut Client) {
    let uri = "file:///tmp/zonelens-test/alive.xta";
    client.open(uri, "int a; process P() { state s; init s; } system P;");
    client.diagnostics(uri, 1);
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}});
    assert!(client.result("textDocument/hover", params)["contents"].is_object());
    client.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": uri}}),
    );
}

#[test]
fn broken_frames_do_not_end_the_server() {
    let hover = br#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}"#;
    let mut short = format!("Content-Length: {}\r\n\r\n", hover.len() - 9).into_bytes();
    short.extend_from_slice(hover);
    let frames: [&[u8]; 6] = [
        b"Content-Length: 12\r\n\r\n{\"jsonrpc\": ",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01",
        &short,
    ];
    for frame in frames {
        let mut client = Client::start(None, Value::Null);
        client.send_raw(frame);
        alive(&mut client);
        client.finish();
    }
}

#[test]
fn every_request_survives_every_position() {
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let general = json!({"positionEncodings": [encoding]});
        let mut client = Client::start_with(None, Value::Null, general);
        client.open(&uri, MODEL);
        let positions = [
            (0, 0),
            (0, 5),
            (0, 6),
            (0, 7),
            (0, 9999),
            (999, 0),
            (u32::MAX, u32::MAX),
        ];
        for (line, column) in positions {
            let at = json!({"line": line, "character": column});
            for method in [
                "hover",
                "completion",
                "definition",
                "typeDefinition",
                "implementation",
                "documentHighlight",
                "prepareRename",
                "signatureHelp",
                "prepareCallHierarchy",
                "codeAction",
                "inlayHint",
                "semanticTokens/range",
                "selectionRange",
                "references",
                "rename",
                "rangeFormatting",
            ] {
                let mut params = json!({
                    "textDocument": {"uri": uri}, "position": at, "positions": [at],
                    "range": {"start": at, "end": {"line": 0, "character": 1}},
                    "newName": "other", "options": {"tabSize": 4, "insertSpaces": true},
                });
                if method == "codeAction" {
                    params["context"] = json!({"diagnostics": []});
                } else if method == "references" {
                    params["context"] = json!({"includeDeclaration": true});
                }
                let answer = client.request(&format!("textDocument/{method}"), params);
                let code = answer["error"]["code"].as_i64();
                // Renaming may be refused.
                assert!(
                    code.is_none() || (method == "rename" && code == Some(-32602)),
                    "{answer}"
                );
            }
        }
        // The same name is found by the columns of each encoding.
        let column = match encoding {
            "utf-8" => MODEL.find("n;\nprocess").expect("there"),
            "utf-16" => {
                MODEL
                    .chars()
                    .take_while(|c| *c != '\n')
                    .map(char::len_utf16)
                    .sum::<usize>()
                    - 2
            }
            _ => MODEL.chars().take_while(|c| *c != '\n').count() - 2,
        };
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": MODEL.lines().nth(1).expect("there").find("n = 1").expect("there")}});
        let found = client.result("textDocument/definition", at);
        assert_eq!(
            found["range"]["start"],
            json!({"line": 0, "character": column}),
            "{encoding}"
        );
        client.finish();
    }
}

#[test]
fn files_that_vanish_are_no_reason_to_stop() {
    let directory = fresh_directory();
    let model = directory.join("m.xta");
    std::fs::write(&model, MODEL).expect("written");
    let uri = format!("file://{}", directory.join("m.q").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, "E<> n == 1\n");
    assert_eq!(client.diagnostics(&uri, 1).len(), 0);
    std::fs::remove_file(&model).expect("removed");
    client.replace(&uri, 2, "E<> n == 2\n");
    let list = client.diagnostics(&uri, 2);
    assert_eq!(list[0]["code"], "query/no-model", "{list:?}");
    let params = json!({"command": "zonelens.verify", "arguments": [{"uri": uri, "line": 0}]});
    assert!(client.request("workspace/executeCommand", params)["error"]["code"].is_i64());
    alive(&mut client);
    client.finish();
}

#[test]
fn a_document_of_fifty_megabytes_is_served() {
    let mut text =
        "// nothing but padding in this line, and many more of them\n".repeat(50_000_000 / 59);
    text.push_str(MODEL);
    let uri = "file:///tmp/zonelens-test/huge.xta";
    let mut client = Client::start(None, Value::Null);
    client.open(uri, &text);
    client.diagnostics(uri, 1);
    let line = text.lines().count() - 3;
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 15}});
    assert!(client.result("textDocument/hover", params)["contents"].is_object());
    alive(&mut client);
    client.finish();
}
