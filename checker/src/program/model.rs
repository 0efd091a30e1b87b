//! The compiled network.

use super::code::{AtomCode, Code, Formula, FunctionCode, StepCode};
use super::compile::{self, CompileError};
use zonelens_analysis::network::{self, LocationKind, Network};
use zonelens_syntax::ast::Direction;

/// The index of an edge among all edges of the program.
pub(crate) type EdgeId = u32;

/// A network ready for exploration.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The range of each cell.
    pub cells: Vec<(i32, i32)>,
    /// The values of constant arrays.
    pub constants: Vec<i32>,
    /// Functions.
    pub functions: Vec<FunctionCode>,
    /// The number of clocks; the dimension of zones is one higher.
    pub clocks: usize,
    /// The locations of each process.
    pub locations: Vec<Vec<Location>>,
    /// The priority of each process.
    pub process_priorities: Vec<i32>,
    /// All edges, process by process.
    pub edges: Vec<Edge>,
    /// The processes that may receive on each channel, in order.
    pub listeners: Vec<Vec<u32>>,
    /// Whether some location is committed.
    pub has_committed: bool,
    /// Channels.
    pub channels: Vec<network::Channel>,
    /// Run before the updates of each transition.
    pub before_update: Vec<Code>,
    /// Run after the updates of each transition.
    pub after_update: Vec<Code>,
    /// The number of slots that these updates need.
    pub update_frame: u32,
    /// Whether priorities are declared.
    pub has_priorities: bool,
    /// Whether some channel is urgent.
    pub has_urgent_channels: bool,
    /// Whether some invariant sets a clock's rate.
    pub has_rates: bool,
    /// The initial discrete state: cells, then locations.
    pub initial: Vec<i32>,
    /// Initial clock values.
    pub initial_clocks: Vec<i32>,
}

/// A location with the edges that leave it.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The kind, which determines whether time may pass.
    pub kind: LocationKind,
    /// Its invariant.
    pub invariant: Option<Guard>,
    /// Edges without synchronisation.
    pub internal: Vec<EdgeId>,
    /// Edges that send.
    pub sends: Vec<EdgeId>,
    /// Edges that receive.
    pub receives: Vec<EdgeId>,
}

/// An edge.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Its process.
    pub process: u32,
    /// Its index among the process' edges.
    pub index: u32,
    /// The source location.
    pub source: u32,
    /// The target location.
    pub target: u32,
    /// Select variables: slot, least value, number of values.
    pub selects: Vec<(u32, i32, u32)>,
    /// Its guard; `None` means true.
    pub guard: Option<Guard>,
    /// Its synchronisation.
    pub sync: Option<SyncCode>,
    /// Its updates.
    pub updates: Vec<Code>,
    /// The number of slots it needs.
    pub frame: u32,
    /// Whether it may synchronise over an urgent channel.
    pub may_be_urgent: bool,
}

/// A synchronisation.
#[derive(Clone, Debug)]
pub(crate) struct SyncCode {
    /// The first channel.
    pub base: u32,
    /// The last channel that the indices can reach.
    pub last: u32,
    /// Computed indices.
    pub steps: Vec<StepCode>,
    /// Whether the edge sends rather than receives.
    pub sends: bool,
}

/// A guard or invariant, with its integer parts separate from its clock parts.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// Conjuncts without clocks.
    pub ints: Vec<Code>,
    /// Conjuncts that compare clocks.
    pub atoms: Vec<AtomCode>,
    /// Conjuncts that combine integers and clocks.
    pub mixed: Vec<Formula>,
    /// Whether computing the bounds that clocks are compared with may fail.
    pub may_fail: bool,
    /// The whole condition in its original order.
    pub whole: Formula,
    /// The number of slots it needs.
    pub frame: u32,
}

impl Guard {
    fn new(expr: &network::Expr, frame: u32) -> Result<Guard, CompileError> {
        let whole = compile::formula(expr)?;
        let mut guard = Guard {
            ints: Vec::new(),
            atoms: Vec::new(),
            mixed: Vec::new(),
            may_fail: false,
            whole: whole.clone(),
            frame,
        };
        let parts = match whole {
            Formula::And(parts) => parts,
            other => vec![other],
        };
        for part in parts {
            match part {
                Formula::Int(code) => guard.ints.push(code),
                Formula::Atom(atom) => guard.atoms.push(*atom),
                other => guard.mixed.push(other),
            }
        }
        guard.may_fail =
            guard.atoms.iter().any(AtomCode::may_fail) || guard.mixed.iter().any(Formula::may_fail);
        Ok(guard)
    }

    /// Whether it refers to clocks.
    pub(crate) fn has_clocks(&self) -> bool {
        !self.atoms.is_empty() || !self.mixed.is_empty()
    }
}

