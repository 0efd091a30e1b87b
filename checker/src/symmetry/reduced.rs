//! Successors that are representatives of their orbits, with or without an audit, and the choice
//! between them and plain ones.

use super::audit::Audit;
use super::folding::{FoldedClasses, Folding};
use super::one_per_class::OnePerClass;
use super::permutation::Permutation;
use super::quotient::Quotient;
use super::representative::Representative;
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::graph::expander::Expander;
use crate::graph::{Broken, Classes, Plain, Successor, Successors};
use crate::program::{Alike, Fault, Program};
use crate::zone::{Folded, Layout, Shape, Zone};
use std::ops::ControlFlow;
use std::sync::Arc;

/// One successor per class of steps, each replaced by its representative.
pub(crate) struct Reduced<'p> {
    plain: Plain<'p>,
    /// Computes representatives.
    pub representative: Representative,
    /// `None` if every step is taken.
    one_per_class: Option<OnePerClass>,
    /// Whether queries may evaluate one element per class. Not if every step is taken.
    few_elements: bool,
    /// The bounds of a representative, if states are compared by the bounds of their discrete part:
    /// a permutation of a state also permutes its bounds. The abstractor keeps the bounds of the
    /// original state.
    moved: Option<(Vec<i32>, Vec<i32>)>,
    whole: Zone,
    state: Vec<i32>,
    /// How states are passed on with folded zones; `None` if their zones are whole.
    folding: Option<Folding>,
    /// The zone of the current state, if it was needed.
    unfolded: Option<Zone>,
    folded: Folded,
    moved_by: Permutation,
    /// Whether the permutations of folded states are passed on.
    tracks: bool,
}

impl Classes for Representative {
    fn discrete_classes(&self, state: &[i32], alike: &mut Alike) {
        Representative::discrete_classes(self, state, alike);
    }
}

