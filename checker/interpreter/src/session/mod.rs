//! A simulation: a walk through the model, one run of it, and what can follow.
//!
//! A *walk* is a list of transitions from the initial state; a *run* is one choice of delays along
//! it. The session stores the run as concrete states. Every change is made by the same `wait` and
//! `step_by` that replay traces, so whatever a session shows can be replayed. `windows.rs`
//! determines what can follow. The zone of the walk is provided by the caller
//! ([`Session::set_zone`]), because this crate has no zones.
//!
//! Clock values are whole multiples of `1 / unit`. The unit is the least common denominator of the
//! delays; when another denominator is added, all numbers are multiplied.

mod bare;
mod carry;
mod fraction;
mod random;
mod saved;
mod traces;
mod view;
mod zone;

pub use carry::CarryStop;
pub use fraction::Fraction;
pub use random::{RandomEnd, RandomOptions, Until};

use crate::limit::Limit;
use crate::replay::wait;
use crate::state::{Concrete, Names};
use crate::steps::{ConcreteEdge, ConcreteStep, invariants_hold, step_by};
use crate::windows::{Interval, MOST_PARTS, Possible, TimeEnd, Windows, windows};
use fraction::{common, earliest};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use zonelens_analysis::network::Network;
use zonelens_analysis::simulation::{WalkAnswer, WalkEdge, WalkRequest};

/// The most transitions of a walk.
const MOST_STEPS: usize = 100_000;
/// The most numbers that the states of a walk may contain together.
const MOST_NUMBERS: usize = 32 << 20;

/// A transition of the walk.
#[derive(Clone, Debug)]
struct Walked {
    /// The time before it, in parts of a unit.
    delay: i64,
    /// Whether the user fixed that time.
    fixed: bool,
    step: ConcreteStep,
}

/// A broadcast whose receivers are being chosen one process at a time.
#[derive(Clone, Debug)]
struct Pending {
    step: ConcreteStep,
    /// The choices of the remaining receivers.
    left: Vec<Vec<ConcreteEdge>>,
    /// The delay that was asked for.
    delay: Option<Fraction>,
}

/// A simulation.
#[derive(Clone, Debug)]
pub struct Session {
    network: Arc<Network>,
    names: Names,
    unit: i64,
    walk: Vec<Walked>,
    /// The states right after each transition, the initial state first.
    states: Vec<Concrete>,
    /// The number of transitions before the present state.
    at: usize,
    /// The time since the last transition, in parts of a unit.
    waited: i64,
    /// The present state: after that time.
    now: Concrete,
    pending: Option<Pending>,
    /// What can follow, if it is known.
    seen: Option<Windows>,
    /// The last answer about the walk up to the present state.
    zone: Option<WalkAnswer>,
    /// The version of the walk, which questions refer to: it grows with every change.
    version: u64,
    message: Option<String>,
}

/// What is needed to take a transition.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// Nothing: it was taken.
    Done,
    /// The choice of the next receiver: see `choosing` of the state.
    Receiver,
    /// Other delays before it. The engine answers this question; pass the answer to
    /// [`Session::take_with`].
    OtherDelays(WalkRequest),
}

impl Session {
    /// A simulation in the initial state; `Err` says why there is no run.
    pub fn new(network: Arc<Network>) -> Result<Session, String> {
        let names = Names::new(&network);
        let mut state = Concrete::initial(&network, 1);
        match invariants_hold(&network, &mut state) {
            Ok(true) => {}
            Ok(false) => {
                return Err("the initial state violates an invariant, so there is no run".into());
            }
            Err(broken) => return Err(broken.message),
        }
        Ok(Session {
            network,
            names,
            unit: 1,
            walk: Vec::new(),
            states: vec![state.clone()],
            at: 0,
            waited: 0,
            now: state,
            pending: None,
            seen: None,
            zone: None,
            version: 0,
            message: None,
        })
    }

    /// The network of the simulation.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Number of transitions before the present state.
    pub fn step(&self) -> usize {
        self.at
    }

    /// Number of transitions of the whole walk.
    pub fn len(&self) -> usize {
        self.walk.len()
    }

    /// Whether the walk has no transition.
    pub fn is_empty(&self) -> bool {
        self.walk.is_empty()
    }

