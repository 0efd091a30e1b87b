//! Every advertised capability is asked for, in every notation, and answers.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const XTA: &str = "\
const int N = 2;
typedef scalar[N] pid;
int count;
int twice(int n) { return n + n; }
process P(const pid i) {
    clock x;
    state s { x <= N }, t;
    init s;
    trans s -> t { guard x > 1; assign count = twice(count); };
}
Q(const pid i) = P(i);
system Q;
//@ query E<> exists (i : pid) Q(i).t
";
const XML: &str = "\
<nta><declaration>const int N = 2; typedef scalar[N] pid; int count;
int twice(int n) { return n + n; }</declaration>
<template><name>P</name><parameter>const pid i</parameter><declaration>clock x;</declaration>
<location id=\"a\"><name>s</name><label kind=\"invariant\">x &lt;= N</label></location>
<location id=\"b\"><name>t</name></location><init ref=\"a\"/>
<transition><source ref=\"a\"/><target ref=\"b\"/>
<label kind=\"guard\"><![CDATA[x > 1]]></label><label kind=\"assignment\">count = twice(count)</label></transition>
</template><system>Q(const pid i) = P(i); system Q;</system>
<queries><query><formula>E&lt;&gt; exists (i : pid) Q(i).t</formula><comment/></query></queries></nta>
";

/// A client that can do everything.
fn everything(root: &str) -> Value {
    json!({
        "processId": null, "rootUri": null,
        "workspaceFolders": [{"uri": root, "name": "root"}],
        "initializationOptions": {"statusNotifications": true},
        "capabilities": {
            "textDocument": {"diagnostic": {}},
            "window": {"workDoneProgress": true, "showDocument": {"support": true}},
            "workspace": {
                "configuration": true,
                "didChangeWatchedFiles": {"dynamicRegistration": true},
                "codeLens": {"refreshSupport": true}, "inlayHint": {"refreshSupport": true},
                "diagnostics": {"refreshSupport": true},
                "textDocumentContent": {"dynamicRegistration": true},
            },
        },
    })
}

struct Case {
    uri: String,
    text: String,
}

impl Case {
    /// Parameters at the `n`th `needle` plus `shift`.
    fn at(&self, needle: &str, shift: usize) -> Value {
        let at = self.text.find(needle).expect(needle) + shift;
        let line = self.text[..at].matches('\n').count();
        let column = at - self.text[..at].rfind('\n').map_or(0, |i| i + 1);
        json!({"line": line, "character": column})
    }

    fn params(&self, more: Value) -> Value {
        let mut params = json!({"textDocument": {"uri": self.uri}});
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        params
    }

    fn all(&self) -> Value {
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}})
    }
}

