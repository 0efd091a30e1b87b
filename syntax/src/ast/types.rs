//! Types and declarators.

// Fields of enum variants are told by their variant.
#![allow(missing_docs)]

use super::{Expr, Ident};
use crate::span::Span;

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
