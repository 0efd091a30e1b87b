//! What statements read and write, for loops over elements and for receivers of a broadcast: both
//! run in the order of the elements, which a permutation changes.
//!
//! Two pieces of code may change places if neither writes what the other reads or writes. It is no
//! obstacle that both add numbers that are not negative to the same variable, or both subtract
//! them, or both take the maximum or the minimum, or both set it to the same constant: the result
//! is the same, and so is whether a value leaves the range, because the values only rise or only
//! fall. A round of a loop may also write the cell of its own element of an array, because another
//! round writes that of another element.

use super::types::Types;
use crate::eval::{Eval, Failure, fail};
use std::collections::HashSet;
use std::ops::Range;
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, Call, CellId, ClockBase, ClockRef, Edge, Expr, ExprKind, IndexStep,
    Network, Place, Stmt, UnaryOp,
};

/// Numbers that two pieces of code may add without regard to their order.
const LARGE: i32 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Cell,
    Clock,
    Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Read,
    Write,
    /// By one of the operators whose order does not matter.
    Accumulate(BinaryOp),
    /// Set to a constant.
    Put(i32),
}

#[derive(Clone, Debug)]
struct Access {
    space: Space,
    range: Range<usize>,
    how: How,
    /// The stride of the index that is the loop's variable.
    own: Option<u32>,
}

impl Access {
    fn hinders(&self, other: &Access, rounds: bool) -> bool {
        let apart = self.space != other.space
            || self.range.start >= other.range.end
            || other.range.start >= self.range.end;
        let harmless = match (self.how, other.how) {
            (How::Read, How::Read) => true,
            (How::Accumulate(a), How::Accumulate(b)) => a == b,
            (How::Put(a), How::Put(b)) => a == b,
            _ => false,
        };
        let own = rounds && self.own.is_some() && self.own == other.own;
        !(apart || harmless || own)
    }
}

/// What a piece of code does.
struct Effects<'n> {
    network: &'n Network,
    all: Vec<Access>,
    /// Slots that hold the loop's variable, in the present frame.
    loop_slots: Vec<u32>,
    /// Whether the present frame is that of the loop; slots of called functions are their own.
    outermost: bool,
    /// Slots that are set in each round before they are used.
    fresh: HashSet<u32>,
    /// What is returned, from the loop's own function.
    returned: Vec<Option<Option<i32>>>,
    breaks: bool,
    depth: u32,
}

/// Whether an expression reads a slot, or calls a function.
pub(crate) fn reads_slot(expr: &Expr, slot: u32) -> bool {
    match &expr.kind {
        ExprKind::Const(_) => false,
        ExprKind::Read(place) => {
            place.base == Base::Slot(slot)
                || !matches!(
                    place.base,
                    Base::Cell(_) | Base::Constant(_) | Base::Slot(_)
                )
                || place.steps.iter().any(|s| reads_slot(&s.index, slot))
                || matches!(place.base, Base::Slot(_)) && !place.steps.is_empty()
        }
        ExprKind::Unary(_, a) => reads_slot(a, slot),
        ExprKind::Binary(_, a, b) => reads_slot(a, slot) || reads_slot(b, slot),
        ExprKind::Cond(c, a, b) => [c, a, b].into_iter().any(|e| reads_slot(e, slot)),
        ExprKind::Call(call) => call.args.iter().any(|arg| match arg {
            Arg::Value(e) => reads_slot(e, slot),
            _ => true,
        }),
        _ => true,
    }
}

