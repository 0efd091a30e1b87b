//! Models that fail, never end, or reach a limit: each gets a clear answer.

use crate::common;

use common::{Verify, xta};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, QueryReport, SymmetryOption, Verdict};
use zonelens_checker::{Control, verify};
use zonelens_interpreter::{Ended, SimulateOptions, simulate};

fn run(model: &str, query: &str) -> QueryReport {
    xta(model).verify(query, &Options::default())
}

/// One process with a loop; `declarations` and the fields of its edge are given.
fn looping(declarations: &str, edge: &str) -> String {
    format!(
        "{declarations}\nclock x;\nprocess P() {{ state a, b; init a; trans a -> b {{ guard x >= 1; assign x = 0; }}, \
         b -> a {{ {edge} }}; }}\nsystem P;\n"
    )
}

/// Between assignments numbers have 32 bits and wrap around, as in UPPAAL: the verdicts that are
/// stored with models of processors hold only then. The trace is replayed by the interpreter, which
/// computes in 64 bits and wraps separately.
#[test]
fn numbers_wrap_between_assignments() {
    let model = looping(
        "int32_t n = INT32_MAX; int32_t m = INT32_MIN; bool done;",
        "guard n + 1 == m && m - 1 == n && -m == m && n * 2 == -2 && n ** 2 == 1 && \
         (sum (i : int[0,2]) n) == n - 2; assign done = true;",
    );
    assert_eq!(run(&model, "E<> done").verdict, Verdict::Satisfied);
    let report = run(&model, "A[] not deadlock");
    assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
}

#[test]
fn evaluation_errors_are_model_errors_with_traces() {
    let cases = [
        (
            "int[0,3] n;",
            "assign n = n + 1;",
            "does not fit the range [0, 3]",
        ),
        (
            "int v[3]; int[0,5] n;",
            "guard v[n] == 0; assign n = n + 1;",
            "the index 3 is outside [0, 2]",
        ),
        (
            "int n = 2;",
            "guard 6 / n > 0; assign n = n - 1;",
            "division by zero",
        ),
        (
            "int[-9,9] n;",
            "assign n = n - 1, x = n;",
            "negative value -1",
        ),
        (
            "int[-9,9] n = 1; int m;",
            "assign n = n - 1, m = 1 << (n - 1);",
            "shift by -1",
        ),
        (
            "void f() { while (true) { } }",
            "assign f();",
            "does not end within the step limit",
        ),
        (
            "int n = 30000; int m;",
            "assign m = n * n * n;",
            "does not fit the range [-32768, 32767]",
        ),
        (
            "int32_t n = INT32_MIN; int32_t m = -1;",
            "assign m = n / m;",
            "does not fit 32 bits",
        ),
    ];
    for (declarations, edge, message) in cases {
        let report = run(&looping(declarations, edge), "A[] true");
        assert_eq!(
            report.verdict,
            Verdict::Error,
            "{edge}: {:?}",
            report.reason
        );
        let reason = report.reason_text();
        assert!(
            reason.starts_with("model-error: line ") && reason.contains(message),
            "{edge}: {reason}"
        );
        let trace = report.trace.unwrap_or_else(|| panic!("{edge}: no trace"));
        assert!(trace.steps.len() >= 2, "{edge}");
    }
}

#[test]
fn an_error_behind_an_unsatisfiable_guard_is_none() {
    let model = looping("int[0,3] n;", "guard x > 5 && x < 4; assign n = 7;");
    assert_eq!(
        run(&model, "A[] not P.b || n == 0").verdict,
        Verdict::Satisfied
    );
}

#[test]
fn an_impossible_initial_state_is_told() {
    let model = "clock x; process P() { state a { x > 1 }; init a; } system P;";
    let report = run(model, "E<> P.a");
    assert_eq!(report.verdict, Verdict::Error);
    assert!(report.reason_text().contains("initial state"));
}

