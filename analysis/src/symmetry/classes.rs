//! From flows to sets: the declared sets of the `scalarset` notation with the rules they break, and
//! the detected ones.

use super::Findings;
use super::flow::{Flow, leaf_slot};
use super::interval::Ranges;
use super::malformed_family;
use super::slots::{Declared, Slot, Slots, Use};
use crate::check::{Body, Checked, Env};
use crate::diag::Diag;
use crate::fix::Change;
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::types::{Bound, ScalarSet, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A set whose elements are integers.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    /// The declared set, or one created for a detected family.
    pub set: Arc<ScalarSet>,
    /// The value of its first element.
    pub first: i32,
    /// The number of elements.
    pub size: u32,
    /// Classes of interchangeable elements.
    pub blocks: Vec<Vec<u32>>,
    /// Whether the set was detected rather than declared.
    pub detected: bool,
    pub(super) class: usize,
}

/// Sets of integers and the slots that hold their elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(super) slots: Slots,
    /// The functions that the model calls, by body.
    pub(super) followed: FxHashSet<u32>,
    /// The sets found.
    pub elements: Vec<Elements>,
    /// Whether the model has any sets, `scalar[n]` types included.
    pub(super) any: bool,
    /// The values that variables can hold.
    pub(super) ranges: Arc<Ranges>,
}

impl Facts {
    /// The slots that hold elements of a set.
    pub(crate) fn slots_of(&self, e: &Elements) -> Vec<Slot> {
        let of = |id: usize| self.slots.class(id) == e.class;
        self.slots
            .iter()
            .filter(|(_, id)| of(*id))
            .map(|(s, _)| s.clone())
            .collect()
    }

    /// Bound variables and parameters by the set they range over.
    pub(crate) fn symbols(&self) -> FxHashMap<SymId, Arc<ScalarSet>> {
        let mut out = FxHashMap::default();
        for (slot, id) in self.slots.iter() {
            if let Slot::Leaf(super::slots::Root::Symbol(s), fields) = slot
                && fields.is_empty()
            {
                let class = self.slots.class(id);
                if let Some(e) = self.elements.iter().find(|e| e.class == class) {
                    out.insert(*s, e.set.clone());
                }
            }
        }
        out
    }
}

/// Finds the sets of integers of a model.
pub(super) fn find(env: &Env, items: &[(ItemId, Arc<Checked>)], out: &mut Findings) -> Facts {
    if !has_integer_sets(items) {
        return Facts::default();
    }
    let flow = Flow::new(env, items);
    let mut slots = flow.slots;
    slots.join_sets();
    let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for id in 0..slots.declared.len() {
        classes.entry(slots.class(id)).or_default().push(id);
    }
    let mut uses: FxHashMap<usize, Vec<(usize, Use, Loc)>> = FxHashMap::default();
    for (slot, how, loc) in &slots.uses {
        uses.entry(slots.class(*slot))
            .or_default()
            .push((*slot, *how, *loc));
    }
    let mut facts = Facts {
        slots: slots.clone(),
        followed: flow.followed,
        ..Facts::default()
    };
    let seeds = seeds(env, items, &slots);
    for (class, members) in &classes {
        let declared: Vec<&Declared> = members
            .iter()
            .filter_map(|&id| slots.declared.get(id).and_then(Option::as_ref))
            .collect();
        let none = Vec::new();
        let view = Class {
            id: *class,
            declared,
            uses: uses.get(class).unwrap_or(&none),
            slots: &slots,
        };
        let sets: Vec<&Arc<ScalarSet>> = view
            .declared
            .iter()
            .filter_map(|d| d.set.as_ref())
            .filter(|s| !s.parameter)
            .collect();
        if let Some(set) = sets.first() {
            facts.elements.extend(view.written(items, set, &sets, out));
        } else if let Some((param, range)) = seeds.get(class) {
            match view.detected(env, param, *range) {
                Ok(e) => facts.elements.push(e),
                Err(d) => out.diags.push(d),
            }
        }
    }
    facts
}

