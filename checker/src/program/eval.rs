//! Evaluates compiled expressions over a discrete state, with checked arithmetic and ranges.
//!
//! The state is one vector: the cells of the network, then the location of every process.
//! References are `i32` values in slots: a kind in the top bits and an index below it, see
//! [`encode`].

use super::alike::Alike;
use super::arithmetic::{compare, operate};
use super::code::*;
use super::fault::{Fault, FaultKind, Target};
use super::model::Program;
use zonelens_analysis::network::{BinaryOp, ScalarsetId};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// An operation on a clock by an update. Clocks are counted from 0, as in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockOp {
    /// Sets the clock to a constant.
    Set(u32, i32),
    /// Sets the clock to the value of another clock.
    Copy(u32, u32),
}

/// The most loop iterations and calls of one evaluation.
pub(super) const STEP_LIMIT: u32 = 20_000_000;

const KIND_SHIFT: u32 = 29;
const INDEX_MASK: u32 = (1 << KIND_SHIFT) - 1;

/// Where a value is stored.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    Cell(usize),
    Stack(usize),
    Constant(usize),
}

pub(super) fn encode(spot: Spot) -> i32 {
    let (kind, index) = match spot {
        Spot::Cell(i) => (0, i),
        Spot::Stack(i) => (1, i),
        Spot::Constant(i) => (2, i),
    };
    (kind << KIND_SHIFT | index as u32) as i32
}

fn decode(value: i32) -> Spot {
    let index = (value as u32 & INDEX_MASK) as usize;
    match value as u32 >> KIND_SHIFT {
        0 => Spot::Cell(index),
        1 => Spot::Stack(index),
        _ => Spot::Constant(index),
    }
}

/// Evaluates expressions; contains the frames and the clock operations of updates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    pub(super) stack: Vec<i32>,
    pub(super) base: usize,
    pub(super) top: usize,
    pub(super) steps: u32,
    pub(super) result: i32,
    pub(super) block: Vec<i32>,
    failure: Option<Fault>,
    /// The clock operations of updates so far, in order.
    pub clock_ops: Vec<ClockOp>,
    /// The classes of elements of which the condition of a query evaluates only one element each.
    pub alike: Option<Box<Alike>>,
}

/// Evaluation failed; the machine has the reason. It has no content, so that results fit in
/// registers.
pub(super) struct Failed;

pub(super) type Eval<T> = Result<T, Failed>;

impl Machine {
    /// Prepares the outermost frame with `slots` slots, the first ones set to `values`.
    #[inline]
    pub(crate) fn frame(&mut self, slots: u32, values: &[i32]) {
        self.base = 0;
        self.steps = 0;
        self.top = (slots as usize).max(values.len());
        if self.stack.len() < self.top {
            self.stack.resize(self.top, 0);
        }
        self.stack[..values.len()].copy_from_slice(values);
    }

    /// Sets a slot of the current frame.
    #[inline]
    pub(crate) fn set_slot(&mut self, slot: u32, value: i32) {
        self.stack[self.base + slot as usize] = value;
    }

    /// Whether a condition holds.
    #[inline]
    pub(crate) fn is_true(
        &mut self,
        program: &Program,
        code: &Code,
        state: &mut [i32],
    ) -> Result<bool, Fault> {
        let value = self.holds(program, code, state);
        value.map_err(|Failed| self.fault())
    }

    /// The value of an expression.
    #[inline]
    pub(crate) fn eval(
        &mut self,
        program: &Program,
        code: &Code,
        state: &mut [i32],
    ) -> Result<i32, Fault> {
        let value = self.value(program, code, state);
        value.map_err(|Failed| self.fault())
    }

