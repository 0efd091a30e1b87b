//! Whether a swap of two elements maps the network to itself.
//!
//! Two expressions are *alike* under a swap if, for every state and frame, the value of the second
//! at the images is the image of the value of the first, with the image of its effects, and one
//! fails exactly if the other does. Alikeness follows the structure: constants of an element type
//! must be images of each other and all others equal; a place must be the image of the other for
//! all values of its indices, which are tried one by one. Edges are compared in their order, with
//! all their parts, and so are statements. A process must be alike to its image, whole.

mod bodies;

use super::action::{Action, Coordinates, Swap};
use super::types::{Frame, Types};
use crate::eval::{Eval, Failure, fail};
use std::collections::HashSet;
use zonelens_analysis::network::{
    Base, BinaryOp, Block, Call, ClockBase, ClockRef, Edge, Expr, ExprKind, FunctionId, Id,
    IndexRange, IndexStep, Network, Place,
};

/// The most values of indices that are tried for one certificate.
const MOST_WORK: u64 = 100_000_000;

/// The two sides of a comparison: the types of their slots and results.
#[derive(Clone, Default)]
struct Frames {
    a: Frame,
    b: Frame,
    results: Vec<Option<usize>>,
}

/// Compares the network with its image under one swap.
pub(crate) struct Alike<'t, 'n> {
    pub network: &'n Network,
    pub action: &'n Action,
    pub types: &'t Types<'n>,
    pub swap: Swap,
    /// Functions that were compared.
    pub done: HashSet<(FunctionId, FunctionId)>,
    /// The work that is left.
    pub left: u64,
}

impl<'t, 'n> Alike<'t, 'n> {
    pub(crate) fn new(
        network: &'n Network,
        action: &'n Action,
        types: &'t Types<'n>,
        swap: Swap,
    ) -> Alike<'t, 'n> {
        Alike {
            network,
            action,
            types,
            swap,
            done: HashSet::new(),
            left: MOST_WORK,
        }
    }

    /// Compares everything but the query.
    pub(crate) fn network(&mut self) -> Eval<()> {
        let network = self.network;
        for (at, channel) in network.channels.iter().enumerate() {
            let to = Action::moved(self.swap, &self.action.channels, at).unwrap_or(at);
            let image = &network.channels[Id::at(to)];
            if (channel.urgent, channel.broadcast, channel.priority)
                != (image.urgent, image.broadcast, image.priority)
            {
                return fail("channels of the elements differ in kind or priority");
            }
        }
        for (at, process) in network.processes.iter().enumerate() {
            let to = Action::moved(self.swap, &self.action.processes, at).unwrap_or(at);
            let image = &network.processes[to];
            let differ = || Failure {
                message: format!("`{}` and `{}` differ", process.name, image.name),
                span: Some(process.span),
            };
            if process.priority != image.priority
                || process.locations.len() != image.locations.len()
                || process.edges.len() != image.edges.len()
            {
                return Err(differ());
            }
            for (own, other) in process.locations.iter().zip(&image.locations) {
                if (own.kind, own.frame) != (other.kind, other.frame) {
                    return Err(differ());
                }
                let (own, other) = (own.invariant.as_ref(), other.invariant.as_ref());
                self.both(own, other, &mut Frames::default())?;
            }
            for (own, other) in process.edges.iter().zip(&image.edges) {
                self.edge(own, other).map_err(|failure| Failure {
                    span: failure.span.or(own.spans.first().copied()),
                    ..failure
                })?;
            }
        }
        let hooks = network.before_update.iter().chain(&network.after_update);
        for update in hooks {
            self.effect(update, update, &mut Frames::default())?;
        }
        Ok(())
    }

    /// Compares a condition of the query with itself.
    pub(crate) fn condition(&mut self, condition: &Expr) -> Eval<()> {
        self.expr(condition, condition, None, &mut Frames::default())
    }

    fn asymmetric<T>(&self, what: &str) -> Eval<T> {
        let (a, b) = self.swap.pair;
        fail(format!(
            "{what} when the elements {a} and {b} are exchanged"
        ))
    }

