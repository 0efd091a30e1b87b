//! Templates as data for a diagram, with places in the text and where the open trace stands.

use crate::open_trace::OpenTrace;
use crate::to_proto::Place;
use crate::trace_data::template_of;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use zonelens_ide::diagram::{self, Arrow, Drawing, Node, Point, Template};
use zonelens_ide::trace::{edge_places, edges_of};

/// Where the current step of a trace is: by template and location, and by template and edge.
#[derive(Default)]
struct Step {
    here: BTreeMap<(String, String), Vec<String>>,
    taken: BTreeMap<(String, usize), Vec<String>>,
}

/// All templates of a model; `trace` is one of this model that fits its text.
pub fn to_json(model: Place<'_>, trace: Option<&OpenTrace>) -> Value {
    let step = trace.map(|t| step(model, t)).unwrap_or_default();
    let templates = diagram::templates(model.snapshot);
    let list: Vec<Value> = templates
        .iter()
        .map(|t| template(model, t, &step))
        .collect();
    json!({
        "version": model.snapshot.version,
        "model": model.snapshot.uri,
        "templates": list,
    })
}

fn step(model: Place<'_>, open: &OpenTrace) -> Step {
    let mut out = Step::default();
    let Some((network, _)) = model.snapshot.network() else {
        return out;
    };
    let state = open.trace.steps.get(open.step).map(|s| &s.state);
    for (index, process) in network.processes.iter().enumerate() {
        let location = state.and_then(|s| s.locations.get(process.name.as_str()));
        let template = template_of(model.snapshot, index as u32);
        if let (Some(location), Some(template)) = (location, template) {
            let key = (template.to_owned(), location.clone());
            out.here
                .entry(key)
                .or_default()
                .push(process.name.to_string());
        }
    }
    let places = edge_places(model.snapshot, &open.trace, open.step);
    for (edge, place) in edges_of(&open.trace, open.step).iter().zip(places) {
        if let Some(template) = template_of(model.snapshot, edge.process_index) {
            let key = (template.to_owned(), place.number as usize);
            out.taken.entry(key).or_default().push(edge.process.clone());
        }
    }
    out
}

fn template(model: Place<'_>, t: &Template, step: &Step) -> Value {
    let network = model.snapshot.network().map(|(n, _)| n);
    let of_template = |family: u32| {
        let family = network.and_then(|n| n.families.get(family as usize));
        family.is_some_and(|f| f.template == t.name.as_str())
    };
    let processes: Vec<&str> = network
        .iter()
        .flat_map(|n| &n.processes)
        .filter(|p| of_template(p.family))
        .map(|p| p.name.as_str())
        .collect();
    let locations: Vec<Value> = t
        .locations
        .iter()
        .map(|l| location(model, &t.name, l, step))
        .collect();
    let branchpoints: Vec<Value> = t
        .branchpoints
        .iter()
        .map(|b| {
            let (x, y) = split(b.drawing.at);
            json!({ "id": b.name, "x": x, "y": y, "range": model.range(b.span) })
        })
        .collect();
    let edges: Vec<Value> = t
        .edges
        .iter()
        .enumerate()
        .map(|(number, e)| edge(model, &t.name, number, e, step))
        .collect();
    json!({
        "name": t.name,
        "parameters": t.parameters,
        "range": model.range(t.span),
        "selectionRange": model.range(t.name_span),
        "processes": processes,
        "locations": locations,
        "branchpoints": branchpoints,
        "edges": edges,
    })
}

fn location(model: Place<'_>, template: &str, l: &Node, step: &Step) -> Value {
    let (x, y) = split(l.drawing.at);
    let key = (template.to_owned(), l.name.clone());
    json!({
        "id": l.name,
        "name": l.name,
        "anonymous": l.anonymous,
        "initial": l.initial,
        "urgent": l.urgent,
        "committed": l.committed,
        "invariant": l.invariant,
        "rate": l.rate,
        "comment": l.drawing.comment,
        "x": x,
        "y": y,
        "color": l.drawing.color,
        "labels": labels(&l.drawing),
        "range": model.range(l.span),
        "here": step.here.get(&key).cloned().unwrap_or_default(),
    })
}

fn edge(model: Place<'_>, template: &str, number: usize, e: &Arrow, step: &Step) -> Value {
    let label = |kind: &str| {
        let found = e.labels.iter().find(|(k, _)| *k == kind);
        found.map(|(_, text)| text.clone())
    };
    let key = (template.to_owned(), number);
    let nails: Vec<Value> = e.drawing.nails.iter().map(|n| point(*n)).collect();
    json!({
        "id": number,
        "source": e.source,
        "target": e.target,
        "controllable": e.controllable,
        "select": label("select"),
        "guard": label("guard"),
        "sync": label("sync"),
        "assign": label("assign"),
        "probability": label("probability"),
        "comment": e.drawing.comment,
        "color": e.drawing.color,
        "nails": nails,
        "labels": labels(&e.drawing),
        "range": model.range(e.span),
        "taken": step.taken.get(&key).cloned().unwrap_or_default(),
    })
}

fn labels(drawing: &Drawing) -> Option<Map<String, Value>> {
    let pairs = drawing
        .labels
        .iter()
        .map(|(kind, at)| (kind.clone(), point(*at)));
    Some(pairs.collect()).filter(|m: &Map<String, Value>| !m.is_empty())
}

fn point((x, y): Point) -> Value {
    json!({ "x": x, "y": y })
}

fn split(at: Option<Point>) -> (Option<i64>, Option<i64>) {
    (at.map(|p| p.0), at.map(|p| p.1))
}
