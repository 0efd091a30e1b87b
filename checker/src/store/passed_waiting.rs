//! The unified passed and waiting list: a table of states, and a queue of those that wait to be
//! explored.
//!
//! The queue contains only references; a state that was covered while it waited is skipped.

use crate::bounds::abstraction::Abstraction;
use crate::store::packing::Packing;
pub(crate) use crate::store::table::{Covering, NIL, Origin};
use crate::store::table::{Incoming, Table, Taken};
use crate::zone::{Layout, Shape, Zone};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zonelens_analysis::report::SearchOrder;
use zonelens_interpreter::Rng;

/// Stored and waiting states.
#[derive(Debug)]
pub(crate) struct PassedWaiting {
    table: Table,
    incoming: Incoming,
    queue: Queue,
}

#[derive(Debug)]
enum Queue {
    First(VecDeque<u32>),
    Last(Vec<u32>),
    Random(Vec<u32>, Rng),
    /// By rank; states of the same rank leave in the order in which they entered.
    Ranked(BTreeMap<u32, VecDeque<u32>>),
}

impl PassedWaiting {
    /// Creates an empty list for zones of a dimension whose constants rarely exceed `greatest`.
    pub(crate) fn new(
        packing: Packing,
        dim: usize,
        greatest: i32,
        abstraction: Abstraction,
        covering: Covering,
        order: SearchOrder,
        seed: u64,
    ) -> PassedWaiting {
        let table = Table::new(packing, dim, greatest, abstraction, covering);
        PassedWaiting {
            incoming: table.incoming(),
            table,
            queue: match order {
                SearchOrder::Bfs => Queue::First(VecDeque::new()),
                SearchOrder::Dfs => Queue::Last(Vec::new()),
                SearchOrder::Random => Queue::Random(Vec::new(), Rng::new(seed)),
            },
        }
    }

    /// Keeps waiting states that a deeper one covers, so that breadth-first search finds shortest
    /// paths.
    pub(crate) fn keep_shallow(&mut self) {
        self.table.keep_shallow();
    }

    /// Keeps the zones of covered states, because paths are built from them.
    pub(crate) fn keep_covered(&mut self) {
        self.table.keep_covered();
    }

    /// Stores folded zones. Must be called while the list is empty.
    pub(crate) fn fold(&mut self, layout: Arc<Layout>, greatest: i32) {
        self.table.fold(layout, greatest);
        self.incoming = self.table.incoming();
    }

    /// Takes the waiting states of lowest rank first. Must be called while the list is empty.
    pub(crate) fn by_rank(&mut self) {
        self.queue = Queue::Ranked(BTreeMap::new());
    }

    /// When a stored state covers another.
    pub(crate) fn covering(&self) -> Covering {
        self.table.covering()
    }

    /// The number of discrete states in the table.
    pub(crate) fn discrete(&self) -> u64 {
        self.table.discrete()
    }

    /// The number of states in the table.
    pub(crate) fn stored(&self) -> u64 {
        self.table.stored()
    }

    /// The number of states that are not yet explored.
    pub(crate) fn waiting(&self) -> u64 {
        self.table.waiting()
    }

