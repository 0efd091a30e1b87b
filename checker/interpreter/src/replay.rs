//! Replay: checks whether a timed sequence of steps is a run of the model.

use super::eval::Failure;
use super::limit::Limit;
use super::state::{Concrete, Names, fraction};
use super::steps::{ConcreteStep, invariants_hold, may_delay, running_clocks, step_by};
use super::windows::MOST_PARTS;
use std::collections::BTreeMap;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{TraceEdge, TraceStep, TraceTransition};
use zonelens_syntax::span::Span;

/// A replayed run: its steps for the report, and the states after them.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// For the report; the first one is the initial state.
    pub steps: Vec<TraceStep>,
    /// The concrete states, in the same order.
    pub states: Vec<Concrete>,
}

/// Replays delays (in units of `1 / unit`) and steps from the initial state. A last delay without a
/// step is allowed.
pub fn replay(
    network: &Network,
    unit: i64,
    run: &[(i64, Option<ConcreteStep>)],
    position: &dyn Fn(Span) -> Position,
    limit: &Limit<'_>,
) -> Result<Replayed, Failure> {
    let names = Names::new(network);
    let mut state = Concrete::initial(network, unit);
    if !invariants_hold(network, &mut state)? {
        return Err(Failure("the initial state violates an invariant".into()));
    }
    let first = TraceStep {
        delay: "0".into(),
        transition: None,
        state: names.describe(network, &state),
    };
    let mut result = Replayed {
        steps: vec![first],
        states: vec![state.clone()],
    };
    for (index, (delay, step)) in run.iter().enumerate() {
        if limit.is_over().is_some() {
            return Err(Failure("the run was stopped".into()));
        }
        wait(network, &mut state, *delay)
            .map_err(|f| Failure(format!("step {}: {}", index + 1, f.0)))?;
        let mut transition = None;
        if let Some(step) = step {
            let found =
                step_by(network, &mut state, &step.edges)?.filter(|(found, _)| found == step);
            let Some((_, next)) = found else {
                return Err(Failure(format!("step {} is not enabled", index + 1)));
            };
            transition = Some(describe(network, &names, step, &state, position));
            state = next;
        } else if *delay == 0 {
            continue;
        }
        result.steps.push(TraceStep {
            delay: fraction(*delay, unit),
            transition,
            state: names.describe(network, &state),
        });
        result.states.push(state.clone());
    }
    Ok(result)
}

/// Lets time pass. Invariants are convex, so it is enough to check both ends; urgency is checked
/// wherever the result of a comparison changes, and between two such moments.
pub(crate) fn wait(network: &Network, state: &mut Concrete, delay: i64) -> Result<(), Failure> {
    if delay < 0 {
        return Err(Failure("time runs backwards".into()));
    }
    if delay == 0 {
        return Ok(());
    }
    if !may_delay(network, state)? {
        return Err(Failure("time passes where it is stopped".into()));
    }
    let runs = running_clocks(network, state)?;
    if delay > MOST_PARTS || state.clocks.iter().any(|c| *c > MOST_PARTS - delay) {
        return Err(Failure("the delay is too long".into()));
    }
    if network.channels.iter().any(|c| c.urgent) {
        pass_urgency(network, state, delay, &runs)?;
    }
    for (clock, rate) in state.clocks.iter_mut().zip(&runs) {
        *clock += delay * rate;
    }
    if !invariants_hold(network, state)? {
        return Err(Failure("the delay violates an invariant".into()));
    }
    Ok(())
}

/// The most moments of one delay at which urgency is checked.
const MOST_MOMENTS: usize = 100_000;

/// Whether no urgent synchronisation becomes possible during a delay.
fn pass_urgency(
    network: &Network,
    state: &Concrete,
    delay: i64,
    runs: &[i64],
) -> Result<(), Failure> {
    // Uses a unit twice as fine, so that there is a moment between any two at which a result
    // changes.
    let mut start = state.clone();
    start.unit *= 2;
    start.clocks.iter_mut().for_each(|c| *c *= 2);
    let (mut at, end) = (0, 2 * delay);
    for count in 1..=MOST_MOMENTS {
        if let Some(budget) = &start.budget {
            budget.moments(count)?;
            budget.step(2 * start.clocks.len() as u64)?;
        }
        let mut next = end;
        for moment in [at, at + 1] {
            let mut then = start.after(moment, runs);
            then.comparisons = Some(Vec::new());
            if !may_delay(network, &mut then)? {
                return Err(Failure("time passes an urgent synchronisation".into()));
            }
            if moment > at {
                let changes = then.comparisons.iter().flatten();
                let ahead = changes.filter_map(|c| c.delay(runs)).filter(|d| *d > 0);
                next = ahead.min().map_or(end, |d| moment.saturating_add(d));
            }
        }
        if next >= end {
            return Ok(());
        }
        at = next;
    }
    Err(Failure(
        "urgency changes too often during a delay".to_owned(),
    ))
}

/// A step with its names and places.
pub(crate) fn describe(
    network: &Network,
    names: &Names,
    step: &ConcreteStep,
    state: &Concrete,
    position: &dyn Fn(Span) -> Position,
) -> TraceTransition {
    let edges = step
        .edges
        .iter()
        .map(|(p, e, values)| {
            let process = &network.processes[*p as usize];
            let edge = &process.edges[*e as usize];
            let place = position(edge.spans.first().copied().unwrap_or_default());
            let selects: BTreeMap<String, i64> = edge
                .selects
                .iter()
                .zip(values)
                .map(|(s, v)| (s.name.to_string(), i64::from(*v)))
                .collect();
            TraceEdge {
                process: process.name.to_string(),
                from: process.locations[state.locations[*p as usize] as usize]
                    .name
                    .to_string(),
                to: process.locations[edge.target as usize].name.to_string(),
                select: selects,
                line: place.line,
                column: place.column,
                process_index: *p,
                edge_index: *e,
            }
        })
        .collect();
    TraceTransition {
        channel: step.channel.map(|c| names.channel(c)),
        edges,
    }
}
