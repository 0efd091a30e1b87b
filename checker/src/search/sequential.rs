//! The exploration loop: takes waiting states, computes their successors, stores the new ones and
//! shows them to the query.

use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::graph::{Broken, Passed, Route, Successor, Successors, Visitor};
use crate::program::{Fault, Program};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::moves::Moves;
use crate::search::nearness::Nearness;
use crate::store::packing::Packing;
use crate::store::passed_waiting::{Covering, NIL, Origin, PassedWaiting};
use crate::store::table::Taken;
use crate::zone::Zone;
use std::ops::ControlFlow;
use zonelens_analysis::report::SearchOrder;

/// The settings of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The abstraction to use.
    pub abstraction: Abstraction,
    /// When a stored state covers another.
    pub covering: Covering,
    /// The order of exploration.
    pub order: SearchOrder,
    /// The seed of the random order.
    pub seed: u64,
    /// Whether the path found must be shortest (only with breadth-first order).
    pub shortest: bool,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The visitor ended it at this node.
    Found(u32),
    /// Everything was explored.
    Exhausted,
    /// It was stopped.
    Stopped(Stop),
    /// A fault of the model on a step from the node (or in the state itself).
    Fault(Fault, u32),
    /// The audit found a broken symmetry.
    Asymmetric(String),
    /// A fault of the query at the node.
    QueryFault(Fault, u32),
}

/// The packing of the discrete states of a program.
pub(crate) fn packing(program: &Program) -> Packing {
    let locations = program.locations.iter().map(|ls| (0, ls.len() as i32 - 1));
    Packing::new(program.cells.iter().copied().chain(locations))
}

/// A search: the successors and the stored states.
pub(crate) struct Search<'p, S: Successors<'p>> {
    dim: usize,
    /// Computes successors.
    pub graph: S,
    /// The stored states.
    pub states: PassedWaiting,
    /// The permutations that were applied to states.
    moves: Moves<S::Move>,
    /// Measures the distance of a state from the goal, if the nearest states are explored first.
    nearness: Option<Nearness<'p>>,
    started: bool,
    explored: u64,
    transitions: u64,
}