    /// Sets the message that the next state shows.
    pub fn say(&mut self, message: impl Into<String>) {
        self.message = Some(message.into());
    }

    /// Clears the message.
    pub fn unsay(&mut self) {
        self.message = None;
    }

    /// Goes back to an empty walk.
    pub fn restart(&mut self) -> Result<(), String> {
        let version = self.version;
        *self = Session::new(Arc::clone(&self.network))?;
        self.version = version;
        self.changed();
        Ok(())
    }

    /// Undoes the choice of receivers or, if there is none, the time since the last transition or,
    /// if there is none, the last transition.
    pub fn back(&mut self) -> Result<(), String> {
        if self.pending.take().is_some() {
            return Ok(());
        }
        match (self.waited, self.at.checked_sub(1)) {
            (0, None) => Err("this is the initial state".into()),
            (0, Some(before)) => self.goto(before),
            _ => self.goto(self.at),
        }
    }

    /// Takes the next transition of the walk again.
    pub fn forward(&mut self) -> Result<(), String> {
        match self.at < self.walk.len() {
            true => self.goto(self.at + 1),
            false => Err("the walk ends here".into()),
        }
    }

    /// Goes to the state after the first `step` transitions of the walk.
    pub fn goto(&mut self, step: usize) -> Result<(), String> {
        let Some(state) = self.states.get(step) else {
            return Err(format!(
                "the walk has no step {step}; its last one is {}",
                self.walk.len()
            ));
        };
        self.now = state.clone();
        self.at = step;
        self.waited = 0;
        self.changed();
        Ok(())
    }

    /// Lets time pass; it becomes part of the delay of the next transition, which is then fixed.
    pub fn delay(&mut self, delay: Fraction, limit: Limit<'_>) -> Result<(), String> {
        self.include(delay.denominator())?;
        let parts = delay.parts(self.unit).ok_or("the delay is too long")?;
        if parts == 0 {
            return Ok(());
        }
        let allowed = self.look(limit)?.time;
        if !allowed.contains(parts) {
            return Err(format!(
                "time may pass by {} here, not by {}",
                allowed.text(self.unit),
                crate::state::fraction(parts, self.unit)
            ));
        }
        let mut then = self.now.clone();
        wait(&self.network, &mut then, parts).map_err(|f| f.0)?;
        self.cut();
        self.now = then;
        self.waited += parts;
        self.changed();
        Ok(())
    }

    /// Takes the transition with this number in the lists of the present state, after a delay from
    /// now or as early as possible.
    pub fn take(
        &mut self,
        number: usize,
        delay: Option<Fraction>,
        limit: Limit<'_>,
    ) -> Result<Taken, String> {
        if self.pending.is_some() {
            return self.receive(number, limit);
        }
        let (possible, others) = (self.possible(limit)?, self.other_steps(limit)?);
        let (first, count) = (possible.len(), possible.len() + others.len());
        if let Some(possible) = possible.into_iter().nth(number) {
            return self.take_possible(&possible, delay, limit);
        }
        match others.into_iter().nth(number - first) {
            Some(step) => Ok(Taken::OtherDelays(self.question(Some(&step)))),
            None if count == 0 => Err("no transition is possible here".into()),
            None => Err(format!(
                "there is no transition {number}; the last one is {}",
                count - 1
            )),
        }
    }

    /// Takes the transition with these edges, sender first.
    pub fn take_edges(
        &mut self,
        edges: &[WalkEdge],
        delay: Option<Fraction>,
        limit: Limit<'_>,
    ) -> Result<Taken, String> {
        self.pending = None;
        let edges: Vec<ConcreteEdge> = edges.iter().map(concrete).collect();
        let possible = self.possible(limit)?;
        if let Some(found) = possible.iter().find(|p| p.step.edges == edges) {
            return self.take_possible(&found.clone(), delay, limit);
        }
        let chosen = |p: &&Possible| {
            let Some((first, rest)) = edges.split_first() else {
                return false;
            };
            p.choices.len() == rest.len()
                && p.step.edges.first() == Some(first)
                && p.choices.iter().zip(rest).all(|(own, r)| own.contains(r))
        };
        if let Some(found) = possible.iter().find(chosen) {
            let mut step = found.step.clone();
            step.edges = edges;
            return self.take_chosen(step, &found.delays.clone(), delay);
        }
        let others = self.other_steps(limit)?;
        match others.into_iter().find(|step| step.edges == edges) {
            Some(step) => Ok(Taken::OtherDelays(self.question(Some(&step)))),
            None => Err("this transition is not possible here".into()),
        }
    }

