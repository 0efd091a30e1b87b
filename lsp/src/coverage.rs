//! What the models of documents never do: one run in a worker, kept by the meaning of the model.

use crate::diagnostics::Finding;
use crate::document;
use crate::meaning::{self, Meaning};
use crate::replays;
use crate::runs::worker;
use crate::shared::Shared;
use crate::to_proto::Place;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use zonelens_analysis::coverage::{self, Coverage, Kind};
use zonelens_analysis::diagnostic::Diagnostic;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{WorkerMessage, WorkerTask};
use zonelens_ide::{Snapshot, Workspace};
use zonelens_syntax::span::Span;

/// A location, an edge, a guard or a receiver that is never used.
const NEVER_HAPPENS: &str = "lint/never-happens";
/// A limit of a variable that is never reached.
const LIMIT: &str = "lint/limit-not-reached";

/// What is known of the models of documents, and what is running.
#[derive(Default)]
pub(crate) struct Covered(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// By document of the model.
    known: HashMap<String, (Meaning, Arc<Coverage>)>,
    /// The runs, by document: dropping an entry ends its worker.
    running: HashMap<String, (u64, oneshot::Sender<()>)>,
    next: u64,
}

impl Covered {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A document was closed: its run stops, and what is known is left to the disk.
    pub(crate) fn forget(&self, uri: &str) {
        let mut inner = self.inner();
        inner.known.remove(uri);
        inner.running.remove(uri);
    }

    /// Forgets everything that is known.
    pub(crate) fn clear(&self) {
        self.inner().known.clear();
    }

    /// Stops the run of a document, or all; gives how many there were.
    pub(crate) fn cancel(&self, uri: Option<&str>) -> usize {
        let mut inner = self.inner();
        let before = inner.running.len();
        match uri {
            Some(uri) => {
                inner.running.remove(uri);
            }
            None => inner.running.clear(),
        }
        before - inner.running.len()
    }

    /// Notes a run, which takes the place of an earlier one of the document.
    fn begin(&self, uri: &str) -> (u64, oneshot::Receiver<()>) {
        let (stop, stopped) = oneshot::channel();
        let mut inner = self.inner();
        inner.next += 1;
        let run = inner.next;
        inner.running.insert(uri.to_owned(), (run, stop));
        (run, stopped)
    }

    fn end(&self, uri: &str, run: u64) {
        let mut inner = self.inner();
        if inner.running.get(uri).is_some_and(|(own, _)| *own == run) {
            inner.running.remove(uri);
        }
    }

    fn get(&self, uri: &str) -> Option<(Meaning, Arc<Coverage>)> {
        self.inner().known.get(uri).cloned()
    }

    fn keep(&self, uri: &str, meaning: Meaning, coverage: &Arc<Coverage>) {
        let known = (meaning, Arc::clone(coverage));
        self.inner().known.insert(uri.to_owned(), known);
    }
}

/// Explores the model of a document, unless it is known what it never does, and gives it as JSON;
/// `Err` is a sentence for users.
pub(crate) async fn command(shared: &Arc<Shared>, uri: &str) -> Result<Value, String> {
    let missing = || format!("the document {uri} is not open");
    let snapshot = shared.store.get(uri).ok_or_else(missing)?;
    let (held, looked) = (Arc::clone(shared), Arc::clone(&snapshot));
    let meant = shared.pool.run(uri, move || {
        let model = held.store.model_of(&looked)?;
        let meaning = meaning::of_coverage(&model, &held.version);
        Some((model, meaning))
    });
    let meant = meant.await.ok_or("the model could not be read")?;
    let (model, meaning) = meant.ok_or("There is no model next to this query file.")?;
    let meaning = meaning.ok_or("the model has errors")?;
    let known = shared.coverage.get(&model.uri).filter(|k| k.0 == meaning);
    let known = known.map(|k| k.1).filter(|c| c.complete);
    let kept = || shared.cache().load_coverage(meaning).map(Arc::new);
    let coverage = match known.or_else(kept) {
        Some(coverage) => coverage,
        None => {
            let coverage = Arc::new(explore(shared, &model).await?);
            shared.cache().store_coverage(meaning, &coverage);
            coverage
        }
    };
    // What is closed meanwhile must not be remembered again.
    if shared.store.get(&model.uri).is_some() {
        shared.coverage.keep(&model.uri, meaning, &coverage);
    }
    shared.publish_again(&model.uri);
    let (held, document) = (Arc::clone(shared), model.uri.clone());
    let answer = shared
        .pool
        .run(&document, move || answer(&held, &model, &coverage));
    answer
        .await
        .flatten()
        .ok_or_else(|| "the model has errors".to_owned())
}

/// The run itself.
async fn explore(shared: &Shared, model: &Arc<Snapshot>) -> Result<Coverage, String> {
    let (run, stopped) = shared.coverage.begin(&model.uri);
    let mut request = replays::request(shared, model, WorkerTask::Coverage, String::new());
    request.options = document::options(model, &shared.settings_for(&model.uri));
    let (progress, _) = mpsc::unbounded_channel();
    let ended = worker::explore(shared.worker.clone(), request, progress, stopped).await;
    shared.coverage.end(&model.uri, run);
    match ended? {
        Some(WorkerMessage::Coverage(coverage)) => Ok(*coverage),
        Some(_) => Err("the checker answered another question".to_owned()),
        None => Err("stopped before everything was explored".to_owned()),
    }
}

/// The answer of the command: what was not seen, with ranges in the text that was asked about.
fn answer(shared: &Shared, model: &Arc<Snapshot>, coverage: &Coverage) -> Option<Value> {
    let (network, _) = model.network()?;
    let place = Place {
        snapshot: model,
        encoding: shared.encoding(),
    };
    let found = coverage.located(network, &|_| Position::default());
    let list: Vec<Value> = found
        .into_iter()
        .map(|(span, found)| {
            json!({
                "kind": found.kind,
                "template": found.template,
                "what": found.what,
                "because": found.because,
                "message": found.sentence(coverage.complete),
                "range": place.range(span),
            })
        })
        .collect();
    let (never, not_seen) = match coverage.complete {
        true => (list, Vec::new()),
        false => (Vec::new(), list),
    };
    Some(json!({
        "uri": model.uri,
        "complete": coverage.complete,
        "reason": coverage.reason,
        "statistics": coverage.statistics,
        "never": never,
        "notSeen": not_seen,
    }))
}

/// What is known about a document, as diagnostics: only what never happens, and only while the text
/// means what was explored. Guards and receivers are parts of their edges.
pub(crate) fn findings(shared: &Shared, snapshot: &Snapshot) -> Vec<Finding> {
    let Some((meaning, coverage)) = shared.coverage.get(&snapshot.uri) else {
        return Vec::new();
    };
    if !coverage.complete || meaning::of_coverage(snapshot, &shared.version) != Some(meaning) {
        return Vec::new();
    }
    let Some((network, _)) = snapshot.network() else {
        return Vec::new();
    };
    let found = coverage.located(network, &|_| Position::default());
    let shown = found.into_iter();
    let shown = shown.filter(|(_, found)| !matches!(found.kind, Kind::Guard | Kind::Receiver));
    let diagnostic = |(span, found): (Span, coverage::Finding)| {
        let code = match found.kind {
            Kind::Limit => LIMIT,
            _ => NEVER_HAPPENS,
        };
        let mut sentence = found.sentence(true);
        if let Some(first) = sentence.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Finding::from(Diagnostic::new(code, format!("{sentence}."), span))
    };
    shown.map(diagnostic).collect()
}
