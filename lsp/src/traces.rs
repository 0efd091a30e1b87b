//! The trace that is open, and the commands that walk through it.

use crate::announce::TraceChanged;
use crate::commands::{self, Argument};
use crate::open_trace::{Move, OpenTrace};
use crate::queries::QuerySite;
use crate::replays;
use crate::runs::View;
use crate::shared::Shared;
use crate::to_proto::{self, Place};
use crate::trace_document;
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::report::TraceValue;
use zonelens_ide::trace::{Hint, hints};
use zonelens_ide::{Snapshot, Workspace};

/// Runs a trace command; `Err` is a sentence for users.
pub(crate) async fn command(
    shared: &Arc<Shared>,
    command: &str,
    argument: Argument,
) -> Result<Value, String> {
    if !matches!(command, commands::TRACE_EVALUATE | commands::TRACE_EXPORT) {
        shared.simulation.arrive();
    }
    // First come, first served.
    let _turn = shared.trace_commands.lock().await;
    match command {
        commands::TRACE_OPEN => {
            let open = find(shared, argument.uri, argument.query, argument.line).await?;
            let mut answer = described(shared, &open).await?;
            answer["document"] = trace_document::offer(shared, &open).await;
            show(shared, &open, &answer).await;
            shared.simulation.close();
            change(shared, Some(open)).await;
            Ok(answer)
        }
        commands::TRACE_CLOSE => {
            shared.simulation.close();
            change(shared, None).await;
            Ok(Value::Null)
        }
        commands::TRACE_EXPORT => {
            let open = match argument.uri {
                Some(_) => find(shared, argument.uri, argument.query, argument.line).await?,
                None => current(shared)?,
            };
            Ok(json!({ "text": open.document().0, "json": *open.trace }))
        }
        commands::TRACE_EVALUATE => {
            let open = current(shared)?;
            let expression = argument.expression;
            let expression = expression.ok_or("the command needs {\"expression\": …}")?;
            evaluate(shared, open, expression, argument.step).await
        }
        _ => {
            let mut open = current(shared)?;
            open.go(match command {
                commands::TRACE_NEXT => Move::Next,
                commands::TRACE_PREVIOUS => Move::Previous,
                commands::TRACE_FIRST => Move::First,
                commands::TRACE_LAST => Move::Last,
                commands::TRACE_GOTO => {
                    Move::To(argument.step.ok_or("the command needs {\"step\": …}")?)
                }
                other => return Err(format!("unknown command `{other}`")),
            });
            let answer = described(shared, &open).await?;
            if open.simulated {
                crate::simulation::follow(shared, open.step).await?;
            } else {
                change(shared, Some(open)).await;
            }
            Ok(answer)
        }
    }
}

/// The trace that is open; `Err` is a sentence for users.
fn current(shared: &Shared) -> Result<OpenTrace, String> {
    shared.trace().ok_or_else(|| "no trace is open".to_owned())
}

/// The trace of a query's present answer, replayed against the present text.
pub(crate) async fn find(
    shared: &Arc<Shared>,
    uri: Option<String>,
    query: Option<String>,
    line: Option<u32>,
) -> Result<OpenTrace, String> {
    let uri = uri.ok_or("the command needs {\"uri\": …}")?;
    let snapshot = shared.store.get(&uri).ok_or("the document is not open")?;
    let worker = Arc::clone(shared);
    let sites = move || worker.query_sites(&snapshot);
    let found = shared.pool.run(&uri, sites).await;
    let (model, sites) = found.flatten().ok_or("there is no model here")?;
    let asked = sites.iter().map(QuerySite::site).collect();
    let views = shared.runs.views(&uri, asked).await;
    let line = line.map(|line| {
        let above = sites.iter().rev().find(|site| site.line <= line + 1);
        above.or(sites.first()).map_or(0, |site| site.line)
    });
    let wanted = |site: &QuerySite| match &query {
        Some(query) => *query == site.text,
        None => line.is_none_or(|line| line == site.line),
    };
    let chosen = sites
        .iter()
        .zip(&views)
        .find_map(|(site, view)| match view {
            View::Done {
                report,
                fresh: true,
                ..
            } if wanted(site) => Some((site, report.trace.as_ref()?)),
            _ => None,
        });
    let (site, trace) =
        chosen.ok_or("this query has no trace that fits the text; verify it first")?;
    let trace = replays::replay(shared, &model, &Arc::new(trace.clone())).await?;
    Ok(OpenTrace {
        uri,
        model_uri: model.uri.clone(),
        query: site.text.clone(),
        meaning: site.meaning,
        trace: Arc::new(trace),
        step: 0,
        simulated: false,
    })
}

async fn evaluate(
    shared: &Arc<Shared>,
    open: OpenTrace,
    expression: String,
    step: Option<usize>,
) -> Result<Value, String> {
    let step = step.unwrap_or(open.step);
    let model = model_of(shared, &open.uri).await?;
    let value = replays::evaluate(shared, &model, &open.trace, step, &expression).await?;
    let (kind, value) = match value {
        TraceValue::Integer(n) => ("integer", n.to_string()),
        TraceValue::Boolean(b) => ("boolean", b.to_string()),
        TraceValue::Clock(value) => ("clock", value),
        TraceValue::Error(message) => ("error", message),
    };
    let worker = Arc::clone(shared);
    let uri = open.uri.clone();
    let stale = shared
        .pool
        .run(&uri, move || is_stale(&worker, &open))
        .await;
    Ok(json!({
        "expression": expression, "step": step, "kind": kind, "value": value,
        "stale": stale.unwrap_or(true),
    }))
}

