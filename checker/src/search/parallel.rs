//! The exploration loop on several threads.
//!
//! The table of states is cut into shards by the hash of the discrete part. A thread makes a successor ready for storing
//! by itself and holds the lock of its shard only while it is compared and kept; with several shards per thread two
//! seldom meet. Verdicts are those of one thread; which of several traces is found may differ from run to run.
//!
//! A search starts on one thread: most models are done before a second one could help.

use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstractor;
use crate::graph::Visitor;
use crate::graph::expander::Expander;
use crate::program::{Fault, Program};
use crate::search::frontier::{Frontier, Local, Work, lock};
use crate::search::limits::{Counts, Stop, Watch};
use crate::search::sequential::{Settings, packing};
use crate::store::passed_waiting::{NIL, Origin};
use crate::store::table::{Incoming, Table};
use crate::zone::Zone;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// States that the first thread explores alone. Few in tests, whose models are small.
const ALONE: u64 = if cfg!(test) { 8 } else { 2_000 };
/// States that a thread explores between two reports of its counts.
const REPORT_INTERVAL: u64 = 256;
/// Shards per thread. With more of them threads meet less often, but fewer states share a zone.
const SHARDS_PER_THREAD: u32 = 8;

/// How a search ended, with the steps that lead there.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The visitor ended it.
    Found(Vec<u32>),
    /// It was stopped.
    Stopped(Stop),
    /// The model failed, at a step of the last state or in the state itself.
    Fault(Fault, Vec<u32>),
    /// The query failed.
    QueryFault(Fault),
}

/// What the threads share. Node `n` of shard `k` has the number `n * shards + k`.
struct Shared<'p> {
    program: &'p Program,
    bounds: &'p Bounds,
    settings: Settings,
    shards: Vec<Mutex<Table>>,
    frontier: Frontier,
    explored: AtomicU64,
    transitions: AtomicU64,
    ended: AtomicBool,
    halt: Mutex<Option<Halt>>,
}

/// Where a visitor or an expander stopped a thread.
enum Halt {
    Found(u32),
    Stopped(Stop),
    Fault(Fault, u32),
    QueryFault(Fault),
}

/// Searches on `threads` threads; `None` if everything was explored.
pub fn search<V: Visitor>(
    program: &Program,
    bounds: &Bounds,
    settings: Settings,
    threads: u32,
    visitor: &(dyn Fn() -> V + Sync),
    watch: &mut Watch<'_>,
) -> Option<End> {
    let threads = threads.max(1);
    let table = || {
        Mutex::new(Table::new(
            packing(program),
            program.dim(),
            bounds.greatest_of_all(),
            settings.abstraction,
            settings.covering,
        ))
    };
    let shards = (threads.min(64) * SHARDS_PER_THREAD).next_power_of_two();
    let shared = Shared {
        program,
        bounds,
        settings,
        shards: (0..shards).map(|_| table()).collect(),
        frontier: Frontier::new(),
        explored: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        halt: Mutex::new(None),
    };
    let mut first = Worker::new(&shared, 0, visitor());
    match first.expander.initial() {
        Err(fault) => return Some(End::Fault(fault, Vec::new())),
        Ok((mut state, mut zones)) => {
            let origin = Origin {
                parent: NIL,
                step: 0,
                depth: 0,
            };
            if let Err(halt) = first.add(&mut state, &mut zones, origin) {
                shared.finish(halt);
            }
        }
    }
    let done = first.run(Some(&mut *watch), ALONE);
    if !done && threads > 1 {
        shared.frontier.join(threads - 1);
        std::thread::scope(|scope| {
            for k in 1..threads {
                let shared = &shared;
                scope.spawn(move || {
                    let _alarm = Alarm(&shared.ended);
                    Worker::new(shared, k, visitor()).run(None, u64::MAX)
                });
            }
            let _alarm = Alarm(&shared.ended);
            first.run(Some(&mut *watch), u64::MAX);
        });
    } else if !done {
        first.run(Some(&mut *watch), u64::MAX);
    }
    watch.add(shared.total());
    let tables = shared.shards.into_iter();
    let tables: Vec<Table> = tables
        .map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect();
    let halt = shared.halt.into_inner();
    let end = halt.unwrap_or_else(PoisonError::into_inner)?;
    Some(match end {
        Halt::Found(node) => End::Found(path(&tables, node)),
        Halt::Stopped(stop) => End::Stopped(stop),
        Halt::Fault(fault, node) => End::Fault(fault, path(&tables, node)),
        Halt::QueryFault(fault) => End::QueryFault(fault),
    })
}

/// The steps that lead to a node.
fn path(tables: &[Table], node: u32) -> Vec<u32> {
    let count = tables.len() as u32;
    let mut steps = Vec::new();
    let mut at = node;
    loop {
        let origin = tables[(at % count) as usize].origin(at / count);
        if origin.parent == NIL {
            break;
        }
        steps.push(origin.step);
        at = origin.parent;
    }
    steps.reverse();
    steps
}

impl Shared<'_> {
    fn total(&self) -> Counts {
        let mut total = Counts {
            explored: self.explored.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            bytes: self.frontier.bytes() as u64,
            ..Counts::default()
        };
        for shard in &self.shards {
            let shard = lock(shard);
            total.stored += shard.stored();
            total.waiting += shard.waiting();
            total.bytes += shard.bytes() as u64;
        }
        total
    }

    /// Ends the search for all threads; the first end counts.
    fn finish(&self, halt: Halt) {
        lock(&self.halt).get_or_insert(halt);
        self.ended.store(true, Ordering::Release);
    }
}

/// Ends the search for the other threads if this one panics: they would wait for it for ever.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

