//! Clock conditions over a discrete state: conjunctions of constraints, and federations for all
//! other forms.

use super::code::{AtomCode, Formula};
use super::eval::Machine;
use super::fault::{Fault, FaultKind};
use super::model::{Guard, Program};
use crate::mutation::{Mutation, is_on};
use crate::zone::bound::{self, Bound, CONSTANT_LIMIT, le, lt};
use crate::zone::{Federation, Zone, is_too_large, subtract_all};
use zonelens_analysis::network::CompareOp;

/// The constraint `x_i - x_j ~ b`, in matrix indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constraint {
    /// The clock on the left; 0 is the constant zero.
    pub i: u32,
    /// The clock that is subtracted.
    pub j: u32,
    /// The bound.
    pub b: Bound,
}

/// Constraints that must all hold.
pub(crate) type Conjunction = Vec<Constraint>;

/// Tightens the zone by all constraints; returns whether it is not empty.
pub(crate) fn constrain(zone: &mut Zone, constraints: &[Constraint]) -> bool {
    constraints
        .iter()
        .all(|c| zone.and(c.i as usize, c.j as usize, c.b))
}

/// Lets time pass inside constraints that the zone satisfies.
pub(crate) fn pass_time(zone: &mut Zone, constraints: &[Constraint]) {
    let mut uppers: smallvec::SmallVec<[(usize, Bound); 16]> = smallvec::SmallVec::new();
    for c in constraints.iter().filter(|c| c.i != 0 && c.j == 0) {
        uppers.push((c.i as usize, c.b));
    }
    zone.up_below(&uppers);
    // Lower bounds and differences already hold, and time cannot violate them.
}

fn negated(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    }
}

impl Machine {
    /// The two clocks and the constant of an atom. A constant beyond the limit keeps a value for
    /// which the zone operation reports an overflow.
    fn atom(
        &mut self,
        program: &Program,
        atom: &AtomCode,
        state: &mut [i32],
    ) -> Result<(u32, u32, i32), Fault> {
        let left = self.clock(program, &atom.left, state)? + 1;
        let right = match &atom.right {
            Some(clock) => self.clock(program, clock, state)? + 1,
            None => 0,
        };
        let limit = 4 * CONSTANT_LIMIT as i32 - 1;
        let c = self.eval(program, &atom.bound, state)?.clamp(-limit, limit);
        Ok((left, right, c))
    }

