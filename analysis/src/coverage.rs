//! What a model never does: the result of `zonelens coverage`, as data and as text.
//!
//! A [`Coverage`] names elements by their numbers in the network, so that it stays valid when names
//! or layout change and the meaning does not; [`Coverage::report`] adds the names and places of the
//! present text. The checker decides what is in it.

use crate::network::{CellId, Edge, Network, Position, Process, Shape, Variable};
use crate::report::{Reason, Statistics};
use serde::{Deserialize, Serialize};
use zonelens_syntax::span::Span;

/// The result of a run that looks for what is never done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Whether everything was explored. If not, `unseen` says what was not met so far.
    pub complete: bool,
    /// Why the run is not complete, or in which way its result is limited.
    pub reason: Option<Reason>,
    /// Counts and times.
    pub statistics: Statistics,
    /// What was not seen, in the order of the text.
    pub unseen: Vec<Unseen>,
    /// The numbers of things that were looked for.
    pub totals: Totals,
}

/// The numbers of things that a run looks for, each counted once per template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Locations.
    pub locations: u32,
    /// Edges as written.
    pub edges: u32,
    /// Edges with a guard.
    pub guards: u32,
    /// Edges that receive.
    pub receivers: u32,
    /// Limits of declared ranges.
    pub limits: u32,
}

/// An element that was not seen, and what is known about the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// The element.
    pub element: Element,
    /// What is known about the reason; `None` if nothing is.
    pub because: Option<Because>,
}

/// A part of the model that a run may not meet, given by its numbers in the network. Of several
/// processes of a template, the first one is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// A location that is not entered.
    Location {
        /// The process.
        process: u32,
        /// The location.
        location: u32,
    },
    /// An edge that is not taken.
    Edge {
        /// The process.
        process: u32,
        /// The edge.
        edge: u32,
        /// Which of the parts that branchpoints join.
        part: u32,
    },
    /// The guard of an edge that is not taken, if it is not true where the edge starts.
    Guard {
        /// The process.
        process: u32,
        /// The edge.
        edge: u32,
    },
    /// An edge that receives, if it could be taken and nothing is heard.
    Receiver {
        /// The process.
        process: u32,
        /// The edge.
        edge: u32,
    },
    /// The end of a declared range that a variable does not reach.
    Limit {
        /// The first cell of the variable, or of the field of a struct.
        cell: u32,
        /// Whether it is the upper end.
        upper: bool,
    },
}

/// What is known about the reason why something is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// No edge leads to the location.
    NoEdgeIn,
    /// Every edge into the location starts in one that is not entered.
    SourcesNotEntered,
    /// The edge starts in a location that is not entered.
    SourceNotEntered,
    /// The guard is not true in any state with the source.
    GuardFalse,
    /// No process of the model sends on the channel.
    NoSender,
    /// The edge receives, and nothing that is sent is ever heard.
    NeverHears,
    /// The branchpoint where the edge starts is not reached.
    BranchpointNotReached,
    /// The least and the greatest value of the variable.
    Values(i32, i32),
}

/// The kinds of things that are never done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Kind {
    Location,
    Edge,
    Guard,
    Receiver,
    Limit,
}

/// The object that `zonelens coverage --format json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoverageReport {
    /// The model as named on the command line.
    pub model: String,
    /// Whether everything was explored.
    pub complete: bool,
    /// Why it was not, or in which way the result is limited.
    pub reason: Option<Reason>,
    /// Counts and times.
    pub statistics: Statistics,
    /// What never happens; empty unless the run is complete.
    pub never: Vec<Finding>,
    /// What did not happen in the explored states of a run that is not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<Finding>,
}

/// One element, with its name and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of element it is.
    pub kind: Kind,
    /// The template; `None` for a global variable.
    pub template: Option<String>,
    /// The element: `idle`, `idle → req`, `n = 5`.
    pub what: String,
    /// Its line, starting at 1.
    pub line: u32,
    /// Its column, starting at 1.
    pub column: u32,
    /// What is known about the reason.
    pub because: Option<String>,
}

impl Coverage {
    /// A result without a run.
    pub fn without_run(reason: Reason) -> Coverage {
        Coverage {
            reason: Some(reason),
            ..Coverage::default()
        }
    }

