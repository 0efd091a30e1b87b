//! The steps of a discrete state: internal edges, binary synchronisations, broadcasts.
//!
//! Integer guards are evaluated here, clock guards when a step is applied to a zone. The order of
//! the list depends only on the discrete state, so the index of a step identifies it in traces.

use crate::graph::receivers::{Interchange, Receivers, may_stay_out};
use crate::mutation::{Mutation, is_on};
use crate::program::{Edge, EdgeId, Fault, FaultKind, Machine, Program};
use std::cmp::Reverse;
use std::ops::Range;
use zonelens_analysis::network::{Channel, LocationKind};

/// The most edges and select values of all steps of one state. Receivers of a broadcast with a few
/// edges each have more combinations than fit in memory, and limits are checked only between
/// states.
const MOST_PARTS: usize = 4 << 20;

/// An edge with the values of its select variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The edge.
    pub edge: EdgeId,
    values: u32,
}

/// A step: edges that are taken together.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    parts: Range<u32>,
    blocked: Range<u32>,
    /// The channel, if it is a synchronisation.
    pub channel: Option<u32>,
    /// Its priority: the channel's, then the highest of its processes.
    pub priority: (i32, i32),
}

/// The steps of one discrete state, in buffers that are reused from state to state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    steps: Vec<Step>,
    parts: Vec<Part>,
    values: Vec<i32>,
    chosen: Vec<Part>,
    refused: Vec<Part>,
    senders: Vec<(Part, u32)>,
    receivers: Receivers,
    /// The processes that are interchangeable: such receivers of a broadcast choose as a multiset.
    pub interchange: Option<Interchange>,
    /// Whether to find only the first combination of receivers of each broadcast.
    pub first_only: bool,
    /// Faults of integer guards next to clock guards: they count only where the clocks allow the
    /// edge.
    pub doubtful: Vec<(Fault, Part)>,
}

/// A step given by its edges and the values of their select variables, sender first.
pub(crate) type NamedStep = Vec<(EdgeId, Vec<i32>)>;

impl Steps {
    /// The number of steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The step with this index.
    pub(crate) fn get(&self, index: usize) -> &Step {
        &self.steps[index]
    }

