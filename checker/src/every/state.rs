//! Configurations with some of the elements, and their projections.

use zonelens_analysis::every::Layout;
use zonelens_analysis::network::{CellId, Network};

/// The value of a variable that holds an element outside of the configuration.
pub(crate) const OTHER: i64 = 1 << 40;

/// Member 0 in the values of a projection; member `j` is `MEMBER + j`.
const MEMBER: i64 = 1 << 41;

/// A configuration of the first `members` elements of a network. The processes, cells and clocks of
/// the other elements are never read.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The number of elements.
    pub members: usize,
    /// The location of each process.
    pub locations: Vec<u32>,
    /// The value of each cell; [`OTHER`] for an element outside.
    pub cells: Vec<i64>,
}

/// The discrete part of a configuration, independent of the network: what processes of the fixed
/// part and of each member do. Elements in the fixed part are members, [`OTHER`], or outside
/// values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Discrete {
    /// The members: locations, then cells.
    pub parts: Vec<Vec<i64>>,
    /// The fixed part: locations, then cells.
    pub fixed: Vec<i64>,
}

impl Discrete {
    /// The configuration with only these members, in this order.
    pub(crate) fn restrict(&self, members: &[usize]) -> Discrete {
        let renamed = |v: &i64| match *v {
            v if v >= MEMBER => {
                let old = (v - MEMBER) as usize;
                let new = members.iter().position(|m| *m == old);
                new.map_or(OTHER, |k| MEMBER + k as i64)
            }
            v => v,
        };
        Discrete {
            parts: members.iter().map(|m| self.parts[*m].clone()).collect(),
            fixed: self.fixed.iter().map(renamed).collect(),
        }
    }

    /// The least configuration among its renamings, and all orders of the members that give it:
    /// there are several if members are alike.
    pub(crate) fn canonical(&self) -> (Discrete, Vec<Vec<usize>>) {
        let mut best: Option<(Discrete, Vec<Vec<usize>>)> = None;
        for order in permutations(self.parts.len()) {
            let sorted = (order.windows(2)).all(|w| self.parts[w[0]] <= self.parts[w[1]]);
            if !sorted {
                continue;
            }
            let renamed = self.restrict(&order);
            match &mut best {
                Some((b, orders)) if *b == renamed => orders.push(order),
                Some((b, _)) if *b < renamed => {}
                _ => best = Some((renamed, vec![order])),
            }
        }
        best.unwrap_or_else(|| (self.clone(), vec![(0..self.parts.len()).collect()]))
    }

    /// The entries of the fixed part that hold a member.
    pub(crate) fn holding(&self, member: usize) -> Vec<usize> {
        let is = |k: &usize| self.fixed[*k] == MEMBER + member as i64;
        (0..self.fixed.len()).filter(is).collect()
    }

    /// Adds a member; the given entries of the fixed part, which held an element outside, hold it.
    /// `None` if they hold something else.
    pub(crate) fn with(&self, part: Vec<i64>, held: &[usize]) -> Option<Discrete> {
        let mut next = self.clone();
        for k in held {
            if next.fixed[*k] != OTHER {
                return None;
            }
            next.fixed[*k] = MEMBER + self.parts.len() as i64;
        }
        next.parts.push(part);
        Some(next)
    }

    /// A rough measure of its memory.
    pub(crate) fn bytes(&self) -> u64 {
        let parts: usize = self.parts.iter().map(|p| p.len() + 3).sum();
        8 * (parts + self.fixed.len() + 6) as u64
    }
}

/// All orders of `n` things.
pub(crate) fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for k in 0..n {
        let longer = all.iter().flat_map(|order: &Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut next = order.clone();
                next.insert(at, k);
                next
            })
        });
        all = longer.collect();
    }
    all
}

