//! A digest of what a network and a query mean: the key of cached verdicts.
//!
//! Equal digests mean equal answers. Spans, comments, layout and templates without instances are not in a network, or
//! are left out here. Names of processes, locations and variables are in, because traces show them: renaming one makes
//! results stale, which is safe. Every field is named below, so that a new one cannot be forgotten.

mod code;

use crate::network::{
    BoundsExpr, Cell, Channel, Clock, Edge, Family, IndexRange, Location, Network, Process, Query,
    QueryKind, Scalarset, Select, Shape, Sync, UnsupportedUse, Variable,
};
use sha2::{Digest, Sha256};

/// A digest of 256 bits.
pub type Fingerprint = [u8; 32];

/// The digest of a network.
pub fn of_network(network: &Network) -> Fingerprint {
    let mut sink = Sink::new();
    network.feed(&mut sink);
    sink.finish()
}

/// The digest of a resolved query.
pub fn of_query(query: &Query) -> Fingerprint {
    let mut sink = Sink::new();
    query.feed(&mut sink);
    sink.finish()
}

struct Sink(Sha256);

impl Sink {
    fn new() -> Sink {
        Sink(Sha256::new())
    }

    fn number(&mut self, value: impl Into<i64>) {
        self.0.update(value.into().to_le_bytes());
    }

    fn text(&mut self, value: &str) {
        self.0.update((value.len() as u64).to_le_bytes());
        self.0.update(value.as_bytes());
    }

    /// For enums without fields, whose `Debug` form is their name.
    fn name(&mut self, value: impl std::fmt::Debug) {
        self.text(&format!("{value:?}"));
    }

    fn finish(self) -> Fingerprint {
        self.0.finalize().into()
    }
}

trait Feed {
    fn feed(&self, sink: &mut Sink);
}

impl<T: Feed> Feed for Vec<T> {
    fn feed(&self, sink: &mut Sink) {
        sink.number(self.len() as i64);
        for element in self {
            element.feed(sink);
        }
    }
}

impl<T: Feed> Feed for Option<T> {
    fn feed(&self, sink: &mut Sink) {
        sink.number(i64::from(self.is_some()));
        if let Some(value) = self {
            value.feed(sink);
        }
    }
}

impl<T: Feed> Feed for Box<T> {
    fn feed(&self, sink: &mut Sink) {
        (**self).feed(sink);
    }
}

impl<A: Feed, B: Feed> Feed for (A, B) {
    fn feed(&self, sink: &mut Sink) {
        self.0.feed(sink);
        self.1.feed(sink);
    }
}

impl Feed for i32 {
    fn feed(&self, sink: &mut Sink) {
        sink.number(*self);
    }
}

impl Feed for u32 {
    fn feed(&self, sink: &mut Sink) {
        sink.number(*self);
    }
}

impl Feed for smol_str::SmolStr {
    fn feed(&self, sink: &mut Sink) {
        sink.text(self);
    }
}

impl Feed for Network {
    fn feed(&self, sink: &mut Sink) {
        let Network {
            cells,
            clocks,
            channels,
            constants,
            variables,
            functions,
            processes,
            families,
            scalarsets,
            has_priorities,
            before_update,
            after_update,
            update_frame,
            unsupported,
        } = self;
        cells.feed(sink);
        clocks.feed(sink);
        channels.feed(sink);
        constants.feed(sink);
        variables.feed(sink);
        functions.feed(sink);
        processes.feed(sink);
        families.feed(sink);
        scalarsets.feed(sink);
        sink.number(*has_priorities);
        before_update.feed(sink);
        after_update.feed(sink);
        update_frame.feed(sink);
        unsupported.feed(sink);
    }
}

impl Feed for UnsupportedUse {
    fn feed(&self, sink: &mut Sink) {
        let UnsupportedUse {
            code,
            message,
            span: _,
            fatal,
        } = self;
        sink.text(code);
        sink.text(message);
        sink.number(*fatal);
    }
}

impl Feed for Cell {
    fn feed(&self, sink: &mut Sink) {
        let Cell {
            lo,
            hi,
            init,
            scalarset,
            meta,
            variable,
        } = self;
        lo.feed(sink);
        hi.feed(sink);
        init.feed(sink);
        scalarset.feed(sink);
        sink.number(*meta);
        variable.feed(sink);
    }
}

impl Feed for Clock {
    fn feed(&self, sink: &mut Sink) {
        let Clock { init, variable } = self;
        init.feed(sink);
        variable.feed(sink);
    }
}

impl Feed for Channel {
    fn feed(&self, sink: &mut Sink) {
        let Channel {
            urgent,
            broadcast,
            priority,
            variable,
        } = self;
        sink.number(*urgent);
        sink.number(*broadcast);
        priority.feed(sink);
        variable.feed(sink);
    }
}

