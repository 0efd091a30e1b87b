//! From type expressions to types.

use super::Checker;
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind};
use crate::symbol::SymKind;
use crate::types::{Bound, ChanType, Extent, IntType, ScalarSet, Type};
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::ast::{self, Dim, Prefix, TypeBase, TypeExpr};
use zonelens_syntax::ast::{BinaryOp, ExprKind as AstKind};
use zonelens_syntax::span::Span;

/// The most elements a scalarset may have.
const MAX_ELEMENTS: i32 = 100_000;

/// A type with the flags set by its prefixes.
pub(crate) struct Written {
    pub ty: Type,
    pub constant: bool,
    pub meta: bool,
}

/// What the name in a dimension `[name]` denotes.
enum DimName {
    Type(Type),
    Other,
}

/// Keywords that a type can begin with, and keywords of other items that look like a type.
const TYPE_WORDS: &[&str] = &[
    "bool",
    "broadcast",
    "chan",
    "clock",
    "const",
    "double",
    "int",
    "meta",
    "return",
    "scalar",
    "struct",
    "typedef",
    "urgent",
    "void",
];

impl Checker<'_> {
    /// Checks a type expression; `name` is the name for a scalarset declared in it.
    pub(crate) fn type_expr(&mut self, t: &TypeExpr, name: Option<&SmolStr>) -> Written {
        let mut constant = t.has(Prefix::Const);
        let meta = t.has(Prefix::Meta);
        let mut ty = self.type_base(t, name);
        if let TypeBase::Named(ident) = &t.base
            && let Some(SymKind::Type(_, true)) = self.lookup(&ident.name).map(|s| s.kind.clone())
        {
            constant = true;
        }
        let (urgent, broadcast) = (t.has(Prefix::Urgent), t.has(Prefix::Broadcast));
        if urgent || broadcast {
            ty = self.channel_prefix(ty, urgent, broadcast, t.span);
        }
        if matches!(ty, Type::Clock) && (constant || meta) {
            self.error(
                "type/prefix",
                "a clock cannot be `const` or `meta`: it always runs and is always part of the state",
                t.span,
            );
        }
        if matches!(ty, Type::Chan(_)) && (constant || meta) {
            self.error(
                "type/prefix",
                "a channel holds no value, so it cannot be `const` or `meta`",
                t.span,
            );
        }
        Written { ty, constant, meta }
    }

    fn channel_prefix(&mut self, ty: Type, urgent: bool, broadcast: bool, span: Span) -> Type {
        match ty {
            Type::Chan(c) => Type::Chan(ChanType {
                urgent: urgent || c.urgent,
                broadcast: broadcast || c.broadcast,
            }),
            Type::Error => Type::Error,
            Type::Array(a) => {
                let element = self.channel_prefix(a.element.clone(), urgent, broadcast, span);
                // The array is as large as before, so this does not fail.
                Type::array(a.index.clone(), element).unwrap_or(Type::Error)
            }
            other => {
                self.error(
                    "type/prefix",
                    format!("`urgent` and `broadcast` are for channels, this is {other}"),
                    span,
                );
                other
            }
        }
    }

    fn type_base(&mut self, t: &TypeExpr, name: Option<&SmolStr>) -> Type {
        match &t.base {
            TypeBase::Error => Type::Error,
            TypeBase::ImplicitInt => Type::default_int(),
            TypeBase::Int(None) => Type::default_int(),
            TypeBase::Int(Some(ends)) => self.int_range(&ends.0, &ends.1),
            TypeBase::Bool => Type::Bool,
            TypeBase::Clock => Type::Clock,
            TypeBase::Chan => Type::Chan(ChanType {
                urgent: false,
                broadcast: false,
            }),
            TypeBase::Double => Type::Double,
            TypeBase::Void => Type::Void,
            TypeBase::Named(ident) => self.named_type(ident),
            TypeBase::Scalar(size) | TypeBase::Scalarset(size) => {
                let size = self.scalar_size(size);
                let name = name.cloned().unwrap_or_else(|| SmolStr::new("scalar"));
                match size {
                    Some(size) => Type::Scalar(self.new_set(name, size, t.span)),
                    None => Type::Error,
                }
            }
            TypeBase::ScalarsetParam => {
                let name = name.cloned().unwrap_or_else(|| SmolStr::new("scalarset"));
                let set = ScalarSet {
                    parameter: true,
                    ..Self::set_value(
                        self.env.fresh(),
                        name,
                        Bound::Known(i32::MAX),
                        self.loc(t.span),
                    )
                };
                Type::Int(IntType {
                    lo: Bound::Known(0),
                    hi: Bound::Known(i32::MAX - 1),
                    set: Some(Arc::new(ScalarSet { ..set })),
                })
            }
            TypeBase::Struct(fields) => self.struct_type(fields, name, t.span),
        }
    }

    fn set_value(id: u32, name: SmolStr, size: Bound, loc: crate::symbol::Loc) -> ScalarSet {
        ScalarSet {
            id,
            name,
            size,
            loc,
            local: false,
            parameter: false,
        }
    }

    /// Creates a new scalarset.
    pub(crate) fn new_set(&self, name: SmolStr, size: Bound, span: Span) -> Arc<ScalarSet> {
        Arc::new(ScalarSet {
            local: self.in_template,
            ..Self::set_value(self.env.fresh(), name, size, self.loc(span))
        })
    }

    /// Checks the size of a scalarset: a positive constant.
    pub(crate) fn scalar_size(&mut self, size: &ast::Expr) -> Option<Bound> {
        let bound = self.bound(size)?;
        if let Bound::Known(n) = bound
            && n < 1
        {
            self.error(
                "type/scalar-size",
                format!("a scalarset needs at least one element, this one has {n}"),
                size.span,
            );
            return None;
        }
        if let Bound::Known(n) = bound
            && n > MAX_ELEMENTS
        {
            self.error(
                "system/size",
                format!("a scalarset of {n} elements; at most {MAX_ELEMENTS} are possible"),
                size.span,
            );
            return None;
        }
        Some(bound)
    }

    /// Checks `int[lo,hi]`. The range may be empty: a family over it has no processes, a loop over
    /// it no iterations. An error is reported only where a value is needed.
    fn int_range(&mut self, lo: &ast::Expr, hi: &ast::Expr) -> Type {
        match (self.bound(lo), self.bound(hi)) {
            (Some(lo), Some(hi)) => Type::Int(IntType { lo, hi, set: None }),
            _ => Type::Error,
        }
    }

    fn named_type(&mut self, ident: &ast::Ident) -> Type {
        match self.lookup(&ident.name) {
            None => {
                self.unknown(ident, |s| matches!(s.kind, SymKind::Type(..)), TYPE_WORDS);
                self.unknown_types.insert(ident.name.clone());
                Type::Error
            }
            Some(s) => match &s.kind {
                SymKind::Type(t, _) => t.clone(),
                SymKind::Opaque => Type::Error,
                _ => {
                    let diag = Diag::new(
                        "name/not-a-type",
                        format!("`{}` is {}, not a type", ident.name, s.what()),
                        self.loc(ident.span),
                    )
                    .related(s.loc, "declared here");
                    self.report(diag);
                    Type::Error
                }
            },
        }
    }

    fn struct_type(&mut self, fields: &[ast::Field], name: Option<&SmolStr>, span: Span) -> Type {
        let mut out: Vec<(SmolStr, Type)> = Vec::new();
        for field in fields {
            let written = self.type_expr(&field.ty, None);
            if written.constant {
                self.error("type/field", "a field cannot be `const`", field.ty.span);
            }
            if !matches!(
                written.ty,
                Type::Int(_)
                    | Type::Bool
                    | Type::Scalar(_)
                    | Type::Double
                    | Type::Clock
                    | Type::Struct(_)
                    | Type::Array(_)
                    | Type::Error
            ) {
                self.error(
                    "type/field",
                    format!("a field cannot be of type {}", written.ty),
                    field.ty.span,
                );
            }
            for d in &field.names {
                let ty = self.dimensions(written.ty.clone(), &d.dims);
                if out.iter().any(|(n, _)| *n == d.name.name) {
                    self.error(
                        "name/duplicate",
                        format!("the field `{}` is declared twice", d.name.name),
                        d.name.span,
                    );
                    continue;
                }
                out.push((d.name.name.clone(), ty));
            }
        }
        Type::record(out).unwrap_or_else(|extent| {
            let what = name.map_or("this struct".to_owned(), |n| format!("the struct of `{n}`"));
            self.too_large(&what, extent, span);
            Type::Error
        })
    }

    /// Reports a type that is too large to walk, before anything walks it.
    fn too_large(&mut self, what: &str, extent: Extent, span: Span) {
        let Extent { parts, height } = Extent::MAX;
        let message = if extent.parts > parts {
            format!(
                "{what} has {} parts once the types of its fields are written out; at most {parts} are possible. Use arrays for fields that are alike",
                extent.parts
            )
        } else {
            format!(
                "{what} nests {} arrays and structs; at most {height} are possible",
                extent.height
            )
        };
        self.error("system/size", message, span);
    }

    /// Wraps `element` in array dimensions, the first one outermost.
    pub(crate) fn dimensions(&mut self, element: Type, dims: &[Dim]) -> Type {
        let mut indices: Vec<Type> = dims.iter().map(|d| self.dimension(d)).collect();
        let mut ty = element;
        while let Some(index) = indices.pop() {
            ty = match Type::array(index, ty) {
                Ok(ty) => ty,
                Err(extent) => {
                    let span = dims.first().map_or(Span::new(0, 0), dim_span);
                    self.too_large("this array", extent, span);
                    return Type::Error;
                }
            };
        }
        ty
    }

    fn dimension(&mut self, dim: &Dim) -> Type {
        match dim {
            Dim::Error(_) => Type::Error,
            Dim::Type(t) => {
                let ty = self.type_expr(t, None).ty;
                self.index_type(ty, t.span)
            }
            Dim::Expr(e) => {
                if let AstKind::Name(ident) = &e.kind
                    && let DimName::Type(ty) = self.dim_name(ident)
                {
                    return self.index_type(ty, e.span);
                }
                self.size_dimension(e)
            }
        }
    }

    fn dim_name(&mut self, ident: &ast::Ident) -> DimName {
        match self.lookup(&ident.name).as_ref().map(|s| &s.kind) {
            Some(SymKind::Type(t, _)) => DimName::Type(t.clone()),
            // Hendriks' thesis indexes local arrays by the `scalarset` parameter itself.
            Some(SymKind::Param(p)) => match &p.ty {
                Type::Int(int) if int.set.as_ref().is_some_and(|s| s.parameter) => {
                    DimName::Type(p.ty.clone())
                }
                _ => DimName::Other,
            },
            _ => DimName::Other,
        }
    }

    fn index_type(&mut self, ty: Type, span: Span) -> Type {
        match &ty {
            Type::Int(_) | Type::Scalar(_) | Type::Error => ty,
            other => {
                self.error(
                    "type/index-type",
                    format!("an array is indexed by a range of integers or by a scalarset, not by {other}"),
                    span,
                );
                Type::Error
            }
        }
    }

    fn size_dimension(&mut self, e: &ast::Expr) -> Type {
        let size = self.constant_expr(e);
        let span = size.span;
        let Some(bound) = self.bound_of(size.clone()) else {
            return Type::Error;
        };
        let hi = match bound {
            Bound::Known(n) if n < 1 => {
                self.error(
                    "type/array-size",
                    format!("an array needs at least one entry, this one has {n}"),
                    e.span,
                );
                return Type::Error;
            }
            Bound::Known(n) => Bound::Known(n - 1),
            Bound::Expr(_) => Bound::Expr(Arc::new(Expr {
                kind: ExprKind::Binary(
                    BinaryOp::Sub,
                    Box::new(size),
                    Box::new(Expr {
                        kind: ExprKind::Int(1),
                        ty: Type::any_int(),
                        span,
                    }),
                ),
                ty: Type::any_int(),
                span,
            })),
        };
        Type::Int(IntType {
            lo: Bound::Known(0),
            hi,
            set: None,
        })
    }

    /// Checks the type of a select, quantifier or loop variable.
    pub(crate) fn iterated_type(&mut self, t: &TypeExpr) -> Type {
        let ty = self.type_expr(t, None).ty;
        match &ty {
            Type::Scalar(_) | Type::Error => ty,
            Type::Int(int) => {
                let full = matches!(&t.base, TypeBase::Int(None) | TypeBase::ImplicitInt)
                    || matches!(
                        (&int.lo, &int.hi),
                        (Bound::Known(i32::MIN), Bound::Known(i32::MAX))
                    );
                if full {
                    self.error(
                        "type/iteration",
                        "a plain `int` has too many values to iterate over; write a range such as `int[0,3]`",
                        t.span,
                    );
                    return Type::Error;
                }
                ty
            }
            Type::Bool => Type::int(0, 1),
            other => {
                self.error(
                    "type/iteration",
                    format!(
                        "only a range of integers or a scalarset can be iterated over, not {other}"
                    ),
                    t.span,
                );
                Type::Error
            }
        }
    }
}

fn dim_span(dim: &Dim) -> Span {
    match dim {
        Dim::Expr(e) => e.span,
        Dim::Type(t) => t.span,
        Dim::Error(span) => *span,
    }
}
