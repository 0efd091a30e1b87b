//! Slots: places that can hold an identifier, joined into classes where values flow between them.

use crate::symbol::{Home, Loc, ParamOf, SymId, SymKind, Symbol};
use crate::types::{IntType, ScalarSet, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A variable, or the result of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Root {
    /// A variable, parameter or bound variable.
    Symbol(SymId),
    /// The result of the function with this body.
    Result(u32),
}

/// A place that can hold identifiers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// An integer, by its path of fields; all entries of an array share one slot.
    Leaf(Root, Vec<u32>),
    /// An array dimension, by its path of fields and the number of dimensions before it.
    Dim(Root, Vec<u32>, u32),
}

/// A use of a slot that identifiers do not allow, or a number it is combined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// `+`, `++` and the like.
    Arithmetic,
    /// `<` and the like.
    Order,
    /// Compared with a clock.
    Clock,
    /// Assigned or compared to a computed value.
    Computed,
    /// Initialised by a list whose entries differ along a dimension.
    Entries,
    /// Assigned or compared to a number.
    Literal(i32),
    /// Indexed by a number.
    Index(i32),
    /// Read with its default value, before any assignment.
    Default(i32),
    /// A parameter that is given a number at instantiation.
    Partial,
    /// Indexed by a number in a channel priority.
    Priority(i32),
    /// A dimension indexed by another slot, which is harmless by itself.
    Indexed,
}

/// The declaration of a slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declared {
    /// The slot.
    pub slot: Slot,
    /// Least and greatest value, if known.
    pub range: Option<(i32, i32)>,
    /// Whether the range must contain exactly the elements (bound variables, dimensions) rather
    /// than at least them (variables).
    pub exact: bool,
    /// The constant of the model, if it is one: its values are not part of the state.
    pub constant: Option<Arc<Symbol>>,
    /// Whether evaluation sets its value: a bound variable, or a parameter, local variable or
    /// result of a function.
    pub temporary: bool,
    /// The set in its type, in `scalarset` notation.
    pub set: Option<Arc<ScalarSet>>,
    /// Where the symbol is declared.
    pub loc: Loc,
}

/// All slots, as a union-find structure.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    ids: FxHashMap<Slot, usize>,
    parent: Vec<usize>,
    /// Declarations, by slot id.
    pub declared: Vec<Option<Declared>>,
    /// Uses, by slot id (not by class).
    pub uses: Vec<(usize, Use, Loc)>,
}

impl Slots {
    fn id(&mut self, slot: Slot) -> usize {
        let next = self.parent.len();
        let id = *self.ids.entry(slot).or_insert(next);
        if id == next {
            self.parent.push(next);
            self.declared.push(None);
        }
        id
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// The class of a slot, if it occurred.
    pub(super) fn find(&self, slot: &Slot) -> Option<usize> {
        self.ids.get(slot).map(|&id| self.class(id))
    }

    /// The id of a slot, if it occurred. Joins have no effect on it.
    pub(super) fn find_id(&self, slot: &Slot) -> Option<usize> {
        self.ids.get(slot).copied()
    }

    /// All slots with their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Slot, usize)> {
        self.ids.iter().map(|(s, id)| (s, *id))
    }

    /// The id of an integer slot.
    pub(super) fn leaf(&mut self, root: &Root, fields: &[u32]) -> usize {
        self.id(Slot::Leaf(root.clone(), fields.to_vec()))
    }

    /// The id of a dimension slot.
    pub(super) fn dim(&mut self, root: &Root, fields: &[u32], dims: u32) -> usize {
        self.id(Slot::Dim(root.clone(), fields.to_vec(), dims))
    }

    /// The representative of the class of a slot.
    pub(super) fn class(&self, mut id: usize) -> usize {
        while let Some(&p) = self.parent.get(id) {
            if p == id {
                break;
            }
            id = p;
        }
        id
    }

