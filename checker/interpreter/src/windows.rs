//! The delays after which a concrete state can take each of its transitions.
//!
//! **Claim.** The windows are exact. *Argument.* Clocks are multiples of `1 / unit`, and constants
//! are whole, so the result of a comparison changes only after a delay that is a multiple of `1 /
//! unit`. All times here are doubled: such a delay is even, and between two of them is an odd one.
//! The search examines the state itself, the odd moment right after it, and the next even moment at
//! which a comparison that was evaluated at the odd one reaches its constant. What is evaluated
//! depends on integers and on the results of comparisons evaluated before, so up to that moment
//! every evaluation is the same: the odd moment represents the open interval between the two even
//! ones. Comparisons inside invariants after a transition count as well (`attempts.rs` notes those
//! whose value depends on the delay).

use super::attempts::{Attempts, Reason, attempts};
use super::eval::Broken;
use super::limit::Limit;
use super::state::{Concrete, fraction};
use super::steps::{ConcreteEdge, ConcreteStep, broken_invariant, running_clocks, urgent_start};
use zonelens_analysis::network::{LocationKind, Network};

/// The most moments that are examined from one state.
const MOST_MOMENTS: usize = 4096;
/// The greatest clock value, in parts of a unit, that is used in computations.
pub(super) const MOST_PARTS: i64 = 1 << 60;

/// Delays between two ends, in parts of a time unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least delay.
    pub from: i64,
    /// Whether it is excluded.
    pub from_open: bool,
    /// The greatest delay; `None` if there is no upper bound.
    pub to: Option<i64>,
    /// Whether it is excluded.
    pub to_open: bool,
}

impl Interval {
    /// `[2, 5)`, with delays in parts of a unit; `2` for a single one.
    pub fn text(&self, unit: i64) -> String {
        let from = fraction(self.from, unit);
        if self.to == Some(self.from) {
            return from;
        }
        let to = self.to.map_or("∞".into(), |to| fraction(to, unit));
        let open = if self.from_open { '(' } else { '[' };
        let close = if self.to_open { ')' } else { ']' };
        format!("{open}{from}, {to}{close}")
    }

    /// Whether a delay lies in it.
    pub fn contains(&self, delay: i64) -> bool {
        let above = delay > self.from || delay == self.from && !self.from_open;
        let below = |to| delay < to || delay == to && !self.to_open;
        above && self.to.is_none_or(below)
    }
}

/// A transition that is possible after some delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Possible {
    /// The edges and the processes that take them.
    pub step: ConcreteStep,
    /// For a broadcast with too many combinations of receivers to list: the choices of each
    /// receiver. `step` then contains only the sender.
    pub choices: Vec<Vec<ConcreteEdge>>,
    /// The delays after which it is possible, in ascending order.
    pub delays: Vec<Interval>,
}

/// A transition that is not possible after any delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    /// The edges of the transition; only the sender if receivers are not known.
    pub step: ConcreteStep,
    /// What forbids it: the reason at the moment at which the most conditions were met.
    pub reason: Reason,
}

/// What limits the time that may pass.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeEnd {
    /// Nothing.
    Never,
    /// The invariant of a process is false afterwards.
    Invariant(u32),
    /// A process is in an urgent or committed location.
    Location(u32),
    /// An urgent synchronisation is possible, started by this process.
    Urgent(u32),
    /// Evaluation fails.
    Error(Reason),
    /// There are more moments than are examined.
    Moments,
}

/// The possible and blocked transitions of a state, and the time that may pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// The transitions that are possible now or later, the earliest first.
    pub possible: Vec<Possible>,
    /// The transitions that are not.
    pub blocked: Vec<Blocked>,
    /// The delays that are allowed.
    pub time: Interval,
    /// What limits them.
    pub end: TimeEnd,
    /// The first evaluation error that time can lead to.
    pub error: Option<Reason>,
}

