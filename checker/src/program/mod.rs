//! The network compiled for exploration: expressions as compact trees over cells and slots, clock
//! conditions separate from integer ones, edges grouped by source and by synchronisation.

mod alike;
mod arithmetic;
mod calls;
mod code;
mod compile;
mod eval;
mod fault;
mod formula;
mod hoist;
mod model;

pub(crate) use alike::Alike;
pub(crate) use code::{
    ArgCode, AtomCode, BlockCode, CallCode, ClockCode, Code, Formula, Measured, PlaceBase,
    PlaceCode, ProcessCode, QuantifierCode, StepCode, StmtCode,
};
pub(crate) use compile::{
    CompileError, clock as compile_clock, code as compile_code, formula as compile_formula,
};
pub(crate) use eval::{ClockOp, Machine};
pub(crate) use fault::{Fault, FaultKind};
pub(crate) use formula::{
    Conjunction, Constraint, before_ops, constrain, intersect_all, pass_time,
};
pub(crate) use model::{Edge, EdgeId, Guard, Program};
