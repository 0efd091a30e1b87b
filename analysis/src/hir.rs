//! The checked tree: names are resolved, every expression has a type, spans are relative to the
//! item.

use crate::builtin::Builtin;
use crate::symbol::{Loc, Symbol};
use crate::types::Type;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, BinaryOp, Direction, QuantifierKind, UnaryOp};
use zonelens_syntax::span::Span;

/// A checked expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    /// The form of the expression.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// The span, relative to the item.
    pub span: Span,
}

/// The forms of checked expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    /// An invalid expression that was reported.
    Error,
    /// A number.
    Int(i32),
    /// A floating-point number.
    Double(SmolStr),
    /// A string.
    Str(SmolStr),
    /// A boolean literal.
    Bool(bool),
    /// A named value: variable, constant, parameter or bound variable.
    Var(Arc<Symbol>),
    /// `op e`
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a op= b`
    Assign(AssignOp, Box<Expr>, Box<Expr>),
    /// `++a`, `a--` and the like.
    IncDec {
        /// Whether it increments rather than decrements.
        increment: bool,
        /// Whether the operator comes before the operand.
        prefix: bool,
        /// The operand.
        expr: Box<Expr>,
    },
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.f`, by the position of the field.
    Field(Box<Expr>, u32),
    /// `f(…)`
    Call(Arc<Symbol>, Vec<Expr>),
    /// A call of a predeclared function.
    Builtin(Builtin, Vec<Expr>),
    /// `x'`
    Rate(Box<Expr>),
    /// `forall`, `exists`, `sum`
    Quantifier {
        /// The kind of quantifier.
        kind: QuantifierKind,
        /// The bound variable.
        var: Arc<Symbol>,
        /// The quantified expression.
        body: Box<Expr>,
    },
    /// `deadlock`
    Deadlock,
    /// `cost` in a priced model that does not declare it.
    Cost,
    /// A sequence, or a conjunction in the 3.x syntax.
    Comma(Vec<Expr>),
    /// A process with its arguments (queries).
    Process(Arc<Symbol>, Vec<Expr>),
    /// `P(i).x`, `P.l` (queries).
    Member {
        /// The symbol on the system line.
        family: Arc<Symbol>,
        /// The arguments that select the process.
        args: Vec<Expr>,
        /// The variable, parameter or location of the template.
        member: Arc<Symbol>,
    },
    /// `P(i).f(…)` (queries).
    MemberCall {
        /// The symbol on the system line.
        family: Arc<Symbol>,
        /// The arguments that select the process.
        args: Vec<Expr>,
        /// The function of the template.
        function: Arc<Symbol>,
        /// The function's arguments.
        call: Vec<Expr>,
    },
    /// `P.location`
    LocationOf(Arc<Symbol>, Vec<Expr>),
}

impl Expr {
    /// An invalid expression that was reported.
    pub(crate) fn error(span: Span) -> Expr {
        Expr {
            kind: ExprKind::Error,
            ty: Type::Error,
            span,
        }
    }

    /// Calls `visit` on the expression and everything inside it, outermost first.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |e| e.walk(visit));
    }

    /// Calls `visit` on the direct subexpressions.
    pub(crate) fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::Double(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Var(_)
            | ExprKind::Cost
            | ExprKind::Deadlock => {}
            ExprKind::Unary(_, a)
            | ExprKind::IncDec { expr: a, .. }
            | ExprKind::Field(a, _)
            | ExprKind::Rate(a)
            | ExprKind::Quantifier { body: a, .. } => visit(a),
            ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::Cond(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            ExprKind::MemberCall { args, call, .. } => args.iter().chain(call).for_each(visit),
            ExprKind::Call(_, list)
            | ExprKind::Builtin(_, list)
            | ExprKind::Comma(list)
            | ExprKind::Process(_, list)
            | ExprKind::LocationOf(_, list)
            | ExprKind::Member { args: list, .. } => list.iter().for_each(visit),
        }
    }

    /// Whether the expression mentions the cost of a priced model.
    pub(crate) fn mentions_cost(&self) -> bool {
        let mut found = false;
        self.walk(&mut |e| found |= matches!(e.kind, ExprKind::Cost));
        found
    }

    /// The variable at the root of `a[i].f`, if there is one.
    pub(crate) fn root(&self) -> Option<&Arc<Symbol>> {
        match &self.kind {
            ExprKind::Var(s) => Some(s),
            ExprKind::Index(a, _) | ExprKind::Field(a, _) => a.root(),
            _ => None,
        }
    }
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Init {
    /// A single value.
    Expr(Expr),
    /// A braced list: parts in the order of the type.
    List(Vec<Init>, Span),
}

/// A variable with its initialiser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decl {
    /// The variable.
    pub symbol: Arc<Symbol>,
    /// Its initialiser.
    pub init: Option<Init>,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// Parameters.
    pub params: Vec<Arc<Symbol>>,
    /// The result type.
    pub ret: Type,
    /// The body.
    pub body: Block,
    /// The location of its name.
    pub loc: Loc,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    /// Its variables.
    pub decls: Vec<Decl>,
    /// Its statements.
    pub stmts: Vec<Stmt>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stmt {
    /// The form of the statement.
    pub kind: StmtKind,
    /// The span, relative to the item.
    pub span: Span,
}

