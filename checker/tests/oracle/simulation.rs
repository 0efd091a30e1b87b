//! Searches that compare zones up to simulation, on models without differences of clocks: half of
//! the models of the other campaigns have some, and are searched in another way.

use super::from_environment;
use crate::common::{self, Verify};
use crate::mutation::{self, Mutation};
use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, Switch, TraceOption, Verdict,
};
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::Rng;
use zonelens_test_support::oracle::model::{self, Condition, TestModel};
use zonelens_test_support::oracle::queries::random_goal;
use zonelens_test_support::oracle::regions::{CAP, explore};

/// A random model whose conditions compare single clocks only; `None` if it may have errors, or
/// needs differences.
fn plain_model(rng: &mut Rng) -> Option<TestModel> {
    let mut model = model::random(rng);
    if model.faulty || model.bounded || model.endless_differences {
        return None;
    }
    let plain = |condition: &mut Condition| {
        condition.atoms.iter_mut().for_each(|atom| atom.y = None);
    };
    for (locations, edges) in &mut model.processes {
        locations.iter_mut().for_each(|l| plain(&mut l.invariant));
        edges.iter_mut().for_each(|e| plain(&mut e.guard));
    }
    Some(model)
}

fn variants() -> Vec<Options> {
    let mut all = vec![Options::default()];
    for (search, threads, abstraction) in [
        (SearchOrder::Dfs, 1, AbstractionOption::Auto),
        (SearchOrder::Random, 1, AbstractionOption::Auto),
        (SearchOrder::Bfs, 2, AbstractionOption::Auto),
        (SearchOrder::Bfs, 1, AbstractionOption::Alu),
    ] {
        all.push(Options {
            search,
            threads,
            abstraction,
            ..Options::default()
        });
    }
    all.push(Options {
        first_turn: Some(3),
        trace: TraceOption::None,
        ..Options::default()
    });
    all.push(Options {
        without: [Switch::Simulation].into(),
        ..Options::default()
    });
    all
}

/// Asks `count` questions; returns the first disagreement, and in how many cases simulation stored
/// less than inclusion.
fn campaign(seed: u64, count: usize, all_variants: bool) -> (Option<String>, usize) {
    let options = variants();
    let chosen = if all_variants {
        &options[..]
    } else {
        &options[..1]
    };
    let (mut asked, mut smaller) = (0, 0);
    for round in 0.. {
        if asked == count {
            break;
        }
        let model_seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        let mut rng = Rng::new(model_seed);
        let Some(model) = plain_model(&mut rng) else {
            continue;
        };
        let Some(graph) = explore(&model, 8_000, CAP) else {
            continue;
        };
        let goals: Vec<_> = (0..20)
            .map(|_| random_goal(&mut rng, &model, &graph))
            .collect();
        let goal = goals
            .into_iter()
            .find(|(text, _)| !text.contains("deadlock") && !text.contains(" - "));
        let Some((goal, holds)) = goal else { continue };
        let text = model.text();
        let loaded = common::load(&text, FileKind::Xta, &[])
            .unwrap_or_else(|e| panic!("seed {model_seed}: {e}\n{text}"));
        asked += 1;
        let reachable = holds.contains(&true);
        let everywhere = !holds.contains(&false);
        let mut stored = Vec::new();
        for options in chosen {
            for (query, expected) in [
                (format!("E<> {goal}"), reachable),
                (format!("A[] {goal}"), everywhere),
            ] {
                let report = loaded.verify(&query, options);
                let expected = match expected {
                    true => Verdict::Satisfied,
                    false => Verdict::Violated,
                };
                if report.verdict != expected {
                    let message = format!(
                        "seed {model_seed}: {query}\noracle: {expected:?}, engine: {:?} {:?}\n{options:?}\n{text}",
                        report.verdict, report.reason
                    );
                    return (Some(message), smaller);
                }
                stored.push(report.statistics.stored);
            }
        }
        let last = &stored[stored.len() - 2..];
        smaller += usize::from(stored[0] < last[0] || stored[1] < last[1]);
    }
    (None, smaller)
}

#[test]
fn simulation_and_oracle_agree() {
    let count = from_environment("ZONELENS_SIMULATION_MODELS").map_or(600, |n| n as usize);
    let seed = from_environment("ZONELENS_ORACLE_SEED").unwrap_or(20_261_119);
    let (failure, smaller) = campaign(seed, count, true);
    #[allow(clippy::print_stdout)]
    {
        println!("seed {seed}, {count} models, {smaller} with fewer states");
    }
    if let Some(message) = failure {
        panic!("{message}");
    }
    // Few models of this size have zones that only simulation covers.
    assert!(smaller > 0, "{count}");
}

#[test]
fn seeded_bugs_of_simulation_are_caught() {
    for bug in Mutation::OF_SIMULATION {
        mutation::set(Some(bug));
        let caught = (0..20).any(|k| {
            std::panic::catch_unwind(|| campaign(91 + k, 500, false).0.is_some()).unwrap_or(true)
        });
        mutation::set(None);
        assert!(caught, "{bug:?} was not caught");
    }
}
