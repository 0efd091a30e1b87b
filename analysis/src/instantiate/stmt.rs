//! Lowers functions and statements.

use super::expr::truth;
use super::layout::is_foreign;
use super::{Binding, Builder, Foreign, Lowered, ProcessScope, Scope, qualified};
use crate::check::has_side_effect;
use crate::diag::Diag;
use crate::hir::{self, Expr, ExprKind, Init, StmtKind};
use crate::network::{
    self, Base, ChannelId, ClockBase, ClockId, FunctionId, FunctionParam, Place, ScalarsetId,
    Shape, Stmt,
};
use crate::symbol::{SymKind, Symbol};
use crate::types::Type;
use std::sync::Arc;
use zonelens_syntax::ast::BinaryOp;
use zonelens_syntax::span::Span;

/// The most slots that a single function may use at a time.
const MAX_SLOTS: u64 = 1 << 20;
/// The most entries of all variables of a function, including those that share slots: their initial
/// values are part of its code.
const MAX_COPIED: u64 = 2 << 20;

impl Builder<'_> {
    /// Lowers a function. Functions are declared before use, so the functions it calls are already
    /// lowered.
    pub(crate) fn lower_function(
        &mut self,
        f: &hir::Function,
        process: Option<(&ProcessScope, &str)>,
    ) -> FunctionId {
        let id = self.built.network.functions.next_id();
        let offset = self.offset(f.loc.item);
        let span = self.absolute(f.loc);
        let name = qualified(process.map(|p| p.1), &f.symbol.name);
        let (lowered, copied) = {
            let mut scope = Scope::new(self.source.env, &self.built, process.map(|p| p.0), offset);
            (scope.function(f), scope.copied)
        };
        self.reserved = self.reserved.saturating_add(copied);
        if copied > MAX_COPIED || self.reserved > self.limits.reserved {
            let message = format!(
                "the variables and parameters of `{name}` have {copied} entries, those of all functions {} so far; at most {MAX_COPIED} are possible in a function and {} in a model",
                self.reserved, self.limits.reserved
            );
            self.errors.push(Diag::new("system/size", message, f.loc));
        }
        let function = match lowered {
            Ok(mut function) => {
                function.name = name;
                function.span = span;
                function
            }
            Err(foreign) => {
                let foreign = match foreign {
                    Foreign::Broken => {
                        let message = format!("the function `{name}` cannot be verified");
                        Foreign::Unsupported("unsupported/expression", message, span)
                    }
                    other => other,
                };
                self.built.foreign_functions.insert(id, foreign);
                network::Function {
                    name,
                    params: Vec::new(),
                    frame: 0,
                    body: Vec::new(),
                    result_len: 0,
                    result_ranges: Vec::new(),
                    span,
                }
            }
        };
        self.built.network.functions.push(function);
        id
    }
}

