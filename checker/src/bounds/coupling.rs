//! Which clocks keep their differences: wider zones, for proofs.
//!
//! If several loosely connected processes each have a clock, most zones differ only in the
//! differences between clocks of processes that are irrelevant to the query. Dropping such
//! differences only adds points, so a state that is not found in the wider zones does not exist; a
//! state that is found proves nothing and requires a tighter coupling. The choice of clocks to keep
//! together is a heuristic, and a wrong choice does no harm: first the clocks of the processes that
//! the query mentions, then those of the processes that can influence these, and so on (the cone of
//! influence).

use crate::bounds::interval::{walk_code, walk_statements};
use crate::program::{
    ArgCode, AtomCode, BlockCode, ClockCode, Code, Formula, Guard, PlaceBase, PlaceCode, Program,
    StepCode,
};
use crate::zone::Zone;
use crate::zone::bound::add;
use std::collections::BTreeSet;

/// Whether each clock (by matrix index) keeps its differences to the other clocks that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coupling {
    together: Vec<bool>,
}

impl Coupling {
    /// Drops the differences of clocks that are not kept together. The result is canonical: a
    /// dropped entry becomes the shortest path through the constant zero, and every other path
    /// between two clocks that were separated also passes through it.
    pub(crate) fn loosen(&self, zone: &mut Zone) {
        let dim = zone.dim();
        let m = zone.raw_mut();
        for x in 1..dim {
            for y in (1..dim).filter(|&y| y != x) {
                if !(self.together[x] && self.together[y]) {
                    m[x * dim + y] = add(m[x * dim], m[y]);
                }
            }
        }
    }

    /// The clocks that are kept together, by matrix index, with the constant zero first.
    pub(crate) fn together(&self) -> Vec<usize> {
        let clocks = (1..self.together.len()).filter(|&x| self.together[x]);
        std::iter::once(0).chain(clocks).collect()
    }

    /// A coupling that keeps no differences.
    pub(crate) fn none(program: &Program) -> Coupling {
        Coupling {
            together: vec![false; program.dim()],
        }
    }

    /// Keeps more clocks together.
    pub(crate) fn with(&self, clocks: impl IntoIterator<Item = usize>) -> Coupling {
        let mut wider = self.clone();
        clocks
            .into_iter()
            .for_each(|clock| wider.together[clock + 1] = true);
        wider
    }

    /// The couplings to try, from no differences to all differences except the exact zones.
    pub(crate) fn ladder(program: &Program, distances: &[Option<u32>]) -> Vec<Coupling> {
        let mut ladder = vec![Coupling::none(program)];
        let furthest = distances.iter().flatten().max();
        for distance in furthest.into_iter().flat_map(|furthest| 0..=*furthest) {
            let near = |clock: &usize| distances[*clock].is_some_and(|d| d <= distance);
            let rung = Coupling::none(program).with((0..program.clocks).filter(near));
            let kept = rung.together().len() - 1;
            // A single clock has no differences, and all clocks together are the exact zones.
            if kept > 1 && kept < program.clocks && ladder.last() != Some(&rung) {
                ladder.push(rung);
            }
        }
        ladder
    }
}

/// The distance of each clock from the query: the number of influences of one process on another
/// along the way; `None` for the clocks of processes that have no influence.
pub(crate) fn distances(program: &Program, conditions: &[&Formula]) -> Vec<Option<u32>> {
    let mut distances = vec![None; program.clocks];
    let mut cone = Cone::new(program, conditions);
    for distance in 0.. {
        for &clock in &cone.clocks {
            distances[clock].get_or_insert(distance);
        }
        if !cone.widen() {
            break;
        }
    }
    distances
}

