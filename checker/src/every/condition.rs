//! Conditions over clocks: where a guard may hold, what an invariant certainly demands, and where a
//! claim may be violated.

use super::eval::{Choices, Eval, Evaluator, Halt, broken};
use crate::mutation::{Mutation, is_on};
use crate::zone::Bound;
use crate::zone::bound::{self, le, lt};
use zonelens_analysis::every::has_clocks;
use zonelens_analysis::network::{BinaryOp, ClockRef, CompareOp, Expr, ExprKind, UnaryOp};
use zonelens_syntax::ast::QuantifierKind;

/// `x_i - x_j` is within a bound; clocks of the network counted from 1, 0 is the constant zero.
pub(crate) type Atom = (usize, usize, Bound);

/// Atoms that hold together.
pub(crate) type Conjunction = Vec<Atom>;

/// The most alternatives of one condition.
const MOST_ALTERNATIVES: usize = 256;

/// For whom a condition is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A guard: elements outside may decide a quantifier.
    Guard,
    /// A claim: the witnesses of a violation are members.
    Claim,
}

/// What invariants certainly demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Certain {
    /// The atoms.
    pub atoms: Conjunction,
    /// Whether they cannot be met.
    pub never: bool,
}

fn negate(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    }
}

fn both(a: Vec<Conjunction>, b: &[Conjunction]) -> Eval<Vec<Conjunction>> {
    if a.len() * b.len() > MOST_ALTERNATIVES {
        return broken("a condition over clocks has too many alternatives");
    }
    let join = |x: &Conjunction, y: &Conjunction| x.iter().chain(y).copied().collect();
    Ok(a.iter()
        .flat_map(|x| b.iter().map(move |y| join(x, y)))
        .collect())
}

fn truth(value: bool) -> Vec<Conjunction> {
    if value { vec![Vec::new()] } else { Vec::new() }
}

