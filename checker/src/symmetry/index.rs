//! The tables by element: the cells, locations and clocks that belong to an element.
//!
//! The elements of all sets are numbered consecutively as *nodes*, so that several sets are
//! coloured together.

use super::tables::{Coordinate, Tables, position};
use smallvec::SmallVec;

/// A cell, location or clock with the nodes in its coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Tuple {
    /// The position in the state, or in the matrix.
    pub at: u32,
    /// A label that is equal for everything that permutations may exchange.
    pub label: u64,
    /// Its nodes.
    pub nodes: SmallVec<[u32; 2]>,
    /// The set whose elements it holds.
    pub holds: Option<u32>,
}

impl Tuple {
    /// Whether it concerns one node alone.
    pub(crate) fn is_unary(&self) -> bool {
        self.nodes.len() + usize::from(self.holds.is_some()) == 1
    }
}

/// The data that has a node among its coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    /// Cells.
    pub cells: Vec<u32>,
    /// Processes.
    pub processes: Vec<u32>,
    /// Clocks, by number (not matrix index).
    pub clocks: Vec<u32>,
    /// The clocks of this node alone, by matrix index, in the same order for all nodes of a set.
    pub alone: Vec<u32>,
}

/// The tables by node.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// The first node of each set.
    pub first: Vec<u32>,
    /// Cells and locations that concern one node alone.
    pub unary: Vec<Tuple>,
    /// Cells and locations that relate several nodes.
    pub relational: Vec<Tuple>,
    /// Clocks, one per matrix index starting at 1.
    pub clocks: Vec<Tuple>,
    /// The data of each node.
    pub own: Vec<Own>,
    /// The cells that hold elements of each set.
    pub holders: Vec<Vec<u32>>,
    /// A number for each node, which only nodes of the same class share.
    pub block: Vec<u64>,
}

impl Index {
    /// Builds the index from tables.
    pub(crate) fn new(tables: &Tables) -> Index {
        let (mut first, mut block) = (Vec::new(), Vec::new());
        for (s, data) in tables.sets.iter().enumerate() {
            first.push(block.len() as u32);
            block.extend((0..data.size as u64).map(|e| {
                let of = data.blocks.iter().position(|b| b.contains(&(e as u16)));
                // An element that no permutation moves is a class by itself.
                (s as u64) << 40 | of.map_or(1 << 32 | e, |b| b as u64)
            }));
        }
        let mut index = Index {
            own: vec![Own::default(); block.len()],
            first,
            block,
            unary: Vec::new(),
            relational: Vec::new(),
            clocks: Vec::new(),
            holders: vec![Vec::new(); tables.sets.len()],
        };
        index.cells(tables);
        index.processes(tables);
        index.clocks(tables);
        index
    }

    /// The node of an element.
    pub(crate) fn node(&self, set: usize, element: u16) -> usize {
        self.first[set] as usize + element as usize
    }

    fn tuple(&self, at: usize, coordinates: &[Coordinate], kind: u64) -> Tuple {
        let nodes = coordinates
            .iter()
            .map(|c| self.node(c.set, c.element) as u32);
        Tuple {
            at: at as u32,
            label: kind << 60 | position(at, coordinates) << 4,
            nodes: nodes.collect(),
            holds: None,
        }
    }

    fn cells(&mut self, tables: &Tables) {
        for (c, coordinates) in tables.cells.iter().enumerate() {
            let mut tuple = self.tuple(c, coordinates, 1);
            tuple.holds = tables.holds[c].map(|s| s as u32);
            if let Some(set) = tables.holds[c] {
                self.holders[set].push(c as u32);
            }
            for node in distinct(&tuple.nodes) {
                self.own[node].cells.push(c as u32);
            }
            self.add(tuple);
        }
    }

    fn processes(&mut self, tables: &Tables) {
        let cells = tables.cells.len();
        for (p, coordinates) in tables.processes.iter().enumerate() {
            let mut tuple = self.tuple(p, coordinates, 2);
            tuple.at += cells as u32;
            for node in distinct(&tuple.nodes) {
                self.own[node].processes.push(p as u32);
            }
            self.add(tuple);
        }
    }

    fn clocks(&mut self, tables: &Tables) {
        for (x, coordinates) in tables.clocks.iter().enumerate() {
            let mut tuple = self.tuple(x, coordinates, 3);
            tuple.at += 1;
            for node in distinct(&tuple.nodes) {
                self.own[node].clocks.push(x as u32);
            }
            if let [node] = tuple.nodes[..] {
                self.own[node as usize].alone.push(tuple.at);
            }
            self.clocks.push(tuple);
        }
    }

    fn add(&mut self, tuple: Tuple) {
        if tuple.is_unary() {
            self.unary.push(tuple);
        } else if tuple.nodes.len() + usize::from(tuple.holds.is_some()) > 1 {
            self.relational.push(tuple);
        }
    }
}

fn distinct(nodes: &[u32]) -> impl Iterator<Item = usize> {
    let fresh = |(k, n): (usize, &u32)| (!nodes[..k].contains(n)).then_some(*n as usize);
    nodes.iter().enumerate().filter_map(fresh)
}
