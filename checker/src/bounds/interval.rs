//! Intervals of integer expressions over declared ranges, and walks over compiled code.

use crate::bounds::clocks_of;
use crate::program::{ArgCode, BlockCode, CallCode, PlaceCode, StmtCode};
use crate::program::{Code, Program};
use zonelens_analysis::network::BinaryOp;

/// The ranges of frame slots, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<Option<(i64, i64)>>);

impl Ranges {
    /// Records that slot `slot` holds one of `len` values starting at `lo`.
    pub(super) fn set(&mut self, slot: u32, lo: i32, len: u32) {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, None);
        }
        self.0[slot] = Some((i64::from(lo), i64::from(lo) + i64::from(len) - 1));
    }

    fn get(&self, slot: u32) -> (i64, i64) {
        self.0.get(slot as usize).copied().flatten().unwrap_or(ANY)
    }
}

/// The range of an `i32`.
const ANY: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// An interval that contains every value that the expression can have without a fault.
pub(super) fn interval(program: &Program, code: &Code, slots: &Ranges) -> (i64, i64) {
    let of = |c: &Code| interval(program, c, slots);
    let result = match code {
        Code::Const(c) => (i64::from(*c), i64::from(*c)),
        Code::Cell(c) => range(program.cells.get(*c as usize).copied()),
        Code::Slot(s) => slots.get(*s),
        Code::Place(place) => range(Some((place.lo, place.hi))),
        Code::Assign(assign) => range(Some((assign.place.lo, assign.place.hi))),
        Code::Not(_)
        | Code::CellConst(..)
        | Code::Compare(..)
        | Code::And(_)
        | Code::Or(_)
        | Code::Same(..)
        | Code::At(..) => (0, 1),
        Code::Neg(a) => {
            let (lo, hi) = of(a);
            (-hi, -lo)
        }
        Code::Cond(parts) => {
            let (a, b) = (of(&parts.1), of(&parts.2));
            (a.0.min(b.0), a.1.max(b.1))
        }
        Code::Binary(op, sides, _) => binary(*op, of(&sides.0), of(&sides.1)),
        Code::Call(call) => {
            let function = &program.functions[call.function as usize];
            range(function.result_ranges.first().copied())
        }
        Code::SetClock(parts, _) => of(&parts.1),
        Code::Copy(_) | Code::Quantifier(_) | Code::CopyClock(_) | Code::LocationOf(_) => ANY,
    };
    // A place whose declared range is empty (lo > hi) gives no information, and values beyond 32
    // bits wrap around.
    if result.0 > result.1 || result.0 < ANY.0 || result.1 > ANY.1 {
        ANY
    } else {
        result
    }
}

fn range(declared: Option<(i32, i32)>) -> (i64, i64) {
    declared.map_or(ANY, |(lo, hi)| (i64::from(lo), i64::from(hi)))
}

fn binary(op: BinaryOp, a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
        BinaryOp::Mul => {
            let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            (
                corners.into_iter().min().unwrap_or(ANY.0),
                corners.into_iter().max().unwrap_or(ANY.1),
            )
        }
        BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
        // Truncated division cannot leave the range of the dividend mirrored at zero.
        BinaryOp::Div | BinaryOp::Mod => {
            let reach = a.0.abs().max(a.1.abs());
            (if a.0 < 0 || b.0 < 0 { -reach } else { 0 }, reach)
        }
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Gt | BinaryOp::Eq | BinaryOp::Ne => {
            (0, 1)
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => (0, 1),
        BinaryOp::Pow
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => ANY,
    }
}

