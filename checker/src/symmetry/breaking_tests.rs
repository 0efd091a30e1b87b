//! Queries that may tell interchangeable elements apart: verdicts and values with and without
//! reduction.

use super::breaking::{Case, case};
use super::named::named_elements;
use crate::common::{Loaded, Verify, load};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zonelens_analysis::Judge;
use zonelens_analysis::network::Query;
use zonelens_analysis::report::AbstractionOption::{Auto, ConvexHull, ExtraM};
use zonelens_analysis::report::{
    Options, QueryReport, Reason, SymmetryOption, TraceOption, Verdict,
};
use zonelens_interpreter::Rng;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::parse_query;

/// How the elements that a query tells apart are determined.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// As in the product.
    Judge,
    /// A bug: no element is told apart.
    Nobody,
    /// A bug: only uses that the query itself adds count.
    NewUses,
    /// A bug: as before, with a walk over the resolved query that does not enter functions.
    NewUsesAndWalk,
}

/// The counts of results.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    detected: usize,
    told_apart: usize,
    some_left: usize,
    reduced: usize,
    symmetrised: usize,
    values: usize,
    liveness: usize,
    open: usize,
    wrong: usize,
    /// Wrong variants may also fail a debug assertion.
    stopped: usize,
}

fn resolve(model: &Loaded, formula: &str, way: Way) -> Option<Query> {
    let judge = match way {
        Way::NewUses | Way::NewUsesAndWalk => Judge::NewUsesOnly,
        Way::Judge | Way::Nobody => Judge::Exact,
    };
    let parsed = parse_query(formula);
    let query = model.model.resolve_query_judged(&parsed, judge);
    let mut query = query.ok()?;
    match way {
        Way::Nobody => query.named_elements.clear(),
        Way::NewUsesAndWalk => {
            let all: Vec<_> = model.network.scalarsets.ids().collect();
            query.named_elements = named_elements(&model.network, &query, &all)
                .into_iter()
                .collect();
        }
        _ => {}
    }
    Some(query)
}

fn options(rng: &mut Rng) -> Options {
    Options {
        states: Some(1_500),
        trace: [TraceOption::None, TraceOption::Some][rng.below(2)],
        audit_symmetry: rng.below(4) == 0,
        abstraction: match rng.below(10) {
            0 => ConvexHull,
            1 | 2 => ExtraM,
            _ => Auto,
        },
        first_turn: [None, None, Some(3)][rng.below(3)],
        threads: [1, 1, 2][rng.below(3)],
        ..Options::default()
    }
}

/// The two reports, if the model was accepted; unknown verdicts count as open.
fn ask(
    case: &Case,
    way: Way,
    rng: &mut Rng,
    tally: &mut Tally,
) -> Option<(QueryReport, QueryReport)> {
    let model = load(&case.text, FileKind::Xta, &[])
        .unwrap_or_else(|e| panic!("the generator made a model with errors: {e}\n{}", case.text));
    tally.models += 1;
    let query = resolve(&model, &case.query, way)
        .unwrap_or_else(|| panic!("{}\n{}", case.query, case.text));
    tally.detected += usize::from(model.network.scalarsets.iter().any(|s| s.detected));
    let apart = !query.named_elements.is_empty();
    tally.told_apart += usize::from(apart);
    let most = model
        .network
        .scalarsets
        .iter()
        .map(|s| s.size as usize)
        .max();
    tally.some_left +=
        usize::from(apart && most.is_some_and(|n| query.named_elements.len() + 1 < n));
    let on = options(rng);
    let off = Options {
        symmetry: SymmetryOption::Off,
        audit_symmetry: false,
        ..on.clone()
    };
    let (on, off) = (
        model.verify_query(&query, &on),
        model.verify_query(&query, &off),
    );
    if on.verdict == Verdict::Unknown || off.verdict == Verdict::Unknown {
        tally.open += 1;
        return None;
    }
    tally.reduced += usize::from(on.statistics.stored < off.statistics.stored);
    tally.symmetrised += usize::from(on.symmetrised);
    tally.values += usize::from(on.value.is_some());
    let liveness =
        ["E[]", "A<>"].iter().any(|s| case.query.starts_with(s)) || case.query.contains("-->");
    tally.liveness += usize::from(liveness);
    Some((on, off))
}

