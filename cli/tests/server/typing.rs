//! `verifyOnType`: queries that run while somebody types.

use crate::server::client::{Client, fresh_directory};
use crate::server::workers;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const URI: &str = "file:///tmp/zonelens-test/typing.xta";
const MODEL: &str = "\
int[0, 5] n;
process P() { state s; init s; trans s -> s { guard n < 3; assign n = n + 1; }; }
system P;
//@ query A[] n < 4
";

fn started(worker: Option<&Path>, trusted: Value) -> Client {
    let mut options = json!({"verifyOnType": true});
    if trusted.is_boolean() {
        options["trusted"] = trusted;
    }
    let mut client = Client::start(worker, options);
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    client
}

#[test]
fn an_instant_query_follows_the_text() {
    let mut client = started(None, Value::Null);
    assert_eq!(client.states(URI), ["never"]);
    client.replace(URI, 2, &MODEL.replace("n < 3", "n < 4"));
    client.wait_states(URI, &["violated"]);
    client.replace(URI, 3, MODEL);
    client.wait_states(URI, &["satisfied"]);
    // Neither an error nor a query that is being written runs.
    client.replace(URI, 4, &MODEL.replace("A[] n < 4", "A[] n <"));
    std::thread::sleep(Duration::from_millis(500));
    assert!(client.states(URI).iter().all(|s| s != "error"));
    client.finish();
}

#[test]
fn runs_wait_for_a_pause_and_the_next_edit_ends_them() {
    let (worker, count) = workers::counting();
    let mut client = started(Some(&worker), Value::Null);
    let started = || {
        std::fs::read_to_string(&count)
            .unwrap_or_default()
            .lines()
            .count()
    };
    // Keys that follow one another quickly: one run, after the last of them.
    for version in 2..12 {
        let text = MODEL.replace("n < 3", &format!("n < {version}"));
        client.replace(URI, version, &text);
        std::thread::sleep(Duration::from_millis(20));
    }
    let last = Instant::now();
    client.wait_states(URI, &["running"]);
    assert!(
        last.elapsed() >= Duration::from_millis(250),
        "{:?}",
        last.elapsed()
    );
    client.poll("its worker", |_| (started() == 1).then_some(()));
    let before = client.children();
    assert_eq!(before.len(), 1);
    // Another edit: that run ends at once, and one about the new text takes its place.
    client.replace(URI, 12, &MODEL.replace("n < 3", "n < 1"));
    client.poll("the end of the first", |c| {
        (!c.children().contains(&before[0])).then_some(())
    });
    client.poll("the second", |_| (started() == 2).then_some(()));
    client.wait_states(URI, &["running"]);
    assert_eq!(client.children().len(), 1);
    client.finish();
}

/// What takes longer than an instant is not shown, and not tried again until somebody asks.
#[test]
fn a_query_that_reaches_the_limit_keeps_its_state() {
    let (worker, requests) = workers::recording("unknown");
    let mut client = started(Some(&worker), Value::Null);
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&requests).unwrap_or_default();
        let read = |line| serde_json::from_str(line).expect("a request");
        text.lines().map(read).collect()
    };
    client.replace(URI, 2, &MODEL.replace("n < 3", "n < 1"));
    client.poll("a run", |_| (lines().len() == 1).then_some(()));
    let options = &lines()[0]["options"];
    assert_eq!(options["timeout"], 1.0, "{options}");
    assert!(options["memory"].as_u64() <= Some(512 << 20), "{options}");
    client.wait_states(URI, &["never"]);
    client.replace(URI, 3, &MODEL.replace("n < 3", "n < 2"));
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(client.states(URI), ["never"]);
    assert_eq!(lines().len(), 1);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["unknown"]);
    assert_eq!(lines().len(), 2);
    client.finish();
}

#[test]
fn it_is_off_unless_asked_for_and_in_untrusted_folders() {
    let (worker, count) = workers::counting();
    let mut client = Client::start(Some(&worker), json!({}));
    client.open(URI, MODEL);
    client.replace(URI, 2, &MODEL.replace("n < 3", "n < 1"));
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(client.states(URI), ["never"]);
    client.finish();
    let mut client = started(Some(&worker), json!(false));
    client.replace(URI, 2, &MODEL.replace("n < 3", "n < 1"));
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(client.states(URI), ["never"]);
    assert!(!count.exists());
    client.finish();
}

/// An edit of the model runs the queries of the file next to it.
#[test]
fn a_query_file_follows_its_model() {
    let folder = fresh_directory();
    let uri = |name: &str| format!("file://{}", folder.join(name).display());
    let (model, queries) = (uri("m.xta"), uri("m.q"));
    let mut client = Client::start(None, json!({"verifyOnType": true}));
    client.open(&model, &MODEL.replace("//@ query A[] n < 4\n", ""));
    client.open(&queries, "A[] n < 4\n");
    client.diagnostics(&queries, 1);
    let edited = MODEL.replace("//@ query A[] n < 4\n", "");
    client.replace(&model, 2, &edited.replace("n < 3", "n < 5"));
    client.wait_states(&queries, &["violated"]);
    client.finish();
}
