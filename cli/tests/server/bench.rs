//! Latencies on a large model while a verification uses both cores: `cargo xtask bench` runs this and keeps its lines.

use crate::client::Client;
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
    let _: Value = client.result("zonelens/serverStatus", json!({}));
    client.finish();
}
