//! Gestures of the picture: `zonelens.edit`.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "<nta><template>\r
\t<name>P</name>\r
\t<location id=\"id0\" y=\"16\" x=\"-8\"><name x=\"1\" y=\"2\">s</name></location>\r
\t<location id=\"id1\" x=\"80\" y=\"0\">\r
\t</location>\r
\t<init ref=\"id0\"/>\r
\t<transition><source ref=\"id0\"/><target ref=\"id1\"/><nail x=\"9\" y=\"10\"/></transition>\r
</template><system>system P;</system>\r
<queries><query><formula>E&lt;&gt; P.s</formula></query></queries></nta>\r
";

fn client() -> Client {
    let edits = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    Client::spawn(None).initialize(json!({
        "processId": null, "rootUri": null, "capabilities": edits,
    }))
}

fn ask(client: &mut Client, argument: Value) -> Value {
    let params = json!({"command": "zonelens.edit", "arguments": [argument]});
    client.request("workspace/executeCommand", params)
}

fn on(uri: &str, version: i32, gesture: Value) -> Value {
    json!({"uri": uri, "version": version, "template": "P", "gesture": gesture})
}

/// The text after the edits of an answer.
fn edited(text: &str, answer: &Value, uri: &str, version: i32) -> String {
    let change = &answer["result"]["edit"]["documentChanges"][0];
    assert_eq!(
        change["textDocument"],
        json!({"uri": uri, "version": version}),
        "{answer}"
    );
    let mut edits = change["edits"].as_array().expect("edits").clone();
    let offset = |at: &Value| {
        let line = at["line"].as_u64().expect("a line") as usize;
        let column = at["character"].as_u64().expect("a column") as usize;
        let before = text.split_inclusive('\n').take(line);
        before.map(str::len).sum::<usize>() + column
    };
    edits.sort_by_key(|e| offset(&e["range"]["start"]));
    let mut out = text.to_owned();
    for edit in edits.iter().rev() {
        let range = &edit["range"];
        let span = offset(&range["start"])..offset(&range["end"]);
        out.replace_range(span, edit["newText"].as_str().expect("text"));
    }
    out
}

#[test]
fn a_gesture_is_one_versioned_edit() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let mut client = client();
    client.open_version(&uri, 5, MODEL);
    let moved = json!({"kind": "move", "nodes": ["s"], "by": [10, -20]});
    let answer = ask(&mut client, on(&uri, 5, moved));
    let wanted = MODEL.replace("y=\"16\" x=\"-8\"", "y=\"-4\" x=\"2\"");
    let wanted = wanted.replace("x=\"1\" y=\"2\"", "x=\"11\" y=\"-18\"");
    assert_eq!(edited(MODEL, &answer, &uri, 5), wanted);
    assert_eq!(answer["result"]["title"], "Move `s`");
    assert_eq!(answer["result"]["added"], Value::Null);

    let edge = json!({"kind": "addEdge", "source": "_id1", "target": "s"});
    let answer = ask(&mut client, on(&uri, 5, edge));
    assert_eq!(answer["result"]["added"], 1);
    let lines = "\r\n\t<transition>\r\n\t\t<source ref=\"id1\"/>\r\n\t\t<target ref=\"id0\"/>\r\n\t</transition>";
    let wanted = MODEL.replace("</transition>", &format!("</transition>{lines}"));
    assert_eq!(edited(MODEL, &answer, &uri, 5), wanted);

    let deleted = json!({"kind": "delete", "elements": ["s"]});
    let answer = ask(&mut client, on(&uri, 5, deleted));
    let note = answer["result"]["note"].as_str().expect("a note");
    assert!(note.contains("no initial location"), "{note}");
    assert!(!edited(MODEL, &answer, &uri, 5).contains("id0"));

    let nail = json!({"kind": "moveNail", "edge": 0, "nail": 0, "to": [1, 2]});
    let answer = ask(&mut client, on(&uri, 5, nail));
    let wanted = MODEL.replace("<nail x=\"9\" y=\"10\"/>", "<nail x=\"1\" y=\"2\"/>");
    assert_eq!(edited(MODEL, &answer, &uri, 5), wanted);
    client.finish();
}

