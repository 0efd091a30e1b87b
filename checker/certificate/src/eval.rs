//! Evaluation of the network's expressions over one discrete state.
//!
//! Written for this crate alone: neither the compiled code of the engine nor the interpreter that
//! replays traces is used. A cell may be `*` (any value); to read it is a failure. Numbers have 32
//! bits and wrap around between assignments; what is assigned, passed or returned must fit its
//! range.

use crate::symmetry::Searches;
use crate::zone::{ClockOp, LARGEST};
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, Call, CellId, ChannelId, ChannelRef, ClockBase, ClockRef, Expr,
    ExprKind, Id, IndexStep, Network, Place, ProcessRef, Stmt, UnaryOp,
};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// The most loop iterations and calls of one evaluation.
const MOST_ROUNDS: u64 = 20_000_000;

/// A discrete state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The location of each process.
    pub locations: Vec<u32>,
    /// The value of each cell; `None` is `*`.
    pub cells: Vec<Option<i32>>,
}

/// An evaluation without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub message: String,
    /// Where, in the model or in the query.
    pub span: Option<Span>,
}

pub(crate) type Eval<T> = Result<T, Failure>;

pub(crate) fn fail<T>(message: impl Into<String>) -> Eval<T> {
    Err(Failure {
        message: message.into(),
        span: None,
    })
}

/// Where a value is stored.
#[derive(Clone, Copy, Debug)]
enum Address {
    Cell(usize),
    Constant(usize),
    Local(usize),
    Clock(usize),
}

impl Address {
    fn plus(self, offset: usize) -> Address {
        match self {
            Address::Cell(i) => Address::Cell(i + offset),
            Address::Constant(i) => Address::Constant(i + offset),
            Address::Local(i) => Address::Local(i + offset),
            Address::Clock(i) => Address::Clock(i + offset),
        }
    }
}

/// The content of a slot.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Number(i32),
    Reference(Address),
}

/// How a statement ended.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Vec<i32>),
}

