//! Static tables: the elements that every location, cell and clock belongs to, and the distances
//! between neighbours.
//!
//! A cell of an array over a scalarset, or of a process with a scalarset parameter, has one
//! *coordinate* per such dimension: the set, the element, and the distance to the same cell of the
//! next element. The image of a cell under a permutation is then a sum over its coordinates
//! (Definitions 3.27 and 4.1 of Hendriks' thesis in the general form).

use super::permutation::Permutation;
use crate::graph::receivers::Interchange;
use crate::zone::Zone;
use std::collections::BTreeSet;
use std::sync::Arc;
use zonelens_analysis::network::{
    CellId, ClockId, Id, IndexRange, Network, ScalarsetId, Shape, VariableId,
};

/// One dimension of a cell, clock or process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coordinate {
    /// The index among the reduced scalarsets.
    pub set: usize,
    /// The element.
    pub element: u16,
    /// The distance to the same data of the next element.
    pub stride: i64,
}

/// A reduced scalarset.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    /// The id of the scalarset in the network.
    pub id: ScalarsetId,
    /// The number of elements.
    pub size: usize,
    /// The value of element 0 in cells.
    pub first: i32,
    /// Classes of elements that may be exchanged.
    pub blocks: Vec<Vec<u16>>,
}

/// How permutations act on the states of a network.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// The reduced scalarsets.
    pub sets: Vec<Set>,
    /// The coordinates of each cell.
    pub cells: Vec<Vec<Coordinate>>,
    /// The set whose elements each cell holds.
    pub holds: Vec<Option<usize>>,
    /// The coordinates of each clock.
    pub clocks: Vec<Vec<Coordinate>>,
    /// The coordinates of each process.
    pub processes: Vec<Vec<Coordinate>>,
    /// For each edge, process by process, the sets that its select variables range over.
    pub selects: Vec<Vec<Option<usize>>>,
}

impl Tables {
    /// Builds tables for those of `candidates` whose data has the expected form; `None` if none is
    /// left. Elements in `fixed` are not moved.
    pub(crate) fn new(
        network: &Network,
        candidates: &[ScalarsetId],
        fixed: &BTreeSet<(ScalarsetId, u32)>,
    ) -> Option<Tables> {
        let mut usable: Vec<ScalarsetId> = candidates.to_vec();
        loop {
            let tables = Builder::new(network, &usable, fixed).build();
            match tables {
                Ok(tables) => {
                    return tables
                        .sets
                        .iter()
                        .any(|s| !s.blocks.is_empty())
                        .then_some(tables);
                }
                // A set that does not fit is left out, and the tables are built again without it.
                Err(set) => usable.retain(|id| *id != set),
            }
            if usable.is_empty() {
                return None;
            }
        }
    }

    /// The facts about elements that the search for steps needs; classes are filled in for each
    /// state.
    pub(crate) fn interchange(&self) -> Interchange {
        let own = |coordinates: &Vec<Coordinate>| {
            let pairs = coordinates.iter().map(|c| (c.set as u16, c.element));
            pairs.collect()
        };
        let first = |set: &Option<usize>| set.map(|s| (s as u16, self.sets[s].first));
        let selects = self.selects.iter();
        let before = self.sets.iter().map(|set| {
            let mut before = vec![0; set.size];
            for block in &set.blocks {
                for (k, e) in block.iter().enumerate() {
                    before[*e as usize] = k as u16;
                }
            }
            before
        });
        Interchange {
            before: Arc::new(before.collect()),
            elements: Arc::new(self.processes.iter().map(own).collect()),
            selects: Arc::new(selects.map(|s| s.iter().map(first).collect()).collect()),
            classes: Vec::new(),
        }
    }

    /// A key that is equal for clocks that permutations may exchange.
    pub(crate) fn kind_of_clock(&self, clock: usize) -> (u64, Vec<(usize, usize)>) {
        let coordinates = &self.clocks[clock];
        let of = |c: &Coordinate| {
            let blocks = &self.sets[c.set].blocks;
            let block = blocks.iter().position(|b| b.contains(&c.element));
            // The clocks of an element that is never moved have their own kind.
            (c.set, block.unwrap_or(blocks.len() + c.element as usize))
        };
        (
            position(clock, coordinates),
            coordinates.iter().map(of).collect(),
        )
    }

    /// The position to which a permutation moves something with these coordinates.
    #[inline]
    pub(crate) fn image(at: usize, coordinates: &[Coordinate], permutation: &Permutation) -> usize {
        let mut to = at as i64;
        for c in coordinates {
            let image = permutation.0[c.set][c.element as usize];
            to += c.stride * (i64::from(image) - i64::from(c.element));
        }
        to as usize
    }

