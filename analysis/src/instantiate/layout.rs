//! The layout of variables: shapes, sizes checked before allocation, initial values.

use super::{Binding, Builder, Cursor, Foreign, Lowered, Scope, qualified};
use crate::diag::Diag;
use crate::hir::{Decl, Init};
use crate::network::{
    Base, Cell, Channel, Clock, ClockBase, IndexRange, ProcessId, Scalarset, ScalarsetId, Shape,
    Variable,
};
use crate::symbol::{SymKind, Symbol, VarSym};
use crate::symmetry::{Root, Slot};
use crate::types::{ScalarSet, Type};
use std::sync::Arc;

/// The maximum size of a network. Verification could not finish beyond it, and building a larger
/// network would only use up memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most cells, clocks and channels, of one variable and of all variables together.
    pub leaves: u64,
    /// The most entries of constants and of local variables of functions, over all processes.
    pub reserved: u64,
    /// The most processes.
    pub processes: u64,
    /// The most edges, over all processes.
    pub edges: u64,
    /// The most elements of a scalarset.
    pub elements: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            leaves: 4_000_000,
            reserved: 32_000_000,
            processes: 100_000,
            edges: 4_000_000,
            elements: 100_000,
        }
    }
}

impl Scope<'_> {
    /// The number of leaves (cells, clocks, channels) of a type, computed without building
    /// anything.
    pub(crate) fn leaves(&self, ty: &Type) -> Lowered<u64> {
        match ty {
            Type::Array(a) => {
                let range = self.index_range(&a.index)?;
                Ok(u64::from(range.len).saturating_mul(self.leaves(&a.element)?))
            }
            Type::Struct(s) => {
                let mut sum = 0u64;
                for (_, t) in &s.fields {
                    sum = sum.saturating_add(self.leaves(t)?);
                }
                Ok(sum)
            }
            _ => Ok(1),
        }
    }

    /// The shape of a type whose size was already checked.
    pub(crate) fn shape(&self, ty: &Type) -> Lowered<Shape> {
        match ty {
            Type::Bool => Ok(Shape::Int {
                lo: 0,
                hi: 1,
                scalarset: None,
                boolean: true,
            }),
            Type::Str => Ok(Shape::Int {
                lo: 0,
                hi: i32::MAX,
                scalarset: None,
                boolean: false,
            }),
            Type::Int(int) => {
                let scalarset = int.set.as_ref().and_then(|s| self.set_id(s));
                let (lo, hi) = match (scalarset, &int.set) {
                    (Some(_), Some(set)) if set.parameter => {
                        let r = self.index_range(ty)?;
                        (0, r.len as i32 - 1)
                    }
                    _ => self.int_range(ty)?,
                };
                Ok(Shape::Int {
                    lo,
                    hi,
                    scalarset,
                    boolean: false,
                })
            }
            Type::Scalar(set) => {
                let (lo, hi) = self.int_range(ty)?;
                Ok(Shape::Int {
                    lo,
                    hi,
                    scalarset: self.set_id(set),
                    boolean: false,
                })
            }
            Type::Clock => Ok(Shape::Clock),
            Type::Chan(_) => Ok(Shape::Channel),
            Type::Array(a) => Ok(Shape::Array {
                index: self.index_range(&a.index)?,
                element: Box::new(self.shape(&a.element)?),
            }),
            Type::Struct(s) => {
                let mut fields = Vec::new();
                for (name, t) in &s.fields {
                    fields.push((name.clone(), self.shape(t)?));
                }
                Ok(Shape::Struct(fields))
            }
            _ => Err(Foreign::Broken),
        }
    }

    /// Computes the initial values of cells and clocks, depth first.
    fn initial(
        &self,
        shape: &Shape,
        ty: &Type,
        init: Option<&Init>,
        cells: &mut Vec<i32>,
        clocks: &mut Vec<i32>,
    ) -> Lowered<()> {
        match (shape, ty, init) {
            // A value of an empty range cannot be stored.
            (Shape::Int { lo, hi, .. }, _, _) if lo > hi => return Err(Foreign::Empty(*lo, *hi)),
            (Shape::Int { lo, hi, .. }, _, None) => cells.push(0.clamp(*lo, *hi)),
            (Shape::Int { boolean, .. }, _, Some(Init::Expr(e))) => {
                let v = self.evaluate(|ev| ev.int(e))?;
                cells.push(if *boolean { i32::from(v != 0) } else { v });
            }
            (Shape::Clock, _, None) => clocks.push(0),
            (Shape::Clock, _, Some(Init::Expr(e))) => {
                clocks.push(self.evaluate(|ev| ev.int(e))?);
            }
            (Shape::Channel, _, _) => {}
            (Shape::Array { index, element }, Type::Array(a), None) => {
                for _ in 0..index.len {
                    self.initial(element, &a.element, None, cells, clocks)?;
                }
            }
            (Shape::Array { index, element }, Type::Array(a), Some(Init::List(list, _))) => {
                for k in 0..index.len as usize {
                    self.initial(element, &a.element, list.get(k), cells, clocks)?;
                }
            }
            (Shape::Struct(fields), Type::Struct(s), None) => {
                for ((_, shape), (_, t)) in fields.iter().zip(&s.fields) {
                    self.initial(shape, t, None, cells, clocks)?;
                }
            }
            (Shape::Struct(fields), Type::Struct(s), Some(Init::List(list, _))) => {
                for (k, ((_, shape), (_, t))) in fields.iter().zip(&s.fields).enumerate() {
                    self.initial(shape, t, list.get(k), cells, clocks)?;
                }
            }
            (_, _, Some(Init::Expr(e))) => cells.extend(self.evaluate(|ev| ev.eval(e))?),
            _ => return Err(Foreign::Broken),
        }
        Ok(())
    }

    /// The initial values of a local variable of a function, if its initialiser is constant.
    pub(crate) fn constant_init(
        &self,
        shape: &Shape,
        ty: &Type,
        init: Option<&Init>,
    ) -> Lowered<Vec<i32>> {
        let (mut cells, mut clocks) = (Vec::new(), Vec::new());
        self.initial(shape, ty, init, &mut cells, &mut clocks)?;
        Ok(cells)
    }
}

