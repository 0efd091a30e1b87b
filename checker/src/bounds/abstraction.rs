//! Abstractions of zones, which make the zone graph finite.
//!
//! **`a≼LU` on `Extra⁺_LU` zones.** For two valuations, `v ≼LU w` means that `w` can do whatever
//! `v` can, as far as lower bounds up to L and upper bounds up to U can tell; `a≼LU(Z)` is the set
//! of valuations `v` with `v ≼LU w` for some `w` in `Z`. A zone is dropped if it lies in `a≼LU` of
//! a stored one of the same discrete state, and a stored one is removed if it lies in `a≼LU` of the
//! new one. This is exact for reachability:
//!
//! - `≼LU` is a simulation and a preorder, so `a≼LU` is idempotent, and the relation "lies in
//!   `a≼LU` of" is transitive. What a removed state covered is covered by the state that removed
//!   it.
//! - `Extra⁺_LU(Z) ⊆ a≼LU(Z)` (Behrmann et al., 2006), hence `a≼LU(Extra⁺_LU(Z)) = a≼LU(Z)`:
//!   extrapolating first adds nothing that is not simulated, and fewer zones are left to compare.
//! - Both zones are compared under the bounds of the same discrete state, the one they are stored
//!   for.
//! - If a state is removed while it waits, each of its successors has a counterpart among the
//!   successors of the new state, which waits. If it was already explored, its successors stay; its
//!   node stays for traces.
//!
//! A search may compare by inclusion from some state on (`Table::gives_up_simulation`): what
//! inclusion covers, the simulation covers too.
//!
//! The simulation says nothing about what a valuation can *not* do, about values beyond the bounds,
//! or about how many steps or how much time the other one needs. So it is not used with `deadlock`,
//! liveness, differences of clocks, stopped clocks, measured clocks, shortest and fastest traces or
//! hulls, nor where the order of clocks decides the representatives (`strategy/plan.rs`). The
//! stored zones together need not contain every reached valuation, so the table must not be used
//! for anything other than deciding when the search ends.

use crate::bounds::coupling::Coupling;
use crate::bounds::{Bounds, Diagonal};
use crate::mutation::{Mutation, is_on};
use crate::program::Program;
use crate::zone::bound::{self, Bound, INF, LE_ZERO, add, le, lt};
use crate::zone::{Federation, Relation, Zone};

/// The abstraction that a run uses. `strategy/plan.rs` decides which ones are exact for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abstraction {
    /// Exact zones.
    None,
    /// `Extra⁺_LU` (Behrmann, Bouyer, Larsen, Pelánek: *Lower and upper bounds in zone-based
    /// abstractions*, 2006).
    ExtraLu,
    /// `Extra_M` of the same paper, with M = max(L, U). If there are differences, zones are first
    /// split on them (Bengtsson and Yi: *On clock difference constraints and termination*, 2003).
    ExtraM,
    /// `Extra⁺_LU`, compared by `Z ⊆ a≼LU(Z')` in both directions (Herbreteau, Srivathsan,
    /// Walukiewicz: *Better abstractions for timed automata*, 2012).
    Alu,
}

impl Abstraction {
    /// Whether clocks without a bound in the state are free in every abstracted zone, so that a
    /// zone may be stored by the bounds of its state. With splits on differences, `Extra_M` may
    /// constrain them again.
    pub(crate) fn frees_inactive(self) -> bool {
        matches!(self, Abstraction::Alu | Abstraction::ExtraLu)
    }
}

/// A buffer on the stack for the zones of most models.
type Buffer<T> = smallvec::SmallVec<[T; 32]>;

/// Applies one abstraction; contains the buffers for the bounds of a state.
#[derive(Clone, Debug)]
pub(crate) struct Abstractor {
    /// The abstraction.
    pub kind: Abstraction,
    /// `L` of the current state, by matrix index.
    pub l: Vec<i32>,
    /// `U` of the current state, by matrix index.
    pub u: Vec<i32>,
    /// The clocks that keep their differences; all of them if `None`. Only used if neither the
    /// model nor the query compares differences.
    pub coupling: Option<Coupling>,
}

