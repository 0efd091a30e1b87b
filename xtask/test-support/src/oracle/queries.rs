//! Random queries with the oracle's answers.

use super::model::{
    Atom, Clock, Op, Place, TestModel, random_atom, random_clock, random_place, vary,
};
use super::regions::{Graph, holds};
use crate::Rng;
use zonelens_analysis::report::BoundsValue;

/// A state formula.
#[derive(Clone, Debug)]
enum Formula {
    At(usize, usize),
    Number(Place, i32),
    Clock(Atom),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Imply(Box<Formula>, Box<Formula>),
    /// The comparison holds for all clocks of the array (or for one of them) in place of its own
    /// clock.
    Clocks(bool, Atom),
    Deadlock,
}

impl Formula {
    fn text(&self, model: &TestModel) -> String {
        match self {
            Formula::At(p, l) => format!("P{p}.l{l}"),
            Formula::Number(place, c) => format!("{} == {c}", model.place_text(*place)),
            Formula::Clock(a) => model.atom_text(a),
            Formula::Not(a) => format!("!({})", a.text(model)),
            Formula::And(a, b) => format!("({}) && ({})", a.text(model), b.text(model)),
            Formula::Or(a, b) => format!("({}) || ({})", a.text(model), b.text(model)),
            Formula::Imply(a, b) => format!("({}) imply ({})", a.text(model), b.text(model)),
            Formula::Clocks(all, a) => {
                let word = if *all { "forall" } else { "exists" };
                let (last, own) = (model.clocks - 1, model.clock_text(a.x));
                let of_one = model.atom_text(a).replacen(&own, "x[i]", 1);
                format!("({word} (i : int[0,{last}]) {of_one})")
            }
            Formula::Deadlock => "deadlock".into(),
        }
    }

    fn holds(&self, model: &TestModel, graph: &Graph, k: usize) -> bool {
        let s = &graph.states[k];
        match self {
            Formula::At(p, l) => s.locations[*p] == *l,
            Formula::Number(place, c) => s.number(model, *place, 0) == *c,
            Formula::Clock(a) => holds(a, model, s, graph.unit, 0),
            Formula::Not(a) => !a.holds(model, graph, k),
            Formula::And(a, b) => a.holds(model, graph, k) && b.holds(model, graph, k),
            Formula::Or(a, b) => a.holds(model, graph, k) || b.holds(model, graph, k),
            Formula::Imply(a, b) => !a.holds(model, graph, k) || b.holds(model, graph, k),
            Formula::Clocks(all, a) => {
                let mut clocks = (0..model.clocks).map(|x| Clock { x, by: None });
                let of_one = |x: Clock| holds(&Atom { x, ..*a }, model, s, graph.unit, 0);
                match all {
                    true => clocks.all(of_one),
                    false => clocks.any(of_one),
                }
            }
            Formula::Deadlock => graph.deadlocked(k),
        }
    }
}

fn random_formula(rng: &mut Rng, model: &TestModel, depth: usize) -> Formula {
    if depth > 0 && rng.chance(60) {
        let a = Box::new(random_formula(rng, model, depth - 1));
        return match rng.below(6) {
            0 => Formula::Not(a),
            1 => Formula::Imply(a, Box::new(random_formula(rng, model, depth - 1))),
            2 | 3 => Formula::And(a, Box::new(random_formula(rng, model, depth - 1))),
            _ => Formula::Or(a, Box::new(random_formula(rng, model, depth - 1))),
        };
    }
    match rng.below(4) {
        0 | 1 => {
            let p = rng.below(model.processes.len());
            Formula::At(p, rng.below(model.processes[p].0.len()))
        }
        2 => Formula::Number(random_place(rng, model), rng.range(0, 2)),
        _ => {
            let ops = [Op::Lt, Op::Le, Op::Ge, Op::Gt, Op::Eq, Op::Ne];
            let mut atom = random_atom(rng, model, &ops, 40);
            vary(rng, model, &mut atom, false);
            if model.clock_array && rng.chance(40) {
                return Formula::Clocks(rng.chance(50), atom);
            }
            Formula::Clock(atom)
        }
    }
}

