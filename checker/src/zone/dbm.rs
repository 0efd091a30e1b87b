//! The difference bound matrix and its kernels.
//!
//! Contract: a zone over clocks `1..dim` (index 0 is the constant zero) contains in `m[i][j]` the
//! bound of `x_i - x_j`. Between calls, a zone is either *empty* (`m[0][0] < (<= 0)`) or
//! *canonical*: every entry is the tightest bound that the others imply, and the diagonal is `<=
//! 0`. Every operation preserves this, except [`Zone::raw_mut`], after which [`Zone::close`] must
//! be called. Clocks are never negative: row 0 stays at or below `<= 0`.
//!
//! If a bound leaves the range in which sums cannot wrap, a sticky flag is set,
//! [`Zone::overflowed`]; the exploration then ends with the verdict `unknown` and does not use the
//! content of the zone.

use super::bound::{self, Bound, CONSTANT_LIMIT, INF, LE_ZERO, SUM_LIMIT, add, le};

/// The relation between two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The same points.
    Equal,
    /// The first is strictly inside the second.
    Subset,
    /// The second is strictly inside the first.
    Superset,
    /// Neither contains the other.
    Different,
}

/// A convex set of clock valuations.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    dim: usize,
    overflow: bool,
    m: Vec<Bound>,
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.dim == other.dim && self.m == other.m
    }
}

/// `row[q] = min(row[q], t + via[q])`: the inner loop of every closure, in a form that vectorises.
#[inline(always)]
fn relax(row: &mut [Bound], via: &[Bound], t: Bound) {
    for (r, &v) in row.iter_mut().zip(via) {
        let sum = t.wrapping_add(v).wrapping_sub((t | v) & 1);
        let sum = if v == INF { INF } else { sum };
        *r = if sum < *r { sum } else { *r };
    }
}

/// Rows `a` (mutable) and `b` of a matrix, `a != b`.
#[inline(always)]
fn two_rows(m: &mut [Bound], dim: usize, a: usize, b: usize) -> (&mut [Bound], &[Bound]) {
    if a < b {
        let (low, high) = m.split_at_mut(b * dim);
        (&mut low[a * dim..(a + 1) * dim], &high[..dim])
    } else {
        let (low, high) = m.split_at_mut(a * dim);
        (&mut high[..dim], &low[b * dim..(b + 1) * dim])
    }
}

impl Zone {
    /// All valuations of `dim - 1` clocks.
    pub(crate) fn universe(dim: usize) -> Zone {
        let mut zone = Zone {
            dim,
            overflow: false,
            m: vec![INF; dim * dim],
        };
        for i in 0..dim {
            zone.m[i] = LE_ZERO;
            zone.m[i * dim + i] = LE_ZERO;
        }
        zone
    }

    /// The single valuation with these clock values.
    pub(crate) fn point(values: &[i32]) -> Zone {
        let mut zone = Zone::universe(values.len() + 1);
        for (x, &v) in values.iter().enumerate() {
            zone.set(x + 1, i64::from(v));
        }
        zone
    }

