//! Random walks from a seed.

use super::Session;
use super::fraction::{Fraction, earliest, inside};
use crate::attempts::Reason;
use crate::eval::Evaluator;
use crate::limit::{Limit, Over};
use crate::rng::Rng;
use crate::state::{Concrete, fraction};
use crate::steps::{ConcreteStep, running_clocks};
use crate::windows::{Interval, MOST_PARTS, Possible, TimeEnd};
use zonelens_analysis::network::{Query, QueryKind};

/// The most attempts to draw receivers for a broadcast with very many combinations of them.
const DRAWS: usize = 64;
/// The most moments of one delay at which a condition is evaluated.
const MOST_MOMENTS: usize = 4096;

/// When a random walk ends, other than when nothing is possible.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// A process is in a location; both are indices of the network.
    Location {
        /// The process.
        process: usize,
        /// The location.
        location: u32,
    },
    /// A state expression holds: the formula of an `E<>` query.
    Condition(Box<Query>),
    /// This much time has passed since the start of the run.
    Time(Fraction),
}

/// How to walk at random.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomOptions {
    /// The same seed gives the same walk.
    pub seed: u64,
    /// The most transitions to take.
    pub steps: usize,
    /// The conditions, any of which ends the walk.
    pub until: Vec<Until>,
}

/// Why a random walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomEnd {
    /// The requested number of steps was taken.
    Steps,
    /// A condition is met.
    Until,
    /// Nothing is possible, now or later; time may pass for ever.
    Idle,
    /// Nothing is possible, and time cannot pass for ever.
    Timelock,
    /// The limit was reached.
    Over(Over),
}

impl std::fmt::Display for RandomEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RandomEnd::Steps => "the steps that were asked for were taken",
            RandomEnd::Until => "the condition to stop at is met",
            RandomEnd::Idle => "no transition is possible any more, however long one waits",
            RandomEnd::Timelock => {
                "no transition is possible, and an invariant or urgency stops time"
            }
            RandomEnd::Over(Over::Cancelled) => "the random walk was stopped",
            RandomEnd::Over(Over::Timeout) => "the time for one request is over",
        })
    }
}

impl Session {
    /// Continues the walk at random until something ends it. `Err` says why the model is undefined
    /// in the state that the walk reached.
    pub fn random(
        &mut self,
        options: &RandomOptions,
        limit: Limit<'_>,
    ) -> Result<RandomEnd, String> {
        let mut rng = Rng::new(options.seed);
        for time in options.until.iter().filter_map(Until::time) {
            self.include(time.denominator())?;
        }
        for taken in 0.. {
            if let Some(over) = limit.is_over() {
                return Ok(RandomEnd::Over(over));
            }
            let is_dead = self.look(limit)?.possible.is_empty();
            if taken > 0 && self.is_met(&options.until, is_dead)? {
                return Ok(RandomEnd::Until);
            }
            if taken == options.steps {
                return Ok(RandomEnd::Steps);
            }
            let seen = self.look(limit)?;
            let may_wait = seen.end == TimeEnd::Never;
            let error = seen.error.clone();
            let possible = self.possible(limit)?;
            if possible.is_empty()
                && let Some(Reason::Error { message, .. }) = error
            {
                return Err(message);
            }
            if possible.is_empty() {
                // A condition may still become true while time passes.
                let far = Fraction::whole(i64::MAX);
                if let Some(later) = self.met_before(&options.until, far, true)?
                    && self.delay(later, limit).is_ok()
                {
                    return Ok(RandomEnd::Until);
                }
                return Ok(match may_wait {
                    true => RandomEnd::Idle,
                    false => RandomEnd::Timelock,
                });
            }
            let chosen = &possible[rng.below(possible.len())];
            let Some((step, delay)) = self.draw(chosen, &mut rng) else {
                return Err("no way to receive a broadcast was found among those drawn".into());
            };
            // A condition may become true while time passes.
            if let Some(earlier) = self.met_before(&options.until, delay, false)? {
                self.delay(earlier, limit)?;
                return Ok(RandomEnd::Until);
            }
            self.push(&step, delay, self.waited > 0)?;
        }
        Ok(RandomEnd::Steps)
    }

    /// Draws a step and a delay of a possible transition.
    fn draw(&self, possible: &Possible, rng: &mut Rng) -> Option<(ConcreteStep, Fraction)> {
        let delays: Vec<Fraction> = possible
            .delays
            .iter()
            .flat_map(|i| samples(i, self.unit))
            .collect();
        for _ in 0..DRAWS {
            let delay = *delays.get(rng.below(delays.len()))?;
            let mut step = possible.step.clone();
            for own in &possible.choices {
                step.edges.push(own.get(rng.below(own.len()))?.clone());
            }
            let is_listed = possible.choices.is_empty();
            if is_listed || self.clone().push(&step, delay, false).is_ok() {
                return Some((step, delay));
            }
        }
        None
    }

