//! `sup`, `inf`, `bounds`: the least and greatest value of expressions over all reachable states.

use crate::graph::Visitor;
use crate::graph::expander::Expander;
use crate::graph::goal::Goal;
use crate::graph::throughout::may_wait;
use crate::program::{ClockCode, Fault, Measured, Program};
use crate::zone::bound::{self, INF};
use crate::zone::{Federation, Lazy, Zone};
use zonelens_analysis::report::BoundsValue;

/// The range of one expression so far. Bounds of clocks are encoded like those of zones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    /// Greatest value, and whether it is only approached; `None` before the first value.
    pub upper: Option<(i64, bool)>,
    /// Least value, and whether it is only approached.
    pub lower: Option<(i64, bool)>,
    /// The value is unbounded.
    pub unbounded: bool,
    /// A node where the value exceeds what the abstraction keeps, so that its range is not known
    /// yet.
    pub beyond: Option<u32>,
}

impl Range {
    fn above(&mut self, value: i64, strict: bool) {
        let better = self
            .upper
            .is_none_or(|(v, s)| value > v || (value == v && s && !strict));
        if better {
            self.upper = Some((value, strict));
        }
    }

    fn below(&mut self, value: i64, strict: bool) {
        let better = self
            .lower
            .is_none_or(|(v, s)| value < v || (value == v && s && !strict));
        if better {
            self.lower = Some((value, strict));
        }
    }

    /// The range as the report shows it.
    pub(crate) fn value(&self) -> BoundsValue {
        let upper = if self.unbounded { None } else { self.upper };
        BoundsValue {
            lower: self.lower.map(|l| l.0),
            upper: upper.map(|u| u.0),
            lower_strict: self.lower.is_some_and(|l| l.1),
            upper_strict: upper.is_some_and(|u| u.1),
        }
    }
}

/// Measures expressions in every state.
pub(crate) struct Extremes<'p> {
    expander: Expander<'p>,
    condition: Option<Goal<'p>>,
    exprs: &'p [Measured],
    frame: u32,
    /// The bound up to which the abstraction keeps the measured clocks.
    limit: i32,
    /// One per expression.
    pub ranges: Vec<Range>,
}

impl<'p> Extremes<'p> {
    /// Measures `exprs` where the condition holds.
    pub(crate) fn new(
        program: &'p Program,
        condition: Option<Goal<'p>>,
        exprs: &'p [Measured],
        frame: u32,
        limit: i32,
    ) -> Extremes<'p> {
        Extremes {
            expander: Expander::new(program),
            condition,
            exprs,
            frame,
            limit,
            ranges: vec![Range::default(); exprs.len()],
        }
    }

    fn measure_clock(
        &mut self,
        index: usize,
        clocks: (&ClockCode, Option<&ClockCode>),
        state: &mut [i32],
        parts: &Federation,
        stays: bool,
        node: u32,
    ) -> Result<(), Fault> {
        let program = self.expander.program;
        self.expander.machine.frame(self.frame, &[]);
        let mut index_of = |clock: &ClockCode| {
            let clock = self.expander.machine.clock(program, clock, state);
            clock.map_or_else(|fault| Err(fault.of_query()), |c| Ok(c as usize + 1))
        };
        let i = index_of(clocks.0)?;
        let j = clocks.1.map_or(Ok(0), index_of)?;
        let range = &mut self.ranges[index];
        for part in parts {
            let (high, low) = (part.at(i, j), part.at(j, i));
            let limit = self.limit;
            // Beyond its bound, the abstraction keeps neither the value of a clock nor its distance
            // from other clocks.
            let lost = |x: usize| x != 0 && part.at(x, 0) > bound::le(limit);
            if j != 0 && (lost(i) || lost(j)) {
                range.beyond.get_or_insert(node);
                continue;
            }
            if lost(i) {
                // If time may pass for ever in the zone, its missing upper bound is exact.
                if stays && part.at(i, 0) == INF {
                    range.unbounded = true;
                } else {
                    range.beyond.get_or_insert(node);
                }
            } else {
                range.above(i64::from(bound::value(high)), bound::is_strict(high));
            }
            range.below(-i64::from(bound::value(low)), bound::is_strict(low));
        }
        Ok(())
    }
}

impl Visitor for Extremes<'_> {
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, node: u32) -> Result<bool, Fault> {
        let parts = match &mut self.condition {
            Some(goal) => goal.part(state, zone)?,
            None => vec![Zone::clone(zone)],
        };
        if parts.is_empty() {
            return Ok(false);
        }
        let program = self.expander.program;
        let exprs = self.exprs;
        for (index, measured) in exprs.iter().enumerate() {
            match measured {
                Measured::Int(code) => {
                    self.expander.machine.frame(self.frame, &[]);
                    let value = self.expander.machine.eval(program, code, state);
                    let value = i64::from(value.map_err(Fault::of_query)?);
                    self.ranges[index].above(value, false);
                    self.ranges[index].below(value, false);
                }
                Measured::Clock(left, right) => {
                    let stays = parts.iter().any(Zone::unbounded) && self.may_stay(state, zone)?;
                    self.measure_clock(index, (left, right.as_ref()), state, &parts, stays, node)?;
                }
            }
        }
        Ok(false)
    }
}

impl Extremes<'_> {
    /// Whether time may pass for ever, that is, no invariant bounds any clock.
    fn may_stay(&mut self, state: &mut [i32], zone: &Zone) -> Result<bool, Fault> {
        let delay = self.expander.delay_of(state)?;
        if !may_wait(&delay, zone) || self.expander.program.has_rates {
            return Ok(false);
        }
        let mut invariant = Vec::new();
        self.expander.invariant_constraints(state, &mut invariant)?;
        Ok(invariant.iter().all(|c| c.i == 0 || c.j != 0))
    }
}
