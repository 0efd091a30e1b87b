//! Why the rules on scalarsets exist: for each rule that the reference front end lacks, a model
//! that it accepts, two states of it that differ only by a renaming of elements, and successors
//! that do not. If this cannot be written with a scalarset (constants, priorities and single
//! instances need literals), the elements are integers.

use crate::common;

use common::Verify;

use std::collections::BTreeMap;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, TraceState};
use zonelens_interpreter::Simulator;
use zonelens_syntax::ast::FileKind;

/// Takes, for each name, the first transition that this process starts; returns the state and the
/// processes that can start a transition there.
fn walk(model: &common::Loaded, names: &[&str]) -> (TraceState, Vec<String>) {
    let nowhere = |_| Position::default();
    let mut simulator = Simulator::new(&model.network, &nowhere).expect("it starts");
    for name in names {
        let choices = simulator.choices().expect("no fault");
        let starts = |c: &&zonelens_interpreter::Choice| c.transition.edges[0].process == *name;
        let choice = choices.iter().find(starts);
        simulator
            .take(choice.unwrap_or_else(|| panic!("{name} cannot move")), None)
            .expect("it is possible");
    }
    let choices = simulator.choices().expect("no fault");
    let mut who: Vec<String> = choices
        .iter()
        .map(|c| {
            let all: Vec<&str> = c.transition.edges.iter().map(|e| &*e.process).collect();
            all.join(" ")
        })
        .collect();
    who.sort();
    who.dedup();
    (simulator.state(), who)
}

/// Exchanges elements 0 and 1 in a name.
fn swap_name(name: &str) -> String {
    let (zero, one, other) = (["(0)", "[0]"], ["(1)", "[1]"], ["(_)", "[_]"]);
    let mut out = name.to_owned();
    for k in 0..2 {
        out = out.replace(zero[k], other[k]).replace(one[k], zero[k]);
        out = out.replace(other[k], one[k]);
    }
    out
}

/// Exchanges elements 0 and 1 in a state; `elements` are the variables whose values are elements.
fn swap(state: &TraceState, elements: &[&str]) -> TraceState {
    let values = state.variables.iter().map(|(name, value)| {
        let is_element = elements.contains(&name.as_str());
        let value = if is_element { 1 - value } else { *value };
        (swap_name(name), value)
    });
    let locations = state.locations.iter();
    TraceState {
        locations: locations.map(|(p, l)| (swap_name(p), l.clone())).collect(),
        variables: values.collect(),
        clocks: state
            .clocks
            .iter()
            .map(|(c, v)| (swap_name(c), v.clone()))
            .collect(),
    }
}

