//! The network: what instantiation makes of a model, and all the checker knows of it.
//!
//! Everything is resolved: names are gone (kept only for display), parameters of processes are constants, template
//! code is copied per process, arrays and structs are flattened into *cells* (integers), *clocks* and *channels* with
//! dense ids. Spans are absolute byte ranges in the model file (in the query's file for query expressions).
//!
//! Families: the processes made from one name of the system line by its free parameters are consecutive, in the
//! order of the parameters (last one fastest), and so are their local cells and clocks, with equal strides. A
//! dynamic reference `P(i).x` in a query is therefore an ordinary [`Place`] with an index step per parameter.

// Fields of enum variants are told by their variant.
#![allow(missing_docs)]

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::collections::BTreeSet;
use zonelens_syntax::ast::{BoundsKind, Direction, PathKind, QuantifierKind};
use zonelens_syntax::span::Span;

/// Index of an integer cell of the state.
pub type CellId = u32;
/// Index of a clock; clock 0 is the first real clock (a DBM's reference clock is not counted).
pub type ClockId = u32;
/// Index of a channel (an element of a channel array).
pub type ChannelId = u32;
/// Index of a process.
pub type ProcessId = u32;
/// Index of a location within its process.
pub type LocationId = u32;
/// Index of a function of the network.
pub type FunctionId = u32;
/// Index into [`Network::scalarsets`].
pub type ScalarsetId = u32;
/// A slot of a frame: select, quantifier and loop variables, function parameters and locals.
pub type Slot = u32;

/// A closed network of timed automata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Integer cells in layout order.
    pub cells: Vec<Cell>,
    /// Clocks in layout order.
    pub clocks: Vec<Clock>,
    /// Channels, array elements in index order.
    pub channels: Vec<Channel>,
    /// Values of constant arrays and structs that are read with computed indices.
    pub constants: Vec<i32>,
    /// Variables as declared (per process for locals), with their shapes over cells, clocks and channels.
    pub variables: Vec<Variable>,
    /// Functions; template-local ones once per process.
    pub functions: Vec<Function>,
    /// Processes in system-line order.
    pub processes: Vec<Process>,
    /// The families on the system line, in order; together they are all processes.
    pub families: Vec<Family>,
    /// Ω: every scalarset, declared or detected.
    pub scalarsets: Vec<Scalarset>,
    /// Whether any channel or process priority is declared.
    pub has_priorities: bool,
    /// Runs before each transition's updates.
    pub before_update: Vec<Expr>,
    /// Runs after each transition's updates.
    pub after_update: Vec<Expr>,
    /// Frame slots needed by `before_update` and `after_update` (quantifier variables).
    pub update_frame: u32,
    /// What the model uses that the symbolic engine does not decide exactly, with the place that does.
    pub unsupported: Vec<UnsupportedUse>,
}

/// A feature that the engine cannot treat (or only approximately), found while building the network.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsupportedUse {
    /// The diagnostic's code, `unsupported/…`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Whether every query is affected, or only those that touch the construct.
    pub fatal: bool,
}

/// An integer, boolean or scalar of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Least value.
    pub lo: i32,
    /// Greatest value.
    pub hi: i32,
    /// Initial value.
    pub init: i32,
    /// The scalarset whose elements it holds.
    pub scalarset: Option<ScalarsetId>,
    /// Declared `meta`.
    pub meta: bool,
    /// The variable it belongs to (index into [`Network::variables`]).
    pub variable: u32,
}

/// A clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Initial value.
    pub init: i32,
    /// The variable it belongs to (index into [`Network::variables`]).
    pub variable: u32,
}

/// A channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// `urgent`
    pub urgent: bool,
    /// `broadcast`
    pub broadcast: bool,
    /// Its priority; larger is higher, internal steps have [`Channel::DEFAULT_PRIORITY`].
    pub priority: i32,
    /// The variable it belongs to (index into [`Network::variables`]).
    pub variable: u32,
}

impl Channel {
    /// Priority of internal steps and of channels that are not listed.
    pub const DEFAULT_PRIORITY: i32 = 0;
}

/// A declared variable and what it occupies.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// As the user writes it in a query: `id`, `P(1).x`.
    pub name: SmolStr,
    /// The process it is local to.
    pub process: Option<ProcessId>,
    /// Its structure.
    pub shape: Shape,
    /// First cell.
    pub first_cell: CellId,
    /// First clock.
    pub first_clock: ClockId,
    /// First channel.
    pub first_channel: ChannelId,
    /// Where its name is declared.
    pub span: Span,
}

