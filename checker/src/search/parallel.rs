//! The exploration loop on several threads.
//!
//! The table of states is split into shards by the hash of the discrete part. A thread prepares a
//! successor for storing by itself and locks a shard only while the successor is compared and
//! stored; with several shards per thread, two threads rarely wait for each other. Verdicts are the
//! same as with one thread; which of several traces is found may differ from run to run. Each
//! thread has its own successors, with or without symmetry; their counts are added up at the end.
//!
//! A search starts on one thread: most models are finished before a second one could help.

use crate::bounds::Bounds;
use crate::graph::{Broken, Compact, Passed, Route, Successor, Successors, Visitor};
use crate::program::{Fault, Program};
use crate::search::frontier::{Frontier, Local, Work, lock};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::moves::Moves;
use crate::search::sequential::{Settings, packing};
use crate::store::passed_waiting::{NIL, Origin};
use crate::store::table::{Incoming, Table, Taken};
use crate::zone::{Shape, Zone};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of states that the first thread explores alone. It is small in tests, whose models
/// are small.
const ALONE: u64 = if cfg!(test) { 8 } else { 2_000 };
/// The number of states that a thread explores between two reports of its counts.
const REPORT_INTERVAL: u64 = 256;
/// The number of shards per thread. With more shards, threads wait for each other less often, but
/// fewer states share a zone.
const SHARDS_PER_THREAD: u32 = 8;

/// How a search ended, with the path to the last state.
pub(crate) enum End<M> {
    /// Everything was explored.
    Exhausted,
    /// The visitor ended the search.
    Found(Route<M>),
    /// The search was stopped.
    Stopped(Stop),
    /// A fault of the model, on a step from the last state or in the state itself.
    Fault(Fault, Route<M>),
    /// A fault of the query.
    QueryFault(Fault),
    /// The audit found a broken symmetry.
    Asymmetric(String),
}

/// The states that a search has stored, with the successors that computed them.
pub(crate) struct Kept<S, M> {
    shards: Vec<Shard<M>>,
    dim: usize,
    /// The successors, with the counts of all threads.
    pub graph: S,
}

impl<S, M> Kept<S, M> {
    /// The nodes of each discrete state that has several zones.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Vec<u32>> {
        let count = self.shards.len() as u32;
        let shards = self.shards.iter().zip(0..);
        shards.flat_map(move |(shard, k)| {
            let number = move |nodes: Vec<u32>| nodes.iter().map(|n| n * count + k).collect();
            shard.table.shared().map(number)
        })
    }
}

/// A part of the table, with the permutations applied to its states.
struct Shard<M> {
    table: Table,
    moves: Moves<M>,
}

/// The data that threads share. Node `n` of shard `k` has the id `n * shards + k`.
struct Shared<M> {
    dim: usize,
    settings: Settings,
    shards: Vec<Mutex<Shard<M>>>,
    frontier: Frontier,
    explored: AtomicU64,
    transitions: AtomicU64,
    ended: AtomicBool,
    halt: Mutex<Option<Halt>>,
}

/// Why a visitor or the graph stopped a thread.
enum Halt {
    Found(u32),
    Stopped(Stop),
    Fault(Fault, u32),
    QueryFault(Fault),
    Asymmetric(String),
}

impl Halt {
    fn broken(broken: Broken, node: u32) -> Halt {
        match broken {
            Broken::Fault(fault) => Halt::Fault(fault, node),
            Broken::Overflow => Halt::Stopped(Stop::Overflow),
            Broken::Asymmetric(message) => Halt::Asymmetric(message),
        }
    }
}

/// Creates successors and a visitor for each thread.
pub(crate) struct Makers<'m, S, V> {
    /// Creates the successors of a thread.
    pub graph: &'m (dyn Fn() -> S + Sync),
    /// Creates the visitor of a thread.
    pub visitor: &'m (dyn Fn() -> V + Sync),
}

