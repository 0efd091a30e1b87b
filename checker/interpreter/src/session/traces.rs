//! Simulations that start from a trace, and traces of simulations.

use super::fraction::Fraction;
use super::{Session, Walked};
use crate::limit::Limit;
use crate::replay::describe;
use crate::retrace::edges;
use crate::state::{Concrete, fraction};
use crate::steps::ConcreteStep;
use std::sync::Arc;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{Trace, TraceKind, TraceStep};
use zonelens_syntax::span::Span;

impl Session {
    /// A simulation with the transitions and delays of a trace, positioned at one of its steps. The
    /// delays are free. `Err` says what does not fit.
    pub fn from_trace(
        network: Arc<Network>,
        trace: &Trace,
        step: usize,
        limit: Limit<'_>,
    ) -> Result<Session, String> {
        if step >= trace.steps.len() {
            return Err(format!("the trace has no step {step}"));
        }
        let mut session = Session::new(network)?;
        // The position of the requested step: the transitions before it, and the time after the
        // last of them.
        let (mut at, mut waited) = (0, None);
        for (number, told) in trace.steps.iter().enumerate().skip(1) {
            if limit.is_over().is_some() {
                return Err("the trace takes too long to replay".into());
            }
            let refused = |why: String| format!("step {number}: {why}");
            let delay = Fraction::read(&told.delay).map_err(refused)?;
            match &told.transition {
                Some(transition) => {
                    let edges = edges(session.network(), transition)
                        .ok_or_else(|| refused("the model has no such edge".into()))?;
                    let step = ConcreteStep {
                        channel: None,
                        edges,
                    };
                    session.push(&step, delay, false).map_err(refused)?;
                }
                None => session.delay(delay, limit).map_err(refused)?,
            }
            if number == step {
                at = session.at;
                waited = (session.waited > 0).then(|| fraction(session.waited, session.unit));
            }
        }
        if step + 1 < trace.steps.len() || waited.is_none() {
            session.goto(at)?;
        }
        if let Some(waited) = waited.filter(|_| session.waited == 0) {
            session.delay(Fraction::read(&waited)?, limit)?;
        }
        Ok(session)
    }

    /// The walk up to the present state as a trace, including the time since the last transition.
    pub fn trace(&self, position: &dyn Fn(Span) -> Position) -> Trace {
        self.trace_of(self.at, self.waited, position)
    }

    /// The whole walk as a trace, including the transitions after the present state.
    pub fn whole_trace(&self, position: &dyn Fn(Span) -> Position) -> Trace {
        let waited = if self.at == self.walk.len() {
            self.waited
        } else {
            0
        };
        self.trace_of(self.walk.len(), waited, position)
    }

    fn trace_of(&self, count: usize, waited: i64, position: &dyn Fn(Span) -> Position) -> Trace {
        let shown = |state: &Concrete| self.names.describe(&self.network, state);
        let mut steps = vec![TraceStep {
            delay: "0".into(),
            transition: None,
            state: shown(&self.states[0]),
        }];
        let walked = self.walk.iter().zip(self.states.windows(2)).take(count);
        steps.extend(walked.map(|(Walked { delay, step, .. }, pair)| TraceStep {
            delay: fraction(*delay, self.unit),
            transition: Some(describe(
                &self.network,
                &self.names,
                step,
                &pair[0],
                position,
            )),
            state: shown(&pair[1]),
        }));
        if waited > 0 {
            steps.push(TraceStep {
                delay: fraction(waited, self.unit),
                transition: None,
                state: shown(&self.now),
            });
        }
        Trace {
            kind: TraceKind::Path,
            cycle_start: None,
            steps,
        }
    }
}
