//! Zone algebra against point sampling: a zone is compared with the set of half-integer (finer
//! where needed) points that it contains in a small box, and each operation with its definition on
//! points.

use super::bound::{le, lt};
use super::*;
use zonelens_interpreter::Rng;

/// Points have coordinates `k / GRID`. With three clocks and integer bounds, quarters meet every
/// region.
const GRID: i32 = 4;
const BOX: i32 = 4 * GRID;
const CLOCKS: usize = 3;

type Point = [i32; CLOCKS];

fn holds(zone: &Zone, p: &Point) -> bool {
    let value = |i: usize| if i == 0 { 0 } else { p[i - 1] };
    !zone.is_empty()
        && (0..=CLOCKS).all(|i| {
            (0..=CLOCKS).all(|j| {
                let b = zone.at(i, j);
                let (d, c) = (
                    value(i) - value(j),
                    i64::from(bound::value(b)) * i64::from(GRID),
                );
                b == INF
                    || if bound::is_strict(b) {
                        i64::from(d) < c
                    } else {
                        i64::from(d) <= c
                    }
            })
        })
}

fn points() -> Vec<Point> {
    let mut all = Vec::new();
    for x in 0..=BOX {
        for y in 0..=BOX {
            for z in 0..=BOX {
                all.push([x, y, z]);
            }
        }
    }
    all
}

fn random_bound(rng: &mut Rng) -> Bound {
    let c = rng.range(-2, 3);
    if rng.chance(50) { lt(c) } else { le(c) }
}

/// A non-empty random zone.
fn random_zone(rng: &mut Rng) -> Zone {
    loop {
        let mut zone = Zone::universe(CLOCKS + 1);
        for _ in 0..rng.below(6) {
            let (i, j) = (rng.below(CLOCKS + 1), rng.below(CLOCKS + 1));
            if i != j {
                zone.and(i, j, random_bound(rng));
            }
        }
        if !zone.is_empty() {
            return zone;
        }
    }
}

/// Canonical form: closing again changes nothing, and the diagonal is zero.
fn assert_canonical(zone: &Zone) {
    if !zone.is_empty() {
        let mut closed = zone.clone();
        assert!(closed.close());
        assert_eq!(&closed, zone, "not canonical");
    }
}

fn check(seed: u64, rounds: usize, property: impl Fn(&mut Rng, &[Point])) {
    let points = points();
    let mut rng = Rng::new(seed);
    for _ in 0..rounds {
        property(&mut rng, &points);
    }
}

#[test]
fn and_keeps_exactly_the_points_that_satisfy() {
    check(1, 300, |rng, points| {
        let zone = random_zone(rng);
        let (i, j) = (rng.below(CLOCKS + 1), rng.below(CLOCKS + 1));
        let b = random_bound(rng);
        if i == j {
            return;
        }
        let mut cut = zone.clone();
        let left = cut.and(i, j, b);
        assert_eq!(left, zone.satisfiable(i, j, b));
        assert_canonical(&cut);
        let mut one = Zone::universe(CLOCKS + 1);
        one.and(i, j, b);
        for p in points {
            assert_eq!(holds(&cut, p), holds(&zone, p) && holds(&one, p));
        }
    });
}

#[test]
fn up_and_down_are_delays() {
    check(2, 100, |rng, points| {
        let zone = random_zone(rng);
        let (mut up, mut down) = (zone.clone(), zone.clone());
        up.up();
        down.down();
        assert_canonical(&up);
        assert_canonical(&down);
        for p in points {
            let forward =
                (0..=BOX).any(|d| p.iter().all(|v| *v >= d) && holds(&zone, &p.map(|v| v - d)));
            assert_eq!(holds(&up, p), forward, "up at {p:?}");
            // Later points may lie outside the sampled box: the delay is followed as far as bounds
            // can matter.
            let backward = (0..=3 * BOX).any(|d| holds(&zone, &p.map(|v| v + d)));
            assert_eq!(holds(&down, p), backward, "down at {p:?}");
        }
    });
}

#[test]
fn set_free_and_copy_change_one_clock() {
    check(3, 60, |rng, points| {
        let zone = random_zone(rng);
        let (x, y) = (1 + rng.below(CLOCKS), 1 + rng.below(CLOCKS));
        let c = rng.range(0, 3);
        let (mut set, mut free, mut copy) = (zone.clone(), zone.clone(), zone.clone());
        set.set(x, i64::from(c));
        free.free(x);
        copy.copy(x, y);
        for z in [&set, &free, &copy] {
            assert_canonical(z);
        }
        for p in points {
            let some = (0..=4 * BOX).any(|v| {
                let mut q = *p;
                q[x - 1] = v;
                holds(&zone, &q)
            });
            assert_eq!(holds(&free, p), some);
            assert_eq!(holds(&set, p), some && p[x - 1] == c * GRID);
            if x != y {
                assert_eq!(holds(&copy, p), some && p[x - 1] == p[y - 1]);
            }
        }
    });
}

#[test]
fn intersection_inclusion_hull() {
    check(4, 200, |rng, points| {
        let (a, b) = (random_zone(rng), random_zone(rng));
        let mut both = a.clone();
        let left = both.intersect(&b);
        assert_eq!(left, a.meets(&b));
        assert_canonical(&both);
        let mut hull = a.clone();
        hull.hull(&b);
        assert_canonical(&hull);
        for p in points {
            assert_eq!(holds(&both, p), holds(&a, p) && holds(&b, p));
            assert!(holds(&hull, p) || !(holds(&a, p) || holds(&b, p)));
        }
        let expected = match (a.includes(&b), b.includes(&a)) {
            (true, true) => Relation::Equal,
            (true, false) => Relation::Superset,
            (false, true) => Relation::Subset,
            (false, false) => Relation::Different,
        };
        assert_eq!(a.relation(&b), expected);
        // Canonical matrices are compared entry by entry; the points give the same result
        // (unbounded parts are cut off in the same way).
        let inside = points.iter().all(|p| !holds(&b, p) || holds(&a, p));
        assert!(inside || !a.includes(&b));
    });
}