#[test]
fn a_deadlocked_initial_state() {
    let model = "clock x; process P() { state a { x <= 3 }; init a; } system P;";
    let report = run(model, "A[] not deadlock");
    assert_eq!(report.verdict, Verdict::Violated);
    assert_eq!(run(model, "E[] P.a").verdict, Verdict::Satisfied);
    assert_eq!(run(model, "A<> x > 3").verdict, Verdict::Violated);
}

#[test]
fn zeno_loops_end_and_count_as_infinite_runs() {
    let model = "clock x; process P() { state a { x <= 1 }, b; init a; trans a -> a { }, a -> b { guard x >= 1; }; } \
                 system P;";
    let report = run(model, "A<> P.b");
    assert_eq!(report.verdict, Verdict::Violated);
    let trace = report.trace.expect("a lasso");
    assert!(trace.cycle_start.is_some());
}

#[test]
fn constants_near_the_limit() {
    let model = |c: &str| {
        format!(
            "clock x, y; process P() {{ state a, b; init a; trans a -> b {{ guard x > {c}; }}; }} system P;"
        )
    };
    assert_eq!(
        run(&model("100000000"), "E<> P.b").verdict,
        Verdict::Satisfied
    );
    let report = run(&model("2147483647"), "E<> P.b");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.reason_text().starts_with("unsupported"));
}

#[test]
fn two_hundred_clocks() {
    let model = "clock x[200]; process P() { state a, b; init a; trans a -> a { select i : int[0,3]; guard x[i] > 2; \
                 assign x[i] = 0; }, a -> b { guard x[199] >= 4; }; } system P;";
    assert_eq!(run(model, "E<> P.b").verdict, Verdict::Satisfied);
}

const COUNTER: &str = "int[0,1000000] n; int[0,1000] m; clock x; process P() { state a; init a; trans \
                       a -> a { assign n = (n + 7) % 1000000; }, a -> a { assign m = (m + 1) % 1000; }; } system P;";

#[test]
fn limits_give_unknown_with_what_was_seen() {
    let cases = [
        (
            Options {
                states: Some(1000),
                ..Options::default()
            },
            "states",
        ),
        (
            Options {
                memory: Some(1 << 20),
                ..Options::default()
            },
            "memory",
        ),
        (
            Options {
                timeout: Some(0.2),
                ..Options::default()
            },
            "timeout",
        ),
    ];
    for (options, word) in cases {
        let report = xta(COUNTER).verify("A[] n >= 0", &options);
        assert_eq!(report.verdict, Verdict::Unknown, "{word}");
        assert!(report.reason_text().starts_with(word), "{word}");
        assert!(report.statistics.explored > 0);
    }
}

#[test]
fn cancelling_stops_at_once_and_progress_is_rare() {
    let model = xta(COUNTER);
    let query = model.query("A[] n >= 0").expect("a query");
    let cancelled = AtomicBool::new(false);
    let reports = std::sync::Mutex::new(0u32);
    let progress =
        |_: &zonelens_analysis::report::Progress| *reports.lock().expect("not poisoned") += 1;
    let control = Control {
        cancelled: &cancelled,
        progress: &progress,
    };
    let position = |_| Position::default();
    let (report, late) = std::thread::scope(|scope| {
        let cancelled = &cancelled;
        let killer = scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(550));
            cancelled.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let report = verify(
            &model.network,
            &query,
            &Options::default(),
            &position,
            &control,
        );
        let end = Instant::now();
        (
            report,
            end.saturating_duration_since(killer.join().expect("no panic")),
        )
    });
    assert!(report.reason_text().starts_with("cancelled"));
    assert!(late < Duration::from_millis(200), "{late:?}");
    let count = *reports.lock().expect("not poisoned");
    assert!((1..=6).contains(&count), "{count} reports");
}

