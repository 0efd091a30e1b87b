//! `switch`: cases, falling through, `default` at the end, `break`.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{Options, Verdict};

fn model(cases: &str) -> common::Loaded {
    common::xta(&format!(
        "int[0,9] v; int[0,99] r; void f() {{ int k; r = 0; for (k = 0; k < 1; k++) {{ switch (v) {{ {cases} }} r = r + 50; }} }} \
         process P() {{ state A; init A; trans A -> A {{ select i : int[0,9]; assign v = i, f(); }}; }} system P;"
    ))
}

#[track_caller]
fn holds(cases: &str, query: &str) {
    let verdict = model(cases).verify(query, &Options::default()).verdict;
    assert_eq!(verdict, Verdict::Satisfied, "{cases}: {query}");
}

#[test]
fn cases_run_as_written() {
    let cases = "case 1: r = r + 1; break; case 2: r = r + 2; case 3: r = r + 3; break; default: r = r + 9;";
    holds(
        cases,
        "A[] r == 0 || r == 51 || r == 55 || r == 53 || r == 59",
    );
    holds(cases, "A[] v == 1 imply r == 51");
    holds(cases, "A[] v == 2 imply r == 55");
    holds(cases, "A[] v == 3 imply r == 53");
    holds(cases, "A[] v > 3 imply r == 59");
    holds("case 4: r = 7;", "A[] v == 4 imply r == 57");
    holds("case 4: r = 7;", "A[] v == 5 imply r == 50");
    holds(
        "case 4: { int z = 3; switch (z) { case 3: r = z; break; } r = r + 1; }",
        "A[] v == 4 imply r == 54",
    );
}

#[test]
fn other_forms_are_never_guessed() {
    for cases in ["default: r = 1; case 2: r = 2;", "case 1: continue;"] {
        let report = model(cases).verify("A[] r < 90", &Options::default());
        assert_eq!(report.verdict, Verdict::Unknown, "{cases}");
    }
}
