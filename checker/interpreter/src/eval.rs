//! Evaluation of the network's own expressions over concrete values.
//!
//! Written to be trusted, not to be fast: it shares nothing with the compiled evaluator, so that a
//! mistake in either shows as a trace that does not replay.

use super::arithmetic::{arithmetic, wrap};
use super::regions::Notes;
use super::state::{Comparison, Concrete, Names};
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, Call, CellId, ClockBase, ClockRef, CompareOp, Expr, ExprKind, Id,
    IndexStep, Network, Place, ProcessRef, Stmt, UnaryOp,
};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// The reason why a sequence of steps is not a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

/// Evaluation failed: the model is undefined here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure(broken.message)
    }
}

impl Broken {
    /// A failure without a place.
    pub fn new(message: impl Into<String>) -> Broken {
        Broken {
            message: message.into(),
            span: None,
        }
    }

    /// Sets this expression as the place, unless a more exact place is known.
    fn within(mut self, span: Span) -> Broken {
        self.span.get_or_insert(span);
        self
    }
}

pub(super) type Eval<T> = Result<T, Broken>;

pub(super) fn fail<T>(message: impl Into<String>) -> Eval<T> {
    Err(Broken::new(message))
}

/// What a reference stands for.
#[derive(Clone, Copy, Debug)]
enum Address {
    Cell(usize),
    Constant(usize),
    Local(usize),
    Clock(usize),
}

/// Slots contain numbers or addresses.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Number(i64),
    Address(Address),
}

/// The most steps of one evaluation.
const STEP_LIMIT: u64 = 30_000_000;

/// Evaluates over one concrete state.
pub struct Evaluator<'a> {
    network: &'a Network,
    /// The state; updates change it.
    pub state: &'a mut Concrete,
    slots: Vec<Slot>,
    base: usize,
    steps: u64,
    /// Expressions and statements that are being evaluated.
    depth: u32,
    /// The value of `deadlock`, if it was computed.
    pub dead: Option<bool>,
}

