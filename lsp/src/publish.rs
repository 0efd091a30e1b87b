//! Diagnostics for the client, always of the newest text: published after every open, change and
//! result, or given out when the client asks for them.

use crate::coverage;
use crate::diagnostics::{self, Finding};
use crate::runs::Known;
use crate::shared::Shared;
use crate::simulation;
use crate::to_proto::{self, Place};
use crate::traces;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tokio::sync::mpsc;
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::diagnostic;
use zonelens_ide::diagnostics as written;
use zonelens_ide::{Snapshot, Workspace};

/// A document whose diagnostics may be others now, and whether the client cannot know that.
pub(crate) type Due = (String, bool);

/// Takes documents from `inbox` until the server ends. Each is published by a task of its own, so
/// that one that takes long holds up no other; what comes for a document meanwhile is taken
/// together afterwards.
pub(crate) async fn serve(shared: Arc<Shared>, mut inbox: mpsc::UnboundedReceiver<Due>) {
    let (done, mut finished) = mpsc::unbounded_channel::<String>();
    // Documents being published, and whether they must be again.
    let mut busy: HashMap<String, bool> = HashMap::new();
    loop {
        let waiting = tokio::select! {
            due = inbox.recv() => match due {
                Some(first) => gather(&shared, &mut inbox, first),
                None => return,
            },
            Some(uri) = finished.recv() => match busy.remove(&uri) {
                Some(true) => BTreeSet::from([uri]),
                _ => BTreeSet::new(),
            },
        };
        for uri in waiting {
            if let Some(again) = busy.get_mut(&uri) {
                *again = true;
                continue;
            }
            busy.insert(uri.clone(), false);
            let end = Finished(uri, done.clone());
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                publish(&shared, &end.0).await;
                simulation::edited(&shared, &end.0).await;
                traces::edited(&shared, &end.0).await;
            });
        }
    }
}

/// Says that a document was published, also when that panicked.
struct Finished(String, mpsc::UnboundedSender<String>);

impl Drop for Finished {
    fn drop(&mut self) {
        let _ = self.1.send(std::mem::take(&mut self.0));
    }
}

/// All documents that are due now, with their query files.
fn gather(
    shared: &Arc<Shared>,
    inbox: &mut mpsc::UnboundedReceiver<Due>,
    first: Due,
) -> BTreeSet<String> {
    let mut waiting = BTreeMap::from([first]);
    while let Ok((uri, unknown)) = inbox.try_recv() {
        *waiting.entry(uri).or_default() |= unknown;
    }
    let beside: Vec<String> = waiting
        .keys()
        .flat_map(|uri| shared.store.query_files_of(uri))
        .map(|snapshot| snapshot.uri.clone())
        .collect();
    for uri in beside {
        // The client knows that the model changed, not that queries mean something else by that.
        waiting.insert(uri, true);
    }
    let capabilities = shared.capabilities();
    if capabilities.pulls && capabilities.diagnostic_refresh && waiting.values().any(|u| *u) {
        let client = shared.client.clone();
        tokio::spawn(async move {
            let _ = client.workspace_diagnostic_refresh().await;
        });
    }
    waiting.into_keys().collect()
}

async fn publish(shared: &Arc<Shared>, uri: &str) {
    let Some(parsed) = to_proto::uri(uri) else {
        return;
    };
    let pulls = shared.capabilities().pulls;
    let Some(snapshot) = shared.store.get(uri) else {
        if !pulls {
            shared
                .client
                .publish_diagnostics(parsed, Vec::new(), None)
                .await;
        }
        return;
    };
    // Also for a client that pulls: runs may have to stop.
    let Some(list) = findings(shared, &snapshot).await else {
        // The panic is in the log; the next edit tries again.
        return;
    };
    // An edit that came meanwhile has queued its own round: publishing old positions would only
    // flicker.
    if pulls || !shared.store.is_current(&snapshot) {
        return;
    }
    shared.rules.prepare(shared, &list).await;
    let converted = converted(shared, &snapshot, &list);
    shared
        .client
        .publish_diagnostics(parsed, converted, Some(snapshot.version))
        .await;
}

