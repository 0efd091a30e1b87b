//! The oracle: explores regions one by one. Naive on purpose; shares nothing with the engine.
//!
//! A region is kept as its canonical point: clocks in units of `1 / unit` with evenly spaced fractions; a clock beyond the
//! greatest constant is parked one unit above it (never in bounded models).

use super::model::{Atom, Clock, END, Kind, MAX, Op, Place, TestModel, Update};
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub locations: Vec<usize>,
    /// The cells of the array come after the variables.
    pub vars: Vec<i32>,
    /// The last one is that which bounds time in bounded models.
    pub clocks: Vec<i32>,
}

pub struct Graph {
    pub unit: i32,
    pub states: Vec<State>,
    pub actions: Vec<Vec<usize>>,
    pub delays: Vec<Option<usize>>,
    /// Whether time may pass for ever inside the region.
    pub forever: Vec<bool>,
}

fn cap(model: &TestModel) -> Option<i32> {
    (!model.bounded).then_some(MAX)
}

impl State {
    fn clock_at(&self, model: &TestModel, clock: Clock) -> usize {
        match clock.by {
            Some(v) => (clock.x + self.vars[v] as usize) % model.clocks,
            None => clock.x,
        }
    }

    fn place_at(&self, model: &TestModel, place: Place) -> usize {
        match place {
            Place::Var(v) => v,
            Place::Cell(k, None) => model.vars + k,
            Place::Cell(k, Some(v)) => model.vars + (k + self.vars[v] as usize) % model.cells,
        }
    }

    /// In units.
    pub fn clock(&self, model: &TestModel, clock: Clock) -> i32 {
        self.clocks[self.clock_at(model, clock)]
    }

    pub fn number(&self, model: &TestModel, place: Place) -> i32 {
        self.vars[self.place_at(model, place)]
    }
}

pub fn holds(atom: &Atom, model: &TestModel, s: &State, unit: i32) -> bool {
    let value = s.clock(model, atom.x) - atom.y.map_or(0, |y| s.clock(model, y));
    let c = atom.c * unit;
    match atom.op {
        Op::Lt => value < c,
        Op::Le => value <= c,
        Op::Ge => value >= c,
        Op::Gt => value > c,
        Op::Eq => value == c,
    }
}

struct Walker<'m> {
    model: &'m TestModel,
    unit: i32,
}

type Taken = Vec<(usize, usize, i32)>;

