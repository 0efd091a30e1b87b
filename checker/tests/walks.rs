//! Compares simulations of random models with the explorer of regions: the transitions that are
//! possible and blocked, their delays, the states that follow, and the zone of the walk.
//!
//! `ZONELENS_WALKS` sets the number of models; the default is a sample that takes seconds.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::TraceEdge;
use zonelens_analysis::simulation::{
    BlockedKind, ChosenDelays, DelayInterval, Simulation, WalkAnswer, WalkEdge, WalkZone,
    ZoneConstraint, ZonePiece,
};
use zonelens_checker::Walks;
use zonelens_interpreter::{Fraction, Limit, Session, Taken as Answered, replay_trace};
use zonelens_syntax::span::Span;
use zonelens_test_support::oracle::Verdict;
use zonelens_test_support::oracle::model::{
    self, Atom, Clock, Condition, Op, TestModel, Update, Value,
};
use zonelens_test_support::oracle::regions::{State, Taken, Walker};
use zonelens_test_support::{Rng, xta};

static NEVER: AtomicBool = AtomicBool::new(false);

/// The most transitions of one walk.
const LONGEST: usize = 6;
/// The finest unit; finer units have too many moments to explore.
const FINEST: i64 = 24;
/// Clocks are distinguished up to this value if time does not end: more than any constant of a
/// model.
const CAP: i32 = 6;
/// The delays that are explored, in time units: beyond the greatest constant nothing changes.
const HORIZON: i64 = 7;

fn limit() -> Limit<'static> {
    Limit::new(&NEVER, None)
}

fn nowhere(_: Span) -> Position {
    Position { line: 1, column: 1 }
}

