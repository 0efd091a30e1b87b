//! What panels draw: templates and the open trace, laid out by the same code as `zonelens render`.

use crate::open_trace::OpenTrace;
use crate::server::Server;
use crate::to_proto::Place;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::trace_text;
use zonelens_ide::trace::{edge_places, line_of};
use zonelens_ide::{Snapshot, Workspace};
use zonelens_render::{chart, diagram};
use zonelens_syntax::gesture::{self, LabelText, TemplateTexts};
use zonelens_syntax::span::Span;

/// What `zonelens/chart` is asked with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChartParams {
    /// The processes to show; all without it.
    processes: Option<BTreeSet<String>>,
}

impl Server {
    /// `zonelens/drawing`: the templates of a document's model, laid out.
    pub(crate) async fn drawing(&self, params: lsp::TextDocumentIdentifier) -> Result<Value> {
        let snapshot = self.snapshot(&params.uri)?;
        let encoding = self.shared.encoding();
        let drawn = self.compute(params.uri.as_str(), move |shared| {
            let model = shared.store.model_of(&snapshot)?;
            // Many positions are asked for: with the table of lines each is cheap.
            model.lines();
            let place = Place {
                snapshot: &model,
                encoding,
            };
            let range = |span: Span| diagram::Range {
                start: position(place, span.start),
                end: position(place, span.end),
            };
            let network = model.network().map(|(network, _)| network);
            let drawing = diagram::diagram(model.file(), network, &range);
            let (texts, refused) = match gesture::texts(model.file()) {
                Ok(all) => (all, None),
                Err(why) => (Vec::new(), Some(why)),
            };
            let texts = texts
                .iter()
                .map(|t| (t.template.clone(), written(t, &range)));
            Some(json!({
                "model": model.uri, "version": model.version,
                "templates": drawing.templates, "processes": drawing.processes,
                "texts": texts.collect::<Map<_, _>>(), "refused": refused,
            }))
        });
        let none = || Error::invalid_params("there is no model next to this query file");
        drawn.await?.ok_or_else(none)
    }

    /// `zonelens/chart`: the open trace in words and as a sequence chart.
    pub(crate) async fn chart(&self, params: ChartParams) -> Result<Value> {
        let open = self.shared.trace();
        let open = open.ok_or_else(|| Error::invalid_params("no trace is open"))?;
        let uri = open.uri.clone();
        let drawn = self.compute(&uri, move |shared| {
            let snapshot = shared.store.get(&open.uri)?;
            let model = shared.store.model_of(&snapshot)?;
            Some(whole(&open, &model, params.processes.as_ref()))
        });
        let gone = || Error::invalid_params("the document of the trace is not open");
        drawn.await?.ok_or_else(gone)
    }
}

/// The texts of a template as they are written, for those who edit them.
fn written(texts: &TemplateTexts, range: &dyn Fn(Span) -> diagram::Range) -> Value {
    let label = |l: &LabelText| {
        json!({
            "of": l.of, "label": l.label, "text": l.text, "range": range(l.span),
            "place": l.place,
        })
    };
    let labels: Vec<Value> = texts.labels.iter().map(label).collect();
    json!({"parameters": texts.parameters, "labels": labels})
}

fn position(place: Place<'_>, offset: u32) -> diagram::Position {
    let at = place.position(offset);
    diagram::Position {
        line: at.line,
        character: at.character,
    }
}

fn whole(open: &OpenTrace, model: &Arc<Snapshot>, only: Option<&BTreeSet<String>>) -> Value {
    let trace = &open.trace;
    let texts = trace_text::steps(trace);
    let steps: Vec<Value> = trace
        .steps
        .iter()
        .zip(&texts)
        .enumerate()
        .map(|(i, (step, text))| {
            let taken = step.transition.as_ref().map_or(&[][..], |t| &t.edges);
            let places = edge_places(model, trace, i);
            let edges: Vec<Value> = taken
                .iter()
                .zip(places)
                .map(|(e, place)| {
                    let line = place
                        .mark
                        .map_or(e.line.saturating_sub(1), |s| line_of(model, s));
                    let number = place.mark.map(|_| place.number);
                    json!({
                        "process": e.process, "from": e.from, "to": e.to, "line": line,
                        "edge": number,
                    })
                })
                .collect();
            json!({
                "time": text.time.to_string(), "delay": text.delay.to_string(),
                "action": text.action, "changes": text.changes, "edges": edges,
                "state": step.state,
            })
        })
        .collect();
    json!({
        "uri": open.uri, "model": open.model_uri, "query": open.query, "step": open.step,
        "summary": trace_text::summary(trace), "steps": steps,
        "chart": chart::chart(trace, only),
    })
}
