//! Operators: the operands they accept and the class of condition they produce.

use super::Checker;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{Home, ParamOf, SymKind};
use crate::types::{CondClass, Type, equivalent};
use zonelens_syntax::ast::{self, AssignOp, BinaryOp, ExprKind as A, QuantifierKind, UnaryOp};
use zonelens_syntax::span::Span;

/// The class of a condition: `None` if the type is not one, `Some(None)` for integers and booleans,
/// which are allowed everywhere.
fn class(ty: &Type) -> Option<Option<CondClass>> {
    match ty {
        Type::Cond(c) => Some(Some(*c)),
        t if t.is_integral() => Some(None),
        _ => None,
    }
}

fn is_bound(ty: &Type) -> bool {
    ty.is_number()
}

impl Checker<'_> {
    /// Checks `op e`.
    pub(crate) fn unary(&mut self, op: UnaryOp, e: &ast::Expr, span: Span) -> Expr {
        // -2147483648 is the only number whose magnitude does not fit.
        if op == UnaryOp::Minus && matches!(e.kind, A::Int(2_147_483_648)) {
            return Expr {
                kind: ExprKind::Int(i32::MIN),
                ty: Type::any_int(),
                span,
            };
        }
        let e = self.expr(e);
        let ty = match (op, &e.ty) {
            (_, Type::Error) => Type::Error,
            (_, Type::Scalar(_)) => {
                self.scalar_operand(op, &e, span);
                Type::Error
            }
            (UnaryOp::Not, t) => match class(t) {
                Some(None) => Type::Bool,
                Some(Some(_)) => Type::Cond(CondClass::Constraint),
                None => self.bad_operand("!", &e),
            },
            (_, Type::Double) => Type::Double,
            (_, t) if t.is_integral() => Type::any_int(),
            _ => self.bad_operand("-", &e),
        };
        Expr {
            kind: ExprKind::Unary(op, Box::new(e)),
            ty,
            span,
        }
    }

    fn bad_operand(&mut self, op: &str, e: &Expr) -> Type {
        let message = format!("`{op}` does not take {}", describe(&e.ty));
        self.error_at("type/operand", message, e.span);
        Type::Error
    }

    /// Checks `a op b`.
    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
    ) -> Expr {
        let (ast_a, ast_b) = (a, b);
        let a = self.expr(a);
        let b = self.right_side(op, &a, |me| me.expr(b));
        let ty = if a.ty.is_error() || b.ty.is_error() {
            if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                self.offer_operand(&a.ty, &b);
                self.offer_operand(&b.ty, &a);
            }
            self.offer_declaration(ast_a, &b.ty);
            self.offer_declaration(ast_b, &a.ty);
            Type::Error
        } else {
            match binary_type(op, &a.ty, &b.ty) {
                Some(ty) => ty,
                None => {
                    if !self.scalar_operands(op, &a, &b, span) {
                        let message = format!(
                            "`{}` does not combine {} and {}",
                            spelling(op),
                            describe(&a.ty),
                            describe(&b.ty)
                        );
                        self.error_at("type/operand", message, span);
                    }
                    Type::Error
                }
            }
        };
        let ty = self.clock_in_function(ty, &a.ty, &b.ty, span);
        Expr {
            kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
            ty,
            span,
        }
    }

    /// Reports a comparison of clocks inside a function. Verification does not support it: zones
    /// would have to be split inside the call. The comparison gets type `bool`, so that the rest of
    /// the function is checked as usual.
    fn clock_in_function(&mut self, ty: Type, a: &Type, b: &Type, span: Span) -> Type {
        let atom = |t: &Type| !matches!(t, Type::Cond(_));
        if self.function.is_none() || !matches!(ty, Type::Cond(_)) || !atom(a) || !atom(b) {
            return ty;
        }
        let message = "a clock is compared inside a function: recognised, but queries that need this function are not answered; compare the clock in a guard, an invariant or the query itself";
        self.error_at("unsupported/clock-in-function", message, span);
        Type::Bool
    }

    /// Checks `c ? a : b`.
    pub(crate) fn cond(&mut self, c: &ast::Expr, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let c = self.expr(c);
        let (a, b) = self.branches(&c, |me| me.expr(a), |me| me.expr(b));
        if !c.ty.is_integral() && !matches!(c.ty, Type::Cond(_)) && !self.scalar_as_condition(&c) {
            let message = format!(
                "a condition is needed before `?`, this is {}",
                describe(&c.ty)
            );
            self.error_at("type/condition", message, c.span);
        }
        let ty = self.joined(&a, &b, span);
        Expr {
            kind: ExprKind::Cond(Box::new(c), Box::new(a), Box::new(b)),
            ty,
            span,
        }
    }

    fn joined(&mut self, a: &Expr, b: &Expr, span: Span) -> Type {
        match (&a.ty, &b.ty) {
            (Type::Error, t) | (t, Type::Error) => t.clone(),
            (Type::Bool, Type::Bool) => Type::Bool,
            (x, y) if x.is_integral() && y.is_integral() => Type::any_int(),
            (x, y) if x.is_number_or_clock() && y.is_number_or_clock() => {
                if x == y {
                    x.clone()
                } else {
                    Type::Double
                }
            }
            (x, y) if class(x).is_some() && class(y).is_some() => Type::Cond(CondClass::Constraint),
            (x, y) if equivalent(x, y) => x.clone(),
            (x, y) => {
                let (x, y) = (x.clone(), y.clone());
                if !self.scalar_meets(&x, &y, span, b.span) {
                    let message = format!("the two sides of `:` do not agree: {x} and {y}");
                    self.error_at("type/mismatch", message, span);
                }
                Type::Error
            }
        }
    }

    /// Checks `a op= b`.
    pub(crate) fn assign(
        &mut self,
        op: AssignOp,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
    ) -> Expr {
        let (ast_a, ast_b) = (a, b);
        let (a, b) = (self.expr(a), self.expr(b));
        self.lvalue(&a);
        let ty = a.ty.clone();
        if a.ty.is_error() || b.ty.is_error() {
            self.offer_operand(&a.ty, &b);
            self.offer_declaration(ast_a, &b.ty);
            self.offer_declaration(ast_b, &a.ty);
        } else {
            if op == AssignOp::Set {
                self.assignable(&a.ty, &b, span);
            } else {
                self.compound(&a, &b, span);
            }
        }
        Expr {
            kind: ExprKind::Assign(op, Box::new(a), Box::new(b)),
            ty,
            span,
        }
    }

    fn compound(&mut self, a: &Expr, b: &Expr, span: Span) {
        if let Some(set) = a.ty.scalar().or(b.ty.scalar()) {
            let set = set.clone();
            return self.scalar_arithmetic(&set, span);
        }
        if matches!(a.ty, Type::Clock) {
            let message = "a clock is only assigned with `=`";
            return self.error_at("type/operand", message, span);
        }
        if !a.ty.is_number() || !b.ty.is_number_or_clock() {
            let message = format!(
                "{} and {} cannot be combined here",
                describe(&a.ty),
                describe(&b.ty)
            );
            return self.error_at("type/operand", message, span);
        }
        if a.ty.is_integral() && !b.ty.is_integral() {
            let message = format!(
                "{} cannot be stored in {}",
                describe(&b.ty),
                describe(&a.ty)
            );
            self.error_at("type/mismatch", message, span);
        }
    }

    /// Checks that `value` may be stored where `target` is expected. Reports an error if not.
    pub(crate) fn assignable(&mut self, target: &Type, value: &Expr, span: Span) {
        let ok = match (target, &value.ty) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Int(_) | Type::Bool, t) => t.is_integral(),
            (Type::Double, t) => t.is_number_or_clock(),
            (Type::Clock, t) => t.is_number_or_clock(),
            (Type::Void | Type::Chan(_) | Type::Process, _) => false,
            (a, b) => equivalent(a, b),
        };
        if ok || self.scalar_meets(target, &value.ty, span, value.span) {
            return;
        }
        let message = format!(
            "{} cannot be stored in {}",
            describe(&value.ty),
            describe(target)
        );
        self.error_at("type/mismatch", message, span);
    }

    /// Checks `++a` and the like.
    pub(crate) fn inc_dec(
        &mut self,
        increment: bool,
        prefix: bool,
        e: &ast::Expr,
        span: Span,
    ) -> Expr {
        let e = self.expr(e);
        self.lvalue(&e);
        let mut ty = e.ty.clone();
        match &e.ty {
            Type::Scalar(set) => {
                let set = set.clone();
                self.scalar_arithmetic(&set, span);
                ty = Type::Error;
            }
            t if t.is_integral() => {}
            other => {
                let message = format!("`++` and `--` need an integer, this is {}", describe(other));
                self.error_at("type/operand", message, span);
                ty = Type::Error;
            }
        }
        Expr {
            kind: ExprKind::IncDec {
                increment,
                prefix,
                expr: Box::new(e),
            },
            ty,
            span,
        }
    }

    /// Reports expressions that cannot be assigned to, and records the write for the enclosing
    /// function.
    pub(crate) fn lvalue(&mut self, e: &Expr) {
        if e.ty.is_error() {
            return;
        }
        match &e.kind {
            ExprKind::Var(s) => {
                if s.is_constant() {
                    let message = format!("`{}` is {} and cannot be changed", s.name, s.what());
                    let diag =
                        crate::diag::Diag::new("type/not-assignable", message, self.here(e.span))
                            .related(s.loc, "declared here");
                    self.report(diag);
                }
                self.note_write(e);
            }
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => self.lvalue(base),
            ExprKind::Cond(_, a, b) => {
                self.lvalue(a);
                self.lvalue(b);
            }
            ExprKind::Assign(..) | ExprKind::IncDec { prefix: true, .. } => {}
            _ => self.error_at(
                "type/not-assignable",
                "this is a value, not a variable; nothing can be assigned to it",
                e.span,
            ),
        }
    }

    fn note_write(&mut self, e: &Expr) {
        let (Some(s), Some(f)) = (e.root(), &mut self.function) else {
            return;
        };
        match &s.kind {
            SymKind::Var(v) => f.writes |= v.home != Home::Function,
            SymKind::Param(p) if p.of != ParamOf::Function => f.writes = true,
            SymKind::Param(p) if p.reference => {
                f.written.insert(s.id);
            }
            _ => {}
        }
    }

    /// The type of a quantifier over `body`.
    pub(crate) fn quantified_type(&mut self, kind: QuantifierKind, body: &Expr) -> Type {
        if kind == QuantifierKind::Sum {
            return match &body.ty {
                Type::Error => Type::Error,
                Type::Double => Type::Double,
                t if t.is_integral() => Type::any_int(),
                Type::Scalar(set) => {
                    let set = set.clone();
                    self.scalar_arithmetic(&set, body.span);
                    Type::Error
                }
                _ => self.bad_operand("sum", body),
            };
        }
        match class(&body.ty) {
            Some(None) => Type::Bool,
            Some(Some(c)) if kind == QuantifierKind::Forall => Type::Cond(c),
            Some(Some(_)) => Type::Cond(CondClass::Constraint),
            None if self.scalar_as_condition(body) => Type::Error,
            None => self.bad_operand("a quantifier", body),
        }
    }
}