    /// The result with the names and places of a network.
    pub fn report(
        &self,
        network: &Network,
        model: &str,
        position: &dyn Fn(Span) -> Position,
    ) -> CoverageReport {
        let found = self.findings(network, position);
        let (never, not_seen) = match self.complete {
            true => (found, Vec::new()),
            false => (Vec::new(), found),
        };
        CoverageReport {
            model: model.to_owned(),
            complete: self.complete,
            reason: self.reason.clone(),
            statistics: self.statistics.clone(),
            never,
            not_seen,
        }
    }
}

impl Coverage {
    /// What was not seen, with the names and places of a network.
    pub fn findings(&self, network: &Network, position: &dyn Fn(Span) -> Position) -> Vec<Finding> {
        let found = self.located(network, position).into_iter();
        found.map(|(_, finding)| finding).collect()
    }

    /// The same, with the span of each.
    pub fn located(
        &self,
        network: &Network,
        position: &dyn Fn(Span) -> Position,
    ) -> Vec<(Span, Finding)> {
        let states = self.statistics.explored;
        let plural = if states == 1 { "" } else { "s" };
        let so_far = format!("not seen in {states} state{plural}");
        let located = |one: &Unseen| {
            let mut finding = one.finding(network, position)?;
            if !self.complete {
                // Nothing else is known before everything was explored.
                finding.because = Some(so_far.clone());
            }
            Some((one.element.span(network)?, finding))
        };
        self.unseen.iter().filter_map(located).collect()
    }
}

impl Element {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Element::Location { .. } => Kind::Location,
            Element::Edge { .. } => Kind::Edge,
            Element::Guard { .. } => Kind::Guard,
            Element::Receiver { .. } => Kind::Receiver,
            Element::Limit { .. } => Kind::Limit,
        }
    }

    fn process(self, network: &Network) -> Option<&Process> {
        let process = match self {
            Element::Location { process, .. }
            | Element::Edge { process, .. }
            | Element::Guard { process, .. }
            | Element::Receiver { process, .. } => process as usize,
            Element::Limit { cell, .. } => variable(network, cell)?.process?.0 as usize,
        };
        network.processes.get(process)
    }

    fn edge(self, network: &Network) -> Option<&Edge> {
        match self {
            Element::Edge { edge, .. }
            | Element::Guard { edge, .. }
            | Element::Receiver { edge, .. } => self.process(network)?.edges.get(edge as usize),
            Element::Location { .. } | Element::Limit { .. } => None,
        }
    }

    /// The template it is in; `None` for a global variable, and if the network has no such element.
    pub fn template(self, network: &Network) -> Option<&str> {
        let family = self.process(network)?.family as usize;
        Some(network.families.get(family)?.template.as_str())
    }

    /// Its place in the text of the model; `None` if the network has no such element.
    pub fn span(self, network: &Network) -> Option<Span> {
        match self {
            Element::Location { location, .. } => {
                let location = self.process(network)?.locations.get(location as usize)?;
                Some(location.span)
            }
            Element::Edge { part, .. } => self.edge(network)?.spans.get(part as usize).copied(),
            Element::Guard { .. } => Some(self.edge(network)?.guard.as_ref()?.span),
            Element::Receiver { .. } => Some(self.edge(network)?.sync.as_ref()?.channel.span),
            Element::Limit { cell, .. } => Some(variable(network, cell)?.span),
        }
    }

    /// Its name: `idle`, `idle → req`, `n = 5`.
    pub fn what(self, network: &Network) -> Option<String> {
        match self {
            Element::Location { location, .. } => {
                let location = self.process(network)?.locations.get(location as usize)?;
                Some(location.name.to_string())
            }
            Element::Edge { part, .. } => self.ends(network, part as usize),
            Element::Guard { .. } | Element::Receiver { .. } => {
                let edge = self.edge(network)?;
                let name = |at: u32| {
                    let location = self.process(network)?.locations.get(at as usize)?;
                    Some(location.name.to_string())
                };
                Some(format!("{} → {}", name(edge.source)?, name(edge.target)?))
            }
            Element::Limit { cell, upper } => {
                let at = network.cells.get(CellId(cell))?;
                let limit = if upper { at.hi } else { at.lo };
                Some(format!("{} = {limit}", limit_name(network, cell)?))
            }
        }
    }

    /// The ends of one part of an edge.
    fn ends(self, network: &Network, part: usize) -> Option<String> {
        let edge = self.edge(network)?;
        let locations = &self.process(network)?.locations;
        let name = |at: u32, is_location: bool| match is_location {
            true => Some(locations.get(at as usize)?.name.as_str()),
            false => Some("branchpoint"),
        };
        let source = name(edge.source, part == 0)?;
        let target = name(edge.target, part + 1 == edge.spans.len())?;
        Some(format!("{source} → {target}"))
    }

    /// The name of the location where it starts or of the channel, for the text of the reason.
    fn source(self, network: &Network) -> Option<&str> {
        let edge = self.edge(network)?;
        let location = self.process(network)?.locations.get(edge.source as usize)?;
        Some(location.name.as_str())
    }

    fn channel(self, network: &Network) -> Option<&str> {
        let channel = self.edge(network)?.sync.as_ref()?.channel.base;
        let variable = network.channels.get(channel)?.variable;
        Some(network.variables.get(variable)?.name.as_str())
    }
}

