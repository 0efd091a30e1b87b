//! Instantiation: from the checked model to the network of processes.
//!
//! Sizes are computed and compared with limits before anything is allocated.

mod conditions;
mod expr;
mod layout;
mod place;
mod process;
mod query;
mod stmt;

use crate::check::{Body, Checked, Env};
use crate::consteval::{EvalError, Evaluator};
use crate::diag::Diag;
use crate::hir::{Expr, Template};
use crate::network::{
    self, Base, CellId, ChannelId, ClockBase, FunctionId, IndexRange, Network, ScalarsetId, Shape,
    UnsupportedUse,
};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::symmetry::{Facts, Root, Slot};
use crate::types::{ScalarSet, Type};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::span::Span;

pub use layout::Limits;
pub use query::resolve;

/// What a name stands for in the network.
#[derive(Clone, Debug)]
pub enum Binding {
    /// Constant values, also at an offset of [`Network::constants`].
    Const {
        /// Its structure.
        shape: Arc<Shape>,
        /// Its values.
        values: Arc<[i32]>,
        /// Where they stand in the network, if they were put there.
        at: Option<u32>,
    },
    /// Cells, clocks and channels of the state, slots of a frame, or what a reference stands for.
    Stored {
        /// Its structure.
        shape: Arc<Shape>,
        /// First cell or slot.
        cell: Base,
        /// First clock.
        clock: ClockBase,
        /// First channel.
        channel: ChannelId,
    },
    /// A double, a string: nothing the engine stores.
    Foreign,
}

/// Names of one process, or the global ones.
pub type Bindings = FxHashMap<SymId, Binding>;

/// A process with its names.
#[derive(Clone, Debug)]
pub struct ProcessScope {
    /// Names of its template.
    pub names: Bindings,
    /// Functions of its template.
    pub functions: FxHashMap<SymId, FunctionId>,
    /// Its own scalar sets, and what its `scalarset` parameters stand for.
    pub sets: FxHashMap<u32, ScalarsetId>,
}

/// A family on the system line.
#[derive(Clone, Debug)]
pub struct FamilyScope {
    /// Index into [`Network::families`].
    pub index: u32,
    /// Cells, clocks and channels of one process.
    pub strides: (u32, u32, u32),
}

/// Sets whose elements are integers: where they are, and their numbers.
pub(crate) type SlotSets = FxHashMap<Slot, ScalarsetId>;

/// The network with what is needed to resolve names against it.
#[derive(Debug, Default)]
pub struct Built {
    /// The network.
    pub network: Network,
    /// Global names.
    pub globals: Bindings,
    /// Global functions.
    pub functions: FxHashMap<SymId, FunctionId>,
    /// Why a function cannot be run, by function.
    pub foreign_functions: FxHashMap<FunctionId, Foreign>,
    /// By process.
    pub processes: Vec<ProcessScope>,
    /// By the number of the symbol on the system line.
    pub families: FxHashMap<SymId, FamilyScope>,
    /// Global scalar sets.
    pub sets: FxHashMap<u32, ScalarsetId>,
    /// Places of identifiers that are integers.
    pub(crate) slot_sets: SlotSets,
}

/// Why an expression has no place in the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Foreign {
    /// The engine does not treat this.
    Unsupported(&'static str, String, Span),
    /// A value of an empty range is needed here: its ends.
    Empty(i32, i32),
    /// Reported already, or impossible after checking.
    Broken,
}

pub(crate) type Lowered<T> = Result<T, Foreign>;

/// A model ready to be instantiated.
pub struct Source<'a> {
    /// Names, functions and templates.
    pub env: &'a Env,
    /// Items in order with their numbers.
    pub items: &'a [(ItemId, Arc<Checked>)],
    /// Where items start.
    pub offsets: &'a FxHashMap<ItemId, u32>,
    /// Sets whose elements are integers.
    pub facts: &'a Facts,
}

/// Builds a network.
pub struct Builder<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) built: Built,
    pub(crate) limits: Limits,
    /// Whether functions take single values by reference, so that constants need places: otherwise those that nobody
    /// uses leave no trace.
    pub(crate) places_values: bool,
    /// Entries of constants and of variables of functions so far.
    pub(crate) reserved: u64,
    /// Edges and locations of the processes so far.
    pub(crate) edges: u64,
    pub(crate) errors: Vec<Diag>,
}