    /// Whether a condition holds in the present state.
    fn is_met(&mut self, until: &[Until], is_dead: bool) -> Result<bool, String> {
        let passed: i64 = self.walk[..self.at].iter().map(|w| w.delay).sum();
        let passed = passed + self.waited;
        let mut now = self.now.clone();
        for one in until {
            let met = match one {
                Until::Time(time) => time.parts(self.unit).is_some_and(|t| passed >= t),
                other => self.holds(other, &mut now, is_dead)?,
            };
            if met {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds(&self, until: &Until, state: &mut Concrete, is_dead: bool) -> Result<bool, String> {
        match until {
            Until::Time(_) => Ok(false),
            Until::Location { process, location } => {
                Ok(state.locations.get(*process) == Some(location))
            }
            Until::Condition(query) => {
                let QueryKind::Path(_, condition) = &query.kind else {
                    return Err("the condition to stop at is not a state expression".into());
                };
                let mut evaluator = Evaluator::new(&self.network, state, query.frame);
                evaluator.dead = Some(is_dead);
                let value = evaluator.eval(condition);
                value.map(|v| v != 0).map_err(|b| b.message)
            }
        }
    }

    /// The first delay below `delay`, greater than 0, after which a condition is met.
    fn met_before(
        &self,
        until: &[Until],
        delay: Fraction,
        is_dead: bool,
    ) -> Result<Option<Fraction>, String> {
        let mut first: Option<Fraction> = None;
        let earlier = |a: Option<Fraction>, b: Fraction| match a {
            Some(a) if !b.is_less(a) => Some(a),
            _ => Some(b),
        };
        let passed: i64 = self.walk[..self.at].iter().map(|w| w.delay).sum();
        let passed = passed + self.waited;
        for one in until {
            let found = match one {
                Until::Time(time) => {
                    let left = time.parts(self.unit).map(|t| t - passed);
                    left.and_then(|left| Fraction::new(left, self.unit))
                }
                Until::Location { .. } => None,
                Until::Condition(_) => self.condition_within(one, delay, is_dead)?,
            };
            let inside = |f: &Fraction| f.parts(f.denominator()) != Some(0) && f.is_less(delay);
            if let Some(found) = found.filter(inside) {
                first = earlier(first, found);
            }
        }
        Ok(first)
    }

    /// The first delay up to `delay` after which a state expression holds. Between two moments at
    /// which the result of a comparison changes nothing else changes, so one moment between them is
    /// enough.
    fn condition_within(
        &self,
        until: &Until,
        delay: Fraction,
        is_dead: bool,
    ) -> Result<Option<Fraction>, String> {
        let mut start = self.now.clone();
        start.unit *= 2;
        start.clocks.iter_mut().for_each(|c| *c *= 2);
        let runs = running_clocks(&self.network, &mut start).map_err(|b| b.message)?;
        let mut at = 0;
        for _ in 0..MOST_MOMENTS {
            let whole = Fraction::new(at, start.unit);
            if whole.is_none_or(|w| !w.is_less(delay)) {
                return Ok(None);
            }
            if at > 0 && self.holds(until, &mut start.after(at, &runs), is_dead)? {
                return Ok(whole);
            }
            let mut behind = start.after(at + 1, &runs);
            behind.comparisons = Some(Vec::new());
            let holds = self.holds(until, &mut behind, is_dead)?;
            let noted = behind.comparisons.iter().flatten();
            let change = noted
                .filter_map(|c| c.delay(&runs))
                .filter(|d| *d > 0)
                .min();
            let next = change.map(|d| at.saturating_add(1).saturating_add(d));
            if holds {
                let open = Interval {
                    from: at,
                    from_open: true,
                    to: next,
                    to_open: true,
                };
                return Ok(inside(&open, start.unit));
            }
            match next {
                Some(next) if next < MOST_PARTS => at = next,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl Until {
    fn time(&self) -> Option<Fraction> {
        match self {
            Until::Time(time) => Some(*time),
            _ => None,
        }
    }
}

/// The delays of an interval that a random walk chooses from: its ends if they belong to it, and
/// one inside.
fn samples(interval: &Interval, unit: i64) -> impl Iterator<Item = Fraction> {
    let first = earliest(interval, unit);
    let second = inside(interval, unit).filter(|f| Some(*f) != first);
    let end = interval
        .to
        .filter(|to| !interval.to_open && *to != interval.from);
    let end = end.and_then(|to| Fraction::read(&fraction(to, unit)).ok());
    let end = end.filter(|f| Some(*f) != second);
    first.into_iter().chain(second).chain(end)
}
