//! Checks on concrete states what a run for `E[]`, `A<>` or `-->` claims beyond being a run.
//!
//! From one moment on, the *pivot*, a condition must keep a value at every instant, also during
//! delays, and the run must be maximal. There are three cases:
//!
//! - it *is stuck*: no allowed delay in the last state leads to a step, and the condition keeps its
//!   value at every moment that such a delay leads to;
//! - it *waits*: time may pass for ever in the last state, and the condition keeps its value all
//!   the time. Steps may be possible, but nothing forces them;
//! - it *repeats* its last steps for ever. The run is given with several rounds of them, and two
//!   rounds must begin in the same region: [`super::regions`] explains why the steps can then be
//!   taken for ever. This includes cycles that take no time, and clocks that grow from round to
//!   round.
//!
//! Between two moments at which an evaluated comparison may change its result nothing changes, so
//! each such moment and one moment between any two represent all. An evaluation may add further
//! comparisons, and with them moments: the intervals are examined until no new moments are found.
//! All times here are doubled, so that there is a whole number between two moments.

use super::eval::{Evaluator, Failure};
use super::limit::Limit;
use super::regions::{Notes, SharedNotes};
use super::replay::wait;
use super::rng::Rng;
use super::state::Concrete;
use super::steps::{
    ConcreteStep, enabled_steps, invariants_hold, look_at_delay, look_at_step, may_delay, step_by,
};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::rc::Rc;
use zonelens_analysis::network::{Expr, Network};

/// A condition and the value that it has.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    /// The condition.
    pub expr: &'a Expr,
    /// Its value.
    pub wanted: bool,
    /// Slots it needs.
    pub frame: u32,
}

/// What a run claims.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    /// When it begins to hold: after this many steps of the run and this delay.
    pub pivot: (usize, i64),
    /// What holds at that moment.
    pub start: Option<Kept<'a>>,
    /// What holds from then on.
    pub kept: Kept<'a>,
    /// How the run continues.
    pub end: End,
}

/// How a run continues at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Without a step.
    Stays,
    /// After `start` steps, the next `length` steps are repeated; some rounds of them are part of
    /// the run.
    Repeats {
        /// Steps before the cycle.
        start: usize,
        /// Steps of the cycle.
        length: usize,
    },
}

/// The result of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No step will ever be possible.
    Stuck,
    /// Time passes for ever.
    Waits,
    /// The cycle can be taken for ever.
    Repeats,
    /// No two rounds begin in the same region: more of them are needed.
    TooFewRounds,
}

/// The delays (in units of `1 / unit`) and steps of a run.
pub(crate) type Timed = [(i64, Option<ConcreteStep>)];

type Try<T> = Result<T, Failure>;

/// Checks a run's claim; `Err` says what is wrong.
pub fn check(
    network: &Network,
    unit: i64,
    run: &Timed,
    claim: &Claim<'_>,
    limit: &Limit<'_>,
) -> Try<Ending> {
    let mut walk = Walk {
        network,
        claim,
        state: Concrete::initial(network, 2 * unit),
        notes: Rc::default(),
        rounds: Vec::new(),
    };
    for (index, (delay, step)) in run.iter().enumerate() {
        if limit.is_over().is_some() {
            return Err(Failure("the run was stopped".into()));
        }
        let told = |f: Failure| Failure(format!("step {}: {}", index + 1, f.0));
        walk.stay(index, 2 * delay).map_err(told)?;
        if let Some(step) = step {
            walk.step(index, step).map_err(told)?;
        }
    }
    // A run whose last entry is a step has entered one more state.
    if run.last().is_none_or(|last| last.1.is_some()) {
        walk.stay(run.len(), 0)?;
    }
    match claim.end {
        End::Stays => walk.future(),
        End::Repeats { .. } => Ok(walk.comes_back()),
    }
}

struct Walk<'a> {
    network: &'a Network,
    claim: &'a Claim<'a>,
    state: Concrete,
    /// Comparisons on which the cycle depends.
    notes: SharedNotes,
    /// The states in which rounds begin.
    rounds: Vec<Concrete>,
}

