//! `zonelens verify` through the real binary: what scripts rely on.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const MODEL: &str = "\
const int N = 2;
int n;
process P(const int[0, N - 1] i) {
    clock x;
    state s, t { x <= 5 }, u;
    init s;
    trans s -> t { assign x = 0, n = n + 1; },
          t -> u { guard x >= 3; };
}
system P;
";

fn directory() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("verify-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).expect("written");
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .arg("verify")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("an exit status")
}

/// Objects of `--format json`; nothing else may be on standard output.
fn reports(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("UTF-8");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("one object per line"))
        .collect()
}

fn json(directory: &Path, arguments: &[&str]) -> (i32, Vec<Value>) {
    let mut all = vec!["--format", "json"];
    all.extend(arguments);
    let output = run(directory, &all);
    (status(&output), reports(&output))
}

fn field<'a>(reports: &'a [Value], name: &str) -> Vec<&'a str> {
    reports
        .iter()
        .map(|r| r[name].as_str().unwrap_or("null"))
        .collect()
}

#[test]
fn embedded_then_sibling_and_the_same_text_once() {
    let d = directory();
    write(
        &d,
        "m.xta",
        &format!("{MODEL}//@ query E<> n == 2\n//@ query A[] n < 3\n"),
    );
    write(&d, "m.q", "/* heading */\nA[] n < 3\nE<> P(0).u\n");
    let (status, reports) = json(&d, &["m.xta"]);
    assert_eq!(status, 0);
    assert_eq!(
        field(&reports, "query"),
        ["E<> n == 2", "A[] n < 3", "E<> P(0).u"]
    );
    let lines: Vec<_> = reports.iter().map(|r| r["line"].as_u64()).collect();
    assert_eq!(lines, [Some(11), Some(12), Some(3)]);
}

#[test]
fn explicit_queries_run_alone_in_command_line_order() {
    let d = directory();
    write(
        &d,
        "m.xta",
        &format!("{MODEL}//@ query nonsense nonsense\n"),
    );
    write(&d, "m.q", "A[] false\n");
    write(&d, "other.q", "A[] n < 3\n");
    let (status, reports) = json(
        &d,
        &["m.xta", "-q", "E<> n == 1", "other.q", "-q", "E<> n == 2"],
    );
    assert_eq!(status, 0);
    assert_eq!(
        field(&reports, "query"),
        ["E<> n == 1", "A[] n < 3", "E<> n == 2"]
    );
    assert_eq!(reports[0]["line"], 0);
    let (_, reports) = json(
        &d,
        &["m.xta", "other.q", "-q", "E<> n == 2", "-q", "E<> n == 1"],
    );
    assert_eq!(
        field(&reports, "query"),
        ["A[] n < 3", "E<> n == 2", "E<> n == 1"]
    );
}

#[test]
fn an_object_has_all_fields_of_the_contract() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    let (status, reports) = json(&d, &["m.xta", "-q", "A[] not (P(0).u && P(1).u)"]);
    assert_eq!(status, 1);
    let report = &reports[0];
    let fields = [
        "query",
        "line",
        "verdict",
        "reason",
        "expected",
        "value",
        "symmetrised",
        "statistics",
        "symmetry",
        "reductions",
        "trace",
    ];
    for name in fields {
        assert!(report.get(name).is_some(), "{name}");
    }
    for name in [
        "stored",
        "explored",
        "transitions",
        "seconds",
        "peak_memory_bytes",
    ] {
        assert!(report["statistics"][name].is_number(), "{name}");
    }
    assert!(report["symmetry"]["scalarsets"].is_array());
    assert_eq!(report["verdict"], "violated");
    let steps = report["trace"]["steps"].as_array().expect("steps");
    assert!(steps[0]["transition"].is_null());
    let edge = &steps[1]["transition"]["edges"][0];
    assert_eq!(
        (edge["line"].as_u64(), edge["from"].as_str()),
        (Some(7), Some("s"))
    );
    assert!(steps[1]["state"]["clocks"]["P(0).x"].is_string());
}

