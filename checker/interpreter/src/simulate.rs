//! Random and guided runs.
//!
//! `windows.rs` determines after which delays each transition is possible; a walk takes it after
//! the shortest delay, or after a delay drawn from the ends and the inside of its windows.

use super::attempts::Reason;
use super::eval::Broken;
use super::limit::Limit;
use super::replay::describe;
use super::rng::Rng;
use super::state::{Concrete, Names, fraction};
use super::steps::{ConcreteStep, invariants_hold, running_clocks, step_by, too_many};
use super::windows::{Interval, Possible, TimeEnd, windows};
use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{Trace, TraceKind, TraceState, TraceStep, TraceTransition};
use zonelens_syntax::span::Span;

/// How to walk.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulateOptions {
    /// Number of steps.
    pub steps: usize,
    /// Seed of random choices.
    pub seed: u64,
    /// Transitions to take first, each by its number (from 0) among those that
    /// [`Simulator::choices`] lists, at the earliest moment.
    pub guide: Vec<usize>,
}

impl Default for SimulateOptions {
    fn default() -> SimulateOptions {
        SimulateOptions {
            steps: 20,
            seed: 1,
            guide: Vec::new(),
        }
    }
}

/// The number of parts of a time unit of which delays consist. Delays between two moments are as
/// round as possible.
const UNIT: i64 = 1 << 16;
/// If a broadcast has very many combinations of receivers, at most this many are offered.
const DRAWN: usize = 32;
/// The most attempts to draw such combinations at random.
const DRAWS: usize = 4096;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The requested number of steps was taken.
    Steps,
    /// No step is possible, now or later; time may pass for ever.
    Idle,
    /// No step is possible and time cannot pass for ever: the model blocks time.
    Timelock,
    /// The guide asks for a transition that does not exist.
    NoSuchChoice(String),
    /// The model fails here.
    Failed(String),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Steps => f.write_str("all steps were taken"),
            Ended::Idle => {
                f.write_str("no transition is possible any more, however long one waits")
            }
            Ended::Timelock => {
                f.write_str("no transition is possible, and an invariant or urgency stops time")
            }
            Ended::NoSuchChoice(message) => f.write_str(message),
            Ended::Failed(message) => write!(f, "the model fails here: {message}"),
        }
    }
}

/// A transition that can be taken, now or after a delay.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The edges and values of the transition.
    pub transition: TraceTransition,
    /// The shortest delay after which it is possible.
    pub delay: String,
    /// The delays after which it is possible: `[2, 5)`, or several of these.
    pub window: String,
    step: ConcreteStep,
    /// Some of these delays, the shortest first.
    delays: Vec<i64>,
}

/// A transition that cannot be taken after any delay.
#[derive(Clone, Debug)]
pub struct Unavailable {
    /// The edges and values that it would have.
    pub transition: TraceTransition,
    /// What forbids it.
    pub reason: String,
}

/// A run in progress.
pub struct Simulator<'n> {
    network: &'n Network,
    position: &'n dyn Fn(Span) -> Position,
    names: Names,
    state: Concrete,
    /// The run so far.
    pub trace: Trace,
    /// Whether time may pass for ever, according to the last computation of the choices.
    may_wait: bool,
    seed: u64,
}

