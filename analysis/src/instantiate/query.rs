//! Resolves queries against a network.

use super::{Binding, Built, Foreign, Lowered, Scope, constant};
use crate::check::{CheckedKind, Env};
use crate::hir::{Expr, ExprKind};
use crate::network::{self, BinaryOp, ProcessId, Query, QueryKind, ScalarsetId};
use crate::symbol::{SymId, SymKind, Symbol};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use zonelens_syntax::span::Span;

/// Resolves a checked query.
pub(crate) fn resolve(
    env: &Env,
    built: &Built,
    kind: &CheckedKind,
    text: &SmolStr,
    span: Span,
    base: u32,
    sets: FxHashMap<SymId, ScalarsetId>,
) -> Result<Query, Foreign> {
    let mut s = Scope::new(env, built, None, base);
    s.query_sets = sets;
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
    /// Lowers `P(i).l` for a location `l`.
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

    /// Lowers `P(i).x` for an integer `x`: a place, or a choice between the processes where the
    /// values are constants or references.
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
        self.choose(index, args, span, &mut |me, k| {
            let scope = me.built.processes.get(k.index()).ok_or(Foreign::Broken)?;
            match scope.names.get(&member.id) {
                Some(Binding::Foreign) => Err(me.double(e)),
                Some(b) => {
                    let at = super::place::Located::from_binding(b, span).ok_or(Foreign::Broken)?;
                    Ok(match at.known() {
                        Some(v) => constant(v, span),
                        None => network::Expr {
                            kind: network::ExprKind::Read(at.place()),
                            span,
                        },
                    })
                }
                None => Err(Foreign::Broken),
            }
        })
    }

    /// Lowers `P(i).f(…)`.
    pub(crate) fn member_call(
        &mut self,
        family: &Symbol,
        args: &[Expr],
        function: &Symbol,
        call: &[Expr],
        e: &Expr,
    ) -> Lowered<network::Expr> {
        let span = self.span(e.span);
        let (process, index) = self.process_ref(family, args)?;
        let mut one = |me: &mut Self, k: ProcessId| {
            let scope = me.built.processes.get(k.index()).ok_or(Foreign::Broken)?;
            let id = *scope.functions.get(&function.id).ok_or(Foreign::Broken)?;
            Ok(network::Expr {
                kind: network::ExprKind::Call(Box::new(me.call_id(id, function, call, e)?)),
                span,
            })
        };
        if process.steps.is_empty() {
            return one(self, process.base);
        }
        self.choose(index, args, span, &mut one)
    }

    /// Lowers a choice between the processes of a family by computed arguments; `one` lowers the
    /// expression for one process.
    fn choose(
        &mut self,
        index: u32,
        args: &[Expr],
        span: Span,
        one: &mut dyn FnMut(&mut Self, ProcessId) -> Lowered<network::Expr>,
    ) -> Lowered<network::Expr> {
        let family = self
            .built
            .network
            .families
            .get(index as usize)
            .ok_or(Foreign::Broken)?;
        let mut lowered = Vec::new();
        for a in args {
            lowered.push(self.int(a)?);
        }
        let mut chosen: Option<network::Expr> = None;
        let first = family.first;
        for k in (0..family.len).rev().map(|k| first.plus(k)) {
            let value = one(self, k)?;
            let process = self
                .built
                .network
                .processes
                .get(k.index())
                .ok_or(Foreign::Broken)?;
            let mut here = constant(1, span);
            for (a, v) in lowered.iter().zip(&process.args) {
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