#[test]
fn exit_status_follows_the_contract() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    write(
        &d,
        "expected.xta",
        &format!("{MODEL}//@ query A[] n < 2\n//@ expect violated\n"),
    );
    write(
        &d,
        "unexpected.xta",
        &format!("{MODEL}//@ query A[] n < 3\n//@ expect violated\n"),
    );
    write(
        &d,
        "broken.xta",
        &format!("{}//@ query A[] n < 3\n", MODEL.replace("x = 0", "y = 0")),
    );
    let status_of = |arguments: &[&str]| status(&run(&d, arguments));
    assert_eq!(status_of(&["expected.xta"]), 0);
    assert_eq!(status_of(&["unexpected.xta"]), 1);
    assert_eq!(status_of(&["broken.xta"]), 2);
    assert_eq!(status_of(&["missing.xta"]), 2);
    assert_eq!(status_of(&["m.xta"]), 2, "no query");
    assert_eq!(status_of(&["m.xta", "-q", "A[] nobody"]), 2);
    assert_eq!(status_of(&["m.xta", "-q", "A[] n < 3", "--states", "x"]), 2);
    assert_eq!(
        status_of(&["m.xta", "-q", "A[] n < 3", "--symmetry", "sometimes"]),
        2
    );
    assert_eq!(status_of(&["m.xta", "-q", "A[] n < 3"]), 0);
    let slow = [
        "m.xta",
        "--const",
        "N=12",
        "-q",
        "A[] n < 99",
        "--symmetry",
        "off",
        "--timeout",
        "50ms",
    ];
    assert_eq!(status_of(&slow), 3);
    let mut both = slow.to_vec();
    both.extend(["-q", "A[] n < 1"]);
    assert_eq!(status_of(&both), 1, "a failure counts more than an unknown");
}

#[test]
fn a_broken_model_gives_an_error_for_every_query() {
    let d = directory();
    let broken = MODEL.replace("x = 0", "y = 0");
    write(
        &d,
        "m.xta",
        &format!("{broken}//@ query A[] n < 3\n//@ query E<> n == 2\n"),
    );
    let (status, reports) = json(&d, &["m.xta"]);
    assert_eq!(status, 2);
    assert_eq!(field(&reports, "verdict"), ["error", "error"]);
    for report in &reports {
        let reason = report["reason"].as_str().expect("a reason");
        assert!(
            reason.starts_with("model-error: ") && reason.contains("m.xta:7"),
            "{reason}"
        );
    }
}

#[test]
fn a_bad_query_concerns_itself_alone() {
    let d = directory();
    write(
        &d,
        "m.xta",
        &format!("{MODEL}//@ query A[] nobody\n//@ query A[] n < 3\n"),
    );
    let (status, reports) = json(&d, &["m.xta"]);
    assert_eq!(status, 2);
    assert_eq!(field(&reports, "verdict"), ["error", "satisfied"]);
    assert!(
        reports[0]["reason"]
            .as_str()
            .is_some_and(|r| r.starts_with("query-error: "))
    );
}

#[test]
fn constants_and_limits_reach_the_checker() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    let (_, reports) = json(&d, &["m.xta", "--const", "N=3", "-q", "E<> n == 3"]);
    assert_eq!(field(&reports, "verdict"), ["satisfied"]);
    let (_, reports) = json(&d, &["m.xta", "-q", "E<> n == 3"]);
    assert_eq!(field(&reports, "verdict"), ["violated"]);
    let limited = [
        "m.xta",
        "--const",
        "N=8",
        "-q",
        "A[] n < 99",
        "--symmetry",
        "off",
        "--states",
        "10",
    ];
    let (status, reports) = json(&d, &limited);
    assert_eq!(status, 3);
    assert!(
        reports[0]["reason"]
            .as_str()
            .is_some_and(|r| r.starts_with("states")),
        "{reports:?}"
    );
    let (_, reports) = json(&d, &["m.xta", "-q", "sup: n"]);
    assert_eq!(reports[0]["value"]["upper"], 2, "{reports:?}");
}