/// Joins a formula with `deadlock` or its absence.
fn with_deadlock(rng: &mut Rng, formula: Formula) -> Formula {
    let a = Box::new(formula);
    let mut b = Box::new(Formula::Deadlock);
    if rng.chance(50) {
        b = Box::new(Formula::Not(b));
    }
    match rng.below(4) {
        0 => Formula::Or(a, b),
        1 => Formula::Imply(a, b),
        2 => Formula::Imply(b, a),
        _ => Formula::And(a, b),
    }
}

/// A query with the oracle's answer.
pub struct Asked {
    pub query: String,
    /// Whether it is satisfied.
    pub expected: bool,
    pub kind: &'static str,
    /// Whether an error of the model occurs before everything that the answer requires was
    /// explored, if no witness is found first.
    pub fails: bool,
    /// The answer if nothing is found.
    pub absent: bool,
}

/// A query with the oracle's answer.
pub fn random_query(rng: &mut Rng, model: &TestModel, graph: &Graph) -> Asked {
    let all = |f: &Formula| {
        (0..graph.states.len())
            .map(|k| f.holds(model, graph, k))
            .collect::<Vec<bool>>()
    };
    let mut formula = random_formula(rng, model, 2);
    let anywhere = graph.fails.contains(&true);
    let asked = |(query, expected, kind): (String, bool, &'static str), fails, absent| Asked {
        query,
        expected,
        kind,
        fails,
        absent,
    };
    match rng.below(8) {
        0 => {
            let text = format!("E<> {}", formula.text(model));
            let found = all(&formula).contains(&true);
            asked((text, found, "E<>"), anywhere, false)
        }
        1 => {
            let text = format!("A[] {}", formula.text(model));
            let found = all(&formula).contains(&false);
            asked((text, !found, "A[]"), anywhere, true)
        }
        2 => {
            if rng.chance(60) {
                formula = Formula::Deadlock;
            } else {
                formula = Formula::And(Box::new(formula), Box::new(Formula::Deadlock));
            }
            let found = all(&formula).contains(&true);
            let text = format!("A[] not ({})", formula.text(model));
            asked((text, !found, "deadlock"), anywhere, true)
        }
        3 => {
            let formula = with_deadlock(rng, formula);
            let (text, holds) = (formula.text(model), all(&formula));
            let exists = rng.chance(50);
            let answer = match exists {
                true => (format!("E<> {text}"), holds.contains(&true), "deadlock"),
                false => (format!("A[] {text}"), !holds.contains(&false), "deadlock"),
            };
            asked(answer, anywhere, !exists)
        }
        4 => {
            let holds = all(&formula);
            let text = format!("E[] {}", formula.text(model));
            let answer = (text, graph.stays(&holds)[0], "E[]");
            asked(answer, graph.fails_within(&holds), false)
        }
        5 => {
            let not = all(&formula).iter().map(|b| !b).collect::<Vec<_>>();
            let text = format!("A<> {}", formula.text(model));
            let answer = (text, !graph.stays(&not)[0], "A<>");
            asked(answer, graph.fails_within(&not), true)
        }
        _ => {
            let goal = random_formula(rng, model, 1);
            let not_goal: Vec<bool> = all(&goal).iter().map(|b| !b).collect();
            let avoids = graph.stays(&not_goal);
            let start = all(&formula);
            let fails = (0..avoids.len()).any(|k| start[k] && avoids[k]);
            let text = format!("{} --> {}", formula.text(model), goal.text(model));
            // Proofs may explore only a part.
            asked((text, !fails, "-->"), false, true)
        }
    }
}

/// A condition that may contain `deadlock`, and the regions where it holds.
pub fn random_goal(rng: &mut Rng, model: &TestModel, graph: &Graph) -> (String, Vec<bool>) {
    let mut formula = random_formula(rng, model, 2);
    match rng.below(4) {
        0 => formula = Formula::Deadlock,
        1 => formula = with_deadlock(rng, formula),
        _ => {}
    }
    let holds = (0..graph.states.len()).map(|k| formula.holds(model, graph, k));
    (formula.text(model), holds.collect())
}

