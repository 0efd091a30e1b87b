//! The typed syntax tree: what every other part of the tool reads.
//!
//! One tree serves `.xta`, `.xml` and `.q`. Spans are byte offsets in the *file* (for XML: the raw file, entities
//! included), relative to the nearest enclosing [`Placed`] node: items for their own text, members for what stands
//! inside a process. Whoever walks the tree adds the offsets on the way down.

// Fields of enum variants are told by their variant.
#![allow(missing_docs)]

use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// A shared node with its place in its parent. Equal text parses to equal nodes, so an edit elsewhere only changes
/// `offset`.
#[derive(Clone, PartialEq)]
pub struct Placed<T> {
    /// First byte, relative to the parent node (the file for items).
    pub offset: u32,
    /// Length in bytes, leading trivia included.
    pub len: u32,
    /// The node itself.
    pub node: Arc<T>,
}

impl<T> Placed<T> {
    /// The bytes the node occupies, relative to its parent.
    pub fn span(&self) -> Span {
        Span::new(self.offset, self.offset + self.len)
    }
}

impl<T: fmt::Debug> fmt::Debug for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.span(), self.node)
    }
}

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The text.
    pub name: SmolStr,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`{:?}", self.name, self.span)
    }
}

// ---------------------------------------------------------------------------------------------- expressions

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, parentheses of its own included.
    pub span: Span,
}

/// The forms of expressions (`language.md`, section 4).
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Something unreadable; an error was reported.
    Error,
    /// A natural number. Literals above `i32::MAX` are kept as read (saturated at `i64::MAX`) and rejected by analysis.
    Int(i64),
    /// A floating-point literal, as written.
    Float(SmolStr),
    /// A string literal without its quotes.
    Str(SmolStr),
    /// `true` or `false`.
    Bool(bool),
    /// A plain name.
    Name(Ident),
    /// `( e )`
    Paren(Box<Expr>),
    /// `!e`, `not e`, `-e`, `+e`
    Unary {
        op: UnaryOp,
        op_span: Span,
        expr: Box<Expr>,
    },
    /// `a op b`
    Binary {
        op: BinaryOp,
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `a = b`, `a := b`, `a += b` …
    Assign {
        op: AssignOp,
        op_span: Span,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `++e`, `e++`, `--e`, `e--`
    IncDec {
        increment: bool,
        prefix: bool,
        op_span: Span,
        expr: Box<Expr>,
    },
    /// `c ? a : b`
    Cond {
        cond: Box<Expr>,
        then: Box<Expr>,
        other: Box<Expr>,
    },
    /// `a[i]`
    Index { base: Box<Expr>, index: Box<Expr> },
    /// `a.f`; also `P.l` and `P(i).l` in queries, and `P.location`
    Field { base: Box<Expr>, name: Ident },
    /// `f(args)`; also `P(args)` in queries
    Call { callee: Box<Expr>, args: Vec<Expr> },
    /// `x'`: the rate of a clock.
    Rate(Box<Expr>),
    /// `forall (i : T) e`, `exists …`, `sum …`
    Quantifier {
        kind: QuantifierKind,
        kind_span: Span,
        var: Ident,
        ty: Box<TypeExpr>,
        body: Box<Expr>,
    },
    /// `deadlock` (queries only).
    Deadlock,
    /// `a, b`: a conjunction in guards and invariants of the 3.x syntax, a sequence in the condition of a statement.
    Comma(Vec<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Not,
    Minus,
    Plus,
}

/// Infix operators. `imply` keeps its own node; its meaning is `not a or b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    Imply,
}

/// Assignment operators; `=` and `:=` are both `Set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    Set,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// Quantifiers over a range or a scalar set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantifierKind {
    Forall,
    Exists,
    Sum,
}

// ---------------------------------------------------------------------------------------------- types

/// A type as written: prefixes and a base. Array dimensions stand with the declared name.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// `urgent`, `broadcast`, `const`, `meta`, `hybrid`, in the order written.
    pub prefixes: Vec<(Prefix, Span)>,
    /// What follows them.
    pub base: TypeBase,
    /// Prefixes included.
    pub span: Span,
}

impl TypeExpr {
    /// Whether `prefix` is among the prefixes.
    pub fn has(&self, prefix: Prefix) -> bool {
        self.prefixes.iter().any(|(p, _)| *p == prefix)
    }
}

/// Type prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    Urgent,
    Broadcast,
    Const,
    Meta,
    Hybrid,
}

