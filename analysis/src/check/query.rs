//! Queries: the same expressions, with processes, locations and `deadlock`.

use super::operators::describe;
use super::{Checker, Env};
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind, Template};
use crate::symbol::{ItemId, SymKind, Symbol, TemplateSig};
use crate::types::{Bound, IntType, Type};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::ast::{self, BoundsKind, PathKind, QueryFamily, QueryKind};
use zonelens_syntax::similar::closest;
use zonelens_syntax::span::Span;

/// A checked query.
#[derive(Clone, Debug)]
pub(crate) struct CheckedQuery {
    /// The query, or `None` if there is nothing to answer.
    pub kind: Option<CheckedKind>,
    /// Diagnostics of the query.
    pub diags: Vec<Diag>,
}

/// The forms of checked queries.
#[derive(Clone, Debug)]
pub(crate) enum CheckedKind {
    /// A path formula: `A[]`, `E<>`, `A<>` or `E[]`.
    Path(PathKind, Expr),
    /// `p --> q`
    LeadsTo(Expr, Expr),
    /// `sup`, `inf` or `bounds`, with an optional condition and the measured expressions.
    Bounds(BoundsKind, Option<Expr>, Vec<Expr>),
}

impl CheckedKind {
    /// Every expression of the query.
    pub(crate) fn into_exprs(self) -> Vec<Expr> {
        match self {
            CheckedKind::Path(_, e) => vec![e],
            CheckedKind::LeadsTo(p, q) => vec![p, q],
            CheckedKind::Bounds(_, condition, exprs) => {
                condition.into_iter().chain(exprs).collect()
            }
        }
    }
}

impl Env {
    /// The template behind a symbol on the system line.
    pub(crate) fn template_of(&self, symbol: &Symbol) -> Option<&Arc<Template>> {
        match &symbol.kind {
            SymKind::Template(sig) => self.templates.get(&sig.body),
            SymKind::Instance(sig) => {
                let instance = self.instances.get(&sig.body)?;
                self.template_of(&instance.template)
            }
            _ => None,
        }
    }
}

