//! Where parsing and analysis run: a document that takes long holds up no other one.
//!
//! Few tasks start at a time, so that a pile of requests does not fill the memory. A task that
//! takes longer than most gives its place to the next and runs on in parallel. A document has few
//! tasks at a time, because those behind a slow one would only wait for it, each with a thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Tasks that start at the same time.
const PLACES: usize = 6;
/// Tasks of one document at the same time.
const PLACES_PER_DOCUMENT: usize = 2;
/// After this long a task is a slow one.
const SLOW: Duration = Duration::from_millis(200);
/// Documents whose places are remembered before those without tasks are forgotten.
const MAX_REMEMBERED: usize = 64;

/// The threads that parse and analyse.
pub(crate) struct Pool {
    places: Arc<Semaphore>,
    documents: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool {
            places: Arc::new(Semaphore::new(PLACES)),
            documents: Mutex::default(),
        }
    }
}

impl Pool {
    /// Runs `work`, which is about `document`, on a thread of its own; `None` if it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        document: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let own = self.places_of(document).acquire_owned().await.ok()?;
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let mut task = tokio::task::spawn_blocking(move || {
            // Goes with the task, not with who waits for it: a request that is cancelled leaves its
            // thread working.
            let _own = own;
            work()
        });
        let done = tokio::select! {
            done = &mut task => done,
            () = tokio::time::sleep(SLOW) => {
                drop(place);
                task.await
            }
        };
        done.ok()
    }

    fn places_of(&self, document: &str) -> Arc<Semaphore> {
        let mut documents = self
            .documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = documents.get(document) {
            return Arc::clone(places);
        }
        if documents.len() >= MAX_REMEMBERED {
            documents.retain(|_, places| {
                Arc::strong_count(places) > 1 || places.available_permits() < PLACES_PER_DOCUMENT
            });
        }
        let places = Arc::new(Semaphore::new(PLACES_PER_DOCUMENT));
        documents.insert(document.to_owned(), Arc::clone(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Every place is taken by a task that never ends by itself, many times over; another
    /// document's task runs.
    #[test]
    fn endless_tasks_hold_up_no_other_document() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let pool = Arc::new(Pool::default());
        let mut ends = Vec::new();
        let answer = runtime.block_on(async {
            for document in 0..2 * PLACES {
                for _ in 0..4 {
                    let (end, wait) = channel::<()>();
                    ends.push(end);
                    let pool = Arc::clone(&pool);
                    let name = format!("slow-{document}");
                    tokio::spawn(async move { pool.run(&name, move || wait.recv()).await });
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            let quick = pool.run("quick", || 1);
            tokio::time::timeout(Duration::from_secs(20), quick).await
        });
        assert_eq!(answer, Ok(Some(1)));
        drop(ends);
        runtime.shutdown_background();
    }

    #[test]
    fn a_panic_is_no_answer_and_frees_the_place() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let pool = Pool::default();
        runtime.block_on(async {
            for _ in 0..3 * PLACES {
                let panics = pool.run("d", || std::panic::resume_unwind(Box::new(())));
                assert_eq!(panics.await, None::<()>);
            }
            assert_eq!(pool.run("d", || 1).await, Some(1));
        });
    }
}
