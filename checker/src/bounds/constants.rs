//! Static guard analysis: lower and upper bounds per location (Behrmann, Bouyer, Fleury, Larsen:
//! *Static guard analysis in timed automata verification*, TACAS 2003).
//!
//! `L(x)` is the greatest constant of a lower-bound test `x > c` or `x >= c` that may be reached
//! before `x` is set; `U(x)` is the same for upper bounds. A clock that has neither is *inactive*
//! in the location. Every process has its own bounds per location, computed over the edges of that
//! process. The bounds of a state are the maximum over its processes, which is sound because a
//! process that does not take part in a step keeps its location and so its bounds.

use crate::bounds::interval::{Ranges, interval};
use crate::mutation::{Mutation, is_on};
use crate::program::{AtomCode, ClockCode, Code, Edge, Formula, Guard, Program};
use crate::zone::bound::CONSTANT_LIMIT;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use zonelens_analysis::network::CompareOp;

/// The bound of a clock that is not tested: the clock is inactive.
pub(super) const NONE: i32 = -1;

/// A difference of two clocks (matrix indices) that is compared with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Diagonal {
    /// The clock on the left.
    pub i: u32,
    /// The clock that is subtracted.
    pub j: u32,
    /// The constant.
    pub c: i32,
}

/// The bounds of every location, and the other facts about the model and the query that the
/// abstraction needs.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Bounds that hold everywhere: those of the query and of copied clocks.
    everywhere: Vec<(i32, i32)>,
    /// Clock, L and U, per process and location.
    local: Vec<Vec<Vec<(u32, i32, i32)>>>,
    /// The differences that the model or the query compares.
    pub diagonals: Vec<Diagonal>,
    /// A difference that is compared with too many values to split on all of them.
    pub wild_diagonal: Option<zonelens_syntax::span::Span>,
    /// Assignments of clocks to clocks: target, source.
    copies: Vec<(u32, u32)>,
}

/// Bounds under construction.
pub(super) struct Builder<'p> {
    pub(super) program: &'p Program,
    dense: Vec<Vec<Vec<(i32, i32)>>>,
    everywhere: Vec<(i32, i32)>,
    diagonals: Vec<Diagonal>,
    wild_diagonal: Option<zonelens_syntax::span::Span>,
    copies: Vec<(u32, u32)>,
}

/// Where the bounds of a condition are recorded.
#[derive(Clone, Copy)]
pub(super) enum Where {
    At(usize, usize),
    Everywhere,
}

impl Bounds {
    /// Analyses the program for a query with these conditions (possibly none), which may be
    /// evaluated in any state.
    pub(crate) fn new(program: &Program, conditions: &[&Formula]) -> Bounds {
        Builder::build(program, |builder| {
            for formula in conditions {
                let mut slots = Ranges::default();
                builder.formula(formula, Where::Everywhere, true, true, &mut slots);
            }
        })
    }

    /// Analyses the program for a search for a state where a condition has a given value: its
    /// bounds count only where they can decide.
    pub(crate) fn to_reach(program: &Program, condition: &Formula) -> Bounds {
        Builder::build(program, |builder| {
            builder.goal(condition, &mut Vec::new(), &mut Ranges::default());
        })
    }

    /// Raises the bounds of a clock everywhere, for queries that measure it, and those of the
    /// clocks that are copied to it.
    pub(crate) fn raise(&mut self, clock: usize, bound: i32) {
        let mut raised = vec![clock];
        let mut at = 0;
        while let Some(&clock) = raised.get(at) {
            let (l, u) = &mut self.everywhere[clock];
            *l = (*l).max(bound);
            *u = (*u).max(bound);
            for &(target, source) in &self.copies {
                let source = source as usize;
                if target as usize == clock && !raised.contains(&source) {
                    raised.push(source);
                }
            }
            at += 1;
        }
    }

    /// Gives clocks of the same kind the same bounds everywhere: a query that names one of them
    /// will be evaluated for all.
    pub(crate) fn even_out<K: std::hash::Hash + Eq>(&mut self, kind: impl Fn(usize) -> K) {
        let mut most: FxHashMap<K, (i32, i32)> = FxHashMap::default();
        for (clock, (l, u)) in self.everywhere.iter().enumerate() {
            let entry = most.entry(kind(clock)).or_insert((NONE, NONE));
            *entry = (entry.0.max(*l), entry.1.max(*u));
        }
        for (clock, bounds) in self.everywhere.iter_mut().enumerate() {
            *bounds = most[&kind(clock)];
        }
    }

    /// The greatest bound of a clock anywhere, at least 0.
    pub(crate) fn greatest(&self, clock: usize) -> i32 {
        let (l, u) = self.everywhere[clock];
        let local = self
            .local
            .iter()
            .flatten()
            .flatten()
            .filter(|b| b.0 as usize == clock);
        local.map(|b| b.1.max(b.2)).max().unwrap_or(0).max(l).max(u)
    }

