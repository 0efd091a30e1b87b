//! Random small networks, as data: printed as text for the engine, walked as data by the oracle.

use crate::rng::Rng;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Lt,
    Le,
    Ge,
    Gt,
    Eq,
}

/// A clock; with `by` the one so many places after `x` as that variable says, around the end of the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    pub x: usize,
    pub by: Option<usize>,
}

/// `x - y op c`
#[derive(Clone, Copy, Debug)]
pub struct Atom {
    pub x: Clock,
    pub y: Option<Clock>,
    pub op: Op,
    pub c: i32,
}

/// Where a number is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Var(usize),
    /// A cell of the array, picked as a clock is.
    Cell(usize, Option<usize>),
}

#[derive(Clone, Copy, Debug)]
pub enum Update {
    Reset(Clock, i32),
    /// The first becomes what the second is.
    Copy(Clock, Clock),
    /// A constant, or the value of another place plus it, modulo 3.
    Assign(Place, Option<Place>, i32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Normal,
    Urgent,
    Committed,
}

#[derive(Clone, Debug)]
pub struct Location {
    pub kind: Kind,
    pub invariant: Vec<Atom>,
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub test: Option<(Place, bool, i32)>,
    pub guard: Vec<Atom>,
    pub sync: Option<(usize, bool)>,
    /// In the order in which they run.
    pub updates: Vec<Update>,
    /// The edge exists once for each value of a select variable that is added to the assigned constants.
    pub select: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    pub urgent: bool,
    pub broadcast: bool,
    /// 0 is the default.
    pub priority: i32,
}

#[derive(Clone, Debug)]
pub struct TestModel {
    pub clocks: usize,
    pub vars: usize,
    /// Size of an array of numbers, 0 for none.
    pub cells: usize,
    /// Whether the last variable, and the array, are declared `meta`.
    pub meta: bool,
    /// Whether the clocks are one array, so that variables can pick among them.
    pub clock_array: bool,
    /// Whether clocks may be set to other clocks.
    pub copies: bool,
    /// A bounded model with copies in which only the difference of two clocks is compared with more than 1, so that zones
    /// know no more of it, and of that to a third clock, than they must.
    pub far: bool,
    /// What runs before and after the updates of every step.
    pub around: [Vec<Update>; 2],
    pub channels: Vec<Channel>,
    pub processes: Vec<(Vec<Location>, Vec<Edge>)>,
    /// The priority of each process, growing along the system line; all 0 for none.
    pub levels: Vec<i32>,
    /// Time ends, so that values need no cap (for differences). There is one more clock for that.
    pub bounded: bool,
    /// In bounded models: time is counted by a process that sets the clock to 0 again and again. A clock that measures it
    /// as a whole keeps the differences to all others, and so hides when an abstraction loses those between others.
    pub ticks: bool,
    pub priorities: bool,
}

/// The greatest constant that a generated condition compares with.
pub const MAX: i32 = 3;
/// Where time ends in bounded models.
pub const END: i32 = 5;

impl TestModel {
    /// The greatest constant that a clock alone is compared with.
    fn most(&self) -> i32 {
        if self.far { 1 } else { MAX }
    }
}

pub fn random(rng: &mut Rng) -> TestModel {
    let bounded = rng.chance(30);
    let far = bounded && rng.chance(30);
    let clocks = if far { 3 } else { 1 + rng.below(3) };
    let vars = 1 + rng.below(2);
    let priorities = rng.chance(12);
    let channels = (0..1 + rng.below(3))
        .map(|k| Channel {
            urgent: rng.chance(25),
            broadcast: rng.chance(40),
            priority: match k {
                _ if !priorities => 0,
                // Below steps without a channel.
                1 if rng.chance(40) => -1,
                _ => k as i32,
            },
        })
        .collect::<Vec<_>>();
    let mut model = TestModel {
        clocks,
        vars,
        cells: if rng.chance(15) { 2 + rng.below(2) } else { 0 },
        meta: rng.chance(12),
        clock_array: clocks > 1 && rng.chance(20),
        copies: far || clocks > 1 && rng.chance(25),
        far,
        around: [Vec::new(), Vec::new()],
        channels,
        processes: Vec::new(),
        levels: Vec::new(),
        bounded,
        ticks: bounded && (far || rng.chance(30)),
        priorities,
    };
    if rng.chance(15) {
        // At least one of both blocks.
        let which = rng.below(3);
        for k in [0, 1] {
            if which != k {
                model.around[k] = vec![random_around(rng, &model)];
            }
        }
    }
    let levels = rng.chance(15);
    for _ in 0..2 + rng.below(3) {
        let process = random_process(rng, &model);
        model.processes.push(process);
    }
    if model.ticks {
        let process = ticker(rng, &model);
        model.processes.push(process);
    }
    let mut level = 0;
    for p in 0..model.processes.len() {
        level += i32::from(levels && p > 0 && rng.chance(60));
        model.levels.push(level);
    }
    model
}

/// Counts the time and stops it at the end. It also sets things at whole times, so that some differences are known.
fn ticker(rng: &mut Rng, model: &TestModel) -> (Vec<Location>, Vec<Edge>) {
    let end = END as usize;
    let clock = Clock {
        x: model.clocks,
        by: None,
    };
    let atom = |op| Atom {
        x: clock,
        y: None,
        op,
        c: 1,
    };
    let locations = (0..=end).map(|k| Location {
        kind: if k == end { Kind::Urgent } else { Kind::Normal },
        invariant: vec![atom(Op::Le)],
    });
    let edges = (0..end).map(|k| {
        let mut updates = vec![Update::Reset(clock, 0)];
        if rng.chance(40) {
            updates.extend(random_updates(rng, model));
        }
        Edge {
            source: k,
            target: k + 1,
            test: None,
            guard: vec![atom(Op::Eq)],
            sync: None,
            updates,
            select: false,
        }
    });
    (locations.collect(), edges.collect())
}

pub fn random_clock(rng: &mut Rng, model: &TestModel) -> Clock {
    Clock {
        x: rng.below(model.clocks),
        by: (model.clock_array && rng.chance(40)).then(|| rng.below(model.vars)),
    }
}

pub fn random_place(rng: &mut Rng, model: &TestModel) -> Place {
    if model.cells > 0 && rng.chance(60) {
        let by = rng.chance(70).then(|| rng.below(model.vars));
        return Place::Cell(rng.below(model.cells), by);
    }
    Place::Var(rng.below(model.vars))
}

/// A comparison of a clock or, where time ends, perhaps of two.
pub fn random_atom(rng: &mut Rng, model: &TestModel, ops: &[Op], diagonals: usize) -> Atom {
    let x = random_clock(rng, model);
    let op = ops[rng.below(ops.len())];
    let y = random_clock(rng, model);
    if model.far && rng.chance(60) {
        let [x, y] = [0, 1].map(|x| Clock { x, by: None });
        let (y, c) = (Some(y), rng.range(-4, 4));
        return Atom { x, y, op, c };
    }
    let diagonal = model.bounded && !model.far && y != x && rng.chance(diagonals);
    Atom {
        x,
        y: diagonal.then_some(y),
        op,
        c: if diagonal {
            rng.range(-2, 2)
        } else {
            rng.range(0, model.most())
        },
    }
}

fn random_process(rng: &mut Rng, model: &TestModel) -> (Vec<Location>, Vec<Edge>) {
    let count = 2 + rng.below(2);
    let locations = (0..count)
        .map(|k| Location {
            kind: match rng.below(12) {
                0 if k > 0 => Kind::Urgent,
                1 if k > 0 => Kind::Committed,
                _ => Kind::Normal,
            },
            invariant: if rng.chance(if model.far { 15 } else { 40 }) {
                vec![Atom {
                    x: random_clock(rng, model),
                    y: None,
                    op: if rng.chance(30) { Op::Lt } else { Op::Le },
                    c: rng.range(1, model.most()),
                }]
            } else {
                Vec::new()
            },
        })
        .collect();
    let mut edges = Vec::new();
    for k in 0..2 + rng.below(4) {
        let sync = rng
            .chance(55)
            .then(|| (rng.below(model.channels.len()), rng.chance(50)));
        let clock_guard = rng.chance(55)
            // A clock guard on an urgent edge, or on a broadcast receiver, is rare but must be right.
            && (sync.is_none_or(|(c, sends)| {
                let channel = &model.channels[c];
                !(channel.urgent || channel.broadcast && !sends)
            }) || rng.chance(30));
        let mut guard = Vec::new();
        if clock_guard {
            let ops = [Op::Lt, Op::Le, Op::Ge, Op::Gt, Op::Ge, Op::Gt, Op::Eq];
            guard.push(random_atom(rng, model, &ops, 35));
            if rng.chance(25) {
                guard.push(random_atom(rng, model, &ops[..4], 35));
            }
        }
        edges.push(Edge {
            source: if k < count { k } else { rng.below(count) },
            target: rng.below(count),
            test: rng
                .chance(30)
                .then(|| (random_place(rng, model), rng.chance(70), rng.range(0, 2))),
            guard,
            sync,
            updates: random_updates(rng, model),
            select: rng.chance(10),
        });
    }
    (locations, edges)
}

fn random_updates(rng: &mut Rng, model: &TestModel) -> Vec<Update> {
    let mut updates = Vec::new();
    for x in 0..model.clocks {
        if rng.chance(35) {
            let clock = match random_clock(rng, model) {
                Clock { by: None, .. } => Clock { x, by: None },
                picked => picked,
            };
            updates.push(random_setting(rng, model, clock));
        }
    }
    if rng.chance(45) {
        let assign = random_assign(rng, model);
        // What is assigned may pick what is set after it.
        updates.insert(rng.below(updates.len() + 1), assign);
    }
    updates
}

fn random_setting(rng: &mut Rng, model: &TestModel, clock: Clock) -> Update {
    if model.copies && rng.chance(40) {
        return Update::Copy(clock, random_clock(rng, model));
    }
    Update::Reset(clock, if rng.chance(15) { rng.range(1, 2) } else { 0 })
}

fn random_assign(rng: &mut Rng, model: &TestModel) -> Update {
    let from = rng.chance(30).then(|| random_place(rng, model));
    Update::Assign(random_place(rng, model), from, rng.range(0, 2))
}

/// Rarely about clocks: one that every step sets tells little.
fn random_around(rng: &mut Rng, model: &TestModel) -> Update {
    if rng.chance(25) {
        let clock = random_clock(rng, model);
        return random_setting(rng, model, clock);
    }
    random_assign(rng, model)
}
