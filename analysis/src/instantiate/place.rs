//! From `a[i].f` to cells, clocks and channels.

use super::{Binding, Foreign, Lowered, Scope, as_constant, constant};
use crate::hir::{Expr, ExprKind};
use crate::network::{
    self, Base, ChannelId, ChannelRef, ClockBase, ClockId, ClockRef, IndexRange, IndexStep, Place,
    ProcessRef, Shape,
};
use crate::symbol::{SymKind, Symbol};
use std::sync::Arc;
use zonelens_syntax::span::Span;

/// A computed index, with the distance between neighbours in cells, clocks and channels.
#[derive(Clone, Debug)]
struct Step {
    index: network::Expr,
    range: IndexRange,
    strides: (u32, u32, u32),
}

/// A part of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) shape: Arc<Shape>,
    cell: Base,
    clock: ClockBase,
    channel: ChannelId,
    steps: Vec<Step>,
    /// The values of a constant, and the offset of this part in them.
    values: Option<(Arc<[i32]>, u32)>,
    /// Whether `cell` is its address. Constants of the language and of functions have only values.
    placed: bool,
    span: Span,
}

impl Located {
    pub(crate) fn from_binding(binding: &Binding, span: Span) -> Option<Located> {
        match binding {
            Binding::Const { shape, values, at } => Some(Located {
                shape: shape.clone(),
                cell: Base::Constant(at.unwrap_or(0)),
                clock: ClockBase::Clock(ClockId(0)),
                channel: ChannelId(0),
                steps: Vec::new(),
                values: Some((values.clone(), 0)),
                placed: at.is_some(),
                span,
            }),
            Binding::Stored {
                shape,
                cell,
                clock,
                channel,
            } => Some(Located {
                shape: shape.clone(),
                cell: *cell,
                clock: *clock,
                channel: *channel,
                steps: Vec::new(),
                values: None,
                placed: true,
                span,
            }),
            Binding::Foreign => None,
        }
    }

    /// Converts to a binding for a reference parameter of a template; `None` if an index is
    /// computed.
    pub(crate) fn into_binding(self) -> Option<Binding> {
        if !self.steps.is_empty() {
            return None;
        }
        Some(match self.values {
            Some((values, from)) => {
                let (n, _, _) = self.shape.counts();
                let values = values.get(from as usize..(from + n) as usize)?.into();
                let at = match self.cell {
                    Base::Constant(at) if self.placed => Some(at),
                    _ => None,
                };
                Binding::Const {
                    shape: self.shape,
                    values,
                    at,
                }
            }
            None => Binding::Stored {
                shape: self.shape,
                cell: self.cell,
                clock: self.clock,
                channel: self.channel,
            },
        })
    }

    /// Moves by known distances.
    fn advance(&mut self, cells: u32, clocks: u32, channels: u32) {
        match &mut self.cell {
            Base::Cell(c) => *c = c.plus(cells),
            Base::Constant(c) | Base::Slot(c) => *c += cells,
            Base::Ref(_) => {
                if cells > 0 || clocks > 0 {
                    // The target of a reference is not known here, so the distance becomes a step.
                    self.steps.push(Step {
                        index: constant(1, self.span),
                        range: super::layout::plain(0, 2),
                        strides: (cells, clocks, channels),
                    });
                    return;
                }
            }
        }
        if let ClockBase::Clock(c) = &mut self.clock {
            *c = c.plus(clocks);
        } else if clocks > 0 {
            self.steps.push(Step {
                index: constant(1, self.span),
                range: super::layout::plain(0, 2),
                strides: (0, clocks, 0),
            });
        }
        self.channel = self.channel.plus(channels);
        if let Some((_, from)) = &mut self.values {
            *from += cells;
        }
    }

