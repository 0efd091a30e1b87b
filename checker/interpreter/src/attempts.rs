//! Every transition that the locations of a concrete state suggest, with its result: the state it
//! leads to, or the first condition that forbids it.
//!
//! `steps.rs` finds the steps that are possible and stops at the first evaluation error. A
//! simulator also shows which transitions are blocked, and why, so that one faulty guard does not
//! hide all the others.

use super::eval::{Broken, Evaluator, conjuncts};
use super::state::Concrete;
use super::steps::{
    ConcreteEdge, ConcreteStep, broken_invariant, guard_error, priority, select_count,
    select_values, take,
};
use zonelens_analysis::network::{ChannelId, Edge, LocationKind, Network};
use zonelens_syntax::ast::Direction;
use zonelens_syntax::span::Span;

/// The most combinations of receivers of one broadcast that are listed one by one.
pub(super) const FEW_WAYS: usize = 1024;
/// The most values of the select variables of one edge that are tried.
const MOST_SELECTED: u128 = 1 << 14;

/// What forbids a transition. The order is that in which the conditions are checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A part of the guard of an edge is false.
    Guard {
        /// Process and edge.
        edge: (u32, u32),
        /// The part.
        part: Span,
    },
    /// No other process can synchronise on the channel in its present location.
    NoPartner {
        /// The channel.
        channel: ChannelId,
    },
    /// A part of the guard of the receiving edge is false.
    ReceiverGuard {
        /// Process and edge.
        edge: (u32, u32),
        /// The part.
        part: Span,
    },
    /// A process is in a committed location, and no process that takes part is.
    Committed {
        /// That process.
        process: u32,
    },
    /// The invariant of a location is false after the transition.
    Invariant {
        /// The process that would be there.
        process: u32,
    },
    /// A transition of higher priority is possible.
    Priority {
        /// That transition.
        by: ConcreteStep,
    },
    /// Evaluation fails.
    Error {
        /// What fails.
        message: String,
        /// Where.
        span: Option<Span>,
    },
}

impl Reason {
    /// How far the transition got, starting at 0: of several moments, the reason shown is the one
    /// of the moment at which it got furthest.
    pub(super) fn progress(&self) -> usize {
        match self {
            Reason::Guard { .. } => 0,
            Reason::NoPartner { .. } => 1,
            Reason::ReceiverGuard { .. } => 2,
            Reason::Committed { .. } => 3,
            Reason::Invariant { .. } => 4,
            Reason::Priority { .. } => 5,
            Reason::Error { .. } => 6,
        }
    }
}

impl From<Broken> for Reason {
    fn from(broken: Broken) -> Reason {
        Reason::Error {
            message: broken.message,
            span: broken.span,
        }
    }
}

/// A transition that the locations suggest.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub step: ConcreteStep,
    /// The choices of each receiver, if they were not combined because there are more than
    /// [`FEW_WAYS`] combinations; then `step` contains only the sender.
    pub choices: Vec<Vec<ConcreteEdge>>,
    pub result: Result<(), Reason>,
    /// Whether the guards of all participants hold, so that the updates were tried.
    pub tried: bool,
}

/// What the locations of a state suggest.
pub(super) struct Attempts {
    pub all: Vec<Attempt>,
    /// Why the model is undefined here, if it is: replay fails at this moment.
    pub error: Option<Reason>,
}

impl Attempt {
    fn try_it(
        &self,
        network: &Network,
        state: &Concrete,
        runs: &[i64],
        changes: &mut Vec<i64>,
    ) -> Result<(), Reason> {
        if self.choices.is_empty() {
            return taken(network, state, &self.step, runs, changes);
        }
        // The participants are the same in all combinations, so one of them decides about committed
        // locations; invariants are checked when a combination is chosen.
        let mut one = self.step.clone();
        one.edges
            .extend(self.choices.iter().filter_map(|own| own.first().cloned()));
        match taken(network, state, &one, runs, changes) {
            Err(reason @ Reason::Committed { .. }) => Err(reason),
            _ => Ok(()),
        }
    }
}

/// An edge from a present location with values of its select variables.
struct Offer {
    edge: ConcreteEdge,
    /// Its channel, if it synchronises and the channel can be evaluated.
    channel: Option<ChannelId>,
    /// Why it cannot be taken, whatever the other participants are.
    blocked: Option<Reason>,
}

