//! From a stored state to the states that are stored next.
//!
//! The pipeline is the same for every search: a step, then the delay after it, then the abstraction
//! with the bounds of the resulting state, then (with symmetry) the representative of its orbit.
//! [`Plain`] does the first three; the module `symmetry` adds the fourth. Searches are generic over
//! [`Successors`] and do not depend on the implementation.
//!
//! A value contains the scratch space of one thread over shared tables that do not change, so each
//! thread has its own. [`Successors::begin`] must be called before [`Successors::step`]: it finds
//! the steps that `step` takes by index.

use super::Visitor;
use super::expander::Expander;
use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::bounds::coupling::Coupling;
use crate::program::{Alike, Fault, Program};
use crate::zone::{Layout, Lazy, Shape, Zone};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Why successors cannot be computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Broken {
    /// A fault of the model.
    Fault(Fault),
    /// A clock bound exceeds the range of the arithmetic.
    Overflow,
    /// An audit found a broken symmetry.
    Asymmetric(String),
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Broken {
        Broken::Fault(fault)
    }
}

/// Computes which elements of a discrete state are interchangeable.
pub(crate) trait Classes {
    /// Writes the classes of elements that the discrete state does not tell apart.
    fn discrete_classes(&self, state: &[i32], alike: &mut Alike);
}

/// A state that is about to be stored.
pub(crate) struct Successor<'s, M> {
    /// Its discrete part.
    pub state: &'s mut [i32],
    /// Its zone, abstracted.
    pub zone: Shape<'s>,
    /// The lower and upper bounds of clocks in this state.
    pub bounds: (&'s [i32], &'s [i32]),
    /// The permutation that turned the target of the step into this state; `None` if states are
    /// stored unchanged.
    pub moved_by: Option<M>,
    /// Computes the classes of its elements, if a query may use them.
    pub classes: Option<&'s dyn Classes>,
}

impl<M> Successor<'_, M> {
    /// Passes the state to a visitor.
    pub(crate) fn show(&mut self, visitor: &mut impl Visitor, node: u32) -> Result<bool, Fault> {
        if let Some(classes) = self.classes
            && let Some(alike) = visitor.alike()
        {
            classes.discrete_classes(self.state, alike);
        }
        visitor.visit(self.state, &Lazy::new(self.zone), node)
    }
}

/// A permutation that can be kept in few words.
pub(crate) trait Compact: Clone {
    /// Appends its words.
    fn pack(&self, out: &mut Vec<u16>);

    /// Restores it from its words.
    fn unpack(words: &[u16]) -> Self;
}

impl Compact for () {
    fn pack(&self, _: &mut Vec<u16>) {}

    fn unpack(_: &[u16]) {}
}

/// Computes successors, one step at a time.
pub(crate) trait Successors<'p> {
    /// The permutations that are applied to states.
    type Move: Compact;

    /// Whether permutations are applied to states. Traces are then built from the zones of all
    /// states on the path, covered ones included.
    fn moves(&self) -> bool;

    /// How states are passed on with folded zones; `None` if their zones are whole.
    fn layout(&self) -> Option<Arc<Layout>> {
        None
    }

    /// Passes the initial states to `take`, until it breaks.
    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, Self::Move>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken>;

    /// Finds the steps of a stored state; returns their number.
    fn begin(&mut self, state: &mut [i32], zone: Shape<'_>) -> Result<usize, Broken>;

    /// Whether a step must be taken. It need not be if another one leads to the same states up to
    /// symmetry.
    fn takes(&mut self, step: usize) -> bool;

    /// Passes the successors by a step of the current state to `take`, until it breaks.
    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: Shape<'_>,
        take: &mut impl FnMut(Successor<'_, Self::Move>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken>;

    /// Applies the same kind of permutation to a state that was computed elsewhere.
    fn represent(&mut self, state: &mut [i32], zone: &mut Zone) -> Option<Self::Move>;

    /// Audits a state that ends a search before its steps were explored; returns a message if
    /// symmetry is broken.
    fn confirm(&mut self, state: &[i32], zone: &Zone) -> Option<String>;

    /// The expander, for callers that follow steps in another way.
    fn expander(&mut self) -> &mut Expander<'p>;

    /// Adds the counts of another thread.
    fn absorb(&mut self, other: Self);
}

/// Successors without symmetry: states are stored unchanged.
pub(crate) struct Plain<'p> {
    pub(crate) program: &'p Program,
    pub(crate) bounds: &'p Bounds,
    pub(crate) expander: Expander<'p>,
    pub(crate) abstractor: Abstractor,
    pub(crate) next: Vec<i32>,
    pub(crate) pieces: Vec<Zone>,
}

