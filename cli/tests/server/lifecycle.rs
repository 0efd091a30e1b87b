//! Greeting, goodbye, and messages that should not be.

use crate::server::client::Client;
use serde_json::{Value, json};

const URI: &str = "file:///tmp/zonelens-test/m.xta";
const MODEL: &str = "int a;\nprocess P() { state s; init s; }\nsystem P;\n//@ query A[] P.s\n";

#[test]
fn greeting_and_goodbye() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, MODEL);
    let list = client.diagnostics(URI, 1);
    assert!(list.iter().all(|d| d["severity"] != 1), "{list:?}");
    client.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": URI}}),
    );
    client.finish();
}

#[test]
fn commands_of_lenses_are_listed() {
    let mut client = Client::spawn(None);
    let answer = client.request("initialize", json!({"capabilities": {}}));
    let capabilities = &answer["result"]["capabilities"];
    let listed = capabilities["executeCommandProvider"]["commands"].to_string();
    for command in ["zonelens.verify", "zonelens.verifyAll", "zonelens.cancel"] {
        assert!(listed.contains(command), "{listed}");
    }
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(answer["result"]["serverInfo"]["name"], "zonelens");
    client.notify("initialized", json!({}));
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    let lenses = client.lenses(URI);
    for lens in &lenses {
        let command = lens["command"]["command"].as_str().expect("a command");
        assert!(listed.contains(command), "{command}");
    }
    client.finish();
}

#[test]
fn every_encoding_is_agreed_on() {
    for (offered, expected) in [
        (json!(["utf-8", "utf-16"]), "utf-8"),
        (json!(["utf-16"]), "utf-16"),
        (json!(["utf-32"]), "utf-32"),
        (json!(["utf-7"]), "utf-16"),
    ] {
        let mut client = Client::spawn(None);
        let general = json!({"positionEncodings": offered});
        let answer = client.request("initialize", json!({"capabilities": {"general": general}}));
        assert_eq!(
            answer["result"]["capabilities"]["positionEncoding"],
            expected
        );
        client.notify("initialized", json!({}));
        client.finish();
    }
}

#[test]
fn bad_messages_do_not_end_the_server() {
    let mut client = Client::start(None, Value::Null);
    let answer = client.request("textDocument/nonsense", json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    client.notify("textDocument/nonsense", json!({}));
    let answer = client.request("textDocument/codeLens", json!({"textDocument": 7}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client.request(
        "textDocument/codeLens",
        json!({"textDocument": {"uri": "file:///tmp/not/open.xta"}}),
    );
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    for argument in [
        json!(null),
        json!(7),
        json!({"uri": 3}),
        json!({"uri": "::"}),
    ] {
        for command in ["zonelens.verify", "zonelens.status", "zonelens.nothing"] {
            let params = json!({"command": command, "arguments": [argument]});
            let answer = client.request("workspace/executeCommand", params);
            assert!(answer["error"]["code"].is_i64(), "{answer}");
        }
    }
    client.send_raw(b"Content-Length: 9\r\n\r\nnot json!");
    client.wait("an error answer", |m| m["error"]["code"] == -32700);
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    assert_eq!(client.titles(URI).len(), 1);
    client.finish();
}

#[test]
fn strange_documents_are_served() {
    let mut client = Client::start(None, Value::Null);
    let long = format!("int a = {}1;", "1 + ".repeat(50_000));
    let texts = [
        "",
        "\u{feff}int a;",
        "\0\0\0",
        "int é𝄞;\r\rint b;",
        &long,
        "//@ query",
        "(((((((((",
    ];
    for (i, text) in texts.iter().enumerate() {
        for uri in [
            format!("file:///tmp/z/strange-{i}.xta"),
            format!("untitled:Untitled-{i}"),
            format!("file:///tmp/z/with%20space%C3%A9-{i}.q"),
            format!("file:///tmp/z/strange-{i}.xml"),
        ] {
            client.open(&uri, text);
            client.diagnostics(&uri, 1);
            client.lenses(&uri);
        }
    }
    client.finish();
}