/// A query about runs that a single run decides, with the properties of that run.
pub struct LiveQuery {
    pub text: String,
    /// The regions where a run may begin to keep the condition; `None` if only at its start.
    pub start: Option<Vec<bool>>,
    /// The regions where the run keeps the condition.
    pub kept: Vec<bool>,
}

/// A query about runs, or `None` if there is no such run.
pub fn random_live(rng: &mut Rng, model: &TestModel, graph: &Graph) -> Option<LiveQuery> {
    let all = |f: &Formula, wanted: bool| -> Vec<bool> {
        let states = 0..graph.states.len();
        states.map(|k| f.holds(model, graph, k) == wanted).collect()
    };
    let depth = 1 + rng.below(2);
    let formula = random_formula(rng, model, depth);
    let text = formula.text(model);
    let (text, start, kept) = match rng.below(3) {
        0 => (format!("E[] {text}"), None, all(&formula, true)),
        1 => (format!("A<> {text}"), None, all(&formula, false)),
        _ => {
            let p = random_formula(rng, model, 1);
            let text = format!("{} --> {text}", p.text(model));
            (text, Some(all(&p, true)), all(&formula, false))
        }
    };
    let stays = graph.stays(&kept);
    let exists = match &start {
        None => stays[0],
        Some(start) => start.iter().zip(&stays).any(|(a, b)| *a && *b),
    };
    exists.then_some(LiveQuery { text, start, kept })
}

/// The range of an expression according to the oracle, in halves: odd for values between two
/// integers.
pub struct Expected {
    /// The least and greatest value, if the condition holds anywhere.
    range: Option<(i64, i64)>,
    /// Values greater than this may be of any size.
    most: i64,
}

impl Expected {
    /// Whether the result of the engine is possible.
    pub fn allows(&self, found: &BoundsValue) -> bool {
        let Some((least, most)) = self.range else {
            return *found == BoundsValue::default();
        };
        let beyond = self.most / 2;
        let lower = match found.lower {
            Some(lower) if least > self.most => lower >= beyond,
            lower => lower == Some(least.div_euclid(2)) && found.lower_strict == (least % 2 != 0),
        };
        let upper = match found.upper {
            upper if most > self.most => upper.is_none_or(|upper| upper > beyond),
            upper => {
                upper == Some((most + 1).div_euclid(2)) && found.upper_strict == (most % 2 != 0)
            }
        };
        lower && upper
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.range {
            None => write!(f, "nowhere"),
            Some((least, most)) => write!(f, "halves from {least} to {most}"),
        }
    }
}

/// A query for the range of a clock, a difference or a variable where a formula holds, with the
/// oracle's answer. If time is not bounded, regions have no values beyond the cap, and no
/// differences.
pub fn random_bounds(rng: &mut Rng, model: &TestModel, graph: &Graph) -> (String, Expected) {
    let mut formula = random_formula(rng, model, 1);
    if rng.chance(15) {
        formula = with_deadlock(rng, formula);
    }
    let (x, y) = (random_clock(rng, model), random_clock(rng, model));
    let place = random_place(rng, model);
    let kind = match rng.below(3) {
        1 if x == y || !model.bounded => 0,
        kind => kind,
    };
    let expr = match kind {
        0 => model.clock_text(x),
        1 => format!("{} - {}", model.clock_text(x), model.clock_text(y)),
        _ => model.place_text(place),
    };
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    for (k, s) in graph.states.iter().enumerate() {
        if !formula.holds(model, graph, k) {
            continue;
        }
        let between = |parts: i32| {
            let whole = i64::from(parts.div_euclid(graph.unit));
            2 * whole + i64::from(parts.rem_euclid(graph.unit) != 0)
        };
        let twice = match kind {
            0 => between(s.clock(model, x)),
            1 => between(s.clock(model, x) - s.clock(model, y)),
            _ => 2 * i64::from(s.number(model, place, 0)),
        };
        (least, most) = (least.min(twice), most.max(twice));
    }
    let expected = Expected {
        range: (least <= most).then_some((least, most)),
        most: graph.cap.map_or(i64::MAX, |cap| 2 * i64::from(cap)),
    };
    (
        format!("bounds{{{}}}: {expr}", formula.text(model)),
        expected,
    )
}