/// All attempts of a state. Adds to `changes` the delays after which invariants after a transition
/// may change; comparisons that are evaluated before it are noted in `state`.
pub(super) fn attempts(
    network: &Network,
    state: &mut Concrete,
    runs: &[i64],
    changes: &mut Vec<i64>,
) -> Attempts {
    let (starters, receivers) = offers(network, state);
    let mut found = Vec::new();
    for starter in &starters {
        found.extend(combined(network, starter, &receivers));
    }
    for attempt in &mut found {
        if attempt.result.is_ok() {
            attempt.tried = true;
            attempt.result = attempt.try_it(network, state, runs, changes);
        }
    }
    if network.has_priorities {
        outrank(network, &mut found);
    }
    let is_error = |a: &&Attempt| a.tried && matches!(a.result, Err(Reason::Error { .. }));
    let late = found
        .iter()
        .find(is_error)
        .and_then(|a| a.result.clone().err());
    // A guard whose required evaluation fails leaves no step of any process.
    let early: Option<Reason> = guard_error(network, state).map(Reason::from);
    if let Some(reason) = &early {
        let blocks = |a: &&mut Attempt| matches!(a.result, Ok(()) | Err(Reason::Priority { .. }));
        for attempt in found.iter_mut().filter(blocks) {
            attempt.result = Err(reason.clone());
        }
    }
    Attempts {
        all: found,
        error: early.or(late),
    }
}

/// The edges that start a transition, and those that receive.
fn offers(network: &Network, state: &mut Concrete) -> (Vec<Offer>, Vec<Offer>) {
    let (mut starters, mut receivers) = (Vec::new(), Vec::new());
    for (p, process) in network.processes.iter().enumerate() {
        for (e, edge) in process.edges.iter().enumerate() {
            if edge.source != state.locations[p] {
                continue;
            }
            let receives = |d: Direction| d == Direction::Receive;
            let list = match edge.sync.as_ref().is_some_and(|s| receives(s.direction)) {
                true => &mut receivers,
                false => &mut starters,
            };
            if select_count(edge) > MOST_SELECTED {
                list.push(too_many_values(p as u32, e as u32, edge));
                continue;
            }
            for values in select_values(edge) {
                list.push(offer(network, state, (p as u32, e as u32, values), edge));
            }
        }
    }
    (starters, receivers)
}

/// An edge whose select variables have too many values to try them all.
fn too_many_values(p: u32, e: u32, edge: &Edge) -> Offer {
    let count = select_count(edge);
    Offer {
        edge: (p, e, Vec::new()),
        channel: None,
        blocked: Some(Reason::Error {
            message: format!(
                "its select variables have {count} combinations of values, and at most {MOST_SELECTED} are tried"
            ),
            span: edge.spans.first().copied(),
        }),
    }
}

fn offer(network: &Network, state: &mut Concrete, who: ConcreteEdge, edge: &Edge) -> Offer {
    let mut evaluator = Evaluator::new(network, state, edge.frame);
    for (select, value) in edge.selects.iter().zip(&who.2) {
        evaluator.bind(select.slot, *value);
    }
    let receives = edge
        .sync
        .as_ref()
        .is_some_and(|s| s.direction == Direction::Receive);
    let mut blocked = None;
    if let Some(guard) = &edge.guard {
        blocked = match evaluator.guard(guard) {
            Ok(true) => None,
            Ok(false) => {
                let mut parts = Vec::new();
                conjuncts(guard, &mut parts);
                let is_false = |part: &&&_| evaluator.eval(part) == Ok(0);
                let part = parts
                    .iter()
                    .find(is_false)
                    .map_or(guard.span, |part| part.span);
                let edge = (who.0, who.1);
                Some(match receives {
                    true => Reason::ReceiverGuard { edge, part },
                    false => Reason::Guard { edge, part },
                })
            }
            Err(broken) => Some(broken.into()),
        };
    }
    let channel = edge
        .sync
        .as_ref()
        .map(|sync| evaluator.channel(&sync.channel));
    let channel = match channel.transpose() {
        Ok(channel) => channel,
        Err(broken) => {
            blocked.get_or_insert(broken.into());
            None
        }
    };
    Offer {
        edge: who,
        channel,
        blocked,
    }
}