impl Unseen {
    /// The element with its name and place; `None` if the network has no such element.
    pub fn finding(
        &self,
        network: &Network,
        position: &dyn Fn(Span) -> Position,
    ) -> Option<Finding> {
        let Position { line, column } = position(self.element.span(network)?);
        Some(Finding {
            kind: self.element.kind(),
            template: self.element.template(network).map(str::to_owned),
            what: self.element.what(network)?,
            line,
            column,
            because: self.because_text(network),
        })
    }

    fn because_text(&self, network: &Network) -> Option<String> {
        let source = || self.element.source(network).unwrap_or_default();
        Some(match self.because? {
            Because::NoEdgeIn => "no edge leads to it".to_owned(),
            Because::SourcesNotEntered => {
                "every edge to it starts in a location that is never entered".to_owned()
            }
            Because::SourceNotEntered => format!("`{}` is never entered", source()),
            Because::GuardFalse => format!("its guard is never true in `{}`", source()),
            Because::NoSender => {
                let channel = self.element.channel(network).unwrap_or_default();
                format!("no process sends on `{channel}`")
            }
            Because::NeverHears => {
                let channel = self.element.channel(network).unwrap_or_default();
                format!("it never hears `{channel}`")
            }
            Because::BranchpointNotReached => "its branchpoint is never reached".to_owned(),
            Because::Values(low, high) if low == high => format!("its value is always {low}"),
            Because::Values(low, high) => format!("its values are {low} to {high}"),
        })
    }
}

impl Finding {
    /// A sentence without its full stop. Nothing is called *never* unless everything was explored.
    pub fn sentence(&self, complete: bool) -> String {
        let (subject, never, so_far) = match self.kind {
            Kind::Location => ("location", "is never entered", "was not entered"),
            Kind::Edge => ("edge", "is never taken", "was not taken"),
            Kind::Guard => ("the guard of", "is never true", "was not true"),
            Kind::Receiver => ("the receiver", "never hears anything", "heard nothing"),
            Kind::Limit => ("the limit", "is never reached", "was not reached"),
        };
        let what = &self.what;
        let verb = if complete { never } else { so_far };
        match &self.because {
            Some(because) => format!("{subject} `{what}` {verb}: {because}"),
            None => format!("{subject} `{what}` {verb}"),
        }
    }
}

fn variable(network: &Network, cell: u32) -> Option<&Variable> {
    let cell = network.cells.get(CellId(cell))?;
    network.variables.get(cell.variable)
}

/// The name of the variable of a cell without its process, with the field of a struct: `n`, `a`,
/// `s.f`. Cells of an array share a name.
pub fn limit_name(network: &Network, cell: u32) -> Option<String> {
    fn field(shape: &Shape, mut at: u32, name: &mut String) {
        match shape {
            Shape::Int { .. } | Shape::Clock | Shape::Channel => {}
            Shape::Array { element, .. } => {
                let size = element.counts().0.max(1);
                field(element, at % size, name);
            }
            Shape::Struct(fields) => {
                for (own, shape) in fields {
                    let size = shape.counts().0;
                    if at < size {
                        name.push('.');
                        name.push_str(own);
                        return field(shape, at, name);
                    }
                    at -= size;
                }
            }
        }
    }
    let variable = variable(network, cell)?;
    let own = variable.process.and_then(|p| {
        let process = network.processes.get(p.0 as usize)?;
        variable
            .name
            .strip_prefix(process.name.as_str())?
            .strip_prefix('.')
    });
    let mut name = own.unwrap_or(&variable.name).to_owned();
    field(
        &variable.shape,
        cell.checked_sub(variable.first_cell.0)?,
        &mut name,
    );
    Some(name)
}