impl Evaluator<'_> {
    /// Where a condition may have the wanted value: alternatives of conjunctions, more rather than
    /// fewer.
    pub(crate) fn condition(
        &mut self,
        e: &Expr,
        want: bool,
        reading: Reading,
    ) -> Eval<Vec<Conjunction>> {
        if reading == Reading::Guard && !has_clocks(e) {
            return Ok(truth(self.truth(e)? == want));
        }
        match &e.kind {
            ExprKind::Clock {
                left,
                right,
                op,
                bound,
            } => {
                let op = if want { *op } else { negate(*op) };
                self.compare(left, right.as_ref(), op, bound)
            }
            ExprKind::Unary(UnaryOp::Not, a) => self.condition(a, !want, reading),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let left = self.condition(a, want, reading)?;
                if (*op == BinaryOp::And) == want {
                    if left.is_empty() {
                        return Ok(left);
                    }
                    let right = self.condition(b, want, reading)?;
                    return both(left, &right);
                }
                if left.contains(&Vec::new()) {
                    return Ok(left);
                }
                let right = self.condition(b, want, reading)?;
                Ok(left.into_iter().chain(right).collect())
            }
            ExprKind::Cond(c, a, b) if !has_clocks(c) => {
                let branch = if self.truth(c)? { a } else { b };
                self.condition(branch, want, reading)
            }
            ExprKind::Quantifier {
                kind,
                slot,
                range,
                body,
            } if *kind != QuantifierKind::Sum => {
                let (values, others) = self.range(range);
                let one_decides = (*kind == QuantifierKind::Exists) == want;
                if one_decides && others && reading == Reading::Guard && self.open() {
                    return Ok(truth(true));
                }
                let mut out = truth(!one_decides);
                for v in values {
                    self.bind(*slot, v);
                    let part = self.condition(body, want, reading)?;
                    match one_decides {
                        true => out.extend(part),
                        false => out = both(out, &part)?,
                    }
                    if out.len() > MOST_ALTERNATIVES {
                        return broken("a condition over clocks has too many alternatives");
                    }
                }
                Ok(out)
            }
            _ if !has_clocks(e) => Ok(truth(self.truth(e)? == want)),
            _ => broken("a condition over clocks of this form is not followed"),
        }
    }

    /// The conjuncts of a guard: one that fails counts only where no other one is false.
    pub(crate) fn guard(&mut self, guard: &Expr) -> Eval<Vec<Conjunction>> {
        let mut parts = Vec::new();
        conjuncts(guard, &mut parts);
        let (mut out, mut halt) = (truth(true), None);
        for part in parts {
            match self.condition(part, true, Reading::Guard) {
                Ok(found) if found.is_empty() => return Ok(found),
                Ok(found) => out = both(out, &found)?,
                Err(Halt::Unseen) => halt = Some(Halt::Unseen),
                Err(other) => {
                    halt.get_or_insert(other);
                }
            }
        }
        halt.map_or(Ok(out), Err)
    }

    fn compare(
        &mut self,
        left: &ClockRef,
        right: Option<&ClockRef>,
        op: CompareOp,
        bound: &Expr,
    ) -> Eval<Vec<Conjunction>> {
        let (i, j, c) = self.atom(left, right, bound)?;
        let (less, at_most) = ((i, j, lt(c)), (i, j, le(c)));
        let (more, at_least) = ((j, i, lt(-c)), (j, i, le(-c)));
        Ok(match op {
            CompareOp::Lt => vec![vec![less]],
            CompareOp::Le => vec![vec![at_most]],
            CompareOp::Gt => vec![vec![more]],
            CompareOp::Ge => vec![vec![at_least]],
            CompareOp::Eq => vec![vec![at_most, at_least]],
            CompareOp::Ne => vec![vec![less], vec![more]],
        })
    }

    /// The clocks and the constant of a comparison. The constant is evaluated first, so that its
    /// failures are found also where a clock belongs to an element outside.
    fn atom(
        &mut self,
        left: &ClockRef,
        right: Option<&ClockRef>,
        bound: &Expr,
    ) -> Eval<(usize, usize, i32)> {
        let c = self.eval(bound)?;
        let c = match i32::try_from(c) {
            Ok(c) if i64::from(c).abs() < bound::CONSTANT_LIMIT => c,
            _ => return broken("a clock is compared with a number that is too large"),
        };
        let left = self.clock(left)? + 1;
        let right = match right {
            Some(right) => self.clock(right)? + 1,
            None => 0,
        };
        Ok((left, right, c))
    }

    /// The value of an evaluation if it is the same for all choices and everything was seen.
    fn certainly<T: PartialEq>(
        &mut self,
        mut act: impl FnMut(&mut Self) -> Eval<T>,
    ) -> Eval<Option<T>> {
        let outer = std::mem::take(&mut self.choices);
        let mut value = None;
        let mut certain = true;
        let result = loop {
            match act(self) {
                Ok(v) => match &value {
                    Some(old) => certain &= *old == v,
                    None => value = Some(v),
                },
                Err(Halt::Unseen) => certain = false,
                Err(other) => break Err(other),
            }
            match self.choices.next() {
                Ok(true) => {}
                Ok(false) => break Ok(value.filter(|_| certain)),
                Err(halt) => break Err(halt),
            }
        };
        self.choices = outer;
        result
    }

    /// What an invariant certainly demands: parts that depend on elements outside demand nothing.
    pub(crate) fn invariant(&mut self, e: &Expr, out: &mut Certain) -> Eval<()> {
        if !has_clocks(e) {
            let value = self.certainly(|s| s.truth(e))?;
            let missed = value.is_none() && is_on(Mutation::EveryInvariantClosed);
            out.never |= value == Some(false) || missed;
            return Ok(());
        }
        match &e.kind {
            ExprKind::Binary(BinaryOp::And, a, b) => {
                self.invariant(a, out)?;
                self.invariant(b, out)
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !has_clocks(a) || !has_clocks(b) => {
                let (plain, clocks) = if has_clocks(a) { (b, a) } else { (a, b) };
                match self.certainly(|s| s.truth(plain))? {
                    Some(true) => Ok(()),
                    Some(false) => self.invariant(clocks, out),
                    None => self.invariant(clocks, &mut Certain::default()),
                }
            }
            ExprKind::Clock {
                left,
                right,
                op,
                bound,
            } => {
                let atom = self.certainly(|s| s.compare(left, right.as_ref(), *op, bound))?;
                if let Some([one]) = atom.as_deref() {
                    out.atoms.extend(one);
                }
                Ok(())
            }
            ExprKind::Quantifier {
                kind: QuantifierKind::Forall,
                slot,
                range,
                body,
            } => {
                for v in self.range(range).0 {
                    self.bind(*slot, v);
                    self.invariant(body, out)?;
                }
                Ok(())
            }
            // Not convex: it demands nothing, but must not fail.
            _ => self
                .certainly(|s| s.condition(e, true, Reading::Guard))
                .map(drop),
        }
    }

    /// All alternatives over all choices; whether it is true without a clock for every choice; and
    /// whether no choice saw the part of an element outside.
    pub(crate) fn all_guards(&mut self, guard: Option<&Expr>) -> Eval<(Vec<Conjunction>, bool)> {
        let Some(guard) = guard else {
            return Ok((truth(true), true));
        };
        self.choices = Choices::default();
        let (mut all, mut certain) = (Vec::new(), true);
        loop {
            match self.guard(guard) {
                Ok(found) => {
                    certain &= found.contains(&Vec::new());
                    for one in found {
                        if !all.contains(&one) {
                            all.push(one);
                        }
                    }
                }
                Err(Halt::Unseen) => certain = false,
                Err(other) => return Err(other),
            }
            if !self.choices.next()? {
                break;
            }
        }
        if is_on(Mutation::EveryOpenObliges) {
            certain = all.contains(&Vec::new());
        }
        Ok((all, certain))
    }
}

fn conjuncts<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        _ => out.push(e),
    }
}