impl<'n> Effects<'n> {
    fn new(network: &'n Network) -> Effects<'n> {
        Effects {
            network,
            all: Vec::new(),
            loop_slots: Vec::new(),
            outermost: true,
            fresh: HashSet::new(),
            returned: Vec::new(),
            breaks: false,
            depth: 0,
        }
    }

    fn access(&mut self, space: Space, base: usize, steps: &[IndexStep], len: u32, how: How) {
        let reach: usize = (steps.iter())
            .map(|s| s.stride as usize * s.range.len.saturating_sub(1) as usize)
            .sum();
        let own = steps.iter().find(|step| self.is_loop_variable(&step.index));
        let own = own
            .filter(|step| step.range.len > 1)
            .map(|step| step.stride);
        self.all.push(Access {
            space,
            range: base..base + reach + len as usize,
            how,
            own,
        });
    }

    fn is_loop_variable(&self, index: &Expr) -> bool {
        match &index.kind {
            ExprKind::Read(Place {
                base: Base::Slot(s),
                steps,
                ..
            }) => steps.is_empty() && self.loop_slots.contains(s),
            _ => false,
        }
    }

    fn steps(&mut self, steps: &[IndexStep]) -> Eval<()> {
        steps.iter().try_for_each(|step| self.expr(&step.index))
    }

    fn place(&mut self, place: &Place, len: u32, how: How) -> Eval<()> {
        self.steps(&place.steps)?;
        match place.base {
            Base::Cell(c) => self.access(Space::Cell, c.index(), &place.steps, len, how),
            Base::Constant(_) => {}
            Base::Slot(s) if self.outermost => {
                self.access(Space::Slot, s as usize, &place.steps, len, how);
            }
            Base::Slot(_) => {}
            Base::Ref(_) => return fail("a reference hides what a loop writes"),
        }
        Ok(())
    }

    fn clock(&mut self, clock: &ClockRef, how: How) -> Eval<()> {
        self.steps(&clock.steps)?;
        match clock.base {
            ClockBase::Clock(c) => self.access(Space::Clock, c.index(), &clock.steps, 1, how),
            ClockBase::Ref(_) => return fail("a reference hides what a loop writes"),
        }
        Ok(())
    }

    /// An expression whose value is not used.
    fn effect(&mut self, expr: &Expr) -> Eval<()> {
        let ExprKind::Assign {
            place, op, value, ..
        } = &expr.kind
        else {
            return self.expr(expr);
        };
        let (op, value) = match (op, &value.kind) {
            (Some(op), _) => (Some(*op), &**value),
            // `c = c + e`
            (None, ExprKind::Binary(op, old, e)) if is_read_of(old, place) => (Some(*op), &**e),
            (None, ExprKind::Binary(op, e, old))
                if is_read_of(old, place) && *op != BinaryOp::Sub =>
            {
                (Some(*op), &**e)
            }
            (None, _) => (None, &**value),
        };
        let how = match (op, &value.kind) {
            (None, ExprKind::Const(c)) => How::Put(*c),
            (Some(op @ (BinaryOp::Add | BinaryOp::Sub)), _)
                if self.is_natural(value)
                    && (-LARGE..=LARGE).contains(&place.lo)
                    && place.hi <= LARGE =>
            {
                How::Accumulate(op)
            }
            (Some(op @ (BinaryOp::Min | BinaryOp::Max)), _) => How::Accumulate(op),
            // The other side is not always evaluated, so it must not fail.
            (Some(op @ (BinaryOp::And | BinaryOp::Or)), _) if self.cannot_fail(value) => {
                How::Accumulate(op)
            }
            _ => return self.expr(expr),
        };
        self.expr(value)?;
        self.place(place, 1, how)
    }

    /// Whether the value is between 0 and a large number.
    fn is_natural(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(c) => (0..=LARGE).contains(c),
            ExprKind::Read(place) => match place.base {
                Base::Cell(c) => {
                    let reach: u32 = (place.steps.iter())
                        .map(|s| s.stride * s.range.len.saturating_sub(1))
                        .sum();
                    let mut cells = (c.0..=c.0 + reach).map(|c| self.network.cells.get(CellId(c)));
                    cells.all(|cell| cell.is_some_and(|c| c.lo >= 0 && c.hi <= LARGE))
                }
                _ => false,
            },
            ExprKind::Unary(UnaryOp::Not, _) | ExprKind::Quantifier { .. } => !matches!(
                expr.kind,
                ExprKind::Quantifier {
                    kind: zonelens_syntax::ast::QuantifierKind::Sum,
                    ..
                }
            ),
            ExprKind::Binary(op, ..) => matches!(
                op,
                BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
            ),
            ExprKind::Cond(_, a, b) => self.is_natural(a) && self.is_natural(b),
            ExprKind::At { .. } => true,
            _ => false,
        }
    }

