//! Integer and boolean expressions, assignments and calls.

use super::{Foreign, Lowered, Scope, as_constant, constant};
use crate::builtin::Builtin;
use crate::consteval::{apply, assign_op};
use crate::hir::{Expr, ExprKind};
use crate::network::{self, Arg, BinaryOp, Block, Call};
use crate::symbol::{SymKind, Symbol};
use crate::types::Type;
use std::sync::Arc;
use zonelens_syntax::ast::{self, AssignOp, UnaryOp};
use zonelens_syntax::span::Span;

/// The network's operator; `imply` is rewritten before this is called.
pub(crate) fn operator(op: ast::BinaryOp) -> Option<BinaryOp> {
    use ast::BinaryOp as A;
    Some(match op {
        A::Pow => BinaryOp::Pow,
        A::Mul => BinaryOp::Mul,
        A::Div => BinaryOp::Div,
        A::Mod => BinaryOp::Mod,
        A::Add => BinaryOp::Add,
        A::Sub => BinaryOp::Sub,
        A::Shl => BinaryOp::Shl,
        A::Shr => BinaryOp::Shr,
        A::Min => BinaryOp::Min,
        A::Max => BinaryOp::Max,
        A::Lt => BinaryOp::Lt,
        A::Le => BinaryOp::Le,
        A::Ge => BinaryOp::Ge,
        A::Gt => BinaryOp::Gt,
        A::Eq => BinaryOp::Eq,
        A::Ne => BinaryOp::Ne,
        A::BitAnd => BinaryOp::BitAnd,
        A::BitXor => BinaryOp::BitXor,
        A::BitOr => BinaryOp::BitOr,
        A::And => BinaryOp::And,
        A::Or => BinaryOp::Or,
        A::Xor => BinaryOp::Xor,
        A::Imply => return None,
    })
}

/// Builds `a op b`.
pub(crate) fn binary(
    op: BinaryOp,
    a: network::Expr,
    b: network::Expr,
    span: Span,
) -> network::Expr {
    network::Expr {
        kind: network::ExprKind::Binary(op, Box::new(a), Box::new(b)),
        span,
    }
}

/// The value that a boolean holds after an integer is stored in it: every number except 0 is true.
pub(crate) fn truth(value: network::Expr, ty: &Type) -> network::Expr {
    let span = value.span;
    match as_constant(&value) {
        _ if matches!(ty, Type::Bool | Type::Cond(_)) => value,
        Some(v) => constant(i32::from(v != 0), span),
        None => binary(BinaryOp::Ne, value, constant(0, span), span),
    }
}

/// Builds `!a`.
pub(crate) fn not(a: network::Expr, span: Span) -> network::Expr {
    if let Some(v) = as_constant(&a) {
        return constant(i32::from(v == 0), span);
    }
    network::Expr {
        kind: network::ExprKind::Unary(network::UnaryOp::Not, Box::new(a)),
        span,
    }
}

