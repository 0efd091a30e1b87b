//! Models of identical processes against the explorer of regions, which knows nothing of symmetry
//! or zones: verdicts with zones by class and with whole zones.

use super::folding_tests::count;
use crate::common::{self, Verify};
use zonelens_analysis::report::{AbstractionOption, Options, Switch, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::Rng;
use zonelens_test_support::oracle::model::{
    self, Clock, Condition, Edge, Location, Op, TestModel, Update,
};
use zonelens_test_support::oracle::regions::{CAP, Graph, explore};

/// A random model whose first process exists several times, each time with a clock of its own: as
/// data, and as text over a scalarset.
struct Copies {
    model: TestModel,
    text: String,
    /// The number of copies, which come first.
    count: usize,
    /// The clock of the first copy.
    own: usize,
}

fn moved_clock(clock: &mut Clock, from: usize, to: usize) {
    if clock.x == from {
        clock.x = to;
    }
}

fn moved_condition(condition: &mut Condition, from: usize, to: usize) {
    for atom in &mut condition.atoms {
        moved_clock(&mut atom.x, from, to);
        atom.y.iter_mut().for_each(|y| moved_clock(y, from, to));
    }
}

fn moved_updates(updates: &mut [Update], from: usize, to: usize) {
    for update in updates {
        match update {
            Update::Reset(x, _) => moved_clock(x, from, to),
            Update::Copy(x, y) => {
                moved_clock(x, from, to);
                moved_clock(y, from, to);
            }
            Update::Assign(..) | Update::Call(_) | Update::Over(..) => {}
        }
    }
}

/// Replaces a clock everywhere in a process.
fn moved((locations, edges): &mut (Vec<Location>, Vec<Edge>), from: usize, to: usize) {
    for location in locations {
        moved_condition(&mut location.invariant, from, to);
    }
    for edge in edges {
        moved_condition(&mut edge.guard, from, to);
        moved_updates(&mut edge.updates, from, to);
    }
}

/// `None` for models that have no such copies.
fn copies(rng: &mut Rng) -> Option<Copies> {
    let mut model = model::random(rng);
    let plain = model.clocks == 2
        && !model.clock_array
        && !model.bounded
        && !model.endless_differences
        && !model.faulty
        && model.levels.iter().all(|level| *level == 0);
    if !plain {
        return None;
    }
    let (own, count) = (1, if rng.chance(75) { 3 } else { 4 });
    model.processes.truncate(1 + rng.below(2));
    // Nothing but the copies uses their clocks.
    for process in &mut model.processes[1..] {
        moved(process, own, 0);
    }
    for function in &mut model.functions {
        moved_updates(&mut function.then, own, 0);
        moved_updates(&mut function.other, own, 0);
    }
    for updates in &mut model.around {
        moved_updates(updates, own, 0);
    }
    model.levels = vec![0; model.processes.len()];
    let whole = model.text();
    let (clocks, rest) = whole.split_once('\n')?;
    let (common, element) = clocks.strip_suffix(';')?.split_once(", ")?;
    let text = format!("typedef scalar[{count}] S;\n{common};\n{rest}").replacen(
        "process P0() {\n",
        &format!("process P0(const S i) {{\n  clock {element};\n"),
        1,
    );
    let first = model.processes[0].clone();
    for k in 1..count {
        let mut copy = first.clone();
        moved(&mut copy, own, own + k);
        model.processes.insert(k, copy);
    }
    model.clocks = own + count;
    model
        .first_clocks
        .resize(own + count, model.first_clocks[own]);
    model.levels = vec![0; model.processes.len()];
    Some(Copies {
        model,
        text,
        count,
        own,
    })
}

/// A query that names no copy, and the answer.
fn question(rng: &mut Rng, copies: &Copies, graph: &Graph) -> (String, bool) {
    let locations = copies.model.processes[0].0.len();
    let (a, b) = (rng.below(locations), rng.below(locations));
    let (number, c) = (rng.range(0, 2), rng.range(0, 3));
    let (op, sign) = [(Op::Lt, "<"), (Op::Ge, ">="), (Op::Gt, ">"), (Op::Eq, "==")][rng.below(4)];
    let all = 0..copies.count;
    let at = |s: usize, i: usize, l: usize| graph.states[s].locations[i] == l;
    let compares = |s: usize, i: usize| {
        let (value, c) = (graph.states[s].clocks[copies.own + i], c * graph.unit);
        match op {
            Op::Lt => value < c,
            Op::Ge => value >= c,
            Op::Gt => value > c,
            _ => value == c,
        }
    };
    let mut states = 0..graph.states.len();
    match rng.below(5) {
        0 => (
            format!("E<> exists (i : S) (P0(i).l{a} && P0(i).x1 {sign} {c})"),
            states.any(|s| all.clone().any(|i| at(s, i, a) && compares(s, i))),
        ),
        1 => (
            format!(
                "E<> v0 == {number} && exists (i : S) exists (j : S) (i != j && P0(i).l{a} && P0(j).l{b} && P0(j).x1 {sign} {c})"
            ),
            states.any(|s| {
                let pair = |i, j| i != j && at(s, i, a) && at(s, j, b) && compares(s, j);
                graph.states[s].vars[0] == number
                    && all.clone().any(|i| all.clone().any(|j| pair(i, j)))
            }),
        ),
        2 => (
            format!("A[] forall (i : S) forall (j : S) (P0(i).l{a} && P0(j).l{a} imply i == j)"),
            states.all(|s| all.clone().filter(|i| at(s, *i, a)).count() < 2),
        ),
        3 => (
            "A[] not deadlock".to_owned(),
            !states.any(|s| graph.deadlocked(s)),
        ),
        _ => (
            format!("E<> deadlock && v0 == {number} && exists (i : S) P0(i).l{a}"),
            states.any(|s| {
                graph.deadlocked(s)
                    && graph.states[s].vars[0] == number
                    && all.clone().any(|i| at(s, i, a))
            }),
        ),
    }
}

#[test]
fn copies_behave_as_their_regions() {
    let total = count(250);
    let (mut asked, mut satisfied, mut reduced) = (0, 0, 0);
    for seed in 0..total * 20 {
        if asked >= total {
            break;
        }
        let mut rng = Rng::new(31_000_000 + seed);
        let Some(copies) = copies(&mut rng) else {
            continue;
        };
        let Some(graph) = explore(&copies.model, 12_000, CAP) else {
            continue;
        };
        let model = common::load(&copies.text, FileKind::Xta, &[]);
        let model = model.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", copies.text));
        let (query, expected) = question(&mut rng, &copies, &graph);
        let expected = match expected {
            true => Verdict::Satisfied,
            false => Verdict::Violated,
        };
        asked += 1;
        satisfied += u64::from(expected == Verdict::Satisfied);
        let trace = [TraceOption::None, TraceOption::Some][rng.below(2)];
        let alone: &[Switch] = [&Switch::ALL[..], &[]][rng.below(2)];
        for whole_zones in [false, true] {
            for abstraction in [AbstractionOption::Auto, AbstractionOption::ExtraM] {
                let options = Options {
                    whole_zones,
                    abstraction,
                    trace,
                    without: alone.iter().copied().collect(),
                    ..Options::default()
                };
                let report = model.verify(&query, &options);
                assert_eq!(
                    report.verdict, expected,
                    "seed {seed}, {query}: {:?}\n{options:?}\n{}",
                    report.reason, copies.text
                );
                let sets = report.symmetry.scalarsets.len();
                reduced += u64::from(sets > 0 && !whole_zones);
            }
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{asked} models, {satisfied} satisfied, {reduced} reduced");
    }
    assert_eq!(asked, total);
    assert!(
        satisfied * 5 > asked && satisfied * 5 < asked * 4,
        "{satisfied} of {asked}"
    );
    assert!(reduced > asked, "{reduced} of {asked}");
}
