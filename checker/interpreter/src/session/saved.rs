//! Simulations of walks that were saved, possibly from another version of the model.
//!
//! A file names processes, locations and select variables, and may contain anything. Nothing of it
//! is believed: each transition is taken by the interpreter, and the walk ends before the first one
//! that is not possible or does not lead to the state in the file.

use super::carry::CarryStop;
use super::fraction::Fraction;
use super::{MOST_STEPS, Session};
use crate::limit::Limit;
use crate::steps::{ConcreteEdge, ConcreteStep};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use zonelens_analysis::network::{Network, Position, Process};
use zonelens_analysis::report::{Trace, TraceEdge, TraceState, TraceStep, TraceTransition};
use zonelens_syntax::span::Span;

/// The most combinations of edges with the same ends that are tried for one transition.
const MOST_TRIED: usize = 64;

impl Session {
    /// A simulation of a saved walk, positioned at its end, and where and why it could not be
    /// continued. Of several edges between the same locations it takes those that lead to the state
    /// in the file. All delays are free. `Err` says why there is no run or no walk at all.
    pub fn from_saved(
        network: Arc<Network>,
        trace: &Trace,
        position: &dyn Fn(Span) -> Position,
        limit: Limit<'_>,
    ) -> Result<(Session, Option<CarryStop>), String> {
        let first = trace.steps.first().ok_or("the saved walk has no state")?;
        if trace.steps.len() - 1 > MOST_STEPS {
            return Err(format!("a walk has at most {MOST_STEPS} transitions"));
        }
        let mut session = Session::new(network)?;
        let mut stopped = session
            .difference(&first.state)
            .map(|reason| CarryStop { step: 1, reason });
        let last = trace.steps.len() - 1;
        for (number, told) in trace.steps.iter().enumerate().skip(1) {
            if stopped.is_some() {
                break;
            }
            let done = match limit.is_over() {
                Some(_) => Err("there was no time for more".into()),
                None => session.repeat(told, number == last, position, limit),
            };
            stopped = done.err().map(|reason| CarryStop {
                step: number,
                reason,
            });
        }
        Ok((session, stopped))
    }

    /// Does what a step of the file says, or nothing.
    fn repeat(
        &mut self,
        told: &TraceStep,
        is_last: bool,
        position: &dyn Fn(Span) -> Position,
        limit: Limit<'_>,
    ) -> Result<(), String> {
        let delay = Fraction::read(&told.delay)?;
        let Some(transition) = &told.transition else {
            if !is_last {
                return Err("it has no transition".into());
            }
            self.delay(delay, limit)?;
            let Some(why) = self.difference(&told.state) else {
                return Ok(());
            };
            self.goto(self.at)?;
            return Err(why);
        };
        let candidates = candidates(self.network(), transition)?;
        let mut differs = None;
        for edges in &candidates {
            let step = ConcreteStep {
                channel: None,
                edges: edges.clone(),
            };
            if self.push(&step, delay, false).is_err() {
                continue;
            }
            let Some(why) = self.difference(&told.state) else {
                return Ok(());
            };
            differs = differs.or(Some(why));
            self.goto(self.at - 1)?;
            self.cut();
        }
        let tried = candidates.first().map_or(&[][..], Vec::as_slice);
        Err(differs.unwrap_or_else(|| self.why_not(tried, position, limit)))
    }

    /// How the present state differs from one in a file, in what both contain.
    fn difference(&self, told: &TraceState) -> Option<String> {
        let here = self.names.describe(&self.network, &self.now);
        first_difference(&here.locations, &told.locations)
            .or_else(|| first_difference(&here.variables, &told.variables))
            .or_else(|| first_difference(&here.clocks, &told.clocks))
    }
}

fn first_difference<T: PartialEq + Display>(
    here: &BTreeMap<String, T>,
    told: &BTreeMap<String, T>,
) -> Option<String> {
    here.iter().find_map(|(name, value)| {
        let other = told.get(name).filter(|other| *other != value)?;
        Some(format!(
            "{name} would be {value}, in the saved walk it is {other}"
        ))
    })
}

/// The transitions of the model that the names can mean, the one with the same numbers first.
fn candidates(
    network: &Network,
    wanted: &TraceTransition,
) -> Result<Vec<Vec<ConcreteEdge>>, String> {
    if wanted.edges.is_empty() {
        return Err("its transition has no edge".into());
    }
    let mut all = vec![Vec::new()];
    for told in &wanted.edges {
        let found = edges_like(network, told)?;
        let longer = all.iter().flat_map(|before: &Vec<ConcreteEdge>| {
            found.iter().map(move |edge| {
                let mut edges = before.clone();
                edges.push(edge.clone());
                edges
            })
        });
        all = longer.take(MOST_TRIED).collect();
    }
    Ok(all)
}

fn edges_like(network: &Network, told: &TraceEdge) -> Result<Vec<ConcreteEdge>, String> {
    let mut processes = network.processes.iter();
    let at = processes.position(|p| p.name == told.process);
    let at = at.ok_or_else(|| format!("there is no process {}", told.process))?;
    let process = &network.processes[at];
    let is_at = |l: u32, name: &str| located(process, l) == Some(name);
    let mut found: Vec<ConcreteEdge> = Vec::new();
    for (index, edge) in process.edges.iter().enumerate() {
        if !is_at(edge.source, &told.from) || !is_at(edge.target, &told.to) {
            continue;
        }
        let value = |name: &str| i32::try_from(*told.select.get(name)?).ok();
        let values: Option<Vec<i32>> = edge.selects.iter().map(|s| value(&s.name)).collect();
        let Some(values) = values else { continue };
        let edge = (at as u32, index as u32, values);
        match index as u32 == told.edge_index {
            true => found.insert(0, edge),
            false => found.push(edge),
        }
    }
    if found.is_empty() {
        return Err(format!(
            "{} has no such edge from {} to {}",
            told.process, told.from, told.to
        ));
    }
    Ok(found)
}

fn located(process: &Process, location: u32) -> Option<&str> {
    let location = process.locations.get(location as usize)?;
    Some(location.name.as_str())
}
