//! Items: the pieces of a file.

// Fields of enum variants are told by their variant.
#![allow(missing_docs)]

use super::{
    ChanPriority, Expectation, Expr, Function, GanttLine, Ident, Instantiation, Process, Progress,
    Query, SystemLine, Typedef, Unsupported, VarDecl,
};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;

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
    /// Unreadable; at least one error was reported. The names that it seems to declare.
    Error(Vec<Ident>),
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
