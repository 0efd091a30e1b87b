//! Simulations that survive an edit of the model.

use super::fraction::{Fraction, earliest};
use super::{Session, Taken, Walked};
use crate::limit::Limit;
use crate::state::fraction;
use crate::steps::{ConcreteEdge, ConcreteStep};
use std::sync::Arc;
use zonelens_analysis::network::{ChannelId, Edge, Network, Position, Process};
use zonelens_syntax::ast::Direction;
use zonelens_syntax::span::Span;

/// Where a walk could not be continued in an edited model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarryStop {
    /// The first transition of the walk, counted from 1, that is not possible any more.
    pub step: usize,
    /// The reason.
    pub reason: String,
}

/// The properties that identify an edge in another version of the model.
#[derive(PartialEq)]
struct Key<'n> {
    source: &'n str,
    target: &'n str,
    /// The channel's declaration and the side of the synchronisation.
    sync: Option<(&'n str, Direction)>,
}

impl<'n> Key<'n> {
    fn new(network: &'n Network, process: &'n Process, edge: &Edge) -> Key<'n> {
        let name = |l: u32| {
            process
                .locations
                .get(l as usize)
                .map_or("", |l| l.name.as_str())
        };
        let channel = |base: ChannelId| {
            let channel = network.channels.get(base);
            let variable = channel.and_then(|c| network.variables.get(c.variable));
            variable.map_or("", |v| v.name.as_str())
        };
        let sync = edge.sync.as_ref();
        Key {
            source: name(edge.source),
            target: name(edge.target),
            sync: sync.map(|s| (channel(s.channel.base), s.direction)),
        }
    }
}

/// The same edge in another network, identified by the name of its process, its ends and
/// synchronisation, and its number among the edges for which these are equal.
fn find(
    old: &Network,
    new: &Network,
    (p, e, values): &ConcreteEdge,
) -> Result<ConcreteEdge, String> {
    let process = &old.processes[*p as usize];
    let edge = &process.edges[*e as usize];
    let key = Key::new(old, process, edge);
    let equal = |e: &&Edge| Key::new(old, process, e) == key;
    let number = process.edges[..*e as usize].iter().filter(equal).count();
    let name = &process.name;
    let Some(at) = new.processes.iter().position(|p| p.name == *name) else {
        return Err(format!("there is no process {name} any more"));
    };
    let there = &new.processes[at];
    let same = there.edges.iter().enumerate();
    let mut same = same.filter(|(_, e)| Key::new(new, there, e) == key);
    let Some((index, found)) = same.nth(number) else {
        let (from, to) = (key.source, key.target);
        return Err(format!(
            "{name} has no such edge from {from} to {to} any more"
        ));
    };
    if found.selects.len() != values.len() {
        return Err(format!("the edge of {name} has other select variables now"));
    }
    Ok((at as u32, index as u32, values.clone()))
}

impl Session {
    /// The same walk in an edited model, as far as it can be taken there, and where and why it
    /// stopped. Free delays that do not fit any more are chosen again. `Err` says why the new model
    /// has no run at all.
    pub fn carry_over(
        &self,
        network: Arc<Network>,
        position: &dyn Fn(Span) -> Position,
        limit: Limit<'_>,
    ) -> Result<(Session, Option<CarryStop>), String> {
        let mut fresh = Session::new(network)?;
        fresh.version = self.version;
        let mut stopped = None;
        for (k, walked) in self.walk.iter().enumerate() {
            if let Err(reason) = self.carry_step(&mut fresh, walked, position, limit) {
                stopped = Some(CarryStop {
                    step: k + 1,
                    reason,
                });
                break;
            }
        }
        if fresh.at > self.at {
            fresh.goto(self.at)?;
        }
        let waited = Fraction::read(&fraction(self.waited, self.unit))?;
        if fresh.at == self.at
            && let Err(reason) = fresh.delay(waited, limit)
        {
            let step = self.at + 1;
            stopped = stopped.or(Some(CarryStop { step, reason }));
        }
        fresh.changed();
        Ok((fresh, stopped))
    }

    fn carry_step(
        &self,
        fresh: &mut Session,
        walked: &Walked,
        position: &dyn Fn(Span) -> Position,
        limit: Limit<'_>,
    ) -> Result<(), String> {
        if limit.is_over().is_some() {
            return Err("there was no time for more".into());
        }
        let edges = walked.step.edges.iter();
        let edges = edges.map(|e| find(&self.network, fresh.network(), e));
        let edges = edges.collect::<Result<Vec<_>, _>>()?;
        let step = ConcreteStep {
            channel: None,
            edges,
        };
        let delay = Fraction::read(&fraction(walked.delay, self.unit))?;
        if fresh.push(&step, delay, walked.fixed).is_ok() {
            return Ok(());
        }
        if walked.fixed {
            return Err(fresh.why_not(&step.edges, position, limit));
        }
        let possible = fresh.possible(limit)?;
        let found = possible.iter().find(|p| p.step.edges == step.edges);
        let delays = found.map(|p| p.delays.clone()).unwrap_or_default();
        if delays.iter().all(|i| earliest(i, fresh.unit).is_none()) {
            return Err(fresh.why_not(&step.edges, position, limit));
        }
        match fresh.take_chosen(step.clone(), &delays, None) {
            Ok(Taken::Done) => Ok(()),
            _ => Err(fresh.why_not(&step.edges, position, limit)),
        }
    }
}
