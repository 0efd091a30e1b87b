//! From a stored state to the states that are stored next.
//!
//! The pipeline is the same for every search: a step, then the delay after it, then the abstraction with the bounds of the
//! state as it is then, then (with symmetry) the representative of its orbit. [`Plain`] does the first three; the room
//! `symmetry` adds the fourth. Whoever searches is generic over [`Successors`] and cannot tell them apart.
//!
//! A value holds the scratch space of one thread over tables that do not change, so that several threads have one each.
//! [`Successors::begin`] must come before [`Successors::step`]: it is what finds the steps that `step` numbers.

use super::Visitor;
use super::expander::Expander;
use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::bounds::coupling::Coupling;
use crate::program::{Alike, Fault, Program};
use crate::zone::Zone;
use std::hash::Hash;
use std::ops::ControlFlow;

/// Why there are no successors to give.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// The model failed.
    Fault(Fault),
    /// A clock bound left the range that can be computed with.
    Overflow,
    /// An audit found a broken symmetry.
    Asymmetric(String),
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Broken {
        Broken::Fault(fault)
    }
}

/// Tells which elements of a discrete state are alike.
pub trait Classes {
    /// Writes the classes of elements that the discrete state does not tell apart.
    fn discrete_classes(&self, state: &[i32], alike: &mut Alike);
}

/// A state to be stored.
pub struct Successor<'s, M> {
    /// Its discrete part.
    pub state: &'s mut [i32],
    /// Its zone, abstracted.
    pub zone: &'s Zone,
    /// The bounds of clocks at this state: lower, upper.
    pub bounds: (&'s [i32], &'s [i32]),
    /// How the state that the step leads to was moved to become this one; `None` where states are stored as they are.
    pub moved_by: Option<M>,
    /// What knows the classes of its elements, if a query may make use of them.
    pub classes: Option<&'s dyn Classes>,
}

impl<M> Successor<'_, M> {
    /// Shows the state to a visitor.
    pub fn show(&mut self, visitor: &mut impl Visitor, node: u32) -> Result<bool, Fault> {
        if let Some(classes) = self.classes
            && let Some(alike) = visitor.alike()
        {
            classes.discrete_classes(self.state, alike);
        }
        visitor.visit(self.state, self.zone, node)
    }
}

/// Gives successors, one step at a time.
pub trait Successors<'p> {
    /// How states are moved before they are given.
    type Move: Clone + Eq + Hash;

    /// Whether they are moved. Traces are then made from the zones of all states on the path, covered ones included.
    fn moves(&self) -> bool;

    /// Gives the initial states, until `take` breaks off.
    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, Self::Move>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken>;

    /// Finds the steps of a stored state; gives their number.
    fn begin(&mut self, state: &mut [i32], zone: &Zone) -> Result<usize, Broken>;

    /// Whether a step is taken at all: not if another one leads to the same states up to symmetry.
    fn takes(&mut self, step: usize) -> bool;

    /// Gives the successors by a step of the state that was begun with, until `take` breaks off.
    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: &Zone,
        take: &mut impl FnMut(Successor<'_, Self::Move>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken>;

    /// Moves a state that was computed elsewhere as states are moved here.
    fn represent(&mut self, state: &mut [i32], zone: &mut Zone) -> Option<Self::Move>;

    /// Looks once more at a state that ends a search before its steps were looked at; a message if symmetry is broken.
    fn confirm(&mut self, state: &[i32], zone: &Zone) -> Option<String>;

    /// Computes steps, for whoever follows them in another way.
    fn expander(&mut self) -> &mut Expander<'p>;

    /// Adds the counts of another thread.
    fn absorb(&mut self, other: Self);
}

/// States as they are.
pub struct Plain<'p> {
    pub(crate) program: &'p Program,
    pub(crate) bounds: &'p Bounds,
    pub(crate) expander: Expander<'p>,
    pub(crate) abstractor: Abstractor,
    pub(crate) next: Vec<i32>,
    pub(crate) pieces: Vec<Zone>,
}

impl<'p> Plain<'p> {
    /// Successors under an abstraction.
    pub fn new(program: &'p Program, bounds: &'p Bounds, abstraction: Abstraction) -> Plain<'p> {
        Plain {
            program,
            bounds,
            expander: Expander::new(program),
            abstractor: Abstractor::new(abstraction, program.dim()),
            next: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// The same, with the differences of clocks forgotten that are not kept together.
    pub fn loosened(mut self, coupling: Coupling) -> Plain<'p> {
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

    /// Gives the pieces of a state as they are.
    fn give<B>(
        &mut self,
        state: &mut [i32],
        take: &mut impl FnMut(Successor<'_, ()>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for zone in &self.pieces {
            take(Successor {
                state: &mut *state,
                zone,
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
    fn begin(&mut self, state: &mut [i32], zone: &Zone) -> Result<usize, Broken> {
        self.expander.find_steps(state, zone)?;
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
        zone: &Zone,
        take: &mut impl FnMut(Successor<'_, ()>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let mut zones = self.zones(step, state, zone)?;
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
