//! What a session asks the engine, and what it does with the answers.

use super::fraction::Fraction;
use super::{Session, concrete};
use crate::limit::Limit;
use crate::steps::{ConcreteEdge, ConcreteStep};
use std::sync::Arc;
use zonelens_analysis::simulation::{ChosenDelays, WalkAnswer, WalkEdge, WalkRequest, WalkStep};

impl Session {
    /// Takes a transition with the delays that the engine chose. The whole run is replayed with
    /// them first; if that fails, nothing changes.
    pub fn take_with(&mut self, question: &WalkRequest, answer: &WalkAnswer) -> Result<(), String> {
        let (Some(edges), Some(chosen)) = (&question.take, &answer.delays) else {
            return Err("no delays were chosen".into());
        };
        if answer.id != question.id || question.id != self.version {
            return Err("the walk has changed since the delays were asked for".into());
        }
        let delays = match chosen {
            ChosenDelays::Delays { delays } => delays,
            ChosenDelays::None { reason } => return Err(reason.clone()),
            ChosenDelays::Forbidden { step } if *step > self.at => {
                return Err(
                    "the time that passed since the last step forbids it; go back first".into(),
                );
            }
            ChosenDelays::Forbidden { step } => {
                return Err(format!("the fixed delay of step {step} forbids it"));
            }
        };
        if delays.len() != self.at + 1 {
            return Err("the number of delays that were chosen is wrong".into());
        }
        let mut fresh = Session::new(Arc::clone(&self.network))?;
        let mut changed = Vec::new();
        let steps = self.walk[..self.at]
            .iter()
            .map(|w| (&w.step.edges, w.fixed));
        let last: Vec<ConcreteEdge> = edges.iter().map(concrete).collect();
        let steps = steps.chain(std::iter::once((&last, self.waited > 0)));
        for (k, ((edges, fixed), delay)) in steps.zip(delays).enumerate() {
            let step = ConcreteStep {
                channel: None,
                edges: edges.clone(),
            };
            let delay = Fraction::read(delay)?;
            fresh.push(&step, delay, fixed).map_err(|why| {
                format!(
                    "the delays that were chosen do not replay: step {}: {why}",
                    k + 1
                )
            })?;
        }
        let text = |s: &Session, k: usize| crate::state::fraction(s.walk[k].delay, s.unit);
        for k in 0..self.at {
            if text(self, k) != text(&fresh, k) {
                if self.walk[k].fixed {
                    return Err(format!("the fixed delay of step {} would change", k + 1));
                }
                changed.push((k + 1).to_string());
            }
        }
        fresh.version = self.version;
        *self = fresh;
        self.changed();
        self.message = (!changed.is_empty()).then(|| {
            let which = if changed.len() == 1 { "step" } else { "steps" };
            format!("new delays were chosen for {which} {}", changed.join(", "))
        });
        Ok(())
    }

    /// The question about the walk up to the present state, and delays for a transition after it.
    pub(super) fn question(&self, take: Option<&ConcreteStep>) -> WalkRequest {
        let edges = |step: &ConcreteStep| step.edges.iter().map(walk_edge).collect::<Vec<_>>();
        let text = |parts| crate::state::fraction(parts, self.unit);
        WalkRequest {
            id: self.version,
            steps: self.walk[..self.at]
                .iter()
                .map(|w| WalkStep {
                    edges: edges(&w.step),
                    delay: w.fixed.then(|| text(w.delay)),
                })
                .collect(),
            waited: (self.waited > 0).then(|| text(self.waited)),
            take: take.map(edges),
        }
    }

    /// The question whose answer [`Session::set_zone`] takes: the zone of the walk up to the
    /// present state.
    pub fn zone_question(&self) -> WalkRequest {
        self.question(None)
    }

    /// Takes the zone of the walk; false if the answer is about another walk.
    pub fn set_zone(&mut self, answer: WalkAnswer) -> bool {
        let fits = answer.id == self.version;
        if fits {
            self.zone = Some(answer);
        }
        fits
    }

    /// Whether the zone of the present walk is known.
    pub fn has_zone(&self) -> bool {
        self.zone.is_some()
    }

    /// The transitions that the zone allows and the run does not.
    pub(super) fn other_steps(&mut self, limit: Limit<'_>) -> Result<Vec<ConcreteStep>, String> {
        let Some(answer) = self.zone.clone() else {
            return Ok(Vec::new());
        };
        let possible = self.possible(limit)?;
        let is_possible = |edges: &[ConcreteEdge]| {
            possible.iter().any(|p| {
                let chosen = || {
                    let rest = edges.get(1..).unwrap_or_default();
                    p.choices.len() == rest.len()
                        && p.step.edges.first() == edges.first()
                        && p.choices.iter().zip(rest).all(|(own, r)| own.contains(r))
                };
                p.step.edges == edges || !p.choices.is_empty() && chosen()
            })
        };
        let steps = answer
            .transitions
            .iter()
            .map(|t| t.iter().map(concrete).collect());
        let exists = |(p, e, values): &ConcreteEdge| {
            let process = self.network.processes.get(*p as usize);
            let edge = process.and_then(|process| process.edges.get(*e as usize));
            edge.is_some_and(|edge| edge.selects.len() == values.len())
        };
        let steps = steps.filter(|edges: &Vec<ConcreteEdge>| {
            !edges.is_empty() && edges.iter().all(exists) && !is_possible(edges)
        });
        let steps = steps.map(|edges| ConcreteStep {
            channel: None,
            edges,
        });
        Ok(steps.collect())
    }
}

fn walk_edge((process, edge, select): &ConcreteEdge) -> WalkEdge {
    WalkEdge {
        process: *process,
        edge: *edge,
        select: select.clone(),
    }
}
