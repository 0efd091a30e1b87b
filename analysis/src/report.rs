//! What a verification run says: verdicts, statistics, traces, progress, and the messages between server and worker.
//!
//! These types are the JSON contract of `zonelens verify --format json` and of the worker process; the checker fills
//! them, `cli` and `lsp` read them, nothing else crosses that border.

pub use crate::reason::Reason;
pub use crate::switch::Switch;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The answer to one query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryReport {
    /// The formula as written.
    pub query: String,
    /// 1-based line of the formula in its file; 0 for a formula from the command line.
    pub line: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is `unknown` or `error`, or comes without its trace.
    pub reason: Option<Reason>,
    /// What the author expects.
    pub expected: Option<Verdict>,
    /// For `sup`, `inf`, `bounds`: the first expression's bounds.
    pub value: Option<BoundsValue>,
    /// All expressions' bounds when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<BoundsValue>,
    /// Whether the query was made symmetric over the elements it names.
    pub symmetrised: bool,
    /// Counts and times.
    pub statistics: Statistics,
    /// Which scalarsets were used.
    pub symmetry: SymmetryReport,
    /// Other reductions that applied.
    pub reductions: Vec<String>,
    /// Constants of the model whose values were given from outside, by `--const`, `zonelens.toml` or the editor.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, i64>,
    /// Witness or counterexample.
    pub trace: Option<Trace>,
    /// The time of the fastest runs, if the fastest trace was asked for and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_time: Option<LeastTime>,
}

/// The least time that runs to a state take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeastTime {
    /// No run takes less, in time units.
    pub infimum: i64,
    /// Whether a run takes exactly that; otherwise runs take more and come as close to it as one likes.
    pub reached: bool,
}

impl QueryReport {
    /// A report without a run: `verdict` with its reason and nothing measured.
    pub fn without_run(
        query: &str,
        line: u32,
        verdict: Verdict,
        reason: impl Into<Option<Reason>>,
    ) -> QueryReport {
        QueryReport {
            query: query.to_owned(),
            line,
            verdict,
            reason: reason.into(),
            expected: None,
            value: None,
            values: Vec::new(),
            symmetrised: false,
            statistics: Statistics::default(),
            symmetry: SymmetryReport {
                scalarsets: Vec::new(),
                canonical: true,
                excluded: Vec::new(),
                audit: None,
            },
            reductions: Vec::new(),
            constants: BTreeMap::new(),
            trace: None,
            least_time: None,
        }
    }

    /// The same without its trace, which may be large.
    pub fn without_trace(&self) -> QueryReport {
        QueryReport {
            query: self.query.clone(),
            line: self.line,
            verdict: self.verdict,
            reason: self.reason.clone(),
            expected: self.expected,
            value: self.value.clone(),
            values: self.values.clone(),
            symmetrised: self.symmetrised,
            statistics: self.statistics.clone(),
            symmetry: self.symmetry.clone(),
            reductions: self.reductions.clone(),
            constants: self.constants.clone(),
            trace: None,
            least_time: self.least_time,
        }
    }

    /// The reason as JSON spells it; empty if there is none.
    pub fn reason_text(&self) -> String {
        self.reason
            .as_ref()
            .map(Reason::to_string)
            .unwrap_or_default()
    }

    /// The constants given from outside as text, `L = 5, N = 3`; `None` if there are none.
    pub fn constants_text(&self) -> Option<String> {
        let one = |(name, value): (&String, &i64)| format!("{name} = {value}");
        let all: Vec<String> = self.constants.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// The verdict on a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Verdict {
    Satisfied,
    Violated,
    Unknown,
    Error,
}

/// Bounds of an expression over the reachable states. `None` is unbounded (or no state satisfies the condition).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoundsValue {
    /// Infimum.
    pub lower: Option<i64>,
    /// Supremum.
    pub upper: Option<i64>,
    /// Whether the infimum is not reached.
    pub lower_strict: bool,
    /// Whether the supremum is not reached.
    pub upper_strict: bool,
}

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// States in the passed table at the end, covered ones removed.
    pub stored: u64,
    /// States taken from the waiting list.
    pub explored: u64,
    /// Successors computed.
    pub transitions: u64,
    /// Wall-clock time without parsing.
    pub seconds: f64,
    /// Peak memory of the run.
    pub peak_memory_bytes: u64,
    /// States that all strategies of the run explored by one thread, also those that did not decide. For benchmarks and
    /// tests; not in JSON.
    #[serde(skip)]
    pub explored_by_all: u64,
}

