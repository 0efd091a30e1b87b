//! The counts of the Fischer table: stored and visited states without symmetry.

mod common;

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
