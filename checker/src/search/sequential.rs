//! The exploration loop: takes waiting states, computes their successors, stores what is new and shows it to the query.

use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::bounds::coupling::Coupling;
use crate::graph::expander::Expander;
use crate::program::{Alike, Fault, Program};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::nearness::Nearness;
use crate::store::packing::Packing;
use crate::store::passed_waiting::{Covering, NIL, Origin, PassedWaiting};
use crate::symmetry::{Audit, OnePerClass, Passed, Permutation, Quotient, Representative};
use crate::zone::Zone;
use rustc_hash::FxHashMap;
use zonelens_analysis::report::SearchOrder;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Which abstraction.
    pub abstraction: Abstraction,
    /// When a state is covered.
    pub covering: Covering,
    /// Order of exploration.
    pub order: SearchOrder,
    /// Seed for the random order.
    pub seed: u64,
    /// Whether the path found must be shortest (breadth first only).
    pub shortest: bool,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The visitor ended it at this node.
    Found(u32),
    /// Everything was explored.
    Exhausted,
    /// It was stopped.
    Stopped(Stop),
    /// The model failed: at a step of the node (or in the state itself).
    Fault(Fault, u32),
    /// The audit found a broken symmetry.
    Asymmetric(String),
    /// The query failed at the node.
    QueryFault(Fault, u32),
}

/// Packs the discrete states of a program.
pub fn packing(program: &Program) -> Packing {
    let locations = program.locations.iter().map(|ls| (0, ls.len() as i32 - 1));
    Packing::new(program.cells.iter().copied().chain(locations))
}

/// A search: the stored states and the counts.
pub struct Search<'p> {
    program: &'p Program,
    bounds: &'p Bounds,
    /// The stored states.
    pub states: PassedWaiting,
    abstractor: Abstractor,
    /// Replaces states by representatives of their orbits.
    pub representative: Option<Representative>,
    /// Measures how far a state is from what is looked for, if the nearest are explored first.
    nearness: Option<Nearness<'p>>,
    /// Checks sampled states for symmetry.
    pub audit: Option<Audit<'p>>,
    permutations: Permutations,
    /// Bounds of a representative, where states are stored and compared by the bounds of their discrete part: what
    /// moves a state moves those too. The abstractor keeps the bounds of the state as it was.
    moved: Option<(Vec<i32>, Vec<i32>)>,
    whole: Zone,
    started: bool,
    explored: u64,
    transitions: u64,
}

