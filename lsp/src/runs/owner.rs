//! The task that owns all runs.

use super::worker::{self, Outcome};
use super::{Active, Ask, Event, Known, Message, RunId, Site, View, Which};
use crate::cache::Cache;
use crate::meaning::Meaning;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use zonelens_analysis::report::{
    Progress, QueryReport, Verdict, WORKER_PROTOCOL, WorkerRequest, WorkerTask,
};
use zonelens_analysis::report_text;
use zonelens_project::settings::Settings;

/// Counts on lenses change at most this often.
const COUNT_INTERVAL: Duration = Duration::from_millis(500);
/// A query is instant if its last run took no longer than this.
pub(super) const INSTANT_SECONDS: f64 = 1.0;
/// Answers kept; the oldest go first.
const MAX_ANSWERS: usize = 512;

struct Run {
    ask: Ask,
    /// Dropped or fired, it ends the worker; `None` while queued.
    stop: Option<oneshot::Sender<()>>,
    progress: Progress,
}

#[derive(Clone)]
struct Answer {
    meaning: Meaning,
    what: What,
    cached: bool,
}

#[derive(Clone)]
enum What {
    Report(Arc<QueryReport>),
    Failed(String),
}

pub(super) struct Owner {
    program: PathBuf,
    cache: Cache,
    /// For tasks to report back; weak, so that the owner ends when the server drops its end.
    back: mpsc::WeakUnboundedSender<Message>,
    events: mpsc::UnboundedSender<Event>,
    settings: Arc<Settings>,
    next: RunId,
    queue: VecDeque<RunId>,
    runs: HashMap<RunId, Run>,
    /// By meaning: what makes an answer fresh again when the text returns.
    answers: HashMap<Meaning, Answer>,
    ages: VecDeque<Meaning>,
    /// By document and formula: what is shown, stale or not.
    latest: HashMap<(String, String), Answer>,
    /// The formulas of a document when its views were last asked for.
    formulas: HashMap<String, Vec<String>>,
    last_count: Option<Instant>,
    /// By document and formula: runs that were stopped, with what the query meant then, as far as
    /// anybody has looked at it since.
    cancelled: HashMap<(String, String), Option<Meaning>>,
    /// By document and formula: queries that did not end in the time of an instant one.
    slow: HashSet<(String, String)>,
}