impl Abstractor {
    /// An abstractor for zones of this dimension.
    pub(crate) fn new(kind: Abstraction, dim: usize) -> Abstractor {
        Abstractor {
            kind,
            l: vec![0; dim],
            u: vec![0; dim],
            coupling: None,
        }
    }

    /// Loads the bounds of a state, which becomes the current one.
    #[inline]
    pub(crate) fn at_state(&mut self, program: &Program, bounds: &Bounds, state: &[i32]) {
        bounds.of_state(program, state, &mut self.l, &mut self.u);
    }

    /// Copies the bounds of some clocks from another abstractor.
    pub(crate) fn take_over(&mut self, other: &Abstractor, clocks: &[u32]) {
        let some = |from: &[i32], to: &mut Vec<i32>| {
            to.clear();
            to.extend(clocks.iter().map(|x| from[*x as usize]));
        };
        some(&other.l, &mut self.l);
        some(&other.u, &mut self.u);
    }

    /// Abstracts a zone of the state that was last passed to [`Abstractor::at_state`]. With
    /// differences, the result may be several zones.
    #[inline]
    pub(crate) fn apply(&mut self, bounds: &Bounds, mut zone: Zone, out: &mut Federation) {
        if let Some(coupling) = &self.coupling {
            coupling.loosen(&mut zone);
        }
        if self.kind == Abstraction::ExtraM && !bounds.diagonals.is_empty() {
            self.split_and_extrapolate(bounds, zone, out);
        } else {
            self.apply_whole(&mut zone);
            out.push(zone);
        }
    }

    /// Abstracts a zone of a model without differences, in place.
    #[inline]
    pub(crate) fn apply_whole(&self, zone: &mut Zone) {
        match self.kind {
            Abstraction::ExtraLu | Abstraction::Alu => extra_lu_plus(zone, &self.l, &self.u),
            Abstraction::ExtraM => extra_m(zone, &self.l, &self.u),
            Abstraction::None => {}
        }
    }

