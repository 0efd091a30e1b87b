//! Verification runs: who asked for what, what is running, what came out.
//!
//! One task owns all of it. Everybody else sends it messages through [`Runs`] and hears of changes
//! as [`Event`]s, so that a state shown is always one that was.

mod owner;
pub(crate) mod worker;

use crate::cache::Cache;
use crate::meaning::Meaning;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use zonelens_analysis::report::{Options, Progress, QueryReport, Verdict};
use zonelens_project::settings::Settings;

/// The number of a run, unique in a server's life.
pub(crate) type RunId = u64;

/// A query to run.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// The document the query stands in.
    pub uri: String,
    /// The formula.
    pub text: String,
    /// 1-based line of the formula.
    pub line: u32,
    /// What the author expects.
    pub expected: Option<Verdict>,
    /// What the answer will belong to.
    pub meaning: Meaning,
    /// What the answer is also kept under.
    pub text_meaning: Option<Meaning>,
    /// The model's text.
    pub model: Arc<str>,
    /// `xta` or `xml`.
    pub kind: &'static str,
    /// How to run it.
    pub options: Options,
    /// Whether it runs because its text was edited, not because somebody asked for it.
    pub typed: bool,
}

/// A query whose state is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The formula.
    pub text: String,
    /// What an answer must belong to in order to be fresh.
    pub meaning: Meaning,
}

/// Which runs to stop.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    /// All.
    All,
    /// One.
    Run(RunId),
    /// All of a document.
    Document(String),
    /// Those of one query.
    Query(String, String),
}

/// What a lens shows.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// Never run.
    Never,
    /// Waiting for its turn, and whether it is about what the text means now.
    Queued(RunId, bool),
    /// Running, with what is known so far, and whether it is about what the text means now.
    Running(RunId, Progress, bool),
    /// Stopped before it was answered; what was known before, which is nothing fresh.
    Cancelled(Box<View>),
    /// Answered.
    Done {
        /// The answer.
        report: Arc<QueryReport>,
        /// Whether the text still means what was asked.
        fresh: bool,
        /// Whether the answer comes from an earlier session.
        cached: bool,
    },
    /// The worker failed.
    Failed {
        /// What happened.
        message: String,
        /// Whether the text still means what was asked.
        fresh: bool,
    },
}

/// What happens to runs.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A run started.
    Started {
        /// Which.
        run: RunId,
        /// Its formula.
        title: String,
    },
    /// A run goes on.
    Progress {
        /// Which.
        run: RunId,
        /// How far.
        progress: Progress,
    },
    /// A run that had started ended.
    Ended {
        /// Which.
        run: RunId,
        /// The document of its query.
        uri: String,
        /// In a few words.
        summary: String,
    },
    /// The state of some query changed.
    Changed {
        /// Whether a state changed, not only a count.
        state: bool,
        /// Runs that run.
        running: usize,
        /// Runs that wait for their turn.
        queued: usize,
    },
}

/// The newest answer to a query of a document.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The formula.
    pub query: String,
    /// What the answer belongs to.
    pub meaning: Meaning,
    /// The answer.
    pub report: Arc<QueryReport>,
}

/// A run that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    /// Its number.
    pub run: RunId,
    /// The document of its query.
    pub uri: String,
    /// The formula.
    pub query: String,
    /// What is known so far; `None` while queued.
    pub progress: Option<Progress>,
}

/// The way to the owner of all runs.
#[derive(Clone)]
pub(crate) struct Runs {
    sender: mpsc::UnboundedSender<Message>,
}

enum Message {
    Verify(Vec<Ask>, oneshot::Sender<Vec<RunId>>),
    VerifyTyped(Vec<Ask>),
    Typed(String),
    Cancel(Which, oneshot::Sender<usize>),
    View(String, Vec<Site>, oneshot::Sender<Vec<View>>),
    ViewSome(String, Vec<Site>, oneshot::Sender<Vec<View>>),
    Reports(String, oneshot::Sender<Vec<Known>>),
    Active(oneshot::Sender<Vec<Active>>),
    Progress(RunId, Progress),
    Ended(RunId, worker::Outcome),
    Remember(Vec<(String, Meaning, Arc<QueryReport>)>, String),
    Edited(String, Vec<Meaning>),
    Settings(Arc<Settings>),
    Closed(String),
    Clear,
    Touch,
}

