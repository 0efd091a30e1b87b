//! How many elements a step may touch.
//!
//! A step reads or writes the parts of some elements. Each of them is the element of a moving
//! process, the value of a `select` variable, or the value of a variable of the fixed part: there
//! is no other source of elements, because the part of an element holds none (`layout.rs`), the
//! variable of a quantifier or loop ranges over the members of a view, and functions take their
//! elements from their arguments. [`Footprint`] collects these sources for the edges of a step. A
//! variable counts if it is used as an index. Where the element of an index may come from somewhere
//! else, all variables with elements that the step reads count, and all `select` variables: inside
//! functions, for copied structs, and if the step assigns to a variable that it uses as an index
//! (the sender of a synchronisation may write what its receiver uses).

use super::Layout;
use super::visit::{Access, Visitor, Walk};
use crate::network::{Base, CellId, Edge, Expr, ExprKind, IndexStep, Network, Place};
use std::collections::BTreeSet;
use zonelens_syntax::span::Span;

/// The sources of elements of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The moving processes.
    pub movers: u32,
    /// The `select` variables over the set.
    pub selects: u32,
    /// Those that are used as indices.
    pub indexing: u32,
    /// The cells of the fixed part whose elements are used as indices.
    pub indices: BTreeSet<usize>,
    /// The cells with elements that are read.
    pub read: BTreeSet<usize>,
    /// The cells with elements that are written.
    pub written: BTreeSet<usize>,
    /// Whether some index may come from elsewhere.
    pub indirect: bool,
}

impl Footprint {
    /// The most elements that the step touches.
    pub fn count(&self) -> u32 {
        if self.indirect || !self.indices.is_disjoint(&self.written) {
            let names = self.indices.union(&self.read).count() as u32;
            return self.movers + self.selects + names;
        }
        self.movers + self.indexing + self.indices.len() as u32
    }

    /// What two edges touch that are taken together.
    pub fn with(&self, other: &Footprint) -> Footprint {
        let both = |a: &BTreeSet<usize>, b: &BTreeSet<usize>| a.union(b).copied().collect();
        Footprint {
            movers: self.movers + other.movers,
            selects: self.selects + other.selects,
            indexing: self.indexing + other.indexing,
            indices: both(&self.indices, &other.indices),
            read: both(&self.read, &other.read),
            written: both(&self.written, &other.written),
            indirect: self.indirect || other.indirect,
        }
    }
}

/// Collects the cells whose elements are used.
struct Sources<'a> {
    network: &'a Network,
    layout: &'a Layout,
    found: Footprint,
    /// The slots of the edge that are used as indices.
    slots: BTreeSet<u32>,
}

impl Sources<'_> {
    /// The cells with elements that a place may denote.
    fn cells(&self, place: &Place) -> Vec<usize> {
        let Base::Cell(c) = place.base else {
            return Vec::new();
        };
        let holds = |c: &usize| self.layout.holds_elements(self.network, *c);
        if place.steps.is_empty() {
            return vec![c.0 as usize].into_iter().filter(holds).collect();
        }
        let variable = self.network.cells[c].variable;
        let all = 0..self.network.cells.len();
        let of = |c: &usize| self.network.cells[CellId(*c as u32)].variable == variable;
        all.filter(of).filter(holds).collect()
    }
}

impl Visitor for Sources<'_> {
    fn place(&mut self, place: &Place, access: Access, _: Span, _: bool) {
        let cells = self.cells(place);
        match access {
            Access::Read => self.found.read.extend(cells),
            Access::Write => self.found.written.extend(cells),
            Access::Reference | Access::Block | Access::WriteBlock => {
                let all = 0..self.network.cells.len();
                let some: Vec<usize> = all
                    .filter(|c| self.layout.holds_elements(self.network, *c))
                    .collect();
                self.found.indirect |= !some.is_empty();
                self.found.read.extend(some);
            }
        }
    }

    fn index(&mut self, steps: &[IndexStep], in_function: bool) {
        for step in steps {
            if step.range.scalarset != Some(self.layout.set) {
                continue;
            }
            match &step.index.kind {
                ExprKind::Read(place) if matches!(place.base, Base::Cell(_)) => {
                    let cells = self.cells(place);
                    self.found.indices.extend(cells);
                }
                // A select or quantifier variable of the edge itself.
                ExprKind::Read(place) if !in_function => match place.base {
                    Base::Slot(slot) => {
                        self.slots.insert(slot);
                    }
                    _ => self.found.indirect = true,
                },
                ExprKind::Const(_) => {}
                _ => self.found.indirect = true,
            }
        }
    }
}

