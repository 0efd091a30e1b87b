//! Settings, `zonelens.toml`, folders and files that change on disk.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};
use std::path::Path;

const MODEL: &str = "\
int unused;
process P() { clock x; state s, t; init s; trans s -> t { guard x > 1; assign unused = 1; }; }
system P;
//@ query E<> P.t
";

fn greeting(roots: &[&Path], capabilities: Value) -> Value {
    let folders: Vec<Value> = roots
        .iter()
        .map(|r| json!({"uri": format!("file://{}", r.display()), "name": "root"}))
        .collect();
    json!({
        "processId": null, "rootUri": null, "workspaceFolders": folders,
        "initializationOptions": {"statusNotifications": true}, "capabilities": capabilities,
    })
}

fn uri(root: &Path, name: &str) -> String {
    format!("file://{}", root.join(name).display())
}

fn codes(list: &[Value]) -> Vec<String> {
    let code = |d: &Value| {
        let severity = d["severity"].as_u64().unwrap_or(0);
        format!("{} {severity}", d["code"].as_str().unwrap_or(""))
    };
    list.iter().map(code).collect()
}

#[test]
fn each_folder_has_its_own_file_and_the_editor_stands_over_it() {
    let (a, b) = (fresh_directory(), fresh_directory());
    std::fs::write(
        a.join("zonelens.toml"),
        "[severity]\n\"lint/never-read\" = \"error\"\n\"lint/clock-never-reset\" = \"off\"\n",
    )
    .expect("written");
    std::fs::write(
        b.join("zonelens.toml"),
        "[severity]\n\"lint/*\" = \"off\"\n",
    )
    .expect("written");
    let mut client = Client::spawn(None).initialize(greeting(&[&a, &b], json!({})));
    let (in_a, in_b) = (uri(&a, "m.xta"), uri(&b, "m.xta"));
    client.open(&in_a, MODEL);
    let found = codes(&client.diagnostics(&in_a, 1));
    assert!(found.contains(&"lint/never-read 1".to_owned()), "{found:?}");
    assert!(
        !found.iter().any(|c| c.contains("never-reset")),
        "{found:?}"
    );
    client.open(&in_b, MODEL);
    assert_eq!(codes(&client.diagnostics(&in_b, 1)), [""; 0]);
    let settings = json!({"zonelens": {"severity": {"lint/never-read": "hint"}}});
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": settings}),
    );
    client.wait("the editor to win", |m| {
        m["params"]["uri"] == in_a
            && m["params"]["diagnostics"]
                .to_string()
                .contains("lint/never-read")
            && m["params"]["diagnostics"]
                .as_array()
                .is_some_and(|l| codes(l).contains(&"lint/never-read 4".to_owned()))
    });
    let status = client.result("zonelens/serverStatus", json!({}));
    assert_eq!(
        status["configuration"].as_array().map(Vec::len),
        Some(2),
        "{status}"
    );
    client.finish();
}

#[test]
fn problems_are_told_once_with_their_place() {
    let root = fresh_directory();
    std::fs::write(
        root.join("zonelens.toml"),
        "symetry = \"off\"\nthreads = 0\n",
    )
    .expect("written");
    let mut client = Client::spawn(None).initialize(greeting(&[&root], json!({})));
    let mut told = Vec::new();
    for _ in 0..2 {
        let message = client.wait("a problem", |m| m["method"] == "window/showMessage");
        told.push(
            message["params"]["message"]
                .as_str()
                .unwrap_or("")
                .to_owned(),
        );
    }
    let told = told.join("\n");
    assert!(told.contains("did you mean `symmetry`?"), "{told}");
    assert!(told.contains("`threads` must be a whole number"), "{told}");
    client.open(&uri(&root, "m.xta"), MODEL);
    client.diagnostics(&uri(&root, "m.xta"), 1);
    let again = client
        .unread
        .iter()
        .any(|m| m["method"] == "window/showMessage");
    assert!(!again);
    client.finish();
}

