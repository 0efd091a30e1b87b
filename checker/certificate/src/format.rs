//! The bytes of a certificate; `docs/certificates.md` describes them for other programs.
//!
//! Everything is a number in LEB128 (7 bits per byte, least significant first, as short as
//! possible), a text (its length, then UTF-8), or the digest of 32 bytes.

use crate::coverage::Kind;
use crate::eval::State;
use crate::steps::{Key, Part};
use crate::symmetry::{Action, Coordinate, Coordinates, Elements, Permutation};
use crate::zone::{Bound, Constraint, LARGEST};
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use zonelens_analysis::network::Network;

/// The first bytes of a certificate. They are damaged by programs that translate line ends.
pub(crate) const MAGIC: [u8; 8] = *b"\x89zlc\r\n\x1a\n";

/// The version of the format.
pub(crate) const VERSION: u64 = 2;

/// The longest text in a header.
const LONGEST_TEXT: u64 = 1 << 20;

/// The most constants that a header may give values to.
const MOST_CONSTANTS: u64 = 1 << 16;

/// The most sets of elements, and the most elements of a set.
const MOST_SETS: u64 = 1 << 10;
const MOST_ELEMENTS: u64 = 1 << 16;

/// The most elements that a query may name, and the most coordinates of a position.
const MOST_COORDINATES: u64 = 1 << 8;

/// The most zones that may be named to cover one successor.
const MOST_COVERING: u64 = 1 << 20;

/// What a certificate says about itself. It is compared, never believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the claim.
    pub kind: Kind,
    /// The digest of the meaning of model and query.
    pub digest: [u8; 32],
    /// The program that wrote it.
    pub tool: String,
    /// The values given to constants of the model.
    pub constants: BTreeMap<String, i64>,
    /// The formula.
    pub query: String,
}

/// The numbers that the arrays of a certificate have as their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Processes of the network.
    pub processes: u64,
    /// Integer cells of the network.
    pub cells: u64,
    /// Clocks of the network.
    pub clocks: u64,
    /// Discrete states of the certificate.
    pub states: u64,
    /// Zones of the certificate, in all states.
    pub zones: u64,
}

impl Shape {
    /// The shape of a certificate over a network.
    pub fn new(network: &Network, states: u64, zones: u64) -> Shape {
        Shape {
            processes: network.processes.len() as u64,
            cells: network.cells.len() as u64,
            clocks: network.clocks.len() as u64,
            states,
            zones,
        }
    }
}

/// The zones that cover a successor: those with the given numbers of one state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The number of the state.
    pub state: u64,
    /// The numbers of its zones, from 0 in each state.
    pub zones: Vec<u64>,
    /// The permutation after which they cover it; empty without symmetry.
    pub by: Permutation,
}

/// A proof that no run follows an infinite path over some arcs between some zones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// A number for each zone, which never rises along an arc.
    pub numbers: Vec<u32>,
    /// In the order of their numbers, the sets of zones of one number that have arcs inside.
    pub parts: Vec<TreePart>,
}

/// The zones of one number, in a proof that no run follows an infinite path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePart {
    /// The number.
    pub number: u32,
    /// A clock that no arc of the part sets and that is bounded in its zones, counted from 0.
    pub short: u64,
    /// The clocks whose arcs are left out in the subtrees, counted from 0.
    pub clocks: Vec<u64>,
    /// Whether there is one clock and two subtrees: without the arcs that set it, and without those
    /// that are taken only if it is at least 1. Otherwise there is one subtree, without the arcs
    /// that do both for one of the clocks.
    pub both: bool,
    /// The proofs about the arcs that are left.
    pub subtrees: Vec<Tree>,
}

/// Bytes that are not a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

pub(crate) type Parsed<T> = Result<T, Malformed>;

pub(crate) fn malformed<T>(message: impl Into<String>) -> Parsed<T> {
    Err(Malformed(message.into()))
}

/// Writes the parts of a certificate, in the order in which they are in the file.
#[derive(Debug, Default)]
pub struct Writer {
    /// The bytes so far.
    pub bytes: Vec<u8>,
}

