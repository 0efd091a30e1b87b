//! Declarations, functions and statements.

// The names of the variants explain their fields.
#![allow(missing_docs)]

use super::{Declarator, Dim, Expr, Ident, TypeExpr};
use crate::span::Span;

/// `T a, b[3] = …;`
#[derive(Clone, Debug, PartialEq)]
pub struct VarDecl {
    /// The common type of the names.
    pub ty: TypeExpr,
    /// The names.
    pub names: Vec<Declarator>,
}

/// `typedef T A, B[3];`
#[derive(Clone, Debug, PartialEq)]
pub struct Typedef {
    /// The type that gets a name.
    pub ty: TypeExpr,
    /// The new names (no initialisers).
    pub names: Vec<Declarator>,
}

/// A parameter of a function, a template or a partial instantiation.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its type.
    pub ty: TypeExpr,
    /// Whether `&` precedes the name. In the 3.x syntax every parameter is a reference unless it is
    /// `const`; see [`Params::legacy`].
    pub reference: bool,
    /// Its name.
    pub name: Ident,
    /// Array dimensions.
    pub dims: Vec<Dim>,
    /// The whole parameter (with the type only if it is written for this name).
    pub span: Span,
}

/// A parameter list.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Params {
    /// The parameters in order.
    pub list: Vec<Param>,
    /// Whether groups are separated by `;` (3.x syntax, and the thesis' `(scalarset pid;)`).
    pub legacy: bool,
    /// The range including the parentheses; in XML the text of `<parameter>`.
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
    /// The local declarations, which precede all statements.
    pub decls: Vec<BlockDecl>,
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// The range including the braces.
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
    /// The form of the statement and its parts.
    pub kind: StmtKind,
    /// The range including the `;`.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Text that could not be parsed; an error was reported.
    Error,
    /// `;`
    Empty,
    /// `{ … }`
    Block(Block),
    /// `e;` (a comma list is [`ExprKind::Comma`](super::ExprKind::Comma))
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
    /// `break;`: described in the manual, but not accepted by the reference parser.
    Break,
    /// `continue;`: described in the manual, but not accepted by the reference parser.
    Continue,
    /// `switch (e) { case c: … default: … }`: described in the manual, but not accepted by the
    /// reference parser.
    Switch { value: Expr, cases: Vec<Case> },
}

/// One arm of a `switch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The value, or `None` for `default`.
    pub value: Option<Expr>,
    /// The statements after the colon.
    pub stmts: Vec<Stmt>,
    /// The range of the whole arm.
    pub span: Span,
}

/// `P(params) = Q(args);`, and the forms used in papers: `Procs := P(pid);` and `Procs = forall i
/// in pid : P(i);`
#[derive(Clone, Debug, PartialEq)]
pub struct Instantiation {
    /// The new name.
    pub name: Ident,
    /// The parameters left free, if a list is written.
    pub params: Option<Params>,
    /// `forall i in T :`, outermost first.
    pub binders: Vec<(Ident, TypeExpr)>,
    /// The instantiated template.
    pub template: Ident,
    /// The arguments of the template.
    pub args: Vec<Expr>,
    /// The range of the arguments, including the parentheses.
    pub args_span: Span,
}

/// `chan priority a, b[0] < default < c;`
#[derive(Clone, Debug, PartialEq)]
pub struct ChanPriority {
    /// Levels from the lowest to the highest priority; [`PriorityElem::Default`] stands for all
    /// other channels.
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
    /// Measures, each with its optional guard.
    pub measures: Vec<(Option<Expr>, Expr)>,
}

/// One line of a `gantt` block.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttLine {
    /// The label of the line.
    pub name: Ident,
    /// The `(i : T, …)` after the label.
    pub binders: Vec<(Ident, TypeExpr)>,
    /// The bars: `for (i : T) condition -> value`.
    pub entries: Vec<GanttEntry>,
}

/// One bar of a gantt line.
#[derive(Clone, Debug, PartialEq)]
pub struct GanttEntry {
    /// `for (i : T, …)`
    pub binders: Vec<(Ident, TypeExpr)>,
    /// The bar is shown while this condition holds.
    pub condition: Expr,
    /// The colour of the bar.
    pub value: Expr,
}

/// A language construct that is recognised and reported, but not analysed.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// The construct.
    pub feature: Feature,
    /// The names it declares, so that their uses cause no further errors.
    pub names: Vec<Ident>,
    /// The range of the whole construct.
    pub span: Span,
}

/// Language features outside the symbolic verification of plain timed automata.
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