    /// The indices of all steps, those of the highest priority first.
    pub(crate) fn by_priority(&self, program: &Program) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.len()).collect();
        if program.has_priorities {
            all.sort_by_key(|k| Reverse(self.steps[*k].priority));
        }
        all
    }

    /// The indices of the steps of higher priority than this one, the highest first.
    pub(crate) fn above(&self, priority: (i32, i32)) -> Vec<usize> {
        let mut above: Vec<usize> = (0..self.len())
            .filter(|k| self.steps[*k].priority > priority)
            .collect();
        if !is_on(Mutation::BlockedBlocks) {
            above.sort_by_key(|k| Reverse(self.steps[*k].priority));
        }
        above
    }

    /// The edges of a step: the sender first, then receivers in process order.
    pub(crate) fn parts(&self, step: &Step) -> &[Part] {
        &self.parts[step.parts.start as usize..step.parts.end as usize]
    }

    /// Receiving edges that would have to take part if their clock guards held: the step exists
    /// only where they do not hold.
    pub(crate) fn blocked(&self, step: &Step) -> &[Part] {
        &self.parts[step.blocked.start as usize..step.blocked.end as usize]
    }

    /// The values of the select variables of a part.
    pub(crate) fn values(&self, program: &Program, part: Part) -> &[i32] {
        let start = part.values as usize;
        &self.values[start..start + program.edges[part.edge as usize].selects.len()]
    }

    /// Prepares the frame for the edge of a part.
    #[inline]
    pub(crate) fn enter(&self, program: &Program, machine: &mut Machine, part: Part) {
        let edge = &program.edges[part.edge as usize];
        machine.frame(edge.frame, &[]);
        for ((slot, _, _), value) in edge.selects.iter().zip(self.values(program, part)) {
            machine.set_slot(*slot, *value);
        }
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.parts.clear();
        self.values.clear();
        self.doubtful.clear();
    }

    /// Finds all steps of a state.
    pub(crate) fn find(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        self.clear();
        let processes = program.processes();
        let some_committed = program.has_committed
            && !is_on(Mutation::CommittedIgnored)
            && (0..processes).any(|p| program.is_committed(state, p));
        let mut here = Here {
            program,
            machine,
            state,
            some_committed,
        };
        // A sender that is not in a committed location may then only synchronise with a receiver
        // that leaves one.
        let some_receive = some_committed
            && (0..processes).any(|p| {
                let location = program.location(here.state, p);
                location.kind == LocationKind::Committed && !location.receives.is_empty()
            });
        for p in 0..processes {
            if self.interchange.as_ref().is_some_and(|i| i.skips_sender(p)) {
                continue;
            }
            let location = program.location(here.state, p);
            let free = !some_committed || location.kind == LocationKind::Committed;
            if free {
                for &edge in &location.internal {
                    self.enabled(&mut here, edge, None, |steps, part, _| {
                        steps.chosen.clear();
                        steps.chosen.push(part);
                        steps.push(program, None);
                    })?;
                }
            }
            if free || some_receive {
                for &edge in &location.sends {
                    self.send(&mut here, p, edge)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the guards that fail where clocks may keep them from being evaluated, for the edges
    /// that steps of a state may begin with. Those found together with one step are already
    /// recorded.
    pub(crate) fn find_doubtful(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        let some_committed = (0..program.processes()).any(|p| program.is_committed(state, p));
        let mut here = Here {
            program,
            machine,
            state,
            some_committed,
        };
        for p in 0..program.processes() {
            let location = program.location(here.state, p);
            if some_committed && location.kind != LocationKind::Committed {
                continue;
            }
            for &edge in location.internal.iter().chain(&location.sends) {
                let guard = program.edges[edge as usize].guard.as_ref();
                if guard.is_some_and(|g| g.has_clocks()) {
                    self.enabled(&mut here, edge, None, |_, _, _| {})?;
                }
            }
        }
        Ok(())
    }

    /// The step with this index, given by its edges.
    pub(crate) fn named(&self, program: &Program, index: usize) -> NamedStep {
        let parts = self.parts(&self.steps[index]).iter();
        parts
            .map(|part| (part.edge, self.values(program, *part).to_vec()))
            .collect()
    }

    /// Finds one step without enumerating all combinations of receivers; returns its index.
    pub(crate) fn find_named(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        state: &mut [i32],
        step: &[(EdgeId, Vec<i32>)],
    ) -> Result<Option<usize>, Fault> {
        self.interchange = None;
        if program.has_priorities {
            // Other steps may forbid it.
            self.find(program, machine, state)?;
            return Ok((0..self.len()).find(|k| self.named(program, *k) == step));
        }
        self.clear();
        let some_committed = (0..program.processes()).any(|p| program.is_committed(state, p));
        let mut here = Here {
            program,
            machine,
            state,
            some_committed,
        };
        let Some((first, receivers)) = step.split_first() else {
            return Ok(None);
        };
        let Some((part, channel)) = self.part(&mut here, first, None)? else {
            return Ok(None);
        };
        let sender = program.edges[part.edge as usize].process as usize;
        let mut allowed = !some_committed || program.is_committed(here.state, sender);
        self.chosen.clear();
        self.refused.clear();
        let channel = program.edges[part.edge as usize]
            .sync
            .as_ref()
            .map(|_| channel);
        let mut chosen = vec![part];
        for receiver in receivers {
            let Some((part, _)) = self.part(&mut here, receiver, channel)? else {
                return Ok(None);
            };
            let process = program.edges[part.edge as usize].process as usize;
            allowed |= program.is_committed(here.state, process);
            chosen.push(part);
        }
        if let Some(channel) = channel.filter(|c| program.channels[*c as usize].broadcast) {
            let mut found = std::mem::take(&mut self.receivers);
            let result = self.find_receivers(&mut here, sender, channel, &mut found);
            let process = |part: &Part| program.edges[part.edge as usize].process;
            for range in &found.of_process {
                let options = &found.options[range.clone()];
                if !chosen.iter().any(|c| process(c) == process(&options[0])) {
                    allowed &= may_stay_out(program, options);
                    self.refused.extend_from_slice(options);
                }
            }
            self.receivers = found;
            result?;
        }
        self.chosen = chosen;
        if allowed {
            self.push(program, channel);
        }
        self.refused.clear();
        Ok(allowed.then_some(0))
    }

    /// An edge with given select values, if it is enabled (on the channel).
    fn part(
        &mut self,
        here: &mut Here<'_>,
        (edge, values): &(EdgeId, Vec<i32>),
        channel: Option<u32>,
    ) -> Result<Option<(Part, u32)>, Fault> {
        let mut result = None;
        let program = here.program;
        self.enabled(here, *edge, channel, |steps, part, channel| {
            if steps.values(program, part) == values {
                result = Some((part, channel));
            }
        })?;
        Ok(result)
    }

    /// Finds the synchronisations over urgent channels that are enabled as far as integers decide;
    /// they become the steps of `self`.
    pub(crate) fn find_urgent(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        self.clear();
        let mut here = Here {
            program,
            machine,
            state,
            some_committed: false,
        };
        for p in 0..program.processes() {
            for &edge in &program.location(here.state, p).sends {
                if program.edges[edge as usize].may_be_urgent {
                    self.send(&mut here, p, edge)?;
                }
            }
        }
        self.steps.retain(|step| {
            step.channel
                .is_some_and(|c| program.channels[c as usize].urgent)
        });
        Ok(())
    }

    fn send(&mut self, here: &mut Here<'_>, sender: usize, edge: EdgeId) -> Result<(), Fault> {
        let mut senders = std::mem::take(&mut self.senders);
        senders.clear();
        let mut result = self.enabled(here, edge, None, |_, part, channel| {
            senders.push((part, channel));
        });
        for &(part, channel) in &senders {
            if result.is_err() {
                break;
            }
            result = if here.program.channels[channel as usize].broadcast {
                self.broadcast(here, sender, part, channel)
            } else {
                self.binary(here, sender, part, channel)
            };
        }
        self.senders = senders;
        result
    }

    fn binary(
        &mut self,
        here: &mut Here<'_>,
        sender: usize,
        part: Part,
        channel: u32,
    ) -> Result<(), Fault> {
        let program = here.program;
        let free = !here.some_committed || program.is_committed(here.state, sender);
        let values = self.values(program, part);
        let named = self.interchange.as_ref();
        let named = named.map(|i| i.named(sender, part.edge, values));
        for &q in &program.listeners[channel as usize] {
            let q = q as usize;
            if let (Some(interchange), Some(named)) = (&self.interchange, &named)
                && interchange.skips_receiver(q, named)
            {
                continue;
            }
            if q == sender || !(free || program.is_committed(here.state, q)) {
                continue;
            }
            for &receive in &program.location(here.state, q).receives {
                self.enabled(here, receive, Some(channel), |steps, receiver, _| {
                    steps.chosen.clear();
                    steps.chosen.push(part);
                    steps.chosen.push(receiver);
                    steps.push(program, Some(channel));
                })?;
            }
        }
        Ok(())
    }

    fn broadcast(
        &mut self,
        here: &mut Here<'_>,
        sender: usize,
        part: Part,
        channel: u32,
    ) -> Result<(), Fault> {
        let mut receivers = std::mem::take(&mut self.receivers);
        let mut result = self.find_receivers(here, sender, channel, &mut receivers);
        if result.is_ok() {
            result = self.combine(here, sender, part, channel, &mut receivers);
        }
        self.receivers = receivers;
        result
    }

    /// Finds the enabled receiving edges of every process except the sender.
    fn find_receivers(
        &mut self,
        here: &mut Here<'_>,
        sender: usize,
        channel: u32,
        receivers: &mut Receivers,
    ) -> Result<(), Fault> {
        let program = here.program;
        receivers.options.clear();
        receivers.of_process.clear();
        for &q in &program.listeners[channel as usize] {
            if q as usize == sender {
                continue;
            }
            let start = receivers.options.len();
            for &receive in &program.location(here.state, q as usize).receives {
                self.enabled(here, receive, Some(channel), |_, receiver, _| {
                    receivers.options.push(receiver);
                })?;
            }
            if receivers.options.len() > start {
                receivers.of_process.push(start..receivers.options.len());
            }
        }
        Ok(())
    }

    /// Adds one step for every combination of edges of the receivers.
    fn combine(
        &mut self,
        here: &Here<'_>,
        sender: usize,
        part: Part,
        channel: u32,
        receivers: &mut Receivers,
    ) -> Result<(), Fault> {
        let program = here.program;
        // A receiver whose clock guards may all be false can stay out. It leaves a committed
        // location only if it takes part, so whether the step leaves one is decided for each
        // combination.
        let decided = !here.some_committed || program.is_committed(here.state, sender);
        let leaves = |range: &Range<usize>| {
            let edge = receivers.options[range.start].edge as usize;
            program.is_committed(here.state, program.edges[edge].process as usize)
        };
        // Combinations that are not allowed take time too, and their number is not bounded.
        if !decided && !receivers.of_process.iter().any(leaves) {
            return Ok(());
        }
        receivers.choice.clear();
        receivers.choice.resize(receivers.of_process.len(), 0);
        receivers.twins.clear();
        if let Some(interchange) = &self.interchange {
            let values = self.values(program, part);
            interchange.pair_up(program, receivers, part.edge, values);
        }
        loop {
            self.check_size()?;
            self.chosen.clear();
            self.refused.clear();
            self.chosen.push(part);
            let mut allowed = decided;
            for (range, &k) in receivers.of_process.iter().zip(&receivers.choice) {
                let options = &receivers.options[range.clone()];
                if let Some(receiver) = options.get(k) {
                    let process = program.edges[receiver.edge as usize].process as usize;
                    allowed |= program.is_committed(here.state, process);
                    self.chosen.push(*receiver);
                } else if !is_on(Mutation::LazyReceivers) {
                    self.refused.extend_from_slice(options);
                }
            }
            if allowed {
                self.push(program, Some(channel));
            }
            if allowed && self.first_only || !receivers.next(program) {
                break;
            }
        }
        self.refused.clear();
        Ok(())
    }

    /// Fails if the state has too many steps to list.
    fn check_size(&self) -> Result<(), Fault> {
        match self.parts.len() + self.values.len() > MOST_PARTS {
            true => Err(FaultKind::TooManySteps.nowhere()),
            false => Ok(()),
        }
    }

    /// Adds the step in `chosen`, with the edges in `refused` blocked.
    fn push(&mut self, program: &Program, channel: Option<u32>) {
        let start = self.parts.len() as u32;
        self.parts.extend_from_slice(&self.chosen);
        let middle = self.parts.len() as u32;
        self.parts.extend_from_slice(&self.refused);
        let process_priority = self
            .chosen
            .iter()
            .map(|part| {
                program.process_priorities[program.edges[part.edge as usize].process as usize]
            })
            .max()
            .filter(|_| !is_on(Mutation::ProcessesEqual));
        let channel_priority = channel.map_or(Channel::DEFAULT_PRIORITY, |c| {
            program.channels[c as usize].priority
        });
        self.steps.push(Step {
            parts: start..middle,
            blocked: middle..self.parts.len() as u32,
            channel,
            priority: (channel_priority, process_priority.unwrap_or(0)),
        });
    }

    /// Calls `found` for every combination of select values for which the integer guard holds and
    /// the channel (if one is given) is the right one.
    #[inline]
    fn enabled(
        &mut self,
        here: &mut Here<'_>,
        id: EdgeId,
        wanted: Option<u32>,
        mut found: impl FnMut(&mut Steps, Part, u32),
    ) -> Result<(), Fault> {
        let edge = &here.program.edges[id as usize];
        if let (Some(wanted), Some(sync)) = (wanted, &edge.sync)
            && (wanted < sync.base
                || wanted > sync.last
                || sync.steps.is_empty() && wanted != sync.base)
        {
            return Ok(());
        }
        if edge.selects.is_empty() {
            let values = self.values.len() as u32;
            let part = Part { edge: id, values };
            here.machine.frame(edge.frame, &[]);
            if let Some(channel) = self.channel_if_enabled(here, edge, part, &[])?
                && wanted.is_none_or(|w| w == channel)
            {
                found(self, part, channel);
            }
            return Ok(());
        }
        self.enabled_selected(here, id, wanted, found)
    }

    fn enabled_selected(
        &mut self,
        here: &mut Here<'_>,
        id: EdgeId,
        wanted: Option<u32>,
        mut found: impl FnMut(&mut Steps, Part, u32),
    ) -> Result<(), Fault> {
        let edge = &here.program.edges[id as usize];
        if edge.selects.iter().any(|s| s.2 == 0) {
            return Ok(());
        }
        let mut values: smallvec::SmallVec<[i32; 4]> = edge.selects.iter().map(|s| s.1).collect();
        for _ in 0..MOST_PARTS {
            self.check_size()?;
            let part = Part {
                edge: id,
                values: self.values.len() as u32,
            };
            here.machine.frame(edge.frame, &[]);
            for ((slot, _, _), value) in edge.selects.iter().zip(&values) {
                here.machine.set_slot(*slot, *value);
            }
            if let Some(channel) = self.channel_if_enabled(here, edge, part, &values)?
                && wanted.is_none_or(|w| w == channel)
            {
                self.values.extend_from_slice(&values);
                found(self, part, channel);
            }
            if !next_values(edge, &mut values) {
                return Ok(());
            }
        }
        Err(FaultKind::TooManySteps.nowhere())
    }

    /// The channel (0 for an internal edge) if the integer guard holds.
    #[inline]
    fn channel_if_enabled(
        &mut self,
        here: &mut Here<'_>,
        edge: &Edge,
        part: Part,
        values: &[i32],
    ) -> Result<Option<u32>, Fault> {
        let found = here.channel_if_enabled(edge);
        match (found, &edge.guard) {
            (Err(fault), Some(guard)) if guard.has_clocks() => {
                self.values.extend_from_slice(values);
                self.doubtful.push((fault, part));
                Ok(None)
            }
            (found, _) => found,
        }
    }
}

fn next_values(edge: &Edge, values: &mut [i32]) -> bool {
    for (value, (_, lo, len)) in values.iter_mut().zip(&edge.selects).rev() {
        *value += 1;
        if i64::from(*value) < i64::from(*lo) + i64::from(*len) {
            return true;
        }
        *value = *lo;
    }
    false
}

/// The state and tables that a search for steps uses.
struct Here<'a> {
    program: &'a Program,
    machine: &'a mut Machine,
    state: &'a mut [i32],
    some_committed: bool,
}

impl Here<'_> {
    /// The channel of an edge whose integer guard holds. Bounds of clocks that cannot be computed
    /// are noticed here, whether or not the edge then has partners.
    fn channel_if_enabled(&mut self, edge: &Edge) -> Result<Option<u32>, Fault> {
        let Here {
            program,
            machine,
            state,
            ..
        } = self;
        if let Some(guard) = &edge.guard {
            if !machine.ints_hold(program, guard, state)? {
                return Ok(None);
            }
            if guard.may_fail
                && let Err(fault) =
                    machine.clock_constraints(program, guard, state, &mut Vec::new())
                && !fault.kind.is_ours()
            {
                return Err(fault);
            }
        }
        match &edge.sync {
            None => Ok(Some(0)),
            Some(sync) if sync.steps.is_empty() => Ok(Some(sync.base)),
            Some(sync) => Ok(Some(
                sync.base + machine.offset(program, &sync.steps, state)? as u32,
            )),
        }
    }
}
