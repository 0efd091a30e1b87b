//! The strategies for `E[]`, `A<>` and `-->`: searches for a run, and proofs that there is none.

use super::live::Guided;
use super::loose::{NoRun, Tried};
use super::portfolio::{Kind, Question, Strategy, TurnResult};
use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::graph::throughout::Throughout;
use crate::search::limits::{Stop, Watch};
use crate::search::sequential::Settings;
use crate::search::wide::Guide;
use std::cell::RefCell;
use std::rc::Rc;
use zonelens_analysis::report::{Switch, Verdict};

/// The number of guided searches that share a turn.
const ATTEMPTS: u64 = 4;

/// The question whether a run keeps a condition.
pub(super) struct Runs<'q> {
    pub run: &'q Run<'q>,
    /// Where the runs start: at every reachable point with this condition, or at the initial state.
    pub start: Option<Throughout<'q>>,
    pub condition: Throughout<'q>,
    /// The verdict if there is such a run, and the verdict if there is none.
    pub verdicts: (Verdict, Verdict),
    pub bounds: &'q Bounds,
    /// Where there may be a run that the proof with loose clocks could not exclude.
    pub hint: RefCell<Option<Rc<Guide>>>,
}

impl<'s> Question<'s> for Runs<'s> {
    fn kind(&self) -> Kind {
        match self.start {
            None => Kind::Stays,
            Some(_) => Kind::LeadsTo,
        }
    }

    fn verdicts(&self) -> (Verdict, Verdict) {
        self.verdicts
    }

    fn start(&'s self, strategy: Option<Switch>) -> Option<Box<dyn Strategy + 's>> {
        let Runs {
            run,
            start,
            condition,
            bounds,
            ..
        } = *self;
        Some(match strategy {
            None => Box::new(Exact { question: self }),
            Some(Switch::LooseClocks) => {
                let no_run = NoRun::new(run, bounds, start, condition);
                no_run
                    .goes_on()
                    .then(|| LooseClocks {
                        question: self,
                        no_run,
                        kind: 0,
                    })
                    .map(Box::new)?
            }
            Some(Switch::Guided) => Box::new(GuidedSearch { question: self }),
            Some(Switch::LuBounds) => Box::new(UnderLu {
                question: self,
                start: start.filter(|_| bounds.diagonals.is_empty())?,
            }),
            Some(Switch::Hulls) => Box::new(FromHulls {
                question: self,
                start: start?,
                settings: run.hulls(&run.settings(bounds, false), bounds)?,
            }),
            Some(
                Switch::BestFirst
                | Switch::RandomDepthFirst
                | Switch::DepthFirst
                | Switch::Simulation,
            ) => return None,
        })
    }
}

impl Runs<'_> {
    /// Searches exact zones for a run.
    fn exactly(&self, guided: Option<Guided>, watch: &mut Watch<'_>) -> Result<Answer, Stop> {
        let (run, condition, bounds) = (self.run, self.condition, self.bounds);
        match self.start {
            None => run.stays_exactly(condition, self.verdicts, bounds, guided, watch),
            Some(start) => run.leads_exactly(start, condition, bounds, guided, watch),
        }
    }
}

/// The search that was asked for; it starts from scratch in each turn.
struct Exact<'s> {
    question: &'s Runs<'s>,
}

impl Strategy for Exact<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        match self.question.exactly(None, watch) {
            Ok(answer) => TurnResult::Decided(Box::new(answer)),
            Err(Stop::Turn) => TurnResult::GoesOn,
            Err(stop) => TurnResult::Stopped(stop),
        }
    }
}

/// Proves over graphs of wide zones that there is no run, and leaves hints about runs that it
/// cannot exclude.
struct LooseClocks<'s> {
    question: &'s Runs<'s>,
    no_run: NoRun<'s>,
    /// The kind of the next attempt in this turn.
    kind: usize,
}

impl Strategy for LooseClocks<'_> {
    fn run_turn(&mut self, states: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let states = states.unwrap_or(u64::MAX);
        while NoRun::KINDS.contains(&self.kind) {
            match self.no_run.tries(self.kind, states, watch) {
                Tried::Proven => {
                    let answer = Answer::verdict(self.question.verdicts.1);
                    return TurnResult::Decided(Box::new(answer));
                }
                Tried::Failed => {
                    self.question.hint.replace(self.no_run.guide());
                    return TurnResult::Hint;
                }
                Tried::Nothing => self.kind += 1,
            }
        }
        self.kind = NoRun::KINDS.start;
        match self.no_run.goes_on() {
            true => TurnResult::GoesOn,
            false => TurnResult::Useless,
        }
    }

    fn bytes(&self) -> u64 {
        self.no_run.bytes()
    }
}

/// Searches several times for the run that a graph of wide zones could not exclude. Only a run that
/// is found counts.
struct GuidedSearch<'s> {
    question: &'s Runs<'s>,
}

impl Strategy for GuidedSearch<'_> {
    fn run_turn(&mut self, states: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let Some(guide) = self.question.hint.borrow().clone() else {
            return TurnResult::Useless;
        };
        let seed = self.question.run.options.seed;
        for attempt in 0..ATTEMPTS {
            watch.set_turn(states.map(|states| (states / ATTEMPTS).max(1)));
            let guided = Guided {
                guide: Rc::clone(&guide),
                seed: seed.wrapping_add(attempt),
            };
            match self.question.exactly(Some(guided), watch) {
                Ok(answer) if answer.verdict == self.question.verdicts.0 => {
                    return TurnResult::Decided(Box::new(answer));
                }
                Err(Stop::Turn) => {}
                // Everything that the guide knows was explored, or a limit was reached.
                Ok(_) | Err(_) => break,
            }
        }
        TurnResult::GoesOn
    }
}

/// The search for `-->` under LU bounds, which starts from scratch in each turn.
struct UnderLu<'s> {
    question: &'s Runs<'s>,
    start: Throughout<'s>,
}

impl Strategy for UnderLu<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let Runs {
            run,
            condition,
            bounds,
            ..
        } = *self.question;
        match run.leads_under_lu(self.start, condition, bounds, watch) {
            Ok(Some(answer)) => TurnResult::Decided(Box::new(answer)),
            Ok(None) => TurnResult::Useless,
            Err(Stop::Turn) => TurnResult::GoesOn,
            Err(stop) => TurnResult::Stopped(stop),
        }
    }
}

/// The proof of `-->` from the hulls of the reachable zones, which starts from scratch in each
/// turn.
struct FromHulls<'s> {
    question: &'s Runs<'s>,
    start: Throughout<'s>,
    settings: Settings,
}

impl Strategy for FromHulls<'_> {
    fn run_turn(&mut self, _: Option<u64>, watch: &mut Watch<'_>) -> TurnResult {
        let Runs {
            run,
            condition,
            bounds,
            ..
        } = *self.question;
        match run.leads_from_hulls(self.start, condition, bounds, self.settings, watch) {
            true => {
                let answer = Answer::verdict(self.question.verdicts.1);
                TurnResult::Decided(Box::new(answer))
            }
            false => TurnResult::GoesOn,
        }
    }
}
