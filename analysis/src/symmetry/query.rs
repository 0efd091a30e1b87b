//! The elements that a query tells apart. They are excluded from the permutations that the search
//! may use.
//!
//! A permutation π of a set acts on states: it moves the entries along the set's dimensions and the
//! states of its processes, and maps the values of the set's variables. Let *C* be the places
//! (variables, fields, array dimensions, parameters, results) that belong to the set after
//! following the model, and *C′* those after also following the query and every function it calls,
//! by the same flow that detects sets. "An element leaves" means that it is returned here.
//!
//! **Claim.** If π fixes every element returned here, then φ(π(q)) = φ(q) for every state q, clocks
//! included, and the same holds for every measured value.
//!
//! **Argument**, by induction over the evaluation of φ on q and on π(q) side by side. The values in
//! places of C′ differ by π; those in other places are equal:
//! - Model data in C: this is how π acts. Model data outside C′: π neither moves nor maps it.
//! - Model data in C′ but not in C: π does not change it, although the query treats it as part of
//!   the set. For a constant this makes no difference if π fixes every element that occurs in it
//!   and only exchanges equal entries. So the elements that occur in it leave, and so do those
//!   whose entries differ from the most common ones. For any other data all elements leave.
//! - Bound variables, parameters, locals, results: they get their values by evaluation. Equality
//!   preserves the relation because π is injective; copies, arguments and indices preserve it
//!   because both sides are in C′. A number that is combined with an element either is an element
//!   that leaves or lies outside the set, and π fixes it in both cases; the same holds for a value
//!   read before it is written. Any other use makes all elements leave, even if it was recorded
//!   while following the model. A quantifier or loop visits the whole set, so π only changes the
//!   order; `sym/loop-order` ensures that the order does not matter, evaluation errors included.
//! - Two sets whose places are joined: all elements of both leave.
//!
//! If something is not known, the elements leave.

use super::Findings;
use super::cache;
use super::classes::{Elements, Facts};
use super::effects::Summaries;
use super::flow::Flow;
use super::loop_order;
use super::slots::{Declared, Root, Slot, Slots, Use};
use crate::check::{CheckedKind, Env};
use crate::hir::Expr;
use crate::symbol::{QUERY_ITEM, SymId, SymKind};
use crate::types::{ScalarSet, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The effect of a query on the sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// Elements it tells apart: id of the set, element.
    pub elements: Vec<(u32, u32)>,
    /// Sets all of whose elements it tells apart, by id, with the reason.
    pub all: BTreeMap<u32, String>,
    /// Its bound variables over sets of integers, with the id of the set.
    pub variables: FxHashMap<SymId, u32>,
}

/// Variants of this analysis. The wrong one exists for tests that must notice it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Judge {
    /// The correct analysis.
    #[default]
    Exact,
    /// Considers only the uses that the query adds. This is wrong.
    NewUsesOnly,
}

/// The formulas of a query.
fn formulas(query: &CheckedKind) -> Vec<&Expr> {
    match query {
        CheckedKind::Path(_, e) => vec![e],
        CheckedKind::LeadsTo(p, q) => vec![p, q],
        CheckedKind::Bounds(_, condition, exprs) => condition.iter().chain(exprs).collect(),
    }
}

impl Facts {
    /// The elements that a query tells apart, and the sets that its own variables range over.
    pub(crate) fn named(&self, env: &Env, query: &CheckedKind) -> Named {
        self.judged(env, query, Judge::Exact)
    }

    /// The same, by the given variant of the analysis.
    pub(crate) fn judged(&self, env: &Env, query: &CheckedKind, judge: Judge) -> Named {
        let mut out = Named::default();
        if !self.any {
            return out;
        }
        let mut sets = FxHashMap::default();
        if !self.elements.is_empty() {
            self.follow(env, query, judge, &mut sets, &mut out);
        }
        if judge == Judge::Exact {
            out.all.extend(self.orders(env, query, sets));
        }
        out.elements.sort_unstable();
        out.elements.dedup();
        let all = &out.all;
        out.variables.retain(|_, set| !all.contains_key(set));
        out
    }

