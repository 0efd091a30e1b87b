//! Publishes diagnostics after every open, change and result, always for the newest text.

use crate::diagnostics;
use crate::document::Snapshot;
use crate::queries::QuerySite;
use crate::shared::Shared;
use crate::to_proto::{self, Place};
use crate::traces;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::mpsc;
use zonelens_analysis::diagnostic::Diagnostic;
use zonelens_syntax::ast::FileKind;

/// Takes documents from `inbox` until the server ends. What piles up while one is analysed is taken together.
pub async fn serve(shared: Arc<Shared>, mut inbox: mpsc::UnboundedReceiver<String>) {
    while let Some(first) = inbox.recv().await {
        let mut waiting = BTreeSet::from([first]);
        while let Ok(uri) = inbox.try_recv() {
            waiting.insert(uri);
        }
        let beside: Vec<String> = waiting
            .iter()
            .flat_map(|uri| shared.store.query_files_of(uri))
            .map(|snapshot| snapshot.uri.clone())
            .collect();
        waiting.extend(beside);
        for uri in waiting {
            publish(&shared, &uri).await;
            traces::edited(&shared, &uri).await;
        }
    }
}

async fn publish(shared: &Arc<Shared>, uri: &str) {
    let Some(parsed) = to_proto::uri(uri) else {
        return;
    };
    let Some(snapshot) = shared.store.get(uri) else {
        shared
            .client
            .publish_diagnostics(parsed, Vec::new(), None)
            .await;
        return;
    };
    let answers = shared.runs.reports(uri).await;
    // What queries mean takes a network; without answers or runs to judge by it there is no need to know.
    let judge = !answers.is_empty() || shared.settings_for(uri).cancel_on_edit;
    let (worker, held) = (Arc::clone(shared), Arc::clone(&snapshot));
    let found = tokio::task::spawn_blocking(move || analyse(&worker, &held, judge)).await;
    let Ok((mut list, sites)) = found else {
        // The panic is in the log; the next edit tries again.
        return;
    };
    if judge {
        let meanings = sites.iter().map(|s| s.meaning).collect();
        shared.runs.edited(uri, meanings);
    }
    list.extend(diagnostics::of_answers(&sites, &answers));
    // An edit that came meanwhile has queued its own round: publishing old positions would only flicker.
    if !shared.store.is_current(&snapshot) {
        return;
    }
    let list = diagnostics::with_severities(list, &shared.settings_for(uri));
    let place = Place {
        snapshot: &snapshot,
        encoding: shared.encoding(),
    };
    let converted = list
        .iter()
        .filter(|d| diagnostics::inside(&snapshot, d.span))
        .map(|d| to_proto::diagnostic(place, d))
        .collect();
    shared
        .client
        .publish_diagnostics(parsed, converted, Some(snapshot.version))
        .await;
}

fn analyse(
    shared: &Shared,
    snapshot: &Arc<Snapshot>,
    judge: bool,
) -> (Vec<Diagnostic>, Vec<QuerySite>) {
    let model = match snapshot.kind {
        FileKind::Query => shared.store.model_of(snapshot),
        _ => Some(Arc::clone(snapshot)),
    };
    let list = diagnostics::of_text(snapshot, model.as_deref());
    let sites = judge.then(|| shared.query_sites(snapshot)).flatten();
    (list, sites.map(|(_, s)| s).unwrap_or_default())
}