/// Asks one capability; gives whether the answer says something.
fn ask(client: &mut Client, capability: &str, case: &Case) -> Vec<(String, Value)> {
    let position = json!({"position": case.at("twice(count)", 1)});
    let mut one = |method: &str, more: Value| {
        let answer = client.result(method, case.params(more));
        (method.to_owned(), answer)
    };
    match capability {
        "hoverProvider" => vec![one("textDocument/hover", position)],
        "completionProvider" => vec![one("textDocument/completion", position)],
        "signatureHelpProvider" => {
            let inside = json!({"position": case.at("twice(count)", 6)});
            vec![one("textDocument/signatureHelp", inside)]
        }
        "definitionProvider" => vec![one("textDocument/definition", position)],
        "typeDefinitionProvider" => {
            let typed = json!({"position": case.at("pid i)", 4)});
            vec![one("textDocument/typeDefinition", typed)]
        }
        "implementationProvider" => {
            let template = json!({"position": case.at("P(i)", 0)});
            vec![one("textDocument/implementation", template)]
        }
        "referencesProvider" => {
            let mut params = position;
            params["context"] = json!({"includeDeclaration": true});
            vec![one("textDocument/references", params)]
        }
        "documentHighlightProvider" => vec![one("textDocument/documentHighlight", position)],
        "documentSymbolProvider" => vec![one("textDocument/documentSymbol", json!({}))],
        "codeActionProvider" => {
            let at = case.at("N = 2", 4);
            let more = json!({"range": {"start": at, "end": at}, "context": {"diagnostics": []}});
            let (method, answer) = one("textDocument/codeAction", more);
            assert!(answer.is_array(), "{answer}");
            let at = case.at("x > 1", 4);
            let more = json!({"range": {"start": at, "end": at}, "context": {"diagnostics": []}});
            vec![(method, one("textDocument/codeAction", more).1)]
        }
        "codeLensProvider" => vec![one("textDocument/codeLens", json!({}))],
        "documentLinkProvider" => vec![one("textDocument/documentLink", json!({}))],
        "documentFormattingProvider" => {
            let options = json!({"options": {"tabSize": 4, "insertSpaces": true}});
            vec![one("textDocument/formatting", options)]
        }
        "documentRangeFormattingProvider" => {
            let options = json!({"tabSize": 4, "insertSpaces": true});
            let more = json!({"range": case.all(), "options": options});
            vec![one("textDocument/rangeFormatting", more)]
        }
        "renameProvider" => {
            let prepared = one("textDocument/prepareRename", position.clone());
            let mut params = position;
            params["newName"] = json!("both");
            vec![prepared, one("textDocument/rename", params)]
        }
        "foldingRangeProvider" => vec![one("textDocument/foldingRange", json!({}))],
        "selectionRangeProvider" => {
            let places = json!({"positions": [position["position"]]});
            vec![one("textDocument/selectionRange", places)]
        }
        "inlayHintProvider" => {
            vec![one("textDocument/inlayHint", json!({"range": case.all()}))]
        }
        "semanticTokensProvider" => {
            let full = one("textDocument/semanticTokens/full", json!({}));
            let previous = json!({"previousResultId": full.1["resultId"]});
            let delta = one("textDocument/semanticTokens/full/delta", previous);
            assert_eq!(delta.1["edits"], json!([]));
            let part = json!({"range": case.all()});
            vec![full, delta, one("textDocument/semanticTokens/range", part)]
        }
        "callHierarchyProvider" => {
            let prepared = one("textDocument/prepareCallHierarchy", position);
            let item = prepared.1[0].clone();
            let incoming = client.result("callHierarchy/incomingCalls", json!({"item": item}));
            assert_eq!(incoming[0]["from"]["name"], "P", "{incoming}");
            assert_eq!(incoming[0]["fromRanges"].as_array().map(Vec::len), Some(1));
            let template = incoming[0]["from"].clone();
            let outgoing = client.result("callHierarchy/outgoingCalls", json!({"item": template}));
            assert_eq!(outgoing[0]["to"]["name"], "twice", "{outgoing}");
            vec![prepared]
        }
        "diagnosticProvider" => {
            let first = one("textDocument/diagnostic", json!({}));
            assert_eq!(first.1["kind"], "full", "{first:?}");
            let previous = json!({"previousResultId": first.1["resultId"]});
            let second = one("textDocument/diagnostic", previous);
            assert_eq!(second.1["kind"], "unchanged");
            vec![first]
        }
        "workspaceSymbolProvider" => {
            let answer = client.result("workspace/symbol", json!({"query": "twice"}));
            vec![("workspace/symbol".to_owned(), answer)]
        }
        "executeCommandProvider" => {
            let listed = client.capabilities["executeCommandProvider"]["commands"].clone();
            let names = listed.as_array().expect("a list").iter();
            let names: Vec<&str> = names.filter_map(Value::as_str).collect();
            run_commands(client, &names, case);
            let answer = client.command("zonelens.status", json!({"uri": case.uri}));
            vec![("workspace/executeCommand".to_owned(), answer)]
        }
        other => panic!("{other} is advertised and has no test"),
    }
}

/// A model whose picture is edited.
const DRAWN: &str = "<nta><template><name>P</name></template><system>system P;</system></nta>";

