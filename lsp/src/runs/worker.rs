//! One worker process: started, fed, listened to, and ended without leftovers.

use crate::leave::Worker;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use zonelens_analysis::report::{Progress, QueryReport, WorkerMessage, WorkerRequest};
use zonelens_project::platform;

/// A worker that ignores its own time limit is ended this much later.
const HANG_GRACE: Duration = Duration::from_secs(5);
/// How long a replay or an evaluation may take.
const ASK_LIMIT: Duration = Duration::from_secs(30);
/// How long a worker may take to leave after its answer.
const LEAVE_GRACE: Duration = Duration::from_secs(1);
/// A line longer than this is no answer.
pub(crate) const MAX_LINE_BYTES: u64 = 512 << 20;
/// How much of a worker's complaints is kept.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With an answer.
    Answer(Box<QueryReport>),
    /// By the user's wish.
    Cancelled,
    /// Any other failure, as a sentence for users.
    Failed(String),
}

/// Runs `request` in a worker process. Progress goes to `progress`; `cancel` (sent or dropped) ends
/// it.
pub(crate) async fn run(
    program: PathBuf,
    request: WorkerRequest,
    progress: mpsc::UnboundedSender<Progress>,
    cancel: oneshot::Receiver<()>,
) -> Outcome {
    match explore(program, request, progress, cancel).await {
        Ok(Some(WorkerMessage::Result(report))) => Outcome::Answer(report),
        Ok(Some(_)) => Outcome::Failed("the checker answered another question".to_owned()),
        Ok(None) => Outcome::Cancelled,
        Err(message) => Outcome::Failed(message),
    }
}

/// Runs `request`, which may explore for long, in a worker process; `Ok(None)` if it was cancelled,
/// `Err` is a sentence for users.
pub(crate) async fn explore(
    program: PathBuf,
    request: WorkerRequest,
    progress: mpsc::UnboundedSender<Progress>,
    cancel: oneshot::Receiver<()>,
) -> Result<Option<WorkerMessage>, String> {
    let mut child = start(&program)?;
    let _noted = Worker::new(child.id());
    let limit = request.options.timeout.map(|s| {
        let limit = Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX);
        limit.saturating_add(HANG_GRACE)
    });
    let ended = tokio::select! {
        answer = converse(&mut child, &request, progress) => answer.map(Some),
        _ = cancel => Ok(None),
        () = sleep(limit) => {
            Err("the checker went on past its time limit and was stopped".to_owned())
        }
    };
    leave(&mut child, matches!(ended, Ok(Some(_)))).await;
    ended
}

/// Asks a worker something that takes no exploration; `Err` is a sentence for users.
pub(crate) async fn ask(program: &Path, request: &WorkerRequest) -> Result<WorkerMessage, String> {
    let mut child = start(program)?;
    let _noted = Worker::new(child.id());
    let (progress, _) = mpsc::unbounded_channel();
    let answer = tokio::select! {
        answer = converse(&mut child, request, progress) => answer,
        () = tokio::time::sleep(ASK_LIMIT) => Err("the checker did not answer in time".to_owned()),
    };
    leave(&mut child, answer.is_ok()).await;
    answer
}

async fn sleep(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// Starts a worker that waits for its request.
pub(crate) fn start(program: &Path) -> Result<Child, String> {
    let mut command = Command::new(program);
    command
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = platform::background(&mut command).spawn();
    started.map_err(|error| format!("the checker could not be started: {error}"))
}

async fn converse(
    child: &mut Child,
    request: &WorkerRequest,
    progress: mpsc::UnboundedSender<Progress>,
) -> Result<WorkerMessage, String> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the checker has no input or output".to_owned());
    };
    let mut line = serde_json::to_vec(request)
        .map_err(|error| format!("the request cannot be written: {error}"))?;
    line.push(b'\n');
    let complaints = child.stderr.take().map(|e| tokio::spawn(complaints(e)));
    // If the worker is already gone, its exit status says so below.
    let _ = stdin.write_all(&line).await;
    let _ = stdin.flush().await;
    let answer = listen(BufReader::new(stdout), &progress).await;
    // Closing the input is what ends a worker, so it must live until here.
    drop(stdin);
    match answer {
        Some(answer) => answer,
        None => Err(describe_exit(child, complaints).await),
    }
}

/// Reads messages until the answer; `None` if the output ends without one.
async fn listen(
    mut stdout: BufReader<ChildStdout>,
    progress: &mpsc::UnboundedSender<Progress>,
) -> Option<Result<WorkerMessage, String>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut stdout)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .await;
        match read {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        match serde_json::from_slice::<WorkerMessage>(&line) {
            Ok(WorkerMessage::Progress(p)) => {
                let _ = progress.send(p);
            }
            Ok(message) => return Some(Ok(message)),
            Err(error) => {
                return Some(Err(format!(
                    "the checker wrote something that is not an answer ({error})"
                )));
            }
        }
    }
}

/// The first line a worker complains with. All of it is read: a worker must not wait for a pipe to
/// be emptied.
pub(crate) async fn complaints(mut stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let mut start = (&mut stderr).take(MAX_STDERR_BYTES);
    let _ = start.read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("").trim().to_owned()
}

/// How a worker ended that gave no answer.
pub(crate) async fn describe_exit(
    child: &mut Child,
    complaints: Option<JoinHandle<String>>,
) -> String {
    let mut said = String::new();
    if let Some(complaints) = complaints {
        let heard = tokio::time::timeout(LEAVE_GRACE, complaints).await;
        said = heard.ok().and_then(Result::ok).unwrap_or_default();
    }
    let status = match tokio::time::timeout(LEAVE_GRACE, child.wait()).await {
        Ok(Ok(status)) => status.to_string(),
        _ => "no exit status".to_owned(),
    };
    if said.is_empty() {
        format!("the checker ended without an answer ({status})")
    } else {
        format!("the checker ended without an answer ({status}): {said}")
    }
}

/// Sees to it that the process is gone and reaped.
pub(crate) async fn leave(child: &mut Child, answered: bool) {
    if answered {
        let left = tokio::time::timeout(LEAVE_GRACE, child.wait()).await;
        if left.is_ok() {
            return;
        }
    }
    let _ = child.start_kill();
    let _ = child.wait().await;
}