impl<'p> Search<'p> {
    /// Prepares a search.
    pub fn new(program: &'p Program, bounds: &'p Bounds, settings: Settings) -> Search<'p> {
        let mut states = PassedWaiting::new(
            packing(program),
            program.dim(),
            bounds.greatest_of_all(),
            settings.abstraction,
            settings.covering,
            settings.order,
            settings.seed,
        );
        if settings.shortest {
            states.keep_shallow();
        }
        Search {
            program,
            bounds,
            states,
            abstractor: Abstractor::new(settings.abstraction, program.dim()),
            representative: None,
            nearness: None,
            audit: None,
            permutations: Permutations::default(),
            moved: settings
                .abstraction
                .frees_inactive()
                .then(|| (vec![0; program.dim()], vec![0; program.dim()])),
            whole: Zone::universe(program.dim()),
            started: false,
            explored: 0,
            transitions: 0,
        }
    }

    /// Forgets the differences of clocks that are not kept together; before the search starts.
    pub fn loosen(&mut self, coupling: Coupling) {
        self.abstractor.coupling = Some(coupling);
    }

    /// Explores the nearest states first; before the search starts.
    pub fn best_first(&mut self, nearness: Nearness<'p>) {
        self.nearness = Some(nearness);
        self.states.by_rank();
    }

    /// The representatives on the path to a node.
    pub fn path(&self, node: u32) -> Vec<Passed> {
        let mut path = Vec::new();
        let (mut at, mut step) = (node, None);
        while at != NIL {
            let (mut state, mut zone) = (Vec::new(), Zone::universe(self.program.dim()));
            self.states.get(at, &mut state, &mut zone);
            path.push(Passed {
                state,
                zone,
                permutation: self.permutations.of(at),
                step,
            });
            let origin = self.states.origin(at);
            step = Some(origin.step);
            at = origin.parent;
        }
        path.reverse();
        path
    }

    /// A zone to be overwritten.
    pub fn any_zone(&self) -> Zone {
        Zone::universe(self.program.dim())
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        Counts {
            stored: self.states.stored(),
            explored: self.explored,
            transitions: self.transitions,
            waiting: self.states.waiting(),
            bytes: self.states.bytes() as u64,
        }
    }

    /// Searches until the visitor says so, everything is explored, or the watch ends it.
    pub fn run(&mut self, visitor: &mut impl Visitor, watch: &mut Watch<'_>) -> Outcome {
        let outcome = self.explore(visitor, watch);
        watch.add(self.counts());
        outcome
    }

    /// Stores the initial state.
    fn start(
        &mut self,
        expander: &mut Expander<'_>,
        pieces: &mut Vec<Zone>,
        visitor: &mut impl Visitor,
    ) -> Option<Outcome> {
        self.started = true;
        match expander.initial() {
            Err(fault) => Some(Outcome::Fault(fault, NIL)),
            Ok((mut state, mut zones)) => {
                let origin = Origin {
                    parent: NIL,
                    step: 0,
                    depth: 0,
                };
                self.add(&mut state, &mut zones, origin, pieces, visitor)
            }
        }
    }

    /// Searches like [`Search::run`], but leaves the counts to the caller. A search that was stopped goes on where it was.
    pub fn explore(&mut self, visitor: &mut impl Visitor, watch: &mut Watch<'_>) -> Outcome {
        let mut expander = Expander::new(self.program);
        let outcome = self.explore_with(&mut expander, visitor, watch);
        // What ends a search was not taken from the waiting list yet.
        if let (Outcome::Found(node), Some(audit), Some(representative)) =
            (&outcome, &mut self.audit, &mut self.representative)
        {
            let (mut state, mut zone) = (Vec::new(), Zone::universe(self.program.dim()));
            self.states.get(*node, &mut state, &mut zone);
            audit.now();
            if let Ok(Some(message)) = audit.check(representative, &mut expander, &state, &zone) {
                return Outcome::Asymmetric(message);
            }
        }
        outcome
    }

    fn explore_with(
        &mut self,
        expander: &mut Expander<'p>,
        visitor: &mut impl Visitor,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let mut pieces = Vec::new();
        if self.representative.is_some() {
            // Permutations are undone along the states of a path.
            self.states.keep_covered();
        }
        if !self.started
            && let Some(end) = self.start(expander, &mut pieces, visitor)
        {
            return end;
        }
        let (mut state, mut next) = (Vec::new(), Vec::new());
        let mut zone = Zone::universe(self.program.dim());
        // Under audit every step is taken.
        let mut one_per_class = match &self.representative {
            Some(r) if self.audit.is_none() => {
                let quotient = r.quotient(self.program, self.bounds, &self.abstractor);
                Some(OnePerClass::new(r.tables()).on_few_clocks(quotient))
            }
            _ => None,
        };
        loop {
            // Before the state is taken, so that a search can go on.
            if let Some(stop) = watch.check(|| self.counts()) {
                return Outcome::Stopped(stop);
            }
            let Some(node) = self.states.take() else {
                return Outcome::Exhausted;
            };
            self.explored += 1;
            self.states.get(node, &mut state, &mut zone);
            if let (Some(audit), Some(representative)) = (&mut self.audit, &mut self.representative)
            {
                match audit.check(representative, expander, &state, &zone) {
                    Ok(None) => {}
                    Ok(Some(message)) => return Outcome::Asymmetric(message),
                    Err(fault) => return Outcome::Fault(fault, node),
                }
            }
            if let (Some(one), Some(r)) = (&mut one_per_class, &self.representative) {
                one.begin(self.program, r, &state, &zone, &mut expander.steps);
            }
            if let Err(fault) = expander.find_steps(&mut state, &zone) {
                return Outcome::Fault(fault, node);
            }
            let depth = self.states.origin(node).depth + 1;
            for step in 0..expander.steps.len() {
                if let Some(stop) = watch.check_amid(step, || self.counts()) {
                    return Outcome::Stopped(stop);
                }
                if let (Some(one), Some(r)) = (&mut one_per_class, &self.representative)
                    && !one.is_first(self.program, r.tables(), &expander.steps, step)
                {
                    continue;
                }
                let origin = Origin {
                    parent: node,
                    step: step as u32,
                    depth,
                };
                if let (Some(one), Some(r)) = (&mut one_per_class, &self.representative) {
                    match one.successor(r, expander, step, (&mut state, &zone), &mut next) {
                        Err(fault) => return Outcome::Fault(fault, node),
                        Ok(None) => {}
                        Ok(Some(None)) => continue,
                        Ok(Some(Some(quotient))) => {
                            let added = self.add_quotient(
                                &mut next,
                                quotient,
                                origin,
                                &mut pieces,
                                visitor,
                            );
                            match added {
                                Some(end) => return end,
                                None => continue,
                            }
                        }
                    }
                }
                let mut zones = match expander.successors(step, &mut state, &zone, &mut next) {
                    Ok(zones) => zones,
                    Err(fault) => return Outcome::Fault(fault, node),
                };
                if !zones.is_empty()
                    && let Some(end) = self.add(&mut next, &mut zones, origin, &mut pieces, visitor)
                {
                    return end;
                }
                expander.recycle(&mut pieces);
                expander.recycle_list(zones);
            }
        }
    }

    /// Abstracts, stores and shows the zones of one successor.
    fn add(
        &mut self,
        state: &mut [i32],
        zones: &mut Vec<Zone>,
        origin: Origin,
        pieces: &mut Vec<Zone>,
        visitor: &mut impl Visitor,
    ) -> Option<Outcome> {
        self.abstractor.at_state(self.program, self.bounds, state);
        for zone in zones.drain(..) {
            if zone.overflowed() {
                return Some(Outcome::Stopped(Stop::Overflow));
            }
            let first = pieces.len();
            self.abstractor.apply(self.bounds, zone, pieces);
            for piece in &mut pieces[first..] {
                self.transitions += 1;
                if let Some(end) = self.store(state, piece, origin, visitor) {
                    return Some(end);
                }
            }
        }
        None
    }

    /// The same for a successor that is known on a few clocks of each class.
    fn add_quotient(
        &mut self,
        state: &mut [i32],
        quotient: &mut Quotient,
        origin: Origin,
        pieces: &mut Vec<Zone>,
        visitor: &mut impl Visitor,
    ) -> Option<Outcome> {
        if quotient.zone.overflowed() {
            return Some(Outcome::Stopped(Stop::Overflow));
        }
        self.abstractor.at_state(self.program, self.bounds, state);
        let representative = self.representative.as_mut()?;
        let mut whole = std::mem::replace(&mut self.whole, Zone::universe(1));
        if !quotient.abstracted(&self.abstractor) {
            representative.write_out(quotient, &mut whole);
            return self.add(state, &mut vec![whole], origin, pieces, visitor);
        }
        self.transitions += 1;
        let mut moved = state.to_vec();
        let permutation = representative.reduce_quotient(&mut moved, quotient, &mut whole);
        let end = self.store_moved(&mut moved, &whole, permutation, origin, visitor);
        self.whole = whole;
        end
    }

    /// Stores one state (its representative, with symmetry) and shows it if it may be new.
    fn store(
        &mut self,
        state: &mut [i32],
        zone: &mut Zone,
        origin: Origin,
        visitor: &mut impl Visitor,
    ) -> Option<Outcome> {
        let Some(representative) = &mut self.representative else {
            return self.store_as_it_is(state, zone, origin, false, visitor).1;
        };
        let mut moved = state.to_vec();
        let permutation = representative.reduce(&mut moved, zone);
        self.store_moved(&mut moved, zone, permutation, origin, visitor)
    }

    /// Stores a representative with the permutation that led to it.
    fn store_moved(
        &mut self,
        state: &mut [i32],
        zone: &Zone,
        permutation: Permutation,
        origin: Origin,
        visitor: &mut impl Visitor,
    ) -> Option<Outcome> {
        let moves = !permutation.is_identity();
        let (node, end) = self.store_as_it_is(state, zone, origin, moves, visitor);
        // A hull keeps the permutation of the state that it began with.
        if let Some(node) = node.filter(|n| self.permutations.is_new(*n)) {
            self.permutations.set(node, permutation);
        }
        end
    }

    /// Stores a state unless it is covered; gives its node, and how the search ends if the visitor says so. `moved`: it
    /// is not the state that was abstracted last but a permutation of it.
    fn store_as_it_is(
        &mut self,
        state: &mut [i32],
        zone: &Zone,
        origin: Origin,
        moved: bool,
        visitor: &mut impl Visitor,
    ) -> (Option<u32>, Option<Outcome>) {
        let (l, u) = match &mut self.moved {
            Some((l, u)) if moved => {
                self.bounds.of_state(self.program, state, l, u);
                (&*l, &*u)
            }
            _ => (&self.abstractor.l, &self.abstractor.u),
        };
        let rank = self.nearness.as_mut().map_or(0, |n| n.distance(state));
        let put = self.states.put(state, zone, origin, (l, u), rank);
        let Some(node) = put.or_else(|| self.states.joined()) else {
            return (None, None);
        };
        // Under audit every element is looked at.
        if let (Some(representative), None, Some(alike)) =
            (&self.representative, &self.audit, visitor.alike())
        {
            representative.discrete_classes(state, alike);
        }
        let end = match visitor.visit(state, zone, node) {
            Ok(false) => None,
            Ok(true) => Some(Outcome::Found(node)),
            Err(fault) if fault.of_query => Some(Outcome::QueryFault(fault, node)),
            Err(fault) => Some(Outcome::Fault(fault, node)),
        };
        (Some(node), end)
    }
}

/// The permutation of each node, each kept once.
#[derive(Default)]
struct Permutations {
    of_node: Vec<u32>,
    index: FxHashMap<Permutation, u32>,
    all: Vec<Permutation>,
}

impl Permutations {
    fn is_new(&self, node: u32) -> bool {
        node as usize == self.of_node.len()
    }

    /// Nodes come in order of their numbers.
    fn set(&mut self, node: u32, permutation: Permutation) {
        let all = &mut self.all;
        let id = *self.index.entry(permutation).or_insert_with_key(|p| {
            all.push(p.clone());
            all.len() as u32 - 1
        });
        debug_assert_eq!(self.of_node.len(), node as usize);
        self.of_node.push(id);
    }

    fn of(&self, node: u32) -> Permutation {
        let id = self.of_node.get(node as usize);
        id.and_then(|id| self.all.get(*id as usize))
            .cloned()
            .unwrap_or(Permutation(Vec::new()))
    }
}
