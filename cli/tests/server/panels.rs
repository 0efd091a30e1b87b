//! The requests of `docs/protocol.md`.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "\
int n;
chan go;
process P(const int[0, 1] i) {
    clock x;
    state s, t { x <= 5 }, u;
    init s;
    trans s -> t { sync go!; assign x = 0, n = n + 1; },
          t -> u { guard x >= 3; };
}
process Q() { state a; commit a; init a; trans a -> a { sync go?; }; }
system P, Q;
//@ query A[] not (P(0).u && P(1).u)
//@ expect satisfied
//@ query E<> n == 2
";

fn verified() -> (Client, String) {
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, &MODEL.replace(" commit a;", ""));
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["violated", "satisfied"]);
    (client, uri)
}

#[test]
fn a_test_view_gets_queries_with_places_and_whether_they_pass() {
    let (mut client, uri) = verified();
    let answer = client.command("zonelens.status", json!({"uri": uri}));
    let list = answer.as_array().expect("a list");
    assert_eq!(list.len(), 2);
    assert_eq!(list[0]["version"], 1);
    assert_eq!(list[0]["expected"], "satisfied");
    assert_eq!(list[0]["passes"], false);
    assert_eq!(list[0]["line"], 12);
    assert_eq!(list[0]["range"]["start"]["line"], 11);
    assert_eq!(list[1]["passes"], true);
    assert!(
        list[1]["title"]
            .as_str()
            .is_some_and(|t| t.starts_with("✓ satisfied"))
    );
    client.finish();
}

#[test]
fn a_panel_gets_the_steps_of_a_trace_and_hears_of_moves() {
    let (mut client, uri) = verified();
    let query = "A[] not (P(0).u && P(1).u)";
    let opened = client.command("zonelens.trace.open", json!({"uri": uri, "query": query}));
    let step = client.command("zonelens.trace.next", json!({}));
    let changed = client.wait("the second step", |m| {
        m["method"] == "zonelens/traceChanged" && m["params"]["step"] == 1
    });
    assert_eq!(changed["params"]["steps"], 5);
    assert_eq!(changed["params"]["stale"], false);
    assert_eq!(step["edges"][0]["range"]["start"]["line"], 6);
    assert_eq!(step["state"]["variables"]["n"], 1);
    assert_eq!(step["state"]["locations"]["Q"], "a");
    let exported = client.command("zonelens.trace.export", json!({}));
    let transition = &exported["json"]["steps"][1]["transition"];
    assert_eq!(transition["channel"], "go");
    assert_eq!(transition["edges"][1]["process"], "Q");
    let document = &opened["document"];
    assert_eq!(document["lines"].as_array().map(Vec::len), Some(5));
    // The file is there to be read, and only that.
    let file = document["uri"]
        .as_str()
        .and_then(|u| u.strip_prefix("file://"));
    let text = std::fs::read_to_string(file.expect("a file")).expect("readable");
    assert_eq!(document["text"], text);
    assert!(
        std::fs::metadata(file.expect("a file"))
            .expect("there")
            .permissions()
            .readonly()
    );

    let text = MODEL.replace(" commit a;", "");
    client.replace(&uri, 2, &text.replace("x >= 3", "x >= 4"));
    client.wait("staleness", |m| {
        m["method"] == "zonelens/traceChanged" && m["params"]["stale"] == true
    });
    client.replace(&uri, 3, &text);
    client.wait("freshness", |m| {
        m["method"] == "zonelens/traceChanged" && m["params"]["stale"] == false
    });
    client.command("zonelens.trace.close", json!({}));
    client.wait("the end", |m| {
        m["method"] == "zonelens/traceChanged" && m["params"]["open"] == false
    });
    client.finish();
}

