//! Delays through sets that are not convex.

use crate::program::{Conjunction, Constraint, Fault, FaultKind, constrain, intersect_all};
use crate::zone::{Federation, Zone, drop_included, is_too_large, subtract, subtract_all};

/// The points at which delays from `reached` enter the neighbouring piece `to` without leaving the
/// union of both pieces. Both pieces are convex and disjoint; `reached` is the part of the first
/// piece that is reached, closed under delay in it.
///
/// A run crosses from one to the other at an instant `w`. Either `w` belongs to `to`: then it is a
/// point of the closure of `reached` in the direction of time. Or `w` belongs to the first piece
/// and the points just after it belong to `to`.
pub(crate) fn cross(reached: &Zone, to: &Zone) -> Federation {
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

/// The points that delays from `start` reach inside the union of disjoint convex pieces, piece by
/// piece; `start` must lie in them.
pub(crate) fn reach_within(start: &Zone, pieces: &[Zone]) -> Vec<Federation> {
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

/// The parts of `room` where one of the urgent conditions holds: time stops there.
pub(crate) fn stops(room: &Zone, urgent: &[Conjunction]) -> Federation {
    let mut stops: Federation = urgent
        .iter()
        .filter_map(|guard| {
            let mut stop = room.clone();
            constrain(&mut stop, guard).then_some(stop)
        })
        .collect();
    // Many synchronisations often wait for the same moment, and each stop multiplies the pieces.
    drop_included(&mut stops);
    stops
}

/// Lets time pass from `start` inside the invariant until one of the urgent conditions holds, that
/// moment included; where one already holds, no time passes.
pub(crate) fn delay_until(
    start: Zone,
    invariant: &[Constraint],
    urgent: &[Conjunction],
) -> Federation {
    let mut room = Zone::universe(start.dim());
    if !constrain(&mut room, invariant) {
        return Vec::new();
    }
    let stops = stops(&room, urgent);
    let mut delayed = start.clone();
    delayed.up();
    delayed.intersect(&room);
    if !stops.iter().any(|stop| stop.meets(&delayed)) {
        return vec![delayed];
    }
    reach_until(&start, &[room], &stops)
}

/// The points that delays from `start` reach inside the union of disjoint convex pieces, up to and
/// including the moment when they meet a stop.
pub(crate) fn reach_until(start: &Zone, pieces: &[Zone], stops: &[Zone]) -> Federation {
    let stopped = |zone: Zone| intersect_all(&intersect_all(&[zone], stops), pieces);
    let free = subtract_all(pieces.to_vec(), stops);
    let mut result = Vec::new();
    for zone in reach_within(start, &free).into_iter().flatten() {
        let mut limit = zone.clone();
        if limit.strict_lower() {
            limit.relax_upper();
            result.extend(stopped(limit));
        }
        result.push(zone);
    }
    result.extend(stopped(start.clone()));
    result
}

/// The points from which a delay leads into a target and meets no stop before its end. All zones
/// must lie in one convex room.
///
/// For one target `b` and one stop `g`, these are the points that reach `b` and never `g`, those
/// that reach `b` before `g` (Cassez, David, Fleury, Larsen, Lime: *Efficient on-the-fly algorithms
/// for the analysis of timed games*, 2005), those that reach both at once, where `g` begins, and
/// `b` itself. For several stops, the shortest of their delays is valid for all. Each stop may
/// multiply the number of zones: beyond a limit, the function fails.
pub(crate) fn time_before(targets: &[Zone], stops: &[Zone]) -> Result<Federation, Fault> {
    let down = |mut zone: Zone| {
        zone.down();
        zone
    };
    let mut result = Vec::new();
    for target in targets {
        let reaches = down(target.clone());
        let mut early = vec![reaches.clone()];
        for stop in stops {
            let before_stop = down(stop.clone());
            let mut ways = subtract(&reaches, &before_stop);
            ways.push(target.clone());
            let mut both = target.clone();
            if both.intersect(&before_stop) {
                ways.extend(subtract(&both, stop).into_iter().map(down));
            }
            let mut later = stop.clone();
            let begins = match later.strict_lower() {
                true => subtract(stop, &later),
                false => vec![stop.clone()],
            };
            let at_once = intersect_all(&begins, std::slice::from_ref(target));
            ways.extend(at_once.into_iter().map(down));
            drop_included(&mut ways);
            if early.len().saturating_mul(ways.len()) > MOST_PAIRS {
                return Err(FaultKind::TooManyParts.nowhere());
            }
            early = intersect_all(&early, &ways);
            drop_included(&mut early);
        }
        result.extend(early);
        if is_too_large(&result) {
            return Err(FaultKind::TooManyParts.nowhere());
        }
    }
    drop_included(&mut result);
    Ok(result)
}

/// The most pairs of zones that one intersection of two unions may compare.
const MOST_PAIRS: usize = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::bound::{self, INF, le, lt};
    use zonelens_interpreter::Rng;

    /// Points are multiples of a quarter, which is fine enough for two clocks and integer
    /// constants.
    const GRAIN: i32 = 4;
    const SIZE: i32 = 6;

    fn random_zone(rng: &mut Rng) -> Zone {
        let mut zone = Zone::universe(3);
        for x in 1..3 {
            zone.and(x, 0, le(SIZE));
        }
        for _ in 0..rng.below(5) {
            let (i, j) = (rng.below(3), rng.below(3));
            let c = rng.range(-4, 4);
            let b = if rng.chance(50) { lt(c) } else { le(c) };
            if i != j && zone.satisfiable(i, j, b) {
                zone.and(i, j, b);
            }
        }
        zone
    }

    fn contains(zone: &Zone, point: &[i32; 2]) -> bool {
        let value = |i: usize| if i == 0 { 0 } else { point[i - 1] };
        (0..3).all(|i| {
            (0..3).all(|j| {
                let b = zone.at(i, j);
                let (d, c) = (value(i) - value(j), GRAIN * bound::value(b.min(INF - 1)));
                b == INF || d < c || d == c && !bound::is_strict(b)
            })
        })
    }

    #[test]
    fn delays_end_where_a_stop_begins() {
        let mut rng = Rng::new(31);
        let mut cut_short = 0;
        for _ in 0..400 {
            let some = |rng: &mut Rng, n: usize| -> Federation {
                (0..n).map(|_| random_zone(rng)).collect()
            };
            let (targets, stops) = (some(&mut rng, 1), some(&mut rng, 2));
            let found = time_before(&targets, &stops).unwrap();
            // Starting at multiples of a half, clocks reach integers only at even moments; the odd
            // moments represent all points between.
            for (x, y) in (0..=SIZE * GRAIN / 2)
                .flat_map(|x| (0..=SIZE * GRAIN / 2).map(move |y| (2 * x, 2 * y)))
            {
                let is_in =
                    |zones: &[Zone], t: i32| zones.iter().any(|z| contains(z, &[x + t, y + t]));
                let mut expected = false;
                for t in 0..=SIZE * GRAIN {
                    let stopped = is_in(&stops, t);
                    // A stop that covers the time between two moments has begun before each point
                    // of it.
                    expected |= is_in(&targets, t) && !(stopped && t % 2 == 1);
                    if expected || stopped {
                        break;
                    }
                }
                cut_short += usize::from(!expected && (0..9).any(|t| is_in(&targets, t)));
                assert_eq!(
                    is_in(&found, 0),
                    expected,
                    "({x}, {y}) / {GRAIN}\n{targets:?}\n{stops:?}"
                );
            }
        }
        assert!(cut_short > 1000, "{cut_short}");
    }

    /// A changed model with many urgent receivers filled 24 GB here.
    #[test]
    fn many_stops_end_with_a_fault_and_not_in_all_of_memory() {
        let mut rng = Rng::new(7);
        let clocks = 12;
        let mut zone = |width: i32| {
            let mut zone = Zone::universe(clocks + 1);
            for x in 1..=clocks {
                let low = rng.range(0, 40);
                zone.and(0, x, le(-low));
                zone.and(x, 0, lt(low + width));
            }
            zone
        };
        let target = zone(60);
        let stops: Vec<Zone> = (0..60).map(|_| zone(30)).collect();
        let most = time_before(std::slice::from_ref(&target), &stops[..1]);
        assert!(most.is_ok_and(|zones| !zones.is_empty()));
        assert!(time_before(&[target], &stops).is_err());
    }
}
