//! Detects the 3.x syntax.

use zonelens_syntax::ast::{Expr, ExprKind, Item, ItemKind, MemberKind, Params, TypeBase, VarDecl};

/// Whether an item uses the 3.x syntax: `const N 5;`, parameter groups separated by `;`, or
/// conditions joined by commas.
pub(crate) fn in_item(item: &Item) -> bool {
    match &item.kind {
        ItemKind::Var(v) => implicit(v),
        ItemKind::Process(p) => {
            p.params.as_ref().is_some_and(old_params)
                || p.members.iter().any(|m| old_member(&m.node.kind))
        }
        _ => false,
    }
}

fn implicit(v: &VarDecl) -> bool {
    matches!(v.ty.base, TypeBase::ImplicitInt)
}

fn old_params(p: &Params) -> bool {
    let set = |base: &TypeBase| matches!(base, TypeBase::ScalarsetParam);
    (p.legacy && !p.list.iter().any(|p| set(&p.ty.base)))
        || p.list
            .iter()
            .any(|p| matches!(p.ty.base, TypeBase::ImplicitInt))
}

fn old_member(kind: &MemberKind) -> bool {
    let comma = |e: &Option<Expr>| matches!(e, Some(e) if matches!(e.kind, ExprKind::Comma(_)));
    match kind {
        MemberKind::Var(v) => implicit(v),
        MemberKind::States(list) => list.iter().any(|l| comma(&l.invariant)),
        MemberKind::Edge(e) => comma(&e.guard),
        _ => false,
    }
}
