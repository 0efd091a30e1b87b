//! Queries.

// The names of the variants explain their fields.
#![allow(missing_docs)]

use super::{Expr, Graphics};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;

/// A query with its expectation, comment and stored results.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The formula.
    pub kind: QueryKind,
    /// The formula's text as the user wrote it, with white space folded to single blanks.
    pub text: SmolStr,
    /// The source range of the formula.
    pub span: Span,
    /// The expected answer, from `/* EXPECT:… */`, `<expect>` or `//@ expect`.
    pub expectation: Option<Expectation>,
    /// The set for whose every size the query is asked, from `//@ every`.
    pub every: Option<SmolStr>,
    /// The text of `<comment>`.
    pub comment: Option<SmolStr>,
    /// The results that UPPAAL stored in `<result>`, newest last. They are history and never
    /// trusted.
    pub results: Vec<StoredResult>,
    /// All other data of an XML `<query>`, for writing it back.
    pub graphics: Option<Box<Graphics>>,
    /// Errors inside the query; their codes are `query/…`.
    pub errors: Vec<SyntaxError>,
}

/// The answer that the author expects of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expectation {
    /// Whether it should hold.
    pub satisfied: bool,
    /// Where the expectation is written.
    pub span: Span,
}

/// A `<result>` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// `success` → `Some(true)`, `failure` → `Some(false)`.
    pub satisfied: Option<bool>,
    /// All attributes as written.
    pub attributes: Vec<(SmolStr, SmolStr)>,
    /// The element's text, if any.
    pub text: SmolStr,
}

/// The forms of queries.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryKind {
    /// Text that could not be parsed; at least one error was reported.
    Error,
    /// No formula, only comments: a heading.
    Heading,
    /// `A[] e`, `E<> e`, `A<> e`, `E[] e`
    Path(PathKind, Expr),
    /// `p --> q`
    LeadsTo(Expr, Expr),
    /// `sup{c}: e, …`, `inf …`, `bounds …`
    Bounds {
        kind: BoundsKind,
        condition: Option<Expr>,
        exprs: Vec<Expr>,
    },
    /// A query for another engine, recognised by its form.
    Unsupported(QueryFamily),
}

/// Path quantifier and modality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// `A[]`
    Always,
    /// `E<>`
    Possibly,
    /// `A<>`
    Eventually,
    /// `E[]`
    PotentiallyAlways,
}

/// `sup`, `inf`, `bounds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundsKind {
    Sup,
    Inf,
    Bounds,
}

/// Families of queries that are recognised, but not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryFamily {
    /// `Pr[…]`, `simulate`, `E[…](max: …)`
    Statistical,
    /// `control:`, `A[p U q]`, `A[p W q]`, `{…} control: …`
    Game,
    /// `strategy S = …`, `… under S`, `saveStrategy`, `loadStrategy`
    Strategy,
    /// `minE`, `maxE`, `minPr`, `maxPr`
    Learning,
    /// `refinement:`, `consistency:`, `specification:`, `implementation:` …
    Ecdar,
}
