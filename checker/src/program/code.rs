//! Compiled expressions.

use zonelens_analysis::network::{BinaryOp, CompareOp, IndexRange, LocationId, ScalarsetId};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// An integer expression.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// A constant.
    Const(i32),
    /// A cell of the state.
    Cell(u32),
    /// A slot of the current frame.
    Slot(u32),
    /// Any other place.
    Place(Box<PlaceCode>),
    /// `-a`
    Neg(Box<Code>),
    /// `!a`
    Not(Box<Code>),
    /// `cell op constant`: the most frequent guard, without recursion.
    CellConst(BinaryOp, u32, i32),
    /// A comparison, which cannot fail.
    Compare(BinaryOp, Box<(Code, Code)>),
    /// An operator that evaluates both sides.
    Binary(BinaryOp, Box<(Code, Code)>, Span),
    /// `a && b`, the right side only if the left is true.
    And(Box<(Code, Code)>),
    /// `a || b`, the right side only if the left is false.
    Or(Box<(Code, Code)>),
    /// `c ? a : b`
    Cond(Box<(Code, Code, Code)>),
    /// An assignment.
    Assign(Box<AssignCode>),
    /// Copies a block.
    Copy(Box<(PlaceCode, BlockCode, u32)>),
    /// Compares two blocks; the flag negates the result.
    Same(Box<(BlockCode, BlockCode, u32)>, bool),
    /// A call.
    Call(Box<CallCode>),
    /// A quantifier.
    Quantifier(Box<QuantifierCode>),
    /// `x = e`
    SetClock(Box<(ClockCode, Code)>, Span),
    /// `x = y`
    CopyClock(Box<(ClockCode, ClockCode)>),
    /// Whether a process is in a location.
    At(Box<ProcessCode>, LocationId),
    /// The location of a process.
    LocationOf(Box<ProcessCode>),
}

/// A cell or slot with computed indices.
#[derive(Clone, Debug)]
pub(crate) struct PlaceCode {
    pub base: PlaceBase,
    pub steps: Vec<StepCode>,
    pub lo: i32,
    pub hi: i32,
    pub span: Span,
}

/// The base address of a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlaceBase {
    Cell(u32),
    Constant(u32),
    Slot(u32),
    Ref(u32),
}

/// One computed index.
#[derive(Clone, Debug)]
pub(crate) struct StepCode {
    pub index: Code,
    pub range: IndexRange,
    pub stride: u32,
    pub span: Span,
}

/// `place = value`, `place op= value`, `place++`.
#[derive(Clone, Debug)]
pub(crate) struct AssignCode {
    pub place: PlaceCode,
    pub op: Option<BinaryOp>,
    pub value: Code,
    pub old_value: bool,
    pub span: Span,
}

/// A struct or array value.
#[derive(Clone, Debug)]
pub(crate) enum BlockCode {
    Place(PlaceCode),
    Call(CallCode),
    Cond(Box<(Code, BlockCode, BlockCode)>),
    Assign(Box<(PlaceCode, BlockCode, u32)>),
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct CallCode {
    pub function: u32,
    pub args: Vec<ArgCode>,
    pub span: Span,
}

/// An argument.
#[derive(Clone, Debug)]
pub(crate) enum ArgCode {
    /// A number, and its span.
    Value(Code, Span),
    Block(BlockCode, u32),
    Ref(PlaceCode),
    Clock(ClockCode),
    Mixed(PlaceCode, ClockCode),
}

/// `forall`, `exists`, `sum`.
#[derive(Clone, Debug)]
pub(crate) struct QuantifierCode {
    pub kind: QuantifierKind,
    pub slot: u32,
    pub lo: i32,
    pub len: u32,
    /// The scalarset that the variable ranges over.
    pub scalarset: Option<ScalarsetId>,
    pub body: Code,
    /// The body for all values except the first, if it is cheaper to evaluate.
    pub later: Option<Code>,
}

/// A clock; `base` is its index in the network (or a slot that holds one).
#[derive(Clone, Debug)]
pub(crate) struct ClockCode {
    pub base: u32,
    pub by_ref: bool,
    pub steps: Vec<StepCode>,
}

/// A process with computed parameters.
#[derive(Clone, Debug)]
pub(crate) struct ProcessCode {
    pub base: u32,
    pub steps: Vec<StepCode>,
}

/// `left - right op bound`
#[derive(Clone, Debug)]
pub(crate) struct AtomCode {
    pub left: ClockCode,
    pub right: Option<ClockCode>,
    pub op: CompareOp,
    pub bound: Code,
    pub span: Span,
}

/// A condition over integers and clocks.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    /// A condition without clocks.
    Int(Code),
    /// A single comparison of clocks.
    Atom(Box<AtomCode>),
    /// A conjunction.
    And(Vec<Formula>),
    /// A disjunction.
    Or(Vec<Formula>),
    /// A negation.
    Not(Box<Formula>),
    /// A condition for all values (`true`) or for some value (`false`) of a slot.
    Quantified {
        all: bool,
        slot: u32,
        lo: i32,
        len: u32,
        body: Box<Formula>,
        /// The body for all values except the first, if it is cheaper to evaluate.
        later: Option<Box<Formula>>,
    },
    /// `x' == e`: not a condition; the delay reads it.
    Rate(Box<(ClockCode, Code)>, Span),
    /// `deadlock`: no step is possible, now or after a delay.
    Deadlock,
}

