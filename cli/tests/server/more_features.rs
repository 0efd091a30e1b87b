//! Changes that are offered apply cleanly; traces reach editors without panels; the log.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

/// Applies the edits of one document, last first.
fn apply(text: &str, edits: &Value) -> String {
    let offset = |p: &Value| {
        let line = p["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let column = p["character"].as_u64().expect("a column") as usize;
        let rest: usize = text[start..]
            .chars()
            .scan(0, |units, c| {
                let before = *units;
                *units += c.len_utf16();
                (before < column).then(|| c.len_utf8())
            })
            .sum();
        start + rest
    };
    let mut list: Vec<&Value> = edits.as_array().expect("edits").iter().collect();
    list.sort_by_key(|e| std::cmp::Reverse(offset(&e["range"]["start"])));
    let mut out = text.to_owned();
    for edit in list {
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        out.replace_range(range, edit["newText"].as_str().expect("text"));
    }
    out
}

fn errors(list: &[Value]) -> Vec<&Value> {
    list.iter().filter(|d| d["severity"] == 1).collect()
}

const BROKEN: &str = "\
typedef scalar[3] pid;
pid id;
process P(const pid i) {
    state s, t;
    init s;
    trans s -> t { assign id = i + 1; };
}
system P;
//@ query E<> exists (i : pid) P(i).t
";

#[test]
fn the_fix_of_arithmetic_on_scalars_applies_cleanly() {
    let in_xml = "<nta><declaration>typedef scalar[3] pid; pid id;</declaration><template><name>P</name><parameter>const pid i</parameter>\
<location id=\"a\"><name>s</name></location><init ref=\"a\"/><transition><source ref=\"a\"/><target ref=\"a\"/>\
<label kind=\"guard\">1 &lt; 2</label><label kind=\"assignment\">id = i + 1</label></transition></template><system>system P;</system></nta>";
    for (name, text) in [("m.xta", BROKEN), ("m.xml", in_xml)] {
        let uri = format!("file://{}", fresh_directory().join(name).display());
        let mut client = Client::start(None, Value::Null);
        client.open(&uri, text);
        let list = client.diagnostics(&uri, 1);
        let found = list.iter().find(|d| d["code"] == "sym/arithmetic");
        let found = found.expect("the diagnostic").clone();
        let mut offered = |range: &Value| {
            let params = json!({
                "textDocument": {"uri": uri}, "range": range,
                "context": {"diagnostics": [found], "only": ["quickfix"]},
            });
            let actions = client.result("textDocument/codeAction", params);
            actions.as_array().expect("a list").clone()
        };
        let actions = offered(&found["range"]);
        // Neovim sends the place of the cursor and the diagnostics of its whole line.
        let line_start = json!({"line": found["range"]["start"]["line"], "character": 0});
        let cursor = json!({"start": line_start, "end": line_start});
        assert!(offered(&cursor).contains(&actions[0]), "{name}");
        let preferred = actions.iter().find(|a| a["isPreferred"] == true);
        let action = preferred.expect("a fix to take without thinking");
        assert_eq!(action["diagnostics"][0]["code"], "sym/arithmetic");
        let repaired = apply(text, &action["edit"]["changes"][&uri]);
        client.replace(&uri, 2, &repaired);
        let list = client.diagnostics(&uri, 2);
        assert_eq!(errors(&list), Vec::<&Value>::new(), "{repaired}");
        client.finish();
    }
}

#[test]
fn missing_names_are_declared_and_numbers_get_names() {
    let text = "\
typedef int[0, 2] id_t;
int last;
process P(const id_t i) {
    clock x;
    state s, t;
    init s;
    trans s -> t { guard x > 7 && count < 3; assign last = i; };
}
system P;
";
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let list = client.diagnostics(&uri, 1);
    assert_eq!(errors(&list).len(), 1, "{list:?}");
    let offered = |client: &mut Client, line: u64, column: u64| {
        let at = json!({"line": line, "character": column});
        let params = json!({
            "textDocument": {"uri": uri}, "range": {"start": at, "end": at},
            "context": {"diagnostics": []},
        });
        client.result("textDocument/codeAction", params)
    };
    let actions = offered(&mut client, 6, 35);
    let declare = actions
        .as_array()
        .expect("a list")
        .iter()
        .find(|a| a["title"].as_str().is_some_and(|t| t.contains("int count")))
        .unwrap_or_else(|| panic!("no declaration: {actions}"));
    let declared = apply(text, &declare["edit"]["changes"][&uri]);
    client.replace(&uri, 2, &declared);
    let list = client.diagnostics(&uri, 2);
    assert_eq!(errors(&list).len(), 0, "{declared}: {list:?}");

    let at = declared
        .lines()
        .position(|l| l.contains("x > 7"))
        .expect("there");
    let column = declared
        .lines()
        .nth(at)
        .expect("there")
        .find('7')
        .expect("there");
    let actions = offered(&mut client, at as u64, column as u64);
    let extract = actions
        .as_array()
        .expect("a list")
        .iter()
        .find(|a| a["kind"] == "refactor.extract")
        .unwrap_or_else(|| panic!("no constant: {actions}"));
    let extracted = apply(&declared, &extract["edit"]["changes"][&uri]);
    assert!(
        extracted.contains("const int C7 = 7;\n") && extracted.contains("x > C7"),
        "{extracted}"
    );
    client.replace(&uri, 3, &extracted);
    let list = client.diagnostics(&uri, 3);
    assert_eq!(errors(&list).len(), 0, "{extracted}: {list:?}");
    let hover = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 9}});
    client.result("textDocument/hover", hover);
    client.finish();
}

