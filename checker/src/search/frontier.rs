//! The waiting states of several threads: each thread has its own list, the rest is in one queue
//! of chunks.
//!
//! Chunks leave the queue in the order in which they entered it, so the order of exploration is
//! similar to that of one thread; in other orders, more states are explored in vain and covered
//! later. A thread without work sleeps until another one has a chunk to spare.

use crate::store::passed_waiting::random;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zonelens_analysis::report::SearchOrder;
use zonelens_interpreter::Rng;

/// The number of states in a chunk: large enough that a thread rarely asks for more, small enough
/// that all threads get some.
const CHUNK: usize = 64;
/// A thread gives states away if it has at least this many: exploring fewer is faster than handing
/// them over. The number is small in tests, whose models are small.
const SPARE: usize = if cfg!(test) { 2 } else { 8 };
/// The longest time that a thread sleeps before it checks whether the search has ended.
const NAP: Duration = Duration::from_millis(2);

/// Locks a mutex. A thread that panicked has ended the search, so nothing relies on the data it
/// left.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Chunks of waiting states.
#[derive(Debug)]
pub(super) struct Frontier {
    chunks: Mutex<VecDeque<Vec<u32>>>,
    arrived: Condvar,
    /// The number of threads that work; if there are none, nothing is left to do.
    working: AtomicU32,
    /// The number of threads that sleep.
    hungry: AtomicU32,
}

/// The answer to a thread that asks for work.
pub(super) enum Work {
    /// There is work.
    Some,
    /// There may be work later.
    Later,
    /// There will be no more work.
    None,
}

impl Frontier {
    /// Creates a frontier for one thread; more may join.
    pub(super) fn new() -> Frontier {
        Frontier {
            chunks: Mutex::default(),
            arrived: Condvar::new(),
            working: AtomicU32::new(1),
            hungry: AtomicU32::new(0),
        }
    }

    /// Adds threads that work on it.
    pub(super) fn join(&self, threads: u32) {
        self.working.fetch_add(threads, Ordering::SeqCst);
    }

    /// The number of bytes of the references in the queue.
    pub(super) fn bytes(&self) -> usize {
        lock(&self.chunks).len() * CHUNK * 4
    }

    fn give(&self, chunk: Vec<u32>) {
        lock(&self.chunks).push_back(chunk);
        if self.hungry.load(Ordering::Relaxed) > 0 {
            self.arrived.notify_one();
        }
    }
}

/// The waiting states of one thread.
#[derive(Debug)]
pub(super) struct Local {
    order: SearchOrder,
    /// The states to explore next. In depth-first order, new states are on top.
    next: VecDeque<u32>,
    stack: Vec<u32>,
    /// Breadth first: the states that were found, to be explored later.
    later: Vec<u32>,
    rng: Rng,
}

impl Local {
    /// Creates an empty list.
    pub(super) fn new(order: SearchOrder, seed: u64) -> Local {
        Local {
            order,
            next: VecDeque::new(),
            stack: Vec::new(),
            later: Vec::new(),
            rng: Rng::new(seed),
        }
    }

    /// Adds a waiting state.
    #[inline]
    pub(super) fn push(&mut self, node: u32, frontier: &Frontier) {
        if self.order != SearchOrder::Bfs {
            self.stack.push(node);
            return;
        }
        self.later.push(node);
        if self.later.len() == CHUNK {
            frontier.give(std::mem::replace(
                &mut self.later,
                Vec::with_capacity(CHUNK),
            ));
        }
    }

    /// Takes a state to explore, if this thread has one without sleeping.
    #[inline]
    pub(super) fn take(&mut self, frontier: &Frontier) -> Option<u32> {
        if frontier.hungry.load(Ordering::Relaxed) > 0 {
            self.spare(frontier);
        }
        match self.order {
            SearchOrder::Bfs => {
                if self.next.is_empty() {
                    let chunk = lock(&frontier.chunks).pop_front();
                    self.next.extend(match chunk {
                        Some(chunk) => chunk,
                        None => std::mem::take(&mut self.later),
                    });
                }
                self.next.pop_front()
            }
            SearchOrder::Dfs | SearchOrder::Random => {
                if self.stack.is_empty() {
                    self.stack = lock(&frontier.chunks).pop_front()?;
                }
                match self.order {
                    SearchOrder::Random => random(&mut self.stack, &mut self.rng),
                    _ => self.stack.pop(),
                }
            }
        }
    }

