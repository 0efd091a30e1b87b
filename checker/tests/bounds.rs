//! `sup`, `inf`, `bounds` of clocks: exact where they are finite, and unbounded where a cycle lets
//! them grow.

use crate::common;

use common::Verify;
#[allow(dead_code)]
use zonelens_test_support::random;

use zonelens_analysis::report::{AbstractionOption, BoundsValue, Options, SymmetryOption, Verdict};

/// The value, which must be the same under every abstraction and with and without symmetry.
fn value(text: &str, query: &str) -> BoundsValue {
    let model = common::xta(text);
    let mut first: Option<BoundsValue> = None;
    for abstraction in [
        AbstractionOption::Auto,
        AbstractionOption::ExtraM,
        AbstractionOption::Alu,
        AbstractionOption::ConvexHull,
    ] {
        for symmetry in [SymmetryOption::Auto, SymmetryOption::Off] {
            let options = Options {
                abstraction,
                symmetry,
                states: Some(100_000),
                ..Options::default()
            };
            let report = model.verify(query, &options);
            let about = format!("{query} {abstraction:?}: {:?}", report.reason);
            assert_eq!(report.verdict, Verdict::Satisfied, "{about}");
            let value = report.value.expect("a value");
            assert_eq!(*first.get_or_insert(value.clone()), value, "{about}");
        }
    }
    first.expect("a value")
}

fn process(locations: &str, init: &str, edges: &str) -> String {
    format!(
        "clock g, t, x, y; int[0,9] n; process P() {{ state {locations}; init {init}; trans {edges}; }} system P;"
    )
}

#[test]
fn a_clock_grows_around_a_cycle() {
    let around = process(
        "a { x <= 3 }",
        "a",
        "a -> a { guard x >= 2; assign x = 0; }",
    );
    assert_eq!(value(&around, "sup: g").upper, None);
    // After the cycle, and only there.
    let behind = process(
        "a { x <= 3 }, b { x <= 1 }",
        "a",
        "a -> a { guard x >= 2; assign x = 0; }, a -> b { assign x = 0; }",
    );
    assert_eq!(value(&behind, "sup{P.b}: g").upper, None);
    // The cycle can be taken without delay, and a clock that it does not set is compared before.
    let lazy = process(
        "a { x <= 3 }",
        "a",
        "a -> a { guard y > 1; assign x = 0, n = 1 - n; }",
    );
    assert_eq!(value(&lazy, "sup: g").upper, None);
    // Waiting comes before the step.
    let first = process("a, b { x <= 3 }", "a", "a -> b { assign x = 0; }");
    assert_eq!(value(&first, "sup{P.b}: g").upper, None);
    // The clock is compared with its own constants.
    let own = process(
        "a { x <= 3 }",
        "a",
        "a -> a { guard g < 40; assign x = 0; }, a -> a { guard g > 30; assign x = 0; }",
    );
    assert_eq!(value(&own, "sup: g").upper, None);
}

#[test]
fn a_clock_does_not_grow_where_something_stops_it() {
    let upper = |text: &str, query: &str| {
        let value = value(text, query);
        (value.upper, value.upper_strict)
    };
    // Another clock that the cycle does not set.
    let cycle = "a -> a { assign x = 0; }";
    let other = process("a { x <= 3 && t < 500 }", "a", cycle);
    assert_eq!(upper(&other, "sup: g"), (Some(500), true));
    // The clock's own invariant.
    let own = process("a { x <= 3 && g <= 700 }", "a", cycle);
    assert_eq!(upper(&own, "sup: g"), (Some(700), false));
    // A counter.
    let counter = process(
        "a { x <= 30 }",
        "a",
        "a -> a { guard n < 9; assign x = 0, n = n + 1; }",
    );
    assert_eq!(upper(&counter, "sup: g"), (Some(300), false));
    // The cycle sets it, or a step after the cycle does.
    let set = process(
        "a { x <= 30 }",
        "a",
        "a -> a { guard x >= 5; assign x = 0, g = 2; }",
    );
    assert_eq!(upper(&set, "sup: g"), (Some(32), false));
    let behind = process(
        "a { x <= 3 }, b { x <= 50 }",
        "a",
        "a -> a { guard x >= 2; assign x = 0; }, a -> b { assign x = 0, g = 1; }",
    );
    assert_eq!(upper(&behind, "sup{P.b}: g"), (Some(51), false));
    // The condition bounds it through another clock.
    let around = process(
        "a { x <= 3 }",
        "a",
        "a -> a { guard x >= 2; assign x = 0; }",
    );
    assert_eq!(upper(&around, "sup{t < 80}: g"), (Some(80), true));
    // The stays get shorter and shorter: y is never above 1, and the loop is taken any number of
    // times.
    let shorter = process("a { y <= 1 }", "a", "a -> a { guard x > 0; assign x = 0; }");
    assert_eq!(upper(&shorter, "sup: g"), (Some(1), false));
}

