//! Refactorings that are tried before they are offered: the changed text must have no new errors
//! and must do what the title says.

use crate::diagnostic::{Diagnostic, Fix, Severity};
use crate::model::Model;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{
    BinaryOp, Expr, ExprKind, ItemKind, Param, Process, TypeBase, TypeExpr, Typedef,
};
use zonelens_syntax::span::{Span, TextEdit};

impl Model {
    /// The refactorings available at `span`, beyond the fixes of diagnostics: identifiers stored in
    /// integers become a scalarset, or an ordinary dimension is declared over one. Each result was
    /// analysed and has no new errors.
    pub fn refactorings(&self, file: &SourceFile, span: Span) -> Vec<Fix> {
        let mut out = Vec::new();
        for (at, fix) in self.tentative(file) {
            if touches(at, span) && fewer_errors(self, &self.tried(file, &fix), at) {
                out.push(fix);
            }
        }
        for (name, at) in self.detected() {
            if !touches(at, span) {
                continue;
            }
            let fix = declare_set(file, &name, at);
            let sound = |m: &Model| {
                errors(m).is_empty()
                    && m.network().is_ok_and(|n| {
                        n.scalarsets
                            .iter()
                            .any(|s| !s.detected && s.broken.is_empty())
                    })
            };
            out.extend(fix.filter(|f| sound(&self.tried(file, f))));
        }
        out
    }

    /// The model of the text after the fix.
    fn tried(&self, file: &SourceFile, fix: &Fix) -> Model {
        let mut edits: Vec<&TextEdit> = fix.edits.iter().collect();
        edits.sort_by_key(|e| std::cmp::Reverse(e.span.start));
        let mut file = file.clone();
        for edit in edits {
            file = file.reparse(edit);
        }
        self.update(&file)
    }
}

fn touches(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn errors(model: &Model) -> Vec<&Diagnostic> {
    let list = model.diagnostics().iter();
    list.filter(|d| d.severity == Severity::Error).collect()
}

/// Whether the fix removes the error at `at` and adds none.
fn fewer_errors(before: &Model, after: &Model, at: Span) -> bool {
    let (old, new) = (errors(before), errors(after));
    let here = old.iter().any(|d| d.span == at);
    let known = |d: &Diagnostic| {
        old.iter()
            .any(|o| o.code == d.code && o.message == d.message)
    };
    here && new.len() < old.len() && new.iter().all(|d| known(d))
}

/// Declares the set of a detected family: the type of its parameter becomes `scalar[n]`.
fn declare_set(file: &SourceFile, name: &str, at: Span) -> Option<Fix> {
    let (process, offset) = file.items.iter().find_map(|i| match &i.node.kind {
        ItemKind::Process(p) => Some((p, i.offset)).filter(|(p, o)| parameter(p, at, *o).is_some()),
        _ => None,
    })?;
    let param = parameter(process, at, offset)?;
    let (ty, base) = match &param.ty.base {
        TypeBase::Named(ident) => file.items.iter().find_map(|i| match &i.node.kind {
            ItemKind::Typedef(t) => declares(t, &ident.name).then_some((&t.ty, i.offset)),
            _ => None,
        })?,
        _ => return None,
    };
    let TypeBase::Int(Some(ends)) = &ty.base else {
        return None;
    };
    let text = format!("scalar[{}]", size(&ends.1, file, base)?);
    Some(Fix {
        title: format!("Declare `{name}` as a scalarset"),
        edits: vec![TextEdit {
            span: base_of(ty).shift(base),
            text,
        }],
        safe: false,
    })
}

fn parameter(p: &Process, at: Span, offset: u32) -> Option<&Param> {
    let list = &p.params.as_ref()?.list;
    list.iter().find(|x| x.name.span.shift(offset) == at)
}

fn declares(t: &Typedef, name: &str) -> bool {
    matches!(&t.names[..], [one] if one.name.name == name && one.dims.is_empty())
}

/// The span of a type without its prefixes.
fn base_of(ty: &TypeExpr) -> Span {
    let start = ty.prefixes.iter().map(|(_, s)| s.end).max();
    Span::new(start.map_or(ty.span.start, |e| e + 1), ty.span.end)
}

/// The upper end of a range plus one, as source text.
fn size(hi: &Expr, file: &SourceFile, base: u32) -> Option<String> {
    match &hi.kind {
        ExprKind::Binary {
            op: BinaryOp::Sub,
            lhs,
            rhs,
            ..
        } if matches!(rhs.kind, ExprKind::Int(1)) => {
            Some(file.text.get(lhs.span.shift(base).range())?.to_owned())
        }
        ExprKind::Int(n) => Some((n + 1).to_string()),
        _ => Some(format!(
            "{} + 1",
            file.text.get(hi.span.shift(base).range())?
        )),
    }
}
