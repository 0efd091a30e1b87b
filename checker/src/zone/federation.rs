//! Unions of zones, and subtraction, which creates them.

use super::bound::{self, INF};
use super::dbm::Zone;
use crate::mutation::{Mutation, is_on};

/// A union of zones; empty zones are not included.
pub(crate) type Federation = Vec<Zone>;

/// `zone` without `hole`, as disjoint zones.
///
/// For each bound of the hole that cuts the zone, the points that violate it form a piece, and the
/// rest is processed further.
pub(crate) fn subtract(zone: &Zone, hole: &Zone) -> Federation {
    if zone.is_empty() {
        return Vec::new();
    }
    if !zone.meets(hole) {
        return vec![zone.clone()];
    }
    let mut pieces = Vec::new();
    let mut rest = zone.clone();
    let dim = zone.dim();
    for i in 0..dim {
        for j in 0..dim {
            let b = hole.at(i, j);
            if i == j || b == INF || b >= rest.at(i, j) {
                continue;
            }
            let mut piece = rest.clone();
            let outside = bound::negate(b) | i32::from(is_on(Mutation::ThickBorder));
            if piece.and(j, i, outside) {
                pieces.push(piece);
            }
            rest.and(i, j, b);
        }
    }
    pieces
}

/// The most bounds of all zones of one union: each hole may double their number.
const MOST_BOUNDS: usize = 32 << 20;

/// Whether a union has grown beyond the limit.
pub(crate) fn is_too_large(zones: &[Zone]) -> bool {
    zones
        .first()
        .is_some_and(|zone| zones.len() * zone.dim() * zone.dim() > MOST_BOUNDS)
}

/// The points of `zones` that are in none of `holes`.
pub(crate) fn subtract_all<'a>(
    zones: Federation,
    holes: impl IntoIterator<Item = &'a Zone>,
) -> Federation {
    let mut rest = zones;
    for hole in holes {
        if rest.is_empty() {
            break;
        }
        rest = rest.iter().flat_map(|zone| subtract(zone, hole)).collect();
    }
    rest
}

/// Removes the zones that lie in another zone of the union. Their number is bounded, because every
/// pair is compared.
pub(crate) fn drop_included(zones: &mut Federation) {
    const MOST_COMPARED: usize = 2_000;
    if zones.len() > MOST_COMPARED {
        return;
    }
    let mut kept: Federation = Vec::with_capacity(zones.len());
    for zone in zones.drain(..) {
        if kept.iter().any(|other| other.includes(&zone)) {
            continue;
        }
        kept.retain(|other| !zone.includes(other));
        kept.push(zone);
    }
    *zones = kept;
}
