//! What certificates do not cover yet, by name.

use crate::condition::has_clocks;
use crate::eval::Failure;
use crate::steps::{channels, direction};
use zonelens_analysis::network::{Expr, ExprKind, Network, Query, QueryKind};
use zonelens_syntax::ast::{Direction, PathKind};
use zonelens_syntax::span::Span;

/// Why a network has no certificates: a feature whose exact meaning the checker does not compute.
pub fn refusal(network: &Network) -> Option<Failure> {
    let refuse = |message: &str, span: Span| {
        Some(Failure {
            message: format!("certificates do not cover {message}"),
            span: Some(span),
        })
    };
    if let Some(unsupported) = network.unsupported.iter().find(|u| u.fatal) {
        return Some(Failure {
            message: unsupported.message.clone(),
            span: Some(unsupported.span),
        });
    }
    for process in &network.processes {
        for location in &process.locations {
            if let Some(span) = location.invariant.as_ref().and_then(stopwatch) {
                return refuse("stopwatches (a clock rate other than 1)", span);
            }
        }
        for edge in &process.edges {
            let urgent = channels(edge).any(|c| network.channels.get(c).is_some_and(|c| c.urgent));
            let guard = edge.guard.as_ref().filter(|g| has_clocks(g));
            if let Some(guard) = guard.filter(|_| urgent) {
                return refuse("clock guards on urgent channels", guard.span);
            }
            if direction(edge) == Some(Direction::Csp) {
                let span = edge.spans.first().copied().unwrap_or_default();
                return refuse("synchronisations without `!` or `?`", span);
            }
        }
    }
    None
}

/// The place of a clock rate that is not the constant 1.
fn stopwatch(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Rate { rate, .. } => match rate.kind {
            ExprKind::Const(1) => None,
            _ => Some(expr.span),
        },
        ExprKind::Unary(_, a) => stopwatch(a),
        ExprKind::Binary(_, a, b) => stopwatch(a).or_else(|| stopwatch(b)),
        ExprKind::Cond(c, a, b) => [c, a, b].into_iter().find_map(|e| stopwatch(e)),
        ExprKind::Quantifier { body, .. } => stopwatch(body),
        _ => None,
    }
}

/// The kinds of claims that have certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `A[]`: the condition holds in every reachable state.
    Always,
    /// `E<>`, refuted: the condition holds in no reachable state.
    Never,
}

impl Kind {
    /// The claim that a query can make, with its condition; `Err` names the kind of query.
    pub fn of(query: &Query) -> Result<(Kind, &Expr), String> {
        let without = match &query.kind {
            QueryKind::Path(PathKind::Always, condition) => return Ok((Kind::Always, condition)),
            QueryKind::Path(PathKind::Possibly, condition) => return Ok((Kind::Never, condition)),
            QueryKind::Path(PathKind::Eventually, _) => "liveness (`A<>`) has",
            QueryKind::Path(PathKind::PotentiallyAlways, _) => "liveness (`E[]`) has",
            QueryKind::LeadsTo(..) => "liveness (`-->`) has",
            QueryKind::Bounds { .. } => "`sup`, `inf` and `bounds` have",
        };
        Err(format!("{without} no certificates yet"))
    }

    /// The name of the kind, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Always => "always",
            Kind::Never => "never",
        }
    }

    /// What a certificate of this kind claims.
    pub fn claim(self) -> &'static str {
        match self {
            Kind::Always => "the condition holds in every reachable state",
            Kind::Never => "no reachable state meets the condition",
        }
    }

    /// The value of the condition that no state may have.
    pub fn forbidden(self) -> bool {
        self == Kind::Never
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            Kind::Always => 1,
            Kind::Never => 2,
        }
    }

    pub(crate) fn from_number(number: u64) -> Option<Kind> {
        [Kind::Always, Kind::Never]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}