    fn both(&mut self, a: Option<&Expr>, b: Option<&Expr>, f: &mut Frames) -> Eval<()> {
        match (a, b) {
            (None, None) => Ok(()),
            (Some(a), Some(b)) => self.expr(a, b, None, f),
            _ => self.asymmetric("a condition disappears"),
        }
    }

    fn edge(&mut self, a: &Edge, b: &Edge) -> Eval<()> {
        if (
            a.source,
            a.target,
            a.frame,
            a.selects.len(),
            a.updates.len(),
        ) != (
            b.source,
            b.target,
            b.frame,
            b.selects.len(),
            b.updates.len(),
        ) {
            return self.asymmetric("an edge changes");
        }
        let mut f = Frames::default();
        for (own, other) in a.selects.iter().zip(&b.selects) {
            let set = self.bind((own, own.slot), (other, other.slot), 1, &mut f)?;
            self.ranges(&own.range, &other.range, set.first().copied().flatten())?;
        }
        self.both(a.guard.as_ref(), b.guard.as_ref(), &mut f)?;
        match (&a.sync, &b.sync) {
            (None, None) => {}
            (Some(own), Some(other)) if own.direction == other.direction => {
                let (own, other) = (&own.channel, &other.channel);
                let bases = (own.base.index(), other.base.index());
                let table = &self.action.channels;
                self.addresses(bases, (&own.steps, &other.steps), table, &mut f)?;
            }
            _ => return self.asymmetric("a synchronisation changes"),
        }
        for (own, other) in a.updates.iter().zip(&b.updates) {
            self.effect(own, other, &mut f)?;
        }
        Ok(())
    }

    /// Compares expressions for their effect; their values are not used.
    fn effect(&mut self, a: &Expr, b: &Expr, f: &mut Frames) -> Eval<()> {
        let set = self.types.set(self.types.of_expr(a));
        self.expr(a, b, set, f)
    }

    /// Makes the types of slots known on both sides; returns them.
    fn bind<T>(
        &self,
        (a, slot): (&T, u32),
        (b, other): (&T, u32),
        count: usize,
        f: &mut Frames,
    ) -> Eval<Vec<Option<usize>>> {
        let nodes = (self.types.bound_by(a), self.types.bound_by(b));
        let (Some(own), Some(others), true) = (nodes.0, nodes.1, slot == other) else {
            return self.asymmetric("a variable changes");
        };
        let mut sets = Vec::new();
        for k in 0..count as u32 {
            let set = self.types.set(own + k);
            if set != self.types.set(others + k) {
                return self.asymmetric("the type of a variable changes");
            }
            f.a.insert(slot + k, own + k);
            f.b.insert(slot + k, others + k);
            sets.push(set);
        }
        Ok(sets)
    }

    /// Ranges must be equal and contain both elements or neither.
    fn ranges(&self, a: &IndexRange, b: &IndexRange, set: Option<usize>) -> Eval<()> {
        let last = i64::from(a.lo) + i64::from(a.len) - 1;
        let last = last.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        match (a.lo, a.len) == (b.lo, b.len) && self.closed(set, (a.lo, last)) {
            true => Ok(()),
            false => self.asymmetric("a range changes"),
        }
    }

    fn closed(&self, set: Option<usize>, range: (i32, i32)) -> bool {
        self.action.is_closed(self.swap, set, range)
    }

    fn tr(&self, set: Option<usize>, value: i32) -> i32 {
        self.action.swapped(self.swap, set, value)
    }

    /// Compares expressions whose values are elements of a set, or plain.
    fn expr(&mut self, a: &Expr, b: &Expr, set: Option<usize>, f: &mut Frames) -> Eval<()> {
        self.compare(a, b, set, f).map_err(|failure| Failure {
            span: failure.span.or(Some(a.span)),
            ..failure
        })
    }