/// How symmetry was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymmetryReport {
    /// Scalarsets reduced over.
    pub scalarsets: Vec<ScalarsetReport>,
    /// Whether equivalent states had the same representative and no stored state has an image inside another one.
    pub canonical: bool,
    /// Scalarsets left out, with the rule they break.
    pub excluded: Vec<ExcludedScalarset>,
    /// What `--audit-symmetry` checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditReport>,
}

/// How much of a run was audited; an audit that fails ends the run with an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// States that were compared with their images.
    pub states: u64,
    /// Swaps of two elements that were tried on them, all together.
    pub swaps: u64,
}

/// A scalarset that was reduced over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarsetReport {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: u32,
    /// Found by detection.
    pub detected: bool,
    /// How many elements are interchangeable, group by group: a query or the model may tell some of them apart.
    #[serde(default)]
    pub interchangeable: Vec<u32>,
}

impl ScalarsetReport {
    /// `6 interchangeable elements`, `4 of 5 elements interchangeable`
    pub fn group(&self) -> String {
        let sizes: Vec<String> = self.interchangeable.iter().map(u32::to_string).collect();
        if sizes.is_empty() || self.interchangeable == [self.size] {
            format!("{} interchangeable elements", self.size)
        } else {
            format!(
                "{} of {} elements interchangeable",
                sizes.join(" + "),
                self.size
            )
        }
    }
}

/// A scalarset that was not reduced over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExcludedScalarset {
    /// Its name.
    pub name: String,
    /// The rule, `sym/…`.
    pub rule: String,
    /// 1-based line of the violation.
    pub line: u32,
    /// 1-based column of the violation.
    pub column: u32,
}

/// A run of the model: a path, or a lasso whose last state repeats the state at `cycle_start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Path or lasso.
    pub kind: TraceKind,
    /// Index of the step the cycle returns to.
    pub cycle_start: Option<usize>,
    /// The first step has no transition.
    pub steps: Vec<TraceStep>,
}

/// The form of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TraceKind {
    Path,
    Lasso,
}

/// A delay, then a transition, and the state after both. In the first step nothing happens before its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Time that passes before the transition: an integer or a fraction `p/q`.
    pub delay: String,
    /// The transition; `None` in the first step, and in a last step that only lets time pass.
    pub transition: Option<TraceTransition>,
    /// The state after it.
    pub state: TraceState,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceTransition {
    /// The channel; `None` for an internal step.
    pub channel: Option<String>,
    /// Sender (or the internal edge) first, then receivers in order.
    pub edges: Vec<TraceEdge>,
}

/// An edge taken by a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceEdge {
    /// The process, `P(1)`.
    pub process: String,
    /// Source location.
    pub from: String,
    /// Target location.
    pub to: String,
    /// Values of select variables.
    pub select: BTreeMap<String, i64>,
    /// 1-based line of the edge.
    pub line: u32,
    /// 1-based column of the edge.
    pub column: u32,
    /// Index of the process in the network: with `edge_index` what a cached trace is kept by.
    #[serde(default)]
    pub process_index: u32,
    /// Index of the edge among its process' edges.
    #[serde(default)]
    pub edge_index: u32,
}

/// A concrete state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceState {
    /// Location of each process.
    pub locations: BTreeMap<String, String>,
    /// Value of each integer, `a[1]`, `s.f`, `P(1).n` …
    pub variables: BTreeMap<String, i64>,
    /// Value of each clock: an integer or a fraction `p/q`.
    pub clocks: BTreeMap<String, String>,
}

