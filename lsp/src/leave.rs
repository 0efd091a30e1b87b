//! The end of the server: soon after its client is gone, whatever is being analysed.
//!
//! The protocol crate answers every request before it ends, and a thread that parses cannot be
//! stopped. So whoever notices that nobody listens any more (the input is closed, `exit` came, the
//! client's process is gone) calls [`Leave::soon`]; what is not done a moment later is ended with
//! the process. Workers end with their input, which the system closes, and those that are on their
//! way are ended besides. Plain threads do this: the runtime's own may be the ones that are stuck.

use crate::input::ClientHints;
use crate::log;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time for the last answers.
const GRACE: Duration = Duration::from_millis(1200);

/// Exit statuses as the protocol has them.
const ASKED: i32 = 0;
const UNASKED: i32 = 1;

/// Workers on their way.
static WORKERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn workers() -> MutexGuard<'static, BTreeSet<u32>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the workers that are still there.
pub(crate) fn end_workers() {
    workers()
        .iter()
        .for_each(|id| zonelens_project::platform::end_process(*id));
}

/// A worker that was started and not waited for yet; it ends with the server.
pub(crate) struct Worker(Option<u32>);

impl Worker {
    /// Notes the process `id`.
    pub(crate) fn new(id: Option<u32>) -> Worker {
        workers().extend(id);
        Worker(id)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            workers().remove(&id);
        }
    }
}

/// Ends the process when nobody listens any more.
pub(crate) struct Leave {
    hints: Arc<ClientHints>,
    leaving: AtomicBool,
}

impl Leave {
    /// For a server whose client gives `hints`.
    pub(crate) fn new(hints: Arc<ClientHints>) -> Arc<Leave> {
        Arc::new(Leave {
            hints,
            leaving: AtomicBool::new(false),
        })
    }

    /// The server has a moment left.
    pub(crate) fn soon(self: &Arc<Self>, why: &str) {
        if self.leaving.swap(true, Ordering::Relaxed) {
            return;
        }
        log::write(&format!("the server ends: {why}"));
        let hints = Arc::clone(&self.hints);
        let end = move || {
            std::thread::sleep(GRACE);
            log::write("what was still being worked on is ended");
            end_workers();
            let asked = hints.said_goodbye();
            std::process::exit(if asked { ASKED } else { UNASKED });
        };
        let started = std::thread::Builder::new().name("leave".into()).spawn(end);
        if started.is_err() {
            std::process::exit(UNASKED);
        }
    }

    /// Ends the server once the other end of its input is closed, also while nobody reads what came
    /// before.
    pub(crate) fn with_input(self: &Arc<Self>) {
        self.watch("input closed", zonelens_project::platform::input_closed);
    }

    /// Ends the server once the process `id`, its client, is gone.
    pub(crate) fn with_process(self: &Arc<Self>, id: u32) {
        self.watch("client gone", move || {
            zonelens_project::platform::process_gone(id)
        });
    }

    /// Waits on a thread of its own for `gone`, which says `false` where there is nothing to wait
    /// for.
    fn watch(self: &Arc<Self>, why: &'static str, gone: impl FnOnce() -> bool + Send + 'static) {
        let leave = Arc::clone(self);
        let wait = move || {
            if gone() {
                leave.soon(why);
            }
        };
        // Without the thread the end of the input is still noticed by who reads it.
        let _ = std::thread::Builder::new().name("watch".into()).spawn(wait);
    }
}
