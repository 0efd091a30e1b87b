//! A trace as a sequence chart: one lane per process, time downwards, synchronisations as arrows.
//!
//! Steps are a fixed distance apart; a delay adds its share of `LONGEST` pixels, which the longest
//! delay gets in full.

use crate::text::CHAR;
use serde::Serialize;
use std::collections::BTreeSet;
use zonelens_analysis::report::{Trace, TraceStep};
use zonelens_analysis::trace_text::{self, StepText, Time};

/// Additional height for the longest delay.
const LONGEST: f64 = 90.0;
/// Distance between two steps at the same time.
const ROW: f64 = 38.0;
/// Width of the time axis at the left.
const AXIS: f64 = 92.0;
/// Height of the lane names.
const HEADER: f64 = 44.0;
const LANE_MIN: f64 = 96.0;
const LANE_MAX: f64 = 220.0;

/// The layout of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
    /// Where the lifelines begin.
    pub top: f64,
    /// The lanes, one per process shown.
    pub lanes: Vec<Lane>,
    /// The rows, one per step shown.
    pub rows: Vec<Row>,
    /// The locations of the processes, each at the step where it is entered.
    pub marks: Vec<Mark>,
    /// The synchronisations.
    pub arrows: Vec<Arrow>,
    /// For a lasso: the step that the last one leads back to.
    pub cycle_start: Option<usize>,
}

/// The lane of a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// The name of the process.
    pub process: String,
    /// The horizontal position of its middle.
    pub x: f64,
}

/// A step on the time axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The index of the step in the trace.
    pub step: usize,
    /// The vertical position.
    pub y: f64,
    /// Time since the start.
    pub time: String,
    /// Whether time passed since the previous row.
    pub later: bool,
    /// A description of the transition.
    pub action: String,
}

/// A mark where a process enters a location or starts in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The index of the step in the trace.
    pub step: usize,
    /// Index of the lane.
    pub lane: usize,
    /// The vertical position.
    pub y: f64,
    /// The name of the location.
    pub location: String,
    /// Half the width of its box.
    pub half: f64,
}

/// A synchronisation between two lanes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrow {
    /// The index of the step in the trace.
    pub step: usize,
    /// Index of the sender's lane.
    pub from: usize,
    /// Index of the receiver's lane.
    pub to: usize,
    /// The vertical position.
    pub y: f64,
    /// The channel; empty on all but one arrow of a broadcast, because the broadcast is a single
    /// action.
    pub label: String,
}

/// Lays out `trace`. With `only`, other processes have no lane, and steps that they take alone have
/// no row.
pub fn chart(trace: &Trace, only: Option<&BTreeSet<String>>) -> Chart {
    let texts = trace_text::steps(trace);
    let processes = processes(trace);
    let shown: Vec<&str> = processes
        .into_iter()
        .filter(|p| only.is_none_or(|only| only.contains(*p)))
        .collect();
    let lanes = lanes(trace, &shown);
    let mut out = Chart {
        width: 0.0,
        height: 0.0,
        top: HEADER,
        rows: Vec::new(),
        marks: Vec::new(),
        arrows: Vec::new(),
        lanes,
        cycle_start: trace.cycle_start,
    };
    out.place_rows(trace, &texts);
    let last = out.rows.last().map_or(HEADER, |r| r.y);
    out.height = last + ROW;
    out.width = out.lanes.last().map_or(AXIS, |l| l.x) + lane_width(trace, &shown) / 2.0 + 8.0;
    out
}

/// The processes in the natural order of their names: numbers are compared by value.
fn processes(trace: &Trace) -> Vec<&str> {
    let Some(first) = trace.steps.first() else {
        return Vec::new();
    };
    let mut names: Vec<&str> = first.state.locations.keys().map(String::as_str).collect();
    names.sort_by_key(|name| natural(name));
    names
}

/// A sort key that puts `P(10)` after `P(9)`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut out = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (word, tail) = rest.split_at(digits);
        let end = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (number, tail) = tail.split_at(end);
        out.push((word.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = tail;
    }
    out
}

