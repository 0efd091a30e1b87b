//! `zonelens coverage` through the real binary.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// One location, one edge and one limit are never used.
const MODEL: &str = "\
const int LAST = 3;
int[0, 9] n;
process P() {
    state s, t, lost;
    init s;
    trans
        s -> t { guard n < LAST; assign n = n + 1; },
        t -> s { },
        s -> lost { guard n > LAST; };
}
system P;
";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("coverage-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("m.xta"), MODEL).expect("written");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("written");
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonelens"));
        command.arg("coverage").args(args).current_dir(&self.0);
        let command = command.env("NO_COLOR", "1").stdin(Stdio::null());
        command.output().expect("the binary runs")
    }

    fn json(&self, args: &[&str]) -> (i32, Value) {
        let output = self.run(&[args, &["--format", "json"]].concat());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let object = serde_json::from_str(&text).expect("one object and nothing else");
        (output.status.code().expect("a status"), object)
    }

    fn human(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        (output.status.code().expect("a status"), text)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_never_happens_is_listed_with_its_place() {
    let folder = Folder::new("listed");
    let (status, object) = folder.json(&["m.xta"]);
    assert_eq!(status, 0);
    let keys: Vec<&String> = object.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["complete", "model", "never", "reason", "statistics"]);
    assert_eq!(object["model"], "m.xta");
    assert_eq!(object["complete"], true);
    assert!(object["reason"].is_null());
    assert_eq!(object["statistics"]["explored"], 7);
    let never = serde_json::json!([
        {"kind": "limit", "template": null, "what": "n = 9", "line": 2, "column": 11, "because": "its values are 0 to 3"},
        {"kind": "location", "template": "P", "what": "lost", "line": 4, "column": 17, "because": null},
        {"kind": "edge", "template": "P", "what": "s → lost", "line": 9, "column": 9, "because": "its guard is never true in `s`"},
        {"kind": "guard", "template": "P", "what": "s → lost", "line": 9, "column": 27, "because": null},
    ]);
    assert_eq!(object["never"], never);
}