impl Code {
    /// Whether evaluation may fail; `true` wherever that is not obvious.
    fn may_fail(&self) -> bool {
        match self {
            Code::Const(_) | Code::Cell(_) | Code::Slot(_) | Code::CellConst(..) => false,
            Code::Not(part) => part.may_fail(),
            Code::Compare(_, parts) | Code::And(parts) | Code::Or(parts) => {
                parts.0.may_fail() || parts.1.may_fail()
            }
            _ => true,
        }
    }
}

impl AtomCode {
    /// Whether an index or the bound may fail.
    pub(crate) fn may_fail(&self) -> bool {
        let indexed = |clock: &ClockCode| !clock.steps.is_empty();
        indexed(&self.left) || self.right.as_ref().is_some_and(indexed) || self.bound.may_fail()
    }
}

impl Formula {
    /// Whether evaluation of a part may fail.
    pub(crate) fn may_fail(&self) -> bool {
        let mut found = false;
        self.walk(&mut |part| {
            found |= match part {
                Formula::Int(code) => code.may_fail(),
                Formula::Atom(atom) => atom.may_fail(),
                _ => false,
            };
        });
        found
    }

    /// Calls `visit` on this formula and all its parts.
    pub(crate) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Formula)) {
        visit(self);
        match self {
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|p| p.walk(visit)),
            Formula::Not(part) | Formula::Quantified { body: part, .. } => part.walk(visit),
            Formula::Int(_) | Formula::Atom(_) | Formula::Rate(..) | Formula::Deadlock => {}
        }
    }

    /// Whether it depends only on the discrete state, so that time does not change it.
    pub(crate) fn is_discrete(&self) -> bool {
        let mut discrete = true;
        self.walk(&mut |part| {
            discrete &= !matches!(
                part,
                Formula::Atom(_) | Formula::Rate(..) | Formula::Deadlock
            );
        });
        discrete
    }

    /// Whether `deadlock` occurs in it.
    pub(crate) fn has_deadlock(&self) -> bool {
        let mut found = false;
        self.walk(&mut |part| found |= matches!(part, Formula::Deadlock));
        found
    }
}

/// A compiled statement.
#[derive(Clone, Debug)]
pub(crate) enum StmtCode {
    Expr(Code),
    Init(u32, Vec<i32>),
    If(Code, Vec<StmtCode>, Vec<StmtCode>),
    While {
        cond: Code,
        body: Vec<StmtCode>,
        step: Vec<StmtCode>,
        /// Whether the body runs once before the condition is evaluated.
        body_first: bool,
        span: Span,
    },
    Iterate {
        slot: u32,
        lo: i32,
        len: u32,
        body: Vec<StmtCode>,
        span: Span,
    },
    Return(Option<Code>),
    ReturnBlock(BlockCode, u32),
    Assert(Code, Span),
    Break,
    Continue,
}

/// A compiled function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionCode {
    pub params: Vec<ParamCode>,
    pub frame: u32,
    pub body: Vec<StmtCode>,
    pub result_len: u32,
    pub result_ranges: Vec<(i32, i32)>,
    pub span: Span,
}

/// A compiled parameter.
#[derive(Clone, Debug)]
pub(crate) struct ParamCode {
    pub slot: u32,
    pub ranges: Option<Vec<(i32, i32)>>,
}

/// An expression that `sup`, `inf` or `bounds` measures.
#[derive(Clone, Debug)]
pub(crate) enum Measured {
    /// An integer.
    Int(Code),
    /// A clock or a difference of clocks.
    Clock(ClockCode, Option<ClockCode>),
}
