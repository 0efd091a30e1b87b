//! The obligations of a certificate.

use crate::condition::has_deadlock;
use crate::coverage::Kind;
use crate::eval::{Evaluator, Failure, State};
use crate::format::{Bytes, Header, Malformed, Shape, Slice, Stream, Target};
use crate::steps::{Expanded, Model};
use crate::zone::{TooManyPieces, Union, Zone, outside};
use std::fmt::Write;
use std::io::Read;
use zonelens_analysis::meaning;
use zonelens_analysis::network::{CellId, Expr, Network, Query};
use zonelens_syntax::span::Span;

/// What a certificate failed to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obligation {
    /// The file is well formed.
    Format,
    /// The header is that of this model, query and constants.
    Claim,
    /// The model and the query are such that the checker knows their exact meaning.
    Covered,
    /// No evaluation fails.
    NoErrors,
    /// The initial state is in the set.
    Initial,
    /// The steps of the states of the set stay in it.
    Closed,
    /// No state of the set violates the claim.
    Good,
    /// The check was not stopped by a limit or by the caller.
    Finished,
}

impl Obligation {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Obligation::Format => "format",
            Obligation::Claim => "claim",
            Obligation::Covered => "covered",
            Obligation::NoErrors => "no errors",
            Obligation::Initial => "initial",
            Obligation::Closed => "closed",
            Obligation::Good => "good",
            Obligation::Finished => "finished",
        }
    }
}

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The obligation that fails.
    pub obligation: Obligation,
    /// What is wrong.
    pub message: String,
    /// The number of the state in the certificate, and the state as text.
    pub state: Option<(u64, String)>,
    /// The place in the model, if there is one.
    pub span: Option<Span>,
}

impl Rejection {
    /// A rejection that is not about a state.
    pub fn new(obligation: Obligation, message: impl Into<String>) -> Rejection {
        Rejection {
            obligation,
            message: message.into(),
            state: None,
            span: None,
        }
    }

    fn failure(obligation: Obligation, failure: Failure) -> Rejection {
        Rejection {
            span: failure.span,
            ..Rejection::new(obligation, failure.message)
        }
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.obligation.name(), self.message)?;
        match &self.state {
            Some((number, text)) => write!(f, " (state {number}: {text})"),
            None => Ok(()),
        }
    }
}

impl From<Malformed> for Rejection {
    fn from(Malformed(message): Malformed) -> Rejection {
        Rejection::new(Obligation::Format, message)
    }
}

type Check<T> = Result<T, Rejection>;

/// Limits of a check.
pub struct Limits<'a> {
    /// The most bytes that are kept in memory; 8 GB if nothing else is said.
    pub memory: u64,
    /// Asked now and then whether to stop.
    pub stop: &'a dyn Fn() -> bool,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            memory: 8 << 30,
            stop: &|| false,
        }
    }
}

/// A certificate that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The kind of the claim.
    pub kind: Kind,
    /// Its discrete states.
    pub states: u64,
    /// Its zones.
    pub zones: u64,
    /// Its size.
    pub bytes: u64,
    /// The steps that were checked.
    pub steps: u64,
}

/// The header that a certificate of this claim must have, apart from the name of the tool.
pub fn header(network: &Network, query: &Query, kind: Kind) -> Header {
    let digested = meaning::of_network(network);
    Header {
        kind,
        digest: meaning::of_question(network, &digested, query),
        tool: String::new(),
        constants: Default::default(),
        query: query.text.to_string(),
    }
}