    /// Splits on every difference, extrapolates each piece and intersects it again with its
    /// constraints.
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

/// Frees clocks that are not tested before they are set: no future step depends on them.
fn free_inactive(zone: &mut Zone, l: &[i32], u: &[i32]) {
    for x in 1..zone.dim() {
        if l[x] < 0 && u[x] < 0 {
            zone.free(x);
        }
    }
}

/// Applies `Extra⁺_LU`.
///
/// `z_ij` becomes infinite if it exceeds `L(x_i)`, if the lower bound of `x_i` exceeds `L(x_i)`, or
/// if the lower bound of `x_j` exceeds `U(x_j)` (then `z_0j` becomes `< -U(x_j)`).
///
/// Canonical form is restored without an O(n³) closure. An entry that did not change is still the
/// tightest, because no path got shorter. A row that is dropped as a whole has no outgoing path. A
/// column that is dropped as a whole is entered only from zero, so its entries are `z_i0 + z_0j`.
/// Only the rows that lost some of their entries remain; they are closed separately.
pub(crate) fn extra_lu_plus(zone: &mut Zone, l: &[i32], u: &[i32]) {
    let dim = zone.dim();
    let m = zone.raw_mut();
    // Row 0 keeps the lower bounds until all other rows are done.
    let (zero, rows) = m.split_at_mut(dim);
    let mut columns: Buffer<(usize, Bound)> = Buffer::new();
    for j in 1..dim {
        if -bound::value(zero[j]) > u[j] {
            columns.push((j, if u[j] < 0 { LE_ZERO } else { lt(-u[j]) }));
        }
    }
    let mut partial: Buffer<usize> = Buffer::new();
    for (i, row) in (1..dim).zip(rows.chunks_exact_mut(dim)) {
        if -bound::value(zero[i]) > l[i] {
            row.fill(INF);
            row[i] = LE_ZERO;
            continue;
        }
        for &(j, _) in &columns {
            row[j] = INF;
        }
        let most = le(l[i]);
        let mut lost = false;
        for z in row.iter_mut() {
            lost |= (*z > most) & (*z != INF);
            *z = if *z > most { INF } else { *z };
        }
        row[i] = LE_ZERO;
        if lost {
            partial.push(i);
            continue;
        }
        for &(j, low) in columns.iter().filter(|(j, _)| *j != i) {
            row[j] = add(row[0], low);
        }
    }
    for &(j, low) in &columns {
        zero[j] = low;
    }
    zone.close_rows(&partial);
}

/// Applies `Extra_M` with M = max(L, U): `z_ij` becomes infinite if it exceeds `M(x_i)`, and `<
/// -M(x_j)` if it is below that.
pub(crate) fn extra_m(zone: &mut Zone, l: &[i32], u: &[i32]) {
    free_inactive(zone, l, u);
    let dim = zone.dim();
    let m = zone.raw_mut();
    let least: Buffer<Bound> = l
        .iter()
        .zip(u)
        .map(|(l, u)| match *l.max(u) {
            m if m < 0 => -INF,
            m => lt(-m),
        })
        .collect();
    let mut changed: Buffer<usize> = Buffer::new();
    for i in 0..dim {
        // `x >= 0` must always remain, and a free clock has nothing else to lose.
        let most = match l[i].max(u[i]) {
            _ if i == 0 => INF,
            m if m < 0 => continue,
            m => le(m),
        };
        let row = &mut m[i * dim..(i + 1) * dim];
        let mut lost = false;
        for (z, &least) in row.iter_mut().zip(&least) {
            let relaxed = if *z > most { INF } else { (*z).max(least) };
            lost |= relaxed != *z;
            *z = relaxed;
        }
        row[i] = LE_ZERO;
        if lost {
            changed.push(i);
        }
    }
    zone.close_rows(&changed);
}

/// Less than every bound.
const LEAST: Bound = -(1 << 30);

/// The matrix by which zones of one discrete state are compared up to `a≼LU`: `Z ⊆ a≼LU(Z')` iff no
/// entry of the matrix of `Z` exceeds that of `Z'`. Zones must be canonical and not empty; `l` and
/// `u` are the bounds of their state.
///
/// By the paper, the inclusion fails iff for some `x`, `y` (the constant zero included): `z_0x ≥
/// (≤, -U_x)`, `z'_yx < z_yx` and `z'_yx + (<, -L_y) < z_0x`. The last of these says that `z'_yx`
/// is less than `s(z_0x)`, where `s` adds `L_y` to the value and makes the bound strict, one higher
/// if it was not strict. So the matrix has `min(z_yx, s(z_0x))` where `z_0x ≥ (≤, -U_x)`, and less
/// than any bound elsewhere.
///
/// - If the inclusion holds and the first condition holds for `x`, then `z'_0x ≥ z_0x` (by `y = 0`,
///   since a smaller one would fail), so the condition holds for `Z'` as well, and `s(z'_0x) ≥
///   s(z_0x)`. Also `z'_yx ≥ min(z_yx, s(z_0x))`. So no entry of the matrix of `Z` is greater.
/// - If no entry is greater, let the first condition hold for `x`. Then `min(z_yx, s(z_0x))` is at
///   most `z'_yx` for all `y`, so `z'_yx < z_yx` implies `z'_yx ≥ s(z_0x)`, and the inclusion
///   does not fail.
///
/// Zones are therefore compared in one pass and in both directions, and sums of entries are digests
/// as they are for plain inclusion (`store/digest.rs`).
pub(crate) fn view_up_to_lu(zone: &Zone, l: &[i32], u: &[i32], out: &mut Vec<Bound>) {
    let (l, u) = match is_on(Mutation::SimulationSwapsBounds) {
        true => (u, l),
        false => (l, u),
    };
    let dim = zone.dim();
    let mut rows = zone.raw().chunks_exact(dim);
    let Some(zero) = rows.next() else { return };
    let bounded = |x: usize| x == 0 || u[x] >= 0 && zero[x] >= le(-u[x]);
    out.clear();
    out.extend((0..dim).map(|x| if bounded(x) { zero[x] } else { LEAST }));
    // By column, `s` without `L`.
    let steps: Buffer<Bound> = (0..dim)
        .map(|x| match zero[x] + (zero[x] & 1) {
            step if bounded(x) => step,
            _ => LEAST,
        })
        .collect();
    let single = is_on(Mutation::SimulationOfSingles);
    for (row, l) in rows.zip(&l[1..]) {
        if *l < 0 {
            out.extend(std::iter::repeat_n(LEAST, dim));
            continue;
        }
        let pairs = row.iter().zip(&steps);
        out.extend(pairs.map(|(z, step)| (*z).min(step + lt(*l))));
        if single {
            let start = out.len() - dim + 1;
            out[start..].fill(LEAST);
        }
    }
}

/// The relation between two matrices of [`view_up_to_lu`].
#[inline]
pub(crate) fn relation_of_views(a: &[Bound], b: &[Bound]) -> Relation {
    let (mut less, mut more) = (false, false);
    for (a, b) in a.chunks(32).zip(b.chunks(32)) {
        for (a, b) in a.iter().zip(b) {
            less |= a < b;
            more |= a > b;
        }
        if less && more {
            return Relation::Different;
        }
    }
    match (less, more) {
        (false, false) => Relation::Equal,
        (true, false) => Relation::Subset,
        (false, true) => Relation::Superset,
        (true, true) => Relation::Different,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonelens_interpreter::Rng;

    fn random_zone(rng: &mut Rng, dim: usize) -> Zone {
        let mut zone = Zone::universe(dim);
        for _ in 0..rng.below(3 * dim) {
            let (i, j) = (rng.below(dim), rng.below(dim));
            let c = rng.range(-12, 12);
            let b = if rng.chance(50) { lt(c) } else { le(c) };
            if i != j && zone.satisfiable(i, j, b) {
                zone.and(i, j, b);
            }
        }
        zone
    }

    /// Both abstractions exactly as defined in their paper, with a full closure.
    fn by_definition(zone: &Zone, l: &[i32], u: &[i32], lu: bool) -> Zone {
        let (dim, low) = (zone.dim(), |x: usize| -bound::value(zone.at(0, x)));
        let mut wide = zone.clone();
        for i in 0..dim {
            for j in (0..dim).filter(|&j| j != i && zone.at(i, j) != INF) {
                let z = zone.at(i, j);
                let (m, above) = (l[j].max(u[j]), |limit| i > 0 && bound::value(z) > limit);
                let at_least = |m: i32| if m < 0 { LE_ZERO } else { lt(-m) };
                wide.raw_mut()[i * dim + j] = if lu {
                    match () {
                        () if above(l[i]) || i > 0 && low(i) > l[i] => INF,
                        () if i > 0 && low(j) > u[j] => INF,
                        () if low(j) > u[j] => at_least(u[j]),
                        () => z,
                    }
                } else {
                    match () {
                        () if above(l[i].max(u[i])) => INF,
                        // Inactive clocks are freed.
                        () if i > 0 && (m < 0 || l[i].max(u[i]) < 0) => INF,
                        () if -bound::value(z) > m => at_least(m),
                        () => z,
                    }
                };
            }
        }
        wide.close();
        wide
    }

    #[test]
    fn abstractions_close_what_they_change() {
        let mut rng = Rng::new(3);
        let mut changed = [0; 2];
        for round in 0..30_000 {
            let dim = 1 + round % 7;
            let zone = random_zone(&mut rng, dim);
            let mut bounds = || {
                let some = (1..dim).map(|_| rng.range(-1, 9));
                std::iter::once(0).chain(some).collect::<Vec<i32>>()
            };
            let (l, u) = (bounds(), bounds());
            for (lu, changed) in [true, false].into_iter().zip(&mut changed) {
                let mut wide = zone.clone();
                if lu {
                    extra_lu_plus(&mut wide, &l, &u);
                } else {
                    extra_m(&mut wide, &l, &u);
                }
                assert_eq!(
                    wide,
                    by_definition(&zone, &l, &u, lu),
                    "{zone:?} {l:?} {u:?}"
                );
                *changed += usize::from(wide != zone);
            }
        }
        assert!(changed.iter().all(|n| *n > 10_000), "{changed:?}");
    }

    /// Whether `z ⊆ a≼LU(other)`. Both must be canonical and not empty; `l` and `u` are the bounds
    /// of their common state.
    ///
    /// It fails iff for some `x`, `y` (the constant zero included): `z_0x ≥ (≤, -U_x)`, `other_yx <
    /// z_yx` and `other_yx + (<, -L_y) < z_0x`. Inactive clocks must be free.
    fn included_up_to_lu(
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

    /// A seeded bug: differences of clocks are not compared.
    #[test]
    fn simulation_needs_differences_of_clocks() {
        use crate::common::{self, Verify};
        use zonelens_analysis::report::{Options, Verdict};
        let model = common::xta(
            "process P() { clock x, y; state a, b; init a; trans a -> a { guard x >= 1; assign y = 0; }, \
             a -> b { guard x > 2 && y < 1; }; } system P;",
        );
        let ask = || model.verify("E<> P.b", &Options::default()).verdict;
        assert_eq!(ask(), Verdict::Satisfied);
        crate::mutation::set(Some(Mutation::SimulationOfSingles));
        let wrong = ask();
        crate::mutation::set(None);
        assert_eq!(wrong, Verdict::Violated);
    }

    /// The matrices decide as the formula of the paper does.
    #[test]
    fn views_decide_about_simulation() {
        let mut rng = Rng::new(29);
        let (mut related, mut wider) = (0, 0);
        for round in 0..60_000 {
            let dim = 1 + round % 5;
            let mut bounds = || {
                let some = (1..dim).map(|_| rng.range(-1, 9));
                std::iter::once(0).chain(some).collect::<Vec<i32>>()
            };
            let (l, u) = (bounds(), bounds());
            let one = random_zone(&mut rng, dim);
            let mut other = one.clone();
            for _ in 0..1 + rng.below(3) {
                let (i, j) = (rng.below(dim), rng.below(dim));
                let b = lt(rng.range(-6, 12));
                if i != j && other.satisfiable(i, j, b) {
                    other.and(i, j, b);
                }
            }
            if rng.chance(30) {
                other = random_zone(&mut rng, dim);
            }
            let [one, other] = [one, other].map(|mut zone| {
                extra_lu_plus(&mut zone, &l, &u);
                zone
            });
            let view = |zone: &Zone| {
                let mut view = Vec::new();
                view_up_to_lu(zone, &l, &u, &mut view);
                view
            };
            let relation = relation_of_views(&view(&one), &view(&other));
            let within = |a: &Zone, b: &Zone| {
                included_up_to_lu(|i, j| a.at(i, j), |i, j| b.at(i, j), &l, &u)
            };
            let expected = match (within(&one, &other), within(&other, &one)) {
                (true, true) => Relation::Equal,
                (true, false) => Relation::Subset,
                (false, true) => Relation::Superset,
                (false, false) => Relation::Different,
            };
            assert_eq!(relation, expected, "{one:?} {other:?} {l:?} {u:?}");
            related += usize::from(relation != Relation::Different);
            wider += usize::from(relation != one.relation(&other));
        }
        assert!(related > 20_000 && wider > 1_000, "{related} {wider}");
    }
}