impl Writer {
    /// Begins a certificate.
    pub fn new(header: &Header, shape: Shape) -> Writer {
        let mut writer = Writer {
            bytes: MAGIC.to_vec(),
        };
        writer.number(VERSION);
        writer.number(header.kind.number());
        writer.bytes.extend_from_slice(&header.digest);
        writer.text(&header.tool);
        writer.number(header.constants.len() as u64);
        for (name, value) in &header.constants {
            writer.text(name);
            writer.number(zigzag(*value));
        }
        writer.text(&header.query);
        let Shape {
            processes,
            cells,
            clocks,
            states,
            zones,
        } = shape;
        for count in [processes, cells, clocks, states, zones] {
            writer.number(count);
        }
        writer
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes the action of a certificate; an empty one if there is no symmetry.
    pub fn action(&mut self, action: &Action) {
        self.number(action.sets.len() as u64);
        if action.is_empty() {
            return;
        }
        for set in &action.sets {
            self.number(zigzag(i64::from(set.first)));
            self.number(u64::from(set.size));
            self.number(set.blocks.len() as u64);
            for block in &set.blocks {
                self.number(block.len() as u64);
                block.iter().for_each(|e| self.number(u64::from(*e)));
            }
        }
        self.number(action.named.len() as u64);
        for (set, element) in &action.named {
            self.number(*set as u64);
            self.number(u64::from(*element));
        }
        for set in &action.holds {
            self.number(set.map_or(0, |set| set as u64 + 1));
        }
        let tables = [
            &action.cells,
            &action.clocks,
            &action.channels,
            &action.processes,
        ];
        for coordinates in tables.into_iter().flatten() {
            self.number(coordinates.len() as u64);
            for c in coordinates {
                self.number(c.set as u64);
                self.number(u64::from(c.element));
                self.number(zigzag(c.stride));
            }
        }
    }

    /// Writes a discrete state that `zones` zones follow. A cell that is `None` is written as `*`.
    pub fn state(
        &mut self,
        network: &Network,
        locations: impl Iterator<Item = u32>,
        cells: impl Iterator<Item = Option<i32>>,
        zones: u64,
    ) {
        locations.for_each(|location| self.number(u64::from(location)));
        for (cell, value) in network.cells.iter().zip(cells) {
            let above = value.map(|v| i64::from(v) - i64::from(cell.lo) + 1);
            self.number(above.unwrap_or(0) as u64);
        }
        self.number(zones);
    }

    /// Writes a zone of the last state as a list of constraints, which must be sorted by `(i, j)`.
    pub fn zone(&mut self, clocks: usize, constraints: &[Constraint]) {
        self.number(constraints.len() as u64);
        let mut free = 0;
        for c in constraints {
            let position = (c.i * (clocks + 1) + c.j) as u64;
            self.number(position - free);
            self.number(zigzag(c.bound));
            free = position + 1;
        }
    }

    /// Writes the numbers of states and zones of the second set of a claim about runs.
    pub fn counts(&mut self, states: u64, zones: u64) {
        self.number(states);
        self.number(zones);
    }

    /// Writes where runs start; `None` if none starts.
    pub fn start(&mut self, target: Option<&Target>) {
        self.number(u64::from(target.is_some()));
        target.into_iter().for_each(|target| self.target(target));
    }

    /// Writes a proof that no run follows an infinite path.
    pub fn tree(&mut self, tree: &Tree) {
        let mut open = vec![tree];
        while let Some(Tree { numbers, parts }) = open.pop() {
            numbers.iter().for_each(|n| self.number(u64::from(*n)));
            self.number(parts.len() as u64);
            for part in parts {
                self.number(u64::from(part.number));
                self.number(part.short);
                self.number(if part.both {
                    0
                } else {
                    part.clocks.len() as u64
                });
                part.clocks.iter().for_each(|y| self.number(*y));
            }
            let subtrees = parts.iter().flat_map(|part| &part.subtrees);
            open.extend(subtrees.collect::<Vec<_>>().into_iter().rev());
        }
    }

    /// Writes the zones that cover a successor.
    pub fn target(&mut self, target: &Target) {
        self.number(target.state);
        self.number(target.zones.len() as u64);
        target.zones.iter().for_each(|zone| self.number(*zone));
        for images in &target.by {
            let moved = images.iter().enumerate();
            let moved: Vec<(u64, u64)> = moved
                .map(|(element, image)| (element as u64, u64::from(*image)))
                .filter(|(element, image)| element != image)
                .collect();
            self.number(moved.len() as u64);
            let mut free = 0;
            for (element, image) in moved {
                self.number(element - free);
                self.number(image);
                free = element + 1;
            }
        }
    }

    /// Writes the steps of one zone, which must be sorted by their keys.
    pub fn record(&mut self, network: &Network, entries: &[(Key, Target)]) {
        self.number(entries.len() as u64);
        for (key, target) in entries {
            self.number(key.len() as u64);
            for (process, edge, values) in key {
                self.number(u64::from(*process));
                self.number(u64::from(*edge));
                let selects = &network.processes[*process as usize].edges[*edge as usize].selects;
                for (select, value) in selects.iter().zip(values) {
                    let above = i64::from(*value) - i64::from(select.range.lo);
                    self.number(above as u64);
                }
            }
            self.target(target);
        }
    }
}

/// 0, -1, 1, -2 … as 0, 1, 2, 3 …
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// A source of bytes.
pub(crate) trait Bytes {
    /// The next byte.
    fn byte(&mut self) -> Parsed<u8>;

