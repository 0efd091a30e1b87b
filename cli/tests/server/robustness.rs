//! Hostile input, and what comes of it: writes `docs/robustness.md`.
//!
//! Every row of the page is made by running the real command line and the real server on generated
//! input. Set `ZONELENS_UPDATE_PAGES` to write the page; otherwise it must be what is there. Limits
//! on time are there to notice a hang and nothing else.

use crate::server::client::{Client, fresh_directory};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A hang, whatever else the machine does.
const HANG: Duration = Duration::from_secs(120);
/// Resident memory with nothing open any more, in KB. Some of the inputs take three times as much
/// while they are open.
const AFTER_CLOSING: u64 = 150_000;

const END: &str = "process P() { state a; init a; }\nsystem P;\n";
const SMALL: &str = "int n;\nprocess P() { state s; init s; }\nsystem P;\n";

struct Input {
    what: &'static str,
    extension: &'static str,
    text: String,
}

/// Structs of which each holds the one before twice: 2^40 values from a page of text.
fn bomb() -> String {
    let mut out = String::from("typedef struct { int[0,1] a; int[0,1] b; } T1;\n");
    for k in 2..=40 {
        let _ = writeln!(out, "typedef struct {{ T{0} a; T{0} b; }} T{k};", k - 1);
    }
    out
}

fn xml(declarations: &str, template: &str) -> String {
    format!(
        "<nta><declaration>{declarations}</declaration><template><name>P</name>{template}<init ref=\"id0\"/></template><system>system P;</system></nta>"
    )
}

fn inputs() -> Vec<Input> {
    let xta = |what, declarations: String| Input {
        what,
        extension: "xta",
        text: format!("{declarations}\n{END}"),
    };
    let lines = |n: usize, line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    vec![
        xta(
            "40 structs, each of which contains the previous one twice; a variable of the last",
            bomb() + "T40 x;",
        ),
        xta(
            "the same as parameters of a function and a template",
            bomb() + "void f(T40 x) { }\nprocess Q(T40 &y) { state a; init a; }",
        ),
        xta(
            "the same as a local variable",
            bomb() + "void f() { T40 x; }",
        ),
        Input {
            what: "the same in XML",
            extension: "xml",
            text: xml(&(bomb() + "T40 x;"), "<location id=\"id0\"/>"),
        },
        xta(
            "an array of structs of arrays",
            "typedef struct { int v[1000]; } A;\ntypedef struct { A a[1000]; } B;\nB b[1000];"
                .into(),
        ),
        xta("300 typedefs, each an array of the previous one", {
            let first = "typedef int A0[1];\n".to_owned();
            first + &lines(299, &|k| format!("typedef A{k} A{}[1];\n", k + 1))
        }),
        xta(
            "a function with a parameter of a billion entries",
            "typedef int M[1000000];\nvoid f(M x[1000]) { }".into(),
        ),
        xta(
            "10,000 constants of a million entries",
            lines(10_000, &|k| format!("const int c{k}[1000000] = {{0}};\n")),
        ),
        xta(
            "10,000 constants that each take some 300,000 steps",
            "int f() { int i; int n; for (i = 0; i < 30000; i++) { n = i % 7; } return 1; }\n"
                .to_owned()
                + &lines(10_000, &|k| format!("const int c{k} = f();\n")),
        ),
        xta(
            "100,000 names that are not declared",
            lines(100_000, &|k| format!("int v{k} = unknown{k};\n")),
        ),
        xta("300,000 stray characters", "§ ".repeat(300_000)),
        xta(
            "300,000 declarations of one name",
            "int a; ".repeat(300_000),
        ),
        xta(
            "5 MB of declarations",
            lines(150_000, &|k| {
                format!("int[0,{}] variable_{k} = 0;\n", k % 100)
            }),
        ),
        xta(
            "one declaration of 150,000 variables",
            format!("int {} last;\n", lines(150_000, &|k| format!("v{k}, "))),
        ),
        xta(
            "20,000 `//@ allow` lines without effect",
            lines(20_000, &|k| {
                format!("//@ allow lint/zeno\nint v{k} = u{k};\n")
            }),
        ),
        Input {
            what: "20,000 XML locations of one name, each with a wrong invariant",
            extension: "xml",
            text: xml(
                "int a;",
                &lines(20_000, &|k| {
                    format!(
                        "<location id=\"id{k}\" x=\"{k}\" y=\"0\"><name>L</name><label kind=\"invariant\">q &lt; 3</label></location>"
                    )
                }),
            ),
        },
    ]
}

