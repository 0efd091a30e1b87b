//! Random small networks as data: printed as text for the engine, explored as data by the oracle.

use super::faults::spoil;
use crate::Rng;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Lt,
    Le,
    Ge,
    Gt,
    Eq,
    /// Only in queries.
    Ne,
}

/// A clock; with `by`, the clock at the index `x` plus the value of that variable, modulo the size
/// of the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    pub x: usize,
    pub by: Option<usize>,
}

/// Where a number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Var(usize),
    /// A cell of the array, selected like a clock.
    Cell(usize, Option<usize>),
    /// The select variable of the edge.
    Select,
}

/// A constant, or the sum of a constant and the value of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    pub c: i32,
    pub plus: Option<Place>,
}

/// `x - y op c`
#[derive(Clone, Copy, Debug)]
pub struct Atom {
    pub x: Clock,
    pub y: Option<Clock>,
    pub op: Op,
    pub c: Value,
}

/// Whether a place has a value, or does not have it.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    pub place: Place,
    pub equal: bool,
    pub value: Value,
}

/// A guard or an invariant.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub test: Option<Test>,
    pub atoms: Vec<Atom>,
    /// Whether the test or the first comparison alone is enough.
    pub either: bool,
    /// Written last: 1 divided by the value of the place must be 1. This fails if everything else
    /// holds and the value is 0.
    pub divisor: Option<Place>,
}

#[derive(Clone, Copy, Debug)]
pub enum Update {
    Reset(Clock, Value),
    /// Sets the first clock to the value of the second.
    Copy(Clock, Clock),
    /// Assigns a constant, or the value of another place plus the constant, modulo 3.
    Assign(Place, Option<Place>, i32),
    /// Calls this function.
    Call(usize),
    /// Assigns the value of a place plus a constant, which fails if the sum exceeds 2.
    Over(Place, Place, i32),
}

/// The updates if a test succeeds, and otherwise.
#[derive(Clone, Debug)]
pub struct Function {
    pub test: Test,
    pub then: Vec<Update>,
    pub other: Vec<Update>,
}

/// A channel, selected like a clock, and whether the edge sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sync {
    pub channel: usize,
    pub by: Option<Place>,
    pub sends: bool,
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
    pub invariant: Condition,
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub guard: Condition,
    pub sync: Option<Sync>,
    /// The updates, in the order in which they run.
    pub updates: Vec<Update>,
    /// Whether the edge exists once for each value of a select variable, which is added to the
    /// assigned constants.
    pub select: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    pub urgent: bool,
    pub broadcast: bool,
    /// The priority; 0 is the default.
    pub priority: i32,
}

#[derive(Clone, Debug)]
pub struct TestModel {
    pub clocks: usize,
    pub vars: usize,
    /// The initial values of variables and cells.
    pub first_numbers: Vec<i32>,
    /// The initial values of clocks.
    pub first_clocks: Vec<i32>,
    /// The size of an array of numbers, 0 for none.
    pub cells: usize,
    /// Whether the last variable, and the array, are declared `meta`.
    pub meta: bool,
    /// Whether the clocks are one array, so that variables can select among them.
    pub clock_array: bool,
    /// Whether the channels are one array; they then differ only in their priorities.
    pub channel_array: bool,
    /// Whether clocks may be set to other clocks.
    pub copies: bool,
    /// Whether this is a bounded model with copies in which only the difference of two clocks is
    /// compared with more than 1, so that zones keep only the necessary information about it and
    /// about its difference to a third clock.
    pub far: bool,
    pub functions: Vec<Function>,
    /// The updates that run before and after those of every step.
    pub around: [Vec<Update>; 2],
    pub channels: Vec<Channel>,
    pub processes: Vec<(Vec<Location>, Vec<Edge>)>,
    /// The priority of each process, increasing along the system line; all 0 for none.
    pub levels: Vec<i32>,
    /// Whether time is bounded, so that values need no cap (for differences). There is one more
    /// clock for that.
    pub bounded: bool,
    /// In bounded models: whether time is counted by a process that repeatedly sets the clock to 0.
    /// A clock that measures the total time keeps the differences to all others, and would hide
    /// that an abstraction loses the differences between others.
    pub ticks: bool,
    /// Whether time is not bounded although clocks are compared with each other.
    pub endless_differences: bool,
    pub priorities: bool,
    /// Whether steps or guards may fail.
    pub faulty: bool,
}

/// The greatest constant that a generated condition compares with.
pub const MAX: i32 = 3;
/// The end of time in bounded models.
pub const END: i32 = 5;

impl TestModel {
    /// The greatest constant that a single clock is compared with.
    fn most(&self) -> i32 {
        if self.far { 1 } else { MAX }
    }
}