/// How often each case occurred.
#[derive(Default, Debug)]
struct Seen(BTreeMap<&'static str, usize>);

impl Seen {
    fn note(&mut self, what: &'static str, there: bool) {
        *self.0.entry(what).or_default() += usize::from(there);
    }
}

/// A number of parts of a unit, from text.
fn parts(text: &str, unit: i64) -> i64 {
    let (n, d) = text.split_once('/').unwrap_or((text, "1"));
    let (n, d): (i64, i64) = (n.parse().expect("a number"), d.parse().expect("a number"));
    assert_eq!(unit % d, 0, "{text} in parts of {unit}");
    n * (unit / d)
}

fn contains(interval: &DelayInterval, at: i64, unit: i64) -> bool {
    let from = parts(&interval.from, unit);
    let below = |to: &String| {
        let to = parts(to, unit);
        at < to || at == to && !interval.to_open
    };
    (at > from || at == from && !interval.from_open) && interval.to.as_ref().is_none_or(below)
}

/// The state that a simulation shows, with clocks in parts of a unit.
fn state_of(model: &TestModel, view: &Simulation, unit: i64) -> State {
    let shown = &view.state;
    let location = |p: usize| {
        shown.locations[&format!("P{p}")][1..]
            .parse()
            .expect("a number")
    };
    let mut vars: Vec<i32> = (0..model.vars)
        .map(|v| shown.variables[&format!("v{v}")] as i32)
        .collect();
    vars.extend((0..model.cells).map(|c| shown.variables[&format!("a[{c}]")] as i32));
    let name = |x: usize| match () {
        () if x == model.clocks => "g".to_owned(),
        () if model.clock_array => format!("x[{x}]"),
        () => format!("x{x}"),
    };
    let clocks = 0..model.clocks + usize::from(model.bounded);
    State {
        locations: (0..model.processes.len()).map(location).collect(),
        vars,
        clocks: clocks
            .map(|x| parts(&shown.clocks[&name(x)], unit) as i32)
            .collect(),
    }
}

fn taken_of(edges: &[TraceEdge]) -> Taken {
    let one = |e: &TraceEdge| {
        let select = e.select.get("s").copied().unwrap_or(0);
        (
            e.process_index as usize,
            e.edge_index as usize,
            select as i32,
        )
    };
    edges.iter().map(one).collect()
}

fn taken_of_walk(edges: &[WalkEdge]) -> Taken {
    let one = |e: &WalkEdge| {
        let select = e.select.first().copied().unwrap_or(0);
        (e.process as usize, e.edge as usize, select)
    };
    edges.iter().map(one).collect()
}

fn later(s: &State, by: i64) -> State {
    let mut then = s.clone();
    then.clocks.iter_mut().for_each(|c| *c += by as i32);
    then
}

/// What the explorer computes for a state: what is possible at which moment, the best result of
/// each step, and until when time may pass. Moments count halves of a part of the unit.
#[derive(Default)]
struct Expected {
    possible: BTreeMap<Taken, BTreeSet<i64>>,
    best: BTreeMap<Taken, Verdict>,
    /// The best result of the steps that a broadcast edge starts.
    of_sender: BTreeMap<(usize, usize, i32), Verdict>,
    moments: BTreeSet<i64>,
    urgent: bool,
}

fn expect(walker: &Walker<'_>, s: &State, last: i64) -> Expected {
    let mut expected = Expected::default();
    for at in 0..=last {
        let then = later(s, at);
        let between = at % 2 == 1;
        if !walker.invariants(&then) || between && !walker.may_delay(&then) {
            expected.urgent |= walker.urgent(&then);
            break;
        }
        expected.moments.insert(at);
        for attempt in walker.attempts(&then) {
            if attempt.verdict == Verdict::Possible {
                let moments = expected.possible.entry(attempt.taken.clone());
                moments.or_default().insert(at);
            }
            if attempt.broadcast {
                let best = expected.of_sender.entry(attempt.taken[0]);
                let best = best.or_insert(attempt.verdict);
                *best = attempt.verdict.max(*best);
            } else {
                let best = expected
                    .best
                    .entry(attempt.taken)
                    .or_insert(attempt.verdict);
                *best = attempt.verdict.max(*best);
            }
        }
        if !walker.may_delay(&then) {
            expected.urgent |= walker.urgent(&then);
            break;
        }
    }
    expected
}

fn verdict(kind: BlockedKind) -> Verdict {
    match kind {
        BlockedKind::Guard => Verdict::Guard,
        BlockedKind::NoPartner => Verdict::NoPartner,
        BlockedKind::ReceiverGuard => Verdict::ReceiverGuard,
        BlockedKind::Committed => Verdict::Committed,
        BlockedKind::Invariant => Verdict::Invariant,
        BlockedKind::Priority => Verdict::Priority,
        BlockedKind::Error => Verdict::Error,
    }
}

/// The lists and windows of a state are those of the explorer.
fn compare_lists(expected: &Expected, view: &Simulation, last: i64, text: &str, seen: &mut Seen) {
    let unit = 2 * view.unit;
    for at in 0..=last {
        assert_eq!(
            contains(&view.wait.delays, at, unit),
            expected.moments.contains(&at),
            "{text}\nmay time pass by {at}/{unit}? {:?}",
            view.wait
        );
    }
    let mut found: BTreeMap<Taken, BTreeSet<i64>> = BTreeMap::new();
    for possible in &view.possible {
        let own = (0..=last).filter(|at| {
            let inside = |i: &DelayInterval| contains(i, *at, unit);
            possible.delays.iter().any(inside)
        });
        let before = found.insert(taken_of(&possible.transition.edges), own.collect());
        assert_eq!(before, None, "{text}\nlisted twice");
        seen.note("windows with gaps", possible.delays.len() > 1);
    }
    assert_eq!(found, expected.possible, "{text}\n{:?}", view.state);
    let mut blocked: BTreeMap<Taken, Verdict> = BTreeMap::new();
    let mut by_sender: BTreeMap<(usize, usize, i32), Verdict> = BTreeMap::new();
    for b in &view.blocked {
        let taken = taken_of(&b.transition.edges);
        let verdict = verdict(b.reason.kind);
        seen.note(
            "blocked by a committed location",
            verdict == Verdict::Committed,
        );
        seen.note("blocked by priority", verdict == Verdict::Priority);
        seen.note("blocked by an error", verdict == Verdict::Error);
        seen.note("blocked by an invariant", verdict == Verdict::Invariant);
        if expected.of_sender.contains_key(&taken[0]) {
            let best = by_sender.entry(taken[0]).or_insert(verdict);
            *best = verdict.max(*best);
        } else {
            assert_eq!(blocked.insert(taken, verdict), None, "{text}\nlisted twice");
        }
    }
    let mut wanted = expected.best.clone();
    wanted.retain(|_, best| *best != Verdict::Possible);
    assert_eq!(blocked, wanted, "{text}\n{:?}", view.state);
    for (sender, best) in &expected.of_sender {
        if *best != Verdict::Possible {
            assert_eq!(
                by_sender.get(sender),
                Some(best),
                "{text}\n{:?}",
                view.state
            );
        }
    }
}

/// Whether a point, in parts of a unit, lies in a zone.
fn in_zone(model: &TestModel, pieces: &[ZonePiece], clocks: &[i32], unit: i32) -> bool {
    let inside = |c: &ZoneConstraint| {
        let value = |name: &Option<String>| clock(model, name).map_or(0, |x| clocks[x]);
        let difference = i64::from(value(&c.left) - value(&c.right));
        let bound = c.bound * i64::from(unit);
        difference < bound || difference == bound && !c.strict
    };
    pieces.iter().any(|p| p.constraints.iter().all(inside))
}

/// The number of a clock.
fn clock(model: &TestModel, name: &Option<String>) -> Option<usize> {
    let name = name.as_ref()?;
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    Some(match name.as_str() {
        "g" => model.clocks,
        _ => digits.parse().expect("a number"),
    })
}

/// Every region that the explorer reaches intersects the zone, and near each bound both agree.
fn compare_zone(
    model: &TestModel,
    walker: &Walker<'_>,
    reached: &HashSet<State>,
    pieces: &[ZonePiece],
    text: &str,
    seen: &mut Seen,
) {
    let unit = walker.unit;
    let near = |s: &State| {
        walker
            .cap
            .is_none_or(|cap| s.clocks.iter().all(|c| *c <= cap * unit))
    };
    // In the order of their numbers, so that runs are reproducible.
    let mut regions: Vec<&State> = reached.iter().filter(|s| near(s)).collect();
    regions.sort_by(|a, b| a.clocks.cmp(&b.clocks));
    for s in &regions {
        let inside = in_zone(model, pieces, &s.clocks, unit);
        assert!(
            inside,
            "{text}\nreached and not in the zone: {s:?} of {unit}\n{pieces:?}"
        );
        seen.note("regions in zones", true);
    }
    for constraint in pieces.iter().flat_map(|p| &p.constraints) {
        let (l, r) = (
            clock(model, &constraint.left),
            clock(model, &constraint.right),
        );
        let value = |s: &State, x: Option<usize>| x.map_or(0, |x| s.clocks[x]);
        let bound = constraint.bound as i32 * unit;
        let close = |s: &&&State| (value(s, l) - value(s, r) - bound).abs() <= unit;
        for s in regions.iter().filter(close).take(40) {
            for beside in [-1, 0, 1] {
                let mut point = (*s).clone();
                match (l, r) {
                    (Some(l), r) => point.clocks[l] = value(s, r) + bound + beside,
                    (None, Some(r)) => point.clocks[r] = -bound - beside,
                    (None, None) => continue,
                }
                if point.clocks.iter().any(|c| *c < 0) || !near(&point) {
                    continue;
                }
                let expected = reached.contains(&walker.canonical(point.clone()));
                let found = in_zone(model, pieces, &point.clocks, unit);
                assert_eq!(
                    found, expected,
                    "{text}\n{point:?} of {unit}\n{constraint:?}\n{pieces:?}"
                );
                seen.note("points on bounds and next to them", true);
                seen.note("of these outside", !expected);
            }
        }
    }
}

struct Walk<'m> {
    model: &'m TestModel,
    text: String,
    session: Session,
    walks: Walks,
    rng: Rng,
    /// Whether all delays are free.
    free: bool,
}