    /// The number of bytes that may still follow.
    fn left(&self) -> u64;

    /// The next number.
    fn number(&mut self) -> Parsed<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return match byte == 0 && shift > 0 {
                    true => malformed("a number is longer than necessary"),
                    false => Ok(number),
                };
            }
        }
        malformed("a number has more than 64 bits")
    }

    /// A number of things that follow, each of which takes at least a byte.
    fn count(&mut self, what: &str) -> Parsed<u64> {
        let count = self.number()?;
        match count > self.left() {
            true => malformed(format!(
                "it claims {count} {what}, more than its remaining {} bytes can hold",
                self.left()
            )),
            false => Ok(count),
        }
    }

    /// A number of things that follow, at most `most`: more would make no sense.
    fn few(&mut self, most: u64, what: &str) -> Parsed<u64> {
        let count = self.count(what)?;
        match count > most {
            true => malformed(format!("it claims {count} {what}; {most} is the most")),
            false => Ok(count),
        }
    }

    /// A number below `end`.
    fn index(&mut self, end: u64, what: &str) -> Parsed<u64> {
        let index = self.number()?;
        match index < end {
            true => Ok(index),
            false => malformed(format!("{what} {index} does not exist; there are {end}")),
        }
    }

    /// A discrete state, without the number of its zones.
    fn state(&mut self, network: &Network) -> Parsed<State> {
        let mut locations = Vec::with_capacity(network.processes.len());
        for process in &network.processes {
            let end = process.locations.len() as u64;
            locations.push(self.index(end, "location")? as u32);
        }
        let mut cells = Vec::with_capacity(network.cells.len());
        for cell in &network.cells {
            let (lo, hi) = (i64::from(cell.lo), i64::from(cell.hi));
            let above = self.index((hi - lo + 2).max(1) as u64, "value")? as i64;
            cells.push((above > 0).then(|| (lo + above - 1) as i32));
        }
        Ok(State { locations, cells })
    }

    /// A zone: passes its constraints to `take`.
    fn zone(&mut self, clocks: usize, mut take: impl FnMut(Constraint)) -> Parsed<()>
    where
        Self: Sized,
    {
        let dim = clocks as u64 + 1;
        let mut free = 0;
        for _ in 0..self.count("constraints")? {
            let gap = self.index(dim * dim, "position")?;
            let position = free + gap;
            let (i, j) = (position / dim, position % dim);
            if i >= dim || i == j {
                return malformed(format!("position {position} in a zone of {clocks} clocks"));
            }
            let bound: Bound = unzigzag(self.number()?);
            if bound.unsigned_abs() > 2 * LARGEST as u64 + 1 {
                return malformed("a bound is beyond 2^30");
            }
            let (i, j) = (i as usize, j as usize);
            take(Constraint { i, j, bound });
            free = position + 1;
        }
        Ok(())
    }

    /// The action of a certificate over a network.
    fn action(&mut self, network: &Network) -> Parsed<Action> {
        let mut action = Action::default();
        for _ in 0..self.few(MOST_SETS, "sets of elements")? {
            let first = self.number()?;
            let Ok(first) = i32::try_from(unzigzag(first)) else {
                return malformed("the first element of a set is no value");
            };
            let size = self.few(MOST_ELEMENTS, "elements")? as u32;
            let mut met = vec![false; size as usize];
            let mut blocks = Vec::new();
            for _ in 0..self.few(u64::from(size), "blocks")? {
                let mut block = Vec::new();
                for _ in 0..self.few(u64::from(size), "elements of a block")? {
                    let element = self.index(u64::from(size), "element")? as u32;
                    if std::mem::replace(&mut met[element as usize], true) {
                        return malformed("an element is twice in the blocks of a set");
                    }
                    block.push(element);
                }
                blocks.push(block);
            }
            action.sets.push(Elements {
                first,
                size,
                blocks,
            });
        }
        if action.sets.is_empty() {
            return Ok(action);
        }
        let elements = action.sets.iter().map(|set| u64::from(set.size));
        if elements.sum::<u64>() > MOST_ELEMENTS {
            return malformed("it has too many elements");
        }
        let sets = action.sets.len() as u64;
        for _ in 0..self.few(MOST_COORDINATES, "named elements")? {
            let set = self.index(sets, "set of elements")? as usize;
            let element = self.index(u64::from(action.sets[set].size), "element")?;
            let named = (set, element as u32);
            if action.named.contains(&named) {
                return malformed("an element is named twice");
            }
            action.named.push(named);
        }
        for _ in 0..network.cells.len() {
            let set = self.index(sets + 1, "set of elements")?;
            action.holds.push((set as usize).checked_sub(1));
        }
        let counts = [
            (&mut action.cells, network.cells.len()),
            (&mut action.clocks, network.clocks.len()),
            (&mut action.channels, network.channels.len()),
            (&mut action.processes, network.processes.len()),
        ];
        for (table, count) in counts {
            *table = self.coordinates(&action.sets, count)?;
        }
        Ok(action)
    }

    fn coordinates(&mut self, sets: &[Elements], count: usize) -> Parsed<Coordinates> {
        let mut table = Vec::new();
        for _ in 0..count {
            let mut own = Vec::new();
            for _ in 0..self.few(MOST_COORDINATES, "coordinates")? {
                let set = self.index(sets.len() as u64, "set of elements")? as usize;
                let element = self.index(u64::from(sets[set].size), "element")? as u32;
                let stride = unzigzag(self.number()?);
                own.push(Coordinate {
                    set,
                    element,
                    stride,
                });
            }
            table.push(own);
        }
        Ok(table)
    }

    /// The zones that cover a successor, and the permutation under symmetry; whether they exist is
    /// for the caller to decide.
    fn target(&mut self, action: &Action) -> Parsed<Target> {
        let state = self.number()?;
        let count = self.few(MOST_COVERING, "covering zones")?;
        let zones = (0..count).map(|_| self.number());
        let zones = zones.collect::<Parsed<_>>()?;
        let mut by = Permutation::new();
        for set in &action.sets {
            let mut images: Vec<u32> = (0..set.size).collect();
            let mut free = 0;
            for _ in 0..self.few(u64::from(set.size), "moved elements")? {
                let gap = self.index(u64::from(set.size), "element")?;
                let image = self.index(u64::from(set.size), "element")?;
                match images.get_mut((free + gap) as usize) {
                    Some(place) if u64::from(*place) != image => *place = image as u32,
                    _ => return malformed("a permutation moves an element to itself or outside"),
                }
                free += gap + 1;
            }
            by.push(images);
        }
        if !action.allows(&by) {
            return malformed("a permutation leaves the blocks, or is none");
        }
        Ok(Target { state, zones, by })
    }

    /// The key of a step.
    fn key(&mut self, network: &Network) -> Parsed<Key> {
        let mut key = Vec::new();
        for _ in 0..self.few(network.processes.len() as u64, "edges of a step")? {
            let process = self.index(network.processes.len() as u64, "process")?;
            let edges = &network.processes[process as usize].edges;
            let edge = self.index(edges.len() as u64, "edge")?;
            let mut values = Vec::new();
            for select in &edges[edge as usize].selects {
                let above = self.index(u64::from(select.range.len), "select value")?;
                values.push((i64::from(select.range.lo) + above as i64) as i32);
            }
            let part: Part = (process as u32, edge as u32, values);
            key.push(part);
        }
        Ok(key)
    }
}

