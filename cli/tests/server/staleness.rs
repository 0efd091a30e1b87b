//! Verdicts are fresh exactly as long as the text means what was asked.

use crate::server::client::Client;
use crate::server::workers;
use serde_json::json;

const URI: &str = "file:///tmp/zonelens-test/stale.xta";
const MODEL: &str = "\
const int N = 3;
process P() { clock x; state s { x <= N }, t; init s; trans s -> t { }; }
system P;
//@ query A[] P.s
//@ query E<> P.t
";

fn verified() -> Client {
    let mut client = Client::start(Some(&workers::answering("satisfied")), json!({}));
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["satisfied", "satisfied"]);
    client
}

#[test]
fn a_constant_makes_all_stale_and_undo_makes_them_fresh_without_a_run() {
    let (worker, requests) = workers::recording("satisfied");
    let mut client = Client::start(Some(&worker), json!({}));
    client.open(URI, MODEL);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["satisfied", "satisfied"]);
    client.replace(URI, 2, &MODEL.replace("N = 3", "N = 4"));
    let stale = ["satisfied (stale)", "satisfied (stale)"];
    assert_eq!(client.states(URI), stale);
    let titles = client.titles(URI);
    assert_eq!(titles[1], "↻ satisfied (stale) · verify again");
    client.replace(URI, 3, MODEL);
    assert_eq!(client.states(URI), ["satisfied", "satisfied"]);
    let status = client.result("zonelens/serverStatus", json!({}));
    assert_eq!(status["runs"], json!([]));
    let runs = std::fs::read_to_string(requests).expect("requests");
    assert_eq!(runs.lines().count(), 2);
    client.finish();
}

#[test]
fn a_query_edit_concerns_that_query_alone() {
    let mut client = verified();
    client.replace(URI, 2, &MODEL.replace("E<> P.t", "E<> P.s"));
    assert_eq!(client.states(URI), ["satisfied", "satisfied (stale)"]);
    client.finish();
}

#[test]
fn comments_and_layout_keep_verdicts() {
    let mut client = verified();
    client.replace(
        URI,
        2,
        &MODEL.replace("system P;", "// nothing new\n\n  system   P;"),
    );
    assert_eq!(client.states(URI), ["satisfied", "satisfied"]);
    client.finish();
}

#[test]
fn an_edit_while_running_gives_a_stale_verdict() {
    let worker = workers::script(
        "sleep 0.5; echo '{\"type\":\"result\",\"query\":\"q\",\"line\":1,\"verdict\":\"violated\",\"reason\":null,\"expected\":null,\"value\":null,\"symmetrised\":false,\"statistics\":{\"stored\":1,\"explored\":1,\"transitions\":1,\"seconds\":0.1,\"peak_memory_bytes\":1},\"symmetry\":{\"scalarsets\":[],\"canonical\":true,\"excluded\":[]},\"reductions\":[],\"trace\":null}'",
    );
    let mut client = Client::start(Some(&worker), json!({}));
    client.open(URI, MODEL);
    client.command("zonelens.verify", json!({"uri": URI, "query": "A[] P.s"}));
    client.replace(URI, 2, &MODEL.replace("N = 3", "N = 4"));
    let at = json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 10}});
    let hover = client.result("textDocument/hover", at);
    assert!(hover.to_string().contains("const int N = 4"), "{hover}");
    client.wait_states(URI, &["violated (stale)", "never"]);
    client.finish();
}

#[test]
fn an_edit_cancels_when_settings_say_so() {
    let mut client = Client::start(Some(&workers::busy()), json!({"cancelOnEdit": true}));
    client.open(URI, MODEL);
    client.command("zonelens.verify", json!({"uri": URI, "query": "A[] P.s"}));
    client.wait("progress", |m| m["params"]["value"]["kind"] == "report");
    client.replace(URI, 2, &MODEL.replace("N = 3", "N = 4"));
    client.wait_states(URI, &["never", "never"]);
    client.poll("the worker to be gone", |c| {
        c.children().is_empty().then_some(())
    });
    client.finish();
}