    /// Follows elements of sets of integers through the query, and collects the symbols that hold
    /// them in `sets`.
    fn follow(
        &self,
        env: &Env,
        query: &CheckedKind,
        judge: Judge,
        sets: &mut FxHashMap<SymId, Arc<ScalarSet>>,
        out: &mut Named,
    ) {
        let before = self.slots.uses.len();
        let mut flow = Flow::query(env, self.slots.clone(), self.followed.clone());
        match query {
            CheckedKind::Path(_, e) => flow.truth(e),
            CheckedKind::LeadsTo(p, q) => {
                flow.truth(p);
                flow.truth(q);
            }
            CheckedKind::Bounds(_, condition, exprs) => {
                condition.iter().for_each(|c| flow.truth(c));
                exprs.iter().for_each(|e| flow.measured(e));
            }
        }
        flow.rest();
        flow.slots.join_sets();
        for e in &self.elements {
            let view = View {
                facts: self,
                slots: &flow.slots,
                of: e,
                class: flow.slots.class(e.class),
                before,
                judge,
            };
            let mut apart = Apart::new(e);
            view.look(&mut apart);
            apart.settle(e, out);
            sets.extend(view.symbols().map(|s| (s, e.set.clone())));
            let bound = view.bound_variables();
            out.variables.extend(bound.map(|s| (s, e.set.id)));
        }
    }

    /// Sets for which the result of a loop or quantifier in the query, or in a function it calls,
    /// depends on the order of elements.
    fn orders(
        &self,
        env: &Env,
        query: &CheckedKind,
        sets: FxHashMap<SymId, Arc<ScalarSet>>,
    ) -> BTreeMap<u32, String> {
        let mut summaries = Summaries::new(&env.bodies, &self.ranges);
        summaries.sets = sets;
        let mut found = Findings::default();
        let (mut met, mut todo) = (FxHashSet::default(), FxHashSet::default());
        for e in formulas(query) {
            loop_order::expression(e, QUERY_ITEM, &mut summaries, &mut found);
            cache::callees(e, &mut todo);
        }
        while let Some(&body) = todo.iter().next() {
            todo.remove(&body);
            let Some(f) = env.bodies.get(&body).filter(|_| met.insert(body)) else {
                continue;
            };
            loop_order::function(f, &mut summaries, &mut found);
            cache::callees_of(f, &mut todo);
        }
        let why = "the result of a loop or quantifier depends on their order";
        let broken = found.broken.iter();
        broken.map(|b| (b.0, why.to_owned())).collect()
    }
}

/// What a query does with one set.
struct View<'a> {
    facts: &'a Facts,
    /// The slots after following the query.
    slots: &'a Slots,
    of: &'a Elements,
    /// The class of the set in `slots`.
    class: usize,
    /// The number of uses recorded for the model.
    before: usize,
    judge: Judge,
}