impl Walker<'_> {
    fn invariants(&self, s: &State) -> bool {
        let local = s.locations.iter().enumerate().all(|(p, l)| {
            self.model.processes[p].0[*l]
                .invariant
                .iter()
                .all(|a| holds(a, self.model, s, self.unit))
        });
        let free = !self.model.bounded || self.model.ticks;
        local && (free || s.clocks[self.model.clocks] <= END * self.unit)
    }

    fn canonical(&self, mut s: State) -> State {
        if let Some(cap) = cap(self.model) {
            for c in &mut s.clocks {
                if *c > cap * self.unit {
                    *c = (cap + 1) * self.unit;
                }
            }
        }
        let beyond = |c: i32| cap(self.model).is_some_and(|cap| c > cap * self.unit);
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

    /// The next region in time; `None` if this one never ends.
    fn next(&self, s: &State) -> Option<State> {
        let running: Vec<i32> = match cap(self.model) {
            Some(cap) => s
                .clocks
                .iter()
                .copied()
                .filter(|c| *c <= cap * self.unit)
                .collect(),
            None => s.clocks.clone(),
        };
        if running.is_empty() {
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
            if cap(self.model).is_none_or(|cap| *c <= cap * self.unit) {
                *c += step;
            }
        }
        Some(self.canonical(t))
    }

    fn enabled(&self, s: &State, p: usize, e: usize) -> bool {
        let edge = &self.model.processes[p].1[e];
        edge.source == s.locations[p]
            && edge
                .guard
                .iter()
                .all(|a| holds(a, self.model, s, self.unit))
            && edge
                .test
                .is_none_or(|(place, equal, c)| (s.number(self.model, place) == c) == equal)
    }

    fn edges(&self, s: &State, p: usize, sync: Option<(usize, bool)>) -> Taken {
        let edges = &self.model.processes[p].1;
        let mut found = Vec::new();
        for (e, edge) in edges.iter().enumerate() {
            if edge.sync == sync && self.enabled(s, p, e) {
                found.extend((0..if edge.select { 2 } else { 1 }).map(|k| (p, e, k)));
            }
        }
        found
    }

    /// All steps by guards: who takes part, and the channel.
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

    fn urgent(&self, s: &State) -> bool {
        self.guarded(s)
            .iter()
            .any(|(_, c)| c.is_some_and(|c| self.model.channels[c].urgent))
    }

    fn kind(&self, s: &State, p: usize) -> Kind {
        self.model.processes[p].0[s.locations[p]].kind
    }

    fn actions(&self, s: &State) -> Vec<State> {
        let processes = self.model.processes.len();
        let committed = (0..processes).any(|p| self.kind(s, p) == Kind::Committed);
        let mut found: Vec<((i32, i32), State)> = Vec::new();
        for (taken, channel) in self.guarded(s) {
            if committed
                && !taken
                    .iter()
                    .any(|(p, _, _)| self.kind(s, *p) == Kind::Committed)
            {
                continue;
            }
            let mut t = s.clone();
            self.update(&mut t, &self.model.around[0], 0);
            for &(p, e, k) in &taken {
                let edge = &self.model.processes[p].1[e];
                self.update(&mut t, &edge.updates, k);
                t.locations[p] = edge.target;
            }
            self.update(&mut t, &self.model.around[1], 0);
            let t = self.canonical(t);
            if self.invariants(&t) {
                let of_channel = channel.map_or(0, |c| self.model.channels[c].priority);
                let levels = taken.iter().map(|(p, _, _)| self.model.levels[*p]);
                found.push(((of_channel, levels.max().unwrap_or(0)), t));
            }
        }
        let best = found.iter().map(|f| f.0).max();
        found.retain(|f| Some(f.0) == best);
        found.into_iter().map(|f| f.1).collect()
    }

    /// Runs updates one after the other; `k` is the value of the select variable.
    fn update(&self, s: &mut State, updates: &[Update], k: i32) {
        for update in updates {
            match *update {
                Update::Reset(x, c) => {
                    let x = s.clock_at(self.model, x);
                    s.clocks[x] = c * self.unit;
                }
                // A clock beyond the greatest constant is parked at the same value as every other.
                Update::Copy(x, y) => {
                    let x = s.clock_at(self.model, x);
                    s.clocks[x] = s.clock(self.model, y);
                }
                Update::Assign(place, from, c) => {
                    let base = from.map_or(0, |f| s.number(self.model, f));
                    let place = s.place_at(self.model, place);
                    s.vars[place] = (base + c + k) % 3;
                }
            }
        }
    }

    fn may_delay(&self, s: &State) -> bool {
        (0..self.model.processes.len()).all(|p| self.kind(s, p) == Kind::Normal) && !self.urgent(s)
    }
}

/// All reachable regions, or `None` if there are too many or the initial state is not allowed.
pub fn explore(model: &TestModel, limit: usize) -> Option<Graph> {
    let clocks = model.clocks + usize::from(model.bounded);
    let walker = Walker {
        model,
        unit: 2 * (clocks as i32 + 2),
    };
    let initial = State {
        locations: vec![0; model.processes.len()],
        vars: vec![0; model.vars + model.cells],
        clocks: vec![0; clocks],
    };
    let mut graph = Graph {
        unit: walker.unit,
        states: Vec::new(),
        actions: Vec::new(),
        delays: Vec::new(),
        forever: Vec::new(),
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
        let successors = walker.actions(&s);
        let actions = successors
            .into_iter()
            .map(|t| number(t, &mut graph.states, &mut queue))
            .collect();
        graph.actions.push(actions);
        let mut delay = None;
        let mut forever = false;
        if walker.may_delay(&s) {
            match walker.next(&s) {
                None => forever = true,
                Some(t) => {
                    // Into a region without duration one may go even if it is urgent there, into an open one not.
                    let instant = t.clocks.iter().any(|c| {
                        c % walker.unit == 0 && cap(model).is_none_or(|m| *c <= m * walker.unit)
                    });
                    if walker.invariants(&t) && (instant || !walker.urgent(&t)) {
                        delay = Some(number(t, &mut graph.states, &mut queue));
                    }
                }
            }
        }
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
            if !self.actions[s].is_empty() {
                return false;
            }
            at = self.delays[s];
        }
        true
    }

    /// Which regions have a maximal run that keeps the condition.
    pub fn stays(&self, condition: &[bool]) -> Vec<bool> {
        // Greatest fixpoint: take away what cannot go on; the last region of a run may end it.
        let mut good = condition.to_vec();
        loop {
            let mut changed = false;
            for k in 0..good.len() {
                if good[k] {
                    let ends =
                        self.forever[k] || (self.actions[k].is_empty() && self.delays[k].is_none());
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
