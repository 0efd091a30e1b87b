//! Searches over convex hulls: what they do not find is not there.

mod common;

use zonelens_analysis::report::{AbstractionOption, Options, Verdict};

/// In `l1` x is 1 or 3 first, so that the hull has 2 in it before a longer way shows it.
const BETWEEN: &str = "clock x, y; process P() { state l0 { x <= 0 }, a { x <= 1 }, b { x <= 3 }, c { x <= 2 }, c2 { x <= 2 }, \
     l1; urgent l1; init l0; trans l0 -> a { }, l0 -> b { }, l0 -> c { }, a -> l1 { guard x == 1; }, \
     b -> l1 { guard x == 3; }, c -> c2 { guard x == 2; }, c2 -> l1 { }; } system P;";

#[test]
fn a_zone_inside_a_hull_is_looked_at() {
    let loaded = common::xta(BETWEEN);
    let (found, absent) = ("E<> P.l1 && x == 2", "E<> P.l1 && x > 3");
    for threads in [1, 2] {
        let options = Options {
            abstraction: AbstractionOption::ConvexHull,
            threads,
            ..Options::default()
        };
        assert_eq!(loaded.verify(found, &options).verdict, Verdict::Unknown);
        assert_eq!(loaded.verify(absent, &options).verdict, Verdict::Violated);
    }
    for first_turn in 1..12 {
        let options = Options {
            first_turn: Some(first_turn),
            ..Options::default()
        };
        assert_eq!(loaded.verify(found, &options).verdict, Verdict::Satisfied);
        assert_eq!(loaded.verify(absent, &options).verdict, Verdict::Violated);
    }
}