#[test]
fn an_unmet_expectation_is_a_diagnostic() {
    let mut client = Client::start(Some(&workers::answering("violated")), json!({}));
    let text = MODEL.replace("A[] P.s\n", "A[] P.s\n//@ expect satisfied\n");
    client.open(URI, &text);
    client.diagnostics(URI, 1);
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    let message = client.wait("the diagnostic", |m| {
        m["params"]["diagnostics"]
            .as_array()
            .is_some_and(|list| list.iter().any(|d| d["code"] == "query/expectation"))
    });
    let list = message["params"]["diagnostics"].as_array().expect("a list");
    let found: Vec<_> = list
        .iter()
        .filter(|d| d["code"] == "query/expectation")
        .collect();
    assert_eq!(found.len(), 1, "{list:?}");
    assert_eq!(found[0]["range"]["start"]["line"], 3);
    assert_eq!(
        found[0]["relatedInformation"][0]["location"]["range"]["start"]["line"],
        4
    );
    // It stays when the text changes, but it is not an error of the new text.
    assert_eq!(found[0]["severity"], 1);
    client.replace(URI, 2, &text.replace("N = 3", "N = 4"));
    let list = client.diagnostics(URI, 2);
    let stale = list.iter().find(|d| d["code"] == "query/expectation");
    let stale = stale.expect("the old diagnostic");
    assert_eq!(stale["severity"], 3, "{stale}");
    let message = stale["message"].as_str().expect("a message");
    assert!(message.starts_with("Stale: "), "{message}");
    client.replace(URI, 3, &text);
    let list = client.diagnostics(URI, 3);
    let again = list.iter().find(|d| d["code"] == "query/expectation");
    assert_eq!(again.expect("fresh again")["severity"], 1);
    client.finish();
}

#[test]
fn a_set_that_was_not_reduced_over_is_told_with_the_place() {
    let mut client = Client::start(Some(&workers::excluding(2)), json!({}));
    client.open(URI, MODEL);
    client.diagnostics(URI, 1);
    client.command("zonelens.verify", json!({"uri": URI, "query": "E<> P.t"}));
    let told = |m: &serde_json::Value| {
        let list = m["params"]["diagnostics"].as_array()?;
        list.iter()
            .find(|d| d["code"] == "query/not-reduced")
            .cloned()
    };
    let message = client.wait("the diagnostic", |m| told(m).is_some());
    let found = told(&message).expect("there");
    assert_eq!(found["range"]["start"]["line"], 4, "{found}");
    let place = &found["relatedInformation"][0]["location"]["range"]["start"];
    assert_eq!(*place, json!({"line": 1, "character": 2}));
    // It is about a meaning that is gone, and then about the same again.
    client.replace(URI, 2, &MODEL.replace("N = 3", "N = 4"));
    let list = client.diagnostics(URI, 2);
    assert!(
        list.iter().all(|d| d["code"] != "query/not-reduced"),
        "{list:?}"
    );
    client.replace(URI, 3, MODEL);
    let list = client.diagnostics(URI, 3);
    assert!(
        list.iter().any(|d| d["code"] == "query/not-reduced"),
        "{list:?}"
    );
    client.finish();
}

#[test]
fn what_cannot_matter_keeps_verdicts() {
    let mut client = verified();
    let edits = [
        ("const int N", "int unused; clock never;\nconst int N"),
        (
            "process P",
            "process Never(int &k) { state z; init z; }\nprocess P",
        ),
        ("process P", "int idle() { return N; }\nprocess P"),
        ("//@ query E<>", "//@ query A<> P.t\n//@ query E<>"),
    ];
    for (version, (from, to)) in (2..).zip(edits) {
        client.replace(URI, version, &MODEL.replacen(from, to, 1));
        let states = client.states(URI);
        let fresh = states.iter().filter(|s| *s == "satisfied").count();
        assert_eq!(fresh, 2, "{to}: {states:?}");
    }
    // A process that blocks time for all of them matters.
    let blocking = "process U() { state a; urgent a; init a; }\nsystem P, U;";
    client.replace(URI, 9, &MODEL.replace("system P;", blocking));
    assert_eq!(
        client.states(URI),
        ["satisfied (stale)", "satisfied (stale)"]
    );
    client.finish();
}

#[test]
fn a_query_file_follows_its_model() {
    let (model, queries) = (URI, URI.replace(".xta", ".q"));
    let mut client = Client::start(Some(&workers::answering("satisfied")), json!({}));
    let text = MODEL.split("//@").next().expect("the model").to_owned();
    client.open(model, &text);
    client.open(&queries, "A[] P.s\nE<> P.t\n");
    client.command("zonelens.verifyAll", json!({"uri": queries}));
    let fresh = ["satisfied", "satisfied"];
    client.wait_states(&queries, &fresh);
    client.replace(model, 2, &format!("// a comment\nint unused;\n{text}"));
    assert_eq!(client.states(&queries), fresh);
    client.replace(model, 3, &text.replace("N = 3", "N = 4"));
    let stale = ["satisfied (stale)", "satisfied (stale)"];
    assert_eq!(client.states(&queries), stale);
    client.replace(model, 4, &text);
    assert_eq!(client.states(&queries), fresh);
    client.replace(&queries, 2, "A[] P.s\nE<> P.s\n");
    assert_eq!(client.states(&queries), ["satisfied", "satisfied (stale)"]);
    client.finish();
}