impl Program {
    /// Compiles a network.
    pub(crate) fn new(network: &Network) -> Result<Program, CompileError> {
        let mut edges = Vec::new();
        let mut listeners: Vec<Vec<u32>> = vec![Vec::new(); network.channels.len()];
        let mut locations: Vec<Vec<Location>> = Vec::new();
        for (p, process) in network.processes.iter().enumerate() {
            let mut own = process
                .locations
                .iter()
                .map(location)
                .collect::<Result<Vec<_>, _>>()?;
            for (index, e) in process.edges.iter().enumerate() {
                let id = edges.len() as EdgeId;
                let mut compiled = edge(e, p as u32, index as u32)?;
                compiled.may_be_urgent = compiled.some_channel(&network.channels, |c| c.urgent);
                if let Some(sync) = compiled.sync.as_ref().filter(|sync| !sync.sends) {
                    let reach = sync.base as usize..=sync.last as usize;
                    for own in listeners.get_mut(reach).into_iter().flatten() {
                        if own.last() != Some(&(p as u32)) {
                            own.push(p as u32);
                        }
                    }
                }
                let from = &mut own[e.source as usize];
                match &compiled.sync {
                    None => from.internal.push(id),
                    Some(sync) if sync.sends => from.sends.push(id),
                    Some(_) => from.receives.push(id),
                }
                edges.push(compiled);
            }
            locations.push(own);
        }
        let mut initial: Vec<i32> = network.cells.iter().map(|c| c.init).collect();
        initial.extend(network.processes.iter().map(|p| p.initial as i32));
        let has_committed = locations
            .iter()
            .flatten()
            .any(|l| l.kind == LocationKind::Committed);
        // A clock whose rate is the constant 1 is like any other.
        let changes = |f: &Formula| matches!(f, Formula::Rate(parts, _) if !matches!(parts.1, Code::Const(1)));
        let mut has_rates = false;
        for invariant in locations
            .iter()
            .flatten()
            .filter_map(|l| l.invariant.as_ref())
        {
            invariant.whole.walk(&mut |f| has_rates |= changes(f));
        }
        Ok(Program {
            cells: network.cells.iter().map(|c| (c.lo, c.hi)).collect(),
            constants: network.constants.clone(),
            functions: network
                .functions
                .iter()
                .map(compile::function)
                .collect::<Result<_, _>>()?,
            clocks: network.clocks.len(),
            locations,
            process_priorities: network.processes.iter().map(|p| p.priority).collect(),
            edges,
            listeners,
            has_committed,
            channels: network.channels.to_vec(),
            before_update: network
                .before_update
                .iter()
                .map(compile::code)
                .collect::<Result<_, _>>()?,
            after_update: network
                .after_update
                .iter()
                .map(compile::code)
                .collect::<Result<_, _>>()?,
            update_frame: network.update_frame,
            has_priorities: network.has_priorities,
            has_urgent_channels: network.channels.iter().any(|c| c.urgent),
            has_rates,
            initial,
            initial_clocks: network.clocks.iter().map(|c| c.init).collect(),
        })
    }

    /// The dimension of zones.
    pub(crate) fn dim(&self) -> usize {
        self.clocks + 1
    }

    /// Number of processes.
    pub(crate) fn processes(&self) -> usize {
        self.locations.len()
    }

    /// The location of a process in a state.
    #[inline]
    pub(crate) fn location(&self, state: &[i32], process: usize) -> &Location {
        &self.locations[process][state[self.cells.len() + process] as usize]
    }

    /// Whether a process is in a committed location.
    #[inline]
    pub(crate) fn is_committed(&self, state: &[i32], process: usize) -> bool {
        self.has_committed && self.location(state, process).kind == LocationKind::Committed
    }
}

impl Edge {
    /// Whether the edge may synchronise over a channel for which the test holds.
    pub(crate) fn some_channel(
        &self,
        channels: &[network::Channel],
        is: impl Fn(&network::Channel) -> bool,
    ) -> bool {
        self.sync.as_ref().is_some_and(|sync| {
            let reach = sync.base as usize..=sync.last as usize;
            channels.get(reach).is_some_and(|some| some.iter().any(is))
        })
    }
}

fn location(l: &network::Location) -> Result<Location, CompileError> {
    Ok(Location {
        kind: l.kind,
        invariant: l
            .invariant
            .as_ref()
            .map(|e| Guard::new(e, l.frame))
            .transpose()?,
        internal: Vec::new(),
        sends: Vec::new(),
        receives: Vec::new(),
    })
}

fn edge(e: &network::Edge, process: u32, index: u32) -> Result<Edge, CompileError> {
    let sync = match &e.sync {
        None => None,
        Some(sync) if sync.direction == Direction::Csp => {
            return Err(CompileError {
                message: "synchronisation without `!` or `?` is not supported",
                span: sync.channel.span,
            });
        }
        Some(sync) => {
            let steps = sync.channel.steps.iter();
            let reach = steps.map(|s| s.range.len.saturating_sub(1) * s.stride);
            Some(SyncCode {
                base: sync.channel.base.0,
                last: sync.channel.base.0 + reach.sum::<u32>(),
                steps: compile::steps(&sync.channel.steps)?,
                sends: sync.direction == Direction::Send,
            })
        }
    };
    Ok(Edge {
        process,
        index,
        source: e.source,
        target: e.target,
        selects: e
            .selects
            .iter()
            .map(|s| (s.slot, s.range.lo, s.range.len))
            .collect(),
        guard: e
            .guard
            .as_ref()
            .map(|g| Guard::new(g, e.frame))
            .transpose()?,
        sync,
        updates: e
            .updates
            .iter()
            .map(compile::code)
            .collect::<Result<_, _>>()?,
        frame: e.frame,
        may_be_urgent: false,
    })
}