/// Checks a certificate of `length` bytes for a query of a network. The header must be that of this
/// claim; constants are for the caller to compare, because the network has them built in.
pub fn check(
    network: &Network,
    query: &Query,
    reader: impl Read,
    length: u64,
    limits: &Limits<'_>,
) -> Check<Accepted> {
    let mut stream = Stream::new(reader, length);
    let found = stream.header()?;
    let refuse = |message: String| Rejection::new(Obligation::Covered, message);
    let (kind, condition) = Kind::of(query).map_err(refuse)?;
    let expected = header(network, query, kind);
    if found.kind != kind {
        let message = format!(
            "it claims that {}, which is not what `{}` asks",
            found.kind.claim(),
            query.text
        );
        return Err(Rejection::new(Obligation::Claim, message));
    }
    if found.digest != expected.digest {
        let message = "it was made for another model, other constants or another query";
        return Err(Rejection::new(Obligation::Claim, message));
    }
    let model = Model::new(network).map_err(|f| Rejection::failure(Obligation::Covered, f))?;
    let shape = stream.shape(network)?;
    let set = Set::read(&mut stream, network, shape, limits)?;
    let check = Checker {
        network,
        model: &model,
        set: &set,
        condition,
        frame: query.frame,
        forbidden: kind.forbidden(),
        deadlock: has_deadlock(condition),
    };
    check.initial(&mut stream)?;
    let mut steps = 0;
    for state in 0..shape.states {
        if (limits.stop)() {
            let message = "the check was stopped before its end";
            return Err(Rejection::new(Obligation::Finished, message));
        }
        steps += check.state(state, &mut stream)?;
    }
    if !stream.ends() {
        let message = "bytes follow the end of the certificate";
        return Err(Rejection::new(Obligation::Format, message));
    }
    Ok(Accepted {
        kind,
        states: shape.states,
        zones: shape.zones,
        bytes: length,
        steps,
    })
}

/// The states and zones of a certificate, as bytes, with the places where they begin.
struct Set<'n> {
    network: &'n Network,
    bytes: Vec<u8>,
    states: Vec<usize>,
    /// For each state, the number of its first zone; the number of all zones at the end.
    first_zone: Vec<usize>,
    zones: Vec<usize>,
}

impl<'n> Set<'n> {
    /// Reads and examines all states and zones.
    fn read<R: Read>(
        stream: &mut Stream<R>,
        network: &'n Network,
        shape: Shape,
        limits: &Limits<'_>,
    ) -> Check<Set<'n>> {
        let clocks = network.clocks.len();
        let mut set = Set {
            network,
            bytes: Vec::new(),
            states: Vec::new(),
            first_zone: vec![0],
            zones: Vec::new(),
        };
        stream.kept = Some(Vec::new());
        let at = |stream: &Stream<R>| stream.kept.as_ref().map_or(0, Vec::len);
        for _ in 0..shape.states {
            set.states.push(at(stream));
            stream.state(network)?;
            for _ in 0..stream.count("zones of a state")? {
                set.zones.push(at(stream));
                stream.zone(clocks, |_| {})?;
            }
            set.first_zone.push(set.zones.len());
            let kept = at(stream) + (set.states.len() + set.zones.len()) * 16;
            if kept as u64 > limits.memory || (limits.stop)() {
                let message = "the limits were reached while its states were read";
                return Err(Rejection::new(Obligation::Finished, message));
            }
        }
        if set.zones.len() as u64 != shape.zones {
            let message = format!(
                "it has {} zones and claims {}",
                set.zones.len(),
                shape.zones
            );
            return Err(Rejection::new(Obligation::Format, message));
        }
        set.bytes = stream.kept.take().unwrap_or_default();
        Ok(set)
    }

    fn state(&self, number: usize) -> Check<State> {
        Ok(Slice(&self.bytes[self.states[number]..]).state(self.network)?)
    }

    /// Passes the constraints of a zone on.
    fn constraints(&self, zone: usize, take: impl FnMut(crate::zone::Constraint)) -> Check<()> {
        let clocks = self.network.clocks.len();
        Ok(Slice(&self.bytes[self.zones[zone]..]).zone(clocks, take)?)
    }

    /// A zone, closed; `None` if it is empty.
    fn zone(&self, zone: usize) -> Check<Option<Zone>> {
        let mut all = Vec::new();
        self.constraints(zone, |c| all.push(c))?;
        Ok(Zone::of(self.network.clocks.len(), all.into_iter()))
    }

    /// The points of a union outside of a zone.
    fn outside(&self, union: Union, zone: usize) -> Check<Union> {
        // Most successors lie in one zone.
        let mut inside = true;
        self.constraints(zone, |c| inside &= union.iter().all(|z| z.satisfies(c)))?;
        if inside {
            return Ok(Vec::new());
        }
        let mut hole = Vec::new();
        self.constraints(zone, |c| hole.push(c))?;
        outside(union, &hole).map_err(|TooManyPieces| {
            let message = "the zones of a successor are covered in too many pieces to check";
            Rejection::new(Obligation::Closed, message)
        })
    }
}

