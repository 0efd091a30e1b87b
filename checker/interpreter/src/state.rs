//! A concrete state: numbers for integers, locations and clocks.

use super::limit::SharedBudget;
use super::regions::SharedNotes;
use zonelens_analysis::network::{CellId, ChannelId, Network, Shape};
use zonelens_analysis::report::TraceState;

/// An estimate of the memory for a name, its value and their place in a sorted map.
const BYTES_PER_ENTRY: usize = 96;

/// A concrete state. Clocks are in units of `1 / unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Concrete {
    /// Values of cells.
    pub cells: Vec<i32>,
    /// Location of each process.
    pub locations: Vec<u32>,
    /// Values of clocks.
    pub clocks: Vec<i64>,
    /// The number of parts of one time unit.
    pub unit: i64,
    /// The comparisons of clocks that were evaluated, which determine when a result changes; `None`
    /// if they are not needed.
    pub comparisons: Option<Vec<Comparison>>,
    /// Where comparisons and assignments of clocks are noted, shared with the copies of the state;
    /// `None` if they are not needed.
    pub notes: Option<SharedNotes>,
    /// The budget that evaluations over this state are charged to, shared with the copies of the
    /// state; `None` if there is no limit.
    pub budget: Option<SharedBudget>,
}

/// A comparison of a clock, or of the difference of two, with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    left: usize,
    right: Option<usize>,
    /// The constant minus the value.
    distance: i64,
}

impl Comparison {
    /// Records that `left - right` is compared with a constant that is `distance` greater than its
    /// value.
    pub fn new(left: usize, right: Option<usize>, distance: i64) -> Comparison {
        Comparison {
            left,
            right,
            distance,
        }
    }

    /// The delay after which the value equals the constant; `runs` contains 1 for clocks that run
    /// and 0 for clocks that are stopped.
    pub fn delay(&self, runs: &[i64]) -> Option<i64> {
        let rate = runs[self.left] - self.right.map_or(0, |right| runs[right]);
        (rate != 0).then(|| self.distance.saturating_mul(rate))
    }
}

impl Concrete {
    /// The state after a delay.
    pub fn after(&self, delay: i64, runs: &[i64]) -> Concrete {
        let mut then = self.clone();
        for (clock, rate) in then.clocks.iter_mut().zip(runs) {
            *clock += delay * rate;
        }
        then
    }

    /// An estimate of the memory that the state takes once it is described with names.
    pub(super) fn described_bytes(&self) -> usize {
        self.size().saturating_mul(BYTES_PER_ENTRY)
    }

    /// The number of numbers that it consists of.
    pub(super) fn size(&self) -> usize {
        self.cells.len() + self.clocks.len() + self.locations.len()
    }

    /// The initial state.
    pub fn initial(network: &Network, unit: i64) -> Concrete {
        Concrete {
            cells: network.cells.iter().map(|c| c.init).collect(),
            locations: network.processes.iter().map(|p| p.initial).collect(),
            clocks: network
                .clocks
                .iter()
                .map(|c| i64::from(c.init).saturating_mul(unit))
                .collect(),
            unit,
            comparisons: None,
            notes: None,
            budget: None,
        }
    }
}

/// `3`, `1/2`
pub(crate) fn fraction(value: i64, unit: i64) -> String {
    let divisor = gcd(value.abs(), unit).max(1);
    let (n, d) = (value / divisor, unit / divisor);
    if d == 1 {
        n.to_string()
    } else {
        format!("{n}/{d}")
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Names of cells and clocks as users write them.
#[derive(Clone, Debug)]
pub struct Names {
    cells: Vec<String>,
    clocks: Vec<String>,
    channels: Vec<String>,
}

impl Names {
    /// The names of a network.
    pub fn new(network: &Network) -> Names {
        let mut names = Names {
            cells: vec![String::new(); network.cells.len()],
            clocks: vec![String::new(); network.clocks.len()],
            channels: vec![String::new(); network.channels.len()],
        };
        for v in &network.variables {
            let mut at = [
                v.first_cell.index(),
                v.first_clock.index(),
                v.first_channel.index(),
            ];
            names.add(&v.shape, v.name.to_string(), &mut at);
        }
        names
    }

    fn add(&mut self, shape: &Shape, name: String, at: &mut [usize; 3]) {
        let (list, index) = match shape {
            Shape::Int { .. } => (&mut self.cells, 0),
            Shape::Clock => (&mut self.clocks, 1),
            Shape::Channel => (&mut self.channels, 2),
            Shape::Array { index, element } => {
                for k in 0..index.len {
                    self.add(
                        element,
                        format!("{name}[{}]", i64::from(index.lo) + i64::from(k)),
                        at,
                    );
                }
                return;
            }
            Shape::Struct(fields) => {
                for (field, shape) in fields {
                    self.add(shape, format!("{name}.{field}"), at);
                }
                return;
            }
        };
        if let Some(slot) = list.get_mut(at[index]) {
            *slot = name;
        }
        at[index] += 1;
    }

    /// The name of a cell.
    pub fn cell(&self, cell: CellId) -> String {
        self.cells.get(cell.index()).cloned().unwrap_or_default()
    }

    /// The name of a clock.
    pub fn clock(&self, clock: usize) -> String {
        self.clocks.get(clock).cloned().unwrap_or_default()
    }

    /// The name of a channel.
    pub fn channel(&self, channel: ChannelId) -> String {
        self.channels
            .get(channel.index())
            .cloned()
            .unwrap_or_default()
    }

    /// Describes a concrete state with names.
    pub fn describe(&self, network: &Network, state: &Concrete) -> TraceState {
        TraceState {
            locations: network
                .processes
                .iter()
                .zip(&state.locations)
                .map(|(p, l)| {
                    (
                        p.name.to_string(),
                        p.locations[*l as usize].name.to_string(),
                    )
                })
                .collect(),
            variables: self
                .cells
                .iter()
                .cloned()
                .zip(state.cells.iter().map(|v| i64::from(*v)))
                .collect(),
            clocks: self
                .clocks
                .iter()
                .cloned()
                .zip(state.clocks.iter().map(|v| fraction(*v, state.unit)))
                .collect(),
        }
    }
}