/// The type of `a op b`, or `None` if the operands do not fit.
fn binary_type(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    use BinaryOp as B;
    match op {
        B::Add | B::Sub => additive(op, a, b),
        B::Mul | B::Div | B::Pow | B::Min | B::Max => {
            if a.is_integral() && b.is_integral() {
                Some(Type::any_int())
            } else if a.is_number_or_clock() && b.is_number_or_clock() {
                Some(Type::Double)
            } else {
                None
            }
        }
        B::Mod | B::Shl | B::Shr | B::BitAnd | B::BitXor | B::BitOr => {
            (a.is_integral() && b.is_integral()).then(Type::any_int)
        }
        B::Lt | B::Le | B::Ge | B::Gt => ordered(a, b),
        B::Eq | B::Ne => equality(op, a, b),
        B::And => conjunction(a, b),
        B::Or | B::Imply => disjunction(op, a, b),
        B::Xor => match (class(a)?, class(b)?) {
            (None, None) => Some(Type::Bool),
            _ => Some(Type::Cond(CondClass::Constraint)),
        },
    }
}

fn additive(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (a, b) if a.is_integral() && b.is_integral() => Some(Type::any_int()),
        (Type::Clock, Type::Clock) if op == BinaryOp::Sub => Some(Type::Diff),
        (Type::Clock, t) if t.is_integral() => Some(Type::Clock),
        (t, Type::Clock) if t.is_integral() && op == BinaryOp::Add => Some(Type::Clock),
        (Type::Diff, t) if t.is_integral() => Some(Type::Diff),
        (t, Type::Diff) if t.is_integral() => Some(Type::Diff),
        (a, b) if a.is_number_or_clock() && b.is_number_or_clock() => Some(Type::Double),
        _ => None,
    }
}

