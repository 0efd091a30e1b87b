//! Latencies on a large model while a verification uses both cores: `cargo xtask bench` runs this
//! and keeps its lines.

use crate::server::client::Client;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const LONG: &str = "\
process P(const int[0, 13] i) {
    clock x;
    int n;
    state s, t { x <= 5 }, u;
    init s;
    trans s -> t { guard n < 9; assign x = 0, n = n + 1; }, t -> u { guard x >= 3; }, u -> s { };
}
system P;
//@ query A[] not (P(0).u && P(1).u && P(2).u && P(0).n == 9 && P(1).n == 1 && false)
";

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |t: Duration| format!("{:.1}", t.as_secs_f64() * 1e3);
    let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
    eprintln!(
        "bench: | {name} | {} | {} | {} |",
        times.len(),
        ms(at(0.5)),
        ms(at(0.99))
    );
}

fn timed(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

#[test]
#[ignore = "a measurement: run by `cargo xtask bench`"]
fn latencies() {
    let model = std::env::var("ZONELENS_BENCH_MODEL").expect("the path of a large model");
    let text = std::fs::read_to_string(Path::new(&model)).expect("readable");
    let options = json!({"symmetry": "off", "parallelRuns": 2, "threads": 2});
    let mut client = Client::start(None, options);
    let (large, long) = ("file:///tmp/bench/large.xta", "file:///tmp/bench/long.xta");
    client.open(large, &text);
    client.diagnostics(large, 1);
    client.open(long, LONG);
    client.command("zonelens.verify", json!({"uri": long, "line": 8}));
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");

    let line = text.lines().count() / 2;
    let at = (line..)
        .zip(text.lines().skip(line))
        .find(|(_, l)| l.contains("x >= 2"));
    let (line, column) = at
        .map(|(n, l)| (n, l.find("x >= 2").unwrap_or(0) + 5))
        .expect("there");
    let keystroke = |client: &mut Client, version: i64| {
        let start = json!({"line": line, "character": column});
        let end = json!({"line": line, "character": column + 1});
        let change =
            json!({"range": {"start": start, "end": end}, "text": (version % 5 + 2).to_string()});
        client.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": large, "version": version}, "contentChanges": [change]}),
        );
        client.diagnostics(large, version);
    };
    let mut typed = Vec::new();
    let (mut hovered, mut completed) = (Vec::new(), Vec::new());
    for version in 2..102 {
        typed.push(timed(|| keystroke(&mut client, version)));
        let params = json!({"textDocument": {"uri": large}, "position": {"line": line, "character": column - 5}});
        hovered.push(timed(|| {
            assert!(
                client
                    .result("textDocument/hover", params.clone())
                    .is_object()
            )
        }));
        completed.push(timed(|| {
            assert!(
                client
                    .result("textDocument/completion", params.clone())
                    .is_array()
            )
        }));
    }
    row("keystroke to diagnostics", typed);
    row("hover", hovered);
    row("completion", completed);

    let mut idle = Vec::new();
    client.command("zonelens.cancel", json!({}));
    for _ in 0..20 {
        client.command("zonelens.verify", json!({"uri": long, "line": 8}));
        client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
        idle.push(timed(|| {
            client.command("zonelens.cancel", json!({}));
            while !client.children().is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }));
    }
    row("cancel to idle", idle);
    lens_states(&mut client, long);
    typed_queries(&mut client);
    let _: Value = client.result("zonelens/serverStatus", json!({}));
    client.finish();
}

/// From a command to the lens that shows what it did.
fn lens_states(client: &mut Client, long: &str) {
    let shows = |client: &mut Client, part: &str| {
        while !client.titles(long).iter().any(|title| title.contains(part)) {}
    };
    let (mut begun, mut counted, mut cancelled) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20 {
        let query = json!({"uri": long, "line": 8});
        begun.push(timed(|| {
            client.command("zonelens.verify", query.clone());
            shows(client, "◌");
        }));
        counted.push(timed(|| shows(client, "states")));
        cancelled.push(timed(|| {
            client.command("zonelens.cancel", json!({}));
            shows(client, "⊘ cancelled");
        }));
    }
    row("verify to the lens that says so", begun);
    row("and to its first counts", counted);
    row("cancel to the lens that says so", cancelled);
}