impl<'p> Plain<'p> {
    /// Creates successors under an abstraction.
    pub(crate) fn new(
        program: &'p Program,
        bounds: &'p Bounds,
        abstraction: Abstraction,
    ) -> Plain<'p> {
        Plain {
            program,
            bounds,
            expander: Expander::new(program),
            abstractor: Abstractor::new(abstraction, program.dim()),
            next: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// Drops the differences of clocks that the coupling does not keep.
    pub(crate) fn loosened(mut self, coupling: Coupling) -> Plain<'p> {
        self.abstractor.coupling = Some(coupling);
        self
    }

    /// Abstracts zones with the bounds of a state; the results are in `pieces`.
    pub(crate) fn abstracted(
        &mut self,
        state: &mut [i32],
        zones: &mut Vec<Zone>,
    ) -> Result<(), Broken> {
        self.abstractor.at_state(self.program, self.bounds, state);
        for zone in zones.drain(..) {
            if zone.overflowed() {
                return Err(Broken::Overflow);
            }
            self.abstractor.apply(self.bounds, zone, &mut self.pieces);
        }
        Ok(())
    }

    /// Passes the pieces of a state on unchanged.
    fn give<B>(
        &mut self,
        state: &mut [i32],
        take: &mut impl FnMut(Successor<'_, ()>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for zone in &self.pieces {
            take(Successor {
                state: &mut *state,
                zone: Shape::Whole(zone),
                bounds: (&self.abstractor.l, &self.abstractor.u),
                moved_by: None,
                classes: None,
            })?;
        }
        ControlFlow::Continue(())
    }

    /// The zones after a step, not abstracted; the discrete state is in `next`.
    #[inline]
    pub(crate) fn zones(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: &Zone,
    ) -> Result<Vec<Zone>, Fault> {
        self.expander.successors(step, state, zone, &mut self.next)
    }
}

impl<'p> Successors<'p> for Plain<'p> {
    type Move = ();

    fn moves(&self) -> bool {
        false
    }

    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, ()>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let (mut state, mut zones) = self.expander.initial()?;
        self.abstracted(&mut state, &mut zones)?;
        let flow = self.give(&mut state, take);
        self.expander.recycle(&mut self.pieces);
        Ok(flow)
    }

    #[inline]
    fn begin(&mut self, state: &mut [i32], zone: Shape<'_>) -> Result<usize, Broken> {
        self.expander.find_steps(state, &zone.whole())?;
        Ok(self.expander.steps.len())
    }

    #[inline]
    fn takes(&mut self, _step: usize) -> bool {
        true
    }

    #[inline]
    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: Shape<'_>,
        take: &mut impl FnMut(Successor<'_, ()>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let mut zones = self.zones(step, state, &zone.whole())?;
        let mut flow = ControlFlow::Continue(());
        if !zones.is_empty() {
            let mut next = std::mem::take(&mut self.next);
            self.abstracted(&mut next, &mut zones)?;
            flow = self.give(&mut next, take);
            self.next = next;
            self.expander.recycle(&mut self.pieces);
        }
        self.expander.recycle_list(zones);
        Ok(flow)
    }

    fn represent(&mut self, _state: &mut [i32], _zone: &mut Zone) -> Option<()> {
        None
    }

    fn confirm(&mut self, _state: &[i32], _zone: &Zone) -> Option<String> {
        None
    }

    fn expander(&mut self) -> &mut Expander<'p> {
        &mut self.expander
    }

    fn absorb(&mut self, _other: Plain<'p>) {}
}
