//! The state of a simulation as data for users and editors.

use super::Session;
use crate::attempts::Reason;
use crate::limit::Limit;
use crate::replay::describe;
use crate::state::fraction;
use crate::steps::{ConcreteEdge, ConcreteStep};
use crate::windows::{Blocked, Interval, Possible, TimeEnd};
use zonelens_analysis::network::{ChannelId, Network, Position};
use zonelens_analysis::report::{TraceEdge, TraceTransition};
use zonelens_analysis::simulation::{
    BlockedKind, BlockedReason, BlockedTransition, ChoiceGroup, Choosing, DelayInterval,
    OtherTransition, PossibleTransition, Simulation, Wait, WaitEnd, WalkedStep,
};
use zonelens_syntax::span::Span;

/// Groups with more transitions than this are folded.
const UNFOLDED: usize = 20;
/// The most transitions of each list that a state shows.
const MOST_SHOWN: usize = 4096;

impl Session {
    /// The whole present state. `Err` says why the model is undefined here.
    pub fn view(
        &mut self,
        position: &dyn Fn(Span) -> Position,
        limit: Limit<'_>,
    ) -> Result<Simulation, String> {
        let possible = self.possible(limit)?;
        let others = self.other_steps(limit)?;
        let seen = self.look(limit)?.clone();
        let show = Show {
            session: self,
            position,
        };
        let mut left_out = self.zone.as_ref().map_or(0, |zone| zone.left_out);
        let mut limited = |count: usize| {
            left_out += count.saturating_sub(MOST_SHOWN);
            count.min(MOST_SHOWN)
        };
        let shown = limited(possible.len());
        let (groups, of_group) = show.groups(&possible);
        let possible_shown = (0..shown).map(|k| show.possible(k, of_group[k], &possible[k]));
        let other_shown = limited(others.len());
        let other_delays = self.zone.is_some().then(|| {
            let all = others.iter().take(other_shown).enumerate();
            all.map(|(k, step)| show.other(possible.len() + k, step, &seen.blocked))
                .collect()
        });
        // A transition that the zone allows is not blocked, and neither is its sender alone.
        let is_other = |b: &&Blocked| {
            others.iter().any(|step| {
                step.edges == b.step.edges
                    || b.step.edges.len() == 1 && step.edges.first() == b.step.edges.first()
            })
        };
        let blocked: Vec<&Blocked> = seen.blocked.iter().filter(|b| !is_other(b)).collect();
        let blocked_shown = limited(blocked.len());
        let blocked = blocked.into_iter().take(blocked_shown);
        let blocked = blocked.map(|b| BlockedTransition {
            transition: show.transition(&b.step),
            reason: show.reason(&b.reason, &b.step),
        });
        let total = self.walk[..self.at].iter().map(|w| w.delay).sum::<i64>() + self.waited;
        Ok(Simulation {
            step: self.at,
            length: self.walk.len(),
            unit: self.unit,
            time: fraction(total, self.unit),
            waited: fraction(self.waited, self.unit),
            state: self.names.describe(&self.network, &self.now),
            walk: self.walked(position),
            possible: possible_shown.collect(),
            groups,
            other_delays,
            blocked: blocked.collect(),
            left_out,
            wait: show.wait(&seen.time, &seen.end),
            choosing: show.choosing(),
            zone: self.zone.as_ref().map(|answer| answer.zone.clone()),
            complete: seen.end != TimeEnd::Moments,
            message: self.message.clone(),
        })
    }

    fn walked(&self, position: &dyn Fn(Span) -> Position) -> Vec<WalkedStep> {
        let steps = self.walk.iter().zip(&self.states);
        let one = steps.map(|(walked, before)| WalkedStep {
            delay: fraction(walked.delay, self.unit),
            fixed: walked.fixed,
            transition: describe(&self.network, &self.names, &walked.step, before, position),
        });
        one.collect()
    }

    /// Why a step is not possible in the present state, as text with its place.
    pub(super) fn why_not(
        &mut self,
        edges: &[ConcreteEdge],
        position: &dyn Fn(Span) -> Position,
        limit: Limit<'_>,
    ) -> String {
        let Ok(seen) = self.look(limit) else {
            return "it is not possible".into();
        };
        let blocked = seen.blocked.iter().find(|b| {
            b.step.edges == edges
                || b.step.edges.len() == 1 && b.step.edges.first() == edges.first()
        });
        let Some(blocked) = blocked.cloned() else {
            return match seen.possible.iter().any(|p| p.step.edges == edges) {
                true => "it is not possible after this delay".into(),
                false => "others take part in it now, or it is not possible".into(),
            };
        };
        let show = Show {
            session: self,
            position,
        };
        let reason = show.reason(&blocked.reason, &blocked.step);
        match reason.line {
            0 => reason.message,
            line => format!("{} (line {line}, column {})", reason.message, reason.column),
        }
    }
}