fn ordered(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (a, b) if is_bound(a) && is_bound(b) => Some(Type::Bool),
        (Type::Clock | Type::Diff, Type::Clock | Type::Diff) => {
            Some(Type::Cond(CondClass::Invariant))
        }
        (Type::Clock | Type::Diff, t) | (t, Type::Clock | Type::Diff) if is_bound(t) => {
            Some(Type::Cond(CondClass::Invariant))
        }
        _ => None,
    }
}

fn equality(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    let clock = if op == BinaryOp::Eq {
        CondClass::Guard
    } else {
        CondClass::Constraint
    };
    match (a, b) {
        (a, b) if is_bound(a) && is_bound(b) => Some(Type::Bool),
        (Type::Clock | Type::Diff, Type::Clock | Type::Diff) => Some(Type::Cond(clock)),
        (Type::Clock | Type::Diff, t) | (t, Type::Clock | Type::Diff) if is_bound(t) => {
            Some(Type::Cond(clock))
        }
        (Type::Rate, t) | (t, Type::Rate) if t.is_number_or_clock() && op == BinaryOp::Eq => {
            Some(Type::Cond(CondClass::Invariant))
        }
        (Type::Scalar(a), Type::Scalar(b)) => (a == b).then_some(Type::Bool),
        (Type::Array(_) | Type::Struct(_), _) => equivalent(a, b).then_some(Type::Bool),
        (Type::Process, Type::Process) | (Type::Str, Type::Str) => Some(Type::Bool),
        // Conditions are truth values, but only queries may compare them.
        (a, b) => {
            class(a)?;
            class(b)?;
            Some(Type::Cond(CondClass::Constraint))
        }
    }
}