#[test]
fn an_override_of_nothing_is_bad_usage() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    for name in ["M=3", "n=3", "i=3"] {
        let output = run(&d, &["m.xta", "--const", name, "-q", "E<> n == 3"]);
        assert_eq!(status(&output), 2, "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("m.xta has no global constant"), "{said}");
    }
    // What a broken model declares is not known: its own error is the one to tell.
    write(
        &d,
        "m.xta",
        &MODEL.replace("const int N = 2;", "const int N = 2"),
    );
    let output = run(&d, &["m.xta", "--const", "N=3", "-q", "E<> n == 3"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(status(&output), 2);
    assert!(said.contains("[syntax/missing-semicolon]"), "{said}");
}

#[test]
fn a_run_that_stays_somewhere_says_so() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    let text = |formula| {
        let output = run(&d, &["m.xta", "-q", formula]);
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let stays = "the run takes no further transition";
    assert!(text("A<> n == 2").contains(stays));
    assert!(text("E[] n == 0").contains(stays));
    assert!(!text("E<> n == 2").contains(stays));
}

#[test]
fn people_and_ci_get_their_forms() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    let formulas = ["m.xta", "-q", "A[] n < 3", "-q", "A[] n < 2"];
    let output = run(&d, &formulas);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.contains("✓ A[] n < 3") && text.contains("✗ A[] n < 2"),
        "{text}"
    );
    assert!(
        text.contains("counterexample, 2 steps") && text.contains("n: 1 → 2"),
        "{text}"
    );
    assert!(text.contains("2 queries: 1 passed, 1 failed"), "{text}");
    assert!(!text.contains('\x1b'), "no colour when piped");
    assert!(output.stderr.is_empty(), "no progress when piped");
    let mut junit = vec!["--format", "junit"];
    junit.extend(formulas);
    let text = String::from_utf8(run(&d, &junit).stdout).expect("UTF-8");
    assert!(
        text.starts_with("<?xml") && text.contains("tests=\"2\" failures=\"1\""),
        "{text}"
    );
}

/// Starts a run of which the second query takes long, sends it a signal after the first and waits
/// for its end.
#[cfg(unix)]
fn interrupted_by(signal: &str) -> Output {
    let d = directory();
    write(&d, "m.xta", MODEL);
    let mut child = Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .args([
            "verify",
            "m.xta",
            "--const",
            "N=14",
            "--symmetry",
            "off",
            "--format",
            "json",
        ])
        .args(["-q", "E<> n == 1", "-q", "A[] n < 99", "-q", "E<> n == 2"])
        .current_dir(&d)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    lines.read_line(&mut first).expect("the first answer");
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.is_ok_and(|s| s.success()));
    let mut output = child.wait_with_output().expect("it ends");
    assert!(asked.elapsed() < Duration::from_secs(20));
    output.stdout = first.into_bytes();
    lines.read_to_end(&mut output.stdout).expect("the rest");
    output
}

#[test]
#[cfg(unix)]
fn interrupts_give_what_is_known() {
    for signal in ["-INT", "-TERM"] {
        let output = interrupted_by(signal);
        assert_eq!(status(&output), 130, "{signal}");
        let reports = reports(&output);
        assert_eq!(
            field(&reports, "verdict"),
            ["satisfied", "unknown", "unknown"]
        );
        for report in &reports[1..] {
            let reason = report["reason"].as_str().unwrap_or_default();
            assert!(reason.starts_with("cancelled"), "{signal}: {reason}");
        }
        assert!(reports[1]["statistics"]["explored"].as_u64() > Some(0));
    }
}

