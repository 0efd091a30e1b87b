//! What a simulation says: the state that every command answers with, and the questions about a
//! walk that the engine answers.
//!
//! These types are the JSON contract of `zonelens simulate -i --format json`, of the simulation
//! commands of the server and of the `walk` task of the worker. The interpreter fills in the run,
//! the engine the zone. `docs/simulator.md` explains every field.

use crate::report::{TraceEdge, TraceState, TraceTransition};
use serde::{Deserialize, Serialize};

/// A simulation after a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// Number of transitions taken up to the present state; 0 in the initial state.
    pub step: usize,
    /// Number of transitions of the whole walk; those after `step` can be taken again by going
    /// forward.
    pub length: usize,
    /// Parts of a time unit: the least common denominator of all delays.
    pub unit: i64,
    /// Time since the start of the run.
    pub time: String,
    /// Time since the last transition; it becomes part of the delay of the next one.
    pub waited: String,
    /// The present state of the run.
    pub state: TraceState,
    /// The walk, with the delays of its run.
    pub walk: Vec<WalkedStep>,
    /// What the run can do, now or later, the earliest first; transitions of one group stand
    /// together.
    pub possible: Vec<PossibleTransition>,
    /// The groups of `possible`: transitions that the same edge starts.
    pub groups: Vec<ChoiceGroup>,
    /// What the zone allows and the run does not; null while the zone is not known.
    pub other_delays: Option<Vec<OtherTransition>>,
    /// What cannot happen in this discrete state, with the first reason.
    pub blocked: Vec<BlockedTransition>,
    /// Number of transitions that the three lists leave out because there are too many.
    pub left_out: usize,
    /// How long time may pass.
    pub wait: Wait,
    /// Whether receivers of a broadcast are being chosen, one process at a time.
    pub choosing: Option<Choosing>,
    /// The zone of the walk; null while it is not known.
    pub zone: Option<WalkZone>,
    /// False if a limit was reached before everything that may happen was examined.
    pub complete: bool,
    /// What the last command has to say: why it was refused, or which delays were chosen again.
    pub message: Option<String>,
}

/// A transition of the walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkedStep {
    /// Time that passes before it.
    pub delay: String,
    /// Whether the user fixed the delay; free ones may be chosen again.
    pub fixed: bool,
    /// The transition.
    pub transition: TraceTransition,
}

/// Delays between two ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DelayInterval {
    /// The least delay.
    pub from: String,
    /// Whether it is excluded.
    pub from_open: bool,
    /// The greatest delay; null if there is none.
    pub to: Option<String>,
    /// Whether it is excluded.
    pub to_open: bool,
}

/// A transition that the run can take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PossibleTransition {
    /// The number that takes it.
    pub number: usize,
    /// Its group: an index into `groups`.
    pub group: usize,
    /// What it does.
    pub transition: TraceTransition,
    /// The delays after which it can be taken, counted from now.
    pub delays: Vec<DelayInterval>,
    /// The same as text: `[2, 5)`, or several of these with `or`.
    pub window: String,
    /// For a broadcast that can be received in more than 1,024 ways: what each receiver can do.
    /// `transition` then has the sender alone, and taking it asks for the receivers one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<Vec<TraceEdge>>,
}

/// Transitions that the same edge starts: they differ in select values and receivers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceGroup {
    /// The process that starts them.
    pub process: String,
    /// Source location of its edge.
    pub from: String,
    /// Target location of its edge.
    pub to: String,
    /// The number of the first one.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// Whether they are shown as one line that can be opened: there are more than 20.
    pub folded: bool,
}

/// A transition that is possible with other delays before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherTransition {
    /// The number that takes it.
    pub number: usize,
    /// What it does.
    pub transition: TraceTransition,
    /// Why the present run cannot take it, if that is known.
    pub reason: Option<BlockedReason>,
}

/// A transition that cannot be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedTransition {
    /// What it would do; of a broadcast whose receivers are not known, the sender alone.
    pub transition: TraceTransition,
    /// What forbids it.
    pub reason: BlockedReason,
}

/// What forbids a transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedReason {
    /// Which condition.
    pub kind: BlockedKind,
    /// A sentence without a full stop.
    pub message: String,
    /// 1-based line of the condition; 0 if it has no place.
    pub line: u32,
    /// 1-based column of the condition; 0 if it has no place.
    pub column: u32,
}

