//! Processes, locations, edges.

// Fields of enum variants are told by their variant.
#![allow(missing_docs)]

use super::{
    Comment, Expr, Function, Ident, ItemKind, Params, Placed, Pragma, TypeExpr, Typedef, VarDecl,
};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;

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
    /// Unreadable; at least one error was reported. The names that it seems to declare.
    Error(Vec<Ident>),
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
