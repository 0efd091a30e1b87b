//! Certificates of claims about random models: those of the engine are accepted, those of an engine
//! with a seeded bug are not, and no false claim is.

use crate::common::{self, Loaded};
use crate::mutation::{self, Mutation};
use crate::{Certificate, Control, verify_and_certify};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::Query;
use zonelens_analysis::report::{Options, QueryReport, Verdict};
use zonelens_certificate::{Accepted, Kind, Limits, Obligation, Rejection, Shape, Writer, check};
use zonelens_test_support::Rng;
use zonelens_test_support::certificate::{File, mutants};
use zonelens_test_support::oracle::model::{self, Clock, Place, TestModel};
use zonelens_test_support::oracle::queries::{Asked, random_query};
use zonelens_test_support::oracle::regions::{CAP, Graph, explore};
use zonelens_test_support::random;

fn certified(loaded: &Loaded, query: &Query) -> (QueryReport, Result<Certificate, String>) {
    certified_with(loaded, query, None)
}

/// The same with a short first turn, so that other strategies decide.
fn certified_with(
    loaded: &Loaded,
    query: &Query,
    first_turn: Option<u64>,
) -> (QueryReport, Result<Certificate, String>) {
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let options = Options {
        timeout: Some(10.0),
        first_turn,
        ..Options::default()
    };
    let about = ("a test", &BTreeMap::new());
    let position = |span| loaded.position(span);
    verify_and_certify(&loaded.network, query, &options, about, &position, &control)
}

fn accept(loaded: &Loaded, query: &Query, bytes: &[u8]) -> Result<Accepted, Rejection> {
    let (reader, limits) = (std::io::Cursor::new(bytes), Limits::default());
    check(&loaded.network, query, reader, bytes.len() as u64, &limits)
}

/// A query for one of the reachable regions, which is therefore satisfied.
fn reachable(rng: &mut Rng, model: &TestModel, graph: &Graph) -> Asked {
    let state = &graph.states[rng.below(graph.states.len())];
    let at = |(p, l): (usize, &usize)| format!("P{p}.l{l}");
    let mut parts: Vec<String> = state.locations.iter().enumerate().map(at).collect();
    for (k, value) in state.vars.iter().enumerate() {
        let place = match k.checked_sub(model.vars) {
            None => Place::Var(k),
            Some(cell) => Place::Cell(cell, None),
        };
        parts.push(format!("{} == {value}", model.place_text(place)));
    }
    let x = rng.below(model.clocks);
    let clock = model.clock_text(Clock { x, by: None });
    let (whole, part) = (state.clocks[x] / graph.unit, state.clocks[x] % graph.unit);
    // With endless differences, large values stand for larger ones.
    if !model.endless_differences && rng.chance(70) {
        parts.push(match graph.cap {
            Some(cap) if whole > cap => format!("{clock} > {cap}"),
            _ if part == 0 => format!("{clock} == {whole}"),
            _ => format!("{clock} > {whole} && {clock} < {}", whole + 1),
        });
    }
    Asked {
        query: format!("E<> {}", parts.join(" && ")),
        expected: true,
        kind: "E<>",
        fails: graph.fails.contains(&true),
        absent: false,
    }
}

/// The claims of random models, with the oracle's answers: what becomes of each, counted by name.
fn claims(seed: u64, count: usize, bugs: &[Mutation]) -> BTreeMap<String, usize> {
    let correct = bugs.is_empty();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..count {
        let model_seed = seed.wrapping_mul(1_000_003).wrapping_add(round as u64);
        let mut rng = Rng::new(model_seed);
        let model = model::random(&mut rng);
        let Some(graph) = explore(&model, 10_000, CAP) else {
            continue;
        };
        let text = model.text();
        let loaded = common::load(&text, zonelens_syntax::ast::FileKind::Xta, &[])
            .unwrap_or_else(|e| panic!("seed {model_seed}: {e}\n{text}"));
        // A seeded bug rarely makes an answer to a random query wrong.
        for k in 0..if correct { 4 } else { 12 } {
            let asked = match k < 4 || bugs == Mutation::OF_RUNS {
                true => random_query(&mut rng, &model, &graph),
                false => reachable(&mut rng, &model, &graph),
            };
            let query = loaded.query(&asked.query).expect("a query");
            let Ok((kind, _)) = Kind::of(&query) else {
                continue;
            };
            // A certificate of `-->` also shows that no reachable evaluation fails.
            let fails = kind == Kind::LeadsTo && graph.fails.contains(&true);
            let wrong = asked.expected != kind.is_satisfied() || asked.fails || fails;
            let on = bugs.iter().copied().map(Some);
            for bug in on.chain(correct.then_some(None)) {
                mutation::set(bug);
                // A seeded bug may also show as a panic of a debug assertion.
                let first_turn = (kind.is_about_runs() && round % 2 == 1).then_some(2);
                let run = std::panic::catch_unwind(|| certified_with(&loaded, &query, first_turn));
                mutation::set(None);
                let Ok((report, certificate)) = run else {
                    assert!(!correct, "seed {model_seed}: a panic");
                    continue;
                };
                let claimed = match kind.is_satisfied() {
                    true => Verdict::Satisfied,
                    false => Verdict::Violated,
                };
                if report.verdict != claimed {
                    continue;
                }
                let context = || format!("seed {model_seed}: {}\n{text}", asked.query);
                let name = match certificate {
                    Err(reason) => {
                        let reason = reason.rsplit(": ").next().unwrap_or_default();
                        let word = if wrong { " for a wrong claim" } else { "" };
                        format!("none{word}: {reason}")
                    }
                    Ok(certificate) => {
                        let result = accept(&loaded, &query, &certificate.bytes);
                        assert!(
                            !(wrong && result.is_ok()),
                            "accepted, but wrong: {}",
                            context()
                        );
                        match result {
                            Ok(_) => format!("accepted {}", asked.kind),
                            Err(rejection) => {
                                assert!(!correct, "{rejection}: {}", context());
                                let word = if wrong { "wrong" } else { "right" };
                                format!("rejected, {word}: {}", rejection.obligation.name())
                            }
                        }
                    }
                };
                *seen.entry(name).or_default() += 1;
            }
        }
    }
    seen
}

