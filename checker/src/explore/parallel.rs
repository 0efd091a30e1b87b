//! The exploration loop on several threads.
//!
//! The table is cut into shards by the discrete state, each behind its own lock with its own waiting queue; a thread takes
//! work from any shard and puts successors into theirs. Verdicts are those of one thread; which of several traces is
//! found may differ from run to run.

use super::abstraction::Abstractor;
use super::bounds::Bounds;
use super::expander::Expander;
use super::passed_waiting::{NIL, Origin, PassedWaiting};
use super::search::{Settings, Visitor, packing};
use super::watch::{Counts, Stop, Watch};
use crate::program::{Fault, Program};
use crate::zone::Zone;
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of shards; also what a node number is scaled by to name its shard.
const SHARDS: u32 = 64;

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

/// What the threads share.
struct Shared<'p> {
    program: &'p Program,
    bounds: &'p Bounds,
    shards: Vec<Mutex<PassedWaiting>>,
    /// States waiting or being explored.
    pending: AtomicI64,
    explored: AtomicU64,
    transitions: AtomicU64,
    ended: AtomicBool,
    end: Mutex<Option<End>>,
}

/// Where a visitor or an expander stopped a thread.
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
    let shard = |k: u32| {
        let Settings {
            abstraction,
            covering,
            order,
            seed,
            ..
        } = settings;
        let seed = seed.wrapping_add(u64::from(k));
        Mutex::new(PassedWaiting::new(
            packing(program),
            program.dim(),
            bounds.greatest_of_all(),
            abstraction,
            covering,
            order,
            seed,
        ))
    };
    let shared = Shared {
        program,
        bounds,
        shards: (0..SHARDS).map(shard).collect(),
        pending: AtomicI64::new(0),
        explored: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        end: Mutex::new(None),
    };
    let abstractor = Abstractor::new(settings.abstraction, program.dim());
    let mut first = Worker::new(&shared, abstractor.clone(), visitor());
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
    std::thread::scope(|scope| {
        for k in 1..threads.max(1) {
            let (shared, abstractor) = (&shared, abstractor.clone());
            scope.spawn(move || Worker::new(shared, abstractor, visitor()).run(k, threads, None));
        }
        first.run(0, threads, Some(&mut *watch));
    });
    watch.add(shared.counts());
    shared
        .end
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    fn shard(&self, k: u32) -> MutexGuard<'_, PassedWaiting> {
        self.shards[k as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts {
            explored: self.explored.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            ..Counts::default()
        };
        for k in 0..SHARDS {
            let shard = self.shard(k);
            counts.stored += shard.stored();
            counts.waiting += shard.waiting();
            counts.bytes += shard.bytes() as u64;
        }
        counts
    }

    /// The steps that lead to a node. No lock may be held.
    fn path(&self, node: u32) -> Vec<u32> {
        let mut steps = Vec::new();
        let mut at = node;
        loop {
            let origin = self.shard(at % SHARDS).origin(at / SHARDS);
            if origin.parent == NIL {
                break;
            }
            steps.push(origin.step);
            at = origin.parent;
        }
        steps.reverse();
        steps
    }

    /// Ends the search for all threads; the first end counts.
    fn finish(&self, halt: Halt) {
        let end = match halt {
            Halt::Found(node) => End::Found(self.path(node)),
            Halt::Stopped(stop) => End::Stopped(stop),
            Halt::Fault(fault, node, step) => End::Fault(fault, self.path(node), step),
            Halt::QueryFault(fault) => End::QueryFault(fault),
        };
        self.end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(end);
        self.ended.store(true, Ordering::Release);
    }
}

struct Worker<'s, 'p, V> {
    shared: &'s Shared<'p>,
    expander: Expander<'p>,
    abstractor: Abstractor,
    visitor: V,
    pieces: Vec<Zone>,
}

