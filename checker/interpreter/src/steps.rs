//! The steps of a concrete state, found naively.

use super::eval::{Broken, Evaluator};
use super::rng::Rng;
use super::state::Concrete;
use zonelens_analysis::network::{
    Channel, ChannelId, ChannelRef, Edge, LocationKind, Network, Sync,
};
use zonelens_syntax::ast::Direction;

/// An edge of a process with values of its select variables.
pub type ConcreteEdge = (u32, u32, Vec<i32>);

/// A step: process, edge and select values of all participants, sender first.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcreteStep {
    /// The channel of a synchronisation.
    pub channel: Option<ChannelId>,
    /// The edges with their processes and select values.
    pub edges: Vec<ConcreteEdge>,
}

type Try<T> = Result<T, Broken>;

/// Whether all invariants hold.
pub(crate) fn invariants_hold(network: &Network, state: &mut Concrete) -> Try<bool> {
    Ok(broken_invariant(network, state)?.is_none())
}

/// The first process whose invariant is false.
pub(crate) fn broken_invariant(network: &Network, state: &mut Concrete) -> Try<Option<usize>> {
    for p in 0..network.processes.len() {
        let location = &network.processes[p].locations[state.locations[p] as usize];
        if let Some(invariant) = &location.invariant
            && Evaluator::new(network, state, location.frame).eval(invariant)? == 0
        {
            return Ok(Some(p));
        }
    }
    Ok(None)
}

/// For each clock, 1 if it runs and 0 if an invariant stops it.
pub(crate) fn running_clocks(network: &Network, state: &mut Concrete) -> Try<Vec<i64>> {
    let mut runs = vec![1; state.clocks.len()];
    for p in 0..network.processes.len() {
        let location = &network.processes[p].locations[state.locations[p] as usize];
        if let Some(invariant) = &location.invariant {
            let mut evaluator = Evaluator::new(network, state, location.frame);
            for (clock, rate) in evaluator.rates(invariant)? {
                match rate {
                    0 => runs[clock] = 0,
                    1 => {}
                    _ => {
                        return Err(Broken::new(format!(
                            "a clock has rate {rate}; only 0 and 1 have a meaning here"
                        )));
                    }
                }
            }
        }
    }
    Ok(runs)
}

/// Whether some time may pass: no urgent or committed location, no urgent synchronisation enabled.
pub(crate) fn may_delay(network: &Network, state: &mut Concrete) -> Try<bool> {
    let stopped = network
        .processes
        .iter()
        .zip(&state.locations)
        .any(|(p, l)| p.locations[*l as usize].kind != LocationKind::Normal);
    Ok(!stopped && urgent_start(network, state)?.is_none())
}

/// A process that can start an urgent synchronisation.
pub(crate) fn urgent_start(network: &Network, state: &mut Concrete) -> Try<Option<u32>> {
    if !network.channels.iter().any(|c| c.urgent) {
        return Ok(None);
    }
    let offers = Offers::urgent(network, state)?;
    let urgent = |starter: &Candidate| {
        starter.channel.is_some_and(|(c, _)| {
            let channel = &network.channels[c];
            // A broadcast needs no receiver.
            channel.urgent
                && (channel.broadcast || offers.partners(starter.edge.0, c).next().is_some())
        })
    };
    let start = offers.starters.iter().find(|starter| urgent(starter));
    Ok(start.map(|starter| starter.edge.0))
}

/// Evaluates every comparison that decides whether time may pass here, and no other: invariants,
/// and guards of urgent synchronisations.
pub(crate) fn look_at_delay(network: &Network, state: &mut Concrete) -> Try<()> {
    invariants_hold(network, state)?;
    Offers::urgent(network, state).map(drop)
}

