//! Expressions, statements, functions and queries.

use super::{Feed, Sink};
use crate::network::{
    Arg, Base, Block, BoundsExpr, Call, ChannelRef, ClockBase, ClockRef, Expr, ExprKind, Function,
    FunctionParam, IndexStep, Place, ProcessRef, Query, QueryKind, Stmt,
};

impl Feed for Expr {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Expr { kind, span: _ } = self;
        kind.feed(sink);
    }
}

impl Feed for ExprKind {
    fn feed(&self, sink: &mut Sink<'_>) {
        match self {
            ExprKind::Const(value) => {
                sink.number(0);
                value.feed(sink);
            }
            ExprKind::Read(place) => {
                sink.number(1);
                place.feed(sink);
            }
            ExprKind::Unary(op, e) => {
                sink.number(2);
                sink.name(op);
                e.feed(sink);
            }
            ExprKind::Binary(op, a, b) => {
                sink.number(3);
                sink.name(op);
                a.feed(sink);
                b.feed(sink);
            }
            ExprKind::Cond(c, a, b) => {
                sink.number(4);
                c.feed(sink);
                a.feed(sink);
                b.feed(sink);
            }
            ExprKind::Call(call) => {
                sink.number(5);
                call.feed(sink);
            }
            ExprKind::Quantifier {
                kind,
                slot,
                range,
                body,
            } => {
                sink.number(6);
                sink.name(kind);
                slot.feed(sink);
                range.feed(sink);
                body.feed(sink);
            }
            ExprKind::At { process, location } => {
                sink.number(7);
                process.feed(sink);
                location.feed(sink);
            }
            ExprKind::LocationOf(process) => {
                sink.number(8);
                process.feed(sink);
            }
            ExprKind::Deadlock => sink.number(9),
            other => feed_effect(other, sink),
        }
    }
}

/// Assignments, copies and clocks: the rest of [`ExprKind`].
fn feed_effect(kind: &ExprKind, sink: &mut Sink<'_>) {
    match kind {
        ExprKind::Assign {
            place,
            op,
            value,
            old_value,
        } => {
            sink.number(20);
            place.feed(sink);
            sink.name(op);
            value.feed(sink);
            sink.number(*old_value);
        }
        ExprKind::Copy {
            target,
            source,
            len,
        } => {
            sink.number(21);
            target.feed(sink);
            source.feed(sink);
            len.feed(sink);
        }
        ExprKind::SameBlock {
            left,
            right,
            len,
            negated,
        } => {
            sink.number(22);
            left.feed(sink);
            right.feed(sink);
            len.feed(sink);
            sink.number(*negated);
        }
        ExprKind::Clock {
            left,
            right,
            op,
            bound,
        } => {
            sink.number(23);
            left.feed(sink);
            right.feed(sink);
            sink.name(op);
            bound.feed(sink);
        }
        ExprKind::Rate { clock, rate } => {
            sink.number(24);
            clock.feed(sink);
            rate.feed(sink);
        }
        ExprKind::SetClock { clock, value } => {
            sink.number(25);
            clock.feed(sink);
            value.feed(sink);
        }
        ExprKind::CopyClock { target, source } => {
            sink.number(26);
            target.feed(sink);
            source.feed(sink);
        }
        // All other forms are handled above; a new one would be fed by its `Debug` form, which
        // includes spans.
        other => sink.name(other),
    }
}

impl Feed for Place {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Place {
            base,
            steps,
            lo,
            hi,
            scalarset,
        } = self;
        match base {
            Base::Cell(id) => {
                sink.number(0);
                sink.cell(*id);
            }
            Base::Constant(id) => (1, *id).feed(sink),
            Base::Slot(id) => (2, *id).feed(sink),
            Base::Ref(id) => (3, *id).feed(sink),
        }
        steps.feed(sink);
        lo.feed(sink);
        hi.feed(sink);
        scalarset.feed(sink);
    }
}

impl Feed for IndexStep {
    fn feed(&self, sink: &mut Sink<'_>) {
        let IndexStep {
            index,
            range,
            stride,
        } = self;
        index.feed(sink);
        range.feed(sink);
        stride.feed(sink);
    }
}

impl Feed for ClockRef {
    fn feed(&self, sink: &mut Sink<'_>) {
        let ClockRef {
            base,
            steps,
            span: _,
        } = self;
        match base {
            ClockBase::Clock(id) => {
                sink.number(0);
                sink.clock(*id);
            }
            ClockBase::Ref(id) => (1, *id).feed(sink),
        }
        steps.feed(sink);
    }
}

impl Feed for ChannelRef {
    fn feed(&self, sink: &mut Sink<'_>) {
        let ChannelRef {
            base,
            steps,
            span: _,
        } = self;
        sink.channel(*base);
        steps.feed(sink);
    }
}