impl Walk<'_> {
    /// Lets time pass before the step at this position.
    fn stay(&mut self, index: usize, delay: i64) -> Try<()> {
        let (pivot, offset) = self.claim.pivot;
        let mut left = delay;
        if index < pivot {
            return wait(self.network, &mut self.state, delay);
        }
        if index == pivot {
            left -= 2 * offset;
            wait(self.network, &mut self.state, 2 * offset)?;
            if let Some(start) = self.claim.start {
                self.holds(&start, 0, None)?;
            }
        }
        if let Some(in_round) = self.in_cycle(index)
            && in_round == 0
        {
            self.rounds.push(self.state.clone());
        }
        self.keep(left, self.in_cycle(index).is_some())?;
        wait(self.network, &mut self.state, left)
    }

    /// The position of this step within its round, if it is part of the cycle.
    fn in_cycle(&self, index: usize) -> Option<usize> {
        match self.claim.end {
            End::Repeats { start, length } if length > 0 => {
                Some(index.checked_sub(start)? % length)
            }
            _ => None,
        }
    }

    fn step(&mut self, index: usize, step: &ConcreteStep) -> Try<()> {
        if self.in_cycle(index).is_some() {
            let mut noted = self.noted(0, Some(&self.notes));
            look_at_step(self.network, &mut noted, step)?;
        }
        let found = step_by(self.network, &mut self.state, &step.edges)?;
        let Some((_, next)) = found.filter(|(found, _)| found == step) else {
            return Err(Failure("it is not enabled".into()));
        };
        self.state = next;
        Ok(())
    }

    /// The state after a delay, which notes the comparisons that are evaluated.
    fn noted(&self, delay: i64, notes: Option<&SharedNotes>) -> Concrete {
        let mut state = self.state.clone();
        state.clocks.iter_mut().for_each(|c| *c += delay);
        state.notes = notes.cloned();
        state
    }

    /// Whether a condition has its value after a delay.
    fn has_value(&self, kept: &Kept<'_>, delay: i64, notes: Option<&SharedNotes>) -> Try<bool> {
        let mut state = self.noted(delay, notes);
        let mut evaluator = Evaluator::new(self.network, &mut state, kept.frame);
        Ok((evaluator.eval(kept.expr)? != 0) == kept.wanted)
    }

    /// Fails if the condition does not have its value after a delay.
    fn holds(&self, kept: &Kept<'_>, delay: i64, notes: Option<&SharedNotes>) -> Try<()> {
        match self.has_value(kept, delay, notes)? {
            true => Ok(()),
            false => Err(Failure("the run does not keep what it claims".into())),
        }
    }

    /// Checks that the condition keeps its value during an allowed delay.
    fn keep(&self, delay: i64, in_cycle: bool) -> Try<()> {
        let own: SharedNotes = Rc::new(RefCell::new(Notes::default()));
        let notes = if in_cycle { &self.notes } else { &own };
        let look = |at: i64| -> Try<()> {
            self.holds(&self.claim.kept, at, Some(notes))?;
            if in_cycle && delay > 0 {
                look_at_delay(self.network, &mut self.noted(at, Some(notes)))?;
            }
            Ok(())
        };
        let next = |at: i64| {
            let next = notes.borrow().next_moment(&self.state, at);
            next.map_or(delay, |next| next.min(delay))
        };
        let mut at = 0;
        look(0)?;
        while at < delay {
            let mut end = next(at);
            loop {
                look((at + end) / 2)?;
                let nearer = next(at);
                if nearer == end {
                    break;
                }
                end = nearer;
            }
            at = end;
            look(at)?;
        }
        Ok(())
    }

    /// Examines everything that delays can lead to from the last state.
    fn future(&self) -> Try<Ending> {
        let mut possible = false;
        let look = |at: i64, notes: &SharedNotes| self.look(at, notes);
        let forever = ahead(&self.state, &look, &mut |look| {
            possible |= self.stays(look)?;
            Ok(())
        })?;
        match (forever, possible) {
            (true, _) => Ok(Ending::Waits),
            (false, true) => Err(Failure("the run ends where a step is possible".into())),
            (false, false) => Ok(Ending::Stuck),
        }
    }

    /// Whether a step is possible at a moment that delays lead to; fails if the condition does not
    /// hold there.
    fn stays(&self, look: &Look) -> Try<bool> {
        match look.kept {
            true => Ok(look.possible),
            false => Err(Failure(
                "what the run claims is lost where it takes no step".into(),
            )),
        }
    }

    fn look(&self, at: i64, notes: &SharedNotes) -> Try<Look> {
        let look = look_at(self.network, self.noted(at, Some(notes)))?;
        Ok(match look.allowed {
            true => Look {
                kept: self.has_value(&self.claim.kept, at, Some(notes))?,
                ..look
            },
            false => look,
        })
    }

    /// Whether two rounds begin in the same region.
    fn comes_back(&self) -> Ending {
        let regions = self.notes.borrow().regions(self.state.clocks.len());
        let mut seen = FxHashSet::default();
        match self.rounds.iter().all(|s| seen.insert(regions.key(s))) {
            true => Ending::TooFewRounds,
            false => Ending::Repeats,
        }
    }
}

