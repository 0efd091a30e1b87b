//! What a simulation can say of a state in which nothing that may follow can be evaluated.

use super::Session;
use crate::replay::describe;
use crate::state::fraction;
use zonelens_analysis::network::Position;
use zonelens_analysis::simulation::{DelayInterval, Simulation, Wait, WaitEnd, WalkedStep};
use zonelens_syntax::span::Span;

impl Session {
    /// The present state with empty lists, because of `why`, the error that [`Session::view`] ended
    /// with.
    pub fn view_without_choices(
        &self,
        position: &dyn Fn(Span) -> Position,
        why: String,
    ) -> Simulation {
        let steps = self.walk.iter().zip(&self.states);
        let walk = steps.map(|(walked, before)| WalkedStep {
            delay: fraction(walked.delay, self.unit),
            fixed: walked.fixed,
            transition: describe(&self.network, &self.names, &walked.step, before, position),
        });
        let passed = self.walk[..self.at].iter().map(|w| w.delay).sum::<i64>() + self.waited;
        let message = self.message.clone().unwrap_or_else(|| why.clone());
        Simulation {
            step: self.at,
            length: self.walk.len(),
            unit: self.unit,
            time: fraction(passed, self.unit),
            waited: fraction(self.waited, self.unit),
            state: self.names.describe(&self.network, &self.now),
            walk: walk.collect(),
            possible: Vec::new(),
            groups: Vec::new(),
            other_delays: None,
            blocked: Vec::new(),
            left_out: 0,
            wait: Wait {
                delays: DelayInterval {
                    from: "0".into(),
                    from_open: false,
                    to: Some("0".into()),
                    to_open: false,
                },
                window: "[0, 0]".into(),
                end: WaitEnd::Error,
                process: None,
                message: why,
            },
            choosing: None,
            zone: self.zone.as_ref().map(|answer| answer.zone.clone()),
            complete: false,
            message: Some(message),
        }
    }
}
