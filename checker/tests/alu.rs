//! `a≼LU` subsumption: the number of stored states, and the same answers as the others.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{
    AbstractionOption, Options, QueryReport, SearchOrder, Switch, SymmetryOption, TraceOption,
    Verdict,
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

/// Clients that collect certificates (CorSSO: Yu and Wang, *SAT-based model checking for region
/// automata*, 2006): the time between two is longer than `GAP`, and all must be used within `LIFE`.
pub(crate) const CERTIFICATES: &str = "const int N = 2;
    const int GAP = 2;
    const int LIFE = 10;
    const int NEED[2] = { 1, 2 };
    typedef int[1,N] client;
    process Client(const client i) {
        clock since, first;
        int[0,3] held;
        int[0,2] policy;
        state asking, granted;
        init asking;
        trans
            asking -> asking { guard policy > 0 && held < 2 && since > GAP;
                assign held = held + 1, since = 0; },
            asking -> asking { select k : int[1,2]; guard policy == 0;
                assign policy = k, held = 0, since = 0, first = 0; },
            asking -> granted { select k : int[1,2];
                guard policy == k && held >= NEED[k - 1] && first < LIFE; },
            granted -> asking { assign policy = 0; };
    }
    system Client;";

/// One search alone, with simulation or without.
fn counted(text: &str, query: &str, options: &Options, with: bool) -> QueryReport {
    let without = Switch::ALL.into_iter();
    let options = Options {
        without: without
            .filter(|s| !with || *s != Switch::Simulation)
            .collect(),
        ..options.clone()
    };
    common::xta(text).verify(query, &options)
}

fn plain() -> Options {
    options(AbstractionOption::Auto)
}

#[test]
fn simulation_is_used_by_default() {
    for (n, simulated, included) in [(2, 265, 573), (3, 8_746, 61_948)] {
        let text = CERTIFICATES.replace("N = 2", &format!("N = {n}"));
        for (with, stored) in [(true, simulated), (false, included)] {
            let report = counted(&text, "A[] true", &plain(), with);
            assert_eq!(
                (report.verdict, report.statistics.stored),
                (Verdict::Satisfied, stored)
            );
        }
    }
    // Threads, other orders and traces are no reason against it.
    for search in [SearchOrder::Dfs, SearchOrder::Random, SearchOrder::Bfs] {
        for threads in [1, 2] {
            let options = Options {
                search,
                threads,
                trace: TraceOption::Some,
                ..plain()
            };
            let [with, without] =
                [true, false].map(|with| counted(CERTIFICATES, "A[] true", &options, with));
            assert_eq!(with.verdict, without.verdict);
            assert!(with.statistics.stored < without.statistics.stored / 2);
        }
    }
}

/// Where the simulation says too little, the search is the one without it.
#[test]
fn simulation_is_not_used_where_it_is_not_exact() {
    let explores_all = "A[] true";
    let alike = |what: &str, text: &str, query: &str, options: &Options| {
        let [with, without] = [true, false].map(|with| counted(text, query, options, with));
        let facts = |r: &QueryReport| {
            let s = &r.statistics;
            (r.verdict, s.stored, s.explored, s.transitions)
        };
        assert_eq!(facts(&with), facts(&without), "{what}");
        with.statistics.stored
    };
    let same = |what: &str, text: &str, query: &str, options: &Options| {
        // A few states might be the same by chance.
        let stored = alike(what, text, query, options);
        assert!(stored > 200, "{what}, {query}: {stored}");
    };
    let edited = |from: &str, to: &str| {
        assert!(CERTIFICATES.contains(from));
        CERTIFICATES.replace(from, to)
    };
    for query in [
        "A[] not (deadlock && Client(1).granted)",
        "A[] Client(1).granted imply not deadlock",
    ] {
        same("deadlock", CERTIFICATES, query, &plain());
    }
    for query in ["A<> Client(1).held > 2", "E[] Client(1).held <= 2"] {
        alike("runs", CERTIFICATES, query, &plain());
    }
    let query = "Client(1).held > 2 --> Client(1).held == 0";
    same("runs", CERTIFICATES, query, &plain());
    let differences = edited("first < LIFE;", "first < LIFE && first - since < 20;");
    same(
        "differences of clocks",
        &differences,
        explores_all,
        &plain(),
    );
    same(
        "a difference in the query",
        CERTIFICATES,
        "A[] Client(1).first - Client(1).since >= 0",
        &plain(),
    );
    for query in [
        "sup: Client(1).since",
        "inf{Client(1).granted}: Client(1).first",
        "sup{Client(1).granted}: Client(1).held",
    ] {
        same("values", CERTIFICATES, query, &plain());
    }
    for trace in [TraceOption::Shortest, TraceOption::Fastest] {
        let options = Options { trace, ..plain() };
        same("best traces", CERTIFICATES, explores_all, &options);
    }
    for abstraction in [
        AbstractionOption::ExtraLu,
        AbstractionOption::ExtraM,
        AbstractionOption::ConvexHull,
    ] {
        // Hulls are few.
        let three = edited("N = 2", "N = 3");
        let text = match abstraction {
            AbstractionOption::ConvexHull => &three,
            _ => CERTIFICATES,
        };
        same(
            "another abstraction",
            text,
            explores_all,
            &options(abstraction),
        );
    }
    let reduced = Options {
        symmetry: SymmetryOption::Auto,
        ..plain()
    };
    same("symmetry", CERTIFICATES, explores_all, &reduced);
    let stopped = edited(
        "state asking,",
        "state asking { first' == (policy > 0 ? 1 : 0) },",
    );
    same("stopped clocks", &stopped, explores_all, &plain());
}