    fn index(mut self, index: network::Expr) -> Lowered<Located> {
        let Shape::Array {
            index: range,
            element,
        } = &*self.shape
        else {
            return Err(Foreign::Broken);
        };
        let (range, element) = (*range, Arc::new((**element).clone()));
        let (a, b, c) = element.counts();
        let known = as_constant(&index).map(|v| i64::from(v) - i64::from(range.lo));
        match known {
            Some(k) if k >= 0 && k < i64::from(range.len) => {
                let k = k as u32;
                self.advance(k * a, k * b, k * c);
            }
            _ => self.steps.push(Step {
                index,
                range,
                strides: (a, b, c),
            }),
        }
        self.shape = element;
        Ok(self)
    }

    fn field(mut self, n: u32) -> Lowered<Located> {
        let Shape::Struct(fields) = &*self.shape else {
            return Err(Foreign::Broken);
        };
        let (mut a, mut b, mut c) = (0, 0, 0);
        for (_, f) in fields.iter().take(n as usize) {
            let (x, y, z) = f.counts();
            a += x;
            b += y;
            c += z;
        }
        let shape = fields.get(n as usize).map(|f| f.1.clone());
        self.advance(a, b, c);
        self.shape = Arc::new(shape.ok_or(Foreign::Broken)?);
        Ok(self)
    }

    fn steps(&self, pick: impl Fn(&(u32, u32, u32)) -> u32) -> Vec<IndexStep> {
        self.steps
            .iter()
            .map(|s| IndexStep {
                index: s.index.clone(),
                range: s.range,
                stride: pick(&s.strides),
            })
            .collect()
    }

    /// The cell, or the first cell of a block.
    pub(crate) fn place(&self) -> Place {
        let (lo, hi, scalarset) = match &*self.shape {
            Shape::Int {
                lo, hi, scalarset, ..
            } => (*lo, *hi, *scalarset),
            _ => (i32::MIN, i32::MAX, None),
        };
        Place {
            base: self.cell,
            steps: self.steps(|s| s.0),
            lo,
            hi,
            scalarset,
        }
    }

    /// The clock, or the first clock of a block.
    pub(crate) fn clock(&self) -> ClockRef {
        ClockRef {
            base: self.clock,
            steps: self.steps(|s| s.1),
            span: self.span,
        }
    }

    /// The channel.
    pub(crate) fn channel(&self) -> ChannelRef {
        ChannelRef {
            base: self.channel,
            steps: self.steps(|s| s.2),
            span: self.span,
        }
    }

    /// The value of a constant that needs no computed index.
    pub(crate) fn known(&self) -> Option<i32> {
        let (values, from) = self.values.as_ref()?;
        if !self.steps.is_empty() || !matches!(*self.shape, Shape::Int { .. }) {
            return None;
        }
        values.get(*from as usize).copied()
    }

    /// Whether it has an address that a reference can hold.
    pub(crate) fn is_placed(&self) -> bool {
        self.placed
    }

    pub(crate) fn is_boolean(&self) -> bool {
        matches!(*self.shape, Shape::Int { boolean: true, .. })
    }
}

