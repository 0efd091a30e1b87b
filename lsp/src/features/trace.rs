//! A trace walked through in the text of the model: hints for the current step, and the trace as a document.

use crate::document::Snapshot;
use crate::meaning::Meaning;
use crate::uri;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use zonelens_analysis::network::{Network, Variable};
use zonelens_analysis::report::{QueryReport, Trace, TraceState};
use zonelens_analysis::trace_text::{self, StepText};
use zonelens_syntax::span::Span;

/// More processes or values than this in one hint are only counted.
const MAX_IN_HINT: usize = 4;

/// The trace that is shown.
#[derive(Clone)]
pub struct OpenTrace {
    /// The document of the query.
    pub uri: String,
    /// The document of the model.
    pub model_uri: String,
    /// The formula.
    pub query: String,
    /// What the trace belongs to; text that means something else does not show it.
    pub meaning: Meaning,
    /// The answer with the trace.
    pub report: Arc<QueryReport>,
    /// The current step.
    pub step: usize,
}

/// Where to go in a trace.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    /// One step on.
    Next,
    /// One step back.
    Previous,
    /// To the start.
    First,
    /// To the end.
    Last,
    /// To a step.
    To(usize),
}

impl OpenTrace {
    /// The trace itself.
    pub fn trace(&self) -> Option<&Trace> {
        self.report.trace.as_ref()
    }

    /// Moves the current step, never past an end.
    pub fn go(&mut self, to: Move) {
        let last = self.trace().map_or(0, |t| t.steps.len().saturating_sub(1));
        self.step = match to {
            Move::Next => self.step + 1,
            Move::Previous => self.step.saturating_sub(1),
            Move::First => 0,
            Move::Last => last,
            Move::To(step) => step,
        }
        .min(last);
    }

    /// The current step as data, with the places of its edges in `model`'s present text.
    pub fn describe(&self, model: &Snapshot) -> Value {
        let Some(trace) = self.trace() else {
            return Value::Null;
        };
        let steps = trace_text::steps(trace);
        let Some(step) = steps.get(self.step) else {
            return Value::Null;
        };
        let spans = edge_spans(model, trace, self.step);
        let edges: Vec<Value> = step
            .edges
            .iter()
            .enumerate()
            .map(|(i, edge)| {
                let span = spans.get(i).copied().flatten();
                let line = span.map_or(edge.line.saturating_sub(1), |s| line_of(model, s));
                json!({ "text": edge.text, "line": line })
            })
            .collect();
        json!({
            "uri": self.uri,
            "model": self.model_uri,
            "query": self.query,
            "step": self.step,
            "steps": trace.steps.len(),
            "time": step.time.to_string(),
            "delay": step.delay.to_string(),
            "action": step.action,
            "edges": edges,
            "changes": step.changes,
            "state": trace.steps.get(self.step).map(|s| &s.state),
        })
    }

    /// The whole trace as text, with the 0-based line each step starts on.
    pub fn document(&self) -> Value {
        let Some(trace) = self.trace() else {
            return Value::Null;
        };
        let heading = format!("{}\n{}\n\n", self.query, trace_text::summary(trace));
        let mut text = heading.clone();
        let mut starts = Vec::new();
        let body = trace_text::to_text(trace, &uri::name(&self.model_uri));
        let mut next = 0;
        for (line, part) in (heading.lines().count()..).zip(body.lines()) {
            // A step starts with its number, everything else of it is indented deeper.
            let number = part.split_whitespace().next();
            if number == Some(&next.to_string()) && part.contains("t = ") {
                starts.push(line);
                next += 1;
            }
        }
        text.push_str(&body);
        json!({ "text": text, "lines": starts })
    }
}

/// A hint in the text of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// After which byte.
    pub offset: u32,
    /// What it says.
    pub label: String,
}