/// What was written before is whole, and nothing claims a verdict that was not reached.
#[test]
#[cfg(unix)]
fn a_killed_run_leaves_no_half_result() {
    let output = interrupted_by("-KILL");
    assert_eq!(output.status.code(), None);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let verdicts: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a whole line"))
        .collect();
    assert_eq!(field(&verdicts, "query"), ["E<> n == 1"]);
    assert_eq!(field(&verdicts, "verdict"), ["satisfied"]);
}

/// Statistical queries are recognised but not answered. This is not an error in the model, and the
/// other queries are answered.
#[test]
fn a_statistical_query_is_unsupported_not_wrong() {
    let directory = directory();
    write(
        &directory,
        "m.xta",
        "clock x;\nprocess P() { state a; init a; trans a -> a { guard x > 1; assign x = 0; }; }\nsystem P;\n\
         //@ query A[] not deadlock\n//@ query Pr[<=10](<> P.a)\n",
    );
    let (status, reports) = json(&directory, &["m.xta"]);
    assert_eq!(status, 3);
    assert_eq!(field(&reports, "verdict"), ["satisfied", "unknown"]);
    let reason = reports[1]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("unsupported: statistical"), "{reason}");
}

/// A constant may have any value that the file could give it, and results say which they are about.
#[test]
fn constants_from_outside_are_taken_and_shown() {
    let d = directory();
    let text = "const int L = 1000;\nconst int[0, 5] K = 1;\nconst bool B = false;\nint[0, 9] n;\n\
        process P() { clock z; state a, b; init a; trans a -> b { guard z > L && B; assign n = K; }; }\nsystem P;\n";
    write(&d, "m.xta", text);
    let query = ["-q", "E<> P.b && n == 1"];
    let ask = |constants: &[&str]| {
        let mut arguments = vec!["m.xta"];
        arguments.extend(query);
        constants
            .iter()
            .for_each(|c| arguments.extend(["--const", c]));
        json(&d, &arguments)
    };
    let (status, reports) = ask(&["L=100000", "B=true"]);
    assert_eq!(status, 0);
    assert_eq!(
        reports[0]["constants"],
        serde_json::json!({"B": 1, "L": 100000})
    );
    let steps = reports[0]["trace"]["steps"].as_array().expect("a run");
    assert_eq!(steps[1]["delay"], "200001/2");
    // Without them, nothing is said; outside a declared range, they are refused.
    let (status, reports) = ask(&[]);
    assert_eq!((status, reports[0].get("constants")), (1, None));
    assert_eq!(ask(&["K=6"]).0, 2);
    assert_eq!(ask(&["L=3000000000"]).0, 2);
    let human = run(&d, &["m.xta", "-q", "E<> P.b", "--const", "L=7"]);
    let human = String::from_utf8(human.stdout).expect("UTF-8");
    assert!(human.contains("with constants: L = 7"), "{human}");
}

/// What `zonelens.toml` gives is shown as well.
#[test]
fn constants_of_the_project_are_shown() {
    let d = directory();
    write(&d, "m.xta", MODEL);
    write(&d, "zonelens.toml", "[constants]\nN = 3\nother = 1\n");
    let (_, reports) = json(&d, &["m.xta", "-q", "E<> n == 3"]);
    assert_eq!(field(&reports, "verdict"), ["satisfied"]);
    assert_eq!(reports[0]["constants"], serde_json::json!({"N": 3}));
}

/// Verdict and reason of formulas asked of a text.
fn asked(text: &str, formulas: &[&str]) -> Vec<(String, String)> {
    let here = directory();
    write(&here, "m.xta", text);
    let mut arguments = vec!["m.xta"];
    formulas.iter().for_each(|f| arguments.extend(["-q", f]));
    let (_, reports) = json(&here, &arguments);
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let answer = |r: &Value| (text(&r["verdict"]), text(&r["reason"]));
    reports.iter().map(answer).collect()
}

