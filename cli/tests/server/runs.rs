//! Runs: started, watched, cancelled, and survived whatever the worker does.

use crate::server::client::{Client, children_of};
use crate::server::workers;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use zonelens_test_support::Rng;

const URI: &str = "file:///tmp/zonelens-test/runs.xta";
const MODEL: &str = "\
int a;
process P() { state s, t; init s; trans s -> t { }; }
system P;
//@ query A[] P.s
//@ query E<> P.t
//@ query A[] not deadlock
";

fn start(worker: &std::path::Path, options: Value) -> Client {
    let mut client = Client::start(Some(worker), options);
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    client
}

/// Hovers over the template's name, which is on this line.
fn hover_answers(client: &mut Client, line: u32) {
    let at = json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": 8}});
    let hover = client.result("textDocument/hover", at);
    assert!(hover["contents"]["value"].is_string(), "{hover}");
}

/// The server answers at once, whatever happens elsewhere; the bench has the time.
fn still_alive(client: &mut Client) {
    hover_answers(client, 1);
    let titles = client.titles(URI);
    assert_eq!(titles.len(), 4, "{titles:?}");
}

fn no_children(client: &mut Client) {
    client.poll("the workers to be gone", |c| {
        c.children().is_empty().then_some(())
    });
}

#[test]
fn a_lens_runs_its_query() {
    let mut client = start(&workers::answering("satisfied"), json!({}));
    let lenses = client.lenses(URI);
    let titles: Vec<_> = lenses
        .iter()
        .map(|l| l["command"]["title"].clone())
        .collect();
    assert_eq!(
        titles,
        ["▶ verify all (3)", "▶ verify", "▶ verify", "▶ verify"]
    );
    let command = &lenses[2]["command"];
    let answer = client.result(
        "workspace/executeCommand",
        json!({"command": command["command"], "arguments": command["arguments"]}),
    );
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(1));
    client.wait_states(URI, &["never", "satisfied", "never"]);
    let titles = client.titles(URI);
    assert!(
        titles[2].starts_with("✓ satisfied · 10 ms · 7 states"),
        "{titles:?}"
    );
    client.wait("the end of progress", |m| {
        m["params"]["value"]["kind"] == "end"
    });
    assert!(client.refreshes > 0, "lenses are fetched again");
    no_children(&mut client);
    client.finish();
}

#[test]
fn all_queries_run_one_after_the_other() {
    let mut client = start(&workers::answering("violated"), json!({}));
    let answer = client.command("zonelens.verifyAll", json!({"uri": URI}));
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(3));
    client.wait_states(URI, &["violated", "violated", "violated"]);
    client.command("zonelens.clearResults", json!({}));
    client.wait_states(URI, &["never", "never", "never"]);
    client.finish();
}

#[test]
fn progress_is_shown_and_its_cancel_works() {
    let mut client = start(&workers::busy(), json!({}));
    let query = json!({"uri": URI, "query": "A[] P.s"});
    client.command("zonelens.verify", query);
    let begin = client.wait("begin", |m| m["params"]["value"]["kind"] == "begin");
    assert_eq!(begin["params"]["value"]["cancellable"], true);
    client.wait("a report", |m| m["params"]["value"]["kind"] == "report");
    let titles = client.titles(URI);
    assert_eq!(titles[1], "◌ 41\u{202f}200 states, 38k/s · cancel");
    let token = begin["params"]["token"].clone();
    client.notify("window/workDoneProgress/cancel", json!({"token": token}));
    client.wait("the end", |m| m["params"]["value"]["kind"] == "end");
    client.wait_states(URI, &["never", "never", "never"]);
    no_children(&mut client);
    client.finish();
}

#[test]
fn ten_clicks_are_one_run() {
    let (worker, count) = workers::counting();
    let mut client = start(&worker, json!({"parallelRuns": 4}));
    let mut runs = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let query = json!({"uri": URI, "query": "A[] P.s"});
        let answer = client.command("zonelens.verify", query);
        runs.insert(answer["runs"][0].as_u64());
    }
    assert_eq!(runs.len(), 1, "{runs:?}");
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
    let started = std::fs::read_to_string(count).unwrap_or_default();
    assert_eq!(started.lines().count(), 1);
    client.command("zonelens.cancel", json!({}));
    client.finish();
}