    /// The value of an expression that is often a leaf: leaves are read directly, without a call.
    #[inline(always)]
    pub(super) fn value(&mut self, program: &Program, code: &Code, state: &mut [i32]) -> Eval<i32> {
        match code {
            Code::Const(c) => Ok(*c),
            Code::Cell(c) => Ok(state[*c as usize]),
            Code::Slot(s) => Ok(self.stack[self.base + *s as usize]),
            _ => self.compound(program, code, state),
        }
    }

    /// Whether a condition holds. Comparisons at the top of a condition are evaluated directly.
    #[inline(always)]
    pub(super) fn holds(
        &mut self,
        program: &Program,
        code: &Code,
        state: &mut [i32],
    ) -> Eval<bool> {
        match code {
            Code::CellConst(op, cell, c) => Ok(compare(*op, state[*cell as usize], *c)),
            Code::Compare(op, sides) => {
                let a = self.value(program, &sides.0, state)?;
                let b = self.value(program, &sides.1, state)?;
                Ok(compare(*op, a, b))
            }
            _ => Ok(self.value(program, code, state)? != 0),
        }
    }

    fn compound(&mut self, program: &Program, code: &Code, state: &mut [i32]) -> Eval<i32> {
        match code {
            Code::CellConst(op, cell, c) => Ok(compare(*op, state[*cell as usize], *c).into()),
            Code::Compare(op, sides) => {
                let a = self.value(program, &sides.0, state)?;
                let b = self.value(program, &sides.1, state)?;
                Ok(compare(*op, a, b).into())
            }
            Code::Place(place) => self.read(program, place, state),
            Code::And(sides) => Ok(i32::from(
                self.holds(program, &sides.0, state)? && self.holds(program, &sides.1, state)?,
            )),
            Code::Or(sides) => Ok(i32::from(
                self.holds(program, &sides.0, state)? || self.holds(program, &sides.1, state)?,
            )),
            Code::Not(a) => Ok(i32::from(!self.holds(program, a, state)?)),
            Code::Binary(op, sides, span) => {
                let a = self.value(program, &sides.0, state)?;
                let b = self.value(program, &sides.1, state)?;
                match op {
                    // The two most frequent forms.
                    BinaryOp::Add => Ok(a.wrapping_add(b)),
                    BinaryOp::Sub => Ok(a.wrapping_sub(b)),
                    _ => self.operate(*op, a, b, *span),
                }
            }
            Code::Call(call) => self.call(program, call, state),
            Code::Assign(assign) => self.assign(program, assign, state),
            Code::Neg(a) => Ok(self.value(program, a, state)?.wrapping_neg()),
            Code::Cond(parts) => {
                if self.holds(program, &parts.0, state)? {
                    self.value(program, &parts.1, state)
                } else {
                    self.value(program, &parts.2, state)
                }
            }
            Code::Quantifier(q) => self.quantifier(program, q, state),
            Code::Const(_) | Code::Cell(_) | Code::Slot(_) => self.value(program, code, state),
            _ => self.eval_rare(program, code, state),
        }
    }

    /// Reads a place. An element of an array of cells or constants with a single index is read
    /// directly.
    #[inline(always)]
    fn read(&mut self, program: &Program, place: &PlaceCode, state: &mut [i32]) -> Eval<i32> {
        if let [step] = &place.steps[..] {
            let offset = match self.index_step(program, step, state) {
                Ok(offset) => offset,
                Err(Failed) => return self.name_array(place),
            };
            match place.base {
                PlaceBase::Cell(c) => return Ok(state[c as usize + offset]),
                PlaceBase::Constant(c) => return Ok(program.constants[c as usize + offset]),
                PlaceBase::Slot(s) => return Ok(self.stack[self.base + s as usize + offset]),
                PlaceBase::Ref(s) => {
                    let spot = self.behind(s, offset);
                    return Ok(self.load(program, spot, state));
                }
            }
        }
        let spot = self.locate(program, place, state)?;
        Ok(self.load(program, spot, state))
    }

