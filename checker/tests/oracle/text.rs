//! Models as `.xta` text.

use super::model::{Atom, Clock, END, Edge, Kind, Location, Op, Place, TestModel, Update};

impl Op {
    fn text(self) -> &'static str {
        match self {
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Ge => ">=",
            Op::Gt => ">",
            Op::Eq => "==",
        }
    }
}

/// An index into an array of this size: a number, or the sum of one and a variable.
fn index_text(at: usize, by: Option<usize>, size: usize) -> String {
    match by {
        None => format!("{at}"),
        // Variables go up to 2.
        Some(v) if at == 0 && size == 3 => format!("v{v}"),
        Some(v) => format!("(v{v} + {at}) % {size}"),
    }
}

fn list(name: &str, range: std::ops::Range<usize>) -> String {
    range
        .map(|k| format!("{name}{k}"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl TestModel {
    /// As text.
    pub fn text(&self) -> String {
        let mut out = if self.clock_array {
            format!("clock x[{}];\n", self.clocks)
        } else {
            format!("clock {};\n", list("x", 0..self.clocks))
        };
        let plain = self.vars - usize::from(self.meta);
        let meta = if self.meta { "meta " } else { "" };
        for (word, range) in [("", 0..plain), ("meta ", plain..self.vars)] {
            if !range.is_empty() {
                out += &format!("{word}int[0,2] {};\n", list("v", range));
            }
        }
        if self.cells > 0 {
            out += &format!("{meta}int[0,2] a[{}];\n", self.cells);
        }
        if self.bounded {
            out += "clock g;\n";
        }
        for (k, c) in self.channels.iter().enumerate() {
            let urgent = if c.urgent { "urgent " } else { "" };
            let broadcast = if c.broadcast { "broadcast " } else { "" };
            out += &format!("{urgent}{broadcast}chan c{k};\n");
        }
        if self.priorities {
            let mut levels = vec![(0, "default".to_owned())];
            for (k, c) in self.channels.iter().enumerate().skip(1) {
                levels.push((c.priority, format!("c{k}")));
            }
            levels.sort();
            let levels: Vec<String> = levels.into_iter().map(|l| l.1).collect();
            out += &format!("chan priority {};\n", levels.join(" < "));
        }
        for (word, updates) in ["before", "after"].into_iter().zip(&self.around) {
            if !updates.is_empty() {
                out += &format!("{word}_update {{ {} }}\n", self.updates_text(updates, ""));
            }
        }
        for (p, (locations, edges)) in self.processes.iter().enumerate() {
            out += &self.process_text(p, locations, edges);
        }
        out += "system P0";
        for p in 1..self.processes.len() {
            let higher = self.levels[p] > self.levels[p - 1];
            out += &format!("{} P{p}", if higher { " <" } else { "," });
        }
        out + ";\n"
    }

    pub fn clock_text(&self, clock: Clock) -> String {
        if clock.x == self.clocks {
            "g".to_owned()
        } else if self.clock_array {
            format!("x[{}]", index_text(clock.x, clock.by, self.clocks))
        } else {
            format!("x{}", clock.x)
        }
    }

    pub fn place_text(&self, place: Place) -> String {
        match place {
            Place::Var(v) => format!("v{v}"),
            Place::Cell(at, by) => format!("a[{}]", index_text(at, by, self.cells)),
        }
    }

    pub fn atom_text(&self, a: &Atom) -> String {
        let right = a.y.map(|y| format!(" - {}", self.clock_text(y)));
        let right = right.unwrap_or_default();
        format!("{}{right} {} {}", self.clock_text(a.x), a.op.text(), a.c)
    }

    fn process_text(&self, p: usize, locations: &[Location], edges: &[Edge]) -> String {
        let mut out = format!("process P{p}() {{\n  state ");
        let states: Vec<String> = locations
            .iter()
            .enumerate()
            .map(|(l, location)| {
                let mut parts: Vec<String> = location
                    .invariant
                    .iter()
                    .map(|a| self.atom_text(a))
                    .collect();
                if self.bounded && !self.ticks && p == 0 {
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
        let lines: Vec<String> = edges.iter().map(|e| self.edge_text(e)).collect();
        if !lines.is_empty() {
            out += &format!("  trans\n{};\n", lines.join(",\n"));
        }
        out + "}\n"
    }

    fn edge_text(&self, e: &Edge) -> String {
        let mut out = format!("    l{} -> l{} {{", e.source, e.target);
        if e.select {
            out += " select s : int[0,1];";
        }
        let mut guard: Vec<String> = e.guard.iter().map(|a| self.atom_text(a)).collect();
        if let Some((place, equal, c)) = e.test {
            let op = if equal { "==" } else { "!=" };
            guard.push(format!("{} {op} {c}", self.place_text(place)));
        }
        if !guard.is_empty() {
            out += &format!(" guard {};", guard.join(" && "));
        }
        if let Some((c, sends)) = e.sync {
            out += &format!(" sync c{c}{};", if sends { "!" } else { "?" });
        }
        if !e.updates.is_empty() {
            let select = if e.select { " + s" } else { "" };
            out += &format!(" assign {};", self.updates_text(&e.updates, select));
        }
        out + " }"
    }

    fn updates_text(&self, updates: &[Update], select: &str) -> String {
        let text = |update: &Update| match *update {
            Update::Reset(x, c) => format!("{} = {c}", self.clock_text(x)),
            Update::Copy(x, y) => format!("{} = {}", self.clock_text(x), self.clock_text(y)),
            Update::Assign(place, from, c) => {
                let base = from.map(|f| format!("{} + ", self.place_text(f)));
                let base = base.unwrap_or_default();
                format!("{} = ({base}{c}{select}) % 3", self.place_text(place))
            }
        };
        updates.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}