/// A message without what follows its first sentence, short enough for a cell.
fn shortened(message: &str) -> String {
    let message = message.replace('|', "\\|");
    match message.char_indices().nth(110) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message,
    }
}

/// What a list of findings says: how many, the first error, and what closes it.
fn told(list: &[Value]) -> String {
    let closing = list.iter().find(|d| d["code"] == "lint/more");
    let shown = list.len() - usize::from(closing.is_some());
    assert!(shown <= 1000, "{shown} findings");
    let is_error = |d: &&Value| d["severity"] == 1 || d["severity"] == "error";
    let first = list.iter().find(is_error);
    let plural = if shown == 1 { "" } else { "s" };
    let mut out = format!("{shown} finding{plural}");
    if let Some(d) = first {
        let _ = write!(
            out,
            ", first `{}`: {}",
            d["code"].as_str().unwrap_or(""),
            shortened(d["message"].as_str().unwrap_or(""))
        );
    }
    if let Some(d) = closing {
        let _ = write!(out, "; {}", d["message"].as_str().unwrap_or(""));
    }
    out
}

/// `zonelens check` on a file; ended if it hangs.
fn check(path: &Path) -> (i32, Vec<Value>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .args(["check", "--format", "json"])
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let output = child.stdout.take().expect("output");
    let reader = std::thread::spawn(move || std::io::read_to_string(output).expect("UTF-8"));
    let deadline = Instant::now() + HANG;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().expect("killed");
            panic!("{} hangs", path.display());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = reader.join().expect("read");
    let list = text.lines().map(|l| serde_json::from_str(l).expect("JSON"));
    (status.code().unwrap_or(-1), list.collect())
}

/// Resident memory of a process in KB.
pub(super) fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let number = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// The hover of a small document, which must come while something else is being analysed; then its
/// diagnostics and, if it is named, those of the other document, whichever come first.
fn small_is_served(client: &mut Client, name: &str, other: Option<&str>) -> Vec<Value> {
    let uri = format!("file:///tmp/zonelens-test/{name}.xta");
    client.open(&uri, SMALL);
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}});
    let hover = client.result("textDocument/hover", at);
    assert!(hover["contents"].is_object());
    let (mut small, mut published) = (false, None);
    client.wait("diagnostics", |m| {
        let params = &m["params"];
        if m["method"] == "textDocument/publishDiagnostics" && params["version"] == 1 {
            small |= params["uri"] == uri;
            if params["uri"].as_str() == other {
                published = params["diagnostics"].as_array().cloned();
            }
        }
        small && (other.is_none() || published.is_some())
    });
    close(client, &uri);
    published.unwrap_or_default()
}

fn close(client: &mut Client, uri: &str) {
    client.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": uri}}),
    );
}

fn sizes(page: &mut String, directory: &Path) {
    page.push_str("## Text\n\nEach file is checked by the command line (status and findings) and opened in one server, together with a small model whose hover and diagnostics must arrive first. Afterwards all documents are closed.\n\n| input | `zonelens check` | server |\n|---|---|---|\n");
    let mut client = Client::start(None, Value::Null);
    for (k, input) in inputs().into_iter().enumerate() {
        let path = directory.join(format!("hostile-{k}.{}", input.extension));
        std::fs::write(&path, &input.text).expect("written");
        let (status, found) = check(&path);
        let uri = format!("file://{}", path.display());
        client.open(&uri, &input.text);
        let published = small_is_served(&mut client, &format!("beside-{k}"), Some(&uri));
        close(&mut client, &uri);
        let _ = writeln!(
            page,
            "| {} | status {status}; {} | {} published |",
            input.what,
            told(&found),
            published.len()
        );
    }
    let pid = client.pid();
    client.poll("memory to come back", |_| {
        (resident(pid) < AFTER_CLOSING).then_some(())
    });
    let _ = writeln!(
        page,
        "\nWhen all of them are closed, the server uses less than {} MB.\n",
        AFTER_CLOSING / 1000
    );
    client.finish();
}