/// Evaluates every comparison that decides whether a step can be taken here, and few others: the
/// guards of its edges and of those that may have to take part in its broadcast, invariants after
/// it and, if there are priorities, everything that decides about other steps.
pub(crate) fn look_at_step(
    network: &Network,
    state: &mut Concrete,
    step: &ConcreteStep,
) -> Try<()> {
    if network.has_priorities {
        step_by(network, state, &step.edges)?;
        return Ok(());
    }
    let variable = |c: ChannelId| network.channels.get(c).map(|c| c.variable);
    for (p, process) in network.processes.iter().enumerate() {
        for (e, edge) in process.edges.iter().enumerate() {
            let listens = edge.sync.as_ref().is_some_and(|sync| {
                sync.direction == Direction::Receive
                    && step.channel.is_some_and(|c| {
                        network.channels[c].broadcast && variable(c) == variable(sync.channel.base)
                    })
            });
            let (p, e) = (p as u32, e as u32);
            let takes_part = listens || step.edges.iter().any(|own| (own.0, own.1) == (p, e));
            if takes_part && edge.source == state.locations[p as usize] {
                candidates(network, state, p, e, edge)?;
            }
        }
    }
    after(network, state, step).map(|_| ())
}

/// Up to this many ways to make one step are all tried; if there are more, some are drawn. A
/// broadcast to thirty receivers with two edges each has a thousand million ways.
const FEW_WAYS: usize = 1024;
/// The number of steps to draw if there are more ways.
const DRAWN: usize = 32;
/// The most attempts to draw them.
const DRAWS: usize = 4096;

/// All steps of a state that guards, committed locations, priorities and target invariants allow,
/// each with the state it leads to. If a broadcast has too many combinations of receivers, the edge
/// of each receiver is drawn; the same `rng` gives the same result.
pub(crate) fn enabled_steps(
    network: &Network,
    state: &mut Concrete,
    rng: &Rng,
) -> Try<Vec<(ConcreteStep, Concrete)>> {
    let mut rng = rng.clone();
    let mut result = Vec::new();
    let offers = Offers::new(network, state)?;
    let mut trials = Vec::new();
    for starter in &offers.starters {
        trials.extend(offers.ways(network, starter).trials(network));
    }
    for level in levels(network, &mut trials) {
        for (_, trial) in level {
            match trial {
                Trial::Many(ways) if ways.count() > FEW_WAYS => {
                    result.extend(drawn_steps(network, state, ways, &mut rng)?);
                }
                Trial::Many(ways) => {
                    for step in ways.all() {
                        let next = after(network, state, &step)?;
                        result.extend(next.map(|next| (step, next)));
                    }
                }
                Trial::One(step) => {
                    let next = after(network, state, step)?;
                    result.extend(next.map(|next| (step.clone(), next)));
                }
            }
        }
        // The steps that these block are not evaluated.
        if !result.is_empty() {
            break;
        }
    }
    Ok(result)
}

/// A step to try, or the ways to make one that all have the same priority.
enum Trial<'o> {
    One(ConcreteStep),
    Many(Ways<'o>),
}

/// Trials grouped by their priorities, the highest first. Without priorities, all are in one group.
fn levels<'t, 'o>(
    network: &Network,
    trials: &'t mut [((i32, i32), Trial<'o>)],
) -> impl Iterator<Item = &'t [((i32, i32), Trial<'o>)]> {
    if network.has_priorities {
        trials.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    } else {
        trials.iter_mut().for_each(|trial| trial.0 = (0, 0));
    }
    trials.chunk_by(|a, b| a.0 == b.0)
}

/// Whether an evaluation fails in a state: that of this step if one is given, otherwise that of a
/// guard or of any step that can be taken.
pub fn fails(network: &Network, state: &Concrete, step: Option<&[ConcreteEdge]>) -> bool {
    let mut state = state.clone();
    match step.map(|edges| step_by(network, &mut state, edges)) {
        Some(Err(_)) => true,
        Some(Ok(Some((_, mut next)))) => may_delay(network, &mut next).is_err(),
        Some(Ok(None)) => false,
        None => {
            enabled_steps(network, &mut state, &Rng::new(0)).is_err()
                || may_delay(network, &mut state).is_err()
        }
    }
}