impl Feed for ProcessRef {
    fn feed(&self, sink: &mut Sink<'_>) {
        let ProcessRef { base, steps } = self;
        base.feed(sink);
        steps.feed(sink);
    }
}

impl Feed for Block {
    fn feed(&self, sink: &mut Sink<'_>) {
        match self {
            Block::Place(place) => {
                sink.number(0);
                place.feed(sink);
            }
            Block::Call(call) => {
                sink.number(1);
                call.feed(sink);
            }
            Block::Cond(c, a, b) => {
                sink.number(2);
                c.feed(sink);
                a.feed(sink);
                b.feed(sink);
            }
            Block::Assign {
                target,
                source,
                len,
            } => {
                sink.number(3);
                target.feed(sink);
                source.feed(sink);
                len.feed(sink);
            }
        }
    }
}

impl Feed for Call {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Call { function, args } = self;
        sink.function(*function);
        args.feed(sink);
    }
}

impl Feed for Arg {
    fn feed(&self, sink: &mut Sink<'_>) {
        match self {
            Arg::Value(e) => {
                sink.number(0);
                e.feed(sink);
            }
            Arg::Block(block, len) => {
                sink.number(1);
                block.feed(sink);
                len.feed(sink);
            }
            Arg::Ref(place) => {
                sink.number(2);
                place.feed(sink);
            }
            Arg::Clock(clock) => {
                sink.number(3);
                clock.feed(sink);
            }
            Arg::Mixed(place, clock) => {
                sink.number(4);
                place.feed(sink);
                clock.feed(sink);
            }
        }
    }
}

impl Feed for Function {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Function {
            name: _,
            params,
            frame,
            body,
            result_len,
            result_ranges,
            span: _,
        } = self;
        params.feed(sink);
        frame.feed(sink);
        body.feed(sink);
        result_len.feed(sink);
        result_ranges.feed(sink);
    }
}

impl Feed for FunctionParam {
    fn feed(&self, sink: &mut Sink<'_>) {
        let FunctionParam { slot, ranges } = self;
        slot.feed(sink);
        ranges.feed(sink);
    }
}

impl Feed for Stmt {
    fn feed(&self, sink: &mut Sink<'_>) {
        match self {
            Stmt::Expr(e) => {
                sink.number(0);
                e.feed(sink);
            }
            Stmt::Init { slot, values } => {
                sink.number(1);
                slot.feed(sink);
                values.feed(sink);
            }
            Stmt::If { cond, then, other } => {
                sink.number(2);
                cond.feed(sink);
                then.feed(sink);
                other.feed(sink);
            }
            Stmt::While {
                cond,
                body,
                step,
                span: _,
            } => {
                sink.number(3);
                cond.feed(sink);
                body.feed(sink);
                step.feed(sink);
            }
            Stmt::DoWhile {
                body,
                cond,
                span: _,
            } => {
                sink.number(4);
                body.feed(sink);
                cond.feed(sink);
            }
            Stmt::Iterate {
                slot,
                range,
                body,
                span: _,
            } => {
                sink.number(5);
                slot.feed(sink);
                range.feed(sink);
                body.feed(sink);
            }
            Stmt::Return(value) => {
                sink.number(6);
                value.feed(sink);
            }
            Stmt::ReturnBlock(block, len) => {
                sink.number(7);
                block.feed(sink);
                len.feed(sink);
            }
            Stmt::Assert(e) => {
                sink.number(8);
                e.feed(sink);
            }
            Stmt::Break => sink.number(9),
            Stmt::Continue => sink.number(10),
        }
    }
}

impl Feed for Query {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Query {
            text: _,
            kind,
            frame,
            named_elements,
            span: _,
        } = self;
        match kind {
            QueryKind::Path(path, e) => {
                sink.number(0);
                sink.name(path);
                e.feed(sink);
            }
            QueryKind::LeadsTo(p, q) => {
                sink.number(1);
                p.feed(sink);
                q.feed(sink);
            }
            QueryKind::Bounds {
                kind,
                condition,
                exprs,
            } => {
                sink.number(2);
                sink.name(kind);
                condition.feed(sink);
                exprs.feed(sink);
            }
        }
        frame.feed(sink);
        named_elements.feed(sink);
    }
}

impl Feed for BoundsExpr {
    fn feed(&self, sink: &mut Sink<'_>) {
        match self {
            BoundsExpr::Int(e) => {
                sink.number(0);
                e.feed(sink);
            }
            BoundsExpr::Clock { left, right } => {
                sink.number(1);
                left.feed(sink);
                right.feed(sink);
            }
        }
    }
}
