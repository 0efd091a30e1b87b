//! What the text leaves out: the range of a plain `int`, the size of an array, how many processes a
//! name stands for.

use crate::snapshot::Snapshot;
use crate::trace::Hint;
use std::collections::HashMap;
use zonelens_analysis::Outline;
use zonelens_analysis::network::{Shape, Variable};
use zonelens_syntax::ast::{
    Declarator, Dim, Expr, ExprKind, ItemKind, MemberKind, Prefix, TypeBase, TypeExpr,
};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// The range of `int` without bounds.
const PLAIN_INT: &str = "[-32768, 32767]";

/// The static hints of a model that touch `range`.
pub fn hints(model: &Snapshot, range: Span) -> Vec<Hint> {
    let mut collector = Collector {
        sizes: Sizes::of(model),
        out: Vec::new(),
    };
    for item in &model.file().items {
        if !meets(item.node.span.shift(item.offset), range) {
            continue;
        }
        collector.item(&item.node.kind, item.offset);
        for member in members(item) {
            let base = item.offset + member.offset;
            match &member.node.kind {
                MemberKind::Var(decl) => collector.declaration(&decl.ty, &decl.names, base),
                MemberKind::Typedef(decl) => collector.range(&decl.ty, base),
                _ => {}
            }
        }
    }
    collector.out.retain(|h| range.touches(h.offset));
    collector.out.sort_by_key(|h| h.offset);
    collector.out
}

/// Where sizes come from: the network of a small system, or the types of a large one.
struct Sizes<'a> {
    variables: HashMap<Span, &'a Variable>,
    outline: Option<&'a Outline>,
    counts: HashMap<&'a str, u64>,
}

impl<'a> Sizes<'a> {
    fn of(model: &'a Snapshot) -> Sizes<'a> {
        let network = model.network_soon().map(|(network, _)| network);
        let outline = (!model.is_quick()).then(|| model.model().outline());
        let made = network.iter().flat_map(|n| &n.families);
        let made = made.map(|f| (f.name.as_str(), u64::from(f.len)));
        let told = outline.iter().flat_map(|o| &o.families);
        let told = told.map(|f| (f.name.as_str(), f.count));
        let variables = network.iter().flat_map(|n| &n.variables);
        Sizes {
            variables: variables.map(|v| (v.span, v)).collect(),
            outline,
            counts: made.chain(told).collect(),
        }
    }

    /// The lengths of the dimensions of the variable whose name stands at `at`.
    fn lengths(&self, at: Span) -> Vec<Option<u32>> {
        if let Some(outline) = self.outline {
            return outline.lengths.get(&at).cloned().unwrap_or_default();
        }
        let mut out = Vec::new();
        let mut shape = self.variables.get(&at).map(|v| &v.shape);
        while let Some(Shape::Array { index, element }) = shape {
            out.push(Some(index.len));
            shape = Some(element);
        }
        out
    }
}

struct Collector<'a> {
    sizes: Sizes<'a>,
    out: Vec<Hint>,
}

impl Collector<'_> {
    fn hint(&mut self, offset: u32, label: String) {
        self.out.push(Hint { offset, label });
    }

    fn item(&mut self, kind: &ItemKind, base: u32) {
        match kind {
            ItemKind::Var(decl) => self.declaration(&decl.ty, &decl.names, base),
            ItemKind::Typedef(decl) => self.range(&decl.ty, base),
            ItemKind::System(line) => {
                for name in line.levels.iter().flatten() {
                    let count = self.sizes.counts.get(name.name.as_str());
                    if let Some(count) = count.filter(|n| **n != 1) {
                        let label = format!("×{count}");
                        self.hint(name.span.shift(base).end, label);
                    }
                }
            }
            _ => {}
        }
    }

    fn declaration(&mut self, ty: &TypeExpr, names: &[Declarator], base: u32) {
        self.range(ty, base);
        for name in names {
            if name.dims.is_empty() {
                continue;
            }
            let lengths = self.sizes.lengths(name.name.span.shift(base));
            for (dim, length) in name.dims.iter().zip(lengths) {
                let written = match dim {
                    Dim::Expr(e) => (!is_literal(e)).then_some(e.span),
                    Dim::Type(ty) => Some(ty.span),
                    Dim::Error(_) => None,
                };
                if let (Some(span), Some(length)) = (written, length) {
                    self.hint(span.shift(base).end, format!("= {length}"));
                }
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

fn meets(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}
