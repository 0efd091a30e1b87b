//! The progress of a run on the terminal, and Ctrl-C.

use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zonelens_analysis::report::Progress;
use zonelens_analysis::report_text;

/// The most characters of a query that are shown while it runs.
const LONGEST_QUERY: usize = 200;

/// The number of the current query and the number of queries, and the same for its model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The number among the queries of its model.
    pub query: (usize, usize),
    /// The number of the model among the models.
    pub model: (usize, usize),
}

impl Position {
    /// The position of a run that is the only one.
    pub(crate) const ONLY: Position = Position {
        query: (1, 1),
        model: (1, 1),
    };

    /// `model 2 of 3, query 1 of 5`; a part with only one item is left out.
    fn text(&self) -> String {
        let parts = [("model", self.model), ("query", self.query)];
        let several = parts.iter().filter(|(_, (_, total))| *total > 1);
        let parts = several.map(|(what, (k, total))| format!("{what} {k} of {total}"));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// A line on standard error that is shown while a query runs; not shown if standard error is not a
/// terminal.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    position: String,
}

/// The line that is on the terminal, so that it can be removed when the process ends.
static ON_TERMINAL: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn on_terminal() -> MutexGuard<'static, Option<ProgressBar>> {
    ON_TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the line, if there is one.
fn clear_terminal() {
    if let Some(bar) = on_terminal().take() {
        bar.finish_and_clear();
    }
}

impl Bar {
    /// Starts the line for `query`.
    pub(crate) fn start(query: &str, position: &Position) -> Bar {
        let position = position.text();
        if !std::io::stderr().is_terminal() {
            return Bar {
                bar: None,
                position,
            };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        // Of a query with several lines, all but the last would stay on the terminal.
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let query = output::shortened(&query, LONGEST_QUERY);
        bar.set_message(message(&position, &query));
        bar.enable_steady_tick(Duration::from_millis(120));
        *on_terminal() = Some(bar.clone());
        let bar = Some(bar);
        Bar { bar, position }
    }

    /// Shows the progress of the run.
    pub(crate) fn show(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            let counts = format!(
                "{}, {} waiting, {}",
                report_text::progress(progress),
                report_text::grouped(progress.waiting),
                report_text::bytes(progress.memory_bytes)
            );
            bar.set_message(message(&self.position, &counts));
        }
    }

    /// Removes the line.
    pub(crate) fn finish(self) {}
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.bar.is_some() {
            clear_terminal();
        }
    }
}

fn message(position: &str, text: &str) -> String {
    match position {
        "" => text.to_owned(),
        _ => format!("{position}: {text}"),
    }
}

/// A flag that is set by Ctrl-C and by the request to end (`SIGTERM`) that schedulers and time
/// limits send. A second request ends the process immediately.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let watch = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        // Without a handler, a signal ends the process, which is acceptable.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut requests) = Requests::new() else {
                return;
            };
            while requests.next().await {
                if raised.swap(true, Ordering::SeqCst) {
                    clear_terminal();
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

    /// Waits for a request; returns false if there will be none.
    #[cfg(unix)]
    async fn next(&mut self) -> bool {
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
            asked = self.terminate.recv() => asked.is_some(),
        }
    }

    /// Waits for a request; returns false if there will be none.
    #[cfg(not(unix))]
    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_counts_what_there_is_more_than_one_of() {
        let text = |query, model| Position { query, model }.text();
        assert_eq!(text((1, 1), (1, 1)), "");
        assert_eq!(text((2, 5), (1, 1)), "query 2 of 5");
        assert_eq!(text((1, 1), (3, 4)), "model 3 of 4");
        assert_eq!(text((2, 5), (3, 4)), "model 3 of 4, query 2 of 5");
        assert_eq!(
            message("query 2 of 5", "7 states"),
            "query 2 of 5: 7 states"
        );
        assert_eq!(message("", "7 states"), "7 states");
    }
}