/// What is known about one moment.
#[derive(Default)]
struct Look {
    /// Invariants hold.
    allowed: bool,
    /// More time may pass.
    passes: bool,
    /// The condition has its value.
    kept: bool,
    /// A step is possible.
    possible: bool,
}

/// Calls `visit` for every moment that delays can lead to from a state, with one moment for each
/// interval in which nothing changes; true if time may pass for ever.
fn ahead(
    state: &Concrete,
    look: &dyn Fn(i64, &SharedNotes) -> Try<Look>,
    visit: &mut dyn FnMut(&Look) -> Try<()>,
) -> Try<bool> {
    let notes: SharedNotes = Rc::default();
    let next = |at: i64| notes.borrow().next_moment(state, at);
    let mut at = 0;
    loop {
        let here = look(at, &notes)?;
        if !here.allowed {
            return Ok(false);
        }
        visit(&here)?;
        if !here.passes {
            return Ok(false);
        }
        let mut end = next(at);
        let after = loop {
            let between = end.map_or(at + state.unit, |end| (at + end) / 2);
            let after = look(between, &notes)?;
            let nearer = next(at);
            if nearer == end {
                break after;
            }
            end = nearer;
        };
        // If a step is urgent in the whole interval, time cannot pass to this point.
        if !after.allowed || !after.passes {
            return Ok(false);
        }
        visit(&after)?;
        match end {
            Some(end) => at = end,
            None => return Ok(true),
        }
    }
}

fn look_at(network: &Network, mut state: Concrete) -> Try<Look> {
    if !invariants_hold(network, &mut state)? {
        return Ok(Look::default());
    }
    Ok(Look {
        allowed: true,
        passes: may_delay(network, &mut state)?,
        kept: true,
        // A step whose evaluation fails is one that could be taken.
        possible: enabled_steps(network, &mut state, &Rng::new(1))
            .map_or(true, |steps| !steps.is_empty()),
    })
}

