//! Errors of the model: reported exactly if a run reaches them, with the place, the variable, the
//! value and the run.

use crate::common;

use common::{Loaded, Verify, xta};
use zonelens_analysis::report::{
    AbstractionOption, Options, QueryReport, SearchOrder, SymmetryOption, TraceOption, Verdict,
};

/// The configurations that must agree.
fn ways() -> Vec<Options> {
    let with = |search, threads, first_turn| Options {
        search,
        threads,
        first_turn,
        ..Options::default()
    };
    vec![
        with(SearchOrder::Bfs, 1, None),
        with(SearchOrder::Dfs, 1, None),
        with(SearchOrder::Bfs, 2, None),
        with(SearchOrder::Bfs, 1, Some(1)),
        Options {
            abstraction: AbstractionOption::ExtraM,
            ..Options::default()
        },
        Options {
            symmetry: SymmetryOption::Off,
            trace: TraceOption::Shortest,
            ..Options::default()
        },
    ]
}

fn verdicts(model: &Loaded, query: &str, expected: Verdict) -> Vec<QueryReport> {
    let reports = ways().into_iter().map(|options| {
        let report = model.verify(query, &options);
        assert_eq!(
            report.verdict, expected,
            "{query}: {:?}\n{options:?}",
            report.reason
        );
        report
    });
    reports.collect()
}

/// The query fails with this error of the model, and a run of `steps` steps leads to it.
fn fails(model: &Loaded, query: &str, reason: &str, steps: usize) {
    for report in verdicts(model, query, Verdict::Error) {
        assert_eq!(report.reason_text(), reason, "{query}");
        let trace = report.trace.unwrap_or_else(|| panic!("{query}: no run"));
        let taken = trace.steps.iter().filter(|s| s.transition.is_some());
        assert_eq!(taken.count(), steps, "{query}: {trace:?}");
    }
}

