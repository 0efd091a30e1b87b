//! The checked tree: names resolved, every expression with its type, spans relative to the item.

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
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands, relative to its item.
    pub span: Span,
}

/// The forms of checked expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Wrong; reported.
    Error,
    /// A number.
    Int(i32),
    /// A floating-point number.
    Double(SmolStr),
    /// A string.
    Str(SmolStr),
    /// A truth value.
    Bool(bool),
    /// Anything with a value that has a name.
    Var(Arc<Symbol>),
    /// `op e`
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a op= b`
    Assign(AssignOp, Box<Expr>, Box<Expr>),
    /// `++a`, `a--` …
    IncDec {
        /// Up or down.
        increment: bool,
        /// Before or after.
        prefix: bool,
        /// What.
        expr: Box<Expr>,
    },
    /// `c ? a : b`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.f`, by position
    Field(Box<Expr>, u32),
    /// `f(…)`
    Call(Arc<Symbol>, Vec<Expr>),
    /// A function of the language.
    Builtin(Builtin, Vec<Expr>),
    /// `x'`
    Rate(Box<Expr>),
    /// `forall`, `exists`, `sum`
    Quantifier {
        /// Which.
        kind: QuantifierKind,
        /// Its variable.
        var: Arc<Symbol>,
        /// What is quantified.
        body: Box<Expr>,
    },
    /// `deadlock`
    Deadlock,
    /// `cost` of a priced model that declares no such name.
    Cost,
    /// A sequence, or a conjunction in the old syntax.
    Comma(Vec<Expr>),
    /// A process (queries).
    Process(Arc<Symbol>, Vec<Expr>),
    /// `P(i).x`, `P.l` (queries)
    Member {
        /// The name on the system line.
        family: Arc<Symbol>,
        /// Its arguments.
        args: Vec<Expr>,
        /// The variable, parameter or location of the template.
        member: Arc<Symbol>,
    },
    /// `P(i).f(…)` (queries)
    MemberCall {
        /// The name on the system line.
        family: Arc<Symbol>,
        /// Its arguments.
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
    /// A wrong expression.
    pub fn error(span: Span) -> Expr {
        Expr {
            kind: ExprKind::Error,
            ty: Type::Error,
            span,
        }
    }

    /// Calls `visit` on it and on everything inside, outside first.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |e| e.walk(visit));
    }

    /// Calls `visit` on the direct parts.
    pub fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
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

    /// Whether it mentions the cost of a priced model.
    pub fn mentions_cost(&self) -> bool {
        let mut found = false;
        self.walk(&mut |e| found |= matches!(e.kind, ExprKind::Cost));
        found
    }

    /// The variable at the root of `a[i].f`, if it is one.
    pub fn root(&self) -> Option<&Arc<Symbol>> {
        match &self.kind {
            ExprKind::Var(s) => Some(s),
            ExprKind::Index(a, _) | ExprKind::Field(a, _) => a.root(),
            _ => None,
        }
    }
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// A value.
    Expr(Expr),
    /// Parts in order of the type; `None` where a part is missing.
    List(Vec<Init>, Span),
}

/// A variable with its initialiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// The variable.
    pub symbol: Arc<Symbol>,
    /// Its initialiser.
    pub init: Option<Init>,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// Parameters.
    pub params: Vec<Arc<Symbol>>,
    /// Result.
    pub ret: Type,
    /// Body.
    pub body: Block,
    /// The item it stands in.
    pub loc: Loc,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its variables.
    pub decls: Vec<Decl>,
    /// Its statements.
    pub stmts: Vec<Stmt>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands, relative to its item.
    pub span: Span,
}

/// The forms of statements. C-style loops are rare, so their size is not worth a box on every walk.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Nothing, or something unreadable.
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

/// A template with everything inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// Parameters.
    pub params: Vec<Arc<Symbol>>,
    /// Variables in order.
    pub decls: Vec<Decl>,
    /// Functions in order.
    pub functions: Vec<Arc<Function>>,
    /// Locations.
    pub locations: Vec<Location>,
    /// Names of branchpoints.
    pub branchpoints: Vec<Arc<Symbol>>,
    /// The initial location.
    pub init: Option<u32>,
    /// Edges in order.
    pub edges: Vec<Edge>,
    /// Every name a query may follow `P.` with.
    pub members: BTreeMap<SmolStr, Arc<Symbol>>,
    /// Where the name stands.
    pub loc: Loc,
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// The invariant.
    pub invariant: Option<Expr>,
    /// Committed.
    pub committed: bool,
    /// Urgent.
    pub urgent: bool,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A location.
    Location(u32),
    /// A branchpoint.
    Branchpoint(u32),
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Where it starts.
    pub source: End,
    /// Where it leads.
    pub target: End,
    /// Bound variables.
    pub selects: Vec<Arc<Symbol>>,
    /// Where each of them stands with its type, relative to the item.
    pub select_spans: Vec<Span>,
    /// The guard.
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// Updates.
    pub updates: Vec<Expr>,
    /// Where it stands, relative to its item.
    pub span: Span,
}

impl Edge {
    /// Where a bound variable stands with its type.
    pub fn select_loc(&self, item: u32, k: usize) -> Loc {
        let span = self.select_spans.get(k).copied().unwrap_or(self.span);
        Loc { item, span }
    }
}

/// A synchronisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The channel.
    pub channel: Expr,
    /// Its direction.
    pub direction: Direction,
    /// Where it stands.
    pub span: Span,
}

/// `P(params) = Q(args);`
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its symbol.
    pub symbol: Arc<Symbol>,
    /// Parameters left free (written, or the binders of the papers' forms).
    pub params: Vec<Arc<Symbol>>,
    /// What is instantiated.
    pub template: Arc<Symbol>,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Where it stands, relative to its item.
    pub span: Span,
}

/// An element of a channel priority list.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorityElem {
    /// `default`
    Default,
    /// A channel, a channel array or an element of one.
    Channel(Expr),
}
