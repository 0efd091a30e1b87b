//! Every advertised feature answers, and rightly.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};

const MODEL: &str = "\
// How many there are.
const int N = 3;
typedef scalar[N] pid;
pid id;
int count;

int twice(int n) {
    return n + n;
}

process P(const pid i) {
    clock x;
    state s { x <= N }, t;
    init s;
    trans s -> t { guard x > 1; assign count = twice(count), id = i; };
}
system P;
//@ query E<> exists (i : pid) P(i).t
";

struct Session {
    client: Client,
    uri: String,
}

impl Session {
    fn open(name: &str, text: &str) -> Session {
        let path = fresh_directory().join(name);
        let uri = format!("file://{}", path.display());
        let mut client = Client::start(None, Value::Null);
        client.open(&uri, text);
        Session { client, uri }
    }

    fn document(&self) -> Value {
        json!({"uri": self.uri})
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["textDocument"] = self.document();
        self.client.result(method, params)
    }
}

/// The position of the `n`th `needle`, plus `shift` characters.
fn position(needle: &str, n: usize, shift: usize) -> Value {
    let at = MODEL.match_indices(needle).nth(n).expect("there").0 + shift;
    let line = MODEL[..at].matches('\n').count();
    let column = at - MODEL[..at].rfind('\n').map_or(0, |i| i + 1);
    json!({"line": line, "character": column})
}

fn lines(locations: &Value) -> Vec<u64> {
    let list = locations.as_array().expect("a list").iter();
    list.map(|l| l["range"]["start"]["line"].as_u64().expect("a line"))
        .collect()
}

#[test]
fn names_are_followed() {
    let mut s = Session::open("m.xta", MODEL);
    let at = |needle, n, shift| json!({"position": position(needle, n, shift)});
    let found = s.ask("textDocument/definition", at("x <= N", 0, 5));
    assert_eq!(found["range"]["start"], position("N =", 0, 0));
    let found = s.ask("textDocument/definition", at("P(i).t", 0, 5));
    assert_eq!(found["range"]["start"], position(", t;", 0, 2));
    let found = s.ask("textDocument/typeDefinition", at("pid id", 0, 4));
    assert_eq!(found["range"]["start"]["line"], 2);
    let mut params = at("count", 0, 0);
    params["context"] = json!({"includeDeclaration": true});
    let found = s.ask("textDocument/references", params);
    assert_eq!(lines(&found), [4, 14, 14]);
    let found = s.ask("textDocument/documentHighlight", at("count", 1, 2));
    let kinds: Vec<_> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|h| h["kind"].as_u64())
        .collect();
    assert_eq!(kinds, [Some(3), Some(3), Some(2)]);
    let found = s.ask(
        "textDocument/definition",
        json!({"position": {"line": 5, "character": 0}}),
    );
    assert_eq!(found, Value::Null);
    s.client.finish();
}

