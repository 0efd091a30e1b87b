//! A seeded bug: a walk over the resolved query that considers only indices of the set's own
//! dimensions and never enters functions. The random queries of `breaking_tests` must notice it.

use super::tables::{Coordinate, Tables};
use std::collections::BTreeSet;
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, BoundsExpr, ClockBase, ClockRef, Expr, ExprKind, IndexStep,
    Network, Place, ProcessRef, Query, QueryKind, ScalarsetId,
};

/// The elements of `candidates` that the query names, from static references and from numbers that
/// are combined with elements.
pub(super) fn named_elements(
    network: &Network,
    query: &Query,
    candidates: &[ScalarsetId],
) -> BTreeSet<(ScalarsetId, u32)> {
    let mut named: BTreeSet<(ScalarsetId, u32)> = query.named_elements.iter().copied().collect();
    let Some(tables) = Tables::new(network, candidates, &BTreeSet::new()) else {
        return named;
    };
    let mut walker = Walker {
        network,
        tables: &tables,
        named: &mut named,
    };
    match &query.kind {
        QueryKind::Path(_, e) => walker.expr(e),
        QueryKind::LeadsTo(p, q) => {
            walker.expr(p);
            walker.expr(q);
        }
        QueryKind::Bounds {
            condition, exprs, ..
        } => {
            condition.iter().for_each(|e| walker.expr(e));
            for e in exprs {
                match e {
                    BoundsExpr::Int(e) => walker.expr(e),
                    BoundsExpr::Clock { left, right } => {
                        walker.clock(left);
                        right.iter().for_each(|c| walker.clock(c));
                    }
                }
            }
        }
    }
    named
}

struct Walker<'a> {
    network: &'a Network,
    tables: &'a Tables,
    named: &'a mut BTreeSet<(ScalarsetId, u32)>,
}

impl Walker<'_> {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Read(place) => self.place(place),
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Binary(op, a, b) => {
                self.meeting(*op, a, b);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Cond(c, a, b) => [c, a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::SameBlock { left, right, .. } => {
                self.block(left);
                self.block(right);
            }
            ExprKind::Call(call) => call.args.iter().for_each(|arg| self.arg(arg)),
            ExprKind::Quantifier { range, body, .. } => {
                // A range over a part of a set names its elements.
                if let Some(set) = range.scalarset {
                    let whole = &self.network.scalarsets[set];
                    if (range.lo, range.len) != (whole.first, whole.size) {
                        self.all(set);
                    }
                }
                self.expr(body);
            }
            ExprKind::Clock {
                left, right, bound, ..
            } => {
                self.clock(left);
                right.iter().for_each(|c| self.clock(c));
                self.expr(bound);
            }
            ExprKind::At { process, .. } | ExprKind::LocationOf(process) => self.process(process),
            _ => {}
        }
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Value(e) => {
                // The function's use of a number is not analysed: it may be an element of any
                // detected set.
                if !matches!(&e.kind, ExprKind::Read(place) if place.scalarset.is_some()) {
                    let detected = self.tables.sets.iter().map(|s| s.id);
                    let detected: Vec<ScalarsetId> = detected
                        .filter(|id| self.network.scalarsets[*id].detected)
                        .collect();
                    detected.into_iter().for_each(|id| self.all(id));
                }
                self.expr(e);
            }
            Arg::Block(b, _) => self.block(b),
            Arg::Ref(p) => self.place(p),
            Arg::Clock(c) => self.clock(c),
            Arg::Mixed(p, c) => {
                self.place(p);
                self.clock(c);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        if let Block::Place(place) = block {
            self.place(place);
        }
    }

    /// A number compared with an element names it; anything other than an element of the same set
    /// names all.
    fn meeting(&mut self, op: BinaryOp, a: &Expr, b: &Expr) {
        let holds = |e: &Expr| match &e.kind {
            ExprKind::Read(place) => place.scalarset,
            _ => None,
        };
        for (side, other) in [(a, b), (b, a)] {
            let Some(set) = holds(side) else { continue };
            match (&other.kind, op) {
                (ExprKind::Const(c), BinaryOp::Eq | BinaryOp::Ne) => {
                    let element = c - self.network.scalarsets[set].first;
                    self.named
                        .extend(u32::try_from(element).ok().map(|e| (set, e)));
                }
                _ if holds(other) == Some(set) => {}
                _ => self.all(set),
            }
        }
    }

    /// The coordinates of a base that no computed index ranges over.
    fn coordinates(&mut self, coordinates: &[Coordinate], steps: &[IndexStep]) {
        for c in coordinates {
            let set = &self.tables.sets[c.set];
            let computed = steps
                .iter()
                .any(|s| i64::from(s.stride) == c.stride && s.range.scalarset == Some(set.id));
            if !computed {
                self.named.insert((set.id, u32::from(c.element)));
            }
        }
        for step in steps {
            self.expr(&step.index);
            let Some(set) = step.range.scalarset else {
                // Permutations do not move the data that an element is used to look up here.
                if let ExprKind::Read(place) = &step.index.kind {
                    place.scalarset.into_iter().for_each(|set| self.all(set));
                }
                continue;
            };
            match &step.index.kind {
                ExprKind::Const(c) => {
                    let element = c - self.network.scalarsets[set].first;
                    self.named
                        .extend(u32::try_from(element).ok().map(|e| (set, e)));
                }
                ExprKind::Read(place) if place.scalarset == Some(set) => {}
                // An integer as index: it may treat elements differently.
                _ => self.all(set),
            }
        }
    }

    fn all(&mut self, set: ScalarsetId) {
        let size = self.network.scalarsets[set].size;
        self.named.extend((0..size).map(|e| (set, e)));
    }

    fn place(&mut self, place: &Place) {
        let coordinates = match place.base {
            Base::Cell(c) => self
                .tables
                .cells
                .get(c.index())
                .cloned()
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        self.coordinates(&coordinates, &place.steps);
    }

    fn clock(&mut self, clock: &ClockRef) {
        let coordinates = match clock.base {
            ClockBase::Clock(c) => self
                .tables
                .clocks
                .get(c.index())
                .cloned()
                .unwrap_or_default(),
            ClockBase::Ref(_) => Vec::new(),
        };
        self.coordinates(&coordinates, &clock.steps);
    }

    fn process(&mut self, process: &ProcessRef) {
        let coordinates = self
            .tables
            .processes
            .get(process.base.index())
            .cloned()
            .unwrap_or_default();
        self.coordinates(&coordinates, &process.steps);
    }
}
