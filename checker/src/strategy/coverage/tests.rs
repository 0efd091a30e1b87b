//! What is never done, compared with an explorer of regions, with other searches and without
//! symmetry.

use crate::common::Verify;
use crate::mutation::{self, Mutation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use zonelens_analysis::coverage::{Coverage, Element, Finding};
use zonelens_analysis::network::Shape;
use zonelens_analysis::report::{AbstractionOption, Options, SearchOrder, SymmetryOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::oracle::model::{self, TestModel};
use zonelens_test_support::oracle::regions::{CAP, explore};
use zonelens_test_support::oracle::seen::{Never, never};
use zonelens_test_support::{Loaded, Rng, load, random, xta};

fn cover(model: &Loaded, options: &Options) -> Coverage {
    let cancelled = AtomicBool::new(false);
    let control = crate::Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let position = |span| model.position(span);
    crate::coverage(&model.network, options, &position, &control)
}

fn without_symmetry() -> Options {
    Options {
        symmetry: SymmetryOption::Off,
        ..Options::default()
    }
}

/// What a run of a generated model found, as the oracle names it.
fn named(test: &TestModel, coverage: &Coverage) -> BTreeSet<Never> {
    let pair = |p: u32, e: u32| (p as usize, e as usize);
    let named = coverage.unseen.iter().map(|one| match one.element {
        Element::Location { process, location } => {
            Never::Location(process as usize, location as usize)
        }
        Element::Edge { process, edge, .. } => Never::Edge(pair(process, edge).0, edge as usize),
        Element::Guard { process, edge } => Never::Guard(process as usize, edge as usize),
        Element::Receiver { process, edge } => Never::Receiver(process as usize, edge as usize),
        Element::Limit { cell, upper } => Never::Limit((cell as usize).min(test.vars), upper),
    });
    named.collect()
}

/// Compares `count` models from a seed with the explorer; returns the first difference, and how
/// often each kind was met.
fn campaign(seed: u64, count: usize, confirm: usize) -> (Option<String>, BTreeMap<String, usize>) {
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let mut note = |name: &str, times: usize| *met.entry(name.to_owned()).or_default() += times;
    for round in 0..count {
        let model_seed = seed.wrapping_mul(1_000_003).wrapping_add(round as u64);
        let test = model::random(&mut Rng::new(model_seed));
        let Some(graph) = explore(&test, 5_000, CAP) else {
            note("skipped", 1);
            continue;
        };
        let text = test.text();
        let loaded = load(&text, FileKind::Xta, &[])
            .unwrap_or_else(|e| panic!("seed {model_seed}: {e}\n{text}"));
        let coverage = cover(&loaded, &Options::default());
        let wrong = |why: &str| Some(format!("seed {model_seed}: {why}\n{coverage:?}\n{text}"));
        if graph.fails.contains(&true) {
            note("errors", 1);
            let reason = coverage
                .reason
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            if coverage.complete
                || !coverage.unseen.is_empty()
                || !reason.starts_with("model-error: line")
            {
                return (wrong("an error is not reported"), met);
            }
            continue;
        }
        note("compared", 1);
        let expected = never(&test, &graph);
        for one in &expected {
            let kind = format!("{one:?}");
            note(kind.split('(').next().unwrap_or_default(), 1);
        }
        if !coverage.complete || coverage.reason.is_some() || named(&test, &coverage) != expected {
            return (wrong(&format!("the oracle says {expected:?}")), met);
        }
        if round < confirm {
            let edges = test.processes.iter().map(|p| p.1.len()).sum();
            match confirmed(&text, &loaded, &coverage, edges) {
                Ok(asked) => note("asked", asked),
                Err(why) => return (wrong(&why), met),
            }
        }
    }
    (None, met)
}

/// Asks a query about every location, edge, guard and limit of a text with one edge per line, with
/// another search and without symmetry: `E<>` is violated exactly for what is never done, and
/// otherwise has a run that was replayed. Returns the number of queries.
fn confirmed(
    text: &str,
    loaded: &Loaded,
    coverage: &Coverage,
    edges: usize,
) -> Result<usize, String> {
    let options = Options {
        symmetry: SymmetryOption::Off,
        search: SearchOrder::Dfs,
        abstraction: AbstractionOption::ExtraM,
        timeout: Some(20.0),
        ..Options::default()
    };
    let found = |element: Element| coverage.unseen.iter().any(|u| u.element == element);
    let mut asked = 0;
    let mut ask = |model: &Loaded, query: &str, never: bool| {
        let report = model.verify(query, &options);
        asked += 1;
        let agrees = match report.verdict {
            Verdict::Violated => never,
            Verdict::Satisfied => !never && report.trace.is_some(),
            _ => false,
        };
        match agrees {
            true => Ok(()),
            false => Err(format!(
                "{query}: {:?} {:?}, never: {never}",
                report.verdict, report.reason
            )),
        }
    };
    let network = &loaded.network;
    let mut at = 0;
    for (p, process) in network.processes.iter().enumerate() {
        let process_id = p as u32;
        for (l, location) in process.locations.iter().enumerate() {
            let element = Element::Location {
                process: process_id,
                location: l as u32,
            };
            ask(
                loaded,
                &format!("E<> {}.{}", process.name, location.name),
                found(element),
            )?;
        }
        for (e, edge) in process.edges.iter().enumerate() {
            let (process, edge_id) = (process_id, e as u32);
            let element = Element::Edge {
                process,
                edge: edge_id,
                part: 0,
            };
            let (flagged, line) = flag_edge(text, at);
            at += 1;
            ask(&xta(&flagged), "E<> flag", found(element))?;
            let guard = line
                .split_once(" guard ")
                .and_then(|(_, rest)| rest.split_once(';'));
            if let Some((guard, _)) = guard
                && found(element)
                && !guard.contains("1 / ")
            {
                let name = &network.processes[p].name;
                let source = &network.processes[p].locations[edge.source as usize].name;
                let query = format!("E<> {name}.{source} && (exists (s : int[0,1]) ({guard}))");
                let entered = Element::Location {
                    process,
                    location: edge.source,
                };
                let never = found(Element::Guard {
                    process,
                    edge: edge_id,
                }) || found(entered);
                ask(loaded, &query, never)?;
            }
        }
    }
    assert_eq!(at, edges, "every edge was asked about");
    for limit in coverage
        .unseen
        .iter()
        .filter(|u| matches!(u.element, Element::Limit { .. }))
    {
        let what = limit.element.what(network).unwrap_or_default();
        let what = what.replace('=', "==");
        let array = network.variables.iter().find(|v| &*v.name == "a");
        let query = match (array.map(|v| &v.shape), what.strip_prefix('a')) {
            (Some(Shape::Array { index, .. }), Some(rest)) => {
                format!("E<> exists (i : int[0,{}]) a[i]{rest}", index.len - 1)
            }
            _ => format!("E<> {what}"),
        };
        ask(loaded, &query, true)?;
    }
    Ok(asked)
}

/// The text in which the edge with this number sets `flag`, and the line of the edge before.
fn flag_edge(text: &str, number: usize) -> (String, String) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let edges = lines
        .iter_mut()
        .filter(|line| line.starts_with("    ") && line.contains(" -> "));
    let line = edges.into_iter().nth(number).expect("an edge");
    let before = line.clone();
    *line = match line.contains(" assign ") {
        true => line.replacen(" assign ", " assign flag = true, ", 1),
        false => {
            let end = line.rfind('}').expect("braces");
            format!(
                "{} assign flag = true; {}",
                line[..end].trim_end(),
                &line[end..]
            )
        }
    };
    (format!("bool flag;\n{}\n", lines.join("\n")), before)
}

fn models(default: usize) -> usize {
    let given = std::env::var("ZONELENS_COVERAGE_MODELS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn never_is_what_no_region_does() {
    let count = models(400);
    let (failure, met) = campaign(20_261_118, count, count / 20);
    #[allow(clippy::print_stdout)]
    {
        println!("{count} models: {met:#?}");
    }
    if let Some(message) = failure {
        panic!("{message}");
    }
    for kind in [
        "Location", "Edge", "Guard", "Receiver", "Limit", "errors", "asked",
    ] {
        let times = met.get(kind).copied().unwrap_or(0);
        assert!(times >= 15, "{kind}: only {times}");
    }
}

#[test]
fn seeded_bugs_are_caught() {
    let others = [
        Mutation::MissedInvariant,
        Mutation::CommittedIgnored,
        Mutation::LazyReceivers,
        Mutation::ThickBorder,
        Mutation::UrgencyIgnored,
        Mutation::LowBound,
    ];
    for bug in Mutation::OF_COVERAGE.into_iter().chain(others) {
        mutation::set(Some(bug));
        let caught = (0..10).any(|k| {
            // A bug may also show as a panic of a debug assertion.
            std::panic::catch_unwind(|| campaign(500 + k, 200, 0).0.is_some()).unwrap_or(true)
        });
        mutation::set(None);
        assert!(caught, "{bug:?} was not caught");
    }
}

/// With and without the reduction, declared sets and detected ones.
#[test]
fn symmetry_changes_nothing() {
    let (mut compared, mut reduced, mut never) = (0, 0, 0);
    for seed in 0..models(200) as u64 {
        let mut rng = Rng::new(seed + 77_000);
        let (odd, numbered) = (seed % 3 == 0, seed % 2 == 0);
        let wide = seed % 4 >= 2;
        let text = match wide {
            true => random::wide::model(&mut rng, numbered),
            false => random::model(&mut rng, odd, numbered),
        };
        // Some of the odd ones have errors.
        let Ok(loaded) = load(&text, FileKind::Xta, &[]) else {
            continue;
        };
        let limits = Options {
            states: Some(2_000),
            timeout: Some(10.0),
            ..Options::default()
        };
        let with = cover(&loaded, &limits);
        let without = cover(
            &loaded,
            &Options {
                states: Some(10_000),
                ..without_symmetry()
            },
        );
        if !with.complete || !without.complete {
            let end = |c: &Coverage| {
                c.reason.as_ref().map(|r| {
                    r.to_string()
                        .split(':')
                        .next()
                        .unwrap_or_default()
                        .to_owned()
                })
            };
            let states = Some("states".to_owned());
            if end(&with) != states && end(&without) != states {
                assert_eq!(end(&with), end(&without), "seed {seed}\n{text}");
            }
            continue;
        }
        compared += 1;
        reduced += usize::from(with.statistics.stored < without.statistics.stored);
        never += with.unseen.len();
        assert_eq!(with.unseen, without.unseen, "seed {seed}\n{text}");
        assert_eq!(with.totals, without.totals);
        if seed % 20 == 1 && !wide {
            let found: Vec<Finding> = with.findings(&loaded.network, &|s| loaded.position(s));
            locations_confirmed(&loaded, &found);
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{compared} compared, {reduced} with fewer states, {never} never done");
    }
    assert!(
        compared >= 60 && reduced >= 25 && never >= 60,
        "{compared} {reduced} {never}"
    );
}

/// Asks about every location of `P` and its never entered ones with a query.
fn locations_confirmed(loaded: &Loaded, found: &[Finding]) {
    for location in ["a", "b", "e"] {
        let never = found
            .iter()
            .any(|f| f.template.as_deref() == Some("P") && f.what == location);
        let query = format!("E<> exists (i : S) P(i).{location}");
        let report = loaded.verify(&query, &without_symmetry());
        let expected = if never {
            Verdict::Violated
        } else {
            Verdict::Satisfied
        };
        assert_eq!(report.verdict, expected, "{query}");
    }
}

/// The findings of a text, as sentences.
fn sentences(text: &str) -> Vec<String> {
    let model = xta(text);
    let coverage = cover(&model, &Options::default());
    assert!(coverage.complete, "{:?}", coverage.reason);
    let off = cover(&model, &without_symmetry());
    assert_eq!(coverage.unseen, off.unseen);
    let found = coverage.findings(&model.network, &|s| model.position(s));
    found.iter().map(|f| f.sentence(true)).collect()
}

#[test]
fn each_kind_says_what_is_known() {
    let found = sentences(
        "int[0,5] n; int[1,3] fixed = 2; bool b; int free; clock x; chan c, d;
         process P() { int[0,1] a[3]; state s, t { x <= 3 }, u, v; init s;
         trans s -> t { guard n < 3; assign n = n + 1; }, t -> s { guard x > 3; }, t -> s { assign a[1] = 1, x = 0; },
           s -> s { sync c?; }, s -> s { sync d?; }, u -> v { }, v -> s { sync c?; }; }
         process Q() { state s; init s; trans s -> s { guard n > 4; sync d!; }; }
         system P, Q;",
    );
    assert_eq!(
        found,
        [
            "the limit `n = 5` is never reached: its values are 0 to 3",
            "the limit `fixed = 1` is never reached: its value is always 2",
            "the limit `fixed = 3` is never reached: its value is always 2",
            "location `u` is never entered: no edge leads to it",
            "location `v` is never entered: every edge to it starts in a location that is never entered",
            "edge `t → s` is never taken: its guard is never true in `t`",
            "the guard of `t → s` is never true",
            "edge `s → s` is never taken: no process sends on `c`",
            "the receiver `s → s` never hears anything: no process sends on `c`",
            "edge `s → s` is never taken: it never hears `d`",
            "the receiver `s → s` never hears anything",
            "edge `u → v` is never taken: `u` is never entered",
            "edge `v → s` is never taken: `v` is never entered",
            "edge `s → s` is never taken: its guard is never true in `s`",
            "the guard of `s → s` is never true",
        ]
    );
}

/// Blocked steps are not taken, although their guards are true.
#[test]
fn what_is_blocked_is_not_taken() {
    // By a committed location that is never left.
    let found = sentences(
        "process P() { state s, t; init s; trans s -> t { }; }
         process Q() { state c; commit c; init c; trans c -> c { }; } system P, Q;",
    );
    assert_eq!(
        found,
        [
            "location `t` is never entered",
            "edge `s → t` is never taken"
        ]
    );
    // By a step of higher priority.
    let found = sentences(
        "process P() { state s; init s; trans s -> s { }; }
         process Q() { state s; init s; trans s -> s { }; } system P < Q;",
    );
    assert_eq!(found, ["edge `s → s` is never taken"]);
    // By the invariant of the target, and by an urgent step that stops time before the guard.
    let found = sentences(
        "clock x; urgent chan a; process P() { state s, t { x <= 1 }, u; init s;
         trans s -> t { guard x >= 2; }, s -> u { sync a!; }; }
         process Q() { state s; init s; trans s -> s { sync a?; }; } system P, Q;",
    );
    assert_eq!(
        found,
        [
            "location `t` is never entered",
            "edge `s → t` is never taken: its guard is never true in `s`",
            "the guard of `s → t` is never true"
        ]
    );
    let found = sentences(
        "clock x; process P() { state s, t { x <= 1 }; init s; trans s -> t { guard x >= 2; }; } system P;",
    );
    assert_eq!(
        found,
        [
            "location `t` is never entered",
            "edge `s → t` is never taken"
        ]
    );
}

/// A guard may become true while time passes, and a receiver takes part only where its guard holds.
#[test]
fn moments_within_a_delay_count() {
    let found = sentences(
        "clock x; broadcast chan b; process P() { state s { x < 3 }, t; init s;
         trans s -> t { guard x > 2; sync b!; }; }
         process Q() { state s, t; init s; trans s -> t { guard x < 2; sync b?; }, s -> s { guard x >= 2; sync b?; }; }
         system P, Q;",
    );
    assert_eq!(
        found,
        [
            "location `t` is never entered",
            "edge `s → t` is never taken: it never hears `b`",
            "the receiver `s → t` never hears anything"
        ]
    );
}

/// Steps into states that are stored already count.
#[test]
fn steps_back_count() {
    assert_eq!(
        sentences("process P() { state s; init s; trans s -> s { }, s -> s { }; } system P;"),
        Vec::<String>::new()
    );
}

/// Some process of a template is enough, and some entry of an array.
#[test]
fn a_template_is_counted_once() {
    let found = sentences(
        "int[0,2] a[4]; process P(const int[0,1] i) { int[0,3] own; state s, t; init s;
         trans s -> t { guard i == 1; assign own = 3, a[2] = 2; }, t -> s { guard i == 0; }; } system P;",
    );
    assert_eq!(
        found,
        [
            "edge `t → s` is never taken: its guard is never true in `t`",
            "the guard of `t → s` is never true"
        ]
    );
    let found = sentences(
        "process P(const int n) { int[0,3] own; state s, t; init s; trans s -> t { guard n > 2; assign own = n; }; }
         A = P(1); B = P(3); system A, B;",
    );
    assert_eq!(found, Vec::<String>::new());
}

