//! The counts of the Fischer table: stored and visited states without symmetry.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{Options, SymmetryOption, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;

const MODEL: &str = "
const int N = 2;
typedef scalar[N] pid_t;
pid_t id;
bool set;
process P(const pid_t pid) {
    clock x;
    state idle, req { x <= 2 }, wait, cs;
    init idle;
    trans
        idle -> req { guard set == 0; assign x = 0; },
        req -> wait { assign x = 0, id = pid, set = 1; },
        wait -> req { guard set == 0; assign x = 0; },
        wait -> cs { guard x > 2 && id == pid; },
        cs -> idle { assign set = 0; };
}
system P;
";

const TABLE: [(i64, u64, u64); 7] = [
    (2, 22, 22),
    (3, 93, 99),
    (4, 356, 404),
    (5, 1295, 1545),
    (6, 4566, 5646),
    (7, 15757, 19971),
    (8, 53512, 68968),
];

#[test]
fn counts_without_symmetry_equal_the_table() {
    for (n, stored, visited) in TABLE {
        let model = common::load(MODEL, FileKind::Xta, &[("N", n)]).expect("a model");
        let options = Options {
            symmetry: SymmetryOption::Off,
            trace: TraceOption::None,
            ..Options::default()
        };
        let formula = "A[] forall (i : pid_t) forall (j : pid_t) P(i).cs && P(j).cs imply i == j";
        let report = model.verify(formula, &options);
        assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
        assert_eq!(
            (report.statistics.stored, report.statistics.explored),
            (stored, visited),
            "N = {n}"
        );
    }
}

/// Stored states with the scalarset reduced: at most the orbits of the table.
const ORBITS: [(i64, u64); 9] = [
    (2, 11),
    (3, 21),
    (4, 34),
    (5, 50),
    (6, 69),
    (8, 116),
    (10, 175),
    (20, 650),
    (30, 1425),
];

#[test]
fn orbits_with_the_scalarset_are_at_most_the_table() {
    for (n, orbits) in ORBITS {
        let model = common::load(MODEL, FileKind::Xta, &[("N", n)]).expect("a model");
        let options = Options {
            trace: TraceOption::None,
            ..Options::default()
        };
        let formula = "A[] forall (i : pid_t) forall (j : pid_t) P(i).cs && P(j).cs imply i == j";
        let report = model.verify(formula, &options);
        assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
        assert_eq!(report.symmetry.scalarsets.len(), 1, "{:?}", report.symmetry);
        assert!(report.symmetry.canonical);
        assert!(
            report.statistics.stored <= orbits,
            "N = {n}: {} > {orbits}",
            report.statistics.stored
        );
    }
}

#[test]
fn traces_through_the_quotient_replay() {
    let model = common::load(MODEL, FileKind::Xta, &[("N", 4)]).expect("a model");
    let queries = [
        "E<> exists (i : pid_t) P(i).cs",
        "E<> exists (i : pid_t) exists (j : pid_t) P(i).wait && P(j).cs && i != j",
        "A[] forall (i : pid_t) (P(i).wait imply id == i)",
        "E<> forall (i : pid_t) P(i).wait",
    ];
    for query in queries {
        let report = model.verify(query, &Options::default());
        let off = model.verify(
            query,
            &Options {
                symmetry: SymmetryOption::Off,
                ..Options::default()
            },
        );
        assert_eq!(
            report.verdict, off.verdict,
            "{query} {:?} {:?}",
            report.reason, off.reason
        );
        assert!(report.trace.is_some() && off.trace.is_some(), "{query}");
    }
}
