//! Random and guided runs.
//!
//! The moments at which something can change are found by looking: every comparison of a clock that is evaluated notes
//! the delay after which its answer changes. From one such moment to the next nothing does, so it is enough to look at
//! the moments and once between two of them, however far apart they are.

use super::eval::Broken;
use super::replay::describe;
use super::rng::Rng;
use super::state::{Concrete, Names, fraction};
use super::steps::{ConcreteStep, enabled_steps, invariants_hold, may_delay, stopped_clocks};
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
    /// Transitions to take first, each by its number (from 0) among those that [`Simulator::choices`] lists, at the
    /// earliest moment.
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

/// Parts of a time unit that delays are made of. Delays between two moments are as round as they can be.
const UNIT: i64 = 1 << 16;
/// Moments that one delay may meet.
const MOMENTS: usize = 4096;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has as many steps as were asked for.
    Steps,
    /// No step is possible, now or later; time may pass for ever.
    Idle,
    /// No step is possible and time cannot pass for ever: the model blocks time.
    Timelock,
    /// The guide asks for a transition that is not there.
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
    /// What it does.
    pub transition: TraceTransition,
    /// The shortest delay after which it is possible.
    pub delay: String,
    step: ConcreteStep,
    /// Delays after which it is possible and the states it leads to.
    targets: Vec<(i64, Concrete)>,
}

/// A run under way.
pub struct Simulator<'n> {
    network: &'n Network,
    position: &'n dyn Fn(Span) -> Position,
    names: Names,
    state: Concrete,
    /// The run so far.
    pub trace: Trace,
    /// Whether time may pass for ever, as far as the last look at the choices told.
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
            Err(broken) => return Err(failed(&broken, position)),
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

    /// With another seed for the ways in which a broadcast is received, where they are too many to list them all.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Simulator<'n> {
        Simulator { seed, ..self }
    }

    /// The state the run is in.
    pub fn state(&self) -> TraceState {
        self.names.describe(self.network, &self.state)
    }

    /// All transitions that are possible now or after a delay, those that come first before the others. Of a broadcast
    /// that can be received in very many ways some are drawn, the same ones for the same seed and number of steps.
    pub fn choices(&mut self) -> Result<Vec<Choice>, Ended> {
        // Far apart for neighbouring seeds and steps.
        let mut rng = Rng::new(self.seed);
        let rng = Rng::new(rng.next_u64() ^ self.trace.steps.len() as u64);
        let (found, may_wait) = look_ahead(self.network, &self.state, &rng)
            .map_err(|broken| failed(&broken, self.position))?;
        self.may_wait = may_wait;
        let describe = |step: &ConcreteStep| {
            describe(self.network, &self.names, step, &self.state, self.position)
        };
        Ok(found
            .into_iter()
            .map(|(step, targets)| Choice {
                transition: describe(&step),
                delay: fraction(targets.first().map_or(0, |t| t.0), UNIT),
                step,
                targets,
            })
            .collect())
    }

    /// Why there is no choice.
    pub fn stuck(&self) -> Ended {
        if self.may_wait {
            Ended::Idle
        } else {
            Ended::Timelock
        }
    }

    /// Takes a transition at its earliest moment, or at a random one of its moments.
    pub fn take(&mut self, choice: &Choice, rng: Option<&mut Rng>) {
        let pick = rng.map_or(0, |rng| rng.below(choice.targets.len()));
        let Some((delay, next)) = choice.targets.get(pick) else {
            return;
        };
        self.trace.steps.push(TraceStep {
            delay: fraction(*delay, UNIT),
            transition: Some(choice.transition.clone()),
            state: self.names.describe(self.network, next),
        });
        self.state = next.clone();
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
        match options.guide.get(index) {
            None => {
                let pick = rng.below(choices.len());
                simulator.take(&choices[pick], Some(&mut rng));
            }
            Some(number) => match choices.get(*number) {
                Some(choice) => simulator.take(choice, None),
                None => {
                    let message = no_such_choice(index + 1, *number, choices.len());
                    return (simulator.trace, Ended::NoSuchChoice(message));
                }
            },
        }
    }
    (simulator.trace, Ended::Steps)
}

/// Why the model fails, and where.
fn failed(broken: &Broken, position: &dyn Fn(Span) -> Position) -> Ended {
    let message = &broken.message;
    Ended::Failed(match broken.span {
        Some(span) => {
            let Position { line, column } = position(span);
            format!("line {line}, column {column}: {message}")
        }
        None => message.clone(),
    })
}

fn no_such_choice(step: usize, number: usize, count: usize) -> String {
    let there = match count {
        1 => "is only transition 0".to_owned(),
        n => format!("are transitions 0 to {}", n - 1),
    };
    format!("step {step} asks for transition {number}, but there {there}")
}

/// A step, the delays after which it can be taken and the states it then leads to.
type Ahead = (ConcreteStep, Vec<(i64, Concrete)>);

/// The steps of every moment that time can pass to, and whether it may pass for ever.
fn look_ahead(
    network: &Network,
    state: &Concrete,
    rng: &Rng,
) -> Result<(Vec<Ahead>, bool), Broken> {
    let mut found: Vec<Ahead> = Vec::new();
    let mut now = state.clone();
    now.moments = Some(Vec::new());
    let stopped = stopped_clocks(network, &mut now)?;
    let mut delay = 0;
    let mut between = false;
    for _ in 0..MOMENTS {
        if let Some(moments) = &mut now.moments {
            moments.clear();
        }
        if !invariants_hold(network, &mut now)? {
            return Ok((found, false));
        }
        // Nothing changes between two moments: what is urgent here was so all the way, and kept time from coming here.
        if between && !may_delay(network, &mut now)? {
            return Ok((found, false));
        }
        for (step, mut next) in enabled_steps(network, &mut now, rng)? {
            next.moments = None;
            match found.iter_mut().find(|(other, _)| *other == step) {
                Some((_, targets)) => targets.push((delay, next)),
                None => found.push((step, vec![(delay, next)])),
            }
        }
        if !may_delay(network, &mut now)? {
            return Ok((found, false));
        }
        let moments = now.moments.iter().flatten();
        let change = moments.copied().filter(|m| *m > 0).min();
        let pass = match (between, change) {
            // The last stretch: nothing changes any more.
            (true, None) => return Ok((found, true)),
            (true, Some(change)) => change,
            (false, None) => UNIT,
            (false, Some(change)) => round_below(delay, change),
        };
        between = !between;
        if pass == 0 {
            // No room for a moment in between.
            continue;
        }
        delay += pass;
        for (clock, stopped) in now.clocks.iter_mut().zip(&stopped) {
            *clock += if *stopped { 0 } else { pass };
        }
    }
    Ok((found, true))
}

/// A step from `from` that ends before `change` more, at a number as round as possible; 0 if there is none.
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