#[test]
fn expressions_are_evaluated_in_a_step() {
    let (mut client, uri) = verified();
    let query = json!({"uri": uri, "query": "A[] not (P(0).u && P(1).u)"});
    client.command("zonelens.trace.open", query);
    client.command("zonelens.trace.last", json!({}));
    for (expression, kind, value) in [
        ("n", "integer", "2"),
        ("n * 10 + 1", "integer", "21"),
        ("n == 2", "boolean", "true"),
        ("forall (i : int[0, 1]) P(i).u", "boolean", "true"),
        ("P(0).x", "clock", ""),
        ("P(0).x >= 3", "boolean", "true"),
        ("P(0).x - P(1).x", "clock", ""),
        ("nobody", "error", ""),
        ("n +", "error", ""),
    ] {
        let argument = json!({"expression": expression});
        let answer = client.command("zonelens.trace.evaluate", argument);
        assert_eq!(answer["kind"], kind, "{answer}");
        if !value.is_empty() {
            assert_eq!(answer["value"], value, "{answer}");
        }
        assert_eq!(answer["step"], 4);
    }
    let at_start = json!({"expression": "n", "step": 0});
    assert_eq!(
        client.command("zonelens.trace.evaluate", at_start)["value"],
        "0"
    );
    client.finish();
}

/// In a step of a trace elements of scalarsets have names: those that the trace shows.
#[test]
fn elements_are_named_as_in_the_trace() {
    let text = "typedef scalar[3] pid; pid id; bool seen[pid]; process Fischer(const pid i) { clock x; \
                state a, b; init a; trans a -> b { guard x >= 2; assign x = 0, id = i, seen[i] = true; }; } \
                system Fischer;\n//@ query A[] forall (i : pid) !Fischer(i).b\n";
    let uri = format!("file://{}", fresh_directory().join("f.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let query = json!({"uri": uri, "query": "A[] forall (i : pid) !Fischer(i).b"});
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["violated"]);
    client.command("zonelens.trace.open", query);
    client.command("zonelens.trace.last", json!({}));
    for (expression, kind) in [
        ("id", "integer"),
        ("id + 1", "integer"),
        ("id == 0", "boolean"),
        ("seen[0]", "integer"),
        ("seen[id]", "integer"),
        ("Fischer(0).b", "boolean"),
        ("Fischer(id).b", "boolean"),
        ("Fischer(0).x", "clock"),
        ("Fischer(0).x - Fischer(1).x", "clock"),
        ("exists (i : pid) Fischer(i).b && id == i", "boolean"),
        ("Fischer(3).x", "error"),
    ] {
        let answer = client.command("zonelens.trace.evaluate", json!({"expression": expression}));
        assert_eq!(answer["kind"], kind, "{answer}");
    }
    client.finish();
}

#[test]
fn drawings_of_xml_reach_the_diagram() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let text = r##"<nta><template><name>P</name>
<location id="id0" x="-8" y="16" color="#ff0000"><name x="1" y="2">s</name><label kind="invariant" x="3" y="4">x &lt;= 5</label><urgent/></location>
<location id="id1" x="80" y="0"><label kind="comments" x="0" y="0">no name</label></location>
<branchpoint id="id2" x="5" y="6"/>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="synchronisation" x="7" y="8">go!</label><nail x="9" y="10"/></transition>
</template><system>system P;</system></nta>"##;
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let drawing = client.result("zonelens/drawing", json!({"uri": uri}));
    assert_eq!(drawing["version"], 1);
    let t = &drawing["templates"][0];
    let s = &t["nodes"][0];
    assert_eq!((&s["id"], &s["kind"]), (&json!("s"), &json!("urgent")));
    assert_eq!(s["color"], "#ff0000");
    assert_eq!(s["range"]["start"]["line"], 1);
    assert_eq!(s["labels"][0]["text"], "x <= 5");
    // The text as it is written, with its entity.
    let at = text
        .lines()
        .nth(1)
        .and_then(|l| l.find("x &lt;"))
        .expect("there");
    let range =
        json!({"start": {"line": 1, "character": at}, "end": {"line": 1, "character": at + 9}});
    assert_eq!(s["labels"][0]["range"], range);
    let second = &t["nodes"][1];
    assert_eq!(second["anonymous"], true);
    assert_eq!(second["comment"], "no name");
    assert_eq!(t["nodes"][2]["kind"], "branchpoint");
    let distance = |name: &str| {
        let (a, b) = (s[name].as_f64(), second[name].as_f64());
        b.expect("a place") - a.expect("a place")
    };
    assert_eq!((distance("x"), distance("y")), (88.0, -16.0));
    let e = &t["edges"][0];
    assert_eq!(
        (&e["id"], &e["source"], &e["target"]),
        (&json!(0), &json!(0), &json!(1))
    );
    assert_eq!(e["range"]["start"]["line"], 5);
    assert_eq!(e["labels"][0]["kind"], "sync");
    // What gestures edit.
    assert_eq!(drawing["refused"], Value::Null);
    let labels = drawing["texts"]["P"]["labels"].as_array().expect("labels");
    let words: Vec<String> = labels
        .iter()
        .map(|l| format!("{} {} {}", l["of"], l["label"], l["text"]))
        .collect();
    let wanted = [
        r#""s" "name" "s""#,
        r#""s" "invariant" "x <= 5""#,
        r#""_id1" "comment" "no name""#,
        r#"0 "sync" "go!""#,
    ];
    assert_eq!(words, wanted);
    assert_eq!(labels[1]["range"], range);
    assert_eq!(labels[1]["place"], json!([3.0, 4.0]));
    client.finish();
}