enum Flow {
    On,
    Break,
    Continue,
    Return(Vec<i64>),
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator with a frame of `frame` slots.
    pub fn new(network: &'a Network, state: &'a mut Concrete, frame: u32) -> Evaluator<'a> {
        Evaluator {
            network,
            state,
            slots: vec![Slot::Number(0); frame as usize],
            base: 0,
            steps: 0,
            depth: 0,
            dead: None,
        }
    }

    /// Sets a slot of the outermost frame.
    pub fn bind(&mut self, slot: u32, value: i32) {
        self.slots[slot as usize] = Slot::Number(i64::from(value));
    }

    /// The value of an expression; clock conditions are decided by the concrete clocks.
    pub fn eval(&mut self, expr: &Expr) -> Eval<i64> {
        self.charge(1)?;
        self.depth += 1;
        let value = self.value(expr);
        self.depth -= 1;
        value.map_err(|broken| broken.within(expr.span))
    }

    /// Charges steps to the budget of the state, if there is one.
    fn charge(&self, steps: usize) -> Eval<()> {
        match &self.state.budget {
            Some(budget) => {
                budget.nested(self.depth)?;
                budget.step(steps as u64)
            }
            None => Ok(()),
        }
    }

    /// Whether a guard holds. A part that fails counts only where no other part is false,
    /// regardless of the order in which the parts are written; of the parts without clocks, those
    /// after the first that fails are not evaluated.
    pub(super) fn guard(&mut self, guard: &Expr) -> Eval<bool> {
        let broken = match self.eval(guard) {
            Ok(value) => return Ok(value != 0),
            Err(broken) => broken,
        };
        let mut parts = Vec::new();
        conjuncts(guard, &mut parts);
        let (clocks, integers): (Vec<&Expr>, Vec<&Expr>) =
            parts.into_iter().partition(|part| has_clocks(part));
        let mut broken_integer = None;
        for part in integers {
            match self.eval(part) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(broken) => {
                    broken_integer = Some(broken);
                    break;
                }
            }
        }
        for part in clocks {
            if self.eval(part) == Ok(0) {
                return Ok(false);
            }
        }
        Err(broken_integer.unwrap_or(broken))
    }

    fn value(&mut self, expr: &Expr) -> Eval<i64> {
        let value = match &expr.kind {
            ExprKind::Const(c) => i64::from(*c),
            ExprKind::Read(place) => {
                let address = self.address(place)?;
                self.load(address)?
            }
            ExprKind::Unary(UnaryOp::Neg, a) => -self.eval(a)?,
            ExprKind::Unary(UnaryOp::Not, a) => i64::from(self.eval(a)? == 0),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b)?,
            ExprKind::Cond(c, a, b) => {
                let branch = if self.eval(c)? != 0 { a } else { b };
                self.eval(branch)?
            }
            ExprKind::Assign {
                place,
                op,
                value,
                old_value,
            } => self.assign(place, *op, value, *old_value)?,
            ExprKind::Copy {
                target,
                source,
                len,
            } => {
                self.copy(target, source, *len)?;
                0
            }
            ExprKind::SameBlock {
                left,
                right,
                len,
                negated,
            } => {
                let same = self.block(left, *len)? == self.block(right, *len)?;
                i64::from(same != *negated)
            }
            ExprKind::Call(call) => self.call(call)?.first().copied().unwrap_or(0),
            ExprKind::Quantifier {
                kind,
                slot,
                range,
                body,
            } => {
                let mut sum = 0;
                let (mut all, mut some) = (true, false);
                for k in 0..range.len {
                    self.slots[self.base + *slot as usize] =
                        Slot::Number(i64::from(range.lo) + i64::from(k));
                    let value = self.eval(body)?;
                    sum = wrap(sum + value);
                    all &= value != 0;
                    some |= value != 0;
                    if (*kind == QuantifierKind::Forall && !all)
                        || (*kind == QuantifierKind::Exists && some)
                    {
                        break;
                    }
                }
                match kind {
                    QuantifierKind::Forall => i64::from(all),
                    QuantifierKind::Exists => i64::from(some),
                    QuantifierKind::Sum => sum,
                }
            }
            ExprKind::Clock {
                left,
                right,
                op,
                bound,
            } => self.compare_clocks(left, right.as_ref(), *op, bound)?,
            ExprKind::Rate { .. } => 1,
            ExprKind::SetClock { clock, value } => {
                let clock = self.clock(clock)?;
                let value = self.eval(value)?;
                if value < 0 {
                    return fail(format!("a clock is set to the negative value {value}"));
                }
                self.note(|notes| notes.set(value));
                let Some(parts) = value.checked_mul(self.state.unit) else {
                    return fail(
                        "a clock is set to a value too large for the fractions of this run",
                    );
                };
                self.state.clocks[clock] = parts;
                value
            }
            ExprKind::CopyClock { target, source } => {
                let (target, source) = (self.clock(target)?, self.clock(source)?);
                self.note(|notes| notes.copy(target, source));
                self.state.clocks[target] = self.state.clocks[source];
                0
            }
            ExprKind::At { process, location } => {
                let p = self.process(process)?;
                i64::from(self.state.locations[p] == *location)
            }
            ExprKind::LocationOf(process) => {
                let p = self.process(process)?;
                i64::from(self.state.locations[p])
            }
            ExprKind::Deadlock => match self.dead {
                Some(dead) => i64::from(dead),
                None => return fail("deadlock is no condition of a single state"),
            },
        };
        Ok(wrap(value))
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Eval<i64> {
        match op {
            BinaryOp::And => return Ok(i64::from(self.eval(a)? != 0 && self.eval(b)? != 0)),
            BinaryOp::Or => return Ok(i64::from(self.eval(a)? != 0 || self.eval(b)? != 0)),
            _ => {}
        }
        let (a, b) = (self.eval(a)?, self.eval(b)?);
        arithmetic(op, a, b)
    }

    /// The clocks whose rate a condition sets, with their rates.
    pub(super) fn rates(&mut self, condition: &Expr) -> Eval<Vec<(usize, i64)>> {
        self.charge(1)?;
        match &condition.kind {
            ExprKind::Rate { clock, rate } => Ok(vec![(self.clock(clock)?, self.eval(rate)?)]),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let mut rates = self.rates(a)?;
                rates.extend(self.rates(b)?);
                Ok(rates)
            }
            ExprKind::Quantifier {
                slot, range, body, ..
            } => {
                let mut rates = Vec::new();
                for k in 0..range.len {
                    self.bind(*slot, range.lo + k as i32);
                    rates.extend(self.rates(body)?);
                }
                Ok(rates)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn compare_clocks(
        &mut self,
        left: &ClockRef,
        right: Option<&ClockRef>,
        op: CompareOp,
        bound: &Expr,
    ) -> Eval<i64> {
        let left = self.clock(left)?;
        let mut value = self.state.clocks[left];
        let constant = self.eval(bound)?;
        let bound = constant.saturating_mul(self.state.unit);
        let right = right.map(|right| self.clock(right)).transpose()?;
        if let Some(right) = right {
            value -= self.state.clocks[right];
            self.note(|notes| notes.compare_difference(constant));
        } else {
            self.note(|notes| notes.compare(left, constant));
        }
        if let Some(comparisons) = &mut self.state.comparisons {
            comparisons.push(Comparison::new(left, right, bound.saturating_sub(value)));
        }
        Ok(i64::from(match op {
            CompareOp::Lt => value < bound,
            CompareOp::Le => value <= bound,
            CompareOp::Ge => value >= bound,
            CompareOp::Gt => value > bound,
            CompareOp::Eq => value == bound,
            CompareOp::Ne => value != bound,
        }))
    }

    /// Records something if the state asks for notes.
    fn note(&self, what: impl FnOnce(&mut Notes)) {
        if let Some(notes) = &self.state.notes {
            what(&mut notes.borrow_mut());
        }
    }

    pub(super) fn offset(&mut self, steps: &[IndexStep]) -> Eval<usize> {
        let mut offset = 0;
        for step in steps {
            let value = self.eval(&step.index)?;
            let (lo, len) = (i64::from(step.range.lo), i64::from(step.range.len));
            let index = value - lo;
            if index < 0 || index >= len {
                let message = format!("the index {value} is outside [{lo}, {}]", lo + len - 1);
                return Err(Broken::new(message).within(step.index.span));
            }
            offset += index as usize * step.stride as usize;
        }
        Ok(offset)
    }

    fn clock(&mut self, clock: &ClockRef) -> Eval<usize> {
        let base = match clock.base {
            ClockBase::Clock(c) => c.index(),
            ClockBase::Ref(slot) => match self.slots[self.base + slot as usize] {
                Slot::Address(Address::Clock(c)) => c,
                _ => return fail("a clock parameter holds no clock"),
            },
        };
        Ok(base + self.offset(&clock.steps)?)
    }

    fn process(&mut self, process: &ProcessRef) -> Eval<usize> {
        Ok(process.base.index() + self.offset(&process.steps)?)
    }

    fn address(&mut self, place: &Place) -> Eval<Address> {
        let offset = self.offset(&place.steps)?;
        let base = match place.base {
            Base::Cell(c) => Address::Cell(c.index()),
            Base::Constant(c) => Address::Constant(c as usize),
            Base::Slot(s) => Address::Local(self.base + s as usize),
            Base::Ref(s) => match self.slots[self.base + s as usize] {
                Slot::Address(address) => address,
                Slot::Number(_) => return fail("a reference parameter holds a number"),
            },
        };
        Ok(moved(base, offset))
    }

    fn load(&self, address: Address) -> Eval<i64> {
        Ok(match address {
            Address::Cell(c) => i64::from(self.state.cells[c]),
            Address::Constant(c) => i64::from(self.network.constants[c]),
            Address::Local(s) => match self.slots[s] {
                Slot::Number(n) => n,
                Slot::Address(_) => return fail("a reference is read as a number"),
            },
            Address::Clock(_) => return fail("a clock is read as a number"),
        })
    }

    fn store(&mut self, address: Address, value: i64) -> Eval<()> {
        match address {
            Address::Cell(c) => {
                let cell = &self.network.cells[CellId::at(c)];
                if value < i64::from(cell.lo) || value > i64::from(cell.hi) {
                    return self.misfit(value, (cell.lo, cell.hi), address);
                }
                self.state.cells[c] = value as i32;
            }
            Address::Local(s) => self.slots[s] = Slot::Number(value),
            Address::Constant(_) | Address::Clock(_) => return fail("this cannot be assigned to"),
        }
        Ok(())
    }

    fn assign(
        &mut self,
        place: &Place,
        op: Option<BinaryOp>,
        value: &Expr,
        old_value: bool,
    ) -> Eval<i64> {
        let value = self.eval(value)?;
        let address = self.address(place)?;
        let old = self.load(address)?;
        let new = match op {
            Some(op) => arithmetic(op, old, value)?,
            None => value,
        };
        if new < i64::from(place.lo) || new > i64::from(place.hi) {
            return self.misfit(new, (place.lo, place.hi), address);
        }
        self.store(address, new)?;
        Ok(if old_value { old } else { new })
    }

    fn misfit<T>(&self, value: i64, (lo, hi): (i32, i32), address: Address) -> Eval<T> {
        let to = match address {
            Address::Cell(c) => format!("`{}`", Names::new(self.network).cell(CellId::at(c))),
            _ => "its target".to_owned(),
        };
        fail(format!(
            "the value {value} does not fit the range [{lo}, {hi}] of {to}"
        ))
    }

    fn copy(&mut self, target: &Place, source: &Block, len: u32) -> Eval<Vec<i64>> {
        let values = self.block(source, len)?;
        let address = self.address(target)?;
        for (k, value) in values.iter().enumerate() {
            self.store(moved(address, k), *value)?;
        }
        Ok(values)
    }

    fn block(&mut self, block: &Block, len: u32) -> Eval<Vec<i64>> {
        self.charge(len as usize)?;
        match block {
            Block::Place(place) => {
                let address = self.address(place)?;
                (0..len as usize)
                    .map(|k| self.load(moved(address, k)))
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

    fn call(&mut self, call: &Call) -> Eval<Vec<i64>> {
        self.tick()?;
        let function = &self.network.functions[call.function];
        self.charge(function.frame as usize)?;
        if let Some(budget) = &self.state.budget {
            let slots = self.slots.len() + function.frame as usize;
            budget.hold(slots.saturating_mul(size_of::<Slot>()))?;
        }
        let mut frame = vec![Slot::Number(0); function.frame as usize];
        for (arg, param) in call.args.iter().zip(&function.params) {
            let at = param.slot as usize;
            let values = match arg {
                Arg::Value(e) => vec![self.eval(e)?],
                Arg::Block(b, len) => self.block(b, *len)?,
                Arg::Ref(place) => {
                    frame[at] = Slot::Address(self.address(place)?);
                    continue;
                }
                Arg::Clock(clock) => {
                    frame[at] = Slot::Address(Address::Clock(self.clock(clock)?));
                    continue;
                }
                Arg::Mixed(place, clock) => {
                    frame[at] = Slot::Address(self.address(place)?);
                    frame[at + 1] = Slot::Address(Address::Clock(self.clock(clock)?));
                    continue;
                }
            };
            for (k, value) in values.into_iter().enumerate() {
                if let Some((lo, hi)) = param.ranges.as_ref().and_then(|r| r.get(k))
                    && (value < i64::from(*lo) || value > i64::from(*hi))
                {
                    let broken = Broken::new(format!(
                        "the value {value} does not fit the range [{lo}, {hi}] of the parameter that it is passed for"
                    ));
                    return Err(match arg {
                        Arg::Value(e) => broken.within(e.span),
                        _ => broken,
                    });
                }
                frame[at + k] = Slot::Number(value);
            }
        }
        let (caller, height) = (self.base, self.slots.len());
        self.base = height;
        self.slots.extend(frame);
        let flow = self.run(&function.body)?;
        self.base = caller;
        self.slots.truncate(height);
        let result = match flow {
            Flow::Return(values) => values,
            _ => Vec::new(),
        };
        if (result.len() as u32) < function.result_len {
            return fail("a function ends without returning a value");
        }
        for (value, (lo, hi)) in result.iter().zip(&function.result_ranges) {
            if *value < i64::from(*lo) || *value > i64::from(*hi) {
                return fail(format!(
                    "the value {value} does not fit the range [{lo}, {hi}] of the function's result"
                ));
            }
        }
        Ok(result)
    }

    fn tick(&mut self) -> Eval<()> {
        self.steps += 1;
        if self.steps > STEP_LIMIT {
            fail("a loop does not end")
        } else {
            Ok(())
        }
    }

    fn run(&mut self, stmts: &[Stmt]) -> Eval<Flow> {
        for stmt in stmts {
            match self.statement(stmt)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, stmt: &Stmt) -> Eval<Flow> {
        self.charge(1)?;
        self.depth += 1;
        let flow = self.perform(stmt);
        self.depth -= 1;
        flow
    }

    fn perform(&mut self, stmt: &Stmt) -> Eval<Flow> {
        match stmt {
            Stmt::Expr(e) => {
                self.eval(e)?;
            }
            Stmt::Init { slot, values } => {
                self.charge(values.len())?;
                for (k, value) in values.iter().enumerate() {
                    self.slots[self.base + *slot as usize + k] = Slot::Number(i64::from(*value));
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
                    self.tick()?;
                    match self.run(body)? {
                        Flow::Break => break,
                        Flow::Return(v) => return Ok(Flow::Return(v)),
                        Flow::On | Flow::Continue => {}
                    }
                    self.run(step)?;
                }
            }
            Stmt::DoWhile { body, cond, .. } => loop {
                self.tick()?;
                match self.run(body)? {
                    Flow::Break => break,
                    Flow::Return(v) => return Ok(Flow::Return(v)),
                    Flow::On | Flow::Continue => {}
                }
                if self.eval(cond)? == 0 {
                    break;
                }
            },
            Stmt::Iterate {
                slot, range, body, ..
            } => {
                for k in 0..range.len {
                    self.tick()?;
                    self.slots[self.base + *slot as usize] =
                        Slot::Number(i64::from(range.lo) + i64::from(k));
                    match self.run(body)? {
                        Flow::Break => break,
                        Flow::Return(v) => return Ok(Flow::Return(v)),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::Return(None) => return Ok(Flow::Return(Vec::new())),
            Stmt::Return(Some(e)) => return Ok(Flow::Return(vec![self.eval(e)?])),
            Stmt::ReturnBlock(block, len) => return Ok(Flow::Return(self.block(block, *len)?)),
            Stmt::Assert(e) => {
                if self.eval(e)? == 0 {
                    return fail("an assertion is false");
                }
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }
}

/// The parts of a condition that must all hold.
pub(super) fn conjuncts<'e>(expr: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        _ => out.push(expr),
    }
}

/// Whether a condition compares a clock.
fn has_clocks(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Clock { .. } => true,
        ExprKind::Unary(_, a) => has_clocks(a),
        ExprKind::Binary(_, a, b) => has_clocks(a) || has_clocks(b),
        ExprKind::Cond(c, a, b) => [c, a, b].into_iter().any(|e| has_clocks(e)),
        ExprKind::Quantifier { body, .. } => has_clocks(body),
        _ => false,
    }
}

fn moved(address: Address, offset: usize) -> Address {
    match address {
        Address::Cell(i) => Address::Cell(i + offset),
        Address::Constant(i) => Address::Constant(i + offset),
        Address::Local(i) => Address::Local(i + offset),
        Address::Clock(i) => Address::Clock(i + offset),
    }
}