    /// The greatest bound of any clock, at least 0.
    pub(crate) fn greatest_of_all(&self) -> i32 {
        (0..self.everywhere.len())
            .map(|clock| self.greatest(clock))
            .max()
            .unwrap_or(0)
    }

    /// The bounds that a clock (by matrix index) has in every location.
    pub(crate) fn everywhere_of(&self, clock: usize) -> (i32, i32) {
        self.everywhere[clock - 1]
    }

    /// The bounds that a location of a process adds: clocks, lower and upper bounds.
    pub(crate) fn of_location(&self, process: usize, location: usize) -> &[(u32, i32, i32)] {
        &self.local[process][location]
    }

    /// Writes the bounds of some clocks in a state into `l` and `u`. `kept` contains their matrix
    /// indices, `place` their positions (anything else beyond `kept`); only these processes add
    /// bounds.
    pub(crate) fn of_some(
        &self,
        program: &Program,
        state: &[i32],
        processes: &[u32],
        (kept, place): (&[u32], &[u32]),
        (l, u): (&mut Vec<i32>, &mut Vec<i32>),
    ) {
        l.clear();
        u.clear();
        for x in kept {
            let (low, high) = match x {
                0 => (0, 0),
                x => self.everywhere[*x as usize - 1],
            };
            l.push(low);
            u.push(high);
        }
        for p in processes {
            let location = state[program.cells.len() + *p as usize] as usize;
            for &(x, low, high) in &self.local[*p as usize][location] {
                let at = place[x as usize + 1] as usize;
                if at < kept.len() {
                    l[at] = l[at].max(low);
                    u[at] = u[at].max(high);
                }
            }
        }
    }

    /// Writes the bounds of a state into `l` and `u`, which are indexed like the matrix (entry 0 is
    /// the constant zero).
    #[inline]
    pub(crate) fn of_state(&self, program: &Program, state: &[i32], l: &mut [i32], u: &mut [i32]) {
        l[0] = 0;
        u[0] = 0;
        for (x, &(low, high)) in self.everywhere.iter().enumerate() {
            l[x + 1] = low;
            u[x + 1] = high;
        }
        let locations = &state[program.cells.len()..];
        for (per_location, &location) in self.local.iter().zip(locations) {
            for &(x, low, high) in &per_location[location as usize] {
                let x = x as usize + 1;
                l[x] = l[x].max(low);
                u[x] = u[x].max(high);
            }
        }
    }
}

