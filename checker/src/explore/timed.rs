//! Delays through sets that are not convex.

use crate::program::{Conjunction, Constraint, constrain};
use crate::zone::{Federation, Zone, subtract_all};

/// What time passing from `start ⊆ pieces[k]` reaches in the neighbouring piece `to` without leaving `from ∪ to`, as entry
/// points of `to`. Both are convex and disjoint; `reached` is what is reached inside `from`, closed under delay in it.
///
/// A run crosses from one to the other at an instant `w`. Either `w` belongs to `to`: then it is a point of `reached`'s
/// closure in the direction of time; or `w` belongs to `from` and the points just after it to `to`.
pub fn cross(reached: &Zone, to: &Zone) -> Federation {
    let mut entries = Vec::new();
    let mut limit = reached.clone();
    if limit.strict_lower() {
        limit.relax_upper();
        if limit.intersect(to) {
            entries.push(limit);
        }
    }
    let mut edge = to.clone();
    if edge.strict_upper() {
        edge.relax_lower();
        if edge.intersect(reached) {
            edge.up();
            if edge.intersect(to) {
                entries.push(edge);
            }
        }
    }
    entries
}

/// What delays from `start` reach inside the union of disjoint convex pieces, piece by piece; `start` must lie in them.
pub fn reach_within(start: &Zone, pieces: &[Zone]) -> Vec<Federation> {
    let mut reached: Vec<Federation> = vec![Vec::new(); pieces.len()];
    let mut work: Vec<(usize, Zone)> = Vec::new();
    for (k, piece) in pieces.iter().enumerate() {
        let mut inside = start.clone();
        if inside.intersect(piece) {
            work.push((k, inside));
        }
    }
    while let Some((k, mut zone)) = work.pop() {
        zone.up();
        zone.intersect(&pieces[k]);
        if reached[k].iter().any(|z| z.includes(&zone)) {
            continue;
        }
        for (other, piece) in pieces.iter().enumerate() {
            if other != k {
                work.extend(cross(&zone, piece).into_iter().map(|z| (other, z)));
            }
        }
        reached[k].retain(|z| !zone.includes(z));
        reached[k].push(zone);
    }
    reached
}

/// Time passes from `start` inside the invariant until (and including the moment when) one of the urgent conditions
/// holds; where one holds already no time passes.
pub fn delay_until(start: Zone, invariant: &[Constraint], urgent: &[Conjunction]) -> Federation {
    let dim = start.dim();
    let mut room = Zone::universe(dim);
    if !constrain(&mut room, invariant) {
        return Vec::new();
    }
    let stops: Federation = urgent
        .iter()
        .filter_map(|guard| {
            let mut stop = room.clone();
            constrain(&mut stop, guard).then_some(stop)
        })
        .collect();
    let mut delayed = start.clone();
    delayed.up();
    delayed.intersect(&room);
    if !stops.iter().any(|stop| stop.meets(&delayed)) {
        return vec![delayed];
    }
    let pieces = subtract_all(vec![room], &stops);
    let mut result = Vec::new();
    for zone in reach_within(&start, &pieces).into_iter().flatten() {
        let mut limit = zone.clone();
        if limit.strict_lower() {
            limit.relax_upper();
            result.extend(crate::program::intersect_all(&[limit], &stops));
        }
        result.push(zone);
    }
    result.extend(crate::program::intersect_all(&[start], &stops));
    result
}
