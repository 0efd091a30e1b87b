//! Fixes that depend on the names in scope.

use super::{Checker, Tentative};
use crate::diag::{Diag, Repair};
use crate::fix::Change;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{Loc, SymKind};
use crate::types::{ScalarSet, Type};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use zonelens_syntax::ast::{self, BinaryOp, ExprKind as A, UnaryOp};
use zonelens_syntax::span::Span;

/// The most elements suggested for one place.
const OFFERED: usize = 3;

impl Checker<'_> {
    /// Names of elements of a set that are in scope, innermost first. Globals are left out: they
    /// belong to other items and are seldom the element that was meant.
    fn elements_in_scope(&self, set: &ScalarSet) -> Vec<SmolStr> {
        let mut hidden: FxHashSet<&SmolStr> = FxHashSet::default();
        let mut out = Vec::new();
        for frame in self.frames.iter().rev() {
            let mut here: Vec<_> = frame
                .iter()
                .filter(|(name, s)| {
                    !hidden.contains(name)
                        && matches!(s.kind, SymKind::Bound(_) | SymKind::Param(_))
                        && matches!(s.value_type(), Some(Type::Scalar(other)) if **other == *set)
                })
                .collect();
            here.sort_by_key(|(_, s)| s.id);
            out.extend(here.into_iter().map(|(name, _)| name.clone()));
            hidden.extend(frame.keys());
        }
        out.truncate(OFFERED);
        out
    }

    /// Offers the elements in scope as replacements for the text at `span`.
    pub(super) fn offer_elements(&self, mut diag: Diag, set: &ScalarSet, span: Span) -> Diag {
        for name in self.elements_in_scope(set) {
            let loc = self.here(span);
            diag = diag.fix(format!("Use `{name}`"), loc, name.as_str());
        }
        diag
    }

    /// Where arithmetic on an element is written and an element of its set is expected, offers the
    /// operand alone.
    pub(super) fn offer_operand(&mut self, want: &Type, e: &Expr) {
        let Type::Scalar(set) = want else {
            return;
        };
        let operand = match &e.kind {
            ExprKind::Binary(op, a, b) if is_arithmetic(*op) => {
                match (a.ty.scalar(), b.ty.scalar()) {
                    (Some(_), _) => a,
                    _ => b,
                }
            }
            ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, a) => a,
            _ => return,
        };
        if operand.ty.scalar() != Some(set) || self.in_query {
            return;
        }
        let keep = operand.span;
        let found = self.out.diags.iter_mut().rev().find(|d| {
            d.code == "sym/arithmetic" && covers(e.span, d.loc.span) && covers(d.loc.span, keep)
        });
        let Some(diag) = found else {
            return;
        };
        let whole = diag.loc;
        let cut = |start: u32, end: u32| {
            let span = Span::new(start, end);
            Change::Replace(Loc { span, ..whole }, String::new())
        };
        let mut changes = Vec::new();
        if keep.start > whole.span.start {
            changes.push(cut(whole.span.start, keep.start));
        }
        if whole.span.end > keep.end {
            changes.push(cut(keep.end, whole.span.end));
        }
        diag.fixes.push(Repair {
            title: "Keep only the scalar".into(),
            changes,
            safe: false,
        });
    }

    /// Offers to declare an undeclared name where a value of type `ty` is expected.
    pub(super) fn offer_declaration(&mut self, e: &ast::Expr, ty: &Type) {
        let A::Name(ident) = &e.kind else {
            return;
        };
        if self.in_query || self.unknown_types.contains(&ident.name) {
            return;
        }
        let written = match ty {
            Type::Bool => SmolStr::new("bool"),
            Type::Int(_) | Type::Clock | Type::Diff => SmolStr::new("int"),
            Type::Chan(_) => SmolStr::new("chan"),
            Type::Scalar(set) => match self.lookup(&set.name).map(|s| s.kind.clone()) {
                Some(SymKind::Type(Type::Scalar(same), _)) if same == *set => set.name.clone(),
                _ => return,
            },
            _ => return,
        };
        let (loc, item) = (self.loc(ident.span), self.item);
        let found = self
            .out
            .diags
            .iter_mut()
            .rev()
            .find(|d| d.code == "name/unknown" && d.loc == loc);
        if let Some(diag) = found {
            // Names in capitals are constants by convention, and other places may need them to be
            // constant.
            let capitals = ident.name.len() > 1 && !ident.name.contains(|c: char| c.is_lowercase());
            let text = match (self.wants_constant || capitals, ty) {
                (false, _) => format!("{written} {};", ident.name),
                (true, Type::Int(_)) => format!("const int {} = 1;", ident.name),
                (true, Type::Clock | Type::Diff) => format!("const int {} = 1;", ident.name),
                (true, _) if !self.wants_constant => format!("{written} {};", ident.name),
                (true, _) => return,
            };
            let change = Change::Declare(item, text.clone());
            let title = format!("Declare `{text}`");
            if diag.fixes.iter().all(|f| f.title != title) {
                diag.fixes.push(Repair {
                    title,
                    changes: vec![change],
                    safe: false,
                });
            }
        }
    }

    /// A change that puts another operator between two operands.
    pub(super) fn operator(&self, a: &Expr, b: &Expr, op: &str) -> Change {
        let between = Span::new(a.span.end, b.span.start.max(a.span.end));
        Change::Replace(self.here(between), format!(" {op} "))
    }

    /// Offers an assignment in place of a comparison whose result is not used.
    pub(super) fn offer_assignment(&self, diag: Diag, e: &Expr) -> Diag {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Eq, a, b)
                if self.denotes_variable(a) && !matches!(a.ty, Type::Cond(_)) =>
            {
                diag.repair("Assign with `=`", vec![self.operator(a, b, "=")])
            }
            _ => diag,
        }
    }

    /// Offers to declare an ordinary dimension over the set of the element that indexes it, if all
    /// other uses agree.
    pub(super) fn offer_dimension(&mut self, base: &Expr, want: &Type, index: &Expr) {
        let (Type::Int(_), Type::Scalar(set), false) = (want, &index.ty, self.in_query) else {
            return;
        };
        let Some(root) = base.root() else {
            return;
        };
        let (mut depth, mut at) = (0, base);
        while let ExprKind::Index(inner, _) = &at.kind {
            depth += 1;
            at = inner;
        }
        if matches!(at.kind, ExprKind::Var(_)) {
            let name = set.name.to_string();
            self.out.tentative.push(Tentative {
                loc: self.here(index.span),
                title: format!("Index `{}` by `{name}`", root.name),
                changes: vec![Change::Dimension(root.loc, depth, name)],
            });
        }
    }

    /// Offers to call a function without parameters.
    pub(super) fn offer_call(&self, diag: Diag, span: Span, kind: &SymKind) -> Diag {
        match kind {
            SymKind::Function(sig) if sig.params.is_empty() => {
                let end = self.loc(Span::new(span.end, span.end));
                diag.fix("Call it", end, "()").safe()
            }
            _ => diag,
        }
    }

    /// A name similar to `name` that is not declared here.
    pub(super) fn unused_name(&self, name: &str) -> SmolStr {
        let taken = |n: &SmolStr| {
            self.frames.iter().any(|f| f.contains_key(n))
                || self.env.names.contains_key(n)
                || self.declared.contains_key(n)
        };
        (2u32..)
            .map(|k| SmolStr::new(format!("{name}{k}")))
            .find(|n| !taken(n))
            .unwrap_or_default()
    }
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(
        op,
        B::Pow
            | B::Mul
            | B::Div
            | B::Mod
            | B::Add
            | B::Sub
            | B::Shl
            | B::Shr
            | B::BitAnd
            | B::BitXor
            | B::BitOr
    )
}
