//! Fastest traces compared with an explorer of region corners.
//!
//! A state is a region with one of its corners: whole numbers for the clocks, namely those of the
//! point that a run comes close to. Moving from a region to the next one around the same corner
//! costs nothing. Moving inside a region from the lower corner to the upper one, which is one time
//! unit later, costs 1. The least sum is the infimum of the time that runs take (Larsen et al.: *As
//! cheap as possible*, 2001), whether or not bounds are strict. If a clock of the model is never
//! set, the regions themselves show whether the infimum is reached.

use super::from_environment;
use crate::common::{self, Verify};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, Trace, TraceOption, Verdict,
};
use zonelens_test_support::Rng;
use zonelens_test_support::oracle::model::{self, TestModel};
use zonelens_test_support::oracle::queries::random_goal;
use zonelens_test_support::oracle::regions::{CAP, Graph, State, Walker, explore};

/// The value of a clock beyond the cap in every corner.
const BEYOND: i32 = i32::MAX;

/// The corners of a region, the lower one first.
fn corners(graph: &Graph, s: &State) -> Vec<Vec<i32>> {
    let (unit, beyond) = (graph.unit, |c: i32| {
        graph.cap.is_some_and(|cap| c > cap * graph.unit)
    });
    let counting = s.clocks.iter().filter(|c| !beyond(**c));
    let mut fractions: Vec<i32> = counting.map(|c| c % unit).filter(|f| *f > 0).collect();
    fractions.sort_unstable();
    fractions.dedup();
    // The clocks with the greatest fractions are rounded up, one after the other.
    let mut least = vec![unit];
    least.extend(fractions.iter().rev());
    let corner = |from: i32| {
        let clocks = s.clocks.iter();
        clocks
            .map(|c| match beyond(*c) {
                true => BEYOND,
                false => c / unit + i32::from(c % unit >= from),
            })
            .collect()
    };
    least.into_iter().map(corner).collect()
}

/// The least time in which runs come close to a region where the condition holds.
fn least_time(model: &TestModel, graph: &Graph, goal: &[bool]) -> Option<i64> {
    let walker = Walker::new(model, graph.cap.unwrap_or(CAP));
    let index: HashMap<&State, usize> = (0..).zip(&graph.states).map(|(k, s)| (s, k)).collect();
    let all: Vec<Vec<Vec<i32>>> = graph.states.iter().map(|s| corners(graph, s)).collect();
    // Moves to another region around the same corner; clocks beyond the cap have no corner.
    let same = |to: usize, corner: &[i32]| {
        let fits = |other: &&Vec<i32>| {
            let mut pairs = other.iter().zip(corner);
            pairs.all(|(a, b)| *a == BEYOND || a == b)
        };
        all[to].iter().find(fits).map(|other| (to, other.clone()))
    };
    let mut done = HashSet::new();
    let mut queue = VecDeque::from([(0i64, (0usize, all[0][0].clone()))]);
    while let Some((time, (k, corner))) = queue.pop_front() {
        if !done.insert((k, corner.clone())) {
            continue;
        }
        if goal[k] {
            return Some(time);
        }
        let s = &graph.states[k];
        for (taken, t) in walker.actions(s).0 {
            let mut at = s.clone();
            at.clocks = corner
                .iter()
                .map(|c| match *c {
                    BEYOND => BEYOND,
                    c => c * graph.unit,
                })
                .collect();
            walker.apply(&mut at, &taken);
            let after: Vec<i32> = at
                .clocks
                .iter()
                .map(|c| if *c == BEYOND { BEYOND } else { c / graph.unit })
                .collect();
            if let Some(to) = same(index[&t], &after) {
                queue.push_front((time, to));
            }
        }
        if let Some(to) = graph.delays[k].and_then(|to| same(to, &corner)) {
            queue.push_front((time, to));
        }
        let later: Vec<i32> = corner.iter().map(|c| c.saturating_add(1)).collect();
        if walker.may_delay(s) && all[k].contains(&later) && later != corner {
            queue.push_back((time + 1, (k, later)));
        }
    }
    None
}

