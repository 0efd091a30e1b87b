//! Chooses delays along a walk that make a further transition possible; fixed delays are kept.
//!
//! Fixed delays are fractions and zones have whole bounds, so everything is multiplied by the
//! common denominator. One more clock, set when each state is entered, measures the stay, so that a
//! fixed delay is a condition on leaving. The ways through the states are followed forward. One
//! chain of convex pieces is then a system of differences between moments, whose least solution is
//! the earliest moments. A strict bound adds an infinitesimal that becomes a small fraction in the
//! end.

use super::follow::Level;
use crate::graph::expander::Delay;
use crate::graph::moments::{Edge, Set, constraint_edge, longest_paths};
use crate::graph::timed;
use crate::program::{ClockOp, Conjunction, Constraint, Program, constrain, intersect_all};
use crate::zone::bound::{self, CONSTANT_LIMIT};
use crate::zone::{Federation, INF, Zone, subtract_all};
use zonelens_analysis::simulation::{ChosenDelays, WalkRequest};
use zonelens_interpreter::{Fraction, Limit};

/// The greatest denominator of a delay.
const MOST_UNIT: i64 = 1 << 40;
/// The most ways through one state that are followed.
const MOST_WAYS: usize = 4096;

/// Why no delays can be chosen.
enum Fail {
    /// No run has these delays.
    Forbidden,
    /// Numbers or sets become too large, or the time limit is reached.
    Given(&'static str),
}

/// What the user fixed about the delay before a transition.
#[derive(Clone, Copy)]
enum Fixed {
    No,
    /// It is this long.
    To(i64),
    /// It is at least this long.
    From(i64),
}

/// Chooses delays for the transitions out of `stays`; `end` is the state after the last of them.
pub(super) fn delays(
    program: &Program,
    request: &WalkRequest,
    stays: &[&Level],
    end: &Level,
    limit: Limit<'_>,
) -> ChosenDelays {
    let none = |reason: &str| ChosenDelays::None {
        reason: reason.into(),
    };
    let Some((unit, fixed)) = fixed_delays(request, stays.len()) else {
        return none("the fixed delays are too fine or too long to choose the other delays");
    };
    let attempt = |count: usize| {
        let kept = |(k, f): (usize, &Fixed)| if k < count { *f } else { Fixed::No };
        let kept: Vec<Fixed> = fixed.iter().enumerate().map(kept).collect();
        Ways::follow(program, stays, end, unit, &kept, limit)
    };
    match attempt(fixed.len()) {
        Ok(ways) => match ways.earliest(program, limit) {
            Some(delays) => ChosenDelays::Delays { delays },
            None => none("no delays with a denominator that can be shown were found"),
        },
        Err(Fail::Given(reason)) => none(reason),
        Err(Fail::Forbidden) => {
            // The more delays are kept, the less is possible: the first one that forbids the
            // transition is found by bisection.
            let (mut works, mut fails) = (0, fixed.len());
            while works < fails {
                let middle = works.midpoint(fails);
                match attempt(middle) {
                    Ok(_) => works = middle + 1,
                    Err(Fail::Forbidden) => fails = middle,
                    Err(Fail::Given(reason)) => return none(reason),
                }
            }
            match fails {
                0 => none("no choice of delays makes this transition possible"),
                step => ChosenDelays::Forbidden { step },
            }
        }
    }
}

/// The common denominator, and the fixed delay before each transition in parts of it.
fn fixed_delays(request: &WalkRequest, count: usize) -> Option<(i64, Vec<Fixed>)> {
    let read = |text: &Option<String>| match text {
        None => Some(None),
        Some(text) => Fraction::read(text).ok().map(Some),
    };
    let told: Option<Vec<_>> = request.steps.iter().map(|s| read(&s.delay)).collect();
    let (told, waited) = (told?, read(&request.waited)?);
    let mut unit: i64 = 1;
    for fraction in told.iter().chain([&waited]).flatten() {
        let (mut a, mut b) = (unit, fraction.denominator());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        unit = (unit / a).checked_mul(fraction.denominator())?;
        if unit > CONSTANT_LIMIT {
            return None;
        }
    }
    let parts = |f: &Fraction| f.parts(unit).filter(|p| *p < CONSTANT_LIMIT);
    let mut fixed = Vec::with_capacity(count);
    for one in &told {
        fixed.push(match one {
            None => Fixed::No,
            Some(fraction) => Fixed::To(parts(fraction)?),
        });
    }
    fixed.push(match &waited {
        None => Fixed::No,
        Some(fraction) => Fixed::From(parts(fraction)?),
    });
    (fixed.len() == count).then_some((unit, fixed))
}

/// One way to pass through a state.
struct Way {
    parent: usize,
    entry: Zone,
    exit: Zone,
}

/// The ways through the states of a walk. Zones have one more clock than the model, which measures
/// the stay.
struct Ways<'a> {
    unit: i64,
    /// What each transition does to clocks.
    ops: Vec<&'a [ClockOp]>,
    levels: Vec<Vec<Way>>,
    /// A way through the last state, and the zone in which the end is entered from it.
    last: (usize, Zone),
}

