//! XML models: the same features inside the text of elements, at true positions.

use crate::client::{Client, fresh_directory};
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