impl<'p> Reduced<'p> {
    /// Computes one successor per class of steps, on a few clocks of each class where that is
    /// possible.
    pub(crate) fn new(plain: Plain<'p>, representative: Representative) -> Reduced<'p> {
        let quotient = representative.quotient(plain.program, plain.bounds, &plain.abstractor);
        // `a≼LU` compares whole zones.
        let folds = quotient.is_some() && plain.abstractor.kind != Abstraction::Alu;
        let folding = || representative.folding(plain.program, plain.bounds);
        let folding = folds.then(folding).flatten();
        let one_per_class = OnePerClass::new(representative.tables()).on_few_clocks(quotient);
        Reduced {
            one_per_class: Some(one_per_class),
            few_elements: true,
            folding,
            ..Reduced::every_step(plain, representative)
        }
    }

    /// Computes all successors, each on all clocks.
    fn every_step(plain: Plain<'p>, representative: Representative) -> Reduced<'p> {
        let dim = plain.program.dim();
        let by_state = plain.abstractor.kind.frees_inactive();
        Reduced {
            representative,
            one_per_class: None,
            few_elements: false,
            moved: by_state.then(|| (vec![0; dim], vec![0; dim])),
            whole: Zone::universe(dim),
            state: Vec::new(),
            folding: None,
            unfolded: None,
            folded: Folded::empty(),
            moved_by: Permutation(Vec::new()),
            tracks: true,
            plain,
        }
    }

    /// Replaces the pieces of a state by representatives and passes them on.
    fn give<B>(
        &mut self,
        state: &[i32],
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut pieces = std::mem::take(&mut self.plain.pieces);
        let mut flow = ControlFlow::Continue(());
        for zone in &mut pieces {
            self.state.clear();
            self.state.extend_from_slice(state);
            let permutation = self.representative.reduce(&mut self.state, zone);
            flow = self.give_moved(zone, permutation, take);
            if flow.is_break() {
                break;
            }
        }
        self.plain.pieces = pieces;
        flow
    }

    /// Passes on the representative in `state` with its zone.
    fn give_moved<B>(
        &mut self,
        zone: &Zone,
        permutation: Permutation,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if let Some(folding) = &self.folding {
            let (tables, index) = (self.representative.tables(), self.representative.index());
            let leaders = self.representative.classes(&self.state, zone);
            let mut starts = Vec::new();
            folding.starts(index, &leaders, &mut starts);
            folding.layout.fold(zone, &starts, &mut self.folded);
            let classes = FoldedClasses {
                tables,
                index,
                folding,
                starts: &self.folded.starts,
            };
            return take(Successor {
                state: &mut self.state,
                zone: Shape::Folded(&self.folded, &folding.layout),
                bounds: (&[], &[]),
                moved_by: self.tracks.then_some(permutation),
                classes: Some(&classes),
            });
        }
        let bounds = match &mut self.moved {
            Some((l, u)) if !permutation.is_identity() => {
                let plain = &self.plain;
                plain.bounds.of_state(plain.program, &self.state, l, u);
                (&l[..], &u[..])
            }
            _ => (&self.plain.abstractor.l[..], &self.plain.abstractor.u[..]),
        };
        take(Successor {
            state: &mut self.state,
            zone: Shape::Whole(zone),
            bounds,
            moved_by: Some(permutation),
            classes: self
                .few_elements
                .then_some(&self.representative as &dyn Classes),
        })
    }

    /// Abstracts, reduces and passes on a successor that is known on a few clocks of each class.
    fn give_quotient<B>(
        &mut self,
        state: &mut [i32],
        quotient: &mut Quotient,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        if quotient.zone.overflowed() {
            return Err(Broken::Overflow);
        }
        let plain = &mut self.plain;
        let uniform = self.folding.as_ref().is_some_and(|f| f.uniform_bounds);
        if uniform {
            quotient.abstracted_by_few(plain.program, plain.bounds, state);
        } else {
            let (program, bounds) = (plain.program, plain.bounds);
            plain.abstractor.at_state(program, bounds, state);
            if !quotient.abstracted(&plain.abstractor) {
                let mut whole = std::mem::replace(&mut self.whole, Zone::universe(1));
                self.representative.write_out(quotient, &mut whole);
                plain.abstracted(state, &mut vec![whole])?;
                let flow = self.give(state, take);
                self.plain.expander.recycle(&mut self.plain.pieces);
                self.whole = Zone::universe(self.plain.program.dim());
                return Ok(flow);
            }
        }
        if let Some(folding) = &self.folding {
            let moved_by = self.tracks.then_some(&mut self.moved_by);
            let buffers = (&mut self.folded, moved_by);
            let target = (&mut *state, &*quotient);
            let graph = (folding, &mut self.representative);
            if let Some(flow) = Self::give_folded(graph, target, buffers, take) {
                return Ok(flow);
            }
        }
        let mut whole = std::mem::replace(&mut self.whole, Zone::universe(1));
        self.state.clear();
        self.state.extend_from_slice(state);
        let permutation =
            self.representative
                .reduce_quotient(&mut self.state, quotient, &mut whole);
        let flow = self.give_moved(&whole, permutation, take);
        self.whole = whole;
        Ok(flow)
    }
}

impl<'p> Reduced<'p> {
    /// Reduces and passes on a successor without writing out its zone, if that is possible.
    fn give_folded<B>(
        (folding, representative): (&Folding, &mut Representative),
        (state, quotient): (&mut [i32], &Quotient),
        (folded, mut moved_by): (&mut Folded, Option<&mut Permutation>),
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Option<ControlFlow<B>> {
        let permutation = moved_by.as_deref_mut();
        if !representative.reduce_folded(folding, state, quotient, folded, permutation) {
            return None;
        }
        let classes = FoldedClasses {
            tables: representative.tables(),
            index: representative.index(),
            folding,
            starts: &folded.starts,
        };
        Some(take(Successor {
            state,
            zone: Shape::Folded(folded, &folding.layout),
            bounds: (&[], &[]),
            moved_by: moved_by.map(|moved_by| moved_by.clone()),
            classes: Some(&classes),
        }))
    }

    fn step_into<B>(
        &mut self,
        step: usize,
        (state, zone): (&mut [i32], Shape<'_>),
        next: &mut Vec<i32>,
        one: Option<&mut OnePerClass>,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let expander = &mut self.plain.expander;
        let mut unfolded = None;
        let zone = match (zone, one, &self.folding) {
            (Shape::Folded(folded, layout), Some(one), Some(folding)) => {
                let from = (folding, &mut *state, folded);
                let r = &self.representative;
                match one.successor_folded(r, expander, step, from, next)? {
                    None => {}
                    Some(None) => return Ok(ControlFlow::Continue(())),
                    Some(Some(quotient)) => return self.give_quotient(next, quotient, take),
                }
                let known = self.unfolded.take();
                let whole =
                    known.unwrap_or_else(|| Shape::Folded(folded, layout).whole().into_owned());
                unfolded.insert(whole)
            }
            (zone, one, _) => {
                let zone = match zone {
                    Shape::Whole(zone) => zone,
                    folded => unfolded.insert(folded.whole().into_owned()),
                };
                if let Some(one) = one {
                    let from = (&mut *state, zone);
                    match one.successor(&self.representative, expander, step, from, next)? {
                        None => {}
                        Some(None) => return Ok(ControlFlow::Continue(())),
                        Some(Some(quotient)) => return self.give_quotient(next, quotient, take),
                    }
                }
                zone
            }
        };
        let mut zones = expander.successors(step, state, zone, next)?;
        let mut flow = ControlFlow::Continue(());
        if !zones.is_empty() {
            self.plain.abstracted(next, &mut zones)?;
            flow = self.give(next, take);
            self.plain.expander.recycle(&mut self.plain.pieces);
        }
        self.plain.expander.recycle_list(zones);
        self.unfolded = unfolded;
        Ok(flow)
    }
}

impl<'p> Successors<'p> for Reduced<'p> {
    type Move = Permutation;

    fn moves(&self) -> bool {
        self.tracks || self.folding.is_none()
    }

    fn layout(&self) -> Option<Arc<Layout>> {
        self.folding.as_ref().map(|folding| folding.layout.clone())
    }

    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let (mut state, mut zones) = self.plain.expander.initial()?;
        self.plain.abstracted(&mut state, &mut zones)?;
        let flow = self.give(&state, take);
        self.plain.expander.recycle(&mut self.plain.pieces);
        Ok(flow)
    }

    fn begin(&mut self, state: &mut [i32], zone: Shape<'_>) -> Result<usize, Broken> {
        self.unfolded = None;
        let expander = &mut self.plain.expander;
        let program = self.plain.program;
        let found = match (zone, &mut self.one_per_class, &self.folding) {
            (Shape::Folded(folded, _), Some(one), Some(folding)) => {
                let index = self.representative.index();
                one.begin_folded(program, index, (folding, folded), &mut expander.steps);
                let found = expander.steps.find(program, &mut expander.machine, state);
                match found {
                    // Clocks decide whether a fault counts.
                    Ok(()) if !expander.steps.doubtful.is_empty() => {
                        expander.find_steps(state, &zone.whole())
                    }
                    found => found,
                }
            }
            (zone, one, _) => {
                let zone = zone.whole();
                if let Some(one) = one {
                    let steps = &mut expander.steps;
                    one.begin(program, &self.representative, state, &zone, steps);
                }
                expander.find_steps(state, &zone)
            }
        };
        // Other users of the expander see all steps.
        expander.steps.interchange = None;
        found?;
        Ok(expander.steps.len())
    }

    fn takes(&mut self, step: usize) -> bool {
        let (tables, plain) = (self.representative.tables(), &self.plain);
        self.one_per_class
            .as_mut()
            .is_none_or(|one| one.is_first(plain.program, tables, &plain.expander.steps, step))
    }

    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: Shape<'_>,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        let mut next = std::mem::take(&mut self.plain.next);
        let mut one = self.one_per_class.take();
        let flow = self.step_into(step, (state, zone), &mut next, one.as_mut(), take);
        self.one_per_class = one;
        self.plain.next = next;
        flow
    }

    fn represent(&mut self, state: &mut [i32], zone: &mut Zone) -> Option<Permutation> {
        Some(self.representative.reduce(state, zone))
    }

    fn confirm(&mut self, _state: &[i32], _zone: &Zone) -> Option<String> {
        None
    }

    fn expander(&mut self) -> &mut Expander<'p> {
        &mut self.plain.expander
    }

