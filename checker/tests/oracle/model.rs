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

impl Op {
    pub fn text(self) -> &'static str {
        match self {
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Ge => ">=",
            Op::Gt => ">",
            Op::Eq => "==",
        }
    }
}

/// `x - y op c`
#[derive(Clone, Copy, Debug)]
pub struct Atom {
    pub x: usize,
    pub y: Option<usize>,
    pub op: Op,
    pub c: i32,
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
    pub test: Option<(usize, bool, i32)>,
    pub guard: Vec<Atom>,
    pub sync: Option<(usize, bool)>,
    /// `v = c`, or `v = v2 + c` modulo 3.
    pub assign: Option<(usize, Option<usize>, i32)>,
    pub resets: Vec<(usize, i32)>,
    /// The edge exists once for each value of a select variable that is added to the assigned constant.
    pub select: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    pub urgent: bool,
    pub broadcast: bool,
    pub priority: i32,
}

#[derive(Clone, Debug)]
pub struct TestModel {
    pub clocks: usize,
    pub vars: usize,
    pub channels: Vec<Channel>,
    pub processes: Vec<(Vec<Location>, Vec<Edge>)>,
    /// Time ends at 6, so that values need no cap (for differences).
    pub bounded: bool,
    pub priorities: bool,
}

/// The greatest constant that a generated condition compares with.
pub const MAX: i32 = 3;
/// Where time ends in bounded models.
pub const END: i32 = 5;

pub fn atom_text(a: &Atom) -> String {
    let right = a.y.map(|y| format!(" - x{y}")).unwrap_or_default();
    format!("x{}{right} {} {}", a.x, a.op.text(), a.c)
}

pub fn random(rng: &mut Rng) -> TestModel {
    let bounded = rng.chance(30);
    let clocks = 1 + rng.below(3);
    let vars = 1 + rng.below(2);
    let priorities = rng.chance(12);
    let channels = (0..1 + rng.below(3))
        .map(|k| Channel {
            urgent: rng.chance(25),
            broadcast: rng.chance(40),
            priority: if priorities { k as i32 } else { 0 },
        })
        .collect::<Vec<_>>();
    let mut model = TestModel {
        clocks,
        vars,
        channels,
        processes: Vec::new(),
        bounded,
        priorities,
    };
    for _ in 0..2 + rng.below(3) {
        let process = random_process(rng, &model);
        model.processes.push(process);
    }
    model
}