/// Some of many ways to receive a broadcast.
fn drawn_steps(
    network: &Network,
    state: &Concrete,
    ways: &Ways<'_>,
    rng: &mut Rng,
) -> Try<Vec<(ConcreteStep, Concrete)>> {
    let mut found: Vec<(ConcreteStep, Concrete)> = Vec::new();
    for _ in 0..DRAWS {
        let step = ways.drawn(rng);
        // The participants are the same in all ways.
        if !may_go_first(network, state, &step) || found.len() == DRAWN {
            return Ok(found);
        }
        if found.iter().all(|(other, _)| *other != step)
            && let Some(next) = after(network, state, &step)?
        {
            found.push((step, next));
        }
    }
    if found.is_empty() {
        return Err(too_many(network, ways.starter.0 as usize));
    }
    Ok(found)
}

/// The error for a broadcast whose receivers have too many combinations.
pub(super) fn too_many(network: &Network, sender: usize) -> Broken {
    let sender = &network.processes[sender].name;
    Broken::new(format!(
        "the receivers of a broadcast by {sender} can choose in too many ways to try all, and none that was tried keeps \
         the invariants"
    ))
}

/// The priority of a step: that of its channel, then that of its processes.
pub(super) fn priority(network: &Network, step: &ConcreteStep) -> (i32, i32) {
    let channel = step
        .channel
        .map_or(Channel::DEFAULT_PRIORITY, |c| network.channels[c].priority);
    let processes = step.edges.iter();
    let process = processes
        .map(|(p, _, _)| network.processes[*p as usize].priority)
        .max();
    (channel, process.unwrap_or(0))
}

/// The step with these edges, sender first and receivers in process order, with the state it leads
/// to; `None` if it is not possible. Other combinations of the receivers of a broadcast are not
/// tried.
pub(crate) fn step_by(
    network: &Network,
    state: &mut Concrete,
    edges: &[ConcreteEdge],
) -> Try<Option<(ConcreteStep, Concrete)>> {
    let offers = Offers::new(network, state)?;
    let Some((first, rest)) = edges.split_first() else {
        return Ok(None);
    };
    for starter in offers.starters.iter().filter(|s| s.edge == *first) {
        let channel = starter.channel.map(|(c, _)| c);
        if !offers.take_part(network, channel, first.0, rest) {
            continue;
        }
        let step = ConcreteStep {
            channel,
            edges: edges.to_vec(),
        };
        if network.has_priorities && outranked(network, state, &offers, &step)? {
            return Ok(None);
        }
        return Ok(after(network, state, &step)?.map(|next| (step, next)));
    }
    Ok(None)
}

/// Whether a step of higher priority is possible.
fn outranked(
    network: &Network,
    state: &Concrete,
    offers: &Offers,
    step: &ConcreteStep,
) -> Try<bool> {
    let own = priority(network, step);
    let mut trials = Vec::new();
    for starter in &offers.starters {
        trials.extend(offers.ways(network, starter).trials(network));
    }
    trials.retain(|(priority, _)| *priority > own);
    for (_, trial) in levels(network, &mut trials).flatten() {
        match trial {
            Trial::One(other) => {
                if after(network, state, other)?.is_some() {
                    return Ok(true);
                }
            }
            Trial::Many(ways) => {
                for (tried, other) in ways.all().enumerate() {
                    // The participants are the same in all ways.
                    if !may_go_first(network, state, &other) {
                        break;
                    }
                    if after(network, state, &other)?.is_some() {
                        return Ok(true);
                    }
                    if tried > FEW_WAYS * FEW_WAYS {
                        return Err(too_many(network, ways.starter.0 as usize));
                    }
                }
            }
        }
    }
    Ok(false)
}

/// Whether committed locations allow a step.
fn may_go_first(network: &Network, state: &Concrete, step: &ConcreteStep) -> bool {
    let committed = |p: usize| {
        let location = state.locations[p] as usize;
        network.processes[p].locations[location].kind == LocationKind::Committed
    };
    step.edges.iter().any(|(p, _, _)| committed(*p as usize))
        || !(0..network.processes.len()).any(committed)
}

/// The state after a step whose guards hold, if committed locations and target invariants allow it.
fn after(network: &Network, state: &Concrete, step: &ConcreteStep) -> Try<Option<Concrete>> {
    if !may_go_first(network, state, step) {
        return Ok(None);
    }
    let mut next = take(network, state, step)?;
    Ok(invariants_hold(network, &mut next)?.then_some(next))
}