impl Feed for Variable {
    fn feed(&self, sink: &mut Sink) {
        let Variable {
            name,
            process,
            shape,
            first_cell,
            first_clock,
            first_channel,
            span: _,
        } = self;
        name.feed(sink);
        process.feed(sink);
        shape.feed(sink);
        first_cell.feed(sink);
        first_clock.feed(sink);
        first_channel.feed(sink);
    }
}

impl Feed for Shape {
    fn feed(&self, sink: &mut Sink) {
        match self {
            Shape::Int {
                lo,
                hi,
                scalarset,
                boolean,
            } => {
                sink.number(0);
                lo.feed(sink);
                hi.feed(sink);
                scalarset.feed(sink);
                sink.number(*boolean);
            }
            Shape::Clock => sink.number(1),
            Shape::Channel => sink.number(2),
            Shape::Array { index, element } => {
                sink.number(3);
                index.feed(sink);
                element.feed(sink);
            }
            Shape::Struct(fields) => {
                sink.number(4);
                fields.feed(sink);
            }
        }
    }
}

impl Feed for IndexRange {
    fn feed(&self, sink: &mut Sink) {
        let IndexRange { lo, len, scalarset } = self;
        lo.feed(sink);
        len.feed(sink);
        scalarset.feed(sink);
    }
}

impl Feed for Scalarset {
    fn feed(&self, sink: &mut Sink) {
        let Scalarset {
            name,
            size,
            detected,
            first,
            blocks,
            span: _,
            broken,
        } = self;
        name.feed(sink);
        size.feed(sink);
        sink.number(*detected);
        first.feed(sink);
        blocks.feed(sink);
        sink.number(broken.len() as i64);
        for rule in broken {
            sink.text(rule.code);
        }
    }
}

impl Feed for Family {
    fn feed(&self, sink: &mut Sink) {
        let Family {
            name,
            template,
            params,
            first,
            len,
        } = self;
        name.feed(sink);
        template.feed(sink);
        params.feed(sink);
        first.feed(sink);
        len.feed(sink);
    }
}

impl Feed for Process {
    fn feed(&self, sink: &mut Sink) {
        let Process {
            name,
            family,
            args,
            locations,
            initial,
            edges,
            priority,
            span: _,
        } = self;
        name.feed(sink);
        family.feed(sink);
        args.feed(sink);
        locations.feed(sink);
        initial.feed(sink);
        edges.feed(sink);
        priority.feed(sink);
    }
}

impl Feed for Location {
    fn feed(&self, sink: &mut Sink) {
        let Location {
            name,
            kind,
            invariant,
            frame,
            span: _,
        } = self;
        name.feed(sink);
        sink.name(kind);
        invariant.feed(sink);
        frame.feed(sink);
    }
}

impl Feed for Edge {
    fn feed(&self, sink: &mut Sink) {
        let Edge {
            source,
            target,
            selects,
            guard,
            sync,
            updates,
            frame,
            template_edge,
            spans: _,
        } = self;
        source.feed(sink);
        target.feed(sink);
        selects.feed(sink);
        guard.feed(sink);
        sync.feed(sink);
        updates.feed(sink);
        frame.feed(sink);
        template_edge.feed(sink);
    }
}

impl Feed for Select {
    fn feed(&self, sink: &mut Sink) {
        let Select { name, slot, range } = self;
        name.feed(sink);
        slot.feed(sink);
        range.feed(sink);
    }
}

impl Feed for Sync {
    fn feed(&self, sink: &mut Sink) {
        let Sync { channel, direction } = self;
        channel.feed(sink);
        sink.name(direction);
    }
}

impl Feed for Query {
    fn feed(&self, sink: &mut Sink) {
        let Query {
            text: _,
            kind,
            frame,
            named_elements,
            span: _,
        } = self;
        match kind {
            QueryKind::Path(path, e) => {
                sink.number(0);
                sink.name(path);
                e.feed(sink);
            }
            QueryKind::LeadsTo(p, q) => {
                sink.number(1);
                p.feed(sink);
                q.feed(sink);
            }
            QueryKind::Bounds {
                kind,
                condition,
                exprs,
            } => {
                sink.number(2);
                sink.name(kind);
                condition.feed(sink);
                exprs.feed(sink);
            }
        }
        frame.feed(sink);
        named_elements.feed(sink);
    }
}

impl Feed for BoundsExpr {
    fn feed(&self, sink: &mut Sink) {
        match self {
            BoundsExpr::Int(e) => {
                sink.number(0);
                e.feed(sink);
            }
            BoundsExpr::Clock { left, right } => {
                sink.number(1);
                left.feed(sink);
                right.feed(sink);
            }
        }
    }
}