#[test]
fn integers_that_are_identifiers_become_a_scalar_set() {
    let text = "\
typedef int[0, 2] id_t;
bool busy[id_t];
process P(const id_t i) {
    state s, t;
    init s;
    trans s -> t { guard !busy[i]; assign busy[i] = true; }, t -> s { assign busy[i] = false; };
}
system P;
//@ query E<> forall (i : id_t) P(i).t
";
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let at = json!({"line": 2, "character": 21});
    let params = json!({
        "textDocument": {"uri": uri}, "range": {"start": at, "end": at},
        "context": {"diagnostics": [], "only": ["refactor"]},
    });
    let actions = client.result("textDocument/codeAction", params);
    let list = actions.as_array().expect("a list").iter();
    let mut rewrites = list.filter(|a| a["kind"] == "refactor.rewrite");
    let action = rewrites
        .next()
        .unwrap_or_else(|| panic!("nothing offered: {actions}"));
    let changed = apply(text, &action["edit"]["changes"][&uri]);
    assert!(changed.contains("typedef scalar[3] id_t;"), "{changed}");
    client.replace(&uri, 2, &changed);
    assert_eq!(errors(&client.diagnostics(&uri, 2)).len(), 0);
    client.finish();
}

#[test]
fn what_the_text_leaves_out_is_hinted() {
    let text = "const int N = 3;\nint n, a[N], b[2];\nprocess P(const int[0, N - 1] i) { int m; state s; init s; trans s -> s { assign n = a[i], m = b[0]; }; }\nsystem P;\n";
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let hints = client.result(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": uri}, "range": all}),
    );
    let shown: Vec<(u64, u64, &str)> = hints
        .as_array()
        .expect("a list")
        .iter()
        .map(|h| {
            let at = &h["position"];
            let number = |v: &Value| v.as_u64().expect("a number");
            (
                number(&at["line"]),
                number(&at["character"]),
                h["label"].as_str().expect("text"),
            )
        })
        .collect();
    let range = "[-32768, 32767]";
    assert_eq!(
        shown,
        [(1, 3, range), (1, 10, "= 3"), (2, 38, range), (3, 8, "×3")]
    );
    let size = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 9}});
    let hover = client.result("textDocument/hover", size);
    assert!(hover.to_string().contains("const int N = 3"), "{hover}");
    client.finish();
}

