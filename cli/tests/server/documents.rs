//! The server's text is the client's text, whatever is edited how fast.

use crate::server::client::Client;
use serde_json::{Value, json};
use zonelens_test_support::Rng;

const URI: &str = "file:///tmp/zonelens-test/edits.xta";
const PIECES: [&str; 14] = [
    "int a;\n",
    "clock x;",
    "é",
    "𝄞",
    "\r\n",
    "\r",
    "\n",
    "{",
    "}",
    "process P() { state s; init s; }",
    "//@ query A[] P.s\n",
    "system P;",
    "",
    "/* … */",
];

/// A position of `text`, as a client counts that agreed on `encoding`.
fn position(text: &str, at: usize, encoding: &str) -> Value {
    let (mut line, mut start) = (0, 0);
    let bytes = text.as_bytes();
    for i in 0..at {
        let ends = bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
        if ends {
            line += 1;
            start = i + 1;
        }
    }
    let before = text[start..at].chars();
    let column: usize = match encoding {
        "utf-8" => before.map(char::len_utf8).sum(),
        "utf-16" => before.map(char::len_utf16).sum(),
        _ => before.count(),
    };
    json!({"line": line, "character": column})
}

/// Where an edit may start or end: between characters, never between CR and LF, whose middle has no
/// position.
fn boundary(rng: &mut Rng, text: &str) -> usize {
    let mut at = rng.below(text.len() + 1);
    let middle = |at: usize| at > 0 && at < text.len() && &text.as_bytes()[at - 1..=at] == b"\r\n";
    while !text.is_char_boundary(at) || middle(at) {
        at -= 1;
    }
    at
}

/// What depends on the whole text: an answer about another version would differ.
const ASKED: [&str; 5] = [
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/semanticTokens/full",
    "textDocument/codeLens",
    STATUS,
];
const STATUS: &str = "zonelens.status";

/// The method and parameters that ask for one of [`ASKED`].
fn asking(what: &'static str) -> (&'static str, Value) {
    match what {
        STATUS => (
            "workspace/executeCommand",
            json!({"command": STATUS, "arguments": [{"uri": URI}]}),
        ),
        method => (method, json!({"textDocument": {"uri": URI}})),
    }
}

/// Random edits of `text`, as the protocol says them, done to it as well.
fn edits(rng: &mut Rng, text: &mut String, encoding: &str) -> Vec<Value> {
    let mut changes = Vec::new();
    for _ in 0..=rng.below(3) {
        let (a, b) = (boundary(rng, text), boundary(rng, text));
        let (start, mut end) = (a.min(b), a.max(b));
        // The text shall grow: large parts stay.
        if end - start > 40 {
            end = start;
        }
        let piece = rng.pick(&PIECES);
        changes.push(json!({
            "range": {"start": position(text, start, encoding), "end": position(text, end, encoding)},
            "text": piece,
        }));
        text.replace_range(start..end, piece);
    }
    changes
}

/// Sends edits as fast as they can be written, with requests between them. After every one of them
/// the server must have the client's text, and what it says of a version must be what a server says
/// that never saw another.
fn edited_in_order(encoding: &str, versions: i64, seed: u64) {
    let mut rng = Rng(seed);
    let general = json!({"positionEncodings": [encoding]});
    let mut client = Client::start_with(None, Value::Null, general.clone());
    let mut text = "int a;\nint b;\n".to_owned();
    client.open(URI, &text);
    let mut texts = Vec::new();
    let mut others = Vec::new();
    for version in 2..=versions {
        let changes = edits(&mut rng, &mut text, encoding);
        client.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": changes}),
        );
        let id = client.post("zonelens/documentText", json!({"uri": URI}));
        texts.push((id, version, text.clone()));
        if rng.below(2) == 0 {
            let method = rng.pick(&ASKED);
            let (name, params) = asking(method);
            let id = client.post(name, params);
            // Sometimes the answer comes before the next edit.
            let answer = (rng.below(3) == 0).then(|| client.answer(id));
            others.push((id, method, answer, text.clone(), version));
        }
    }
    for (id, version, expected) in texts {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["version"], version);
        assert_eq!(answer["result"]["text"], expected.as_str(), "{version}");
    }
    client.diagnostics(URI, versions);
    let mut fresh = Client::start_with(None, Value::Null, general);
    let mut compared = 0;
    for (id, method, answer, text, version) in others {
        let answer = answer.unwrap_or_else(|| client.answer(id));
        if let Some(code) = answer["error"]["code"].as_i64() {
            assert_eq!(code, -32801, "{answer}");
            continue;
        }
        let closed = json!({"textDocument": {"uri": URI}});
        fresh.notify("textDocument/didClose", closed);
        fresh.open_version(URI, version, &text);
        let (name, params) = asking(method);
        let wanted = fresh.result(name, params);
        assert!(
            agree(method, &answer["result"], &wanted),
            "{method} of version {version}: {text:?}\n{answer}\n{wanted}"
        );
        compared += 1;
    }
    assert!(compared > versions / 10, "{compared} answers");
    client.finish();
    fresh.finish();
}

