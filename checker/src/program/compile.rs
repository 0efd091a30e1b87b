//! Compiles the expressions of the network.

use super::code::*;
use super::hoist::{later_code, later_formula};
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, Call, ClockBase, ClockRef, Expr, ExprKind, Function, IndexStep,
    Place, ProcessRef, Stmt, UnaryOp,
};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// An expression that the engine does not support, with its span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompileError {
    pub message: &'static str,
    pub span: Span,
}

type Result<T> = std::result::Result<T, CompileError>;

/// Whether the truth of the expression depends on clocks.
pub(super) fn is_clock_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Clock { .. } | ExprKind::Rate { .. } | ExprKind::Deadlock => true,
        ExprKind::Unary(_, a) => is_clock_condition(a),
        ExprKind::Binary(_, a, b) => is_clock_condition(a) || is_clock_condition(b),
        ExprKind::Cond(c, a, b) => {
            is_clock_condition(c) || is_clock_condition(a) || is_clock_condition(b)
        }
        ExprKind::Quantifier { body, .. } => is_clock_condition(body),
        _ => false,
    }
}

/// Compiles a condition that may refer to clocks.
pub(crate) fn formula(expr: &Expr) -> Result<Formula> {
    if !is_clock_condition(expr) {
        return Ok(Formula::Int(code(expr)?));
    }
    let unsupported = |message| {
        Err(CompileError {
            message,
            span: expr.span,
        })
    };
    Ok(match &expr.kind {
        ExprKind::Clock {
            left,
            right,
            op,
            bound,
        } => Formula::Atom(Box::new(AtomCode {
            left: clock(left)?,
            right: right.as_ref().map(clock).transpose()?,
            op: *op,
            bound: code(bound)?,
            span: expr.span,
        })),
        ExprKind::Rate { clock: c, rate } => {
            Formula::Rate(Box::new((clock(c)?, code(rate)?)), expr.span)
        }
        ExprKind::Deadlock => Formula::Deadlock,
        ExprKind::Unary(UnaryOp::Not, a) => Formula::Not(Box::new(formula(a)?)),
        ExprKind::Binary(BinaryOp::And, a, b) => {
            let mut parts = Vec::new();
            for side in [formula(a)?, formula(b)?] {
                match side {
                    Formula::And(inner) => parts.extend(inner),
                    other => parts.push(other),
                }
            }
            Formula::And(parts)
        }
        ExprKind::Binary(BinaryOp::Or, a, b) => Formula::Or(vec![formula(a)?, formula(b)?]),
        ExprKind::Binary(BinaryOp::Xor | BinaryOp::Ne, a, b) => different(formula(a)?, formula(b)?),
        ExprKind::Binary(BinaryOp::Eq, a, b) => {
            Formula::Not(Box::new(different(formula(a)?, formula(b)?)))
        }
        ExprKind::Cond(c, a, b) => {
            let c = formula(c)?;
            Formula::Or(vec![
                Formula::And(vec![c.clone(), formula(a)?]),
                Formula::And(vec![Formula::Not(Box::new(c)), formula(b)?]),
            ])
        }
        ExprKind::Quantifier {
            kind,
            slot,
            range,
            body,
        } => match kind {
            QuantifierKind::Sum => {
                return unsupported("a sum over clock conditions has no symbolic meaning");
            }
            _ => {
                let (all, body) = (*kind == QuantifierKind::Forall, formula(body)?);
                Formula::Quantified {
                    all,
                    slot: *slot,
                    lo: range.lo,
                    len: range.len,
                    later: later_formula(all, *slot, &body).map(Box::new),
                    body: Box::new(body),
                }
            }
        },
        _ => return unsupported("a clock condition cannot be used as a number here"),
    })
}

fn different(a: Formula, b: Formula) -> Formula {
    let not = |f: &Formula| Formula::Not(Box::new(f.clone()));
    Formula::Or(vec![
        Formula::And(vec![a.clone(), not(&b)]),
        Formula::And(vec![not(&a), b.clone()]),
    ])
}

