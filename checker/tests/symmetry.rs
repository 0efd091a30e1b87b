//! Random symmetric models and mutants of them: verdicts with and without reduction, audited, traces replayed.

mod common;
mod random;

use common::load;
use random::{NAMING, QUERIES, Rng, model};
use zonelens_analysis::report::{Options, SymmetryOption, Verdict};
use zonelens_syntax::ast::FileKind;

/// What happened to a number of models.
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
    let Ok(model) = load(&text, FileKind::Xta, &[]) else {
        return;
    };
    tally.accepted += 1;
    for _ in 0..2 {
        let query = match numbered && rng.below(2) == 0 {
            true => NAMING[rng.below(NAMING.len())],
            false => QUERIES[rng.below(QUERIES.len())],
        };
        let limits = Options {
            states: Some(20_000),
            ..Options::default()
        };
        let off = Options {
            symmetry: SymmetryOption::Off,
            ..limits.clone()
        };
        let off = model.verify(query, &off);
        // Half of them with the audit, which takes every step, half with one step per class.
        let audited = Options {
            audit_symmetry: rng.below(2) == 0,
            ..limits
        };
        let on = model.verify(query, &audited);
        if off.verdict == Verdict::Unknown || on.verdict == Verdict::Unknown {
            continue;
        }
        let about = format!(
            "seed {seed}, odd {odd}, numbered {numbered}: {query}\n{:?}\n{:?}\n{text}",
            on.reason, off.reason
        );
        assert_eq!(on.verdict, off.verdict, "{about}");
        // A fault of the model is an error too; an internal one is not.
        let internal = |r: &Option<String>| r.as_ref().is_some_and(|r| r.starts_with("internal"));
        assert!(!internal(&on.reason) && !internal(&off.reason), "{about}");
        tally.reduced += usize::from(!on.symmetry.scalarsets.is_empty());
        tally.smaller += usize::from(on.statistics.stored < off.statistics.stored);
        tally.symmetrised += usize::from(on.symmetrised);
    }
}

fn sample(odd: bool, numbered: bool) -> (usize, Tally) {
    let count: u64 = std::env::var("ZONELENS_SYMMETRY_MODELS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(400);
    let mut tally = Tally::default();
    for seed in 0..count {
        compare(seed, odd, numbered, &mut tally);
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{count} seeds, odd {odd}, numbered {numbered}: {tally:?}");
    }
    (count as usize, tally)
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

/// Phrases that may tell elements apart: rejected, or the set is left out, or harmless.
#[test]
fn mutants_are_rejected_or_harmless() {
    let (_, scalars) = sample(true, false);
    let (_, numbers) = sample(true, true);
    assert!(scalars.accepted > 50 && scalars.reduced > 20);
    assert!(numbers.accepted > 100 && numbers.reduced > 50);
}