impl<'p, S: Successors<'p>> Search<'p, S> {
    /// Prepares a search.
    pub(crate) fn new(program: &Program, bounds: &Bounds, settings: Settings, graph: S) -> Self {
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
        if let Some(layout) = graph.layout() {
            states.fold(layout, bounds.greatest_of_all());
        }
        if graph.moves() {
            // Permutations are undone along the states of a path.
            states.keep_covered();
        }
        Search {
            dim: program.dim(),
            graph,
            states,
            moves: Moves::default(),
            nearness: None,
            started: false,
            explored: 0,
            transitions: 0,
        }
    }

    /// Explores the nearest states first. Must be called before the search starts.
    pub(crate) fn best_first(&mut self, nearness: Nearness<'p>) {
        self.nearness = Some(nearness);
        self.states.by_rank();
    }

    /// The path to a node.
    pub(crate) fn route(&self, node: u32) -> Route<S::Move> {
        if !self.graph.moves() {
            return Route::Steps(self.states.path(node));
        }
        let mut path = Vec::new();
        let (mut at, mut step) = (node, None);
        while at != NIL {
            let (state, zone) = self.state(at);
            path.push(Passed {
                state,
                zone,
                moved_by: self.moves.of(at),
                step,
            });
            let origin = self.states.origin(at);
            step = Some(origin.step);
            at = origin.parent;
        }
        path.reverse();
        Route::Moved(path)
    }

    /// A stored state.
    pub(crate) fn state(&self, node: u32) -> (Vec<i32>, Zone) {
        let (mut state, mut zone) = (Vec::new(), Zone::universe(self.dim));
        self.states.get(node, &mut state, &mut zone);
        (state, zone)
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> Counts {
        counts(&self.states, &self.moves, self.explored, self.transitions)
    }

    /// Searches until the visitor ends it, everything is explored, or the watch stops it.
    pub(crate) fn run(&mut self, visitor: &mut impl Visitor, watch: &mut Watch<'_>) -> Outcome {
        let outcome = self.explore(visitor, watch);
        watch.add(self.counts());
        outcome
    }

    /// Like [`Search::run`], but leaves the counts to the caller. A search that was stopped
    /// continues where it ended.
    pub(crate) fn explore(&mut self, visitor: &mut impl Visitor, watch: &mut Watch<'_>) -> Outcome {
        let outcome = self.explore_on(visitor, watch);
        if let Outcome::Found(node) = &outcome {
            let (state, zone) = self.state(*node);
            if let Some(message) = self.graph.confirm(&state, &zone) {
                return Outcome::Asymmetric(message);
            }
        }
        outcome
    }

    fn explore_on(&mut self, visitor: &mut impl Visitor, watch: &mut Watch<'_>) -> Outcome {
        let started = std::mem::replace(&mut self.started, true);
        let Search {
            dim,
            graph,
            states,
            moves,
            nearness,
            explored,
            transitions,
            ..
        } = self;
        let mut store = |states: &mut PassedWaiting,
                         moves: &mut Moves<S::Move>,
                         transitions: &mut u64,
                         origin: Origin,
                         mut found: Successor<'_, S::Move>| {
            *transitions += 1;
            let rank = nearness.as_mut();
            let rank = rank.map_or(0, |n| n.distance(found.state, found.classes));
            let put = states.put(found.state, found.zone, origin, found.bounds, rank);
            let Some(node) = put.or_else(|| states.joined()) else {
                return ControlFlow::Continue(());
            };
            let shown = found.show(visitor, node);
            moves.note(node, found.moved_by);
            match shown {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(Outcome::Found(node)),
                Err(fault) if fault.of_query => {
                    ControlFlow::Break(Outcome::QueryFault(fault, node))
                }
                Err(fault) => ControlFlow::Break(Outcome::Fault(fault, node)),
            }
        };
        if !started {
            let origin = Origin {
                parent: NIL,
                step: 0,
                depth: 0,
            };
            match graph.initial(&mut |found| store(states, moves, transitions, origin, found)) {
                Err(broken) => return Outcome::broken(broken, NIL),
                Ok(ControlFlow::Break(end)) => return end,
                Ok(ControlFlow::Continue(())) => {}
            }
        }
        let (mut state, mut zone) = (Vec::new(), Taken::new(*dim, graph.layout()));
        loop {
            // This comes before the state is taken, so that the search can continue.
            if let Some(stop) = watch.check(|| counts(states, moves, *explored, *transitions)) {
                return Outcome::Stopped(stop);
            }
            let Some(node) = states.take() else {
                return Outcome::Exhausted;
            };
            *explored += 1;
            states.restore(node, &mut state, &mut zone);
            let steps = match graph.begin(&mut state, zone.shape()) {
                Ok(steps) => steps,
                Err(broken) => return Outcome::broken(broken, node),
            };
            let depth = states.origin(node).depth + 1;
            for step in 0..steps {
                if let Some(stop) =
                    watch.check_amid(step, || counts(states, moves, *explored, *transitions))
                {
                    return Outcome::Stopped(stop);
                }
                if !graph.takes(step) {
                    continue;
                }
                let origin = Origin {
                    parent: node,
                    step: step as u32,
                    depth,
                };
                let mut take =
                    |found: Successor<'_, _>| store(states, moves, transitions, origin, found);
                match graph.step(step, &mut state, zone.shape(), &mut take) {
                    Err(broken) => return Outcome::broken(broken, node),
                    Ok(ControlFlow::Break(end)) => return end,
                    Ok(ControlFlow::Continue(())) => {}
                }
            }
        }
    }
}

impl Outcome {
    /// The outcome of a search that the graph of states ended.
    fn broken(broken: Broken, node: u32) -> Outcome {
        match broken {
            Broken::Fault(fault) => Outcome::Fault(fault, node),
            Broken::Overflow => Outcome::Stopped(Stop::Overflow),
            Broken::Asymmetric(message) => Outcome::Asymmetric(message),
        }
    }
}

fn counts<M>(states: &PassedWaiting, moves: &Moves<M>, explored: u64, transitions: u64) -> Counts {
    Counts {
        stored: states.stored(),
        explored,
        transitions,
        waiting: states.waiting(),
        bytes: (states.bytes() + moves.bytes()) as u64,
    }
}
