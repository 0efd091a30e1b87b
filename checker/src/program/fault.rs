//! Faults: evaluations without a result.

use zonelens_syntax::span::Span;

/// The kinds of faults; a fault ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A value is outside the range of its target.
    Range {
        value: i32,
        lo: i32,
        hi: i32,
        to: Target,
    },
    /// An index is outside the range of its dimension; `of` is the first cell of the indexed
    /// variable, if it is one.
    Index {
        value: i32,
        lo: i32,
        len: u32,
        of: Option<u32>,
    },
    /// Division by zero: `/ 0` or `% 0`.
    DivisionByZero,
    /// An intermediate result does not fit 32 bits.
    Overflow,
    /// A shift by a negative amount or by more than 31.
    Shift(i32),
    /// A power with a negative exponent.
    Power(i32),
    /// A clock is set to a negative value.
    NegativeClock(i32),
    /// A loop exceeds the step limit.
    StepLimit,
    /// An `assert` failed.
    Assert,
    /// A function ends without returning a value.
    MissingReturn,
    /// A guard or invariant is a disjunction of clock conditions.
    NotConvex,
    /// An urgent synchronisation has a clock guard that the engine cannot handle exactly.
    UrgentClockGuard,
    /// A clock rate is neither 0 nor 1.
    Rate(i32),
    /// A state has more steps than can be listed.
    TooManySteps,
    /// The evaluation was interrupted by a limit or by the caller.
    Interrupted,
    /// The difference of zones is a union of too many zones.
    TooManyParts,
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A cell of the state.
    Cell(u32),
    /// A local variable of a function.
    Local,
    /// A parameter of a function.
    Parameter,
    /// The result of a function.
    Result,
}

/// A fault and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The position; `None` if the fault has no position in the text.
    pub span: Option<Span>,
    /// Whether an expression of the query failed, rather than one of the model.
    pub of_query: bool,
}

impl Fault {
    /// Marks the fault as one of the query.
    pub(crate) fn of_query(self) -> Fault {
        Fault {
            of_query: true,
            ..self
        }
    }

    /// Whether it is the same error of the model, possibly in a symmetric state.
    pub(crate) fn is_like(&self, other: &Fault) -> bool {
        let same_kind = std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind);
        same_kind && self.span == other.span
    }

    /// The message for the user, with the names of variables; `cell` names a cell, `variable` the
    /// variable that contains it.
    pub(crate) fn message(
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
    /// Whether the fault is a limitation of the engine rather than an error of the model.
    pub(crate) fn is_ours(self) -> bool {
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

    /// The fault at a position.
    pub(crate) fn at(self, span: Span) -> Fault {
        Fault {
            span: Some(span),
            ..self.nowhere()
        }
    }

    /// The fault without a position.
    pub(crate) fn nowhere(self) -> Fault {
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
                    Target::Cell(_) | Target::Local => "its target",
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
            FaultKind::Shift(n) => write!(f, "shift by {n}; only 0 to 31 are allowed"),
            FaultKind::Power(n) => write!(f, "power with the negative exponent {n}"),
            FaultKind::NegativeClock(n) => write!(f, "a clock is set to the negative value {n}"),
            FaultKind::StepLimit => {
                f.write_str("this loop does not end within the step limit; check that it terminates")
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
                 use smaller select ranges, or give receivers fewer edges",
            ),
            FaultKind::TooManyParts => f.write_str(
                "the query splits the clock values of one state into hundreds of thousands of parts: it compares too many \
                 clocks with too many constants at once",
            ),
            FaultKind::Interrupted => f.write_str("the run was stopped"),
            FaultKind::Rate(n) => write!(f, "clock rate {n}; only 0 and 1 are supported"),
        }
    }
}
