//! Regions of concrete states, from the comparisons that a run evaluates.
//!
//! **Claim.** Let a run lead from a state `s` to a state `t` with the same integers and locations,
//! and let the notes contain every comparison of clocks on which the run depends: those that decide
//! whether its delays are allowed, its steps can be taken, and the property of interest holds. If
//! `s` and `t` have the same [`key`](Regions::key), the steps of the run can be taken again from
//! `t`, with the property as before, and so for ever.
//!
//! *Proof.* Without differences the key contains, for each clock, its whole part and whether it has
//! a fraction, up to the greatest constant it is compared with, and the order of the fractions of
//! such clocks: these are the regions of Alur and Dill (*A theory of timed automata*, 1994), with
//! constants for each clock. Equivalent states allow delays into equivalent states again, agree on
//! all noted comparisons, and stay equivalent when a clock is set to a whole number, or copied
//! between clocks that have the same constant, which [`Notes::copy`] ensures. What is evaluated in
//! a state is determined by its integers and by the results of the comparisons evaluated before. So
//! by induction over the run, equivalent states evaluate the same comparisons, all of which are
//! noted, with the same results: what the run does from `s` can be done from `t`, with other
//! delays, and it ends in a state equivalent to `t`. A clock that is never compared on the way does
//! not matter at all, however it grows; neither does a clock beyond its constants.
//!
//! With differences, let `d` be the greatest constant, in absolute value, that any clock or
//! difference is compared with, and `s` the greatest value that a clock is set to. The key then
//! uses the same constant `d + s` for all clocks, and contains for each pair of clocks the whole
//! part of their difference, and whether it has a fraction, between `-d` and `d`. Delays do not
//! change differences. Setting `x` to `c <= s` turns `x - y` into `c - y`: equivalent if `y <= d +
//! s`, because the whole part of `y` and whether it has a fraction are known, and otherwise less
//! than `c - d - s <= -d` on both sides. Copies turn differences into others that are known, or
//! into 0.
//!
//! No zone is computed, so a mistake in zones or their abstraction cannot repeat itself here.

use super::state::Concrete;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Notes that copies of a state share.
pub(crate) type SharedNotes = Rc<RefCell<Notes>>;

/// The comparisons and assignments of clocks that were evaluated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The constants that clocks were compared with.
    compared: BTreeSet<(usize, i64)>,
    /// The constants that differences of clocks were compared with.
    differences: BTreeSet<i64>,
    /// The values that clocks were set to.
    values: BTreeSet<i64>,
    /// Pairs of clocks of which one became a copy of the other.
    copies: BTreeSet<(usize, usize)>,
}

impl Notes {
    /// Records that a clock is compared with a constant.
    pub fn compare(&mut self, clock: usize, constant: i64) {
        self.compared.insert((clock, constant));
    }

    /// Records that the difference of two clocks is compared with a constant.
    pub fn compare_difference(&mut self, constant: i64) {
        self.differences.insert(constant);
    }

    /// Records that a clock is set.
    pub fn set(&mut self, value: i64) {
        self.values.insert(value);
    }

    /// Records that a clock becomes a copy of another.
    pub fn copy(&mut self, target: usize, source: usize) {
        self.copies.insert((target, source));
    }

    /// The least delay greater than `after` at which a noted comparison may change its result, here
    /// or after a step from here. A step may copy any clock to any other, and may set a clock that
    /// is then compared in a difference.
    pub fn next_moment(&self, state: &Concrete, after: i64) -> Option<i64> {
        let mut constants: BTreeSet<i64> = self.compared.iter().map(|c| c.1).collect();
        for d in &self.differences {
            for value in &self.values {
                constants.extend([value + d, value - d]);
            }
        }
        let moments = state.clocks.iter().flat_map(|clock| {
            let unit = state.unit;
            constants.iter().map(move |c| c * unit - clock)
        });
        moments.filter(|m| *m > after).min()
    }

    /// The regions that these notes distinguish, for this many clocks.
    pub fn regions(&self, clocks: usize) -> Regions {
        let mut limits = vec![None; clocks];
        for (clock, constant) in &self.compared {
            limits[*clock] = limits[*clock].max(Some(*constant));
        }
        if self.differences.is_empty() {
            loop {
                let before = limits.clone();
                for (a, b) in &self.copies {
                    let both = limits[*a].max(limits[*b]);
                    (limits[*a], limits[*b]) = (both, both);
                }
                if limits == before {
                    break;
                }
            }
            return Regions { limits, gap: None };
        }
        let constants = self
            .compared
            .iter()
            .map(|c| c.1)
            .chain(self.differences.iter().copied());
        let gap = constants.map(i64::abs).max().unwrap_or(0);
        let set = self.values.last().copied().unwrap_or(0);
        Regions {
            limits: vec![Some(gap + set); clocks],
            gap: Some(gap),
        }
    }
}

/// Determines which states are distinguished.
#[derive(Clone, Debug)]
pub struct Regions {
    /// For each clock, the greatest constant that counts; `None` if its value does not matter.
    limits: Vec<Option<i64>>,
    /// The greatest difference that counts; `None` if differences do not matter.
    gap: Option<i64>,
}

