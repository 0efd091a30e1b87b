//! Zones against points, one by one.

use crate::live::reached;
use crate::zone::{
    Bound, ClockOp, Constraint, INFINITE, Zone, at_most, before, below, convex, subtract,
};
use zonelens_test_support::Rng;

/// Points are multiples of `1 / GRAIN`, delays of half of that: between two constants that a delay
/// must respect there is always one.
const GRAIN: i64 = 8;
const SIZE: i64 = 5;

fn random_zone(rng: &mut Rng) -> Option<Zone> {
    let constraints: Vec<Constraint> = (0..rng.below(5))
        .map(|_| {
            let (i, j) = (rng.below(3), rng.below(2));
            let j = if j >= i { j + 1 } else { j };
            let c = i64::from(rng.range(-3, 4));
            let bound = if rng.chance(50) { below(c) } else { at_most(c) };
            Constraint { i, j, bound }
        })
        .collect();
    Zone::of(2, constraints.into_iter())
}

fn value(point: [i64; 2], i: usize) -> i64 {
    if i == 0 { 0 } else { point[i - 1] }
}

fn within(point: [i64; 2], c: Constraint) -> bool {
    let (difference, limit) = (
        value(point, c.i) - value(point, c.j),
        c.bound.div_euclid(2) * GRAIN,
    );
    c.bound == INFINITE || difference < limit || difference == limit && c.bound.rem_euclid(2) == 1
}

fn contains(zone: &Zone, point: [i64; 2]) -> bool {
    point.iter().all(|c| *c >= 0) && zone.constraints().all(|c| within(point, c))
}

fn some_contains(zones: &[Zone], point: [i64; 2]) -> bool {
    zones.iter().any(|zone| contains(zone, point))
}

/// Points at multiples of a quarter.
fn points() -> impl Iterator<Item = [i64; 2]> {
    let line = || (0..=SIZE * GRAIN / 2).map(|k| 2 * k);
    line().flat_map(move |x| line().map(move |y| [x, y]))
}

fn later(point: [i64; 2], delay: i64) -> [i64; 2] {
    [point[0] + delay, point[1] + delay]
}

/// Delays through sets that are not convex, moment by moment.
#[test]
fn delays_stay_in_the_pieces() {
    let mut rng = Rng::new(11);
    let (mut inside, mut crossed) = (0, 0);
    for _ in 0..900 {
        let (Some(start), Some(room)) = (random_zone(&mut rng), random_zone(&mut rng)) else {
            continue;
        };
        let mut pieces = vec![room];
        for _ in 0..2 {
            if let Some(hole) = random_zone(&mut rng) {
                pieces = subtract(pieces, &hole).expect("few pieces");
            }
        }
        let found = reached(&start, &pieces).expect("few pieces");
        for point in points() {
            let before = (0..=point[0].min(point[1])).map(|d| later(point, -d));
            let mut kept = before.take_while(|p| some_contains(&pieces, *p));
            let expected = kept.any(|p| contains(&start, p));
            assert_eq!(
                some_contains(&found, point),
                expected,
                "{point:?} {start:?} {pieces:?}"
            );
            let piece = pieces.iter().find(|piece| contains(piece, point));
            inside += usize::from(expected);
            crossed +=
                usize::from(expected && piece.is_some_and(|p| p.intersect(&start).is_none()));
        }
    }
    assert!(inside > 20_000 && crossed > 100, "{inside} {crossed}");
}

#[test]
fn operations_agree_with_points() {
    let mut rng = Rng::new(1);
    let mut tried = 0;
    for _ in 0..300 {
        let (Some(zone), Some(other)) = (random_zone(&mut rng), random_zone(&mut rng)) else {
            continue;
        };
        tried += 1;
        let both = zone.intersect(&other);
        let rest = subtract(vec![zone.clone()], &other).expect("few pieces");
        let (up, down) = (zone.clone().up(), zone.clone().down());
        let set = zone.clone().assign(ClockOp::Set(0, 2));
        let copied = zone.clone().assign(ClockOp::Copy(0, 1));
        let delays = || 0..=2 * SIZE * GRAIN;
        for p in points() {
            let (inside, hole) = (contains(&zone, p), contains(&other, p));
            assert_eq!(
                both.as_ref().is_some_and(|z| contains(z, p)),
                inside && hole
            );
            assert_eq!(
                some_contains(&rest, p),
                inside && !hole,
                "{zone:?} {other:?} {p:?}"
            );
            let before = delays().any(|t| contains(&zone, later(p, -t)));
            assert_eq!(contains(&up, p), before, "{zone:?} {p:?}");
            let after = delays().any(|t| contains(&zone, later(p, t)));
            assert_eq!(contains(&down, p), after, "{zone:?} {p:?}");
            let from = |moves: &dyn Fn(i64) -> [i64; 2]| {
                (0..=4 * SIZE * GRAIN).any(|x| contains(&zone, moves(x)))
            };
            assert_eq!(contains(&set, p), p[0] == 2 * GRAIN && from(&|x| [x, p[1]]));
            assert_eq!(contains(&copied, p), p[0] == p[1] && from(&|x| [x, p[1]]));
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn preconditions_agree_with_points() {
    let mut rng = Rng::new(2);
    for _ in 0..300 {
        let ops: Vec<ClockOp> = (0..rng.below(3))
            .map(|_| match rng.below(3) {
                0 => ClockOp::Copy(0, 1),
                1 => ClockOp::Copy(1, 0),
                _ => ClockOp::Set(rng.below(2), i64::from(rng.range(0, 3))),
            })
            .collect();
        let (i, j) = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)][rng.below(6)];
        let bound: Bound = i64::from(rng.range(-6, 7));
        let constraint = Constraint { i, j, bound };
        let start = Zone::universe(2).and(before(constraint, &ops));
        for p in points() {
            let mut q = p;
            for op in &ops {
                match *op {
                    ClockOp::Set(x, v) => q[x] = v * GRAIN,
                    ClockOp::Copy(x, y) => q[x] = q[y],
                }
            }
            let leads = start.as_ref().is_some_and(|z| contains(z, p));
            assert_eq!(leads, within(q, constraint), "{ops:?} {constraint:?} {p:?}");
        }
    }
}

#[test]
fn a_union_is_convex_if_nothing_lies_between() {
    let line = |lo: i64, hi: Bound| {
        let bounds = [(0, 1, at_most(-lo)), (1, 0, hi)];
        let all = bounds
            .into_iter()
            .map(|(i, j, bound)| Constraint { i, j, bound });
        Zone::of(1, all).expect("a zone")
    };
    let joined = convex(&[line(0, below(2)), line(2, at_most(3))]).expect("few pieces");
    assert_eq!(joined, Some(line(0, at_most(3))));
    let gap = convex(&[line(0, below(2)), line(3, at_most(4))]).expect("few pieces");
    assert_eq!(gap, None);
}

#[test]
fn an_empty_set_of_constraints_is_no_zone() {
    let bounds = [(1, 0, below(2)), (0, 1, at_most(-2))];
    let all = bounds
        .into_iter()
        .map(|(i, j, bound)| Constraint { i, j, bound });
    assert_eq!(Zone::of(1, all), None);
    let below_zero = Constraint {
        i: 1,
        j: 0,
        bound: below(0),
    };
    assert_eq!(Zone::universe(1).and(below_zero), None);
}
