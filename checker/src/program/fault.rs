//! Evaluations that have no meaning.

use zonelens_syntax::span::Span;

/// What a model does that has no meaning; it stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A value outside the range of what it is stored in.
    Range {
        value: i32,
        lo: i32,
        hi: i32,
        to: Target,
    },
    /// An index outside the range of its dimension; `of` is the first cell of what is indexed, if that is a variable.
    Index {
        value: i32,
        lo: i32,
        len: u32,
        of: Option<u32>,
    },
    /// `/ 0` or `% 0`
    DivisionByZero,
    /// An intermediate result outside 32 bits.
    Overflow,
    /// A shift by a negative amount or by more than 31.
    Shift(i32),
    /// A negative power.
    Power(i32),
    /// A clock set to a negative value.
    NegativeClock(i32),
    /// A loop that does not end within the step limit.
    StepLimit,
    /// An `assert` that failed.
    Assert,
    /// A function that ends without the value it should return.
    MissingReturn,
    /// A guard or invariant that is a disjunction of clock conditions.
    NotConvex,
    /// An urgent synchronisation with a clock guard where the engine cannot follow it exactly.
    UrgentClockGuard,
    /// A clock rate other than 0 and 1.
    Rate(i32),
    /// A state with more steps than can be listed.
    TooManySteps,
    /// The run had to end.
    Interrupted,
    /// A zone without what it must not have is a union of more zones than can be kept.
    TooManyParts,
}

/// What a value is stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A cell of the state.
    Cell(u32),
    /// A variable of a function.
    Local,
    /// A parameter of a function.
    Parameter,
    /// The result of a function.
    Result,
}

/// A fault and where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Where; `None` for what no place in the text is to blame for.
    pub span: Option<Span>,
    /// Whether an expression of the query failed, not one of the model.
    pub of_query: bool,
}

impl Fault {
    /// The same, of the query.
    pub fn of_query(self) -> Fault {
        Fault {
            of_query: true,
            ..self
        }
    }

    /// Whether it is the same mistake of the model, in a state that may be an image of the other's.
    pub fn is_like(&self, other: &Fault) -> bool {
        let same_kind = std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind);
        same_kind && self.span == other.span
    }

    /// What happened, with the names of variables; `cell` names a cell, `variable` what the cell is a part of.
    pub fn message(
        &self,
        cell: impl Fn(u32) -> String,
        variable: impl Fn(u32) -> String,
    ) -> String {
        match self.kind {
            FaultKind::Range {
                value,
                lo,
                hi,
                to: Target::Cell(c),
            } => format!(
                "the value {value} does not fit the range [{lo}, {hi}] of `{}`",
                cell(c)
            ),
            FaultKind::Index { of: Some(c), .. } => {
                format!("{} of `{}`", self.kind, variable(c))
            }
            kind => kind.to_string(),
        }
    }
}

impl FaultKind {
    /// Whether it is the engine that cannot go on, not the model that means nothing.
    pub fn is_ours(self) -> bool {
        matches!(
            self,
            FaultKind::NotConvex
                | FaultKind::UrgentClockGuard
                | FaultKind::Rate(_)
                | FaultKind::TooManySteps
                | FaultKind::TooManyParts
                | FaultKind::Interrupted
        )
    }

    /// At a place.
    pub fn at(self, span: Span) -> Fault {
        Fault {
            span: Some(span),
            ..self.nowhere()
        }
    }

    /// Without a place.
    pub fn nowhere(self) -> Fault {
        Fault {
            kind: self,
            span: None,
            of_query: false,
        }
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FaultKind::Range { value, lo, hi, to } => {
                let to = match to {
                    Target::Cell(_) | Target::Local => "what it is assigned to",
                    Target::Parameter => "the parameter that it is passed for",
                    Target::Result => "the function's result",
                };
                write!(f, "the value {value} does not fit the range [{lo}, {hi}] of {to}")
            }
            FaultKind::Index { value, lo, len, .. } => {
                let hi = i64::from(*lo) + i64::from(*len) - 1;
                write!(f, "the index {value} is outside [{lo}, {hi}]")
            }
            FaultKind::DivisionByZero => f.write_str("division by zero"),
            FaultKind::Overflow => f.write_str("the result does not fit 32 bits"),
            FaultKind::Shift(n) => write!(f, "shift by {n}; only 0 to 31 have a meaning"),
            FaultKind::Power(n) => write!(f, "power with the negative exponent {n}"),
            FaultKind::NegativeClock(n) => write!(f, "a clock is set to the negative value {n}"),
            FaultKind::StepLimit => {
                f.write_str("this loop does not end within the step limit; does it end at all?")
            }
            FaultKind::Assert => f.write_str("the assertion is false"),
            FaultKind::MissingReturn => f.write_str("the function ends without returning a value"),
            FaultKind::NotConvex => {
                f.write_str("a disjunction of clock conditions cannot be a guard or an invariant")
            }
            FaultKind::UrgentClockGuard => {
                f.write_str("an urgent synchronisation has a clock guard")
            }
            FaultKind::TooManySteps => f.write_str(
                "a state has millions of steps: every choice of select values and of the receivers' edges is one; \
                 select from less, or give receivers fewer edges",
            ),
            FaultKind::TooManyParts => f.write_str(
                "what is asked splits the clock values of one state into hundreds of thousands of parts: it compares too many \
                 clocks with too many constants at once",
            ),
            FaultKind::Interrupted => f.write_str("the run was stopped"),
            FaultKind::Rate(n) => write!(f, "clock rate {n}; only 0 and 1 are supported"),
        }
    }
}
