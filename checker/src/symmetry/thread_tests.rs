//! Symmetry with several threads: the same verdicts, traces that replay, and the same states in the
//! end.

use crate::common::{Loaded, Verify, load};
use zonelens_analysis::report::{AbstractionOption, Options, QueryReport, TraceKind, Verdict};
use zonelens_syntax::ast::FileKind;

fn fischer(size: i64, bound: i64) -> Loaded {
    let text = "const int N = 3; const int K = 2; typedef scalar[N] pid; bool set; pid id; \
        process P(const pid i) { clock x; state a, req { x <= 2 }, wait, cs; init a; trans \
        a -> req { guard !set; assign x = 0; }, req -> wait { guard x <= 2; assign x = 0, id = i, set = true; }, \
        wait -> req { guard !set; assign x = 0; }, wait -> cs { guard x > K && set && id == i; }, \
        cs -> a { assign set = false; }; } system P;";
    load(text, FileKind::Xta, &[("N", size), ("K", bound)]).unwrap_or_else(|e| panic!("{e}"))
}

const EXCLUSION: &str = "A[] forall (i : pid) forall (j : pid) P(i).cs && P(j).cs imply i == j";

fn with(model: &Loaded, query: &str, threads: u32, audit_symmetry: bool) -> QueryReport {
    // A single search, so that states can be counted.
    let options = Options {
        threads,
        audit_symmetry,
        abstraction: AbstractionOption::ExtraLu,
        ..Options::default()
    };
    model.verify(query, &options)
}

#[test]
fn threads_store_what_one_does() {
    for size in [3, 5, 7] {
        let model = fischer(size, 2);
        let one = with(&model, EXCLUSION, 1, false);
        assert_eq!(one.verdict, Verdict::Satisfied);
        assert!(one.symmetry.canonical && one.symmetry.scalarsets.len() == 1);
        for threads in [2, 3, 5] {
            let many = with(&model, EXCLUSION, threads, false);
            assert_eq!(many.verdict, Verdict::Satisfied);
            assert_eq!(many.symmetry, one.symmetry);
            assert_eq!(
                many.statistics.stored, one.statistics.stored,
                "{size} {threads}"
            );
        }
    }
}

#[test]
fn threads_find_runs_that_replay() {
    let model = fischer(4, 1);
    for query in [
        EXCLUSION,
        "E<> exists (i : pid) P(i).cs",
        "E<> (exists (i : pid) P(i).cs) && forall (i : pid) !P(i).a",
        "A[] not deadlock",
    ] {
        let one = with(&model, query, 1, false);
        for threads in [2, 4] {
            let many = with(&model, query, threads, false);
            assert_eq!(many.verdict, one.verdict, "{query}: {:?}", many.reason);
            let kind = |r: &QueryReport| r.trace.as_ref().map(|t| t.kind);
            assert_eq!(kind(&many), kind(&one), "{query}");
            assert!(kind(&many).is_none_or(|k| k == TraceKind::Path));
        }
    }
}

#[test]
fn threads_audit_too() {
    let model = fischer(3, 2);
    let one = with(&model, EXCLUSION, 1, true).symmetry.audit;
    let many = with(&model, EXCLUSION, 3, true);
    assert_eq!(many.verdict, Verdict::Satisfied);
    let (one, many) = (
        one.expect("an audit"),
        many.symmetry.audit.expect("an audit"),
    );
    assert!(one.states > 10);
    // Each thread checks every state that it explores at first.
    assert!(
        many.states >= one.states && many.swaps >= one.swaps,
        "{one:?} {many:?}"
    );
}

/// An element that the query names may be anywhere in its orbit; the thread that finds it is not
/// the one that reports it.
#[test]
fn threads_ask_whole_orbits() {
    let text = "typedef int[0,3] S; bool f[S]; process P(const S i) { clock x; state a, b; init a; trans \
        a -> b { guard x >= 1; assign f[i] = true, x = 0; }; } system P;";
    let model = load(text, FileKind::Xta, &[]).unwrap_or_else(|e| panic!("{e}"));
    for (query, verdict) in [
        ("E<> P(2).b && !f[0] && f[3]", Verdict::Satisfied),
        ("E<> P(2).b && P(2).a", Verdict::Violated),
        ("A[] !(P(1).b && P(3).b && P(0).a)", Verdict::Violated),
    ] {
        let report = with(&model, query, 3, false);
        assert_eq!(report.verdict, verdict, "{query}: {:?}", report.reason);
        assert!(report.symmetrised, "{query}");
    }
}