/// Whether neither this state nor any state that delays lead to has a step: `deadlock` as the query
/// language defines it.
pub fn is_dead(network: &Network, state: &Concrete) -> Try<bool> {
    let mut doubled = state.clone();
    doubled.unit *= 2;
    doubled.clocks.iter_mut().for_each(|c| *c *= 2);
    let look = |at: i64, notes: &SharedNotes| {
        let mut later = doubled.clone();
        later.clocks.iter_mut().for_each(|c| *c += at);
        later.notes = Some(notes.clone());
        look_at(network, later)
    };
    let mut possible = false;
    ahead(&doubled, &look, &mut |look| {
        possible |= look.possible;
        Ok(())
    })?;
    Ok(!possible)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use zonelens_analysis::network::QueryKind;
    use zonelens_test_support::{Loaded, xta};

    /// Checks the claim `E[] condition` of a run given by delays and the edges of the first
    /// process.
    fn claim(model: &str, condition: &str, run: &[(i64, Option<u32>)], end: End) -> Try<Ending> {
        let loaded: Loaded = xta(model);
        let query = loaded.query(&format!("E[] {condition}")).expect("a query");
        let QueryKind::Path(_, expr) = &query.kind else {
            panic!("{condition}");
        };
        let step = |edge: u32| ConcreteStep {
            channel: None,
            edges: vec![(0, edge, Vec::new())],
        };
        let run: Vec<_> = run.iter().map(|(d, e)| (*d, e.map(step))).collect();
        let kept = Kept {
            expr,
            wanted: true,
            frame: query.frame,
        };
        let claim = Claim {
            pivot: (0, 0),
            start: None,
            kept,
            end,
        };
        let cancelled = AtomicBool::new(false);
        let limit = Limit::new(&cancelled, None);
        check(&loaded.network, 2, &run, &claim, &limit)
    }

    const WAITING: &str = "clock x, y; process P() { state a { x <= 3 }, b, c; init a; trans \
                           a -> b { guard x <= 1; }, a -> c { assign x = 0; }, c -> c { guard y < 4; }; } system P;";

    #[test]
    fn a_dead_state_has_no_step_however_long_time_passes() {
        // From `a` a step is possible at once, only later, never, or only where no delay leads.
        for (edges, dead) in [
            ("a -> a { guard x <= 0; }", false),
            ("a -> a { guard x == 3; }", false),
            ("a -> a { guard x > 2 && x < 3; }", false),
            ("a -> a { guard x > 3; }", true),
            ("a -> a { guard x > 1 && x < 1; }", true),
        ] {
            let model = format!(
                "process P() {{ clock x; state a {{ x <= 3 }}; init a; trans {edges}; }} system P;"
            );
            let loaded = xta(&model);
            let initial = Concrete::initial(&loaded.network, 1);
            assert_eq!(is_dead(&loaded.network, &initial), Ok(dead), "{edges}");
        }
    }

    #[test]
    fn a_stuck_end_has_no_step_and_keeps_the_condition_as_long_as_time_may_pass() {
        let stays = |condition: &str, run: &[(i64, Option<u32>)]| {
            claim(WAITING, condition, run, End::Stays)
        };
        // All of `a` has a step to `c`; `b` has none, and time passes there for ever.
        assert!(stays("true", &[]).is_err());
        assert!(stays("true", &[(6, None)]).is_err());
        assert_eq!(stays("true", &[(0, Some(0))]), Ok(Ending::Waits));
        assert!(stays("y < 9", &[(0, Some(0))]).is_err(), "lost later");
        // Steps are possible in `c` for a while; nothing forces them.
        assert_eq!(stays("true", &[(0, Some(1))]), Ok(Ending::Waits));
        let timelock = WAITING.replace("c; init", "c { x <= 9 }; init");
        let stuck = |run: &[(i64, Option<u32>)]| claim(&timelock, "true", run, End::Stays);
        assert!(stuck(&[(0, Some(1))]).is_err(), "a step is possible");
        assert!(stuck(&[(0, Some(1)), (7, None)]).is_err(), "at 7/2 still");
        assert_eq!(stuck(&[(0, Some(1)), (8, None)]), Ok(Ending::Stuck));
    }

    #[test]
    fn a_step_that_becomes_possible_through_the_invariant_it_leads_to_is_seen() {
        let model = "clock x, y; process P() { state a { y <= 5 }, b { x >= 2 }; init a; \
                     trans a -> b { }; } system P;";
        assert!(claim(model, "true", &[], End::Stays).is_err());
        let model = model.replace("a -> b { }", "a -> b { assign x = 1; }");
        assert_eq!(claim(&model, "true", &[], End::Stays), Ok(Ending::Stuck));
    }

    #[test]
    fn the_condition_is_looked_at_during_delays() {
        // In halves: from 0 to 2, past 1.
        let run = [(4, Some(0))];
        let model = WAITING.replace("x <= 1", "x <= 2");
        for (condition, holds) in [
            ("x != 1", false),
            ("x <= 1 || x >= 2", false),
            ("x <= 2 || P.b", true),
        ] {
            let found = claim(&model, condition, &run, End::Stays);
            assert_eq!(found.is_ok(), holds, "{condition}: {found:?}");
        }
    }

    #[test]
    fn rounds_that_come_back_to_a_region_repeat() {
        let model = "clock x, y, z; process P() { state a { x <= 2 }, b; init a; trans \
                     a -> a { assign x = 0; }, a -> a { guard y <= 3; assign x = 0; }, a -> b { guard z > 99; }; } \
                     system P;";
        let rounds = |edge: u32, n: usize, delay: i64| {
            let end = End::Repeats {
                start: 0,
                length: 1,
            };
            claim(model, "true", &vec![(delay, Some(edge)); n], end)
        };
        // The clocks y and z grow, but nothing on the way depends on them.
        assert_eq!(rounds(0, 1, 2), Ok(Ending::Repeats));
        // The other edge compares y: no number of rounds is enough.
        for n in 1..4 {
            assert_eq!(rounds(1, n, 2), Ok(Ending::TooFewRounds));
        }
        assert!(rounds(1, 4, 2).is_err());
        // If no time passes, it can be taken for ever.
        assert_eq!(rounds(1, 1, 0), Ok(Ending::Repeats));
    }
}