/// Searches on `threads` threads.
pub(crate) fn search<'p, S, V>(
    (program, bounds): (&'p Program, &'p Bounds),
    settings: Settings,
    threads: u32,
    makers: &Makers<'_, S, V>,
    watch: &mut Watch<'_>,
) -> (End<S::Move>, Kept<S, S::Move>)
where
    S: Successors<'p> + Send,
    S::Move: Send,
    V: Visitor,
{
    let threads = threads.max(1);
    let graph = (makers.graph)();
    let (keeps_covered, layout) = (graph.moves(), graph.layout());
    let shard = || {
        let mut table = Table::new(
            packing(program),
            program.dim(),
            bounds.greatest_of_all(),
            settings.abstraction,
            settings.covering,
        );
        if let Some(layout) = &layout {
            table.fold(layout.clone(), bounds.greatest_of_all());
        }
        if keeps_covered {
            // Permutations are undone along the states of a path.
            table.keep_covered();
        }
        Mutex::new(Shard {
            table,
            moves: Moves::default(),
        })
    };
    let shards = (threads.min(64) * SHARDS_PER_THREAD).next_power_of_two();
    let shared = Shared {
        dim: program.dim(),
        settings,
        shards: (0..shards).map(|_| shard()).collect(),
        frontier: Frontier::new(),
        explored: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        halt: Mutex::new(None),
    };
    let mut first = Worker::new(&shared, 0, graph, (makers.visitor)());
    first.start();
    let mut done = first.run(Some(&mut *watch), ALONE);
    let mut others = Vec::new();
    if !done && threads > 1 {
        shared.frontier.join(threads - 1);
        others = std::thread::scope(|scope| {
            let spawned = (1..threads).map(|k| {
                let shared = &shared;
                scope.spawn(move || {
                    let _alarm = Alarm(&shared.ended);
                    let (graph, visitor) = ((makers.graph)(), (makers.visitor)());
                    let mut worker = Worker::new(shared, k, graph, visitor);
                    worker.run(None, u64::MAX);
                    worker.graph
                })
            });
            let spawned: Vec<_> = spawned.collect();
            let _alarm = Alarm(&shared.ended);
            done = first.run(Some(&mut *watch), u64::MAX);
            let joined = spawned.into_iter().map(|thread| match thread.join() {
                Ok(graph) => graph,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect()
        });
    } else if !done {
        first.run(Some(&mut *watch), u64::MAX);
    }
    watch.add(shared.total());
    let mut graph = first.graph;
    others.into_iter().for_each(|other| graph.absorb(other));
    let shards = shared.shards.into_iter();
    let kept = Kept {
        shards: shards
            .map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect(),
        dim: program.dim(),
        graph,
    };
    let halt = shared.halt.into_inner();
    let halt = halt.unwrap_or_else(PoisonError::into_inner);
    kept.end(halt)
}

impl<'p, S: Successors<'p>> Kept<S, S::Move> {
    fn end(mut self, halt: Option<Halt>) -> (End<S::Move>, Self) {
        let end = match halt {
            None => End::Exhausted,
            Some(Halt::Found(node)) => {
                // Without permutations, a state that was covered in the meantime is gone.
                let confirmed = self.graph.moves().then(|| self.state(node));
                match confirmed.and_then(|(state, zone)| self.graph.confirm(&state, &zone)) {
                    Some(message) => End::Asymmetric(message),
                    None => End::Found(self.route(node)),
                }
            }
            Some(Halt::Stopped(stop)) => End::Stopped(stop),
            Some(Halt::Fault(fault, node)) => End::Fault(fault, self.route(node)),
            Some(Halt::QueryFault(fault)) => End::QueryFault(fault),
            Some(Halt::Asymmetric(message)) => End::Asymmetric(message),
        };
        (end, self)
    }

    fn shard(&self, node: u32) -> (&Shard<S::Move>, u32) {
        let count = self.shards.len() as u32;
        (&self.shards[(node % count) as usize], node / count)
    }

    /// The state of a node.
    pub(crate) fn state(&self, node: u32) -> (Vec<i32>, Zone) {
        let (shard, id) = self.shard(node);
        let (mut state, mut zone) = (Vec::new(), Zone::universe(self.dim));
        shard.table.get(id, &mut state, &mut zone);
        (state, zone)
    }

    /// The path to a node.
    fn route(&self, node: u32) -> Route<S::Move> {
        let moves = self.graph.moves();
        let (mut steps, mut path) = (Vec::new(), Vec::new());
        let (mut at, mut step) = (node, None);
        while at != NIL {
            let (shard, id) = self.shard(at);
            let origin = shard.table.origin(id);
            if moves {
                let (state, zone) = self.state(at);
                path.push(Passed {
                    state,
                    zone,
                    moved_by: shard.moves.of(id),
                    step,
                });
                step = Some(origin.step);
            } else if origin.parent != NIL {
                steps.push(origin.step);
            }
            at = origin.parent;
        }
        if moves {
            path.reverse();
            Route::Moved(path)
        } else {
            steps.reverse();
            Route::Steps(steps)
        }
    }
}

impl<M> Shared<M> {
    fn total(&self) -> Counts {
        let mut total = Counts {
            explored: self.explored.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            bytes: self.frontier.bytes() as u64,
            ..Counts::default()
        };
        for shard in &self.shards {
            let shard = lock(shard);
            let table = &shard.table;
            total.stored += table.stored();
            total.waiting += table.waiting();
            total.bytes += (table.bytes() + shard.moves.bytes()) as u64;
        }
        total
    }

    /// Ends the search for all threads; only the first reason counts.
    fn finish(&self, halt: Halt) {
        lock(&self.halt).get_or_insert(halt);
        self.ended.store(true, Ordering::Release);
    }
}

/// Ends the search for the other threads if this one panics: otherwise they would wait for it for
/// ever.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

struct Worker<'s, S, M, V> {
    shared: &'s Shared<M>,
    graph: S,
    keep: Keep<'s, M, V>,
    /// The number of states explored since the last report.
    explored: u64,
}

/// The part of a worker that stores successors.
struct Keep<'s, M, V> {
    shared: &'s Shared<M>,
    waiting: Local,
    incoming: Incoming,
    visitor: V,
    /// The number of successors since the last report.
    transitions: u64,
}

