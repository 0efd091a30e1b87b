//! The network: the result of instantiating a model, and all that the checker knows about it.
//!
//! Everything is resolved: names are kept only for display, parameters of processes are constants,
//! template code is copied per process, arrays and structs are flattened into *cells* (integers),
//! *clocks* and *channels* with dense ids. Spans are absolute byte ranges in the model file (in the
//! query's file for query expressions).
//!
//! Families: the processes created from one name of the system line by its free parameters are
//! consecutive, in the order of the parameters (last one fastest). So are their local cells and
//! clocks, with equal strides. A dynamic reference `P(i).x` in a query is therefore an ordinary
//! [`Place`] with one index step per parameter.

// The names of the variants explain their fields.
#![allow(missing_docs)]

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::collections::BTreeSet;
use zonelens_syntax::ast::{BoundsKind, Direction, PathKind, QuantifierKind};
use zonelens_syntax::span::Span;

mod ids;

pub use crate::types::DEFAULT_INT;

pub use ids::{
    CellId, ChannelId, ClockId, FunctionId, Id, LocationId, ProcessId, ScalarsetId, Slot, Table,
    VariableId,
};

/// A closed network of timed automata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Integer cells in layout order.
    pub cells: Table<CellId, Cell>,
    /// Clocks in layout order.
    pub clocks: Table<ClockId, Clock>,
    /// Channels; elements of arrays in index order.
    pub channels: Table<ChannelId, Channel>,
    /// The values of constant arrays and structs that are read with computed indices.
    pub constants: Vec<i32>,
    /// Variables as declared (local ones once per process), with their shapes over cells, clocks
    /// and channels.
    pub variables: Table<VariableId, Variable>,
    /// Functions; those of templates once per process.
    pub functions: Table<FunctionId, Function>,
    /// Processes in the order of the system line.
    pub processes: Vec<Process>,
    /// The families on the system line, in order. Every process belongs to one of them.
    pub families: Vec<Family>,
    /// All scalarsets (Ω), declared or detected.
    pub scalarsets: Table<ScalarsetId, Scalarset>,
    /// Whether any channel or process priority is declared.
    pub has_priorities: bool,
    /// Run before the updates of each transition.
    pub before_update: Vec<Expr>,
    /// Run after the updates of each transition.
    pub after_update: Vec<Expr>,
    /// The number of frame slots that `before_update` and `after_update` need (quantifier
    /// variables).
    pub update_frame: u32,
    /// Uses of features that the symbolic engine does not decide exactly, with their positions.
    pub unsupported: Vec<UnsupportedUse>,
}

/// A feature that the engine does not support (or only approximately), found while building the
/// network.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsupportedUse {
    /// The diagnostic's code, `unsupported/…`.
    pub code: &'static str,
    /// A sentence for the user.
    pub message: String,
    /// The position of the use in the model.
    pub span: Span,
    /// Whether every query is affected, rather than only those that use the construct.
    pub fatal: bool,
}

/// An integer, boolean or scalar of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The least value.
    pub lo: i32,
    /// The greatest value.
    pub hi: i32,
    /// The initial value.
    pub init: i32,
    /// The scalarset whose elements it holds.
    pub scalarset: Option<ScalarsetId>,
    /// Whether it is declared `meta`.
    pub meta: bool,
    /// The variable it belongs to.
    pub variable: VariableId,
}

/// A clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// The initial value.
    pub init: i32,
    /// The variable it belongs to.
    pub variable: VariableId,
}

/// A channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Whether it is declared `urgent`.
    pub urgent: bool,
    /// Whether it is declared `broadcast`.
    pub broadcast: bool,
    /// Its priority; larger is higher. Internal steps have [`Channel::DEFAULT_PRIORITY`].
    pub priority: i32,
    /// The variable it belongs to.
    pub variable: VariableId,
}

impl Channel {
    /// The priority of internal steps and of channels that are not listed.
    pub const DEFAULT_PRIORITY: i32 = 0;
}

/// A declared variable and the cells, clocks and channels that it occupies.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name as users write it in a query: `id`, `P(1).x`.
    pub name: SmolStr,
    /// The process it is local to.
    pub process: Option<ProcessId>,
    /// Its structure.
    pub shape: Shape,
    /// Its first cell.
    pub first_cell: CellId,
    /// Its first clock.
    pub first_clock: ClockId,
    /// Its first channel.
    pub first_channel: ChannelId,
    /// Where its name is declared.
    pub span: Span,
}