#[test]
fn constants_change_what_happens() {
    let folder = Folder::new("constants");
    let (_, object) = folder.json(&["m.xta", "--const", "LAST=9"]);
    let never: Vec<&Value> = object["never"].as_array().expect("a list").iter().collect();
    assert!(never.iter().all(|n| n["kind"] != "limit"), "{never:?}");
    let output = folder.run(&["m.xta", "--const", "FIRST=9"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn people_read_one_line_for_each() {
    let folder = Folder::new("human");
    let (status, text) = folder.human(&["m.xta"]);
    assert_eq!(status, 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "m.xta",
            "",
            "  global declarations",
            "    2:11  the limit `n = 9` is never reached: its values are 0 to 3",
            "",
            "  P",
            "    4:17  location `lost` is never entered",
        ]
    );
    assert_eq!(
        lines[7],
        "    9:9  edge `s → lost` is never taken: its guard is never true in `s`"
    );
    assert!(
        lines[9].starts_with("  3 never happen; 7 states in "),
        "{text}"
    );
    folder.write(
        "all.xta",
        "process P() { state s; init s; trans s -> s { }; }\nsystem P;\n",
    );
    let (_, text) = folder.human(&["all.xta"]);
    assert!(
        text.contains("Everything happens: 2 locations and edges; 1 state in "),
        "{text}"
    );
}

/// Stopped by a limit, nothing is called never.
#[test]
fn a_limit_leaves_it_open() {
    let folder = Folder::new("limit");
    let model = "int[0, 30000] a, b; process P() { state s, t; init s; trans s -> s { select k : int[0, 1]; \
                 guard a < 30000 && b < 30000; assign a = a + k, b = b + 1 - k; }, s -> t { guard a == 30000; }; }\nsystem P;\n";
    folder.write("slow.xta", model);
    let (status, object) = folder.json(&["slow.xta", "--timeout", "0.3s"]);
    assert_eq!(status, 3);
    assert_eq!(object["complete"], false);
    let reason = object["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("timeout: "), "{reason}");
    assert_eq!(object["never"], serde_json::json!([]));
    let states = object["statistics"]["explored"].as_u64().expect("a number");
    for one in object["not_seen"].as_array().expect("a list") {
        assert_eq!(one["because"], format!("not seen in {states} states"));
    }
    let (status, text) = folder.human(&["slow.xta", "--memory", "1M"]);
    assert_eq!(status, 3);
    assert!(!text.contains("never"), "{text}");
    assert!(
        text.contains(" not seen in ") && text.contains("memory limit"),
        "{text}"
    );
}

#[test]
fn errors_have_their_place_and_status_two() {
    let folder = Folder::new("errors");
    folder.write("run.xta", &MODEL.replace("int[0, 9] n", "int[0, 2] n"));
    let (status, object) = folder.json(&["run.xta"]);
    assert_eq!((status, &object["complete"]), (2, &Value::Bool(false)));
    let reason = object["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("model-error: line 7, column "),
        "{reason}"
    );
    assert_eq!(object["never"], serde_json::json!([]));
    folder.write("broken.xta", &MODEL.replace("n < LAST", "m < LAST"));
    let output = folder.run(&["broken.xta"]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint.contains("broken.xta:7:24: "), "{complaint}");
    folder.write("q.q", "A[] true\n");
    for wrong in [
        &["q.q"][..],
        &["missing.xta"],
        &[],
        &["m.xta", "--format", "xml"],
    ] {
        assert_eq!(folder.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

/// The formulas of `queries` with the hint of each that is satisfied and says nothing.
fn vacuous(folder: &Folder, model: &str, queries: &[&str]) -> Vec<(String, Option<Value>)> {
    folder.write("v.xta", model);
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonelens"));
    command.args(["verify", "v.xta", "--format", "json"]);
    for query in queries {
        command.args(["-q", query]);
    }
    let output = command
        .current_dir(&folder.0)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let objects = text
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).expect("an object"));
    let row = |o: Value| {
        let verdict = o["verdict"].as_str().unwrap_or_default().to_owned();
        (verdict, o.get("vacuous").cloned())
    };
    objects.map(row).collect()
}

#[test]
fn queries_that_say_nothing_have_a_hint() {
    let folder = Folder::new("vacuous");
    let found = vacuous(
        &folder,
        MODEL,
        &[
            "P.lost --> P.s",
            "A[] (P.lost imply n == 7)",
            "A[] forall (i : int[0,2]) (P.lost && n > i imply n == 7)",
            "A<> (P.t imply n == 3)",
            "A<> forall (i : int[0,1]) (P.t imply n > i)",
        ],
    );
    let message = |k: usize| {
        let hint = found[k].1.as_ref().expect("a hint");
        assert_eq!(found[k].0, "satisfied");
        hint["message"].as_str().expect("a message").to_owned()
    };
    assert!(message(0).starts_with("`P.lost` never holds"));
    assert!(message(1).starts_with("`P.lost` never holds"));
    assert!(message(2).starts_with("`P.lost && n > i` never holds"));
    assert!(message(3).contains("write `P.t --> n == 3`"));
    assert!(message(4).contains("initial state"));
    let fixes: Vec<Value> = found
        .iter()
        .map(|f| f.1.as_ref().expect("a hint")["fix"].clone())
        .collect();
    let none = Value::Null;
    assert_eq!(
        fixes,
        [
            none.clone(),
            none.clone(),
            none.clone(),
            "P.t --> n == 3".into(),
            none
        ]
    );
}

/// A premise that holds somewhere, a query that is violated, or one of another form has none.
#[test]
fn queries_that_say_something_have_no_hint() {
    let folder = Folder::new("not-vacuous");
    let found = vacuous(
        &folder,
        MODEL,
        &[
            "P.t --> n > 0",
            "A[] (P.t imply n > 0)",
            "A[] (n == 3 imply (P.s or P.t))",
            "A<> (P.s imply n == 3)",
            "P.s --> P.lost",
            "A[] n < 4",
            "E<> (P.lost imply n == 7)",
        ],
    );
    let verdicts: Vec<&str> = found.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(
        verdicts,
        [
            "satisfied",
            "satisfied",
            "satisfied",
            "violated",
            "violated",
            "satisfied",
            "satisfied"
        ]
    );
    assert!(found.iter().all(|f| f.1.is_none()), "{found:?}");
}

/// The premise is asked about in a second run, whose limits are those of the first: where that is
/// not enough, nothing is said.
#[test]
fn what_is_not_confirmed_is_not_said() {
    let folder = Folder::new("unconfirmed");
    let model = "int[0, 20000] n; process P() { state s, t; init s; trans s -> s { guard n < 20000; assign n = n + 1; }, \
                 s -> t { guard n == 20000; }; }\nsystem P;\n";
    // The premise holds at the very end.
    let found = vacuous(
        &folder,
        model,
        &["A[] (P.t imply n == 20000)", "A[] (n > 20000 imply P.t)"],
    );
    assert_eq!(found[0], ("satisfied".to_owned(), None));
    let hint = found[1].1.as_ref().expect("a hint");
    assert!(
        hint["message"]
            .as_str()
            .is_some_and(|m| m.starts_with("`n > 20000` never holds"))
    );
}
