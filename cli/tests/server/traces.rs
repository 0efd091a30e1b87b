//! Traces of real runs, walked through in the text; results that survive a restart.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const URI: &str = "file:///tmp/zonelens-test/traces.xta";
const MODEL: &str = "\
int n;
process P(const int[0, 1] i) {
    clock x;
    state s, t { x <= 5 }, u;
    init s;
    trans s -> t { assign x = 0, n = n + 1; },
          t -> u { guard x >= 3; };
}
system P;
//@ query A[] not (P(0).u && P(1).u)
//@ query E<> n == 2
";

fn verified() -> Client {
    let mut client = Client::start(None, json!({"inlayHints": false}));
    client.open(URI, MODEL);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["violated", "satisfied"]);
    client
}

fn hints(client: &mut Client) -> Vec<(u64, String)> {
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": URI}, "range": everything});
    let list = client.result("textDocument/inlayHint", params);
    let list = list.as_array().expect("a list").iter();
    list.map(|h| {
        let line = h["position"]["line"].as_u64().expect("a line");
        (line, h["label"].as_str().expect("a label").to_owned())
    })
    .collect()
}

#[test]
fn a_trace_is_walked_through_in_the_text() {
    let mut client = verified();
    let lenses = client.lenses(URI);
    let lens = lenses
        .iter()
        .find(|l| l["command"]["command"] == "zonelens.trace.open")
        .expect("a lens for the trace");
    assert_eq!(lens["command"]["title"], "trace, 4 steps");
    let first = client.command(
        "zonelens.trace.open",
        lens["command"]["arguments"][0].clone(),
    );
    assert_eq!(first["step"], 0);
    assert_eq!(first["steps"], 5);
    let text = first["document"]["text"].as_str().expect("text").to_owned();
    let starts = first["document"]["lines"]
        .as_array()
        .expect("lines")
        .clone();
    assert_eq!(starts.len(), 5, "{text}");
    let shown: Vec<&str> = text.lines().collect();
    for (number, line) in starts.iter().enumerate() {
        let line = shown[line.as_u64().expect("a line") as usize].trim_start();
        assert!(line.starts_with(&number.to_string()), "{line}");
    }
    let at_start = hints(&mut client);
    assert!(
        at_start.contains(&(3, "◉ P(0), P(1)".to_owned())),
        "{at_start:?}"
    );
    assert!(at_start.contains(&(0, "n = 0".to_owned())), "{at_start:?}");

    let second = client.command("zonelens.trace.next", json!({}));
    assert_eq!(second["step"], 1);
    assert_eq!(second["edges"][0]["line"], 5);
    let hinted = hints(&mut client);
    assert!(
        hinted
            .iter()
            .any(|(line, label)| *line == 5 && label.starts_with('①')),
        "{hinted:?}"
    );
    assert!(hinted.contains(&(0, "n = 1".to_owned())), "{hinted:?}");

    let last = client.command("zonelens.trace.last", json!({}));
    assert_eq!(last["step"], 4);
    assert_eq!(client.command("zonelens.trace.next", json!({}))["step"], 4);
    assert_eq!(
        client.command("zonelens.trace.goto", json!({"step": 2}))["step"],
        2
    );
    assert_eq!(
        client.command("zonelens.trace.previous", json!({}))["step"],
        1
    );
    assert_eq!(client.command("zonelens.trace.first", json!({}))["step"], 0);
    // Keys pressed faster than the server answers: steps follow one another as they were asked for.
    let keys = [
        "last", "previous", "first", "next", "next", "previous", "last", "first",
    ];
    for _ in 0..10 {
        let asked: Vec<u64> = keys
            .iter()
            .map(|key| {
                let command = format!("zonelens.trace.{key}");
                let params = json!({"command": command, "arguments": [{}]});
                client.post("workspace/executeCommand", params)
            })
            .collect();
        let steps: Vec<u64> = asked
            .into_iter()
            .map(|id| {
                client.answer(id)["result"]["step"]
                    .as_u64()
                    .expect("a step")
            })
            .collect();
        assert_eq!(steps, [4, 3, 0, 1, 2, 1, 4, 0]);
    }
    let exported = client.command("zonelens.trace.export", json!({}));
    assert_eq!(exported["json"]["steps"].as_array().map(Vec::len), Some(5));

    // A line more above: the hints move along. Another meaning: they go.
    client.replace(URI, 2, &format!("// above\n{MODEL}"));
    client.command("zonelens.trace.next", json!({}));
    let moved = hints(&mut client);
    assert!(
        moved
            .iter()
            .any(|(line, label)| *line == 6 && label.starts_with('①')),
        "{moved:?}"
    );
    client.replace(URI, 3, &MODEL.replace("x >= 3", "x >= 4"));
    assert_eq!(hints(&mut client), []);
    client.replace(URI, 4, MODEL);
    assert!(!hints(&mut client).is_empty());
    client.command("zonelens.trace.close", json!({}));
    assert_eq!(hints(&mut client), []);
    client.finish();
}

#[test]
fn a_query_without_a_trace_says_so() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, MODEL);
    for (command, argument) in [
        ("zonelens.trace.open", json!({"uri": URI})),
        ("zonelens.trace.next", json!({})),
        ("zonelens.trace.export", json!({})),
    ] {
        let params = json!({"command": command, "arguments": [argument]});
        let answer = client.request("workspace/executeCommand", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    client.finish();
}

#[test]
fn results_survive_a_restart_and_bad_entries_do_not_matter() {
    let directory = fresh_directory();
    let start = || {
        let mut client = Client::start_in(&directory);
        client.open(URI, MODEL);
        client
    };
    let mut client = start();
    assert_eq!(client.states(URI), ["never", "never"]);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["violated", "satisfied"]);
    let files = || -> Vec<std::path::PathBuf> {
        let list = std::fs::read_dir(directory.join("results"))
            .into_iter()
            .flatten();
        list.flatten().map(|e| e.path()).collect()
    };
    client.poll("the results on disk", |_| {
        (files().len() == 2).then_some(())
    });
    client.finish();

    let mut client = start();
    assert_eq!(client.states(URI), ["violated", "satisfied"]);
    assert!(client.titles(URI)[1].contains("from cache"));
    client.replace(URI, 2, &MODEL.replace("x >= 3", "x >= 4"));
    assert_eq!(
        client.states(URI),
        ["violated (stale)", "satisfied (stale)"]
    );
    client.finish();

    let entries = files();
    std::fs::copy(&entries[0], &entries[1]).expect("copied");
    std::fs::write(&entries[0], b"{\"format\": 1").expect("written");
    let mut client = start();
    assert_eq!(client.states(URI), ["never", "never"]);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["violated", "satisfied"]);
    client.command("zonelens.clearResults", json!({}));
    client.poll("an empty cache", |_| files().is_empty().then_some(()));
    client.finish();
}