/// Base types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeBase {
    /// Something unreadable; an error was reported.
    Error,
    /// No base: the 3.x forms `const N 5;` and `const N` in parameters, where `int` is meant.
    ImplicitInt,
    /// `int` or `int[lo,hi]`
    Int(Option<Box<(Expr, Expr)>>),
    /// `bool`
    Bool,
    /// `clock`
    Clock,
    /// `chan`
    Chan,
    /// `double`
    Double,
    /// `void`
    Void,
    /// A typedef's name. `string` and the fixed-width names of later versions come as names too.
    Named(Ident),
    /// `scalar[n]`
    Scalar(Box<Expr>),
    /// The papers' `scalarset[n]`.
    Scalarset(Box<Expr>),
    /// The papers' `scalarset` without a size, as in `process P(scalarset pid)`.
    ScalarsetParam,
    /// `struct { … }`
    Struct(Vec<Field>),
}

/// One line of fields of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Their type.
    pub ty: TypeExpr,
    /// Their names with dimensions.
    pub names: Vec<Declarator>,
}

/// A declared name with array dimensions and an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// The name.
    pub name: Ident,
    /// Dimensions, outermost first.
    pub dims: Vec<Dim>,
    /// `= init`, `:= init`, or the bare number of `const N 5;`.
    pub init: Option<Init>,
    /// All of it.
    pub span: Span,
}

/// An array dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    /// `[e]`: a size, or (if `e` is a plain name of a type) an index type; analysis tells which.
    Expr(Expr),
    /// `[int[0,3]]`, `[scalar[3]]` …
    Type(TypeExpr),
    /// `[]` or something unreadable; an error was reported.
    Error(Span),
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// A single expression.
    Expr(Expr),
    /// `{ a, f: b }`
    List {
        items: Vec<(Option<Ident>, Init)>,
        span: Span,
    },
}

impl Init {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Init::Expr(e) => e.span,
            Init::List { span, .. } => *span,
        }
    }
}

// ---------------------------------------------------------------------------------------------- declarations

/// `T a, b[3] = …;`
#[derive(Clone, Debug, PartialEq)]
pub struct VarDecl {
    /// Their common type.
    pub ty: TypeExpr,
    /// The names.
    pub names: Vec<Declarator>,
}

/// `typedef T A, B[3];`
#[derive(Clone, Debug, PartialEq)]
pub struct Typedef {
    /// What is named.
    pub ty: TypeExpr,
    /// The new names (no initialisers).
    pub names: Vec<Declarator>,
}

/// A parameter of a function, a template or a partial instantiation.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its type.
    pub ty: TypeExpr,
    /// Whether `&` stands before the name. In the 3.x syntax every parameter but `const` is a reference; see
    /// [`Params::legacy`].
    pub reference: bool,
    /// Its name.
    pub name: Ident,
    /// Array dimensions.
    pub dims: Vec<Dim>,
    /// All of it (the type only when it is written for this name).
    pub span: Span,
}

/// A parameter list.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Params {
    /// The parameters in order.
    pub list: Vec<Param>,
    /// Whether groups are separated by `;` (3.x syntax, and the thesis' `(scalarset pid;)`).
    pub legacy: bool,
    /// Parentheses included; in XML the text of `<parameter>`.
    pub span: Span,
}

/// `T f(params) { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Result type.
    pub ty: TypeExpr,
    /// Name.
    pub name: Ident,
    /// Parameters.
    pub params: Params,
    /// Body.
    pub body: Block,
}

/// `{ declarations statements }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Local declarations, which come first.
    pub decls: Vec<BlockDecl>,
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// Braces included.
    pub span: Span,
}

/// A declaration inside a block.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockDecl {
    /// A variable.
    Var(VarDecl, Span),
    /// A type.
    Typedef(Typedef, Span),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands, its `;` included.
    pub span: Span,
}

/// The forms of statements (`language.md`, section 3).
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Something unreadable; an error was reported.
    Error,
    /// `;`
    Empty,
    /// `{ … }`
    Block(Block),
    /// `e;` (a comma list is [`ExprKind::Comma`])
    Expr(Expr),
    /// `for (a; b; c) s`
    For {
        init: Expr,
        cond: Expr,
        step: Expr,
        body: Box<Stmt>,
    },
    /// `for (i : T) s`
    Iterate {
        var: Ident,
        ty: TypeExpr,
        body: Box<Stmt>,
    },
    /// `while (c) s`
    While { cond: Expr, body: Box<Stmt> },
    /// `do s while (c);`
    DoWhile { body: Box<Stmt>, cond: Expr },
    /// `if (c) s else t`
    If {
        cond: Expr,
        then: Box<Stmt>,
        other: Option<Box<Stmt>>,
    },
    /// `return e;`
    Return(Option<Expr>),
    /// `assert e;`
    Assert(Expr),
    /// `break;`: in the manual, not in the reference.
    Break,
    /// `continue;`: in the manual, not in the reference.
    Continue,
    /// `switch (e) { case c: … default: … }`: in the manual, not in the reference.
    Switch { value: Expr, cases: Vec<Case> },
}