impl View<'_> {
    /// Whether a slot belonged to the set before the query.
    fn in_model(&self, slot: usize) -> bool {
        slot < self.facts.slots.len() && self.facts.slots.class(slot) == self.of.class
    }

    fn look(&self, apart: &mut Apart) {
        let others = self.facts.elements.iter();
        let mut others = others.filter(|o| o.set.id != self.of.set.id);
        if let Some(other) = others.find(|o| self.slots.class(o.class) == self.class) {
            apart.all(format!(
                "the query takes elements of `{}` for elements of `{}`",
                self.of.set.name, other.set.name
            ));
        }
        for (n, (slot, how, _)) in self.slots.uses.iter().enumerate() {
            let looked_at = n >= self.before || self.judge == Judge::Exact && !self.in_model(*slot);
            if !looked_at || self.slots.class(*slot) != self.class {
                continue;
            }
            match how {
                Use::Literal(v) | Use::Index(v) | Use::Default(v) | Use::Priority(v) => {
                    apart.name(*v);
                }
                Use::Indexed => {}
                Use::Order => apart.all("the query compares them by order".into()),
                Use::Arithmetic => apart.all("the query computes with them".into()),
                Use::Clock => apart.all("the query compares a clock with one".into()),
                Use::Computed | Use::Entries | Use::Partial => {
                    apart.all("the query uses a computed number as one".into());
                }
            }
        }
        if self.judge != Judge::Exact {
            return self.ranges(apart);
        }
        for id in 0..self.slots.len() {
            if self.slots.class(id) == self.class && !self.in_model(id) {
                match self.slots.declared.get(id).and_then(Option::as_ref) {
                    Some(d) => self.place(d, apart),
                    None => apart.all("the query uses them in a way that is not followed".into()),
                }
            }
        }
    }

    /// Names the elements in bound variables that range over a part of the set.
    fn ranges(&self, apart: &mut Apart) {
        let whole = apart.whole();
        for d in self.slots.declared.iter().flatten() {
            if let Some(range) = d.range
                && d.exact
                && range != whole
                && self.slots.find(&d.slot) == Some(self.class)
            {
                (range.0.max(whole.0)..=range.1.min(whole.1)).for_each(|v| apart.name(v));
            }
        }
    }

    /// Handles a slot that belongs to the set only because of the query.
    fn place(&self, d: &Declared, apart: &mut Apart) {
        let whole = apart.whole();
        let Some(range) = d.range else {
            return apart
                .all("a range that they iterate over is not known before instantiation".into());
        };
        if let Some(symbol) = &d.constant {
            let SymKind::Var(v) = &symbol.kind else {
                return apart.all(format!("`{}` is not followed", symbol.name));
            };
            match (&v.value, &d.slot) {
                (Some(values), slot) => {
                    let exact = matches!(slot, Slot::Leaf(..)) || range == whole;
                    let entries = Entries::new(&v.ty, values, slot);
                    match entries.filter(|_| exact) {
                        Some(entries) => apart.entries(entries),
                        None => {
                            apart.all(format!("the constant `{}` tells them apart", symbol.name))
                        }
                    }
                }
                // A constant of a function, computed from its arguments: its initialiser was
                // followed.
                (None, _) if d.temporary => self.temporary(d, range, whole, apart),
                (None, _) => apart.all(format!("the constant `{}` is not followed", symbol.name)),
            }
            return;
        }
        if !d.temporary {
            return apart.all(
                "the query compares them with data, or looks up data by them, that renaming does not change"
                    .into(),
            );
        }
        self.temporary(d, range, whole, apart);
    }

    fn temporary(&self, d: &Declared, range: (i32, i32), whole: (i32, i32), apart: &mut Apart) {
        if d.exact && range != whole {
            if matches!(d.slot, Slot::Dim(..)) {
                return apart.all("an array they index has another size".into());
            }
            // A part of the set: the query names these elements one by one.
            (range.0.max(whole.0)..=range.1.min(whole.1)).for_each(|v| apart.name(v));
        } else if range.0 > whole.0 || range.1 < whole.1 {
            apart.all("a parameter or variable of a function cannot hold them all".into());
        }
    }

    /// Variables and parameters that hold elements.
    fn symbols(&self) -> impl Iterator<Item = SymId> {
        let here = self
            .slots
            .iter()
            .filter(|(_, id)| self.slots.class(*id) == self.class);
        here.filter_map(|(slot, _)| match slot {
            Slot::Leaf(Root::Symbol(s), fields) if fields.is_empty() => Some(*s),
            _ => None,
        })
    }

    /// The bound variables of the query among them.
    fn bound_variables(&self) -> impl Iterator<Item = SymId> {
        let bound = |s: &SymId| {
            let slot = Slot::Leaf(Root::Symbol(*s), Vec::new());
            let id = self.slots.find_id(&slot);
            id.is_some_and(|id| {
                let declared = self.slots.declared.get(id).and_then(Option::as_ref);
                !self.in_model(id) && declared.is_some_and(|d| d.exact && d.temporary)
            })
        };
        self.symbols().filter(bound)
    }
}

/// Elements that are told apart, collected so far.
struct Apart {
    first: i32,
    size: u32,
    named: BTreeSet<u32>,
    all: Option<String>,
    /// For each element, the entries of constants at its index.
    keys: Vec<Vec<i32>>,
}

impl Apart {
    fn new(e: &Elements) -> Apart {
        Apart {
            first: e.first,
            size: e.size,
            named: BTreeSet::new(),
            all: None,
            keys: vec![Vec::new(); e.size as usize],
        }
    }

    fn whole(&self) -> (i32, i32) {
        (self.first, self.first + self.size as i32 - 1)
    }

