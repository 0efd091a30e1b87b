//! Traces are replayed and asked about by the server itself, under limits; only what reaches one
//! starts a process.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};
use std::path::Path;

const MODEL: &str = "\
int n;
int endless() { int i = 0; while (true) { i = 1 - i; } return i; }
process P() {
    clock x;
    state s;
    init s;
    trans s -> s { guard n < 1500 && x >= 1; assign n = n + 1, x = 0; };
}
system P;
//@ query A[] n < 1500
";

/// A server that cannot start a process for work, with a trace that an earlier one found.
fn without_worker(name: &str) -> (Client, String) {
    let cache = fresh_directory();
    let uri = format!("file://{}", fresh_directory().join(name).display());
    let mut client = Client::start_in(&cache);
    client.open(&uri, MODEL);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["violated"]);
    client.poll("the result on disk", |_| {
        let kept = std::fs::read_dir(cache.join("results"));
        kept.is_ok_and(|mut files| files.next().is_some())
            .then_some(())
    });
    client.finish();
    let nothing = Path::new("/nonexistent/zonelens-worker");
    let mut client = Client::start_with_cache(nothing, &cache);
    client.open(&uri, MODEL);
    client.wait_states(&uri, &["violated"]);
    (client, uri)
}

fn evaluate(client: &mut Client, expression: &str) -> Value {
    let params = json!({
        "command": "zonelens.trace.evaluate", "arguments": [{"expression": expression}],
    });
    client.request("workspace/executeCommand", params)
}

#[test]
fn opening_walking_and_evaluating_start_no_process() {
    let (mut client, uri) = without_worker("m.xta");
    let first = client.command("zonelens.trace.open", json!({"uri": uri}));
    assert_eq!(first["steps"], 1501);
    let last = client.command("zonelens.trace.last", json!({}));
    assert_eq!(last["step"], 1500);
    assert_eq!(last["state"]["variables"]["n"], 1500);
    for (expression, kind, value) in [
        ("n", "integer", "1500"),
        ("n == 1500 && P.s", "boolean", "true"),
        ("P.x", "clock", "0"),
        ("sum (i : int[0, 9]) i", "integer", "45"),
        (
            "nobody",
            "error",
            "`nobody` is not declared here; names must be declared before they are used",
        ),
    ] {
        let answer = evaluate(&mut client, expression);
        let answer = &answer["result"];
        assert_eq!(answer["kind"], kind, "{answer}");
        assert_eq!(answer["value"], value, "{answer}");
        assert_eq!(answer["expression"], expression);
        assert_eq!(answer["stale"], false);
    }
    let exported = client.command("zonelens.trace.export", json!({}));
    let steps = exported["json"]["steps"].as_array().map(Vec::len);
    assert_eq!(steps, Some(1501));
    let chart = client.result("zonelens/chart", json!({}));
    assert_eq!(chart["steps"].as_array().map(Vec::len), Some(1501));
    // A text in which the trace is no run is refused here, too.
    let changed = MODEL.replace("x >= 1", "x >= 2");
    client.replace(&uri, 2, &changed);
    let answer = evaluate(&mut client, "n");
    assert_eq!(answer["result"]["kind"], "error", "{answer}");
    assert_eq!(answer["result"]["value"], "step 1: it is not enabled");
    // And this server really has no worker.
    client.replace(&uri, 3, MODEL);
    client.command("zonelens.clearResults", json!({}));
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["failed"]);
    client.finish();
}

/// What reaches a limit is handed over, which this server cannot do; it says so and serves the next
/// request.
#[test]
fn only_what_reaches_a_limit_is_handed_over() {
    let (mut client, uri) = without_worker("m.xta");
    client.command("zonelens.trace.open", json!({"uri": uri}));
    for hostile in [
        "endless()",
        "forall (i : int[0, 30000]) forall (j : int[0, 30000]) i + j >= n",
    ] {
        let answer = evaluate(&mut client, hostile);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("could not be started"), "{answer}");
        assert_eq!(evaluate(&mut client, "n")["result"]["value"], "0");
    }
    client.finish();
}

/// With a worker, the answer is a clear message, and the next request is served.
#[test]
fn hostile_expressions_end_with_a_message() {
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, &MODEL.replace("1500", "5"));
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["violated"]);
    client.command("zonelens.trace.open", json!({"uri": uri}));
    let nested = "(".repeat(20_000) + "n" + &")".repeat(20_000);
    for (hostile, messages) in [
        (
            "endless()",
            &[
                "a loop does not end",
                "the evaluation takes too long and was stopped",
            ][..],
        ),
        (
            "forall (i : int[0, 30000]) forall (j : int[0, 30000]) forall (k : int[0, 30000]) i + j + k >= 0",
            &["the evaluation takes too long and was stopped"],
        ),
        (
            &nested,
            &[
                "this is nested too deeply to be read; split it into functions or smaller expressions",
            ],
        ),
    ] {
        let answer = evaluate(&mut client, hostile);
        let value = answer["result"]["value"].as_str().unwrap_or_default();
        assert_eq!(answer["result"]["kind"], "error", "{answer}");
        assert!(messages.contains(&value), "{value}");
        assert_eq!(evaluate(&mut client, "n + 1")["result"]["value"], "1");
    }
    client.finish();
}
