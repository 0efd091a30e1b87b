//! What all parts of a running server share: documents, runs, what was agreed on with the client.

use crate::announce;
use crate::cache::Cache;
use crate::document::Snapshot;
use crate::features::trace::OpenTrace;
use crate::from_proto::Abilities;
use crate::meaning::Meaning;
use crate::position::Encoding;
use crate::publish;
use crate::queries::{self, QuerySite};
use crate::runs::Runs;
use crate::settings::Settings;
use crate::store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tower_lsp_server::Client;

/// Looking twice does no harm, remembering for ever would.
const MAX_LOOKED_UP: usize = 10_000;

/// What all parts of a running server share.
pub struct Shared {
    /// The way to the editor.
    pub client: Client,
    /// Open documents.
    pub store: Store,
    /// Verification runs.
    pub runs: Runs,
    /// Version and commit.
    pub version: String,
    session: Mutex<Session>,
    publisher: mpsc::UnboundedSender<String>,
    cache: Cache,
}

/// What was agreed on with the client, and what is shown.
#[derive(Default)]
pub struct Session {
    /// What columns count.
    pub encoding: Encoding,
    /// What the client can do.
    pub abilities: Abilities,
    settings: Arc<Settings>,
    /// The queries of each document when its text last parsed well: lenses must not vanish while one types.
    good_queries: HashMap<String, Vec<QuerySite>>,
    trace: Option<OpenTrace>,
    /// Meanings that were looked for among the results of earlier sessions.
    looked_up: HashSet<(String, Meaning)>,
}

impl Shared {
    /// Starts the owner of runs and the tasks that talk to the client. Must be called inside a runtime.
    pub fn start(client: Client, worker: std::path::PathBuf, version: String) -> Arc<Shared> {
        let cache = Cache::from_environment();
        let old = cache.clone();
        tokio::task::spawn_blocking(move || old.prune());
        let (runs, events) = Runs::start(worker, cache.clone());
        let (publisher, inbox) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            client,
            store: Store::default(),
            runs,
            version,
            session: Mutex::default(),
            publisher,
            cache,
        });
        tokio::spawn(announce::serve(Arc::clone(&shared), events));
        tokio::spawn(publish::serve(Arc::clone(&shared), inbox));
        shared
    }

    /// What was agreed on with the client, and what is shown.
    pub fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What columns count.
    pub fn encoding(&self) -> Encoding {
        self.session().encoding
    }

    /// What the client can do.
    pub fn abilities(&self) -> Abilities {
        self.session().abilities
    }

    /// The user's settings.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.session().settings)
    }

    /// The trace that is shown.
    pub fn trace(&self) -> Option<OpenTrace> {
        self.session().trace.clone()
    }

    /// Shows another trace, step or none.
    pub fn set_trace(&self, trace: Option<OpenTrace>) {
        self.session().trace = trace;
        self.runs.touch();
    }

    /// Has the diagnostics of a document computed and published again.
    pub fn publish_soon(&self, uri: &str) {
        let _ = self.publisher.send(uri.to_owned());
    }

    /// The queries of a document with what they are asked of; the last good ones while the text is broken.
    /// Parses and analyses: for threads that may take long.
    pub fn query_sites(&self, snapshot: &Arc<Snapshot>) -> Option<(Arc<Snapshot>, Vec<QuerySite>)> {
        let model = self.store.model_of(snapshot)?;
        let settings = self.settings();
        let sites = queries::sites(snapshot, &model, &settings, &self.version);
        self.look_up(&snapshot.uri, &sites);
        let broken = !snapshot.file().errors().is_empty();
        let mut session = self.session();
        let good = session.good_queries.get(&snapshot.uri);
        if let Some(good) = good.filter(|good| broken && good.len() > sites.len()) {
            return Some((model, good.clone()));
        }
        session
            .good_queries
            .insert(snapshot.uri.clone(), sites.clone());
        Some((model, sites))
    }

    /// Tells the owner of runs what earlier sessions found out about these queries.
    fn look_up(&self, uri: &str, sites: &[QuerySite]) {
        let new: Vec<&QuerySite> = {
            let mut session = self.session();
            let known = &mut session.looked_up;
            if known.len() > MAX_LOOKED_UP {
                known.clear();
            }
            let mut is_new = |s: &&QuerySite| known.insert((uri.to_owned(), s.meaning));
            sites.iter().filter(|s| is_new(s)).collect()
        };
        let found: Vec<_> = new
            .into_iter()
            .filter_map(|site| {
                let report = Arc::new(self.cache.load(site.meaning)?);
                Some((site.text.clone(), site.meaning, report))
            })
            .collect();
        if !found.is_empty() {
            self.runs.remember(uri, found);
        }
    }

    /// A document was closed.
    pub fn forget(&self, uri: &str) {
        let mut session = self.session();
        session.good_queries.remove(uri);
        session.looked_up.retain(|(document, _)| document != uri);
        if session.trace.as_ref().is_some_and(|t| t.uri == uri) {
            session.trace = None;
        }
    }

    /// Takes over new settings.
    pub fn set_settings(&self, value: &serde_json::Value) {
        let settings = Arc::new(Settings::from_json(value));
        self.session().settings = Arc::clone(&settings);
        self.runs.settings(settings);
    }
}
