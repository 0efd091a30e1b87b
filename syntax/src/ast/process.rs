//! Processes, locations, edges.

// The names of the variants explain their fields.
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
    /// The parameters; `None` if no list is written.
    pub params: Option<Params>,
    /// All members, in source order.
    pub members: Vec<Placed<Member>>,
    /// Data that only XML files contain.
    pub graphics: Option<Box<Graphics>>,
}

/// A piece of a process that is parsed independently. Spans inside are relative to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The kind of the member and its parts.
    pub kind: MemberKind,
    /// The range from the first to the last token.
    pub span: Span,
    /// Comments inside and around the member.
    pub comments: Vec<Comment>,
    /// `//@` lines among them.
    pub pragmas: Vec<Pragma>,
    /// Errors inside the member.
    pub errors: Vec<SyntaxError>,
}

/// The kinds of members.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberKind {
    /// Text that could not be parsed; at least one error was reported. Holds the names that it
    /// seems to declare.
    Error(Vec<Ident>),
    /// Only trivia, or a stray `;`.
    Empty,
    /// A local declaration.
    Var(VarDecl),
    /// A local type.
    Typedef(Typedef),
    /// A local function.
    Function(Function),
    /// `chan priority` inside a template, `before_update` …: allowed only at the top level;
    /// analysis reports it.
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
    /// The name; for an unnamed location of an XML file, `_` and its id.
    pub name: Ident,
    /// Whether the name was generated.
    pub anonymous: bool,
    /// The invariant.
    pub invariant: Option<Expr>,
    /// The rate of an exponential distribution: `e` or `e : e`.
    pub exponential_rate: Option<(Expr, Option<Expr>)>,
    /// `<committed/>`; `.xta` uses [`MemberKind::Commit`] instead.
    pub committed: bool,
    /// `<urgent/>`; `.xta` uses [`MemberKind::Urgent`] instead.
    pub urgent: bool,
    /// Data that only XML files contain.
    pub graphics: Option<Box<Graphics>>,
    /// The range of the whole location.
    pub span: Span,
}

/// A branchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Branchpoint {
    /// The name; in XML, `_` and the id.
    pub name: Ident,
    /// Data that only XML files contain.
    pub graphics: Option<Box<Graphics>>,
    /// The range of the whole branchpoint.
    pub span: Span,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The source location; `None` means that of the previous edge.
    pub source: Option<Ident>,
    /// The target location.
    pub target: Ident,
    /// `false` for `-u->` and `controllable="false"`.
    pub controllable: bool,
    /// `select i : T, …`
    pub select: Vec<(Ident, TypeExpr)>,
    /// The guard. A comma list is [`ExprKind::Comma`](super::ExprKind::Comma).
    pub guard: Option<Expr>,
    /// The synchronisation.
    pub sync: Option<Sync>,
    /// The updates in order.
    pub assign: Vec<Expr>,
    /// The weight of a branch.
    pub probability: Option<Expr>,
    /// Data that only XML files contain.
    pub graphics: Option<Box<Graphics>>,
    /// The range from the source to the closing brace.
    pub span: Span,
}

/// `c!`, `c?`, or `c` alone (CSP-style).
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The channel.
    pub channel: Expr,
    /// Its direction.
    pub direction: Direction,
    /// The range of the whole synchronisation.
    pub span: Span,
}

/// The direction of a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `!`
    Send,
    /// `?`
    Receive,
    /// No mark: CSP-style synchronisation.
    Csp,
}

/// Data of an XML element beyond the model: ids, coordinates, colours, nails, labels without
/// meaning. It is kept for writing the file back; the conversion to `.xta` puts it into `//@ xml`
/// lines.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Graphics {
    /// Attributes of the element itself, in order.
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// Child elements with attributes (`name`, `label`, `nail` …), in file order.
    pub children: Vec<GraphicsChild>,
}

/// A child element of a drawn element.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct GraphicsChild {
    /// Its tag.
    pub tag: SmolStr,
    /// Its attributes, in order.
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// The text, for children whose text is not part of the model (`<label kind="comments">`).
    pub text: Option<SmolStr>,
}
