//! The result of a verification run: verdicts, statistics, traces, progress, and the messages
//! between server and worker.
//!
//! These types are the JSON contract of `zonelens verify --format json` and of the worker process.
//! The checker creates them, `cli` and `lsp` read them, and nothing else crosses that border.

pub use crate::reason::Reason;
pub use crate::switch::Switch;
pub use crate::vacuous::Vacuous;
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
    /// Why the verdict is `unknown` or `error`, or why there is no trace.
    pub reason: Option<Reason>,
    /// The verdict that the author expects.
    pub expected: Option<Verdict>,
    /// For `sup`, `inf` and `bounds`: the bounds of the first expression.
    pub value: Option<BoundsValue>,
    /// The bounds of all expressions if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<BoundsValue>,
    /// Whether the query was made symmetric over the elements it names.
    pub symmetrised: bool,
    /// Counts and times.
    pub statistics: Statistics,
    /// The scalarsets that were and were not used.
    pub symmetry: SymmetryReport,
    /// Other reductions that applied.
    pub reductions: Vec<String>,
    /// Constants of the model whose values were overridden by `--const`, `zonelens.toml` or the
    /// editor.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, i64>,
    /// The least time of a run, if the fastest trace was requested and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_time: Option<LeastTime>,
    /// Why the query is satisfied without saying anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<Vacuous>,
    /// The certificate that was written or checked.
    #[serde(default)]
    pub certificate: Option<CertificateReport>,
    /// Why there is no certificate although one was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertified: Option<String>,
    /// What was found out about every size of a set, if that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<EveryReport>,
    /// The witness or counterexample; the last field, because long ones are written piece by piece.
    pub trace: Option<Trace>,
}

/// The answer about every size of a set of interchangeable elements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EveryReport {
    /// The set.
    pub set: String,
    /// Whether the answer holds for every size.
    pub proved: bool,
    /// The number of elements whose joint behaviour was kept: the size of views.
    pub views: u32,
    /// The number of views of the proof, or of the last attempt.
    pub count: u64,
    /// The sizes that were checked one by one.
    pub direct: Vec<u32>,
    /// A size with another answer.
    pub violated_at: Option<u32>,
}

impl EveryReport {
    /// What is known, as text: `for every size of pid (views of 2, 54 views; size 1 checked
    /// directly)`.
    pub fn text(&self) -> String {
        let set = &self.set;
        if let Some(n) = self.violated_at {
            let s = if n == 1 { "" } else { "s" };
            return format!("with {n} element{s} of {set}");
        }
        if !self.proved {
            return format!("not proved for every size of {set}");
        }
        let sizes: Vec<String> = self.direct.iter().map(u32::to_string).collect();
        let direct = match sizes.len() {
            0 => String::new(),
            1 => format!("; size {} checked directly", sizes[0]),
            _ => format!("; sizes {} checked directly", sizes.join(", ")),
        };
        let views = self.views;
        format!(
            "for every size of {set} (views of {views}, {} views{direct})",
            self.count
        )
    }
}

/// A certificate of an answer: a file that proves it to a program without the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertificateReport {
    /// The kind of the claim: `always`, `never`, `eventually`, `no-run` or `leads-to`.
    pub kind: String,
    /// The number of discrete states.
    pub states: u64,
    /// The number of zones.
    pub zones: u64,
    /// The size of the file.
    pub bytes: u64,
    /// Whether it was checked and accepted.
    pub checked: bool,
    /// The time of the check in seconds; 0 if it was not checked.
    pub seconds: f64,
    /// Whether its states stand for their images under permutations of elements.
    pub symmetry: bool,
    /// Whether the query was searched again for the certificate, with one thread or without
    /// symmetry.
    pub searched_again: bool,
}

/// The least time that a run to a state takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeastTime {
    /// The infimum in time units: no run takes less.
    pub infimum: i64,
    /// Whether a run takes exactly this time. Otherwise runs take longer, but come arbitrarily
    /// close to it.
    pub reached: bool,
}

impl QueryReport {
    /// A report without a run: only `verdict` and its reason.
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
            vacuous: None,
            certificate: None,
            uncertified: None,
            every: None,
        }
    }

    /// A copy without its trace, which may be large.
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
            vacuous: self.vacuous.clone(),
            certificate: self.certificate.clone(),
            uncertified: self.uncertified.clone(),
            every: self.every.clone(),
        }
    }

    /// The reason as in JSON; empty if there is none.
    pub fn reason_text(&self) -> String {
        self.reason
            .as_ref()
            .map(Reason::to_string)
            .unwrap_or_default()
    }

    /// The overridden constants as text, `L = 5, N = 3`; `None` if there are none.
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

