//! Queries that distinguish elements of a detected set, the audit, and the group in the report.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{AbstractionOption, Options, QueryReport, SymmetryOption, Verdict};

fn off() -> Options {
    Options {
        symmetry: SymmetryOption::Off,
        ..Options::default()
    }
}

/// The verdict must be this one with and without reduction.
fn both(model: &str, query: &str, verdict: Verdict) -> QueryReport {
    let model = common::xta(model);
    let (on, off) = (
        model.verify(query, &Options::default()),
        model.verify(query, &off()),
    );
    assert_eq!(off.verdict, verdict, "{query}: {:?}", off.reason);
    assert_eq!(on.verdict, verdict, "{query}: {:?}", on.reason);
    assert_eq!(on.value, off.value, "{query}");
    on
}

const WEIGHTS: &str = "typedef int[0,2] S; const bool w[S] = { false, false, true }; \
     bool last(const S i) { return i > 1; } \
     process T(const S id) { state l0, l1; init l0; trans l0 -> l1 { }; } system T;";

#[test]
fn an_index_into_a_constant_tells_elements_apart() {
    both(
        WEIGHTS,
        "A[] forall (i : S) (w[i] imply T(i).l0)",
        Verdict::Violated,
    );
    both(
        WEIGHTS,
        "E<> exists (i : S) (w[i] && T(i).l1)",
        Verdict::Satisfied,
    );
    both(
        WEIGHTS,
        "E<> exists (i : S) (last(i) && T(i).l1)",
        Verdict::Satisfied,
    );
}

const FLAGS: &str = "typedef int[0,2] S; bool f[S]; const bool k[S] = { false, false, true }; \
     bool g(const bool a[S]) { return a[2] && !a[0] && !a[1]; } \
     bool gr(bool &a[S]) { return a[2] && !a[0] && !a[1]; } \
     process P(const S i) { state A, B; init A; trans A -> B { assign f[i] = true; }; } system P;";

#[test]
fn whole_arrays_tell_elements_apart() {
    both(FLAGS, "E<> f == k", Verdict::Satisfied);
    both(FLAGS, "A[] f != k", Verdict::Violated);
    both(FLAGS, "E<> g(f)", Verdict::Satisfied);
    both(FLAGS, "E<> gr(f)", Verdict::Satisfied);
}

const RESULTS: &str = "typedef int[0,2] S; S o; int[0,3] n; S never = 1; S nx(const S a) { return a; } \
     process P(const S i) { state A, B; init A; trans A -> B { assign o = i, n = n + 1; }; } system P;";

#[test]
fn the_result_of_a_function_tells_elements_apart() {
    both(RESULTS, "E<> n == 1 && nx(o) == never", Verdict::Satisfied);
    let report = both(RESULTS, "sup{n == 1}: (nx(o) == never)", Verdict::Satisfied);
    assert_eq!(report.value.and_then(|v| v.upper), Some(1));
}

/// A local array with a listed entry for each element distinguishes elements in the model as well.
#[test]
fn a_listed_local_array_tells_elements_apart_in_the_model() {
    let model = "typedef int[0,2] S; bool f[S]; S o; \
         bool odd(S a) { bool v[S] = { false, false, true }; return v[a]; } \
         process P(const S i) { state A, B; init A; trans A -> B { guard odd(i); assign f[i] = true, o = i; }; } system P;";
    both(model, "E<> exists (i : S) P(i).B", Verdict::Satisfied);
    both(model, "E<> P(2).B", Verdict::Satisfied);
    both(model, "E<> P(0).B", Verdict::Violated);
}

/// One of five elements is distinguished and four remain; if there are several groups, the largest
/// is shown.
#[test]
fn the_group_shown_is_the_one_used() {
    let model = common::xta(
        "typedef int[0,4] S; const int w[S] = { 1, 1, 2, 1, 1 }; clock x; \
         process P(const S i) { state A, B; init A; trans A -> B { }; } system P;",
    );
    let report = model.verify(
        "E[] forall (i : S) (w[i] == 2 imply P(i).A)",
        &Options::default(),
    );
    assert_eq!(report.verdict, Verdict::Satisfied);
    let [set] = report.symmetry.scalarsets.as_slice() else {
        panic!("{:?}", report.symmetry);
    };
    assert_eq!(set.interchangeable, [4]);
    assert_eq!(set.group(), "4 of 5 elements interchangeable");
    let report = model.verify("A[] forall (i : S) (P(i).A || P(i).B)", &Options::default());
    let [set] = report.symmetry.scalarsets.as_slice() else {
        panic!("{:?}", report.symmetry);
    };
    assert_eq!(set.group(), "5 interchangeable elements");
}

/// The loop writes `last` in the order of elements; if reduction is forced nevertheless, the audit
/// notices.
const ORDERED: &str = "typedef scalar[3] S; bool f[S]; S last; \
     void pick() { for (k : S) if (f[k]) last = k; } \
     process P(const S i) { state A, B, C; init A; trans A -> B { assign f[i] = true; }, B -> C { assign pick(); }; } \
     system P;";

#[test]
fn the_audit_notices_a_set_that_must_not_be_reduced_over() {
    let model = common::xta(ORDERED);
    let audited = Options {
        audit_symmetry: true,
        ..Options::default()
    };
    let report = model.verify("A[] true", &audited);
    assert_eq!(report.verdict, Verdict::Satisfied);
    assert!(report.symmetry.scalarsets.is_empty() && !report.symmetry.excluded.is_empty());
    for query in ["A[] true", "E[] true", "sup: 1", "false --> true"] {
        let forced = Options {
            force_symmetry: true,
            ..audited.clone()
        };
        let report = model.verify(query, &forced);
        assert_eq!(report.verdict, Verdict::Error, "{query}");
        let reason = report.reason_text();
        assert!(
            reason.starts_with("internal: swapping elements"),
            "{reason}"
        );
    }
}

