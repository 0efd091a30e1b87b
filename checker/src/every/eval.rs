//! Evaluation with elements outside of the configuration: Kleene's three values by *choices*.
//!
//! A value that depends on elements outside is *open*. Only truth values can be open: a `forall`
//! over the set that is true on the members, an `exists` that is false on them, and `other ==
//! other`. The evaluator asks its [`Choices`] which of both values to take and uses that one, so
//! that one evaluation follows one of the possibilities; [`Choices::next`] takes the others one
//! after the other. Two open values are chosen independently, although they may be the same: this
//! only adds possibilities. `false && open` is false for both choices, as it must be.
//!
//! To read the part of *other* ends the evaluation with [`Halt::Unseen`]; what this means is
//! decided where the evaluation was started. Every other failure is [`Halt::Broken`], and then
//! nothing is proved. Bodies of quantifiers over the set are evaluated for all members, also after
//! one has decided: elements outside may come first in the order of the set.

use super::state::{OTHER, State};
use crate::mutation::{Mutation, is_on};
use zonelens_analysis::every::Layout;
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, Call, CellId, ChannelRef, ClockBase, ClockRef, Expr, ExprKind, Id,
    IndexRange, IndexStep, Network, Place, ProcessRef, Stmt, UnaryOp,
};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// The most loop iterations and calls of one evaluation.
const MOST_ROUNDS: u32 = 200_000;

/// The most possibilities of one evaluation.
const MOST_CHOICES: u32 = 1 << 12;

/// An evaluation without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The part of an element outside was read.
    Unseen,
    /// The evaluation fails, or cannot be followed.
    Broken(String, Option<Span>),
}

pub(crate) type Eval<T> = Result<T, Halt>;

pub(crate) fn broken<T>(message: impl Into<String>) -> Eval<T> {
    Err(Halt::Broken(message.into(), None))
}

/// Which value the open ones take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    taken: Vec<bool>,
    at: usize,
    rounds: u32,
}

impl Choices {
    fn choose(&mut self) -> bool {
        if self.at == self.taken.len() {
            self.taken.push(false);
        }
        self.at += 1;
        self.taken[self.at - 1]
    }