/// The values of elements are names, which the reduction exchanges.
#[test]
fn elements_have_no_limits() {
    let found = sentences(
        "typedef scalar[3] S; S owner; int[0,2] count[S]; process P(const S i) { state s, t; init s;
         trans s -> t { guard count[i] < 1; assign count[i] = count[i] + 1; }; } system P;",
    );
    assert_eq!(
        found,
        ["the limit `count = 2` is never reached: its values are 0 to 1"]
    );
}

/// Stopped by a limit, nothing is called never.
#[test]
fn a_run_that_was_stopped_claims_nothing() {
    let model = xta(
        "int[0,1000] n; process P() { state s, t; init s; trans s -> s { guard n < 1000; assign n = n + 1; },
         s -> t { guard n > 999; }; } system P;",
    );
    let options = Options {
        states: Some(100),
        ..Options::default()
    };
    let coverage = cover(&model, &options);
    assert!(!coverage.complete);
    let reason = coverage.reason.as_ref().expect("a reason").to_string();
    assert!(reason.starts_with("states: "), "{reason}");
    assert!(coverage.unseen.iter().all(|u| u.because.is_none()));
    let report = coverage.report(&model.network, "m.xta", &|s| model.position(s));
    assert!(
        report.never.is_empty() && report.not_seen.len() == 4,
        "{report:?}"
    );
    let seen = format!("not seen in {} states", coverage.statistics.explored);
    for one in &report.not_seen {
        assert_eq!(one.because.as_deref(), Some(&seen[..]));
        assert!(!one.sentence(false).contains("never"), "{one:?}");
    }
    let all = cover(&model, &Options::default());
    assert!(all.complete && all.unseen.is_empty(), "{all:?}");
}