impl Walk<'_> {
    fn view(&mut self) -> Simulation {
        let view = self.session.view(&nowhere, limit());
        view.unwrap_or_else(|e| panic!("{}\n{e}", self.text))
    }

    /// Compares the present state; returns what the explorer computes for it.
    fn look(&mut self, seen: &mut Seen) -> (Simulation, State, Expected) {
        let view = self.view();
        let unit = 2 * view.unit;
        let walker = Walker::exact(self.model, unit as i32);
        let s = state_of(self.model, &view, unit);
        let last = HORIZON * unit;
        let expected = expect(&walker, &s, last);
        compare_lists(&expected, &view, last, &self.text, seen);
        seen.note("states", true);
        seen.note("urgency ends the time", expected.urgent);
        (view, s, expected)
    }

    /// The zone of the walk so far, compared with the regions along it.
    fn zone(&mut self, seen: &mut Seen) -> Option<WalkAnswer> {
        let question = self.session.zone_question();
        let answer = self.walks.answer(&question, limit());
        let WalkZone::Zone { pieces } = &answer.zone else {
            panic!("{}\n{:?}", self.text, answer.zone);
        };
        seen.note("zones", true);
        seen.note("zones that are not convex", pieces.len() > 1);
        let walker = Walker::new(self.model, CAP);
        let steps: Vec<Taken> = question
            .steps
            .iter()
            .map(|s| taken_of_walk(&s.edges))
            .collect();
        // If distances are not distinguished, regions would represent points that were not reached.
        let is_exact = !self.model.endless_differences;
        let reached = is_exact.then(|| walker.along(&steps, 30_000)).flatten();
        seen.note("zones not compared", reached.is_none());
        if let Some(reached) = reached {
            compare_zone(self.model, &walker, &reached, pieces, &self.text, seen);
            let mut possible = BTreeSet::new();
            for s in reached.iter().filter(|s| !walker.guard_fails(s)) {
                possible.extend(walker.actions(s).0.into_iter().map(|(taken, _)| taken));
            }
            let found = answer.transitions.iter().map(|t| taken_of_walk(t));
            let found: BTreeSet<Taken> = found.collect();
            assert_eq!(found, possible, "{}\n{steps:?}", self.text);
        }
        assert!(self.session.set_zone(answer.clone()));
        Some(answer)
    }

    /// Takes a transition of the second list; true if it could be taken.
    fn other(&mut self, seen: &mut Seen) -> bool {
        let view = self.view();
        let others = view.other_delays.unwrap_or_default();
        seen.note("states with a second list", !others.is_empty());
        let Some(other) = others.get(self.rng.below(others.len())) else {
            return false;
        };
        let taken = taken_of(&other.transition.edges);
        let Ok(Answered::OtherDelays(question)) = self.session.take(other.number, None, limit())
        else {
            panic!("{}\n{other:?} needs no other delays", self.text);
        };
        let answer = self.walks.answer(&question, limit());
        match &answer.delays {
            Some(ChosenDelays::Delays { .. }) => {
                let before = view.walk;
                let result = self.session.take_with(&question, &answer);
                assert_eq!(result, Ok(()), "{}\n{answer:?}", self.text);
                let after = self.view();
                assert_eq!(after.step, before.len() + 1);
                assert_eq!(taken_of(&after.walk[before.len()].transition.edges), taken);
                for (a, b) in before.iter().zip(&after.walk).filter(|(a, _)| a.fixed) {
                    assert_eq!(a.delay, b.delay, "{}\na fixed delay changed", self.text);
                }
                seen.note("delays chosen again", true);
                seen.note(
                    "delays chosen beside fixed ones",
                    before.iter().any(|s| s.fixed),
                );
                true
            }
            Some(ChosenDelays::Forbidden { step }) => {
                self.is_forbidden(&question.steps, *step, &taken);
                seen.note("fixed delays forbid it", true);
                false
            }
            other => panic!("{}\n{other:?}", self.text),
        }
    }

    /// The fixed delays up to a step forbid a transition, and those before that step do not. With
    /// the former, no grid of delays contains a run.
    fn is_forbidden(
        &mut self,
        steps: &[zonelens_analysis::simulation::WalkStep],
        step: usize,
        last: &Taken,
    ) {
        let unit = 2 * self.view().unit as i32;
        let walker = Walker::exact(self.model, unit);
        let fixed = |k: usize| -> Option<i64> {
            let delay = steps.get(k).filter(|_| k < step)?.delay.as_ref()?;
            Some(parts(delay, i64::from(unit)))
        };
        assert!(
            step > steps.len() || fixed(step - 1).is_some(),
            "step {step} is not fixed"
        );
        let mut wanted: Vec<Taken> = steps.iter().map(|s| taken_of_walk(&s.edges)).collect();
        wanted.push(last.clone());
        let waited = (step > steps.len()).then(|| parts(&self.view().waited, i64::from(unit)));
        for _ in 0..300 {
            let mut s = walker.initial();
            for (k, taken) in wanted.iter().enumerate() {
                let least = if k == steps.len() {
                    waited.unwrap_or(0)
                } else {
                    0
                };
                let free = least + self.rng.below(4 * unit as usize) as i64;
                let delay = fixed(k).unwrap_or(free);
                let expected = expect(&walker, &s, delay);
                let goes = expected
                    .possible
                    .get(taken)
                    .is_some_and(|own| own.contains(&delay));
                if !goes {
                    break;
                }
                s = later(&s, delay);
                walker.apply(&mut s, taken);
                assert!(
                    k < steps.len(),
                    "{}\nnot forbidden by step {step}",
                    self.text
                );
            }
        }
    }

    /// Takes a transition of the first list after a random delay of its windows, or as early as
    /// possible.
    fn step(&mut self, view: &Simulation, s: &State, expected: &Expected, seen: &mut Seen) -> bool {
        if view.possible.is_empty() {
            return false;
        }
        let unit = 2 * view.unit;
        let possible = &view.possible[self.rng.below(view.possible.len())];
        let taken = taken_of(&possible.transition.edges);
        let moments: Vec<i64> = expected.possible[&taken].iter().copied().collect();
        // Whole numbers keep the unit small.
        let whole: Vec<i64> = moments.iter().copied().filter(|m| m % unit == 0).collect();
        let list = if whole.is_empty() || self.rng.chance(30) {
            &moments
        } else {
            &whole
        };
        let at = list[self.rng.below(list.len())];
        let delay = (!self.rng.chance(40))
            .then(|| Fraction::new(at, unit))
            .flatten();
        let done = self.session.take(possible.number, delay, limit());
        assert_eq!(
            done,
            Ok(Answered::Done),
            "{}\n{possible:?} after {at}/{unit}",
            self.text
        );
        let after = self.view();
        let finer = 2 * after.unit;
        let total = parts(&after.walk[view.step].delay, finer) - parts(&view.waited, finer);
        if delay.is_none() {
            // The earliest moment or, if a window starts after a moment, one after it.
            let (first, scale) = (moments[0], finer / unit);
            match first % 2 {
                0 => assert_eq!(total, first * scale, "{}", self.text),
                _ => assert!(total > (first - 1) * scale, "{}", self.text),
            }
        }
        let walker = Walker::exact(self.model, finer as i32);
        let mut then = s.clone();
        then.clocks
            .iter_mut()
            .for_each(|c| *c *= (finer / unit) as i32);
        let mut then = later(&then, total);
        assert!(walker.apply(&mut then, &taken), "{}", self.text);
        assert_eq!(
            state_of(self.model, &after, finer),
            then,
            "{}\n{taken:?}",
            self.text
        );
        seen.note("steps", true);
        let channel = self.model.processes[taken[0].0].1[taken[0].1].sync;
        let broadcast = channel.is_some_and(|c| self.model.channels[c.channel].broadcast);
        seen.note("broadcasts taken", broadcast);
        seen.note("receivers of broadcasts", broadcast && taken.len() > 1);
        true
    }
}