    fn all(&mut self, why: String) {
        self.all.get_or_insert(why);
    }

    fn name(&mut self, value: i32) {
        let n = i64::from(value) - i64::from(self.first);
        if (0..i64::from(self.size)).contains(&n) {
            self.named.insert(n as u32);
        }
    }

    fn entries(&mut self, entries: Entries) {
        match entries {
            Entries::Values(values) => values.into_iter().for_each(|v| self.name(v)),
            Entries::Keys(keys) if keys.len() == self.keys.len() => {
                for (all, new) in self.keys.iter_mut().zip(keys) {
                    all.extend(new);
                }
            }
            Entries::Keys(_) => self.all("a constant has entries for some of them only".into()),
        }
    }

    /// In each class, only the elements with the most common entries stay interchangeable.
    fn settle(mut self, e: &Elements, out: &mut Named) {
        if let Some(why) = self.all {
            out.all.insert(e.set.id, why);
            return;
        }
        for block in &e.blocks {
            let mut groups: BTreeMap<&Vec<i32>, Vec<u32>> = BTreeMap::new();
            for k in block.iter().filter(|k| !self.named.contains(k)) {
                if let Some(key) = self.keys.get(*k as usize) {
                    groups.entry(key).or_default().push(*k);
                }
            }
            let most = groups.values().map(Vec::len).max().unwrap_or(0);
            let mut kept = false;
            let mut leave = Vec::new();
            for group in groups.into_values() {
                if group.len() == most && !kept {
                    kept = true;
                } else {
                    leave.extend(group);
                }
            }
            self.named.extend(leave);
        }
        out.elements
            .extend(self.named.into_iter().map(|k| (e.set.id, k)));
    }
}

/// The entries of a constant that matter for one of its slots.
enum Entries {
    /// All values in the slot.
    Values(Vec<i32>),
    /// For each index of the dimension, all values at that index.
    Keys(Vec<Vec<i32>>),
}

impl Entries {
    /// Reads the entries; `None` if the values do not fit the type.
    fn new(ty: &Type, values: &[i32], slot: &Slot) -> Option<Entries> {
        let mut walk = Walk {
            slot,
            values: values.iter(),
            fields: Vec::new(),
            dims: 0,
            at: None,
            leaves: Vec::new(),
            keys: BTreeMap::new(),
        };
        walk.part(ty)?;
        match (walk.values.next(), slot) {
            (Some(_), _) => None,
            (None, Slot::Leaf(..)) => Some(Entries::Values(walk.leaves)),
            (None, Slot::Dim(..)) => Some(Entries::Keys(walk.keys.into_values().collect())),
        }
    }
}

/// A walk over the flattened values of a constant.
struct Walk<'a> {
    slot: &'a Slot,
    values: std::slice::Iter<'a, i32>,
    fields: Vec<u32>,
    dims: u32,
    /// The current index in the dimension of the slot.
    at: Option<i32>,
    leaves: Vec<i32>,
    keys: BTreeMap<i32, Vec<i32>>,
}

impl Walk<'_> {
    fn part(&mut self, ty: &Type) -> Option<()> {
        match ty {
            Type::Array(a) => {
                let Type::Int(int) = &a.index else {
                    return None;
                };
                let (lo, hi) = int.lo.known().zip(int.hi.known())?;
                let here =
                    matches!(self.slot, Slot::Dim(_, f, n) if *f == self.fields && *n == self.dims);
                self.dims += 1;
                for k in lo..=hi {
                    if here {
                        self.at = Some(k);
                        self.keys.entry(k).or_default();
                    }
                    self.part(&a.element)?;
                }
                self.dims -= 1;
                if here {
                    self.at = None;
                }
            }
            Type::Struct(s) => {
                for (n, (_, t)) in s.fields.iter().enumerate() {
                    self.fields.push(n as u32);
                    self.part(t)?;
                    self.fields.pop();
                }
            }
            _ => {
                let value = *self.values.next()?;
                if matches!(self.slot, Slot::Leaf(_, f) if *f == self.fields) {
                    self.leaves.push(value);
                }
                if let Some(k) = self.at {
                    self.keys.entry(k).or_default().push(value);
                }
            }
        }
        Some(())
    }
}