    fn take_possible(
        &mut self,
        possible: &Possible,
        delay: Option<Fraction>,
        limit: Limit<'_>,
    ) -> Result<Taken, String> {
        if let Some(delay) = delay {
            self.within(&possible.delays, delay, limit)?;
        }
        if !possible.choices.is_empty() {
            let mut left = possible.choices.clone();
            left.reverse();
            self.pending = Some(Pending {
                step: possible.step.clone(),
                left,
                delay,
            });
            return Ok(Taken::Receiver);
        }
        // The unit may have become finer.
        let delays = match self
            .possible(limit)?
            .into_iter()
            .find(|p| p.step == possible.step)
        {
            Some(found) => found.delays,
            None => possible.delays.clone(),
        };
        self.take_chosen(possible.step.clone(), &delays, delay)
    }

    /// Chooses the next receiver of a broadcast; with the last one the transition is taken.
    fn receive(&mut self, number: usize, limit: Limit<'_>) -> Result<Taken, String> {
        let Some(pending) = &mut self.pending else {
            return Err("no receiver is asked for".into());
        };
        let Some(options) = pending.left.last() else {
            return Err("no receiver is left".into());
        };
        let Some(edge) = options.get(number) else {
            return Err(format!(
                "there is no choice {number}; the last one is {}",
                options.len() - 1
            ));
        };
        pending.step.edges.push(edge.clone());
        pending.left.pop();
        if !pending.left.is_empty() {
            return Ok(Taken::Receiver);
        }
        let Some(pending) = self.pending.take() else {
            return Err("no receiver is asked for".into());
        };
        let sender = pending.step.edges.first().cloned();
        let found = self.possible(limit)?;
        let found = found
            .iter()
            .find(|p| !p.choices.is_empty() && p.step.edges.first() == sender.as_ref());
        let delays = found.map(|p| p.delays.clone()).unwrap_or_default();
        self.take_chosen(pending.step, &delays, pending.delay)
    }

    /// Whether a delay lies in the windows of a transition. Makes the unit fine enough for it.
    fn within(
        &mut self,
        delays: &[Interval],
        delay: Fraction,
        limit: Limit<'_>,
    ) -> Result<(), String> {
        let text: Vec<String> = delays.iter().map(|i| i.text(self.unit)).collect();
        let before = self.unit;
        self.include(delay.denominator())?;
        let factor = self.unit / before;
        let parts = delay.parts(self.unit).ok_or("the delay is too long")?;
        let finer = |i: &Interval| Interval {
            from: i.from.saturating_mul(factor),
            to: i.to.map(|to| to.saturating_mul(factor)),
            ..*i
        };
        if delays.iter().any(|i| finer(i).contains(parts)) {
            self.look(limit)?;
            return Ok(());
        }
        let delay = crate::state::fraction(parts, self.unit);
        Err(format!(
            "it is possible after {}, not after {delay}",
            text.join(" or ")
        ))
    }

    /// Takes a complete transition after a delay from now, or as early as one of these intervals
    /// (in parts of the present unit) allows.
    fn take_chosen(
        &mut self,
        step: ConcreteStep,
        delays: &[Interval],
        delay: Option<Fraction>,
    ) -> Result<Taken, String> {
        let fixed = delay.is_some() || self.waited > 0;
        let unit = self.unit;
        let ways: Vec<Fraction> = match delay {
            Some(delay) => vec![delay],
            None => delays.iter().filter_map(|i| earliest(i, unit)).collect(),
        };
        let mut refusal = format!(
            "a delay would need a denominator greater than {}",
            fraction::MOST_UNIT
        );
        for way in ways {
            match self.push(&step, way, fixed) {
                Ok(()) => return Ok(Taken::Done),
                Err(message) => refusal = message,
            }
        }
        Err(refusal)
    }

