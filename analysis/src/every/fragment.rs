//! What a model may do with the elements of a set whose size is not fixed.

use super::layout::{Layout, is_whole, span_or};
use super::visit::{Access, Visitor, Walk, base_cell};
use super::{MOST_NESTED, Refusal, names};
use crate::network::{
    Base, ClockBase, ClockRef, Edge, Expr, ExprKind, Id, IndexStep, LocationKind, Network, Place,
    Stmt,
};
use std::collections::BTreeSet;
use zonelens_syntax::ast::{Direction, QuantifierKind};
use zonelens_syntax::span::Span;

/// Everything that keeps a network out of the fragment, in the order of the text.
pub(crate) fn refusals(network: &Network, layout: &Layout) -> Vec<Refusal> {
    let mut check = Check {
        network,
        layout,
        found: Vec::new(),
    };
    check.network();
    let mut found = check.found;
    found.sort_by_key(|r| (r.span.start, r.code));
    // The copies of one template repeat its findings.
    found.dedup_by(|a, b| (a.code, a.span) == (b.code, b.span));
    found
}

struct Check<'a> {
    network: &'a Network,
    layout: &'a Layout,
    found: Vec<Refusal>,
}

impl Check<'_> {
    fn refuse(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.found.push(Refusal::new(code, message.into(), span));
    }

    fn name(&self) -> &str {
        &self.network.scalarsets[self.layout.set].name
    }

    fn network(&mut self) {
        let network = self.network;
        let set = &network.scalarsets[self.layout.set];
        for u in network.unsupported.iter().filter(|u| u.fatal) {
            self.refuse(
                "every/set",
                format!("the model uses what is not supported: {}", u.message),
                u.span,
            );
        }
        if network.has_priorities {
            let message = "the model declares priorities: a step of a process outside of a view may come first";
            self.refuse("every/priority", message, set.span);
        }
        for hook in network.before_update.iter().chain(&network.after_update) {
            self.code(hook, hook.span);
        }
        for (p, process) in network.processes.iter().enumerate() {
            // The processes of other elements are alike.
            if self.layout.process_owner[p].is_some_and(|e| e > 0) {
                continue;
            }
            for location in &process.locations {
                if let Some(invariant) = &location.invariant {
                    self.code(invariant, location.span);
                }
            }
            for edge in &process.edges {
                self.edge(p, edge, process.span);
            }
        }
    }

    fn edge(&mut self, p: usize, edge: &Edge, span: Span) {
        let span = edge.spans.first().map_or(span, |s| span_or(*s, span));
        let code = edge.guard.iter().chain(&edge.updates);
        code.for_each(|e| self.code(e, span));
        for select in &edge.selects {
            if select.range.scalarset == Some(self.layout.set)
                && !is_whole(&select.range, self.layout)
            {
                let message = format!("`{}` ranges over a part of `{}`", select.name, self.name());
                self.refuse("every/part", message, span);
            }
        }
        let Some(sync) = &edge.sync else { return };
        let mut walk = Walk::new(self.network, Uses::new(self.network, self.layout, span));
        walk.steps(&sync.channel.steps);
        self.found.append(&mut walk.visitor.found);
        let steps = sync.channel.steps.iter();
        let most: u32 = steps
            .map(|s| s.stride * s.range.len.saturating_sub(1))
            .sum();
        let channels = sync.channel.base.0..=sync.channel.base.0 + most;
        let any = |f: &dyn Fn(&crate::network::Channel) -> bool| {
            channels
                .clone()
                .any(|c| self.network.channels.get(Id::at(c as usize)).is_some_and(f))
        };
        let clocks = edge.guard.as_ref().is_some_and(has_clocks);
        if any(&|c| c.urgent) && clocks {
            let message =
                "a clock guard on an edge over an urgent channel is not followed for every size";
            self.refuse("every/clock", message, span);
        }
        let owner = self.layout.process_owner[p];
        if any(&|c| c.broadcast) && sync.direction == Direction::Receive {
            self.receiver(edge, owner, span);
        }
    }

    /// A receiver of a broadcast may be outside of a view: it must not change what is inside.
    fn receiver(&mut self, edge: &Edge, owner: Option<u32>, span: Span) {
        let set = Some(self.layout.set);
        if edge.selects.iter().any(|s| s.range.scalarset == set) {
            let message = format!(
                "a receiver of a broadcast selects an element of `{}`: any number of elements could take part",
                self.name()
            );
            self.refuse("every/broadcast", message, span);
        }
        // The fixed processes are in every view.
        if owner.is_none() {
            return;
        }
        let writes = Writes {
            layout: self.layout,
            owner,
            foreign: None,
        };
        let mut walk = Walk::new(self.network, writes);
        edge.updates.iter().for_each(|e| walk.expr(e));
        if let Some(at) = walk.visitor.foreign {
            let message = "a receiver of a broadcast writes more than its own variables: any number of processes may receive, and their order would matter";
            self.refuse("every/broadcast", message, span_or(at, span));
        }
    }

    /// One expression with all that it evaluates.
    fn code(&mut self, e: &Expr, span: Span) {
        let mut walk = Walk::new(self.network, Uses::new(self.network, self.layout, span));
        walk.expr(e);
        self.found.append(&mut walk.visitor.found);
        if names::depth(self.network, self.layout, e) > MOST_NESTED {
            let message = format!(
                "more than {MOST_NESTED} quantifiers over `{}` are nested here",
                self.name()
            );
            self.refuse("every/loop", message, span_or(e.span, span));
        }
    }
}

