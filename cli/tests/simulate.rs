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

/// The states that `--interactive --format json` writes.
fn states(model: &Path, input: &str) -> Vec<Value> {
    let output = run(model, &["-i", "--format", "json"], input);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

#[test]
fn commands_are_obeyed_for_people() {
    let m = model(MODEL);
    let output = run(&m, &["--interactive"], "x\n1\nd 1/3\n0\nb\n?\nq\n7\n");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "[0] after (3, 5]: P: a → b, Q: s → s with k = 0  by c",
        "`x` is not a command; ? lists the commands",
        "step 1  t = 4",
        "n: 0 → 1",
        "zone:      P.x <= 5",
        "time:      [0, 5]; the invariant of P ends the time that may pass",
        "(1/3 since the last transition)",
        "[0] after [299999/3, ∞): P: b → a",
        "step 2  t = 100004",
        "step 1 of 2  t = 4",
        "d DELAY    let time pass",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        !text.contains("there is no transition 7"),
        "q ends it: {text}"
    );
}

#[test]
fn every_command_is_answered_by_one_state() {
    let m = model(MODEL);
    let input = "1 7/2\nd 1/3\nb\nb\nf\ng 9\nnonsense\nd 99\n0\nr\nw 3 seed 5\nw until n == 2\n?\n";
    let states = states(&m, input);
    assert_eq!(states.len(), 1 + input.lines().count());
    let at = |k: usize| (states[k]["step"].as_u64(), states[k]["time"].as_str());
    assert_eq!(at(0), (Some(0), Some("0")));
    assert_eq!(states[0]["possible"][1]["window"], "(3, 5]");
    assert_eq!(states[0]["wait"]["end"], "invariant");
    assert_eq!(states[0]["zone"]["pieces"][0]["text"], "P.x <= 5");
    assert_eq!(at(1), (Some(1), Some("7/2")));
    assert_eq!(states[1]["walk"][0]["fixed"], true);
    assert_eq!(
        states[1]["walk"][0]["transition"]["edges"][1]["select"]["k"],
        1
    );
    assert_eq!(
        (at(2), &states[2]["unit"]),
        ((Some(1), Some("23/6")), &Value::from(6))
    );
    assert_eq!(at(3), (Some(1), Some("7/2")));
    assert_eq!(
        (at(4), &states[4]["length"]),
        ((Some(0), Some("0")), &Value::from(1))
    );
    assert_eq!(at(5), (Some(1), Some("7/2")));
    for (k, part) in [(6, "no step 9"), (7, "not a command")] {
        let message = states[k]["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{message}");
        assert_eq!(at(k), (Some(1), Some("7/2")));
    }
    assert_eq!(at(8), (Some(1), Some("205/2")));
    assert_eq!(at(9).0, Some(2));
    assert_eq!(at(10), (Some(0), Some("0")));
    assert_eq!(at(11).0, Some(3));
    assert_eq!(states[12]["state"]["variables"]["n"], 2);
    assert!(
        states[13]["message"]
            .as_str()
            .is_some_and(|m| m.contains("quit"))
    );
}

