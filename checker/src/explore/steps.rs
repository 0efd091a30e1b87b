//! Which steps a discrete state has: internal edges, binary synchronisations, broadcasts.
//!
//! Integer guards are evaluated here, clock guards by whoever applies a step to a zone. The order of the list depends
//! on the discrete state alone, so the position of a step identifies it in traces.

use crate::mutation::{Mutation, is_on};
use crate::program::{Edge, EdgeId, Fault, Machine, Program};
use std::ops::Range;
use zonelens_analysis::network::{Channel, LocationKind};

/// An edge with values of its select variables.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The edge.
    pub edge: EdgeId,
    values: u32,
}

/// A step: the edges taken together.
#[derive(Clone, Debug)]
pub struct Step {
    parts: Range<u32>,
    blocked: Range<u32>,
    /// The channel, if it is a synchronisation.
    pub channel: Option<u32>,
    /// Its priority: the channel's, then the highest of its processes.
    pub priority: (i32, i32),
}

/// The steps of one discrete state, in buffers that are reused from state to state.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    steps: Vec<Step>,
    parts: Vec<Part>,
    values: Vec<i32>,
    chosen: Vec<Part>,
    refused: Vec<Part>,
    /// Faults of integer guards beside clock guards: they count only where the clocks allow the edge.
    pub doubtful: Vec<(Fault, Part)>,
}

impl Steps {
    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// A step.
    pub fn get(&self, index: usize) -> &Step {
        &self.steps[index]
    }

    /// The edges of a step: the sender first, then receivers in process order.
    pub fn parts(&self, step: &Step) -> &[Part] {
        &self.parts[step.parts.start as usize..step.parts.end as usize]
    }

    /// Receiving edges that would have to take part if their clock guards held: the step exists only where they do
    /// not.
    pub fn blocked(&self, step: &Step) -> &[Part] {
        &self.parts[step.blocked.start as usize..step.blocked.end as usize]
    }

    /// Values of a part's select variables.
    pub fn values(&self, program: &Program, part: Part) -> &[i32] {
        let start = part.values as usize;
        &self.values[start..start + program.edges[part.edge as usize].selects.len()]
    }

    /// Prepares the frame of a part's edge.
    #[inline]
    pub fn enter(&self, program: &Program, machine: &mut Machine, part: Part) {
        let edge = &program.edges[part.edge as usize];
        machine.frame(edge.frame, &[]);
        for ((slot, _, _), value) in edge.selects.iter().zip(self.values(program, part)) {
            machine.set_slot(*slot, *value);
        }
    }

    /// Finds all steps of a state.
    pub fn find(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        self.steps.clear();
        self.parts.clear();
        self.values.clear();
        self.doubtful.clear();
        let processes = program.processes();
        let committed =
            |p: usize, state: &[i32]| program.location(state, p).kind == LocationKind::Committed;
        let some_committed =
            (0..processes).any(|p| committed(p, state)) && !is_on(Mutation::CommittedIgnored);
        for p in 0..processes {
            let location = program.location(state, p);
            let own = committed(p, state);
            if !some_committed || own {
                for &edge in &location.internal {
                    self.enabled(program, machine, edge, None, state, |steps, part, _| {
                        steps.chosen.clear();
                        steps.chosen.push(part);
                        steps.push(program, None);
                        Ok(())
                    })?;
                }
            }
            for &edge in &location.sends {
                self.send(program, machine, p, edge, some_committed, state)?;
            }
        }
        Ok(())
    }

    /// Whether a synchronisation over an urgent channel is enabled, as far as integers tell: the steps over urgent
    /// channels, found in `self`.
    pub fn find_urgent(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        self.steps.clear();
        self.parts.clear();
        self.values.clear();
        self.doubtful.clear();
        for p in 0..program.processes() {
            for &edge in &program.location(state, p).sends {
                if may_be_urgent(program, &program.edges[edge as usize]) {
                    self.send(program, machine, p, edge, false, state)?;
                }
            }
        }
        self.steps.retain(|step| {
            step.channel
                .is_some_and(|c| program.channels[c as usize].urgent)
        });
        Ok(())
    }

