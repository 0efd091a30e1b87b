//! The exploration loop on several threads.
//!
//! Every discrete state has an owner, by its hash; only its owner looks at the zones stored with it, so no table is
//! shared and none moves between caches. A successor with another owner is sent there, in batches. Verdicts are those of
//! one thread; which of several traces is found may differ from run to run.

use super::abstraction::{Abstraction, Abstractor};
use super::bounds::Bounds;
use super::expander::Expander;
use super::passed_waiting::{NIL, Origin, PassedWaiting};
use super::search::{Settings, Visitor, packing};
use super::watch::{Counts, Stop, Watch};
use crate::program::{Fault, Program};
use crate::zone::{Bound, Zone};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// States in a batch.
const BATCH: usize = 64;
/// States that a thread explores between two looks at what others sent.
const RECEIVE_INTERVAL: u64 = 8;
/// States that a thread explores between two reports of its counts.
const REPORT_INTERVAL: u64 = 256;

/// How a search ended, with the steps that lead there.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The visitor ended it.
    Found(Vec<u32>),
    /// It was stopped.
    Stopped(Stop),
    /// The model failed, at a step of the last state or in the state itself.
    Fault(Fault, Vec<u32>, Option<u32>),
    /// The query failed.
    QueryFault(Fault),
}

/// States on their way to their owner, one after the other.
#[derive(Debug, Default)]
struct Batch {
    states: Vec<i32>,
    zones: Vec<Bound>,
    origins: Vec<Origin>,
}

/// What the threads share.
struct Shared<'p> {
    program: &'p Program,
    bounds: &'p Bounds,
    threads: u32,
    inboxes: Vec<Mutex<Vec<Batch>>>,
    /// Batches that were read and can be filled again.
    spare: Mutex<Vec<Batch>>,
    sent: AtomicU64,
    received: AtomicU64,
    /// Threads that have nothing to do.
    idle: AtomicU32,
    counts: Vec<Mutex<Counts>>,
    ended: AtomicBool,
    halt: Mutex<Option<Halt>>,
}

/// Where a visitor or an expander stopped a thread. Node `n` of thread `k` has the number `n * threads + k`.
enum Halt {
    Found(u32),
    Stopped(Stop),
    Fault(Fault, u32, Option<u32>),
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
    let shared = Shared {
        program,
        bounds,
        threads,
        inboxes: (0..threads).map(|_| Mutex::default()).collect(),
        spare: Mutex::default(),
        sent: AtomicU64::new(0),
        received: AtomicU64::new(0),
        idle: AtomicU32::new(0),
        counts: (0..threads).map(|_| Mutex::default()).collect(),
        ended: AtomicBool::new(false),
        halt: Mutex::new(None),
    };
    let mut first = Worker::new(&shared, 0, settings, visitor());
    match first.expander.initial() {
        Err(fault) => return Some(End::Fault(fault, Vec::new(), None)),
        Ok((mut state, zones)) => {
            let origin = Origin {
                parent: NIL,
                step: 0,
                depth: 0,
            };
            if let Err(halt) = first.add(&mut state, zones, origin) {
                shared.finish(halt);
            }
        }
    }
    let tables: Vec<PassedWaiting> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|k| {
                let shared = &shared;
                scope.spawn(move || {
                    let _alarm = Alarm(&shared.ended);
                    Worker::new(shared, k, settings, visitor()).run(None)
                })
            })
            .collect();
        let _alarm = Alarm(&shared.ended);
        let own = first.run(Some(&mut *watch));
        let others = others.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        std::iter::once(own).chain(others).collect()
    });
    watch.add(shared.total());
    let halt = shared.halt.into_inner();
    let end = halt.unwrap_or_else(PoisonError::into_inner)?;
    Some(match end {
        Halt::Found(node) => End::Found(path(&tables, node)),
        Halt::Stopped(stop) => End::Stopped(stop),
        Halt::Fault(fault, node, step) => End::Fault(fault, path(&tables, node), step),
        Halt::QueryFault(fault) => End::QueryFault(fault),
    })
}