/// What went with protocol 2.
#[test]
fn requests_of_protocol_1_are_unknown() {
    let (mut client, uri) = verified();
    for method in ["zonelens/diagram", "zonelens/trace", "zonelens/queries"] {
        let answer = client.request(method, json!({"textDocument": {"uri": uri}}));
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    client.finish();
}

#[test]
fn the_server_tells_what_it_does() {
    let (mut client, uri) = verified();
    let status = client.result("zonelens/serverStatus", json!({}));
    assert_eq!(status["protocol"], 2);
    assert_eq!(status["pid"], client.pid());
    assert_eq!(status["documents"], 1);
    assert_eq!(status["runs"], json!([]));
    assert_eq!(status["trace"], Value::Null);
    let query = json!({"uri": uri, "line": 11});
    client.command("zonelens.trace.open", query);
    let status = client.result("zonelens/serverStatus", json!({}));
    assert_eq!(status["trace"]["steps"], 5);
    assert_eq!(client.command("zonelens.showLog", json!({})), Value::Null);
    assert_eq!(
        client.capabilities["experimental"]["zonelens"]["protocol"],
        2
    );
    client.finish();
}

#[test]
fn a_panel_gets_templates_and_traces_laid_out() {
    let (mut client, uri) = verified();
    let drawing = client.result("zonelens/drawing", json!({"uri": uri}));
    assert_eq!(drawing["model"], uri);
    assert_eq!(drawing["processes"][1]["name"], "P(1)");
    let why = drawing["refused"].as_str().expect("a reason");
    assert!(why.contains("`.xta`"), "{why}");
    let template = &drawing["templates"][0];
    let nodes = template["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 3);
    assert_eq!(
        (&nodes[0]["name"], &nodes[0]["initial"]),
        (&json!("s"), &json!(true))
    );
    assert_eq!(template["edges"][0]["line"], 6);
    assert_eq!(template["edges"][0]["id"], 0);
    assert_eq!(template["edges"][1]["range"]["start"]["line"], 7);
    assert_eq!(template["selectionRange"]["start"]["line"], 2);
    assert!(
        template["edges"][0]["path"]
            .as_str()
            .is_some_and(|p| p.starts_with('M'))
    );

    let none = client.request("zonelens/chart", json!({}));
    assert_eq!(none["error"]["code"], -32602);
    let query = "A[] not (P(0).u && P(1).u)";
    client.command("zonelens.trace.open", json!({"uri": uri, "query": query}));
    let whole = client.result("zonelens/chart", json!({}));
    assert_eq!(whole["query"], query);
    assert_eq!(whole["steps"].as_array().map(Vec::len), Some(5));
    assert_eq!(whole["steps"][1]["edges"][0]["line"], 6);
    assert_eq!(whole["steps"][1]["edges"][0]["edge"], 0);
    assert_eq!(whole["chart"]["lanes"].as_array().map(Vec::len), Some(3));
    assert_eq!(whole["chart"]["arrows"][0]["label"], "go");
    let one = client.result("zonelens/chart", json!({"processes": ["Q"]}));
    assert_eq!(one["chart"]["lanes"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["steps"], whole["steps"]);
    client.finish();
}