fn lane_width(trace: &Trace, shown: &[&str]) -> f64 {
    let names = shown.iter().map(|n| n.chars().count());
    let locations = trace.steps.iter().flat_map(|s| s.state.locations.values());
    let longest = names.chain(locations.map(|l| l.chars().count())).max();
    (longest.unwrap_or(0) as f64 * CHAR + 36.0).clamp(LANE_MIN, LANE_MAX)
}

fn lanes(trace: &Trace, shown: &[&str]) -> Vec<Lane> {
    let width = lane_width(trace, shown);
    shown
        .iter()
        .enumerate()
        .map(|(i, process)| Lane {
            process: (*process).to_owned(),
            x: AXIS + width * (i as f64 + 0.5),
        })
        .collect()
}

impl Chart {
    fn lane(&self, process: &str) -> Option<usize> {
        self.lanes.iter().position(|l| l.process == process)
    }

    fn place_rows(&mut self, trace: &Trace, texts: &[StepText]) {
        let longest = texts.iter().map(|t| seconds(t.delay)).fold(0.0, f64::max);
        let mut y = HEADER + ROW * 0.7;
        let mut skipped = 0.0;
        for (step, (what, text)) in trace.steps.iter().zip(texts).enumerate() {
            let delay = seconds(text.delay) + skipped;
            if step > 0 && !self.concerns(what) {
                skipped = delay;
                continue;
            }
            skipped = 0.0;
            if step > 0 {
                let share = if longest > 0.0 { delay / longest } else { 0.0 };
                y += ROW + LONGEST * share.min(1.0);
            }
            self.rows.push(Row {
                step,
                y,
                time: text.time.to_string(),
                later: delay > 0.0,
                action: text.action.clone(),
            });
            self.happens(step, what, y);
        }
    }

    /// Whether a step is visible: a process with a lane moves, or only time passes.
    fn concerns(&self, step: &TraceStep) -> bool {
        step.transition
            .as_ref()
            .is_none_or(|t| t.edges.iter().any(|e| self.lane(&e.process).is_some()))
    }

    fn happens(&mut self, step: usize, what: &TraceStep, y: f64) {
        let mut mark = |lane: usize, location: &str| {
            self.marks.push(Mark {
                step,
                lane,
                y,
                location: location.to_owned(),
                half: (location.chars().count() as f64 * CHAR / 2.0 + 8.0).min(LANE_MAX / 2.0),
            });
        };
        let Some(transition) = &what.transition else {
            if step == 0 {
                for (i, lane) in self.lanes.iter().enumerate() {
                    mark(i, what.state.locations.get(&lane.process).map_or("", |l| l));
                }
            }
            return;
        };
        let moving: Vec<(usize, &str)> = transition
            .edges
            .iter()
            .filter_map(|e| {
                Some((
                    self.lanes.iter().position(|l| l.process == e.process)?,
                    e.to.as_str(),
                ))
            })
            .collect();
        for (lane, to) in moving {
            mark(lane, to);
        }
        let Some((sender, receivers)) = transition.edges.split_first() else {
            return;
        };
        let Some(from) = self.lane(&sender.process) else {
            return;
        };
        let receiving: Vec<usize> = receivers
            .iter()
            .filter_map(|r| self.lane(&r.process))
            .collect();
        // The name is shown where the arrow starts, before the first receiver.
        let nearest = receiving.iter().copied().min_by_key(|to| to.abs_diff(from));
        for to in receiving {
            let channel = transition.channel.clone().filter(|_| Some(to) == nearest);
            self.arrows.push(Arrow {
                step,
                from,
                to,
                y,
                label: channel.unwrap_or_default(),
            });
        }
    }
}

fn seconds(time: Time) -> f64 {
    let text = time.to_string();
    match text.split_once('/') {
        Some((p, q)) => p.parse::<f64>().unwrap_or(0.0) / q.parse::<f64>().unwrap_or(1.0),
        None => text.parse().unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests;