/// Whether an answer is that of a server that knows no other version. Queries may be more: they
/// outlive errors.
fn agree(method: &str, answer: &Value, fresh: &Value) -> bool {
    let places = |list: &Value, name: &str| -> Vec<Value> {
        let list = list.as_array().into_iter().flatten();
        list.map(|q| json!([q["range"], q[name]])).collect()
    };
    let within = |more: Vec<Value>, less: Vec<Value>| less.iter().all(|q| more.contains(q));
    match method {
        "textDocument/semanticTokens/full" => answer["data"] == fresh["data"],
        "textDocument/codeLens" => within(places(answer, ""), places(fresh, "")),
        STATUS => {
            let versions = |list: &Value| -> Vec<Value> {
                let list = list.as_array().into_iter().flatten();
                list.map(|q| q["version"].clone()).collect()
            };
            within(versions(answer), versions(fresh))
                && within(places(answer, "query"), places(fresh, "query"))
        }
        _ => answer == fresh,
    }
}

#[test]
fn a_thousand_edits_arrive_in_order() {
    edited_in_order("utf-16", 1001, 42);
}

#[test]
fn edits_arrive_in_every_encoding() {
    edited_in_order("utf-8", 150, 43);
    edited_in_order("utf-32", 150, 44);
}

#[test]
fn wild_positions_are_clamped() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, "int 𝄞;\n");
    let far = json!({"line": 4_000_000_000u32, "character": 4_000_000_000u32});
    let half = json!({"line": 0, "character": 5});
    let edit = |range: Value, text: &str| json!({"range": range, "text": text});
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": URI, "version": 2}, "contentChanges": [
            edit(json!({"start": far, "end": far}), "end"),
            edit(json!({"start": half, "end": half}), "a"),
            edit(json!({"start": far, "end": {"line": 1, "character": 0}}), ""),
        ]}),
    );
    let answer = client.result("zonelens/documentText", json!({"uri": URI}));
    assert_eq!(answer["text"], "int a𝄞;\n");
    client.finish();
}

/// Traces of UPPAAL are not read: one sentence when opened and when asked, and no diagnostics.
#[test]
fn a_trace_of_uppaal_is_answered_with_a_sentence() {
    let mut client = Client::start(None, json!({}));
    let uri = "file:///tmp/zonelens-test/t.xtr";
    client.open(uri, "0 0 .\n1 0 5 ;\n.\n");
    let told = client.wait("the sentence", |m| m["method"] == "window/showMessage");
    let sentence = "`.xtr` traces are not read; verify the query";
    assert!(told.to_string().contains(sentence), "{told}");
    let listed = client.result(
        "textDocument/documentSymbol",
        json!({"textDocument": {"uri": uri}}),
    );
    assert_eq!(listed, json!([]));
    assert_eq!(client.all_lenses(uri), [json!(null); 0]);
    for command in [
        "zonelens.trace.open",
        "zonelens.verifyAll",
        "zonelens.simulation.start",
    ] {
        let params = json!({"command": command, "arguments": [{"uri": uri}]});
        let answer = client.request("workspace/executeCommand", params);
        assert!(answer["error"].to_string().contains(sentence), "{answer}");
    }
    client.finish();
}