/// The bounds of an expression over the reachable states. `None` means unbounded, or that no state
/// satisfies the condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoundsValue {
    /// The infimum.
    pub lower: Option<i64>,
    /// The supremum.
    pub upper: Option<i64>,
    /// Whether the infimum is not reached.
    pub lower_strict: bool,
    /// Whether the supremum is not reached.
    pub upper_strict: bool,
}

/// The counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// States in the passed list at the end, without those that were removed because others cover
    /// them.
    pub stored: u64,
    /// States taken from the waiting list.
    pub explored: u64,
    /// Successors computed.
    pub transitions: u64,
    /// Wall-clock time in seconds, without parsing.
    pub seconds: f64,
    /// Peak memory of the run in bytes.
    pub peak_memory_bytes: u64,
    /// States that all strategies of the run explored by one thread, also those that did not
    /// decide. For benchmarks and tests; not in JSON.
    #[serde(skip)]
    pub explored_by_all: u64,
}

/// How symmetry was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymmetryReport {
    /// The scalarsets that were reduced over.
    pub scalarsets: Vec<ScalarsetReport>,
    /// Whether equivalent states had the same representative, and no stored state has an image
    /// inside another one.
    pub canonical: bool,
    /// The scalarsets that were not reduced over, with the rule that each breaks.
    pub excluded: Vec<ExcludedScalarset>,
    /// What `--audit-symmetry` checked, if it was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditReport>,
}

/// How much of a run was audited. An audit that fails ends the run with an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// The number of states that were compared with their images.
    pub states: u64,
    /// The number of swaps of two elements that were tried on these states in total.
    pub swaps: u64,
}

/// A scalarset that was reduced over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarsetReport {
    /// Its name.
    pub name: String,
    /// The number of its elements.
    pub size: u32,
    /// Whether it was detected rather than declared.
    pub detected: bool,
    /// The sizes of its classes of interchangeable elements: a query or the model may tell some
    /// elements apart.
    #[serde(default)]
    pub interchangeable: Vec<u32>,
}

impl ScalarsetReport {
    /// The classes as text: `6 interchangeable elements`, `4 of 5 elements interchangeable`.
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
    /// The code of the broken rule, `sym/…`.
    pub rule: String,
    /// The line of the violation, starting at 1.
    pub line: u32,
    /// The column of the violation, starting at 1.
    pub column: u32,
}

/// A run of the model: a path, or a lasso whose last state repeats the state at `cycle_start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Whether it is a path or a lasso.
    pub kind: TraceKind,
    /// The index of the step that the cycle returns to.
    pub cycle_start: Option<usize>,
    /// The steps; the first one has no transition.
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

/// A delay, then a transition, and the state after both. The first step has only a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Time that passes before the transition: an integer or a fraction `p/q`.
    pub delay: String,
    /// The transition; `None` in the first step, and in a last step that only lets time pass.
    pub transition: Option<TraceTransition>,
    /// The state after the transition.
    pub state: TraceState,
}

/// A transition: an internal step or a synchronisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceTransition {
    /// The channel; `None` for an internal step.
    pub channel: Option<String>,
    /// The edges: the sender (or the internal edge) first, then the receivers in order.
    pub edges: Vec<TraceEdge>,
}

/// An edge taken by a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceEdge {
    /// The process, `P(1)`.
    pub process: String,
    /// The source location.
    pub from: String,
    /// The target location.
    pub to: String,
    /// The values of the select variables.
    pub select: BTreeMap<String, i64>,
    /// The line of the edge, starting at 1.
    pub line: u32,
    /// The column of the edge, starting at 1.
    pub column: u32,
    /// The index of the process in the network. Cached traces identify an edge by this and
    /// `edge_index`.
    #[serde(default)]
    pub process_index: u32,
    /// The index of the edge among the edges of its process.
    #[serde(default)]
    pub edge_index: u32,
}

/// A concrete state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceState {
    /// The location of each process.
    pub locations: BTreeMap<String, String>,
    /// The value of each integer: `a[1]`, `s.f`, `P(1).n` …
    pub variables: BTreeMap<String, i64>,
    /// The value of each clock: an integer or a fraction `p/q`.
    pub clocks: BTreeMap<String, String>,
}

