//! Declarations of variables, constants, clocks, channels and types.

use super::Checker;
use super::type_expr::Written;
use crate::consteval::{EvalError, Evaluator, MAX_ENTRIES, MAX_VALUE};
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Decl, Expr, Init};
use crate::symbol::{Home, SymKind, VarSym};
use crate::types::{Bound, IntType, Type};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::{self, Declarator, TypeBase};
use zonelens_syntax::span::Span;

/// The message for a variable that needs a value although its range is empty.
pub(crate) fn no_value(name: &str, lo: i32, hi: i32) -> String {
    format!(
        "`{name}` needs a value, but the range [{lo},{hi}] has none; the first number must not exceed the second"
    )
}

/// The most entries a single variable may have.
const MAX_LEAVES: u64 = 4_000_000;
/// The most entries a local variable, parameter or result of a function may have: each call
/// allocates them.
const MAX_LOCAL_LEAVES: u64 = 1 << 20;

impl Checker<'_> {
    /// Checks `T a, b[3] = …;` at global or template level.
    pub(crate) fn var_decl(&mut self, v: &ast::VarDecl) {
        let home = if self.in_template {
            Home::Template
        } else {
            Home::Global
        };
        let decls = self.declare_vars(v, home);
        self.out.decls.extend(decls);
    }

    /// Declares the variables of one declaration in the innermost scope.
    pub(crate) fn declare_vars(&mut self, v: &ast::VarDecl, home: Home) -> Vec<Decl> {
        let set_name = v.names.first().map(|d| d.name.name.clone());
        let written = self.type_expr(&v.ty, set_name.as_ref());
        if matches!(written.ty, Type::Void) {
            self.error("type/void", "a variable cannot be void", v.ty.span);
        }
        let mut out = Vec::new();
        for d in &v.names {
            out.push(self.declare_var(&written, d, home));
        }
        out
    }

    fn declare_var(&mut self, written: &Written, d: &Declarator, home: Home) -> Decl {
        let ty = self.dimensions(written.ty.clone(), &d.dims);
        self.check_variable_type(written, &ty, d, home);
        if home == Home::Template {
            self.restrict_sizes(&ty);
        }
        let init = self.initialiser(&ty, d, home, written.constant);
        let mut value = None;
        if let Some((lo, hi)) = ty.needs_empty() {
            // Inside templates and functions, a value is needed only if a process or a call exists
            // (`needed.rs`).
            if home == Home::Global {
                let message = no_value(&d.name.name, lo, hi);
                self.error("type/empty-range", message, d.name.span);
            }
        } else if written.constant {
            value = self.constant_value(&ty, init.as_ref(), d, home);
        } else if let Some(init) = &init {
            self.check_init_value(init, &ty, home);
        }
        let symbol = self.symbol(
            &d.name,
            SymKind::Var(VarSym {
                ty: ty.clone(),
                constant: written.constant,
                meta: written.meta,
                value,
                home,
            }),
        );
        if self.in_template {
            let mut found = FxHashSet::default();
            self.parameters_of_type(&ty, &mut found);
            if let Some(init) = &init {
                self.parameters_of_init(init, &mut found);
            }
            if !found.is_empty() && written.constant {
                self.depends.insert(symbol.id, found);
            }
        }
        self.declare(symbol.clone());
        Decl { symbol, init }
    }

    fn parameters_of_init(&self, init: &Init, into: &mut FxHashSet<u32>) {
        match init {
            Init::Expr(e) => self.parameters_of(e, into),
            Init::List(items, _) => items.iter().for_each(|i| self.parameters_of_init(i, into)),
        }
    }

    fn check_variable_type(&mut self, written: &Written, ty: &Type, d: &Declarator, home: Home) {
        self.bound_entries(
            &format!("`{}`", d.name.name),
            ty,
            home == Home::Function,
            d.name.span,
        );
        if home == Home::Function {
            let bad = match ty.innermost() {
                Type::Clock => Some("clocks"),
                Type::Chan(_) => Some("channels"),
                _ => None,
            };
            if let Some(bad) = bad {
                self.error(
                    "type/local",
                    format!(
                        "functions cannot declare {bad}; declare `{}` outside",
                        d.name.name
                    ),
                    d.name.span,
                );
            }
        }
        if written.constant && d.init.is_none() && !ty.is_error() {
            let message = if ty.contains(&|t| matches!(t, Type::Scalar(_))) {
                "a constant needs a value, and no literal denotes an element of a scalarset"
            } else {
                "a constant needs a value: add `= …`"
            };
            self.error("type/constant", message, d.name.span);
        }
    }

    /// Reports a type with too many entries before anything is allocated for it.
    pub(super) fn bound_entries(&mut self, what: &str, ty: &Type, local: bool, span: Span) {
        let (most, place) = match local {
            true => (MAX_LOCAL_LEAVES, " in a function"),
            false => (MAX_LEAVES, ""),
        };
        if let Some(n) = ty.known_leaves()
            && n > most
        {
            self.error(
                "system/size",
                format!("{what} of type {ty} has {n} entries; at most {most} are possible{place}"),
                span,
            );
        }
    }

    fn initialiser(
        &mut self,
        ty: &Type,
        d: &Declarator,
        home: Home,
        constant: bool,
    ) -> Option<Init> {
        let init = d.init.as_ref()?;
        if ty.contains(&|t| matches!(t, Type::Scalar(_))) && home != Home::Function {
            let message = format!(
                "`{}` cannot be initialised: elements of a scalarset have no names, so no value can be written for it",
                d.name.name
            );
            self.without_initialiser("type/initialiser", message, d, init, constant);
            return None;
        }
        let over_set = ty.contains(&|t| matches!(t, Type::Array(a) if a.index.scalar().is_some()));
        if over_set && matches!(init, ast::Init::List { .. }) {
            let message = format!(
                "`{}` gets values one by one along a scalarset, which tells its elements apart; assign in a loop over the set",
                d.name.name
            );
            self.without_initialiser("sym/constant", message, d, init, constant);
            return None;
        }
        if matches!(ty.innermost(), Type::Chan(_)) {
            self.error("type/initialiser", "a channel holds no value", init.span());
            return None;
        }
        Some(self.init(init, ty))
    }

    /// Reports an initialiser that is not allowed and offers to remove it, along with `const`.
    fn without_initialiser(
        &mut self,
        code: &'static str,
        message: String,
        d: &Declarator,
        init: &ast::Init,
        constant: bool,
    ) {
        let at = self.loc(init.span());
        let mut changes = vec![Change::Clause(at, "=", "")];
        if constant {
            changes.insert(0, Change::Prefix(self.loc(d.name.span), "const"));
        }
        let diag = Diag::new(code, message, at).repair("Remove the initialiser", changes);
        self.report(diag);
    }

    /// The value of a constant, if it does not depend on parameters.
    fn constant_value(
        &mut self,
        ty: &Type,
        init: Option<&Init>,
        d: &Declarator,
        home: Home,
    ) -> Option<Arc<[i32]>> {
        if home == Home::Global
            && let Some(&value) = self.env.constants.get(d.name.name.as_str())
        {
            return self.overridden(ty, value, d);
        }
        let init = init?;
        if ty.contains(&|t| matches!(t, Type::Double | Type::Error | Type::Scalar(_))) {
            return None;
        }
        let mut evaluator = Evaluator::new(&self.env.bodies, &|_| None);
        let result = match evaluator.size(ty) {
            Ok(size) if size > MAX_VALUE => Err(EvalError::Fails(
                d.name.span,
                "this constant has too many entries".into(),
            )),
            Ok(size) if !self.env.bodies.hold(size) => Err(EvalError::Fails(
                d.name.span,
                format!("the constants of this model have more than {MAX_ENTRIES} entries in all"),
            )),
            Ok(_) => evaluator.init(init, ty),
            Err(e) => Err(e),
        };
        self.out.volatile |= evaluator.called;
        match result {
            Ok(v) => Some(v.into()),
            Err(EvalError::Silent) => None,
            Err(EvalError::Fails(span, why)) => {
                self.error_at("type/constant", format!("no value: {why}"), span);
                None
            }
            Err(EvalError::NotConstant(span)) => {
                if home != Home::Function && !self.init_computable(init) {
                    self.not_constant(span);
                }
                None
            }
        }
    }

    fn init_computable(&self, init: &Init) -> bool {
        match init {
            Init::Expr(e) => self.is_computable(e),
            Init::List(items, _) => items.iter().all(|i| self.init_computable(i)),
        }
    }

    fn overridden(&mut self, ty: &Type, value: i64, d: &Declarator) -> Option<Arc<[i32]>> {
        // An override may be whatever the file could contain: the declared range still applies, and
        // a value outside it is the same mistake as in an initialiser. Constants of plain `int`
        // hold any number.
        let (lo, hi) = match ty {
            _ if *ty == Type::default_int() => (i32::MIN, i32::MAX),
            Type::Int(IntType { lo, hi, .. }) => (lo.known()?, hi.known()?),
            Type::Bool => (0, 1),
            _ => {
                self.error(
                    "type/constant",
                    format!(
                        "`{}` is overridden, but only integer and boolean constants can be",
                        d.name.name
                    ),
                    d.name.span,
                );
                return None;
            }
        };
        match i32::try_from(value) {
            Ok(v) if lo <= v && v <= hi => Some([v].as_slice().into()),
            _ => {
                self.error(
                    "type/constant",
                    format!(
                        "the value {value} given for `{}` lies outside its range [{lo},{hi}]",
                        d.name.name
                    ),
                    d.name.span,
                );
                None
            }
        }
    }

    /// Checks that initial values of variables can be computed, and that known ones are in range.
    fn check_init_value(&mut self, init: &Init, ty: &Type, home: Home) {
        match (init, ty) {
            (Init::List(items, _), Type::Array(a)) => {
                for i in items {
                    self.check_init_value(i, &a.element, home);
                }
            }
            (Init::List(items, _), Type::Struct(s)) => {
                for (i, (_, t)) in items.iter().zip(&s.fields) {
                    self.check_init_value(i, t, home);
                }
            }
            (Init::List(..), _) => {}
            (Init::Expr(e), _) if home == Home::Function => {
                if self.effect_of(e) {
                    self.error_at(
                        "type/side-effect",
                        "the initialiser of a local variable must not change anything; assign in a statement instead",
                        e.span,
                    );
                }
            }
            (Init::Expr(e), _) => self.check_initial_expr(e, ty),
        }
    }

    fn check_initial_expr(&mut self, e: &Expr, ty: &Type) {
        if e.ty.is_error() || !e.ty.is_integral() {
            return;
        }
        match self.evaluate(e) {
            Ok(v) => self.check_known_range(v, ty, e.span),
            Err(EvalError::Fails(span, why)) => {
                self.error_at("type/constant", format!("no value: {why}"), span);
            }
            Err(EvalError::NotConstant(span)) if !self.is_computable(e) => self.not_constant(span),
            Err(_) => {}
        }
    }

    fn check_known_range(&mut self, v: i32, ty: &Type, span: Span) {
        if matches!(ty, Type::Clock) && v < 0 {
            self.error_at("type/range", "a clock cannot start below 0", span);
        }
        if let Type::Int(int) = ty
            && let (Some(lo), Some(hi)) = (int.lo.known(), int.hi.known())
            && !(lo..=hi).contains(&v)
        {
            self.error_at(
                "type/range",
                format!("the initial value {v} lies outside the range [{lo},{hi}]"),
                span,
            );
        }
    }

    /// Checks `typedef T A, B[3];`.
    pub(crate) fn typedef(&mut self, t: &ast::Typedef) {
        let name = t.names.first().map(|d| d.name.name.clone());
        // A name that is being defined is not declared yet, so a type cannot contain itself.
        let written = self.type_expr(&t.ty, name.as_ref());
        if written.meta {
            self.error(
                "type/prefix",
                "a type cannot be `meta`; write that where a variable is declared",
                t.ty.span,
            );
        }
        for d in &t.names {
            let ty = self.dimensions(written.ty.clone(), &d.dims);
            if d.init.is_some() {
                self.error("type/initialiser", "a type has no value", d.span);
            }
            let symbol = self.symbol(&d.name, SymKind::Type(ty.clone(), written.constant));
            if self.in_template {
                let mut found = FxHashSet::default();
                self.parameters_of_type(&ty, &mut found);
                if matches!(t.ty.base, TypeBase::Scalar(_) | TypeBase::Scalarset(_)) {
                    self.restricted.extend(found);
                }
            }
            self.declare(symbol);
        }
    }

    /// Checks `scalarset pid[3];`.
    pub(crate) fn scalarset_decl(&mut self, name: &ast::Ident, size: &ast::Expr) {
        let ty = match self.scalar_size(size) {
            Some(size) => {
                let hi = match size.known() {
                    Some(n) => Bound::Known(n - 1),
                    None => Bound::Known(i32::MAX - 1),
                };
                Type::Int(IntType {
                    lo: Bound::Known(0),
                    hi,
                    set: Some(self.new_set(name.name.clone(), size, name.span)),
                })
            }
            None => Type::Error,
        };
        let symbol = self.symbol(name, SymKind::Type(ty, false));
        self.declare(symbol);
    }

    /// Reports an item that is recognised but not analysed. Declares its names to avoid follow-up
    /// errors.
    pub(crate) fn unsupported_item(&mut self, u: &ast::Unsupported) {
        let what = match u.feature {
            ast::Feature::Import => ("unsupported/import", "functions of C libraries are not run"),
            ast::Feature::DynamicTemplate => (
                "unsupported/dynamic",
                "templates that are spawned while the model runs are not supported",
            ),
            ast::Feature::EcdarInterface => (
                "unsupported/ecdar",
                "interface declarations of ECDAR are not supported",
            ),
            ast::Feature::Lsc => ("unsupported/lsc", "live sequence charts are not supported"),
        };
        let diag = Diag::new(what.0, what.1, self.loc(u.span));
        self.report(diag);
        // `IO P { … }` refers to a template that is already declared; its name stays as it is.
        self.unreadable(&u.names);
    }

    /// Declares names of which only the existence is known. A name that is already declared keeps
    /// its meaning.
    pub(super) fn unreadable(&mut self, names: &[ast::Ident]) {
        for name in names {
            if self.lookup(&name.name).is_none() {
                let symbol = self.symbol(name, SymKind::Opaque);
                self.declare(symbol);
            }
        }
    }
}