/// The state after a step's updates.
pub(super) fn take(network: &Network, state: &Concrete, step: &ConcreteStep) -> Try<Concrete> {
    if let Some(budget) = &state.budget {
        budget.step(state.size() as u64)?;
    }
    let mut next = state.clone();
    let mut evaluator = Evaluator::new(network, &mut next, network.update_frame);
    for update in &network.before_update {
        evaluator.eval(update)?;
    }
    for (p, e, values) in &step.edges {
        let edge = &network.processes[*p as usize].edges[*e as usize];
        let mut evaluator = Evaluator::new(network, &mut next, edge.frame);
        for (select, value) in edge.selects.iter().zip(values) {
            evaluator.bind(select.slot, *value);
        }
        for update in &edge.updates {
            evaluator.eval(update)?;
        }
    }
    for (p, e, _) in &step.edges {
        next.locations[*p as usize] = network.processes[*p as usize].edges[*e as usize].target;
    }
    let mut evaluator = Evaluator::new(network, &mut next, network.update_frame);
    for update in &network.after_update {
        evaluator.eval(update)?;
    }
    Ok(next)
}

/// An enabled edge: process, edge, select values and channel.
struct Candidate {
    edge: ConcreteEdge,
    channel: Option<(ChannelId, Direction)>,
}

/// The edges whose guards hold: internal ones and senders, and receivers.
struct Offers {
    starters: Vec<Candidate>,
    receivers: Vec<Candidate>,
}

impl Offers {
    /// The edges that the steps of a state consist of. Guards are evaluated only where they can
    /// matter: not for processes that must wait for a committed location, nor for receivers that no
    /// process can send to.
    fn new(network: &Network, state: &mut Concrete) -> Try<Offers> {
        let committed = |p: usize, state: &Concrete| {
            let location = state.locations[p] as usize;
            network.processes[p].locations[location].kind == LocationKind::Committed
        };
        let is_receive =
            |e: &Edge| matches!(&e.sync, Some(sync) if sync.direction == Direction::Receive);
        let processes = 0..network.processes.len();
        let some_committed = processes.clone().any(|p| committed(p, state));
        // A process elsewhere can send to a process in a committed location.
        let some_receive = processes.into_iter().any(|p| {
            let edges = network.processes[p].edges.iter();
            committed(p, state)
                && edges
                    .filter(|e| e.source == state.locations[p])
                    .any(is_receive)
        });
        let starters = collect(network, state, |state, p, edge| {
            let free = !some_committed || committed(p, state);
            !is_receive(edge) && (free || edge.sync.is_some() && some_receive)
        })?;
        let receivers = collect(network, state, |state, p, edge| {
            let Some(sync) = edge.sync.as_ref().filter(|_| is_receive(edge)) else {
                return false;
            };
            let channels = channels_of(&sync.channel);
            starters.iter().any(|starter| {
                let sender = starter.edge.0 as usize;
                let free = !some_committed || committed(p, state) || committed(sender, state);
                sender != p
                    && starter.channel.is_some_and(|(c, _)| {
                        channels.contains(&c) && (free || network.channels[c].broadcast)
                    })
            })
        })?;
        Ok(Offers {
            starters,
            receivers,
        })
    }

    /// The edges that synchronisations over urgent channels consist of.
    fn urgent(network: &Network, state: &mut Concrete) -> Try<Offers> {
        let is_urgent = |sync: &Sync| {
            let channels = channels_of(&sync.channel);
            let mut ids = (channels.start().0..=channels.end().0).map(ChannelId);
            ids.any(|c| network.channels[c].urgent)
        };
        let starters = collect(network, state, |_, _, edge| {
            let sends = |sync: &Sync| sync.direction == Direction::Send && is_urgent(sync);
            edge.sync.as_ref().is_some_and(sends)
        })?;
        let receivers = collect(network, state, |_, p, edge| {
            let heard = |sync: &Sync| {
                let channels = channels_of(&sync.channel);
                sync.direction == Direction::Receive
                    && starters.iter().any(|starter| {
                        let on = starter.channel.is_some_and(|(c, _)| channels.contains(&c));
                        on && starter.edge.0 as usize != p
                    })
            };
            edge.sync.as_ref().is_some_and(heard)
        })?;
        Ok(Offers {
            starters,
            receivers,
        })
    }