    fn compare(&mut self, a: &Expr, b: &Expr, set: Option<usize>, f: &mut Frames) -> Eval<()> {
        use ExprKind as K;
        let changes = "an expression changes";
        match (&a.kind, &b.kind) {
            (K::Const(x), K::Const(y)) => match self.tr(set, *x) == *y {
                true => Ok(()),
                false => self.asymmetric("a constant changes"),
            },
            (K::Read(p), K::Read(q)) => self.place(p, q, set, f),
            (K::Cond(c, x, y), K::Cond(d, v, w)) => {
                self.expr(c, d, None, f)?;
                self.expr(x, v, set, f)?;
                self.expr(y, w, set, f)
            }
            (
                K::Assign {
                    place: p,
                    op: o,
                    value: x,
                    old_value: old,
                },
                K::Assign {
                    place: q,
                    op: n,
                    value: y,
                    old_value: new,
                },
            ) if (o, old) == (n, new) => {
                let node = self.types.of_expr(a);
                let own = self.types.set(node);
                self.expr(x, y, own, f)?;
                self.place(p, q, own, f)?;
                match own == set && self.closed(own, (p.lo, p.hi)) {
                    true => Ok(()),
                    false => self.asymmetric("an assignment changes"),
                }
            }
            (K::Call(c), K::Call(d)) => {
                self.call(c, d, f)?;
                let results = |call: &Call| {
                    let signature = self.types.signature(call.function);
                    let first = signature.and_then(|s| s.results.first().copied());
                    first.map(|node| self.types.set(node))
                };
                match results(c).is_none_or(|own| own == set) && results(c) == results(d) {
                    true => Ok(()),
                    false => self.asymmetric("a result changes"),
                }
            }
            // All others are plain.
            _ if set.is_some() => self.asymmetric(changes),
            (K::Unary(o, x), K::Unary(n, y)) if o == n => self.expr(x, y, None, f),
            (K::Binary(o, x, y), K::Binary(n, v, w)) if o == n => {
                let equality = matches!(o, BinaryOp::Eq | BinaryOp::Ne);
                if let (true, K::Const(x), K::Const(y), K::Const(v), K::Const(w)) =
                    (equality, &x.kind, &y.kind, &v.kind, &w.kind)
                {
                    return match (x == y) == (v == w) {
                        true => Ok(()),
                        false => self.asymmetric("a comparison of constants changes"),
                    };
                }
                let of = |e: &Expr| self.types.set(self.types.of_expr(e));
                let operands = equality.then(|| of(x).or(of(y))).flatten();
                self.expr(x, v, operands, f)?;
                self.expr(y, w, operands, f)
            }
            (
                K::Copy {
                    target: t,
                    source: s,
                    len: l,
                },
                K::Copy {
                    target: u,
                    source: r,
                    len: m,
                },
            ) if l == m => {
                let (source, target) = (self.block(s, r, *l, f)?, self.cells(t, u, *l, f)?);
                self.same_order(&source, &target)
            }
            (
                K::SameBlock {
                    left: x,
                    right: y,
                    len: l,
                    negated: o,
                },
                K::SameBlock {
                    left: v,
                    right: w,
                    len: m,
                    negated: n,
                },
            ) if (l, o) == (m, n) => {
                let (left, right) = (self.block(x, v, *l, f)?, self.block(y, w, *l, f)?);
                self.same_order(&left, &right)
            }
            (
                K::Quantifier {
                    kind: k,
                    slot: s,
                    range: r,
                    body: x,
                },
                K::Quantifier {
                    kind: m,
                    slot: t,
                    range: q,
                    body: y,
                },
            ) if k == m => {
                let before = f.clone();
                let sets = self.bind((a, *s), (b, *t), 1, f)?;
                self.ranges(r, q, sets.first().copied().flatten())?;
                self.expr(x, y, None, f)?;
                *f = before;
                Ok(())
            }
            (
                K::Clock {
                    left: l,
                    right: r,
                    op: o,
                    bound: x,
                },
                K::Clock {
                    left: m,
                    right: q,
                    op: n,
                    bound: y,
                },
            ) if o == n => {
                self.clock(l, m, f)?;
                match (r, q) {
                    (None, None) => {}
                    (Some(r), Some(q)) => self.clock(r, q, f)?,
                    _ => return self.asymmetric(changes),
                }
                self.expr(x, y, None, f)
            }
            (K::Rate { clock: c, rate: x }, K::Rate { clock: d, rate: y })
            | (K::SetClock { clock: c, value: x }, K::SetClock { clock: d, value: y }) => {
                self.clock(c, d, f)?;
                self.expr(x, y, None, f)
            }
            (
                K::CopyClock {
                    target: t,
                    source: s,
                },
                K::CopyClock {
                    target: u,
                    source: r,
                },
            ) => {
                self.clock(t, u, f)?;
                self.clock(s, r, f)
            }
            (
                K::At {
                    process: p,
                    location: l,
                },
                K::At {
                    process: q,
                    location: m,
                },
            ) if l == m => self.process(p, q, f),
            (K::LocationOf(p), K::LocationOf(q)) => self.process(p, q, f),
            (K::Deadlock, K::Deadlock) => Ok(()),
            _ => self.asymmetric(changes),
        }
    }