#[test]
fn subtraction_is_exact_and_disjoint() {
    check(5, 200, |rng, points| {
        let (a, b) = (random_zone(rng), random_zone(rng));
        let pieces = subtract(&a, &b);
        for piece in &pieces {
            assert!(!piece.is_empty());
            assert_canonical(piece);
        }
        for p in points {
            let count = pieces.iter().filter(|piece| holds(piece, p)).count();
            assert_eq!(count, usize::from(holds(&a, p) && !holds(&b, p)));
        }
    });
}

#[test]
fn edges_of_delay_inside_a_zone() {
    check(8, 100, |rng, points| {
        let zone = random_zone(rng);
        let (mut before, mut after) = (zone.clone(), zone.clone());
        // Points just after (or before) which the zone has points, found with a finer step than the
        // grid.
        let has_before = before.strict_lower();
        before.relax_upper();
        let has_after = after.strict_upper();
        after.relax_lower();
        for p in points
            .iter()
            .filter(|p| p.iter().all(|v| v % GRID == 0 || v % 2 == 0))
        {
            let near = |d: i32| {
                let fine = p.map(|v| 16 * v + d);
                fine.iter().all(|v| *v >= 0) && fine_holds(&zone, &fine, 16 * GRID)
            };
            assert_eq!(
                has_before && holds(&before, p),
                near(-1),
                "before {p:?} in {zone:?}"
            );
            assert_eq!(
                has_after && holds(&after, p),
                near(1),
                "after {p:?} in {zone:?}"
            );
        }
    });
}

fn fine_holds(zone: &Zone, p: &Point, grid: i32) -> bool {
    let value = |i: usize| if i == 0 { 0 } else { p[i - 1] };
    (0..=CLOCKS).all(|i| {
        (0..=CLOCKS).all(|j| {
            let b = zone.at(i, j);
            let (d, c) = (value(i) - value(j), bound::value(b).saturating_mul(grid));
            b == INF || d < c || (d == c && !bound::is_strict(b))
        })
    })
}

#[test]
fn stopped_clocks_keep_their_value() {
    let mut zone = Zone::point(&[1, 2]);
    zone.up_with_stopped(&[false, true, false]);
    assert_eq!((zone.at(1, 0), zone.at(0, 1)), (le(1), le(-1)));
    assert_eq!((zone.at(2, 0), zone.at(0, 2)), (INF, le(-2)));
}

#[test]
fn large_constants_overflow_loudly() {
    let mut zone = Zone::point(&[0, 0]);
    zone.set(1, i64::from(i32::MAX));
    assert!(zone.overflowed());
    let mut zone = Zone::universe(3);
    zone.and(0, 1, -(1 << 30));
    assert!(zone.overflowed());
    // Growth by repeated sums is noticed before it can wrap.
    let mut zone = Zone::point(&[0, 0]);
    for round in 0..40 {
        zone.set(1, 1 << 26);
        zone.copy(2, 1);
        zone.up();
        zone.and(0, 1, le(-(1 << 27)));
        let grown = zone.at(0, 2);
        zone.set(1, 0);
        zone.up();
        zone.and(0, 1, le(-(1 << 26)));
        assert!(zone.overflowed() || zone.at(0, 2) <= grown, "round {round}");
    }
}

#[test]
fn delays_below_bounds_are_delays_and_bounds() {
    let mut rng = Rng::new(41);
    let mut bounded = 0;
    for round in 0..20_000 {
        let dim = 2 + round % 6;
        let mut zone = Zone::universe(dim);
        for _ in 0..2 * dim {
            let (i, j) = (rng.below(dim), rng.below(dim));
            let c = rng.range(-9, 9);
            let b = if rng.chance(50) { lt(c) } else { le(c) };
            if i != j && zone.satisfiable(i, j, b) {
                zone.and(i, j, b);
            }
        }
        let mut uppers = Vec::new();
        for _ in 0..rng.below(dim + 1) {
            let (x, c) = (1 + rng.below(dim - 1), rng.range(0, 12));
            let b = if rng.chance(50) { lt(c) } else { le(c) };
            if zone.satisfiable(x, 0, b) {
                zone.and(x, 0, b);
                uppers.push((x, b));
            }
        }
        let (mut all_at_once, mut one_by_one) = (zone.clone(), zone);
        all_at_once.up_below(&uppers);
        one_by_one.up();
        assert!(uppers.iter().all(|&(x, b)| one_by_one.and(x, 0, b)));
        assert_eq!(all_at_once, one_by_one, "{uppers:?}");
        bounded += usize::from(!all_at_once.unbounded());
    }
    assert!(bounded > 5_000, "{bounded}");
}

/// Each hole doubles the number of parts if clocks do not depend on each other; this must be
/// noticed in time.
#[test]
fn unions_that_double_are_noticed() {
    let clocks = 24;
    let mut rest = vec![Zone::universe(clocks + 1)];
    let noticed = (1..=clocks).position(|x| {
        let mut hole = Zone::universe(clocks + 1);
        assert!(hole.and(x, 0, le(3)) && hole.and(0, x, le(-3)));
        rest = subtract_all(std::mem::take(&mut rest), [&hole]);
        is_too_large(&rest)
    });
    assert_eq!(noticed, Some(15), "2^16 zones of 25 times 25 bounds");
}