/// How to run a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Which symmetries to use.
    pub symmetry: SymmetryOption,
    /// Order of exploration.
    pub search: SearchOrder,
    /// Which trace to give.
    pub trace: TraceOption,
    /// Which abstraction.
    pub abstraction: AbstractionOption,
    /// Exploration threads.
    pub threads: u32,
    /// Memory limit in bytes.
    pub memory: Option<u64>,
    /// Time limit in seconds.
    pub timeout: Option<f64>,
    /// Limit on stored states.
    pub states: Option<u64>,
    /// Seed for random choices.
    pub seed: u64,
    /// Check sampled states for symmetry during the run.
    pub audit_symmetry: bool,
    /// Reduce over scalarsets that break a rule too, so that tests see the audit notice it. Verdicts may be wrong.
    #[serde(skip)]
    pub force_symmetry: bool,
    /// Run again without symmetry and compare.
    #[serde(skip)]
    pub compare_symmetry: bool,
    /// `--const N=20`
    pub constants: BTreeMap<String, i64>,
    /// What the run does without (`--without`). Left out of JSON where it is empty, so that kept results stay valid.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<Switch>,
    /// After how many states other searches take their first turn; tests make it small.
    #[serde(skip)]
    pub first_turn: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            symmetry: SymmetryOption::Auto,
            search: SearchOrder::Bfs,
            trace: TraceOption::Some,
            abstraction: AbstractionOption::Auto,
            threads: 1,
            memory: None,
            timeout: None,
            states: None,
            seed: 1,
            audit_symmetry: false,
            force_symmetry: false,
            compare_symmetry: false,
            constants: BTreeMap::new(),
            without: BTreeSet::new(),
            first_turn: None,
        }
    }
}

/// `--symmetry`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum SymmetryOption {
    Auto,
    Off,
    Scalarsets,
}

/// `--search`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum SearchOrder {
    Bfs,
    Dfs,
    Random,
}

/// `--trace`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TraceOption {
    None,
    Some,
    Shortest,
    Fastest,
}

/// `--abstraction`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbstractionOption {
    /// The best one that is exact for the query.
    Auto,
    /// `Extra⁺_LU`
    ExtraLu,
    /// `Extra_M`
    ExtraM,
    /// `Extra⁺_LU` with `a≼LU` subsumption.
    Alu,
    /// Exact zones (may not end).
    None,
    /// Convex hull: an over-approximation.
    ConvexHull,
}

/// What a running exploration reports, at most ten times a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// States stored.
    pub stored: u64,
    /// States explored.
    pub explored: u64,
    /// States waiting.
    pub waiting: u64,
    /// Explored states per second.
    pub states_per_second: u64,
    /// Memory in use.
    pub memory_bytes: u64,
    /// Seconds since the start.
    pub seconds: f64,
}

/// What an expression is worth in a state of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum TraceValue {
    /// A number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
    /// A clock or a difference of clocks: an integer or a fraction `p/q`.
    Clock(String),
    /// None, and why.
    Error(String),
}

/// What a worker is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "lowercase")]
pub enum WorkerTask {
    /// Answer the query.
    #[default]
    Verify,
    /// Replay a trace and give it with the model's present names and places.
    Replay {
        /// The trace.
        trace: Box<Trace>,
    },
    /// Evaluate the query's text, an expression, in a step of a trace.
    Evaluate {
        /// The trace.
        trace: Box<Trace>,
        /// The step.
        step: usize,
    },
}

/// What the server writes to a worker's standard input: one line of JSON. The worker ends when its input closes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerRequest {
    /// Version of this protocol.
    pub protocol: u32,
    /// What to do.
    pub task: WorkerTask,
    /// The model's text.
    pub model: String,
    /// `xta` or `xml`.
    pub kind: String,
    /// The formula.
    pub query: String,
    /// 1-based line of the formula in its file.
    pub line: u32,
    /// What the author expects.
    pub expected: Option<Verdict>,
    /// How to run it.
    pub options: Options,
}

/// The version of the worker protocol.
pub const WORKER_PROTOCOL: u32 = 2;

/// What a worker writes to its standard output: one line of JSON each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum WorkerMessage {
    /// Still running.
    Progress(Progress),
    /// The answer to a query; nothing follows.
    Result(Box<QueryReport>),
    /// A trace that was replayed; nothing follows.
    Replayed {
        /// With the model's present names and places.
        trace: Box<Trace>,
    },
    /// A trace that does not replay; nothing follows.
    Refused {
        /// Why.
        message: String,
    },
    /// The value of an expression; nothing follows.
    Value {
        /// The value.
        value: TraceValue,
    },
}
