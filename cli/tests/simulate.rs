//! `zonelens simulate` through the real binary.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

const MODEL: &str = "\
const int N = 2;
int[0,N] n;
chan c;
process P() {
    clock x;
    state a { x <= 5 }, b;
    init a;
    trans a -> b { guard x > 3; sync c!; assign n = n + 1, x = 0; },
          b -> a { guard x >= 100000; assign x = 0; };
}
process Q() {
    state s;
    init s;
    trans s -> s { select k : int[0,1]; sync c?; };
}
system P, Q;
";

fn model(text: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("simulate-{}-{number}.xta", std::process::id()));
    std::fs::write(&path, text).expect("written");
    path
}

fn run(model: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .arg("simulate")
        .arg(model)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    // The program may end before it has read all.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn json(model: &Path, arguments: &[&str], input: &str) -> (i32, Value) {
    let mut all = vec!["--format", "json"];
    all.extend(arguments);
    let output = run(model, &all, input);
    let value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    (output.status.code().expect("a status"), value)
}

#[test]
fn the_seed_decides_the_run() {
    let m = model(&MODEL.replace("N = 2", "N = 9"));
    let arguments = |seed| ["--steps", "8", "--seed", seed];
    let (status, first) = json(&m, &arguments("5"), "");
    assert_eq!(status, 0, "{first}");
    assert_eq!(first, json(&m, &arguments("5"), "").1);
    let others: Vec<Value> = ["6", "7", "8"]
        .map(|seed| json(&m, &arguments(seed), "").1)
        .into();
    assert!(others.iter().any(|other| *other != first));
    assert_eq!(first["kind"], "path");
    assert_eq!(first["ended"], "steps");
    let steps = first["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 9);
    assert!(steps[0]["transition"].is_null());
    assert_eq!(steps[1]["transition"]["channel"], "c");
    assert_eq!(steps[1]["transition"]["edges"][0]["process"], "P");
    assert_eq!(steps[1]["transition"]["edges"][0]["line"], 8);
    assert_eq!(steps[1]["state"]["variables"]["n"], 1);
}

#[test]
fn delays_meet_guards_however_far_away() {
    let m = model(MODEL);
    let (status, run) = json(&m, &["--choose", "1,0"], "");
    assert_eq!(status, 2, "the third round leaves the range: {run}");
    let steps = run["steps"].as_array().expect("steps");
    assert_eq!(steps[1]["transition"]["edges"][1]["select"]["k"], 1);
    assert_eq!(steps[1]["delay"], "4", "the earliest round number above 3");
    assert_eq!(steps[2]["delay"], "100000");
    assert_eq!(run["ended"], "failed");
    assert!(
        run["reason"].as_str().is_some_and(|r| r.contains("range")),
        "{run}"
    );
}

#[test]
fn a_choice_that_is_not_there_is_named() {
    let m = model(MODEL);
    let output = run(&m, &["--choose", "7"], "");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("step 1 asks for transition 7, but there are transitions 0 to 1"),
        "{message}"
    );
}

#[test]
fn constants_follow_the_command_line() {
    let m = model(MODEL);
    let (status, run) = json(&m, &["--const", "N=50", "--steps", "20"], "");
    assert_eq!((status, &run["ended"]), (0, &Value::from("steps")), "{run}");
}

#[test]
fn steps_can_be_asked_for_one_by_one() {
    let m = model(MODEL);
    let output = run(&m, &["--interactive"], "x\n1\n\nq\n");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("[0] after 4: P: a → b, Q: s → s with k = 0  by c"),
        "{text}"
    );
    assert!(text.contains("write a number from 0 to 1"), "{text}");
    assert!(text.contains("n: 0 → 1"), "{text}");
    assert!(text.contains("after 100000: P: b → a"), "{text}");
    let (_, run) = json(&m, &["--interactive"], "1\n0\n");
    assert_eq!(run["steps"].as_array().map(Vec::len), Some(3), "{run}");
}

#[test]
fn ends_are_told_apart() {
    let idle = "process P() { state a, b; init a; trans a -> b { }; } system P;";
    let (status, run) = json(&model(idle), &[], "");
    assert_eq!((status, &run["ended"]), (0, &Value::from("idle")), "{run}");
    let locked = "clock x; process P() { state a, b { x < 3 }; init a; trans a -> b { assign x = 0; }; } system P;";
    let (status, run) = json(&model(locked), &[], "");
    assert_eq!(
        (status, &run["ended"]),
        (0, &Value::from("timelock")),
        "{run}"
    );
    let none = "clock x; process P() { state a { x < 0 }; init a; } system P;";
    let (status, run) = json(&model(none), &[], "");
    assert_eq!(
        (status, &run["ended"]),
        (2, &Value::from("failed")),
        "{run}"
    );
    assert!(
        run["reason"]
            .as_str()
            .is_some_and(|r| r.contains("initial state")),
        "{run}"
    );
}

#[test]
fn bad_models_and_files() {
    let output = run(Path::new("nowhere.xta"), &[], "");
    assert_eq!(output.status.code(), Some(2));
    let output = run(&model("process P( {"), &[], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty() && output.stdout.is_empty());
    let output = run(&model(MODEL), &["--const", "M=3"], "");
    assert_eq!(output.status.code(), Some(2), "no such constant");
}

#[test]
fn an_error_has_its_place_and_value() {
    let model = model(
        "int[0,1] n;\nprocess P() { state A; init A; trans A -> A {\n  assign n = n + 1; }; }\nsystem P;\n",
    );
    let (status, run) = json(&model, &[], "");
    assert_eq!(status, 2);
    let reason = run["reason"].as_str().unwrap_or_default();
    assert!(
        reason.ends_with("line 3, column 10: the value 2 does not fit the range [0, 1] of `n`"),
        "{reason}"
    );
}