impl Owner {
    pub(super) fn new(
        program: PathBuf,
        cache: Cache,
        back: mpsc::WeakUnboundedSender<Message>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Owner {
        Owner {
            program,
            cache,
            back,
            events,
            settings: Arc::default(),
            next: 1,
            queue: VecDeque::new(),
            runs: HashMap::new(),
            answers: HashMap::new(),
            ages: VecDeque::new(),
            latest: HashMap::new(),
            formulas: HashMap::new(),
            last_count: None,
            cancelled: HashMap::new(),
            slow: HashSet::new(),
        }
    }

    pub(super) async fn serve(mut self, mut inbox: mpsc::UnboundedReceiver<Message>) {
        while let Some(message) = inbox.recv().await {
            self.handle(message);
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Verify(asks, reply) => {
                // One that is asked for by itself is the one being looked at.
                let alone = asks.len() == 1;
                let enqueue = |ask| self.enqueue(ask, alone);
                let runs = asks.into_iter().map(enqueue).collect();
                self.start_next();
                self.changed();
                let _ = reply.send(runs);
            }
            Message::VerifyTyped(asks) => self.verify_typed(asks),
            Message::Typed(uri) => {
                let typed = |_: RunId, run: &Run| run.ask.typed && run.ask.uri == uri;
                self.drop_where(typed, false);
            }
            Message::Cancel(which, reply) => {
                let _ = reply.send(self.cancel(&which));
            }
            Message::View(uri, sites, reply) => {
                let _ = reply.send(self.views(&uri, sites));
            }
            Message::ViewSome(uri, sites, reply) => {
                let views = sites.iter().map(|site| self.view(&uri, site)).collect();
                let _ = reply.send(views);
            }
            Message::Reports(uri, reply) => {
                let _ = reply.send(self.reports(&uri));
            }
            Message::Active(reply) => {
                let _ = reply.send(self.active());
            }
            Message::Progress(run, progress) => self.progress(run, progress),
            Message::Ended(run, outcome) => self.ended(run, outcome),
            Message::Remember(found, uri) => self.remember(&uri, found),
            Message::Edited(uri, meanings) => self.edited(&uri, &meanings),
            Message::Settings(settings) => {
                self.settings = settings;
                self.start_next();
            }
            Message::Closed(uri) => self.closed(&uri),
            Message::Touch => self.changed(),
            Message::Clear => {
                self.answers.clear();
                self.ages.clear();
                self.latest.clear();
                self.cancelled.clear();
                self.slow.clear();
                let cache = self.cache.clone();
                tokio::task::spawn_blocking(move || cache.clear());
                self.changed();
            }
        }
    }

    fn enqueue(&mut self, ask: Ask, first: bool) -> RunId {
        let same = |run: &&(&RunId, &Run)| run.1.ask.uri == ask.uri && run.1.ask.text == ask.text;
        let existing: Vec<(RunId, Meaning)> = self
            .runs
            .iter()
            .filter(|entry| same(&entry))
            .map(|(id, run)| (*id, run.ask.meaning))
            .collect();
        if let Some((id, _)) = existing.iter().find(|(_, m)| *m == ask.meaning) {
            if first && self.queue.contains(id) {
                self.queue.retain(|queued| queued != id);
                self.queue.push_front(*id);
            }
            return *id;
        }
        for (id, _) in existing {
            self.drop_run(id);
        }
        let key = (ask.uri.clone(), ask.text.clone());
        self.cancelled.remove(&key);
        let id = self.next;
        self.next += 1;
        self.runs.insert(
            id,
            Run {
                ask,
                stop: None,
                progress: Progress::default(),
            },
        );
        match first {
            true => self.queue.push_front(id),
            false => self.queue.push_back(id),
        }
        id
    }

    fn start_next(&mut self) {
        let mut running = self.runs.values().filter(|r| r.stop.is_some()).count();
        while running < self.settings.parallel_runs {
            let Some(id) = self.queue.pop_front() else {
                break;
            };
            if self.start(id) {
                running += 1;
            }
        }
    }

    fn start(&mut self, id: RunId) -> bool {
        let (Some(run), Some(back)) = (self.runs.get_mut(&id), self.back.upgrade()) else {
            return false;
        };
        let (stop, stopped) = oneshot::channel();
        run.stop = Some(stop);
        let request = WorkerRequest {
            protocol: WORKER_PROTOCOL,
            task: WorkerTask::Verify,
            model: run.ask.model.to_string(),
            kind: run.ask.kind.to_owned(),
            query: run.ask.text.clone(),
            line: run.ask.line,
            expected: run.ask.expected,
            options: run.ask.options.clone(),
        };
        crate::log::write(&format!("run {id} starts"));
        let _ = self.events.send(Event::Started {
            run: id,
            title: run.ask.text.clone(),
        });
        let program = self.program.clone();
        tokio::spawn(async move {
            let (progress, mut reports) = mpsc::unbounded_channel();
            let forward = back.clone();
            let forwarding = tokio::spawn(async move {
                while let Some(progress) = reports.recv().await {
                    let _ = forward.send(Message::Progress(id, progress));
                }
            });
            let outcome = worker::run(program, request, progress, stopped).await;
            // The end must come after the last progress.
            let _ = forwarding.await;
            let _ = back.send(Message::Ended(id, outcome));
        });
        true
    }

    fn cancel(&mut self, which: &Which) -> usize {
        let wanted = match which {
            Which::Run(wanted) => Some(*wanted),
            _ => None,
        };
        let chosen = |id: RunId, run: &Run| match which {
            Which::All => true,
            Which::Run(_) => Some(id) == wanted,
            Which::Document(uri) => run.ask.uri == *uri,
            Which::Query(uri, text) => run.ask.uri == *uri && run.ask.text == *text,
        };
        self.drop_where(chosen, true)
    }

    /// Stops the runs that are `chosen`, and shows it if they are `shown`; gives how many.
    fn drop_where(&mut self, chosen: impl Fn(RunId, &Run) -> bool, shown: bool) -> usize {
        let runs = self.runs.iter().filter(|(id, run)| chosen(**id, run));
        let chosen: Vec<RunId> = runs.map(|(id, _)| *id).collect();
        for id in &chosen {
            if let Some(run) = self.runs.get(id).filter(|_| shown) {
                let key = (run.ask.uri.clone(), run.ask.text.clone());
                self.cancelled.insert(key, None);
            }
            self.drop_run(*id);
        }
        if !chosen.is_empty() {
            self.start_next();
            self.changed();
        }
        chosen.len()
    }

    fn verify_typed(&mut self, asks: Vec<Ask>) {
        let mut queued = false;
        for ask in asks {
            let key = (ask.uri.clone(), ask.text.clone());
            let slow = match self.latest.get(&key).map(|answer| &answer.what) {
                Some(What::Report(report)) => report.statistics.seconds > INSTANT_SECONDS,
                Some(What::Failed(_)) => true,
                None => false,
            };
            let known = self.answers.contains_key(&ask.meaning);
            let same = |run: &Run| run.ask.uri == ask.uri && run.ask.text == ask.text;
            let running = self.runs.values().any(|run| same(run) && !run.ask.typed);
            if !slow && !known && !running && !self.slow.contains(&key) {
                self.enqueue(ask, false);
                queued = true;
            }
        }
        if queued {
            self.start_next();
            self.changed();
        }
    }

    /// Forgets a run and thereby ends its worker. What it may still say is dropped, as nobody knows
    /// its number.
    fn drop_run(&mut self, id: RunId) {
        self.queue.retain(|queued| *queued != id);
        if let Some(run) = self.runs.remove(&id)
            && run.stop.is_some()
        {
            let _ = self.events.send(Event::Ended {
                run: id,
                uri: run.ask.uri,
                summary: "cancelled".to_owned(),
            });
        }
    }

    fn progress(&mut self, id: RunId, progress: Progress) {
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        run.progress = progress;
        if self
            .last_count
            .is_none_or(|t| t.elapsed() >= COUNT_INTERVAL)
        {
            self.last_count = Some(Instant::now());
            for (run, state) in &self.runs {
                if state.stop.is_some() {
                    let _ = self.events.send(Event::Progress {
                        run: *run,
                        progress: state.progress.clone(),
                    });
                }
            }
            self.tell(false);
        }
    }

    fn ended(&mut self, id: RunId, outcome: Outcome) {
        let Some(run) = self.runs.remove(&id) else {
            return;
        };
        let instant = match &outcome {
            Outcome::Answer(report) => report.verdict != Verdict::Unknown,
            Outcome::Failed(_) | Outcome::Cancelled => false,
        };
        let key = (run.ask.uri.clone(), run.ask.text.clone());
        if instant {
            self.slow.remove(&key);
        } else if run.ask.typed {
            self.slow.insert(key.clone());
        }
        let (summary, what) = match outcome {
            Outcome::Answer(report) => {
                let word = match report.verdict {
                    // Which limit it was is what can be acted on.
                    Verdict::Unknown => format!("unknown: {}", report_text::short_reason(&report)),
                    verdict => report_text::verdict(verdict).to_owned(),
                };
                (word, Some(What::Report(Arc::from(report))))
            }
            Outcome::Failed(message) => (message.clone(), Some(What::Failed(message))),
            Outcome::Cancelled => ("cancelled".to_owned(), None),
        };
        // A run with the limits of an instant one says nothing about the limits of the settings.
        if let Some(what) = what.filter(|_| instant || !run.ask.typed) {
            if let What::Report(report) = &what {
                self.keep_on_disk(run.ask.meaning, report);
                if let Some(meaning) = run.ask.text_meaning {
                    self.keep_on_disk(meaning, report);
                }
            }
            let answer = Answer {
                meaning: run.ask.meaning,
                what,
                cached: false,
            };
            self.keep(answer.clone());
            self.latest.insert(key, answer);
        }
        crate::log::write(&format!("run {id} ends: {summary}"));
        let _ = self.events.send(Event::Ended {
            run: id,
            uri: run.ask.uri,
            summary,
        });
        self.start_next();
        self.changed();
    }

    fn keep_on_disk(&self, meaning: Meaning, report: &Arc<QueryReport>) {
        let (cache, report) = (self.cache.clone(), Arc::clone(report));
        tokio::task::spawn_blocking(move || cache.store(meaning, &report));
    }

    fn keep(&mut self, answer: Answer) {
        let meaning = answer.meaning;
        if self.answers.insert(meaning, answer).is_none() {
            self.ages.push_back(meaning);
        }
        while self.ages.len() > MAX_ANSWERS {
            if let Some(old) = self.ages.pop_front() {
                self.answers.remove(&old);
            }
        }
    }

    fn remember(&mut self, uri: &str, found: Vec<(String, Meaning, Arc<QueryReport>)>) {
        for (text, meaning, report) in found {
            if self.answers.contains_key(&meaning) {
                continue;
            }
            let answer = Answer {
                meaning,
                what: What::Report(report),
                cached: true,
            };
            self.keep(answer.clone());
            self.latest.insert((uri.to_owned(), text), answer);
        }
        self.changed();
    }

    fn closed(&mut self, uri: &str) {
        self.cancel(&Which::Document(uri.to_owned()));
        self.formulas.remove(uri);
        self.cancelled.retain(|(document, _), _| document != uri);
        self.slow.retain(|(document, _)| document != uri);
        let mut gone = Vec::new();
        self.latest.retain(|(document, _), answer| {
            if document == uri {
                gone.push(answer.meaning);
            }
            document != uri
        });
        gone.retain(|meaning| !self.latest.values().any(|a| a.meaning == *meaning));
        for meaning in &gone {
            self.answers.remove(meaning);
        }
        self.ages.retain(|meaning| !gone.contains(meaning));
    }

    fn edited(&mut self, uri: &str, meanings: &[Meaning]) {
        let outdated =
            |_: RunId, run: &Run| run.ask.uri == uri && !meanings.contains(&run.ask.meaning);
        self.drop_where(outdated, true);
    }

    fn views(&mut self, uri: &str, sites: Vec<Site>) -> Vec<View> {
        self.follow_renamed(uri, &sites);
        sites.iter().map(|site| self.view(uri, site)).collect()
    }

    /// A formula that was rewritten in place keeps its old verdict as a stale one.
    fn follow_renamed(&mut self, uri: &str, sites: &[Site]) {
        let now: Vec<String> = sites.iter().map(|s| s.text.clone()).collect();
        let before = self.formulas.insert(uri.to_owned(), now.clone());
        let Some(before) = before.filter(|before| before.len() == now.len()) else {
            return;
        };
        for (old, new) in before.into_iter().zip(&now) {
            let key = (uri.to_owned(), new.clone());
            if old != *new
                && !now.contains(&old)
                && !self.latest.contains_key(&key)
                && let Some(answer) = self.latest.remove(&(uri.to_owned(), old))
            {
                self.latest.insert(key, answer);
            }
        }
    }

    fn view(&mut self, uri: &str, site: &Site) -> View {
        let run = self
            .runs
            .iter()
            .find(|(_, run)| run.ask.uri == uri && run.ask.text == site.text);
        if let Some((id, run)) = run {
            let fresh = run.ask.meaning == site.meaning;
            return match run.stop {
                Some(_) => View::Running(*id, run.progress.clone(), fresh),
                None => View::Queued(*id, fresh),
            };
        }
        let key = (uri.to_owned(), site.text.clone());
        let stopped = self.cancelled.get_mut(&key);
        let stopped = stopped.is_some_and(|at| *at.get_or_insert(site.meaning) == site.meaning);
        let fresh = self.answers.get(&site.meaning).cloned();
        if let Some(answer) = &fresh {
            self.latest.insert(key.clone(), answer.clone());
        }
        let stopped = stopped && fresh.is_none();
        let view = match fresh.or_else(|| self.latest.get(&key).cloned()) {
            None => View::Never,
            Some(answer) => {
                let fresh = answer.meaning == site.meaning;
                match answer.what {
                    What::Report(report) => View::Done {
                        report,
                        fresh,
                        cached: answer.cached,
                    },
                    What::Failed(message) => View::Failed { message, fresh },
                }
            }
        };
        match stopped {
            true => View::Cancelled(Box::new(view)),
            false => view,
        }
    }

    fn reports(&self, uri: &str) -> Vec<Known> {
        let here = self.latest.iter().filter(|((d, _), _)| d == uri);
        here.filter_map(|((_, query), answer)| match &answer.what {
            What::Report(report) => Some(Known {
                query: query.clone(),
                meaning: answer.meaning,
                report: Arc::clone(report),
            }),
            What::Failed(_) => None,
        })
        .collect()
    }

    fn active(&self) -> Vec<Active> {
        let mut list: Vec<Active> = self
            .runs
            .iter()
            .map(|(id, run)| Active {
                run: *id,
                uri: run.ask.uri.clone(),
                query: run.ask.text.clone(),
                progress: run.stop.is_some().then(|| run.progress.clone()),
            })
            .collect();
        list.sort_by_key(|a| a.run);
        list
    }

    fn changed(&self) {
        self.tell(true);
    }

    fn tell(&self, state: bool) {
        let running = self.runs.values().filter(|r| r.stop.is_some()).count();
        let _ = self.events.send(Event::Changed {
            state,
            running,
            queued: self.runs.len() - running,
        });
    }
}
