//! Which swaps fix a state: checked entry by entry, including the full matrix, and never derived
//! from colours.

use super::index::Index;
use super::tables::{Coordinate, Tables};
use crate::program::Alike;
use crate::zone::Zone;

/// A swap of two elements of a set.
pub(super) type Swap = (usize, u16, u16);

/// Whether a swap fixes the state.
pub(super) fn interchangeable(
    tables: &Tables,
    index: &Index,
    swap: Swap,
    state: &[i32],
    zone: &Zone,
) -> bool {
    same_data(tables, index, swap, state)
        && fixes_zone(tables, index, swap, zone, &mut Columns::default())
}

/// Whether a swap fixes the zone.
fn fixes_zone(
    tables: &Tables,
    index: &Index,
    swap: Swap,
    zone: &Zone,
    columns: &mut Columns,
) -> bool {
    let (set, a, b) = swap;
    let own = [index.node(set, a), index.node(set, b)];
    let clocks = own.iter().flat_map(|n| &index.own[*n].clocks);
    let mut pairs: smallvec::SmallVec<[(usize, usize); 8]> = Default::default();
    for x in clocks.map(|x| *x as usize) {
        let pair = (x + 1, moved(&tables.clocks[x], x, swap) + 1);
        // A clock of both elements occurs twice.
        if pair.0 != pair.1 && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    same_times(zone, &pairs, columns)
}

/// For one distance between columns: in how many rows each column differs from the one at that
/// distance. Neighbours of a family are at the same distance, so all of them are compared in one
/// pass over the rows.
#[derive(Default)]
struct Columns {
    /// Whether many columns will be requested.
    many: bool,
    distance: usize,
    differ: Vec<u32>,
}

impl Columns {
    fn differ(&mut self, zone: &Zone, x: usize, to: usize) -> usize {
        let dim = zone.dim();
        let distance = to - x;
        if !self.many {
            let column = |y: usize| zone.at(y, x) != zone.at(y, to);
            return (0..dim).filter(|y| column(*y)).count();
        }
        if distance != self.distance {
            self.distance = distance;
            self.differ.clear();
            self.differ.resize(dim - distance, 0);
            for row in zone.raw().chunks_exact(dim) {
                let pairs = row.iter().zip(&row[distance..]);
                for (count, (p, q)) in self.differ.iter_mut().zip(pairs) {
                    *count += u32::from(p != q);
                }
            }
        }
        self.differ[x] as usize
    }
}

/// The position to which a swap moves something with these coordinates.
fn moved(coordinates: &[Coordinate], at: usize, (set, a, b): Swap) -> usize {
    let mut to = at as i64;
    for c in coordinates.iter().filter(|c| c.set == set) {
        let image = if c.element == a {
            b
        } else if c.element == b {
            a
        } else {
            continue;
        };
        to += c.stride * (i64::from(image) - i64::from(c.element));
    }
    to as usize
}

/// Whether a swap fixes locations and cells.
pub(super) fn same_data(tables: &Tables, index: &Index, swap: Swap, state: &[i32]) -> bool {
    let (set, a, b) = swap;
    let own = [
        &index.own[index.node(set, a)],
        &index.own[index.node(set, b)],
    ];
    let cells = tables.cells.len();
    let mut processes = own.iter().flat_map(|o| &o.processes).map(|p| *p as usize);
    if !processes.all(|p| state[cells + moved(&tables.processes[p], p, swap)] == state[cells + p]) {
        return false;
    }
    let first = tables.sets[set].first;
    let (va, vb) = (i32::from(a) + first, i32::from(b) + first);
    let value = |cell: usize| match state[cell] {
        v if tables.holds[cell] != Some(set) => v,
        v if v == va => vb,
        v if v == vb => va,
        v => v,
    };
    let mut with_coordinate = own.iter().flat_map(|o| &o.cells).map(|c| *c as usize);
    if !with_coordinate.all(|c| state[moved(&tables.cells[c], c, swap)] == value(c)) {
        return false;
    }
    // Other cells are not moved, so they must not hold either element.
    let mut holders = index.holders[set].iter().map(|c| *c as usize);
    holders.all(|c| state[moved(&tables.cells[c], c, swap)] == value(c))
}

/// Whether exchanging clocks (`pairs` contains each with its image, in both directions) fixes the
/// zone.
fn same_times(zone: &Zone, pairs: &[(usize, usize)], columns: &mut Columns) -> bool {
    let dim = zone.dim();
    let rows = |x: usize| &zone.raw()[x * dim..(x + 1) * dim];
    for &(x, to) in pairs {
        // Between clocks that move, entries must match exactly.
        if !pairs
            .iter()
            .all(|&(y, image)| zone.at(to, image) == zone.at(x, y))
        {
            return false;
        }
        if x > to {
            continue;
        }
        // Relative to the other clocks, rows and columns must be equal; entries of clocks that move
        // were already compared.
        let (one, other) = (rows(x), rows(to));
        let differ: usize = one
            .iter()
            .zip(other)
            .map(|(p, q)| usize::from(p != q))
            .sum();
        let moving = pairs.iter().filter(|(y, _)| one[*y] != other[*y]).count();
        if differ != moving {
            return false;
        }
        let column = |y: usize| zone.at(y, x) != zone.at(y, to);
        let moving = pairs.iter().filter(|(y, _)| column(*y)).count();
        if columns.differ(zone, x, to) != moving {
            return false;
        }
    }
    true
}

/// For each set and element, the least element of its class. Neighbours whose swap fixes the state
/// are in the same class, so every permutation inside a class fixes it. In a representative,
/// interchangeable elements are neighbours; otherwise classes are smaller than they could be.
pub(super) fn classes(tables: &Tables, index: &Index, state: &[i32], zone: &Zone) -> Vec<Vec<u16>> {
    let sets = 0..tables.sets.len();
    let mut columns = Columns {
        many: true,
        ..Columns::default()
    };
    sets.map(|set| {
        runs(tables, set, |swap| {
            same_data(tables, index, swap, state)
                && fixes_zone(tables, index, swap, zone, &mut columns)
        })
    })
    .collect()
}

/// The same for the discrete part alone.
pub(super) fn discrete_classes(tables: &Tables, index: &Index, state: &[i32], alike: &mut Alike) {
    alike.clear();
    alike.classes.clear();
    for (set, data) in tables.sets.iter().enumerate() {
        let classes = runs(tables, set, |swap| same_data(tables, index, swap, state));
        alike.classes.push((data.id, data.first, classes));
    }
    alike.find_leaders();
}

/// Runs of neighbours that can be swapped.
fn runs(tables: &Tables, set: usize, mut fixes: impl FnMut(Swap) -> bool) -> Vec<u16> {
    let data = &tables.sets[set];
    let mut class: Vec<u16> = (0..data.size as u16).collect();
    for block in &data.blocks {
        for pair in block.windows(2) {
            if fixes((set, pair[0], pair[1])) {
                class[pair[1] as usize] = class[pair[0] as usize];
            }
        }
    }
    class
}