impl<'s, 'p, S: Successors<'p>, V: Visitor> Worker<'s, S, S::Move, V> {
    fn new(shared: &'s Shared<S::Move>, number: u32, graph: S, visitor: V) -> Self {
        let settings = shared.settings;
        Worker {
            shared,
            graph,
            keep: Keep {
                shared,
                waiting: Local::new(settings.order, settings.seed.wrapping_add(number.into())),
                incoming: lock(&shared.shards[0]).table.incoming(),
                visitor,
                transitions: 0,
            },
            explored: 0,
        }
    }

    /// Stores the initial states.
    fn start(&mut self) {
        let origin = Origin {
            parent: NIL,
            step: 0,
            depth: 0,
        };
        let keep = &mut self.keep;
        match self.graph.initial(&mut |found| keep.put(found, origin)) {
            Err(broken) => self.shared.finish(Halt::broken(broken, NIL)),
            Ok(ControlFlow::Break(halt)) => self.shared.finish(halt),
            Ok(ControlFlow::Continue(())) => {}
        }
    }

    /// Explores until nothing is left, the search has ended, or `limit` states were explored;
    /// returns false in the last case. Only one thread has the watch.
    fn run(&mut self, mut watch: Option<&mut Watch<'_>>, limit: u64) -> bool {
        let shared = self.shared;
        let mut state = Vec::new();
        let mut zone = Taken::new(shared.dim, self.graph.layout());
        let mut total = shared.total();
        let mut left = limit;
        let done = loop {
            if shared.ended.load(Ordering::Acquire) {
                break true;
            }
            if let Some(watch) = &mut watch
                && let Some(stop) = watch.check(|| total)
            {
                shared.finish(Halt::Stopped(stop));
                break true;
            }
            if left == 0 {
                break false;
            }
            let Some(node) = self.keep.waiting.take(&shared.frontier) else {
                self.report();
                match self.keep.waiting.wait(&shared.frontier, &shared.ended) {
                    Work::None => break true,
                    Work::Some | Work::Later => continue,
                }
            };
            let Some(depth) = self.pass(node, &mut state, &mut zone) else {
                continue;
            };
            left -= 1;
            self.explored += 1;
            if let Err(halt) = self.expand((node, depth), &mut state, zone.shape(), &mut watch) {
                shared.finish(halt);
                break true;
            }
            if self.explored == REPORT_INTERVAL {
                self.report();
                if watch.is_some() {
                    total = shared.total();
                }
            }
        };
        self.report();
        done
    }