/// The structure of a variable. Leaves are numbered depth first; cells, clocks and channels are
/// numbered separately.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One cell; `boolean` only affects how it is printed.
    Int {
        lo: i32,
        hi: i32,
        scalarset: Option<ScalarsetId>,
        boolean: bool,
    },
    /// One clock.
    Clock,
    /// One channel.
    Channel,
    /// The elements in index order.
    Array {
        index: IndexRange,
        element: Box<Shape>,
    },
    /// The fields in declaration order.
    Struct(Vec<(SmolStr, Shape)>),
}

/// The index type of an array dimension or of a process parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// The least index.
    pub lo: i32,
    /// The number of indices.
    pub len: u32,
    /// The scalarset it ranges over, if any (D_α).
    pub scalarset: Option<ScalarsetId>,
}

impl Shape {
    /// The numbers of cells, clocks and channels.
    pub fn counts(&self) -> (u32, u32, u32) {
        match self {
            Shape::Int { .. } => (1, 0, 0),
            Shape::Clock => (0, 1, 0),
            Shape::Channel => (0, 0, 1),
            Shape::Array { index, element } => {
                let (a, b, c) = element.counts();
                (a * index.len, b * index.len, c * index.len)
            }
            Shape::Struct(fields) => fields.iter().fold((0, 0, 0), |(a, b, c), (_, f)| {
                let (x, y, z) = f.counts();
                (a + x, b + y, c + z)
            }),
        }
    }
}

impl Network {
    /// The parts of variables that are booleans, named as in traces: `set`, `P(1).seen[0]`.
    pub fn boolean_names(&self) -> BTreeSet<String> {
        fn add(shape: &Shape, name: String, out: &mut BTreeSet<String>) {
            match shape {
                Shape::Int { boolean: true, .. } => {
                    out.insert(name);
                }
                Shape::Int { .. } | Shape::Clock | Shape::Channel => {}
                Shape::Array { index, element } => {
                    for k in 0..index.len {
                        let number = i64::from(index.lo) + i64::from(k);
                        add(element, format!("{name}[{number}]"), out);
                    }
                }
                Shape::Struct(fields) => {
                    for (field, shape) in fields {
                        add(shape, format!("{name}.{field}"), out);
                    }
                }
            }
        }
        let mut out = BTreeSet::new();
        for v in &self.variables {
            add(&v.shape, v.name.to_string(), &mut out);
        }
        out
    }
}

/// A scalarset (α in Ω).
#[derive(Clone, Debug, PartialEq)]
pub struct Scalarset {
    /// Its name (that of the typedef, if there is one).
    pub name: SmolStr,
    /// The number of elements; they are 0 … size-1.
    pub size: u32,
    /// Whether it was detected in a model that declares none.
    pub detected: bool,
    /// The value of element 0 in cells and arguments (0 for declared sets; detected ids may start
    /// at 1).
    pub first: i32,
    /// Classes of interchangeable elements; a declared scalarset has one class with all of them.
    pub blocks: Vec<Vec<u32>>,
    /// Where it is declared (or the parameter from which it was detected).
    pub span: Span,
    /// The broken rules that forbid reducing over it; empty if the reduction is sound.
    pub broken: Vec<BrokenRule>,
}

/// A soundness rule that a scalarset breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenRule {
    /// The code of the rule, `sym/…`.
    pub code: &'static str,
    /// Where the rule is broken.
    pub span: Span,
}

/// The processes of one name on the system line.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name on the system line.
    pub name: SmolStr,
    /// The template it comes from.
    pub template: SmolStr,
    /// Its free parameters; empty for a single process.
    pub params: Vec<IndexRange>,
    /// The first process.
    pub first: ProcessId,
    /// The number of processes: the product of the sizes of the parameters.
    pub len: u32,
}

/// A process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its name as printed: `Fischer(1)`, `Gate`.
    pub name: SmolStr,
    /// The index of its family in [`Network::families`].
    pub family: u32,
    /// The values of the free parameters of the family (γ where the parameter is a scalar).
    pub args: Vec<i32>,
    /// Its locations, indexed by [`LocationId`].
    pub locations: Vec<Location>,
    /// The initial location.
    pub initial: LocationId,
    /// Its edges, in text order.
    pub edges: Vec<Edge>,
    /// The priority of the process; larger is higher, 0 if none is declared.
    pub priority: i32,
    /// Where its template is declared.
    pub span: Span,
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Its name.
    pub name: SmolStr,
    /// The kind, which determines whether time may pass.
    pub kind: LocationKind,
    /// The invariant: a conjunction over integers, [`Expr::Clock`] atoms and [`Expr::Rate`].
    pub invariant: Option<Expr>,
    /// The number of slots that the invariant needs.
    pub frame: u32,
    /// Where its name is declared.
    pub span: Span,
}

/// The kinds of locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationKind {
    Normal,
    Urgent,
    Committed,
}

