//! Compares the engine with an explorer of regions on thousands of random networks.
//!
//! Part of the unit tests of the library, so that seeded bugs ([`crate::mutation`]) can be switched
//! on: each of them must be caught.

mod certified;
mod fastest;
mod live;
mod runs;
mod simulation;

use crate::common::{self, Verify};
use crate::mutation::{self, Mutation};
use std::collections::BTreeMap;
use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, Switch, TraceOption, Verdict,
};
use zonelens_test_support::Rng;
use zonelens_test_support::oracle::features::note_features;
use zonelens_test_support::oracle::model;
use zonelens_test_support::oracle::queries::{random_bounds, random_query};
use zonelens_test_support::oracle::regions::{CAP, Graph, explore};

/// All configurations that must agree.
fn variants() -> Vec<Options> {
    let mut all = Vec::new();
    for abstraction in [
        AbstractionOption::Auto,
        AbstractionOption::ExtraM,
        AbstractionOption::Alu,
    ] {
        for (search, threads) in [
            (SearchOrder::Bfs, 1),
            (SearchOrder::Dfs, 1),
            (SearchOrder::Random, 1),
            (SearchOrder::Bfs, 2),
        ] {
            all.push(Options {
                abstraction,
                search,
                threads,
                trace: TraceOption::Some,
                timeout: Some(5.0),
                ..Options::default()
            });
        }
    }
    // There may be infinitely many exact zones, and a state that hulls reach proves nothing: these
    // may leave a query open.
    for abstraction in [AbstractionOption::None, AbstractionOption::ConvexHull] {
        all.push(Options {
            abstraction,
            states: Some(500),
            // A zone that grows for ever replaces the one before it and is not counted.
            timeout: Some(0.1),
            ..Options::default()
        });
    }
    for trace in [TraceOption::Shortest, TraceOption::Fastest] {
        all.push(Options {
            trace,
            timeout: Some(5.0),
            ..Options::default()
        });
    }
    // Turns are so short that every search gets some.
    for first_turn in [1, 3, 4, 12] {
        all.push(Options {
            first_turn: Some(first_turn),
            timeout: Some(5.0),
            ..Options::default()
        });
    }
    // LU bounds decide most queries with `deadlock`, which wider zones can decide too.
    for first_turn in [1, 4] {
        all.push(Options {
            first_turn: Some(first_turn),
            without: [Switch::LuBounds].into(),
            timeout: Some(5.0),
            ..Options::default()
        });
    }
    all
}

/// The name for counting how often a configuration decides, if it may answer `unknown`.
fn may_stay_open(options: &Options) -> Option<&'static str> {
    match options.abstraction {
        AbstractionOption::None => Some("exact zones decide"),
        AbstractionOption::ConvexHull => Some("asked for hulls decide"),
        _ => None,
    }
}