/// What a part of the model reads, writes and synchronises on.
#[derive(Clone, Debug, Default)]
struct Touched {
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    clocks: BTreeSet<usize>,
    /// Processes whose locations are read (queries).
    processes: BTreeSet<usize>,
    /// Channels on which the other side decides whether a step is possible: all except for senders
    /// of a broadcast.
    waits_for: BTreeSet<usize>,
    /// Channels on which it sends, or takes part other than as the receiver of a broadcast.
    drives: BTreeSet<usize>,
}

/// The processes that can influence the query, up to some distance.
struct Cone<'p> {
    program: &'p Program,
    of_process: Vec<Touched>,
    inside: Vec<bool>,
    reads: BTreeSet<usize>,
    waits_for: BTreeSet<usize>,
    clocks: BTreeSet<usize>,
}

impl<'p> Cone<'p> {
    fn new(program: &'p Program, conditions: &[&Formula]) -> Cone<'p> {
        let mut query = Touched::default();
        conditions.iter().for_each(|f| query.formula(program, f));
        let mut cone = Cone {
            program,
            of_process: (0..program.processes())
                .map(|p| Touched::process(program, p))
                .collect(),
            inside: vec![false; program.processes()],
            reads: query.reads,
            waits_for: BTreeSet::new(),
            clocks: query.clocks,
        };
        query.processes.into_iter().for_each(|p| cone.take_in(p));
        cone
    }

    fn take_in(&mut self, process: usize) {
        if std::mem::replace(&mut self.inside[process], true) {
            return;
        }
        let touched = &self.of_process[process];
        self.reads.extend(&touched.reads);
        self.waits_for.extend(&touched.waits_for);
        self.clocks.extend(&touched.clocks);
    }

    /// Adds the processes that influence those inside; returns false if there are none.
    fn widen(&mut self) -> bool {
        let influences = |p: &usize| {
            let touched = &self.of_process[*p];
            !self.inside[*p]
                && (!touched.writes.is_disjoint(&self.reads)
                    || !touched.drives.is_disjoint(&self.waits_for))
        };
        let next: Vec<usize> = (0..self.program.processes()).filter(influences).collect();
        next.iter().for_each(|p| self.take_in(*p));
        !next.is_empty()
    }
}

impl Touched {
    fn process(program: &Program, process: usize) -> Touched {
        let mut touched = Touched::default();
        for invariant in program.locations[process]
            .iter()
            .filter_map(|l| l.invariant.as_ref())
        {
            touched.guard(program, invariant);
        }
        for edge in program
            .edges
            .iter()
            .filter(|e| e.process as usize == process)
        {
            if let Some(guard) = &edge.guard {
                touched.guard(program, guard);
            }
            edge.updates.iter().for_each(|c| touched.code(program, c));
            if let Some(sync) = &edge.sync {
                touched.steps(program, &sync.steps);
                let channels = sync.base as usize..=sync.last as usize;
                for channel in channels.filter(|c| *c < program.channels.len()) {
                    let broadcast = program.channels[channel].broadcast;
                    if !(broadcast && sync.sends) {
                        touched.waits_for.insert(channel);
                    }
                    if !broadcast || sync.sends {
                        touched.drives.insert(channel);
                    }
                }
            }
        }
        touched
    }

    fn guard(&mut self, program: &Program, guard: &Guard) {
        self.formula(program, &guard.whole);
    }

    fn formula(&mut self, program: &Program, formula: &Formula) {
        formula.walk(&mut |part| match part {
            Formula::Int(code) => self.code(program, code),
            Formula::Atom(atom) => self.atom(program, atom),
            Formula::Rate(parts, _) => {
                self.clock(program, &parts.0);
                self.code(program, &parts.1);
            }
            _ => {}
        });
    }

    fn atom(&mut self, program: &Program, atom: &AtomCode) {
        self.clock(program, &atom.left);
        atom.right.iter().for_each(|c| self.clock(program, c));
        self.code(program, &atom.bound);
    }