fn scaled(b: bound::Bound, unit: i64) -> Option<bound::Bound> {
    if b == INF {
        return Some(INF);
    }
    let value = i64::from(bound::value(b)).checked_mul(unit)?;
    let value = i32::try_from(value).ok()?;
    let fits = i64::from(value).abs() < CONSTANT_LIMIT;
    fits.then(|| match bound::is_strict(b) {
        true => bound::lt(value),
        false => bound::le(value),
    })
}

fn scaled_all(constraints: &[Constraint], unit: i64) -> Option<Conjunction> {
    let one = |c: &Constraint| {
        Some(Constraint {
            b: scaled(c.b, unit)?,
            ..*c
        })
    };
    constraints.iter().map(one).collect()
}

/// A zone of the model with its bounds multiplied by `unit` and one more clock.
fn widened(zone: &Zone, unit: i64) -> Option<Zone> {
    let dim = zone.dim();
    let mut wide = Zone::universe(dim + 1);
    for i in 0..dim {
        for j in 0..dim {
            wide.raw_mut()[i * (dim + 1) + j] = scaled(zone.at(i, j), unit)?;
        }
    }
    wide.close();
    Some(wide)
}

fn apply(zone: &mut Zone, ops: &[ClockOp], unit: i64) {
    for op in ops {
        match *op {
            ClockOp::Set(x, v) => zone.set(x as usize + 1, i64::from(v).saturating_mul(unit)),
            ClockOp::Copy(x, y) => zone.copy(x as usize + 1, y as usize + 1),
        }
    }
}

const TOO_LARGE: Fail = Fail::Given("the numbers of the walk are too large to choose delays");

impl<'a> Ways<'a> {
    fn follow(
        program: &Program,
        stays: &[&'a Level],
        end: &Level,
        unit: i64,
        fixed: &[Fixed],
        limit: Limit<'_>,
    ) -> Result<Ways<'a>, Fail> {
        let timer = program.dim();
        let mut first = Zone::universe(timer + 1);
        apply(
            &mut first,
            &(0..program.clocks)
                .map(|x| ClockOp::Set(x as u32, program.initial_clocks[x]))
                .collect::<Vec<_>>(),
            unit,
        );
        let mut entries = vec![(0, first)];
        let (mut ops, mut levels) = (Vec::new(), Vec::new());
        for (stay, fixed) in stays.iter().zip(fixed) {
            if limit.is_over().is_some() {
                return Err(Fail::Given("there was no time to choose delays"));
            }
            let Some(left) = &stay.left else {
                return Err(Fail::Given("the walk ends too early"));
            };
            let invariant = scaled_all(&stay.invariant, unit).ok_or(TOO_LARGE)?;
            let exits: Option<Federation> = left.exits.iter().map(|z| widened(z, unit)).collect();
            let exits = exits.ok_or(TOO_LARGE)?;
            let mut ways = Vec::new();
            for (parent, mut entry) in entries.drain(..) {
                entry.set(timer, 0);
                if constrain(&mut entry, &invariant) {
                    ways_through(parent, entry, &invariant, &stay.delay, unit, &mut ways)?;
                }
            }
            let ways = leave(ways, &exits, *fixed, timer)?;
            if ways.is_empty() {
                return Err(Fail::Forbidden);
            }
            for (index, way) in ways.iter().enumerate() {
                let mut entry = way.exit.clone();
                apply(&mut entry, &left.ops, unit);
                entries.push((index, entry));
            }
            ops.push(left.ops.as_slice());
            levels.push(ways);
        }
        let invariant = scaled_all(&end.invariant, unit).ok_or(TOO_LARGE)?;
        for (index, mut entry) in entries {
            if constrain(&mut entry, &invariant) {
                return Ok(Ways {
                    unit,
                    ops,
                    levels,
                    last: (index, entry),
                });
            }
        }
        Err(Fail::Forbidden)
    }

