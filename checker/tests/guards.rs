//! Parts of guards that fail beside parts that are false: every answer is one that the interpreter
//! confirms, and an error is one where no other part of the guard is false.

use crate::common::{self, Verify};
use zonelens_analysis::report::{Options, Verdict};

/// A process that moves to `t`, where `a[i]` and `c[i]` are out of range, with a further edge.
fn model(edge: &str) -> String {
    format!(
        "clock x, y; int a[2] = {{1, 2}}; int[0,5] i = 0; int n = 0; chan c[2]; \
         process P() {{ state s, t {{ x <= 6 }}, u; init s; trans \
         s -> t {{ guard x >= 1; assign i = 5, n = 3; }}, t -> u {{ {edge} }}, t -> u {{ guard x >= 4; }}; }} \
         process Q() {{ state q {{ y <= 4 }}, r; init q; trans q -> q {{ guard y >= 3; assign y = 0; }}; }} system P, Q;"
    )
}

/// The questions, with the verdict where the edge is never tried.
const QUESTIONS: [(&str, Verdict); 6] = [
    ("E<> P.u", Verdict::Satisfied),
    ("A[] !P.u", Verdict::Violated),
    ("A[] n <= 3", Verdict::Satisfied),
    ("A[] not deadlock", Verdict::Satisfied),
    ("E[] !P.u", Verdict::Satisfied),
    ("P.t --> P.u", Verdict::Satisfied),
];

#[track_caller]
fn is_never_tried(edge: &str) {
    for (query, verdict) in QUESTIONS {
        let report = common::xta(&model(edge)).verify(query, &Options::default());
        assert_eq!(
            report.verdict, verdict,
            "{edge}: {query}: {:?}",
            report.reason
        );
        let shown = matches!((&query[..1], verdict), ("E", Verdict::Satisfied))
            || verdict == Verdict::Violated;
        assert!(!shown || report.trace.is_some(), "{edge}: {query}");
    }
}

/// The error is reported with a run to it, and that run ends in `t` at this time or later.
#[track_caller]
fn fails_from(edge: &str, time: f64) {
    for query in [
        "A[] n <= 3",
        "E<> n == 17",
        "A[] not deadlock",
        "A<> n == 17",
    ] {
        let report = common::xta(&model(edge)).verify(query, &Options::default());
        if query.starts_with("A<>") && report.verdict == Verdict::Violated {
            // A run that stays in `s` is a counterexample, too.
            continue;
        }
        assert_eq!(
            report.verdict,
            Verdict::Error,
            "{edge}: {query}: {:?}",
            report.reason
        );
        let reason = report.reason_text();
        assert!(
            reason.starts_with("model-error"),
            "{edge}: {query}: {reason}"
        );
        let trace = report.trace.expect("a run to the error");
        let last = &trace.steps.last().expect("a state").state;
        let x = &last.clocks["x"];
        let (whole, part) = x.split_once('/').unwrap_or((x, "1"));
        let x: f64 =
            whole.parse::<f64>().expect("a number") / part.parse::<f64>().expect("a number");
        assert!(x >= time, "{edge}: {query}: x = {x}");
    }
}

#[test]
fn a_clock_bound_fails_beside_an_integer_part_that_is_false() {
    is_never_tried("guard x >= a[i] && n < 3;");
    is_never_tried("guard n < 3 && x >= a[i];");
}

#[test]
fn an_integer_part_fails_beside_a_clock_part_that_is_false() {
    is_never_tried("guard x > 6 && a[i] > 0;");
    is_never_tried("guard a[i] > 0 && x > 6;");
}

#[test]
fn a_clock_bound_fails_beside_a_clock_part_that_is_false() {
    is_never_tried("guard x > 6 && y >= a[i];");
    is_never_tried("guard y >= a[i] && x > 6;");
}

#[test]
fn a_channel_fails_beside_a_clock_part_that_is_false() {
    is_never_tried("guard x > 6; sync c[i]!;");
}

#[test]
fn errors_are_those_of_points_where_nothing_else_is_false() {
    fails_from("guard y >= a[i];", 1.0);
    fails_from("guard x >= 5 && y >= a[i];", 5.0);
    fails_from("guard y >= a[i] && x >= 5;", 5.0);
    fails_from("guard a[i] > 0 && x >= 5;", 5.0);
    fails_from("guard x >= 5; sync c[i]!;", 5.0);
}

/// Whether a bound can be computed does not depend on partners.
#[test]
fn a_bound_fails_without_a_partner() {
    fails_from("guard x >= 5 && y >= a[i]; sync c[0]!;", 5.0);
}
