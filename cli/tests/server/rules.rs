//! Pages of diagnostics: links, the documents behind them, `zonelens.explain`.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const URI: &str = "file:///tmp/zonelens-test/rules.xta";
/// `i + 1` on line 3 is `sym/arithmetic`, `y` on line 1 is never read.
const MODEL: &str = "\
typedef scalar[3] pid;
clock y;
pid id;
process P(const pid i) { state s, t; init s; trans s -> t { assign id = i + 1, y = 0; }; }
system P;
";

fn linked(list: &[Value], code: &str) -> String {
    let found = list.iter().find(|d| d["code"] == code);
    let found = found.unwrap_or_else(|| panic!("{code} in {list:?}"));
    let href = found["codeDescription"]["href"].as_str();
    href.unwrap_or_else(|| panic!("a link in {found}"))
        .to_owned()
}

fn refused(client: &mut Client, argument: Value) -> String {
    let params = json!({"command": "zonelens.explain", "arguments": [argument]});
    let answer = client.request("workspace/executeCommand", params);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].to_string()
}

#[test]
fn a_client_that_fetches_documents_fetches_pages() {
    let cache = fresh_directory();
    let mut client = Client::spawn_logging(None, &cache, None).initialize(json!({
        "processId": null, "rootUri": null,
        "capabilities": {"workspace": {"textDocumentContent": {"dynamicRegistration": true}}},
    }));
    client.open(URI, MODEL);
    let list = client.diagnostics(URI, 1);
    let page = linked(&list, "sym/arithmetic");
    assert_eq!(page, "zonelens-rule:/sym/arithmetic");
    let content = client.result("workspace/textDocumentContent", json!({"uri": page}));
    let text = content["text"].as_str().expect("text");
    assert!(text.starts_with("# sym/arithmetic\n"), "{text}");
    for unknown in [
        "zonelens-rule:/sym/nothing",
        "zonelens-rule:",
        "zonelens-rule",
    ] {
        let gone = client.request("workspace/textDocumentContent", json!({"uri": unknown}));
        assert_eq!(gone["error"]["code"], -32602, "{gone}");
    }
    let registered = client.poll("the registration", |c| {
        c.result("zonelens/serverStatus", json!({}));
        let method = json!("workspace/textDocumentContent");
        c.registered.iter().find(|r| r["method"] == method).cloned()
    });
    let schemes = registered["registerOptions"]["schemes"].to_string();
    assert!(schemes.contains("\"zonelens-rule\""), "{schemes}");
    // Nothing is written for such a client.
    assert!(!cache.join("rules").exists());
    client.finish();
}

#[test]
fn for_others_a_page_is_a_read_only_file() {
    let cache = fresh_directory();
    let mut client = Client::spawn_logging(None, &cache, None).initialize(json!({
        "processId": null, "rootUri": null, "capabilities": {},
    }));
    client.open(URI, MODEL);
    let list = client.diagnostics(URI, 1);
    let page = linked(&list, "sym/arithmetic");
    let path = std::path::PathBuf::from(page.strip_prefix("file://").expect("a file"));
    let text = std::fs::read_to_string(&path).expect("there");
    assert!(text.starts_with("# sym/arithmetic\n"), "{text}");
    let found = std::fs::metadata(&path).expect("there");
    assert!(found.permissions().readonly());
    // Only what was linked to is written, and only once.
    let in_area = |d: &&Value| d["code"].as_str().is_some_and(|c| c.starts_with("sym/"));
    let codes: std::collections::BTreeSet<String> = list
        .iter()
        .filter(in_area)
        .map(|d| d["code"].to_string())
        .collect();
    let files = std::fs::read_dir(cache.join("rules/sym")).expect("there");
    assert_eq!(files.count(), codes.len(), "{codes:?}");
    let written = found.modified().expect("a time");
    client.replace(URI, 2, &format!("\n{MODEL}"));
    let again = client.diagnostics(URI, 2);
    assert_eq!(linked(&again, "sym/arithmetic"), page);
    let found = std::fs::metadata(&path).expect("there");
    assert_eq!(found.modified().expect("a time"), written);
    client.finish();
    // A page that somebody changed is replaced, a link in its place is not followed.
    let outside = fresh_directory().join("outside");
    std::fs::write(&outside, "theirs").expect("written");
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink(&outside, &path).expect("linked");
    let mut client = Client::spawn_logging(None, &cache, None).initialize(json!({
        "processId": null, "rootUri": null, "capabilities": {},
    }));
    client.open(URI, MODEL);
    assert_eq!(linked(&client.diagnostics(URI, 1), "sym/arithmetic"), page);
    let text = std::fs::read_to_string(&path).expect("there");
    assert!(text.starts_with("# sym/arithmetic\n"), "{text}");
    assert_eq!(std::fs::read_to_string(&outside).expect("there"), "theirs");
    client.finish();
}

#[test]
fn explain_answers_with_the_page() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, MODEL);
    let listed = client.diagnostics(URI, 1);
    let href = linked(&listed, "sym/arithmetic");
    let explain = |client: &mut Client, argument: Value| {
        let page = client.command("zonelens.explain", argument);
        let text = page["text"].as_str().expect("text");
        let code = page["code"].as_str().expect("a code").to_owned();
        assert!(text.starts_with(&format!("# {code}\n")), "{page}");
        (code, page)
    };
    // By code, by a part of one, with the brackets of a message.
    for asked in [
        "sym/arithmetic",
        "SYM/arithmetic",
        "[sym/arithmetic]",
        "arithmet",
    ] {
        let (code, page) = explain(&mut client, json!({"code": asked}));
        assert_eq!(code, "sym/arithmetic", "{asked}");
        assert_eq!(page["uri"], href.as_str());
    }
    // At a position, on a line; where nothing is at the position, the line counts.
    let line = 3;
    let column = MODEL
        .lines()
        .nth(line)
        .and_then(|l| l.find("i + 1"))
        .expect("there");
    for argument in [
        json!({"uri": URI, "position": {"line": line, "character": column + 2}}),
        json!({"uri": URI, "position": {"line": line, "character": 0}}),
        json!({"uri": URI, "line": line}),
    ] {
        let (_, page) = explain(&mut client, argument.clone());
        let codes = page["codes"].as_array().expect("a list");
        assert!(
            codes.contains(&json!("sym/arithmetic")),
            "{argument}: {codes:?}"
        );
    }
    let at = json!({"uri": URI, "position": {"line": line, "character": column + 2}});
    assert_eq!(explain(&mut client, at).0, "sym/arithmetic");
    for (argument, part) in [
        (json!({}), "needs"),
        (json!({"uri": URI}), "needs"),
        (json!({"code": "no/such"}), "no diagnostic `no/such`"),
        (json!({"code": "lint/"}), "several"),
        (json!({"uri": URI, "line": 4}), "no diagnostic here"),
        (json!({"uri": URI, "line": u32::MAX}), "no diagnostic here"),
        (json!({"uri": "file:///nowhere.xta", "line": 0}), "not open"),
    ] {
        let said = refused(&mut client, argument.clone());
        assert!(said.contains(part), "{argument}: {said}");
    }
    client.finish();
}