/// Compiles an integer expression.
pub(crate) fn code(expr: &Expr) -> Result<Code> {
    let span = expr.span;
    let boxed = |e: &Expr| code(e).map(Box::new);
    Ok(match &expr.kind {
        ExprKind::Const(c) => Code::Const(*c),
        ExprKind::Read(place) => read(place, span)?,
        ExprKind::Unary(UnaryOp::Neg, a) => Code::Neg(boxed(a)?),
        ExprKind::Unary(UnaryOp::Not, a) => Code::Not(boxed(a)?),
        ExprKind::Binary(op, a, b) => binary(*op, code(a)?, code(b)?, span),
        ExprKind::Cond(c, a, b) => Code::Cond(Box::new((code(c)?, code(a)?, code(b)?))),
        ExprKind::Assign {
            place,
            op,
            value,
            old_value,
        } => Code::Assign(Box::new(AssignCode {
            place: target(place, span)?,
            op: *op,
            value: code(value)?,
            old_value: *old_value,
            span,
        })),
        ExprKind::Copy {
            target,
            source,
            len,
        } => Code::Copy(Box::new((
            self::target(target, span)?,
            block(source, span)?,
            *len,
        ))),
        ExprKind::SameBlock {
            left,
            right,
            len,
            negated,
        } => Code::Same(
            Box::new((block(left, span)?, block(right, span)?, *len)),
            *negated,
        ),
        ExprKind::Call(c) => Code::Call(Box::new(call(c, span)?)),
        ExprKind::Quantifier {
            kind,
            slot,
            range,
            body,
        } => {
            let body = code(body)?;
            Code::Quantifier(Box::new(QuantifierCode {
                kind: *kind,
                slot: *slot,
                lo: range.lo,
                len: range.len,
                scalarset: range.scalarset,
                later: later_code(*kind, *slot, &body),
                body,
            }))
        }
        ExprKind::SetClock { clock: c, value } => {
            Code::SetClock(Box::new((clock(c)?, code(value)?)), span)
        }
        ExprKind::CopyClock { target, source } => {
            Code::CopyClock(Box::new((clock(target)?, clock(source)?)))
        }
        ExprKind::At { process, location } => Code::At(Box::new(process_code(process)?), *location),
        ExprKind::LocationOf(process) => Code::LocationOf(Box::new(process_code(process)?)),
        ExprKind::Clock { .. } | ExprKind::Rate { .. } | ExprKind::Deadlock => {
            return Err(CompileError {
                message: "a clock condition cannot be used as a number here",
                span,
            });
        }
    })
}

fn binary(op: BinaryOp, a: Code, b: Code, span: Span) -> Code {
    match (op, a, b) {
        (BinaryOp::And, a, b) => Code::And(Box::new((a, b))),
        (BinaryOp::Or, a, b) => Code::Or(Box::new((a, b))),
        (
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            Code::Cell(cell),
            Code::Const(c),
        ) => Code::CellConst(op, cell, c),
        (
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            a,
            b,
        ) => Code::Compare(op, Box::new((a, b))),
        (op, a, b) => Code::Binary(op, Box::new((a, b)), span),
    }
}

fn read(place: &Place, span: Span) -> Result<Code> {
    Ok(match (place.base, place.steps.is_empty()) {
        (Base::Cell(c), true) => Code::Cell(c.0),
        (Base::Slot(s), true) => Code::Slot(s),
        _ => Code::Place(Box::new(place_code(place, span)?)),
    })
}

/// Compiles a place to write to.
fn target(place: &Place, span: Span) -> Result<PlaceCode> {
    match place.base {
        Base::Constant(_) => Err(CompileError {
            message: "a constant cannot be assigned to",
            span,
        }),
        _ => place_code(place, span),
    }
}

fn place_code(place: &Place, span: Span) -> Result<PlaceCode> {
    Ok(PlaceCode {
        base: match place.base {
            Base::Cell(c) => PlaceBase::Cell(c.0),
            Base::Constant(c) => PlaceBase::Constant(c),
            Base::Slot(s) => PlaceBase::Slot(s),
            Base::Ref(s) => PlaceBase::Ref(s),
        },
        steps: steps(&place.steps)?,
        lo: place.lo,
        hi: place.hi,
        span,
    })
}

/// Compiles index steps.
pub(super) fn steps(steps: &[IndexStep]) -> Result<Vec<StepCode>> {
    steps
        .iter()
        .map(|s| {
            Ok(StepCode {
                index: code(&s.index)?,
                range: s.range,
                stride: s.stride,
                span: s.index.span,
            })
        })
        .collect()
}