/// Represents any value beyond the limit.
const BEYOND: i64 = i64::MAX;

impl Regions {
    /// A key that is equal for two states exactly if they are in the same region.
    pub fn key(&self, state: &Concrete) -> Vec<i64> {
        let mut key: Vec<i64> = state.cells.iter().copied().map(i64::from).collect();
        key.extend(state.locations.iter().copied().map(i64::from));
        let unit = state.unit;
        let inside = |x: usize| {
            let limit = self.limits[x].map(|limit| limit.saturating_mul(unit));
            limit.is_some_and(|limit| state.clocks[x] <= limit)
        };
        let parts = |value: i64| (value.div_euclid(unit), value.rem_euclid(unit));
        let counting: Vec<usize> = (0..state.clocks.len()).filter(|x| inside(*x)).collect();
        let mut fractions: Vec<i64> = counting.iter().map(|x| parts(state.clocks[*x]).1).collect();
        // The rank of a fraction shows whether there is one.
        fractions.push(0);
        fractions.sort_unstable();
        fractions.dedup();
        for x in 0..state.clocks.len() {
            let (whole, fraction) = parts(state.clocks[x]);
            match inside(x) {
                true => key.extend([whole, fractions.partition_point(|f| *f < fraction) as i64]),
                false => key.push(BEYOND),
            }
        }
        if let Some(gap) = self.gap {
            for (x, a) in state.clocks.iter().enumerate() {
                for b in &state.clocks[x + 1..] {
                    let difference = a - b;
                    if difference.abs() > gap.saturating_mul(unit) {
                        key.push(BEYOND * difference.signum());
                    } else {
                        let (whole, fraction) = parts(difference);
                        key.extend([whole, i64::from(fraction > 0)]);
                    }
                }
            }
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(clocks: &[i64], unit: i64) -> Concrete {
        Concrete {
            cells: vec![1],
            locations: vec![0],
            clocks: clocks.to_vec(),
            unit,
            comparisons: None,
            notes: None,
            budget: None,
        }
    }

    fn same(notes: &Notes, a: (&[i64], i64), b: (&[i64], i64)) -> bool {
        let regions = notes.regions(a.0.len());
        regions.key(&state(a.0, a.1)) == regions.key(&state(b.0, b.1))
    }

    #[test]
    fn whole_parts_fractions_and_their_order_count_up_to_the_constants() {
        let mut notes = Notes::default();
        notes.compare(0, 2);
        notes.compare(1, 5);
        // In quarters, and in tenths.
        assert!(same(&notes, (&[5, 2], 4), (&[11, 9], 10)));
        assert!(
            !same(&notes, (&[5, 2], 4), (&[11, 1], 10)),
            "order of fractions"
        );
        assert!(!same(&notes, (&[5, 2], 4), (&[10, 5], 10)), "no fraction");
        assert!(
            !same(&notes, (&[5, 2], 4), (&[1, 5], 10)),
            "another whole part"
        );
        assert!(
            same(&notes, (&[9, 2], 4), (&[999, 9], 10)),
            "beyond its constant"
        );
        assert!(!same(&notes, (&[9, 2], 4), (&[19, 5], 10)));
        assert!(
            !same(&notes, (&[9, 20], 4), (&[30, 52], 10)),
            "at its constant, and beyond"
        );
    }

    #[test]
    fn what_is_not_compared_does_not_count_unless_it_is_copied() {
        let mut notes = Notes::default();
        notes.compare(0, 2);
        assert!(same(&notes, (&[1, 0], 1), (&[1, 7], 1)));
        notes.copy(0, 1);
        assert!(!same(&notes, (&[1, 0], 1), (&[1, 1], 1)));
    }

    #[test]
    fn differences_count_where_some_are_compared() {
        let mut notes = Notes::default();
        notes.compare(0, 2);
        notes.compare_difference(-3);
        assert!(!same(&notes, (&[20, 22], 1), (&[20, 23], 1)));
        assert!(same(&notes, (&[20, 24], 1), (&[20, 29], 1)));
        assert!(
            !same(&notes, (&[20, 24], 1), (&[29, 20], 1)),
            "another sign"
        );
        notes.set(9);
        assert!(!same(&notes, (&[12, 12], 1), (&[11, 11], 1)), "up to 3 + 9");
        assert!(same(&notes, (&[13, 13], 1), (&[14, 14], 1)));
    }

    #[test]
    fn moments_are_where_clocks_reach_what_they_may_be_compared_with() {
        let mut notes = Notes::default();
        let now = state(&[1, 6], 2);
        assert_eq!(notes.next_moment(&now, 0), None);
        notes.compare(0, 2);
        assert_eq!(notes.next_moment(&now, 0), Some(3));
        notes.compare(0, 4);
        assert_eq!(
            notes.next_moment(&now, 0),
            Some(2),
            "copied before it is compared"
        );
        assert_eq!(notes.next_moment(&now, 3), Some(7));
        notes.compare_difference(-3);
        notes.set(1);
        assert_eq!(notes.next_moment(&now, 1), Some(2));
        assert_eq!(notes.next_moment(&now, 3), Some(7));
        notes.set(2);
        assert_eq!(notes.next_moment(&now, 3), Some(4), "5 - 2 is 3");
    }
}
