//! A second reader of certificates, for tests: plain, whole in memory, with a writer to match.
//!
//! It follows `docs/certificates.md` and shares no code with the checker of certificates, whose
//! tests change files with it and ask [`Naive`] about the result.

mod mutants;
mod naive;
mod symmetry;

pub use mutants::{Accepts, Certify, mutants};
pub use naive::{Claim, Condition, Naive};

use crate::Rng;
use zonelens_analysis::network::{CellId, Id, Network};

/// A bound `2c + 1` for `<= c`, `2c` for `< c` on `x_i - x_j`.
pub type Bound = (usize, usize, i64);

/// A discrete state with its zones. A cell that is `None` is `*`.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub locations: Vec<u64>,
    pub cells: Vec<Option<i64>>,
    pub zones: Vec<Vec<Bound>>,
}

/// A state, zones of it, and for each set of elements those that are moved, with their images.
pub type Target = (u64, Vec<u64>, Vec<Vec<(u64, u64)>>);

/// What a certificate says about symmetry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    /// For each set: the first value, the size, the blocks.
    pub sets: Vec<(i64, u64, Vec<Vec<u64>>)>,
    /// The elements that the query names, with their sets.
    pub named: Vec<(u64, u64)>,
    /// For each cell 0, or one more than the set whose elements it holds.
    pub holds: Vec<u64>,
    /// For cells, clocks, channels and processes, one after the other: set, element, stride.
    pub coordinates: Vec<Vec<(u64, u64, i64)>>,
}

/// A participant of a step: process, edge, values of select variables from 0.
pub type Part = (u64, u64, Vec<u64>);

/// For each zone of each state, its steps.
pub type Records = Vec<Vec<(Vec<Part>, Target)>>;

/// A certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// All bytes before the numbers of states and zones.
    pub head: Vec<u8>,
    pub action: Action,
    pub states: Vec<State>,
    /// `None` if no run starts at the initial state.
    pub initial: Option<Target>,
    pub records: Records,
    /// What a claim about runs adds.
    pub runs: Option<Runs>,
}

/// The parts of a certificate about runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// If runs start at all states with a condition: the second set.
    pub second: Option<Second>,
    pub tree: Tree,
}

/// The states of runs from all states with a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    pub states: Vec<State>,
    /// For each zone of the first set, where the runs that start there lie.
    pub starts: Vec<Option<Target>>,
    pub records: Records,
}

/// A proof that no path is infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub numbers: Vec<u64>,
    /// Number, bounded clock, and the list of other clocks with whether there are two subtrees.
    pub parts: Vec<(u64, u64, Vec<u64>, bool)>,
    pub subtrees: Vec<Tree>,
}