#[test]
fn hover_tells_declaration_comment_and_facts() {
    let mut s = Session::open("m.xta", MODEL);
    let text = |s: &mut Session, needle, n| {
        let hover = s.ask(
            "textDocument/hover",
            json!({"position": position(needle, n, 0)}),
        );
        hover["contents"]["value"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    let hover = text(&mut s, "N]", 0);
    assert!(
        hover.contains("const int N = 3") && hover.contains("How many there are."),
        "{hover}"
    );
    let hover = text(&mut s, "pid id", 0);
    assert!(hover.contains("scalarset of 3 elements"), "{hover}");
    let hover = text(&mut s, "P(const", 0);
    assert!(hover.contains("3 processes in the system"), "{hover}");
    let hover = text(&mut s, "twice(count)", 0);
    assert!(hover.contains("int twice(int n)"), "{hover}");
    s.client.finish();
}

#[test]
fn rename_reaches_queries_and_refuses_clashes() {
    let mut s = Session::open("m.xta", MODEL);
    let at = position(", t;", 0, 2);
    let range = s.ask("textDocument/prepareRename", json!({"position": at}));
    assert_eq!(range["placeholder"], "t");
    let edit = s.ask(
        "textDocument/rename",
        json!({"position": at, "newName": "done"}),
    );
    let edits = edit["changes"][&s.uri].as_array().expect("edits");
    assert_eq!(edits.len(), 3, "{edit}");
    for bad in ["s", "x", "N", "init", "1a", "a b", ""] {
        let params = json!({"textDocument": s.document(), "position": at, "newName": bad});
        let answer = s.client.request("textDocument/rename", params);
        assert_eq!(answer["error"]["code"], -32602, "{bad}: {answer}");
    }
    s.client.finish();
}

#[test]
fn a_query_file_and_its_model_are_one() {
    let directory = fresh_directory();
    let uri = |name: &str| format!("file://{}", directory.join(name).display());
    std::fs::write(directory.join("m.xta"), MODEL).expect("written");
    let mut client = Client::start(None, Value::Null);
    client.open(
        &uri("m.q"),
        "E<> exists (i : pid) P(i).t\nA[] count < 9\nA[] nobody\n",
    );
    let list = client.diagnostics(&uri("m.q"), 1);
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(list[0]["range"]["start"]["line"], 2);
    assert!(
        list[0]["code"]
            .as_str()
            .is_some_and(|c| c.starts_with("query/")),
        "{list:?}"
    );
    let here =
        json!({"textDocument": {"uri": uri("m.q")}, "position": {"line": 1, "character": 5}});
    let found = client.result("textDocument/definition", here.clone());
    assert_eq!(found["uri"], uri("m.xta"));
    let mut params = here;
    params["newName"] = json!("total");
    let edit = client.result("textDocument/rename", params);
    assert_eq!(
        edit["changes"][uri("m.q")].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(
        edit["changes"][uri("m.xta")].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(client.titles(&uri("m.q"))[0], "▶ verify all (3)");
    client.finish();
}

#[test]
fn the_outline_has_templates_with_their_members_and_queries() {
    let mut s = Session::open("m.xta", MODEL);
    let list = s.ask("textDocument/documentSymbol", json!({}));
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|s| s["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(
        names(&list),
        [
            "N",
            "pid",
            "id",
            "count",
            "twice",
            "P",
            "E<> exists (i : pid) P(i).t"
        ]
    );
    assert_eq!(names(&list[5]["children"]), ["i", "s", "t", "x"]);
    let folds = s.ask("textDocument/foldingRange", json!({}));
    let first: Vec<_> = folds
        .as_array()
        .expect("a list")
        .iter()
        .map(|f| f["startLine"].as_u64())
        .collect();
    assert!(
        first.contains(&Some(6)) && first.contains(&Some(10)),
        "{folds}"
    );
    let selections = s.ask(
        "textDocument/selectionRange",
        json!({"positions": [position("n + n", 0, 0)]}),
    );
    assert!(
        selections[0]["parent"]["parent"].is_object(),
        "{selections}"
    );
    s.client.finish();
}

#[test]
fn completion_knows_scopes_members_and_keywords() {
    let mut s = Session::open("m.xta", MODEL);
    let labels = |s: &mut Session, position: Value| -> Vec<String> {
        let list = s.ask("textDocument/completion", json!({"position": position}));
        let list = list.as_array().expect("a list").iter();
        list.map(|i| i["label"].as_str().expect("a label").to_owned())
            .collect()
    };
    let inside = labels(&mut s, position("x > 1", 0, 0));
    for name in ["x", "i", "count", "N", "s", "guard"] {
        assert!(inside.contains(&name.to_owned()), "{name}: {inside:?}");
    }
    let members = labels(&mut s, position("P(i).t", 0, 5));
    assert_eq!(members, ["i", "s", "t", "x"]);
    // While one types, the text is broken.
    let broken = MODEL.replace("P(i).t", "P(i).");
    let uri = s.uri.clone();
    s.client.replace(&uri, 2, &broken);
    let members = labels(&mut s, position("P(i).t", 0, 5));
    assert_eq!(members, ["i", "s", "t", "x"]);
    s.client.finish();
}

#[test]
fn tokens_are_coloured_in_order() {
    let mut s = Session::open("m.xta", MODEL);
    let full = s.ask("textDocument/semanticTokens/full", json!({}));
    let data = full["data"].as_array().expect("data");
    assert!(
        data.len() > 100 && data.len().is_multiple_of(5),
        "{}",
        data.len()
    );
    // `const` of the second line: a keyword at its start.
    let first: Vec<_> = data[..5].iter().map(|n| n.as_u64()).collect();
    assert_eq!(first, [Some(1), Some(0), Some(5), Some(0), Some(0)]);
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}});
    let part = s.ask("textDocument/semanticTokens/range", json!({"range": range}));
    assert_eq!(part["data"].as_array().map(Vec::len), Some(4 * 5));
    s.client.finish();
}

#[test]
fn formatting_keeps_the_meaning_and_broken_text() {
    let mut s = Session::open("m.xta", &MODEL.replace("int count", "int    count"));
    let options = json!({"options": {"tabSize": 4, "insertSpaces": true}});
    let edits = s.ask("textDocument/formatting", options.clone());
    assert_eq!(
        edits[0]["range"]["start"],
        json!({"line": 4, "character": 3})
    );
    assert_eq!(edits[0]["newText"], " ");
    let uri = s.uri.clone();
    s.client.replace(&uri, 2, "int a = ;;; (");
    let edits = s.ask("textDocument/formatting", options);
    assert_eq!(edits, Value::Null);
    s.client.finish();
}

#[test]
fn a_quick_fix_repairs() {
    let broken = MODEL.replace("id = i;", "id = i + 1;");
    let mut s = Session::open("m.xta", &broken);
    let uri = s.uri.clone();
    let list = s.client.diagnostics(&uri, 1);
    let found = list
        .iter()
        .find(|d| d["code"] == "sym/arithmetic")
        .expect("the diagnostic");
    let context = json!({"diagnostics": [found]});
    let actions = s.ask(
        "textDocument/codeAction",
        json!({"range": found["range"], "context": context}),
    );
    let actions = actions.as_array().expect("a list");
    for action in actions {
        assert_eq!(action["kind"], "quickfix");
        assert!(action["edit"]["changes"][&uri].is_array(), "{action}");
    }
    s.client.finish();
}

#[test]
fn parameters_are_told_and_declarations_found_everywhere() {
    let mut s = Session::open("m.xta", MODEL);
    let help = s.ask(
        "textDocument/signatureHelp",
        json!({"position": position("twice(count)", 0, 6)}),
    );
    assert_eq!(help["signatures"][0]["label"], "int twice(int n)");
    assert_eq!(help["signatures"][0]["parameters"][0]["label"], "int n");
    let nothing = s.ask(
        "textDocument/signatureHelp",
        json!({"position": position("init s", 0, 0)}),
    );
    assert_eq!(nothing, Value::Null);
    let found = s.client.result("workspace/symbol", json!({"query": "TW"}));
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found[0]["name"], "twice");
    assert_eq!(found[0]["location"]["range"]["start"]["line"], 6);
    s.client.finish();
}

#[test]
fn templates_tell_their_processes() {
    let mut s = Session::open("m.xta", MODEL);
    let uri = s.uri.clone();
    let lenses = s.client.all_lenses(&uri);
    let lens = lenses
        .iter()
        .find(|l| l["command"]["command"] == "")
        .expect("a lens over the template");
    assert_eq!(lens["command"]["title"], "3 processes · symmetric over pid");
    assert_eq!(lens["range"]["start"]["line"], 10);
    s.client.finish();
}
