//! Zones as difference bound matrices, as in the textbook: Bengtsson and Yi, *Timed automata:
//! semantics, algorithms and tools* (2004), section 4.
//!
//! Entry `(i, j)` bounds `x_i - x_j`, where `x_0` is the constant 0. A bound is the number
//! `2c + 1` for `<= c` and `2c` for `< c`, so that a smaller number is a tighter bound. A [`Zone`]
//! is closed (no entry can be tightened by a path through others) and not empty. Sums are computed
//! in 64 bits; the constants that enter are at most [`LARGEST`] in magnitude, so none can overflow.

/// A bound on a difference of two clocks.
pub type Bound = i64;

/// No bound.
pub const INFINITE: Bound = i64::MAX;

/// `<= 0`
const ZERO: Bound = 1;

/// The largest magnitude of a constant in a certificate, in a guard or in an assignment.
pub(crate) const LARGEST: i64 = 1 << 30;

/// The most zones that a union may have; a larger one is not checked.
const MOST_PIECES: usize = 100_000;

/// A union of zones.
pub(crate) type Union = Vec<Zone>;

/// `x_i - x_j` is within a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The clock on the left, counted from 1; 0 is the constant zero.
    pub i: usize,
    /// The clock that is subtracted, counted in the same way.
    pub j: usize,
    /// The bound.
    pub bound: Bound,
}

/// An assignment to a clock; clocks are counted from 0, as in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockOp {
    /// Sets a clock to a constant.
    Set(usize, i64),
    /// Sets the first clock to the value of the second.
    Copy(usize, usize),
}

/// The union has more pieces than are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPieces;

/// `<= c`
pub(crate) fn at_most(c: i64) -> Bound {
    2 * c + 1
}

/// `< c`
pub(crate) fn below(c: i64) -> Bound {
    2 * c
}

/// The sum of two bounds: strict if one of them is.
fn sum(a: Bound, b: Bound) -> Bound {
    match (a, b) {
        (INFINITE, _) | (_, INFINITE) => INFINITE,
        _ => a + b - ((a | b) & 1),
    }
}

/// A set of clock values, closed and not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    dim: usize,
    m: Vec<Bound>,
}

impl Zone {
    /// All values that are not negative, of this many clocks.
    pub(crate) fn universe(clocks: usize) -> Zone {
        let dim = clocks + 1;
        let mut m = vec![INFINITE; dim * dim];
        m[..dim].fill(ZERO);
        (0..dim).for_each(|i| m[i * dim + i] = ZERO);
        Zone { dim, m }
    }

    /// The values that satisfy all constraints; `None` if there are none.
    pub(crate) fn of(clocks: usize, constraints: impl Iterator<Item = Constraint>) -> Option<Zone> {
        let mut zone = Zone::universe(clocks);
        for c in constraints {
            let entry = &mut zone.m[c.i * zone.dim + c.j];
            *entry = c.bound.min(*entry);
        }
        zone.close()
    }

    /// Floyd and Warshall's algorithm; `None` if the zone is empty.
    fn close(mut self) -> Option<Zone> {
        let dim = self.dim;
        for k in 0..dim {
            for i in 0..dim {
                if self.m[i * dim + k] == INFINITE {
                    continue;
                }
                for j in 0..dim {
                    let through = sum(self.m[i * dim + k], self.m[k * dim + j]);
                    let entry = &mut self.m[i * dim + j];
                    *entry = through.min(*entry);
                }
            }
            if self.m[k * dim + k] < ZERO {
                return None;
            }
        }
        let consistent = (0..dim).all(|i| self.m[i * dim + i] >= ZERO);
        consistent.then_some(self)
    }

    /// The bound on `x_i - x_j`.
    pub(crate) fn at(&self, i: usize, j: usize) -> Bound {
        self.m[i * self.dim + j]
    }

