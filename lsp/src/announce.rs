//! Tells the client what happens to runs: progress, lenses to fetch again, results.

use crate::from_proto::ClientCapabilities;
use crate::runs::{Event, RunId};
use crate::shared::Shared;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tower_lsp_server::Client;
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::report::Progress;
use zonelens_analysis::report_text::{grouped, progress};

/// Sent to clients that ask for it when the state of some query changes.
pub(crate) enum StatusChanged {}

impl lsp::notification::Notification for StatusChanged {
    type Params = serde_json::Value;
    const METHOD: &'static str = "zonelens/status";
}

/// Sent to clients that ask for it when the open trace is another, at another step, or stale.
pub(crate) enum TraceChanged {}

impl lsp::notification::Notification for TraceChanged {
    type Params = serde_json::Value;
    const METHOD: &'static str = "zonelens/traceChanged";
}

/// Sent to clients that ask for it when the zone of a simulation arrives, or an edit changes it.
pub(crate) enum SimulationChanged {}

impl lsp::notification::Notification for SimulationChanged {
    type Params = serde_json::Value;
    const METHOD: &'static str = "zonelens/simulationChanged";
}

/// The token of a run's progress. A string: some clients refuse numbers.
pub(crate) fn token(run: RunId) -> String {
    format!("zonelens/run/{run}")
}

/// The run of a progress token.
pub(crate) fn run_of(token: &lsp::ProgressToken) -> Option<RunId> {
    match token {
        lsp::NumberOrString::String(text) => text.strip_prefix("zonelens/run/")?.parse().ok(),
        lsp::NumberOrString::Number(_) => None,
    }
}

/// Listens to `events` until the server ends.
pub(crate) async fn serve(shared: Arc<Shared>, mut events: mpsc::UnboundedReceiver<Event>) {
    let mut shown: HashMap<RunId, mpsc::UnboundedSender<Step>> = HashMap::new();
    while let Some(event) = events.recv().await {
        let capabilities = shared.capabilities();
        match event {
            Event::Started { run, title } if capabilities.progress => {
                let (steps, inbox) = mpsc::unbounded_channel();
                shown.insert(run, steps);
                tokio::spawn(show(shared.client.clone(), run, title, inbox));
            }
            Event::Started { .. } => {}
            Event::Progress { run, progress } => {
                if let Some(steps) = shown.get(&run) {
                    let _ = steps.send(Step::Report(progress));
                }
            }
            Event::Ended { run, uri, summary } => {
                if let Some(steps) = shown.remove(&run) {
                    let _ = steps.send(Step::End(summary));
                }
                shared.publish_again(&uri);
            }
            Event::Changed {
                state,
                running,
                queued,
            } => {
                refresh(&shared, capabilities, state).await;
                if capabilities.extensions {
                    let params = json!({ "state": state, "running": running, "queued": queued });
                    shared
                        .client
                        .send_notification::<StatusChanged>(params)
                        .await;
                }
            }
        }
    }
}

async fn refresh(shared: &Arc<Shared>, capabilities: ClientCapabilities, state: bool) {
    if capabilities.lens_refresh {
        // A request: waiting for its answer here would hold up the next event.
        let client = shared.client.clone();
        tokio::spawn(async move {
            let _ = client.code_lens_refresh().await;
        });
    }
    if capabilities.hint_refresh && state {
        let client = shared.client.clone();
        tokio::spawn(async move {
            let _ = client.inlay_hint_refresh().await;
        });
    }
}

enum Step {
    Report(Progress),
    End(String),
}

/// Shows one run's progress. The client must have agreed to the token before anything is sent under
/// it.
async fn show(client: Client, run: RunId, title: String, mut inbox: mpsc::UnboundedReceiver<Step>) {
    let token = lsp::NumberOrString::String(token(run));
    if client
        .create_work_done_progress(token.clone())
        .await
        .is_err()
    {
        return;
    }
    let send = async |value: lsp::WorkDoneProgress| {
        client
            .send_notification::<lsp::notification::Progress>(lsp::ProgressParams {
                token: token.clone(),
                value: lsp::ProgressParamsValue::WorkDone(value),
            })
            .await;
    };
    send(lsp::WorkDoneProgress::Begin(lsp::WorkDoneProgressBegin {
        title: "Verifying".to_owned(),
        cancellable: Some(true),
        message: Some(title),
        percentage: None,
    }))
    .await;
    while let Some(step) = inbox.recv().await {
        match step {
            Step::Report(p) => {
                let message = format!("{}, {} waiting", progress(&p), grouped(p.waiting));
                send(lsp::WorkDoneProgress::Report(lsp::WorkDoneProgressReport {
                    cancellable: Some(true),
                    message: Some(message),
                    percentage: None,
                }))
                .await;
            }
            Step::End(summary) => {
                send(lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd {
                    message: Some(summary),
                }))
                .await;
                return;
            }
        }
    }
}
