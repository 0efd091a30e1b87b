//! The parts of a network.

use super::{Feed, Sink};
use crate::network::{
    Cell, Channel, Clock, Edge, Family, IndexRange, Location, Network, Process, ProcessId,
    Scalarset, ScalarsetId, Select, Shape, Sync, UnsupportedUse, Variable, VariableId,
};

impl<T: Feed> Feed for Vec<T> {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.number(self.len() as i64);
        for element in self {
            element.feed(sink);
        }
    }
}

impl<T: Feed> Feed for Option<T> {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.number(i64::from(self.is_some()));
        if let Some(value) = self {
            value.feed(sink);
        }
    }
}

impl<T: Feed> Feed for Box<T> {
    fn feed(&self, sink: &mut Sink<'_>) {
        (**self).feed(sink);
    }
}

impl<A: Feed, B: Feed> Feed for (A, B) {
    fn feed(&self, sink: &mut Sink<'_>) {
        self.0.feed(sink);
        self.1.feed(sink);
    }
}

impl Feed for i32 {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.number(*self);
    }
}

impl Feed for ProcessId {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.number(self.0);
    }
}

impl Feed for ScalarsetId {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.number(self.0);
    }
}

impl Feed for u32 {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.number(*self);
    }
}

impl Feed for smol_str::SmolStr {
    fn feed(&self, sink: &mut Sink<'_>) {
        sink.text(self);
    }
}

impl Feed for Network {
    fn feed(&self, sink: &mut Sink<'_>) {
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
        let counted = |list: &mut dyn Iterator<Item = &dyn Feed>, sink: &mut Sink<'_>| {
            let list: Vec<&dyn Feed> = list.collect();
            sink.number(list.len() as i64);
            list.iter().for_each(|part| part.feed(sink));
        };
        let uses = sink.uses.clone();
        let used = |variable: VariableId| uses.variables.contains(&variable);
        let kept = cells.iter().filter(|c| used(c.variable));
        counted(&mut kept.map(|c| c as &dyn Feed), sink);
        let kept = clocks.iter().filter(|c| used(c.variable));
        counted(&mut kept.map(|c| c as &dyn Feed), sink);
        let kept = channels.iter().filter(|c| used(c.variable));
        counted(&mut kept.map(|c| c as &dyn Feed), sink);
        constants.feed(sink);
        let kept = variables.enumerated().filter(|(id, _)| used(*id));
        counted(&mut kept.map(|(_, v)| v as &dyn Feed), sink);
        let kept = functions.enumerated();
        let kept = kept.filter(|(id, _)| uses.functions.contains(id));
        counted(&mut kept.map(|(_, f)| f as &dyn Feed), sink);
        processes.feed(sink);
        families.feed(sink);
        scalarsets.to_vec().feed(sink);
        sink.number(*has_priorities);
        before_update.feed(sink);
        after_update.feed(sink);
        update_frame.feed(sink);
        unsupported.feed(sink);
    }
}

impl Feed for UnsupportedUse {
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
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
        sink.variable(*variable);
    }
}

impl Feed for Clock {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Clock { init, variable } = self;
        init.feed(sink);
        sink.variable(*variable);
    }
}

impl Feed for Channel {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Channel {
            urgent,
            broadcast,
            priority,
            variable,
        } = self;
        sink.number(*urgent);
        sink.number(*broadcast);
        priority.feed(sink);
        sink.variable(*variable);
    }
}

impl Feed for Variable {
    fn feed(&self, sink: &mut Sink<'_>) {
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
        // A variable without cells, clocks or channels starts where the next one does.
        sink.renumbered(*first_cell, |n| &n.cells);
        sink.renumbered(*first_clock, |n| &n.clocks);
        sink.renumbered(*first_channel, |n| &n.channels);
    }
}

impl Feed for Shape {
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
        let IndexRange { lo, len, scalarset } = self;
        lo.feed(sink);
        len.feed(sink);
        scalarset.feed(sink);
    }
}

impl Feed for Scalarset {
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
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
    fn feed(&self, sink: &mut Sink<'_>) {
        let Select { name, slot, range } = self;
        name.feed(sink);
        slot.feed(sink);
        range.feed(sink);
    }
}

impl Feed for Sync {
    fn feed(&self, sink: &mut Sink<'_>) {
        let Sync { channel, direction } = self;
        channel.feed(sink);
        sink.name(direction);
    }
}
