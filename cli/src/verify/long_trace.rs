//! Long traces in JSON: from 10,000 steps on, each step contains only what it changes.
//!
//! A state of a large model takes kilobytes, and a trace with half a million states took gigabytes.
//! Everything that a step does not change is left out: locations, variables, and clocks that only
//! grow by the delay of the step.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;
use zonelens_analysis::report::{QueryReport, TraceKind, TraceState, TraceStep};

/// The number of steps from which on a trace is written as changes.
const LONG: usize = 10_000;

/// A report on a model as one line. With `full`, with whole states even if the trace is long.
pub(super) fn to_json(
    model: &Path,
    report: &QueryReport,
    full: bool,
) -> serde_json::Result<String> {
    let name = serde_json::to_string(&model.to_string_lossy())?;
    let report = object(report, full)?;
    Ok(match report.strip_prefix('{') {
        Some(rest) => format!("{{\"model\":{name},{rest}"),
        None => report,
    })
}

fn object(report: &QueryReport, full: bool) -> serde_json::Result<String> {
    match &report.trace {
        // The first step is the initial state.
        Some(trace) if !full && trace.steps.len() > LONG + 1 => {
            // Steps are written one by one, so that half a million of them are not in memory twice.
            // The trace is the last field.
            let rest = serde_json::to_string(&report.without_trace())?;
            let Some(rest) = rest.strip_suffix("null}") else {
                return serde_json::to_string(report);
            };
            let trace = serde_json::to_string(&Changes {
                kind: trace.kind,
                cycle_start: trace.cycle_start,
                differences: true,
                steps: Steps(&trace.steps),
            })?;
            Ok(format!("{rest}{trace}}}"))
        }
        _ => serde_json::to_string(report),
    }
}

/// A trace in which each step has its changes instead of the state after it.
#[derive(Serialize)]
struct Changes<'a> {
    kind: TraceKind,
    cycle_start: Option<usize>,
    differences: bool,
    steps: Steps<'a>,
}

struct Steps<'a>(&'a [TraceStep]);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.0.first().cloned();
        let pairs = self
            .0
            .windows(2)
            .map(|pair| change(&pair[0].state, &pair[1]));
        serializer.collect_seq(first.into_iter().chain(pairs))
    }
}

fn change(before: &TraceState, step: &TraceStep) -> TraceStep {
    TraceStep {
        delay: step.delay.clone(),
        transition: step.transition.clone(),
        state: TraceState {
            locations: others(&before.locations, &step.state.locations),
            variables: others(&before.variables, &step.state.variables),
            clocks: clocks(&before.clocks, step),
        },
    }
}

/// The entries that differ from the previous ones.
fn others<T: PartialEq + Clone>(
    before: &BTreeMap<String, T>,
    after: &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let changed = after
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(value));
    let changed = changed.map(|(name, value)| (name.clone(), value.clone()));
    changed.collect()
}

/// The clocks that did not only grow by the delay.
fn clocks(before: &BTreeMap<String, String>, step: &TraceStep) -> BTreeMap<String, String> {
    let delay = number(&step.delay);
    let grown = |name: &String, value: &String| {
        let (then, now) = (before.get(name).and_then(|v| number(v)), number(value));
        match (then, now, delay) {
            (Some((a, b)), Some((n, d)), Some((p, q))) => {
                // a / b + p / q = n / d
                let sum = a.checked_mul(q).zip(p.checked_mul(b));
                let sum = sum.and_then(|(x, y)| x.checked_add(y)?.checked_mul(d));
                let now = b.checked_mul(q).and_then(|bq| n.checked_mul(bq));
                sum.is_some() && sum == now
            }
            _ => false,
        }
    };
    let set = step
        .state
        .clocks
        .iter()
        .filter(|(name, value)| !grown(name, value));
    set.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Parses `3` or `3/2`.
fn number(text: &str) -> Option<(i128, i128)> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    Some((above.parse().ok()?, below.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use zonelens_analysis::report::{Trace, Verdict};

    fn step(delay: &str, location: &str, n: i64, clocks: [&str; 2]) -> TraceStep {
        let [x, y] = clocks.map(str::to_owned);
        TraceStep {
            delay: delay.to_owned(),
            transition: None,
            state: TraceState {
                locations: [("P".to_owned(), location.to_owned())].into(),
                variables: [("n".to_owned(), n), ("m".to_owned(), 1)].into(),
                clocks: [("x".to_owned(), x), ("y".to_owned(), y)].into(),
            },
        }
    }

    fn report(steps: usize) -> QueryReport {
        let mut report = QueryReport::without_run("E<> P.b", 1, Verdict::Satisfied, None);
        let mut all = vec![
            step("0", "a", 0, ["0", "0"]),
            step("3/2", "a", 1, ["3/2", "0"]),
        ];
        all.resize(steps + 1, step("1/2", "b", 1, ["2", "1/2"]));
        report.trace = Some(Trace {
            kind: TraceKind::Path,
            cycle_start: None,
            steps: all,
        });
        report
    }

    #[test]
    fn long_traces_give_what_changes() {
        let read = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
        let long = report(LONG + 1);
        let model = Path::new("a \"b\".xta");
        let value = read(to_json(model, &long, false).expect("written"));
        assert_eq!(value["model"], "a \"b\".xta");
        let trace = &value["trace"];
        assert_eq!(trace["differences"], Value::Bool(true));
        assert_eq!(trace["steps"].as_array().map(Vec::len), Some(LONG + 2));
        let state = |k: usize| &trace["steps"][k]["state"];
        assert_eq!(state(0)["variables"]["m"], 1);
        assert_eq!(
            *state(1),
            serde_json::json!({"locations": {}, "variables": {"n": 1}, "clocks": {"y": "0"}})
        );
        assert_eq!(
            *state(2),
            serde_json::json!({"locations": {"P": "b"}, "variables": {}, "clocks": {}})
        );
        // On request, and in shorter traces, the states are complete.
        for text in [
            to_json(model, &long, true),
            to_json(model, &report(LONG), false),
        ] {
            let value = read(text.expect("written"));
            assert_eq!(value["trace"].get("differences"), None);
            assert_eq!(value["trace"]["steps"][2]["state"]["clocks"]["x"], "2");
        }
    }
}