/// How to run a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// The symmetries to use.
    pub symmetry: SymmetryOption,
    /// The order of exploration.
    pub search: SearchOrder,
    /// The trace to produce.
    pub trace: TraceOption,
    /// The abstraction to use.
    pub abstraction: AbstractionOption,
    /// The number of threads.
    pub threads: u32,
    /// Memory limit in bytes.
    pub memory: Option<u64>,
    /// Time limit in seconds.
    pub timeout: Option<f64>,
    /// The limit on stored states.
    pub states: Option<u64>,
    /// The seed for random choices.
    pub seed: u64,
    /// Whether to check sampled states for symmetry during the run.
    pub audit_symmetry: bool,
    /// Whether to reduce even over scalarsets that break a rule, so that tests can see the audit
    /// notice it. Verdicts may be wrong.
    #[serde(skip)]
    pub force_symmetry: bool,
    /// Whether to run again without symmetry and compare.
    #[serde(skip)]
    pub compare_symmetry: bool,
    /// Whether states with symmetry are stored with whole zones, so that tests can compare.
    #[serde(skip)]
    pub whole_zones: bool,
    /// The overrides of `--const N=20`.
    pub constants: BTreeMap<String, i64>,
    /// What the run does without (`--without`). Left out of JSON where it is empty, so that kept
    /// results stay valid.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<Switch>,
    /// The number of states after which the other strategies get their first turn; tests make it
    /// small.
    #[serde(skip)]
    pub first_turn: Option<u64>,
    /// The set for whose every size a query is answered (`--every`). Left out of JSON where there
    /// is none, so that kept results stay valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<String>,
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
            whole_zones: false,
            constants: BTreeMap::new(),
            without: BTreeSet::new(),
            first_turn: None,
            every: None,
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
    /// The best abstraction that is exact for the query.
    Auto,
    /// The abstraction `Extra⁺_LU`.
    ExtraLu,
    /// The abstraction `Extra_M`.
    ExtraM,
    /// `Extra⁺_LU` with `a≼LU` subsumption.
    Alu,
    /// Exact zones; the search may not terminate.
    None,
    /// Convex hulls: an over-approximation.
    ConvexHull,
}

/// The state of a running exploration, reported at most ten times a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The number of stored states.
    pub stored: u64,
    /// The number of explored states.
    pub explored: u64,
    /// The number of waiting states.
    pub waiting: u64,
    /// Explored states per second.
    pub states_per_second: u64,
    /// Memory in use, in bytes.
    pub memory_bytes: u64,
    /// Seconds since the start.
    pub seconds: f64,
}

/// The value of an expression in a state of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum TraceValue {
    /// A number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
    /// A clock or a difference of clocks: an integer or a fraction `p/q`.
    Clock(String),
    /// The expression has no value; holds the reason.
    Error(String),
}

/// The task of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "lowercase")]
pub enum WorkerTask {
    /// Answer the query.
    #[default]
    Verify,
    /// Replay a trace and return it with the current names and positions of the model.
    Replay {
        /// The trace.
        trace: Box<Trace>,
    },
    /// Evaluate the text of the query, an expression, in a step of a trace.
    Evaluate {
        /// The trace.
        trace: Box<Trace>,
        /// The index of the step.
        step: usize,
    },
    /// Answer questions about walks of the model until the input closes: each further line of input
    /// is a [`WalkRequest`](crate::simulation::WalkRequest), each is answered by one
    /// [`WorkerMessage::Walk`].
    Walk,
    /// Explore everything and say what was not seen.
    Coverage,
}

/// The request that the server writes to the standard input of a worker: one line of JSON. The
/// worker ends when its input closes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerRequest {
    /// The version of the worker protocol.
    pub protocol: u32,
    /// The task.
    pub task: WorkerTask,
    /// The model's text.
    pub model: String,
    /// `xta` or `xml`.
    pub kind: String,
    /// The formula.
    pub query: String,
    /// The line of the formula in its file, starting at 1.
    pub line: u32,
    /// The verdict that the author expects.
    pub expected: Option<Verdict>,
    /// The options of the run.
    pub options: Options,
}

/// The version of the worker protocol.
pub const WORKER_PROTOCOL: u32 = 2;

/// The messages that a worker writes to its standard output: one line of JSON each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum WorkerMessage {
    /// The worker is still running.
    Progress(Progress),
    /// The answer to a query; the last message.
    Result(Box<QueryReport>),
    /// A trace that was replayed; the last message.
    Replayed {
        /// The trace with the current names and positions of the model.
        trace: Box<Trace>,
    },
    /// A trace that cannot be replayed; the last message.
    Refused {
        /// The reason.
        message: String,
    },
    /// The value of an expression; the last message.
    Value {
        /// The value.
        value: TraceValue,
    },
    /// What a model never does; the last message.
    Coverage(Box<crate::coverage::Coverage>),
    /// The answer to a question about a walk; others may follow.
    Walk(Box<crate::simulation::WalkAnswer>),
}
