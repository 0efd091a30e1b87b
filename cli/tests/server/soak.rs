//! Random edits and requests over real models: an answer or a proper error to everything, and
//! memory that comes back.

use crate::server::client::{Client, fresh_directory};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zonelens_test_support::Rng;

const METHODS: [&str; 18] = [
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
    "textDocument/implementation",
    "textDocument/prepareCallHierarchy",
    "textDocument/documentLink",
    "textDocument/inlayHint",
    "textDocument/codeAction",
    "zonelens/drawing",
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
fn models(rng: &mut Rng, count: usize) -> Vec<PathBuf> {
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
    while chosen.len() < count && !found.is_empty() {
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
    let mut params = json!({
        "uri": uri, "textDocument": {"uri": uri}, "position": position,
        "range": {"start": position, "end": {"line": 999, "character": 0}},
        "options": {"tabSize": 4, "insertSpaces": true},
    });
    let method: &str = METHODS[rng.below(METHODS.len())];
    if method == "textDocument/codeAction" {
        params["context"] = json!({"diagnostics": []});
    }
    client.post(method, params)
}

#[test]
fn random_edits_and_requests_over_real_models() {
    let seconds = std::env::var("ZONELENS_SOAK_SECONDS").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(8);
    let mut rng = Rng(2026);
    let log = fresh_directory().join("soak.log");
    let mut client =
        Client::spawn_logging(None, &fresh_directory(), Some(&log)).initialize(json!({
            "processId": null, "rootUri": null,
            "initializationOptions": {"statusNotifications": true, "timeout": 1},
            "capabilities": {"window": {"workDoneProgress": true}},
        }));
    let began = Instant::now();
    let deadline = began + Duration::from_secs(seconds);
    // The same models in every round: a larger one than before would look like a leak.
    let count = match seconds {
        0..30 => 15,
        30..300 => 40,
        _ => 200,
    };
    let models = models(&mut rng, count);
    let (mut asked, mut rounds) = (0, 0);
    let mut resident = Vec::new();
    let mut more = MORE_ROUNDS;
    let mut is_open = |rounds: usize, resident: &[u64]| {
        if Instant::now() < deadline || rounds < FEWEST_ROUNDS {
            return true;
        }
        // Noise settles when there is more to judge by, and a leak goes on.
        more -= 1;
        more > 0 && grows(resident)
    };
    while is_open(rounds, &resident) {
        for path in &models {
            asked += visit(&mut client, &mut rng, path);
        }
        rounds += 1;
        client.unread.clear();
        let after = idle_memory_kb(&mut client);
        resident.push(after);
        let passed = began.elapsed().as_secs();
        eprintln!("soak: {rounds} | {passed} | {asked} | {after}");
    }
    let (grown, most) = trend(&resident);
    assert!(
        !grows(&resident),
        "resident memory grows by {grown:.2} of what it is, more than {most:.2}: {resident:?} KB"
    );
    client.finish();
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(!log.contains("panic"), "{log}");
}

/// Rounds that the trend is read from at least.
const FEWEST_ROUNDS: usize = 6;

/// Rounds that are added at most where memory seems to grow when the time is over.
const MORE_ROUNDS: usize = 18;

/// Whether memory grows by more than noise does.
fn grows(resident: &[u64]) -> bool {
    let (grown, most) = trend(resident);
    grown > most
}

/// By how much of its median the memory grows over all rounds but the first, and how much of that
/// may be noise. Single rounds say little: an allocator keeps a fifth more after one round and
/// gives it back after the next, above all on a busy machine. So it is the median of the slopes
/// between any two rounds that counts, and the fewer rounds there are the more it may be off. The
/// first round is left out: a server that was never asked anything has not even loaded its own
/// code.
fn trend(resident: &[u64]) -> (f64, f64) {
    let rounds: Vec<f64> = resident.iter().skip(1).map(|kb| *kb as f64).collect();
    let middle = |mut list: Vec<f64>| -> f64 {
        list.sort_by(f64::total_cmp);
        list.get(list.len() / 2).copied().unwrap_or(0.0)
    };
    let mut slopes = Vec::new();
    for (i, a) in rounds.iter().enumerate() {
        for (j, b) in rounds.iter().enumerate().skip(i + 1) {
            slopes.push((b - a) / (j - i) as f64);
        }
    }
    let count = rounds.len() as f64;
    let grown = middle(slopes) * (count - 1.0) / middle(rounds).max(1.0);
    (grown, 0.2 * (1.0 + 6.0 / count))
}

#[test]
fn the_trend_tells_noise_from_a_leak() {
    // As measured: no leak, and the last round a quarter above the first.
    assert!(!grows(&[18_880, 19_072, 19_612, 17_740, 19_768, 23_600]));
    assert!(!grows(&[17_000, 22_000, 18_000, 21_500, 19_000, 21_400]));
    assert!(!grows(&[30_000, 18_000, 18_000, 18_000, 18_000, 18_000]));
    // One megabyte in twenty stays behind in every round.
    let leak: Vec<u64> = (0..60)
        .map(|k| 18_000 + 900 * k + 1_500 * (k % 3))
        .collect();
    assert!(grows(&leak));
    // Few rounds, all documents kept.
    assert!(grows(&[18_000, 22_000, 26_000, 30_000, 34_000, 38_000]));
}

/// Opens a model, edits and asks, sometimes verifies, and closes it.
fn visit(client: &mut Client, rng: &mut Rng, path: &Path) -> usize {
    let Ok(text) = std::fs::read_to_string(path) else {
        return 0;
    };
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("m.xta");
    let uri = format!(
        "file:///tmp/soak/{}",
        name.replace([' ', '%', '#', '[', ']'], "_")
    );
    client.open(&uri, &text);
    if rng.below(4) == 0 {
        let argument = json!({"command": "zonelens.verifyAll", "arguments": [{"uri": uri}]});
        client.request("workspace/executeCommand", argument);
    }
    let mut ids = Vec::new();
    for version in 2..22 {
        edit(client, rng, &uri, version);
        ids.push(ask(client, rng, &uri));
        ids.push(ask(client, rng, &uri));
    }
    let asked = ids.len();
    for id in ids {
        let answer = client.answer(id);
        let code = answer["error"]["code"].as_i64();
        // A query file may stand alone.
        let message = answer["error"]["message"].as_str();
        let alone = message == Some("there is no model next to this query file");
        let fine = code.is_none() || code == Some(-32801) || alone;
        assert!(fine, "{}: {answer}", path.display());
    }
    client.diagnostics(&uri, 21);
    let closed = json!({"textDocument": {"uri": uri}});
    client.notify("textDocument/didClose", closed);
    asked
}

/// Resident memory once nothing is open and nothing runs.
fn idle_memory_kb(client: &mut Client) -> u64 {
    client.poll("the server to be idle", |c| {
        let status = c.result("zonelens/serverStatus", json!({}));
        (status["documents"] == 0 && status["runs"] == json!([])).then_some(())
    });
    // Idle threads go after two seconds.
    std::thread::sleep(Duration::from_secs(3));
    memory_kb(client.pid())
}
