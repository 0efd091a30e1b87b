//! Progress of a run on the terminal, and Ctrl-C.

use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zonelens_analysis::report::Progress;

/// A line on standard error that lives as long as a query runs; nothing when standard error is no terminal.
pub struct Bar {
    bar: Option<ProgressBar>,
}

impl Bar {
    /// Starts the line for `query`.
    pub fn start(query: &str) -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar { bar: None };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(query.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Bar { bar: Some(bar) }
    }

    /// Shows what the run has reached.
    pub fn show(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!(
                "{} states, {}/s, {} waiting, {}",
                output::grouped(progress.stored),
                output::grouped(progress.states_per_second),
                output::grouped(progress.waiting),
                output::bytes(progress.memory_bytes)
            ));
        }
    }

    /// Removes the line.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A flag that Ctrl-C raises, and the request to end (`SIGTERM`) that schedulers and time limits send; a second one ends
/// the process at once.
pub fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let watch = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        // Without a handler a signal ends the process, which is the best that is left.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut requests) = Requests::new() else {
                return;
            };
            while requests.next().await {
                if raised.swap(true, Ordering::SeqCst) {
                    std::process::exit(130);
                }
            }
        });
    };
    let _ = std::thread::Builder::new().spawn(watch);
    flag
}

/// Requests to stop.
struct Requests {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Requests {
    fn new() -> std::io::Result<Requests> {
        Ok(Requests {
            #[cfg(unix)]
            terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?,
        })
    }

    /// Waits for one; false if there will be none.
    #[cfg(unix)]
    async fn next(&mut self) -> bool {
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
            asked = self.terminate.recv() => asked.is_some(),
        }
    }

    /// Waits for one; false if there will be none.
    #[cfg(not(unix))]
    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}
