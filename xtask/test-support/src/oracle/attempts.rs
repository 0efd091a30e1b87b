//! What the locations of a state suggest, with what becomes of it, and what can be reached along
//! given steps. Naive, and shares nothing with the interpreter and the engine it judges.

use super::model::{Condition, Kind, Place};
use super::regions::{State, Taken, Walker};
use std::collections::HashSet;

/// What becomes of a step, in the order in which conditions are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Guard,
    NoPartner,
    ReceiverGuard,
    Committed,
    Invariant,
    Priority,
    Error,
    Possible,
}

/// A step that the locations suggest.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Who takes part, sender first; of a broadcast that is not sent, the sender alone.
    pub taken: Taken,
    pub verdict: Verdict,
    /// Whether it is a broadcast.
    pub broadcast: bool,
    /// Whether its guards hold, so that it was tried.
    tried: bool,
    priority: (i32, i32),
}

/// An edge with the value of its select variable, and whether its guard holds.
struct Own {
    edge: (usize, usize, i32),
    /// The channel, and whether it sends.
    sync: Option<(usize, bool)>,
    guard: Guard,
}

#[derive(Clone, Copy, PartialEq)]
enum Guard {
    Holds,
    Not,
    Fails,
}

impl Walker<'_> {
    fn own(&self, s: &State) -> Vec<Own> {
        let mut all = Vec::new();
        for (p, (_, edges)) in self.model.processes.iter().enumerate() {
            for (e, edge) in edges.iter().enumerate() {
                for k in 0..if edge.select { 2 } else { 1 } {
                    if edge.source != s.locations[p] {
                        continue;
                    }
                    let sync = edge.sync.map(|c| (s.channel_at(self.model, c, k), c.sends));
                    let zero = |place: Place| s.number(self.model, place, k) == 0;
                    let rest = Condition {
                        divisor: None,
                        ..edge.guard.clone()
                    };
                    let guard = if !self.condition(&rest, s, k) {
                        Guard::Not
                    } else if edge.guard.divisor.is_some_and(zero) {
                        Guard::Fails
                    } else if self.condition(&edge.guard, s, k) {
                        Guard::Holds
                    } else {
                        Guard::Not
                    };
                    all.push(Own {
                        edge: (p, e, k),
                        sync,
                        guard,
                    });
                }
            }
        }
        all
    }

    /// Everything that the locations suggest.
    pub fn attempts(&self, s: &State) -> Vec<Attempt> {
        let own = self.own(s);
        let mut found = Vec::new();
        for one in own.iter().filter(|o| o.sync.is_none_or(|c| c.1)) {
            let early = match one.guard {
                Guard::Holds => None,
                Guard::Not => Some(Verdict::Guard),
                Guard::Fails => Some(Verdict::Error),
            };
            let Some((c, _)) = one.sync else {
                found.push(self.attempt(s, vec![one.edge], None, early));
                continue;
            };
            let hears = |o: &&Own| o.sync == Some((c, false)) && o.edge.0 != one.edge.0;
            let partners: Vec<&Own> = own.iter().filter(hears).collect();
            if !self.model.channels[c].broadcast {
                if partners.is_empty() {
                    let verdict = early.unwrap_or(Verdict::NoPartner);
                    found.push(self.attempt(s, vec![one.edge], Some(c), Some(verdict)));
                }
                for partner in partners {
                    let deaf = (partner.guard != Guard::Holds).then_some(Verdict::ReceiverGuard);
                    let taken = vec![one.edge, partner.edge];
                    found.push(self.attempt(s, taken, Some(c), early.or(deaf)));
                }
                continue;
            }
            if early.is_some() {
                found.push(self.attempt(s, vec![one.edge], Some(c), early));
                continue;
            }
            let mut ways: Vec<Taken> = vec![vec![one.edge]];
            for q in 0..self.model.processes.len() {
                let ready = partners.iter().filter(|o| o.guard == Guard::Holds);
                let ready: Vec<_> = ready.filter(|o| o.edge.0 == q).map(|o| o.edge).collect();
                if !ready.is_empty() {
                    let longer = |way: &Taken| {
                        let with = |edge: &(usize, usize, i32)| [&way[..], &[*edge]].concat();
                        ready.iter().map(with).collect::<Vec<Taken>>()
                    };
                    ways = ways.iter().flat_map(longer).collect();
                }
            }
            found.extend(ways.into_iter().map(|w| self.attempt(s, w, Some(c), None)));
        }
        self.rank(s, &mut found);
        found
    }

    fn attempt(
        &self,
        s: &State,
        taken: Taken,
        channel: Option<usize>,
        early: Option<Verdict>,
    ) -> Attempt {
        let committed = |p: usize| self.kind(s, p) == Kind::Committed;
        let held_up = (0..s.locations.len()).any(committed);
        let mut then = s.clone();
        let verdict = if let Some(early) = early {
            early
        } else if held_up && !taken.iter().any(|t| committed(t.0)) {
            Verdict::Committed
        } else if !self.apply(&mut then, &taken) {
            Verdict::Error
        } else if !self.invariants(&self.canonical(then)) {
            Verdict::Invariant
        } else {
            Verdict::Possible
        };
        let of_channel = channel.map_or(0, |c| self.model.channels[c].priority);
        let level = taken.iter().map(|t| self.model.levels[t.0]).max();
        Attempt {
            broadcast: channel.is_some_and(|c| self.model.channels[c].broadcast),
            taken,
            verdict,
            tried: early.is_none(),
            priority: (of_channel, level.unwrap_or(0)),
        }
    }

    /// What is possible, or fails, keeps steps of lower priority from being taken; a guard that
    /// fails, all steps.
    fn rank(&self, s: &State, found: &mut [Attempt]) {
        let highest = |found: &[Attempt], wanted: Verdict| {
            let own = found.iter().filter(|a| a.tried && a.verdict == wanted);
            own.map(|a| a.priority).max()
        };
        let possible = highest(found, Verdict::Possible);
        let fails = highest(found, Verdict::Error);
        for a in found.iter_mut() {
            let below = |limit: Option<(i32, i32)>| limit.is_some_and(|l| a.priority < l);
            if a.verdict >= Verdict::Invariant && below(possible) {
                a.verdict = Verdict::Priority;
            } else if a.verdict == Verdict::Possible && below(fails) {
                a.verdict = Verdict::Error;
            }
        }
        if self.guard_fails(s) {
            for a in found.iter_mut() {
                if matches!(a.verdict, Verdict::Possible | Verdict::Priority) {
                    a.verdict = Verdict::Error;
                }
            }
        }
    }

    /// All regions that runs along exactly these steps reach, time in the last state included;
    /// `None` if there are more than `limit`.
    pub fn along(&self, steps: &[Taken], limit: usize) -> Option<HashSet<State>> {
        let mut here = self.in_time(vec![self.canonical(self.initial())], limit)?;
        for step in steps {
            let mut next = Vec::new();
            for s in here.iter().filter(|s| !self.guard_fails(s)) {
                let taken = self.actions(s).0.into_iter();
                next.extend(taken.filter(|(t, _)| t == step).map(|(_, t)| t));
            }
            here = self.in_time(next, limit)?;
        }
        Some(here)
    }

    fn in_time(&self, mut left: Vec<State>, limit: usize) -> Option<HashSet<State>> {
        let mut seen = HashSet::new();
        while let Some(s) = left.pop() {
            if seen.len() > limit {
                return None;
            }
            left.extend(self.later(&s).filter(|t| !seen.contains(t)));
            seen.insert(s);
        }
        Some(seen)
    }
}