#[test]
fn a_clock_set_to_another_is_measured_like_it() {
    let copied = process(
        "a { t <= 20 }, b { t <= 20 }",
        "a",
        "a -> b { guard t >= 10; assign y = x; }",
    );
    for query in ["inf{P.b}: y", "sup{P.b}: y", "bounds{P.b}: y"] {
        let value = value(&copied, query);
        assert_eq!((value.lower, value.upper), (Some(10), Some(20)), "{query}");
    }
    // A cycle through another clock.
    let relay = process(
        "a { x <= 3 }",
        "a",
        "a -> a { guard x >= 2; assign x = 0, y = g, g = y; }",
    );
    let model = common::xta(&relay);
    let options = Options {
        states: Some(2_000),
        ..Options::default()
    };
    let report = model.verify("sup: g", &options);
    // The growth is not recognised, but the result must not be a finite bound.
    assert!(report.value.is_none_or(|v| v.upper.is_none()));
}

/// If values of a clock are not distinguished yet, a zone without the least value may have replaced
/// the zone that contains it.
#[test]
fn the_least_value_is_not_lost_to_a_zone_that_covers_it() {
    let text = process(
        "a, b",
        "a",
        "a -> b { guard y > 5; }, a -> b { guard y >= 5; }",
    );
    let least = value(&text, "inf{P.b}: x");
    assert_eq!((least.lower, least.lower_strict), (Some(5), false));
}

/// The clock that is measured depends on a variable; another one grows.
#[test]
fn an_index_may_change_on_the_way() {
    let text = "clock x[2], t; int[0,1] k; process P() { state a, b { t <= 40 }; init a; trans \
                a -> b { assign k = 1, x[1] = 0, t = 0; }; } system P;";
    assert_eq!(value(text, "sup{P.b}: x[k]").upper, Some(40));
    assert_eq!(value(text, "sup{P.b}: x[0]").upper, None);
}

/// The measured value is also found by a search for states, with a run that is replayed, and no
/// greater value is found.
#[test]
fn measured_values_are_reached_and_not_exceeded() {
    let (mut finite, mut unbounded) = (0, 0);
    for seed in 0..600 {
        let mut rng = random::Rng(seed);
        let text = random::timed::model(&mut rng);
        let model = common::xta(&text);
        // If differences of clocks are compared, growth is not recognised and measuring takes long.
        let options = Options {
            states: Some(3_000),
            timeout: Some(0.3),
            ..Options::default()
        };
        let condition = rng.pick(&["n == 1", "n == 2", "exists (i : S) P(i).e"]);
        let clock = rng.pick(&["g", "h"]);
        let report = model.verify(&format!("sup{{{condition}}}: {clock}"), &options);
        let Some(value) = report.value else { continue };
        let about = format!("seed {seed}: sup{{{condition}}}: {clock} = {value:?}\n{text}");
        let found = |comparison: String| {
            let query = format!("E<> ({condition}) && {clock} {comparison}");
            let report = model.verify(&query, &options);
            let verdict = report.verdict;
            assert!(
                verdict != Verdict::Error,
                "{query} {:?} {about}",
                report.reason
            );
            assert_eq!(
                verdict == Verdict::Satisfied,
                report.trace.is_some(),
                "{about}"
            );
            verdict
        };
        let wrong = match (value.upper, value.lower) {
            // Far beyond any constant; 3,000 states may be too few to reach it, but must not show
            // that it is unreachable.
            (None, Some(_)) => {
                let far = [found("> 50".to_owned()), found("> 400".to_owned())];
                unbounded += usize::from(far[0] == Verdict::Satisfied);
                far.contains(&Verdict::Violated)
            }
            (Some(most), _) => {
                finite += 1;
                let reached = match value.upper_strict {
                    true => found(format!("> {}", most - 1)),
                    false => found(format!("== {most}")),
                };
                let above = match value.upper_strict {
                    true => found(format!(">= {most}")),
                    false => found(format!("> {most}")),
                };
                reached == Verdict::Violated || above == Verdict::Satisfied
            }
            (None, None) => found(">= 0".to_owned()) == Verdict::Satisfied,
        };
        assert!(!wrong, "{about}");
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{finite} finite, {unbounded} unbounded values confirmed");
    }
    assert!(finite > 20 && unbounded > 20, "{finite} {unbounded}");
}