/// Reads a file from its beginning to its end, and keeps the bytes between two points.
pub struct Stream<R> {
    inner: BufReader<R>,
    left: u64,
    /// The bytes read since keeping began.
    pub kept: Option<Vec<u8>>,
}

impl<R: Read> Stream<R> {
    /// A stream of `length` bytes.
    pub fn new(inner: R, length: u64) -> Stream<R> {
        Stream {
            inner: BufReader::with_capacity(1 << 16, inner),
            left: length,
            kept: None,
        }
    }

    /// The header.
    pub fn header(&mut self) -> Parsed<Header> {
        let mut magic = [0; 8];
        for byte in &mut magic {
            *byte = match self.byte() {
                Ok(byte) => byte,
                Err(_) => return malformed("it is too short to be a certificate"),
            };
        }
        if magic != MAGIC {
            return malformed("it is not a certificate: the first bytes are others");
        }
        let version = self.number()?;
        if version != VERSION {
            return malformed(format!(
                "its format is version {version}; this program reads version {VERSION}"
            ));
        }
        let kind = self.number()?;
        let Some(kind) = Kind::from_number(kind) else {
            return malformed(format!("claims of kind {kind} are unknown"));
        };
        let mut digest = [0; 32];
        for byte in &mut digest {
            *byte = self.byte()?;
        }
        let tool = self.text()?;
        let mut constants = BTreeMap::new();
        for _ in 0..self.few(MOST_CONSTANTS, "constants")? {
            let name = self.text()?;
            let value = unzigzag(self.number()?);
            if constants.last_key_value().is_some_and(|(n, _)| *n >= name) {
                return malformed("its constants are not sorted by name");
            }
            constants.insert(name, value);
        }
        let query = self.text()?;
        Ok(Header {
            kind,
            digest,
            tool,
            constants,
            query,
        })
    }

