//! Whether copies of a piece of code, one per element, may run in any order.

use super::effects::{Access, Action, Sel, Value};
use crate::symbol::{SymId, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// Two accesses whose order matters.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    /// A write.
    pub write: Access,
    /// The conflicting access: the same one by the copy for another element, or a different one.
    pub other: Access,
}

/// The first pair of accesses that conflict when copies for different values of `vary` run in any
/// order. `same` returns whether a symbol holds the same value in all copies.
pub(super) fn conflict(
    accesses: &[Access],
    vary: SymId,
    same: &dyn Fn(&Symbol) -> bool,
) -> Option<Conflict> {
    let mut groups: FxHashMap<(SymId, Vec<u32>), Vec<&Access>> = FxHashMap::default();
    let mut order = Vec::new();
    for a in accesses {
        let key = (a.root.id, leading_fields(a));
        let group = groups.entry(key.clone()).or_default();
        if group.is_empty() {
            order.push(key);
        }
        group.push(a);
    }
    let written: FxHashSet<SymId> = accesses
        .iter()
        .filter(|a| a.action != Action::Read)
        .map(|a| a.root.id)
        .collect();
    let invariant = |v: &Value| match v {
        Value::Literal(_) => true,
        Value::Symbol(s) => s.id != vary && !written.contains(&s.id) && same(s),
    };
    for key in order {
        let mut group = groups.get(&key).cloned().unwrap_or_default();
        // A whole record overlaps with each of its fields.
        for ((root, fields), more) in &groups {
            let nested = fields.starts_with(&key.1) || key.1.starts_with(fields);
            if *root == key.0 && *fields != key.1 && nested {
                group.extend(more.iter().copied());
            }
        }
        if let Some(found) = group_conflict(&group, vary, &invariant) {
            return Some(found);
        }
    }
    None
}

fn leading_fields(a: &Access) -> Vec<u32> {
    a.path
        .iter()
        .map_while(|s| match s {
            Sel::Field(n) => Some(*n),
            _ => None,
        })
        .collect()
}

fn group_conflict(
    group: &[&Access],
    vary: SymId,
    invariant: &dyn Fn(&Value) -> bool,
) -> Option<Conflict> {
    let write = group.iter().find(|a| a.action != Action::Read)?;
    let longest = group.iter().map(|a| a.path.len()).max().unwrap_or(0);
    let own = (0..longest).any(|p| group.iter().all(|a| a.path.get(p) == Some(&Sel::Var(vary))));
    if own {
        return None;
    }
    let one_operator = matches!(write.action, Action::Accumulate(_))
        && group.iter().all(|a| a.action == write.action);
    if one_operator {
        return None;
    }
    let one_value = matches!(&write.action, Action::Write(Some(v)) if invariant(v))
        && group.iter().all(|a| a.action == write.action);
    if one_value {
        return None;
    }
    let other = group
        .iter()
        .find(|a| a.loc != write.loc && !indexed(a, vary))
        .or_else(|| group.iter().find(|a| a.loc != write.loc))
        .unwrap_or(write);
    // Prefer a write that is not indexed by the element: it explains the conflict better.
    let write = group
        .iter()
        .find(|a| a.action != Action::Read && !indexed(a, vary))
        .unwrap_or(write);
    Some(Conflict {
        write: (*write).clone(),
        other: (*other).clone(),
    })
}

fn indexed(a: &Access, vary: SymId) -> bool {
    a.path.contains(&Sel::Var(vary))
}