    fn send(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        sender: usize,
        edge: EdgeId,
        some_committed: bool,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        let mut senders = Vec::new();
        self.enabled(program, machine, edge, None, state, |_, part, channel| {
            senders.push((part, channel));
            Ok(())
        })?;
        for (part, channel) in senders {
            if program.channels[channel as usize].broadcast {
                self.broadcast(
                    program,
                    machine,
                    sender,
                    part,
                    channel,
                    some_committed,
                    state,
                )?;
            } else {
                self.binary(
                    program,
                    machine,
                    sender,
                    part,
                    channel,
                    some_committed,
                    state,
                )?;
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn binary(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        sender: usize,
        part: Part,
        channel: u32,
        some_committed: bool,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        let from_committed = program.location(state, sender).kind == LocationKind::Committed;
        for q in 0..program.processes() {
            let location = program.location(state, q);
            if q == sender
                || (some_committed && !from_committed && location.kind != LocationKind::Committed)
            {
                continue;
            }
            for &receive in &location.receives {
                self.enabled(
                    program,
                    machine,
                    receive,
                    Some(channel),
                    state,
                    |steps, receiver, _| {
                        steps.chosen.clear();
                        steps.chosen.push(part);
                        steps.chosen.push(receiver);
                        steps.push(program, Some(channel));
                        Ok(())
                    },
                )?;
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn broadcast(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        sender: usize,
        part: Part,
        channel: u32,
        some_committed: bool,
        state: &mut [i32],
    ) -> Result<(), Fault> {
        let mut committed =
            !some_committed || program.location(state, sender).kind == LocationKind::Committed;
        let mut receivers: Vec<Vec<Part>> = Vec::new();
        for q in 0..program.processes() {
            if q == sender {
                continue;
            }
            let mut options = Vec::new();
            for &receive in &program.location(state, q).receives {
                self.enabled(
                    program,
                    machine,
                    receive,
                    Some(channel),
                    state,
                    |_, receiver, _| {
                        options.push(receiver);
                        Ok(())
                    },
                )?;
            }
            if !options.is_empty() {
                receivers.push(options);
            }
        }
        // A receiver whose clock guards may all be false can stay out; it leaves a committed location only if it takes
        // part. The flag is then decided per combination.
        let decided = committed;
        let mut choice = vec![0usize; receivers.len()];
        loop {
            self.chosen.clear();
            self.refused.clear();
            self.chosen.push(part);
            committed = decided;
            for (options, &k) in receivers.iter().zip(&choice) {
                if let Some(receiver) = options.get(k) {
                    let process = program.edges[receiver.edge as usize].process as usize;
                    committed |= program.location(state, process).kind == LocationKind::Committed;
                    self.chosen.push(*receiver);
                } else if !is_on(Mutation::LazyReceivers) {
                    self.refused.extend_from_slice(options);
                }
            }
            if committed {
                self.push(program, Some(channel));
            }
            if !next_choice(program, &receivers, &mut choice) {
                break;
            }
        }
        self.refused.clear();
        Ok(())
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
            .max();
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

    /// Calls `found` for every combination of select values for which the integer guard holds and the channel (if one
    /// is asked for) is the right one.
    fn enabled(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        id: EdgeId,
        wanted: Option<u32>,
        state: &mut [i32],
        mut found: impl FnMut(&mut Steps, Part, u32) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let edge = &program.edges[id as usize];
        if let (Some(wanted), Some(sync)) = (wanted, &edge.sync)
            && sync.steps.is_empty()
            && sync.base != wanted
        {
            return Ok(());
        }
        if edge.selects.iter().any(|s| s.2 == 0) {
            return Ok(());
        }
        let mut values: smallvec::SmallVec<[i32; 4]> = edge.selects.iter().map(|s| s.1).collect();
        loop {
            let part = Part {
                edge: id,
                values: self.values.len() as u32,
            };
            machine.frame(edge.frame, &[]);
            for ((slot, _, _), value) in edge.selects.iter().zip(&values) {
                machine.set_slot(*slot, *value);
            }
            match self.channel_if_enabled(program, machine, edge, part, &values, state)? {
                Some(channel) if wanted.is_none_or(|w| w == channel) => {
                    self.values.extend_from_slice(&values);
                    found(self, part, channel)?;
                }
                _ => {}
            }
            if !next_values(edge, &mut values) {
                return Ok(());
            }
        }
    }

    /// The channel (0 for an internal edge) if the integer guard holds.
    fn channel_if_enabled(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        edge: &Edge,
        part: Part,
        values: &[i32],
        state: &mut [i32],
    ) -> Result<Option<u32>, Fault> {
        let holds = match &edge.guard {
            None => Ok(true),
            Some(guard) => match machine.ints_hold(program, guard, state) {
                Err(fault) if guard.has_clocks() => {
                    self.values.extend_from_slice(values);
                    self.doubtful.push((fault, part));
                    Ok(false)
                }
                other => other,
            },
        };
        if !holds? {
            return Ok(None);
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

/// Whether the edge may synchronise over an urgent channel.
pub fn may_be_urgent(program: &Program, edge: &Edge) -> bool {
    some_channel(program, edge, |channel| channel.urgent)
}

/// Whether the edge may synchronise over a broadcast channel.
pub fn may_be_broadcast(program: &Program, edge: &Edge) -> bool {
    some_channel(program, edge, |channel| channel.broadcast)
}

fn some_channel(program: &Program, edge: &Edge, is: impl Fn(&Channel) -> bool) -> bool {
    edge.sync.as_ref().is_some_and(|sync| {
        let reach: u32 = sync
            .steps
            .iter()
            .map(|s| s.range.len.saturating_sub(1) * s.stride)
            .sum();
        let range = sync.base as usize..=(sync.base + reach) as usize;
        program
            .channels
            .iter()
            .enumerate()
            .any(|(c, channel)| range.contains(&c) && is(channel))
    })
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

/// Advances the choice of receivers. The position after a receiver's last option means that it stays out, which needs
/// all its enabled edges to have clock guards.
fn next_choice(program: &Program, receivers: &[Vec<Part>], choice: &mut [usize]) -> bool {
    for (k, options) in choice.iter_mut().zip(receivers).rev() {
        let may_stay_out = is_on(Mutation::LazyReceivers)
            || options.iter().all(|part| {
                let guard = &program.edges[part.edge as usize].guard;
                guard.as_ref().is_some_and(|g| g.has_clocks())
            });
        *k += 1;
        if *k < options.len() + usize::from(may_stay_out) {
            return true;
        }
        *k = 0;
    }
    false
}