impl Scope<'_> {
    /// Resolves an expression that denotes a variable to its place.
    pub(crate) fn locate(&mut self, e: &Expr) -> Lowered<Located> {
        match &e.kind {
            ExprKind::Var(s) => {
                let span = self.span(e.span);
                match self.binding(s.id) {
                    Some(Binding::Foreign) => Err(self.double(e)),
                    Some(b) => Located::from_binding(b, span).ok_or(Foreign::Broken),
                    None => self.unbound(s, e),
                }
            }
            ExprKind::Index(base, index) => {
                let base = self.locate(base)?;
                // The engine's analyses assume that a place has at least one cell.
                if matches!(&*base.shape, Shape::Array { index, .. } if index.len == 0) {
                    let message = "an entry of an array over an empty range is used here";
                    return Err(self.foreign("type/empty-range", message, e));
                }
                let index = self.int(index)?;
                let mut at = base.index(index)?;
                at.span = self.span(e.span);
                Ok(at)
            }
            ExprKind::Field(base, n) => {
                let mut at = self.locate(base)?.field(*n)?;
                at.span = self.span(e.span);
                Ok(at)
            }
            ExprKind::Member {
                family,
                args,
                member,
            } => self.member(family, args, member, e),
            _ => Err(Foreign::Broken),
        }
    }

    /// Resolves a constant of the language, which has no declaration in the model.
    fn unbound(&self, s: &Symbol, e: &Expr) -> Lowered<Located> {
        let SymKind::Var(v) = &s.kind else {
            return Err(Foreign::Broken);
        };
        let Some(values) = &v.value else {
            return Err(self.double(e));
        };
        Ok(Located {
            shape: Arc::new(self.shape(&v.ty)?),
            cell: Base::Constant(0),
            clock: ClockBase::Clock(ClockId(0)),
            channel: ChannelId(0),
            steps: Vec::new(),
            values: Some((values.clone(), 0)),
            placed: false,
            span: self.span(e.span),
        })
    }

    /// Resolves the process `P(args)`; computed arguments become steps.
    pub(crate) fn process_ref(
        &mut self,
        family: &Symbol,
        args: &[Expr],
    ) -> Lowered<(ProcessRef, u32)> {
        let scope = self
            .built
            .families
            .get(&family.id)
            .ok_or(Foreign::Broken)?
            .clone();
        let family = self
            .built
            .network
            .families
            .get(scope.index as usize)
            .ok_or(Foreign::Broken)?;
        if family.len == 0 {
            let message = format!("`{}` has no processes", family.name);
            let span = args.first().map_or(Span::new(0, 0), |a| a.span);
            let span = self.span(span);
            return Err(Foreign::Unsupported("query/range", message, span));
        }
        let (mut base, mut steps) = (family.first, Vec::new());
        let mut stride = family.len;
        for (range, arg) in family.params.iter().zip(args) {
            stride /= range.len.max(1);
            let index = self.int(arg)?;
            match as_constant(&index).map(|v| i64::from(v) - i64::from(range.lo)) {
                Some(k) if k >= 0 && k < i64::from(range.len) => {
                    base = base.plus(k as u32 * stride)
                }
                _ => steps.push(IndexStep {
                    index,
                    range: *range,
                    stride,
                }),
            }
        }
        Ok((ProcessRef { base, steps }, scope.index))
    }

    fn member(
        &mut self,
        family: &Symbol,
        args: &[Expr],
        member: &Symbol,
        e: &Expr,
    ) -> Lowered<Located> {
        let (process, _) = self.process_ref(family, args)?;
        let strides = self
            .built
            .families
            .get(&family.id)
            .map(|f| f.strides)
            .ok_or(Foreign::Broken)?;
        let scope = self
            .built
            .processes
            .get(process.base.index())
            .ok_or(Foreign::Broken)?;
        let span = self.span(e.span);
        let binding = match scope.names.get(&member.id) {
            Some(Binding::Foreign) => return Err(self.double(e)),
            Some(b) => b,
            None => return Err(Foreign::Broken),
        };
        let mut at = Located::from_binding(binding, span).ok_or(Foreign::Broken)?;
        if process.steps.is_empty() {
            return Ok(at);
        }
        // Only variables of the processes themselves are at equal distances.
        let own = match &member.kind {
            SymKind::Var(v) => !v.constant,
            SymKind::Param(p) => !p.reference && matches!(binding, Binding::Stored { .. }),
            _ => false,
        };
        if !own {
            return Err(Foreign::Broken);
        }
        for step in process.steps {
            at.steps.push(Step {
                index: step.index,
                range: step.range,
                strides: (
                    strides.0 * step.stride,
                    strides.1 * step.stride,
                    strides.2 * step.stride,
                ),
            });
        }
        Ok(at)
    }
}
