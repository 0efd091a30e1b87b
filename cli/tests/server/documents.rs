//! The server's text is the client's text, whatever is edited how fast.

use crate::client::Client;
use crate::rng::Rng;
use serde_json::{Value, json};

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

/// A position of `text` in UTF-16, as a client counts.
fn position(text: &str, at: usize) -> Value {
    let (mut line, mut start) = (0, 0);
    let bytes = text.as_bytes();
    for i in 0..at {
        let ends = bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
        if ends {
            line += 1;
            start = i + 1;
        }
    }
    let column: usize = text[start..at].chars().map(char::len_utf16).sum();
    json!({"line": line, "character": column})
}

/// Where an edit may start or end: between characters, never between CR and LF, whose middle has no position.
fn boundary(rng: &mut Rng, text: &str) -> usize {
    let mut at = rng.below(text.len() + 1);
    let middle = |at: usize| at > 0 && at < text.len() && &text.as_bytes()[at - 1..=at] == b"\r\n";
    while !text.is_char_boundary(at) || middle(at) {
        at -= 1;
    }
    at
}

#[test]
fn a_thousand_edits_arrive_in_order() {
    let mut rng = Rng(42);
    let mut client = Client::start(None, Value::Null);
    let mut text = "int a;\nint b;\n".to_owned();
    client.open(URI, &text);
    let mut waiting: Vec<(u64, i64, String)> = Vec::new();
    let mut others = Vec::new();
    for version in 2..=1001 {
        let mut changes = Vec::new();
        for _ in 0..=rng.below(3) {
            let (a, b) = (boundary(&mut rng, &text), boundary(&mut rng, &text));
            let (mut start, mut end) = (a.min(b), a.max(b));
            if end - start > 40 {
                (start, end) = (start, start);
            }
            let piece = *rng.pick(&PIECES);
            changes.push(json!({
                "range": {"start": position(&text, start), "end": position(&text, end)},
                "text": piece,
            }));
            text.replace_range(start..end, piece);
        }
        client.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": changes}),
        );
        if rng.below(2) == 0 {
            let id = client.post("zonelens/documentText", json!({"uri": URI}));
            waiting.push((id, version, text.clone()));
        }
        if rng.below(4) == 0 {
            let params = json!({"textDocument": {"uri": URI}});
            others.push(client.post("textDocument/codeLens", params));
        }
    }
    for (id, version, expected) in waiting {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["version"], version);
        assert_eq!(
            answer["result"]["text"],
            expected.as_str(),
            "version {version}"
        );
    }
    for id in others {
        let answer = client.answer(id);
        let code = answer["error"]["code"].as_i64();
        assert!(code.is_none() || code == Some(-32801), "{answer}");
    }
    client.diagnostics(URI, 1001);
    client.finish();
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
