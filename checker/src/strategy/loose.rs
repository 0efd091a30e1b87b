//! Proofs over wider zones (`bounds/coupling.rs`, `search/wide.rs`), starting with the widest.
//!
//! A zone with more points has more runs, so a state or a run that is not found there does not
//! exist. For the same reason `Extra⁺_LU` can be used for liveness here, where it is not exact: it
//! may only add a state without steps that does not exist.
//!
//! For states, clocks are kept together by their distance from the query. For runs, a run that was
//! found and is not real determines which clocks to keep together next: those that take part in it,
//! nearest first.

use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::bounds::coupling::{Coupling, distances};
use crate::graph::Plain;
use crate::graph::expander::Expander;
use crate::graph::throughout::Throughout;
use crate::program::{Fault, Formula};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::liveness::Liveness;
use crate::search::progress::Suspect;
use crate::search::sequential::Settings;
use crate::search::wide::{Guide, Sharing, Unfinished, Wide};
use crate::strategy::Run;
use crate::strategy::Search;
use crate::strategy::certify::Nodes;
use crate::strategy::certify_runs::Proof;
use crate::symmetry::Chosen;
use crate::zone::{Federation, Zone};
use std::collections::VecDeque;
use std::rc::Rc;

/// A condition that every state satisfies.
const ALWAYS: Throughout<'static> = Throughout {
    formula: &Formula::And(Vec::new()),
    wanted: true,
    frame: 0,
};

/// The widths to try in a search for states, widest first.
pub(crate) struct Ladder(VecDeque<Coupling>);

impl Ladder {
    /// The ladder for a query with this condition; empty if differences of clocks matter.
    pub(super) fn new(run: &Run<'_>, condition: &Formula, bounds: &Bounds) -> Ladder {
        let rungs = match bounds.diagonals.is_empty() && run.program.clocks > 0 {
            true => Coupling::ladder(run.program, &distances(run.program, &[condition])),
            false => Vec::new(),
        };
        Ladder(rungs.into())
    }

    /// The present width; `None` if all were tried.
    pub(super) fn rung(&self) -> Option<&Coupling> {
        self.0.front()
    }

    /// Continues with narrower zones.
    pub(super) fn climb(&mut self) {
        self.0.pop_front();
    }
}

impl Run<'_> {
    /// A search for states over zones of this width.
    pub(crate) fn loose_search<'s>(
        &'s self,
        rung: &Coupling,
        settings: &Settings,
        bounds: &'s Bounds,
    ) -> Search<'s> {
        // Wider zones are compared by inclusion.
        let settings = Run::without_alu(*settings, true);
        let plain = Plain::new(self.program, bounds, settings.abstraction).loosened(rung.clone());
        Search::new(self.program, bounds, settings, Chosen::Plain(plain))
    }
}

/// The attempts to prove that no run keeps a condition.
pub(crate) struct NoRun<'p> {
    run: &'p Run<'p>,
    bounds: &'p Bounds,
    /// Where the runs start: at every reachable point with this condition, or at the initial state.
    start: Option<Throughout<'p>>,
    condition: Throughout<'p>,
    distances: Vec<Option<u32>>,
    /// If zones share nodes by inclusion, the graph is small but proves less than a graph in which
    /// they must be equal.
    attempts: [Attempt<'p>; 2],
    /// The reachable states as hulls, once they are known.
    reached: Option<Wide<'p>>,
    /// Where the last graph that proved nothing has a run that may be real.
    guide: Option<Rc<Guide>>,
}

/// The result of an attempt.
pub(crate) enum Tried {
    /// There is no run.
    Proven,
    /// The graph has a run, which may not be real.
    Failed,
    /// No result in this turn.
    Nothing,
}

/// Graphs of one kind, starting with the widest zones.
struct Attempt<'p> {
    sharing: Sharing,
    /// The next coupling to try; `None` if nothing is left to try, or nothing yet.
    coupling: Option<Coupling>,
    /// The unfinished graph of the last turn.
    runs: Option<Wide<'p>>,
}

impl<'p> NoRun<'p> {
    /// The kinds of attempts.
    pub(super) const KINDS: std::ops::Range<usize> = 0..2;

    /// Prepares the attempts; there are none if differences of clocks matter.
    pub(super) fn new(
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
        let attempt = |sharing, coupling| Attempt {
            sharing,
            coupling,
            runs: None,
        };
        let widest = makes_sense.then(|| Coupling::none(run.program));
        NoRun {
            run,
            bounds,
            start,
            condition,
            distances: distances(run.program, &conditions),
            // If no clocks are kept together, both kinds are the same, so equality is tried only
            // after that has failed.
            attempts: [
                attempt(Sharing::Inside, widest),
                attempt(Sharing::Equal, None),
            ],
            reached: None,
            guide: None,
        }
    }

    /// Whether attempts are left.
    pub(super) fn goes_on(&self) -> bool {
        self.attempts.iter().any(|a| a.coupling.is_some())
    }

    /// Where to search for a run that could not be excluded, if one is known.
    pub(super) fn guide(&self) -> Option<Rc<Guide>> {
        self.guide.clone()
    }

    /// The memory that is kept between turns.
    pub(super) fn bytes(&self) -> u64 {
        let runs = self.attempts.iter().filter_map(|a| a.runs.as_ref());
        runs.chain(&self.reached)
            .map(|graph| graph.counts().bytes)
            .sum()
    }