    /// Adds a transition to the walk, after a delay from now.
    fn push(&mut self, step: &ConcreteStep, delay: Fraction, fixed: bool) -> Result<(), String> {
        self.include(delay.denominator())?;
        let parts = delay.parts(self.unit).ok_or("the delay is too long")?;
        let mut then = self.now.clone();
        wait(&self.network, &mut then, parts).map_err(|f| f.0)?;
        let found = step_by(&self.network, &mut then, &step.edges).map_err(|b| b.message)?;
        let Some((step, next)) = found.filter(|(found, _)| found.edges == step.edges) else {
            return Err("the transition is not possible after this delay".into());
        };
        let size = next.cells.len() + next.locations.len() + 2 * next.clocks.len() + 8;
        if self.at >= MOST_STEPS || (self.at + 2).saturating_mul(size) > MOST_NUMBERS {
            return Err(format!(
                "the walk is too long: it has {} transitions",
                self.at
            ));
        }
        if next.clocks.iter().any(|c| *c > MOST_PARTS) {
            return Err("a clock is too large for the fractions of this run".into());
        }
        self.cut();
        self.walk.push(Walked {
            delay: self.waited + parts,
            fixed,
            step,
        });
        self.states.push(next.clone());
        self.at += 1;
        self.waited = 0;
        self.now = next;
        self.changed();
        Ok(())
    }

    /// What can follow. Kept until something changes, unless a limit cut it short.
    fn look(&mut self, limit: Limit<'_>) -> Result<&Windows, String> {
        // A result that a limit cut short is computed again.
        let is_whole = |seen: &Windows| seen.end != TimeEnd::Moments;
        if !self.seen.as_ref().is_some_and(is_whole) {
            let seen = windows(&self.network, &self.now, limit).map_err(|b| b.message)?;
            self.seen = Some(seen);
        }
        self.seen
            .as_ref()
            .ok_or_else(|| "nothing is known of this state".into())
    }

    /// The possible transitions, grouped by edge, in the order of their numbers.
    fn possible(&mut self, limit: Limit<'_>) -> Result<Vec<Possible>, String> {
        let found = &self.look(limit)?.possible;
        let edge = |p: &Possible| p.step.edges.first().map(|(p, e, _)| (*p, *e));
        let mut order = FxHashMap::default();
        let mut sorted: Vec<(usize, &Possible)> = Vec::with_capacity(found.len());
        for possible in found {
            let next = order.len();
            sorted.push((*order.entry(edge(possible)).or_insert(next), possible));
        }
        sorted.sort_by_key(|(first, _)| *first);
        Ok(sorted.into_iter().map(|(_, p)| p.clone()).collect())
    }

    /// Makes the unit fine enough for a denominator.
    fn include(&mut self, denominator: i64) -> Result<(), String> {
        let too_fine = || {
            format!(
                "the delays of this walk would need a common denominator greater than {}",
                fraction::MOST_UNIT
            )
        };
        let unit = common(self.unit, denominator).ok_or_else(too_fine)?;
        let factor = unit / self.unit;
        if factor == 1 {
            return Ok(());
        }
        let clocks = self
            .states
            .iter()
            .chain([&self.now])
            .flat_map(|s| &s.clocks);
        let delays = self.walk.iter().map(|w| &w.delay).chain([&self.waited]);
        if clocks.chain(delays).any(|c| *c > MOST_PARTS / factor) {
            return Err("a clock is too large for the fractions of this run".into());
        }
        for state in self.states.iter_mut().chain([&mut self.now]) {
            state.unit = unit;
            state.clocks.iter_mut().for_each(|c| *c *= factor);
        }
        self.walk.iter_mut().for_each(|w| w.delay *= factor);
        self.waited *= factor;
        self.unit = unit;
        self.seen = None;
        Ok(())
    }

    /// Removes the transitions after the present state.
    fn cut(&mut self) {
        self.walk.truncate(self.at);
        self.states.truncate(self.at + 1);
    }

    fn changed(&mut self) {
        self.version += 1;
        self.seen = None;
        self.zone = None;
        self.pending = None;
        self.message = None;
    }
}

fn concrete(edge: &WalkEdge) -> ConcreteEdge {
    (edge.process, edge.edge, edge.select.clone())
}

#[cfg(test)]
mod tests;