/// One arm of a `switch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The value, or `None` for `default`.
    pub value: Option<Expr>,
    /// What follows the colon.
    pub stmts: Vec<Stmt>,
    /// All of it.
    pub span: Span,
}

/// `P(params) = Q(args);`, and the papers' `Procs := P(pid);` and `Procs = forall i in pid : P(i);`
#[derive(Clone, Debug, PartialEq)]
pub struct Instantiation {
    /// The new name.
    pub name: Ident,
    /// Parameters left free, if a list is written.
    pub params: Option<Params>,
    /// `forall i in T :`, outermost first.
    pub binders: Vec<(Ident, TypeExpr)>,
    /// The instantiated template.
    pub template: Ident,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Parentheses of the arguments included.
    pub args_span: Span,
}

/// `chan priority a, b[0] < default < c;`
#[derive(Clone, Debug, PartialEq)]
pub struct ChanPriority {
    /// Levels from lowest to highest; `None` is `default`.
    pub levels: Vec<Vec<PriorityElem>>,
}

/// An element of a channel priority list.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorityElem {
    /// `default`
    Default(Span),
    /// A channel or an element of a channel array.
    Channel(Expr),
}

/// `system A, B < C;`
#[derive(Clone, Debug, PartialEq)]
pub struct SystemLine {
    /// Levels from lowest to highest priority.
    pub levels: Vec<Vec<Ident>>,
}

/// `progress { m; g : m; }`
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Guards and measures.
    pub measures: Vec<(Option<Expr>, Expr)>,
}

/// One line of a `gantt` block.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttLine {
    /// Its label.
    pub name: Ident,
    /// `(i : T, …)` after the label.
    pub binders: Vec<(Ident, TypeExpr)>,
    /// `for (i : T) condition -> value`.
    pub entries: Vec<GanttEntry>,
}

/// One bar of a gantt line.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttEntry {
    /// `for (i : T, …)`
    pub binders: Vec<(Ident, TypeExpr)>,
    /// Shown while this holds …
    pub condition: Expr,
    /// … in this colour.
    pub value: Expr,
}

/// A part of the language that is recognised and reported, but not analysed.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// Which part.
    pub feature: Feature,
    /// A name it declares, so that uses of it do not flood.
    pub names: Vec<Ident>,
    /// All of it.
    pub span: Span,
}

/// What a tool for symbolic verification of plain timed automata does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `import "lib" { … };`
    Import,
    /// `dynamic P();` with `spawn`, `exit`, `numOf`.
    DynamicTemplate,
    /// ECDAR's `IO P { a?, b! }`.
    EcdarInterface,
    /// `<lsc>` charts.
    Lsc,
}

// ---------------------------------------------------------------------------------------------- items

/// A piece of a file that is lexed and parsed on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// From its first to its last token; trivia before and after lie outside. Empty if there is no token.
    pub span: Span,
    /// Where in the model it stands.
    pub section: Section,
    /// Comments outside members, in order.
    pub comments: Vec<Comment>,
    /// `//@` lines outside members, in order; they are comments too and listed there as well.
    pub pragmas: Vec<Pragma>,
    /// Lexical and grammatical errors outside members.
    pub errors: Vec<SyntaxError>,
}

/// Which part of a model an item belongs to. In `.xta` everything is [`Section::Global`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// Global declarations, seen by everything after them.
    Global,
    /// Declarations of a template.
    Template,
    /// `<instantiation>` and `<system>`: global, but invisible to templates.
    System,
    /// A query file or `<queries>`.
    Queries,
}

