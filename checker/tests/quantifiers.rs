//! Quantifiers whose bodies have parts that do not depend on the variable: those are evaluated only
//! for the first value.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{Options, Verdict};

const MODEL: &str = "int[0,2] a[3]; bool b, c; clock x[3], y; int z; process P() { state S; init S; trans \
     S -> S { select i : int[0,2]; guard a[i] < 2; assign a[i]++, x[i] = 0; }, S -> S { assign b = !b, y = 0; }, \
     S -> S { assign c = !c; }; } system P;";

/// Each form of a condition, and the same condition with nothing to skip.
#[test]
fn passing_over_parts_changes_nothing() {
    let same = [
        (
            "forall (i : int[0,2]) a[i] > 0 && b && forall (j : int[0,2]) a[j] < 2 && c",
            "a[0] == 1 && a[1] == 1 && a[2] == 1 && b && c",
        ),
        (
            "exists (i : int[0,2]) a[i] == 2 || b || exists (j : int[0,2]) a[j] == 1 || c",
            "a[0] > 0 || a[1] > 0 || a[2] > 0 || b || c",
        ),
        ("forall (i : int[0,2]) b && c", "b && c"),
        ("exists (i : int[0,2]) b || c", "b || c"),
        (
            "forall (i : int[0,2]) x[i] < 5 && y > 3 && b",
            "x[0] < 5 && x[1] < 5 && x[2] < 5 && y > 3 && b",
        ),
        (
            "exists (i : int[0,2]) x[i] < 2 || y > 3 || b",
            "x[0] < 2 || x[1] < 2 || x[2] < 2 || y > 3 || b",
        ),
        (
            "forall (i : int[0,2]) x[i] < 5 && forall (i : int[0,1]) x[i] > 1 && a[i] > 0 && y < 4",
            "x[2] < 5 && x[0] < 5 && x[1] < 5 && x[0] > 1 && x[1] > 1 && a[0] > 0 && a[1] > 0 && y < 4",
        ),
    ];
    let loaded = common::xta(MODEL);
    let ask = |query: &str| loaded.verify(query, &Options::default()).verdict;
    for (quantified, plain) in same {
        assert_eq!(
            ask(&format!("A[] ({quantified}) == ({plain})")),
            Verdict::Satisfied,
            "{quantified}"
        );
        assert_eq!(
            ask(&format!("E<> ({quantified})")),
            Verdict::Satisfied,
            "{quantified}"
        );
        assert_eq!(
            ask(&format!("E<> not ({quantified})")),
            Verdict::Satisfied,
            "{quantified}"
        );
    }
}

/// For the first value everything is evaluated, so an evaluation error is found even if a later
/// value would decide.
#[test]
fn errors_of_evaluation_are_met_as_before() {
    let loaded = common::xta(MODEL);
    let ask = |query: &str| loaded.verify(query, &Options::default()).verdict;
    assert_eq!(
        ask("E<> forall (i : int[0,2]) i == 0 && 1 / z == 0"),
        Verdict::Error
    );
    assert_eq!(
        ask("E<> forall (i : int[0,2]) i == 1 && 1 / z == 0"),
        Verdict::Violated
    );
    assert_eq!(
        ask("A[] exists (i : int[0,2]) i == 2 || 1 / z == 0"),
        Verdict::Error
    );
}

/// Invariants and guards are evaluated in the same way.
#[test]
fn joined_quantifiers_in_labels() {
    let model = "const int N = 4; bool on[N]; clock x[N], t; process P() { state S { forall (i : int[0,N-1]) (on[i] imply \
         x[i] <= 2) and forall (i : int[0,N-1]) ((not on[i]) imply t <= 10 + i) }, T; init S; trans \
         S -> S { select i : int[0,N-1]; guard not on[i]; assign on[i] = true, x[i] = 0; }, \
         S -> T { guard forall (i : int[0,N-1]) on[i] and forall (i : int[0,N-1]) x[i] >= 1; }; } system P;";
    let loaded = common::xta(model);
    let ask = |query: &str| loaded.verify(query, &Options::default()).verdict;
    assert_eq!(ask("E<> P.T && t == 11"), Verdict::Satisfied);
    assert_eq!(ask("E<> P.T && x[1] < 1"), Verdict::Violated);
    assert_eq!(ask("A[] P.S imply t <= 12"), Verdict::Satisfied);
    assert_eq!(ask("A[] P.S imply t <= 11"), Verdict::Violated);
}
