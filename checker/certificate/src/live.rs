//! The obligations of claims about runs: no run keeps a condition.
//!
//! A second set L lists the states of the runs that still keep the condition. The theorem is at the
//! head of `lib.rs`; where a sentence of it needs an argument, the argument is here.
//!
//! *Delays.* From a point, time may pass while the invariant holds and the condition is kept. The
//! condition need not be convex: it is divided into convex pieces, and the points that time reaches
//! are computed piece by piece. A delay that leaves a piece does so at one instant `w`. Either `w`
//! belongs to the next piece, and the delay was in the first piece just before
//! ([`Zone::just_after`]); or `w` belongs to the first piece, and the delay is in the next piece
//! just after ([`Zone::just_before`]). Nothing else joins two pieces.
//!
//! *Not for ever, not stuck.* Let `v` be a point that meets the invariant `I` and keeps the
//! condition, and `Q` the points of `I` that do not keep it. `I` is convex, so delays from `v` stay
//! in `I` until they leave it for ever. If time may pass, `v` reaches `Q` exactly if it lies in
//! `down(Q)`. So a run can wait for ever at `v` exactly if `I` has no upper bounds and `v` is not
//! in `down(Q)`. A run can end at `v` without having met `Q` exactly if `v` is not in `down(Q)` and
//! no delay within `I` leads to a step that exists: a delay that meets `Q` first is no obstacle,
//! because then `v` is in `down(Q)`.

use crate::check::{Accepted, Check, Checker, Limits, Obligation, Rejection, expand, no_behaviour};
use crate::eval::{Eval, Evaluator, State};
use crate::format::Bytes;
use crate::paths::Arcs;
use crate::set::{Listed, Set, open_at, state_text};
use crate::steps::{Arrival, Expanded, Key, Model};
use crate::zone::{TooManyPieces, Union, Zone, subtract};
use zonelens_analysis::network::{Expr, Network};

/// The most pieces that the delays of one successor are divided into.
const MOST_REACHED: usize = 20_000;

/// The condition that no run may keep.
pub(crate) struct Kept<'c, 'n> {
    pub model: &'c Model<'n>,
    pub condition: &'n Expr,
    /// The value of the condition that the runs keep.
    pub value: bool,
    pub frame: u32,
}

/// Checks that no run keeps the condition: from the initial state, or from every state of
/// the set of `all` with the condition `start`. In the second case the set of `all` is shown to
/// contain every reachable state.
pub(crate) fn run(
    all: &Checker<'_, '_>,
    kept: &Kept<'_, '_>,
    start: Option<&Expr>,
    stream: &mut crate::format::Stream<impl std::io::Read>,
    limits: &Limits<'_>,
    accepted: &mut Accepted,
) -> Check<()> {
    let network = all.network;
    match start {
        None => {
            let live = Live::new(network, kept, all.set);
            live.initial(stream)?;
            accepted.steps = live.closed(stream, limits)?;
        }
        Some(start) => {
            let steps = all.run(stream, limits)?;
            let states = stream.count("states")?;
            let zones = stream.count("zones")?;
            let set = Set::read(stream, (network, all.set.action), (states, zones), limits)?;
            let live = Live::new(network, kept, &set);
            live.starts(all, start, stream, limits)?;
            accepted.steps = steps + live.closed(stream, limits)?;
            accepted.states += states;
            accepted.zones += zones;
        }
    }
    Ok(())
}

fn failed(failure: crate::eval::Failure) -> Rejection {
    Rejection::failure(Obligation::NoErrors, failure)
}

fn too_many(_: TooManyPieces) -> Rejection {
    failed(TooManyPieces.into())
}

impl Kept<'_, '_> {
    /// The points of zones where an expression has the wanted value, and the others.
    fn divided(
        &self,
        expr: &Expr,
        wanted: bool,
        state: &State,
        zones: Union,
    ) -> Eval<(Union, Union)> {
        let mut state = state.clone();
        let mut evaluator = Evaluator::new(self.model.network, &mut state);
        evaluator.enter(self.frame, std::iter::empty());
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for zone in zones {
            for (value, part) in evaluator.parts(expr, zone, &[])? {
                if (value != 0) == wanted {
                    inside.push(part);
                } else {
                    outside.push(part);
                }
            }
        }
        Ok((inside, outside))
    }

    /// The points of zones that keep the condition, and those that do not.
    fn parts(&self, state: &State, zones: Union) -> Check<(Union, Union)> {
        let parts = self.divided(self.condition, self.value, state, zones);
        parts.map_err(Rejection::of_query)
    }