/// An edge. Branchpoints are already composed away.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The source location.
    pub source: LocationId,
    /// The target location.
    pub target: LocationId,
    /// The select variables, whose values are chosen before the guard is evaluated.
    pub selects: Vec<Select>,
    /// The guard, over integers and clock atoms.
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// The updates, in order.
    pub updates: Vec<Expr>,
    /// The number of slots needed: selects first, then quantifier variables.
    pub frame: u32,
    /// The index of the edge in the text of its template (of the first part, if composed over
    /// branchpoints).
    pub template_edge: u32,
    /// Its spans in the text, one per part.
    pub spans: Vec<Span>,
}

/// `select i : T`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Its name.
    pub name: SmolStr,
    /// The slot that holds its value.
    pub slot: Slot,
    /// Its possible values.
    pub range: IndexRange,
}

/// The synchronisation of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The channel.
    pub channel: ChannelRef,
    /// Whether the edge sends or receives.
    pub direction: Direction,
}

// Expressions.

/// An expression with its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The form of the expression and its parts.
    pub kind: ExprKind,
    /// Its span in the text.
    pub span: Span,
}

/// Integer, boolean and clock-constraint expressions. Booleans are 0 and 1. All arithmetic is
/// checked `i32`.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Const(i32),
    /// The value of a cell or slot.
    Read(Place),
    /// `-a`, `!a`
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`; `&&` and `||` short-circuit. Both sides of `And` and `Or` may contain clock atoms.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `p = v` or `p = p op v`, range-checked. Its value is the new one, or the old one for `p++`.
    Assign {
        place: Place,
        op: Option<BinaryOp>,
        value: Box<Expr>,
        old_value: bool,
    },
    /// Copies a struct or array cell by cell, range-checked.
    Copy {
        target: Place,
        source: Block,
        len: u32,
    },
    /// `a == b` or `a != b` of structs or arrays.
    SameBlock {
        left: Block,
        right: Block,
        len: u32,
        negated: bool,
    },
    /// A call of a function. If the function returns nothing or a block, the value is 0 and not
    /// used.
    Call(Box<Call>),
    /// `forall`, `exists`, `sum` over an integer range; the body may contain clock atoms.
    Quantifier {
        kind: QuantifierKind,
        slot: Slot,
        range: IndexRange,
        body: Box<Expr>,
    },
    /// `left - right op bound`; `right: None` stands for the constant 0.
    Clock {
        left: ClockRef,
        right: Option<ClockRef>,
        op: CompareOp,
        bound: Box<Expr>,
    },
    /// `x' == e` in an invariant.
    Rate { clock: ClockRef, rate: Box<Expr> },
    /// `x = e`, where `e` is not negative.
    SetClock { clock: ClockRef, value: Box<Expr> },
    /// `x = y`
    CopyClock { target: ClockRef, source: ClockRef },
    /// Whether a process is in a location (queries).
    At {
        process: ProcessRef,
        location: LocationId,
    },
    /// The index of a process' location (queries).
    LocationOf(ProcessRef),
    /// `deadlock` (queries).
    Deadlock,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    Not,
}

/// Binary operators on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Pow,
    Mul,
    Div,
    Mod,
    Add,
    Sub,
    Shl,
    Shr,
    Min,
    Max,
    Lt,
    Le,
    Ge,
    Gt,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
    Xor,
}

/// Comparisons of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Lt,
    Le,
    Ge,
    Gt,
    Eq,
    Ne,
}

/// The cell or slot at `base + Σ (index - lo) · stride`; an index out of its range is a model
/// error.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The address before the steps are added.
    pub base: Base,
    /// Computed indices (constant ones are already included in the base).
    pub steps: Vec<IndexStep>,
    /// The least value that may be stored (for single cells).
    pub lo: i32,
    /// The greatest value that may be stored (for single cells).
    pub hi: i32,
    /// The scalarset whose elements it holds.
    pub scalarset: Option<ScalarsetId>,
}

/// The base address of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A cell of the state.
    Cell(CellId),
    /// A value of [`Network::constants`]; never written.
    Constant(u32),
    /// A slot of the current frame.
    Slot(Slot),
    /// The target of the reference parameter in this slot.
    Ref(Slot),
}

/// One computed index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexStep {
    /// The index.
    pub index: Expr,
    /// Its index type.
    pub range: IndexRange,
    /// The distance between neighbouring entries.
    pub stride: u32,
}

/// A reference to a clock, computed like a [`Place`].
#[derive(Clone, Debug, PartialEq)]
pub struct ClockRef {
    /// The first clock.
    pub base: ClockBase,
    /// Computed indices.
    pub steps: Vec<IndexStep>,
    /// The span of the reference in the text.
    pub span: Span,
}

