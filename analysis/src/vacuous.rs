//! Queries that are satisfied and say nothing.
//!
//! `p --> q` and `A[] (p imply q)` hold if `p` never does, and `A<> (p imply q)` holds at once if
//! it is true in the initial state, most often because `p` is not. Its author meant `p --> q`. This
//! module finds the question that decides it, from the form of the formula; the caller, who can run
//! queries, asks it.

use serde::{Deserialize, Serialize};
use zonelens_syntax::ast::{BinaryOp, Expr, ExprKind, PathKind, QuantifierKind, QueryKind};
use zonelens_syntax::parse_query;
use zonelens_syntax::span::Span;

/// Why a satisfied query says nothing, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vacuous {
    /// A sentence without its full stop.
    pub message: String,
    /// The formula that was probably meant, if there is one.
    pub fix: Option<String>,
}

/// A question that decides whether a satisfied query says nothing, with the hint if it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether this state expression holds in the initial state.
    AtStart(String, Vacuous),
    /// Whether this query is violated: the premise never holds.
    Never(String, Vacuous),
}

/// The question that decides whether a formula can be satisfied without saying anything; `None` if
/// it has another form.
pub fn question(formula: &str) -> Option<Question> {
    let query = parse_query(formula);
    if !query.errors.is_empty() {
        return None;
    }
    let text = |expr: &Expr| slice(formula, bare(expr).span);
    match &query.kind {
        QueryKind::LeadsTo(p, _) => never(formula, &[], p),
        QueryKind::Path(PathKind::Always, expr) => {
            let (ranges, p, _) = implication(formula, expr)?;
            never(formula, &ranges, p)
        }
        QueryKind::Path(PathKind::Eventually, expr) => {
            let (ranges, p, q) = implication(formula, expr)?;
            let (p, q) = (text(p)?, text(q)?);
            let whole = text(expr)?.to_owned();
            // Over a range, `-->` would have to be asked for every element.
            let fix = ranges.is_empty().then(|| format!("{p} --> {q}"));
            let instead = match &fix {
                Some(fix) => format!("write `{fix}`"),
                None => format!("ask `{p} --> {q}` for the elements one by one"),
            };
            let message = format!(
                "it holds already in the initial state and says nothing about later ones; to ask whether `{q}` \
                 follows whenever `{p}` holds, {instead}"
            );
            Some(Question::AtStart(whole, Vacuous { message, fix }))
        }
        _ => None,
    }
}

fn never(formula: &str, ranges: &[&str], p: &Expr) -> Option<Question> {
    // A premise that is always true or false was written on purpose.
    if let ExprKind::Bool(_) = bare(p).kind {
        return None;
    }
    let p = slice(formula, bare(p).span)?;
    let some: String = ranges
        .iter()
        .map(|range| format!("exists {range} "))
        .collect();
    let query = format!("E<> {some}({p})");
    let message = format!("`{p}` never holds, so nothing is said about what comes with it");
    let hint = Vacuous { message, fix: None };
    Some(Question::Never(query, hint))
}

/// The ranges of `forall (i : T) …`, and the sides of the implication inside.
fn implication<'a, 'e>(
    formula: &'a str,
    mut expr: &'e Expr,
) -> Option<(Vec<&'a str>, &'e Expr, &'e Expr)> {
    let mut ranges = Vec::new();
    loop {
        match &expr.kind {
            ExprKind::Paren(inner) => expr = inner,
            ExprKind::Quantifier {
                kind: QuantifierKind::Forall,
                kind_span,
                body,
                ..
            } => {
                let range = Span::new(kind_span.end, body.span.start);
                ranges.push(slice(formula, range)?.trim());
                expr = body;
            }
            ExprKind::Binary {
                op: BinaryOp::Imply,
                lhs,
                rhs,
                ..
            } => return Some((ranges, lhs, rhs)),
            _ => return None,
        }
    }
}

/// An expression without the parentheses around it.
fn bare(mut expr: &Expr) -> &Expr {
    while let ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    expr
}

fn slice(formula: &str, span: Span) -> Option<&str> {
    formula.get(span.start as usize..span.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(formula: &str) -> Option<(String, Option<String>)> {
        Some(match question(formula)? {
            Question::AtStart(condition, hint) => (condition, hint.fix),
            Question::Never(query, hint) => (query, hint.fix),
        })
    }

    #[test]
    fn the_question_follows_from_the_form() {
        let never = |formula: &str| asked(formula).map(|(query, _)| query);
        assert_eq!(never("P.a --> P.b").as_deref(), Some("E<> (P.a)"));
        assert_eq!(
            never("A[] (P.a and n > 1 imply (P.b))").as_deref(),
            Some("E<> (P.a and n > 1)")
        );
        assert_eq!(
            never("A[] forall (i : S) forall (j : int[0,3]) (P(i).a && i != j) imply P(j).b")
                .as_deref(),
            Some("E<> exists (i : S) exists (j : int[0,3]) (P(i).a && i != j)")
        );
        assert_eq!(
            asked("A<> (P.a imply P.b)"),
            Some(("P.a imply P.b".into(), Some("P.a --> P.b".into())))
        );
        assert_eq!(
            asked("A<> forall (i : S) (P(i).a imply n == i)"),
            Some(("forall (i : S) (P(i).a imply n == i)".into(), None))
        );
        for other in [
            "A[] P.a",
            "E<> P.a imply P.b",
            "A[] exists (i : S) (P(i).a imply P(i).b)",
            "A[] !(P.a imply P.b)",
            "A<> P.b",
            "true --> P.b",
            "A[] (P.a imply",
            "sup: n",
        ] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