    /// Lets the next graph of a kind grow by `turn` states. Continues with narrower zones if the
    /// graph proves nothing.
    pub(super) fn tries(&mut self, kind: usize, turn: u64, watch: &mut Watch<'_>) -> Tried {
        let Some(coupling) = self.attempts[kind].coupling.clone() else {
            return Tried::Nothing;
        };
        watch.set_turn(Some(turn));
        let attempt = self.attempt(kind, &coupling, watch);
        watch.reserved = 0;
        match attempt {
            Ok(Ok(())) => Tried::Proven,
            Ok(Err(suspect)) => {
                let narrower = self.narrower(&coupling, &suspect.clocks);
                if coupling == Coupling::none(self.run.program) {
                    self.attempts[1].coupling = narrower.clone();
                }
                self.attempts[kind].coupling = narrower;
                Tried::Failed
            }
            Err(Unfinished::Stopped(Stop::Turn)) => Tried::Nothing,
            Err(_) => {
                self.attempts[kind].coupling = None;
                Tried::Nothing
            }
        }
    }

    /// Keeps together the nearest of the clocks that took part in the run that was found.
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
        kind: usize,
        coupling: &Coupling,
        watch: &mut Watch<'_>,
    ) -> Result<Result<(), Suspect>, Unfinished> {
        let mut runs = match self.attempts[kind].runs.take() {
            Some(runs) => runs,
            None => self.started(kind, coupling, watch)?,
        };
        watch.reserved = self.bytes();
        let grown = grow(&mut runs, watch);
        if grown == Err(Unfinished::Stopped(Stop::Turn)) {
            self.attempts[kind].runs = Some(runs);
            return Err(Unfinished::Stopped(Stop::Turn));
        }
        grown?;
        watch.set_turn(None);
        let excluded = runs.excludes_runs(watch)?;
        if excluded.is_ok() && self.run.wants_certificate() {
            let targets = runs.targets();
            self.run.certify_runs(&Proof {
                condition: self.condition,
                bounds: self.bounds,
                states: &runs,
                leads: &|from, to| targets[from as usize].contains(&to),
                start: (self.start.zip(self.reached.as_ref()))
                    .map(|(start, all)| (all as &dyn Nodes, start)),
            });
        }
        if let Err(suspect) = &excluded {
            self.guide = Some(Rc::new(runs.guide_to(&suspect.nodes)));
        }
        Ok(excluded)
    }

    /// A graph of runs with its starting points.
    fn started(
        &mut self,
        kind: usize,
        coupling: &Coupling,
        watch: &mut Watch<'_>,
    ) -> Result<Wide<'p>, Unfinished> {
        let program = self.run.program;
        let sharing = self.attempts[kind].sharing;
        let mut runs = self.wide(coupling, self.condition, sharing);
        let at_first = || vec![Zone::point(&program.initial_clocks)];
        let Some(start) = self.start else {
            runs.start(&program.initial, at_first())?;
            return Ok(runs);
        };
        let mut reached = match self.reached.take() {
            Some(reached) => reached,
            None => {
                let mut reached = self.wide(&Coupling::none(program), ALWAYS, Sharing::Equal);
                reached.start(&program.initial, at_first())?;
                reached
            }
        };
        watch.reserved = self.bytes();
        let grown = grow(&mut reached, watch);
        let reached = self.reached.insert(reached);
        grown?;
        let mut starts = Starts {
            expander: Expander::new(program),
            start,
            condition: self.condition,
        };
        if !(start.formula.is_discrete() && self.condition.formula.is_discrete()) {
            for node in 0..reached.len() {
                let mut state = reached.state(node).to_vec();
                let part = starts.part(&mut state, vec![reached.zones[node].clone()])?;
                runs.start(&state, part)?;
            }
            return Ok(runs);
        }
        // A run that starts among such states has come from a point where the first of them was
        // entered, so it is enough to start at those points. They are much fewer, and the clocks
        // that are set there are known.
        let mut initial = program.initial.clone();
        let part = starts.part(&mut initial, at_first())?;
        runs.start(&initial, part)?;
        for node in 0..reached.len() {
            if let Some(stop) = watch.is_over() {
                return Err(Unfinished::Stopped(stop));
            }
            let (mut state, zone) = (reached.state(node).to_vec(), reached.zones[node].clone());
            if !starts.part(&mut state, vec![zone])?.is_empty() {
                continue;
            }
            for mut arrival in reached.arrivals(node)? {
                let part = starts.part(&mut arrival.state, arrival.entries)?;
                runs.start(&arrival.state, part)?;
            }
        }
        Ok(runs)
    }

    fn wide(&self, coupling: &Coupling, condition: Throughout<'p>, sharing: Sharing) -> Wide<'p> {
        let program = self.run.program;
        let graph = Plain::new(program, self.bounds, Abstraction::ExtraLu);
        let live = Liveness::new(program, self.bounds, condition, Abstraction::ExtraLu, graph);
        Wide::new(live, coupling.clone(), sharing)
    }
}

/// Lets a graph grow, and adds what it explored to the counts of the run.
fn grow(graph: &mut Wide<'_>, watch: &mut Watch<'_>) -> Result<(), Unfinished> {
    let before = graph.counts();
    let grown = graph.grow(watch);
    let after = graph.counts();
    watch.add(Counts {
        explored: after.explored - before.explored,
        transitions: after.transitions - before.transitions,
        ..after
    });
    grown
}

/// Where runs that keep a condition may start.
struct Starts<'p> {
    expander: Expander<'p>,
    start: Throughout<'p>,
    condition: Throughout<'p>,
}

impl Starts<'_> {
    /// The part of the zones where such runs may start.
    fn part(&mut self, state: &mut [i32], zones: Federation) -> Result<Federation, Fault> {
        let part = self.start.part(&mut self.expander, zones, true, state)?;
        self.condition.part(&mut self.expander, part, true, state)
    }
}
