//! Runs that avoid a condition, in networks of loosely connected processes with thousands of zones:
//! every proof that there is no such run, and every run that is found, must agree with a complete
//! search of exact zones.

use crate::common;

use common::Verify;
#[allow(dead_code)]
use zonelens_test_support::random;

use random::Rng;
use std::collections::BTreeMap;
use zonelens_analysis::report::{AbstractionOption, Options, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;

const LOCATIONS: usize = 3;

/// A process that cycles through its locations, each within a time window, and sometimes reads a
/// counter, waits for a signal, or has a step that takes no time.
fn worker(rng: &mut Rng, name: usize) -> String {
    let (mut states, mut edges) = (Vec::new(), Vec::new());
    for at in 0..LOCATIONS {
        let least = rng.below(4);
        let most = least + 1 + rng.below(4);
        let waits = rng.below(9) == 0;
        states.push(match waits {
            true => format!("l{at}"),
            false => format!("l{at} {{ x <= {most} }}"),
        });
        let test = match rng.below(5) {
            0 => " && n == 0",
            1 => " && n > 0",
            _ => "",
        };
        let (sync, guard) = match waits {
            true => ("sync go?; ", String::new()),
            false => (
                rng.pick(&["", "", "sync go!; "]),
                format!("guard x >= {least}{test}; "),
            ),
        };
        let count = rng.pick(&["", "", ", n = (n + 1) % 3", ", n = 0"]);
        let next = (at + 1) % LOCATIONS;
        edges.push(format!(
            "l{at} -> l{next} {{ {guard}{sync}assign x = 0{count}; }}"
        ));
        match rng.below(40) {
            0 => edges.push(format!("l{at} -> l{at} {{ guard n == {}; }}", rng.below(3))),
            // If a test prevented it from leaving, it continues to wait.
            1..20 if !waits && !test.is_empty() => {
                edges.push(format!(
                    "l{at} -> l{at} {{ guard x == {most}; assign x = 0; }}"
                ));
            }
            _ => {}
        }
    }
    format!(
        "process P{name}() {{ clock x; state {}; init l0; trans {}; }}\n",
        states.join(", "),
        edges.join(", ")
    )
}

fn model(rng: &mut Rng) -> String {
    let workers = 3 + rng.below(2);
    let processes: String = (0..workers).map(|k| worker(rng, k)).collect();
    let names: Vec<String> = (0..workers).map(|k| format!("P{k}")).collect();
    format!(
        "int[0,2] n; broadcast chan go;\n{processes}system {};\n",
        names.join(", ")
    )
}

fn query(rng: &mut Rng) -> String {
    let mut at = || format!("P{}.l{}", rng.below(3), rng.below(LOCATIONS));
    let (p, q) = (at(), at());
    match rng.below(5) {
        0 => format!("A<> {q}"),
        1 => format!("E[] !{q}"),
        2 => format!("{p} && n > 0 --> {q}"),
        3 => format!("{p} --> {q} && P0.x >= 1"),
        _ => format!("{p} --> {q}"),
    }
}

#[test]
fn whatever_decides_about_runs_agrees_with_exact_zones() {
    let count = std::env::var("ZONELENS_RUN_MODELS").ok();
    let count = count.and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..count {
        let mut rng = Rng(seed);
        let text = model(&mut rng);
        let query = query(&mut rng);
        let loaded = common::load(&text, FileKind::Xta, &[]);
        let loaded = loaded.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let exactly = Options {
            abstraction: AbstractionOption::ExtraM,
            states: Some(20_000),
            timeout: Some(10.0),
            ..Options::default()
        };
        let exact = loaded.verify(&query, &exactly).verdict;
        *seen.entry(format!("{exact:?}")).or_default() += 1;
        for first_turn in [4, 40, 400] {
            let options = Options {
                first_turn: Some(first_turn),
                trace: TraceOption::Some,
                timeout: Some(10.0),
                ..Options::default()
            };
            let report = loaded.verify(&query, &options);
            for by in report.reductions.iter().filter(|r| r.contains(' ')) {
                *seen
                    .entry(format!("{by}: {:?}", report.verdict))
                    .or_default() += 1;
            }
            let open = [exact, report.verdict].contains(&Verdict::Unknown);
            assert!(
                open || report.verdict == exact,
                "seed {seed}, first turn {first_turn}: {query}\nexact {exact:?}, {:?} {:?} by {:?}\n{text}",
                report.verdict,
                report.reason,
                report.reductions
            );
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{seen:#?}");
    }
    let sum = |by: &str| -> usize {
        let found = seen.iter().filter(|(name, _)| name.starts_with(by));
        found.map(|(_, n)| n).sum()
    };
    for by in ["loose-clocks proof", "guided search"] {
        assert!(sum(by) > 20, "{by} decided {} times", sum(by));
    }
    assert!(sum("Satisfied") > 20 && sum("Violated") > 20);
}