    fn eval_rare(&mut self, program: &Program, code: &Code, state: &mut [i32]) -> Eval<i32> {
        match code {
            Code::Copy(parts) => self
                .copy_block(program, &parts.0, &parts.1, parts.2, state)
                .map(|_| 0),
            Code::Same(parts, negated) => {
                let left = self.block(program, &parts.0, parts.2, state)?;
                let right = self.block(program, &parts.1, parts.2, state)?;
                Ok(i32::from((left == right) != *negated))
            }
            Code::SetClock(parts, span) => {
                let clock = self.clock_index(program, &parts.0, state)?;
                let value = self.value(program, &parts.1, state)?;
                if value < 0 {
                    return self.fail(FaultKind::NegativeClock(value), *span);
                }
                self.clock_ops.push(ClockOp::Set(clock, value));
                Ok(value)
            }
            Code::CopyClock(parts) => {
                let target = self.clock_index(program, &parts.0, state)?;
                let source = self.clock_index(program, &parts.1, state)?;
                self.clock_ops.push(ClockOp::Copy(target, source));
                Ok(0)
            }
            Code::At(process, location) => {
                let p = process.base as usize + self.index(program, &process.steps, state)?;
                Ok(i32::from(
                    state[program.cells.len() + p] == *location as i32,
                ))
            }
            Code::LocationOf(process) => {
                let p = process.base as usize + self.index(program, &process.steps, state)?;
                Ok(state[program.cells.len() + p])
            }
            _ => self.value(program, code, state),
        }
    }

    /// The sum of the offsets of the index steps.
    pub(crate) fn offset(
        &mut self,
        program: &Program,
        steps: &[StepCode],
        state: &mut [i32],
    ) -> Result<usize, Fault> {
        let offset = self.index(program, steps, state);
        offset.map_err(|Failed| self.fault())
    }

    /// The clock that a reference denotes, counted from 0.
    #[inline]
    pub(crate) fn clock(
        &mut self,
        program: &Program,
        clock: &ClockCode,
        state: &mut [i32],
    ) -> Result<u32, Fault> {
        let clock = self.clock_index(program, clock, state);
        clock.map_err(|Failed| self.fault())
    }

    fn index(&mut self, program: &Program, steps: &[StepCode], state: &mut [i32]) -> Eval<usize> {
        let mut offset = 0;
        for step in steps {
            offset += self.index_step(program, step, state)?;
        }
        Ok(offset)
    }

    #[inline(always)]
    fn index_step(&mut self, program: &Program, step: &StepCode, state: &mut [i32]) -> Eval<usize> {
        let index = self.value(program, &step.index, state)?;
        let position = i64::from(index) - i64::from(step.range.lo);
        if position < 0 || position >= i64::from(step.range.len) {
            let kind = FaultKind::Index {
                value: index,
                lo: step.range.lo,
                len: step.range.len,
                of: None,
            };
            return self.fail(kind, step.span);
        }
        Ok(position as usize * step.stride as usize)
    }

    #[inline]
    pub(super) fn clock_index(
        &mut self,
        program: &Program,
        clock: &ClockCode,
        state: &mut [i32],
    ) -> Eval<u32> {
        let base = if clock.by_ref {
            self.stack[self.base + clock.base as usize] as u32
        } else {
            clock.base
        };
        if clock.steps.is_empty() {
            return Ok(base);
        }
        Ok(base + self.index(program, &clock.steps, state)? as u32)
    }

    /// Stores the fault for the external caller.
    #[cold]
    pub(super) fn fail<T>(&mut self, kind: FaultKind, span: Span) -> Eval<T> {
        self.failure = Some(kind.at(span));
        Err(Failed)
    }

    /// Records which variable has the index that failed, if it is an index of the place and not of
    /// an expression inside it.
    #[cold]
    fn name_array<T>(&mut self, place: &PlaceCode) -> Eval<T> {
        if let (Some(fault), PlaceBase::Cell(c)) = (&mut self.failure, place.base)
            && place.steps.iter().any(|step| Some(step.span) == fault.span)
            && let FaultKind::Index { of, .. } = &mut fault.kind
        {
            of.get_or_insert(c);
        }
        Err(Failed)
    }