/// Adds guards that require two clocks to differ, and makes some of them urgent: then earlier
/// delays decide what is possible, and zones are not convex.
fn sharpen(rng: &mut Rng, model: &mut TestModel) {
    let clocks = model.clocks;
    let atom = |x: usize, op: Op, c: i32| Atom {
        x: Clock { x, by: None },
        y: None,
        op,
        c: Value { c, plus: None },
    };
    let urgent = rng.chance(60);
    if urgent {
        model.channels.iter_mut().for_each(|c| c.urgent = true);
    }
    for edge in model.processes.iter_mut().flat_map(|p| &mut p.1) {
        if rng.chance(if urgent && edge.sync.is_some() {
            70
        } else {
            35
        }) && edge.guard.divisor.is_none()
        {
            let low = rng.below(clocks);
            let upper = atom(low, [Op::Lt, Op::Le, Op::Eq][rng.below(3)], rng.range(1, 2));
            let lower = [Op::Ge, Op::Gt, Op::Eq][rng.below(3)];
            let lower = atom((low + 1) % clocks, lower, rng.range(1, 3));
            edge.guard = Condition {
                atoms: vec![upper, lower],
                ..Condition::default()
            };
        } else if rng.chance(30) {
            edge.guard = Condition::default();
        }
        if rng.chance(30) {
            let x = Clock {
                x: rng.below(clocks),
                by: None,
            };
            edge.updates
                .push(Update::Reset(x, Value { c: 0, plus: None }));
        }
    }
}

