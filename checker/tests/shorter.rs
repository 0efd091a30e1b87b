//! Traces without detours and lassos that close early, and loops that only look like cycles.

use crate::common;

use common::{Verify, xta};
use zonelens_analysis::report::{Options, SearchOrder, Trace, TraceKind, Verdict};

fn lasso(model: &str, query: &str) -> Trace {
    let report = xta(model).verify(query, &Options::default());
    assert_eq!(report.verdict, Verdict::Violated, "{:?}", report.reason);
    let trace = report.trace.expect("a lasso");
    assert_eq!(trace.kind, TraceKind::Lasso);
    trace
}

/// Zones of `g` differ for a hundred rounds, but the query does not depend on them.
#[test]
fn a_clock_that_grows_does_not_make_a_lasso_long() {
    let model = "clock t, g; process P() { state A { t <= 1 }, B; init A; trans A -> A { guard t >= 1; assign t = 0; }, \
         A -> B { guard g >= 100 && t == 0; }; } system P;";
    for query in ["A<> P.B", "P.A --> P.B", "A<> g > 200 && P.B"] {
        let trace = lasso(model, query);
        assert_eq!(
            (trace.steps.len(), trace.cycle_start),
            (2, Some(0)),
            "{query}"
        );
    }
}

/// In `A` the loop returns to the same discrete state ten times and then no more; the cycle is in
/// `B`.
#[test]
fn a_loop_that_time_ends_is_no_cycle() {
    let model = "clock t, g; process P() { state A { t <= 1 && g <= 10 }, B { t <= 1 }, C; init A; trans \
         A -> A { guard t >= 1; assign t = 0; }, A -> B { guard g >= 10; assign t = 0; }, \
         B -> B { guard t >= 1; assign t = 0; }, B -> C { guard t > 1; }; } system P;";
    let trace = lasso(model, "A<> P.C");
    let start = trace.cycle_start.expect("a cycle");
    assert_eq!(trace.steps[start].state.locations["P"], "B");
    assert_eq!(trace.steps.len(), start + 2);
}

/// Rounds in `A` can be repeated, but not for ever before `g` has passed 7.
#[test]
fn a_loop_must_keep_its_condition_in_every_round() {
    let model = "clock t, g; process P() { state A { t <= 2 }, B { t <= 2 }; init A; trans \
         A -> A { guard t >= 1; assign t = 0; }, A -> B { guard t >= 1; assign t = 0, g = 0; }, \
         B -> B { guard t >= 2; assign t = 0, g = 0; }; } system P;";
    let trace = lasso(model, "A<> g > 7");
    let start = trace.cycle_start.expect("a cycle");
    assert_eq!(trace.steps[start].state.locations["P"], "B");
}

/// A deep search takes detours before it reaches the goal.
#[test]
fn detours_are_left_out() {
    let model = "int[0,40] n; clock x; process P() { state A { x <= 3 }, B; init A; trans \
         A -> A { guard x >= 1 && n < 40; assign n++, x = 0; }, A -> A { guard x >= 1 && n > 0; assign n--, x = 0; }, \
         A -> B { guard n == 2 && x == 3; }; } system P;";
    for search in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Random] {
        let options = Options {
            search,
            ..Options::default()
        };
        let report = xta(model).verify("E<> P.B", &options);
        let trace = report.trace.expect("a trace");
        assert_eq!(trace.steps.len(), 4, "{search:?}");
    }
}

/// Steps that are needed for time to pass stay: `g` must reach 30, so the rounds cannot be left
/// out.
#[test]
fn rounds_that_time_needs_stay() {
    let model = "clock x, g; process P() { state A { x <= 3 }, B; init A; trans A -> A { guard x >= 1; assign x = 0; }, \
         A -> B { guard g >= 30; }; } system P;";
    for search in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Random] {
        let options = Options {
            search,
            ..Options::default()
        };
        let report = xta(model).verify("E<> P.B", &options);
        // Ten stays of at most 3 each.
        assert!(
            report.trace.expect("a trace").steps.len() >= 11,
            "{search:?}"
        );
    }
}