struct Checker<'c, 'n> {
    network: &'n Network,
    model: &'c Model<'n>,
    set: &'c Set<'n>,
    condition: &'n Expr,
    frame: u32,
    forbidden: bool,
    deadlock: bool,
}

impl Checker<'_, '_> {
    /// Obligation 1.
    fn initial(&self, stream: &mut impl Bytes) -> Check<()> {
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        let (arrival, zone) = self.model.initial().map_err(failed)?;
        let Some(zone) = zone else {
            let message = "the initial state violates an invariant, so the model has no behaviour";
            return Err(Rejection::new(Obligation::Initial, message));
        };
        let target = stream.target()?;
        self.covered(&arrival.state, vec![zone], &target)
            .map_err(|message| Rejection {
                state: Some((target.state, self.text(&arrival.state))),
                ..Rejection::new(Obligation::Initial, message)
            })
    }

    /// Obligations 0, 2 and 3 for the zones of one state; returns the number of their steps.
    fn state(&self, number: u64, stream: &mut impl Bytes) -> Check<u64> {
        let index = number as usize;
        let state = self.set.state(index)?;
        let (mut expanded, mut steps) = (None, 0);
        for zone in self.set.first_zone[index]..self.set.first_zone[index + 1] {
            let entries = stream.count("steps")?;
            let result = match self.set.zone(zone)? {
                // An empty zone owes nothing.
                None if entries == 0 => Ok(0),
                None => Err(Rejection::new(
                    Obligation::Closed,
                    "the certificate lists steps of an empty zone",
                )),
                Some(zone) => {
                    let expanded = match &mut expanded {
                        Some(expanded) => expanded,
                        none => none.insert(self.expand(state.clone())),
                    };
                    match expanded {
                        Ok(expanded) => self
                            .closed(expanded, &zone, entries, stream)
                            .and_then(|steps| self.good(expanded, zone).map(|()| steps)),
                        Err(rejection) => Err(rejection.clone()),
                    }
                }
            };
            steps += result.map_err(|rejection| Rejection {
                state: Some((number, self.text(&state))),
                ..rejection
            })?;
        }
        Ok(steps)
    }

    fn expand(&self, state: State) -> Check<Expanded<'_, '_>> {
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        self.model.expand(state).map_err(failed)
    }

    /// Obligations 0 and 2: every step of the zone has its entry, and the zones that the entry
    /// names cover the exact successors. Returns the number of steps.
    fn closed(
        &self,
        expanded: &mut Expanded<'_, '_>,
        zone: &Zone,
        entries: u64,
        stream: &mut impl Bytes,
    ) -> Check<u64> {
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        let mut left = entries;
        expanded.failing_guard(zone).map_err(failed)?;
        for index in 0..expanded.steps.len() {
            let successors = expanded.successors(index, zone).map_err(failed)?;
            if successors.is_empty() {
                continue;
            }
            let open = |message: &str, expanded: &Expanded<'_, '_>| Rejection {
                span: self.span_of(expanded, index),
                ..Rejection::new(
                    Obligation::Closed,
                    format!("{message} {}", self.step_text(expanded, index)),
                )
            };
            if left == 0 {
                return Err(open("it does not list the step", expanded));
            }
            left -= 1;
            let key = stream.key(self.network)?;
            if key != expanded.steps[index].key {
                let message = match key < expanded.steps[index].key {
                    true => "it lists a step that does not exist, before",
                    false => "it does not list the step",
                };
                return Err(open(message, expanded));
            }
            let target = stream.target()?;
            let state = expanded.target(index).map_err(failed)?;
            if let Err(message) = self.covered(state, successors, &target) {
                return Err(open(&format!("{message}, after the step"), expanded));
            }
        }
        match left {
            0 => Ok(entries),
            _ => Err(Rejection::new(
                Obligation::Closed,
                format!("{left} of the listed steps do not exist"),
            )),
        }
    }