impl<'n> Simulator<'n> {
    /// Starts in the initial state; fails if that violates an invariant.
    pub fn new(
        network: &'n Network,
        position: &'n dyn Fn(Span) -> Position,
    ) -> Result<Simulator<'n>, Ended> {
        let names = Names::new(network);
        let mut state = Concrete::initial(network, UNIT);
        match invariants_hold(network, &mut state) {
            Ok(true) => {}
            Ok(false) => {
                let message = "the initial state violates an invariant, so there is no run";
                return Err(Ended::Failed(message.into()));
            }
            Err(broken) => return Err(failed(&broken.into(), position)),
        }
        let trace = Trace {
            kind: TraceKind::Path,
            cycle_start: None,
            steps: vec![TraceStep {
                delay: "0".into(),
                transition: None,
                state: names.describe(network, &state),
            }],
        };
        Ok(Simulator {
            network,
            position,
            names,
            state,
            trace,
            may_wait: true,
            seed: SimulateOptions::default().seed,
        })
    }

    /// Sets another seed for drawing the receivers of a broadcast, if there are too many
    /// combinations to list.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Simulator<'n> {
        Simulator { seed, ..self }
    }

    /// The state the run is in.
    pub fn state(&self) -> TraceState {
        self.names.describe(self.network, &self.state)
    }

    /// All transitions that are possible now or after a delay, the earliest first. If a broadcast
    /// has very many combinations of receivers, some are drawn; the same seed and number of steps
    /// give the same ones.
    pub fn choices(&mut self) -> Result<Vec<Choice>, Ended> {
        Ok(self.look()?.0)
    }

    /// The same, and the transitions that are not possible, with their reasons.
    pub fn look(&mut self) -> Result<(Vec<Choice>, Vec<Unavailable>), Ended> {
        let never = AtomicBool::new(false);
        let found = windows(self.network, &self.state, Limit::new(&never, None))
            .map_err(|broken| failed(&broken.into(), self.position))?;
        if let Some(error) = &found.error {
            return Err(failed(error, self.position));
        }
        self.may_wait = found.end == TimeEnd::Never;
        // Makes the sequences of neighbouring seeds and steps very different.
        let mut rng = Rng::new(self.seed);
        let mut rng = Rng::new(rng.next_u64() ^ self.trace.steps.len() as u64);
        let mut choices = Vec::new();
        for possible in &found.possible {
            let delays: Vec<i64> = possible.delays.iter().flat_map(samples).collect();
            let windows = possible.delays.iter().map(|i| i.text(UNIT));
            let window = windows.collect::<Vec<_>>().join(" or ");
            for (step, delays) in self.ways(possible, delays, &mut rng)? {
                choices.push(Choice {
                    transition: self.describe(&step),
                    delay: fraction(delays.first().copied().unwrap_or(0), UNIT),
                    window: window.clone(),
                    step,
                    delays,
                });
            }
        }
        let blocked = found.blocked.iter().map(|blocked| Unavailable {
            transition: self.describe(&blocked.step),
            reason: self.reason(&blocked.reason),
        });
        Ok((choices, blocked.collect()))
    }

    /// The steps that a possible transition represents, with their delays: itself, or some of very
    /// many combinations.
    fn ways(
        &self,
        possible: &Possible,
        delays: Vec<i64>,
        rng: &mut Rng,
    ) -> Result<Vec<(ConcreteStep, Vec<i64>)>, Ended> {
        if possible.choices.is_empty() {
            return Ok(vec![(possible.step.clone(), delays)]);
        }
        let mut found: Vec<(ConcreteStep, Vec<i64>)> = Vec::new();
        for _ in 0..DRAWS {
            let mut step = possible.step.clone();
            let picks = possible
                .choices
                .iter()
                .map(|own| own[rng.below(own.len())].clone());
            step.edges.extend(picks);
            if found.iter().any(|(other, _)| *other == step) {
                continue;
            }
            let is_possible = |delay: &i64| matches!(self.after(*delay, &step), Ok(Some(_)));
            let own: Vec<i64> = delays.iter().copied().filter(is_possible).collect();
            if !own.is_empty() {
                found.push((step, own));
            }
            if found.len() == DRAWN {
                break;
            }
        }
        if found.is_empty() {
            let sender = possible
                .step
                .edges
                .first()
                .map_or(0, |edge| edge.0 as usize);
            let message = too_many(self.network, sender).message;
            return Err(Ended::Failed(message));
        }
        Ok(found)
    }

    /// The state after a delay and a step.
    fn after(&self, delay: i64, step: &ConcreteStep) -> Result<Option<Concrete>, Broken> {
        let mut then = self.state.clone();
        let runs = running_clocks(self.network, &mut then)?;
        let taken = step_by(self.network, &mut then.after(delay, &runs), &step.edges)?;
        Ok(taken.map(|(_, next)| next))
    }

    fn describe(&self, step: &ConcreteStep) -> TraceTransition {
        describe(self.network, &self.names, step, &self.state, self.position)
    }

    /// What forbids a transition, as text.
    fn reason(&self, reason: &Reason) -> String {
        let process = |p: &u32| &self.network.processes[*p as usize];
        let place = |span: Span| {
            let Position { line, column } = (self.position)(span);
            format!("line {line}, column {column}")
        };
        match reason {
            Reason::Guard { part, .. } => format!("its guard is false ({})", place(*part)),
            Reason::NoPartner { channel } => {
                let channel = self.names.channel(*channel);
                format!("no process can synchronise on `{channel}`")
            }
            Reason::ReceiverGuard { part, .. } => {
                format!("the receiver's guard is false ({})", place(*part))
            }
            Reason::Committed { process: p } => {
                format!("{} is in a committed location", process(p).name)
            }
            Reason::Invariant { process: p } => {
                format!("the invariant of {} would be false", process(p).name)
            }
            Reason::Priority { by } => {
                let by = by.edges.first().map(|edge| &process(&edge.0).name);
                let by = by.map(|name| format!(": of {name}")).unwrap_or_default();
                format!("a transition of higher priority is possible{by}")
            }
            Reason::Error { message, .. } => message.clone(),
        }
    }

    /// Why no transition is possible.
    pub fn stuck(&self) -> Ended {
        if self.may_wait {
            Ended::Idle
        } else {
            Ended::Timelock
        }
    }

    /// Takes a transition at its earliest moment, or at a random one of its moments.
    pub fn take(&mut self, choice: &Choice, rng: Option<&mut Rng>) -> Result<(), Ended> {
        let pick = rng.map_or(0, |rng| rng.below(choice.delays.len()));
        let delay = choice.delays.get(pick).copied().unwrap_or(0);
        let next = self.after(delay, &choice.step);
        let next = next.map_err(|broken| failed(&broken.into(), self.position))?;
        let Some(next) = next else {
            let message = "the transition is not possible after the delay that was chosen";
            return Err(Ended::Failed(message.into()));
        };
        self.trace.steps.push(TraceStep {
            delay: fraction(delay, UNIT),
            transition: Some(choice.transition.clone()),
            state: self.names.describe(self.network, &next),
        });
        self.state = next;
        Ok(())
    }
}