/// The answer to a client that asks; `None` if an edit came meanwhile.
pub(crate) async fn pull(
    shared: &Arc<Shared>,
    uri: &str,
    previous: Option<String>,
) -> Option<lsp::DocumentDiagnosticReportResult> {
    let items = match shared.store.get(uri) {
        Some(snapshot) => {
            let list = findings(shared, &snapshot).await?;
            if !shared.store.is_current(&snapshot) {
                return None;
            }
            shared.rules.prepare(shared, &list).await;
            converted(shared, &snapshot, &list)
        }
        // A file that is not open has no problems, as far as the editor's list goes.
        None => Vec::new(),
    };
    let digest = Sha256::digest(serde_json::to_vec(&items).unwrap_or_default());
    let id: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
    let report = if previous.as_deref() == Some(&id) {
        lsp::DocumentDiagnosticReport::Unchanged(lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                result_id: id,
            },
        })
    } else {
        lsp::DocumentDiagnosticReport::Full(lsp::RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
                result_id: Some(id),
                items,
            },
        })
    };
    Some(lsp::DocumentDiagnosticReportResult::Report(report))
}

fn converted(shared: &Shared, snapshot: &Arc<Snapshot>, list: &[Finding]) -> Vec<lsp::Diagnostic> {
    let place = Place {
        snapshot,
        encoding: shared.encoding(),
    };
    list.iter()
        .filter(|f| diagnostics::inside(snapshot, f.diagnostic.span))
        .map(|f| {
            let mut diagnostic = to_proto::finding(place, f);
            shared.rules.link(&mut diagnostic);
            diagnostic
        })
        .collect()
}

/// Everything known about a document; `None` if it could not be found out.
pub(crate) async fn findings(
    shared: &Arc<Shared>,
    snapshot: &Arc<Snapshot>,
) -> Option<Vec<Finding>> {
    let uri = &snapshot.uri;
    let answers = shared.runs.reports(uri).await;
    // What queries mean takes a network; without answers or runs to judge by it there is no need to
    // know.
    let traced = shared.trace().is_some_and(|t| t.uri == *uri);
    let judge = traced || !answers.is_empty() || shared.settings_for(uri).cancel_on_edit;
    let (worker, held) = (Arc::clone(shared), Arc::clone(snapshot));
    let found = shared.pool.run(uri, move || {
        let mut list = of_text(&worker, &held);
        if judge {
            of_runs(&worker, &held, &answers, &mut list);
        }
        list.extend(coverage::findings(&worker, &held));
        list
    });
    let list = found.await?;
    let list = diagnostics::with_severities(list, &shared.settings_for(uri));
    // What the text says may have been cut short already.
    match list.iter().any(|f| f.diagnostic.code == "lint/more") {
        true => Some(list),
        false => Some(diagnostic::shown(list, |f: &Finding| &f.diagnostic)),
    }
}

fn of_text(shared: &Shared, snapshot: &Arc<Snapshot>) -> Vec<Finding> {
    let model = shared.store.model_of(snapshot);
    let usual = shared.settings_for(&snapshot.uri).severities.is_default();
    let list = written::of_text(snapshot, model.as_deref(), usual);
    list.into_iter().map(Finding::from).collect()
}

fn of_runs(shared: &Shared, snapshot: &Arc<Snapshot>, answers: &[Known], list: &mut Vec<Finding>) {
    let Some((model, sites)) = shared.query_sites(snapshot) else {
        return;
    };
    if shared.settings_for(&snapshot.uri).cancel_on_edit {
        let meanings = sites.iter().map(|s| s.meaning).collect();
        shared.runs.edited(&snapshot.uri, meanings);
    }
    list.extend(diagnostics::of_answers(&model, &sites, answers));
    let trace = shared.trace().filter(|t| t.uri == snapshot.uri);
    list.extend(trace.and_then(|open| diagnostics::of_trace(&model, &sites, &open)));
}