fn conjunction(a: &Type, b: &Type) -> Option<Type> {
    match (class(a)?, class(b)?) {
        (None, None) => Some(Type::Bool),
        (x, y) => x.max(y).map(Type::Cond),
    }
}

/// The type of `or` and `imply`; `p imply q` is `not p or q`.
fn disjunction(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    let (mut x, y) = (class(a)?, class(b)?);
    if op == BinaryOp::Imply && x.is_some() {
        x = Some(CondClass::Constraint);
    }
    match (x, y) {
        (None, None) => Some(Type::Bool),
        (Some(c), None) | (None, Some(c)) => Some(Type::Cond(c)),
        _ => Some(Type::Cond(CondClass::Constraint)),
    }
}

/// A type with its article, for messages.
pub(super) fn describe(ty: &Type) -> String {
    match ty {
        Type::Int(_) | Type::Array(_) => format!("an {ty}"),
        Type::Process => "a process".into(),
        Type::Scalar(set) => format!("an element of the scalarset `{}`", set.name),
        _ => format!("a {ty}"),
    }
}

/// How an operator is written.
pub(super) fn spelling(op: BinaryOp) -> &'static str {
    use BinaryOp as B;
    match op {
        B::Pow => "**",
        B::Mul => "*",
        B::Div => "/",
        B::Mod => "%",
        B::Add => "+",
        B::Sub => "-",
        B::Shl => "<<",
        B::Shr => ">>",
        B::Min => "<?",
        B::Max => ">?",
        B::Lt => "<",
        B::Le => "<=",
        B::Ge => ">=",
        B::Gt => ">",
        B::Eq => "==",
        B::Ne => "!=",
        B::BitAnd => "&",
        B::BitXor => "^",
        B::BitOr => "|",
        B::And => "&&",
        B::Or => "||",
        B::Xor => "xor",
        B::Imply => "imply",
    }
}