struct Reader<'b>(&'b [u8], usize);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| one(self)).collect()
    }

    fn target(&mut self) -> Option<Target> {
        let (state, zones) = (self.number()?, self.list(Reader::number)?);
        let by = (0..self.1).map(|_| {
            let mut free = 0;
            self.list(|reader| {
                let element = free + reader.number()?;
                free = element + 1;
                Some((element, reader.number()?))
            })
        });
        Some((state, zones, by.collect::<Option<_>>()?))
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn action(&mut self, network: &Network) -> Option<Action> {
        let sets = self.list(|reader| {
            let (first, size) = (reader.signed()?, reader.number()?);
            Some((
                first,
                size,
                reader.list(|reader| reader.list(Reader::number))?,
            ))
        })?;
        if sets.is_empty() {
            return Some(Action::default());
        }
        self.1 = sets.len();
        let named = self.list(|reader| Some((reader.number()?, reader.number()?)))?;
        let cells = network.cells.len();
        let holds: Option<Vec<u64>> = (0..cells).map(|_| self.number()).collect();
        let all = cells + network.clocks.len() + network.channels.len() + network.processes.len();
        let coordinates = (0..all).map(|_| {
            self.list(|reader| Some((reader.number()?, reader.number()?, reader.signed()?)))
        });
        Some(Action {
            sets,
            named,
            holds: holds?,
            coordinates: coordinates.collect::<Option<_>>()?,
        })
    }

    fn start(&mut self) -> Option<Option<Target>> {
        match self.number()? {
            0 => Some(None),
            _ => self.target().map(Some),
        }
    }

    fn states(&mut self, network: &Network, count: u64) -> Option<Vec<State>> {
        let dim = network.clocks.len() as u64 + 1;
        let one = |_| {
            let locations = network.processes.iter().map(|_| self.number());
            let locations: Option<Vec<u64>> = locations.collect();
            let cells = (0..network.cells.len()).map(|c| {
                let above = self.number()? as i64;
                let lo = i64::from(network.cells.get(CellId::at(c))?.lo);
                Some((above > 0).then_some(lo + above - 1))
            });
            let cells: Option<Vec<Option<i64>>> = cells.collect();
            let zones = self.list(|reader| {
                let mut free = 0;
                reader.list(|reader| {
                    let position = free + reader.number()?;
                    let bound = reader.signed()?;
                    free = position + 1;
                    Some(((position / dim) as usize, (position % dim) as usize, bound))
                })
            });
            Some(State {
                locations: locations?,
                cells: cells?,
                zones: zones?,
            })
        };
        (0..count).map(one).collect()
    }

    fn records(&mut self, network: &Network, states: &[State]) -> Option<Records> {
        let one = |_| {
            self.list(|reader| {
                let parts = reader.list(|reader| {
                    let (process, edge) = (reader.number()?, reader.number()?);
                    let edges = &network.processes.get(process as usize)?.edges;
                    let selects = edges.get(edge as usize)?.selects.iter();
                    let values: Option<Vec<u64>> = selects.map(|_| reader.number()).collect();
                    Some((process, edge, values?))
                })?;
                Some((parts, reader.target()?))
            })
        };
        (0..zones(states)).map(one).collect()
    }

    fn tree(&mut self, nodes: usize) -> Option<Tree> {
        let numbers: Option<Vec<u64>> = (0..nodes).map(|_| self.number()).collect();
        let numbers = numbers?;
        let parts = self.list(|reader| {
            let (number, short) = (reader.number()?, reader.number()?);
            let count = reader.number()?;
            let clocks = (0..count.max(1)).map(|_| reader.number());
            let clocks: Option<Vec<u64>> = clocks.collect();
            Some((number, short, clocks?, count == 0))
        })?;
        let mut subtrees = Vec::new();
        for (number, _, _, both) in &parts {
            let nodes = numbers.iter().filter(|n| *n == number).count();
            for _ in 0..1 + usize::from(*both) {
                subtrees.push(self.tree(nodes)?);
            }
        }
        Some(Tree {
            numbers,
            parts,
            subtrees,
        })
    }
}

/// The number of zones of states.
fn zones(states: &[State]) -> usize {
    states.iter().map(|s| s.zones.len()).sum()
}

fn put_start(out: &mut Vec<u8>, start: Option<&Target>) {
    put(out, u64::from(start.is_some()));
    start.iter().for_each(|target| put_target(out, target));
}

fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)) as u64);
}

fn put_action(out: &mut Vec<u8>, action: &Action) {
    put(out, action.sets.len() as u64);
    for (first, size, blocks) in &action.sets {
        put_signed(out, *first);
        put(out, *size);
        put(out, blocks.len() as u64);
        for block in blocks {
            put(out, block.len() as u64);
            block.iter().for_each(|e| put(out, *e));
        }
    }
    if action.sets.is_empty() {
        return;
    }
    put(out, action.named.len() as u64);
    for (set, element) in &action.named {
        put(out, *set);
        put(out, *element);
    }
    action.holds.iter().for_each(|set| put(out, *set));
    for own in &action.coordinates {
        put(out, own.len() as u64);
        for (set, element, stride) in own {
            put(out, *set);
            put(out, *element);
            put_signed(out, *stride);
        }
    }
}

fn put_states(out: &mut Vec<u8>, network: &Network, states: &[State]) {
    let dim = network.clocks.len() + 1;
    for state in states {
        state.locations.iter().for_each(|l| put(out, *l));
        for (c, value) in state.cells.iter().enumerate() {
            let lo = i64::from(network.cells[CellId::at(c)].lo);
            put(out, value.map_or(0, |v| (v - lo + 1) as u64));
        }
        put(out, state.zones.len() as u64);
        for zone in &state.zones {
            put(out, zone.len() as u64);
            let mut free = 0;
            for (i, j, bound) in zone {
                let position = i * dim + j;
                put(out, (position - free) as u64);
                put_signed(out, *bound);
                free = position + 1;
            }
        }
    }
}

fn put_records(out: &mut Vec<u8>, records: &Records) {
    for record in records {
        put(out, record.len() as u64);
        for (parts, target) in record {
            put(out, parts.len() as u64);
            for (process, edge, values) in parts {
                put(out, *process);
                put(out, *edge);
                values.iter().for_each(|v| put(out, *v));
            }
            put_target(out, target);
        }
    }
}

