//! Builds traces: scheduled, replayed and described.

use crate::graph::expander::Expander;
use crate::graph::steps::NamedStep;
use crate::program::{Fault, FaultKind, Program};
use crate::witness::{Condition, Conditions, Path, PathStep, follow, schedule, shorten_path};
use crate::zone::Zone;
use zonelens_analysis::network::{ChannelId, Expr, Network, Position, Query};
use zonelens_analysis::report::{Options, Trace, TraceKind, TraceOption};
use zonelens_interpreter::{
    ConcreteEdge, ConcreteStep, Evaluator, Failure, Limit, Replayed, fails, is_dead, replay,
};
use zonelens_syntax::span::Span;

/// Everything that is needed to turn a result into a trace of the model as written.
#[derive(Clone, Copy)]
pub(crate) struct Tracer<'a> {
    pub network: &'a Network,
    pub query: &'a Query,
    pub options: &'a Options,
    pub position: &'a (dyn Fn(Span) -> Position + Sync),
    pub program: &'a Program,
    /// When the work must end.
    pub limit: Limit<'a>,
}

impl<'a> Tracer<'a> {
    /// A run along a path that ends in the given part of its last state. `check` is the value that
    /// the query's condition must have in the last concrete state, and whether the condition
    /// contains `deadlock`.
    pub(crate) fn path_trace(
        &self,
        leaves: &[PathStep],
        at_end: Condition<'_>,
        check: Option<(&Expr, bool, bool)>,
    ) -> Result<Trace, Failure> {
        let replayed = self.path_replayed(leaves, at_end)?;
        if let (Some((expr, wanted, has_deadlock)), Some(last)) = (check, replayed.states.last()) {
            let mut last = last.clone();
            let dead = match has_deadlock {
                true => Some(is_dead(self.network, &last)?),
                false => None,
            };
            let mut evaluator = Evaluator::new(self.network, &mut last, self.query.frame);
            evaluator.dead = dead;
            let value = evaluator.eval(expr)?;
            if (value != 0) != wanted {
                return Err(Failure("the last state does not have the property".into()));
            }
        }
        Ok(path_of(replayed))
    }

    /// A run along a path to a state where the model fails as the search found, with the fault that
    /// occurs there. The interpreter must fail there too.
    pub(crate) fn error_trace(
        &self,
        leaves: &[PathStep],
        fault: &Fault,
    ) -> Result<(Trace, Fault), Failure> {
        let mut expander = Expander::new(self.program);
        let mut failing: Option<(Fault, Option<NamedStep>)> = None;
        let at_end: Condition<'_> = &mut |state, zone| {
            let Some(found) = expander.failing(fault, state, zone)? else {
                return Ok(Some(Vec::new()));
            };
            failing = Some((found.fault, found.step));
            Ok(Some(found.pieces))
        };
        let replayed = self.path_replayed(leaves, at_end)?;
        let (fault, step) = failing.unwrap_or((*fault, None));
        let step = step.map(|step| self.concrete_edges(&step));
        if let Some(last) = replayed.states.last()
            // The engine and the interpreter count loops differently.
            && fault.kind != FaultKind::StepLimit
            && !fails(self.network, last, step.as_deref())
        {
            return Err(Failure("nothing fails at the end of the run".into()));
        }
        Ok((path_of(replayed), fault))
    }

    fn path_replayed(
        &self,
        leaves: &[PathStep],
        at_end: Condition<'_>,
    ) -> Result<Replayed, Failure> {
        let mut whenever = |_: &mut [i32], _: &Zone| Ok(None);
        let mut always = |_: &mut [i32], _: &Zone| Ok(None);
        // If the shortest or the fastest trace was asked for, the trace is already that.
        let shorter = match self.options.trace {
            TraceOption::Some => {
                let conditions = Conditions {
                    limit: self.limit,
                    at_pivot: &mut whenever,
                    along: &mut always,
                    at_end,
                };
                shorten_path(self.program, leaves, conditions).ok()
            }
            _ => None,
        };
        let conditions = Conditions {
            limit: self.limit,
            at_pivot: &mut whenever,
            along: &mut always,
            at_end,
        };
        self.replayed(shorter.as_deref().unwrap_or(leaves), conditions)
    }

    /// Schedules a path.
    pub(crate) fn timed(
        &self,
        leaves: &[PathStep],
        conditions: Conditions<'_>,
    ) -> Result<Timed, Failure> {
        let path = follow(self.program, leaves, conditions)
            .map_err(|fault| Failure(fault.kind.to_string()))?
            .ok_or(Failure("no run follows the path".into()))?;
        let timed = schedule(&path, &self.program.initial_clocks, &self.limit)
            .ok_or(Failure("the path has no schedule".into()))?;
        let pivot = leaves.iter().position(|leave| *leave == PathStep::Pivot);
        let (run, pivot) = self.concrete_run(&path, &timed.delays, pivot);
        Ok(Timed {
            unit: timed.unit,
            run,
            pivot,
        })
    }

    /// Schedules and replays a path.
    pub(crate) fn replayed(
        &self,
        leaves: &[PathStep],
        conditions: Conditions<'_>,
    ) -> Result<Replayed, Failure> {
        let timed = self.timed(leaves, conditions)?;
        self.replay(timed.unit, &timed.run)
    }

    /// Replays a run.
    pub(crate) fn replay(
        &self,
        unit: i64,
        run: &[(i64, Option<ConcreteStep>)],
    ) -> Result<Replayed, Failure> {
        let position = |span| (self.position)(span);
        replay(self.network, unit, run, &position, &self.limit)
    }

    /// The delays and steps, and where the stay with this number ends among them: the number of
    /// steps before, and the delay.
    #[allow(clippy::type_complexity)]
    fn concrete_run(
        &self,
        path: &Path,
        delays: &[i64],
        pivot: Option<usize>,
    ) -> (Vec<(i64, Option<ConcreteStep>)>, (usize, i64)) {
        let mut run = Vec::new();
        let mut waited = 0;
        let mut at = (0, 0);
        for (k, (stay, delay)) in path.stays.iter().zip(delays).enumerate() {
            waited += delay;
            if pivot == Some(k) {
                at = (run.len(), waited);
            }
            if let Some((taken, _)) = &stay.step {
                let step = ConcreteStep {
                    channel: taken.channel.map(ChannelId),
                    edges: self.concrete_edges(&taken.edges),
                };
                run.push((waited, Some(step)));
                waited = 0;
            }
        }
        if waited > 0 {
            run.push((waited, None));
        }
        (run, at)
    }

    /// The edges of a step as the interpreter numbers them.
    fn concrete_edges(&self, step: &NamedStep) -> Vec<ConcreteEdge> {
        let edges = step.iter().map(|(edge, values)| {
            let edge = &self.program.edges[*edge as usize];
            (edge.process, edge.index, values.clone())
        });
        edges.collect()
    }
}

fn path_of(replayed: Replayed) -> Trace {
    Trace {
        kind: TraceKind::Path,
        cycle_start: None,
        steps: replayed.steps,
    }
}

/// A run with its delays.
pub(crate) struct Timed {
    /// The number of parts of one time unit in which delays are given.
    pub unit: i64,
    pub run: Vec<(i64, Option<ConcreteStep>)>,
    /// The position of the pivot: the number of steps before it, and the delay after them; the
    /// start if the path has none.
    pub pivot: (usize, i64),
}