    fn clock(&mut self, program: &Program, clock: &ClockCode) {
        self.steps(program, &clock.steps);
        if !clock.by_ref {
            let reach = reach(clock.base, &clock.steps);
            self.clocks.extend(reach.filter(|c| *c < program.clocks));
        }
    }

    fn steps(&mut self, program: &Program, steps: &[StepCode]) {
        steps.iter().for_each(|s| self.code(program, &s.index));
    }

    fn code(&mut self, program: &Program, code: &Code) {
        let mut called = BTreeSet::new();
        walk_code(code, &mut |part| self.part(part, &mut called));
        let mut seen = BTreeSet::new();
        while let Some(function) = called.pop_first() {
            if seen.insert(function)
                && let Some(function) = program.functions.get(function)
            {
                walk_statements(&function.body, &mut |code| {
                    walk_code(code, &mut |part| self.part(part, &mut called));
                });
            }
            called.retain(|f| !seen.contains(f));
        }
    }

    fn part(&mut self, part: &Code, called: &mut BTreeSet<usize>) {
        match part {
            Code::Cell(cell) | Code::CellConst(_, cell, _) => {
                self.reads.insert(*cell as usize);
            }
            Code::Place(place) => self.reads.extend(cells(place)),
            // A variable that only counts itself (`n++`) does not read itself into the cone.
            Code::Assign(assign) => self.writes.extend(cells(&assign.place)),
            Code::Copy(parts) => {
                self.writes.extend(cells(&parts.0));
                self.block(&parts.1, called);
            }
            Code::Same(parts, _) => {
                self.block(&parts.0, called);
                self.block(&parts.1, called);
            }
            Code::Call(call) => {
                called.insert(call.function as usize);
                call.args.iter().for_each(|arg| self.arg(arg, called));
            }
            Code::SetClock(parts, _) if !parts.0.by_ref => {
                self.clocks.extend(reach(parts.0.base, &parts.0.steps));
            }
            Code::CopyClock(parts) => {
                for clock in [&parts.0, &parts.1].into_iter().filter(|c| !c.by_ref) {
                    self.clocks.extend(reach(clock.base, &clock.steps));
                }
            }
            Code::At(process, _) | Code::LocationOf(process) => {
                self.processes.extend(reach(process.base, &process.steps));
            }
            _ => {}
        }
    }

    fn arg(&mut self, arg: &ArgCode, called: &mut BTreeSet<usize>) {
        match arg {
            ArgCode::Block(block, _) => self.block(block, called),
            // The use of a reference is not analysed, so it counts as both read and written.
            ArgCode::Ref(place) | ArgCode::Mixed(place, _) => {
                self.reads.extend(cells(place));
                self.writes.extend(cells(place));
            }
            ArgCode::Value(..) | ArgCode::Clock(_) => {}
        }
    }

    fn block(&mut self, block: &BlockCode, called: &mut BTreeSet<usize>) {
        match block {
            BlockCode::Place(place) => self.reads.extend(cells(place)),
            BlockCode::Call(call) => {
                called.insert(call.function as usize);
            }
            BlockCode::Cond(parts) => {
                self.block(&parts.1, called);
                self.block(&parts.2, called);
            }
            BlockCode::Assign(parts) => {
                self.writes.extend(cells(&parts.0));
                self.block(&parts.1, called);
            }
        }
    }
}

/// The cells that a place may denote.
fn cells(place: &PlaceCode) -> std::ops::RangeInclusive<usize> {
    match place.base {
        PlaceBase::Cell(cell) => reach(cell, &place.steps),
        // An empty range.
        _ => std::ops::RangeInclusive::new(1, 0),
    }
}

/// The range from a base to the furthest place that the indices reach.
fn reach(base: u32, steps: &[StepCode]) -> std::ops::RangeInclusive<usize> {
    let far = steps
        .iter()
        .map(|s| s.range.len.saturating_sub(1) as usize * s.stride as usize);
    base as usize..=base as usize + far.sum::<usize>()
}
