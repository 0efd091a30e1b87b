//! Abstractions of zones: what makes the zone graph finite.

use super::bounds::{Bounds, Diagonal};
use crate::program::Program;
use crate::zone::bound::{self, Bound, INF, LE_ZERO, add, le, lt};
use crate::zone::{Federation, Zone};

/// Which abstraction a run uses. Which are exact for which query is decided in `verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstraction {
    /// Exact zones.
    None,
    /// `Extra⁺_LU` (Behrmann, Bouyer, Larsen, Pelánek: *Lower and upper bounds in zone-based abstractions*, 2006).
    ExtraLu,
    /// `Extra_M` of the same paper, with M = max(L, U); after splitting on differences where there are any
    /// (Bengtsson and Yi: *On clock difference constraints and termination*, 2003).
    ExtraM,
    /// Exact zones, compared by `Z ⊆ a≼LU(Z')` (Herbreteau, Srivathsan, Walukiewicz: *Better abstractions for timed
    /// automata*, 2012).
    Alu,
}

/// Applies one abstraction; holds the buffers for the bounds of a state.
#[derive(Clone, Debug)]
pub struct Abstractor {
    kind: Abstraction,
    /// `L` of the state last looked at, by matrix index.
    pub l: Vec<i32>,
    /// `U` of the state last looked at.
    pub u: Vec<i32>,
}

impl Abstractor {
    /// An abstractor for zones of this dimension.
    pub fn new(kind: Abstraction, dim: usize) -> Abstractor {
        Abstractor {
            kind,
            l: vec![0; dim],
            u: vec![0; dim],
        }
    }

    /// Takes the bounds of a state.
    #[inline]
    pub fn at_state(&mut self, program: &Program, bounds: &Bounds, state: &[i32]) {
        bounds.of_state(program, state, &mut self.l, &mut self.u);
    }

    /// Abstracts a zone of the state last given to [`Abstractor::at_state`]; with differences it may fall apart.
    #[inline]
    pub fn apply(&mut self, bounds: &Bounds, mut zone: Zone, out: &mut Federation) {
        match self.kind {
            Abstraction::ExtraLu => {
                extra_lu_plus(&mut zone, &self.l, &self.u);
                out.push(zone);
            }
            Abstraction::ExtraM if bounds.diagonals.is_empty() => {
                extra_m(&mut zone, &self.l, &self.u);
                out.push(zone);
            }
            Abstraction::ExtraM => self.split_and_extrapolate(bounds, zone, out),
            Abstraction::Alu => {
                free_inactive(&mut zone, &self.l, &self.u);
                out.push(zone);
            }
            Abstraction::None => out.push(zone),
        }
    }

    /// Splits on every difference, extrapolates each piece and intersects it again with its sides.
    fn split_and_extrapolate(&mut self, bounds: &Bounds, zone: Zone, out: &mut Federation) {
        let mut pieces = vec![zone];
        for d in &bounds.diagonals {
            pieces = pieces
                .into_iter()
                .flat_map(|piece| split(piece, *d))
                .collect();
        }
        for piece in pieces {
            let mut wide = piece.clone();
            extra_m(&mut wide, &self.l, &self.u);
            for d in &bounds.diagonals {
                let (i, j) = (d.i as usize, d.j as usize);
                for b in [lt(d.c), le(d.c)] {
                    if piece.at(i, j) <= b {
                        wide.and(i, j, b);
                    }
                    if piece.at(j, i) <= bound::negate(b) {
                        wide.and(j, i, bound::negate(b));
                    }
                }
            }
            out.push(wide);
        }
    }
}

/// The parts of a zone below, at and above a difference.
fn split(zone: Zone, d: Diagonal) -> Federation {
    let (i, j) = (d.i as usize, d.j as usize);
    let cuts: [&[(usize, usize, Bound)]; 3] = [
        &[(i, j, lt(d.c))],
        &[(i, j, le(d.c)), (j, i, le(-d.c))],
        &[(j, i, lt(-d.c))],
    ];
    let mut pieces = Vec::new();
    for cut in cuts {
        let mut piece = zone.clone();
        if cut.iter().all(|&(i, j, b)| piece.and(i, j, b)) {
            pieces.push(piece);
        }
    }
    pieces
}

