//! What a query asks of every size.
//!
//! A claim is `A[] φ`, or `E<> φ` read as the claim that no size reaches φ. A violation is a state
//! and *witnesses*: the elements for which the outer quantifiers fail. A view decides it if it has
//! all witnesses, and the elements that data of the fixed part names where φ reads their parts.

use super::visit::{Access, Visitor, Walk};
use super::{Layout, Refusal, names};
use crate::network::{
    BinaryOp, Expr, ExprKind, IndexStep, Network, Place, Query, QueryKind, UnaryOp,
};
use zonelens_syntax::ast::{PathKind, QuantifierKind};
use zonelens_syntax::span::Span;

/// A claim about every size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Whether the query is `E<>`: the claim is that no size reaches its condition.
    pub possibly: bool,
    /// The least size of views that can decide the claim.
    pub views: u32,
}

impl Asked {
    /// Reads a query; the refusal has its place in the formula.
    pub(crate) fn new(network: &Network, layout: &Layout, query: &Query) -> Result<Asked, Refusal> {
        let refuse = |message: String, span| Err(Refusal::new("every/query", message, span));
        let (possibly, e) = match &query.kind {
            QueryKind::Path(PathKind::Always, e) => (false, e),
            QueryKind::Path(PathKind::Possibly, e) => (true, e),
            _ => {
                let message = "only `A[]` and `E<>` can be answered for every size; ask `A[]` of a condition on one state";
                return refuse(message.into(), query.span);
            }
        };
        if query.named_elements.iter().any(|(s, _)| *s == layout.set) {
            return refuse(
                "the query names an element; quantify over the set".into(),
                query.span,
            );
        }
        let check = Check {
            layout,
            network,
            found: None,
            can_fail: false,
        };
        let mut walk = Walk::new(network, check);
        walk.expr(e);
        if let Some((message, span)) = walk.visitor.found {
            return refuse(message, span);
        }
        let can_fail = walk.visitor.can_fail;
        let mut shape = Shape {
            layout,
            network,
            inner: 0,
            wrong: None,
        };
        let witnesses = shape.witnesses(e, possibly, true);
        if let Some(span) = shape.wrong {
            let message = "a quantifier of the other kind stands around this one: for every size, `A[]` takes `forall` outside and `exists` inside, `E<>` the reverse";
            return refuse(message.into(), span);
        }
        let named = names::of_names(network, layout, e);
        let inner = if can_fail { shape.inner } else { 0 };
        Ok(Asked {
            possibly,
            views: (witnesses + named + inner).max(2),
        })
    }
}

/// Counts witnesses.
struct Shape<'a> {
    layout: &'a Layout,
    network: &'a Network,
    /// The deepest nesting of quantifiers whose elements are no witnesses.
    inner: u32,
    wrong: Option<Span>,
}

impl Shape<'_> {
    /// The number of witnesses that make `e` equal to `want`. `outer` is false below a quantifier
    /// whose elements are no witnesses.
    fn witnesses(&mut self, e: &Expr, want: bool, outer: bool) -> u32 {
        match &e.kind {
            ExprKind::Unary(UnaryOp::Not, a) => self.witnesses(a, !want, outer),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let (a, b) = (
                    self.witnesses(a, want, outer),
                    self.witnesses(b, want, outer),
                );
                // One side suffices, or both are needed.
                match (*op == BinaryOp::Or) == want {
                    true => a.max(b),
                    false => a + b,
                }
            }
            ExprKind::Quantifier {
                kind, range, body, ..
            } if *kind != QuantifierKind::Sum => {
                let over = range.scalarset == Some(self.layout.set);
                let witness = (*kind == QuantifierKind::Exists) == want;
                if !over {
                    return self.witnesses(body, want, outer);
                }
                if !witness {
                    // `forall` that must hold for a violation: the claim has it under a negation.
                    if *kind == QuantifierKind::Forall {
                        self.wrong.get_or_insert(e.span);
                    }
                    self.inner = self
                        .inner
                        .max(1 + names::depth(self.network, self.layout, body));
                    self.witnesses(body, want, false);
                    return 0;
                }
                if !outer {
                    self.wrong.get_or_insert(e.span);
                }
                1 + self.witnesses(body, want, outer)
            }
            _ => {
                let depth = names::depth(self.network, self.layout, e);
                self.inner = self.inner.max(depth);
                0
            }
        }
    }
}

/// Finds what claims about every size may not use.
struct Check<'a> {
    layout: &'a Layout,
    network: &'a Network,
    found: Option<(String, Span)>,
    /// Whether an evaluation may fail.
    can_fail: bool,
}

impl Visitor for Check<'_> {
    fn expr(&mut self, e: &Expr, _: bool) {
        let set = Some(self.layout.set);
        let wrong = match &e.kind {
            ExprKind::Deadlock => {
                Some("`deadlock` depends on all processes, and a view has only some")
            }
            ExprKind::Quantifier {
                kind: QuantifierKind::Sum,
                range,
                ..
            } if range.scalarset == set => Some(
                "`sum` counts elements, and a view has only some; compare them pairwise with `forall`",
            ),
            ExprKind::Quantifier { range, .. }
                if range.scalarset == set && range.len != self.layout.size =>
            {
                Some("the quantifier ranges over a part of the set")
            }
            _ => None,
        };
        if let Some(message) = wrong {
            self.found.get_or_insert((message.to_owned(), e.span));
        }
        self.can_fail |= match &e.kind {
            ExprKind::Binary(op, ..) => matches!(
                op,
                BinaryOp::Div | BinaryOp::Mod | BinaryOp::Pow | BinaryOp::Shl | BinaryOp::Shr
            ),
            ExprKind::Call(_) => true,
            _ => false,
        };
    }

    fn place(&mut self, place: &Place, access: Access, span: Span, _: bool) {
        let over = |s: &IndexStep| s.range.scalarset == Some(self.layout.set);
        if matches!(place.base, crate::network::Base::Constant(_)) && place.steps.iter().any(over) {
            let message = "a constant has an entry for each element".to_owned();
            self.found.get_or_insert((message, span));
        }
        let _ = (access, self.network);
    }

    fn index(&mut self, steps: &[IndexStep], _: bool) {
        self.can_fail |= steps
            .iter()
            .any(|s| s.range.scalarset != Some(self.layout.set));
    }

    fn statement(&mut self, statement: &crate::network::Stmt) {
        if let crate::network::Stmt::Iterate { range, span, .. } = statement
            && range.scalarset == Some(self.layout.set)
        {
            let message =
                "the query calls a function with a loop over the set; write `forall` or `exists`";
            self.found.get_or_insert((message.to_owned(), *span));
        }
    }
}