/// The structure of a variable. Leaves are numbered depth first, cells, clocks and channels each on their own.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One cell; `boolean` only says how to print it.
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
    /// Elements one after the other.
    Array {
        index: IndexRange,
        element: Box<Shape>,
    },
    /// Fields one after the other.
    Struct(Vec<(SmolStr, Shape)>),
}

/// The index type of an array dimension or of a process parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// Least index.
    pub lo: i32,
    /// Number of indices.
    pub len: u32,
    /// The scalarset it ranges over (D_α).
    pub scalarset: Option<ScalarsetId>,
}

impl Shape {
    /// Number of cells, clocks and channels.
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
    /// The parts of variables that hold `true` or `false`, as traces name them: `set`, `P(1).seen[0]`.
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

/// A scalarset α of Ω.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalarset {
    /// Its name (the typedef's where there is one).
    pub name: SmolStr,
    /// Number of elements; they are 0 … size-1.
    pub size: u32,
    /// Found by detection in a model that declares none.
    pub detected: bool,
    /// The value of element 0 in cells and arguments (0 for declared ones; detected ids may start at 1).
    pub first: i32,
    /// Blocks of interchangeable elements; one block of all for a declared scalarset.
    pub blocks: Vec<Vec<u32>>,
    /// Where it is declared (or the parameter that detection started from).
    pub span: Span,
    /// The broken rules that forbid reducing over it; empty if sound.
    pub broken: Vec<BrokenRule>,
}

/// A rule of soundness that a scalarset breaks: a `sym/…` code and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenRule {
    /// `sym/…`
    pub code: &'static str,
    /// Where.
    pub span: Span,
}

/// The processes of one name on the system line.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name on the system line.
    pub name: SmolStr,
    /// The template it comes from.
    pub template: SmolStr,
    /// Its free parameters; no entry for a single process.
    pub params: Vec<IndexRange>,
    /// First process.
    pub first: ProcessId,
    /// Number of processes: the product of the parameters' sizes.
    pub len: u32,
}

/// A process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// As printed: `Fischer(1)`, `Gate`.
    pub name: SmolStr,
    /// Its family.
    pub family: u32,
    /// Values of the family's free parameters (γ where the parameter is a scalar).
    pub args: Vec<i32>,
    /// Locations; index is [`LocationId`].
    pub locations: Vec<Location>,
    /// The initial one.
    pub initial: LocationId,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Process priority; larger is higher, 0 if none is declared.
    pub priority: i32,
    /// Where its template is declared.
    pub span: Span,
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Its name.
    pub name: SmolStr,
    /// Whether time may pass.
    pub kind: LocationKind,
    /// The invariant: a conjunction over integers, [`Expr::Clock`] atoms and [`Expr::Rate`].
    pub invariant: Option<Expr>,
    /// Slots its invariant needs.
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

/// An edge; branchpoints are already composed away.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Where it starts.
    pub source: LocationId,
    /// Where it leads.
    pub target: LocationId,
    /// Values chosen before the guard is evaluated.
    pub selects: Vec<Select>,
    /// Integers and clock atoms.
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// Updates in order.
    pub updates: Vec<Expr>,
    /// Slots needed: selects first, then quantifier variables.
    pub frame: u32,
    /// Index of the edge in its template's text (of the first part when composed over branchpoints).
    pub template_edge: u32,
    /// Where it stands, one span per part.
    pub spans: Vec<Span>,
}

/// `select i : T`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Its name.
    pub name: SmolStr,
    /// Where its value is put.
    pub slot: Slot,
    /// Its values.
    pub range: IndexRange,
}

/// The synchronisation of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// Which channel.
    pub channel: ChannelRef,
    /// Which side.
    pub direction: Direction,
}

// ---------------------------------------------------------------------------------------------- expressions

/// An expression with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// Integer, boolean and clock-constraint expressions. Booleans are 0 and 1. All arithmetic is checked `i32`.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Const(i32),
    /// The value of a cell or slot.
    Read(Place),
    /// `-a`, `!a`
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`; `&&` and `||` short-circuit. Either side of `And`, `Or` may hold clock atoms.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `p = v` or `p = p op v`, range-checked; its value is the new one, or the old one for `p++`.
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
    /// `a == b` (or `!=`) of structs or arrays.
    SameBlock {
        left: Block,
        right: Block,
        len: u32,
        negated: bool,
    },
    /// Calls a function; for a void or block result the value is 0 and unused.
    Call(Box<Call>),
    /// `forall`, `exists`, `sum` over an integer range; the body may hold clock atoms.
    Quantifier {
        kind: QuantifierKind,
        slot: Slot,
        range: IndexRange,
        body: Box<Expr>,
    },
    /// `left - right op bound`; `right: None` is the constant 0.
    Clock {
        left: ClockRef,
        right: Option<ClockRef>,
        op: CompareOp,
        bound: Box<Expr>,
    },
    /// `x' == e` in an invariant.
    Rate { clock: ClockRef, rate: Box<Expr> },
    /// `x = e`, e not negative.
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