/// What the command writes as text without `--interactive`: scripts read it, so it stays.
#[test]
fn the_text_of_a_run_stays() {
    let m = model(MODEL);
    let output = run(&m, &["--choose", "1", "--steps", "2"], "");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = text.replace(&m.display().to_string(), "MODEL");
    // The second delay is random; the seed decides it.
    assert_eq!(
        text,
        "\x200  t = 0       start
                  a: P
                  s: Q
 1  t = 4       P → Q by c  (after 4)
                P: a → b  MODEL:8
                Q: s → s with k = 1  MODEL:14
                  n: 0 → 1
                  P.x := 0
 2  t = 100005  P moves  (after 100001)
                P: b → a  MODEL:9
                  P.x := 0
"
    );
    assert!(output.stderr.is_empty());
    let idle = model("process P() { state a, b; init a; trans a -> b { }; } system P;");
    let output = run(&idle, &[], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.ends_with(
            "\nThe run ends: no transition is possible any more, however long one waits.\n"
        ),
        "{text}"
    );
    let json = run(
        &m,
        &["--choose", "1", "--steps", "1", "--format", "json"],
        "",
    );
    let text = String::from_utf8_lossy(&json.stdout).into_owned();
    let expected = concat!(
        r#"{"kind":"path","cycle_start":null,"steps":[{"delay":"0","transition":null,"#,
        r#""state":{"locations":{"P":"a","Q":"s"},"variables":{"n":0},"clocks":{"P.x":"0"}}},"#,
        r#"{"delay":"4","transition":{"channel":"c","edges":[{"process":"P","from":"a","to":"b","#,
        r#""select":{},"line":8,"column":11,"process_index":0,"edge_index":0},{"process":"Q","#,
        r#""from":"s","to":"s","select":{"k":1},"line":14,"column":11,"process_index":1,"#,
        r#""edge_index":0}]},"state":{"locations":{"P":"b","Q":"s"},"variables":{"n":1},"#,
        r#""clocks":{"P.x":"0"}}}],"ended":"steps","reason":"all steps were taken"}"#,
        "\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn walks_are_saved_and_opened_again() {
    let m = model(MODEL);
    let file = m.with_extension("json");
    let name = file.display().to_string();
    let saved = states(&m, &format!("1 7/2\n0\nd 1/3\ns {name}\ns /nowhere/x\n"));
    let said = |state: &Value| state["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(said(&saved[4]), format!("the walk is saved in {name}"));
    assert!(said(&saved[5]).contains("cannot be written"));
    let open = |model: &Path, file: &Path| {
        let walk = file.display().to_string();
        run(
            model,
            &["-i", "--format", "json", "--walk", &walk],
            "b\nb\n",
        )
    };
    let opened = |model: &Path| {
        let output = open(model, &file);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = text.lines().next().expect("a state");
        serde_json::from_str::<Value>(first).expect("JSON")
    };
    let state = opened(&m);
    assert_eq!(
        (&state["step"], &state["waited"]),
        (&Value::from(2), &Value::from("1/3"))
    );
    assert_eq!(state["state"], saved[3]["state"]);
    assert_eq!(state["message"], Value::Null);
    // Another model, and files that are no walks.
    let state = opened(&model(&MODEL.replace("x > 3", "x > 4")));
    assert_eq!(state["step"], 0);
    assert!(
        said(&state).contains("the saved walk ends before step 1"),
        "{state}"
    );
    for file in [m.clone(), m.with_extension("missing")] {
        let output = open(&m, &file);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        assert!(!output.stderr.is_empty());
    }
    assert_eq!(
        run(&m, &["--walk", &name], "").status.code(),
        Some(2),
        "it needs -i"
    );
}

#[test]
fn other_delays_are_chosen_anew() {
    let text = "clock x, y; process P() { state a, b, c; init a; \
                trans a -> b { assign x = 0; }, b -> c { guard x == 0 && y == 2; }; } system P;";
    let found = states(&model(text), "0\n0\n");
    assert_eq!(found[1]["otherDelays"][0]["number"], 0);
    assert_eq!(found[1]["otherDelays"][0]["reason"]["kind"], "guard");
    assert_eq!(found[1]["blocked"].as_array().map(Vec::len), Some(0));
    assert_eq!(found[2]["message"], "new delays were chosen for step 1");
    assert_eq!(found[2]["walk"][0]["delay"], "2");
    // A fixed delay stays, and is named.
    let found = states(&model(text), "0 1\n0\n");
    assert_eq!(found[2]["message"], "the fixed delay of step 1 forbids it");
    assert_eq!(found[2]["step"], 1);
    // So is the time that passed.
    let found = states(&model(text), "0\nd 1\n0\n");
    assert!(
        found[3]["message"]
            .as_str()
            .is_some_and(|m| m.contains("go back first"))
    );
    let stopped =
        "clock x; process P() { state a { x' == 0 }; init a; trans a -> a { }; } system P;";
    let found = states(&model(stopped), "d 3\n");
    assert_eq!(found[1]["zone"]["reason"], "the model has stopped clocks");
    assert_eq!(found[1]["state"]["clocks"]["x"], "0");
}

/// A worker answers questions about walks until its input closes.
#[test]
fn a_worker_serves_zones() {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
    let request = serde_json::json!({
        "protocol": 2, "task": {"task": "walk"}, "model": MODEL, "kind": "xta", "query": "", "line": 0,
        "expected": null, "options": {},
    });
    writeln!(stdin, "{request}").expect("written");
    let mut ask = |question: Value| -> Value {
        writeln!(stdin, "{question}").expect("written");
        let line = answers.next().expect("an answer").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    let first = ask(serde_json::json!({ "id": 7 }));
    assert_eq!(
        (&first["type"], &first["id"]),
        (&Value::from("walk"), &Value::from(7))
    );
    assert_eq!(first["zone"]["pieces"][0]["text"], "P.x <= 5");
    assert_eq!(first["transitions"].as_array().map(Vec::len), Some(2));
    let step = first["transitions"][1].clone();
    let answer = ask(serde_json::json!({ "id": 8, "steps": [{ "edges": step }] }));
    assert_eq!(answer["zone"]["pieces"][0]["text"], "true");
    let wrong =
        ask(serde_json::json!({ "id": 9, "steps": [{ "edges": [{ "process": 5, "edge": 0 }] }] }));
    assert_eq!(wrong["zone"]["kind"], "none");
    let chosen = ask(serde_json::json!({ "id": 10, "steps": [], "take": step }));
    assert_eq!(chosen["delays"]["delays"][0], "7/2");
    drop(stdin);
    assert!(child.wait().is_ok());
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