pub fn random(rng: &mut Rng) -> TestModel {
    let bounded = rng.chance(30);
    let far = bounded && rng.chance(30);
    let endless_differences = !bounded && rng.chance(20);
    let clocks = match rng.below(3) {
        _ if far => 3,
        0 if endless_differences => 2,
        more => 1 + more,
    };
    let vars = 1 + rng.below(2);
    let priorities = rng.chance(12);
    let channel_array = rng.chance(20);
    let mut channels = (0..1 + rng.below(3))
        .map(|k| Channel {
            urgent: rng.chance(25),
            broadcast: rng.chance(40),
            priority: match k {
                _ if !priorities => 0,
                // Lower than steps without a channel.
                1 if rng.chance(40) => -1,
                _ => k as i32,
            },
        })
        .collect::<Vec<_>>();
    if channel_array {
        let Channel {
            urgent, broadcast, ..
        } = channels[0];
        for channel in &mut channels {
            (channel.urgent, channel.broadcast) = (urgent, broadcast);
        }
    }
    let cells = if rng.chance(15) { 2 + rng.below(2) } else { 0 };
    let first = rng.chance(15);
    let mut at_first = |count| {
        let some = (0..count).map(|_| if first { rng.range(0, 2) } else { 0 });
        some.collect()
    };
    let (first_numbers, first_clocks) = (at_first(vars + cells), at_first(clocks));
    let mut model = TestModel {
        clocks,
        vars,
        first_numbers,
        first_clocks,
        cells,
        meta: rng.chance(12),
        clock_array: clocks > 1 && rng.chance(20),
        channel_array,
        copies: far || clocks > 1 && rng.chance(25),
        far,
        functions: Vec::new(),
        around: [Vec::new(), Vec::new()],
        channels,
        processes: Vec::new(),
        levels: Vec::new(),
        bounded,
        ticks: bounded && (far || rng.chance(30)),
        endless_differences,
        priorities,
        faulty: false,
    };
    if rng.chance(20) {
        for _ in 0..1 + rng.below(2) {
            let function = Function {
                test: random_test(rng, &model, false),
                then: simple_updates(rng, &model, false),
                other: simple_updates(rng, &model, false),
            };
            model.functions.push(function);
        }
    }
    if rng.chance(15) {
        // At least one of both is blocking.
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
    if rng.chance(25) {
        spoil(rng, &mut model);
    }
    model
}

/// A process that counts the time and stops it at the end. It also sets clocks and variables at
/// integer times, so that some differences are known.
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
        c: constant(1),
    };
    let alone = |op| Condition {
        atoms: vec![atom(op)],
        ..Condition::default()
    };
    let locations = (0..=end).map(|k| Location {
        kind: if k == end { Kind::Urgent } else { Kind::Normal },
        invariant: alone(Op::Le),
    });
    let edges = (0..end).map(|k| {
        let mut updates = vec![Update::Reset(clock, constant(0))];
        if rng.chance(40) {
            updates.extend(random_updates(rng, model, false));
        }
        Edge {
            source: k,
            target: k + 1,
            guard: alone(Op::Eq),
            sync: None,
            updates,
            select: false,
        }
    });
    (locations.collect(), edges.collect())
}