fn put_tree(out: &mut Vec<u8>, tree: &Tree) {
    tree.numbers.iter().for_each(|n| put(out, *n));
    put(out, tree.parts.len() as u64);
    for (number, short, clocks, both) in &tree.parts {
        put(out, *number);
        put(out, *short);
        put(out, if *both { 0 } else { clocks.len() as u64 });
        clocks.iter().for_each(|y| put(out, *y));
    }
    tree.subtrees.iter().for_each(|tree| put_tree(out, tree));
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_target(out: &mut Vec<u8>, target: &Target) {
    put(out, target.0);
    put(out, target.1.len() as u64);
    target.1.iter().for_each(|zone| put(out, *zone));
    for moved in &target.2 {
        put(out, moved.len() as u64);
        let mut free = 0;
        for (element, image) in moved {
            put(out, element - free);
            put(out, *image);
            free = element + 1;
        }
    }
}

impl File {
    /// Reads a certificate for a network; `None` if it is not one.
    pub fn read(network: &Network, bytes: &[u8]) -> Option<File> {
        let mut reader = Reader(bytes, 0);
        reader.skip(8)?;
        reader.number()?;
        let kind = reader.number()?;
        reader.skip(32)?;
        let text = |reader: &mut Reader<'_>| {
            let length = reader.number()?;
            reader.skip(length as usize)
        };
        text(&mut reader)?;
        reader.list(|reader| {
            text(reader)?;
            reader.number()
        })?;
        text(&mut reader)?;
        for _ in 0..3 {
            reader.number()?;
        }
        let head = bytes[..bytes.len() - reader.0.len()].to_vec();
        let count = reader.number()?;
        reader.number()?;
        let action = reader.action(network)?;
        let states = reader.states(network, count)?;
        let initial = match kind {
            3 | 4 => reader.start()?,
            _ => Some(reader.target()?),
        };
        let records = reader.records(network, &states)?;
        let mut runs = None;
        if kind > 2 {
            let mut second = None;
            if kind == 5 {
                let count = reader.number()?;
                reader.number()?;
                let own = reader.states(network, count)?;
                let starts = (0..zones(&states)).map(|_| reader.start());
                let starts: Option<Vec<Option<Target>>> = starts.collect();
                second = Some(Second {
                    starts: starts?,
                    records: reader.records(network, &own)?,
                    states: own,
                });
            }
            let nodes = zones(second.as_ref().map_or(&states, |second| &second.states));
            let tree = reader.tree(nodes)?;
            runs = Some(Runs { second, tree });
        }
        let file = File {
            head,
            action,
            states,
            initial,
            records,
            runs,
        };
        reader.0.is_empty().then_some(file)
    }

    /// The bytes of the certificate.
    pub fn write(&self, network: &Network) -> Vec<u8> {
        let mut out = self.head.clone();
        put(&mut out, self.states.len() as u64);
        put(&mut out, zones(&self.states) as u64);
        put_action(&mut out, &self.action);
        put_states(&mut out, network, &self.states);
        let second = self.runs.as_ref().map(|runs| runs.second.is_some());
        match (second, &self.initial) {
            (Some(false), initial) => put_start(&mut out, initial.as_ref()),
            (_, initial) => initial.iter().for_each(|t| put_target(&mut out, t)),
        }
        put_records(&mut out, &self.records);
        if let Some(Runs { second, tree }) = &self.runs {
            if let Some(second) = second {
                put(&mut out, second.states.len() as u64);
                put(&mut out, zones(&second.states) as u64);
                put_states(&mut out, network, &second.states);
                let starts = second.starts.iter();
                starts.for_each(|start| put_start(&mut out, start.as_ref()));
                put_records(&mut out, &second.records);
            }
            put_tree(&mut out, tree);
        }
        out
    }

    /// Makes one random change and names it.
    pub fn change(&mut self, network: &Network, rng: &mut Rng) -> &'static str {
        if let Some(runs) = &mut self.runs
            && rng.chance(50)
        {
            return runs.change(network, rng, &mut self.initial, zones(&self.states));
        }
        let no_states = self.states.is_empty() || self.records.is_empty();
        if no_states {
            return "nothing";
        }
        let s = rng.below(self.states.len());
        let z = rng.below(self.states[s].zones.len().max(1));
        let first: usize = self.states[..s].iter().map(|s| s.zones.len()).sum();
        let state = &mut self.states[s];
        match rng.below(13) {
            0 if !state.zones.is_empty() => {
                state.zones.remove(z);
                self.records.remove(first + z);
                if let Some(Runs { second, tree }) = &mut self.runs {
                    match second {
                        Some(second) => drop(second.starts.remove(first + z)),
                        None => drop(tree.numbers.remove(first + z)),
                    }
                }
                "a zone dropped"
            }
            1 | 2 => match state.zones.get_mut(z) {
                Some(zone) if !zone.is_empty() => {
                    let at = rng.below(zone.len());
                    zone[at].2 -= i64::from(rng.range(1, 4));
                    "a bound tightened"
                }
                _ => "nothing",
            },
            3 => match state.zones.get_mut(z) {
                Some(zone) if !zone.is_empty() => {
                    let at = rng.below(zone.len());
                    zone[at].2 += i64::from(rng.range(1, 4));
                    "a bound widened"
                }
                _ => "nothing",
            },
            4 => match state.zones.get_mut(z) {
                Some(zone) if !zone.is_empty() => {
                    let at = rng.below(zone.len());
                    zone[at].2 = [i64::from(i32::MAX), -i64::from(i32::MAX), 1 << 31][rng.below(3)];
                    "a bound near 2^31"
                }
                _ => "nothing",
            },
            5 => {
                let p = rng.below(state.locations.len());
                let locations = network.processes[p].locations.len();
                state.locations[p] = rng.below(locations) as u64;
                "a location changed"
            }
            6 if !state.cells.is_empty() => {
                let c = rng.below(state.cells.len());
                state.cells[c] = None;
                "a cell made *"
            }
            7 if !state.cells.is_empty() => {
                let c = rng.below(state.cells.len());
                let cell = &network.cells[CellId::at(c)];
                state.cells[c] = Some(i64::from(rng.range(cell.lo, cell.hi)));
                "a cell changed"
            }
            8 => {
                let record = rng.below(self.records.len());
                let record = &mut self.records[record];
                if record.is_empty() {
                    return "nothing";
                }
                record.remove(rng.below(record.len()));
                "a step left out"
            }
            9 => {
                let record = rng.below(self.records.len());
                let record = &mut self.records[record];
                if record.is_empty() {
                    return "nothing";
                }
                let at = rng.below(record.len());
                let twice = record[at].clone();
                record.insert(at, twice);
                "a step listed twice"
            }
            10 => {
                let record = rng.below(self.records.len());
                let record = &mut self.records[record];
                let Some((parts, _)) = record.iter_mut().find(|step| step.0.len() > 1) else {
                    return "nothing";
                };
                let last = parts.len() - 1;
                parts.swap(last - 1, last);
                "participants swapped"
            }
            11 => {
                let states = self.states.len();
                let record = rng.below(self.records.len());
                let Some((_, target)) = self.records[record].first_mut() else {
                    return "nothing";
                };
                target.0 = rng.below(states) as u64;
                "another state named"
            }
            _ => {
                let record = rng.below(self.records.len());
                let Some((_, target)) = self.records[record].first_mut() else {
                    return "nothing";
                };
                target.1 = vec![rng.below(3) as u64];
                "another zone named"
            }
        }
    }
}