/// A client whose documents named `slow` take two minutes to analyse, with requests about one of
/// them on the way.
fn beside_a_slow_one(process: Option<u32>) -> Client {
    let worker = crate::server::workers::hanging();
    let worker = worker.to_string_lossy();
    let arguments = ["--slow", "slow", "--worker", &*worker];
    let mut client = Client::spawn_with(&arguments).initialize(json!({
        "processId": process, "rootUri": null, "capabilities": {},
        "initializationOptions": {"statusNotifications": true},
    }));
    // A run that would go on for a quarter of an hour.
    let run = "file:///tmp/zonelens-test/run.xta";
    client.open(run, &format!("{SMALL}//@ query A[] P.s\n"));
    client.command("zonelens.verifyAll", json!({"uri": run}));
    client.poll("the worker", |c| (!c.children().is_empty()).then_some(()));
    let uri = "file:///tmp/zonelens-test/slow.xta";
    client.open(uri, SMALL);
    for _ in 0..20 {
        client.post(
            "textDocument/codeLens",
            json!({"textDocument": {"uri": uri}}),
        );
    }
    small_is_served(&mut client, "quick", None);
    client
}

/// Whether a process is there and was not ended.
fn is_alive(id: &u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or("").trim().chars().next();
    state.is_some_and(|s| s != 'Z')
}

fn ends(page: &mut String) {
    page.push_str("## The end of the server\n\nTwenty requests about a document whose analysis takes two minutes are pending; another document is served in the meantime.\n\n| event | what happens |\n|---|---|\n");
    let leaves = |client: &mut Client| {
        let start = Instant::now();
        let status = client.status();
        // Two seconds are promised; the rest is for a machine with other things to do.
        assert!(start.elapsed() < Duration::from_secs(20));
        status.unwrap_or(-1)
    };
    let mut client = beside_a_slow_one(None);
    client.close_input();
    let _ = writeln!(
        page,
        "| its input is closed | it ends with status {} |",
        leaves(&mut client)
    );
    let mut client = beside_a_slow_one(None);
    client.notify("exit", Value::Null);
    let _ = writeln!(
        page,
        "| `exit` without `shutdown` | it ends with status {} |",
        leaves(&mut client)
    );
    let mut client = beside_a_slow_one(None);
    client.result("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    let _ = writeln!(
        page,
        "| `shutdown`, then `exit` | it ends with status {} |",
        leaves(&mut client)
    );
    let mut client = beside_a_slow_one(None);
    let children = client.children();
    client.close_input();
    leaves(&mut client);
    assert!(!children.is_empty());
    client.poll("the worker to be gone", |_| {
        (!children.iter().any(is_alive)).then_some(())
    });
    let _ = writeln!(
        page,
        "| its input is closed while a worker runs that ignores the end of its own input | the worker ends as well |"
    );
    let mut editor = Command::new("sleep").arg("300").spawn().expect("started");
    let mut client = beside_a_slow_one(Some(editor.id()));
    editor.kill().expect("killed");
    let status = leaves(&mut client);
    editor.wait().expect("reaped");
    let _ = writeln!(
        page,
        "| the process named by `processId` has ended | it ends with status {status} |\n"
    );
}

