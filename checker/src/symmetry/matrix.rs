//! What representatives need to know about a zone, whether it is available as a whole or as one row
//! per group.

use super::index::Index;
use super::stabiliser::{self, Swap};
use super::tables::Tables;
use crate::zone::Zone;
use crate::zone::bound::{Bound, LE_ZERO};

/// Bounds between clocks. Results for all clocks are equal for clocks that a symmetry of the zone
/// exchanges.
pub(super) trait Matrix {
    /// The number of clocks plus one.
    fn dim(&self) -> usize;

    /// The bound of `x_i - x_j`, where one of them is the constant zero.
    fn single(&self, i: usize, j: usize) -> Bound;

    /// For each row and for each column, the sum of `scramble(bound, weight of the other clock)`.
    fn sums(&self, weights: &[u32], rows: &mut Vec<u64>, columns: &mut Vec<u32>);

    /// For each row, how many bounds are not positive: the number of clocks that the clock is at
    /// most as large as.
    fn ranks(&self, ranks: &mut Vec<u32>);

    /// Whether a swap fixes the state.
    fn interchangeable(&self, tables: &Tables, index: &Index, swap: Swap, state: &[i32]) -> bool;
}

/// Combines a bound with the weight of its clock. The result is short, so that several entries of a
/// row are hashed at a time.
#[inline(always)]
pub(super) fn scramble(bound: i32, weight: u32) -> u32 {
    let h = (bound as u32 ^ weight).wrapping_mul(0x9e37_79b1);
    h ^ (h >> 15)
}

/// The number of bounds that are not positive.
pub(super) fn rank(row: &[Bound]) -> u32 {
    row.iter().map(|b| u32::from(*b <= LE_ZERO)).sum()
}

impl Matrix for Zone {
    fn dim(&self) -> usize {
        Zone::dim(self)
    }

    fn single(&self, i: usize, j: usize) -> Bound {
        self.at(i, j)
    }

    fn sums(&self, weights: &[u32], rows: &mut Vec<u64>, columns: &mut Vec<u32>) {
        let dim = Zone::dim(self);
        columns.clear();
        columns.resize(dim, 0);
        rows.clear();
        for (row, own) in self.raw().chunks_exact(dim).zip(weights) {
            let mut sum = 0u32;
            for ((bound, weight), column) in row.iter().zip(weights).zip(&mut *columns) {
                sum = sum.wrapping_add(scramble(*bound, *weight));
                *column = column.wrapping_add(scramble(*bound, *own));
            }
            rows.push(u64::from(sum));
        }
    }

    fn ranks(&self, ranks: &mut Vec<u32>) {
        ranks.clear();
        ranks.extend(self.raw().chunks_exact(Zone::dim(self)).map(rank));
    }

    fn interchangeable(&self, tables: &Tables, index: &Index, swap: Swap, state: &[i32]) -> bool {
        stabiliser::interchangeable(tables, index, swap, state, self)
    }
}