    /// Whether evaluation succeeds in every state and has no effect.
    fn cannot_fail(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) => true,
            ExprKind::Read(place) => place.steps.iter().all(|s| self.is_loop_variable(&s.index)),
            ExprKind::Unary(_, a) => self.cannot_fail(a),
            ExprKind::Binary(op, a, b) => {
                let total = !matches!(
                    op,
                    BinaryOp::Div | BinaryOp::Mod | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Pow
                );
                total && self.cannot_fail(a) && self.cannot_fail(b)
            }
            _ => false,
        }
    }

    fn expr(&mut self, expr: &Expr) -> Eval<()> {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Deadlock => Ok(()),
            ExprKind::Read(place) => self.place(place, 1, How::Read),
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a)?;
                self.expr(b)
            }
            ExprKind::Cond(c, a, b) => [c, a, b].into_iter().try_for_each(|e| self.expr(e)),
            ExprKind::Assign { place, value, .. } => {
                self.expr(value)?;
                self.place(place, 1, How::Read)?;
                self.place(place, 1, How::Write)
            }
            ExprKind::Copy {
                target,
                source,
                len,
            } => {
                self.block(source, *len)?;
                self.place(target, *len, How::Write)
            }
            ExprKind::SameBlock {
                left, right, len, ..
            } => {
                self.block(left, *len)?;
                self.block(right, *len)
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::Quantifier { slot, body, .. } => {
                self.bind(*slot, 1);
                self.expr(body)
            }
            ExprKind::Clock {
                left, right, bound, ..
            } => {
                self.clock(left, How::Read)?;
                if let Some(right) = right {
                    self.clock(right, How::Read)?;
                }
                self.expr(bound)
            }
            ExprKind::Rate { clock, rate } => {
                self.clock(clock, How::Read)?;
                self.expr(rate)
            }
            ExprKind::SetClock { clock, value } => {
                self.expr(value)?;
                let how = match &value.kind {
                    ExprKind::Const(c) => How::Put(*c),
                    _ => How::Write,
                };
                self.clock(clock, how)
            }
            ExprKind::CopyClock { target, source } => {
                self.clock(source, How::Read)?;
                self.clock(target, How::Write)
            }
            ExprKind::At { process, .. } | ExprKind::LocationOf(process) => {
                self.steps(&process.steps)
            }
        }
    }

    fn block(&mut self, block: &Block, len: u32) -> Eval<()> {
        match block {
            Block::Place(place) => self.place(place, len, How::Read),
            Block::Call(call) => self.call(call),
            Block::Cond(c, a, b) => {
                self.expr(c)?;
                self.block(a, len)?;
                self.block(b, len)
            }
            Block::Assign {
                target,
                source,
                len,
            } => {
                self.block(source, *len)?;
                self.place(target, *len, How::Write)
            }
        }
    }

    /// A variable that is set before it is used.
    fn bind(&mut self, slot: u32, count: usize) {
        if self.outermost {
            self.fresh.extend(slot..slot + count as u32);
        }
        self.loop_slots
            .retain(|s| !(slot..slot + count as u32).contains(s));
    }

    fn call(&mut self, call: &Call) -> Eval<()> {
        let function = &self.network.functions[call.function];
        let mut loop_slots = Vec::new();
        for (arg, param) in call.args.iter().zip(&function.params) {
            match arg {
                Arg::Value(e) => {
                    self.expr(e)?;
                    if self.is_loop_variable(e) {
                        loop_slots.push(param.slot);
                    }
                }
                Arg::Block(block, len) => self.block(block, *len)?,
                Arg::Ref(_) | Arg::Clock(_) | Arg::Mixed(..) => {
                    return fail("a reference hides what a loop writes");
                }
            }
        }
        self.depth += 1;
        if self.depth > 64 {
            return fail("calls are nested too deeply");
        }
        loop_slots.retain(|slot| !function.body.iter().any(|stmt| assigns(stmt, *slot)));
        let outer = std::mem::replace(&mut self.loop_slots, loop_slots);
        let (outermost, breaks) = (std::mem::replace(&mut self.outermost, false), self.breaks);
        self.stmts(&function.body)?;
        (self.loop_slots, self.outermost, self.breaks) = (outer, outermost, breaks);
        self.depth -= 1;
        Ok(())
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Eval<()> {
        if self.all.len() > 1 << 16 {
            return fail("a loop does too much to check");
        }
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Eval<()> {
        match stmt {
            Stmt::Expr(e) => self.effect(e),
            Stmt::Init { slot, values } => {
                self.bind(*slot, values.len());
                Ok(())
            }
            Stmt::If { cond, then, other } => {
                self.expr(cond)?;
                let before = self.loop_slots.clone();
                self.stmts(then)?;
                self.stmts(other)?;
                self.loop_slots = before;
                Ok(())
            }
            Stmt::While {
                cond, body, step, ..
            } => self.nested(cond, body, step),
            Stmt::DoWhile { body, cond, .. } => self.nested(cond, body, &[]),
            Stmt::Iterate { slot, body, .. } => {
                let before = self.loop_slots.clone();
                self.bind(*slot, 1);
                let breaks = self.breaks;
                self.stmts(body)?;
                self.breaks = breaks;
                self.loop_slots = before;
                Ok(())
            }
            Stmt::Return(value) => {
                if let Some(e) = value {
                    self.expr(e)?;
                }
                if self.outermost {
                    let constant = value.as_ref().map(|e| match &e.kind {
                        ExprKind::Const(c) => Some(*c),
                        _ => None,
                    });
                    self.returned.push(constant);
                }
                Ok(())
            }
            Stmt::ReturnBlock(block, len) => {
                if self.outermost {
                    self.returned.push(Some(None));
                }
                self.block(block, *len)
            }
            Stmt::Assert(e) => self.expr(e),
            Stmt::Break => {
                self.breaks = true;
                Ok(())
            }
            Stmt::Continue => Ok(()),
        }
    }

    fn nested(&mut self, cond: &Expr, body: &[Stmt], step: &[Stmt]) -> Eval<()> {
        let (breaks, before) = (self.breaks, self.loop_slots.clone());
        self.expr(cond)?;
        self.stmts(body)?;
        self.stmts(step)?;
        (self.breaks, self.loop_slots) = (breaks, before);
        Ok(())
    }

    /// What is written outside of the slots that each round sets itself.
    fn lasting(&self) -> impl Iterator<Item = &Access> {
        let own = |a: &Access| {
            a.space == Space::Slot && a.range.clone().all(|s| self.fresh.contains(&(s as u32)))
        };
        self.all
            .iter()
            .filter(move |a| a.how != How::Read && !own(a))
    }
}

fn is_read_of(expr: &Expr, place: &Place) -> bool {
    let ExprKind::Read(own) = &expr.kind else {
        return false;
    };
    own.base == place.base && own.steps.is_empty() && place.steps.is_empty()
}

/// Shows that the order of the rounds of a loop over elements does not matter; returns whether a
/// round may return, in which case all rounds must be evaluated.
pub(crate) fn rounds_commute(network: &Network, stmt: &Stmt) -> Eval<bool> {
    let Stmt::Iterate {
        slot, body, span, ..
    } = stmt
    else {
        return Ok(false);
    };
    let asymmetric = |message: &str| {
        Err(Failure {
            message: format!(
                "the result of a loop over elements depends on their order: {message}"
            ),
            span: Some(*span),
        })
    };
    if body.iter().any(|stmt| assigns(stmt, *slot)) {
        return asymmetric("its variable is assigned to");
    }
    let mut effects = Effects::new(network);
    effects.loop_slots.push(*slot);
    effects.stmts(body)?;
    // The loop's own variable is set before each round.
    effects.fresh.insert(*slot);
    if effects.breaks {
        return asymmetric("a round ends it");
    }
    let lasting: Vec<&Access> = effects.lasting().collect();
    if let Some(first) = effects.returned.first() {
        let same = effects
            .returned
            .iter()
            .all(|r| r == first && *r != Some(None));
        return match same && lasting.is_empty() {
            true => Ok(true),
            false => asymmetric("a round returns"),
        };
    }
    for write in &lasting {
        if effects.all.iter().any(|other| write.hinders(other, true)) {
            return asymmetric("a round uses what another one writes");
        }
    }
    Ok(false)
}

/// Whether a statement may assign to a slot that holds one number.
fn assigns(stmt: &Stmt, slot: u32) -> bool {
    fn in_expr(expr: &Expr, slot: u32) -> bool {
        match &expr.kind {
            ExprKind::Assign { place, value, .. } => {
                let computed = !place.steps.is_empty() && matches!(place.base, Base::Slot(_));
                place.base == Base::Slot(slot) || computed || in_expr(value, slot)
            }
            ExprKind::Copy { target, .. } => matches!(target.base, Base::Slot(_)),
            ExprKind::SameBlock { .. } => true,
            ExprKind::Clock { bound: a, .. }
            | ExprKind::SetClock { value: a, .. }
            | ExprKind::Rate { rate: a, .. } => in_expr(a, slot),
            ExprKind::Unary(_, a) => in_expr(a, slot),
            ExprKind::Binary(_, a, b) => in_expr(a, slot) || in_expr(b, slot),
            ExprKind::Cond(c, a, b) => [c, a, b].into_iter().any(|e| in_expr(e, slot)),
            ExprKind::Quantifier { body, .. } => in_expr(body, slot),
            ExprKind::Call(call) => call.args.iter().any(|arg| match arg {
                Arg::Value(e) => in_expr(e, slot),
                _ => false,
            }),
            _ => false,
        }
    }
    let any = |stmts: &[Stmt]| stmts.iter().any(|s| assigns(s, slot));
    match stmt {
        Stmt::Expr(e) | Stmt::Assert(e) | Stmt::Return(Some(e)) => in_expr(e, slot),
        Stmt::Init { .. } | Stmt::Return(None) | Stmt::Break | Stmt::Continue => false,
        Stmt::If { cond, then, other } => in_expr(cond, slot) || any(then) || any(other),
        Stmt::While {
            cond, body, step, ..
        } => in_expr(cond, slot) || any(body) || any(step),
        Stmt::DoWhile { body, cond, .. } => in_expr(cond, slot) || any(body),
        Stmt::Iterate { body, .. } => any(body),
        Stmt::ReturnBlock(..) => true,
    }
}

/// Shows that the body of a quantifier over elements has no effects.
pub(crate) fn body_is_pure(network: &Network, expr: &Expr) -> Eval<()> {
    let mut effects = Effects::new(network);
    effects.expr(expr)?;
    match effects.lasting().next() {
        None => Ok(()),
        Some(_) => Err(Failure {
            message: "the body of a quantifier over elements has an effect".into(),
            span: Some(expr.span),
        }),
    }
}

/// What the updates of an edge do, for others of the same step.
pub(crate) struct Updates<'n>(Effects<'n>);

