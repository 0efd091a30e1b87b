//! A state of a simulation as text.

use super::who;
use std::fmt::Write;
use zonelens_analysis::report::Trace;
use zonelens_analysis::simulation::{
    BlockedReason, PossibleTransition, Simulation, WaitEnd, WalkZone,
};
use zonelens_analysis::trace_text::{self, Booleans};

/// The most blocked transitions and pieces of the zone that are listed.
const MOST_LISTED: usize = 20;
/// The most values of one kind that are listed.
const MOST_VALUES: usize = 60;

/// Writes states as text.
pub(super) struct Screen {
    booleans: Booleans,
    model: String,
}

impl Screen {
    /// For a model with these names of booleans.
    pub(super) fn new(booleans: Booleans, model: String) -> Screen {
        Screen { booleans, model }
    }

    /// The whole state.
    pub(super) fn state(&self, view: &Simulation, trace: &Trace) -> String {
        let mut out = String::new();
        if let Some(message) = &view.message {
            let _ = writeln!(out, "{message}");
        }
        self.last_step(view, trace, &mut out);
        let state = &view.state;
        list(&mut out, "locations", state.locations.iter(), |l| l.clone());
        let number = |name: &str, value: i64| match self.booleans.contains(name) {
            true => (value != 0).to_string(),
            false => value.to_string(),
        };
        let variables = state.variables.iter().map(|(n, v)| (n, number(n, *v)));
        let variables: Vec<(&String, String)> = variables.collect();
        let variables = variables.iter().map(|(n, v)| (*n, v));
        list(&mut out, "variables", variables, |v| v.clone());
        list(&mut out, "clocks", state.clocks.iter(), |c| c.clone());
        zone(view.zone.as_ref(), &mut out);
        let why = match view.wait.end {
            WaitEnd::Never => String::new(),
            _ => format!("; {}", view.wait.message),
        };
        let _ = writeln!(out, "  time:      {}{why}", view.wait.window);
        transitions(view, &mut out);
        out.truncate(out.trim_end().len());
        out
    }

    fn last_step(&self, view: &Simulation, trace: &Trace, out: &mut String) {
        let of = match view.length > view.step {
            true => format!(" of {}", view.length),
            false => String::new(),
        };
        let _ = write!(out, "step {}{of}  t = {}", view.step, view.time);
        if view.waited != "0" {
            let _ = write!(out, "  ({} since the last transition)", view.waited);
        }
        out.push('\n');
        let steps = trace_text::steps_with(trace, &self.booleans);
        let Some(step) = steps.get(view.step).filter(|_| view.step > 0) else {
            return;
        };
        let fixed = view.walk.get(view.step - 1).is_some_and(|w| w.fixed);
        let fixed = if fixed { ", fixed" } else { "" };
        let _ = writeln!(out, "  {}  (after {}{fixed})", step.action, step.delay);
        for edge in &step.edges {
            let _ = writeln!(out, "    {}  {}:{}", edge.text, self.model, edge.line);
        }
        for change in &step.changes {
            let _ = writeln!(out, "    {change}");
        }
    }

    /// All transitions of the group that one belongs to.
    pub(super) fn group(&self, view: &Simulation, number: usize) -> Option<String> {
        let group = view.possible.iter().find(|p| p.number == number)?.group;
        let own = view.possible.iter().filter(|p| p.group == group);
        let lines: Vec<String> = own.map(line).collect();
        Some(lines.join("\n"))
    }
}

fn list<'v, V: 'v>(
    out: &mut String,
    what: &str,
    values: impl ExactSizeIterator<Item = (&'v String, &'v V)>,
    text: impl Fn(&V) -> String,
) {
    let count = values.len();
    if count == 0 {
        return;
    }
    let shown = values
        .take(MOST_VALUES)
        .map(|(n, v)| format!("{n} = {}", text(v)));
    let shown: Vec<String> = shown.collect();
    let more = match count > MOST_VALUES {
        true => format!(", and {} more", count - MOST_VALUES),
        false => String::new(),
    };
    let label = format!("{what}:");
    let _ = writeln!(out, "  {label:<10} {}{more}", shown.join(", "));
}

fn zone(zone: Option<&WalkZone>, out: &mut String) {
    match zone {
        None => {}
        Some(WalkZone::None { reason }) => {
            let _ = writeln!(out, "  no zone:   {reason}");
        }
        Some(WalkZone::Zone { pieces }) => {
            for (k, piece) in pieces.iter().take(MOST_LISTED).enumerate() {
                let label = if k == 0 { "zone:" } else { "or" };
                let _ = writeln!(out, "  {label:<10} {}", piece.text);
            }
            if pieces.len() > MOST_LISTED {
                let _ = writeln!(
                    out,
                    "  or one of {} more pieces",
                    pieces.len() - MOST_LISTED
                );
            }
        }
    }
}

fn line(possible: &PossibleTransition) -> String {
    let when = match possible.window.as_str() {
        "0" => "now".to_owned(),
        window => format!("after {window}"),
    };
    let asks = match possible.receivers.len() {
        0 => String::new(),
        count => format!(", then {count} receivers are chosen one by one"),
    };
    let who = who(&possible.transition);
    format!("  [{}] {when}: {who}{asks}", possible.number)
}

fn place(reason: &BlockedReason) -> String {
    match reason.line {
        0 => reason.message.clone(),
        line => format!("{} (line {line}, column {})", reason.message, reason.column),
    }
}

fn transitions(view: &Simulation, out: &mut String) {
    if let Some(choosing) = &view.choosing {
        let _ = writeln!(
            out,
            "  {}: choose what {} does; {} of the receivers are left",
            who(&choosing.transition),
            choosing.process,
            choosing.left
        );
        for (number, edge) in choosing.options.iter().enumerate() {
            let one = zonelens_analysis::report::TraceTransition {
                channel: None,
                edges: vec![edge.clone()],
            };
            let _ = writeln!(out, "  [{number}] {}", who(&one));
        }
        return;
    }
    for (index, group) in view.groups.iter().enumerate() {
        if group.folded {
            let (first, last) = (group.first, group.first + group.count - 1);
            let _ = writeln!(
                out,
                "  [{first}-{last}] {}: {} → {}, {} choices (`o {first}` lists them)",
                group.process, group.from, group.to, group.count
            );
            continue;
        }
        for possible in view.possible.iter().filter(|p| p.group == index) {
            let _ = writeln!(out, "{}", line(possible));
        }
    }
    for other in view.other_delays.iter().flatten().take(MOST_LISTED) {
        let now = other.reason.as_ref().map(|r| format!("; now {}", place(r)));
        let (number, now) = (other.number, now.unwrap_or_default());
        let who = who(&other.transition);
        let _ = writeln!(out, "  [{number}] with other delays before: {who}{now}");
    }
    for blocked in view.blocked.iter().take(MOST_LISTED) {
        let who = who(&blocked.transition);
        let _ = writeln!(out, "  [-] {who}: {}", place(&blocked.reason));
    }
    let others = view.other_delays.as_ref().map_or(0, Vec::len);
    let more = view.blocked.len().saturating_sub(MOST_LISTED)
        + others.saturating_sub(MOST_LISTED)
        + view.left_out;
    if more > 0 {
        let _ = writeln!(out, "  [-] and {more} more that are not shown");
    }
    if !view.complete {
        let _ = writeln!(out, "  not everything that may happen later was explored");
    }
}