#[test]
fn what_process_priorities_block_is_not_evaluated() {
    let model = xta("int[0,1] n; bool d;
        process High() { state a, b; urgent a; init a; trans a -> b { assign d = true; }; }
        process Low() { state c, e; init c; trans c -> e { guard !d; assign n = 5; }; }
        system Low < High;");
    verdicts(&model, "A<> High.b", Verdict::Satisfied);
    verdicts(&model, "E[] !High.b", Verdict::Violated);
    verdicts(&model, "High.a --> High.b", Verdict::Satisfied);
    verdicts(&model, "A[] true", Verdict::Satisfied);
    verdicts(&model, "E<> deadlock && High.b", Verdict::Satisfied);
    verdicts(&model, "A[] not (deadlock && High.a)", Verdict::Satisfied);
}

/// The step that fails is evaluated because it would block another one, but is itself blocked by a
/// third.
#[test]
fn what_is_blocked_blocks_nothing() {
    let model = xta("int[0,2] n;
        broadcast chan c;
        chan priority default < c;
        process T() {
            state a, b, e;
            init a;
            trans a -> b { }, b -> e { }, e -> b { sync c!; assign n = 2; }, e -> a { assign n++; };
        }
        Low = T();
        High = T();
        system Low < High;");
    verdicts(&model, "A[] true", Verdict::Satisfied);
    verdicts(&model, "A[] not deadlock", Verdict::Satisfied);
}

/// The blocking step is enabled only in a part of the zone: elsewhere the other step is taken, and
/// fails.
#[test]
fn blocked_in_a_part_of_the_zone() {
    let model = |from: &str| {
        xta(&format!(
            "int[0,1] n; clock x;
            process High() {{ state a {{ x <= 3 }}, b; init a; trans a -> b {{ guard x {from} 1; }}; }}
            process Low() {{ state c, e; init c; trans c -> e {{ guard x >= 1; assign n = 2; }}; }}
            system Low < High;"
        ))
    };
    // Low's step is possible from 1 on, as High's is; once High has moved, it fails.
    let reason = "model-error: line 3, column 85: the value 2 does not fit the range [0, 1] of `n`";
    for query in ["A[] true", "A[] not deadlock"] {
        fails(&model(">="), query, reason, 1);
        // At 1 nothing blocks it.
        fails(&model(">"), query, reason, 0);
    }
}

/// `deadlock` also evaluates steps of lower priority where those of higher priority are not
/// enabled.
#[test]
fn deadlock_looks_at_what_is_left() {
    let model = xta("int[0,1] n; clock x; bool there, done;
        process High() {
            state w { x <= 5 }, a, b;
            urgent a;
            init w;
            trans w -> a { assign there = true; }, a -> b { guard x >= 1; assign done = true; };
        }
        process Low() { state c, e; init c; trans c -> e { guard there && !done && x >= 2; assign n = 5; }; }
        system Low < High;");
    verdicts(&model, "E<> deadlock && there && !done", Verdict::Satisfied);
    let query = "A[] not (deadlock && there && !done && x >= 1)";
    verdicts(&model, query, Verdict::Satisfied);
    verdicts(&model, "there --> done", Verdict::Violated);
    verdicts(&model, "(there && x >= 1) --> done", Verdict::Satisfied);
}

#[test]
fn committed_locations_block_what_fails() {
    let model = xta("int[0,1] n; int[0,3] k; bool d; chan c;
        process P() { state a, b; commit a; init a; trans a -> b { assign d = true; }; }
        process Q() {
            state a, b;
            init a;
            trans a -> b { guard d; }, a -> a { guard !d; assign n = 2; }, a -> a { guard !d && 1 / n == 1; };
        }
        process R() { state a; init a; trans a -> a { guard 7 / k == 1; sync c?; }; }
        system P, Q, R;");
    verdicts(&model, "A<> Q.b", Verdict::Violated);
    verdicts(&model, "E<> Q.b", Verdict::Satisfied);
    verdicts(&model, "A[] not deadlock || Q.b", Verdict::Satisfied);
}

/// A step after the moment at which an urgent synchronisation stops time.
#[test]
fn what_urgency_keeps_away_is_not_evaluated() {
    let model = xta("int[0,1] n; clock x; urgent chan u;
        process P() {
            state a, b;
            init a;
            trans a -> b { guard x >= 2; sync u!; }, a -> b { guard x >= 3; assign n = 2; };
        }
        process Q() { state a; init a; trans a -> a { sync u?; }; }
        system P, Q;");
    verdicts(&model, "A[] not deadlock || P.b", Verdict::Satisfied);
    verdicts(&model, "A<> P.b", Verdict::Satisfied);
}

#[test]
fn errors_beside_clock_differences() {
    let model = xta("int[0,2] n; clock x;
        process T() {
            clock z;
            state a, b;
            init a;
            trans a -> b { assign z = 0; }, b -> b { guard z - x == 0; assign n = 3; };
        }
        system T;");
    // Where z is less than x, nothing is possible; where they are equal, the model fails. The one
    // that is found first counts.
    for options in ways() {
        let report = model.verify("A[] !(deadlock)", &options);
        match report.verdict {
            Verdict::Violated => {
                let trace = report.trace.expect("a counterexample");
                let last = trace.steps.last().expect("a state");
                assert_ne!(last.state.clocks["x"], last.state.clocks["T.z"]);
            }
            Verdict::Error => assert!(report.reason_text().starts_with("model-error: line 6"),),
            _ => panic!("{:?} {:?}", report.verdict, report.reason),
        }
    }
    let reason = "model-error: line 6, column 79: the value 3 does not fit the range [0, 2] of `n`";
    fails(&model, "A[] true", reason, 1);
}

#[test]
fn a_guard_fails_only_where_its_clocks_allow_the_edge() {
    // The order of the integer part and the clock part makes no difference.
    for guard in ["x > 1 && 1 / n == 1", "1 / n == 1 && x > 1"] {
        let model = xta(&format!(
            "int[0,2] n; clock x;
            process T() {{ state a, b {{ x <= 1 }}; init b; trans b -> b {{ guard {guard}; }}, b -> a {{ assign n = 1; }}; }}
            system T;"
        ));
        verdicts(&model, "A[] n <= 1", Verdict::Satisfied);
        let report = &verdicts(&model, "E<> T.a && x > 3", Verdict::Satisfied)[0];
        assert!(report.trace.is_some());
        verdicts(&model, "A<> T.a", Verdict::Satisfied);
    }
}

#[test]
fn liveness_and_deadlock_errors_are_those_of_the_model() {
    let model = xta("int[0,5] counter;
        process P() {
            state A;
            urgent A;
            init A;
            trans A -> A { assign counter = counter + 1; };
        }
        system P;");
    let reason =
        "model-error: line 6, column 35: the value 6 does not fit the range [0, 5] of `counter`";
    for query in [
        "A[] not deadlock",
        "A[] counter < 7",
        "E<> deadlock",
        "A<> counter == 7",
        "E[] counter < 7",
        "counter == 1 --> counter == 7",
        "sup{deadlock}: counter",
    ] {
        fails(&model, query, reason, 5);
    }
}

#[test]
fn an_argument_is_reported_where_it_stands() {
    let model = xta("int[0,9] v = 7;
int f(const int[0,5] a, const int[0,5] b) { return a + b; }
process P() {
    state A;
    init A;
    trans A -> A { assign v = f(1,
        v); };
}
system P;");
    let reason = "model-error: line 7, column 9: the value 7 does not fit the range [0, 5] of the parameter that it is passed for";
    fails(&model, "A[] true", reason, 0);
    let constant = xta("int[0,9] v;
int f(const int[0,5] a) { return a; }
process P() { state A; init A; trans A -> A {
    assign v = f(8); }; }
system P;");
    let report = constant.verify("A[] true", &Options::default());
    let reason = report.reason_text();
    assert!(
        reason.starts_with("model-error: line 4, column 18: the value 8"),
        "{reason}"
    );
}

#[test]
fn an_index_names_what_is_indexed() {
    let model = xta("int[0,9] v = 4; int w[3];
process P() { state A; init A; trans A -> A { assign w[v] = 1; }; }
system P;");
    let reason = "model-error: line 2, column 56: the index 4 is outside [0, 2] of `w`";
    fails(&model, "A[] true", reason, 0);
}

/// A detected set with an identifier that nothing writes.
#[test]
fn an_identifier_that_nothing_writes() {
    let model = xta("typedef int[0,1] S;
        bool sb[S];
        S sv;
        clock cx[S];
        process T(const S id) {
            state l0, l1 { cx[sv] <= 0 }, l2, l3;
            init l0;
            trans l0 -> l3 { select j : S; assign sb[j] = true, cx[id] = 0; };
        }
        system T;");
    verdicts(&model, "A[] !sb[sv]", Verdict::Violated);
    verdicts(&model, "E<> sb[sv]", Verdict::Satisfied);
    verdicts(&model, "A<> sb[sv]", Verdict::Violated);
}

#[test]
fn simulations_name_place_and_value() {
    let model = xta("int[0,1] n;
process P() { state A; init A; trans A -> A {
    assign n = n + 1; }; }
system P;");
    let position = |span| model.position(span);
    let options = zonelens_interpreter::SimulateOptions::default();
    let (trace, ended) = zonelens_interpreter::simulate(&model.network, &options, &position);
    assert_eq!(trace.steps.len(), 2);
    assert_eq!(
        ended.to_string(),
        "the model fails here: line 3, column 12: the value 2 does not fit the range [0, 1] of `n`"
    );
}

const CYCLE: &str = "const int L = 200000;
    process P() {
        clock y, z;
        state L1 { y <= 2 }, L2 { y <= 4 }, L3 { y <= 5 }, finished;
        init L1;
        trans L1 -> L2 { assign y = 0; }, L2 -> L3 { guard y >= 1; },
            L3 -> L1 { guard y >= 3; assign y = 0; }, L1 -> finished { guard z > L; };
    }
    system P;";

/// The last condition of a long run changes the times of all steps before it. If each round changed
/// only one step, this would not end within the limit.
#[test]
fn long_runs_are_built() {
    let options = Options {
        timeout: Some(100.0),
        ..Options::default()
    };
    let report = xta(CYCLE).verify("E<> P.finished", &options);
    assert_eq!(report.verdict, Verdict::Satisfied);
    let trace = report
        .trace
        .unwrap_or_else(|| panic!("{:?}", report.reason));
    assert!(trace.steps.len() > 80_000, "{}", trace.steps.len());
}

/// If a run is cancelled while its trace is built, the verdict is still returned.
#[test]
fn the_building_of_a_trace_can_be_stopped() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let text = CYCLE.replace("200000", "2000");
    let model = xta(&text);
    let query = model.query("E<> P.finished").expect("a query");
    let cancelled = AtomicBool::new(false);
    // The places of edges are requested while a run is replayed, and not before.
    let position = |_: zonelens_syntax::span::Span| {
        cancelled.store(true, Ordering::Relaxed);
        zonelens_analysis::network::Position::default()
    };
    let control = zonelens_checker::Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let options = Options::default();
    let report = zonelens_checker::verify(&model.network, &query, &options, &position, &control);
    assert_eq!(report.verdict, Verdict::Satisfied);
    assert_eq!(report.trace, None);
    let reason = report.reason_text();
    assert!(
        reason.starts_with("cancelled: the verdict is valid"),
        "{reason}"
    );
}

/// The search for runs starts after time has passed and does not evaluate the guard that fails at
/// the beginning; the run to the error that it finds must avoid that guard too.
#[test]
fn runs_to_errors_pass_beside_guards_that_fail() {
    let model = xta(
        "clock x; int[0,2] v; process P() { state a { x <= 1 }; init a; trans \
         a -> a { assign v = v + 2; }, a -> a { guard x == 0 && 1 / v == 1; }; } system P;",
    );
    let report = model.verify("v != 1 --> x < 1", &Options::default());
    let reason = report.reason_text();
    assert!(reason.starts_with("model-error: "), "{reason}");
    assert!(report.trace.is_some());
}