    fn absorb(&mut self, other: Reduced<'p>) {
        self.representative.broken_ties += other.representative.broken_ties;
        self.representative.clocks_decided |= other.representative.clocks_decided;
    }
}

/// Takes every step, and checks that swaps of elements make no difference.
pub(crate) struct Audited<'p> {
    reduced: Reduced<'p>,
    audit: Audit<'p>,
}

impl<'p> Audited<'p> {
    /// Audits the reduction by `representative`.
    fn new(plain: Plain<'p>, representative: Representative, audit: Audit<'p>) -> Audited<'p> {
        Audited {
            reduced: Reduced::every_step(plain, representative),
            audit,
        }
    }

    fn look(&mut self, state: &[i32], zone: &Zone) -> Result<Option<String>, Fault> {
        let representative = &mut self.reduced.representative;
        let expander = &mut self.reduced.plain.expander;
        self.audit.check(representative, expander, state, zone)
    }
}

impl<'p> Successors<'p> for Audited<'p> {
    type Move = Permutation;

    fn moves(&self) -> bool {
        true
    }

    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        self.reduced.initial(take)
    }

    fn begin(&mut self, state: &mut [i32], zone: Shape<'_>) -> Result<usize, Broken> {
        match self.look(state, &zone.whole())? {
            Some(message) => Err(Broken::Asymmetric(message)),
            None => self.reduced.begin(state, zone),
        }
    }

    fn takes(&mut self, step: usize) -> bool {
        self.reduced.takes(step)
    }

    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: Shape<'_>,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        self.reduced.step(step, state, zone, take)
    }

    fn represent(&mut self, state: &mut [i32], zone: &mut Zone) -> Option<Permutation> {
        self.reduced.represent(state, zone)
    }

    fn confirm(&mut self, state: &[i32], zone: &Zone) -> Option<String> {
        // The state that ends a search was not yet taken from the waiting list.
        self.audit.now();
        self.look(state, zone).ok().flatten()
    }

    fn expander(&mut self) -> &mut Expander<'p> {
        self.reduced.expander()
    }

    fn absorb(&mut self, other: Audited<'p>) {
        self.audit.absorb(&other.audit);
        self.reduced.absorb(other.reduced);
    }
}

