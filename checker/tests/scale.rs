//! If all constants of a model are multiplied by the same number, its zones are the same, scaled:
//! the verdicts and the number of states are the same. The size of the constants determines how
//! many bits store a bound, so this compares these representations.

use crate::common;

use common::Verify;
#[allow(dead_code)]
use zonelens_test_support::random;

use random::Rng;
use random::timed::{GREATEST, model};
use zonelens_analysis::report::{Options, SymmetryOption, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;

/// Greatest constants on both sides of the limits of each representation: bounds store twice the
/// constant.
const LIMITS: [i64; 12] = [
    30, 31, 62, 63, 64, 126, 127, 128, 8_191, 16_383, 16_384, 32_768,
];

fn query(rng: &mut Rng) -> String {
    let c = rng.below(GREATEST as usize + 1);
    match rng.below(8) {
        0 => "A[] not deadlock".to_owned(),
        1 => format!("E<> forall (i : S) P(i).e && g > {c} * K"),
        2 => format!("A[] forall (i : S) P(i).x <= {c} * K || n < 2"),
        3 => "A<> exists (i : S) P(i).e".to_owned(),
        4 => "n == 1 --> exists (i : S) P(i).b".to_owned(),
        5 => format!("E[] forall (i : S) !P(i).e && h < {c} * K"),
        6 => "sup{n == 1}: g".to_owned(),
        _ => "E<> exists (i : S) P(i).b && h - g > K".to_owned(),
    }
}

#[test]
fn scaled_models_have_the_same_states() {
    let (mut decided, mut stored) = ([0; 2], 0);
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let text = model(&mut rng);
        let query = query(&mut rng);
        let options = Options {
            states: Some(2_000),
            symmetry: match rng.below(2) {
                0 => SymmetryOption::Off,
                _ => SymmetryOption::Auto,
            },
            trace: match rng.below(2) {
                0 => TraceOption::None,
                _ => TraceOption::Some,
            },
            ..Options::default()
        };
        let run = |scale: i64| {
            let loaded = common::load(&text, FileKind::Xta, &[("K", scale)]);
            let loaded = loaded.unwrap_or_else(|e| panic!("{e}\n{text}"));
            loaded.verify(&query, &options)
        };
        let first = run(1);
        match first.verdict {
            Verdict::Satisfied => decided[0] += 1,
            Verdict::Violated => decided[1] += 1,
            // Measuring stops where constants end, which is not scaled; and limits may be reached
            // in the middle of a state.
            Verdict::Unknown => continue,
            Verdict::Error => panic!("seed {seed}: {:?}\n{text}", first.reason),
        }
        stored = stored.max(first.statistics.stored);
        for limit in [LIMITS[rng.below(6)], LIMITS[6 + rng.below(6)]] {
            let scale = (limit + GREATEST - 1) / GREATEST;
            let again = run(scale);
            let about = format!("seed {seed}, K = {scale}: {query}\n{text}");
            assert_eq!(again.verdict, first.verdict, "{:?} {about}", again.reason);
            if let (Some(value), Some(small)) = (&again.value, &first.value) {
                let scaled = |v: Option<i64>| v.map(|v| v * scale);
                let expected = (scaled(small.lower), scaled(small.upper));
                assert_eq!((value.lower, value.upper), expected, "{about}");
            } else {
                let counts = |r: &zonelens_analysis::report::QueryReport| {
                    (r.statistics.stored, r.statistics.transitions)
                };
                assert_eq!(counts(&again), counts(&first), "{about}");
            }
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{decided:?} satisfied and violated, up to {stored} states");
    }
    assert!(decided.iter().all(|n| *n > 60), "{decided:?}");
}