fn load(text: &str) -> common::Loaded {
    common::load(text, FileKind::Xta, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The states after `first` and its mirror image are mirror images of each other; those after one
/// more step of `mover` are not. The rule prevents the reduction.
#[track_caller]
fn witness(rule: &str, text: &str, elements: &[&str], first: &[&str], mover: &str) {
    let model = load(text);
    let mirrored: Vec<String> = first.iter().map(|name| swap_name(name)).collect();
    let second: Vec<&str> = mirrored.iter().map(String::as_str).collect();
    let (a, b) = (walk(&model, first).0, walk(&model, &second).0);
    assert_eq!(b, swap(&a, elements), "{rule}: the states are symmetric");
    let mirrored_mover = swap_name(mover);
    let after = |path: &[&str], mover| walk(&model, &[path, &[mover]].concat()).0;
    let (a, b) = (after(first, mover), after(&second, &mirrored_mover));
    assert_ne!(b, swap(&a, elements), "{rule}: the successors are not");
    not_reduced(rule, &model);
}

#[track_caller]
fn not_reduced(rule: &str, model: &common::Loaded) {
    let report = model.verify("A[] true", &Options::default());
    assert!(
        report.symmetry.scalarsets.is_empty(),
        "{rule}: {:?}",
        report.symmetry
    );
    let declared = model.network.scalarsets.iter().any(|set| !set.detected);
    if declared {
        let excluded: Vec<&str> = report.symmetry.excluded.iter().map(|e| &*e.rule).collect();
        assert_eq!(excluded, [rule]);
    }
}

#[test]
fn the_last_of_a_loop_wins() {
    let model = "typedef scalar[2] S; bool f[S]; S x;
        void pick() { for (k : S) if (f[k]) x = k; }
        process P(const S i) { state a, b; init a; trans a -> b { assign f[i] = true, x = i; }; }
        process M() { state s; init s; trans s -> s { guard forall (k : S) f[k]; assign pick(); }; }
        system P, M;";
    witness("sym/loop-order", model, &["x"], &["P(0)", "P(1)"], "M");
}

#[test]
fn the_first_of_a_loop_wins() {
    let model = "typedef scalar[2] S; bool f[S]; S x;
        S first() { for (k : S) if (f[k]) return k; return x; }
        process P(const S i) { state a, b; init a; trans a -> b { assign f[i] = true, x = i; }; }
        process M() { state s; init s; trans s -> s { guard forall (k : S) f[k]; assign x = first(); }; }
        system P, M;";
    witness("sym/loop-order", model, &["x"], &["P(1)", "P(0)"], "M");
}

#[test]
fn a_loop_numbers_the_elements() {
    let model = "typedef scalar[2] S; int[0,2] rank[S];
        void number() { int k = 0; for (i : S) { rank[i] = k; k++; } }
        process P(const S i) { state a; init a; }
        process M() { state s; init s; trans s -> s { assign number(); }; }
        system P, M;";
    witness("sym/loop-order", model, &[], &[], "M");
}

#[test]
fn the_last_receiver_wins() {
    let model = "typedef scalar[2] S; S last; broadcast chan go;
        process P(const S i) {
            state c, a, b; init c;
            trans c -> a { assign last = i; }, a -> b { sync go?; assign last = i; };
        }
        process M() { state s; init s; trans s -> s { sync go!; }; }
        system P, M;";
    witness(
        "sym/broadcast-order",
        model,
        &["last"],
        &["P(0)", "P(1)"],
        "M",
    );
}

/// The reference does not allow scalars inside functions, only integers; Zonelens allows both.
#[test]
fn a_local_variable_starts_at_the_first_element() {
    for elements in ["int[0,1]", "scalar[2]"] {
        let model = format!(
            "typedef {elements} S; S x; S first() {{ S k; return k; }}
            process P(const S i) {{ state a, b; init a; trans a -> b {{ assign x = i; }}; }}
            process M() {{ state s; init s; trans s -> s {{ assign x = first(); }}; }}
            system P, M;"
        );
        witness("sym/default", &model, &["x"], &["P(0)"], "M");
    }
}

#[test]
fn meta_variables_carry_over() {
    let text = "typedef scalar[2] S; meta S m; bool seen[S];
        process P(const S i) { state a, b; init a; trans a -> b { assign m = i; }; }
        process M() { state s, t; init s; trans s -> t { assign seen[m] = true; }; }
        system P, M;";
    let model = load(text);
    let state = |names: &[&str]| {
        let mut state = walk(&model, names).0;
        // A comparison of states that ignores meta variables sees this.
        state.variables.remove("m");
        state
    };
    assert_eq!(state(&["P(0)", "P(1)"]), state(&["P(1)", "P(0)"]));
    assert_ne!(state(&["P(0)", "P(1)", "M"]), state(&["P(1)", "P(0)", "M"]));
    not_reduced("sym/meta", &model);
}

#[test]
fn constants_tell_elements_apart() {
    let model = "typedef int[0,1] S; const int w[S] = {1, 2}; int[0,9] n;
        process P(const S i) { state a, b; init a; trans a -> b { assign n = n + w[i]; }; }
        system P;";
    witness("sym/constant", model, &[], &[], "P(0)");
}

#[test]
fn priorities_tell_elements_apart() {
    let text = "typedef int[0,1] S; chan go[S]; chan priority go[0] < default < go[1];
        process P(const S i) { state a, b; init a; trans a -> b { sync go[i]?; }; }
        process M() { state s; init s; trans s -> s { select k : S; sync go[k]!; }; }
        system P, M;";
    let model = load(text);
    let (state, who) = walk(&model, &[]);
    assert_eq!(state, swap(&state, &[]));
    let mirrored: Vec<String> = who.iter().map(|names| swap_name(names)).collect();
    assert_ne!(
        who, mirrored,
        "the steps of a symmetric state are not symmetric"
    );
    not_reduced("sym/priority", &model);
}

#[test]
fn an_element_without_its_process() {
    let text = "typedef int[0,2] S; S who;
        process P(const S i) { state a, b; init a; trans a -> b { guard who == i; }; }
        process M() { state s, t; init s; trans s -> t { select k : S; assign who = k; }; }
        P0 = P(0); P1 = P(1);
        system P0, P1, M;";
    let model = load(text);
    let nowhere = |_| Position::default();
    // Elements 0 and 2 are exchanged: the processes stay the same, only `who` changes.
    let mut movers = BTreeMap::new();
    for element in [0, 2] {
        let mut simulator = Simulator::new(&model.network, &nowhere).expect("it starts");
        let choices = simulator.choices().expect("no fault");
        let sets = |c: &&zonelens_interpreter::Choice| {
            c.transition.edges[0].select.get("k") == Some(&element)
        };
        let choice = choices.iter().find(sets).expect("it can be chosen");
        simulator.take(choice, None).expect("it is possible");
        movers.insert(element, simulator.choices().expect("no fault").len());
    }
    assert_eq!(movers, BTreeMap::from([(0, 1), (2, 0)]));
    not_reduced("sym/partial-instance", &model);
}
