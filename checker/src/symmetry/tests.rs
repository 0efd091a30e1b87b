//! Orbits: the states of the unreduced search fall into exactly the orbits that the reduced search stores.

#[path = "../../tests/common/mod.rs"]
mod common;

use super::{Permutation, Representative, Tables};
use crate::Control;
use crate::explore::abstraction::Abstraction;
use crate::explore::bounds::Bounds;
use crate::explore::passed_waiting::Covering;
use crate::explore::search::{Outcome, Search, Settings, Visitor};
use crate::explore::watch::Watch;
use crate::program::{Fault, Program};
use crate::zone::Zone;
use common::Loaded;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::report::{Options, SearchOrder};
use zonelens_syntax::ast::FileKind;

/// A state as it can be compared.
type Flat = (Vec<i32>, Vec<i32>);

/// Remembers every state.
#[derive(Default)]
struct All(Vec<(Vec<i32>, Zone)>);

impl Visitor for All {
    fn visit(&mut self, state: &mut [i32], zone: &Zone, _node: u32) -> Result<bool, Fault> {
        self.0.push((state.to_vec(), zone.clone()));
        Ok(false)
    }
}

/// All states of a model, nothing but equal states dropped; ties broken by name if there is a reduction.
fn states(program: &Program, abstraction: Abstraction, tables: Option<Tables>) -> (All, u64) {
    let bounds = Bounds::new(program, &[]);
    let settings = Settings {
        abstraction,
        covering: Covering::Equality,
        order: SearchOrder::Bfs,
        seed: 0,
        shortest: false,
    };
    let mut search = Search::new(program, &bounds, settings);
    search.representative = tables.map(Representative::new);
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let mut all = All::default();
    let mut watch = Watch::new(&Options::default(), &control);
    assert_eq!(search.run(&mut all, &mut watch), Outcome::Exhausted);
    let ties = search.representative.map_or(0, |r| r.broken_ties);
    (all, ties)
}

/// Every permutation inside the blocks of every set.
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

/// The least image of a state: the same for all states of an orbit, whatever the representative says.
fn least(tables: &Tables, group: &[Permutation], state: &(Vec<i32>, Zone)) -> Flat {
    let images = group.iter().map(|p| {
        let (state, zone) = tables.apply(p, &state.0, &state.1);
        (state, zone.raw().to_vec())
    });
    images.min().unwrap_or_default()
}

fn load(name: &str, n: i64) -> Loaded {
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

fn tables(model: &Loaded) -> Tables {
    let sets = model.network.scalarsets.iter().enumerate();
    let usable: Vec<u32> = sets
        .filter(|(_, set)| set.broken.is_empty() && set.size > 1)
        .map(|(id, _)| id as u32)
        .collect();
    Tables::new(&model.network, &usable, &BTreeSet::new()).expect("something to reduce over")
}

/// Compares the orbits; gives their number and how many states were stored for them.
fn compare(name: &str, n: i64, abstraction: Abstraction) -> (usize, usize, u64) {
    let model = load(name, n);
    let program = Program::new(&model.network).expect("a program");
    let tables = tables(&model);
    let group = group(&tables);
    let orbits = |all: &All| -> FxHashSet<Flat> {
        all.0.iter().map(|s| least(&tables, &group, s)).collect()
    };
    let (plain, _) = states(&program, abstraction, None);
    let (reduced, ties) = states(&program, abstraction, Some(tables.clone()));
    let expected = orbits(&plain);
    assert_eq!(expected, orbits(&reduced), "{name}, N = {n}");
    (expected.len(), reduced.0.len(), ties)
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
            let (orbits, stored, ties) = compare(name, n, abstraction);
            // Canonical in every example, those with data from elements to elements included.
            assert_eq!(
                (orbits, 0),
                (stored, ties),
                "{name}, N = {n}, {abstraction:?}"
            );
        }
    }
}