fn walk(seed: u64, seen: &mut Seen) {
    let mut rng = Rng::new(seed);
    let mut model = model::random(&mut rng);
    if seed % 2 == 1 {
        sharpen(&mut rng, &mut model);
    }
    let text = model.text();
    let loaded = xta(&text);
    let Ok(session) = Session::new(Arc::new(loaded.network.clone())) else {
        return;
    };
    let walks = Walks::new(&loaded.network).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let mut walk = Walk {
        model: &model,
        text: format!("seed {seed}\n{text}"),
        session,
        walks,
        free: rng.chance(50),
        rng,
    };
    seen.note("models", true);
    while walk.session.step() < LONGEST {
        if walk.view().unit > FINEST {
            seen.note("walks that became too fine", true);
            break;
        }
        let (mut view, mut s, mut expected) = walk.look(seen);
        walk.zone(seen);
        if walk.rng.chance(80) && walk.other(seen) {
            continue;
        }
        // Some time passes first.
        if !walk.free && walk.rng.chance(25) {
            let moments: Vec<i64> = expected.moments.iter().copied().collect();
            let at = moments[walk.rng.below(moments.len())];
            let delay = Fraction::new(at, 2 * view.unit).expect("a fraction");
            assert_eq!(walk.session.delay(delay, limit()), Ok(()), "{}", walk.text);
            if walk.view().unit > FINEST {
                break;
            }
            // If no time passes, the zone stays known, and the transitions of the second list are
            // removed from the blocked ones.
            if at > 0 {
                (view, s, expected) = walk.look(seen);
                walk.zone(seen);
            }
            if walk.rng.chance(30) && walk.other(seen) {
                continue;
            }
        }
        if !walk.step(&view, &s, &expected, seen) {
            break;
        }
    }
    let trace = walk.session.trace(&nowhere);
    let again = replay_trace(walk.session.network(), &trace, &nowhere);
    assert_eq!(again, Ok(trace), "{}", walk.text);
}

#[test]
fn walks_agree_with_the_explorer() {
    let asked = std::env::var("ZONELENS_WALKS").ok();
    let count = asked.as_ref().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut seen = Seen::default();
    for seed in 0..count {
        walk(20_261_118 + seed, &mut seen);
    }
    if asked.is_some() {
        eprintln!("{seen:#?}");
    }
    for (what, least) in [
        ("states", 100),
        ("urgency ends the time", 5),
        ("broadcasts taken", 5),
        ("blocked by a committed location", 5),
        ("blocked by priority", 5),
        ("zones that are not convex", 1),
        ("delays chosen again", 5),
        ("delays chosen beside fixed ones", 1),
        ("fixed delays forbid it", 1),
        ("of these outside", 100),
    ] {
        let found = seen.0.get(what).copied().unwrap_or(0);
        assert!(found >= least, "{what}: {found}\n{seen:#?}");
    }
}
