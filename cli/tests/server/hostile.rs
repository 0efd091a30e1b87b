//! Bad input: an error answer or a message, never death.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "int é𝄞_n; int n;\nprocess P() { state s; init s; trans s -> s { assign n = 1; }; }\nsystem P;\n";

const PLAIN: &str =
    "int n;\nprocess P() { state s; init s; trans s -> s { assign n = 1; }; }\nsystem P;\n";

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
        // The only answer to what is no message, if any, is that it cannot be read.
        client.unread.retain(|m| m["error"]["code"] != -32700);
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

/// Editors may hold half a character and send it escaped. Nothing else may be lost with it.
#[test]
fn half_a_character_is_one_character() {
    let uri = "file:///tmp/zonelens-test/half.xta";
    let mut client = Client::start(None, Value::Null);
    client.open(uri, "// x\nint a;\n");
    let body = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{uri}","version":2}},"contentChanges":[{{"range":{{"start":{{"line":0,"character":3}},"end":{{"line":0,"character":4}}}},"text":"\ud834-\ud834\udd1e"}}]}}}}"#
    );
    client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    let after = json!({"line": 0, "character": 7});
    let change = json!({"range": {"start": after, "end": after}, "text": "!"});
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": uri, "version": 3}, "contentChanges": [change]}),
    );
    let answer = client.result("zonelens/documentText", json!({"uri": uri}));
    assert_eq!(answer["text"], "// \u{fffd}-𝄞!\nint a;\n");
    client.diagnostics(uri, 3);
    client.finish();
}

/// Each client has its own idea of what to escape; the path is the same.
#[test]
fn paths_count_not_their_escapes() {
    let directory = fresh_directory();
    std::fs::write(directory.join("a (1).xta"), "system P;").expect("written");
    let base = format!("file://{}", directory.display());
    let mut client = Client::start(None, Value::Null);
    client.open(&format!("{base}/a%20%281%29.xta"), PLAIN);
    let queries = format!("{base}/a%20(1).q");
    client.open(&queries, "E<> n == 1\n");
    assert_eq!(client.diagnostics(&queries, 1), Vec::<Value>::new());
    client.command("zonelens.verifyAll", json!({"uri": queries}));
    client.wait_states(&queries, &["satisfied"]);
    client.finish();
}

#[test]
fn documents_without_a_file_have_it_all() {
    let mut client = Client::start(None, Value::Null);
    for (model, queries) in [
        ("vscode-vfs://github/a/m.xta", "vscode-vfs://github/a/m.q"),
        ("memory:m.xta", "memory:m.q"),
    ] {
        client.open(model, PLAIN);
        client.open(queries, "E<> n == 1\n");
        assert_eq!(client.diagnostics(queries, 1), Vec::<Value>::new());
        client.command("zonelens.verifyAll", json!({"uri": queries}));
        client.wait_states(queries, &["satisfied"]);
        let step = client.command("zonelens.trace.open", json!({"uri": queries}));
        assert_eq!(step["model"], model);
        let at = json!({"textDocument": {"uri": queries}, "position": {"line": 0, "character": 4}});
        let found = client.result("textDocument/definition", at);
        assert_eq!(found["uri"], model);
    }
    client.finish();
}

#[test]
fn messages_at_the_wrong_time_get_an_error() {
    let mut client = Client::spawn(None);
    let params = json!({"textDocument": {"uri": "file:///tmp/zonelens-test/early.xta"}});
    let early = client.request("textDocument/codeLens", params);
    assert_eq!(early["error"]["code"], -32002, "{early}");
    let mut client = client.initialize(json!({"capabilities": {}}));
    // The answer to a question that nobody asked.
    let body = json!({"jsonrpc": "2.0", "id": 99, "result": {}}).to_string();
    client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    alive(&mut client);
    let again = client.request("initialize", json!({"capabilities": {}}));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    // After an `exit` without a `shutdown` the status is 1.
    client.notify("exit", Value::Null);
    assert_eq!(client.status(), Some(1));
}

#[test]
fn a_request_can_be_cancelled() {
    let mut client = Client::start(None, Value::Null);
    let uri = "file:///tmp/zonelens-test/cancelled.xta";
    let line = |i| format!("int a{i} = 1 + 2 * 3;\n");
    let padding: String = (0..20_000).map(line).collect();
    client.open(uri, &format!("{padding}{PLAIN}"));
    let id = client.post(
        "textDocument/documentSymbol",
        json!({"textDocument": {"uri": uri}}),
    );
    client.notify("$/cancelRequest", json!({"id": id}));
    client.notify("$/cancelRequest", json!({"id": 12345}));
    let answer = client.answer(id);
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    alive(&mut client);
    client.finish();
}

/// Many large texts are being read at once; what needs no reading does not wait for them.
#[test]
fn a_pile_of_slow_requests_holds_up_nothing_else() {
    let mut client = Client::start(None, Value::Null);
    let line = |i| format!("int a{i} = 1 + 2 * 3;\n");
    let padding: String = (0..4000).map(line).collect();
    let uri = |i: usize| format!("file:///tmp/zonelens-test/pile-{i}.xta");
    for i in 0..24 {
        client.open(&uri(i), &format!("{padding}{PLAIN}"));
    }
    // Everything up to here has been read.
    client.result("zonelens/serverStatus", json!({}));
    let slow = |i| {
        let params = json!({"textDocument": {"uri": uri(i)}});
        client.post("textDocument/documentSymbol", params)
    };
    let asked: Vec<u64> = (0..24).map(slow).collect();
    client.result("zonelens/serverStatus", json!({}));
    let before = client.answered();
    for id in asked {
        client.answer(id);
    }
    // Behind the pool's queue it would come after most of them.
    assert!(before < 12, "{before} slow requests were answered before");
    client.finish();
}