/// Bugs of the engine under symmetry: whatever is accepted is true.
#[test]
fn wrong_claims_under_symmetry_are_rejected() {
    let count = super::from_environment("ZONELENS_CERTIFIED_SYMMETRIC").unwrap_or(60);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let text = random::model(&mut rng, false, seed % 2 == 1);
        let Ok(loaded) = common::load(&text, zonelens_syntax::ast::FileKind::Xta, &[]) else {
            continue;
        };
        let formula = rng.pick(&random::QUERIES);
        let Ok(query) = loaded.query(formula) else {
            continue;
        };
        let kind = match Kind::of(&query) {
            Ok((kind, _)) if !kind.is_about_runs() => kind,
            _ => continue,
        };
        let claimed = match kind.is_satisfied() {
            true => Verdict::Satisfied,
            false => Verdict::Violated,
        };
        let (right, _) = certified(&loaded, &query);
        if right.verdict == Verdict::Unknown {
            continue;
        }
        let right = right.verdict == claimed;
        let twins = [Mutation::TwinsForgotten];
        for bug in Mutation::ALL.into_iter().chain(twins) {
            mutation::set(Some(bug));
            let run = std::panic::catch_unwind(|| certified(&loaded, &query));
            mutation::set(None);
            let Ok((_, Ok(certificate))) = run else {
                continue;
            };
            let result = accept(&loaded, &query, &certificate.bytes);
            let word = if right { "right" } else { "wrong" };
            assert!(
                right || result.is_err(),
                "{bug:?}, seed {seed}: {formula}\n{text}"
            );
            let up_to = if certificate.symmetry {
                "symmetry, "
            } else {
                ""
            };
            let name = match result {
                Ok(_) => format!("{up_to}accepted, {word}"),
                Err(rejection) => {
                    format!("{up_to}rejected, {word}: {}", rejection.obligation.name())
                }
            };
            *seen.entry(name).or_default() += 1;
        }
    }
    shown(&seen);
    let of = |begin: &str| -> usize {
        let named = seen.iter().filter(|(name, _)| name.starts_with(begin));
        named.map(|(_, count)| count).sum()
    };
    assert!(of("symmetry, accepted, right") as u64 > count, "{seen:?}");
    assert!(of("symmetry, rejected") > 0, "{seen:?}");
}

#[allow(clippy::print_stdout)]
fn shown(seen: &BTreeMap<String, usize>) {
    println!("{seen:#?}");
}

#[test]
fn claims_about_random_models_are_certified() {
    let count = super::from_environment("ZONELENS_CERTIFIED_MODELS").unwrap_or(700);
    let seed = super::from_environment("ZONELENS_ORACLE_SEED").unwrap_or(21);
    let seen = claims(seed, count as usize, &[]);
    shown(&seen);
    for kind in ["A[]", "E<>", "deadlock", "A<>", "E[]", "-->"] {
        let accepted = seen.get(&format!("accepted {kind}")).copied();
        assert!(
            accepted.unwrap_or(0) as u64 * 20 >= count,
            "{kind}: {accepted:?}"
        );
    }
    // Nothing is left out but what is named.
    let named = "none: certificates do not cover clock guards on urgent channels";
    // A proof of `-->` need not explore what fails; its certificate does.
    let fails = "none for a wrong claim";
    let other =
        |name: &&String| name.starts_with("none") && *name != named && !name.starts_with(fails);
    assert_eq!(seen.keys().find(other), None, "{seen:?}");
}

