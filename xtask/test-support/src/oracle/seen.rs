//! What a model never does, found by looking at every region and every step of each.

use super::model::TestModel;
use super::regions::{CAP, Graph, Walker};
use std::collections::BTreeSet;

/// Something that never happens. Processes, locations and edges are numbered as in the model;
/// numbers are the variables, followed by the array as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Never {
    /// A location that no region has.
    Location(usize, usize),
    /// An edge that no step takes.
    Edge(usize, usize),
    /// The guard of such an edge, where no region with the source satisfies it.
    Guard(usize, usize),
    /// Such an edge that receives, where some region with the source satisfies the guard.
    Receiver(usize, usize),
    /// A number that never has its least (false) or greatest (true) value.
    Limit(usize, bool),
}

/// What happens in no region of the graph, which must be complete.
pub fn never(model: &TestModel, graph: &Graph) -> BTreeSet<Never> {
    let walker = Walker::new(model, graph.cap.unwrap_or(CAP));
    let mut never = BTreeSet::new();
    let mut taken = BTreeSet::new();
    for state in &graph.states {
        let (steps, _, _) = walker.actions(state);
        let edges = steps.iter().flat_map(|(edges, _)| edges);
        taken.extend(edges.map(|(p, e, _)| (*p, *e)));
    }
    for (p, (locations, edges)) in model.processes.iter().enumerate() {
        let entered = |l: usize| graph.states.iter().any(|s| s.locations[p] == l);
        never.extend(
            (0..locations.len())
                .filter(|l| !entered(*l))
                .map(|l| Never::Location(p, l)),
        );
        for (e, edge) in edges.iter().enumerate() {
            if taken.contains(&(p, e)) {
                continue;
            }
            never.insert(Never::Edge(p, e));
            if !entered(edge.source) {
                continue;
            }
            let values = 0..if edge.select { 2 } else { 1 };
            let enabled = graph.states.iter().any(|s| {
                let holds = |k| walker.condition(&edge.guard, s, k);
                s.locations[p] == edge.source && values.clone().any(holds)
            });
            if !enabled {
                never.insert(Never::Guard(p, e));
            } else if edge.sync.is_some_and(|sync| !sync.sends) {
                never.insert(Never::Receiver(p, e));
            }
        }
    }
    for number in 0..model.vars + usize::from(model.cells > 0) {
        // What `meta` variables hold between steps has no meaning.
        if model.meta && number + 1 >= model.vars {
            continue;
        }
        let cells = if number < model.vars {
            number..number + 1
        } else {
            model.vars..model.vars + model.cells
        };
        for (limit, upper) in [(0, false), (2, true)] {
            let mut all = graph.states.iter().flat_map(|s| &s.vars[cells.clone()]);
            if !all.any(|value| *value == limit) {
                never.insert(Never::Limit(number, upper));
            }
        }
    }
    never
}
