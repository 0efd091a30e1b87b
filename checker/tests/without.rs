//! Strategies are left out one at a time and all together: the verdict is the same, and a strategy
//! that was left out does not decide.

use crate::common::{self, Loaded, Verify};
use std::collections::BTreeMap;
use zonelens_analysis::report::{Options, QueryReport, Switch, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::Rng;
use zonelens_test_support::oracle::model;
use zonelens_test_support::oracle::queries::random_goal;
use zonelens_test_support::oracle::regions::{CAP, explore};

/// The text of the result when each of them decided: scripts search for these words.
const WORDS: [(Switch, &str); 7] = [
    (Switch::LuBounds, "proof under LU bounds"),
    (Switch::BestFirst, "best-first search"),
    (Switch::RandomDepthFirst, "random depth-first search"),
    (Switch::DepthFirst, "depth-first search"),
    (Switch::Hulls, "convex-hull proof"),
    (Switch::LooseClocks, "loose-clocks proof"),
    (Switch::Guided, "guided search"),
];

/// Two counters, with a goal that is deep among their values or does not exist.
const COUNTERS: &str = "int[0,300] n; int[0,300] m; bool both; process P() { state A; init A; trans \
     A -> A { guard n < 300; assign n++; }, A -> A { guard m < 300; assign m++; }, \
     A -> A { guard n >= 90 && m >= 90; assign both = true; }; } system P;";

/// A run avoids `B` in `Trap`; depth first search explores only counters and the zones of tickers.
fn trapped() -> String {
    let ticker = |k: usize| {
        format!(
            "process T{k}() {{ clock t; state S {{ t <= {} }}; init S; trans S -> S {{ guard t >= {}; assign t = 0; }}; }} ",
            3 + k,
            1 + k
        )
    };
    let tickers: String = (0..4).map(ticker).collect();
    format!(
        "int[0,20] n; int[0,20] m; process P() {{ clock x; state A {{ x <= 20 }}, W {{ x <= 20 }}, C {{ x <= 20 }}, \
         Trap {{ x <= 20 }}, B; init A; trans A -> W {{ guard x >= 10; }}, W -> W {{ guard n < 20; assign n++; }}, \
         W -> W {{ guard m < 20; assign m++; }}, W -> B {{ guard n + m > 10; }}, \
         A -> C {{ guard x >= 10; assign x = 0; }}, C -> Trap {{ guard x >= 15; }}, Trap -> Trap {{ }}, \
         Trap -> B {{ }}; }} {tickers} system P, T0, T1, T2, T3;"
    )
}

fn options(first_turn: u64, without: &[Switch]) -> Options {
    Options {
        first_turn: Some(first_turn),
        without: without.iter().copied().collect(),
        trace: TraceOption::None,
        states: Some((first_turn * 10).max(20_000)),
        ..Options::default()
    }
}

/// The strategy that decided, if it can be left out.
fn decided_by(report: &QueryReport) -> Option<Switch> {
    let named = |(_, words): &&(Switch, &str)| report.reductions.iter().any(|r| r == words);
    WORDS.iter().find(named).map(|(switch, _)| *switch)
}

/// Verifies with all strategies, without each one, and without all; counts how often each decided.
fn compare(
    name: &str,
    loaded: &Loaded,
    query: &str,
    first_turn: u64,
    seen: &mut BTreeMap<Switch, usize>,
) {
    let with_all = loaded.verify(query, &options(first_turn, &[]));
    let mut sets: Vec<Vec<Switch>> = Switch::ALL.iter().map(|s| vec![*s]).collect();
    sets.push(Switch::ALL.to_vec());
    if let Some(switch) = decided_by(&with_all) {
        *seen.entry(switch).or_default() += 1;
    }
    for without in sets {
        let report = loaded.verify(query, &options(first_turn, &without));
        let verdicts = [with_all.verdict, report.verdict];
        assert!(
            verdicts.contains(&Verdict::Unknown) || verdicts[0] == verdicts[1],
            "{name}, {query}, first turn {first_turn}: {:?} by {:?}, without {without:?} {:?} {:?} by {:?}",
            with_all.verdict,
            with_all.reductions,
            report.verdict,
            report.reason,
            report.reductions,
        );
        let by = decided_by(&report);
        by.iter().for_each(|by| *seen.entry(*by).or_default() += 1);
        assert!(
            by.is_none_or(|by| !without.contains(&by)),
            "{name}, {query}: {by:?} was left out and decided"
        );
    }
}

#[test]
fn each_strategy_can_be_left_out_and_decides_something() {
    // Simulation does not decide, but how zones are compared.
    let all = WORDS.iter().map(|(switch, _)| *switch);
    assert!(all.chain([Switch::Simulation]).eq(Switch::ALL));
    let count = std::env::var("ZONELENS_WITHOUT_MODELS").ok();
    let count = count.and_then(|n| n.parse().ok()).unwrap_or(80);
    let mut seen = BTreeMap::new();
    let counters = common::xta(COUNTERS);
    for query in ["E<> n >= 60 && m >= 60", "E<> both", "A[] n + m <= 600"] {
        for first_turn in [40, 400] {
            compare("counters", &counters, query, first_turn, &mut seen);
        }
    }
    // Random search finds the goal, breadth first search finds it late, depth first search never,
    // and no number shows how near it is.
    let deep = COUNTERS.replace("300", "1000000").replace("90", "300");
    let deep = common::xta(&deep);
    let with_all = deep.verify("E<> both", &options(20_000, &[]));
    assert_eq!(decided_by(&with_all), Some(Switch::RandomDepthFirst));
    seen.insert(Switch::RandomDepthFirst, 1);
    let without = [Switch::RandomDepthFirst];
    let report = deep.verify("E<> both", &options(20_000, &without));
    assert!([Verdict::Satisfied, Verdict::Unknown].contains(&report.verdict));
    assert_ne!(decided_by(&report), Some(Switch::RandomDepthFirst));
    let trapped = common::xta(&trapped());
    compare("trapped", &trapped, "A<> P.B", 2000, &mut seen);
    for seed in 0..count {
        let mut rng = Rng::new(9_000_000 + seed);
        let model = model::random(&mut rng);
        let Some(graph) = explore(&model, 3000, CAP) else {
            continue;
        };
        let text = model.text();
        let loaded = common::load(&text, FileKind::Xta, &[]);
        let loaded = loaded.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let (goal, _) = random_goal(&mut rng, &model, &graph);
        let name = format!("seed {seed}\n{text}");
        let mut queries = vec![
            format!("E<> {goal}"),
            format!("A[] {goal}"),
            "A[] not deadlock".to_owned(),
        ];
        if !goal.contains("deadlock") {
            queries.extend([
                format!("E[] {goal}"),
                format!("A<> {goal}"),
                format!("{goal} --> v0 == 1"),
            ]);
        }
        for query in queries {
            compare(&name, &loaded, &query, 1 + seed % 4, &mut seen);
        }
    }
    for (switch, words) in WORDS {
        let times = seen.get(&switch).copied().unwrap_or_default();
        assert!(
            times > 0,
            "`{switch}` ({words}) decided nothing of the sample: {seen:?}"
        );
    }
}

/// A strategy that is left out does not run at all: the exact search alone explores the states that
/// are reported.
#[test]
fn what_is_left_out_does_not_run() {
    let counters = common::xta(COUNTERS);
    let query = "A[] n + m <= 120";
    let explored = |without: &[Switch]| {
        let report = counters.verify(query, &options(400, without));
        assert_eq!(report.verdict, Verdict::Violated, "{without:?}");
        (
            report.statistics.explored,
            report.statistics.explored_by_all,
        )
    };
    let (alone, by_all) = explored(&Switch::ALL);
    assert!((alone..=alone + 1).contains(&by_all), "{alone} {by_all}");
    let finders = [
        Switch::BestFirst,
        Switch::RandomDepthFirst,
        Switch::DepthFirst,
    ];
    for only in finders {
        let others: Vec<Switch> = Switch::ALL.into_iter().filter(|s| *s != only).collect();
        let (explored, by_all) = explored(&others);
        assert!(by_all > explored + 50, "{only}: {explored} of {by_all}");
    }
}