impl<'s, 'p, V: Visitor> Worker<'s, 'p, V> {
    fn new(shared: &'s Shared<'p>, abstractor: Abstractor, visitor: V) -> Worker<'s, 'p, V> {
        Worker {
            shared,
            expander: Expander::new(shared.program),
            abstractor,
            visitor,
            pieces: Vec::new(),
        }
    }

    /// Explores until nothing is pending or the search has ended. One thread has the watch.
    fn run(&mut self, number: u32, threads: u32, mut watch: Option<&mut Watch<'_>>) {
        let mut state = Vec::new();
        let mut zone = Zone::universe(self.shared.program.dim());
        let start = number * SHARDS / threads.max(1);
        while !self.shared.ended.load(Ordering::Acquire) {
            if let Some(watch) = &mut watch
                && let Some(stop) = watch.check(|| self.shared.counts())
            {
                self.shared.finish(Halt::Stopped(stop));
                return;
            }
            let Some((node, depth)) = self.take(start, &mut state, &mut zone) else {
                if self.shared.pending.load(Ordering::Acquire) == 0 {
                    return;
                }
                std::thread::yield_now();
                continue;
            };
            self.shared.explored.fetch_add(1, Ordering::Relaxed);
            if let Err(halt) = self.expand(node, depth, &mut state, &zone) {
                self.shared.finish(halt);
                return;
            }
            self.shared.pending.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn take(&self, start: u32, state: &mut Vec<i32>, zone: &mut Zone) -> Option<(u32, u32)> {
        for k in 0..SHARDS {
            let k = (start + k) % SHARDS;
            let mut shard = self.shared.shard(k);
            if let Some(node) = shard.take() {
                shard.get(node, state, zone);
                return Some((node * SHARDS + k, shard.origin(node).depth));
            }
        }
        None
    }

    fn expand(
        &mut self,
        node: u32,
        depth: u32,
        state: &mut [i32],
        zone: &Zone,
    ) -> Result<(), Halt> {
        self.expander
            .find_steps(state, zone)
            .map_err(|fault| Halt::Fault(fault, node, None))?;
        let mut next = Vec::new();
        for step in 0..self.expander.steps.len() {
            let zones = self
                .expander
                .successors(step, state, zone, &mut next)
                .map_err(|fault| Halt::Fault(fault, node, Some(step as u32)))?;
            let origin = Origin {
                parent: node,
                step: step as u32,
                depth: depth + 1,
            };
            self.add(&mut next, zones, origin)?;
        }
        Ok(())
    }

    fn add(&mut self, state: &mut [i32], zones: Vec<Zone>, origin: Origin) -> Result<(), Halt> {
        if zones.is_empty() {
            return Ok(());
        }
        let mut hasher = FxHasher::default();
        state.iter().for_each(|v| hasher.write_i32(*v));
        let k = (hasher.finish() >> 40) as u32 % SHARDS;
        self.abstractor
            .at_state(self.shared.program, self.shared.bounds, state);
        for zone in zones {
            if zone.overflowed() {
                return Err(Halt::Stopped(Stop::Overflow));
            }
            let mut pieces = std::mem::take(&mut self.pieces);
            pieces.clear();
            self.abstractor.apply(self.shared.bounds, zone, &mut pieces);
            for piece in &pieces {
                self.shared.transitions.fetch_add(1, Ordering::Relaxed);
                let put = {
                    let mut shard = self.shared.shard(k);
                    let before = shard.waiting() as i64;
                    let put =
                        shard.put(state, piece, origin, &self.abstractor.l, &self.abstractor.u);
                    self.shared
                        .pending
                        .fetch_add(shard.waiting() as i64 - before, Ordering::AcqRel);
                    put
                };
                if let Some(node) = put {
                    let node = node * SHARDS + k;
                    match self.visitor.visit(state, piece, node) {
                        Ok(false) => {}
                        Ok(true) => return Err(Halt::Found(node)),
                        Err(fault) => return Err(Halt::QueryFault(fault)),
                    }
                }
            }
            self.pieces = pieces;
        }
        Ok(())
    }
}
