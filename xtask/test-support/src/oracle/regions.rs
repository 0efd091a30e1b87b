//! The oracle: explores regions one by one. It is naive on purpose and shares no code with the
//! engine.
//!
//! A region is stored as its canonical point: clocks in units of `1 / unit` with evenly spaced
//! fractions. A clock beyond the greatest constant is set to one unit above it (never in bounded
//! models).
//!
//! If unbounded clocks are compared with each other, distances between neighbours (including 0) are
//! stored up to [`GAP`] instead: all larger distances give the same results in all comparisons,
//! even after clocks are set.

use super::model::{
    Atom, Clock, Condition, END, Kind, MAX, Op, Place, Sync, Test, TestModel, Update, Value,
};
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub locations: Vec<usize>,
    /// The variables, followed by the cells of the array.
    pub vars: Vec<i32>,
    /// The clocks; in bounded models, the last one bounds time.
    pub clocks: Vec<i32>,
}

pub struct Graph {
    pub unit: i32,
    /// Values of clocks beyond this are not distinguished; `None` if all are.
    pub cap: Option<i32>,
    pub states: Vec<State>,
    pub actions: Vec<Vec<usize>>,
    pub delays: Vec<Option<usize>>,
    /// For each region, whether time may pass in it for ever.
    pub forever: Vec<bool>,
    /// For each region, whether a step or a guard fails in it.
    pub fails: Vec<bool>,
    /// For each region, whether a step fails that priorities block.
    pub fails_if_not_blocked: Vec<bool>,
}

/// The least cap that is exact for all conditions.
pub const CAP: i32 = MAX;
/// The greatest constant that a difference is compared with, and the greatest value that a clock is
/// set to.
const GAP: i32 = MAX + 2;

impl State {
    fn clock_at(&self, model: &TestModel, clock: Clock) -> usize {
        match clock.by {
            Some(v) => (clock.x + self.vars[v] as usize) % model.clocks,
            None => clock.x,
        }
    }

    /// The index of a place; `None` for the select variable.
    fn place_at(&self, model: &TestModel, place: Place) -> Option<usize> {
        match place {
            Place::Var(v) => Some(v),
            Place::Cell(k, None) => Some(model.vars + k),
            Place::Cell(k, Some(v)) => Some(model.vars + (k + self.vars[v] as usize) % model.cells),
            Place::Select => None,
        }
    }

    /// The channel of an edge whose select variable is `k`.
    pub(super) fn channel_at(&self, model: &TestModel, sync: Sync, k: i32) -> usize {
        let by = sync.by.map_or(0, |place| self.number(model, place, k));
        (sync.channel + by as usize) % model.channels.len()
    }

    /// The value of a clock, in units.
    pub fn clock(&self, model: &TestModel, clock: Clock) -> i32 {
        self.clocks[self.clock_at(model, clock)]
    }

    /// The value of a place if the select variable is `k`.
    pub fn number(&self, model: &TestModel, place: Place, k: i32) -> i32 {
        self.place_at(model, place).map_or(k, |at| self.vars[at])
    }

    fn value(&self, model: &TestModel, value: Value, k: i32) -> i32 {
        value.c + value.plus.map_or(0, |place| self.number(model, place, k))
    }

    fn passes(&self, model: &TestModel, test: &Test, k: i32) -> bool {
        let same = self.number(model, test.place, k) == self.value(model, test.value, k);
        same == test.equal
    }
}

/// Whether a comparison holds if the select variable is `k`.
pub fn holds(atom: &Atom, model: &TestModel, s: &State, unit: i32, k: i32) -> bool {
    let value = s.clock(model, atom.x) - atom.y.map_or(0, |y| s.clock(model, y));
    let c = s.value(model, atom.c, k) * unit;
    match atom.op {
        Op::Lt => value < c,
        Op::Le => value <= c,
        Op::Ge => value >= c,
        Op::Gt => value > c,
        Op::Eq => value == c,
        Op::Ne => value != c,
    }
}

