//! Traces as data, with places in the model's present text.

use crate::open_trace::OpenTrace;
use crate::to_proto::Place;
use serde_json::{Value, json};
use zonelens_analysis::network::Process;
use zonelens_analysis::report::{TraceEdge, TraceTransition};
use zonelens_analysis::trace_text;
use zonelens_ide::Snapshot;
use zonelens_ide::trace::{EdgePlace, edge_places, edges_of};
use zonelens_syntax::span::Span;

/// The current step.
pub fn step(open: &OpenTrace, model: Place<'_>) -> Value {
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
            let line = place.edge.map(|span| model.position(span.start).line);
            let line = line.unwrap_or(edge.line.saturating_sub(1));
            json!({ "text": edge.text, "line": line, "range": range(model, place.edge) })
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

/// All of it, for panels.
pub fn whole(open: &OpenTrace, model: Place<'_>, document: Value) -> Value {
    let texts = trace_text::steps(&open.trace);
    let steps: Vec<Value> = open
        .trace
        .steps
        .iter()
        .zip(&texts)
        .enumerate()
        .map(|(number, (step, text))| {
            json!({
                "time": text.time.to_string(),
                "delay": text.delay.to_string(),
                "action": text.action,
                "changes": text.changes,
                "transition": step.transition.as_ref().map(|t| transition(open, model, number, t)),
                "state": step.state,
            })
        })
        .collect();
    json!({
        "uri": open.uri,
        "model": open.model_uri,
        "query": open.query,
        "version": model.snapshot.version,
        "step": open.step,
        "kind": open.trace.kind,
        "cycle_start": open.trace.cycle_start,
        "processes": processes(model),
        "document": document,
        "steps": steps,
    })
}

fn transition(open: &OpenTrace, model: Place<'_>, number: usize, t: &TraceTransition) -> Value {
    let places = edge_places(model.snapshot, &open.trace, number);
    let edges = edges_of(&open.trace, number).iter().zip(&places);
    let edges: Vec<Value> = edges.map(|(e, place)| edge(model, e, place)).collect();
    json!({ "channel": t.channel, "edges": edges })
}

fn edge(model: Place<'_>, edge: &TraceEdge, place: &EdgePlace) -> Value {
    let at = place.edge.map(|span| model.position(span.start));
    json!({
        "process": edge.process,
        "template": template_of(model.snapshot, edge.process_index),
        "from": edge.from,
        "to": edge.to,
        "select": edge.select,
        "line": at.map_or(edge.line, |p| p.line + 1),
        "column": edge.column,
        "edge": place.number,
        "range": range(model, place.edge),
        "fromRange": range(model, place.from),
        "toRange": range(model, place.to),
    })
}

fn processes(model: Place<'_>) -> Vec<Value> {
    let Some((network, _)) = model.snapshot.network() else {
        return Vec::new();
    };
    let one = |(index, process): (usize, &Process)| {
        json!({
            "name": process.name,
            "template": template_of(model.snapshot, index as u32),
            "range": range(model, Some(process.span)),
        })
    };
    network.processes.iter().enumerate().map(one).collect()
}

/// The template a process is made from.
pub fn template_of(model: &Snapshot, process: u32) -> Option<&str> {
    let (network, _) = model.network()?;
    let family = network.processes.get(process as usize)?.family;
    Some(&network.families.get(family as usize)?.template)
}

fn range(place: Place<'_>, span: Option<Span>) -> Value {
    span.map_or(Value::Null, |span| json!(place.range(span)))
}
