//! What all parts of a running server share: documents, runs, what was agreed on with the client.

use crate::announce;
use crate::cache::Cache;
use crate::code_lens::{self, Lens};
use crate::configuration::Configuration;
use crate::coverage::Covered;
use crate::document;
use crate::from_proto::ClientCapabilities;
use crate::last_good::{self, LastGood};
use crate::meaning::{self, Meaning};
use crate::open_trace::OpenTrace;
use crate::pool::Pool;
use crate::position::Encoding;
use crate::publish;
use crate::queries::{self, Depth, QuerySite};
use crate::rule_pages::RulePages;
use crate::runs::Runs;
use crate::simulation::Slot;
use crate::store::{Constants, Store};
use crate::tidy;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::{Notify, mpsc};
use tower_lsp_server::Client;
use tower_lsp_server::ls_types as lsp;
use zonelens_ide::{Snapshot, Workspace};
use zonelens_project::settings::Settings;

/// Meanings of one document that are remembered. Looking twice does no harm, remembering for ever
/// would.
const MAX_LOOKED_UP: usize = 10_000;

/// What all parts of a running server share.
pub(crate) struct Shared {
    /// The way to the editor.
    pub client: Client,
    /// Open documents.
    pub store: Store,
    /// The threads that parse and analyse.
    pub pool: Pool,
    /// Verification runs.
    pub runs: Runs,
    /// Version and commit.
    pub version: String,
    /// The program that is run with `worker`.
    pub worker: PathBuf,
    /// Which settings count where.
    pub configuration: Configuration,
    /// Held by a trace command from its first look at the open trace to its answer, so that steps
    /// follow one another as they were asked for.
    pub trace_commands: tokio::sync::Mutex<()>,
    /// The simulation, if one is open; its walk is the open trace.
    pub simulation: Slot,
    /// Where the pages of diagnostics are.
    pub rules: RulePages,
    /// What models never do.
    pub coverage: Covered,
    agreed: OnceLock<Agreed>,
    session: Mutex<Session>,
    publisher: mpsc::UnboundedSender<publish::Due>,
    closed: Arc<Notify>,
    cache: Cache,
}

/// What was agreed on with the client: it never changes after `initialize`.
#[derive(Clone, Copy, Default)]
struct Agreed {
    encoding: Encoding,
    capabilities: ClientCapabilities,
}

/// What is shown, and what was given out.
#[derive(Default)]
pub(crate) struct Session {
    /// Lenses must not vanish while one types.
    last_good: LastGood,
    trace: Option<OpenTrace>,
    trace_is_stale: bool,
    /// The semantic tokens that were last given out for a document, with their number.
    pub tokens: HashMap<String, (u64, Arc<Vec<u32>>)>,
    /// Documents whose queries were run: what they mean must be known from then on.
    pub asked: HashSet<String>,
    /// Meanings, by document, that were looked for among the results of earlier sessions.
    looked_up: HashMap<String, Arc<HashSet<Meaning>>>,
}

