//! Commands the server runs, and their arguments.

use serde::Deserialize;
use serde_json::Value;
use tower_lsp_server::ls_types as lsp;

/// Runs one query: `{uri, query}` with the formula, or `{uri, line}` with its 0-based line.
pub(crate) const VERIFY: &str = "zonelens.verify";
/// Runs all queries of a document: `{uri}`.
pub(crate) const VERIFY_ALL: &str = "zonelens.verifyAll";
/// Stops runs: `{run}`, `{uri, query}`, `{uri}`, or all.
pub(crate) const CANCEL: &str = "zonelens.cancel";
/// Gives the states of a document's queries: `{uri}`.
pub(crate) const STATUS: &str = "zonelens.status";
/// Forgets all results.
pub(crate) const CLEAR: &str = "zonelens.clearResults";
/// Shows the trace of a query: `{uri, query}`; gives the first step and the trace as text.
pub(crate) const TRACE_OPEN: &str = "zonelens.trace.open";
/// One step on.
pub(crate) const TRACE_NEXT: &str = "zonelens.trace.next";
/// One step back.
pub(crate) const TRACE_PREVIOUS: &str = "zonelens.trace.previous";
/// To the start.
pub(crate) const TRACE_FIRST: &str = "zonelens.trace.first";
/// To the end.
pub(crate) const TRACE_LAST: &str = "zonelens.trace.last";
/// To a step: `{step}`.
pub(crate) const TRACE_GOTO: &str = "zonelens.trace.goto";
/// Shows no trace any more.
pub(crate) const TRACE_CLOSE: &str = "zonelens.trace.close";
/// The open trace, or that of `{uri, query}`, as `{text}` and `{json}`.
pub(crate) const TRACE_EXPORT: &str = "zonelens.trace.export";

/// Evaluates an expression in a step of the open trace: `{expression}` or `{expression, step}`.
pub(crate) const TRACE_EVALUATE: &str = "zonelens.trace.evaluate";
/// Starts a simulation: `{uri}`, or `{uri, query, step}` from a step of the query's trace.
pub(crate) const SIMULATION_START: &str = "zonelens.simulation.start";
/// The present state of the simulation.
pub(crate) const SIMULATION_STATE: &str = "zonelens.simulation.state";
/// Takes a transition: `{number}`, `{number, delay}`; with `revision` only in that state.
pub(crate) const SIMULATION_TAKE: &str = "zonelens.simulation.take";
/// Lets time pass: `{delay}`.
pub(crate) const SIMULATION_DELAY: &str = "zonelens.simulation.delay";
/// One transition, wait or choice back.
pub(crate) const SIMULATION_BACK: &str = "zonelens.simulation.back";
/// Takes the next transition of the walk again.
pub(crate) const SIMULATION_FORWARD: &str = "zonelens.simulation.forward";
/// To a step of the walk: `{step}`.
pub(crate) const SIMULATION_GOTO: &str = "zonelens.simulation.goto";
/// Back to an empty walk.
pub(crate) const SIMULATION_RESTART: &str = "zonelens.simulation.restart";
/// Walks at random: `{steps, seed, until, time}`.
pub(crate) const SIMULATION_RANDOM: &str = "zonelens.simulation.random";
/// Ends the simulation.
pub(crate) const SIMULATION_STOP: &str = "zonelens.simulation.stop";
/// The page of a diagnostic: `{code}`, `{uri, line}` or `{uri, position}`.
pub(crate) const EXPLAIN: &str = "zonelens.explain";
/// What a model never does: `{uri}`; runs until everything is explored, and keeps the answer.
pub(crate) const COVERAGE: &str = "zonelens.coverage";
/// A gesture of the picture as an edit: `{uri, version, template, gesture}`.
pub(crate) const EDIT: &str = "zonelens.edit";
/// Where the log is.
pub(crate) const SHOW_LOG: &str = "zonelens.showLog";

/// All of them, for `executeCommandProvider`: Neovim runs a lens only if its command is listed.
pub(crate) const ALL: [&str; 28] = [
    VERIFY,
    VERIFY_ALL,
    CANCEL,
    STATUS,
    CLEAR,
    TRACE_OPEN,
    TRACE_NEXT,
    TRACE_PREVIOUS,
    TRACE_FIRST,
    TRACE_LAST,
    TRACE_GOTO,
    TRACE_CLOSE,
    TRACE_EXPORT,
    TRACE_EVALUATE,
    SIMULATION_START,
    SIMULATION_STATE,
    SIMULATION_TAKE,
    SIMULATION_DELAY,
    SIMULATION_BACK,
    SIMULATION_FORWARD,
    SIMULATION_GOTO,
    SIMULATION_RESTART,
    SIMULATION_RANDOM,
    SIMULATION_STOP,
    EXPLAIN,
    COVERAGE,
    EDIT,
    SHOW_LOG,
];

/// The argument of every command; which fields count is said at the command.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Argument {
    /// The document.
    pub uri: Option<String>,
    /// The formula.
    pub query: Option<String>,
    /// A 0-based line.
    pub line: Option<u32>,
    /// A run.
    pub run: Option<u64>,
    /// A step of a trace.
    pub step: Option<usize>,
    /// What to evaluate.
    pub expression: Option<String>,
    /// The number of a transition.
    pub number: Option<usize>,
    /// A delay: a number, or text such as `3/2`.
    pub delay: Option<Value>,
    /// The state of the simulation that a number belongs to.
    pub revision: Option<u64>,
    /// How many transitions to take at random.
    pub steps: Option<usize>,
    /// The seed of a random walk.
    pub seed: Option<u64>,
    /// A condition that ends a random walk.
    pub until: Option<String>,
    /// A moment that ends a random walk: as a delay, from the start of the run.
    pub time: Option<Value>,
    /// A saved walk: the trace of `zonelens.trace.export` as JSON.
    pub walk: Option<Value>,
    /// The code of a diagnostic, or a part of it.
    pub code: Option<String>,
    /// A position in the document.
    pub position: Option<lsp::Position>,
}

impl Argument {
    /// Reads the first argument; none at all is as good as an empty one.
    pub(crate) fn read(arguments: &[Value]) -> Result<Argument, String> {
        match arguments.first() {
            None | Some(Value::Null) => Ok(Argument::default()),
            Some(value) => serde_json::from_value(value.clone())
                .map_err(|error| format!("the command's argument cannot be read: {error}")),
        }
    }
}
