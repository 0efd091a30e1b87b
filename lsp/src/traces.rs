//! The trace that is open, and the commands that walk through it.

use crate::commands::{self, Argument};
use crate::document::Snapshot;
use crate::features::trace::{Hint, Move, OpenTrace, hints};
use crate::queries::QuerySite;
use crate::runs::View;
use crate::shared::Shared;
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs a trace command; `Err` is a sentence for people.
pub async fn command(
    shared: &Arc<Shared>,
    command: &str,
    argument: Argument,
) -> Result<Value, String> {
    match command {
        commands::TRACE_OPEN => {
            let open = find(shared, argument).await?;
            let answer = with_model(shared, &open, true).await?;
            shared.set_trace(Some(open));
            Ok(answer)
        }
        commands::TRACE_CLOSE => {
            shared.set_trace(None);
            Ok(Value::Null)
        }
        commands::TRACE_EXPORT => {
            let open = match argument.uri {
                Some(_) => find(shared, argument).await?,
                None => current(shared)?,
            };
            Ok(json!({ "text": open.document()["text"], "json": open.trace() }))
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
            let answer = with_model(shared, &open, false).await?;
            shared.set_trace(Some(open));
            Ok(answer)
        }
    }
}

fn current(shared: &Shared) -> Result<OpenTrace, String> {
    shared.trace().ok_or_else(|| "no trace is open".to_owned())
}

/// The trace of a query's present answer.
async fn find(shared: &Arc<Shared>, argument: Argument) -> Result<OpenTrace, String> {
    let uri = argument.uri.ok_or("the command needs {\"uri\": …}")?;
    let snapshot = shared.store.get(&uri).ok_or("the document is not open")?;
    let worker = Arc::clone(shared);
    let found = tokio::task::spawn_blocking(move || worker.query_sites(&snapshot)).await;
    let (model, sites) = found.ok().flatten().ok_or("there is no model here")?;
    let asked = sites.iter().map(QuerySite::site).collect();
    let views = shared.runs.views(&uri, asked).await;
    let line = argument.line.map(|line| {
        let above = sites.iter().rev().find(|site| site.line <= line + 1);
        above.or(sites.first()).map_or(0, |site| site.line)
    });
    let wanted = |site: &QuerySite| match &argument.query {
        Some(query) => *query == site.text,
        None => line.is_none_or(|line| line == site.line),
    };
    for (site, view) in sites.iter().zip(views) {
        if let View::Done {
            report,
            fresh: true,
            ..
        } = view
            && report.trace.is_some()
            && wanted(site)
        {
            return Ok(OpenTrace {
                uri,
                model_uri: model.uri.clone(),
                query: site.text.clone(),
                meaning: site.meaning,
                report,
                step: 0,
            });
        }
    }
    Err("this query has no trace that fits the text; verify it first".to_owned())
}

/// Describes the current step against the model's present text.
async fn with_model(shared: &Arc<Shared>, open: &OpenTrace, whole: bool) -> Result<Value, String> {
    let snapshot = shared
        .store
        .get(&open.uri)
        .ok_or("the document is not open")?;
    let (worker, open) = (Arc::clone(shared), open.clone());
    let describe = move || -> Option<Value> {
        let model = worker.store.model_of(&snapshot)?;
        let mut answer = open.describe(&model);
        if whole {
            answer["document"] = open.document();
        }
        Some(answer)
    };
    let answer = tokio::task::spawn_blocking(describe).await;
    answer
        .ok()
        .flatten()
        .ok_or_else(|| "there is no model here".to_owned())
}

/// The hints of the open trace in `snapshot`, none if the text means something else by now.
pub fn hints_in(shared: &Shared, snapshot: &Arc<Snapshot>) -> Vec<Hint> {
    let Some(open) = shared.trace().filter(|t| t.model_uri == snapshot.uri) else {
        return Vec::new();
    };
    let Some(asked) = shared.store.get(&open.uri) else {
        return Vec::new();
    };
    let fits = shared.query_sites(&asked).is_some_and(|(_, sites)| {
        sites
            .iter()
            .any(|s| s.meaning == open.meaning && s.text == open.query)
    });
    if fits {
        hints(&open, snapshot)
    } else {
        Vec::new()
    }
}
