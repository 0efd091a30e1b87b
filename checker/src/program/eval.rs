//! Evaluation of compiled expressions over a discrete state, with checked arithmetic and ranges.
//!
//! The state is one vector: the network's cells, then the location of every process. References are `i32` values in
//! slots: a kind in the top bits and an index below, see [`encode`].

use super::alike::Alike;
use super::code::*;
use super::fault::{Fault, FaultKind};
use super::model::Program;
use zonelens_analysis::network::{BinaryOp, ScalarsetId};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// What an update does to a clock. Clocks are counted from 0, as in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockOp {
    /// Set to a constant.
    Set(u32, i32),
    /// Set to the value of another clock.
    Copy(u32, u32),
}

/// Loop iterations and calls that one evaluation may take.
const STEP_LIMIT: u32 = 20_000_000;

const KIND_SHIFT: u32 = 29;
const INDEX_MASK: u32 = (1 << KIND_SHIFT) - 1;

#[derive(Clone, Copy)]
enum Spot {
    Cell(usize),
    Stack(usize),
    Constant(usize),
}

fn encode(spot: Spot) -> i32 {
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

enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

/// Evaluates; holds the frames and what updates do to clocks.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    stack: Vec<i32>,
    base: usize,
    top: usize,
    steps: u32,
    result: i32,
    block: Vec<i32>,
    failure: Option<Fault>,
    /// What updates did to clocks, in order.
    pub clock_ops: Vec<ClockOp>,
    /// Which elements the condition of a query need not look at.
    pub alike: Option<Box<Alike>>,
}

/// Evaluation failed; the machine knows why. Without content, so that results travel in registers.
struct Failed;

type Eval<T> = Result<T, Failed>;