/// The successors of a run: plain, reduced, or reduced and audited.
#[allow(clippy::large_enum_variant)] // There is one per search, used for every state.
pub(crate) enum Chosen<'p> {
    /// States are stored unchanged.
    Plain(Plain<'p>),
    /// States are replaced by representatives.
    Reduced(Box<Reduced<'p>>),
    /// States are replaced by representatives, with an audit.
    Audited(Box<Audited<'p>>),
}

impl<'p> Chosen<'p> {
    /// Reduces by `representative` if it is given, with an audit if that is given.
    pub(crate) fn new(
        (program, bounds): (&'p Program, &'p Bounds),
        abstraction: Abstraction,
        representative: Option<Representative>,
        audit: Option<Audit<'p>>,
    ) -> Chosen<'p> {
        let plain = Plain::new(program, bounds, abstraction);
        match (representative, audit) {
            (None, _) => Chosen::Plain(plain),
            (Some(r), None) => Chosen::Reduced(Box::new(Reduced::new(plain, r))),
            (Some(r), Some(audit)) => Chosen::Audited(Box::new(Audited::new(plain, r, audit))),
        }
    }

    /// Passes states on with whole zones if `whole` says so.
    pub(crate) fn whole_zones(mut self, whole: bool) -> Chosen<'p> {
        if let Chosen::Reduced(reduced) = &mut self
            && whole
        {
            reduced.folding = None;
        }
        self
    }

    /// Does not pass on the permutations of folded states if no path will be built from them.
    pub(crate) fn for_paths(mut self, wanted: bool) -> Chosen<'p> {
        if let Chosen::Reduced(reduced) = &mut self {
            reduced.tracks = wanted;
        }
        self
    }

    /// Like `new`, without an audit and with every step taken.
    pub(crate) fn every_step(
        (program, bounds): (&'p Program, &'p Bounds),
        abstraction: Abstraction,
        representative: Option<Representative>,
    ) -> Chosen<'p> {
        let plain = Plain::new(program, bounds, abstraction);
        match representative {
            None => Chosen::Plain(plain),
            Some(r) => Chosen::Reduced(Box::new(Reduced::every_step(plain, r))),
        }
    }

    /// What computes representatives after the abstraction, for another use; `None` if states are
    /// stored unchanged.
    pub(crate) fn pipeline(&self) -> Option<(Plain<'p>, Representative)> {
        let reduced = match self {
            Chosen::Plain(_) => return None,
            Chosen::Reduced(reduced) => reduced,
            Chosen::Audited(audited) => &audited.reduced,
        };
        let own = &reduced.plain;
        let plain = Plain::new(own.program, own.bounds, own.abstractor.kind);
        Some((plain, reduced.representative.clone()))
    }

    /// The representative, if states are reduced.
    pub(crate) fn representative(&self) -> Option<&Representative> {
        match self {
            Chosen::Plain(_) => None,
            Chosen::Reduced(reduced) => Some(&reduced.representative),
            Chosen::Audited(audited) => Some(&audited.reduced.representative),
        }
    }

    /// The audit, if there is one.
    pub(crate) fn audit(&self) -> Option<&Audit<'p>> {
        match self {
            Chosen::Plain(_) | Chosen::Reduced(_) => None,
            Chosen::Audited(audited) => Some(&audited.audit),
        }
    }
}