/// Evaluates over one state; updates change the state and record assignments to clocks.
pub(crate) struct Evaluator<'a> {
    network: &'a Network,
    state: &'a mut State,
    slots: Vec<Slot>,
    frame: usize,
    rounds: u64,
    /// Under symmetry, all elements of a quantifier are evaluated, and all rounds of these loops,
    /// so that whether an evaluation fails does not depend on the order of elements.
    pub searches: Option<&'a Searches>,
    /// The assignments to clocks so far, in order.
    pub ops: Vec<ClockOp>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(network: &'a Network, state: &'a mut State) -> Evaluator<'a> {
        Evaluator {
            network,
            state,
            slots: Vec::new(),
            frame: 0,
            rounds: 0,
            searches: None,
            ops: Vec::new(),
        }
    }

    /// Begins a frame with `size` slots, the given ones set.
    pub(crate) fn enter(&mut self, size: u32, values: impl Iterator<Item = (u32, i32)>) {
        self.slots.clear();
        self.slots.resize(size as usize, Slot::Number(0));
        self.frame = 0;
        self.rounds = 0;
        values.for_each(|(slot, value)| self.bind(slot, value));
    }

    /// Sets a slot of the current frame.
    pub(crate) fn bind(&mut self, slot: u32, value: i32) {
        self.slots[self.frame + slot as usize] = Slot::Number(value);
    }

    /// The value of an expression without clocks.
    pub(crate) fn eval(&mut self, expr: &Expr) -> Eval<i32> {
        self.value(expr).map_err(|mut failure| {
            failure.span.get_or_insert(expr.span);
            failure
        })
    }

    fn value(&mut self, expr: &Expr) -> Eval<i32> {
        match &expr.kind {
            ExprKind::Const(c) => Ok(*c),
            ExprKind::Read(place) => {
                let address = self.address(place)?;
                self.load(address)
            }
            ExprKind::Unary(UnaryOp::Neg, a) => Ok(self.eval(a)?.wrapping_neg()),
            ExprKind::Unary(UnaryOp::Not, a) => Ok((self.eval(a)? == 0).into()),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                Ok((self.eval(a)? != 0 && self.eval(b)? != 0).into())
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                Ok((self.eval(a)? != 0 || self.eval(b)? != 0).into())
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                operate(*op, a, b)
            }
            ExprKind::Cond(c, a, b) => {
                let branch = if self.eval(c)? != 0 { a } else { b };
                self.eval(branch)
            }
            ExprKind::Assign {
                place,
                op,
                value,
                old_value,
            } => {
                let value = self.eval(value)?;
                let address = self.address(place)?;
                // `x = e` does not read `x`, which may be `*`.
                let old = match (op, old_value) {
                    (None, false) => 0,
                    _ => self.load(address)?,
                };
                let new = match op {
                    Some(op) => operate(*op, old, value)?,
                    None => value,
                };
                self.fit(new, (place.lo, place.hi), "the variable")?;
                self.store(address, new)?;
                Ok(if *old_value { old } else { new })
            }
            ExprKind::Copy {
                target,
                source,
                len,
            } => {
                self.copy(target, source, *len)?;
                Ok(0)
            }
            ExprKind::SameBlock {
                left,
                right,
                len,
                negated,
            } => {
                let same = self.block(left, *len)? == self.block(right, *len)?;
                Ok((same != *negated).into())
            }
            ExprKind::Call(call) => Ok(self.call(call)?.first().copied().unwrap_or(0)),
            ExprKind::Quantifier {
                kind,
                slot,
                range,
                body,
            } => {
                let mut total = 0_i32;
                let mut decided = None;
                for k in 0..range.len {
                    self.bind(*slot, range.lo.wrapping_add(k as i32));
                    let value = self.eval(body)?;
                    match kind {
                        QuantifierKind::Forall if value == 0 => decided = Some(0),
                        QuantifierKind::Exists if value != 0 => decided = Some(1),
                        QuantifierKind::Sum => total = total.wrapping_add(value),
                        _ => {}
                    }
                    if decided.is_some() && self.searches.is_none() {
                        break;
                    }
                }
                Ok(decided.unwrap_or(match kind {
                    QuantifierKind::Forall => 1,
                    QuantifierKind::Exists => 0,
                    QuantifierKind::Sum => total,
                }))
            }
            ExprKind::SetClock { clock, value } => {
                let clock = self.clock(clock)?;
                let value = self.eval(value)?;
                match i64::from(value) {
                    v if v < 0 => fail(format!("a clock is set to the negative value {v}")),
                    v if v > LARGEST => fail(format!("a clock is set to {v}, beyond 2^30")),
                    v => {
                        self.ops.push(ClockOp::Set(clock, v));
                        Ok(value)
                    }
                }
            }
            ExprKind::CopyClock { target, source } => {
                let (target, source) = (self.clock(target)?, self.clock(source)?);
                if target != source {
                    self.ops.push(ClockOp::Copy(target, source));
                }
                Ok(0)
            }
            ExprKind::At { process, location } => {
                let process = self.process(process)?;
                Ok((self.state.locations[process] == *location).into())
            }
            ExprKind::LocationOf(process) => {
                let process = self.process(process)?;
                Ok(self.state.locations[process] as i32)
            }
            ExprKind::Clock { .. } | ExprKind::Rate { .. } | ExprKind::Deadlock => {
                fail("a clock condition is used as a number, which certificates do not cover")
            }
        }
    }

    fn fit(&self, value: i32, (lo, hi): (i32, i32), of: &str) -> Eval<()> {
        match (lo..=hi).contains(&value) {
            true => Ok(()),
            false => fail(format!(
                "the value {value} does not fit the range [{lo}, {hi}] of {of}"
            )),
        }
    }

    fn offset(&mut self, steps: &[IndexStep]) -> Eval<usize> {
        let mut offset = 0;
        for step in steps {
            let value = i64::from(self.eval(&step.index)?);
            let (lo, len) = (i64::from(step.range.lo), i64::from(step.range.len));
            if !(lo..lo + len).contains(&value) {
                return Err(Failure {
                    message: format!("the index {value} is outside [{lo}, {}]", lo + len - 1),
                    span: Some(step.index.span),
                });
            }
            offset += (value - lo) as usize * step.stride as usize;
        }
        Ok(offset)
    }

    /// The clock that a reference denotes, counted from 0.
    pub(crate) fn clock(&mut self, clock: &ClockRef) -> Eval<usize> {
        let base = match clock.base {
            ClockBase::Clock(c) => c.index(),
            ClockBase::Ref(slot) => match self.slots[self.frame + slot as usize] {
                Slot::Reference(Address::Clock(c)) => c,
                _ => return fail("a clock parameter holds no clock"),
            },
        };
        Ok(base + self.offset(&clock.steps)?)
    }

    fn process(&mut self, process: &ProcessRef) -> Eval<usize> {
        Ok(process.base.index() + self.offset(&process.steps)?)
    }

    /// The channel that a reference denotes.
    pub(crate) fn channel(&mut self, channel: &ChannelRef) -> Eval<ChannelId> {
        Ok(channel.base.plus(self.offset(&channel.steps)? as u32))
    }

    fn address(&mut self, place: &Place) -> Eval<Address> {
        let offset = self.offset(&place.steps)?;
        let base = match place.base {
            Base::Cell(c) => Address::Cell(c.index()),
            Base::Constant(c) => Address::Constant(c as usize),
            Base::Slot(s) => Address::Local(self.frame + s as usize),
            Base::Ref(s) => match self.slots[self.frame + s as usize] {
                Slot::Reference(address) => address,
                Slot::Number(_) => return fail("a reference parameter holds a number"),
            },
        };
        Ok(base.plus(offset))
    }

    fn load(&self, address: Address) -> Eval<i32> {
        match address {
            Address::Cell(c) => match self.state.cells[c] {
                Some(value) => Ok(value),
                None => {
                    let variable = self.network.cells[CellId::at(c)].variable;
                    let name = &self.network.variables[variable].name;
                    fail(format!("`{name}` is read where the certificate has `*`"))
                }
            },
            Address::Constant(c) => Ok(self.network.constants[c]),
            Address::Local(s) => match self.slots[s] {
                Slot::Number(value) => Ok(value),
                Slot::Reference(_) => fail("a reference is read as a number"),
            },
            Address::Clock(_) => fail("a clock is read as a number"),
        }
    }

    fn store(&mut self, address: Address, value: i32) -> Eval<()> {
        match address {
            Address::Cell(c) => {
                let cell = &self.network.cells[CellId::at(c)];
                let (range, variable) = ((cell.lo, cell.hi), cell.variable);
                let name = &self.network.variables[variable].name;
                self.fit(value, range, &format!("`{name}`"))?;
                self.state.cells[c] = Some(value);
            }
            Address::Local(s) => self.slots[s] = Slot::Number(value),
            Address::Constant(_) | Address::Clock(_) => return fail("this cannot be assigned to"),
        }
        Ok(())
    }

    fn copy(&mut self, target: &Place, source: &Block, len: u32) -> Eval<Vec<i32>> {
        let values = self.block(source, len)?;
        let address = self.address(target)?;
        for (k, value) in values.iter().enumerate() {
            self.store(address.plus(k), *value)?;
        }
        Ok(values)
    }

    fn block(&mut self, block: &Block, len: u32) -> Eval<Vec<i32>> {
        match block {
            Block::Place(place) => {
                let address = self.address(place)?;
                (0..len as usize)
                    .map(|k| self.load(address.plus(k)))
                    .collect()
            }
            Block::Call(call) => self.call(call),
            Block::Cond(c, a, b) => {
                let branch = if self.eval(c)? != 0 { a } else { b };
                self.block(branch, len)
            }
            Block::Assign {
                target,
                source,
                len,
            } => self.copy(target, source, *len),
        }
    }

    fn call(&mut self, call: &Call) -> Eval<Vec<i32>> {
        self.round()?;
        let function = &self.network.functions[call.function];
        let mut frame = vec![Slot::Number(0); function.frame as usize];
        for (arg, param) in call.args.iter().zip(&function.params) {
            let at = param.slot as usize;
            let values = match arg {
                Arg::Value(e) => vec![self.eval(e)?],
                Arg::Block(block, len) => self.block(block, *len)?,
                Arg::Ref(place) => {
                    frame[at] = Slot::Reference(self.address(place)?);
                    continue;
                }
                Arg::Clock(clock) => {
                    frame[at] = Slot::Reference(Address::Clock(self.clock(clock)?));
                    continue;
                }
                Arg::Mixed(place, clock) => {
                    frame[at] = Slot::Reference(self.address(place)?);
                    frame[at + 1] = Slot::Reference(Address::Clock(self.clock(clock)?));
                    continue;
                }
            };
            for (k, value) in values.into_iter().enumerate() {
                if let Some(range) = param.ranges.as_ref().and_then(|r| r.get(k)) {
                    self.fit(value, *range, "the parameter that it is passed for")?;
                }
                frame[at + k] = Slot::Number(value);
            }
        }
        let (caller, height) = (self.frame, self.slots.len());
        self.frame = height;
        self.slots.extend(frame);
        let flow = self.run(&function.body)?;
        self.frame = caller;
        self.slots.truncate(height);
        let result = match flow {
            Flow::Return(values) => values,
            _ => Vec::new(),
        };
        if (result.len() as u32) < function.result_len {
            return fail("the function ends without returning a value");
        }
        for (value, range) in result.iter().zip(&function.result_ranges) {
            self.fit(*value, *range, "the function's result")?;
        }
        Ok(result)
    }

    /// Counts a round of a loop or a call: what does not end is a failure.
    fn round(&mut self) -> Eval<()> {
        self.rounds += 1;
        match self.rounds > MOST_ROUNDS {
            true => fail("a loop does not end within the step limit"),
            false => Ok(()),
        }
    }

    fn run(&mut self, statements: &[Stmt]) -> Eval<Flow> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Stmt) -> Eval<Flow> {
        match statement {
            Stmt::Expr(e) => {
                self.eval(e)?;
            }
            Stmt::Init { slot, values } => {
                for (k, value) in (0..).zip(values) {
                    self.bind(slot + k, *value);
                }
            }
            Stmt::If { cond, then, other } => {
                let branch = if self.eval(cond)? != 0 { then } else { other };
                return self.run(branch);
            }
            Stmt::While {
                cond, body, step, ..
            } => {
                while self.eval(cond)? != 0 {
                    self.round()?;
                    match self.run(body)? {
                        Flow::Break => break,
                        Flow::Return(values) => return Ok(Flow::Return(values)),
                        Flow::Next | Flow::Continue => {}
                    }
                    self.run(step)?;
                }
            }
            Stmt::DoWhile { body, cond, .. } => loop {
                self.round()?;
                match self.run(body)? {
                    Flow::Break => break,
                    Flow::Return(values) => return Ok(Flow::Return(values)),
                    Flow::Next | Flow::Continue => {}
                }
                if self.eval(cond)? == 0 {
                    break;
                }
            },
            Stmt::Iterate {
                slot, range, body, ..
            } => {
                let address = std::ptr::from_ref(statement) as usize;
                let whole = self.searches.is_some_and(|s| s.contains(&address));
                let mut returned = None;
                for k in 0..range.len {
                    self.round()?;
                    self.bind(*slot, range.lo.wrapping_add(k as i32));
                    match self.run(body)? {
                        Flow::Break => break,
                        Flow::Return(values) if whole => returned = returned.or(Some(values)),
                        Flow::Return(values) => return Ok(Flow::Return(values)),
                        Flow::Next | Flow::Continue => {}
                    }
                }
                if let Some(values) = returned {
                    return Ok(Flow::Return(values));
                }
            }
            Stmt::Return(None) => return Ok(Flow::Return(Vec::new())),
            Stmt::Return(Some(e)) => return Ok(Flow::Return(vec![self.eval(e)?])),
            Stmt::ReturnBlock(block, len) => return Ok(Flow::Return(self.block(block, *len)?)),
            Stmt::Assert(e) => {
                if self.eval(e)? == 0 {
                    return fail("the assertion is false");
                }
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }
}

/// Applies an operator to two numbers.
pub(crate) fn operate(op: BinaryOp, a: i32, b: i32) -> Eval<i32> {
    let truth = |b: bool| Ok(i32::from(b));
    match op {
        BinaryOp::Add => Ok(a.wrapping_add(b)),
        BinaryOp::Sub => Ok(a.wrapping_sub(b)),
        BinaryOp::Mul => Ok(a.wrapping_mul(b)),
        BinaryOp::Div | BinaryOp::Mod if b == 0 => fail("division by zero"),
        BinaryOp::Div | BinaryOp::Mod if (a, b) == (i32::MIN, -1) => {
            fail("the result does not fit 32 bits")
        }
        BinaryOp::Div => Ok(a / b),
        BinaryOp::Mod => Ok(a % b),
        BinaryOp::Pow => match u32::try_from(b) {
            Ok(exponent) => Ok(a.wrapping_pow(exponent)),
            Err(_) => fail(format!("power with the negative exponent {b}")),
        },
        BinaryOp::Shl | BinaryOp::Shr if !(0..32).contains(&b) => {
            fail(format!("shift by {b}; only 0 to 31 are allowed"))
        }
        BinaryOp::Shl => Ok(((i64::from(a) << b) & 0xffff_ffff) as u32 as i32),
        BinaryOp::Shr => Ok(a >> b),
        BinaryOp::Min => Ok(a.min(b)),
        BinaryOp::Max => Ok(a.max(b)),
        BinaryOp::BitAnd => Ok(a & b),
        BinaryOp::BitXor => Ok(a ^ b),
        BinaryOp::BitOr => Ok(a | b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
        BinaryOp::Xor => truth((a != 0) != (b != 0)),
    }
}
