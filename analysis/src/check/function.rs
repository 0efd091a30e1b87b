//! Functions and statements.

use super::{Checker, FnContext};
use crate::diag::Diag;
use crate::hir::{Block, Decl, Expr, Function, Stmt, StmtKind};
use crate::symbol::{FnSig, Home, ParamOf, ParamSig, ParamSym, SymKind, Symbol};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::{self, BlockDecl, StmtKind as A};
use zonelens_syntax::span::Span;

impl Checker<'_> {
    /// Checks `T f(params) { … }`.
    pub(crate) fn function(&mut self, f: &ast::Function) {
        let ret = self.type_expr(&f.ty, None).ty;
        self.return_type(&ret, f.ty.span);
        self.push_scope();
        let params = self.params(&f.params, ParamOf::Function);
        self.function = Some(FnContext {
            name: f.name.name.clone(),
            ret: ret.clone(),
            writes: false,
            reads: false,
            written: FxHashSet::default(),
            loops: 0,
            unreadable: false,
        });
        let body = self.block_in_scope(&f.body);
        self.pop_scope();
        let Some(context) = self.function.take() else {
            return;
        };
        if !context.unreadable {
            self.missing_return(&ret, &body, f);
        }
        let sigs = params
            .iter()
            .filter_map(|p| param_sig(p, context.written.contains(&p.id), false))
            .collect();
        let sig = FnSig {
            params: sigs,
            ret: ret.clone(),
            writes: context.writes,
            reads: context.reads,
            body: self.body_id(&f.name.name),
        };
        let symbol = self.symbol(&f.name, SymKind::Function(Arc::new(sig)));
        self.declare(symbol.clone());
        let loc = self.loc(f.name.span);
        self.out.functions.push(Arc::new(Function {
            symbol,
            params,
            ret,
            body,
            loc,
        }));
    }

    fn return_type(&mut self, ret: &Type, span: Span) {
        self.bound_entries("a result", ret, true, span);
        let ok = match ret {
            Type::Clock | Type::Chan(_) | Type::Str | Type::Array(_) => false,
            Type::Struct(_) => !ret.contains(&|t| matches!(t, Type::Clock | Type::Chan(_))),
            _ => true,
        };
        if !ok {
            self.error(
                "type/return",
                format!("a function cannot return {ret}"),
                span,
            );
        }
    }

    fn missing_return(&mut self, ret: &Type, body: &Block, f: &ast::Function) {
        if matches!(ret, Type::Void | Type::Error) || !falls_through(&body.stmts) {
            return;
        }
        let span = Span::new(
            f.body.span.end.saturating_sub(1).max(f.body.span.start),
            f.body.span.end,
        );
        let diag = Diag::new(
            "lint/missing-return",
            format!(
                "`{}` can end without `return`; its result is then {}",
                f.name.name,
                if ret.scalar().is_some() {
                    "the first element"
                } else {
                    "0"
                }
            ),
            self.loc(span),
        );
        let value = match ret {
            Type::Int(int) => match (int.lo.known(), int.hi.known()) {
                (Some(lo), Some(hi)) if lo <= 0 && 0 <= hi => Some("0"),
                _ => None,
            },
            Type::Bool => Some("false"),
            _ => None,
        };
        let diag = match value {
            Some(value) => {
                let end = self.loc(Span::new(span.start, span.start));
                diag.fix(
                    format!("Return {value} at the end"),
                    end,
                    format!("return {value}; "),
                )
            }
            None => diag,
        };
        self.report(diag);
    }

    /// Declares parameters in the innermost scope.
    pub(crate) fn params(&mut self, params: &ast::Params, of: ParamOf) -> Vec<Arc<Symbol>> {
        let mut out = Vec::new();
        for (position, p) in params.list.iter().enumerate() {
            let written = self.type_expr(&p.ty, Some(&p.name.name));
            let ty = self.dimensions(written.ty, &p.dims);
            let mut reference = p.reference;
            if matches!(ty.innermost(), Type::Chan(_) | Type::Clock) && !reference {
                reference = true;
                if !self.env.legacy && of != ParamOf::Instance {
                    self.by_reference(p, &ty);
                }
            }
            if matches!(ty, Type::Void) {
                self.error("type/void", "a parameter cannot be void", p.span);
            }
            let local = of == ParamOf::Function && !reference;
            self.bound_entries(&format!("`{}`", p.name.name), &ty, local, p.name.span);
            // In the 3.x syntax, parameters that are not constant are references.
            let set_param = ty.any_set().is_some_and(|s| s.parameter);
            if self.env.legacy && of == ParamOf::Template && !written.constant && !set_param {
                reference = true;
            }
            let symbol = self.symbol(
                &p.name,
                SymKind::Param(ParamSym {
                    ty,
                    reference,
                    constant: written.constant,
                    of,
                    position: position as u32,
                }),
            );
            self.declare(symbol.clone());
            out.push(symbol);
        }
        out
    }

    fn by_reference(&mut self, p: &ast::Param, ty: &Type) {
        let what = if matches!(ty.innermost(), Type::Clock) {
            "a clock"
        } else {
            "a channel"
        };
        let at = self.loc(Span::new(p.name.span.start, p.name.span.start));
        let diag = Diag::new(
            "type/reference",
            format!(
                "{what} cannot be copied; pass `{}` by reference with `&`",
                p.name.name
            ),
            self.loc(p.name.span),
        )
        .fix("Insert `&`", at, "&")
        .safe();
        self.report(diag);
    }

    fn block(&mut self, b: &ast::Block) -> Block {
        self.push_scope();
        let block = self.block_in_scope(b);
        self.pop_scope();
        block
    }

    fn block_in_scope(&mut self, b: &ast::Block) -> Block {
        let mut decls: Vec<Decl> = Vec::new();
        for d in &b.decls {
            match d {
                BlockDecl::Var(v, _) => decls.extend(self.declare_vars(v, Home::Function)),
                BlockDecl::Typedef(t, _) => self.typedef(t),
            }
        }
        let stmts = b.stmts.iter().map(|s| self.stmt(s)).collect();
        Block { decls, stmts }
    }

    fn condition(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        self.statement_condition(&e);
        e
    }

    fn looped(&mut self, body: &ast::Stmt) -> Box<Stmt> {
        if let Some(f) = &mut self.function {
            f.loops += 1;
        }
        let body = Box::new(self.stmt(body));
        if let Some(f) = &mut self.function {
            f.loops -= 1;
        }
        body
    }

    fn stmt(&mut self, s: &ast::Stmt) -> Stmt {
        let kind = match &s.kind {
            A::Error => {
                if let Some(f) = &mut self.function {
                    f.unreadable = true;
                }
                StmtKind::Empty
            }
            A::Empty => StmtKind::Empty,
            A::Block(b) => StmtKind::Block(self.block(b)),
            A::Expr(e) => {
                let e = self.expr(e);
                self.statement_effect(&e);
                StmtKind::Expr(e)
            }
            A::For {
                init,
                cond,
                step,
                body,
            } => {
                let init = self.expr(init);
                let cond = self.condition(cond);
                let step = self.expr(step);
                StmtKind::For(init, cond, step, self.looped(body))
            }
            A::Iterate { var, ty, body } => {
                let ty = self.iterated_type(ty);
                let symbol = self.symbol(var, SymKind::Bound(ty));
                self.push_scope();
                self.declare(symbol.clone());
                let body = self.looped(body);
                self.pop_scope();
                StmtKind::Iterate(symbol, body)
            }
            A::While { cond, body } => {
                let cond = self.condition(cond);
                StmtKind::While(cond, self.looped(body))
            }
            A::DoWhile { body, cond } => {
                let body = self.looped(body);
                StmtKind::DoWhile(body, self.condition(cond))
            }
            A::If { cond, then, other } => {
                let cond = self.condition(cond);
                let then = Box::new(self.stmt(then));
                let other = other.as_ref().map(|s| Box::new(self.stmt(s)));
                StmtKind::If(cond, then, other)
            }
            A::Return(e) => self.return_stmt(e.as_ref(), s.span),
            A::Assert(e) => StmtKind::Assert(self.condition(e)),
            A::Break => StmtKind::Break,
            A::Continue => StmtKind::Continue,
            A::Switch { value, cases } => self.switch(value, cases),
        };
        if matches!(kind, StmtKind::Break | StmtKind::Continue)
            && self.function.as_ref().is_some_and(|f| f.loops == 0)
        {
            self.error("type/loop", "there is no loop around this", s.span);
        }
        Stmt {
            kind,
            span: self.span(s.span),
        }
    }

    fn statement_effect(&mut self, e: &Expr) {
        if e.ty.is_error() || self.effect_of(e) {
            return;
        }
        if matches!(e.kind, crate::hir::ExprKind::Call(..)) {
            return;
        }
        let diag = Diag::new(
            "lint/no-effect",
            "this statement changes nothing",
            self.here(e.span),
        );
        let diag = self.offer_assignment(diag, e);
        self.report(diag);
    }

    fn return_stmt(&mut self, e: Option<&ast::Expr>, span: Span) -> StmtKind {
        let e = e.map(|e| self.expr(e));
        let Some(ret) = self.function.as_ref().map(|f| f.ret.clone()) else {
            return StmtKind::Return(e);
        };
        match (&e, &ret) {
            (_, Type::Error) | (None, Type::Void) => {}
            (None, _) => self.error(
                "type/return",
                format!("a value of type {ret} must be returned"),
                span,
            ),
            (Some(e), Type::Void) => {
                self.error_at("type/return", "a void function returns no value", e.span);
            }
            (Some(e), ret) => {
                self.offer_operand(ret, e);
                self.assignable(ret, e, e.span);
            }
        }
        StmtKind::Return(e)
    }

    fn switch(&mut self, value: &ast::Expr, cases: &[ast::Case]) -> StmtKind {
        let value = self.condition(value);
        let mut out = Vec::new();
        if let Some(f) = &mut self.function {
            f.loops += 1;
        }
        for case in cases {
            let label = case.value.as_ref().map(|v| self.expr(v));
            let stmts = case.stmts.iter().map(|s| self.stmt(s)).collect();
            out.push((label, stmts));
        }
        if let Some(f) = &mut self.function {
            f.loops -= 1;
        }
        StmtKind::Switch(value, out)
    }
}

/// The signature of a parameter symbol.
pub(super) fn param_sig(p: &Symbol, written: bool, restricted: bool) -> Option<ParamSig> {
    let SymKind::Param(sym) = &p.kind else {
        return None;
    };
    Some(ParamSig {
        name: p.name.clone(),
        ty: sym.ty.clone(),
        reference: sym.reference,
        constant: sym.constant,
        written,
        restricted,
    })
}

/// Whether control can reach the end of the statements.
fn falls_through(stmts: &[Stmt]) -> bool {
    !stmts.iter().any(|s| match &s.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(b) => !falls_through(&b.stmts),
        StmtKind::If(_, a, Some(b)) => {
            !falls_through(std::slice::from_ref(a)) && !falls_through(std::slice::from_ref(b))
        }
        StmtKind::While(c, _) => matches!(
            c.kind,
            crate::hir::ExprKind::Bool(true) | crate::hir::ExprKind::Int(1)
        ),
        _ => false,
    })
}