impl Machine {
    /// Prepares the outermost frame with `slots` slots, the first ones set to `values`.
    #[inline]
    pub fn frame(&mut self, slots: u32, values: &[i32]) {
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
    pub fn set_slot(&mut self, slot: u32, value: i32) {
        self.stack[self.base + slot as usize] = value;
    }

    /// The value of an expression.
    #[inline]
    pub fn eval(
        &mut self,
        program: &Program,
        code: &Code,
        state: &mut [i32],
    ) -> Result<i32, Fault> {
        let value = self.value(program, code, state);
        value.map_err(|Failed| self.fault())
    }

    #[inline]
    fn value(&mut self, program: &Program, code: &Code, state: &mut [i32]) -> Eval<i32> {
        match code {
            Code::Const(c) => Ok(*c),
            Code::Cell(c) => Ok(state[*c as usize]),
            Code::Slot(s) => Ok(self.stack[self.base + *s as usize]),
            Code::CellConst(op, cell, c) => Ok(compare(*op, state[*cell as usize], *c)),
            Code::Compare(op, sides) => {
                let a = self.value(program, &sides.0, state)?;
                let b = self.value(program, &sides.1, state)?;
                Ok(compare(*op, a, b))
            }
            Code::Place(place) => {
                let spot = self.locate(program, place, state)?;
                Ok(self.load(program, spot, state))
            }
            Code::And(sides) => Ok(i32::from(
                self.value(program, &sides.0, state)? != 0
                    && self.value(program, &sides.1, state)? != 0,
            )),
            Code::Or(sides) => Ok(i32::from(
                self.value(program, &sides.0, state)? != 0
                    || self.value(program, &sides.1, state)? != 0,
            )),
            Code::Not(a) => Ok(i32::from(self.value(program, a, state)? == 0)),
            Code::Binary(op, sides, span) => {
                let a = self.value(program, &sides.0, state)?;
                let b = self.value(program, &sides.1, state)?;
                self.operate(*op, a, b, *span)
            }
            _ => self.eval_rare(program, code, state),
        }
    }

    fn eval_rare(&mut self, program: &Program, code: &Code, state: &mut [i32]) -> Eval<i32> {
        match code {
            Code::Neg(a, _) => Ok(self.value(program, a, state)?.wrapping_neg()),
            Code::Cond(parts) => {
                if self.value(program, &parts.0, state)? != 0 {
                    self.value(program, &parts.1, state)
                } else {
                    self.value(program, &parts.2, state)
                }
            }
            Code::Assign(assign) => self.assign(program, assign, state),
            Code::Copy(parts) => self
                .copy_block(program, &parts.0, &parts.1, parts.2, state)
                .map(|_| 0),
            Code::Same(parts, negated) => {
                let left = self.block(program, &parts.0, parts.2, state)?;
                let right = self.block(program, &parts.1, parts.2, state)?;
                Ok(i32::from((left == right) != *negated))
            }
            Code::Call(call) => self.call(program, call, state),
            Code::Quantifier(q) => self.quantifier(program, q, state),
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

    /// The offset that index steps add up to.
    pub fn offset(
        &mut self,
        program: &Program,
        steps: &[StepCode],
        state: &mut [i32],
    ) -> Result<usize, Fault> {
        let offset = self.index(program, steps, state);
        offset.map_err(|Failed| self.fault())
    }

    /// The clock that a reference means, counted from 0.
    #[inline]
    pub fn clock(
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
            let index = self.value(program, &step.index, state)?;
            let position = i64::from(index) - i64::from(step.range.lo);
            if position < 0 || position >= i64::from(step.range.len) {
                let kind = FaultKind::Index {
                    value: index,
                    lo: step.range.lo,
                    len: step.range.len,
                };
                return self.fail(kind, step.span);
            }
            offset += position as usize * step.stride as usize;
        }
        Ok(offset)
    }

    #[inline]
    fn clock_index(
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

    /// Keeps the fault for whoever called from outside.
    #[cold]
    fn fail<T>(&mut self, kind: FaultKind, span: Span) -> Eval<T> {
        self.failure = Some(kind.at(span));
        Err(Failed)
    }

    #[cold]
    fn fault(&mut self) -> Fault {
        let unknown = FaultKind::Overflow.at(Span::default());
        self.failure.take().unwrap_or(unknown)
    }

    #[inline]
    fn locate(&mut self, program: &Program, place: &PlaceCode, state: &mut [i32]) -> Eval<Spot> {
        let offset = self.index(program, &place.steps, state)?;
        Ok(match place.base {
            PlaceBase::Cell(c) => Spot::Cell(c as usize + offset),
            PlaceBase::Constant(c) => Spot::Constant(c as usize + offset),
            PlaceBase::Slot(s) => Spot::Stack(self.base + s as usize + offset),
            PlaceBase::Ref(s) => match decode(self.stack[self.base + s as usize]) {
                Spot::Cell(i) => Spot::Cell(i + offset),
                Spot::Stack(i) => Spot::Stack(i + offset),
                Spot::Constant(i) => Spot::Constant(i + offset),
            },
        })
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
                    return self.fail(FaultKind::Range { value, lo, hi }, span);
                }
                state[i] = value;
            }
            Spot::Stack(i) => self.stack[i] = value,
            Spot::Constant(_) => {}
        }
        Ok(())
    }