/// The steps that lead to a node.
fn path(tables: &[PassedWaiting], node: u32) -> Vec<u32> {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    fn total(&self) -> Counts {
        let mut total = Counts::default();
        for counts in &self.counts {
            let counts = lock(counts);
            total.stored += counts.stored;
            total.explored += counts.explored;
            total.transitions += counts.transitions;
            total.waiting += counts.waiting;
            total.bytes += counts.bytes;
        }
        total
    }

    /// Ends the search for all threads; the first end counts.
    fn finish(&self, halt: Halt) {
        lock(&self.halt).get_or_insert(halt);
        self.ended.store(true, Ordering::Release);
    }

    /// Whether no thread has work and no batch is under way. A thread sends only while it works, so if all were idle
    /// after everything sent had arrived, and nothing was sent since, nothing is left.
    fn is_done(&self) -> bool {
        let received = self.received.load(Ordering::SeqCst);
        let sent = self.sent.load(Ordering::SeqCst);
        received == sent
            && self.idle.load(Ordering::SeqCst) == self.threads
            && self.sent.load(Ordering::SeqCst) == sent
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
    number: u32,
    states: PassedWaiting,
    expander: Expander<'p>,
    abstractor: Abstractor,
    /// Whether states are compared by the bounds of their discrete part.
    needs_bounds: bool,
    visitor: V,
    pieces: Vec<Zone>,
    outboxes: Vec<Batch>,
    /// The zone of a state that arrives.
    arrived: Zone,
    explored: u64,
    transitions: u64,
}

impl<'s, 'p, V: Visitor> Worker<'s, 'p, V> {
    fn new(
        shared: &'s Shared<'p>,
        number: u32,
        settings: Settings,
        visitor: V,
    ) -> Worker<'s, 'p, V> {
        let (program, dim) = (shared.program, shared.program.dim());
        Worker {
            shared,
            number,
            states: PassedWaiting::new(
                packing(program),
                dim,
                shared.bounds.greatest_of_all(),
                settings.abstraction,
                settings.covering,
                settings.order,
                settings.seed.wrapping_add(u64::from(number)),
            ),
            expander: Expander::new(program),
            abstractor: Abstractor::new(settings.abstraction, dim),
            needs_bounds: settings.abstraction == Abstraction::Alu,
            visitor,
            pieces: Vec::new(),
            outboxes: (0..shared.threads).map(|_| Batch::default()).collect(),
            arrived: Zone::universe(dim),
            explored: 0,
            transitions: 0,
        }
    }

    /// Explores until nothing is left or the search has ended; gives the states back. One thread has the watch.
    fn run(mut self, mut watch: Option<&mut Watch<'_>>) -> PassedWaiting {
        let mut state = Vec::new();
        let mut zone = Zone::universe(self.shared.program.dim());
        let mut total = Counts::default();
        while !self.shared.ended.load(Ordering::Acquire) {
            if let Some(watch) = &mut watch
                && let Some(stop) = watch.check(|| total)
            {
                self.shared.finish(Halt::Stopped(stop));
                break;
            }
            let mut look = self.explored.is_multiple_of(RECEIVE_INTERVAL);
            let halt = match self.states.take() {
                Some(node) => {
                    self.states.get(node, &mut state, &mut zone);
                    self.explored += 1;
                    self.expand(node, &mut state, &zone).err()
                }
                None => {
                    (0..self.shared.threads).for_each(|owner| self.send(owner));
                    if self.rest(watch.as_deref_mut()) {
                        break;
                    }
                    look = true;
                    None
                }
            };
            let received = if look { self.receive().err() } else { None };
            if let Some(halt) = halt.or(received) {
                self.shared.finish(halt);
                break;
            }
            if self.explored.is_multiple_of(REPORT_INTERVAL) {
                self.report();
                if watch.is_some() {
                    total = self.shared.total();
                }
            }
        }
        self.report();
        self.states
    }

    fn report(&self) {
        *lock(&self.shared.counts[self.number as usize]) = Counts {
            stored: self.states.stored(),
            explored: self.explored,
            transitions: self.transitions,
            waiting: self.states.waiting(),
            bytes: self.states.bytes() as u64,
        };
    }

    /// Waits until states arrive; true if there is nothing left to wait for.
    fn rest(&self, mut watch: Option<&mut Watch<'_>>) -> bool {
        let shared = self.shared;
        let inbox = &shared.inboxes[self.number as usize];
        self.report();
        shared.idle.fetch_add(1, Ordering::SeqCst);
        loop {
            if !lock(inbox).is_empty() {
                shared.idle.fetch_sub(1, Ordering::SeqCst);
                return false;
            }
            if shared.ended.load(Ordering::Acquire) || shared.is_done() {
                return true;
            }
            if let Some(stop) = watch.as_mut().and_then(|w| w.check(|| shared.total())) {
                shared.finish(Halt::Stopped(stop));
                return true;
            }
            std::thread::yield_now();
        }
    }

    fn expand(&mut self, node: u32, state: &mut [i32], zone: &Zone) -> Result<(), Halt> {
        let depth = self.states.origin(node).depth + 1;
        let parent = node * self.shared.threads + self.number;
        self.expander
            .find_steps(state, zone)
            .map_err(|fault| Halt::Fault(fault, parent, None))?;
        let mut next = Vec::new();
        for step in 0..self.expander.steps.len() {
            let zones = self
                .expander
                .successors(step, state, zone, &mut next)
                .map_err(|fault| Halt::Fault(fault, parent, Some(step as u32)))?;
            let origin = Origin {
                parent,
                step: step as u32,
                depth,
            };
            self.add(&mut next, zones, origin)?;
        }
        Ok(())
    }

    /// Abstracts the zones of a successor and keeps or sends them.
    fn add(&mut self, state: &mut [i32], zones: Vec<Zone>, origin: Origin) -> Result<(), Halt> {
        if zones.is_empty() {
            return Ok(());
        }
        let owner = owner(state, self.shared.threads);
        let (program, bounds) = (self.shared.program, self.shared.bounds);
        self.abstractor.at_state(program, bounds, state);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        for zone in zones {
            if zone.overflowed() {
                return Err(Halt::Stopped(Stop::Overflow));
            }
            self.abstractor.apply(bounds, zone, &mut pieces);
        }
        self.transitions += pieces.len() as u64;
        for piece in &pieces {
            if owner == self.number {
                self.keep(state, piece, origin)?;
                continue;
            }
            let batch = &mut self.outboxes[owner as usize];
            batch.states.extend_from_slice(state);
            batch.zones.extend_from_slice(piece.raw());
            batch.origins.push(origin);
            if batch.origins.len() >= BATCH {
                self.send(owner);
            }
        }
        self.pieces = pieces;
        Ok(())
    }

    /// Stores an abstracted state of this thread and shows it if it is new.
    fn keep(&mut self, state: &mut [i32], zone: &Zone, origin: Origin) -> Result<(), Halt> {
        let (l, u) = (&self.abstractor.l, &self.abstractor.u);
        if let Some(node) = self.states.put(state, zone, origin, l, u) {
            let node = node * self.shared.threads + self.number;
            match self.visitor.visit(state, zone, node) {
                Ok(false) => {}
                Ok(true) => return Err(Halt::Found(node)),
                Err(fault) => return Err(Halt::QueryFault(fault)),
            }
        }
        Ok(())
    }

    fn send(&mut self, owner: u32) {
        let batch = &mut self.outboxes[owner as usize];
        if batch.origins.is_empty() {
            return;
        }
        let empty = lock(&self.shared.spare).pop().unwrap_or_default();
        let full = std::mem::replace(batch, empty);
        self.shared.sent.fetch_add(1, Ordering::SeqCst);
        lock(&self.shared.inboxes[owner as usize]).push(full);
    }

    /// Keeps what others sent.
    fn receive(&mut self) -> Result<(), Halt> {
        let arrived = std::mem::take(&mut *lock(&self.shared.inboxes[self.number as usize]));
        if arrived.is_empty() {
            return Ok(());
        }
        let dim = self.shared.program.dim();
        let mut own = std::mem::replace(&mut self.arrived, Zone::universe(1));
        for mut batch in arrived {
            self.shared.received.fetch_add(1, Ordering::SeqCst);
            let width = self.shared.program.initial.len();
            let zones = batch.zones.chunks_exact(dim * dim);
            // A network without processes has states without numbers.
            let mut states = batch.states.chunks_exact_mut(width.max(1));
            for (zone, origin) in zones.zip(&batch.origins) {
                let state = states.next().unwrap_or_default();
                own.raw_mut().copy_from_slice(zone);
                if self.needs_bounds {
                    let (program, bounds) = (self.shared.program, self.shared.bounds);
                    self.abstractor.at_state(program, bounds, state);
                }
                self.keep(state, &own, *origin)?;
            }
            batch.states.clear();
            batch.zones.clear();
            batch.origins.clear();
            lock(&self.shared.spare).push(batch);
        }
        self.arrived = own;
        Ok(())
    }
}

/// The thread that a discrete state belongs to.
#[inline]
fn owner(state: &[i32], threads: u32) -> u32 {
    let mut hasher = FxHasher::default();
    let pairs = state.chunks_exact(2);
    if let [last] = pairs.remainder() {
        hasher.write_i32(*last);
    }
    for pair in pairs {
        hasher.write_u64(u64::from(pair[0] as u32) | u64::from(pair[1] as u32) << 32);
    }
    (hasher.finish() >> 40) as u32 % threads
}
