//! The worker that knows the zones of a simulation's walks. It lives as long as the simulation.

use crate::leave::Worker;
use crate::log;
use crate::runs::worker;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use zonelens_analysis::report::{WorkerMessage, WorkerRequest};
use zonelens_analysis::simulation::{WalkAnswer, WalkRequest, WalkZone};

/// Questions that the worker has at a time: the one it works on, and one that ends that.
const MOST_ASKED: usize = 2;
/// A worker that says nothing for so long does not answer any more.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// An answer, or why there are none.
type Reply = Result<WalkAnswer, String>;

struct Question {
    request: WalkRequest,
    reply: oneshot::Sender<Reply>,
}

/// The way to the worker, which ends when this is dropped.
pub(super) struct Walks {
    questions: mpsc::UnboundedSender<Question>,
}

impl Walks {
    /// Starts `program` as a worker with its first line. A worker that cannot be started, or that
    /// ends, says so in all answers.
    pub(super) fn start(program: PathBuf, request: WorkerRequest) -> Walks {
        let (questions, inbox) = mpsc::unbounded_channel();
        tokio::spawn(serve(program, request, inbox));
        Walks { questions }
    }

    /// Asks. A newer question may end the work on this one: then the sender of the reply is
    /// dropped.
    pub(super) fn ask(&self, request: WalkRequest) -> oneshot::Receiver<Reply> {
        let (reply, answer) = oneshot::channel();
        let _ = self.questions.send(Question { request, reply });
        answer
    }
}

async fn serve(
    program: PathBuf,
    request: WorkerRequest,
    mut inbox: mpsc::UnboundedReceiver<Question>,
) {
    let mut asked = VecDeque::new();
    let Err(why) = work(&program, &request, &mut inbox, &mut asked).await else {
        return;
    };
    log::write(&format!("the worker of a simulation is gone: {why}"));
    for reply in asked {
        let _ = reply.send(Err(why.clone()));
    }
    while let Some(question) = inbox.recv().await {
        let _ = question.reply.send(Err(why.clone()));
    }
}

/// Serves until nobody asks any more; `Err` says how the worker ended.
async fn work(
    program: &Path,
    request: &WorkerRequest,
    inbox: &mut mpsc::UnboundedReceiver<Question>,
    asked: &mut VecDeque<oneshot::Sender<Reply>>,
) -> Result<(), String> {
    let mut child = worker::start(program)?;
    let _noted = Worker::new(child.id());
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        worker::leave(&mut child, false).await;
        return Err("the checker has no input or output".to_owned());
    };
    let complaints = child.stderr.take().map(worker::complaints);
    let complaints = complaints.map(tokio::spawn);
    let (lines, written) = mpsc::unbounded_channel();
    let (answers, mut answered) = mpsc::channel(1);
    let writer = tokio::spawn(write(stdin, written));
    let reader = tokio::spawn(read(stdout, answers));
    let first = serde_json::to_vec(request).map_err(|error| error.to_string());
    let ended = match first {
        Ok(first) => {
            let _ = lines.send(first);
            talk(inbox, asked, &lines, &mut answered).await
        }
        Err(error) => Err(Ended::Bad(error)),
    };
    writer.abort();
    reader.abort();
    let result = match ended {
        Ok(()) => Ok(()),
        Err(Ended::Bad(why)) => Err(why),
        Err(Ended::Gone) => Err(gone(&mut child, complaints).await),
    };
    worker::leave(&mut child, false).await;
    result
}

async fn gone(child: &mut Child, complaints: Option<tokio::task::JoinHandle<String>>) -> String {
    worker::describe_exit(child, complaints).await
}

/// Why a worker is not listened to any more.
enum Ended {
    /// Its output ended.
    Gone,
    /// It wrote something else than answers, or nothing.
    Bad(String),
}

async fn talk(
    inbox: &mut mpsc::UnboundedReceiver<Question>,
    asked: &mut VecDeque<oneshot::Sender<Reply>>,
    lines: &mpsc::UnboundedSender<Vec<u8>>,
    answered: &mut mpsc::Receiver<Result<WalkAnswer, String>>,
) -> Result<(), Ended> {
    // The newest question that the worker has no place for yet.
    let mut waiting: Option<Question> = None;
    loop {
        let quiet = async {
            match asked.is_empty() {
                true => std::future::pending().await,
                false => tokio::time::sleep(ANSWER_LIMIT).await,
            }
        };
        tokio::select! {
            question = inbox.recv() => match question {
                None => return Ok(()),
                Some(question) => waiting = Some(question),
            },
            answer = answered.recv() => {
                let answer = answer.ok_or(Ended::Gone)?.map_err(Ended::Bad)?;
                let reply = asked.pop_front();
                // A question that a newer one ended has no answer worth showing.
                let ended = matches!(answer.zone, WalkZone::None { .. })
                    && (waiting.is_some() || !asked.is_empty());
                if let Some(reply) = reply.filter(|_| !ended) {
                    let _ = reply.send(Ok(answer));
                }
            }
            () = quiet => {
                return Err(Ended::Bad("the checker did not answer in time".to_owned()));
            }
        }
        if asked.len() < MOST_ASKED
            && let Some(Question { request, reply }) = waiting.take()
        {
            let line = serde_json::to_vec(&request).map_err(|e| Ended::Bad(e.to_string()))?;
            asked.push_back(reply);
            let _ = lines.send(line);
        }
    }
}

/// Writes lines; a worker that does not read them is noticed by its silence.
async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        let written = stdin.write_all(&line).await;
        if written.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, answers: mpsc::Sender<Result<WalkAnswer, String>>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut part = (&mut stdout).take(worker::MAX_LINE_BYTES);
        match part.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let answer = match serde_json::from_slice::<WorkerMessage>(&line) {
            Ok(WorkerMessage::Walk(answer)) => Ok(*answer),
            Ok(_) => Err("the checker answered another question".to_owned()),
            Err(error) => Err(format!(
                "the checker wrote something that is not an answer ({error})"
            )),
        };
        if answers.send(answer).await.is_err() {
            return;
        }
    }
}