fn random_atom(rng: &mut Rng, model: &TestModel, ops: &[Op]) -> Atom {
    let x = rng.below(model.clocks);
    let op = ops[rng.below(ops.len())];
    let y = rng.below(model.clocks);
    let diagonal = model.bounded && y != x && rng.chance(35);
    Atom {
        x,
        y: diagonal.then_some(y),
        op,
        c: if diagonal {
            rng.range(-2, 2)
        } else {
            rng.range(0, MAX)
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
            invariant: if rng.chance(40) {
                vec![Atom {
                    x: rng.below(model.clocks),
                    y: None,
                    op: if rng.chance(30) { Op::Lt } else { Op::Le },
                    c: rng.range(1, MAX),
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
            guard.push(random_atom(
                rng,
                model,
                &[Op::Lt, Op::Le, Op::Ge, Op::Gt, Op::Ge, Op::Gt, Op::Eq],
            ));
            if rng.chance(25) {
                guard.push(random_atom(rng, model, &[Op::Lt, Op::Le, Op::Ge, Op::Gt]));
            }
        }
        edges.push(Edge {
            source: if k < count { k } else { rng.below(count) },
            target: rng.below(count),
            test: rng
                .chance(30)
                .then(|| (rng.below(model.vars), rng.chance(70), rng.range(0, 2))),
            guard,
            sync,
            assign: rng.chance(45).then(|| {
                let from = rng.chance(30).then(|| rng.below(model.vars));
                (rng.below(model.vars), from, rng.range(0, 2))
            }),
            resets: random_resets(rng, model),
            select: rng.chance(10),
        });
    }
    (locations, edges)
}

impl TestModel {
    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let list = |name: &str, n: usize| {
            (0..n)
                .map(|k| format!("{name}{k}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        out += &format!(
            "clock {};\nint[0,2] {};\n",
            list("x", self.clocks),
            list("v", self.vars)
        );
        if self.bounded {
            out += "clock g;\n";
        }
        for (k, c) in self.channels.iter().enumerate() {
            let urgent = if c.urgent { "urgent " } else { "" };
            let broadcast = if c.broadcast { "broadcast " } else { "" };
            out += &format!("{urgent}{broadcast}chan c{k};\n");
        }
        if self.priorities {
            out += "chan priority default";
            for k in 1..self.channels.len() {
                out += &format!(" < c{k}");
            }
            out += ";\n";
        }
        for (p, (locations, edges)) in self.processes.iter().enumerate() {
            out += &self.process_text(p, locations, edges);
        }
        out += &format!("system {};\n", list("P", self.processes.len()));
        out
    }

    fn process_text(&self, p: usize, locations: &[Location], edges: &[Edge]) -> String {
        let mut out = format!("process P{p}() {{\n  state ");
        let states: Vec<String> = locations
            .iter()
            .enumerate()
            .map(|(l, location)| {
                let mut parts: Vec<String> = location.invariant.iter().map(atom_text).collect();
                if self.bounded && p == 0 {
                    parts.push(format!("g <= {END}"));
                }
                let invariant = if parts.is_empty() {
                    String::new()
                } else {
                    format!(" {{ {} }}", parts.join(" && "))
                };
                format!("l{l}{invariant}")
            })
            .collect();
        out += &format!("{};\n", states.join(", "));
        for (kind, word) in [(Kind::Committed, "commit"), (Kind::Urgent, "urgent")] {
            let names: Vec<String> = (0..locations.len())
                .filter(|l| locations[*l].kind == kind)
                .map(|l| format!("l{l}"))
                .collect();
            if !names.is_empty() {
                out += &format!("  {word} {};\n", names.join(", "));
            }
        }
        out += "  init l0;\n";
        let lines: Vec<String> = edges.iter().map(edge_text).collect();
        if !lines.is_empty() {
            out += &format!("  trans\n{};\n", lines.join(",\n"));
        }
        out + "}\n"
    }
}

fn edge_text(e: &Edge) -> String {
    let mut out = format!("    l{} -> l{} {{", e.source, e.target);
    if e.select {
        out += " select s : int[0,1];";
    }
    let mut guard: Vec<String> = e.guard.iter().map(atom_text).collect();
    if let Some((v, equal, c)) = e.test {
        guard.push(format!("v{v} {} {c}", if equal { "==" } else { "!=" }));
    }
    if !guard.is_empty() {
        out += &format!(" guard {};", guard.join(" && "));
    }
    if let Some((c, sends)) = e.sync {
        out += &format!(" sync c{c}{};", if sends { "!" } else { "?" });
    }
    let mut updates: Vec<String> = e
        .resets
        .iter()
        .map(|(x, c)| format!("x{x} = {c}"))
        .collect();
    if let Some((v, from, c)) = e.assign {
        let base = from.map(|f| format!("v{f} + ")).unwrap_or_default();
        let select = if e.select { " + s" } else { "" };
        updates.push(format!("v{v} = ({base}{c}{select}) % 3"));
    }
    if !updates.is_empty() {
        out += &format!(" assign {};", updates.join(", "));
    }
    out + " }"
}

fn random_resets(rng: &mut Rng, model: &TestModel) -> Vec<(usize, i32)> {
    let mut resets = Vec::new();
    for x in 0..model.clocks {
        if rng.chance(35) {
            resets.push((x, if rng.chance(15) { rng.range(1, 2) } else { 0 }));
        }
    }
    resets
}