impl Shared {
    /// Starts the owner of runs and the tasks that talk to the client. Must be called inside a
    /// runtime.
    pub(crate) fn start(client: Client, worker: PathBuf, version: String) -> Arc<Shared> {
        let cache = Cache::from_environment(&version);
        let old = cache.clone();
        tokio::task::spawn_blocking(move || old.prune());
        let (runs, events) = Runs::start(worker.clone(), cache.clone());
        let (publisher, inbox) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            client,
            store: Store::default(),
            pool: Pool::default(),
            runs,
            version,
            worker,
            configuration: Configuration::default(),
            agreed: OnceLock::new(),
            session: Mutex::default(),
            publisher,
            closed: Arc::default(),
            trace_commands: tokio::sync::Mutex::default(),
            simulation: Slot::default(),
            rules: RulePages::default(),
            coverage: Covered::default(),
            cache,
        });
        tokio::spawn(announce::serve(Arc::clone(&shared), events));
        tokio::spawn(publish::serve(Arc::clone(&shared), inbox));
        tokio::spawn(tidy::serve(Arc::clone(&shared.closed)));
        shared
    }

    /// Notes what was agreed on with the client. The first agreement counts: `initialize` comes
    /// once.
    pub(crate) fn agree(&self, encoding: Encoding, capabilities: ClientCapabilities) {
        let _ = self.agreed.set(Agreed {
            encoding,
            capabilities,
        });
    }

    fn agreed(&self) -> Agreed {
        self.agreed.get().copied().unwrap_or_default()
    }

    /// What is shown, and what was given out.
    pub(crate) fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The unit of columns: UTF-8, UTF-16 or UTF-32.
    pub(crate) fn encoding(&self) -> Encoding {
        self.agreed().encoding
    }

    /// What the client can do.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.agreed().capabilities
    }

    /// The settings that belong to no document.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.settings_for("")
    }

    /// The settings for a document. May read a small file.
    pub(crate) fn settings_for(&self, uri: &str) -> Arc<Settings> {
        let settings = self.configuration.for_document(uri);
        for problem in self.configuration.take_problems() {
            crate::log::write(&problem);
            let client = self.client.clone();
            tokio::spawn(async move {
                client
                    .show_message(lsp::MessageType::WARNING, problem)
                    .await;
            });
        }
        settings
    }

    /// Overrides of global constants in a document. May read a small file.
    pub(crate) fn constants_for(&self, uri: &str) -> Constants {
        Arc::new(self.settings_for(uri).options.constants.clone())
    }

    /// Settings or their files changed.
    pub(crate) fn settings_changed(&self) {
        let settings = self.settings();
        let constants = self.store.all().into_iter().map(|snapshot| {
            let constants = self.constants_for(&snapshot.uri);
            (snapshot.uri.clone(), constants)
        });
        self.store.set_constants(&constants.collect());
        self.runs.settings(settings);
        for snapshot in self.store.all() {
            self.publish_again(&snapshot.uri);
        }
    }

    /// The trace that is shown.
    pub(crate) fn trace(&self) -> Option<OpenTrace> {
        self.session().trace.clone()
    }

    /// Shows another trace, step or none.
    pub(crate) fn set_trace(&self, trace: Option<OpenTrace>) {
        {
            let mut session = self.session();
            session.trace = trace;
            session.trace_is_stale = false;
        }
        self.runs.touch();
    }

    /// Whether this very trace is open already.
    pub(crate) fn trace_is_shown(&self, trace: &OpenTrace) -> bool {
        let session = self.session();
        let open = session.trace.as_ref();
        open.is_some_and(|t| t.uri == trace.uri && t.query == trace.query)
    }

    /// Notes whether the open trace fits the text; gives whether that is news.
    pub(crate) fn set_trace_stale(&self, stale: bool) -> bool {
        let mut session = self.session();
        session.trace.is_some() && std::mem::replace(&mut session.trace_is_stale, stale) != stale
    }

    /// Whether the open trace was found not to fit the text.
    pub(crate) fn trace_is_stale(&self) -> bool {
        self.session().trace_is_stale
    }

    /// A document was edited: its diagnostics are computed and published again.
    pub(crate) fn publish_soon(&self, uri: &str) {
        let _ = self.publisher.send((uri.to_owned(), false));
    }

    /// What a closed document occupied is free soon.
    pub(crate) fn tidy_soon(&self) {
        self.closed.notify_one();
    }

    /// Something else than an edit may have changed a document's diagnostics.
    pub(crate) fn publish_again(&self, uri: &str) {
        let _ = self.publisher.send((uri.to_owned(), true));
    }

    /// The queries of a document with what they are asked of, also those that errors in the text
    /// hide. Parses and analyses: for threads that may take long.
    pub(crate) fn query_sites(
        &self,
        snapshot: &Arc<Snapshot>,
    ) -> Option<(Arc<Snapshot>, Vec<QuerySite>)> {
        let model = self.store.model_of(snapshot)?;
        let options = document::options(&model, &self.settings_for(&snapshot.uri));
        let known = self.session().asked.contains(&snapshot.uri);
        let depth = match known || model.is_quick() {
            true => Depth::Meaning,
            false => Depth::Text,
        };
        let mut sites = queries::sites(snapshot, &model, &options, &self.version, depth);
        // What is closed meanwhile must not be remembered again.
        let current = self.store.is_current(snapshot);
        if current {
            self.look_up(&snapshot.uri, &sites);
        }
        let text = &snapshot.file().text;
        // The session is locked for one look-up at a time: texts are compared and meanings computed
        // outside.
        let good = self.session().last_good.queries(&snapshot.uri);
        if let Some(good) = good
            && !snapshot.file().errors().is_empty()
        {
            let hidden = last_good::hidden_queries(&good, text, &sites);
            queries::add_hidden(&mut sites, hidden, snapshot, |formula| {
                meaning::of_text(&model, formula, &options, &self.version)
            });
        }
        if current {
            let found = Arc::new((Arc::clone(text), sites.clone()));
            let uri = snapshot.uri.clone();
            // What was kept before is freed after the lock.
            let _before = self.session().last_good.keep_queries(uri, found);
        }
        Some((model, sites))
    }

    /// The lenses over templates; the last good ones while the model has errors. Analyses: for
    /// threads that may take long.
    pub(crate) fn template_lenses(&self, snapshot: &Arc<Snapshot>) -> Vec<Lens> {
        let lenses = match snapshot.is_quick() {
            true => snapshot
                .network()
                .map(|(n, _)| code_lens::over_templates(n)),
            false => {
                let model = snapshot.model();
                let meant = !model.blocks_verification();
                meant.then(|| code_lens::over_outline(model.outline()))
            }
        };
        let text = &snapshot.file().text;
        let Some(lenses) = lenses else {
            let good = self.session().last_good.templates(&snapshot.uri);
            return good.map_or_else(Vec::new, |good| last_good::stale_templates(&good, text));
        };
        if self.store.is_current(snapshot) {
            let found = Arc::new((Arc::clone(text), lenses.clone()));
            let uri = snapshot.uri.clone();
            let _before = self.session().last_good.keep_templates(uri, found);
        }
        lenses
    }

    /// Tells the owner of runs what earlier sessions found out about these queries.
    fn look_up(&self, uri: &str, sites: &[QuerySite]) {
        let known = self.session().looked_up.get(uri).cloned();
        let known = known.unwrap_or_default();
        let is_new = |site: &&QuerySite| !known.contains(&site.meaning);
        let new: Vec<&QuerySite> = sites.iter().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let mut all = match known.len() > MAX_LOOKED_UP {
            true => HashSet::new(),
            false => (*known).clone(),
        };
        all.extend(new.iter().map(|site| site.meaning));
        let (uri_of_all, all) = (uri.to_owned(), Arc::new(all));
        let _before = self.session().looked_up.insert(uri_of_all, all);
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

    /// The results on disk.
    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// A document was closed.
    pub(crate) fn forget(&self, uri: &str) {
        self.coverage.forget(uri);
        let mut session = self.session();
        session.last_good.forget(uri);
        session.tokens.remove(uri);
        session.asked.remove(uri);
        session.looked_up.remove(uri);
        let belongs = |t: &OpenTrace| t.uri == uri || t.simulated && t.model_uri == uri;
        let closed = session.trace.take_if(|t| belongs(t));
        drop(session);
        if closed.is_some_and(|t| t.simulated) {
            self.simulation.close();
            let client = self.client.clone();
            let closed = serde_json::json!({ "open": false });
            tokio::spawn(async move {
                client
                    .send_notification::<announce::TraceChanged>(closed)
                    .await;
            });
        }
    }
}