/// The base of a clock reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockBase {
    /// A clock of the network.
    Clock(ClockId),
    /// The target of the clock reference parameter in this slot.
    Ref(Slot),
}

/// A reference to a channel, computed like a [`Place`].
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelRef {
    /// The first channel.
    pub base: ChannelId,
    /// Computed indices.
    pub steps: Vec<IndexStep>,
    /// The span of the reference in the text.
    pub span: Span,
}

/// A reference to a process, computed like a [`Place`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessRef {
    /// The first process.
    pub base: ProcessId,
    /// Computed indices.
    pub steps: Vec<IndexStep>,
}

/// A struct or array value.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A stored value.
    Place(Place),
    /// The result of a function.
    Call(Box<Call>),
    /// A choice by a condition.
    Cond(Box<Expr>, Box<Block>, Box<Block>),
    /// The assignment `a = b` used as a value.
    Assign {
        target: Place,
        source: Box<Block>,
        len: u32,
    },
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub function: FunctionId,
    /// Its arguments, in order.
    pub args: Vec<Arg>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// An integer by value.
    Value(Expr),
    /// A struct or array by value.
    Block(Block, u32),
    /// A place by reference.
    Ref(Place),
    /// A clock (or clock array) by reference.
    Clock(ClockRef),
    /// A struct with cells and clocks by reference; it takes two slots.
    Mixed(Place, ClockRef),
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name; `P(1).f` for a function of a template.
    pub name: SmolStr,
    /// Its parameters, in order.
    pub params: Vec<FunctionParam>,
    /// The number of slots of its frame, parameters included.
    pub frame: u32,
    /// Its body.
    pub body: Vec<Stmt>,
    /// The number of cells of the result: 0 for none, 1 for an integer.
    pub result_len: u32,
    /// The range of each cell of the result.
    pub result_ranges: Vec<(i32, i32)>,
    /// Where its name is declared.
    pub span: Span,
}

/// A parameter of a function: slots that hold values, or one slot that holds a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParam {
    /// Its first slot.
    pub slot: Slot,
    /// The range of each cell if it is passed by value; `None` if it is passed by reference.
    pub ranges: Option<Vec<(i32, i32)>>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Evaluates an expression for its effect.
    Expr(Expr),
    /// Sets the slots of a local variable to constants, each time the block is entered.
    Init { slot: Slot, values: Vec<i32> },
    /// `if`
    If {
        cond: Expr,
        then: Vec<Stmt>,
        other: Vec<Stmt>,
    },
    /// `while`, and `for (a; b; c)` as `a; while (b) { …; c }`; `step` also runs after `continue`.
    While {
        cond: Expr,
        body: Vec<Stmt>,
        step: Vec<Stmt>,
        span: Span,
    },
    /// `do … while`
    DoWhile {
        body: Vec<Stmt>,
        cond: Expr,
        span: Span,
    },
    /// `for (i : T)`
    Iterate {
        slot: Slot,
        range: IndexRange,
        body: Vec<Stmt>,
        span: Span,
    },
    /// `return;` or `return e;`
    Return(Option<Expr>),
    /// `return e;` for a struct or array.
    ReturnBlock(Block, u32),
    /// `assert e;`: a model error if false.
    Assert(Expr),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
}

// Queries.

/// The most elements that a query may name and still be checked for whole orbits, under all
/// renamings of these elements. For a query that names more, the reduction uses only the
/// permutations that fix them.
pub const MOST_NAMED: usize = 3;

/// A resolved query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The formula as written.
    pub text: SmolStr,
    /// The form of the query and its parts.
    pub kind: QueryKind,
    /// The number of slots for quantifier variables.
    pub frame: u32,
    /// The elements that the query names, as pairs of scalarset and element.
    pub named_elements: Vec<(ScalarsetId, u32)>,
    /// Its span in its file.
    pub span: Span,
}

/// The forms of queries.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryKind {
    /// `A[]`, `E<>`, `A<>`, `E[]`
    Path(PathKind, Expr),
    /// `p --> q`
    LeadsTo(Expr, Expr),
    /// `sup`, `inf`, `bounds`
    Bounds {
        kind: BoundsKind,
        condition: Option<Expr>,
        exprs: Vec<BoundsExpr>,
    },
}

/// What `sup`, `inf` and `bounds` measure.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundsExpr {
    /// An integer.
    Int(Expr),
    /// A clock or a difference of clocks.
    Clock {
        left: ClockRef,
        right: Option<ClockRef>,
    },
}

/// A 1-based line and column in a file, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Position {
    /// The line, starting at 1.
    pub line: u32,
    /// The column, starting at 1, in Unicode scalar values.
    pub column: u32,
}