/// Whether the model can have sets of integers: a set in `scalarset` notation or a numbered family.
fn has_integer_sets(items: &[(ItemId, Arc<Checked>)]) -> bool {
    let written = |s: &Arc<Symbol>| match &s.kind {
        SymKind::Type(Type::Int(int), _) => int.set.is_some(),
        _ => false,
    };
    let numbered = |s: &Symbol| match &s.kind {
        SymKind::Template(sig) | SymKind::Instance(sig) => {
            sig.params.iter().any(|p| matches!(p.ty, Type::Int(_)))
        }
        _ => false,
    };
    items.iter().any(|(_, c)| {
        c.symbols.iter().any(written)
            || matches!(&c.body, Body::System(levels) if levels.iter().flatten().any(|(s, _)| numbered(s)))
    })
}

type Seed = (Arc<Symbol>, Option<(i32, i32)>);

/// Free integer parameters of families with at least two processes, by class of slots. The range is
/// `None` if families disagree on it.
fn seeds(env: &Env, items: &[(ItemId, Arc<Checked>)], slots: &Slots) -> FxHashMap<usize, Seed> {
    let mut out: FxHashMap<usize, Seed> = FxHashMap::default();
    for (_, c) in items {
        let Body::System(levels) = &c.body else {
            continue;
        };
        for (symbol, _) in levels.iter().flatten() {
            let params = match &symbol.kind {
                SymKind::Template(sig) => env.templates.get(&sig.body).map(|t| t.params.clone()),
                SymKind::Instance(sig) => env.instances.get(&sig.body).map(|t| t.params.clone()),
                _ => None,
            };
            for p in params.unwrap_or_default() {
                let Some(Type::Int(int)) = p.value_type() else {
                    continue;
                };
                let range = int.lo.known().zip(int.hi.known());
                // A single process has no counterpart to swap with; it does not matter which number
                // it shares.
                if range.is_some_and(|(a, b)| a >= b) {
                    continue;
                }
                if let Some(class) = slots.find(&leaf_slot(&p)) {
                    let entry = out.entry(class).or_insert((p.clone(), range));
                    if entry.1 != range {
                        entry.1 = None;
                    }
                }
            }
        }
    }
    out
}

struct Class<'a> {
    id: usize,
    declared: Vec<&'a Declared>,
    uses: &'a [(usize, Use, Loc)],
    slots: &'a Slots,
}

