//! `a≼LU` subsumption: the number of stored states, and the same answers as the others.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, SymmetryOption, TraceOption, Verdict,
};
use zonelens_syntax::ast::FileKind;

/// Fischer's protocol with identifiers from 1 on; 0 means no process.
const FISCHER: &str = "const int N = 3;
    int[0,N] id;
    process P(const int[1,N] pid) {
        clock x;
        state A, req { x <= 2 }, wait, cs;
        init A;
        trans
            A -> req { guard id == 0; assign x = 0; },
            req -> wait { assign x = 0, id = pid; },
            wait -> req { guard id == 0; assign x = 0; },
            wait -> cs { guard x > 2 && id == pid; },
            cs -> A { assign id = 0; };
    }
    system P;";

fn options(abstraction: AbstractionOption) -> Options {
    Options {
        abstraction,
        symmetry: SymmetryOption::Off,
        ..Options::default()
    }
}

#[test]
fn what_is_covered_is_removed() {
    let exclusion =
        "A[] forall (i : int[1,N]) forall (j : int[1,N]) P(i).cs && P(j).cs imply i == j";
    for (n, most) in [(3, 65), (4, 220), (5, 727), (6, 2378)] {
        let model = common::load(FISCHER, FileKind::Xta, &[("N", n)]).expect("a model");
        let report = model.verify(exclusion, &options(AbstractionOption::Alu));
        assert_eq!(report.verdict, Verdict::Satisfied);
        let stored = report.statistics.stored;
        assert!(stored <= most, "N = {n}: {stored} stored, {most} suffice");
    }
}

/// Without the invariant that limits the time of writers, exclusion fails: every configuration
/// finds a run that replays.
#[test]
fn a_violation_is_found_in_every_order() {
    let slow = FISCHER.replace("x <= 2", "x <= 3");
    let model = common::load(&slow, FileKind::Xta, &[]).expect("a model");
    for search in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Random] {
        for threads in [1, 2] {
            for trace in [
                TraceOption::Some,
                TraceOption::Shortest,
                TraceOption::Fastest,
            ] {
                let options = Options {
                    search,
                    threads,
                    trace,
                    ..options(AbstractionOption::Alu)
                };
                let report = model.verify("A[] !(P(1).cs && P(2).cs)", &options);
                assert_eq!(report.verdict, Verdict::Violated, "{options:?}");
                assert!(report.trace.is_some(), "{:?}", report.reason);
            }
        }
    }
}

/// If the simulation is not enough, another comparison is used.
#[test]
fn deadlocks_values_and_shortest_runs_are_exact() {
    // An urgent location that can only be left early: being late is simulated, and stuck.
    let text = "clock x, y;
        process P() {
            state a, b, c;
            urgent b;
            init a;
            trans a -> b { }, b -> c { guard x <= 3; }, c -> a { assign y = 0; };
        }
        system P;";
    let model = common::xta(text);
    let same = |query: &str, trace: TraceOption| {
        let ask = |abstraction| {
            let options = Options {
                trace,
                ..options(abstraction)
            };
            let report = model.verify(query, &options);
            let steps = report.trace.map(|t| t.steps.len());
            (report.verdict, report.value, steps)
        };
        assert_eq!(
            ask(AbstractionOption::Alu),
            ask(AbstractionOption::ExtraM),
            "{query}"
        );
    };
    for query in [
        "E<> deadlock",
        "A[] not deadlock",
        "sup: x",
        "inf{P.c}: x",
        "bounds{P.c}: x - y",
        "sup{P.c}: y",
    ] {
        same(query, TraceOption::None);
    }
    for query in ["E<> P.c && y > 2", "E<> P.c && x > 2 && y < 1"] {
        same(query, TraceOption::Shortest);
    }
}