/// Runs `count` models from a seed; returns the first disagreement, and what was seen.
fn campaign(
    seed: u64,
    count: usize,
    all_variants: bool,
) -> (Option<String>, BTreeMap<String, usize>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let options = variants();
    let chosen = match all_variants {
        true => &options[..],
        false => &options[..1],
    };
    for round in 0..count {
        let model_seed = seed.wrapping_mul(1_000_003).wrapping_add(round as u64);
        let mut rng = Rng::new(model_seed);
        let model = model::random(&mut rng);
        let Some(graph) = explore(&model, 20_000, CAP) else {
            *seen.entry("skipped".into()).or_default() += 1;
            continue;
        };
        let text = model.text();
        let loaded = common::load(&text, zonelens_syntax::ast::FileKind::Xta, &[])
            .unwrap_or_else(|e| panic!("seed {model_seed}: {e}\n{text}"));
        note_features(&model, &mut seen);
        // With endless differences, the oracle represents clocks that are far from 0 with only one
        // fraction.
        if !model.endless_differences
            && let Some(state) = runs::stray(&model, &graph, &loaded, model_seed)
        {
            let message = format!("seed {model_seed}: the interpreter reaches\n{state:?}\n{text}");
            return (Some(message), seen);
        }
        let measured = if model.bounded {
            Some(random_bounds(&mut rng, &model, &graph))
        } else if !model.endless_differences && rng.chance(20) {
            // Far enough for most ranges to end before.
            explore(&model, 4000, 2 * CAP).map(|graph| random_bounds(&mut rng, &model, &graph))
        } else {
            None
        };
        let fails = graph.fails.contains(&true);
        note_errors(&model, &graph, &mut seen);
        if let Some((query, expected)) = measured {
            let name = if model.bounded {
                "bounds"
            } else {
                "bounds without end"
            };
            *seen.entry(name.into()).or_default() += 1;
            for options in chosen {
                let mut options = options.clone();
                if !model.bounded {
                    // A clock may grow in ways that are not recognised, and is then followed for a
                    // long time.
                    options.timeout = Some(0.2);
                }
                let options = &options;
                let report = loaded.verify(&query, options);
                let may_be_open = may_stay_open(options).is_some() || !model.bounded;
                if may_be_open && report.verdict == Verdict::Unknown {
                    *seen.entry(format!("{name}: unknown")).or_default() += 1;
                    continue;
                }
                if fails && shows_error(&model, &graph, &report) {
                    *seen.entry("bounds: error".into()).or_default() += 1;
                    continue;
                }
                let found = report.value.clone().unwrap_or_default();
                if fails || report.verdict != Verdict::Satisfied || !expected.allows(&found) {
                    let message = format!(
                        "seed {model_seed}: {query}\noracle: {expected}, engine: {:?} {:?} {found:?}\n{options:?}\n{text}",
                        report.verdict, report.reason
                    );
                    return (Some(message), seen);
                }
            }
        }
        for _ in 0..2 {
            let asked = random_query(&mut rng, &model, &graph);
            let (query, kind) = (&asked.query, asked.kind);
            let verdict = if asked.expected {
                "satisfied"
            } else {
                "violated"
            };
            *seen.entry(verdict.into()).or_default() += 1;
            *seen.entry(format!("{kind} {verdict}")).or_default() += 1;
            for options in chosen {
                let report = loaded.verify(query, options);
                for helper in report.reductions.iter().filter(|r| r.contains(' ')) {
                    *seen.entry(helper.clone()).or_default() += 1;
                }
                // Either nothing was found before the error, or the state that was found exists.
                let decides = |satisfied: bool| {
                    satisfied == asked.expected && !(asked.fails && satisfied == asked.absent)
                };
                let agrees = match report.verdict {
                    Verdict::Satisfied => decides(true),
                    Verdict::Violated => decides(false),
                    Verdict::Unknown => may_stay_open(options).is_some(),
                    Verdict::Error => fails && shows_error(&model, &graph, &report),
                };
                if report.verdict == Verdict::Error {
                    *seen.entry(format!("{kind} error")).or_default() += 1;
                }
                if let Some(name) = may_stay_open(options) {
                    let decides = report.verdict != Verdict::Unknown;
                    *seen.entry(name.into()).or_default() += usize::from(decides);
                }
                if !agrees {
                    let message = format!(
                        "seed {model_seed}: {query}\noracle: {verdict}, fails: {}, engine: {:?} {:?}\n{:?}\n{options:?}\n{text}",
                        asked.fails, report.verdict, report.reason, report.trace
                    );
                    return (Some(message), seen);
                }
            }
        }
    }
    (None, seen)
}

/// Counts the kinds of errors that a model has.
fn note_errors(model: &model::TestModel, graph: &Graph, seen: &mut BTreeMap<String, usize>) {
    let mut note =
        |name: &str, there: bool| *seen.entry(name.into()).or_default() += usize::from(there);
    let fails = graph.fails.contains(&true);
    let edges = || model.processes.iter().flat_map(|p| &p.1);
    let differences = edges().any(|e| e.guard.atoms.iter().any(|a| a.y.is_some()));
    note("fails", fails);
    note(
        "priorities block a step that fails",
        graph.fails_if_not_blocked.contains(&true),
    );
    note(
        "fails only where priorities block it",
        graph.fails_if_not_blocked.contains(&true) && !fails,
    );
    note("fails beside clock differences", fails && differences);
    note(
        "guard that fails beside clock differences",
        edges().any(|e| e.guard.divisor.is_some() && e.guard.atoms.iter().any(|a| a.y.is_some())),
    );
}