fn uses_double(init: &Init) -> bool {
    match init {
        Init::Expr(e) => {
            let mut found = false;
            e.walk(&mut |e| found |= matches!(e.ty, Type::Double));
            found
        }
        Init::List(items, _) => items.iter().any(uses_double),
    }
}

/// Whether the engine cannot store a value of this type.
pub(crate) fn is_foreign(ty: &Type) -> bool {
    ty.contains(&|t| matches!(t, Type::Double))
}

impl Builder<'_> {
    pub(crate) fn cursor(&self) -> Cursor {
        let n = &self.built.network;
        (n.cells.next_id(), n.clocks.next_id(), n.channels.next_id())
    }

    pub(crate) fn global_decl(&mut self, d: &Decl) {
        if let Some(binding) = self.declare(d, None, None) {
            self.built.globals.insert(d.symbol.id, binding);
        }
    }

    /// Allocates a variable, or binds a constant.
    pub(crate) fn declare(
        &mut self,
        d: &Decl,
        process: Option<(ProcessId, &str)>,
        scope: Option<&super::ProcessScope>,
    ) -> Option<Binding> {
        let SymKind::Var(var) = &d.symbol.kind else {
            return None;
        };
        if is_foreign(&var.ty) {
            return Some(Binding::Foreign);
        }
        self.note_sets(&var.ty);
        let offset = self.offset(d.symbol.loc.item);
        let fits = {
            let s = Scope::new(self.source.env, &self.built, scope, offset);
            s.leaves(&var.ty)
        };
        match fits {
            Ok(n) if n.saturating_add(self.reserved) > self.limits.reserved => {
                self.too_large(&d.symbol, n);
                return None;
            }
            Ok(n) if n.saturating_add(self.leaves_so_far()) <= self.limits.leaves => {}
            Ok(n) => {
                self.too_large(&d.symbol, n);
                return None;
            }
            Err(_) => {
                self.no_size(&d.symbol);
                return None;
            }
        }
        let mut made = {
            let s = Scope::new(self.source.env, &self.built, scope, offset);
            make_values(&s, var, d)
        };
        if made.is_err() && d.init.as_ref().is_some_and(uses_double) {
            let foreign = Foreign::Unsupported(
                "unsupported/double",
                format!("`{}` starts with a floating-point value", d.symbol.name),
                self.absolute(d.symbol.loc),
            );
            self.unsupported(foreign, self.absolute(d.symbol.loc));
            let plain = Decl {
                symbol: d.symbol.clone(),
                init: None,
            };
            let s = Scope::new(self.source.env, &self.built, scope, offset);
            made = make_values(&s, var, &plain);
        }
        let (mut shape, cells, clocks) = match made {
            Ok(made) => made,
            Err(Foreign::Empty(lo, hi)) => {
                let message = crate::check::no_value(&d.symbol.name, lo, hi);
                self.errors
                    .push(Diag::new("type/empty-range", message, d.symbol.loc));
                return None;
            }
            Err(_) => {
                self.no_size(&d.symbol);
                return None;
            }
        };
        mark(
            &mut shape,
            &self.built.slot_sets,
            &Root::Symbol(d.symbol.id),
            &mut Vec::new(),
            0,
        );
        if var.constant {
            return Some(self.bind_constant(shape, cells));
        }
        if !self.check_initial(&d.symbol, &shape, &cells) {
            return None;
        }
        Some(self.allocate(
            &d.symbol,
            var.meta,
            &var.ty,
            shape,
            (&cells, &clocks),
            process,
        ))
    }

    /// Allocates a parameter that is assigned to although its argument is a value. In the 3.x
    /// syntax this includes parameters that would otherwise be references.
    pub(crate) fn parameter(
        &mut self,
        symbol: &Symbol,
        values: &[i32],
        process: (ProcessId, &str),
        scope: &super::ProcessScope,
    ) -> Option<Binding> {
        let SymKind::Param(param) = &symbol.kind else {
            return None;
        };
        if param.constant {
            return None;
        }
        let offset = self.offset(symbol.loc.item);
        let s = Scope::new(self.source.env, &self.built, Some(scope), offset);
        let leaves = s.leaves(&param.ty).unwrap_or(u64::MAX);
        let shape = match leaves.saturating_add(self.leaves_so_far()) <= self.limits.leaves {
            true => s.shape(&param.ty),
            false => Err(Foreign::Broken),
        };
        let Ok(mut shape) = shape else {
            self.no_size(symbol);
            return None;
        };
        mark(
            &mut shape,
            &self.built.slot_sets,
            &Root::Symbol(symbol.id),
            &mut Vec::new(),
            0,
        );
        if !self.check_initial(symbol, &shape, values) {
            return None;
        }
        Some(self.allocate(
            symbol,
            false,
            &param.ty,
            shape,
            (values, &[]),
            Some(process),
        ))
    }

    fn leaves_so_far(&self) -> u64 {
        let (a, b, c) = self.cursor();
        u64::from(a.0) + u64::from(b.0) + u64::from(c.0)
    }

    pub(crate) fn bind_constant(&mut self, shape: Shape, values: Vec<i32>) -> Binding {
        self.reserved = self.reserved.saturating_add(values.len() as u64);
        let at = if self.places_values || !matches!(shape, Shape::Int { .. }) {
            let at = self.built.network.constants.len() as u32;
            self.built.network.constants.extend(&values);
            Some(at)
        } else {
            None
        };
        Binding::Const {
            shape: Arc::new(shape),
            values: values.into(),
            at,
        }
    }

    fn check_initial(&mut self, symbol: &Symbol, shape: &Shape, cells: &[i32]) -> bool {
        let mut ranges = Vec::new();
        cell_ranges(shape, &mut ranges);
        let wrong = ranges
            .iter()
            .zip(cells)
            .find(|((lo, hi, _), v)| *v < lo || *v > hi);
        if let Some(((lo, hi, _), v)) = wrong {
            let message = format!(
                "`{}` starts with {v}, which lies outside its range [{lo},{hi}]",
                symbol.name
            );
            self.errors
                .push(Diag::new("type/range", message, symbol.loc));
            return false;
        }
        true
    }

    fn allocate(
        &mut self,
        symbol: &Symbol,
        meta: bool,
        ty: &Type,
        shape: Shape,
        (cells, clocks): (&[i32], &[i32]),
        process: Option<(ProcessId, &str)>,
    ) -> Binding {
        let (cell, clock, channel) = self.cursor();
        let span = self.absolute(symbol.loc);
        let network = &mut self.built.network;
        let variable = network.variables.next_id();
        let mut ranges = Vec::new();
        cell_ranges(&shape, &mut ranges);
        for ((lo, hi, scalarset), init) in ranges.into_iter().zip(cells) {
            network.cells.push(Cell {
                lo,
                hi,
                init: *init,
                scalarset,
                meta,
                variable,
            });
        }
        network
            .clocks
            .extend(clocks.iter().map(|&init| Clock { init, variable }));
        if let Type::Chan(c) = ty.innermost() {
            let (_, _, n) = shape.counts();
            network.channels.extend((0..n).map(|_| Channel {
                urgent: c.urgent,
                broadcast: c.broadcast,
                priority: Channel::DEFAULT_PRIORITY,
                variable,
            }));
        }
        network.variables.push(Variable {
            name: qualified(process.map(|p| p.1), &symbol.name),
            process: process.map(|p| p.0),
            shape: shape.clone(),
            first_cell: cell,
            first_clock: clock,
            first_channel: channel,
            span,
        });
        Binding::Stored {
            shape: Arc::new(shape),
            cell: Base::Cell(cell),
            clock: ClockBase::Clock(clock),
            channel,
        }
    }

    fn too_large(&mut self, symbol: &Symbol, n: u64) {
        let SymKind::Var(var) = &symbol.kind else {
            return;
        };
        let message = format!(
            "`{}` of type {} has {n} entries; at most {} are possible in a model",
            symbol.name, var.ty, self.limits.leaves
        );
        self.errors
            .push(Diag::new("system/size", message, symbol.loc));
    }

    fn no_size(&mut self, symbol: &Symbol) {
        let message = format!(
            "the size or initial value of `{}` cannot be computed",
            symbol.name
        );
        self.errors
            .push(Diag::new("type/constant", message, symbol.loc));
    }

    /// Gives ids to the sets of integers and records which slots hold their elements.
    pub(crate) fn integer_sets(&mut self) {
        let facts = self.source.facts;
        for e in &facts.elements {
            let Some(id) = self.add_set(&e.set, e.size as i32) else {
                continue;
            };
            self.built.sets.insert(e.set.id, id);
            if let Some(s) = self.built.network.scalarsets.get_mut(id) {
                s.detected = e.detected;
                s.first = e.first;
                s.blocks = e.blocks.clone();
            }
            for slot in facts.slots_of(e) {
                self.built.slot_sets.insert(slot, id);
            }
        }
    }

    /// Gives ids to the global scalarsets that a type mentions.
    pub(crate) fn note_sets(&mut self, ty: &Type) {
        match ty {
            Type::Array(a) => {
                self.note_sets(&a.index);
                self.note_sets(&a.element);
            }
            Type::Struct(s) => s.fields.iter().for_each(|(_, t)| self.note_sets(t)),
            other => {
                if let Some(set) = other.any_set().cloned()
                    && !set.local
                    && !set.parameter
                    && !self.built.sets.contains_key(&set.id)
                {
                    let size = set.size.known().unwrap_or(0);
                    if let Some(id) = self.add_set(&set, size) {
                        self.built.sets.insert(set.id, id);
                    }
                }
            }
        }
    }

    /// Adds a scalarset to the network.
    pub(crate) fn add_set(&mut self, set: &ScalarSet, size: i32) -> Option<ScalarsetId> {
        let count = u64::try_from(size).unwrap_or(0);
        if count == 0 || count > self.limits.elements {
            let message = format!(
                "the scalarset `{}` has {size} elements; between 1 and {} are possible",
                set.name, self.limits.elements
            );
            self.errors.push(Diag::new("system/size", message, set.loc));
            return None;
        }
        let id = self.built.network.scalarsets.next_id();
        let span = self.absolute(set.loc);
        self.built.network.scalarsets.push(Scalarset {
            name: set.name.clone(),
            size: size as u32,
            detected: false,
            first: 0,
            blocks: vec![(0..size as u32).collect()],
            span,
            broken: Vec::new(),
        });
        Some(id)
    }
}