/// A moment, or the open interval after it.
#[derive(Clone, Copy)]
struct Piece {
    from: i64,
    open: bool,
    to: Option<i64>,
}

/// Computes everything that can happen from a state; if the limit is reached, ends early with what
/// is known.
pub fn windows(network: &Network, state: &Concrete, limit: Limit<'_>) -> Result<Windows, Broken> {
    let mut start = state.clone();
    if start.unit > MOST_PARTS || start.clocks.iter().any(|c| *c > MOST_PARTS) {
        return Err(Broken::new(
            "a clock is too large for the fractions of this run",
        ));
    }
    start.unit *= 2;
    start.clocks.iter_mut().for_each(|c| *c *= 2);
    start.comparisons = None;
    start.notes = None;
    let runs = running_clocks(network, &mut start)?;
    let mut found = Collected::default();
    let mut at = 0;
    let mut time = Interval {
        from: 0,
        from_open: false,
        to: Some(0),
        to_open: true,
    };
    let mut end = TimeEnd::Moments;
    for _ in 0..MOST_MOMENTS {
        if limit.is_over().is_some() {
            break;
        }
        // The moment itself.
        let mut now = start.after(at, &runs);
        now.comparisons = Some(Vec::new());
        match broken_invariant(network, &mut now) {
            Ok(None) => {}
            Ok(Some(process)) => {
                (time.to, time.to_open) = (Some(at / 2), true);
                end = TimeEnd::Invariant(process as u32);
                break;
            }
            Err(broken) => {
                (time.to, time.to_open) = (Some(at / 2), true);
                end = TimeEnd::Error(broken.into());
                break;
            }
        }
        (time.to, time.to_open) = (Some(at / 2), false);
        let point = Piece {
            from: at / 2,
            open: false,
            to: Some(at / 2),
        };
        found.add(attempts(network, &mut now, &runs, &mut Vec::new()), point);
        if let Some(stop) = stops(network, &mut now) {
            end = stop;
            break;
        }
        // The interval after it.
        let mut behind = start.after(at + 1, &runs);
        behind.comparisons = Some(Vec::new());
        match broken_invariant(network, &mut behind) {
            Ok(None) => {}
            Ok(Some(process)) => {
                end = TimeEnd::Invariant(process as u32);
                break;
            }
            Err(broken) => {
                end = TimeEnd::Error(broken.into());
                break;
            }
        }
        // A step that is urgent here was urgent in the whole interval, so time cannot pass to this
        // point.
        if let Some(stop) = stops(network, &mut behind) {
            end = stop;
            break;
        }
        let mut changes = Vec::new();
        let tried = attempts(network, &mut behind, &runs, &mut changes);
        let comparisons = behind.comparisons.iter().flatten();
        changes.extend(comparisons.filter_map(|c| c.delay(&runs)));
        let change = changes.into_iter().filter(|delay| *delay > 0).min();
        // Beyond this, numbers are too large to continue, and clocks cannot reach them.
        let change = change.filter(|delay| *delay < MOST_PARTS);
        let next = change.map(|delay| at + 1 + delay);
        let piece = Piece {
            from: at / 2,
            open: true,
            to: next.map(|next| next / 2),
        };
        found.add(tried, piece);
        (time.to, time.to_open) = (piece.to, true);
        match next {
            Some(next) => at = next,
            None => {
                end = TimeEnd::Never;
                break;
            }
        }
    }
    Ok(found.finish(time, end))
}

/// What prevents time from passing here.
fn stops(network: &Network, state: &mut Concrete) -> Option<TimeEnd> {
    let processes = network.processes.iter().zip(&state.locations);
    let mut kinds = processes.map(|(p, l)| p.locations[*l as usize].kind);
    if let Some(process) = kinds.position(|kind| kind != LocationKind::Normal) {
        return Some(TimeEnd::Location(process as u32));
    }
    match urgent_start(network, state) {
        Ok(None) => None,
        Ok(Some(process)) => Some(TimeEnd::Urgent(process)),
        Err(broken) => Some(TimeEnd::Error(broken.into())),
    }
}