/// The least value of the clock that measures the total time, in halves: odd for values between two
/// whole numbers.
fn least_of_end(model: &TestModel, graph: &Graph, goal: &[bool]) -> Option<i64> {
    let reached = (0..graph.states.len()).filter(|k| goal[*k]);
    let halves = reached.map(|k| {
        let parts = graph.states[k].clocks[model.clocks];
        i64::from(2 * (parts / graph.unit) + i32::from(parts % graph.unit != 0))
    });
    halves.min()
}

fn total(trace: &Trace) -> f64 {
    let value = |text: &str| match text.split_once('/') {
        Some((n, d)) => n.parse::<f64>().expect("a number") / d.parse::<f64>().expect("a number"),
        None => text.parse().expect("a number"),
    };
    trace.steps.iter().map(|s| value(&s.delay)).sum()
}

fn options(rng: &mut Rng) -> Options {
    let mut options = Options {
        trace: TraceOption::Fastest,
        timeout: Some(60.0),
        ..Options::default()
    };
    match rng.below(8) {
        0 => options.search = SearchOrder::Dfs,
        1 => options.search = SearchOrder::Random,
        2 => options.abstraction = AbstractionOption::ExtraM,
        3 => options.abstraction = AbstractionOption::Alu,
        4 => options.threads = 2,
        5 => options.first_turn = Some(3),
        _ => {}
    }
    options
}

#[test]
fn fastest_traces_take_the_least_time() {
    // `ZONELENS_FASTEST_RUNS` and `ZONELENS_ORACLE_SEED` override.
    let runs = from_environment("ZONELENS_FASTEST_RUNS").map_or(1500, |n| n as usize);
    let seed = from_environment("ZONELENS_ORACLE_SEED").unwrap_or(20_261_119);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut judged, mut round) = (0, 0);
    while judged < runs {
        let model_seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        round += 1;
        let mut rng = Rng::new(model_seed);
        let model = model::random(&mut rng);
        if model.endless_differences {
            continue;
        }
        let Some(graph) = explore(&model, 3000, CAP) else {
            continue;
        };
        // A search for the least time continues after the first run, and may find an error that the
        // first run avoided.
        if graph.fails.contains(&true) {
            continue;
        }
        let text = model.text();
        let loaded = common::load(&text, zonelens_syntax::ast::FileKind::Xta, &[])
            .unwrap_or_else(|e| panic!("seed {model_seed}: {e}\n{text}"));
        for _ in 0..3 {
            let (goal, holds) = random_goal(&mut rng, &model, &graph);
            let Some(least) = least_time(&model, &graph, &holds) else {
                continue;
            };
            // Most goals are reached at time 0.
            if least == 0 && !rng.chance(20) {
                continue;
            }
            judged += 1;
            let options = options(&mut rng);
            let report = loaded.verify(&format!("E<> {goal}"), &options);
            let context = || format!("seed {model_seed}: E<> {goal}\n{options:?}\n{text}");
            assert_eq!(
                report.verdict,
                Verdict::Satisfied,
                "{:?} {}",
                report.reason,
                context()
            );
            let found = report
                .least_time
                .unwrap_or_else(|| panic!("no time: {}", context()));
            assert_eq!(found.infimum, least, "{}", context());
            let trace = report
                .trace
                .unwrap_or_else(|| panic!("no trace: {}", context()));
            let (time, least) = (total(&trace), least as f64);
            let fits = match found.reached {
                true => (time - least).abs() < 1e-9,
                false => time > least && time < least + 1.0,
            };
            assert!(fits, "{time}, {found:?}: {}", context());
            let kinds = [
                ("at once", least == 0.0 && found.reached),
                ("later", least > 0.0 && found.reached),
                ("not reached", !found.reached),
                ("deadlock", goal.contains("deadlock")),
            ];
            for (kind, there) in kinds {
                *seen.entry(kind).or_default() += usize::from(there);
            }
            if model.bounded && !model.ticks {
                *seen.entry("reached or not, compared").or_default() += 1;
                let halves = least_of_end(&model, &graph, &holds);
                let own = 2 * found.infimum + i64::from(!found.reached);
                assert_eq!(Some(own), halves, "{}", context());
            }
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("seed {seed}: {judged} runs, {seen:#?}");
    }
    for kind in [
        "later",
        "not reached",
        "deadlock",
        "reached or not, compared",
    ] {
        let count = seen.get(kind).copied().unwrap_or(0);
        assert!(count * 25 >= runs, "{kind}: only {count} of {runs}");
    }
}