impl Graph {
    /// The region of a point, if it was reached; clocks are given as integers with fractions.
    pub fn find(
        &self,
        model: &TestModel,
        locations: Vec<usize>,
        vars: Vec<i32>,
        clocks: &[(i32, f64)],
    ) -> Option<usize> {
        let rank = |fraction: f64| {
            let mut below: Vec<f64> = clocks.iter().map(|c| c.1).collect();
            below.retain(|f| *f < fraction && *f > 0.0);
            below.sort_unstable_by(f64::total_cmp);
            below.dedup();
            below.len() as i32 + i32::from(fraction > 0.0)
        };
        let clocks = clocks
            .iter()
            .map(|(whole, fraction)| whole * self.unit + 2 * rank(*fraction));
        let state = State {
            locations,
            vars,
            clocks: clocks.collect(),
        };
        let walker = Walker::new(model, self.cap.unwrap_or(CAP));
        let region = walker.canonical(state);
        self.states.iter().position(|s| *s == region)
    }
}

pub struct Walker<'m> {
    pub(super) model: &'m TestModel,
    pub unit: i32,
    pub cap: Option<i32>,
    /// Larger distances are not distinguished.
    gap: Option<i32>,
    /// Whether points are kept as they are.
    exact: bool,
}

/// The participants of a step, sender first: process, edge, value of the select variable.
pub type Taken = Vec<(usize, usize, i32)>;

/// A step with its priority and its target; `None` if it fails.
type Tried = ((i32, i32), Option<(Taken, State)>);