impl Class<'_> {
    fn is_dim(&self, slot: usize) -> bool {
        let declared = self.slots.declared.get(slot).and_then(Option::as_ref);
        declared.is_some_and(|d| matches!(d.slot, Slot::Dim(..)))
    }

    /// Checks a declared set: every rule it breaks is an error.
    fn written(
        &self,
        items: &[(ItemId, Arc<Checked>)],
        set: &Arc<ScalarSet>,
        sets: &[&Arc<ScalarSet>],
        out: &mut Findings,
    ) -> Option<Elements> {
        let size = set.size.known().filter(|n| *n > 0)?;
        if let Some(other) = sets.iter().find(|s| **s != set) {
            let message = format!(
                "elements of `{}` and of `{}` end up in the same variable or index",
                set.name, other.name
            );
            out.broken(set, Diag::new("sym/mixed", message.clone(), other.loc));
            out.broken(other, Diag::new("sym/mixed", message, other.loc));
        }
        let family = malformed_family::complete(items, self.uses, size);
        for (slot, how, loc) in self.uses {
            if matches!(how, Use::Index(_)) && family.contains(&(loc.item, loc.span)) {
                continue;
            }
            let inside = |v: &i32| (0..size).contains(v);
            let (code, what) = match how {
                Use::Arithmetic => ("sym/arithmetic", "arithmetic on an element of"),
                Use::Order => ("sym/order", "an order between elements of"),
                Use::Clock => ("sym/clock", "a clock compared with an element of"),
                Use::Computed if self.is_dim(*slot) => {
                    ("sym/index-int", "a computed number as an index over")
                }
                Use::Entries => (
                    "sym/constant",
                    "an initialiser with an entry for each element of",
                ),
                Use::Computed => ("sym/literal", "a computed number in place of an element of"),
                Use::Index(v) if inside(v) => ("sym/index-int", "a number as an index over"),
                Use::Literal(v) if inside(v) => {
                    ("sym/literal", "a number that singles out an element of")
                }
                Use::Default(v) if inside(v) => (
                    "sym/default",
                    "an unassigned value, which is the first element of",
                ),
                Use::Priority(v) if inside(v) => ("sym/priority", "a priority for one element of"),
                Use::Partial => (
                    "sym/partial-instance",
                    "an instance for only one element of",
                ),
                Use::Indexed if self.plain_dimension(*slot) => (
                    "sym/index-scalar",
                    "an ordinary dimension indexed by an element of",
                ),
                Use::Indexed
                | Use::Index(_)
                | Use::Literal(_)
                | Use::Default(_)
                | Use::Priority(_) => continue,
            };
            let message = format!(
                "{what} the scalarset `{}`: after renaming its elements this would mean something else",
                set.name
            );
            let mut diag = Diag::new(code, message, *loc);
            match how {
                Use::Partial => {
                    let title = format!("Instantiate for all of `{}`", set.name);
                    diag = diag.fix(title, *loc, set.name.as_str());
                }
                Use::Priority(_) => {
                    let change = Change::Clause(*loc, "[", "]");
                    diag = diag.repair("Give all elements this priority", vec![change]);
                }
                Use::Index(_) => {
                    if let Some(copies) = malformed_family::missing(items, self.uses, size, *loc) {
                        diag = diag.repair("Add the edges of the other elements", copies);
                    }
                }
                _ => {}
            }
            out.broken(set, diag);
        }
        self.written_ranges(set, size, out);
        Some(Elements {
            set: set.clone(),
            first: 0,
            size: size as u32,
            blocks: vec![(0..size as u32).collect()],
            detected: false,
            class: self.id,
        })
    }

    /// Reports ranges and constants that tell elements apart. Slots typed by the set itself have no
    /// range of their own.
    fn written_ranges(&self, set: &Arc<ScalarSet>, size: i32, out: &mut Findings) {
        let mut keys: Vec<Vec<i32>> = vec![Vec::new(); size as usize];
        for d in self.declared.iter().filter(|d| d.set.is_none()) {
            // An ordinary dimension is reported where it is indexed.
            if matches!(d.slot, Slot::Dim(..)) && d.constant.is_none() {
                continue;
            }
            if let Err(why) = fits(d, (0, size - 1), &mut keys) {
                let message = format!(
                    "elements of the scalarset `{}` are told apart: {why}",
                    set.name
                );
                out.broken(set, Diag::new("sym/literal", message, d.loc));
            }
        }
        for d in self.declared.iter().filter(|d| d.set.is_some()) {
            let before = keys.clone();
            let differ =
                fits(d, (0, size - 1), &mut keys).is_err() || keys.windows(2).any(|w| w[0] != w[1]);
            if let (true, Some(symbol)) = (differ && before != keys, &d.constant) {
                let message = format!(
                    "the constant `{}` differs along the scalarset `{}`; constants do not move when elements are renamed",
                    symbol.name, set.name
                );
                let diag = Diag::new("sym/constant", message, symbol.loc).repair(
                    format!("Make `{}` a variable", symbol.name),
                    vec![Change::Prefix(symbol.loc, "const")],
                );
                out.broken(set, diag);
            }
        }
    }

    fn plain_dimension(&self, slot: usize) -> bool {
        let declared = self.slots.declared.get(slot).and_then(Option::as_ref);
        declared.is_some_and(|d| d.set.is_none() && matches!(d.slot, Slot::Dim(..)))
    }

    /// Checks integers that number processes. They form a set if they are used for nothing else;
    /// otherwise returns the reason as a hint.
    fn detected(
        &self,
        env: &Env,
        param: &Arc<Symbol>,
        range: Option<(i32, i32)>,
    ) -> Result<Elements, Diag> {
        let stop = |why: String, loc: Loc| {
            let message = format!(
                "the processes numbered by `{}` are not treated as interchangeable: {why}",
                param.name
            );
            let diag = Diag::new("sym/undetected", message, loc);
            if loc == param.loc {
                diag
            } else {
                diag.related(param.loc, "the processes are numbered here")
            }
        };
        let Some((lo, hi)) = range else {
            return Err(stop(
                "families of different size share these numbers".into(),
                param.loc,
            ));
        };
        let size = (i64::from(hi) - i64::from(lo) + 1).min(100_000) as u32;
        let mut single = Vec::new();
        for (_, how, loc) in self.uses {
            let why = match how {
                Use::Arithmetic => "arithmetic is done with them here",
                Use::Order => "they are compared by order here",
                Use::Clock => "a clock is compared with one here",
                Use::Computed => "a computed number is used as one here",
                Use::Entries => "each of them has a separate entry here",
                Use::Partial => "one of them is given at instantiation here",
                Use::Literal(v) | Use::Index(v) | Use::Priority(v) | Use::Default(v) => {
                    if (lo..=hi).contains(v) {
                        single.push((*v, *loc));
                    }
                    continue;
                }
                Use::Indexed => continue,
            };
            return Err(stop(why.into(), *loc));
        }
        let mut keys: Vec<Vec<i32>> = vec![Vec::new(); size as usize];
        for d in &self.declared {
            if let Err(why) = fits(d, (lo, hi), &mut keys) {
                return Err(stop(why, param.loc));
            }
        }
        let distinct: BTreeSet<&Vec<i32>> = keys.iter().collect();
        let by_constants = distinct.len() == keys.len();
        for (v, _) in &single {
            if let Some(key) = keys.get_mut((i64::from(*v) - i64::from(lo)) as usize) {
                key.push(*v);
            }
        }
        let mut groups: BTreeMap<Vec<i32>, Vec<u32>> = BTreeMap::new();
        for (k, key) in keys.into_iter().enumerate() {
            groups.entry(key).or_default().push(k as u32);
        }
        let blocks: Vec<Vec<u32>> = groups.into_values().collect();
        if blocks.iter().all(|b| b.len() < 2) {
            let constant = self.declared.iter().find_map(|d| d.constant.as_ref());
            let number = single.first().map(|s| s.1);
            let constant = constant.map(|c| c.loc);
            let loc = if by_constants { constant } else { number };
            let loc = loc.unwrap_or(param.loc);
            return Err(stop(
                "each of them is singled out by a number or a constant".into(),
                loc,
            ));
        }
        let set = Arc::new(ScalarSet {
            id: env.fresh(),
            name: SmolStr::new(&param.name),
            size: Bound::Known(size as i32),
            loc: param.loc,
            local: false,
            parameter: false,
        });
        Ok(Elements {
            set,
            first: lo,
            size,
            blocks,
            detected: true,
            class: self.id,
        })
    }
}

