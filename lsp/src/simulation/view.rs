//! The state of a simulation as data, with places in the text of the model.

use super::thread::Held;
use crate::to_proto::Place;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use zonelens_analysis::report::Trace;
use zonelens_analysis::simulation::WalkRequest;
use zonelens_ide::trace::edge_place;
use zonelens_interpreter::Limit;

use crate::position::Encoding;

/// A simulation as it is shown.
pub(super) struct View {
    /// What commands answer.
    pub state: Value,
    /// The walk.
    pub trace: Arc<Trace>,
    /// The step of it that is shown.
    pub step: usize,
    /// Asks for the zone, if it is not known.
    pub question: Option<WalkRequest>,
}

/// Fields whose keys are names of the model, or that have no places.
const WITHOUT_PLACES: [&str; 4] = ["state", "previous", "select", "zone"];

/// What `held` is now.
pub(super) fn view(held: &mut Held, number: u64, encoding: Encoding, limit: Limit<'_>) -> View {
    let (simulation, trace) = held.with_places(|session, position| {
        let simulation = session.view(position, limit);
        let simulation =
            simulation.unwrap_or_else(|why| session.view_without_choices(position, why));
        (simulation, session.whole_trace(position))
    });
    let session = &held.session;
    let question = session.zone_question();
    // Time since the last transition is a step of its own at the end of the trace.
    let waits = trace.steps.len() > session.len() + 1;
    let step = session.step() + usize::from(waits);
    let previous = step
        .checked_sub(1)
        .and_then(|before| trace.steps.get(before));
    let previous = json!(previous.map(|s| &s.state));
    let mut state = serde_json::to_value(&simulation).unwrap_or_default();
    let places = Places {
        place: Place {
            snapshot: &held.model,
            encoding,
        },
        fresh: held.stale.is_none(),
    };
    places.add(&mut state);
    if let Value::Object(state) = &mut state {
        state.insert("simulation".into(), json!(number));
        state.insert("revision".into(), json!(question.id));
        state.insert("version".into(), json!(held.model.version));
        state.insert("stale".into(), json!(held.stale.is_some()));
        state.insert("previous".into(), previous);
        if let Some(why) = &held.stale {
            state.insert("message".into(), json!(why));
        }
    }
    View {
        state,
        trace: Arc::new(trace),
        step,
        question: (!session.has_zone()).then_some(question),
    }
}

struct Places<'a> {
    place: Place<'a>,
    /// Whether the text is the present one: in another one nothing has a place.
    fresh: bool,
}

impl Places<'_> {
    /// Adds the places of edges and conditions to all of `value`.
    fn add(&self, value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(|own| self.add(own)),
            Value::Object(fields) => {
                if let Some((range, labels, number)) = self.edge(fields) {
                    fields.insert("range".into(), range);
                    fields.insert("labels".into(), labels);
                    fields.insert("edge".into(), number);
                } else if fields.contains_key("kind") && fields.contains_key("column") {
                    fields.insert("range".into(), self.condition(fields));
                }
                for (name, own) in fields.iter_mut() {
                    if !WITHOUT_PLACES.contains(&name.as_str()) {
                        self.add(own);
                    }
                }
            }
            _ => {}
        }
    }

    /// The place of an edge, those of its labels, and which edge of its template's text it is.
    fn edge(&self, fields: &Map<String, Value>) -> Option<(Value, Value, Value)> {
        let index = |name: &str| usize::try_from(fields.get(name)?.as_u64()?).ok();
        let (process, edge) = (index("process_index")?, index("edge_index")?);
        let found = match self.fresh {
            true => edge_place(self.place.snapshot, process, edge),
            false => None,
        };
        let range = found.as_ref().and_then(|place| place.mark);
        let range = range.map(|span| self.place.range(span));
        let labels = found.iter().flat_map(|place| &place.labels);
        let labels: Vec<_> = labels.map(|span| self.place.range(*span)).collect();
        let number = found.map(|place| place.number);
        Some((json!(range), json!(labels), json!(number)))
    }

    /// The place where a condition starts.
    fn condition(&self, fields: &Map<String, Value>) -> Value {
        let number = |name: &str| usize::try_from(fields.get(name)?.as_u64()?.checked_sub(1)?).ok();
        let rope = &self.place.snapshot.rope;
        let (Some(line), Some(column)) = (number("line"), number("column")) else {
            return Value::Null;
        };
        if !self.fresh || line >= rope.len_lines() {
            return Value::Null;
        }
        let at = (rope.line_to_char(line) + column).min(rope.len_chars());
        let at = self.place.position(rope.char_to_byte(at) as u32);
        json!({ "start": at, "end": at })
    }
}