/// A direct part of a statement or block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// A declaration of a local variable.
    Decl(&'a Decl),
    /// A statement.
    Stmt(&'a Stmt),
}

impl Block {
    /// Calls `visit` on the direct parts, in text order.
    pub(crate) fn parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        self.decls.iter().map(Part::Decl).for_each(&mut *visit);
        self.stmts.iter().map(Part::Stmt).for_each(visit);
    }
}

impl Stmt {
    /// Calls `visit` on the direct parts; those of a block are its own. The labels of `switch` are
    /// constants and are not visited.
    pub(crate) fn parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        match &self.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => {}
            StmtKind::Block(b) => b.parts(visit),
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) | StmtKind::Assert(e) => {
                visit(Part::Expr(e));
            }
            StmtKind::For(a, b, c, body) => {
                [a, b, c].map(Part::Expr).into_iter().for_each(&mut *visit);
                visit(Part::Stmt(body));
            }
            StmtKind::Iterate(_, body) => visit(Part::Stmt(body)),
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                visit(Part::Expr(c));
                visit(Part::Stmt(body));
            }
            StmtKind::If(c, a, b) => {
                visit(Part::Expr(c));
                visit(Part::Stmt(a));
                b.iter().for_each(|b| visit(Part::Stmt(b)));
            }
            StmtKind::Switch(e, cases) => {
                visit(Part::Expr(e));
                let stmts = cases.iter().flat_map(|(_, stmts)| stmts);
                stmts.map(Part::Stmt).for_each(visit);
            }
        }
    }
}

impl Init {
    /// Calls `visit` on the expressions of an initialiser, in text order.
    pub(crate) fn exprs<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Init::Expr(e) => visit(e),
            Init::List(items, _) => items.iter().for_each(|i| i.exprs(visit)),
        }
    }
}

/// The forms of statements. C-style loops are rare, so boxing them because of their size is not
/// worth it.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StmtKind {
    /// An empty statement, or one with syntax errors.
    Empty,
    /// `{ … }`
    Block(Block),
    /// `e;`
    Expr(Expr),
    /// `for (a; b; c) s`
    For(Expr, Expr, Expr, Box<Stmt>),
    /// `for (i : T) s`
    Iterate(Arc<Symbol>, Box<Stmt>),
    /// `while (c) s`
    While(Expr, Box<Stmt>),
    /// `do s while (c);`
    DoWhile(Box<Stmt>, Expr),
    /// `if (c) s else t`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `return e;`
    Return(Option<Expr>),
    /// `assert e;`
    Assert(Expr),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `switch`
    Switch(Expr, Vec<(Option<Expr>, Vec<Stmt>)>),
}

/// A template with all its parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// Parameters.
    pub params: Vec<Arc<Symbol>>,
    /// Variables, in text order.
    pub decls: Vec<Decl>,
    /// Functions, in text order.
    pub functions: Vec<Arc<Function>>,
    /// Locations.
    pub locations: Vec<Location>,
    /// Names of branchpoints.
    pub branchpoints: Vec<Arc<Symbol>>,
    /// The index of the initial location.
    pub init: Option<u32>,
    /// Edges, in text order.
    pub edges: Vec<Edge>,
    /// All names that may follow `P.` in a query.
    pub members: BTreeMap<SmolStr, Arc<Symbol>>,
    /// The location of its name.
    pub loc: Loc,
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Location {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// The invariant.
    pub invariant: Option<Expr>,
    /// Whether it is committed.
    pub committed: bool,
    /// Whether it is urgent.
    pub urgent: bool,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A location.
    Location(u32),
    /// A branchpoint.
    Branchpoint(u32),
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edge {
    /// The source of the edge.
    pub source: End,
    /// The target of the edge.
    pub target: End,
    /// The variables of the select label.
    pub selects: Vec<Arc<Symbol>>,
    /// The span of each select, type included, relative to the item.
    pub select_spans: Vec<Span>,
    /// The guard.
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// The updates, in text order.
    pub updates: Vec<Expr>,
    /// The span, relative to the item.
    pub span: Span,
}

impl Edge {
    /// The location of the `k`th select, type included.
    pub(crate) fn select_loc(&self, item: u32, k: usize) -> Loc {
        let span = self.select_spans.get(k).copied().unwrap_or(self.span);
        Loc { item, span }
    }
}

/// A synchronisation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sync {
    /// The channel.
    pub channel: Expr,
    /// Its direction.
    pub direction: Direction,
    /// The span, relative to the item.
    pub span: Span,
}

/// `P(params) = Q(args);`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instance {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// Free parameters: declared ones, and those bound by the notations of older papers.
    pub params: Vec<Arc<Symbol>>,
    /// The template or instance that is instantiated.
    pub template: Arc<Symbol>,
    /// Arguments.
    pub args: Vec<Expr>,
    /// The span, relative to the item.
    pub span: Span,
}

/// An element of a channel priority list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PriorityElem {
    /// `default`
    Default,
    /// A channel, a channel array or an element of one.
    Channel(Expr),
}
