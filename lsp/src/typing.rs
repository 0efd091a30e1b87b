//! `verifyOnType`: runs instant queries when somebody stops typing.

use crate::document;
use crate::runs::Ask;
use crate::shared::Shared;
use std::sync::Arc;
use std::time::Duration;
use zonelens_analysis::diagnostic::Severity;
use zonelens_ide::{Snapshot, Workspace, diagnostics};

/// So long after the last edit queries run.
const PAUSE: Duration = Duration::from_millis(300);
/// Limits of such a run; what needs more is not instant.
const SECONDS: f64 = 1.0;
const MEMORY_BYTES: u64 = 512 << 20;

/// A document was edited. Must be called inside a runtime.
pub(crate) fn edited(shared: &Arc<Shared>, uri: &str) {
    for snapshot in documents(shared, uri) {
        // Whatever the settings are now: nothing runs on for a text that nobody sees.
        shared.runs.typed(&snapshot.uri);
        let wanted = shared.settings_for(&snapshot.uri).verify_on_type;
        if !wanted || shared.capabilities().untrusted {
            continue;
        }
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let model_before = shared.store.model_if_open(&snapshot);
            tokio::time::sleep(PAUSE).await;
            // The next edit has made another snapshot, and waits itself.
            let same = |s: &Arc<Snapshot>| shared.store.is_current(s);
            if !same(&snapshot) || !model_before.as_ref().is_none_or(same) {
                return;
            }
            let uri = snapshot.uri.clone();
            let (worker, held) = (Arc::clone(&shared), Arc::clone(&snapshot));
            let found = shared.pool.run(&uri, move || asks(&worker, &held)).await;
            if let Some(asks) = found.filter(|asks| !asks.is_empty())
                && same(&snapshot)
                && model_before.as_ref().is_none_or(same)
            {
                shared.runs.verify_typed(asks);
            }
        });
    }
}

/// A document with the open query files whose model it is.
fn documents(shared: &Shared, uri: &str) -> Vec<Arc<Snapshot>> {
    let own = shared.store.get(uri).into_iter();
    own.chain(shared.store.query_files_of(uri)).collect()
}

/// The queries of a document that mean something. Analyses: for threads that may take long.
fn asks(shared: &Shared, snapshot: &Arc<Snapshot>) -> Vec<Ask> {
    let Some(model) = shared.store.model_of(snapshot) else {
        return Vec::new();
    };
    // A large model is not instant, and one with errors has no meaning.
    if !model.is_quick() || model.network().is_none() {
        return Vec::new();
    }
    let Some((model, mut sites)) = shared.query_sites(snapshot) else {
        return Vec::new();
    };
    let mut wrong = diagnostics::of_text(snapshot, Some(&model), true);
    wrong.retain(|d| d.severity == Severity::Error);
    sites.retain(|site| !wrong.iter().any(|d| site.span.touches(d.span.start)));
    let mut options = document::options(&model, &shared.settings_for(&snapshot.uri));
    options.timeout = Some(options.timeout.map_or(SECONDS, |own| own.min(SECONDS)));
    options.memory = Some(
        options
            .memory
            .map_or(MEMORY_BYTES, |own| own.min(MEMORY_BYTES)),
    );
    let ask = |site: &crate::queries::QuerySite| Ask {
        typed: true,
        ..site.ask(&snapshot.uri, &model, options.clone())
    };
    sites.iter().map(ask).collect()
}