#[test]
fn files_that_change_on_disk_are_seen() {
    let root = fresh_directory();
    std::fs::write(root.join("m.xta"), MODEL).expect("written");
    let watching = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut client = Client::spawn(None).initialize(greeting(&[&root], watching));
    let queries = uri(&root, "m.q");
    client.open(&queries, "E<> P.u\n");
    assert_eq!(client.diagnostics(&queries, 1).len(), 1);
    std::fs::write(root.join("m.xta"), MODEL.replace("s, t;", "s, t, u;")).expect("written");
    let change = json!({"changes": [{"uri": uri(&root, "m.xta"), "type": 2}]});
    client.notify("workspace/didChangeWatchedFiles", change);
    client.wait("the new model to count", |m| {
        m["params"]["uri"] == queries && m["params"]["diagnostics"] == json!([])
    });
    std::fs::write(
        root.join("zonelens.toml"),
        "[severity]\n\"lint/*\" = \"off\"\n",
    )
    .expect("written");
    client.open(&uri(&root, "m.xta"), MODEL);
    let change = json!({"changes": [{"uri": uri(&root, "zonelens.toml"), "type": 1}]});
    client.notify("workspace/didChangeWatchedFiles", change);
    client.wait("the configuration to count", |m| {
        m["params"]["uri"] == uri(&root, "m.xta") && m["params"]["diagnostics"] == json!([])
    });
    // A folder that leaves takes its symbols along.
    let found = client.result("workspace/symbol", json!({"query": "unused"}));
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    client.finish();
}

#[test]
fn settings_are_asked_for_where_the_client_can_be_asked() {
    let root = fresh_directory();
    let mut client = Client::spawn(None);
    client.settings = json!({"severity": {"lint/*": "off"}, "inlayHints": false});
    let asked = json!({"workspace": {"configuration": true}});
    let mut client = client.initialize(greeting(&[&root], asked));
    let document = uri(&root, "m.xta");
    client.open(&document, MODEL);
    client.wait("lints to be off", |m| {
        m["params"]["uri"] == document && m["params"]["diagnostics"] == json!([])
    });
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": document}, "range": everything});
    assert_eq!(
        client.result("textDocument/inlayHint", params.clone()),
        json!([])
    );
    client.settings = json!({"constants": {"N": 1}});
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": null}),
    );
    client.poll("hints", |c| {
        let answer = c.request("textDocument/inlayHint", params.clone());
        // The new constant changes the document while it is asked about.
        let modified = answer["error"]["code"] == -32801;
        assert!(modified || answer.get("error").is_none(), "{answer}");
        (!modified && answer["result"] != json!([])).then_some(())
    });
    client.finish();
}

#[test]
fn constants_of_the_settings_resize_the_model() {
    let root = fresh_directory();
    let document = uri(&root, "m.xta");
    let text = "const int N = 2;\nprocess P(const int[0, N - 1] i) { state s, t; init s; trans s -> t { }; }\nsystem P;\n//@ query E<> P(4).t\n";
    let mut client = Client::start(None, json!({"constants": {"N": 5}}));
    client.open(&document, text);
    assert!(
        client
            .diagnostics(&document, 1)
            .iter()
            .all(|d| d["severity"] != 1)
    );
    client.command("zonelens.verifyAll", json!({"uri": document}));
    client.wait_states(&document, &["satisfied"]);
    client.command("zonelens.trace.open", json!({"uri": document, "line": 3}));
    let last = client.command("zonelens.trace.last", json!({}));
    let locations = last["state"]["locations"].as_object();
    assert_eq!(locations.map(serde_json::Map::len), Some(5));
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"zonelens": {}}}),
    );
    client.poll("the model to shrink", |c| {
        let drawing = c.result("zonelens/drawing", json!({"uri": document}));
        let processes = drawing["processes"].as_array().map(Vec::len);
        (processes == Some(2)).then_some(())
    });
    client.finish();
}

#[test]
fn nothing_runs_by_itself_in_an_untrusted_folder() {
    for trusted in [false, true] {
        let mut client = Client::start(None, json!({"trusted": trusted, "verifyOnSave": true}));
        let document = uri(&fresh_directory(), "m.xta");
        client.open(&document, MODEL);
        client.diagnostics(&document, 1);
        client.notify(
            "textDocument/didSave",
            json!({"textDocument": {"uri": document}}),
        );
        if trusted {
            client.wait_states(&document, &["satisfied"]);
        } else {
            assert_eq!(client.states(&document), ["never"]);
            client.command("zonelens.verifyAll", json!({"uri": document}));
            client.wait_states(&document, &["satisfied"]);
        }
        client.finish();
    }
}