/// The attempts of several moments, combined.
#[derive(Default)]
struct Collected {
    possible: Vec<Possible>,
    blocked: Vec<Blocked>,
    error: Option<Reason>,
}

impl Collected {
    fn add(&mut self, tried: Attempts, piece: Piece) {
        self.error = self.error.take().or(tried.error);
        for attempt in tried.all {
            match attempt.result {
                Ok(_) => self.add_possible(attempt.step, attempt.choices, piece),
                Err(reason) => self.add_blocked(attempt.step, reason),
            }
        }
    }

    fn add_possible(&mut self, step: ConcreteStep, choices: Vec<Vec<ConcreteEdge>>, piece: Piece) {
        let same = |p: &&mut Possible| p.step == step && p.choices == choices;
        let interval = Interval {
            from: piece.from,
            from_open: piece.open,
            to: piece.to,
            to_open: piece.open,
        };
        let Some(possible) = self.possible.iter_mut().find(same) else {
            self.possible.push(Possible {
                step,
                choices,
                delays: vec![interval],
            });
            return;
        };
        match possible.delays.last_mut() {
            // Pieces come in order; two adjacent pieces differ in whether the moment between them
            // is excluded.
            Some(last) if last.to == Some(piece.from) && last.to_open != piece.open => {
                (last.to, last.to_open) = (piece.to, piece.open);
            }
            _ => possible.delays.push(interval),
        }
    }

    fn add_blocked(&mut self, step: ConcreteStep, reason: Reason) {
        match self.blocked.iter_mut().find(|b| b.step == step) {
            Some(blocked) if blocked.reason.progress() < reason.progress() => {
                blocked.reason = reason;
            }
            Some(_) => {}
            None => self.blocked.push(Blocked { step, reason }),
        }
    }

