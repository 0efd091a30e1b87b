//! Orbits: the states of the unreduced search form exactly the orbits that the reduced search
//! stores.

use super::{Chosen, OnePerClass, Permutation, Representative, Tables};
use crate::Control;
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::common::{self, Loaded, Verify};
use crate::graph::Visitor;
use crate::graph::expander::Expander;
use crate::program::{Fault, Program};
use crate::search::limits::Watch;
use crate::search::sequential::{Outcome, Search, Settings};
use crate::store::passed_waiting::Covering;
use crate::zone::{Lazy, Zone};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::report::{Options, SearchOrder, SymmetryOption, Verdict};
use zonelens_interpreter::Rng;
use zonelens_syntax::ast::FileKind;

/// A state in a form that can be compared.
type Flat = (Vec<i32>, Vec<i32>);

/// Collects every state.
#[derive(Default)]
pub(super) struct All(pub Vec<(Vec<i32>, Zone)>);

impl Visitor for All {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, _node: u32) -> Result<bool, Fault> {
        self.0.push((state.to_vec(), Zone::clone(zone)));
        Ok(false)
    }
}

/// All states of a model, with only equal states dropped, and how often ties were broken by name;
/// `None` if there are more than `most` or the model fails.
fn states(
    program: &Program,
    abstraction: Abstraction,
    tables: Option<Tables>,
    most: u64,
) -> Option<(All, u64)> {
    let (all, outcome, ties) = search(program, abstraction, tables, most);
    (outcome == Outcome::Exhausted).then_some((all, ties))
}

/// The first representatives of a model.
pub(super) fn some_states(
    program: &Program,
    abstraction: Abstraction,
    tables: Tables,
    most: u64,
) -> All {
    search(program, abstraction, Some(tables), most).0
}

fn search(
    program: &Program,
    abstraction: Abstraction,
    tables: Option<Tables>,
    most: u64,
) -> (All, Outcome, u64) {
    let bounds = Bounds::new(program, &[]);
    let settings = Settings {
        abstraction,
        covering: Covering::Equality,
        order: SearchOrder::Bfs,
        seed: 0,
        shortest: false,
    };
    let representative = tables.map(Representative::new);
    let graph = Chosen::new(
        (program, &bounds),
        settings.abstraction,
        representative,
        None,
    );
    let mut search = Search::new(program, &bounds, settings, graph);
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let mut all = All::default();
    let limits = Options {
        states: Some(most),
        ..Options::default()
    };
    let mut watch = Watch::new(&limits, &control);
    let outcome = search.run(&mut all, &mut watch);
    let ties = search.graph.representative().map_or(0, |r| r.broken_ties);
    (all, outcome, ties)
}

/// Every permutation inside the classes of every set.
fn group(tables: &Tables) -> Vec<Permutation> {
    let mut result = vec![Permutation::identity(tables.sets.iter().map(|s| s.size))];
    for (s, set) in tables.sets.iter().enumerate() {
        for block in &set.blocks {
            for k in 1..block.len() {
                let swaps = (0..=k).map(|j| {
                    let mut swap = Permutation::identity(tables.sets.iter().map(|s| s.size));
                    swap.0[s].swap(block[k] as usize, block[j] as usize);
                    swap
                });
                result = swaps
                    .flat_map(|swap| {
                        result
                            .iter()
                            .map(move |p| swap.after(p))
                            .collect::<Vec<_>>()
                    })
                    .collect();
            }
        }
    }
    result
}

/// The least image of a state: the same for all states of an orbit, independent of the
/// representative.
fn least(tables: &Tables, group: &[Permutation], state: &(Vec<i32>, Zone)) -> Flat {
    let images = group.iter().map(|p| {
        let (state, zone) = tables.apply(p, &state.0, &state.1);
        (state, zone.raw().to_vec())
    });
    images.min().unwrap_or_default()
}