/// The hints of the current step in the text of `model`.
pub fn hints(open: &OpenTrace, model: &Snapshot) -> Vec<Hint> {
    let (Some(trace), Some((network, _))) = (open.trace(), model.network()) else {
        return Vec::new();
    };
    let texts = trace_text::steps(trace);
    let (Some(step), Some(text)) = (trace.steps.get(open.step), texts.get(open.step)) else {
        return Vec::new();
    };
    let mut out = edge_hints(open.step, text, &edge_spans(model, trace, open.step), trace);
    out.extend(location_hints(network, &step.state));
    out.extend(value_hints(network, &step.state));
    out.sort_by_key(|h| h.offset);
    out
}

/// The present places of the edges of a step: by process and edge number, as lines may have moved.
pub(crate) fn edge_spans(model: &Snapshot, trace: &Trace, step: usize) -> Vec<Option<Span>> {
    let edges = trace
        .steps
        .get(step)
        .and_then(|s| s.transition.as_ref())
        .map_or(&[][..], |t| &t.edges);
    let network = model.network().map(|(network, _)| network);
    let span = |process: u32, edge: u32| -> Option<Span> {
        let process = network?.processes.get(process as usize)?;
        process.edges.get(edge as usize)?.spans.first().copied()
    };
    edges
        .iter()
        .map(|e| span(e.process_index, e.edge_index))
        .collect()
}

fn edge_hints(number: usize, text: &StepText, spans: &[Option<Span>], trace: &Trace) -> Vec<Hint> {
    let edges = trace
        .steps
        .get(number)
        .and_then(|s| s.transition.as_ref())
        .map_or(&[][..], |t| &t.edges);
    edges
        .iter()
        .zip(spans)
        .filter_map(|(edge, span)| {
            Some(Hint {
                offset: (*span)?.start,
                label: format!("{} {}, t = {}", circled(number), edge.process, text.time),
            })
        })
        .collect()
}

fn location_hints(network: &Network, state: &TraceState) -> Vec<Hint> {
    let mut there: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for process in &network.processes {
        let Some(name) = state.locations.get(process.name.as_str()) else {
            continue;
        };
        let location = process.locations.iter().find(|l| l.name == *name);
        if let Some(location) = location {
            let present = there.entry(location.span.end).or_default();
            present.push(&process.name);
        }
    }
    let hint = |(offset, names): (u32, Vec<&str>)| Hint {
        offset,
        label: format!("◉ {}", some(&names)),
    };
    there.into_iter().map(hint).collect()
}

fn value_hints(network: &Network, state: &TraceState) -> Vec<Hint> {
    let mut said: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for variable in &network.variables {
        for (name, value) in values_of(variable, state) {
            let values = said.entry(variable.span.end).or_default();
            values.push(format!("{name} = {value}"));
        }
    }
    let hint = |(offset, values): (u32, Vec<String>)| {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        Hint {
            offset,
            label: some(&values),
        }
    };
    said.into_iter().map(hint).collect()
}

/// The values of a variable: its own, or those of its elements and fields.
fn values_of<'a>(
    variable: &'a Variable,
    state: &'a TraceState,
) -> impl Iterator<Item = (&'a str, String)> {
    let belongs = |name: &str| {
        name.strip_prefix(variable.name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
    };
    let integers = state
        .variables
        .iter()
        .map(|(n, v)| (n.as_str(), v.to_string()));
    let clocks = state.clocks.iter().map(|(n, v)| (n.as_str(), v.clone()));
    integers
        .chain(clocks)
        .filter(move |(name, _)| belongs(name))
}

fn some(names: &[&str]) -> String {
    let shown = names.len().min(MAX_IN_HINT);
    let mut out = names[..shown].join(", ");
    if names.len() > shown {
        out.push_str(&format!(" and {} more", names.len() - shown));
    }
    out
}

/// ① … ⑳, then plain numbers in parentheses.
fn circled(number: usize) -> String {
    match u32::try_from(number) {
        Ok(n @ 1..=20) => char::from_u32(0x2460 + n - 1).map_or_else(String::new, String::from),
        _ => format!("({number})"),
    }
}

/// The 0-based line of a span of the model's present text.
pub(crate) fn line_of(model: &Snapshot, span: Span) -> u32 {
    let offset = (span.start as usize).min(model.rope.len_bytes());
    model.rope.byte_to_line(offset) as u32
}