/// For each clock, the least and greatest value that it starts at or is set to.
pub(super) fn set_values(program: &Program) -> Vec<(i64, i64)> {
    let mut values: Vec<(i64, i64)> = program
        .initial_clocks
        .iter()
        .map(|&v| (i64::from(v).min(0), i64::from(v)))
        .collect();
    let mut note = |slots: &Ranges, code: &Code| {
        if let Code::SetClock(parts, _) = code {
            let (lo, hi) = interval(program, &parts.1, slots);
            for x in clocks_of(program, &parts.0) {
                let entry = &mut values[x as usize];
                *entry = (entry.0.min(lo.max(0)), entry.1.max(hi));
            }
        }
    };
    for edge in &program.edges {
        let mut slots = Ranges::default();
        for &(slot, lo, len) in &edge.selects {
            slots.set(slot, lo, len);
        }
        edge.updates
            .iter()
            .for_each(|code| walk_code(code, &mut |part| note(&slots, part)));
    }
    let none = Ranges::default();
    for code in program.before_update.iter().chain(&program.after_update) {
        walk_code(code, &mut |part| note(&none, part));
    }
    for function in &program.functions {
        walk_statements(&function.body, &mut |code| {
            walk_code(code, &mut |part| note(&none, part))
        });
    }
    values
}

/// Calls `visit` on the expression and every part of it; functions are not entered.
pub(super) fn walk_code(code: &Code, visit: &mut impl FnMut(&Code)) {
    visit(code);
    match code {
        Code::Neg(a) | Code::Not(a) => walk_code(a, visit),
        Code::Binary(_, sides, _)
        | Code::Compare(_, sides)
        | Code::And(sides)
        | Code::Or(sides) => {
            walk_code(&sides.0, visit);
            walk_code(&sides.1, visit);
        }
        Code::Cond(parts) => {
            walk_code(&parts.0, visit);
            walk_code(&parts.1, visit);
            walk_code(&parts.2, visit);
        }
        Code::Place(place) => walk_place(place, visit),
        Code::Assign(assign) => {
            walk_place(&assign.place, visit);
            walk_code(&assign.value, visit);
        }
        Code::Copy(parts) => {
            walk_place(&parts.0, visit);
            walk_block(&parts.1, visit);
        }
        Code::Same(parts, _) => {
            walk_block(&parts.0, visit);
            walk_block(&parts.1, visit);
        }
        Code::Quantifier(q) => walk_code(&q.body, visit),
        Code::SetClock(parts, _) => walk_code(&parts.1, visit),
        Code::Call(call) => walk_call(call, visit),
        Code::Const(_)
        | Code::Cell(_)
        | Code::Slot(_)
        | Code::CellConst(..)
        | Code::CopyClock(_)
        | Code::At(..)
        | Code::LocationOf(_) => {}
    }
}

fn walk_call(call: &CallCode, visit: &mut impl FnMut(&Code)) {
    for arg in &call.args {
        match arg {
            ArgCode::Value(code, _) => walk_code(code, visit),
            ArgCode::Block(block, _) => walk_block(block, visit),
            ArgCode::Ref(place) | ArgCode::Mixed(place, _) => walk_place(place, visit),
            ArgCode::Clock(_) => {}
        }
    }
}

fn walk_place(place: &PlaceCode, visit: &mut impl FnMut(&Code)) {
    place.steps.iter().for_each(|s| walk_code(&s.index, visit));
}

fn walk_block(block: &BlockCode, visit: &mut impl FnMut(&Code)) {
    match block {
        BlockCode::Place(place) => walk_place(place, visit),
        BlockCode::Call(call) => walk_call(call, visit),
        BlockCode::Cond(parts) => {
            walk_code(&parts.0, visit);
            walk_block(&parts.1, visit);
            walk_block(&parts.2, visit);
        }
        BlockCode::Assign(parts) => {
            walk_place(&parts.0, visit);
            walk_block(&parts.1, visit);
        }
    }
}

/// Calls `visit` on every outermost expression of the statements; [`walk_code`] visits the parts.
pub(super) fn walk_statements(stmts: &[StmtCode], visit: &mut impl FnMut(&Code)) {
    for stmt in stmts {
        match stmt {
            StmtCode::Expr(code) | StmtCode::Assert(code, _) | StmtCode::Return(Some(code)) => {
                visit(code)
            }
            StmtCode::If(cond, then, other) => {
                visit(cond);
                walk_statements(then, visit);
                walk_statements(other, visit);
            }
            StmtCode::While {
                cond, body, step, ..
            } => {
                visit(cond);
                walk_statements(body, visit);
                walk_statements(step, visit);
            }
            StmtCode::Iterate { body, .. } => walk_statements(body, visit),
            _ => {}
        }
    }
}