    /// The image of a value held by a cell of this set.
    #[inline]
    pub(crate) fn value(&self, set: Option<usize>, value: i32, permutation: &Permutation) -> i32 {
        match set {
            Some(set) => {
                let first = self.sets[set].first;
                usize::try_from(value - first)
                    .ok()
                    .and_then(|e| permutation.0[set].get(e))
                    // A value outside the set ("nobody" in the legacy notation) is unchanged.
                    .map_or(value, |image| i32::from(*image) + first)
            }
            None => value,
        }
    }

    /// Applies a permutation to a state.
    pub(crate) fn apply(
        &self,
        permutation: &Permutation,
        state: &[i32],
        zone: &Zone,
    ) -> (Vec<i32>, Zone) {
        let cells = self.cells.len();
        let mut moved = state.to_vec();
        for (c, coordinates) in self.cells.iter().enumerate() {
            moved[Tables::image(c, coordinates, permutation)] =
                self.value(self.holds[c], state[c], permutation);
        }
        for (p, coordinates) in self.processes.iter().enumerate() {
            moved[cells + Tables::image(p, coordinates, permutation)] = state[cells + p];
        }
        let dim = zone.dim();
        let mut target = vec![0usize; dim];
        for (x, coordinates) in self.clocks.iter().enumerate() {
            target[x + 1] = Tables::image(x, coordinates, permutation) + 1;
        }
        let mut image = zone.clone();
        let raw = image.raw_mut();
        for i in 0..dim {
            for j in 0..dim {
                raw[target[i] * dim + target[j]] = zone.at(i, j);
            }
        }
        (moved, image)
    }
}

/// A number for a position that does not depend on the elements in its coordinates.
pub(super) fn position(at: usize, coordinates: &[Coordinate]) -> u64 {
    let base = coordinates
        .iter()
        .fold(at as i64, |at, c| at - c.stride * i64::from(c.element));
    base as u64
}

struct Builder<'n> {
    network: &'n Network,
    usable: &'n [ScalarsetId],
    fixed: &'n BTreeSet<(ScalarsetId, u32)>,
}

