//! One worker process: started, fed, listened to, and ended without leftovers.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use zonelens_analysis::report::{Progress, QueryReport, WorkerMessage, WorkerRequest};

/// A worker that ignores its own time limit is ended this much later.
const HANG_GRACE: Duration = Duration::from_secs(5);
/// How long a worker may take to leave after its answer.
const LEAVE_GRACE: Duration = Duration::from_secs(1);
/// A line longer than this is no answer.
const MAX_LINE_BYTES: u64 = 512 << 20;
/// How much of a worker's complaints is kept.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// With an answer.
    Answer(Box<QueryReport>),
    /// By the user's wish.
    Cancelled,
    /// Otherwise: a sentence for people.
    Failed(String),
}

/// Runs `request` in a worker process. Progress goes to `progress`; `cancel` (sent or dropped) ends it.
pub async fn run(
    program: PathBuf,
    request: WorkerRequest,
    progress: mpsc::UnboundedSender<Progress>,
    cancel: oneshot::Receiver<()>,
) -> Outcome {
    let mut child = match start(&program) {
        Ok(child) => child,
        Err(error) => return Outcome::Failed(format!("the checker could not be started: {error}")),
    };
    let limit = request.options.timeout.map(|s| {
        let limit = Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX);
        limit.saturating_add(HANG_GRACE)
    });
    let outcome = tokio::select! {
        outcome = converse(&mut child, &request, progress) => outcome,
        _ = cancel => Outcome::Cancelled,
        () = sleep(limit) => Outcome::Failed(
            "the checker went on past its time limit and was stopped".to_owned()),
    };
    leave(&mut child, &outcome).await;
    outcome
}

async fn sleep(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn start(program: &Path) -> std::io::Result<Child> {
    Command::new(program)
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

async fn converse(
    child: &mut Child,
    request: &WorkerRequest,
    progress: mpsc::UnboundedSender<Progress>,
) -> Outcome {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Outcome::Failed("the checker has no input or output".to_owned());
    };
    let mut line = match serde_json::to_vec(request) {
        Ok(line) => line,
        Err(error) => return Outcome::Failed(format!("the request cannot be written: {error}")),
    };
    line.push(b'\n');
    // A worker that is already gone is told by its exit status below.
    let _ = stdin.write_all(&line).await;
    let _ = stdin.flush().await;
    let outcome = listen(BufReader::new(stdout), &progress).await;
    // Closing the input is what ends a worker, so it must live until here.
    drop(stdin);
    match outcome {
        Some(outcome) => outcome,
        None => Outcome::Failed(obituary(child).await),
    }
}

/// Reads messages until the answer; `None` if the output ends without one.
async fn listen(
    mut stdout: BufReader<ChildStdout>,
    progress: &mpsc::UnboundedSender<Progress>,
) -> Option<Outcome> {
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
            Ok(WorkerMessage::Result(report)) => return Some(Outcome::Answer(report)),
            Err(error) => {
                return Some(Outcome::Failed(format!(
                    "the checker wrote something that is not an answer ({error})"
                )));
            }
        }
    }
}

/// What became of a worker that ended without an answer.
async fn obituary(child: &mut Child) -> String {
    let mut said = String::new();
    if let Some(stderr) = child.stderr.take() {
        let mut bytes = Vec::new();
        let mut stderr = stderr.take(MAX_STDERR_BYTES);
        let reading = stderr.read_to_end(&mut bytes);
        let _ = tokio::time::timeout(LEAVE_GRACE, reading).await;
        said = String::from_utf8_lossy(&bytes)
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("")
            .trim()
            .to_owned();
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
async fn leave(child: &mut Child, outcome: &Outcome) {
    if matches!(outcome, Outcome::Answer(_)) {
        let left = tokio::time::timeout(LEAVE_GRACE, child.wait()).await;
        if left.is_ok() {
            return;
        }
    }
    let _ = child.start_kill();
    let _ = child.wait().await;
}