/// Whether a slot can hold all elements `lo..=hi` symmetrically. Constants along a dimension tell
/// elements apart: their entries are added to `keys`.
fn fits(d: &Declared, (lo, hi): (i32, i32), keys: &mut [Vec<i32>]) -> Result<(), String> {
    if d.range.is_some_and(|(a, b)| a > b) {
        // An empty range holds no value.
        return Ok(());
    }
    let Some(range) = d.range else {
        return Err("a range that they iterate over is not known before instantiation".into());
    };
    if d.exact && range != (lo, hi) {
        return Err(format!(
            "the range [{},{}] is used with them as well",
            range.0, range.1
        ));
    }
    if range.0 > lo || range.1 < hi {
        return Err(format!(
            "a variable of range [{},{}] cannot hold them all",
            range.0, range.1
        ));
    }
    let Some(symbol) = &d.constant else {
        return Ok(());
    };
    let SymKind::Var(v) = &symbol.kind else {
        return Ok(());
    };
    match (&d.slot, &v.ty, &v.value) {
        (Slot::Leaf(..), t, _) if !t.is_composite() => Ok(()),
        (Slot::Dim(_, _, 0), Type::Array(a), Some(values))
            if matches!(a.element, Type::Int(_) | Type::Bool) =>
        {
            for (key, value) in keys.iter_mut().zip(values.iter()) {
                key.push(*value);
            }
            Ok(())
        }
        _ => Err(format!("the constant `{}` tells them apart", symbol.name)),
    }
}