    /// The number of clocks plus one.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Whether a bound left the range of the arithmetic; the content is then meaningless.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflow
    }

    /// The bound of `x_i - x_j`.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize, j: usize) -> Bound {
        self.m[i * self.dim + j]
    }

    /// All bounds, row by row.
    pub(crate) fn raw(&self) -> &[Bound] {
        &self.m
    }

    /// All bounds, mutable; [`Zone::close`] must be called afterwards.
    pub(crate) fn raw_mut(&mut self) -> &mut [Bound] {
        &mut self.m
    }

    /// Copies the content of another zone without allocating.
    pub(crate) fn assign(&mut self, other: &Zone) {
        self.dim = other.dim;
        self.overflow = other.overflow;
        self.m.clear();
        self.m.extend_from_slice(&other.m);
    }

    /// Whether it contains no valuation.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.m[0] < LE_ZERO
    }

    /// Makes it empty.
    pub(crate) fn clear(&mut self) {
        self.m[0] = bound::lt(-1);
    }

    /// Restores canonical form after arbitrary changes; returns whether the zone is not empty.
    /// O(n³).
    pub(crate) fn close(&mut self) -> bool {
        let dim = self.dim;
        for k in 0..dim {
            for i in 0..dim {
                let t = self.m[i * dim + k];
                if i == k || t == INF {
                    continue;
                }
                let (row, via) = two_rows(&mut self.m, dim, i, k);
                relax(row, via, t);
            }
            if self.m[k * dim + k] < LE_ZERO {
                self.clear();
                return false;
            }
        }
        let consistent = (0..dim).all(|i| self.m[i * dim + i] >= LE_ZERO);
        if !consistent {
            self.clear();
        }
        consistent
    }

    /// Restores canonical form after entries of some rows became weaker, if all other rows are
    /// still closed. A weaker matrix of a non-empty zone is not empty.
    pub(crate) fn close_rows(&mut self, rows: &[usize]) {
        let dim = self.dim;
        if rows.is_empty() {
            return;
        }
        for k in 0..dim {
            for &i in rows {
                let t = self.m[i * dim + k];
                if i == k || t == INF {
                    continue;
                }
                let (row, via) = two_rows(&mut self.m, dim, i, k);
                relax(row, via, t);
            }
        }
    }

    /// Whether the intersection with `x_i - x_j ~ b` would not be empty.
    #[inline(always)]
    pub(crate) fn satisfiable(&self, i: usize, j: usize, b: Bound) -> bool {
        let back = self.at(j, i);
        b == INF
            || back == INF
            || i64::from(back) + i64::from(b) - i64::from((back | b) & 1) >= i64::from(LE_ZERO)
    }

    /// Intersects with `x_i - x_j ~ b`; returns whether the result is not empty. O(n²), or O(1) if
    /// the bound is implied.
    #[inline]
    pub(crate) fn and(&mut self, i: usize, j: usize, b: Bound) -> bool {
        if b >= self.at(i, j) {
            return !self.is_empty();
        }
        if self.is_empty() {
            return false;
        }
        if b.unsigned_abs() > SUM_LIMIT as u32 {
            self.overflow = true;
            return true;
        }
        if i == j || add(self.at(j, i), b) < LE_ZERO {
            self.clear();
            return false;
        }
        self.tighten(i, j, b);
        true
    }

    /// Stores the tighter bound and closes: every shortest path that changes contains the new edge
    /// once.
    fn tighten(&mut self, i: usize, j: usize, b: Bound) {
        let dim = self.dim;
        let limit = SUM_LIMIT as u32;
        let row_j = &self.m[j * dim..(j + 1) * dim];
        let mut large = row_j.iter().any(|&v| v != INF && v.unsigned_abs() > limit);
        self.m[i * dim + j] = b;
        for p in 0..dim {
            let head = self.m[p * dim + i];
            if head == INF {
                continue;
            }
            large |= head.unsigned_abs() > limit;
            let t = add(head, b);
            if p == j {
                continue;
            }
            if t < self.m[p * dim + j] {
                self.m[p * dim + j] = t;
            } else if p != i {
                // The path to j did not get shorter, so no path that continues from j did.
                continue;
            }
            large |= t.unsigned_abs() > limit;
            let (row, via) = two_rows(&mut self.m, dim, p, j);
            relax(row, via, t);
        }
        self.overflow |= large;
    }

    /// Lets time pass: removes all upper bounds.
    pub(crate) fn up(&mut self) {
        for i in 1..self.dim {
            self.m[i * self.dim] = INF;
        }
    }

    /// Lets time pass as long as the clocks stay below their upper bounds, which the zone must
    /// satisfy. Equivalent to [`Zone::up`] and [`Zone::and`] for each bound, but O(n²) for all of
    /// them: a path that got shorter takes one bound to zero and continues from there.
    pub(crate) fn up_below(&mut self, uppers: &[(usize, Bound)]) {
        self.up();
        let dim = self.dim;
        if uppers.is_empty() {
            return;
        }
        let large = |b: Bound| b != INF && b.unsigned_abs() > SUM_LIMIT as u32;
        self.overflow |= self.m[..dim].iter().any(|b| large(*b));
        for i in 1..dim {
            let row = &self.m[i * dim..(i + 1) * dim];
            let mut least = INF;
            for &(x, b) in uppers {
                least = least.min(add(row[x], b));
                self.overflow |= large(b) || large(row[x]);
            }
            if least == INF {
                continue;
            }
            self.overflow |= large(least);
            let (row, zero) = two_rows(&mut self.m, dim, i, 0);
            row[0] = least;
            relax(row, zero, least);
        }
    }

    /// Lets time pass for the clocks that run; the others keep their values. The result is the
    /// smallest zone that contains the exact set.
    pub(crate) fn up_with_stopped(&mut self, stopped: &[bool]) {
        let dim = self.dim;
        for i in 1..dim {
            if stopped[i] {
                continue;
            }
            self.m[i * dim] = INF;
            for (j, _) in stopped.iter().enumerate().filter(|(_, stopped)| **stopped) {
                self.m[i * dim + j] = INF;
            }
        }
        self.close();
    }

    /// Lets time pass backwards: adds every valuation from which a delay leads into the zone.
    pub(crate) fn down(&mut self) {
        let dim = self.dim;
        for j in 1..dim {
            let mut best = LE_ZERO;
            for i in 1..dim {
                best = best.min(self.m[i * dim + j]);
            }
            self.m[j] = best;
        }
    }

    /// Removes all constraints on the clock: it may have any value from 0 on.
    pub(crate) fn free(&mut self, x: usize) {
        let dim = self.dim;
        for j in 0..dim {
            if j != x {
                self.m[x * dim + j] = INF;
                self.m[j * dim + x] = self.m[j * dim];
            }
        }
        self.m[x] = LE_ZERO;
    }

    /// Sets the clock to a constant, which must not be negative.
    pub(crate) fn set(&mut self, x: usize, value: i64) {
        if !(0..=CONSTANT_LIMIT).contains(&value) {
            self.overflow = true;
            return;
        }
        let (dim, plus, minus) = (self.dim, le(value as i32), le(-value as i32));
        for j in 0..dim {
            if j == x {
                continue;
            }
            let (low, high) = (self.m[j], self.m[j * dim]);
            let too_large = |b: Bound| b != INF && b.unsigned_abs() > SUM_LIMIT as u32;
            self.overflow |= too_large(low) || too_large(high);
            self.m[x * dim + j] = add(plus, low);
            self.m[j * dim + x] = add(high, minus);
        }
    }

    /// Sets clock `x` to the value of clock `y`.
    pub(crate) fn copy(&mut self, x: usize, y: usize) {
        if x == y {
            return;
        }
        let dim = self.dim;
        for j in 0..dim {
            if j != x {
                self.m[x * dim + j] = self.m[y * dim + j];
                self.m[j * dim + x] = self.m[j * dim + y];
            }
        }
        self.m[x * dim + y] = LE_ZERO;
        self.m[y * dim + x] = LE_ZERO;
    }

    /// Intersects with another zone; returns whether the result is not empty.
    pub(crate) fn intersect(&mut self, other: &Zone) -> bool {
        if other.is_empty() {
            self.clear();
        }
        self.overflow |= other.overflow;
        let mut changes = 0;
        for (a, &b) in self.m.iter().zip(&other.m) {
            changes += usize::from(b < *a);
        }
        if changes == 0 || self.is_empty() {
            return !self.is_empty();
        }
        if changes > self.dim {
            for (a, &b) in self.m.iter_mut().zip(&other.m) {
                *a = (*a).min(b);
            }
            return self.close();
        }
        for i in 0..self.dim {
            for j in 0..self.dim {
                if !self.and(i, j, other.at(i, j)) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether the two have a point in common.
    pub(crate) fn meets(&self, other: &Zone) -> bool {
        if self.is_empty() || other.is_empty() {
            return false;
        }
        for i in 0..self.dim {
            for j in 0..i {
                if !self.satisfiable(i, j, other.at(i, j))
                    || !self.satisfiable(j, i, other.at(j, i))
                {
                    return false;
                }
            }
        }
        self.clone().intersect(other)
    }

    /// Compares by inclusion in both directions at once. Both must be canonical and not empty.
    pub(crate) fn relation(&self, other: &Zone) -> Relation {
        relation(&self.m, &other.m)
    }

    /// Whether every valuation of `other` is in this zone.
    pub(crate) fn includes(&self, other: &Zone) -> bool {
        other.is_empty() || self.m.iter().zip(&other.m).all(|(a, b)| b <= a)
    }

    /// Makes upper bounds of clocks non-strict: adds the points where a delay inside the zone ends.
    pub(crate) fn relax_upper(&mut self) {
        for i in 1..self.dim {
            let b = &mut self.m[i * self.dim];
            if *b != INF {
                *b |= 1;
            }
        }
        self.close();
    }

    /// Keeps only the points that have other points of the zone just before them: lower bounds
    /// become strict.
    pub(crate) fn strict_lower(&mut self) -> bool {
        for j in 1..self.dim {
            let b = self.at(0, j);
            if !self.and(0, j, b & !1) {
                return false;
            }
        }
        true
    }

    /// Adds the points just before the zone: lower bounds become non-strict.
    pub(crate) fn relax_lower(&mut self) {
        for j in 1..self.dim {
            self.m[j] |= 1;
        }
        self.close();
    }

    /// Keeps only the points that have other points of the zone just after them: upper bounds
    /// become strict.
    pub(crate) fn strict_upper(&mut self) -> bool {
        for i in 1..self.dim {
            let b = self.at(i, 0);
            if b != INF && !self.and(i, 0, b & !1) {
                return false;
            }
        }
        true
    }

    /// Whether time may pass for ever inside the zone.
    pub(crate) fn unbounded(&self) -> bool {
        (1..self.dim).all(|i| self.at(i, 0) == INF)
    }

    /// The smallest zone that contains both.
    pub(crate) fn hull(&mut self, other: &Zone) {
        for (a, &b) in self.m.iter_mut().zip(&other.m) {
            *a = (*a).max(b);
        }
        self.overflow |= other.overflow;
    }
}

/// Compares two canonical matrices by inclusion in both directions at once.
pub(super) fn relation(a: &[Bound], b: &[Bound]) -> Relation {
    let (mut some_less, mut some_more) = (false, false);
    for (x, y) in a.chunks(16).zip(b.chunks(16)) {
        let (mut less, mut more) = (false, false);
        for (p, q) in x.iter().zip(y) {
            less |= p < q;
            more |= p > q;
        }
        some_less |= less;
        some_more |= more;
        if some_less && some_more {
            return Relation::Different;
        }
    }
    match (some_less, some_more) {
        (false, false) => Relation::Equal,
        (true, false) => Relation::Subset,
        (false, true) => Relation::Superset,
        (true, true) => Relation::Different,
    }
}
