//! The whole story of the simulator in an XML model, told by a client that knows nothing but the
//! protocol: every step is a `workspace/executeCommand`.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "\
<nta>
<declaration>int n; clock y; chan go;</declaration>
<template><name>P</name>
<declaration>clock x;</declaration>
<location id=\"id0\"><name>a</name><label kind=\"invariant\">x &lt;= 5</label></location>
<location id=\"id1\"><name>b</name></location>
<location id=\"id2\"><name>done</name></location>
<init ref=\"id0\"/>
<transition><source ref=\"id0\"/><target ref=\"id1\"/>
<label kind=\"guard\">x &gt;= 1</label>
<label kind=\"assignment\"><![CDATA[n = n + 1, y = 0]]></label>
</transition>
<transition><source ref=\"id1\"/><target ref=\"id2\"/>
<label kind=\"guard\">x &gt;= 4 &amp;&amp; y &lt;= 1</label>
</transition>
<transition><source ref=\"id2\"/><target ref=\"id0\"/></transition>
</template>
<system>system P;</system>
<queries><query><formula>E&lt;&gt; P.done</formula></query></queries>
</nta>
";

/// A client that offers nothing.
fn plain() -> (Client, String) {
    let params = json!({"processId": null, "rootUri": null, "capabilities": {}});
    let mut client = Client::spawn(None).initialize(params);
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    client.open(&uri, MODEL);
    (client, uri)
}

fn command(client: &mut Client, name: &str, argument: Value) -> Value {
    client.command(&format!("zonelens.simulation.{name}"), argument)
}

/// The text at a range of the protocol; all of the model is ASCII.
fn text_at(range: &Value, text: &str) -> String {
    let at = |end: &str| {
        let number = |name: &str| range[end][name].as_u64().expect("a number") as usize;
        let before: usize = text
            .split_inclusive('\n')
            .take(number("line"))
            .map(str::len)
            .sum();
        before + number("character")
    };
    text[at("start")..at("end")].to_owned()
}

fn with_zone(client: &mut Client) -> Value {
    client.poll("the zone", |client| {
        let state = command(client, "state", json!({}));
        (!state["zone"].is_null()).then_some(state)
    })
}

#[test]
fn execute_command_alone_is_enough() {
    let (mut client, uri) = plain();
    let state = command(&mut client, "start", json!({"uri": uri}));
    assert_eq!(state["possible"][0]["window"], "[1, 5]", "{state}");
    // The labels of the edge are marked, not its tags.
    let edge = &state["possible"][0]["transition"]["edges"][0];
    assert_eq!(text_at(&edge["range"], MODEL), "x &gt;= 1");
    let labels: Vec<String> = edge["labels"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|range| text_at(range, MODEL))
        .collect();
    assert_eq!(labels, ["x &gt;= 1", "n = n + 1, y = 0"]);

    let state = command(&mut client, "delay", json!({"delay": "3/2"}));
    assert_eq!(state["state"]["clocks"]["P.x"], "3/2");
    command(&mut client, "back", json!({}));
    let state = command(&mut client, "take", json!({"number": 0}));
    assert_eq!((&state["step"], &state["time"]), (&json!(1), &json!("1")));
    let state = with_zone(&mut client);
    assert_eq!(state["zone"]["kind"], "zone", "{state}");
    let other = &state["otherDelays"][0];
    assert_eq!(other["transition"]["edges"][0]["to"], "done", "{state}");
    let reason = &other["reason"];
    assert_eq!(reason["line"], 14, "{reason}");
    let state = command(&mut client, "take", json!({"number": other["number"]}));
    assert_eq!(state["state"]["locations"]["P"], "done", "{state}");
    // An edge without labels is marked at its ends.
    let last = &state["possible"][0]["transition"]["edges"][0];
    assert_eq!(
        text_at(&last["range"], MODEL),
        "<source ref=\"id2\"/><target ref=\"id0\"/>"
    );
    assert_eq!(last["labels"], json!([]));

    // The walk is the open trace.
    let value = client.command(
        "zonelens.trace.evaluate",
        json!({"expression": "n == 1 && P.done"}),
    );
    assert_eq!(value["value"], "true", "{value}");
    let step = client.command("zonelens.trace.previous", json!({}));
    assert_eq!(step["step"], 1);
    assert_eq!(text_at(&step["edges"][0]["range"], MODEL), "x &gt;= 1");
    let exported = client.command("zonelens.trace.export", json!({}));
    assert_eq!(exported["json"]["steps"].as_array().map(Vec::len), Some(3));
    assert_eq!(command(&mut client, "forward", json!({}))["step"], 2);
    assert_eq!(command(&mut client, "goto", json!({"step": 1}))["step"], 1);
    let state = command(&mut client, "restart", json!({}));
    assert_eq!(state["length"], 0);
    let state = command(
        &mut client,
        "random",
        json!({"steps": 40, "seed": 3, "until": "P.b"}),
    );
    assert_eq!(state["state"]["locations"]["P"], "b", "{state}");

    // From a step of a verified trace.
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["satisfied"]);
    let query = json!({"uri": uri, "query": "E<> P.done", "step": 1});
    let state = command(&mut client, "start", query);
    assert_eq!((&state["step"], &state["length"]), (&json!(1), &json!(2)));
    assert_eq!(command(&mut client, "stop", json!({})), Value::Null);
    // Nothing came that such a client would not know.
    let custom = |m: &&Value| {
        m["method"]
            .as_str()
            .is_some_and(|m| m.starts_with("zonelens/"))
    };
    let unknown: Vec<&Value> = client.unread.iter().filter(custom).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    client.finish();
}