#[test]
fn a_name_is_changed_wherever_it_is_used() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let mut client = client();
    client.open_version(&uri, 1, MODEL);
    let name = json!({"kind": "label", "of": "s", "label": "name", "text": "idle"});
    let answer = ask(&mut client, on(&uri, 1, name));
    let wanted = MODEL.replace(">s<", ">idle<").replace("P.s", "P.idle");
    assert_eq!(edited(MODEL, &answer, &uri, 1), wanted);

    let name = json!({"kind": "renameTemplate", "name": "Pump"});
    let answer = ask(&mut client, on(&uri, 1, name));
    let wanted = MODEL
        .replace(">P<", ">Pump<")
        .replace("system P", "system Pump");
    let wanted = wanted.replace("P.s", "Pump.s");
    assert_eq!(edited(MODEL, &answer, &uri, 1), wanted);
    client.finish();
}

#[test]
fn a_gesture_that_cannot_be_done_has_a_reason() {
    let folder = fresh_directory();
    let uri = |name: &str| format!("file://{}", folder.join(name).display());
    let (model, broken, foreign) = (uri("m.xml"), uri("b.xml"), uri("pom.xml"));
    let mut client = client();
    client.open_version(&model, 2, MODEL);
    client.open_version(&broken, 1, &MODEL.replace("</location>", "</locatio>"));
    client.open_version(&foreign, 1, "<project><name>P</name></project>");
    let initial = || json!({"kind": "initial", "node": "s"});
    // A picture of an older text.
    let answer = ask(&mut client, on(&model, 1, initial()));
    assert_eq!(answer["error"]["code"], -32801, "{answer}");
    for (argument, reason) in [
        (
            on(&broken, 1, initial()),
            "correct the XML of this file first",
        ),
        (on(&foreign, 1, initial()), "not a model"),
        (
            on(&model, 2, json!({"kind": "initial", "node": "t"})),
            "there is no location `t`",
        ),
        (
            on(
                &model,
                2,
                json!({"kind": "move", "nodes": ["s"], "by": [2_000_000, 0]}),
            ),
            "too far away",
        ),
        (
            on(&model, 2, json!({"kind": "dance"})),
            "the gesture cannot be read",
        ),
        (
            on(&model, 2, json!({"kind": "renameTemplate", "name": "int"})),
            "not a name",
        ),
        (json!(null), "the gesture cannot be read"),
        (on(&uri("closed.xml"), 1, initial()), "is not open"),
    ] {
        let answer = ask(&mut client, argument);
        let message = answer["error"]["message"].as_str().expect("a reason");
        assert!(message.contains(reason), "{message}");
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    client.finish();
}

#[test]
fn a_drawing_says_where_things_are_in_the_file() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let mut client = client();
    client.open(&uri, MODEL);
    let drawing = client.result("zonelens/drawing", json!({"uri": uri}));
    let template = &drawing["templates"][0];
    let number = |v: &Value| v.as_f64().expect("a number");
    let (dx, dy) = (
        number(&template["offset"]["x"]),
        number(&template["offset"]["y"]),
    );
    let node = &template["nodes"][0];
    assert_eq!(
        (number(&node["x"]) - dx, number(&node["y"]) - dy),
        (-8.0, 16.0)
    );
    assert_eq!(node["labels"][0]["place"], json!([1.0, 2.0]));
    let nail = &template["edges"][0]["nails"][0];
    assert_eq!((number(&nail[0]) - dx, number(&nail[1]) - dy), (9.0, 10.0));
    let text = MODEL.replace(" y=\"16\" x=\"-8\"", "");
    client.replace(&uri, 2, &text);
    let drawing = client.result("zonelens/drawing", json!({"uri": uri}));
    assert_eq!(drawing["templates"][0]["offset"], Value::Null);
    client.finish();
}