fn differ(on: &QueryReport, off: &QueryReport) -> bool {
    on.verdict != off.verdict || on.value != off.value || on.values != off.values
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

fn campaign(way: Way, models: u64) -> Tally {
    let first = number("ZONELENS_SYMMETRY_SEED", 0);
    let mut tally = Tally::default();
    for seed in first..first + models {
        let mut rng = Rng::new(seed);
        let case = case(&mut rng);
        let asked = match way {
            Way::Judge => ask(&case, way, &mut rng, &mut tally),
            _ => {
                let ask = AssertUnwindSafe(|| ask(&case, way, &mut rng, &mut tally));
                let Ok(asked) = catch_unwind(ask) else {
                    tally.stopped += 1;
                    continue;
                };
                asked
            }
        };
        if let Some((on, off)) = asked
            && differ(&on, &off)
        {
            tally.wrong += 1;
            assert!(
                way != Way::Judge,
                "seed {seed}: {}\nwith symmetry {:?} {:?} {:?}\nwithout {:?} {:?} {:?}\n{}",
                case.query,
                on.verdict,
                on.value,
                on.reason,
                off.verdict,
                off.value,
                off.reason,
                case.text
            );
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{way:?}: {tally:?}");
    }
    tally
}

#[test]
fn queries_that_tell_elements_apart_get_the_verdicts_of_plain_runs() {
    let models = number("ZONELENS_SYMMETRY_MODELS", 1_500);
    let tally = campaign(Way::Judge, models);
    let asked = tally.models;
    assert!(tally.detected * 10 > asked * 8, "{tally:?}");
    assert!(tally.told_apart * 3 > asked, "{tally:?}");
    assert!(tally.some_left * 20 > asked, "{tally:?}");
    assert!(
        tally.reduced * 10 > asked && tally.symmetrised * 20 > asked,
        "{tally:?}"
    );
    assert!(
        tally.values * 20 > asked && tally.liveness * 5 > asked,
        "{tally:?}"
    );
    assert!(tally.open * 6 < asked, "{tally:?}");
}

#[test]
fn wrong_judges_are_noticed() {
    for way in [Way::Nobody, Way::NewUses, Way::NewUsesAndWalk] {
        let tally = campaign(way, 600);
        assert!(tally.wrong > 0, "{way:?} passed unnoticed: {tally:?}");
    }
}

/// If the analysis ignored the query, the audit would notice, or the answer would be right because
/// every element is evaluated.
#[test]
fn the_audit_asks_the_query_too() {
    let (mut wrong, mut missed) = (0, Vec::new());
    for seed in 0..600 {
        let mut rng = Rng::new(seed);
        let case = case(&mut rng);
        let Ok(model) = load(&case.text, FileKind::Xta, &[]) else {
            continue;
        };
        let ask = |symmetry, audit_symmetry| {
            let query = resolve(&model, &case.query, Way::Nobody)?;
            let options = Options {
                symmetry,
                audit_symmetry,
                states: Some(1_500),
                trace: TraceOption::None,
                ..Options::default()
            };
            catch_unwind(AssertUnwindSafe(|| model.verify_query(&query, &options))).ok()
        };
        let (Some(off), Some(on)) = (
            ask(SymmetryOption::Off, false),
            ask(SymmetryOption::Auto, false),
        ) else {
            continue;
        };
        if differ(&on, &off) && on.verdict != Verdict::Unknown && off.verdict != Verdict::Unknown {
            wrong += 1;
            let audited = ask(SymmetryOption::Auto, true);
            let internal = |r: &QueryReport| matches!(r.reason, Some(Reason::Internal(_)));
            let right = |r: &QueryReport| internal(r) || !differ(r, &off);
            if let Some(report) = audited.filter(|r| !right(r)) {
                missed.push((seed, case.query, report.verdict, report.reason, off.verdict));
            }
        }
    }
    assert!(wrong > 5, "the random queries break nothing: {wrong}");
    assert!(missed.is_empty(), "{missed:#?}");
}
