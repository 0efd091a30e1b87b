//! Shortest and fastest traces, lassos.

use crate::common;

use common::{Verify, xta};
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, SearchOrder, Trace, TraceKind, TraceOption, Verdict};
use zonelens_interpreter::{Ended, SimulateOptions, replay_trace, simulate};

/// Two ways to `c`: one step after 10, or three steps in more than 4.
const MODEL: &str = "clock x; process P() { state a, b { x <= 2 }, d { x <= 3 }, c; init a; trans \
                     a -> c { guard x >= 10; }, a -> b { assign x = 0; }, b -> d { guard x >= 2; assign x = 0; }, \
                     d -> c { guard x > 2; }, c -> a { assign x = 0; }; } system P;";

fn total(trace: &Trace) -> f64 {
    let value = |text: &str| match text.split_once('/') {
        Some((n, d)) => n.parse::<f64>().expect("a number") / d.parse::<f64>().expect("a number"),
        None => text.parse().expect("a number"),
    };
    trace.steps.iter().map(|s| value(&s.delay)).sum()
}

fn trace(option: TraceOption, search: SearchOrder) -> Trace {
    let options = Options {
        trace: option,
        search,
        ..Options::default()
    };
    xta(MODEL)
        .verify("E<> P.c", &options)
        .trace
        .expect("a trace")
}

#[test]
fn shortest_has_the_fewest_steps() {
    for search in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Random] {
        assert_eq!(trace(TraceOption::Shortest, search).steps.len(), 2);
    }
}

#[test]
fn fastest_takes_the_least_time() {
    for search in [SearchOrder::Bfs, SearchOrder::Dfs] {
        let trace = trace(TraceOption::Fastest, search);
        assert_eq!(trace.steps.len(), 4);
        assert!(
            total(&trace) > 4.0 && total(&trace) <= 5.0,
            "{}",
            total(&trace)
        );
    }
}

/// The time of the fastest runs: the infimum, and whether it is reached.
fn least_time(model: &str, query: &str, options: &Options) -> (i64, bool, f64) {
    let options = Options {
        trace: TraceOption::Fastest,
        ..options.clone()
    };
    let report = xta(model).verify(query, &options);
    let least = report.least_time.expect("a least time");
    let time = total(&report.trace.expect("a trace"));
    (least.infimum, least.reached, time)
}

/// The goal has several parts, and the part that is found first is not the one that is reached
/// first.
#[test]
fn fastest_is_the_least_over_all_parts_of_the_condition() {
    let model = "clock x; process P() { state a; init a; } system P;";
    for (query, least) in [
        ("E<> x >= 5 || x <= 0", 0),
        ("E<> x >= 7 && x <= 9 || x >= 5 || x == 2", 2),
        ("A[] x < 7 && x > 9", 0),
        ("E<> deadlock && x >= 3", 3),
        ("E<> x >= 9 || deadlock && x >= 3 || x == 1", 1),
    ] {
        for search in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Random] {
            let options = Options {
                search,
                ..Options::default()
            };
            let found = least_time(model, query, &options);
            assert_eq!(found, (least, true, least as f64), "{query}");
        }
    }
}

/// The steps that are found first are slow, and each improvement is only one time unit.
#[test]
fn fastest_is_found_among_very_many_ways() {
    let model = "clock x, y; int[0,200] n; process P() { state a, b; init a; trans \
                 a -> a { guard n < 200 && x == 1; assign n = n + 1, x = 0; }, a -> b { guard y >= 190 - n; }; } system P;";
    for search in [SearchOrder::Bfs, SearchOrder::Dfs] {
        let options = Options {
            search,
            ..Options::default()
        };
        assert_eq!(least_time(model, "E<> P.b", &options), (95, true, 95.0));
    }
}

#[test]
fn a_least_time_that_no_run_takes_is_named() {
    let model = "clock x; process P() { state a, b, c; init a; trans a -> b { guard x > 1; assign x = 0; }, \
                 b -> c { guard x >= 2; }; } system P;";
    let (infimum, reached, time) = least_time(model, "E<> P.b", &Options::default());
    assert_eq!((infimum, reached), (1, false));
    assert!(time > 1.0 && time < 2.0, "{time}");
    let (infimum, reached, time) = least_time(model, "E<> P.c", &Options::default());
    assert_eq!((infimum, reached), (3, false));
    assert!(time > 3.0 && time < 4.0, "{time}");
    let found = least_time(model, "A[] !(P.a && x >= 3)", &Options::default());
    assert_eq!(found, (3, true, 3.0));
}

