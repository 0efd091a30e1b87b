//! Which parts of a network belong to an element of the set, and which are fixed.
//!
//! The *part* of an element is the processes over it, the cells and clocks indexed by it, and the
//! variables of its processes. All else is the *fixed part*. The parts of two elements have the
//! same structure, entry by entry in the order of the lists here.

use super::Refusal;
use crate::network::{
    CellId, ChannelId, ClockId, Id, IndexRange, Network, ScalarsetId, Shape, Variable,
};
use zonelens_syntax::span::Span;

/// The owners of processes, cells, clocks and channels.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The set.
    pub set: ScalarsetId,
    /// The value of its first element.
    pub first: i32,
    /// The number of its elements in this network.
    pub size: u32,
    /// The element that each process belongs to.
    pub process_owner: Vec<Option<u32>>,
    /// The element that each cell belongs to.
    pub cell_owner: Vec<Option<u32>>,
    /// The element that each clock belongs to.
    pub clock_owner: Vec<Option<u32>>,
    /// The element that each channel belongs to.
    pub channel_owner: Vec<Option<u32>>,
    /// The processes of no element.
    pub fixed_processes: Vec<usize>,
    /// The cells of no element.
    pub fixed_cells: Vec<usize>,
    /// The clocks of no element.
    pub fixed_clocks: Vec<usize>,
    /// The processes of each element.
    pub processes: Vec<Vec<usize>>,
    /// The cells of each element.
    pub cells: Vec<Vec<usize>>,
    /// The clocks of each element.
    pub clocks: Vec<Vec<usize>>,
}

/// The owners of what a variable occupies.
struct Owners<'a> {
    set: ScalarsetId,
    size: u32,
    first: i32,
    cells: &'a mut Vec<Option<u32>>,
    clocks: &'a mut Vec<Option<u32>>,
    channels: &'a mut Vec<Option<u32>>,
}

impl Owners<'_> {
    /// Numbers the leaves of a shape; false if a dimension over the set lies in the part of an
    /// element, or has another size.
    fn shape(&mut self, shape: &Shape, owner: Option<u32>) -> bool {
        match shape {
            Shape::Int { .. } => self.cells.push(owner),
            Shape::Clock => self.clocks.push(owner),
            Shape::Channel => self.channels.push(owner),
            Shape::Array { index, element } => {
                let over = index.scalarset == Some(self.set);
                if over && (owner.is_some() || index.len != self.size || index.lo != self.first) {
                    return false;
                }
                return (0..index.len)
                    .all(|k| self.shape(element, if over { Some(k) } else { owner }));
            }
            Shape::Struct(fields) => return fields.iter().all(|(_, f)| self.shape(f, owner)),
        }
        true
    }
}