/// The transitions that one edge can start, with all possible participants. The result of those
/// that nothing forbids so far is filled in later.
fn combined(network: &Network, starter: &Offer, receivers: &[Offer]) -> Vec<Attempt> {
    let attempt = |others: &[&Offer], blocked: Option<Reason>| Attempt {
        step: ConcreteStep {
            channel: starter.channel,
            edges: std::iter::once(starter)
                .chain(others.iter().copied())
                .map(|o| o.edge.clone())
                .collect(),
        },
        choices: Vec::new(),
        result: blocked.map_or(Ok(()), Err),
        tried: false,
    };
    let Some(channel) = starter.channel else {
        return vec![attempt(&[], starter.blocked.clone())];
    };
    let heard = |o: &&Offer| o.edge.0 != starter.edge.0 && o.channel == Some(channel);
    let partners: Vec<&Offer> = receivers.iter().filter(heard).collect();
    if !network.channels[channel].broadcast {
        if partners.is_empty() {
            let none = Reason::NoPartner { channel };
            return vec![attempt(&[], Some(starter.blocked.clone().unwrap_or(none)))];
        }
        let blocked = |p: &Offer| starter.blocked.clone().or_else(|| p.blocked.clone());
        return partners.iter().map(|p| attempt(&[p], blocked(p))).collect();
    }
    if starter.blocked.is_some() {
        return vec![attempt(&[], starter.blocked.clone())];
    }
    // Whether a process must take part is not known if the guard cannot be evaluated.
    let is_error = |o: &&&Offer| matches!(o.blocked, Some(Reason::Error { .. }));
    if let Some(broken) = partners.iter().find(is_error) {
        return vec![attempt(&[], broken.blocked.clone())];
    }
    let ready: Vec<&Offer> = partners
        .into_iter()
        .filter(|o| o.blocked.is_none())
        .collect();
    let groups: Vec<&[&Offer]> = ready.chunk_by(|a, b| a.edge.0 == b.edge.0).collect();
    let ways = groups
        .iter()
        .map(|g| g.len())
        .fold(1, usize::saturating_mul);
    if ways > FEW_WAYS {
        let edges = |group: &&[&Offer]| group.iter().map(|o| o.edge.clone()).collect();
        return vec![Attempt {
            choices: groups.iter().map(edges).collect(),
            ..attempt(&[], None)
        }];
    }
    let mut ways: Vec<Vec<&Offer>> = vec![Vec::new()];
    for group in groups {
        let mut longer = Vec::with_capacity(ways.len() * group.len());
        for way in &ways {
            for offer in group {
                let mut with = way.clone();
                with.push(*offer);
                longer.push(with);
            }
        }
        ways = longer;
    }
    ways.iter().map(|way| attempt(way, None)).collect()
}

/// Whether a transition whose guards hold can be taken.
fn taken(
    network: &Network,
    state: &Concrete,
    step: &ConcreteStep,
    runs: &[i64],
    changes: &mut Vec<i64>,
) -> Result<(), Reason> {
    let is_committed = |p: &usize| {
        let location = state.locations[*p] as usize;
        network.processes[*p].locations[location].kind == LocationKind::Committed
    };
    let processes = 0..network.processes.len();
    if !step
        .edges
        .iter()
        .any(|(p, _, _)| is_committed(&(*p as usize)))
        && let Some(process) = processes.into_iter().find(is_committed)
    {
        let process = process as u32;
        return Err(Reason::Committed { process });
    }
    let quiet = |at: &Concrete| Concrete {
        comparisons: None,
        ..at.clone()
    };
    let mut next = take(network, &quiet(state), step)?;
    next.comparisons = Some(Vec::new());
    let broken = broken_invariant(network, &mut next)?;
    let noted = next.comparisons.take().unwrap_or_default();
    if !noted.is_empty() {
        // A clock that the transition sets has the same value whatever the delay before it is.
        let later = take(network, &quiet(state).after(1, runs), step)?;
        let moves: Vec<i64> = later
            .clocks
            .iter()
            .zip(&next.clocks)
            .map(|(b, a)| b - a)
            .collect();
        changes.extend(noted.iter().filter_map(|c| c.delay(&moves)));
    }
    match broken {
        Some(process) => Err(Reason::Invariant {
            process: process as u32,
        }),
        None => Ok(()),
    }
}

/// Blocks the transitions that one of higher priority forbids. If the evaluation of that one fails,
/// those below it are forbidden as well: the model is undefined there.
fn outrank(network: &Network, found: &mut [Attempt]) {
    let rank = |a: &Attempt| priority(network, &a.step);
    let possible = found
        .iter()
        .filter(|a| a.result.is_ok())
        .max_by_key(|a| rank(a));
    let fails = |a: &&Attempt| a.tried && matches!(a.result, Err(Reason::Error { .. }));
    let failing = found.iter().filter(fails).max_by_key(|a| rank(a));
    let possible = possible.map(|a| (rank(a), a.step.clone()));
    let failing = failing.and_then(|a| Some((rank(a), a.result.clone().err()?)));
    for attempt in found {
        let is_late = matches!(
            attempt.result,
            Ok(()) | Err(Reason::Invariant { .. } | Reason::Error { .. })
        );
        let own = priority(network, &attempt.step);
        if let Some((limit, by)) = &possible
            && is_late
            && own < *limit
        {
            attempt.result = Err(Reason::Priority { by: by.clone() });
        } else if let Some((limit, reason)) = &failing
            && matches!(attempt.result, Ok(()))
            && own < *limit
        {
            attempt.result = Err(reason.clone());
            attempt.tried = false;
        }
    }
}
