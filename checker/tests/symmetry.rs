//! Random symmetric models and mutants of them: verdicts are compared with and without reduction
//! and audited, and traces are replayed.

use crate::common;
use zonelens_test_support::random;

use common::{Verify, load};
use random::{NAMING, QUERIES, Rng, model, wide};
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, Reason, SymmetryOption, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;

/// The results for a number of models.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    reduced: usize,
    smaller: usize,
    symmetrised: usize,
}

/// Compares verdicts on one model.
fn compare(seed: u64, odd: bool, numbered: bool, tally: &mut Tally) {
    let mut rng = Rng(seed);
    let text = model(&mut rng, odd, numbered);
    let about = format!("seed {seed}, odd {odd}, numbered {numbered}");
    compare_text(
        &text,
        &about,
        (&QUERIES, &NAMING),
        numbered,
        &mut rng,
        tally,
    );
}

fn compare_text(
    text: &str,
    about: &str,
    (queries, naming): (&[&str], &[&str]),
    numbered: bool,
    rng: &mut Rng,
    tally: &mut Tally,
) {
    let Ok(model) = load(text, FileKind::Xta, &[]) else {
        return;
    };
    // More clocks and elements make states more expensive.
    let wide = about.starts_with("wide");
    tally.accepted += 1;
    for _ in 0..2 {
        let query = match numbered && rng.below(2) == 0 {
            true => rng.pick(naming),
            false => rng.pick(queries),
        };
        let limits = Options {
            states: Some(if wide { 3_000 } else { 20_000 }),
            trace: match rng.below(4) {
                0 => TraceOption::None,
                _ => TraceOption::Some,
            },
            ..Options::default()
        };
        let off = Options {
            symmetry: SymmetryOption::Off,
            ..limits.clone()
        };
        let off = model.verify(query, &off);
        // Half of them with the audit, which takes every step, and half with one step per class.
        let audited = Options {
            audit_symmetry: rng.below(2) == 0,
            first_turn: [None, None, Some(3)][rng.below(3)],
            ..limits
        };
        let on = model.verify(query, &audited);
        if off.verdict == Verdict::Unknown || on.verdict == Verdict::Unknown {
            continue;
        }
        let about = format!(
            "{about}: {query}\n{:?}\n{:?}\n{text}",
            on.reason, off.reason
        );
        assert_eq!(on.verdict, off.verdict, "{about}");
        assert_eq!(on.value, off.value, "{about}");
        // A fault of the model is an error too; an internal one is not.
        let internal = |r: &Option<Reason>| matches!(r, Some(Reason::Internal(_)));
        assert!(!internal(&on.reason) && !internal(&off.reason), "{about}");
        tally.reduced += usize::from(!on.symmetry.scalarsets.is_empty());
        tally.smaller += usize::from(on.statistics.stored < off.statistics.stored);
        tally.symmetrised += usize::from(on.symmetrised);
    }
}

/// The number of models of each kind, and the first seed.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let first = number("ZONELENS_SYMMETRY_SEED").unwrap_or(0);
    first..first + number("ZONELENS_SYMMETRY_MODELS").unwrap_or(400)
}

fn sample(odd: bool, numbered: bool) -> (usize, Tally) {
    let mut tally = Tally::default();
    let count = seeds().count();
    for seed in seeds() {
        compare(seed, odd, numbered, &mut tally);
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{count} seeds, odd {odd}, numbered {numbered}: {tally:?}");
    }
    (count, tally)
}

#[test]
fn verdicts_do_not_depend_on_reduction() {
    let (count, tally) = sample(false, false);
    assert!(tally.accepted * 2 > count && tally.reduced * 4 > tally.accepted && tally.smaller > 20);
}

#[test]
fn verdicts_on_numbered_elements_do_not_depend_on_reduction() {
    let (count, tally) = sample(false, true);
    assert!(tally.accepted * 2 > count && tally.reduced > count / 10);
}

