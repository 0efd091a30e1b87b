//! Traces as text for users: the times and actions of the steps, and what changes in each.

use crate::report::{Trace, TraceEdge, TraceKind, TraceState, TraceStep};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What to do with a trace of UPPAAL.
pub const XTR: &str = "UPPAAL's `.xtr` traces are not read; verify the query here to get a trace that can be walked through, saved and drawn";

/// Whether a file name is that of a trace of UPPAAL.
pub fn is_xtr(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|e| e.eq_ignore_ascii_case("xtr"))
}

/// One step of a trace as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepText {
    /// Time since the start, after the step's delay.
    pub time: Time,
    /// Time that passes before the transition.
    pub delay: Time,
    /// The action of the step: the synchronisation, or the single edge taken.
    pub action: String,
    /// The edges taken, sender first.
    pub edges: Vec<EdgeText>,
    /// What differs from the previous state; in the first step, everything that is not zero.
    pub changes: Vec<String>,
}

/// An edge of a step as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeText {
    /// The process and the locations: `Fischer(1): idle → req`.
    pub text: String,
    /// 1-based line of the edge.
    pub line: u32,
    /// 1-based column of the edge.
    pub column: u32,
}

/// A point in time or a delay: a non-negative fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    numerator: i128,
    denominator: i128,
}

impl Time {
    /// Zero.
    pub const ZERO: Time = Time {
        numerator: 0,
        denominator: 1,
    };