impl Scope<'_> {
    fn function(&mut self, f: &hir::Function) -> Lowered<network::Function> {
        self.returns_bool = matches!(f.ret, Type::Bool);
        let mut params = Vec::new();
        for p in &f.params {
            params.push(self.param(p)?);
        }
        let mut body = Vec::new();
        self.block_stmts(&f.body, &mut body)?;
        let mut result_ranges = Vec::new();
        if !matches!(f.ret, Type::Void) {
            if is_foreign(&f.ret) {
                return Err(Foreign::Unsupported(
                    "unsupported/double",
                    format!("`{}` returns a floating-point value", f.symbol.name),
                    self.span(f.loc.span),
                ));
            }
            let shape = self.shape(&f.ret)?;
            result_ranges = ranges_of(&shape);
        }
        Ok(network::Function {
            name: f.symbol.name.clone(),
            params,
            frame: self.slots,
            body,
            result_len: result_ranges.len() as u32,
            result_ranges,
            span: self.span(f.loc.span),
        })
    }

    fn param(&mut self, p: &Arc<Symbol>) -> Lowered<FunctionParam> {
        let SymKind::Param(sym) = &p.kind else {
            return Err(Foreign::Broken);
        };
        if is_foreign(&sym.ty) {
            return Err(Foreign::Unsupported(
                "unsupported/double",
                format!("the parameter `{}` is a floating-point value", p.name),
                self.span(p.loc.span),
            ));
        }
        self.small(&sym.ty)?;
        let shape = self.shape(&sym.ty)?;
        let (cells, clocks, channels) = shape.counts();
        if channels > 0 {
            return Err(Foreign::Unsupported(
                "unsupported/channel-parameter",
                format!("the channel `{}` is passed to a function", p.name),
                self.span(p.loc.span),
            ));
        }
        if !sym.reference || sym.ty == Type::Str {
            let slot = self.alloc(cells);
            let ranges = ranges_of(&shape);
            self.bind_slot(p, shape, Base::Slot(slot), ClockBase::Clock(ClockId(0)));
            return Ok(FunctionParam {
                slot,
                ranges: Some(ranges),
            });
        }
        // A struct with cells and clocks takes two slots: first the place, then the clock.
        let slot = self.alloc(if cells > 0 && clocks > 0 { 2 } else { 1 });
        let clock = if cells > 0 { slot + 1 } else { slot };
        self.bind_slot(p, shape, Base::Ref(slot), ClockBase::Ref(clock));
        Ok(FunctionParam { slot, ranges: None })
    }

    fn bind_slot(&mut self, s: &Symbol, shape: Shape, cell: Base, clock: ClockBase) {
        let shape = Arc::new(shape);
        self.frame.insert(
            s.id,
            Binding::Stored {
                shape,
                cell,
                clock,
                channel: ChannelId(0),
            },
        );
    }

    /// Allocates a slot for a variable that iterates over a range.
    pub(crate) fn bind_range(&mut self, var: &Symbol) -> Lowered<(u32, network::IndexRange)> {
        let range = self.symbol_range(var)?;
        let slot = self.alloc(1);
        let shape = Shape::Int {
            lo: range.lo,
            hi: range
                .lo
                .saturating_add_unsigned(range.len.saturating_sub(1)),
            scalarset: range.scalarset,
            boolean: false,
        };
        self.bind_slot(var, shape, Base::Slot(slot), ClockBase::Clock(ClockId(0)));
        Ok((slot, range))
    }

    /// Checks the size of a variable or parameter before anything is allocated for it.
    fn small(&mut self, ty: &Type) -> Lowered<()> {
        let leaves = self.leaves(ty)?;
        self.copied = self.copied.saturating_add(leaves);
        let at_a_time = leaves.saturating_add(u64::from(self.next_slot));
        if at_a_time > MAX_SLOTS || self.copied > MAX_COPIED {
            // Reported by the caller that lowers the function.
            self.copied = self.copied.max(MAX_COPIED + 1);
            return Err(Foreign::Broken);
        }
        Ok(())
    }

    fn block_stmts(&mut self, b: &hir::Block, out: &mut Vec<Stmt>) -> Lowered<()> {
        let mark = self.next_slot;
        for d in &b.decls {
            self.local(d, out)?;
        }
        for s in &b.stmts {
            self.stmt(s, out)?;
        }
        self.next_slot = mark;
        Ok(())
    }

    fn local(&mut self, d: &hir::Decl, out: &mut Vec<Stmt>) -> Lowered<()> {
        let SymKind::Var(var) = &d.symbol.kind else {
            return Ok(());
        };
        if is_foreign(&var.ty) {
            self.frame.insert(d.symbol.id, Binding::Foreign);
            return Ok(());
        }
        self.small(&var.ty)?;
        let shape = self.shape(&var.ty)?;
        if let Some(values) = &var.value {
            // Constant arrays that are read with computed indices are stored in the frame.
            if matches!(shape, Shape::Int { .. }) {
                self.frame.insert(
                    d.symbol.id,
                    Binding::Const {
                        shape: Arc::new(shape),
                        values: values.clone(),
                        at: None,
                    },
                );
                return Ok(());
            }
        }
        let slot = self.alloc(shape.counts().0);
        let constant = match &var.value {
            Some(v) => Ok(v.to_vec()),
            None => self.constant_init(&shape, &var.ty, d.init.as_ref()),
        };
        match constant {
            Ok(values) => {
                out.push(Stmt::Init { slot, values });
                self.bind_slot(
                    &d.symbol,
                    shape,
                    Base::Slot(slot),
                    ClockBase::Clock(ClockId(0)),
                );
            }
            Err(Foreign::Empty(lo, hi)) => {
                let message = crate::check::no_value(&d.symbol.name, lo, hi);
                let span = self.span(d.symbol.loc.span);
                return Err(Foreign::Unsupported("type/empty-range", message, span));
            }
            Err(_) => {
                let zero = self.constant_init(&shape, &var.ty, None)?;
                out.push(Stmt::Init { slot, values: zero });
                self.bind_slot(
                    &d.symbol,
                    shape.clone(),
                    Base::Slot(slot),
                    ClockBase::Clock(ClockId(0)),
                );
                if let Some(init) = &d.init {
                    self.computed_init(init, &shape, slot, out)?;
                }
            }
        }
        Ok(())
    }

    /// Assigns the parts of an initialiser one by one.
    fn computed_init(
        &mut self,
        init: &Init,
        shape: &Shape,
        slot: u32,
        out: &mut Vec<Stmt>,
    ) -> Lowered<()> {
        match (init, shape) {
            (
                Init::Expr(e),
                Shape::Int {
                    lo,
                    hi,
                    scalarset,
                    boolean,
                },
            ) => {
                let span = self.span(e.span);
                let mut value = self.expr(e)?;
                if *boolean {
                    value = truth(value, &e.ty);
                }
                let place = slot_place(slot, *lo, *hi, *scalarset);
                out.push(Stmt::Expr(network::Expr {
                    kind: network::ExprKind::Assign {
                        place,
                        op: None,
                        value: Box::new(value),
                        old_value: false,
                    },
                    span,
                }));
                Ok(())
            }
            (Init::Expr(e), _) => {
                let (source, len) = self.block(e)?;
                let target = slot_place(slot, i32::MIN, i32::MAX, None);
                out.push(Stmt::Expr(network::Expr {
                    kind: network::ExprKind::Copy {
                        target,
                        source,
                        len,
                    },
                    span: self.span(e.span),
                }));
                Ok(())
            }
            (Init::List(items, _), Shape::Array { element, .. }) => {
                let step = element.counts().0;
                for (k, i) in items.iter().enumerate() {
                    self.computed_init(i, element, slot + k as u32 * step, out)?;
                }
                Ok(())
            }
            (Init::List(items, _), Shape::Struct(fields)) => {
                let mut at = slot;
                for (i, (_, f)) in items.iter().zip(fields) {
                    self.computed_init(i, f, at, out)?;
                    at += f.counts().0;
                }
                Ok(())
            }
            _ => Err(Foreign::Broken),
        }
    }

    fn body(&mut self, s: &hir::Stmt) -> Lowered<Vec<Stmt>> {
        let mut out = Vec::new();
        self.stmt(s, &mut out)?;
        Ok(out)
    }

    /// Lowers an expression statement; a comma list becomes several statements.
    fn effect(&mut self, e: &Expr, out: &mut Vec<Stmt>) -> Lowered<()> {
        if let ExprKind::Comma(list) = &e.kind {
            for e in list {
                self.effect(e, out)?;
            }
            return Ok(());
        }
        if is_dropped(e) {
            return Ok(());
        }
        let e = self.expr(e)?;
        out.push(Stmt::Expr(e));
        Ok(())
    }

    fn stmt(&mut self, s: &hir::Stmt, out: &mut Vec<Stmt>) -> Lowered<()> {
        let span = self.span(s.span);
        match &s.kind {
            StmtKind::Empty => {}
            StmtKind::Block(b) => self.block_stmts(b, out)?,
            StmtKind::Expr(e) => self.effect(e, out)?,
            StmtKind::For(a, c, step, body) => {
                self.effect(a, out)?;
                let cond = self.expr(c)?;
                let body = self.body(body)?;
                let mut after = Vec::new();
                self.effect(step, &mut after)?;
                out.push(Stmt::While {
                    cond,
                    body,
                    step: after,
                    span,
                });
            }
            StmtKind::Iterate(var, body) => out.push(self.iterate(var, body, span)?),
            StmtKind::While(c, body) => {
                let cond = self.expr(c)?;
                let body = self.body(body)?;
                out.push(Stmt::While {
                    cond,
                    body,
                    step: Vec::new(),
                    span,
                });
            }
            StmtKind::DoWhile(body, c) => {
                let body = self.body(body)?;
                let cond = self.expr(c)?;
                out.push(Stmt::DoWhile { body, cond, span });
            }
            StmtKind::If(c, a, b) => {
                let cond = self.expr(c)?;
                let then = self.body(a)?;
                let other = match b {
                    Some(b) => self.body(b)?,
                    None => Vec::new(),
                };
                out.push(Stmt::If { cond, then, other });
            }
            StmtKind::Return(None) => out.push(Stmt::Return(None)),
            StmtKind::Return(Some(e)) if e.ty.is_composite() => {
                let (block, len) = self.block(e)?;
                out.push(Stmt::ReturnBlock(block, len));
            }
            StmtKind::Return(Some(e)) => {
                let mut value = self.expr(e)?;
                if self.returns_bool {
                    value = truth(value, &e.ty);
                }
                out.push(Stmt::Return(Some(value)));
            }
            StmtKind::Assert(e) => {
                let e = self.expr(e)?;
                out.push(Stmt::Assert(e));
            }
            StmtKind::Break => out.push(Stmt::Break),
            StmtKind::Continue => out.push(Stmt::Continue),
            StmtKind::Switch(value, cases) => self.switch(value, cases, span, out)?,
        }
        Ok(())
    }

    /// Lowers a `switch` with fall-through: a loop body that runs once, so that `break` leaves it,
    /// and a flag that is set by the first case that matches.
    fn switch(
        &mut self,
        value: &Expr,
        cases: &[(Option<Expr>, Vec<hir::Stmt>)],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Lowered<()> {
        let early_default = cases.iter().rev().skip(1).any(|(label, _)| label.is_none());
        let continues = cases.iter().flat_map(|c| &c.1).any(has_continue);
        if early_default || continues {
            let why = "`switch` with `continue`, or with `default` before other cases, is not run; write `if … else if …`";
            return Err(Foreign::Unsupported("unsupported/switch", why.into(), span));
        }
        let mark = self.next_slot;
        let (chosen, open) = (self.alloc(1), self.alloc(1));
        let node = |kind: network::ExprKind| network::Expr { kind, span };
        let set = |slot: u32, value: network::Expr| {
            Stmt::Expr(node(network::ExprKind::Assign {
                place: slot_place(slot, i32::MIN, i32::MAX, None),
                op: None,
                value: Box::new(value),
                old_value: false,
            }))
        };
        let read = |slot: u32| {
            node(network::ExprKind::Read(slot_place(
                slot,
                i32::MIN,
                i32::MAX,
                None,
            )))
        };
        out.push(set(chosen, self.expr(value)?));
        out.push(set(open, node(network::ExprKind::Const(0))));
        let mut body = Vec::new();
        for (label, stmts) in cases {
            let mut then = vec![set(open, node(network::ExprKind::Const(1)))];
            let inner = self.next_slot;
            for s in stmts {
                self.stmt(s, &mut then)?;
            }
            self.next_slot = inner;
            let cond = match label {
                Some(label) => {
                    let fits = network::ExprKind::Binary(
                        network::BinaryOp::Eq,
                        Box::new(read(chosen)),
                        Box::new(self.expr(label)?),
                    );
                    node(network::ExprKind::Binary(
                        network::BinaryOp::Or,
                        Box::new(read(open)),
                        Box::new(node(fits)),
                    ))
                }
                None => node(network::ExprKind::Const(1)),
            };
            let other = Vec::new();
            body.push(Stmt::If { cond, then, other });
        }
        self.next_slot = mark;
        let cond = node(network::ExprKind::Const(0));
        out.push(Stmt::DoWhile { body, cond, span });
        Ok(())
    }

    fn iterate(&mut self, var: &Arc<Symbol>, body: &hir::Stmt, span: Span) -> Lowered<Stmt> {
        let mark = self.next_slot;
        let (slot, range) = self.bind_range(var)?;
        // Code that is never run need not be valid.
        let body = match range.len {
            0 => Vec::new(),
            _ => self.body(body)?,
        };
        self.next_slot = mark;
        Ok(Stmt::Iterate {
            slot,
            range,
            body,
            span,
        })
    }
}