    fn assign(&mut self, program: &Program, assign: &AssignCode, state: &mut [i32]) -> Eval<i32> {
        // The right side first: it may call a function that changes what the indices on the left read.
        let value = self.value(program, &assign.value, state)?;
        let spot = self.locate(program, &assign.place, state)?;
        let old = self.load(program, spot, state);
        let new = match assign.op {
            None => value,
            Some(op) => self.operate(op, old, value, assign.span)?,
        };
        let (lo, hi) = (assign.place.lo, assign.place.hi);
        if new < lo || new > hi {
            return self.fail(FaultKind::Range { value: new, lo, hi }, assign.span);
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

    fn block(
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
        // Functions bind elements in other ways, so only quantifiers of the condition itself are cut short.
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
        for k in elements {
            self.set_slot(q.slot, q.lo + k as i32);
            if let (Some(set), Some(alike)) = (binds, &mut self.alike) {
                alike.bind(set, k);
            }
            let value = self.value(program, &q.body, state)?;
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

    fn call(&mut self, program: &Program, call: &CallCode, state: &mut [i32]) -> Eval<i32> {
        let function = &program.functions[call.function as usize];
        self.step(call.span)?;
        // Arguments are evaluated in the caller's frame and written above it. Inner calls use the space above `top`.
        let (caller_base, caller_top) = (self.base, self.top);
        let new_base = caller_top;
        let new_top = new_base + function.frame as usize;
        self.top = new_top;
        if self.stack.len() < new_top {
            self.stack.resize(new_top, 0);
        }
        for (arg, param) in call.args.iter().zip(&function.params) {
            let at = new_base + param.slot as usize;
            self.argument(program, arg, param, at, state)?;
        }
        self.base = new_base;
        self.block.clear();
        let flow = self.run(program, &function.body, function.result_len, state)?;
        self.base = caller_base;
        self.top = caller_top;
        match (flow, function.result_len) {
            (Flow::Return, 1) if self.block.is_empty() => {
                let value = self.result;
                self.check_range(value, function.result_ranges.first(), call.span)?;
                Ok(value)
            }
            (Flow::Return, n) if n > 0 => {
                let mut values = self.block.iter().zip(&function.result_ranges);
                if let Some((&value, &(lo, hi))) =
                    values.find(|(value, (lo, hi))| *value < lo || *value > hi)
                {
                    return self.fail(FaultKind::Range { value, lo, hi }, call.span);
                }
                Ok(self.block.first().copied().unwrap_or(0))
            }
            (_, 0) => Ok(0),
            _ => self.fail(FaultKind::MissingReturn, function.span),
        }
    }

    fn argument(
        &mut self,
        program: &Program,
        arg: &ArgCode,
        param: &ParamCode,
        at: usize,
        state: &mut [i32],
    ) -> Eval<()> {
        match arg {
            ArgCode::Value(code) => {
                let value = self.value(program, code, state)?;
                let range = param.ranges.as_ref().and_then(|r| r.first());
                self.check_range(value, range, code_span(code))?;
                self.stack[at] = value;
            }
            ArgCode::Block(block, len) => {
                let values = self.block(program, block, *len, state)?;
                for (k, value) in values.iter().enumerate() {
                    let range = param.ranges.as_ref().and_then(|r| r.get(k));
                    self.check_range(*value, range, Span::default())?;
                    self.stack[at + k] = *value;
                }
            }
            ArgCode::Ref(place) => {
                let spot = self.locate(program, place, state)?;
                self.stack[at] = encode(spot);
            }
            ArgCode::Clock(clock) => {
                self.stack[at] = self.clock_index(program, clock, state)? as i32
            }
            ArgCode::Mixed(place, clock) => {
                let spot = self.locate(program, place, state)?;
                self.stack[at] = encode(spot);
                self.stack[at + 1] = self.clock_index(program, clock, state)? as i32;
            }
        }
        Ok(())
    }

    #[inline]
    fn check_range(&mut self, value: i32, range: Option<&(i32, i32)>, span: Span) -> Eval<()> {
        match range {
            Some(&(lo, hi)) if value < lo || value > hi => {
                self.fail(FaultKind::Range { value, lo, hi }, span)
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

    fn step(&mut self, span: Span) -> Eval<()> {
        self.steps += 1;
        if self.steps > STEP_LIMIT {
            return self.fail(FaultKind::StepLimit, span);
        }
        Ok(())
    }

    fn run(
        &mut self,
        program: &Program,
        stmts: &[StmtCode],
        result_len: u32,
        state: &mut [i32],
    ) -> Eval<Flow> {
        for stmt in stmts {
            let flow = self.statement(program, stmt, result_len, state)?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(
        &mut self,
        program: &Program,
        stmt: &StmtCode,
        result_len: u32,
        state: &mut [i32],
    ) -> Eval<Flow> {
        match stmt {
            StmtCode::Expr(code) => {
                self.value(program, code, state)?;
            }
            StmtCode::Init(slot, values) => {
                let at = self.base + *slot as usize;
                self.stack[at..at + values.len()].copy_from_slice(values);
            }
            StmtCode::If(cond, then, other) => {
                let branch = if self.value(program, cond, state)? != 0 {
                    then
                } else {
                    other
                };
                return self.run(program, branch, result_len, state);
            }
            StmtCode::While {
                cond,
                body,
                step,
                body_first,
                span,
            } => {
                let mut first = *body_first;
                while first || self.value(program, cond, state)? != 0 {
                    first = false;
                    self.step(*span)?;
                    match self.run(program, body, result_len, state)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Next | Flow::Continue => {}
                    }
                    self.run(program, step, result_len, state)?;
                }
            }
            StmtCode::Iterate {
                slot,
                lo,
                len,
                body,
                span,
            } => {
                for k in 0..*len {
                    self.step(*span)?;
                    self.set_slot(*slot, lo + k as i32);
                    match self.run(program, body, result_len, state)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            StmtCode::Return(value) => {
                if let Some(code) = value {
                    self.result = self.value(program, code, state)?;
                }
                self.block.clear();
                return Ok(Flow::Return);
            }
            StmtCode::ReturnBlock(block, len) => {
                self.block = self.block(program, block, *len, state)?;
                return Ok(Flow::Return);
            }
            StmtCode::Assert(code, span) => {
                if self.value(program, code, state)? == 0 {
                    return self.fail(FaultKind::Assert, *span);
                }
            }
            StmtCode::Break => return Ok(Flow::Break),
            StmtCode::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }
}

fn code_span(code: &Code) -> Span {
    match code {
        Code::Place(p) => p.span,
        Code::Neg(_, span) | Code::Binary(_, _, span) | Code::SetClock(_, span) => *span,
        Code::Assign(a) => a.span,
        Code::Call(c) => c.span,
        _ => Span::default(),
    }
}

#[inline(always)]
fn compare(op: BinaryOp, a: i32, b: i32) -> i32 {
    i32::from(match op {
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Eq => a == b,
        _ => a != b,
    })
}

/// Between assignments numbers have 32 bits and wrap around, as UPPAAL's do (models of processors rely on it); what is
/// assigned must fit the range of its target, so a wrapped number seldom goes unnoticed.
#[inline]
fn operate(op: BinaryOp, a: i32, b: i32) -> Result<i32, FaultKind> {
    let shift = |b: i32| {
        u32::try_from(b)
            .ok()
            .filter(|n| *n < 32)
            .ok_or(FaultKind::Shift(b))
    };
    match op {
        BinaryOp::Add => Ok(a.wrapping_add(b)),
        BinaryOp::Sub => Ok(a.wrapping_sub(b)),
        BinaryOp::Mul => Ok(a.wrapping_mul(b)),
        BinaryOp::Div if b == 0 => Err(FaultKind::DivisionByZero),
        BinaryOp::Div => a.checked_div(b).ok_or(FaultKind::Overflow),
        BinaryOp::Mod if b == 0 => Err(FaultKind::DivisionByZero),
        BinaryOp::Mod => a.checked_rem(b).ok_or(FaultKind::Overflow),
        BinaryOp::Pow => {
            let exponent = u32::try_from(b).map_err(|_| FaultKind::Power(b))?;
            Ok(a.wrapping_pow(exponent))
        }
        // A shift moves the 32 bits of its operand; bits that leave are meant to be lost.
        BinaryOp::Shl => Ok(a << shift(b)?),
        BinaryOp::Shr => Ok(a >> shift(b)?),
        BinaryOp::Min => Ok(a.min(b)),
        BinaryOp::Max => Ok(a.max(b)),
        BinaryOp::BitAnd => Ok(a & b),
        BinaryOp::BitXor => Ok(a ^ b),
        BinaryOp::BitOr => Ok(a | b),
        BinaryOp::And => Ok(i32::from(a != 0 && b != 0)),
        BinaryOp::Or => Ok(i32::from(a != 0 || b != 0)),
        BinaryOp::Xor => Ok(i32::from((a != 0) != (b != 0))),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Gt | BinaryOp::Eq | BinaryOp::Ne => {
            Ok(compare(op, a, b))
        }
    }
}
