//! The states and zones of a certificate, and the steps that it lists.

use crate::check::{Check, Limits, Obligation, Rejection};
use crate::eval::State;
use crate::format::{Bytes, Slice, Stream, Target};
use crate::steps::Key;
use crate::symmetry::Action;
use crate::zone::{TooManyPieces, Union, Zone, outside};
use std::fmt::Write;
use std::io::Read;
use zonelens_analysis::network::{CellId, Network};

/// The states and zones of a certificate, as bytes, with the places where they begin.
pub(crate) struct Set<'n> {
    network: &'n Network,
    /// The symmetry up to which the set is meant.
    pub action: &'n Action,
    bytes: Vec<u8>,
    states: Vec<usize>,
    /// For each state, the number of its first zone; the number of all zones at the end.
    first_zone: Vec<usize>,
    zones: Vec<usize>,
}

impl<'n> Set<'n> {
    /// Reads and examines all states and zones.
    pub(crate) fn read<R: Read>(
        stream: &mut Stream<R>,
        (network, action): (&'n Network, &'n Action),
        (states, zones): (u64, u64),
        limits: &Limits<'_>,
    ) -> Check<Set<'n>> {
        let clocks = network.clocks.len();
        let mut set = Set {
            network,
            action,
            bytes: Vec::new(),
            states: Vec::new(),
            first_zone: vec![0],
            zones: Vec::new(),
        };
        stream.kept = Some(Vec::new());
        let at = |stream: &Stream<R>| stream.kept.as_ref().map_or(0, Vec::len);
        for _ in 0..states {
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
        if set.zones.len() as u64 != zones {
            let message = format!("it has {} zones and claims {zones}", set.zones.len());
            return Err(Rejection::new(Obligation::Format, message));
        }
        set.bytes = stream.kept.take().unwrap_or_default();
        Ok(set)
    }

    pub(crate) fn state(&self, number: usize) -> Check<State> {
        Ok(Slice(&self.bytes[self.states[number]..]).state(self.network)?)
    }

    /// Passes the constraints of a zone on.
    fn constraints(&self, zone: usize, take: impl FnMut(crate::zone::Constraint)) -> Check<()> {
        let clocks = self.network.clocks.len();
        Ok(Slice(&self.bytes[self.zones[zone]..]).zone(clocks, take)?)
    }

    /// A zone, closed; `None` if it is empty.
    pub(crate) fn zone(&self, zone: usize) -> Check<Option<Zone>> {
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

    /// The zones of a state, by their numbers among all zones.
    pub(crate) fn zones_of(&self, state: usize) -> std::ops::Range<usize> {
        self.first_zone[state]..self.first_zone[state + 1]
    }

    /// The number of discrete states.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The number of zones.
    pub(crate) fn zone_count(&self) -> usize {
        self.zones.len()
    }

    /// Whether the named zones cover the successors, or their image under the named permutation;
    /// `Err` says why not.
    pub(crate) fn covered(
        &self,
        state: &State,
        rest: Union,
        target: &Target,
    ) -> Result<(), String> {
        let mut rest = self.action.zones(&target.by, rest);
        let state = &self.action.state(&target.by, state);
        let index = target.state as usize;
        if target.state >= self.states.len() as u64 {
            return Err(format!("it names state {index}, which does not exist"));
        }
        let cover = self.state(index).map_err(|r| r.message)?;
        let same = |(own, cover): (&Option<i32>, &Option<i32>)| cover.is_none() || own == cover;
        if cover.locations != state.locations || !state.cells.iter().zip(&cover.cells).all(same) {
            return Err(format!(
                "the named state {index} is another than the state reached, {}",
                state_text(self.network, state)
            ));
        }
        let zones = self.zones_of(index);
        for number in &target.zones {
            if *number >= zones.len() as u64 {
                return Err(format!(
                    "it names zone {number} of state {index}, which does not exist"
                ));
            }
            let zone = zones.start + *number as usize;
            rest = self.outside(rest, zone).map_err(|r| r.message)?;
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "the named zones of state {index} do not cover all clock values"
            )),
        }
    }
}

/// The steps of a zone as a record lists them.
pub(crate) struct Listed<'n> {
    network: &'n Network,
    action: &'n Action,
    left: u64,
}

impl<'n> Listed<'n> {
    /// Begins a record.
    pub(crate) fn begin(set: &Set<'n>, stream: &mut impl Bytes) -> Check<Listed<'n>> {
        Ok(Listed {
            network: set.network,
            action: set.action,
            left: stream.count("steps")?,
        })
    }

    /// The target of the next step, which must be the given one.
    pub(crate) fn target(&mut self, key: &Key, stream: &mut impl Bytes) -> Check<Target> {
        let open = |message| Err(open_at(self.network, key, message));
        if self.left == 0 {
            return open("it does not list the step");
        }
        self.left -= 1;
        let listed = stream.key(self.network)?;
        match listed.cmp(key) {
            std::cmp::Ordering::Less => open("it lists a step that does not exist, before"),
            std::cmp::Ordering::Greater => open("it does not list the step"),
            std::cmp::Ordering::Equal => Ok(stream.target(self.action)?),
        }
    }

    /// The record must end here.
    pub(crate) fn end(self, what: &str) -> Check<()> {
        match self.left {
            0 => Ok(()),
            left => Err(Rejection::new(
                Obligation::Closed,
                format!("{left} of the listed steps {what}"),
            )),
        }
    }
}

/// The rejection of a set that a step leaves.
pub(crate) fn open_at(network: &Network, key: &Key, message: &str) -> Rejection {
    let edge = key
        .first()
        .map(|(process, edge, _)| &network.processes[*process as usize].edges[*edge as usize]);
    Rejection {
        span: edge.and_then(|edge| edge.spans.first().copied()),
        ..Rejection::new(
            Obligation::Closed,
            format!("{message} {}", step_text(network, key)),
        )
    }
}

/// The edges of a step, as text.
fn step_text(network: &Network, key: &Key) -> String {
    let mut text = String::new();
    for (process, edge, values) in key {
        let process = &network.processes[*process as usize];
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
pub(crate) fn state_text(network: &Network, state: &State) -> String {
    let mut parts = Vec::new();
    for (process, location) in network.processes.iter().zip(&state.locations) {
        let name = &process.locations[*location as usize].name;
        parts.push(format!("{}.{name}", process.name));
    }
    for (number, value) in (0..).zip(&state.cells) {
        let cell = &network.cells[CellId(number)];
        let variable = &network.variables[cell.variable];
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