    fn atom_constraints(
        &mut self,
        program: &Program,
        atom: &AtomCode,
        positive: bool,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Result<(), Fault> {
        let (i, j, c) = self.atom(program, atom, state)?;
        let op = if positive { atom.op } else { negated(atom.op) };
        let (upper, lower) = ((i, j), (j, i));
        let mut push = |(i, j): (u32, u32), b| out.push(Constraint { i, j, b });
        match op {
            CompareOp::Lt if is_on(Mutation::LostStrictness) => push(upper, le(c)),
            CompareOp::Lt => push(upper, lt(c)),
            CompareOp::Le => push(upper, le(c)),
            CompareOp::Ge => push(lower, le(-c)),
            CompareOp::Gt => push(lower, lt(-c)),
            CompareOp::Eq => {
                push(upper, le(c));
                push(lower, le(-c));
            }
            CompareOp::Ne => return Err(FaultKind::NotConvex.at(atom.span)),
        }
        Ok(())
    }

    /// Whether the integer conjuncts of a guard hold. The frame must be set.
    #[inline]
    pub(crate) fn ints_hold(
        &mut self,
        program: &Program,
        guard: &Guard,
        state: &mut [i32],
    ) -> Result<bool, Fault> {
        for code in &guard.ints {
            if !self.is_true(program, code, state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the clock constraints of a guard whose integer conjuncts hold; returns whether they can
    /// hold at all.
    #[inline]
    pub(crate) fn clock_constraints(
        &mut self,
        program: &Program,
        guard: &Guard,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Result<bool, Fault> {
        for atom in &guard.atoms {
            self.atom_constraints(program, atom, true, state, out)?;
        }
        for part in &guard.mixed {
            if !self.conjunction(program, part, true, state, out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the clock constraints of those parts of a guard that do not fail; returns whether they
    /// can hold at all.
    pub(crate) fn constraints_without_failing(
        &mut self,
        program: &Program,
        guard: &Guard,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> bool {
        for atom in &guard.atoms {
            // A part that fails adds nothing.
            let _ = self.atom_constraints(program, atom, true, state, out);
        }
        for part in &guard.mixed {
            let known = out.len();
            match self.conjunction(program, part, true, state, out) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(_) => out.truncate(known),
            }
        }
        true
    }

    /// Adds the constraints of a condition that is a conjunction once the integers are known;
    /// returns whether it can hold.
    fn conjunction(
        &mut self,
        program: &Program,
        formula: &Formula,
        positive: bool,
        state: &mut [i32],
        out: &mut Conjunction,
    ) -> Result<bool, Fault> {
        match formula {
            Formula::Int(code) => Ok((self.eval(program, code, state)? != 0) == positive),
            Formula::Atom(atom) => self
                .atom_constraints(program, atom, positive, state, out)
                .map(|()| true),
            Formula::Not(part) => self.conjunction(program, part, !positive, state, out),
            Formula::And(parts) | Formula::Or(parts) => {
                if matches!(formula, Formula::And(_)) == positive {
                    for part in parts {
                        if !self.conjunction(program, part, positive, state, out)? {
                            return Ok(false);
                        }
                    }
                    return Ok(true);
                }
                let mut found = None;
                for part in parts {
                    if !self.alternative(program, part, positive, state, &mut found)? {
                        return Ok(true);
                    }
                }
                Ok(take_alternative(found, out))
            }
            Formula::Quantified {
                all,
                slot,
                lo,
                len,
                body,
                later,
            } => {
                let mut found = None;
                for k in 0..*len {
                    let body = later.as_ref().filter(|_| k > 0).unwrap_or(body);
                    self.set_slot(*slot, lo + k as i32);
                    if *all == positive {
                        if !self.conjunction(program, body, positive, state, out)? {
                            return Ok(false);
                        }
                    } else if !self.alternative(program, body, positive, state, &mut found)? {
                        return Ok(true);
                    }
                }
                Ok(*all == positive || take_alternative(found, out))
            }
            Formula::Rate(..) => Ok(true),
            Formula::Deadlock => Ok(false),
        }
    }

    /// Handles one side of a disjunction; returns false if it holds for all clock values. If a
    /// second side depends on clocks, the condition is not convex.
    fn alternative(
        &mut self,
        program: &Program,
        part: &Formula,
        positive: bool,
        state: &mut [i32],
        found: &mut Option<Conjunction>,
    ) -> Result<bool, Fault> {
        let mut own = Vec::new();
        if self.conjunction(program, part, positive, state, &mut own)? {
            if own.is_empty() {
                return Ok(false);
            }
            if found.is_some() {
                return Err(FaultKind::NotConvex.at(formula_span(part)));
            }
            *found = Some(own);
        }
        Ok(true)
    }

    /// The part of `zones` where the condition is true (or false). `dead` is the part of all of
    /// them without a way out, for `deadlock`. Exact: the result is a federation.
    pub(crate) fn restrict(
        &mut self,
        program: &Program,
        formula: &Formula,
        positive: bool,
        zones: Federation,
        state: &mut [i32],
        dead: &[Zone],
    ) -> Result<Federation, Fault> {
        if zones.is_empty() {
            return Ok(zones);
        }
        match formula {
            Formula::Int(code) => {
                let holds = (self.eval(program, code, state)? != 0) == positive;
                Ok(if holds { zones } else { Vec::new() })
            }
            Formula::Atom(atom) => self.restrict_atom(program, atom, positive, zones, state),
            Formula::Not(part) => self.restrict(program, part, !positive, zones, state, dead),
            Formula::And(parts) | Formula::Or(parts) => {
                let all = matches!(formula, Formula::And(_)) == positive;
                let mut rest = zones;
                let mut result = Vec::new();
                for part in parts {
                    if all {
                        rest = self.restrict(program, part, positive, rest, state, dead)?;
                    } else {
                        result.extend(self.restrict(
                            program,
                            part,
                            positive,
                            rest.clone(),
                            state,
                            dead,
                        )?);
                        rest = self.restrict(program, part, !positive, rest, state, dead)?;
                    }
                    if rest.is_empty() {
                        break;
                    }
                    must_be_kept(&rest, &result)?;
                }
                Ok(if all { rest } else { result })
            }
            Formula::Quantified {
                all,
                slot,
                lo,
                len,
                body,
                later,
            } => {
                let mut rest = zones;
                let mut result = Vec::new();
                for k in 0..*len {
                    let body = later.as_ref().filter(|_| k > 0).unwrap_or(body);
                    self.set_slot(*slot, lo + k as i32);
                    if *all == positive {
                        rest = self.restrict(program, body, positive, rest, state, dead)?;
                    } else {
                        result.extend(self.restrict(
                            program,
                            body,
                            positive,
                            rest.clone(),
                            state,
                            dead,
                        )?);
                        self.set_slot(*slot, lo + k as i32);
                        rest = self.restrict(program, body, !positive, rest, state, dead)?;
                    }
                    if rest.is_empty() {
                        break;
                    }
                    must_be_kept(&rest, &result)?;
                }
                Ok(if *all == positive { rest } else { result })
            }
            Formula::Rate(..) => Ok(if positive { zones } else { Vec::new() }),
            Formula::Deadlock if positive => Ok(intersect_all(&zones, dead)),
            Formula::Deadlock => Ok(subtract_all(zones, dead)),
        }
    }

    fn restrict_atom(
        &mut self,
        program: &Program,
        atom: &AtomCode,
        positive: bool,
        zones: Federation,
        state: &mut [i32],
    ) -> Result<Federation, Fault> {
        let (i, j, c) = self.atom(program, atom, state)?;
        let op = if positive { atom.op } else { negated(atom.op) };
        let (i, j) = (i as usize, j as usize);
        let alternatives: &[&[(usize, usize, Bound)]] = match op {
            CompareOp::Lt => &[&[(i, j, lt(c))]],
            CompareOp::Le => &[&[(i, j, le(c))]],
            CompareOp::Ge => &[&[(j, i, le(-c))]],
            CompareOp::Gt => &[&[(j, i, lt(-c))]],
            CompareOp::Eq => &[&[(i, j, le(c)), (j, i, le(-c))]],
            CompareOp::Ne => &[&[(i, j, lt(c))], &[(j, i, lt(-c))]],
        };
        let mut result = Vec::new();
        for zone in zones {
            for cuts in alternatives {
                let mut piece = zone.clone();
                if cuts.iter().all(|&(i, j, b)| piece.and(i, j, b)) {
                    result.push(piece);
                }
            }
        }
        Ok(result)
    }
}

/// Fails if the unions have grown too large.
fn must_be_kept(rest: &[Zone], result: &[Zone]) -> Result<(), Fault> {
    match is_too_large(rest) || is_too_large(result) {
        true => Err(FaultKind::TooManyParts.nowhere()),
        false => Ok(()),
    }
}

/// All non-empty intersections.
pub(crate) fn intersect_all(zones: &[Zone], others: &[Zone]) -> Federation {
    let mut result = Vec::new();
    for zone in zones {
        for other in others {
            let mut both = zone.clone();
            if both.intersect(other) {
                result.push(both);
            }
        }
    }
    result
}

fn take_alternative(found: Option<Conjunction>, out: &mut Conjunction) -> bool {
    match found {
        Some(constraints) => {
            out.extend(constraints);
            true
        }
        None => false,
    }
}

fn formula_span(formula: &Formula) -> zonelens_syntax::span::Span {
    let mut span = None;
    formula.walk(&mut |part| {
        if let Formula::Atom(atom) = part {
            span.get_or_insert(atom.span);
        }
    });
    span.unwrap_or_default()
}

/// Converts a constraint on the state after updates to one on the state before them: the weakest
/// precondition under the clock operations. `None` if it is false, an empty list if it is true.
pub(crate) fn before_ops(
    constraint: Constraint,
    ops: &[super::ClockOp],
) -> Option<Option<Constraint>> {
    // Each side is a clock plus a constant, traced backwards through the operations.
    let trace_back = |index: u32| {
        let (mut clock, mut value) = (index, 0i64);
        for op in ops.iter().rev() {
            match *op {
                super::ClockOp::Set(x, v) if clock == x + 1 => (clock, value) = (0, i64::from(v)),
                super::ClockOp::Copy(x, y) if clock == x + 1 => clock = y + 1,
                _ => {}
            }
        }
        (clock, value)
    };
    let ((i, vi), (j, vj)) = (trace_back(constraint.i), trace_back(constraint.j));
    let c = i64::from(bound::value(constraint.b)) - vi + vj;
    let c = c.clamp(-(4 * CONSTANT_LIMIT - 1), 4 * CONSTANT_LIMIT - 1) as i32;
    let b = if bound::is_strict(constraint.b) {
        lt(c)
    } else {
        le(c)
    };
    if i == j {
        return (b >= bound::LE_ZERO).then_some(None);
    }
    Some(Some(Constraint { i, j, b }))
}