    #[cold]
    fn fault(&mut self) -> Fault {
        let unknown = FaultKind::Overflow.nowhere();
        self.failure.take().unwrap_or(unknown)
    }

    #[inline]
    pub(super) fn locate(
        &mut self,
        program: &Program,
        place: &PlaceCode,
        state: &mut [i32],
    ) -> Eval<Spot> {
        let offset = match self.index(program, &place.steps, state) {
            Ok(offset) => offset,
            Err(Failed) => return self.name_array(place),
        };
        Ok(match place.base {
            PlaceBase::Cell(c) => Spot::Cell(c as usize + offset),
            PlaceBase::Constant(c) => Spot::Constant(c as usize + offset),
            PlaceBase::Slot(s) => Spot::Stack(self.base + s as usize + offset),
            PlaceBase::Ref(s) => self.behind(s, offset),
        })
    }

    /// The target of a reference in a slot.
    #[inline]
    fn behind(&self, slot: u32, offset: usize) -> Spot {
        match decode(self.stack[self.base + slot as usize]) {
            Spot::Cell(i) => Spot::Cell(i + offset),
            Spot::Stack(i) => Spot::Stack(i + offset),
            Spot::Constant(i) => Spot::Constant(i + offset),
        }
    }

    #[inline]
    fn load(&self, program: &Program, spot: Spot, state: &[i32]) -> i32 {
        match spot {
            Spot::Cell(i) => state[i],
            Spot::Stack(i) => self.stack[i],
            Spot::Constant(i) => program.constants[i],
        }
    }

    fn store(
        &mut self,
        program: &Program,
        spot: Spot,
        value: i32,
        span: Span,
        state: &mut [i32],
    ) -> Eval<()> {
        match spot {
            Spot::Cell(i) => {
                let (lo, hi) = program.cells[i];
                if value < lo || value > hi {
                    let to = Target::Cell(i as u32);
                    return self.fail(FaultKind::Range { value, lo, hi, to }, span);
                }
                state[i] = value;
            }
            Spot::Stack(i) => self.stack[i] = value,
            Spot::Constant(_) => {}
        }
        Ok(())
    }

    pub(super) fn assign(
        &mut self,
        program: &Program,
        assign: &AssignCode,
        state: &mut [i32],
    ) -> Eval<i32> {
        // The right side is evaluated first: it may call a function that changes what the indices
        // on the left read.
        let value = self.value(program, &assign.value, state)?;
        let spot = self.locate(program, &assign.place, state)?;
        let old = self.load(program, spot, state);
        let new = match assign.op {
            None => value,
            Some(op) => self.operate(op, old, value, assign.span)?,
        };
        let (lo, hi) = (assign.place.lo, assign.place.hi);
        if new < lo || new > hi {
            let to = match spot {
                Spot::Cell(i) => Target::Cell(i as u32),
                Spot::Stack(_) | Spot::Constant(_) => Target::Local,
            };
            let value = new;
            return self.fail(FaultKind::Range { value, lo, hi, to }, assign.span);
        }
        self.store(program, spot, new, assign.span, state)?;
        Ok(if assign.old_value { old } else { new })
    }

    fn copy_block(
        &mut self,
        program: &Program,
        target: &PlaceCode,
        source: &BlockCode,
        len: u32,
        state: &mut [i32],
    ) -> Eval<Vec<i32>> {
        let values = self.block(program, source, len, state)?;
        let spot = self.locate(program, target, state)?;
        for (k, &value) in values.iter().enumerate() {
            let spot = match spot {
                Spot::Cell(i) => Spot::Cell(i + k),
                Spot::Stack(i) => Spot::Stack(i + k),
                Spot::Constant(i) => Spot::Constant(i + k),
            };
            self.store(program, spot, value, target.span, state)?;
        }
        Ok(values)
    }

