//! A step of a trace as data, with places in the model's present text.

use crate::open_trace::OpenTrace;
use crate::to_proto::Place;
use serde_json::{Value, json};
use zonelens_analysis::trace_text;
use zonelens_ide::trace::edge_places;
use zonelens_syntax::span::Span;

/// The current step.
pub(crate) fn step(open: &OpenTrace, model: Place<'_>) -> Value {
    let steps = trace_text::steps(&open.trace);
    let Some(step) = steps.get(open.step) else {
        return Value::Null;
    };
    let places = edge_places(model.snapshot, &open.trace, open.step);
    let edges: Vec<Value> = step
        .edges
        .iter()
        .zip(&places)
        .map(|(edge, place)| {
            let line = place.mark.map(|span| model.position(span.start).line);
            let line = line.unwrap_or(edge.line.saturating_sub(1));
            let labels = place.labels.iter().map(|span| model.range(*span));
            json!({
                "text": edge.text, "line": line, "range": range(model, place.mark),
                "labels": labels.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "uri": open.uri,
        "model": open.model_uri,
        "query": open.query,
        "step": open.step,
        "steps": open.trace.steps.len(),
        "time": step.time.to_string(),
        "delay": step.delay.to_string(),
        "action": step.action,
        "edges": edges,
        "changes": step.changes,
        "state": open.trace.steps.get(open.step).map(|s| &s.state),
    })
}

fn range(place: Place<'_>, span: Option<Span>) -> Value {
    span.map_or(Value::Null, |span| json!(place.range(span)))
}