impl Runs {
    fn change(
        &mut self,
        network: &Network,
        rng: &mut Rng,
        initial: &mut Option<Target>,
        first_zones: usize,
    ) -> &'static str {
        let tree = &mut self.tree;
        let nodes = tree.numbers.len();
        match (rng.below(6), &mut self.second) {
            (0, Some(second)) if first_zones > 0 => {
                second.starts[rng.below(first_zones)] = None;
                "a start cut"
            }
            (0, None) => {
                *initial = None;
                "a start cut"
            }
            (1, Some(second)) if !second.states.is_empty() => {
                let s = rng.below(second.states.len());
                let zones = &mut second.states[s].zones;
                match zones.last_mut() {
                    Some(zone) if !zone.is_empty() => {
                        let at = rng.below(zone.len());
                        zone[at].2 += i64::from(rng.range(-3, 3));
                        "a bound of a run changed"
                    }
                    _ => "nothing",
                }
            }
            (0..4, _) if nodes > 0 => {
                let at = rng.below(nodes);
                let least = tree.numbers[at];
                let most = nodes as u64 - 1;
                tree.numbers[at] = most.min(least + 1 + rng.below(2) as u64);
                "a rank raised"
            }
            (_, _) if !tree.parts.is_empty() => {
                let at = rng.below(tree.parts.len());
                let clock = rng.below(network.clocks.len()) as u64;
                match rng.below(3) {
                    0 => {
                        tree.parts.remove(at);
                        tree.subtrees.remove(at.min(tree.subtrees.len() - 1));
                        "a subtree dropped"
                    }
                    1 => {
                        tree.parts[at].1 = clock;
                        "another bounded clock"
                    }
                    _ => {
                        tree.parts[at].2 = vec![clock];
                        "another clock that is set"
                    }
                }
            }
            _ => "nothing",
        }
    }
}