/// The conditions of a transition, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockedKind {
    /// A part of the guard is false.
    Guard,
    /// No other process can synchronise.
    NoPartner,
    /// A part of the receiver's guard is false.
    ReceiverGuard,
    /// A process elsewhere is in a committed location.
    Committed,
    /// The invariant of a target location is false.
    Invariant,
    /// A transition of higher priority is possible.
    Priority,
    /// Evaluation fails.
    Error,
}

/// How long time may pass in the present state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// The delays that are allowed, counted from now.
    pub delays: DelayInterval,
    /// The same as text.
    pub window: String,
    /// What ends them.
    pub end: WaitEnd,
    /// The process that it is about.
    pub process: Option<String>,
    /// A sentence without a full stop.
    pub message: String,
}

/// What ends the time that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitEnd {
    /// Nothing: time may pass for ever.
    Never,
    /// An invariant.
    Invariant,
    /// An urgent or committed location.
    Location,
    /// An urgent synchronisation.
    Urgent,
    /// An evaluation error.
    Error,
    /// A limit on the work for one answer: more may be allowed.
    Limit,
}

/// Receivers of a broadcast, chosen one process at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choosing {
    /// Who takes part so far.
    pub transition: TraceTransition,
    /// The process that is asked for.
    pub process: String,
    /// What it can do; numbers count from 0.
    pub options: Vec<TraceEdge>,
    /// How many processes are left, this one included.
    pub left: usize,
}

/// All clock values that some choice of delays along the walk can give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WalkZone {
    /// A union of convex sets.
    Zone {
        /// The convex sets.
        pieces: Vec<ZonePiece>,
    },
    /// There is none.
    None {
        /// Why.
        reason: String,
    },
}

/// A convex set of clock values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ZonePiece {
    /// The constraints as text: `x <= 5 && x - y < 3`; `true` if there are none.
    pub text: String,
    /// The constraints; none follows from the others, and clocks are never negative.
    pub constraints: Vec<ZoneConstraint>,
}

/// `left - right <= bound`, or `<`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ZoneConstraint {
    /// A clock; null is the constant 0.
    pub left: Option<String>,
    /// A clock; null is the constant 0.
    pub right: Option<String>,
    /// The bound.
    pub bound: i64,
    /// Whether the bound itself is excluded.
    pub strict: bool,
}

/// An edge of a process with the values of its select variables, in the order of their declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkEdge {
    /// Index of the process in the network.
    pub process: u32,
    /// Index of the edge among its process' edges.
    pub edge: u32,
    /// Values of select variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<i32>,
}

/// A transition of a walk that is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkStep {
    /// Everyone who takes part, sender first.
    pub edges: Vec<WalkEdge>,
    /// The delay before it if it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
}

/// A question about a walk: its zone and, if `take` is given, delays with which that transition can
/// follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WalkRequest {
    /// Comes back with the answer.
    pub id: u64,
    /// The transitions from the initial state.
    pub steps: Vec<WalkStep>,
    /// Time that the user let pass after the last transition: the next delay is not shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited: Option<String>,
    /// The transition that shall follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<Vec<WalkEdge>>,
}

/// What the engine says about a walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkAnswer {
    /// The number of the question.
    pub id: u64,
    /// The zone.
    pub zone: WalkZone,
    /// Transitions that some point of the zone allows: everyone who takes part, sender first.
    pub transitions: Vec<Vec<WalkEdge>>,
    /// Number of transitions that were not looked at because there are too many.
    pub left_out: usize,
    /// Delays for the transition that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<ChosenDelays>,
}

/// Delays along a walk, one before each transition, the last one before the transition that was
/// asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChosenDelays {
    /// The delays; fixed ones are as they were.
    Delays {
        /// Integers or fractions `p/q`.
        delays: Vec<String>,
    },
    /// The fixed delays forbid it.
    Forbidden {
        /// The first step, from 1, whose fixed delay does, together with those before it; one more
        /// than the number of steps for the time that the user let pass after the last one.
        step: usize,
    },
    /// There are none, or none were found.
    None {
        /// Why.
        reason: String,
    },
}
