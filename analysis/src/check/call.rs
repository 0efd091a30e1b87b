//! Calls of functions and, in queries, references to processes of families.

use super::Checker;
use super::operators::describe;
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{FnSig, ParamSig, SymKind, Symbol};
use crate::types::{ChanType, Type, equivalent};
use std::sync::Arc;
use zonelens_syntax::ast::{self, ExprKind as A};
use zonelens_syntax::span::Span;

/// Keywords that can precede a `(`.
const CALL_WORDS: &[&str] = &[
    "and", "exists", "for", "forall", "if", "imply", "not", "or", "return", "sum", "switch",
    "while",
];

fn is_called(s: &Symbol) -> bool {
    matches!(s.kind, SymKind::Function(_) | SymKind::Builtin(_))
}

fn is_called_in_query(s: &Symbol) -> bool {
    is_called(s) || matches!(s.kind, SymKind::Template(_) | SymKind::Instance(_))
}

impl Checker<'_> {
    /// `f(args)` or `P(args)`
    pub(crate) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        if let A::Field { base, name } = &callee.kind
            && self.in_query
        {
            return self.member_call(base, name, args, span);
        }
        let A::Name(ident) = &callee.kind else {
            self.error("type/call", "only functions can be called", callee.span);
            for a in args {
                self.expr(a);
            }
            return Expr::error(span);
        };
        if self.function.as_ref().is_some_and(|f| f.name == ident.name)
            && self.frames.iter().all(|f| !f.contains_key(&ident.name))
        {
            self.error(
                "type/recursion",
                format!(
                    "`{}` calls itself; functions cannot be recursive",
                    ident.name
                ),
                ident.span,
            );
            return Expr::error(span);
        }
        let Some(symbol) = self.lookup(&ident.name) else {
            let wanted: fn(&Symbol) -> bool = match self.in_query {
                true => is_called_in_query,
                false => is_called,
            };
            self.unknown(ident, wanted, CALL_WORDS);
            for a in args {
                self.expr(a);
            }
            return Expr::error(span);
        };
        let args: Vec<Expr> = args.iter().map(|a| self.expr(a)).collect();
        match &symbol.kind {
            SymKind::Function(sig) => {
                let sig = Arc::clone(sig);
                self.check_call(&symbol, &sig, &args, span);
                Expr {
                    ty: sig.ret.clone(),
                    kind: ExprKind::Call(symbol, args),
                    span,
                }
            }
            SymKind::Builtin(b) => {
                let b = *b;
                self.arity(&symbol, b.arity(), args.len(), span);
                for a in &args {
                    if !a.ty.is_number_or_clock()
                        && !self.scalar_meets(&Type::any_int(), &a.ty, a.span, a.span)
                    {
                        let message = format!(
                            "`{}` takes numbers, this is {}",
                            symbol.name,
                            describe(&a.ty)
                        );
                        self.error_at("type/argument", message, a.span);
                    }
                }
                Expr {
                    ty: b.ret(),
                    kind: ExprKind::Builtin(b, args),
                    span,
                }
            }
            SymKind::Template(_) | SymKind::Instance(_) if self.in_query => {
                self.process_call(&symbol, args, span)
            }
            SymKind::Opaque => Expr::error(span),
            _ => {
                let diag = Diag::new(
                    "type/call",
                    format!(
                        "`{}` is {}, it cannot be called",
                        symbol.name,
                        symbol.what()
                    ),
                    self.loc(ident.span),
                )
                .related(symbol.loc, "declared here");
                self.report(diag);
                Expr::error(span)
            }
        }
    }

    /// Whether the number of arguments is right. Reports an error if it is not.
    pub(crate) fn arity(&mut self, symbol: &Symbol, want: usize, have: usize, span: Span) -> bool {
        if want == have {
            return true;
        }
        let diag = Diag::new(
            "type/argument-count",
            format!(
                "`{}` takes {want} argument{}, not {have}",
                symbol.name,
                if want == 1 { "" } else { "s" }
            ),
            self.here(span),
        )
        .related(symbol.loc, "declared here");
        self.report(diag);
        false
    }

    fn check_call(&mut self, symbol: &Symbol, sig: &FnSig, args: &[Expr], span: Span) {
        if let Some(f) = &mut self.function {
            f.writes |= sig.writes;
            f.reads |= sig.reads;
        }
        self.arity(symbol, sig.params.len(), args.len(), span);
        for (p, a) in sig.params.iter().zip(args) {
            self.argument(p, a);
            self.known_argument(p, a);
            if p.reference && p.written && self.denotes_variable(a) {
                self.lvalue(a);
            }
        }
    }

    /// Checks an argument of a function against its parameter.
    pub(crate) fn argument(&mut self, p: &ParamSig, a: &Expr) {
        if a.ty.is_error() || p.ty.is_error() {
            if !p.reference {
                self.offer_operand(&p.ty, a);
            }
            return;
        }
        let ok = match (&p.ty, &a.ty) {
            (Type::Chan(want), Type::Chan(have)) => channel_fits(*want, *have),
            (want, have) if p.reference && !p.constant => match (want, have) {
                (Type::Int(_), Type::Int(_)) | (Type::Bool, Type::Bool) => true,
                (Type::Int(_) | Type::Bool, Type::Int(_) | Type::Bool) => false,
                (a, b) => equivalent(a, b),
            },
            (want, have) if want.is_integral() => have.is_integral(),
            (Type::Double, have) => have.is_number_or_clock(),
            (want, have) => equivalent(want, have),
        };
        if !ok && !self.scalar_meets(&p.ty, &a.ty, a.span, a.span) {
            let message = format!(
                "the parameter `{}` is {}, the argument {}",
                p.name,
                describe(&p.ty),
                describe(&a.ty)
            );
            self.error_at("type/argument", message, a.span);
            return;
        }
        if p.reference && !p.constant && !self.denotes_variable(a) {
            let message = format!(
                "the parameter `{}` is a reference (`&`), so the argument must be a variable",
                p.name
            );
            self.error_at("type/argument", message, a.span);
        }
    }

    /// Whether an expression denotes a variable that may be changed.
    pub(crate) fn denotes_variable(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(s) => !s.is_constant(),
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => self.denotes_variable(base),
            ExprKind::Cond(_, a, b) => self.denotes_variable(a) && self.denotes_variable(b),
            ExprKind::Assign(..) | ExprKind::IncDec { prefix: true, .. } | ExprKind::Error => true,
            _ => false,
        }
    }
}

/// Whether a channel of type `have` may be passed for `want`. Urgent channels have the fewest
/// capabilities, then broadcast, then plain; a channel may only be passed where equal or fewer are
/// required.
pub(super) fn channel_fits(want: ChanType, have: ChanType) -> bool {
    let rank = |c: ChanType| {
        if c.urgent {
            0
        } else if c.broadcast {
            1
        } else {
            2
        }
    };
    rank(have) >= rank(want)
}
