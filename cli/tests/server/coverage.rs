//! What a model never does: explored by a worker, kept by meaning, shown in the text.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};
use std::path::Path;

const MODEL: &str = "\
int[0, 5] n;
process P() {
    state s, t, lost;
    init s;
    trans
        s -> t { guard n < 2; assign n = n + 1; },
        t -> s { },
        s -> lost { guard n > 2; };
}
system P;
";

fn hints(list: &[Value]) -> Vec<(String, u64, Value)> {
    let code = |d: &&Value| {
        let code = d["code"].as_str().unwrap_or_default();
        code == "lint/never-happens" || code == "lint/limit-not-reached"
    };
    let row = |d: &Value| {
        assert_eq!(d["severity"], 4, "{d}");
        let line = d["range"]["start"]["line"].as_u64().expect("a line");
        (
            d["message"].as_str().unwrap_or_default().to_owned(),
            line,
            d["tags"].clone(),
        )
    };
    list.iter().filter(code).map(row).collect()
}

#[test]
fn what_never_happens_is_dimmed_and_kept() {
    let cache = fresh_directory();
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start_in(&cache);
    client.open(&uri, MODEL);
    assert_eq!(hints(&client.diagnostics(&uri, 1)), []);
    let answer = client.command("zonelens.coverage", json!({"uri": uri}));
    assert_eq!(answer["complete"], true);
    assert_eq!(answer["uri"], uri);
    let kinds: Vec<&Value> = answer["never"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|n| &n["kind"])
        .collect();
    assert_eq!(kinds, ["limit", "location", "edge", "guard"]);
    assert_eq!(
        answer["never"][1]["range"]["start"],
        json!({"line": 2, "character": 16})
    );
    let expected = [
        (
            "The limit `n = 5` is never reached: its values are 0 to 2.".to_owned(),
            0,
            Value::Null,
        ),
        (
            "Location `lost` is never entered.".to_owned(),
            2,
            json!([1]),
        ),
        (
            "Edge `s → lost` is never taken: its guard is never true in `s`.".to_owned(),
            7,
            json!([1]),
        ),
    ];
    let shown = client.wait("the hints", |m| {
        m["method"] == "textDocument/publishDiagnostics"
            && hints(
                m["params"]["diagnostics"]
                    .as_array()
                    .map_or(&[], Vec::as_slice),
            )
            .len()
                == 3
    });
    let shown = shown["params"]["diagnostics"]
        .as_array()
        .expect("a list")
        .clone();
    assert_eq!(hints(&shown), expected);
    // An edit that keeps the meaning keeps the hints, at their new places; another removes them.
    client.replace(&uri, 2, &format!("// first\n{MODEL}"));
    let moved = hints(&client.diagnostics(&uri, 2));
    assert_eq!(moved.iter().map(|h| h.1).collect::<Vec<_>>(), [1, 3, 8]);
    client.replace(&uri, 3, &MODEL.replace("n > 2", "n > 1"));
    assert_eq!(hints(&client.diagnostics(&uri, 3)), []);
    client.finish();
    // It is known in the next session, without a worker.
    let nothing = Path::new("/nonexistent/zonelens-worker");
    let mut client = Client::start_with_cache(nothing, &cache);
    client.open(&uri, MODEL);
    let again = client.command("zonelens.coverage", json!({"uri": uri}));
    assert_eq!(again["never"], answer["never"]);
    client.finish();
}

#[test]
fn errors_and_cancelled_runs_are_refused() {
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, json!({}));
    client.open(&uri, &MODEL.replace("n < 2", "m < 2"));
    let ask = |uri: &str| json!({"command": "zonelens.coverage", "arguments": [{"uri": uri}]});
    let refused = client.request("workspace/executeCommand", ask(&uri));
    assert_eq!(refused["error"]["message"], "the model has errors");
    let refused = client.request("workspace/executeCommand", ask("file:///nowhere.xta"));
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|m| m.contains("not open"))
    );
    let large = "int[0, 30000] a, b; process P() { state s; init s; trans s -> s { select k : int[0, 1]; \
                 guard a < 30000 && b < 30000; assign a = a + k, b = b + 1 - k; }; }\nsystem P;\n";
    client.replace(&uri, 2, large);
    let id = client.post("workspace/executeCommand", ask(&uri));
    client.poll("the worker", |c| (!c.children().is_empty()).then_some(()));
    let stopped = client.command("zonelens.cancel", json!({"uri": uri}));
    assert_eq!(stopped["cancelled"], 1);
    let refused = client.answer(id);
    assert_eq!(
        refused["error"]["message"],
        "stopped before everything was explored"
    );
    client.poll("the worker to be gone", |c| {
        c.children().is_empty().then_some(())
    });
    client.finish();
}

/// A satisfied query that says nothing has a hint after its run.
#[test]
fn a_vacuous_query_has_a_hint() {
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, json!({}));
    let text = format!(
        "{MODEL}//@ query P.lost --> P.s\n//@ query A<> (P.t imply n == 2)\n//@ query P.t --> P.s || n == 2\n"
    );
    client.open(&uri, &text);
    client.diagnostics(&uri, 1);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    let vacuous = |m: &Value| -> Vec<String> {
        let list = m["params"]["diagnostics"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let own = list.iter().filter(|d| d["code"] == "query/vacuous");
        own.filter_map(|d| d["message"].as_str().map(str::to_owned))
            .collect()
    };
    let shown = client.wait("two hints", |m| {
        m["method"] == "textDocument/publishDiagnostics" && vacuous(m).len() == 2
    });
    let shown = vacuous(&shown);
    assert!(shown[0].contains("`P.lost` never holds"), "{shown:?}");
    assert!(shown[1].contains("write `P.t --> n == 2`"), "{shown:?}");
    client.finish();
}
