//! Proofs over wider zones (`explore/coupling.rs`, `query/wide.rs`), from the widest up.
//!
//! A zone with more points has more runs, so a state or a run that is not found there does not exist. For the same reason
//! `Extra⁺_LU` will do for liveness here, where it is not exact: it may show a state without steps that is not there.
//!
//! For states, clocks are kept together by their distance from the query. For runs, what was found without being real
//! says which clocks to keep together next: those that take part in it, nearest first.

use super::Run;
use crate::explore::abstraction::Abstraction;
use crate::explore::bounds::Bounds;
use crate::explore::coupling::{Coupling, distances};
use crate::explore::expander::Expander;
use crate::explore::search::{Search, Settings};
use crate::explore::watch::{Stop, Watch};
use crate::program::Formula;
use crate::query::liveness::{Liveness, Throughout};
use crate::query::wide::{Unfinished, Wide};
use crate::zone::Zone;
use std::collections::VecDeque;

/// What the result says when such zones decided.
pub(super) const BY_LOOSE_CLOCKS: &str = "loose-clocks proof";

/// The condition that every state meets.
static TRUE: Formula = Formula::And(Vec::new());

/// The widths to try in a search for states, widest first.
pub(super) struct Ladder(VecDeque<Coupling>);

impl Ladder {
    /// The ladder for a query with this condition; empty where differences of clocks matter.
    pub fn new(run: &Run<'_>, condition: &Formula, bounds: &Bounds) -> Ladder {
        let rungs = match bounds.diagonals.is_empty() && run.program.clocks > 0 {
            true => Coupling::ladder(run.program, &distances(run.program, &[condition])),
            false => Vec::new(),
        };
        Ladder(rungs.into())
    }

    /// Where it stands.
    pub fn rung(&self) -> Option<&Coupling> {
        self.0.front()
    }

    /// Goes on to narrower zones.
    pub fn climb(&mut self) {
        self.0.pop_front();
    }
}

impl Run<'_> {
    /// A search for states over zones of this width.
    pub(super) fn loose_search<'s>(
        &'s self,
        rung: &Coupling,
        settings: &Settings,
        bounds: &'s Bounds,
    ) -> Search<'s> {
        let mut search = Search::new(self.program, bounds, *settings);
        search.loosen(rung.clone());
        search
    }
}

/// The attempts to prove that no run keeps a condition.
pub(super) struct NoRun<'p> {
    run: &'p Run<'p>,
    bounds: &'p Bounds,
    /// Where the runs start: at every reachable point with this, or at the initial state.
    start: Option<Throughout<'p>>,
    condition: Throughout<'p>,
    distances: Vec<Option<u32>>,
    /// What to try next; none when nothing is left.
    coupling: Option<Coupling>,
    /// The reachable states, once they are known, in hulls.
    reached: Option<Wide<'p>>,
}

impl<'p> NoRun<'p> {
    /// Prepares attempts; there are none where differences of clocks matter.
    pub fn new(
        run: &'p Run<'p>,
        bounds: &'p Bounds,
        start: Option<Throughout<'p>>,
        condition: Throughout<'p>,
    ) -> NoRun<'p> {
        let conditions: Vec<&Formula> = start
            .iter()
            .chain([&condition])
            .map(|part| part.formula)
            .collect();
        let makes_sense = bounds.diagonals.is_empty() && run.program.clocks > 0;
        NoRun {
            run,
            bounds,
            start,
            condition,
            distances: distances(run.program, &conditions),
            coupling: makes_sense.then(|| Coupling::none(run.program)),
            reached: None,
        }
    }

    /// Whether attempts are left.
    pub fn goes_on(&self) -> bool {
        self.coupling.is_some()
    }

    /// Tries wider and then narrower zones, so many states each, until one attempt proves that there is no run, one is
    /// stopped, or none is left.
    pub fn proves(&mut self, turn: u64, watch: &mut Watch<'_>) -> bool {
        while let Some(coupling) = self.coupling.clone() {
            watch.set_turn(Some(turn));
            match self.attempt(&coupling, watch) {
                Ok(Ok(())) => return true,
                Ok(Err(clocks)) => self.coupling = self.narrower(&coupling, &clocks),
                Err(Unfinished::Stopped(Stop::Turn)) => return false,
                Err(_) => self.coupling = None,
            }
        }
        false
    }

    /// Keeps together the nearest of the clocks that took part in what was found.
    fn narrower(&self, coupling: &Coupling, clocks: &[usize]) -> Option<Coupling> {
        let kept = coupling.together();
        let further = clocks.iter().filter(|&&clock| !kept.contains(&(clock + 1)));
        let distance = |clock: usize| self.distances[clock].unwrap_or(u32::MAX);
        let nearest = further.clone().map(|&clock| distance(clock)).min()?;
        let next = further.copied().filter(|&clock| distance(clock) == nearest);
        Some(coupling.with(next))
    }

    fn attempt(
        &mut self,
        coupling: &Coupling,
        watch: &mut Watch<'_>,
    ) -> Result<Result<(), Vec<usize>>, Unfinished> {
        let mut runs = self.wide(coupling, self.condition);
        match self.start {
            None => {
                let entry = vec![Zone::point(&self.run.program.initial_clocks)];
                runs.start(&self.run.program.initial, entry)?;
            }
            Some(start) => self.start_where_reached(start, &mut runs, watch)?,
        }
        let grown = runs.grow(watch);
        watch.add(runs.counts());
        grown?;
        watch.set_turn(None);
        runs.excludes_runs(watch)
    }

    fn start_where_reached(
        &mut self,
        start: Throughout<'p>,
        runs: &mut Wide<'p>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Unfinished> {
        let always = Throughout {
            formula: &TRUE,
            wanted: true,
            frame: 0,
        };
        if self.reached.is_none() {
            let mut reached = self.wide(&Coupling::none(self.run.program), always);
            let entry = vec![Zone::point(&self.run.program.initial_clocks)];
            reached.start(&self.run.program.initial, entry)?;
            self.reached = Some(reached);
        }
        let Some(reached) = &mut self.reached else {
            return Ok(());
        };
        let before = reached.counts();
        let grown = reached.grow(watch);
        let after = reached.counts();
        watch.before.explored += after.explored - before.explored;
        watch.before.transitions += after.transitions - before.transitions;
        grown?;
        let mut expander = Expander::new(self.run.program);
        for (state, zone) in reached.states.iter_mut().zip(&reached.zones) {
            let part = start.part(&mut expander, vec![zone.clone()], true, state)?;
            let part = self.condition.part(&mut expander, part, true, state)?;
            runs.start(state, part)?;
        }
        Ok(())
    }

    fn wide(&self, coupling: &Coupling, condition: Throughout<'p>) -> Wide<'p> {
        let program = self.run.program;
        let live = Liveness::new(program, self.bounds, condition, Abstraction::ExtraLu);
        Wide::new(live, coupling.clone())
    }
}