    fn process(
        &mut self,
        a: &zonelens_analysis::network::ProcessRef,
        b: &zonelens_analysis::network::ProcessRef,
        f: &mut Frames,
    ) -> Eval<()> {
        let bases = (a.base.index(), b.base.index());
        let table = &self.action.processes;
        self.addresses(bases, (&a.steps, &b.steps), table, f)
    }

    fn clock(&mut self, a: &ClockRef, b: &ClockRef, f: &mut Frames) -> Eval<()> {
        match (a.base, b.base) {
            (ClockBase::Clock(x), ClockBase::Clock(y)) => {
                let table = &self.action.clocks;
                self.addresses((x.index(), y.index()), (&a.steps, &b.steps), table, f)
            }
            _ => self.asymmetric("a clock changes"),
        }
    }

    /// All positions that the first reference may denote are mapped to those that the second one
    /// denotes for the images of the indices.
    fn addresses(
        &mut self,
        bases: (usize, usize),
        steps: (&[IndexStep], &[IndexStep]),
        table: &Coordinates,
        f: &mut Frames,
    ) -> Eval<()> {
        let offsets = self.offsets(steps, f)?;
        let swap = self.swap;
        let alike =
            |(a, b): &(usize, usize)| Action::moved(swap, table, bases.0 + a) == Some(bases.1 + b);
        match offsets.iter().all(alike) {
            true => Ok(()),
            false => self.asymmetric("a reference changes"),
        }
    }

    /// The distances from the bases for all values of the indices, and for their images.
    fn offsets(
        &mut self,
        (a, b): (&[IndexStep], &[IndexStep]),
        f: &mut Frames,
    ) -> Eval<Vec<(usize, usize)>> {
        if a.len() != b.len() {
            return self.asymmetric("an index changes");
        }
        let mut offsets = vec![(0, 0)];
        for (own, other) in a.iter().zip(b) {
            let set = self.types.set(self.types.of_expr(&own.index));
            self.ranges(&own.range, &other.range, set)?;
            self.expr(&own.index, &other.index, set, f)?;
            let work = offsets.len() as u64 * u64::from(own.range.len);
            self.left = self.left.saturating_sub(work + 1);
            if self.left == 0 {
                return fail("the symmetry takes too long to check");
            }
            let mut longer = Vec::with_capacity(work as usize);
            for (x, y) in offsets {
                for k in 0..own.range.len {
                    let image = self.tr(set, own.range.lo.wrapping_add(k as i32));
                    let image = i64::from(image) - i64::from(own.range.lo);
                    longer.push((
                        x + k as usize * own.stride as usize,
                        y + image as usize * other.stride as usize,
                    ));
                }
            }
            offsets = longer;
        }
        self.left = self.left.saturating_sub(offsets.len() as u64);
        Ok(offsets)
    }

