//! A walk over everything that an expression evaluates, bodies of functions included.

use crate::network::{
    Arg, Base, Block, Call, ClockRef, Expr, ExprKind, FunctionId, IndexStep, Network, Place,
    ProcessRef, Stmt,
};
use std::collections::BTreeSet;
use zonelens_syntax::span::Span;

/// What happens to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read.
    Read,
    /// It is written, or read and written.
    Write,
    /// A reference to it is passed to a function.
    Reference,
    /// It is part of a struct or array that is read, compared or copied.
    Block,
    /// It is the first cell of a struct or array that is written.
    WriteBlock,
}

/// Gets every part of what is evaluated.
pub(crate) trait Visitor {
    /// An expression, before its parts.
    fn expr(&mut self, _expr: &Expr, _in_function: bool) {}
    /// An expression, after its parts.
    fn after(&mut self, _expr: &Expr) {}
    /// A place.
    fn place(&mut self, _place: &Place, _access: Access, _span: Span, _in_function: bool) {}
    /// A clock, and whether it is set.
    fn clock(&mut self, _clock: &ClockRef, _set: bool, _span: Span) {}
    /// The indices of a place, clock, channel or process.
    fn index(&mut self, _steps: &[IndexStep], _in_function: bool) {}
    /// A statement of a function.
    fn statement(&mut self, _statement: &Stmt) {}
}

/// Walks expressions and the functions they call, each once.
pub(crate) struct Walk<'n, V> {
    network: &'n Network,
    /// What is called.
    pub visitor: V,
    seen: BTreeSet<FunctionId>,
    functions: u32,
}

impl<'n, V: Visitor> Walk<'n, V> {
    pub(crate) fn new(network: &'n Network, visitor: V) -> Walk<'n, V> {
        Walk {
            network,
            visitor,
            seen: BTreeSet::new(),
            functions: 0,
        }
    }

    pub(crate) fn expr(&mut self, e: &Expr) {
        self.visitor.expr(e, self.functions > 0);
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Deadlock => {}
            ExprKind::Read(place) => self.place(place, Access::Read, e.span),
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Cond(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            ExprKind::Assign { place, value, .. } => {
                self.expr(value);
                self.place(place, Access::Write, e.span);
            }
            ExprKind::Copy { target, source, .. } => {
                self.block(source, e.span);
                self.place(target, Access::WriteBlock, e.span);
            }
            ExprKind::SameBlock { left, right, .. } => {
                self.block(left, e.span);
                self.block(right, e.span);
            }
            ExprKind::Call(call) => self.call(call, e.span),
            ExprKind::Quantifier { body, .. } => self.expr(body),
            ExprKind::Clock {
                left, right, bound, ..
            } => {
                self.clock(left, false, e.span);
                right.iter().for_each(|r| self.clock(r, false, e.span));
                self.expr(bound);
            }
            ExprKind::Rate { clock, rate } => {
                self.clock(clock, false, e.span);
                self.expr(rate);
            }
            ExprKind::SetClock { clock, value } => {
                self.clock(clock, true, e.span);
                self.expr(value);
            }
            ExprKind::CopyClock { target, source } => {
                self.clock(target, true, e.span);
                self.clock(source, false, e.span);
            }
            ExprKind::At { process, .. } | ExprKind::LocationOf(process) => self.process(process),
        }
        self.visitor.after(e);
    }

    /// The indices of a channel or another reference.
    pub(crate) fn steps(&mut self, steps: &[IndexStep]) {
        self.visitor.index(steps, self.functions > 0);
        steps.iter().for_each(|s| self.expr(&s.index));
    }

    fn process(&mut self, process: &ProcessRef) {
        self.steps(&process.steps);
    }

    fn place(&mut self, place: &Place, access: Access, span: Span) {
        self.visitor.place(place, access, span, self.functions > 0);
        self.steps(&place.steps);
    }

    fn clock(&mut self, clock: &ClockRef, set: bool, span: Span) {
        self.visitor.clock(clock, set, span);
        self.steps(&clock.steps);
    }

    fn block(&mut self, block: &Block, span: Span) {
        match block {
            Block::Place(place) => self.place(place, Access::Block, span),
            Block::Call(call) => self.call(call, span),
            Block::Cond(c, a, b) => {
                self.expr(c);
                self.block(a, span);
                self.block(b, span);
            }
            Block::Assign { target, source, .. } => {
                self.block(source, span);
                self.place(target, Access::WriteBlock, span);
            }
        }
    }

    fn call(&mut self, call: &Call, span: Span) {
        for arg in &call.args {
            match arg {
                Arg::Value(e) => self.expr(e),
                Arg::Block(b, _) => self.block(b, span),
                Arg::Ref(p) => self.place(p, Access::Reference, span),
                Arg::Clock(c) => self.clock(c, true, span),
                Arg::Mixed(p, c) => {
                    self.place(p, Access::Reference, span);
                    self.clock(c, true, span);
                }
            }
        }
        if self.seen.insert(call.function) {
            let function = &self.network.functions[call.function];
            self.functions += 1;
            self.statements(&function.body, function.span);
            self.functions -= 1;
        }
    }

    fn statements(&mut self, list: &[Stmt], span: Span) {
        for s in list {
            self.visitor.statement(s);
            match s {
                Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Assert(e) => self.expr(e),
                Stmt::Init { .. } | Stmt::Return(None) | Stmt::Break | Stmt::Continue => {}
                Stmt::If { cond, then, other } => {
                    self.expr(cond);
                    self.statements(then, span);
                    self.statements(other, span);
                }
                Stmt::While {
                    cond, body, step, ..
                } => {
                    self.expr(cond);
                    self.statements(body, span);
                    self.statements(step, span);
                }
                Stmt::DoWhile { body, cond, .. } => {
                    self.statements(body, span);
                    self.expr(cond);
                }
                Stmt::Iterate { body, .. } => self.statements(body, span),
                Stmt::ReturnBlock(block, _) => self.block(block, span),
            }
        }
    }
}

/// The first cell of a place, if it is a cell of the state.
pub(crate) fn base_cell(place: &Place) -> Option<usize> {
    match place.base {
        Base::Cell(c) => Some(c.0 as usize),
        _ => None,
    }
}
