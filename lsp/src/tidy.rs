//! Gives memory back after documents were closed, once what they occupied is free.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use zonelens_project::platform;

/// Until then the last answers about a document are out, and idle threads are gone with what their
/// allocators held.
const DELAY: Duration = Duration::from_millis(2250);

/// Waits for closed documents. However many are closed meanwhile, memory is given back once.
pub(crate) async fn serve(closed: Arc<Notify>) {
    loop {
        closed.notified().await;
        tokio::time::sleep(DELAY).await;
        let _ = tokio::task::spawn_blocking(platform::give_memory_back).await;
    }
}
