//! Runs for `E[]`, `A<>` and `-->` that must be right to their ends: stuck for good, or repeatable.

use crate::common;

use common::{Verify, xta};
use zonelens_analysis::report::{Options, Reason, Trace, TraceKind, Verdict};

fn run(model: &str, query: &str, verdict: Verdict) -> Trace {
    let report = xta(model).verify(query, &Options::default());
    assert_eq!(report.verdict, verdict, "{query}: {:?}", report.reason);
    report.trace.unwrap_or_else(|| panic!("{query}: no run"))
}

fn clock(trace: &Trace, step: usize, name: &str) -> String {
    trace.steps[step].state.clocks[name].clone()
}

/// At time 0 the edge to `done` would be possible; `late` is left at once or never.
#[test]
fn a_delay_comes_before_the_step_into_a_state_that_is_stuck_only_later() {
    let model = "clock t; process P() { state wait { t <= 1 }, late, done; commit late; init wait; \
                 trans wait -> late { }, late -> done { guard t <= 0; }; } system P;";
    let trace = run(model, "A<> P.done", Verdict::Violated);
    assert_eq!(trace.kind, TraceKind::Path);
    assert_eq!(trace.steps.len(), 2);
    assert_ne!(clock(&trace, 1, "t"), "0");
}

/// Time ends when the clock of the first process is 2, and that of the second must not pass 1
/// before.
#[test]
fn a_run_enters_its_last_state_so_late_that_time_ends_before_the_condition() {
    let model = "process P() { clock z; state a, b { z <= 2 }; init a; trans a -> b { assign z = 0; }; } \
                 P0 = P(); P1 = P(); system P0, P1;";
    let trace = run(model, "E[] P1.z <= 1", Verdict::Satisfied);
    let last = trace.steps.len() - 1;
    let (first, second) = (clock(&trace, last, "P0.z"), clock(&trace, last, "P1.z"));
    let left = |z: &str, most: f64| {
        let (n, d) = z.split_once('/').unwrap_or((z, "1"));
        most - n.parse::<f64>().expect("a number") / d.parse::<f64>().expect("a number")
    };
    assert!(left(&first, 2.0) <= left(&second, 1.0), "{first} {second}");
}

/// The only loop can be taken only at time 0; the other ways to keep the condition need time.
#[test]
fn a_loop_that_takes_no_time_is_shown_without_any() {
    let model = "clock x; \
                 process T() { clock z; state a { z <= 1 }, b; init a; trans a -> b { }; } \
                 process U() { state m { x <= 0 }, n, o; init m; \
                               trans m -> o { }, n -> n { guard x == 0; }, o -> n { }; } \
                 system T, U;";
    let trace = run(model, "E[] (T.z >= 1 || T.a)", Verdict::Satisfied);
    if trace.kind == TraceKind::Lasso {
        assert_eq!(clock(&trace, trace.steps.len() - 1, "x"), "0");
    }
}

/// The clock that is never reset grows by one unit in each round, beyond the constants it is
/// compared with: the loop is shown once.
#[test]
fn a_loop_is_shown_once_while_a_clock_grows_from_round_to_round() {
    let model = "clock x, y; process P() { state a { x <= 1 }, b; init a; trans \
                 a -> a { guard x >= 1; assign x = 0; }, a -> b { guard y >= 1000; }; } system P;";
    for query in [
        "A<> P.b",
        "A<> P.b && y > 0",
        "A<> (P.b || y > 40 && y < 40)",
    ] {
        let trace = run(model, query, Verdict::Violated);
        assert_eq!(trace.kind, TraceKind::Lasso, "{query}");
        assert_eq!(trace.steps.len(), 2, "{query}");
    }
    // A run that avoids the first 40 time units has only the time after 40 left.
    let trace = run(model, "y > 40 --> P.b", Verdict::Violated);
    assert_eq!(trace.kind, TraceKind::Lasso);
}

/// A run must avoid the condition only from the moment at which the obligation starts.
#[test]
fn the_obligation_of_leads_to_may_start_during_a_delay() {
    let model = "clock x, y; process P() { state a { x <= 3 }, b { x <= 3 }; init a; trans a -> b { guard x >= 2; \
                 assign x = 0, y = 0; }, b -> a { guard x >= 1; assign x = 0; }; } system P;";
    // After `P.a && x > 1` a run can avoid `y > 4` by leaving soon.
    let trace = run(model, "P.a && x > 1 --> y > 4", Verdict::Violated);
    assert_eq!(trace.kind, TraceKind::Lasso);
    // One unit passes in `b` before it can be left, and at most three.
    let trace = run(model, "P.a && x == 1 --> P.b && y == 2", Verdict::Violated);
    assert_eq!(trace.kind, TraceKind::Lasso);
}

/// A guard of the initial state fails, and time may pass there for ever: the run waits, and the
/// guard does not matter.
#[test]
fn a_run_may_wait_where_a_guard_fails() {
    let model = "int[0,2] v; process P() { state a; init a; trans a -> a { guard 1 / v == 1; }; } system P;";
    let report = common::xta(model).verify("E[] v == 0", &Options::default());
    let internal = matches!(report.reason, Some(Reason::Internal(_)));
    assert!(!internal, "{:?}", report.reason);
    assert!(report.trace.is_some());
}
