//! Calls of functions and the execution of their bodies.

use super::code::*;
use super::eval::{Eval, Machine, STEP_LIMIT, encode};
use super::fault::{FaultKind, Target};
use super::model::Program;
use zonelens_syntax::span::Span;

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

impl Machine {
    pub(super) fn call(
        &mut self,
        program: &Program,
        call: &CallCode,
        state: &mut [i32],
    ) -> Eval<i32> {
        let function = &program.functions[call.function as usize];
        self.step(call.span)?;
        // Arguments are evaluated in the caller's frame and written above it. Inner calls use the
        // space above `top`.
        let (caller_base, caller_top) = (self.base, self.top);
        let new_base = caller_top;
        let new_top = new_base + function.frame as usize;
        self.top = new_top;
        if self.stack.len() < new_top {
            self.stack.resize(new_top, 0);
        }
        for (arg, param) in call.args.iter().zip(&function.params) {
            let at = new_base + param.slot as usize;
            self.argument(program, arg, param, (at, call.span), state)?;
        }
        self.base = new_base;
        self.block.clear();
        let flow = self.run(program, &function.body, function.result_len, state)?;
        self.base = caller_base;
        self.top = caller_top;
        match (flow, function.result_len) {
            (Flow::Return, 1) if self.block.is_empty() => {
                let value = self.result;
                let range = function.result_ranges.first();
                self.check_range(value, range, Target::Result, call.span)?;
                Ok(value)
            }
            (Flow::Return, n) if n > 0 => {
                let mut values = self.block.iter().zip(&function.result_ranges);
                if let Some((&value, &(lo, hi))) =
                    values.find(|(value, (lo, hi))| *value < lo || *value > hi)
                {
                    let to = Target::Result;
                    return self.fail(FaultKind::Range { value, lo, hi, to }, call.span);
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
        (at, call): (usize, Span),
        state: &mut [i32],
    ) -> Eval<()> {
        match arg {
            ArgCode::Value(code, span) => {
                let value = self.value(program, code, state)?;
                let range = param.ranges.as_ref().and_then(|r| r.first());
                self.check_range(value, range, Target::Parameter, *span)?;
                self.stack[at] = value;
            }
            ArgCode::Block(block, len) => {
                let values = self.block(program, block, *len, state)?;
                for (k, value) in values.iter().enumerate() {
                    let range = param.ranges.as_ref().and_then(|r| r.get(k));
                    self.check_range(*value, range, Target::Parameter, call)?;
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
            StmtCode::Expr(Code::Assign(assign)) => {
                self.assign(program, assign, state)?;
            }
            StmtCode::Expr(code) => {
                self.value(program, code, state)?;
            }
            StmtCode::Init(slot, values) => {
                let at = self.base + *slot as usize;
                self.stack[at..at + values.len()].copy_from_slice(values);
            }
            StmtCode::If(cond, then, other) => {
                let branch = if self.holds(program, cond, state)? {
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
                while first || self.holds(program, cond, state)? {
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
                if !self.holds(program, code, state)? {
                    return self.fail(FaultKind::Assert, *span);
                }
            }
            StmtCode::Break => return Ok(Flow::Break),
            StmtCode::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }
}
