//! XML models: the same features inside the text of elements, at true positions.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "\
<?xml version=\"1.0\" encoding=\"utf-8\"?>
<nta>
  <declaration>typedef scalar[3] pid; // é
int n; pid id;</declaration>
  <template>
    <name>P</name>
    <parameter>const pid i</parameter>
    <declaration>clock x;</declaration>
    <location id=\"id0\"><name>s</name><label kind=\"invariant\">x &lt;= 5</label></location>
    <location id=\"id1\"><name>t</name></location>
    <init ref=\"id0\"/>
    <transition>
      <source ref=\"id0\"/><target ref=\"id1\"/>
      <label kind=\"guard\">x &gt;= 2 &amp;&amp; n &lt; 2</label>
      <label kind=\"assignment\"><![CDATA[n = n + 1, id = i]]></label>
    </transition>
  </template>
  <system>system P;</system>
  <queries>
    <query><formula>A[] n &lt; 3</formula><comment></comment></query>
    <query><formula>E&lt;&gt; exists (i : pid) P(i).t &amp;&amp; n == 2</formula><comment></comment></query>
  </queries>
</nta>
";

fn position(needle: &str, shift: usize) -> Value {
    let at = MODEL.find(needle).expect("there") + shift;
    let line = MODEL[..at].matches('\n').count();
    let start = MODEL[..at].rfind('\n').map_or(0, |i| i + 1);
    let column: usize = MODEL[start..at].chars().map(char::len_utf16).sum();
    json!({"line": line, "character": column})
}

#[test]
fn an_xml_model_has_it_all() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, MODEL);
    let list = client.diagnostics(&uri, 1);
    assert!(list.iter().all(|d| d["severity"] != 1), "{list:?}");
    let document = json!({"uri": uri});
    let at = |needle, shift| json!({"textDocument": document, "position": position(needle, shift)});
    let found = client.result("textDocument/definition", at("&amp;&amp; n &lt; 2", 11));
    assert_eq!(found["range"]["start"], position("int n", 4));
    let found = client.result("textDocument/definition", at("n + 1, id", 7));
    assert_eq!(found["range"]["start"], position("pid id", 4));
    let found = client.result("textDocument/definition", at("P(i).t", 5));
    assert_eq!(found["range"]["start"], position("<name>t", 6));

    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["satisfied", "satisfied"]);
    let lenses = client.lenses(&uri);
    let lines: Vec<_> = lenses
        .iter()
        .map(|l| l["range"]["start"]["line"].as_u64())
        .collect();
    assert!(
        lines.contains(&Some(19)) && lines.contains(&Some(20)),
        "{lines:?}"
    );

    let step = client.command("zonelens.trace.open", json!({"uri": uri}));
    assert_eq!(step["step"], 0);
    client.command("zonelens.trace.next", json!({}));
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = client.result(
        "textDocument/inlayHint",
        json!({"textDocument": document, "range": everything}),
    );
    assert!(hints.to_string().contains("n = 1"), "{hints}");

    let broken = MODEL.replace("id = i]]", "id = i + 1]]");
    client.replace(&uri, 2, &broken);
    let list = client.diagnostics(&uri, 2);
    let found = list
        .iter()
        .find(|d| d["code"] == "sym/arithmetic")
        .expect("the diagnostic");
    assert_eq!(found["range"]["start"]["line"], 14, "{found}");
    client.finish();
}

/// The edits of a rename, as (place, new text), sorted.
fn edits(answer: &Value, uri: &str) -> Vec<(String, String)> {
    let list = match answer["changes"][uri].as_array() {
        Some(list) => list.clone(),
        None => answer["documentChanges"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|c| c["textDocument"]["uri"] == uri)
            .flat_map(|c| c["edits"].as_array().cloned().unwrap_or_default())
            .collect(),
    };
    let mut out: Vec<_> = list
        .iter()
        .map(|e| (e["range"]["start"].to_string(), e["newText"].to_string()))
        .collect();
    out.sort();
    out
}

/// `ref="id1"` means the location whatever its name is, so a rename changes the `<name>`, the
/// queries of the file and of the query file next to it, and no reference; it can be requested at
/// each of them.
#[test]
fn a_location_of_xml_is_renamed() {
    let folder = fresh_directory();
    let beside = "E<> exists (i : pid) P(i).t\n";
    std::fs::write(folder.join("m.q"), beside).expect("written");
    let uri = format!("file://{}", folder.join("m.xml").display());
    let queries = format!("file://{}", folder.join("m.q").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, MODEL);
    let document = json!({"uri": uri});
    let mut expected = vec![
        (position("<name>t", 6).to_string(), "\"done\"".to_owned()),
        (position("P(i).t", 5).to_string(), "\"done\"".to_owned()),
    ];
    expected.sort();
    for (needle, shift) in [("<name>t", 6), ("P(i).t", 5), ("<target ref", 9)] {
        let at = position(needle, shift);
        let prepared = client.result(
            "textDocument/prepareRename",
            json!({"textDocument": document, "position": at}),
        );
        assert_eq!(prepared["placeholder"], "t", "{needle}: {prepared}");
        let answer = client.result(
            "textDocument/rename",
            json!({"textDocument": document, "position": at, "newName": "done"}),
        );
        assert_eq!(edits(&answer, &uri), expected, "{needle}: {answer}");
        let place = json!({"line": 0, "character": 26}).to_string();
        let other = vec![(place, "\"done\"".to_owned())];
        assert_eq!(edits(&answer, &queries), other, "{needle}: {answer}");
    }
    // A name that is taken is refused, and a location without a name says what to do.
    let rename =
        |at: Value, name: &str| json!({"textDocument": document, "position": at, "newName": name});
    let taken = client.request("textDocument/rename", rename(position("<name>t", 6), "s"));
    assert!(taken["error"].to_string().contains("already"), "{taken}");
    client.replace(&uri, 2, &MODEL.replace("<name>s</name>", ""));
    let place = position("<init ref", 2);
    let nameless = client.request("textDocument/rename", rename(place, "start"));
    assert!(
        nameless["error"].to_string().contains("<name>"),
        "{nameless}"
    );
    client.finish();
}

