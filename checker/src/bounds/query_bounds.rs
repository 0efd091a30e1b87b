//! The bounds of the condition of a search, each only where it can decide.
//!
//! In `Sender(i).transmit && Sender(i).x >= 52`, the clock does not matter while the sender is in
//! another location: the condition is false for every value. The comparison is therefore like a
//! guard of an edge that leaves `transmit`, and the analysis of guards finds the locations from
//! which it can be reached. Without this, a clock that the query compares would be active
//! everywhere.

use crate::bounds::constants::{Builder, Where};
use crate::bounds::interval::{Ranges, interval};
use crate::program::{AtomCode, ClockCode, Code, Formula, ProcessCode};
use zonelens_analysis::network::LocationId;

/// Locations that processes must be in for the current part of the condition to matter.
type Context<'f> = Vec<(&'f ProcessCode, LocationId)>;

impl Builder<'_> {
    /// Records the bounds of a condition.
    pub(super) fn goal<'f>(
        &mut self,
        formula: &'f Formula,
        context: &mut Context<'f>,
        slots: &mut Ranges,
    ) {
        match formula {
            Formula::Atom(atom) => self.goal_atom(atom, context, slots),
            Formula::And(parts) | Formula::Or(parts) => {
                // In a conjunction, another part that is false decides the result; in a
                // disjunction, one that is true does.
                let open = matches!(formula, Formula::And(_));
                for (k, part) in parts.iter().enumerate() {
                    let outer = context.len();
                    for other in parts[..k].iter().chain(&parts[k + 1..]) {
                        implied(other, open, context);
                    }
                    self.goal(part, context, slots);
                    context.truncate(outer);
                }
            }
            Formula::Not(part) => self.goal(part, context, slots),
            Formula::Quantified {
                slot,
                lo,
                len,
                body,
                ..
            } => {
                slots.set(*slot, *lo, *len);
                self.goal(body, context, slots);
            }
            Formula::Int(_) | Formula::Rate(..) | Formula::Deadlock => {}
        }
    }

    fn goal_atom(&mut self, atom: &AtomCode, context: &Context<'_>, slots: &Ranges) {
        let processes = self.program.locations.len();
        let paired = context.iter().find_map(|(process, location)| {
            let pairs = pairs(&atom.left, process)?;
            let known = |(x, p): &(u32, u32)| {
                (*x as usize) < self.program.clocks && (*p as usize) < processes
            };
            pairs.iter().all(known).then_some((pairs, *location))
        });
        match paired {
            Some((pairs, location)) if atom.right.is_none() => {
                let (_, most) = interval(self.program, &atom.bound, slots);
                let at = |(x, p): (u32, u32)| (x, Where::At(p as usize, location as usize));
                self.single(atom, pairs.into_iter().map(at), (true, true), most);
            }
            _ => self.atom(atom, Where::Everywhere, true, true, slots),
        }
    }
}

/// Every clock that an atom may refer to, together with the process that the same parameters name,
/// if both depend on the same indices in the same way.
fn pairs(clock: &ClockCode, process: &ProcessCode) -> Option<Vec<(u32, u32)>> {
    if clock.by_ref || clock.steps.len() != process.steps.len() {
        return None;
    }
    let mut pairs = vec![(clock.base, process.base)];
    for (c, p) in clock.steps.iter().zip(&process.steps) {
        let same = match (&c.index, &p.index) {
            (Code::Slot(a), Code::Slot(b)) => a == b,
            (Code::Const(a), Code::Const(b)) => a == b,
            _ => false,
        };
        if !same || (c.range.lo, c.range.len) != (p.range.lo, p.range.len) {
            return None;
        }
        let all = 0..c.range.len;
        pairs = all
            .flat_map(|k| {
                let moved = |(x, q): &(u32, u32)| (x + k * c.stride, q + k * p.stride);
                pairs.iter().map(moved).collect::<Vec<_>>()
            })
            .collect();
    }
    Some(pairs)
}

/// Adds the locations that processes must be in if a condition has this value.
fn implied<'f>(formula: &'f Formula, value: bool, out: &mut Context<'f>) {
    match formula {
        Formula::Int(code) => implied_by_code(code, value, out),
        Formula::Not(part) => implied(part, !value, out),
        Formula::And(parts) if value => parts.iter().for_each(|p| implied(p, true, out)),
        Formula::Or(parts) if !value => parts.iter().for_each(|p| implied(p, false, out)),
        _ => {}
    }
}

fn implied_by_code<'f>(code: &'f Code, value: bool, out: &mut Context<'f>) {
    match code {
        Code::At(process, location) if value => out.push((process, *location)),
        Code::Not(part) => implied_by_code(part, !value, out),
        Code::And(sides) if value => {
            implied_by_code(&sides.0, true, out);
            implied_by_code(&sides.1, true, out);
        }
        Code::Or(sides) if !value => {
            implied_by_code(&sides.0, false, out);
            implied_by_code(&sides.1, false, out);
        }
        _ => {}
    }
}