    /// The number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let queue = match &self.queue {
            Queue::First(q) => q.capacity(),
            Queue::Last(q) | Queue::Random(q, _) => q.capacity(),
            Queue::Ranked(q) => q.values().map(VecDeque::capacity).sum(),
        };
        self.table.bytes() + queue * 4
    }

    /// Stores a state unless it is covered; returns its node. `l` and `u` are the bounds of its
    /// discrete part, `rank` is for [`PassedWaiting::by_rank`].
    pub(crate) fn put(
        &mut self,
        state: &[i32],
        zone: Shape<'_>,
        origin: Origin,
        (l, u): (&[i32], &[i32]),
        rank: u32,
    ) -> Option<u32> {
        self.incoming.load(state, zone, l, u);
        let id = self.table.put(&mut self.incoming, zone, origin, l, u)?;
        if self.table.gives_up_simulation() {
            self.incoming = self.table.incoming();
        }
        match &mut self.queue {
            Queue::First(q) => q.push_back(id),
            Queue::Last(q) | Queue::Random(q, _) => q.push(id),
            Queue::Ranked(q) => q.entry(rank).or_default().push_back(id),
        }
        Some(id)
    }

    /// The hull that covers the last state; see [`Table::joined`].
    pub(crate) fn joined(&mut self) -> Option<u32> {
        self.table.joined(&self.incoming)
    }

    /// Takes a waiting state.
    pub(crate) fn take(&mut self) -> Option<u32> {
        loop {
            let id = match &mut self.queue {
                Queue::First(q) => q.pop_front()?,
                Queue::Last(q) => q.pop()?,
                Queue::Random(q, rng) => random(q, rng)?,
                Queue::Ranked(q) => lowest(q)?,
            };
            if self.table.pass(id) {
                return Some(id);
            }
        }
    }

    /// Restores the state of a node that is not covered (or of any node, if covered states are
    /// kept).
    pub(crate) fn get(&self, id: u32, state: &mut Vec<i32>, zone: &mut Zone) {
        self.table.get(id, state, zone);
    }

    /// The same, without unfolding the zone.
    pub(crate) fn restore(&self, id: u32, state: &mut Vec<i32>, zone: &mut Taken) {
        self.table.take(id, state, zone);
    }

    /// The nodes whose states are in the table.
    pub(crate) fn kept(&self) -> impl Iterator<Item = u32> {
        self.table.kept()
    }

    /// The nodes of each discrete state that has several zones.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Vec<u32>> {
        self.table.shared()
    }

    /// The origin of a node.
    pub(crate) fn origin(&self, id: u32) -> Origin {
        self.table.origin(id)
    }

    /// The steps that lead to a node from the initial state.
    pub(crate) fn path(&self, id: u32) -> Vec<u32> {
        let mut steps = Vec::new();
        let mut origin = self.table.origin(id);
        while origin.parent != NIL {
            steps.push(origin.step);
            origin = self.table.origin(origin.parent);
        }
        steps.reverse();
        steps
    }
}

/// Removes a node of the lowest rank.
fn lowest(ranks: &mut BTreeMap<u32, VecDeque<u32>>) -> Option<u32> {
    loop {
        let mut first = ranks.first_entry()?;
        match first.get_mut().pop_front() {
            Some(id) => return Some(id),
            None => drop(first.remove()),
        }
    }
}

/// Random depth-first order: removes one of the newest nodes.
pub(crate) fn random(stack: &mut Vec<u32>, rng: &mut Rng) -> Option<u32> {
    let young = stack.len().min(8);
    let pick = stack.len().checked_sub(1 + rng.below(young))?;
    Some(stack.swap_remove(pick))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::bound::le;

    /// `lo <= x <= hi` and `y <= 9`.
    fn zone(lo: i32, hi: i32) -> Zone {
        let mut zone = Zone::universe(3);
        assert!(zone.and(0, 1, le(-lo)) && zone.and(1, 0, le(hi)) && zone.and(2, 0, le(9)));
        zone
    }

    fn list() -> PassedWaiting {
        let packing = Packing::new(std::iter::once((0, 5_000)));
        let (alu, order) = (Abstraction::Alu, SearchOrder::Bfs);
        PassedWaiting::new(packing, 3, 9, alu, Covering::Inclusion, order, 1)
    }

    fn put(list: &mut PassedWaiting, state: i32, zone: &Zone) -> Option<u32> {
        let origin = Origin {
            parent: NIL,
            step: 0,
            depth: 0,
        };
        let bounds: (&[i32], &[i32]) = (&[0, 5, 9], &[0, 5, 9]);
        list.put(&[state], Shape::Whole(zone), origin, bounds, 0)
    }

    #[test]
    fn simulation_is_given_up_where_it_covers_no_more_than_inclusion() {
        let mut plain = list();
        for state in 0..5_000 {
            assert!(put(&mut plain, state, &zone(2, 4)).is_some());
        }
        assert!(!plain.table.simulates());
        // Earlier zones are found by their new digests, in both directions.
        assert_eq!(put(&mut plain, 0, &zone(3, 4)), None);
        assert!(put(&mut plain, 0, &zone(1, 4)).is_some());
        assert_eq!(plain.stored(), 5_000);
        assert!(put(&mut plain, 1, &zone(7, 8)).is_some());
        assert!(put(&mut plain, 1, &zone(6, 7)).is_some());
        assert_eq!(plain.stored(), 5_002);

        let mut useful = list();
        assert!(put(&mut useful, 0, &zone(7, 8)).is_some());
        assert_eq!(put(&mut useful, 0, &zone(6, 7)), None, "beyond the bounds");
        for state in 1..5_000 {
            put(&mut useful, state, &zone(2, 4));
        }
        assert!(useful.table.simulates());
    }
}
