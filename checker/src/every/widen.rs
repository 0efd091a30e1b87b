//! Constants that the clocks of a view are compared with, for widening its zones.
//!
//! Any zone that contains the exact one is right here, so these constants decide only whether the
//! closure ends and how precise it is. They are computed per location, as in Behrmann, Bouyer,
//! Larsen and Pelánek, *Lower and upper bounds in zone-based abstractions of timed automata*
//! (2006): a clock counts in a location if it is compared there, or later before it is set. A clock
//! that is compared by a process that does not own it counts everywhere.

use super::state::State;
use zonelens_analysis::every::Layout;
use zonelens_analysis::network::{
    BinaryOp, ClockBase, ClockRef, CompareOp, Expr, ExprKind, Network, UnaryOp,
};

/// A bound that is not known from the text.
const UNKNOWN: i32 = 1 << 14;

/// The bounds `(L, U)` of each clock, of the fixed part and then of one element; -1 for none.
type Row = Vec<(i32, i32)>;

/// The bounds of a network.
pub(crate) struct Widening {
    /// For each process and location.
    local: Vec<Vec<Row>>,
    /// Everywhere.
    global: Row,
    fixed: usize,
    own: usize,
}

/// What is compared in one expression.
struct Comparisons<'a> {
    layout: &'a Layout,
    process: Option<usize>,
    row: Row,
    global: &'a mut Row,
}

fn raise(entry: &mut (i32, i32), (l, u): (i32, i32)) {
    entry.0 = entry.0.max(l);
    entry.1 = entry.1.max(u);
}

impl Comparisons<'_> {
    /// The index of a clock in a row, and whether it is the process' own or a fixed one.
    fn place(&self, clock: usize) -> (usize, bool) {
        let owner = self.layout.clock_owner[clock];
        let of = |list: &[usize]| list.iter().position(|c| *c == clock).unwrap_or(0);
        match owner {
            None => (of(&self.layout.fixed_clocks), true),
            Some(e) => {
                let own = self
                    .process
                    .is_some_and(|p| self.layout.process_owner[p] == Some(e));
                let at = self.layout.fixed_clocks.len() + of(&self.layout.clocks[e as usize]);
                (at, own)
            }
        }
    }

    fn compared(&mut self, clock: &ClockRef, bounds: (i32, i32)) {
        match clock.base {
            ClockBase::Clock(c) if clock.steps.is_empty() => {
                let (at, known) = self.place(c.index());
                let row = if known && self.process.is_some() {
                    &mut self.row
                } else {
                    &mut *self.global
                };
                raise(&mut row[at], bounds);
            }
            ClockBase::Clock(c) => {
                let most: u32 = clock
                    .steps
                    .iter()
                    .map(|s| s.stride * s.range.len.saturating_sub(1))
                    .sum();
                for x in c.index()..=c.index() + most as usize {
                    let at = self.place(x).0;
                    raise(&mut self.global[at], bounds);
                }
            }
            ClockBase::Ref(_) => self.global.iter_mut().for_each(|g| raise(g, bounds)),
        }
    }

    fn expr(&mut self, e: &Expr, want: bool) {
        match &e.kind {
            ExprKind::Clock {
                left,
                right,
                op,
                bound,
            } => {
                let (lo, hi) = interval(bound);
                let (low, most) = ((-lo).max(hi).max(0), hi.max(0));
                let bounds = match (op, want, right) {
                    (_, _, Some(_)) => (low, low),
                    (CompareOp::Lt | CompareOp::Le, true, None) => (-1, most),
                    (CompareOp::Gt | CompareOp::Ge, true, None) => (most, -1),
                    (CompareOp::Lt | CompareOp::Le, false, None) => (most, -1),
                    (CompareOp::Gt | CompareOp::Ge, false, None) => (-1, most),
                    _ => (most, most),
                };
                self.compared(left, bounds);
                right.iter().for_each(|r| self.compared(r, bounds));
            }
            ExprKind::Unary(UnaryOp::Not, a) => self.expr(a, !want),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, want);
                self.expr(b, want);
            }
            ExprKind::Cond(_, a, b) => {
                self.expr(a, want);
                self.expr(b, want);
            }
            ExprKind::Quantifier { body, .. } => self.expr(body, want),
            _ => {}
        }
    }
}