/// Passes on a successor to which no permutation was applied.
fn unmoved<B>(
    take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
) -> impl FnMut(Successor<'_, ()>) -> ControlFlow<B> {
    |s| {
        take(Successor {
            state: s.state,
            zone: s.zone,
            bounds: s.bounds,
            moved_by: None,
            classes: s.classes,
        })
    }
}

impl<'p> Successors<'p> for Chosen<'p> {
    type Move = Permutation;

    fn moves(&self) -> bool {
        match self {
            Chosen::Plain(s) => s.moves(),
            Chosen::Reduced(s) => s.moves(),
            Chosen::Audited(s) => s.moves(),
        }
    }

    fn layout(&self) -> Option<Arc<Layout>> {
        match self {
            Chosen::Plain(_) | Chosen::Audited(_) => None,
            Chosen::Reduced(s) => s.layout(),
        }
    }

    fn initial<B>(
        &mut self,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        match self {
            Chosen::Plain(s) => s.initial(&mut unmoved(take)),
            Chosen::Reduced(s) => s.initial(take),
            Chosen::Audited(s) => s.initial(take),
        }
    }

    #[inline]
    fn begin(&mut self, state: &mut [i32], zone: Shape<'_>) -> Result<usize, Broken> {
        match self {
            Chosen::Plain(s) => s.begin(state, zone),
            Chosen::Reduced(s) => s.begin(state, zone),
            Chosen::Audited(s) => s.begin(state, zone),
        }
    }

    #[inline]
    fn takes(&mut self, step: usize) -> bool {
        match self {
            Chosen::Plain(_) => true,
            Chosen::Reduced(s) => s.takes(step),
            Chosen::Audited(s) => s.takes(step),
        }
    }

    #[inline]
    fn step<B>(
        &mut self,
        step: usize,
        state: &mut [i32],
        zone: Shape<'_>,
        take: &mut impl FnMut(Successor<'_, Permutation>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Broken> {
        match self {
            Chosen::Plain(s) => s.step(step, state, zone, &mut unmoved(take)),
            Chosen::Reduced(s) => s.step(step, state, zone, take),
            Chosen::Audited(s) => s.step(step, state, zone, take),
        }
    }

    fn represent(&mut self, state: &mut [i32], zone: &mut Zone) -> Option<Permutation> {
        match self {
            Chosen::Plain(_) => None,
            Chosen::Reduced(s) => s.represent(state, zone),
            Chosen::Audited(s) => s.represent(state, zone),
        }
    }

    fn confirm(&mut self, state: &[i32], zone: &Zone) -> Option<String> {
        match self {
            Chosen::Plain(_) | Chosen::Reduced(_) => None,
            Chosen::Audited(s) => s.confirm(state, zone),
        }
    }

    fn expander(&mut self) -> &mut Expander<'p> {
        match self {
            Chosen::Plain(s) => s.expander(),
            Chosen::Reduced(s) => s.expander(),
            Chosen::Audited(s) => s.expander(),
        }
    }

    fn absorb(&mut self, other: Chosen<'p>) {
        match (self, other) {
            (Chosen::Reduced(s), Chosen::Reduced(other)) => s.absorb(*other),
            (Chosen::Audited(s), Chosen::Audited(other)) => s.absorb(*other),
            _ => {}
        }
    }
}