    fn text(&mut self) -> Parsed<String> {
        let length = self.count("bytes of text")?;
        if length > LONGEST_TEXT {
            return malformed(format!("a text of {length} bytes is too long"));
        }
        let bytes = (0..length).map(|_| self.byte());
        let bytes: Vec<u8> = bytes.collect::<Parsed<_>>()?;
        String::from_utf8(bytes).or_else(|_| malformed("a text is not UTF-8"))
    }

    /// The counts after the header; those of the network must be right.
    pub fn shape(&mut self, network: &Network) -> Parsed<Shape> {
        let mut counts = [0; 3];
        for count in &mut counts {
            *count = self.number()?;
        }
        let [processes, cells, clocks] = counts;
        let states = self.count("states")?;
        let zones = self.count("zones")?;
        let shape = Shape {
            processes,
            cells,
            clocks,
            states,
            zones,
        };
        match shape == Shape::new(network, states, zones) {
            true => Ok(shape),
            false => malformed(
                "its numbers of processes, variables and clocks are not those of the model",
            ),
        }
    }

    /// Whether the file ends here.
    pub fn ends(&mut self) -> bool {
        self.left == 0 && matches!(self.inner.read(&mut [0]), Ok(0))
    }
}

impl<R: Read> Bytes for Stream<R> {
    fn byte(&mut self) -> Parsed<u8> {
        let mut byte = [0];
        match self.inner.read_exact(&mut byte) {
            Ok(()) if self.left > 0 => {}
            Ok(()) => return malformed("it is longer than its file was when it was opened"),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                return malformed("it ends too early");
            }
            Err(error) => return malformed(format!("it cannot be read: {error}")),
        }
        self.left -= 1;
        if let Some(kept) = &mut self.kept {
            kept.push(byte[0]);
        }
        Ok(byte[0])
    }

    fn left(&self) -> u64 {
        self.left
    }
}

/// Reads bytes in memory.
pub(crate) struct Slice<'b>(pub &'b [u8]);

impl Bytes for Slice<'_> {
    fn byte(&mut self) -> Parsed<u8> {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                Ok(*byte)
            }
            None => malformed("it ends too early"),
        }
    }

    fn left(&self) -> u64 {
        self.0.len() as u64
    }
}