/// Builds the network of a model without errors.
pub fn build(source: &Source<'_>) -> Result<Built, Vec<Diag>> {
    let mut builder = Builder {
        source,
        built: Built::default(),
        limits: Limits::default(),
        places_values: source.env.bodies.values().any(|f| {
            let params = f.params.iter().filter_map(|p| match &p.kind {
                SymKind::Param(p) => Some(p),
                _ => None,
            });
            params
                .into_iter()
                .any(|p| p.reference && !p.ty.is_composite())
        }),
        reserved: 0,
        edges: 0,
        errors: Vec::new(),
    };
    builder.run();
    if builder.errors.is_empty() {
        Ok(builder.built)
    } else {
        Err(builder.errors)
    }
}

impl<'a> Builder<'a> {
    fn run(&mut self) {
        let source = self.source;
        self.integer_sets();
        for (_, checked) in source.items {
            for d in &checked.decls {
                self.global_decl(d);
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        for (_, checked) in source.items {
            if !matches!(checked.body, Body::Template(_)) {
                for f in &checked.functions {
                    let id = self.lower_function(f, None);
                    self.built.functions.insert(f.symbol.id, id);
                    if !self.errors.is_empty() {
                        return;
                    }
                }
            }
        }
        for (item, checked) in source.items {
            if let Body::System(levels) = &checked.body {
                self.system(*item, levels);
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        for (item, checked) in source.items {
            match &checked.body {
                Body::ChanPriority(levels) => self.priorities(*item, levels),
                Body::BeforeUpdate(list) => {
                    let list = self.global_updates(*item, list);
                    self.built.network.before_update.extend(list);
                }
                Body::AfterUpdate(list) => {
                    let list = self.global_updates(*item, list);
                    self.built.network.after_update.extend(list);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn offset(&self, item: ItemId) -> u32 {
        self.source.offsets.get(&item).copied().unwrap_or(0)
    }

    pub(crate) fn absolute(&self, loc: Loc) -> Span {
        loc.span.shift(self.offset(loc.item))
    }

    /// Notes what is not verified. A part of the model that is left out must never go unsaid: without it every answer
    /// could be wrong, so what has no place of its own is reported at `around`.
    pub(crate) fn unsupported(&mut self, foreign: Foreign, around: Span) {
        let (code, message, span) = match foreign {
            Foreign::Unsupported(code, message, span) => (code, message, span),
            Foreign::Empty(lo, hi) => {
                let message = format!("a value of the empty range [{lo},{hi}] is needed");
                ("type/empty-range", message, around)
            }
            Foreign::Broken => {
                let message = "a part of this cannot be verified".to_owned();
                ("unsupported/expression", message, around)
            }
        };
        let list = &mut self.built.network.unsupported;
        if !list.iter().any(|u| u.span == span && u.code == code) {
            list.push(UnsupportedUse {
                code,
                message,
                span,
                fatal: true,
            });
        }
    }

    pub(crate) fn template_of(&self, symbol: &Symbol) -> Option<Arc<Template>> {
        self.source.env.template_of(symbol).cloned()
    }
}

/// Where names are looked up while lowering: a frame inside a process inside the model.
pub struct Scope<'b> {
    pub(crate) env: &'b Env,
    pub(crate) built: &'b Built,
    pub(crate) process: Option<&'b ProcessScope>,
    pub(crate) frame: Bindings,
    pub(crate) next_slot: u32,
    pub(crate) slots: u32,
    /// Entries of all variables declared so far.
    pub(crate) copied: u64,
    /// Offset of the item (or query) that spans are relative to.
    pub(crate) offset: u32,
    /// Inside a function with a boolean result.
    pub(crate) returns_bool: bool,
    /// Sets that variables of a query go through.
    pub(crate) query_sets: FxHashMap<SymId, ScalarsetId>,
}

impl<'b> Scope<'b> {
    pub(crate) fn new(
        env: &'b Env,
        built: &'b Built,
        process: Option<&'b ProcessScope>,
        offset: u32,
    ) -> Scope<'b> {
        Scope {
            env,
            built,
            process,
            frame: Bindings::default(),
            next_slot: 0,
            slots: 0,
            copied: 0,
            offset,
            returns_bool: false,
            query_sets: FxHashMap::default(),
        }
    }

    pub(crate) fn binding(&self, id: SymId) -> Option<&Binding> {
        self.frame
            .get(&id)
            .or_else(|| self.process.and_then(|p| p.names.get(&id)))
            .or_else(|| self.built.globals.get(&id))
    }

    pub(crate) fn span(&self, span: Span) -> Span {
        span.shift(self.offset)
    }

    /// Takes `len` slots.
    pub(crate) fn alloc(&mut self, len: u32) -> u32 {
        let slot = self.next_slot;
        self.next_slot += len;
        self.slots = self.slots.max(self.next_slot);
        slot
    }

    /// The set a bound variable or parameter goes through, where its type does not say.
    pub(crate) fn symbol_set(&self, id: SymId) -> Option<ScalarsetId> {
        let slot = Slot::Leaf(Root::Symbol(id), Vec::new());
        let known = self.built.slot_sets.get(&slot);
        known.or_else(|| self.query_sets.get(&id)).copied()
    }

    /// The range of a bound variable or parameter.
    pub(crate) fn symbol_range(&self, s: &Symbol) -> Lowered<IndexRange> {
        let ty = s.value_type().ok_or(Foreign::Broken)?;
        let mut range = self.index_range(ty)?;
        range.scalarset = range.scalarset.or_else(|| self.symbol_set(s.id));
        Ok(range)
    }

    pub(crate) fn set_id(&self, set: &ScalarSet) -> Option<ScalarsetId> {
        self.process
            .and_then(|p| p.sets.get(&set.id))
            .or_else(|| self.built.sets.get(&set.id))
            .copied()
    }

    fn evaluate<T>(
        &self,
        act: impl FnOnce(&mut Evaluator<'_>) -> Result<T, EvalError>,
    ) -> Lowered<T> {
        let known = |id: SymId| match self.binding(id) {
            Some(Binding::Const { values, .. }) => Some(values.clone()),
            _ => None,
        };
        let mut evaluator = Evaluator::new(&self.env.bodies, &known);
        act(&mut evaluator).map_err(|_| Foreign::Broken)
    }

    /// The range of an index, parameter, select or loop variable.
    pub(crate) fn index_range(&self, ty: &Type) -> Lowered<IndexRange> {
        // A `scalarset` parameter as a dimension has the size of the set it stands for.
        if let Some(set) = ty.any_set()
            && let Some(id) = self.set_id(set)
            && let Some(actual) = self.built.network.scalarsets.get(id as usize)
        {
            return Ok(IndexRange {
                lo: 0,
                len: actual.size,
                scalarset: Some(id),
            });
        }
        let (lo, len) = self.evaluate(|e| e.index_range(ty))?;
        Ok(IndexRange {
            lo,
            len: u32::try_from(len.max(0)).map_err(|_| Foreign::Broken)?,
            scalarset: None,
        })
    }

    /// The ends of an integer type.
    pub(crate) fn int_range(&self, ty: &Type) -> Lowered<(i32, i32)> {
        match ty {
            Type::Bool => Ok((0, 1)),
            Type::Str => Ok((0, i32::MAX)),
            Type::Int(int) => self.evaluate(|e| Ok((e.bound(&int.lo)?, e.bound(&int.hi)?))),
            Type::Scalar(_) => {
                let r = self.index_range(ty)?;
                Ok((0, r.len as i32 - 1))
            }
            _ => Err(Foreign::Broken),
        }
    }

    pub(crate) fn foreign(&self, code: &'static str, message: &str, e: &Expr) -> Foreign {
        Foreign::Unsupported(code, message.into(), self.span(e.span))
    }

    /// The value of a clock where a number is computed.
    pub(crate) fn clock_value(&self, e: &Expr) -> Foreign {
        self.foreign(
            "unsupported/clock-sum",
            "the value of a clock cannot be used as a number in symbolic verification",
            e,
        )
    }

    pub(crate) fn double(&self, e: &Expr) -> Foreign {
        self.foreign(
            "unsupported/double",
            "floating-point values are not part of symbolic verification",
            e,
        )
    }
}

/// The network expression for a constant.
pub(crate) fn constant(value: i32, span: Span) -> network::Expr {
    network::Expr {
        kind: network::ExprKind::Const(value),
        span,
    }
}

/// The value of a constant network expression.
pub(crate) fn as_constant(e: &network::Expr) -> Option<i32> {
    match e.kind {
        network::ExprKind::Const(v) => Some(v),
        _ => None,
    }
}

/// A name as printed in queries: `x`, `P(1).x`.
pub(crate) fn qualified(process: Option<&str>, name: &str) -> SmolStr {
    match process {
        Some(p) => SmolStr::from(format!("{p}.{name}")),
        None => SmolStr::new(name),
    }
}

/// Offsets of the next free cell, clock and channel.
pub(crate) type Cursor = (CellId, u32, ChannelId);