    /// The earliest moments of one chain of ways, as delays.
    fn earliest(&self, program: &Program, limit: Limit<'_>) -> Option<Vec<String>> {
        let count = self.levels.len();
        let mut chain = Vec::new();
        let mut at = self.last.0;
        for ways in self.levels.iter().rev() {
            let way = ways.get(at)?;
            chain.push(way);
            at = way.parent;
        }
        chain.reverse();
        // For each clock (the timer is the last one), the moment at which it was set, and the
        // value.
        let start = program.initial_clocks.iter().chain([&0]);
        let mut set: Vec<Set> = start.map(|v| Set::at(0, *v, self.unit)).collect();
        let timer = program.clocks;
        let mut edges = Vec::new();
        for (k, way) in chain.iter().enumerate() {
            set[timer] = Set::at(k, 0, 1);
            edges.push(Edge::order(k, k + 1));
            demand(&way.entry, k, &set, &mut edges);
            demand(&way.exit, k + 1, &set, &mut edges);
            for op in self.ops[k] {
                Set::apply(&mut set, *op, k + 1, self.unit);
            }
        }
        demand(&self.last.1, count, &set, &mut edges);
        let moments = longest_paths(count + 1, &edges, &limit)?;
        let small = moments.iter().map(|m| m.1).max()? + 1;
        let unit = self.unit.checked_mul(small).filter(|u| *u <= MOST_UNIT)?;
        let at = |k: usize| moments[k].0.checked_mul(small)?.checked_add(moments[k].1);
        (0..count)
            .map(|k| text(at(k + 1)? - at(k)?, unit))
            .collect()
    }
}

fn text(parts: i64, unit: i64) -> Option<String> {
    let (mut a, mut b) = (parts, unit);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Fraction::new(parts, unit)?;
    let (n, d) = (parts / a.max(1), unit / a.max(1));
    Some(match d {
        1 => n.to_string(),
        _ => format!("{n}/{d}"),
    })
}

/// The ways to let time pass from an entry. Along one line of time a convex piece is an interval,
/// so every entry and exit of a way on the same line are connected.
fn ways_through(
    parent: usize,
    entry: Zone,
    invariant: &[Constraint],
    delay: &Delay,
    unit: i64,
    ways: &mut Vec<Way>,
) -> Result<(), Fail> {
    let mut room = entry.clone();
    room.up();
    constrain(&mut room, invariant);
    let way = |entry: &Zone, exit: Zone| Way {
        parent,
        entry: entry.clone(),
        exit,
    };
    match delay {
        Delay::Stopped => ways.push(way(&entry, entry.clone())),
        Delay::Free => ways.push(way(&entry, room)),
        Delay::Until(urgent) => {
            let urgent = urgent.iter().map(|u| scaled_all(u, unit));
            let urgent: Option<Vec<Conjunction>> = urgent.collect();
            let stops = timed::stops(&room, &urgent.ok_or(TOO_LARGE)?);
            for piece in subtract_all(vec![entry.clone()], &stops) {
                let exits = timed::reach_until(&piece, std::slice::from_ref(&room), &stops);
                ways.extend(exits.into_iter().map(|exit| way(&piece, exit)));
            }
            for piece in intersect_all(&[entry], &stops) {
                ways.push(way(&piece, piece.clone()));
            }
        }
    }
    Ok(())
}

/// The ways that end where the transition can be taken, after an allowed delay.
fn leave(ways: Vec<Way>, exits: &[Zone], fixed: Fixed, timer: usize) -> Result<Vec<Way>, Fail> {
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        for piece in exits {
            let mut exit = way.exit.clone();
            let allowed = exit.intersect(piece)
                && match fixed {
                    Fixed::No => true,
                    Fixed::To(d) => {
                        exit.and(timer, 0, bound::le(d as i32))
                            && exit.and(0, timer, bound::le(-(d as i32)))
                    }
                    Fixed::From(d) => exit.and(0, timer, bound::le(-(d as i32))),
                };
            if !allowed || kept.iter().any(|other| other.exit.includes(&exit)) {
                continue;
            }
            if exit.overflowed() || kept.len() > MOST_WAYS {
                return Err(TOO_LARGE);
            }
            kept.retain(|other| !exit.includes(&other.exit));
            kept.push(Way {
                parent: way.parent,
                entry: way.entry.clone(),
                exit,
            });
        }
    }
    Ok(kept)
}

/// Adds the bounds of a zone at a moment `t`.
fn demand(zone: &Zone, t: usize, clocks: &[Set], edges: &mut Vec<Edge>) {
    for i in 0..zone.dim() as u32 {
        for j in 0..zone.dim() as u32 {
            let b = zone.at(i as usize, j as usize);
            if i != j && b != INF {
                edges.extend(constraint_edge(Constraint { i, j, b }, t, clocks));
            }
        }
    }
}