/// The values that an expression may have, roughly.
fn interval(e: &Expr) -> (i32, i32) {
    let cap = |(lo, hi): (i64, i64)| {
        let most = i64::from(UNKNOWN);
        (lo.clamp(-most, most) as i32, hi.clamp(-most, most) as i32)
    };
    let wide = |e: &Expr| {
        let (lo, hi) = interval(e);
        (i64::from(lo), i64::from(hi))
    };
    match &e.kind {
        ExprKind::Const(c) => (*c, *c),
        ExprKind::Read(place) => cap((i64::from(place.lo), i64::from(place.hi))),
        ExprKind::Unary(UnaryOp::Neg, a) => {
            let (lo, hi) = wide(a);
            cap((-hi, -lo))
        }
        ExprKind::Cond(_, a, b) => {
            let (a, b) = (wide(a), wide(b));
            cap((a.0.min(b.0), a.1.max(b.1)))
        }
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
            let (a, b) = (wide(a), wide(b));
            cap(match op {
                BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
                BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
                _ => {
                    let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                    let (lo, hi) = (all.iter().min(), all.iter().max());
                    (lo.copied().unwrap_or(0), hi.copied().unwrap_or(0))
                }
            })
        }
        _ => (-UNKNOWN, UNKNOWN),
    }
}

impl Widening {
    /// Reads the constants of a network and of a claim, which is violated where it is `want`.
    pub(crate) fn new(network: &Network, layout: &Layout, claim: &Expr, want: bool) -> Widening {
        let fixed = layout.fixed_clocks.len();
        let own = layout.clocks.first().map_or(0, Vec::len);
        let none: Row = vec![(-1, -1); fixed + own];
        let mut global = none.clone();
        let mut read = |e: &Expr, process: Option<usize>, want: bool| {
            let mut found = Comparisons {
                layout,
                process,
                row: none.clone(),
                global: &mut global,
            };
            found.expr(e, want);
            found.row
        };
        read(claim, None, want);
        let mut local = Vec::new();
        for (p, process) in network.processes.iter().enumerate() {
            let mut rows: Vec<Row> = vec![none.clone(); process.locations.len()];
            for (l, location) in process.locations.iter().enumerate() {
                if let Some(invariant) = &location.invariant {
                    rows[l] = read(invariant, Some(p), true);
                }
            }
            let mut edges = Vec::new();
            for edge in &process.edges {
                let row = edge.guard.as_ref().map(|g| read(g, Some(p), true));
                let mut set = vec![false; fixed + own];
                for update in &edge.updates {
                    if let ExprKind::SetClock { clock, .. } = &update.kind
                        && let (ClockBase::Clock(c), true) = (clock.base, clock.steps.is_empty())
                    {
                        let owner = layout.clock_owner[c.index()];
                        let list = match owner {
                            None => &layout.fixed_clocks,
                            Some(e) => &layout.clocks[e as usize],
                        };
                        let mine = owner.is_none() || owner == layout.process_owner[p];
                        let at = list.iter().position(|x| *x == c.index()).unwrap_or(0);
                        set[at + if owner.is_none() { 0 } else { fixed }] |= mine;
                    }
                }
                edges.push((
                    edge.source as usize,
                    edge.target as usize,
                    row.unwrap_or_else(|| none.clone()),
                    set,
                ));
            }
            let mut changed = true;
            while changed {
                changed = false;
                for (source, target, guard, set) in &edges {
                    for k in 0..fixed + own {
                        let mut best = rows[*source][k];
                        raise(&mut best, guard[k]);
                        if !set[k] {
                            raise(&mut best, rows[*target][k]);
                        }
                        changed |= best != rows[*source][k];
                        rows[*source][k] = best;
                    }
                }
            }
            local.push(rows);
        }
        // Elements outside of a view may be in any location.
        for (p, rows) in local.iter().enumerate() {
            if layout.process_owner[p].is_some() {
                for row in rows {
                    (0..fixed).for_each(|k| raise(&mut global[k], row[k]));
                }
            }
        }
        // What is copied from another clock is compared as that one is.
        Widening {
            local,
            global,
            fixed,
            own,
        }
    }

    /// The bounds `L` and `U` of the clocks of a configuration; entry 0 stands for zero.
    pub(crate) fn of(&self, layout: &Layout, state: &State) -> (Vec<i32>, Vec<i32>) {
        let mut rows: Vec<(i32, i32)> = vec![(0, 0)];
        rows.extend(&self.global[..self.fixed]);
        for p in &layout.fixed_processes {
            let row = &self.local[*p][state.locations[*p] as usize];
            (0..self.fixed).for_each(|k| raise(&mut rows[1 + k], row[k]));
        }
        for e in 0..state.members {
            let start = rows.len();
            rows.extend(&self.global[self.fixed..]);
            for p in &layout.processes[e] {
                let row = &self.local[*p][state.locations[*p] as usize];
                (0..self.own).for_each(|k| raise(&mut rows[start + k], row[self.fixed + k]));
            }
        }
        rows.into_iter().unzip()
    }
}