impl<'n> Updates<'n> {
    pub(crate) fn of(network: &'n Network, edge: &Edge) -> Eval<Updates<'n>> {
        let mut effects = Effects::new(network);
        for update in &edge.updates {
            effects.effect(update)?;
        }
        // Slots are those of the edge alone.
        effects.all.retain(|access| access.space != Space::Slot);
        Ok(Updates(effects))
    }

    /// Whether the order of two edges matters.
    pub(crate) fn hinder(&self, other: &Updates<'_>) -> bool {
        let (own, others) = (&self.0.all, &other.0.all);
        own.iter()
            .any(|a| others.iter().any(|b| a.hinders(b, false)))
    }
}

/// The loops whose rounds must all be evaluated, by their addresses.
pub(crate) type Searches = HashSet<usize>;

/// Checks all loops and quantifiers over elements.
pub(crate) fn orders(network: &Network, types: &Types<'_>) -> Eval<Searches> {
    let mut searches = Searches::new();
    for stmt in &types.loops {
        let node = types.bound_by(*stmt);
        if node.and_then(|node| types.set(node)).is_some() && rounds_commute(network, stmt)? {
            searches.insert(std::ptr::from_ref(*stmt) as usize);
        }
    }
    for expr in &types.quantifiers {
        let node = types.bound_by(*expr);
        if node.and_then(|node| types.set(node)).is_some() {
            body_is_pure(network, expr)?;
        }
    }
    Ok(searches)
}