impl Choice {
    /// The processes and edges that take part, as numbers.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.step.edges.iter().map(|(p, e, _)| (*p, *e))
    }
}

/// A random run, after the guided part.
pub fn simulate(
    network: &Network,
    options: &SimulateOptions,
    position: &dyn Fn(Span) -> Position,
) -> (Trace, Ended) {
    let mut simulator = match Simulator::new(network, position) {
        Ok(simulator) => simulator.seeded(options.seed),
        Err(ended) => {
            let (kind, cycle_start, steps) = (TraceKind::Path, None, Vec::new());
            let none = Trace {
                kind,
                cycle_start,
                steps,
            };
            return (none, ended);
        }
    };
    let mut rng = Rng::new(options.seed);
    let steps = options.steps.max(options.guide.len());
    for index in 0..steps {
        let choices = match simulator.choices() {
            Ok(choices) => choices,
            Err(ended) => return (simulator.trace, ended),
        };
        if choices.is_empty() {
            let ended = simulator.stuck();
            return (simulator.trace, ended);
        }
        let taken = match options.guide.get(index) {
            None => {
                let pick = rng.below(choices.len());
                simulator.take(&choices[pick], Some(&mut rng))
            }
            Some(number) => match choices.get(*number) {
                Some(choice) => simulator.take(choice, None),
                None => {
                    let message = no_such_choice(index + 1, *number, choices.len());
                    return (simulator.trace, Ended::NoSuchChoice(message));
                }
            },
        };
        if let Err(ended) = taken {
            return (simulator.trace, ended);
        }
    }
    (simulator.trace, Ended::Steps)
}

/// Why the model fails, and where.
fn failed(reason: &Reason, position: &dyn Fn(Span) -> Position) -> Ended {
    Ended::Failed(match reason {
        Reason::Error {
            message,
            span: Some(span),
        } => {
            let Position { line, column } = position(*span);
            format!("line {line}, column {column}: {message}")
        }
        Reason::Error { message, .. } => message.clone(),
        other => format!("{other:?}"),
    })
}

fn no_such_choice(step: usize, number: usize, count: usize) -> String {
    let there = match count {
        1 => "is only transition 0".to_owned(),
        n => format!("are transitions 0 to {}", n - 1),
    };
    format!("step {step} asks for transition {number}, but there {there}")
}

/// The delays of an interval that a walk may choose from: its ends if they belong to it, and one
/// inside.
fn samples(interval: &Interval) -> impl Iterator<Item = i64> {
    let from = (!interval.from_open).then_some(interval.from);
    let end = interval
        .to
        .filter(|to| !interval.to_open && Some(*to) != from);
    let room = interval.to.map_or(UNIT + 1, |to| to - interval.from);
    let inside = round_below(interval.from, room);
    let inside = (inside > 0).then_some(interval.from + inside);
    from.into_iter().chain(inside).chain(end)
}

/// The distance, less than `change`, from `from` to a later number that is as round as possible; 0
/// if there is none.
fn round_below(from: i64, change: i64) -> i64 {
    let mut grain = UNIT;
    while grain > 0 {
        let next = (from.div_euclid(grain) + 1) * grain;
        if next - from < change {
            return next - from;
        }
        grain /= 2;
    }
    0
}