    /// The edges that can receive from a sender, process by process.
    fn partners(&self, sender: u32, channel: ChannelId) -> impl Iterator<Item = &ConcreteEdge> {
        let fits = move |r: &&Candidate| {
            r.edge.0 != sender && r.channel.is_some_and(|(c, _)| c == channel)
        };
        self.receivers.iter().filter(fits).map(|r| &r.edge)
    }

    /// Whether these are possible receivers of a sender: one for a binary channel, and every
    /// process that can receive for a broadcast.
    fn take_part(
        &self,
        network: &Network,
        channel: Option<ChannelId>,
        sender: u32,
        edges: &[ConcreteEdge],
    ) -> bool {
        let Some(channel) = channel else {
            return edges.is_empty();
        };
        if !network.channels[channel].broadcast {
            let [edge] = edges else { return false };
            return self.partners(sender, channel).any(|p| p == edge);
        }
        let mut left = edges.iter();
        let partners: Vec<&ConcreteEdge> = self.partners(sender, channel).collect();
        partners
            .chunk_by(|a, b| a.0 == b.0)
            .all(|own| left.next().is_some_and(|edge| own.contains(&edge)))
            && left.next().is_none()
    }

    /// The ways in which a starter can make a step, ignoring committed locations and invariants.
    fn ways<'o>(&'o self, network: &Network, starter: &'o Candidate) -> Ways<'o> {
        let channel = starter.channel.map(|(c, _)| c);
        let is_broadcast = channel.is_some_and(|c| network.channels[c].broadcast);
        let choices = match channel {
            None => Vec::new(),
            Some(c) => {
                let partners: Vec<&ConcreteEdge> = self.partners(starter.edge.0, c).collect();
                match is_broadcast {
                    true => partners
                        .chunk_by(|a, b| a.0 == b.0)
                        .map(<[_]>::to_vec)
                        .collect(),
                    false => vec![partners],
                }
            }
        };
        Ways {
            channel,
            is_broadcast,
            starter: &starter.edge,
            choices,
        }
    }
}

/// The channels that a reference may refer to.
fn channels_of(channel: &ChannelRef) -> std::ops::RangeInclusive<ChannelId> {
    let steps = channel.steps.iter();
    let most: u32 = steps
        .map(|s| s.stride * s.range.len.saturating_sub(1))
        .sum();
    channel.base..=channel.base.plus(most)
}

/// The edges from the present locations that `look_at` selects and whose guards hold.
fn collect(
    network: &Network,
    state: &mut Concrete,
    look_at: impl Fn(&Concrete, usize, &Edge) -> bool,
) -> Try<Vec<Candidate>> {
    let mut found = Vec::new();
    for (p, process) in network.processes.iter().enumerate() {
        for (e, edge) in process.edges.iter().enumerate() {
            if edge.source == state.locations[p] && look_at(state, p, edge) {
                found.extend(candidates(network, state, p as u32, e as u32, edge)?);
            }
        }
    }
    Ok(found)
}

/// The ways to make a step: a starter alone, with one of its partners, or with one edge of each
/// receiver.
struct Ways<'o> {
    channel: Option<ChannelId>,
    is_broadcast: bool,
    starter: &'o ConcreteEdge,
    /// For every other participant, its possible edges.
    choices: Vec<Vec<&'o ConcreteEdge>>,
}

impl<'o> Ways<'o> {
    /// The ways with the priorities of their steps. The participants of a broadcast, and so its
    /// priority, are the same in all ways.
    fn trials(self, network: &Network) -> Vec<((i32, i32), Trial<'o>)> {
        if !self.is_broadcast {
            let steps = self.all().map(|step| (priority(network, &step), step));
            return steps.map(|(p, step)| (p, Trial::One(step))).collect();
        }
        let any = self.all().next().map(|step| priority(network, &step));
        let trial = any.map(|priority| (priority, Trial::Many(self)));
        trial.into_iter().collect()
    }