#[test]
fn the_worker_is_killed_in_the_middle() {
    let (mut client, uri) = plain();
    command(&mut client, "start", json!({"uri": uri}));
    command(&mut client, "take", json!({"number": 0, "delay": 4}));
    with_zone(&mut client);
    let children = client.children();
    assert_eq!(children.len(), 1, "{children:?}");
    let killed = std::process::Command::new("kill")
        .args(["-9", &children[0].to_string()])
        .status();
    assert!(killed.expect("kill runs").success());
    let state = command(&mut client, "take", json!({"number": 0}));
    assert_eq!(state["state"]["locations"]["P"], "done", "{state}");
    let state = with_zone(&mut client);
    assert_eq!(state["zone"]["kind"], "none", "{state}");
    let reason = state["zone"]["reason"].as_str().expect("text");
    assert!(!reason.is_empty());
    let state = command(&mut client, "take", json!({"number": 0}));
    assert_eq!((&state["step"], &state["length"]), (&json!(3), &json!(3)));
    assert_eq!(command(&mut client, "back", json!({}))["step"], 2);
    client.finish();
}

#[test]
fn edits_that_keep_the_meaning_keep_the_walk() {
    let (mut client, uri) = plain();
    command(&mut client, "start", json!({"uri": uri}));
    command(&mut client, "take", json!({"number": 0, "delay": 4}));
    let before = command(&mut client, "take", json!({"number": 0}));
    assert_eq!(before["step"], 2, "{before}");
    // A comment, coordinates, the same text in CDATA and with other entities, another query.
    for (k, (from, to)) in [
        ("<declaration>int n;", "<declaration>// why\nint n;"),
        (
            "<location id=\"id1\">",
            "<location id=\"id1\" x=\"-8\" y=\"16\">",
        ),
        ("x &gt;= 1", "<![CDATA[x >= 1]]>"),
        ("x &gt;= 4 &amp;&amp; y", "x &#62;= 4 and y"),
        ("E&lt;&gt; P.done", "A[] n &lt; 9"),
        ("<nta>", "<!-- note -->\n<nta>"),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(MODEL.contains(from), "{from}");
        let text = MODEL.replacen(from, to, 1);
        let version = k as i64 + 2;
        client.replace(&uri, version, &text);
        let state = command(&mut client, "state", json!({}));
        assert_eq!(
            (&state["step"], &state["version"], &state["stale"]),
            (&json!(2), &json!(version), &json!(false)),
            "{to}: {state}"
        );
        assert_eq!(state["message"], Value::Null, "{to}");
        let edge = &state["walk"][1]["transition"]["edges"][0];
        let marked = text_at(&edge["range"], &text);
        assert!(marked.ends_with("y &lt;= 1"), "{to}: {marked}");
    }
    // One that does not: the walk ends where it must, and the reason has its place.
    client.replace(&uri, 9, &MODEL.replace("x &gt;= 4", "x &gt;= 9"));
    let state = command(&mut client, "state", json!({}));
    assert_eq!(
        (&state["step"], &state["length"]),
        (&json!(1), &json!(1)),
        "{state}"
    );
    let said = state["message"].as_str().expect("a message");
    assert!(
        said.contains("before step 2") && said.contains("line 14"),
        "{said}"
    );
    client.finish();
}