    /// Goes to the next combination; false after the last one.
    pub(crate) fn next(&mut self) -> Eval<bool> {
        self.at = 0;
        self.rounds += 1;
        while self.taken.last() == Some(&true) {
            self.taken.pop();
        }
        let Some(last) = self.taken.last_mut() else {
            return Ok(false);
        };
        *last = true;
        match self.rounds > MOST_CHOICES {
            true => broken("too many comparisons depend on elements outside of a view"),
            false => Ok(true),
        }
    }
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
    fn plus(self, k: usize) -> Address {
        match self {
            Address::Cell(i) => Address::Cell(i + k),
            Address::Constant(i) => Address::Constant(i + k),
            Address::Local(i) => Address::Local(i + k),
            Address::Clock(i) => Address::Clock(i + k),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Number(i64),
    Reference(Address),
}

enum Flow {
    Next,
    Break,
    Continue,
    Return(Vec<i64>),
}

/// An assignment to a clock of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockOp {
    /// Sets it to a number.
    Set(usize, i64),
    /// Sets the first to the second.
    Copy(usize, usize),
}

/// Evaluates over one configuration; updates change it and record assignments to clocks.
pub(crate) struct Evaluator<'a> {
    network: &'a Network,
    layout: &'a Layout,
    pub state: State,
    pub choices: Choices,
    pub ops: Vec<ClockOp>,
    slots: Vec<Slot>,
    frame: usize,
    rounds: u32,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(network: &'a Network, layout: &'a Layout, state: State) -> Evaluator<'a> {
        Evaluator {
            network,
            layout,
            state,
            choices: Choices::default(),
            ops: Vec::new(),
            slots: Vec::new(),
            frame: 0,
            rounds: 0,
        }
    }

    /// Begins a frame with `size` slots.
    pub(crate) fn enter(&mut self, size: u32) {
        self.slots.clear();
        self.slots.resize(size as usize, Slot::Number(0));
        self.frame = 0;
        self.rounds = 0;
    }

    /// Sets a slot of the current frame.
    pub(crate) fn bind(&mut self, slot: u32, value: i64) {
        self.slots[self.frame + slot as usize] = Slot::Number(value);
    }

    /// The values of a range, and whether there are others outside.
    pub(crate) fn range(&self, range: &IndexRange) -> (std::ops::Range<i64>, bool) {
        let lo = i64::from(range.lo);
        match range.scalarset == Some(self.layout.set) {
            true => (lo..lo + self.state.members as i64, true),
            false => (lo..lo + i64::from(range.len), false),
        }
    }

    /// The value of an expression without clocks.
    pub(crate) fn eval(&mut self, e: &Expr) -> Eval<i64> {
        self.value(e).map_err(|halt| match halt {
            Halt::Broken(message, None) => Halt::Broken(message, Some(e.span)),
            other => other,
        })
    }

    /// The truth value of an expression without clocks.
    pub(crate) fn truth(&mut self, e: &Expr) -> Eval<bool> {
        match self.eval(e)? {
            OTHER => broken("an element is used as a truth value"),
            v => Ok(v != 0),
        }
    }

    /// An open truth value.
    pub(crate) fn open(&mut self) -> bool {
        self.choices.choose()
    }

    fn value(&mut self, e: &Expr) -> Eval<i64> {
        match &e.kind {
            ExprKind::Const(c) => Ok(i64::from(*c)),
            ExprKind::Read(place) => {
                let address = self.address(place)?;
                self.load(address)
            }
            ExprKind::Unary(UnaryOp::Neg, a) => {
                let a = self.number(a)?;
                Ok(i64::from(a.wrapping_neg()))
            }
            ExprKind::Unary(UnaryOp::Not, a) => Ok((!self.truth(a)?).into()),
            ExprKind::Binary(BinaryOp::And, a, b) => Ok((self.truth(a)? && self.truth(b)?).into()),
            ExprKind::Binary(BinaryOp::Or, a, b) => Ok((self.truth(a)? || self.truth(b)?).into()),
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                Ok((self.same(a, b) == (*op == BinaryOp::Eq)).into())
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                operate(*op, a, b)
            }
            ExprKind::Cond(c, a, b) => {
                let branch = if self.truth(c)? { a } else { b };
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
                let old = self.load(address)?;
                let new = match op {
                    Some(op) => operate(*op, int(old)?, int(value)?)?,
                    None => value,
                };
                self.fit(
                    new,
                    (place.lo, place.hi),
                    place.scalarset == Some(self.layout.set),
                )?;
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
                let (left, right) = (self.block(left, *len)?, self.block(right, *len)?);
                let mut same = true;
                for (a, b) in left.into_iter().zip(right) {
                    same &= self.same(a, b);
                }
                Ok((same != *negated).into())
            }
            ExprKind::Call(call) => Ok(self.call(call)?.first().copied().unwrap_or(0)),
            ExprKind::Quantifier {
                kind,
                slot,
                range,
                body,
            } => {
                let (values, others) = self.range(range);
                let mut decided = false;
                let ends_with = *kind == QuantifierKind::Exists;
                let mut total = 0_i32;
                for v in values {
                    self.bind(*slot, v);
                    if *kind == QuantifierKind::Sum {
                        total = total.wrapping_add(self.number(body)?);
                        continue;
                    }
                    decided |= self.truth(body)? == ends_with;
                    if decided && !others {
                        break;
                    }
                }
                if *kind == QuantifierKind::Sum {
                    return match others {
                        true => broken("`sum` over the set counts elements"),
                        false => Ok(i64::from(total)),
                    };
                }
                // Elements outside may decide what the members do not.
                if !decided && others && !is_on(Mutation::EveryQuantifierClosed) {
                    decided = self.open();
                }
                Ok((decided == ends_with).into())
            }
            ExprKind::SetClock { clock, value } => {
                let clock = self.clock(clock)?;
                let value = self.number(value)?;
                if value < 0 {
                    return broken(format!("a clock is set to the negative value {value}"));
                }
                self.ops.push(ClockOp::Set(clock, i64::from(value)));
                Ok(i64::from(value))
            }
            ExprKind::CopyClock { target, source } => {
                let (target, source) = (self.clock(target)?, self.clock(source)?);
                if target != source {
                    self.ops.push(ClockOp::Copy(target, source));
                }
                Ok(0)
            }
            ExprKind::At { process, location } => {
                let p = self.process(process)?;
                Ok((self.state.locations[p] == *location).into())
            }
            ExprKind::LocationOf(process) => {
                let p = self.process(process)?;
                Ok(i64::from(self.state.locations[p]))
            }
            ExprKind::Clock { .. } | ExprKind::Rate { .. } | ExprKind::Deadlock => {
                broken("a condition over clocks is used in a way that is not followed")
            }
        }
    }

    /// Whether two values are equal. A member is never *other*; two others may be the same.
    fn same(&mut self, a: i64, b: i64) -> bool {
        match a == OTHER && b == OTHER && !is_on(Mutation::EveryOthersEqual) {
            true => self.open(),
            false => a == b,
        }
    }

    fn number(&mut self, e: &Expr) -> Eval<i32> {
        int(self.eval(e)?)
    }

    fn fit(&self, value: i64, (lo, hi): (i32, i32), elements: bool) -> Eval<()> {
        match value {
            OTHER if elements => Ok(()),
            OTHER => broken("an element is stored where the range of numbers is checked"),
            v if (i64::from(lo)..=i64::from(hi)).contains(&v) => Ok(()),
            v => broken(format!("the value {v} does not fit the range [{lo}, {hi}]")),
        }
    }

    fn offset(&mut self, steps: &[IndexStep]) -> Eval<usize> {
        let mut offset = 0;
        let mut unseen = false;
        for step in steps {
            let value = self.eval(&step.index)?;
            if value == OTHER {
                if step.range.scalarset != Some(self.layout.set) {
                    return broken("an element is used as a number");
                }
                unseen = true;
                continue;
            }
            let (lo, len) = (i64::from(step.range.lo), i64::from(step.range.len));
            if !(lo..lo + len).contains(&value) {
                let message = format!("the index {value} is outside [{lo}, {}]", lo + len - 1);
                return Err(Halt::Broken(message, Some(step.index.span)));
            }
            offset += (value - lo) as usize * step.stride as usize;
        }
        if unseen {
            return Err(Halt::Unseen);
        }
        Ok(offset)
    }

    /// The clock of a reference, counted from 0.
    pub(crate) fn clock(&mut self, clock: &ClockRef) -> Eval<usize> {
        let base = match clock.base {
            ClockBase::Clock(c) => c.index(),
            ClockBase::Ref(slot) => match self.slots[self.frame + slot as usize] {
                Slot::Reference(Address::Clock(c)) => c,
                _ => return broken("a clock parameter holds no clock"),
            },
        };
        let clock = base + self.offset(&clock.steps)?;
        self.seen(self.layout.clock_owner.get(clock).copied().flatten())?;
        Ok(clock)
    }

    fn process(&mut self, process: &ProcessRef) -> Eval<usize> {
        let p = process.base.index() + self.offset(&process.steps)?;
        self.seen(self.layout.process_owner.get(p).copied().flatten())?;
        Ok(p)
    }

    /// The channel of a reference.
    pub(crate) fn channel(&mut self, channel: &ChannelRef) -> Eval<u32> {
        Ok(channel.base.0 + self.offset(&channel.steps)? as u32)
    }

    /// Whatever is read belongs to a member: no value denotes another element of the network.
    fn seen(&self, owner: Option<u32>) -> Eval<()> {
        match owner.is_none_or(|e| (e as usize) < self.state.members) {
            true => Ok(()),
            false => broken("a number names an element"),
        }
    }

    fn address(&mut self, place: &Place) -> Eval<Address> {
        let offset = self.offset(&place.steps)?;
        let base = match place.base {
            Base::Cell(c) => Address::Cell(c.index()),
            Base::Constant(c) => Address::Constant(c as usize),
            Base::Slot(s) => Address::Local(self.frame + s as usize),
            Base::Ref(s) => match self.slots[self.frame + s as usize] {
                Slot::Reference(address) => address,
                Slot::Number(_) => return broken("a reference parameter holds a number"),
            },
        };
        let address = base.plus(offset);
        if let Address::Cell(c) = address {
            self.seen(self.layout.cell_owner.get(c).copied().flatten())?;
        }
        Ok(address)
    }

    fn load(&self, address: Address) -> Eval<i64> {
        match address {
            Address::Cell(c) => Ok(self.state.cells[c]),
            Address::Constant(c) => Ok(i64::from(self.network.constants[c])),
            Address::Local(s) => match self.slots[s] {
                Slot::Number(v) => Ok(v),
                Slot::Reference(_) => broken("a reference is read as a number"),
            },
            Address::Clock(_) => broken("a clock is read as a number"),
        }
    }

    fn store(&mut self, address: Address, value: i64) -> Eval<()> {
        match address {
            Address::Cell(c) => {
                let cell = &self.network.cells[CellId::at(c)];
                let elements = cell.scalarset == Some(self.layout.set);
                self.fit(value, (cell.lo, cell.hi), elements)?;
                self.seen(self.layout.cell_owner[c])?;
                self.state.cells[c] = value;
            }
            Address::Local(s) => self.slots[s] = Slot::Number(value),
            Address::Constant(_) | Address::Clock(_) => {
                return broken("this cannot be assigned to");
            }
        }
        Ok(())
    }

    fn copy(&mut self, target: &Place, source: &Block, len: u32) -> Eval<Vec<i64>> {
        let values = self.block(source, len)?;
        let address = self.address(target)?;
        for (k, value) in values.iter().enumerate() {
            self.store(address.plus(k), *value)?;
        }
        Ok(values)
    }

    fn block(&mut self, block: &Block, len: u32) -> Eval<Vec<i64>> {
        match block {
            Block::Place(place) => {
                let address = self.address(place)?;
                let mut values = Vec::new();
                for k in 0..len as usize {
                    let at = address.plus(k);
                    if let Address::Cell(c) = at {
                        // An array over the set has parts of all elements.
                        self.seen(self.layout.cell_owner.get(c).copied().flatten())?;
                    }
                    values.push(self.load(at)?);
                }
                Ok(values)
            }
            Block::Call(call) => self.call(call),
            Block::Cond(c, a, b) => {
                let branch = if self.truth(c)? { a } else { b };
                self.block(branch, len)
            }
            Block::Assign {
                target,
                source,
                len,
            } => self.copy(target, source, *len),
        }
    }

    fn call(&mut self, call: &Call) -> Eval<Vec<i64>> {
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
                    // The type of the parameter holds every element: `analysis::every` checks it.
                    self.fit(value, *range, true)?;
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
            return broken("the function ends without returning a value");
        }
        for (value, range) in result.iter().zip(&function.result_ranges) {
            self.fit(*value, *range, true)?;
        }
        Ok(result)
    }

    fn round(&mut self) -> Eval<()> {
        self.rounds += 1;
        match self.rounds > MOST_ROUNDS {
            true => broken("a loop does not end within the step limit"),
            false => Ok(()),
        }
    }

    fn run(&mut self, statements: &[Stmt]) -> Eval<Flow> {
        for s in statements {
            match self.statement(s)? {
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
                    self.bind(slot + k, i64::from(*value));
                }
            }
            Stmt::If { cond, then, other } => {
                let branch = if self.truth(cond)? { then } else { other };
                return self.run(branch);
            }
            Stmt::While {
                cond, body, step, ..
            } => {
                while self.truth(cond)? {
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
                if !self.truth(cond)? {
                    break;
                }
            },
            Stmt::Iterate {
                slot, range, body, ..
            } => {
                // Over the set, a loop sets an entry of each element: those outside are not seen.
                for v in self.range(range).0 {
                    self.round()?;
                    self.bind(*slot, v);
                    match self.run(body)? {
                        Flow::Break => break,
                        Flow::Return(values) => return Ok(Flow::Return(values)),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Stmt::Return(None) => return Ok(Flow::Return(Vec::new())),
            Stmt::Return(Some(e)) => return Ok(Flow::Return(vec![self.eval(e)?])),
            Stmt::ReturnBlock(block, len) => return Ok(Flow::Return(self.block(block, *len)?)),
            Stmt::Assert(e) => {
                if !self.truth(e)? {
                    return broken("the assertion is false");
                }
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }
}

/// A number; an element outside is none.
fn int(value: i64) -> Eval<i32> {
    i32::try_from(value).or_else(|_| broken("an element is used as a number"))
}

/// Applies an operator to two numbers; they wrap around at 32 bits.
fn operate(op: BinaryOp, a: i32, b: i32) -> Eval<i64> {
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Mod if b == 0 => return broken("division by zero"),
        BinaryOp::Div => match a.checked_div(b) {
            Some(v) => v,
            None => return broken("the result does not fit 32 bits"),
        },
        BinaryOp::Mod => match a.checked_rem(b) {
            Some(v) => v,
            None => return broken("the result does not fit 32 bits"),
        },
        BinaryOp::Pow => match u32::try_from(b) {
            Ok(exponent) => a.wrapping_pow(exponent),
            Err(_) => return broken(format!("power with the negative exponent {b}")),
        },
        BinaryOp::Shl | BinaryOp::Shr if !(0..32).contains(&b) => {
            return broken(format!("shift by {b}; only 0 to 31 are allowed"));
        }
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr => a.wrapping_shr(b as u32),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
        BinaryOp::Lt => (a < b).into(),
        BinaryOp::Le => (a <= b).into(),
        BinaryOp::Ge => (a >= b).into(),
        BinaryOp::Gt => (a > b).into(),
        BinaryOp::Eq => (a == b).into(),
        BinaryOp::Ne => (a != b).into(),
        BinaryOp::And => (a != 0 && b != 0).into(),
        BinaryOp::Or => (a != 0 || b != 0).into(),
        BinaryOp::Xor => ((a != 0) != (b != 0)).into(),
    };
    Ok(i64::from(value))
}