/// Compiles a clock reference.
pub(crate) fn clock(clock: &ClockRef) -> Result<ClockCode> {
    let (base, by_ref) = match clock.base {
        ClockBase::Clock(c) => (c.0, false),
        ClockBase::Ref(s) => (s, true),
    };
    Ok(ClockCode {
        base,
        by_ref,
        steps: steps(&clock.steps)?,
    })
}

fn process_code(process: &ProcessRef) -> Result<ProcessCode> {
    Ok(ProcessCode {
        base: process.base.0,
        steps: steps(&process.steps)?,
    })
}

fn block(source: &Block, span: Span) -> Result<BlockCode> {
    Ok(match source {
        Block::Place(p) => BlockCode::Place(place_code(p, span)?),
        Block::Call(c) => BlockCode::Call(call(c, span)?),
        Block::Cond(c, a, b) => {
            BlockCode::Cond(Box::new((code(c)?, block(a, span)?, block(b, span)?)))
        }
        Block::Assign {
            target,
            source,
            len,
        } => BlockCode::Assign(Box::new((
            self::target(target, span)?,
            block(source, span)?,
            *len,
        ))),
    })
}

fn call(call: &Call, span: Span) -> Result<CallCode> {
    let args = call
        .args
        .iter()
        .map(|arg| {
            Ok(match arg {
                Arg::Value(e) => ArgCode::Value(code(e)?, e.span),
                Arg::Block(b, len) => ArgCode::Block(block(b, span)?, *len),
                Arg::Ref(p) => ArgCode::Ref(place_code(p, span)?),
                Arg::Clock(c) => ArgCode::Clock(clock(c)?),
                Arg::Mixed(p, c) => ArgCode::Mixed(place_code(p, span)?, clock(c)?),
            })
        })
        .collect::<Result<_>>()?;
    Ok(CallCode {
        function: call.function.0,
        args,
        span,
    })
}

/// Compiles a function.
pub(super) fn function(f: &Function) -> Result<FunctionCode> {
    Ok(FunctionCode {
        params: f
            .params
            .iter()
            .map(|p| ParamCode {
                slot: p.slot,
                ranges: p.ranges.clone(),
            })
            .collect(),
        frame: f.frame,
        body: statements(&f.body, f.span)?,
        result_len: f.result_len,
        result_ranges: f.result_ranges.clone(),
        span: f.span,
    })
}

fn statements(stmts: &[Stmt], span: Span) -> Result<Vec<StmtCode>> {
    stmts.iter().map(|s| statement(s, span)).collect()
}

fn statement(stmt: &Stmt, function: Span) -> Result<StmtCode> {
    Ok(match stmt {
        Stmt::Expr(e) => StmtCode::Expr(code(e)?),
        Stmt::Init { slot, values } => StmtCode::Init(*slot, values.clone()),
        Stmt::If { cond, then, other } => StmtCode::If(
            code(cond)?,
            statements(then, function)?,
            statements(other, function)?,
        ),
        Stmt::While {
            cond,
            body,
            step,
            span,
        } => StmtCode::While {
            cond: code(cond)?,
            body: statements(body, function)?,
            step: statements(step, function)?,
            body_first: false,
            span: *span,
        },
        Stmt::DoWhile { body, cond, span } => StmtCode::While {
            cond: code(cond)?,
            body: statements(body, function)?,
            step: Vec::new(),
            body_first: true,
            span: *span,
        },
        Stmt::Iterate {
            slot,
            range,
            body,
            span,
        } => StmtCode::Iterate {
            slot: *slot,
            lo: range.lo,
            len: range.len,
            body: statements(body, function)?,
            span: *span,
        },
        Stmt::Return(value) => StmtCode::Return(value.as_ref().map(code).transpose()?),
        Stmt::ReturnBlock(b, len) => StmtCode::ReturnBlock(block(b, function)?, *len),
        Stmt::Assert(e) => StmtCode::Assert(code(e)?, e.span),
        Stmt::Break => StmtCode::Break,
        Stmt::Continue => StmtCode::Continue,
    })
}