#[test]
fn ranges_are_formatted_alone() {
    let text = "int   a;\n\nint   b;\nprocess P() { state s; init s; }\nsystem P;\n";
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let range = json!({"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 8}});
    let params = json!({
        "textDocument": {"uri": uri}, "range": range, "options": {"tabSize": 4, "insertSpaces": true},
    });
    let edits = client.result("textDocument/rangeFormatting", params);
    let formatted = apply(text, &edits);
    assert!(formatted.starts_with("int   a;\n"), "{formatted}");
    assert!(formatted.contains("\nint b;\n"), "{formatted}");
    client.finish();
}

#[test]
fn tokens_come_as_differences() {
    let text = "int a;\nint b;\nprocess P() { state s; init s; }\nsystem P;\n";
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, text);
    let document = json!({"uri": uri});
    let full = client.result(
        "textDocument/semanticTokens/full",
        json!({"textDocument": document}),
    );
    client.replace(&uri, 2, &text.replace("int b;", "int b, c;"));
    let previous = json!({"textDocument": document, "previousResultId": full["resultId"]});
    let delta = client.result("textDocument/semanticTokens/full/delta", previous.clone());
    let mut data = full["data"].as_array().expect("data").clone();
    for edit in delta["edits"].as_array().expect("edits") {
        let start = edit["start"].as_u64().expect("a start") as usize;
        let gone = edit["deleteCount"].as_u64().expect("a count") as usize;
        let come = edit["data"].as_array().cloned().unwrap_or_default();
        data.splice(start..start + gone, come);
    }
    let now = client.result(
        "textDocument/semanticTokens/full",
        json!({"textDocument": document}),
    );
    assert_eq!(now["data"], Value::Array(data));
    // An id that is not the last one gets everything.
    let all = client.result("textDocument/semanticTokens/full/delta", previous);
    assert_eq!(all["data"], now["data"]);
    client.finish();
}

#[test]
fn an_editor_without_panels_is_shown_the_trace_and_the_log() {
    let directory = fresh_directory();
    let log = directory.join("zonelens.log");
    let mut client =
        Client::spawn_logging(None, &fresh_directory(), Some(&log)).initialize(json!({
            "processId": null, "rootUri": null,
            "capabilities": {
                "window": {"showDocument": {"support": true}},
                "workspace": {"textDocumentContent": {"dynamicRegistration": true}},
            },
        }));
    let uri = format!("file://{}", directory.join("m.xta").display());
    client.open(&uri, &BROKEN.replace("i + 1", "i"));
    client.diagnostics(&uri, 1);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["satisfied"]);
    let hover = json!({"textDocument": {"uri": uri}, "position": {"line": 8, "character": 11}});
    let hover = client.result("textDocument/hover", hover);
    let symmetry = "symmetry: pid (3 interchangeable elements)";
    assert!(hover.to_string().contains(symmetry), "{hover}");
    let step = client.command("zonelens.trace.open", json!({"uri": uri}));
    let document = step["document"]["uri"].as_str().expect("a uri").to_owned();
    assert!(document.starts_with("zonelens-trace:/"), "{document}");
    client.poll("the document to be shown", |c| {
        c.result("zonelens/serverStatus", json!({}));
        c.shown.contains(&document).then_some(())
    });
    let content = client.result("workspace/textDocumentContent", json!({"uri": document}));
    assert_eq!(content["text"], step["document"]["text"]);
    let traced = client.wait("the way of the trace", |m| {
        m["params"]["diagnostics"]
            .to_string()
            .contains("query/trace")
    });
    let list = traced["params"]["diagnostics"]
        .as_array()
        .expect("a list")
        .clone();
    let trace = list
        .iter()
        .find(|d| d["code"] == "query/trace")
        .expect("there");
    let way = trace["relatedInformation"].as_array().expect("places");
    assert_eq!(way[0]["location"]["range"]["start"]["line"], 5, "{trace}");
    client.command("zonelens.trace.close", json!({}));
    let gone = client.request("workspace/textDocumentContent", json!({"uri": document}));
    assert_eq!(gone["error"]["code"], -32602);

    let answer = client.command("zonelens.showLog", json!({}));
    assert_eq!(answer["path"], log.to_str().expect("UTF-8"));
    client.poll("the log to be shown", |c| {
        c.result("zonelens/serverStatus", json!({}));
        c.shown
            .iter()
            .any(|u| u.ends_with("zonelens.log"))
            .then_some(())
    });
    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(
        text.contains("starts") && !text.contains("typedef"),
        "{text}"
    );
    client.finish();
}

#[test]
fn a_kept_trace_that_does_not_replay_is_not_shown() {
    let cache = fresh_directory();
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    let text = "int n;\nprocess P() { state s, t; init s; trans s -> t { assign n = 1; }; }\nsystem P;\n//@ query E<> n == 1\n";
    let mut client = Client::start_in(&cache);
    client.open(&uri, text);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["satisfied"]);
    let entry = client.poll("the result on disk", |_| {
        let list = std::fs::read_dir(cache.join("results")).ok()?;
        list.flatten()
            .map(|e| e.path())
            .find(|p| p.extension().is_some_and(|e| e == "json"))
    });
    client.finish();
    let kept = std::fs::read_to_string(&entry).expect("readable");
    assert!(kept.contains("\"n\":1"), "{kept}");
    // Changed by somebody who knows how: with a checksum that fits.
    let version = crate::server::robustness::version();
    let forged =
        crate::server::robustness::forged(&kept, &version, |r| r.replace("\"n\":1", "\"n\":2"));
    assert_ne!(forged, kept);
    let same = crate::server::robustness::forged(&kept, &version, str::to_owned);
    assert_eq!(same, kept);
    std::fs::write(&entry, forged).expect("written");
    let mut client = Client::start_in(&cache);
    client.open(&uri, text);
    client.wait_states(&uri, &["satisfied"]);
    let params = json!({"command": "zonelens.trace.open", "arguments": [{"uri": uri}]});
    let answer = client.request("workspace/executeCommand", params);
    let message = answer["error"]["message"].as_str().unwrap_or("");
    assert!(message.contains("does not replay"), "{answer}");
    // What was kept is still right after an edit that cannot matter, and its places follow the
    // text.
    std::fs::write(&entry, kept).expect("written");
    client.finish();
    let mut client = Client::start_in(&cache);
    client.open(&uri, &format!("// above\nclock unused;\n{text}"));
    client.wait_states(&uri, &["satisfied"]);
    client.command("zonelens.trace.open", json!({"uri": uri}));
    let step = client.command("zonelens.trace.next", json!({}));
    assert_eq!(step["edges"][0]["line"], 3, "{step}");
    client.finish();
}