#[test]
fn branches_are_edges_of_their_own() {
    let text = "<nta><declaration>clock x;</declaration><template><name>P</name>\
        <location id=\"a\"><name>A</name></location>\
        <location id=\"b\"><name>B</name><label kind=\"invariant\">x &lt; 1</label></location>\
        <location id=\"c\"><name>C</name></location>\
        <branchpoint id=\"k\"/><init ref=\"a\"/>\
        <transition><source ref=\"a\"/><target ref=\"k\"/><label kind=\"guard\">x &gt; 1</label></transition>\
        <transition><source ref=\"k\"/><target ref=\"b\"/></transition>\
        <transition><source ref=\"k\"/><target ref=\"c\"/></transition>\
        </template><system>system P;</system></nta>";
    let model = load(text, FileKind::Xml, &[]).expect("a model");
    let coverage = cover(&model, &Options::default());
    let found = coverage.findings(&model.network, &|s| model.position(s));
    let found: Vec<String> = found.iter().map(|f| f.sentence(true)).collect();
    assert_eq!(
        found,
        [
            "location `B` is never entered",
            "edge `branchpoint → B` is never taken"
        ]
    );
    assert_eq!(coverage.totals.edges, 3);
}

#[test]
fn stopped_clocks_limit_what_is_known() {
    let model = xta("clock x; process P() { state s { x' == 0 }, t; init s; } system P;");
    let coverage = cover(&model, &Options::default());
    let reason = coverage.reason.expect("a reason").to_string();
    assert!(
        coverage.complete && reason.starts_with("approximate: "),
        "{reason}"
    );
    assert_eq!(coverage.unseen.len(), 1);
}

#[test]
fn errors_of_the_model_end_the_run() {
    let model = xta(
        "int[0,2] n; process P() { state s; init s; trans s -> s { assign n = n + 1; }; } system P;",
    );
    let coverage = cover(&model, &Options::default());
    assert!(!coverage.complete && coverage.unseen.is_empty());
    let reason = coverage.reason.expect("a reason").to_string();
    assert!(
        reason.starts_with("model-error: line 1, column "),
        "{reason}"
    );
}