/// Whether clocks can decide the value of an expression.
pub fn has_clocks(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Clock { .. } | ExprKind::Rate { .. } | ExprKind::Deadlock => true,
        ExprKind::Unary(_, a) => has_clocks(a),
        ExprKind::Binary(_, a, b) => has_clocks(a) || has_clocks(b),
        ExprKind::Cond(a, b, c) => has_clocks(a) || has_clocks(b) || has_clocks(c),
        ExprKind::Quantifier { body, .. } => has_clocks(body),
        _ => false,
    }
}

/// Finds writes to more than the part of one element.
struct Writes<'a> {
    layout: &'a Layout,
    owner: Option<u32>,
    foreign: Option<Span>,
}

impl Visitor for Writes<'_> {
    fn place(&mut self, place: &Place, access: Access, span: Span, _: bool) {
        let inside = match (&place.base, access) {
            (_, Access::Read | Access::Block) => true,
            (_, Access::Reference) => false,
            (Base::Slot(_), _) => true,
            (Base::Cell(_), _) => {
                let set = Some(self.layout.set);
                let own = base_cell(place).and_then(|c| self.layout.cell_owner[c]) == self.owner;
                own && !place.steps.iter().any(|s| s.range.scalarset == set)
            }
            _ => false,
        };
        if !inside {
            self.foreign.get_or_insert(span);
        }
    }

    fn clock(&mut self, clock: &ClockRef, set: bool, span: Span) {
        let own = match clock.base {
            ClockBase::Clock(c) => {
                let steps = &clock.steps;
                let over = steps
                    .iter()
                    .any(|s| s.range.scalarset == Some(self.layout.set));
                self.layout.clock_owner[c.index()] == self.owner && !over
            }
            ClockBase::Ref(_) => false,
        };
        if set && !own {
            self.foreign.get_or_insert(span_or(clock.span, span));
        }
    }
}

/// Finds uses of elements that are not followed.
struct Uses<'a> {
    network: &'a Network,
    layout: &'a Layout,
    span: Span,
    found: Vec<Refusal>,
}

impl<'a> Uses<'a> {
    fn new(network: &'a Network, layout: &'a Layout, span: Span) -> Uses<'a> {
        Uses {
            network,
            layout,
            span,
            found: Vec::new(),
        }
    }

    fn refuse(&mut self, code: &'static str, message: String, span: Span) {
        self.found
            .push(Refusal::new(code, message, span_or(span, self.span)));
    }

    fn set_name(&self) -> &str {
        &self.network.scalarsets[self.layout.set].name
    }

    fn over(&self, range: &crate::network::IndexRange) -> bool {
        range.scalarset == Some(self.layout.set)
    }
}

