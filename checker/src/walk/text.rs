//! Zones as text: the smallest set of constraints that defines the zone.

use crate::zone::bound::{self, LE_ZERO, add};
use crate::zone::{INF, Zone};
use zonelens_analysis::simulation::{ZoneConstraint, ZonePiece};

/// A convex set as text and as data.
///
/// Clocks whose difference is fixed form a class, which is represented by its first member. Between
/// first members no two bounds cancel, so a bound follows from others exactly if it follows from
/// two of them (Larsen, Larsson, Pettersson, Yi: *Efficient verification of real-time systems:
/// compact data structure and state-space reduction*, 1997).
pub(super) fn piece(zone: &Zone, names: &[String]) -> ZonePiece {
    let dim = zone.dim();
    let fixed = |i: usize, j: usize| {
        let (there, back) = (zone.at(i, j), zone.at(j, i));
        there != INF && back != INF && add(there, back) == LE_ZERO
    };
    let first = |i: usize| (0..i).find(|j| fixed(i, *j)).unwrap_or(i);
    let firsts: Vec<usize> = (0..dim).filter(|i| first(*i) == *i).collect();
    let name = |i: usize| match i {
        0 => None,
        i => names.get(i - 1).cloned(),
    };
    let constraint = |i: usize, j: usize| {
        let b = zone.at(i, j);
        ZoneConstraint {
            left: name(i),
            right: name(j),
            bound: i64::from(bound::value(b)),
            strict: bound::is_strict(b),
        }
    };
    let (mut constraints, mut words) = (Vec::new(), Vec::new());
    let text = |i: usize| name(i).unwrap_or_default();
    for i in 1..dim {
        let j = first(i);
        if j == i {
            continue;
        }
        constraints.extend([constraint(i, j), constraint(j, i)]);
        let c = bound::value(zone.at(i, j));
        words.push(match (j, c) {
            (0, c) => format!("{} == {c}", text(i)),
            (j, 0) => format!("{} == {}", text(i), text(j)),
            (j, c) => format!("{} - {} == {c}", text(i), text(j)),
        });
    }
    for &i in &firsts {
        for &j in &firsts {
            let b = zone.at(i, j);
            // Clocks are never negative.
            if i == j || b == INF || i == 0 && b == LE_ZERO {
                continue;
            }
            let follows = |k: &&usize| {
                let (k, (there, on)) = (**k, (zone.at(i, **k), zone.at(**k, j)));
                k != i && k != j && there != INF && on != INF && add(there, on) <= b
            };
            if firsts.iter().any(|k| follows(&k)) {
                continue;
            }
            constraints.push(constraint(i, j));
            let c = bound::value(b);
            let (below, above) = match bound::is_strict(b) {
                true => ("<", ">"),
                false => ("<=", ">="),
            };
            words.push(match (i, j) {
                (0, j) => format!("{} {above} {}", text(j), -c),
                (i, 0) => format!("{} {below} {c}", text(i)),
                // A difference is shown with the bound that is not negative, if it has one.
                (i, j) if c < 0 => format!("{} - {} {above} {}", text(j), text(i), -c),
                (i, j) => format!("{} - {} {below} {c}", text(i), text(j)),
            });
        }
    }
    if words.is_empty() {
        words.push("true".to_owned());
    }
    ZonePiece {
        text: words.join(" && "),
        constraints,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::bound::{le, lt};

    fn names() -> Vec<String> {
        ["x", "y", "z"].map(str::to_owned).to_vec()
    }

    #[test]
    fn only_what_is_needed_is_said() {
        let mut zone = Zone::universe(4);
        assert_eq!(piece(&zone, &names()).text, "true");
        zone.and(1, 0, lt(5));
        zone.and(0, 1, le(-2));
        assert_eq!(piece(&zone, &names()).text, "x >= 2 && x < 5");
        zone.and(2, 1, le(0));
        zone.and(1, 2, le(0));
        let found = piece(&zone, &names());
        assert_eq!(found.text, "y == x && x >= 2 && x < 5");
        assert_eq!(found.constraints.len(), 4);
        zone.and(1, 3, lt(-1));
        assert_eq!(
            piece(&zone, &names()).text,
            "y == x && x >= 2 && x < 5 && z - x > 1"
        );
        assert_eq!(
            piece(&Zone::point(&[3, 0, 1]), &names()).text,
            "x == 3 && y == 0 && z == 1"
        );
    }

    /// The constraints that are kept imply all bounds.
    #[test]
    fn nothing_is_lost() {
        let mut rng = zonelens_interpreter::Rng::new(7);
        for _ in 0..2000 {
            let mut zone = Zone::universe(4);
            for _ in 0..rng.below(9) {
                let (i, j, c) = (rng.below(4), rng.below(4), rng.range(-3, 5));
                let b = if rng.chance(50) { lt(c) } else { le(c) };
                if i != j && zone.satisfiable(i, j, b) {
                    zone.and(i, j, b);
                }
            }
            let mut again = Zone::universe(4);
            let index = |name: &Option<String>| {
                name.as_ref()
                    .map_or(0, |n| names().iter().position(|m| m == n).unwrap_or(9) + 1)
            };
            for c in piece(&zone, &names()).constraints {
                let c_bound = if c.strict {
                    lt(c.bound as i32)
                } else {
                    le(c.bound as i32)
                };
                again.and(index(&c.left), index(&c.right), c_bound);
            }
            assert_eq!(zone, again);
        }
    }
}
