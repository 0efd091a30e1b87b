//! The receivers of a broadcast and the edges they take: every combination, except that
//! combinations of interchangeable receivers are enumerated once.

use crate::graph::steps::Part;
use crate::mutation::{Mutation, is_on};
use crate::program::{EdgeId, Program};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The receivers of a broadcast, and the enabled edge that each takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receivers {
    /// Enabled receiving edges, process by process.
    pub options: Vec<Part>,
    /// For each process, the range of its edges in `options`.
    pub of_process: Vec<Range<usize>>,
    /// For each process, the index of the edge that it takes.
    pub choice: Vec<usize>,
    /// For each receiver, an earlier one that is interchangeable with it; empty if there are none.
    pub twins: Vec<Option<usize>>,
}

/// Whether a receiver may stay out, which requires that all its enabled edges have clock guards.
/// The position after its last option stands for this choice.
pub(crate) fn may_stay_out(program: &Program, options: &[Part]) -> bool {
    is_on(Mutation::LazyReceivers)
        || options.iter().all(|part| {
            let guard = &program.edges[part.edge as usize].guard;
            guard.as_ref().is_some_and(|g| g.has_clocks())
        })
}

impl Receivers {
    /// Advances the choice. A receiver never takes an earlier option than its twin: the choices of
    /// interchangeable receivers form a multiset.
    pub(crate) fn next(&mut self, program: &Program) -> bool {
        for at in (0..self.choice.len()).rev() {
            let options = &self.options[self.of_process[at].clone()];
            let last = options.len() + usize::from(may_stay_out(program, options));
            if self.choice[at] + 1 < last {
                self.choice[at] += 1;
                for later in at + 1..self.choice.len() {
                    let twin = self.twins.get(later).copied().flatten();
                    self.choice[later] = twin.map_or(0, |t| self.choice[t]);
                }
                return true;
            }
        }
        false
    }
}

/// The set that each select variable of an edge ranges over, with its first value.
pub(crate) type SelectSets = Vec<Option<(u16, i32)>>;

/// Which processes are interchangeable in a state, by the elements of scalarsets that they belong
/// to.
#[derive(Clone, Debug)]
pub(crate) struct Interchange {
    /// For each process, the elements it belongs to: set, element.
    pub elements: Arc<Vec<Vec<(u16, u16)>>>,
    /// For each edge and select variable, the set that it ranges over, with its first value.
    pub selects: Arc<Vec<SelectSets>>,
    /// For each set and element, how many elements before it may be in its class.
    pub before: Arc<Vec<Vec<u16>>>,
    /// For each set and element, its class, by the first element: swaps inside a class fix the
    /// state.
    pub classes: Vec<Vec<u16>>,
}

impl Interchange {
    /// Whether steps that begin with a process need not be listed: it belongs to one element, which
    /// is not the first of its class. A swap of the two maps such a step to one that begins with
    /// the process of the first.
    #[inline]
    pub(crate) fn skips_sender(&self, process: usize) -> bool {
        match &self.elements[process][..] {
            [(set, element)] => self.classes[*set as usize][*element as usize] != *element,
            _ => false,
        }
    }

    /// The elements that a sender names: those of its process and those that it chooses.
    pub(crate) fn named(
        &self,
        process: usize,
        edge: EdgeId,
        values: &[i32],
    ) -> SmallVec<[(u16, u16); 4]> {
        let own = self.elements[process].iter().copied();
        let chosen = values.iter().zip(&self.selects[edge as usize]);
        let chosen =
            chosen.filter_map(|(value, set)| set.map(|(set, first)| (set, (value - first) as u16)));
        own.chain(chosen).collect()
    }

    /// Whether a receiver of a sender that names these elements need not be listed: it belongs to
    /// one element that the sender does not name, and more elements of its class come before it
    /// than the sender names. One of these is not named, and swapping the two maps the step to one
    /// that is listed.
    #[inline]
    pub(crate) fn skips_receiver(&self, process: usize, named: &[(u16, u16)]) -> bool {
        let [(set, element)] = self.elements[process][..] else {
            return false;
        };
        let before = &self.before[set as usize];
        let class = self.classes[set as usize][element as usize];
        let rank = before[element as usize] - before[class as usize];
        rank as usize > named.len() && !named.contains(&(set, element))
    }

    /// Finds twins among receivers: processes of one element each, in the same class, with the same
    /// choice and without select values. The elements of the sender are fixed. An element with
    /// several receivers that choose is skipped, because exchanging it exchanges all of them.
    pub(crate) fn pair_up(
        &self,
        program: &Program,
        receivers: &mut Receivers,
        sender: EdgeId,
        values: &[i32],
    ) {
        let edge = |part: &Part| &program.edges[part.edge as usize];
        let mut named = self.elements[program.edges[sender as usize].process as usize].clone();
        for (value, set) in values.iter().zip(&self.selects[sender as usize]) {
            named.extend(set.map(|(set, first)| (set, (value - first) as u16)));
        }
        let Receivers {
            options,
            of_process,
            twins,
            ..
        } = receivers;
        let own =
            |range: &Range<usize>| &self.elements[edge(&options[range.start]).process as usize][..];
        let choosing = |range: &Range<usize>| {
            range.len() > 1 || may_stay_out(program, &options[range.clone()])
        };
        let mut users: FxHashMap<(u16, u16), u32> = FxHashMap::default();
        for range in of_process.iter().filter(|r| choosing(r)) {
            for element in own(range) {
                *users.entry(*element).or_default() += 1;
            }
        }
        // The last receiver of each class and shape of choice so far.
        let mut last: FxHashMap<(u16, u16, Vec<u32>), usize> = FxHashMap::default();
        for (at, range) in of_process.iter().enumerate() {
            let mut twin = None;
            if let [element] = own(range)
                && choosing(range)
                && !named.contains(element)
                && users.get(element) == Some(&1)
                && options[range.clone()]
                    .iter()
                    .all(|o| edge(o).selects.is_empty())
            {
                let indices = options[range.clone()].iter().map(|o| edge(o).index);
                let shape: Vec<u32> = indices.collect();
                let class = self.classes[element.0 as usize][element.1 as usize];
                twin = last.insert((element.0, class, shape), at);
            }
            twins.push(twin);
        }
    }
}