#[test]
fn folders_come_and_go() {
    let (a, b) = (fresh_directory(), fresh_directory());
    std::fs::write(b.join("other.xta"), MODEL.replace("unused", "elsewhere")).expect("written");
    let mut client = Client::spawn(None).initialize(greeting(&[&a], json!({})));
    let found = |client: &mut Client| {
        let list = client.result("workspace/symbol", json!({"query": "elsewhere"}));
        list.as_array().map(Vec::len)
    };
    assert_eq!(found(&mut client), Some(0));
    let folder = json!({"uri": format!("file://{}", b.display()), "name": "b"});
    for (added, removed, count) in [
        (json!([folder]), json!([]), 1),
        (json!([]), json!([folder]), 0),
    ] {
        client.notify(
            "workspace/didChangeWorkspaceFolders",
            json!({"event": {"added": added, "removed": removed}}),
        );
        assert_eq!(found(&mut client), Some(count));
    }
    client.finish();
}

/// What is judged in the editor and what is run must be the same model, whichever file set its
/// size.
#[test]
fn each_folder_has_its_own_constants() {
    let (a, b) = (fresh_directory(), fresh_directory());
    let text = "const int N = 2;\nprocess P(const int[0, N - 1] i) { state s, t; init s; trans s -> t { }; }\nsystem P;\n//@ query E<> P(4).t\n";
    std::fs::write(b.join("zonelens.toml"), "[constants]\nN = 5\n").expect("written");
    for roots in [vec![a.as_path(), b.as_path()], vec![]] {
        let mut greeting = greeting(&roots, json!({}));
        greeting["initializationOptions"]["trusted"] = json!(true);
        let mut client = Client::spawn(None).initialize(greeting);
        let (in_a, in_b) = (uri(&a, "m.xta"), uri(&b, "m.xta"));
        for (document, processes) in [(&in_a, "2 processes"), (&in_b, "5 processes")] {
            client.open(document, text);
            let at = json!({"line": 1, "character": 8});
            let params = json!({"textDocument": {"uri": document}, "position": at});
            let hover = client.result("textDocument/hover", params);
            assert!(hover.to_string().contains(processes), "{hover}");
        }
        client.command("zonelens.verifyAll", json!({"uri": in_b}));
        client.wait_states(&in_b, &["satisfied"]);
        client.finish();
    }
}

#[test]
fn settings_reach_the_next_run_without_a_restart() {
    let (worker, requests) = crate::server::workers::recording("satisfied");
    let mut client = Client::start(Some(&worker), json!({"threads": 2, "memory": "1G"}));
    let document = uri(&fresh_directory(), "m.xta");
    client.open(&document, MODEL);
    let run = |client: &mut Client| -> Value {
        client.command("zonelens.verifyAll", json!({"uri": document}));
        client.wait_states(&document, &["satisfied"]);
        let text = std::fs::read_to_string(&requests).expect("requests");
        let last = text.lines().last().expect("a request");
        let request: Value = serde_json::from_str(last).expect("JSON");
        request["options"].clone()
    };
    let first = run(&mut client);
    assert_eq!(
        (&first["threads"], &first["memory"]),
        (&json!(2), &json!(1 << 30))
    );
    let settings = json!({
        "symmetry": "off", "search": "dfs", "trace": "shortest", "threads": 1,
        "memory": "512M", "timeout": "90s", "seed": 7, "constants": {"N": 3},
    });
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"zonelens": settings}}),
    );
    let second = run(&mut client);
    for (key, value) in [
        ("symmetry", json!("off")),
        ("search", json!("dfs")),
        ("trace", json!("shortest")),
        ("threads", json!(1)),
        ("memory", json!(512 << 20)),
        ("timeout", json!(90.0)),
        ("seed", json!(7)),
        ("constants", json!({"N": 3})),
    ] {
        assert_eq!(second[key], value, "{key}: {second}");
    }
    client.finish();
}

#[test]
fn the_formatter_breaks_lines_where_the_settings_say() {
    let document = uri(&fresh_directory(), "m.xta");
    let mut client = Client::start(None, json!({}));
    client.open(&document, MODEL);
    let params = json!({
        "textDocument": {"uri": document}, "options": {"tabSize": 4, "insertSpaces": true},
    });
    let formatted = |client: &mut Client, width: u64| {
        let settings = json!({"zonelens": {"formatWidth": width}});
        client.notify(
            "workspace/didChangeConfiguration",
            json!({"settings": settings}),
        );
        client
            .result("textDocument/formatting", params.clone())
            .to_string()
    };
    assert_ne!(formatted(&mut client, 40), formatted(&mut client, 1000));
    client.finish();
}