/// From a keystroke to the verdict on the lens, with `verifyOnType`; the pause of 300 ms is part of
/// it.
fn typed_queries(client: &mut Client) {
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"zonelens": {"verifyOnType": true}}}),
    );
    let uri = "file:///tmp/bench/typed.xta";
    let text = |limit: i64| {
        format!(
            "int[0, 99] n;\nprocess P() {{ state s; init s; trans s -> s {{ guard n < {limit}; assign n = n + 1; }}; }}\nsystem P;\n//@ query A[] n <= {limit}\n"
        )
    };
    client.open(uri, &text(1));
    client.diagnostics(uri, 1);
    let mut answered = Vec::new();
    for version in 2..22 {
        answered.push(timed(|| {
            client.replace(uri, version, &text(version));
            while client.states(uri) != ["satisfied"] {}
        }));
    }
    row("keystroke to verdict (`verifyOnType`)", answered);
}

/// Processor time of the server so far, in milliseconds.
fn processor_ms(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    // Ticks of user and system time, a hundred in a second on Linux.
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) * 10.0
}

fn resident_mb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1000
}

#[test]
#[ignore = "a measurement: run by `cargo xtask bench`"]
fn large_system() {
    const EDITS: i64 = 10;
    const AGAIN: u32 = 10;
    let model = std::env::var("ZONELENS_BENCH_MODEL").expect("the path of a large model");
    let text = std::fs::read_to_string(Path::new(&model)).expect("readable");
    let mut client = Client::start(None, Value::Null);
    let (uri, pid) = ("file:///tmp/bench/system.xta", client.pid());
    client.open(uri, &text);
    client.diagnostics(uri, 1);
    let lines: Vec<&str> = text.lines().collect();
    let find = |part: &str| {
        let found = lines
            .iter()
            .enumerate()
            .find_map(|(n, l)| Some((n, l.find(part)?)));
        let (line, column) = found.expect("there");
        json!({"line": line, "character": column + 8})
    };
    let document = json!({"uri": uri});
    let range =
        json!({"start": {"line": 9000, "character": 0}, "end": {"line": 9060, "character": 0}});
    let at = |position: Value| json!({"textDocument": document, "position": position});
    let requests = [
        (
            "hover over a variable",
            "hover",
            at(find("        ready -> work { guard x >= 2 && count500")),
        ),
        ("hover over a template", "hover", at(find("process T500"))),
        ("hover over a query", "hover", at(find("//@ query E<> T7"))),
        ("lenses", "codeLens", json!({"textDocument": document})),
        (
            "outline",
            "documentSymbol",
            json!({"textDocument": document}),
        ),
        (
            "colours of the whole file",
            "semanticTokens/full",
            json!({"textDocument": document}),
        ),
        (
            "colours of a page",
            "semanticTokens/range",
            json!({"textDocument": document, "range": range}),
        ),
        (
            "hints of a page",
            "inlayHint",
            json!({"textDocument": document, "range": range}),
        ),
    ];
    let mut version = 1;
    for (name, method, params) in requests {
        let method = format!("textDocument/{method}");
        let (mut first, mut again) = (0.0, 0.0);
        for _ in 0..EDITS {
            version += 1;
            let start = json!({"line": 0, "character": 3});
            let change = json!({"range": {"start": start, "end": start}, "text": "."});
            client.notify(
                "textDocument/didChange",
                json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}),
            );
            client.diagnostics(uri, version);
            let before = processor_ms(pid);
            client.result(&method, params.clone());
            let between = processor_ms(pid);
            for _ in 0..AGAIN {
                client.result(&method, params.clone());
            }
            first += between - before;
            again += processor_ms(pid) - between;
        }
        let rounds = EDITS as f64;
        eprintln!(
            "bench: | {name} | {:.0} | {:.0} | {} |",
            first / rounds,
            again / rounds / f64::from(AGAIN),
            resident_mb(pid)
        );
    }
    client.finish();
}
