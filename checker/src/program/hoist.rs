//! Parts of quantifier bodies that need not be evaluated again.
//!
//! `forall (i : T) a(i) && b` is evaluated value by value, and after the first value `b` is known
//! to hold, because otherwise evaluation would have stopped. This matters because the body of a
//! quantifier extends as far to the right as possible: of two quantifiers joined by `&&`, the
//! second is inside the first, and what looks like 2 n conditions are n². The first value is
//! evaluated with the whole body, so evaluation errors are the same as before.

use super::code::*;
use zonelens_syntax::ast::QuantifierKind;

/// The body for all values except the first, if it is shorter.
pub(super) fn later_code(kind: QuantifierKind, slot: u32, body: &Code) -> Option<Code> {
    let (all, neutral) = match kind {
        QuantifierKind::Forall => (true, 1),
        QuantifierKind::Exists => (false, 0),
        QuantifierKind::Sum => return None,
    };
    let mut parts = Vec::new();
    flatten_code(body, all, &mut parts);
    let all_parts = parts.len();
    parts.retain(|part| mentions(part, slot));
    if parts.len() == all_parts {
        return None;
    }
    let join = |a: Code, b: &Code| match all {
        true => Code::And(Box::new((a, b.clone()))),
        false => Code::Or(Box::new((a, b.clone()))),
    };
    Some(match parts.split_first() {
        Some((first, rest)) => rest.iter().fold((*first).clone(), |a, b| join(a, b)),
        None => Code::Const(neutral),
    })
}

/// The same for a condition over clocks.
pub(super) fn later_formula(all: bool, slot: u32, body: &Formula) -> Option<Formula> {
    let mut parts = Vec::new();
    flatten_formula(body, all, &mut parts);
    let all_parts = parts.len();
    parts.retain(|part| formula_mentions(part, slot));
    if parts.len() == all_parts {
        return None;
    }
    let parts = parts.into_iter().cloned().collect();
    Some(if all {
        Formula::And(parts)
    } else {
        Formula::Or(parts)
    })
}

fn flatten_code<'c>(code: &'c Code, all: bool, into: &mut Vec<&'c Code>) {
    match (code, all) {
        (Code::And(sides), true) | (Code::Or(sides), false) => {
            flatten_code(&sides.0, all, into);
            flatten_code(&sides.1, all, into);
        }
        _ => into.push(code),
    }
}

fn flatten_formula<'f>(formula: &'f Formula, all: bool, into: &mut Vec<&'f Formula>) {
    match (formula, all) {
        (Formula::And(parts), true) | (Formula::Or(parts), false) => {
            parts.iter().for_each(|p| flatten_formula(p, all, into));
        }
        _ => into.push(formula),
    }
}

fn formula_mentions(formula: &Formula, slot: u32) -> bool {
    match formula {
        Formula::Int(code) => mentions(code, slot),
        Formula::Atom(atom) => {
            clock_mentions(&atom.left, slot)
                || atom.right.as_ref().is_some_and(|c| clock_mentions(c, slot))
                || mentions(&atom.bound, slot)
        }
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|p| formula_mentions(p, slot)),
        Formula::Not(part) | Formula::Quantified { body: part, .. } => formula_mentions(part, slot),
        Formula::Rate(parts, _) => clock_mentions(&parts.0, slot) || mentions(&parts.1, slot),
        Formula::Deadlock => false,
    }
}

/// Whether the expression may depend on a slot of the frame.
fn mentions(code: &Code, slot: u32) -> bool {
    let any = |parts: &[&Code]| parts.iter().any(|part| mentions(part, slot));
    match code {
        Code::Const(_) | Code::Cell(_) | Code::CellConst(..) => false,
        Code::Slot(s) => *s == slot,
        Code::Place(place) => place_mentions(place, slot),
        Code::Neg(a) | Code::Not(a) => mentions(a, slot),
        Code::Compare(_, sides)
        | Code::Binary(_, sides, _)
        | Code::And(sides)
        | Code::Or(sides) => any(&[&sides.0, &sides.1]),
        Code::Cond(parts) => any(&[&parts.0, &parts.1, &parts.2]),
        Code::Assign(assign) => {
            place_mentions(&assign.place, slot) || mentions(&assign.value, slot)
        }
        Code::Copy(parts) => place_mentions(&parts.0, slot) || block_mentions(&parts.1, slot),
        Code::Same(parts, _) => block_mentions(&parts.0, slot) || block_mentions(&parts.1, slot),
        Code::Call(call) => call_mentions(call, slot),
        Code::Quantifier(q) => mentions(&q.body, slot),
        Code::SetClock(parts, _) => clock_mentions(&parts.0, slot) || mentions(&parts.1, slot),
        Code::CopyClock(parts) => clock_mentions(&parts.0, slot) || clock_mentions(&parts.1, slot),
        Code::At(process, _) | Code::LocationOf(process) => steps_mention(&process.steps, slot),
    }
}

fn steps_mention(steps: &[StepCode], slot: u32) -> bool {
    steps.iter().any(|step| mentions(&step.index, slot))
}

fn place_mentions(place: &PlaceCode, slot: u32) -> bool {
    let at = matches!(place.base, PlaceBase::Slot(_) | PlaceBase::Ref(_));
    // A block of slots may contain it.
    at || steps_mention(&place.steps, slot)
}

fn clock_mentions(clock: &ClockCode, slot: u32) -> bool {
    clock.by_ref || steps_mention(&clock.steps, slot)
}

fn block_mentions(block: &BlockCode, slot: u32) -> bool {
    match block {
        BlockCode::Place(place) => place_mentions(place, slot),
        BlockCode::Call(call) => call_mentions(call, slot),
        BlockCode::Cond(parts) => {
            mentions(&parts.0, slot)
                || block_mentions(&parts.1, slot)
                || block_mentions(&parts.2, slot)
        }
        BlockCode::Assign(parts) => {
            place_mentions(&parts.0, slot) || block_mentions(&parts.1, slot)
        }
    }
}

fn call_mentions(call: &CallCode, slot: u32) -> bool {
    call.args.iter().any(|arg| match arg {
        ArgCode::Value(code, _) => mentions(code, slot),
        ArgCode::Block(block, _) => block_mentions(block, slot),
        ArgCode::Ref(place) => place_mentions(place, slot),
        ArgCode::Clock(clock) => clock_mentions(clock, slot),
        ArgCode::Mixed(place, clock) => place_mentions(place, slot) || clock_mentions(clock, slot),
    })
}