/// Forgets clocks without any test ahead: no future depends on them.
fn free_inactive(zone: &mut Zone, l: &[i32], u: &[i32]) {
    for x in 1..zone.dim() {
        if l[x] < 0 && u[x] < 0 {
            zone.free(x);
        }
    }
}

/// `Extra⁺_LU`.
///
/// `z_ij` becomes infinite if it exceeds `L(x_i)`, if the lower bound of `x_i` exceeds `L(x_i)`, or if the lower bound of
/// `x_j` exceeds `U(x_j)` (then `z_0j` becomes `< -U(x_j)`).
pub fn extra_lu_plus(zone: &mut Zone, l: &[i32], u: &[i32]) {
    let dim = zone.dim();
    let m = zone.raw_mut();
    // Lower bounds before any of them is changed.
    let lower: smallvec::SmallVec<[i32; 32]> = (0..dim).map(|j| -bound::value(m[j])).collect();
    let mut changed = false;
    for i in 1..dim {
        let beyond = lower[i] > l[i];
        for j in 0..dim {
            let z = m[i * dim + j];
            let drop = beyond || (z != INF && bound::value(z) > l[i]) || lower[j] > u[j];
            if drop && i != j && z != INF {
                m[i * dim + j] = INF;
                changed = true;
            }
        }
    }
    for j in 1..dim {
        if lower[j] > u[j] {
            let relaxed = if u[j] < 0 { LE_ZERO } else { lt(-u[j]) };
            changed |= m[j] != relaxed;
            m[j] = relaxed;
        }
    }
    if changed {
        zone.close();
    }
}

/// `Extra_M` with M = max(L, U): `z_ij` becomes infinite if it exceeds `M(x_i)`, and `< -M(x_j)` if it is below that.
pub fn extra_m(zone: &mut Zone, l: &[i32], u: &[i32]) {
    free_inactive(zone, l, u);
    let dim = zone.dim();
    let m = zone.raw_mut();
    let mut changed = false;
    for i in 0..dim {
        let mi = l[i].max(u[i]);
        for j in 0..dim {
            let z = m[i * dim + j];
            if i == j || z == INF {
                continue;
            }
            let mj = l[j].max(u[j]);
            let relaxed = if bound::value(z) > mi {
                // A freed clock has no bound to lose, and nobody may lose `x >= 0`.
                if i == 0 { z } else { INF }
            } else if -bound::value(z) > mj {
                if mj < 0 { z } else { lt(-mj) }
            } else {
                z
            };
            changed |= relaxed != z;
            m[i * dim + j] = relaxed;
        }
    }
    if changed {
        zone.close();
    }
}

/// Whether `z ⊆ a≼LU(other)`, both canonical and not empty, `l` and `u` the bounds of their common state.
///
/// It fails iff for some `x`, `y` (the constant zero included): `z_0x ≥ (≤, -U_x)`, `other_yx < z_yx` and
/// `other_yx + (<, -L_y) < z_0x`. Inactive clocks must have been freed.
pub fn included_up_to_lu(
    z: impl Fn(usize, usize) -> Bound,
    other: impl Fn(usize, usize) -> Bound,
    l: &[i32],
    u: &[i32],
) -> bool {
    for (x, &ux) in u.iter().enumerate() {
        let low = z(0, x);
        if ux < 0 && x != 0 {
            // U = -∞: the first condition cannot hold.
            continue;
        }
        if low < le(-ux) {
            continue;
        }
        for (y, &ly) in l.iter().enumerate() {
            let b = other(y, x);
            if b < z(y, x) && (y == 0 || ly >= 0) && add(b, lt(-ly)) < low {
                return false;
            }
        }
    }
    true
}