/// The model of a document's queries.
pub(crate) async fn model_of(shared: &Arc<Shared>, uri: &str) -> Result<Arc<Snapshot>, String> {
    let snapshot = shared.store.get(uri).ok_or("the document is not open")?;
    let worker = Arc::clone(shared);
    let model = move || worker.store.model_of(&snapshot);
    let model = shared.pool.run(uri, model).await.flatten();
    model.ok_or_else(|| "there is no model here".to_owned())
}

/// The current step as data, against the model's present text.
async fn described(shared: &Arc<Shared>, open: &OpenTrace) -> Result<Value, String> {
    let model = model_of(shared, &open.uri).await?;
    let (encoding, uri, open) = (shared.encoding(), open.uri.clone(), open.clone());
    let worker = Arc::clone(shared);
    let describe = move || {
        let place = Place {
            snapshot: &model,
            encoding,
        };
        let mut answer = crate::trace_data::step(&open, place);
        // Values and places of a trace that was found in another text are not those of the text
        // shown.
        if answer.is_object() {
            answer["stale"] = json!(is_stale(&worker, &open));
        }
        answer
    };
    let answer = shared.pool.run(&uri, describe).await;
    answer.ok_or_else(|| "the trace cannot be shown".to_owned())
}

/// Shows another trace, step or none, and says so.
pub(crate) async fn change(shared: &Arc<Shared>, trace: Option<OpenTrace>) {
    let before = shared.trace().map(|t| t.uri);
    let now = trace.as_ref().map(|t| t.uri.clone());
    shared.set_trace(trace);
    for uri in before.into_iter().chain(now) {
        shared.publish_again(&uri);
    }
    announce(shared, false).await;
}

/// Tells clients that show the trace themselves what it is now.
pub(crate) async fn announce(shared: &Shared, stale: bool) {
    if !shared.capabilities().extensions {
        return;
    }
    let params = match shared.trace() {
        None => json!({ "open": false }),
        Some(open) => json!({
            "open": true,
            "stale": stale,
            "uri": open.uri,
            "model": open.model_uri,
            "query": open.query,
            "step": open.step,
            "steps": open.trace.steps.len(),
            "simulation": open.simulated,
        }),
    };
    shared
        .client
        .send_notification::<TraceChanged>(params)
        .await;
}

/// Opens the trace's document in editors that have no view of their own for it.
async fn show(shared: &Arc<Shared>, open: &OpenTrace, answer: &Value) {
    let capabilities = shared.capabilities();
    if capabilities.extensions || !capabilities.show_document || shared.trace_is_shown(open) {
        return;
    }
    let uri = answer["document"]["uri"].as_str().and_then(to_proto::uri);
    if let Some(uri) = uri {
        let client = shared.client.clone();
        // A request: the answer to the command must not wait for it.
        tokio::spawn(async move {
            let params = lsp::ShowDocumentParams {
                uri,
                external: Some(false),
                take_focus: Some(false),
                selection: None,
            };
            let _ = client.show_document(params).await;
        });
    }
}

/// Whether the text means something else than what the trace was found in. Analyses: for threads
/// that may take long.
pub(crate) fn is_stale(shared: &Shared, open: &OpenTrace) -> bool {
    let Some(asked) = shared.store.get(&open.uri) else {
        return true;
    };
    if open.simulated {
        let model = shared.store.model_of(&asked);
        let now = model.and_then(|model| crate::meaning::of_model(&model, &shared.version));
        return now != Some(open.meaning);
    }
    let sites = shared.query_sites(&asked).map(|(_, sites)| sites);
    let fits = |s: &QuerySite| s.meaning == open.meaning && s.text == open.query;
    !sites.is_some_and(|sites| sites.iter().any(fits))
}

/// After an edit of `uri` or of its model: says so if the open trace became stale, or fresh again.
pub(crate) async fn edited(shared: &Arc<Shared>, uri: &str) {
    let Some(open) = shared.trace() else { return };
    if open.uri != uri && open.model_uri != uri {
        return;
    }
    let worker = Arc::clone(shared);
    let judged = shared.pool.run(uri, move || is_stale(&worker, &open)).await;
    if let Some(stale) = judged
        && shared.set_trace_stale(stale)
    {
        shared.runs.touch();
        announce(shared, stale).await;
    }
}

/// The hints of the open trace in `snapshot`, none if the text means something else by now.
pub(crate) fn hints_in(shared: &Shared, snapshot: &Arc<Snapshot>) -> Vec<Hint> {
    match shared.trace().filter(|t| t.model_uri == snapshot.uri) {
        Some(open) if !is_stale(shared, &open) => hints(&open.trace, open.step, snapshot),
        _ => Vec::new(),
    }
}