impl Builder<'_> {
    fn build(program: &Program, query: impl FnOnce(&mut Builder<'_>)) -> Bounds {
        let mut builder = Builder {
            program,
            dense: program
                .locations
                .iter()
                .map(|ls| vec![vec![(NONE, NONE); program.clocks]; ls.len()])
                .collect(),
            everywhere: vec![(NONE, NONE); program.clocks],
            diagonals: Vec::new(),
            wild_diagonal: None,
            copies: Vec::new(),
        };
        builder.seed();
        query(&mut builder);
        builder.propagate();
        builder.copies();
        if !builder.diagonals.is_empty() {
            if is_on(Mutation::DifferencesNotCopied) {
                builder.copies.clear();
            }
            builder.copied_diagonals();
            builder.with_diagonals();
        }
        builder.finish()
    }

    /// Records guards at their source and invariants at their location.
    fn seed(&mut self) {
        let program = self.program;
        for (p, locations) in program.locations.iter().enumerate() {
            for (l, location) in locations.iter().enumerate() {
                if let Some(invariant) = &location.invariant {
                    let both = program.has_priorities;
                    self.formula(
                        &invariant.whole,
                        Where::At(p, l),
                        true,
                        both,
                        &mut Ranges::default(),
                    );
                }
            }
        }
        for edge in &program.edges {
            if let Some(guard) = &edge.guard {
                let at = Where::At(edge.process as usize, edge.source as usize);
                let mut slots = Ranges::default();
                for &(slot, lo, len) in &edge.selects {
                    slots.set(slot, lo, len);
                }
                let both = program.has_priorities || falsity_matters(program, edge, guard);
                self.formula(&guard.whole, at, true, both, &mut slots);
            }
        }
    }

    fn formula(
        &mut self,
        formula: &Formula,
        at: Where,
        positive: bool,
        both: bool,
        slots: &mut Ranges,
    ) {
        match formula {
            Formula::Atom(atom) => self.atom(atom, at, positive, both, slots),
            Formula::And(parts) | Formula::Or(parts) => {
                for part in parts {
                    self.formula(part, at, positive, both, slots);
                }
            }
            Formula::Not(part) => self.formula(part, at, !positive, both, slots),
            Formula::Quantified {
                slot,
                lo,
                len,
                body,
                ..
            } => {
                slots.set(*slot, *lo, *len);
                self.formula(body, at, positive, both, slots);
            }
            Formula::Int(_) | Formula::Rate(..) | Formula::Deadlock => {}
        }
    }

    pub(super) fn atom(
        &mut self,
        atom: &AtomCode,
        at: Where,
        positive: bool,
        both: bool,
        slots: &Ranges,
    ) {
        let (lo, hi) = interval(self.program, &atom.bound, slots);
        let lefts = clocks_of(self.program, &atom.left);
        if let Some(right) = &atom.right {
            let rights = clocks_of(self.program, right);
            let count = (hi - lo + 1).saturating_mul((lefts.len() * rights.len()) as i64);
            if count > 4096 {
                self.wild_diagonal = Some(atom.span);
                return;
            }
            for &i in &lefts {
                for &j in rights.iter().filter(|&&j| j != i) {
                    for c in lo..=hi {
                        let (i, j, c) = (i + 1, j + 1, clamp(c));
                        self.diagonals.push(Diagonal { i, j, c });
                    }
                }
            }
            return;
        }
        let places = lefts.into_iter().map(|x| (x, at));
        self.single(atom, places, (positive, both), hi);
    }

    /// Records the bounds of a comparison of one clock with a value up to `most`, for these clocks
    /// and locations.
    pub(super) fn single(
        &mut self,
        atom: &AtomCode,
        places: impl Iterator<Item = (u32, Where)>,
        (positive, both): (bool, bool),
        most: i64,
    ) {
        let (mut lower, mut upper) = match atom.op {
            CompareOp::Lt | CompareOp::Le => (false, true),
            CompareOp::Gt | CompareOp::Ge => (true, false),
            CompareOp::Eq | CompareOp::Ne => (true, true),
        };
        if both {
            (lower, upper) = (true, true);
        } else if !positive {
            (lower, upper) = (upper, lower);
        }
        // A negative constant says no more than `x >= 0`, but keeps the clock active.
        let c = (clamp(most) - i32::from(is_on(Mutation::LowBound))).max(0);
        for (x, at) in places {
            let entry = match at {
                Where::At(p, l) => &mut self.dense[p][l][x as usize],
                Where::Everywhere => &mut self.everywhere[x as usize],
            };
            if lower {
                entry.0 = entry.0.max(c);
            }
            if upper {
                entry.1 = entry.1.max(c);
            }
        }
    }

    /// Computes the least solution: the bounds of a target also hold at the source for clocks that
    /// the edge does not set.
    fn propagate(&mut self) {
        let killed: Vec<Vec<u32>> = self.program.edges.iter().map(surely_set).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (edge, killed) in self.program.edges.iter().zip(&killed) {
                let bounds = &mut self.dense[edge.process as usize];
                let target = bounds[edge.target as usize].clone();
                for (x, (l, u)) in target.into_iter().enumerate() {
                    if killed.contains(&(x as u32)) || is_on(Mutation::EverythingSet) {
                        continue;
                    }
                    let source = &mut bounds[edge.source as usize][x];
                    if l > source.0 || u > source.1 {
                        *source = (source.0.max(l), source.1.max(u));
                        changed = true;
                    }
                }
            }
        }
    }

    fn overall(&self, x: usize) -> (i32, i32) {
        let all = self.dense.iter().flatten().map(|bounds| bounds[x]);
        all.fold(self.everywhere[x], |a, b| (a.0.max(b.0), a.1.max(b.1)))
    }

    /// `x = y` turns tests of `x` into tests of `y`. Another process may do the copy while the
    /// testing process stays in its location, so the bounds apply everywhere.
    fn copies(&mut self) {
        let mut copies = Vec::new();
        let program = self.program;
        let codes = program.edges.iter().flat_map(|e| &e.updates);
        for code in codes
            .chain(&program.before_update)
            .chain(&program.after_update)
        {
            collect_copies(program, code, &mut copies);
        }
        for function in &program.functions {
            crate::bounds::interval::walk_statements(&function.body, &mut |code| {
                collect_copies(program, code, &mut copies)
            });
        }
        if is_on(Mutation::CopiesForgotten) {
            return;
        }
        for _ in 0..=program.clocks {
            for &(target, source) in &copies {
                let bounds = self.overall(target as usize);
                let entry = &mut self.everywhere[source as usize];
                *entry = (entry.0.max(bounds.0), entry.1.max(bounds.1));
            }
        }
        copies.sort_unstable();
        copies.dedup();
        self.copies = copies;
    }

    /// `x = z` turns tests of `x - y` into tests of `z - y`.
    fn copied_diagonals(&mut self) {
        let mut known: BTreeSet<Diagonal> = self.diagonals.iter().copied().collect();
        let mut at = 0;
        while let Some(&d) = self.diagonals.get(at) {
            for &(target, source) in &self.copies {
                let before = |x: u32| if x == target + 1 { source + 1 } else { x };
                for d in [
                    Diagonal {
                        i: before(d.i),
                        ..d
                    },
                    Diagonal {
                        j: before(d.j),
                        ..d
                    },
                ] {
                    if d.i != d.j && known.insert(d) {
                        self.diagonals.push(d);
                    }
                }
            }
            at += 1;
        }
    }

    /// With differences, each clock gets one bound for all locations, large enough that values
    /// beyond it are equivalent: the constants of the differences, and what remains of a difference
    /// when the other clock is set to a value.
    fn with_diagonals(&mut self) {
        let mut m: Vec<i64> = (0..self.program.clocks)
            .map(|x| {
                let (l, u) = self.overall(x);
                i64::from(l.max(u).max(0))
            })
            .collect();
        let set_to = crate::bounds::interval::set_values(self.program);
        for d in self.diagonals.clone() {
            let (i, j, c) = (d.i as usize - 1, d.j as usize - 1, i64::from(d.c));
            m[i] = m[i].max(c.abs());
            m[j] = m[j].max(c.abs());
            let (lo, hi) = set_to[i];
            m[j] = m[j].max((hi - c).abs()).max((lo - c).abs());
            let (lo, hi) = set_to[j];
            m[i] = m[i].max((hi + c).abs()).max((lo + c).abs());
        }
        // In `x = y, y = 2`, a test of `x - y` is a test of the previous value of `y` alone.
        for _ in 0..=self.program.clocks {
            for &(target, source) in &self.copies {
                m[source as usize] = m[source as usize].max(m[target as usize]);
            }
        }
        for (x, bound) in m.into_iter().enumerate() {
            let bound = clamp(bound);
            self.everywhere[x] = (bound, bound);
        }
    }

    fn finish(mut self) -> Bounds {
        self.diagonals.sort_unstable();
        self.diagonals.dedup();
        let sparse = |bounds: &Vec<(i32, i32)>| {
            let tested = bounds
                .iter()
                .enumerate()
                .filter(|(_, b)| b.0 > NONE || b.1 > NONE);
            tested.map(|(x, &(l, u))| (x as u32, l, u)).collect()
        };
        Bounds {
            everywhere: self.everywhere,
            local: self
                .dense
                .iter()
                .map(|ls| ls.iter().map(sparse).collect())
                .collect(),
            diagonals: self.diagonals,
            wild_diagonal: self.wild_diagonal,
            copies: self.copies,
        }
    }
}