/// The cell or slot at `base + Σ (index - lo) · stride`; an index out of its range is a model error.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it starts.
    pub base: Base,
    /// Index steps with computed indices (constant ones are already in the base).
    pub steps: Vec<IndexStep>,
    /// Range of the value that may be stored (for single cells).
    pub lo: i32,
    /// See `lo`.
    pub hi: i32,
    /// The scalarset whose elements it holds.
    pub scalarset: Option<ScalarsetId>,
}

/// Where a place starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A cell of the state.
    Cell(CellId),
    /// A value of [`Network::constants`]; never written.
    Constant(u32),
    /// A slot of the current frame.
    Slot(Slot),
    /// The place that a reference parameter in this slot stands for.
    Ref(Slot),
}

/// One computed index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexStep {
    /// The index.
    pub index: Expr,
    /// Its type.
    pub range: IndexRange,
    /// Distance of neighbours.
    pub stride: u32,
}

/// A clock, like [`Place`].
#[derive(Clone, Debug, PartialEq)]
pub struct ClockRef {
    /// Where it starts.
    pub base: ClockBase,
    /// Computed indices.
    pub steps: Vec<IndexStep>,
    /// Where it stands.
    pub span: Span,
}

/// Where a clock reference starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockBase {
    /// A clock of the network.
    Clock(ClockId),
    /// The clock that a reference parameter in this slot stands for.
    Ref(Slot),
}

/// A channel, like [`Place`].
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelRef {
    /// First channel.
    pub base: ChannelId,
    /// Computed indices.
    pub steps: Vec<IndexStep>,
    /// Where it stands.
    pub span: Span,
}

/// A process, like [`Place`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessRef {
    /// First process.
    pub base: ProcessId,
    /// Computed indices.
    pub steps: Vec<IndexStep>,
}

/// A struct or array value.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Stored somewhere.
    Place(Place),
    /// Returned by a function.
    Call(Box<Call>),
    /// Chosen by a condition.
    Cond(Box<Expr>, Box<Block>, Box<Block>),
    /// The assignment `a = b` used as a value.
    Assign {
        target: Place,
        source: Box<Block>,
        len: u32,
    },
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub function: FunctionId,
    /// Its arguments, in order.
    pub args: Vec<Arg>,
}

/// An argument.
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
    /// A struct with cells and clocks by reference takes two slots.
    Mixed(Place, ClockRef),
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name, `P(1).f` for a local one.
    pub name: SmolStr,
    /// Parameters in order.
    pub params: Vec<FunctionParam>,
    /// Slots of its frame, parameters included.
    pub frame: u32,
    /// Body.
    pub body: Vec<Stmt>,
    /// Number of cells of the result: 0 for void, 1 for an integer.
    pub result_len: u32,
    /// Range of each cell of the result.
    pub result_ranges: Vec<(i32, i32)>,
    /// Where its name is declared.
    pub span: Span,
}

/// A parameter of a function: `len` slots holding values, or one slot holding a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParam {
    /// First slot.
    pub slot: Slot,
    /// By value: number of cells and their ranges; by reference: `None`.
    pub ranges: Option<Vec<(i32, i32)>>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Evaluates for effect.
    Expr(Expr),
    /// Sets slots of a local to constants (every entry of a block, at every entry).
    Init { slot: Slot, values: Vec<i32> },
    /// `if`
    If {
        cond: Expr,
        then: Vec<Stmt>,
        other: Vec<Stmt>,
    },
    /// `while`, and `for (a; b; c)` as `a; while (b) { …; c }`; `step` runs also after `continue`.
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
    /// `return` of a struct.
    ReturnBlock(Block, u32),
    /// `assert e;`: a model error if false.
    Assert(Expr),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
}

// ---------------------------------------------------------------------------------------------- queries

/// Elements that a query may name and still be asked of whole orbits: it is tried under all their renamings. A query that
/// names more is reduced over what leaves them alone.
pub const MOST_NAMED: usize = 3;

/// A resolved query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// As written.
    pub text: SmolStr,
    /// What is asked.
    pub kind: QueryKind,
    /// Slots for quantifier variables.
    pub frame: u32,
    /// Elements the query names: (scalarset, element).
    pub named_elements: Vec<(ScalarsetId, u32)>,
    /// Where it stands in its file.
    pub span: Span,
}

/// What a query asks.
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
    /// 1-based.
    pub line: u32,
    /// 1-based, in Unicode scalar values.
    pub column: u32,
}
