//! Random runs of the interpreter: what they reach must be reachable.

use super::model::TestModel;
use super::regions::Graph;
use crate::common::Loaded;
use crate::{SimulateOptions, simulate};
use zonelens_analysis::network::Position;
use zonelens_analysis::report::TraceState;

/// A state that a run reaches and the oracle does not, if there is one.
pub fn stray(model: &TestModel, graph: &Graph, loaded: &Loaded, seed: u64) -> Option<TraceState> {
    let options = SimulateOptions {
        seed,
        steps: 10,
        ..SimulateOptions::default()
    };
    let (trace, _) = simulate(&loaded.network, &options, &|_| Position::default());
    let mut states = trace.steps.into_iter().map(|step| step.state);
    states.find(|state| !is_reached(model, graph, state))
}

fn is_reached(model: &TestModel, graph: &Graph, state: &TraceState) -> bool {
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
        // Delays are made of parts that a fraction in binary has exactly.
        let fraction = f64::from(above % below) / f64::from(below);
        (above / below, fraction)
    });
    let clocks: Vec<(i32, f64)> = clocks.collect();
    graph.reaches(model, locations.collect(), vars.collect(), &clocks)
}

fn number(text: &str) -> i32 {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}