    /// The part that satisfies a constraint.
    pub(crate) fn and(mut self, c: Constraint) -> Option<Zone> {
        let Constraint { i, j, bound } = c;
        if bound >= self.at(i, j) {
            return Some(self);
        }
        if sum(bound, self.at(j, i)) < ZERO {
            return None;
        }
        // Every new shortest path uses the new entry once.
        let dim = self.dim;
        let column: Vec<Bound> = (0..dim).map(|p| sum(self.at(p, i), bound)).collect();
        let row: Vec<Bound> = (0..dim).map(|q| self.at(j, q)).collect();
        for (p, to) in column.iter().enumerate() {
            for (q, from) in row.iter().enumerate() {
                let entry = &mut self.m[p * dim + q];
                *entry = sum(*to, *from).min(*entry);
            }
        }
        Some(self)
    }

    /// The common part of two zones.
    pub(crate) fn intersect(&self, other: &Zone) -> Option<Zone> {
        // Often a few constraints of the other zone imply its others.
        let (mut zone, mut tighter) = (self.clone(), 0);
        for c in other.constraints() {
            if !zone.satisfies(c) {
                tighter += 1;
                if tighter > self.dim {
                    return self.intersect_all(other);
                }
                zone = zone.and(c)?;
            }
        }
        Some(zone)
    }

    fn intersect_all(&self, other: &Zone) -> Option<Zone> {
        let m = self.m.iter().zip(&other.m).map(|(a, b)| *a.min(b));
        let zone = Zone {
            dim: self.dim,
            m: m.collect(),
        };
        zone.close()
    }

    /// All points that time reaches from here.
    pub(crate) fn up(mut self) -> Zone {
        for i in 1..self.dim {
            self.m[i * self.dim] = INFINITE;
        }
        self
    }

    /// The points just before which a moment of time was spent here: `v` such that `v - d` is here
    /// for all small `d > 0`. Differences do not change with time, lower bounds must be exceeded,
    /// and upper bounds may just be met.
    pub(crate) fn just_after(&self) -> Option<Zone> {
        self.beside(|lower| lower & !1, |upper| upper | 1)
    }

    /// The points just after which a moment of time is spent here: `v` such that `v + d` is here
    /// for all small `d > 0`.
    pub(crate) fn just_before(&self) -> Option<Zone> {
        self.beside(|lower| lower | 1, |upper| upper & !1)
    }

    fn beside(&self, lower: fn(Bound) -> Bound, upper: fn(Bound) -> Bound) -> Option<Zone> {
        let mut zone = self.clone();
        for i in 1..zone.dim {
            zone.m[i] = lower(zone.m[i]);
            if zone.m[i * zone.dim] != INFINITE {
                zone.m[i * zone.dim] = upper(zone.m[i * zone.dim]);
            }
        }
        zone.close()
    }

    /// The zone after each clock `x` is renamed to `images[x]`; clocks are counted from 0.
    pub(crate) fn renamed(&self, images: &[usize]) -> Zone {
        let dim = self.dim;
        let to = |i: usize| if i == 0 { 0 } else { images[i - 1] + 1 };
        let mut zone = self.clone();
        for i in 0..dim {
            for j in 0..dim {
                zone.m[to(i) * dim + to(j)] = self.m[i * dim + j];
            }
        }
        zone
    }

    /// Whether every point lies in the other zone.
    pub(crate) fn is_within(&self, other: &Zone) -> bool {
        self.m.iter().zip(&other.m).all(|(a, b)| a <= b)
    }

    /// Whether some clock has an upper bound.
    pub(crate) fn ends(&self) -> bool {
        (1..self.dim).any(|x| self.at(x, 0) != INFINITE)
    }

    /// All points from which time leads here.
    pub(crate) fn down(mut self) -> Zone {
        let dim = self.dim;
        for j in 1..dim {
            let least = (1..dim).map(|i| self.m[i * dim + j]).min();
            self.m[j] = least.unwrap_or(ZERO).min(ZERO);
        }
        self
    }

