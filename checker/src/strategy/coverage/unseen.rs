//! From what a search has met to what it has not met.

use super::catalogue::{Catalogue, Written};
use super::seen::States;
use zonelens_analysis::coverage::{Because, Element, Unseen};
use zonelens_analysis::network::Network;

/// What was met, by element as written.
pub(super) struct Met<'s, 'p> {
    pub catalogue: &'s Catalogue,
    pub states: &'s States<'p>,
    /// For each edge as written, whether it was taken.
    pub taken: Vec<bool>,
    /// Whether everything was explored: only then something is known about reasons.
    pub complete: bool,
}

impl<'s, 'p> Met<'s, 'p> {
    /// Joins the records of a search; `taken` is by edge of the program.
    pub(super) fn new(
        catalogue: &'s Catalogue,
        states: &'s States<'p>,
        taken: &[bool],
        complete: bool,
    ) -> Met<'s, 'p> {
        let mut written = vec![false; catalogue.written.len()];
        for (parts, _) in catalogue.parts_of.iter().zip(taken).filter(|(_, t)| **t) {
            for &part in parts {
                written[part] = true;
            }
        }
        Met {
            catalogue,
            states,
            taken: written,
            complete,
        }
    }

    /// What was not met, in the order of the text.
    pub(super) fn unseen(&self, network: &Network) -> Vec<Unseen> {
        let mut all = Vec::new();
        self.locations(&mut all);
        self.edges(&mut all);
        self.limits(&mut all);
        if !self.complete {
            all.iter_mut().for_each(|one| one.because = None);
        }
        all.sort_by_key(|one| (one.element.span(network), one.element.kind()));
        all
    }

    fn locations(&self, all: &mut Vec<Unseen>) {
        for (place, element) in self.catalogue.places.iter().enumerate() {
            if self.states.entered[place] {
                continue;
            }
            let into = || self.into(place);
            let because = if into().next().is_none() {
                Some(Because::NoEdgeIn)
            } else if into().all(|edge| self.starts_elsewhere(edge)) {
                Some(Because::SourcesNotEntered)
            } else {
                None
            };
            let element = *element;
            all.push(Unseen { element, because });
        }
    }

    /// The edges as written into a location, except those from itself.
    fn into(&self, place: usize) -> impl Iterator<Item = &'s Written> {
        let written = self.catalogue.written.iter();
        written.filter(move |w| w.target == Some(place) && w.source != Some(place))
    }

    /// Whether an edge starts in a location that was not entered, or behind edges that do.
    fn starts_elsewhere(&self, edge: &Written) -> bool {
        match edge.source {
            Some(source) => !self.states.entered[source],
            // Branchpoints that lead back to each other are refused.
            None => edge
                .before
                .iter()
                .all(|&k| self.starts_elsewhere(&self.catalogue.written[k])),
        }
    }

    fn edges(&self, all: &mut Vec<Unseen>) {
        for (k, edge) in self.catalogue.written.iter().enumerate() {
            if self.taken[k] {
                continue;
            }
            let element = edge.element;
            let Element::Edge {
                process, edge: e, ..
            } = element
            else {
                continue;
            };
            let Some(source) = edge.source else {
                let reached = edge.before.iter().any(|&before| self.taken[before]);
                let because = (!reached).then_some(Because::BranchpointNotReached);
                all.push(Unseen { element, because });
                continue;
            };
            let mut also = None;
            let because = if !self.states.entered[source] {
                Some(Because::SourceNotEntered)
            } else if edge.guarded && !self.states.guards[k] {
                let guard = Element::Guard { process, edge: e };
                also = Some((guard, None));
                Some(Because::GuardFalse)
            } else if let Some(heard) = edge.receives {
                let because = (!heard).then_some(Because::NoSender);
                let receiver = Element::Receiver { process, edge: e };
                also = Some((receiver, because));
                because.or(Some(Because::NeverHears))
            } else {
                None
            };
            all.push(Unseen { element, because });
            all.extend(also.map(|(element, because)| Unseen { element, because }));
        }
    }

    fn limits(&self, all: &mut Vec<Unseen>) {
        for (limited, values) in self.catalogue.limited.iter().zip(&self.states.values) {
            let (Some((low, high)), Some(&cell)) = (*values, limited.cells.first()) else {
                continue;
            };
            let because = Some(Because::Values(low, high));
            for (upper, reached) in [
                (false, low == limited.range.0),
                (true, high == limited.range.1),
            ] {
                if !reached {
                    let element = Element::Limit { cell, upper };
                    all.push(Unseen { element, because });
                }
            }
        }
    }
}