    /// Joins the classes of two slots: values flow between them.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.class(a), self.class(b));
        let (low, high) = (a.min(b), a.max(b));
        if let Some(p) = self.parent.get_mut(high) {
            *p = low;
        }
    }

    /// Joins all slots declared with the same set in `scalarset` notation.
    pub(super) fn join_sets(&mut self) {
        let mut first: FxHashMap<u32, usize> = FxHashMap::default();
        for id in 0..self.declared.len() {
            let set = self
                .declared
                .get(id)
                .and_then(Option::as_ref)
                .and_then(|d| d.set.as_ref());
            if let Some(set) = set.filter(|s| !s.parameter) {
                let with = *first.entry(set.id).or_insert(id);
                self.join(with, id);
            }
        }
    }

    /// Turns index uses recorded since `from` into uses in a channel priority.
    pub(super) fn as_priorities(&mut self, from: usize) {
        for (_, how, _) in self.uses.iter_mut().skip(from) {
            if let Use::Index(n) = how {
                *how = Use::Priority(*n);
            }
        }
    }

    /// Records a use.
    pub(super) fn used(&mut self, slot: usize, how: Use, loc: Loc) {
        self.uses.push((slot, how, loc));
    }

    /// Records the ranges and sets of a symbol's slots.
    pub(super) fn declare(&mut self, root: &Root, s: &Arc<Symbol>, ty: &Type) {
        if self.ids.contains_key(&Slot::Leaf(root.clone(), Vec::new())) && !ty.is_composite() {
            let id = self.leaf(root, &[]);
            if self.declared.get(id).is_some_and(Option::is_some) {
                return;
            }
        }
        let constant = matches!(&s.kind, SymKind::Var(v) if v.constant).then(|| s.clone());
        let model = Declared {
            slot: Slot::Leaf(root.clone(), Vec::new()),
            range: None,
            exact: matches!(s.kind, SymKind::Bound(_)),
            constant,
            temporary: match &s.kind {
                SymKind::Bound(_) | SymKind::Function(_) => true,
                SymKind::Param(p) => p.of == ParamOf::Function,
                SymKind::Var(v) => v.home == Home::Function,
                _ => false,
            },
            set: None,
            loc: s.loc,
        };
        self.declare_type(root, &mut Vec::new(), 0, ty, &model);
    }

    /// Records the counter of C loops, which takes exactly the values of a range.
    pub(super) fn declare_counter(&mut self, s: &Arc<Symbol>, range: (i32, i32)) {
        self.note(Declared {
            slot: Slot::Leaf(Root::Symbol(s.id), Vec::new()),
            range: Some(range),
            exact: true,
            constant: None,
            temporary: true,
            set: None,
            loc: s.loc,
        });
    }

    fn declare_type(
        &mut self,
        root: &Root,
        fields: &mut Vec<u32>,
        dims: u32,
        ty: &Type,
        model: &Declared,
    ) {
        let mut note = |slot: Slot, int: &IntType, exact: bool| {
            self.note(Declared {
                slot,
                range: int.lo.known().zip(int.hi.known()),
                exact,
                set: int.set.clone(),
                ..model.clone()
            });
        };
        match ty {
            Type::Int(int) => note(Slot::Leaf(root.clone(), fields.clone()), int, model.exact),
            Type::Array(a) => {
                if let Type::Int(int) = &a.index {
                    note(Slot::Dim(root.clone(), fields.clone(), dims), int, true);
                }
                self.declare_type(root, fields, dims + 1, &a.element, model);
            }
            Type::Struct(s) => {
                for (n, (_, t)) in s.fields.iter().enumerate() {
                    fields.push(n as u32);
                    self.declare_type(root, fields, dims, t, model);
                    fields.pop();
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, declared: Declared) {
        let id = self.id(declared.slot.clone());
        if let Some(d) = self.declared.get_mut(id) {
            *d = Some(declared);
        }
    }

    /// Joins all corresponding slots of two values of type `ty`.
    pub(super) fn join_all(
        &mut self,
        a: &(Root, Vec<u32>, u32),
        b: &(Root, Vec<u32>, u32),
        ty: &Type,
    ) {
        match ty {
            Type::Int(_) => {
                let (x, y) = (self.leaf(&a.0, &a.1), self.leaf(&b.0, &b.1));
                self.join(x, y);
            }
            Type::Array(t) => {
                let (x, y) = (self.dim(&a.0, &a.1, a.2), self.dim(&b.0, &b.1, b.2));
                self.join(x, y);
                let next = |p: &(Root, Vec<u32>, u32)| (p.0.clone(), p.1.clone(), p.2 + 1);
                self.join_all(&next(a), &next(b), &t.element);
            }
            Type::Struct(s) => {
                for (n, (_, t)) in s.fields.iter().enumerate() {
                    let into = |p: &(Root, Vec<u32>, u32)| {
                        let mut fields = p.1.clone();
                        fields.push(n as u32);
                        (p.0.clone(), fields, p.2)
                    };
                    self.join_all(&into(a), &into(b), t);
                }
            }
            _ => {}
        }
    }

    /// The integer slots of a value of type `ty`.
    pub(super) fn all_of(&mut self, root: &Root, ty: &Type) -> Vec<usize> {
        let mut out = Vec::new();
        self.collect(&mut (root.clone(), Vec::new(), 0), ty, false, &mut out);
        out
    }

    /// The integer slots and the dimensions of a part of type `ty`.
    pub(super) fn all_at(&mut self, at: &(Root, Vec<u32>, u32), ty: &Type) -> Vec<usize> {
        let mut out = Vec::new();
        self.collect(&mut at.clone(), ty, true, &mut out);
        out
    }

    fn collect(
        &mut self,
        at: &mut (Root, Vec<u32>, u32),
        ty: &Type,
        dims: bool,
        out: &mut Vec<usize>,
    ) {
        match ty {
            Type::Int(_) => out.push(self.leaf(&at.0, &at.1)),
            Type::Array(a) => {
                if dims {
                    out.push(self.dim(&at.0, &at.1, at.2));
                }
                at.2 += 1;
                self.collect(at, &a.element, dims, out);
                at.2 -= 1;
            }
            Type::Struct(s) => {
                for (n, (_, t)) in s.fields.iter().enumerate() {
                    at.1.push(n as u32);
                    self.collect(at, t, dims, out);
                    at.1.pop();
                }
            }
            _ => {}
        }
    }
}