impl Visitor for Uses<'_> {
    fn expr(&mut self, e: &Expr, _: bool) {
        match &e.kind {
            ExprKind::Quantifier { kind, range, .. } if self.over(range) => {
                if *kind == QuantifierKind::Sum {
                    let message = format!(
                        "`sum` counts elements of `{}`, and a view has only some",
                        self.set_name()
                    );
                    self.refuse("every/count", message, e.span);
                }
                if !is_whole(range, self.layout) {
                    let message =
                        format!("the quantifier ranges over a part of `{}`", self.set_name());
                    self.refuse("every/part", message, e.span);
                }
            }
            ExprKind::Rate { .. } => {
                let message = "stopwatches are not followed for every size";
                self.refuse("every/clock", message.into(), e.span);
            }
            _ => {}
        }
    }

    fn place(&mut self, place: &Place, _: Access, span: Span, _: bool) {
        if matches!(place.base, Base::Constant(_)) {
            let steps = &place.steps;
            if steps.iter().any(|s| self.over(&s.range)) {
                let message = format!(
                    "a constant has an entry for each element of `{}`, so its text changes with the size",
                    self.set_name()
                );
                self.refuse("every/initial", message, span);
            }
        }
    }

    fn index(&mut self, steps: &[IndexStep], _: bool) {
        for step in steps {
            if self.over(&step.range) && !is_whole(&step.range, self.layout) {
                let message = format!("an index over `{}` has another range", self.set_name());
                self.refuse("every/part", message, step.index.span);
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let Stmt::Iterate {
            slot,
            range,
            body,
            span,
        } = statement
        else {
            return;
        };
        if !self.over(range) {
            return;
        }
        let sets_cells = body.iter().all(|s| sets_own_cell(self.layout, *slot, s));
        if !sets_cells || !is_whole(range, self.layout) {
            let message = format!(
                "a loop over `{}` may only set a variable of each element to a value that does not depend on other elements; write `forall` or `exists` where it searches",
                self.set_name()
            );
            self.refuse("every/loop", message, *span);
        }
    }
}

/// Whether a statement sets an entry of the element of the loop, to a value of the fixed part.
fn sets_own_cell(layout: &Layout, slot: u32, statement: &Stmt) -> bool {
    let own = |steps: &[IndexStep]| {
        let over: Vec<&IndexStep> = steps
            .iter()
            .filter(|s| s.range.scalarset == Some(layout.set))
            .collect();
        let others = steps
            .iter()
            .filter(|s| s.range.scalarset != Some(layout.set));
        let is_loop = |e: &Expr| matches!(&e.kind, ExprKind::Read(p) if p.base == Base::Slot(slot) && p.steps.is_empty());
        over.len() == 1
            && over.iter().all(|s| is_loop(&s.index))
            && others
                .into_iter()
                .all(|s| matches!(s.index.kind, ExprKind::Const(_)))
    };
    let Stmt::Expr(e) = statement else {
        return false;
    };
    match &e.kind {
        ExprKind::Assign {
            place,
            op: None,
            value,
            ..
        } => {
            let cell = matches!(place.base, Base::Cell(_));
            cell && own(&place.steps) && simple(value)
        }
        ExprKind::SetClock { clock, value } => own(&clock.steps) && simple(value),
        _ => false,
    }
}

/// Whether an expression reads only plain variables and constants.
fn simple(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Read(place) => place.steps.is_empty() && !matches!(place.base, Base::Ref(_)),
        ExprKind::Unary(_, a) => simple(a),
        ExprKind::Binary(_, a, b) => simple(a) && simple(b),
        ExprKind::Cond(a, b, c) => simple(a) && simple(b) && simple(c),
        _ => false,
    }
}

/// The channels that a process over the set may receive on while it is in a committed location.
pub fn committed_receivers(network: &Network, layout: &Layout) -> BTreeSet<u32> {
    let mut out = BTreeSet::new();
    for (p, process) in network.processes.iter().enumerate() {
        if layout.process_owner[p].is_none() {
            continue;
        }
        for edge in &process.edges {
            let source = &process.locations[edge.source as usize];
            let committed = source.kind == LocationKind::Committed;
            if let Some(sync) = edge
                .sync
                .as_ref()
                .filter(|s| s.direction == Direction::Receive && committed)
            {
                out.extend(super::channels(&sync.channel));
            }
        }
    }
    out
}

/// The channels that a process over the set may receive on.
pub fn receivers(network: &Network, layout: &Layout) -> BTreeSet<u32> {
    let mut out = BTreeSet::new();
    for (p, process) in network.processes.iter().enumerate() {
        let edges = process
            .edges
            .iter()
            .filter(|_| layout.process_owner[p].is_some());
        let syncs = edges.filter_map(|e| e.sync.as_ref());
        for sync in syncs.filter(|s| s.direction == Direction::Receive) {
            out.extend(super::channels(&sync.channel));
        }
    }
    out
}