    fn place(&mut self, a: &Place, b: &Place, set: Option<usize>, f: &mut Frames) -> Eval<()> {
        if (a.lo, a.hi) != (b.lo, b.hi) {
            return self.asymmetric("the range of a variable changes");
        }
        let offsets = self.offsets((&a.steps, &b.steps), f)?;
        let alike = match (a.base, b.base) {
            (Base::Cell(x), Base::Cell(y)) => offsets.iter().all(|(own, other)| {
                let (own, other) = (x.index() + own, y.index() + other);
                Action::moved(self.swap, &self.action.cells, own) == Some(other)
                    && self.action.holds.get(own) == Some(&set)
            }),
            (Base::Constant(x), Base::Constant(y)) => offsets.iter().all(|(own, other)| {
                let value = |at: usize| self.network.constants.get(at).copied();
                let own = value(x as usize + own).map(|v| self.tr(set, v));
                own.is_some() && own == value(y as usize + other)
            }),
            (Base::Slot(x), Base::Slot(y)) if x == y => offsets.iter().all(|(own, other)| {
                let slot = x + *own as u32;
                let of = |frame: &Frame| frame.get(&slot).map(|node| self.types.set(*node));
                own == other && of(&f.a) == Some(set) && of(&f.b) == Some(set)
            }),
            _ => false,
        };
        match alike {
            true => Ok(()),
            false => self.asymmetric("a variable changes"),
        }
    }

    /// How a swap reorders the cells of a stored block; the types of their images are the same.
    fn cells(&mut self, a: &Place, b: &Place, len: u32, f: &mut Frames) -> Eval<Order> {
        let offsets = self.offsets((&a.steps, &b.steps), f)?;
        let mut order: Option<Order> = None;
        for (own, other) in offsets {
            let mut here = Vec::new();
            for k in 0..len as usize {
                here.push(match (a.base, b.base) {
                    (Base::Cell(x), Base::Cell(y)) => {
                        let at = x.index() + own + k;
                        let to = Action::moved(self.swap, &self.action.cells, at);
                        let to = to.and_then(|to| to.checked_sub(y.index() + other));
                        let set = self.action.holds.get(at).copied().flatten();
                        to.filter(|to| *to < len as usize).map(|to| (to, set))
                    }
                    (Base::Slot(x), Base::Slot(y)) if x == y && own == other => {
                        let slot = x + (own + k) as u32;
                        let of = |frame: &Frame| frame.get(&slot).map(|n| self.types.set(*n));
                        of(&f.a)
                            .filter(|set| of(&f.b) == Some(*set))
                            .map(|set| (k, set))
                    }
                    _ => None,
                });
            }
            let here: Option<Order> = here.into_iter().collect();
            let Some(here) = here else {
                return self.asymmetric("a struct or array changes");
            };
            if order.get_or_insert_with(|| here.clone()) != &here {
                return self.asymmetric("a struct or array changes");
            }
        }
        Ok(order.unwrap_or_default())
    }

    fn same_order(&self, a: &Order, b: &Order) -> Eval<()> {
        match a == b {
            true => Ok(()),
            false => self.asymmetric("the order of a struct or array changes"),
        }
    }

    fn block(&mut self, a: &Block, b: &Block, len: u32, f: &mut Frames) -> Eval<Order> {
        match (a, b) {
            (Block::Place(p), Block::Place(q)) => self.cells(p, q, len, f),
            (Block::Call(c), Block::Call(d)) => {
                self.call(c, d, f)?;
                let results = |call: &Call| {
                    let signature = self.types.signature(call.function);
                    let results = signature.map(|s| s.results.iter().enumerate());
                    let results = results.into_iter().flatten();
                    results
                        .map(|(k, node)| (k, self.types.set(*node)))
                        .collect()
                };
                let (own, other): (Order, Order) = (results(c), results(d));
                self.same_order(&own, &other)?;
                Ok(own)
            }
            (Block::Cond(c, x, y), Block::Cond(d, v, w)) => {
                self.expr(c, d, None, f)?;
                let (own, other) = (self.block(x, v, len, f)?, self.block(y, w, len, f)?);
                self.same_order(&own, &other)?;
                Ok(own)
            }
            (
                Block::Assign {
                    target: t,
                    source: s,
                    len: l,
                },
                Block::Assign {
                    target: u,
                    source: r,
                    len: m,
                },
            ) if l == m => {
                let (source, target) = (self.block(s, r, *l, f)?, self.cells(t, u, *l, f)?);
                self.same_order(&source, &target)?;
                Ok(target)
            }
            _ => self.asymmetric("a struct or array changes"),
        }
    }
}

/// Where each cell of a block goes, and the set whose elements it holds.
type Order = Vec<(usize, Option<usize>)>;