    /// Whether the named zones cover the successors; `Err` says why not.
    fn covered(&self, state: &State, mut rest: Union, target: &Target) -> Result<(), String> {
        let index = target.state as usize;
        if target.state >= self.set.states.len() as u64 {
            return Err(format!("it names state {index}, which does not exist"));
        }
        let cover = self.set.state(index).map_err(|r| r.message)?;
        let same = |(own, cover): (&Option<i32>, &Option<i32>)| cover.is_none() || own == cover;
        if cover.locations != state.locations || !state.cells.iter().zip(&cover.cells).all(same) {
            return Err(format!(
                "the named state {index} is another than the state reached, {}",
                self.text(state)
            ));
        }
        let zones = self.set.first_zone[index]..self.set.first_zone[index + 1];
        for number in &target.zones {
            if *number >= zones.len() as u64 {
                return Err(format!(
                    "it names zone {number} of state {index}, which does not exist"
                ));
            }
            let zone = zones.start + *number as usize;
            rest = self.set.outside(rest, zone).map_err(|r| r.message)?;
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "the named zones of state {index} do not cover all clock values"
            )),
        }
    }

    /// Obligation 3.
    fn good(&self, expanded: &mut Expanded<'_, '_>, zone: Zone) -> Check<()> {
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        let dead = match self.deadlock {
            true => expanded.dead(&zone).map_err(failed)?,
            false => Vec::new(),
        };
        let mut evaluator = Evaluator::new(self.network, &mut expanded.state);
        evaluator.enter(self.frame, std::iter::empty());
        let parts = evaluator
            .parts(self.condition, zone, &dead)
            // The span of a query is not a place in the model.
            .map_err(|failure| {
                let message = format!("the query: {}", failure.message);
                Rejection::new(Obligation::NoErrors, message)
            })?;
        match parts
            .iter()
            .any(|(value, _)| (*value != 0) == self.forbidden)
        {
            false => Ok(()),
            true => Err(Rejection::new(
                Obligation::Good,
                match self.forbidden {
                    true => "the condition of the query holds in a part of the zone",
                    false => "the condition of the query is false in a part of the zone",
                },
            )),
        }
    }

    fn span_of(&self, expanded: &Expanded<'_, '_>, index: usize) -> Option<Span> {
        let (process, edge, _) = expanded.steps[index].key.first()?;
        let edges = &self.network.processes[*process as usize].edges;
        edges[*edge as usize].spans.first().copied()
    }

    /// The edges of a step, as text.
    fn step_text(&self, expanded: &Expanded<'_, '_>, index: usize) -> String {
        let mut text = String::new();
        for (process, edge, values) in &expanded.steps[index].key {
            let process = &self.network.processes[*process as usize];
            let edge = &process.edges[*edge as usize];
            let name = |location: u32| &process.locations[location as usize].name;
            let comma = if text.is_empty() { "" } else { ", " };
            let (from, to) = (name(edge.source), name(edge.target));
            let _ = write!(text, "{comma}{} {from} -> {to}", process.name);
            for (select, value) in edge.selects.iter().zip(values) {
                let _ = write!(text, " [{} = {value}]", select.name);
            }
        }
        text
    }

    /// A state as text: locations, and variables that do not have their initial values.
    fn text(&self, state: &State) -> String {
        let mut parts = Vec::new();
        for (process, location) in self.network.processes.iter().zip(&state.locations) {
            let name = &process.locations[*location as usize].name;
            parts.push(format!("{}.{name}", process.name));
        }
        for (number, value) in (0..).zip(&state.cells) {
            let cell = &self.network.cells[CellId(number)];
            let variable = &self.network.variables[cell.variable];
            let at = number - variable.first_cell.0;
            let (cells, _, _) = variable.shape.counts();
            let name = match cells {
                1 => variable.name.to_string(),
                _ => format!("{} (cell {at})", variable.name),
            };
            match value {
                None => parts.push(format!("{name} = *")),
                Some(value) if *value != cell.init => parts.push(format!("{name} = {value}")),
                Some(_) => {}
            }
        }
        let mut text = parts.join(", ");
        if let Some((end, _)) = text.char_indices().nth(500) {
            text.truncate(end);
            text.push('…');
        }
        text
    }
}