impl Scope<'_> {
    /// Lowers any expression: an integer, a condition or an update.
    pub(crate) fn expr(&mut self, e: &Expr) -> Lowered<network::Expr> {
        // An expression that contains `cost` has no type.
        if e.ty.is_error() && e.mentions_cost() {
            return Err(self.cost(e));
        }
        if matches!(e.ty, Type::Cond(_)) {
            self.condition(e, false)
        } else {
            self.int(e)
        }
    }

    pub(crate) fn cost(&self, e: &Expr) -> Foreign {
        self.foreign("unsupported/cost", "the cost of runs is not computed", e)
    }

    /// Lowers an integer expression, or one that is evaluated for its effect.
    pub(crate) fn int(&mut self, e: &Expr) -> Lowered<network::Expr> {
        let span = self.span(e.span);
        match &e.kind {
            // Names of constructs that are recognised but not analysed: functions of C libraries,
            // spawned templates.
            ExprKind::Error => Err(self.foreign(
                "unsupported/expression",
                "this uses something that is declared elsewhere and not verified",
                e,
            )),
            ExprKind::Int(v) => Ok(constant(*v, span)),
            ExprKind::Bool(b) => Ok(constant(i32::from(*b), span)),
            ExprKind::Str(text) => Ok(constant(crate::strings::number(text), span)),
            ExprKind::Double(_) => Err(self.double(e)),
            ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Field(..) => self.read(e, span),
            ExprKind::Member { member, .. } => match &member.kind {
                SymKind::Location(_) => self.at(e, span),
                _ => self.read_member(e, span),
            },
            ExprKind::Unary(op, a) => self.unary(*op, a, span),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e, span),
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value, span),
            ExprKind::IncDec {
                increment,
                prefix,
                expr,
            } => {
                let place = self.locate(expr)?.place();
                let op = if *increment {
                    BinaryOp::Add
                } else {
                    BinaryOp::Sub
                };
                Ok(network::Expr {
                    kind: network::ExprKind::Assign {
                        place,
                        op: Some(op),
                        value: Box::new(constant(1, span)),
                        old_value: !prefix,
                    },
                    span,
                })
            }
            ExprKind::Cond(c, a, b) => {
                let (c, a, b) = (self.expr(c)?, self.int(a)?, self.int(b)?);
                if let Some(v) = as_constant(&c) {
                    return Ok(if v != 0 { a } else { b });
                }
                Ok(network::Expr {
                    kind: network::ExprKind::Cond(Box::new(c), Box::new(a), Box::new(b)),
                    span,
                })
            }
            ExprKind::Call(f, args) => Ok(network::Expr {
                kind: network::ExprKind::Call(Box::new(self.call(f, args, e)?)),
                span,
            }),
            ExprKind::MemberCall {
                family,
                args,
                function,
                call,
            } => self.member_call(family, args, function, call, e),
            ExprKind::Builtin(b, args) => self.builtin(*b, args, e, span),
            ExprKind::Rate(_) => Err(self.foreign("unsupported/rate", "a rate is not a value", e)),
            ExprKind::Quantifier { kind, var, body } => {
                self.quantifier(*kind, var, body, span, false)
            }
            ExprKind::Deadlock => self.condition(e, false),
            ExprKind::Cost => Err(self.cost(e)),
            ExprKind::Comma(list) => self.comma(list, span),
            ExprKind::Process(..) => Err(Foreign::Broken),
            ExprKind::LocationOf(family, args) => {
                let (process, _) = self.process_ref(family, args)?;
                Ok(network::Expr {
                    kind: network::ExprKind::LocationOf(process),
                    span,
                })
            }
        }
    }

    fn comma(&mut self, list: &[Expr], span: Span) -> Lowered<network::Expr> {
        // Only the last value is used; the other expressions run for their effect.
        let mut all: Option<network::Expr> = None;
        for e in list {
            let next = self.expr(e)?;
            all = Some(match all {
                None => next,
                Some(first) => network::Expr {
                    // `first ? next : next` would duplicate `next`; a conditional on a constant
                    // keeps the order.
                    kind: network::ExprKind::Cond(
                        Box::new(binary(BinaryOp::Or, first, constant(1, span), span)),
                        Box::new(next),
                        Box::new(constant(0, span)),
                    ),
                    span,
                },
            });
        }
        all.ok_or(Foreign::Broken)
    }

    fn read(&mut self, e: &Expr, span: Span) -> Lowered<network::Expr> {
        if matches!(e.ty, Type::Double) {
            return Err(self.double(e));
        }
        if matches!(e.ty, Type::Clock) {
            return Err(self.clock_value(e));
        }
        let at = self.locate(e)?;
        if let Some(v) = at.known() {
            return Ok(constant(v, span));
        }
        Ok(network::Expr {
            kind: network::ExprKind::Read(at.place()),
            span,
        })
    }

    fn unary(&mut self, op: UnaryOp, a: &Expr, span: Span) -> Lowered<network::Expr> {
        let inner = self.int(a)?;
        Ok(match (op, as_constant(&inner)) {
            (UnaryOp::Plus, _) => inner,
            (UnaryOp::Not, _) => not(inner, span),
            (UnaryOp::Minus, Some(v)) if v != i32::MIN => constant(-v, span),
            (UnaryOp::Minus, _) => network::Expr {
                kind: network::ExprKind::Unary(network::UnaryOp::Neg, Box::new(inner)),
                span,
            },
        })
    }

    fn binary(
        &mut self,
        op: ast::BinaryOp,
        a: &Expr,
        b: &Expr,
        e: &Expr,
        span: Span,
    ) -> Lowered<network::Expr> {
        if matches!(e.ty, Type::Double)
            || matches!(a.ty, Type::Double)
            || matches!(b.ty, Type::Double)
        {
            return Err(self.double(e));
        }
        // Outside functions, such a comparison is a condition over clocks, not a truth value.
        let clock = |t: &Type| matches!(t, Type::Clock | Type::Diff);
        if clock(&a.ty) || clock(&b.ty) {
            let message = "a clock is compared inside a function";
            return Err(self.foreign("unsupported/clock-in-function", message, e));
        }
        if a.ty.is_composite() {
            return self.same_block(op, a, b, span);
        }
        if matches!(a.ty, Type::Process) {
            return self.same_process(op, a, b, span);
        }
        let (x, y) = (self.int(a)?, self.int(b)?);
        let Some(net) = operator(op) else {
            // a imply b
            return Ok(binary(BinaryOp::Or, not(x, span), y, span));
        };
        if let (Some(l), Some(r)) = (as_constant(&x), as_constant(&y))
            && let Ok(v) = apply(op, l, r, span)
        {
            return Ok(constant(v, span));
        }
        Ok(binary(net, x, y, span))
    }

    fn same_process(
        &mut self,
        op: ast::BinaryOp,
        a: &Expr,
        b: &Expr,
        span: Span,
    ) -> Lowered<network::Expr> {
        let (ExprKind::Process(f, x), ExprKind::Process(g, y)) = (&a.kind, &b.kind) else {
            return Err(Foreign::Broken);
        };
        let mut all = constant(i32::from(f.id == g.id), span);
        if f.id == g.id {
            for (x, y) in x.iter().zip(y) {
                let (x, y) = (self.int(x)?, self.int(y)?);
                all = binary(BinaryOp::And, all, binary(BinaryOp::Eq, x, y, span), span);
            }
        }
        Ok(if op == ast::BinaryOp::Ne {
            not(all, span)
        } else {
            all
        })
    }

    fn same_block(
        &mut self,
        op: ast::BinaryOp,
        a: &Expr,
        b: &Expr,
        span: Span,
    ) -> Lowered<network::Expr> {
        let (left, len) = self.block(a)?;
        let (right, _) = self.block(b)?;
        Ok(network::Expr {
            kind: network::ExprKind::SameBlock {
                left,
                right,
                len,
                negated: op == ast::BinaryOp::Ne,
            },
            span,
        })
    }

    /// Lowers a struct or array value; returns it with its number of cells.
    pub(crate) fn block(&mut self, e: &Expr) -> Lowered<(Block, u32)> {
        match &e.kind {
            ExprKind::Call(f, args) => {
                let len = self.shape(&e.ty)?.counts().0;
                Ok((Block::Call(Box::new(self.call(f, args, e)?)), len))
            }
            ExprKind::Cond(c, a, b) => {
                let c = self.expr(c)?;
                let ((a, len), (b, _)) = (self.block(a)?, self.block(b)?);
                Ok((Block::Cond(Box::new(c), Box::new(a), Box::new(b)), len))
            }
            ExprKind::Assign(AssignOp::Set, target, value) => {
                let target = self.locate(target)?;
                let (source, len) = self.block(value)?;
                Ok((
                    Block::Assign {
                        target: target.place(),
                        source: Box::new(source),
                        len,
                    },
                    len,
                ))
            }
            _ => {
                let at = self.locate(e)?;
                let (len, clocks, _) = at.shape.counts();
                if clocks > 0 {
                    return Err(self.foreign(
                        "unsupported/clock-copy",
                        "structs with clocks are not copied as a whole",
                        e,
                    ));
                }
                Ok((Block::Place(at.place()), len))
            }
        }
    }

    fn assign(
        &mut self,
        op: AssignOp,
        target: &Expr,
        value: &Expr,
        span: Span,
    ) -> Lowered<network::Expr> {
        if matches!(target.ty, Type::Clock) {
            return self.set_clock(target, value, span);
        }
        if matches!(target.ty, Type::Double) {
            return Err(self.double(target));
        }
        if let ExprKind::Cond(c, a, b) = &target.kind {
            let c = self.expr(c)?;
            let a = self.assign(op, a, value, span)?;
            let b = self.assign(op, b, value, span)?;
            return Ok(network::Expr {
                kind: network::ExprKind::Cond(Box::new(c), Box::new(a), Box::new(b)),
                span,
            });
        }
        let at = self.locate(target)?;
        if target.ty.is_composite() {
            let (source, len) = self.block(value)?;
            return Ok(network::Expr {
                kind: network::ExprKind::Copy {
                    target: at.place(),
                    source,
                    len,
                },
                span,
            });
        }
        let mut value_expr = self.expr(value)?;
        let op = assign_op(op).and_then(operator);
        if at.is_boolean() && op.is_none() {
            value_expr = truth(value_expr, &value.ty);
        }
        Ok(network::Expr {
            kind: network::ExprKind::Assign {
                place: at.place(),
                op,
                value: Box::new(value_expr),
                old_value: false,
            },
            span,
        })
    }

    fn builtin(
        &mut self,
        b: Builtin,
        args: &[Expr],
        e: &Expr,
        span: Span,
    ) -> Lowered<network::Expr> {
        let (Builtin::Abs, [arg]) = (b, args) else {
            return Err(self.double(e));
        };
        let a = self.int(arg)?;
        let negative = binary(BinaryOp::Lt, a.clone(), constant(0, span), span);
        let negated = network::Expr {
            kind: network::ExprKind::Unary(network::UnaryOp::Neg, Box::new(a.clone())),
            span,
        };
        if let Some(v) = as_constant(&a).and_then(i32::checked_abs) {
            return Ok(constant(v, span));
        }
        Ok(network::Expr {
            kind: network::ExprKind::Cond(Box::new(negative), Box::new(negated), Box::new(a)),
            span,
        })
    }

    /// Lowers `forall`, `exists` and `sum`; with `negated`, the dual of a condition.
    pub(crate) fn quantifier(
        &mut self,
        kind: ast::QuantifierKind,
        var: &Arc<Symbol>,
        body: &Expr,
        span: Span,
        negated: bool,
    ) -> Lowered<network::Expr> {
        let (slot, range) = self.bind_range(var)?;
        if range.len == 0 {
            // The range is empty, so the body is never evaluated and need not be valid.
            let holds = (kind == ast::QuantifierKind::Forall) != negated;
            self.frame.remove(&var.id);
            self.next_slot = slot;
            return Ok(constant(i32::from(holds), span));
        }
        let body = if matches!(body.ty, Type::Cond(_)) {
            self.condition(body, negated)
        } else {
            self.int(body)
                .map(|b| if negated { not(b, span) } else { b })
        };
        self.frame.remove(&var.id);
        self.next_slot = slot;
        let kind = match (kind, negated) {
            (ast::QuantifierKind::Forall, true) => ast::QuantifierKind::Exists,
            (ast::QuantifierKind::Exists, true) => ast::QuantifierKind::Forall,
            (k, _) => k,
        };
        Ok(network::Expr {
            kind: network::ExprKind::Quantifier {
                kind,
                slot,
                range,
                body: Box::new(body?),
            },
            span,
        })
    }

    /// Lowers a call with its arguments.
    pub(crate) fn call(&mut self, f: &Symbol, args: &[Expr], e: &Expr) -> Lowered<Call> {
        let function = self
            .process
            .and_then(|p| p.functions.get(&f.id))
            .or_else(|| self.built.functions.get(&f.id))
            .copied()
            .ok_or(Foreign::Broken)?;
        self.call_id(function, f, args, e)
    }

    /// Lowers a call of a function of the network.
    pub(crate) fn call_id(
        &mut self,
        function: network::FunctionId,
        f: &Symbol,
        args: &[Expr],
        e: &Expr,
    ) -> Lowered<Call> {
        let SymKind::Function(sig) = &f.kind else {
            return Err(Foreign::Broken);
        };
        if let Some(foreign) = self.built.foreign_functions.get(&function) {
            return Err(match foreign {
                Foreign::Unsupported(code, message, _) => self.foreign(code, message, e),
                other => other.clone(),
            });
        }
        let mut out = Vec::new();
        for (p, a) in sig.params.iter().zip(args) {
            // Strings do not change, so passing their values is enough.
            let arg = self.arg(p.reference && p.ty != Type::Str, a)?;
            out.push(match arg {
                Arg::Value(v) if matches!(p.ty, Type::Bool) => Arg::Value(truth(v, &a.ty)),
                other => other,
            });
        }
        Ok(Call {
            function,
            args: out,
        })
    }

    fn arg(&mut self, reference: bool, a: &Expr) -> Lowered<Arg> {
        if !reference {
            if a.ty.is_composite() {
                let (block, len) = self.block(a)?;
                return Ok(Arg::Block(block, len));
            }
            return Ok(Arg::Value(self.expr(a)?));
        }
        if self.locate(a).is_err() && !a.ty.is_composite() {
            // The argument of `const int &x` may be a value; it needs its own cell.
            return Err(self.foreign(
                "unsupported/reference",
                "a computed value is passed by reference here",
                a,
            ));
        }
        let at = self.locate(a)?;
        if !at.is_placed() {
            return Err(self.foreign(
                "unsupported/reference",
                "a constant is passed by reference here",
                a,
            ));
        }
        match at.shape.counts() {
            (_, 0, _) => Ok(Arg::Ref(at.place())),
            (0, _, _) => Ok(Arg::Clock(at.clock())),
            _ => Ok(Arg::Mixed(at.place(), at.clock())),
        }
    }
}