    /// The points that delays reach from a zone while the condition is kept.
    fn delayed(&self, arrival: &Arrival, zone: Zone) -> Check<Union> {
        let Some(invariant) = &arrival.invariant else {
            return Ok(Vec::new());
        };
        let Some(zone) = zone.intersect(invariant) else {
            return Ok(Vec::new());
        };
        if !arrival.waits {
            return Ok(self.parts(&arrival.state, vec![zone])?.0);
        }
        let Some(room) = zone.clone().up().intersect(invariant) else {
            return Ok(Vec::new());
        };
        let (pieces, _) = self.parts(&arrival.state, vec![room])?;
        reached(&zone, &pieces).map_err(too_many)
    }
}

/// The points that delays reach from a zone inside the union of disjoint pieces.
pub(crate) fn reached(start: &Zone, pieces: &[Zone]) -> Result<Union, TooManyPieces> {
    let mut found: Vec<Union> = vec![Vec::new(); pieces.len()];
    let begin = |(k, piece): (usize, &Zone)| Some((k, start.intersect(piece)?));
    let mut open: Vec<(usize, Zone)> = pieces.iter().enumerate().filter_map(begin).collect();
    let mut count = 0;
    while let Some((k, zone)) = open.pop() {
        let Some(zone) = zone.up().intersect(&pieces[k]) else {
            continue;
        };
        if found[k].iter().any(|other| zone.is_within(other)) {
            continue;
        }
        for (other, piece) in pieces.iter().enumerate().filter(|(other, _)| *other != k) {
            let at = zone.just_after().and_then(|after| after.intersect(piece));
            let after = piece.just_before();
            let after = after.and_then(|before| before.intersect(&zone));
            let after = after.and_then(|edge| edge.up().intersect(piece));
            open.extend(at.into_iter().chain(after).map(|zone| (other, zone)));
        }
        count += 1;
        if count + open.len() > MOST_REACHED {
            return Err(TooManyPieces);
        }
        found[k].push(zone);
    }
    Ok(found.into_iter().flatten().collect())
}

/// The set L and the condition that its runs keep.
struct Live<'c, 'n> {
    network: &'n Network,
    kept: &'c Kept<'c, 'n>,
    set: &'c Set<'n>,
}

impl<'c, 'n> Live<'c, 'n> {
    fn new(network: &'n Network, kept: &'c Kept<'c, 'n>, set: &'c Set<'n>) -> Live<'c, 'n> {
        Live { network, kept, set }
    }

    /// *Start*, for runs from the initial state.
    fn initial(&self, stream: &mut impl Bytes) -> Check<()> {
        let (arrival, point) = self.kept.model.initial_point().map_err(failed)?;
        match &arrival.invariant {
            Some(invariant) if point.intersect(invariant).is_some() => {}
            _ => return Err(no_behaviour()),
        }
        let start = self.kept.delayed(&arrival, point)?;
        self.start((0, &arrival.state), start, stream)
    }

    /// *Start*, for runs from all states with a condition.
    fn starts(
        &self,
        all: &Checker<'_, '_>,
        start: &Expr,
        stream: &mut impl Bytes,
        limits: &Limits<'_>,
    ) -> Check<()> {
        for number in 0..all.set.len() {
            limits.check()?;
            let state = all.set.state(number)?;
            let mut here = None;
            for zone in all.set.zones_of(number) {
                let mut points = Vec::new();
                if let Some(zone) = all.set.zone(zone)? {
                    let here = match &here {
                        Some(here) => here,
                        None => {
                            let expanded = expand(self.kept.model, state.clone())?;
                            here.insert(expanded.here().map_err(failed)?)
                        }
                    };
                    let inside = here.invariant.as_ref().and_then(|i| zone.intersect(i));
                    let with_start = self
                        .kept
                        .divided(start, true, &state, inside.into_iter().collect())
                        .map_err(Rejection::of_query)?
                        .0;
                    for zone in self.kept.parts(&state, with_start)?.0 {
                        points.extend(self.kept.delayed(here, zone)?);
                    }
                }
                self.start((number, &state), points, stream)?;
            }
        }
        Ok(())
    }

    /// The next start in the file covers the given points.
    fn start(
        &self,
        (number, state): (usize, &State),
        points: Union,
        stream: &mut impl Bytes,
    ) -> Check<()> {
        let given = stream.index(2, "start")? == 1;
        let rejected = |message: String| Rejection {
            state: Some((number as u64, state_text(self.network, state))),
            ..Rejection::new(Obligation::Initial, message)
        };
        match (given, points.is_empty()) {
            (false, true) => Ok(()),
            (false, false) => Err(rejected("a start of runs is missing".into())),
            (true, _) => {
                let target = stream.target(self.set.action)?;
                self.set.covered(state, points, &target).map_err(rejected)
            }
        }
    }

