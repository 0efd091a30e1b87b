//! Answers say which text they are about.

use crate::server::client::{Client, fresh_directory};
use crate::server::workers;
use serde_json::{Value, json};

const URI: &str = "file:///tmp/zonelens-test/versions.xta";
const MODEL: &str = "\
const int N = 3;
process P() { clock x; state s { x <= N }, t; init s; trans s -> t { }; }
system P;
//@ query E<> P.t
";

#[test]
fn a_rename_is_meant_for_a_version() {
    for versioned in [false, true] {
        let edits = json!({"workspace": {"workspaceEdit": {"documentChanges": versioned}}});
        let mut client = Client::spawn(None).initialize(json!({
            "processId": null, "rootUri": null, "capabilities": edits,
        }));
        client.open_version(URI, 7, MODEL);
        let at = json!({"line": 0, "character": 10});
        let params = json!({"textDocument": {"uri": URI}, "position": at, "newName": "M"});
        let edit = client.result("textDocument/rename", params);
        if versioned {
            let change = &edit["documentChanges"][0];
            assert_eq!(change["textDocument"], json!({"uri": URI, "version": 7}));
            assert_eq!(change["edits"].as_array().map(Vec::len), Some(2), "{edit}");
            assert_eq!(edit.get("changes"), None);
        } else {
            assert_eq!(edit["changes"][URI].as_array().map(Vec::len), Some(2));
            assert_eq!(edit.get("documentChanges"), None);
        }
        client.finish();
    }
}

#[test]
fn a_run_about_an_older_text_is_marked() {
    let mut client = Client::start(Some(&workers::busy()), Value::Null);
    client.open(URI, MODEL);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["running"]);
    client.replace(URI, 2, &MODEL.replace("N = 3", "N = 4"));
    client.wait_states(URI, &["running (stale)"]);
    let titles = client.titles(URI);
    assert!(titles[0].contains("(about an older text)"), "{titles:?}");
    client.replace(URI, 3, MODEL);
    client.wait_states(URI, &["running"]);
    client.command("zonelens.cancel", json!({}));
    client.finish();
}

#[test]
fn steps_of_a_stale_trace_are_marked() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, MODEL);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["satisfied"]);
    let step = client.command("zonelens.trace.open", json!({"uri": URI}));
    assert_eq!(step["stale"], false, "{step}");
    client.replace(URI, 2, &MODEL.replace("N = 3", "N = 4"));
    let step = client.command("zonelens.trace.next", json!({}));
    assert_eq!(step["stale"], true, "{step}");
    let value = client.command("zonelens.trace.evaluate", json!({"expression": "P.t"}));
    assert_eq!(value["stale"], true, "{value}");
    client.replace(URI, 3, MODEL);
    let step = client.command("zonelens.trace.previous", json!({}));
    assert_eq!(step["stale"], false, "{step}");
    client.finish();
}

#[test]
fn progress_ends_with_the_name_of_the_limit() {
    for (reason, said) in [
        ("timeout: 60 seconds are over", "unknown: time limit"),
        ("memory: 4 GB are used up", "unknown: memory limit"),
    ] {
        let worker = workers::unknown(reason);
        let mut client = Client::start(Some(&worker), Value::Null);
        client.open(URI, MODEL);
        client.command("zonelens.verifyAll", json!({"uri": URI}));
        let end = client.wait("the end", |m| m["params"]["value"]["kind"] == "end");
        assert_eq!(end["params"]["value"]["message"], said);
        client.finish();
    }
}

fn large(processes: u32) -> String {
    format!(
        "typedef int[1,{processes}] id;\nprocess P(const id i) {{ clock x; state s, t; init s; trans s -> t {{ guard x > 1; }}; }}\nsystem P;\n//@ query E<> P(7).t\n"
    )
}

/// What a large system means takes all of its processes; nobody makes them for looking at it.
#[test]
fn a_large_system_is_looked_at_without_its_processes() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, &large(90_000));
    let document = json!({"uri": URI});
    let at = json!({"line": 1, "character": 8});
    let params = json!({"textDocument": document, "position": at});
    let hover = client.result("textDocument/hover", params);
    assert!(hover.to_string().contains("90000 processes"), "{hover}");
    let lenses = client.all_lenses(URI);
    let title = |l: &Value| l["command"]["title"].as_str().unwrap_or("").to_owned();
    let titles: Vec<String> = lenses.iter().map(title).collect();
    let counted = |t: &String| t.starts_with("90000 processes");
    assert!(titles.iter().any(counted), "{titles:?}");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}});
    let params = json!({"textDocument": document, "range": range});
    let hints = client.result("textDocument/inlayHint", params);
    assert!(hints.to_string().contains("×90000"), "{hints}");
    assert_eq!(client.states(URI), ["never"]);
    // The processes alone would take several times as much.
    let kb = crate::server::robustness::resident(client.pid());
    assert!(kb < 60_000, "{kb} KB");
    client.finish();
}

#[test]
fn results_of_a_large_system_are_found_again_by_its_text() {
    let cache = fresh_directory();
    let (worker, requests) = workers::recording("satisfied");
    let model = large(1000);
    let mut client = Client::start_with_cache(&worker, &cache);
    client.open(URI, &model);
    assert_eq!(client.states(URI), ["never"]);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["satisfied"]);
    // Now that it was run, what the text means counts.
    client.replace(URI, 2, &format!("// a comment\n{model}"));
    assert_eq!(client.states(URI), ["satisfied"]);
    client.replace(URI, 3, &model.replace("x > 1", "x > 2"));
    assert_eq!(client.states(URI), ["satisfied (stale)"]);
    client.finish();
    let mut client = Client::start_with_cache(&worker, &cache);
    client.open(URI, &model);
    client.wait_states(URI, &["satisfied"]);
    client.replace(URI, 2, &model.replace("x > 1", "x > 2"));
    assert_eq!(client.states(URI), ["satisfied (stale)"]);
    client.finish();
    let runs = std::fs::read_to_string(requests).expect("requests");
    assert_eq!(runs.lines().count(), 1);
}