#[test]
fn a_hundred_cancels_leave_nothing() {
    let mut rng = Rng(7);
    let mut client = start(&workers::busy(), json!({"parallelRuns": 2}));
    for _ in 0..100 {
        let answer = client.command("zonelens.verifyAll", json!({"uri": URI}));
        let runs = answer["runs"].as_array().expect("runs").clone();
        std::thread::sleep(Duration::from_millis(rng.below(30) as u64));
        let argument = match rng.below(3) {
            0 => json!({}),
            1 => json!({"uri": URI}),
            _ => json!({"run": runs[rng.below(runs.len())]}),
        };
        client.command("zonelens.cancel", argument);
        client.command("zonelens.cancel", json!({}));
        client.wait_states(URI, &["never", "never", "never"]);
    }
    no_children(&mut client);
    still_alive(&mut client);
    client.finish();
}

#[test]
fn closing_the_file_ends_its_runs() {
    let mut client = start(&workers::busy(), json!({}));
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
    client.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": URI}}),
    );
    no_children(&mut client);
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    client.wait_states(URI, &["never", "never", "never"]);
    still_alive(&mut client);
    client.finish();
}

#[test]
fn goodbye_ends_all_runs() {
    let mut client = start(&workers::busy(), json!({"parallelRuns": 3}));
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
    let workers = client.poll("three workers", |c| {
        Some(c.children()).filter(|w| w.len() == 3)
    });
    client.finish();
    // They are killed on the way out; on a busy machine that takes a moment.
    let end = Instant::now() + Duration::from_secs(60);
    let lives = |pid: &u32| std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
    while workers.iter().any(lives) {
        assert!(Instant::now() < end, "a worker lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_worker_that_dies_is_a_message() {
    let mut client = start(
        &workers::script("echo 'out of luck' >&2; kill -9 $$"),
        json!({}),
    );
    client.command("zonelens.verify", json!({"uri": URI, "line": 3}));
    client.wait_states(URI, &["failed", "never", "never"]);
    let titles = client.titles(URI);
    assert!(
        titles[1].contains("out of luck") && titles[1].contains("retry"),
        "{titles:?}"
    );
    no_children(&mut client);
    still_alive(&mut client);
    client.finish();
}

#[test]
fn a_worker_that_babbles_is_a_message() {
    for body in [
        "echo 'hello there'; exec sleep 1000",
        "head -c 3000000 /dev/zero; exec sleep 1000",
        "exit 0",
        // More complaints than a pipe holds: nobody may wait for them to be read.
        "echo 'out of luck' >&2; head -c 1000000 /dev/zero >&2; exit 1",
    ] {
        let mut client = start(&workers::script(body), json!({}));
        client.command("zonelens.verify", json!({"uri": URI, "line": 3}));
        if body.starts_with("head") {
            // A line without an end: nothing to judge yet, but it can be stopped.
            still_alive(&mut client);
            client.command("zonelens.cancel", json!({}));
        } else {
            client.wait_states(URI, &["failed", "never", "never"]);
        }
        no_children(&mut client);
        still_alive(&mut client);
        client.finish();
    }
}

/// Twenty reports a second come from the worker.
#[test]
fn counts_change_at_most_twice_a_second() {
    let mut client = start(&workers::busy(), json!({}));
    client.command("zonelens.verify", json!({"uri": URI, "line": 3}));
    let report = |m: &Value| m["params"]["value"]["kind"] == "report";
    client.wait("the first report", report);
    let begun = std::time::Instant::now();
    for _ in 0..4 {
        client.wait("another report", report);
    }
    assert!(
        begun.elapsed() >= Duration::from_millis(1500),
        "{:?}",
        begun.elapsed()
    );
    client.command("zonelens.cancel", json!({}));
    client.finish();
}

#[test]
fn a_worker_that_hangs_is_stopped_after_its_time() {
    let mut client = start(&workers::hanging(), json!({"timeout": 0.2}));
    client.command("zonelens.verify", json!({"uri": URI, "line": 3}));
    still_alive(&mut client);
    client.wait_states(URI, &["failed", "never", "never"]);
    no_children(&mut client);
    still_alive(&mut client);
    client.finish();
}

#[test]
fn a_worker_that_does_not_exist_is_a_message() {
    let mut client = start(std::path::Path::new("/nonexistent/worker"), json!({}));
    client.command("zonelens.verify", json!({"uri": URI, "line": 3}));
    client.wait_states(URI, &["failed", "never", "never"]);
    still_alive(&mut client);
    client.finish();
}

#[test]
fn the_query_being_looked_at_comes_first() {
    let mut client = start(&workers::busy(), json!({}));
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["running", "queued", "queued"]);
    client.command("zonelens.verify", json!({"uri": URI, "line": 5}));
    client.command("zonelens.cancel", json!({"uri": URI, "query": "A[] P.s"}));
    client.wait_states(URI, &["never", "queued", "running"]);
    client.command("zonelens.cancel", json!({}));
    client.finish();
}

/// The editor is gone: its end of the pipe closes, and nothing is left.
#[test]
fn a_server_whose_editor_dies_leaves_with_its_workers() {
    let mut client = start(&workers::busy(), json!({"parallelRuns": 3}));
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    let workers = client.poll("three workers", |c| {
        Some(c.children()).filter(|w| w.len() == 3)
    });
    assert_eq!(client.hang_up(), Some(1));
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while workers.iter().any(|&pid| is_alive(pid)) {
        assert!(std::time::Instant::now() < deadline, "workers are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_server_leaves_no_workers() {
    let mut client = start(&workers::busy(), json!({}));
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
    let workers = client.children();
    assert_eq!(workers.len(), 1);
    client.kill();
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let lives = |pid: u32| std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
    while workers
        .iter()
        .any(|&pid| lives(pid) || !children_of(pid).is_empty())
    {
        assert!(
            std::time::Instant::now() < deadline,
            "workers outlive the server"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A model whose exploration takes long: many processes that never meet.
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

fn running(options: Value) -> Client {
    let mut client = Client::start(None, options);
    client.open(URI, LONG);
    client.command("zonelens.verify", json!({"uri": URI, "line": 8}));
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
    client
}

fn is_alive(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}/exe")).exists()
}

#[test]
fn a_real_worker_ends_with_its_server() {
    let client = running(json!({"symmetry": "off"}));
    let workers = client.children();
    assert_eq!(workers.len(), 1);
    client.kill();
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while workers.iter().any(|&pid| is_alive(pid)) {
        assert!(
            std::time::Instant::now() < deadline,
            "the worker outlives the server"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_real_worker_that_is_killed_is_a_message() {
    let mut client = running(json!({"symmetry": "off"}));
    let worker = client.children()[0].to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &worker])
        .status();
    assert!(killed.is_ok_and(|s| s.success()));
    client.wait_states(URI, &["failed"]);
    hover_answers(&mut client, 0);
    assert_eq!(client.titles(URI).len(), 1);
    client.finish();
}

#[test]
fn limits_give_unknown_with_the_reason() {
    for (options, reason) in [
        (
            json!({"symmetry": "off", "memory": "2M"}),
            "? memory limit · retry",
        ),
        (
            json!({"symmetry": "off", "timeout": 0.5}),
            "? time limit · retry",
        ),
    ] {
        let mut client = Client::start(None, options);
        client.open(URI, LONG);
        client.command("zonelens.verify", json!({"uri": URI, "line": 8}));
        client.wait_states(URI, &["unknown"]);
        assert_eq!(client.titles(URI), [reason]);
        hover_answers(&mut client, 0);
        no_children(&mut client);
        client.finish();
    }
}

#[test]
fn the_server_answers_while_a_worker_runs() {
    let mut client = running(json!({"symmetry": "off"}));
    for _ in 0..50 {
        let at = json!({"textDocument": {"uri": URI}, "position": {"line": 1, "character": 10}});
        let hover = client.result("textDocument/hover", at);
        assert!(hover["contents"]["value"].is_string(), "{hover}");
    }
    // It still runs, so no answer waited for it; the bench has the times.
    client.wait_states(URI, &["running"]);
    client.command("zonelens.cancel", json!({}));
    no_children(&mut client);
    client.finish();
}