    /// The points after an assignment.
    pub(crate) fn assign(mut self, op: ClockOp) -> Zone {
        let dim = self.dim;
        match op {
            ClockOp::Set(clock, value) => {
                let x = clock + 1;
                for j in (0..dim).filter(|&j| j != x) {
                    self.m[x * dim + j] = sum(at_most(value), self.m[j]);
                    self.m[j * dim + x] = sum(self.m[j * dim], at_most(-value));
                }
            }
            ClockOp::Copy(to, from) => {
                let (x, y) = (to + 1, from + 1);
                for j in (0..dim).filter(|&j| j != x) {
                    self.m[x * dim + j] = self.m[y * dim + j];
                    self.m[j * dim + x] = self.m[j * dim + y];
                }
            }
        }
        self
    }

    /// Whether every point satisfies the constraint. As the zone is closed and not empty, its own
    /// entry decides.
    pub(crate) fn satisfies(&self, c: Constraint) -> bool {
        self.at(c.i, c.j) <= c.bound
    }

    /// The constraints of the zone, without those that every zone has.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = Constraint> {
        let pairs = (0..self.dim).flat_map(|i| (0..self.dim).map(move |j| (i, j)));
        pairs
            .filter(|(i, j)| i != j)
            .map(|(i, j)| Constraint {
                i,
                j,
                bound: self.at(i, j),
            })
            .filter(|c| c.bound != INFINITE && !(c.i == 0 && c.bound >= ZERO))
    }

    /// The part outside of the given constraints, in disjoint pieces.
    pub(crate) fn without(self, hole: impl Iterator<Item = Constraint>) -> Union {
        let mut pieces = Vec::new();
        let mut rest = self;
        for c in hole {
            if rest.satisfies(c) {
                continue;
            }
            // The complement of `x - y <= c` is `y - x < -c`.
            let outside = Constraint {
                i: c.j,
                j: c.i,
                bound: 1 - c.bound,
            };
            pieces.extend(rest.clone().and(outside));
            match rest.and(c) {
                Some(inside) => rest = inside,
                None => return pieces,
            }
        }
        pieces
    }
}

/// The points of a union outside of a zone.
pub(crate) fn subtract(union: Union, hole: &Zone) -> Result<Union, TooManyPieces> {
    let constraints: Vec<Constraint> = hole.constraints().collect();
    outside(union, &constraints)
}

/// The points of a union that violate one of the constraints.
pub(crate) fn outside(union: Union, constraints: &[Constraint]) -> Result<Union, TooManyPieces> {
    let mut rest = Vec::new();
    for zone in union {
        rest.extend(zone.without(constraints.iter().copied()));
        if rest.len() > MOST_PIECES {
            return Err(TooManyPieces);
        }
    }
    Ok(rest)
}

/// The zone that a union is equal to; `None` if it is not convex.
pub(crate) fn convex(union: &[Zone]) -> Result<Option<Zone>, TooManyPieces> {
    let Some((first, others)) = union.split_first() else {
        return Ok(None);
    };
    let mut hull = first.clone();
    for other in others {
        let entries = hull.m.iter_mut().zip(&other.m);
        entries.for_each(|(a, b)| *a = (*a).max(*b));
    }
    let mut rest = vec![hull.clone()];
    for zone in union {
        rest = subtract(rest, zone)?;
    }
    Ok(rest.is_empty().then_some(hull))
}

/// The constraint that a point must satisfy before the assignments, so that it satisfies `after`
/// behind them.
pub(crate) fn before(after: Constraint, ops: &[ClockOp]) -> Constraint {
    let origin = |index: usize| {
        let (mut clock, mut value) = (index, 0);
        for op in ops.iter().rev() {
            match *op {
                ClockOp::Set(x, v) if clock == x + 1 => (clock, value) = (0, v),
                ClockOp::Copy(x, y) if clock == x + 1 => clock = y + 1,
                _ => {}
            }
        }
        (clock, value)
    };
    let ((i, left), (j, right)) = (origin(after.i), origin(after.j));
    let bound = match after.bound {
        INFINITE => INFINITE,
        bound => bound - 2 * left + 2 * right,
    };
    Constraint { i, j, bound }
}