    fn finish(mut self, time: Interval, end: TimeEnd) -> Windows {
        let key = |p: &Possible| p.delays.first().map(|i| (i.from, i.from_open));
        self.possible.sort_by_key(key);
        // If a broadcast is possible with some receivers, or an edge with some partner, it is
        // blocked only with other participants.
        let starts = |step: &ConcreteStep, other: &Possible| {
            step.edges.first() == other.step.edges.first() && step.edges.len() == 1
        };
        let possible = &self.possible;
        self.blocked.retain(|blocked| {
            let same = |p: &Possible| p.step == blocked.step || starts(&blocked.step, p);
            !possible.iter().any(same)
        });
        // The sender of a broadcast alone says less than the same sender with its receivers.
        let longer: Vec<ConcreteEdge> = self
            .blocked
            .iter()
            .filter(|b| b.step.edges.len() > 1)
            .filter_map(|b| b.step.edges.first().cloned())
            .collect();
        self.blocked.retain(|b| match b.step.edges.as_slice() {
            [only] => {
                let is_partial = matches!(b.reason, Reason::Guard { .. } | Reason::Error { .. });
                !(is_partial && longer.contains(only))
            }
            _ => true,
        });
        let error = self.error.or_else(|| match &end {
            TimeEnd::Error(reason) => Some(reason.clone()),
            _ => None,
        });
        Windows {
            possible: self.possible,
            blocked: self.blocked,
            time,
            end,
            error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Names;
    use crate::steps::enabled_steps;
    use crate::{Rng, replay::describe};
    use std::fmt::Write;
    use std::sync::atomic::AtomicBool;
    use zonelens_analysis::network::Position;
    use zonelens_test_support::xta;

    const UNIT: i64 = 4;

    /// The windows of the initial state as text.
    fn look(model: &str) -> String {
        let loaded = xta(model);
        let network = &loaded.network;
        let state = Concrete::initial(network, UNIT);
        let never = AtomicBool::new(false);
        let windows = windows(network, &state, Limit::new(&never, None)).expect("it evaluates");
        let names = Names::new(network);
        let nowhere = |_| Position { line: 1, column: 1 };
        let text = |step: &ConcreteStep| {
            let described = describe(network, &names, step, &state, &nowhere);
            let edges = described.edges.iter();
            let edges = edges.map(|e| format!("{} {}->{} {:?}", e.process, e.from, e.to, e.select));
            edges.collect::<Vec<_>>().join(" + ").replace(" {}", "")
        };
        let mut out = String::new();
        for p in &windows.possible {
            let delays: Vec<String> = p.delays.iter().map(|i| i.text(UNIT)).collect();
            let _ = writeln!(out, "{}: {}", text(&p.step), delays.join(" "));
        }
        for b in &windows.blocked {
            let reason = match &b.reason {
                Reason::Guard { part, .. } => {
                    format!("guard {}", &model[part.start as usize..part.end as usize])
                }
                Reason::ReceiverGuard { part, .. } => {
                    format!(
                        "receiver {}",
                        &model[part.start as usize..part.end as usize]
                    )
                }
                Reason::Priority { by } => format!("priority of {}", text(by)),
                Reason::Error { message, .. } => format!("error {message}"),
                other => format!("{other:?}"),
            };
            let _ = writeln!(out, "{} blocked: {reason}", text(&b.step));
        }
        let _ = write!(out, "time {} {:?}", windows.time.text(UNIT), windows.end);
        out
    }

    #[track_caller]
    fn check(model: &str, expected: &[&str]) {
        let found = look(model);
        assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn guards_and_invariants_bound_delays() {
        check(
            "process P() { clock x; state A { x < 7 }, B; init A;
             trans A -> B { guard x > 2 && x <= 5; }; } system P;",
            &["P A->B: (2, 5]", "time [0, 7) Invariant(0)"],
        );
    }

    #[test]
    fn windows_have_gaps() {
        check(
            "process P() { clock x; state A, B; init A; trans A -> B { guard x == 3; }; }
             process Q() { state A, B; init A; trans A -> B { }; } system Q < P;",
            &["Q A->B: [0, 3) (3, ∞)", "P A->B: 3", "time [0, ∞) Never"],
        );
    }

    #[test]
    fn target_invariants_open_and_close_windows() {
        check(
            "process P() { clock x; clock y; state A, B { x >= 2 && x <= 3 && y <= 0 }, C { y > 0 };
             init A; trans A -> B { assign y = 0; }, A -> C { assign y = 0; }; } system P;",
            &[
                "P A->B: [2, 3]",
                "P A->C blocked: Invariant { process: 0 }",
                "time [0, ∞) Never",
            ],
        );
    }

    #[test]
    fn urgent_synchronisations_close_all_windows() {
        check(
            "urgent chan go; int n = 1;
             process P() { state A, B; init A; trans A -> B { guard n == 1; sync go!; }; }
             process Q() { clock x; state A { x <= 9 }, B; init A;
             trans A -> B { sync go?; }, A -> B { guard x >= 1; }; } system P, Q;",
            &[
                "P A->B + Q A->B: 0",
                "Q A->B blocked: guard x >= 1",
                "time 0 Urgent(0)",
            ],
        );
    }

    #[test]
    fn each_kind_of_reason() {
        check(
            "chan a, b, c; broadcast chan d; int n = 3; int[0,3] m;
             process P() { state A, B; init A; trans
             A -> B { guard n > 0 && n < 2; }, A -> B { sync a!; }, A -> B { sync b!; },
             A -> B { assign m = n + 1; }, A -> B { sync d!; }; }
             process Q() { state A, B; init A; trans
             A -> B { guard n == 4; sync b?; }, A -> B { guard n == 3; sync d?; }; }
             system P, Q;",
            &[
                "P A->B + Q A->B: [0, ∞)",
                "P A->B blocked: guard n < 2",
                "P A->B blocked: NoPartner { channel: ChannelId(0) }",
                "P A->B + Q A->B blocked: receiver n == 4",
                "P A->B blocked: error the value 4 does not fit the range [0, 3] of `m`",
                "time [0, ∞) Never",
            ],
        );
    }

    /// If a guard fails, nothing can be taken: replay would fail. If other processes must move
    /// first, it is not evaluated.
    #[test]
    fn guards_that_fail_leave_nothing_possible() {
        let model = "clock x; int m; process P() { state A, B; init A; trans A -> B { }; }
             process Q() { state A; init A; trans A -> A { guard x >= 2 && 1 / m == 1; }; } system P, Q;";
        check(
            model,
            &[
                "P A->B: [0, 2)",
                "Q A->A blocked: error division by zero",
                "time [0, ∞) Never",
            ],
        );
        check(
            &model.replace("state A, B; init A;", "state A, B; commit A; init A;"),
            &[
                "P A->B: 0",
                "Q A->A blocked: guard x >= 2",
                "time 0 Location(0)",
            ],
        );
        let failing = "int[0,1] m = 1; process P() { state A, B; init A; trans A -> B { }; }
             process Q() { state A; init A; trans A -> A { assign m = 2; }; } system P, Q;";
        check(
            &failing.replace("P, Q;", "P < Q;"),
            &[
                "P A->B blocked: error the value 2 does not fit the range [0, 1] of `m`",
                "Q A->A blocked: error the value 2 does not fit the range [0, 1] of `m`",
                "time [0, ∞) Never",
            ],
        );
        check(
            failing,
            &[
                "P A->B: [0, ∞)",
                "Q A->A blocked: error the value 2 does not fit the range [0, 1] of `m`",
                "time [0, ∞) Never",
            ],
        );
    }

    #[test]
    fn committed_locations_and_priorities_block() {
        check(
            "process P() { commit A; state A, B; init A; trans A -> B { }; }
             process Q() { state A, B; init A; trans A -> B { }; } system P, Q;"
                .replace("commit A; state A, B;", "state A, B; commit A;")
                .as_str(),
            &[
                "P A->B: 0",
                "Q A->B blocked: Committed { process: 0 }",
                "time 0 Location(0)",
            ],
        );
        check(
            "process P() { clock x; state A, B; init A; trans A -> B { guard x >= 2; }; }
             process Q() { state A, B; init A; trans A -> B { }; } system Q < P;",
            &["Q A->B: [0, 2)", "P A->B: [2, ∞)", "time [0, ∞) Never"],
        );
    }

    /// At every multiple of half a part of a unit, the windows agree with the list of steps at that
    /// moment.
    #[test]
    fn windows_agree_with_the_steps_of_every_moment() {
        let mut rng = Rng::new(20_261_118);
        let (mut possible, mut gaps) = (0, 0);
        for _ in 0..2_000 {
            let model = random_model(&mut rng);
            let loaded = xta(&model);
            let network = &loaded.network;
            let mut state = Concrete::initial(network, UNIT);
            for clock in &mut state.clocks {
                *clock = rng.below(9) as i64;
            }
            if broken_invariant(network, &mut state) != Ok(None) {
                continue;
            }
            let never = AtomicBool::new(false);
            let found = windows(network, &state, Limit::new(&never, None)).expect("it evaluates");
            let mut fine = state.clone();
            fine.unit *= 2;
            fine.clocks.iter_mut().for_each(|c| *c *= 2);
            let runs = running_clocks(network, &mut fine).expect("it evaluates");
            let mut ended = false;
            for at in 0..80 {
                let mut now = fine.after(at, &runs);
                let holds = broken_invariant(network, &mut now) == Ok(None);
                // Time stops where a step was urgent before.
                let mut before = fine.after((at - 1).max(0), &runs);
                ended |= !holds || at > 0 && stops(network, &mut before).is_some();
                ended |= at % 2 == 1 && stops(network, &mut now).is_some();
                let steps = enabled_steps(network, &mut now, &Rng::new(0)).expect("no error");
                let here = |p: &Possible| {
                    p.delays.iter().any(|i| {
                        let doubled = Interval {
                            from: 2 * i.from,
                            to: i.to.map(|to| 2 * to),
                            ..*i
                        };
                        doubled.contains(at)
                    })
                };
                let claimed: Vec<&ConcreteStep> = found
                    .possible
                    .iter()
                    .filter(|p| here(p))
                    .map(|p| &p.step)
                    .collect();
                if ended {
                    assert!(claimed.is_empty(), "{model}\nat {at}: {claimed:?}");
                    continue;
                }
                assert_eq!(
                    claimed.len(),
                    steps.len(),
                    "{model}\nat {at}: {claimed:?} {steps:?}"
                );
                assert!(
                    steps.iter().all(|(s, _)| claimed.contains(&s)),
                    "{model}\nat {at}"
                );
                possible += steps.len();
            }
            gaps += found.possible.iter().filter(|p| p.delays.len() > 1).count();
        }
        assert!(possible > 10_000 && gaps > 30, "{possible} {gaps}");
    }

    fn random_model(rng: &mut Rng) -> String {
        let atom = |rng: &mut Rng| {
            let clock = ["x", "y"][rng.below(2)];
            let op = ["<", "<=", "==", ">=", ">"][rng.below(5)];
            match rng.below(8) {
                0 => format!("x - y {op} {}", rng.range(-1, 2)),
                1 => format!("n {op} {}", rng.below(3)),
                _ => format!("{clock} {op} {}", rng.below(5)),
            }
        };
        let condition = |rng: &mut Rng| match rng.below(4) {
            0 => "true".to_owned(),
            1 => format!("{} && {}", atom(rng), atom(rng)),
            2 => format!("{} && ({} || n == 2)", atom(rng), "n == 1"),
            _ => atom(rng),
        };
        let mut text =
            String::from("clock x, y; int n = 1; chan a; urgent chan u; broadcast chan b;\n");
        for name in ["P", "Q", "R"] {
            let upper = |rng: &mut Rng| match rng.below(3) {
                0 => String::new(),
                1 => format!("{{ x <= {} }}", 1 + rng.below(4)),
                _ => format!("{{ y >= {} }}", rng.below(2)),
            };
            let first = match rng.below(3) {
                0 => format!("{{ y <= {} }}", 2 + rng.below(3)),
                _ => String::new(),
            };
            let _ = write!(
                text,
                "process {name}() {{ state A {first}, B {}; ",
                upper(rng)
            );
            if rng.below(8) == 0 {
                let _ = write!(text, "{} A; ", ["urgent", "commit"][rng.below(2)]);
            }
            let _ = write!(text, "init A; trans ");
            for k in 0..3 {
                let sync = match rng.below(3) {
                    0 => "",
                    _ => [
                        "sync a!; ",
                        "sync a?; ",
                        "sync u!; ",
                        "sync u?; ",
                        "sync b!; ",
                        "sync b?; ",
                    ][rng.below(6)],
                };
                let receives = sync.contains('?') || sync.contains('u');
                let guard = if receives && sync.contains('u') {
                    "n >= 0".to_owned()
                } else {
                    condition(rng)
                };
                let assign =
                    ["", "assign x = 0; ", "assign y = x; ", "assign n = 2; "][rng.below(4)];
                let comma = if k == 2 { "; " } else { ", " };
                let _ = write!(text, "A -> B {{ guard {guard}; {sync}{assign}}}{comma}");
            }
            text.push_str("}\n");
        }
        text + if rng.below(2) == 0 {
            "system P < Q < R;"
        } else {
            "system P, Q, R;"
        }
    }
}
