//! Declarations, functions and statements.

// Fields of enum variants are told by their variant.
#![allow(missing_docs)]

use super::{Declarator, Dim, Expr, Ident, TypeExpr};
use crate::span::Span;

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

/// The forms of statements.
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
