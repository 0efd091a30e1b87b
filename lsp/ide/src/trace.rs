//! A step of a trace in the text of the model: places of its edges, hints.

use crate::snapshot::Snapshot;
use std::collections::BTreeMap;
use zonelens_analysis::network::{Network, Variable};
use zonelens_analysis::report::{Trace, TraceEdge, TraceState};
use zonelens_analysis::trace_text::{self, StepText};
use zonelens_syntax::ast::{Edge, FileKind, MemberKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// More processes or values than this in one hint are only counted.
const MAX_IN_HINT: usize = 4;

/// Where an edge of a trace stands in the model's present text.
#[derive(Clone, Debug, Default)]
pub struct EdgePlace {
    /// What is marked: the edge; in XML its first label, or without one its ends.
    pub mark: Option<Span>,
    /// Select, guard, synchronisation, update and weight, as far as they are written.
    pub labels: Vec<Span>,
    /// Which edge of the template's text it is, from 0: its `id` in a diagram.
    pub number: u32,
}

/// The present places of the edges of a step: by process and edge number, as lines may have moved.
pub fn edge_places(model: &Snapshot, trace: &Trace, step: usize) -> Vec<EdgePlace> {
    let edges = edges_of(trace, step).iter();
    let place = |e: &TraceEdge| {
        let place = edge_place(model, e.process_index as usize, e.edge_index as usize);
        place.unwrap_or_default()
    };
    edges.map(place).collect()
}

/// The present place of an edge of the network.
pub fn edge_place(model: &Snapshot, process: usize, edge: usize) -> Option<EdgePlace> {
    let (network, _) = model.network()?;
    let edge = network.processes.get(process)?.edges.get(edge)?;
    let whole = edge.spans.first().copied();
    let written = whole.and_then(|span| edge_at(model, span));
    let labels = written.map(|(edge, base)| {
        let labels = edge.labels().into_iter();
        labels.map(|span| span.shift(base)).collect::<Vec<_>>()
    });
    let labels = labels.unwrap_or_default();
    // Nobody wants to read tags.
    let mark = match (model.kind, written) {
        (FileKind::Xml, Some((edge, base))) => {
            let ends = edge.source.iter().map(|source| source.span);
            let ends = ends.fold(edge.target.span, Span::cover).shift(base);
            labels.first().copied().or(Some(ends))
        }
        _ => whole,
    };
    Some(EdgePlace {
        mark,
        labels,
        number: edge.template_edge,
    })
}

/// The edge whose text is `span`, with the offset that its spans are relative to.
fn edge_at(model: &Snapshot, span: Span) -> Option<(&Edge, u32)> {
    let items = &model.file().items;
    let after = items.partition_point(|item| item.offset <= span.start);
    let item = items[..after].last()?;
    let list = members(item);
    let after = list.partition_point(|member| item.offset + member.offset <= span.start);
    let member = list[..after].last()?;
    match &member.node.kind {
        MemberKind::Edge(edge) => {
            let base = item.offset + member.offset;
            (edge.span.shift(base) == span).then_some((edge, base))
        }
        _ => None,
    }
}

/// The edges that a step takes.
pub fn edges_of(trace: &Trace, step: usize) -> &[TraceEdge] {
    trace
        .steps
        .get(step)
        .and_then(|s| s.transition.as_ref())
        .map_or(&[], |t| &t.edges)
}

/// A hint in the text of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// After which byte.
    pub offset: u32,
    /// What it says.
    pub label: String,
}

/// The hints of a step in the text of `model`.
pub fn hints(trace: &Trace, number: usize, model: &Snapshot) -> Vec<Hint> {
    let Some((network, _)) = model.network() else {
        return Vec::new();
    };
    let texts = trace_text::steps(trace);
    let (Some(step), Some(text)) = (trace.steps.get(number), texts.get(number)) else {
        return Vec::new();
    };
    let mut out = edge_hints(trace, number, text, model);
    out.extend(location_hints(network, &step.state));
    out.extend(value_hints(network, &step.state));
    out.sort_by_key(|h| h.offset);
    out
}

fn edge_hints(trace: &Trace, step: usize, text: &StepText, model: &Snapshot) -> Vec<Hint> {
    let edges = edges_of(trace, step).iter();
    edges
        .zip(edge_places(model, trace, step))
        .filter_map(|(edge, place)| {
            let number = circled(step);
            Some(Hint {
                offset: place.mark?.start,
                label: format!("{number} {}, t = {}", edge.process, text.time),
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
pub fn line_of(model: &Snapshot, span: Span) -> u32 {
    let offset = (span.start as usize).min(model.rope.len_bytes());
    model.rope.byte_to_line(offset) as u32
}
