//! Random and guided runs.

use super::eval::Failure;
use super::replay::{describe, wait};
use super::state::{Concrete, Names, fraction};
use super::steps::{ConcreteStep, enabled_steps, invariants_hold};
use crate::rng::Rng;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{Trace, TraceKind, TraceStep};
use zonelens_syntax::span::Span;

/// How to walk.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulateOptions {
    /// Number of steps.
    pub steps: usize,
    /// Seed of random choices.
    pub seed: u64,
    /// Choices to follow first: each picks the step with this number (from 0, modulo their count) among those enabled
    /// after the shortest delay that enables any.
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

/// Parts of a time unit that delays are made of: strict bounds are met half way between whole numbers.
const UNIT: i64 = 4;
/// How far a delay looks for a step.
const HORIZON: i64 = 1000 * UNIT;

/// A run by the concrete interpreter. It ends early where nothing more can happen or the model fails.
pub fn simulate(
    network: &Network,
    options: &SimulateOptions,
    position: &dyn Fn(Span) -> Position,
) -> Trace {
    let names = Names::new(network);
    let mut state = Concrete::initial(network, UNIT);
    let mut trace = Trace {
        kind: TraceKind::Path,
        cycle_start: None,
        steps: vec![TraceStep {
            delay: "0".into(),
            transition: None,
            state: names.describe(network, &state),
        }],
    };
    let mut rng = Rng::new(options.seed);
    for index in 0..options.steps {
        let guide = options.guide.get(index).copied();
        let Ok(Some((delay, step, next))) = choose(network, &state, guide, &mut rng) else {
            break;
        };
        trace.steps.push(TraceStep {
            delay: fraction(delay, UNIT),
            transition: Some(describe(network, &names, &step, &state, position)),
            state: names.describe(network, &next),
        });
        state = next;
    }
    trace
}

/// A delay and a step after it.
fn choose(
    network: &Network,
    state: &Concrete,
    guide: Option<usize>,
    rng: &mut Rng,
) -> Result<Option<(i64, ConcreteStep, Concrete)>, Failure> {
    let mut options: Vec<(i64, ConcreteStep, Concrete)> = Vec::new();
    let mut now = state.clone();
    let mut delay = 0;
    // Beyond the first enabled moment, go on for a random while.
    let patience = if guide.is_some() {
        0
    } else {
        rng.range(0, 8 * UNIT as i32) as i64
    };
    let mut left = patience;
    while delay <= HORIZON && invariants_hold(network, &mut now)? {
        let enabled = enabled_steps(network, &mut now)?;
        options.extend(enabled.into_iter().map(|(step, next)| (delay, step, next)));
        if !options.is_empty() {
            if left == 0 {
                break;
            }
            left -= 1;
        }
        if wait(network, &mut now, 1).is_err() {
            break;
        }
        delay += 1;
    }
    if options.is_empty() {
        return Ok(None);
    }
    let pick = guide.map_or_else(|| rng.below(options.len()), |g| g % options.len());
    Ok(Some(options.swap_remove(pick)))
}
