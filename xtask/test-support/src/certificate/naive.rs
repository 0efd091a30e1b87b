//! Proofs judged by looking at points, one by one.

use super::{Bound, File, Records, State, Target, Tree};
use crate::oracle::model::TestModel;
use crate::oracle::regions::{State as Point, Walker};

/// Whether a certificate is a proof, by looking at points: multiples of `1 / unit` of every clock.
pub struct Naive<'m> {
    pub model: &'m TestModel,
    /// What is claimed, about points whose clocks are multiples of `1 / unit`.
    pub claim: Claim<'m>,
}

/// A condition on points whose clocks count units, with the number of units of a time unit.
pub type Condition<'m> = &'m dyn Fn(&Point, i32) -> bool;

/// A claim.
pub enum Claim<'m> {
    /// No reachable point meets the condition.
    Never(Condition<'m>),
    /// No run keeps the condition, from the initial state or from the reachable points with the
    /// other condition.
    NoRun(Condition<'m>, Option<Condition<'m>>),
}

/// The parts of a time unit that points of zones are multiples of.
const UNIT: i32 = 2;
/// The same for points that time passes through: every interval between two moments at which a
/// clock is an integer contains such a point.
const FINE: i32 = 4;
/// The greatest value of a clock, in time units.
const FAR: i32 = 6;

impl Naive<'_> {
    /// The first point that shows that the set is no proof.
    pub fn refute(&self, file: &File) -> Option<String> {
        match &self.claim {
            Claim::Never(bad) => self.refute_closed(&file.states, file.initial.as_ref(), *bad),
            Claim::NoRun(kept, start) => {
                let runs = file.runs.as_ref()?;
                let (states, records) = match &runs.second {
                    None => (&file.states, &file.records),
                    Some(second) => (&second.states, &second.records),
                };
                let closed = || match start {
                    None => None,
                    Some(_) => {
                        self.refute_closed(&file.states, file.initial.as_ref(), &|_, _| false)
                    }
                };
                self.refute_starts(file, states, *kept, *start)
                    .or_else(closed)
                    .or_else(|| self.refute_runs(states, *kept))
                    .or_else(|| refute_numbers(states, records, &runs.tree))
            }
        }
    }

    fn refute_closed(
        &self,
        states: &[State],
        initial: Option<&Target>,
        bad: Condition<'_>,
    ) -> Option<String> {
        let walker = Walker::exact(self.model, UNIT);
        if initial.is_none() {
            return Some("there is no initial state".into());
        }
        for point in delays(&walker, walker.initial(), |_| true) {
            if !contains(states, &point, UNIT) {
                return Some(format!("{point:?} is initial and missing"));
            }
        }
        for state in states {
            for zone in &state.zones {
                for point in self.points(state, zone) {
                    if bad(&point, UNIT) {
                        return Some(format!("{point:?} is bad"));
                    }
                    let (steps, fails, _) = walker.actions(&point);
                    if fails {
                        return Some(format!("{point:?} fails"));
                    }
                    for (step, target) in steps {
                        for later in delays(&walker, target, |_| true) {
                            if !contains(states, &later, UNIT) {
                                return Some(format!(
                                    "{point:?} by {step:?}: {later:?} is missing"
                                ));
                            }
                        }
                    }
                }
            }
        }
        None
    }

    /// The first point where a run starts that is missing.
    fn refute_starts(
        &self,
        file: &File,
        live: &[State],
        kept: Condition<'_>,
        start: Option<Condition<'_>>,
    ) -> Option<String> {
        let walker = Walker::exact(self.model, FINE);
        let mut points = Vec::new();
        match start {
            None => points.push(walker.initial()),
            Some(start) => {
                for state in &file.states {
                    for zone in &state.zones {
                        let own = self.points(state, zone).into_iter().map(finer);
                        points.extend(own.filter(|p| walker.invariants(p) && start(p, FINE)));
                    }
                }
            }
        }
        let points = points.into_iter().filter(|p| kept(p, FINE));
        points
            .flat_map(|p| delays(&walker, p, |later| kept(later, FINE)))
            .find(|later| !contains(live, later, FINE))
            .map(|later| format!("{later:?} is on a run from its start and missing"))
    }

    /// The first point from which a run stays, ends or leads to a point that is missing.
    fn refute_runs(&self, live: &[State], kept: Condition<'_>) -> Option<String> {
        let walker = Walker::exact(self.model, FINE);
        for state in live {
            for zone in &state.zones {
                for point in self.points(state, zone).into_iter().map(finer) {
                    if !walker.invariants(&point) || !kept(&point, FINE) {
                        continue;
                    }
                    let (steps, fails, _) = walker.actions(&point);
                    if fails {
                        return Some(format!("{point:?} fails"));
                    }
                    for (step, target) in steps {
                        if !kept(&target, FINE) {
                            continue;
                        }
                        for later in delays(&walker, target, |later| kept(later, FINE)) {
                            if !contains(live, &later, FINE) {
                                return Some(format!(
                                    "{point:?} by {step:?}: {later:?} is missing"
                                ));
                            }
                        }
                    }
                    let all = delays(&walker, point.clone(), |_| true);
                    let leaves = all.iter().any(|later| !kept(later, FINE));
                    let far = |p: &Point| p.clocks.iter().all(|c| *c >= (FAR - 1) * FINE);
                    let last = all.last();
                    let goes_on = last.is_some_and(|p| walker.may_delay(p));
                    let mut next = last.cloned().unwrap_or_else(|| point.clone());
                    next.clocks.iter_mut().for_each(|c| *c += 1);
                    let goes_on = goes_on && walker.invariants(&next);
                    if !leaves && goes_on && last.is_some_and(far) {
                        return Some(format!("{point:?} may wait for ever"));
                    }
                    let steps = |p: &Point| {
                        let (steps, fails, _) = walker.actions(p);
                        fails || !steps.is_empty()
                    };
                    if !leaves && !goes_on && !all.iter().any(steps) {
                        return Some(format!("{point:?} is stuck"));
                    }
                }
            }
        }
        None
    }

    /// Points of a zone; a `*` stands for each value that the variable can have.
    fn points(&self, state: &State, zone: &[Bound]) -> Vec<Point> {
        let clocks = self.model.clocks + usize::from(self.model.bounded);
        let mut values: Vec<Vec<i32>> = vec![Vec::new()];
        for cell in &state.cells {
            let all = match cell {
                Some(value) => vec![*value as i32],
                None => vec![0, 1, 2],
            };
            values = (values.iter())
                .flat_map(|v| all.iter().map(|x| [v.clone(), vec![*x]].concat()))
                .collect();
        }
        let mut times: Vec<Vec<i32>> = vec![Vec::new()];
        for _ in 0..clocks {
            times = (times.iter())
                .flat_map(|t| (0..=FAR * UNIT).map(|x| [t.clone(), vec![x]].concat()))
                .collect();
        }
        times.retain(|clocks| inside(zone, clocks, UNIT));
        let locations: Vec<usize> = state.locations.iter().map(|l| *l as usize).collect();
        (values.iter())
            .flat_map(|vars| {
                times.iter().map(|clocks| Point {
                    locations: locations.clone(),
                    vars: vars.clone(),
                    clocks: clocks.clone(),
                })
            })
            .collect()
    }
}