impl<'n> Builder<'n> {
    fn new(
        network: &'n Network,
        usable: &'n [ScalarsetId],
        fixed: &'n BTreeSet<(ScalarsetId, u32)>,
    ) -> Builder<'n> {
        Builder {
            network,
            usable,
            fixed,
        }
    }

    fn set(&self, id: Option<ScalarsetId>) -> Option<usize> {
        self.usable.iter().position(|u| Some(*u) == id)
    }

    fn build(&self) -> Result<Tables, ScalarsetId> {
        let network = self.network;
        let sets = self.usable.iter().map(|id| {
            let set = &network.scalarsets[*id];
            let free = |block: &Vec<u32>| -> Vec<u16> {
                block
                    .iter()
                    .filter(|e| !self.fixed.contains(&(*id, **e)))
                    .map(|e| *e as u16)
                    .collect()
            };
            Set {
                id: *id,
                size: set.size as usize,
                first: set.first,
                blocks: set
                    .blocks
                    .iter()
                    .map(free)
                    .filter(|b| b.len() > 1)
                    .collect(),
            }
        });
        let mut tables = Tables {
            sets: sets.collect(),
            cells: vec![Vec::new(); network.cells.len()],
            holds: network
                .cells
                .iter()
                .map(|c| self.set(c.scalarset))
                .collect(),
            clocks: vec![Vec::new(); network.clocks.len()],
            processes: vec![Vec::new(); network.processes.len()],
            selects: network
                .processes
                .iter()
                .flat_map(|p| &p.edges)
                .map(|e| {
                    e.selects
                        .iter()
                        .map(|s| self.set(s.range.scalarset))
                        .collect()
                })
                .collect(),
        };
        self.processes(&mut tables)?;
        self.variables(&mut tables)?;
        self.check(&tables)?;
        Ok(tables)
    }

    /// Checks that an index range covers a whole set; returns the set.
    fn whole(&self, range: &IndexRange) -> Result<Option<usize>, ScalarsetId> {
        let Some(set) = self.set(range.scalarset) else {
            return Ok(None);
        };
        let id = self.usable[set];
        let scalarset = &self.network.scalarsets[id];
        if range.lo != scalarset.first || range.len != scalarset.size {
            Err(id)
        } else {
            Ok(Some(set))
        }
    }

    fn processes(&self, tables: &mut Tables) -> Result<(), ScalarsetId> {
        for family in &self.network.families {
            let mut stride = 1i64;
            for (k, param) in family.params.iter().enumerate().rev() {
                if let Some(set) = self.whole(param)? {
                    for p in (0..family.len).map(|p| family.first.plus(p).index()) {
                        let value = self.network.processes[p].args[k];
                        let element = (value - param.lo) as u16;
                        tables.processes[p].push(Coordinate {
                            set,
                            element,
                            stride,
                        });
                    }
                }
                stride *= i64::from(param.len);
            }
        }
        Ok(())
    }

    fn variables(&self, tables: &mut Tables) -> Result<(), ScalarsetId> {
        let mut own: Vec<Vec<VariableId>> = vec![Vec::new(); self.network.processes.len()];
        for (v, variable) in self.network.variables.enumerated() {
            if let Some(p) = variable.process {
                own[p.index()].push(v);
            }
        }
        for (v, variable) in self.network.variables.enumerated() {
            let (mut for_cells, mut for_clocks) = (Vec::new(), Vec::new());
            if let Some(p) = variable.process {
                let index = own[p.index()].iter().position(|o| *o == v).unwrap_or(0);
                for c in &tables.processes[p.index()] {
                    let id = self.usable[c.set];
                    // The distance follows from the same variable of a neighbouring process.
                    let step = if (c.element as usize) + 1 < tables.sets[c.set].size {
                        c.stride
                    } else {
                        -c.stride
                    };
                    let other = (i64::from(p.0) + step) as usize;
                    let twin = own.get(other).and_then(|o| o.get(index)).ok_or(id)?;
                    let twin = &self.network.variables[*twin];
                    if twin.shape.counts() != variable.shape.counts() {
                        return Err(id);
                    }
                    let sign = step.signum();
                    let distance = |a: u32, b: u32| (i64::from(a) - i64::from(b)) * sign;
                    for_cells.push(Coordinate {
                        stride: distance(twin.first_cell.0, variable.first_cell.0),
                        ..*c
                    });
                    for_clocks.push(Coordinate {
                        stride: distance(twin.first_clock.0, variable.first_clock.0),
                        ..*c
                    });
                }
            }
            let mut at = (variable.first_cell.index(), variable.first_clock.index());
            self.shape(&variable.shape, &mut at, &for_cells, &for_clocks, tables)?;
        }
        Ok(())
    }

    fn shape(
        &self,
        shape: &Shape,
        at: &mut (usize, usize),
        for_cells: &[Coordinate],
        for_clocks: &[Coordinate],
        tables: &mut Tables,
    ) -> Result<(), ScalarsetId> {
        match shape {
            Shape::Int { .. } => {
                tables.cells[at.0] = for_cells.to_vec();
                at.0 += 1;
            }
            Shape::Clock => {
                tables.clocks[at.1] = for_clocks.to_vec();
                at.1 += 1;
            }
            Shape::Channel => {}
            Shape::Array { index, element } => {
                let set = self.whole(index)?;
                let (cells, clocks, _) = element.counts();
                for k in 0..index.len {
                    let (mut with_cell, mut with_clock) = (for_cells.to_vec(), for_clocks.to_vec());
                    if let Some(set) = set {
                        let element = k as u16;
                        with_cell.push(Coordinate {
                            set,
                            element,
                            stride: i64::from(cells),
                        });
                        with_clock.push(Coordinate {
                            set,
                            element,
                            stride: i64::from(clocks),
                        });
                    }
                    self.shape(element, at, &with_cell, &with_clock, tables)?;
                }
            }
            Shape::Struct(fields) => {
                for (_, field) in fields {
                    self.shape(field, at, for_cells, for_clocks, tables)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that every swap of neighbours maps positions to positions of the same kind: ranges,
    /// locations, edges.
    fn check(&self, tables: &Tables) -> Result<(), ScalarsetId> {
        let network = self.network;
        for (s, set) in tables.sets.iter().enumerate() {
            for pair in set.blocks.iter().flat_map(|b| b.windows(2)) {
                let mut swap = Permutation::identity(tables.sets.iter().map(|s| s.size));
                swap.0[s].swap(pair[0] as usize, pair[1] as usize);
                for (c, coordinates) in tables.cells.iter().enumerate() {
                    let to = network
                        .cells
                        .get(CellId::at(Tables::image(c, coordinates, &swap)))
                        .ok_or(set.id)?;
                    let from = &network.cells[CellId::at(c)];
                    if (from.lo, from.hi) != (to.lo, to.hi) {
                        return Err(set.id);
                    }
                }
                for (x, coordinates) in tables.clocks.iter().enumerate() {
                    network
                        .clocks
                        .get(ClockId::at(Tables::image(x, coordinates, &swap)))
                        .ok_or(set.id)?;
                }
                for (p, coordinates) in tables.processes.iter().enumerate() {
                    let to = network
                        .processes
                        .get(Tables::image(p, coordinates, &swap))
                        .ok_or(set.id)?;
                    let from = &network.processes[p];
                    if from.family != to.family || from.edges.len() != to.edges.len() {
                        return Err(set.id);
                    }
                }
            }
        }
        Ok(())
    }
}
