//! Random edits and requests over real models: an answer or a proper error to everything, and memory that comes back.

use crate::client::Client;
use crate::rng::Rng;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const METHODS: [&str; 12] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/documentHighlight",
    "textDocument/completion",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/codeLens",
    "textDocument/semanticTokens/full",
    "textDocument/prepareRename",
    "textDocument/typeDefinition",
    "textDocument/signatureHelp",
    "textDocument/formatting",
];

const PIECES: [&str; 16] = [
    "int a;",
    "{",
    "}",
    "(",
    ")",
    ";",
    "é",
    "𝄞",
    "\n",
    "process",
    "x",
    " < ",
    "&lt;",
    "//@ query A[] x\n",
    "[i]",
    "",
];

/// Models to edit: the corpus if it is there (`ZONELENS_CORPUS`), and the examples.
fn models(rng: &mut Rng) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = std::env::var_os("ZONELENS_CORPUS")
        .map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    let mut found = Vec::new();
    let mut open = vec![root.join("examples"), corpus];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|e| e == "xta" || e == "xml" || e == "q")
                && entry.metadata().is_ok_and(|m| m.len() < 200_000)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    let mut chosen = Vec::new();
    while chosen.len() < 40 && !found.is_empty() {
        chosen.push(found.swap_remove(rng.below(found.len())));
    }
    chosen
}

fn memory_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn edit(client: &mut Client, rng: &mut Rng, uri: &str, version: i64) {
    let line = rng.below(200);
    let column = rng.below(30);
    let end = json!({"line": line, "character": column + rng.below(6)});
    let change = json!({
        "range": {"start": {"line": line, "character": column}, "end": end},
        "text": rng.pick(&PIECES),
    });
    client.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}),
    );
}

fn ask(client: &mut Client, rng: &mut Rng, uri: &str) -> u64 {
    let position = json!({"line": rng.below(200), "character": rng.below(40)});
    let params = json!({
        "textDocument": {"uri": uri}, "position": position,
        "options": {"tabSize": 4, "insertSpaces": true},
    });
    let method: &str = METHODS[rng.below(METHODS.len())];
    client.post(method, params)
}

#[test]
fn random_edits_and_requests_over_real_models() {
    let seconds = std::env::var("ZONELENS_SOAK_SECONDS").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(8);
    let mut rng = Rng(2026);
    let mut client = Client::start(None, Value::Null);
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let (mut asked, mut rounds) = (0, 0);
    let mut settled = 0;
    while Instant::now() < deadline || rounds == 0 {
        let models = models(&mut rng);
        for path in &models {
            let Ok(text) = std::fs::read_to_string(path) else {
                continue;
            };
            let uri = format!(
                "file:///tmp/soak/{}",
                path.file_name().and_then(|n| n.to_str()).unwrap_or("m.xta")
            );
            let uri = uri.replace([' ', '%', '#', '[', ']'], "_");
            client.open(&uri, &text);
            let mut ids = Vec::new();
            for version in 2..22 {
                edit(&mut client, &mut rng, &uri, version);
                ids.push(ask(&mut client, &mut rng, &uri));
                ids.push(ask(&mut client, &mut rng, &uri));
            }
            asked += ids.len();
            for id in ids {
                let answer = client.answer(id);
                let code = answer["error"]["code"].as_i64();
                assert!(
                    code.is_none() || code == Some(-32801),
                    "{}: {answer}",
                    path.display()
                );
            }
            client.diagnostics(&uri, 21);
            client.notify(
                "textDocument/didClose",
                json!({"textDocument": {"uri": uri}}),
            );
            if Instant::now() >= deadline {
                break;
            }
        }
        rounds += 1;
        eprintln!("round {rounds}: {} KB", memory_kb(client.pid()));
        if rounds == 1 {
            settled = memory_kb(client.pid());
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    let after = memory_kb(client.pid());
    eprintln!(
        "{asked} requests in {rounds} rounds; {settled} KB after the first, {after} KB at the end"
    );
    // Allocators keep some; what must not be is growth with every document.
    assert!(
        after < settled * 2 + 100_000,
        "{settled} KB grew to {after} KB"
    );
    client.finish();
}