/// The same point, with clocks that count smaller units.
fn finer(mut point: Point) -> Point {
    point.clocks.iter_mut().for_each(|c| *c *= FINE / UNIT);
    point
}

/// Numbers must not rise along steps, and stay the same only within a part that the tree names.
fn refute_numbers(states: &[State], records: &Records, tree: &Tree) -> Option<String> {
    let mut first = vec![0];
    for state in states {
        first.push(first.last().copied().unwrap_or_default() + state.zones.len());
    }
    for (from, record) in records.iter().enumerate() {
        for (_, (state, zones, _)) in record {
            for zone in zones {
                let to = first[*state as usize] + *zone as usize;
                let (before, after) = (tree.numbers[from], tree.numbers[to]);
                let named = tree.parts.iter().any(|part| part.0 == before);
                if before < after || before == after && !named {
                    return Some(format!("zone {from} leads to zone {to}: {before}, {after}"));
                }
            }
        }
    }
    None
}

/// The points that time reaches, up to the greatest value of a clock, while a condition holds.
fn delays(walker: &Walker<'_>, from: Point, kept: impl Fn(&Point) -> bool) -> Vec<Point> {
    let mut all = vec![from];
    while let Some(last) = all.last() {
        let mut next = last.clone();
        next.clocks.iter_mut().for_each(|c| *c += 1);
        let far = next.clocks.iter().any(|c| *c > FAR * walker.unit);
        if far || !walker.may_delay(last) || !walker.invariants(&next) || !kept(&next) {
            break;
        }
        all.push(next);
    }
    all
}

fn inside(zone: &[Bound], clocks: &[i32], unit: i32) -> bool {
    let value = |i: usize| match i {
        0 => 0,
        _ => i64::from(clocks[i - 1]),
    };
    zone.iter().all(|(i, j, bound)| {
        let (difference, limit) = (value(*i) - value(*j), bound.div_euclid(2) * i64::from(unit));
        difference < limit || difference == limit && bound.rem_euclid(2) == 1
    })
}

fn contains(states: &[State], point: &Point, unit: i32) -> bool {
    states.iter().any(|state| {
        let same = |(cell, own): (&Option<i64>, &i32)| cell.is_none_or(|v| v == i64::from(*own));
        let locations = state.locations.iter().map(|l| *l as usize);
        locations.eq(point.locations.iter().copied())
            && state.cells.iter().zip(&point.vars).all(same)
            && state
                .zones
                .iter()
                .any(|zone| inside(zone, &point.clocks, unit))
    })
}