#[test]
fn wrong_claims_of_seeded_bugs_are_rejected() {
    let count = super::from_environment("ZONELENS_CERTIFIED_BUGS").unwrap_or(60);
    let all = claims(4711, count as usize, &Mutation::ALL);
    shown(&all);
    let wrong =
        |(name, count): (&String, &usize)| name.starts_with("rejected, wrong").then_some(*count);
    let rejected: usize = all.iter().filter_map(wrong).sum();
    // Most bugs leave most answers right; what is not a proof is often noticed by the writer.
    assert!(rejected as u64 * 20 >= count, "{rejected}");
}

/// Bugs that random models rarely show, in models made for them.
#[test]
fn wrong_claims_about_runs_are_rejected() {
    // The exact search, which would find the run, has too few states before the other one ends.
    let at_once = "clock x, y; int[0, 18] n; process P() { state a { x <= 3 }, c; init a; trans \
                   a -> a { assign n = (n + 1) % 19, y = 0; }, a -> c { guard x >= 3; }; } system P;";
    let waiting = "process P() { state a, c; init a; trans a -> c { }; } system P;";
    for (bug, text, first_turn, obligation) in [
        (
            Mutation::StepsTakeTime,
            at_once,
            Some(1),
            Obligation::NoInfinitePath,
        ),
        (Mutation::NoWaiting, waiting, None, Obligation::NotForEver),
    ] {
        let loaded = common::xta(text);
        let query = loaded.query("A<> P.c").expect("a query");
        let (report, _) = certified_with(&loaded, &query, first_turn);
        assert_eq!(report.verdict, Verdict::Violated, "{bug:?}");
        mutation::set(Some(bug));
        let (report, certificate) = certified_with(&loaded, &query, first_turn);
        mutation::set(None);
        assert_eq!(report.verdict, Verdict::Satisfied, "{bug:?}");
        let certificate = certificate.unwrap_or_else(|e| panic!("{bug:?}: {e}"));
        let rejection = accept(&loaded, &query, &certificate.bytes).expect_err("rejected");
        assert_eq!(rejection.obligation, obligation, "{rejection}");
    }
    let count = super::from_environment("ZONELENS_CERTIFIED_BUGS").unwrap_or(60);
    shown(&claims(815, count as usize, &Mutation::OF_RUNS));
}

/// The states of a true claim, sold as the proof of a false one.
#[test]
fn false_claims_are_rejected() {
    let (mut tried, mut seen) = (0, BTreeMap::<&str, usize>::new());
    for seed in 0..250 {
        let mut rng = Rng::new(7_000 + seed);
        let model = model::random(&mut rng);
        let Some(graph) = explore(&model, 5_000, CAP) else {
            continue;
        };
        let loaded = common::xta(&model.text());
        let truth = loaded.query("A[] true").expect("a query");
        let (_, Ok(certificate)) = certified(&loaded, &truth) else {
            continue;
        };
        let network = &loaded.network;
        let mut file = File::read(network, &certificate.bytes).expect("a certificate");
        for _ in 0..6 {
            let asked = random_query(&mut rng, &model, &graph);
            let query = loaded.query(&asked.query).expect("a query");
            let Ok((kind, _)) = Kind::of(&query) else {
                continue;
            };
            if kind.is_about_runs() {
                continue;
            }
            let header = zonelens_certificate::header(network, &query, kind);
            let head = Writer::new(&header, Shape::new(network, 0, 0)).bytes;
            file.head = head[..head.len() - 2].to_vec();
            let result = accept(&loaded, &query, &file.write(network));
            if asked.expected != kind.is_satisfied() {
                tried += 1;
                let rejection = result.expect_err(&asked.query);
                *seen.entry(rejection.obligation.name()).or_default() += 1;
            }
        }
    }
    // The states are closed, so that only the claim itself fails.
    assert!(
        tried > 200 && seen[Obligation::Good.name()] * 10 > tried * 9,
        "{tried} {seen:?}"
    );
}

#[test]
fn changed_certificates_are_rejected_unless_they_are_proofs() {
    let count = super::from_environment("ZONELENS_CERTIFIED_MUTANTS").unwrap_or(600);
    let certify = |loaded: &Loaded, query: &str| {
        let query = loaded.query(query).expect("a query");
        certified(loaded, &query).1.ok().map(|c| c.bytes)
    };
    let accepts = |loaded: &Loaded, query: &str, bytes: &[u8]| {
        accept(loaded, &loaded.query(query).expect("a query"), bytes).is_ok()
    };
    let made = mutants(5, count as usize, &certify, &accepts).unwrap_or_else(|e| panic!("{e}"));
    #[allow(clippy::print_stdout)]
    {
        println!("change: (made, accepted) {made:#?}");
    }
    let changes = [
        "a zone dropped",
        "a bound tightened",
        "a cell made *",
        "a step left out",
    ];
    for change in changes {
        let (made, accepted) = made[change];
        assert!(
            made >= 10 && accepted * 2 < made,
            "{change}: {made} {accepted}"
        );
    }
}
