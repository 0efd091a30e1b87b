//! `zonelens worker`: answers one query, explores everything, replays one trace, evaluates one
//! expression, or answers questions about walks for the language server.
//!
//! It reads one line of JSON, for walks one more for each question, and writes lines of JSON. It
//! stops when its input is closed. This also happens if the server dies, so no worker outlives its
//! server.

mod walks;

use crate::model::{Prepared, Source};
use crate::{BAD_INPUT, SUCCESS, output};
use std::io::{BufRead, Read, Write};
use std::sync::atomic::AtomicBool;
use zonelens_analysis::coverage::Coverage;
use zonelens_analysis::report::{
    QueryReport, Reason, TraceValue, Verdict, WORKER_PROTOCOL, WorkerMessage, WorkerRequest,
    WorkerTask,
};
use zonelens_checker::Control;
use zonelens_project::platform;
use zonelens_syntax::ast::FileKind;

/// The exit status if the input closes before the answer.
const STOPPED: i32 = 130;

/// Reads the request, answers, and ends.
pub(crate) fn run() -> u8 {
    platform::lowest_priority();
    let mut line = String::new();
    if let Err(error) = std::io::stdin().lock().read_line(&mut line) {
        output::complain(&format!("the request cannot be read: {error}"));
        return BAD_INPUT;
    }
    let request: WorkerRequest = match serde_json::from_str(&line) {
        Ok(request) => request,
        Err(error) => {
            output::complain(&format!("the request is unknown to this worker: {error}"));
            return BAD_INPUT;
        }
    };
    if request.protocol != WORKER_PROTOCOL {
        output::complain(&format!(
            "the request has version {} of the worker protocol, but this worker supports version {WORKER_PROTOCOL}",
            request.protocol
        ));
        return BAD_INPUT;
    }
    if let Some(limit) = request.options.memory {
        platform::cap_address_space(limit);
    }
    if request.task == WorkerTask::Walk {
        return walks::run(&request);
    }
    stop_when_input_closes();
    send(&match &request.task {
        WorkerTask::Verify => WorkerMessage::Result(Box::new(answer(&request))),
        WorkerTask::Replay { trace } => match prepare(&request).replay(trace) {
            Ok(trace) => WorkerMessage::Replayed {
                trace: Box::new(trace),
            },
            Err(message) => WorkerMessage::Refused { message },
        },
        WorkerTask::Evaluate { trace, step } => {
            let value = prepare(&request).evaluate(trace, *step, &request.query);
            WorkerMessage::Value {
                value: value.unwrap_or_else(TraceValue::Error),
            }
        }
        WorkerTask::Coverage => WorkerMessage::Coverage(Box::new(covered(&request))),
        // Answered above, question by question.
        WorkerTask::Walk => return SUCCESS,
    });
    SUCCESS
}

fn prepare(request: &WorkerRequest) -> Prepared {
    let kind = match request.kind.as_str() {
        "xml" => FileKind::Xml,
        _ => FileKind::Xta,
    };
    let source = Source::new(None, request.model.as_str(), kind);
    Prepared::new(source, &request.options.constants)
}

fn covered(request: &WorkerRequest) -> Coverage {
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|progress| send(&WorkerMessage::Progress(progress.clone())),
    };
    prepare(request).cover(&request.options, &control)
}

fn answer(request: &WorkerRequest) -> QueryReport {
    let prepared = prepare(request);
    let formula = Source::new(None, request.query.as_str(), FileKind::Query);
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|progress| send(&WorkerMessage::Progress(progress.clone())),
    };
    let queries = formula.queries();
    let mut report = match queries.first() {
        Some(query) => prepared.ask(&formula, *query, &request.options, &control),
        None => QueryReport::without_run(
            &request.query,
            request.line,
            Verdict::Error,
            Reason::QueryError("there is no formula here".to_owned()),
        ),
    };
    report.query.clone_from(&request.query);
    report.line = request.line;
    report.expected = request.expected;
    report
}

fn stop_when_input_closes() {
    let watch = || {
        let mut rest = [0u8; 256];
        let mut stdin = std::io::stdin().lock();
        // The server writes nothing more: if this read ends, nothing waits for the answer.
        while matches!(stdin.read(&mut rest), Ok(n) if n > 0) {}
        std::process::exit(STOPPED);
    };
    if let Err(error) = std::thread::Builder::new().spawn(watch) {
        // Without the watch, this process could outlive its server.
        output::complain(&format!("the worker cannot watch its input: {error}"));
        std::process::exit(STOPPED);
    }
}

fn send(message: &WorkerMessage) {
    let mut out = std::io::stdout().lock();
    let written = serde_json::to_writer(&mut out, message)
        .map_err(std::io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(STOPPED);
    }
}
