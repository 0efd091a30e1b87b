//! Checks initialisers against types.

use super::Checker;
use crate::hir::{Expr, Init};
use crate::types::{Type, equivalent};
use zonelens_syntax::ast;
use zonelens_syntax::ast::Ident;
use zonelens_syntax::span::Span;

impl Checker<'_> {
    /// Checks an initialiser for a value of type `ty`.
    pub(crate) fn init(&mut self, init: &ast::Init, ty: &Type) -> Init {
        match (init, ty) {
            (ast::Init::Expr(e), _) => {
                let e = self.expr(e);
                self.init_value(&e, ty);
                Init::Expr(e)
            }
            (ast::Init::List { items, span }, Type::Array(a)) => self.array_init(items, *span, a),
            (ast::Init::List { items, span }, Type::Struct(s)) => {
                let fields = s.fields.clone();
                self.struct_init(items, *span, &fields)
            }
            (ast::Init::List { items, span }, Type::Error) => {
                for (_, i) in items {
                    self.init(i, &Type::Error);
                }
                Init::List(Vec::new(), self.span(*span))
            }
            (ast::Init::List { span, .. }, other) => {
                self.error(
                    "type/initialiser",
                    format!("a list in braces is for arrays and structs, this is {other}"),
                    *span,
                );
                Init::List(Vec::new(), self.span(*span))
            }
        }
    }

    fn init_value(&mut self, e: &Expr, ty: &Type) {
        let ok = match (ty, &e.ty) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Int(_) | Type::Bool, t) => t.is_integral(),
            (Type::Double, t) => t.is_number_or_clock(),
            (Type::Clock, t) => t.is_number(),
            (Type::Str, t) => matches!(t, Type::Str),
            (a, b) => equivalent(a, b),
        };
        if ok {
            self.offer_operand(ty, e);
            return;
        }
        if self.scalar_meets(ty, &e.ty, e.span, e.span) {
            return;
        }
        self.error_at(
            "type/initialiser",
            format!("a value of type {} cannot initialise {ty}", e.ty),
            e.span,
        );
    }

    fn array_init(
        &mut self,
        items: &[(Option<Ident>, ast::Init)],
        span: Span,
        a: &crate::types::ArrayType,
    ) -> Init {
        let list: Vec<Init> = items
            .iter()
            .map(|(_, i)| self.init(i, &a.element))
            .collect();
        if let Type::Int(int) = &a.index
            && let (Some(lo), Some(hi)) = (int.lo.known(), int.hi.known())
        {
            let len = i64::from(hi) - i64::from(lo) + 1;
            if len != list.len() as i64 {
                let message = if (list.len() as i64) < len {
                    format!(
                        "{} values for an array of {len}; the rest starts with 0",
                        list.len()
                    )
                } else {
                    format!(
                        "{} values for an array of {len}; the last ones are not used",
                        list.len()
                    )
                };
                self.error("lint/initialiser", message, span);
            }
        }
        Init::List(list, self.span(span))
    }

    fn struct_init(
        &mut self,
        items: &[(Option<Ident>, ast::Init)],
        span: Span,
        fields: &[(smol_str::SmolStr, Type)],
    ) -> Init {
        let mut slots: Vec<Option<Init>> = vec![None; fields.len()];
        let mut next = 0;
        let mut wrong = items.len() != fields.len();
        for (name, init) in items {
            if let Some(name) = name {
                match fields.iter().position(|(n, _)| *n == name.name) {
                    Some(k) => next = k,
                    None => {
                        self.error(
                            "type/member",
                            format!("the struct has no field `{}`", name.name),
                            name.span,
                        );
                        wrong = false;
                        continue;
                    }
                }
            }
            match (fields.get(next), slots.get_mut(next).map(|s| s.is_some())) {
                (Some((_, ty)), Some(false)) => {
                    let ty = ty.clone();
                    let checked = self.init(init, &ty);
                    if let Some(slot) = slots.get_mut(next) {
                        *slot = Some(checked);
                    }
                }
                _ => wrong = true,
            }
            next += 1;
        }
        if wrong {
            self.error(
                "type/initialiser",
                format!(
                    "{} values for a struct of {} fields",
                    items.len(),
                    fields.len()
                ),
                span,
            );
        }
        let at = self.span(span);
        let list = slots
            .into_iter()
            .map(|s| s.unwrap_or_else(|| Init::Expr(Expr::error(at))))
            .collect();
        Init::List(list, at)
    }
}