/// The same on models with more features and more elements.
#[test]
fn verdicts_on_wide_models_do_not_depend_on_reduction() {
    // There are fewer of them, because each takes longer.
    let count = seeds().count() / 4;
    for numbered in [false, true] {
        let mut tally = Tally::default();
        for seed in seeds().take(count) {
            let mut rng = Rng(seed);
            let text = wide::model(&mut rng, numbered);
            let about = format!("wide, seed {seed}, numbered {numbered}");
            let queries = (&wide::QUERIES[..], &wide::NAMING[..]);
            compare_text(&text, &about, queries, numbered, &mut rng, &mut tally);
        }
        #[allow(clippy::print_stdout)]
        {
            println!("{count} seeds, wide, numbered {numbered}: {tally:?}");
        }
        assert!(tally.accepted * 2 > count && tally.reduced > count / 10);
    }
}

/// Phrases that may distinguish elements: they are rejected, or the set is left out, or they are
/// harmless.
#[test]
fn mutants_are_rejected_or_harmless() {
    let (_, scalars) = sample(true, false);
    let (_, numbers) = sample(true, true);
    assert!(scalars.accepted > 50 && scalars.reduced > 20);
    assert!(numbers.accepted > 100 && numbers.reduced > 50);
}

/// A query that names an element is evaluated for its whole orbit, so its bounds on the clock of
/// the element must hold for all of them.
#[test]
fn bounds_of_a_named_clock_hold_for_its_orbit() {
    let model = common::xta(
        "const int N = 3; clock g; process P(const int[0,N-1] i) { clock x; state a, b; init a; trans \
         a -> b { guard x >= 2; assign x = 0; }; } system P;",
    );
    for symmetry in [SymmetryOption::Auto, SymmetryOption::Off] {
        for trace in [TraceOption::None, TraceOption::Some] {
            let options = Options {
                symmetry,
                trace,
                ..Options::default()
            };
            for (query, expected) in [
                ("E<> P(2).b && P(2).x > 5 && g < 4", Verdict::Violated),
                ("A[] !(P(2).b && P(2).x > 5 && g < 4)", Verdict::Satisfied),
                ("E<> P(2).b && P(2).x > 5 && g < 8", Verdict::Satisfied),
                (
                    "E<> P(1).b && P(2).a && P(2).x - P(1).x < 2",
                    Verdict::Violated,
                ),
                (
                    "E<> P(1).b && P(2).b && P(2).x - P(1).x > 7",
                    Verdict::Satisfied,
                ),
            ] {
                let report = model.verify(query, &options);
                assert_eq!(report.verdict, expected, "{query}: {:?}", report.reason);
            }
        }
    }
}

/// A broadcast to thirty receivers with two edges each: the trace contains one of 2³⁰ combinations,
/// and neither finding nor replaying it enumerates the others.
#[test]
fn broadcasts_to_many_replay() {
    let model = common::xta(
        "typedef scalar[30] S; broadcast chan c; process Q() { state a; init a; trans a -> a { sync c!; }; } \
         process P(const S i) { state a, b, d; init a; trans a -> b { sync c?; }, a -> d { sync c?; }; } \
         system Q, P;",
    );
    let report = model.verify(
        "E<> forall (i : S) !P(i).a && exists (j : S) P(j).d",
        &Options::default(),
    );
    assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
    let trace = report.trace.expect("a trace");
    let last = trace.steps.last().and_then(|s| s.transition.as_ref());
    assert_eq!(last.map(|t| t.edges.len()), Some(31));
    let nowhere = |_| Position { line: 1, column: 1 };
    let again = zonelens_interpreter::replay_trace(&model.network, &trace, &nowhere);
    assert!(again.is_ok());
    // A receiver that could take part is missing.
    let mut short = trace.clone();
    let last = short.steps.last_mut().and_then(|s| s.transition.as_mut());
    last.expect("a step").edges.pop();
    assert!(zonelens_interpreter::replay_trace(&model.network, &short, &nowhere).is_err());
}

/// Without deadlock nothing distinguishes the regions of waiting processes, and there are
/// exponentially many of them.
#[test]
fn absence_of_deadlock_does_not_need_regions() {
    let path = format!("{}/../examples/fischer.xta", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("an example");
    let model = common::load(&text, FileKind::Xta, &[("N", 20)]).expect("a model");
    let report = model.verify("A[] not deadlock", &Options::default());
    assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
    assert!(report.statistics.stored <= 650);
}