    /// Parses `3` or `3/2`; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Time> {
        let (numerator, denominator) = match text.split_once('/') {
            Some((p, q)) => (p.trim().parse().ok()?, q.trim().parse().ok()?),
            None => (text.trim().parse().ok()?, 1),
        };
        (denominator > 0).then_some(Time {
            numerator,
            denominator,
        })
    }

    /// The sum in lowest terms; `None` if the numbers get too large.
    pub fn plus(self, other: Time) -> Option<Time> {
        let numerator = self
            .numerator
            .checked_mul(other.denominator)?
            .checked_add(other.numerator.checked_mul(self.denominator)?)?;
        let denominator = self.denominator.checked_mul(other.denominator)?;
        let divisor = gcd(numerator, denominator).max(1);
        Some(Time {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        })
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// The names of the variables of a trace that are booleans; the trace itself stores them as 1 and
/// 0.
pub type Booleans = BTreeSet<String>;

/// All steps as text. Invalid times count as zero.
pub fn steps(trace: &Trace) -> Vec<StepText> {
    steps_with(trace, &Booleans::new())
}

/// Like [`steps`], with the values of `booleans` as `true` and `false`.
pub fn steps_with(trace: &Trace, booleans: &Booleans) -> Vec<StepText> {
    let mut time = Time::ZERO;
    let mut before: Option<&TraceState> = None;
    let mut out = Vec::with_capacity(trace.steps.len());
    for step in &trace.steps {
        let delay = Time::parse(&step.delay).unwrap_or(Time::ZERO);
        time = time.plus(delay).unwrap_or(time);
        let changes = match before {
            None => initial(&step.state, booleans),
            Some(before) => differences(before, &step.state, delay, booleans),
        };
        out.push(StepText {
            time,
            delay,
            action: action(step, before.is_none()),
            edges: step
                .transition
                .iter()
                .flat_map(|t| &t.edges)
                .map(edge_text)
                .collect(),
            changes,
        });
        before = Some(&step.state);
    }
    out
}

fn action(step: &TraceStep, first: bool) -> String {
    match &step.transition {
        None if first => "start".to_owned(),
        None => "time passes".to_owned(),
        Some(transition) => {
            let who: Vec<&str> = transition.edges.iter().map(|e| &*e.process).collect();
            match (&transition.channel, who.split_first()) {
                (Some(channel), Some((sender, []))) => format!("{sender} sends {channel}"),
                (Some(channel), Some((sender, receivers))) => {
                    format!("{sender} → {} by {channel}", receivers.join(", "))
                }
                (_, Some((process, _))) => format!("{process} moves"),
                (_, None) => "moves".to_owned(),
            }
        }
    }
}

fn edge_text(edge: &TraceEdge) -> EdgeText {
    let select = if edge.select.is_empty() {
        String::new()
    } else {
        let values: Vec<String> = edge
            .select
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        format!(" with {}", values.join(", "))
    };
    EdgeText {
        text: format!("{}: {} → {}{select}", edge.process, edge.from, edge.to),
        line: edge.line,
        column: edge.column,
    }
}

/// The entries in natural order of their names: `P(2)` before `P(10)`.
fn in_order<T>(named: &BTreeMap<String, T>) -> Vec<(&String, &T)> {
    let mut out: Vec<_> = named.iter().collect();
    out.sort_by_cached_key(|(name, _)| {
        let parts = name
            .as_bytes()
            .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
        let key = |part: &[u8]| {
            let digits = if part[0].is_ascii_digit() {
                part.len()
            } else {
                0
            };
            (digits, part.to_vec())
        };
        parts.map(key).collect::<Vec<_>>()
    });
    out
}

/// A value as source text.
fn value(name: &str, value: i64, booleans: &Booleans) -> String {
    match value {
        0 if booleans.contains(name) => "false".to_owned(),
        1 if booleans.contains(name) => "true".to_owned(),
        _ => value.to_string(),
    }
}

fn initial(state: &TraceState, booleans: &Booleans) -> Vec<String> {
    let mut by_location: Vec<(&str, Vec<&str>)> = Vec::new();
    for (process, location) in in_order(&state.locations) {
        match by_location.iter_mut().find(|(l, _)| l == location) {
            Some((_, processes)) => processes.push(process),
            None => by_location.push((location, vec![process])),
        }
    }
    let locations = by_location
        .iter()
        .map(|(location, processes)| format!("{location}: {}", processes.join(", ")));
    let variables = in_order(&state.variables)
        .into_iter()
        .filter(|(_, number)| **number != 0)
        .map(|(name, number)| format!("{name} = {}", value(name, *number, booleans)));
    let clocks = in_order(&state.clocks)
        .into_iter()
        .filter(|(_, value)| *value != "0")
        .map(|(name, value)| format!("{name} = {value}"));
    locations.chain(variables).chain(clocks).collect()
}

/// Variables that changed, and clocks that changed by more than the passing of time.
fn differences(
    before: &TraceState,
    after: &TraceState,
    delay: Time,
    booleans: &Booleans,
) -> Vec<String> {
    let mut out = Vec::new();
    for (name, number) in in_order(&after.variables) {
        let new = || value(name, *number, booleans);
        match before.variables.get(name) {
            Some(old) if old == number => {}
            Some(old) => {
                let old = value(name, *old, booleans);
                out.push(format!("{name}: {old} → {}", new()));
            }
            None => out.push(format!("{name} = {}", new())),
        }
    }
    for (name, value) in in_order(&after.clocks) {
        let aged = before
            .clocks
            .get(name)
            .and_then(|old| Time::parse(old))
            .and_then(|old| old.plus(delay));
        if aged.is_none_or(|aged| Time::parse(value) != Some(aged)) {
            out.push(format!("{name} := {value}"));
        }
    }
    out
}

/// A one-line summary: the number of steps, and where the trace repeats.
pub fn summary(trace: &Trace) -> String {
    let count = trace.steps.len().saturating_sub(1);
    let steps = if count == 1 { "step" } else { "steps" };
    match (trace.kind, trace.cycle_start) {
        (TraceKind::Lasso, Some(start)) => {
            format!("{count} {steps}, then again from step {start} for ever")
        }
        _ => format!("{count} {steps}"),
    }
}

/// The whole trace as text; `file` is printed before each line number.
pub fn to_text(trace: &Trace, file: &str) -> String {
    to_text_with(trace, file, &Booleans::new())
}

/// Like [`to_text`], with the values of `booleans` as `true` and `false`.
pub fn to_text_with(trace: &Trace, file: &str, booleans: &Booleans) -> String {
    use fmt::Write;
    let steps = steps_with(trace, booleans);
    let number_width = steps.len().to_string().len().max(2);
    let time_width = steps
        .iter()
        .map(|s| s.time.to_string().len())
        .max()
        .unwrap_or(1);
    let indent = " ".repeat(number_width + time_width + 8);
    let mut out = String::new();
    for (number, step) in steps.iter().enumerate() {
        let _ = write!(
            out,
            "{number:>number_width$}  t = {:<time_width$}  {}",
            step.time.to_string(),
            step.action
        );
        if !step.delay.is_zero() {
            let _ = write!(out, "  (after {})", step.delay);
        }
        out.push('\n');
        for edge in &step.edges {
            let _ = writeln!(out, "{indent}{}  {file}:{}", edge.text, edge.line);
        }
        for change in &step.changes {
            let _ = writeln!(out, "{indent}  {change}");
        }
    }
    if let (TraceKind::Lasso, Some(start)) = (trace.kind, trace.cycle_start) {
        let _ = writeln!(out, "{indent}… and again from step {start}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TraceTransition;

    fn state(id: i64, at: &str, x: &str) -> TraceState {
        TraceState {
            locations: BTreeMap::from([
                ("P(0)".to_owned(), at.to_owned()),
                ("P(1)".to_owned(), "idle".to_owned()),
            ]),
            variables: BTreeMap::from([("id".to_owned(), id)]),
            clocks: BTreeMap::from([("P(0).x".to_owned(), x.to_owned())]),
        }
    }

    fn step(delay: &str, from: &str, to: &str, state: TraceState) -> TraceStep {
        TraceStep {
            delay: delay.to_owned(),
            transition: Some(TraceTransition {
                channel: None,
                edges: vec![TraceEdge {
                    process: "P(0)".to_owned(),
                    from: from.to_owned(),
                    to: to.to_owned(),
                    select: BTreeMap::new(),
                    line: 9,
                    column: 3,
                    process_index: 0,
                    edge_index: 0,
                }],
            }),
            state,
        }
    }

    #[test]
    fn only_changes_are_shown() {
        let trace = Trace {
            kind: TraceKind::Path,
            cycle_start: None,
            steps: vec![
                TraceStep {
                    delay: "0".to_owned(),
                    transition: None,
                    state: state(0, "idle", "0"),
                },
                step("3/2", "idle", "req", state(0, "req", "0")),
                step("1/2", "req", "wait", state(1, "wait", "1/2")),
            ],
        };
        let text = to_text(&trace, "m.xta");
        let expected = "\
 0  t = 0    start
             idle: P(0), P(1)
 1  t = 3/2  P(0) moves  (after 3/2)
             P(0): idle → req  m.xta:9
               P(0).x := 0
 2  t = 2    P(0) moves  (after 1/2)
             P(0): req → wait  m.xta:9
               id: 0 → 1
";
        let squeeze = |s: &str| {
            s.lines()
                .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        };
        assert_eq!(squeeze(&text), squeeze(expected));
        assert_eq!(summary(&trace), "2 steps");
        // Booleans are written `true` and `false`; an integer with the same values is not.
        let shows_boolean = |names: &[&str]| {
            let booleans: Booleans = names.iter().map(|n| (*n).to_owned()).collect();
            to_text_with(&trace, "m.xta", &booleans).contains("id: false → true")
        };
        assert!(shows_boolean(&["id"]) && !shows_boolean(&["x"]));
    }

    #[test]
    fn fractions_add_exactly() {
        let sum = Time::parse("1/3").and_then(|t| t.plus(Time::parse("1/6")?));
        assert_eq!(sum.map(|t| t.to_string()).as_deref(), Some("1/2"));
        assert_eq!(Time::parse("1/0"), None);
        assert_eq!(Time::parse("x"), None);
    }

    #[test]
    fn names_sort_in_natural_order() {
        let names = [
            "P(10)", "P(2)", "P(1).x", "P(1)", "Gate", "a[10][2]", "a[9][30]",
        ];
        let named: BTreeMap<String, ()> = names.map(|n| (n.to_owned(), ())).into();
        let order: Vec<&str> = in_order(&named).iter().map(|(n, ())| n.as_str()).collect();
        let counted = [
            "Gate", "P(1)", "P(1).x", "P(2)", "P(10)", "a[9][30]", "a[10][2]",
        ];
        assert_eq!(order, counted);
    }
}