/// The sources of elements of an evaluation, and the slots that are used as indices.
fn sources<'e>(
    network: &Network,
    layout: &Layout,
    code: impl Iterator<Item = &'e Expr>,
    indices: &[IndexStep],
) -> (Footprint, BTreeSet<u32>) {
    let visitor = Sources {
        network,
        layout,
        found: Footprint::default(),
        slots: BTreeSet::new(),
    };
    let mut walk = Walk::new(network, visitor);
    code.for_each(|e| walk.expr(e));
    walk.steps(indices);
    (walk.visitor.found, walk.visitor.slots)
}

/// The sources of elements of an edge of a process, hooks included.
pub fn of_edge(network: &Network, layout: &Layout, process: usize, edge: &Edge) -> Footprint {
    let over = |s: &&crate::network::Select| s.range.scalarset == Some(layout.set);
    let selects: Vec<u32> = edge.selects.iter().filter(over).map(|s| s.slot).collect();
    let hooks = network.before_update.iter().chain(&network.after_update);
    let code = edge.guard.iter().chain(&edge.updates).chain(hooks);
    let channel = edge.sync.as_ref().map_or(&[][..], |s| &s.channel.steps[..]);
    let (found, slots) = sources(network, layout, code, channel);
    Footprint {
        movers: u32::from(layout.process_owner[process].is_some()),
        selects: selects.len() as u32,
        indexing: selects.iter().filter(|s| slots.contains(s)).count() as u32,
        ..found
    }
}

/// The number of elements that one evaluation of a condition relates besides those whose processes
/// it belongs to: indices by data, and nested quantifiers over the set.
pub fn of_condition(network: &Network, layout: &Layout, condition: &Expr) -> u32 {
    of_names(network, layout, condition) + depth(network, layout, condition)
}

/// The number of variables whose elements a condition may use as indices.
pub(crate) fn of_names(network: &Network, layout: &Layout, condition: &Expr) -> u32 {
    sources(network, layout, std::iter::once(condition), &[])
        .0
        .count()
}

/// Measures nested quantifiers over the set.
struct Depth<'a> {
    layout: &'a Layout,
    now: u32,
    most: u32,
}

impl Depth<'_> {
    fn counts(&self, e: &Expr) -> bool {
        let set = Some(self.layout.set);
        matches!(&e.kind, ExprKind::Quantifier { range, .. } if range.scalarset == set)
    }
}

impl Visitor for Depth<'_> {
    fn expr(&mut self, e: &Expr, _: bool) {
        self.now += u32::from(self.counts(e));
        self.most = self.most.max(self.now);
    }

    fn after(&mut self, e: &Expr) {
        self.now -= u32::from(self.counts(e));
    }
}

/// How deep quantifiers over the set are nested in an expression and in the functions it calls.
/// A function is walked once, where it is called first; quantifiers around later calls are covered
/// by adding the depth of all functions once for each level.
pub(super) fn depth(network: &Network, layout: &Layout, e: &Expr) -> u32 {
    let mut walk = Walk::new(
        network,
        Depth {
            layout,
            now: 0,
            most: 0,
        },
    );
    walk.expr(e);
    let most = walk.visitor.most;
    match has_call(network, e) {
        // The depth of every function, and of the expression around the calls.
        true => most + functions_depth(network, layout),
        false => most,
    }
}

fn functions_depth(network: &Network, layout: &Layout) -> u32 {
    struct Count<'a>(&'a Layout, u32);
    impl Visitor for Count<'_> {
        fn expr(&mut self, e: &Expr, in_function: bool) {
            let set = Some(self.0.set);
            if in_function
                && matches!(&e.kind, ExprKind::Quantifier { range, .. } if range.scalarset == set)
            {
                self.1 += 1;
            }
        }
    }
    let mut walk = Walk::new(network, Count(layout, 0));
    // One process of each family suffices, but functions are copied per process: the elements
    // beyond the first repeat them.
    let first = |p: &usize| layout.process_owner[*p].is_none_or(|e| e == 0);
    let chosen = (0..network.processes.len()).filter(first);
    for p in chosen {
        for edge in &network.processes[p].edges {
            edge.guard
                .iter()
                .chain(&edge.updates)
                .for_each(|e| walk.expr(e));
        }
        let invariants = network.processes[p].locations.iter();
        invariants
            .filter_map(|l| l.invariant.as_ref())
            .for_each(|e| walk.expr(e));
    }
    network
        .before_update
        .iter()
        .chain(&network.after_update)
        .for_each(|e| walk.expr(e));
    walk.visitor.1
}

fn has_call(network: &Network, e: &Expr) -> bool {
    struct Calls(bool);
    impl Visitor for Calls {
        fn expr(&mut self, e: &Expr, _: bool) {
            self.0 |= matches!(e.kind, ExprKind::Call(_));
        }
    }
    let mut walk = Walk::new(network, Calls(false));
    walk.expr(e);
    walk.visitor.0
}
