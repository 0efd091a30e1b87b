//! Queries against a network.

use super::{Binding, Built, Foreign, Lowered, Scope, constant};
use crate::check::{CheckedKind, Env};
use crate::hir::{Expr, ExprKind};
use crate::network::{self, BinaryOp, Query, QueryKind};
use crate::symbol::SymKind;
use smol_str::SmolStr;
use zonelens_syntax::span::Span;

/// Resolves a checked query.
pub fn resolve(
    env: &Env,
    built: &Built,
    kind: &CheckedKind,
    text: &SmolStr,
    span: Span,
    base: u32,
) -> Result<Query, Foreign> {
    let mut s = Scope::new(env, built, None, base);
    let kind = match kind {
        CheckedKind::Path(path, e) => QueryKind::Path(*path, s.expr(e)?),
        CheckedKind::LeadsTo(p, q) => QueryKind::LeadsTo(s.expr(p)?, s.expr(q)?),
        CheckedKind::Bounds(kind, condition, exprs) => {
            let condition = condition.as_ref().map(|c| s.expr(c)).transpose()?;
            let mut out = Vec::new();
            for e in exprs {
                out.push(s.measured(e)?);
            }
            QueryKind::Bounds {
                kind: *kind,
                condition,
                exprs: out,
            }
        }
    };
    Ok(Query {
        text: text.clone(),
        kind,
        frame: s.slots,
        named_elements: Vec::new(),
        span: span.shift(base),
    })
}

impl Scope<'_> {
    /// `P(i).l`
    pub(crate) fn at(&mut self, e: &Expr, span: Span) -> Lowered<network::Expr> {
        let ExprKind::Member {
            family,
            args,
            member,
        } = &e.kind
        else {
            return Err(Foreign::Broken);
        };
        let SymKind::Location(location) = member.kind else {
            return Err(Foreign::Broken);
        };
        let (process, _) = self.process_ref(family, args)?;
        Ok(network::Expr {
            kind: network::ExprKind::At { process, location },
            span,
        })
    }

    /// `P(i).x` of an integer: a place, or a choice over the processes where the values are constants or references.
    pub(crate) fn read_member(&mut self, e: &Expr, span: Span) -> Lowered<network::Expr> {
        let ExprKind::Member {
            family,
            args,
            member,
        } = &e.kind
        else {
            return Err(Foreign::Broken);
        };
        let (process, index) = self.process_ref(family, args)?;
        let own = matches!(&member.kind, SymKind::Var(v) if !v.constant);
        if own || process.steps.is_empty() {
            let at = self.locate(e)?;
            if let Some(v) = at.known() {
                return Ok(constant(v, span));
            }
            return Ok(network::Expr {
                kind: network::ExprKind::Read(at.place()),
                span,
            });
        }
        let family = self
            .built
            .network
            .families
            .get(index as usize)
            .ok_or(Foreign::Broken)?;
        let mut args_lowered = Vec::new();
        for a in args {
            args_lowered.push(self.int(a)?);
        }
        let mut chosen: Option<network::Expr> = None;
        for k in (family.first..family.first + family.len).rev() {
            let (Some(scope), Some(process)) = (
                self.built.processes.get(k as usize),
                self.built.network.processes.get(k as usize),
            ) else {
                return Err(Foreign::Broken);
            };
            let value = match scope.names.get(&member.id) {
                Some(Binding::Foreign) => return Err(self.double(e)),
                Some(b) => {
                    let at = super::place::Located::from_binding(b, span).ok_or(Foreign::Broken)?;
                    match at.known() {
                        Some(v) => constant(v, span),
                        None => network::Expr {
                            kind: network::ExprKind::Read(at.place()),
                            span,
                        },
                    }
                }
                None => return Err(Foreign::Broken),
            };
            let mut here = constant(1, span);
            for (a, v) in args_lowered.iter().zip(&process.args) {
                let same = super::expr::binary(BinaryOp::Eq, a.clone(), constant(*v, span), span);
                here = super::expr::binary(BinaryOp::And, here, same, span);
            }
            chosen = Some(match chosen {
                None => value,
                Some(other) => network::Expr {
                    kind: network::ExprKind::Cond(Box::new(here), Box::new(value), Box::new(other)),
                    span,
                },
            });
        }
        chosen.ok_or(Foreign::Broken)
    }
}