/// Whether a statement contains a `continue` of an enclosing loop.
fn has_continue(s: &hir::Stmt) -> bool {
    match &s.kind {
        StmtKind::Continue => true,
        StmtKind::Block(b) => b.stmts.iter().any(has_continue),
        StmtKind::If(_, a, b) => has_continue(a) || b.as_ref().is_some_and(|b| has_continue(b)),
        StmtKind::Switch(_, cases) => cases.iter().flat_map(|c| &c.1).any(has_continue),
        _ => false,
    }
}

/// Whether an expression only assigns to doubles or to the cost. Such assignments cannot affect a
/// symbolic query, because reading a double or the cost is reported.
pub(crate) fn is_dropped(e: &Expr) -> bool {
    let unseen = |e: &Expr| is_foreign(&e.ty) || matches!(e.kind, ExprKind::Cost);
    match &e.kind {
        ExprKind::Assign(_, target, value) => unseen(target) && !has_side_effect(value),
        ExprKind::IncDec { expr, .. } => matches!(expr.kind, ExprKind::Cost),
        _ => false,
    }
}

/// The invariant without the rates of the cost, which restrict nothing; `None` if nothing else is
/// left.
pub(crate) fn without_cost(e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => match (without_cost(a), without_cost(b)) {
            (Some(a), Some(b)) => Some(Expr {
                kind: ExprKind::Binary(BinaryOp::And, Box::new(a), Box::new(b)),
                ..e.clone()
            }),
            (a, b) => a.or(b),
        },
        ExprKind::Binary(BinaryOp::Eq, a, b) => {
            let rate =
                |e: &Expr| matches!(&e.kind, ExprKind::Rate(x) if matches!(x.kind, ExprKind::Cost));
            (!rate(a) && !rate(b)).then(|| e.clone())
        }
        _ => Some(e.clone()),
    }
}

fn slot_place(slot: u32, lo: i32, hi: i32, scalarset: Option<ScalarsetId>) -> Place {
    Place {
        base: Base::Slot(slot),
        steps: Vec::new(),
        lo,
        hi,
        scalarset,
    }
}

fn ranges_of(shape: &Shape) -> Vec<(i32, i32)> {
    let mut out = Vec::new();
    super::layout::cell_ranges(shape, &mut out);
    out.into_iter().map(|(lo, hi, _)| (lo, hi)).collect()
}