impl Layout {
    /// Divides a network; refused if elements are related by more than the fixed part.
    pub fn new(network: &Network, set: ScalarsetId) -> Result<Layout, Refusal> {
        let scalarset = &network.scalarsets[set];
        let (size, first) = (scalarset.size, scalarset.first);
        let mut process_owner = vec![None; network.processes.len()];
        for family in &network.families {
            let over = |r: &IndexRange| r.scalarset == Some(set);
            let whole = |r: &IndexRange| r.len == size && r.lo == first;
            let over: Vec<usize> = (0..family.params.len())
                .filter(|k| over(&family.params[*k]))
                .collect();
            let span = network
                .processes
                .get(family.first.index())
                .map_or(scalarset.span, |p| p.span);
            if over.len() > 1 || over.iter().any(|k| !whole(&family.params[*k])) {
                let message = format!(
                    "`{}` has two parameters over `{}`, or one over a part of it: only processes of one element can be kept in a view",
                    family.name, scalarset.name
                );
                return Err(Refusal::new("every/part", message, span));
            }
            if let Some(k) = over.first() {
                let own = process_owner.iter_mut().zip(&network.processes);
                let own = own.skip(family.first.index()).take(family.len as usize);
                for (owner, process) in own {
                    let value = process.args.get(*k).copied().unwrap_or(first);
                    *owner = u32::try_from(value - first).ok();
                }
            }
        }
        let (mut cells, mut clocks, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        for variable in &network.variables {
            let owner = variable.process.and_then(|p| process_owner[p.index()]);
            // Constants occupy nothing.
            if !occupies(variable, &cells, &clocks, &channels) {
                return Err(Refusal::new(
                    "every/part",
                    format!("the layout of `{}` is not followed", variable.name),
                    variable.span,
                ));
            }
            let mut owners = Owners {
                set,
                size,
                first,
                cells: &mut cells,
                clocks: &mut clocks,
                channels: &mut channels,
            };
            if !owners.shape(&variable.shape, owner) {
                let message = format!(
                    "`{}` relates elements of `{}` to each other: an array may be indexed by this set once, with its whole range, and not inside a process over it",
                    variable.name, scalarset.name
                );
                return Err(Refusal::new("every/part", message, variable.span));
            }
        }
        let layout = Layout {
            set,
            first,
            size,
            fixed_processes: fixed(&process_owner),
            fixed_cells: fixed(&cells),
            fixed_clocks: fixed(&clocks),
            processes: owned(&process_owner, size),
            cells: owned(&cells, size),
            clocks: owned(&clocks, size),
            process_owner,
            cell_owner: cells,
            clock_owner: clocks,
            channel_owner: channels,
        };
        layout.check(network)?;
        Ok(layout)
    }

    /// Checks that the parts of all elements are alike at the start and hold no elements.
    fn check(&self, network: &Network) -> Result<(), Refusal> {
        let name = &network.scalarsets[self.set].name;
        let counts = (
            network.cells.len(),
            network.clocks.len(),
            network.channels.len(),
        );
        let found = (
            self.cell_owner.len(),
            self.clock_owner.len(),
            self.channel_owner.len(),
        );
        let whole = network.scalarsets[self.set].span;
        if counts != found {
            return Err(Refusal::new(
                "every/part",
                "the layout of the variables is not followed".into(),
                whole,
            ));
        }
        for own in &self.cells {
            for (k, c) in own.iter().enumerate() {
                let cell = &network.cells[CellId::at(*c)];
                let variable = &network.variables[cell.variable];
                if cell.scalarset == Some(self.set) {
                    let message = format!(
                        "`{}` holds an element of `{name}` and belongs to an element: only variables outside of the processes and arrays over `{name}` may hold its elements",
                        variable.name
                    );
                    return Err(Refusal::new("every/part", message, variable.span));
                }
                let same = self.cells[0].get(k).map(|c| &network.cells[CellId::at(*c)]);
                if same.is_none_or(|s| (s.init, s.lo, s.hi) != (cell.init, cell.lo, cell.hi)) {
                    return Err(differs(variable, name));
                }
            }
        }
        for own in &self.clocks {
            for (k, c) in own.iter().enumerate() {
                let clock = &network.clocks[ClockId::at(*c)];
                let same = self.clocks[0]
                    .get(k)
                    .map(|c| &network.clocks[ClockId::at(*c)]);
                if same.is_none_or(|s| s.init != clock.init) {
                    return Err(differs(&network.variables[clock.variable], name));
                }
            }
        }
        for own in &self.processes {
            let same = |(p, q): (&usize, &usize)| {
                let (p, q) = (&network.processes[*p], &network.processes[*q]);
                p.family == q.family && p.initial == q.initial && p.edges.len() == q.edges.len()
            };
            let alike = own.len() == self.processes[0].len()
                && own.iter().zip(&self.processes[0]).all(same);
            if !alike {
                let message = format!("the processes of the elements of `{name}` are not alike");
                return Err(Refusal::new("every/part", message, whole));
            }
        }
        let first = (self.first, self.first + self.size as i32 - 1);
        let mut named = None;
        for c in &self.fixed_cells {
            let cell = &network.cells[CellId::at(*c)];
            let element =
                cell.scalarset == Some(self.set) && (first.0..=first.1).contains(&cell.init);
            if element && *named.get_or_insert(cell.init) != cell.init {
                return Err(differs(&network.variables[cell.variable], name));
            }
        }
        Ok(())
    }

    /// Whether a cell of the fixed part holds elements of the set.
    pub fn holds_elements(&self, network: &Network, cell: usize) -> bool {
        network.cells[CellId::at(cell)].scalarset == Some(self.set)
    }

    /// The element of a channel.
    pub fn owner_of_channel(&self, channel: ChannelId) -> Option<u32> {
        self.channel_owner.get(channel.index()).copied().flatten()
    }
}

/// Whether the ids of a variable begin where the last one ended.
fn occupies(
    v: &Variable,
    cells: &[Option<u32>],
    clocks: &[Option<u32>],
    channels: &[Option<u32>],
) -> bool {
    let (a, b, c) = v.shape.counts();
    (a == 0 || v.first_cell.index() == cells.len())
        && (b == 0 || v.first_clock.index() == clocks.len())
        && (c == 0 || v.first_channel.index() == channels.len())
}

fn differs(variable: &Variable, set: &str) -> Refusal {
    let message = format!(
        "`{}` does not start alike for all elements of `{set}`",
        variable.name
    );
    Refusal::new("every/initial", message, variable.span)
}

fn fixed(owners: &[Option<u32>]) -> Vec<usize> {
    (0..owners.len()).filter(|k| owners[*k].is_none()).collect()
}

fn owned(owners: &[Option<u32>], size: u32) -> Vec<Vec<usize>> {
    let of = |e: u32| {
        (0..owners.len())
            .filter(|k| owners[*k] == Some(e))
            .collect()
    };
    (0..size).map(of).collect()
}

/// The whole range of the set as its members use it.
pub(crate) fn is_whole(range: &IndexRange, layout: &Layout) -> bool {
    range.lo == layout.first && range.len == layout.size
}

/// A place to report for a construct without a span of its own.
pub(crate) fn span_or(span: Span, other: Span) -> Span {
    match span == Span::default() {
        true => other,
        false => span,
    }
}