#[test]
fn the_audit_says_how_much_it_looked_at() {
    let model = common::xta(FLAGS);
    for query in ["A[] true", "E[] true", "sup: 1", "false --> true"] {
        let audited = Options {
            audit_symmetry: true,
            ..Options::default()
        };
        let report = model.verify(query, &audited);
        assert_eq!(
            report.verdict,
            Verdict::Satisfied,
            "{query} {:?}",
            report.reason
        );
        let audit = report.symmetry.audit.expect("an audit");
        // Every state, with each of the three swaps.
        assert_eq!((audit.states, audit.swaps), (4, 12), "{query}");
    }
}

#[test]
fn comparing_with_a_run_without_symmetry() {
    let model = common::xta(ORDERED);
    let compared = Options {
        compare_symmetry: true,
        ..Options::default()
    };
    assert_eq!(
        model.verify("A[] true", &compared).verdict,
        Verdict::Satisfied
    );
    // With forced reduction, the last of two elements is lost.
    let query = "E<> exists (i : S) exists (j : S) (i != j && P(i).C && P(j).B && last == i)";
    let forced = Options {
        force_symmetry: true,
        compare_symmetry: true,
        ..Options::default()
    };
    let right = model.verify(query, &off());
    let wrong = model.verify(
        query,
        &Options {
            compare_symmetry: false,
            ..forced.clone()
        },
    );
    let report = model.verify(query, &forced);
    assert_ne!(right.verdict, wrong.verdict);
    assert_eq!(report.verdict, Verdict::Error);
    let reason = report.reason_text();
    assert!(reason.starts_with("internal: with symmetry"), "{reason}");
}

/// Six processes leave one after the other: 7 discrete states up to renaming, 64 without.
#[test]
fn hulls_keep_symmetry() {
    let model = common::xta(
        "typedef int[0,5] S; process P(const S i) { clock x; state A { x <= 3 }, B; init A; \
         trans A -> B { guard x >= 1; }, A -> A { assign x = 0; }; } system P;",
    );
    let hulls = Options {
        abstraction: AbstractionOption::ConvexHull,
        ..Options::default()
    };
    let report = model.verify("E<> exists (i : S) (P(i).A && P(i).x > 3)", &hulls);
    assert_eq!(report.verdict, Verdict::Violated);
    assert_eq!(report.statistics.stored, 7);
    let plain = Options {
        symmetry: SymmetryOption::Off,
        ..hulls
    };
    let report = model.verify("E<> exists (i : S) (P(i).A && P(i).x > 3)", &plain);
    assert_eq!(
        (report.verdict, report.statistics.stored),
        (Verdict::Violated, 64)
    );
}

/// Loops whose order matters, reached through an alias that a wrapper passes on, after a loop over
/// another set, inside `switch`: the verdict was wrong under reduction.
#[test]
fn aliases_of_loops_are_followed() {
    let model = |functions: &str, call: &str| {
        format!(
            "typedef scalar[2] pid; typedef scalar[2] other; bool a[pid], b[pid]; bool o[other]; int[0,99] y; \
             {functions} process P(const pid id) {{ state A, B, C, D; init A; trans \
             A -> B {{ assign a[id] = true; }}, A -> C {{ assign b[id] = true; }}, \
             B -> D {{ assign {call}; }}; }} system P;"
        )
    };
    let body = "for (i : pid) { if (a[i]) r += 1; if (b[i]) y = 5; }";
    for (functions, call) in [
        (format!("void g(int[0,99] &r) {{ {body} }}"), "g(y)"),
        (
            format!("void g(int[0,99] &r) {{ {body} }} void f(int[0,99] &r) {{ g(r); }}"),
            "f(y)",
        ),
        (
            format!("void g(int[0,99] &r) {{ for (k : other) o[k] = false; {body} }}"),
            "g(y)",
        ),
        (
            format!("void g(int[0,99] &r) {{ switch (1) {{ case 1: {body} break; }} }}"),
            "g(y)",
        ),
        (
            format!("void g(int[0,99] &r) {{ int k = 0; while (k < 1) {{ k++; {body} }} }}"),
            "g(y)",
        ),
        (
            format!("void g(int[0,99] &r) {{ {body} }} int f(int[0,99] &r) {{ g(r); return 1; }}"),
            "y = 0 * f(y) + y",
        ),
        (
            format!(
                "void g(int[0,99] &r) {{ {body} }} void f(int[0,99] &r) {{ int v[1]; if (o == o) g(r); }}"
            ),
            "f(y)",
        ),
    ] {
        let report = both(&model(&functions, call), "E<> y == 6", Verdict::Satisfied);
        let sets = &report.symmetry.scalarsets;
        assert!(sets.iter().all(|s| s.name != "pid"), "{functions}");
    }
}

/// The element that fails first decides whether a quantifier in an initialiser fails at all.
#[test]
fn quantifiers_in_initialisers_are_judged() {
    let model = common::xta(
        "typedef scalar[2] pid; int[0,3] d[pid]; bool w; \
         void g() { bool v = exists (i : pid) 6 / d[i] > 1; w = v; } \
         process P(const pid id) { state A, B, C; init A; trans \
         A -> B { assign d[id] = 3; }, B -> C { assign g(); }; } system P;",
    );
    let on = model.verify("E<> w and not w", &Options::default());
    let off = model.verify("E<> w and not w", &off());
    assert_eq!(off.verdict, Verdict::Error);
    assert_eq!(on.verdict, off.verdict, "{:?}", on.reason);
}
