//! Types and declarators.

// The names of the variants explain their fields.
#![allow(missing_docs)]

use super::{Expr, Ident};
use crate::span::Span;

/// A type as written: prefixes and a base. Array dimensions belong to the declared name.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// `urgent`, `broadcast`, `const`, `meta`, `hybrid`, in the order written.
    pub prefixes: Vec<(Prefix, Span)>,
    /// The type after the prefixes.
    pub base: TypeBase,
    /// The range including the prefixes.
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
    /// Text that could not be parsed; an error was reported.
    Error,
    /// No base: the 3.x forms `const N 5;` and `const N` in parameters, which mean `int`.
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
    /// The name of a typedef. `string` and the fixed-width types of later versions are represented
    /// as names, too.
    Named(Ident),
    /// `scalar[n]`
    Scalar(Box<Expr>),
    /// `scalarset[n]`, the notation of papers.
    Scalarset(Box<Expr>),
    /// `scalarset` without a size, as papers write in `process P(scalarset pid)`.
    ScalarsetParam,
    /// `struct { … }`
    Struct(Vec<Field>),
}

/// One line of struct fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The common type of the fields.
    pub ty: TypeExpr,
    /// The names with their dimensions.
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
    /// The range of the whole declarator.
    pub span: Span,
}

/// An array dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    /// `[e]`: a size, or (if `e` is the name of a type) an index type; analysis decides which.
    Expr(Expr),
    /// `[int[0,3]]`, `[scalar[3]]` …
    Type(TypeExpr),
    /// `[]` or text that could not be parsed; an error was reported.
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
    /// The source range of the initialiser.
    pub fn span(&self) -> Span {
        match self {
            Init::Expr(e) => e.span,
            Init::List { span, .. } => *span,
        }
    }
}