#[test]
fn empty_families_are_verified() {
    let model = "const int N = 3, F = 0; int n; typedef int[N - F, N - 1] bad; bool down[bad];
process G(const int[0, N - F - 1] i) { state a, b; init a; trans a -> b { guard forall (k : bad) !down[k]; assign n = n + 1; }, a -> b { select k : bad; assign n = 9; }; }
process B(const bad i) { bad own = i; state a; init a; trans a -> a { assign down[i] = true; }; }
system G, B;
";
    let formulas = [
        "A[] n <= 3",
        "E<> n == 3",
        "A[] forall (k : bad) !B(k).a",
        "E<> exists (k : bad) B(k).own == k",
        "E<> B(3).a",
        "E<> B(n).a",
        "E<> down[n]",
    ];
    let answers = asked(model, &formulas);
    let verdicts: Vec<&str> = answers.iter().map(|a| a.0.as_str()).collect();
    let expected = [
        "satisfied",
        "satisfied",
        "satisfied",
        "violated",
        "error",
        "error",
        "error",
    ];
    assert_eq!(verdicts, expected, "{answers:?}");
    let ranges = answers[4..].iter().all(|a| a.1.contains("query/range"));
    assert!(ranges, "{answers:?}");
}

#[test]
fn what_is_not_supported_leaves_only_what_needs_it_unanswered() {
    let model = |guard: &str| {
        format!(
            "clock x; bool late() {{ return x > 5; }}\nprocess P() {{ state a {{ x <= 7 && cost' == 2 }}, b; init a; trans a -> b {{ guard {guard}; assign cost += 3; }}; }}\nsystem P;\n"
        )
    };
    let formulas = [
        "E<> P.b",
        "E<> late()",
        "E<> P.b && cost < 4",
        "A[] P.a imply x <= 7",
    ];
    let answers = asked(&model("x > 3"), &formulas);
    let verdicts: Vec<&str> = answers.iter().map(|a| a.0.as_str()).collect();
    assert_eq!(
        verdicts,
        ["satisfied", "unknown", "unknown", "satisfied"],
        "{answers:?}"
    );
    assert!(
        answers[1].1.starts_with("unsupported: a clock is compared"),
        "{answers:?}"
    );
    assert!(
        answers[2].1.starts_with("unsupported: the cost"),
        "{answers:?}"
    );
    // A function that the model itself calls concerns every query.
    for answer in asked(&model("late()"), &["E<> P.b", "A[] true"]) {
        assert_eq!(answer.0, "unknown");
        assert!(answer.1.starts_with("unsupported: "), "{answer:?}");
    }
}

#[test]
fn an_edge_that_cannot_be_verified_refutes_nothing() {
    for labels in [
        "guard ext(1) == 1;",
        "guard get().p == 0;",
        "sync (n == 0 ? a : b)!;",
    ] {
        let model = format!(
            "import \"lib.so\" {{ int ext(int v); }};\nint n; broadcast chan a, b; typedef struct {{ int p; }} R; R r; R get() {{ return r; }}\nprocess P() {{ state s, t; init s; trans s -> t {{ {labels} }}; }}\nsystem P;\n"
        );
        let answers = asked(&model, &["E<> P.t"]);
        assert_eq!(answers[0].0, "unknown", "{labels}: {answers:?}");
    }
}

#[test]
fn sym_query_agrees_with_the_run() {
    let model = "int id;\nprocess P(const int[0,4] i) { state a, b; init a; trans a -> b { guard id == 7; assign id = i; }; }\nsystem P;\n";
    let here = directory();
    write(&here, "m.xta", model);
    let (_, reports) = json(&here, &["m.xta", "-q", "A<> P(4).b", "-q", "E<> P(4).b"]);
    assert_eq!(
        reports[0]["symmetry"]["scalarsets"][0]["interchangeable"][0],
        4
    );
    let whole = &reports[1]["symmetry"]["scalarsets"][0]["interchangeable"][0];
    let orbits = reports[1]["symmetrised"] == true && *whole == 5;
    assert!(orbits || *whole == 4, "{}", reports[1]);
}