impl Runs {
    /// Starts the owner. `program` is run with `worker` for each query.
    pub(crate) fn start(program: PathBuf, cache: Cache) -> (Runs, mpsc::UnboundedReceiver<Event>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (events, listener) = mpsc::unbounded_channel();
        let owner = owner::Owner::new(program, cache, sender.downgrade(), events);
        tokio::spawn(owner.serve(receiver));
        (Runs { sender }, listener)
    }

    /// Queues queries; gives their runs at once. A query that is already queued or running with the
    /// same meaning keeps its run.
    pub(crate) async fn verify(&self, asks: Vec<Ask>) -> Vec<RunId> {
        self.ask(|reply| Message::Verify(asks, reply)).await
    }

    /// Queues queries whose text was edited, as far as they are known to be instant or were never
    /// tried.
    pub(crate) fn verify_typed(&self, asks: Vec<Ask>) {
        let _ = self.sender.send(Message::VerifyTyped(asks));
    }

    /// A document was edited: the runs that an earlier edit of it started stop at once.
    pub(crate) fn typed(&self, uri: &str) {
        let _ = self.sender.send(Message::Typed(uri.to_owned()));
    }

    /// Stops runs; gives how many.
    pub(crate) async fn cancel(&self, which: Which) -> usize {
        self.ask(|reply| Message::Cancel(which, reply)).await
    }

    /// The states of all queries of a document, in their order.
    pub(crate) async fn views(&self, uri: &str, sites: Vec<Site>) -> Vec<View> {
        self.ask(|reply| Message::View(uri.to_owned(), sites, reply))
            .await
    }

    /// The states of some queries of a document.
    pub(crate) async fn views_of(&self, uri: &str, sites: Vec<Site>) -> Vec<View> {
        self.ask(|reply| Message::ViewSome(uri.to_owned(), sites, reply))
            .await
    }

    /// The answers known for a document's queries.
    pub(crate) async fn reports(&self, uri: &str) -> Vec<Known> {
        self.ask(|reply| Message::Reports(uri.to_owned(), reply))
            .await
    }

    /// The runs that have not ended, in the order they were asked for.
    pub(crate) async fn active(&self) -> Vec<Active> {
        self.ask(Message::Active).await
    }

    /// Answers of an earlier session for queries of `uri`.
    pub(crate) fn remember(&self, uri: &str, found: Vec<(String, Meaning, Arc<QueryReport>)>) {
        let _ = self.sender.send(Message::Remember(found, uri.to_owned()));
    }

    /// A document's queries mean these now; runs of others stop.
    pub(crate) fn edited(&self, uri: &str, meanings: Vec<Meaning>) {
        let _ = self.sender.send(Message::Edited(uri.to_owned(), meanings));
    }

    /// A document was closed: its runs stop, and what is known of it is left to the disk.
    pub(crate) fn closed(&self, uri: &str) {
        let _ = self.sender.send(Message::Closed(uri.to_owned()));
    }

    /// New settings.
    pub(crate) fn settings(&self, settings: Arc<Settings>) {
        let _ = self.sender.send(Message::Settings(settings));
    }

    /// Notifies listeners that something shown changed.
    pub(crate) fn touch(&self) {
        let _ = self.sender.send(Message::Touch);
    }

    /// Forgets all answers.
    pub(crate) fn clear(&self) {
        let _ = self.sender.send(Message::Clear);
    }

    async fn ask<T: Default>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> T {
        let (reply, answer) = oneshot::channel();
        let _ = self.sender.send(message(reply));
        answer.await.unwrap_or_default()
    }
}
