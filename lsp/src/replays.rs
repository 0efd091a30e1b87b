//! Replays of traces and values in their steps: in the server, under limits. What reaches a limit
//! is handed to a worker process, which may take longer and may die.

use crate::document;
use crate::runs::worker;
use crate::shared::Shared;
use std::sync::Arc;
use std::time::Duration;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{
    Trace, TraceValue, WORKER_PROTOCOL, WorkerMessage, WorkerRequest, WorkerTask,
};
use zonelens_ide::Snapshot;
use zonelens_interpreter::{Allowance, SharedBudget, Stopped, evaluate_expression, replay_within};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span};

/// What one request may use up in the server.
const ALLOWANCE: Allowance = Allowance {
    steps: 20_000_000,
    depth: 10_000,
    moments: 50_000,
    bytes: 64 << 20,
    time: Duration::from_secs(1),
};

const HAS_ERRORS: &str = "the model has errors";
const OTHER_QUESTION: &str = "the checker answered another question";

/// The trace with the names and places of the model's present text. No trace is shown that does not
/// replay, wherever it was kept.
pub(crate) async fn replay(
    shared: &Shared,
    model: &Arc<Snapshot>,
    trace: &Arc<Trace>,
) -> Result<Trace, String> {
    let (held, wanted) = (Arc::clone(model), Arc::clone(trace));
    let here = shared
        .pool
        .run(&model.uri, move || replayed(&held, &wanted))
        .await;
    let refused = |message: String| {
        format!("the trace does not replay against this text ({message}); verify the query again")
    };
    match here {
        Some(Ok(trace)) => return Ok(trace),
        Some(Err(Stopped::Refused(message))) => return Err(refused(message)),
        Some(Err(Stopped::Limit)) | None => {}
    }
    let trace = Box::new((**trace).clone());
    let request = request(shared, model, WorkerTask::Replay { trace }, String::new());
    match worker::ask(&shared.worker, &request).await? {
        WorkerMessage::Replayed { trace } => Ok(*trace),
        WorkerMessage::Refused { message } => Err(refused(message)),
        _ => Err(OTHER_QUESTION.to_owned()),
    }
}

/// The value of an expression in a step of a trace.
pub(crate) async fn evaluate(
    shared: &Shared,
    model: &Arc<Snapshot>,
    trace: &Arc<Trace>,
    step: usize,
    expression: &str,
) -> Result<TraceValue, String> {
    let (held, wanted, text) = (Arc::clone(model), Arc::clone(trace), expression.to_owned());
    let value = move || valued(&held, &wanted, step, &text);
    match shared.pool.run(&model.uri, value).await {
        Some(Ok(value)) => return Ok(value),
        Some(Err(Stopped::Refused(message))) => return Ok(TraceValue::Error(message)),
        Some(Err(Stopped::Limit)) | None => {}
    }
    let trace = Box::new((**trace).clone());
    let task = WorkerTask::Evaluate { trace, step };
    let request = request(shared, model, task, expression.to_owned());
    match worker::ask(&shared.worker, &request).await? {
        WorkerMessage::Value { value } => Ok(value),
        _ => Err(OTHER_QUESTION.to_owned()),
    }
}

fn replayed(model: &Snapshot, trace: &Trace) -> Result<Trace, Stopped> {
    let network = network(model)?;
    let text = &model.file().text;
    let lines = LineIndex::new(text);
    let position = |span: Span| {
        let at = lines.line_col(text, span.start);
        Position {
            line: at.line,
            column: at.column,
        }
    };
    replay_within(network, trace, &position, &SharedBudget::new(ALLOWANCE))
}

fn valued(model: &Snapshot, trace: &Trace, step: usize, text: &str) -> Result<TraceValue, Stopped> {
    let network = network(model)?;
    let budget = SharedBudget::new(ALLOWANCE);
    evaluate_expression(model.model(), network, trace, step, text, &budget)
}

/// The network to replay in. One that takes long to make is left to the worker.
fn network(model: &Snapshot) -> Result<&Network, Stopped> {
    if !model.is_quick() {
        return Err(Stopped::Limit);
    }
    let network = model.network().map(|(network, _)| network);
    network.ok_or_else(|| Stopped::Refused(HAS_ERRORS.to_owned()))
}

/// A request to a worker about a model.
pub(crate) fn request(
    shared: &Shared,
    model: &Snapshot,
    task: WorkerTask,
    query: String,
) -> WorkerRequest {
    WorkerRequest {
        protocol: WORKER_PROTOCOL,
        task,
        model: model.file().text.to_string(),
        kind: match model.kind {
            FileKind::Xml => "xml".to_owned(),
            _ => "xta".to_owned(),
        },
        query,
        line: 0,
        expected: None,
        options: document::options(model, &shared.settings_for(&model.uri)),
    }
}