/// Whether a guard that is *false* can enable a step or a delay.
fn falsity_matters(program: &Program, edge: &Edge, guard: &Guard) -> bool {
    let receives = edge.sync.as_ref().is_some_and(|sync| !sync.sends);
    guard.has_clocks()
        && (receives && edge.some_channel(&program.channels, |c| c.broadcast) || edge.may_be_urgent)
}

/// The clocks that the edge always sets, other than by copying.
fn surely_set(edge: &Edge) -> Vec<u32> {
    let statically =
        |clock: &ClockCode| (clock.steps.is_empty() && !clock.by_ref).then_some(clock.base);
    let mut killed = Vec::new();
    for update in &edge.updates {
        match update {
            Code::SetClock(parts, _) => killed.extend(statically(&parts.0)),
            // The source of a copy is handled by `copies`; the target counts as set.
            Code::CopyClock(parts) => killed.extend(statically(&parts.0)),
            _ => {}
        }
    }
    killed
}

/// All clocks that a reference may denote.
pub(crate) fn clocks_of(program: &Program, clock: &ClockCode) -> Vec<u32> {
    if clock.by_ref {
        return (0..program.clocks as u32).collect();
    }
    let mut result = vec![clock.base];
    for step in &clock.steps {
        let len = match is_on(Mutation::FirstIndexOnly) {
            true => 1,
            false => step.range.len,
        };
        let offsets = (0..len).map(|k| k * step.stride);
        result = offsets
            .flat_map(|o| result.iter().map(move |c| c + o).collect::<Vec<_>>())
            .collect();
    }
    result.retain(|c| (*c as usize) < program.clocks);
    result
}

fn collect_copies(program: &Program, code: &Code, out: &mut Vec<(u32, u32)>) {
    crate::bounds::interval::walk_code(code, &mut |part| {
        if let Code::CopyClock(parts) = part {
            for target in clocks_of(program, &parts.0) {
                out.extend(
                    clocks_of(program, &parts.1)
                        .into_iter()
                        .map(|source| (target, source)),
                );
            }
        }
    });
}

fn clamp(c: i64) -> i32 {
    c.clamp(-CONSTANT_LIMIT, CONSTANT_LIMIT) as i32
}
