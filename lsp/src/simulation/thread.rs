//! The thread that a simulation lives on. The states of a run share what they note, so a session
//! never moves from one thread to another; what shall be done with it is sent there.

use std::sync::Arc;
use std::sync::mpsc;
use tokio::sync::oneshot;
use zonelens_analysis::network::Position;
use zonelens_ide::Snapshot;
use zonelens_interpreter::Session;
use zonelens_syntax::span::{LineIndex, Span};

use crate::meaning::Meaning;

/// Evaluation recurses over expressions; memory for the stack is only taken when used.
const STACK_BYTES: usize = 256 << 20;

const CRASHED: &str = "the simulation hit an internal error and has ended";

/// A simulation with the text that it is about.
pub(super) struct Held {
    /// The walk and its run.
    pub session: Session,
    /// The text.
    pub model: Arc<Snapshot>,
    /// What the text means.
    pub meaning: Meaning,
    /// Why the present text is not the one that is simulated, if it is not.
    pub stale: Option<String>,
    lines: LineIndex,
}

impl Held {
    /// A simulation of `model`.
    pub(super) fn new(session: Session, model: Arc<Snapshot>, meaning: Meaning) -> Held {
        Held {
            lines: LineIndex::new(&model.file().text),
            session,
            model,
            meaning,
            stale: None,
        }
    }

    /// Runs `work` with the session and the positions of spans in the text.
    pub(super) fn with_places<T>(
        &mut self,
        work: impl FnOnce(&mut Session, &dyn Fn(Span) -> Position) -> T,
    ) -> T {
        let (lines, text) = (&self.lines, &self.model.file().text);
        work(&mut self.session, &|span| position(lines, text, span))
    }
}

fn position(lines: &LineIndex, text: &str, span: Span) -> Position {
    let at = lines.line_col(text, span.start);
    Position {
        line: at.line,
        column: at.column,
    }
}

/// The positions of spans in a text.
pub(super) fn positions(text: &str) -> impl Fn(Span) -> Position + '_ {
    let lines = LineIndex::new(text);
    move |span| position(&lines, text, span)
}

type Job = Box<dyn FnOnce(&mut Held) + Send>;

/// The way to the thread, which ends when this is dropped and its work is done.
pub(super) struct Thread {
    jobs: mpsc::Sender<Job>,
}

impl Thread {
    /// Starts a thread with what `make` makes; `Err` says why there is no simulation.
    pub(super) async fn start(
        make: impl FnOnce() -> Result<Held, String> + Send + 'static,
    ) -> Result<Thread, String> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (told, answer) = oneshot::channel();
        let serve = move || match make() {
            Err(message) => {
                let _ = told.send(Err(message));
            }
            Ok(mut held) => {
                let _ = told.send(Ok(()));
                while let Ok(job) = inbox.recv() {
                    job(&mut held);
                }
            }
        };
        let thread = std::thread::Builder::new().name("simulation".into());
        let started = thread.stack_size(STACK_BYTES).spawn(serve);
        started.map_err(|error| format!("the simulation cannot be started: {error}"))?;
        let made = answer.await.map_err(|_| CRASHED.to_owned())?;
        made.map(|()| Thread { jobs })
    }

    /// Does `work` after what was sent before.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Held) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |held| {
            let _ = reply.send(work(held));
        });
        self.jobs.send(job).map_err(|_| CRASHED.to_owned())?;
        answer.await.map_err(|_| CRASHED.to_owned())
    }
}