#[test]
fn simulation_is_reproducible() {
    let model = xta(&looping("int[0,9] n;", "assign n = (n + 1) % 10;"));
    let options = SimulateOptions {
        steps: 30,
        seed: 7,
        guide: vec![0, 0],
    };
    let position = |_| Position::default();
    let first = simulate(&model.network, &options, &position);
    assert_eq!(first, simulate(&model.network, &options, &position));
    assert_eq!((first.0.steps.len(), first.1), (31, Ended::Steps));
    let other = SimulateOptions { seed: 8, ..options };
    assert_ne!(first.0, simulate(&model.network, &other, &position).0);
}

#[test]
fn bounds_of_clocks_and_integers() {
    let model = "int[0,9] n; clock x, y; process P() { state a { x <= 7 }, b { y < 5 }, c; init a; trans a -> b { guard \
                 x >= 3; assign y = 0, n = 4; }, b -> c { }; } system P;";
    let loaded = xta(model);
    let off = Options {
        symmetry: SymmetryOption::Off,
        ..Options::default()
    };
    let value = |query: &str| {
        loaded
            .verify(query, &off)
            .value
            .unwrap_or_else(|| panic!("{query}"))
    };
    assert_eq!(value("sup{P.a}: x").upper, Some(7));
    let in_b = value("sup{P.b}: y");
    assert_eq!((in_b.upper, in_b.upper_strict), (Some(5), true));
    assert_eq!(value("inf{P.b}: x").lower, Some(3));
    assert_eq!(value("sup{P.b}: x").upper, Some(12));
    assert_eq!(value("sup: y").upper, None);
    assert_eq!(
        (value("sup: n").upper, value("inf: n").lower),
        (Some(4), Some(0))
    );
}

/// Each of five receivers has 25 ways to take part, and may stay out: twelve million steps.
#[test]
fn a_state_with_more_steps_than_can_be_listed() {
    let model = "typedef int[0,4] id; clock x; broadcast chan b; int[0,4] v; \
         process P(const id i) { state A, B; init A; trans \
         A -> B { select a : id, c : id; guard x >= 1; sync b?; assign v = a; }; } \
         process S() { state A; init A; trans A -> A { sync b!; }; } system P, S;";
    let report = run(model, "E<> v == 7");
    assert_eq!(report.verdict, Verdict::Unknown);
    let reason = report.reason_text();
    assert!(reason.contains("millions of steps"), "{reason}");
    let wide = "int[0,9] v; process P() { state A; init A; trans \
         A -> A { select a : int[0,99999], b : int[0,99999]; guard a + b < 0; }; } system P;";
    let report = run(wide, "A[] v == 0");
    assert_eq!(report.verdict, Verdict::Unknown, "{:?}", report.reason);
}

/// The steps of one state can be more than all states of other models.
#[test]
fn limits_hold_amid_the_steps_of_one_state() {
    let model = "broadcast chan c; clock x; typedef int[1,2] id; \
         process P(const id i) { state S; init S; trans S -> S { select a : int[0,99], b : int[0,9]; sync c?; }; } \
         process Q() { state S; init S; trans S -> S { sync c!; assign x = 0; }; } system P, Q;";
    for threads in [1, 2] {
        let options = Options {
            symmetry: SymmetryOption::Off,
            timeout: Some(0.02),
            threads,
            ..Options::default()
        };
        let report = xta(model).verify("E<> x < 0", &options);
        assert_eq!(report.verdict, Verdict::Unknown, "{threads} threads");
        let reason = report.reason_text();
        assert!(reason.starts_with("timeout"), "{threads} threads: {reason}");
    }
}

/// If a committed location must be left first, the ways to receive a broadcast are not counted.
#[test]
fn broadcasts_that_must_wait_are_not_combined() {
    let model = "bool over; broadcast chan c; typedef int[1,8] id; \
         process P(const id i) { state S; init S; trans S -> S { select a : int[0,99]; sync c?; }; } \
         process Q() { state S, T; init S; trans S -> T { guard !over; sync c!; }; } \
         process C() { state A, B; commit A; init A; trans A -> B { assign over = true; }; } system P, Q, C;";
    let report = run(model, "A[] Q.S");
    assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
}