impl<'a> Checker<'a> {
    /// A checker for queries that may refer to the processes of `families`.
    pub(crate) fn for_query(
        env: &'a Env,
        item: ItemId,
        families: &'a FxHashMap<SmolStr, Arc<Symbol>>,
    ) -> Checker<'a> {
        let mut checker = Checker::new(env, item);
        checker.in_query = true;
        checker.families = Some(families);
        checker
    }

    /// Makes this a checker for an expression about one state of a trace.
    pub(crate) fn in_state(mut self) -> Checker<'a> {
        self.in_state = true;
        self
    }

    /// Checks a query. Its spans stay relative to the query's own base.
    pub(crate) fn query(mut self, q: &ast::Query) -> CheckedQuery {
        let kind = match &q.kind {
            QueryKind::Error | QueryKind::Heading => None,
            QueryKind::Path(path, e) => {
                let e = self.property(e);
                if matches!(path, PathKind::Eventually | PathKind::PotentiallyAlways) {
                    self.no_deadlock(&e);
                }
                Some(CheckedKind::Path(*path, e))
            }
            QueryKind::LeadsTo(p, q) => {
                let (p, q) = (self.property(p), self.property(q));
                self.no_deadlock(&p);
                self.no_deadlock(&q);
                Some(CheckedKind::LeadsTo(p, q))
            }
            QueryKind::Bounds {
                kind,
                condition,
                exprs,
            } => {
                let condition = condition.as_ref().map(|c| self.property(c));
                let exprs = exprs.iter().map(|e| self.measured(e)).collect();
                Some(CheckedKind::Bounds(*kind, condition, exprs))
            }
            QueryKind::Unsupported(family) => {
                self.unsupported_query(*family, q.span);
                None
            }
        };
        CheckedQuery {
            kind,
            diags: self.out.diags,
        }
    }

    fn unsupported_query(&mut self, family: QueryFamily, span: Span) {
        let (code, what) = match family {
            QueryFamily::Statistical => ("unsupported/statistical", "statistical queries are"),
            QueryFamily::Game => ("unsupported/game", "queries about games are"),
            QueryFamily::Strategy => ("unsupported/strategy", "queries about strategies are"),
            QueryFamily::Learning => ("unsupported/learning", "queries that learn strategies are"),
            QueryFamily::Ecdar => ("unsupported/ecdar", "refinement queries of ECDAR are"),
        };
        let diag = Diag::new(
            code,
            format!("{what} recognised but not answered"),
            self.loc(span),
        );
        self.report(diag);
    }

    fn property(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        let ok = e.ty.is_integral() || matches!(e.ty, Type::Cond(_));
        if !ok && !self.scalar_as_condition(&e) {
            let message = format!("a condition is needed, this is {}", describe(&e.ty));
            self.error_at("query/type", message, e.span);
        }
        self.no_side_effect(&e, "a query");
        e
    }

    fn measured(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        let ok = e.ty.is_integral() || matches!(e.ty, Type::Clock | Type::Diff);
        if !ok {
            let message = format!(
                "sup, inf and bounds measure integers and clocks, this is {}",
                describe(&e.ty)
            );
            self.error_at("query/type", message, e.span);
        }
        self.no_side_effect(&e, "a query");
        e
    }

    fn no_deadlock(&mut self, e: &Expr) {
        let mut at = None;
        e.walk(&mut |e| {
            if matches!(e.kind, ExprKind::Deadlock) {
                at = Some(e.span);
            }
        });
        if let Some(span) = at {
            self.error_at(
                "query/deadlock",
                "`deadlock` is allowed only with `E<>` and `A[]`",
                span,
            );
        }
    }

    /// Checks `P(args)`.
    pub(crate) fn process_call(
        &mut self,
        symbol: &Arc<Symbol>,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let (SymKind::Template(sig) | SymKind::Instance(sig)) = &symbol.kind else {
            return Expr::error(span);
        };
        let sig = Arc::clone(sig);
        if self.arity(symbol, sig.params.len(), args.len(), span) {
            if self.numbered_element(symbol, &sig, &args) {
                return Expr::error(span);
            }
            self.family_args(symbol, &sig, &args);
        }
        Expr {
            kind: ExprKind::Process(symbol.clone(), args),
            ty: Type::Process,
            span,
        }
    }

    fn family_args(&mut self, family: &Symbol, sig: &TemplateSig, args: &[Expr]) {
        for (p, a) in sig.params.iter().zip(args) {
            if a.ty.is_error() || p.ty.is_error() {
                continue;
            }
            let ok = match (&p.ty, &a.ty) {
                (want, have) if want.is_integral() => have.is_integral(),
                (want, have) => crate::types::equivalent(want, have),
            };
            if !ok && !self.scalar_meets(&p.ty, &a.ty, a.span, a.span) {
                let message = format!(
                    "the parameter `{}` is {}, the argument {}",
                    p.name,
                    describe(&p.ty),
                    describe(&a.ty)
                );
                self.error_at("query/type", message, a.span);
            }
            if ok {
                self.known_process(family, p, a);
            }
        }
    }

    /// Checks `P.x`, `P(i).l` and `P.location`.
    pub(crate) fn process_member(&mut self, base: Expr, name: &ast::Ident, span: Span) -> Expr {
        let ExprKind::Process(family, args) = base.kind else {
            return Expr::error(span);
        };
        let listed = self.families.and_then(|f| f.get(&family.name));
        let on_system_line = listed.is_some_and(|s| s.id == family.id);
        if !on_system_line && self.env.incomplete {
            return Expr::error(span);
        }
        if !on_system_line {
            let message = format!(
                "`{}` is not on the system line, so there is no such process",
                family.name
            );
            self.error_at("query/name", message, base.span);
            return Expr::error(span);
        }
        if let SymKind::Template(sig) | SymKind::Instance(sig) = &family.kind
            && sig.params.len() != args.len()
        {
            let names: Vec<&str> = sig.params.iter().map(|p| p.name.as_str()).collect();
            let message = format!(
                "`{}` is a family of processes; say which one: `{}({})`",
                family.name,
                family.name,
                names.join(", ")
            );
            self.error_at("query/type", message, base.span);
            return Expr::error(span);
        }
        let Some(template) = self.env.template_of(&family).cloned() else {
            return Expr::error(span);
        };
        let Some(member) = template.members.get(&name.name).cloned() else {
            if name.name == "location" {
                return Expr {
                    kind: ExprKind::LocationOf(family, args),
                    ty: Type::any_int(),
                    span,
                };
            }
            let message = format!(
                "`{}` has no location or variable `{}`",
                family.name, name.name
            );
            let loc = self.loc(name.span);
            let members = template.members.iter().filter(|(_, s)| {
                matches!(
                    s.kind,
                    SymKind::Location(_) | SymKind::Var(_) | SymKind::Param(_)
                )
            });
            let near = closest(&name.name, members.map(|(n, _)| n.as_str())).map(SmolStr::new);
            let diag = Diag::new("query/name", message, loc)
                .related(template.loc, "the template is declared here");
            let diag = self.did_you_mean(diag, near, loc);
            self.report(diag);
            return Expr::error(span);
        };
        let ty = match &member.kind {
            SymKind::Location(_) => Type::Bool,
            SymKind::Var(_) | SymKind::Param(_) => {
                member.value_type().cloned().unwrap_or(Type::Error)
            }
            _ => {
                let message = format!(
                    "`{}.{}` is {}, not a location or variable",
                    family.name,
                    name.name,
                    member.what()
                );
                self.error("query/name", message, name.span);
                return Expr::error(span);
            }
        };
        let ty = self.known_outside(ty, &family);
        Expr {
            kind: ExprKind::Member {
                family,
                args,
                member,
            },
            ty,
            span,
        }
    }

    /// Checks `P(i).f(…)`.
    pub(crate) fn member_call(
        &mut self,
        base: &ast::Expr,
        name: &ast::Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let base = self.expr(base);
        let call: Vec<Expr> = args.iter().map(|a| self.expr(a)).collect();
        let ExprKind::Process(family, args) = base.kind else {
            if !base.ty.is_error() {
                self.error_at("query/type", "only functions can be called", base.span);
            }
            return Expr::error(span);
        };
        let found = self
            .env
            .template_of(&family)
            .and_then(|t| t.members.get(&name.name))
            .cloned();
        let Some((function, SymKind::Function(sig))) = found.as_ref().map(|s| (s.clone(), &s.kind))
        else {
            let message = format!("`{}` has no function `{}`", family.name, name.name);
            let loc = self.loc(name.span);
            let members = self.env.template_of(&family).map(|t| &t.members);
            let functions = members
                .into_iter()
                .flatten()
                .filter(|(_, s)| matches!(s.kind, SymKind::Function(_)));
            let near = closest(&name.name, functions.map(|(n, _)| n.as_str())).map(SmolStr::new);
            let diag = self.did_you_mean(Diag::new("query/name", message, loc), near, loc);
            self.report(diag);
            return Expr::error(span);
        };
        let sig = Arc::clone(sig);
        if self.arity(&function, sig.params.len(), call.len(), span) {
            for (p, a) in sig.params.iter().zip(&call) {
                self.argument(p, a);
                self.known_argument(p, a);
            }
        }
        Expr {
            ty: sig.ret.clone(),
            kind: ExprKind::MemberCall {
                family,
                args,
                function,
                call,
            },
            span,
        }
    }

    /// The type of a member as seen from outside: a `scalarset` parameter is an element of the set
    /// it was instantiated with.
    fn known_outside(&self, ty: Type, family: &Symbol) -> Type {
        let (Type::Int(int), SymKind::Instance(sig)) = (&ty, &family.kind) else {
            return ty;
        };
        if !int.set.as_ref().is_some_and(|s| s.parameter) {
            return ty;
        }
        match sig.params.first().map(|p| &p.ty) {
            Some(Type::Int(outer)) => Type::Int(IntType {
                lo: Bound::Known(0),
                hi: outer.hi.clone(),
                set: outer.set.clone(),
            }),
            _ => ty,
        }
    }
}