    pub(super) fn block(
        &mut self,
        program: &Program,
        block: &BlockCode,
        len: u32,
        state: &mut [i32],
    ) -> Eval<Vec<i32>> {
        let len = len as usize;
        match block {
            BlockCode::Place(place) => Ok(match self.locate(program, place, state)? {
                Spot::Cell(i) => state[i..i + len].to_vec(),
                Spot::Stack(i) => self.stack[i..i + len].to_vec(),
                Spot::Constant(i) => program.constants[i..i + len].to_vec(),
            }),
            BlockCode::Call(call) => {
                let single = self.call(program, call, state)?;
                if program.functions[call.function as usize].result_len == 1
                    && self.block.len() != 1
                {
                    return Ok(vec![single]);
                }
                Ok(self.block.clone())
            }
            BlockCode::Cond(parts) => {
                if self.value(program, &parts.0, state)? != 0 {
                    self.block(program, &parts.1, len as u32, state)
                } else {
                    self.block(program, &parts.2, len as u32, state)
                }
            }
            BlockCode::Assign(parts) => {
                self.copy_block(program, &parts.0, &parts.1, parts.2, state)
            }
        }
    }

    fn quantifier(
        &mut self,
        program: &Program,
        q: &QuantifierCode,
        state: &mut [i32],
    ) -> Eval<i32> {
        // Functions bind elements in other ways, so only quantifiers of the condition itself skip
        // elements.
        if let (Some(alike), Some(set), 0) = (&self.alike, q.scalarset, self.base)
            && let Some(mut elements) = alike.representatives(set, q.lo, q.len)
        {
            if q.kind == QuantifierKind::Sum {
                elements = (0..q.len).collect();
            }
            return self.quantifier_over(program, q, state, elements.into_iter(), Some(set));
        }
        self.quantifier_over(program, q, state, 0..q.len, None)
    }

    #[inline]
    fn quantifier_over(
        &mut self,
        program: &Program,
        q: &QuantifierCode,
        state: &mut [i32],
        elements: impl Iterator<Item = u32>,
        binds: Option<ScalarsetId>,
    ) -> Eval<i32> {
        let mut sum = 0i32;
        let mut body = &q.body;
        for k in elements {
            self.set_slot(q.slot, q.lo + k as i32);
            if let (Some(set), Some(alike)) = (binds, &mut self.alike) {
                alike.bind(set, k);
            }
            let value = match q.kind {
                QuantifierKind::Sum => self.value(program, body, state)?,
                _ => i32::from(self.holds(program, body, state)?),
            };
            body = q.later.as_ref().unwrap_or(body);
            if let (Some(_), Some(alike)) = (binds, &mut self.alike) {
                alike.release();
            }
            match q.kind {
                QuantifierKind::Forall if value == 0 => return Ok(0),
                QuantifierKind::Exists if value != 0 => return Ok(1),
                QuantifierKind::Sum => sum = sum.wrapping_add(value),
                _ => {}
            }
        }
        Ok(match q.kind {
            QuantifierKind::Forall => 1,
            QuantifierKind::Exists => 0,
            QuantifierKind::Sum => sum,
        })
    }

    #[inline]
    pub(super) fn check_range(
        &mut self,
        value: i32,
        range: Option<&(i32, i32)>,
        to: Target,
        span: Span,
    ) -> Eval<()> {
        match range {
            Some(&(lo, hi)) if value < lo || value > hi => {
                self.fail(FaultKind::Range { value, lo, hi, to }, span)
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn operate(&mut self, op: BinaryOp, a: i32, b: i32, span: Span) -> Eval<i32> {
        match operate(op, a, b) {
            Ok(value) => Ok(value),
            Err(kind) => self.fail(kind, span),
        }
    }
}