/// The kinds of items.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// Unreadable; at least one error was reported.
    Error,
    /// Only trivia, or a stray `;`.
    Empty,
    /// Variables, clocks, channels, constants.
    Var(VarDecl),
    /// `typedef`
    Typedef(Typedef),
    /// The thesis' `scalarset pid[3];`
    ScalarsetDecl { name: Ident, size: Expr },
    /// A function.
    Function(Function),
    /// `process … { … }` or `<template>`
    Process(Process),
    /// `P = Q(…);`
    Instantiation(Instantiation),
    /// `chan priority …;`
    ChanPriority(ChanPriority),
    /// `system …;`
    System(SystemLine),
    /// `progress { … }`
    Progress(Progress),
    /// `gantt { … }`
    Gantt(Vec<GanttLine>),
    /// `before_update { … }`
    BeforeUpdate(Vec<Expr>),
    /// `after_update { … }`
    AfterUpdate(Vec<Expr>),
    /// `query { … }` or a line of a `.q` file or a `<query>`
    Query(Query),
    /// Recognised, not analysed.
    Unsupported(Unsupported),
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// `//…` or `/*…*/`, delimiters included.
    pub text: SmolStr,
    /// Where it stands.
    pub span: Span,
}

/// A `//@ …` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Pragma {
    /// What it says.
    pub kind: PragmaKind,
    /// The whole comment.
    pub span: Span,
}

/// The kinds of `//@` lines.
#[derive(Clone, Debug, PartialEq)]
pub enum PragmaKind {
    /// `//@ query FORMULA`; an `//@ expect` after it is already merged into it.
    Query(Box<Query>),
    /// `//@ expect satisfied|violated` (`None` if the word is neither).
    Expect(Option<Expectation>),
    /// `//@ allow CODE reason`
    Allow { code: SmolStr, code_span: Span },
    /// `//@ xml …`: see [`Graphics`].
    Xml(SmolStr),
    /// Anything else; reported as a lint.
    Unknown(SmolStr),
}

// ---------------------------------------------------------------------------------------------- processes

/// `process P(…) { … }` or a `<template>`.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its name.
    pub name: Ident,
    /// Its parameters; `None` when no list is written.
    pub params: Option<Params>,
    /// Everything inside, in order of the text.
    pub members: Vec<Placed<Member>>,
    /// What only XML holds.
    pub graphics: Option<Box<Graphics>>,
}

/// A piece of a process that is parsed on its own. Spans inside are relative to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// What it is.
    pub kind: MemberKind,
    /// From its first to its last token.
    pub span: Span,
    /// Comments inside and around.
    pub comments: Vec<Comment>,
    /// `//@` lines among them.
    pub pragmas: Vec<Pragma>,
    /// Errors inside.
    pub errors: Vec<SyntaxError>,
}

/// The kinds of members.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberKind {
    /// Unreadable; at least one error was reported.
    Error,
    /// Only trivia, or a stray `;`.
    Empty,
    /// A local declaration.
    Var(VarDecl),
    /// A local type.
    Typedef(Typedef),
    /// A local function.
    Function(Function),
    /// `chan priority` inside a template, `before_update` …: legal only outside; analysis says so.
    Misplaced(Box<ItemKind>),
    /// `state a { inv }, b;`, or one `<location>`.
    States(Vec<Location>),
    /// `branchpoint a, b;`, or one `<branchpoint>`.
    Branchpoints(Vec<Branchpoint>),
    /// `commit a, b;`
    Commit(Vec<Ident>),
    /// `urgent a, b;`
    Urgent(Vec<Ident>),
    /// `init a;`, or `<init ref="…"/>`.
    Init(Ident),
    /// One edge, the `trans` before it and the `,` or `;` after it included; or one `<transition>`.
    Edge(Edge),
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Its name; for an unnamed location of an XML file `_` and its id.
    pub name: Ident,
    /// Whether the name was made up.
    pub anonymous: bool,
    /// The invariant.
    pub invariant: Option<Expr>,
    /// The rate of an exponential distribution: `e` or `e : e`.
    pub exponential_rate: Option<(Expr, Option<Expr>)>,
    /// `<committed/>`; `.xta` says it in [`MemberKind::Commit`].
    pub committed: bool,
    /// `<urgent/>`; `.xta` says it in [`MemberKind::Urgent`].
    pub urgent: bool,
    /// What only XML holds.
    pub graphics: Option<Box<Graphics>>,
    /// All of it.
    pub span: Span,
}

/// A branchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Branchpoint {
    /// Its name; `_` and its id in XML.
    pub name: Ident,
    /// What only XML holds.
    pub graphics: Option<Box<Graphics>>,
    /// All of it.
    pub span: Span,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Where it starts; `None` means as the edge before.
    pub source: Option<Ident>,
    /// Where it leads.
    pub target: Ident,
    /// `false` for `-u->` and `controllable="false"`.
    pub controllable: bool,
    /// `select i : T, …`
    pub select: Vec<(Ident, TypeExpr)>,
    /// The guard. A comma list is [`ExprKind::Comma`].
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// The updates in order.
    pub assign: Vec<Expr>,
    /// The weight of a branch.
    pub probability: Option<Expr>,
    /// What only XML holds.
    pub graphics: Option<Box<Graphics>>,
    /// From source to the closing brace.
    pub span: Span,
}

