//! Items: the pieces that a file consists of.

// The names of the variants explain their fields.
#![allow(missing_docs)]

use super::{
    ChanPriority, Expectation, Expr, Function, GanttLine, Ident, Instantiation, Process, Progress,
    Query, SystemLine, Typedef, Unsupported, VarDecl,
};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;

/// A piece of a file that is lexed and parsed independently.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The kind of the item and its parts.
    pub kind: ItemKind,
    /// The range from the first to the last token, without trivia before and after. Empty if there
    /// is no token.
    pub span: Span,
    /// The part of the model that the item belongs to.
    pub section: Section,
    /// Comments outside members, in order.
    pub comments: Vec<Comment>,
    /// `//@` lines outside members, in order. They are comments and therefore also in `comments`.
    pub pragmas: Vec<Pragma>,
    /// Lexical and grammatical errors outside members.
    pub errors: Vec<SyntaxError>,
}

/// The part of a model that an item belongs to. In `.xta` every item is [`Section::Global`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// Global declarations, visible to everything after them.
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
    /// Text that could not be parsed; at least one error was reported. Holds the names that it
    /// seems to declare.
    Error(Vec<Ident>),
    /// Only trivia, or a stray `;`.
    Empty,
    /// Variables, clocks, channels, constants.
    Var(VarDecl),
    /// `typedef`
    Typedef(Typedef),
    /// `scalarset pid[3];`, as in the thesis that introduced symmetry reduction.
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
    /// A construct that is recognised, but not analysed.
    Unsupported(Unsupported),
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// `//…` or `/*…*/`, including the delimiters.
    pub text: SmolStr,
    /// The source range.
    pub span: Span,
}

/// A `//@ …` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Pragma {
    /// The content of the line.
    pub kind: PragmaKind,
    /// The range of the whole comment.
    pub span: Span,
}

/// The kinds of `//@` lines.
#[derive(Clone, Debug, PartialEq)]
pub enum PragmaKind {
    /// `//@ query FORMULA`; an `//@ expect` after it is already merged into the query.
    Query(Box<Query>),
    /// `//@ expect satisfied|violated` (`None` if the word is neither).
    Expect(Option<Expectation>),
    /// `//@ every SET`, merged into the query before it.
    Every(SmolStr),
    /// `//@ allow CODE reason`
    Allow { code: SmolStr, code_span: Span },
    /// `//@ xml …`: see [`Graphics`](super::Graphics).
    Xml(SmolStr),
    /// Anything else; reported as a lint.
    Unknown(SmolStr),
}