fn messages(page: &mut String) {
    page.push_str("## Messages\n\n| message | answer |\n|---|---|\n");
    let mut client = Client::start(None, Value::Null);
    let code = |answer: &Value| answer["error"]["code"].as_i64().unwrap_or(0);
    let optional = client.request("$/somethingNew", json!({}));
    let _ = writeln!(
        page,
        "| a request under `$/` that the server does not know | error {} |",
        code(&optional)
    );
    client.notify("$/somethingNew", json!({}));
    let _ = writeln!(page, "| a notification under `$/` | none |");
    let unknown = client.request("zonelens/noSuchRequest", json!({}));
    let _ = writeln!(
        page,
        "| any other unknown request | error {} |",
        code(&unknown)
    );
    let command = json!({"command": "zonelens.noSuchCommand", "arguments": []});
    let command = client.request("workspace/executeCommand", command);
    let message = command["error"]["message"].as_str().unwrap_or("");
    let _ = writeln!(
        page,
        "| an unknown command | error {}: {message} |",
        code(&command)
    );
    client.finish();
}

/// What is done to an entry of the cache.
type Damage<'a> = &'a dyn Fn(&Path);

fn results(page: &mut String) {
    page.push_str("\n## Stored results\n\nThe entry of an answered query is changed on disk, then the model is opened again.\n\n| entry | what happens |\n|---|---|\n");
    let text = format!("{SMALL}//@ query A[] P.s\n");
    let uri = "file:///tmp/zonelens-test/kept.xta";
    let changes: [(&str, Damage<'_>); 5] = [
        ("unchanged", &|_| {}),
        ("its verdict is changed", &|path| {
            let text = std::fs::read_to_string(path).expect("readable");
            std::fs::write(path, text.replace("\"satisfied\"", "\"violated\"")).expect("written");
        }),
        ("cut short", &|path| {
            let text = std::fs::read(path).expect("readable");
            std::fs::write(path, &text[..text.len() / 2]).expect("written");
        }),
        ("a link to a good entry elsewhere", &|path| {
            let elsewhere = fresh_directory().join("entry");
            std::fs::rename(path, &elsewhere).expect("moved");
            std::os::unix::fs::symlink(elsewhere, path).expect("linked");
        }),
        ("a link to `/dev/zero`", &|path| {
            std::fs::remove_file(path).expect("removed");
            std::os::unix::fs::symlink("/dev/zero", path).expect("linked");
        }),
    ];
    for (what, change) in changes {
        let cache = fresh_directory();
        let mut client = Client::start_in(&cache);
        client.open(uri, &text);
        client.command("zonelens.verifyAll", json!({"uri": uri}));
        client.wait_states(uri, &["satisfied"]);
        let entries = client.poll("entries", |_| entries(&cache.join("results")));
        client.finish();
        entries.iter().for_each(|path| change(path));
        let mut client = Client::start_in(&cache);
        client.open(uri, &text);
        let state = client.states(uri).join("");
        client.finish();
        let outcome = match state.as_str() {
            "satisfied" => "used",
            "never" => "rejected and removed: the query has no verdict",
            other => panic!("{what}: {other}"),
        };
        if state == "never" {
            assert!(
                entries.iter().any(|e| e.symlink_metadata().is_err()),
                "{what}"
            );
        }
        let _ = writeln!(page, "| {what} | {outcome} |");
    }
}

/// The entries of a cache once nothing is being written.
fn entries(directory: &Path) -> Option<Vec<PathBuf>> {
    let list = std::fs::read_dir(directory).ok()?.flatten();
    let paths: Vec<PathBuf> = list.map(|e| e.path()).collect();
    let written = paths
        .iter()
        .all(|p| p.extension().is_some_and(|e| e == "json"));
    (written && !paths.is_empty()).then_some(paths)
}

/// Version and commit of the program, as the server says them.
pub(super) fn version() -> String {
    let mut client = Client::spawn(None);
    let answer = client.request("initialize", json!({"capabilities": {}}));
    client.notify("initialized", json!({}));
    client.finish();
    let version = answer["result"]["serverInfo"]["version"].as_str();
    version.expect("a version").to_owned()
}

/// An entry of the cache with another report and a checksum that fits it.
pub(super) fn forged(entry: &str, version: &str, change: impl Fn(&str) -> String) -> String {
    let (header, report) = entry.split_once('\n').expect("a header");
    let mut words = header.split(' ');
    let (form, meaning) = (words.next().expect("a form"), words.next().expect("a key"));
    let report = change(report);
    let mut hashed = Vec::new();
    for part in [form, meaning, version, &report] {
        hashed.extend((part.len() as u64).to_le_bytes());
        hashed.extend(part.as_bytes());
    }
    let file = fresh_directory().join("hashed");
    std::fs::write(&file, hashed).expect("written");
    let sum = Command::new("sha256sum").arg(file).output().expect("a sum");
    let sum = String::from_utf8_lossy(&sum.stdout).into_owned();
    let sum = sum.split_whitespace().next().expect("a sum");
    format!("{form} {meaning} {sum}\n{report}")
}

fn configuration(page: &mut String) {
    page.push_str("\n## `zonelens.toml`\n\n| file | what applies |\n|---|---|\n");
    let above = fresh_directory();
    let root = above.join("workspace");
    std::fs::create_dir_all(root.join("inner")).expect("made");
    let model =
        "const int N = 2;\nprocess P(const int[0, N - 1] i) { state s; init s; }\nsystem P;\n";
    let uri = format!("file://{}", root.join("inner/m.xta").display());
    let mut row = |what: &str, file: &Path, trusted: Option<bool>| {
        std::fs::write(file.join("zonelens.toml"), "[constants]\nN = 5\n").expect("written");
        let mut options = json!({"statusNotifications": true});
        if let Some(trusted) = trusted {
            options["trusted"] = json!(trusted);
        }
        let folder = json!({"uri": format!("file://{}", root.display()), "name": "w"});
        let mut client = Client::spawn(None).initialize(json!({
            "processId": null, "rootUri": null, "workspaceFolders": [folder],
            "initializationOptions": options, "capabilities": {},
        }));
        client.open(&uri, model);
        let at = json!({"line": 1, "character": 8});
        let hover = client.result(
            "textDocument/hover",
            json!({"textDocument": {"uri": uri}, "position": at}),
        );
        let counts = match hover.to_string() {
            h if h.contains("5 processes") => "its constants",
            h if h.contains("2 processes") => "the constants of the model",
            h => panic!("{h}"),
        };
        // Who does not vouch for the file hears that it is not followed, unless it does not count
        // anyway.
        let told = file == root && trusted != Some(true);
        let (mut published, mut message) = (false, false);
        client.wait("diagnostics and words to the user", |m| {
            published |= m["method"] == "textDocument/publishDiagnostics";
            message |= m["method"] == "window/showMessage";
            published && message == told
        });
        client.unread.clear();
        client.finish();
        std::fs::remove_file(file.join("zonelens.toml")).expect("removed");
        let said = if message {
            ", with a message to the user"
        } else {
            ""
        };
        let _ = writeln!(page, "| {what} | {counts}{said} |");
    };
    row("sets a constant, in a trusted workspace", &root, Some(true));
    row(
        "sets a constant, in an untrusted workspace",
        &root,
        Some(false),
    );
    row(
        "sets a constant, the client does not say whether it trusts the workspace",
        &root,
        None,
    );
    row(
        "is above the root of a trusted workspace",
        &above,
        Some(true),
    );
}

#[test]
fn the_page_says_what_happens() {
    let mut page = String::from(
        "# Robustness\n\nWritten by a test (`cargo test -p zonelens --test main robustness`), which runs the real programs on generated input and compares this page with what they do.\n\n",
    );
    let directory = fresh_directory();
    sizes(&mut page, &directory);
    ends(&mut page);
    messages(&mut page);
    results(&mut page);
    configuration(&mut page);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/robustness.md");
    if std::env::var_os("ZONELENS_UPDATE_PAGES").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, page, "docs/robustness.md is not what happens");
}
