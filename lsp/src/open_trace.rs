//! The trace that a client walks through.

use crate::meaning::Meaning;
use crate::uri;
use std::sync::Arc;
use zonelens_analysis::report::Trace;
use zonelens_analysis::trace_text;

/// The trace that is shown.
#[derive(Clone)]
pub(crate) struct OpenTrace {
    /// The document of the query.
    pub uri: String,
    /// The document of the model.
    pub model_uri: String,
    /// The formula.
    pub query: String,
    /// What the trace belongs to; text that means something else does not show it.
    pub meaning: Meaning,
    /// The trace, replayed before it was opened.
    pub trace: Arc<Trace>,
    /// The current step.
    pub step: usize,
    /// Whether it is the walk of the open simulation, which belongs to no query.
    pub simulated: bool,
}

/// Where to go in a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
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
    /// Moves the current step, never past an end.
    pub(crate) fn go(&mut self, to: Move) {
        let last = self.trace.steps.len().saturating_sub(1);
        self.step = match to {
            Move::Next => self.step + 1,
            Move::Previous => self.step.saturating_sub(1),
            Move::First => 0,
            Move::Last => last,
            Move::To(step) => step,
        }
        .min(last);
    }

    /// The whole trace as text, with the 0-based line each step starts on.
    pub(crate) fn document(&self) -> (String, Vec<usize>) {
        let trace = &self.trace;
        let heading = format!("{}\n{}\n\n", self.query, trace_text::summary(trace));
        let mut starts = Vec::new();
        // With its path, a line number can be followed from a plain text editor.
        let file = uri::to_path(&self.model_uri).map_or_else(
            || self.model_uri.clone(),
            |path| path.to_string_lossy().into_owned(),
        );
        let body = trace_text::to_text(trace, &file);
        let mut next = 0;
        for (line, part) in (heading.lines().count()..).zip(body.lines()) {
            // A step starts with its number, everything else of it is indented deeper.
            let number = part.split_whitespace().next();
            if number == Some(&next.to_string()) && part.contains("t = ") {
                starts.push(line);
                next += 1;
            }
        }
        (heading + &body, starts)
    }
}
