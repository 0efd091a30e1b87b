//! Searches over convex hulls: a state that they do not find is not reachable.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{AbstractionOption, Options, TraceOption, Verdict};

/// In `l1`, x is first 1 or 3, so that the hull contains 2 before a longer path reaches it.
const BETWEEN: &str = "clock x, y; process P() { state l0 { x <= 0 }, a { x <= 1 }, b { x <= 3 }, c { x <= 2 }, c2 { x <= 2 }, \
     l1; urgent l1; init l0; trans l0 -> a { }, l0 -> b { }, l0 -> c { }, a -> l1 { guard x == 1; }, \
     b -> l1 { guard x == 3; }, c -> c2 { guard x == 2; }, c2 -> l1 { }; } system P;";

#[test]
fn a_zone_inside_a_hull_is_looked_at() {
    let loaded = common::xta(BETWEEN);
    let (found, absent) = ("E<> P.l1 && x == 2", "E<> P.l1 && x > 3");
    for threads in [1, 2] {
        let options = Options {
            abstraction: AbstractionOption::ConvexHull,
            threads,
            ..Options::default()
        };
        assert_eq!(loaded.verify(found, &options).verdict, Verdict::Unknown);
        assert_eq!(loaded.verify(absent, &options).verdict, Verdict::Violated);
    }
    for first_turn in 1..12 {
        let options = Options {
            first_turn: Some(first_turn),
            ..Options::default()
        };
        assert_eq!(loaded.verify(found, &options).verdict, Verdict::Satisfied);
        assert_eq!(loaded.verify(absent, &options).verdict, Verdict::Violated);
    }
}

/// If P0 is in `l1`, an urgent synchronisation stops time only for x0 <= 1: with a greater x0 a run
/// may wait for ever, though the hull contains both.
#[test]
fn a_run_may_wait_in_a_part_of_a_hull() {
    let model = "clock x0, x1; int[0,2] v0; urgent chan c0, c1; process P0() { state l0 { x0 <= 2 }, l1; init l0; trans \
         l0 -> l1 { select s : int[0,1]; assign x1 = 1; }, l1 -> l0 { sync c1?; assign v0 = 1; }, \
         l0 -> l1 { guard v0 == 0; sync c0?; assign v0 = 2; }; } \
         process P1() { state l0, l1 { x1 <= 1 }; init l0; trans \
         l0 -> l1 { guard x1 >= 1 && x0 <= 1; sync c1!; }, l1 -> l1 { select s : int[0,1]; assign v0 = (2 + s) % 3; }, \
         l0 -> l0 { guard v0 != 1; sync c1!; }, l1 -> l1 { guard x0 > 2 && v0 == 2; }, \
         l0 -> l1 { assign x0 = 0, x1 = 0; }; } system P0, P1;";
    for first_turn in 1..12 {
        let options = Options {
            first_turn: Some(first_turn),
            ..Options::default()
        };
        let report = common::xta(model).verify("A<> !(P1.l0)", &options);
        assert_eq!(report.verdict, Verdict::Violated, "{:?}", report.reductions);
    }
}

/// With x = 10, y is 10 or 14; the hull contains 12, where the division fails.
#[test]
fn an_error_only_inside_a_hull_is_none() {
    let model = "int n, z; int a[2]; process P() { clock x, y; state S, A, B; init S; trans \
         S -> A { guard x == 0; assign x = 0, y = 0; }, S -> A { guard x == 4; assign x = 0; }, \
         A -> B { guard x == 10 && y == 12; assign n = UPDATE; }; } system P;";
    let division = common::xta(&model.replace("UPDATE", "1 / z"));
    let index = common::xta(&model.replace("UPDATE", "5"));
    for threads in [1, 2] {
        let exact = Options {
            threads,
            ..Options::default()
        };
        let hulls = Options {
            abstraction: AbstractionOption::ConvexHull,
            ..exact.clone()
        };
        for (model, query) in [(&division, "A[] n == 0"), (&index, "A[] a[n] == 0")] {
            assert_eq!(model.verify(query, &exact).verdict, Verdict::Satisfied);
            for trace in [TraceOption::None, TraceOption::Some] {
                let report = model.verify(
                    query,
                    &Options {
                        trace,
                        ..hulls.clone()
                    },
                );
                let reason = report.reason_text();
                assert_eq!(report.verdict, Verdict::Unknown, "{query}");
                assert!(reason.starts_with("approximate: "), "{query}: {reason}");
            }
        }
    }
    let real = common::xta(
        &model
            .replace("y == 12", "y == 14")
            .replace("UPDATE", "1 / z"),
    );
    let hulls = Options {
        abstraction: AbstractionOption::ConvexHull,
        ..Options::default()
    };
    let report = real.verify("A[] n == 0", &hulls);
    assert_eq!(report.verdict, Verdict::Error);
    assert_eq!(report.trace.map(|t| t.steps.len()), Some(3));
}

/// In `S` x is stopped, so there y = x + w; a zone cannot express this relation of three clocks.
#[test]
fn an_error_that_a_stopped_clock_excludes_is_none() {
    let model = common::xta(
        "int n, z; process P() { clock x, y, w; state R { x <= 2 }, S { x' == 0 }, T; init R; trans \
         R -> S { assign w = 0; }, S -> T { guard x == 1 && w == 1 && y == 3; assign n = 1 / z; }; } system P;",
    );
    for trace in [TraceOption::None, TraceOption::Some] {
        let options = Options {
            trace,
            ..Options::default()
        };
        let report = model.verify("A[] n == 0", &options);
        let reason = report.reason_text();
        assert_eq!(report.verdict, Verdict::Unknown, "{reason}");
        assert!(reason.starts_with("approximate: "), "{reason}");
    }
}

/// A rate that is the constant 1 stops nothing, so such a model has no restriction.
#[test]
fn a_clock_of_rate_one_is_an_ordinary_clock() {
    let model = |rate: &str| {
        common::xta(&format!(
            "process P() {{ clock x; state A {{ x <= 3 {rate} }}, B; init A; trans \
             A -> A {{ guard x >= 2; assign x = 0; }}, A -> B {{ guard x == 3; }}; }} system P;"
        ))
    };
    for query in [
        "A[] not deadlock",
        "E<> P.B && P.x > 3",
        "A<> P.B",
        "sup{P.A}: P.x",
    ] {
        let plain = model("").verify(query, &Options::default());
        let one = model("&& x' == 1").verify(query, &Options::default());
        assert_eq!(one.verdict, plain.verdict, "{query}: {:?}", one.reason);
        assert_eq!(one.value, plain.value, "{query}");
        assert_eq!(one.statistics.stored, plain.statistics.stored, "{query}");
        let stopped = model("&& x' == 0").verify(query, &Options::default());
        assert_ne!(stopped.verdict, plain.verdict, "{query}");
    }
}