    /// Gives away states for other threads: the oldest half of a stack, which has the most states
    /// below it.
    #[cold]
    fn spare(&mut self, frontier: &Frontier) {
        if self.stack.len() >= SPARE {
            let young = self.stack.split_off(self.stack.len() / 2);
            frontier.give(std::mem::replace(&mut self.stack, young));
        } else if self.later.len() >= SPARE {
            frontier.give(std::mem::take(&mut self.later));
        } else if self.next.len() >= SPARE {
            let half = self.next.len() / 2;
            frontier.give(self.next.drain(half..).collect());
        }
    }

    /// Sleeps until there is work, the search has ended, or some time has passed. Must be called
    /// only without own work.
    pub(super) fn wait(&mut self, frontier: &Frontier, ended: &AtomicBool) -> Work {
        let mut chunks = lock(&frontier.chunks);
        if let Some(chunk) = chunks.pop_front() {
            self.accept(chunk);
            return Work::Some;
        }
        // Only working threads add work, and they add it before they sleep: if no other thread
        // works, the queue stays empty.
        if frontier.working.fetch_sub(1, Ordering::SeqCst) == 1 {
            frontier.arrived.notify_all();
            return Work::None;
        }
        frontier.hungry.fetch_add(1, Ordering::SeqCst);
        let result = frontier.arrived.wait_timeout(chunks, NAP);
        let (mut chunks, _) = result.unwrap_or_else(PoisonError::into_inner);
        frontier.hungry.fetch_sub(1, Ordering::SeqCst);
        let chunk = chunks.pop_front();
        if chunk.is_none()
            && (frontier.working.load(Ordering::SeqCst) == 0 || ended.load(Ordering::Acquire))
        {
            return Work::None;
        }
        frontier.working.fetch_add(1, Ordering::SeqCst);
        match chunk {
            Some(chunk) => {
                self.accept(chunk);
                Work::Some
            }
            None => Work::Later,
        }
    }

    fn accept(&mut self, chunk: Vec<u32>) {
        match self.order {
            SearchOrder::Bfs => self.next.extend(chunk),
            SearchOrder::Dfs | SearchOrder::Random => self.stack = chunk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// Every node except the last ones has two successors, as in a search that never meets a state
    /// twice.
    #[test]
    fn every_state_is_taken_once_and_all_threads_end() {
        const NODES: u32 = 20_000;
        for (round, order) in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Random]
            .into_iter()
            .cycle()
            .take(12)
            .enumerate()
        {
            let (frontier, ended) = (Frontier::new(), AtomicBool::new(false));
            let taken: Vec<AtomicU64> = (0..NODES).map(|_| AtomicU64::new(0)).collect();
            let threads = 1 + round as u32 % 4;
            frontier.join(threads - 1);
            std::thread::scope(|scope| {
                for number in 0..threads {
                    let (frontier, ended, taken) = (&frontier, &ended, &taken);
                    scope.spawn(move || {
                        let mut local = Local::new(order, u64::from(number));
                        if number == 0 {
                            local.push(0, frontier);
                        }
                        loop {
                            let Some(node) = local.take(frontier) else {
                                match local.wait(frontier, ended) {
                                    Work::None => break,
                                    Work::Some | Work::Later => continue,
                                }
                            };
                            taken[node as usize].fetch_add(1, Ordering::Relaxed);
                            for next in [2 * node + 1, 2 * node + 2] {
                                if next < NODES {
                                    local.push(next, frontier);
                                }
                            }
                        }
                    });
                }
            });
            assert!(taken.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }
}
