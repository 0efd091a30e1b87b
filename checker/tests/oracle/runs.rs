//! Random runs of the interpreter: the states they reach must be reachable.

use crate::common::Loaded;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::TraceState;
use zonelens_interpreter::{Ended, SimulateOptions, simulate};
use zonelens_test_support::oracle::model::TestModel;
use zonelens_test_support::oracle::regions::Graph;

/// A state that a run reaches and the oracle does not, or where the run fails and should not;
/// `None` if there is none.
pub(super) fn stray(
    model: &TestModel,
    graph: &Graph,
    loaded: &Loaded,
    seed: u64,
) -> Option<TraceState> {
    let options = SimulateOptions {
        seed,
        steps: 10,
        ..SimulateOptions::default()
    };
    let (trace, ended) = simulate(&loaded.network, &options, &|_| Position::default());
    let fails = matches!(ended, Ended::Failed(_)) && !graph.fails.contains(&true);
    let mut states = trace.steps.into_iter().map(|step| step.state);
    let last = states.clone().next_back().filter(|_| fails);
    states
        .find(|state| region(model, graph, state).is_none())
        .or(last)
}

/// The region of a state of a trace, if the oracle has reached it.
pub(super) fn region(model: &TestModel, graph: &Graph, state: &TraceState) -> Option<usize> {
    let locations = (0..model.processes.len())
        .map(|p| number(&state.locations[&format!("P{p}")][1..]) as usize);
    let numbers = (0..model.vars).map(|v| format!("v{v}"));
    let cells = (0..model.cells).map(|k| format!("a[{k}]"));
    let vars = numbers
        .chain(cells)
        .map(|name| state.variables[&name] as i32);
    let clocks = (0..model.clocks).map(|x| match model.clock_array {
        true => format!("x[{x}]"),
        false => format!("x{x}"),
    });
    let end = model.bounded.then(|| "g".to_owned());
    let clocks = clocks.chain(end).map(|name| {
        let (above, below) = match state.clocks[&name].split_once('/') {
            Some((above, below)) => (number(above), number(below)),
            None => (number(&state.clocks[&name]), 1),
        };
        // The fractions of delays can be represented exactly in binary.
        let fraction = f64::from(above % below) / f64::from(below);
        (above / below, fraction)
    });
    let clocks: Vec<(i32, f64)> = clocks.collect();
    graph.find(model, locations.collect(), vars.collect(), &clocks)
}

fn number(text: &str) -> i32 {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}