/// Runs every command that is listed, in an order that makes sense.
fn run_commands(client: &mut Client, listed: &[&str], case: &Case) {
    let of_query = json!({"uri": case.uri});
    let first_line = json!({"uri": case.uri, "line": 0});
    let steps = |answer: &Value| answer["step"].is_u64();
    type Right<'a> = &'a dyn Fn(&Value) -> bool;
    let drawn = format!("{}.xml", case.uri);
    client.open(&drawn, DRAWN);
    let gesture = json!({"kind": "addLocation", "at": [0, 0]});
    let all: [(&str, Value, Right<'_>); 28] = [
        ("zonelens.verify", first_line, &|a| a["runs"][0].is_u64()),
        ("zonelens.verifyAll", of_query.clone(), &|a| {
            a["runs"][0].is_u64()
        }),
        ("zonelens.status", of_query.clone(), &|a| {
            a[0]["version"] == 1
        }),
        ("zonelens.trace.open", of_query, &steps),
        ("zonelens.trace.next", json!({}), &steps),
        ("zonelens.trace.previous", json!({}), &steps),
        ("zonelens.trace.last", json!({}), &steps),
        ("zonelens.trace.first", json!({}), &steps),
        ("zonelens.trace.goto", json!({"step": 1}), &|a| {
            a["step"] == 1
        }),
        (
            "zonelens.trace.evaluate",
            json!({"expression": "count + 1"}),
            &|a| a["value"] == "1",
        ),
        ("zonelens.trace.export", json!({}), &|a| {
            a["text"].as_str().is_some_and(|t| t.contains("t = 0"))
                && a["json"]["steps"][1]["transition"]["edges"][0]["from"] == "s"
        }),
        ("zonelens.trace.close", json!({}), &Value::is_null),
        (
            "zonelens.simulation.start",
            json!({"uri": case.uri}),
            &steps,
        ),
        ("zonelens.simulation.take", json!({"number": 0}), &|a| {
            a["step"] == 1
        }),
        ("zonelens.simulation.back", json!({}), &|a| a["step"] == 0),
        ("zonelens.simulation.forward", json!({}), &|a| {
            a["step"] == 1
        }),
        ("zonelens.simulation.goto", json!({"step": 0}), &|a| {
            a["step"] == 0
        }),
        ("zonelens.simulation.delay", json!({"delay": 0}), &steps),
        ("zonelens.simulation.random", json!({}), &|a| a["step"] == 1),
        ("zonelens.simulation.restart", json!({}), &|a| {
            a["length"] == 0
        }),
        ("zonelens.simulation.state", json!({}), &steps),
        ("zonelens.simulation.stop", json!({}), &Value::is_null),
        ("zonelens.explain", json!({"code": "sym/meta"}), &|a| {
            a["text"]
                .as_str()
                .is_some_and(|t| t.starts_with("# sym/meta"))
        }),
        ("zonelens.coverage", json!({"uri": case.uri}), &|a| {
            a["complete"] == true && a["never"].is_array()
        }),
        (
            "zonelens.edit",
            json!({"uri": drawn, "version": 1, "template": "P", "gesture": gesture}),
            &|a| a["added"] == "_id0",
        ),
        ("zonelens.showLog", json!({}), &Value::is_null),
        ("zonelens.cancel", json!({}), &|a| a["cancelled"].is_u64()),
        ("zonelens.clearResults", json!({}), &Value::is_null),
    ];
    let known: BTreeSet<&str> = all.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(
        known,
        listed.iter().copied().collect(),
        "a command has no test"
    );
    for (name, argument, right) in all {
        let answer = client.command(name, argument);
        assert!(right(&answer), "{name}: {answer}");
        if name == "zonelens.verifyAll" {
            client.wait_states(&case.uri, &["satisfied"]);
        }
    }
}

#[test]
fn what_is_advertised_answers() {
    let directory = fresh_directory();
    let uri = |name: &str| format!("file://{}", directory.join(name).display());
    let mut client = Client::spawn(None).initialize(everything(&uri("")));
    let capabilities = client.capabilities.clone();
    std::fs::write(directory.join("a.q"), "E<> count == 0 // of a.xta\n").expect("written");
    std::fs::write(directory.join("b.q"), "E<> count == 0\n").expect("written");
    let cases = [("a.xta", XTA), ("b.xml", XML)].map(|(name, text)| Case {
        uri: uri(name),
        text: text.to_owned(),
    });
    for case in &cases {
        client.open(&case.uri, &case.text);
    }
    // Said in the greeting, not asked for.
    let silent = [
        "positionEncoding",
        "textDocumentSync",
        "workspace",
        "experimental",
    ];
    let mut asked = BTreeMap::new();
    for capability in capabilities.as_object().expect("an object").keys() {
        if silent.contains(&capability.as_str()) {
            continue;
        }
        for case in &cases {
            for (method, answer) in ask(&mut client, capability, case) {
                // XML is drawn, not written: nothing formats it.
                let silent = case.uri.ends_with("xml") && method.ends_with("ormatting");
                let empty = answer == Value::Null || answer.as_array().is_some_and(Vec::is_empty);
                assert!(silent || !empty, "{method} says nothing for {}", case.uri);
                asked.insert(method, ());
            }
        }
    }
    assert!(asked.len() > 25, "{asked:?}");
    client.poll("registrations", |c| {
        let _ = c.request("zonelens/serverStatus", json!({}));
        (c.registered.len() == 2).then_some(())
    });
    let methods: Vec<_> = client
        .registered
        .iter()
        .map(|r| r["method"].clone())
        .collect();
    assert!(methods.contains(&json!("workspace/didChangeWatchedFiles")));
    assert!(methods.contains(&json!("workspace/textDocumentContent")));
    client.finish();
}

#[test]
fn a_query_file_has_the_features_too() {
    let directory = fresh_directory();
    std::fs::write(directory.join("a.xta"), XTA).expect("written");
    let uri = format!("file://{}", directory.join("a.q").display());
    let case = Case {
        uri: uri.clone(),
        text: "// of a.xta\nE<> twice(count) == 0 && exists (i : pid) Q(i).t\n".to_owned(),
    };
    let mut client = Client::start(None, Value::Null);
    client.open(&uri, &case.text);
    let position = json!({"position": case.at("twice", 1)});
    for (method, more) in [
        ("textDocument/hover", position.clone()),
        ("textDocument/completion", position.clone()),
        ("textDocument/definition", position.clone()),
        ("textDocument/documentHighlight", position.clone()),
        ("textDocument/prepareRename", position.clone()),
        (
            "textDocument/signatureHelp",
            json!({"position": case.at("twice(", 6)}),
        ),
        (
            "textDocument/typeDefinition",
            json!({"position": case.at("Q(i)", 0)}),
        ),
        (
            "textDocument/implementation",
            json!({"position": case.at("Q(i)", 0)}),
        ),
        ("textDocument/prepareCallHierarchy", position),
        ("textDocument/documentSymbol", json!({})),
        ("textDocument/documentLink", json!({})),
        ("textDocument/codeLens", json!({})),
        (
            "textDocument/selectionRange",
            json!({"positions": [case.at("twice", 1)]}),
        ),
        ("textDocument/semanticTokens/full", json!({})),
    ] {
        let answer = client.result(method, case.params(more));
        let empty = answer == Value::Null || answer.as_array().is_some_and(Vec::is_empty);
        assert!(!empty, "{method} says nothing");
    }
    let links = client.result("textDocument/documentLink", case.params(json!({})));
    assert!(links.to_string().contains("a.xta"), "{links}");
    client.finish();
}

#[test]
fn a_client_that_pulls_gets_nothing_pushed_and_is_told_to_pull_again() {
    let directory = fresh_directory();
    let root = format!("file://{}", directory.display());
    let uri = format!("{root}/m.xta");
    let mut client = Client::spawn(None).initialize(everything(&root));
    client.open(&uri, "int a = ;\nsystem P;\n//@ query E<> a == 1\n");
    let params = json!({"textDocument": {"uri": uri}});
    let report = client.result("textDocument/diagnostic", params.clone());
    assert_eq!(report["items"][0]["severity"], 1, "{report}");
    let text = XTA.replace(
        "//@ query E<> exists (i : pid) Q(i).t",
        "//@ query E<> count == 1\n//@ expect satisfied",
    );
    client.replace(&uri, 2, &text);
    let before = client.pulled_again;
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["violated"]);
    client.poll("a call to pull again", |c| {
        let _ = c.request("zonelens/serverStatus", json!({}));
        (c.pulled_again > before).then_some(())
    });
    let report = client.result("textDocument/diagnostic", params);
    assert!(report.to_string().contains("query/expectation"), "{report}");
    let pushed = client
        .unread
        .iter()
        .any(|m| m["method"] == "textDocument/publishDiagnostics");
    assert!(!pushed);
    client.finish();
}