    /// The obligations of all states of the set, and of the infinite paths through it. Returns the
    /// number of steps.
    fn closed(&self, stream: &mut impl Bytes, limits: &Limits<'_>) -> Check<u64> {
        let mut arcs = Arcs::new(self.network.clocks.len(), self.set.zone_count());
        let mut steps = 0;
        for number in 0..self.set.len() {
            limits.check()?;
            arcs.within(limits)?;
            let state = self.set.state(number)?;
            let mut place = None;
            for zone in self.set.zones_of(number) {
                let listed = Listed::begin(self.set, stream)?;
                let result = match self.set.zone(zone)? {
                    None => listed.end("are of an empty zone").map(|()| 0),
                    Some(points) => {
                        let place = match &mut place {
                            Some(place) => place,
                            none => none.insert(Place::new(self.kept, state.clone())?),
                        };
                        self.zone(place, (zone, points), listed, stream, &mut arcs)
                    }
                };
                steps += result.map_err(|rejection| Rejection {
                    state: Some((number as u64, state_text(self.network, &state))),
                    ..rejection
                })?;
            }
        }
        arcs.no_infinite_path(stream, limits)?;
        Ok(steps)
    }

    /// The obligations of one zone. Returns the number of its steps.
    fn zone(
        &self,
        place: &mut Place<'_, '_>,
        (number, zone): (usize, Zone),
        mut listed: Listed<'_>,
        stream: &mut impl Bytes,
        arcs: &mut Arcs,
    ) -> Check<u64> {
        let Place { expanded, here } = place;
        let inside = here.invariant.as_ref().and_then(|i| zone.intersect(i));
        let Some(inside) = inside else {
            // No run has a point here.
            return listed
                .end("are of a zone outside of the invariant")
                .map(|()| 0);
        };
        let (kept, _) = self.kept.parts(&here.state, vec![inside.clone()])?;
        arcs.node(number, &kept);
        for piece in &kept {
            expanded.failing_guard(piece).map_err(failed)?;
        }
        self.leaves(expanded, here, &inside, &kept)?;
        let mut steps = 0;
        let keys: Vec<Key> = expanded.steps.iter().map(|step| step.key.clone()).collect();
        for (index, key) in keys.iter().enumerate() {
            let taken = expanded.taken(index, kept.clone()).map_err(failed)?;
            if taken.is_empty() {
                continue;
            }
            let arrival = expanded.arrival(index).map_err(failed)?;
            let (mut from, mut successors) = (Vec::new(), Vec::new());
            for zone in taken {
                let after = self.kept.delayed(arrival, arrival.moved(zone.clone()))?;
                if !after.is_empty() {
                    from.push(zone);
                    successors.extend(after);
                }
            }
            if successors.is_empty() {
                continue;
            }
            steps += 1;
            let target = listed.target(key, stream)?;
            if let Err(message) = self.set.covered(&arrival.state, successors, &target) {
                let message = format!("{message}, after the step");
                return Err(open_at(self.network, key, &message));
            }
            let first = self.set.zones_of(target.state as usize).start;
            let to = target.zones.iter().map(|zone| first + *zone as usize);
            arcs.step(number, to, &from, &arrival.ops);
        }
        listed.end("do not exist, or leave the runs that keep the condition")?;
        Ok(steps)
    }

    /// *Not for ever* and *not stuck*, for the points `kept` of a zone; `inside` are all points of
    /// the zone that meet the invariant.
    fn leaves(
        &self,
        expanded: &mut Expanded<'_, '_>,
        here: &Arrival,
        inside: &Zone,
        kept: &Union,
    ) -> Check<()> {
        let (mut rest, mut room) = (kept.clone(), inside.clone());
        if here.waits {
            room = room.up();
            if let Some(invariant) = &here.invariant {
                room = room.intersect(invariant).unwrap_or_else(|| inside.clone());
            }
            let (_, left) = self.kept.parts(&here.state, vec![room.clone()])?;
            for zone in left {
                rest = subtract(rest, &zone.down()).map_err(too_many)?;
            }
            if !rest.is_empty() && here.invariant.as_ref().is_some_and(|i| !i.ends()) {
                let message = "time may pass for ever before a run leaves the condition";
                return Err(Rejection::new(Obligation::NotForEver, message));
            }
        }
        let rest = expanded
            .without_exit(rest, &room, here.waits)
            .map_err(failed)?;
        match rest.is_empty() {
            true => Ok(()),
            false => {
                let message = "no step is possible from a part of the zone, now or later";
                Err(Rejection::new(Obligation::NotStuck, message))
            }
        }
    }
}

/// A discrete state with its steps and its invariant.
struct Place<'m, 'n> {
    expanded: Expanded<'m, 'n>,
    here: Arrival,
}

impl<'m, 'n> Place<'m, 'n> {
    fn new(kept: &Kept<'m, 'n>, state: State) -> Check<Place<'m, 'n>> {
        let expanded = expand(kept.model, state)?;
        let here = expanded.here().map_err(failed)?;
        Ok(Place { expanded, here })
    }
}
