//! Instantiation, the system line, priorities, progress measures and gantt charts.

use super::call::channel_fits;
use super::function::param_sig;
use super::operators::describe;
use super::{Body, Checker};
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Expr, ExprKind, Instance, PriorityElem};
use crate::symbol::{ParamOf, ParamSig, ParamSym, SymKind, Symbol, TemplateSig};
use crate::types::{Bound, DEFAULT_INT, Type, equivalent};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::{self, ExprKind as A};

/// The most processes a model may have.
const MAX_PROCESSES: u64 = 100_000;

impl Checker<'_> {
    /// Checks `P(params) = Q(args);` and the notations of older papers.
    pub(crate) fn instantiation(&mut self, i: &ast::Instantiation) {
        self.push_scope();
        let mut params = match &i.params {
            Some(p) => self.params(p, ParamOf::Instance),
            None => Vec::new(),
        };
        for (ident, ty) in &i.binders {
            let ty = self.iterated_type(ty);
            let symbol = self.set_param(ident, ty, params.len());
            self.declare(symbol.clone());
            params.push(symbol);
        }
        let template = self.template_named(&i.template);
        let args: Vec<Expr> = i
            .args
            .iter()
            .map(|a| self.instance_arg(a, &mut params))
            .collect();
        self.pop_scope();
        let restricted = match &template {
            Some((symbol, sig)) => self.instance_args(symbol, sig, &args, i),
            None => FxHashSet::default(),
        };
        let sigs = params
            .iter()
            .filter_map(|s| param_sig(s, false, restricted.contains(&s.id)))
            .collect();
        let sig = TemplateSig {
            params: sigs,
            body: self.body_id(&i.name.name),
        };
        let kind = match &template {
            Some(_) => SymKind::Instance(Arc::new(sig)),
            None => SymKind::Opaque,
        };
        let symbol = self.symbol(&i.name, kind);
        self.declare(symbol.clone());
        if let Some((template, _)) = template {
            let span = self.span(i.template.span.cover(i.args_span));
            self.out.body = Body::Instance(Arc::new(Instance {
                symbol,
                params,
                template,
                args,
                span,
            }));
        }
    }

    fn set_param(&self, ident: &ast::Ident, ty: Type, position: usize) -> Arc<Symbol> {
        self.symbol(
            ident,
            SymKind::Param(ParamSym {
                ty,
                reference: false,
                constant: true,
                of: ParamOf::Instance,
                position: position as u32,
            }),
        )
    }

    /// Checks an argument; the name of a set stands for all its elements (`Procs := P(pid);`).
    fn instance_arg(&mut self, a: &ast::Expr, params: &mut Vec<Arc<Symbol>>) -> Expr {
        if let A::Name(ident) = &a.kind
            && let Some(found) = self.lookup(&ident.name)
            && let SymKind::Type(ty, _) = &found.kind
            && ty.any_set().is_some()
        {
            let symbol = self.set_param(ident, ty.clone(), params.len());
            params.push(symbol.clone());
            return Expr {
                ty: ty.clone(),
                kind: ExprKind::Var(symbol),
                span: self.span(a.span),
            };
        }
        self.expr(a)
    }

    fn template_named(&mut self, ident: &ast::Ident) -> Option<(Arc<Symbol>, Arc<TemplateSig>)> {
        let Some(symbol) = self.lookup(&ident.name) else {
            let loc = self.loc(ident.span);
            let message = format!("there is no template `{}`", ident.name);
            let diag = Diag::new("system/not-a-template", message, loc);
            let wanted = |s: &Symbol| matches!(s.kind, SymKind::Template(_) | SymKind::Instance(_));
            let near = self.similar(&ident.name, wanted, &[]);
            let diag = self.did_you_mean(diag, near, loc);
            self.report(diag);
            return None;
        };
        match &symbol.kind {
            SymKind::Template(sig) | SymKind::Instance(sig) => {
                let sig = Arc::clone(sig);
                Some((symbol, sig))
            }
            SymKind::Opaque => None,
            _ => {
                let diag = Diag::new(
                    "system/not-a-template",
                    format!("`{}` is {}, not a template", ident.name, symbol.what()),
                    self.loc(ident.span),
                )
                .related(symbol.loc, "declared here");
                self.report(diag);
                None
            }
        }
    }

    /// Checks arguments. Returns the instance's own parameters that sizes depend on.
    fn instance_args(
        &mut self,
        symbol: &Symbol,
        sig: &TemplateSig,
        args: &[Expr],
        i: &ast::Instantiation,
    ) -> FxHashSet<u32> {
        let mut restricted = FxHashSet::default();
        let span = self.span(i.args_span.cover(i.template.span));
        self.arity(symbol, sig.params.len(), args.len(), span);
        for (p, a) in sig.params.iter().zip(args) {
            self.process_argument(p, a);
            if p.restricted {
                self.parameters_of(a, &mut restricted);
            }
        }
        restricted
    }

    fn process_argument(&mut self, p: &ParamSig, a: &Expr) {
        if a.ty.is_error() || p.ty.is_error() {
            return;
        }
        // A `scalarset` parameter accepts an element of any set declared with `scalarset`.
        if p.ty.any_set().is_some_and(|s| s.parameter) {
            if a.ty.any_set().is_none() && !a.ty.is_integral() {
                let message = format!(
                    "the parameter `{}` stands for a scalarset, the argument is {}",
                    p.name,
                    describe(&a.ty)
                );
                self.error_at("system/argument", message, a.span);
            }
            return;
        }
        let reference = p.reference && !p.constant;
        let ok = match (&p.ty, &a.ty) {
            (Type::Chan(want), Type::Chan(have)) => channel_fits(*want, *have),
            (Type::Array(_), Type::Array(_)) if matches!(p.ty.innermost(), Type::Chan(_)) => {
                channel_arrays_fit(&p.ty, &a.ty)
            }
            (Type::Bool, Type::Int(_)) | (Type::Int(_), Type::Bool) if reference => self.env.legacy,
            (want, have) if want.is_integral() => have.is_integral(),
            (Type::Double, have) => have.is_number(),
            (want, have) => equivalent(want, have),
        };
        if !ok {
            if !self.scalar_meets(&p.ty, &a.ty, a.span, a.span) {
                let message = format!(
                    "the parameter `{}` is {}, the argument {}",
                    p.name,
                    describe(&p.ty),
                    describe(&a.ty)
                );
                self.error_at("system/argument", message, a.span);
            }
            return;
        }
        self.argument_kind(p, a, reference);
        self.known_process_argument(p, a);
    }

    fn argument_kind(&mut self, p: &ParamSig, a: &Expr, reference: bool) {
        if reference {
            let fixed = self.fixed_variable(a);
            let value = self.env.legacy && self.is_computable(a);
            if !fixed && !value {
                let message = format!(
                    "the parameter `{}` is a reference (`&`), so the argument must be one fixed variable",
                    p.name
                );
                self.error_at("system/argument", message, a.span);
            }
        } else {
            let known = self.is_computable(a) || (p.reference && self.fixed_variable(a));
            if known || p.ty.is_error() {
                return;
            }
            if let Some(set) = a.ty.scalar() {
                let message = format!(
                    "a variable of the scalarset `{}` is not a fixed element; leave the parameter free to get one process per element",
                    set.name
                );
                self.error_at("system/argument", message, a.span);
            } else {
                self.not_constant(a.span);
            }
        }
    }

    /// Whether an expression denotes a single variable that is known at instantiation.
    fn fixed_variable(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(s) => match &s.kind {
                SymKind::Var(v) => !v.constant,
                SymKind::Param(p) => p.reference,
                _ => false,
            },
            ExprKind::Index(base, i) => self.fixed_variable(base) && self.is_computable(i),
            ExprKind::Field(base, _) => self.fixed_variable(base),
            _ => false,
        }
    }

    /// Checks `system A, B < C;`.
    pub(crate) fn system_line(&mut self, s: &ast::SystemLine) {
        let mut levels = Vec::new();
        let mut seen: Vec<Arc<Symbol>> = Vec::new();
        for level in &s.levels {
            let mut names = Vec::new();
            for ident in level {
                let Some((symbol, sig)) = self.template_named(ident) else {
                    // Suppresses errors about the unknown process in queries.
                    self.out.incomplete = true;
                    continue;
                };
                self.free_parameters(&symbol, &sig, ident);
                if seen.iter().any(|s| s.id == symbol.id) {
                    let loc = self.loc(ident.span);
                    let message = format!(
                        "`{}` is on the system line twice; give the second one a different name",
                        ident.name
                    );
                    let diag = Diag::new("system/duplicate-process", message, loc)
                        .repair("Remove it", vec![Change::Entry(loc)]);
                    self.report(diag);
                    continue;
                }
                seen.push(symbol.clone());
                names.push((symbol, self.loc(ident.span)));
            }
            levels.push(names);
        }
        self.out.body = Body::System(levels);
    }

    fn free_parameters(&mut self, symbol: &Symbol, sig: &TemplateSig, ident: &ast::Ident) {
        let count = sig.params.iter().try_fold(1u64, |n, p| {
            let len = match &p.ty {
                Type::Int(int) => i64::from(int.hi.known()?) - i64::from(int.lo.known()?) + 1,
                Type::Scalar(set) => i64::from(set.size.known()?),
                _ => return None,
            };
            Some(n.saturating_mul(u64::try_from(len).unwrap_or(0)))
        });
        if let Some(n) = count
            && n > MAX_PROCESSES
            && !sig.params.iter().any(|p| p.ty == Type::default_int())
        {
            let diag = Diag::new(
                "system/size",
                format!("the free parameters of `{}` multiply to {n} processes; at most {MAX_PROCESSES} are possible", ident.name),
                self.loc(ident.span),
            )
            .related(symbol.loc, "its parameters are declared here");
            self.report(diag);
        }
        for p in &sig.params {
            let bounded = match &p.ty {
                Type::Int(int) => {
                    let ends = (&int.lo, &int.hi);
                    p.ty.any_set().is_some_and(|s| !s.parameter)
                        || !matches!(ends, (Bound::Known(lo), Bound::Known(hi)) if (*lo, *hi) == DEFAULT_INT || *hi >= i32::MAX - 1)
                }
                Type::Scalar(_) | Type::Bool | Type::Error => true,
                _ => false,
            };
            let why = if p.reference && !p.ty.is_error() {
                "it is a reference, so it must be given a variable"
            } else if !bounded {
                "only bounded integers such as `int[0,3]` and scalars can be left free"
            } else if p.restricted {
                "the size of something in the template depends on it"
            } else {
                continue;
            };
            let diag = Diag::new(
                "system/free-parameter",
                format!("the parameter `{}` of `{}` cannot be left free: {why}. Write `Name = {}(…);` and list that", p.name, symbol.name, symbol.name),
                self.loc(ident.span),
            )
            .related(symbol.loc, "the template is declared here");
            self.report(diag);
        }
    }

    /// Checks `chan priority …;`.
    pub(crate) fn chan_priority(&mut self, p: &ast::ChanPriority) {
        let mut levels = Vec::new();
        for level in &p.levels {
            let mut out = Vec::new();
            for elem in level {
                match elem {
                    ast::PriorityElem::Default(_) => out.push(PriorityElem::Default),
                    ast::PriorityElem::Channel(e) => {
                        let e = self.expr(e);
                        if !matches!(e.ty.innermost(), Type::Chan(_) | Type::Error) {
                            let message =
                                format!("a channel is needed, this is {}", describe(&e.ty));
                            self.error_at("type/sync", message, e.span);
                        }
                        out.push(PriorityElem::Channel(e));
                    }
                }
            }
            levels.push(out);
        }
        self.out.body = Body::ChanPriority(levels);
    }

    /// Checks `progress { … }`.
    pub(crate) fn progress(&mut self, p: &ast::Progress) {
        for (guard, measure) in &p.measures {
            for e in guard.iter().chain(std::iter::once(measure)) {
                let e = self.expr(e);
                if !e.ty.is_integral() && !self.scalar_as_condition(&e) {
                    let message = format!(
                        "a progress measure is an integer, this is {}",
                        describe(&e.ty)
                    );
                    self.error_at("type/mismatch", message, e.span);
                }
                self.no_side_effect(&e, "a progress measure");
            }
        }
    }
}

fn channel_arrays_fit(want: &Type, have: &Type) -> bool {
    match (want, have) {
        (Type::Array(a), Type::Array(b)) => {
            crate::types::same_index(&a.index, &b.index)
                && channel_arrays_fit(&a.element, &b.element)
        }
        (Type::Chan(a), Type::Chan(b)) => channel_fits(*a, *b),
        (Type::Error, _) | (_, Type::Error) => true,
        _ => false,
    }
}
