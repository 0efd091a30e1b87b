//! The queries `sup`, `inf` and `bounds`.

use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::graph::goal::Goal;
use crate::program::Measured;
use crate::program::{Program, compile_clock, compile_code};
use crate::search::limits::Watch;
use crate::search::sequential::{Outcome, Settings};
use crate::store::passed_waiting::Covering;
use crate::strategy::extremes::Extremes;
use zonelens_analysis::network::{BoundsExpr, Expr};
use zonelens_analysis::report::{Reason, Verdict};

/// Clock bounds are raised at most to this value; after that the answer is `unknown`.
const LAST_BOUND: i32 = 1 << 20;

impl Run<'_> {
    pub(crate) fn extremes(
        &self,
        condition: Option<&Expr>,
        exprs: &[BoundsExpr],
        watch: &mut Watch<'_>,
    ) -> Answer {
        match self.try_extremes(condition, exprs, watch) {
            Ok(answer) | Err(answer) => answer,
        }
    }

    fn try_extremes(
        &self,
        condition: Option<&Expr>,
        exprs: &[BoundsExpr],
        watch: &mut Watch<'_>,
    ) -> Result<Answer, Answer> {
        let formula = condition.map(|e| self.formula(e)).transpose()?;
        let measured = exprs
            .iter()
            .map(|e| self.measured(e))
            .collect::<Result<Vec<_>, _>>()?;
        let plain = formula.as_ref().is_none_or(|f| !f.has_deadlock());
        let has_clocks = measured.iter().any(|m| matches!(m, Measured::Clock(..)));
        if self.program.has_rates && has_clocks {
            let reason = "clocks are stopped, so bounds of clocks are not exact".to_owned();
            return Err(Answer::because(
                Verdict::Unknown,
                Reason::Approximate(reason),
            ));
        }
        let mut bound = 0;
        loop {
            let own = self.bounds(&formula.iter().collect::<Vec<_>>())?;
            let mut bounds = own.clone();
            let start = raise(self.program, &mut bounds, &measured, bound);
            bound = bound.max(start);
            let goal = formula
                .as_ref()
                .map(|f| Goal::new(self.program, f, self.query.frame, true));
            let frame = self.query.frame;
            let mut extremes = Extremes::new(self.program, goal, &measured, frame, bound);
            let settings = Settings {
                // Hulls contain points that are not reachable.
                covering: Covering::Inclusion,
                ..self.settings(&bounds, plain)
            };
            let representative = self.representative(&settings);
            let settings = Run::without_alu(settings, has_clocks || representative.is_some());
            let audit = self.audit(&formula);
            let audit = audit.map(|a| a.measuring(self.program, &measured));
            let mut search = self.search(&bounds, settings, representative, audit);
            match search.run(&mut extremes, watch) {
                Outcome::Exhausted | Outcome::Found(_) => {}
                Outcome::Stopped(stop) => return Ok(Answer::stopped(stop)),
                Outcome::Asymmetric(message) => return Ok(Answer::internal(message)),
                Outcome::Fault(fault, node) => return Ok(self.fault(fault, &search, node)),
                Outcome::QueryFault(fault, _) => return Ok(self.query_error(fault)),
            }
            for (range, measured) in extremes.ranges.iter_mut().zip(&measured) {
                if let (Measured::Clock(clock, None), Some(node)) = (measured, range.beyond) {
                    range.unbounded |=
                        self.grows(clock, formula.as_ref(), (&search, node), &own, &settings);
                }
            }
            // A lower bound beyond the limit may come from the abstraction, or from a zone that
            // replaced others: values beyond the limit are not distinguished.
            let is_kept = |(value, strict): (i64, bool)| {
                let limit = i64::from(bound);
                value < limit || value == limit && !strict
            };
            let settled = extremes
                .ranges
                .iter()
                .zip(&measured)
                .all(|(range, measured)| {
                    matches!(measured, Measured::Int(_))
                        || (range.beyond.is_none() || range.unbounded)
                            && range.lower.is_none_or(is_kept)
                });
            if settled {
                let mut answer = Answer::verdict(Verdict::Satisfied);
                answer.symmetry = Some(self.symmetry_of(&search, answer.judged(watch)));
                answer.values = extremes.ranges.iter().map(|r| r.value()).collect();
                return Ok(answer);
            }
            if bound >= LAST_BOUND {
                let reason = format!("a clock exceeds {bound}; larger values are not followed");
                return Ok(Answer::because(
                    Verdict::Unknown,
                    Reason::Approximate(reason),
                ));
            }
            bound = (bound * 4).max(16);
        }
    }

    fn measured(&self, expr: &BoundsExpr) -> Result<Measured, Answer> {
        let compiled = match expr {
            BoundsExpr::Int(e) => compile_code(e).map(Measured::Int),
            BoundsExpr::Clock { left, right } => compile_clock(left).and_then(|left| {
                Ok(Measured::Clock(
                    left,
                    right.as_ref().map(compile_clock).transpose()?,
                ))
            }),
        };
        compiled.map_err(|error| Answer::unsupported(error.message))
    }
}

/// Raises the bounds of the measured clocks to `bound`, or to their own greatest constant if that
/// is greater. Returns the bound that was used.
fn raise(program: &Program, bounds: &mut Bounds, measured: &[Measured], bound: i32) -> i32 {
    let mut clocks = Vec::new();
    for m in measured {
        if let Measured::Clock(left, right) = m {
            clocks.extend(crate::bounds::clocks_of(program, left));
            if let Some(right) = right {
                clocks.extend(crate::bounds::clocks_of(program, right));
            }
        }
    }
    let greatest = clocks
        .iter()
        .map(|c| bounds.greatest(*c as usize))
        .max()
        .unwrap_or(0)
        .max(bound);
    for clock in clocks {
        bounds.raise(clock as usize, greatest);
    }
    greatest
}