    fn report(&mut self) {
        let (explored, transitions) = (&mut self.explored, &mut self.keep.transitions);
        let add =
            |sum: &AtomicU64, n: &mut u64| sum.fetch_add(std::mem::take(n), Ordering::Relaxed);
        add(&self.shared.explored, explored);
        add(&self.shared.transitions, transitions);
    }

    /// Takes a state out of the table and returns its depth, unless it was covered in the meantime.
    fn pass(&mut self, node: u32, state: &mut Vec<i32>, zone: &mut Taken) -> Option<u32> {
        let shards = self.shared.shards.len() as u32;
        let (shard, id) = (node % shards, node / shards);
        let table = &mut lock(&self.shared.shards[shard as usize]).table;
        if !table.pass(id) {
            return None;
        }
        table.take(id, state, zone);
        Some(table.origin(id).depth)
    }

    fn expand(
        &mut self,
        (node, depth): (u32, u32),
        state: &mut [i32],
        zone: Shape<'_>,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        let broken = |broken| Halt::broken(broken, node);
        let steps = self.graph.begin(state, zone).map_err(broken)?;
        for step in 0..steps {
            if let Some(watch) = watch
                && let Some(stop) = watch.check_amid(step, || self.shared.total())
            {
                return Err(Halt::Stopped(stop));
            }
            if self.shared.ended.load(Ordering::Relaxed) {
                break;
            }
            if !self.graph.takes(step) {
                continue;
            }
            let origin = Origin {
                parent: node,
                step: step as u32,
                depth: depth + 1,
            };
            let keep = &mut self.keep;
            let mut take = |found: Successor<'_, _>| keep.put(found, origin);
            let flow = self.graph.step(step, state, zone, &mut take);
            if let ControlFlow::Break(halt) = flow.map_err(broken)? {
                return Err(halt);
            }
        }
        Ok(())
    }
}

impl<M: Compact, V: Visitor> Keep<'_, M, V> {
    /// Stores a state and shows it to the visitor if it is new.
    fn put(&mut self, mut found: Successor<'_, M>, origin: Origin) -> ControlFlow<Halt> {
        self.transitions += 1;
        let (l, u) = found.bounds;
        self.incoming.load(found.state, found.zone, l, u);
        let shards = self.shared.shards.len() as u32;
        // Tables use the low bits of the hash.
        let number = (self.incoming.hash() >> 24) as u32 % shards;
        let (put, joined) = {
            let mut shard = lock(&self.shared.shards[number as usize]);
            let table = &mut shard.table;
            let put = table.put(&mut self.incoming, found.zone, origin, l, u);
            let joined = put.or_else(|| table.joined(&self.incoming));
            if let Some(id) = put {
                shard.moves.note(id, found.moved_by.take());
            }
            (put, joined)
        };
        let Some(id) = joined else {
            return ControlFlow::Continue(());
        };
        let node = id * shards + number;
        if put.is_some() {
            self.waiting.push(node, &self.shared.frontier);
        }
        match found.show(&mut self.visitor, node) {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(Halt::Found(node)),
            Err(fault) if fault.of_query => ControlFlow::Break(Halt::QueryFault(fault)),
            Err(fault) => ControlFlow::Break(Halt::Fault(fault, node)),
        }
    }
}