/// All sets of `k` of the numbers below `n`, in increasing order.
pub(crate) fn subsets(n: usize, k: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..k {
        let longer = all.iter().flat_map(|set: &Vec<usize>| {
            let from = set.last().map_or(0, |l| l + 1);
            (from..n).map(move |x| {
                let mut next = set.clone();
                next.push(x);
                next
            })
        });
        all = longer.collect();
    }
    all
}

impl State {
    /// The configuration with this discrete part in a network with enough elements.
    pub(crate) fn of(network: &Network, layout: &Layout, discrete: &Discrete) -> State {
        let initial = network.processes.iter().map(|p| p.initial);
        let mut state = State {
            members: discrete.parts.len(),
            locations: initial.collect(),
            cells: network.cells.iter().map(|c| i64::from(c.init)).collect(),
        };
        let element = |v: i64| match v {
            v if v >= MEMBER => i64::from(layout.first) + (v - MEMBER),
            v => v,
        };
        let mut fill = |processes: &[usize], cells: &[usize], values: &[i64]| {
            let (locations, numbers) = values.split_at(processes.len());
            for (p, v) in processes.iter().zip(locations) {
                state.locations[*p] = *v as u32;
            }
            for (c, v) in cells.iter().zip(numbers) {
                state.cells[*c] = element(*v);
            }
        };
        fill(
            &layout.fixed_processes,
            &layout.fixed_cells,
            &discrete.fixed,
        );
        for (e, part) in discrete.parts.iter().enumerate() {
            fill(&layout.processes[e], &layout.cells[e], part);
        }
        state
    }

    /// Its discrete part.
    pub(crate) fn discrete(&self, network: &Network, layout: &Layout) -> Discrete {
        let value = |c: &usize| {
            let v = self.cells[*c];
            let j = v - i64::from(layout.first);
            let element = network.cells[CellId(*c as u32)].scalarset == Some(layout.set);
            match element && (0..self.members as i64).contains(&j) {
                true => MEMBER + j,
                false => v,
            }
        };
        let read = |processes: &[usize], cells: &[usize]| {
            let locations = processes.iter().map(|p| i64::from(self.locations[*p]));
            locations
                .chain(cells.iter().map(value))
                .collect::<Vec<i64>>()
        };
        let part = |e: usize| read(&layout.processes[e], &layout.cells[e]);
        Discrete {
            parts: (0..self.members).map(part).collect(),
            fixed: read(&layout.fixed_processes, &layout.fixed_cells),
        }
    }

    /// Whether a process is in the configuration.
    pub(crate) fn has_process(&self, layout: &Layout, p: usize) -> bool {
        layout.process_owner[p].is_none_or(|e| (e as usize) < self.members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Discrete {
        Discrete {
            parts: vec![vec![2], vec![1], vec![1]],
            fixed: vec![MEMBER, MEMBER + 2, OTHER, -1],
        }
    }

    #[test]
    fn a_name_outside_becomes_other() {
        let some = example().restrict(&[2, 1]);
        assert_eq!(some.parts, [vec![1], vec![1]]);
        assert_eq!(some.fixed, [OTHER, MEMBER, OTHER, -1]);
    }

    #[test]
    fn renamings_have_one_representative() {
        let (canonical, orders) = example().canonical();
        assert_eq!(orders.len(), 1);
        assert_eq!(example().restrict(&orders[0]), canonical);
        let mut alike = example();
        alike.fixed = vec![OTHER, -1];
        assert_eq!(alike.canonical().1.len(), 2);
        for order in permutations(3) {
            assert_eq!(example().restrict(&order).canonical().0, canonical);
        }
    }

    #[test]
    fn only_other_becomes_the_new_member() {
        let next = example().with(vec![7], &[2]);
        assert_eq!(
            next.map(|n| n.fixed),
            Some(vec![MEMBER, MEMBER + 2, MEMBER + 3, -1])
        );
        assert_eq!(example().with(vec![7], &[3]), None);
        assert_eq!((permutations(4).len(), subsets(5, 3).len()), (24, 10));
    }
}