/// Colours are for names: a tag that refers to a location by its id keeps those of XML.
#[test]
fn tags_are_not_coloured_as_locations() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, MODEL);
    let params = json!({"textDocument": {"uri": uri}});
    let answer = client.result("textDocument/semanticTokens/full", params);
    let numbers: Vec<u64> = answer["data"]
        .as_array()
        .expect("tokens")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let mut line = 0;
    let lines: Vec<u64> = numbers
        .chunks(5)
        .map(|token| {
            line += token[0];
            line
        })
        .collect();
    assert!(
        lines.contains(&8),
        "the name and invariant of `s`: {lines:?}"
    );
    assert!(!lines.contains(&10), "<init ref>: {lines:?}");
    assert!(
        !lines.contains(&12),
        "<source ref> and <target ref>: {lines:?}"
    );
    client.finish();
}

/// A trace marks what edges say, not the tags around it.
#[test]
fn a_trace_marks_labels() {
    let uri = format!("file://{}", fresh_directory().join("m.xml").display());
    let mut client = Client::start(None, json!({"inlayHints": false}));
    client.open(&uri, MODEL);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["satisfied", "satisfied"]);
    client.command("zonelens.trace.open", json!({"uri": uri}));
    let step = client.command("zonelens.trace.next", json!({}));
    let edge = &step["edges"][0];
    let guard = json!({
        "start": position("x &gt;= 2", 0), "end": position("n &lt; 2</label>", 8),
    });
    let update = json!({
        "start": position("n = n + 1, id", 0), "end": position("id = i]]", 6),
    });
    assert_eq!(edge["range"], guard, "{edge}");
    assert_eq!(edge["line"], guard["start"]["line"]);
    assert_eq!(edge["labels"], json!([guard, update]), "{edge}");
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": everything});
    let hints = client.result("textDocument/inlayHint", params);
    let hint = |part: &str| {
        let list = hints.as_array().expect("a list");
        let found = list.iter().find(|h| h["label"].to_string().contains(part));
        found.unwrap_or_else(|| panic!("{part}: {hints}"))["position"].clone()
    };
    assert_eq!(hint("①"), guard["start"]);
    assert_eq!(hint("n = 1"), position("int n;", 5));
    // Who is where comes after the names of locations.
    assert_eq!(hint("◉ P"), position("<name>s", 7));
    let chart = client.result("zonelens/chart", json!({}));
    assert_eq!(
        chart["steps"][1]["edges"][0]["line"],
        guard["start"]["line"]
    );
    client.finish();
}

/// An XML file that is not a model belongs to others: nothing is said about it.
#[test]
fn a_file_that_is_no_model_gets_nothing() {
    let folder = fresh_directory();
    let uri = format!("file://{}", folder.join("pom.xml").display());
    std::fs::write(
        folder.join("other.xml"),
        "<project><declaration>int n;</declaration>",
    )
    .expect("written");
    let text = "<project>\n<declaration>int n = ;</declaration>\n</project>\n";
    let mut client = Client::start(None, json!({"verifyOnType": true}));
    let open = |text: &str| json!({"textDocument": {"uri": uri, "languageId": "xml", "version": 1, "text": text}});
    client.notify("textDocument/didOpen", open(text));
    assert_eq!(client.diagnostics(&uri, 1), [Value::Null; 0]);
    let document = json!({"uri": uri});
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let at = json!({"line": 1, "character": 18});
    for (method, params) in [
        ("codeLens", json!({"textDocument": document})),
        ("documentSymbol", json!({"textDocument": document})),
        ("foldingRange", json!({"textDocument": document})),
        ("documentLink", json!({"textDocument": document})),
        (
            "inlayHint",
            json!({"textDocument": document, "range": whole}),
        ),
        (
            "completion",
            json!({"textDocument": document, "position": at}),
        ),
        (
            "documentHighlight",
            json!({"textDocument": document, "position": at}),
        ),
        (
            "codeAction",
            json!({"textDocument": document, "range": whole, "context": {"diagnostics": []}}),
        ),
    ] {
        let answer = client.result(&format!("textDocument/{method}"), params);
        let nothing = answer.is_null() || answer.as_array().is_some_and(Vec::is_empty);
        assert!(nothing, "{method}: {answer}");
    }
    for method in ["hover", "definition", "signatureHelp", "prepareRename"] {
        let params = json!({"textDocument": document, "position": at});
        let answer = client.result(&format!("textDocument/{method}"), params);
        assert!(answer.is_null(), "{method}: {answer}");
    }
    let tokens = client.result(
        "textDocument/semanticTokens/full",
        json!({"textDocument": document}),
    );
    assert_eq!(tokens["data"], json!([]));
    // Edits are followed, and one that makes it a model makes it one.
    client.replace(&uri, 2, &MODEL.replace("int n;", "int n"));
    assert!(!client.diagnostics(&uri, 2).is_empty());
    client.finish();
}