impl<'m> Walker<'m> {
    pub fn new(model: &'m TestModel, cap: i32) -> Walker<'m> {
        let clocks = model.clocks + usize::from(model.bounded);
        Walker {
            model,
            unit: 2 * (clocks as i32 + 2),
            cap: (!model.bounded && !model.endless_differences).then_some(cap),
            gap: model.endless_differences.then_some(GAP),
            exact: false,
        }
    }

    /// One that looks at points instead of regions, with clocks in units of `1 / unit`.
    pub fn exact(model: &'m TestModel, unit: i32) -> Walker<'m> {
        Walker {
            model,
            unit,
            cap: None,
            gap: None,
            exact: true,
        }
    }

    pub(super) fn condition(&self, condition: &Condition, s: &State, k: i32) -> bool {
        let test = condition.test.is_none_or(|t| s.passes(self.model, &t, k));
        let atoms = &condition.atoms;
        let holds = |a: &Atom| holds(a, self.model, s, self.unit, k);
        let rest = if condition.either {
            (test || holds(&atoms[0])) && atoms[1..].iter().all(holds)
        } else {
            test && atoms.iter().all(holds)
        };
        let divisor = condition
            .divisor
            .map(|place| s.number(self.model, place, k));
        rest && divisor.is_none_or(|n| n == 1)
    }

    /// Whether an internal guard divides by zero in a process that may move.
    pub fn guard_fails(&self, s: &State) -> bool {
        let processes = 0..self.model.processes.len();
        let committed = |p: usize| self.kind(s, p) == Kind::Committed;
        let some_committed = processes.clone().any(committed);
        let mut free = processes.filter(|p| !some_committed || committed(*p));
        free.any(|p| {
            let mut own = self.model.processes[p].1.iter();
            own.any(|edge| {
                let zero = |place: Place| s.number(self.model, place, 0) == 0;
                let rest = Condition {
                    divisor: None,
                    ..edge.guard.clone()
                };
                edge.source == s.locations[p]
                    && edge.guard.divisor.is_some_and(zero)
                    && self.condition(&rest, s, 0)
            })
        })
    }

    pub fn invariants(&self, s: &State) -> bool {
        let local = s.locations.iter().enumerate().all(|(p, l)| {
            let location = &self.model.processes[p].0[*l];
            self.condition(&location.invariant, s, 0)
        });
        let free = !self.model.bounded || self.model.ticks;
        local && (free || s.clocks[self.model.clocks] <= END * self.unit)
    }

    pub fn canonical(&self, mut s: State) -> State {
        if self.exact {
            return s;
        }
        if let Some(cap) = self.cap {
            for c in &mut s.clocks {
                if *c > cap * self.unit {
                    *c = (cap + 1) * self.unit;
                }
            }
        }
        if let Some(gap) = self.gap {
            self.close_up(&mut s.clocks, gap);
        }
        let beyond = |c: i32| self.cap.is_some_and(|cap| c > cap * self.unit);
        let mut fractions: Vec<i32> = s
            .clocks
            .iter()
            .filter(|c| !beyond(**c))
            .map(|c| c % self.unit)
            .collect();
        fractions.push(0);
        fractions.sort_unstable();
        fractions.dedup();
        for c in &mut s.clocks {
            if !beyond(*c) {
                let rank = fractions
                    .iter()
                    .position(|f| *f == *c % self.unit)
                    .unwrap_or(0) as i32;
                *c = *c / self.unit * self.unit + 2 * rank;
            }
        }
        s
    }

    /// Shortens distances beyond the gap by integers.
    fn close_up(&self, clocks: &mut [i32], gap: i32) {
        let mut low = 0;
        while let Some(next) = clocks.iter().copied().filter(|c| *c > low).min() {
            let too_much = (next - low - gap * self.unit - 1) / self.unit;
            if too_much > 0 {
                for c in clocks.iter_mut().filter(|c| **c > low) {
                    *c -= too_much * self.unit;
                }
            }
            low = next - too_much.max(0) * self.unit;
        }
    }

    /// The next region in time; `None` if this one never ends.
    pub(super) fn next(&self, s: &State) -> Option<State> {
        let running: Vec<i32> = match self.cap {
            Some(cap) => s
                .clocks
                .iter()
                .copied()
                .filter(|c| *c <= cap * self.unit)
                .collect(),
            None => s.clocks.clone(),
        };
        let far = |gap: i32| running.iter().all(|c| *c > gap * self.unit);
        if running.is_empty() || self.gap.is_some_and(far) {
            return None;
        }
        let fractions = running.iter().map(|c| c % self.unit);
        let step = if fractions.clone().any(|f| f == 0) {
            1
        } else {
            self.unit - fractions.max().unwrap_or(0)
        };
        let mut t = s.clone();
        for c in &mut t.clocks {
            if self.cap.is_none_or(|cap| *c <= cap * self.unit) {
                *c += step;
            }
        }
        Some(self.canonical(t))
    }

    /// The enabled edges of a process, with the values of their select variables: those of a
    /// channel, or internal ones.
    fn edges(&self, s: &State, p: usize, sync: Option<(usize, bool)>) -> Taken {
        let edges = &self.model.processes[p].1;
        let mut found = Vec::new();
        for (e, edge) in edges.iter().enumerate() {
            for k in 0..if edge.select { 2 } else { 1 } {
                let own = edge
                    .sync
                    .map(|own| (s.channel_at(self.model, own, k), own.sends));
                if edge.source == s.locations[p] && own == sync && self.condition(&edge.guard, s, k)
                {
                    found.push((p, e, k));
                }
            }
        }
        found
    }

    /// All steps whose guards hold: the participants and the channel.
    fn guarded(&self, s: &State) -> Vec<(Taken, Option<usize>)> {
        let processes = self.model.processes.len();
        let mut steps = Vec::new();
        for p in 0..processes {
            steps.extend(self.edges(s, p, None).into_iter().map(|e| (vec![e], None)));
            for (c, channel) in self.model.channels.iter().enumerate() {
                for send in self.edges(s, p, Some((c, true))) {
                    let others: Vec<Taken> = (0..processes)
                        .filter(|q| *q != p)
                        .map(|q| self.edges(s, q, Some((c, false))))
                        .collect();
                    if !channel.broadcast {
                        steps.extend(
                            others
                                .into_iter()
                                .flatten()
                                .map(|r| (vec![send, r], Some(c))),
                        );
                        continue;
                    }
                    let mut all = vec![vec![send]];
                    for options in others.into_iter().filter(|o| !o.is_empty()) {
                        all = all
                            .iter()
                            .flat_map(|t| {
                                options
                                    .iter()
                                    .map(|o| [t.clone(), vec![*o]].concat())
                                    .collect::<Vec<_>>()
                            })
                            .collect();
                    }
                    steps.extend(all.into_iter().map(|t| (t, Some(c))));
                }
            }
        }
        steps
    }

    pub fn urgent(&self, s: &State) -> bool {
        self.guarded(s)
            .iter()
            .any(|(_, c)| c.is_some_and(|c| self.model.channels[c].urgent))
    }

    pub(super) fn kind(&self, s: &State, p: usize) -> Kind {
        self.model.processes[p].0[s.locations[p]].kind
    }

    /// All steps of a region with their targets, whether one of them fails, and whether one that
    /// others block fails.
    pub fn actions(&self, s: &State) -> (Vec<(Taken, State)>, bool, bool) {
        let processes = self.model.processes.len();
        let committed = (0..processes).any(|p| self.kind(s, p) == Kind::Committed);
        // Each step with its priority; no target means that it fails.
        let mut found: Vec<Tried> = Vec::new();
        for (taken, channel) in self.guarded(s) {
            if committed
                && !taken
                    .iter()
                    .any(|(p, _, _)| self.kind(s, *p) == Kind::Committed)
            {
                continue;
            }
            let of_channel = channel.map_or(0, |c| self.model.channels[c].priority);
            let levels = taken.iter().map(|(p, _, _)| self.model.levels[*p]);
            let priority = (of_channel, levels.max().unwrap_or(0));
            let mut t = s.clone();
            if !self.apply(&mut t, &taken) {
                found.push((priority, None));
                continue;
            }
            let t = self.canonical(t);
            if self.invariants(&t) {
                found.push((priority, Some((taken, t))));
            }
        }
        let best = found.iter().map(|f| f.0).max();
        let fails = |f: &Tried| f.1.is_none();
        let blocked = found.iter().any(|f| fails(f) && Some(f.0) != best);
        found.retain(|f| Some(f.0) == best);
        let failing = found.iter().any(fails) || self.guard_fails(s);
        (
            found.into_iter().filter_map(|f| f.1).collect(),
            failing,
            blocked,
        )
    }

    /// Performs a step. Returns false if it fails.
    pub fn apply(&self, s: &mut State, taken: &Taken) -> bool {
        let mut works = self.update(s, &self.model.around[0], 0);
        for &(p, e, k) in taken {
            let edge = &self.model.processes[p].1[e];
            works = works && self.update(s, &edge.updates, k);
            s.locations[p] = edge.target;
        }
        works && self.update(s, &self.model.around[1], 0)
    }

    /// Runs updates one after the other; `k` is the value of the select variable. Returns false if
    /// one fails.
    fn update(&self, s: &mut State, updates: &[Update], k: i32) -> bool {
        for update in updates {
            match *update {
                Update::Reset(x, c) => {
                    let x = s.clock_at(self.model, x);
                    s.clocks[x] = s.value(self.model, c, k) * self.unit;
                }
                // All clocks beyond the greatest constant are set to the same value.
                Update::Copy(x, y) => {
                    let x = s.clock_at(self.model, x);
                    s.clocks[x] = s.clock(self.model, y);
                }
                Update::Assign(place, from, c) => {
                    let base = from.map_or(0, |f| s.number(self.model, f, k));
                    if let Some(place) = s.place_at(self.model, place) {
                        s.vars[place] = (base + c + k) % 3;
                    }
                }
                Update::Call(f) => {
                    let function = &self.model.functions[f];
                    let updates = match s.passes(self.model, &function.test, k) {
                        true => &function.then,
                        false => &function.other,
                    };
                    if !self.update(s, updates, k) {
                        return false;
                    }
                }
                Update::Over(place, from, c) => {
                    let value = s.number(self.model, from, k) + c;
                    if value > 2 {
                        return false;
                    }
                    if let Some(place) = s.place_at(self.model, place) {
                        s.vars[place] = value;
                    }
                }
            }
        }
        true
    }

    /// The initial state.
    pub fn initial(&self) -> State {
        let first = self.model.first_clocks.iter().map(|c| c * self.unit);
        let mut initial = State {
            locations: vec![0; self.model.processes.len()],
            vars: self.model.first_numbers.clone(),
            clocks: first.collect(),
        };
        let clocks = self.model.clocks + usize::from(self.model.bounded);
        initial.clocks.resize(clocks, 0);
        initial
    }

    /// The next region in time, if time may lead there.
    pub(super) fn later(&self, s: &State) -> Option<State> {
        if !self.may_delay(s) {
            return None;
        }
        let t = self.next(s)?;
        // Into a region without duration one may go even if it is urgent there, into an open one
        // not.
        let instant = t
            .clocks
            .iter()
            .any(|c| c % self.unit == 0 && self.cap.is_none_or(|m| *c <= m * self.unit));
        (self.invariants(&t) && (instant || !self.urgent(&t))).then_some(t)
    }

    pub fn may_delay(&self, s: &State) -> bool {
        (0..self.model.processes.len()).all(|p| self.kind(s, p) == Kind::Normal) && !self.urgent(s)
    }
}

/// All reachable regions, or `None` if there are too many or the initial state violates an
/// invariant. If time is not bounded, values are distinguished up to `cap`.
pub fn explore(model: &TestModel, limit: usize, cap: i32) -> Option<Graph> {
    let walker = Walker::new(model, cap);
    let initial = walker.initial();
    let mut graph = Graph {
        unit: walker.unit,
        cap: walker.cap,
        states: Vec::new(),
        actions: Vec::new(),
        delays: Vec::new(),
        forever: Vec::new(),
        fails: Vec::new(),
        fails_if_not_blocked: Vec::new(),
    };
    if !walker.invariants(&initial) {
        return None;
    }
    let mut index: HashMap<State, usize> = HashMap::new();
    let mut queue = VecDeque::new();
    let mut number = |s: State, states: &mut Vec<State>, queue: &mut VecDeque<usize>| {
        *index.entry(s.clone()).or_insert_with(|| {
            states.push(s);
            queue.push_back(states.len() - 1);
            states.len() - 1
        })
    };
    number(initial, &mut graph.states, &mut queue);
    while let Some(k) = queue.pop_front() {
        if graph.states.len() > limit {
            return None;
        }
        let s = graph.states[k].clone();
        let (successors, fails, blocked) = walker.actions(&s);
        graph.fails.push(fails);
        graph.fails_if_not_blocked.push(blocked);
        let actions = successors
            .into_iter()
            .map(|(_, t)| number(t, &mut graph.states, &mut queue))
            .collect();
        graph.actions.push(actions);
        let forever = walker.may_delay(&s) && walker.next(&s).is_none();
        let delay = walker.later(&s);
        let delay = delay.map(|t| number(t, &mut graph.states, &mut queue));
        graph.delays.push(delay);
        graph.forever.push(forever);
    }
    Some(graph)
}

impl Graph {
    /// Whether no step can be reached from a region by delay.
    pub fn deadlocked(&self, k: usize) -> bool {
        let mut at = Some(k);
        while let Some(s) = at {
            if !self.actions[s].is_empty() || self.fails[s] {
                return false;
            }
            at = self.delays[s];
        }
        true
    }

    /// Whether no step is possible, not even one that fails.
    fn is_stuck(&self, k: usize) -> bool {
        self.actions[k].is_empty() && !self.fails[k]
    }

    /// Whether a failing region can be reached from the first one through regions where the
    /// condition holds.
    pub fn fails_within(&self, condition: &[bool]) -> bool {
        let mut seen = vec![false; self.states.len()];
        let mut left = vec![0];
        while let Some(k) = left.pop() {
            if !condition[k] || std::mem::replace(&mut seen[k], true) {
                continue;
            }
            if self.fails[k] {
                return true;
            }
            left.extend(self.actions[k].iter().chain(&self.delays[k]));
        }
        false
    }

    /// The regions with a maximal run that keeps the condition.
    pub fn stays(&self, condition: &[bool]) -> Vec<bool> {
        // Greatest fixpoint: removes regions that cannot continue; the last region of a run may end
        // it.
        let mut good = condition.to_vec();
        loop {
            let mut changed = false;
            for k in 0..good.len() {
                if good[k] {
                    let ends = self.forever[k] || (self.is_stuck(k) && self.delays[k].is_none());
                    let goes_on = self.actions[k]
                        .iter()
                        .chain(&self.delays[k])
                        .any(|t| good[*t]);
                    if !ends && !goes_on {
                        good[k] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return good;
            }
        }
    }
}
