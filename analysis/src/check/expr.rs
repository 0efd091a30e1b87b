//! Expressions: names, literals, indices, members, quantifiers.

use super::Checker;
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{Home, ParamOf, SymKind, Symbol};
use crate::types::Type;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::ast::{self, ExprKind as A};
use zonelens_syntax::similar::closest;
use zonelens_syntax::span::Span;

/// Whether an expression in a query can refer to the symbol.
fn can_be_asked(s: &Symbol) -> bool {
    s.value_type().is_some() || matches!(s.kind, SymKind::Template(_) | SymKind::Instance(_))
}

impl Checker<'_> {
    /// Checks an expression. About a state of a trace, elements of scalarsets are numbers.
    pub(crate) fn expr(&mut self, e: &ast::Expr) -> Expr {
        let mut e = self.typed(e);
        if self.in_state && matches!(e.ty, Type::Scalar(_)) {
            e.ty = Type::any_int();
        }
        e
    }

    fn typed(&mut self, e: &ast::Expr) -> Expr {
        let span = self.span(e.span);
        match &e.kind {
            A::Error => Expr::error(span),
            A::Int(v) => self.int_literal(*v, span),
            A::Float(s) => Expr {
                kind: ExprKind::Double(s.clone()),
                ty: Type::Double,
                span,
            },
            A::Str(s) => Expr {
                kind: ExprKind::Str(s.clone()),
                ty: Type::Str,
                span,
            },
            A::Bool(b) => Expr {
                kind: ExprKind::Bool(*b),
                ty: Type::Bool,
                span,
            },
            A::Name(ident) => self.name(ident, span),
            A::Paren(inner) => {
                let mut inner = self.expr(inner);
                inner.span = span;
                inner
            }
            A::Unary { op, expr, .. } => self.unary(*op, expr, span),
            A::Binary { op, lhs, rhs, .. } => self.binary(*op, lhs, rhs, span),
            A::Assign { op, lhs, rhs, .. } => self.assign(*op, lhs, rhs, span),
            A::IncDec {
                increment,
                prefix,
                expr,
                ..
            } => self.inc_dec(*increment, *prefix, expr, span),
            A::Cond { cond, then, other } => self.cond(cond, then, other, span),
            A::Index { base, index } => self.index(base, index, span),
            A::Field { base, name } => self.field(base, name, span),
            A::Call { callee, args } => self.call(callee, args, span),
            A::Rate(x) => self.rate(x, span),
            A::Quantifier {
                kind,
                var,
                ty,
                body,
                ..
            } => self.quantifier(*kind, var, ty, body, span),
            A::Deadlock => self.deadlock(span),
            A::Comma(list) => {
                let list: Vec<Expr> = list.iter().map(|e| self.expr(e)).collect();
                let ty = list.last().map_or(Type::Void, |e| e.ty.clone());
                Expr {
                    kind: ExprKind::Comma(list),
                    ty,
                    span,
                }
            }
        }
    }

    fn int_literal(&mut self, v: i64, span: Span) -> Expr {
        match i32::try_from(v) {
            Ok(v) => Expr {
                kind: ExprKind::Int(v),
                ty: Type::any_int(),
                span,
            },
            Err(_) => {
                self.error_at(
                    "type/overflow",
                    "numbers must not exceed 2147483647 (32 bits)",
                    span,
                );
                Expr::error(span)
            }
        }
    }

    fn name(&mut self, ident: &ast::Ident, span: Span) -> Expr {
        let Some(symbol) = self.lookup(&ident.name) else {
            if ident.name == "cost" {
                return self.cost(span);
            }
            match self.in_query {
                true => self.unknown(ident, can_be_asked, &["true", "false", "deadlock"]),
                false => self.unknown(ident, |s| s.value_type().is_some(), &["true", "false"]),
            }
            return Expr::error(span);
        };
        if let Some(ty) = symbol.value_type() {
            let ty = ty.clone();
            self.note_read(&symbol);
            return Expr {
                kind: ExprKind::Var(symbol),
                ty,
                span,
            };
        }
        match &symbol.kind {
            SymKind::Opaque => Expr::error(span),
            SymKind::Template(_) | SymKind::Instance(_) if self.in_query => Expr {
                kind: ExprKind::Process(symbol, Vec::new()),
                ty: Type::Process,
                span,
            },
            _ => {
                self.not_a_value(ident, &symbol);
                Expr::error(span)
            }
        }
    }

    /// Reports `cost` in a model that does not declare it: priced timed automata have it
    /// implicitly.
    fn cost(&mut self, span: Span) -> Expr {
        let message = match self.in_query {
            true => "the cost of runs is not computed, so this query is not answered",
            false => {
                "the cost of runs is not computed; queries that do not mention `cost` are answered"
            }
        };
        self.error_at("unsupported/cost", message, span);
        Expr {
            kind: ExprKind::Cost,
            ty: Type::Error,
            span,
        }
    }

    fn not_a_value(&mut self, ident: &ast::Ident, symbol: &Symbol) {
        let hint = match symbol.kind {
            SymKind::Function(_) | SymKind::Builtin(_) => "; call it with `()`",
            SymKind::Template(_) | SymKind::Instance(_) => {
                "; processes can be named in queries only"
            }
            SymKind::Location(_) => "; a process cannot test its own location, only queries can",
            _ => "",
        };
        let diag = Diag::new(
            "name/not-a-value",
            format!("`{}` is {}, not a value{hint}", ident.name, symbol.what()),
            self.loc(ident.span),
        )
        .related(symbol.loc, "declared here");
        let diag = self.offer_call(diag, ident.span, &symbol.kind);
        self.report(diag);
    }

    /// Notes that the function around a name reads the state, so that its calls are not constant.
    fn note_read(&mut self, symbol: &Symbol) {
        if let Some(f) = &mut self.function {
            match &symbol.kind {
                SymKind::Var(v) => f.reads |= !v.constant && v.home != Home::Function,
                SymKind::Param(p) => {
                    f.reads |= p.of != ParamOf::Function && p.reference && !p.constant;
                }
                _ => {}
            }
        }
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base);
        let index = self.expr(index);
        let ty = match &base.ty {
            Type::Array(a) => {
                let a = Arc::clone(a);
                self.index_value(&a.index, &index);
                self.offer_dimension(&base, &a.index, &index);
                self.known_index(&a.index, &index);
                a.element.clone()
            }
            Type::Error => Type::Error,
            other => {
                let message = format!("only arrays have entries, this is {other}");
                self.error_at("type/index", message, base.span);
                Type::Error
            }
        };
        Expr {
            kind: ExprKind::Index(Box::new(base), Box::new(index)),
            ty,
            span,
        }
    }

    fn field(&mut self, base: &ast::Expr, name: &ast::Ident, span: Span) -> Expr {
        let outer = self.member_span.replace(span);
        let base = self.expr(base);
        self.member_span = outer;
        match &base.ty {
            Type::Struct(s) => {
                let s = Arc::clone(s);
                self.field_of_value(&base);
                match s.fields.iter().position(|(n, _)| *n == name.name) {
                    Some(k) => Expr {
                        ty: s.fields[k].1.clone(),
                        kind: ExprKind::Field(Box::new(base), k as u32),
                        span,
                    },
                    None => {
                        let fields: Vec<&str> = s.fields.iter().map(|(n, _)| n.as_str()).collect();
                        let loc = self.loc(name.span);
                        let message =
                            format!("no field `{}`; there are {}", name.name, fields.join(", "));
                        let diag = Diag::new("type/member", message, loc);
                        let near = closest(&name.name, fields).map(SmolStr::new);
                        let diag = self.did_you_mean(diag, near, loc);
                        self.report(diag);
                        Expr::error(span)
                    }
                }
            }
            Type::Process => self.process_member(base, name, span),
            Type::Error => Expr::error(span),
            other => {
                let message = format!("only structs have fields, this is {other}");
                self.error_at("type/member", message, base.span);
                Expr::error(span)
            }
        }
    }

    /// Reports a field of a computed value: it is not stored anywhere, so instantiation cannot
    /// resolve it.
    fn field_of_value(&mut self, base: &Expr) {
        let mut at = base;
        while let ExprKind::Index(inner, _) | ExprKind::Field(inner, _) = &at.kind {
            at = inner;
        }
        if matches!(
            at.kind,
            ExprKind::Call(..)
                | ExprKind::MemberCall { .. }
                | ExprKind::Cond(..)
                | ExprKind::Assign(..)
        ) {
            let message = "a part of a computed value is recognised, but queries that need it are not answered; store the value in a variable, or let a function return the part itself";
            self.error_at("unsupported/expression", message, base.span);
        }
    }

    fn rate(&mut self, x: &ast::Expr, span: Span) -> Expr {
        let x = self.expr(x);
        if !matches!(x.ty, Type::Clock | Type::Error) {
            let message = format!("only clocks have a rate, this is {}", x.ty);
            self.error_at("type/operand", message, x.span);
            return Expr::error(span);
        }
        Expr {
            kind: ExprKind::Rate(Box::new(x)),
            ty: Type::Rate,
            span,
        }
    }

    fn quantifier(
        &mut self,
        kind: ast::QuantifierKind,
        var: &ast::Ident,
        ty: &ast::TypeExpr,
        body: &ast::Expr,
        span: Span,
    ) -> Expr {
        let ty = self.iterated_type(ty);
        let nothing = ty.empty_range().is_some();
        let symbol = self.symbol(var, SymKind::Bound(ty));
        self.push_scope();
        self.declare(symbol.clone());
        let body = self.maybe_unreached(nothing, |me| me.expr(body));
        self.pop_scope();
        let ty = self.quantified_type(kind, &body);
        if self.effect_of(&body) {
            self.error_at(
                "type/side-effect",
                "a quantified expression must not change anything",
                body.span,
            );
        }
        Expr {
            kind: ExprKind::Quantifier {
                kind,
                var: symbol,
                body: Box::new(body),
            },
            ty,
            span,
        }
    }

    fn deadlock(&mut self, span: Span) -> Expr {
        if !self.in_query {
            self.error_at(
                "type/operand",
                "`deadlock` is allowed only in queries",
                span,
            );
            return Expr::error(span);
        }
        Expr {
            kind: ExprKind::Deadlock,
            ty: Type::Cond(crate::types::CondClass::Constraint),
            span,
        }
    }
}