#[test]
fn a_lasso_returns_to_its_start() {
    let model = "clock x; process P() { state a { x <= 2 }, b { x <= 2 }, c; init a; trans a -> b { guard x >= 1; \
                 assign x = 0; }, b -> a { guard x > 1; assign x = 0; }, b -> c { guard x >= 2; }; } system P;";
    let report = xta(model).verify("A<> P.c", &Options::default());
    assert_eq!(report.verdict, Verdict::Violated);
    let trace = report.trace.expect("a lasso");
    assert_eq!(trace.kind, TraceKind::Lasso);
    let start = trace.cycle_start.expect("a cycle");
    let locations = |k: usize| &trace.steps[k].state.locations;
    assert_eq!(locations(start), locations(trace.steps.len() - 1));
}

#[test]
fn leads_to_and_its_counterexample() {
    let model = xta(MODEL);
    assert_eq!(
        model.verify("P.b --> P.d", &Options::default()).verdict,
        Verdict::Satisfied
    );
    let report = model.verify("P.c --> P.a", &Options::default());
    assert_eq!(report.verdict, Verdict::Violated);
    assert!(report.trace.is_some());
}

/// The condition that a run must avoid is not convex, so the run may be in one of two pieces in
/// each of sixty states; the combinations are not enumerated.
#[test]
fn long_runs_through_pieces_have_a_trace() {
    let model = common::xta(
        "clock x, y; int[0,60] n; process P() { state a { x <= 3 }; init a; trans \
         a -> a { guard n < 60; assign x = 0, n = n + 1; }, a -> a { guard n == 60; assign x = 0; }; } system P;",
    );
    let report = model.verify("A<> x > 1 && y < 5", &Options::default());
    assert_eq!(report.verdict, Verdict::Violated, "{:?}", report.reason);
    assert!(report.trace.is_some_and(|trace| trace.steps.len() > 60));
}

/// A broadcast that forty receivers can receive in 2^40 ways; `busy` is the target of the second
/// edge.
fn crowd(busy: &str, priority: &str) -> String {
    format!(
        "broadcast chan go; {priority}
         process S() {{ state s; init s; trans s -> s {{ sync go!; }}; }}
         process R(const int[0,39] i) {{
             state idle, busy{busy}; init idle;
             trans idle -> idle {{ sync go?; }}, idle -> busy {{ sync go?; }}, busy -> idle {{ sync go?; }};
         }}
         system S, R;"
    )
}

#[test]
fn a_broadcast_with_very_many_ways_to_be_received() {
    for priority in ["", "chan calm; chan priority calm < go;"] {
        let network = xta(&crowd("", priority)).network;
        let run = |seed| {
            let options = SimulateOptions {
                seed,
                steps: 6,
                ..SimulateOptions::default()
            };
            simulate(&network, &options, &|_| Position::default())
        };
        let (trace, ended) = run(3);
        assert_eq!((trace.steps.len(), ended), (7, Ended::Steps));
        let busy = trace.steps[1].state.locations.values();
        let busy = busy.filter(|l| *l == "busy").count();
        assert!((1..40).contains(&busy), "each decides for itself: {busy}");
        assert_eq!(run(3).0, trace, "the seed decides");
        assert_ne!(run(4).0, trace);
        let replayed = replay_trace(&network, &trace, &|_| Position::default());
        assert_eq!(replayed.as_ref(), Ok(&trace));
    }
}

#[test]
fn very_many_ways_none_of_which_is_possible() {
    // An invariant forbids every target of a receiver.
    let text = crowd(" { false }", "").replace("idle -> idle", "idle -> busy");
    let options = SimulateOptions::default();
    let (_, ended) = simulate(&xta(&text).network, &options, &|_| Position::default());
    let Ended::Failed(message) = ended else {
        panic!("{ended:?}");
    };
    assert!(message.contains("too many ways to try all"), "{message}");
}

/// As soon as `x > 1` a step is urgent, so time does not pass beyond: `x` stays at 1 for ever.
/// Verification and simulation must agree on this, and on the moment at which a step can become
/// urgent without having been urgent before.
#[test]
fn time_does_not_pass_into_what_is_urgent_all_along() {
    for (op, verdict, end) in [
        (">", Verdict::Violated, Ended::Timelock),
        (">=", Verdict::Satisfied, Ended::Idle),
    ] {
        let model = xta(&format!(
            "clock x; urgent broadcast chan u; process P() {{ state a, b; init a; trans a -> b {{ guard x {op} 1; \
             sync u!; }}; }} system P;"
        ));
        let report = model.verify("E<> P.b", &Options::default());
        assert_eq!(report.verdict, verdict, "{op}: {:?}", report.reason);
        let (trace, ended) = simulate(&model.network, &SimulateOptions::default(), &|_| {
            Position::default()
        });
        assert_eq!(ended, end, "{op}: {trace:?}");
        assert_eq!(total(&trace), if op == ">" { 0.0 } else { 1.0 });
    }
}