pub(super) fn load(name: &str, n: i64) -> Loaded {
    let path = format!("{}/../examples/{name}.xta", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("an example");
    let constants = [("N", n)];
    let constants = if text.contains("const int N") {
        &constants[..]
    } else {
        &[]
    };
    common::load(&text, FileKind::Xta, constants).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub(super) fn tables(model: &Loaded) -> Option<Tables> {
    let sets = model.network.scalarsets.enumerated();
    let usable: Vec<_> = sets
        .filter(|(_, set)| set.broken.is_empty() && set.size > 1)
        .map(|(id, _)| id)
        .collect();
    Tables::new(&model.network, &usable, &BTreeSet::new())
}

/// Compares the orbits of a model with at most `most` states; returns their number, how many states
/// were stored for them, and how often ties were broken by name.
pub(super) fn compare_orbits(
    model: &Loaded,
    abstraction: Abstraction,
    most: u64,
) -> Option<(usize, usize, u64)> {
    let program = Program::new(&model.network).ok()?;
    let tables = tables(model)?;
    let blocks = tables.sets.iter().flat_map(|s| &s.blocks);
    let permutations: f64 = blocks
        .map(|b| (1..=b.len()).map(|k| k as f64).product::<f64>())
        .product();
    // Every image of every state is compared.
    if permutations > 200.0 {
        return None;
    }
    let group = group(&tables);
    let orbits = |all: &All| -> FxHashSet<Flat> {
        all.0.iter().map(|s| least(&tables, &group, s)).collect()
    };
    let (plain, _) = states(&program, abstraction, None, most)?;
    let (reduced, ties) = states(&program, abstraction, Some(tables.clone()), most)?;
    let expected = orbits(&plain);
    assert_eq!(expected, orbits(&reduced));
    Some((expected.len(), reduced.0.len(), ties))
}

#[test]
fn orbits_of_the_examples() {
    for (name, n) in [
        ("agreement", 2),
        ("csma-cd", 3),
        ("csma-cd", 4),
        ("fischer", 3),
        ("fischer-001", 3),
        ("fischer-004", 3),
        ("fischer-broken", 3),
        ("fischer-int", 4),
        ("leader", 4),
        ("partial", 3),
        ("timeout-task", 3),
        ("train-gate", 3),
        ("two-sets", 3),
    ] {
        for abstraction in [Abstraction::ExtraM, Abstraction::ExtraLu] {
            let found = compare_orbits(&load(name, n), abstraction, u64::MAX);
            let (orbits, stored, ties) = found.expect("all states");
            // Canonical in every example, including those with data that maps elements to elements.
            assert_eq!(
                (orbits, 0),
                (stored, ties),
                "{name}, N = {n}, {abstraction:?}"
            );
        }
    }
}

/// A state from its parts: cells and locations as the network orders them, clocks in halves of a
/// time unit.
fn state_of(program: &Program, cells: &[i32], locations: &[i32], clocks: &[i32]) -> Flat {
    assert_eq!(cells.len(), program.cells.len());
    let state = [cells, locations].concat();
    (state, Zone::point(clocks).raw().to_vec())
}

/// The worked example of section 4.1 of *Adding symmetry reduction to UPPAAL*: three processes, one
/// of them waiting, one in the critical section. Clocks are doubled, because one of them is at 2.5.
#[test]
fn both_swaps_of_the_worked_example() {
    let model = load("fischer-001", 3);
    let program = Program::new(&model.network).expect("a program");
    let tables = tables(&model).expect("sets");
    let (idle, wait, cs) = (0, 2, 3);
    // id, set, active[0..3]; then the locations; then x of each process.
    let q = state_of(&program, &[2, 1, 0, 2, 3], &[idle, wait, cs], &[8, 6, 5]);
    let swap = |a: usize, b: usize, q: &Flat| {
        let mut swap = Permutation::identity([3].into_iter());
        swap.0[0].swap(a, b);
        let mut zone = Zone::universe(4);
        zone.raw_mut().copy_from_slice(&q.1);
        let (state, zone) = tables.apply(&swap, &q.0, &zone);
        (state, zone.raw().to_vec())
    };
    let first = swap(0, 2, &q);
    let expected = state_of(&program, &[0, 1, 3, 2, 0], &[cs, wait, idle], &[5, 6, 8]);
    assert_eq!(first, expected);
    let second = swap(1, 2, &first);
    let expected = state_of(&program, &[0, 1, 3, 0, 2], &[cs, idle, wait], &[5, 8, 6]);
    assert_eq!(second, expected);
}

fn random_permutation(rng: &mut Rng, tables: &Tables) -> Permutation {
    let mut result = Permutation::identity(tables.sets.iter().map(|s| s.size));
    for (s, set) in tables.sets.iter().enumerate() {
        for block in &set.blocks {
            for k in (1..block.len()).rev() {
                let j = rng.below(k + 1);
                result.0[s].swap(block[k] as usize, block[j] as usize);
            }
        }
    }
    result
}

/// `θ(π(q)) = θ(q)` for random reachable states and random permutations.
#[test]
fn representatives_do_not_depend_on_names() {
    let mut rng = Rng::new(11);
    for (name, n) in [
        ("agreement", 2),
        ("csma-cd", 5),
        ("fischer", 5),
        ("fischer-int", 5),
        ("leader", 6),
        ("timeout-task", 4),
        ("train-gate", 5),
        ("two-sets", 4),
    ] {
        let model = load(name, n);
        let program = Program::new(&model.network).expect("a program");
        let tables = tables(&model).expect("sets");
        let all = states(
            &program,
            Abstraction::ExtraLu,
            Some(tables.clone()),
            u64::MAX,
        );
        let (all, _) = all.expect("all states");
        let mut representative = Representative::new(tables.clone());
        for _ in 0..300 {
            let (state, zone) = &all.0[rng.below(all.0.len())];
            let pi = random_permutation(&mut rng, &tables);
            let (mut moved, mut image) = tables.apply(&pi, state, zone);
            representative.reduce(&mut moved, &mut image);
            assert_eq!((&moved, &image), (state, zone), "{name}: {pi:?}");
        }
        assert_eq!(representative.broken_ties, 0, "{name}");
    }
}

/// The steps of the initial state that are taken, one per class.
fn steps_taken(text: &str, change: impl Fn(&mut [i32])) -> (usize, usize) {
    let model = common::xta(text);
    let program = Program::new(&model.network).expect("a program");
    let mut representative = Representative::new(tables(&model).expect("sets"));
    let mut state = program.initial.clone();
    change(&mut state);
    let mut zone = Zone::point(&program.initial_clocks);
    representative.reduce(&mut state, &mut zone);
    let mut expander = Expander::new(&program);
    expander.find_steps(&mut state, &zone).expect("steps");
    let all = expander.steps.len();
    let mut one = OnePerClass::new(representative.tables());
    one.begin(
        &program,
        &representative,
        &state,
        &zone,
        &mut expander.steps,
    );
    expander.find_steps(&mut state, &zone).expect("steps");
    let taken = (0..expander.steps.len())
        .filter(|k| one.is_first(&program, representative.tables(), &expander.steps, *k))
        .count();
    (all, taken)
}

/// A map with a cycle of three and one of four: no colour tells elements apart, but no swap fixes
/// the state either, and firing only one element would lose the other cycle.
#[test]
fn ties_that_are_not_interchangeable_are_all_fired() {
    let text = "typedef scalar[7] S; S f[S]; process P(const S i) { state a, b; init a; trans a -> b { }; } system P;";
    let cycles = [1, 2, 0, 4, 5, 6, 3];
    assert_eq!(
        steps_taken(text, |state| state[..7].copy_from_slice(&cycles)),
        (7, 7)
    );
    assert_eq!(steps_taken(text, |state| state[..7].fill(3)), (7, 2));
    // It is canonical nevertheless: every renaming of the map has the same representative.
    let model = common::xta(text);
    let program = Program::new(&model.network).expect("a program");
    let tables = tables(&model).expect("sets");
    let mut representative = Representative::new(tables.clone());
    let mut state = program.initial.clone();
    state[..7].copy_from_slice(&cycles);
    let zone = Zone::point(&[]);
    let mut rng = Rng::new(3);
    let mut found = FxHashSet::default();
    for _ in 0..100 {
        let pi = random_permutation(&mut rng, &tables);
        let (mut moved, mut image) = tables.apply(&pi, &state, &zone);
        representative.reduce(&mut moved, &mut image);
        found.insert(moved);
    }
    assert_eq!((found.len(), representative.broken_ties), (1, 0));
}

/// A step names a tuple of elements: with `select j` one for `j == i` and one for all others.
#[test]
fn tuples_are_chosen_coordinate_by_coordinate() {
    let model = |guard: &str| {
        format!(
            "typedef scalar[5] S; int[0,5] n; process P(const S i) {{ state a; init a; \
             trans a -> a {{ select j : S, k : S; guard {guard}; assign n = 0; }}; }} system P;"
        )
    };
    assert_eq!(steps_taken(&model("j != i && k == j"), |_| ()), (20, 1));
    assert_eq!(steps_taken(&model("k == j"), |_| ()), (25, 2));
    // All the ways in which three elements can be equal or different.
    assert_eq!(steps_taken(&model("true"), |_| ()), (125, 5));
}

/// Interchangeable receivers of a broadcast choose as a multiset; receivers whose element has
/// another receiver, or that bind an element, do not.
#[test]
fn receivers_choose_as_multisets() {
    let model = |parts: &str, system: &str| {
        format!(
            "typedef scalar[4] S; broadcast chan c; int[0,1] u[S]; process Q() {{ state a; init a; trans a -> a {{ sync c!; }}; }} \
             process P(const S i) {{ state a, b, d; init a; trans a -> b {{ sync c?; }}, a -> d {{ sync c?; }}{parts}; }} \
             process R(const S i) {{ state a, b, d; init a; trans a -> b {{ sync c?; }}, a -> d {{ sync c?; }}; }} system {system};"
        )
    };
    assert_eq!(steps_taken(&model("", "P, Q"), |_| ()), (16, 5));
    // A sender among them is told apart: one of four sends, and three others choose.
    let sends = ", a -> a { sync c!; }";
    assert_eq!(steps_taken(&model(sends, "P"), |_| ()), (4 * 8, 4));
    // Two processes per element: pairs of choices would be multisets, single ones are not.
    assert_eq!(steps_taken(&model("", "P, R, Q"), |_| ()).0, 256);
    let text = model("", "P, R, Q");
    let loaded = common::xta(&text);
    let query = "E<> exists (i : S) exists (j : S) P(i).b && R(i).d && P(j).d && R(j).b";
    for symmetry in [SymmetryOption::Auto, SymmetryOption::Off] {
        let options = Options {
            symmetry,
            ..Options::default()
        };
        assert_eq!(loaded.verify(query, &options).verdict, Verdict::Satisfied);
    }
}

/// A cycle of representatives that permutes the state it returns to: the lasso shown closes in the
/// model itself.
#[test]
fn lassos_close_in_the_model() {
    // Three elements pass a token around in the same order each time: one representative, three
    // laps.
    let text = "typedef scalar[3] S; S owner, before; process P(const S i) { state a; urgent a; init a; trans \
         a -> a { select k : S; guard owner == i && k != i && k != before; assign before = i, owner = k; }; } \
         system P;";
    let model = common::xta(text);
    let report = model.verify("E[] true", &Options::default());
    assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
    let trace = report.trace.expect("a trace");
    let start = trace.cycle_start.expect("a lasso");
    let (first, last) = (&trace.steps[start], trace.steps.last().expect("steps"));
    assert_eq!(first.state.variables, last.state.variables);
    assert_eq!(trace.steps.len() - 1 - start, 3);
    // The infinite run starts after another run: `-->` starts in the middle.
    let report = model.verify("owner != before --> owner == before", &Options::default());
    assert_eq!(report.verdict, Verdict::Violated, "{:?}", report.reason);
    let trace = report.trace.expect("a trace");
    let start = trace.cycle_start.expect("a lasso");
    let (first, last) = (&trace.steps[start], trace.steps.last().expect("steps"));
    assert_eq!(first.state.variables, last.state.variables);
}

/// The order in which sets are declared does not matter.
#[test]
fn sets_are_reduced_together() {
    let text = std::fs::read_to_string(format!(
        "{}/../examples/two-sets.xta",
        env!("CARGO_MANIFEST_DIR")
    ))
    .expect("an example");
    let (first, second) = ("typedef scalar[N] client;\n", "typedef scalar[M] desk;\n");
    let swapped = text
        .replace(first, "")
        .replace(second, &format!("{second}{first}"));
    assert_ne!(text, swapped);
    let stored = |text: &str| {
        let report = common::xta(text).verify("A[] not deadlock", &Options::default());
        assert_eq!(report.symmetry.scalarsets.len(), 2);
        assert!(report.symmetry.canonical);
        report.statistics.stored
    };
    assert_eq!(stored(&text), stored(&swapped));
}

/// For the states of a stopped run, nothing is claimed, and they are not checked: that took longer
/// than the run, and more memory than its limit.
#[test]
fn stopped_runs_are_not_called_canonical() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/fischer.xta");
    let text = std::fs::read_to_string(path).expect("an example");
    let text = text.replace("const int N = 6;", "const int N = 30;");
    let mutex = "A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j";
    let canonical = |states, threads| {
        let options = Options {
            states,
            threads,
            ..Options::default()
        };
        let report = common::xta(&text).verify(mutex, &options);
        assert_eq!(report.verdict == Verdict::Unknown, states.is_some());
        assert_eq!(report.symmetry.scalarsets.len(), 1);
        report.symmetry.canonical
    };
    for threads in [1, 2] {
        assert!(canonical(None, threads));
        assert!(!canonical(Some(40), threads));
    }
}