struct Worker<'s, 'p, V> {
    shared: &'s Shared<'p>,
    waiting: Local,
    incoming: Incoming,
    expander: Expander<'p>,
    abstractor: Abstractor,
    visitor: V,
    pieces: Vec<Zone>,
    next: Vec<i32>,
    /// Counts since the last report.
    explored: u64,
    transitions: u64,
}

impl<'s, 'p, V: Visitor> Worker<'s, 'p, V> {
    fn new(shared: &'s Shared<'p>, number: u32, visitor: V) -> Worker<'s, 'p, V> {
        let (program, settings) = (shared.program, shared.settings);
        Worker {
            shared,
            waiting: Local::new(settings.order, settings.seed.wrapping_add(number.into())),
            incoming: lock(&shared.shards[0]).incoming(),
            expander: Expander::new(program),
            abstractor: Abstractor::new(settings.abstraction, program.dim()),
            visitor,
            pieces: Vec::new(),
            next: Vec::new(),
            explored: 0,
            transitions: 0,
        }
    }

    /// Explores until nothing is left, the search has ended, or `limit` states were explored; false in the last case.
    /// One thread has the watch.
    fn run(&mut self, mut watch: Option<&mut Watch<'_>>, limit: u64) -> bool {
        let shared = self.shared;
        let mut state = Vec::new();
        let mut zone = Zone::universe(shared.program.dim());
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
            let Some(node) = self.waiting.take(&shared.frontier) else {
                self.report();
                match self.waiting.wait(&shared.frontier, &shared.ended) {
                    Work::None => break true,
                    Work::Some | Work::Later => continue,
                }
            };
            let Some(depth) = self.pass(node, &mut state, &mut zone) else {
                continue;
            };
            left -= 1;
            self.explored += 1;
            if let Err(halt) = self.expand((node, depth), &mut state, &zone, &mut watch) {
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
        let (explored, transitions) = (&mut self.explored, &mut self.transitions);
        let add =
            |sum: &AtomicU64, n: &mut u64| sum.fetch_add(std::mem::take(n), Ordering::Relaxed);
        add(&self.shared.explored, explored);
        add(&self.shared.transitions, transitions);
    }

    /// Takes a state out of the table and gives its depth, unless it was covered meanwhile.
    fn pass(&mut self, node: u32, state: &mut Vec<i32>, zone: &mut Zone) -> Option<u32> {
        let shards = self.shared.shards.len() as u32;
        let (shard, id) = (node % shards, node / shards);
        let mut table = lock(&self.shared.shards[shard as usize]);
        if !table.pass(id) {
            return None;
        }
        table.get(id, state, zone);
        Some(table.origin(id).depth)
    }

    fn expand(
        &mut self,
        (node, depth): (u32, u32),
        state: &mut [i32],
        zone: &Zone,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        self.expander
            .find_steps(state, zone)
            .map_err(|fault| Halt::Fault(fault, node))?;
        let mut next = std::mem::take(&mut self.next);
        for step in 0..self.expander.steps.len() {
            if let Some(watch) = watch
                && let Some(stop) = watch.check_amid(step, || self.shared.total())
            {
                return Err(Halt::Stopped(stop));
            }
            if self.shared.ended.load(Ordering::Relaxed) {
                break;
            }
            let mut zones = self
                .expander
                .successors(step, state, zone, &mut next)
                .map_err(|fault| Halt::Fault(fault, node))?;
            let origin = Origin {
                parent: node,
                step: step as u32,
                depth: depth + 1,
            };
            if !zones.is_empty() {
                self.add(&mut next, &mut zones, origin)?;
            }
            self.expander.recycle_list(zones);
        }
        self.next = next;
        Ok(())
    }

    /// Abstracts the zones of a successor and keeps them.
    fn add(
        &mut self,
        state: &mut [i32],
        zones: &mut Vec<Zone>,
        origin: Origin,
    ) -> Result<(), Halt> {
        let (program, bounds) = (self.shared.program, self.shared.bounds);
        self.abstractor.at_state(program, bounds, state);
        let mut pieces = std::mem::take(&mut self.pieces);
        for zone in zones.drain(..) {
            if zone.overflowed() {
                return Err(Halt::Stopped(Stop::Overflow));
            }
            self.abstractor.apply(bounds, zone, &mut pieces);
        }
        self.transitions += pieces.len() as u64;
        for piece in &pieces {
            self.keep(state, piece, origin)?;
        }
        self.expander.recycle(&mut pieces);
        self.pieces = pieces;
        Ok(())
    }

    /// Stores an abstracted state and shows it if it is new.
    fn keep(&mut self, state: &mut [i32], zone: &Zone, origin: Origin) -> Result<(), Halt> {
        let (l, u) = (&self.abstractor.l, &self.abstractor.u);
        self.incoming.load(state, zone, l, u);
        let shards = self.shared.shards.len() as u32;
        // Tables look at the low bits of the hash.
        let shard = (self.incoming.hash() >> 24) as u32 % shards;
        let (put, joined) = {
            let mut table = lock(&self.shared.shards[shard as usize]);
            let put = table.put(&mut self.incoming, zone, origin, l, u);
            (put, put.or_else(|| table.joined(&self.incoming)))
        };
        let Some(id) = joined else { return Ok(()) };
        let node = id * shards + shard;
        if put.is_some() {
            self.waiting.push(node, &self.shared.frontier);
        }
        match self.visitor.visit(state, zone, node) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Halt::Found(node)),
            Err(fault) if fault.of_query => Err(Halt::QueryFault(fault)),
            Err(fault) => Err(Halt::Fault(fault, node)),
        }
    }
}