/// `c!`, `c?`, or `c` alone (CSP).
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The channel.
    pub channel: Expr,
    /// Its direction.
    pub direction: Direction,
    /// All of it.
    pub span: Span,
}

/// The direction of a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `!`
    Send,
    /// `?`
    Receive,
    /// neither
    Csp,
}

/// What an XML element holds beyond the model: ids, coordinates, colours, nails, labels without meaning. Kept for
/// writing back, and written into `//@ xml` lines by the conversion to `.xta`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Graphics {
    /// Attributes of the element itself, in order.
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// Child elements that carry attributes (`name`, `label`, `nail` …), in order of the file.
    pub children: Vec<GraphicsChild>,
}

/// A child element of a drawn element.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct GraphicsChild {
    /// Its tag.
    pub tag: SmolStr,
    /// Its attributes, in order.
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// Its text, for those whose text is not part of the model (`<label kind="comments">`).
    pub text: Option<SmolStr>,
}

// ---------------------------------------------------------------------------------------------- queries

/// A query with what is said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The formula.
    pub kind: QueryKind,
    /// The formula's text as the user wrote it, white space folded to single blanks.
    pub text: SmolStr,
    /// The formula.
    pub span: Span,
    /// What the author expects, from `/* EXPECT:… */`, `<expect>` or `//@ expect`.
    pub expectation: Option<Expectation>,
    /// The text of `<comment>`.
    pub comment: Option<SmolStr>,
    /// What UPPAAL stored in `<result>`, newest last: history, never trusted.
    pub results: Vec<StoredResult>,
    /// Everything of an XML `<query>` that has no place above, for writing back.
    pub graphics: Option<Box<Graphics>>,
    /// Errors inside; their codes are `query/…`.
    pub errors: Vec<SyntaxError>,
}

/// What a query should answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expectation {
    /// Whether it should hold.
    pub satisfied: bool,
    /// Where that is said.
    pub span: Span,
}

/// A `<result>` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// `success` → `Some(true)`, `failure` → `Some(false)`.
    pub satisfied: Option<bool>,
    /// All attributes as written.
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// The element's text, if any.
    pub text: SmolStr,
}

/// The forms of queries (`language.md`, section 6).
#[derive(Clone, Debug, PartialEq)]
pub enum QueryKind {
    /// Unreadable; at least one error was reported.
    Error,
    /// No formula, only comments: a heading.
    Heading,
    /// `A[] e`, `E<> e`, `A<> e`, `E[] e`
    Path(PathKind, Expr),
    /// `p --> q`
    LeadsTo(Expr, Expr),
    /// `sup{c}: e, …`, `inf …`, `bounds …`
    Bounds {
        kind: BoundsKind,
        condition: Option<Expr>,
        exprs: Vec<Expr>,
    },
    /// A query of another engine, recognised by its form.
    Unsupported(QueryFamily),
}

/// Path quantifier and modality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// `A[]`
    Always,
    /// `E<>`
    Possibly,
    /// `A<>`
    Eventually,
    /// `E[]`
    PotentiallyAlways,
}

/// `sup`, `inf`, `bounds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundsKind {
    Sup,
    Inf,
    Bounds,
}

/// Families of queries we recognise and do not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryFamily {
    /// `Pr[…]`, `simulate`, `E[…](max: …)`
    Statistical,
    /// `control:`, `A[p U q]`, `A[p W q]`, `{…} control: …`
    Game,
    /// `strategy S = …`, `… under S`, `saveStrategy`, `loadStrategy`
    Strategy,
    /// `minE`, `maxE`, `minPr`, `maxPr`
    Learning,
    /// `refinement:`, `consistency:`, `specification:`, `implementation:` …
    Ecdar,
}

// ---------------------------------------------------------------------------------------------- files

/// The notation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Textual model (`.xta`, `.ta`).
    Xta,
    /// UPPAAL's XML (`.xml`).
    Xml,
    /// Queries (`.q`).
    Query,
}

impl FileKind {
    /// By file name extension; anything unknown is read as `.xta`.
    pub fn from_path(path: &str) -> FileKind {
        match path
            .rsplit_once('.')
            .map(|(_, ext)| ext.to_ascii_lowercase())
            .as_deref()
        {
            Some("xml") => FileKind::Xml,
            Some("q") => FileKind::Query,
            _ => FileKind::Xta,
        }
    }
}
