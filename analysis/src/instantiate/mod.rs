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
    self, Base, CellId, ChannelId, ClockBase, ClockId, FunctionId, IndexRange, Network,
    ScalarsetId, Shape, UnsupportedUse,
};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::symmetry::{Facts, Root, Slot};
use crate::types::{ScalarSet, Type};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::span::Span;

pub(crate) use layout::Limits;
pub(crate) use query::resolve;

/// What a name denotes in the network.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// Constant values; also stored in [`Network::constants`] if `at` is set.
    Const {
        /// Its structure.
        shape: Arc<Shape>,
        /// Its values.
        values: Arc<[i32]>,
        /// Their offset in [`Network::constants`], if they are stored there.
        at: Option<u32>,
    },
    /// Cells, clocks and channels of the state, slots of a frame, or the target of a reference.
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
    /// A double or a string: the engine does not store it.
    Foreign,
}

/// The names of one process, or the global names, with what they denote.
pub(crate) type Bindings = FxHashMap<SymId, Binding>;

/// A process with the names declared in its template.
#[derive(Clone, Debug)]
pub(crate) struct ProcessScope {
    /// The names of its template.
    pub names: Bindings,
    /// The functions of its template.
    pub functions: FxHashMap<SymId, FunctionId>,
    /// Its own scalarsets, and the sets that its `scalarset` parameters stand for.
    pub sets: FxHashMap<u32, ScalarsetId>,
}

/// A family on the system line, as queries refer to it.
#[derive(Clone, Debug)]
pub(crate) struct FamilyScope {
    /// Index into [`Network::families`].
    pub index: u32,
    /// The number of cells, clocks and channels of one process.
    pub strides: (u32, u32, u32),
}

/// For each slot that holds an integer identifier: the set of the identifier.
pub(crate) type SlotSets = FxHashMap<Slot, ScalarsetId>;

/// The network, with the tables that resolve names against it.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The network.
    pub network: Network,
    /// Global names.
    pub globals: Bindings,
    /// Global functions.
    pub functions: FxHashMap<SymId, FunctionId>,
    /// For each function that cannot be run, the reason.
    pub foreign_functions: FxHashMap<FunctionId, Foreign>,
    /// The scope of each process.
    pub processes: Vec<ProcessScope>,
    /// Families by the id of the symbol on the system line.
    pub families: FxHashMap<SymId, FamilyScope>,
    /// Global scalarsets.
    pub sets: FxHashMap<u32, ScalarsetId>,
    /// The slots that hold integer identifiers.
    pub(crate) slot_sets: SlotSets,
}

/// Why an expression cannot be represented in the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Foreign {
    /// The engine does not support it.
    Unsupported(&'static str, String, Span),
    /// A value of an empty range is needed here; holds the ends of the range.
    Empty(i32, i32),
    /// The problem is already reported, or cannot occur after checking.
    Broken,
}

pub(crate) type Lowered<T> = Result<T, Foreign>;

/// A model ready to be instantiated.
pub(crate) struct Source<'a> {
    /// Names, functions and templates.
    pub env: &'a Env,
    /// The items in text order, with their ids.
    pub items: &'a [(ItemId, Arc<Checked>)],
    /// The offset of each item.
    pub offsets: &'a FxHashMap<ItemId, u32>,
    /// Sets whose elements are integers.
    pub facts: &'a Facts,
}

/// Builds a network from a checked model.
pub(crate) struct Builder<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) built: Built,
    pub(crate) limits: Limits,
    /// Whether some function takes single values by reference, so that constants need an address.
    /// Otherwise constants that nothing uses are left out.
    pub(crate) places_values: bool,
    /// The number of entries of constants and of local variables of functions so far.
    pub(crate) reserved: u64,
    /// The number of edges and locations of processes so far.
    pub(crate) edges: u64,
    pub(crate) errors: Vec<Diag>,
}

/// Builds the network of a model that has no errors.
pub(crate) fn build(source: &Source<'_>) -> Result<Built, Vec<Diag>> {
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

    /// Records something that is not verified. A part of the model that is left out must always be
    /// reported, because every answer could be wrong without it. If it has no span, the report is
    /// at `around`.
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

/// The scopes in which names are looked up during lowering: a frame inside a process inside the
/// model.
pub(crate) struct Scope<'b> {
    pub(crate) env: &'b Env,
    pub(crate) built: &'b Built,
    pub(crate) process: Option<&'b ProcessScope>,
    pub(crate) frame: Bindings,
    pub(crate) next_slot: u32,
    pub(crate) slots: u32,
    /// The number of entries of all variables declared so far.
    pub(crate) copied: u64,
    /// The offset of the item or query that spans are relative to.
    pub(crate) offset: u32,
    /// Whether the enclosing function returns a boolean.
    pub(crate) returns_bool: bool,
    /// The sets that variables of a query range over.
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

    /// Allocates `len` slots and returns the first.
    pub(crate) fn alloc(&mut self, len: u32) -> u32 {
        let slot = self.next_slot;
        self.next_slot += len;
        self.slots = self.slots.max(self.next_slot);
        slot
    }

    /// The set that a bound variable or parameter ranges over, if its type does not give it.
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
        // A `scalarset` parameter as a dimension has the size of the set that it stands for.
        if let Some(set) = ty.any_set()
            && let Some(id) = self.set_id(set)
            && let Some(actual) = self.built.network.scalarsets.get(id)
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

    /// The lower and upper end of an integer type.
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

    /// The error for a clock used where a number is computed.
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

/// A constant as an expression of the network.
pub(crate) fn constant(value: i32, span: Span) -> network::Expr {
    network::Expr {
        kind: network::ExprKind::Const(value),
        span,
    }
}

/// The value of an expression of the network, if it is a constant.
pub(crate) fn as_constant(e: &network::Expr) -> Option<i32> {
    match e.kind {
        network::ExprKind::Const(v) => Some(v),
        _ => None,
    }
}

/// A name as it is written in queries: `x`, `P(1).x`.
pub(crate) fn qualified(process: Option<&str>, name: &str) -> SmolStr {
    match process {
        Some(p) => SmolStr::from(format!("{p}.{name}")),
        None => SmolStr::new(name),
    }
}

/// Offsets of the next free cell, clock and channel.
pub(crate) type Cursor = (CellId, ClockId, ChannelId);
