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
    /// `A<>`: every run reaches a state with the condition.
    Eventually,
    /// `E[]`, refuted: no run keeps the condition.
    NoRun,
    /// `p --> q`: from every reachable state with p, every run reaches a state with q.
    LeadsTo,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::Always,
        Kind::Never,
        Kind::Eventually,
        Kind::NoRun,
        Kind::LeadsTo,
    ];

    /// The claim that a query can make, with its condition (of `p --> q`, q); `Err` names the kind
    /// of query.
    pub fn of(query: &Query) -> Result<(Kind, &Expr), String> {
        Ok(match &query.kind {
            QueryKind::Path(PathKind::Always, condition) => (Kind::Always, condition),
            QueryKind::Path(PathKind::Possibly, condition) => (Kind::Never, condition),
            QueryKind::Path(PathKind::Eventually, condition) => (Kind::Eventually, condition),
            QueryKind::Path(PathKind::PotentiallyAlways, condition) => (Kind::NoRun, condition),
            QueryKind::LeadsTo(_, condition) => (Kind::LeadsTo, condition),
            QueryKind::Bounds { .. } => {
                return Err("`sup`, `inf` and `bounds` have no certificates yet".to_owned());
            }
        })
    }

    /// The name of the kind, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Always => "always",
            Kind::Never => "never",
            Kind::Eventually => "eventually",
            Kind::NoRun => "no-run",
            Kind::LeadsTo => "leads-to",
        }
    }

    /// What a certificate of this kind claims.
    pub fn claim(self) -> &'static str {
        match self {
            Kind::Always => "the condition holds in every reachable state",
            Kind::Never => "no reachable state meets the condition",
            Kind::Eventually => "every run reaches a state that meets the condition",
            Kind::NoRun => "no run keeps the condition for ever or to its end",
            Kind::LeadsTo => {
                "every run from a reachable state with the first condition reaches the second"
            }
        }
    }

    /// Which evaluations the certificate shows not to fail.
    pub fn evaluations(self) -> &'static str {
        match self {
            Kind::Always | Kind::Never | Kind::LeadsTo => "no reachable evaluation fails",
            Kind::Eventually | Kind::NoRun => "no evaluation fails before that",
        }
    }

    /// Whether the claim is that the query is satisfied; otherwise, that it is violated.
    pub fn is_satisfied(self) -> bool {
        !matches!(self, Kind::Never | Kind::NoRun)
    }

    /// Whether the claim is about runs; otherwise, it is about states.
    pub fn is_about_runs(self) -> bool {
        self.kept().is_some()
    }

    /// The value of the condition that no state may have, if the claim is about states.
    pub(crate) fn forbidden(self) -> Option<bool> {
        match self {
            Kind::Always => Some(false),
            Kind::Never => Some(true),
            Kind::Eventually | Kind::NoRun | Kind::LeadsTo => None,
        }
    }

    /// The value of the condition that no run may keep, if the claim is about runs.
    pub(crate) fn kept(self) -> Option<bool> {
        match self {
            Kind::Always | Kind::Never => None,
            Kind::Eventually | Kind::LeadsTo => Some(false),
            Kind::NoRun => Some(true),
        }
    }

    /// Where the runs start: at reachable states with this condition; `None` is the initial state.
    pub(crate) fn start(self, query: &Query) -> Option<&Expr> {
        match &query.kind {
            QueryKind::LeadsTo(start, _) => Some(start),
            _ => None,
        }
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            Kind::Always => 1,
            Kind::Never => 2,
            Kind::Eventually => 3,
            Kind::NoRun => 4,
            Kind::LeadsTo => 5,
        }
    }

    pub(crate) fn from_number(number: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.number() == number)
    }
}