/// Marks the cells of a shape that hold elements of sets of integers.
fn mark(shape: &mut Shape, sets: &super::SlotSets, root: &Root, fields: &mut Vec<u32>, dims: u32) {
    match shape {
        Shape::Int { scalarset, .. } => {
            let slot = Slot::Leaf(root.clone(), fields.clone());
            *scalarset = scalarset.or_else(|| sets.get(&slot).copied());
        }
        Shape::Clock | Shape::Channel => {}
        Shape::Array { index, element } => {
            let slot = Slot::Dim(root.clone(), fields.clone(), dims);
            index.scalarset = index.scalarset.or_else(|| sets.get(&slot).copied());
            mark(element, sets, root, fields, dims + 1);
        }
        Shape::Struct(list) => {
            for (n, (_, f)) in list.iter_mut().enumerate() {
                fields.push(n as u32);
                mark(f, sets, root, fields, dims);
                fields.pop();
            }
        }
    }
}

type Values = (Shape, Vec<i32>, Vec<i32>);

fn make_values(s: &Scope<'_>, var: &VarSym, d: &Decl) -> Lowered<Values> {
    let shape = s.shape(&var.ty)?;
    let (mut cells, mut clocks) = (Vec::new(), Vec::new());
    match &var.value {
        Some(v) => cells = v.to_vec(),
        None => s.initial(&shape, &var.ty, d.init.as_ref(), &mut cells, &mut clocks)?,
    }
    Ok((shape, cells, clocks))
}

/// The range and scalarset of every cell of a shape, depth first.
pub(crate) fn cell_ranges(shape: &Shape, out: &mut Vec<(i32, i32, Option<ScalarsetId>)>) {
    match shape {
        Shape::Int {
            lo, hi, scalarset, ..
        } => out.push((*lo, *hi, *scalarset)),
        Shape::Clock | Shape::Channel => {}
        Shape::Array { index, element } => {
            let start = out.len();
            cell_ranges(element, out);
            let one: Vec<_> = out[start..].to_vec();
            for _ in 1..index.len {
                out.extend(one.iter().copied());
            }
            if index.len == 0 {
                out.truncate(start);
            }
        }
        Shape::Struct(fields) => fields.iter().for_each(|(_, f)| cell_ranges(f, out)),
    }
}

/// An index range over plain integers.
pub(crate) fn plain(lo: i32, len: u32) -> IndexRange {
    IndexRange {
        lo,
        len,
        scalarset: None,
    }
}
