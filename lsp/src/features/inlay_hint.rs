//! What the text leaves out: the range of a plain `int`, the size of an array, how many processes a name stands for.

use super::trace::Hint;
use crate::document::Snapshot;
use std::collections::HashMap;
use zonelens_analysis::network::{Network, Shape, Variable};
use zonelens_syntax::ast::{
    Declarator, Dim, Expr, ExprKind, ItemKind, MemberKind, Prefix, TypeBase, TypeExpr,
};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// The range of `int` without bounds.
const PLAIN_INT: &str = "[-32768, 32767]";

/// All static hints of a model.
pub fn hints(model: &Snapshot) -> Vec<Hint> {
    let network = model.network().map(|(network, _)| network);
    let variables = network
        .iter()
        .flat_map(|n| &n.variables)
        .map(|v| (v.span, v))
        .collect();
    let mut collector = Collector {
        variables,
        out: Vec::new(),
    };
    for item in &model.file().items {
        collector.item(&item.node.kind, item.offset, network);
        for member in members(item) {
            let base = item.offset + member.offset;
            match &member.node.kind {
                MemberKind::Var(decl) => collector.declaration(&decl.ty, &decl.names, base),
                MemberKind::Typedef(decl) => collector.range(&decl.ty, base),
                _ => {}
            }
        }
    }
    collector.out.sort_by_key(|h| h.offset);
    collector.out
}

struct Collector<'a> {
    variables: HashMap<Span, &'a Variable>,
    out: Vec<Hint>,
}

impl Collector<'_> {
    fn hint(&mut self, offset: u32, label: String) {
        self.out.push(Hint { offset, label });
    }

    fn item(&mut self, kind: &ItemKind, base: u32, network: Option<&Network>) {
        match kind {
            ItemKind::Var(decl) => self.declaration(&decl.ty, &decl.names, base),
            ItemKind::Typedef(decl) => self.range(&decl.ty, base),
            ItemKind::System(line) => {
                for name in line.levels.iter().flatten() {
                    let mut families = network.iter().flat_map(|n| &n.families);
                    let family = families.find(|f| f.name == name.name);
                    if let Some(family) = family.filter(|f| f.len != 1) {
                        self.hint(name.span.shift(base).end, format!("×{}", family.len));
                    }
                }
            }
            _ => {}
        }
    }

    fn declaration(&mut self, ty: &TypeExpr, names: &[Declarator], base: u32) {
        self.range(ty, base);
        for name in names {
            let variable = self.variables.get(&name.name.span.shift(base)).copied();
            let mut shape = variable.map(|v| &v.shape);
            for dim in &name.dims {
                let Some(Shape::Array { index, element }) = shape else {
                    break;
                };
                let written = match dim {
                    Dim::Expr(e) => (!is_literal(e)).then_some(e.span),
                    Dim::Type(ty) => Some(ty.span),
                    Dim::Error(_) => None,
                };
                if let Some(span) = written {
                    self.hint(span.shift(base).end, format!("= {}", index.len));
                }
                shape = Some(element);
            }
        }
    }

    fn range(&mut self, ty: &TypeExpr, base: u32) {
        if matches!(ty.base, TypeBase::Int(None)) && !ty.has(Prefix::Const) {
            self.hint(ty.span.shift(base).end, PLAIN_INT.to_owned());
        }
    }
}

fn is_literal(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) => true,
        ExprKind::Paren(e) => is_literal(e),
        _ => false,
    }
}