struct Show<'s> {
    session: &'s Session,
    position: &'s dyn Fn(Span) -> Position,
}

impl Show<'_> {
    fn network(&self) -> &Network {
        &self.session.network
    }

    fn transition(&self, step: &ConcreteStep) -> TraceTransition {
        let Session { names, now, .. } = self.session;
        let mut step = step.clone();
        step.channel = step.channel.or_else(|| self.channel(&step.edges));
        describe(self.network(), names, &step, now, self.position)
    }

    /// The channel of a step that the engine identifies by its edges.
    fn channel(&self, edges: &[ConcreteEdge]) -> Option<ChannelId> {
        let (p, e, values) = edges.first()?;
        let edge = self
            .network()
            .processes
            .get(*p as usize)?
            .edges
            .get(*e as usize)?;
        let sync = edge.sync.as_ref()?;
        let mut state = self.session.now.clone();
        let mut evaluator = crate::eval::Evaluator::new(self.network(), &mut state, edge.frame);
        for (select, value) in edge.selects.iter().zip(values) {
            evaluator.bind(select.slot, *value);
        }
        evaluator.channel(&sync.channel).ok()
    }

    fn edges(&self, edges: &[ConcreteEdge]) -> Vec<TraceEdge> {
        let step = ConcreteStep {
            channel: None,
            edges: edges.to_vec(),
        };
        let Session { names, now, .. } = self.session;
        describe(self.network(), names, &step, now, self.position).edges
    }

    /// The groups of the possible transitions, and the group of each transition.
    fn groups(&self, possible: &[Possible]) -> (Vec<ChoiceGroup>, Vec<usize>) {
        let edge = |p: &Possible| p.step.edges.first().map(|(p, e, _)| (*p, *e));
        let (mut groups, mut of_group) = (Vec::new(), Vec::new());
        let mut first = 0;
        for own in possible.chunk_by(|a, b| edge(a) == edge(b)) {
            let starter = own.first().map(|p| self.transition(&p.step));
            let starter = starter.and_then(|t| t.edges.into_iter().next());
            of_group.extend(std::iter::repeat_n(groups.len(), own.len()));
            groups.push(ChoiceGroup {
                process: starter
                    .as_ref()
                    .map(|s| s.process.clone())
                    .unwrap_or_default(),
                from: starter.as_ref().map(|s| s.from.clone()).unwrap_or_default(),
                to: starter.map(|s| s.to).unwrap_or_default(),
                first,
                count: own.len(),
                folded: own.len() > UNFOLDED,
            });
            first += own.len();
        }
        (groups, of_group)
    }

    fn possible(&self, number: usize, group: usize, possible: &Possible) -> PossibleTransition {
        let text = possible.delays.iter().map(|i| i.text(self.session.unit));
        PossibleTransition {
            number,
            group,
            transition: self.transition(&possible.step),
            delays: possible.delays.iter().map(|i| self.interval(i)).collect(),
            window: text.collect::<Vec<_>>().join(" or "),
            receivers: possible.choices.iter().map(|own| self.edges(own)).collect(),
        }
    }

    fn other(&self, number: usize, step: &ConcreteStep, blocked: &[Blocked]) -> OtherTransition {
        let found = blocked.iter().find(|b| b.step.edges == step.edges);
        let sender =
            |b: &&Blocked| b.step.edges.len() == 1 && b.step.edges.first() == step.edges.first();
        let found = found.or_else(|| blocked.iter().find(sender));
        OtherTransition {
            number,
            transition: self.transition(step),
            reason: found.map(|b| self.reason(&b.reason, &b.step)),
        }
    }

    fn choosing(&self) -> Option<Choosing> {
        let pending = self.session.pending.as_ref()?;
        let options = self.edges(pending.left.last()?);
        Some(Choosing {
            transition: self.transition(&pending.step),
            process: options.first().map(|o| o.process.clone())?,
            options,
            left: pending.left.len(),
        })
    }

    fn interval(&self, interval: &Interval) -> DelayInterval {
        let unit = self.session.unit;
        DelayInterval {
            from: fraction(interval.from, unit),
            from_open: interval.from_open,
            to: interval.to.map(|to| fraction(to, unit)),
            to_open: interval.to_open,
        }
    }

    fn wait(&self, time: &Interval, end: &TimeEnd) -> Wait {
        let name = |p: &u32| self.network().processes[*p as usize].name.to_string();
        let (end, process, message) = match end {
            TimeEnd::Never => (WaitEnd::Never, None, "time may pass for ever".to_owned()),
            TimeEnd::Invariant(p) => {
                let message = format!("the invariant of {} ends the time that may pass", name(p));
                (WaitEnd::Invariant, Some(name(p)), message)
            }
            TimeEnd::Location(p) => {
                let message = format!("{} is in an urgent or committed location", name(p));
                (WaitEnd::Location, Some(name(p)), message)
            }
            TimeEnd::Urgent(p) => {
                let message = format!("an urgent synchronisation of {} becomes possible", name(p));
                (WaitEnd::Urgent, Some(name(p)), message)
            }
            TimeEnd::Error(reason) => {
                let message = self.kind_and_words(reason, None).1;
                (WaitEnd::Error, None, message)
            }
            TimeEnd::Moments => {
                let message = "not everything that may happen later was explored".to_owned();
                (WaitEnd::Limit, None, message)
            }
        };
        Wait {
            delays: self.interval(time),
            window: time.text(self.session.unit),
            end,
            process,
            message,
        }
    }

    fn reason(&self, reason: &Reason, step: &ConcreteStep) -> BlockedReason {
        let (kind, message, span) = self.kind_and_words(reason, Some(step));
        let place = span.map(self.position);
        BlockedReason {
            kind,
            message,
            line: place.map_or(0, |p| p.line),
            column: place.map_or(0, |p| p.column),
        }
    }

    fn kind_and_words(
        &self,
        reason: &Reason,
        step: Option<&ConcreteStep>,
    ) -> (BlockedKind, String, Option<Span>) {
        let process = |p: &u32| &self.network().processes[*p as usize];
        let edge_span = |step: &ConcreteStep| {
            let (p, e, _) = step.edges.first()?;
            process(p).edges.get(*e as usize)?.spans.first().copied()
        };
        match reason {
            Reason::Guard { part, .. } => {
                let message = "its guard is false".to_owned();
                (BlockedKind::Guard, message, Some(*part))
            }
            Reason::NoPartner { channel } => {
                let channel = self.session.names.channel(*channel);
                let message = format!("no process can synchronise on `{channel}`");
                (BlockedKind::NoPartner, message, step.and_then(edge_span))
            }
            Reason::ReceiverGuard { edge, part } => {
                let message = format!("the guard of {} is false", process(&edge.0).name);
                (BlockedKind::ReceiverGuard, message, Some(*part))
            }
            Reason::Committed { process: p } => {
                let location = self.session.now.locations[*p as usize] as usize;
                let location = &process(p).locations[location];
                let name = &process(p).name;
                let message = format!("{name} is in the committed location {}", location.name);
                (BlockedKind::Committed, message, Some(location.span))
            }
            Reason::Invariant { process: p } => {
                let own = step.and_then(|s| s.edges.iter().find(|(q, _, _)| q == p));
                let at = match own {
                    Some((_, e, _)) => process(p).edges.get(*e as usize).map(|e| e.target),
                    None => self.session.now.locations.get(*p as usize).copied(),
                };
                let at = at.and_then(|l| process(p).locations.get(l as usize));
                let name = at.map(|l| format!(".{}", l.name)).unwrap_or_default();
                let message = format!("the invariant of {}{name} would be false", process(p).name);
                let span = at.map(|l| l.invariant.as_ref().map_or(l.span, |i| i.span));
                (BlockedKind::Invariant, message, span)
            }
            Reason::Priority { by } => {
                let name = by.edges.first().map(|edge| &process(&edge.0).name);
                let name = name.map(|n| format!(" of {n}")).unwrap_or_default();
                let message = format!("a transition{name} with higher priority is possible");
                (BlockedKind::Priority, message, edge_span(by))
            }
            Reason::Error { message, span } => (BlockedKind::Error, message.clone(), *span),
        }
    }
}