fn constant(c: i32) -> Value {
    Value { c, plus: None }
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

/// A random place, possibly the select variable of an edge that has one.
fn random_operand(rng: &mut Rng, model: &TestModel, select: bool) -> Place {
    if select && rng.chance(40) {
        return Place::Select;
    }
    random_place(rng, model)
}

/// A comparison of a clock or, if the model allows it, possibly of two.
pub fn random_atom(rng: &mut Rng, model: &TestModel, ops: &[Op], diagonals: usize) -> Atom {
    let x = random_clock(rng, model);
    let op = ops[rng.below(ops.len())];
    let y = random_clock(rng, model);
    if model.far && rng.chance(60) {
        let [x, y] = [0, 1].map(|x| Clock { x, by: None });
        let (y, c) = (Some(y), constant(rng.range(-4, 4)));
        return Atom { x, y, op, c };
    }
    let allowed = model.bounded && !model.far || model.endless_differences;
    let diagonal = allowed && y != x && rng.chance(diagonals);
    Atom {
        x,
        y: diagonal.then_some(y),
        op,
        c: if diagonal {
            constant(rng.range(-2, 2))
        } else {
            constant(rng.range(0, model.most()))
        },
    }
}

/// Occasionally turns a comparison into one with the value of a place.
pub fn vary(rng: &mut Rng, model: &TestModel, atom: &mut Atom, select: bool) {
    if !model.far && rng.chance(15) {
        // Values of places are at most 2.
        atom.c = Value {
            c: rng.range(-1, MAX - 2),
            plus: Some(random_operand(rng, model, select)),
        };
    }
}

fn random_test(rng: &mut Rng, model: &TestModel, select: bool) -> Test {
    let place = random_place(rng, model);
    let equal = rng.chance(70);
    let value = if select && rng.chance(30) {
        Value {
            c: rng.range(0, 1),
            plus: Some(Place::Select),
        }
    } else {
        constant(rng.range(0, 2))
    };
    Test {
        place,
        equal,
        value,
    }
}

/// An invariant that holds initially is usually only an upper bound: models that cannot start are
/// useless.
fn random_invariant(rng: &mut Rng, model: &TestModel, first: bool) -> Condition {
    let plain = first && rng.chance(85);
    let mut invariant = Condition::default();
    if rng.chance(if model.far { 15 } else { 40 }) {
        let op = match rng.below(20) {
            // Lower bounds are allowed, but unusual.
            0 if !plain => Op::Ge,
            1..6 => Op::Lt,
            _ => Op::Le,
        };
        let mut atom = Atom {
            x: random_clock(rng, model),
            y: None,
            op,
            c: constant(rng.range(1, model.most())),
        };
        if !plain {
            vary(rng, model, &mut atom, false);
        }
        invariant.atoms.push(atom);
        if !plain && rng.chance(20) {
            let second = random_atom(rng, model, &[Op::Lt, Op::Le], 70);
            invariant.atoms.push(second);
        }
    }
    if !plain && rng.chance(8) {
        invariant.test = Some(random_test(rng, model, false));
        invariant.either = !invariant.atoms.is_empty() && rng.chance(50);
    }
    invariant
}

fn random_process(rng: &mut Rng, model: &TestModel) -> (Vec<Location>, Vec<Edge>) {
    let count = 2 + rng.below(2);
    let locations = (0..count)
        .map(|k| Location {
            kind: match rng.below(12) {
                0 if k > 0 || rng.chance(20) => Kind::Urgent,
                1 if k > 0 || rng.chance(20) => Kind::Committed,
                _ => Kind::Normal,
            },
            invariant: random_invariant(rng, model, k == 0),
        })
        .collect();
    let mut edges = Vec::new();
    for k in 0..2 + rng.below(4) {
        let select = rng.chance(12);
        let sync = rng.chance(55).then(|| Sync {
            channel: rng.below(model.channels.len()),
            by: (model.channel_array && rng.chance(50)).then(|| random_operand(rng, model, select)),
            sends: rng.chance(50),
        });
        edges.push(Edge {
            source: if k < count { k } else { rng.below(count) },
            target: rng.below(count),
            guard: random_guard(rng, model, sync, select),
            sync,
            updates: random_updates(rng, model, select),
            select,
        });
    }
    (locations, edges)
}

fn random_guard(rng: &mut Rng, model: &TestModel, sync: Option<Sync>, select: bool) -> Condition {
    let clock_guard = rng.chance(55)
        // A clock guard on an urgent edge, or on a broadcast receiver, is rare but must be handled
        // correctly.
        && (sync.is_none_or(|sync| {
            let channel = &model.channels[sync.channel];
            !(channel.urgent || channel.broadcast && !sync.sends)
        }) || rng.chance(30));
    let mut guard = Condition::default();
    if clock_guard {
        let ops = [Op::Lt, Op::Le, Op::Ge, Op::Gt, Op::Ge, Op::Gt, Op::Eq];
        let more = if rng.chance(25) { 2 } else { 1 };
        for ops in [&ops[..], &ops[..4]].into_iter().take(more) {
            let mut atom = random_atom(rng, model, ops, 35);
            vary(rng, model, &mut atom, select);
            guard.atoms.push(atom);
        }
    }
    guard.test = rng.chance(30).then(|| random_test(rng, model, select));
    guard.either = guard.test.is_some() && clock_guard && rng.chance(25);
    guard
}

fn random_updates(rng: &mut Rng, model: &TestModel, select: bool) -> Vec<Update> {
    let mut updates = simple_updates(rng, model, select);
    if !model.functions.is_empty() && rng.chance(40) {
        let call = Update::Call(rng.below(model.functions.len()));
        updates.truncate(2);
        updates.insert(rng.below(updates.len() + 1), call);
    }
    updates
}

fn simple_updates(rng: &mut Rng, model: &TestModel, select: bool) -> Vec<Update> {
    let mut updates = Vec::new();
    for x in 0..model.clocks {
        if rng.chance(35) {
            let clock = match random_clock(rng, model) {
                Clock { by: None, .. } => Clock { x, by: None },
                picked => picked,
            };
            updates.push(random_setting(rng, model, clock, select));
        }
    }
    if rng.chance(45) {
        let assign = random_assign(rng, model);
        // An assigned value may select what is set after it.
        updates.insert(rng.below(updates.len() + 1), assign);
    }
    updates
}

fn random_setting(rng: &mut Rng, model: &TestModel, clock: Clock, select: bool) -> Update {
    if model.copies && rng.chance(40) {
        return Update::Copy(clock, random_clock(rng, model));
    }
    let value = match rng.below(100) {
        0..15 => constant(rng.range(1, 2)),
        15..23 => Value {
            c: 0,
            plus: Some(random_operand(rng, model, select)),
        },
        _ => constant(0),
    };
    Update::Reset(clock, value)
}

fn random_assign(rng: &mut Rng, model: &TestModel) -> Update {
    let from = rng.chance(30).then(|| random_place(rng, model));
    Update::Assign(random_place(rng, model), from, rng.range(0, 2))
}

/// Rarely about clocks: a clock that every step sets is of little use.
fn random_around(rng: &mut Rng, model: &TestModel) -> Update {
    if !model.functions.is_empty() && rng.chance(30) {
        return Update::Call(rng.below(model.functions.len()));
    }
    if rng.chance(25) {
        let clock = random_clock(rng, model);
        return random_setting(rng, model, clock, false);
    }
    random_assign(rng, model)
}
