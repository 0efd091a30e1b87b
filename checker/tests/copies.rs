//! Clocks that are set to other clocks, where differences are compared.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{AbstractionOption, Options, TraceOption, Verdict};

fn check(model: &str, query: &str, expected: Verdict) {
    let loaded = common::xta(model);
    for abstraction in [AbstractionOption::Auto, AbstractionOption::ExtraM] {
        for trace in [TraceOption::None, TraceOption::Some] {
            let options = Options {
                abstraction,
                trace,
                ..Options::default()
            };
            let report = loaded.verify(query, &options);
            assert_eq!(report.verdict, expected, "{query}: {:?}", report.reason);
        }
    }
}

/// Only x is compared with y, but the new value of x comes from z, whose distance from y matters.
#[test]
fn a_copy_takes_its_differences_along() {
    let model = "clock w, x, y, z; process P() { state l0 { w <= 3 }, l1, l2, l3; init l0; trans \
         l0 -> l1 { guard w == 3; assign y = 0, x = 0, w = 0; }, l1 -> l2 { assign x = z; }, \
         l2 -> l3 { guard x - y >= 4; }; } system P;";
    check(model, "E<> P.l3", Verdict::Violated);
    check(model, "E<> P.l2 && x - y == 3", Verdict::Satisfied);
    check(model, "A[] P.l2 imply x - y == 3", Verdict::Satisfied);
    let mirrored = model.replace("x - y >= 4", "y - x < -3");
    check(&mirrored, "E<> P.l3", Verdict::Violated);
}

/// y is never compared with a constant; once x has its value and y has another, their difference
/// shows what it was.
#[test]
fn a_difference_to_a_clock_that_was_copied_tells_its_value() {
    let model = "clock w, x, y; process P() { state l0 { w <= 2 }, l1, l2, l3; urgent l1, l2; init l0; trans \
         l0 -> l1 { guard w == 2; assign x = 0, w = 0; }, l1 -> l2 { assign x = y, y = 2; }, \
         l2 -> l3 { guard x - y >= 1; }; } system P;";
    check(model, "E<> P.l3", Verdict::Violated);
    check(
        &model.replace("urgent l1, l2", "urgent l2"),
        "E<> P.l3",
        Verdict::Satisfied,
    );
}