    /// The number of ways; `usize::MAX` if there are more.
    fn count(&self) -> usize {
        let sizes = self.choices.iter().map(Vec::len);
        sizes.fold(1, usize::saturating_mul)
    }

    /// All ways, one after the other; the choices of the last receiver change first.
    fn all(&self) -> impl Iterator<Item = ConcreteStep> {
        (0..self.count()).map(|number| {
            let mut left = number;
            let picks = self.choices.iter().rev().map(|own| {
                let pick = own[left % own.len()];
                left /= own.len();
                pick
            });
            let picks: Vec<&ConcreteEdge> = picks.collect();
            self.step(picks.into_iter().rev())
        })
    }

    /// One way, with the edge of each receiver drawn separately.
    fn drawn(&self, rng: &mut Rng) -> ConcreteStep {
        let picks = self.choices.iter().map(|own| own[rng.below(own.len())]);
        self.step(picks)
    }

    fn step<'e>(&'e self, others: impl Iterator<Item = &'e ConcreteEdge>) -> ConcreteStep {
        ConcreteStep {
            channel: self.channel,
            edges: std::iter::once(self.starter)
                .chain(others)
                .cloned()
                .collect(),
        }
    }
}

/// The number of combinations of values of the select variables of an edge.
pub(super) fn select_count(edge: &Edge) -> u128 {
    let sizes = edge.selects.iter().map(|s| u128::from(s.range.len));
    sizes.fold(1, u128::saturating_mul)
}

/// All values of the select variables of an edge, those of the last one changing first.
pub(super) fn select_values(edge: &Edge) -> impl Iterator<Item = Vec<i32>> {
    (0..select_count(edge)).map(|number| {
        let mut left = number;
        let mut values: Vec<i32> = Vec::with_capacity(edge.selects.len());
        for select in edge.selects.iter().rev() {
            let len = u128::from(select.range.len.max(1));
            values.push(select.range.lo + (left % len) as i32);
            left /= len;
        }
        values.reverse();
        values
    })
}

/// The first guard that cannot be evaluated where it matters: no step is defined there.
pub(super) fn guard_error(network: &Network, state: &mut Concrete) -> Option<Broken> {
    Offers::new(network, state).err()
}

/// The most values of the select variables of one edge that are tried.
const MOST_SELECTED: u128 = 1 << 24;

fn candidates(
    network: &Network,
    state: &mut Concrete,
    p: u32,
    e: u32,
    edge: &Edge,
) -> Try<Vec<Candidate>> {
    if let Some(budget) = &state.budget {
        let ways = edge.selects.iter().map(|s| s.range.len as usize);
        let ways = ways.fold(1, usize::saturating_mul);
        budget.hold(ways.saturating_mul(size_of::<Candidate>() + 4 * edge.selects.len()))?;
    }
    if select_count(edge) > MOST_SELECTED {
        let count = select_count(edge);
        return Err(Broken::new(format!(
            "the select variables of an edge have {count} combinations of values, too many to try"
        )));
    }
    let mut found = Vec::new();
    for values in select_values(edge) {
        let mut evaluator = Evaluator::new(network, state, edge.frame);
        for (select, value) in edge.selects.iter().zip(&values) {
            evaluator.bind(select.slot, *value);
        }
        if let Some(guard) = &edge.guard
            && !evaluator.guard(guard)?
        {
            continue;
        }
        let channel = match &edge.sync {
            None => None,
            Some(sync) => Some((evaluator.channel(&sync.channel)?, sync.direction)),
        };
        found.push(Candidate {
            edge: (p, e, values),
            channel,
        });
    }
    Ok(found)
}

impl Evaluator<'_> {
    pub(super) fn channel(&mut self, channel: &ChannelRef) -> Try<ChannelId> {
        Ok(channel.base.plus(self.offset(&channel.steps)? as u32))
    }
}