/// Whether a report is an error of the model with a run to a region where something fails.
fn shows_error(
    model: &model::TestModel,
    graph: &Graph,
    report: &zonelens_analysis::report::QueryReport,
) -> bool {
    let of_model = report.reason_text().starts_with("model-error: line");
    let last = report.trace.as_ref().and_then(|t| t.steps.last());
    // With endless differences, the oracle represents clocks that are far from 0 with only one
    // fraction.
    let right = |state| {
        model.endless_differences
            || runs::region(model, graph, state).is_some_and(|k| graph.fails[k])
    };
    report.verdict == Verdict::Error && of_model && last.is_some_and(|step| right(&step.state))
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Number of models; `ZONELENS_ORACLE_MODELS` overrides.
fn models() -> usize {
    from_environment("ZONELENS_ORACLE_MODELS").map_or(3000, |n| n as usize)
}

#[test]
fn engine_and_oracle_agree() {
    // Other seeds find other bugs: `ZONELENS_ORACLE_SEED` overrides.
    let seed = from_environment("ZONELENS_ORACLE_SEED").unwrap_or(20_261_116);
    let (failure, seen) = campaign(seed, models(), true);
    #[allow(clippy::print_stdout)]
    {
        println!("seed {seed}, {} models: {seen:#?}", models());
    }
    if let Some(message) = failure {
        panic!("{message}");
    }
    let count = |name: &str| seen.get(name).copied().unwrap_or(0);
    let total = count("satisfied") + count("violated");
    assert!(
        count("satisfied") * 4 >= total && count("violated") * 4 >= total,
        "one-sided generator"
    );
    let features = [
        "diagonal",
        "diagonal and ticks",
        "diagonal without end",
        "committed",
        "urgent location",
        "urgent channel",
        "broadcast",
        "priorities",
        "select",
        "reset to a value",
        "clock copy",
        "before_update",
        "after_update",
        "process priorities",
        "meta",
        "array cell tested by index",
        "array cell assigned by index",
        "clock tested by index",
        "clock set by index",
        "strict invariant",
        "clock guard on receiver",
        "clock guard on urgent",
        "bounds",
        "bounds without end",
        "function",
        "channel picked by index",
        "guard with a variable",
        "invariant with a variable",
        "difference in an invariant",
        "lower bound in an invariant",
        "integers in an invariant",
        "integers or clocks",
        "reset to a variable",
        "initial values",
        "convex-hull proof",
        "loose-clocks proof",
        "exact zones decide",
        "asked for hulls decide",
    ];
    for search in ["depth-first search", "best-first search"] {
        assert!(count(search) > 0, "{search} never decides");
    }
    // These are rarer, because the failing step must be reachable and not only present.
    let errors = [
        "fails",
        "priorities block a step that fails",
        "fails only where priorities block it",
        "fails beside clock differences",
    ];
    for error in errors {
        assert!(
            count(error) >= 25 || models() < 3000,
            "{error}: only {} models",
            count(error)
        );
    }
    for feature in features {
        assert!(
            count(feature) >= 100 || models() < 3000,
            "{feature}: only {} models",
            count(feature)
        );
    }
}

#[test]
fn every_seeded_bug_is_caught() {
    // `ZONELENS_ORACLE_BUG` selects one.
    let wanted = std::env::var("ZONELENS_ORACLE_BUG").ok();
    let chosen = |bug: &Mutation| wanted.as_ref().is_none_or(|w| *w == format!("{bug:?}"));
    for bug in Mutation::ALL.into_iter().filter(chosen) {
        mutation::set(Some(bug));
        // Most are found at once, those of rare features later.
        let caught = (0..20).any(|k| {
            // A bug may also show as a panic of a debug assertion or an impossible trace.
            std::panic::catch_unwind(|| campaign(77 + k, 500, false).0.is_some()).unwrap_or(true)
        });
        mutation::set(None);
        assert!(caught, "{bug:?} was not caught");
    }
}
