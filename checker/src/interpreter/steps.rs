//! The steps of a concrete state, found naively.

use super::eval::{Evaluator, Failure};
use super::state::Concrete;
use zonelens_analysis::network::{Channel, ChannelRef, Edge, LocationKind, Network};
use zonelens_syntax::ast::Direction;

/// An edge of a process with values of its select variables.
pub type ConcreteEdge = (u32, u32, Vec<i32>);

/// A step: process, edge and select values of everyone who takes part, sender first.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcreteStep {
    /// The channel of a synchronisation.
    pub channel: Option<u32>,
    /// Who takes which edge.
    pub edges: Vec<ConcreteEdge>,
}

type Try<T> = Result<T, Failure>;

/// Whether all invariants hold.
pub fn invariants_hold(network: &Network, state: &mut Concrete) -> Try<bool> {
    for p in 0..network.processes.len() {
        let location = &network.processes[p].locations[state.locations[p] as usize];
        if let Some(invariant) = &location.invariant
            && Evaluator::new(network, state, location.frame).eval(invariant)? == 0
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which clocks stand still: those that an invariant gives the rate 0.
pub fn stopped_clocks(network: &Network, state: &mut Concrete) -> Try<Vec<bool>> {
    let mut stopped = vec![false; state.clocks.len()];
    for p in 0..network.processes.len() {
        let location = &network.processes[p].locations[state.locations[p] as usize];
        if let Some(invariant) = &location.invariant {
            let mut evaluator = Evaluator::new(network, state, location.frame);
            for (clock, rate) in evaluator.rates(invariant)? {
                match rate {
                    0 => stopped[clock] = true,
                    1 => {}
                    _ => {
                        return Err(Failure(format!(
                            "a clock has rate {rate}; only 0 and 1 have a meaning here"
                        )));
                    }
                }
            }
        }
    }
    Ok(stopped)
}

/// Whether some time may pass: no urgent or committed location, no urgent synchronisation enabled.
pub fn may_delay(network: &Network, state: &mut Concrete) -> Try<bool> {
    let stopped = network
        .processes
        .iter()
        .zip(&state.locations)
        .any(|(p, l)| p.locations[*l as usize].kind != LocationKind::Normal);
    if stopped {
        return Ok(false);
    }
    let urgent = |step: &ConcreteStep| {
        step.channel
            .is_some_and(|c| network.channels[c as usize].urgent)
    };
    Ok(!guarded_steps(network, state)?.iter().any(urgent))
}

/// All steps of a state: guards, committed locations, priorities and target invariants considered. Each comes with the
/// state it leads to.
pub fn enabled_steps(
    network: &Network,
    state: &mut Concrete,
) -> Try<Vec<(ConcreteStep, Concrete)>> {
    let committed = |p: u32, state: &Concrete| {
        let process = &network.processes[p as usize];
        process.locations[state.locations[p as usize] as usize].kind == LocationKind::Committed
    };
    let some_committed = (0..network.processes.len()).any(|p| committed(p as u32, state));
    let mut result = Vec::new();
    for step in guarded_steps(network, state)? {
        if some_committed && !step.edges.iter().any(|(p, _, _)| committed(*p, state)) {
            continue;
        }
        let mut next = take(network, state, &step)?;
        if invariants_hold(network, &mut next)? {
            result.push((step, next));
        }
    }
    if network.has_priorities {
        let priority = |step: &ConcreteStep| {
            let channel = step.channel.map_or(Channel::DEFAULT_PRIORITY, |c| {
                network.channels[c as usize].priority
            });
            let process = step
                .edges
                .iter()
                .map(|(p, _, _)| network.processes[*p as usize].priority)
                .max();
            (channel, process.unwrap_or(0))
        };
        let highest = result.iter().map(|(step, _)| priority(step)).max();
        result.retain(|(step, _)| Some(priority(step)) == highest);
    }
    Ok(result)
}

/// The state after a step's updates.
fn take(network: &Network, state: &Concrete, step: &ConcreteStep) -> Try<Concrete> {
    let mut next = state.clone();
    let mut evaluator = Evaluator::new(network, &mut next, network.update_frame);
    for update in &network.before_update {
        evaluator.eval(update)?;
    }
    for (p, e, values) in &step.edges {
        let edge = &network.processes[*p as usize].edges[*e as usize];
        let mut evaluator = Evaluator::new(network, &mut next, edge.frame);
        for (select, value) in edge.selects.iter().zip(values) {
            evaluator.bind(select.slot, *value);
        }
        for update in &edge.updates {
            evaluator.eval(update)?;
        }
    }
    for (p, e, _) in &step.edges {
        next.locations[*p as usize] = network.processes[*p as usize].edges[*e as usize].target;
    }
    let mut evaluator = Evaluator::new(network, &mut next, network.update_frame);
    for update in &network.after_update {
        evaluator.eval(update)?;
    }
    Ok(next)
}

/// An enabled edge: who, which, select values, channel.
struct Candidate {
    edge: ConcreteEdge,
    channel: Option<(u32, Direction)>,
}

/// Steps whose guards hold, whatever committed locations and invariants say.
fn guarded_steps(network: &Network, state: &mut Concrete) -> Try<Vec<ConcreteStep>> {
    let mut starters = Vec::new();
    let mut receivers = Vec::new();
    for (p, process) in network.processes.iter().enumerate() {
        for (e, edge) in process.edges.iter().enumerate() {
            if edge.source == state.locations[p] {
                for candidate in candidates(network, state, p as u32, e as u32, edge)? {
                    match candidate.channel {
                        Some((_, Direction::Receive)) => receivers.push(candidate),
                        _ => starters.push(candidate),
                    }
                }
            }
        }
    }
    let mut steps = Vec::new();
    for starter in starters {
        let sender = starter.edge.0;
        let Some((channel, _)) = starter.channel else {
            steps.push(ConcreteStep {
                channel: None,
                edges: vec![starter.edge],
            });
            continue;
        };
        let partners: Vec<&ConcreteEdge> = receivers
            .iter()
            .filter(|r| r.edge.0 != sender && r.channel.is_some_and(|(c, _)| c == channel))
            .map(|r| &r.edge)
            .collect();
        if !network.channels[channel as usize].broadcast {
            for partner in partners {
                steps.push(ConcreteStep {
                    channel: Some(channel),
                    edges: vec![starter.edge.clone(), partner.clone()],
                });
            }
            continue;
        }
        let mut combinations = vec![vec![starter.edge]];
        for p in 0..network.processes.len() as u32 {
            let own: Vec<&&ConcreteEdge> = partners.iter().filter(|e| e.0 == p).collect();
            if !own.is_empty() {
                combinations = combinations
                    .iter()
                    .flat_map(|c| {
                        own.iter().map(move |e| {
                            let mut longer = c.clone();
                            longer.push((**e).clone());
                            longer
                        })
                    })
                    .collect();
            }
        }
        steps.extend(combinations.into_iter().map(|edges| ConcreteStep {
            channel: Some(channel),
            edges,
        }));
    }
    Ok(steps)
}

fn candidates(
    network: &Network,
    state: &mut Concrete,
    p: u32,
    e: u32,
    edge: &Edge,
) -> Try<Vec<Candidate>> {
    let mut choices: Vec<Vec<i32>> = vec![Vec::new()];
    for select in &edge.selects {
        choices = choices
            .iter()
            .flat_map(|c| {
                (0..select.range.len).map(move |k| {
                    let mut longer = c.clone();
                    longer.push(select.range.lo + k as i32);
                    longer
                })
            })
            .collect();
    }
    let mut found = Vec::new();
    for values in choices {
        let mut evaluator = Evaluator::new(network, state, edge.frame);
        for (select, value) in edge.selects.iter().zip(&values) {
            evaluator.bind(select.slot, *value);
        }
        if let Some(guard) = &edge.guard
            && evaluator.eval(guard)? == 0
        {
            continue;
        }
        let channel = match &edge.sync {
            None => None,
            Some(sync) => Some((evaluator.channel(&sync.channel)?, sync.direction)),
        };
        found.push(Candidate {
            edge: (p, e, values),
            channel,
        });
    }
    Ok(found)
}

impl Evaluator<'_> {
    fn channel(&mut self, channel: &ChannelRef) -> Try<u32> {
        Ok(channel.base + self.offset(&channel.steps)? as u32)
    }
}
